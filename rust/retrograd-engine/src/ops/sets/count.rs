//! Counting integers, and integers as places: `bincount`, `unravel_index`.

use retrograd_macros::op;

use super::no_derivative;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::error::{Error, Result};
use crate::kernels::real::Ring;
use crate::kernels::strided::read_once;
use crate::ops::index::dynamic_shape;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Tensor};

/// `bincount`, of numbers alone or with a weight of each.
#[derive(Clone, Debug)]
struct BinCount {
    least: usize,
}

/// The largest of some numbers as if they had no sign: if one is negative, it is beyond all that are not.
fn largest(bins: &[i64]) -> u64 {
    // Four at a time, so that none waits for the one before: 0.23 ms for a million instead of 0.9.
    let (fours, rest) = bins.as_chunks::<4>();
    let mut most = [0; 4];
    for four in fours {
        most.iter_mut().zip(four).for_each(|(most, &b)| *most = b.cast_unsigned().max(*most));
    }
    most.into_iter().chain(rest.iter().map(|b| b.cast_unsigned())).max().unwrap_or(0)
}

/// Adds 1 to the place of each number.
fn count(bins: &[i64], places: &mut [i64]) {
    for bin in bins {
        // S6: numbers that are no places have been refused, unless they were written meanwhile.
        if let Some(place) = places.get_mut(read_once(bin) as usize) {
            *place += 1;
        }
    }
}

/// `sums[bins[i]] += weights[i]`.
fn add_up<T: Ring>(bins: &[i64], weights: &[T], sums: &mut [T]) {
    for (bin, &weight) in bins.iter().zip(weights) {
        // S6: as in `count`.
        if let Some(sum) = sums.get_mut(read_once(bin) as usize) {
            *sum = sum.add(weight);
        }
    }
}

fn weighed<T: Ring + Element>(bins: &[i64], weights: &Tensor, n: usize) -> Result<Tensor> {
    let weights = copy::contiguous(&copy::cast(weights, T::DTYPE)?)?;
    Tensor::build::<T>(&[n], |sums| {
        sums.fill(T::ZERO);
        add_up(bins, weights.as_slice::<T>().expect("contiguous and of this dtype"), sums);
    })
}

impl Primitive for BinCount {
    const NAME: &'static str = "bincount";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::INTS;
    const BATCH: Batch<Self> = Batch::Rule(|_, _, _, _| Err(dynamic_shape("bincount")));
    fn inputs(&self) -> u32 {
        0b10
    }
    fn kernel_name(&self) -> &'static str {
        "bincount_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let bins = copy::contiguous(&copy::cast(xs[0], DType::Int64)?)?;
        let bins = bins.as_slice::<i64>().expect("contiguous and of this dtype");
        let most = largest(bins);
        if most > i64::MAX.cast_unsigned() {
            return Err(refused(format!("got the number {}", bins.iter().min().unwrap_or(&0))));
        }
        let n = if bins.is_empty() { self.least } else { self.least.max(most as usize + 1) };
        let counts = match xs.get(1).filter(|_| !bins.is_empty()) {
            None => {
                let counts = Tensor::zeros(&[n], DType::Int64)?;
                if !bins.is_empty() {
                    // SAFETY: S1 to S3: fresh and contiguous, of `n` elements; nobody else has the storage yet.
                    let places = unsafe { std::slice::from_raw_parts_mut(counts.ptr::<i64>(), n) };
                    count(bins, places);
                }
                counts
            }
            Some(weights) if weights.dtype() == DType::Float32 => weighed::<f32>(bins, weights, n)?,
            Some(weights) => weighed::<f64>(bins, weights, n)?,
        };
        Ok(out(counts))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, REMEDY)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(Self::NAME, REMEDY));
}

const REMEDY: &str = "add the weights up with index_add, which has one";

fn refused(detail: String) -> Error {
    Error::shape("bincount", format!("bincount only supports 1-d non-negative integral inputs: {detail}"))
}

/// How often each of the numbers 0, 1, 2, ... occurs; or the sum of the weights of its occurrences.
///
/// Args: `input` a vector of integers, none negative; `weights` a vector of the same length; `minlength` the least
/// length of the result. Returns: a vector as long as the largest number and one more: int64 without weights (or
/// numbers), float32 with weights of float32, else float64. Derivative: not implemented, as in torch. Raises:
/// RuntimeError for negative numbers, other shapes, a negative `minlength`; NotImplementedError for floats and bool.
///
/// >>> rg.bincount(rg.tensor([1, 3, 1])).tolist()
/// [0, 2, 0, 1]
#[op(function, method, "(weights=None, minlength=0)")]
pub fn bincount(input: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    const OP: &str = "bincount";
    let least = usize::try_from(minlength)
        .map_err(|_| Error::shape(OP, format!("minlength should be >= 0, got {minlength}")))?;
    if input.ndim() != 1 {
        return Err(refused(format!("got shape {:?}", input.sizes())));
    }
    if let Some(w) = weights.filter(|w| w.sizes() != input.sizes()) {
        return Err(Error::shape(
            OP,
            format!(
                "weights should be 1-d and have the same length as input, got shapes {:?} and {:?}",
                w.sizes(),
                input.sizes()
            ),
        ));
    }
    match weights {
        None => apply1(BinCount { least }, &[input]),
        Some(w) => apply1(BinCount { least }, &[input, w]),
    }
}

/// The indices along each axis of the places that numbers have in a tensor, counted row by row.
///
/// Args: `indices` a tensor of integers; `shape` the sizes of the tensor. Returns: a tuple of tensors like `indices`,
/// in int64, one per axis. Raises: TypeError if `indices` has no integers; ValueError for a negative size.
///
/// >>> rg.unravel_index(rg.tensor([5, 7]), (2, 4))
/// (tensor([1, 1]), tensor([1, 3]))
#[op(function)]
pub fn unravel_index(indices: &Tensor, shape: &[i64]) -> Result<Vec<Tensor>> {
    const OP: &str = "unravel_index";
    if !indices.dtype().is_integral() || indices.dtype() == DType::Bool {
        return Err(Error::type_error(
            OP,
            format!("expected 'indices' to be integer dtype, but got {}", indices.dtype().name()),
        ));
    }
    if shape.iter().any(|&n| n < 0) {
        return Err(Error::value(OP, format!("'shape' cannot have negative values, but got {shape:?}")));
    }
    let indices = crate::ops::memory::cast(indices, DType::Int64)?;
    // Wraps only where an axis is empty or memory could not hold the tensor.
    let steps = (0..shape.len()).map(|axis| shape[axis + 1..].iter().fold(1i64, |n, &size| n.wrapping_mul(size)));
    steps
        .zip(shape)
        .map(|(step, &size)| {
            if indices.numel() == 0 {
                return Ok(indices.clone());
            }
            let number = |n: i64| Tensor::number(n.into());
            crate::ops::pointwise::floor_divide(&indices, &number(step)?)?.remainder(&number(size)?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let ints = |v: &[i64]| Tensor::from_slice(v, &[v.len()]).unwrap();
        assert_eq!(ints(&[1, 3, 1]).bincount(None, 0).unwrap().to_vec::<i64>().unwrap(), [0, 2, 0, 1]);
        assert_eq!(ints(&[]).bincount(None, 2).unwrap().to_vec::<i64>().unwrap(), [0, 0]);
        let w = Tensor::from_slice(&[0.5f32, 1.0, 2.0], &[3]).unwrap();
        let sums = ints(&[1, 0, 1]).bincount(Some(&w), 3).unwrap();
        assert_eq!((sums.dtype(), sums.to_vec::<f32>().unwrap()), (DType::Float32, vec![1.0, 2.5, 0.0]));
        assert!(ints(&[-1]).bincount(None, 0).is_err() && w.bincount(None, 0).is_err());
        assert!(ints(&[i64::MAX]).bincount(None, 0).is_err());
        for at in 0..9 {
            let mut list = [4i64, 0, 2, 2, 1, 0, 3, 5, 4];
            list[at] = 7;
            let want = (0..8).map(|i| list.iter().filter(|&&b| b == i).count() as i64).collect::<Vec<_>>();
            assert_eq!(ints(&list).bincount(None, 0).unwrap().to_vec::<i64>().unwrap(), want);
            let twice: Vec<i64> = list.iter().flat_map(|&b| [b, -1]).collect();
            let (strided, narrow) = (ints(&twice).slice(0, None, None, 2).unwrap(), cast_to_int32(&ints(&list)));
            assert_eq!(strided.bincount(None, 0).unwrap().to_vec::<i64>().unwrap(), want);
            assert_eq!(narrow.bincount(None, 0).unwrap().to_vec::<i64>().unwrap(), want);
            list[at] = -7;
            assert!(ints(&list).bincount(None, 0).unwrap_err().to_string().contains("got the number -7"));
        }
    }

    fn cast_to_int32(x: &Tensor) -> Tensor {
        copy::cast(x, DType::Int32).unwrap()
    }

    #[test]
    fn places() {
        let x = Tensor::from_slice(&[5i32, 7, -1], &[3]).unwrap();
        let at = unravel_index(&x, &[2, 4]).unwrap();
        assert_eq!(at[0].to_vec::<i64>().unwrap(), [1, 1, 1]);
        assert_eq!(at[1].to_vec::<i64>().unwrap(), [1, 3, 3]);
        assert!(unravel_index(&x, &[-2]).is_err() && unravel_index(&x, &[]).unwrap().is_empty());
    }
}
