//! What is local to a Python thread, for one that continues in its place.

use pyo3::prelude::*;
use retrograd_engine::autograd::engine::{self, Carried, Threads};

use crate::anythread::AnyThread;
use crate::call_site::{attached, detached_at, here};
use crate::dual;
use crate::overrides::state;

struct PythonThreads;

impl Threads for PythonThreads {
    fn carry(&self) -> Carried {
        let (place, levels) = (here(), dual::public());
        let asked = Python::attach(state::known);
        let known = Python::attach(|py| {
            let known = py.import("retrograd._local").and_then(|module| module.call_method0("known"));
            known.map(|known| AnyThread::new(known.unbind()))
        });
        Box::new(move |work| {
            dual::know(levels);
            state::know(asked);
            // The new thread is one to Python as long as it lives, so that what is local to it stays.
            attached(|py| {
                let known =
                    known.and_then(|known| py.import("retrograd._local")?.call_method1("know", (known.bind(py),)));
                if let Err(error) = known {
                    error.write_unraisable(py, None);
                }
                detached_at(py, place, work);
            });
        })
    }
}

pub fn register() {
    engine::register(&PythonThreads);
}
