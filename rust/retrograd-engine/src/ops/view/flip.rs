//! `flip`.

use retrograd_macros::op;

use super::view_op::wrap_dims;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::Result;
use crate::tensor::{Dims, Strides, Tensor};

/// A copy of `x` with the axes `dims` reversed, not recorded.
pub(super) fn flipped(x: &Tensor, dims: &[usize]) -> Result<Tensor> {
    let result = x.empty_like_layout(x.dtype())?;
    if x.numel() == 0 {
        return Ok(result);
    }
    // The copy is written through strides that run backwards.
    let mut strides = Strides::from_slice(result.strides());
    let mut offset = 0;
    for &d in dims.iter().filter(|&&d| d < x.ndim()) {
        offset += strides[d] * (x.sizes()[d] as isize - 1);
        strides[d] = -strides[d];
    }
    let storage = result.storage();
    let backwards = Tensor::from_parts(storage, x.dtype(), x.sizes(), &strides, offset as usize)?;
    crate::tensor::copy::copy_into(x, &backwards)?;
    Ok(result)
}

/// `flip`. Reverse: `g` flipped.
#[derive(Clone, Debug)]
struct Flip(Dims);

impl Primitive for Flip {
    const NAME: &'static str = "flip";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dims: &*op.0);
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, _| {
        Ok(Flip(if ndims[0] == 0 { Dims::new() } else { p.0.iter().map(|d| d + 1).collect() }))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        flipped(xs[0], &self.0).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(one(apply1(self.clone(), &[cx.g()])?))
    }
}

/// A copy of `input` with the order of elements reversed along the axes `dims`.
///
/// Args: `dims` axes, each once. Returns: a fresh tensor of the same sizes. Derivative: `g` reversed alike. Raises:
/// IndexError if an axis does not exist; RuntimeError if one is named twice.
///
/// >>> rg.flip(rg.tensor([1.0, 2.0, 3.0]), (0,)).tolist()
/// [3.0, 2.0, 1.0]
#[op(function, method)]
pub fn flip(input: &Tensor, #[size] dims: &[i64]) -> Result<Tensor> {
    apply1(Flip(wrap_dims("flip", dims, input.ndim())?), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn values_and_derivatives() {
        let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        assert_eq!(x.flip(&[-1]).unwrap().to_vec::<f64>().unwrap(), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(x.flip(&[0, 1]).unwrap().to_vec::<f64>().unwrap(), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        for n in [1, 7, 8, 17, 70] {
            let x = noise(2, &[3, n]);
            let (from, to) = (x.to_vec::<f64>().unwrap(), x.flip(&[1]).unwrap().to_vec::<f64>().unwrap());
            assert!(from.chunks(n).zip(to.chunks(n)).all(|(from, to)| from.iter().rev().eq(to)));
            let columns = x.t().unwrap().flip(&[0]).unwrap().to_vec::<f64>().unwrap();
            assert!((0..n).all(|i| (0..3).all(|j| columns[i * 3 + j] == from[j * n + n - 1 - i])));
        }
        assert!(x.flip(&[0, -2]).is_err() && x.flip(&[2]).is_err());
        gradcheck(&|xs| xs[0].transpose(0, 1)?.flip(&[0])?.exp(), &[noise(1, &[3, 4])]);
        assert_eq!(noise(1, &[]).flip(&[0]).unwrap().ndim(), 0);
    }
}
