//! `sparse.sum`.

use retrograd_macros::op;

use super::entries::{added_up, indices_of, list};
use super::{coalesce, like, of_entries, ordered, places, unbatched, values};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::Result;
use crate::ops::memory;
use crate::ops::view::view_op::wrap_dims;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::layout::Dims;
use crate::tensor::sparse::{Elements, refused};
use crate::tensor::{DType, Tensor};

/// `sparse.sum` over axes: reverse `g` at the entries.
#[derive(Clone, Debug)]
struct SparseSum {
    dim: Dims,
}

impl SparseSum {
    /// The axes that stay, of those with indices and of the others.
    fn kept(&self, ndim: usize, sparse: usize) -> (Vec<usize>, Vec<usize>) {
        (0..ndim).filter(|d| !self.dim.contains(d)).partition(|&d| d < sparse)
    }
}

impl Primitive for SparseSum {
    const NAME: &'static str = "sparse_sum";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim: &*op.dim);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, sizes) = (xs[0], xs[0].sizes());
        let Some(Elements::Coo(coo)) = x.elements() else { return Err(refused(Self::NAME, xs)) };
        let sparse = coo.sparse_dim();
        let (kept, dense) = self.kept(x.ndim(), sparse);
        let over: Vec<i64> =
            (sparse..x.ndim()).filter(|d| self.dim.contains(d)).map(|d| (d - sparse + 1) as i64).collect();
        let values = if over.is_empty() { coo.values.clone() } else { coo.values.sum_dims(&over, false)? };
        let rest: Dims = dense.iter().map(|&d| sizes[d]).collect();
        if kept.is_empty() {
            let sum = added_up(&values, &vec![0; coo.nnz()], 1)?;
            return reshape_to(&sum, &rest).map(out);
        }
        let (found, which) = places(&coo, sizes, &kept)?;
        let mut to: Dims = kept.iter().map(|&d| sizes[d]).collect();
        let indices = indices_of(&found, &to)?;
        to.extend_from_slice(&rest);
        of_entries(&to, indices, added_up(&values, &which, found.len())?, true).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = &ordered(cx.saved(0)?)?;
        let (coo, sizes) = (x.coo(Self::NAME)?, x.sizes());
        let sparse = coo.sparse_dim();
        let (kept, dense) = self.kept(x.ndim(), sparse);
        // The slice of g for each entry: one for all, or that at the axes that stayed.
        let rows = if kept.is_empty() {
            reshape_to(cx.g(), &std::iter::once(1).chain(dense.iter().map(|&d| sizes[d])).collect::<Dims>())?
        } else {
            let (found, which) = places(&coo, sizes, &kept)?;
            let to: Dims = kept.iter().map(|&d| sizes[d]).collect();
            let at = crate::tensor::sparse::Coo {
                indices: indices_of(&found, &to)?,
                values: list(&found)?,
                coalesced: true,
            };
            super::values_at(cx.g(), &at, cx.g().sizes())?.index_select(0, &list(&which)?)?
        };
        // Summed axes of the values come back with size 1.
        let mut with_ones = Dims::from_slice(&[rows.sizes()[0]]);
        with_ones.extend((sparse..x.ndim()).map(|d| if self.dim.contains(&d) { 1 } else { sizes[d] }));
        let rows = reshape_to(&rows, &with_ones)?;
        let mut whole = Dims::from_slice(&[coo.nnz()]);
        whole.extend_from_slice(&sizes[sparse..]);
        like(x, &expand_to(&rows, &whole)?).map(one)
    }
}

/// The sum of the elements of a sparse tensor, of all of them or along axes.
///
/// Args: `input` a sparse tensor in coordinates; `dim` an axis, several, or None for all; `dtype` the dtype to convert
/// to before summing. Returns: a dense tensor if all axes with indices are summed, else a coalesced sparse one.
/// Derivative: `g` at the entries of `input`, as a sparse tensor. Raises: RuntimeError for a tensor that is not sparse.
///
/// >>> x = rg.tensor([[0.0, 5.0], [6.0, 7.0]]).to_sparse()
/// >>> rg.sparse.sum(x).item(), rg.sparse.sum(x, 0).to_dense().tolist()
/// (18.0, [6.0, 12.0])
#[op(function, module = "sparse", norust, "(dim=None, dtype=None)")]
pub fn sum(input: &Tensor, dim: Option<&[i64]>, dtype: Option<DType>) -> Result<Tensor> {
    const OP: &str = "sparse_sum";
    input.coo(OP)?;
    let x = memory::cast(input, dtype.unwrap_or(input.dtype()))?;
    match dim {
        None => values(&coalesce(&x)?)?.sum(None),
        Some([]) => Ok(x),
        Some(dim) => {
            let dim = wrap_dims(OP, dim, x.ndim())?;
            apply1(SparseSum { dim }, &[&x])
        }
    }
}
