//! `mse_loss`, `l1_loss`.

use retrograd_macros::op;

use super::Reduction;
use super::elementwise_loss::{Element, ElementLoss, lost};
use crate::error::{Error, Result, Shape};
use crate::kernels::simd::Vector;
use crate::ops::memory;
use crate::ops::pointwise::result_type;
use crate::ops::view::expand_to;
use crate::tensor::layout::broadcast;
use crate::tensor::{Scalar, Tensor};

/// `(x - y)^2`. Reverse: `gx = 2 g (x - y)`, over the count for the mean; `gy = -gx`.
#[derive(Clone, Copy, Debug)]
struct SquaredError;

impl ElementLoss for SquaredError {
    const NAME: &'static str = "mse_loss";
    const NODE: &'static str = "MseLossBackward0";
    const OF_DIFFERENCE: bool = true;
    const INPUTS: u32 = 0b11;
    #[inline(always)]
    fn value<V: Vector>(_: V, [x, y, ..]: Element<V>) -> V {
        let d = x - y;
        d * d
    }
    #[inline(always)]
    fn derivative<V: Vector>(_: V, [x, y, ..]: Element<V>) -> V {
        let d = x - y;
        d + d
    }
    fn gradient(_: f64, xs: &[&Tensor], i: usize) -> Result<Tensor> {
        xs[i].sub(xs[1 - i])?.times(2.0)
    }
}

/// The mean or sum of the losses of every entry of a batch, whose axis is in front.
pub(super) fn over_entries(losses: Tensor, reduction: Reduction) -> Result<Tensor> {
    if reduction == Reduction::None || losses.ndim() == 1 {
        return Ok(losses);
    }
    let count: usize = losses.sizes()[1..].iter().product();
    let dims: Vec<i64> = (1..losses.ndim() as i64).collect();
    let sums = losses.sum_dims(&dims, false)?;
    if reduction == Reduction::Mean { sums.times(1.0 / count as f64) } else { Ok(sums) }
}

/// Both operands of a loss in their common shape; a warning if that is not the shape of both.
pub(super) fn aligned(op: &'static str, input: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor)> {
    if input.sizes() == target.sizes() {
        return Ok((input.clone(), target.clone()));
    }
    crate::warn::warn(&format!(
        "{op}: Using a target size (retrograd.Size({:?})) that is different to the input size (retrograd.Size({:?})). This will \
         likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        target.sizes(),
        input.sizes()
    ))?;
    let sizes = broadcast(op, input.sizes(), target.sizes())?;
    Ok((expand_to(input, &sizes)?, expand_to(target, &sizes)?))
}

/// The losses of the elements, times `weight`, and their sum or weighted mean.
fn weighted(
    op: &'static str,
    losses: &Tensor,
    weight: &Tensor,
    sizes: &[usize],
    reduction: Reduction,
) -> Result<Tensor> {
    if weight.sizes() != sizes {
        return Err(Error::value(
            op,
            format!("Weights and input must have the same size, got {} and {}", Shape(weight.sizes()), Shape(sizes)),
        ));
    }
    let losses = losses.mul(weight)?;
    match reduction {
        Reduction::None => Ok(losses),
        Reduction::Sum => losses.sum(None),
        Reduction::Mean => losses.sum(None)?.div(&weight.sum(None)?),
    }
}

/// The squared error, `(input - target) ** 2`, and its mean or sum.
///
/// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction` 'mean',
/// 'sum' or 'none'; `weight` of the input's shape, or None. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `2 * g * (input - target)` (divided by the count for 'mean'), and its negative.
/// Raises: RuntimeError if the shapes do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.mse_loss(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 4.0])).item()
/// 2.0
#[op(function, module = "nn.functional", "(size_average=None, reduce=None, reduction='mean', weight=None)")]
pub fn mse_loss(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
    weight: Option<&Tensor>,
) -> Result<Tensor> {
    let reduction = Reduction::of("mse_loss", size_average, reduce, reduction)?;
    let (x, y) = aligned("mse_loss", input, target)?;
    if let Some(weight) = weight {
        return weighted("mse_loss", &x.sub(&y)?.power(Scalar::Int(2))?, weight, input.sizes(), reduction);
    }
    let dtype = result_type(&[&x, &y]);
    lost::<SquaredError, 2>("mse_loss", 0.0, reduction, &[&memory::cast(&x, dtype)?, &memory::cast(&y, dtype)?])
}

/// The absolute error, `|input - target|`, and its mean or sum.
///
/// Args: as `mse_loss`.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `g * sign(input - target)` (divided by the count for 'mean'), and its negative.
/// Raises: RuntimeError if the shapes do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.l1_loss(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 4.0])).item()
/// 1.0
#[op(function, module = "nn.functional", "(size_average=None, reduce=None, reduction='mean', weight=None)")]
pub fn l1_loss(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
    weight: Option<&Tensor>,
) -> Result<Tensor> {
    let reduction = Reduction::of("l1_loss", size_average, reduce, reduction)?;
    let (x, y) = aligned("l1_loss", input, target)?;
    let losses = x.sub(&y)?.abs()?;
    match (weight, reduction) {
        (Some(weight), _) => weighted("l1_loss", &losses, weight, input.sizes(), reduction),
        (None, Reduction::None) => Ok(losses),
        (None, Reduction::Sum) => losses.sum(None),
        (None, Reduction::Mean) => losses.mean(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for reduction in ["mean", "sum", "none"] {
            let (x, y) = (noise(1, &[3, 4]), noise(2, &[3, 4]));
            gradcheck(&|t| mse_loss(&t[0], &t[1], None, None, reduction, None), &[x.clone(), y.clone()]);
            gradcheck(&|t| mse_loss(&t[0].t()?, &t[1].t()?, None, None, reduction, None), &[x.clone(), y.clone()]);
            gradcheck(&|t| l1_loss(&t[0], &t[1], None, None, reduction, None), &[x.clone(), y.clone()]);
            let w = noise(3, &[3, 4]);
            gradcheck(&|t| mse_loss(&t[0], &t[1], None, None, reduction, Some(&t[2])), &[x.clone(), y.clone(), w]);
            gradcheck(
                &|t| mse_loss(&t[0], &t[1], None, None, reduction, None),
                &[noise(1, &[2, 1]), noise(2, &[2, 3])],
            );
        }
    }

    #[test]
    fn values() {
        let (x, y) = (noise(1, &[5]), noise(2, &[5]));
        let loss = mse_loss(&x, &y, None, None, "mean", None).unwrap().item().unwrap().as_f64();
        let want: f64 =
            x.to_vec::<f64>().unwrap().iter().zip(y.to_vec::<f64>().unwrap()).map(|(a, b)| (a - b).powi(2)).sum();
        assert!((loss - want / 5.0).abs() < 1e-12);
        let sum = mse_loss(&x, &y, Some(false), None, "mean", None).unwrap().item().unwrap().as_f64();
        assert!((sum - want).abs() < 1e-12);
        let empty = noise(1, &[0]);
        assert!(mse_loss(&empty, &empty, None, None, "mean", None).unwrap().item().unwrap().as_f64().is_nan());
        assert!(mse_loss(&x, &y, None, None, "x", None).is_err());
        assert!(mse_loss(&x, &noise(2, &[4]), None, None, "mean", None).is_err());
    }
}
