//! Per-sample gradients: the gradient of every sample of a batch by one call, and their norms.
//!
//!     cargo run --example vmap

use retrograd::prelude::*;

/// The parameters of a network with one hidden layer. `#[derive(Tree)]` lets transforms take it.
#[derive(Tree)]
struct Params {
    hidden: Tensor,
    out: Tensor,
}

/// The loss of one sample.
fn loss(params: &Params, x: &Tensor, y: &Tensor) -> Tensor {
    (params.out.dot(&params.hidden.mv(x).tanh()) - y).square()
}

pub fn main() -> Result<()> {
    manual_seed(0);
    let params = Params { hidden: Tensor::randn([16, 4]), out: Tensor::randn([16]) };
    let (x, y) = (Tensor::randn([50, 4]), Tensor::randn([50]));

    let gradient = |(x, y): &(Tensor, Tensor)| func::grad(|p: &Params| loss(p, x, y))(&params);
    let all = func::vmap(gradient)(&(x.clone(), y.clone()));
    assert_eq!((all.hidden.shape(), all.out.shape()), (&[50, 16, 4][..], &[50, 16][..]));

    let norms = (all.hidden.square().sum_dim([1, 2]) + all.out.square().sum_dim(1)).sqrt();
    println!("norms of the gradients: from {:.3} to {:.3}", norms.min().item::<f32>()?, norms.max().item::<f32>()?);

    // One by one they are the same.
    for sample in 0..50 {
        let one = func::grad(|p: &Params| loss(p, &x.i(sample), &y.i(sample)))(&params);
        let error = (one.hidden - all.hidden.i(sample)).abs().max().item::<f32>()?;
        assert!(error < 1e-4, "sample {sample}: {error}");
    }
    Ok(())
}
