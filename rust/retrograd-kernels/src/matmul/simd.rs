//! Vectors of one instruction set: the only code here that names an instruction.
//!
//! Every method is `inline(always)` and has no target feature of its own; it takes the features of
//! the function it is inlined into. Those functions are the bodies of [`Simd::tile`] and its
//! neighbours, written by the `entries!` macro below, one set for each instruction set. Other kernels run their own
//! loops with them as a [`Routine`].

use super::dots::{self, Dots};
use super::driver;
use super::tile::{self, Tile};
use super::vecmat::{self, VectorTimesMatrix};

/// A vector of [`Simd::LEN`] floats, and the routines compiled for its instruction set.
///
/// # Safety
/// Duties of every `unsafe` method, for the caller:
/// 1. The CPU has the instructions of the implementing type (see its comment).
/// 2. Pointers are valid for the elements that the method names.
pub(crate) trait Simd: Copy {
    /// The element type.
    type Elem: Float;
    /// Elements in one vector.
    const LEN: usize;
    /// Rows of the tallest tile two vectors wide whose accumulators fit the registers.
    const ROWS: usize;
    /// Whether to load or store the first lanes alone is as quick as to load or store all.
    const MASKS: bool;

    /// All lanes zero. Duty 1.
    unsafe fn zero() -> Self;
    /// All lanes `*p`. Duties 1 and 2 (one element).
    unsafe fn splat(p: *const Self::Elem) -> Self;
    /// Lanes from `p`. Duties 1 and 2 (`LEN` elements, any alignment).
    unsafe fn load(p: *const Self::Elem) -> Self;
    /// The first `len <= LEN` lanes from `p`, the others zero. Duties 1 and 2 (`len` elements).
    unsafe fn load_first(p: *const Self::Elem, len: usize) -> Self;
    /// The lanes from `from <= LEN` on replaced by those from `p + from` on. Duties 1 and 2 (elements `from .. LEN`).
    unsafe fn merge(self, p: *const Self::Elem, from: usize) -> Self;
    /// Lanes to `p`. Duties 1 and 2 (`LEN` elements, any alignment).
    unsafe fn store(self, p: *mut Self::Elem);
    /// The first `len <= LEN` lanes to `p`. Duties 1 and 2 (`len` elements).
    unsafe fn store_first(self, p: *mut Self::Elem, len: usize);
    /// The lanes `from .. to` to `p + from` and on, `from < to <= LEN`. Duties 1 and 2 (elements `from .. to`).
    unsafe fn store_between(self, p: *mut Self::Elem, from: usize, to: usize);
    /// Lane by lane `self * b + c`. Duty 1.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// Lane by lane `self + b`. Duty 1.
    unsafe fn plus(self, b: Self) -> Self;
    /// The two lanes of each pair exchanged. Duty 1.
    unsafe fn exchange(self) -> Self;

    /// Transposes the `LEN` x `LEN` block in the first `LEN` vectors. Duty 1.
    unsafe fn swap(v: &mut [Self; 16]);

    /// Lane `i` becomes the sum of the lanes of `v[i]`, for `i < LEN`; the other vectors are not looked at. The lanes
    /// of each are added up in the same order. Duty 1.
    unsafe fn sums(v: &[Self; 16]) -> Self;

    /// Runs [`tile::body`] with this instruction set. Duty 1, and the duties of `tile::body`.
    unsafe fn tile<const R: usize, const C: usize, const LOAD: u8>(t: &Tile<Self::Elem>);
    /// Runs [`vecmat::body`] with this instruction set. Duty 1, and the duties of `vecmat::body`.
    unsafe fn vecmat(r: &VectorTimesMatrix<Self::Elem>);
    /// Runs [`dots::body`] with this instruction set. Duty 1, and the duties of `dots::body`.
    unsafe fn dots<const N: usize>(d: &Dots<Self::Elem>);
    /// Runs [`Routine::run`] with this instruction set. Duty 1, and the duties of the routine.
    unsafe fn call<R: Routine<Elem = Self::Elem>>(r: &R);
    /// Runs [`driver::copy_rows`] with this instruction set. Duty 1, and the duties of `driver::copy_rows`.
    unsafe fn copy_rows(
        rows: usize,
        k: usize,
        src: *const Self::Elem,
        rs: isize,
        cs: isize,
        dst: *mut Self::Elem,
        dst_rs: usize,
    );
    /// Writes `depth` rows of `LEN` elements, with stride `dst_rs`: `dst[p * dst_rs + j]` becomes `src[j * src_rs + p]`
    /// for `j < rows` and zero for the other `j < LEN`. Rows are written in ascending order, so `dst_rs` may be less
    /// than `LEN`.
    ///
    /// Duty 1; duty 2 for `src` (`rows <= LEN` runs of `depth <= LEN` elements, with stride `src_rs`) and for `dst`
    /// (`depth` runs of `LEN` elements).
    unsafe fn transpose(
        src: *const Self::Elem,
        src_rs: isize,
        rows: usize,
        depth: usize,
        dst: *mut Self::Elem,
        dst_rs: usize,
    );
}

/// Work on vectors, compiled for each instruction set.
pub(crate) trait Routine {
    type Elem: Float;

    /// Does the work; implementors mark it `#[inline(always)]`, and all that it calls in loops.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`.
    /// 2. The duties written on the implementing type hold.
    unsafe fn run<V: Simd<Elem = Self::Elem>>(&self);
}

/// Scalar arithmetic of the element types that have a [`Simd`] type.
pub(crate) trait Float: Copy + 'static {
    const ZERO: Self;
    fn plus(self, b: Self) -> Self;
    fn times(self, b: Self) -> Self;
}

macro_rules! float {
    ($($t:ty),*) => {$(
        impl Float for $t {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn plus(self, b: Self) -> Self {
                self + b
            }
            #[inline(always)]
            fn times(self, b: Self) -> Self {
                self * b
            }
        }
    )*};
}
float!(f32, f64);

/// The body for every index less than `V::LEN`, written out: an array indexed by constants alone
/// stays in registers, and the compiler does not unroll sixteen of these by itself.
macro_rules! unrolled {
    ($i:ident => $body:expr) => {
        unrolled!($i => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($i:ident => $body:expr; $($at:literal)*) => {
        $(if $at < V::LEN {
            let $i: usize = $at;
            $body
        })*
    };
}

/// The methods of [`Simd`] that are functions of their own, with the given target features.
macro_rules! entries {
    ($(#[$feature:meta])?) => {
        unsafe fn tile<const R: usize, const C: usize, const LOAD: u8>(t: &Tile<Self::Elem>) {
            $(#[$feature])?
            unsafe fn run<V: Simd, const R: usize, const C: usize, const LOAD: u8>(
                t: &Tile<V::Elem>,
            ) {
                // SAFETY: the caller of `tile` answers for the CPU and for the duties of `body`.
                unsafe { tile::body::<V, R, C, LOAD>(t) }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self, R, C, LOAD>(t) }
        }

        unsafe fn vecmat(r: &VectorTimesMatrix<Self::Elem>) {
            $(#[$feature])?
            unsafe fn run<V: Simd>(r: &VectorTimesMatrix<V::Elem>) {
                // SAFETY: the caller of `vecmat` answers for the CPU and for the duties of `body`.
                unsafe { vecmat::body::<V>(r) }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self>(r) }
        }

        unsafe fn dots<const N: usize>(d: &Dots<Self::Elem>) {
            $(#[$feature])?
            unsafe fn run<V: Simd, const N: usize>(d: &Dots<V::Elem>) {
                // SAFETY: the caller of `dots` answers for the CPU and for the duties of `body`.
                unsafe { dots::body::<V, N>(d) }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self, N>(d) }
        }

        unsafe fn call<R: Routine<Elem = Self::Elem>>(r: &R) {
            $(#[$feature])?
            unsafe fn run<V: Simd, R: Routine<Elem = V::Elem>>(r: &R) {
                // SAFETY: the caller of `call` answers for the CPU and for the duties of the routine.
                unsafe { r.run::<V>() }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self, R>(r) }
        }

        unsafe fn copy_rows(
            rows: usize,
            k: usize,
            src: *const Self::Elem,
            rs: isize,
            cs: isize,
            dst: *mut Self::Elem,
            dst_rs: usize,
        ) {
            $(#[$feature])?
            unsafe fn run<V: Simd>(
                rows: usize,
                k: usize,
                src: *const V::Elem,
                rs: isize,
                cs: isize,
                dst: *mut V::Elem,
                dst_rs: usize,
            ) {
                // SAFETY: the caller of `copy_rows` answers for the CPU and for the duties of the body.
                unsafe { driver::copy_rows::<V>(rows, k, src, rs, cs, dst, dst_rs) }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self>(rows, k, src, rs, cs, dst, dst_rs) }
        }

        unsafe fn transpose(
            src: *const Self::Elem,
            src_rs: isize,
            rows: usize,
            depth: usize,
            dst: *mut Self::Elem,
            dst_rs: usize,
        ) {
            $(#[$feature])?
            unsafe fn run<V: Simd>(
                src: *const V::Elem,
                src_rs: isize,
                rows: usize,
                depth: usize,
                dst: *mut V::Elem,
                dst_rs: usize,
            ) {
                // SAFETY: (1) and (2) are the duties of `transpose`, passed through: row `j < rows`
                // is read for `depth` elements, row `p < depth` written for `LEN`.
                unsafe {
                    let mut v = [V::zero(); 16];
                    if rows == V::LEN && depth == V::LEN {
                        unrolled!(j => v[j] = V::load(src.offset(j as isize * src_rs)));
                    } else {
                        unrolled!(j => if j < rows {
                            v[j] = V::load_first(src.offset(j as isize * src_rs), depth);
                        });
                    }
                    V::swap(&mut v);
                    unrolled!(p => if p < depth {
                        v[p].store(dst.add(p * dst_rs));
                    });
                }
            }
            // SAFETY: duty 1 gives `run` its target features; the other duties pass through.
            unsafe { run::<Self>(src, src_rs, rows, depth, dst, dst_rs) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use {entries, unrolled};

/// Vectors without any named instruction: the compiler makes what it can of the loops.
#[derive(Clone, Copy)]
pub(super) struct Plain<T, const N: usize>([T; N]);

/// Registers are 16 bytes wide; AArch64 has 32 of them and a fused multiply-add, SSE2 has neither.
const WIDE: bool = cfg!(target_arch = "aarch64");

macro_rules! plain {
    ($t:ty, $len:expr) => {
        impl Simd for Plain<$t, { $len }> {
            type Elem = $t;
            const LEN: usize = $len;
            const ROWS: usize = if WIDE { 6 } else { 4 };
            const MASKS: bool = false;

            #[inline(always)]
            unsafe fn zero() -> Self {
                Self([0.0; $len])
            }
            #[inline(always)]
            unsafe fn splat(p: *const $t) -> Self {
                // SAFETY: duty 2.
                Self([unsafe { *p }; $len])
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: duty 2; an array of `LEN` has the layout of its elements.
                Self(unsafe { p.cast::<[$t; $len]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn load_first(p: *const $t, len: usize) -> Self {
                // SAFETY: duty 2, for each `i < len`.
                Self(std::array::from_fn(|i| if i < len { unsafe { *p.add(i) } } else { 0.0 }))
            }
            #[inline(always)]
            unsafe fn merge(self, p: *const $t, from: usize) -> Self {
                let lane = |i: usize| p.wrapping_add(i);
                // SAFETY: duty 2, for each `from <= i < LEN`.
                Self(std::array::from_fn(|i| if i < from { self.0[i] } else { unsafe { *lane(i) } }))
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: duty 2; an array of `LEN` has the layout of its elements.
                unsafe { p.cast::<[$t; $len]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $t, len: usize) {
                for (i, &x) in self.0.iter().enumerate().take(len) {
                    // SAFETY: duty 2, for each `i < len`.
                    unsafe { *p.add(i) = x }
                }
            }
            #[inline(always)]
            unsafe fn store_between(self, p: *mut $t, from: usize, to: usize) {
                for i in from..to {
                    // SAFETY: duty 2.
                    unsafe { *p.wrapping_add(i) = self.0[i] }
                }
            }
            #[inline(always)]
            unsafe fn fma(self, b: Self, c: Self) -> Self {
                let mut out = c.0;
                for i in 0..$len {
                    let (x, y) = (self.0[i], b.0[i]);
                    out[i] = if WIDE { x.mul_add(y, out[i]) } else { x * y + out[i] };
                }
                Self(out)
            }
            #[inline(always)]
            unsafe fn plus(self, b: Self) -> Self {
                let mut out = self.0;
                for i in 0..$len {
                    out[i] += b.0[i];
                }
                Self(out)
            }
            #[inline(always)]
            unsafe fn exchange(self) -> Self {
                Self(std::array::from_fn(|i| self.0[i ^ 1]))
            }
            #[inline(always)]
            unsafe fn sums(v: &[Self; 16]) -> Self {
                Self(std::array::from_fn(|i| {
                    let mut lanes = v[i].0;
                    let mut width = $len;
                    while width > 1 {
                        width /= 2;
                        for l in 0..width {
                            lanes[l] += lanes[l + width];
                        }
                    }
                    lanes[0]
                }))
            }
            #[inline(always)]
            unsafe fn swap(v: &mut [Self; 16]) {
                for i in 0..$len {
                    for j in 0..i {
                        let (x, y) = (v[i].0[j], v[j].0[i]);
                        v[i].0[j] = y;
                        v[j].0[i] = x;
                    }
                }
            }
            entries!();
        }
    };
}
plain!(f32, if WIDE { 8 } else { 4 });
plain!(f64, if WIDE { 4 } else { 2 });

/// Plain vectors of the length that suits the target.
pub(super) type PlainF32 = Plain<f32, { if WIDE { 8 } else { 4 } }>;
pub(super) type PlainF64 = Plain<f64, { if WIDE { 4 } else { 2 } }>;
