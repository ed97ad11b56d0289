//! `batch_norm`, `instance_norm`, `group_norm`.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::layer_norm::{goes_with, mixed};
use super::normalization::{BATCH, GIVEN, GROUP, Standardize};
use crate::autograd::apply::apply;
use crate::autograd::mode::{self, GradGuard};
use crate::autograd::primitive::{Outs, Primitive};
use crate::error::{Error, Result, Shape, Sizes};
use crate::ops::memory;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::layout::numel;
use crate::tensor::{Dims, Scalar, Tensor};

/// The arguments of a normalization by channels: moments, scales, and whether the moments are those of the input.
pub(super) struct Channels<'a> {
    pub mean: Option<&'a Tensor>,
    pub var: Option<&'a Tensor>,
    pub weight: Option<&'a Tensor>,
    pub bias: Option<&'a Tensor>,
    pub training: bool,
}

/// Weight and bias for the end of a list of operands; ones before a bias that is alone.
pub(super) fn scales<'a>(
    weight: Option<&'a Tensor>,
    bias: Option<&'a Tensor>,
    one: &'a Tensor,
) -> SmallVec<[&'a Tensor; 2]> {
    let mut list: SmallVec<[&Tensor; 2]> = SmallVec::new();
    list.extend(weight.or(bias.map(|_| one)));
    list.extend(bias);
    list
}

/// While running moments are written, nothing is recorded, and a transform accepts that they were captured.
fn set_aside() -> GradGuard {
    GradGuard::with(mode::GRAD | mode::INSIDE, false)
}

impl Channels<'_> {
    pub fn check(&self, op: &'static str, x: &Tensor) -> Result<()> {
        if x.ndim() < 2 {
            return Err(Error::shape(
                op,
                format!("Expected at least 2 dimensions for input tensor but received shape {}", Shape(x.sizes())),
            ));
        }
        let named =
            [(self.mean, "running_mean"), (self.var, "running_var"), (self.weight, "weight"), (self.bias, "bias")];
        for (t, name) in named {
            match t {
                None if !self.training && name.starts_with("running") => {
                    return Err(Error::shape(op, format!("{name} must be defined in evaluation mode")));
                }
                None => {}
                Some(t) if t.numel() != x.sizes()[1] || t.ndim() != 1 => {
                    return Err(Error::shape(
                        op,
                        format!("{name} should contain {} elements not {}", x.sizes()[1], t.numel()),
                    ));
                }
                Some(t) if x.dtype().is_floating() && !goes_with(x.dtype(), t.dtype()) => {
                    return Err(mixed(op, x, t, name));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// An input without entries and channels: the scales are those of the first channel, as torch has it.
    fn of_nothing(&self, x: &Tensor) -> Result<Tensor> {
        let mut y = memory::cloned(x)?;
        if let Some(weight) = self.weight {
            y = y.mul(&weight.select(0, 0)?)?;
        }
        if let Some(bias) = self.bias {
            y = y.add(&bias.select(0, 0)?)?;
        }
        Ok(y)
    }

    /// The output.
    fn normalized(&self, x: &Tensor, momentum: f64, eps: f64) -> Result<Tensor> {
        let nodes = [Standardize::<BATCH>::NODE, Standardize::<GIVEN>::NODE];
        Ok(self.standardized(x, momentum, eps, nodes)?.swap_remove(0))
    }

    /// The results of the primitive, whose node has the first name, or for given moments the second; running moments
    /// move by `momentum` towards those of the input.
    pub fn standardized(&self, x: &Tensor, momentum: f64, eps: f64, [own, given]: [&'static str; 2]) -> Result<Outs> {
        let one = Tensor::full(&[x.sizes()[1]], Scalar::Int(1), x.dtype())?;
        let mut xs: SmallVec<[&Tensor; 5]> = SmallVec::from_slice(&[x]);
        if let (false, Some(mean), Some(var)) = (self.training, self.mean, self.var) {
            xs.extend([mean, var]);
            xs.extend(scales(self.weight, self.bias, &one));
            return apply(Standardize::<GIVEN> { groups: 0, eps, node: given }, &xs);
        }
        xs.extend(scales(self.weight, self.bias, &one));
        let outs = apply(Standardize::<BATCH> { groups: 0, eps, node: own }, &xs)?;
        let count = x.sizes()[0] * numel(&x.sizes()[2..]);
        let _aside = set_aside();
        let moved = |running: Option<&Tensor>, now: &Tensor, scale: f64| -> Result<()> {
            if let Some(running) = running {
                // Halves are moved in float32, and rounded once.
                let before = memory::cast(running, now.dtype())?;
                let next = now.detach().times(momentum * scale)?.add(&before.times(1.0 - momentum)?)?;
                running.copy_(&next)?;
            }
            Ok(())
        };
        if count > 0 {
            moved(self.mean, &outs[1], 1.0)?;
            moved(self.var, &outs[3], count as f64 / (count as f64 - 1.0))?;
        }
        Ok(outs)
    }
}

/// Normalizes each channel over the entries of a batch: `(x - mean) / sqrt(var + eps)`, times `weight`, plus `bias`.
///
/// Args: `input` floating dtype of shape (N, C, ...); `running_mean`, `running_var` of shape (C,), or None in
/// training; `weight`, `bias` of shape (C,), or None; `training` to take mean and (biased) variance from the input, and
/// to move the running ones by `momentum` towards them, in place, with the unbiased variance; else the running ones are
/// taken; `eps` a number added to the variance. Returns: a tensor of the input's shape. Derivative, with `h` the
/// normalized input and `q = g * weight`: `(q - mean(q) - h * mean(q * h)) / sqrt(var + eps)` in training, else `q /
/// sqrt(var + eps)`; the sum of `g * h` for the weight and of `g` for the bias. Raises: ValueError for one value per
/// channel in training or a bad `eps`; RuntimeError if sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.batch_norm(rg.tensor([[1.0], [3.0]]), None, None, training=True, eps=1e-12).tolist()
/// [[-1.0], [1.0]]
#[op(function, norust, module = "nn.functional", "(weight=None, bias=None, training=False, momentum=0.1, eps=1e-5)")]
pub fn batch_norm(
    input: &Tensor,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Tensor> {
    const OP: &str = "batch_norm";
    let channels = Channels { mean: running_mean, var: running_var, weight, bias, training };
    if training && input.ndim() > 0 {
        let rest = if input.ndim() > 1 { numel(&input.sizes()[2..]) } else { 1 };
        several(OP, input.sizes()[0].saturating_mul(rest), input.sizes())?;
    }
    if training && eps <= 0.0 {
        return Err(Error::value(OP, format!("batch_norm eps must be positive during training, but got {eps}")));
    }
    if eps < 0.0 {
        return Err(Error::value(OP, format!("batch_norm eps must be non-negative, but got {eps}")));
    }
    if input.sizes() == [0] {
        return channels.of_nothing(input);
    }
    channels.check(OP, input)?;
    channels.normalized(input, momentum, eps)
}

/// Refuses moments of a single value.
fn several(op: &'static str, count: usize, sizes: &[usize]) -> Result<()> {
    if count != 1 {
        return Ok(());
    }
    Err(Error::value(
        op,
        format!("Expected more than 1 value per channel when training, got input size {}", Sizes(sizes)),
    ))
}

/// Normalizes each channel of each entry: `(x - mean) / sqrt(var + eps)`, times `weight`, plus `bias`.
///
/// Args: `input` floating dtype of shape (N, C, ...); `running_mean`, `running_var` of shape (C,), or None;
/// `weight`, `bias` of shape (C,), or None; `use_input_stats` to take mean and (biased) variance from the input, and to
/// move the running ones, if given, by `momentum` towards their means over the entries; else the running ones are
/// taken; `eps` a number added to the variance. Returns: a tensor of the input's shape. Derivative: as `batch_norm`.
/// Raises: ValueError for one value per channel; RuntimeError if sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.instance_norm(rg.tensor([[[1.0, 3.0]]]), eps=1e-12).tolist()
/// [[[-1.0, 1.0]]]
#[op(
    function,
    norust,
    module = "nn.functional",
    "(running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5)"
)]
pub fn instance_norm(
    input: &Tensor,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    use_input_stats: bool,
    momentum: f64,
    eps: f64,
) -> Result<Tensor> {
    const OP: &str = "instance_norm";
    let spatial = if input.ndim() > 2 { numel(&input.sizes()[2..]) } else { 1 };
    if use_input_stats && spatial == 1 {
        return Err(Error::value(
            OP,
            format!("Expected more than 1 spatial element when training, got input size {}", Sizes(input.sizes())),
        ));
    }
    if !use_input_stats && (running_mean.is_none() || running_var.is_none()) {
        return Err(Error::shape(
            OP,
            "Expected running_mean and running_var to be defined when use_input_stats is false",
        ));
    }
    let (mean, var) = (running_mean, running_var);
    Channels { mean, var, weight, bias, training: use_input_stats }.check(OP, input)?;
    let (n, c) = (input.sizes()[0], input.sizes()[1]);
    // The channels of all entries become channels of one.
    let repeated = |t: Option<&Tensor>| -> Result<Option<Tensor>> {
        t.map(|t| reshape_to(&expand_to(t, &[n, c])?, &[n * c])).transpose()
    };
    let fresh = |t: Option<&Tensor>| -> Result<Option<Tensor>> {
        repeated(t)?.map(|t| memory::cloned(&t.detach())).transpose()
    };
    let (means, vars) = (fresh(mean)?, fresh(var)?);
    let (weights, biases) = (repeated(weight)?, repeated(bias)?);
    let joined = Channels {
        mean: means.as_ref(),
        var: vars.as_ref(),
        weight: weights.as_ref(),
        bias: biases.as_ref(),
        training: use_input_stats,
    };
    let mut sizes = Dims::from_slice(input.sizes());
    (sizes[0], sizes[1]) = (1, n * c);
    let y = joined.normalized(&reshape_to(input, &sizes)?, momentum, eps)?;
    if use_input_stats {
        let _aside = set_aside();
        for (running, all) in [(mean, &means), (var, &vars)] {
            if let (Some(running), Some(all)) = (running, all) {
                running.copy_(&reshape_to(all, &[n, c])?.mean_dims(&[0], false)?)?;
            }
        }
    }
    reshape_to(&y, input.sizes())
}

/// Normalizes groups of neighbouring channels of each entry: `(x - mean) / sqrt(var + eps)`, times `weight`, plus
/// `bias`.
///
/// Args: `input` floating dtype of shape (N, C, ...); `num_groups` a divisor of C; `weight`, `bias` of shape (C,),
/// or None; `eps` a number added to the (biased) variance. Returns: a tensor of the input's shape. Derivative, with `h`
/// the normalized input and `q = g * weight`: `(q - mean(q) - h * mean(q * h)) / sqrt(var + eps)`; the sum of `g * h`
/// for the weight and of `g` for the bias. Raises: ValueError for one value per group; RuntimeError if sizes or dtypes
/// are incompatible.
///
/// >>> rg.nn.functional.group_norm(rg.tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
/// [[-1.0, 1.0]]
#[op(function, norust, module = "nn.functional", "(weight=None, bias=None, eps=1e-5)")]
pub fn group_norm(
    input: &Tensor,
    num_groups: i64,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    const OP: &str = "group_norm";
    if input.ndim() < 2 {
        return Err(Error::shape(
            OP,
            format!("Expected at least 2 dimensions for input tensor but received {}", input.ndim()),
        ));
    }
    let channels = input.sizes()[1];
    let groups = usize::try_from(num_groups)
        .ok()
        .filter(|g| *g > 0)
        .ok_or_else(|| Error::shape(OP, format!("Expected num groups to be greater than 0, got {num_groups}")))?;
    let per_group = input.sizes()[0].saturating_mul(channels) / groups;
    several(OP, per_group.saturating_mul(numel(&input.sizes()[2..])), input.sizes())?;
    if !channels.is_multiple_of(groups) {
        return Err(Error::shape(
            OP,
            format!(
                "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and \
                 num_groups={groups}",
                Sizes(input.sizes())
            ),
        ));
    }
    for (t, name) in [(weight, "weight"), (bias, "bias")] {
        let Some(t) = t else { continue };
        if *t.sizes() != [channels] {
            return Err(Error::shape(
                OP,
                format!(
                    "Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape \
                     {} and input of shape {}",
                    Sizes(t.sizes()),
                    Sizes(input.sizes())
                ),
            ));
        }
    }
    Channels { mean: None, var: None, weight, bias, training: true }.check(OP, input)?;
    let one = Tensor::full(&[channels], Scalar::Int(1), input.dtype())?;
    let mut xs: SmallVec<[&Tensor; 3]> = SmallVec::from_slice(&[input]);
    xs.extend(scales(weight, bias, &one));
    let node = Standardize::<GROUP>::NODE;
    Ok(apply(Standardize::<GROUP> { groups, eps, node }, &xs)?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        let eps = 1e-2;
        for sizes in [&[3, 4][..], &[2, 4, 3], &[2, 4, 2, 2], &[0, 4, 3]] {
            let x = noise(1, sizes);
            let all = [x.clone(), noise(2, &[4]), noise(3, &[4])];
            let (mean, var) = (noise(4, &[4]), noise(5, &[4]).square().unwrap());
            let (m, v) = (Some(&mean), Some(&var));
            let (bn, gn) = (batch_norm, group_norm);
            gradcheck(&|t| bn(&t[0], None, None, None, None, true, 0.1, eps), &all[..1]);
            gradcheck(&|t| bn(&t[0], None, None, Some(&t[1]), Some(&t[2]), true, 0.1, eps), &all);
            gradcheck(&|t| bn(&t[0], m, v, Some(&t[1]), Some(&t[2]), false, 0.1, eps), &all);
            gradcheck(&|t| bn(&t[0], m, v, None, Some(&t[1]), false, 0.1, eps), &all[..2]);
            for groups in [1, 2] {
                gradcheck(&|t| gn(&t[0], groups, Some(&t[1]), Some(&t[2]), eps), &all);
                gradcheck(&|t| gn(&t[0], groups, None, None, eps), &all[..1]);
            }
            if sizes.len() > 2 {
                let f = |t: &[Tensor]| instance_norm(&t[0], None, None, Some(&t[1]), Some(&t[2]), true, 0.1, eps);
                gradcheck(&f, &all);
            }
        }
    }

    #[test]
    fn running_moments_move() {
        let x = Tensor::from_slice(&[1.0f64, 3.0], &[2, 1]).unwrap();
        let (mean, var) = (Tensor::zeros(&[1], x.dtype()).unwrap(), Tensor::ones(&[1], x.dtype()).unwrap());
        batch_norm(&x, Some(&mean), Some(&var), None, None, true, 0.5, 1e-5).unwrap();
        assert_eq!(mean.to_vec::<f64>().unwrap(), [1.0]);
        assert_eq!(var.to_vec::<f64>().unwrap(), [1.5]);
    }

    #[test]
    fn refusals() {
        let (x, w) = (noise(1, &[2, 4]), noise(2, &[3]));
        let bn = |x: &Tensor, w, training, eps| batch_norm(x, None, None, w, None, training, 0.1, eps);
        assert!(bn(&x, None, false, 1e-5).is_err() && bn(&x, Some(&w), true, 1e-5).is_err());
        assert!(bn(&noise(1, &[1, 4]), None, true, 1e-5).is_err() && bn(&x, None, true, 0.0).is_err());
        assert!(bn(&noise(1, &[4]), None, true, 1e-5).is_err());
        for groups in [3, 0, -1] {
            assert!(group_norm(&x, groups, None, None, 1e-5).is_err());
        }
        assert!(group_norm(&x, 2, Some(&w), None, 1e-5).is_err());
        assert!(instance_norm(&x, None, None, None, None, true, 0.1, 1e-5).is_err());
    }
}
