//! The programs on dfdx, whose shapes are types.

use dfdx::nn::{builders, modules};
use dfdx::optim::{Optimizer, Sgd, SgdConfig};
use dfdx::prelude::*;

use crate::data;
use crate::data::mlp::{BATCH, WIDTH};
use crate::programs::{Crate, Program};

pub const PROGRAMS: Crate = Crate {
    name: "dfdx",
    programs: [
        || Ok(mlp()),
        || Err("convolutions want the nightly compiler"),
        || Ok(chain()),
        || Ok(map()),
        || Err("no Cholesky factors, no triangular solves"),
    ],
};

type Layers = (modules::Linear<WIDTH, WIDTH, f32, Cpu>, modules::ReLU, modules::Linear<WIDTH, 10, f32, Cpu>);

struct Mlp {
    model: Layers,
    optimizer: Sgd<Layers, f32, Cpu>,
    /// What was allocated for gradients, between steps.
    gradients: Option<Gradients<f32, Cpu>>,
    x: Tensor<Rank2<BATCH, WIDTH>, f32, Cpu>,
    targets: Tensor<Rank2<BATCH, 10>, f32, Cpu>,
}

impl Mlp {
    fn loss(&mut self) -> f32 {
        let gradients = self.gradients.take().expect("they are put back");
        let out = self.model.forward(self.x.trace(gradients));
        let loss = cross_entropy_with_logits_loss(out, self.targets.clone());
        let value = loss.array();
        let mut gradients = loss.backward();
        self.optimizer.update(&mut self.model, &gradients).expect("all parameters are used");
        self.model.zero_grads(&mut gradients);
        self.gradients = Some(gradients);
        value
    }
}

impl Program for Mlp {
    fn step(&mut self) {
        self.loss();
    }
    fn result(&mut self) -> Vec<f64> {
        (0..3).map(|_| self.loss().into()).collect()
    }
}

fn mlp() -> Box<dyn Program> {
    let dev = Cpu::default();
    type Built = (builders::Linear<WIDTH, WIDTH>, builders::ReLU, builders::Linear<WIDTH, 10>);
    let mut model = dev.build_module::<Built, f32>();
    let [w1, b1, w2, b2] = data::parameters(&data::mlp::PARAMETERS).try_into().unwrap();
    model.0.weight.copy_from(&w1);
    model.0.bias.copy_from(&b1);
    model.2.weight.copy_from(&w2);
    model.2.bias.copy_from(&b2);
    let mut targets = vec![0.0; BATCH * 10];
    for (row, class) in data::classes(11, BATCH).into_iter().enumerate() {
        targets[row * 10 + class as usize] = 1.0;
    }
    Box::new(Mlp {
        optimizer: Sgd::new(&model, SgdConfig { lr: data::RATE, ..Default::default() }),
        gradients: Some(model.alloc_grads()),
        model,
        x: dev.tensor_from_vec(data::floats(10, BATCH * WIDTH, 1.0), (Const, Const)),
        targets: dev.tensor_from_vec(targets, (Const, Const)),
    })
}

struct Call<F>(F);

impl<F: FnMut() -> Vec<f32>> Program for Call<F> {
    fn step(&mut self) {
        (self.0)();
    }
    fn result(&mut self) -> Vec<f64> {
        (self.0)().into_iter().map(f64::from).collect()
    }
}

fn chain() -> Box<dyn Program> {
    let dev = Cpu::default();
    let x: Tensor<Rank1<{ data::chain::SIZE }>, f32, Cpu> = dev.tensor_from_vec(data::chain::start(), (Const,));
    let w: Tensor<Rank1<{ data::chain::SIZE }>, f32, Cpu> = dev.tensor_from_vec(data::chain::factor(), (Const,));
    Box::new(Call(move || {
        let y = (0..data::chain::LENGTH).fold(x.leaky_trace(), |y, _| y * w.clone());
        y.sum::<Rank0, _>().backward().get(&x).as_vec()
    }))
}

/// A backward pass for each row, and since a pass consumes the graph, a forward pass too.
fn map() -> Box<dyn Program> {
    const N: usize = data::map::SIZE;
    let dev = Cpu::default();
    // Vectors are multiplied by matrices from the left.
    let transposed = data::transposed(&data::map::matrix(), N);
    let w: Tensor<Rank2<N, N>, f32, Cpu> = dev.tensor_from_vec(transposed, (Const, Const));
    let x: Tensor<Rank1<N>, f32, Cpu> = dev.tensor_from_vec(data::map::place(), (Const,));
    let places: Vec<Tensor<Rank0, usize, Cpu>> = (0..N).map(|i| dev.tensor(i)).collect();
    Box::new(Call(move || {
        let row = |i: &Tensor<Rank0, usize, Cpu>| {
            let y = x.leaky_trace().matmul(w.clone()).tanh();
            y.select(i.clone()).backward().get(&x).as_vec()
        };
        places.iter().flat_map(row).collect()
    }))
}
