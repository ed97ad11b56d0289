//! The table "From torch" of the README: each cell of its right column is code of this file, and runs.

use retrograd::nn::{self, Conv2d, Linear, Padding, PaddingMode, Sequential};
use retrograd::ops::Reduction;
use retrograd::optim::{Adam, Sgd};
use retrograd::prelude::*;
use retrograd::{autocast, checkpoint, grad_if_used, safetensors, set_grad_enabled, set_num_threads};

fn numbers(x: &Tensor) -> Vec<f64> {
    x.to(DType::Float64).to_vec().unwrap()
}

#[test]
fn made() -> Result<()> {
    assert_eq!(numbers(&tensor![1f32, 2.0]), [1.0, 2.0]);
    assert_eq!(tensor![[1i64, 2], [3, 4]].shape(), [2, 2]);
    assert_eq!(Tensor::zeros([2, 3]).dtype(), DType::Float32);
    assert_eq!(Tensor::ones_with([2, 3], |o| o.dtype(DType::Float64)).dtype(), DType::Float64);
    assert!(Tensor::randn_with(3, |o| o.requires_grad(true)).requires_grad());
    assert_eq!(numbers(&Tensor::arange(3)), [0.0, 1.0, 2.0]);
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(ops::zeros_like(&x).shape(), [2, 2]);
    let n = x.numel();
    assert_eq!((Tensor::eye(n).shape(), Tensor::randperm(n).shape()), (&[4, 4][..], &[4][..]));
    let array = ndarray::array![[1.0, 2.0]];
    assert_eq!(Tensor::from(&array).shape(), [1, 2]);
    assert_eq!(ndarray::Array2::<f64>::try_from(&x)?.shape(), [2, 2]);
    assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    let loss = x.sum();
    assert_eq!(loss.item::<f64>()?, 10.0);
    assert_eq!(x.shape(), [2, 2]);
    assert_eq!(x.size(-1), 2);
    assert_eq!(x.to(DType::Float32).dtype(), DType::Float32);
    let y = x.clone();
    assert!(y.same(&x));
    let y = ops::clone(&x);
    assert!(!y.same(&x));
    Ok(())
}

#[test]
fn arithmetic() -> Result<()> {
    let (mut x, y) = (tensor![[1.0, 2.0], [3.0, 4.0]], tensor![[2.0, 2.0], [2.0, 2.0]]);
    assert_eq!(numbers(&(2.0 * &x - &y)), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(numbers(&x.matmul(&y)), [6.0, 6.0, 14.0, 14.0]);
    assert_eq!(numbers(&x.pow(2)), [1.0, 4.0, 9.0, 16.0]);
    let mask = x.gt(2.5);
    let other = x.eq(&y);
    assert_eq!((&mask | &other).sum().item::<i64>()?, 3);
    assert_eq!((!&mask).sum().item::<i64>()?, 2);
    assert_eq!(numbers(&ops::where_self(&mask, &x, &y)), [2.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(&x.clamp_with(|o| o.min(2))), [2.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(&ops::einsum("ij,jk->ik", [&x, &y])), [6.0, 6.0, 14.0, 14.0]);
    x += 1.0;
    x.mul_(&y);
    assert_eq!(numbers(&x), [4.0, 6.0, 8.0, 10.0]);
    Ok(())
}

#[test]
fn parts_and_shapes() -> Result<()> {
    let x = Tensor::from_vec((0..12).map(f64::from).collect(), [3, 4]);
    let y = ops::clone(&x);
    assert_eq!(x.i(0).shape(), [4]);
    assert_eq!(x.i(i![.., 1..3]).shape(), [3, 2]);
    assert_eq!(x.i(i![-1, ..;2]).to_vec::<f64>()?, [8.0, 10.0]);
    assert_eq!(x.i(i![..., NewAxis, 0]).shape(), [3, 1]);
    let mask = x.gt(8.5);
    assert_eq!(x.i(&mask).to_vec::<f64>()?, [9.0, 10.0, 11.0]);
    x.set(0, 5.0);
    assert_eq!(x.i(0).to_vec::<f64>()?, [5.0; 4]);
    for row in &x {
        assert_eq!(row.shape(), [4]);
    }
    assert_eq!(x.sum().shape(), [0usize; 0]);
    assert_eq!(x.sum_dim(1).shape(), [3]);
    assert_eq!(x.mean_with(|o| o.dim(1).keepdim(true)).shape(), [3, 1]);
    let best = x.max_dim(1);
    assert_eq!((best.values.shape(), best.indices.shape()), (&[3][..], &[3][..]));
    assert_eq!(x.reshape([-1, 2]).shape(), [6, 2]);
    assert_eq!(x.permute([1, 0]).shape(), [4, 3]);
    assert_eq!(x.transpose(0, 1).shape(), [4, 3]);
    assert_eq!((x.T().shape(), x.mT().shape(), x.mH().shape()), (&[4, 3][..], &[4, 3][..], &[4, 3][..]));
    let z = ops::complex(&x, &y);
    assert!(z.real().equal(&x) && z.imag().equal(&y));
    assert_eq!(x.chunk(2)[1].shape(), [1, 4]);
    assert_eq!(x.unsqueeze(0).shape(), [1, 3, 4]);
    assert_eq!(ops::cat_dim([&x, &y], 1).shape(), [3, 8]);
    assert_eq!(ops::stack([&x, &y]).shape(), [2, 3, 4]);
    let a = x.matmul(&x.t()) + Tensor::eye_with(3, |o| o.dtype(DType::Float64));
    let b = tensor![1.0, 2.0, 3.0];
    let solution = ops::linalg::solve(&a, &b);
    assert!(a.mv(&solution).allclose(&b));
    Ok(())
}

#[test]
fn gradients() -> Result<()> {
    let x = tensor![1.0, 2.0];
    x.requires_grad_(true);
    let loss = x.pow(2).sum();
    loss.backward()?;
    assert_eq!(numbers(&x.grad().unwrap()), [2.0, 4.0]);
    x.zero_grad();
    let (y, g) = (x.pow(2), tensor![1.0, 10.0]);
    y.backward_with(|o| o.gradient(&g).retain_graph(true))?;
    assert_eq!(numbers(&x.grad().unwrap()), [2.0, 40.0]);
    let loss = x.pow(3).sum();
    let dx = grad_with(&loss, [&x], |o| o.create_graph(true))?;
    assert_eq!(numbers(&grad(dx[0].sum(), &x)?[0]), [6.0, 12.0]);
    let other = tensor![1.0].requires_grad_(true);
    let loss = x.sum();
    assert!(grad_if_used(&loss, [&x, &other], |o| o)?[1].is_none());
    assert!(!x.detach().requires_grad());
    assert!(!no_grad(|| &x * 2.0).requires_grad());
    let training = false;
    assert!(!set_grad_enabled(training, || &x * 2.0).requires_grad());
    assert!(!inference_mode(|| &x * 2.0).requires_grad());
    let w = tensor![[1f32, 2.0], [3.0, 4.0]];
    assert_eq!(autocast(|| w.matmul(&w)).dtype(), DType::BFloat16);
    let hook = x.register_hook(|g| g * 2.0)?;
    hook.remove();
    let f = |x: &Tensor| (x * x).sum();
    let y = checkpoint(f, &x);
    assert!(y.requires_grad());
    let x = tensor![1.0, 2.0];
    assert_eq!(numbers(&func::grad(f)(&x)), [2.0, 4.0]);
    let (value, gradient) = func::value_and_grad(f)(&x);
    assert_eq!((numbers(&value), numbers(&gradient)), (vec![5.0], vec![2.0, 4.0]));
    let v = tensor![1.0, 0.0];
    let (value, tangent) = func::jvp(f, &x, &v);
    assert_eq!((numbers(&value), numbers(&tangent)), (vec![5.0], vec![2.0]));
    assert_eq!(func::jacrev(f)(&x).shape(), [2]);
    assert_eq!(func::jacrev_with(f, |o| o.chunk_size(2))(&x).shape(), [2]);
    assert_eq!(func::hessian(f)(&x).shape(), [2, 2]);
    let xs = tensor![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(numbers(&func::vmap(f)(&xs)), [5.0, 25.0]);
    gradcheck(f, &x).run().unwrap();
    gradgradcheck(f, &x).run().unwrap();
    Ok(())
}

#[test]
fn modules() -> Result<()> {
    manual_seed(0);
    set_num_threads(2);
    let layer = Linear::with(3, 2, |o| o.bias(false));
    assert_eq!(layer.parameters().len(), 1);
    let layer = Conv2d::with(3, 8, 3, |o| o.padding(Padding::Same).padding_mode(PaddingMode::Circular));
    assert_eq!(layer.forward(&Tensor::ones([1, 3, 4, 5])).shape(), [1, 8, 4, 5]);
    let mut model = Sequential::new().push(Linear::new(3, 8)).push_fn(nn::relu).push(Linear::new(8, 2));
    let x = Tensor::randn([5, 3]);
    let scores = model.forward(&x);
    let target = tensor![0i64, 1, 0, 1, 1];
    let loss = ops::nn::cross_entropy_with(&scores, &target, |o| o.reduction(Reduction::Sum));
    let mut optimizer = Adam::new(model.parameters(), 1e-3);
    optimizer.zero_grad();
    loss.backward()?;
    let norm = retrograd::optim::clip_grad_norm_(&model.parameters(), 1.0);
    assert!(norm.item::<f64>()? > 0.0);
    optimizer.step()?;
    let mut optimizer = Sgd::with(model.parameters(), 0.1, |o| o.momentum(0.9));
    optimizer.step()?;
    model.eval();
    let path = std::env::temp_dir().join(format!("retrograd-table-{}.safetensors", std::process::id()));
    safetensors::save(&path, &model.state_dict())?;
    model.load_state_dict(&safetensors::load(&path)?)?;
    std::fs::remove_file(path).unwrap();
    Ok(())
}

/// The cells of a column of the table of a section, without the marks of code.
fn column(section: &str, number: usize) -> Vec<String> {
    let readme = include_str!("../README.md");
    let section = readme.split(section).nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    // Bars in code are escaped in a table.
    let cells = rows.map(|row| row.replace("\\|", "\0").split('|').nth(number).expect("a cell").replace('\0', "|"));
    cells.map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn every_row_is_code_of_this_file() {
    let source = include_str!("torch_table.rs").split("/// The cells of a column").next().expect("the code");
    let cells = column("## From torch", 2);
    assert!(cells.len() >= 30, "{}", cells.len());
    for cell in cells {
        for code in cell.split("`, `").map(|code| code.trim_matches('`')) {
            assert!(source.contains(code), "not in the test: {code}");
        }
    }
}

#[test]
fn every_remedy_is_what_errors_advise() {
    let source = include_str!("../src/remedies.rs");
    let cells = column("## Panics and errors", 2);
    assert!(cells.len() >= 8, "{}", cells.len());
    for cell in cells {
        let code = cell.split('`').nth(1).expect("code");
        assert!(source.contains(code), "no error advises {code}");
    }
}
