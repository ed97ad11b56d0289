//! Indexing by tensors: the primitives behind `x[index]` and `x[index] = value`.

use smallvec::{SmallVec, smallvec};

use super::walk::{IndexWalk, add_in_float32, are_adjacent, is_mask, is_summed, positions, sum, summed, warn_of_bytes};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_inplace, apply1};
use crate::autograd::overlap::{OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::pointwise::check_number;
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::layout::expands_to;
use crate::tensor::{DType, Dims, Dtypes, Scalar, Tensor};

/// Index tensors that one op takes: as many as there are slots to keep them in.
const MOST: usize = 8;

const fn save_from(first: usize) -> [Save; MOST] {
    let mut slots = [Save::input(first, "indices"); MOST];
    let mut i = 0;
    while i < MOST {
        slots[i] = Save::input(first + i, "indices");
        i += 1;
    }
    slots
}
const SAVE_INDEX: [Save; MOST] = save_from(1);
const SAVE_PUT: [Save; MOST] = save_from(2);

/// The saved index tensors of a node.
fn saved_indices<'a>(cx: &'a Vjp, n: usize) -> Result<SmallVec<[&'a Tensor; 2]>> {
    (0..n).map(|i| cx.saved(i)).collect()
}

/// `index`: the elements at the broadcast index tensors. Operands: the tensor, then the indices. Reverse: `g` added up
/// at the indices, in zeros.
#[derive(Clone, Debug)]
struct Index {
    /// The axis at which each index tensor begins; a mask covers as many as it has.
    at: SmallVec<[usize; 2]>,
    from: Dims,
}

impl Primitive for Index {
    const NAME: &'static str = "index";
    const SAVE: &'static [Save] = &SAVE_INDEX;
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; self_sym_sizes: &*op.from);
    const BATCH: Batch<Self> = Batch::Rule(batch_index);
    fn inputs(&self) -> u32 {
        1
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        read_at(Self::NAME, xs[0], &self.at, &xs[1..]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let zeros = zeros(cx.sizes(0), cx.g().dtype())?;
        let grad = put_at(&zeros, &self.at, &saved_indices(cx, self.at.len())?, cx.g(), true)?;
        Ok(and_none(cx, one(grad)))
    }
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
}

/// Zeros to which gradients are added: one of them, repeated, since the op that adds makes a copy.
pub(super) fn zeros(sizes: &[usize], dtype: DType) -> Result<Tensor> {
    view::expand_to(&Tensor::full(&[], Scalar::Int(0), dtype)?, sizes)
}

/// The elements of `x` at the indices, not recorded.
pub(super) fn read_at(op: &'static str, x: &Tensor, at: &[usize], index: &[&Tensor]) -> Result<Tensor> {
    let walk = IndexWalk::new(op, x, at, index)?;
    let result = Tensor::empty(&walk.sizes, x.dtype())?;
    // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) the result is fresh and has these sizes.
    unsafe { walk.read(x.op_ptr().cast_const(), result.op_ptr())? };
    Ok(result)
}

/// `index_put`: the tensor with the values written (or added) at the indices. Operands: the tensor, the values, then
/// the indices. Reverse: the tensor gets `g` with zeros where values were written, the values get `g` at the indices.
#[derive(Clone, Debug)]
struct IndexPut {
    at: SmallVec<[usize; 2]>,
    accumulate: bool,
}

impl IndexPut {
    /// Whether one value goes to the true elements of one mask: it is read first, and converted.
    fn fills(&self, xs: &[&Tensor]) -> bool {
        !self.accumulate && xs[1].numel() == 1 && xs.len() == 3 && xs[2].dtype() == DType::Bool
    }

    /// The result, if it is one number everywhere with rows added.
    fn summed(&self, xs: &[&Tensor]) -> Result<Option<Tensor>> {
        let (&[base, values, index], &[at]) = (xs, &self.at[..]) else { return Ok(None) };
        let is_index = matches!(index.dtype(), DType::Int64 | DType::Int32);
        if !self.accumulate || !is_summed(base, at) || !is_index || values.dtype() != base.dtype() {
            return Ok(None);
        }
        let (before, after) = (&base.sizes()[..at], &base.sizes()[at + 1..]);
        let sizes: Dims = before.iter().chain(index.sizes()).chain(after).copied().collect();
        if values.sizes() == &sizes[..] { summed(base, at, index, values) } else { Ok(None) }
    }

    /// Checks everything, then writes the values to `to`.
    fn write(&self, xs: &[&Tensor], to: &Tensor) -> Result<()> {
        let places = IndexWalk::new(Self::NAME, to, &self.at, &xs[2..])?.places()?;
        let filling;
        let mut values = xs[1];
        if values.dtype() != to.dtype() && self.fills(xs) {
            check_number(Self::NAME, values.item()?, to.dtype())?;
            filling = copy::cast(values, to.dtype())?;
            values = &filling;
        }
        if values.dtype() != to.dtype() {
            return Err(Error::dtype(
                "index_put",
                format!(
                    "Index put requires the source and destination dtypes match, got {} for the destination and {} for the \
                     source.",
                    to.dtype().scalar_type_name(),
                    values.dtype().scalar_type_name()
                ),
            ));
        }
        if !expands_to(values.sizes(), places.sizes()) {
            return Err(Error::shape(
                "index_put",
                format!(
                    "shape mismatch: value tensor of shape {:?} cannot be broadcast to indexing result of shape {:?}",
                    values.sizes(),
                    places.sizes()
                ),
            ));
        }
        // A row-major copy of the values, unless they are that already and disjoint from the target.
        let fits = values.sizes() == places.sizes() && values.is_contiguous() && !copy::ranges_meet(values, to);
        let staged = if fits {
            values.clone()
        } else {
            let staged = Tensor::empty(places.sizes(), to.dtype())?;
            copy::copy_into(values, &staged)?;
            staged
        };
        if self.accumulate && to.dtype().half().is_some() {
            return add_in_float32(to, &staged, |to, staged| {
                let mut xs: SmallVec<[&Tensor; 4]> = SmallVec::from_slice(xs);
                xs[1] = staged;
                self.write(&xs, to)
            });
        }
        if self.accumulate {
            return match_dtype!(rings, to.dtype(), T => {
                // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) `staged` has the walk's sizes and is
                // disjoint from `to`.
                unsafe { places.combine(staged.ptr::<T>().cast_const(), to.ptr::<T>(), sum::<T>) };
                Ok(())
            });
        }
        // SAFETY: as above; `staged` has the dtype of `to`.
        unsafe { places.write(staged.op_ptr().cast_const(), to.op_ptr()) };
        Ok(())
    }
}

impl Primitive for IndexPut {
    const NAME: &'static str = "index_put";
    const SAVE: &'static [Save] = &SAVE_PUT;
    const PARAMS: Params<Self> = params!(op; accumulate);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(batch_put);
    fn dtypes(&self) -> Dtypes {
        if self.accumulate { Dtypes::ALL } else { Self::DTYPES }
    }
    fn inputs(&self) -> u32 {
        0b11
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules { repeats: Repeats::Deprecated, reads: Reads::Apart }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if let Some(result) = self.summed(xs)? {
            return Ok(out(result));
        }
        let result = copy::copy(xs[0])?;
        self.write(xs, &result)?;
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        self.write(xs, out)?;
        Ok(true)
    }
    fn reads(&self, xs: &[&Tensor], i: usize) -> Reads {
        match i {
            1 if self.fills(xs) => Reads::Any,
            2 if self.fills(xs) => Reads::Same,
            _ => Reads::Apart,
        }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let index = saved_indices(cx, self.at.len())?;
        let g = cx.g();
        let to_self = cx.when(0, || {
            if self.accumulate {
                return Ok(g.clone());
            }
            put_at(g, &self.at, &index, &Tensor::full(&[], Scalar::Int(0), g.dtype())?, false)
        })?;
        let to_values = cx.when(1, || index_at(g, &self.at, &index))?;
        Ok(and_none(cx, smallvec![to_self, to_values]))
    }
    const JVP: Tangents<Self> = Tangents::Linear(0b11);
}

/// The gradients, and none for the index operands after them.
pub(super) fn and_none(cx: &Vjp, mut grads: Grads) -> Grads {
    grads.resize(cx.node.edges.len(), None);
    grads
}

fn operands<'a>(first: &[&'a Tensor], index: &[&'a Tensor]) -> Result<SmallVec<[&'a Tensor; 4]>> {
    if index.len() > MOST {
        return Err(Error::not_implemented(format!(
            "index: {} index tensors at once, of which {MOST} are taken",
            index.len()
        )));
    }
    Ok(first.iter().chain(index).copied().collect())
}

/// The elements at index tensors that begin at the axes `at`, ascending.
pub(super) fn index_at(x: &Tensor, at: &[usize], index: &[&Tensor]) -> Result<Tensor> {
    let op = Index { at: SmallVec::from_slice(at), from: Dims::from_slice(x.sizes()) };
    apply1(op, &operands(&[x], index)?)
}

/// `x` with `values` written or added there.
pub(super) fn put_at(x: &Tensor, at: &[usize], index: &[&Tensor], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    apply1(IndexPut { at: SmallVec::from_slice(at), accumulate }, &operands(&[x, values], index)?)
}

/// As [`put_at`], into `x` itself.
pub(super) fn put_at_(
    x: &Tensor,
    at: &[usize],
    index: &[&Tensor],
    values: &Tensor,
    accumulate: bool,
) -> Result<Tensor> {
    apply_inplace(IndexPut { at: SmallVec::from_slice(at), accumulate }, &operands(&[x, values], index)?)
}

/// The index tensors of a list with gaps, and the axis at which each begins. The list ends at the last axis or before.
fn placed<'a>(op: &'static str, x: &Tensor, indices: &'a [Option<Tensor>]) -> Result<(Vec<usize>, Vec<&'a Tensor>)> {
    let (mut at, mut given, mut axis) = (Vec::new(), Vec::new(), 0);
    for index in indices {
        let Some(t) = index else {
            axis += 1;
            continue;
        };
        if is_mask(t) && t.ndim() == 0 {
            return Err(Error::index(op, "a 0-dim mask adds an axis: use an index list with a truth value"));
        }
        warn_of_bytes(t)?;
        at.push(axis);
        given.push(t);
        axis += if is_mask(t) { t.ndim() } else { 1 };
    }
    if axis > x.ndim() {
        return Err(Error::index(op, format!("too many indices for tensor of dimension {} (got {axis})", x.ndim())));
    }
    if given.is_empty() {
        return Err(Error::index(op, "at least one index tensor is needed"));
    }
    Ok((at, given))
}

/// The elements of `x` at `indices`, one entry per axis (a mask covers as many as it has); `None` keeps an axis whole.
pub fn index(x: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    let (at, given) = placed("index", x, indices)?;
    index_at(x, &at, &given)
}

/// `x` with `values` written at `indices` (see [`index`]), or added, each as often as it is named.
pub fn index_put(x: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    let (at, given) = placed("index_put", x, indices)?;
    put_at(x, &at, &given, values, accumulate)
}

/// In-place form of [`index_put`].
pub fn index_put_(x: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    let (at, given) = placed("index_put_", x, indices)?;
    put_at_(x, &at, &given, values, accumulate)
}

// ---- batching

/// Index tensors as positions, with the axis of each; those with a batch have it in front, then `rank` axes.
struct Batched {
    at: Vec<usize>,
    index: Vec<Tensor>,
    rank: usize,
    any: bool,
    adjacent: bool,
}

fn batched(sizes: &[usize], at: &[usize], index: &[&Tensor], axes: &[Option<usize>]) -> Result<Batched> {
    let mut all: Vec<(usize, Tensor, bool)> = Vec::new();
    for ((&at, &t), &axis) in at.iter().zip(index).zip(axes) {
        match axis {
            Some(_) if is_mask(t) => {
                return Err(Error::not_implemented(
                    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over \
                     indexing with a boolean mask. The entries would have results of different sizes: use where or masked_fill",
                ));
            }
            Some(a) => all.push((at, view::movedim(t, &[a as i64], &[0])?, true)),
            None => all.extend(positions("index", sizes, &[at], &[t])?.into_iter().map(|(d, t)| (d, t, false))),
        }
    }
    let rank = all.iter().map(|(_, t, b)| t.ndim() - usize::from(*b)).max().unwrap_or(0);
    let pairs: Vec<(usize, Tensor)> = all.iter().map(|(d, t, _)| (*d, t.clone())).collect();
    let adjacent = are_adjacent(&pairs);
    let any = all.iter().any(|(_, _, b)| *b);
    let index = all
        .iter()
        .map(|(_, t, b)| {
            if !b {
                return Ok(t.clone());
            }
            let mut whole: Dims = smallvec![1; rank + 2 - t.ndim()];
            whole[0] = t.sizes()[0];
            whole.extend_from_slice(&t.sizes()[1..]);
            view::reshape_to(t, &whole)
        })
        .collect::<Result<_>>()?;
    Ok(Batched { at: pairs.into_iter().map(|(d, _)| d).collect(), index, rank, any, adjacent })
}

/// One index per entry of the batch, with `rank` further axes.
fn batch_positions(batch: usize, rank: usize) -> Result<Tensor> {
    let all: Vec<i64> = (0..batch as i64).collect();
    let mut sizes: Dims = smallvec![1; rank + 1];
    sizes[0] = batch;
    Tensor::from_slice(&all, &sizes)
}

/// Moves the `rank` axes of an index from behind the batch axis to behind `first` more.
fn move_index(x: &Tensor, rank: usize, from: usize, to: usize) -> Result<Tensor> {
    let range = |start: usize| (start..start + rank).map(|d| d as i64).collect::<Vec<_>>();
    view::movedim(x, &range(from), &range(to))
}

type BatchResult = Result<(Outs, SmallVec<[Option<usize>; 1]>)>;

fn logical(x: &Tensor, axis: Option<usize>) -> Dims {
    let mut sizes = Dims::from_slice(x.sizes());
    if let Some(a) = axis {
        sizes.remove(a);
    }
    sizes
}

fn batch_index(p: &Index, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> BatchResult {
    let b = batched(&logical(xs[0], axes[0]), &p.at, &xs[1..], &axes[1..])?;
    let first = b.at.first().copied().unwrap_or(0);
    let refs: Vec<&Tensor> = b.index.iter().collect();
    let Some(axis) = axes[0] else {
        let y = index_at(xs[0], &b.at, &refs)?;
        return Ok((out(y), smallvec![Some(if b.adjacent { first } else { 0 })]));
    };
    let x = view::movedim(xs[0], &[axis as i64], &[0])?;
    let shifted: Vec<usize> = b.at.iter().map(|d| d + 1).collect();
    if !b.any {
        let y = index_at(&x, &shifted, &refs)?;
        return Ok((out(y), smallvec![Some(if b.adjacent { 0 } else { b.rank })]));
    }
    let rows = batch_positions(batch, b.rank)?;
    let at: Vec<usize> = std::iter::once(0).chain(shifted).collect();
    let index: Vec<&Tensor> = std::iter::once(&rows).chain(refs).collect();
    let y = index_at(&x, &at, &index)?;
    let y = if b.adjacent && first > 0 { move_index(&y, b.rank, 1, 1 + first)? } else { y };
    Ok((out(y), smallvec![Some(0)]))
}

fn batch_put(p: &IndexPut, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> BatchResult {
    let sizes = logical(xs[0], axes[0]);
    let b = batched(&sizes, &p.at, &xs[2..], &axes[2..])?;
    let first = b.at.first().copied().unwrap_or(0);
    let x = view::batch_first(xs[0], axes[0], batch)?;
    let rows = batch_positions(batch, b.rank)?;
    let at: Vec<usize> = std::iter::once(0).chain(b.at.iter().map(|d| d + 1)).collect();
    let index: Vec<&Tensor> = std::iter::once(&rows).chain(&b.index).collect();
    // The values in the sizes of one entry's result, the batch in front, the index's axes where the op wants them.
    let stay = sizes.len() - b.at.len();
    let mut values = view::batch_first(xs[1], axes[1], batch)?;
    let mut whole: Dims = smallvec![1; (stay + b.rank + 2).saturating_sub(values.ndim())];
    if whole.is_empty() {
        return Err(Error::broadcast("index_put", &sizes, xs[1].sizes()));
    }
    whole[0] = batch;
    whole.extend_from_slice(&values.sizes()[1..]);
    values = view::reshape_to(&values, &whole)?;
    if b.adjacent && first > 0 {
        values = move_index(&values, b.rank, 1 + first, 1)?;
    }
    Ok((out(put_at(&x, &at, &index, &values, p.accumulate)?), smallvec![Some(0)]))
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    fn ints(v: &[i64], sizes: &[usize]) -> Tensor {
        Tensor::from_slice(v, sizes).unwrap()
    }
    fn counted() -> Tensor {
        Tensor::from_slice(&(0..24).map(f64::from).collect::<Vec<_>>(), &[2, 3, 4]).unwrap()
    }

    #[test]
    fn adjacent_indices_stay_in_place_others_come_first() {
        let (x, i) = (counted(), ints(&[0, 1], &[2]));
        let of = |at: &[usize]| index_at(&x, at, &vec![&i; at.len()]).unwrap();
        assert_eq!(of(&[1]).sizes(), [2, 2, 4]);
        assert_eq!(of(&[0, 2]).to_vec::<f64>().unwrap(), [0.0, 4.0, 8.0, 13.0, 17.0, 21.0]);
        assert_eq!(of(&[1, 2]).to_vec::<f64>().unwrap(), [0.0, 5.0, 12.0, 17.0]);
        let t = x.transpose(0, 2).unwrap();
        assert_eq!(
            index_at(&t, &[1], &[&ints(&[-1], &[1])]).unwrap().select(1, 0).unwrap().to_vec::<f64>().unwrap()[..2],
            [8.0, 20.0]
        );
    }

    #[test]
    fn indices_are_checked_before_any_write() {
        let x = counted();
        let bad = ints(&[0, 5], &[2]);
        let one = Tensor::full(&[], Scalar::Int(1), crate::DType::Float64).unwrap();
        assert!(
            put_at_(&x, &[0], &[&bad], &one, false)
                .unwrap_err()
                .to_string()
                .contains("index 5 is out of bounds for dimension 0 with size 2")
        );
        assert_eq!(x.to_vec::<f64>().unwrap()[0], 0.0);
        assert!(put_at_(&x, &[0], &[&ints(&[0], &[1])], &noise(1, &[5]), false).is_err());
        assert!(index_at(&x, &[0, 1], &[&ints(&[0, 1], &[2]), &ints(&[0, 1, 1], &[3])]).is_err());
        assert!(index(&x, &[None, None, None, Some(bad)]).is_err() && index(&x, &[None]).is_err());
        assert_eq!(x.version(), 0);
    }

    #[test]
    fn accumulate_adds_each_time() {
        let x = Tensor::full(&[3], Scalar::Int(0), crate::DType::Int32).unwrap();
        let v = Tensor::from_slice(&[1i32, 2, 4], &[3]).unwrap();
        let i = Some(ints(&[0, 0, -1], &[3]));
        assert_eq!(index_put(&x, from_ref(&i), &v, true).unwrap().to_vec::<i32>().unwrap(), [3, 0, 4]);
        assert_eq!(index_put(&x, &[i], &v, false).unwrap().to_vec::<i32>().unwrap(), [2, 0, 4]);
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        let i = ints(&[0, 2, 0, -1], &[2, 2]);
        gradcheck(&|xs| index_at(&xs[0], &[1], &[&i])?.exp(), from_ref(&x));
        gradcheck(&|xs| index_at(&xs[0].transpose(0, 1)?, &[0, 1], &[&i, &i])?.exp(), from_ref(&x));
        let v = noise(2, &[2, 1]);
        let j = ints(&[1, 3], &[2]);
        gradcheck(
            &|xs| put_at(&xs[0].exp()?, &[1], &[&j], &xs[1].exp()?.transpose(0, 1)?, false),
            &[x.clone(), v.clone()],
        );
        let twice = ints(&[0, 0], &[2]);
        gradcheck(&|xs| put_at(&xs[0].exp()?, &[0], &[&twice], &xs[1].exp()?, true), &[x, v]);
    }

    #[test]
    fn batch_rules_equal_one_by_one() {
        let x = noise(1, &[3, 2, 3, 4]);
        let batch = 3usize;
        let ij = ints(&[0, 1, 1, 0, 0, 0], &[3, 2]);
        let plain = ints(&[1, 0], &[2]);
        for at in [&[0usize][..], &[1], &[0, 2], &[1, 2]] {
            for own in [true, false] {
                let op = Index { at: SmallVec::from_slice(at), from: Dims::new() };
                let mut xs = vec![&x];
                let mut axes = vec![Some(0)];
                for k in 0..at.len() {
                    let b = own && k == 0;
                    xs.push(if b { &ij } else { &plain });
                    axes.push(b.then_some(0));
                }
                let (y, axis) = batch_index(&op, &xs, &axes, batch).unwrap();
                for b in 0..batch as i64 {
                    let mine: Vec<Tensor> = (0..at.len())
                        .map(|k| if own && k == 0 { ij.select(0, b).unwrap() } else { plain.clone() })
                        .collect();
                    let want = index_at(&x.select(0, b).unwrap(), at, &mine.iter().collect::<Vec<_>>()).unwrap();
                    let got = y[0].select(axis[0].unwrap() as i64, b).unwrap();
                    assert_eq!(got.sizes(), want.sizes());
                    assert_eq!(got.to_vec::<f64>().unwrap(), want.to_vec::<f64>().unwrap());
                    // Writing back what was read into zeros, batched and one by one.
                    let values = &y[0];
                    let op = IndexPut { at: SmallVec::from_slice(at), accumulate: true };
                    let mut ps = vec![&x, values];
                    ps.extend(&xs[1..]);
                    let mut pa = vec![Some(0), axis[0]];
                    pa.extend(&axes[1..]);
                    let (z, za) = batch_put(&op, &ps, &pa, batch).unwrap();
                    let one =
                        put_at(&x.select(0, b).unwrap(), at, &mine.iter().collect::<Vec<_>>(), &want, true).unwrap();
                    let got = z[0].select(za[0].unwrap() as i64, b).unwrap();
                    assert_eq!(got.to_vec::<f64>().unwrap(), one.to_vec::<f64>().unwrap());
                }
            }
        }
    }
}
