//! Runs with hooks from Rust, and runs inside of runs.

use std::any::Any;
use std::sync::Arc;

use super::*;
use crate::autograd::hooks::{Hook, PreHook, register, remove};
use crate::autograd::mode::GradGuard;
use crate::testing::noise;

struct Replace(fn(&[Option<Tensor>]) -> Result<Option<Grads>>);

impl Hook for Replace {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PreHook for Replace {
    fn call(&self, grads: &[Option<Tensor>]) -> Result<Option<Grads>> {
        (self.0)(grads)
    }
}

fn leaf(seed: u64) -> Tensor {
    let x = noise(seed, &[5]);
    x.set_requires_grad(true).unwrap();
    x
}

fn numbers(x: &Tensor) -> Vec<f64> {
    x.to_vec().unwrap()
}

/// Runs with a hook before the node of `y`, the sum of whose squares is differentiated.
fn with_hook(y: &Tensor, hook: Replace) -> Result<()> {
    let node = y.grad_edge()?.unwrap().output().node;
    let id = register(&node.hooks().pre, Arc::new(hook) as Arc<dyn PreHook>);
    let result = backward(&y.mul(y)?.sum(None)?);
    remove(&node.hooks().pre, id);
    result
}

#[test]
fn a_hook_before_a_node_replaces_all_of_its_gradients_or_none() {
    let (x, b) = (leaf(1), noise(2, &[5]));
    let y = x.mul(&b).unwrap();
    let error = with_hook(&y, Replace(|grads| Ok(Some([grads, grads].concat().into())))).unwrap_err();
    assert!(error.to_string().contains("incorrect number of values (expected 1, but got 2)"), "{error}");
    assert!(x.grad().is_none());
    // The node was not run: its saved tensors are there.
    with_hook(&y, Replace(|grads| Ok(Some(grads.iter().map(|_| Some(noise(3, &[5]))).collect())))).unwrap();
    let want: Vec<f64> = numbers(&noise(3, &[5])).iter().zip(numbers(&b)).map(|(g, b)| g * b).collect();
    assert_eq!(numbers(&x.grad().unwrap()), want);
}

#[test]
fn a_run_inside_of_a_run_finds_slots_of_its_own() {
    let x = leaf(4);
    // Operands without a gradient between those with one: edges that lead nowhere.
    let y = noise(5, &[5]).mul(&x).unwrap().add(&x).unwrap();
    with_hook(
        &y,
        Replace(|grads| {
            let _on = GradGuard::new(true);
            let inner = leaf(6);
            let z = inner.mul(&noise(7, &[5]))?.mul(&inner)?;
            backward(&z.add(&inner)?.sum(None)?)?;
            let want = numbers(&inner).into_iter().zip(numbers(&noise(7, &[5]))).map(|(x, b)| 2.0 * x * b + 1.0);
            assert!(numbers(&inner.grad().unwrap()).into_iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15));
            Ok(Some(grads.into()))
        }),
    )
    .unwrap();
    let (x0, b) = (numbers(&x), numbers(&noise(5, &[5])));
    for ((g, x), b) in numbers(&x.grad().unwrap()).into_iter().zip(x0).zip(b) {
        let want = 2.0 * x * (b + 1.0) * (b + 1.0);
        assert!((g - want).abs() < 1e-14, "{g}, not {want}");
    }
}

#[test]
fn a_gradient_that_several_operands_get_becomes_nobodys_own() {
    let (x, y) = (leaf(8), leaf(9));
    backward(&x.add(&y).unwrap().mul(&x).unwrap().sum(None).unwrap()).unwrap();
    let (gx, gy) = (x.grad().unwrap(), y.grad().unwrap());
    let (x0, y0) = (numbers(&x), numbers(&y));
    assert_eq!(numbers(&gy), x0);
    assert!(numbers(&gx).into_iter().zip(x0.iter().zip(&y0)).all(|(g, (x, y))| (g - (2.0 * x + y)).abs() < 1e-15));
}
