//! A few ops on tensors of the face, written on the engine, and comparisons.
#![allow(dead_code)] // Each test program uses some of them.

pub mod model;

use retrograd::{Result, Tensor, Tree, engine};

pub fn tensor(values: &[f64], sizes: &[usize]) -> Tensor {
    engine::Tensor::from_slice(values, sizes).unwrap().into()
}

pub fn scalar(value: f64) -> Tensor {
    tensor(&[value], &[])
}

/// Numbers in (-1, 1), the same for the same `seed`.
pub fn noise(seed: u64, sizes: &[usize]) -> Tensor {
    engine::testing::noise(seed, sizes).into()
}

/// [`noise`] for each tensor of a tree.
pub fn noise_like<T: Tree>(seed: u64, tree: &T) -> T {
    let mut seed = seed;
    let mut draw = |t: &Tensor| {
        seed += 1;
        Ok(noise(seed, t.engine().sizes()))
    };
    tree.map_tensors(&mut draw).unwrap()
}

pub fn try_mul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    Ok(a.engine().mul(b.engine())?.into())
}

pub fn mul(a: &Tensor, b: &Tensor) -> Tensor {
    try_mul(a, b).unwrap()
}

pub fn add(a: &Tensor, b: &Tensor) -> Tensor {
    a.engine().add(b.engine()).unwrap().into()
}

pub fn mm(a: &Tensor, b: &Tensor) -> Tensor {
    a.engine().mm(b.engine()).unwrap().into()
}

pub fn sin(x: &Tensor) -> Tensor {
    x.engine().sin().unwrap().into()
}

pub fn exp(x: &Tensor) -> Tensor {
    x.engine().exp().unwrap().into()
}

pub fn tanh(x: &Tensor) -> Tensor {
    x.engine().tanh().unwrap().into()
}

pub fn times(x: &Tensor, factor: f64) -> Tensor {
    x.engine().times(factor).unwrap().into()
}

pub fn sum(x: &Tensor) -> Tensor {
    x.engine().sum(None).unwrap().into()
}

pub fn values(x: &Tensor) -> Vec<f64> {
    x.engine().to_vec().unwrap()
}

pub fn item(x: &Tensor) -> f64 {
    x.engine().item().unwrap().as_f64()
}

pub fn sizes(x: &Tensor) -> &[usize] {
    x.engine().sizes()
}

pub fn leaf(x: &Tensor) -> Tensor {
    let x = x.engine().detach();
    x.set_requires_grad(true).unwrap();
    x.into()
}

pub fn requires_grad(x: &Tensor) -> bool {
    x.engine().requires_grad()
}

/// All elements of a tree, one tensor after the other.
pub fn all_values(tree: &impl Tree) -> Vec<f64> {
    tree.tensors().into_iter().flat_map(values).collect()
}

pub fn dot(a: &impl Tree, b: &impl Tree) -> f64 {
    let (a, b) = (all_values(a), all_values(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `x + step * direction`, for each tensor of a tree.
pub fn moved<T: Tree>(x: &T, direction: &T, step: f64) -> T {
    let mut along = direction.tensors().into_iter();
    x.map_tensors(&mut |t| Ok(add(t, &times(along.next().unwrap(), step)))).unwrap()
}

/// Compares derivatives with central differences, or with one another.
#[track_caller]
pub fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        let scale = x.abs().max(y.abs()).max(1.0);
        assert!((x - y).abs() <= tolerance * scale, "element {i}: {x} against {y}"); // NaN fails here
    }
}

/// The message of the panic of `f`.
pub fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => payload.downcast::<&str>().map_or_else(|_| "no text".into(), |text| text.to_string()),
        },
    }
}
