//! A neural ODE: a network is the velocity of a system, and is trained through the steps of a Runge-Kutta method.
//!
//!     cargo run --release --example ode

use retrograd::nn::{self, Linear, Sequential};
use retrograd::optim::Adam;
use retrograd::prelude::*;

const STEPS: usize = 20;
const H: f64 = 0.1;

/// The states of shape (steps + 1, batch, 2) that the velocity leads to from `start`: the classical method of order 4.
fn integrate(velocity: impl Fn(&Tensor) -> Tensor, start: &Tensor) -> Tensor {
    let mut states = vec![start.clone()];
    for _ in 0..STEPS {
        let y = &states[states.len() - 1];
        let k1 = velocity(y);
        let k2 = velocity(&(y + 0.5 * H * &k1));
        let k3 = velocity(&(y + 0.5 * H * &k2));
        let k4 = velocity(&(y + H * &k3));
        let next = y + H / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        states.push(next);
    }
    ops::stack(states)
}

pub fn main() -> Result<()> {
    manual_seed(0);
    // A pendulum with friction, seen from 8 starts.
    let pendulum = |y: &Tensor| {
        let (angle, speed) = (y.i(i![.., 0]), y.i(i![.., 1]));
        ops::stack_dim([speed.clone(), -angle.sin() - 0.2 * speed], 1)
    };
    let seen = integrate(pendulum, &Tensor::randn([8, 2]));

    let model = Sequential::new().push(Linear::new(2, 32)).push_fn(nn::tanh).push(Linear::new(32, 2));
    let mut optimizer = Adam::new(model.parameters(), 0.03);
    let (mut first, mut last) = (None, f64::NAN);
    for step in 0..=60 {
        optimizer.zero_grad();
        let loss = (integrate(|y| model.forward(y), &seen.i(0)) - &seen).square().mean();
        loss.backward()?;
        optimizer.step()?;
        last = loss.item::<f64>()?;
        first.get_or_insert(last);
        if step % 20 == 0 {
            println!("step {step}: loss {last:.5}");
        }
    }
    assert!(last < 0.01 * first.unwrap_or(0.0));
    Ok(())
}
