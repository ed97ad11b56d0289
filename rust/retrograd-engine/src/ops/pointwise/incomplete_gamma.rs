//! The incomplete gamma functions and the zeta function.

use retrograd_macros::op;

use super::binary::{BinaryFunction, run};
use super::division::no_derivative;
use super::refuse_numbers;
use super::scalar_loop::{run_blocks, run_in_double};
use super::special::polygamma;
use crate::error::Result;
use crate::kernels::special::{self as scalar, Incomplete};
use crate::ops::{Entry, Form};
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&IGAMMA, &IGAMMAC, &ZETA];

/// `x^(a - 1) exp(-x) / Gamma(a)`: the derivative of the lower function by `x` (DLMF 8.8.13).
fn density(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    a.plus(-1i64)?.xlogy(x)?.sub(x)?.sub(&a.lgamma()?)?.exp()
}

/// The derivative by `a` of order 1 or 2 of the lower function.
fn by_a<const ORDER: u8>(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    const FIRST: &BinaryFunction = &BinaryFunction {
        name: "igamma",
        node: "IgammaByInputBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_in_double(xs, out, &|[a, x]| scalar::incomplete_gamma_by_a(Incomplete::Lower, 1, a, x)),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [
            |g, saved| g.mul(&by_a::<2>(saved[0], saved[1])?),
            |g, saved| {
                let (a, x) = (saved[0], saved[1]);
                // The derivative of the density: no infinity times 0 where that is 0.
                let density = density(a, x)?;
                g.mul(&density.xlogy(x)?.sub(&density.mul(&a.digamma()?)?)?)
            },
        ],
    };
    const SECOND: &BinaryFunction = &BinaryFunction {
        name: "igamma",
        node: "IgammaByInputTwiceBackward0",
        kernel: |xs, out| run_in_double(xs, out, &|[a, x]| scalar::incomplete_gamma_by_a(Incomplete::Lower, 2, a, x)),
        vjps: [
            |_, _| no_derivative("igamma: input", "its third derivative is not available"),
            |g, saved| {
                let (a, x) = (saved[0], saved[1]);
                let slope = x.log()?.sub(&a.digamma()?)?;
                g.mul(&density(a, x)?.mul(&slope.square()?.sub(&polygamma(1, a)?)?)?)
            },
        ],
        ..*FIRST
    };
    run::<0>(Form::New, if ORDER == 1 { FIRST } else { SECOND }, a, x)
}

/// How a number `x` of the gamma distribution of shape `a` changes with the shape: `-(dP/da) / p`.
///
/// By `a`: `-(d2P/da2 + s dp/da) / p` for the slope `s`, and by `x`: `-dp/da / p - s (ln p)'`.
pub(crate) fn sample_slope(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "_standard_gamma_grad",
        node: "StandardGammaGradBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_in_double(xs, out, &|[a, b]| scalar::gamma_sample_slope(a, b)),
        of_complex: None,
        integers: false,
        halves: false,
        vjps: [
            |g, saved| {
                let (a, x) = (saved[0], saved[1]);
                let rate = x.log()?.sub(&a.digamma()?)?;
                let second = by_a::<2>(a, x)?.div(&density(a, x)?)?;
                g.mul(&second.add(&sample_slope(a, x)?.mul(&rate)?)?.neg()?)
            },
            |g, saved| {
                let (a, x) = (saved[0], saved[1]);
                let rate = x.log()?.sub(&a.digamma()?)?;
                let bend = a.plus(-1i64)?.div(x)?.plus(-1i64)?;
                g.mul(&rate.add(&sample_slope(a, x)?.mul(&bend)?)?.neg()?)
            },
        ],
    };
    run::<0>(Form::New, FUNCTION, a, x)
}

/// The lower incomplete gamma function, regularised: the integral of `t**(input - 1) * exp(-t)` from 0 to `other`, over
/// `gamma(input)`.
///
/// Args: `input`, `other` tensors of which one at least has a floating dtype, not negative, with broadcastable shapes.
/// Returns: a tensor of the broadcast shape and promoted dtype; NaN for negative arguments. Derivative: by `other`
/// `g * other**(input - 1) * exp(-other) / gamma(input)` (DLMF 8.8.13); by `input` that of the series, the continued
/// fraction or the uniform expansion (DLMF 8.11.4, 8.9.2, 8.12.3) that computes the value, term by term, up to second
/// order. torch has none by `input`. Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for
/// integers, and for third derivatives by `input`.
///
/// >>> rg.igamma(rg.tensor([1.0]), rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn igamma(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "igamma",
        node: "IgammaBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_blocks(xs, out, &scalar::gammainc),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [|g, saved| g.mul(&by_a::<1>(saved[0], saved[1])?), |g, saved| g.mul(&density(saved[0], saved[1])?)],
    };
    run::<0>(form, FUNCTION, input, other)
}

/// The upper incomplete gamma function, regularised: `1 - igamma(input, other)`, accurate where that is nearly 0.
///
/// Args: `input`, `other` tensors of which one at least has a floating dtype, not negative, with broadcastable shapes.
/// Returns: a tensor of the broadcast shape and promoted dtype; NaN for negative arguments. Derivative: minus that of
/// `igamma`. Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for integers, and for third
/// derivatives by `input`.
///
/// >>> rg.igammac(rg.tensor([1.0]), rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn igammac(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "igammac",
        node: "IgammacBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_blocks(xs, out, &scalar::gammaincc),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [
            |g, saved| g.mul(&by_a::<1>(saved[0], saved[1])?)?.neg(),
            |g, saved| g.mul(&density(saved[0], saved[1])?)?.neg(),
        ],
    };
    run::<0>(form, FUNCTION, input, other)
}

/// The Hurwitz zeta function: the sum of `(k + other)**-input` over all `k` from 0 on.
///
/// Args: `input` from 1 on and `other`, tensors of any real dtype but halves with broadcastable shapes, one may be a
/// number; integers are converted to the default float dtype. Returns: a tensor of the broadcast shape and promoted
/// dtype; NaN below 1, infinite at 1 and at the poles `other = 0, -1, ..`, and for other negative numbers NaN unless
/// `input` is whole. Derivative: by `other` `-g * input * zeta(input + 1, other)`; by `input` not implemented, as in
/// torch. Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for the derivative by `input`.
///
/// >>> rg.special.zeta(rg.tensor([1.0]), 2).tolist()
/// [inf]
#[op(function, out, norust, module = "special")]
pub fn zeta(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "zeta",
        node: "SpecialZetaBackward0",
        with_numbers: [Some("SpecialZetaBackward2"), Some("SpecialZetaBackward1")],
        kernel: |xs, out| run_blocks(xs, out, &scalar::zeta),
        of_complex: None,
        integers: true,
        halves: false,
        vjps: [
            |_, _| no_derivative("zeta", "detach the first operand"),
            |g, saved| g.mul(saved[0])?.mul(&zeta(&saved[0].plus(1i64)?, saved[1])?)?.neg(),
        ],
    };
    refuse_numbers("zeta", input, other)?;
    run::<0>(Form::New, FUNCTION, input, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]]] {
            let xs = [noise(1, shapes[0]).plus(1.5).unwrap(), noise(2, shapes[1]).plus(1.5).unwrap()];
            gradcheck(&|x| igamma(&x[0], &x[1]), &xs);
            gradcheck(&|x| igammac(&x[0], &x[1]), &xs);
            gradcheck(&|x| zeta(&xs[0].plus(1.0)?, &x[0]), &xs[1..]);
        }
    }

    #[test]
    fn the_density_of_the_exponential_distribution_at_zero() {
        let (a, x) = (noise(1, &[1]).times(0.0).unwrap().plus(1.0).unwrap(), noise(1, &[1]).times(0.0).unwrap());
        assert_eq!(density(&a, &x).unwrap().to_vec::<f64>().unwrap(), [1.0]);
    }
}
