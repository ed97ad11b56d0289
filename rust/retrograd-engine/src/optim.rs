//! Steps of optimizers over lists of parameters: one pass over the memory of each, and no op.
//!
//! Tensors of a step are float32 or float64 and dense. A parameter, its gradient and its state have one dtype and one
//! layout, and no memory in common. All that is checked before anything is written, so an error leaves everything as
//! it was. Writes count as those of in-place ops, and are not recorded.
//!
//! ```
//! use retrograd_engine::{Tensor, autograd::{self, GradGuard}, optim::Sgd};
//! let x = Tensor::from_slice(&[1.0f64, 2.0], &[2]).unwrap();
//! x.set_requires_grad(true).unwrap();
//! autograd::backward(&x.square().unwrap().sum(None).unwrap()).unwrap();
//! let _off = GradGuard::new(false);
//! let grads = [x.grad().unwrap()];
//! Sgd { lr: 0.25, ..Sgd::default() }.step(std::slice::from_ref(&x), &grads, &[]).unwrap();
//! assert_eq!(x.to_vec::<f64>().unwrap(), [0.5, 1.0]);
//! ```

use crate::autograd::mode;
use crate::compile::{Update, record};
use crate::error::{Error, Result};
use crate::kernels::optim as kernels;
use crate::match_dtype;
use crate::storage::reclaim::reading;
use crate::tensor::copy::ranges_meet;
use crate::tensor::layout::is_dense;
use crate::tensor::{DType, Tensor};
use crate::{profiler, transforms};

/// Gradient descent, with momentum or without.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sgd {
    /// The rate: how far a step goes along the gradient.
    pub lr: f64,
    pub momentum: f64,
    /// The share of a gradient that the momentum does not take.
    pub dampening: f64,
    /// What is added to a gradient, as a multiple of the parameter.
    pub weight_decay: f64,
    pub nesterov: bool,
    /// Ascends instead.
    pub maximize: bool,
}

/// Steps along the running mean of the gradients, divided by the root of that of their squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    pub lr: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    pub weight_decay: f64,
    /// The decay shrinks the parameter, and is no part of the gradient.
    pub decoupled_weight_decay: bool,
    /// Ascends instead.
    pub maximize: bool,
}

impl Default for Adam {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-8,
            weight_decay: 0.0,
            decoupled_weight_decay: false,
            maximize: false,
        }
    }
}

/// The state of parameters between two steps of [`Adam`]: a tensor for each of them in every list.
#[derive(Clone, Copy, Debug)]
pub struct AdamState<'a> {
    /// Running means of the gradients.
    pub means: &'a [Tensor],
    /// Running means of their squares.
    pub squares: &'a [Tensor],
    /// The largest of those so far, which then take their place; empty if they shall not.
    pub largest: &'a [Tensor],
    /// How many steps there were: one number each, of float32 or float64.
    pub steps: &'a [Tensor],
}

/// Modes in which every write has to be an op: somebody sees it, or a value stands for more than its elements.
const OPS_ONLY: u32 = mode::FORWARD | mode::OBSERVED | mode::INSIDE | mode::WATCH_WRITES | mode::DETECT_NAN;

/// What is known of every step before its tensors are looked at.
fn check_call(op: &'static str, count: usize, lists: &[&[Tensor]]) -> Result<()> {
    if lists.iter().any(|list| list.len() != count) {
        let counts: Vec<usize> = lists.iter().map(|list| list.len()).collect();
        return Err(Error::shape(op, format!("as many tensors in every list as parameters, {count}, not {counts:?}")));
    }
    if mode::word() & OPS_ONLY != 0 || transforms::active() > 0 {
        return Err(Error::not_implemented(format!(
            "{op}: not inside of a transform, nor while ops are watched or searched for NaN"
        )));
    }
    Ok(())
}

/// Whether a tensor may be written by a step.
fn check_written(op: &'static str, x: &Tensor) -> Result<()> {
    let recording = mode::records(mode::word()) && x.requires_grad();
    if recording {
        return Err(Error::autograd(format!("{op}: steps are not recorded: take them where grad mode is off")));
    }
    x.check_write(op, false)
}

/// Holds one parameter, its gradient, which comes second, and its state against what a step asks.
fn check(op: &'static str, xs: &[&Tensor]) -> Result<()> {
    let first = xs[0];
    for (i, &x) in xs.iter().enumerate() {
        if x.is_sparse() || x.is_batched() || x.lazy_bits().waiting() || x.may_have_tangent() {
            return Err(Error::not_implemented(format!("{op}: takes dense tensors that own their elements")));
        }
        if x.dtype() != first.dtype() || !matches!(x.dtype(), DType::Float32 | DType::Float64) {
            return Err(Error::dtype(
                op,
                format!(
                    "a parameter, its gradient and its state have one dtype, float32 or float64, not {} and {}",
                    first.dtype().name(),
                    x.dtype().name()
                ),
            ));
        }
        let contiguous = x.is_contiguous() && first.is_contiguous();
        let fits = x.sizes() == first.sizes()
            && (contiguous || x.strides() == first.strides() && is_dense(x.sizes(), x.strides()));
        if !fits {
            return Err(Error::shape(
                op,
                format!(
                    "a parameter, its gradient and its state have one shape and one dense layout, not {:?} and {:?}",
                    first.sizes(),
                    x.sizes()
                ),
            ));
        }
        if i != 1 {
            check_written(op, x)?;
        }
        if xs[..i].iter().any(|y| ranges_meet(x, y)) {
            return Err(Error::shape(op, "a parameter, its gradient and its state have no memory in common"));
        }
    }
    Ok(())
}

impl Sgd {
    /// One step for all parameters. `buffers` are their momenta, and empty without momentum.
    ///
    /// An error if lists differ in length, or if a tensor is not what the module says.
    pub fn step(&self, params: &[Tensor], grads: &[Tensor], buffers: &[Tensor]) -> Result<()> {
        const OP: &str = "_fused_sgd";
        let _reading = reading();
        let has_momentum = self.momentum != 0.0;
        let lists = [grads, buffers];
        check_call(OP, params.len(), if has_momentum { &lists } else { &lists[..1] })?;
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            match has_momentum {
                true => check(OP, &[p, g, &buffers[i]])?,
                false => check(OP, &[p, g])?,
            }
        }
        let step = kernels::Descent {
            decay: self.weight_decay,
            momentum: self.momentum,
            rest: 1.0 - self.dampening,
            rate: self.lr,
            nesterov: self.nesterov,
            maximize: self.maximize,
        };
        if params.is_empty() {
            return Ok(());
        }
        let _op = profiler::op(OP, true, Vec::new);
        if record::is_recording() {
            record::updates(
                Update::Sgd(*self),
                params.len(),
                &[params, grads, if has_momentum { buffers } else { &[] }],
            );
        }
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            let n = p.numel();
            match_dtype!(floats, p.dtype(), T => {
                // SAFETY: (1) S1 and S3, of dense tensors of `n` elements, and `check_write`; (2) `check`.
                unsafe {
                    match has_momentum {
                        true => kernels::descend_with_momentum(&step, n, [p, g, &buffers[i]].map(|x| x.ptr::<T>())),
                        false => kernels::descend(&step, n, [p, g].map(|x| x.ptr::<T>())),
                    }
                }
            }, else unreachable!("checked above"));
            p.bump_version();
            if has_momentum {
                buffers[i].bump_version();
            }
        }
        Ok(())
    }
}

impl Adam {
    /// One step for all parameters, which counts in `state.steps` too.
    ///
    /// An error if lists differ in length, if a tensor is not what the module says, or if a `beta` is not from 0 up to
    /// below 1.
    pub fn step(&self, params: &[Tensor], grads: &[Tensor], state: AdamState<'_>) -> Result<()> {
        const OP: &str = "_fused_adam";
        let _reading = reading();
        let AdamState { means, squares, largest, steps } = state;
        let amsgrad = !largest.is_empty();
        let lists: [&[Tensor]; 5] = [grads, means, squares, steps, largest];
        check_call(OP, params.len(), if amsgrad { &lists } else { &lists[..4] })?;
        if ![self.beta1, self.beta2].iter().all(|beta| (0.0..1.0).contains(beta)) {
            return Err(Error::shape(OP, format!("betas are from 0 to below 1, not {}, {}", self.beta1, self.beta2)));
        }
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            match amsgrad {
                true => check(OP, &[p, g, &means[i], &squares[i], &largest[i]])?,
                false => check(OP, &[p, g, &means[i], &squares[i]])?,
            }
            let step = &steps[i];
            if step.numel() != 1
                || step.is_batched()
                || step.is_sparse()
                || !matches!(step.dtype(), DType::Float32 | DType::Float64)
            {
                return Err(Error::dtype(OP, "a number of steps is one element of float32 or float64"));
            }
            check_written(OP, step)?;
            let of_parameter = [p, g, &means[i], &squares[i]].into_iter().chain(largest.get(i));
            if of_parameter.into_iter().any(|x| ranges_meet(x, step)) {
                return Err(Error::shape(OP, "a number of steps is no element of a parameter or its state"));
            }
        }
        if params.is_empty() {
            return Ok(());
        }
        let _op = profiler::op(OP, true, Vec::new);
        if record::is_recording() {
            let lists = [params, grads, means, squares, steps, largest];
            record::updates(Update::Adam(*self), params.len(), &lists);
        }
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            #[allow(clippy::unnecessary_cast, reason = "of float32 it is none")]
            let count = match_dtype!(floats, steps[i].dtype(), T => {
                let at = steps[i].ptr::<T>();
                // SAFETY: S1 and S3, of one element, and `check_write`.
                unsafe {
                    *at += 1.0;
                    *at as f64
                }
            }, else unreachable!("checked above"));
            steps[i].bump_version();
            let decoupled = self.decoupled_weight_decay && self.weight_decay != 0.0;
            let step = kernels::Adam {
                decay: if self.decoupled_weight_decay { 0.0 } else { self.weight_decay },
                shrink: if decoupled { 1.0 - self.lr * self.weight_decay } else { 1.0 },
                fresh1: 1.0 - self.beta1,
                beta2: self.beta2,
                fresh2: 1.0 - self.beta2,
                rate: self.lr / (1.0 - self.beta1.powf(count)),
                correction2_root: (1.0 - self.beta2.powf(count)).sqrt(),
                eps: self.eps,
                maximize: self.maximize,
            };
            let n = p.numel();
            match_dtype!(floats, p.dtype(), T => {
                // SAFETY: (1) S1 and S3, of dense tensors of `n` elements, and `check_write`; (2) `check`.
                unsafe {
                    let [p, g, m, v] = [p, g, &means[i], &squares[i]].map(|x| x.ptr::<T>());
                    match largest.get(i) {
                        Some(top) => kernels::adam_with_largest(&step, n, [p, g, m, v, top.ptr::<T>()]),
                        None => kernels::adam(&step, n, [p, g, m, v]),
                    }
                }
            }, else unreachable!("checked above"));
            [p, &means[i], &squares[i]].into_iter().chain(largest.get(i)).for_each(Tensor::bump_version);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::memory;
    use crate::testing::noise;

    fn bits(xs: &[Tensor]) -> Vec<Vec<f64>> {
        xs.iter().map(|x| x.to_vec::<f64>().unwrap()).collect()
    }

    #[test]
    fn a_refused_step_writes_nothing() {
        let (a, b) = (noise(1, &[3]), noise(2, &[4]));
        let (g, wrong) = (noise(3, &[3]), noise(4, &[5]));
        let before = bits(&[a.clone(), b.clone()]);
        let sgd = Sgd { lr: 0.1, ..Sgd::default() };
        let tensors = [a.clone(), b.clone()];
        for grads in [
            &[g.clone(), wrong][..],
            &[g.clone(), b.clone()],
            std::slice::from_ref(&g),
            &[g.clone(), memory::cast(&noise(5, &[4]), DType::Float32).unwrap()],
        ] {
            assert!(sgd.step(&tensors, grads, &[]).is_err());
            let zeros = [3usize, 4].map(|n| Tensor::zeros(&[n], DType::Float64).unwrap());
            let steps = [0, 1].map(|_| Tensor::zeros(&[], DType::Float32).unwrap());
            let squares = [3usize, 4].map(|n| Tensor::zeros(&[n], DType::Float64).unwrap());
            let state = AdamState { means: &zeros, squares: &squares, largest: &[], steps: &steps };
            assert!(Adam::default().step(&tensors, grads, state).is_err());
            assert!(steps.iter().all(|s| s.item().unwrap().as_f64() == 0.0));
        }
        assert_eq!(bits(&tensors), before);
        assert_eq!((a.version(), b.version()), (0, 0));
    }

    #[test]
    fn steps_are_not_recorded() {
        let (x, g) = (noise(1, &[3]), [noise(3, &[3])]);
        x.set_requires_grad(true).unwrap();
        let sgd = Sgd { lr: 0.1, ..Sgd::default() };
        assert!(sgd.step(std::slice::from_ref(&x), &g, &[]).is_err());
        let _off = crate::autograd::GradGuard::new(false);
        sgd.step(std::slice::from_ref(&x), &g, &[]).unwrap();
        assert_eq!(x.version(), 1);
    }
}
