//! The matrix product: `C = A B` or `C += A B`, at any strides.
//!
//! `docs/gemm.md` says how it was chosen and how fast it is. From the outside in: [`gemm`] picks the
//! instruction set, `driver` cuts the product into tiles, `tile` computes one in registers, `simd`
//! has the vectors; `dots` serves products with few columns, `vecmat` those with one row or column, `few` batches of
//! those with few of everything, `naive` the integers, `complex` the complex numbers; `halves` rows of float16 and
//! bfloat16 with a vector; `bf16` products of bfloat16 in tiles of the CPU's matrix unit, which is in `amx`.

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod amx;
#[cfg(any(test, all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod bf16;
mod complex;
mod dots;
mod driver;
mod few;
mod halves;
mod naive;
mod scratch;
mod simd;
#[cfg(test)]
mod tests;
mod tile;
mod vecmat;
#[cfg(target_arch = "x86_64")]
mod x86;

use driver::Product;
pub(crate) use driver::{Panels, Virtual};
use few::Few;
pub use halves::dots_of_halves;
pub(crate) use simd::{Float, Routine, Simd};
pub(crate) use tile::Rows;
pub(crate) use vecmat::sum;

use std::cell::Cell;
use std::marker::PhantomData;

use num_complex::Complex;

use crate::parallel::{SharedPtr, num_threads, split};
use crate::real::Real;
use crate::thresholds::matmul::{DOT_PART, FEW_TERMS, GRAIN, TILE_WORK};

mod sealed {
    use super::driver::Product;
    use super::few::Few;

    /// What [`super::gemm`] calls, once for each element type.
    pub trait Kernel: crate::real::Ring {
        /// Whether B is written in another form for every part of C: then C is cut between columns if it has many.
        const WRITES_B: bool = false;
        /// Where C is one row or column, parts of it that begin at multiples of this have the same terms in the same
        /// order as the whole, unless they are single elements; 0 if they do not.
        const VECTOR_GRAIN: usize = 0;

        /// # Safety
        /// The duties of [`super::gemm`]; `m`, `n` and `k` are not zero.
        #[expect(private_interfaces, reason = "the trait is sealed")]
        unsafe fn product(p: &Product<Self>);

        /// Does a batch of products of few terms, if there is a loop for them.
        ///
        /// # Safety
        /// The duties of the type.
        #[expect(private_interfaces, reason = "the trait is sealed")]
        unsafe fn products(_: &Few<Self>) -> bool {
            false
        }
    }
}

/// An element type with a matrix product: `f32` and `f64` and complex numbers of them (vector code chosen for the CPU
/// at run time), and `i8`, `i16`, `i32`, `i64` and `u8` (plain loops, wrapping on overflow).
pub trait GemmScalar: sealed::Kernel {}
impl<T: sealed::Kernel> GemmScalar for T {}

/// Element types with vectors: `f32` and `f64`.
pub(crate) trait Vectors: Float {
    /// Runs a routine with the best instructions of this CPU.
    ///
    /// # Safety
    /// The duties of the routine.
    unsafe fn call<R: Routine<Elem = Self>>(r: &R);
}

/// Elements of a vector of this CPU.
pub(crate) fn lanes<T: Vectors>() -> usize {
    struct Lanes<'a, T>(&'a Cell<usize>, PhantomData<T>);
    impl<T: Float> Routine for Lanes<'_, T> {
        type Elem = T;
        #[inline(always)]
        unsafe fn run<V: Simd<Elem = T>>(&self) {
            self.0.set(V::LEN);
        }
    }
    let lanes = Cell::new(0);
    // SAFETY: the routine has no duties.
    unsafe { T::call(&Lanes(&lanes, PhantomData)) };
    lanes.get()
}

/// [`gemm_of`] as a routine: its arguments.
struct Of<'a, T>(Product<T>, Virtual<'a, T>);

/// Duties: those of [`gemm_of`], no extent being zero.
impl<T: Float> Routine for Of<'_, T> {
    type Elem = T;
    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        // SAFETY: our duties.
        unsafe { driver::product_of::<V>(self.0, self.1) }
    }
}

macro_rules! float {
    ($t:ty, $avx512:ident, $avx2:ident, $plain:ident) => {
        impl Vectors for $t {
            unsafe fn call<R: Routine<Elem = Self>>(r: &R) {
                // SAFETY: the duties pass through; the instructions are those just detected, or
                // those that every CPU of the target has.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    if is_x86_feature_detected!("avx512f") {
                        return x86::$avx512::call(r);
                    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        return x86::$avx2::call(r);
                    }
                    simd::$plain::call(r);
                }
            }
        }

        impl sealed::Kernel for $t {
            // Columns are taken as dot products, each by itself, or by vectors.
            const VECTOR_GRAIN: usize = 128;

            #[expect(private_interfaces, reason = "the trait is sealed")]
            unsafe fn product(p: &Product<Self>) {
                // SAFETY: the duties pass through; the instructions are those just detected, or
                // those that every CPU of the target has.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    if is_x86_feature_detected!("avx512f") {
                        return driver::product::<x86::$avx512>(p);
                    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        return driver::product::<x86::$avx2>(p);
                    }
                    driver::product::<simd::$plain>(p);
                }
            }

            #[expect(private_interfaces, reason = "the trait is sealed")]
            unsafe fn products(few: &Few<Self>) -> bool {
                // SAFETY: the duties pass through.
                unsafe { Self::call(few) };
                true
            }
        }

        impl sealed::Kernel for Complex<$t> {
            const WRITES_B: bool = true;

            #[expect(private_interfaces, reason = "the trait is sealed")]
            unsafe fn product(p: &Product<Self>) {
                // SAFETY: the duties pass through.
                unsafe { complex::product(p) }
            }
        }
    };
}
float!(f32, Avx512F32, Avx2F32, PlainF32);
float!(f64, Avx512F64, Avx2F64, PlainF64);

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl sealed::Kernel for $t {
            #[expect(private_interfaces, reason = "the trait is sealed")]
            unsafe fn product(p: &Product<Self>) {
                // SAFETY: the duties pass through.
                unsafe { naive::product(p) }
            }

            #[expect(private_interfaces, reason = "the trait is sealed")]
            unsafe fn products(few: &Few<Self>) -> bool {
                // SAFETY: the duties pass through.
                unsafe { naive::products(few) };
                true
            }
        }
    )*};
}
integer!(i8, i16, i32, i64, u8);

/// `C (m x n) = A (m x k) B (k x n)`, or `C += A B` with `accumulate`, with the help of the thread pool if it is large.
///
/// Strides are in elements and may be any: transposed, zero (expanded), negative. Only C must not
/// repeat an element. Without terms (`k == 0`) C becomes zero, or stays with `accumulate`.
///
/// The order of the terms of one element of C depends on the shape, the strides and the CPU, not on
/// the number of threads or anything else: the same call gives the same bits.
///
/// # Safety
/// 1. `a` is readable at `i * a_rs + p * a_cs` for all `i < m`, `p < k`; `b` at
///    `p * b_rs + j * b_cs` for all `p < k`, `j < n`; all of one operand in one allocation.
/// 2. `c` is writable at `i * c_rs + j * c_cs` for all `i < m`, `j < n`, and with `accumulate` holds
///    initialised values there.
/// 3. No two `(i, j)` have the same place in C, and no place in C is one that is read in A or B.
/// 4. No other thread writes A or B, or touches C, during the call.
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub unsafe fn gemm<T: GemmScalar>(
    m: usize,
    n: usize,
    k: usize,
    a: *const T,
    a_rs: isize,
    a_cs: isize,
    b: *const T,
    b_rs: isize,
    b_cs: isize,
    accumulate: bool,
    c: *mut T,
    c_rs: isize,
    c_cs: isize,
) {
    // SAFETY: duties 1 to 4.
    unsafe { gemm_conj(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, [false; 2]) }
}

/// As [`gemm`], with those operands read conjugated of which `conj` says so; that of real numbers is not looked at.
///
/// # Safety
/// 1. The duties of [`gemm`].
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub unsafe fn gemm_conj<T: GemmScalar>(
    m: usize,
    n: usize,
    k: usize,
    a: *const T,
    a_rs: isize,
    a_cs: isize,
    b: *const T,
    b_rs: isize,
    b_cs: isize,
    accumulate: bool,
    c: *mut T,
    c_rs: isize,
    c_cs: isize,
    conj: [bool; 2],
) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if !accumulate {
            for i in 0..m as isize {
                for j in 0..n as isize {
                    // SAFETY: duty 1: `c` is writable.
                    unsafe { *c.offset(i * c_rs + j * c_cs) = T::ZERO }
                }
            }
        }
        return;
    }
    if m == 1 && n == 1 && k >= 2 * DOT_PART {
        let (c_rs, c_cs, is_all) = (1, 1, true);
        let product = Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all };
        // SAFETY: duties 1 to 4.
        return unsafe { long_dot(&product) };
    }
    let (a, b, c) = (SharedPtr(a.cast_mut()), SharedPtr(b.cast_mut()), SharedPtr(c));
    let part = |(i, m): (usize, usize), (j, n): (usize, usize), is_all| {
        let (i, j) = (i as isize, j as isize);
        // SAFETY: duty 1 for a part of C, which no other thread has, and no extent is zero.
        unsafe {
            let (a, b) = (a.get().offset(i * a_rs).cast_const(), b.get().offset(j * b_cs).cast_const());
            let c = c.get().offset(i * c_rs + j * c_cs);
            T::product(&Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all });
        }
    };
    let is_vector = m.min(n) == 1;
    if m.saturating_mul(n).saturating_mul(k) < FEW_TERMS || is_vector && (T::VECTOR_GRAIN == 0 || m == n) {
        return part((0, m), (0, n), true);
    }
    // C is cut for threads along its longer side. An element has the same terms in the same order in any part of more
    // than one row and column.
    let along_rows = if T::WRITES_B { m > 2 * n } else { m >= n };
    let extent = if along_rows { m } else { n };
    // Of a matrix, each part copies what it reads: one for each thread is enough.
    let (parts, least) = match (is_vector, along_rows) {
        (true, _) => (2 * num_threads(), T::VECTOR_GRAIN),
        (false, true) => (num_threads(), 1),
        (false, false) => (num_threads(), GRAIN),
    };
    let mut grain = extent.div_ceil(parts).next_multiple_of(least);
    while extent % grain == 1 {
        grain += least;
    }
    let term = if is_vector { size_of::<T>() as f64 * VECTOR_BYTE_COST } else { term_cost::<T>() };
    let cost = m as f64 * n as f64 * k as f64 * term;
    split(extent, grain, cost, &|range| {
        let cut = (range.start, range.len());
        if along_rows { part(cut, (0, n), false) } else { part((0, m), cut, false) }
    });
}

/// A row times a column, in the same parts whatever the number of threads. Their sums are added in pairs.
///
/// # Safety
/// 1. The duties of [`gemm`]; there is a term.
unsafe fn long_dot<T: GemmScalar>(p: &Product<T>) {
    let mut sums = vec![T::ZERO; p.k.div_ceil(DOT_PART)];
    let (a, b, out) = (SharedPtr(p.a.cast_mut()), SharedPtr(p.b.cast_mut()), SharedPtr(sums.as_mut_ptr()));
    let (steps, part) = ([p.a_cs, p.b_rs], Product { accumulate: false, ..*p });
    let cost = 2.0 * (p.k * size_of::<T>()) as f64 * VECTOR_BYTE_COST;
    split(sums.len(), 1, cost, &|parts| {
        for i in parts {
            let from = i * DOT_PART;
            // SAFETY: duty 1 for some of the terms, of which there is one; the sum is this piece's alone.
            unsafe {
                let (a, b) = (a.get().offset(from as isize * steps[0]), b.get().offset(from as isize * steps[1]));
                T::product(&Product { k: DOT_PART.min(part.k - from), a, b, c: out.get().add(i), ..part });
            }
        }
    });
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|pair| pair.iter().fold(T::ZERO, |sum, &x| sum.add(x))).collect();
    }
    // SAFETY: duty 1: the only place of C, which holds a value if that is added to.
    unsafe { *p.c = if p.accumulate { (*p.c).add(sums[0]) } else { sums[0] } };
}

/// [`gemm_conj`] of `count` products; `apart` are the distances from each A, B and C to the next.
///
/// # Safety
/// 1. The duties of [`gemm`] for each product; no place in any C is one of another.
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub unsafe fn gemm_batch<T: GemmScalar>(
    count: usize,
    apart: [isize; 3],
    m: usize,
    n: usize,
    k: usize,
    a: *const T,
    a_rs: isize,
    a_cs: isize,
    b: *const T,
    b_rs: isize,
    b_cs: isize,
    accumulate: bool,
    c: *mut T,
    c_rs: isize,
    c_cs: isize,
    conj: [bool; 2],
) {
    if m.min(n).min(k) > 0 && m.max(n).max(k) <= few::MOST {
        let is_all = true;
        let first = Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all };
        // SAFETY: duty 1; the extents are as just tested.
        if unsafe { T::products(&Few { count, apart, first }) } {
            return;
        }
    }
    for i in 0..count as isize {
        // Without elements there is nothing the offsets could reach: nothing is read.
        let (a, b) = (a.wrapping_offset(i * apart[0]), b.wrapping_offset(i * apart[1]));
        let c = c.wrapping_offset(i * apart[2]);
        // SAFETY: duty 1.
        unsafe { gemm_conj(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj) }
    }
}

/// The sum of `conj(a[i]) * b[i]`; the order of its terms is as [`gemm`] says.
///
/// # Safety
/// 1. `a` and `b` are readable and initialised for `k` elements with strides `a_s` and `b_s`.
#[expect(private_bounds, reason = "the trait is sealed")]
pub unsafe fn vdot<T: Vectors + Real>(
    k: usize,
    a: *const Complex<T>,
    a_s: isize,
    b: *const Complex<T>,
    b_s: isize,
) -> Complex<T> {
    // SAFETY: duty 1.
    unsafe { complex::dot([true, false], k, a, a_s, b, b_s) }
}

/// What a term takes, in nanoseconds: of float32, 120 billion operations a second; a vector has fewer of wider
/// elements.
pub const fn term_cost<T>() -> f64 {
    size_of::<T>() as f64 / 240.0
}
/// What a byte of the matrix takes where C is one row or column: each is read once.
const VECTOR_BYTE_COST: f64 = 0.022;
/// As [`gemm`], with a B that is written panel by panel when the product needs it: `C = start + A B`, the rows of C
/// contiguous. Threads share it in equal parts, and change no bit.
///
/// # Safety
/// 1. The duties of [`gemm`] for A and C.
/// 2. `b.panels` has `k` rows and `n` columns from `b.first` on, and does not read C; `b.start` is null or readable for
///    `m` elements.
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub(crate) unsafe fn gemm_of<T: Vectors>(
    m: usize,
    n: usize,
    k: usize,
    a: *const T,
    a_rs: isize,
    a_cs: isize,
    b: Virtual<T>,
    c: *mut T,
    c_rs: isize,
) {
    debug_assert!(m > 0 && n > 0 && k > 0);
    let (a, c, start) = (SharedPtr(a.cast_mut()), SharedPtr(c), SharedPtr(b.start.cast_mut()));
    let (panels, first) = (b.panels, b.first);
    let part = |(i, m): (usize, usize), (j, n): (usize, usize)| {
        let none = std::ptr::null();
        let (start, i) = (start.get().cast_const(), i as isize);
        let start = if start.is_null() { start } else { start.wrapping_offset(i) };
        // SAFETY: duties 1 and 2 for a part of C, which no other thread has, and no extent is zero.
        unsafe {
            let (a, c) = (a.get().offset(i * a_rs).cast_const(), c.get().offset(i * c_rs + j as isize));
            let (b_rs, b_cs, accumulate, conj, c_cs, is_all) = (0, 0, false, [false; 2], 1, true);
            let p = Product { m, n, k, a, a_rs, a_cs, b: none, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all };
            T::call(&Of(p, Virtual { panels, first: first + j, start }));
        }
    };
    // As `gemm` cuts C where B is written in another form.
    let along_rows = m > 2 * n;
    let (extent, least) = if along_rows { (m, 1) } else { (n, GRAIN) };
    let grain = extent.div_ceil(num_threads()).next_multiple_of(least);
    let cost = m as f64 * n as f64 * k as f64 * term_cost::<T>();
    split(extent, grain, cost, &|range| {
        let cut = (range.start, range.len());
        if along_rows { part(cut, (0, n)) } else { part((0, m), cut) }
    });
}

/// Products of bfloat16 as [`gemm_batch`] has them of other numbers, by the matrix unit of the CPU: whether there is
/// one and it pays; if not, nothing was done. Sums are float32, in which C is added with `accumulate`, and each is
/// rounded once. Subnormal numbers count as zero.
///
/// # Safety
/// 1. The duties of [`gemm_batch`].
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub unsafe fn gemm_bf16(
    count: usize,
    apart: [isize; 3],
    m: usize,
    n: usize,
    k: usize,
    a: *const u16,
    a_rs: isize,
    a_cs: isize,
    b: *const u16,
    b_rs: isize,
    b_cs: isize,
    accumulate: bool,
    c: *mut u16,
    c_rs: isize,
    c_cs: isize,
) -> bool {
    if count.min(m).min(n).min(k) == 0 || m.saturating_mul(n).saturating_mul(k) < TILE_WORK {
        return false;
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    if let Some(amx) = amx::Amx::detect() {
        let (is_all, conj) = (true, [false; 2]);
        let first = Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all };
        // SAFETY: duty 1; no extent is zero.
        unsafe { bf16::products(&|| amx::Configured::new(amx), count, apart, &first) };
        return true;
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
    let _ = (apart, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs);
    false
}

/// A matrix in a slice: element (i, j) is `data[offset + i * rs + j * cs]`.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub rows: usize,
    pub cols: usize,
    pub offset: usize,
    pub rs: isize,
    pub cs: isize,
}

impl Layout {
    /// Rows one after the other.
    pub fn row_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, offset: 0, rs: cols as isize, cs: 1 }
    }

    /// Columns one after the other.
    pub fn column_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, offset: 0, rs: 1, cs: rows as isize }
    }

    /// Whether every element is in a slice of `len`.
    pub fn fits(&self, len: usize) -> bool {
        if self.rows == 0 || self.cols == 0 {
            return true;
        }
        let (Ok(rows), Ok(cols), Ok(offset)) =
            (i128::try_from(self.rows - 1), i128::try_from(self.cols - 1), i128::try_from(self.offset))
        else {
            return false;
        };
        // The products are less than 2^127; their sum may not be.
        let (down, across) = (rows * self.rs as i128, cols * self.cs as i128);
        let first = down.min(0).saturating_add(across.min(0)).saturating_add(offset);
        let last = down.max(0).saturating_add(across.max(0)).saturating_add(offset);
        first >= 0 && last < len as i128
    }

    /// Whether no two elements share a place, judged by one axis stepping over all of the other.
    pub fn distinct(&self) -> bool {
        let (rs, cs) = (self.rs.unsigned_abs() as u128, self.cs.unsigned_abs() as u128);
        let (rows, cols) = (self.rows as u128, self.cols as u128);
        let empty = rows == 0 || cols == 0;
        let steps = (rows <= 1 || rs > 0) && (cols <= 1 || cs > 0);
        let apart = rows <= 1 || cols <= 1 || rs > cs * (cols - 1) || cs > rs * (rows - 1);
        empty || (steps && apart)
    }
}

/// [`gemm`] on slices, checked.
///
/// # Panics
/// If the extents disagree, a matrix leaves its slice, or elements of C share a place.
pub fn gemm_slices<T: GemmScalar>(a: (&[T], Layout), b: (&[T], Layout), accumulate: bool, c: (&mut [T], Layout)) {
    let ((a, al), (b, bl), (c, cl)) = (a, b, c);
    let (m, n, k) = (al.rows, bl.cols, al.cols);
    assert!(bl.rows == k && cl.rows == m && cl.cols == n, "extents disagree: {al:?}, {bl:?}, {cl:?}");
    assert!(al.fits(a.len()) && bl.fits(b.len()) && cl.fits(c.len()), "outside the slice");
    assert!(cl.distinct(), "elements of C share a place: {cl:?}");
    let (ap, bp, cp) = (
        a.as_ptr().wrapping_add(al.offset),
        b.as_ptr().wrapping_add(bl.offset),
        c.as_mut_ptr().wrapping_add(cl.offset),
    );
    // SAFETY: (1), (2) Every element is in its slice, as just checked. (3) The elements of C are distinct, as just
    // checked, and `c` is borrowed mutably, so it overlaps neither `a` nor `b`. (4) The borrows last as long as the
    // call.
    unsafe {
        gemm(m, n, k, ap, al.rs, al.cs, bp, bl.rs, bl.cs, accumulate, cp, cl.rs, cl.cs);
    }
}
