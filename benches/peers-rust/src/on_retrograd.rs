//! The programs on retrograd.

use std::f64::consts::PI;

use retrograd::func::{self, jacobian};
use retrograd::nn::{Conv2d, Forward, Linear, Module, Sequential, relu};
use retrograd::ops::{linalg, nn};
use retrograd::optim::{Optimizer, Sgd};
use retrograd::{DType, Result, Tensor, no_grad};

use crate::programs::Program;
use crate::{data, programs};

pub const PROGRAMS: programs::Crate = programs::Crate {
    name: "retrograd",
    programs: [|| Ok(mlp()), || Ok(cnn()), || Ok(chain()), || Ok(map()), || Ok(process())],
};

/// Steps of a model that classifies.
struct Training {
    model: Sequential,
    optimizer: Sgd,
    x: Tensor,
    classes: Tensor,
}

impl Training {
    fn new(model: Sequential, sizes: &[&[usize]], x: Tensor, classes: Vec<u32>) -> Self {
        no_grad(|| {
            for (parameter, values) in model.parameters().iter().zip(data::parameters(sizes)) {
                parameter.copy_(&Tensor::from_vec(values, parameter.shape()));
            }
        });
        let classes = classes.into_iter().map(i64::from).collect();
        Self { optimizer: Sgd::new(model.parameters(), data::RATE), model, x, classes }
    }

    fn loss(&mut self) -> Result<Tensor> {
        self.optimizer.zero_grad();
        let loss = nn::cross_entropy(&self.model.forward(&self.x), &self.classes);
        loss.backward()?;
        self.optimizer.step()?;
        Ok(loss)
    }
}

impl Program for Training {
    fn step(&mut self) {
        self.loss().unwrap();
    }
    fn result(&mut self) -> Vec<f64> {
        (0..3).map(|_| self.loss().unwrap().item().unwrap()).collect()
    }
}

pub fn mlp() -> Box<dyn Program> {
    use data::mlp::{BATCH, PARAMETERS, WIDTH};
    let model = Sequential::new().push(Linear::new(WIDTH, WIDTH)).push_fn(relu).push(Linear::new(WIDTH, 10));
    let x = Tensor::from_vec(data::floats(10, BATCH * WIDTH, 1.0), [BATCH, WIDTH]);
    Box::new(Training::new(model, &PARAMETERS, x, data::classes(11, BATCH)))
}

fn cnn() -> Box<dyn Program> {
    use data::cnn::{BATCH, FLAT, PARAMETERS, SIDE};
    let model = Sequential::new()
        .push(Conv2d::with(1, 8, 3, |o| o.padding(1)))
        .push_fn(relu)
        .push_fn(|x| nn::max_pool2d(x, 2))
        .push(Conv2d::with(8, 16, 3, |o| o.padding(1)))
        .push_fn(relu)
        .push_fn(|x| nn::max_pool2d(x, 2))
        .push_fn(|x| x.flatten_with(|o| o.start_dim(1)))
        .push(Linear::new(FLAT, 10));
    let x = Tensor::from_vec(data::floats(10, BATCH * SIDE * SIDE, 1.0), [BATCH, 1, SIDE, SIDE]);
    Box::new(Training::new(model, &PARAMETERS, x, data::classes(11, BATCH)))
}

/// A function of nothing that gives a tensor.
struct Call<F>(F);

impl<F: FnMut() -> Tensor> Program for Call<F> {
    fn step(&mut self) {
        (self.0)();
    }
    fn result(&mut self) -> Vec<f64> {
        (self.0)().double().to_vec().unwrap()
    }
}

fn chain() -> Box<dyn Program> {
    let x = Tensor::from(data::chain::start()).requires_grad_(true);
    let w = Tensor::from(data::chain::factor());
    Box::new(Call(move || {
        x.zero_grad();
        let y = (0..data::chain::LENGTH).fold(x.clone(), |y, _| y * &w);
        y.sum().backward().unwrap();
        x.grad().unwrap()
    }))
}

fn map() -> Box<dyn Program> {
    let w = Tensor::from_vec(data::map::matrix(), [data::map::SIZE; 2]);
    let x = Tensor::from(data::map::place());
    let jacobian = jacobian(move |x: &Tensor| w.matmul(x).tanh());
    Box::new(Call(move || jacobian(&x)))
}

/// The negative logarithm of the marginal likelihood of `values` at `places`, of a process with a squared exponential
/// covariance.
fn likelihood(logarithms: &Tensor, places: &Tensor, values: &Tensor) -> Tensor {
    let parameters = logarithms.exp();
    let (amplitude, length, noise) = (parameters.i(0), parameters.i(1), parameters.i(2));
    let distance = (places.unsqueeze(1) - places.unsqueeze(0)) / length;
    let covariance = amplitude.square() * (-0.5 * distance.square()).exp();
    let n = places.numel();
    let noise = noise.square() * Tensor::eye_with(n, |o| o.dtype(DType::Float64));
    let factor = linalg::cholesky(&(covariance + noise));
    let white = linalg::solve_triangular(&factor, &values.unsqueeze(1), false);
    0.5 * white.square().sum() + factor.diagonal().log().sum() + 0.5 * n as f64 * (2.0 * PI).ln()
}

fn process() -> Box<dyn Program> {
    let (places, values) = (Tensor::from(data::process::places()), Tensor::from(data::process::values()));
    let logarithms = Tensor::from(data::process::PARAMETERS);
    let gradient = func::grad(move |p: &Tensor| likelihood(p, &places, &values));
    Box::new(Call(move || gradient(&logarithms)))
}
