//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Floats, as_count, factory};

op! {
    {
        /// The Bartlett window, a triangle: `1 - |2 i / N - 1|`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::bartlett(5).to_vec::<f64>()?, [0.0, 0.5, 1.0, 0.5, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bartlett try_bartlett bartlett_with try_bartlett_with] ([] m: usize)
    -> Tensor = engine::create::signal::bartlett, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Blackman window: `0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N)`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::blackman(5).shape(), [5]);
        /// ```
    }
    fn [blackman try_blackman blackman_with try_blackman_with] ([] m: usize)
    -> Tensor = engine::create::signal::blackman, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// Half a turn of the sine: `sin(pi (i + 0.5) / (N + 1))`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::cosine(1).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cosine try_cosine cosine_with try_cosine_with] ([] m: usize)
    -> Tensor = engine::create::signal::cosine, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The exponential window, also called Poisson's: `exp(-|i - center| / tau)`.
        ///
        /// Args: `M` how many numbers; `center` where it is 1, only without `sym` (`N / 2`); `tau` how fast it decays;
        /// `sym` for a window that ends as it begins, with `N = M - 1`, or else one that continues itself, with `N =
        /// M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype, `tau` that is not positive, or a `center` with `sym`.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::exponential(3).shape(), [3]);
        /// ```
    }
    fn [exponential try_exponential exponential_with try_exponential_with] ([] m: usize)
    -> Tensor = engine::create::signal::exponential, (as_count(m), None, 1.0, true, factory(None, false))
    {[] o: ExponentialOptions => Tensor = (as_count(m), o.center, o.tau, o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Gaussian window: `exp(-((i - N / 2) / std)^2 / 2)`.
        ///
        /// Args: `M` how many numbers; `std` how wide it is; `sym` for a window that ends as it begins, with `N = M -
        /// 1`, or else one that continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype, or `std` that is not positive.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::gaussian(1).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [gaussian try_gaussian gaussian_with try_gaussian_with] ([] m: usize)
    -> Tensor = engine::create::signal::gaussian, (as_count(m), 1.0, true, factory(None, false))
    {[] o: GaussianOptions => Tensor = (as_count(m), o.std, o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A sum of cosines: `a[0] - a[1] cos(2 pi i / N) + a[2] cos(4 pi i / N) - ...`.
        ///
        /// Args: `M` how many numbers; `a` the factors; `sym` for a window that ends as it begins, with `N = M - 1`, or
        /// else one that continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype, or without factors.
    }
    fn [general_cosine try_general_cosine general_cosine_with try_general_cosine_with] ([] m: usize,
        a: impl Into<Floats>)
    -> Tensor = engine::create::signal::general_cosine, (as_count(m), a.into().as_slice(), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), a.into().as_slice(), o.sym, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The general Hamming window: `alpha - (1 - alpha) cos(2 pi i / N)`.
        ///
        /// Args: `M` how many numbers; `alpha` a number; `sym` for a window that ends as it begins, with `N = M - 1`,
        /// or else one that continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::general_hamming_with(3, |o| o.alpha(0.75)).to_vec::<f64>()?, [0.5, 1.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [general_hamming try_general_hamming general_hamming_with try_general_hamming_with] ([] m: usize)
    -> Tensor = engine::create::signal::general_hamming, (as_count(m), 0.54, true, factory(None, false))
    {[] o: GeneralHammingOptions => Tensor = (as_count(m), o.alpha, o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Hamming window: `0.54 - 0.46 cos(2 pi i / N)`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::hamming(3).shape(), [3]);
        /// ```
    }
    fn [hamming try_hamming hamming_with try_hamming_with] ([] m: usize)
    -> Tensor = engine::create::signal::hamming, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Hann window: `0.5 - 0.5 cos(2 pi i / N)`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::hann(5).to_vec::<f64>()?, [0.0, 0.5, 1.0, 0.5, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hann try_hann hann_with try_hann_with] ([] m: usize)
    -> Tensor = engine::create::signal::hann, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Kaiser window: `I0(beta sqrt(1 - (2 i / N - 1)^2)) / I0(beta)`, with the modified Bessel function `I0`.
        ///
        /// Args: `M` how many numbers; `beta` how narrow it is; `sym` for a window that ends as it begins, with `N = M
        /// - 1`, or else one that continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype, or a negative `beta`.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::kaiser_with(3, |o| o.beta(0.0)).to_vec::<f64>()?, [1.0, 1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [kaiser try_kaiser kaiser_with try_kaiser_with] ([] m: usize)
    -> Tensor = engine::create::signal::kaiser, (as_count(m), 12.0, true, factory(None, false))
    {[] o: KaiserOptions => Tensor = (as_count(m), o.beta, o.sym, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The Nuttall window, with minimal sidelobes: four cosines, as `general_cosine` with `a = [0.3635819,
        /// 0.4891775, 0.1365995, 0.0106411]`.
        ///
        /// Args: `M` how many numbers; `sym` for a window that ends as it begins, with `N = M - 1`, or else one that
        /// continues itself, with `N = M`; `dtype` float32 or float64.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative `M` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::signal::nuttall(3).shape(), [3]);
        /// ```
    }
    fn [nuttall try_nuttall nuttall_with try_nuttall_with] ([] m: usize)
    -> Tensor = engine::create::signal::nuttall, (as_count(m), true, factory(None, false))
    {[] o: SymDtypeRequiresGradOptions => Tensor = (as_count(m), o.sym, factory(o.dtype, o.requires_grad))}
}
