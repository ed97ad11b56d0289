//! sort, argsort, msort.

use retrograd_macros::op;

use super::selection::{Choose, along};
use crate::error::{Error, Result};
use crate::kernels::OutOfMemory;
use crate::kernels::sort::{First, Key, Keys, Pick};
use crate::tensor::Tensor;

/// `sort`. Always stable: equal elements keep their order.
#[derive(Clone, Debug)]
struct Sort {
    descending: bool,
    /// Stability was asked about, which gives the node another name.
    asked: bool,
}

impl Choose for Sort {
    const NAME: &'static str = "sort";
    const KEEPS_LAYOUT: bool = true;
    fn node(&self) -> &'static str {
        if self.asked { "SortBackward1" } else { "SortBackward0" }
    }
    fn count(&self, n: usize) -> usize {
        n
    }
}

impl Pick for Sort {
    fn falling(&self) -> bool {
        self.descending
    }
    fn in_order(&self) -> Option<First> {
        Some(First::At(0))
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<(), OutOfMemory> {
        keys.sort()
    }
}

fn sorted(x: &Tensor, asked: bool, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    if x.dtype().is_complex() {
        return Err(Error::dtype("sort", "Sort does not support complex dtypes on CPU: complex numbers have no order"));
    }
    along(Sort { descending, asked }, x, dim)
}

/// The elements in order along a dimension, and the indices where they were.
///
/// Equal elements keep their order. NaN counts as greater than every number.
///
/// Args: `input` any real dtype; `dim` the dimension, the last by default; `descending` puts the greatest first;
/// `stable` changes nothing. Returns: `(values, indices)`, both of the shape of `input`, indices in int64. Derivative:
/// `g` to the indices.
/// Raises: IndexError for a dimension out of range; RuntimeError for complex dtypes.
///
/// >>> values, indices = rg.sort(rg.tensor([3.0, 1.0, 2.0]))
/// >>> values.tolist(), indices.tolist()
/// ([1.0, 2.0, 3.0], [1, 2, 0])
#[op(function, method, out = SAME, fields("values", "indices"), "(dim=-1, descending=False)")]
pub fn sort(input: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    sorted(input, false, dim, descending)
}

/// `sort` with a word on whether it is to be `stable`, which it is either way.
///
/// >>> rg.sort(rg.tensor([1.0, 0.0, 1.0]), stable=True, descending=True).indices.tolist()
/// [0, 2, 1]
#[op(function, method, out = SAME, name = "sort", fields("values", "indices"), "(*, stable, dim=-1, descending=False)")]
pub fn sort_stable(input: &Tensor, stable: Option<bool>, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    let _ = stable;
    sorted(input, true, dim, descending)
}

/// The indices that put `input` in order along a dimension; see `sort`.
///
/// Args: as `sort`. Returns: indices in int64, of the shape of `input`; they carry no gradient.
///
/// >>> rg.argsort(rg.tensor([3.0, 1.0, 2.0])).tolist()
/// [1, 2, 0]
#[op(function, method, "(dim=-1, descending=False)")]
pub fn argsort(input: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(sorted(&input.detach(), false, dim, descending)?.1)
}

/// `argsort` with a word on whether it is to be `stable`, which it is either way.
///
/// >>> rg.argsort(rg.tensor([1.0, 0.0, 1.0]), stable=True).tolist()
/// [1, 0, 2]
#[op(function, method, out, name = "argsort", "(*, stable, dim=-1, descending=False)")]
pub fn argsort_stable(input: &Tensor, stable: bool, dim: i64, descending: bool) -> Result<Tensor> {
    let _ = stable;
    Ok(sorted(&input.detach(), true, dim, descending)?.1)
}

/// The elements in rising order along the first dimension.
///
/// Args: `input` any real dtype. Returns: a tensor of the shape of `input`. Derivative: `g` to the indices. Raises:
/// RuntimeError for complex dtypes.
///
/// >>> rg.msort(rg.tensor([[3.0, 1.0], [2.0, 4.0]])).tolist()
/// [[2.0, 1.0], [3.0, 4.0]]
#[op(function, method, out = SAME)]
pub fn msort(input: &Tensor) -> Result<Tensor> {
    Ok(sorted(input, false, 0, false)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DType, Scalar};
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[0, 2], &[3, 4], &[2, 3, 2]] {
            let x = [noise(5, sizes)];
            gradcheck(&|xs| xs[0].sort(0, false)?.0.exp(), &x);
            gradcheck(&|xs| xs[0].sort(-1, true)?.0.exp(), &x);
            gradcheck(&|xs| xs[0].msort()?.exp(), &x);
        }
    }

    #[test]
    fn nan_comes_last_and_zeros_are_equal() {
        let x = Tensor::from_slice(&[f32::NAN, 0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, -1.0], &[7]).unwrap();
        assert_eq!(x.argsort(0, false).unwrap().to_vec::<i64>().unwrap(), [6, 1, 2, 3, 5, 0, 4]);
        assert_eq!(x.argsort(0, true).unwrap().to_vec::<i64>().unwrap(), [0, 4, 5, 3, 1, 2, 6]);
        let truth = Tensor::from_slice(&[true, false, true], &[3]).unwrap();
        assert_eq!(truth.sort(0, false).unwrap().1.to_vec::<i64>().unwrap(), [1, 0, 2]);
    }

    #[test]
    fn results_lie_as_the_operand_does() {
        let x = noise(1, &[2, 3]).transpose(0, 1).unwrap();
        let (values, indices) = x.sort(0, false).unwrap();
        assert!(values.strides() == [1, 3] && indices.strides() == [1, 3]);
        let c = Tensor::full(&[2], Scalar::Int(0), DType::Complex64).unwrap();
        assert!(c.sort(0, false).is_err() && x.sort(2, false).is_err());
    }
}
