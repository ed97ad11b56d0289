//! The transforms other than `vmap` that run on a thread: the leaves that they differentiate for, what leads out of
//! them, and what their functions must leave alone.

use std::cell::RefCell;
use std::sync::Arc;

use smallvec::SmallVec;

use super::batched::{unwrap_levels, wrap_levels};
use crate::autograd::{engine, mode};
use crate::error::{Error, Result};
use crate::kernels::thread_values::ThreadValue;
use crate::storage;
use crate::tensor::{Tensor, flag};

/// Whether a transform was given a tensor, or one that shares its memory, as an argument of its function.
pub type IsGiven = Arc<dyn Fn(&Tensor) -> Result<bool> + Send + Sync>;

/// A transform under way.
struct Running {
    /// Memory from before this epoch was there when the transform began.
    epoch: u32,
    /// Distinguishes captured tensors from arguments; `None`: the function may write to either.
    is_given: Option<IsGiven>,
    /// The leaves that it made.
    leaves: SmallVec<[Tensor; 1]>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.leaves.iter().for_each(close);
    }
}

/// Ends a leaf: no graph leads on from here.
pub fn close(leaf: &Tensor) {
    leaf.physical().set_flag(flag::CLOSED, true);
}

static RUNNING: ThreadValue<RefCell<Vec<Running>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// The transforms of this thread, while another one continues for it; the mode word has the rest.
#[derive(Default)]
pub(super) struct Carried(Vec<Running>);

impl Carried {
    pub fn exchange(&mut self) {
        self.0 = RUNNING.replace(std::mem::take(&mut self.0));
    }
}

fn update_mode() {
    mode::set(mode::INSIDE, count() > 0);
}

/// How many transforms other than `vmap` are under way on this thread.
pub fn count() -> usize {
    RUNNING.with_borrow(Vec::len)
}

/// A transform other than `vmap` begins on this thread. Returns how many were under way, for [`end`].
///
/// With `is_given`, its function may write in place to what it makes itself and to its arguments, and to nothing else.
pub fn begin(is_given: Option<IsGiven>) -> usize {
    let before = RUNNING.with_borrow_mut(|all| {
        all.push(Running { epoch: storage::next_epoch(), is_given, leaves: SmallVec::new() });
        all.len() - 1
    });
    update_mode();
    before
}

/// Ends transforms until `before` are under way.
pub fn end(before: usize) {
    let ended = RUNNING.with_borrow_mut(|all| all.split_off(before.min(all.len())));
    update_mode();
    drop(ended);
}

/// The tensor with its tangents as the start of a graph, which belongs to the innermost transform and ends with it.
pub fn variable(t: &Tensor) -> Result<Tensor> {
    let (value, levels) = unwrap_levels(t);
    let leaf = if value.requires_grad() {
        let plain = value.alias();
        plain.share_tangents(&value)?;
        plain
    } else {
        value
    };
    leaf.set_requires_grad(true)?;
    RUNNING.with_borrow_mut(|all| all.last_mut().map(|running| running.leaves.push(leaf.clone())));
    if levels.is_empty() { Ok(leaf) } else { wrap_levels(leaf, &levels) }
}

/// A result of a transform as it is seen from outside: it has a graph only with `keep`, and only if that leads to
/// more than the leaves `inner`; its tangents likewise.
pub fn settled(t: &Tensor, inner: &[Tensor], keep: bool) -> Result<Tensor> {
    let (value, levels) = unwrap_levels(t);
    let cut = value.requires_grad() && !(keep && engine::edges_lead_elsewhere(value.grad_edge()?, inner)?);
    let mut changed = cut;
    for tangent in value.tangents()? {
        changed |= !settled(&tangent, inner, keep)?.is_same(&tangent);
    }
    if !changed {
        return Ok(t.clone());
    }
    let plain = value.alias();
    if !cut && let Some(output) = value.grad_fn()? {
        plain.set_history(output);
    }
    plain.share_tangents_as(&value, |tangent| settled(&tangent, inner, keep))?;
    if levels.is_empty() { Ok(plain) } else { wrap_levels(plain, &levels) }
}

/// An error if a transform under way forbids its function to write to this tensor.
#[inline]
pub(crate) fn check_captured(op: &str, target: &Tensor) -> Result<()> {
    if mode::word() & mode::INSIDE != 0 { refuse_captured(op, target) } else { Ok(()) }
}

#[cold]
fn refuse_captured(op: &str, target: &Tensor) -> Result<()> {
    let target = target.physical();
    for at in (0..count()).rev() {
        let running = RUNNING.with_borrow(|all| all.get(at).map(|r| (r.epoch, r.is_given.clone())));
        let Some((epoch, Some(is_given))) = running else { continue };
        // What was made since this transform began was made since those outside it began, too.
        if !target.storage().is_from_before(epoch) {
            return Ok(());
        }
        if !is_given(&target)? {
            return Err(Error::autograd(format!(
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation \
                 (aten::{}_) that would mutate a captured Tensor. This is not supported; please rewrite the function being \
                 transformed to explicitly accept the mutated Tensor(s) as inputs. Or write to a clone of it.",
                op.trim_end_matches('_')
            )));
        }
    }
    Ok(())
}
