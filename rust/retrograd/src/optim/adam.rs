//! Adam and AdamW: steps scaled by running means of gradients and of their squares.

use crate::engine::Tensor as Inner;
use crate::engine::optim as fused;
use crate::optim::groups::{Number, Rule, State, all_begun, check_number, direction, inner, optimizer, options, scale};
use crate::{DType, Error, Result, Tensor};

macro_rules! rule {
    ($name:literal, $options:ident, $decoupled:literal) => {
        impl Rule for $options {
            const NAME: &'static str = $name;
            const SLOTS: &'static [&'static str] = &SLOTS;

            fn check(&self) -> Result<()> {
                self.rule().check($name)
            }

            fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
                self.by_name()
            }

            fn update(&self, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()> {
                self.rule().update($name, params, grads, states)
            }
        }

        impl $options {
            /// Both coefficients of the running means.
            pub fn betas(self, beta1: f64, beta2: f64) -> Self {
                Self { beta1, beta2, ..self }
            }

            fn rule(&self) -> Moments {
                Moments {
                    amsgrad: self.amsgrad,
                    step: fused::Adam {
                        lr: self.lr,
                        beta1: self.beta1,
                        beta2: self.beta2,
                        eps: self.eps,
                        weight_decay: self.weight_decay,
                        decoupled_weight_decay: $decoupled,
                        maximize: self.maximize,
                    },
                }
            }
        }
    };
}

options! {
    /// Options of [`Adam`].
    AdamOptions {
        /// The rate: how far a step goes, about.
        lr: f64 = 1e-3;
        /// How much of the running mean of the gradients is kept: 0.9.
        beta1: f64 = 0.9;
        /// How much of the running mean of their squares is kept: 0.999.
        beta2: f64 = 0.999;
        /// What is added to the root of the squares: 1e-8.
        eps: f64 = 1e-8;
        /// What is added to a gradient, as a multiple of the parameter: 0.
        weight_decay: f64 = 0.0;
        /// Whether the largest mean of squares so far is taken: false.
        amsgrad: bool = false;
        /// Whether it ascends instead: false.
        maximize: bool = false;
    }
}

optimizer! {
    /// Descends along the running mean of the gradients, divided by the root of the running mean of their squares.
    ///
    /// With `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v + (1 - beta2) * g^2`, step number t is
    /// `p -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)`, where `g` is the gradient plus
    /// `weight_decay * p`.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, optim::{Adam, Optimizer}};
    ///
    /// let x = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
    /// x.set_requires_grad(true)?;
    /// engine::autograd::backward(&x.square()?.sum(None)?)?;
    /// Adam::with([Tensor::from(x.clone())], 0.5, |o| o.betas(0.8, 0.99)).step()?;
    /// assert!((x.to_vec::<f64>()?[0] - 0.5).abs() < 1e-7);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    Adam, AdamOptions
}

options! {
    /// Options of [`AdamW`].
    AdamWOptions {
        /// The rate: how far a step goes, about.
        lr: f64 = 1e-3;
        /// How much of the running mean of the gradients is kept: 0.9.
        beta1: f64 = 0.9;
        /// How much of the running mean of their squares is kept: 0.999.
        beta2: f64 = 0.999;
        /// What is added to the root of the squares: 1e-8.
        eps: f64 = 1e-8;
        /// By how much `lr` times this shrinks the parameter in each step: 0.01.
        weight_decay: f64 = 1e-2;
        /// Whether the largest mean of squares so far is taken: false.
        amsgrad: bool = false;
        /// Whether it ascends instead: false.
        maximize: bool = false;
    }
}

optimizer! {
    /// [`Adam`] that shrinks the parameters by `lr * weight_decay` before each step, in place of a decay in the
    /// gradient.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, optim::{AdamW, Optimizer}};
    ///
    /// let x = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
    /// x.set_requires_grad(true)?;
    /// engine::autograd::backward(&x.square()?.sum(None)?)?;
    /// AdamW::with([Tensor::from(x.clone())], 0.5, |o| o.weight_decay(0.1)).step()?;
    /// assert!((x.to_vec::<f64>()?[0] - 0.45).abs() < 1e-7);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    AdamW, AdamWOptions
}

rule!("Adam", AdamOptions, false);
rule!("AdamW", AdamWOptions, true);

const SLOTS: [&str; 4] = ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"];

/// What both do.
struct Moments {
    step: fused::Adam,
    amsgrad: bool,
}

impl Moments {
    fn check(&self, op: &'static str) -> Result<()> {
        let o = &self.step;
        check_number(op, "learning rate", o.lr)?;
        check_number(op, "epsilon value", o.eps)?;
        for (i, beta) in [o.beta1, o.beta2].into_iter().enumerate() {
            if !(0.0..1.0).contains(&beta) {
                return Err(Error::value(op, format!("Invalid beta parameter at index {i}: {beta:?}")));
            }
        }
        check_number(op, "weight_decay value", o.weight_decay)
    }

    fn update(&self, op: &'static str, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()> {
        if grads.iter().any(|g| g.0.is_sparse()) {
            let detail = format!("{op} does not support sparse gradients, please consider SparseAdam instead");
            return Err(Error::autograd(detail));
        }
        let steps = all_begun(states, 0, params, true)?;
        let means = all_begun(states, 1, params, false)?;
        let squares = all_begun(states, 2, params, false)?;
        let largest = if self.amsgrad { all_begun(states, 3, params, false)? } else { Vec::new() };
        let state = fused::AdamState { means: &means, squares: &squares, largest: &largest, steps: &steps };
        if self.step.step(&inner(params), &inner(grads), state).is_ok() {
            return Ok(());
        }
        for (i, (p, g)) in params.iter().zip(grads).enumerate() {
            self.by_ops(&p.0, &g.0, &steps[i], &means[i], &squares[i], largest.get(i))?;
        }
        Ok(())
    }

    /// What the fused step does not take, which ops say what is wrong with if something is.
    fn by_ops(
        &self,
        p: &Inner,
        g: &Inner,
        step: &Inner,
        mean: &Inner,
        square: &Inner,
        largest: Option<&Inner>,
    ) -> Result<()> {
        let o = &self.step;
        let g = direction(p, g, o.maximize, if o.decoupled_weight_decay { 0.0 } else { o.weight_decay })?;
        step.add_(&Inner::ones(&[], step.dtype())?)?;
        if o.decoupled_weight_decay && o.weight_decay != 0.0 {
            scale(p, 1.0 - o.lr * o.weight_decay)?;
        }
        mean.lerp_(&g, &Inner::full(&[], (1.0 - o.beta1).into(), DType::Float64)?)?;
        scale(square, o.beta2)?;
        square.addcmul_(&g, &g, (1.0 - o.beta2).into())?;
        let count = step.item()?.as_f64();
        let (rate, root) = (o.lr / (1.0 - o.beta1.powf(count)), (1.0 - o.beta2.powf(count)).sqrt());
        let divisor = match largest {
            Some(largest) => {
                largest.copy_(&largest.maximum(square)?)?;
                largest
            }
            None => square,
        };
        let divisor = divisor.sqrt()?.div(&Inner::shared_number(root.into())?)?.plus(o.eps)?;
        p.addcdiv_(mean, &divisor, (-rate).into()).map(drop)
    }
}
