//! `sparse_mask`.

use retrograd_macros::op;

use super::{like, ordered, to_dense, unbatched, values_at};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result, Sizes};
use crate::tensor::Tensor;
use crate::tensor::sparse::refused;

/// `sparse_mask`: reverse `g` at the entries of the mask, dense for a dense operand.
#[derive(Clone, Debug)]
struct SparseMask {
    dense: bool,
}

impl Primitive for SparseMask {
    const NAME: &'static str = "sparse_mask";
    const SAVE: &'static [Save] = &[Save::input(1, "mask")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let coo = xs[1].entries(Self::NAME)?;
        like(xs[1], &values_at(xs[0], &coo, xs[0].sizes())?).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || {
            let g = if cx.g().is_sparse() { cx.g().clone() } else { sparse_mask(cx.g(), cx.saved(0)?)? };
            if self.dense { to_dense(&g, None, None) } else { Ok(g) }
        })?);
        grads.push(None);
        Ok(grads)
    }
}

/// The elements of `input` where `mask` has entries.
///
/// Args: `input` dense or sparse; `mask` a sparse tensor of the same shape. Returns: a sparse tensor
/// with the indices of `mask`, in order. Derivative: `g` at these indices, dense if `input` is. Raises: RuntimeError if
/// the shapes differ or `mask` is not sparse.
///
/// >>> mask = rg.sparse_coo_tensor([[0, 2]], [1.0, 1.0], (3,))
/// >>> rg.tensor([4.0, 5.0, 6.0]).sparse_mask(mask).values().tolist()
/// [4.0, 6.0]
#[op(method, norust)]
pub fn sparse_mask(input: &Tensor, mask: &Tensor) -> Result<Tensor> {
    mask.entries("sparse_mask")?;
    if input.sizes() != mask.sizes() {
        return Err(Error::shape(
            "sparse_mask",
            format!(
                "operands have incompatible sizes; self has size {} but mask has size {}",
                Sizes(input.sizes()),
                Sizes(mask.sizes())
            ),
        ));
    }
    apply1(SparseMask { dense: !input.is_sparse() }, &[input, &ordered(mask)?])
}
