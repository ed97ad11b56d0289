//! `signal.windows`: the windows of `window.rs` and more, in the names and with the checks of that module.

use retrograd_macros::op;

use super::window::{self, OF_BLACKMAN, OF_HANN};
use crate::error::{Error, Result};
use crate::kernels::windows::Window;
use crate::ops::TensorOptions;
use crate::tensor::{DType, Layout, Tensor};

/// A window of `length` numbers: for filters one that ends as it begins (`sym`), else one that continues itself.
fn made(op: &'static str, window: Window, length: i64, sym: bool, options: TensorOptions) -> Result<Tensor> {
    let n = usize::try_from(length)
        .map_err(|_| Error::value(op, format!("{op} requires non-negative window length, got M={length}")))?;
    if options.layout != Layout::Strided {
        let name = options.layout.name();
        return Err(Error::value(op, format!("{op} is implemented for strided tensors only, got: torch.{name}")));
    }
    let dtype = options.float_dtype(op)?;
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        let name = dtype.name();
        return Err(Error::value(op, format!("{op} expects float32 or float64 dtypes, got: torch.{name}")));
    }
    window::made(window, n, !sym, dtype, options)
}

macro_rules! windows {
    ($($(#[doc = $doc:literal])* $name:ident($($arg:ident: $of:ty),*) $signature:literal => $op:literal, $window:expr;)*) => { $(
        $(#[doc = $doc])*
        #[op(function, module = "signal.windows", $signature)]
        #[allow(non_snake_case)]
        pub fn $name(M: i64, $($arg: $of,)* sym: bool, #[options] options: TensorOptions) -> Result<Tensor> {
            made($op, $window, M, sym, options)
        }
    )* };
}

windows! {
    /// The Bartlett window, a triangle: `1 - |2 i / N - 1|`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.bartlett(5).tolist()
    /// [0.0, 0.5, 1.0, 0.5, 0.0]
    bartlett() "(*, sym=True)" => "bartlett", Window::Triangle;

    /// The Blackman window: `0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N)`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.blackman(5).shape
    /// retrograd.Size([5])
    blackman() "(*, sym=True)" => "blackman", Window::Cosines(&OF_BLACKMAN);

    /// Half a turn of the sine: `sin(pi (i + 0.5) / (N + 1))`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.cosine(1).tolist()
    /// [1.0]
    cosine() "(*, sym=True)" => "cosine", Window::Sine;

    /// The Hamming window: `0.54 - 0.46 cos(2 pi i / N)`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.hamming(3).shape
    /// retrograd.Size([3])
    hamming() "(*, sym=True)" => "general_cosine", Window::Cosines(&[0.54, 1.0 - 0.54]);

    /// The Hann window: `0.5 - 0.5 cos(2 pi i / N)`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.hann(5).tolist()
    /// [0.0, 0.5, 1.0, 0.5, 0.0]
    hann() "(*, sym=True)" => "general_cosine", Window::Cosines(&OF_HANN);

    /// The Nuttall window, with minimal sidelobes: four cosines, as `general_cosine` with `a = [0.3635819, 0.4891775,
    /// 0.1365995, 0.0106411]`.
    ///
    /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
    /// continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative
    /// `M` or another dtype.
    ///
    /// >>> rg.signal.windows.nuttall(3).shape
    /// retrograd.Size([3])
    nuttall() "(*, sym=True)" => "general_cosine", Window::Cosines(&[0.3635819, 0.4891775, 0.1365995, 0.0106411]);
}

/// The exponential window, also called Poisson's: `exp(-|i - center| / tau)`.
///
/// Args: `M` how many numbers; `center` where it is 1, only without `sym` (`N / 2`); `tau` how fast it decays;
/// `sym` for a window that ends as it begins, with `N = M - 1`, or else one that continues itself, with `N = M`;
/// `dtype` float32 or float64. Returns: a vector. Raises: ValueError for a negative `M` or another dtype, `tau`
/// that is not positive, or a `center` with `sym`.
///
/// >>> rg.signal.windows.exponential(3).shape
/// retrograd.Size([3])
#[op(function, module = "signal.windows", "(*, center=None, tau=1.0, sym=True)")]
#[allow(non_snake_case)]
pub fn exponential(
    M: i64,
    center: Option<f64>,
    tau: f64,
    sym: bool,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    let op = "exponential";
    if tau <= 0.0 {
        return Err(Error::value(op, format!("Tau must be positive, got: {tau} instead.")));
    }
    if sym && center.is_some() {
        return Err(Error::value(op, "Center must be None for symmetric windows"));
    }
    made(op, Window::Exponential { center, tau }, M, sym, options)
}

/// The Gaussian window: `exp(-((i - N / 2) / std)^2 / 2)`.
///
/// Args: `M` how many numbers; `std` how wide it is; `sym` for a window that ends as it begins, with `N = M - 1`,
/// or else one that continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises:
/// ValueError for a negative `M` or another dtype, or `std` that is not positive.
///
/// >>> rg.signal.windows.gaussian(1).tolist()
/// [1.0]
#[op(function, module = "signal.windows", "(*, std=1.0, sym=True)")]
#[allow(non_snake_case)]
pub fn gaussian(M: i64, std: f64, sym: bool, #[options] options: TensorOptions) -> Result<Tensor> {
    let op = "gaussian";
    if std <= 0.0 {
        return Err(Error::value(op, format!("Standard deviation must be positive, got: {std} instead.")));
    }
    made(op, Window::Gaussian(std), M, sym, options)
}

/// The Kaiser window: `I0(beta sqrt(1 - (2 i / N - 1)^2)) / I0(beta)`, with the modified Bessel function `I0`.
///
/// Args: `M` how many numbers; `beta` how narrow it is; `sym` for a window that ends as it begins, with `N = M -
/// 1`, or else one that continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises:
/// ValueError for a negative `M` or another dtype, or a negative `beta`.
///
/// >>> rg.signal.windows.kaiser(3, beta=0.0).tolist()
/// [1.0, 1.0, 1.0]
#[op(function, module = "signal.windows", "(*, beta=12.0, sym=True)")]
#[allow(non_snake_case)]
pub fn kaiser(M: i64, beta: f64, sym: bool, #[options] options: TensorOptions) -> Result<Tensor> {
    let op = "kaiser";
    if beta < 0.0 {
        return Err(Error::value(op, format!("beta must be non-negative, got: {beta} instead.")));
    }
    made(op, Window::Kaiser(beta), M, sym, options)
}

/// The general Hamming window: `alpha - (1 - alpha) cos(2 pi i / N)`.
///
/// Args: `M` how many numbers; `alpha` a number; `sym` for a window that ends as it begins, with `N = M - 1`, or
/// else one that continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError
/// for a negative `M` or another dtype.
///
/// >>> rg.signal.windows.general_hamming(3, alpha=0.75).tolist()
/// [0.5, 1.0, 0.5]
#[op(function, module = "signal.windows", "(*, alpha=0.54, sym=True)")]
#[allow(non_snake_case)]
pub fn general_hamming(M: i64, alpha: f64, sym: bool, #[options] options: TensorOptions) -> Result<Tensor> {
    made("general_cosine", Window::Cosines(&[alpha, 1.0 - alpha]), M, sym, options)
}

/// A sum of cosines: `a[0] - a[1] cos(2 pi i / N) + a[2] cos(4 pi i / N) - ...`.
///
/// Args: `M` how many numbers; `a` the factors; `sym` for a window that ends as it begins, with `N = M - 1`, or
/// else one that continues itself, with `N = M`; `dtype` float32 or float64. Returns: a vector. Raises: ValueError
/// for a negative `M` or another dtype, or without factors.
///
/// >>> rg.signal.windows.general_cosine(3, a=[0.75, 0.25]).tolist()
/// [0.5, 1.0, 0.5]
#[op(function, module = "signal.windows", "(*, a, sym=True)")]
#[allow(non_snake_case)]
pub fn general_cosine(M: i64, a: &[f64], sym: bool, #[options] options: TensorOptions) -> Result<Tensor> {
    let op = "general_cosine";
    if M > 1 && a.is_empty() {
        return Err(Error::value(op, "Coefficients cannot be empty"));
    }
    made(op, Window::Cosines(a), M, sym, options)
}
