//! Where the elements of an index along one axis lead (`gather`, the scatters), and the loops over them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::strided::{Axes, Offsets, axis, plan_in_order};
use crate::kernels::thresholds::index::CHUNK;
use crate::tensor::copy;
use crate::tensor::layout::may_overlap;
use crate::tensor::{DType, Dims, Strides, Tensor};

/// What an element takes in nanoseconds, to be read and to be combined with another.
const READ_COST: f64 = 0.5;
const WRITE_COST: f64 = 1.0;

/// An `index` for a tensor: its values count along `dim`, its places along the other axes.
pub struct Along {
    op: &'static str,
    dim: usize,
    /// Contiguous int64.
    index: Tensor,
    /// Of the index; the strides are the tensor's, 0 along `dim`.
    axes: Axes<1>,
    /// Size and stride of the tensor along `dim`.
    size: usize,
    step: isize,
    /// Positions of the axes before `dim`, in parts of which the index leads to different places.
    lead: usize,
}

/// Whether all are from 0 to `n - 1`: by their signs, since old CPUs cannot compare 64 bits in vectors.
#[inline(always)]
fn within(values: &[i64], n: usize) -> bool {
    let last = n as i64 - 1;
    values.iter().fold(0, |signs, &i| signs | i | last.wrapping_sub(i)) >= 0
}

/// `to[j] = from[place(j, i)]` for the `j`-th value `i`; false, with some of them left out, if one is not from 0 to
/// `size - 1`. Each value is read once, so that what is checked is what is used (S6).
///
/// # Safety
/// 1. `from` is readable at the places of these values. 2. `to` is writable for as many elements as there are values,
///    and disjoint from them.
#[inline(always)]
unsafe fn read_named<T: Copy>(
    values: &[i64],
    size: usize,
    from: *const T,
    to: *mut T,
    place: impl Fn(isize, isize) -> isize,
) -> bool {
    const TOGETHER: usize = 4;
    // SAFETY: duties 1 and 2, for values that were checked.
    unsafe {
        let once = |j: usize| values.as_ptr().add(j).read_volatile();
        // A negative one is larger than any size.
        let is_place = |i: i64| i.cast_unsigned() < size as u64;
        let mut j = 0;
        while j + TOGETHER <= values.len() {
            let i = [once(j), once(j + 1), once(j + 2), once(j + 3)];
            if !i.iter().fold(true, |all, &i| all & is_place(i)) {
                return false;
            }
            for (j, &i) in (j..).zip(&i) {
                *to.add(j) = *from.offset(place(j as isize, i as isize));
            }
            j += TOGETHER;
        }
        while j < values.len() {
            let i = once(j);
            if !is_place(i) {
                return false;
            }
            *to.add(j) = *from.offset(place(j as isize, i as isize));
            j += 1;
        }
    }
    true
}

/// For an index that is the same at every place of the axes other than `dim`, which it repeats with strides of 0, if
/// some of these come after `dim`: such an index names whole rows of `t`. Its values along `dim`, a copy (S6), and the
/// part of `t` that it covers. None for other indices, and if a value leads nowhere: it is for [`Along`] to refuse it.
pub fn rows_named(t: &Tensor, dim: usize, index: &Tensor) -> Result<Option<(Tensor, Tensor)>> {
    let (sizes, strides) = (index.sizes(), index.strides());
    let repeats = (0..sizes.len()).all(|d| d == dim || sizes[d] == 1 || strides[d] == 0);
    if t.ndim() != sizes.len() || !repeats || sizes.iter().skip(dim + 1).product::<usize>() < 2 {
        return Ok(None);
    }
    let (count, step) = (sizes[dim], strides[dim]);
    let line = Tensor::from_parts(index.storage(), index.dtype(), &[count], &[step], index.storage_offset())?;
    let line = copy::own_indices(&line)?;
    if !within(line.as_slice().unwrap_or(&[]), t.sizes()[dim]) {
        return Ok(None);
    }
    let mut covered = Dims::from_slice(sizes);
    covered[dim] = t.sizes()[dim];
    let covered = Tensor::from_parts(t.storage(), t.dtype(), &covered, t.strides(), t.storage_offset())?;
    Ok(Some((line, covered)))
}

impl Along {
    /// For a tensor of these sizes and strides.
    pub fn new(op: &'static str, sizes: &[usize], strides: &[isize], dim: usize, index: &Tensor) -> Result<Self> {
        let mut others = Strides::from_slice(strides);
        others.resize(index.ndim(), 0);
        if let Some(s) = others.get_mut(dim) {
            *s = 0;
        }
        let index = copy::contiguous(&copy::cast(index, DType::Int64)?)?;
        let lead = if may_overlap(sizes, strides) { 1 } else { index.sizes().iter().take(dim).product() };
        Ok(Self {
            op,
            dim,
            axes: plan_in_order(index.sizes(), [&others]),
            size: sizes.get(dim).copied().unwrap_or(1),
            step: strides.get(dim).copied().unwrap_or(1),
            lead,
            index,
        })
    }

    fn values(&self) -> &[i64] {
        self.index.as_slice().unwrap_or(&[])
    }

    /// The error that names a value which leads nowhere.
    fn refusal(&self) -> Error {
        let wrong = self.values().iter().find(|i| !within(&[**i], self.size)).copied().unwrap_or(self.size as i64);
        let (dim, size) = (self.dim, self.size);
        Error::shape(self.op, format!("index {wrong} is out of bounds for dimension {dim} with size {size}"))
    }

    /// Calls `f` for stretches of the positions of [`Along::values`], which the caller asks for before work is divided,
    /// since workers are not reading (R1): with the first position, the offset into the tensor that belongs to it
    /// if its value is 0, and the values. From one position to the next the offset grows by [`Along::stride`].
    #[inline(always)]
    fn stretches(&self, values: &[i64], positions: Range<usize>, mut f: impl FnMut(usize, isize, &[i64])) {
        let inner = axis(&self.axes, 0);
        if positions.is_empty() {
            return;
        }
        let (mut at, mut first) = (positions.start, positions.start % inner.size);
        for [base] in Offsets::starting_at(self.axes.get(1..).unwrap_or(&[]), positions.start / inner.size) {
            let end = positions.end.min(at + inner.size - first);
            while at < end {
                let count = CHUNK.min(end - at);
                f(at, base + first as isize * inner.strides[0], &values[at..at + count]);
                (at, first) = (at + count, first + count);
            }
            first = 0;
            if at == positions.end {
                return;
            }
        }
    }

    /// The distance in the tensor between neighbouring places of the index.
    fn stride(&self) -> isize {
        axis(&self.axes, 0).strides[0]
    }

    /// Reads the elements in order; an error if a value leads nowhere.
    ///
    /// # Safety
    /// 1. `from` is readable for the sizes and strides that this was made for. 2. `to` is writable for the elements of
    ///    the index, and disjoint from them.
    pub unsafe fn read<T: Copy>(&self, from: *const T, to: *mut T) -> Result<()> {
        let (wrong, count) = (AtomicBool::new(false), self.index.numel());
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        let (stride, step, values) = (self.stride(), self.step, self.values());
        split(count, CHUNK, count as f64 * READ_COST, &|positions| {
            self.stretches(values, positions, |at, base, values| {
                // SAFETY: (1) the elements from `base` on that values below the size lead to; (2) positions of the
                // index.
                let all = unsafe {
                    let (from, to) = (from.get().cast_const().offset(base), to.get().add(at));
                    if (stride, step) == (0, 1) {
                        read_named(values, self.size, from, to, |_, i| i)
                    } else {
                        read_named(values, self.size, from, to, |j, i| j * stride + i * step)
                    }
                };
                if !all {
                    wrong.store(true, Ordering::Relaxed);
                }
            });
        });
        if wrong.into_inner() { Err(self.refusal()) } else { Ok(()) }
    }

    /// Checks all values beforehand, and keeps a copy of them (S6): for those who write to what is not theirs, which is
    /// not to begin if it cannot be done.
    pub fn checked(mut self) -> Result<Self> {
        self.index = copy::own_indices(&self.index)?;
        if within(self.values(), self.size) { Ok(self) } else { Err(self.refusal()) }
    }

    /// Calls what `start` makes with each position of the index and the offset into the tensor, where it may write.
    /// Positions that lead to the same place come in order, on one thread; every thread has one of its own, so that
    /// what it holds is known not to change with what it writes. An error if a value leads nowhere, with positions left
    /// out; [`Along::checked`] says so before.
    pub fn each<F: FnMut(usize, isize)>(&self, start: impl Fn() -> F + Sync) -> Result<()> {
        let count = self.index.numel();
        let block = count / self.lead.max(1);
        let (stride, step, values) = (self.stride(), self.step, self.values());
        let wrong = AtomicBool::new(false);
        split(self.lead, 1, count as f64 * WRITE_COST, &|leads| {
            let mut f = start();
            let mut own = SmallVec::<[i64; CHUNK]>::new();
            self.stretches(values, leads.start * block..leads.end * block, |at, base, values| {
                // Each value is read once, so that what is checked is what is used (S6).
                own.clear();
                // SAFETY: a value of the index.
                own.extend(values.iter().map(|value| unsafe { std::ptr::from_ref(value).read_volatile() }));
                if !within(&own, self.size) {
                    wrong.store(true, Ordering::Relaxed);
                    return;
                }
                // A case of its own, since most indices are along contiguous rows, where the products would take most
                // of the time.
                if (stride, step) == (0, 1) {
                    for (j, &i) in own.iter().enumerate() {
                        f(at + j, base + i as isize);
                    }
                } else {
                    for (j, &i) in own.iter().enumerate() {
                        f(at + j, base + j as isize * stride + i as isize * step);
                    }
                }
            });
        });
        if wrong.into_inner() { Err(self.refusal()) } else { Ok(()) }
    }

    /// The offsets of all elements, for those who come back to them.
    pub fn offsets(&self) -> Result<Vec<isize>> {
        let mut all = vec![0; self.index.numel()];
        let to = SharedPtr(all.as_mut_ptr());
        self.each(|| {
            let to = to.get();
            // SAFETY: a position of the index, which has as many.
            move |k, offset| unsafe { *to.add(k) = offset }
        })?;
        Ok(all)
    }
}
