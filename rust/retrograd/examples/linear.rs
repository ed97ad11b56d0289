//! Linear regression: a line through noisy points, by gradient descent written out by hand.
//!
//!     cargo run --example linear

use retrograd::prelude::*;

pub fn main() -> Result<()> {
    manual_seed(0);
    // 200 points near the line y = 2 x - 1.
    let x = Tensor::randn([200]);
    let y = 2.0 * &x - 1.0 + 0.1 * Tensor::randn([200]);

    let mut slope = Tensor::from(0f32).requires_grad_(true);
    let mut offset = Tensor::from(0f32).requires_grad_(true);
    for step in 0..100 {
        let loss = (&slope * &x + &offset - &y).square().mean();
        loss.backward()?;
        if step % 25 == 0 {
            println!("step {step}: loss {:.4}", loss.item::<f32>()?);
        }
        no_grad(|| {
            for parameter in [&mut slope, &mut offset] {
                *parameter -= 0.1 * parameter.grad().expect("backward gave it one");
                parameter.zero_grad();
            }
        });
    }

    let (slope, offset) = (slope.item::<f32>()?, offset.item::<f32>()?);
    println!("y = {slope:.3} x + {offset:.3}");
    assert!((slope - 2.0).abs() < 0.05 && (offset + 1.0).abs() < 0.05);
    Ok(())
}
