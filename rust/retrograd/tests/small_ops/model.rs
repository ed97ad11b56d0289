//! A small model with parameters in a struct, and its difference quotients.

use super::*;

pub const STEP: f64 = 1e-6;

#[derive(Tree, Clone)]
pub struct Params {
    pub weight: Tensor,
    pub bias: Tensor,
    #[tree(skip)]
    pub power: i32,
}

pub fn params(seed: u64) -> Params {
    Params { weight: noise(seed, &[3, 2]), bias: noise(seed + 1, &[2]), power: 2 }
}

/// A result for each row of `x`, nonlinear in everything.
pub fn model(p: &Params, x: &Tensor) -> Tensor {
    let mut y = tanh(&add(&mm(x, &p.weight), &p.bias));
    for _ in 1..p.power {
        y = mul(&y, &add(&y, &p.bias));
    }
    y
}

pub fn loss(p: &Params, x: &Tensor) -> Tensor {
    sum(&model(p, x))
}

/// The central difference of `f` along a direction, paired with a cotangent.
pub fn difference<X: Tree, Y: Tree>(f: impl Fn(&X) -> Y, x: &X, direction: &X, cotangent: &Y) -> f64 {
    let (up, down) = (f(&moved(x, direction, STEP)), f(&moved(x, direction, -STEP)));
    (dot(cotangent, &up) - dot(cotangent, &down)) / (2.0 * STEP)
}
