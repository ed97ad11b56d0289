//! Covariances and correlations of variables, the rows of a matrix, over observations, its columns.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::ops::pointwise::polar::complex;
use crate::ops::view;
use crate::tensor::{DType, Scalar, Tensor};
use crate::warn::warn;

fn zero() -> Result<Tensor> {
    Tensor::number(Scalar::Int(0))
}

fn check_dims(op: &'static str, x: &Tensor) -> Result<()> {
    if x.ndim() <= 2 {
        return Ok(());
    }
    let detail = format!("{op}(): expected input to have two or fewer dimensions but got an input with");
    Err(Error::shape(op, format!("{detail} {} dimensions", x.ndim())))
}

/// Refuses weights of other dims, dtypes or sizes, and negative ones.
fn check_weights(name: &str, weights: &Tensor, observations: usize, kind: &str, fits: bool) -> Result<()> {
    let refused = |detail: String| Err(Error::shape("cov", format!("cov(): {detail}")));
    if weights.ndim() > 1 {
        return refused(format!(
            "expected {name} to have one or fewer dimensions but got {name} with {} dimensions",
            weights.ndim()
        ));
    }
    if !fits {
        let dtype = weights.dtype().scalar_type_name();
        return refused(format!("expected {name} to have {kind} dtype but got {name} with {dtype} dtype"));
    }
    if weights.numel() != observations {
        return refused(format!(
            "expected {name} to have the same numel as there are observations in the input but got {} != \
             {observations}",
            weights.numel()
        ));
    }
    if weights.detach().lt(&zero()?)?.any()?.is_nonzero()? {
        return refused(format!("{name} cannot be negative"));
    }
    Ok(())
}

/// The covariances of variables, the rows of `input`, over observations, its columns.
///
/// Args: `input` any dtype but bool, of at most 2 dims, a vector being one variable; `correction` what is taken off the
/// number of observations; `fweights` how often each observation counts, integers; `aweights` its weight, floats.
/// Returns: a matrix, 0-dim for one variable; integers are divided as floats. Derivative: that of the products that it
/// is composed of. Raises: RuntimeError for more dims, bool, and for weights of another size or dtype, negative ones,
/// or ones that sum to 0. Warns if `correction` leaves no degree of freedom.
///
/// >>> rg.cov(rg.tensor([[1.0, 3.0], [2.0, 6.0]])).tolist()
/// [[2.0, 4.0], [4.0, 8.0]]
#[op(function, method, "(*, correction=1, fweights=None, aweights=None)")]
pub fn cov(input: &Tensor, correction: i64, fweights: Option<&Tensor>, aweights: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "cov";
    check_dims(OP, input)?;
    if input.dtype() == DType::Bool {
        return Err(Error::dtype(OP, "cov(): bool dtype is not supported for input"));
    }
    let x = if input.ndim() < 2 { view::reshape_to(input, &[1, input.numel()])? } else { input.clone() };
    let observations = x.sizes()[1];
    if let Some(w) = fweights {
        check_weights("fweights", w, observations, "integral", w.dtype().is_integral() && w.dtype() != DType::Bool)?;
    }
    if let Some(w) = aweights {
        check_weights("aweights", w, observations, "floating point", w.dtype().is_floating())?;
    }
    let weights = match (fweights, aweights) {
        (Some(f), Some(a)) => Some(f.mul(a)?),
        (f, a) => f.or(a).cloned(),
    };
    let weighted = |x: &Tensor| weights.as_ref().map_or_else(|| Ok(x.clone()), |w| x.mul(w));
    let total = match &weights {
        Some(w) => w.sum(None)?,
        None => Tensor::number(Scalar::Int(observations as i64))?,
    };
    if weights.is_some() && observations > 0 && total.detach().eq(&zero()?)?.any()?.is_nonzero()? {
        return Err(Error::shape(OP, "cov(): weights sum to zero, can't be normalized"));
    }
    let mean = weighted(&x)?.sum_dims(&[1], false)?.div(&total)?;
    // Known without a look at elements, unless there are weights.
    let (mut freedom, none) = match (&weights, aweights) {
        (None, _) => {
            let left = observations as i64 - correction;
            (Tensor::number(Scalar::Int(left))?, left <= 0)
        }
        (Some(w), a) => {
            let taken = match a {
                Some(a) if correction != 0 => w.mul(a)?.sum(None)?.div(&total)?.times(correction)?,
                _ => Tensor::number(Scalar::Int(correction))?,
            };
            let left = total.sub(&taken)?;
            let none = left.detach().le(&zero()?)?.is_nonzero()?;
            (left, none)
        }
    };
    if none {
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")?;
        freedom = zero()?;
    }
    let x = x.sub(&mean.unsqueeze(1)?)?;
    x.matmul(&weighted(&x)?.t()?.conj()?)?.div(&freedom)?.squeeze_all()
}

/// The correlations of variables, the rows of `input`, over observations, its columns.
///
/// Args: `input` any dtype but bool, of at most 2 dims, a vector being one variable. Returns: a matrix, 0-dim for one
/// variable, with parts from -1 to 1. Derivative: that of the covariances over the deviations. Raises: RuntimeError for
/// more dims and for bool.
///
/// >>> rg.corrcoef(rg.tensor([[1.0, 3.0], [6.0, 2.0]])).tolist()
/// [[1.0, -1.0], [-1.0, 1.0]]
#[op(function, method)]
pub fn corrcoef(input: &Tensor) -> Result<Tensor> {
    check_dims("corrcoef", input)?;
    let c = cov(input, 1, None, None)?;
    if c.ndim() == 0 {
        return c.div(&c);
    }
    let variances = c.diagonal(0, 0, 1)?;
    let is_complex = c.dtype().is_complex();
    let deviations = if is_complex { view::real(&variances)? } else { variances }.sqrt()?;
    let c = c.div(&deviations.unsqueeze(1)?)?.div(&deviations)?;
    let (low, high) = (Tensor::number(Scalar::Int(-1))?, Tensor::number(Scalar::Int(1))?);
    let within = |x: &Tensor| x.clamp(Some(&low), Some(&high));
    if is_complex { complex(&within(&view::real(&c)?)?, &within(&view::imag(&c)?)?) } else { within(&c) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let weights = noise(2, &[5]).square().unwrap().plus(0.1).unwrap();
        gradcheck(&|x| cov(&x[0], 1, None, None), &[noise(1, &[3, 5])]);
        gradcheck(&|x| cov(&x[0], 1, None, Some(&x[1])), &[noise(1, &[3, 5]), weights]);
        gradcheck(&|x| cov(&x[0], 0, None, None), &[noise(1, &[4])]);
        gradcheck(&|x| corrcoef(&x[0])?.square(), &[noise(1, &[3, 5])]);
    }
}
