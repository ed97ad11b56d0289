//! Optimizers, and schedules of their learning rates.
//!
//! An optimizer takes the parameters of a module and the rate; a closure sets its other options. Each step updates the
//! parameters that have gradients, in one pass over their memory, and is not recorded.
//!
//! ```
//! use retrograd::nn::{Forward, Linear, Module};
//! use retrograd::optim::{Optimizer, Sgd};
//! use retrograd::{Tensor, engine};
//!
//! let model = Linear::new(1, 1);
//! let mut optimizer = Sgd::with(model.parameters(), 0.05, |o| o.momentum(0.9));
//! let x = Tensor::from(engine::Tensor::from_slice(&[1f32, 2.0, 3.0], &[3, 1])?);
//! let y = Tensor::from(engine::Tensor::from_slice(&[3f32, 5.0, 7.0], &[3, 1])?);
//! let mut loss = f64::INFINITY;
//! for _ in 0..200 {
//!     optimizer.zero_grad();
//!     let error = model.try_forward(&x)?.engine().sub(y.engine())?.square()?.sum(None)?;
//!     engine::autograd::backward(&error)?;
//!     optimizer.step()?;
//!     loss = error.item()?.as_f64();
//! }
//! assert!(loss < 1e-3);
//! # Ok::<(), retrograd::Error>(())
//! ```

mod adam;
mod clip;
mod groups;
mod lbfgs;
mod line_search;
mod rmsprop;
mod schedules;
mod sgd;

pub use adam::{Adam, AdamOptions, AdamW, AdamWOptions};
pub use clip::{
    ClipOptions, clip_grad_norm_, clip_grad_norm_with, clip_grad_value_, try_clip_grad_norm_, try_clip_grad_norm_with,
    try_clip_grad_value_,
};
pub use groups::{Group, GroupOptimizer, Number, Rule, State};
pub use lbfgs::{Lbfgs, LbfgsOptions};
pub use rmsprop::{RmsProp, RmsPropOptions};
pub use schedules::{CosineAnnealingLr, ExponentialLr, LambdaLr, LinearLr, Schedule, Scheduler, StepLr, Warmup};
pub use sgd::{Sgd, SgdOptions};

use crate::Result;
use crate::nn::StateDict;

/// What updates parameters by their gradients.
///
/// ```
/// use retrograd::{Result, optim::Optimizer};
///
/// fn update(optimizer: &mut dyn Optimizer) -> Result<()> {
///     optimizer.step()?;
///     optimizer.zero_grad();
///     Ok(())
/// }
/// ```
pub trait Optimizer {
    /// Updates the parameters that have gradients, or says why it cannot.
    fn step(&mut self) -> Result<()>;

    /// Lets the gradients of the parameters go.
    fn zero_grad(&self);

    /// The learning rate of each group.
    fn lrs(&self) -> Vec<f64>;

    /// Sets the learning rate of each group. Groups for which there is none keep theirs.
    fn set_lrs(&mut self, lrs: &[f64]);

    /// The state of all parameters and the options of all groups, as tensors by name: `state.0.exp_avg`,
    /// `param_groups.0.lr`. The numbers of parameters go on from group to group.
    ///
    /// The tensors are the optimizer's own: the next step changes them. Panics where memory is short.
    fn state_dict(&self) -> StateDict;

    /// Takes state and options from what [`state_dict`](Self::state_dict) returned, of an optimizer of the same kind
    /// for as many parameters. After an error the optimizer is as before.
    fn load_state_dict(&mut self, state: &StateDict) -> Result<()>;
}
