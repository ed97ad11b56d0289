//! `gradient`: derivatives of sampled functions, by differences of neighbours.

use retrograd_macros::op;

use super::wrap_dims;
use crate::error::{Error, Result};
use crate::ops::view;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Scalar, Tensor};

const OP: &str = "gradient";

/// The axes of the derivatives, in the order of the results. `given` is the length of a list of spacings.
fn checked(x: &Tensor, given: Option<usize>, dim: Option<&[i64]>, edge_order: i64) -> Result<Vec<i64>> {
    if x.dtype() == DType::UInt8 {
        return Err(Error::dtype(OP, "torch.gradient does not support uint8 input."));
    }
    match (given, dim) {
        (Some(n), None) if n != x.ndim() => {
            return Err(Error::shape(
                OP,
                format!(
                    "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = {}', \
                     since dim argument was not given, but got a list of length {n}",
                    x.ndim()
                ),
            ));
        }
        (Some(n), Some(dim)) if n != dim.len() => {
            return Err(Error::shape(
                OP,
                format!(
                    "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same \
                     length, but got a spacing argument of length {n} and a dim argument of length {}.",
                    dim.len()
                ),
            ));
        }
        _ => {}
    }
    if !matches!(edge_order, 1 | 2) {
        return Err(Error::shape(
            OP,
            format!("torch.gradient only supports edge_order=1 and edge_order=2. Got {edge_order}"),
        ));
    }
    let axes: Vec<i64> = match dim {
        None => (0..x.ndim() as i64).collect(),
        Some(dims) => {
            wrap_dims(OP, dims, x.ndim())?;
            dims.iter().map(|&dim| Ok(wrap_dim(OP, dim, x.ndim())? as i64)).collect::<Result<_>>()?
        }
    };
    if let Some(axis) =
        axes.iter().find(|&&axis| x.sizes().get(axis as usize).is_none_or(|&n| (n as i64) <= edge_order))
    {
        return Err(Error::shape(
            OP,
            format!(
                "torch.gradient expected each dimension size to be at least edge_order+1: got shape {:?}, dimension {axis}",
                x.sizes()
            ),
        ));
    }
    Ok(axes)
}

/// The indices of an axis from `start` to before `end`, 0 for its end.
fn part(x: &Tensor, axis: i64, start: i64, end: i64) -> Result<Tensor> {
    x.slice(axis, Some(start), (end != 0).then_some(end), 1)
}

/// The weighted sum of parts.
fn weighted(parts: [(&Tensor, Tensor); 3]) -> Result<Tensor> {
    let [a, b, c] = parts.map(|(weight, x)| weight.mul(&x));
    a?.add(&b?)?.add(&c?)
}

/// Along an axis whose samples are equally far apart.
fn even(x: &Tensor, axis: i64, spacing: Scalar, edge_order: i64) -> Result<Tensor> {
    let spacing = Tensor::number(spacing)?;
    let part = |start, end| part(x, axis, start, end);
    let centre = part(2, 0)?.sub(&part(0, -2)?)?.div(&spacing)?.div(&Tensor::number(Scalar::Int(2))?)?;
    let (first, last) = if edge_order == 1 {
        (part(1, 2)?.sub(&part(0, 1)?)?, part(-1, 0)?.sub(&part(-2, -1)?)?)
    } else {
        let [few, two, many] = [0.5, 2.0, 1.5].map(|w| Tensor::number(Scalar::Float(w)));
        let (few, two, many) = (few?, two?, many?);
        let sum = |a: Tensor, b: Tensor, c: Tensor| two.mul(&b)?.sub(&many.mul(&a)?)?.sub(&few.mul(&c)?);
        (sum(part(0, 1)?, part(1, 2)?, part(2, 3)?)?, sum(part(-1, 0)?, part(-2, -1)?, part(-3, -2)?)?.neg()?)
    };
    view::cat(&[first.div(&spacing)?, centre, last.div(&spacing)?], axis)
}

/// Along an axis whose samples are at given places.
fn uneven(x: &Tensor, axis: i64, places: &Tensor, edge_order: i64) -> Result<Tensor> {
    let part = |start, end| part(x, axis, start, end);
    let steps = places.diff(1, 0, None, None)?;
    let mut sizes = vec![1; x.ndim()];
    sizes[axis as usize] = x.sizes()[axis as usize] - 2;
    let (left, right) = (self::part(&steps, 0, 0, -1)?, self::part(&steps, 0, 1, 0)?);
    let both = left.add(&right)?;
    let weight = |w: Tensor| view::reshape_to(&w, &sizes);
    let a = weight(right.neg()?.div(&left.mul(&both)?)?)?;
    let b = weight(right.sub(&left)?.div(&left.mul(&right)?)?)?;
    let c = weight(left.div(&right.mul(&both)?)?)?;
    let centre = weighted([(&a, part(0, -2)?), (&b, part(1, -1)?), (&c, part(2, 0)?)])?;
    let step = |i: i64| steps.select(0, i);
    let (first, last) = if edge_order == 1 {
        let first = part(1, 2)?.sub(&part(0, 1)?)?.div(&step(0)?)?;
        (first, part(-1, 0)?.sub(&part(-2, -1)?)?.div(&step(-1)?)?)
    } else {
        // The derivative, at the outermost of three places, of the parabola through their samples.
        let end = |near: Tensor, far: Tensor, outer: Tensor, middle: Tensor, inner: Tensor| {
            let both = near.add(&far)?;
            let a = near.times(2.0)?.add(&far)?.div(&near.mul(&both)?)?.neg()?;
            let b = both.div(&near.mul(&far)?)?;
            let c = near.neg()?.div(&far.mul(&both)?)?;
            weighted([(&a, outer), (&b, middle), (&c, inner)])
        };
        let first = end(step(0)?, step(1)?, part(0, 1)?, part(1, 2)?, part(2, 3)?)?;
        (first, end(step(-1)?, step(-2)?, part(-1, 0)?, part(-2, -1)?, part(-3, -2)?)?.neg()?)
    };
    view::cat(&[first, centre, last], axis)
}

/// The derivatives of a function by the axes of a grid, from its samples there: differences of the neighbours on both
/// sides, and at both ends of an axis one-sided ones.
///
/// Args: `input` samples, any dtype but bool and uint8, with `edge_order + 1` or more along each axis; `spacing` the
/// distance of neighbours, None for 1; `dim` an axis or several, None for all; `edge_order` 1 takes the difference of
/// two samples at the ends, 2 the slope of the parabola through three. Returns: a tuple with a tensor of the shape of
/// `input` for each axis; integers are divided as floats. Derivative: that of the differences. Raises: IndexError for
/// an axis out of range; RuntimeError for too few samples, an axis named twice, or another `edge_order`.
///
/// >>> [d.tolist() for d in rg.gradient(rg.tensor([0.0, 1.0, 4.0, 9.0]))]
/// [[1.0, 2.0, 4.0, 5.0]]
#[op(function, "(*, spacing=None, dim=None, edge_order=1)")]
pub fn gradient(input: &Tensor, spacing: Option<Scalar>, dim: Option<&[i64]>, edge_order: i64) -> Result<Vec<Tensor>> {
    let axes = checked(input, None, dim, edge_order)?;
    axes.iter().map(|&axis| even(input, axis, spacing.unwrap_or(Scalar::Int(1)), edge_order)).collect()
}

/// As above, with a distance for each axis.
///
/// Args: `spacing` a list of numbers, one for each axis of `dim`; the rest as above. Raises: RuntimeError for a list of
/// another length.
///
/// >>> rg.gradient(rg.tensor([0.0, 1.0, 4.0]), spacing=[0.5])[0].tolist()
/// [2.0, 4.0, 6.0]
#[op(function, name = "gradient", "(*, spacing, dim=None, edge_order=1)")]
pub fn gradient_steps(input: &Tensor, spacing: &[f64], dim: Option<&[i64]>, edge_order: i64) -> Result<Vec<Tensor>> {
    let axes = checked(input, Some(spacing.len()), dim, edge_order)?;
    axes.iter().zip(spacing).map(|(&axis, &step)| even(input, axis, Scalar::Float(step), edge_order)).collect()
}

/// As above, for samples at any places.
///
/// Args: `spacing` a vector of the places for each axis of `dim`; the rest as above. Derivative: for the places, too.
/// Raises: RuntimeError for places that are no vectors, or of another number than the samples.
///
/// >>> rg.gradient(rg.tensor([0.0, 1.0, 9.0]), spacing=[rg.tensor([0.0, 1.0, 3.0])])[0].tolist()
/// [1.0, 2.0, 4.0]
#[op(function, name = "gradient", "(*, spacing, dim=None, edge_order=1)")]
pub fn gradient_places(
    input: &Tensor,
    spacing: &[Tensor],
    dim: Option<&[i64]>,
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    let axes = checked(input, Some(spacing.len()), dim, edge_order)?;
    let along = |(&axis, places): (&i64, &Tensor)| {
        if places.ndim() != 1 {
            return Err(Error::shape(
                OP,
                format!(
                    "torch.gradient expected each element of spacing to have one dimension, but got an element with {} dimensions!",
                    places.ndim()
                ),
            ));
        }
        if places.numel() != input.sizes()[axis as usize] {
            return Err(Error::shape(
                OP,
                format!(
                    "expected as many places as samples, but got {} and {} for dimension {axis}",
                    places.numel(),
                    input.sizes()[axis as usize]
                ),
            ));
        }
        uneven(input, axis, places, edge_order)
    };
    axes.iter().zip(spacing).map(along).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[4, 3]);
        let places = Tensor::from_slice(&[0.0, 0.5, 2.0, 2.7], &[4]).unwrap();
        for order in [1, 2] {
            gradcheck(&|xs| gradient(&xs[0], None, None, order)?[1].exp(), std::slice::from_ref(&x));
            let f = |xs: &[Tensor]| gradient_places(&xs[0], &xs[1..], Some(&[0]), order)?[0].exp();
            gradcheck(&f, &[x.clone(), places.clone()]);
        }
        assert!(gradient(&x, None, None, 3).is_err() && gradient_steps(&x, &[1.0], None, 1).is_err());
    }
}
