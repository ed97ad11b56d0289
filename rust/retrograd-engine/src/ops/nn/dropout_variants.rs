//! Variants of `dropout`: whole channels, SELU's saturation in place of zero, and the forms without a module.

use retrograd_macros::op;

use super::dropout::{How, check_chance, dropped};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::warn::warn;

const FEATURES: How = How { features: true, alpha: false };
const ALPHA: How = How { features: false, alpha: true };
const FEATURES_ALPHA: How = How { features: true, alpha: true };

fn drop(op: &'static str, input: &Tensor, p: f64, training: bool, inplace: bool, how: How) -> Result<Tensor> {
    check_chance(op, p)?;
    if training { dropped(op, input, p, inplace, how) } else { Ok(input.clone()) }
}

/// As [`drop`], with a batch of one if the input lacks an axis of them.
fn drop_channels(
    op: &'static str,
    input: &Tensor,
    p: f64,
    training: bool,
    inplace: bool,
    single: bool,
) -> Result<Tensor> {
    if !single {
        return drop(op, input, p, training, inplace, FEATURES);
    }
    let whole = drop(op, &input.unsqueeze(0)?, p, training, inplace, FEATURES)?;
    if inplace { Ok(input.clone()) } else { whole.squeeze_dim(0) }
}

/// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
///
/// Args: `input` (N, C) or (N, C, L): with two dims (C, L), floating dtype; `p` from 0 to 1; `training` whether to
/// do anything; `inplace` to write to `input`. Draws from the default generator.
/// Returns: a tensor of the same shape. Derivative: `g` times the same factors.
/// Raises: RuntimeError for other numbers of dims; ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.dropout1d(rg.ones(1, 2), p=1.0).tolist()
/// [[0.0, 0.0]]
#[op(function, module = "nn.functional", "(p=0.5, training=True, inplace=False)")]
pub fn dropout1d(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    check_chance("dropout1d", p)?;
    if !matches!(input.ndim(), 2 | 3) {
        return Err(Error::shape(
            "dropout1d",
            format!(
                "Expected 2D or 3D input, but received a {}D input. Note that dropout1d exists to provide channel-wise dropout \
                 on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).",
                input.ndim()
            ),
        ));
    }
    drop_channels("dropout1d", input, p, training, inplace, input.ndim() == 2)
}

/// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
///
/// Args: `input` (N, C, H, W), floating dtype; three dims are taken for (N, C, L), with a warning, as other numbers
/// are; `p` from 0 to 1; `training` whether to do anything; `inplace` to write to `input`. Draws from the default
/// generator.
/// Returns: a tensor of the same shape. Derivative: `g` times the same factors.
/// Raises: RuntimeError for less than two dims; ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.dropout2d(rg.ones(1, 2, 1, 1), p=1.0).flatten().tolist()
/// [0.0, 0.0]
#[op(function, module = "nn.functional", "(p=0.5, training=True, inplace=False)")]
pub fn dropout2d(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    check_chance("dropout2d", p)?;
    match input.ndim() {
        4 => {}
        3 => warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input \
             is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to \
             interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout \
             behavior, please switch to using dropout1d instead.",
        )?,
        n => warn(&format!(
            "dropout2d: Received a {n}-D input to dropout2d, which is deprecated and will result in an error in a future \
             release. To retain the behavior and silence this warning, please use dropout instead. Note that dropout2d exists to \
             provide channel-wise dropout on inputs with 2 spatial dimensions, a channel dimension, and an optional batch \
             dimension (i.e. 3D or 4D inputs)."
        ))?,
    }
    drop("dropout2d", input, p, training, inplace, FEATURES)
}

/// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
///
/// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; other numbers of dims are taken for the second,
/// with a warning; `p` from 0 to 1; `training` whether to do anything; `inplace` to write to `input`. Draws from the
/// default generator.
/// Returns: a tensor of the same shape. Derivative: `g` times the same factors.
/// Raises: RuntimeError for an input without dims; ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.dropout3d(rg.ones(2, 1, 1, 1), p=1.0).flatten().tolist()
/// [0.0, 0.0]
#[op(function, module = "nn.functional", "(p=0.5, training=True, inplace=False)")]
pub fn dropout3d(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    check_chance("dropout3d", p)?;
    let n = input.ndim();
    if !matches!(n, 4 | 5) {
        warn(&format!(
            "dropout3d: Received a {n}-D input to dropout3d, which is deprecated and will result in an error in a future \
             release. To retain the behavior and silence this warning, please use dropout instead. Note that dropout3d exists to \
             provide channel-wise dropout on inputs with 3 spatial dimensions, a channel dimension, and an optional batch \
             dimension (i.e. 4D or 5D inputs)."
        ))?;
    }
    drop_channels("dropout3d", input, p, training, inplace, n != 5)
}

/// Dropout that keeps mean 0 and variance 1, for networks of SELU: what is dropped takes the value SELU saturates at,
/// and all is scaled and shifted.
///
/// Args: `input` floating dtype, any shape; `p` from 0 to 1; `training` whether to do anything; `inplace` to write
/// to `input`. Draws from the default generator.
/// Returns: a tensor of the same shape. Derivative: `g` times the factors, 0 where dropped.
/// Raises: ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.alpha_dropout(rg.ones(2), p=1.0, training=True).tolist()
/// [0.0, 0.0]
#[op(function, module = "nn.functional", "(p=0.5, training=False, inplace=False)")]
pub fn alpha_dropout(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    drop("alpha_dropout", input, p, training, inplace, ALPHA)
}

/// As `alpha_dropout`, for whole channels.
///
/// Args: `input` (N, C, ...), floating dtype; `p`, `training`, `inplace` as there.
/// Returns: a tensor of the same shape. Derivative: `g` times the factors, 0 where dropped.
/// Raises: RuntimeError for less than two dims; ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.feature_alpha_dropout(rg.ones(1, 2), p=1.0, training=True).tolist()
/// [[0.0, 0.0]]
#[op(function, module = "nn.functional", "(p=0.5, training=False, inplace=False)")]
pub fn feature_alpha_dropout(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    drop("feature_alpha_dropout", input, p, training, inplace, FEATURES_ALPHA)
}

/// The forms without a module raise RuntimeError for a probability out of range.
fn plain(op: &'static str, input: &Tensor, p: f64, train: bool, how: How) -> Result<Tensor> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::shape(op, format!("dropout probability has to be between 0 and 1, but got {p}")));
    }
    drop(op, input, p, train, false, how)
}

/// `nn.functional.dropout` with all arguments given.
///
/// Args: `input` floating dtype; `p` from 0 to 1; `train` whether to do anything.
/// Returns: a tensor of the same shape. Derivative: `g` times the same factors. Raises: RuntimeError if `p` is out of
/// range.
///
/// >>> rg.dropout(rg.ones(2), 1.0, True).tolist()
/// [0.0, 0.0]
#[op(function, name = "dropout")]
pub fn plain_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    plain("dropout", input, p, train, How::default())
}

/// `dropout` of whole channels.
///
/// Args: `input` (N, C, ...), floating dtype; `p` from 0 to 1; `train` whether to do anything.
/// Returns: a tensor of the same shape. Derivative: `g` times the same factors.
/// Raises: RuntimeError if `p` is out of range, or for less than two dims.
///
/// >>> rg.feature_dropout(rg.ones(1, 2), 1.0, True).tolist()
/// [[0.0, 0.0]]
#[op(function, name = "feature_dropout")]
pub fn plain_feature_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    plain("feature_dropout", input, p, train, FEATURES)
}

/// `nn.functional.alpha_dropout` with all arguments given.
///
/// Args: `input` floating dtype; `p` from 0 to 1; `train` whether to do anything.
/// Returns: a tensor of the same shape. Derivative: `g` times the factors, 0 where dropped.
/// Raises: RuntimeError if `p` is out of range.
///
/// >>> rg.alpha_dropout(rg.ones(2), 1.0, True).tolist()
/// [0.0, 0.0]
#[op(function, name = "alpha_dropout")]
pub fn plain_alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    plain("alpha_dropout", input, p, train, ALPHA)
}

/// `nn.functional.feature_alpha_dropout` with all arguments given.
///
/// Args: `input` (N, C, ...), floating dtype; `p` from 0 to 1; `train` whether to do anything.
/// Returns: a tensor of the same shape. Derivative: `g` times the factors, 0 where dropped.
/// Raises: RuntimeError if `p` is out of range, or for less than two dims.
///
/// >>> rg.feature_alpha_dropout(rg.ones(1, 2), 1.0, True).tolist()
/// [[0.0, 0.0]]
#[op(function, name = "feature_alpha_dropout")]
pub fn plain_feature_alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    plain("feature_alpha_dropout", input, p, train, FEATURES_ALPHA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;
    use crate::testing::noise;

    #[test]
    fn channels_are_dropped_together() {
        let x = Tensor::full(&[10, 10, 3], 1.0.into(), DType::Float64).unwrap();
        let y = dropout1d(&x, 0.5, true, false).unwrap().to_vec::<f64>().unwrap();
        assert!(y.chunks(3).all(|c| c == [0.0; 3] || c == [2.0; 3]));
        assert!(y.contains(&0.0) && y.contains(&2.0));
        let one = noise(1, &[4, 3]);
        assert_eq!(dropout1d(&one, 0.5, true, false).unwrap().sizes(), [4, 3]);
        assert!(dropout1d(&one, 0.5, true, true).unwrap().is_same(&one));
        assert!(dropout1d(&noise(1, &[4]), 0.5, true, false).is_err());
    }

    #[test]
    fn mean_and_variance_are_kept() {
        let x = crate::ops::random::normal_as(crate::ops::Form::New, &noise(1, &[20000]), 0.0, 1.0, None).unwrap();
        let y = alpha_dropout(&x, 0.3, true, false).unwrap().to_vec::<f64>().unwrap();
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let var = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        assert!(mean.abs() < 0.05 && (var - 1.0).abs() < 0.05, "{mean} {var}");
    }
}
