//! The positions of the true elements of a mask.

use smallvec::SmallVec;

use crate::parallel::{SharedPtr, split};
use crate::thresholds::index::MASK_PART;
use crate::truth::Truth;

/// What it takes to count an element, and to write its position along one axis, in nanoseconds.
const COUNT_COST: f64 = 0.1;
const WRITE_COST: f64 = 1.0;

/// A mask whose true elements are counted, part by part.
#[derive(Debug)]
pub struct Counted {
    mask: Vec<Truth>,
    /// How many there are before each part, and in the end how many there are.
    before: Vec<usize>,
}

impl Counted {
    /// Of a mask in row-major order.
    pub fn new(mask: Vec<Truth>) -> Self {
        let parts = mask.len().div_ceil(MASK_PART);
        let mut before = vec![0; parts + 1];
        let counts = SharedPtr(before.as_mut_ptr());
        split(parts, 1, mask.len() as f64 * COUNT_COST, &|pieces| {
            for part in pieces {
                let start = part * MASK_PART;
                let count = count(&mask[start..(start + MASK_PART).min(mask.len())]);
                // SAFETY: a place of the vector, this part's alone.
                unsafe { *counts.get().add(part + 1) = count };
            }
        });
        let mut sum = 0;
        for count in &mut before {
            sum += *count;
            *count = sum;
        }
        Self { mask, before }
    }

    /// How many elements are true.
    pub fn count(&self) -> usize {
        self.before[self.before.len() - 1]
    }

    /// Writes where the true elements are along every axis of the mask, which has these sizes, in row-major order.
    ///
    /// # Safety
    /// 1. For each of the `sizes`, which multiply to the length of the mask, `to` has a pointer, writable for
    ///    [`Counted::count`] elements. 2. These are disjoint.
    pub unsafe fn write(&self, sizes: &[usize], to: &[SharedPtr<i64>]) {
        assert!(sizes.len() == to.len());
        let Some((&n, leading)) = sizes.split_last().filter(|_| self.count() > 0) else { return };
        let (last, to) = (to[leading.len()], &to[..leading.len()]);
        let cost = (self.mask.len() * sizes.len()) as f64 * WRITE_COST;
        split(self.before.len() - 1, 1, cost, &|pieces| {
            let start = pieces.start * MASK_PART;
            let mask = &self.mask[start..(pieces.end * MASK_PART).min(self.mask.len())];
            let (mut found, end) = (self.before[pieces.start], self.before[pieces.end]);
            // Where the piece begins; from there on, positions are counted up.
            let (mut row, mut column) = (SmallVec::<[usize; 8]>::from_elem(0, leading.len()), start % n);
            let mut rest = start / n;
            for (i, &size) in row.iter_mut().zip(leading).rev() {
                (*i, rest) = (rest % size, rest / size);
            }
            let mut at = 0;
            while found < end {
                let elements = &mask[at..(at + n - column).min(mask.len())];
                let first = found;
                for (j, b) in elements.iter().enumerate() {
                    if found == end {
                        break;
                    }
                    // Written in any case, and kept if the next one is written elsewhere.
                    // SAFETY: duties 1 and 2: less than `end`, up to which places are this piece's.
                    unsafe { *last.get().add(found) = (column + j) as i64 };
                    found += usize::from(b.get());
                }
                for (p, &i) in to.iter().zip(&row) {
                    // SAFETY: as above; elements that were not written yet are not read.
                    (first..found).for_each(|place| unsafe { *p.get().add(place) = i as i64 });
                }
                (at, column) = (at + elements.len(), 0);
                for (i, &size) in row.iter_mut().zip(leading).rev() {
                    *i += 1;
                    if *i < size {
                        break;
                    }
                    *i = 0;
                }
            }
        });
    }
}

/// How many are true, in sums of bytes.
fn count(mask: &[Truth]) -> usize {
    mask.chunks(128).map(|some| usize::from(some.iter().map(|b| u8::from(b.get())).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_by_the_definition() {
        let most = if cfg!(miri) { 30 } else { 2 * MASK_PART + 100 };
        let sizes: &[&[usize]] =
            &[&[0], &[1], &[most], &[3, most], &[most, 3], &[2, 0, 3], &[4, 3, 0], &[3, 1, most / 3 + 1, 2], &[]];
        // Which elements are true: none, all, the first or last one, some, and nearly none or all.
        let kinds: &[&dyn Fn(usize, usize) -> bool] = &[
            &|_, _| false,
            &|_, _| true,
            &|i, _| i == 0,
            &|i, n| i + 1 == n,
            &|i, _| i % 3 == 1 || i % 7 == 0,
            &|i, _| i % 1000 == 999,
            &|i, _| i % 1000 != 999,
        ];
        for sizes in sizes {
            for kind in kinds {
                let n = sizes.iter().product::<usize>();
                // SAFETY: a `Truth` is any byte.
                let truth = |i| unsafe { std::mem::transmute::<u8, Truth>(if kind(i, n) { 1 << (i % 8) } else { 0 }) };
                let counted = Counted::new((0..n).map(truth).collect());
                let want: Vec<usize> = (0..n).filter(|&i| kind(i, n)).collect();
                assert_eq!(counted.count(), want.len());
                let mut got = vec![vec![-1i64; want.len()]; sizes.len()];
                let to: Vec<_> = got.iter_mut().map(|axis| SharedPtr(axis.as_mut_ptr())).collect();
                // SAFETY: (1) and (2) a vector of so many for each axis.
                unsafe { counted.write(sizes, &to) };
                for (d, got) in got.iter().enumerate() {
                    let after = sizes[d + 1..].iter().product::<usize>();
                    let want = want.iter().map(|i| (i / after % sizes[d]) as i64);
                    assert!(got.iter().copied().eq(want), "{sizes:?} {d}");
                }
            }
        }
    }
}
