//! What rules of eigenvectors and singular vectors share: phases, and quotients by distances of values.
//!
//! Vectors of a complex matrix have an arbitrary phase each, and those of a repeated value may be any basis. A loss
//! that depends on a phase has no derivative, and is refused. A loss, or a tangent, that does not separate repeated
//! values has one, to which the pair of them adds nothing: numerator and distance are both 0, and so is their quotient
//! here. If it separates them there is no derivative, and the quotient is infinite or NaN.

use crate::error::{Error, Result};
use crate::ops::TensorOptions;
use crate::ops::create::eye;
use crate::ops::pointwise::select::where_;
use crate::tensor::{DType, Scalar, Tensor};

/// The elements of all entries.
fn elements(x: &Tensor) -> Result<Vec<f64>> {
    super::all_levels(x).to_vec::<f64>()
}

/// Refuses a loss that changes with phases: `a`, imaginary parts, must be about `b`, or 0 without it. As in torch, the
/// tolerance is large.
pub fn check_phases(a: &Tensor, b: Option<&Tensor>, message: &str) -> Result<()> {
    let off = match b {
        None => a.abs()?.plus(-1e-2)?,
        Some(b) => a.sub(b)?.abs()?.sub(&b.abs()?.times(1e-2)?)?.plus(-1e-2)?,
    };
    if elements(&off)?.iter().all(|&x| x <= 0.0) { Ok(()) } else { Err(Error::autograd(message)) }
}

/// The machine epsilon of a dtype.
pub fn epsilon(dtype: DType) -> f64 {
    if dtype.real() == DType::Float32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// True on the diagonal.
pub fn diagonal_mask(n: usize) -> Result<Tensor> {
    eye(n as i64, None, TensorOptions::from(DType::Bool))
}

/// Distances that count as 0, next to values of which `largest` is the magnitude.
pub fn vanishing(distances: &Tensor, largest: &Tensor) -> Result<Tensor> {
    let n = distances.sizes().last().copied().unwrap_or(1);
    distances.detach().abs()?.le(&largest.detach().times(n as f64 * epsilon(distances.dtype()))?)
}

/// Elements that are 0 but for rounding, next to the others of their matrix.
pub fn quiet(x: &Tensor) -> Result<Tensor> {
    let x = x.detach().abs()?;
    x.le(&x.amax(&[-2, -1], true)?.times(epsilon(x.dtype()).sqrt())?)
}

/// `x / distances`, and 0 where `none` says so.
pub fn over(x: &Tensor, distances: &Tensor, none: &Tensor) -> Result<Tensor> {
    let one = Tensor::full(&[], Scalar::Int(1), distances.dtype())?;
    let quotient = x.div(&where_(none, &one, distances)?)?;
    let zero = Tensor::full(&[], Scalar::Int(0), quotient.dtype())?;
    where_(none, &zero, &quotient)
}

/// `x[i, j] / (values[j] - values[i])`, 0 on the diagonal. A pair of repeated values for which `x` is quiet, and so is
/// the difference of their `weights`, counts nothing.
pub fn over_gaps(x: &Tensor, values: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
    let n = values.sizes().last().copied().unwrap_or(0);
    let differences = |v: &Tensor| v.unsqueeze(-2)?.sub(&v.unsqueeze(-1)?);
    let gaps = differences(values)?;
    if n == 0 || values.numel() == 0 {
        return x.div(&gaps);
    }
    let largest = values.detach().abs()?.amax(&[-1], true)?.unsqueeze(-1)?;
    let near = vanishing(&gaps, &largest)?;
    let mut none = diagonal_mask(n)?;
    let repeated = {
        let pairs = elements(&near)?;
        pairs.iter().sum::<f64>() > (pairs.len() / n) as f64
    };
    if repeated {
        let mut kept = near.logical_and(&quiet(x)?)?;
        if let Some(weights) = weights {
            kept = kept.logical_and(&quiet(&differences(weights)?.add(&zero_like(&gaps)?)?)?)?;
        }
        none = kept.logical_or(&none)?;
    }
    over(x, &gaps, &none)
}

fn zero_like(x: &Tensor) -> Result<Tensor> {
    Tensor::full(&[], Scalar::Int(0), x.dtype().real())
}
