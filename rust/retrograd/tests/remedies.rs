//! What errors advise can be typed in Rust, and torch's phrase is there unbroken.

use retrograd::func::{self, Randomness};
use retrograd::ops::{self, Padding};
use retrograd::prelude::*;
use retrograd::{detect_nan_or_inf, inference_mode};

/// The error says all of `says`, and nothing that only Python has.
fn says<T>(result: Result<T>, says: &[&str]) {
    let error = result.map(drop).unwrap_err().to_string();
    for part in says {
        assert!(error.contains(part), "no {part:?} in:\n{error}");
    }
    for python in ["rg.", "retrograd.autograd", "clone() the tensor first", ".to(float32)", "inside no_grad,"] {
        assert!(!error.contains(python), "{python:?} in:\n{error}");
    }
}

fn leaf() -> Tensor {
    tensor![1.0, -2.0].requires_grad_(true)
}

#[test]
fn of_backward_passes() {
    let x = leaf();
    let y = (&x * &x).sum();
    y.backward().unwrap();
    let error = y.backward().unwrap_err().to_string();
    let phrase = "Trying to backward through the graph a second time (or directly access saved tensors after they have \
                  already been freed)";
    assert!(error.contains(phrase) && !error.contains("retain_graph=True"), "{error}");
    assert!(error.contains("backward_with(|o| o.retain_graph(true)), in the call in line "), "{error}");

    let z = &x * 2.0;
    let y = &z * &z;
    z.mul_(3.0);
    says(
        y.sum().backward(),
        &[
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            "copy the tensor before, with ops::clone(&x)",
            "detect_anomaly(|| ..)",
        ],
    );
    says(
        (&x * 2.0).backward(),
        &["grad can be implicitly created only for scalar outputs", "backward_with(|o| o.gradient(&g))"],
    );
    says(
        no_grad(|| x.sum()).backward(),
        &["element 0 of tensors does not require grad and does not have a grad_fn", "no_grad(|| ..)"],
    );
    says(
        grad(x.sum(), tensor![1.0]),
        &["One of the differentiated Tensors does not require grad", "requires_grad_(true)"],
    );
    says(
        grad(x.sum(), leaf()),
        &["appears to not have been used in the graph. Set allow_unused=True if this is the desired", "grad_if_used"],
    );
}

#[test]
fn of_leaves_and_writes() {
    let x = leaf();
    says(
        x.try_add_(1.0),
        &["a leaf Variable that requires grad is being used in an in-place operation.", "no_grad(|| ..)", "ops::clone"],
    );
    says(
        tensor![1.0].retain_grad(),
        &["can't retain_grad on Tensor that has requires_grad=False", "In Rust: x.requires_grad_(true)"],
    );
    says(
        tensor![1.0].expand([3]).try_add_(1.0),
        &[
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
             Please clone() the tensor before performing the operation.",
            "In Rust: ops::clone(&x)",
        ],
    );
    says(
        inference_mode(|| tensor![1.0] * 2.0).try_requires_grad_(true),
        &["Setting requires_grad=True on inference tensor outside InferenceMode is not allowed", "with ops::clone(&x)"],
    );
    says(
        x.try_mul(inference_mode(|| tensor![1.0, 2.0] * 2.0)),
        &["Inference tensors cannot be saved for backward.", "In Rust: ops::clone(&x)"],
    );
    says(
        Tensor::try_zeros_with([2], |o| o.dtype(DType::Int64).requires_grad(true)),
        &["Only Tensors of floating point and complex dtype can require gradients", "set dtype(DType::Float32)"],
    );
}

#[test]
fn of_dtypes() {
    let integers = tensor![1i64, 2];
    says(integers.try_softmax(0), &["not implemented for 'Long'", ".to(DType::Float32)"]);
    says(integers.try_var(), &["std and var only support floating point and complex dtypes", ".to(DType::Float32)"]);
    says(integers.try_mean(), &["could not infer output dtype", "Set dtype(DType::Float32) to convert first"]);
    says(tensor![1.0].try_allclose(&tensor![1f32]), &["Double did not match Float", "convert one with .to(dtype)"]);
    says(tensor![1.0].try_masked_select(&tensor![1.0]), &["expected BoolTensor for mask", ".to(DType::Bool)"]);
    says(tensor![1.0].try_take(&tensor![0f32]), &["Expected a long tensor for index", ".to(DType::Int64)"]);
}

#[test]
fn of_ops() {
    let x = tensor![1.0, 2.0];
    says(
        x.try_clamp(),
        &["At least one of 'min' or 'max' must not be None", "In Rust: x.clamp_with(|o| o.min(0).max(1))"],
    );
    says(
        Tensor::zeros([0]).try_argmax(),
        &["Specify the reduction dim with the 'dim' argument.", "In Rust: the form with dim, such as x.amax_dim(0)"],
    );
    let weight = Tensor::ones([1, 1, 3]);
    says(
        ops::nn::try_conv1d_with(&Tensor::ones([1, 1, 5]), &weight, |o| o.stride(2).padding(Padding::Same)),
        &["padding='same' is not supported for strided convolutions", "In Rust: Padding::Same"],
    );
}

#[test]
fn of_modes_and_transforms() {
    let x = tensor![1.0, 0.0].requires_grad_(true);
    says(detect_nan_or_inf(|| x.try_log()), &["clamp_with(|o| o.min(1e-12))"]);
    let random = |x: &Tensor| x.try_add(Tensor::try_rand(())?);
    says(
        func::vmap(random)(&x),
        &[
            "Please either use the 'same' or 'different' randomness flags on vmap",
            "In Rust: vmap_with(f, |o| o.randomness(Randomness::Different))",
        ],
    );
    func::vmap_with(random, |o| o.randomness(Randomness::Different))(&x).unwrap();
    let branches = |x: &Tensor| -> Result<Tensor> { Ok(x * x.item::<f64>()?) };
    says(func::vmap(branches)(&x), &["It looks like you're calling .item() on a Tensor.", "use ops::where_self"]);
}
