//! `embedding_bag`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use retrograd_macros::op;

use super::bag_offsets::{checked_indices, cut};
use super::embedding::{EmbeddingBackward, EmbeddingTable, lookup, renormalize, sparse_gradient};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params};
use crate::error::{Error, Result, Sizes};
use crate::kernels::real::Real;
use crate::kernels::row_sums::RowSums;
use crate::match_dtype;
use crate::ops::view::{batch_first, reshape_to};
use crate::ops::{Value, memory};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Scalar, Tensor};

const OP: &str = super::bag_offsets::OP;

/// How the rows of a bag are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Sum = 0,
    Mean = 1,
    Max = 2,
}

/// `embedding_bag`: the rows of each bag summed (each times its weight), averaged, or their largest elements. Padding
/// is ignored.
///
/// Reverse: each row of a bag gets the bag's gradient, times its weight or divided by the number of rows; or of `max`
/// the row that was largest. Weights get the inner product of row and gradient.
///
/// Operands: the table, the indices, then the weights of the rows, if any. Results: the bags, the bag of each index,
/// how many rows each bag has, and of `max` the row of each element.
#[derive(Clone, Debug)]
struct EmbeddingBag {
    table: EmbeddingTable,
    mode: Mode,
    /// The indices of each bag, in their order: the first begins with the first index.
    bags: Arc<[Range<usize>]>,
    offsets: Tensor,
    padding: Option<i64>,
    /// The gradient of the table has the rows that were looked up, and no others.
    sparse: bool,
}

impl EmbeddingBag {
    fn run<T: Element + Real>(&self, xs: &[&Tensor]) -> Result<Outs> {
        let indices = checked_indices(xs[1], self.table.rows())?;
        let list = indices.as_slice::<i64>().unwrap_or(&[]);
        let (table, weights) = (copy::contiguous(xs[0])?, xs.get(2).map(|w| copy::contiguous(w)).transpose()?);
        let from = table.as_slice::<T>().unwrap_or(&[]);
        let weights = weights.as_ref().and_then(Tensor::as_slice::<T>);
        let (width, bags) = (table.sizes()[1], self.bags.len());
        let bag_of = Tensor::build::<i64>(&[list.len()], |to| {
            let mut filled = 0;
            for (b, bag) in self.bags.iter().enumerate() {
                to[filled..bag.start].fill(0);
                to[bag.clone()].fill(b as i64);
                filled = bag.end;
            }
            to[filled..].fill(0);
        })?;
        let kept = |b: usize| self.kept(list, b);
        let counts: Vec<i64> = match self.table.padding_row() {
            Some(_) => (0..bags).map(|b| kept(b).count() as i64).collect(),
            None => self.bags.iter().map(|bag| bag.len() as i64).collect(),
        };
        let row = |k: usize| &from[list[k] as usize * width..][..width];
        let mut largest = Vec::new();
        let y = Tensor::build::<T>(&[bags, width], |to| match (self.mode, weights) {
            (Mode::Max, _) => {
                to.fill(T::ZERO);
                largest.resize(bags * width, 0i64);
                for (b, to) in to.chunks_mut(width.max(1)).enumerate() {
                    for (nr, k) in kept(b).enumerate() {
                        for ((o, &x), at) in to.iter_mut().zip(row(k)).zip(&mut largest[b * width..]) {
                            if nr == 0 || x > *o {
                                (*o, *at) = (x, list[k]);
                            }
                        }
                    }
                }
            }
            (_, Some(weights)) => {
                to.fill(T::ZERO);
                for (b, to) in to.chunks_mut(width.max(1)).enumerate() {
                    for k in kept(b) {
                        to.iter_mut().zip(row(k)).for_each(|(o, &x)| *o = o.add(x.mul(weights[k])));
                    }
                }
            }
            (_, None) => {
                let (starts, lists) = self.lists(list);
                let sums = RowSums::of_lists(self.table.rows(), starts, lists);
                // SAFETY: (1) S1 and S3 for the rows of the contiguous table; the fresh result has a row for each bag.
                // (2) Nobody else has it.
                unsafe { sums.write(1, width, T::ZERO, from.as_ptr(), to.as_mut_ptr()) }
                if self.mode == Mode::Mean {
                    for (to, &count) in to.chunks_mut(width.max(1)).zip(&counts).filter(|&(_, &count)| count > 0) {
                        to.iter_mut().for_each(|o| *o = o.div(T::of(count as f64)));
                    }
                }
            }
        })?;
        let largest = if self.mode == Mode::Max {
            Tensor::from_slice(&largest, &[bags, width])?
        } else {
            Tensor::from_slice(&counts, &[bags])?
        };
        let counts = Tensor::from_slice(&counts, &[bags])?;
        Ok(smallvec::smallvec![y, bag_of, counts, largest])
    }

    /// The positions of the indices of a bag that are not padding.
    fn kept<'a>(&'a self, indices: &'a [i64], bag: usize) -> impl Iterator<Item = usize> + 'a {
        self.bags[bag].clone().filter(|&k| !self.table.is_padding(indices[k] as usize))
    }
    /// The rows of all bags, one after the other, and where those of each begin and the last ones end.
    fn lists<'a>(&self, indices: &'a [i64]) -> (Vec<usize>, Cow<'a, [i64]>) {
        let bags = 0..self.bags.len();
        let mut starts = Vec::with_capacity(bags.len() + 1);
        starts.push(0);
        // Bags without padding that follow one another are as they should be.
        if self.table.padding_row().is_none() && self.bags.windows(2).all(|bags| bags[0].end == bags[1].start) {
            starts.extend(self.bags.iter().map(|bag| bag.end));
            let end = starts[bags.len()];
            return (starts, Cow::Borrowed(&indices[..end]));
        }
        let mut lists = Vec::with_capacity(indices.len());
        for bag in bags {
            lists.extend(self.kept(indices, bag).map(|k| indices[k]));
            starts.push(lists.len());
        }
        (starts, Cow::Owned(lists))
    }
    /// The bag of each index that is in one, and the positions of those, if some are not.
    fn members(&self, count: usize) -> Result<(Tensor, Option<Tensor>)> {
        let bag_of: Vec<i64> =
            self.bags.iter().enumerate().flat_map(|(b, bag)| bag.clone().map(move |_| b as i64)).collect();
        let within =
            (bag_of.len() < count).then(|| self.bags.iter().flat_map(|bag| bag.clone().map(|k| k as i64)).collect());
        let within = within.map(|at: Vec<i64>| Tensor::from_slice(&at, &[at.len()])).transpose()?;
        Ok((Tensor::from_slice(&bag_of, &[bag_of.len()])?, within))
    }
    /// Ones for bags that have rows, as a column of this dtype.
    fn filled(&self, counts: &Tensor, dtype: DType) -> Result<Tensor> {
        memory::cast(&counts.gt(&Tensor::number(Scalar::Int(0))?)?, dtype)?.unsqueeze(-1)
    }
    /// The elements of a bag's gradient for the rows in it, one row for each index.
    fn grad_of_rows(&self, g: &Tensor, counts: &Tensor, bag_of: &Tensor) -> Result<Tensor> {
        let g = match self.mode {
            Mode::Mean => {
                g.div(&memory::cast(counts, g.dtype())?.clamp_min(&Tensor::number(Scalar::Int(1))?)?.unsqueeze(-1)?)?
            }
            _ => g.clone(),
        };
        g.index_select(0, bag_of)
    }
    fn picked(x: &Tensor, at: Option<&Tensor>) -> Result<Tensor> {
        at.map_or_else(|| Ok(x.clone()), |at| x.index_select(0, at))
    }
    /// Whether each index is not padding, if some are.
    fn no_padding(&self, indices: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
        let Some(row) = self.table.padding_row() else { return Ok(None) };
        let within = indices.remainder(&Tensor::number(Scalar::Int(self.table.rows_of_each() as i64))?)?;
        memory::cast(&within.ne(&Tensor::number(Scalar::Int(row as i64))?)?, dtype).map(Some)
    }
}

impl Primitive for EmbeddingBag {
    const NAME: &'static str = OP;
    const SAVE: &'static [Save] = &[
        Save::input(0, "weight").when(2),
        Save::input(1, "indices"),
        Save::input(2, "per_sample_weights").when(0),
        Save::output(1, "result1"),
        Save::output(2, "result2"),
        Save::output(3, "result3"),
    ];
    const PARAMS: Params<Self> = params!(op;
        scale_grad_by_freq: op.table.by_freq,
        sparse: op.sparse,
        weight_sym_argsize_0: op.table.rows(),
        mode: op.mode as i64,
        offsets: Value::Tensor(op.offsets.clone()),
        padding_idx: op.padding.unwrap_or(-1),
    );
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        // The bags of all entries, over one table with the rows of all.
        let count = xs[1].numel() / if axes[1].is_some() { batch.max(1) } else { 1 };
        let weight = batch_first(xs[0], axes[0], batch)?;
        let (rows, width) = (op.table.rows(), weight.sizes()[2]);
        let weight = reshape_to(&weight, &[batch * rows, width])?;
        let indices = reshape_to(&op.table.offset(xs[1], axes[1], batch)?, &[batch * count])?;
        let weights = xs.get(2).map(|w| reshape_to(&batch_first(w, axes[2], batch)?, &[batch * count])).transpose()?;
        let bags = (0..batch)
            .flat_map(|b| op.bags.iter().map(move |bag| bag.start + b * count..bag.end + b * count))
            .collect();
        let whole = Self { table: op.table.times(batch), bags, ..op.clone() };
        let mut all = vec![&weight, &indices];
        all.extend(&weights);
        let outs = apply(whole, &all)?;
        let apart = |t: &Tensor| {
            let mut sizes = vec![batch, t.sizes()[0] / batch.max(1)];
            sizes.extend_from_slice(&t.sizes()[1..]);
            if batch == 0 {
                sizes[1] = if t.ndim() == 2 { op.bags.len() } else { 0 }
            }
            reshape_to(t, &sizes)
        };
        Ok((outs.iter().map(apart).collect::<Result<_>>()?, smallvec::smallvec![Some(0); 4]))
    });
    fn inputs(&self) -> u32 {
        0b101
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let edges = cx.node.edges.len();
        let Some(g) = cx.g_of(0) else { return Ok((0..edges).map(|_| None).collect()) };
        let (indices, counts) = (cx.saved(1)?, cx.saved(4)?);
        let mut grads = Grads::new();
        if self.mode == Mode::Max {
            grads.push(cx.when(0, || {
                let zeros = Tensor::zeros(&[self.table.rows(), g.sizes()[1]], g.dtype())?;
                zeros.scatter_add(0, cx.saved(5)?, &g.mul(&self.filled(counts, g.dtype())?)?)
            })?);
            grads.extend((1..edges).map(|_| None));
            return Ok(grads);
        }
        let (bag_of, within) = self.members(indices.numel())?;
        let indices = Self::picked(indices, within.as_ref())?;
        let rows = self.grad_of_rows(g, counts, &bag_of)?;
        grads.push(cx.when(0, || {
            let rows = match edges > 2 {
                true => rows.mul(&Self::picked(cx.saved(2)?, within.as_ref())?.unsqueeze(-1)?)?,
                false => rows.clone(),
            };
            if self.sparse {
                return sparse_gradient(&self.table, &rows, &indices);
            }
            apply1(EmbeddingBackward(self.table), &[&rows, &indices])
        })?);
        grads.push(None);
        if edges > 2 {
            grads.push(cx.when(2, || {
                let along = rows.mul(&lookup(self.table, cx.saved(0)?, &indices)?)?.sum_dims(&[-1], false)?;
                let along = match self.no_padding(&indices, g.dtype())? {
                    Some(kept) => along.mul(&kept)?,
                    None => along,
                };
                match &within {
                    Some(at) => Tensor::zeros(cx.sizes(2), g.dtype())?.index_add(0, at, &along, 1i64.into()),
                    None => Ok(along),
                }
            })?);
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let run = |xs: &[&Tensor]| -> Result<Tensor> { Ok(apply(op.clone(), xs)?.swap_remove(0)) };
        let by_table = |t: &Tensor| {
            if op.mode == Mode::Max {
                let (counts, largest) = (&cx.outs[2], &cx.outs[3]);
                return t.gather(0, largest)?.mul(&op.filled(counts, t.dtype())?);
            }
            let mut xs = cx.xs.to_vec();
            xs[0] = t;
            run(&xs)
        };
        let by_weights = |t: &Tensor| run(&[cx.xs[0], cx.xs[1], t]);
        let mut ts = maybe(Jvp::sum([cx.t(0).map(by_table).transpose()?, cx.t(2).map(by_weights).transpose()?])?);
        ts.extend([None, None, None]);
        Ok(ts)
    });
}

fn tensor_type(t: &Tensor) -> String {
    format!("torch.{}", t.dtype().tensor_type_name())
}

/// Rows of `weight` by their indices, summed, averaged or their largest elements, bag by bag, without the rows
/// themselves.
///
/// Args: `input` indices, int64 or int32: (bags, n), or (n,) with `offsets` (bags,), where each bag begins; `weight`
/// (rows, width), floating dtype; `max_norm` scales down, in place, rows whose norm of `norm_type` exceeds it;
/// `scale_grad_by_freq` divides a row's gradient by how often it was looked up; `mode` 'mean', 'sum' or 'max';
/// `per_sample_weights` a factor for each index, for 'sum'; `include_last_offset` says that the last offset is where
/// the last bag ends; `padding_idx` a row that is ignored; `sparse` makes the gradient of `weight` a sparse tensor of
/// the rows that were looked up, not with 'max'. Returns: (bags, width); zeros for an empty bag. Derivative: the
/// gradients of its bags for each row, times its factors or divided by the number of rows; for 'max' where the row was
/// the largest; for the factors, the inner products of rows and gradients. Raises: RuntimeError for indices, offsets or
/// a `padding_idx` out of range and for other dtypes; ValueError for arguments that are incompatible.
///
/// >>> table = rg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
/// >>> rg.nn.functional.embedding_bag(rg.tensor([0, 1, 2]), table, rg.tensor([0, 2]), mode='sum').tolist()
/// [[4.0, 6.0], [5.0, 6.0]]
#[op(
    function,
    module = "nn.functional",
    "(offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', sparse=False, \
     per_sample_weights=None, include_last_offset=False, padding_idx=None)"
)]
pub fn embedding_bag(
    input: &Tensor,
    weight: &Tensor,
    offsets: Option<&Tensor>,
    max_norm: Option<f64>,
    norm_type: f64,
    scale_grad_by_freq: bool,
    mode: &str,
    sparse: bool,
    per_sample_weights: Option<&Tensor>,
    include_last_offset: bool,
    padding_idx: Option<i64>,
) -> Result<Tensor> {
    if let Some(w) = per_sample_weights
        && w.sizes() != input.sizes()
    {
        return Err(Error::value(
            OP,
            format!(
                "If per_sample_weights ({}) is not None, then it must have the same shape as the input ({})",
                Sizes(w.sizes()),
                Sizes(input.sizes())
            ),
        ));
    }
    if weight.ndim() != 2 {
        return Err(Error::value(
            OP,
            format!("weight has to be a 2D Tensor, but got Tensor of dimension {}", weight.ndim()),
        ));
    }
    let every;
    let (indices, weights, offsets) = match (input.ndim(), offsets) {
        (2, Some(_)) => {
            return Err(Error::value(
                OP,
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences",
            ));
        }
        (2, None) => {
            let n = input.sizes()[1] as i64;
            let starts: Vec<i64> = (0..input.sizes()[0] as i64).map(|b| b * n).collect();
            every = Tensor::from_slice(&starts, &[starts.len()])?;
            let flat = [input.numel()];
            (reshape_to(input, &flat)?, per_sample_weights.map(|w| reshape_to(w, &flat)).transpose()?, &every)
        }
        (1, None) => return Err(Error::value(OP, "offsets has to be a 1D Tensor but got None")),
        (1, Some(offsets)) if offsets.ndim() != 1 => return Err(Error::value(OP, "offsets has to be a 1D Tensor")),
        (1, Some(offsets)) => (input.clone(), per_sample_weights.cloned(), offsets),
        (n, _) => {
            return Err(Error::value(OP, format!("input has to be 1D or 2D Tensor, but got Tensor of dimension {n}")));
        }
    };
    let mode = match mode {
        "sum" => Mode::Sum,
        "mean" => Mode::Mean,
        "max" if scale_grad_by_freq => {
            return Err(Error::value(OP, "max mode does not support scaling the gradient by the frequency"));
        }
        "max" if sparse => return Err(Error::value(OP, "max mode does not support sparse weights")),
        "max" => Mode::Max,
        _ => return Err(Error::value(OP, format!("mode has to be one of sum, mean or max, got '{mode}'"))),
    };
    if weights.is_some() && mode != Mode::Sum {
        return Err(Error::not_implemented(format!(
            "{OP}: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{}').",
            if mode == Mode::Max { "max" } else { "mean" }
        )));
    }
    for t in [&indices, offsets] {
        if !matches!(t.dtype(), DType::Int64 | DType::Int32) {
            return Err(Error::dtype(
                OP,
                format!(
                    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {} \
                     instead",
                    tensor_type(t)
                ),
            ));
        }
    }
    if !weight.dtype().is_floating() {
        return Err(Error::dtype(
            OP,
            format!(
                "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, \
                 Double; but got {} instead",
                tensor_type(weight)
            ),
        ));
    }
    if let Some(w) = &weights
        && w.dtype() != weight.dtype()
    {
        return Err(Error::dtype(
            OP,
            format!(
                "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; \
                 but type {} does not equal {}",
                tensor_type(weight),
                tensor_type(w)
            ),
        ));
    }
    let rows = weight.sizes()[0];
    let padding = match padding_idx {
        None => None,
        Some(p) if p >= -(rows as i64) && p < rows as i64 => Some(p.rem_euclid(rows as i64)),
        Some(p) => {
            return Err(Error::shape(
                OP,
                format!(
                    "padding_idx must be within the number of embeddings, -{rows} through {}, but got {p}",
                    rows as i64 - 1
                ),
            ));
        }
    };
    if let Some(max) = max_norm {
        renormalize(OP, weight, &indices, max, norm_type)?;
    }
    let bags = cut(offsets, indices.numel(), include_last_offset)?;
    let table = EmbeddingTable::new(rows, padding.map(|p| p as usize), scale_grad_by_freq);
    let op = EmbeddingBag { table, mode, bags, offsets: offsets.clone(), padding, sparse };
    let mut xs = vec![weight, &indices];
    xs.extend(&weights);
    Ok(apply(op, &xs)?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn bag(
        i: &[i64],
        w: &Tensor,
        at: &[i64],
        mode: &str,
        psw: Option<&Tensor>,
        last: bool,
        pad: Option<i64>,
    ) -> Result<Tensor> {
        let (i, at) = (Tensor::from_slice(i, &[i.len()])?, Tensor::from_slice(at, &[at.len()])?);
        embedding_bag(&i, w, Some(&at), None, 2.0, false, mode, false, psw, last, pad)
    }

    #[test]
    fn gradients() {
        let i = [0, 2, 2, 1, 0];
        for mode in ["sum", "mean", "max"] {
            for (at, last, pad) in [(&[0, 2, 2][..], false, None), (&[0, 1, 4], true, None), (&[0, 3], false, Some(2))]
            {
                gradcheck(&|x| bag(&i, &x[0], at, mode, None, last, pad), &[noise(1, &[3, 4])]);
                if mode == "sum" {
                    let xs = [noise(1, &[3, 4]), noise(2, &[5])];
                    gradcheck(&|x| bag(&i, &x[0], at, mode, Some(&x[1]), last, pad), &xs);
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let w = noise(1, &[3, 2]);
        let e = bag(&[3], &w, &[0], "sum", None, false, None).unwrap_err().to_string();
        assert!(e.contains("not in the valid range [0, 3)"), "{e}");
        assert!(bag(&[0], &w, &[1], "sum", None, false, None).is_err());
        assert!(bag(&[0], &w, &[0, 2], "sum", None, false, None).is_err());
        assert!(bag(&[0, 1], &w, &[0, 2, 1], "sum", None, false, None).is_err());
        assert!(bag(&[0], &w, &[0], "most", None, false, None).is_err());
        assert!(bag(&[0], &w, &[], "sum", None, true, None).is_err());
        assert_eq!(bag(&[0], &w, &[], "sum", None, false, None).unwrap().sizes(), [0, 2]);
    }

    #[test]
    fn rows_are_scaled_to_the_largest_norm() {
        let w = Tensor::from_slice(&[3.0f64, 4.0, 0.3, 0.4], &[2, 2]).unwrap();
        let i = Tensor::from_slice(&[0i64, 1], &[2, 1]).unwrap();
        let y = embedding_bag(&i, &w, None, Some(1.0), 2.0, false, "sum", false, None, false, None).unwrap();
        let y = y.to_vec::<f64>().unwrap();
        assert!((y[0] - 0.6).abs() < 1e-6 && (y[3] - 0.4).abs() < 1e-12, "{y:?}");
    }
}
