//! Anomaly mode: every new node is reported to the host language, which notes how the program came there; when a node
//! fails, or makes NaN, the host says what it noted.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::mode::{self, GradGuard};
use super::node::{Grads, NodeRef};
use crate::error::{Error, Result};
use crate::tensor::Scalar;

/// What the host language does in anomaly mode.
pub trait Witness: Send + Sync {
    /// A node was made; `parent` is the node whose rule was running.
    fn recorded(&self, node: &NodeRef, parent: Option<&NodeRef>);
    /// A node failed.
    fn failed(&self, node: &NodeRef);
}

static WITNESS: OnceLock<&'static dyn Witness> = OnceLock::new();

thread_local! {
    /// The node whose rule is running on this thread.
    static RUNNING: RefCell<Option<NodeRef>> = const { RefCell::new(None) };
}

/// Has `witness` asked from now on. Only the first call counts.
pub fn register(witness: &'static dyn Witness) {
    let _ = WITNESS.set(witness);
}

#[cold]
pub(crate) fn recorded(node: NodeRef) {
    if let Some(witness) = WITNESS.get() {
        let parent = RUNNING.with_borrow(Clone::clone);
        witness.recorded(&node, parent.as_ref());
    }
}

/// Runs a node's rule, `run`; in anomaly mode under observation.
#[inline]
pub(crate) fn watched(node: &NodeRef, run: impl FnOnce() -> Result<Grads>) -> Result<Grads> {
    let word = mode::word();
    if word & mode::ANOMALY == 0 { run() } else { observed(node, word, run) }
}

#[cold]
fn observed(node: &NodeRef, word: u32, run: impl FnOnce() -> Result<Grads>) -> Result<Grads> {
    let outer = RUNNING.replace(Some(node.clone()));
    let results = run();
    let inner = RUNNING.replace(outer);
    drop(inner);
    let results = results.and_then(|results| {
        if word & mode::CHECK_NAN != 0 {
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
    let _plain = GradGuard::new(false);
    for (i, g) in results.iter().enumerate() {
        let Some(g) = g else { continue };
        if g.dtype().is_differentiable() && g.ne(g)?.any()?.item()? == Scalar::Bool(true) {
            return Err(Error::autograd(format!(
                "Function '{}' returned nan values in its {i}th output.",
                node.name()
            )));
        }
    }
    Ok(())
}
