//! Integers: plain loops, wrapping on overflow.

use super::driver::Product;
use super::few::Few;

/// Wrapping arithmetic of the integer element types.
pub(super) trait Integer: Copy {
    const ZERO: Self;
    /// `self + a * b`, wrapping.
    fn plus_product(self, a: Self, b: Self) -> Self;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Integer for $t {
            const ZERO: Self = 0;
            fn plus_product(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }
        }
    )*};
}
integer!(i8, i16, i32, i64, u8);

/// Columns of C that are too few for a loop along them.
const FEW: usize = 8;

/// One product after the other.
///
/// # Safety
/// The duties of [`Few`].
pub(super) unsafe fn products<T: Integer>(few: &Few<T>) {
    let [a, b, c] = few.apart;
    for i in 0..few.count as isize {
        let first = few.first;
        // SAFETY: ours, for one product.
        unsafe {
            let (a, b, c) = (first.a.offset(i * a), first.b.offset(i * b), first.c.offset(i * c));
            product(&Product { a, b, c, ..first });
        }
    }
}

/// # Safety
/// The duties of [`super::gemm`].
pub(super) unsafe fn product<T: Integer>(p: &Product<T>) {
    // The innermost loop goes along whichever axis of C is contiguous, or of A if C has few columns.
    let turned = if p.n < FEW { p.c_rs == 1 && p.a_rs == 1 && p.a_cs != 1 } else { p.c_cs != 1 && p.c_rs == 1 };
    let p = if turned { p.transposed() } else { *p };
    for i in 0..p.m as isize {
        // SAFETY: ours, for one row of C.
        unsafe {
            if p.n < FEW && p.k > 0 {
                dots(&p, i);
            } else {
                sum_of_rows(&p, i);
            }
        }
    }
}

/// Row `i` of C: for each element the products along the row of A and the column of B.
///
/// # Safety
/// 1. The duties of [`super::gemm`]; there is a row `i`, and a column of A.
unsafe fn dots<T: Integer>(p: &Product<T>, i: isize) {
    for j in 0..p.n as isize {
        // SAFETY: (i, l) is an element of A, (l, j) of B, (i, j) of C; contiguous ones are slices.
        unsafe {
            let (a, b) = (p.a.offset(i * p.a_rs), p.b.offset(j * p.b_cs));
            let c = p.c.offset(i * p.c_rs + j * p.c_cs);
            let start = if p.accumulate { *c } else { T::ZERO };
            *c = if p.a_cs == 1 && p.b_rs == 1 {
                let (a, b) = (std::slice::from_raw_parts(a, p.k), std::slice::from_raw_parts(b, p.k));
                a.iter().zip(b).fold(start, |sum, (&a, &b)| sum.plus_product(a, b))
            } else {
                (0..p.k as isize).fold(start, |sum, l| sum.plus_product(*a.offset(l * p.a_cs), *b.offset(l * p.b_rs)))
            };
        }
    }
}

/// Row `i` of C: the sum of the rows of B times the elements of the row of A.
///
/// # Safety
/// 1. The duties of [`super::gemm`]; there is a row `i`.
unsafe fn sum_of_rows<T: Integer>(p: &Product<T>, i: isize) {
    if !p.accumulate {
        for j in 0..p.n as isize {
            // SAFETY: (i, j) is an element of C.
            unsafe { *p.c.offset(i * p.c_rs + j * p.c_cs) = T::ZERO }
        }
    }
    for l in 0..p.k as isize {
        // SAFETY: (i, l) is an element of A.
        let a = unsafe { *p.a.offset(i * p.a_rs + l * p.a_cs) };
        for j in 0..p.n as isize {
            // SAFETY: (l, j) is an element of B and (i, j) of C.
            unsafe {
                let c = p.c.offset(i * p.c_rs + j * p.c_cs);
                *c = (*c).plus_product(a, *p.b.offset(l * p.b_rs + j * p.b_cs));
            }
        }
    }
}
