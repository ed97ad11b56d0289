//! Some of the order: topk, kthvalue.

use retrograd_macros::op;

use super::selection::{Choose, along, size_along};
use crate::error::{Error, Result};
use crate::kernels::OutOfMemory;
use crate::kernels::sort::{First, Key, Keys, Pick};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dtypes, Tensor};

/// `topk`. The elements chosen are always sorted.
#[derive(Clone, Debug)]
struct TopK {
    k: usize,
    largest: bool,
}

impl Choose for TopK {
    const NAME: &'static str = "topk";
    fn node(&self) -> &'static str {
        "TopkBackward0"
    }
    fn count(&self, _: usize) -> usize {
        self.k
    }
}

impl Pick for TopK {
    fn falling(&self) -> bool {
        self.largest
    }
    fn needs(&self, _: usize) -> usize {
        self.k
    }
    fn in_order(&self) -> Option<First> {
        Some(First::At(0))
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<(), OutOfMemory> {
        keys.sort_first(self.k)
    }
}

/// The `k` greatest (or smallest) elements along a dimension, and their indices.
///
/// Of equal elements the first ones are taken. NaN counts as greater than every number.
///
/// Args: `input` any real dtype but bool; `k` how many; `dim` the dimension; `largest` False for the smallest; `sorted`
/// is accepted for compatibility with torch, the elements come in order either way. Returns: `(values, indices)` with
/// size `k` along the dimension, indices in int64. Derivative: `g` to the indices. Raises: RuntimeError if there are
/// fewer than `k`, and for bool; IndexError for a dimension out of range.
///
/// >>> values, indices = rg.topk(rg.tensor([3.0, 1.0, 2.0]), 2)
/// >>> values.tolist(), indices.tolist()
/// ([3.0, 2.0], [0, 2])
#[op(function, method, out = SAME, fields("values", "indices"), "(dim=-1, largest=True, sorted=True)")]
pub fn topk(input: &Tensor, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)> {
    let _ = sorted;
    if input.dtype() == DType::Bool || input.dtype().is_complex() {
        return Err(Error::dtype(
            "topk",
            format!(
                "topk does not support {} dtypes on CPU: convert with .to(uint8) or take the real part",
                if input.dtype().is_complex() { "complex" } else { "bool" }
            ),
        ));
    }
    let n = input.sizes().get(wrap_dim("topk", dim, input.ndim())?).copied().unwrap_or(1);
    let k = usize::try_from(k).ok().filter(|&k| k <= n).ok_or_else(|| {
        Error::shape("topk", format!("selected index k out of range: k is {k}, the dimension has {n} elements"))
    })?;
    // As in torch, the one element of a tensor without dims is there whatever is asked for.
    let k = if input.ndim() == 0 { 1 } else { k };
    along(TopK { k, largest }, input, dim)
}

/// `kthvalue`.
#[derive(Clone, Debug)]
struct Kth {
    /// From 0.
    k: usize,
    keepdim: bool,
}

impl Choose for Kth {
    const NAME: &'static str = "kthvalue";
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    const KERNEL: &'static str = "kthvalue_cpu";
    fn node(&self) -> &'static str {
        "KthvalueBackward0"
    }
    fn count(&self, _: usize) -> usize {
        1
    }
    fn keepdim(&self) -> Option<bool> {
        Some(self.keepdim)
    }
}

impl Pick for Kth {
    fn needs(&self, _: usize) -> usize {
        self.k + 1
    }
    fn in_order(&self) -> Option<First> {
        Some(First::At(self.k))
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<(), OutOfMemory> {
        keys.bring(self.k);
        Ok(())
    }
}

/// The `k`-th smallest element along a dimension, and its index.
///
/// Args: `input` any real dtype but bool; `k` from 1; `dim` the dimension, the last by default; `keepdim` keeps it with
/// size 1. Returns: `(values, indices)`, indices in int64. Derivative: `g` to the index. Raises: RuntimeError if `k` is
/// out of range; IndexError for a dimension out of range or of size 0; NotImplementedError for bool.
///
/// >>> values, indices = rg.kthvalue(rg.tensor([3.0, 1.0, 2.0]), 2)
/// >>> values.item(), indices.item()
/// (2.0, 2)
#[op(
    function, method,
    out = OutDtype::Same(&[
        "output values must be of same type as input",
        "output indices must be of scalar type {Result}",
    ]),
    fields("values", "indices"), "(dim=-1, keepdim=False)"
)]
pub fn kthvalue(input: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let n = size_along("kthvalue", input, dim)?;
    if k < 1 || k > n as i64 {
        return Err(Error::shape(
            "kthvalue",
            format!("kthvalue(): selected number k out of range for dimension {dim}: k is {k}, of {n} elements"),
        ));
    }
    along(Kth { k: k as usize - 1, keepdim }, input, dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = [noise(6, &[4, 3])];
        gradcheck(&|xs| xs[0].topk(2, 0, true, true)?.0.exp(), &x);
        gradcheck(&|xs| xs[0].topk(3, 1, false, true)?.0.exp(), &x);
        gradcheck(&|xs| xs[0].kthvalue(2, 0, true)?.0.exp(), &x);
        gradcheck(&|xs| xs[0].kthvalue(2, -1, false)?.0.exp(), &x);
        gradcheck(&|xs| xs[0].kthvalue(1, 0, false)?.0.exp(), &[noise(7, &[])]);
    }

    #[test]
    fn the_first_of_equal_elements_is_taken() {
        let x = Tensor::from_slice(&[1i64, 3, 2, 3, 1], &[5]).unwrap();
        assert_eq!(x.topk(3, 0, true, true).unwrap().1.to_vec::<i64>().unwrap(), [1, 3, 2]);
        assert_eq!(x.topk(1, 0, false, false).unwrap().1.to_vec::<i64>().unwrap(), [0]);
        assert_eq!(x.kthvalue(2, 0, false).unwrap().1.to_vec::<i64>().unwrap(), [4]);
        assert_eq!(x.topk(0, 0, true, true).unwrap().0.sizes(), [0]);
        assert!(x.topk(6, 0, true, true).is_err() && x.topk(-1, 0, true, true).is_err());
        assert!(x.kthvalue(0, 0, true).is_err() && x.kthvalue(6, 0, true).is_err() && x.kthvalue(1, 1, true).is_err());
        let none = Tensor::empty(&[2, 0], DType::Float32).unwrap();
        assert!(none.kthvalue(1, 1, false).is_err());
        assert_eq!(none.kthvalue(2, 0, false).unwrap().0.sizes(), [0]);
    }
}
