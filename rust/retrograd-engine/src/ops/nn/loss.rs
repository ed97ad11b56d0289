//! `mse_loss`, `l1_loss`.

use retrograd_macros::op;

use super::Reduction;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result, Shape};
use crate::kernels::pointwise::{Map2, map2};
use crate::kernels::real::Real;
use crate::kernels::reduce::{Sum, row};
use crate::match_dtype;
use crate::ops::matmul::batch_first;
use crate::ops::memory;
use crate::ops::pointwise::{out_like, result_type};
use crate::ops::view::expand_to;
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::broadcast;
use crate::tensor::{Dtypes, Scalar, Tensor};

/// `mse_loss`: `(x - y)^2`, its mean or sum. Reverse: `gx = 2 g (x - y)`, over the count for the mean; `gy = -gx`.
#[derive(Clone, Debug)]
pub(crate) struct MseLoss {
    reduction: Reduction,
}

struct SquaredDifference;
impl<T: Real> Map2<T, T, T> for SquaredDifference {
    #[inline(always)]
    fn f(&self, x: T, y: T) -> T {
        let d = x.sub(y);
        d.mul(d)
    }
}

/// `factor (x - y)`.
struct ScaledDifference<T>(T);
impl<T: Real> Map2<T, T, T> for ScaledDifference<T> {
    #[inline(always)]
    fn f(&self, x: T, y: T) -> T {
        self.0.mul(x.sub(y))
    }
}

impl MseLoss {
    /// What `x - y` is multiplied by in the derivative of `n` elements.
    fn factor(&self, n: usize) -> f64 {
        if self.reduction == Reduction::Mean { 2.0 / n as f64 } else { 2.0 }
    }
}

/// `f(x, y)` of two tensors of equal sizes and float dtype.
fn mapped<K>(x: &Tensor, y: &Tensor, f32: K, f64: impl Map2<f64, f64, f64>) -> Result<Tensor>
where
    K: Map2<f32, f32, f32>,
{
    let z = out_like(x.sizes(), x.dtype(), &[x, y])?;
    macro_rules! run {
        ($t:ty, $k:expr) => {{
            let (px, py) = (x.ptr::<$t>().cast_const(), y.ptr::<$t>().cast_const());
            // SAFETY: (1) S1 and S3, equal sizes; (2) the output is fresh; (3) and dense.
            unsafe { map2(&$k, x.sizes(), px, x.strides(), py, y.strides(), z.ptr::<$t>(), z.strides()) }
        }};
    }
    match x.dtype() {
        crate::DType::Float32 => run!(f32, f32),
        crate::DType::Float64 => run!(f64, f64),
        other => undeclared(other),
    }
    Ok(z)
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

/// The sum of all elements of a dense float tensor, divided by `over`.
pub(super) fn total(z: &Tensor, over: f64) -> Result<Tensor> {
    match_dtype!(floats, z.dtype(), T => {
        // SAFETY: a dense tensor has its elements in one run (S1, S3), all written.
        let sum = unsafe { row(&Sum, z.numel(), z.ptr::<T>().cast_const(), 1) };
        Tensor::build::<T>(&[], |o| o[0] = sum / over as T)
    })
}

impl Primitive for MseLoss {
    const NAME: &'static str = "mse_loss";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "target")];
    const PARAMS: Params<Self> = params!(op; reduction: op.reduction as i64);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, _| {
        let (x, y) = (batch_first(xs[0], axes[0])?, batch_first(xs[1], axes[1])?);
        let sizes = if axes[0].is_some() { x.sizes() } else { y.sizes() };
        let each = Self { reduction: Reduction::None };
        let losses = apply1(each, &[&expand_to(&x, sizes)?, &expand_to(&y, sizes)?])?;
        Ok((out(over_entries(losses, op.reduction)?), smallvec::smallvec![Some(0)]))
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let z = mapped(xs[0], xs[1], SquaredDifference, SquaredDifference)?;
        Ok(out(match self.reduction {
            Reduction::None => z,
            Reduction::Sum => total(&z, 1.0)?,
            Reduction::Mean => total(&z, z.numel() as f64)?,
        }))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, y) = (cx.saved(0)?, cx.saved(1)?);
        let factor = self.factor(x.numel());
        if !cx.differentiating() && self.reduction != Reduction::None {
            let c = cx.g().item()?.as_f64() * factor;
            let scaled = |c: f64, x, y| mapped(x, y, ScaledDifference(c as f32), ScaledDifference(c));
            let mut grads = maybe(cx.when(0, || scaled(c, x, y))?);
            grads.push(cx.when(1, || scaled(c, y, x))?);
            return Ok(grads);
        }
        let mut grads = maybe(cx.when(0, || x.sub(y)?.mul(cx.g())?.times(factor))?);
        grads.push(cx.when(1, || y.sub(x)?.mul(cx.g())?.times(factor))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, y) = (cx.xs[0], cx.xs[1]);
        let dz = match (cx.t(0), cx.t(1)) {
            (Some(dx), Some(dy)) => dx.sub(dy)?,
            (Some(dx), None) => dx.clone(),
            (None, Some(dy)) => dy.neg()?,
            (None, None) => return Ok(maybe(None)),
        };
        let d = x.sub(y)?.mul(&dz)?.times(op.factor(x.numel()))?;
        Ok(maybe(Some(if op.reduction == Reduction::None { d } else { d.sum(None)? })))
    });
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
    apply1(MseLoss { reduction }, &[&memory::cast(&x, dtype)?, &memory::cast(&y, dtype)?])
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
