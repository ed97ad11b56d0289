//! The tangents that tensors hold, and whose memory they are.
//!
//! A tensor and its views form a family, and so do their tangents: the tangent of a view is that view of the tangent of
//! the family's *root*, made on the first request, and again if the root was given another tangent since.
//!
//! - **T1** The memory of a tangent is written to only through its family. A rule whose result is, or shares memory
//!   with, the tangent of an operand (`x + 1`) lets the result *borrow* it: nobody sees that until one of the two is
//!   written to, or the user gets the borrower's tangent. Before that, the borrower gets a copy.
//! - **T2** A rule's result never shares memory with a primal. A user's tangent may be the primal itself
//!   (`jvp(f, (x,), (x,))`): then it is copied before the primal is written to.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{At, Hidden, LEVELS, Noted, check_sizes, no_level, seen};
use crate::autograd::arith::{Layout, cloned, same_view, select_at};
use crate::autograd::leaf::WeakTensor;
use crate::autograd::mode::{self, GradGuard};
use crate::error::{Error, Result};
use crate::tensor::{Strides, Tensor, flag};
use crate::transforms;

/// The tangent of a tensor at a level.
#[derive(Clone)]
pub(crate) struct Held {
    /// The level.
    id: u64,
    tangent: Tensor,
    /// The memory belongs to the tangent of another family (T1). Said at the root alone.
    borrowed: bool,
}

pub(crate) type Tangents = SmallVec<[Held; 1]>;

impl Tensor {
    /// The tensor whose tangent at a level that of this one is a view of: itself, its base, or the dual that it is a
    /// view of.
    fn tangent_root(&self, id: u64) -> &Tensor {
        let mut root = self;
        loop {
            match root.view_of() {
                Some(v) if !root.starts_family(id) => match &v.dual {
                    Some(dual) => root = dual,
                    None => return &v.base,
                },
                _ => return root,
            }
        }
    }
    fn starts_family(&self, id: u64) -> bool {
        self.has_flag(flag::DUAL) && self.meta().dual_at.load(Ordering::Relaxed) == id
    }
    /// Makes this view, fresh as it is, the root of a family at a level: its tangent there is not that of its base.
    pub(super) fn start_family(&self, at: At) {
        self.meta().dual_at.store(at.1, Ordering::Relaxed);
        self.set_flag(flag::DUAL, true);
    }
    fn held(&self, id: u64) -> Option<Held> {
        if !self.has_flag(flag::TANGENT) {
            return None;
        }
        self.meta().tangents.lock().iter().find(|h| h.id == id).cloned()
    }
    /// The tangent of this tensor at a level.
    pub(super) fn tangent_at(&self, at: At) -> Result<Option<Tensor>> {
        let own = self.held(at.1).map(|h| h.tangent);
        let root = self.tangent_root(at.1);
        if root.is_same(self) {
            return Ok(own);
        }
        match (root.held(at.1), own) {
            (Some(whole), Some(t)) if !t.shares_storage(&whole.tangent) => derive(self, root, whole, at).map(Some),
            (Some(whole), None) => derive(self, root, whole, at).map(Some),
            (_, own) => Ok(own),
        }
    }
    pub(super) fn has_tangent_of(&self, id: u64) -> bool {
        let holds = |t: &Tensor| t.has_flag(flag::TANGENT) && t.meta().tangents.lock().iter().any(|h| h.id == id);
        holds(self) || self.view_of().is_some() && holds(self.tangent_root(id))
    }
    pub(super) fn take_tangent(&self, id: u64) -> Option<Tensor> {
        let mut all = self.meta().tangents.lock();
        let at = all.iter().position(|h| h.id == id)?;
        let held = all.remove(at);
        if all.is_empty() {
            self.set_flag(flag::TANGENT, false);
        }
        Some(held.tangent)
    }
    /// Gives this tensor a tangent at a level.
    pub(super) fn put_tangent(&self, at: At, tangent: Tensor, borrowed: bool) {
        let mut all = self.meta().tangents.lock();
        let held = Held { id: at.1, tangent, borrowed };
        if borrowed {
            held.tangent.storage().lend(true);
        }
        let old = match all.iter_mut().find(|h| h.id == at.1) {
            Some(h) => Some(std::mem::replace(h, held)),
            None => {
                all.push(held);
                None
            }
        };
        drop(all);
        self.set_flag(flag::TANGENT, true);
        LEVELS.with_borrow_mut(|levels| {
            let Some(open) = levels.get_mut(at.0) else { return };
            if old.is_none() {
                open.holders.push(self.downgrade());
            }
            if borrowed {
                open.borrowers.push(self.downgrade());
            }
        });
    }
    /// Whether the tensor may have a tangent at some level.
    #[inline]
    pub(crate) fn may_have_tangent(&self) -> bool {
        self.has_flag(flag::TANGENT)
            || self.view_of().is_some_and(|v| v.base.has_flag(flag::TANGENT) || v.dual.is_some())
    }
    /// Whether the tensor has a tangent at a level that ops see.
    pub(crate) fn has_tangent(&self) -> bool {
        self.may_have_tangent() && seen().iter().any(|&(_, id)| self.has_tangent_of(id))
    }
    /// The tangent at the innermost level that ops see.
    pub fn tangent(&self) -> Result<Option<Tensor>> {
        match self.may_have_tangent().then(|| seen().pop()).flatten() {
            Some(at) => shown(self, at),
            None => Ok(None),
        }
    }
    /// Gives this tensor a tangent at the innermost level that ops see.
    pub fn set_tangent(&self, tangent: Tensor) -> Result<()> {
        let at = seen().pop().ok_or_else(no_level)?;
        check_sizes(self, &tangent)?;
        self.put_tangent(at, tangent, false);
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
    /// The tangents at the levels that ops see.
    pub(crate) fn tangents(&self) -> Result<SmallVec<[Tensor; 1]>> {
        let mut all = SmallVec::new();
        if self.may_have_tangent() {
            for at in seen() {
                all.extend(self.tangent_at(at)?);
            }
        }
        Ok(all)
    }
    /// A tensor with the tangents of this one and none of its memory; `None` where ops see no level.
    pub(crate) fn bearer_of_tangents(&self) -> Result<Option<Tensor>> {
        if seen().is_empty() || !self.dtype().is_differentiable() {
            return Ok(None);
        }
        let zero = Tensor::full(&[], 0i64.into(), self.dtype())?;
        let strides: Strides = self.sizes().iter().map(|_| 0).collect();
        let bearer = Tensor::from_parts(zero.storage().clone(), self.dtype(), self.sizes(), &strides, 0)?;
        bearer.borrow_tangents(self)?;
        Ok(Some(bearer))
    }
    /// Has this tensor, which is the same values in other memory, borrow the tangents of another one.
    pub(crate) fn borrow_tangents(&self, of: &Tensor) -> Result<()> {
        if of.may_have_tangent() {
            for at in seen() {
                if let Some(t) = of.tangent_at(at)? {
                    self.put_tangent(at, t, true);
                }
            }
        }
        Ok(())
    }
    /// Gives this tensor, which has the same values, the tangents of another one.
    pub(crate) fn share_tangents(&self, of: &Tensor) -> Result<()> {
        self.share_tangents_as(of, Ok)
    }
    /// As [`Tensor::share_tangents`]; `shown` makes aliases of the tangents.
    pub(crate) fn share_tangents_as(&self, of: &Tensor, shown: impl Fn(Tensor) -> Result<Tensor>) -> Result<()> {
        if !of.may_have_tangent() {
            return Ok(());
        }
        for at in seen() {
            if let Some(t) = of.tangent_at(at)? {
                self.put_tangent(at, shown(t)?, is_borrowed(of, at) && self.tangent_root(at.1).is_same(self));
            }
        }
        Ok(())
    }
}

/// Whether the tensor's family borrows the memory of its tangent.
fn is_borrowed(x: &Tensor, at: At) -> bool {
    x.tangent_root(at.1).held(at.1).is_some_and(|h| h.borrowed)
}

/// While it lives, what is made of a tangent at a level is as much as the tangent: it has the tangents at all other
/// levels, whichever level calls, and the history.
struct Whole {
    _levels: Hidden,
    _recording: GradGuard,
}

impl Whole {
    fn of(at: At) -> Self {
        Self { _levels: Hidden::only_and_no_other(at.0), _recording: GradGuard::new(true) }
    }
}

/// Makes the tangent of a view out of that of its root.
#[cold]
fn derive(view: &Tensor, root: &Tensor, whole: Held, at: At) -> Result<Tensor> {
    if view.dtype() != root.dtype() {
        return Err(Error::not_implemented(format!(
            "Trying to use forward AD with a view of dtype {} of a tensor of dtype {} that was written to: it is not \
             implemented",
            view.dtype().name(),
            root.dtype().name()
        )));
    }
    let _all = Whole::of(at);
    let mut t = whole.tangent;
    if !fits(root, &t) {
        t = laid_out_like(&t, root)?;
        root.put_tangent(at, t.clone(), false);
    }
    let part = same_view(root, view, &t)?;
    view.put_tangent(at, part.clone(), false);
    Ok(part)
}

/// Whether a view of the tensor is the same view of its tangent.
pub(super) fn fits(primal: &Tensor, tangent: &Tensor) -> bool {
    tangent.strides() == primal.strides() || primal.numel() <= 1
}

/// A copy of `t`, differentiable, in the layout of `like`.
pub(super) fn laid_out_like(t: &Tensor, like: &Tensor) -> Result<Tensor> {
    Layout::of(like).fresh(Some(t), t)
}

/// Whether `t`, the tangent of `result` that a rule made, is in the memory of the tangent of an operand, of another
/// family.
pub(super) fn borrows(result: &Tensor, t: &Tensor, operands: &[&Tensor], tangents: &[Option<Tensor>]) -> bool {
    operands.iter().zip(tangents).any(|(x, tangent)| {
        tangent.as_ref().is_some_and(|tangent| tangent.shares_storage(t)) && !x.shares_storage(result)
    })
}

/// Gives `result` the tangent `t` that a rule made, at a level. `operands` are those of the op with their tangents
/// there.
pub(super) fn give(
    result: &Tensor,
    at: At,
    t: Tensor,
    operands: &[&Tensor],
    tangents: &[Option<Tensor>],
) -> Result<()> {
    if operands.iter().any(|x| x.shares_storage(&t)) || result.shares_storage(&t) {
        // T2.
        result.put_tangent(at, cloned(&t)?, false);
        return Ok(());
    }
    let borrowed = borrows(result, &t, operands, tangents);
    result.put_tangent(at, t, borrowed);
    Ok(())
}

/// The tangent of a tensor, for somebody who may write to it: not one that is borrowed.
pub(super) fn shown(x: &Tensor, at: At) -> Result<Option<Tensor>> {
    if is_borrowed(x, at) {
        give_back(x.tangent_root(at.1), at)?;
    }
    x.tangent_at(at)
}

/// Before a tensor is written to: its tangent, if that is in the same memory, gets memory of its own (T2).
pub(super) fn part_from_primal(target: &Tensor) -> Result<()> {
    for at in seen() {
        let root = target.tangent_root(at.1);
        if root.held(at.1).is_some_and(|held| held.tangent.shares_storage(target)) {
            give_back(root, at)?;
        }
    }
    Ok(())
}

/// Gives the root of a family a tangent in memory of its own.
#[cold]
fn give_back(root: &Tensor, at: At) -> Result<()> {
    let Some(held) = root.held(at.1) else { return Ok(()) };
    let t = held.tangent;
    let own = {
        let _all = Whole::of(at);
        if fits(root, &t) { cloned(&t)? } else { laid_out_like(&t, root)? }
    };
    root.put_tangent(at, own, false);
    Ok(())
}

/// Has everybody who borrows this memory take a copy of it: its owner is about to write to it.
#[cold]
fn call_in(t: &Tensor) -> Result<()> {
    t.storage().lend(false);
    for at in LEVELS.with_borrow(|all| all.iter().enumerate().map(|(i, open)| (i, open.id)).collect::<Vec<At>>()) {
        let borrowers = LEVELS.with_borrow_mut(|all| std::mem::take(&mut all[at.0].borrowers));
        let mut lent = Vec::new();
        for weak in borrowers.tensors {
            let Some(x) = weak.upgrade() else { continue };
            match x.held(at.1).filter(|held| held.borrowed) {
                Some(held) if held.tangent.shares_storage(t) => lent.push(x),
                Some(_) => LEVELS.with_borrow_mut(|all| all[at.0].borrowers.push(weak)),
                None => {}
            }
        }
        lent.iter().try_for_each(|x| give_back(x, at))?;
    }
    Ok(())
}

/// Prepares the tangents of a tensor that a foreign rule is about to write to.
pub(super) fn own(x: &Tensor, at: At) -> Result<()> {
    let Some(t) = shown(x, at)? else { return Ok(()) };
    if t.storage().is_lent() { call_in(&t) } else { Ok(()) }
}

/// Writes `new` to the tangent of `target`, in place, so that it stays one with those of the target's base and views.
/// `borrowed`: `new` shares memory with the tangent of another tensor. `unwritten` is for targets that overlap
/// themselves: 1 for the elements that the op did not write.
pub(super) fn write(target: &Tensor, at: At, new: &Tensor, borrowed: bool, unwritten: Option<&Tensor>) -> Result<()> {
    let root = target.tangent_root(at.1).clone();
    if let Some(t) = target.tangent_at(at)?
        && transforms::holds(&t, new)
        && !is_borrowed(target, at)
        && (!t.may_overlap_itself() || target.may_overlap_itself())
        // Ops on a borrower's tangent may have saved the lender's memory for their rules.
        && !(t.storage().is_lent() && new.requires_grad())
    {
        if t.is_same(new) {
            return Ok(());
        }
        if t.storage().is_lent() {
            call_in(&t)?;
        }
        return overwrite(t, new, unwritten);
    }
    if root.is_same(target) {
        // Views make theirs anew.
        target.put_tangent(at, new.clone(), borrowed);
        return Ok(());
    }
    let whole = {
        let _all = Whole::of(at);
        let own = match root.tangent_at(at)? {
            Some(t) => laid_out_like(&t, &root)?,
            None => Layout::of(&root).fresh(None, &root)?,
        };
        if transforms::holds(&own, new) { own } else { transforms::widened(&own, new)? }
    };
    root.put_tangent(at, whole.clone(), false);
    let part = derive(target, &root, Held { id: at.1, tangent: whole.clone(), borrowed: false }, at)?;
    if !part.shares_storage(&whole) {
        return Err(Error::not_implemented(
            "Trying to use forward AD with a write to a view that reaches beyond the tensor it was made of: clone() it first",
        ));
    }
    overwrite(part, new, unwritten)
}

/// Copies `new` into `t`. Where several elements share memory, as in an expanded view, one that was overwritten counts,
/// as in the primal: `unwritten` is 0 for those, and 1 for the others.
fn overwrite(mut t: Tensor, new: &Tensor, unwritten: Option<&Tensor>) -> Result<()> {
    // The write to the primal was allowed: so is this one, also where a transform captured the tangent.
    let _allowed = GradGuard::with(mode::INSIDE, false);
    let (mut new, mut unwritten) = (new.clone(), unwritten.cloned());
    for axis in (0..t.ndim()).rev() {
        if t.strides()[axis] != 0 || t.sizes()[axis] <= 1 {
            continue;
        }
        let dim = axis as i64;
        t = select_at(&t, axis, 0)?;
        new = match &unwritten {
            Some(unwritten) => select_at(&new.gather(dim, &unwritten.argmin(Some(dim), true)?)?, axis, 0)?,
            None => select_at(&new, axis, 0)?,
        };
        unwritten = unwritten.map(|mask| mask.amin(&[dim], false)).transpose()?;
    }
    t.copy_(&new).map(drop)
}

/// Removes the tangents of a level that closed from the tensors that have one.
pub(super) fn clear(holders: Noted, id: u64) {
    for t in holders.tensors.iter().filter_map(WeakTensor::upgrade) {
        drop(t.take_tangent(id));
    }
}
