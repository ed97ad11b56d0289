//! Sums of the rows that go to the same place: what the gradients of a choice of rows are.

use std::borrow::Cow;
use std::ops::Range;

use super::pointwise::copying;
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa, prefetch_lines};
use super::strided::{read_once, within};
use crate::parallel::{SharedPtr, split};

/// Which rows of an operand go to each row of a result, in their order.
pub struct RowSums<'a> {
    /// How many rows the operand has.
    from: usize,
    /// Where the list of each row of the result begins, and the end of the last one.
    starts: Vec<usize>,
    /// Each of them is from 0 to `from - 1`.
    lists: Cow<'a, [i64]>,
}

/// What a row takes in nanoseconds beside its elements.
const ROW_COST: f64 = 4.0;
/// Rows that are added up at a time.
const TOGETHER: usize = 4;
/// How many rows ahead memory is asked for.
const AHEAD: usize = 8;

impl<'a> RowSums<'a> {
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
        lists.resize(starts[rows + 1], 0i64);
        for (i, &row) in places.iter().enumerate().filter(|&(_, &row)| takes(row)) {
            lists[starts[row + 1]] = i as i64;
            starts[row + 1] += 1;
        }
        starts.truncate(rows + 1);
        Some(Self { from: to.len(), starts, lists: Cow::Owned(lists) })
    }

    /// Row `r` of the result is the sum of the rows of an operand of `from` that `lists[starts[r]..starts[r + 1]]` has.
    ///
    /// # Panics
    /// If a list does not follow the one before it, or an operand has no such row.
    pub fn of_lists(from: usize, starts: Vec<usize>, lists: Cow<'a, [i64]>) -> Self {
        assert!(starts.first() == Some(&0) && starts.last() == Some(&lists.len()) && starts.is_sorted(), "all lists");
        assert!(within(&lists, from), "rows that there are");
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
    sums: &'a RowSums<'a>,
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
            let list = sums.starts[row_of]..sums.starts[row_of + 1];
            // Rows to which nothing goes are filled together.
            let left = if list.is_empty() { (each - row_of).min(rows.end - row) } else { 1 };
            let here = sums.starts[row_of + 1..][..left].iter().take_while(|&&end| end == list.end).count();
            next += here;
            // SAFETY: duties 1 and 2: a row of the result, and rows that go there.
            unsafe {
                let to = to.add(row * n);
                if list.is_empty() {
                    std::slice::from_raw_parts_mut(to, here * n).fill(value);
                    continue;
                }
                let (list, after) = lists[list.start..].split_at(list.len());
                let from = from.add(matrix * sums.from * n);
                let sum = Sum { list, after: &after[..after.len().min(AHEAD)], from, n, value, to };
                match size_of::<T>() {
                    16.. => sum.write::<4>(),
                    8.. => sum.write::<8>(),
                    _ => sum.write::<16>(),
                }
            }
        }
    }
}

/// A row of the result.
///
/// Duties: 1. `from` is readable for every row of the list, `to` writable for a row. 2. They are disjoint.
struct Sum<'a, T> {
    list: &'a [i64],
    /// The first of the rows that are added up next.
    after: &'a [i64],
    from: *const T,
    n: usize,
    value: T,
    to: *mut T,
}

impl<T: Ring> Sum<'_, T> {
    fn row(&self, i: i64) -> *const T {
        self.from.wrapping_add(i as usize * self.n)
    }

    /// In pieces whose sums stay in registers: of four times `L` elements, and of the most that fit into what is left.
    ///
    /// # Safety
    /// Our duties.
    #[inline(always)]
    unsafe fn write<const L: usize>(&self) {
        let (n, mut column) = (self.n, 0);
        // SAFETY: ours; pieces are within the row.
        unsafe {
            while column + 4 * L <= n {
                self.piece::<L, 4>(column);
                column += 4 * L;
            }
            match n {
                _ if n >= L => self.pieces::<L>(column),
                8.. => self.pieces::<8>(column),
                4.. => self.pieces::<4>(column),
                _ => self.write_short(),
            }
        }
    }

    /// All columns from `column` on, by `L`: the last piece ends with the row, and has some of the sums before it once
    /// more.
    ///
    /// # Safety
    /// Our duties, and there are so many columns.
    #[inline(always)]
    unsafe fn pieces<const L: usize>(&self, column: usize) {
        for column in (column..self.n).step_by(L) {
            // SAFETY: ours; there are `L` columns.
            unsafe { self.piece::<L, 1>(column.min(self.n - L)) };
        }
    }

    /// `N` times `L` columns from `column` on.
    ///
    /// # Safety
    /// Our duties, and there are these columns.
    #[inline(always)]
    unsafe fn piece<const L: usize, const N: usize>(&self, column: usize) {
        let mut sums = [[self.value; L]; N];
        for (k, &i) in self.list.iter().enumerate() {
            let ahead = match self.list.get(k + AHEAD) {
                Some(next) => Some(next),
                None => self.after.get(k + AHEAD - self.list.len()),
            };
            if let Some(&next) = ahead {
                prefetch_lines::<N, T>(self.row(next).wrapping_add(column));
            }
            // SAFETY: duty 1: columns of a row of the list.
            let terms = unsafe { self.row(i).add(column).cast::<[[T; L]; N]>().read_unaligned() };
            for v in 0..N {
                for l in 0..L {
                    sums[v][l] = sums[v][l].add(terms[v][l]);
                }
            }
        }
        // SAFETY: duties 1 and 2: columns of the result.
        unsafe { self.to.add(column).cast::<[[T; L]; N]>().write_unaligned(sums) };
    }

    /// Of few elements.
    ///
    /// # Safety
    /// Our duties.
    #[inline(always)]
    unsafe fn write_short(&self) {
        let Some((&first, rest)) = self.list.split_first() else { return };
        // SAFETY: duties 1 and 2.
        let (sum, terms) = unsafe {
            (std::slice::from_raw_parts_mut(self.to, self.n), |i: i64| std::slice::from_raw_parts(self.row(i), self.n))
        };
        sum.iter_mut().zip(terms(first)).for_each(|(sum, &x)| *sum = self.value.add(x));
        // The sums go through memory once for several rows.
        let (together, rest) = rest.as_chunks::<TOGETHER>();
        for &[a, b, c, d] in together {
            add_four(sum, terms(a), terms(b), terms(c), terms(d));
        }
        for &i in rest {
            sum.iter_mut().zip(terms(i)).for_each(|(sum, &x)| *sum = sum.add(x));
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

    fn check<T: Ring + std::fmt::Debug>(rows: usize, n: usize, count: usize, of: impl Fn(usize) -> T) {
        let to: Vec<i64> =
            (0..3 * rows as i64).map(|i| i * i * 7 % (rows as i64 + 1) / 2 - i % 3 % (rows as i64 + 1)).collect();
        let kept = |row: usize| row % 5 != 3;
        let sums = RowSums::new(rows, &to, kept).expect("rows that there are");
        let from: Vec<T> = (0..count * to.len() * n).map(&of).collect();
        let mut want = vec![of(5); count * rows * n];
        for matrix in 0..count {
            for (i, &at) in to.iter().enumerate() {
                let at = at.rem_euclid(rows as i64) as usize;
                for k in 0..if kept(at) { n } else { 0 } {
                    let sum = &mut want[(matrix * rows + at) * n + k];
                    *sum = sum.add(from[(matrix * to.len() + i) * n + k]);
                }
            }
        }
        let mut got = vec![of(9); want.len()];
        // SAFETY: the slices have as many elements.
        unsafe { sums.write(count, n, of(5), from.as_ptr(), got.as_mut_ptr()) };
        assert_eq!(got, want, "{rows} {n} {count}");
    }

    #[test]
    fn rows_are_added_in_their_order() {
        let number = |i: usize| (i as f64 * 0.37).sin() * 1e3;
        for n in [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 33, 63, 64, 65, 80, 100, 129, 700] {
            for (rows, count) in [(1, 1), (5, 2), (7, 3), (40, 2)] {
                check(rows, n, count, |i| number(i) as f32);
                check(rows, n, count, number);
                check(rows, n, count, |i| i as u8);
                check(rows, n, count, |i| number(i) as i64);
                check(rows, n, count, |i| num_complex::Complex::new(number(i) as f32, number(i + 3) as f32));
                check(rows, n, count, |i| num_complex::Complex::new(number(i), number(i + 3)));
            }
        }
    }

    #[test]
    fn rows_are_those_of_their_lists() {
        let from: Vec<f64> = (0..4 * 3).map(f64::from).collect();
        let mut got = [f64::NAN; 9];
        let sums = RowSums::of_lists(4, vec![0, 3, 3, 4], Cow::Borrowed(&[2, 0, 2, 1]));
        // SAFETY: the slices have as many elements.
        unsafe { sums.write(1, 3, 0.0, from.as_ptr(), got.as_mut_ptr()) };
        assert_eq!(got, [12.0, 15.0, 18.0, 0.0, 0.0, 0.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn lists_of_rows_that_there_are_not() {
        for row in [4, -1, i64::MAX, i64::MIN] {
            let list = std::panic::catch_unwind(|| RowSums::of_lists(4, vec![0, 2], Cow::Owned(vec![0, row])));
            assert!(list.is_err(), "{row}");
        }
    }

    #[test]
    fn rows_that_there_are_not() {
        assert!(RowSums::new(3, &[0, 3], |_| true).is_none());
        assert!(RowSums::new(3, &[-4], |_| true).is_none());
        assert!(RowSums::new(0, &[0], |_| true).is_none());
        assert!(RowSums::new(3, &[-3, 2], |_| true).is_some());
    }
}
