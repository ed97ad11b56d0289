//! Nonlinearities as functions of one tensor, for [`Sequential::push_fn`](super::Sequential::push_fn).

use crate::engine::ops::nn::{gelu as gelus, smooth_activations as smooth};
use crate::{Tensor, site};

macro_rules! activations {
    ($($(#[doc = $doc:literal])* $name:ident = $by:expr, $example:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// Panics for dtypes that have none.
        ///
        /// ```
        #[doc = concat!("use retrograd::{Tensor, engine, nn::", stringify!($name), "};")]
        ///
        /// let x = Tensor::from(engine::Tensor::from_slice(&[0.0], &[1])?);
        #[doc = concat!("assert_eq!(", stringify!($name), "(&x).engine().to_vec::<f64>()?, [", $example, "]);")]
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[track_caller]
        pub fn $name(x: &Tensor) -> Tensor {
            site::here();
            let by: fn(&crate::engine::Tensor) -> crate::Result<crate::engine::Tensor> = $by;
            site::done(by(&x.0).map(Tensor))
        }
    )* };
}

activations! {
    /// `max(x, 0)`.
    relu = |x| x.relu(), "0.0";
    /// `1 / (1 + exp(-x))`.
    sigmoid = |x| x.sigmoid(), "0.5";
    /// The hyperbolic tangent.
    tanh = |x| x.tanh(), "0.0";
    /// `x` times the normal distribution function of `x`.
    gelu = |x| gelus::gelu(x, "none"), "0.0";
    /// `x * sigmoid(x)`.
    silu = |x| smooth::silu(x, false), "0.0";
    /// `ln(1 + exp(x))`.
    softplus = |x| smooth::softplus(x, 1.0.into(), 20.0.into()), "2f64.ln()";
}
