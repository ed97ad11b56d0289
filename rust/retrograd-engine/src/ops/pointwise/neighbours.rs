//! Floats as their bits: the next one, and the parts of one.

use retrograd_macros::op;
use smallvec::smallvec;

use super::promote::{binary_shape, out_like, result_type};
use super::scalar_loop::run_pairs;
use super::select::number;
use super::zeros_of;
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply_as};
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::kernels::bits::{Exponent, Fraction, NextAfter};
use crate::kernels::pointwise::map1;
use crate::match_dtype;
use crate::ops::Entry;
use crate::tensor::{DType, Dtypes, Tensor, copy};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&NEXTAFTER, &FREXP];

/// `nextafter`: reverse `g` by the first operand where the two differ, and 0 by the second.
#[derive(Clone, Copy, Debug)]
struct Towards;

/// The derivative of [`Towards`] by its first operand.
fn where_moved(g: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    g.masked_fill(&a.eq(b)?, &number(0.0)?)
}

impl Primitive for Towards {
    const NAME: &'static str = "nextafter";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "other")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(xs);
        let sizes = binary_shape(Self::NAME, xs[0], xs[1])?;
        let (a, b) = (copy::cast(xs[0], dtype)?, copy::cast(xs[1], dtype)?);
        let result = out_like(&sizes, dtype, &[&a, &b])?;
        match_dtype!(floats, dtype, T => run_pairs::<T, T>([&a, &b], &result, &NextAfter), else {
            match_dtype!(halves, dtype, T => run_pairs::<T, T>([&a, &b], &result, &NextAfter))
        });
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || where_moved(cx.g(), cx.saved(0)?, cx.saved(1)?))?);
        grads.push(cx.when(1, || zeros_of(cx.g()))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let first = cx.t(0).map(|t| where_moved(t, cx.xs[0], cx.xs[1])).transpose()?;
        let second = cx.t(1).map(|_| zeros_of(&cx.outs[0])).transpose()?;
        Jvp::sum([first, second]).map(maybe)
    });
}

/// The next number that the dtype has, from each element of `input` towards that of `other`.
///
/// Args: `input`, `other` tensors of which one at least has a floating dtype, with broadcastable shapes. Returns: a
/// tensor of the broadcast shape and promoted dtype; NaN where an element is NaN, `other` where both are equal.
/// Derivative: `g` by `input` where the elements differ and 0 elsewhere, 0 by `other`. Raises: RuntimeError if the
/// shapes do not broadcast; NotImplementedError for integers.
///
/// >>> rg.nextafter(rg.tensor([0.0]), rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn nextafter(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Towards, &[input, other])
}

/// `frexp`: reverse `g / 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Parts;

impl Primitive for Parts {
    const NAME: &'static str = "frexp";
    const SAVE: &'static [Save] = &[Save::output(1, "exponent")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let (fraction, exponent) = (x.empty_elementwise(x.dtype())?, x.empty_elementwise(DType::Int32)?);
        // SAFETY: (1) both results have the sizes of the operand; (2, 3) they are fresh.
        match_dtype!(floats, x.dtype(), T => unsafe {
            let p = x.ptr::<T>().cast_const();
            map1(&Fraction, x.sizes(), p, x.strides(), fraction.ptr::<T>(), fraction.strides());
            map1(&Exponent, x.sizes(), p, x.strides(), exponent.ptr::<i32>(), exponent.strides());
        });
        Ok(smallvec![fraction, exponent])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        cx.g().ldexp(&cx.saved(0)?.neg()?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let mut tangents = maybe(cx.t(0).map(|t| t.ldexp(&cx.outs[1].neg()?)).transpose()?);
        tangents.push(None);
        Ok(tangents)
    });
}

/// Each element as a fraction, from 1/2 to 1 in magnitude, times a power of two.
///
/// Args: `input` floating dtype. Returns: `(mantissa, exponent)`: the fractions, and the exponents in int32, with
/// `input == mantissa * 2**exponent`; zeros, infinities and NaN are their own fractions, with exponent 0. Derivative:
/// `g / 2**exponent`. Raises: RuntimeError for other dtypes.
///
/// >>> mantissa, exponent = rg.frexp(rg.tensor([3.0]))
/// >>> mantissa.tolist(), exponent.tolist()
/// ([0.75], [2])
#[op(
    function, method,
    out = OutDtype::Same(&[
        "torch.frexp() expects mantissa to have dtype {Result} but got {Out}",
        "torch.frexp() expects exponent to have int dtype but got {Out}",
    ]),
    fields("mantissa", "exponent")
)]
pub fn frexp(input: &Tensor) -> Result<(Tensor, Tensor)> {
    if !input.dtype().is_floating() {
        let detail = format!("torch.frexp() only supports floating-point dtypes: it is given {}", input.dtype().name());
        return Err(Error::shape("frexp", detail));
    }
    let mut outs = apply(Parts, &[input])?;
    let exponent = outs.swap_remove(1);
    Ok((outs.swap_remove(0), exponent))
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let xs = [noise(1, &[3, 4]).plus(2.1).unwrap(), noise(2, &[4]).plus(9.0).unwrap()];
        gradcheck(&|x| Ok(x[0].frexp()?.0), &xs[..1]);
        gradcheck(&|x| x[0].mul(&x[0])?.nextafter(&xs[1]), &xs[..1]);
        let exponent = xs[1].frexp().unwrap().1;
        assert_eq!(exponent.to_vec::<i32>().unwrap(), [4; 4]);
    }
}
