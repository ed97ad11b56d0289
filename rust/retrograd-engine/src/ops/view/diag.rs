//! Diagonals put into zeros and taken out: diag, diagflat, diag_embed, and the trace.

use retrograd_macros::op;
use smallvec::smallvec;

use super::slice::{Diagonal, embed};
use super::view_op::ViewOp;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Dtypes, Tensor};

/// A copy of the diagonals. Reverse: `g` there, zeros elsewhere.
#[derive(Clone, Debug)]
struct DiagonalCopy(Diagonal);

impl Primitive for DiagonalCopy {
    const NAME: &'static str = "diagonal_copy";
    const NODE: &'static str = "DiagonalBackward0_copy";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> =
        params!(op; dim1: op.0.dims[0], dim2: op.0.dims[1], offset: op.0.offset, self_sym_sizes: &*op.0.from);
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, batch| Ok(Self(p.0.lift(ndims[0], batch))));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, l) = (xs[0], self.0.layout(xs[0])?);
        let part = Tensor::from_parts(x.storage(), x.dtype(), &l.sizes, &l.strides, l.offset)?;
        copy::row_major(&part).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        self.0.vjp(cx.g(), cx.sizes(0)).map(one)
    }
}

/// The main diagonal of a matrix of sizes `from`.
fn main_diagonal(from: &[usize]) -> Diagonal {
    Diagonal { offset: 0, dims: [0, 1], from: Dims::from_slice(from) }
}

/// `trace`: reverse `g` on the diagonal.
#[derive(Clone, Debug)]
struct Trace {
    from: Dims,
}

impl Primitive for Trace {
    const NAME: &'static str = "trace";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; self_sym_sizes: &*op.from);
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::BOOL);
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, batch| {
        let x = view::batch_first(xs[0], axes[0], batch)?;
        Ok((out(x.diagonal(0, 1, 2)?.sum_dims(&[1], false)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, l) = (xs[0], main_diagonal(&self.from).layout(xs[0])?);
        Tensor::from_parts(x.storage(), x.dtype(), &l.sizes, &l.strides, l.offset)?.sum(None).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let sizes = cx.sizes(0);
        let n = sizes.iter().min().copied().unwrap_or(0);
        embed(&main_diagonal(sizes), "DiagonalBackwardBackward0", &view::expand_to(cx.g(), &[n])?, sizes).map(one)
    }
}

/// Zeros with the last axis of `input` on the diagonals of two new axes.
///
/// Args: `offset` above 0 for a diagonal right of the main one, below for one left of it; `dim1`, `dim2` the places of
/// the new axes. Returns: a fresh tensor, its new axes of size `n + abs(offset)`. Derivative: the diagonals of `g`.
/// Raises: IndexError if there is no place for an axis; RuntimeError if both are the same.
///
/// >>> rg.diag_embed(rg.tensor([1.0, 2.0])).tolist()
/// [[1.0, 0.0], [0.0, 2.0]]
#[op(function, method, "(offset=0, dim1=-2, dim2=-1)")]
pub fn diag_embed(input: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let ndim = input.ndim() + 1;
    let dims = [wrap_dim("diag_embed", dim1, ndim)?, wrap_dim("diag_embed", dim2, ndim)?];
    if dims[0] == dims[1] {
        return Err(Error::shape("diag_embed", format!("diagonal dimensions cannot be identical {dim1}, {dim2}")));
    }
    let Some((&n, others)) = input.sizes().split_last() else {
        return Err(Error::index("diag_embed", "the input has no axis to put on a diagonal: it has 0 dims"));
    };
    let n = n.saturating_add(usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX));
    let mut sizes = Dims::from_slice(others);
    for &d in &[dims[0].min(dims[1]), dims[0].max(dims[1])] {
        sizes.insert(d, n);
    }
    let part = Diagonal { offset, dims, from: sizes.clone() };
    embed(&part, "DiagEmbedBackward0", input, &sizes)
}

/// The diagonal of a matrix, or the matrix of a diagonal.
///
/// Args: `input` a vector or a matrix; `diagonal` which one, 0 for the main one. Returns: a fresh vector for a matrix,
/// a matrix for a vector. Derivative: `g` in the same places, zeros elsewhere. Raises: RuntimeError for other shapes.
///
/// >>> rg.diag(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [1.0, 4.0]
#[op(function, method, out, "(diagonal=0)")]
pub fn diag(input: &Tensor, diagonal: i64) -> Result<Tensor> {
    match input.ndim() {
        1 => diag_embed(input, diagonal, 0, 1),
        2 => apply1(
            DiagonalCopy(Diagonal { offset: diagonal, dims: [0, 1], from: Dims::from_slice(input.sizes()) }),
            &[input],
        ),
        n => Err(Error::shape("diag", format!("diag(): Supports 1D or 2D tensors. Got {n}D"))),
    }
}

/// The matrix with the elements of `input`, row by row, on a diagonal.
///
/// Args: `offset` which diagonal, 0 for the main one. Returns: a fresh matrix. Derivative: the diagonal of `g`.
///
/// >>> rg.diagflat(rg.tensor([[1.0], [2.0]])).tolist()
/// [[1.0, 0.0], [0.0, 2.0]]
#[op(function, method, "(offset=0)")]
pub fn diagflat(input: &Tensor, offset: i64) -> Result<Tensor> {
    diag_embed(&input.reshape(&[-1])?, offset, 0, 1)
}

/// The sum of the main diagonal of a matrix.
///
/// Returns: a 0-dim tensor; int64 for integers. Derivative: `g` on the diagonal. Raises: RuntimeError unless `input` is
/// a matrix, NotImplementedError for bool.
///
/// >>> rg.trace(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).item()
/// 5.0
#[op(function, method)]
pub fn trace(input: &Tensor) -> Result<Tensor> {
    if input.ndim() != 2 {
        return Err(Error::shape(
            "trace",
            format!("trace: expected a matrix, but got tensor with dim {}", input.ndim()),
        ));
    }
    apply1(Trace { from: Dims::from_slice(input.sizes()) }, &[input])
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].diag_embed(-1, 0, -1)?.exp(), &[noise(1, &[2, 3])]);
        gradcheck(&|xs| xs[0].diag(1)?.exp(), &[noise(2, &[3, 4])]);
        gradcheck(&|xs| xs[0].diag(-2)?.exp(), &[noise(3, &[3])]);
        gradcheck(&|xs| xs[0].diagflat(1)?.exp(), &[noise(4, &[2, 2])]);
        gradcheck(&|xs| xs[0].trace(), &[noise(5, &[3, 4])]);
    }

    #[test]
    fn refusals() {
        let x = noise(1, &[2, 2]);
        assert!(x.diag_embed(i64::MAX, 0, 1).is_err() && x.diag_embed(i64::MIN, 0, 1).is_err());
        assert!(noise(1, &[]).trace().is_err() && noise(1, &[]).diag(0).is_err());
    }
}
