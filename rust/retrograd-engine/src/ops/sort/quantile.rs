//! Quantiles: the elements at given fractions of the sorted order.

use retrograd_macros::op;

use super::order::sort;
use crate::error::{Error, Result};
use crate::ops::memory::cast;
use crate::ops::view;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Scalar, Tensor};

/// The value of a position between two elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

impl Interpolation {
    fn of(op: &'static str, name: &str) -> Result<Self> {
        Ok(match name {
            "linear" => Self::Linear,
            "lower" => Self::Lower,
            "higher" => Self::Higher,
            "midpoint" => Self::Midpoint,
            "nearest" => Self::Nearest,
            other => {
                return Err(Error::shape(
                    op,
                    format!("interpolation must be one of linear, lower, higher, midpoint or nearest, but got {other}"),
                ));
            }
        })
    }
}

fn quantile_of(
    op: &'static str,
    x: &Tensor,
    q: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    ignore_nan: bool,
) -> Result<Tensor> {
    let refuse = |detail: &str| Err(Error::shape(op, format!("{op}() {detail}")));
    if x.numel() == 0 {
        return refuse("input tensor must be non-empty");
    }
    if q.ndim() > 1 {
        return refuse("q must be a scalar or 1D tensor");
    }
    if !matches!(x.dtype(), DType::Float32 | DType::Float64) {
        return Err(Error::dtype(op, format!("{op}() input tensor must be either float or double dtype")));
    }
    if q.dtype() != x.dtype() {
        return Err(Error::dtype(op, format!("{op}() q tensor must be same dtype as the input tensor")));
    }
    let interpolation = Interpolation::of(op, interpolation)?;
    let kept = x.ndim();
    let axis = dim.map(|dim| wrap_dim(op, dim, kept)).transpose()?;

    // In order along the last axis, where each part has its place too.
    let x = match axis {
        None => view::reshape_to(x, &[x.numel()])?,
        Some(_) if kept == 0 => view::reshape_to(x, &[1])?,
        Some(axis) => x.transpose(axis as i64, -1)?,
    };
    let (sorted, _) = sort(&x, -1, false)?;
    let n = *sorted.sizes().last().expect("has an axis");
    let missing = sorted.detach().isnan()?;
    let zero = Tensor::number(Scalar::Int(0))?;
    let ranks = if ignore_nan {
        let numbers = missing.logical_not()?.sum_dims(&[-1], true)?;
        let last = cast(&numbers.sub(&Tensor::number(Scalar::Int(1))?)?, q.dtype())?;
        let ranks = q.mul(&last)?;
        ranks.masked_fill(&ranks.lt(&zero)?, &zero)?
    } else {
        // Where there is NaN it is last, and the result.
        let last = Tensor::number(Scalar::Int(n as i64 - 1))?;
        let ranks = q.mul(&last)?;
        let any = missing.any_dims(Some(&[-1]), true)?;
        if any.to_vec::<bool>().map_or(true, |any| any.contains(&true)) {
            ranks.masked_fill(&any, &last)?
        } else {
            let mut sizes: Vec<usize> = any.sizes().to_vec();
            *sizes.last_mut().expect("has an axis") = q.numel();
            view::expand_to(&ranks, &sizes)?
        }
    };
    let at = |ranks: &Tensor| sorted.gather(-1, &cast(&ranks.detach(), DType::Int64)?);
    let found = match interpolation {
        Interpolation::Lower => at(&ranks.floor()?)?,
        Interpolation::Higher => at(&ranks.ceil()?)?,
        Interpolation::Nearest => at(&ranks.round()?)?,
        Interpolation::Linear | Interpolation::Midpoint => {
            let below = ranks.detach().floor()?;
            let weight = if interpolation == Interpolation::Midpoint {
                Tensor::full(ranks.sizes(), Scalar::Float(0.5), ranks.dtype())?
            } else {
                ranks.sub(&below)?
            };
            at(&below)?.lerp(&at(&ranks.ceil()?)?, &weight)?
        }
    };

    // The axis of parts goes in front, the reduced one back to its place.
    let parts = view::movedim(&found, &[-1], &[0])?;
    let parts = match axis {
        Some(axis) if kept > 0 => {
            let whole = parts.unsqueeze(-1)?.transpose(axis as i64 + 1, -1)?;
            if keepdim { whole } else { whole.squeeze_dim(axis as i64 + 1)? }
        }
        _ if keepdim => {
            let mut sizes = vec![1; kept];
            sizes.insert(0, parts.sizes()[0]);
            view::reshape_to(&parts, &sizes)?
        }
        _ => parts,
    };
    if q.ndim() == 0 { parts.squeeze_dim(0) } else { Ok(parts) }
}

fn check_parts(op: &'static str, q: &Tensor) -> Result<()> {
    if q.is_batched() || !q.dtype().is_floating() || q.to_vec::<f64>()?.iter().all(|q| (0.0..=1.0).contains(q)) {
        return Ok(());
    }
    Err(Error::shape(op, format!("{op}() q values must be in the range [0, 1]")))
}

fn of_number(op: &'static str, input: &Tensor, q: f64) -> Result<Tensor> {
    if !(0.0..=1.0).contains(&q) {
        return Err(Error::shape(op, format!("{op}() q must be in the range [0, 1] but got {q}")));
    }
    Tensor::full(&[], Scalar::Float(q), input.dtype())
}

/// The elements at the fractions `q` of the sorted order of all elements.
///
/// Between two elements, `interpolation` decides. NaN, if there is one, is the result.
///
/// Args: `input` float32 or float64, with elements; `q` numbers from 0 to 1, a 0-dim tensor or a vector of the same
/// dtype; `dim` the dimension, None for all elements; `keepdim` keeps it with size 1; `interpolation` 'linear',
/// 'lower', 'higher', 'midpoint' or 'nearest'. Returns: a tensor without the dimension, with one in front for a vector
/// `q`. Derivative: `g` to the elements on both sides of the result, by their weights; for `q` their distance. Raises:
/// RuntimeError for other dtypes, no elements, or `q` outside 0 to 1; IndexError for a dimension out of range.
///
/// >>> rg.quantile(rg.tensor([3.0, 1.0, 2.0]), rg.tensor([0.5, 0.75])).tolist()
/// [2.0, 2.5]
#[op(function, method, out, norust, "(dim=None, keepdim=False, *, interpolation='linear')")]
pub fn quantile(input: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    check_parts("quantile", q)?;
    quantile_of("quantile", input, q, dim, keepdim, interpolation, false)
}

/// The element at the fraction `q` of the sorted order of all elements; see `quantile`.
///
/// >>> rg.quantile(rg.tensor([3.0, 1.0, 2.0]), 0.25).item()
/// 1.5
#[op(function, method, out, norust, name = "quantile", "(dim=None, keepdim=False, *, interpolation='linear')")]
pub fn quantile_number(input: &Tensor, q: f64, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    let q = of_number("quantile", input, q)?;
    quantile_of("quantile", input, &q, dim, keepdim, interpolation, false)
}

/// The quantiles of the elements that are numbers; see `quantile`. NaN only where there is no number.
///
/// >>> rg.nanquantile(rg.tensor([3.0, float('nan'), 2.0]), rg.tensor([0.0, 0.5])).tolist()
/// [2.0, 2.5]
#[op(function, method, out, norust, "(dim=None, keepdim=False, *, interpolation='linear')")]
pub fn nanquantile(input: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    check_parts("nanquantile", q)?;
    quantile_of("nanquantile", input, q, dim, keepdim, interpolation, true)
}

/// The quantile of the elements that are numbers; see `quantile`. NaN only where there is no number.
///
/// >>> rg.nanquantile(rg.tensor([3.0, float('nan'), 2.0]), 0.5).item()
/// 2.5
#[op(function, method, out, norust, name = "nanquantile", "(dim=None, keepdim=False, *, interpolation='linear')")]
pub fn nanquantile_number(
    input: &Tensor,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor> {
    let q = of_number("nanquantile", input, q)?;
    quantile_of("nanquantile", input, &q, dim, keepdim, interpolation, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let q = Tensor::from_slice(&[0.13, 0.61, 0.9], &[3]).unwrap();
        let x = noise(3, &[3, 4]);
        for interpolation in ["linear", "lower", "higher", "midpoint", "nearest"] {
            gradcheck(&|xs| quantile(&xs[0], &q, Some(0), false, interpolation)?.exp(), std::slice::from_ref(&x));
        }
        gradcheck(&|xs| quantile(&xs[0], &xs[1], None, true, "linear")?.exp(), &[x.clone(), q]);
        gradcheck(&|xs| nanquantile_number(&xs[0], 0.3, Some(1), true, "linear")?.exp(), &[x]);
    }

    #[test]
    fn nan_and_refusals() {
        let x = Tensor::from_slice(&[1.0, f64::NAN, 2.0, 0.0, 1.0, 3.0], &[2, 3]).unwrap();
        let found = quantile_number(&x, 0.5, Some(1), false, "linear").unwrap().to_vec::<f64>().unwrap();
        assert!(found[0].is_nan() && found[1] == 1.0);
        let found = nanquantile_number(&x, 0.5, Some(1), false, "linear").unwrap().to_vec::<f64>().unwrap();
        assert_eq!(found, [1.5, 1.0]);
        assert!(quantile_number(&x, 1.5, None, false, "linear").is_err());
        assert!(quantile_number(&x, 0.5, None, false, "middle").is_err());
        assert!(quantile_number(&Tensor::ones(&[2], DType::Int64).unwrap(), 0.5, None, false, "linear").is_err());
    }
}
