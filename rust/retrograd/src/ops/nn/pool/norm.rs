//! `lp_pool1d`, `lp_pool2d`, `lp_pool3d`: of powers, means, and roots.

use retrograd_macros::op;

use super::{avg, max};
use crate::error::{Error, Result};
use crate::tensor::{Scalar, Tensor};

/// `(sum |x|^p)^(1/p)` of every window, from the mean of powers, as torch composes it.
fn lp(
    op: &'static str,
    x: &Tensor,
    p: Scalar,
    (kernel, stride, ceil): (&[i64], Option<&[i64]>, bool),
    rank: usize,
) -> Result<Tensor> {
    let power = p.as_f64();
    if power.is_infinite() {
        let call = max::Call { kernel, stride, padding: &[0], dilation: &[1], ceil };
        let maxima = |x: &Tensor| match rank {
            1 => max::over_lines(op, x, call),
            _ => max::over_planes(op, x, call, rank),
        };
        return if power > 0.0 { Ok(maxima(&x.abs()?)?.0) } else { maxima(&x.abs()?.neg()?)?.0.neg() };
    }
    if power == 0.0 {
        return Err(Error::value(op, "division by zero: norm_type must not be 0"));
    }
    let powers = x.power(p)?;
    let call = avg::Call { kernel, stride, padding: &[0], ceil, include_pad: true, divisor: None };
    let means = match rank {
        1 => avg::over_lines(op, &powers, call)?,
        _ => avg::over_planes(op, &powers, call, rank)?,
    };
    let count: i64 = match *kernel {
        [k] => k.saturating_pow(rank as u32),
        _ => kernel.iter().fold(1, |n, &k| n.saturating_mul(k)),
    };
    means.sign()?.mul(&means.abs()?.relu()?)?.times(count)?.power(1.0 / power)
}

/// The p-norm of every window along the last axis: `(sum x^p)^(1/p)`.
///
/// Args: `input` (N, C, W) or (C, W), a float dtype; `norm_type` the number p, also infinite for the maximum;
/// `kernel_size`, `stride` and `ceil_mode` as for `avg_pool1d`.
/// Returns: a tensor as `avg_pool1d` does. Derivative: that of the powers, the mean and the root it consists of.
/// Raises: RuntimeError if windows and sizes do not go together; ValueError for p = 0.
///
/// >>> rg.nn.functional.lp_pool1d(rg.tensor([[3.0, 4.0, 0.0, 2.0]]), 2.0, 2).tolist()
/// [[5.0, 2.0]]
#[op(function, module = "nn.functional", "(stride=None, ceil_mode=False)")]
pub fn lp_pool1d(
    input: &Tensor,
    norm_type: Scalar,
    kernel_size: i64,
    stride: Option<&[i64]>,
    ceil_mode: bool,
) -> Result<Tensor> {
    lp("lp_pool1d", input, norm_type, (&[kernel_size], stride, ceil_mode), 1)
}

/// The p-norm of every window along the last two axes: `(sum x^p)^(1/p)`.
///
/// Args: `input` (N, C, H, W) or (C, H, W), a float dtype; `norm_type` the number p, also infinite for the maximum;
/// `kernel_size`, `stride` and `ceil_mode` as for `avg_pool2d`.
/// Returns: a tensor as `avg_pool2d` does. Derivative: that of the powers, the mean and the root it consists of.
/// Raises: RuntimeError if windows and sizes do not go together; ValueError for p = 0.
///
/// >>> rg.nn.functional.lp_pool2d(rg.ones(1, 2, 2), 2.0, 2).tolist()
/// [[[2.0]]]
#[op(function, module = "nn.functional", "(stride=None, ceil_mode=False)")]
pub fn lp_pool2d(
    input: &Tensor,
    norm_type: Scalar,
    kernel_size: &[i64],
    stride: Option<&[i64]>,
    ceil_mode: bool,
) -> Result<Tensor> {
    lp("lp_pool2d", input, norm_type, (kernel_size, stride, ceil_mode), 2)
}

/// The p-norm of every window along the last three axes: `(sum x^p)^(1/p)`.
///
/// Args: `input` (N, C, D, H, W) or (C, D, H, W), a float dtype; `norm_type` the number p, also infinite for the maximum;
/// `kernel_size`, `stride` and `ceil_mode` as for `avg_pool3d`.
/// Returns: a tensor as `avg_pool3d` does. Derivative: that of the powers, the mean and the root it consists of.
/// Raises: RuntimeError if windows and sizes do not go together; ValueError for p = 0.
///
/// >>> rg.nn.functional.lp_pool3d(rg.ones(1, 2, 2, 2), 1.0, 2).tolist()
/// [[[[8.0]]]]
#[op(function, module = "nn.functional", "(stride=None, ceil_mode=False)")]
pub fn lp_pool3d(
    input: &Tensor,
    norm_type: Scalar,
    kernel_size: &[i64],
    stride: Option<&[i64]>,
    ceil_mode: bool,
) -> Result<Tensor> {
    lp("lp_pool3d", input, norm_type, (kernel_size, stride, ceil_mode), 3)
}
