//! Distances and angles: cosine_similarity, pairwise_distance, normalize.

use retrograd_macros::op;

use crate::autograd::mode::GradGuard;
use crate::error::{Error, Result};
use crate::ops::memory;
use crate::ops::pointwise::result_type;
use crate::ops::reduce::norm::{older_vector, vector};
use crate::ops::view::expand_to;
use crate::tensor::layout::broadcast;
use crate::tensor::{Scalar, Tensor};

/// The vectors along `dim` divided by their norms, which are not below `eps`; the derivative ignores that bound.
fn unit(op: &'static str, x: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    let norm = memory::cloned(&vector(op, x, Scalar::Int(2), Some(&[dim]), true, None)?)?;
    {
        let _unrecorded = GradGuard::new(false);
        norm.clamp_min_(&Tensor::number(Scalar::Float(eps))?)?;
    }
    x.div(&norm)
}

/// The cosine of the angles between vectors along `dim`.
///
/// Args: `x1`, `x2` floating dtype with broadcastable shapes; `dim` of the broadcast shape; `eps` the least norm
/// that is divided by. Returns: a tensor of the broadcast shape without `dim`.
/// Derivative, with unit vectors `u` and `v`: `g * (v - cos * u) / norm(x1)`, and likewise for `x2`.
/// Raises: RuntimeError if shapes do not broadcast or for integers, IndexError if there is no such dim.
///
/// >>> rg.nn.functional.cosine_similarity(rg.tensor([[3.0, 4.0]]), rg.tensor([[2.0, 0.0]])).tolist()
/// [0.6000000238418579]
#[op(function, norust, module = "nn.functional", "(dim=1, eps=1e-8)")]
pub fn cosine_similarity(x1: &Tensor, x2: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    const OP: &str = "cosine_similarity";
    let dtype = result_type(&[x1, x2]);
    if !dtype.is_floating() {
        return Err(Error::dtype(
            OP,
            format!(
                "expected common dtype to be floating point, yet common dtype is {}: convert with .to(float32)",
                dtype.scalar_type_name()
            ),
        ));
    }
    let sizes = broadcast(OP, x1.sizes(), x2.sizes())?;
    let whole = |x: &Tensor| expand_to(&memory::cast(x, dtype)?, &sizes);
    unit(OP, &whole(x1)?, dim, eps)?.mul(&unit(OP, &whole(x2)?, dim, eps)?)?.sum_dims(&[dim], false)
}

/// The distances of vectors along the last dim, `norm(x1 - x2 + eps)`.
///
/// Args: `x1`, `x2` floating or complex dtype with broadcastable shapes; `p` the norm; `eps` a number added to the
/// differences, so that there is a derivative for equal vectors; `keepdim` to keep the dim with size 1.
/// Returns: a tensor without the last dim. Derivative: that of the norm, and its negative.
/// Raises: RuntimeError if shapes do not broadcast.
///
/// >>> rg.nn.functional.pairwise_distance(rg.tensor([3.0, 4.0]), rg.tensor([0.0, 0.0]), eps=0.0).item()
/// 5.0
#[op(function, norust, module = "nn.functional", "(p=2.0, eps=1e-6, keepdim=False)")]
pub fn pairwise_distance(x1: &Tensor, x2: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
    // Vectors of as many dims as the one that has more: the last of those.
    let last = x1.ndim().max(x2.ndim()) as i64 - 1;
    older_vector("pairwise_distance", &x1.sub(x2)?.plus(eps)?, Scalar::Float(p), Some(&[last]), keepdim)
}

/// The vectors along `dim` divided by their norms.
///
/// Args: `input` floating or complex dtype; `p` the norm; `dim` an int; `eps` the least norm that is divided by.
/// Returns: a tensor of the same shape. Derivative: for `p = 2` and unit vectors `u`, `(g - u * sum(g * u)) / norm`.
/// Raises: IndexError if there is no such dim, RuntimeError for integers.
///
/// >>> rg.nn.functional.normalize(rg.tensor([[0.0, 4.0]])).tolist()
/// [[0.0, 1.0]]
#[op(function, norust, out, module = "nn.functional", "(p=2.0, dim=1, eps=1e-12)")]
pub fn normalize(input: &Tensor, p: f64, dim: i64, eps: f64) -> Result<Tensor> {
    let norm = vector("normalize", input, Scalar::Float(p), Some(&[dim]), true, None)?;
    let norm = norm.clamp_min(&Tensor::number(Scalar::Float(eps))?)?;
    input.div(&expand_to(&norm, input.sizes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        let both = [noise(1, &[3, 4]), noise(2, &[3, 4])];
        for dim in [0, 1, -1] {
            gradcheck(&|t| cosine_similarity(&t[0], &t[1], dim, 1e-8), &both);
            for p in [1.0, 2.0, 3.0] {
                gradcheck(&|t| normalize(&t[0], p, dim, 1e-12), &both[..1]);
                gradcheck(&|t| pairwise_distance(&t[0], &t[1], p, 1e-6, false), &both);
            }
        }
        gradcheck(&|t| cosine_similarity(&t[0], &t[1], 1, 1e-8), &[noise(1, &[3, 4]), noise(2, &[1, 4])]);
        gradcheck(&|t| pairwise_distance(&t[0], &t[1], 2.0, 1e-6, true), &[noise(1, &[3, 4]), noise(2, &[4])]);
    }
}
