//! `hash_tensor`: the bits of elements, combined.

use retrograd_macros::op;

use super::ReduceAxes;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::ops::view::permute;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Tensor};

const OP: &str = "hash_tensor";

/// `hash_tensor` of numbers in float64 or int64.
#[derive(Clone, Debug)]
struct Hash {
    over: ReduceAxes,
}

impl Primitive for Hash {
    const NAME: &'static str = OP;
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::Loops;
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, _| Ok(Self { over: p.over.lifted(ndims[0]) }));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        "xor_sum_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, reduced) = (xs[0].detach(), self.over.axes(xs[0].ndim()));
        let order = (0..x.ndim()).filter(|axis| !reduced.contains(axis)).chain(reduced.iter().copied());
        let order: Vec<i64> = order.map(|axis| axis as i64).collect();
        let wide = if x.dtype().is_integral() { DType::Int64 } else { DType::Float64 };
        let x = copy::contiguous(&copy::cast(&permute(&x, &order)?, wide)?)?;
        let count = self.over.count(xs[0].sizes()).max(1);
        Tensor::build::<u64>(&self.over.sizes(xs[0].sizes()), |to| {
            if let Some(from) = x.as_slice::<f64>() {
                let hashes = from.chunks(count).map(|c| c.iter().fold(0, |hash, v| hash ^ v.to_bits()));
                to.iter_mut().zip(hashes).for_each(|(to, hash)| *to = hash);
            } else if let Some(from) = x.as_slice::<i64>() {
                let hashes = from.chunks(count).map(|c| c.iter().fold(0, |hash, v| hash ^ *v as u64));
                to.iter_mut().zip(hashes).for_each(|(to, hash)| *to = hash);
            }
        })
        .map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

/// A hash of elements, over dimensions: the exclusive or of the bits that they have as float64, integers as int64.
///
/// Equal tensors have equal hashes, on any number of threads and in any order of the elements.
///
/// Args: `input` any real dtype; `dim` an integer or a list, an empty one for all; `keepdim` keeps them with size 1;
/// `mode` 0, the only one that there is. Returns: uint64, without (or with size 1 in) the dimensions. No
/// derivative. Raises: IndexError for a dimension out of range or of size 0; RuntimeError for another `mode`, or no
/// elements and no dimension.
///
/// >>> rg.hash_tensor(rg.tensor([1, 2, 4])).item()
/// 7
#[op(function, method, out = SAME, "(dim=(), *, keepdim=False, mode=0)")]
pub fn hash_tensor(input: &Tensor, dim: Option<&[i64]>, keepdim: bool, mode: i64) -> Result<Tensor> {
    if mode != 0 {
        return Err(Error::shape(OP, format!("Unknown hash_tensor mode: {mode}")));
    }
    let over = ReduceAxes::dims(OP, dim, input.ndim(), keepdim)?;
    if over.is_all() && input.numel() == 0 {
        return Err(Error::shape(
            OP,
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' \
             argument.",
        ));
    }
    if let Some(axis) = over.axes(input.ndim()).iter().find(|&&axis| input.sizes()[axis] == 0) {
        return Err(Error::index(OP, format!("hash_tensor: Expected reduction dim {axis} to have non-zero size.")));
    }
    apply1(Hash { over }, &[&input.detach()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_combined() {
        let x = Tensor::from_slice(&[1.0f32, -2.0, 0.5, 3.0], &[2, 2]).unwrap();
        let bits = |v: &[f64]| v.iter().fold(0, |hash, v| hash ^ v.to_bits());
        let hash = |dim: &[i64]| hash_tensor(&x, Some(dim), false, 0).unwrap().to_vec::<u64>().unwrap();
        assert_eq!(hash(&[]), [bits(&[1.0, -2.0, 0.5, 3.0])]);
        assert_eq!(hash(&[0]), [bits(&[1.0, 0.5]), bits(&[-2.0, 3.0])]);
        assert!(hash_tensor(&x, None, false, 1).is_err());
    }
}
