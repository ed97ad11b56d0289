//! Complex numbers made of two real ones: their parts, or magnitude and angle.

use num_complex::Complex;
use retrograd_macros::op;
use smallvec::smallvec;

use super::complex::{conj_physical, imag_part, real_part};
use super::promote::binary_shape;
use super::scalar_loop::{run_lanes, run_pairs};
use super::unary::elementary;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::math;
use crate::kernels::pointwise::Map2;
use crate::match_dtype;
use crate::ops::Entry;
use crate::tensor::complex::part;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&COMPLEX, &POLAR];

/// A tensor of the complex dtype and the broadcast sizes of two real ones.
fn beside(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    Tensor::empty(&binary_shape(op, a, b)?, a.dtype().complex())
}

/// Refuses operands that are not of one floating dtype.
fn check(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    let (first, second) = (a.dtype(), b.dtype());
    let taken = |dtype| matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64);
    let detail = if !taken(first) || !taken(second) {
        format!(
            "Expected both inputs to be Half, Float or Double tensors but got {} and {}",
            first.scalar_type_name(),
            second.scalar_type_name()
        )
    } else if first != second {
        format!(
            "Expected object of scalar type {} but got scalar type {} for second argument",
            first.scalar_type_name(),
            second.scalar_type_name()
        )
    } else {
        return Ok(());
    };
    Err(Error::dtype(op, detail))
}

/// `complex`: reverse the parts of `g`.
#[derive(Clone, Copy, Debug)]
struct OfParts;

impl<T: Copy> Map2<T, T, Complex<T>> for OfParts {
    #[inline(always)]
    fn f(&self, re: T, im: T) -> Complex<T> {
        Complex::new(re, im)
    }
}

impl Primitive for OfParts {
    const NAME: &'static str = "complex";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const JVP: Tangents<Self> = Tangents::Linear(0b11);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = beside(Self::NAME, xs[0], xs[1])?;
        match_dtype!(floats, xs[0].dtype(), T => run_pairs::<T, Complex<T>>([xs[0], xs[1]], &result, self));
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(smallvec![cx.when(0, || real_part(cx.g()))?, cx.when(1, || imag_part(cx.g()))?])
    }
}

/// The complex numbers with the parts `real` and `imag`.
///
/// Args: `real`, `imag` tensors of one floating dtype, float32 or float64, with broadcastable shapes. Returns: a
/// complex tensor of the broadcast shape. Derivative: the parts of `g`. Raises: RuntimeError if the shapes do not
/// broadcast or the dtypes differ.
///
/// >>> rg.complex(rg.tensor([1.0]), rg.tensor([2.0])).tolist()
/// [(1+2j)]
#[op(
    function, norust, name = "complex",
    out = OutDtype::Same(&["Expected object of scalar type {Result} but got scalar type {Out} for argument 'out'"])
)]
pub fn complex(real: &Tensor, imag: &Tensor) -> Result<Tensor> {
    check("complex", real, imag)?;
    apply1(OfParts, &[real, imag])
}

/// `polar`: reverse `Re(conj(g) y / |y|)` and `Re(conj(g) i y)` with `y` the result.
#[derive(Clone, Debug)]
struct Polar;

struct TimesCos;
elementary!(TimesCos, |size, angle| size * math::cos(angle));
struct TimesSin;
elementary!(TimesSin, |size, angle| size * math::sin(angle));

fn times_i(z: &Tensor) -> Result<Tensor> {
    z.times(Scalar::Complex(0.0, 1.0))
}

impl Primitive for Polar {
    const NAME: &'static str = "polar";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let direction = || {
            let (cos, sin) = (cx.xs[1].cos()?, cx.xs[1].sin()?);
            complex(&cos, &sin)
        };
        let by_size = cx.t(0).map(|t| direction()?.mul(t)).transpose()?;
        let by_angle = cx.t(1).map(|t| times_i(&cx.outs[0])?.mul(t)).transpose()?;
        Jvp::sum([by_size, by_angle]).map(maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "polar_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = beside(Self::NAME, xs[0], xs[1])?;
        run_lanes([xs[0], xs[1]], &part(&result, false)?, &TimesCos);
        run_lanes([xs[0], xs[1]], &part(&result, true)?, &TimesSin);
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, y) = (conj_physical(cx.g())?, cx.saved(0)?);
        let to_size = cx.when(0, || real_part(&g.mul(&y.sgn()?)?))?;
        Ok(smallvec![to_size, cx.when(1, || real_part(&g.mul(&times_i(y)?)?))?])
    }
}

/// The complex numbers of magnitude `abs` at the angle `angle`, in radians.
///
/// Args: `abs`, `angle` tensors of one floating dtype, float32 or float64, with broadcastable shapes; a negative `abs`
/// points the other way. Returns: a complex tensor of the broadcast shape. Derivative: what of `g` points along the
/// result, 0 at 0, and what of it points across, times `abs`. Raises: RuntimeError if the shapes do not broadcast or
/// the dtypes differ.
///
/// >>> rg.polar(rg.tensor([2.0]), rg.tensor([0.0])).tolist()
/// [(2+0j)]
#[op(
    function, norust,
    out = OutDtype::Same(&["Expected object of scalar type {Result} but got scalar type {Out} for argument 'out'"])
)]
pub fn polar(abs: &Tensor, angle: &Tensor) -> Result<Tensor> {
    check("polar", abs, angle)?;
    apply1(Polar, &[abs, angle])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::copy;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [noise(1, shapes[0]), noise(2, shapes[1])];
            gradcheck(&|x| complex(&x[0], &x[1]), &xs);
            gradcheck(&|x| polar(&x[0].plus(2.0)?, &x[1]), &xs);
        }
    }

    #[test]
    fn parts_have_one_floating_dtype() {
        let (x, i) = (noise(1, &[2]), Tensor::from_slice(&[1i64, 2], &[2]).unwrap());
        assert!(complex(&x, &i).unwrap_err().to_string().contains("but got Double and Long"));
        let single = copy::cast(&x, DType::Float32).unwrap();
        assert!(polar(&single, &x).unwrap_err().to_string().contains("scalar type Float but got scalar type Double"));
    }
}
