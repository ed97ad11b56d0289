//! A layer that drops elements while it is trained.

use crate::engine::Tensor as Inner;
use crate::engine::ops::nn;
use crate::nn::Module;
use crate::nn::module::Training;
use crate::nn::options::forward;
use crate::{Error, Result, site};

/// While it is trained, sets each element to zero with probability `p`, and divides the others by `1 - p`.
///
/// ```
/// use retrograd::{Tensor, engine, nn::{Dropout, Forward}};
///
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 2.0], &[2])?);
/// assert_eq!(Dropout::new(1.0).forward(&x).engine().to_vec::<f64>()?, [0.0, 0.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct Dropout {
    p: f64,
    training: Training,
}

impl Dropout {
    /// The layer. Panics if `p` is not between 0 and 1.
    #[track_caller]
    pub fn new(p: f64) -> Self {
        site::done(Self::try_new(p))
    }

    /// As [`new`](Self::new), with an error in the place of a panic.
    pub fn try_new(p: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&p) {
            let detail = format!("dropout probability has to be between 0 and 1, but got {p}");
            return Err(Error::value("Dropout", detail));
        }
        Ok(Self { p, training: Training::default() })
    }

    fn run(&self, x: &Inner) -> Result<Inner> {
        nn::dropout(x, self.p, self.training.is_on(), false)
    }
}

forward!(Dropout);
