//! What the loops of an op are given: operands in dtypes that they know, and without lazy bits.
//!
//! An op whose loops do not know halves runs in float32, between two conversions (design D23).

use smallvec::SmallVec;

use super::node::Grads;
use super::primitive::{Halves, Jvp, Outs, Primitive};
use crate::error::Result;
use crate::tensor::{DType, Tensor, copy, lazy};

/// The op itself, on what its loops know.
#[inline(always)]
pub(super) fn forward<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Outs> {
    if !P::TAKES_LAZY && lazy::exist() && xs.iter().any(|x| x.lazy_bits().any()) {
        return on_resolved(&|xs| forward_plain(op, xs), xs);
    }
    forward_plain(op, xs)
}

#[inline(always)]
fn forward_plain<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Outs> {
    match computed_with(op, xs)? {
        None => op.forward(xs),
        Some(half) => in_float32(&|xs| op.forward(xs), xs, half),
    }
}

/// Whether the op can be run on the operands as they are: written to its target at once.
#[inline]
pub(super) fn as_they_are<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<bool> {
    let plain = P::TAKES_LAZY || !lazy::exist() || !xs.iter().any(|x| x.lazy_bits().any());
    Ok(plain && computed_with(op, xs)?.is_none())
}

/// The half that the op computes in, if it does so in float32.
#[inline(always)]
fn computed_with<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Option<DType>> {
    match P::HALVES {
        Halves::Loops => Ok(None),
        Halves::InFloat32 => op.computes_in(xs).map(|dtype| dtype.half().map(|_| dtype)),
    }
}

/// An op on other operands. Not a type parameter: what uses it is compiled once for all ops.
type OnOthers<'a> = &'a dyn Fn(&[&Tensor]) -> Result<Outs>;

/// Runs an op on its operands in float32, and gives its results of that dtype as halves.
#[cold]
fn in_float32(run: OnOthers, xs: &[&Tensor], half: DType) -> Result<Outs> {
    let mut outs = on_others(run, xs, &|x| {
        if x.dtype().half().is_some() { copy::cast(x, DType::Float32) } else { Ok(x.clone()) }
    })?;
    for out in outs.iter_mut().filter(|out| out.dtype() == DType::Float32) {
        *out = copy::cast(out, half)?;
    }
    Ok(outs)
}

/// Runs an op on copies of those operands that have lazy bits.
#[cold]
fn on_resolved(run: OnOthers, xs: &[&Tensor]) -> Result<Outs> {
    on_others(run, xs, &Tensor::resolved)
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
