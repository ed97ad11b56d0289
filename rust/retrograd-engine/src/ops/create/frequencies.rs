//! The frequencies that the results of Fourier transforms belong to.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::TensorOptions;
use crate::tensor::{DType, FromScalar, Scalar, Tensor};

/// `count` integers from `at` over `n d`, in `dtype`.
fn spaced(op: &'static str, count: i64, at: impl Fn(i64) -> i64, n: i64, d: f64, dtype: DType) -> Result<Tensor> {
    if !dtype.is_floating() && !dtype.is_complex() {
        return Err(Error::dtype(op, format!("{op} requires a floating point or complex dtype, got {}", dtype.name())));
    }
    let count = usize::try_from(count).map_err(|_| {
        Error::shape(op, format!("Trying to create tensor with negative dimension {count}: n must not be negative"))
    })?;
    let step = 1.0 / (n as f64 * d);
    match_dtype!(floats of op, dtype, T => Tensor::build::<T>(&[count], |out| {
        for (i, x) in out.iter_mut().enumerate() {
            let at = at(i as i64) as f64;
            // The factor is a number of the dtype.
            *x = T::from_scalar(Scalar::Float(at * T::from_scalar(Scalar::Float(step)).to_scalar().as_f64()));
        }
    }))
}

/// The frequencies of the `n` results of a Fourier transform: `[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (n d)`.
///
/// Args: `n` how many; `d` the distance of samples; `dtype` a float dtype (the default one). Returns: a vector of `n`
/// elements, in cycles per unit of `d`. Raises: RuntimeError for a negative `n` or another dtype.
///
/// >>> rg.fft.fftfreq(4).tolist()
/// [0.0, 0.25, -0.5, -0.25]
#[op(function, out, module = "fft", "(d=1.0)")]
pub fn fftfreq(n: i64, d: f64, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("fftfreq")?;
    let upper = n - n / 2;
    options.leaf(spaced("fftfreq", n, |i| if i < upper { i } else { i - n }, n, d, dtype)?)
}

/// The frequencies of the `n // 2 + 1` results of a Fourier transform of `n` real numbers: `[0, 1, ..., n // 2] / (n
/// d)`.
///
/// Args: `n` how many numbers; `d` the distance of samples; `dtype` a float dtype (the default one). Returns: a vector,
/// in cycles per unit of `d`. Raises: RuntimeError for a negative `n` or another dtype.
///
/// >>> rg.fft.rfftfreq(4).tolist()
/// [0.0, 0.25, 0.5]
#[op(function, out, module = "fft", "(d=1.0)")]
pub fn rfftfreq(n: i64, d: f64, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("rfftfreq")?;
    options.leaf(spaced("rfftfreq", n.div_euclid(2).saturating_add(1), |i| i, n, d, dtype)?)
}
