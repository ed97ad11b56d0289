//! Checks of derivatives for the rooms' own tests: random directions, random cotangents, first and second order.

use crate::autograd::engine::{self, Backward, Root, Target};
use crate::autograd::forward::Level;
use crate::error::Result;
use crate::tensor::Tensor;

/// Numbers in (-1, 1), the same for the same `seed`.
pub fn noise(seed: u64, sizes: &[usize]) -> Tensor {
    Tensor::from_slice(&retrograd_kernels::testing::noise(seed, sizes.iter().product()), sizes).unwrap()
}

fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.sizes(), b.sizes());
    a.to_vec::<f64>().unwrap().iter().zip(b.to_vec::<f64>().unwrap()).map(|(x, y)| x * y).sum()
}

fn shifted(x: &Tensor, d: &Tensor, eps: f64) -> Tensor {
    let v: Vec<f64> =
        x.to_vec::<f64>().unwrap().iter().zip(d.to_vec::<f64>().unwrap()).map(|(x, d)| x + eps * d).collect();
    Tensor::from_slice(&v, x.sizes()).unwrap()
}

fn vjp(f: &dyn Fn(&[Tensor]) -> Result<Tensor>, xs: &[Tensor], g: &Tensor, create_graph: bool) -> Vec<Option<Tensor>> {
    let y = f(xs).unwrap();
    let roots = vec![Root { edge: y.grad_edge().unwrap().expect("result requires grad"), grad: g.clone() }];
    let targets = xs.iter().map(|x| Target::Capture(x.grad_edge().unwrap().unwrap())).collect();
    engine::run(Backward { roots, retain_graph: create_graph, create_graph, targets }).unwrap()
}

fn leaves(xs: &[Tensor]) -> Vec<Tensor> {
    xs.iter()
        .map(|x| {
            let x = x.detach();
            x.set_requires_grad(true).unwrap();
            x
        })
        .collect()
}

fn close(what: &str, a: f64, b: f64) {
    let tol = 1e-6 * a.abs().max(b.abs()).max(1.0);
    assert!((a - b).abs() <= tol, "{what}: {a} against {b} by differences"); // NaN fails here
}

/// Compares VJP, JVP and the VJP's own VJP with central differences. Operands are float64, away from kinks.
pub fn gradcheck(f: &dyn Fn(&[Tensor]) -> Result<Tensor>, xs: &[Tensor]) {
    const EPS: f64 = 1e-6;
    let plain: Vec<Tensor> = xs.iter().map(Tensor::detach).collect();
    let y = f(&plain).unwrap();
    let g = noise(7, y.sizes());
    let ds: Vec<Tensor> = xs.iter().enumerate().map(|(i, x)| noise(11 + i as u64, x.sizes())).collect();
    let at = |eps: f64| -> Vec<Tensor> { plain.iter().zip(&ds).map(|(x, d)| shifted(x, d, eps)).collect() };
    let (up, down) = (f(&at(EPS)).unwrap(), f(&at(-EPS)).unwrap());
    let numeric = (dot(&g, &up) - dot(&g, &down)) / (2.0 * EPS);

    let grads = vjp(f, &leaves(xs), &g, false);
    let analytic: f64 = grads.iter().zip(&ds).map(|(gx, d)| gx.as_ref().map_or(0.0, |gx| dot(gx, d))).sum();
    close("vjp", analytic, numeric);

    {
        let _level = Level::enter();
        let duals: Vec<Tensor> = xs.iter().map(Tensor::detach).collect();
        for (x, d) in duals.iter().zip(&ds) {
            x.set_tangent(d.clone()).unwrap();
        }
        let t = f(&duals).unwrap().tangent().unwrap();
        close("jvp", t.map_or(0.0, |t| dot(&g, &t)), numeric);
    }

    // Second order: differences of <vjp(x; g), v> along d, against its gradient.
    let vs: Vec<Tensor> = xs.iter().enumerate().map(|(i, x)| noise(101 + i as u64, x.sizes())).collect();
    let inner = |xs: &[Tensor]| -> f64 {
        let grads = vjp(f, &leaves(xs), &g, false);
        grads.iter().zip(&vs).map(|(gx, v)| gx.as_ref().map_or(0.0, |gx| dot(gx, v))).sum()
    };
    let numeric = (inner(&at(EPS)) - inner(&at(-EPS))) / (2.0 * EPS);
    let xs = leaves(xs);
    let grads = vjp(f, &xs, &g, true);
    let roots: Vec<Root> = grads
        .iter()
        .zip(&vs)
        .filter_map(|(gx, v)| Some(Root { edge: gx.as_ref()?.grad_edge().unwrap()?, grad: v.clone() }))
        .collect();
    if roots.is_empty() {
        close("second order of a linear op", 0.0, numeric);
        return;
    }
    let targets = xs.iter().map(|x| Target::Capture(x.grad_edge().unwrap().unwrap())).collect();
    let second = engine::run(Backward { roots, retain_graph: false, create_graph: false, targets }).unwrap();
    let analytic: f64 = second.iter().zip(&ds).map(|(gx, d)| gx.as_ref().map_or(0.0, |gx| dot(gx, d))).sum();
    close("second order", analytic, numeric);
}
