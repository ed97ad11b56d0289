//! A Gaussian process is fitted by its likelihood, with gradients and Hessians through a Cholesky factorization.
//!
//!     cargo run --example gp

use std::f64::consts::PI;

use retrograd::ops::linalg;
use retrograd::prelude::*;

/// The amplitude, the length and the noise that the samples are drawn with.
const TRUTH: [f64; 3] = [1.2, 0.6, 0.15];

/// The lower Cholesky factor of the covariance of noisy samples at the places `x`.
fn factor(logs: &Tensor, x: &Tensor) -> Tensor {
    let p = logs.exp();
    let distance = (x.i(i![.., NewAxis]) - x.i(i![NewAxis, ..])) / p.i(1);
    let covariance = p.i(0).square() * (-0.5 * distance.square()).exp();
    let noise = p.i(2).square() * Tensor::eye_with(x.numel(), |o| o.dtype(DType::Float64));
    linalg::cholesky(&(covariance + noise))
}

/// The negative logarithm of the marginal likelihood of the samples `y` at `x`.
fn loss(logs: &Tensor, x: &Tensor, y: &Tensor) -> Tensor {
    let lower = factor(logs, x);
    let white = linalg::solve_triangular(&lower, &y.i(i![.., NewAxis]), false);
    0.5 * white.square().sum() + lower.diagonal().log().sum() + 0.5 * x.numel() as f64 * (2.0 * PI).ln()
}

pub fn main() -> Result<()> {
    manual_seed(0);
    let float64 = DType::Float64;
    let x = ops::linspace_with(-4.0, 4.0, 60, |o| o.dtype(float64));
    let y = factor(&Tensor::from(TRUTH).log(), &x).mv(&Tensor::randn_with([60], |o| o.dtype(float64)));

    // Newton's method on the logarithms; where the loss is not convex, eigenvalues are replaced by their sizes.
    let value_and_grad = func::value_and_grad(|logs: &Tensor| loss(logs, &x, &y));
    let hessian = func::hessian(|logs: &Tensor| loss(logs, &x, &y));
    let mut logs = tensor![0.5, 2.0, 0.5].log();
    let mut steps = 0;
    let curvature = loop {
        let (value, gradient) = value_and_grad(&logs);
        let curvature = hessian(&logs);
        println!("step {steps}: loss {:.4}", value.item::<f64>()?);
        if gradient.abs().max().item::<f64>()? < 1e-6 {
            break curvature;
        }
        let eigen = linalg::eigh(&curvature);
        let axes = &eigen.eigenvectors;
        let step = axes.mv(&(axes.t().mv(&gradient) / eigen.eigenvalues.abs().clamp_with(|o| o.min(1e-3))));
        let longest = step.abs().max().item::<f64>()?;
        logs -= step * f64::min(0.7 / longest, 1.0);
        steps += 1;
        assert!(steps < 30, "Newton's method did not converge");
    };

    // The inverse of the Hessian tells how certain the logarithms are.
    let deviations = linalg::inv(&curvature).diagonal().sqrt().to_vec::<f64>()?;
    for ((name, log), (truth, deviation)) in
        ["amplitude", "length", "noise"].iter().zip(logs.to_vec::<f64>()?).zip(TRUTH.iter().zip(deviations))
    {
        println!("{name}: {:.3}, and the samples were drawn with {truth}", log.exp());
        assert!((log - truth.ln()).abs() < 3.0 * deviation);
    }
    Ok(())
}
