//! Differences of neighbours, and sums over them: `diff`, `trapezoid`, `cumulative_trapezoid`.

use retrograd_macros::op;

use super::ReduceAxes;
use super::sum::sum_of;
use crate::error::{Error, Result};
use crate::ops::memory::cloned;
use crate::ops::view;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Scalar, Tensor};

/// All elements along an axis but the first, and all but the last.
fn neighbours(x: &Tensor, axis: i64) -> Result<(Tensor, Tensor)> {
    let n = x.sizes()[axis as usize].saturating_sub(1) as i64;
    let start = i64::from(x.sizes()[axis as usize] > 0);
    Ok((x.narrow(axis, start, n)?, x.narrow(axis, 0, n)?))
}

/// Each element less the one before it, along a dimension; `n` times over.
///
/// Args: `input` any dtype; `n` how often; `dim` the dimension; `prepend`, `append` tensors put before and behind
/// first, of the sizes of `input` but along `dim`. Returns: a tensor with `n` elements less along the dimension; for
/// bool, whether neighbours differ. Derivative: the differences of `g` in turn. Raises: RuntimeError for a 0-dim
/// tensor, a negative `n`, or sizes that are incompatible; IndexError for a dimension out of range.
///
/// >>> rg.diff(rg.tensor([1, 3, 2])).tolist()
/// [2, -1]
#[op(function, method, out, "(n=1, dim=-1, prepend=None, append=None)")]
pub fn diff(input: &Tensor, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "diff";
    if input.ndim() == 0 {
        return Err(Error::shape(OP, "diff expects input to be at least one-dimensional"));
    }
    let axis = wrap_dim(OP, dim, input.ndim())?;
    for other in [prepend, append].into_iter().flatten() {
        if other.ndim() != input.ndim() {
            return Err(Error::shape(
                OP,
                format!(
                    "diff expects prepend or append to be the same dimension as input, got shapes {:?} and {:?}",
                    other.sizes(),
                    input.sizes()
                ),
            ));
        }
        if let Some(d) = (0..input.ndim()).find(|&d| d != axis && other.sizes()[d] != input.sizes()[d]) {
            return Err(Error::shape(
                OP,
                format!(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the differencing \
                     dimension; input.size({d}) = {}, but got tensor.size({d}) = {}",
                    input.sizes()[d],
                    other.sizes()[d]
                ),
            ));
        }
    }
    if n < 0 {
        return Err(Error::shape(OP, format!("order must be non-negative but got {n}")));
    }
    if n == 0 {
        return cloned(input);
    }
    let axis = axis as i64;
    let mut x = match (prepend, append) {
        (None, None) => input.clone(),
        _ => {
            let parts: Vec<Tensor> = [prepend, Some(input), append].into_iter().flatten().cloned().collect();
            view::cat(&parts, axis)?
        }
    };
    for _ in 0..n.min(x.sizes()[axis as usize] as i64) {
        let (later, sooner) = neighbours(&x, axis)?;
        x = if x.dtype() == DType::Bool { later.logical_xor(&sooner)? } else { later.sub(&sooner)? };
    }
    Ok(x)
}

fn number(x: f64) -> Result<Tensor> {
    Tensor::number(Scalar::Float(x))
}

fn check_bool(op: &'static str, names: &str, xs: &[&Tensor]) -> Result<()> {
    if xs.iter().any(|x| x.dtype() == DType::Bool) {
        return Err(Error::dtype(op, format!("received a bool input for {names}, but bool is not supported")));
    }
    Ok(())
}

/// The places of the samples, with as many axes as these.
fn places(op: &'static str, x: &Tensor, y: &Tensor, axis: usize) -> Result<Tensor> {
    let n = y.sizes()[axis];
    let x = if x.ndim() == 1 && y.ndim() != 1 {
        let mut sizes = vec![1; y.ndim()];
        sizes[axis] = x.numel();
        view::reshape_to(x, &sizes)?
    } else if x.ndim() < y.ndim() {
        let mut sizes = vec![1; y.ndim() - x.ndim()];
        sizes.extend_from_slice(x.sizes());
        view::reshape_to(x, &sizes)?
    } else {
        x.clone()
    };
    if x.sizes().get(axis) != Some(&n) {
        return Err(Error::shape(
            op,
            format!(
                "There must be one `x` value for each sample point: got shapes {:?} and {:?}, along dimension {axis}",
                x.sizes(),
                y.sizes()
            ),
        ));
    }
    Ok(x)
}

/// The axis of the samples.
fn samples(op: &'static str, y: &Tensor, dim: i64) -> Result<usize> {
    if y.ndim() == 0 {
        return Err(Error::index(op, format!("Dimension specified as {dim} but tensor has no dimensions")));
    }
    wrap_dim(op, dim, y.ndim())
}

/// Zeros in place of the sum over no samples; `None` if there are any.
fn over_none(y: &Tensor, axis: usize) -> Result<Option<Tensor>> {
    if y.sizes()[axis] > 0 {
        return Ok(None);
    }
    let mut sizes = y.sizes().to_vec();
    sizes.remove(axis);
    Tensor::zeros(&sizes, y.dtype()).map(Some)
}

/// The distance between samples, a real number.
fn spacing(op: &'static str, dx: Scalar) -> Result<f64> {
    match dx {
        Scalar::Int(_) | Scalar::Float(_) => Ok(dx.as_f64()),
        _ => Err(Error::shape(op, "Currently, we only support dx as a real number.")),
    }
}

/// The integral along a dimension of samples `y` taken at the places `x`, by the trapezoidal rule.
///
/// Args: `y` samples, any dtype but bool; `x` the places of all, or a vector of the places along `dim`; `dim` the
/// dimension. Returns: a tensor without the dimension. Derivative: that of the sum of `(x[i + 1] - x[i]) (y[i + 1] +
/// y[i]) / 2`. Raises: RuntimeError for bool and where places and samples are incompatible; IndexError for a dimension
/// out of range.
///
/// >>> rg.trapezoid(rg.tensor([1.0, 5.0, 10.0]), rg.tensor([0.0, 1.0, 3.0])).item()
/// 18.0
#[op(function, aliases("trapz"), "(*, dim=-1)")]
pub fn trapezoid(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    const OP: &str = "trapezoid";
    let axis = samples(OP, y, dim)?;
    if let Some(zeros) = over_none(y, axis)? {
        return Ok(zeros);
    }
    check_bool(OP, "`x` or `y`", &[x, y])?;
    let (x, axis) = (places(OP, x, y, axis)?, axis as i64);
    let ((x_right, x_left), (y_right, y_left)) = (neighbours(&x, axis)?, neighbours(y, axis)?);
    let areas = x_right.sub(&x_left)?.mul(&y_left.add(&y_right)?)?;
    sum_of(&areas, ReduceAxes::dim(OP, axis, areas.ndim(), false)?, None)?.div(&number(2.0)?)
}

/// As above, for samples at equal distances.
///
/// Args: `dx` the distance, a number; the rest as above.
///
/// >>> rg.trapezoid(rg.tensor([1.0, 5.0, 10.0]), dx=2).item()
/// 21.0
#[op(function, name = "trapezoid", aliases("trapz"), "(*, dx=1, dim=-1)")]
pub fn trapezoid_even(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    const OP: &str = "trapezoid";
    let axis = samples(OP, y, dim)?;
    if let Some(zeros) = over_none(y, axis)? {
        return Ok(zeros);
    }
    check_bool(OP, "`y`", &[y])?;
    let dx = spacing(OP, dx)?;
    let (axis, n) = (axis as i64, y.sizes()[axis] as i64);
    let ends = y.select(axis, 0)?.add(&y.select(axis, n - 1)?)?.mul(&number(0.5)?)?;
    sum_of(y, ReduceAxes::dim(OP, axis, y.ndim(), false)?, None)?.sub(&ends)?.mul(&number(dx)?)
}

/// The integrals up to each sample but the first, along a dimension, by the trapezoidal rule.
///
/// Args: `y` samples; `x` the places of all, or a vector of the places along `dim`; `dim` the dimension. Returns: a
/// tensor with one element less along the dimension. Derivative: that of the running sum of `(x[i + 1] - x[i]) (y[i +
/// 1] + y[i]) / 2`. Raises: RuntimeError for bool and where places and samples are incompatible; IndexError for a
/// dimension out of range.
///
/// >>> rg.cumulative_trapezoid(rg.tensor([1.0, 5.0, 10.0]), rg.tensor([0.0, 1.0, 3.0])).tolist()
/// [3.0, 18.0]
#[op(function, "(*, dim=-1)")]
pub fn cumulative_trapezoid(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    const OP: &str = "cumulative_trapezoid";
    let axis = samples(OP, y, dim)?;
    check_bool(OP, "`x` or `y`", &[x, y])?;
    let (x, axis) = (places(OP, x, y, axis)?, axis as i64);
    let ((x_right, x_left), (y_right, y_left)) = (neighbours(&x, axis)?, neighbours(y, axis)?);
    let areas = x_right.sub(&x_left)?.mul(&y_left.add(&y_right)?)?;
    areas.cumsum(axis, None)?.div(&number(2.0)?)
}

/// As above, for samples at equal distances.
///
/// Args: `dx` the distance, a number; the rest as above.
///
/// >>> rg.cumulative_trapezoid(rg.tensor([1.0, 5.0, 10.0]), dx=2).tolist()
/// [6.0, 21.0]
#[op(function, name = "cumulative_trapezoid", "(*, dx=1, dim=-1)")]
pub fn cumulative_trapezoid_even(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    const OP: &str = "cumulative_trapezoid";
    let axis = samples(OP, y, dim)?;
    check_bool(OP, "`y`", &[y])?;
    let dx = spacing(OP, dx)?;
    let (right, left) = neighbours(y, axis as i64)?;
    left.add(&right)?.mul(&number(dx / 2.0)?)?.cumsum(axis as i64, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (x, y) = (noise(1, &[3, 4]), noise(2, &[3, 2]));
        gradcheck(&|xs| xs[0].diff(2, 1, Some(&xs[1]), None)?.exp(), &[x.clone(), y]);
        gradcheck(&|xs| trapezoid(&xs[0], &xs[1], 0)?.exp(), &[x.clone(), noise(3, &[3])]);
        gradcheck(&|xs| trapezoid_even(&xs[0], Scalar::Float(0.5), -1)?.exp(), std::slice::from_ref(&x));
        gradcheck(&|xs| cumulative_trapezoid(&xs[0], &xs[1], -1)?.exp(), &[x.clone(), noise(4, &[3, 4])]);
        gradcheck(&|xs| cumulative_trapezoid_even(&xs[0], Scalar::Int(2), 0)?.exp(), &[x]);
    }

    #[test]
    fn few_samples() {
        for n in [0, 1] {
            let y = noise(1, &[2, n]);
            assert_eq!(trapezoid_even(&y, Scalar::Int(1), -1).unwrap().to_vec::<f64>().unwrap(), [0.0; 2]);
            assert_eq!(cumulative_trapezoid_even(&y, Scalar::Int(1), -1).unwrap().sizes(), [2, 0]);
            assert_eq!(y.diff(5, 1, None, None).unwrap().sizes(), [2, 0]);
        }
    }
}
