//! Forward mode: tangents that travel with tensors while a level is open.
//!
//! Levels nest, and a tensor may have a tangent at each: the derivative along that level's perturbation. The tangents
//! of different levels never mix. The rule for one level runs with that level hidden, so the other levels differentiate
//! the tangent like any other tensor, and it has tangents of its own: higher and mixed derivatives come from these. See
//! `each_level` for the order.

mod tangents;

use std::cell::{Cell, RefCell};
use std::ops::RangeBounds;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::{SmallVec, smallvec};

use super::arith;
use super::erased::AnyPrimitive;
use super::finite;
use super::leaf::WeakTensor;
use super::mode;
use super::node::Grads;
use super::primitive::Jvp;
use crate::error::{Error, Result};
use crate::kernels::thread_values::ThreadValue;
use crate::storage::reclaim::reading;
use crate::tensor::copy::ranges_meet;
use crate::tensor::{Tensor, layout};
use crate::transforms::{self, Level as Batch};
pub(crate) use tangents::Tangents;

/// Ids of levels are never used again.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A level that is open on this thread.
struct Open {
    id: u64,
    /// Ops see it at this moment.
    seen: bool,
    /// See [`differs`].
    differs: bool,
    /// Tensors that were given a tangent at this level, to be freed of it when it closes.
    holders: Noted,
    /// Those whose tangent is in memory of another one's; see `tangents`.
    borrowers: Noted,
}

/// Tensors that somebody will ask for later, if they are still there. A reference keeps the memory of a tensor that is
/// gone, so such references are thrown out whenever there are twice as many as were left the last time.
#[derive(Default)]
struct Noted {
    tensors: Vec<WeakTensor>,
    most: usize,
}

impl Noted {
    fn push(&mut self, tensor: WeakTensor) {
        if self.tensors.len() >= self.most {
            self.tensors.retain(WeakTensor::is_alive);
            self.most = (2 * self.tensors.len()).max(64);
        }
        self.tensors.push(tensor);
    }
}

/// An open level: its position among those that are open, and its id.
type At = (usize, u64);

thread_local! {
    /// Forward mode was switched off.
    static OFF: Cell<bool> = const { Cell::new(false) };
}
static LEVELS: ThreadValue<RefCell<Vec<Open>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// What is local to this thread of forward mode, while another one continues for it; the mode word has the rest.
#[derive(Default)]
pub(super) struct Carried {
    levels: Vec<Open>,
    off: bool,
}

impl Carried {
    pub fn exchange(&mut self) {
        self.levels = LEVELS.replace(std::mem::take(&mut self.levels));
        self.off = OFF.replace(self.off);
    }
}

/// Sets the mode bit by which ops know that there may be tangents.
fn update_mode() {
    let any = LEVELS.with_borrow(|all| all.iter().any(|open| open.seen));
    mode::set(mode::FORWARD, any && !OFF.get());
}

/// How many levels are open on this thread.
pub fn depth() -> usize {
    LEVELS.with_borrow(Vec::len)
}

/// Opens a level inside those that are open; returns its number, from 0 on.
pub fn enter() -> usize {
    let level = LEVELS.with_borrow_mut(|all| {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        all.push(Open { id, seen: true, differs: false, holders: Noted::default(), borrowers: Noted::default() });
        all.len() - 1
    });
    update_mode();
    level
}

/// Closes the innermost level, whose number must be `level`; its tangents are gone.
pub fn exit(level: usize) -> Result<()> {
    let depth = depth();
    if level + 1 != depth {
        return Err(Error::autograd(format!(
            "Trying to exit a forward AD level that was not the last one that was created: level {level} of {depth} open \
             ones. Levels are closed from the innermost on."
        )));
    }
    let closed = LEVELS.with_borrow_mut(Vec::pop);
    update_mode();
    if let Some(closed) = closed {
        tangents::clear(closed.holders, closed.id);
    }
    Ok(())
}

/// An open level; it closes when this is dropped.
#[must_use = "the level closes when this is dropped"]
pub struct Level(usize);

impl Level {
    pub fn enter() -> Self {
        Self(enter())
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        // Levels opened inside and left open close with this one.
        while depth() > self.0 {
            if exit(depth() - 1).is_err() {
                return;
            }
        }
    }
}

/// Switches forward mode on this thread; returns whether it was on.
pub fn set_enabled(on: bool) -> bool {
    let was = !OFF.replace(!on);
    update_mode();
    was
}

/// Whether forward mode is on on this thread.
pub fn is_enabled() -> bool {
    !OFF.get()
}

/// Numbers and ids of the levels that ops see, from the outermost on.
fn seen() -> SmallVec<[At; 2]> {
    LEVELS.with_borrow(|all| {
        // Not collected: the general loop costs more than the one level that there is.
        let mut seen = SmallVec::new();
        for (i, open) in all.iter().enumerate() {
            if open.seen {
                seen.push((i, open.id));
            }
        }
        seen
    })
}

/// Hides levels that are open now, or shows them, while it lives. Levels opened meanwhile are seen.
pub struct Hidden(SmallVec<[(u64, bool); 2]>);

impl Hidden {
    /// Hides those from `level` on.
    pub fn from(level: usize) -> Self {
        Self::having(level.., |_| false)
    }
    /// Hides one.
    fn only(level: usize) -> Self {
        Self::having(level..level + 1, |_| false)
    }
    /// Hides one, and shows all others.
    fn only_and_no_other(level: usize) -> Self {
        Self::having(.., |at| at != level)
    }
    fn having(levels: impl RangeBounds<usize>, seen: impl Fn(usize) -> bool) -> Self {
        // Every custom function calls this, also where no level was ever opened.
        let mut before = SmallVec::new();
        LEVELS.with_borrow_mut(|all| {
            for (at, open) in all.iter_mut().enumerate().filter(|(at, _)| levels.contains(at)) {
                let now = seen(at);
                if std::mem::replace(&mut open.seen, now) != now {
                    before.push((open.id, !now));
                }
            }
        });
        if !before.is_empty() {
            update_mode();
        }
        Self(before)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        LEVELS.with_borrow_mut(|all| {
            for open in all.iter_mut() {
                if let Some(&(_, seen)) = self.0.iter().find(|(id, _)| *id == open.id) {
                    open.seen = seen;
                }
            }
        });
        update_mode();
    }
}

/// Whether forward mode at a level may give another result than reverse mode would: an op with a tangent ran without
/// grad mode, or a hook was registered, since the level was opened.
pub fn differs(level: usize) -> bool {
    LEVELS.with_borrow(|all| all.get(level).is_some_and(|open| open.differs))
}

/// A hook was registered on this thread: reverse mode may give other gradients from now on.
pub(crate) fn hook_registered() {
    LEVELS.with_borrow_mut(|all| all.iter_mut().for_each(|open| open.differs = true));
}

fn note_grad_mode(level: usize) {
    if !mode::is_grad_enabled() {
        LEVELS.with_borrow_mut(|all| all[level].differs = true);
    }
}

#[cold]
fn no_level() -> Error {
    Error::autograd(
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
    )
}

fn id_of(level: usize) -> Result<u64> {
    LEVELS.with_borrow(|all| all.get(level).map(|open| open.id)).ok_or_else(no_level)
}

/// Whether a tangent has the sizes of its tensor.
pub fn check_sizes(primal: &Tensor, tangent: &Tensor) -> Result<()> {
    if tangent.sizes() == primal.sizes() {
        return Ok(());
    }
    Err(Error::autograd(format!(
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. \
         Tensor is of size {:?} while the given forward gradient is of size {:?}.",
        primal.sizes(),
        tangent.sizes()
    )))
}

/// A view of `primal` with `tangent` at an open level: the same memory, with the tangents that it has at other levels.
///
/// Batched tensors are brought to the levels that either is batched at. A batch of tangents for one primal, at the
/// level `along`, stays with the tangent alone.
pub fn make_dual(primal: &Tensor, tangent: &Tensor, level: usize, along: Option<&Arc<Batch>>) -> Result<Tensor> {
    for (x, what) in [(primal, "primal"), (tangent, "tangent")] {
        if !x.dtype().is_differentiable() {
            return Err(Error::value(
                "make_dual",
                format!("Expected {what} to be floating point or complex, but got: {}", x.dtype().name()),
            ));
        }
    }
    if !primal.is_batched() && !tangent.is_batched() {
        return dual_of_values(primal, tangent, level);
    }
    check_sizes(primal, tangent)?;
    let ((_, a), (_, b)) = (transforms::unwrap_levels(primal), transforms::unwrap_levels(tangent));
    let mut levels = transforms::union(&a, &b);
    levels.retain(|l| !along.is_some_and(|p| Arc::ptr_eq(l, p)));
    let value = dual_of_values(
        &transforms::move_to_levels(primal, &levels)?,
        &transforms::move_to_levels(tangent, &levels)?,
        level,
    )?;
    transforms::wrap_levels(value, &levels)
}

fn dual_of_values(primal: &Tensor, tangent: &Tensor, level: usize) -> Result<Tensor> {
    let at = (level, id_of(level)?);
    if primal.has_tangent_of(at.1) {
        return Err(Error::autograd(format!(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {level} is not \
             supported: unpack it first."
        )));
    }
    if tangent.has_tangent_of(at.1) {
        return Err(Error::autograd(format!(
            "Setting a forward grad that itself has a forward gradient at the same level{level} is not supported. It would not \
             be used: unpack it first."
        )));
    }
    check_sizes(primal, tangent)?;
    let dual = alias_apart(primal, at)?;
    let fits = tangents::fits(primal, tangent) || tangent.is_batched();
    let tangent = if fits { tangent.clone() } else { tangents::laid_out_like(tangent, primal)? };
    dual.put_tangent(at, tangent, false);
    Ok(dual)
}

/// A view of `x` that has tangents at other levels alone. Tensors of inference mode have no views.
fn alias_apart(x: &Tensor, at: At) -> Result<Tensor> {
    let _hidden = Hidden::only(at.0);
    if x.is_inference() {
        let plain = x.alias();
        plain.share_tangents(x)?;
        return Ok(plain);
    }
    let view = arith::alias(x)?;
    view.start_family(at);
    Ok(view)
}

/// A primal whose tangents have entries at a batch level, repeated at it so that it goes along with them in an op on
/// other tensors batched there; `None` if none of its tangents is.
pub(crate) fn repeated(x: &Tensor, level: &Arc<Batch>) -> Result<Option<Tensor>> {
    if !x.may_have_tangent() {
        return Ok(None);
    }
    let batched = |t: &Tensor| transforms::unwrap_levels(t).1.iter().any(|l| Arc::ptr_eq(l, level));
    let mut tangents: SmallVec<[(At, Tensor); 2]> = SmallVec::new();
    for at in seen() {
        if let Some(t) = x.tangent_at(at)? {
            tangents.push((at, t));
        }
    }
    if !tangents.iter().any(|(_, t)| batched(t)) {
        return Ok(None);
    }
    let levels = std::slice::from_ref(level);
    let whole = {
        let _hidden = Hidden::from(0);
        transforms::move_to_levels(x, levels)?
    };
    for (at, t) in tangents {
        whole.start_family(at);
        whole.put_tangent(at, transforms::move_to_levels(&t, levels)?, true);
    }
    Ok(Some(whole))
}

/// A view of a dual without its tangent at an open level, and that tangent.
pub fn unpack_dual(dual: &Tensor, level: usize) -> Result<(Tensor, Option<Tensor>)> {
    let at = (level, id_of(level)?);
    let (value, levels) = transforms::unwrap_levels(dual);
    let primal = alias_apart(&value, at)?;
    let tangent = tangents::shown(&value, at)?.map(|t| transforms::joined(&t, dual)).transpose()?;
    Ok((transforms::wrap_levels(primal, &levels)?, tangent))
}

/// A rule's result for an output: zeros if the rule says that nothing changes.
fn tangent_for(o: &Tensor, t: Option<Tensor>, op: &'static str) -> Result<Tensor> {
    match t {
        // The tangent of an operand that was broadcast.
        Some(t) if t.sizes() != o.sizes() && layout::expands_to(t.sizes(), o.sizes()) => {
            Tensor::full(o.sizes(), 0i64.into(), o.dtype())?.add(&t)
        }
        Some(t) => super::engine::fit(t, o.sizes(), o.dtype(), op, 0),
        None => Tensor::full(o.sizes(), 0i64.into(), o.dtype()),
    }
}

/// What is done at a level with the tangents of the operands there.
type LevelRule<'a> = &'a mut dyn FnMut(At, &[Option<Tensor>]) -> Result<()>;

/// Runs `rule` for every level at which one of `xs` has a tangent, with its tangents there.
///
/// From the outermost level on, each with itself and the levels inside it hidden: the rule of an inner one uses results
/// with their tangents at the outer ones. If there are several, all but the innermost then run once more with only
/// themselves hidden, so that tangents of outer levels have tangents at inner ones too.
fn each_level(xs: &[&Tensor], rule: LevelRule) -> Result<()> {
    let mut levels = seen();
    levels.retain(|&mut (_, id)| xs.iter().any(|x| x.has_tangent_of(id)));
    let mut run = |at: At, others: Hidden| -> Result<()> {
        let mut ts: SmallVec<[Option<Tensor>; 3]> = SmallVec::new();
        for x in xs {
            ts.push(x.tangent_at(at)?);
        }
        note_grad_mode(at.0);
        let result = rule(at, &ts);
        drop(others);
        result
    };
    for &at in &levels {
        run(at, Hidden::from(at.0))?;
    }
    for &at in levels.iter().rev().skip(1) {
        run(at, Hidden::only(at.0))?;
    }
    Ok(())
}

/// Runs the op's JVP rule at every level at which an operand has a tangent.
pub(crate) fn propagate_tangents(op: &dyn AnyPrimitive, xs: &[&Tensor], outs: &[Tensor]) -> Result<()> {
    let _reading = reading();
    propagate_through(xs, outs, &mut |ts| finite::jvp(op, &Jvp { xs, outs, tangents: ts }), op.facts().name)
}

/// Gives `outs`, computed from `xs`, tangents at every level at which one of `xs` has one. `rule` makes them of the
/// tangents of `xs`; `None` means zeros. `name` is for errors.
pub fn propagate_through(
    xs: &[&Tensor],
    outs: &[Tensor],
    rule: &mut dyn FnMut(&[Option<Tensor>]) -> Result<Grads>,
    name: &'static str,
) -> Result<()> {
    if !xs.iter().any(|x| x.may_have_tangent()) {
        return Ok(());
    }
    each_level(xs, &mut |at, ts| {
        let mut results = rule(ts)?;
        results.resize(outs.len(), None);
        for (o, t) in outs.iter().zip(results) {
            if o.dtype().is_differentiable() {
                let t = tangent_for(o, t, name)?;
                // A foreign function may return an operand that it wrote to.
                match xs.iter().any(|x| x.is_same(o)) {
                    true => tangents::write(o, at, &t, tangents::borrows(o, &t, xs, ts), None)?,
                    false => tangents::give(o, at, t, xs, ts)?,
                }
            }
        }
        Ok(())
    })
}

/// Prepares the tangents of tensors that a foreign rule is about to write to, so that it writes to no others.
pub fn own_tangents(xs: &[Tensor]) -> Result<()> {
    seen().into_iter().try_for_each(|at| xs.iter().try_for_each(|x| tangents::own(x, at)))
}

/// What the tangents of an op that writes to operand 0 need of the state before the write.
pub(crate) struct BeforeWrite {
    /// Copies of what was, of the operands whose memory is written to: of the target, and of others that share it.
    copies: SmallVec<[Option<Tensor>; 3]>,
}

impl BeforeWrite {
    /// `None` if no operand has a tangent.
    pub fn of(xs: &[&Tensor]) -> Result<Option<Self>> {
        if !xs.iter().any(|x| x.has_tangent()) {
            return Ok(None);
        }
        tangents::part_from_primal(xs[0])?;
        let target = arith::cloned(xs[0])?;
        // With their histories and their tangents, which are written in place as well.
        let copy = |x: &&Tensor| match x {
            x if x.is_same(xs[0]) => Ok(Some(target.clone())),
            x if x.shares_storage(xs[0]) && ranges_meet(x, xs[0]) => arith::cloned(x).map(Some),
            _ => Ok(None),
        };
        Ok(Some(Self { copies: xs.iter().map(copy).collect::<Result<_>>()? }))
    }

    /// The target as it was.
    pub fn target(&self) -> Option<&Tensor> {
        self.copies[0].as_ref()
    }

    /// As [`propagate_tangents`], after the write. The tangent is written in place too, so that it stays one with the
    /// tangents of the target's base and views.
    pub fn propagate(&self, op: &dyn AnyPrimitive, xs: &[&Tensor], target: &Tensor) -> Result<()> {
        if !target.dtype().is_differentiable() {
            return Ok(());
        }
        let before: SmallVec<[&Tensor; 3]> =
            xs.iter().zip(&self.copies).map(|(x, c)| c.as_ref().unwrap_or(x)).collect();
        let outs = std::slice::from_ref(target);
        let tangent = |ts: &[Option<Tensor>]| {
            let results = finite::jvp(op, &Jvp { xs: &before, outs, tangents: ts })?;
            tangent_for(target, results.into_iter().next().flatten(), op.facts().name)
        };
        // Of what such ops write nothing depends on the target: the derivative by it is 1 for the elements that stay.
        let unwritten = match target.may_overlap_itself() {
            true => {
                let _hidden = Hidden::from(0);
                let mut ts: SmallVec<[Option<Tensor>; 3]> = smallvec![None; before.len()];
                ts[0] = Some(Tensor::full(target.sizes(), 1i64.into(), target.dtype())?);
                Some(tangent(&ts)?)
            }
            false => None,
        };
        each_level(&before, &mut |at, ts| {
            let new = tangent(ts)?;
            let lent = ts
                .iter()
                .zip(&self.copies)
                .any(|(t, copy)| copy.is_none() && t.as_ref().is_some_and(|t| t.shares_storage(&new)));
            tangents::write(target, at, &new, lent, unwritten.as_ref())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_keeps_no_memory_of_tensors_that_are_gone() -> Result<()> {
        let level = Level::enter();
        let (one, x) = (Tensor::from_slice(&[1.0], &[1])?, Tensor::from_slice(&[2.0], &[1])?);
        let kept = make_dual(&x, &one, level.0, None)?;
        for _ in 0..1000 {
            kept.mul(&kept)?.add(&one)?;
        }
        LEVELS.with_borrow(|all| {
            assert!(all[level.0].holders.tensors.len() <= 64 && all[level.0].borrowers.tensors.len() <= 64);
        });
        assert!(kept.tangent()?.is_some());
        drop(level);
        assert!(!kept.may_have_tangent());
        Ok(())
    }
}
