//! Batches of products of matrices with no more than four rows, columns and terms, such as rotations of points: one is
//! done in less time than it takes to choose a tile for it.

use super::driver::Product;
use super::simd::{Float, Routine, Simd};

/// The longest side of such a matrix.
pub(super) const MOST: usize = 4;

/// `count` products, the first of which is `first`. Duties: those of [`super::gemm`] for each; no extent is zero or
/// more than [`MOST`].
pub(super) struct Few<T> {
    pub count: usize,
    /// From each product to the next: the distances between their A, B and C.
    pub apart: [isize; 3],
    pub first: Product<T>,
}

impl<T: Float> Routine for Few<T> {
    type Elem = T;
    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        let [a, b, c] = self.apart;
        // Vectors go along the longer side of C.
        let along = match self.first.n < self.first.m {
            true => Few { count: self.count, apart: [b, a, c], first: self.first.transposed() },
            false => Few { count: self.count, apart: [a, b, c], first: self.first },
        };
        // SAFETY: our duties; the transposed products touch the same elements.
        unsafe {
            match along.first.k {
                1 => along.of_terms::<1>(),
                2 => along.of_terms::<2>(),
                3 => along.of_terms::<3>(),
                _ => along.of_terms::<MOST>(),
            }
        }
    }
}

impl<T: Float> Few<T> {
    /// # Safety
    /// 1. The duties of the type, and `K` terms.
    #[inline(always)]
    unsafe fn of_terms<const K: usize>(&self) {
        let Product { m, n, a_rs, a_cs, b_rs, b_cs, accumulate, c_rs, c_cs, .. } = self.first;
        let at = |row: usize, rs: isize, column: usize, cs: isize| row as isize * rs + column as isize * cs;
        for i in 0..self.count as isize {
            let [a, b, c] = self.apart.map(|step| i * step);
            // SAFETY: duty 1: a product of the batch.
            let (a, b, c) = unsafe { (self.first.a.offset(a), self.first.b.offset(b), self.first.c.offset(c)) };
            let mut rows = [[T::ZERO; MOST]; K];
            for (p, row) in rows.iter_mut().enumerate() {
                for (j, x) in row.iter_mut().enumerate().take(n) {
                    // SAFETY: duty 1: an element of B.
                    *x = unsafe { *b.offset(at(p, b_rs, j, b_cs)) };
                }
            }
            for i in 0..m {
                let mut sums = [T::ZERO; MOST];
                for (p, row) in rows.iter().enumerate() {
                    // SAFETY: duty 1: an element of A.
                    let x = unsafe { *a.offset(at(i, a_rs, p, a_cs)) };
                    for j in 0..MOST {
                        sums[j] = sums[j].plus(x.times(row[j]));
                    }
                }
                for (j, &sum) in sums.iter().enumerate().take(n) {
                    // SAFETY: duty 1: an element of C, with `accumulate` an initialised one.
                    unsafe {
                        let c = c.offset(at(i, c_rs, j, c_cs));
                        *c = if accumulate { sum.plus(*c) } else { sum };
                    }
                }
            }
        }
    }
}
