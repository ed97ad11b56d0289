//! Complex numbers' own ops: conjugates, parts and magnitudes.
//!
//! None is complex-analytic, so their rules are written for complex numbers ([`ComplexRule::Own`]). Conjugates and
//! parts are copies here; those that users are given are views (`view/complex.rs`).

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::Result;
use crate::ops::{Entry, sparse};
use crate::tensor::complex::part;
use crate::tensor::{DType, Dtypes, Scalar, Tensor, copy};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&CONJ_PHYSICAL];

/// Lists a body of complex numbers: `complex_body!(Exp, |z| z.exp())`.
macro_rules! complex_body {
    ($kernel:ty, |$z:ident| $e:expr) => {
        impl<T: crate::kernels::real::Real>
            crate::kernels::pointwise::Map1<num_complex::Complex<T>, num_complex::Complex<T>> for $kernel
        where
            num_complex::Complex<T>: crate::kernels::real::Complex<Real = T>,
        {
            #[inline(always)]
            fn f(&self, $z: num_complex::Complex<T>) -> num_complex::Complex<T> {
                use crate::kernels::real::Complex as _;
                $e
            }
        }
    };
}

/// `conj_physical`: reverse `conj(g)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConjPhysical;
complex_body!(ConjPhysical, |z| z.conj());
impl Unary for ConjPhysical {
    const NAME: &'static str = "conj_physical";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::Own;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = Dtypes::COMPLEX;
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.complex(self)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        conj_physical(g)
    }
}

/// The complex conjugate of each element, in memory of its own: of real numbers `input` itself.
///
/// Args: `input` any dtype. Returns: same shape and dtype. Derivative: `conj(g)`.
///
/// >>> rg.conj_physical(rg.tensor([1+2j])).tolist()
/// [(1-2j)]
#[op(function, method, inplace, out = FOUND)]
pub fn conj_physical(input: &Tensor) -> Result<Tensor> {
    // Of real numbers both forms: nothing has to be written.
    if input.dtype().is_complex() { apply_as(form, Map(ConjPhysical), &[input]) } else { Ok(input.clone()) }
}

/// `real` and `imag`: reverse `g` and `i g`.
#[derive(Clone, Debug)]
struct Part {
    imaginary: bool,
}

impl Primitive for Part {
    const NAME: &'static str = "real";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.imaginary { "ImagBackward0" } else { "RealBackward0" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // A tangent may be real where its primal is complex.
        match (xs[0].dtype().is_complex(), self.imaginary) {
            (true, imaginary) => copy::copy(&part(xs[0], imaginary)?).map(out),
            (false, false) => copy::copy(xs[0]).map(out),
            (false, true) => Tensor::full(xs[0].sizes(), Scalar::Int(0), xs[0].dtype()).map(out),
        }
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::of_values(xs[0], |values| Ok(self.forward(&[values])?.swap_remove(0))).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The engine makes a real gradient complex.
        if self.imaginary { cx.g().times(Scalar::Complex(0.0, 1.0)).map(one) } else { Ok(one(cx.g().clone())) }
    }
}

/// The real parts, in memory of their own: for rules.
pub(crate) fn real_part(z: &Tensor) -> Result<Tensor> {
    if z.dtype().is_complex() { apply1(Part { imaginary: false }, &[z]) } else { Ok(z.clone()) }
}

/// The imaginary parts of complex numbers, in memory of their own: for rules.
pub(crate) fn imag_part(z: &Tensor) -> Result<Tensor> {
    apply1(Part { imaginary: true }, &[z])
}

/// `abs` of complex numbers: reverse `g z / |z|`, 0 at 0.
#[derive(Clone, Debug)]
struct Magnitude;
impl Primitive for Magnitude {
    const NAME: &'static str = "abs";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::COMPLEX.or(Dtypes::COMPLEX32);
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let along = |t: &Tensor| real_part(&conj_physical(&direction(cx.xs[0])?)?.mul(t)?);
        cx.t(0).map(along).transpose().map(maybe)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = xs[0].empty_elementwise(xs[0].dtype().real())?;
        // SAFETY: (1) the result has the sizes of the operand, and the dtype of its parts; (2, 3) it is fresh.
        unsafe { Pass::new(xs[0], &result) }.magnitudes()?;
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        direction(cx.saved(0)?)?.mul(cx.g()).map(one)
    }
}

/// `z / |z|`, 0 at 0.
fn direction(z: &Tensor) -> Result<Tensor> {
    z.sgn()
}

/// The magnitudes of complex numbers.
pub(super) fn magnitude(z: &Tensor) -> Result<Tensor> {
    apply1(Magnitude, &[z])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{complex_noise, gradcheck};

    #[test]
    fn derivatives() {
        let z = [complex_noise(1, &[2, 3])];
        gradcheck(&|z| conj_physical(&z[0]), &z);
        gradcheck(&|z| real_part(&z[0]), &z);
        gradcheck(&|z| imag_part(&z[0]), &z);
        gradcheck(&|z| magnitude(&z[0]), &z);
        gradcheck(&|z| magnitude(&z[0])?.mul(&z[0]), &z);
    }

    #[test]
    fn magnitudes_at_zero() {
        let z = Tensor::from_slice(&[num_complex::Complex::new(0.0f64, 0.0)], &[1]).unwrap();
        assert_eq!(direction(&z).unwrap().item().unwrap(), Scalar::Complex(0.0, 0.0));
    }
}
