//! Gradients of the parts of a batch, computed by threads that share the parameters.
//!
//!     cargo run --example threads

use std::thread;

use retrograd::nn::{self, Linear, Sequential};
use retrograd::prelude::*;

const THREADS: usize = 4;

pub fn main() -> Result<()> {
    manual_seed(0);
    let model = Sequential::new().push(Linear::new(8, 32)).push_fn(nn::tanh).push(Linear::new(32, 1));
    let (x, y) = (Tensor::randn([64, 8]), Tensor::randn([64, 1]));
    let loss_of = |x: &Tensor, y: &Tensor| (model.forward(x) - y).square().sum();

    // Each thread records a graph of its own, and the backward passes add to the same gradients.
    let parts: Vec<_> = x.chunk(THREADS).into_iter().zip(y.chunk(THREADS)).collect();
    thread::scope(|scope| {
        let running: Vec<_> = parts.iter().map(|(x, y)| scope.spawn(|| loss_of(x, y).backward())).collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let by_threads: Vec<Tensor> = model.parameters().iter().map(|p| p.grad().expect("all took part")).collect();

    let at_once = grad(loss_of(&x, &y), model.parameters())?;
    for (threads, once) in by_threads.iter().zip(&at_once) {
        // The order of the sums differs, and so the last digits do.
        let error = (threads - once).abs().max().item::<f32>()? / once.abs().max().item::<f32>()?;
        assert!(error < 1e-5, "{error}");
    }
    println!("{THREADS} threads made the gradients of {} parameters", model.num_parameters());
    Ok(())
}
