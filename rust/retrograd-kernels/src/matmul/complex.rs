//! Complex numbers: one real product of twice the depth and twice the columns.
//!
//! In memory a row of C is `re, im, re, im, ..`, and so is a row of A. With the rows of B as they are, and behind each
//! of them the same turned by a right angle, `-im, re, ..`, the real product of A and that is C.

use num_complex::Complex;

use super::driver::Product;
use super::sealed::Kernel;
use super::{Of, Panels, Vectors, Virtual};
use crate::real::{Real, Ring};

/// # Safety
/// 1. The duties of [`super::gemm`]; `m`, `n` and `k` are not zero.
pub(super) unsafe fn product<T: Vectors + Real + Kernel>(p: Product<Complex<T>>) {
    let vector = if p.n == 1 && p.m != 1 { p.transposed() } else { p };
    if vector.m == 1 && (vector.b_rs == 1 || vector.b_cs == 1 || vector.k == 1 || vector.n == 1) {
        // SAFETY: duty 1.
        return unsafe { vector_times_matrix(vector) };
    }
    let p = if p.c_cs != 1 && p.c_rs == 1 { p.transposed() } else { p };
    // SAFETY: duty 1. What is copied has the sizes of the matrix.
    unsafe {
        let packed;
        let (a, a_rs) = if p.a_cs == 1 || p.k == 1 {
            (p.a, p.a_rs)
        } else {
            packed = rows(p.m, p.k, p.a, p.a_rs, p.a_cs);
            (packed.as_ptr(), p.k as isize)
        };
        if p.c_cs == 1 || p.n == 1 {
            return in_pairs(Product { a, a_rs, ..p });
        }
        let mut c = vec![Ring::ZERO; p.m * p.n];
        in_pairs(Product { a, a_rs, c: c.as_mut_ptr(), c_rs: p.n as isize, accumulate: false, ..p });
        for (i, row) in c.chunks_exact(p.n).enumerate() {
            for (j, &sum) in row.iter().enumerate() {
                let c = p.c.offset(i as isize * p.c_rs + j as isize * p.c_cs);
                *c = if p.accumulate { (*c).add(sum) } else { sum };
            }
        }
    }
}

/// The product of one row: two real products, which read B in place along its contiguous axis.
///
/// # Safety
/// 1. As [`product`]; `m` is 1, and rows or columns of B are contiguous.
unsafe fn vector_times_matrix<T: Vectors + Real + Kernel>(p: Product<Complex<T>>) {
    let Product { n, k, b_rs, b_cs, c_cs, accumulate, .. } = p;
    let (b, c) = (p.b.cast::<T>(), p.c.cast::<T>());
    let real = |n, k, a, b_rs, b_cs, accumulate, c, c_cs| Product {
        m: 1,
        n,
        k,
        a,
        a_rs: 0,
        a_cs: 1,
        b,
        b_rs,
        b_cs,
        accumulate,
        c,
        c_rs: 0,
        c_cs,
    };
    // SAFETY: duty 1.
    let numbers = || (0..k as isize).map(|i| unsafe { *p.a.offset(i * p.a_cs) });
    // SAFETY: duty 1: each complex number is two reals one after the other.
    unsafe {
        if b_rs == 1 || k == 1 {
            // Columns of B as pairs, against `re, -im` for the real parts of the sums and `im, re` for the others.
            let re: Vec<T> = numbers().flat_map(|z| [z.re, Ring::neg(z.im)]).collect();
            let im: Vec<T> = numbers().flat_map(|z| [z.im, z.re]).collect();
            T::product(real(n, 2 * k, re.as_ptr(), 1, 2 * b_cs, accumulate, c, 2 * c_cs));
            return T::product(real(n, 2 * k, im.as_ptr(), 1, 2 * b_cs, accumulate, c.add(1), 2 * c_cs));
        }
        // Rows of B as pairs: their sums by the real parts, and by the imaginary ones.
        let re: Vec<T> = numbers().map(|z| z.re).collect();
        let im: Vec<T> = numbers().map(|z| z.im).collect();
        let (mut by_re, mut by_im) = (vec![Ring::ZERO; 2 * n], vec![Ring::ZERO; 2 * n]);
        T::product(real(2 * n, k, re.as_ptr(), 2 * b_rs, 1, false, by_re.as_mut_ptr(), 1));
        T::product(real(2 * n, k, im.as_ptr(), 2 * b_rs, 1, false, by_im.as_mut_ptr(), 1));
        for j in 0..n {
            let sum = Complex {
                re: Ring::sub(by_re[2 * j], by_im[2 * j + 1]),
                im: Ring::add(by_re[2 * j + 1], by_im[2 * j]),
            };
            let c = p.c.offset(j as isize * c_cs);
            *c = if accumulate { (*c).add(sum) } else { sum };
        }
    }
}

/// The elements of a matrix, row by row.
///
/// # Safety
/// 1. `x` is readable at `i * rs + j * cs` for all `i < rows`, `j < cols`.
unsafe fn rows<T: Copy>(rows: usize, cols: usize, x: *const T, rs: isize, cs: isize) -> Vec<T> {
    let mut copy = Vec::with_capacity(rows * cols);
    for i in 0..rows as isize {
        // SAFETY: duty 1.
        copy.extend((0..cols as isize).map(|j| unsafe { *x.offset(i * rs + j * cs) }));
    }
    copy
}

/// The product, where rows of A and of C are contiguous.
///
/// # Safety
/// 1. As [`product`].
unsafe fn in_pairs<T: Vectors + Real>(p: Product<Complex<T>>) {
    let turned = Turned { b: p.b, b_rs: p.b_rs, b_cs: p.b_cs };
    let real = Product {
        m: p.m,
        n: 2 * p.n,
        k: 2 * p.k,
        a: p.a.cast::<T>(),
        a_rs: 2 * p.a_rs,
        a_cs: 1,
        b: std::ptr::null(),
        b_rs: 0,
        b_cs: 0,
        accumulate: p.accumulate,
        c: p.c.cast::<T>(),
        c_rs: 2 * p.c_rs,
        c_cs: 1,
    };
    // SAFETY: duty 1: each complex number is two reals one after the other; the panels are written from B, which is
    // readable.
    unsafe { T::call(&Of(real, Virtual { panels: &turned, start: std::ptr::null() })) }
}

/// B, each row twice: as it is, and multiplied by the imaginary unit. Duties: B is readable for the rows and columns of
/// the product.
struct Turned<T> {
    b: *const Complex<T>,
    b_rs: isize,
    b_cs: isize,
}

impl<T: Vectors + Real> Panels<T> for Turned<T> {
    unsafe fn fill(&self, p0: usize, k: usize, j0: usize, columns: usize, dst: *mut T, width: usize) {
        debug_assert!(j0.is_multiple_of(2) && columns.is_multiple_of(2));
        let n = columns / 2;
        for i in 0..k {
            let p = p0 + i;
            // SAFETY: duties of the type: rows and columns of B; duty 1 for `dst`, whose rows are whole pairs.
            unsafe {
                let from = self.b.offset((p / 2) as isize * self.b_rs + (j0 / 2) as isize * self.b_cs);
                let to = std::slice::from_raw_parts_mut(dst.add(i * width).cast::<[T; 2]>(), width / 2);
                let (to, rest) = to.split_at_mut(n);
                if self.b_cs == 1 {
                    let from = std::slice::from_raw_parts(from, n);
                    turn(p % 2 == 1, to, |j| from[j]);
                } else {
                    turn(p % 2 == 1, to, |j| *from.offset(j as isize * self.b_cs));
                }
                rest.fill([Ring::ZERO; 2]);
            }
        }
    }
}

/// Writes numbers, or what they become multiplied by the imaginary unit.
#[inline(always)]
fn turn<T: Ring>(by_right_angle: bool, to: &mut [[T; 2]], from: impl Fn(usize) -> Complex<T>) {
    if by_right_angle {
        to.iter_mut().enumerate().for_each(|(j, to)| *to = [from(j).im.neg(), from(j).re]);
    } else {
        to.iter_mut().enumerate().for_each(|(j, to)| *to = [from(j).re, from(j).im]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::gemm;

    /// Small integers: every sum is exact.
    #[test]
    fn products_of_pairs() {
        type C = Complex<f32>;
        for (m, n, k) in
            [(1, 1, 1), (1, 1, 9), (1, 5, 3), (4, 1, 7), (5, 7, 9), (31, 33, 17), (90, 70, 400), (200, 40, 3)]
        {
            let number = |i: usize| C::new(((i * 37 + 11) % 15) as f32 - 7.0, ((i * 29 + 3) % 13) as f32 - 6.0);
            let a: Vec<C> = (0..m * k).map(number).collect();
            let b: Vec<C> = (0..k * n).map(|i| number(i + 5)).collect();
            let flip = |x: &[C], cols: usize| -> Vec<C> {
                let rows = x.len() / cols;
                (0..x.len()).map(|at| x[at % rows * cols + at / rows]).collect()
            };
            let (at, bt) = (flip(&a, k), flip(&b, n));
            for accumulate in [false, true] {
                let start = C::new(2.0, -1.0);
                let want: Vec<C> = (0..m * n)
                    .map(|i| {
                        let sum: C = (0..k).map(|p| a[i / n * k + p] * b[p * n + i % n]).sum();
                        sum + if accumulate { start } else { C::ZERO }
                    })
                    .collect();
                let (mi, ni, ki) = (m as isize, n as isize, k as isize);
                for (a, a_rs, a_cs) in [(&a, ki, 1), (&at, 1, mi)] {
                    for (b, b_rs, b_cs) in [(&b, ni, 1), (&bt, 1, ki)] {
                        for (c_rs, c_cs) in [(ni, 1), (1, mi), (2 * ni, 2)] {
                            let mut c = vec![start; 2 * m * n];
                            // SAFETY: matrices of these sizes in their slices.
                            unsafe {
                                let (a, b) = (a.as_ptr(), b.as_ptr());
                                gemm(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c.as_mut_ptr(), c_rs, c_cs);
                            }
                            for (i, want) in want.iter().enumerate() {
                                let at = (i / n) as isize * c_rs + (i % n) as isize * c_cs;
                                assert_eq!(c[at as usize], *want, "{m} {n} {k} {accumulate} {a_rs} {b_rs} {c_rs}");
                            }
                        }
                    }
                }
            }
        }
    }
}
