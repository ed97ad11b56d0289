//! Sums of the rows that go to the same place: what the gradients of a choice of rows are.

use std::ops::Range;

use super::pointwise::copying;
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa, prefetch_lines};
use super::strided::read_once;
use crate::parallel::{SharedPtr, split};

/// Which rows of an operand go to each row of a result, in their order.
pub struct RowSums {
    /// How many rows the operand has.
    from: usize,
    /// Where the list of each row of the result begins, and the end of the last one.
    starts: Vec<usize>,
    lists: Vec<usize>,
}

/// What a row takes in nanoseconds beside its elements.
const ROW_COST: f64 = 4.0;
/// Rows that are added up at a time.
const TOGETHER: usize = 4;
/// How many rows of the result ahead memory is asked for.
const AHEAD: usize = 4;

impl RowSums {
    /// Row `i` of the operand goes to row `to[i]` of a result of `rows` rows, counted from its end if it is negative,
    /// or nowhere if that row takes none. None if there is no such row, or not enough memory.
    pub fn new(rows: usize, to: &[i64], takes: impl Fn(usize) -> bool) -> Option<Self> {
        let most = i64::try_from(rows).ok()?;
        let mut lists = Vec::new();
        let (mut starts, mut places) = (Vec::new(), Vec::new());
        lists.try_reserve_exact(to.len()).ok()?;
        places.try_reserve_exact(to.len()).ok()?;
        starts.try_reserve_exact(rows.checked_add(2)?).ok()?;
        starts.resize(rows + 2, 0usize);
        for i in to {
            let i = read_once(i);
            if i < -most || i >= most {
                return None;
            }
            let row = if i < 0 { i + most } else { i } as usize;
            places.push(row);
            starts[row + 2] += usize::from(takes(row));
        }
        for row in 2..rows + 2 {
            starts[row] += starts[row - 1];
        }
        // From here on the start of the row after the next is where the next of its list goes.
        lists.resize(starts[rows + 1], 0);
        for (i, &row) in places.iter().enumerate().filter(|&(_, &row)| takes(row)) {
            lists[starts[row + 1]] = i;
            starts[row + 1] += 1;
        }
        starts.truncate(rows + 1);
        Some(Self { from: to.len(), starts, lists })
    }

    /// Row `r` of the result is the sum of the rows of an operand of `from` that `lists[starts[r]..starts[r + 1]]` has.
    ///
    /// # Panics
    /// If a list does not follow the one before it, or an operand has no such row.
    pub fn of_lists(from: usize, starts: Vec<usize>, lists: Vec<usize>) -> Self {
        assert!(starts.first() == Some(&0) && starts.last() == Some(&lists.len()) && starts.is_sorted(), "all lists");
        // By their signs, of many at a time; no operand has more rows than a signed number can count.
        let last = from.cast_signed() - 1;
        let signs = lists.iter().fold(0, |signs, row| signs | row.cast_signed() | last.wrapping_sub_unsigned(*row));
        assert!(signs >= 0, "rows that there are");
        Self { from, starts, lists }
    }

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// For each of `count` matrices of rows of `n` elements: every row of the result is `value` and the rows that go
    /// there, added up in their order.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised for `count` times the rows of the operand, one after the other, `to`
    ///    writable for as many times the rows of the result. 2. They are disjoint.
    pub unsafe fn write<T: Ring>(&self, count: usize, n: usize, value: T, from: *const T, to: *mut T) {
        let rows = count * self.rows();
        let moved = (rows + count * self.lists.len()) * n * size_of::<T>();
        let cost = copying(moved) + ROW_COST * rows as f64;
        let (from, to) = (SharedPtr(from.cast_mut()), SharedPtr(to));
        split(rows, 1, cost, &|rows| {
            let sums = Sums { sums: self, rows, n, value, from: from.get().cast_const(), to: to.get() };
            // SAFETY: (Sums 1, 2) ours; no other piece has these rows of the result.
            unsafe { for_isa(InstructionSet::detect(), sums) }
        });
    }
}

/// Rows `rows` of [`RowSums::write`], with its duties.
struct Sums<'a, T> {
    sums: &'a RowSums,
    rows: Range<usize>,
    n: usize,
    value: T,
    from: *const T,
    to: *mut T,
}

impl<T: Ring> Task for Sums<'_, T> {
    type Out = ();
    const WIDE: bool = size_of::<T>() >= 4;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Sums { sums, rows, n, value, from, to } = self;
        let (each, lists) = (sums.rows(), &sums.lists);
        let mut next = rows.start;
        while next < rows.end {
            let (row, matrix, row_of) = (next, next / each, next % each);
            let from = |i: usize| from.wrapping_add((matrix * sums.from + lists[i]) * n);
            let list = sums.starts[row_of]..sums.starts[row_of + 1];
            // Rows to which nothing goes are filled together.
            let left = if list.is_empty() { (each - row_of).min(rows.end - row) } else { 1 };
            let here = sums.starts[row_of + 1..][..left].iter().take_while(|&&end| end == list.end).count();
            next += here;
            if list.end + AHEAD < lists.len() {
                prefetch_lines::<4, T>(from(list.end + AHEAD));
            }
            // SAFETY: duties 1 and 2: a row of the result, and rows that go there.
            unsafe {
                if list.is_empty() {
                    std::slice::from_raw_parts_mut(to.add(row * n), here * n).fill(value);
                    continue;
                }
                let sum = std::slice::from_raw_parts_mut(to.add(row * n), n);
                let terms = |i: usize| std::slice::from_raw_parts(from(i), n);
                sum.iter_mut().zip(terms(list.start)).for_each(|(sum, &x)| *sum = value.add(x));
                let mut next = list.start + 1;
                // The sums go through memory once for several rows.
                while next + TOGETHER <= list.end {
                    add_four(sum, terms(next), terms(next + 1), terms(next + 2), terms(next + 3));
                    next += TOGETHER;
                }
                for i in next..list.end {
                    sum.iter_mut().zip(terms(i)).for_each(|(sum, &x)| *sum = sum.add(x));
                }
            }
        }
    }
}

/// Adds rows to `sum`, one after the other. The parameters tell the compiler that they are apart.
#[inline(always)]
fn add_four<T: Ring>(sum: &mut [T], a: &[T], b: &[T], c: &[T], d: &[T]) {
    let n = sum.len();
    let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
    for k in 0..n {
        sum[k] = sum[k].add(a[k]).add(b[k]).add(c[k]).add(d[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_added_in_their_order() {
        for (rows, n, count) in [(1, 1, 1), (5, 3, 2), (7, 33, 3), (40, 700, 2)] {
            let to: Vec<i64> = (0..2 * rows as i64).map(|i| i * i * 7 % (rows as i64 + 1) / 2 - (i % 3)).collect();
            let kept = |row: usize| row % 5 != 3;
            let sums = RowSums::new(rows, &to, kept).expect("rows that there are");
            let from: Vec<f32> = (0..count * to.len() * n).map(|i| (i as f32 * 0.37).sin() * 1e3).collect();
            let mut want = vec![0.5f32; count * rows * n];
            for matrix in 0..count {
                for (i, &at) in to.iter().enumerate() {
                    let at = at.rem_euclid(rows as i64) as usize;
                    for k in 0..if kept(at) { n } else { 0 } {
                        want[(matrix * rows + at) * n + k] += from[(matrix * to.len() + i) * n + k];
                    }
                }
            }
            let mut got = vec![f32::NAN; want.len()];
            // SAFETY: the slices have as many elements.
            unsafe { sums.write(count, n, 0.5, from.as_ptr(), got.as_mut_ptr()) };
            assert_eq!(got, want, "{rows} {n}");
        }
    }

    #[test]
    fn rows_are_those_of_their_lists() {
        let from: Vec<f64> = (0..4 * 3).map(f64::from).collect();
        let mut got = [f64::NAN; 9];
        let sums = RowSums::of_lists(4, vec![0, 3, 3, 4], vec![2, 0, 2, 1]);
        // SAFETY: the slices have as many elements.
        unsafe { sums.write(1, 3, 0.0, from.as_ptr(), got.as_mut_ptr()) };
        assert_eq!(got, [12.0, 15.0, 18.0, 0.0, 0.0, 0.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    #[should_panic(expected = "rows that there are")]
    fn lists_of_rows_that_there_are_not() {
        RowSums::of_lists(4, vec![0, 1], vec![4]);
    }

    #[test]
    fn rows_that_there_are_not() {
        assert!(RowSums::new(3, &[0, 3], |_| true).is_none());
        assert!(RowSums::new(3, &[-4], |_| true).is_none());
        assert!(RowSums::new(0, &[0], |_| true).is_none());
        assert!(RowSums::new(3, &[-3, 2], |_| true).is_some());
    }
}
