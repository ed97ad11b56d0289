//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "fft"), allow(unused_imports))]

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{FftNorm, as_count, as_dims, factory};
use crate::shape::{Dims, Shape};

op! {
    {
        /// The frequencies of the `n` results of a Fourier transform: `[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] /
        /// (n d)`.
        ///
        /// Args: `n` how many; `d` the distance of samples; `dtype` a float dtype (the default one).
        ///
        /// Returns: a vector of `n` elements, in cycles per unit of `d`.
        ///
        /// Errors: for a negative `n` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::fft::fftfreq(4).to_vec::<f64>()?, [0.0, 0.25, -0.5, -0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [fftfreq try_fftfreq fftfreq_with try_fftfreq_with] ([] n: usize)
    -> Tensor = engine::create::frequencies::fftfreq, (as_count(n), 1.0, factory(None, false))
    {[] o: DDtypeRequiresGradOptions => Tensor = (as_count(n), o.d, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The frequencies of the `n // 2 + 1` results of a Fourier transform of `n` real numbers: `[0, 1, ..., n // 2]
        /// / (n d)`.
        ///
        /// Args: `n` how many numbers; `d` the distance of samples; `dtype` a float dtype (the default one).
        ///
        /// Returns: a vector, in cycles per unit of `d`.
        ///
        /// Errors: for a negative `n` or another dtype.
        ///
        /// ```
        /// use retrograd::ops;
        ///
        /// assert_eq!(ops::fft::rfftfreq(4).to_vec::<f64>()?, [0.0, 0.25, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [rfftfreq try_rfftfreq rfftfreq_with try_rfftfreq_with] ([] n: usize)
    -> Tensor = engine::create::frequencies::rfftfreq, (as_count(n), 1.0, factory(None, false))
    {[] o: DDtypeRequiresGradOptions => Tensor = (as_count(n), o.d, factory(o.dtype, o.requires_grad))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The discrete Fourier transform along an axis: `y[k] = sum of x[j] exp(-2 pi i j k / n)`.
        ///
        /// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is
        /// more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Forward`, its root for `FftNorm::Ortho`, nothing for `FftNorm::Backward` (the default).
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the inverse transform of `g`, not divided by `n`; of real numbers its real part.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::real(&ops::fft::fft(&tensor![1f32, 2.0, 3.0, 2.0]));
        /// assert_eq!(y.to_vec::<f64>()?, [8.0, -2.0, 0.0, -2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [fft try_fft fft_with try_fft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::fft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `fft` along an axis: `y[k] = sum of x[j] exp(2 pi i j k / n) / n`.
        ///
        /// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is
        /// more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Backward` (the default), its root for `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the transform of `g` divided by `n`; of real numbers its real part.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::real(&ops::fft::ifft(&tensor![8f32, -2.0, 0.0, -2.0]));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ifft try_ifft ifft_with try_ifft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ifft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform of real numbers along an axis, the first `n // 2 + 1` numbers of it: the others are
        /// their conjugates, `y[n - k] = conj(y[k])`.
        ///
        /// Args: `input` a real dtype but halves; integers are converted to the default float dtype; `n` points: what
        /// is more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Forward`, its root for `FftNorm::Ortho`, nothing for `FftNorm::Backward` (the default).
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the real part of the inverse transform of `g`, with zeros for what is left out, not divided by
        /// `n`.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::real(&ops::fft::rfft(&tensor![1f32, 2.0, 3.0, 2.0])).to_vec::<f64>()?, [8.0, -2.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [rfft try_rfft rfft_with try_rfft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::rfft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `rfft` along an axis: `n` real numbers of the first `n // 2 + 1` numbers of their transform.
        /// The imaginary parts of those that symmetry makes real do not count.
        ///
        /// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is
        /// more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Backward` (the default), its root for `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a real tensor, by default of an even length, `2 (m - 1)` for `m` numbers.
        ///
        /// Derivative: `rfft(g) / n`, doubled where a number stands for two of the spectrum.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::fft::irfft(&tensor![8f32, -2.0, 0.0]).to_vec::<f64>()?, [1.0, 2.0, 3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [irfft try_irfft irfft_with try_irfft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::irfft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform along an axis of `n` numbers that are Hermitian, `x[n - j] = conj(x[j])`, given by the
        /// first `n // 2 + 1` of them; it is real.
        ///
        /// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is
        /// more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Forward`, its root for `FftNorm::Ortho`, nothing for `FftNorm::Backward` (the default).
        ///
        /// Returns: a real tensor, by default of an even length, `2 (m - 1)` for `m` numbers.
        ///
        /// Derivative: `conj(rfft(g))`, doubled where a number stands for two.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::fft::hfft(&tensor![1f32, 2.0, 3.0]).to_vec::<f64>()?, [8.0, -2.0, 0.0, -2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [hfft try_hfft hfft_with try_hfft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::hfft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `hfft` along an axis: the first `n // 2 + 1` of the Hermitian numbers whose transform is
        /// real.
        ///
        /// Args: `input` a real dtype but halves; integers are converted to the default float dtype; `n` points: what
        /// is more is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for
        /// `FftNorm::Backward` (the default), its root for `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the real part of the transform of `g`, with zeros for what is left out, divided by `n`.
        ///
        /// Errors: for fewer points than 1, another norm or dtype; if the axis does not exist.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::real(&ops::fft::ihfft(&tensor![8f32, -2.0, 0.0, -2.0])).to_vec::<f64>()?, [1.0, 2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ihfft try_ihfft ihfft_with try_ihfft_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ihfft, (input.engine(), None, -1, None)
    {[] o: NDimNormOptions => Tensor = (input.engine(), o.n, o.dim, o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform along two axes: `fft` along one after the other.
        ///
        /// Args: as `fftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::fft2(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [fft2 try_fft2 fft2_with try_fft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::fft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `fft2`: `ifft` along two axes.
        ///
        /// Args: as `ifftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::ifft2(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ifft2 try_ifft2 ifft2_with try_ifft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ifft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform of real numbers along two axes: `rfft` along the last one, then `fft` along the
        /// others.
        ///
        /// Args: as `rfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::rfft2(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [rfft2 try_rfft2 rfft2_with try_rfft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::rfft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `rfft2`: `ifft` along the first one, then `irfft` along the last one.
        ///
        /// Args: as `irfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::irfft2(&Tensor::ones([2, 2])).to_vec::<f64>()?, [1.0, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [irfft2 try_irfft2 irfft2_with try_irfft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::irfft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform of Hermitian numbers along two axes: `fft` along the first one, then `hfft` along the
        /// last one.
        ///
        /// Args: as `hfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::hfft2(&Tensor::ones([2, 2])).to_vec::<f64>()?, [4.0, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [hfft2 try_hfft2 hfft2_with try_hfft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::hfft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `hfft2`: `ihfft` along the last of two axes, then `ifft` along the others.
        ///
        /// Args: as `ihfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::ihfft2(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ihfft2 try_ihfft2 ihfft2_with try_ihfft2_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ihfft2, (input.engine(), None, &[-2, -1], None)
    {[] o: SDimNormOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice), o.dim.as_slice(),
        o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform along several axes: `fft` along one after the other.
        ///
        /// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut
        /// off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what
        /// the sums are divided by: the number of points for `FftNorm::Forward`, its root for `FftNorm::Ortho`, nothing
        /// for `FftNorm::Backward` (the default).
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the inverse transform of `g`, not divided by the number of points.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::fftn(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [fftn try_fftn fftn_with try_fftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::fftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `fftn`: `ifft` along several axes.
        ///
        /// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut
        /// off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what
        /// the sums are divided by: the number of points for `FftNorm::Backward` (the default), its root for
        /// `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a complex tensor.
        ///
        /// Derivative: the transform of `g`, divided by the number of points.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::ifftn(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ifftn try_ifftn ifftn_with try_ifftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ifftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform of real numbers along several axes: `rfft` along the last one, then `fft` along the
        /// others.
        ///
        /// Args: `input` a real dtype but halves; `s` the points along each axis, -1 for its length: what is more is
        /// cut off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm`
        /// what the sums are divided by: the number of points for `FftNorm::Forward`, its root for `FftNorm::Ortho`,
        /// nothing for `FftNorm::Backward` (the default).
        ///
        /// Returns: a complex tensor, with `n // 2 + 1` numbers along the last of the axes.
        ///
        /// Derivative: the real part of the inverse transform of `g`, with zeros for what is left out.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::rfftn(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [rfftn try_rfftn rfftn_with try_rfftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::rfftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `rfftn`: `ifft` along all but the last one, then `irfft` along the last one.
        ///
        /// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut
        /// off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what
        /// the sums are divided by: the number of points for `FftNorm::Backward` (the default), its root for
        /// `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a real tensor.
        ///
        /// Derivative: the `rfftn` of `g`, doubled where a number stands for two, divided by the number of points.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::irfftn(&Tensor::ones([2, 2])).to_vec::<f64>()?, [1.0, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [irfftn try_irfftn irfftn_with try_irfftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::irfftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The Fourier transform of Hermitian numbers along several axes: `fft` along all but the last one, then `hfft`
        /// along the last one.
        ///
        /// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut
        /// off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what
        /// the sums are divided by: the number of points for `FftNorm::Forward`, its root for `FftNorm::Ortho`, nothing
        /// for `FftNorm::Backward` (the default).
        ///
        /// Returns: a real tensor.
        ///
        /// Derivative: the conjugate of the `rfftn` of `g`, doubled where a number stands for two.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::hfftn(&Tensor::ones([2, 2])).to_vec::<f64>()?, [4.0, 0.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [hfftn try_hfftn hfftn_with try_hfftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::hfftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `hfftn`: `ihfft` along the last of several axes, then `ifft` along the others.
        ///
        /// Args: `input` a real dtype but halves; `s` the points along each axis, -1 for its length: what is more is
        /// cut off, what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm`
        /// what the sums are divided by: the number of points for `FftNorm::Backward` (the default), its root for
        /// `FftNorm::Ortho`, nothing for `FftNorm::Forward`.
        ///
        /// Returns: a complex tensor, with `n // 2 + 1` numbers along the last of the axes.
        ///
        /// Derivative: the real part of the transform of `g`, with zeros for what is left out, divided by the number of
        /// points.
        ///
        /// Errors: for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
        /// if an axis does not exist.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fft::ihfftn(&Tensor::ones([2, 2])).shape(), [2, 2]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ihfftn try_ihfftn ihfftn_with try_ihfftn_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ihfftn, (input.engine(), None, None, None)
    {[] o: FftnOptions => Tensor = (input.engine(), o.s.as_ref().map(Shape::as_slice),
        o.dim.as_ref().map(Dims::as_slice), o.norm.map(FftNorm::name))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// A copy with the frequency 0 in the middle of each axis, where transforms have it in front.
        ///
        /// Args: `input` any dtype; `dim` the axes, by default all.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` moved back.
        ///
        /// Errors: if an axis does not exist; without axes.
        ///
        /// Needs the feature `fft`.
    }
    fn [fftshift try_fftshift fftshift_with try_fftshift_with] ([] input: &Tensor)
    -> Tensor = engine::fft::fftshift, (input.engine(), None)
    {[] o: DimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// As `fftshift`, along `dim`.
    }
    fn [fftshift_dim try_fftshift_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::fft::fftshift, (input.engine(), Some(as_dims(dim).as_slice()))
    {}
}

#[cfg(feature = "fft")]
op! {
    {
        /// The inverse of `fftshift`: a copy with the middle of each axis in front.
        ///
        /// Args: `input` any dtype; `dim` the axes, by default all.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` moved back.
        ///
        /// Errors: as `fftshift`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::fft::ifftshift(&tensor![-0.5f32, -0.25, 0.0, 0.25]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.25, -0.5, -0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [ifftshift try_ifftshift ifftshift_with try_ifftshift_with] ([] input: &Tensor)
    -> Tensor = engine::fft::ifftshift, (input.engine(), None)
    {[] o: DimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice))}
}

#[cfg(feature = "fft")]
op! {
    {
        /// As `ifftshift`, along `dim`.
    }
    fn [ifftshift_dim try_ifftshift_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::fft::ifftshift, (input.engine(), Some(as_dims(dim).as_slice()))
    {}
}
