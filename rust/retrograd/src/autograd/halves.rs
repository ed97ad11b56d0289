//! Halves in ops whose loops do not know them: such an op runs in float32, between two conversions (design D23).

use smallvec::SmallVec;

use super::primitive::{Halves, Outs, Primitive};
use crate::error::Result;
use crate::tensor::{DType, Tensor, copy};

/// The op itself, with halves as [`Primitive::HALVES`] says.
#[inline(always)]
pub(super) fn forward<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Outs> {
    match computed_with(op, xs)? {
        None => op.forward(xs),
        Some(half) => in_float32(&|xs| op.forward(xs), xs, half),
    }
}

/// The half that the op computes in, if it does so in float32.
#[inline(always)]
pub(super) fn computed_with<P: Primitive>(op: &P, xs: &[&Tensor]) -> Result<Option<DType>> {
    match P::HALVES {
        Halves::Loops => Ok(None),
        Halves::InFloat32 => op.computes_in(xs).map(|dtype| dtype.half().map(|_| dtype)),
    }
}

/// Runs an op on its operands in float32, and gives its results of that dtype as halves. Compiled once for all ops.
#[cold]
fn in_float32(run: &dyn Fn(&[&Tensor]) -> Result<Outs>, xs: &[&Tensor], half: DType) -> Result<Outs> {
    let convert =
        |x: &&Tensor| if x.dtype().half().is_some() { copy::cast(x, DType::Float32) } else { Ok((*x).clone()) };
    let wide: SmallVec<[Tensor; 4]> = xs.iter().map(convert).collect::<Result<_>>()?;
    let mut outs = run(&wide.iter().collect::<SmallVec<[&Tensor; 4]>>())?;
    for out in outs.iter_mut().filter(|out| out.dtype() == DType::Float32) {
        *out = copy::cast(out, half)?;
    }
    Ok(outs)
}
