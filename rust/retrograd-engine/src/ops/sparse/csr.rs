//! Sparse matrices by rows: making them, and what is for them alone.

use retrograd_macros::op;

use super::entries::{list, read};
use super::product::{check, rows_and_columns};
use super::{like, unbatched, values_at};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params,
};
use crate::error::{Error, Result};
use crate::ops::{Value, memory};
use crate::tensor::layout::Dims;
use crate::tensor::sparse::{Csr, Elements, refused};
use crate::tensor::{DType, Dtypes, Layout, Scalar, Tensor, copy};

const OP: &str = "sparse_csr_tensor";

/// `sparse_csr_tensor`. Reverse: `g` at the indices.
#[derive(Clone, Debug)]
struct FromRows {
    sizes: Dims,
}

impl Primitive for FromRows {
    const NAME: &'static str = OP;
    const NODE: &'static str = "SparseCompressedTensorBackward0";
    const SAVE: &'static [Save] = &[Save::input(2, "values"), Save::output(0, "result")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b100);
    fn inputs(&self) -> u32 {
        0b100
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[2].dtype())
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let csr = Csr { crow: xs[0].clone(), col: xs[1].clone(), values: xs[2].clone() };
        Tensor::sparse(&self.sizes, Elements::Csr(csr)).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let coo = cx.saved(1)?.entries(OP)?;
        let mut grads = maybe(None);
        grads.push(None);
        grads.push(cx.when(2, || values_at(cx.g(), &coo, &self.sizes))?);
        Ok(grads)
    }
}

/// A recorded matrix of entries that are known to fit.
pub(super) fn with_values(sizes: &[usize], csr: &Csr, values: &Tensor) -> Result<Tensor> {
    apply1(FromRows { sizes: Dims::from_slice(sizes) }, &[&csr.crow, &csr.col, values])
}

/// A sparse matrix of `values` (entries) in the columns `col` (entries), recorded; `crow` (rows + 1) says where the
/// entries of each row begin, and where the last ones end. The columns of a row are in order, and different.
pub fn sparse_csr_tensor(crow: &Tensor, col: &Tensor, values: &Tensor, sizes: Option<&[i64]>) -> Result<Tensor> {
    let xs = [crow, col, values];
    if xs.iter().any(|x| x.is_sparse()) {
        return Err(refused(OP, &xs));
    }
    if let Some(x) = xs.iter().find(|x| x.ndim() != 1) {
        return Err(Error::not_implemented(format!(
            "{OP}: a matrix has vectors of indices and values, got a tensor with {} dims: there are no batches of sparse \
             matrices, nor blocks",
            x.ndim()
        )));
    }
    let (crow, col) = (memory::cast(&crow.detach(), DType::Int64)?, memory::cast(&col.detach(), DType::Int64)?);
    let (starts, columns) = (read(&crow)?, read(&col)?);
    let nnz = values.numel();
    let sizes = match sizes {
        Some([rows, cols]) => crate::ops::create::sizes(OP, &[*rows, *cols])?,
        Some(sizes) => {
            return Err(Error::shape(OP, format!("a matrix has two sizes, got {sizes:?}")));
        }
        None => {
            let width = columns.iter().max().map_or(0, |&c| (c + 1).max(0) as usize);
            Dims::from_slice(&[starts.len().saturating_sub(1), width])
        }
    };
    let require = |holds: bool, what: &dyn Fn() -> String| if holds { Ok(()) } else { Err(Error::autograd(what())) };
    require(starts.len() == sizes[0] + 1, &|| {
        format!(
            "crow_indices.shape[-1] must be equal to the number of rows + 1 (={}), but got {}",
            sizes[0] + 1,
            starts.len()
        )
    })?;
    require(columns.len() == nnz, &|| {
        format!(
            "col_indices.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[0], but got {}",
            columns.len()
        )
    })?;
    require(starts[0] == 0, &|| "`crow_indices[..., 0] == 0` is not satisfied.".into())?;
    require(starts[sizes[0]] == nnz as i64, &|| "`crow_indices[..., -1] == nnz` is not satisfied.".into())?;
    require(starts.windows(2).all(|w| w[0] <= w[1] && w[1] - w[0] <= sizes[1] as i64), &|| {
        "`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied.".into()
    })?;
    require(columns.iter().all(|&c| (0..sizes[1] as i64).contains(&c)), &|| {
        "`0 <= col_indices < ncols` is not satisfied.".into()
    })?;
    let in_order = |w: &[i64]| columns[w[0] as usize..w[1] as usize].windows(2).all(|c| c[0] < c[1]);
    require(starts.windows(2).all(in_order), &|| {
        "`col_indices[..., crow_indices[..., i - 1]:crow_indices[..., i]] for all i = 1, ..., nrows are sorted and distinct \
         along the last dimension values` is not satisfied."
            .into()
    })?;
    with_values(&sizes, &Csr { crow, col, values: values.detach() }, values)
}

/// The matrix in this layout, for a number of rows.
pub(super) fn by_rows(keys: &[i64], sizes: &[usize], values: Tensor) -> Result<Csr> {
    let width = sizes[1].max(1) as i64;
    let (mut crow, mut col) = (vec![0i64; sizes[0] + 1], Vec::with_capacity(keys.len()));
    for key in keys {
        crow[(key / width) as usize + 1] += 1;
        col.push(key % width);
    }
    for i in 0..sizes[0] {
        crow[i + 1] += crow[i];
    }
    Ok(Csr { crow: list(&crow)?, col: list(&col)?, values })
}

/// `sparse.sampled_addmm`: `beta c + alpha a b` where `c` has entries. Reverse of the matrices: the products with `g`.
#[derive(Clone, Debug)]
struct SampledAddmm {
    beta: Scalar,
    alpha: Scalar,
}

impl Primitive for SampledAddmm {
    const NAME: &'static str = "sparse_sampled_addmm";
    const SAVE: &'static [Save] =
        &[Save::input(0, "self"), Save::input(1, "mat1").when(2), Save::input(2, "mat2").when(1)];
    const PARAMS: Params<Self> = params!(op; alpha, beta);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::COMPLEX);
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (c, a, b) = (cx.xs[0], cx.xs[1], cx.xs[2]);
        let none = Self { beta: Scalar::Int(0), ..op.clone() };
        let of_c = cx.t(0).map(|t| t.times(op.beta)).transpose()?;
        let of_a = cx.t(1).map(|t| apply1(none.clone(), &[c, t, b])).transpose()?;
        let of_b = cx.t(2).map(|t| apply1(none.clone(), &[c, a, t])).transpose()?;
        let parts: Vec<Tensor> = [of_c, of_a, of_b].into_iter().flatten().collect();
        let mut values = Vec::new();
        for part in &parts {
            values.push(Some(super::values(part)?));
        }
        let sum = crate::autograd::primitive::Jvp::sum(values)?;
        sum.map(|v| like(c, &v)).transpose().map(maybe)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (c, a, b) = (xs[0], xs[1], xs[2]);
        let Some(Elements::Csr(csr)) = c.elements() else { return Err(refused(Self::NAME, xs)) };
        if a.is_sparse() || b.is_sparse() {
            return Err(refused(Self::NAME, xs));
        }
        check(Self::NAME, a, b)?;
        if c.sizes() != [a.sizes()[0], b.sizes()[1]] {
            return Err(Error::shape(
                Self::NAME,
                format!("Expected self shape {:?} to be that of mat1 @ mat2, of {a:?} and {b:?}", c.sizes()),
            ));
        }
        let (rows, cols) = rows_and_columns(Self::NAME, c)?;
        let product = a.index_select(0, &rows)?.mul(&b.t()?.index_select(0, &cols)?)?.sum_dims(&[1], false)?;
        let values = product.times(self.alpha)?;
        let values = if self.beta.is_zero() { values } else { csr.values.times(self.beta)?.add(&values)? };
        Tensor::sparse(c.sizes(), Elements::Csr(Csr { values, ..csr })).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let c = cx.saved(0)?;
        // At the entries of c, in its layout.
        let g = like(c, &values_at(cx.g(), &c.entries(Self::NAME)?, c.sizes())?)?;
        let mut grads = maybe(cx.when(0, || like(c, &super::values(&g)?.times(self.beta)?))?);
        grads.push(cx.when(1, || g.mm(&cx.saved(2)?.t()?)?.times(self.alpha))?);
        grads.push(cx.when(2, || cx.saved(1)?.t()?.mm(&g)?.times(self.alpha))?);
        Ok(grads)
    }
}

/// `beta * input + alpha * (mat1 @ mat2)` where `input` has entries.
///
/// Args: `input` (n, p) sparse, by rows; `mat1` (n, m), `mat2` (m, p) dense; all of one dtype, floating or complex;
/// `beta`, `alpha` numbers. Returns: a sparse tensor with the indices of `input`. Derivative: `beta * g` for `input`,
/// and products with `g` at the entries for the matrices. Raises: RuntimeError if sizes or dtypes do not fit,
/// NotImplementedError for another layout of `input`.
///
/// >>> x = rg.eye(2).to_sparse_csr()
/// >>> rg.sparse.sampled_addmm(x, rg.ones(2, 3), rg.ones(3, 2)).values().tolist()
/// [4.0, 4.0]
#[op(function, module = "sparse", norust, "(*, beta=1, alpha=1)")]
pub fn sampled_addmm(input: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    if input.layout() != Layout::SparseCsr {
        return Err(refused("sparse_sampled_addmm", &[input]));
    }
    apply1(SampledAddmm { beta, alpha }, &[input, mat1, mat2])
}

/// What is made of the products of a row's entries with their rows of the other matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reduction {
    Sum,
    Mean,
    AMax,
    AMin,
}

/// `sparse.mm(reduce=)`. Reverse: as of the product, of the entries that were chosen, or divided by their number.
#[derive(Clone, Debug)]
struct MmReduce {
    reduction: Reduction,
    name: &'static str,
}

impl MmReduce {
    /// How much of a product is in the result: a factor for each, or one for all of an entry.
    fn shares(&self, x: &Tensor, rows: &Tensor, chosen: &Tensor, like: &Tensor) -> Result<Option<Tensor>> {
        match self.reduction {
            Reduction::Sum => Ok(None),
            Reduction::Mean => {
                let csr = x.csr(Self::NAME)?;
                let starts = csr.crow.to_vec::<i64>()?;
                let counts: Vec<i64> = starts.windows(2).map(|w| (w[1] - w[0]).max(1)).collect();
                let counts = memory::cast(&list(&counts)?.index_select(0, rows)?.unsqueeze(1)?, like.dtype())?;
                counts.reciprocal().map(Some)
            }
            _ => {
                let numbers = Tensor::arange(rows.numel() as i64)?.unsqueeze(1)?;
                memory::cast(&chosen.index_select(0, rows)?.eq(&numbers)?, like.dtype()).map(Some)
            }
        }
    }
}

impl Primitive for MmReduce {
    const NAME: &'static str = "sparse_mm_reduce_impl";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "other"), Save::output(1, "result1")];
    const PARAMS: Params<Self> = params!(op; reduce: Value::Str(op.name.into()));
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| {
        Err(Error::not_implemented(
            "Trying to use forward AD with _sparse_mm_reduce_impl that does not support it: use sparse.mm without reduce",
        ))
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, other) = (xs[0], xs[1]);
        let Some(Elements::Csr(csr)) = x.elements() else { return Err(refused(Self::NAME, xs)) };
        check(Self::NAME, x, other)?;
        let (rows, cols) = rows_and_columns(Self::NAME, x)?;
        let (dtype, wide) = (x.dtype(), if x.dtype().half().is_some() { DType::Float32 } else { x.dtype() });
        let products =
            copy::cast(&csr.values, wide)?.unsqueeze(1)?.mul(&copy::cast(&other.index_select(0, &cols)?, wide)?)?;
        let (height, width) = (x.sizes()[0], other.sizes()[1]);
        let mut chosen = vec![-1i64; height * width];
        if matches!(self.reduction, Reduction::AMax | Reduction::AMin) {
            let all = products.to_vec::<f64>()?;
            let sign = if self.reduction == Reduction::AMax { 1.0 } else { -1.0 };
            for (k, &row) in rows.to_vec::<i64>()?.iter().enumerate() {
                for (j, at) in chosen[row as usize * width..][..width].iter_mut().enumerate() {
                    if *at < 0 || sign * all[k * width + j] > sign * all[*at as usize * width + j] {
                        *at = k as i64;
                    }
                }
            }
        }
        let chosen = Tensor::from_slice(&chosen, &[height, width])?;
        let parts = match self.shares(x, &rows, &chosen, &products)? {
            Some(shares) => products.mul(&shares)?,
            None => products,
        };
        let zeros = Tensor::zeros(&[height, width], wide)?;
        let sum = copy::cast(&zeros.index_add(0, &rows, &parts, 1i64.into())?, dtype)?;
        Ok(smallvec::smallvec![sum, chosen])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, other) = (cx.saved(0)?, cx.saved(1)?);
        let Some(g) = cx.g_of(0) else { return Ok(smallvec::smallvec![None, None]) };
        let (rows, cols) = rows_and_columns(Self::NAME, x)?;
        let of_products = g.index_select(0, &rows)?;
        let of_products = match self.shares(x, &rows, cx.saved(2)?, g)? {
            Some(shares) => of_products.mul(&shares)?,
            None => of_products,
        };
        let mut grads =
            maybe(cx.when(0, || like(x, &of_products.mul(&other.index_select(0, &cols)?)?.sum_dims(&[1], false)?))?);
        grads.push(cx.when(1, || {
            let parts = of_products.mul(&super::values(x)?.unsqueeze(1)?)?;
            Tensor::zeros(other.sizes(), g.dtype())?.index_add(0, &cols, &parts, 1i64.into())
        })?);
        Ok(grads)
    }
}

/// The product of a sparse matrix and a dense one, or what else is made of the products that it adds up.
///
/// Args: `mat1` (n, m) sparse, by rows; `mat2` (m, p) dense, of the same dtype; `reduce` 'sum', 'mean', 'amax' or
/// 'amin' of the products of the entries of a row, of which there must be one for other results than 0. Returns: a
/// dense tensor of shape (n, p). Derivative: as of the product; for 'amax' and 'amin' of the first product that was
/// chosen; of `mat1` at its entries. Raises: NotImplementedError for another layout of `mat1`.
///
/// >>> x = rg.tensor([[1.0, 2.0], [0.0, 3.0]]).to_sparse_csr()
/// >>> rg.sparse.mm(x, rg.tensor([[1.0], [10.0]]), 'amax').tolist()
/// [[20.0], [30.0]]
#[op(function, module = "sparse", norust, name = "mm")]
pub fn mm_reduce(mat1: &Tensor, mat2: &Tensor, reduce: &str) -> Result<Tensor> {
    let known =
        [("sum", Reduction::Sum), ("mean", Reduction::Mean), ("amax", Reduction::AMax), ("amin", Reduction::AMin)];
    let Some((name, reduction)) = known.into_iter().find(|(name, _)| *name == reduce) else {
        return Err(Error::autograd(format!(
            "reduce argument must be either sum, prod, mean, amax or amin, got {reduce} (prod is not available)"
        )));
    };
    if mat1.layout() != Layout::SparseCsr || mat2.is_sparse() {
        return Err(refused("_sparse_mm_reduce_impl", &[mat1, mat2]));
    }
    Ok(apply(MmReduce { reduction, name }, &[mat1, mat2])?.swap_remove(0))
}
