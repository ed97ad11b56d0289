//! Tensors as text.

use retrograd::{Complex, Result, Tensor, engine, f16, no_grad, tensor};

#[test]
fn tensors_print_as_in_python() {
    let x = tensor![1f32, 2.0].requires_grad_(true);
    for (tensor, want) in [
        (tensor![1f32, 2.0], "tensor([1., 2.])"),
        (tensor![1.0, 2.5], "tensor([1.0000, 2.5000], dtype=retrograd.float64)"),
        (tensor![1i64, -20], "tensor([  1, -20])"),
        (tensor![1], "tensor([1], dtype=retrograd.int32)"),
        (tensor![true, false], "tensor([ True, False])"),
        (tensor![u64::MAX], "tensor([18446744073709551615], dtype=retrograd.uint64)"),
        (tensor![f16::ONE], "tensor([1.], dtype=retrograd.float16)"),
        (tensor![Complex::new(1f32, -2.0)], "tensor([1.-2.j])"),
        (Tensor::from(1.5f32), "tensor(1.5000)"),
        (tensor![], "tensor([])"),
        (Tensor::from([[0f32; 0]; 2]), "tensor([], size=(2, 0))"),
        (x.clone(), "tensor([1., 2.], requires_grad=True)"),
        (&x * 2.0, "tensor([2., 4.], grad_fn=<MulBackward0>)"),
        (no_grad(|| &x * 2.0), "tensor([2., 4.])"),
        (tensor![[1f32, 2.0], [3.0, 4.0]], "tensor([[1., 2.],\n        [3., 4.]])"),
        (
            (0..2000).map(|i| i as f32).collect(),
            "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n        1.9990e+03])",
        ),
        ((0..2000).map(i64::from).collect(), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    ] {
        assert_eq!(tensor.to_string(), want);
    }
    assert_eq!(format!("{:.1}", tensor![0.25f32]), "tensor([0.2])");
}

#[test]
fn sparse_tensors_print_their_parts() -> Result<()> {
    let dense = tensor![[0f32, 2.0], [3.0, 0.0]];
    let sparse = Tensor::from(engine::ops::sparse::to_sparse_coo(dense.engine())?);
    let text = sparse.to_string();
    assert!(text.starts_with("tensor(indices=tensor([[0, 1],") && text.contains("nnz=2"), "{text}");
    assert!(text.ends_with("layout=retrograd.sparse_coo)"), "{text}");
    Ok(())
}

#[test]
fn batched_tensors_print_their_batch() -> Result<()> {
    let x = tensor![[1f32, 2.0], [3.0, 4.0]];
    let mut text = String::new();
    engine::transforms::vmap(
        |xs| {
            text = Tensor::from(xs[0].clone()).to_string();
            Ok(xs.to_vec())
        },
        &[x.engine()],
    )?;
    assert!(text.starts_with("BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1., 2.],"), "{text}");
    Ok(())
}

#[test]
fn debug_is_one_line() {
    assert_eq!(format!("{:?}", tensor![0.1f32, 2.0]), "Tensor([2], float32, [0.1, 2.0])");
    assert_eq!(format!("{:?}", Tensor::from(3)), "Tensor([], int32, [3])");
    let x = tensor![[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]].requires_grad_(true);
    assert_eq!(format!("{x:?}"), "Tensor([2, 4], float64, requires_grad, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, ..])");
    assert_eq!(format!("{:?}", tensor![true]), "Tensor([1], bool, [true])");
    assert_eq!(format!("{:?}", tensor![Complex::new(1.5, -2.0)]), "Tensor([1], complex128, [1.5-2j])");
    assert_eq!(format!("{:?}", tensor![]), "Tensor([0], float32, [])");
}
