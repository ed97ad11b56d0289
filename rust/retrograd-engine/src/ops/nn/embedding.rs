//! `embedding`, `one_hot`.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, ErrorKind, Result};
use crate::kernels::pointwise::pick_rows;
use crate::kernels::real::{Real, Ring};
use crate::kernels::row_sums::RowSums;
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::reduce::norm::vector;
use crate::ops::{memory, sparse, view};
use crate::tensor::copy;
use crate::tensor::layout::Dims;
use crate::tensor::{DType, Dtypes, Element, Scalar, Tensor};
use crate::transforms::check_read;

/// The parameters of both directions: the number of rows, the row that gets no gradient, and whether gradients are
/// divided by how often a row was looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmbeddingTable {
    rows: usize,
    /// How many weights these rows hold, one after the other: those of a batch.
    weights: usize,
    padding: Option<usize>,
    pub(super) by_freq: bool,
}

impl EmbeddingTable {
    pub(super) fn new(rows: usize, padding: Option<usize>, by_freq: bool) -> Self {
        Self { rows, weights: 1, padding, by_freq }
    }
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
    /// The row of each weight that is ignored.
    pub(super) fn padding_row(&self) -> Option<usize> {
        self.padding
    }
    /// How many rows each of the weights has.
    pub(super) fn rows_of_each(&self) -> usize {
        (self.rows / self.weights.max(1)).max(1)
    }
    pub(super) fn is_padding(&self, i: usize) -> bool {
        self.padding.is_some_and(|row| i % self.rows_of_each() == row)
    }
    /// What the gradient of each row is multiplied with.
    fn shares(&self, indices: &[i64]) -> Vec<f64> {
        let mut shares = vec![1.0; self.rows];
        if self.by_freq {
            let mut count = vec![0.0; self.rows];
            for &i in indices {
                count[i as usize] += 1.0;
            }
            for (share, n) in shares.iter_mut().zip(count) {
                *share = 1.0 / f64::max(n, 1.0);
            }
        }
        let rows = self.rows / self.weights.max(1);
        if let Some(row) = self.padding.filter(|&row| row < rows) {
            shares[row..].iter_mut().step_by(rows).for_each(|share| *share = 0.0);
        }
        shares
    }
    /// The tables of a batch as one.
    pub(super) fn times(self, batch: usize) -> Self {
        Self { rows: self.rows * batch, weights: self.weights * batch, ..self }
    }
    /// Indices into the tables of a batch as those into one.
    pub(super) fn offset(self, indices: &Tensor, axis: Option<usize>, batch: usize) -> Result<Tensor> {
        let indices = view::batch_first(&memory::cast(indices, DType::Int64)?, axis, batch)?;
        let first: Vec<i64> = (0..batch).map(|b| (b * self.rows) as i64).collect();
        let mut sizes: Dims = smallvec::smallvec![1; indices.ndim()];
        sizes[0] = batch;
        // An index out of range must not select a row of the next table.
        let beyond = indices
            .lt(&Tensor::number(0i64.into())?)?
            .logical_or(&indices.ge(&Tensor::number((self.rows as i64).into())?)?)?;
        let refused = Tensor::number((-1i64).into())?;
        where_(&beyond, &refused, &indices.add(&Tensor::from_slice(&first, &sizes)?)?)
    }
    /// The row that gets no gradient, as torch shows it.
    fn padding_idx(&self) -> i64 {
        self.padding.map_or(-1, |p| p as i64)
    }
}

/// A contiguous int64 copy of the indices, each checked to name a row (S6).
fn checked_indices(indices: &Tensor, rows: usize) -> Result<Tensor> {
    let indices = copy::own_indices(indices)?;
    match refusal(indices.as_slice().unwrap_or(&[]), rows) {
        None => Ok(indices),
        Some(error) => Err(error),
    }
}

/// The error of the first index that does not name a row.
fn refusal(list: &[i64], rows: usize) -> Option<Error> {
    let i = list.iter().find(|&&i| i < 0 || i >= rows as i64)?;
    Some(Error::index(
        "embedding",
        format!("index out of range in self: {i} does not name one of the {rows} rows of the weight"),
    ))
}

/// `embedding`: rows of a weight. Reverse: [`EmbeddingBackward`].
#[derive(Clone, Copy, Debug)]
struct Embedding {
    table: EmbeddingTable,
    /// Weighs the rows by their shares in the gradient: what the reverse of the reverse does.
    weighed: bool,
    /// The gradient of the weight has the rows that were looked up, and no others.
    sparse: bool,
}

impl Primitive for Embedding {
    const NAME: &'static str = "embedding";
    const SAVE: &'static [Save] = &[Save::input(1, "indices")];
    const PARAMS: Params<Self> = params!(op;
        padding_idx: op.table.padding_idx(),
        scale_grad_by_freq: op.table.by_freq,
        sparse: op.sparse,
        weight_sym_argsize_0: op.table.rows,
    );
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        // The indices may have any shape; but how often a row is looked up is counted by entry.
        if axes[0].is_none() && !op.table.by_freq {
            return Ok((out(apply1(*op, xs)?), smallvec::smallvec![axes[1]]));
        }
        let weight = view::batch_first(xs[0], axes[0], batch)?;
        let weight = view::reshape_to(&weight, &[batch * op.table.rows, weight.sizes()[2]])?;
        let indices = op.table.offset(xs[1], axes[1], batch)?;
        let y = apply1(Self { table: op.table.times(batch), ..*op }, &[&weight, &indices])?;
        Ok((out(y), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // A copy: what `pick_rows` has checked of it is still true afterwards (S6).
        let indices = copy::own_indices(xs[1])?;
        let list = indices.as_slice::<i64>().unwrap_or(&[]);
        let weight = copy::contiguous(xs[0])?;
        let width = weight.sizes()[1];
        let mut sizes = Dims::from_slice(xs[1].sizes());
        sizes.push(width);
        let y = Tensor::empty(&sizes, weight.dtype())?;
        let bytes = width * weight.dtype().size();
        let (from, to) = (weight.op_ptr().cast::<u8>().cast_const(), y.op_ptr().cast::<u8>());
        // SAFETY: (1) S1 and S3: rows of the contiguous weight, and an output of as many as are named; (2) that is
        // fresh.
        if !unsafe { pick_rows(list, self.table.rows, from, bytes as isize, bytes, to) } {
            return Err(refusal(list, self.table.rows).expect("an index that names no row"));
        }
        if self.weighed {
            let shares = self.table.shares(list);
            if y.dtype().half().is_some() {
                let wide = copy::cast(&y, DType::Float32)?;
                scale_rows::<f32>(&wide, list.iter().map(|&i| shares[i as usize]));
                return copy::cast(&wide, y.dtype()).map(out);
            }
            match_dtype!(floats, y.dtype(), T => scale_rows::<T>(&y, list.iter().map(|&i| shares[i as usize])));
        }
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || {
            if self.sparse {
                return sparse_gradient(&self.table, cx.g(), cx.saved(0)?);
            }
            apply1(EmbeddingBackward(self.table), &[cx.g(), cx.saved(0)?])
        })?);
        grads.push(None);
        Ok(grads)
    }
}

/// The gradient of the weight as a sparse tensor: a row of `g` for each index, but for those of padding.
pub(super) fn sparse_gradient(table: &EmbeddingTable, g: &Tensor, indices: &Tensor) -> Result<Tensor> {
    if table.by_freq {
        return Err(Error::autograd(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients: leave one of them out",
        ));
    }
    check_read("embedding", indices)?;
    let own = copy::own_indices(indices)?;
    let list = own.as_slice::<i64>().unwrap_or(&[]);
    let width = g.sizes().last().copied().unwrap_or(1);
    let mut rows = view::reshape_to(g, &[list.len(), width])?;
    let mut named = view::reshape_to(&own, &[1, list.len()])?;
    if table.padding.is_some() {
        let kept: Vec<i64> =
            (0..list.len()).filter(|&k| !table.is_padding(list[k] as usize)).map(|k| k as i64).collect();
        let kept = Tensor::from_slice(&kept, &[kept.len()])?;
        (rows, named) = (rows.index_select(0, &kept)?, named.index_select(1, &kept)?);
    }
    sparse::with_values(&[table.rows, width], &named, &rows, false)
}

/// Rows of `weight` by indices that are in range; those of padding too.
pub(super) fn lookup(table: EmbeddingTable, weight: &Tensor, indices: &Tensor) -> Result<Tensor> {
    apply1(
        Embedding { table: EmbeddingTable { padding: None, by_freq: false, ..table }, weighed: false, sparse: false },
        &[weight, indices],
    )
}

/// Multiplies each row of a fresh matrix by its share.
fn scale_rows<T: Element + Real>(y: &Tensor, shares: impl Iterator<Item = f64>) {
    let (width, p) = (y.sizes().last().copied().unwrap_or(1), y.ptr::<T>());
    for (row, share) in shares.map(T::of).enumerate() {
        for c in 0..width {
            // SAFETY: S1 and S3: element (row, c) of the fresh contiguous output, which has a row for each share.
            unsafe { *p.add(row * width + c) = share.mul(*p.add(row * width + c)) }
        }
    }
}

/// Rows that the indices name and whose norm exceeds `max_norm` are scaled down to it, in place and without a record.
pub(super) fn renormalize(
    op: &'static str,
    weight: &Tensor,
    indices: &Tensor,
    max_norm: f64,
    norm_type: f64,
) -> Result<()> {
    check_read(op, indices)?;
    let indices = checked_indices(indices, weight.sizes()[0])?;
    let mut list = indices.as_slice::<i64>().unwrap_or(&[]).to_vec();
    list.sort_unstable();
    list.dedup();
    let named = Tensor::from_slice(&list, &[list.len()])?;
    let weight = weight.detach();
    let rows = weight.index_select(0, &named)?;
    let norm = memory::cast(&vector(op, &rows, Scalar::Float(norm_type), Some(&[1]), true, None)?, DType::Float64)?;
    let (most, one) = (Tensor::number(Scalar::Float(max_norm))?, Tensor::number(Scalar::Float(1.0))?);
    let scale = where_(&norm.gt(&most)?, &most.div(&norm.plus(1e-7)?)?, &one)?;
    // Elements narrower than float32 are multiplied in it, and rounded once.
    let precision = weight.dtype().real().promote(DType::Float32);
    let scaled = rows.mul(&memory::cast(&scale, precision)?)?;
    weight.index_copy_(0, &named, &memory::cast(&scaled, weight.dtype())?)?;
    Ok(())
}

/// The gradient of the weight: the rows of `g` added up by index. Reverse: [`Embedding`] of `gg`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmbeddingBackward(pub(super) EmbeddingTable);

impl EmbeddingBackward {
    /// The rows of `g`, one for each index of the list, added up.
    fn run<T: Element + Real>(&self, g: &Tensor, list: &[i64], width: usize) -> Result<Tensor> {
        let table = &self.0;
        let y = Tensor::empty(&[table.rows, width], g.dtype())?;
        let g = copy::contiguous(g)?;
        let bytes = (table.rows + list.len()) * size_of::<usize>();
        let sums =
            RowSums::new(table.rows, list, |row| !table.is_padding(row)).ok_or(ErrorKind::OutOfMemory { bytes })?;
        // SAFETY: (1) S1 and S3: the contiguous gradient has a row for every index, the output those of the table;
        // (2) it is fresh.
        unsafe { sums.write(1, width, T::ZERO, g.ptr::<T>().cast_const(), y.ptr::<T>()) };
        if table.by_freq {
            scale_rows::<T>(&y, table.shares(list).into_iter());
        }
        Ok(y)
    }
}

impl Primitive for EmbeddingBackward {
    const NAME: &'static str = "embedding_dense_backward";
    const SAVE: &'static [Save] = &[Save::input(1, "indices")];
    const PARAMS: Params<Self> = params!(op;
        padding_idx: op.0.padding_idx(),
        scale_grad_by_freq: op.0.by_freq,
        sparse: false,
        weight_sym_argsize_0: op.0.rows,
    );
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let g = view::batch_first(xs[0], axes[0], batch)?;
        let indices = op.0.offset(xs[1], axes[1], batch)?;
        let y = apply1(Self(op.0.times(batch)), &[&g, &indices])?;
        let sizes = [batch, op.0.rows, y.sizes()[1]];
        Ok((out(view::reshape_to(&y, &sizes)?), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn kernel_name(&self) -> &'static str {
        "embedding"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let indices = checked_indices(xs[1], self.0.rows)?;
        let width = xs[0].sizes().last().copied().unwrap_or(1);
        if xs[0].numel() != indices.numel() * width {
            return Err(Error::shape("embedding", format!("{:?} has not a row for each of {:?}", xs[0], xs[1])));
        }
        let list = indices.as_slice::<i64>().unwrap_or(&[]);
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs[0], list, width).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let weighed = self.0.padding.is_some() || self.0.by_freq;
        let lookup = Embedding { table: self.0, weighed, sparse: false };
        let mut grads = maybe(cx.when(0, || apply1(lookup, &[cx.g(), cx.saved(0)?]))?);
        grads.push(None);
        Ok(grads)
    }
}

/// Rows of `weight` by their indices.
///
/// Args: `input` indices, int64 or int32, any shape; `weight` (rows, width), any dtype; `padding_idx` a row (negative
/// ones counted from the end) that gets no gradient, or None; `scale_grad_by_freq` divides a row's gradient by how
/// often it was looked up; `max_norm` scales down, in place, the looked-up rows whose norm of `norm_type` exceeds it.
/// `sparse` makes the gradient of the weight a sparse tensor of the rows that were looked up.
/// Returns: a tensor of shape (*input, width). Derivative: the rows of `g` added up by index. Raises: IndexError for an
/// index out of range; RuntimeError for other dtypes or a weight without two dims; ValueError for a `padding_idx` out
/// of range.
///
/// >>> rg.nn.functional.embedding(rg.tensor([1, 0, 1]), rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
#[op(
    function,
    module = "nn.functional",
    "(padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False)"
)]
pub fn embedding(
    input: &Tensor,
    weight: &Tensor,
    padding_idx: Option<i64>,
    max_norm: Option<f64>,
    norm_type: f64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Tensor> {
    const OP: &str = "embedding";
    if weight.ndim() != 2 {
        return Err(Error::shape(OP, format!("'weight' must be 2-D, got {} dims", weight.ndim())));
    }
    if !matches!(input.dtype(), DType::Int64 | DType::Int32) {
        return Err(Error::dtype(
            OP,
            format!(
                "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got \
                 torch.{} instead",
                input.dtype().tensor_type_name()
            ),
        ));
    }
    let rows = weight.sizes()[0];
    let padding = match padding_idx {
        None => None,
        Some(p) if p >= -(rows as i64) && p < rows as i64 => Some(if p < 0 { p + rows as i64 } else { p } as usize),
        Some(p) => {
            return Err(Error::value(
                OP,
                format!("Padding_idx must be within num_embeddings, got {p} for {rows} rows"),
            ));
        }
    };
    if let Some(max) = max_norm {
        renormalize(OP, weight, input, max, norm_type)?;
    }
    let table = EmbeddingTable::new(rows, padding, scale_grad_by_freq);
    apply1(Embedding { table, weighed: false, sparse }, &[weight, input])
}

/// Ones at the given classes, zeros elsewhere.
///
/// Args: `tensor` classes, int64, any shape; `num_classes` how many there are, -1 for the largest one plus one.
/// Returns: an int64 tensor of shape (*tensor, num_classes). No derivative. Raises: RuntimeError for a class that is
/// negative or too large, for another dtype, and where the number of classes cannot be determined.
///
/// >>> rg.nn.functional.one_hot(rg.tensor([0, 2])).tolist()
/// [[1, 0, 0], [0, 0, 1]]
#[op(function, module = "nn.functional", "(num_classes=-1)")]
pub fn one_hot(tensor: &Tensor, num_classes: i64) -> Result<Tensor> {
    const OP: &str = "one_hot";
    if tensor.dtype() != DType::Int64 {
        return Err(Error::dtype(
            OP,
            format!("one_hot is only applicable to index tensor of type LongTensor, got {}", tensor.dtype().name()),
        ));
    }
    if tensor.is_batched() && num_classes >= 0 {
        // The classes are not checked: one out of range has a row of zeros.
        let classes: Vec<i64> = (0..num_classes).collect();
        let all = Tensor::from_slice(&classes, &[classes.len()])?;
        return memory::cast(&tensor.unsqueeze(-1)?.eq(&all)?, DType::Int64);
    }
    if tensor.is_batched() {
        return Err(Error::autograd(
            "When vmap-ing nn.functional.one_hot, please provide an explicit positive num_classes argument: the entries would \
             have results of different sizes",
        ));
    }
    // S6: the classes say how large the result is, and where its ones are.
    let classes = copy::own_indices(tensor)?;
    let list = classes.as_slice::<i64>().unwrap_or(&[]);
    if list.is_empty() && num_classes <= 0 {
        return Err(Error::shape(OP, "Can not infer total number of classes from empty tensor."));
    }
    if list.iter().any(|&c| c < 0) {
        return Err(Error::shape(OP, "Class values must be non-negative."));
    }
    let most = list.iter().max().map_or(0, |c| c.saturating_add(1));
    if num_classes != -1 && most > num_classes {
        return Err(Error::shape(
            OP,
            format!("Class values must be smaller than num_classes. Got {} and num_classes {num_classes}", most - 1),
        ));
    }
    let width = if num_classes == -1 { most } else { num_classes } as usize;
    let mut sizes = Dims::from_slice(tensor.sizes());
    sizes.push(width);
    let y = Tensor::zeros(&sizes, DType::Int64)?;
    let p = y.ptr::<i64>();
    for (k, &c) in list.iter().enumerate() {
        // SAFETY: S1, S3 and S6: row `k` of the fresh output has `width` elements, and `c` is less.
        unsafe { *p.add(k * width + c as usize) = i64::ONE }
    }
    Ok(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for sizes in [&[5][..], &[], &[2, 2], &[0]] {
            let n = sizes.iter().product::<usize>();
            let list: Vec<i64> = [0, 2, 2, 1, 0].into_iter().take(n).collect();
            let i = Tensor::from_slice(&list, sizes).unwrap();
            gradcheck(&|x| embedding(&i, &x[0], None, None, 2.0, false, false), &[noise(1, &[3, 4])]);
            gradcheck(&|x| embedding(&i, &x[0].t()?, None, None, 2.0, false, false), &[noise(1, &[4, 3])]);
        }
    }

    #[test]
    fn shares_of_rows_in_the_gradient() {
        let i = Tensor::from_slice(&[0i64, 2, 2, 1], &[4]).unwrap();
        let g = Tensor::full(&[4, 2], 1.0.into(), DType::Float64).unwrap();
        let sums = |padding, by_freq| {
            let op = EmbeddingBackward(EmbeddingTable { rows: 4, weights: 1, padding, by_freq });
            let y = apply1(op, &[&g, &i]).unwrap();
            y.to_vec::<f64>().unwrap().chunks(2).map(|r| r[0]).collect::<Vec<f64>>()
        };
        assert_eq!(sums(None, false), [1.0, 1.0, 2.0, 0.0]);
        assert_eq!(sums(Some(2), false), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(sums(None, true), [1.0, 1.0, 1.0, 0.0]);
        let op = |padding, by_freq| EmbeddingBackward(EmbeddingTable { rows: 4, weights: 1, padding, by_freq });
        gradcheck(&|x| apply1(op(Some(2), true), &[&x[0], &i]), &[noise(1, &[4, 3])]);
    }

    #[test]
    fn refusals() {
        let w = noise(1, &[3, 4]);
        let run =
            |i: i64, padding| embedding(&Tensor::from_slice(&[i], &[1]).unwrap(), &w, padding, None, 2.0, false, false);
        assert!(run(3, None).unwrap_err().to_string().contains("index out of range in self"));
        assert!(run(-1, None).is_err());
        assert!(run(0, Some(5)).is_err());
        assert!(run(0, Some(-3)).is_ok());
    }

    #[test]
    fn one_hot_values() {
        let t = Tensor::from_slice(&[0i64, 2], &[2]).unwrap();
        assert_eq!(one_hot(&t, -1).unwrap().to_vec::<i64>().unwrap(), [1, 0, 0, 0, 0, 1]);
        assert_eq!(one_hot(&t, 4).unwrap().sizes(), [2, 4]);
        assert!(one_hot(&t, 2).is_err());
        assert!(one_hot(&t, -2).is_err());
        assert!(one_hot(&Tensor::from_slice::<i64>(&[], &[0]).unwrap(), -1).is_err());
        assert_eq!(one_hot(&Tensor::from_slice::<i64>(&[], &[0]).unwrap(), 3).unwrap().sizes(), [0, 3]);
        assert!(one_hot(&Tensor::from_slice(&[i64::MAX], &[1]).unwrap(), -1).is_err());
    }
}
