//! Gradients of many parameters, made smaller where they are too large.

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::engine::ops::view;
use crate::{DType, Error, Result, Tensor, site};

/// Options of [`clip_grad_norm_with`].
#[derive(Clone, Copy, Debug)]
pub struct ClipOptions {
    norm_type: f64,
    error_if_nonfinite: bool,
}

impl Default for ClipOptions {
    fn default() -> Self {
        Self { norm_type: 2.0, error_if_nonfinite: false }
    }
}

impl ClipOptions {
    /// Which norm it is, which may be infinity: 2.
    pub fn norm_type(self, norm_type: f64) -> Self {
        Self { norm_type, ..self }
    }

    /// Whether an infinite norm, or one that is no number, is an error: false.
    pub fn error_if_nonfinite(self, error_if_nonfinite: bool) -> Self {
        Self { error_if_nonfinite, ..self }
    }
}

/// Scales the gradients of parameters in place, so that the norm of all together is at most `max_norm`. Returns the
/// norm before, a tensor of one number.
///
/// ```
/// use retrograd::{Tensor, engine, optim};
///
/// let w = engine::Tensor::from_slice(&[0.0, 0.0], &[2])?;
/// w.set_grad(Some(engine::Tensor::from_slice(&[3.0, 4.0], &[2])?))?;
/// let norm = optim::clip_grad_norm_(&[Tensor::from(w.clone())], 2.5);
/// assert_eq!(norm.engine().item()?.as_f64(), 5.0);
/// assert!((w.grad().unwrap().to_vec::<f64>()?[0] - 1.5).abs() < 1e-6);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn clip_grad_norm_(params: &[Tensor], max_norm: f64) -> Tensor {
    site::here();
    site::done(by_norm(params, max_norm, ClipOptions::default()))
}

/// As [`clip_grad_norm_`], with an error in the place of a panic.
#[track_caller]
pub fn try_clip_grad_norm_(params: &[Tensor], max_norm: f64) -> Result<Tensor> {
    site::here();
    by_norm(params, max_norm, ClipOptions::default())
}

/// As [`clip_grad_norm_`], with options.
///
/// ```
/// use retrograd::{Tensor, engine, optim};
///
/// let w = engine::Tensor::from_slice(&[0.0, 0.0], &[2])?;
/// w.set_grad(Some(engine::Tensor::from_slice(&[3.0, -4.0], &[2])?))?;
/// let norm = optim::clip_grad_norm_with(&[Tensor::from(w)], 1.0, |o| o.norm_type(f64::INFINITY));
/// assert_eq!(norm.engine().item()?.as_f64(), 4.0);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn clip_grad_norm_with(
    params: &[Tensor],
    max_norm: f64,
    options: impl FnOnce(ClipOptions) -> ClipOptions,
) -> Tensor {
    site::here();
    site::done(by_norm(params, max_norm, options(ClipOptions::default())))
}

/// As [`clip_grad_norm_with`], with an error in the place of a panic: such as for a norm that is not finite, if the
/// options say so, after which nothing is written.
#[track_caller]
pub fn try_clip_grad_norm_with(
    params: &[Tensor],
    max_norm: f64,
    options: impl FnOnce(ClipOptions) -> ClipOptions,
) -> Result<Tensor> {
    site::here();
    by_norm(params, max_norm, options(ClipOptions::default()))
}

/// Clamps each number of the gradients of parameters in place to between `-clip_value` and `clip_value`.
///
/// ```
/// use retrograd::{Tensor, engine, optim};
///
/// let w = engine::Tensor::from_slice(&[0.0, 0.0], &[2])?;
/// w.set_grad(Some(engine::Tensor::from_slice(&[0.5, -4.0], &[2])?))?;
/// optim::clip_grad_value_(&[Tensor::from(w.clone())], 1.0);
/// assert_eq!(w.grad().unwrap().to_vec::<f64>()?, [0.5, -1.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn clip_grad_value_(params: &[Tensor], clip_value: f64) {
    site::here();
    site::done(by_value(params, clip_value));
}

/// As [`clip_grad_value_`], with an error in the place of a panic.
#[track_caller]
pub fn try_clip_grad_value_(params: &[Tensor], clip_value: f64) -> Result<()> {
    site::here();
    by_value(params, clip_value)
}

fn grads(params: &[Tensor]) -> Vec<Inner> {
    params.iter().filter_map(|p| p.0.grad()).collect()
}

fn by_norm(params: &[Tensor], max_norm: f64, o: ClipOptions) -> Result<Tensor> {
    let _off = GradGuard::new(false);
    let grads = grads(params);
    if grads.is_empty() {
        return Inner::zeros(&[], DType::Float32).map(Tensor);
    }
    let norm = |x: &Inner| x.norm(Some(o.norm_type.into()), None, false, None);
    let norms: Vec<Inner> = grads.iter().map(&norm).collect::<Result<_>>()?;
    let total = norm(&view::join::stack(&norms, 0)?)?;
    if o.error_if_nonfinite && !total.item()?.as_f64().is_finite() {
        return Err(Error::autograd(format!(
            "The total norm of order {:?} for gradients from `parameters` is non-finite, so it cannot be clipped. To \
             disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`",
            o.norm_type
        )));
    }
    let most = Inner::shared_number(max_norm.into())?;
    let share = most.div(&total.plus(1e-6)?)?.clamp(None, Some(&Inner::shared_number(1.0.into())?))?;
    for grad in grads {
        grad.mul_(&share)?;
    }
    Ok(Tensor(total))
}

fn by_value(params: &[Tensor], clip_value: f64) -> Result<()> {
    let _off = GradGuard::new(false);
    let (low, high) = (Inner::shared_number((-clip_value).into())?, Inner::shared_number(clip_value.into())?);
    grads(params).iter().try_for_each(|grad| grad.clamp_(Some(&low), Some(&high)).map(drop))
}
