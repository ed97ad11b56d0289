//! What a crate does that depends on retrograd alone: nothing here names the engine or another crate below it.

#![cfg(test)]

use retrograd::nn::Linear;
use retrograd::optim::Sgd;
use retrograd::prelude::*;
use retrograd::{ops, safetensors};

#[test]
fn a_line_is_fitted() -> Result<()> {
    let x = tensor![-1f32, 0.0, 1.0, 2.0];
    let y = 2.0 * &x - 1.0;
    let slope = Tensor::from(0f32).requires_grad_(true);
    let offset = Tensor::from(0f32).requires_grad_(true);
    for _ in 0..200 {
        (&slope * &x + &offset - &y).square().mean().backward()?;
        no_grad(|| {
            for parameter in [&slope, &offset] {
                parameter.sub_(0.1 * parameter.grad().unwrap());
                parameter.zero_grad();
            }
        });
    }
    assert!((slope.item::<f32>()? - 2.0).abs() < 1e-4 && (offset.item::<f32>()? + 1.0).abs() < 1e-4);
    Ok(())
}

#[test]
fn ops_are_functions_and_methods() -> Result<()> {
    let x = tensor![[1.0, 2.0], [3.0, 5.0]];
    assert_eq!(x.matmul(&x).to_vec::<f64>()?, [7.0, 12.0, 18.0, 31.0]);
    assert_eq!(x.sum_dim(0).to_vec::<f64>()?, [4.0, 7.0]);
    assert_eq!(ops::maximum(&x, &tensor![2.5]).to_vec::<f64>()?, [2.5, 2.5, 3.0, 5.0]);
    assert_eq!(x.i(i![.., 1]).to_vec::<f64>()?, [2.0, 5.0]);
    assert!(x.try_add(&tensor![1.0, 2.0, 3.0]).is_err());
    Ok(())
}

#[derive(Tree)]
struct Parameters {
    weight: Tensor,
    bias: Tensor,
}

#[test]
fn the_derive_of_trees_names_this_crate_alone() -> Result<()> {
    let parameters = Parameters { weight: tensor![3.0], bias: tensor![4.0] };
    let gradient = func::grad(|p: &Parameters| (&p.weight * &p.bias + &p.bias).sum())(&parameters);
    assert_eq!((gradient.weight.item::<f64>()?, gradient.bias.item::<f64>()?), (4.0, 4.0));
    Ok(())
}

#[derive(Module)]
struct Net {
    hidden: Linear,
    out: Linear,
}

impl Forward for Net {
    fn forward(&self, x: &Tensor) -> Tensor {
        self.out.forward(&self.hidden.forward(x).tanh())
    }
}

#[test]
fn a_module_is_trained_saved_and_loaded() -> Result<()> {
    let net = || Net { hidden: Linear::new(2, 4), out: Linear::new(4, 1) };
    let trained = net();
    let (x, y) = (tensor![[0f32, 0.0], [0.0, 1.0], [1.0, 0.0]], tensor![[0f32], [1.0], [1.0]]);
    let mut optimizer = Sgd::new(trained.parameters(), 0.1);
    let mut losses = Vec::new();
    for _ in 0..20 {
        let loss = ops::nn::mse_loss(&trained.forward(&x), &y);
        losses.push(loss.item::<f32>()?);
        optimizer.zero_grad();
        loss.backward()?;
        optimizer.step()?;
    }
    assert!(losses[19] < losses[0], "{losses:?}");

    let path = std::env::temp_dir().join(format!("retrograd-outside-{}.safetensors", std::process::id()));
    safetensors::save(&path, &trained.state_dict())?;
    let loaded = net();
    loaded.load_state_dict(&safetensors::load(&path)?)?;
    std::fs::remove_file(path).expect("the file was there");
    assert!(trained.forward(&x).equal(&loaded.forward(&x)));
    Ok(())
}
