//! Anomaly mode: the Python stack of every recorded op, and the warnings that show it when a node fails.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use retrograd_engine::autograd::NodeRef;
use retrograd_engine::autograd::anomaly::{self, Witness};

use crate::errors::warn_py;
use crate::node::{metadata, unwrap_node, wrap_node};

const STACK: &str = "traceback_";
const PARENT: &str = "parent_";

struct PythonWitness;

impl Witness for PythonWitness {
    fn recorded(&self, node: &NodeRef, parent: Option<&NodeRef>) {
        Python::attach(|py| {
            let noted = || -> PyResult<()> {
                let stack = py.import("traceback")?.getattr("format_stack")?.call0()?;
                let notes = metadata(py, node);
                notes.set_item(STACK, stack)?;
                if let Some(parent) = parent {
                    notes.set_item(PARENT, wrap_node(py, parent)?)?;
                }
                Ok(())
            };
            if let Err(e) = noted() {
                e.write_unraisable(py, None);
            }
        });
    }
    fn failed(&self, node: &NodeRef) {
        // A warning that is raised as an error must not take the place of the error it is about.
        Python::attach(|py| drop(explain(py, node)));
    }
}

/// Says where the op was called, and, if that was in a backward pass, where the op was called that this was the
/// backward of.
fn explain(py: Python<'_>, node: &NodeRef) -> PyResult<()> {
    let mut next = Some(node.clone());
    let (mut what, mut call) = ("Error detected in", "caused the error");
    while let Some(node) = next {
        let (notes, name) = (metadata(py, &node), node.name());
        match stack(&notes)? {
            Some(stack) => warn_py(py, &format!("{what} {name}. Traceback of forward call that {call}:\n{stack}"))?,
            None => no_information(py, &name)?,
        }
        (what, call) = ("\n\nPrevious calculation was induced by", "induced the previous calculation");
        next = notes.get_item(PARENT)?.as_ref().and_then(unwrap_node);
    }
    Ok(())
}

fn no_information(py: Python<'_>, name: &str) -> PyResult<()> {
    warn_py(
        py,
        &format!(
            "Error detected in {name}. No forward pass information available. Enable detect anomaly during forward pass for \
             more information."
        ),
    )
}

fn stack(notes: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    let Some(lines) = notes.get_item(STACK)? else { return Ok(None) };
    Ok(Some(lines.cast_into::<PyList>()?.extract::<Vec<String>>()?.concat()))
}

/// Whether anomaly mode is on.
///
/// >>> with rg.autograd.set_detect_anomaly(True):
/// ...     rg.is_anomaly_enabled()
/// True
#[pyfunction]
fn is_anomaly_enabled() -> bool {
    anomaly::is_on()
}

/// Whether anomaly mode, where it is on, searches gradients for NaN.
///
/// >>> with rg.autograd.set_detect_anomaly(True, check_nan=False):
/// ...     rg.is_anomaly_check_nan_enabled()
/// False
#[pyfunction]
fn is_anomaly_check_nan_enabled() -> bool {
    anomaly::checks_nan()
}

/// Switch anomaly mode, for all threads; with `check_nan` gradients that contain NaN are errors while it is on.
///
/// >>> rg.set_anomaly_enabled(True)
/// >>> rg.is_anomaly_enabled(), rg.is_anomaly_check_nan_enabled()
/// (True, True)
/// >>> rg.set_anomaly_enabled(False)
#[pyfunction]
#[pyo3(signature = (enabled, check_nan = true))]
fn set_anomaly_enabled(enabled: bool, check_nan: bool) {
    anomaly::set(enabled, check_nan);
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    anomaly::register(&PythonWitness);
    m.add_function(wrap_pyfunction!(is_anomaly_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(is_anomaly_check_nan_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(set_anomaly_enabled, m)?)
}
