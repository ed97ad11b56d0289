//! Integers: plain loops, wrapping on overflow.

use super::driver::Product;

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

/// # Safety
/// The duties of [`super::gemm`].
pub(super) unsafe fn product<T: Integer>(p: &Product<T>) {
    // The innermost loop goes along whichever axis of C is contiguous.
    let p = if p.c_cs != 1 && p.c_rs == 1 { p.transposed() } else { *p };
    for i in 0..p.m as isize {
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
}
