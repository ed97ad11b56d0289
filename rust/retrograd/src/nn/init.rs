//! Initial values: functions that write to a tensor, and are not recorded. From the same seed they draw what torch
//! does.

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::{Error, Result, Tensor, site};

macro_rules! initialisers {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident, $fallible:ident($($arg:ident: $t:ty),*) = $by:path;
    )*) => { $(
        $(#[doc = $doc])*
        #[track_caller]
        pub fn $name(tensor: &Tensor, $($arg: $t),*) -> Tensor {
            site::here();
            site::done($by(&tensor.0, $($arg),*).map(|()| tensor.clone()))
        }

        #[doc = concat!("As [`", stringify!($name), "`], with an error in the place of a panic.")]
        #[track_caller]
        pub fn $fallible(tensor: &Tensor, $($arg: $t),*) -> Result<Tensor> {
            site::here();
            $by(&tensor.0, $($arg),*).map(|()| tensor.clone())
        }
    )* };
}

initialisers! {
    /// Draws each element uniformly from `low` to `high`. Returns the tensor.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// let layer = Linear::new(3, 2);
    /// init::uniform_(&layer.weight, -0.1, 0.1);
    /// ```
    uniform_, try_uniform_(low: f64, high: f64) = uniform;
    /// Draws each element from the normal distribution of `mean` and standard deviation `std`. Returns the tensor.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// init::normal_(&Linear::new(3, 2).weight, 0.0, 0.02);
    /// ```
    normal_, try_normal_(mean: f64, std: f64) = normal;
    /// Sets each element to `value`. Returns the tensor.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// let layer = Linear::new(3, 2);
    /// init::constant_(layer.bias.as_ref().unwrap(), 0.5);
    /// assert_eq!(layer.bias.unwrap().engine().to_vec::<f32>()?, [0.5, 0.5]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    constant_, try_constant_(value: f64) = constant;
    /// Draws weights uniformly, up to `gain * sqrt(6 / (fan_in + fan_out))`. Returns the tensor.
    ///
    /// Panics for a tensor of fewer than two axes: fans are those of matrices and kernels.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// init::xavier_uniform_(&Linear::new(3, 2).weight, 1.0);
    /// ```
    xavier_uniform_, try_xavier_uniform_(gain: f64) = xavier_uniform;
    /// Draws weights from normals of deviation `gain * sqrt(2 / (fan_in + fan_out))`. Returns the tensor.
    ///
    /// Panics for a tensor of fewer than two axes.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// init::xavier_normal_(&Linear::new(3, 2).weight, 1.0);
    /// ```
    xavier_normal_, try_xavier_normal_(gain: f64) = xavier_normal;
    /// Draws weights uniformly, up to `gain * sqrt(3 / fan_in)`: `gain` is `sqrt(2)` before `relu`. Returns the tensor.
    ///
    /// Panics for a tensor of fewer than two axes.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// init::kaiming_uniform_(&Linear::new(3, 2).weight, 2f64.sqrt());
    /// ```
    kaiming_uniform_, try_kaiming_uniform_(gain: f64) = kaiming_uniform;
    /// Draws weights from normals of deviation `gain / sqrt(fan_in)`: `gain` is `sqrt(2)` before `relu`. Returns the
    /// tensor.
    ///
    /// Panics for a tensor of fewer than two axes.
    ///
    /// ```
    /// use retrograd::nn::{Linear, init};
    ///
    /// init::kaiming_normal_(&Linear::new(3, 2).weight, 2f64.sqrt());
    /// ```
    kaiming_normal_, try_kaiming_normal_(gain: f64) = kaiming_normal;
}

pub(super) fn uniform(t: &Inner, low: f64, high: f64) -> Result<()> {
    let _off = GradGuard::new(false);
    t.uniform_(low, high, None).map(drop)
}

pub(super) fn normal(t: &Inner, mean: f64, std: f64) -> Result<()> {
    let _off = GradGuard::new(false);
    t.normal_(mean, std, None).map(drop)
}

pub(super) fn constant(t: &Inner, value: f64) -> Result<()> {
    let _off = GradGuard::new(false);
    t.copy_(&Inner::full(&[], value.into(), t.dtype())?).map(drop)
}

/// How many inputs an output has, and how many outputs an input.
fn fans(t: &Inner) -> Result<(f64, f64)> {
    let &[out, input, ref kernel @ ..] = t.sizes() else {
        let detail = "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions";
        return Err(Error::value("init", detail));
    };
    let field = kernel.iter().product::<usize>();
    Ok(((input * field) as f64, (out * field) as f64))
}

fn xavier(t: &Inner, gain: f64) -> Result<f64> {
    let (fan_in, fan_out) = fans(t)?;
    Ok(gain * (2.0 / (fan_in + fan_out)).sqrt())
}

pub(super) fn xavier_uniform(t: &Inner, gain: f64) -> Result<()> {
    let bound = 3f64.sqrt() * xavier(t, gain)?;
    uniform(t, -bound, bound)
}

pub(super) fn xavier_normal(t: &Inner, gain: f64) -> Result<()> {
    normal(t, 0.0, xavier(t, gain)?)
}

fn kaiming(t: &Inner, gain: f64) -> Result<f64> {
    if t.sizes().contains(&0) {
        return Ok(0.0);
    }
    Ok(gain / fans(t)?.0.sqrt())
}

fn kaiming_uniform(t: &Inner, gain: f64) -> Result<()> {
    let bound = 3f64.sqrt() * kaiming(t, gain)?;
    uniform(t, -bound, bound)
}

fn kaiming_normal(t: &Inner, gain: f64) -> Result<()> {
    normal(t, 0.0, kaiming(t, gain)?)
}

/// The initial values of linear layers and convolutions: uniform up to `1 / sqrt(fan_in)`.
#[cfg(feature = "nn")]
pub(super) fn by_fan_in(weight: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    // As torch computes it: with the gain of a leaky ReLU whose slope is the root of 5.
    let slope = 5f64.sqrt();
    kaiming_uniform(&weight.0, (2.0 / (1.0 + slope * slope)).sqrt())?;
    let Some(bias) = bias else { return Ok(()) };
    let fan_in = fans(&weight.0)?.0;
    let bound = if fan_in > 0.0 { 1.0 / fan_in.sqrt() } else { 0.0 };
    uniform(&bias.0, -bound, bound)
}
