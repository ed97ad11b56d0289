//! Deeply nested runs continue on another thread, with a stack of its own.
//!
//! A rule written in the host language may run a graph, whose rules may run graphs. Each takes some of the stack, and
//! counts towards the host language's limit on recursion. The new thread gets all that is local to the waiting one:
//! modes, open levels, hooks in force. So a program sees no difference, unless it asks which thread it is on.

use std::sync::{Arc, OnceLock};
use std::{panic, thread};

use super::super::{anomaly, forward, hooks, mode, node, saved};
use crate::{autocast, compile, profiler, transforms};

/// How many runs may be nested on one thread.
pub(super) const DEPTH: u32 = 60;

const STACK: usize = 16 << 20;

/// Runs the job that it is given, on the new thread.
pub type Carried = Box<dyn FnOnce(&mut (dyn FnMut() + Send)) + Send>;

/// What the host language does when a run continues on another thread.
pub trait Threads: Send + Sync {
    /// Called on the thread that will wait: takes what is local to it, for the new thread.
    fn carry(&self) -> Carried;
}

static THREADS: OnceLock<&'static dyn Threads> = OnceLock::new();

/// Registers the host language's [`Threads`]. Only the first call counts.
pub fn register(threads: &'static dyn Threads) {
    let _ = THREADS.set(threads);
}

/// What a thread knows; that of a new one.
struct Known {
    mode: u32,
    next_seq: u64,
    thread: u32,
    running: Option<node::NodeRef>,
    watch: Option<Arc<hooks::WriteWatch>>,
    saved: saved::Carried,
    forward: forward::Carried,
    transforms: transforms::Carried,
    profiler: profiler::Carried,
    autocast: autocast::Carried,
    compile: compile::record::Carried,
}

impl Known {
    fn nothing() -> Self {
        Self {
            mode: mode::GRAD,
            next_seq: 0,
            thread: 0,
            running: None,
            watch: None,
            saved: saved::Carried::default(),
            forward: forward::Carried::default(),
            transforms: transforms::Carried::default(),
            profiler: profiler::Carried::default(),
            autocast: autocast::Carried::default(),
            compile: compile::record::Carried::default(),
        }
    }
    /// Exchanges it with what the calling thread knows.
    fn exchange(&mut self) {
        mode::exchange(&mut self.mode);
        node::exchange_numbers(&mut self.next_seq, &mut self.thread);
        anomaly::exchange(&mut self.running);
        hooks::exchange_watch(&mut self.watch);
        self.saved.exchange();
        self.forward.exchange();
        self.transforms.exchange();
        self.profiler.exchange();
        self.autocast.exchange();
        self.compile.exchange();
    }
}

/// Exchanges what threads know for as long as it lives.
struct Exchanged<'a>(&'a mut Known);

impl<'a> Exchanged<'a> {
    fn with(known: &'a mut Known) -> Self {
        known.exchange();
        Self(known)
    }
}

impl Drop for Exchanged<'_> {
    fn drop(&mut self) {
        self.0.exchange();
    }
}

/// Runs `job` on a new thread, which knows what this one does, and waits for it. If there is no thread to be had, it
/// runs here.
pub(super) fn run<R: Send>(job: impl FnOnce() -> R + Send) -> R {
    let mut job = Some(job);
    let mut result = None;
    let mut known = Known::nothing();
    let carried = THREADS.get().map(|threads| threads.carry());
    // `known` holds what this thread knows until the other one takes it, and again after that has returned it.
    let here = Exchanged::with(&mut known);
    let done = thread::scope(|scope| {
        let (job, result, known) = (&mut job, &mut result, &mut *here.0);
        let body = move || {
            let mut work = || {
                let _there = Exchanged::with(known);
                *result = job.take().map(|job| job());
            };
            match carried {
                Some(carried) => carried(&mut work),
                None => work(),
            }
        };
        let thread = thread::Builder::new().name("retrograd-nested".into()).stack_size(STACK);
        thread.spawn_scoped(scope, body).map(thread::ScopedJoinHandle::join)
    });
    drop(here);
    if let Ok(Err(panicked)) = done {
        panic::resume_unwind(panicked);
    }
    match job {
        Some(job) => job(),
        None => result.expect("the job ran to its end"),
    }
}
