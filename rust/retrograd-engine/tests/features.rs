//! What features leave out is refused, by an error that names the feature.

use retrograd_engine::ops::memory::cast;
use retrograd_engine::{DType, Scalar, Tensor};

/// The message of an error, of which there must be one where `feature` is left out.
fn refused<T>(result: retrograd_engine::Result<T>, feature: &str, is_in: bool) {
    match result {
        Ok(_) => assert!(is_in, "`{feature}` is left out"),
        Err(error) => {
            assert!(!is_in, "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("switch the feature `{feature}` of the crate on")), "{text}");
        }
    }
}

#[test]
fn dtypes_that_are_left_out_are_refused_where_a_tensor_of_them_is_made() -> retrograd_engine::Result<()> {
    let x = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    for dtype in [DType::Complex64, DType::Complex128, DType::Complex32] {
        refused(Tensor::empty(&[2], dtype), "complex", cfg!(feature = "complex"));
        refused(Tensor::empty_strided(&[2], &[1], dtype), "complex", cfg!(feature = "complex"));
        refused(Tensor::full(&[2], Scalar::Int(1), dtype), "complex", cfg!(feature = "complex"));
    }
    refused(Tensor::number(Scalar::Complex(1.0, 2.0)), "complex", cfg!(feature = "complex"));
    refused(retrograd_engine::ops::view::complex::view_as_complex(&x), "complex", cfg!(feature = "complex"));
    refused(cast(&x, DType::Complex64), "complex", cfg!(feature = "complex"));
    for dtype in [DType::Float16, DType::BFloat16] {
        refused(Tensor::empty(&[2], dtype), "half", cfg!(feature = "half"));
        refused(cast(&x, dtype), "half", cfg!(feature = "half"));
    }
    Ok(())
}

#[test]
fn ops_that_need_a_family_that_is_left_out_are_refused() -> retrograd_engine::Result<()> {
    let x = Tensor::from_slice(&[2.0f64, 1.0, 1.0, 2.0], &[2, 2])?;
    refused(retrograd_engine::ops::matmul::linalg::matrix_power_of(&x, -1), "linalg", cfg!(feature = "linalg"));
    Ok(())
}
