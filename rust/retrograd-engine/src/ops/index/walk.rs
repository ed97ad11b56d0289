//! Where an advanced index leads: offsets into memory, checked before anything is read or written, and the loops over
//! them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::rectangle::{self, Rectangle, Run, rectangles};
use crate::error::{Error, Result};
use crate::kernels::parallel::{SharedPtr, num_threads, split};
use crate::kernels::pointwise::copying;
use crate::kernels::positions::Counted;
use crate::kernels::real::Ring;
use crate::kernels::row_sums::RowSums;
use crate::kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use crate::kernels::strided::{Axes, Offsets, axis, plan_in_order, read_once};
use crate::kernels::thresholds::index::CHUNK;
use crate::match_dtype;
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, checked_numel, may_overlap, numel};
use crate::tensor::{DType, Dims, Strides, Tensor, Truth};

/// The elements that are not zero, counted.
pub fn counted(x: &Tensor) -> Result<Counted> {
    let truth = copy::contiguous(&copy::cast(x, DType::Bool)?)?;
    // A copy, of which no other thread knows (S6): what is counted is what is found.
    Ok(Counted::new(truth.as_slice::<Truth>().unwrap_or(&[]).to_vec()))
}

/// Positions of the elements that are not zero, one vector per axis, in row-major order.
pub fn nonzero_positions(x: &Tensor) -> Result<Vec<Tensor>> {
    let counted = counted(x)?;
    let vector = |_: &usize| Tensor::empty(&[counted.count()], DType::Int64);
    let positions = x.sizes().iter().map(vector).collect::<Result<Vec<_>>>()?;
    let _reading = reading();
    let to: SmallVec<[_; 8]> = positions.iter().map(|p| SharedPtr(p.ptr::<i64>())).collect();
    // SAFETY: (1) S1 and S3, vectors of so many elements for each axis; (2) they are fresh.
    unsafe { counted.write(x.sizes(), &to) };
    Ok(positions)
}

/// Whether an index tensor is a mask: it selects the positions of its true elements.
pub fn is_mask(t: &Tensor) -> bool {
    matches!(t.dtype(), DType::Bool | DType::UInt8)
}

/// Warns of a mask of bytes, which is easily confused with numbers.
pub fn warn_of_bytes(t: &Tensor) -> Result<()> {
    if t.dtype() == DType::UInt8 {
        return crate::warn::warn(
            "indexing with dtype retrograd.uint8 is now deprecated, please use a dtype retrograd.bool instead.",
        );
    }
    Ok(())
}

/// Index tensors as int64, masks turned into one vector for each axis they cover. `at` gives the axis of `sizes` at
/// which each of the given ones begins.
pub fn positions(op: &'static str, sizes: &[usize], at: &[usize], given: &[&Tensor]) -> Result<Vec<(usize, Tensor)>> {
    let mut all = Vec::with_capacity(given.len());
    for (i, (&at, t)) in at.iter().zip(given).enumerate() {
        if is_mask(t) {
            for (d, &n) in t.sizes().iter().enumerate() {
                if sizes.get(at + d) != Some(&n) {
                    return Err(Error::index(
                        op,
                        format!(
                            "The shape of the mask {:?} at index {d} does not match the shape of the indexed tensor {sizes:?} \
                             at index {}",
                            t.sizes(),
                            at + d
                        ),
                    ));
                }
            }
            all.extend(nonzero_positions(t)?.into_iter().enumerate().map(|(d, p)| (at + d, p)));
        } else if matches!(t.dtype(), DType::Int64 | DType::Int32) {
            if at >= sizes.len() {
                return Err(Error::index(
                    op,
                    format!("too many indices for tensor of dimension {} (got {})", sizes.len(), i + 1),
                ));
            }
            all.push((at, copy::cast(t, DType::Int64)?));
        } else {
            return Err(Error::index(op, "tensors used as indices must be long, int, byte or bool tensors"));
        }
    }
    Ok(all)
}

/// Whether the axes follow one another: then the index's axes take their place, otherwise they come first.
pub fn are_adjacent(positions: &[(usize, Tensor)]) -> bool {
    positions.windows(2).all(|w| w[1].0 == w[0].0 + 1)
}

/// What a run takes in nanoseconds beside the copy.
const RUN_COST: f64 = 1.0;

/// An index into a tensor: the result has the sizes `before`, those of the index, then `after`. Its runs are those of
/// the last axis after the index, in row-major order.
///
/// What the index says is checked where it becomes offsets: while elements are read, or, for those who write to what is
/// not theirs, by [`IndexWalk::places`] beforehand.
pub struct IndexWalk {
    pub sizes: Dims,
    op: &'static str,
    /// Contiguous int64 of the sizes of the broadcast index, each with the axis of the tensor, its size and its stride.
    /// Strides are in bytes.
    index: SmallVec<[(Tensor, usize, usize, isize); 1]>,
    before: Axes<1>,
    /// The axes after the index, without that of the runs.
    outer: Axes<1>,
    run: Run,
    /// How many runs each position of `before` has.
    len: usize,
    /// Whether different elements of the tensor have different places in memory.
    apart: bool,
}

/// An [`IndexWalk`] whose offsets are known to be those of elements.
pub struct Places {
    walk: IndexWalk,
    /// Of the runs, the same for each position of `before`; int64, of which no other thread knows (S6).
    offsets: Tensor,
}

impl IndexWalk {
    /// The walk over a tensor of these sizes and strides; nothing of the tensor is touched.
    pub fn new(op: &'static str, x: &Tensor, at: &[usize], given: &[&Tensor]) -> Result<Self> {
        let (sizes, strides, width) = (x.sizes(), x.strides(), x.dtype().size());
        let index = positions(op, sizes, at, given)?;
        let mut shape = Dims::new();
        for (_, t) in &index {
            shape = broadcast(op, &shape, t.sizes()).map_err(|_| {
                let shapes: Vec<String> = index.iter().map(|(_, t)| format!("{:?}", t.sizes())).collect();
                let shapes = shapes.join(", ");
                Error::index(
                    op,
                    format!("shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"),
                )
            })?;
        }
        let count = checked_numel(op, &shape)?;
        if count > 0 && index.iter().any(|(d, _)| sizes[*d] == 0) {
            return Err(Error::index(op, "index is out of bounds for dimension with size 0"));
        }
        // The axes that stay, those left of the index's place first.
        let place = if are_adjacent(&index) { index.first().map_or(0, |(d, _)| *d) } else { 0 };
        let stay: Dims = (0..sizes.len()).filter(|d| index.iter().all(|(i, _)| i != d)).collect();
        let (left, right): (Dims, Dims) = stay.into_iter().partition(|&d| d < place);
        // That of an axis of size 1 may be any.
        let in_bytes = |d: usize| strides[d].wrapping_mul(width as isize);
        let pick = |ds: &Dims| -> (Dims, Strides) {
            (ds.iter().map(|&d| sizes[d]).collect(), ds.iter().map(|&d| in_bytes(d)).collect())
        };
        let ((bs, bt), (rs, rt)) = (pick(&left), pick(&right));
        let mut result = bs.clone();
        result.extend_from_slice(&shape);
        result.extend_from_slice(&rs);
        let empty = checked_numel(op, &result)? == 0;
        let (before, after) = (plan_in_order(&bs, [&bt]), plan_in_order(&rs, [&rt]));
        let run = Run {
            n: axis(&after, 0).size,
            step: if after.is_empty() { width as isize } else { after[0].strides[0] },
            width,
        };
        let outer: Axes<1> = after.iter().skip(1).copied().collect();
        // Of a result without elements the product need not fit.
        let len = if empty { 0 } else { count * runs_after(&outer) };
        let mut whole = SmallVec::new();
        for (d, t) in if empty { Vec::new() } else { index } {
            let t = if t.sizes() == &*shape && t.is_contiguous() {
                t
            } else {
                let whole = Tensor::empty(&shape, DType::Int64)?;
                copy::copy_into(&t, &whole)?;
                whole
            };
            whole.push((t, d, sizes[d], in_bytes(d)));
        }
        let apart = !may_overlap(sizes, strides);
        Ok(Self { sizes: result, op, index: whole, before, len, outer, run, apart })
    }

    fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// How often the index is walked: once for each position of the axes before it.
    fn repeats(&self) -> usize {
        self.before.iter().map(|x| x.size).product()
    }

    /// What all runs take on one thread, in nanoseconds.
    fn cost(&self) -> f64 {
        let elements = numel(&self.sizes);
        (elements / self.run.n.max(1)) as f64 * RUN_COST + copying(elements * self.run.width)
    }

    /// For callers to ask for before work is divided, since workers are not reading (R1).
    fn values(&self) -> SmallVec<[&[i64]; 1]> {
        self.index.iter().map(|(t, ..)| t.as_slice().unwrap_or(&[])).collect()
    }

    /// The offsets of positions of the index, whose values those are; false if one of them leads nowhere. Each value is
    /// read once, so that what is checked is what is used (S6).
    fn find(&self, values: &[&[i64]], positions: Range<usize>, offsets: &mut [i64]) -> bool {
        /// Values that are copied at a time: the loops over a copy are vectorised. With AVX2 that takes 0.6 ns for each
        /// value, and one loop over what is read once 0.9.
        const PART: usize = 128;
        let (level, mut own, mut all) = (InstructionSet::detect(), [0; PART], true);
        offsets.fill(0);
        for ((_, _, n, stride), values) in self.index.iter().zip(values) {
            for (offsets, values) in offsets.chunks_mut(PART).zip(values[positions.clone()].chunks(PART)) {
                let own = &mut own[..values.len()];
                own.iter_mut().zip(values).for_each(|(own, i)| *own = read_once(i));
                let task = AddOffsets { values: own, n: *n as i64, stride: *stride as i64, offsets };
                // SAFETY: (`AddOffsets`) no duties.
                all &= unsafe { for_isa(level, task) };
            }
        }
        all
    }

    /// The error that names a value which leads nowhere.
    #[cold]
    fn refusal(&self) -> Error {
        let mut wrong = self.index.iter().zip(self.values()).filter_map(|((_, d, n, _), values)| {
            let n = *n as i64;
            let i = values.iter().find(|i| outside(**i, n) < 0)?;
            Some(format!("index {i} is out of bounds for dimension {d} with size {n}"))
        });
        // None if another thread has changed it since.
        Error::index(self.op, wrong.next().unwrap_or_else(|| "an index is out of bounds".to_owned()))
    }

    /// The offsets of all runs, the same for each position of `before`.
    fn offsets(&self) -> Result<Tensor> {
        if self.is_empty() {
            return Tensor::empty(&[0], DType::Int64);
        }
        let each = runs_after(&self.outer);
        let (values, count, mut all) = (self.values(), self.len / each, true);
        let offsets = Tensor::build::<i64>(&[self.len], |to| {
            all = self.find(&values, 0..count, &mut to[..count]);
            if each > 1 {
                // From the last one on, since the runs of a position take the place of others.
                for position in (0..count).rev() {
                    let offset = to[position];
                    let runs = &mut to[position * each..][..each];
                    for (to, [outer]) in runs.iter_mut().zip(Offsets::new(&self.outer)) {
                        *to = offset + outer as i64;
                    }
                }
            }
        })?;
        if all { Ok(offsets) } else { Err(self.refusal()) }
    }

    /// Checks the whole index, and keeps what it says (S6): for those who write to what is not theirs, which is not to
    /// begin if it cannot be done.
    pub fn places(self) -> Result<Places> {
        Ok(Places { offsets: self.offsets()?, walk: self })
    }

    /// Reads the indexed elements; an error if an index leads nowhere.
    ///
    /// # Safety
    /// 1. The walk was made for the tensor at `from`, all of it readable. 2. `to` is writable for as many contiguous
    ///    elements of its dtype as `sizes` has, and disjoint from them.
    pub unsafe fn read(&self, from: *const u8, to: *mut u8) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        let copy = |rectangle: &Rectangle, offsets: &[i64]| {
            // SAFETY: (1) the offsets were checked against the sizes; (2, 3) ours, and the numbers are within `sizes`.
            unsafe {
                rectangle::copy::<false>(rectangle, offsets, self.run, 0..self.run.n, true, [from.get(), to.get()])
            }
        };
        let repeats = self.repeats();
        if repeats > 1 || !self.outer.is_empty() {
            let offsets = self.offsets()?;
            let offsets = offsets.as_slice::<i64>().unwrap_or(&[]);
            split(repeats * self.len, 1, self.cost(), &|runs| {
                rectangles(&self.before, self.len, runs, |part| copy(&part, &offsets[part.first..][..part.count]));
            });
            return Ok(());
        }
        // Nobody comes back to an offset.
        let (values, wrong) = (self.values(), AtomicBool::new(false));
        split(self.len, 1, self.cost(), &|runs| {
            let mut offsets = vec![0; runs.len().min(CHUNK)];
            for at in runs.clone().step_by(CHUNK) {
                let part = at..runs.end.min(at + CHUNK);
                let offsets = &mut offsets[..part.len()];
                if !self.find(&values, part.clone(), offsets) {
                    return wrong.store(true, Ordering::Relaxed);
                }
                rectangles(&self.before, self.len, part, |part| copy(&part, offsets));
            }
        });
        if wrong.into_inner() { Err(self.refusal()) } else { Ok(()) }
    }
}

/// How many runs there are after a position of an index.
fn runs_after(outer: &Axes<1>) -> usize {
    outer.iter().map(|x| x.size).product()
}

/// Adds the offset of each value to another one; false if a value leads nowhere. No duties.
struct AddOffsets<'a> {
    values: &'a [i64],
    n: i64,
    stride: i64,
    offsets: &'a mut [i64],
}

impl Task for AddOffsets<'_> {
    type Out = bool;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> bool {
        let mut signs = 0;
        for (offset, &i) in self.offsets.iter_mut().zip(self.values) {
            signs |= outside(i, self.n);
            // Negative ones count from the end.
            let place = i + (self.n & (i >> 63));
            *offset = offset.wrapping_add(place.wrapping_mul(self.stride));
        }
        signs >= 0
    }
}

/// Negative if a position does not exist in an axis of `n`, where some count from the end. Without a comparison, since
/// old CPUs cannot compare 64 bits in vectors.
#[inline(always)]
fn outside(i: i64, n: i64) -> i64 {
    i.wrapping_add(n) | (n - 1).wrapping_sub(i)
}

impl Places {
    /// The sizes of what is written.
    pub fn sizes(&self) -> &[usize] {
        &self.walk.sizes
    }

    /// Calls `work` with rectangles of whole rows, their offsets, and columns of their runs, which together are all.
    ///
    /// An index may name a place more than once, and the order of what is written there shows: threads share the axes
    /// that are not indexed, and none if elements share memory.
    fn share(&self, work: impl Fn(&Rectangle, &[i64], Range<usize>) + Sync) {
        let (walk, repeats) = (&self.walk, self.walk.repeats());
        if walk.is_empty() {
            return;
        }
        let (len, n) = (walk.len, walk.run.n);
        let offsets = self.offsets.as_slice().unwrap_or(&[]);
        let part = |rows: Range<usize>, columns: Range<usize>| {
            let runs = rows.start * len..rows.end * len;
            rectangles(&walk.before, len, runs, |part| work(&part, offsets, columns.clone()));
        };
        let cost = if walk.apart { walk.cost() } else { 0.0 };
        if repeats > 1 {
            split(repeats, 1, cost, &|rows| part(rows, 0..n));
        } else {
            // Whole cache lines, and no more pieces than threads, since each walks the index.
            let line = (64 / walk.run.width).max(1);
            split(n, n.div_ceil(num_threads()).next_multiple_of(line), cost, &|columns| part(0..1, columns));
        }
    }

    /// Writes one value to the indexed elements.
    ///
    /// # Safety
    /// 1. The walk was made for the tensor at `to`, all of it writable, and its elements are `T`.
    pub unsafe fn fill<T: Copy>(&self, to: *mut T, value: T) {
        let walk = &self.walk;
        if walk.is_empty() {
            return;
        }
        let offsets = self.offsets.as_slice().unwrap_or(&[]);
        rectangles(&walk.before, walk.len, 0..walk.repeats() * walk.len, |part| {
            // SAFETY: (1) the offsets were checked against the sizes.
            unsafe { rectangle::fill(&part, offsets, walk.run, to.cast(), value) };
        });
    }

    /// Writes the elements of `from` to the indexed ones, as in row-major order.
    ///
    /// # Safety
    /// 1. The walk was made for the tensor at `to`, all of it writable. 2. `from` is readable for as many contiguous
    ///    elements of its dtype as `sizes` has, and disjoint from them.
    pub unsafe fn write(&self, from: *const u8, to: *mut u8) {
        let (from, to, walk) = (SharedPtr(from.cast_mut()), SharedPtr(to), &self.walk);
        self.share(|part, offsets, columns| {
            // SAFETY: (1) the offsets were checked against the sizes; (2, 3) ours, and the numbers are within `sizes`.
            unsafe {
                rectangle::copy::<true>(part, offsets, walk.run, columns, walk.apart, [to.get(), from.get()]);
            }
        });
    }

    /// Combines, by `f`, the indexed elements with those of `from`, as in row-major order.
    ///
    /// # Safety
    /// 1. The walk was made for the tensor at `to`, all of it writable, and its elements are `T`. 2. `from` is readable
    ///    for as many contiguous elements as `sizes` has, and disjoint from them.
    pub unsafe fn combine<T: SimdElement>(&self, from: *const T, to: *mut T, f: impl Fn(T, T) -> T + Copy + Sync) {
        let (from, to, walk) = (SharedPtr(from.cast_mut()), SharedPtr(to), &self.walk);
        self.share(|part, offsets, columns| {
            let sides = (to.get().cast::<u8>(), from.get().cast_const());
            // SAFETY: (1) the offsets were checked against the sizes; (2, 3) ours, and the numbers are within `sizes`.
            unsafe { rectangle::combine(part, offsets, walk.run, columns, walk.apart, sides, f) };
        });
    }
}

/// A tensor that is summed into row by row has at least so many elements, and its rows so many.
const SUMMED: [usize; 2] = if cfg!(small_blocks) { [8, 2] } else { [1 << 12, 8] };

/// Whether [`summed`] is for this tensor: it is one number everywhere, large, and its rows along the axis are long.
pub fn is_summed(base: &Tensor, dim: usize) -> bool {
    let sizes = base.sizes();
    let is_one = || sizes.iter().zip(base.strides()).all(|(&n, &stride)| n <= 1 || stride == 0);
    let is_long = || sizes.get(dim + 1..).is_some_and(|after| numel(after) >= SUMMED[1]);
    base.numel() >= SUMMED[0] && base.dtype().half().is_none() && is_one() && is_long()
}

/// `base`, of which [`is_summed`] is true, with the rows of `src` added at the positions `index` of an axis: nothing
/// but the result is written, and each row of it once. None if `src` is not contiguous, or if there is no such
/// position: whoever walks the index refuses it.
///
/// `src` has the sizes of `base`, but those of `index` instead of that axis.
pub fn summed(base: &Tensor, dim: usize, index: &Tensor, src: &Tensor) -> Result<Option<Tensor>> {
    let sizes = base.sizes();
    let (count, n) = (numel(&sizes[..dim]), numel(&sizes[dim + 1..]));
    debug_assert!(is_summed(base, dim) && src.numel() == count * index.numel() * n);
    if !src.is_contiguous() {
        return Ok(None);
    }
    let index = copy::contiguous(&copy::cast(index, DType::Int64)?)?;
    let Some(sums) = RowSums::new(sizes[dim], index.as_slice::<i64>().unwrap_or(&[]), |_| true) else {
        return Ok(None);
    };
    let result = Tensor::empty(sizes, base.dtype())?;
    match_dtype!(rings, base.dtype(), T => {
        // SAFETY: S1 and S3: the one element; (1) the source has as many rows for each position before the axis, and
        // the result is that of `sizes`; (2) it is fresh.
        unsafe { sums.write(count, n, *base.ptr::<T>(), src.ptr::<T>().cast_const(), result.ptr::<T>()) }
    });
    Ok(Some(result))
}

/// Adds `source` to halves with `add`, in float32: sums are rounded once.
#[cold]
pub fn add_in_float32(to: &Tensor, source: &Tensor, add: impl FnOnce(&Tensor, &Tensor) -> Result<()>) -> Result<()> {
    let wide = copy::cast(to, DType::Float32)?;
    add(&wide, &copy::cast(source, DType::Float32)?)?;
    copy::copy_into(&wide, to)
}

/// `a + b`, for accumulation.
pub fn sum<T: Ring>(a: T, b: T) -> T {
    a.add(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::parallel::set_num_threads;

    /// Places in an axis, many of them more than once, some counted from its end.
    fn index(n: usize, sizes: &[usize]) -> Tensor {
        let place = |k: usize| (k * k * 7 + k / 3) as i64 % n as i64;
        let values: Vec<i64> =
            (0..numel(sizes)).map(place).map(|i| if i % 3 == 0 { i - n as i64 } else { i }).collect();
        Tensor::from_slice(&values, sizes).unwrap()
    }

    fn numbers(sizes: &[usize]) -> Tensor {
        Tensor::from_slice(&(0..numel(sizes)).map(|i| i as f64).collect::<Vec<_>>(), sizes).unwrap()
    }

    /// For each element of the result, in order, the number of the element of the tensor that it is.
    fn naive(sizes: &[usize], dim: usize, index: &Tensor) -> Vec<usize> {
        let (n, after) = (sizes[dim], numel(&sizes[dim + 1..]));
        let mut all = Vec::new();
        for before in 0..numel(&sizes[..dim]) {
            for i in index.to_vec::<i64>().unwrap() {
                let row = before * n + i.rem_euclid(n as i64) as usize;
                all.extend(row * after..(row + 1) * after);
            }
        }
        all
    }

    #[test]
    fn what_is_read_and_written_is_what_the_index_says_on_any_number_of_threads() {
        let _reading = reading();
        for (sizes, dim, shape) in [
            (&[7][..], 0, &[9][..]),
            (&[3000], 0, &[50, 70]),
            (&[3000, 1], 0, &[66_003]),
            (&[700, 8], 1, &[11]),
            (&[301, 90], 1, &[41, 5]),
            (&[40, 11, 3], 1, &[30]),
            (&[3, 11, 40, 2], 1, &[30]),
            (&[30, 5000], 0, &[33]),
            (&[5, 3], 1, &[0]),
        ] {
            let (x, i) = (numbers(sizes), index(sizes[dim], shape));
            let places = naive(sizes, dim, &i);
            let reversed: Vec<i64> = (0..sizes.len() as i64).rev().collect();
            for threads in [1, 2, 3] {
                set_num_threads(threads);
                for is_reversed in [false, true] {
                    let target = || {
                        let flipped = x.permute(&reversed).and_then(|t| copy::copy(&copy::contiguous(&t)?)).unwrap();
                        if is_reversed { flipped.permute(&reversed).unwrap() } else { copy::copy(&x).unwrap() }
                    };
                    let what = format!("{sizes:?} {dim} {shape:?} {threads} {is_reversed}");
                    let walk = |t: &Tensor| IndexWalk::new("index", t, &[dim], &[&i]).unwrap();
                    let t = target();
                    let read = Tensor::empty(&walk(&t).sizes, DType::Float64).unwrap();
                    // SAFETY: (1) S1 and S3; (2) a fresh tensor of these sizes.
                    unsafe { walk(&t).read(t.op_ptr(), read.op_ptr()).unwrap() };
                    let want = places.iter().map(|&k| k as f64);
                    assert!(read.to_vec::<f64>().unwrap().into_iter().eq(want), "{what}");

                    let source = numbers(&walk(&t).sizes);
                    let mut want = x.to_vec::<f64>().unwrap();
                    places.iter().enumerate().for_each(|(at, &k)| want[k] = at as f64);
                    // SAFETY: (1) S1 and S3; (2) another tensor of these sizes.
                    unsafe { walk(&t).places().unwrap().write(source.op_ptr(), t.op_ptr()) };
                    assert!(t.to_vec::<f64>().unwrap() == want, "{what}");

                    let t = target();
                    let mut want = x.to_vec::<f64>().unwrap();
                    places.iter().enumerate().for_each(|(at, &k)| want[k] = want[k] / 2.0 + at as f64);
                    // SAFETY: as above.
                    unsafe {
                        walk(&t).places().unwrap().combine(source.ptr::<f64>(), t.ptr::<f64>(), |a, b| a / 2.0 + b);
                    }
                    assert!(t.to_vec::<f64>().unwrap() == want, "{what}");
                    places.iter().for_each(|&k| want[k] = -1.0);
                    // SAFETY: as above.
                    unsafe { walk(&t).places().unwrap().fill(t.ptr::<f64>(), -1.0) };
                    assert!(t.to_vec::<f64>().unwrap() == want, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_value_that_leads_nowhere_is_refused_wherever_it_is() {
        let _reading = reading();
        for (sizes, dim) in [(&[6][..], 0), (&[2, 6], 1), (&[6, 3], 0)] {
            let x = numbers(sizes);
            for at in [0, 5, 127, 128, 1999] {
                for value in [6, -7, i64::MIN, i64::MAX] {
                    let mut values = vec![-6; 2000];
                    values[at] = value;
                    let i = Tensor::from_slice(&values, &[2000]).unwrap();
                    let walk = IndexWalk::new("index", &x, &[dim], &[&i]).unwrap();
                    let to = Tensor::empty(&walk.sizes, DType::Float64).unwrap();
                    // SAFETY: (1) S1 and S3; (2) a fresh tensor of these sizes.
                    let error = unsafe { walk.read(x.op_ptr(), to.op_ptr()) }.unwrap_err();
                    let text = format!("index {value} is out of bounds for dimension {dim} with size 6");
                    assert!(error.to_string().contains(&text), "{error}");
                    assert!(walk.places().err().unwrap().to_string().contains(&text));
                }
            }
        }
    }
}
