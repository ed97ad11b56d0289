//! The programs on candle.

use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::loss::cross_entropy;
use candle_nn::{Conv2d, Conv2dConfig, Linear, Module, Optimizer, SGD};

use crate::data;
use crate::programs::{Crate, Program};

pub const PROGRAMS: Crate = Crate {
    name: "candle",
    programs: [
        || Ok(mlp().unwrap()),
        || Ok(cnn().unwrap()),
        || Ok(chain().unwrap()),
        || Ok(map().unwrap()),
        || Err("no Cholesky factors, no triangular solves"),
    ],
};

const CPU: &Device = &Device::Cpu;

struct Training<F> {
    model: F,
    optimizer: SGD,
    x: Tensor,
    classes: Tensor,
}

impl<F: Fn(&Tensor) -> Result<Tensor>> Training<F> {
    fn loss(&mut self) -> Result<Tensor> {
        let loss = cross_entropy(&(self.model)(&self.x)?, &self.classes)?;
        self.optimizer.backward_step(&loss)?;
        Ok(loss)
    }
}

impl<F: Fn(&Tensor) -> Result<Tensor>> Program for Training<F> {
    fn step(&mut self) {
        self.loss().unwrap();
    }
    fn result(&mut self) -> Vec<f64> {
        (0..3).map(|_| self.loss().unwrap().to_scalar::<f32>().unwrap().into()).collect()
    }
}

fn parameters(sizes: &[&[usize]]) -> Result<Vec<Var>> {
    data::parameters(sizes).into_iter().zip(sizes).map(|(values, sizes)| Var::from_vec(values, *sizes, CPU)).collect()
}

fn mlp() -> Result<Box<dyn Program>> {
    use data::mlp::{BATCH, PARAMETERS, WIDTH};
    let p = parameters(&PARAMETERS)?;
    let layer = |i: usize| Linear::new(p[i].as_tensor().clone(), Some(p[i + 1].as_tensor().clone()));
    let (hidden, out) = (layer(0), layer(2));
    Ok(Box::new(Training {
        model: move |x: &Tensor| out.forward(&hidden.forward(x)?.relu()?),
        optimizer: SGD::new(p.clone(), data::RATE)?,
        x: Tensor::from_vec(data::floats(10, BATCH * WIDTH, 1.0), (BATCH, WIDTH), CPU)?,
        classes: Tensor::from_vec(data::classes(11, BATCH), BATCH, CPU)?,
    }))
}

fn cnn() -> Result<Box<dyn Program>> {
    use data::cnn::{BATCH, PARAMETERS, SIDE};
    let p = parameters(&PARAMETERS)?;
    let tensor = |i: usize| p[i].as_tensor().clone();
    let conv = |i| Conv2d::new(tensor(i), Some(tensor(i + 1)), Conv2dConfig { padding: 1, ..Default::default() });
    let (first, second, out) = (conv(0), conv(2), Linear::new(tensor(4), Some(tensor(5))));
    Ok(Box::new(Training {
        model: move |x: &Tensor| {
            let x = first.forward(x)?.relu()?.max_pool2d(2)?;
            let x = second.forward(&x)?.relu()?.max_pool2d(2)?;
            out.forward(&x.flatten_from(1)?)
        },
        optimizer: SGD::new(p.clone(), data::RATE)?,
        x: Tensor::from_vec(data::floats(10, BATCH * SIDE * SIDE, 1.0), (BATCH, 1, SIDE, SIDE), CPU)?,
        classes: Tensor::from_vec(data::classes(11, BATCH), BATCH, CPU)?,
    }))
}

struct Call<F>(F);

impl<F: FnMut() -> Result<Tensor>> Program for Call<F> {
    fn step(&mut self) {
        (self.0)().unwrap();
    }
    fn result(&mut self) -> Vec<f64> {
        let found = (self.0)().unwrap().to_dtype(DType::F64).unwrap();
        found.flatten_all().unwrap().to_vec1().unwrap()
    }
}

fn chain() -> Result<Box<dyn Program>> {
    let x = Var::from_vec(data::chain::start(), data::chain::SIZE, CPU)?;
    let w = Tensor::from_vec(data::chain::factor(), data::chain::SIZE, CPU)?;
    Ok(Box::new(Call(move || {
        let mut y = (x.as_tensor() * &w)?;
        for _ in 1..data::chain::LENGTH {
            y = (y * &w)?;
        }
        Ok(y.sum_all()?.backward()?.get(&x).unwrap().clone())
    })))
}

/// A backward pass for each row.
fn map() -> Result<Box<dyn Program>> {
    let n = data::map::SIZE;
    let w = Tensor::from_vec(data::map::matrix(), (n, n), CPU)?;
    let x = Var::from_vec(data::map::place(), n, CPU)?;
    Ok(Box::new(Call(move || {
        let y = w.matmul(&x.unsqueeze(1)?)?.squeeze(1)?.tanh()?;
        let row = |i| Ok(y.get(i)?.backward()?.get(&x).unwrap().clone());
        Tensor::stack(&(0..n).map(row).collect::<Result<Vec<_>>>()?, 0)
    })))
}
