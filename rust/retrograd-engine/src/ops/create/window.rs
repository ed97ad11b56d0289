//! Windows: numbers that fade a signal in and out.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::kernels::windows::Window;
use crate::ops::TensorOptions;
use crate::tensor::copy;
use crate::tensor::{DType, Tensor};

pub(super) const OF_HANN: [f64; 2] = [0.5, 0.5];
pub(super) const OF_BLACKMAN: [f64; 3] = [0.42, 0.5, 0.08];

/// A window of `n` numbers, which is 1 if there is one number alone. A periodic one is one of a number more, without
/// its last one.
pub(super) fn made(window: Window, n: usize, periodic: bool, dtype: DType, options: TensorOptions) -> Result<Tensor> {
    let steps = (n + usize::from(periodic && n > 1)).saturating_sub(1);
    let window = Tensor::build::<f64>(&[n], |out| match window {
        Window::Exponential { center: Some(_), .. } => window.write(steps, out),
        _ if n == 1 => out.fill(1.0),
        _ => window.write(steps, out),
    })?;
    options.leaf(copy::cast(&window, dtype)?)
}

/// As [`made`], with the checks of the functions that count in `window_length`.
fn checked(op: &'static str, window: Window, length: i64, periodic: bool, options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype(op)?;
    if !dtype.is_floating() {
        return Err(Error::dtype(
            op,
            format!("{op} expects floating point dtypes, got: {}: pass dtype=float32", dtype.name()),
        ));
    }
    let n = usize::try_from(length).map_err(|_| {
        Error::shape(op, format!("{op} requires non-negative window_length, got window_length={length}"))
    })?;
    made(window, n, periodic, dtype, options)
}

macro_rules! windows {
    ($($(#[doc = $doc:literal])* $name:ident($($arg:ident),*) $signature:literal => $window:expr;)*) => { $(
        $(#[doc = $doc])*
        #[op(function, $signature)]
        pub fn $name(
            window_length: i64,
            periodic: bool,
            $($arg: f64,)*
            #[options] options: TensorOptions,
        ) -> Result<Tensor> {
            checked(stringify!($name), $window, window_length, periodic, options)
        }
    )* };
}

windows! {
    /// The Hann window: `0.5 - 0.5 cos(2 pi i / (n - 1))`.
    ///
    /// Args: `window_length` how many numbers; `periodic` for a window that continues itself, which is one of a length
    /// more without its last number; `dtype` a floating one. Returns: a vector. Raises: RuntimeError for a negative
    /// length or another dtype.
    ///
    /// >>> rg.hann_window(2).tolist()
    /// [0.0, 1.0]
    hann_window() "(periodic=True)" => Window::Cosines(&OF_HANN);

    /// The Hamming window: `alpha - beta cos(2 pi i / (n - 1))`.
    ///
    /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`; `alpha`, `beta` numbers. Returns: a vector.
    /// Raises: as `hann_window`.
    ///
    /// >>> rg.hamming_window(4, True, 0.75, 0.25, dtype=rg.float64).tolist()
    /// [0.5, 0.75, 1.0, 0.75]
    hamming_window(alpha, beta) "(periodic=True, alpha=0.54, beta=0.46)" => Window::Cosines(&[alpha, beta]);

    /// The Blackman window: `0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1))`.
    ///
    /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`. Returns: a vector. Raises: as `hann_window`.
    ///
    /// >>> rg.blackman_window(5, False).shape
    /// retrograd.Size([5])
    blackman_window() "(periodic=True)" => Window::Cosines(&OF_BLACKMAN);

    /// The Bartlett window, a triangle: `1 - |2 i / (n - 1) - 1|`.
    ///
    /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`. Returns: a vector. Raises: as `hann_window`.
    ///
    /// >>> rg.bartlett_window(5, periodic=False).tolist()
    /// [0.0, 0.5, 1.0, 0.5, 0.0]
    bartlett_window() "(periodic=True)" => Window::Triangle;

    /// The Kaiser window: `I0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / I0(beta)`, with the modified Bessel function
    /// `I0`.
    ///
    /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`; `beta` how narrow it is. Returns: a vector.
    /// Raises: as `hann_window`.
    ///
    /// >>> rg.kaiser_window(3, periodic=False, beta=0.0).tolist()
    /// [1.0, 1.0, 1.0]
    kaiser_window(beta) "(periodic=True, beta=12.0)" => Window::Kaiser(beta);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let made = |n, periodic| checked("bartlett_window", Window::Triangle, n, periodic, DType::Float64.into());
        assert_eq!(made(4, true).unwrap().to_vec::<f64>().unwrap(), [0.0, 0.5, 1.0, 0.5]);
        assert_eq!(made(1, false).unwrap().to_vec::<f64>().unwrap(), [1.0]);
        assert!(made(0, true).unwrap().numel() == 0 && made(-1, true).is_err());
        assert!(checked("bartlett_window", Window::Triangle, 2, true, DType::Int64.into()).is_err());
    }
}
