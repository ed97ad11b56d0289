//! Windows: numbers that fade a signal in and out.

use std::f64::consts::{PI, TAU};

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::kernels::special::{at, bessel_i0};
use crate::ops::TensorOptions;
use crate::tensor::copy;
use crate::tensor::{DType, Tensor};

pub(super) const OF_HANN: [f64; 2] = [0.5, 0.5];
pub(super) const OF_BLACKMAN: [f64; 3] = [0.42, 0.5, 0.08];

/// The shape of a window.
#[derive(Clone, Copy, Debug)]
pub(super) enum Window<'a> {
    /// `a[0] - a[1] cos(turn) + a[2] cos(2 turn) - ...`.
    Cosines(&'a [f64]),
    Triangle,
    Kaiser(f64),
    /// Half a turn of the sine, at the middles of places.
    Sine,
    /// By a distance from the centre that is given, or from the middle.
    Exponential {
        center: Option<f64>,
        tau: f64,
    },
    Gaussian(f64),
}

impl Window<'_> {
    /// The number at place `i` of `steps` steps.
    fn at(self, i: f64, steps: f64) -> f64 {
        let place = i / steps;
        match self {
            Window::Cosines(factors) => {
                let term = |(k, &a): (usize, &f64)| {
                    let cosine = (TAU * k as f64 * place).cos();
                    if k % 2 == 0 { a * cosine } else { -a * cosine }
                };
                factors.iter().enumerate().map(term).sum()
            }
            Window::Triangle => 1.0 - (2.0 * place - 1.0).abs(),
            Window::Kaiser(beta) => {
                let x = 2.0 * place - 1.0;
                at(bessel_i0, [beta * (1.0 - x * x).sqrt()]) / at(bessel_i0, [beta])
            }
            Window::Sine => (PI * (i + 0.5) / (steps + 1.0)).sin(),
            Window::Exponential { center, tau } => (-((i - center.unwrap_or(steps / 2.0)) / tau).abs()).exp(),
            Window::Gaussian(std) => {
                let x = (i - steps / 2.0) / std;
                (-0.5 * x * x).exp()
            }
        }
    }

    /// A window of `n` numbers, which is 1 if there is one number alone. A periodic one is one of a number more,
    /// without its last one.
    pub(super) fn made(self, n: usize, periodic: bool, dtype: DType, options: TensorOptions) -> Result<Tensor> {
        let steps = (n + usize::from(periodic && n > 1)).saturating_sub(1) as f64;
        let window = Tensor::build::<f64>(&[n], |out| {
            for (i, w) in out.iter_mut().enumerate() {
                *w = match self {
                    Window::Exponential { center: Some(_), .. } => self.at(i as f64, steps),
                    _ if n == 1 => 1.0,
                    _ => self.at(i as f64, steps),
                };
            }
        })?;
        options.leaf(copy::cast(&window, dtype)?)
    }

    /// As [`Self::made`], with the checks of the functions that count in `window_length`.
    fn checked(self, op: &'static str, length: i64, periodic: bool, options: TensorOptions) -> Result<Tensor> {
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
        self.made(n, periodic, dtype, options)
    }
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
            $window.checked(stringify!($name), window_length, periodic, options)
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
        let made = |n, periodic| Window::Triangle.checked("bartlett_window", n, periodic, DType::Float64.into());
        assert_eq!(made(4, true).unwrap().to_vec::<f64>().unwrap(), [0.0, 0.5, 1.0, 0.5]);
        assert_eq!(made(1, false).unwrap().to_vec::<f64>().unwrap(), [1.0]);
        assert!(made(0, true).unwrap().numel() == 0 && made(-1, true).is_err());
        assert!(Window::Triangle.checked("bartlett_window", 2, true, DType::Int64.into()).is_err());
    }
}
