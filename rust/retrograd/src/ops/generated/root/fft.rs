//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::as_count;
use crate::ops::options::*;

op! {
    {
        /// The short-time Fourier transform: `y[.., k, t]` is number `k` of the transform of `input[.., t hop_length +
        /// j] window[j]`, where `j` is less than `n_fft`.
        ///
        /// Args: `input` (length) or (batch, length), a float or complex dtype; `n_fft` the points of each transform;
        /// `hop_length` from one window to the next (`n_fft // 4`); `window` (win_length), in the middle of `n_fft`
        /// numbers of which the others are 0 (ones); `center` to put window `t` around `t hop_length`, with a border of
        /// `n_fft // 2` that `pad_mode` makes, as `nn.functional.pad` does; `normalized` to divide by the root of
        /// `n_fft`; `onesided` for the first `n_fft // 2 + 1` numbers, by default if input and window are real;
        /// `return_complex` must be given if they are: `false` is for pairs of real numbers along a new last axis;
        /// `align_to_window`, without `center`, for as many windows as fit by `win_length` alone.
        ///
        /// Returns: (n_fft, windows) or (batch, n_fft, windows), complex.
        ///
        /// Derivative: that of the ops it is made of.
        ///
        /// Errors: if sizes do not fit. Warns without a window.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let window = Tensor::ones([4]);
        /// let y = Tensor::ones([8]).stft_with(4, |o| o.window(&window).center(false).return_complex(true));
        /// assert_eq!(y.shape(), [3, 5]);
        /// ```
        ///
        /// Needs the feature `fft`.
    }
    fn [stft try_stft stft_with try_stft_with] ([] input: &Tensor, n_fft: usize)
    method [stft try_stft stft_with try_stft_with] ([] &self, n_fft: usize) {let input = self;}
    -> Tensor = engine::fft::short_time::stft, (input.engine(), as_count(n_fft), None, None, None, true, "reflect",
        false, None, None, None)
    {['o] o: StftOptions<'o> => Tensor = (input.engine(), as_count(n_fft), o.hop_length, o.win_length,
        o.window.map(Tensor::engine), o.center, o.pad_mode.name(), o.normalized, o.onesided, o.return_complex,
        o.align_to_window)}
}

op! {
    {
        /// The inverse of `stft`: the signal whose windows have these transforms, or, of all signals, the one whose
        /// transforms are nearest to them.
        ///
        /// Args: `input` (n_fft, windows) or (batch, n_fft, windows), complex, with `n_fft // 2 + 1` numbers if
        /// `onesided`; `n_fft`, `hop_length`, `win_length`, `window`, `center`, `normalized`, `onesided` as `stft` was
        /// given them; `length` of the signal, which is cut off or filled up with zeros; `return_complex` for a complex
        /// signal.
        ///
        /// Returns: (length) or (batch, length).
        ///
        /// Derivative: that of the ops it is made of.
        ///
        /// Errors: if sizes do not fit, or where the windows leave out a place. Warns without a window, and if `length`
        /// is longer than the signal.
        ///
        /// Needs the feature `fft`.
    }
    fn [istft try_istft istft_with try_istft_with] ([] input: &Tensor, n_fft: usize)
    method [istft try_istft istft_with try_istft_with] ([] &self, n_fft: usize) {let input = self;}
    -> Tensor = engine::fft::short_time::istft, (input.engine(), as_count(n_fft), None, None, None, true, false, None,
        None, false)
    {['o] o: IstftOptions<'o> => Tensor = (input.engine(), as_count(n_fft), o.hop_length, o.win_length,
        o.window.map(Tensor::engine), o.center, o.normalized, o.onesided, o.length, o.return_complex)}
}
