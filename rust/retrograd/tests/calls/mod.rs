//! Written by the crate `retrograd-generator`: change the roster of the engine, or the generator, and run `make face`.

#![allow(unused_must_use, clippy::diverging_sub_expression)]

use retrograd::ops::{self, *};
use retrograd::{DType, Generator, Tensor};

fn any<T>() -> T {
    unreachable!("these calls are only compiled")
}

pub fn casts() {
    any::<&Tensor>().bool();
    any::<&Tensor>().try_bool();
    any::<&Tensor>().bool_with(|o| o);
    any::<&Tensor>().try_bool_with(|o| o);
    any::<&Tensor>().byte();
    any::<&Tensor>().try_byte();
    any::<&Tensor>().byte_with(|o| o);
    any::<&Tensor>().try_byte_with(|o| o);
    any::<&Tensor>().char();
    any::<&Tensor>().try_char();
    any::<&Tensor>().char_with(|o| o);
    any::<&Tensor>().try_char_with(|o| o);
    any::<&Tensor>().short();
    any::<&Tensor>().try_short();
    any::<&Tensor>().short_with(|o| o);
    any::<&Tensor>().try_short_with(|o| o);
    any::<&Tensor>().int();
    any::<&Tensor>().try_int();
    any::<&Tensor>().int_with(|o| o);
    any::<&Tensor>().try_int_with(|o| o);
    any::<&Tensor>().long();
    any::<&Tensor>().try_long();
    any::<&Tensor>().long_with(|o| o);
    any::<&Tensor>().try_long_with(|o| o);
    any::<&Tensor>().half();
    any::<&Tensor>().try_half();
    any::<&Tensor>().half_with(|o| o);
    any::<&Tensor>().try_half_with(|o| o);
    any::<&Tensor>().bfloat16();
    any::<&Tensor>().try_bfloat16();
    any::<&Tensor>().bfloat16_with(|o| o);
    any::<&Tensor>().try_bfloat16_with(|o| o);
    any::<&Tensor>().float();
    any::<&Tensor>().try_float();
    any::<&Tensor>().float_with(|o| o);
    any::<&Tensor>().try_float_with(|o| o);
    any::<&Tensor>().double();
    any::<&Tensor>().try_double();
    any::<&Tensor>().double_with(|o| o);
    any::<&Tensor>().try_double_with(|o| o);
    any::<&Tensor>().chalf();
    any::<&Tensor>().try_chalf();
    any::<&Tensor>().chalf_with(|o| o);
    any::<&Tensor>().try_chalf_with(|o| o);
    any::<&Tensor>().cfloat();
    any::<&Tensor>().try_cfloat();
    any::<&Tensor>().cfloat_with(|o| o);
    any::<&Tensor>().try_cfloat_with(|o| o);
    any::<&Tensor>().cdouble();
    any::<&Tensor>().try_cdouble();
    any::<&Tensor>().cdouble_with(|o| o);
    any::<&Tensor>().try_cdouble_with(|o| o);
    any::<&Tensor>().cpu();
    any::<&Tensor>().try_cpu();
    any::<&Tensor>().cpu_with(|o| o);
    any::<&Tensor>().try_cpu_with(|o| o);
    any::<&Tensor>().type_as(any::<&Tensor>());
    any::<&Tensor>().try_type_as(any::<&Tensor>());
    ops::resolve_conj(any::<&Tensor>());
    ops::try_resolve_conj(any::<&Tensor>());
    any::<&Tensor>().resolve_conj();
    any::<&Tensor>().try_resolve_conj();
    ops::resolve_neg(any::<&Tensor>());
    ops::try_resolve_neg(any::<&Tensor>());
    any::<&Tensor>().resolve_neg();
    any::<&Tensor>().try_resolve_neg();
    ops::adjoint(any::<&Tensor>());
    ops::try_adjoint(any::<&Tensor>());
    any::<&Tensor>().adjoint();
    any::<&Tensor>().try_adjoint();
}

pub fn create() {
    ops::empty(any::<i64>());
    ops::try_empty(any::<i64>());
    ops::empty_with(any::<i64>(), |o| o);
    ops::try_empty_with(any::<i64>(), |o| o);
    Tensor::empty(any::<i64>());
    Tensor::try_empty(any::<i64>());
    Tensor::empty_with(any::<i64>(), |o| o);
    Tensor::try_empty_with(any::<i64>(), |o| o);
    ops::empty_strided(any::<i64>(), any::<i64>());
    ops::try_empty_strided(any::<i64>(), any::<i64>());
    ops::empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    ops::try_empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::empty_strided(any::<i64>(), any::<i64>());
    Tensor::try_empty_strided(any::<i64>(), any::<i64>());
    Tensor::empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    ops::empty_permuted(any::<i64>(), any::<i64>());
    ops::try_empty_permuted(any::<i64>(), any::<i64>());
    ops::empty_permuted_with(any::<i64>(), any::<i64>(), |o| o);
    ops::try_empty_permuted_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::empty_permuted(any::<i64>(), any::<i64>());
    Tensor::try_empty_permuted(any::<i64>(), any::<i64>());
    Tensor::empty_permuted_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_empty_permuted_with(any::<i64>(), any::<i64>(), |o| o);
    ops::zeros(any::<i64>());
    ops::try_zeros(any::<i64>());
    ops::zeros_with(any::<i64>(), |o| o);
    ops::try_zeros_with(any::<i64>(), |o| o);
    Tensor::zeros(any::<i64>());
    Tensor::try_zeros(any::<i64>());
    Tensor::zeros_with(any::<i64>(), |o| o);
    Tensor::try_zeros_with(any::<i64>(), |o| o);
    ops::ones(any::<i64>());
    ops::try_ones(any::<i64>());
    ops::ones_with(any::<i64>(), |o| o);
    ops::try_ones_with(any::<i64>(), |o| o);
    Tensor::ones(any::<i64>());
    Tensor::try_ones(any::<i64>());
    Tensor::ones_with(any::<i64>(), |o| o);
    Tensor::try_ones_with(any::<i64>(), |o| o);
    ops::full(any::<i64>(), any::<f64>());
    ops::try_full(any::<i64>(), any::<f64>());
    ops::full_with(any::<i64>(), any::<f64>(), |o| o);
    ops::try_full_with(any::<i64>(), any::<f64>(), |o| o);
    Tensor::full(any::<i64>(), any::<f64>());
    Tensor::try_full(any::<i64>(), any::<f64>());
    Tensor::full_with(any::<i64>(), any::<f64>(), |o| o);
    Tensor::try_full_with(any::<i64>(), any::<f64>(), |o| o);
    ops::scalar_tensor(any::<f64>());
    ops::try_scalar_tensor(any::<f64>());
    ops::scalar_tensor_with(any::<f64>(), |o| o);
    ops::try_scalar_tensor_with(any::<f64>(), |o| o);
    Tensor::scalar_tensor(any::<f64>());
    Tensor::try_scalar_tensor(any::<f64>());
    Tensor::scalar_tensor_with(any::<f64>(), |o| o);
    Tensor::try_scalar_tensor_with(any::<f64>(), |o| o);
    ops::arange(any::<f64>());
    ops::try_arange(any::<f64>());
    ops::arange_with(any::<f64>(), |o| o);
    ops::try_arange_with(any::<f64>(), |o| o);
    Tensor::arange(any::<f64>());
    Tensor::try_arange(any::<f64>());
    Tensor::arange_with(any::<f64>(), |o| o);
    Tensor::try_arange_with(any::<f64>(), |o| o);
    ops::arange_from(any::<f64>(), any::<f64>());
    ops::try_arange_from(any::<f64>(), any::<f64>());
    ops::arange_from_with(any::<f64>(), any::<f64>(), |o| o);
    ops::try_arange_from_with(any::<f64>(), any::<f64>(), |o| o);
    Tensor::arange_from(any::<f64>(), any::<f64>());
    Tensor::try_arange_from(any::<f64>(), any::<f64>());
    Tensor::arange_from_with(any::<f64>(), any::<f64>(), |o| o);
    Tensor::try_arange_from_with(any::<f64>(), any::<f64>(), |o| o);
    ops::range(any::<f64>(), any::<f64>());
    ops::try_range(any::<f64>(), any::<f64>());
    ops::range_with(any::<f64>(), any::<f64>(), |o| o);
    ops::try_range_with(any::<f64>(), any::<f64>(), |o| o);
    Tensor::range(any::<f64>(), any::<f64>());
    Tensor::try_range(any::<f64>(), any::<f64>());
    Tensor::range_with(any::<f64>(), any::<f64>(), |o| o);
    Tensor::try_range_with(any::<f64>(), any::<f64>(), |o| o);
    ops::linspace(any::<f64>(), any::<f64>(), any::<i64>());
    ops::try_linspace(any::<f64>(), any::<f64>(), any::<i64>());
    ops::linspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::try_linspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::linspace(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::try_linspace(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::linspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::try_linspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::linspace_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::try_linspace_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::linspace_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_linspace_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::eye(any::<i64>());
    ops::try_eye(any::<i64>());
    ops::eye_with(any::<i64>(), |o| o);
    ops::try_eye_with(any::<i64>(), |o| o);
    Tensor::eye(any::<i64>());
    Tensor::try_eye(any::<i64>());
    Tensor::eye_with(any::<i64>(), |o| o);
    Tensor::try_eye_with(any::<i64>(), |o| o);
    ops::empty_like(any::<&Tensor>());
    ops::try_empty_like(any::<&Tensor>());
    ops::empty_like_with(any::<&Tensor>(), |o| o);
    ops::try_empty_like_with(any::<&Tensor>(), |o| o);
    ops::zeros_like(any::<&Tensor>());
    ops::try_zeros_like(any::<&Tensor>());
    ops::zeros_like_with(any::<&Tensor>(), |o| o);
    ops::try_zeros_like_with(any::<&Tensor>(), |o| o);
    ops::ones_like(any::<&Tensor>());
    ops::try_ones_like(any::<&Tensor>());
    ops::ones_like_with(any::<&Tensor>(), |o| o);
    ops::try_ones_like_with(any::<&Tensor>(), |o| o);
    ops::full_like(any::<&Tensor>(), any::<f64>());
    ops::try_full_like(any::<&Tensor>(), any::<f64>());
    ops::full_like_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::try_full_like_with(any::<&Tensor>(), any::<f64>(), |o| o);
    any::<&Tensor>().new_empty(any::<i64>());
    any::<&Tensor>().try_new_empty(any::<i64>());
    any::<&Tensor>().new_empty_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_new_empty_with(any::<i64>(), |o| o);
    any::<&Tensor>().new_empty_strided(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_new_empty_strided(any::<i64>(), any::<i64>());
    any::<&Tensor>().new_empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().try_new_empty_strided_with(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().new_zeros(any::<i64>());
    any::<&Tensor>().try_new_zeros(any::<i64>());
    any::<&Tensor>().new_zeros_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_new_zeros_with(any::<i64>(), |o| o);
    any::<&Tensor>().new_ones(any::<i64>());
    any::<&Tensor>().try_new_ones(any::<i64>());
    any::<&Tensor>().new_ones_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_new_ones_with(any::<i64>(), |o| o);
    any::<&Tensor>().new_full(any::<i64>(), any::<f64>());
    any::<&Tensor>().try_new_full(any::<i64>(), any::<f64>());
    any::<&Tensor>().new_full_with(any::<i64>(), any::<f64>(), |o| o);
    any::<&Tensor>().try_new_full_with(any::<i64>(), any::<f64>(), |o| o);
    ops::tril(any::<&Tensor>());
    ops::try_tril(any::<&Tensor>());
    ops::tril_with(any::<&Tensor>(), |o| o);
    ops::try_tril_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().tril();
    any::<&Tensor>().try_tril();
    any::<&Tensor>().tril_with(|o| o);
    any::<&Tensor>().try_tril_with(|o| o);
    any::<&Tensor>().tril_();
    any::<&Tensor>().try_tril_();
    any::<&Tensor>().tril_with_(|o| o);
    any::<&Tensor>().try_tril_with_(|o| o);
    ops::triu(any::<&Tensor>());
    ops::try_triu(any::<&Tensor>());
    ops::triu_with(any::<&Tensor>(), |o| o);
    ops::try_triu_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().triu();
    any::<&Tensor>().try_triu();
    any::<&Tensor>().triu_with(|o| o);
    any::<&Tensor>().try_triu_with(|o| o);
    any::<&Tensor>().triu_();
    any::<&Tensor>().try_triu_();
    any::<&Tensor>().triu_with_(|o| o);
    any::<&Tensor>().try_triu_with_(|o| o);
    ops::fft::fftfreq(any::<i64>());
    ops::fft::try_fftfreq(any::<i64>());
    ops::fft::fftfreq_with(any::<i64>(), |o| o);
    ops::fft::try_fftfreq_with(any::<i64>(), |o| o);
    ops::fft::rfftfreq(any::<i64>());
    ops::fft::try_rfftfreq(any::<i64>());
    ops::fft::rfftfreq_with(any::<i64>(), |o| o);
    ops::fft::try_rfftfreq_with(any::<i64>(), |o| o);
    ops::logspace(any::<f64>(), any::<f64>(), any::<i64>());
    ops::try_logspace(any::<f64>(), any::<f64>(), any::<i64>());
    ops::logspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::try_logspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::logspace(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::try_logspace(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::logspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::try_logspace_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::logspace_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::try_logspace_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::logspace_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_logspace_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::tril_indices(any::<i64>(), any::<i64>());
    ops::try_tril_indices(any::<i64>(), any::<i64>());
    ops::tril_indices_with(any::<i64>(), any::<i64>(), |o| o);
    ops::try_tril_indices_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::tril_indices(any::<i64>(), any::<i64>());
    Tensor::try_tril_indices(any::<i64>(), any::<i64>());
    Tensor::tril_indices_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_tril_indices_with(any::<i64>(), any::<i64>(), |o| o);
    ops::triu_indices(any::<i64>(), any::<i64>());
    ops::try_triu_indices(any::<i64>(), any::<i64>());
    ops::triu_indices_with(any::<i64>(), any::<i64>(), |o| o);
    ops::try_triu_indices_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::triu_indices(any::<i64>(), any::<i64>());
    Tensor::try_triu_indices(any::<i64>(), any::<i64>());
    Tensor::triu_indices_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_triu_indices_with(any::<i64>(), any::<i64>(), |o| o);
    ops::signal::bartlett(any::<i64>());
    ops::signal::try_bartlett(any::<i64>());
    ops::signal::bartlett_with(any::<i64>(), |o| o);
    ops::signal::try_bartlett_with(any::<i64>(), |o| o);
    ops::signal::blackman(any::<i64>());
    ops::signal::try_blackman(any::<i64>());
    ops::signal::blackman_with(any::<i64>(), |o| o);
    ops::signal::try_blackman_with(any::<i64>(), |o| o);
    ops::signal::cosine(any::<i64>());
    ops::signal::try_cosine(any::<i64>());
    ops::signal::cosine_with(any::<i64>(), |o| o);
    ops::signal::try_cosine_with(any::<i64>(), |o| o);
    ops::signal::exponential(any::<i64>());
    ops::signal::try_exponential(any::<i64>());
    ops::signal::exponential_with(any::<i64>(), |o| o);
    ops::signal::try_exponential_with(any::<i64>(), |o| o);
    ops::signal::gaussian(any::<i64>());
    ops::signal::try_gaussian(any::<i64>());
    ops::signal::gaussian_with(any::<i64>(), |o| o);
    ops::signal::try_gaussian_with(any::<i64>(), |o| o);
    ops::signal::general_cosine(any::<i64>(), any::<Floats>());
    ops::signal::try_general_cosine(any::<i64>(), any::<Floats>());
    ops::signal::general_cosine_with(any::<i64>(), any::<Floats>(), |o| o);
    ops::signal::try_general_cosine_with(any::<i64>(), any::<Floats>(), |o| o);
    ops::signal::general_hamming(any::<i64>());
    ops::signal::try_general_hamming(any::<i64>());
    ops::signal::general_hamming_with(any::<i64>(), |o| o);
    ops::signal::try_general_hamming_with(any::<i64>(), |o| o);
    ops::signal::hamming(any::<i64>());
    ops::signal::try_hamming(any::<i64>());
    ops::signal::hamming_with(any::<i64>(), |o| o);
    ops::signal::try_hamming_with(any::<i64>(), |o| o);
    ops::signal::hann(any::<i64>());
    ops::signal::try_hann(any::<i64>());
    ops::signal::hann_with(any::<i64>(), |o| o);
    ops::signal::try_hann_with(any::<i64>(), |o| o);
    ops::signal::kaiser(any::<i64>());
    ops::signal::try_kaiser(any::<i64>());
    ops::signal::kaiser_with(any::<i64>(), |o| o);
    ops::signal::try_kaiser_with(any::<i64>(), |o| o);
    ops::signal::nuttall(any::<i64>());
    ops::signal::try_nuttall(any::<i64>());
    ops::signal::nuttall_with(any::<i64>(), |o| o);
    ops::signal::try_nuttall_with(any::<i64>(), |o| o);
    ops::hann_window(any::<i64>());
    ops::try_hann_window(any::<i64>());
    ops::hann_window_with(any::<i64>(), |o| o);
    ops::try_hann_window_with(any::<i64>(), |o| o);
    Tensor::hann_window(any::<i64>());
    Tensor::try_hann_window(any::<i64>());
    Tensor::hann_window_with(any::<i64>(), |o| o);
    Tensor::try_hann_window_with(any::<i64>(), |o| o);
    ops::hamming_window(any::<i64>());
    ops::try_hamming_window(any::<i64>());
    ops::hamming_window_with(any::<i64>(), |o| o);
    ops::try_hamming_window_with(any::<i64>(), |o| o);
    Tensor::hamming_window(any::<i64>());
    Tensor::try_hamming_window(any::<i64>());
    Tensor::hamming_window_with(any::<i64>(), |o| o);
    Tensor::try_hamming_window_with(any::<i64>(), |o| o);
    ops::blackman_window(any::<i64>());
    ops::try_blackman_window(any::<i64>());
    ops::blackman_window_with(any::<i64>(), |o| o);
    ops::try_blackman_window_with(any::<i64>(), |o| o);
    Tensor::blackman_window(any::<i64>());
    Tensor::try_blackman_window(any::<i64>());
    Tensor::blackman_window_with(any::<i64>(), |o| o);
    Tensor::try_blackman_window_with(any::<i64>(), |o| o);
    ops::bartlett_window(any::<i64>());
    ops::try_bartlett_window(any::<i64>());
    ops::bartlett_window_with(any::<i64>(), |o| o);
    ops::try_bartlett_window_with(any::<i64>(), |o| o);
    Tensor::bartlett_window(any::<i64>());
    Tensor::try_bartlett_window(any::<i64>());
    Tensor::bartlett_window_with(any::<i64>(), |o| o);
    Tensor::try_bartlett_window_with(any::<i64>(), |o| o);
    ops::kaiser_window(any::<i64>());
    ops::try_kaiser_window(any::<i64>());
    ops::kaiser_window_with(any::<i64>(), |o| o);
    ops::try_kaiser_window_with(any::<i64>(), |o| o);
    Tensor::kaiser_window(any::<i64>());
    Tensor::try_kaiser_window(any::<i64>());
    Tensor::kaiser_window_with(any::<i64>(), |o| o);
    Tensor::try_kaiser_window_with(any::<i64>(), |o| o);
    ops::combinations(any::<&Tensor>());
    ops::try_combinations(any::<&Tensor>());
    ops::combinations_with(any::<&Tensor>(), |o| o);
    ops::try_combinations_with(any::<&Tensor>(), |o| o);
}

pub fn fft() {
    ops::fft::fft(any::<&Tensor>());
    ops::fft::try_fft(any::<&Tensor>());
    ops::fft::fft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_fft_with(any::<&Tensor>(), |o| o);
    ops::fft::ifft(any::<&Tensor>());
    ops::fft::try_ifft(any::<&Tensor>());
    ops::fft::ifft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ifft_with(any::<&Tensor>(), |o| o);
    ops::fft::rfft(any::<&Tensor>());
    ops::fft::try_rfft(any::<&Tensor>());
    ops::fft::rfft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_rfft_with(any::<&Tensor>(), |o| o);
    ops::fft::irfft(any::<&Tensor>());
    ops::fft::try_irfft(any::<&Tensor>());
    ops::fft::irfft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_irfft_with(any::<&Tensor>(), |o| o);
    ops::fft::hfft(any::<&Tensor>());
    ops::fft::try_hfft(any::<&Tensor>());
    ops::fft::hfft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_hfft_with(any::<&Tensor>(), |o| o);
    ops::fft::ihfft(any::<&Tensor>());
    ops::fft::try_ihfft(any::<&Tensor>());
    ops::fft::ihfft_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ihfft_with(any::<&Tensor>(), |o| o);
    ops::fft::fft2(any::<&Tensor>());
    ops::fft::try_fft2(any::<&Tensor>());
    ops::fft::fft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_fft2_with(any::<&Tensor>(), |o| o);
    ops::fft::ifft2(any::<&Tensor>());
    ops::fft::try_ifft2(any::<&Tensor>());
    ops::fft::ifft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ifft2_with(any::<&Tensor>(), |o| o);
    ops::fft::rfft2(any::<&Tensor>());
    ops::fft::try_rfft2(any::<&Tensor>());
    ops::fft::rfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_rfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::irfft2(any::<&Tensor>());
    ops::fft::try_irfft2(any::<&Tensor>());
    ops::fft::irfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_irfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::hfft2(any::<&Tensor>());
    ops::fft::try_hfft2(any::<&Tensor>());
    ops::fft::hfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_hfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::ihfft2(any::<&Tensor>());
    ops::fft::try_ihfft2(any::<&Tensor>());
    ops::fft::ihfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ihfft2_with(any::<&Tensor>(), |o| o);
    ops::fft::fftn(any::<&Tensor>());
    ops::fft::try_fftn(any::<&Tensor>());
    ops::fft::fftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_fftn_with(any::<&Tensor>(), |o| o);
    ops::fft::ifftn(any::<&Tensor>());
    ops::fft::try_ifftn(any::<&Tensor>());
    ops::fft::ifftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ifftn_with(any::<&Tensor>(), |o| o);
    ops::fft::rfftn(any::<&Tensor>());
    ops::fft::try_rfftn(any::<&Tensor>());
    ops::fft::rfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_rfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::irfftn(any::<&Tensor>());
    ops::fft::try_irfftn(any::<&Tensor>());
    ops::fft::irfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_irfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::hfftn(any::<&Tensor>());
    ops::fft::try_hfftn(any::<&Tensor>());
    ops::fft::hfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_hfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::ihfftn(any::<&Tensor>());
    ops::fft::try_ihfftn(any::<&Tensor>());
    ops::fft::ihfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ihfftn_with(any::<&Tensor>(), |o| o);
    ops::fft::fftshift(any::<&Tensor>());
    ops::fft::try_fftshift(any::<&Tensor>());
    ops::fft::fftshift_with(any::<&Tensor>(), |o| o);
    ops::fft::try_fftshift_with(any::<&Tensor>(), |o| o);
    ops::fft::ifftshift(any::<&Tensor>());
    ops::fft::try_ifftshift(any::<&Tensor>());
    ops::fft::ifftshift_with(any::<&Tensor>(), |o| o);
    ops::fft::try_ifftshift_with(any::<&Tensor>(), |o| o);
    ops::stft(any::<&Tensor>(), any::<i64>());
    ops::try_stft(any::<&Tensor>(), any::<i64>());
    ops::stft_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_stft_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().stft(any::<i64>());
    any::<&Tensor>().try_stft(any::<i64>());
    any::<&Tensor>().stft_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_stft_with(any::<i64>(), |o| o);
    ops::istft(any::<&Tensor>(), any::<i64>());
    ops::try_istft(any::<&Tensor>(), any::<i64>());
    ops::istft_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_istft_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().istft(any::<i64>());
    any::<&Tensor>().try_istft(any::<i64>());
    any::<&Tensor>().istft_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_istft_with(any::<i64>(), |o| o);
}

pub fn index() {
    ops::index_select(any::<&Tensor>(), any::<i64>(), any::<&Tensor>());
    ops::try_index_select(any::<&Tensor>(), any::<i64>(), any::<&Tensor>());
    any::<&Tensor>().index_select(any::<i64>(), any::<&Tensor>());
    any::<&Tensor>().try_index_select(any::<i64>(), any::<&Tensor>());
    ops::gather(any::<&Tensor>(), any::<i64>(), any::<&Tensor>());
    ops::try_gather(any::<&Tensor>(), any::<i64>(), any::<&Tensor>());
    ops::gather_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), |o| o);
    ops::try_gather_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().gather(any::<i64>(), any::<&Tensor>());
    any::<&Tensor>().try_gather(any::<i64>(), any::<&Tensor>());
    any::<&Tensor>().gather_with(any::<i64>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_gather_with(any::<i64>(), any::<&Tensor>(), |o| o);
    ops::scatter_add(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_scatter_add(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().scatter_add(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_scatter_add(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().scatter_add_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_scatter_add_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::scatter(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_scatter(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().scatter(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_scatter(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().scatter_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_scatter_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::scatter_value(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>());
    ops::try_scatter_value(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().scatter_value(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_scatter_value(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().scatter_value_(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_scatter_value_(any::<i64>(), any::<&Tensor>(), any::<f64>());
    ops::scatter_reducing(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    ops::try_scatter_reducing(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    any::<&Tensor>().scatter_reducing(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    any::<&Tensor>().try_scatter_reducing(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    any::<&Tensor>().scatter_reducing_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    any::<&Tensor>().try_scatter_reducing_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<ScatterReduction>());
    ops::scatter_value_reducing(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    ops::try_scatter_value_reducing(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    any::<&Tensor>().scatter_value_reducing(any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    any::<&Tensor>().try_scatter_value_reducing(any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    any::<&Tensor>().scatter_value_reducing_(any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    any::<&Tensor>().try_scatter_value_reducing_(any::<i64>(), any::<&Tensor>(), any::<f64>(), any::<ScatterReduction>());
    ops::index_add(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_index_add(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::index_add_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_index_add_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().index_add(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_add(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_add_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_index_add_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().index_add_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_add_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_add_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_index_add_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::index_copy(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_index_copy(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_copy(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_copy(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_copy_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_copy_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::index_fill_tensor(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_index_fill_tensor(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_fill_tensor(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_fill_tensor(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().index_fill_tensor_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_index_fill_tensor_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>());
    ops::index_fill(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>());
    ops::try_index_fill(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().index_fill(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_index_fill(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().index_fill_(any::<i64>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_index_fill_(any::<i64>(), any::<&Tensor>(), any::<f64>());
    ops::masked_select(any::<&Tensor>(), any::<&Tensor>());
    ops::try_masked_select(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().masked_select(any::<&Tensor>());
    any::<&Tensor>().try_masked_select(any::<&Tensor>());
    ops::nonzero(any::<&Tensor>());
    ops::try_nonzero(any::<&Tensor>());
    any::<&Tensor>().nonzero();
    any::<&Tensor>().try_nonzero();
    ops::nonzero_static(any::<&Tensor>(), any::<i64>());
    ops::try_nonzero_static(any::<&Tensor>(), any::<i64>());
    ops::nonzero_static_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_nonzero_static_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().nonzero_static(any::<i64>());
    any::<&Tensor>().try_nonzero_static(any::<i64>());
    any::<&Tensor>().nonzero_static_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_nonzero_static_with(any::<i64>(), |o| o);
    ops::nonzero_tuple(any::<&Tensor>());
    ops::try_nonzero_tuple(any::<&Tensor>());
    any::<&Tensor>().nonzero_tuple();
    any::<&Tensor>().try_nonzero_tuple();
    ops::where_nonzero(any::<&Tensor>());
    ops::try_where_nonzero(any::<&Tensor>());
    ops::take(any::<&Tensor>(), any::<&Tensor>());
    ops::try_take(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().take(any::<&Tensor>());
    any::<&Tensor>().try_take(any::<&Tensor>());
    ops::put(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_put(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::put_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_put_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().put(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_put(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().put_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_put_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().put_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_put_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().put_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_put_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::take_along_dim(any::<&Tensor>(), any::<&Tensor>());
    ops::try_take_along_dim(any::<&Tensor>(), any::<&Tensor>());
    ops::take_along_dim_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_take_along_dim_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().take_along_dim(any::<&Tensor>());
    any::<&Tensor>().try_take_along_dim(any::<&Tensor>());
    any::<&Tensor>().take_along_dim_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_take_along_dim_with(any::<&Tensor>(), |o| o);
    ops::index_put(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>());
    ops::try_index_put(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>());
    ops::index_put_with(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    ops::try_index_put_with(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().index_put(any::<&[Tensor]>(), any::<&Tensor>());
    any::<&Tensor>().try_index_put(any::<&[Tensor]>(), any::<&Tensor>());
    any::<&Tensor>().index_put_with(any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_index_put_with(any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().index_put_(any::<&[Tensor]>(), any::<&Tensor>());
    any::<&Tensor>().try_index_put_(any::<&[Tensor]>(), any::<&Tensor>());
    any::<&Tensor>().index_put_with_(any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_index_put_with_(any::<&[Tensor]>(), any::<&Tensor>(), |o| o);
    ops::argwhere(any::<&Tensor>());
    ops::try_argwhere(any::<&Tensor>());
    any::<&Tensor>().argwhere();
    any::<&Tensor>().try_argwhere();
    ops::masked_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_masked_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().masked_scatter(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_masked_scatter(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().masked_scatter_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_masked_scatter_(any::<&Tensor>(), any::<&Tensor>());
    ops::scatter_reduce(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::try_scatter_reduce(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::scatter_reduce_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    ops::try_scatter_reduce_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().scatter_reduce(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().try_scatter_reduce(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().scatter_reduce_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().try_scatter_reduce_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().scatter_reduce_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().try_scatter_reduce_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().scatter_reduce_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().try_scatter_reduce_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    ops::index_reduce(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::try_index_reduce(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::index_reduce_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    ops::try_index_reduce_with(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().index_reduce(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().try_index_reduce(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().index_reduce_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().try_index_reduce_with(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().index_reduce_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().try_index_reduce_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    any::<&Tensor>().index_reduce_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    any::<&Tensor>().try_index_reduce_with_(any::<i64>(), any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>(), |o| o);
    ops::segment_reduce(any::<&Tensor>(), any::<Reduce>());
    ops::try_segment_reduce(any::<&Tensor>(), any::<Reduce>());
    ops::segment_reduce_with(any::<&Tensor>(), any::<Reduce>(), |o| o);
    ops::try_segment_reduce_with(any::<&Tensor>(), any::<Reduce>(), |o| o);
}

pub fn linalg() {
    ops::linalg::cholesky(any::<&Tensor>());
    ops::linalg::try_cholesky(any::<&Tensor>());
    ops::linalg::cholesky_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_cholesky_with(any::<&Tensor>(), |o| o);
    ops::linalg::cholesky_ex(any::<&Tensor>());
    ops::linalg::try_cholesky_ex(any::<&Tensor>());
    ops::linalg::cholesky_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_cholesky_ex_with(any::<&Tensor>(), |o| o);
    ops::cholesky(any::<&Tensor>());
    ops::try_cholesky(any::<&Tensor>());
    ops::cholesky_with(any::<&Tensor>(), |o| o);
    ops::try_cholesky_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().cholesky();
    any::<&Tensor>().try_cholesky();
    any::<&Tensor>().cholesky_with(|o| o);
    any::<&Tensor>().try_cholesky_with(|o| o);
    ops::linalg::solve_triangular(any::<&Tensor>(), any::<&Tensor>(), any::<bool>());
    ops::linalg::try_solve_triangular(any::<&Tensor>(), any::<&Tensor>(), any::<bool>());
    ops::linalg::solve_triangular_with(any::<&Tensor>(), any::<&Tensor>(), any::<bool>(), |o| o);
    ops::linalg::try_solve_triangular_with(any::<&Tensor>(), any::<&Tensor>(), any::<bool>(), |o| o);
    ops::triangular_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::try_triangular_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::triangular_solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_triangular_solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().triangular_solve(any::<&Tensor>());
    any::<&Tensor>().try_triangular_solve(any::<&Tensor>());
    any::<&Tensor>().triangular_solve_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_triangular_solve_with(any::<&Tensor>(), |o| o);
    ops::cholesky_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::try_cholesky_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::cholesky_solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_cholesky_solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().cholesky_solve(any::<&Tensor>());
    any::<&Tensor>().try_cholesky_solve(any::<&Tensor>());
    any::<&Tensor>().cholesky_solve_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_cholesky_solve_with(any::<&Tensor>(), |o| o);
    ops::cholesky_inverse(any::<&Tensor>());
    ops::try_cholesky_inverse(any::<&Tensor>());
    ops::cholesky_inverse_with(any::<&Tensor>(), |o| o);
    ops::try_cholesky_inverse_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().cholesky_inverse();
    any::<&Tensor>().try_cholesky_inverse();
    any::<&Tensor>().cholesky_inverse_with(|o| o);
    any::<&Tensor>().try_cholesky_inverse_with(|o| o);
    ops::linalg::ldl_factor(any::<&Tensor>());
    ops::linalg::try_ldl_factor(any::<&Tensor>());
    ops::linalg::ldl_factor_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_ldl_factor_with(any::<&Tensor>(), |o| o);
    ops::linalg::ldl_factor_ex(any::<&Tensor>());
    ops::linalg::try_ldl_factor_ex(any::<&Tensor>());
    ops::linalg::ldl_factor_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_ldl_factor_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::ldl_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_ldl_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::ldl_solve_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_ldl_solve_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::lu(any::<&Tensor>());
    ops::linalg::try_lu(any::<&Tensor>());
    ops::linalg::lu_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_lu_with(any::<&Tensor>(), |o| o);
    ops::linalg::lu_factor(any::<&Tensor>());
    ops::linalg::try_lu_factor(any::<&Tensor>());
    ops::linalg::lu_factor_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_lu_factor_with(any::<&Tensor>(), |o| o);
    ops::linalg::lu_factor_ex(any::<&Tensor>());
    ops::linalg::try_lu_factor_ex(any::<&Tensor>());
    ops::linalg::lu_factor_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_lu_factor_ex_with(any::<&Tensor>(), |o| o);
    ops::lu(any::<&Tensor>());
    ops::try_lu(any::<&Tensor>());
    ops::lu_with(any::<&Tensor>(), |o| o);
    ops::try_lu_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().lu();
    any::<&Tensor>().try_lu();
    any::<&Tensor>().lu_with(|o| o);
    any::<&Tensor>().try_lu_with(|o| o);
    ops::lu_unpack(any::<&Tensor>(), any::<&Tensor>());
    ops::try_lu_unpack(any::<&Tensor>(), any::<&Tensor>());
    ops::lu_unpack_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_lu_unpack_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::lu_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_lu_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::lu_solve_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_lu_solve_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::lu_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_lu_solve(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().lu_solve(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_lu_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::solve(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_solve(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_solve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::solve_ex(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_solve_ex(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::solve_ex_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_solve_ex_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::inv(any::<&Tensor>());
    ops::linalg::try_inv(any::<&Tensor>());
    ops::inverse(any::<&Tensor>());
    ops::try_inverse(any::<&Tensor>());
    any::<&Tensor>().inverse();
    any::<&Tensor>().try_inverse();
    ops::linalg::inv_ex(any::<&Tensor>());
    ops::linalg::try_inv_ex(any::<&Tensor>());
    ops::linalg::inv_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_inv_ex_with(any::<&Tensor>(), |o| o);
    ops::linalg::tensorinv(any::<&Tensor>());
    ops::linalg::try_tensorinv(any::<&Tensor>());
    ops::linalg::tensorinv_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_tensorinv_with(any::<&Tensor>(), |o| o);
    ops::linalg::tensorsolve(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_tensorsolve(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::tensorsolve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_tensorsolve_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::det(any::<&Tensor>());
    ops::linalg::try_det(any::<&Tensor>());
    ops::det(any::<&Tensor>());
    ops::try_det(any::<&Tensor>());
    any::<&Tensor>().det();
    any::<&Tensor>().try_det();
    ops::linalg::slogdet(any::<&Tensor>());
    ops::linalg::try_slogdet(any::<&Tensor>());
    ops::slogdet(any::<&Tensor>());
    ops::try_slogdet(any::<&Tensor>());
    any::<&Tensor>().slogdet();
    any::<&Tensor>().try_slogdet();
    ops::logdet(any::<&Tensor>());
    ops::try_logdet(any::<&Tensor>());
    any::<&Tensor>().logdet();
    any::<&Tensor>().try_logdet();
    ops::linalg::qr(any::<&Tensor>());
    ops::linalg::try_qr(any::<&Tensor>());
    ops::linalg::qr_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_qr_with(any::<&Tensor>(), |o| o);
    ops::qr(any::<&Tensor>());
    ops::try_qr(any::<&Tensor>());
    ops::qr_with(any::<&Tensor>(), |o| o);
    ops::try_qr_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().qr();
    any::<&Tensor>().try_qr();
    any::<&Tensor>().qr_with(|o| o);
    any::<&Tensor>().try_qr_with(|o| o);
    ops::geqrf(any::<&Tensor>());
    ops::try_geqrf(any::<&Tensor>());
    any::<&Tensor>().geqrf();
    any::<&Tensor>().try_geqrf();
    ops::linalg::householder_product(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_householder_product(any::<&Tensor>(), any::<&Tensor>());
    ops::orgqr(any::<&Tensor>(), any::<&Tensor>());
    ops::try_orgqr(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().orgqr(any::<&Tensor>());
    any::<&Tensor>().try_orgqr(any::<&Tensor>());
    ops::ormqr(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_ormqr(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::ormqr_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_ormqr_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().ormqr(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_ormqr(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().ormqr_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_ormqr_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::eigh(any::<&Tensor>());
    ops::linalg::try_eigh(any::<&Tensor>());
    ops::linalg::eigh_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_eigh_with(any::<&Tensor>(), |o| o);
    ops::linalg::eigvalsh(any::<&Tensor>());
    ops::linalg::try_eigvalsh(any::<&Tensor>());
    ops::linalg::eigvalsh_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_eigvalsh_with(any::<&Tensor>(), |o| o);
    ops::linalg::eig(any::<&Tensor>());
    ops::linalg::try_eig(any::<&Tensor>());
    ops::linalg::eigvals(any::<&Tensor>());
    ops::linalg::try_eigvals(any::<&Tensor>());
    ops::linalg::svd(any::<&Tensor>());
    ops::linalg::try_svd(any::<&Tensor>());
    ops::linalg::svd_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_svd_with(any::<&Tensor>(), |o| o);
    ops::linalg::svdvals(any::<&Tensor>());
    ops::linalg::try_svdvals(any::<&Tensor>());
    ops::linalg::svdvals_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_svdvals_with(any::<&Tensor>(), |o| o);
    ops::svd(any::<&Tensor>());
    ops::try_svd(any::<&Tensor>());
    ops::svd_with(any::<&Tensor>(), |o| o);
    ops::try_svd_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().svd();
    any::<&Tensor>().try_svd();
    any::<&Tensor>().svd_with(|o| o);
    any::<&Tensor>().try_svd_with(|o| o);
    ops::linalg::pinv(any::<&Tensor>());
    ops::linalg::try_pinv(any::<&Tensor>());
    ops::linalg::pinv_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_pinv_with(any::<&Tensor>(), |o| o);
    ops::linalg::pinv_tensors(any::<&Tensor>());
    ops::linalg::try_pinv_tensors(any::<&Tensor>());
    ops::linalg::pinv_tensors_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_pinv_tensors_with(any::<&Tensor>(), |o| o);
    ops::linalg::pinv_rcond(any::<&Tensor>(), any::<f64>());
    ops::linalg::try_pinv_rcond(any::<&Tensor>(), any::<f64>());
    ops::linalg::pinv_rcond_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::try_pinv_rcond_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::pinv_rcond_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_pinv_rcond_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::pinv_rcond_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_pinv_rcond_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::pinverse(any::<&Tensor>());
    ops::try_pinverse(any::<&Tensor>());
    ops::pinverse_with(any::<&Tensor>(), |o| o);
    ops::try_pinverse_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().pinverse();
    any::<&Tensor>().try_pinverse();
    any::<&Tensor>().pinverse_with(|o| o);
    any::<&Tensor>().try_pinverse_with(|o| o);
    ops::linalg::matrix_rank(any::<&Tensor>());
    ops::linalg::try_matrix_rank(any::<&Tensor>());
    ops::linalg::matrix_rank_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_matrix_rank_with(any::<&Tensor>(), |o| o);
    ops::linalg::matrix_rank_tensors(any::<&Tensor>());
    ops::linalg::try_matrix_rank_tensors(any::<&Tensor>());
    ops::linalg::matrix_rank_tensors_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_matrix_rank_tensors_with(any::<&Tensor>(), |o| o);
    ops::linalg::matrix_rank_tol(any::<&Tensor>(), any::<f64>());
    ops::linalg::try_matrix_rank_tol(any::<&Tensor>(), any::<f64>());
    ops::linalg::matrix_rank_tol_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::try_matrix_rank_tol_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::matrix_rank_tol_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_matrix_rank_tol_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::matrix_rank_tol_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_matrix_rank_tol_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::lstsq(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_lstsq(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::lstsq_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_lstsq_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::svd_lowrank(any::<&Tensor>());
    ops::try_svd_lowrank(any::<&Tensor>());
    ops::svd_lowrank_with(any::<&Tensor>(), |o| o);
    ops::try_svd_lowrank_with(any::<&Tensor>(), |o| o);
    ops::pca_lowrank(any::<&Tensor>());
    ops::try_pca_lowrank(any::<&Tensor>());
    ops::pca_lowrank_with(any::<&Tensor>(), |o| o);
    ops::try_pca_lowrank_with(any::<&Tensor>(), |o| o);
    ops::lobpcg(any::<&Tensor>());
    ops::try_lobpcg(any::<&Tensor>());
    ops::lobpcg_with(any::<&Tensor>(), |o| o);
    ops::try_lobpcg_with(any::<&Tensor>(), |o| o);
    ops::nuclear_norm(any::<&Tensor>());
    ops::try_nuclear_norm(any::<&Tensor>());
    ops::nuclear_norm_with(any::<&Tensor>(), |o| o);
    ops::try_nuclear_norm_with(any::<&Tensor>(), |o| o);
    ops::nuclear_norm_dim(any::<&Tensor>(), any::<i64>());
    ops::try_nuclear_norm_dim(any::<&Tensor>(), any::<i64>());
    ops::nuclear_norm_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_nuclear_norm_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::linalg::cond(any::<&Tensor>());
    ops::linalg::try_cond(any::<&Tensor>());
    ops::linalg::cond_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_cond_with(any::<&Tensor>(), |o| o);
    ops::linalg::cond_named(any::<&Tensor>(), any::<MatrixNorm>());
    ops::linalg::try_cond_named(any::<&Tensor>(), any::<MatrixNorm>());
}

pub fn matmul() {
    ops::mm(any::<&Tensor>(), any::<&Tensor>());
    ops::try_mm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().mm(any::<&Tensor>());
    any::<&Tensor>().try_mm(any::<&Tensor>());
    ops::bmm(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bmm(any::<&Tensor>());
    any::<&Tensor>().try_bmm(any::<&Tensor>());
    ops::baddbmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_baddbmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::baddbmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_baddbmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().baddbmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_baddbmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().baddbmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_baddbmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().baddbmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_baddbmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().baddbmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_baddbmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::addmv(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addmv(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addmv_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addmv_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addmv(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addmv(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addmv_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addmv_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addmv_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addmv_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addmv_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addmv_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::addr(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addr(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addr_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addr_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addr(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addr(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addr_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addr_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addr_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addr_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addr_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addr_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::addbmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addbmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addbmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addbmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addbmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addbmm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addbmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addbmm_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addbmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addbmm_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addbmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addbmm_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::mv(any::<&Tensor>(), any::<&Tensor>());
    ops::try_mv(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().mv(any::<&Tensor>());
    any::<&Tensor>().try_mv(any::<&Tensor>());
    ops::dot(any::<&Tensor>(), any::<&Tensor>());
    ops::try_dot(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().dot(any::<&Tensor>());
    any::<&Tensor>().try_dot(any::<&Tensor>());
    ops::outer(any::<&Tensor>(), any::<&Tensor>());
    ops::try_outer(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().outer(any::<&Tensor>());
    any::<&Tensor>().try_outer(any::<&Tensor>());
    ops::matmul(any::<&Tensor>(), any::<&Tensor>());
    ops::try_matmul(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().matmul(any::<&Tensor>());
    any::<&Tensor>().try_matmul(any::<&Tensor>());
    ops::linalg::matmul(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_matmul(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::linear(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_linear(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::linear_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_linear_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::einsum(any::<&str>(), any::<&[Tensor]>());
    ops::try_einsum(any::<&str>(), any::<&[Tensor]>());
    ops::tensordot(any::<&Tensor>(), any::<&Tensor>());
    ops::try_tensordot(any::<&Tensor>(), any::<&Tensor>());
    ops::tensordot_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_tensordot_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::tensordot_dims(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_tensordot_dims(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::inner(any::<&Tensor>(), any::<&Tensor>());
    ops::try_inner(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().inner(any::<&Tensor>());
    any::<&Tensor>().try_inner(any::<&Tensor>());
    ops::kron(any::<&Tensor>(), any::<&Tensor>());
    ops::try_kron(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().kron(any::<&Tensor>());
    any::<&Tensor>().try_kron(any::<&Tensor>());
    ops::linalg::cross(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_cross(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::cross_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_cross_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::cross(any::<&Tensor>(), any::<&Tensor>());
    ops::try_cross(any::<&Tensor>(), any::<&Tensor>());
    ops::cross_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_cross_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().cross(any::<&Tensor>());
    any::<&Tensor>().try_cross(any::<&Tensor>());
    any::<&Tensor>().cross_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_cross_with(any::<&Tensor>(), |o| o);
    ops::linalg::vecdot(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::try_vecdot(any::<&Tensor>(), any::<&Tensor>());
    ops::linalg::vecdot_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::try_vecdot_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::linalg::diagonal(any::<&Tensor>());
    ops::linalg::try_diagonal(any::<&Tensor>());
    ops::linalg::diagonal_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_diagonal_with(any::<&Tensor>(), |o| o);
    ops::linalg::multi_dot(any::<&[Tensor]>());
    ops::linalg::try_multi_dot(any::<&[Tensor]>());
    ops::chain_matmul(any::<&[Tensor]>());
    ops::try_chain_matmul(any::<&[Tensor]>());
    ops::linalg::matrix_power(any::<&Tensor>(), any::<i64>());
    ops::linalg::try_matrix_power(any::<&Tensor>(), any::<i64>());
    ops::matrix_power(any::<&Tensor>(), any::<i64>());
    ops::try_matrix_power(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().matrix_power(any::<i64>());
    any::<&Tensor>().try_matrix_power(any::<i64>());
    ops::linalg::vander(any::<&Tensor>());
    ops::linalg::try_vander(any::<&Tensor>());
    ops::linalg::vander_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_vander_with(any::<&Tensor>(), |o| o);
    ops::cdist(any::<&Tensor>(), any::<&Tensor>());
    ops::try_cdist(any::<&Tensor>(), any::<&Tensor>());
    ops::cdist_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_cdist_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::pdist(any::<&Tensor>());
    ops::nn::try_pdist(any::<&Tensor>());
    ops::nn::pdist_with(any::<&Tensor>(), |o| o);
    ops::nn::try_pdist_with(any::<&Tensor>(), |o| o);
    ops::pdist(any::<&Tensor>());
    ops::try_pdist(any::<&Tensor>());
    ops::pdist_with(any::<&Tensor>(), |o| o);
    ops::try_pdist_with(any::<&Tensor>(), |o| o);
    ops::vdot(any::<&Tensor>(), any::<&Tensor>());
    ops::try_vdot(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().vdot(any::<&Tensor>());
    any::<&Tensor>().try_vdot(any::<&Tensor>());
    ops::vander(any::<&Tensor>());
    ops::try_vander(any::<&Tensor>());
    ops::vander_with(any::<&Tensor>(), |o| o);
    ops::try_vander_with(any::<&Tensor>(), |o| o);
    ops::matrix_exp(any::<&Tensor>());
    ops::try_matrix_exp(any::<&Tensor>());
    any::<&Tensor>().matrix_exp();
    any::<&Tensor>().try_matrix_exp();
    ops::linalg::matrix_exp(any::<&Tensor>());
    ops::linalg::try_matrix_exp(any::<&Tensor>());
}

pub fn memory() {
    ops::clone(any::<&Tensor>());
    ops::try_clone(any::<&Tensor>());
    ops::clone_with(any::<&Tensor>(), |o| o);
    ops::try_clone_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().copy_(any::<&Tensor>());
    any::<&Tensor>().try_copy_(any::<&Tensor>());
    ops::fill(any::<&Tensor>(), any::<&Tensor>());
    ops::try_fill(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().fill_(any::<&Tensor>());
    any::<&Tensor>().try_fill_(any::<&Tensor>());
    any::<&Tensor>().zero_();
    any::<&Tensor>().try_zero_();
    ops::detach(any::<&Tensor>());
    ops::try_detach(any::<&Tensor>());
    any::<&Tensor>().to(any::<DType>());
    any::<&Tensor>().try_to(any::<DType>());
    any::<&Tensor>().to_with(any::<DType>(), |o| o);
    any::<&Tensor>().try_to_with(any::<DType>(), |o| o);
    any::<&Tensor>().to_like(any::<&Tensor>());
    any::<&Tensor>().try_to_like(any::<&Tensor>());
    any::<&Tensor>().to_like_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_to_like_with(any::<&Tensor>(), |o| o);
    ops::zero_(any::<&Tensor>());
    ops::try_zero_(any::<&Tensor>());
}

pub fn nn() {
    ops::nn::cross_entropy(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_cross_entropy(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::cross_entropy_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_cross_entropy_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::nll_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_nll_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::mse_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_mse_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::mse_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_mse_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::l1_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_l1_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::l1_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_l1_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::gelu(any::<&Tensor>());
    ops::nn::try_gelu(any::<&Tensor>());
    ops::nn::gelu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_gelu_with(any::<&Tensor>(), |o| o);
    ops::nn::layer_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::try_layer_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::layer_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_layer_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::embedding(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_embedding(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::embedding_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_embedding_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::one_hot(any::<&Tensor>());
    ops::nn::try_one_hot(any::<&Tensor>());
    ops::nn::one_hot_with(any::<&Tensor>(), |o| o);
    ops::nn::try_one_hot_with(any::<&Tensor>(), |o| o);
    ops::nn::dropout(any::<&Tensor>());
    ops::nn::try_dropout(any::<&Tensor>());
    ops::nn::dropout_with(any::<&Tensor>(), |o| o);
    ops::nn::try_dropout_with(any::<&Tensor>(), |o| o);
    ops::native_layer_norm(any::<&Tensor>(), any::<i64>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<f64>());
    ops::try_native_layer_norm(any::<&Tensor>(), any::<i64>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<f64>());
    ops::native_group_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<f64>());
    ops::try_native_group_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<f64>());
    ops::native_batch_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::try_native_batch_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::native_batch_norm_legit(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<&Tensor>(), any::<&Tensor>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::try_native_batch_norm_legit(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<&Tensor>(), any::<&Tensor>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::native_batch_norm_legit_own(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::try_native_batch_norm_legit_own(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), any::<bool>(), any::<f64>(), any::<f64>());
    ops::native_dropout(any::<&Tensor>(), any::<f64>(), any::<Option<bool>>());
    ops::try_native_dropout(any::<&Tensor>(), any::<f64>(), any::<Option<bool>>());
    ops::nn::elu(any::<&Tensor>());
    ops::nn::try_elu(any::<&Tensor>());
    ops::nn::elu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_elu_with(any::<&Tensor>(), |o| o);
    ops::nn::elu_(any::<&Tensor>());
    ops::nn::try_elu_(any::<&Tensor>());
    ops::nn::elu_with_(any::<&Tensor>(), |o| o);
    ops::nn::try_elu_with_(any::<&Tensor>(), |o| o);
    ops::nn::selu(any::<&Tensor>());
    ops::nn::try_selu(any::<&Tensor>());
    ops::nn::selu_(any::<&Tensor>());
    ops::nn::try_selu_(any::<&Tensor>());
    ops::nn::celu(any::<&Tensor>());
    ops::nn::try_celu(any::<&Tensor>());
    ops::nn::celu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_celu_with(any::<&Tensor>(), |o| o);
    ops::nn::celu_(any::<&Tensor>());
    ops::nn::try_celu_(any::<&Tensor>());
    ops::nn::celu_with_(any::<&Tensor>(), |o| o);
    ops::nn::try_celu_with_(any::<&Tensor>(), |o| o);
    ops::nn::silu(any::<&Tensor>());
    ops::nn::try_silu(any::<&Tensor>());
    ops::nn::softplus(any::<&Tensor>());
    ops::nn::try_softplus(any::<&Tensor>());
    ops::nn::softplus_with(any::<&Tensor>(), |o| o);
    ops::nn::try_softplus_with(any::<&Tensor>(), |o| o);
    ops::nn::mish(any::<&Tensor>());
    ops::nn::try_mish(any::<&Tensor>());
    ops::nn::logsigmoid(any::<&Tensor>());
    ops::nn::try_logsigmoid(any::<&Tensor>());
    ops::nn::leaky_relu(any::<&Tensor>());
    ops::nn::try_leaky_relu(any::<&Tensor>());
    ops::nn::leaky_relu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_leaky_relu_with(any::<&Tensor>(), |o| o);
    ops::nn::leaky_relu_(any::<&Tensor>());
    ops::nn::try_leaky_relu_(any::<&Tensor>());
    ops::nn::leaky_relu_with_(any::<&Tensor>(), |o| o);
    ops::nn::try_leaky_relu_with_(any::<&Tensor>(), |o| o);
    ops::nn::threshold(any::<&Tensor>(), any::<f64>(), any::<f64>());
    ops::nn::try_threshold(any::<&Tensor>(), any::<f64>(), any::<f64>());
    ops::nn::threshold_(any::<&Tensor>(), any::<f64>(), any::<f64>());
    ops::nn::try_threshold_(any::<&Tensor>(), any::<f64>(), any::<f64>());
    ops::nn::hardtanh(any::<&Tensor>());
    ops::nn::try_hardtanh(any::<&Tensor>());
    ops::nn::hardtanh_with(any::<&Tensor>(), |o| o);
    ops::nn::try_hardtanh_with(any::<&Tensor>(), |o| o);
    ops::nn::hardtanh_(any::<&Tensor>());
    ops::nn::try_hardtanh_(any::<&Tensor>());
    ops::nn::hardtanh_with_(any::<&Tensor>(), |o| o);
    ops::nn::try_hardtanh_with_(any::<&Tensor>(), |o| o);
    ops::nn::relu6(any::<&Tensor>());
    ops::nn::try_relu6(any::<&Tensor>());
    ops::nn::hardsigmoid(any::<&Tensor>());
    ops::nn::try_hardsigmoid(any::<&Tensor>());
    ops::nn::hardswish(any::<&Tensor>());
    ops::nn::try_hardswish(any::<&Tensor>());
    ops::nn::softshrink(any::<&Tensor>());
    ops::nn::try_softshrink(any::<&Tensor>());
    ops::nn::softshrink_with(any::<&Tensor>(), |o| o);
    ops::nn::try_softshrink_with(any::<&Tensor>(), |o| o);
    ops::nn::hardshrink(any::<&Tensor>());
    ops::nn::try_hardshrink(any::<&Tensor>());
    ops::nn::hardshrink_with(any::<&Tensor>(), |o| o);
    ops::nn::try_hardshrink_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().hardshrink();
    any::<&Tensor>().try_hardshrink();
    any::<&Tensor>().hardshrink_with(|o| o);
    any::<&Tensor>().try_hardshrink_with(|o| o);
    ops::nn::glu(any::<&Tensor>());
    ops::nn::try_glu(any::<&Tensor>());
    ops::nn::glu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_glu_with(any::<&Tensor>(), |o| o);
    ops::nn::prelu(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_prelu(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().prelu(any::<&Tensor>());
    any::<&Tensor>().try_prelu(any::<&Tensor>());
    ops::nn::softsign(any::<&Tensor>());
    ops::nn::try_softsign(any::<&Tensor>());
    ops::nn::tanhshrink(any::<&Tensor>());
    ops::nn::try_tanhshrink(any::<&Tensor>());
    ops::nn::gumbel_softmax(any::<&Tensor>());
    ops::nn::try_gumbel_softmax(any::<&Tensor>());
    ops::nn::gumbel_softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::try_gumbel_softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::smooth_l1_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_smooth_l1_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::smooth_l1_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_smooth_l1_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::huber_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_huber_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::huber_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_huber_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::soft_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_soft_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::soft_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_soft_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::multilabel_soft_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_multilabel_soft_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::multilabel_soft_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_multilabel_soft_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::binary_cross_entropy(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_binary_cross_entropy(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::binary_cross_entropy_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_binary_cross_entropy_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::binary_cross_entropy_with_logits(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_binary_cross_entropy_with_logits(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::binary_cross_entropy_with_logits_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_binary_cross_entropy_with_logits_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::kl_div(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_kl_div(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::kl_div_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_kl_div_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::margin_ranking_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_margin_ranking_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::margin_ranking_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_margin_ranking_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::hinge_embedding_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_hinge_embedding_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::hinge_embedding_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_hinge_embedding_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::cosine_embedding_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_cosine_embedding_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::cosine_embedding_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_cosine_embedding_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::triplet_margin_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_triplet_margin_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::triplet_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_triplet_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::gaussian_nll_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_gaussian_nll_loss(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::gaussian_nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_gaussian_nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::poisson_nll_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_poisson_nll_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::poisson_nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_poisson_nll_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::cosine_similarity(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_cosine_similarity(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::cosine_similarity_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_cosine_similarity_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::pairwise_distance(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_pairwise_distance(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::pairwise_distance_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_pairwise_distance_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::normalize(any::<&Tensor>());
    ops::nn::try_normalize(any::<&Tensor>());
    ops::nn::normalize_with(any::<&Tensor>(), |o| o);
    ops::nn::try_normalize_with(any::<&Tensor>(), |o| o);
    ops::nn::batch_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>());
    ops::nn::try_batch_norm(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>());
    ops::nn::batch_norm_with(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), |o| o);
    ops::nn::try_batch_norm_with(any::<&Tensor>(), any::<Option<&Tensor>>(), any::<Option<&Tensor>>(), |o| o);
    ops::nn::instance_norm(any::<&Tensor>());
    ops::nn::try_instance_norm(any::<&Tensor>());
    ops::nn::instance_norm_with(any::<&Tensor>(), |o| o);
    ops::nn::try_instance_norm_with(any::<&Tensor>(), |o| o);
    ops::nn::group_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::try_group_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::group_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_group_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::rms_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::try_rms_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::rms_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_rms_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::local_response_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::try_local_response_norm(any::<&Tensor>(), any::<i64>());
    ops::nn::local_response_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_local_response_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::scaled_dot_product_attention(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_scaled_dot_product_attention(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::scaled_dot_product_attention_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_scaled_dot_product_attention_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::dropout1d(any::<&Tensor>());
    ops::nn::try_dropout1d(any::<&Tensor>());
    ops::nn::dropout1d_with(any::<&Tensor>(), |o| o);
    ops::nn::try_dropout1d_with(any::<&Tensor>(), |o| o);
    ops::nn::dropout2d(any::<&Tensor>());
    ops::nn::try_dropout2d(any::<&Tensor>());
    ops::nn::dropout2d_with(any::<&Tensor>(), |o| o);
    ops::nn::try_dropout2d_with(any::<&Tensor>(), |o| o);
    ops::nn::dropout3d(any::<&Tensor>());
    ops::nn::try_dropout3d(any::<&Tensor>());
    ops::nn::dropout3d_with(any::<&Tensor>(), |o| o);
    ops::nn::try_dropout3d_with(any::<&Tensor>(), |o| o);
    ops::nn::alpha_dropout(any::<&Tensor>());
    ops::nn::try_alpha_dropout(any::<&Tensor>());
    ops::nn::alpha_dropout_with(any::<&Tensor>(), |o| o);
    ops::nn::try_alpha_dropout_with(any::<&Tensor>(), |o| o);
    ops::nn::feature_alpha_dropout(any::<&Tensor>());
    ops::nn::try_feature_alpha_dropout(any::<&Tensor>());
    ops::nn::feature_alpha_dropout_with(any::<&Tensor>(), |o| o);
    ops::nn::try_feature_alpha_dropout_with(any::<&Tensor>(), |o| o);
    ops::dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::try_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::feature_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::try_feature_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::alpha_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::try_alpha_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::feature_alpha_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::try_feature_alpha_dropout(any::<&Tensor>(), any::<f64>(), any::<bool>());
    ops::nn::embedding_bag(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_embedding_bag(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::embedding_bag_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_embedding_bag_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::ctc_loss(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::nn::try_ctc_loss(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::nn::ctc_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::nn::try_ctc_loss_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::nn::ctc_loss_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_ctc_loss_tensors(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::ctc_loss_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_ctc_loss_tensors_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::bilinear(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_bilinear(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::nn::bilinear_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_bilinear_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::rrelu(any::<&Tensor>());
    ops::nn::try_rrelu(any::<&Tensor>());
    ops::nn::rrelu_with(any::<&Tensor>(), |o| o);
    ops::nn::try_rrelu_with(any::<&Tensor>(), |o| o);
    ops::nn::rrelu_(any::<&Tensor>());
    ops::nn::try_rrelu_(any::<&Tensor>());
    ops::nn::rrelu_with_(any::<&Tensor>(), |o| o);
    ops::nn::try_rrelu_with_(any::<&Tensor>(), |o| o);
    ops::nn::multi_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_multi_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::multi_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_multi_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::multilabel_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_multilabel_margin_loss(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::multilabel_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_multilabel_margin_loss_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv1d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv1d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv2d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv2d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv3d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv3d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv_transpose1d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv_transpose1d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv_transpose1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv_transpose1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv_transpose2d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv_transpose2d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv_transpose2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv_transpose2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::conv_transpose3d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_conv_transpose3d(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::conv_transpose3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_conv_transpose3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv1d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv1d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv2d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv2d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv3d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv3d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv_transpose1d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv_transpose1d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv_transpose1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv_transpose1d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv_transpose2d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv_transpose2d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv_transpose2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv_transpose2d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::conv_transpose3d(any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv_transpose3d(any::<&Tensor>(), any::<&Tensor>());
    ops::conv_transpose3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv_transpose3d_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::convolution(any::<&Tensor>(), any::<&Tensor>(), any::<Option<&Tensor>>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<bool>(), any::<i64>(), any::<i64>());
    ops::try_convolution(any::<&Tensor>(), any::<&Tensor>(), any::<Option<&Tensor>>(), any::<i64>(), any::<i64>(), any::<i64>(), any::<bool>(), any::<i64>(), any::<i64>());
    ops::conv_tbc(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_conv_tbc(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::conv_tbc_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_conv_tbc_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::unfold(any::<&Tensor>(), any::<i64>());
    ops::nn::try_unfold(any::<&Tensor>(), any::<i64>());
    ops::nn::unfold_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_unfold_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::fold(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::nn::try_fold(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::nn::fold_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::nn::try_fold_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::nn::fractional_max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_fractional_max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::fractional_max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_fractional_max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::fractional_max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_fractional_max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::fractional_max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_fractional_max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::fractional_max_pool2d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_fractional_max_pool2d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::fractional_max_pool2d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_fractional_max_pool2d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::fractional_max_pool3d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_fractional_max_pool3d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::fractional_max_pool3d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_fractional_max_pool3d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool1d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool1d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool2d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool2d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool2d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool2d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_pool3d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_pool3d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::max_pool3d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_pool3d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::try_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::max_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_max_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::try_max_pool2d(any::<&Tensor>(), any::<i64>());
    ops::max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_max_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::try_max_pool3d(any::<&Tensor>(), any::<i64>());
    ops::max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_max_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::try_max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::max_pool1d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_max_pool1d_with_indices_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::avg_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_avg_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::avg_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_avg_pool2d(any::<&Tensor>(), any::<i64>());
    ops::nn::avg_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_avg_pool2d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::avg_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_avg_pool3d(any::<&Tensor>(), any::<i64>());
    ops::nn::avg_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_avg_pool3d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::try_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::avg_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_avg_pool1d_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::adaptive_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_adaptive_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::adaptive_avg_pool2d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_avg_pool2d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::adaptive_avg_pool3d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_avg_pool3d(any::<&Tensor>(), any::<OutputSize>());
    ops::adaptive_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::try_adaptive_avg_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::adaptive_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::try_adaptive_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::adaptive_max_pool2d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_max_pool2d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::adaptive_max_pool3d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_max_pool3d(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::adaptive_max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::try_adaptive_max_pool1d_with_indices(any::<&Tensor>(), any::<i64>());
    ops::nn::adaptive_max_pool2d_with_indices(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_max_pool2d_with_indices(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::adaptive_max_pool3d_with_indices(any::<&Tensor>(), any::<OutputSize>());
    ops::nn::try_adaptive_max_pool3d_with_indices(any::<&Tensor>(), any::<OutputSize>());
    ops::adaptive_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::try_adaptive_max_pool1d(any::<&Tensor>(), any::<i64>());
    ops::nn::lp_pool1d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::try_lp_pool1d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::lp_pool1d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::try_lp_pool1d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::lp_pool2d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::try_lp_pool2d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::lp_pool2d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::try_lp_pool2d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::lp_pool3d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::try_lp_pool3d(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::nn::lp_pool3d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::try_lp_pool3d_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::nn::max_unpool1d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_unpool1d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::max_unpool1d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_unpool1d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_unpool2d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_unpool2d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::max_unpool2d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_unpool2d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::max_unpool3d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::try_max_unpool3d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>());
    ops::nn::max_unpool3d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_max_unpool3d_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::pad(any::<&Tensor>(), any::<i64>());
    ops::nn::try_pad(any::<&Tensor>(), any::<i64>());
    ops::nn::pad_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_pad_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::constant_pad_nd(any::<&Tensor>(), any::<i64>());
    ops::try_constant_pad_nd(any::<&Tensor>(), any::<i64>());
    ops::constant_pad_nd_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_constant_pad_nd_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::pixel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::try_pixel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::pixel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::try_pixel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::pixel_unshuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::try_pixel_unshuffle(any::<&Tensor>(), any::<i64>());
    ops::pixel_unshuffle(any::<&Tensor>(), any::<i64>());
    ops::try_pixel_unshuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::channel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::try_channel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::channel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::try_channel_shuffle(any::<&Tensor>(), any::<i64>());
    ops::nn::interpolate(any::<&Tensor>());
    ops::nn::try_interpolate(any::<&Tensor>());
    ops::nn::interpolate_with(any::<&Tensor>(), |o| o);
    ops::nn::try_interpolate_with(any::<&Tensor>(), |o| o);
    ops::nn::upsample(any::<&Tensor>());
    ops::nn::try_upsample(any::<&Tensor>());
    ops::nn::upsample_with(any::<&Tensor>(), |o| o);
    ops::nn::try_upsample_with(any::<&Tensor>(), |o| o);
    ops::nn::upsample_nearest(any::<&Tensor>());
    ops::nn::try_upsample_nearest(any::<&Tensor>());
    ops::nn::upsample_nearest_with(any::<&Tensor>(), |o| o);
    ops::nn::try_upsample_nearest_with(any::<&Tensor>(), |o| o);
    ops::nn::upsample_bilinear(any::<&Tensor>());
    ops::nn::try_upsample_bilinear(any::<&Tensor>());
    ops::nn::upsample_bilinear_with(any::<&Tensor>(), |o| o);
    ops::nn::try_upsample_bilinear_with(any::<&Tensor>(), |o| o);
    ops::nn::grid_sample(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::try_grid_sample(any::<&Tensor>(), any::<&Tensor>());
    ops::nn::grid_sample_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nn::try_grid_sample_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::grid_sampler(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::try_grid_sampler(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::grid_sampler_2d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::try_grid_sampler_2d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::grid_sampler_3d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::try_grid_sampler_3d(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<bool>());
    ops::nn::affine_grid(any::<&Tensor>(), any::<i64>());
    ops::nn::try_affine_grid(any::<&Tensor>(), any::<i64>());
    ops::nn::affine_grid_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::nn::try_affine_grid_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::affine_grid_generator(any::<&Tensor>(), any::<i64>(), any::<bool>());
    ops::try_affine_grid_generator(any::<&Tensor>(), any::<i64>(), any::<bool>());
}

pub fn pointwise() {
    ops::add(any::<&Tensor>(), any::<&Tensor>());
    ops::try_add(any::<&Tensor>(), any::<&Tensor>());
    ops::add_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_add_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().add(any::<&Tensor>());
    any::<&Tensor>().try_add(any::<&Tensor>());
    any::<&Tensor>().add_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_add_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().add_(any::<&Tensor>());
    any::<&Tensor>().try_add_(any::<&Tensor>());
    any::<&Tensor>().add_with_(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_add_with_(any::<&Tensor>(), |o| o);
    ops::sub(any::<&Tensor>(), any::<&Tensor>());
    ops::try_sub(any::<&Tensor>(), any::<&Tensor>());
    ops::sub_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_sub_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().sub(any::<&Tensor>());
    any::<&Tensor>().try_sub(any::<&Tensor>());
    any::<&Tensor>().sub_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_sub_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().sub_(any::<&Tensor>());
    any::<&Tensor>().try_sub_(any::<&Tensor>());
    any::<&Tensor>().sub_with_(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_sub_with_(any::<&Tensor>(), |o| o);
    ops::rsub(any::<&Tensor>(), any::<&Tensor>());
    ops::try_rsub(any::<&Tensor>(), any::<&Tensor>());
    ops::rsub_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_rsub_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::mul(any::<&Tensor>(), any::<&Tensor>());
    ops::try_mul(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().mul(any::<&Tensor>());
    any::<&Tensor>().try_mul(any::<&Tensor>());
    any::<&Tensor>().mul_(any::<&Tensor>());
    any::<&Tensor>().try_mul_(any::<&Tensor>());
    ops::neg(any::<&Tensor>());
    ops::try_neg(any::<&Tensor>());
    any::<&Tensor>().neg();
    any::<&Tensor>().try_neg();
    any::<&Tensor>().neg_();
    any::<&Tensor>().try_neg_();
    ops::positive(any::<&Tensor>());
    ops::try_positive(any::<&Tensor>());
    any::<&Tensor>().positive();
    any::<&Tensor>().try_positive();
    ops::div(any::<&Tensor>(), any::<&Tensor>());
    ops::try_div(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().div(any::<&Tensor>());
    any::<&Tensor>().try_div(any::<&Tensor>());
    any::<&Tensor>().div_(any::<&Tensor>());
    any::<&Tensor>().try_div_(any::<&Tensor>());
    ops::div_rounded(any::<&Tensor>(), any::<&Tensor>(), any::<RoundingMode>());
    ops::try_div_rounded(any::<&Tensor>(), any::<&Tensor>(), any::<RoundingMode>());
    any::<&Tensor>().div_rounded(any::<&Tensor>(), any::<RoundingMode>());
    any::<&Tensor>().try_div_rounded(any::<&Tensor>(), any::<RoundingMode>());
    any::<&Tensor>().div_rounded_(any::<&Tensor>(), any::<RoundingMode>());
    any::<&Tensor>().try_div_rounded_(any::<&Tensor>(), any::<RoundingMode>());
    ops::floor_divide(any::<&Tensor>(), any::<&Tensor>());
    ops::try_floor_divide(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().floor_divide(any::<&Tensor>());
    any::<&Tensor>().try_floor_divide(any::<&Tensor>());
    any::<&Tensor>().floor_divide_(any::<&Tensor>());
    any::<&Tensor>().try_floor_divide_(any::<&Tensor>());
    ops::reciprocal(any::<&Tensor>());
    ops::try_reciprocal(any::<&Tensor>());
    any::<&Tensor>().reciprocal();
    any::<&Tensor>().try_reciprocal();
    any::<&Tensor>().reciprocal_();
    any::<&Tensor>().try_reciprocal_();
    ops::remainder(any::<&Tensor>(), any::<&Tensor>());
    ops::try_remainder(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().remainder(any::<&Tensor>());
    any::<&Tensor>().try_remainder(any::<&Tensor>());
    any::<&Tensor>().remainder_(any::<&Tensor>());
    any::<&Tensor>().try_remainder_(any::<&Tensor>());
    ops::fmod(any::<&Tensor>(), any::<&Tensor>());
    ops::try_fmod(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().fmod(any::<&Tensor>());
    any::<&Tensor>().try_fmod(any::<&Tensor>());
    any::<&Tensor>().fmod_(any::<&Tensor>());
    any::<&Tensor>().try_fmod_(any::<&Tensor>());
    ops::pow(any::<&Tensor>(), any::<&Tensor>());
    ops::try_pow(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().pow(any::<&Tensor>());
    any::<&Tensor>().try_pow(any::<&Tensor>());
    any::<&Tensor>().pow_(any::<&Tensor>());
    any::<&Tensor>().try_pow_(any::<&Tensor>());
    ops::square(any::<&Tensor>());
    ops::try_square(any::<&Tensor>());
    any::<&Tensor>().square();
    any::<&Tensor>().try_square();
    any::<&Tensor>().square_();
    any::<&Tensor>().try_square_();
    ops::sqrt(any::<&Tensor>());
    ops::try_sqrt(any::<&Tensor>());
    any::<&Tensor>().sqrt();
    any::<&Tensor>().try_sqrt();
    any::<&Tensor>().sqrt_();
    any::<&Tensor>().try_sqrt_();
    ops::rsqrt(any::<&Tensor>());
    ops::try_rsqrt(any::<&Tensor>());
    any::<&Tensor>().rsqrt();
    any::<&Tensor>().try_rsqrt();
    any::<&Tensor>().rsqrt_();
    any::<&Tensor>().try_rsqrt_();
    ops::tanh(any::<&Tensor>());
    ops::try_tanh(any::<&Tensor>());
    any::<&Tensor>().tanh();
    any::<&Tensor>().try_tanh();
    any::<&Tensor>().tanh_();
    any::<&Tensor>().try_tanh_();
    ops::nn::tanh(any::<&Tensor>());
    ops::nn::try_tanh(any::<&Tensor>());
    ops::sigmoid(any::<&Tensor>());
    ops::try_sigmoid(any::<&Tensor>());
    any::<&Tensor>().sigmoid();
    any::<&Tensor>().try_sigmoid();
    any::<&Tensor>().sigmoid_();
    any::<&Tensor>().try_sigmoid_();
    ops::nn::sigmoid(any::<&Tensor>());
    ops::nn::try_sigmoid(any::<&Tensor>());
    ops::relu(any::<&Tensor>());
    ops::try_relu(any::<&Tensor>());
    any::<&Tensor>().relu();
    any::<&Tensor>().try_relu();
    any::<&Tensor>().relu_();
    any::<&Tensor>().try_relu_();
    ops::nn::relu(any::<&Tensor>());
    ops::nn::try_relu(any::<&Tensor>());
    ops::abs(any::<&Tensor>());
    ops::try_abs(any::<&Tensor>());
    any::<&Tensor>().abs();
    any::<&Tensor>().try_abs();
    any::<&Tensor>().abs_();
    any::<&Tensor>().try_abs_();
    ops::sign(any::<&Tensor>());
    ops::try_sign(any::<&Tensor>());
    any::<&Tensor>().sign();
    any::<&Tensor>().try_sign();
    any::<&Tensor>().sign_();
    any::<&Tensor>().try_sign_();
    ops::floor(any::<&Tensor>());
    ops::try_floor(any::<&Tensor>());
    any::<&Tensor>().floor();
    any::<&Tensor>().try_floor();
    any::<&Tensor>().floor_();
    any::<&Tensor>().try_floor_();
    ops::ceil(any::<&Tensor>());
    ops::try_ceil(any::<&Tensor>());
    any::<&Tensor>().ceil();
    any::<&Tensor>().try_ceil();
    any::<&Tensor>().ceil_();
    any::<&Tensor>().try_ceil_();
    ops::trunc(any::<&Tensor>());
    ops::try_trunc(any::<&Tensor>());
    any::<&Tensor>().trunc();
    any::<&Tensor>().try_trunc();
    any::<&Tensor>().trunc_();
    any::<&Tensor>().try_trunc_();
    ops::round(any::<&Tensor>());
    ops::try_round(any::<&Tensor>());
    any::<&Tensor>().round();
    any::<&Tensor>().try_round();
    any::<&Tensor>().round_();
    any::<&Tensor>().try_round_();
    ops::round_decimals(any::<&Tensor>(), any::<i64>());
    ops::try_round_decimals(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().round_decimals(any::<i64>());
    any::<&Tensor>().try_round_decimals(any::<i64>());
    any::<&Tensor>().round_decimals_(any::<i64>());
    any::<&Tensor>().try_round_decimals_(any::<i64>());
    ops::eq(any::<&Tensor>(), any::<&Tensor>());
    ops::try_eq(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().eq(any::<&Tensor>());
    any::<&Tensor>().try_eq(any::<&Tensor>());
    any::<&Tensor>().eq_(any::<&Tensor>());
    any::<&Tensor>().try_eq_(any::<&Tensor>());
    ops::ne(any::<&Tensor>(), any::<&Tensor>());
    ops::try_ne(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().ne(any::<&Tensor>());
    any::<&Tensor>().try_ne(any::<&Tensor>());
    any::<&Tensor>().ne_(any::<&Tensor>());
    any::<&Tensor>().try_ne_(any::<&Tensor>());
    ops::lt(any::<&Tensor>(), any::<&Tensor>());
    ops::try_lt(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().lt(any::<&Tensor>());
    any::<&Tensor>().try_lt(any::<&Tensor>());
    any::<&Tensor>().lt_(any::<&Tensor>());
    any::<&Tensor>().try_lt_(any::<&Tensor>());
    ops::le(any::<&Tensor>(), any::<&Tensor>());
    ops::try_le(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().le(any::<&Tensor>());
    any::<&Tensor>().try_le(any::<&Tensor>());
    any::<&Tensor>().le_(any::<&Tensor>());
    any::<&Tensor>().try_le_(any::<&Tensor>());
    ops::gt(any::<&Tensor>(), any::<&Tensor>());
    ops::try_gt(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().gt(any::<&Tensor>());
    any::<&Tensor>().try_gt(any::<&Tensor>());
    any::<&Tensor>().gt_(any::<&Tensor>());
    any::<&Tensor>().try_gt_(any::<&Tensor>());
    ops::ge(any::<&Tensor>(), any::<&Tensor>());
    ops::try_ge(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().ge(any::<&Tensor>());
    any::<&Tensor>().try_ge(any::<&Tensor>());
    any::<&Tensor>().ge_(any::<&Tensor>());
    any::<&Tensor>().try_ge_(any::<&Tensor>());
    ops::equal(any::<&Tensor>(), any::<&Tensor>());
    ops::try_equal(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().equal(any::<&Tensor>());
    any::<&Tensor>().try_equal(any::<&Tensor>());
    ops::isclose(any::<&Tensor>(), any::<&Tensor>());
    ops::try_isclose(any::<&Tensor>(), any::<&Tensor>());
    ops::isclose_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_isclose_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().isclose(any::<&Tensor>());
    any::<&Tensor>().try_isclose(any::<&Tensor>());
    any::<&Tensor>().isclose_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_isclose_with(any::<&Tensor>(), |o| o);
    ops::allclose(any::<&Tensor>(), any::<&Tensor>());
    ops::try_allclose(any::<&Tensor>(), any::<&Tensor>());
    ops::allclose_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_allclose_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().allclose(any::<&Tensor>());
    any::<&Tensor>().try_allclose(any::<&Tensor>());
    any::<&Tensor>().allclose_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_allclose_with(any::<&Tensor>(), |o| o);
    ops::logical_and(any::<&Tensor>(), any::<&Tensor>());
    ops::try_logical_and(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().logical_and(any::<&Tensor>());
    any::<&Tensor>().try_logical_and(any::<&Tensor>());
    any::<&Tensor>().logical_and_(any::<&Tensor>());
    any::<&Tensor>().try_logical_and_(any::<&Tensor>());
    ops::logical_or(any::<&Tensor>(), any::<&Tensor>());
    ops::try_logical_or(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().logical_or(any::<&Tensor>());
    any::<&Tensor>().try_logical_or(any::<&Tensor>());
    any::<&Tensor>().logical_or_(any::<&Tensor>());
    any::<&Tensor>().try_logical_or_(any::<&Tensor>());
    ops::logical_xor(any::<&Tensor>(), any::<&Tensor>());
    ops::try_logical_xor(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().logical_xor(any::<&Tensor>());
    any::<&Tensor>().try_logical_xor(any::<&Tensor>());
    any::<&Tensor>().logical_xor_(any::<&Tensor>());
    any::<&Tensor>().try_logical_xor_(any::<&Tensor>());
    ops::logical_not(any::<&Tensor>());
    ops::try_logical_not(any::<&Tensor>());
    any::<&Tensor>().logical_not();
    any::<&Tensor>().try_logical_not();
    any::<&Tensor>().logical_not_();
    any::<&Tensor>().try_logical_not_();
    ops::bitwise_and(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bitwise_and(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bitwise_and(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_and(any::<&Tensor>());
    any::<&Tensor>().bitwise_and_(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_and_(any::<&Tensor>());
    ops::bitwise_or(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bitwise_or(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bitwise_or(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_or(any::<&Tensor>());
    any::<&Tensor>().bitwise_or_(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_or_(any::<&Tensor>());
    ops::bitwise_xor(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bitwise_xor(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bitwise_xor(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_xor(any::<&Tensor>());
    any::<&Tensor>().bitwise_xor_(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_xor_(any::<&Tensor>());
    ops::bitwise_not(any::<&Tensor>());
    ops::try_bitwise_not(any::<&Tensor>());
    any::<&Tensor>().bitwise_not();
    any::<&Tensor>().try_bitwise_not();
    any::<&Tensor>().bitwise_not_();
    any::<&Tensor>().try_bitwise_not_();
    ops::bitwise_left_shift(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bitwise_left_shift(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bitwise_left_shift(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_left_shift(any::<&Tensor>());
    any::<&Tensor>().bitwise_left_shift_(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_left_shift_(any::<&Tensor>());
    ops::bitwise_right_shift(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bitwise_right_shift(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().bitwise_right_shift(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_right_shift(any::<&Tensor>());
    any::<&Tensor>().bitwise_right_shift_(any::<&Tensor>());
    any::<&Tensor>().try_bitwise_right_shift_(any::<&Tensor>());
    ops::isnan(any::<&Tensor>());
    ops::try_isnan(any::<&Tensor>());
    any::<&Tensor>().isnan();
    any::<&Tensor>().try_isnan();
    ops::isinf(any::<&Tensor>());
    ops::try_isinf(any::<&Tensor>());
    any::<&Tensor>().isinf();
    any::<&Tensor>().try_isinf();
    ops::isfinite(any::<&Tensor>());
    ops::try_isfinite(any::<&Tensor>());
    any::<&Tensor>().isfinite();
    any::<&Tensor>().try_isfinite();
    ops::conj_physical(any::<&Tensor>());
    ops::try_conj_physical(any::<&Tensor>());
    any::<&Tensor>().conj_physical();
    any::<&Tensor>().try_conj_physical();
    any::<&Tensor>().conj_physical_();
    any::<&Tensor>().try_conj_physical_();
    ops::complex(any::<&Tensor>(), any::<&Tensor>());
    ops::try_complex(any::<&Tensor>(), any::<&Tensor>());
    ops::polar(any::<&Tensor>(), any::<&Tensor>());
    ops::try_polar(any::<&Tensor>(), any::<&Tensor>());
    ops::maximum(any::<&Tensor>(), any::<&Tensor>());
    ops::try_maximum(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().maximum(any::<&Tensor>());
    any::<&Tensor>().try_maximum(any::<&Tensor>());
    ops::minimum(any::<&Tensor>(), any::<&Tensor>());
    ops::try_minimum(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().minimum(any::<&Tensor>());
    any::<&Tensor>().try_minimum(any::<&Tensor>());
    ops::clamp(any::<&Tensor>());
    ops::try_clamp(any::<&Tensor>());
    ops::clamp_with(any::<&Tensor>(), |o| o);
    ops::try_clamp_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().clamp();
    any::<&Tensor>().try_clamp();
    any::<&Tensor>().clamp_with(|o| o);
    any::<&Tensor>().try_clamp_with(|o| o);
    any::<&Tensor>().clamp_();
    any::<&Tensor>().try_clamp_();
    any::<&Tensor>().clamp_with_(|o| o);
    any::<&Tensor>().try_clamp_with_(|o| o);
    ops::clamp_min(any::<&Tensor>(), any::<&Tensor>());
    ops::try_clamp_min(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().clamp_min(any::<&Tensor>());
    any::<&Tensor>().try_clamp_min(any::<&Tensor>());
    any::<&Tensor>().clamp_min_(any::<&Tensor>());
    any::<&Tensor>().try_clamp_min_(any::<&Tensor>());
    ops::clamp_max(any::<&Tensor>(), any::<&Tensor>());
    ops::try_clamp_max(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().clamp_max(any::<&Tensor>());
    any::<&Tensor>().try_clamp_max(any::<&Tensor>());
    any::<&Tensor>().clamp_max_(any::<&Tensor>());
    any::<&Tensor>().try_clamp_max_(any::<&Tensor>());
    ops::clamp_(any::<&Tensor>());
    ops::try_clamp_(any::<&Tensor>());
    ops::clamp_with_(any::<&Tensor>(), |o| o);
    ops::try_clamp_with_(any::<&Tensor>(), |o| o);
    ops::clamp_min_(any::<&Tensor>(), any::<&Tensor>());
    ops::try_clamp_min_(any::<&Tensor>(), any::<&Tensor>());
    ops::clamp_max_(any::<&Tensor>(), any::<&Tensor>());
    ops::try_clamp_max_(any::<&Tensor>(), any::<&Tensor>());
    ops::where_self(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_where_self(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().where_self(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_where_self(any::<&Tensor>(), any::<&Tensor>());
    ops::masked_fill(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_masked_fill(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().masked_fill(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_masked_fill(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().masked_fill_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_masked_fill_(any::<&Tensor>(), any::<&Tensor>());
    ops::exp(any::<&Tensor>());
    ops::try_exp(any::<&Tensor>());
    any::<&Tensor>().exp();
    any::<&Tensor>().try_exp();
    any::<&Tensor>().exp_();
    any::<&Tensor>().try_exp_();
    ops::exp2(any::<&Tensor>());
    ops::try_exp2(any::<&Tensor>());
    any::<&Tensor>().exp2();
    any::<&Tensor>().try_exp2();
    any::<&Tensor>().exp2_();
    any::<&Tensor>().try_exp2_();
    ops::expm1(any::<&Tensor>());
    ops::try_expm1(any::<&Tensor>());
    any::<&Tensor>().expm1();
    any::<&Tensor>().try_expm1();
    any::<&Tensor>().expm1_();
    any::<&Tensor>().try_expm1_();
    ops::log(any::<&Tensor>());
    ops::try_log(any::<&Tensor>());
    any::<&Tensor>().log();
    any::<&Tensor>().try_log();
    any::<&Tensor>().log_();
    any::<&Tensor>().try_log_();
    ops::log1p(any::<&Tensor>());
    ops::try_log1p(any::<&Tensor>());
    any::<&Tensor>().log1p();
    any::<&Tensor>().try_log1p();
    any::<&Tensor>().log1p_();
    any::<&Tensor>().try_log1p_();
    ops::log2(any::<&Tensor>());
    ops::try_log2(any::<&Tensor>());
    any::<&Tensor>().log2();
    any::<&Tensor>().try_log2();
    any::<&Tensor>().log2_();
    any::<&Tensor>().try_log2_();
    ops::log10(any::<&Tensor>());
    ops::try_log10(any::<&Tensor>());
    any::<&Tensor>().log10();
    any::<&Tensor>().try_log10();
    any::<&Tensor>().log10_();
    any::<&Tensor>().try_log10_();
    ops::sin(any::<&Tensor>());
    ops::try_sin(any::<&Tensor>());
    any::<&Tensor>().sin();
    any::<&Tensor>().try_sin();
    any::<&Tensor>().sin_();
    any::<&Tensor>().try_sin_();
    ops::cos(any::<&Tensor>());
    ops::try_cos(any::<&Tensor>());
    any::<&Tensor>().cos();
    any::<&Tensor>().try_cos();
    any::<&Tensor>().cos_();
    any::<&Tensor>().try_cos_();
    ops::tan(any::<&Tensor>());
    ops::try_tan(any::<&Tensor>());
    any::<&Tensor>().tan();
    any::<&Tensor>().try_tan();
    any::<&Tensor>().tan_();
    any::<&Tensor>().try_tan_();
    ops::asin(any::<&Tensor>());
    ops::try_asin(any::<&Tensor>());
    any::<&Tensor>().asin();
    any::<&Tensor>().try_asin();
    any::<&Tensor>().asin_();
    any::<&Tensor>().try_asin_();
    ops::acos(any::<&Tensor>());
    ops::try_acos(any::<&Tensor>());
    any::<&Tensor>().acos();
    any::<&Tensor>().try_acos();
    any::<&Tensor>().acos_();
    any::<&Tensor>().try_acos_();
    ops::atan(any::<&Tensor>());
    ops::try_atan(any::<&Tensor>());
    any::<&Tensor>().atan();
    any::<&Tensor>().try_atan();
    any::<&Tensor>().atan_();
    any::<&Tensor>().try_atan_();
    ops::sinh(any::<&Tensor>());
    ops::try_sinh(any::<&Tensor>());
    any::<&Tensor>().sinh();
    any::<&Tensor>().try_sinh();
    any::<&Tensor>().sinh_();
    any::<&Tensor>().try_sinh_();
    ops::cosh(any::<&Tensor>());
    ops::try_cosh(any::<&Tensor>());
    any::<&Tensor>().cosh();
    any::<&Tensor>().try_cosh();
    any::<&Tensor>().cosh_();
    any::<&Tensor>().try_cosh_();
    ops::asinh(any::<&Tensor>());
    ops::try_asinh(any::<&Tensor>());
    any::<&Tensor>().asinh();
    any::<&Tensor>().try_asinh();
    any::<&Tensor>().asinh_();
    any::<&Tensor>().try_asinh_();
    ops::acosh(any::<&Tensor>());
    ops::try_acosh(any::<&Tensor>());
    any::<&Tensor>().acosh();
    any::<&Tensor>().try_acosh();
    any::<&Tensor>().acosh_();
    any::<&Tensor>().try_acosh_();
    ops::atanh(any::<&Tensor>());
    ops::try_atanh(any::<&Tensor>());
    any::<&Tensor>().atanh();
    any::<&Tensor>().try_atanh();
    any::<&Tensor>().atanh_();
    any::<&Tensor>().try_atanh_();
    ops::deg2rad(any::<&Tensor>());
    ops::try_deg2rad(any::<&Tensor>());
    any::<&Tensor>().deg2rad();
    any::<&Tensor>().try_deg2rad();
    any::<&Tensor>().deg2rad_();
    any::<&Tensor>().try_deg2rad_();
    ops::rad2deg(any::<&Tensor>());
    ops::try_rad2deg(any::<&Tensor>());
    any::<&Tensor>().rad2deg();
    any::<&Tensor>().try_rad2deg();
    any::<&Tensor>().rad2deg_();
    any::<&Tensor>().try_rad2deg_();
    ops::frac(any::<&Tensor>());
    ops::try_frac(any::<&Tensor>());
    any::<&Tensor>().frac();
    any::<&Tensor>().try_frac();
    any::<&Tensor>().frac_();
    any::<&Tensor>().try_frac_();
    ops::sgn(any::<&Tensor>());
    ops::try_sgn(any::<&Tensor>());
    any::<&Tensor>().sgn();
    any::<&Tensor>().try_sgn();
    any::<&Tensor>().sgn_();
    any::<&Tensor>().try_sgn_();
    ops::nan_to_num(any::<&Tensor>());
    ops::try_nan_to_num(any::<&Tensor>());
    ops::nan_to_num_with(any::<&Tensor>(), |o| o);
    ops::try_nan_to_num_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().nan_to_num();
    any::<&Tensor>().try_nan_to_num();
    any::<&Tensor>().nan_to_num_with(|o| o);
    any::<&Tensor>().try_nan_to_num_with(|o| o);
    any::<&Tensor>().nan_to_num_();
    any::<&Tensor>().try_nan_to_num_();
    any::<&Tensor>().nan_to_num_with_(|o| o);
    any::<&Tensor>().try_nan_to_num_with_(|o| o);
    ops::angle(any::<&Tensor>());
    ops::try_angle(any::<&Tensor>());
    any::<&Tensor>().angle();
    any::<&Tensor>().try_angle();
    ops::erf(any::<&Tensor>());
    ops::try_erf(any::<&Tensor>());
    any::<&Tensor>().erf();
    any::<&Tensor>().try_erf();
    any::<&Tensor>().erf_();
    any::<&Tensor>().try_erf_();
    ops::erfc(any::<&Tensor>());
    ops::try_erfc(any::<&Tensor>());
    any::<&Tensor>().erfc();
    any::<&Tensor>().try_erfc();
    any::<&Tensor>().erfc_();
    any::<&Tensor>().try_erfc_();
    ops::erfinv(any::<&Tensor>());
    ops::try_erfinv(any::<&Tensor>());
    any::<&Tensor>().erfinv();
    any::<&Tensor>().try_erfinv();
    any::<&Tensor>().erfinv_();
    any::<&Tensor>().try_erfinv_();
    ops::sinc(any::<&Tensor>());
    ops::try_sinc(any::<&Tensor>());
    any::<&Tensor>().sinc();
    any::<&Tensor>().try_sinc();
    any::<&Tensor>().sinc_();
    any::<&Tensor>().try_sinc_();
    ops::special::erfcx(any::<&Tensor>());
    ops::special::try_erfcx(any::<&Tensor>());
    ops::lgamma(any::<&Tensor>());
    ops::try_lgamma(any::<&Tensor>());
    any::<&Tensor>().lgamma();
    any::<&Tensor>().try_lgamma();
    any::<&Tensor>().lgamma_();
    any::<&Tensor>().try_lgamma_();
    ops::digamma(any::<&Tensor>());
    ops::try_digamma(any::<&Tensor>());
    any::<&Tensor>().digamma();
    any::<&Tensor>().try_digamma();
    any::<&Tensor>().digamma_();
    any::<&Tensor>().try_digamma_();
    ops::polygamma(any::<i64>(), any::<&Tensor>());
    ops::try_polygamma(any::<i64>(), any::<&Tensor>());
    any::<&Tensor>().polygamma(any::<i64>());
    any::<&Tensor>().try_polygamma(any::<i64>());
    any::<&Tensor>().polygamma_(any::<i64>());
    any::<&Tensor>().try_polygamma_(any::<i64>());
    ops::mvlgamma(any::<&Tensor>(), any::<i64>());
    ops::try_mvlgamma(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().mvlgamma(any::<i64>());
    any::<&Tensor>().try_mvlgamma(any::<i64>());
    any::<&Tensor>().mvlgamma_(any::<i64>());
    any::<&Tensor>().try_mvlgamma_(any::<i64>());
    ops::logit(any::<&Tensor>());
    ops::try_logit(any::<&Tensor>());
    ops::logit_with(any::<&Tensor>(), |o| o);
    ops::try_logit_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().logit();
    any::<&Tensor>().try_logit();
    any::<&Tensor>().logit_with(|o| o);
    any::<&Tensor>().try_logit_with(|o| o);
    any::<&Tensor>().logit_();
    any::<&Tensor>().try_logit_();
    any::<&Tensor>().logit_with_(|o| o);
    any::<&Tensor>().try_logit_with_(|o| o);
    ops::special::entr(any::<&Tensor>());
    ops::special::try_entr(any::<&Tensor>());
    ops::special::ndtr(any::<&Tensor>());
    ops::special::try_ndtr(any::<&Tensor>());
    ops::special::ndtri(any::<&Tensor>());
    ops::special::try_ndtri(any::<&Tensor>());
    ops::special::log_ndtr(any::<&Tensor>());
    ops::special::try_log_ndtr(any::<&Tensor>());
    ops::special::expit(any::<&Tensor>());
    ops::special::try_expit(any::<&Tensor>());
    ops::special::psi(any::<&Tensor>());
    ops::special::try_psi(any::<&Tensor>());
    ops::special::digamma(any::<&Tensor>());
    ops::special::try_digamma(any::<&Tensor>());
    ops::special::polygamma(any::<i64>(), any::<&Tensor>());
    ops::special::try_polygamma(any::<i64>(), any::<&Tensor>());
    ops::special::gammaln(any::<&Tensor>());
    ops::special::try_gammaln(any::<&Tensor>());
    ops::special::multigammaln(any::<&Tensor>(), any::<i64>());
    ops::special::try_multigammaln(any::<&Tensor>(), any::<i64>());
    ops::special::expm1(any::<&Tensor>());
    ops::special::try_expm1(any::<&Tensor>());
    ops::special::log1p(any::<&Tensor>());
    ops::special::try_log1p(any::<&Tensor>());
    ops::special::erf(any::<&Tensor>());
    ops::special::try_erf(any::<&Tensor>());
    ops::special::erfc(any::<&Tensor>());
    ops::special::try_erfc(any::<&Tensor>());
    ops::special::erfinv(any::<&Tensor>());
    ops::special::try_erfinv(any::<&Tensor>());
    ops::special::exp2(any::<&Tensor>());
    ops::special::try_exp2(any::<&Tensor>());
    ops::special::i0(any::<&Tensor>());
    ops::special::try_i0(any::<&Tensor>());
    ops::special::gammainc(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_gammainc(any::<&Tensor>(), any::<&Tensor>());
    ops::special::gammaincc(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_gammaincc(any::<&Tensor>(), any::<&Tensor>());
    ops::special::logit(any::<&Tensor>());
    ops::special::try_logit(any::<&Tensor>());
    ops::special::logit_with(any::<&Tensor>(), |o| o);
    ops::special::try_logit_with(any::<&Tensor>(), |o| o);
    ops::special::round(any::<&Tensor>());
    ops::special::try_round(any::<&Tensor>());
    ops::special::round_decimals(any::<&Tensor>(), any::<i64>());
    ops::special::try_round_decimals(any::<&Tensor>(), any::<i64>());
    ops::special::sinc(any::<&Tensor>());
    ops::special::try_sinc(any::<&Tensor>());
    ops::special::xlogy(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_xlogy(any::<&Tensor>(), any::<&Tensor>());
    ops::i0(any::<&Tensor>());
    ops::try_i0(any::<&Tensor>());
    any::<&Tensor>().i0();
    any::<&Tensor>().try_i0();
    any::<&Tensor>().i0_();
    any::<&Tensor>().try_i0_();
    ops::special::i1(any::<&Tensor>());
    ops::special::try_i1(any::<&Tensor>());
    ops::special::i0e(any::<&Tensor>());
    ops::special::try_i0e(any::<&Tensor>());
    ops::special::i1e(any::<&Tensor>());
    ops::special::try_i1e(any::<&Tensor>());
    ops::special::bessel_j0(any::<&Tensor>());
    ops::special::try_bessel_j0(any::<&Tensor>());
    ops::special::bessel_j1(any::<&Tensor>());
    ops::special::try_bessel_j1(any::<&Tensor>());
    ops::special::bessel_y0(any::<&Tensor>());
    ops::special::try_bessel_y0(any::<&Tensor>());
    ops::special::bessel_y1(any::<&Tensor>());
    ops::special::try_bessel_y1(any::<&Tensor>());
    ops::special::modified_bessel_i0(any::<&Tensor>());
    ops::special::try_modified_bessel_i0(any::<&Tensor>());
    ops::special::modified_bessel_i1(any::<&Tensor>());
    ops::special::try_modified_bessel_i1(any::<&Tensor>());
    ops::special::modified_bessel_k0(any::<&Tensor>());
    ops::special::try_modified_bessel_k0(any::<&Tensor>());
    ops::special::modified_bessel_k1(any::<&Tensor>());
    ops::special::try_modified_bessel_k1(any::<&Tensor>());
    ops::special::scaled_modified_bessel_k0(any::<&Tensor>());
    ops::special::try_scaled_modified_bessel_k0(any::<&Tensor>());
    ops::special::scaled_modified_bessel_k1(any::<&Tensor>());
    ops::special::try_scaled_modified_bessel_k1(any::<&Tensor>());
    ops::special::spherical_bessel_j0(any::<&Tensor>());
    ops::special::try_spherical_bessel_j0(any::<&Tensor>());
    ops::special::airy_ai(any::<&Tensor>());
    ops::special::try_airy_ai(any::<&Tensor>());
    ops::igamma(any::<&Tensor>(), any::<&Tensor>());
    ops::try_igamma(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().igamma(any::<&Tensor>());
    any::<&Tensor>().try_igamma(any::<&Tensor>());
    any::<&Tensor>().igamma_(any::<&Tensor>());
    any::<&Tensor>().try_igamma_(any::<&Tensor>());
    ops::igammac(any::<&Tensor>(), any::<&Tensor>());
    ops::try_igammac(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().igammac(any::<&Tensor>());
    any::<&Tensor>().try_igammac(any::<&Tensor>());
    any::<&Tensor>().igammac_(any::<&Tensor>());
    any::<&Tensor>().try_igammac_(any::<&Tensor>());
    ops::special::zeta(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_zeta(any::<&Tensor>(), any::<&Tensor>());
    ops::special::chebyshev_polynomial_t(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_chebyshev_polynomial_t(any::<&Tensor>(), any::<&Tensor>());
    ops::special::chebyshev_polynomial_u(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_chebyshev_polynomial_u(any::<&Tensor>(), any::<&Tensor>());
    ops::special::chebyshev_polynomial_v(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_chebyshev_polynomial_v(any::<&Tensor>(), any::<&Tensor>());
    ops::special::chebyshev_polynomial_w(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_chebyshev_polynomial_w(any::<&Tensor>(), any::<&Tensor>());
    ops::special::shifted_chebyshev_polynomial_t(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_shifted_chebyshev_polynomial_t(any::<&Tensor>(), any::<&Tensor>());
    ops::special::shifted_chebyshev_polynomial_u(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_shifted_chebyshev_polynomial_u(any::<&Tensor>(), any::<&Tensor>());
    ops::special::shifted_chebyshev_polynomial_v(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_shifted_chebyshev_polynomial_v(any::<&Tensor>(), any::<&Tensor>());
    ops::special::shifted_chebyshev_polynomial_w(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_shifted_chebyshev_polynomial_w(any::<&Tensor>(), any::<&Tensor>());
    ops::special::hermite_polynomial_h(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_hermite_polynomial_h(any::<&Tensor>(), any::<&Tensor>());
    ops::special::hermite_polynomial_he(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_hermite_polynomial_he(any::<&Tensor>(), any::<&Tensor>());
    ops::special::laguerre_polynomial_l(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_laguerre_polynomial_l(any::<&Tensor>(), any::<&Tensor>());
    ops::special::legendre_polynomial_p(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_legendre_polynomial_p(any::<&Tensor>(), any::<&Tensor>());
    ops::atan2(any::<&Tensor>(), any::<&Tensor>());
    ops::try_atan2(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().atan2(any::<&Tensor>());
    any::<&Tensor>().try_atan2(any::<&Tensor>());
    any::<&Tensor>().atan2_(any::<&Tensor>());
    any::<&Tensor>().try_atan2_(any::<&Tensor>());
    ops::hypot(any::<&Tensor>(), any::<&Tensor>());
    ops::try_hypot(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().hypot(any::<&Tensor>());
    any::<&Tensor>().try_hypot(any::<&Tensor>());
    any::<&Tensor>().hypot_(any::<&Tensor>());
    any::<&Tensor>().try_hypot_(any::<&Tensor>());
    ops::copysign(any::<&Tensor>(), any::<&Tensor>());
    ops::try_copysign(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().copysign(any::<&Tensor>());
    any::<&Tensor>().try_copysign(any::<&Tensor>());
    any::<&Tensor>().copysign_(any::<&Tensor>());
    any::<&Tensor>().try_copysign_(any::<&Tensor>());
    ops::ldexp(any::<&Tensor>(), any::<&Tensor>());
    ops::try_ldexp(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().ldexp(any::<&Tensor>());
    any::<&Tensor>().try_ldexp(any::<&Tensor>());
    any::<&Tensor>().ldexp_(any::<&Tensor>());
    any::<&Tensor>().try_ldexp_(any::<&Tensor>());
    ops::logaddexp(any::<&Tensor>(), any::<&Tensor>());
    ops::try_logaddexp(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().logaddexp(any::<&Tensor>());
    any::<&Tensor>().try_logaddexp(any::<&Tensor>());
    ops::logaddexp2(any::<&Tensor>(), any::<&Tensor>());
    ops::try_logaddexp2(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().logaddexp2(any::<&Tensor>());
    any::<&Tensor>().try_logaddexp2(any::<&Tensor>());
    ops::fmax(any::<&Tensor>(), any::<&Tensor>());
    ops::try_fmax(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().fmax(any::<&Tensor>());
    any::<&Tensor>().try_fmax(any::<&Tensor>());
    ops::fmin(any::<&Tensor>(), any::<&Tensor>());
    ops::try_fmin(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().fmin(any::<&Tensor>());
    any::<&Tensor>().try_fmin(any::<&Tensor>());
    ops::xlogy(any::<&Tensor>(), any::<&Tensor>());
    ops::try_xlogy(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().xlogy(any::<&Tensor>());
    any::<&Tensor>().try_xlogy(any::<&Tensor>());
    any::<&Tensor>().xlogy_(any::<&Tensor>());
    any::<&Tensor>().try_xlogy_(any::<&Tensor>());
    ops::special::xlog1py(any::<&Tensor>(), any::<&Tensor>());
    ops::special::try_xlog1py(any::<&Tensor>(), any::<&Tensor>());
    ops::float_power(any::<&Tensor>(), any::<&Tensor>());
    ops::try_float_power(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().float_power(any::<&Tensor>());
    any::<&Tensor>().try_float_power(any::<&Tensor>());
    any::<&Tensor>().float_power_(any::<&Tensor>());
    any::<&Tensor>().try_float_power_(any::<&Tensor>());
    ops::addcmul(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addcmul(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addcmul_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addcmul_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addcmul(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addcmul(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addcmul_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addcmul_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addcmul_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addcmul_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addcmul_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addcmul_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::addcdiv(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_addcdiv(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::addcdiv_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_addcdiv_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addcdiv(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addcdiv(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addcdiv_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addcdiv_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().addcdiv_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_addcdiv_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().addcdiv_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_addcdiv_with_(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::lerp_tensor(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_lerp_tensor(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().lerp_tensor(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_lerp_tensor(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().lerp_tensor_(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().try_lerp_tensor_(any::<&Tensor>(), any::<&Tensor>());
    ops::lerp(any::<&Tensor>(), any::<&Tensor>(), any::<f64>());
    ops::try_lerp(any::<&Tensor>(), any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().lerp(any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_lerp(any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().lerp_(any::<&Tensor>(), any::<f64>());
    any::<&Tensor>().try_lerp_(any::<&Tensor>(), any::<f64>());
    ops::gcd(any::<&Tensor>(), any::<&Tensor>());
    ops::try_gcd(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().gcd(any::<&Tensor>());
    any::<&Tensor>().try_gcd(any::<&Tensor>());
    any::<&Tensor>().gcd_(any::<&Tensor>());
    any::<&Tensor>().try_gcd_(any::<&Tensor>());
    ops::lcm(any::<&Tensor>(), any::<&Tensor>());
    ops::try_lcm(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().lcm(any::<&Tensor>());
    any::<&Tensor>().try_lcm(any::<&Tensor>());
    any::<&Tensor>().lcm_(any::<&Tensor>());
    any::<&Tensor>().try_lcm_(any::<&Tensor>());
    ops::heaviside(any::<&Tensor>(), any::<&Tensor>());
    ops::try_heaviside(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().heaviside(any::<&Tensor>());
    any::<&Tensor>().try_heaviside(any::<&Tensor>());
    any::<&Tensor>().heaviside_(any::<&Tensor>());
    any::<&Tensor>().try_heaviside_(any::<&Tensor>());
    ops::isposinf(any::<&Tensor>());
    ops::try_isposinf(any::<&Tensor>());
    any::<&Tensor>().isposinf();
    any::<&Tensor>().try_isposinf();
    ops::isneginf(any::<&Tensor>());
    ops::try_isneginf(any::<&Tensor>());
    any::<&Tensor>().isneginf();
    any::<&Tensor>().try_isneginf();
    ops::isreal(any::<&Tensor>());
    ops::try_isreal(any::<&Tensor>());
    any::<&Tensor>().isreal();
    any::<&Tensor>().try_isreal();
    ops::signbit(any::<&Tensor>());
    ops::try_signbit(any::<&Tensor>());
    any::<&Tensor>().signbit();
    any::<&Tensor>().try_signbit();
    ops::isin(any::<&Tensor>(), any::<&Tensor>());
    ops::try_isin(any::<&Tensor>(), any::<&Tensor>());
    ops::isin_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_isin_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::nextafter(any::<&Tensor>(), any::<&Tensor>());
    ops::try_nextafter(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().nextafter(any::<&Tensor>());
    any::<&Tensor>().try_nextafter(any::<&Tensor>());
    any::<&Tensor>().nextafter_(any::<&Tensor>());
    any::<&Tensor>().try_nextafter_(any::<&Tensor>());
    ops::frexp(any::<&Tensor>());
    ops::try_frexp(any::<&Tensor>());
    any::<&Tensor>().frexp();
    any::<&Tensor>().try_frexp();
}

pub fn promotion_queries() {
    ops::result_type(any::<&Tensor>(), any::<&Tensor>());
    ops::try_result_type(any::<&Tensor>(), any::<&Tensor>());
    ops::result_type_of_number(any::<f64>(), any::<&Tensor>());
    ops::try_result_type_of_number(any::<f64>(), any::<&Tensor>());
    ops::result_type_of_numbers(any::<f64>(), any::<f64>());
    ops::try_result_type_of_numbers(any::<f64>(), any::<f64>());
    ops::promote_types(any::<DType>(), any::<DType>());
    ops::try_promote_types(any::<DType>(), any::<DType>());
    ops::can_cast(any::<DType>(), any::<DType>());
    ops::try_can_cast(any::<DType>(), any::<DType>());
}

pub fn queries() {
    ops::get_device(any::<&Tensor>());
    ops::try_get_device(any::<&Tensor>());
    any::<&Tensor>().get_device();
    any::<&Tensor>().try_get_device();
    ops::is_conj(any::<&Tensor>());
    ops::try_is_conj(any::<&Tensor>());
    any::<&Tensor>().is_conj();
    any::<&Tensor>().try_is_conj();
    ops::is_neg(any::<&Tensor>());
    ops::try_is_neg(any::<&Tensor>());
    any::<&Tensor>().is_neg();
    any::<&Tensor>().try_is_neg();
    ops::is_nonzero(any::<&Tensor>());
    ops::try_is_nonzero(any::<&Tensor>());
    any::<&Tensor>().is_nonzero();
    any::<&Tensor>().try_is_nonzero();
    ops::is_same_size(any::<&Tensor>(), any::<&Tensor>());
    ops::try_is_same_size(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().is_same_size(any::<&Tensor>());
    any::<&Tensor>().try_is_same_size(any::<&Tensor>());
    any::<&Tensor>().is_set_to(any::<&Tensor>());
    any::<&Tensor>().try_is_set_to(any::<&Tensor>());
    ops::is_signed(any::<&Tensor>());
    ops::try_is_signed(any::<&Tensor>());
    any::<&Tensor>().is_signed();
    any::<&Tensor>().try_is_signed();
}

pub fn random() {
    ops::rand(any::<i64>());
    ops::try_rand(any::<i64>());
    ops::rand_with(any::<i64>(), |o| o);
    ops::try_rand_with(any::<i64>(), |o| o);
    Tensor::rand(any::<i64>());
    Tensor::try_rand(any::<i64>());
    Tensor::rand_with(any::<i64>(), |o| o);
    Tensor::try_rand_with(any::<i64>(), |o| o);
    ops::randn(any::<i64>());
    ops::try_randn(any::<i64>());
    ops::randn_with(any::<i64>(), |o| o);
    ops::try_randn_with(any::<i64>(), |o| o);
    Tensor::randn(any::<i64>());
    Tensor::try_randn(any::<i64>());
    Tensor::randn_with(any::<i64>(), |o| o);
    Tensor::try_randn_with(any::<i64>(), |o| o);
    ops::randint(any::<i64>(), any::<i64>());
    ops::try_randint(any::<i64>(), any::<i64>());
    ops::randint_with(any::<i64>(), any::<i64>(), |o| o);
    ops::try_randint_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::randint(any::<i64>(), any::<i64>());
    Tensor::try_randint(any::<i64>(), any::<i64>());
    Tensor::randint_with(any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_randint_with(any::<i64>(), any::<i64>(), |o| o);
    ops::randint_from(any::<i64>(), any::<i64>(), any::<i64>());
    ops::try_randint_from(any::<i64>(), any::<i64>(), any::<i64>());
    ops::randint_from_with(any::<i64>(), any::<i64>(), any::<i64>(), |o| o);
    ops::try_randint_from_with(any::<i64>(), any::<i64>(), any::<i64>(), |o| o);
    Tensor::randint_from(any::<i64>(), any::<i64>(), any::<i64>());
    Tensor::try_randint_from(any::<i64>(), any::<i64>(), any::<i64>());
    Tensor::randint_from_with(any::<i64>(), any::<i64>(), any::<i64>(), |o| o);
    Tensor::try_randint_from_with(any::<i64>(), any::<i64>(), any::<i64>(), |o| o);
    ops::randperm(any::<i64>());
    ops::try_randperm(any::<i64>());
    ops::randperm_with(any::<i64>(), |o| o);
    ops::try_randperm_with(any::<i64>(), |o| o);
    Tensor::randperm(any::<i64>());
    Tensor::try_randperm(any::<i64>());
    Tensor::randperm_with(any::<i64>(), |o| o);
    Tensor::try_randperm_with(any::<i64>(), |o| o);
    ops::rand_like(any::<&Tensor>());
    ops::try_rand_like(any::<&Tensor>());
    ops::rand_like_with(any::<&Tensor>(), |o| o);
    ops::try_rand_like_with(any::<&Tensor>(), |o| o);
    ops::randn_like(any::<&Tensor>());
    ops::try_randn_like(any::<&Tensor>());
    ops::randn_like_with(any::<&Tensor>(), |o| o);
    ops::try_randn_like_with(any::<&Tensor>(), |o| o);
    ops::randint_like(any::<&Tensor>(), any::<i64>());
    ops::try_randint_like(any::<&Tensor>(), any::<i64>());
    ops::randint_like_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_randint_like_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::randint_like_from(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_randint_like_from(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::randint_like_from_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::try_randint_like_from_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().uniform_();
    any::<&Tensor>().try_uniform_();
    any::<&Tensor>().uniform_with_(|o| o);
    any::<&Tensor>().try_uniform_with_(|o| o);
    any::<&Tensor>().normal_();
    any::<&Tensor>().try_normal_();
    any::<&Tensor>().normal_with_(|o| o);
    any::<&Tensor>().try_normal_with_(|o| o);
    any::<&Tensor>().exponential_();
    any::<&Tensor>().try_exponential_();
    any::<&Tensor>().exponential_with_(|o| o);
    any::<&Tensor>().try_exponential_with_(|o| o);
    any::<&Tensor>().cauchy_();
    any::<&Tensor>().try_cauchy_();
    any::<&Tensor>().cauchy_with_(|o| o);
    any::<&Tensor>().try_cauchy_with_(|o| o);
    any::<&Tensor>().log_normal_();
    any::<&Tensor>().try_log_normal_();
    any::<&Tensor>().log_normal_with_(|o| o);
    any::<&Tensor>().try_log_normal_with_(|o| o);
    any::<&Tensor>().geometric_(any::<f64>());
    any::<&Tensor>().try_geometric_(any::<f64>());
    any::<&Tensor>().geometric_with_(any::<f64>(), |o| o);
    any::<&Tensor>().try_geometric_with_(any::<f64>(), |o| o);
    any::<&Tensor>().random_from_(any::<i64>(), any::<Option<i64>>());
    any::<&Tensor>().try_random_from_(any::<i64>(), any::<Option<i64>>());
    any::<&Tensor>().random_from_with_(any::<i64>(), any::<Option<i64>>(), |o| o);
    any::<&Tensor>().try_random_from_with_(any::<i64>(), any::<Option<i64>>(), |o| o);
    any::<&Tensor>().random_to_(any::<i64>());
    any::<&Tensor>().try_random_to_(any::<i64>());
    any::<&Tensor>().random_to_with_(any::<i64>(), |o| o);
    any::<&Tensor>().try_random_to_with_(any::<i64>(), |o| o);
    any::<&Tensor>().random_();
    any::<&Tensor>().try_random_();
    any::<&Tensor>().random_with_(|o| o);
    any::<&Tensor>().try_random_with_(|o| o);
    ops::bernoulli(any::<&Tensor>());
    ops::try_bernoulli(any::<&Tensor>());
    ops::bernoulli_with(any::<&Tensor>(), |o| o);
    ops::try_bernoulli_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().bernoulli();
    any::<&Tensor>().try_bernoulli();
    any::<&Tensor>().bernoulli_with(|o| o);
    any::<&Tensor>().try_bernoulli_with(|o| o);
    ops::bernoulli_p(any::<&Tensor>(), any::<f64>());
    ops::try_bernoulli_p(any::<&Tensor>(), any::<f64>());
    ops::bernoulli_p_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::try_bernoulli_p_with(any::<&Tensor>(), any::<f64>(), |o| o);
    any::<&Tensor>().bernoulli_p(any::<f64>());
    any::<&Tensor>().try_bernoulli_p(any::<f64>());
    any::<&Tensor>().bernoulli_p_with(any::<f64>(), |o| o);
    any::<&Tensor>().try_bernoulli_p_with(any::<f64>(), |o| o);
    any::<&Tensor>().bernoulli_each_(any::<&Tensor>());
    any::<&Tensor>().try_bernoulli_each_(any::<&Tensor>());
    any::<&Tensor>().bernoulli_each_with_(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_bernoulli_each_with_(any::<&Tensor>(), |o| o);
    any::<&Tensor>().bernoulli_();
    any::<&Tensor>().try_bernoulli_();
    any::<&Tensor>().bernoulli_with_(|o| o);
    any::<&Tensor>().try_bernoulli_with_(|o| o);
    ops::multinomial(any::<&Tensor>(), any::<i64>());
    ops::try_multinomial(any::<&Tensor>(), any::<i64>());
    ops::multinomial_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_multinomial_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().multinomial(any::<i64>());
    any::<&Tensor>().try_multinomial(any::<i64>());
    any::<&Tensor>().multinomial_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_multinomial_with(any::<i64>(), |o| o);
    ops::normal_around(any::<&Tensor>());
    ops::try_normal_around(any::<&Tensor>());
    ops::normal_around_with(any::<&Tensor>(), |o| o);
    ops::try_normal_around_with(any::<&Tensor>(), |o| o);
    ops::normal_within(any::<f64>(), any::<&Tensor>());
    ops::try_normal_within(any::<f64>(), any::<&Tensor>());
    ops::normal_within_with(any::<f64>(), any::<&Tensor>(), |o| o);
    ops::try_normal_within_with(any::<f64>(), any::<&Tensor>(), |o| o);
    ops::normal_each(any::<&Tensor>(), any::<&Tensor>());
    ops::try_normal_each(any::<&Tensor>(), any::<&Tensor>());
    ops::normal_each_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_normal_each_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::normal(any::<f64>(), any::<f64>(), any::<i64>());
    ops::try_normal(any::<f64>(), any::<f64>(), any::<i64>());
    ops::normal_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::try_normal_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::normal(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::try_normal(any::<f64>(), any::<f64>(), any::<i64>());
    Tensor::normal_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    Tensor::try_normal_with(any::<f64>(), any::<f64>(), any::<i64>(), |o| o);
    ops::poisson(any::<&Tensor>());
    ops::try_poisson(any::<&Tensor>());
    ops::poisson_with(any::<&Tensor>(), |o| o);
    ops::try_poisson_with(any::<&Tensor>(), |o| o);
    ops::binomial(any::<&Tensor>(), any::<&Tensor>());
    ops::try_binomial(any::<&Tensor>(), any::<&Tensor>());
    ops::binomial_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_binomial_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::standard_gamma(any::<&Tensor>());
    ops::try_standard_gamma(any::<&Tensor>());
    ops::standard_gamma_with(any::<&Tensor>(), |o| o);
    ops::try_standard_gamma_with(any::<&Tensor>(), |o| o);
    ops::standard_gamma_grad(any::<&Tensor>(), any::<&Tensor>());
    ops::try_standard_gamma_grad(any::<&Tensor>(), any::<&Tensor>());
    ops::sample_dirichlet(any::<&Tensor>());
    ops::try_sample_dirichlet(any::<&Tensor>());
    ops::sample_dirichlet_with(any::<&Tensor>(), |o| o);
    ops::try_sample_dirichlet_with(any::<&Tensor>(), |o| o);
    ops::dirichlet_grad(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_dirichlet_grad(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
}

pub fn reduce() {
    ops::cov(any::<&Tensor>());
    ops::try_cov(any::<&Tensor>());
    ops::cov_with(any::<&Tensor>(), |o| o);
    ops::try_cov_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().cov();
    any::<&Tensor>().try_cov();
    any::<&Tensor>().cov_with(|o| o);
    any::<&Tensor>().try_cov_with(|o| o);
    ops::corrcoef(any::<&Tensor>());
    ops::try_corrcoef(any::<&Tensor>());
    any::<&Tensor>().corrcoef();
    any::<&Tensor>().try_corrcoef();
    ops::sum(any::<&Tensor>());
    ops::try_sum(any::<&Tensor>());
    any::<&Tensor>().sum();
    any::<&Tensor>().try_sum();
    ops::sum_with(any::<&Tensor>(), |o| o);
    ops::try_sum_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().sum_with(|o| o);
    any::<&Tensor>().try_sum_with(|o| o);
    any::<&Tensor>().sum_to_size(any::<i64>());
    any::<&Tensor>().try_sum_to_size(any::<i64>());
    ops::mean(any::<&Tensor>());
    ops::try_mean(any::<&Tensor>());
    any::<&Tensor>().mean();
    any::<&Tensor>().try_mean();
    ops::mean_with(any::<&Tensor>(), |o| o);
    ops::try_mean_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().mean_with(|o| o);
    any::<&Tensor>().try_mean_with(|o| o);
    ops::prod(any::<&Tensor>());
    ops::try_prod(any::<&Tensor>());
    ops::prod_with(any::<&Tensor>(), |o| o);
    ops::try_prod_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().prod();
    any::<&Tensor>().try_prod();
    any::<&Tensor>().prod_with(|o| o);
    any::<&Tensor>().try_prod_with(|o| o);
    ops::prod_dim(any::<&Tensor>(), any::<i64>());
    ops::try_prod_dim(any::<&Tensor>(), any::<i64>());
    ops::prod_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_prod_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().prod_dim(any::<i64>());
    any::<&Tensor>().try_prod_dim(any::<i64>());
    any::<&Tensor>().prod_dim_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_prod_dim_with(any::<i64>(), |o| o);
    ops::amax(any::<&Tensor>());
    ops::try_amax(any::<&Tensor>());
    ops::amax_with(any::<&Tensor>(), |o| o);
    ops::try_amax_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().amax();
    any::<&Tensor>().try_amax();
    any::<&Tensor>().amax_with(|o| o);
    any::<&Tensor>().try_amax_with(|o| o);
    ops::amin(any::<&Tensor>());
    ops::try_amin(any::<&Tensor>());
    ops::amin_with(any::<&Tensor>(), |o| o);
    ops::try_amin_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().amin();
    any::<&Tensor>().try_amin();
    any::<&Tensor>().amin_with(|o| o);
    any::<&Tensor>().try_amin_with(|o| o);
    ops::max(any::<&Tensor>());
    ops::try_max(any::<&Tensor>());
    any::<&Tensor>().max();
    any::<&Tensor>().try_max();
    ops::max_dim(any::<&Tensor>(), any::<i64>());
    ops::try_max_dim(any::<&Tensor>(), any::<i64>());
    ops::max_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_max_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().max_dim(any::<i64>());
    any::<&Tensor>().try_max_dim(any::<i64>());
    any::<&Tensor>().max_dim_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_max_dim_with(any::<i64>(), |o| o);
    ops::max_of(any::<&Tensor>(), any::<&Tensor>());
    ops::try_max_of(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().max_of(any::<&Tensor>());
    any::<&Tensor>().try_max_of(any::<&Tensor>());
    ops::min(any::<&Tensor>());
    ops::try_min(any::<&Tensor>());
    any::<&Tensor>().min();
    any::<&Tensor>().try_min();
    ops::min_dim(any::<&Tensor>(), any::<i64>());
    ops::try_min_dim(any::<&Tensor>(), any::<i64>());
    ops::min_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_min_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().min_dim(any::<i64>());
    any::<&Tensor>().try_min_dim(any::<i64>());
    any::<&Tensor>().min_dim_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_min_dim_with(any::<i64>(), |o| o);
    ops::min_of(any::<&Tensor>(), any::<&Tensor>());
    ops::try_min_of(any::<&Tensor>(), any::<&Tensor>());
    any::<&Tensor>().min_of(any::<&Tensor>());
    any::<&Tensor>().try_min_of(any::<&Tensor>());
    ops::argmax(any::<&Tensor>());
    ops::try_argmax(any::<&Tensor>());
    ops::argmax_with(any::<&Tensor>(), |o| o);
    ops::try_argmax_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().argmax();
    any::<&Tensor>().try_argmax();
    any::<&Tensor>().argmax_with(|o| o);
    any::<&Tensor>().try_argmax_with(|o| o);
    ops::argmin(any::<&Tensor>());
    ops::try_argmin(any::<&Tensor>());
    ops::argmin_with(any::<&Tensor>(), |o| o);
    ops::try_argmin_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().argmin();
    any::<&Tensor>().try_argmin();
    any::<&Tensor>().argmin_with(|o| o);
    any::<&Tensor>().try_argmin_with(|o| o);
    ops::var(any::<&Tensor>());
    ops::try_var(any::<&Tensor>());
    ops::var_with(any::<&Tensor>(), |o| o);
    ops::try_var_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().var();
    any::<&Tensor>().try_var();
    any::<&Tensor>().var_with(|o| o);
    any::<&Tensor>().try_var_with(|o| o);
    ops::std(any::<&Tensor>());
    ops::try_std(any::<&Tensor>());
    ops::std_with(any::<&Tensor>(), |o| o);
    ops::try_std_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().std();
    any::<&Tensor>().try_std();
    any::<&Tensor>().std_with(|o| o);
    any::<&Tensor>().try_std_with(|o| o);
    ops::var_mean(any::<&Tensor>());
    ops::try_var_mean(any::<&Tensor>());
    ops::var_mean_with(any::<&Tensor>(), |o| o);
    ops::try_var_mean_with(any::<&Tensor>(), |o| o);
    ops::std_mean(any::<&Tensor>());
    ops::try_std_mean(any::<&Tensor>());
    ops::std_mean_with(any::<&Tensor>(), |o| o);
    ops::try_std_mean_with(any::<&Tensor>(), |o| o);
    ops::all(any::<&Tensor>());
    ops::try_all(any::<&Tensor>());
    any::<&Tensor>().all();
    any::<&Tensor>().try_all();
    ops::all_with(any::<&Tensor>(), |o| o);
    ops::try_all_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().all_with(|o| o);
    any::<&Tensor>().try_all_with(|o| o);
    ops::any(any::<&Tensor>());
    ops::try_any(any::<&Tensor>());
    any::<&Tensor>().any();
    any::<&Tensor>().try_any();
    ops::any_with(any::<&Tensor>(), |o| o);
    ops::try_any_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().any_with(|o| o);
    any::<&Tensor>().try_any_with(|o| o);
    ops::count_nonzero(any::<&Tensor>());
    ops::try_count_nonzero(any::<&Tensor>());
    ops::count_nonzero_with(any::<&Tensor>(), |o| o);
    ops::try_count_nonzero_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().count_nonzero();
    any::<&Tensor>().try_count_nonzero();
    any::<&Tensor>().count_nonzero_with(|o| o);
    any::<&Tensor>().try_count_nonzero_with(|o| o);
    ops::logsumexp(any::<&Tensor>(), any::<i64>());
    ops::try_logsumexp(any::<&Tensor>(), any::<i64>());
    ops::logsumexp_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_logsumexp_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().logsumexp(any::<i64>());
    any::<&Tensor>().try_logsumexp(any::<i64>());
    any::<&Tensor>().logsumexp_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_logsumexp_with(any::<i64>(), |o| o);
    ops::softmax(any::<&Tensor>(), any::<i64>());
    ops::try_softmax(any::<&Tensor>(), any::<i64>());
    ops::softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().softmax(any::<i64>());
    any::<&Tensor>().try_softmax(any::<i64>());
    any::<&Tensor>().softmax_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_softmax_with(any::<i64>(), |o| o);
    ops::log_softmax(any::<&Tensor>(), any::<i64>());
    ops::try_log_softmax(any::<&Tensor>(), any::<i64>());
    ops::log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().log_softmax(any::<i64>());
    any::<&Tensor>().try_log_softmax(any::<i64>());
    any::<&Tensor>().log_softmax_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_log_softmax_with(any::<i64>(), |o| o);
    ops::nn::softmax(any::<&Tensor>());
    ops::nn::try_softmax(any::<&Tensor>());
    ops::nn::softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::try_softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::log_softmax(any::<&Tensor>());
    ops::nn::try_log_softmax(any::<&Tensor>());
    ops::nn::log_softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::try_log_softmax_with(any::<&Tensor>(), |o| o);
    ops::nn::softmin(any::<&Tensor>());
    ops::nn::try_softmin(any::<&Tensor>());
    ops::nn::softmin_with(any::<&Tensor>(), |o| o);
    ops::nn::try_softmin_with(any::<&Tensor>(), |o| o);
    ops::cumsum(any::<&Tensor>(), any::<i64>());
    ops::try_cumsum(any::<&Tensor>(), any::<i64>());
    ops::cumsum_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_cumsum_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().cumsum(any::<i64>());
    any::<&Tensor>().try_cumsum(any::<i64>());
    any::<&Tensor>().cumsum_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_cumsum_with(any::<i64>(), |o| o);
    any::<&Tensor>().cumsum_(any::<i64>());
    any::<&Tensor>().try_cumsum_(any::<i64>());
    any::<&Tensor>().cumsum_with_(any::<i64>(), |o| o);
    any::<&Tensor>().try_cumsum_with_(any::<i64>(), |o| o);
    ops::cumprod(any::<&Tensor>(), any::<i64>());
    ops::try_cumprod(any::<&Tensor>(), any::<i64>());
    ops::cumprod_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_cumprod_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().cumprod(any::<i64>());
    any::<&Tensor>().try_cumprod(any::<i64>());
    any::<&Tensor>().cumprod_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_cumprod_with(any::<i64>(), |o| o);
    any::<&Tensor>().cumprod_(any::<i64>());
    any::<&Tensor>().try_cumprod_(any::<i64>());
    any::<&Tensor>().cumprod_with_(any::<i64>(), |o| o);
    any::<&Tensor>().try_cumprod_with_(any::<i64>(), |o| o);
    ops::norm_p(any::<&Tensor>(), any::<f64>());
    ops::try_norm_p(any::<&Tensor>(), any::<f64>());
    ops::norm_p_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::try_norm_p_with(any::<&Tensor>(), any::<f64>(), |o| o);
    any::<&Tensor>().norm_p(any::<f64>());
    any::<&Tensor>().try_norm_p(any::<f64>());
    any::<&Tensor>().norm_p_with(any::<f64>(), |o| o);
    any::<&Tensor>().try_norm_p_with(any::<f64>(), |o| o);
    ops::norm(any::<&Tensor>());
    ops::try_norm(any::<&Tensor>());
    ops::norm_with(any::<&Tensor>(), |o| o);
    ops::try_norm_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().norm();
    any::<&Tensor>().try_norm();
    any::<&Tensor>().norm_with(|o| o);
    any::<&Tensor>().try_norm_with(|o| o);
    ops::linalg::vector_norm(any::<&Tensor>());
    ops::linalg::try_vector_norm(any::<&Tensor>());
    ops::linalg::vector_norm_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_vector_norm_with(any::<&Tensor>(), |o| o);
    ops::linalg::matrix_norm(any::<&Tensor>());
    ops::linalg::try_matrix_norm(any::<&Tensor>());
    ops::linalg::matrix_norm_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_matrix_norm_with(any::<&Tensor>(), |o| o);
    ops::linalg::matrix_norm_ord(any::<&Tensor>(), any::<f64>());
    ops::linalg::try_matrix_norm_ord(any::<&Tensor>(), any::<f64>());
    ops::linalg::matrix_norm_ord_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::try_matrix_norm_ord_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::linalg::norm_named(any::<&Tensor>(), any::<MatrixNorm>());
    ops::linalg::try_norm_named(any::<&Tensor>(), any::<MatrixNorm>());
    ops::linalg::norm_named_with(any::<&Tensor>(), any::<MatrixNorm>(), |o| o);
    ops::linalg::try_norm_named_with(any::<&Tensor>(), any::<MatrixNorm>(), |o| o);
    ops::linalg::norm(any::<&Tensor>());
    ops::linalg::try_norm(any::<&Tensor>());
    ops::linalg::norm_with(any::<&Tensor>(), |o| o);
    ops::linalg::try_norm_with(any::<&Tensor>(), |o| o);
    ops::dist(any::<&Tensor>(), any::<&Tensor>());
    ops::try_dist(any::<&Tensor>(), any::<&Tensor>());
    ops::dist_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_dist_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().dist(any::<&Tensor>());
    any::<&Tensor>().try_dist(any::<&Tensor>());
    any::<&Tensor>().dist_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_dist_with(any::<&Tensor>(), |o| o);
    ops::nansum(any::<&Tensor>());
    ops::try_nansum(any::<&Tensor>());
    ops::nansum_with(any::<&Tensor>(), |o| o);
    ops::try_nansum_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().nansum();
    any::<&Tensor>().try_nansum();
    any::<&Tensor>().nansum_with(|o| o);
    any::<&Tensor>().try_nansum_with(|o| o);
    ops::nanmean(any::<&Tensor>());
    ops::try_nanmean(any::<&Tensor>());
    ops::nanmean_with(any::<&Tensor>(), |o| o);
    ops::try_nanmean_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().nanmean();
    any::<&Tensor>().try_nanmean();
    any::<&Tensor>().nanmean_with(|o| o);
    any::<&Tensor>().try_nanmean_with(|o| o);
    ops::cummax(any::<&Tensor>(), any::<i64>());
    ops::try_cummax(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().cummax(any::<i64>());
    any::<&Tensor>().try_cummax(any::<i64>());
    ops::cummin(any::<&Tensor>(), any::<i64>());
    ops::try_cummin(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().cummin(any::<i64>());
    any::<&Tensor>().try_cummin(any::<i64>());
    ops::logcumsumexp(any::<&Tensor>(), any::<i64>());
    ops::try_logcumsumexp(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().logcumsumexp(any::<i64>());
    any::<&Tensor>().try_logcumsumexp(any::<i64>());
    ops::aminmax(any::<&Tensor>());
    ops::try_aminmax(any::<&Tensor>());
    ops::aminmax_with(any::<&Tensor>(), |o| o);
    ops::try_aminmax_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().aminmax();
    any::<&Tensor>().try_aminmax();
    any::<&Tensor>().aminmax_with(|o| o);
    any::<&Tensor>().try_aminmax_with(|o| o);
    ops::diff(any::<&Tensor>());
    ops::try_diff(any::<&Tensor>());
    ops::diff_with(any::<&Tensor>(), |o| o);
    ops::try_diff_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().diff();
    any::<&Tensor>().try_diff();
    any::<&Tensor>().diff_with(|o| o);
    any::<&Tensor>().try_diff_with(|o| o);
    ops::trapezoid_at(any::<&Tensor>(), any::<&Tensor>());
    ops::try_trapezoid_at(any::<&Tensor>(), any::<&Tensor>());
    ops::trapezoid_at_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_trapezoid_at_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::trapezoid(any::<&Tensor>());
    ops::try_trapezoid(any::<&Tensor>());
    ops::trapezoid_with(any::<&Tensor>(), |o| o);
    ops::try_trapezoid_with(any::<&Tensor>(), |o| o);
    ops::cumulative_trapezoid_at(any::<&Tensor>(), any::<&Tensor>());
    ops::try_cumulative_trapezoid_at(any::<&Tensor>(), any::<&Tensor>());
    ops::cumulative_trapezoid_at_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_cumulative_trapezoid_at_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::cumulative_trapezoid(any::<&Tensor>());
    ops::try_cumulative_trapezoid(any::<&Tensor>());
    ops::cumulative_trapezoid_with(any::<&Tensor>(), |o| o);
    ops::try_cumulative_trapezoid_with(any::<&Tensor>(), |o| o);
    ops::gradient(any::<&Tensor>());
    ops::try_gradient(any::<&Tensor>());
    ops::gradient_with(any::<&Tensor>(), |o| o);
    ops::try_gradient_with(any::<&Tensor>(), |o| o);
    ops::gradient_steps(any::<&Tensor>(), any::<Floats>());
    ops::try_gradient_steps(any::<&Tensor>(), any::<Floats>());
    ops::gradient_steps_with(any::<&Tensor>(), any::<Floats>(), |o| o);
    ops::try_gradient_steps_with(any::<&Tensor>(), any::<Floats>(), |o| o);
    ops::gradient_at(any::<&Tensor>(), any::<&[Tensor]>());
    ops::try_gradient_at(any::<&Tensor>(), any::<&[Tensor]>());
    ops::gradient_at_with(any::<&Tensor>(), any::<&[Tensor]>(), |o| o);
    ops::try_gradient_at_with(any::<&Tensor>(), any::<&[Tensor]>(), |o| o);
    ops::frobenius_norm(any::<&Tensor>(), any::<i64>());
    ops::try_frobenius_norm(any::<&Tensor>(), any::<i64>());
    ops::frobenius_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_frobenius_norm_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::norm_except_dim(any::<&Tensor>());
    ops::try_norm_except_dim(any::<&Tensor>());
    ops::norm_except_dim_with(any::<&Tensor>(), |o| o);
    ops::try_norm_except_dim_with(any::<&Tensor>(), |o| o);
    ops::renorm(any::<&Tensor>(), any::<f64>(), any::<i64>(), any::<f64>());
    ops::try_renorm(any::<&Tensor>(), any::<f64>(), any::<i64>(), any::<f64>());
    any::<&Tensor>().renorm(any::<f64>(), any::<i64>(), any::<f64>());
    any::<&Tensor>().try_renorm(any::<f64>(), any::<i64>(), any::<f64>());
    any::<&Tensor>().renorm_(any::<f64>(), any::<i64>(), any::<f64>());
    any::<&Tensor>().try_renorm_(any::<f64>(), any::<i64>(), any::<f64>());
    ops::hash_tensor(any::<&Tensor>());
    ops::try_hash_tensor(any::<&Tensor>());
    ops::hash_tensor_with(any::<&Tensor>(), |o| o);
    ops::try_hash_tensor_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().hash_tensor();
    any::<&Tensor>().try_hash_tensor();
    any::<&Tensor>().hash_tensor_with(|o| o);
    any::<&Tensor>().try_hash_tensor_with(|o| o);
    ops::masked::sum(any::<&Tensor>());
    ops::masked::try_sum(any::<&Tensor>());
    ops::masked::sum_with(any::<&Tensor>(), |o| o);
    ops::masked::try_sum_with(any::<&Tensor>(), |o| o);
    ops::masked::prod(any::<&Tensor>());
    ops::masked::try_prod(any::<&Tensor>());
    ops::masked::prod_with(any::<&Tensor>(), |o| o);
    ops::masked::try_prod_with(any::<&Tensor>(), |o| o);
    ops::masked::cumsum(any::<&Tensor>(), any::<i64>());
    ops::masked::try_cumsum(any::<&Tensor>(), any::<i64>());
    ops::masked::cumsum_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::try_cumsum_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::cumprod(any::<&Tensor>(), any::<i64>());
    ops::masked::try_cumprod(any::<&Tensor>(), any::<i64>());
    ops::masked::cumprod_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::try_cumprod_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::amax(any::<&Tensor>());
    ops::masked::try_amax(any::<&Tensor>());
    ops::masked::amax_with(any::<&Tensor>(), |o| o);
    ops::masked::try_amax_with(any::<&Tensor>(), |o| o);
    ops::masked::amin(any::<&Tensor>());
    ops::masked::try_amin(any::<&Tensor>());
    ops::masked::amin_with(any::<&Tensor>(), |o| o);
    ops::masked::try_amin_with(any::<&Tensor>(), |o| o);
    ops::masked::argmax(any::<&Tensor>());
    ops::masked::try_argmax(any::<&Tensor>());
    ops::masked::argmax_with(any::<&Tensor>(), |o| o);
    ops::masked::try_argmax_with(any::<&Tensor>(), |o| o);
    ops::masked::argmin(any::<&Tensor>());
    ops::masked::try_argmin(any::<&Tensor>());
    ops::masked::argmin_with(any::<&Tensor>(), |o| o);
    ops::masked::try_argmin_with(any::<&Tensor>(), |o| o);
    ops::masked::mean(any::<&Tensor>());
    ops::masked::try_mean(any::<&Tensor>());
    ops::masked::mean_with(any::<&Tensor>(), |o| o);
    ops::masked::try_mean_with(any::<&Tensor>(), |o| o);
    ops::masked::median(any::<&Tensor>());
    ops::masked::try_median(any::<&Tensor>());
    ops::masked::median_with(any::<&Tensor>(), |o| o);
    ops::masked::try_median_with(any::<&Tensor>(), |o| o);
    ops::masked::norm(any::<&Tensor>());
    ops::masked::try_norm(any::<&Tensor>());
    ops::masked::norm_with(any::<&Tensor>(), |o| o);
    ops::masked::try_norm_with(any::<&Tensor>(), |o| o);
    ops::masked::var(any::<&Tensor>());
    ops::masked::try_var(any::<&Tensor>());
    ops::masked::var_with(any::<&Tensor>(), |o| o);
    ops::masked::try_var_with(any::<&Tensor>(), |o| o);
    ops::masked::std(any::<&Tensor>());
    ops::masked::try_std(any::<&Tensor>());
    ops::masked::std_with(any::<&Tensor>(), |o| o);
    ops::masked::try_std_with(any::<&Tensor>(), |o| o);
    ops::masked::softmax(any::<&Tensor>(), any::<i64>());
    ops::masked::try_softmax(any::<&Tensor>(), any::<i64>());
    ops::masked::softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::try_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::log_softmax(any::<&Tensor>(), any::<i64>());
    ops::masked::try_log_softmax(any::<&Tensor>(), any::<i64>());
    ops::masked::log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::try_log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::softmin(any::<&Tensor>(), any::<i64>());
    ops::masked::try_softmin(any::<&Tensor>(), any::<i64>());
    ops::masked::softmin_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::try_softmin_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::masked::normalize(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::masked::try_normalize(any::<&Tensor>(), any::<f64>(), any::<i64>());
    ops::masked::normalize_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::masked::try_normalize_with(any::<&Tensor>(), any::<f64>(), any::<i64>(), |o| o);
    ops::masked::logaddexp(any::<&Tensor>(), any::<&Tensor>());
    ops::masked::try_logaddexp(any::<&Tensor>(), any::<&Tensor>());
    ops::masked::logaddexp_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::masked::try_logaddexp_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::masked::logsumexp(any::<&Tensor>());
    ops::masked::try_logsumexp(any::<&Tensor>());
    ops::masked::logsumexp_with(any::<&Tensor>(), |o| o);
    ops::masked::try_logsumexp_with(any::<&Tensor>(), |o| o);
    ops::special::logsumexp(any::<&Tensor>(), any::<i64>());
    ops::special::try_logsumexp(any::<&Tensor>(), any::<i64>());
    ops::special::logsumexp_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::special::try_logsumexp_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::special::softmax(any::<&Tensor>(), any::<i64>());
    ops::special::try_softmax(any::<&Tensor>(), any::<i64>());
    ops::special::softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::special::try_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::special::log_softmax(any::<&Tensor>(), any::<i64>());
    ops::special::try_log_softmax(any::<&Tensor>(), any::<i64>());
    ops::special::log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::special::try_log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
}

pub fn rnn() {
    ops::rnn_tanh(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::try_rnn_tanh(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::rnn_tanh_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::try_rnn_tanh_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::rnn_relu(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::try_rnn_relu(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::rnn_relu_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::try_rnn_relu_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::lstm(any::<&Tensor>(), any::<&[Tensor]>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::try_lstm(any::<&Tensor>(), any::<&[Tensor]>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::lstm_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::try_lstm_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::gru(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::try_gru(any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>(), any::<bool>());
    ops::gru_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::try_gru_packed(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&[Tensor]>(), any::<bool>(), any::<i64>(), any::<f64>(), any::<bool>(), any::<bool>());
    ops::rnn_tanh_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_rnn_tanh_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::rnn_tanh_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_rnn_tanh_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::rnn_relu_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_rnn_relu_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::rnn_relu_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_rnn_relu_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::lstm_cell(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_lstm_cell(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), any::<&Tensor>());
    ops::lstm_cell_with(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_lstm_cell_with(any::<&Tensor>(), any::<&[Tensor]>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::gru_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::try_gru_cell(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::gru_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_gru_cell_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
}

pub fn sets() {
    ops::unique(any::<&Tensor>());
    ops::try_unique(any::<&Tensor>());
    ops::unique_with(any::<&Tensor>(), |o| o);
    ops::try_unique_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().unique();
    any::<&Tensor>().try_unique();
    any::<&Tensor>().unique_with(|o| o);
    any::<&Tensor>().try_unique_with(|o| o);
    ops::unique_consecutive(any::<&Tensor>());
    ops::try_unique_consecutive(any::<&Tensor>());
    ops::unique_consecutive_with(any::<&Tensor>(), |o| o);
    ops::try_unique_consecutive_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().unique_consecutive();
    any::<&Tensor>().try_unique_consecutive();
    any::<&Tensor>().unique_consecutive_with(|o| o);
    any::<&Tensor>().try_unique_consecutive_with(|o| o);
    ops::bincount(any::<&Tensor>());
    ops::try_bincount(any::<&Tensor>());
    ops::bincount_with(any::<&Tensor>(), |o| o);
    ops::try_bincount_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().bincount();
    any::<&Tensor>().try_bincount();
    any::<&Tensor>().bincount_with(|o| o);
    any::<&Tensor>().try_bincount_with(|o| o);
    ops::unravel_index(any::<&Tensor>(), any::<i64>());
    ops::try_unravel_index(any::<&Tensor>(), any::<i64>());
    ops::searchsorted(any::<&Tensor>(), any::<&Tensor>());
    ops::try_searchsorted(any::<&Tensor>(), any::<&Tensor>());
    ops::searchsorted_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_searchsorted_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::bucketize(any::<&Tensor>(), any::<&Tensor>());
    ops::try_bucketize(any::<&Tensor>(), any::<&Tensor>());
    ops::bucketize_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_bucketize_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::histc(any::<&Tensor>());
    ops::try_histc(any::<&Tensor>());
    ops::histc_with(any::<&Tensor>(), |o| o);
    ops::try_histc_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().histc();
    any::<&Tensor>().try_histc();
    any::<&Tensor>().histc_with(|o| o);
    any::<&Tensor>().try_histc_with(|o| o);
    ops::histogram_edges(any::<&Tensor>(), any::<&Tensor>());
    ops::try_histogram_edges(any::<&Tensor>(), any::<&Tensor>());
    ops::histogram_edges_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_histogram_edges_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().histogram_edges(any::<&Tensor>());
    any::<&Tensor>().try_histogram_edges(any::<&Tensor>());
    any::<&Tensor>().histogram_edges_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_histogram_edges_with(any::<&Tensor>(), |o| o);
    ops::histogram(any::<&Tensor>());
    ops::try_histogram(any::<&Tensor>());
    ops::histogram_with(any::<&Tensor>(), |o| o);
    ops::try_histogram_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().histogram();
    any::<&Tensor>().try_histogram();
    any::<&Tensor>().histogram_with(|o| o);
    any::<&Tensor>().try_histogram_with(|o| o);
    ops::histogramdd(any::<&Tensor>(), any::<i64>());
    ops::try_histogramdd(any::<&Tensor>(), any::<i64>());
    ops::histogramdd_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_histogramdd_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::histogramdd_bins(any::<&Tensor>(), any::<i64>());
    ops::try_histogramdd_bins(any::<&Tensor>(), any::<i64>());
    ops::histogramdd_bins_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_histogramdd_bins_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::histogramdd_edges(any::<&Tensor>(), any::<&[Tensor]>());
    ops::try_histogramdd_edges(any::<&Tensor>(), any::<&[Tensor]>());
    ops::histogramdd_edges_with(any::<&Tensor>(), any::<&[Tensor]>(), |o| o);
    ops::try_histogramdd_edges_with(any::<&Tensor>(), any::<&[Tensor]>(), |o| o);
}

pub fn sort() {
    ops::sort(any::<&Tensor>());
    ops::try_sort(any::<&Tensor>());
    ops::sort_with(any::<&Tensor>(), |o| o);
    ops::try_sort_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().sort();
    any::<&Tensor>().try_sort();
    any::<&Tensor>().sort_with(|o| o);
    any::<&Tensor>().try_sort_with(|o| o);
    ops::sort_stable(any::<&Tensor>());
    ops::try_sort_stable(any::<&Tensor>());
    ops::sort_stable_with(any::<&Tensor>(), |o| o);
    ops::try_sort_stable_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().sort_stable();
    any::<&Tensor>().try_sort_stable();
    any::<&Tensor>().sort_stable_with(|o| o);
    any::<&Tensor>().try_sort_stable_with(|o| o);
    ops::argsort(any::<&Tensor>());
    ops::try_argsort(any::<&Tensor>());
    ops::argsort_with(any::<&Tensor>(), |o| o);
    ops::try_argsort_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().argsort();
    any::<&Tensor>().try_argsort();
    any::<&Tensor>().argsort_with(|o| o);
    any::<&Tensor>().try_argsort_with(|o| o);
    ops::argsort_stable(any::<&Tensor>());
    ops::try_argsort_stable(any::<&Tensor>());
    ops::argsort_stable_with(any::<&Tensor>(), |o| o);
    ops::try_argsort_stable_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().argsort_stable();
    any::<&Tensor>().try_argsort_stable();
    any::<&Tensor>().argsort_stable_with(|o| o);
    any::<&Tensor>().try_argsort_stable_with(|o| o);
    ops::msort(any::<&Tensor>());
    ops::try_msort(any::<&Tensor>());
    any::<&Tensor>().msort();
    any::<&Tensor>().try_msort();
    ops::topk(any::<&Tensor>(), any::<i64>());
    ops::try_topk(any::<&Tensor>(), any::<i64>());
    ops::topk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_topk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().topk(any::<i64>());
    any::<&Tensor>().try_topk(any::<i64>());
    any::<&Tensor>().topk_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_topk_with(any::<i64>(), |o| o);
    ops::kthvalue(any::<&Tensor>(), any::<i64>());
    ops::try_kthvalue(any::<&Tensor>(), any::<i64>());
    ops::kthvalue_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_kthvalue_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().kthvalue(any::<i64>());
    any::<&Tensor>().try_kthvalue(any::<i64>());
    any::<&Tensor>().kthvalue_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_kthvalue_with(any::<i64>(), |o| o);
    ops::median(any::<&Tensor>());
    ops::try_median(any::<&Tensor>());
    any::<&Tensor>().median();
    any::<&Tensor>().try_median();
    ops::median_dim(any::<&Tensor>(), any::<i64>());
    ops::try_median_dim(any::<&Tensor>(), any::<i64>());
    ops::median_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_median_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().median_dim(any::<i64>());
    any::<&Tensor>().try_median_dim(any::<i64>());
    any::<&Tensor>().median_dim_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_median_dim_with(any::<i64>(), |o| o);
    ops::nanmedian(any::<&Tensor>());
    ops::try_nanmedian(any::<&Tensor>());
    any::<&Tensor>().nanmedian();
    any::<&Tensor>().try_nanmedian();
    ops::nanmedian_dim(any::<&Tensor>(), any::<i64>());
    ops::try_nanmedian_dim(any::<&Tensor>(), any::<i64>());
    ops::nanmedian_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_nanmedian_dim_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().nanmedian_dim(any::<i64>());
    any::<&Tensor>().try_nanmedian_dim(any::<i64>());
    any::<&Tensor>().nanmedian_dim_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_nanmedian_dim_with(any::<i64>(), |o| o);
    ops::mode(any::<&Tensor>());
    ops::try_mode(any::<&Tensor>());
    ops::mode_with(any::<&Tensor>(), |o| o);
    ops::try_mode_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().mode();
    any::<&Tensor>().try_mode();
    any::<&Tensor>().mode_with(|o| o);
    any::<&Tensor>().try_mode_with(|o| o);
    ops::quantiles(any::<&Tensor>(), any::<&Tensor>());
    ops::try_quantiles(any::<&Tensor>(), any::<&Tensor>());
    ops::quantiles_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_quantiles_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().quantiles(any::<&Tensor>());
    any::<&Tensor>().try_quantiles(any::<&Tensor>());
    any::<&Tensor>().quantiles_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_quantiles_with(any::<&Tensor>(), |o| o);
    ops::quantile(any::<&Tensor>(), any::<f64>());
    ops::try_quantile(any::<&Tensor>(), any::<f64>());
    ops::quantile_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::try_quantile_with(any::<&Tensor>(), any::<f64>(), |o| o);
    any::<&Tensor>().quantile(any::<f64>());
    any::<&Tensor>().try_quantile(any::<f64>());
    any::<&Tensor>().quantile_with(any::<f64>(), |o| o);
    any::<&Tensor>().try_quantile_with(any::<f64>(), |o| o);
    ops::nanquantiles(any::<&Tensor>(), any::<&Tensor>());
    ops::try_nanquantiles(any::<&Tensor>(), any::<&Tensor>());
    ops::nanquantiles_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_nanquantiles_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().nanquantiles(any::<&Tensor>());
    any::<&Tensor>().try_nanquantiles(any::<&Tensor>());
    any::<&Tensor>().nanquantiles_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_nanquantiles_with(any::<&Tensor>(), |o| o);
    ops::nanquantile(any::<&Tensor>(), any::<f64>());
    ops::try_nanquantile(any::<&Tensor>(), any::<f64>());
    ops::nanquantile_with(any::<&Tensor>(), any::<f64>(), |o| o);
    ops::try_nanquantile_with(any::<&Tensor>(), any::<f64>(), |o| o);
    any::<&Tensor>().nanquantile(any::<f64>());
    any::<&Tensor>().try_nanquantile(any::<f64>());
    any::<&Tensor>().nanquantile_with(any::<f64>(), |o| o);
    any::<&Tensor>().try_nanquantile_with(any::<f64>(), |o| o);
}

pub fn sparse() {
    any::<&Tensor>().coalesce();
    any::<&Tensor>().try_coalesce();
    any::<&Tensor>().values();
    any::<&Tensor>().try_values();
    any::<&Tensor>().to_dense();
    any::<&Tensor>().try_to_dense();
    any::<&Tensor>().to_dense_with(|o| o);
    any::<&Tensor>().try_to_dense_with(|o| o);
    any::<&Tensor>().to_sparse();
    any::<&Tensor>().try_to_sparse();
    any::<&Tensor>().to_sparse_with(|o| o);
    any::<&Tensor>().try_to_sparse_with(|o| o);
    any::<&Tensor>().to_sparse_dim(any::<i64>());
    any::<&Tensor>().try_to_sparse_dim(any::<i64>());
    any::<&Tensor>().to_sparse_coo();
    any::<&Tensor>().try_to_sparse_coo();
    any::<&Tensor>().to_sparse_csr();
    any::<&Tensor>().try_to_sparse_csr();
    any::<&Tensor>().to_sparse_csr_with(|o| o);
    any::<&Tensor>().try_to_sparse_csr_with(|o| o);
    any::<&Tensor>().sparse_mask(any::<&Tensor>());
    any::<&Tensor>().try_sparse_mask(any::<&Tensor>());
    ops::sparse::mm(any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::try_mm(any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::mm_reduce(any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::sparse::try_mm_reduce(any::<&Tensor>(), any::<&Tensor>(), any::<Reduce>());
    ops::sparse::sampled_addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::try_sampled_addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::sampled_addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::sparse::try_sampled_addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::sparse::addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::try_addmm(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>());
    ops::sparse::addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::sparse::try_addmm_with(any::<&Tensor>(), any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::sparse::sum(any::<&Tensor>());
    ops::sparse::try_sum(any::<&Tensor>());
    ops::sparse::sum_with(any::<&Tensor>(), |o| o);
    ops::sparse::try_sum_with(any::<&Tensor>(), |o| o);
    ops::sparse::softmax(any::<&Tensor>(), any::<i64>());
    ops::sparse::try_softmax(any::<&Tensor>(), any::<i64>());
    ops::sparse::softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::sparse::try_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::sparse::log_softmax(any::<&Tensor>(), any::<i64>());
    ops::sparse::try_log_softmax(any::<&Tensor>(), any::<i64>());
    ops::sparse::log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::sparse::try_log_softmax_with(any::<&Tensor>(), any::<i64>(), |o| o);
}

pub fn view() {
    ops::as_strided(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_as_strided(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::as_strided_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::try_as_strided_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().as_strided(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_as_strided(any::<i64>(), any::<i64>());
    any::<&Tensor>().as_strided_with(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().try_as_strided_with(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().as_strided_(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_as_strided_(any::<i64>(), any::<i64>());
    any::<&Tensor>().as_strided_with_(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().try_as_strided_with_(any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().expand(any::<i64>());
    any::<&Tensor>().try_expand(any::<i64>());
    any::<&Tensor>().expand_as(any::<&Tensor>());
    any::<&Tensor>().try_expand_as(any::<&Tensor>());
    ops::broadcast_to(any::<&Tensor>(), any::<i64>());
    ops::try_broadcast_to(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().broadcast_to(any::<i64>());
    any::<&Tensor>().try_broadcast_to(any::<i64>());
    any::<&Tensor>().view(any::<i64>());
    any::<&Tensor>().try_view(any::<i64>());
    any::<&Tensor>().view_dtype(any::<DType>());
    any::<&Tensor>().try_view_dtype(any::<DType>());
    any::<&Tensor>().view_as(any::<&Tensor>());
    any::<&Tensor>().try_view_as(any::<&Tensor>());
    ops::reshape(any::<&Tensor>(), any::<i64>());
    ops::try_reshape(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().reshape(any::<i64>());
    any::<&Tensor>().try_reshape(any::<i64>());
    any::<&Tensor>().reshape_as(any::<&Tensor>());
    any::<&Tensor>().try_reshape_as(any::<&Tensor>());
    ops::flatten(any::<&Tensor>());
    ops::try_flatten(any::<&Tensor>());
    ops::flatten_with(any::<&Tensor>(), |o| o);
    ops::try_flatten_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().flatten();
    any::<&Tensor>().try_flatten();
    any::<&Tensor>().flatten_with(|o| o);
    any::<&Tensor>().try_flatten_with(|o| o);
    ops::unflatten(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_unflatten(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().unflatten(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_unflatten(any::<i64>(), any::<i64>());
    ops::ravel(any::<&Tensor>());
    ops::try_ravel(any::<&Tensor>());
    any::<&Tensor>().ravel();
    any::<&Tensor>().try_ravel();
    any::<&Tensor>().contiguous();
    any::<&Tensor>().try_contiguous();
    any::<&Tensor>().contiguous_with(|o| o);
    any::<&Tensor>().try_contiguous_with(|o| o);
    ops::transpose(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_transpose(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().transpose(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_transpose(any::<i64>(), any::<i64>());
    any::<&Tensor>().transpose_(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_transpose_(any::<i64>(), any::<i64>());
    ops::swapaxes(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_swapaxes(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().swapaxes(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_swapaxes(any::<i64>(), any::<i64>());
    any::<&Tensor>().swapaxes_(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_swapaxes_(any::<i64>(), any::<i64>());
    ops::t(any::<&Tensor>());
    ops::try_t(any::<&Tensor>());
    any::<&Tensor>().t();
    any::<&Tensor>().try_t();
    any::<&Tensor>().t_();
    any::<&Tensor>().try_t_();
    ops::permute(any::<&Tensor>(), any::<i64>());
    ops::try_permute(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().permute(any::<i64>());
    any::<&Tensor>().try_permute(any::<i64>());
    ops::movedim(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_movedim(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().movedim(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_movedim(any::<i64>(), any::<i64>());
    ops::squeeze(any::<&Tensor>());
    ops::try_squeeze(any::<&Tensor>());
    any::<&Tensor>().squeeze();
    any::<&Tensor>().try_squeeze();
    any::<&Tensor>().squeeze_();
    any::<&Tensor>().try_squeeze_();
    ops::squeeze_dim(any::<&Tensor>(), any::<i64>());
    ops::try_squeeze_dim(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().squeeze_dim(any::<i64>());
    any::<&Tensor>().try_squeeze_dim(any::<i64>());
    any::<&Tensor>().squeeze_dim_(any::<i64>());
    any::<&Tensor>().try_squeeze_dim_(any::<i64>());
    ops::squeeze_dims(any::<&Tensor>(), any::<i64>());
    ops::try_squeeze_dims(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().squeeze_dims(any::<i64>());
    any::<&Tensor>().try_squeeze_dims(any::<i64>());
    any::<&Tensor>().squeeze_dims_(any::<i64>());
    any::<&Tensor>().try_squeeze_dims_(any::<i64>());
    ops::unsqueeze(any::<&Tensor>(), any::<i64>());
    ops::try_unsqueeze(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().unsqueeze(any::<i64>());
    any::<&Tensor>().try_unsqueeze(any::<i64>());
    any::<&Tensor>().unsqueeze_(any::<i64>());
    any::<&Tensor>().try_unsqueeze_(any::<i64>());
    ops::select(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_select(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().select(any::<i64>(), any::<i64>());
    any::<&Tensor>().try_select(any::<i64>(), any::<i64>());
    ops::narrow(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    ops::try_narrow(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().narrow(any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().try_narrow(any::<i64>(), any::<i64>(), any::<i64>());
    ops::narrow_tensor(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<i64>());
    ops::try_narrow_tensor(any::<&Tensor>(), any::<i64>(), any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().narrow_tensor(any::<i64>(), any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().try_narrow_tensor(any::<i64>(), any::<&Tensor>(), any::<i64>());
    ops::diagonal(any::<&Tensor>());
    ops::try_diagonal(any::<&Tensor>());
    ops::diagonal_with(any::<&Tensor>(), |o| o);
    ops::try_diagonal_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().diagonal();
    any::<&Tensor>().try_diagonal();
    any::<&Tensor>().diagonal_with(|o| o);
    any::<&Tensor>().try_diagonal_with(|o| o);
    ops::unbind(any::<&Tensor>());
    ops::try_unbind(any::<&Tensor>());
    ops::unbind_with(any::<&Tensor>(), |o| o);
    ops::try_unbind_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().unbind();
    any::<&Tensor>().try_unbind();
    any::<&Tensor>().unbind_with(|o| o);
    any::<&Tensor>().try_unbind_with(|o| o);
    ops::split(any::<&Tensor>(), any::<i64>());
    ops::try_split(any::<&Tensor>(), any::<i64>());
    ops::split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::split_sections(any::<&Tensor>(), any::<i64>());
    ops::try_split_sections(any::<&Tensor>(), any::<i64>());
    ops::split_sections_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_split_sections_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().split(any::<i64>());
    any::<&Tensor>().try_split(any::<i64>());
    any::<&Tensor>().split_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_split_with(any::<i64>(), |o| o);
    any::<&Tensor>().split_sections(any::<i64>());
    any::<&Tensor>().try_split_sections(any::<i64>());
    any::<&Tensor>().split_sections_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_split_sections_with(any::<i64>(), |o| o);
    ops::split_with_sizes(any::<&Tensor>(), any::<i64>());
    ops::try_split_with_sizes(any::<&Tensor>(), any::<i64>());
    ops::split_with_sizes_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_split_with_sizes_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().split_with_sizes(any::<i64>());
    any::<&Tensor>().try_split_with_sizes(any::<i64>());
    any::<&Tensor>().split_with_sizes_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_split_with_sizes_with(any::<i64>(), |o| o);
    ops::chunk(any::<&Tensor>(), any::<i64>());
    ops::try_chunk(any::<&Tensor>(), any::<i64>());
    ops::chunk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_chunk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().chunk(any::<i64>());
    any::<&Tensor>().try_chunk(any::<i64>());
    any::<&Tensor>().chunk_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_chunk_with(any::<i64>(), |o| o);
    ops::unsafe_split(any::<&Tensor>(), any::<i64>());
    ops::try_unsafe_split(any::<&Tensor>(), any::<i64>());
    ops::unsafe_split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_unsafe_split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().unsafe_split(any::<i64>());
    any::<&Tensor>().try_unsafe_split(any::<i64>());
    any::<&Tensor>().unsafe_split_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_unsafe_split_with(any::<i64>(), |o| o);
    ops::unsafe_split_with_sizes(any::<&Tensor>(), any::<i64>());
    ops::try_unsafe_split_with_sizes(any::<&Tensor>(), any::<i64>());
    ops::unsafe_split_with_sizes_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_unsafe_split_with_sizes_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().unsafe_split_with_sizes(any::<i64>());
    any::<&Tensor>().try_unsafe_split_with_sizes(any::<i64>());
    any::<&Tensor>().unsafe_split_with_sizes_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_unsafe_split_with_sizes_with(any::<i64>(), |o| o);
    ops::unsafe_chunk(any::<&Tensor>(), any::<i64>());
    ops::try_unsafe_chunk(any::<&Tensor>(), any::<i64>());
    ops::unsafe_chunk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_unsafe_chunk_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().unsafe_chunk(any::<i64>());
    any::<&Tensor>().try_unsafe_chunk(any::<i64>());
    any::<&Tensor>().unsafe_chunk_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_unsafe_chunk_with(any::<i64>(), |o| o);
    ops::cat(any::<&[Tensor]>());
    ops::try_cat(any::<&[Tensor]>());
    ops::cat_with(any::<&[Tensor]>(), |o| o);
    ops::try_cat_with(any::<&[Tensor]>(), |o| o);
    ops::stack(any::<&[Tensor]>());
    ops::try_stack(any::<&[Tensor]>());
    ops::stack_with(any::<&[Tensor]>(), |o| o);
    ops::try_stack_with(any::<&[Tensor]>(), |o| o);
    ops::flip(any::<&Tensor>(), any::<i64>());
    ops::try_flip(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().flip(any::<i64>());
    any::<&Tensor>().try_flip(any::<i64>());
    ops::diag(any::<&Tensor>());
    ops::try_diag(any::<&Tensor>());
    ops::diag_with(any::<&Tensor>(), |o| o);
    ops::try_diag_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().diag();
    any::<&Tensor>().try_diag();
    any::<&Tensor>().diag_with(|o| o);
    any::<&Tensor>().try_diag_with(|o| o);
    ops::diagflat(any::<&Tensor>());
    ops::try_diagflat(any::<&Tensor>());
    ops::diagflat_with(any::<&Tensor>(), |o| o);
    ops::try_diagflat_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().diagflat();
    any::<&Tensor>().try_diagflat();
    any::<&Tensor>().diagflat_with(|o| o);
    any::<&Tensor>().try_diagflat_with(|o| o);
    ops::diag_embed(any::<&Tensor>());
    ops::try_diag_embed(any::<&Tensor>());
    ops::diag_embed_with(any::<&Tensor>(), |o| o);
    ops::try_diag_embed_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().diag_embed();
    any::<&Tensor>().try_diag_embed();
    any::<&Tensor>().diag_embed_with(|o| o);
    any::<&Tensor>().try_diag_embed_with(|o| o);
    ops::trace(any::<&Tensor>());
    ops::try_trace(any::<&Tensor>());
    any::<&Tensor>().trace();
    any::<&Tensor>().try_trace();
    ops::select_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_select_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().select_scatter(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().try_select_scatter(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::slice_scatter(any::<&Tensor>(), any::<&Tensor>());
    ops::try_slice_scatter(any::<&Tensor>(), any::<&Tensor>());
    ops::slice_scatter_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_slice_scatter_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().slice_scatter(any::<&Tensor>());
    any::<&Tensor>().try_slice_scatter(any::<&Tensor>());
    any::<&Tensor>().slice_scatter_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_slice_scatter_with(any::<&Tensor>(), |o| o);
    ops::diagonal_scatter(any::<&Tensor>(), any::<&Tensor>());
    ops::try_diagonal_scatter(any::<&Tensor>(), any::<&Tensor>());
    ops::diagonal_scatter_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_diagonal_scatter_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().diagonal_scatter(any::<&Tensor>());
    any::<&Tensor>().try_diagonal_scatter(any::<&Tensor>());
    any::<&Tensor>().diagonal_scatter_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_diagonal_scatter_with(any::<&Tensor>(), |o| o);
    ops::as_strided_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_as_strided_scatter(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::as_strided_scatter_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::try_as_strided_scatter_with(any::<&Tensor>(), any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().as_strided_scatter(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().try_as_strided_scatter(any::<&Tensor>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().as_strided_scatter_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().try_as_strided_scatter_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    any::<&Tensor>().repeat(any::<i64>());
    any::<&Tensor>().try_repeat(any::<i64>());
    ops::tile(any::<&Tensor>(), any::<i64>());
    ops::try_tile(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().tile(any::<i64>());
    any::<&Tensor>().try_tile(any::<i64>());
    ops::repeat_interleave_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::try_repeat_interleave_tensor(any::<&Tensor>(), any::<&Tensor>());
    ops::repeat_interleave_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_repeat_interleave_tensor_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().repeat_interleave_tensor(any::<&Tensor>());
    any::<&Tensor>().try_repeat_interleave_tensor(any::<&Tensor>());
    any::<&Tensor>().repeat_interleave_tensor_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_repeat_interleave_tensor_with(any::<&Tensor>(), |o| o);
    ops::repeat_interleave(any::<&Tensor>(), any::<i64>());
    ops::try_repeat_interleave(any::<&Tensor>(), any::<i64>());
    ops::repeat_interleave_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_repeat_interleave_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().repeat_interleave(any::<i64>());
    any::<&Tensor>().try_repeat_interleave(any::<i64>());
    any::<&Tensor>().repeat_interleave_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_repeat_interleave_with(any::<i64>(), |o| o);
    ops::repeated_indices(any::<&Tensor>());
    ops::try_repeated_indices(any::<&Tensor>());
    ops::repeated_indices_with(any::<&Tensor>(), |o| o);
    ops::try_repeated_indices_with(any::<&Tensor>(), |o| o);
    ops::roll(any::<&Tensor>(), any::<i64>());
    ops::try_roll(any::<&Tensor>(), any::<i64>());
    ops::roll_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_roll_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().roll(any::<i64>());
    any::<&Tensor>().try_roll(any::<i64>());
    any::<&Tensor>().roll_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_roll_with(any::<i64>(), |o| o);
    ops::rot90(any::<&Tensor>());
    ops::try_rot90(any::<&Tensor>());
    ops::rot90_with(any::<&Tensor>(), |o| o);
    ops::try_rot90_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().rot90();
    any::<&Tensor>().try_rot90();
    any::<&Tensor>().rot90_with(|o| o);
    any::<&Tensor>().try_rot90_with(|o| o);
    ops::fliplr(any::<&Tensor>());
    ops::try_fliplr(any::<&Tensor>());
    any::<&Tensor>().fliplr();
    any::<&Tensor>().try_fliplr();
    ops::flipud(any::<&Tensor>());
    ops::try_flipud(any::<&Tensor>());
    any::<&Tensor>().flipud();
    any::<&Tensor>().try_flipud();
    ops::atleast_1d(any::<&Tensor>());
    ops::try_atleast_1d(any::<&Tensor>());
    ops::all_atleast_1d(any::<&[Tensor]>());
    ops::try_all_atleast_1d(any::<&[Tensor]>());
    ops::atleast_2d(any::<&Tensor>());
    ops::try_atleast_2d(any::<&Tensor>());
    ops::all_atleast_2d(any::<&[Tensor]>());
    ops::try_all_atleast_2d(any::<&[Tensor]>());
    ops::atleast_3d(any::<&Tensor>());
    ops::try_atleast_3d(any::<&Tensor>());
    ops::all_atleast_3d(any::<&[Tensor]>());
    ops::try_all_atleast_3d(any::<&[Tensor]>());
    ops::hstack(any::<&[Tensor]>());
    ops::try_hstack(any::<&[Tensor]>());
    ops::vstack(any::<&[Tensor]>());
    ops::try_vstack(any::<&[Tensor]>());
    ops::dstack(any::<&[Tensor]>());
    ops::try_dstack(any::<&[Tensor]>());
    ops::column_stack(any::<&[Tensor]>());
    ops::try_column_stack(any::<&[Tensor]>());
    ops::block_diag(any::<&[Tensor]>());
    ops::try_block_diag(any::<&[Tensor]>());
    ops::meshgrid(any::<&[Tensor]>());
    ops::try_meshgrid(any::<&[Tensor]>());
    ops::meshgrid_with(any::<&[Tensor]>(), |o| o);
    ops::try_meshgrid_with(any::<&[Tensor]>(), |o| o);
    ops::cartesian_prod(any::<&[Tensor]>());
    ops::try_cartesian_prod(any::<&[Tensor]>());
    ops::broadcast_tensors(any::<&[Tensor]>());
    ops::try_broadcast_tensors(any::<&[Tensor]>());
    ops::tensor_split_by(any::<&Tensor>(), any::<&Tensor>());
    ops::try_tensor_split_by(any::<&Tensor>(), any::<&Tensor>());
    ops::tensor_split_by_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    ops::try_tensor_split_by_with(any::<&Tensor>(), any::<&Tensor>(), |o| o);
    any::<&Tensor>().tensor_split_by(any::<&Tensor>());
    any::<&Tensor>().try_tensor_split_by(any::<&Tensor>());
    any::<&Tensor>().tensor_split_by_with(any::<&Tensor>(), |o| o);
    any::<&Tensor>().try_tensor_split_by_with(any::<&Tensor>(), |o| o);
    ops::tensor_split(any::<&Tensor>(), any::<i64>());
    ops::try_tensor_split(any::<&Tensor>(), any::<i64>());
    ops::tensor_split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_tensor_split_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().tensor_split(any::<i64>());
    any::<&Tensor>().try_tensor_split(any::<i64>());
    any::<&Tensor>().tensor_split_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_tensor_split_with(any::<i64>(), |o| o);
    ops::tensor_split_at(any::<&Tensor>(), any::<i64>());
    ops::try_tensor_split_at(any::<&Tensor>(), any::<i64>());
    ops::tensor_split_at_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_tensor_split_at_with(any::<&Tensor>(), any::<i64>(), |o| o);
    any::<&Tensor>().tensor_split_at(any::<i64>());
    any::<&Tensor>().try_tensor_split_at(any::<i64>());
    any::<&Tensor>().tensor_split_at_with(any::<i64>(), |o| o);
    any::<&Tensor>().try_tensor_split_at_with(any::<i64>(), |o| o);
    ops::hsplit(any::<&Tensor>(), any::<i64>());
    ops::try_hsplit(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().hsplit(any::<i64>());
    any::<&Tensor>().try_hsplit(any::<i64>());
    ops::hsplit_at(any::<&Tensor>(), any::<i64>());
    ops::try_hsplit_at(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().hsplit_at(any::<i64>());
    any::<&Tensor>().try_hsplit_at(any::<i64>());
    ops::vsplit(any::<&Tensor>(), any::<i64>());
    ops::try_vsplit(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().vsplit(any::<i64>());
    any::<&Tensor>().try_vsplit(any::<i64>());
    ops::vsplit_at(any::<&Tensor>(), any::<i64>());
    ops::try_vsplit_at(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().vsplit_at(any::<i64>());
    any::<&Tensor>().try_vsplit_at(any::<i64>());
    ops::dsplit(any::<&Tensor>(), any::<i64>());
    ops::try_dsplit(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().dsplit(any::<i64>());
    any::<&Tensor>().try_dsplit(any::<i64>());
    ops::dsplit_at(any::<&Tensor>(), any::<i64>());
    ops::try_dsplit_at(any::<&Tensor>(), any::<i64>());
    any::<&Tensor>().dsplit_at(any::<i64>());
    any::<&Tensor>().try_dsplit_at(any::<i64>());
    any::<&Tensor>().unfold(any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().try_unfold(any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().fill_diagonal_(any::<f64>());
    any::<&Tensor>().try_fill_diagonal_(any::<f64>());
    any::<&Tensor>().fill_diagonal_with_(any::<f64>(), |o| o);
    any::<&Tensor>().try_fill_diagonal_with_(any::<f64>(), |o| o);
    ops::conj(any::<&Tensor>());
    ops::try_conj(any::<&Tensor>());
    any::<&Tensor>().conj();
    any::<&Tensor>().try_conj();
    ops::real(any::<&Tensor>());
    ops::try_real(any::<&Tensor>());
    ops::imag(any::<&Tensor>());
    ops::try_imag(any::<&Tensor>());
    ops::view_as_real(any::<&Tensor>());
    ops::try_view_as_real(any::<&Tensor>());
    ops::view_as_complex(any::<&Tensor>());
    ops::try_view_as_complex(any::<&Tensor>());
    ops::alias_copy(any::<&Tensor>());
    ops::try_alias_copy(any::<&Tensor>());
    ops::as_strided_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_as_strided_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::as_strided_copy_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::try_as_strided_copy_with(any::<&Tensor>(), any::<i64>(), any::<i64>(), |o| o);
    ops::diagonal_copy(any::<&Tensor>());
    ops::try_diagonal_copy(any::<&Tensor>());
    ops::diagonal_copy_with(any::<&Tensor>(), |o| o);
    ops::try_diagonal_copy_with(any::<&Tensor>(), |o| o);
    ops::expand_copy(any::<&Tensor>(), any::<i64>());
    ops::try_expand_copy(any::<&Tensor>(), any::<i64>());
    ops::expand_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_expand_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::narrow_copy(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    ops::try_narrow_copy(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().narrow_copy(any::<i64>(), any::<i64>(), any::<i64>());
    any::<&Tensor>().try_narrow_copy(any::<i64>(), any::<i64>(), any::<i64>());
    ops::permute_copy(any::<&Tensor>(), any::<i64>());
    ops::try_permute_copy(any::<&Tensor>(), any::<i64>());
    ops::select_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_select_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::slice_copy(any::<&Tensor>());
    ops::try_slice_copy(any::<&Tensor>());
    ops::slice_copy_with(any::<&Tensor>(), |o| o);
    ops::try_slice_copy_with(any::<&Tensor>(), |o| o);
    ops::split_copy(any::<&Tensor>(), any::<i64>());
    ops::try_split_copy(any::<&Tensor>(), any::<i64>());
    ops::split_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_split_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::split_with_sizes_copy(any::<&Tensor>(), any::<i64>());
    ops::try_split_with_sizes_copy(any::<&Tensor>(), any::<i64>());
    ops::split_with_sizes_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::try_split_with_sizes_copy_with(any::<&Tensor>(), any::<i64>(), |o| o);
    ops::squeeze_copy(any::<&Tensor>());
    ops::try_squeeze_copy(any::<&Tensor>());
    ops::squeeze_dim_copy(any::<&Tensor>(), any::<i64>());
    ops::try_squeeze_dim_copy(any::<&Tensor>(), any::<i64>());
    ops::squeeze_dims_copy(any::<&Tensor>(), any::<i64>());
    ops::try_squeeze_dims_copy(any::<&Tensor>(), any::<i64>());
    ops::t_copy(any::<&Tensor>());
    ops::try_t_copy(any::<&Tensor>());
    ops::transpose_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::try_transpose_copy(any::<&Tensor>(), any::<i64>(), any::<i64>());
    ops::unbind_copy(any::<&Tensor>());
    ops::try_unbind_copy(any::<&Tensor>());
    ops::unbind_copy_with(any::<&Tensor>(), |o| o);
    ops::try_unbind_copy_with(any::<&Tensor>(), |o| o);
    ops::unfold_copy(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    ops::try_unfold_copy(any::<&Tensor>(), any::<i64>(), any::<i64>(), any::<i64>());
    ops::unsqueeze_copy(any::<&Tensor>(), any::<i64>());
    ops::try_unsqueeze_copy(any::<&Tensor>(), any::<i64>());
    ops::view_copy(any::<&Tensor>(), any::<i64>());
    ops::try_view_copy(any::<&Tensor>(), any::<i64>());
    ops::view_dtype_copy(any::<&Tensor>(), any::<DType>());
    ops::try_view_dtype_copy(any::<&Tensor>(), any::<DType>());
}

/// The engine's functions that are called above.
pub const CALLED: &[&str] = &[
    "create::empty",
    "create::empty_strided",
    "create::empty_permuted",
    "create::zeros",
    "create::ones",
    "create::full",
    "create::scalar_tensor",
    "create::range::arange_to",
    "create::range::arange_from",
    "create::range::range",
    "create::range::linspace",
    "create::range::linspace_tensors",
    "create::range::eye",
    "create::like::empty_like",
    "create::like::zeros_like",
    "create::like::ones_like",
    "create::like::full_like",
    "create::like::new_empty",
    "create::like::new_empty_strided",
    "create::like::new_zeros",
    "create::like::new_ones",
    "create::like::new_full",
    "create::triangle::tril",
    "create::triangle::triu",
    "create::frequencies::fftfreq",
    "create::frequencies::rfftfreq",
    "create::spaced::logspace",
    "create::spaced::logspace_tensors",
    "create::spaced::tril_indices",
    "create::spaced::triu_indices",
    "create::signal::bartlett",
    "create::signal::blackman",
    "create::signal::cosine",
    "create::signal::exponential",
    "create::signal::gaussian",
    "create::signal::general_cosine",
    "create::signal::general_hamming",
    "create::signal::hamming",
    "create::signal::hann",
    "create::signal::kaiser",
    "create::signal::nuttall",
    "create::window::hann_window",
    "create::window::hamming_window",
    "create::window::blackman_window",
    "create::window::bartlett_window",
    "create::window::kaiser_window",
    "create::products::combinations",
    "random::factory::rand",
    "random::factory::randn",
    "random::factory::randint_to",
    "random::factory::randint_from",
    "random::factory::randperm",
    "random::factory::rand_like",
    "random::factory::randn_like",
    "random::factory::randint_like_to",
    "random::factory::randint_like_from",
    "random::uniform",
    "random::normal",
    "random::exponential",
    "random::cauchy",
    "random::log_normal",
    "random::geometric",
    "random::random_from",
    "random::random_to",
    "random::random",
    "random::bernoulli",
    "random::bernoulli_with",
    "random::bernoulli_each",
    "random::bernoulli_all",
    "random::choice::multinomial",
    "random::choice::normal_around",
    "random::choice::normal_within",
    "random::choice::normal_each",
    "random::choice::normal_of_size",
    "random::variates::poisson",
    "random::variates::binomial",
    "random::variates::standard_gamma",
    "random::variates::standard_gamma_grad",
    "random::variates::sample_dirichlet",
    "random::variates::dirichlet_grad",
    "memory::clone_of",
    "memory::copy",
    "memory::fill",
    "memory::zero",
    "memory::detach_of",
    "memory::to_dtype",
    "memory::to_other",
    "memory::zero_function",
    "casts::to_bool",
    "casts::to_byte",
    "casts::to_char",
    "casts::to_short",
    "casts::to_int",
    "casts::to_long",
    "casts::to_half",
    "casts::to_bfloat16",
    "casts::to_float",
    "casts::to_double",
    "casts::to_chalf",
    "casts::to_cfloat",
    "casts::to_cdouble",
    "casts::cpu",
    "casts::type_as",
    "casts::resolve_conj",
    "casts::resolve_neg",
    "casts::adjoint",
    "queries::get_device",
    "queries::is_conj",
    "queries::is_neg",
    "queries::is_nonzero",
    "queries::is_same_size",
    "queries::is_set_to",
    "queries::is_signed",
    "pointwise::arith::add",
    "pointwise::arith::sub",
    "pointwise::arith::rsub",
    "pointwise::arith::mul",
    "pointwise::arith::neg",
    "pointwise::arith::positive",
    "pointwise::division::div",
    "pointwise::division::div_rounded",
    "pointwise::division::floor_divide",
    "pointwise::division::reciprocal",
    "pointwise::remainder::remainder",
    "pointwise::remainder::fmod",
    "pointwise::power::pow",
    "pointwise::power::square",
    "pointwise::roots::sqrt",
    "pointwise::roots::rsqrt",
    "pointwise::activation::tanh",
    "pointwise::activation::nn_tanh",
    "pointwise::activation::sigmoid",
    "pointwise::activation::nn_sigmoid",
    "pointwise::activation::relu",
    "pointwise::activation::nn_relu",
    "pointwise::rounding::abs",
    "pointwise::rounding::sign",
    "pointwise::rounding::floor",
    "pointwise::rounding::ceil",
    "pointwise::rounding::trunc",
    "pointwise::rounding::round",
    "pointwise::rounding::round_decimals",
    "pointwise::compare::eq",
    "pointwise::compare::ne",
    "pointwise::compare::lt",
    "pointwise::compare::le",
    "pointwise::compare::gt",
    "pointwise::compare::ge",
    "pointwise::compare::equal",
    "pointwise::compare::isclose",
    "pointwise::compare::allclose",
    "pointwise::logic::logical_and",
    "pointwise::logic::logical_or",
    "pointwise::logic::logical_xor",
    "pointwise::logic::logical_not",
    "pointwise::logic::bitwise_and",
    "pointwise::logic::bitwise_or",
    "pointwise::logic::bitwise_xor",
    "pointwise::logic::bitwise_not",
    "pointwise::shift::bitwise_left_shift",
    "pointwise::shift::bitwise_right_shift",
    "pointwise::logic::isnan",
    "pointwise::logic::isinf",
    "pointwise::logic::isfinite",
    "pointwise::complex::conj_physical",
    "pointwise::polar::complex",
    "pointwise::polar::polar",
    "pointwise::select::maximum",
    "pointwise::select::minimum",
    "pointwise::clamp::clamp",
    "pointwise::clamp::clamp_min",
    "pointwise::clamp::clamp_max",
    "pointwise::clamp::clamp_function",
    "pointwise::clamp::clamp_min_function",
    "pointwise::clamp::clamp_max_function",
    "pointwise::select::where_",
    "pointwise::select::where_method",
    "pointwise::select::masked_fill",
    "reduce::covariance::cov",
    "reduce::covariance::corrcoef",
    "reduce::sum::sum",
    "reduce::sum::sum_over",
    "reduce::sum::sum_to",
    "reduce::sum::mean",
    "reduce::sum::mean_over",
    "reduce::prod::prod",
    "reduce::prod::prod_dim",
    "reduce::extreme::amax",
    "reduce::extreme::amin",
    "reduce::extreme::max",
    "reduce::extreme::max_dim",
    "reduce::extreme::max_of",
    "reduce::extreme::min",
    "reduce::extreme::min_dim",
    "reduce::extreme::min_of",
    "reduce::extreme::argmax",
    "reduce::extreme::argmin",
    "reduce::moments::var",
    "reduce::moments::std",
    "reduce::moments::var_mean",
    "reduce::moments::std_mean",
    "reduce::logic::all",
    "reduce::logic::all_dims",
    "reduce::logic::any",
    "reduce::logic::any_dims",
    "reduce::logic::count_nonzero",
    "reduce::softmax::logsumexp",
    "reduce::softmax::softmax",
    "reduce::softmax::log_softmax",
    "reduce::softmax::functional_softmax",
    "reduce::softmax::functional_log_softmax",
    "reduce::softmax::softmin",
    "reduce::scan::cumsum",
    "reduce::scan::cumprod",
    "reduce::norm::norm",
    "reduce::norm::norm_named",
    "reduce::norm::vector_norm",
    "reduce::norm::matrix_norm",
    "reduce::norm::matrix_norm_number",
    "reduce::norm::linalg_norm_named",
    "reduce::norm::linalg_norm",
    "reduce::norm::dist",
    "reduce::nan::nansum",
    "reduce::nan::nanmean",
    "reduce::cumulative::cummax",
    "reduce::cumulative::cummin",
    "reduce::cumulative::logcumsumexp",
    "reduce::aminmax::aminmax",
    "reduce::difference::diff",
    "reduce::difference::trapezoid",
    "reduce::difference::trapezoid_even",
    "reduce::difference::cumulative_trapezoid",
    "reduce::difference::cumulative_trapezoid_even",
    "reduce::gradient::gradient",
    "reduce::gradient::gradient_steps",
    "reduce::gradient::gradient_places",
    "reduce::norm::frobenius_norm",
    "reduce::norm::norm_except_dim",
    "reduce::renorm::renorm",
    "reduce::hash::hash_tensor",
    "reduce::masked::masked_sum",
    "reduce::masked::masked_prod",
    "reduce::masked::masked_cumsum",
    "reduce::masked::masked_cumprod",
    "reduce::masked::masked_amax",
    "reduce::masked::masked_amin",
    "reduce::masked::masked_argmax",
    "reduce::masked::masked_argmin",
    "reduce::masked::masked_mean",
    "reduce::masked::masked_median",
    "reduce::masked::masked_norm",
    "reduce::masked::masked_var",
    "reduce::masked::masked_std",
    "reduce::masked::masked_softmax",
    "reduce::masked::masked_log_softmax",
    "reduce::masked::masked_softmin",
    "reduce::masked::masked_normalize",
    "reduce::masked::masked_logaddexp",
    "reduce::masked::masked_logsumexp",
    "sort::order::sort",
    "sort::order::sort_stable",
    "sort::order::argsort",
    "sort::order::argsort_stable",
    "sort::order::msort",
    "sort::select::topk",
    "sort::select::kthvalue",
    "sort::median::median",
    "sort::median::median_dim",
    "sort::median::nanmedian",
    "sort::median::nanmedian_dim",
    "sort::mode::mode",
    "sort::quantile::quantile",
    "sort::quantile::quantile_number",
    "sort::quantile::nanquantile",
    "sort::quantile::nanquantile_number",
    "view::strided::as_strided",
    "view::expand::expand",
    "view::expand::expand_as",
    "view::expand::broadcast_to",
    "view::shape::view_sizes",
    "view::shape::view_dtype",
    "view::shape::view_like",
    "view::shape::reshape",
    "view::shape::reshape_as",
    "view::shape::flatten",
    "view::shape::unflatten",
    "view::shape::ravel",
    "view::shape::contiguous",
    "view::axes::transpose",
    "view::axes::swapaxes",
    "view::axes::t",
    "view::axes::permute",
    "view::axes::movedim",
    "view::axes::squeeze_all",
    "view::axes::squeeze_dim",
    "view::axes::squeeze_dims",
    "view::axes::unsqueeze",
    "view::slice::select",
    "view::slice::narrow",
    "view::slice::narrow_tensor",
    "view::slice::diagonal",
    "view::split::unbind",
    "view::split::split",
    "view::split::split_sections",
    "view::split::split_method",
    "view::split::split_sections_method",
    "view::split::split_with_sizes",
    "view::split::chunk",
    "view::split::unsafe_split",
    "view::split::unsafe_split_with_sizes",
    "view::split::unsafe_chunk",
    "view::join::cat",
    "view::join::stack",
    "view::flip::flip",
    "view::diag::diag",
    "view::diag::diagflat",
    "view::diag::diag_embed",
    "view::diag::trace",
    "view::scatter_views::select_scatter",
    "view::scatter_views::slice_scatter",
    "view::scatter_views::diagonal_scatter",
    "view::strided_scatter::as_strided_scatter",
    "view::repeat::repeat",
    "view::repeat::tile",
    "view::repeat::repeat_interleave",
    "view::repeat::repeat_each",
    "view::repeat::repeated_indices",
    "view::roll::roll",
    "view::roll::rot90",
    "view::roll::fliplr",
    "view::roll::flipud",
    "view::stack::atleast_1d",
    "view::stack::all_atleast_1d",
    "view::stack::atleast_2d",
    "view::stack::all_atleast_2d",
    "view::stack::atleast_3d",
    "view::stack::all_atleast_3d",
    "view::stack::hstack",
    "view::stack::vstack",
    "view::stack::dstack",
    "view::stack::column_stack",
    "view::stack::block_diag",
    "view::stack::meshgrid",
    "view::stack::cartesian_prod",
    "view::stack::broadcast_all",
    "view::split_variants::tensor_split_as",
    "view::split_variants::tensor_split_even",
    "view::split_variants::tensor_split",
    "view::split_variants::hsplit_even",
    "view::split_variants::hsplit",
    "view::split_variants::vsplit_even",
    "view::split_variants::vsplit",
    "view::split_variants::dsplit_even",
    "view::split_variants::dsplit",
    "view::unfold::unfold",
    "view::fill_diagonal::fill_diagonal",
    "view::complex::conj",
    "view::complex::real",
    "view::complex::imag",
    "view::complex::view_as_real",
    "view::complex::view_as_complex",
    "sparse::coalesce",
    "sparse::values",
    "sparse::to_dense",
    "sparse::to_sparse",
    "sparse::to_sparse_dim",
    "sparse::to_sparse_coo",
    "sparse::to_sparse_csr",
    "sparse::mask::sparse_mask",
    "sparse::product::mm",
    "sparse::csr::mm_reduce",
    "sparse::csr::sampled_addmm",
    "sparse::product::addmm",
    "sparse::sum::sum",
    "sparse::softmax::softmax",
    "sparse::softmax::log_softmax",
    "view::copies::alias_copy",
    "view::copies::as_strided_copy",
    "view::copies::diagonal_copy",
    "view::copies::expand_copy",
    "view::copies::narrow_copy",
    "view::copies::permute_copy",
    "view::copies::select_copy",
    "view::copies::slice_copy",
    "view::copies::split_copy",
    "view::copies::split_with_sizes_copy",
    "view::copies::squeeze_copy",
    "view::copies::squeeze_dim_copy",
    "view::copies::squeeze_dims_copy",
    "view::copies::t_copy",
    "view::copies::transpose_copy",
    "view::copies::unbind_copy",
    "view::copies::unfold_copy",
    "view::copies::unsqueeze_copy",
    "view::copies::view_copy",
    "view::copies::view_dtype_copy",
    "index::along::index_select",
    "index::along::gather",
    "index::scatter::scatter_add",
    "index::scatter::scatter",
    "index::scatter::scatter_value",
    "index::scatter::scatter_reducing",
    "index::scatter::scatter_value_reducing",
    "index::slices::index_add",
    "index::slices::index_copy",
    "index::slices::index_fill_tensor",
    "index::slices::index_fill",
    "index::mask::masked_select",
    "index::mask::nonzero",
    "index::mask::nonzero_static",
    "index::mask::nonzero_as",
    "index::mask::where_nonzero",
    "index::flat::take",
    "index::flat::put",
    "index::flat::take_along_dim",
    "index::flat::put_indices",
    "index::flat::argwhere",
    "index::scatter_mask::masked_scatter",
    "index::scatter_reduce::scatter_reduce",
    "index::index_reduce::index_reduce",
    "index::segment::segment_reduce",
    "matmul::mm::mm",
    "matmul::bmm::bmm",
    "matmul::bmm::baddbmm",
    "matmul::addmm::addmm",
    "matmul::addmm::addmv",
    "matmul::sums::addr",
    "matmul::sums::addbmm",
    "matmul::vector::mv",
    "matmul::vector::dot",
    "matmul::vector::outer",
    "matmul::compose::matmul",
    "matmul::compose::linalg_matmul",
    "matmul::compose::linear",
    "matmul::einsum::einsum",
    "matmul::einsum::tensordot_last",
    "matmul::einsum::tensordot",
    "matmul::einsum::inner",
    "matmul::einsum::kron",
    "matmul::linalg::linalg_cross",
    "matmul::linalg::cross",
    "matmul::linalg::vecdot",
    "matmul::linalg::linalg_diagonal",
    "matmul::linalg::multi_dot",
    "matmul::linalg::chain_matmul",
    "matmul::linalg::matrix_power",
    "matmul::linalg::matrix_power_of",
    "matmul::linalg::linalg_vander",
    "matmul::cdist::cdist",
    "matmul::pdist::pdist",
    "matmul::pdist::top_pdist",
    "matmul::vandermonde::vdot",
    "matmul::vandermonde::vander",
    "matmul::exponential::matrix_exp",
    "matmul::exponential::linalg_matrix_exp",
    "nn::cross_entropy::cross_entropy",
    "nn::nll::nll_loss",
    "nn::loss::mse_loss",
    "nn::loss::l1_loss",
    "nn::gelu::gelu",
    "nn::layer_norm::layer_norm",
    "nn::embedding::embedding",
    "nn::embedding::one_hot",
    "nn::dropout::dropout",
    "nn::native::native_layer_norm",
    "nn::native::native_group_norm",
    "nn::native::native_batch_norm",
    "nn::native::_native_batch_norm_legit",
    "nn::native::_native_batch_norm_legit_own",
    "nn::native::native_dropout",
    "nn::smooth_activations::elu",
    "nn::smooth_activations::elu_inplace",
    "nn::smooth_activations::selu",
    "nn::smooth_activations::selu_inplace",
    "nn::smooth_activations::celu",
    "nn::smooth_activations::celu_inplace",
    "nn::smooth_activations::silu",
    "nn::smooth_activations::softplus",
    "nn::smooth_activations::mish",
    "nn::smooth_activations::logsigmoid",
    "nn::piecewise_activations::leaky_relu",
    "nn::piecewise_activations::leaky_relu_inplace",
    "nn::piecewise_activations::threshold",
    "nn::piecewise_activations::threshold_inplace",
    "nn::piecewise_activations::hardtanh",
    "nn::piecewise_activations::hardtanh_inplace",
    "nn::piecewise_activations::relu6",
    "nn::piecewise_activations::hardsigmoid",
    "nn::piecewise_activations::hardswish",
    "nn::piecewise_activations::softshrink",
    "nn::piecewise_activations::hardshrink",
    "nn::gated::glu",
    "nn::gated::prelu",
    "nn::gated::softsign",
    "nn::gated::tanhshrink",
    "nn::gated::gumbel_softmax",
    "nn::huber::smooth_l1_loss",
    "nn::huber::huber_loss",
    "nn::huber::soft_margin_loss",
    "nn::huber::multilabel_soft_margin_loss",
    "nn::bce::binary_cross_entropy",
    "nn::bce::binary_cross_entropy_with_logits",
    "nn::margin::kl_div",
    "nn::margin::margin_ranking_loss",
    "nn::margin::hinge_embedding_loss",
    "nn::margin::cosine_embedding_loss",
    "nn::margin::triplet_margin_loss",
    "nn::margin::gaussian_nll_loss",
    "nn::margin::poisson_nll_loss",
    "nn::distance::cosine_similarity",
    "nn::distance::pairwise_distance",
    "nn::distance::normalize",
    "nn::batch_norm::batch_norm",
    "nn::batch_norm::instance_norm",
    "nn::batch_norm::group_norm",
    "nn::scale_norm::rms_norm",
    "nn::scale_norm::local_response_norm",
    "nn::attention::scaled_dot_product_attention",
    "nn::dropout_variants::dropout1d",
    "nn::dropout_variants::dropout2d",
    "nn::dropout_variants::dropout3d",
    "nn::dropout_variants::alpha_dropout",
    "nn::dropout_variants::feature_alpha_dropout",
    "nn::dropout_variants::plain_dropout",
    "nn::dropout_variants::plain_feature_dropout",
    "nn::dropout_variants::plain_alpha_dropout",
    "nn::dropout_variants::plain_feature_alpha_dropout",
    "nn::embedding_bag::embedding_bag",
    "nn::ctc::ctc_loss",
    "nn::ctc::ctc_loss_of_tensors",
    "nn::bilinear::bilinear",
    "nn::rrelu::rrelu",
    "nn::rrelu::rrelu_inplace",
    "nn::class_margin::multi_margin_loss",
    "nn::class_margin::multilabel_margin_loss",
    "pointwise::exponential::exp",
    "pointwise::exponential::exp2",
    "pointwise::exponential::expm1",
    "pointwise::exponential::log",
    "pointwise::exponential::log1p",
    "pointwise::exponential::log2",
    "pointwise::exponential::log10",
    "pointwise::trigonometry::sin",
    "pointwise::trigonometry::cos",
    "pointwise::trigonometry::tan",
    "pointwise::trigonometry::asin",
    "pointwise::trigonometry::acos",
    "pointwise::trigonometry::atan",
    "pointwise::trigonometry::sinh",
    "pointwise::trigonometry::cosh",
    "pointwise::trigonometry::asinh",
    "pointwise::trigonometry::acosh",
    "pointwise::trigonometry::atanh",
    "pointwise::trigonometry::deg2rad",
    "pointwise::trigonometry::rad2deg",
    "pointwise::sign_and_fraction::frac",
    "pointwise::sign_and_fraction::sgn",
    "pointwise::sign_and_fraction::nan_to_num",
    "pointwise::sign_and_fraction::angle",
    "pointwise::special::erf",
    "pointwise::special::erfc",
    "pointwise::special::erfinv",
    "pointwise::special::sinc",
    "pointwise::special::erfcx",
    "pointwise::special::lgamma",
    "pointwise::special::digamma",
    "pointwise::special::polygamma",
    "pointwise::special::polygamma_method",
    "pointwise::special::mvlgamma",
    "pointwise::special::logit",
    "pointwise::special::entr",
    "pointwise::special::ndtr",
    "pointwise::special::ndtri",
    "pointwise::special::log_ndtr",
    "pointwise::activation::sigmoid",
    "pointwise::special::digamma",
    "pointwise::special::digamma",
    "pointwise::special::polygamma",
    "pointwise::special::lgamma",
    "pointwise::special::mvlgamma",
    "pointwise::exponential::expm1",
    "pointwise::exponential::log1p",
    "pointwise::special::erf",
    "pointwise::special::erfc",
    "pointwise::special::erfinv",
    "pointwise::exponential::exp2",
    "pointwise::bessel::i0",
    "pointwise::incomplete_gamma::igamma",
    "pointwise::incomplete_gamma::igammac",
    "pointwise::special::logit",
    "pointwise::rounding::round",
    "pointwise::rounding::round_decimals",
    "pointwise::special::sinc",
    "pointwise::binary::xlogy",
    "reduce::softmax::logsumexp",
    "reduce::softmax::softmax",
    "reduce::softmax::log_softmax",
    "pointwise::bessel::i0",
    "pointwise::bessel::i1",
    "pointwise::bessel::i0e",
    "pointwise::bessel::i1e",
    "pointwise::bessel::bessel_j0",
    "pointwise::bessel::bessel_j1",
    "pointwise::bessel::bessel_y0",
    "pointwise::bessel::bessel_y1",
    "pointwise::bessel::modified_bessel_i0",
    "pointwise::bessel::modified_bessel_i1",
    "pointwise::bessel::modified_bessel_k0",
    "pointwise::bessel::modified_bessel_k1",
    "pointwise::bessel::scaled_modified_bessel_k0",
    "pointwise::bessel::scaled_modified_bessel_k1",
    "pointwise::bessel::spherical_bessel_j0",
    "pointwise::bessel::airy_ai",
    "pointwise::incomplete_gamma::igamma",
    "pointwise::incomplete_gamma::igammac",
    "pointwise::incomplete_gamma::zeta",
    "pointwise::polynomials::chebyshev_polynomial_t",
    "pointwise::polynomials::chebyshev_polynomial_u",
    "pointwise::polynomials::chebyshev_polynomial_v",
    "pointwise::polynomials::chebyshev_polynomial_w",
    "pointwise::polynomials::shifted_chebyshev_polynomial_t",
    "pointwise::polynomials::shifted_chebyshev_polynomial_u",
    "pointwise::polynomials::shifted_chebyshev_polynomial_v",
    "pointwise::polynomials::shifted_chebyshev_polynomial_w",
    "pointwise::polynomials::hermite_polynomial_h",
    "pointwise::polynomials::hermite_polynomial_he",
    "pointwise::polynomials::laguerre_polynomial_l",
    "pointwise::polynomials::legendre_polynomial_p",
    "pointwise::binary::atan2",
    "pointwise::binary::hypot",
    "pointwise::binary::copysign",
    "pointwise::binary::ldexp",
    "pointwise::binary::logaddexp",
    "pointwise::binary::logaddexp2",
    "pointwise::binary::fmax",
    "pointwise::binary::fmin",
    "pointwise::binary::xlogy",
    "pointwise::binary::xlog1py",
    "pointwise::binary::float_power",
    "pointwise::ternary::addcmul",
    "pointwise::ternary::addcdiv",
    "pointwise::ternary::lerp",
    "pointwise::ternary::lerp_number",
    "pointwise::discrete::gcd",
    "pointwise::discrete::lcm",
    "pointwise::discrete::heaviside",
    "pointwise::discrete::isposinf",
    "pointwise::discrete::isneginf",
    "pointwise::discrete::isreal",
    "pointwise::discrete::signbit",
    "pointwise::discrete::isin",
    "pointwise::neighbours::nextafter",
    "pointwise::neighbours::frexp",
    "sets::unique::unique",
    "sets::unique::unique_consecutive",
    "sets::count::bincount",
    "sets::count::unravel_index",
    "sets::search::searchsorted",
    "sets::search::bucketize",
    "sets::histogram::histc",
    "sets::histogram::histogram_edges",
    "sets::histogram::histogram",
    "sets::histogram_nd::histogramdd",
    "sets::histogram_nd::histogramdd_bins",
    "sets::histogram_nd::histogramdd_edges",
    "promotion_queries::result_type",
    "promotion_queries::result_type_of_number",
    "promotion_queries::result_type_of_numbers",
    "promotion_queries::promote_types",
    "promotion_queries::can_cast",
    "nn::conv::entries::conv1d",
    "nn::conv::entries::conv2d",
    "nn::conv::entries::conv3d",
    "nn::conv::entries::conv_transpose1d",
    "nn::conv::entries::conv_transpose2d",
    "nn::conv::entries::conv_transpose3d",
    "nn::conv::entries::conv1d",
    "nn::conv::entries::conv2d",
    "nn::conv::entries::conv3d",
    "nn::conv::entries::conv_transpose1d",
    "nn::conv::entries::conv_transpose2d",
    "nn::conv::entries::conv_transpose3d",
    "nn::conv::entries::convolution",
    "nn::conv::tbc::conv_tbc",
    "nn::conv::windows::unfold",
    "nn::conv::windows::fold",
    "rnn::rnn_tanh",
    "rnn::rnn_tanh_packed",
    "rnn::rnn_relu",
    "rnn::rnn_relu_packed",
    "rnn::lstm",
    "rnn::lstm_packed",
    "rnn::gru",
    "rnn::gru_packed",
    "rnn::cells::rnn_tanh_cell",
    "rnn::cells::rnn_relu_cell",
    "rnn::cells::lstm_cell",
    "rnn::cells::gru_cell",
    "nn::pool::fractional::fractional_max_pool2d",
    "nn::pool::fractional::fractional_max_pool3d",
    "nn::pool::fractional::fractional_max_pool2d_with_indices",
    "nn::pool::fractional::fractional_max_pool3d_with_indices",
    "nn::pool::max::max_pool1d",
    "nn::pool::max::max_pool2d",
    "nn::pool::max::max_pool3d",
    "nn::pool::max::max_pool1d_with_indices",
    "nn::pool::max::max_pool2d_with_indices",
    "nn::pool::max::max_pool3d_with_indices",
    "nn::pool::max::top_max_pool1d",
    "nn::pool::max::top_max_pool2d",
    "nn::pool::max::top_max_pool3d",
    "nn::pool::max::top_max_pool1d_with_indices",
    "nn::pool::avg::avg_pool1d",
    "nn::pool::avg::avg_pool2d",
    "nn::pool::avg::avg_pool3d",
    "nn::pool::avg::top_avg_pool1d",
    "nn::pool::adaptive::adaptive_avg_pool1d",
    "nn::pool::adaptive::adaptive_avg_pool2d",
    "nn::pool::adaptive::adaptive_avg_pool3d",
    "nn::pool::adaptive::top_adaptive_avg_pool1d",
    "nn::pool::adaptive::adaptive_max_pool1d",
    "nn::pool::adaptive::adaptive_max_pool2d",
    "nn::pool::adaptive::adaptive_max_pool3d",
    "nn::pool::adaptive::adaptive_max_pool1d_with_indices",
    "nn::pool::adaptive::adaptive_max_pool2d_with_indices",
    "nn::pool::adaptive::adaptive_max_pool3d_with_indices",
    "nn::pool::adaptive::top_adaptive_max_pool1d",
    "nn::pool::norm::lp_pool1d",
    "nn::pool::norm::lp_pool2d",
    "nn::pool::norm::lp_pool3d",
    "nn::pool::unpool::max_unpool1d",
    "nn::pool::unpool::max_unpool2d",
    "nn::pool::unpool::max_unpool3d",
    "nn::image::pad::pad",
    "nn::image::pad::constant_pad_nd",
    "nn::image::shuffle::pixel_shuffle",
    "nn::image::shuffle::top_pixel_shuffle",
    "nn::image::shuffle::pixel_unshuffle",
    "nn::image::shuffle::top_pixel_unshuffle",
    "nn::image::shuffle::channel_shuffle",
    "nn::image::shuffle::top_channel_shuffle",
    "nn::image::interpolate::interpolate",
    "nn::image::interpolate::upsample",
    "nn::image::interpolate::upsample_nearest",
    "nn::image::interpolate::upsample_bilinear",
    "nn::image::grid::grid_sample",
    "nn::image::grid::grid_sampler",
    "nn::image::grid::grid_sampler_2d",
    "nn::image::grid::grid_sampler_3d",
    "nn::image::grid::affine_grid",
    "nn::image::grid::affine_grid_generator",
    "linalg::cholesky::linalg_cholesky",
    "linalg::cholesky::cholesky_ex",
    "linalg::cholesky::cholesky",
    "linalg::triangular::solve_triangular",
    "linalg::triangular::triangular_solve",
    "linalg::cholesky_solve::cholesky_solve",
    "linalg::cholesky_solve::cholesky_inverse",
    "linalg::ldl::ldl_factor",
    "linalg::ldl::ldl_factor_ex",
    "linalg::ldl::ldl_solve",
    "linalg::lu::linalg_lu",
    "linalg::lu::lu_factor",
    "linalg::lu::lu_factor_ex",
    "linalg::lu::lu_of",
    "linalg::lu::lu_unpack",
    "linalg::lu::linalg_lu_solve",
    "linalg::lu::lu_solve",
    "linalg::solve::solve",
    "linalg::solve::solve_ex",
    "linalg::solve::inv",
    "linalg::solve::inverse",
    "linalg::solve::inv_ex",
    "linalg::solve::tensorinv",
    "linalg::solve::tensorsolve",
    "linalg::determinant::linalg_det",
    "linalg::determinant::det",
    "linalg::determinant::linalg_slogdet",
    "linalg::determinant::slogdet",
    "linalg::determinant::logdet",
    "linalg::qr::linalg_qr",
    "linalg::qr::qr",
    "linalg::qr::geqrf",
    "linalg::qr::householder_product",
    "linalg::qr::orgqr",
    "linalg::qr::ormqr",
    "linalg::eigh::linalg_eigh",
    "linalg::eigh::eigvalsh",
    "linalg::eig::linalg_eig",
    "linalg::eig::eigvals",
    "linalg::svd::linalg_svd",
    "linalg::svd::svdvals",
    "linalg::svd::svd",
    "linalg::pinv::pinv",
    "linalg::pinv::pinv_tensors",
    "linalg::pinv::pinv_rcond",
    "linalg::pinv::pinv_rcond_tensor",
    "linalg::pinv::pinverse",
    "linalg::pinv::matrix_rank",
    "linalg::pinv::matrix_rank_tensors",
    "linalg::pinv::matrix_rank_tol",
    "linalg::pinv::matrix_rank_tol_tensor",
    "linalg::pinv::lstsq",
    "linalg::lowrank::svd_lowrank",
    "linalg::lowrank::pca_lowrank",
    "linalg::lowrank::lobpcg",
    "linalg::spectrum::nuclear_norm_all",
    "linalg::spectrum::nuclear_norm",
    "linalg::spectrum::cond",
    "linalg::spectrum::cond_named",
    "fft::fft",
    "fft::ifft",
    "fft::rfft",
    "fft::irfft",
    "fft::hfft",
    "fft::ihfft",
    "fft::fft2",
    "fft::ifft2",
    "fft::rfft2",
    "fft::irfft2",
    "fft::hfft2",
    "fft::ihfft2",
    "fft::fftn",
    "fft::ifftn",
    "fft::rfftn",
    "fft::irfftn",
    "fft::hfftn",
    "fft::ihfftn",
    "fft::fftshift",
    "fft::ifftshift",
    "fft::short_time::stft",
    "fft::short_time::istft",
];
