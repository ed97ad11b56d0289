//! Arrays of the crate `ndarray` in and out: a function of arrays gets a gradient.
//!
//!     cargo run --example ndarray

use ndarray::{Array1, Array2, array};
use retrograd::prelude::*;

/// The value of a quadratic form `x' A x / 2 - b' x` and its gradient, from arrays to arrays.
fn value_and_gradient(a: &Array2<f64>, b: &Array1<f64>, x: &Array1<f64>) -> Result<(f64, Array1<f64>)> {
    let (a, b) = (Tensor::from(a), Tensor::from(b));
    let x = Tensor::from(x).requires_grad_(true);
    let value = 0.5 * x.dot(&a.mv(&x)) - b.dot(&x);
    let gradient = grad(&value, &x)?;
    Ok((value.item()?, Array1::try_from(&gradient[0])?))
}

pub fn main() -> Result<()> {
    let (a, b) = (array![[3.0, 1.0], [1.0, 2.0]], array![1.0, -1.0]);
    let mut x = array![0.0, 0.0];
    for _ in 0..60 {
        let (_, gradient) = value_and_gradient(&a, &b, &x)?;
        x = x - 0.4 * gradient;
    }
    println!("the minimum is at {x:.6}");
    assert!((a.dot(&x) - &b).iter().all(|residual| residual.abs() < 1e-6));

    // An array that is given away is not copied, and a tensor shows its elements as a view.
    let large = Tensor::from(Array2::<f32>::ones((100, 100)));
    assert_eq!((2.0 * large).elements::<f32>()?.array().sum(), 20_000.0);
    Ok(())
}
