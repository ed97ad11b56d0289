//! Where an advanced index leads: offsets into memory, checked before anything is read or written, and the loops over
//! them.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::kernels::parallel::{SharedPtr, num_threads, split};
use crate::kernels::pointwise::copying;
use crate::kernels::positions::Counted;
use crate::kernels::real::Ring;
use crate::kernels::row_sums::RowSums;
use crate::kernels::simd::{InstructionSet, Isa, Task, for_isa, prefetch_lines};
use crate::kernels::strided::{Axes, Offsets, axis, plan_in_order, read_once};
use crate::match_dtype;
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, may_overlap, numel};
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

/// How many runs ahead memory is asked for.
const AHEAD: usize = 8;

/// What a run takes in nanoseconds beside the copy.
const RUN_COST: f64 = 2.0;

/// A checked index: the result has the sizes `before`, those of the index, then `after`.
pub struct IndexWalk {
    pub sizes: Dims,
    before: Axes<1>,
    offsets: Vec<isize>,
    after: Axes<1>,
    /// Whether different elements of the tensor have different places in memory.
    apart: bool,
}

impl IndexWalk {
    /// The walk over a tensor of these sizes and strides; nothing of the tensor is touched.
    pub fn new(op: &'static str, sizes: &[usize], strides: &[isize], at: &[usize], given: &[&Tensor]) -> Result<Self> {
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
        let count = crate::tensor::layout::checked_numel(op, &shape)?;
        if count > 0 && index.iter().any(|(d, _)| sizes[*d] == 0) {
            return Err(Error::index(op, "index is out of bounds for dimension with size 0"));
        }
        // The axes that stay, those left of the index's place first.
        let place = if are_adjacent(&index) { index.first().map_or(0, |(d, _)| *d) } else { 0 };
        let stay: Dims = (0..sizes.len()).filter(|d| index.iter().all(|(i, _)| i != d)).collect();
        let (left, right): (Dims, Dims) = stay.into_iter().partition(|&d| d < place);
        let pick = |ds: &Dims| -> (Dims, Strides) {
            (ds.iter().map(|&d| sizes[d]).collect(), ds.iter().map(|&d| strides[d]).collect())
        };
        let ((bs, bt), (rs, rt)) = (pick(&left), pick(&right));
        let mut result = bs.clone();
        result.extend_from_slice(&shape);
        result.extend_from_slice(&rs);
        let empty = crate::tensor::layout::checked_numel(op, &result)? == 0;
        let offsets = if empty { Vec::new() } else { offsets(op, &index, &shape, count, sizes, strides)? };
        let (before, after) = (plan_in_order(&bs, [&bt]), plan_in_order(&rs, [&rt]));
        Ok(Self { sizes: result, before, offsets, after, apart: !may_overlap(sizes, strides) })
    }

    /// How often the index is walked: once for each position of the axes before it.
    fn repeats(&self) -> usize {
        self.before.iter().map(|x| x.size).product()
    }

    /// What a kernel over elements of this width takes on one thread, in nanoseconds.
    fn cost(&self, width: usize) -> f64 {
        let elements = numel(&self.sizes);
        (elements / self.run().0.max(1)) as f64 * RUN_COST + copying(elements * width)
    }

    /// For the named ones of all positions of the axes before and of the index: calls `f` with an offset into memory
    /// and the row-major position in the result, once for each run of elements, and `ahead` with the offset of a run
    /// that is soon to come.
    #[inline(always)]
    fn runs(&self, positions: Range<usize>, ahead: impl Fn(isize), mut f: impl FnMut(isize, usize)) {
        if self.sizes.contains(&0) {
            return;
        }
        let (n, len) = (self.run().0, self.offsets.len());
        let outer = self.after.get(1..).unwrap_or(&[]);
        let each: usize = outer.iter().map(|x| x.size).product::<usize>() * n;
        let (mut at, mut first, mut left) = (positions.start * each, positions.start % len, positions.len());
        for [b] in Offsets::starting_at(&self.before, positions.start / len) {
            let offsets = &self.offsets[first..];
            let offsets = &offsets[..offsets.len().min(left)];
            for (i, &o) in offsets.iter().enumerate() {
                if outer.is_empty() {
                    if let Some(&next) = offsets.get(i + AHEAD) {
                        ahead(b + next);
                    }
                    f(b + o, at);
                    at += n;
                } else {
                    for [a] in Offsets::new(outer) {
                        f(b + o + a, at);
                        at += n;
                    }
                }
            }
            (first, left) = (0, left - offsets.len());
            if left == 0 {
                return;
            }
        }
    }

    /// Elements of a run and their distance in memory.
    fn run(&self) -> (usize, isize) {
        let inner = axis(&self.after, 0);
        (inner.size, inner.strides[0])
    }

    /// Reads the indexed elements.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `from`, all readable. 2. `to` is writable for as many
    ///    contiguous elements as `sizes` has, and disjoint from them.
    pub unsafe fn read<T: Copy>(&self, from: *const T, to: *mut T) {
        let (n, step) = self.run();
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        split(self.repeats() * self.offsets.len(), 1, self.cost(size_of::<T>()), &|positions| {
            let (from, to) = (from.get().cast_const(), to.get());
            self.runs(
                positions,
                |mem| prefetch_lines::<4, T>(from.wrapping_offset(mem)),
                |mem, at| {
                    // SAFETY: (1) the offsets were checked against the sizes; (2) `at + n` stays within `sizes`.
                    unsafe {
                        let (from, to) = (from.offset(mem), to.add(at));
                        if step == 1 {
                            std::ptr::copy_nonoverlapping(from, to, n);
                        } else {
                            (0..n).for_each(|i| *to.add(i) = *from.offset(i as isize * step));
                        }
                    }
                },
            );
        });
    }

    /// Writes one value to the indexed elements.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `to`, all writable.
    pub unsafe fn fill<T: Copy>(&self, to: *mut T, value: T) {
        let (n, step) = self.run();
        self.runs(
            0..self.repeats() * self.offsets.len(),
            |_| {},
            |mem, _| {
                for i in 0..n {
                    // SAFETY: (1) the offsets were checked against the sizes.
                    unsafe { *to.offset(mem + i as isize * step) = value };
                }
            },
        );
    }

    /// Writes, or combines by `f`, the indexed elements with those of `from`, in row-major order.
    ///
    /// An index may name a place more than once, and the order of these writes shows: threads share the axes that are
    /// not indexed.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `to`, all writable. 2. `from` is readable for as many
    ///    contiguous elements as `sizes` has, and disjoint from them.
    pub unsafe fn write<T: Copy>(&self, from: *const T, to: *mut T, f: impl Fn(T, T) -> T + Sync) {
        let ((n, step), level) = (self.run(), InstructionSet::detect());
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        let part = |positions: Range<usize>, columns: Range<usize>| {
            let (from, to) = (from.get().cast_const(), to.get());
            let (first, count) = (columns.start, columns.len());
            self.runs(
                positions,
                |mem| prefetch_lines::<4, T>(to.wrapping_offset(mem + first as isize * step)),
                |mem, at| {
                    // SAFETY: (1) the offsets were checked against the sizes; (2) `at + n` stays within `sizes`.
                    unsafe {
                        let to = to.offset(mem + first as isize * step);
                        for_isa(level, Combine { from: from.add(at + first), to, step, n: count, f: &f });
                    }
                },
            );
        };
        let (repeats, len) = (self.repeats(), self.offsets.len());
        let cost = if self.apart { self.cost(size_of::<T>()) } else { 0.0 };
        if repeats > 1 {
            split(repeats, 1, cost, &|some| part(some.start * len..some.end * len, 0..n));
        } else {
            // Whole cache lines, and no more pieces than threads, since each walks the index.
            let line = (64 / size_of::<T>()).max(1);
            split(n, n.div_ceil(num_threads()).next_multiple_of(line), cost, &|columns| part(0..len, columns));
        }
    }
}

/// A task, so that what it reads is known not to change with what it writes, and fills the vectors that there are.
///
/// Duties: 1. `from` is readable for `n` elements; `to` is writable for as many, at distance `step`, and disjoint from
/// them.
struct Combine<'f, T, F> {
    from: *const T,
    to: *mut T,
    step: isize,
    n: usize,
    f: &'f F,
}

impl<T: Copy, F: Fn(T, T) -> T> Task for Combine<'_, T, F> {
    type Out = ();
    const WIDE: bool = size_of::<T>() >= 4;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Combine { from, to, step, n, f } = self;
        // SAFETY: duty 1.
        unsafe {
            if step == 1 {
                let (from, to) = (std::slice::from_raw_parts(from, n), std::slice::from_raw_parts_mut(to, n));
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = f(*to, from);
                }
            } else {
                for i in 0..n {
                    let to = to.offset(i as isize * step);
                    *to = f(*to, *from.add(i));
                }
            }
        }
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
    let Some(sums) = RowSums::new(sizes[dim], index.as_slice::<i64>().unwrap_or(&[])) else { return Ok(None) };
    let result = Tensor::empty(sizes, base.dtype())?;
    match_dtype!(rings, base.dtype(), T => {
        // SAFETY: S1 and S3: the one element; (1) the source has as many rows for each position before the axis, and
        // the result is that of `sizes`; (2) it is fresh.
        unsafe { sums.write(count, n, *base.ptr::<T>(), src.ptr::<T>().cast_const(), result.ptr::<T>()) }
    });
    Ok(Some(result))
}

/// Sum over the index tensors of index times stride, for every position of the index.
fn offsets(
    op: &'static str,
    index: &[(usize, Tensor)],
    shape: &[usize],
    count: usize,
    sizes: &[usize],
    strides: &[isize],
) -> Result<Vec<isize>> {
    debug_assert_eq!(numel(shape), count);
    let mut offsets = Vec::new();
    let bytes = count.saturating_mul(size_of::<isize>());
    offsets.try_reserve_exact(count).map_err(|_| ErrorKind::OutOfMemory { bytes })?;
    offsets.resize(count, 0isize);
    for (d, t) in index {
        let whole = if t.sizes() == shape && t.is_contiguous() {
            t.clone()
        } else {
            let whole = Tensor::empty(shape, DType::Int64)?;
            copy::copy_into(t, &whole)?;
            whole
        };
        let n = sizes[*d] as i64;
        for (o, i) in offsets.iter_mut().zip(whole.as_slice::<i64>().unwrap_or(&[])) {
            // S6: one read is checked and becomes the offset.
            let i = read_once(i);
            if i < -n || i >= n {
                return Err(Error::index(op, format!("index {i} is out of bounds for dimension {d} with size {n}")));
            }
            *o += (if i < 0 { i + n } else { i }) as isize * strides[*d];
        }
    }
    Ok(offsets)
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

/// `b`, for plain writes.
pub fn second<T>(_a: T, b: T) -> T {
    b
}
