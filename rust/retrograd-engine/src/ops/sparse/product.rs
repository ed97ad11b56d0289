//! Products of sparse matrices, and sums with them.

use retrograd_macros::op;

use super::entries::{added_up, distinct, indices_of, list};
use super::{like, of_entries, ordered, sparse_mask, unbatched};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::tensor::layout::expands_to;
use crate::tensor::sparse::{Coo, refused};
use crate::tensor::{DType, Dtypes, Layout, Scalar, Tensor, copy};

/// The dtypes of products.
const MULTIPLIED: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES).or(Dtypes::COMPLEX);

/// The dtype that halves are multiplied and added up in.
fn wide(x: &Tensor) -> Result<Tensor> {
    if x.dtype().half().is_some() { copy::cast(x, DType::Float32) } else { Ok(x.clone()) }
}

/// The entries of a sparse matrix, their rows and their columns.
fn matrix(op: &'static str, x: &Tensor) -> Result<(Coo, Vec<i64>, Vec<i64>)> {
    let coo = x.entries(op)?;
    if coo.sparse_dim() != 2 {
        return Err(Error::shape(
            op,
            format!("expected a sparse matrix, got a tensor with {} sparse dims", coo.sparse_dim()),
        ));
    }
    // Checked to be within the sizes, and read once (S6).
    let keys = coo.keys(x.sizes())?;
    let columns = x.sizes()[1].max(1) as i64;
    let rows = keys.iter().map(|key| key / columns).collect();
    let cols = keys.iter().map(|key| key % columns).collect();
    Ok((coo, rows, cols))
}

/// The rows and the columns of the entries of a sparse matrix.
pub(super) fn rows_and_columns(op: &'static str, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let (_, rows, cols) = matrix(op, x)?;
    Ok((list(&rows)?, list(&cols)?))
}

pub(super) fn check(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.ndim() != 2 || b.ndim() != 2 || a.sizes()[1] != b.sizes()[0] {
        return Err(Error::shape(
            op,
            format!("mat1 and mat2 shapes cannot be multiplied ({:?} and {:?})", a.sizes(), b.sizes()),
        ));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "expected m1 and m2 to have the same dtype, but got: {} != {}; convert one with .to",
                a.dtype().cpp_name(),
                b.dtype().cpp_name()
            ),
        ));
    }
    Ok(())
}

/// The product of two matrices of which at least one is sparse: sparse if both are.
pub(crate) fn product(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    check(op, a, b)?;
    match (a.is_sparse(), b.is_sparse()) {
        (true, true) => sparse_product(op, a, b),
        (true, false) => {
            let (coo, rows, cols) = matrix(op, a)?;
            let parts = wide(&coo.values)?.unsqueeze(1)?.mul(&wide(b)?.index_select(0, &list(&cols)?)?)?;
            copy::cast(&added_up(&parts, &rows, a.sizes()[0])?, a.dtype())
        }
        _ => {
            let (coo, rows, cols) = matrix(op, b)?;
            let parts = wide(&coo.values)?.unsqueeze(1)?.mul(&wide(&a.t()?)?.index_select(0, &list(&rows)?)?)?;
            let sum = copy::cast(&added_up(&parts, &cols, b.sizes()[1])?, a.dtype())?;
            copy::row_major(&sum.t()?)
        }
    }
}

/// `beta c + alpha a b`, one of `a` and `b` sparse.
pub(crate) fn add_product(op: &'static str, xs: &[&Tensor], beta: Scalar, alpha: Scalar) -> Result<Outs> {
    let (c, a, b) = (xs[0], xs[1], xs[2]);
    if c.is_sparse() || (a.is_sparse() && b.is_sparse()) {
        return Err(refused(op, xs));
    }
    check(op, a, b)?;
    let sizes = [a.sizes()[0], b.sizes()[1]];
    if !expands_to(c.sizes(), &sizes) {
        return Err(Error::shape(op, format!("the sizes {:?} of input do not expand to {sizes:?}", c.sizes())));
    }
    if c.dtype() != a.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "self and mat2 must have the same dtype, but got {} and {}; convert one with .to",
                c.dtype().scalar_type_name(),
                b.dtype().scalar_type_name()
            ),
        ));
    }
    let times = |x: Tensor, factor: Scalar| match factor {
        Scalar::Int(1) => Ok(x),
        _ => x.times(factor),
    };
    let product = times(product(op, a, b)?, alpha)?;
    // A factor of zero reads nothing.
    if beta.is_zero() { Ok(out(product)) } else { times(c.clone(), beta)?.add(&product).map(out) }
}

/// The product of two sparse matrices: each entry of the left one with the entries of its row of the right one.
fn sparse_product(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let coalesced = |x: &Tensor| matrix(op, &super::coalesce(&x.detach())?);
    let ((left, a_rows, a_cols), (right, b_rows, b_cols)) = (coalesced(a)?, coalesced(b)?);
    let width = b.sizes()[1] as i64;
    let (mut from_a, mut from_b, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (&row, &inner)) in a_rows.iter().zip(&a_cols).enumerate() {
        let begin = b_rows.partition_point(|&r| r < inner);
        for (j, &col) in b_cols.iter().enumerate().skip(begin).take_while(|(j, _)| b_rows[*j] == inner) {
            from_a.push(i as i64);
            from_b.push(j as i64);
            places.push(row * width + col);
        }
    }
    let (va, vb) = (left.values.index_select(0, &list(&from_a)?)?, right.values.index_select(0, &list(&from_b)?)?);
    let (found, which) = distinct(&places);
    let sizes = [a.sizes()[0], b.sizes()[1]];
    let values = copy::cast(&added_up(&wide(&va)?.mul(&wide(&vb)?)?, &which, found.len())?, a.dtype())?;
    of_entries(&sizes, indices_of(&found, &sizes)?, values, true)
}

/// `sparse.addmm`: reverse of the sparse matrix `alpha g mat2^T` at its entries, of the others as `addmm`.
#[derive(Clone, Debug)]
struct SparseAddmm {
    beta: Scalar,
    alpha: Scalar,
    /// Sizes and strides of the dense matrix.
    mat2: (Value, Value),
}

impl Primitive for SparseAddmm {
    const NAME: &'static str = "sparse_addmm";
    const SAVE: &'static [Save] = &[Save::input(1, "mat1"), Save::input(2, "mat2").when(1)];
    const PARAMS: Params<Self> = params!(op;
        alpha,
        beta,
        mat2_sym_sizes: op.mat2.0.clone(),
        mat2_sym_strides: op.mat2.1.clone(),
    );
    const DTYPES: Dtypes = MULTIPLIED;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let run = |c: &Tensor, a: &Tensor, b: &Tensor, beta| apply1(Self { beta, ..op.clone() }, &[c, a, b]);
        let (c, a, b) = (cx.xs[0], cx.xs[1], cx.xs[2]);
        let of_a = cx.t(1).map(|t| run(c, t, b, Scalar::Int(0))).transpose()?;
        let of_b = cx.t(2).map(|t| run(c, a, t, Scalar::Int(0))).transpose()?;
        let of_c = cx.t(0).map(|t| t.times(op.beta)).transpose()?;
        crate::autograd::primitive::Jvp::sum([of_a, of_b, of_c]).map(maybe)
    });
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[1].dtype())
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        add_product(Self::NAME, xs, self.beta, self.alpha)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, mat1) = (cx.g(), cx.saved(0)?);
        let mut grads = maybe(cx.when(0, || g.times(self.beta))?);
        grads.push(cx.when(1, || {
            // Products of the rows of g and of mat2 where there are entries, no others.
            let places = ordered(mat1)?;
            let (rows, cols) = rows_and_columns(Self::NAME, &places)?;
            let along = g.index_select(0, &rows)?.mul(&cx.saved(1)?.index_select(0, &cols)?)?;
            like(&places, &along.sum_dims(&[1], false)?.times(self.alpha)?)
        })?);
        grads.push(cx.when(2, || {
            if mat1.layout() == Layout::SparseCsr {
                return g.t()?.mm(mat1)?.t()?.times(self.alpha);
            }
            let none = Tensor::zeros(&[1, 1], g.dtype())?;
            add_mm(&none, &mat1.t()?, g, Scalar::Int(0), self.alpha)
        })?);
        Ok(grads)
    }
}

fn add_mm(c: &Tensor, a: &Tensor, b: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let strides = b.strides().iter().map(|&s| s as i64).collect();
    let mat2 = (Value::from(b.sizes()), Value::Ints(strides));
    apply1(SparseAddmm { beta, alpha, mat2 }, &[c, a, b])
}

/// `sparse.mm` of two sparse matrices: reverse the products with the others, at the entries.
#[derive(Clone, Debug)]
struct SparseSparseMatmul;

impl Primitive for SparseSparseMatmul {
    const NAME: &'static str = "sparse_sparse_matmul";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "other")];
    const DTYPES: Dtypes = MULTIPLIED;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        product(Self::NAME, xs[0], xs[1]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (a, b, g) = (cx.saved(0)?, cx.saved(1)?, super::to_sparse(cx.g(), None, None, None)?);
        let mut grads = maybe(cx.when(0, || sparse_mask(&apply1(Self, &[&g, &b.t()?])?, a))?);
        grads.push(cx.when(1, || sparse_mask(&apply1(Self, &[&a.t()?, &g])?, b))?);
        Ok(grads)
    }
}

/// The product of two matrices of which one is sparse, or both.
///
/// Args: `mat1` (n, m), `mat2` (m, p), floating or complex, of one dtype. Returns: a dense
/// tensor of shape (n, p), a sparse one if both are sparse. Derivative: as of `mm`, for a sparse matrix at its entries
/// alone. Raises: RuntimeError if none is sparse, or sizes or dtypes do not fit.
///
/// >>> a = rg.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
/// >>> rg.sparse.mm(a, rg.tensor([[1.0], [10.0]])).tolist()
/// [[20.0], [3.0]]
#[op(function, module = "sparse", norust)]
pub fn mm(mat1: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    const OP: &str = "_sparse_mm";
    match (mat1.is_sparse(), mat2.is_sparse()) {
        (true, true) => {
            check(OP, mat1, mat2)?;
            apply1(SparseSparseMatmul, &[mat1, mat2])
        }
        (true, false) => {
            let none = Tensor::zeros(&[1, 1], mat1.dtype())?;
            add_mm(&none, mat1, mat2, Scalar::Int(0), Scalar::Int(1))
        }
        (false, true) => {
            let none = Tensor::zeros(&[1, 1], mat1.dtype())?;
            add_mm(&none, &mat2.t()?, &mat1.t()?, Scalar::Int(0), Scalar::Int(1))?.t()
        }
        (false, false) => Err(Error::autograd(
            "sparse.mm: expected one of the matrices to be sparse, but both have layout Strided: use mm",
        )),
    }
}

/// `beta * mat + alpha * (mat1 @ mat2)` for a sparse `mat1`.
///
/// Args: `mat` dense, broadcastable to (n, p); `mat1` (n, m) sparse; `mat2` (m, p) dense; all of one
/// dtype, floating or complex; `beta`, `alpha` numbers. Returns: a dense tensor of shape (n, p). Derivative: as of
/// `addmm`, for `mat1` at its entries alone. Raises: RuntimeError if sizes or dtypes do not fit.
///
/// >>> a = rg.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
/// >>> rg.sparse.addmm(rg.ones(2, 1), a, rg.tensor([[1.0], [10.0]]), alpha=2).tolist()
/// [[41.0], [7.0]]
#[op(function, module = "sparse", norust, "(*, beta=1, alpha=1)")]
pub fn addmm(mat: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    add_mm(mat, mat1, mat2, beta, alpha)
}
