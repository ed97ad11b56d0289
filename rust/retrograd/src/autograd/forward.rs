//! Forward mode: tangents that travel with tensors while a level is open.
//!
//! The public face (`forward_ad`) comes with its own issue; the engine part here is what drives every room's JVP rule.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::mode;
use super::primitive::{Jvp, Primitive};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, flag};

static LEVELS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// An open forward level; its tangents are forgotten when it is dropped.
#[must_use = "the level closes when this is dropped"]
pub struct Level {
    outer: u64,
    word: u32,
}

impl Level {
    pub fn enter() -> Self {
        let id = LEVELS.fetch_add(1, Ordering::Relaxed);
        let outer = CURRENT.with(|c| c.replace(id));
        Self { outer, word: mode::set(mode::FORWARD, true) }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        CURRENT.with(|c| c.set(self.outer));
        if self.word & mode::FORWARD == 0 {
            mode::set(mode::FORWARD, false);
        }
    }
}

impl Tensor {
    /// The tangent at the open level.
    pub fn tangent(&self) -> Option<Tensor> {
        if !self.has_flag(flag::TANGENT) {
            return None;
        }
        let level = CURRENT.with(Cell::get);
        self.meta().tangent.lock().as_ref().filter(|(l, _)| *l == level && level != 0).map(|(_, t)| t.clone())
    }

    /// Gives this tensor a tangent at the open level.
    pub fn set_tangent(&self, tangent: Tensor) -> Result<()> {
        let level = CURRENT.with(Cell::get);
        if level == 0 {
            return Err(Error::autograd("Trying to set a tangent but no level exists: enter a dual_level first"));
        }
        if tangent.sizes() != self.sizes() {
            return Err(Error::autograd(format!(
                "Trying to set a forward gradient that has a different size than that of the original Tensor: got {:?}, \
                 expected {:?}",
                tangent.sizes(),
                self.sizes()
            )));
        }
        let old = self.meta().tangent.lock().replace((level, tangent));
        drop(old);
        self.set_flag(flag::TANGENT, true);
        Ok(())
    }
}

/// Runs the op's JVP rule if an operand has a tangent.
pub(crate) fn push_tangents<P: Primitive>(op: &P, xs: &[&Tensor], outs: &[Tensor]) -> Result<()> {
    let ts: SmallVec<[Option<Tensor>; 3]> = xs.iter().map(|x| x.tangent()).collect();
    if ts.iter().all(Option::is_none) {
        return Ok(());
    }
    // The rule speaks of values; nested levels will hand down here.
    let results = {
        let _plain = mode::GradGuard::with(mode::FORWARD, false);
        op.jvp(&Jvp { xs, outs, ts: &ts })?
    };
    for (o, t) in outs.iter().zip(results) {
        if let Some(t) = t
            && o.dtype().is_differentiable()
        {
            let t = super::engine::fit(t, o.sizes(), o.dtype(), P::NAME, 0)?;
            o.set_tangent(t)?;
        }
    }
    Ok(())
}

/// As [`push_tangents`], for an op that wrote to operand 0, whose values before are given. The tangent is written in place
/// as well, so that it stays one with the tangents of the target's base and views.
pub(crate) fn push_tangent_inplace<P: Primitive>(
    op: &P,
    xs: &[&Tensor],
    primal: &Tensor,
    target: &Tensor,
) -> Result<()> {
    let ts: SmallVec<[Option<Tensor>; 3]> = xs.iter().map(|x| x.tangent()).collect();
    let mut before: SmallVec<[&Tensor; 3]> = xs.iter().copied().collect();
    before[0] = primal;
    let after = target.alias();
    let results = {
        let _plain = mode::GradGuard::with(mode::FORWARD, false);
        op.jvp(&Jvp { xs: &before, outs: std::slice::from_ref(&after), ts: &ts })?
    };
    let Some(new) = results.into_iter().next().flatten() else {
        return target.tangent().map_or(Ok(()), |t| t.zero_().map(drop));
    };
    let new = super::engine::fit(new, target.sizes(), target.dtype(), P::NAME, 0)?;
    match (target.tangent(), target.base()) {
        (Some(t), _) => t.copy_(&new).map(drop),
        (None, None) => target.set_tangent(new),
        (None, Some(base)) => {
            let whole = super::view::Geometry::of(base);
            let t = match base.tangent() {
                Some(t) => t,
                None => whole.fresh(None, base)?,
            };
            let part = super::view::Geometry::of(target).within(&whole, &t)?;
            part.copy_(&new)?;
            base.set_tangent(t)?;
            target.set_tangent(part)
        }
    }
}
