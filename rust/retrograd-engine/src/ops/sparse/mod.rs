//! Sparse tensors: making them, their parts, and conversions. The arithmetic of their entries is that of dense tensors.

pub mod arith;
pub mod csr;
pub(crate) mod entries;
pub mod mask;
pub mod product;
pub mod softmax;
pub mod sum;

use retrograd_macros::op;

pub(crate) use arith::{add, copied, div, emptied, mul, of_values, transposed, unary};
pub use csr::sparse_csr_tensor;
use entries::{distinct, flat, grow, keys, list, read};
pub use mask::sparse_mask;
pub(crate) use product::{add_product, product};

use super::memory;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result, Sizes};
use crate::ops::{Entry, Value};
use crate::tensor::layout::{Dims, numel};
use crate::tensor::sparse::{Coo, Elements, Layout, refused};
use crate::tensor::{DType, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &COALESCE,
    &VALUES,
    &TO_DENSE,
    &TO_SPARSE,
    &TO_SPARSE_DIM,
    &TO_SPARSE_COO,
    &TO_SPARSE_CSR,
    &mask::SPARSE_MASK,
    &product::MM,
    &csr::MM_REDUCE,
    &csr::SAMPLED_ADDMM,
    &product::ADDMM,
    &sum::SUM,
    &softmax::SOFTMAX,
    &softmax::LOG_SOFTMAX,
];

/// A tensor of entries that are known to fit, without history.
pub(crate) fn of_entries(sizes: &[usize], indices: Tensor, values: Tensor, coalesced: bool) -> Result<Tensor> {
    Tensor::sparse(sizes, Elements::Coo(Coo { indices, values, coalesced }))
}

/// How all ops of this family batch: not at all.
pub(crate) const fn unbatched<P: Primitive>() -> Batch<P> {
    Batch::Rule(|_, _, _, _| {
        Err(Error::not_implemented(format!(
            "vmap: {}: there are no batches of sparse tensors: use to_dense() before, or call it for each entry",
            P::NAME
        )))
    })
}

// ---- from indices and values

/// `sparse_coo_tensor`. Reverse: `g` at the indices.
#[derive(Clone, Debug)]
struct FromEntries {
    sizes: Dims,
    coalesced: bool,
}

impl Primitive for FromEntries {
    const NAME: &'static str = "sparse_coo_tensor";
    const NODE: &'static str = "SparseCooTensorWithDimsAndTensorsBackward0";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b10);
    fn inputs(&self) -> u32 {
        0b10
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[1].dtype())
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        of_entries(&self.sizes, xs[0].clone(), xs[1].clone(), self.coalesced).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let coo = cx.saved(0)?.coo(Self::NAME)?;
        let mut grads = maybe(None);
        grads.push(cx.when(1, || values_at(cx.g(), &coo, &self.sizes))?);
        Ok(grads)
    }
}

/// A recorded tensor of entries that are known to fit.
pub(crate) fn with_values(sizes: &[usize], indices: &Tensor, values: &Tensor, coalesced: bool) -> Result<Tensor> {
    apply1(FromEntries { sizes: Dims::from_slice(sizes), coalesced }, &[indices, values])
}

/// A sparse tensor of `values` (entries, then the sizes of dense axes) at `indices` (a row for each sparse axis, a
/// column for each entry), recorded. Entries of one place add up. Sizes that are not given are the smallest ones.
///
/// `coalesced` says that indices are in order, and different, which is checked if `check` is set. That indices are
/// within the sizes is checked in any case.
pub fn sparse_coo_tensor(
    indices: &Tensor,
    values: &Tensor,
    sizes: Option<&[i64]>,
    coalesced: Option<bool>,
    check: bool,
) -> Result<Tensor> {
    const OP: &str = "sparse_coo_tensor";
    if indices.is_sparse() || values.is_sparse() {
        return Err(refused(OP, &[indices, values]));
    }
    if indices.ndim() != 2 {
        return Err(Error::shape(OP, format!("indices must be sparse_dim x nnz, but got: {}", Sizes(indices.sizes()))));
    }
    let (sparse, nnz) = (indices.sizes()[0], indices.sizes()[1]);
    let values = if values.ndim() == 0 { values.unsqueeze(0)? } else { values.clone() };
    if values.sizes()[0] != nnz {
        return Err(Error::shape(
            OP,
            format!(
                "indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: {}",
                values.sizes()[0]
            ),
        ));
    }
    let rest = &values.sizes()[1..];
    // The tensor keeps them: no other dtype, and no other's memory where they have to be converted.
    let indices = memory::cast(&indices.detach(), DType::Int64)?;
    let sizes = match sizes {
        Some(sizes) => {
            if sizes.len() != sparse + rest.len() {
                return Err(Error::shape(
                    OP,
                    format!(
                        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {}, sparse_dim = {sparse}, \
                         dense_dim = {}",
                        sizes.len(),
                        rest.len()
                    ),
                ));
            }
            let sizes = super::create::sizes(OP, sizes)?;
            if sizes[sparse..] != *rest {
                let expected: Dims = std::iter::once(nnz).chain(sizes[sparse..].iter().copied()).collect();
                return Err(Error::shape(
                    OP,
                    format!("values has incorrect size, expected {}, got {}", Sizes(&expected), Sizes(values.sizes())),
                ));
            }
            sizes
        }
        None => {
            let all = read(&indices)?;
            let largest = |list: &[i64]| list.iter().max().map_or(0, |&i| (i + 1).max(0) as usize);
            let mut inferred: Dims = (0..sparse).map(|d| largest(&all[d * nnz..][..nnz])).collect();
            inferred.extend_from_slice(rest);
            inferred
        }
    };
    let keys = keys(&indices, &sizes[..sparse])?;
    if check && coalesced == Some(true) && !grow(&keys) {
        return Err(Error::autograd("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"));
    }
    // No entry comes before another one, or at the same place, if there are fewer than two.
    with_values(&sizes, &indices, &values, coalesced.unwrap_or(nnz < 2))
}

/// The elements of `x`, dense or sparse, at the places of entries of a tensor of the same sizes; recorded.
pub(crate) fn values_at(x: &Tensor, at: &Coo, sizes: &[usize]) -> Result<Tensor> {
    let keys = at.keys(sizes)?;
    if !x.is_sparse() {
        return flat(x, at.sparse_dim())?.index_select(0, &list(&keys)?);
    }
    let x = if x.layout() == Layout::SparseCoo { coalesce(x)? } else { x.clone() };
    let coo = x.entries("values")?;
    if coo.sparse_dim() != at.sparse_dim() {
        return flat(&to_dense(&x, None, None)?, at.sparse_dim())?.index_select(0, &list(&keys)?);
    }
    let (own, entries) = (coo.keys(sizes)?, values(&x)?);
    if own == keys {
        return Ok(entries);
    }
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for (k, key) in keys.iter().enumerate() {
        if let Ok(found) = own.binary_search(key) {
            to.push(k as i64);
            from.push(found as i64);
        }
    }
    let mut shape = Dims::from_slice(entries.sizes());
    shape[0] = keys.len();
    let there = entries.index_select(0, &list(&from)?)?;
    Tensor::zeros(&shape, entries.dtype())?.index_add(0, &list(&to)?, &there, 1i64.into())
}

// ---- parts

/// `coalesce`: reverse `g`.
#[derive(Clone, Debug)]
struct Coalesce;

impl Primitive for Coalesce {
    const NAME: &'static str = "coalesce";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        xs[0].coo(Self::NAME).map(|_| Outs::new())
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let coo = xs[0].coo(Self::NAME)?.coalesced(xs[0].sizes())?;
        Tensor::sparse(xs[0].sizes(), Elements::Coo(coo)).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(one(cx.g().clone()))
    }
}

/// The same sparse tensor with its entries in the order of their indices, those of one place as their sum.
///
/// Args: `input` a sparse tensor in coordinates. Returns: a sparse tensor; `input` itself if it is coalesced already.
/// Derivative: `g`. Raises: RuntimeError for a tensor of another layout.
///
/// >>> x = rg.sparse_coo_tensor([[2, 0, 2]], [1.0, 2.0, 3.0], (3,))
/// >>> x.coalesce().values().tolist()
/// [2.0, 4.0]
#[op(method)]
pub fn coalesce(input: &Tensor) -> Result<Tensor> {
    if input.coo("coalesce")?.coalesced {
        return Ok(input.clone());
    }
    apply1(Coalesce, &[input])
}

/// `values`: reverse a sparse tensor of `g`, with the same indices.
#[derive(Clone, Debug)]
struct ValuesOf;

impl Primitive for ValuesOf {
    const NAME: &'static str = "values";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let elements = xs[0].elements().ok_or_else(|| refused(Self::NAME, xs))?;
        Ok(out(elements.values().alias()))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        like(cx.saved(0)?, cx.g()).map(one)
    }
}

/// A recorded sparse tensor with the indices of `x`, and these values.
pub(crate) fn like(x: &Tensor, values: &Tensor) -> Result<Tensor> {
    match x.elements() {
        Some(Elements::Csr(csr)) => csr::with_values(x.sizes(), &csr, values),
        _ => {
            let coo = x.coo("values")?;
            with_values(x.sizes(), &coo.indices, values, coo.coalesced)
        }
    }
}

/// The places of the entries of a sparse tensor, each once: what a gradient of it has values at.
pub(crate) fn ordered(x: &Tensor) -> Result<Tensor> {
    if x.layout() == Layout::SparseCoo { coalesce(&x.detach()) } else { Ok(x.detach()) }
}

/// The entries of a sparse tensor.
///
/// Args: `input` a sparse tensor; one in coordinates must be coalesced. Returns: a tensor of shape (entries, *sizes of
/// dense axes) over the memory of the entries. Derivative: a sparse tensor of `g` with the indices of `input`. Raises:
/// RuntimeError for a tensor that is not sparse, or not coalesced.
///
/// >>> rg.tensor([[0.0, 5.0], [6.0, 0.0]]).to_sparse().values().tolist()
/// [5.0, 6.0]
#[op(method)]
pub fn values(input: &Tensor) -> Result<Tensor> {
    match input.elements() {
        None => Err(Error::autograd("values expected sparse tensor layout but got Strided")),
        Some(Elements::Coo(coo)) if !coo.coalesced => {
            Err(Error::autograd("Cannot get values on an uncoalesced tensor, please call .coalesce() first"))
        }
        Some(_) => apply1(ValuesOf, &[input]),
    }
}

impl Tensor {
    /// The indices of the entries of a coalesced tensor, as [`Coo::indices`].
    pub fn indices(&self) -> Result<Tensor> {
        let coo = self.coo("indices")?;
        if !coo.coalesced {
            return Err(Error::autograd("Cannot get indices on an uncoalesced tensor, please call .coalesce() first"));
        }
        Ok(coo.indices.alias())
    }
    /// How many axes of a sparse tensor have indices.
    pub fn sparse_dim(&self) -> Option<usize> {
        match self.elements()? {
            Elements::Coo(coo) => Some(coo.sparse_dim()),
            Elements::Csr(_) => Some(2),
        }
    }
    /// Whether indices are known to be in order, and different.
    pub fn is_coalesced(&self) -> Result<bool> {
        self.coo("is_coalesced").map(|coo| coo.coalesced)
    }
}

// ---- conversions

/// `to_dense`: reverse `g` at the entries, or all of `g` made sparse.
#[derive(Clone, Debug)]
struct ToDense {
    masked: Option<bool>,
}

impl Primitive for ToDense {
    const NAME: &'static str = "to_dense";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; masked_grad: op.masked);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        xs[0].entries(Self::NAME)?.dense(xs[0].sizes()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(0)?;
        if self.masked.unwrap_or(true) {
            return sparse_mask(cx.g(), x).map(one);
        }
        match x.elements() {
            Some(Elements::Coo(coo)) if coo.sparse_dim() > 0 => to_sparse_dim(cx.g(), coo.sparse_dim() as i64).map(one),
            Some(Elements::Csr(_)) => converted(cx.g(), Layout::SparseCsr).map(one),
            // All of a number is its one entry.
            _ => sparse_mask(cx.g(), x).map(one),
        }
    }
}

/// All elements of a sparse tensor.
///
/// Args: `input` any layout; `dtype` the dtype of the result; `masked_grad` False says that the elements that are not
/// given count in the derivative. Returns: a dense tensor; `input` itself if it is one.
/// Derivative: `g` at the entries of `input`, as a sparse tensor; of all elements with `masked_grad=False`.
///
/// >>> rg.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,)).to_dense().tolist()
/// [1.0, 0.0, 2.0, 0.0]
#[op(method, "(dtype=None, *, masked_grad=None)")]
pub fn to_dense(input: &Tensor, dtype: Option<DType>, masked_grad: Option<bool>) -> Result<Tensor> {
    let dense = if input.is_sparse() { apply1(ToDense { masked: masked_grad }, &[input])? } else { input.clone() };
    memory::cast(&dense, dtype.unwrap_or(input.dtype()))
}

/// `to_sparse`: reverse `g` in the layout of the operand.
#[derive(Clone, Debug)]
struct ToSparse {
    /// The number of axes with indices, if that was asked for.
    dim: Option<usize>,
    from: Layout,
    to: Layout,
}

impl Primitive for ToSparse {
    const NAME: &'static str = "to_sparse";
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(op; self_self_sym_blocksize_opt: Value::None);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        match (self.to, self.dim) {
            (Layout::SparseCsr, _) => "ToSparseCsrBackward0",
            (_, Some(_)) => "ToSparseBackward0",
            (_, None) => "ToSparseBackward1",
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, sizes) = (xs[0], xs[0].sizes());
        let dim = self.dim.unwrap_or(x.ndim());
        let (outer, inner) = (numel(&sizes[..dim]), numel(&sizes[dim..]));
        let given = super::view::reshape_to(&x.ne(&Tensor::number(0i64.into())?)?, &[outer, inner])?;
        let keys = given.any_dims(Some(&[1]), false)?.nonzero()?.to_vec::<i64>()?;
        let values = flat(x, dim)?.index_select(0, &list(&keys)?)?;
        self.of_keys(sizes, dim, &keys, values).map(out)
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, sizes) = (xs[0], xs[0].sizes());
        let coo = x.entries(Self::NAME)?.coalesced(sizes)?;
        let keys = coo.keys(sizes)?;
        self.of_keys(sizes, coo.sparse_dim(), &keys, coo.values).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        converted(cx.g(), self.from).map(one)
    }
}

impl ToSparse {
    fn of_keys(&self, sizes: &[usize], dim: usize, keys: &[i64], values: Tensor) -> Result<Tensor> {
        if self.to == Layout::SparseCsr {
            return Tensor::sparse(sizes, Elements::Csr(csr::by_rows(keys, sizes, values)?));
        }
        of_entries(sizes, entries::indices_of(keys, &sizes[..dim])?, values, true)
    }
}

/// The tensor in a layout, recorded.
fn converted(x: &Tensor, to: Layout) -> Result<Tensor> {
    match (x.layout(), to) {
        (from, to) if from == to => Ok(x.clone()),
        (_, Layout::Strided) => to_dense(x, None, None),
        (from, to) => {
            if to == Layout::SparseCsr && (x.ndim() != 2 || x.sparse_dim().is_some_and(|dim| dim != 2)) {
                return Err(Error::shape(
                    "to_sparse_csr",
                    format!("only matrices have this layout, got a tensor of sizes {}", Sizes(x.sizes())),
                ));
            }
            apply1(ToSparse { dim: None, from, to }, &[x])
        }
    }
}

/// The elements of a tensor that are not zero, with their indices.
///
/// Args: `input` any layout; `layout` of the result, `sparse_coo` by default; `blocksize`, `dense_dim` None: these
/// layouts have none. Returns: a coalesced sparse tensor; `input` itself if it has that layout. Derivative: `g` in the
/// layout of `input`.
///
/// >>> rg.tensor([[0.0, 5.0], [6.0, 0.0]]).to_sparse().indices().tolist()
/// [[0, 1], [1, 0]]
#[op(method, norust, "(*, layout=None, blocksize=None, dense_dim=None)")]
pub fn to_sparse(
    input: &Tensor,
    layout: Option<Layout>,
    blocksize: Option<&[i64]>,
    dense_dim: Option<i64>,
) -> Result<Tensor> {
    const OP: &str = "to_sparse";
    if blocksize.is_some() {
        return Err(Error::not_implemented(format!("{OP}: there are no layouts with blocks: leave blocksize out")));
    }
    no_dense_dim(OP, dense_dim)?;
    converted(input, layout.unwrap_or(Layout::SparseCoo))
}

/// The elements of a tensor that are not zero, in coordinates; `to_sparse()`.
///
/// Args: `input` any layout. Returns: a coalesced sparse tensor; `input` itself if it has that layout. Derivative: `g`
/// in the layout of `input`.
///
/// >>> rg.eye(2).to_sparse_csr().to_sparse_coo().indices().tolist()
/// [[0, 1], [0, 1]]
#[op(method, norust)]
pub fn to_sparse_coo(input: &Tensor) -> Result<Tensor> {
    converted(input, Layout::SparseCoo)
}

/// The elements of a matrix that are not zero, by rows.
///
/// Args: `input` (n, m) any layout; `dense_dim` None or 0. Returns: a sparse matrix; `input` itself if it has that
/// layout. Derivative: `g` in the layout of `input`. Raises: RuntimeError for a tensor that is no matrix.
///
/// >>> rg.tensor([[0.0, 5.0], [6.0, 7.0]]).to_sparse_csr().crow_indices().tolist()
/// [0, 1, 3]
#[op(method, norust, "(dense_dim=None)")]
pub fn to_sparse_csr(input: &Tensor, dense_dim: Option<i64>) -> Result<Tensor> {
    no_dense_dim("to_sparse_csr", dense_dim)?;
    converted(input, Layout::SparseCsr)
}

fn no_dense_dim(op: &'static str, dense_dim: Option<i64>) -> Result<()> {
    match dense_dim {
        None | Some(0) => Ok(()),
        Some(_) => Err(Error::not_implemented(format!(
            "{op}: dense_dim is not available: to_sparse(n) gives the first n axes indices"
        ))),
    }
}

/// The slices of a tensor along its first axes that are not zero, with their indices.
///
/// Args: `sparse_dim` how many axes get indices. Returns: a coalesced sparse tensor. Derivative: `g`, dense. Raises:
/// RuntimeError for a number of axes that the tensor does not have.
///
/// >>> rg.tensor([[0.0, 0.0], [6.0, 0.0]]).to_sparse(1).values().tolist()
/// [[6.0, 0.0]]
#[op(method, norust, name = "to_sparse")]
pub fn to_sparse_dim(input: &Tensor, sparse_dim: i64) -> Result<Tensor> {
    let ndim = input.ndim() as i64;
    if let Some(Elements::Coo(coo)) = input.elements() {
        if coo.sparse_dim() as i64 == sparse_dim {
            return Ok(input.clone());
        }
        return Err(Error::shape(
            "to_sparse",
            format!(
                "sparse_dim argument for sparse_to_sparse must not be different from that of the tensor, {}",
                coo.sparse_dim()
            ),
        ));
    }
    if ndim > 0 && sparse_dim == 0 {
        return Err(Error::shape("to_sparse", "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0"));
    }
    if sparse_dim < 0 || sparse_dim > ndim {
        return Err(Error::shape(
            "to_sparse",
            format!("dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {sparse_dim} is given"),
        ));
    }
    apply1(ToSparse { dim: Some(sparse_dim as usize), from: Layout::Strided, to: Layout::SparseCoo }, &[input])
}

/// The different places of entries, for whoever adds up those of one place.
pub(crate) fn places(coo: &Coo, sizes: &[usize], axes: &[usize]) -> Result<(Vec<i64>, Vec<i64>)> {
    let all = read(&coo.indices)?;
    let count = coo.nnz();
    let mut keys = vec![0i64; count];
    for &axis in axes {
        for (key, &index) in keys.iter_mut().zip(&all[axis * count..][..count]) {
            if index < 0 || index >= sizes[axis] as i64 {
                return Err(Error::index("sparse", format!("index {index} is out of range for axis {axis}")));
            }
            *key = *key * sizes[axis] as i64 + index;
        }
    }
    Ok(distinct(&keys))
}
