//! `vdot` and `vander`.

use retrograd_macros::op;

use super::product::MULTIPLIED;
use super::vector::{Dot, check_dot};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::matmul::vdot as vdot_of;
use crate::match_dtype;
use crate::ops::memory::cast;
use crate::ops::pointwise::complex::conj_physical as conj;
use crate::ops::view;
use crate::tensor::{DType, Dtypes, Tensor};

/// `vdot`: the inner product, which conjugates its first operand where that is complex.
#[derive(Clone, Debug)]
struct VDot;

impl Primitive for VDot {
    const NAME: &'static str = "vdot";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "other").when(0)];
    const DTYPES: Dtypes = MULTIPLIED;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, batch| match Dot::BATCH {
        Batch::Rule(rule) => rule(&Dot, &[&conj(xs[0])?, xs[1]], axes, batch),
        _ => unreachable!("dot batches by a rule"),
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0], xs[1]);
        match_dtype!(complex, a.dtype(), T => {
            check_dot(a, b)?;
            let y = Tensor::empty(&[], a.dtype())?;
            let stride = |x: &Tensor| x.strides()[0];
            // SAFETY: S1 and S3: vectors of as many elements, by their strides; `y` is fresh, with one element.
            unsafe { *y.ptr::<T>() = vdot_of(a.numel(), a.ptr::<T>(), stride(a), b.ptr::<T>(), stride(b)) };
            Ok(out(y))
        }, else Dot.forward(xs))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || conj(cx.g())?.mul(cx.saved(1)?))?);
        grads.push(cx.when(1, || cx.g().mul(cx.saved(0)?))?);
        Ok(grads)
    }
}

/// The inner product of two vectors, the first conjugated; as `dot` for real ones.
///
/// Args: `input`, `other` (n,), of one dtype, any dtype but bool. Returns: a 0-dim tensor. Derivative: `conj(g) *
/// other` and `g * input`. Raises: RuntimeError if an operand has not one dim, or sizes or dtypes differ.
///
/// >>> rg.vdot(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).item()
/// 11.0
#[op(function, method, out = OutDtype::Same(&["result dtype {Out} does not match input dtype {Result}"]))]
pub fn vdot(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply1(VDot, &[input, other])
}

/// The powers of each element of a vector, from the highest to 0, as the columns of a matrix.
///
/// Args: `x` a vector; `N` how many powers, by default as many as `x` has elements; `increasing` puts the lowest first.
/// Returns: a tensor of sizes (len(x), N); integers become int64. Derivative: that of the powers. Raises: RuntimeError
/// if `x` is no vector or `N` is negative.
///
/// >>> rg.vander(rg.tensor([1, 2, 3])).tolist()
/// [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
#[op(function, "(N=None, increasing=False)")]
#[allow(non_snake_case)]
pub fn vander(x: &Tensor, N: Option<i64>, increasing: bool) -> Result<Tensor> {
    const OP: &str = "vander";
    if x.ndim() != 1 {
        return Err(Error::shape(OP, format!("x must be a one-dimensional tensor, got shape {:?}", x.sizes())));
    }
    let rows = x.numel();
    let columns = usize::try_from(N.unwrap_or(rows as i64))
        .map_err(|_| Error::shape(OP, format!("N must be non-negative, got {}", N.unwrap_or_default())))?;
    let x = if x.dtype().is_integral() { cast(x, DType::Int64)? } else { x.clone() };
    let ones = Tensor::ones(&[rows, columns.min(1)], x.dtype())?;
    let powers = if columns > 1 {
        let wide = view::expand_to(&view::reshape_to(&x, &[rows, 1])?, &[rows, columns - 1])?;
        view::cat(&[ones, wide.cumprod(1, None)?], 1)?
    } else {
        ones
    };
    if increasing || columns < 2 { Ok(powers) } else { powers.flip(&[1]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].vdot(&xs[1]), &[noise(1, &[5]), noise(2, &[5])]);
        for columns in [None, Some(2), Some(5)] {
            gradcheck(&|xs| vander(&xs[0], columns, false), &[noise(3, &[3])]);
        }
    }

    #[test]
    fn values_and_refusals() {
        let x = Tensor::from_slice(&[2u8, 3], &[2]).unwrap();
        let powers = vander(&x, Some(3), true).unwrap();
        assert_eq!((powers.dtype(), powers.to_vec::<i64>().unwrap()), (DType::Int64, vec![1, 2, 4, 1, 3, 9]));
        assert_eq!(vander(&x, Some(0), false).unwrap().sizes(), [2, 0]);
        assert!(vander(&x, Some(-1), false).is_err() && noise(1, &[2, 2]).vdot(&noise(1, &[2])).is_err());
    }
}
