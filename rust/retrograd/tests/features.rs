//! What features leave out: dtypes are refused, by an error that names the feature.

use std::panic::{AssertUnwindSafe, catch_unwind};

use retrograd::{Complex, DType, Result, Tensor, bf16, f16};

/// Whether the feature is there, or else its lack is what the error says.
fn refused(result: Result<Tensor>, feature: &str, is_in: bool) {
    match result {
        Ok(_) => assert!(is_in, "`{feature}` is left out"),
        Err(error) => {
            let text = error.to_string();
            assert!(!is_in && text.contains(&format!("the feature `{feature}`")), "{text}");
        }
    }
}

#[test]
fn dtypes_that_are_left_out_are_refused() {
    let x = Tensor::ones([2]);
    refused(x.try_to(DType::Complex64), "complex", cfg!(feature = "complex"));
    let product = catch_unwind(AssertUnwindSafe(|| x.mul(Complex::new(0f32, 1.0))));
    assert_eq!(product.is_ok(), cfg!(feature = "complex"));
    if let Err(panic) = product {
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("the feature `complex`"), "{text}");
    }
    refused(Tensor::try_zeros_with([2], |o| o.dtype(DType::Float16)), "half", cfg!(feature = "half"));
    refused(x.try_to(DType::BFloat16), "half", cfg!(feature = "half"));
    // Numbers of these types beside other tensors are numbers.
    assert_eq!((&x + f16::ONE + bf16::ONE).to_vec::<f32>().unwrap(), [3.0; 2]);
}

#[test]
fn products_need_no_feature() {
    let x = Tensor::ones([2, 2]).requires_grad_(true);
    x.matmul(&x).sum().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [4.0; 4]);
}
