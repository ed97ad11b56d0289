//! Gradient descent, with momentum.

use crate::engine::ops::memory;
use crate::engine::{Tensor as Inner, optim as fused};
use crate::optim::groups::{Number, Rule, State, all_begun, check_number, direction, inner, optimizer, options, scale};
use crate::{Error, Result, Tensor};

options! {
    /// Options of [`Sgd`].
    SgdOptions {
        /// The rate: how far a step goes along the gradient.
        lr: f64 = 1e-3;
        /// How much of the sum of the gradients so far is kept: 0.
        momentum: f64 = 0.0;
        /// The share of a gradient that the sum does not take: 0.
        dampening: f64 = 0.0;
        /// What is added to a gradient, as a multiple of the parameter: 0.
        weight_decay: f64 = 0.0;
        /// Whether a step looks ahead along the sum: false.
        nesterov: bool = false;
        /// Whether it ascends instead: false.
        maximize: bool = false;
    }
}

optimizer! {
    /// Descends along the gradient, or along a decaying sum of the gradients so far.
    ///
    /// Each step is `p -= lr * b` with `b = momentum * b + (1 - dampening) * g`, where `g` is the gradient plus
    /// `weight_decay * p`, and `b` begins as `g`. With `nesterov`, it is `p -= lr * (g + momentum * b)`.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, optim::{Optimizer, Sgd}};
    ///
    /// let x = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
    /// x.set_requires_grad(true)?;
    /// engine::autograd::backward(&x.sum(None)?)?;
    /// Sgd::new([Tensor::from(x.clone())], 0.5).step()?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 1.5]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[doc(alias = "SGD")]
    Sgd, SgdOptions
}

impl Rule for SgdOptions {
    const NAME: &'static str = "Sgd";
    const SLOTS: &'static [&'static str] = &["momentum_buffer"];

    fn check(&self) -> Result<()> {
        check_number(Self::NAME, "learning rate", self.lr)?;
        check_number(Self::NAME, "momentum value", self.momentum)?;
        check_number(Self::NAME, "weight_decay value", self.weight_decay)?;
        if self.nesterov && (self.momentum <= 0.0 || self.dampening != 0.0) {
            return Err(Error::value(Self::NAME, "Nesterov momentum requires a momentum and zero dampening"));
        }
        Ok(())
    }

    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
        self.by_name()
    }

    fn update(&self, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()> {
        // The sum begins as the first gradient, without dampening: those that begin take their step by ops.
        let is_new = |state: &State| self.momentum != 0.0 && state[0].is_none();
        if !states.iter().any(is_new) {
            return self.step(params, grads, states);
        }
        for i in 0..params.len() {
            let (p, g, states) = (&params[i..=i], &grads[i..=i], &mut states[i..=i]);
            if !is_new(&states[0]) {
                self.step(p, g, states)?;
                continue;
            }
            let g = direction(&p[0].0, &g[0].0, self.maximize, self.weight_decay)?;
            let buffer = memory::cloned(&g.detach())?;
            self.go(&p[0].0, &g, &buffer)?;
            states[0][0] = Some(Tensor(buffer));
        }
        Ok(())
    }
}

impl SgdOptions {
    /// The step of parameters whose sums have begun, if there is momentum.
    fn step(&self, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()> {
        let has_momentum = self.momentum != 0.0;
        let buffers = if has_momentum { all_begun(states, 0, params, false)? } else { Vec::new() };
        let sgd = fused::Sgd {
            lr: self.lr,
            momentum: self.momentum,
            dampening: self.dampening,
            weight_decay: self.weight_decay,
            nesterov: self.nesterov,
            maximize: self.maximize,
        };
        if sgd.step(&inner(params), &inner(grads), &buffers).is_ok() {
            return Ok(());
        }
        // What the fused step does not take is a step of ops, which say what is wrong if something is.
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            let g = direction(&p.0, &g.0, self.maximize, self.weight_decay)?;
            if !has_momentum {
                p.0.add_(&g.times(-self.lr)?)?;
                continue;
            }
            scale(&buffers[i], self.momentum)?;
            buffers[i].add_(&g.times(1.0 - self.dampening)?)?;
            self.go(&p.0, &g, &buffers[i])?;
        }
        Ok(())
    }

    /// Moves the parameter, once the sum has taken the gradient.
    fn go(&self, p: &Inner, g: &Inner, buffer: &Inner) -> Result<()> {
        let along = if self.nesterov { g.add_scaled(buffer, self.momentum.into())? } else { buffer.clone() };
        p.add_(&along.times(-self.lr)?).map(drop)
    }
}
