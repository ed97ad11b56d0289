//! Anomaly mode: every new node is reported to the host language, which notes how the program came there; when a node
//! fails, or makes NaN, the host says what it noted.
//!
//! The mode is that of the process, as it is in torch: who looks for an error wants to hear of it from every thread. So
//! it is no bit of the mode word.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::finite;
use super::node::{Edge, Grads, NodeRef};
use crate::error::{Error, Result};
use crate::kernels::finite::Worst;
use crate::kernels::thread_values::ThreadValue;

/// What the host language does in anomaly mode.
pub trait Witness: Send + Sync {
    /// A node was made; `parent` is the node whose rule or hook was running.
    fn recorded(&self, node: &NodeRef, parent: Option<&NodeRef>);
    /// A node failed: its rule, or a hook that was called before or after it.
    fn failed(&self, node: &NodeRef);
}

static ON: AtomicBool = AtomicBool::new(false);
static CHECK_NAN: AtomicBool = AtomicBool::new(true);

/// Whether anomaly mode is on.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Whether anomaly mode searches gradients for NaN.
pub fn checks_nan() -> bool {
    CHECK_NAN.load(Ordering::Relaxed)
}

/// Switches anomaly mode.
pub fn set(on: bool, check_nan: bool) {
    CHECK_NAN.store(check_nan, Ordering::Relaxed);
    ON.store(on, Ordering::Relaxed);
}

static WITNESS: OnceLock<&'static dyn Witness> = OnceLock::new();

/// The node whose rule or hook is running on this thread.
static RUNNING: ThreadValue<RefCell<Option<NodeRef>>> = ThreadValue::new(|| RefCell::new(None));

/// Exchanges the node whose rule or hook is running on this thread.
pub(super) fn exchange(running: &mut Option<NodeRef>) {
    *running = RUNNING.replace(running.take());
}

/// Has `witness` asked from now on. Only the first call counts.
pub fn register(witness: &'static dyn Witness) {
    let _ = WITNESS.set(witness);
}

/// A node was made.
#[cold]
pub(crate) fn recorded(node: &NodeRef) {
    used(node.edges.iter().flatten());
    note(node);
}

/// These edges were made, all in one: of a node, or roots. In anomaly mode makes the nodes of their leaves, unless they
/// exist, or other edges lead to them: those of a graph that was recorded before the mode was switched on.
#[cold]
pub fn used<'a>(edges: impl Iterator<Item = &'a Edge> + Clone) -> Vec<NodeRef> {
    let mut made = Vec::new();
    for edge in edges.clone().filter(|_| is_on()) {
        let Edge::Leaf(leaf) = edge else { continue };
        let here = edges.clone().filter(|other| matches!(other, Edge::Leaf(other) if other.is_same(leaf))).count();
        if leaf.live_accumulator().is_none() && leaf.edges() <= here {
            let node = leaf.accumulator();
            note(&node);
            made.push(node);
        }
    }
    made
}

fn note(node: &NodeRef) {
    if let Some(witness) = WITNESS.get() {
        let parent = RUNNING.with_borrow(Clone::clone);
        witness.recorded(node, parent.as_ref());
    }
}

/// Runs what a node or leaf does with its gradients, `run`: hooks and rule; in anomaly mode under observation.
#[inline]
pub(super) fn watched(node: impl FnOnce() -> NodeRef, run: impl FnOnce() -> Result<Grads>) -> Result<Grads> {
    if is_on() { observed(&node(), run) } else { run() }
}

#[cold]
fn observed(node: &NodeRef, run: impl FnOnce() -> Result<Grads>) -> Result<Grads> {
    let outer = RUNNING.replace(Some(node.clone()));
    let results = run();
    let inner = RUNNING.replace(outer);
    drop(inner);
    let results = results.and_then(|results| {
        if checks_nan() {
            refuse_nan(node, &results)?;
        }
        Ok(results)
    });
    if results.is_err()
        && let Some(witness) = WITNESS.get()
    {
        witness.failed(node);
    }
    results
}

fn refuse_nan(node: &NodeRef, results: &Grads) -> Result<()> {
    for (i, g) in results.iter().enumerate() {
        let Some(g) = g else { continue };
        if finite::look(g) == Worst::Nan {
            return Err(Error::autograd(format!(
                "Function '{}' returned nan values in its {i}th output.",
                node.name()
            )));
        }
    }
    Ok(())
}
