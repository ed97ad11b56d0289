//! The programs on burn, on two of its backends: what their tensors are is said by their device.

use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::tensor::activation::relu;
use burn::tensor::module::{conv2d, linear, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::data;
use crate::programs::{Crate, Program};

const NO_CHOLESKY: &str = "no Cholesky factors, no triangular solves";

pub const ON_FLEX: Crate = Crate {
    name: "burn, flex",
    programs: [
        || Ok(mlp(&Device::flex().autodiff())),
        || Ok(cnn(&Device::flex().autodiff())),
        || Ok(chain(&Device::flex().autodiff())),
        || Ok(map(&Device::flex().autodiff())),
        || Err(NO_CHOLESKY),
    ],
};

#[expect(deprecated, reason = "the backend that many programs have")]
pub const ON_NDARRAY: Crate = Crate {
    name: "burn, ndarray",
    programs: [
        || Ok(mlp(&Device::ndarray().autodiff())),
        || Ok(cnn(&Device::ndarray().autodiff())),
        || Ok(chain(&Device::ndarray().autodiff())),
        || Ok(map(&Device::ndarray().autodiff())),
        || Err(NO_CHOLESKY),
    ],
};

fn tensor<const D: usize>(values: Vec<f32>, sizes: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, sizes), device)
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// The weight and the bias of a layer.
struct Layer<const D: usize> {
    weight: Tensor<D>,
    bias: Tensor<1>,
}

impl<const D: usize> Layer<D> {
    fn new(weight: Vec<f32>, sizes: [usize; D], bias: Vec<f32>, device: &Device) -> Self {
        let outputs = bias.len();
        let bias = tensor(bias, [outputs], device).require_grad();
        Self { weight: tensor(weight, sizes, device).require_grad(), bias }
    }

    /// Weights have a row for each input.
    fn linear(weight: &[f32], bias: Vec<f32>, device: &Device) -> Layer<2> {
        let outputs = bias.len();
        Layer::new(data::transposed(weight, outputs), [weight.len() / outputs, outputs], bias, device)
    }

    fn update(&mut self, gradients: &mut burn::tensor::Gradients) {
        fn updated<const D: usize>(x: &Tensor<D>, gradients: &mut burn::tensor::Gradients) -> Tensor<D> {
            let gradient = x.grad_remove(gradients).unwrap();
            (x.clone().inner() - gradient * data::RATE).autodiff().require_grad()
        }
        self.weight = updated(&self.weight, gradients);
        self.bias = updated(&self.bias, gradients);
    }
}

/// A model with its batch, and a step of it.
struct Training<M> {
    model: M,
    criterion: CrossEntropyLoss,
    classes: Tensor<1, Int>,
    loss: fn(&M, &CrossEntropyLoss, &Tensor<1, Int>) -> Tensor<1>,
    update: fn(&mut M, &mut burn::tensor::Gradients),
}

impl<M> Training<M> {
    fn once(&mut self) -> Tensor<1> {
        let loss = (self.loss)(&self.model, &self.criterion, &self.classes);
        (self.update)(&mut self.model, &mut loss.backward());
        loss
    }
}

impl<M> Program for Training<M> {
    fn step(&mut self) {
        self.once();
    }
    fn result(&mut self) -> Vec<f64> {
        (0..3).flat_map(|_| numbers(self.once())).collect()
    }
}

fn classes(n: usize, device: &Device) -> Tensor<1, Int> {
    let classes: Vec<i64> = data::classes(11, n).into_iter().map(i64::from).collect();
    Tensor::from_data(TensorData::new(classes, [n]), device)
}

struct Mlp {
    x: Tensor<2>,
    hidden: Layer<2>,
    out: Layer<2>,
}

fn mlp(device: &Device) -> Box<dyn Program> {
    use data::mlp::{BATCH, PARAMETERS, WIDTH};
    let [w1, b1, w2, b2] = data::parameters(&PARAMETERS).try_into().unwrap();
    let model = Mlp {
        x: tensor(data::floats(10, BATCH * WIDTH, 1.0), [BATCH, WIDTH], device),
        hidden: Layer::<2>::linear(&w1, b1, device),
        out: Layer::<2>::linear(&w2, b2, device),
    };
    Box::new(Training {
        model,
        criterion: CrossEntropyLossConfig::new().init(device),
        classes: classes(BATCH, device),
        loss: |m, criterion, classes| {
            let apply = |x, layer: &Layer<2>| linear(x, layer.weight.clone(), Some(layer.bias.clone()));
            let out = apply(relu(apply(m.x.clone(), &m.hidden)), &m.out);
            criterion.forward(out, classes.clone())
        },
        update: |m, gradients| {
            m.hidden.update(gradients);
            m.out.update(gradients);
        },
    })
}

struct Cnn {
    x: Tensor<4>,
    first: Layer<4>,
    second: Layer<4>,
    out: Layer<2>,
}

fn cnn(device: &Device) -> Box<dyn Program> {
    use data::cnn::{BATCH, FLAT, PARAMETERS, SIDE};
    let [w1, b1, w2, b2, w3, b3] = data::parameters(&PARAMETERS).try_into().unwrap();
    let model = Cnn {
        x: tensor(data::floats(10, BATCH * SIDE * SIDE, 1.0), [BATCH, 1, SIDE, SIDE], device),
        first: Layer::new(w1, [8, 1, 3, 3], b1, device),
        second: Layer::new(w2, [16, 8, 3, 3], b2, device),
        out: Layer::<2>::linear(&w3, b3, device),
    };
    Box::new(Training {
        model,
        criterion: CrossEntropyLossConfig::new().init(device),
        classes: classes(BATCH, device),
        loss: |m, criterion, classes| {
            let convolved = |x, layer: &Layer<4>| {
                let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
                let x = relu(conv2d(x, layer.weight.clone(), Some(layer.bias.clone()), options));
                max_pool2d(x, MaxPoolOptions::new([2, 2]))
            };
            let x = convolved(convolved(m.x.clone(), &m.first), &m.second).reshape([BATCH, FLAT]);
            criterion.forward(linear(x, m.out.weight.clone(), Some(m.out.bias.clone())), classes.clone())
        },
        update: |m, gradients| {
            m.first.update(gradients);
            m.second.update(gradients);
            m.out.update(gradients);
        },
    })
}

struct Call<F>(F);

impl<const D: usize, F: FnMut() -> Tensor<D>> Program for Call<F> {
    fn step(&mut self) {
        (self.0)();
    }
    fn result(&mut self) -> Vec<f64> {
        numbers((self.0)())
    }
}

fn chain(device: &Device) -> Box<dyn Program> {
    let x = tensor(data::chain::start(), [data::chain::SIZE], device).require_grad();
    let w = tensor(data::chain::factor(), [data::chain::SIZE], device);
    Box::new(Call(move || {
        let y = (0..data::chain::LENGTH).fold(x.clone(), |y, _| y * w.clone());
        x.grad_remove(&mut y.sum().backward()).unwrap()
    }))
}

/// A backward pass for each row, and since a pass consumes the graph, a forward pass too.
fn map(device: &Device) -> Box<dyn Program> {
    let n = data::map::SIZE;
    let w = tensor(data::map::matrix(), [n, n], device);
    let x = tensor(data::map::place(), [n, 1], device).require_grad();
    Box::new(Call(move || {
        let row = |i: usize| {
            let y = w.clone().matmul(x.clone()).tanh();
            x.grad_remove(&mut y.slice([i..i + 1, 0..1]).backward()).unwrap()
        };
        Tensor::cat((0..n).map(row).collect(), 1).transpose()
    }))
}
