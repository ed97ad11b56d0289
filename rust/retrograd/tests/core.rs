//! Tensors of numbers and lists, operators, gradients.

use std::panic::catch_unwind;

use retrograd::{
    Complex, DType, Error, Operand, Result, Scalar, Tensor, backward, bf16, f16, grad, grad_if_used, grad_with, ops,
    tensor,
};

/// The text of the panic of `f`.
fn panic_of<R>(f: impl FnOnce() -> R + std::panic::UnwindSafe) -> String {
    let Err(payload) = catch_unwind(f) else { panic!("nothing panicked") };
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

#[test]
fn dtypes_are_those_of_the_values() {
    for (tensor, dtype) in [
        (tensor![1.0], DType::Float64),
        (tensor![1f32], DType::Float32),
        (tensor![1], DType::Int32),
        (tensor![1i64], DType::Int64),
        (tensor![1u8, 2], DType::UInt8),
        (tensor![true], DType::Bool),
        (tensor![f16::ONE], DType::Float16),
        (tensor![Complex::new(1.0f32, 2.0)], DType::Complex64),
        (tensor![], DType::Float32),
        (Tensor::from(1.5), DType::Float64),
        (Tensor::from(vec![1i16]), DType::Int16),
        ((0..3u8).collect(), DType::UInt8),
    ] {
        assert_eq!(tensor.dtype(), dtype);
    }
}

#[test]
fn brackets_nest_to_axes() -> Result<()> {
    assert_eq!(tensor![1, 2].shape(), [2]);
    assert_eq!(tensor![[1, 2], [3, 4], [5, 6],].shape(), [3, 2]);
    assert_eq!(tensor![[[1], [2]]].shape(), [1, 2, 1]);
    assert_eq!(tensor![[[[1, 2]]]].shape(), [1, 1, 1, 2]);
    assert_eq!(tensor![[[[[[1, 2]]]]]].shape(), [1, 1, 1, 1, 1, 2]);
    assert_eq!(tensor![0.5; 4].to_vec::<f64>()?, [0.5; 4]);
    assert_eq!(tensor![[[1, 2], [3, 4]], [[5, 6], [7, 8]]].to_vec::<i32>()?, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(Tensor::from(2).shape(), []);
    assert_eq!(Tensor::from(&[1.0, 2.0][..]).shape(), [2]);
    assert_eq!(Tensor::from(&[[1.0], [2.0]]).shape(), [2, 1]);
    assert_eq!(Tensor::from([[0f32; 0]; 3]).shape(), [3, 0]);
    assert_eq!(Tensor::try_from(vec![vec![1, 2], vec![3, 4]])?.shape(), [2, 2]);
    let ragged = Tensor::try_from(vec![vec![1, 2], vec![3]]).unwrap_err().to_string();
    assert!(ragged.contains("row 1 has 1"), "{ragged}");
    assert_eq!(Tensor::from_vec((0..6).collect::<Vec<i64>>(), (2, 3)).shape(), [2, 3]);
    let misfit = Tensor::try_from_vec(vec![1.0; 5], [2, 3]).unwrap_err().to_string();
    assert!(misfit.contains("from_vec: 5 values do not fill sizes [2, 3]"), "{misfit}");
    assert!(panic_of(|| Tensor::from_slice(&[1.0], [2])).contains("1 values do not fill sizes [2]"));
    Ok(())
}

#[test]
fn numbers_come_back() -> Result<()> {
    let x = tensor![[1f32, 2.5]];
    assert_eq!(Vec::<f32>::try_from(&x)?, [1.0, 2.5]);
    assert_eq!(x.to_vec::<f64>()?, [1.0, 2.5]);
    let refused = x.to_vec::<i32>().unwrap_err().to_string();
    assert!(refused.contains("not every float32 is a int32") && refused.contains("DType::Int32"), "{refused}");
    assert_eq!(tensor![true, false].to_vec::<u8>()?, [1, 0]);
    assert_eq!(tensor![true].to_vec::<bool>()?, [true]);
    assert_eq!(tensor![Complex::new(1.0, -1.0)].to_vec::<Complex<f64>>()?, [Complex::new(1.0, -1.0)]);
    assert_eq!(f32::try_from(&tensor![0.1])?, 0.1f32);
    assert_eq!(tensor![[7u8]].item::<i64>()?, 7);
    assert_eq!(Tensor::from(u64::MAX).item::<u64>()?, u64::MAX);
    let several = x.item::<f32>().unwrap_err().to_string();
    assert!(several.contains("a Tensor with 2 elements cannot be converted to Scalar"), "{several}");
    let large = tensor![300].item::<u8>().unwrap_err().to_string();
    assert!(large.contains("Int(300) of a int32 tensor is no uint8"), "{large}");
    Ok(())
}

#[test]
fn operators_take_tensors_and_numbers_on_either_side() -> Result<()> {
    let (a, b) = (tensor![7.0, -3.0], tensor![2.0, 4.0]);
    for (result, want) in [
        (&a + &b, [9.0, 1.0]),
        (&a - b.clone(), [5.0, -7.0]),
        (a.clone() * &b, [14.0, -12.0]),
        (a.clone() / b.clone(), [3.5, -0.75]),
        (&a % &b, [1.0, 1.0]),
        (&a + 1, [8.0, -2.0]),
        (&a - 1.5f32, [5.5, -4.5]),
        (a.clone() * 2i64, [14.0, -6.0]),
        (&a / 2.0, [3.5, -1.5]),
        (&a % 4, [3.0, 1.0]),
        (&a * a.numel(), [14.0, -6.0]),
        (1.0 + &a, [8.0, -2.0]),
        (1 - &a, [-6.0, 4.0]),
        (2.0 * a.clone(), [14.0, -6.0]),
        (1i64 / &b, [0.5, 0.25]),
        (9.0 % &b, [1.0, 1.0]),
        (-&a, [-7.0, 3.0]),
        (-a.clone(), [-7.0, 3.0]),
        (&a + Scalar::Int(1), [8.0, -2.0]),
    ] {
        assert_eq!(result.to_vec::<f64>()?, want);
    }
    let (m, n) = (tensor![6, 3], tensor![3, 5]);
    for (result, want) in [
        (&m & &n, [2, 1]),
        (&m | &n, [7, 7]),
        (&m ^ 1, [7, 2]),
        (1 | &m, [7, 3]),
        (!&m, [-7, -4]),
        (&m << 1, [12, 6]),
        (&m >> &tensor![1, 0], [3, 3]),
    ] {
        assert_eq!(result.to_vec::<i32>()?, want);
    }
    assert_eq!((!tensor![true, false]).to_vec::<bool>()?, [false, true]);
    assert_eq!((tensor![[1.0], [2.0]] + tensor![10.0, 20.0]).to_vec::<f64>()?, [11.0, 21.0, 12.0, 22.0]);
    Ok(())
}

#[test]
fn operators_have_gradients_on_either_side() -> Result<()> {
    let (a, b) = (tensor![1.3, -0.7], tensor![0.4, 2.1]);
    let cotangent = tensor![0.9, -1.6];
    // Each with its derivatives by both operands.
    type Case = (fn(&Tensor, &Tensor) -> Tensor, fn(f64, f64) -> (f64, f64));
    let cases: [Case; 8] = [
        (|a, b| a + b, |_, _| (1.0, 1.0)),
        (|a, b| a - b, |_, _| (1.0, -1.0)),
        (|a, b| a * b, |a, b| (b, a)),
        (|a, b| a / b, |a, b| (1.0 / b, -a / (b * b))),
        (|a, b| 3.0 - a * b, |a, b| (-b, -a)),
        (|a, b| 2.0 / a + 2 * b, |a, _| (-2.0 / (a * a), 2.0)),
        (|a, b| -(a % 5.0) * b, |a, b| (-b, -a.rem_euclid(5.0))),
        (
            |a, b| {
                let mut sum = a * 1.0;
                sum *= b;
                sum -= 0.5 * a;
                sum /= 2.0;
                sum
            },
            |a, b| ((b - 0.5) / 2.0, a / 2.0),
        ),
    ];
    for (f, derivatives) in cases {
        let (a, b) = (a.detach().requires_grad_(true), b.detach().requires_grad_(true));
        f(&a, &b).backward_with(|o| o.gradient(&cotangent))?;
        let (xs, ys, gs) = (a.to_vec::<f64>()?, b.to_vec::<f64>()?, cotangent.to_vec::<f64>()?);
        let (of_a, of_b) = (a.grad().unwrap().to_vec::<f64>()?, b.grad().unwrap().to_vec::<f64>()?);
        for i in 0..2 {
            let (da, db) = derivatives(xs[i], ys[i]);
            // A few roundings of a double.
            assert!((of_a[i] - gs[i] * da).abs() <= 4e-15 * (1.0 + da.abs()), "{} {}", of_a[i], gs[i] * da);
            assert!((of_b[i] - gs[i] * db).abs() <= 4e-15 * (1.0 + db.abs()), "{} {}", of_b[i], gs[i] * db);
        }
    }
    Ok(())
}

#[test]
fn numbers_promote_by_category() {
    assert_eq!((tensor![1f32] * 2.0).dtype(), DType::Float32);
    assert_eq!((2.0 * tensor![f16::ONE] + 1).dtype(), DType::Float16);
    assert_eq!((tensor![1u8] + 1).dtype(), DType::UInt8);
    assert_eq!((tensor![1u8] + 1.5).dtype(), DType::Float32);
    assert_eq!((tensor![1f32] + tensor![1.0]).dtype(), DType::Float64);
    assert_eq!((tensor![1f32] + Complex::new(0.0, 1.0)).dtype(), DType::Complex64);
    assert!(format!("{:?}", Operand::from(2.0)).contains("float64"));
    // 2^64: a double does not have the last digits.
    assert_eq!((tensor![1.0] + u64::MAX).to_vec::<f64>().unwrap(), [18_446_744_073_709_551_616.0]);
}

#[test]
fn assigning_operators_write_in_place() -> Result<()> {
    let mut x = tensor![1.0, 2.0];
    let handle = x.clone();
    x += &tensor![1.0, 1.0];
    x *= 3;
    x -= 1.0;
    x /= 2.0;
    x %= 2.0;
    assert_eq!(handle.to_vec::<f64>()?, [0.5, 0.0]);
    assert!(x.same(&handle) && x.version() == 5);
    let mut m = tensor![6, 3];
    m &= 3;
    m |= 8;
    m ^= 1;
    m <<= 2;
    m >>= 1;
    assert_eq!(m.to_vec::<i32>()?, [22, 20]);
    let mut leaf = tensor![1.0].requires_grad_(true);
    let text = panic_of(std::panic::AssertUnwindSafe(|| leaf += 1.0));
    assert!(text.contains("a leaf Variable that requires grad is being used in an in-place operation"), "{text}");
    let mut integers = tensor![1];
    let text = panic_of(std::panic::AssertUnwindSafe(|| integers += 0.5));
    assert!(text.contains("result type Float can't be cast to the desired output type Int"), "{text}");
    Ok(())
}

#[test]
fn gradients_accumulate() -> Result<()> {
    let x = tensor![1.0, 2.0].requires_grad_(true);
    let y = &x * &x;
    assert_eq!(y.grad_fn_name().as_deref(), Some("MulBackward0"));
    assert!(x.is_leaf() && !y.is_leaf() && y.requires_grad() && !y.detach().requires_grad());
    let cotangent = tensor![0.3, -1.7];
    y.backward_with(|o| o.gradient(&cotangent).retain_graph(true))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.6, -6.8]);
    y.backward_with(|o| o.gradient(&cotangent))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.2, -13.6]);
    let freed = y.backward_with(|o| o.gradient(&cotangent)).unwrap_err().to_string();
    assert!(freed.contains("Trying to backward through the graph a second time"), "{freed}");
    x.set_grad(Some(&tensor![1.0, 1.0]))?;
    assert!(
        x.set_grad(Some(&tensor![1.0])).unwrap_err().to_string().contains("attempting to assign a gradient of size")
    );
    x.zero_grad();
    assert!(x.grad().is_none());
    let several = y.backward().unwrap_err().to_string();
    assert!(several.contains("grad can be implicitly created only for scalar outputs"), "{several}");
    let none = tensor![1.0].backward().unwrap_err().to_string();
    assert!(none.contains("does not require grad and does not have a grad_fn"), "{none}");
    Ok(())
}

#[test]
fn gradients_of_several_tensors_and_for_some_inputs() -> Result<()> {
    let (x, y) = (tensor![2.0].requires_grad_(true), tensor![5.0].requires_grad_(true));
    let z = &x * &y;
    (&z * 3.0).backward_with(|o| o.inputs([&x, &z]))?;
    assert_eq!((x.grad().unwrap().item::<f64>()?, y.grad().is_none()), (15.0, true));
    assert_eq!(z.grad().unwrap().item::<f64>()?, 3.0);
    x.zero_grad();
    backward([&x * 2.0, &x * &x])?;
    assert_eq!(x.grad().unwrap().item::<f64>()?, 6.0);
    let empty = (&x * 2.0).backward_with(|o| o.inputs(Vec::<Tensor>::new())).unwrap_err().to_string();
    assert!(empty.contains("`inputs` argument to `backward()` cannot be empty."), "{empty}");
    let numbers = retrograd::backward_with([&x * 2.0], |o| o.gradients([&x, &x])).unwrap_err().to_string();
    assert!(numbers.contains("got 1 tensors and 2 gradients"), "{numbers}");
    Ok(())
}

#[test]
fn grad_returns_gradients() -> Result<()> {
    let (x, y) = (tensor![2.0].requires_grad_(true), tensor![5.0].requires_grad_(true));
    let first = grad_with(&x * &x * &x, &x, |o| o.create_graph(true))?;
    assert_eq!(grad(&first[0], &x)?[0].item::<f64>()?, 12.0);
    assert!(x.grad().is_none());
    let unused = grad(&x * 1.0, [&x, &y]).unwrap_err().to_string();
    assert!(
        unused.contains("The differentiated Tensor at index 1 appears to not have been used in the graph."),
        "{unused}"
    );
    assert!(grad_if_used(&x * 1.0, [&x, &y], |o| o)?[1].is_none());
    let zeros = grad_with(&x * 1.0, [&x, &y], |o| o.materialize_grads(true))?;
    assert_eq!(zeros[1].to_vec::<f64>()?, [0.0]);
    let seeds = grad_with([&x * 2.0, &x * 3.0], &x, |o| o.grad_outputs([tensor![0.5], tensor![-2.0]]))?;
    assert_eq!(seeds[0].item::<f64>()?, -5.0);
    assert!(grad(&x * 2.0, tensor![1.0]).unwrap_err().to_string().contains("does not require grad"));
    Ok(())
}

#[test]
fn rows_are_views_with_gradients() -> Result<()> {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]].requires_grad_(true);
    let mut sum = tensor![0.0, 0.0];
    for (i, row) in (&x).into_iter().enumerate() {
        sum += row * (i + 1);
    }
    sum.backward_with(|o| o.gradient(&tensor![0.5, -1.0]))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.5, -1.0, 1.0, -2.0]);
    assert_eq!((x.rows().len(), x.rows().next_back().unwrap().to_vec::<f64>()?), (2, vec![3.0, 4.0]));
    assert!(panic_of(|| Tensor::from(1.0).rows()).contains("iteration over a 0-d tensor"));
    Ok(())
}

#[test]
fn what_a_tensor_says_of_itself() {
    let x = tensor![[1f32, 2.0, 3.0]];
    assert_eq!((x.ndim(), x.dim(), x.numel(), x.size(0), x.size(-1)), (2, 2, 3, 1, 3));
    assert!(x.is_floating_point() && !x.is_complex() && x.is_contiguous());
    let text = panic_of(|| tensor![1.0].size(1));
    assert!(text.contains("Dimension out of range (expected to be in range of [-1, 0], but got 1)"), "{text}");
    assert!(panic_of(|| tensor![1].requires_grad_(true)).contains("can require gradients, got int32"));
    assert!(matches!(tensor![1].try_requires_grad_(true), Err(Error { .. })));
    assert!(x.to(DType::Float32).same(&x) && x.to(DType::Int8).dtype() == DType::Int8);
}

#[test]
fn tensors_go_between_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Tensor>();
    check::<Operand>();
}

#[test]
fn numbers_of_every_type_are_scalars() {
    assert_eq!(Scalar::from(u8::MAX), Scalar::Int(255));
    assert_eq!(Scalar::from(i16::MIN), Scalar::Int(-32_768));
    assert_eq!(Scalar::from(-3), Scalar::Int(-3));
    assert_eq!(Scalar::from(i64::MAX as u64), Scalar::Int(i64::MAX));
    assert_eq!(Scalar::from(i64::MAX as u64 + 1), Scalar::UInt(1 << 63));
    assert_eq!(Scalar::from(7usize), Scalar::Int(7));
    assert_eq!(Scalar::from(0.1f32), Scalar::Float(f64::from(0.1f32)));
    assert_eq!(Scalar::from(bf16::from_f32(-1.5)), Scalar::Float(-1.5));
    assert_eq!(Scalar::from(Complex::new(1f32, -2.0)), Scalar::Complex(1.0, -2.0));
    assert_eq!(Scalar::from(true), Scalar::Bool(true));
}

/// What torch has as attributes: views, through which writes and gradients go.
#[test]
fn parts_and_transposes_are_views() -> Result<()> {
    let z = ops::complex(&tensor![[1.0, 2.0, 3.0]], &tensor![[-4.0, 5.0, 0.5]]);
    assert_eq!((z.real().dtype(), z.real().to_vec::<f64>()?), (DType::Float64, vec![1.0, 2.0, 3.0]));
    z.imag().mul_(2.0);
    assert_eq!(z.imag().to_vec::<f64>()?, [-8.0, 10.0, 1.0]);
    for adjoint in [z.H(), z.mH(), z.adjoint()] {
        assert_eq!(adjoint.shape(), [3, 1]);
        assert_eq!(adjoint.imag().to_vec::<f64>()?, [8.0, -10.0, -1.0]);
    }
    assert_eq!(z.mT().imag().to_vec::<f64>()?, [-8.0, 10.0, 1.0]);

    // <g, part of z> has the gradient g, or i g.
    z.requires_grad_(true);
    let g = tensor![[0.25, -1.5, 2.0]];
    let by_real = &grad((z.real() * &g).sum(), &z)?[0];
    let by_imag = &grad((z.imag() * &g).sum(), &z)?[0];
    assert_eq!((by_real.real().to_vec::<f64>()?, by_real.imag().to_vec()?), (g.to_vec::<f64>()?, vec![0.0; 3]));
    assert_eq!((by_imag.imag().to_vec::<f64>()?, by_imag.real().to_vec()?), (g.to_vec::<f64>()?, vec![0.0; 3]));

    let x = Tensor::from_vec((0..24).map(f64::from).collect(), [2, 3, 4]).requires_grad_(true);
    assert!(x.real().equal(&x));
    assert_eq!((x.mT().shape(), x.T().shape()), (&[2, 4, 3][..], &[4, 3, 2][..]));
    let weight = Tensor::from_vec((0..24).map(|i| f64::from(i).sin()).collect(), [4, 3, 2]);
    let gradient = &grad((x.T() * &weight).sum(), &x)?[0];
    assert!(gradient.equal(&weight.permute([2, 1, 0])));

    let refused =
        |result: Result<Tensor>, says: &str| assert!(result.unwrap_err().to_string().contains(says), "{says}");
    refused(x.try_imag(), "imag is not implemented for tensors with non-complex dtypes");
    refused(x.try_H(), "tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor. For batches");
    for vector in [tensor![1.0].try_mT(), tensor![1.0].try_mH()] {
        refused(vector, "is only supported on matrices or batches of matrices. Got 1-D tensor.");
    }
    Ok(())
}
