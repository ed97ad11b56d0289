//! What the loops of an op are given: operands in dtypes that they know, and without lazy bits.
//!
//! An op whose loops do not know halves runs in float32, between two conversions (design D23), and so do its rules:
//! they are given float32, and the engine rounds what they return. An op that takes a dtype which is only stored runs
//! in the next dtype with loops.

use std::slice;

use smallvec::SmallVec;

use super::arith;
use super::erased::AnyPrimitive;
use super::node::{Grads, NodeRef, Run};
use super::primitive::{Batch, Halves, Jvp, Outs, Primitive, Vjp};
use crate::error::{Error, Result};
use crate::tensor::{DType, Tensor, copy, lazy};

/// What comes out of an op: its results, or the one that it has, which needs no list. A list goes from one place in
/// memory to the next several times, and each time waits for what was written there last: some 10 ns of a small op.
pub(super) trait Results: Sized {
    fn of_op<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Self>;
    fn of_list(outs: Outs) -> Self;
    fn each(&mut self) -> &mut [Tensor];
}

impl Results for Outs {
    #[inline(always)]
    fn of_op<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Self> {
        op.forward(xs)
    }
    fn of_list(outs: Outs) -> Self {
        outs
    }
    #[inline(always)]
    fn each(&mut self) -> &mut [Tensor] {
        self
    }
}

impl Results for Tensor {
    #[inline(always)]
    fn of_op<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Self> {
        op.forward_one(xs)
    }
    #[inline]
    fn of_list(mut outs: Outs) -> Self {
        outs.swap_remove(0)
    }
    #[inline(always)]
    fn each(&mut self) -> &mut [Tensor] {
        slice::from_mut(self)
    }
}

/// The op itself, on what its loops know.
#[inline(always)]
pub(super) fn forward<P: Primitive, R: Results>(op: &P, xs: &[&Tensor]) -> Result<R> {
    if lazy::exist() && !all_plain::<P>(xs) {
        return on_others_than_plain(op, &|xs| forward_plain(op, xs), xs).map(R::of_list);
    }
    forward_plain(op, xs)
}

/// Whether the test holds for an operand. Not for a closure, and apart from functions with the type of an op: without
/// optimisation the search is compiled once, not for each op.
#[inline(always)]
pub(super) fn any(xs: &[&Tensor], test: fn(&Tensor) -> bool) -> bool {
    xs.iter().any(|x| test(x))
}

/// Whether the operands are what the op's loops read.
#[inline(always)]
fn all_plain<P: Primitive>(xs: &[&Tensor]) -> bool {
    if P::TAKES_LAZY { !any(xs, |x| x.lazy_bits().sparse) } else { !any(xs, |x| x.lazy_bits().any()) }
}

#[inline(always)]
fn forward_plain<P: Primitive, R: Results>(op: &P, xs: &[&Tensor]) -> Result<R> {
    match converted_from(op, xs)? {
        None => R::of_op(op, xs),
        Some(dtype) => in_wider(&|xs| op.forward(xs), xs, dtype, P::STATISTICS).map(R::of_list),
    }
}

/// Whether the op can be run on the operands as they are: written to its target at once.
#[inline]
pub(super) fn as_they_are<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<bool> {
    let plain = !lazy::exist() || all_plain::<P>(xs);
    Ok(plain && converted_from(op, xs)?.is_none())
}

/// Whether the op, which does more than moving elements, has no loops for the dtype of an operand, or for that which
/// they have in common: a float16 and a complex number make complex32.
#[inline(always)]
fn any_only_stored<P: Primitive>(op: &P, xs: &[&Tensor]) -> bool {
    !op.dtypes().is_stored()
        && (any(xs, |x| x.dtype().is_only_stored())
            || promotes::<P>() && any(xs, |x| x.dtype() == DType::Float16) && any(xs, |x| x.dtype().is_complex()))
}

/// The dtype that the op was to compute in, if its loops do not know that, or the dtype of an operand: a half, or one
/// that is only stored.
#[inline(always)]
fn converted_from<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Option<DType>> {
    if any_only_stored(op, xs) {
        return op.computes_in(xs).map(Some);
    }
    match P::HALVES {
        Halves::Loops | Halves::LoopsAlone => Ok(None),
        Halves::InFloat32 => op.computes_in(xs).map(|dtype| dtype.half().map(|_| dtype)),
    }
}

/// Refuses a dtype that is not among those of the op. An op that takes all of them costs nothing.
#[inline(always)]
pub(super) fn check_dtype<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<()> {
    let dtypes = op.dtypes();
    if !dtypes.has_all() || any_only_stored(op, xs) {
        let dtype = op.computes_in(xs)?;
        if !dtypes.has(dtype) {
            return Err(refused(op.kernel_name(), if promotes::<P>() { xs } else { &[] }, dtype));
        }
    }
    Ok(())
}

/// Whether the op converts its operands to a dtype that they have in common.
const fn promotes<P: Primitive>() -> bool {
    matches!(P::BATCH, Batch::Pointwise)
}

#[cold]
fn refused(kernel: &'static str, xs: &[&Tensor], dtype: DType) -> Error {
    let dtypes = || xs.iter().filter(|x| !x.is_number()).map(|x| x.dtype());
    let apart = |a: DType| dtypes().find(|&b| a.unpromoted(b)).map(|b| (a, b));
    match dtypes().find_map(apart) {
        Some((a, b)) => Error::no_promotion(kernel, a, b),
        None => Error::no_kernel(kernel, dtype),
    }
}

/// An op on other operands. Not a type parameter: what uses it is compiled once for all ops.
type OnOthers<'a> = &'a dyn Fn(&[&Tensor]) -> Result<Outs>;

/// Runs an op on its operands in a dtype that its loops know, and gives its results of that dtype in this one, but for
/// statistics.
#[cold]
fn in_wider(run: OnOthers, xs: &[&Tensor], dtype: DType, statistics: u32) -> Result<Outs> {
    let wider = |dtype: DType| if dtype.half().is_some() { DType::Float32 } else { dtype.computed() };
    let mut outs = on_others(run, xs, &|x| copy::cast(x, wider(x.dtype())))?;
    // Magnitudes of complex numbers are real.
    let back = [(wider(dtype), dtype), (wider(dtype).real(), dtype.real())];
    for (_, out) in outs.iter_mut().enumerate().filter(|(i, _)| statistics >> i & 1 == 0) {
        if let Some((_, to)) = back.into_iter().find(|(from, _)| *from == out.dtype()) {
            *out = copy::cast(out, to)?;
        }
    }
    Ok(outs)
}

/// Runs an op on copies of those operands that have lazy bits. With sparse ones, that is for the op to do.
#[cold]
fn on_others_than_plain(op: &dyn AnyPrimitive, run: OnOthers, xs: &[&Tensor]) -> Result<Outs> {
    if !xs.iter().any(|x| x.is_sparse()) {
        return on_others(run, xs, &Tensor::resolved);
    }
    // It computes with ops, which are to record nothing: with operands that have neither history nor tangents.
    let bare = |x: &Tensor| if x.is_number() { Ok(x.clone()) } else { Ok(x.resolved()?.alias()) };
    on_others(&|xs| op.sparse(xs), xs, &bare)
}

fn on_others(run: OnOthers, xs: &[&Tensor], of: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Outs> {
    let others: SmallVec<[Tensor; 4]> = xs.iter().map(|x| of(x)).collect::<Result<_>>()?;
    run(&others.iter().collect::<SmallVec<[&Tensor; 4]>>())
}

/// Runs a JVP rule on copies of those tensors that have lazy bits.
#[cold]
pub(super) fn jvp_of_resolved(cx: &Jvp, run: &dyn Fn(&Jvp) -> Result<Grads>) -> Result<Grads> {
    let xs: SmallVec<[Tensor; 4]> = cx.xs.iter().map(|x| x.resolved()).collect::<Result<_>>()?;
    let tangents: Grads =
        cx.tangents.iter().map(|t| t.as_ref().map(Tensor::resolved).transpose()).collect::<Result<_>>()?;
    run(&Jvp { xs: &xs.iter().collect::<SmallVec<[&Tensor; 4]>>(), outs: cx.outs, tangents: &tangents })
}

fn is_half(x: &Tensor) -> bool {
    x.dtype().half().is_some()
}

/// Whether one of them is a half.
pub(super) fn any_half(xs: &[Option<Tensor>]) -> bool {
    xs.iter().flatten().any(is_half)
}

/// In float32 if it is a half, recorded.
fn widened(x: &Tensor) -> Result<Tensor> {
    if is_half(x) { arith::cast(x, DType::Float32) } else { Ok(x.clone()) }
}

/// Runs a rule in float32.
#[cold]
pub(super) fn vjp_in_float32(
    op: &dyn AnyPrimitive,
    node: &NodeRef,
    grads: &[Option<Tensor>],
    saved: &[Option<Tensor>],
    run: Run,
) -> Result<Grads> {
    let grads: Grads = grads.iter().map(|x| x.as_ref().map(widened).transpose()).collect::<Result<_>>()?;
    let saved = saved.iter().map(|x| x.as_ref().map(widened).transpose()).collect::<Result<_>>()?;
    op.vjp(&Vjp { node, grads: &grads, saved, run })
}

/// Runs a JVP rule in float32, where tangents are halves.
pub(super) fn jvp_in_float32(cx: &Jvp, run: &dyn Fn(&Jvp) -> Result<Grads>) -> Result<Grads> {
    if !any_half(cx.tangents) {
        return run(cx);
    }
    let xs: SmallVec<[Tensor; 4]> = cx.xs.iter().map(|x| widened(x)).collect::<Result<_>>()?;
    let outs: SmallVec<[Tensor; 2]> = cx.outs.iter().map(widened).collect::<Result<_>>()?;
    let tangents: Grads = cx.tangents.iter().map(|x| x.as_ref().map(widened).transpose()).collect::<Result<_>>()?;
    run(&Jvp { xs: &xs.iter().collect::<SmallVec<[&Tensor; 4]>>(), outs: &outs, tangents: &tangents })
}
