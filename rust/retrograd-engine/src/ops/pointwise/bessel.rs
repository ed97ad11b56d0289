//! Bessel functions of orders 0 and 1, and the Airy function. In torch only `i0`, `i0e`, `i1` and `i1e` have
//! derivatives; here all but the Airy function have them (DLMF 10.6.3, 10.29.3).

use retrograd_macros::op;

use super::scalar_loop::{UnaryFunction, of_self};
use super::select::{number, where_};
use crate::autograd::apply::{apply_as, apply1};
use crate::error::Result;
use crate::kernels::special as scalar;
use crate::ops::Entry;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &I0,
    &I1,
    &I0E,
    &I1E,
    &BESSEL_J0,
    &BESSEL_J1,
    &BESSEL_Y0,
    &BESSEL_Y1,
    &MODIFIED_BESSEL_I0,
    &MODIFIED_BESSEL_I1,
    &MODIFIED_BESSEL_K0,
    &MODIFIED_BESSEL_K1,
    &SCALED_MODIFIED_BESSEL_K0,
    &SCALED_MODIFIED_BESSEL_K1,
    &SPHERICAL_BESSEL_J0,
    &AIRY_AI,
];

/// A derivative that divides by `x`, and its value at 0, where that would be 0 / 0.
fn off_zero(x: &Tensor, at_zero: f64, derivative: fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let is_zero = x.eq(&number(0.0)?)?;
    // Another number in place of 0, so that the branch not taken has derivatives.
    let x = x.masked_fill(&is_zero, &number(1.0)?)?;
    where_(&is_zero, &number(at_zero)?, &derivative(&x)?)
}

const I0_FUNCTION: &UnaryFunction = &UnaryFunction {
    name: "i0",
    node: "I0Backward0",
    kernel: |pass| pass.blocks(&scalar::bessel_i0),
    halves: true,
    of_complex: None,
    vjp: |g, x| g.mul(&i1(x)?),
};
const I1_FUNCTION: &UnaryFunction = &UnaryFunction {
    name: "i1",
    node: "SpecialI1Backward0",
    kernel: |pass| pass.blocks(&scalar::bessel_i1),
    halves: true,
    of_complex: None,
    vjp: i1_vjp,
};

/// The modified Bessel function of the first kind of order 0, of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * special.i1(input)`.
///
/// >>> rg.i0(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn i0(input: &Tensor) -> Result<Tensor> {
    apply_as(form, of_self(I0_FUNCTION), &[input])
}

/// `g (i0(x) - i1(x) / x)`, `g / 2` at 0.
fn i1_vjp(g: &Tensor, x: &Tensor) -> Result<Tensor> {
    g.mul(&off_zero(x, 0.5, |x| x.i0()?.sub(&i1(x)?.div(x)?))?)
}

/// The modified Bessel function of the first kind of order 1, of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (i0(input) - i1(input) / input)`, `g / 2` at 0.
///
/// >>> rg.special.i1(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, out, norust, module = "special", name = "i1")]
pub fn i1(input: &Tensor) -> Result<Tensor> {
    apply1(of_self(I1_FUNCTION), &[input])
}

/// The modified Bessel function of the first kind of order 0 times `exp(-abs(input))`, of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (i1e(input) - sgn(input) * i0e(input))`.
///
/// >>> rg.special.i0e(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, out, norust, module = "special", name = "i0e")]
pub fn i0e(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "i0e",
        node: "SpecialI0EBackward0",
        kernel: |pass| pass.blocks(&scalar::scaled_bessel_i0),
        halves: true,
        of_complex: None,
        vjp: |g, x| g.mul(&i1e(x)?.sub(&x.sgn()?.mul(&i0e(x)?)?)?),
    };
    apply1(of_self(FUNCTION), &[input])
}

/// The modified Bessel function of the first kind of order 1 times `exp(-abs(input))`, of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (i0e(input) - i1e(input) * (sgn(input) + 1 / input))`, `g / 2` at 0.
///
/// >>> rg.special.i1e(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, out, norust, module = "special", name = "i1e")]
pub fn i1e(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "i1e",
        node: "SpecialI1EBackward0",
        kernel: |pass| pass.blocks(&scalar::scaled_bessel_i1),
        halves: true,
        of_complex: None,
        vjp: |g, x| {
            let derivative = |x: &Tensor| i0e(x)?.sub(&i1e(x)?.mul(&x.sgn()?.add(&x.reciprocal()?)?)?);
            g.mul(&off_zero(x, 0.5, derivative)?)
        },
    };
    apply1(of_self(FUNCTION), &[input])
}

/// Lists functions that torch has without derivatives, in float32 and float64: name, function and, of `g` and `x`,
/// the derivative.
macro_rules! functions {
    ($($(#[doc = $doc:literal])* $name:ident, $node:literal, $f:expr, $vjp:expr;)*) => { $(
        $(#[doc = $doc])*
        #[op(function, out, norust, module = "special")]
        pub fn $name(input: &Tensor) -> Result<Tensor> {
            const FUNCTION: &UnaryFunction = &UnaryFunction {
                name: stringify!($name),
                node: $node,
                kernel: |pass| pass.blocks(&$f),
                halves: false,
                of_complex: None,
                vjp: $vjp,
            };
            apply1(of_self(FUNCTION), &[input])
        }
    )* };
}
functions! {
    /// The Bessel function of the first kind of order 0, of each element.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `-g * bessel_j1(input)`, which torch has not.
    ///
    /// >>> rg.special.bessel_j0(rg.tensor([0.0])).tolist()
    /// [1.0]
    bessel_j0, "SpecialBesselJ0Backward0", scalar::bessel_j0, |g, x| g.mul(&bessel_j1(x)?)?.neg();

    /// The Bessel function of the first kind of order 1, of each element.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g * (bessel_j0(input) - bessel_j1(input) / input)`, `g / 2` at 0, which torch has not.
    ///
    /// >>> rg.special.bessel_j1(rg.tensor([0.0])).tolist()
    /// [0.0]
    bessel_j1, "SpecialBesselJ1Backward0", scalar::bessel_j1,
        |g, x| g.mul(&off_zero(x, 0.5, |x| bessel_j0(x)?.sub(&bessel_j1(x)?.div(x)?))?);

    /// The Bessel function of the second kind of order 0, of each element; minus infinity at 0, NaN below.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `-g * bessel_y1(input)`, which torch has not.
    ///
    /// >>> rg.special.bessel_y0(rg.tensor([0.0])).tolist()
    /// [-inf]
    bessel_y0, "SpecialBesselY0Backward0", scalar::bessel_y0, |g, x| g.mul(&bessel_y1(x)?)?.neg();

    /// The Bessel function of the second kind of order 1, of each element; minus infinity at 0, NaN below.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g * (bessel_y0(input) - bessel_y1(input) / input)`, which torch has not.
    ///
    /// >>> rg.special.bessel_y1(rg.tensor([0.0])).tolist()
    /// [-inf]
    bessel_y1, "SpecialBesselY1Backward0", scalar::bessel_y1, |g, x| g.mul(&bessel_y0(x)?.sub(&bessel_y1(x)?.div(x)?)?);

    /// The modified Bessel function of the first kind of order 0, of each element; `i0` for float32 and float64 alone.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g * modified_bessel_i1(input)`, which torch has not.
    ///
    /// >>> rg.special.modified_bessel_i0(rg.tensor([0.0])).tolist()
    /// [1.0]
    modified_bessel_i0, "SpecialModifiedBesselI0Backward0", scalar::bessel_i0, I0_FUNCTION.vjp;

    /// The modified Bessel function of the first kind of order 1, of each element; `i1` for float32 and float64 alone.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g * (modified_bessel_i0(input) - modified_bessel_i1(input) / input)`, `g / 2` at 0, which torch has
    /// not.
    ///
    /// >>> rg.special.modified_bessel_i1(rg.tensor([0.0])).tolist()
    /// [0.0]
    modified_bessel_i1, "SpecialModifiedBesselI1Backward0", scalar::bessel_i1, I1_FUNCTION.vjp;

    /// The modified Bessel function of the second kind of order 0, of each element; infinity at 0, NaN below.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `-g * modified_bessel_k1(input)`, which torch has not.
    ///
    /// >>> rg.special.modified_bessel_k0(rg.tensor([0.0])).tolist()
    /// [inf]
    modified_bessel_k0, "SpecialModifiedBesselK0Backward0", scalar::bessel_k0,
        |g, x| g.mul(&modified_bessel_k1(x)?)?.neg();

    /// The modified Bessel function of the second kind of order 1, of each element; infinity at 0, NaN below.
    ///
    /// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `-g * (modified_bessel_k0(input) + modified_bessel_k1(input) / input)`, which torch has not.
    ///
    /// >>> rg.special.modified_bessel_k1(rg.tensor([0.0])).tolist()
    /// [inf]
    modified_bessel_k1, "SpecialModifiedBesselK1Backward0", scalar::bessel_k1,
        |g, x| g.mul(&modified_bessel_k0(x)?.add(&modified_bessel_k1(x)?.div(x)?)?)?.neg();

    /// `exp(x)` times the modified Bessel function of the second kind of order 0, of each element; infinity at 0, NaN
    /// below.
    ///
    /// Args: `x` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g` times the result less `scaled_modified_bessel_k1(x)`, which torch has not.
    ///
    /// >>> rg.special.scaled_modified_bessel_k0(rg.tensor([0.0])).tolist()
    /// [inf]
    scaled_modified_bessel_k0, "SpecialScaledModifiedBesselK0Backward0", scalar::scaled_bessel_k0,
        |g, x| g.mul(&scaled_modified_bessel_k0(x)?.sub(&scaled_modified_bessel_k1(x)?)?);

    /// `exp(x)` times the modified Bessel function of the second kind of order 1, of each element; infinity at 0, NaN
    /// below.
    ///
    /// Args: `x` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g` times `result * (1 - 1 / x)` less `scaled_modified_bessel_k0(x)`, which torch has not.
    ///
    /// >>> rg.special.scaled_modified_bessel_k1(rg.tensor([0.0])).tolist()
    /// [inf]
    scaled_modified_bessel_k1, "SpecialScaledModifiedBesselK1Backward0", scalar::scaled_bessel_k1,
        |g, x| {
            let result = scaled_modified_bessel_k1(x)?;
            g.mul(&result.sub(&result.div(x)?)?.sub(&scaled_modified_bessel_k0(x)?)?)
        };

    /// The spherical Bessel function of the first kind of order 0, `sin(x) / x`, of each element; 1 at 0.
    ///
    /// Args: `x` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
    /// Derivative: `g * (cos(x) - result) / x`, 0 at 0, which torch has not.
    ///
    /// >>> rg.special.spherical_bessel_j0(rg.tensor([0.0])).tolist()
    /// [1.0]
    spherical_bessel_j0, "SpecialSphericalBesselJ0Backward0", scalar::spherical_bessel_j0,
        |g, x| g.mul(&off_zero(x, 0.0, |x| x.cos()?.sub(&spherical_bessel_j0(x)?)?.div(x))?);
}

/// The Airy function of the first kind, of each element.
///
/// Args: `x` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: none, as in torch.
///
/// >>> rg.special.airy_ai(rg.tensor([float('inf')])).tolist()
/// [0.0]
#[op(function, out, norust, module = "special")]
pub fn airy_ai(x: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "airy_ai",
        node: "NotImplemented",
        kernel: |pass| pass.blocks(&scalar::airy_ai),
        halves: false,
        of_complex: None,
        vjp: |g, _| Ok(g.clone()),
    };
    apply1(of_self(FUNCTION), &[&x.detach()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes).times(0.9).unwrap()];
            for f in [i0, i1, i0e, i1e, bessel_j0, bessel_j1, spherical_bessel_j0] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            let above = [x[0].plus(1.5).unwrap()];
            for f in [
                bessel_y0,
                bessel_y1,
                modified_bessel_k0,
                modified_bessel_k1,
                scaled_modified_bessel_k0,
                scaled_modified_bessel_k1,
            ] {
                gradcheck(&|x| f(&x[0]), &above);
            }
        }
    }

    #[test]
    fn the_derivative_of_i1_at_zero() {
        let x = Tensor::from_slice(&[-0.1, 0.0, 0.5, 1.0], &[4]).unwrap();
        assert_eq!(i1_vjp(&x, &x.times(0i64).unwrap()).unwrap().to_vec::<f64>().unwrap(), [-0.05, 0.0, 0.25, 0.5]);
    }
}
