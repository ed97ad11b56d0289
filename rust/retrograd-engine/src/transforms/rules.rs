//! Ops on batched tensors: which rule an op states, and what becomes of the results.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::batched::{Batched, entry_body, entry_of};
use super::level::{InRule, Level};
use crate::autograd::apply::{apply_any, apply_any_inplace};
use crate::autograd::erased::{AnyPrimitive, Batching, Unrecorded};
use crate::autograd::primitive::{BatchOuts, Outs};
use crate::autograd::{arith, forward, mode};
use crate::error::{Error, Result};
use crate::tensor::{Category, Dims, Tensor};

/// Operands without the level whose rule runs.
struct Operands {
    values: SmallVec<[Tensor; 3]>,
    /// 0 for those that are batched: the position of the batch axis.
    axes: SmallVec<[Option<usize>; 3]>,
    /// Dims of one entry.
    ndims: SmallVec<[usize; 3]>,
}

impl Operands {
    fn of(xs: &[&Tensor], level: &Arc<Level>) -> Result<Self> {
        let mut all = Self { values: SmallVec::new(), axes: SmallVec::new(), ndims: SmallVec::new() };
        for x in xs {
            let value = match x.batched().filter(|b| b.level.id() == level.id()) {
                Some(b) => Some(b.value),
                None => forward::repeated(x, level)?,
            };
            all.axes.push(value.is_some().then_some(0));
            all.ndims.push(x.ndim());
            all.values.push(value.unwrap_or_else(|| Tensor::clone(x)));
        }
        Ok(all)
    }
    fn refs(&self) -> SmallVec<[&Tensor; 3]> {
        self.values.iter().collect()
    }
    /// The batch axis of every operand in front of as many axes as the largest entry has, so that they broadcast.
    fn align(&mut self) -> Result<()> {
        let most = self.ndims.iter().copied().max().unwrap_or(0);
        self.rank_dtypes(most)?;
        for ((value, axis), &ndim) in self.values.iter_mut().zip(&self.axes).zip(&self.ndims) {
            if axis.is_some() && ndim < most {
                let mut sizes = Dims::from_elem(1, most + 1);
                sizes[0] = value.sizes()[0];
                sizes[most + 1 - ndim..].copy_from_slice(&value.sizes()[1..]);
                *value = arith::view_to(value, &sizes)?;
            }
        }
        Ok(())
    }
    /// In promotion a 0-dim operand counts less than others, also where a batch axis gives its value a dim.
    fn rank_dtypes(&mut self, most: usize) -> Result<()> {
        let first = self.values[0].dtype();
        if self.values.iter().all(|v| v.dtype() == first) {
            return Ok(());
        }
        let large = self.values.iter().zip(&self.ndims).find(|(v, n)| **n > 0 && v.dtype() != crate::DType::Bool);
        let large = large.map(|(v, _)| v.dtype());
        for ((value, axis), &ndim) in self.values.iter_mut().zip(&self.axes).zip(&self.ndims) {
            if ndim > 0 || value.is_number() {
                continue;
            }
            match (axis, large) {
                (Some(_), Some(dtype)) if is_below(value, dtype) => *value = arith::cast(value, dtype)?,
                (None, None) if most == 0 => *value = arith::unsqueeze(value, 0)?,
                _ => {}
            }
        }
        Ok(())
    }
    /// The op, and its operands prepared, for a run on the whole batch at once.
    fn lift_op(&mut self, op: &dyn AnyPrimitive, batch: usize) -> Result<Box<dyn Unrecorded>> {
        let lifted = op.lift(&self.ndims, batch)?;
        if op.facts().batch == Batching::Lift {
            self.lift(batch)?
        } else {
            self.align()?
        }
        Ok(lifted)
    }
    /// Every operand with the batch axis in front.
    fn lift(&mut self, batch: usize) -> Result<()> {
        for (value, axis) in self.values.iter_mut().zip(&self.axes) {
            *value = arith::batch_first(value, *axis, batch)?;
        }
        Ok(())
    }
}

fn is_below(x: &Tensor, dtype: crate::DType) -> bool {
    x.dtype() != dtype && x.dtype().category() != Category::Bool && x.dtype().category() <= dtype.category()
}

/// Runs an op whose operands are batched at `level`, and at none inside it.
pub(crate) fn run(op: &dyn AnyPrimitive, xs: &[&Tensor], level: &Arc<Level>) -> Result<Outs> {
    let _here = InRule::at(level)?;
    let (outs, axes) = on_values(op, Operands::of(xs, level)?, level)?;
    let entry = |(o, axis): (Tensor, Option<usize>)| match axis {
        Some(0) => entry_of(o, level),
        Some(a) => entry_of(arith::movedim(&o, &[a as i64], &[0])?, level),
        None => Ok(o),
    };
    outs.into_iter().zip(axes).map(entry).collect()
}

fn on_values(op: &dyn AnyPrimitive, mut operands: Operands, level: &Level) -> Result<BatchOuts> {
    let batch = level.size();
    if let Some(results) = op.batch_rule(&operands.refs(), &operands.axes, batch) {
        let (mut outs, axes) = results?;
        // A value belongs to one handle alone: its layout may be changed in place.
        for o in outs.iter_mut().filter(|o| operands.values.iter().any(|value| value.is_same(o))) {
            *o = arith::alias(o)?;
        }
        return Ok((outs, axes));
    }
    if op.facts().batch == Batching::Loop {
        return looping(op, &operands, batch);
    }
    let mut lifted = operands.lift_op(op, batch)?;
    let outs = apply_any(&mut *lifted, &operands.refs())?;
    let axes = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, axes))
}

/// As [`run`], writing to operand 0, which is returned.
pub(crate) fn run_inplace(op: &dyn AnyPrimitive, xs: &[&Tensor], level: &Arc<Level>) -> Result<Tensor> {
    let _here = InRule::at(level)?;
    let target = xs[0];
    let mut operands = Operands::of(xs, level)?;
    if operands.axes[0].is_none() {
        let name = format!("{}_", op.facts().name.trim_end_matches('_'));
        return Err(Error::autograd(format!(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args \
             that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a \
             vmap. Please try to use out-of-place operators instead of {name}.",
        )));
    }
    if let Some((i, _)) = operands.ndims.iter().enumerate().find(|(_, n)| **n > operands.ndims[0])
        && op.facts().batch == Batching::Pointwise
    {
        return Err(Error::broadcast(op.facts().name, target.sizes(), xs[i].sizes()));
    }
    match op.facts().batch {
        Batching::Pointwise | Batching::Lift => {
            let mut lifted = operands.lift_op(op, level.size())?;
            apply_any_inplace(&mut *lifted, &operands.refs())?;
        }
        Batching::Rule | Batching::Loop => {
            let value = operands.values[0].clone();
            // The rule's ops may save what they read until the backward, and the write comes after them.
            if mode::records(mode::word()) && operands.values.iter().any(Tensor::requires_grad) {
                for x in operands.values.iter_mut().filter(|x| x.shares_storage(&value)) {
                    *x = arith::cloned(x)?;
                }
            }
            let (outs, axes) = on_values(op, operands, level)?;
            let result = arith::batch_first(&outs[0], axes[0], level.size())?;
            value.copy_(&result)?;
        }
    }
    Ok(target.clone())
}

/// Gives the entry of a batch at `level` another layout in place: `change` does it to the value, so that graph,
/// tangents and views follow as they do without a batch.
pub(crate) fn reshape_entry(x: &Tensor, level: &Arc<Level>, change: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let _here = InRule::at(level)?;
    let Some(batched) = x.batched() else { return Ok(()) };
    change(&batched.value)?;
    x.replace_body(entry_body(&batched.value, level)?);
    // Axes are others now: the batch is where ops leave it.
    *x.meta().batched.lock() = Some(Batched { dim: 0, ..batched });
    Ok(())
}

/// Ops that ran entry by entry in this process.
static LOOPED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Names of the ops that have been run entry by entry, for want of a batching rule.
pub fn looped() -> Vec<&'static str> {
    LOOPED.lock().iter().copied().collect()
}

fn looping(op: &dyn AnyPrimitive, operands: &Operands, batch: usize) -> Result<BatchOuts> {
    if LOOPED.lock().insert(op.facts().name) {
        crate::warn::warn(&format!(
            "There is a performance drop because {} has no batching rule yet: it runs once for each of the {batch} entries.",
            op.facts().name
        ))?;
    }
    if batch == 0 {
        return Err(Error::not_implemented(format!(
            "vmap: {} has no batching rule for a batch of size 0",
            op.facts().name
        )));
    }
    let mut results: Vec<Vec<Tensor>> = Vec::new();
    for i in 0..batch {
        let entry = |(value, axis): (&Tensor, &Option<usize>)| match axis {
            Some(a) => arith::select_at(value, *a, i as i64),
            None => Ok(value.clone()),
        };
        let entries: Vec<Tensor> = operands.values.iter().zip(&operands.axes).map(entry).collect::<Result<_>>()?;
        let outs = apply_any(&mut *op.boxed(), &entries.iter().collect::<Vec<_>>())?;
        results.resize_with(outs.len(), Vec::new);
        for (column, o) in results.iter_mut().zip(outs) {
            column.push(o);
        }
    }
    let outs: Outs = results.iter().map(|column| arith::stack(column, 0)).collect::<Result<_>>()?;
    let axes = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, axes))
}
