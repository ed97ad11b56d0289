//! Where the elements of an index along one axis lead (`gather`, the scatters), and the loops over them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rectangle::rectangles;
use crate::error::{Error, Result};
use crate::kernels::parallel::{SharedPtr, num_threads, split};
use crate::kernels::strided::{Axes, axis, plan_in_order, read_once, within};
use crate::kernels::thresholds::index::{CHUNK, LINE};
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
    /// Positions of the axes before `dim`, and of those after it, for each of which the index leads to other places; 1
    /// where that is not known.
    lead: usize,
    columns: usize,
}

/// Whether a value leads to one of `size` places; a negative one is larger than any size.
#[inline(always)]
fn is_place(value: i64, size: usize) -> bool {
    value.cast_unsigned() < size as u64
}

/// Calls `f` with each value, in order, after its number among them; false, with some of them left out, if one is not
/// from 0 to `size - 1`. Each value is read once, so that what is checked is what is used (S6). One branch checks a few
/// together: a branch for each takes 1.2 times as long, and a checked copy of all of them twice.
#[inline(always)]
fn each_named(values: &[i64], size: usize, mut f: impl FnMut(isize, isize)) -> bool {
    const TOGETHER: usize = 4;
    let (groups, rest) = values.as_chunks::<TOGETHER>();
    let mut j = 0;
    for [a, b, c, d] in groups {
        let group = [read_once(a), read_once(b), read_once(c), read_once(d)];
        if !group.iter().fold(true, |all, &i| all & is_place(i, size)) {
            return false;
        }
        for i in group {
            f(j, i as isize);
            j += 1;
        }
    }
    for i in rest {
        let i = read_once(i);
        if !is_place(i, size) {
            return false;
        }
        f(j, i as isize);
        j += 1;
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

/// Positions of an index in rows of `len`, one after the other from `at` on. `base` is the offset into the tensor that
/// belongs to the first one if its value is 0, and `step` the distance from a row's to the next.
#[derive(Clone, Copy)]
struct Stretches {
    at: usize,
    base: isize,
    step: isize,
    rows: usize,
    len: usize,
}

impl Stretches {
    /// Calls `f` with each position, the offset of its row, its number there and its value; as [`each_named`].
    ///
    /// A function of its own, since rows may be short: what its callers hold beside would lie in memory. So would what
    /// `f` borrows.
    #[inline(never)]
    fn each(self, values: &[i64], size: usize, mut f: impl FnMut(usize, isize, isize, isize)) -> bool {
        let Self { mut at, mut base, step, rows, len } = self;
        let mut left = values;
        for _ in 0..rows {
            let (row, rest) = left.split_at(len);
            if !each_named(row, size, |j, i| f(at + j as usize, base, j, i)) {
                return false;
            }
            (left, at, base) = (rest, at + len, base + step);
        }
        true
    }

    /// Calls `f` with each position and the offset where its value leads: `stride` from one position of a row to the
    /// next, and `step` from one value to the next.
    #[inline(always)]
    fn lead(self, values: &[i64], size: usize, [stride, step]: [isize; 2], f: impl Fn(usize, isize) + Copy) -> bool {
        let anywhere = move |at, base, j: isize, i: isize| f(at, base + j * stride + i * step);
        if (2..=4).contains(&self.len) {
            self.each_of_short(values, size, anywhere)
        } else if (stride, step) == (0, 1) {
            // A case of its own, since most indices are along contiguous rows, where the products would take most of
            // the time.
            self.each(values, size, move |at, base, _, i| f(at, base + i))
        } else {
            self.each(values, size, anywhere)
        }
    }

    /// [`Stretches::each`] of rows of 2 to 4, whose number the compiler knows.
    #[inline(never)]
    fn each_of_short(self, values: &[i64], size: usize, f: impl FnMut(usize, isize, isize, isize)) -> bool {
        match self.len {
            2 => self.each_of::<2>(values, size, f),
            3 => self.each_of::<3>(values, size, f),
            _ => self.each_of::<4>(values, size, f),
        }
    }

    /// # Panics
    /// If rows are not of `N`.
    #[inline(always)]
    fn each_of<const N: usize>(
        self,
        values: &[i64],
        size: usize,
        mut f: impl FnMut(usize, isize, isize, isize),
    ) -> bool {
        let Self { mut at, mut base, step, len, .. } = self;
        assert!(len == N, "rows of this length");
        for row in values.as_chunks::<N>().0 {
            let row = row.each_ref().map(read_once);
            if !row.iter().fold(true, |all, &i| all & is_place(i, size)) {
                return false;
            }
            for (j, i) in row.into_iter().enumerate() {
                f(at + j, base, j as isize, i as isize);
            }
            (at, base) = (at + N, base + step);
        }
        true
    }
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
        let apart = !may_overlap(sizes, strides);
        let positions = |axes: &[usize]| if apart { axes.iter().product() } else { 1 };
        Ok(Self {
            op,
            dim,
            axes: plan_in_order(index.sizes(), [&others]),
            size: sizes.get(dim).copied().unwrap_or(1),
            step: strides.get(dim).copied().unwrap_or(1),
            lead: positions(&index.sizes()[..dim.min(index.ndim())]),
            columns: positions(index.sizes().get(dim + 1..).unwrap_or(&[])),
            index,
        })
    }

    /// For callers to ask for before work is divided, since workers are not reading (R1).
    fn values(&self) -> &[i64] {
        self.index.as_slice().unwrap_or(&[])
    }

    /// The error that names a value which leads nowhere.
    fn refusal(&self) -> Error {
        let wrong = self.values().iter().find(|i| !within(&[**i], self.size)).copied().unwrap_or(self.size as i64);
        let (dim, size) = (self.dim, self.size);
        Error::shape(self.op, format!("index {wrong} is out of bounds for dimension {dim} with size {size}"))
    }

    /// Calls `f` for stretches of positions of the index, row by row.
    #[inline(always)]
    fn stretches(&self, positions: Range<usize>, mut f: impl FnMut(Stretches)) {
        let (inner, rows) = (axis(&self.axes, 0), self.axes.get(1..).unwrap_or(&[]));
        rectangles(rows, inner.size, positions, |part| {
            let base = part.base + part.first as isize * inner.strides[0];
            // Of a part of a row there is one.
            f(Stretches { at: part.at, base, step: part.step, rows: part.rows, len: part.count });
        });
    }

    /// The distance in the tensor between neighbouring places of the index.
    fn stride(&self) -> isize {
        axis(&self.axes, 0).strides[0]
    }

    /// Reads the elements, of `width` bytes each, in order; an error if a value leads nowhere.
    ///
    /// # Safety
    /// 1. `from` is readable for the sizes and strides that this was made for. 2. `to` is writable for the elements of
    ///    the index, and disjoint from them.
    pub unsafe fn read(&self, width: usize, from: *const u8, to: *mut u8) -> Result<()> {
        // SAFETY: (1, 2) ours, and bytes are aligned anywhere.
        unsafe {
            match width {
                1 => self.read_units::<[u8; 1]>(from.cast(), to.cast()),
                2 => self.read_units::<[u8; 2]>(from.cast(), to.cast()),
                4 => self.read_units::<[u8; 4]>(from.cast(), to.cast()),
                8 => self.read_units::<[u8; 8]>(from.cast(), to.cast()),
                _ => self.read_units::<[u8; 16]>(from.cast(), to.cast()),
            }
        }
    }

    /// # Safety
    /// 1. `from` is readable for the sizes and strides that this was made for. 2. `to` is writable for the elements of
    ///    the index, and disjoint from them.
    unsafe fn read_units<T: Copy>(&self, from: *const T, to: *mut T) -> Result<()> {
        let (wrong, count) = (AtomicBool::new(false), self.index.numel());
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        let values = self.values();
        split(count, CHUNK, count as f64 * READ_COST, &|positions| {
            let (stride, step, size) = (self.stride(), self.step, self.size);
            let (from, to) = (from.get().cast_const(), to.get());
            // SAFETY: (1) elements that values below the size lead to; (2) positions of the index.
            let read = move |at: usize, offset: isize| unsafe { *to.add(at) = *from.offset(offset) };
            self.stretches(positions, |part| {
                let values = &values[part.at..][..part.rows * part.len];
                if !part.lead(values, size, [stride, step], read) {
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
    pub fn each<F: Fn(usize, isize) + Copy>(&self, start: impl Fn() -> F + Sync) -> Result<()> {
        let (wrong, count) = (AtomicBool::new(false), self.index.numel());
        if count == 0 {
            return Ok(());
        }
        let values = self.values();
        // Threads share the axes before `dim`, or the columns, those after it. No more pieces of columns than threads,
        // since each walks all rows.
        let by_columns = self.lead == 1 && self.columns > 1;
        let (units, grain) = if by_columns {
            (self.columns, self.columns.div_ceil(num_threads()).next_multiple_of(LINE))
        } else {
            (self.lead, 1)
        };
        let block = count / units;
        split(units, grain, count as f64 * WRITE_COST, &|part| {
            let (f, stride, step, size) = (start(), self.stride(), self.step, self.size);
            // All columns are whole rows, one after the other.
            let (first, rows) = match by_columns && part.len() < units {
                true => (part, block),
                false => (part.start * block..part.end * block, 1),
            };
            self.stretches(first, |part| {
                for row in 0..rows {
                    let part = Stretches { at: part.at + row * units, ..part };
                    let values = &values[part.at..][..part.rows * part.len];
                    if !part.lead(values, size, [stride, step], f) {
                        wrong.store(true, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::parallel::set_num_threads;
    use crate::storage::reclaim::reading;

    /// Numbers below `size`, many of them more than once.
    fn places(sizes: &[usize], size: usize) -> Tensor {
        let count: usize = sizes.iter().product();
        let values: Vec<i64> = (0..count).map(|k| (k * k * 7 + k / 3) as i64 % size as i64).collect();
        Tensor::from_slice(&values, sizes).unwrap()
    }

    /// What [`Along::each`] should call its closure with, by the definition of an index along an axis.
    fn naive(index: &Tensor, strides: &[isize], dim: usize) -> Vec<isize> {
        let values = index.as_slice::<i64>().unwrap();
        let offset = |k: usize| {
            let mut rest = k;
            let mut offset = 0;
            for d in (0..index.ndim()).rev() {
                let (position, n) = (rest % index.sizes()[d], index.sizes()[d]);
                offset += strides[d] * if d == dim { values[k] as isize } else { position as isize };
                rest /= n;
            }
            offset
        };
        (0..values.len()).map(offset).collect()
    }

    #[test]
    fn positions_lead_where_the_index_says_on_any_number_of_threads() {
        let _reading = reading();
        // Sizes of the tensor and the index, and the axis. Some are large enough to be divided: by the axes before the
        // named one, by those after it, and, along the only axis, not at all.
        for (sizes, count, dim) in [
            (&[300, 223][..], &[300, 221][..], 1),
            (&[223, 300], &[221, 299], 0),
            (&[1, 223, 30, 11], &[1, 221, 30, 10], 1),
            (&[7, 20, 500], &[7, 19, 499], 1),
            (&[900], &[66_003], 0),
            (&[5, 3], &[6, 2], 0),
            (&[3, 5], &[0, 5], 0),
            (&[3, 5], &[3, 0], 0),
        ] {
            let index = places(count, sizes[dim]);
            let rows: Strides = (0..sizes.len()).map(|d| sizes[d + 1..].iter().product::<usize>() as isize).collect();
            // Row-major, and with a gap after each element.
            for strides in [rows.clone(), rows.iter().map(|s| 2 * s).collect()] {
                let want = naive(&index, &strides, dim);
                for threads in [1, 2, 3] {
                    set_num_threads(threads);
                    let at = Along::new("scatter", sizes, &strides, dim, &index).unwrap();
                    assert_eq!(at.offsets().unwrap(), want, "{sizes:?} by {count:?} along {dim} on {threads}");
                    // The position that is added last to a place is the last one in order.
                    let room = want.iter().max().map_or(0, |last| *last as usize + 1);
                    let (mut last, mut named) = (vec![0usize; room], vec![0usize; room]);
                    for (k, &offset) in want.iter().enumerate() {
                        (last[offset as usize], named[offset as usize]) = (k, named[offset as usize] + 1);
                    }
                    let mut seen = vec![(0usize, 0usize); room];
                    let to = SharedPtr(seen.as_mut_ptr());
                    at.each(|| {
                        let to = to.get();
                        // SAFETY: an offset of the index, whose largest one has room.
                        move |k, offset| unsafe { *to.offset(offset) = (k, (*to.offset(offset)).1 + 1) }
                    })
                    .unwrap();
                    assert!(seen.into_iter().eq(last.into_iter().zip(named)), "{sizes:?} along {dim} on {threads}");
                }
            }
        }
    }

    #[test]
    fn a_value_that_leads_nowhere_is_refused_wherever_it_is() {
        let _reading = reading();
        for count in [1, 3, 4, 5, 11] {
            for wrong in 0..count {
                for value in [-1, 6, i64::MIN, i64::MAX] {
                    let mut values = vec![5; count];
                    values[wrong] = value;
                    let index = Tensor::from_slice(&values, &[count]).unwrap();
                    let at = Along::new("scatter", &[6], &[1], 0, &index).unwrap();
                    let mut calls = 0;
                    assert!(!each_named(&values, 6, |_, i| calls += usize::from(i == 5)));
                    assert!(calls <= wrong);
                    for error in [at.offsets().unwrap_err(), at.checked().err().unwrap()] {
                        let text = format!("index {value} is out of bounds for dimension 0 with size 6");
                        assert!(error.to_string().contains(&text), "{error}");
                    }
                }
            }
        }
    }
}
