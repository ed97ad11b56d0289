//! A small network with layers of its own learns two interleaved half moons.
//!
//!     cargo run --example mlp

use std::f64::consts::PI;

use retrograd::nn::Linear;
use retrograd::optim::Adam;
use retrograd::prelude::*;

/// Two hidden layers; `#[derive(Module)]` finds the parameters in its fields.
#[derive(Module)]
struct Mlp {
    layers: Vec<Linear>,
    out: Linear,
}

impl Mlp {
    fn new(width: usize) -> Self {
        Self { layers: vec![Linear::new(2, width), Linear::new(width, width)], out: Linear::new(width, 1) }
    }
}

impl Forward for Mlp {
    fn forward(&self, x: &Tensor) -> Tensor {
        let hidden = self.layers.iter().fold(x.clone(), |x, layer| layer.forward(&x).tanh());
        self.out.forward(&hidden).squeeze_dim(-1)
    }
}

/// Points of shape (2 n, 2) on two half circles with noise, and which of the two each is on, as 0 or 1.
fn moons(n: i64) -> (Tensor, Tensor) {
    let angle = PI * Tensor::rand([n]);
    let upper = ops::stack([angle.cos(), angle.sin()]).t();
    let lower = ops::stack([1.0 - angle.cos(), 0.5 - angle.sin()]).t();
    let points = ops::cat([upper, lower]) + 0.1 * Tensor::randn([2 * n, 2]);
    (points, ops::cat([Tensor::zeros([n]), Tensor::ones([n])]))
}

pub fn main() -> Result<()> {
    manual_seed(0);
    let (x, y) = moons(100);
    let model = Mlp::new(16);
    let mut optimizer = Adam::new(model.parameters(), 0.02);
    println!("{} parameters", model.num_parameters());
    for step in 0..=150 {
        optimizer.zero_grad();
        let loss = ops::nn::binary_cross_entropy_with_logits(&model.forward(&x), &y);
        loss.backward()?;
        optimizer.step()?;
        if step % 50 == 0 {
            println!("step {step}: loss {:.4}", loss.item::<f32>()?);
        }
    }

    let (x, y) = moons(100);
    let right = no_grad(|| model.forward(&x)).gt(0).eq(y.gt(0.5)).sum().item::<i64>()?;
    println!("{right} of {} new points are right", y.numel());
    assert!(right >= 195);
    Ok(())
}
