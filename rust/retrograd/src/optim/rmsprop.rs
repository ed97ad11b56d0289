//! RMSprop: steps scaled by the running mean of the squares of the gradients.

use crate::engine::Tensor as Inner;
use crate::optim::groups::{Number, Rule, State, begun, check_number, direction, optimizer, options, scale};
use crate::{DType, Error, Result, Tensor};

options! {
    /// Options of [`RmsProp`].
    RmsPropOptions {
        /// The rate: how far a step goes, about.
        lr: f64 = 1e-2;
        /// How much of the running mean of the squares is kept: 0.99.
        alpha: f64 = 0.99;
        /// What is added to the root of the squares: 1e-8.
        eps: f64 = 1e-8;
        /// What is added to a gradient, as a multiple of the parameter: 0.
        weight_decay: f64 = 0.0;
        /// How much of the sum of the steps so far is kept: 0.
        momentum: f64 = 0.0;
        /// Whether the square of the running mean of the gradients is taken from that of the squares: false.
        centered: bool = false;
        /// Whether it ascends instead: false.
        maximize: bool = false;
    }
}

optimizer! {
    /// Descends along the gradient, divided by the root of the running mean of its squares.
    ///
    /// With `v = alpha * v + (1 - alpha) * g^2`, the step is `p -= lr * g / (sqrt(v) + eps)`, where `g` is the gradient
    /// plus `weight_decay * p`. With `momentum`, it is `b = momentum * b + g / (sqrt(v) + eps)`, and `p -= lr * b`.
    ///
    /// ```
    /// use retrograd::{Tensor, engine, optim::{Optimizer, RmsProp}};
    ///
    /// let x = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
    /// x.set_requires_grad(true)?;
    /// engine::autograd::backward(&x.square()?.sum(None)?)?;
    /// RmsProp::new([Tensor::from(x.clone())], 0.05).step()?;
    /// assert!((x.to_vec::<f64>()?[0] - 0.5).abs() < 1e-7);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[doc(alias = "RMSprop")]
    RmsProp, RmsPropOptions
}

impl Rule for RmsPropOptions {
    const NAME: &'static str = "RmsProp";
    const SLOTS: &'static [&'static str] = &["step", "square_avg", "momentum_buffer", "grad_avg"];

    fn check(&self) -> Result<()> {
        check_number(Self::NAME, "learning rate", self.lr)?;
        check_number(Self::NAME, "epsilon value", self.eps)?;
        check_number(Self::NAME, "momentum value", self.momentum)?;
        check_number(Self::NAME, "weight_decay value", self.weight_decay)?;
        check_number(Self::NAME, "alpha value", self.alpha)
    }

    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
        self.by_name()
    }

    fn update(&self, params: &[Tensor], grads: &[Tensor], states: &mut [State]) -> Result<()> {
        if grads.iter().any(|g| g.0.is_sparse()) {
            return Err(Error::autograd("RMSprop does not support sparse gradients"));
        }
        for ((p, g), state) in params.iter().zip(grads).zip(states) {
            let step = begun(state, 0, p, true)?;
            step.add_(&Inner::ones(&[], step.dtype())?)?;
            let g = direction(&p.0, &g.0, self.maximize, self.weight_decay)?;
            let square = begun(state, 1, p, false)?;
            scale(&square, self.alpha)?;
            square.addcmul_(&g, &g, (1.0 - self.alpha).into())?;
            let root = if self.centered {
                let mean = begun(state, 3, p, false)?;
                mean.lerp_(&g, &Inner::full(&[], (1.0 - self.alpha).into(), DType::Float64)?)?;
                square.addcmul(&mean, &mean, (-1.0).into())?.sqrt()?
            } else {
                square.sqrt()?
            };
            let divisor = root.plus(self.eps)?;
            if self.momentum > 0.0 {
                let buffer = begun(state, 2, p, false)?;
                scale(&buffer, self.momentum)?;
                buffer.addcdiv_(&g, &divisor, 1.into())?;
                p.0.add_(&buffer.times(-self.lr)?)?;
            } else {
                p.0.addcdiv_(&g, &divisor, (-self.lr).into())?;
            }
        }
        Ok(())
    }
}
