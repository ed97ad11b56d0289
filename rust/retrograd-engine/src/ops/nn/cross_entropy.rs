//! `cross_entropy`, composed of `log_softmax` and a loss on its result.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::Reduction;
use super::nll::any_dims;
use crate::error::{Error, Result, Sizes};
use crate::ops::memory;
use crate::ops::view::reshape_to;
use crate::tensor::{DType, Scalar, Tensor};

/// The arguments past input and target.
struct How<'a> {
    weight: Option<&'a Tensor>,
    ignore_index: i64,
    reduction: Reduction,
    smoothing: f64,
    /// The axis of the classes.
    axis: usize,
    classes: usize,
}

impl How<'_> {
    /// The weight, one for each class, so that it broadcasts against the input.
    fn aligned_weight(&self, ndim: usize) -> Result<Option<Tensor>> {
        let Some(w) = self.weight else { return Ok(None) };
        let mut sizes: SmallVec<[usize; 6]> = smallvec::smallvec![1; ndim];
        sizes[self.axis] = w.numel();
        reshape_to(w, &sizes).map(Some)
    }

    /// Targets that are probabilities.
    fn probabilities(&self, input: &Tensor, target: &Tensor) -> Result<Tensor> {
        if let Some(w) = self.weight
            && (w.ndim() != 1 || w.numel() != self.classes)
        {
            return Err(Error::shape(
                "cross_entropy",
                format!(
                    "weight tensor should be defined either for all {} classes or no classes but got weight tensor of \
                     shape: {}",
                    self.classes,
                    Sizes(w.sizes())
                ),
            ));
        }
        let logs = input.log_softmax(self.axis as i64, None)?;
        let smooth;
        let target = if self.smoothing > 0.0 {
            smooth = target.times(1.0 - self.smoothing)?.plus(self.smoothing / self.classes as f64)?;
            &smooth
        } else {
            target
        };
        let mut product = logs.mul(target)?;
        if let Some(w) = self.aligned_weight(input.ndim())? {
            product = product.mul(&w)?;
        }
        match self.reduction {
            Reduction::None => product.sum_dims(&[self.axis as i64], false)?.neg(),
            Reduction::Sum => product.sum(None)?.neg(),
            // Without samples: 0 / 0, not a count that needs the classes.
            Reduction::Mean if input.numel() == 0 => product.sum(None)?.neg()?.times(f64::NAN),
            Reduction::Mean => {
                let samples = (input.numel() / self.classes) as i64;
                product.sum(None)?.neg()?.div(&Tensor::number(Scalar::Int(samples))?)
            }
        }
    }

    /// Targets that are classes, mixed with a uniform distribution.
    fn smoothed(&self, input: &Tensor, target: &Tensor) -> Result<Tensor> {
        let logs = input.log_softmax(self.axis as i64, None)?;
        let nll = any_dims(&logs, target, self.weight, self.reduction, self.ignore_index)?;
        let weighted = match self.aligned_weight(input.ndim())? {
            Some(w) => logs.mul(&w)?,
            None => logs,
        };
        let zero = Tensor::number(Scalar::Int(0))?;
        let ignored = target.eq(&Tensor::number(Scalar::Int(self.ignore_index))?)?;
        let losses = weighted.sum_dims(&[self.axis as i64], false)?.neg()?.masked_fill(&ignored, &zero)?;
        let rest = match self.reduction {
            Reduction::None => losses,
            Reduction::Sum => losses.sum(None)?,
            Reduction::Mean => {
                let count = match self.weight {
                    // Ignored samples count with the weight of class 0, times zero.
                    Some(w) => {
                        let class = memory::cast(target, DType::Int64)?.masked_fill(&ignored, &zero)?;
                        let of_class = w.index_select(0, &reshape_to(&class, &[class.numel()])?)?;
                        reshape_to(&of_class, target.sizes())?.masked_fill(&ignored, &zero)?.sum(None)?
                    }
                    None => ignored.logical_not()?.sum(None)?,
                };
                losses.sum(None)?.div(&count)?
            }
        };
        nll.times(1.0 - self.smoothing)?.add(&rest.times(self.smoothing / self.classes as f64)?)
    }
}

/// The cross entropy of logits and classes, or probabilities of classes: the negative log likelihood of `log_softmax`.
///
/// Args: `input` logits (C,), (N, C) or (N, C, d1, ...), floating dtype; `target` class indices (), (N,) or (N, d1,
/// ...), int64, or probabilities in the input's shape; `weight` (C,) or None; `ignore_index` a class whose samples are
/// ignored; `reduction` 'mean', 'sum' or 'none'; `label_smoothing` from 0 to 1, the share of a uniform distribution
/// mixed into the target. `size_average` and `reduce` are deprecated. Returns: a 0-dim tensor, or one loss per sample
/// for 'none'. Derivative: `g * (softmax(input) - target)`, weighted and divided like the loss; probabilities get `-g *
/// log_softmax(input)`. Raises: IndexError for a class out of range; RuntimeError or ValueError for sizes and dtypes
/// that are incompatible.
///
/// >>> round(rg.nn.functional.cross_entropy(rg.zeros(2, 4), rg.tensor([1, 2])).item(), 4)
/// 1.3863
#[op(
    function,
    module = "nn.functional",
    "(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)"
)]
pub fn cross_entropy(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    ignore_index: i64,
    reduce: Option<bool>,
    reduction: &str,
    label_smoothing: f64,
) -> Result<Tensor> {
    const OP: &str = "cross_entropy";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    let axis = usize::from(input.ndim() > 1);
    let classes = input.sizes().get(axis).copied().unwrap_or(1);
    let how = How { weight, ignore_index, reduction, smoothing: label_smoothing, axis, classes };
    if input.sizes() == target.sizes() {
        if !target.dtype().is_floating() {
            return Err(Error::dtype(
                OP,
                format!(
                    "Expected floating point type for target with class probabilities, got {}",
                    target.dtype().scalar_type_name()
                ),
            ));
        }
        if ignore_index >= 0 {
            return Err(Error::shape(OP, "ignore_index is not supported for floating point target"));
        }
        if input.ndim() == 0 {
            return Err(Error::index(
                OP,
                "Dimension specified as 1 but tensor has no dimensions: give logits of classes",
            ));
        }
        return how.probabilities(input, target);
    }
    if input.ndim() == 0 {
        return Err(Error::value(OP, "Expected 1 or more dimensions (got 0)"));
    }
    if label_smoothing > 0.0 {
        if label_smoothing > 1.0 {
            return Err(Error::shape(
                OP,
                format!("label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"),
            ));
        }
        return how.smoothed(input, target);
    }
    any_dims(&input.log_softmax(axis as i64, None)?, target, weight, reduction, ignore_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn run(x: &Tensor, t: &Tensor, w: Option<&Tensor>, reduction: &str, smoothing: f64) -> Result<Tensor> {
        cross_entropy(x, t, w, None, -100, None, reduction, smoothing)
    }

    #[test]
    fn gradients() {
        let w = Tensor::from_slice(&[0.5f64, 1.0, 2.0, 0.25], &[4]).unwrap();
        for reduction in ["mean", "sum", "none"] {
            for w in [None, Some(&w)] {
                for smoothing in [0.0, 0.2] {
                    let t = Tensor::from_slice(&[0i64, -100, 3], &[3]).unwrap();
                    gradcheck(&|x| run(&x[0], &t, w, reduction, smoothing), &[noise(1, &[3, 4])]);
                    let t = Tensor::from_slice(&[0i64, 1, 3, 2], &[2, 2]).unwrap();
                    gradcheck(&|x| run(&x[0], &t, w, reduction, smoothing), &[noise(1, &[2, 4, 2])]);
                    gradcheck(&|x| run(&x[0], &x[1], w, reduction, smoothing), &[noise(1, &[3, 4]), noise(2, &[3, 4])]);
                }
            }
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[0.0f64, 1.0, 2.0, 3.0, 1.0, -1.0], &[2, 3]).unwrap();
        let t = Tensor::from_slice(&[2i64, 1], &[2]).unwrap();
        let value = |smoothing| run(&x, &t, None, "mean", smoothing).unwrap().item().unwrap().as_f64();
        let lse = |v: [f64; 3]| v.iter().map(|x| x.exp()).sum::<f64>().ln();
        let (a, b) = (lse([0.0, 1.0, 2.0]), lse([3.0, 1.0, -1.0]));
        assert!((value(0.0) - ((a - 2.0) + (b - 1.0)) / 2.0).abs() < 1e-12);
        let uniform = ((a - 1.0) + (b - 1.0)) / 2.0;
        assert!((value(0.3) - (0.7 * value(0.0) + 0.3 * uniform)).abs() < 1e-12);
        assert!(run(&x, &t, None, "mean", 1.5).is_err());
        assert!(run(&x, &noise(1, &[2, 4]), None, "mean", 0.0).is_err());
    }
}
