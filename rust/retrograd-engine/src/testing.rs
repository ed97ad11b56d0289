//! Checks of derivatives for the unit tests of ops: random directions, random cotangents, first and second order.

use num_complex::Complex;

use crate::autograd::engine::{self, Backward, Root, Target};
use crate::autograd::forward::Level;
use crate::error::Result;
use crate::tensor::{DType, Tensor};

/// Numbers in (-1, 1), the same for the same `seed`.
pub fn noise(seed: u64, sizes: &[usize]) -> Tensor {
    Tensor::from_slice(&retrograd_kernels::testing::noise(seed, sizes.iter().product()), sizes).unwrap()
}

/// Complex numbers whose parts are [`noise`].
pub fn complex_noise(seed: u64, sizes: &[usize]) -> Tensor {
    let parts = retrograd_kernels::testing::noise(seed, 2 * sizes.iter().product::<usize>());
    of_parts(&parts, DType::Complex128, sizes)
}

/// [`noise`] in the dtype of `x`.
fn noise_like(seed: u64, x: &Tensor) -> Tensor {
    if x.dtype().is_complex() { complex_noise(seed, x.sizes()) } else { noise(seed, x.sizes()) }
}

/// The elements as real numbers; both parts of complex ones. torch's convention makes the pairing of gradient and
/// direction the sum of the products of these.
fn parts(x: &Tensor) -> Vec<f64> {
    if !x.dtype().is_complex() {
        return x.to_vec().unwrap();
    }
    x.to_vec::<Complex<f64>>().unwrap().iter().flat_map(|z| [z.re, z.im]).collect()
}

fn of_parts(v: &[f64], dtype: DType, sizes: &[usize]) -> Tensor {
    if !dtype.is_complex() {
        return Tensor::from_slice(v, sizes).unwrap();
    }
    let z: Vec<Complex<f64>> = v.chunks_exact(2).map(|p| Complex::new(p[0], p[1])).collect();
    Tensor::from_slice(&z, sizes).unwrap()
}

fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!((a.sizes(), a.dtype().is_complex()), (b.sizes(), b.dtype().is_complex()));
    parts(a).iter().zip(parts(b)).map(|(x, y)| x * y).sum()
}

fn shifted(x: &Tensor, d: &Tensor, eps: f64) -> Tensor {
    let v: Vec<f64> = parts(x).iter().zip(parts(d)).map(|(x, d)| x + eps * d).collect();
    of_parts(&v, x.dtype(), x.sizes())
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

/// Compares VJP, JVP and the VJP's own VJP with central differences. Operands are float64 or complex128, away from
/// kinks.
pub fn gradcheck(f: &dyn Fn(&[Tensor]) -> Result<Tensor>, xs: &[Tensor]) {
    const EPS: f64 = 1e-6;
    let plain: Vec<Tensor> = xs.iter().map(Tensor::detach).collect();
    let y = f(&plain).unwrap();
    let g = noise_like(7, &y);
    let ds: Vec<Tensor> = xs.iter().enumerate().map(|(i, x)| noise_like(11 + i as u64, x)).collect();
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
    let vs: Vec<Tensor> = xs.iter().enumerate().map(|(i, x)| noise_like(101 + i as u64, x)).collect();
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
