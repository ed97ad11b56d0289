//! Reading at index tensors along one axis: index_select, gather.

use retrograd_macros::op;
use smallvec::smallvec;

use super::advanced::{and_none, put_at, read_at, zeros};
use super::along_index::{Along, rows_named};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::kernels::pointwise::pick_rows;
use crate::kernels::strided::{is_contiguous, within};
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Tensor};

/// `index_select`. Reverse: `g` added up at the indices, in zeros.
#[derive(Clone, Debug)]
struct IndexSelect {
    dim: usize,
    from: Dims,
}

impl IndexSelect {
    /// Rows without gaps, which are copied as bytes; None for other layouts, and if a row does not exist: that is for
    /// the other way to refuse.
    fn rows(&self, x: &Tensor, index: &Tensor) -> Result<Option<Tensor>> {
        let (sizes, strides, after) = (x.sizes(), x.strides(), self.dim + 1);
        let count = index.numel();
        let width = sizes[after..].iter().product::<usize>() * x.dtype().size();
        let whole = sizes[..self.dim].iter().all(|&n| n == 1) && is_contiguous(&sizes[after..], &strides[after..]);
        if !whole || count * width == 0 {
            return Ok(None);
        }
        let mut to = Dims::from_slice(sizes);
        to[self.dim] = count;
        let result = Tensor::empty(&to, x.dtype())?;
        let step = strides[self.dim] * x.dtype().size() as isize;
        let (from, to) = (x.op_ptr().cast::<u8>().cast_const(), result.op_ptr().cast::<u8>());
        let values = index.as_slice::<i64>().unwrap_or(&[]);
        // SAFETY: (1) S1 and S3: rows of `x`, and a result of as many as are named; (2) the result is fresh.
        let all = unsafe { pick_rows(values, sizes[self.dim], from, step, width, to) };
        Ok(all.then_some(result))
    }
}

impl Primitive for IndexSelect {
    const NAME: &'static str = "index_select";
    const SAVE: &'static [Save] = &[Save::input(1, "index")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dim, self_sym_sizes: &*op.from);
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let x = view::batch_first(xs[0], axes[0], batch)?;
        let dim = p.dim as i64 + 1;
        if x.ndim() == 1 {
            // A 0-dim entry has one element: all that an index can name.
            return Ok((out(x), smallvec![Some(0)]));
        }
        if axes[1].is_none() {
            return Ok((out(x.index_select(dim, xs[1])?), smallvec![Some(0)]));
        }
        let index = view::batch_first(xs[1], axes[1], batch)?;
        let mut ones: Dims = smallvec![1; x.ndim()];
        ones[0] = batch;
        ones[p.dim + 1] = index.sizes()[1];
        let mut whole = Dims::from_slice(x.sizes());
        whole[p.dim + 1] = index.sizes()[1];
        let index = view::expand_to(&view::reshape_to(&index, &ones)?, &whole)?;
        Ok((out(x.gather(dim, &index)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // A 0-dim tensor is read as a vector of one element, a 0-dim index as one of length 1.
        let vector = |t: &Tensor| match t.ndim() {
            0 => Tensor::from_parts(t.storage(), t.dtype(), &[1], &[1], t.storage_offset()),
            _ => Ok(t.clone()),
        };
        let (x, index) = (vector(xs[0])?, vector(xs[1])?);
        let n = x.sizes()[self.dim];
        let index = copy::contiguous(&copy::cast(&index, DType::Int64)?)?;
        if xs[0].ndim() > 0
            && let Some(result) = self.rows(&x, &index)?
        {
            return Ok(out(result));
        }
        // For the error alone, and for indices that count from the end: `read_at` checks what it uses (S6).
        if !within(index.as_slice().unwrap_or(&[]), n) {
            return Err(Error::index(
                Self::NAME,
                format!("index out of range in self: axis {} has size {n}", self.dim),
            ));
        }
        let result = read_at(Self::NAME, &x, &[self.dim], &[&index])?;
        if xs[0].ndim() == 0 {
            return Tensor::from_parts(result.storage(), x.dtype(), &[], &[], 0).map(out);
        }
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let sizes = cx.sizes(0);
        let zeros = zeros(sizes, cx.g().dtype())?;
        if sizes.is_empty() {
            return Ok(and_none(cx, one(view::reshape_to(cx.g(), &[])?)));
        }
        let index = view::reshape_to(cx.saved(0)?, &[cx.saved(0)?.numel()])?;
        Ok(and_none(cx, one(put_at(&zeros, &[self.dim], &[&index], cx.g(), true)?)))
    }
}

/// The slices of `input` at the positions `index` along an axis, in their order.
///
/// Args: `dim` an axis; `index` a vector (or 0-dim tensor) of int32 or int64, from 0 on. Returns: a fresh tensor.
/// Derivative: `g` added up at the indices. Raises: IndexError if an index is out of range or `index` has several axes;
/// RuntimeError for another dtype.
///
/// >>> rg.index_select(rg.tensor([1.0, 2.0, 3.0]), 0, rg.tensor([2, 0])).tolist()
/// [3.0, 1.0]
#[op(function, method, out = OutDtype::Same(&["index_select(): self and result must have the same scalar type"]))]
pub fn index_select(input: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let dim = wrap_dim("index_select", dim, input.ndim())?;
    if index.ndim() > 1 {
        return Err(Error::index("index_select", "index_select(): Index is supposed to be a vector"));
    }
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::dtype("index_select", "index_select(): Expected dtype int32 or int64 for index"));
    }
    if input.ndim() == 0 && index.numel() != 1 {
        return Err(Error::shape(
            "index_select",
            format!("index_select(): Index to scalar can have only 1 value, got {} value(s)", index.numel()),
        ));
    }
    apply1(IndexSelect { dim, from: Dims::from_slice(input.sizes()) }, &[input, index])
}

/// What `gather` and the scatters ask of their index; `src` is what is written.
pub(super) fn check_index(
    op: &'static str,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    src: Option<&Tensor>,
) -> Result<usize> {
    let d = wrap_dim(op, dim, x.ndim())?;
    // An empty index names nothing, whatever its dtype and sizes.
    if index.numel() == 0 {
        return Ok(d);
    }
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::dtype(
            op,
            format!("{op}(): Expected dtype int32/int64 for index, got {}", index.dtype().name()),
        ));
    }
    let what = if op == "gather" { "input" } else { "self" };
    let same = |t: &Tensor| t.ndim().max(1) == index.ndim().max(1);
    for (t, name) in [(Some(x), what), (src, "src")] {
        if let Some(t) = t.filter(|t| !same(t)) {
            return Err(Error::shape(
                op,
                format!(
                    "Index tensor must have the same number of dimensions as {name} tensor: got {:?} and {:?}",
                    index.sizes(),
                    t.sizes()
                ),
            ));
        }
    }
    let size = |t: &Tensor, a: usize| t.sizes().get(a).copied().unwrap_or(1);
    let axes = 0..index.ndim().max(1);
    if let Some(a) = axes.clone().find(|&a| a != d && size(index, a) > size(x, a)) {
        let head =
            if op == "gather" { format!("Size does not match at dimension {a} expected") } else { "Expected".into() };
        let behind = src.map_or(String::new(), |s| format!(" and to be no larger size than src {:?}", s.sizes()));
        return Err(Error::shape(
            op,
            format!(
                "{head} index {:?} to be no larger than self {:?} apart from dimension {d}{behind}",
                index.sizes(),
                x.sizes()
            ),
        ));
    }
    if let Some(s) = src
        && axes.clone().any(|a| size(index, a) > size(s, a))
    {
        return Err(Error::shape(
            op,
            format!(
                "Expected index {:?} to be no larger than self {:?} apart from dimension {d} and to be no larger size than src \
                 {:?}",
                index.sizes(),
                x.sizes(),
                s.sizes()
            ),
        ));
    }
    Ok(d)
}

/// `gather`. Reverse: `g` added up at the index, in zeros.
#[derive(Clone, Debug)]
struct Gather {
    dim: usize,
    sparse_grad: bool,
}

impl Primitive for Gather {
    const NAME: &'static str = "gather";
    const SAVE: &'static [Save] = &[Save::input(1, "index"), Save::input(0, "self")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dim, sparse_grad);
    const BATCH: Batch<Self> =
        Batch::Rule(|p, xs, axes, batch| view::along_axis(Gather { dim: p.dim + 1, ..*p }, xs, axes, batch, 1));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, index) = (xs[0], xs[1]);
        if index.numel() == 0 {
            return Tensor::empty(index.sizes(), x.dtype()).map(out);
        }
        if let Some((line, part)) = rows_named(x, self.dim, index)? {
            return read_at(Self::NAME, &part, &[self.dim], &[&line]).map(out);
        }
        let at = Along::new(Self::NAME, x.sizes(), x.strides(), self.dim, index)?;
        let y = Tensor::empty(index.sizes(), x.dtype())?;
        // SAFETY: (1) S1 and S3; (2) the fresh result has the sizes of the index.
        unsafe { at.read(x.dtype().size(), x.op_ptr().cast_const(), y.op_ptr())? };
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let zeros = zeros(cx.sizes(0), cx.g().dtype())?;
        Ok(and_none(cx, one(zeros.scatter_add(self.dim as i64, cx.saved(0)?, cx.g())?)))
    }
}

/// The elements of `input` that `index` names along an axis, each at its own place along the others.
///
/// Args: `dim` an axis; `index` int32 or int64 with as many axes as `input`, no larger than it but along
/// `dim`. Returns: a fresh tensor of the sizes of `index`. Derivative: `g` added up at the indices. Raises:
/// RuntimeError if an index is out of range or sizes do not fit.
///
/// >>> rg.gather(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, rg.tensor([[0], [1]])).tolist()
/// [[1.0], [4.0]]
#[op(function, method, out = SAME, name = "gather", norust, "(*, sparse_grad=False)")]
pub fn gather(input: &Tensor, dim: i64, index: &Tensor, sparse_grad: bool) -> Result<Tensor> {
    let dim = check_index("gather", input, dim, index, None)?;
    apply1(Gather { dim, sparse_grad }, &[input, index])
}

impl Tensor {
    /// The elements that `index` names along an axis; see [`gather`].
    pub fn gather(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        gather(self, dim, index, false)
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::tensor::Scalar;
    use crate::testing::{gradcheck, noise};

    fn ints(v: &[i64], sizes: &[usize]) -> Tensor {
        Tensor::from_slice(v, sizes).unwrap()
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        let v = |t: Result<Tensor>| t.unwrap().to_vec::<f64>().unwrap();
        assert_eq!(v(x.index_select(1, &ints(&[2, 0], &[2]))), [3.0, 1.0, 6.0, 4.0]);
        assert_eq!(v(x.gather(1, &ints(&[2, 0], &[2, 1]))), [3.0, 4.0]);
        assert_eq!(v(x.transpose(0, 1).unwrap().gather(0, &ints(&[1, 2], &[1, 2]))), [2.0, 6.0]);
        let y = x.scatter_add(0, &ints(&[1, 1, 0], &[1, 3]), &x);
        assert_eq!(v(y), [1.0, 2.0, 6.0, 5.0, 7.0, 6.0]);
        assert_eq!(v(x.scatter(1, &ints(&[1, 1], &[2, 1]), &x)), [1.0, 1.0, 3.0, 4.0, 4.0, 6.0]);
        assert_eq!(v(x.scatter_value(1, &ints(&[0], &[1, 1]), Scalar::Int(9)))[0], 9.0);
        let s = noise(1, &[]);
        assert_eq!(s.gather(0, &ints(&[0, 0], &[2])).unwrap().sizes(), [2]);
        assert_eq!(s.index_select(0, &ints(&[0], &[1])).unwrap().ndim(), 0);
        assert_eq!(v(s.scatter_add(0, &ints(&[0], &[1]), &s)), [2.0 * s.item().unwrap().as_f64()]);
        assert_eq!(x.gather(0, &ints(&[], &[0, 7])).unwrap().sizes(), [0, 7]);
        assert_eq!(v(x.scatter_add(0, &ints(&[], &[0]), &x)), v(Ok(x.clone())));
    }

    /// An index that is the same at every place after `dim` names whole rows, and is not written out: the same as one
    /// that is.
    #[test]
    fn expanded_indices() {
        for (sizes, dim, part) in [
            (&[5, 7][..], 0, &[4, 7][..]),
            (&[5, 7], 0, &[4, 3]),
            (&[3, 6, 2, 5], 1, &[2, 4, 2, 5]),
            (&[4, 3, 1], 0, &[4, 1, 1]),
        ] {
            let line: Vec<i64> = [3, 0, 3, 2].map(|i| i % sizes[dim] as i64).to_vec();
            let mut one = vec![1; sizes.len()];
            one[dim] = line.len();
            let column = ints(&line, &one);
            let wide: Vec<i64> = part.iter().map(|&n| n as i64).collect();
            for column in [column.clone(), copy::cast(&column, DType::Int32).unwrap()] {
                let index = column.expand(&wide).unwrap();
                let written = copy::contiguous(&index).unwrap();
                let (x, src) = (noise(1, sizes), noise(2, part));
                let v = |t: Result<Tensor>| t.unwrap().to_vec::<f64>().unwrap();
                let dim = dim as i64;
                assert_eq!(v(x.gather(dim, &index)), v(x.gather(dim, &written)));
                assert_eq!(v(x.scatter_add(dim, &index, &src)), v(x.scatter_add(dim, &written, &src)));
                assert_eq!(v(x.scatter(dim, &index, &src)), v(x.scatter(dim, &written, &src)));
                gradcheck(&|xs| xs[0].gather(dim, &index)?.exp(), from_ref(&x));
                gradcheck(&|xs| xs[0].scatter_add(dim, &index, &xs[1])?.exp(), &[x, src]);
            }
        }
        let x = noise(1, &[2, 3]);
        for wrong in [-1, 2] {
            let index = ints(&[wrong], &[1, 1]).expand(&[1, 3]).unwrap();
            let e = x.gather(0, &index).unwrap_err().to_string();
            assert!(e.contains(&format!("index {wrong} is out of bounds for dimension 0 with size 2")), "{e}");
            assert!(x.scatter_add_(0, &index, &noise(2, &[1, 3])).is_err() && x.version() == 0);
        }
    }

    #[test]
    fn refusals_leave_the_target_alone() {
        let x = noise(1, &[2, 3]);
        let before = x.to_vec::<f64>().unwrap();
        for bad in [ints(&[0, 5], &[1, 2]), ints(&[0, -1], &[1, 2]), ints(&[0; 4], &[1, 4]), ints(&[0], &[1])] {
            assert!(x.scatter_add_(0, &bad, &noise(2, &[1, 4])).is_err(), "{bad:?}");
            assert!(x.scatter_value_(0, &bad, Scalar::Int(0)).is_err() && x.gather(0, &bad).is_err());
        }
        assert!(x.scatter_add_(0, &ints(&[0; 4], &[2, 2]), &noise(2, &[1, 2])).is_err());
        assert!(x.gather(0, &noise(1, &[1, 1])).is_err() && x.gather(2, &ints(&[0], &[1, 1])).is_err());
        assert!(x.index_select(0, &ints(&[-1], &[1])).is_err() && x.index_select(0, &ints(&[0], &[1, 1])).is_err());
        assert_eq!((x.to_vec::<f64>().unwrap(), x.version()), (before, 0));
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].index_select(1, &ints(&[3, 0, 3], &[3]))?.exp(), from_ref(&x));
        let index = ints(&[2, 0, 2, 0, 1, 1], &[2, 3]);
        gradcheck(&|xs| xs[0].transpose(0, 1)?.transpose(0, 1)?.gather(0, &index)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].index_select(0, &ints(&[0], &[1]))?.exp(), &[noise(1, &[])]);
    }
}
