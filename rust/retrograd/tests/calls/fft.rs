//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::fft::fft(any());
    ops::fft::fft_with(any(), |o| o);
    ops::fft::ifft(any());
    ops::fft::ifft_with(any(), |o| o);
    ops::fft::rfft(any());
    ops::fft::rfft_with(any(), |o| o);
    ops::fft::irfft(any());
    ops::fft::irfft_with(any(), |o| o);
    ops::fft::hfft(any());
    ops::fft::hfft_with(any(), |o| o);
    ops::fft::ihfft(any());
    ops::fft::ihfft_with(any(), |o| o);
    ops::fft::fft2(any());
    ops::fft::fft2_with(any(), |o| o);
    ops::fft::ifft2(any());
    ops::fft::ifft2_with(any(), |o| o);
    ops::fft::rfft2(any());
    ops::fft::rfft2_with(any(), |o| o);
    ops::fft::irfft2(any());
    ops::fft::irfft2_with(any(), |o| o);
    ops::fft::hfft2(any());
    ops::fft::hfft2_with(any(), |o| o);
    ops::fft::ihfft2(any());
    ops::fft::ihfft2_with(any(), |o| o);
    ops::fft::fftn(any());
    ops::fft::fftn_with(any(), |o| o);
    ops::fft::ifftn(any());
    ops::fft::ifftn_with(any(), |o| o);
    ops::fft::rfftn(any());
    ops::fft::rfftn_with(any(), |o| o);
    ops::fft::irfftn(any());
    ops::fft::irfftn_with(any(), |o| o);
    ops::fft::hfftn(any());
    ops::fft::hfftn_with(any(), |o| o);
    ops::fft::ihfftn(any());
    ops::fft::ihfftn_with(any(), |o| o);
    ops::fft::fftshift(any());
    ops::fft::fftshift_with(any(), |o| o);
    ops::fft::ifftshift(any());
    ops::fft::ifftshift_with(any(), |o| o);
    ops::stft(any(), any());
    ops::stft_with(any(), any(), |o| o);
    any::<&Tensor>().stft(any());
    any::<&Tensor>().stft_with(any(), |o| o);
    ops::istft(any(), any());
    ops::istft_with(any(), any(), |o| o);
    any::<&Tensor>().istft(any());
    any::<&Tensor>().istft_with(any(), |o| o);
}
