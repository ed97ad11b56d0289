//! Forward mode: tangents that travel with tensors while a level is open.
//!
//! Levels nest, and a tensor may have a tangent at each: the derivative along that level's perturbation. The tangents of
//! different levels never mix. A rule for one level runs with the levels below it open and the others shut, so a tangent at
//! an outer level is differentiated by an inner one like any other tensor, and has tangents of its own; this is how higher
//! derivatives and mixed ones come about.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::leaf::WeakTensor;
use super::mode;
use super::node::Grads;
use super::primitive::{Jvp, Primitive};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, flag, layout};
use crate::transforms::{self, Level as Batch};

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
    holders: Vec<WeakTensor>,
}

thread_local! {
    static LEVELS: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// Forward mode was switched off.
    static OFF: Cell<bool> = const { Cell::new(false) };
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
        all.push(Open { id, seen: true, differs: false, holders: Vec::new() });
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
        for t in closed.holders.iter().filter_map(WeakTensor::upgrade) {
            drop(t.take_tangent(closed.id));
        }
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
fn seen() -> SmallVec<[(usize, u64); 2]> {
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

/// Hides levels that are open now, while it lives. Levels opened meanwhile are seen.
pub struct Hidden(SmallVec<[u64; 2]>);

impl Hidden {
    /// Those from `level` on.
    pub fn from(level: usize) -> Self {
        Self::range(level..depth())
    }
    /// One.
    fn only(level: usize) -> Self {
        Self::range(level..level + 1)
    }
    fn range(levels: Range<usize>) -> Self {
        // Every custom function comes by here, also where no level was ever opened.
        if levels.is_empty() {
            return Self(SmallVec::new());
        }
        let hide = |open: &mut Open| std::mem::take(&mut open.seen).then_some(open.id);
        let hidden = LEVELS.with_borrow_mut(|all| all[levels].iter_mut().filter_map(hide).collect());
        update_mode();
        Self(hidden)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        LEVELS.with_borrow_mut(|all| {
            for open in all.iter_mut().filter(|open| self.0.contains(&open.id)) {
                open.seen = true;
            }
        });
        update_mode();
    }
}

/// Whether forward mode at a level may give another result than reverse mode would: an op with a tangent ran without grad
/// mode, or a hook was registered, since the level was opened.
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

/// The tangents of a tensor with the ids of their levels.
pub(crate) type Tangents = SmallVec<[(u64, Tensor); 1]>;

impl Tensor {
    fn tangent_of(&self, id: u64) -> Option<Tensor> {
        if !self.may_have_tangent() {
            return None;
        }
        self.meta().tangents.lock().iter().find(|(of, _)| *of == id).map(|(_, t)| t.clone())
    }
    fn has_tangent_of(&self, id: u64) -> bool {
        self.may_have_tangent() && self.meta().tangents.lock().iter().any(|(of, _)| *of == id)
    }
    fn take_tangent(&self, id: u64) -> Option<Tensor> {
        let mut all = self.meta().tangents.lock();
        let at = all.iter().position(|(of, _)| *of == id)?;
        let (_, t) = all.remove(at);
        if all.is_empty() {
            self.set_flag(flag::TANGENT, false);
        }
        Some(t)
    }
    /// Gives this tensor a tangent at a level; `at` is its position among those open.
    fn put_tangent(&self, at: usize, id: u64, tangent: Tensor) {
        let mut all = self.meta().tangents.lock();
        let old = match all.iter_mut().find(|(of, _)| *of == id) {
            Some((_, t)) => Some(std::mem::replace(t, tangent)),
            None => {
                all.push((id, tangent));
                None
            }
        };
        drop(all);
        if old.is_none() {
            self.set_flag(flag::TANGENT, true);
            LEVELS.with_borrow_mut(|levels| {
                if let Some(open) = levels.get_mut(at) {
                    open.holders.push(self.downgrade());
                }
            });
        }
    }
    /// Whether the tensor was given a tangent at some level.
    #[inline]
    pub(crate) fn may_have_tangent(&self) -> bool {
        self.has_flag(flag::TANGENT)
    }
    /// Whether the tensor has a tangent at a level that ops see.
    pub(crate) fn has_tangent(&self) -> bool {
        self.may_have_tangent() && seen().iter().any(|&(_, id)| self.has_tangent_of(id))
    }
    /// The tangent at the innermost level that ops see.
    pub fn tangent(&self) -> Option<Tensor> {
        self.may_have_tangent().then(|| seen().last().and_then(|&(_, id)| self.tangent_of(id))).flatten()
    }
    /// Gives this tensor a tangent at the innermost level that ops see.
    pub fn set_tangent(&self, tangent: Tensor) -> Result<()> {
        let (level, id) = seen().pop().ok_or_else(no_level)?;
        check_sizes(self, &tangent)?;
        self.put_tangent(level, id, tangent);
        Ok(())
    }
    /// The tensor, with its graph, for a place that tangents do not reach.
    pub(crate) fn without_tangents(self) -> Tensor {
        if !self.may_have_tangent() {
            return self;
        }
        let plain = self.alias();
        if let Some(output) = self.history() {
            plain.set_history(output);
        }
        plain
    }
    /// Gives this tensor, which stands for the same values, the tangents of another one.
    pub(crate) fn share_tangents(&self, of: &Tensor) {
        if !of.may_have_tangent() {
            return;
        }
        for (level, id) in seen() {
            if let Some(t) = of.tangent_of(id) {
                self.put_tangent(level, id, t);
            }
        }
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
/// Batched tensors are brought to the levels that either is batched at. A batch of tangents for one primal, at the level
/// `along`, stays with the tangent alone.
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
    let ((_, a), (_, b)) = (transforms::decomposed(primal), transforms::decomposed(tangent));
    let mut levels = transforms::union(&a, &b);
    levels.retain(|l| !along.is_some_and(|p| Arc::ptr_eq(l, p)));
    let value =
        dual_of_values(&transforms::regrouped(primal, &levels)?, &transforms::regrouped(tangent, &levels)?, level)?;
    transforms::assembled(value, &levels)
}

fn dual_of_values(primal: &Tensor, tangent: &Tensor, level: usize) -> Result<Tensor> {
    let id = id_of(level)?;
    if primal.tangent_of(id).is_some() {
        return Err(Error::autograd(format!(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {level} is not \
             supported: unpack it first."
        )));
    }
    if tangent.tangent_of(id).is_some() {
        return Err(Error::autograd(format!(
            "Making a dual Tensor with a tangent that itself has a forward gradient at the same level {level} is not \
             supported: it would not be used. Unpack it first."
        )));
    }
    check_sizes(primal, tangent)?;
    let dual = {
        let _hidden = Hidden::only(level);
        crate::ops::view::alias(primal)?
    };
    let fits = tangent.strides() == primal.strides() || primal.numel() <= 1 || tangent.is_batched();
    let tangent = if fits { tangent.clone() } else { laid_out_like(tangent, primal)? };
    dual.put_tangent(level, id, tangent);
    Ok(dual)
}

/// A copy of `t`, differentiable, in the layout of `like`.
fn laid_out_like(t: &Tensor, like: &Tensor) -> Result<Tensor> {
    let strides = crate::tensor::layout::preserving_strides(like.sizes(), like.strides());
    let fresh = crate::ops::create::zeros_strided(like.sizes(), &strides, t.dtype())?;
    fresh.copy_(t)
}

/// A primal whose tangents have entries at a batch level, repeated at it so that it goes along with them in an op on other
/// tensors batched there; `None` if none of its tangents is.
pub(crate) fn repeated(x: &Tensor, level: &Arc<Batch>) -> Result<Option<Tensor>> {
    if !x.may_have_tangent() {
        return Ok(None);
    }
    let batched = |t: &Tensor| transforms::decomposed(t).1.iter().any(|l| Arc::ptr_eq(l, level));
    let tangents: SmallVec<[(usize, u64, Tensor); 2]> =
        seen().into_iter().filter_map(|(at, id)| Some((at, id, x.tangent_of(id)?))).collect();
    if !tangents.iter().any(|(.., t)| batched(t)) {
        return Ok(None);
    }
    let levels = std::slice::from_ref(level);
    let whole = {
        let _hidden = Hidden::from(0);
        transforms::regrouped(x, levels)?
    };
    for (at, id, t) in tangents {
        whole.put_tangent(at, id, transforms::regrouped(&t, levels)?);
    }
    Ok(Some(whole))
}

/// A view of a dual without its tangent at an open level, and that tangent.
pub fn unpack_dual(dual: &Tensor, level: usize) -> Result<(Tensor, Option<Tensor>)> {
    let id = id_of(level)?;
    let (value, levels) = transforms::decomposed(dual);
    let primal = {
        let _hidden = Hidden::only(level);
        crate::ops::view::alias(&value)?
    };
    let tangent = value.tangent_of(id).map(|t| transforms::joined(&t, dual)).transpose()?;
    Ok((transforms::assembled(primal, &levels)?, tangent))
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

/// Runs `rule` for every level at which one of `xs` has a tangent, with its tangents there.
///
/// From the outermost level on, each with itself and the levels inside it hidden: the rule of an inner one uses results with
/// their tangents at the outer ones. If there are several, all but the innermost then run once more with only themselves
/// hidden, so that tangents of outer levels have tangents at inner ones too.
fn each_level(xs: &[&Tensor], mut rule: impl FnMut(usize, u64, &[Option<Tensor>]) -> Result<()>) -> Result<()> {
    let mut levels = seen();
    levels.retain(|&mut (_, id)| xs.iter().any(|x| x.has_tangent_of(id)));
    let mut run = |(level, id): (usize, u64), others: Hidden| -> Result<()> {
        let mut ts: SmallVec<[Option<Tensor>; 3]> = SmallVec::new();
        for x in xs {
            ts.push(x.tangent_of(id));
        }
        note_grad_mode(level);
        let result = rule(level, id, &ts);
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
pub(crate) fn push_tangents<P: Primitive>(op: &P, xs: &[&Tensor], outs: &[Tensor]) -> Result<()> {
    push_through(xs, outs, |ts| op.jvp(&Jvp { xs, outs, ts }), P::NAME)
}

/// Gives `outs`, computed from `xs`, tangents at every level at which one of `xs` has one. `rule` makes them of the tangents of
/// `xs`; `None` stands for zeros. `name` is for errors.
pub fn push_through(
    xs: &[&Tensor],
    outs: &[Tensor],
    mut rule: impl FnMut(&[Option<Tensor>]) -> Result<Grads>,
    name: &'static str,
) -> Result<()> {
    if !xs.iter().any(|x| x.may_have_tangent()) {
        return Ok(());
    }
    each_level(xs, |level, id, ts| {
        let mut results = rule(ts)?;
        results.resize(outs.len(), None);
        for (o, t) in outs.iter().zip(results) {
            if o.dtype().is_differentiable() {
                let t = tangent_for(o, t, name)?;
                o.put_tangent(level, id, t);
            }
        }
        Ok(())
    })
}

/// What the tangents of an op that writes to operand 0 need of the state before the write.
pub(crate) struct BeforeWrite {
    /// A copy of what was.
    pub primal: Tensor,
}

impl BeforeWrite {
    /// `None` if no operand has a tangent.
    pub fn of(xs: &[&Tensor]) -> Result<Option<Self>> {
        if !xs.iter().any(|x| x.has_tangent()) {
            return Ok(None);
        }
        // With its history and its tangents, which are written in place as well.
        Ok(Some(Self { primal: crate::ops::memory::cloned(xs[0])? }))
    }

    /// As [`push_tangents`], after the write. The tangent is written in place too, so that it stays one with the tangents
    /// of the target's base and views.
    pub fn push<P: Primitive>(&self, op: &P, xs: &[&Tensor], target: &Tensor) -> Result<()> {
        let before: SmallVec<[&Tensor; 3]> =
            xs.iter().map(|x| if x.is_same(target) { &self.primal } else { *x }).collect();
        if !target.dtype().is_differentiable() {
            return Ok(());
        }
        each_level(&before, |level, id, ts| {
            let results = op.jvp(&Jvp { xs: &before, outs: std::slice::from_ref(target), ts })?;
            let new = tangent_for(target, results.into_iter().next().flatten(), P::NAME)?;
            write_tangent(target, level, id, &new)
        })
    }
}

fn write_tangent(target: &Tensor, level: usize, id: u64, new: &Tensor) -> Result<()> {
    let old = target.tangent_of(id);
    match (old, target.base()) {
        (Some(t), _) if transforms::holds(&t, new) => t.copy_(new).map(drop),
        (_, None) => {
            target.put_tangent(level, id, new.clone());
            Ok(())
        }
        (_, Some(base)) => {
            let whole = super::view::Geometry::of(base);
            let t = match base.tangent_of(id) {
                Some(t) => t,
                None => whole.fresh(None, base)?,
            };
            let t = if transforms::holds(&t, new) { t } else { transforms::widened(&t, new)? };
            let part = super::view::Geometry::of(target).within(&whole, &t)?;
            part.copy_(new)?;
            base.put_tangent(level, id, t);
            target.put_tangent(level, id, part);
            Ok(())
        }
    }
}
