//! Rows of contiguous elements which do not follow one another, such as slices of an inner axis, in one call: a row is
//! computed in chunks of a fixed length, which are vectors without a test of how long the row is or what overlaps.

use super::super::simd::{Isa, SimdElement, Task};
use super::{Map1, Map2, Map3};

/// Where the inputs of a body begin.
pub(super) trait Inputs<F, O>: Copy {
    /// Whether the loop is compiled for every instruction set.
    const WIDE: bool;
    /// What `f` makes of `W` places from `i` on. All are read before the first value is computed: so the compiler makes
    /// vectors of the places of one chunk, and not of many chunks.
    ///
    /// # Safety
    /// 1. The inputs are readable and initialised there.
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W];
    /// Those of another row, by the bytes from one to the other; the first of them are the output's.
    fn after(self, bytes: &[isize]) -> Self;
}

/// Two inputs, of which the first stays at its first element.
#[derive(Clone, Copy)]
pub(super) struct FirstStays<A, B>(pub *const A, pub *const B);

/// Two inputs, of which the second stays at its first element.
#[derive(Clone, Copy)]
pub(super) struct SecondStays<A, B>(pub *const A, pub *const B);

impl<A: SimdElement, O: Copy, F: Map1<A, O>> Inputs<F, O> for *const A {
    const WIDE: bool = A::WIDE || F::WIDE;
    #[inline(always)]
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W] {
        // SAFETY: ours.
        let a: [A; W] = unsafe { read(self, i) };
        let mut values = [f.f(a[0]); W];
        for k in 1..W {
            values[k] = f.f(a[k]);
        }
        values
    }
    #[inline(always)]
    fn after(self, bytes: &[isize]) -> Self {
        self.wrapping_byte_offset(bytes[1])
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Inputs<F, O> for (*const A, *const B) {
    const WIDE: bool = A::WIDE || F::WIDE;
    #[inline(always)]
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W] {
        // SAFETY: ours.
        let (a, b): ([A; W], [B; W]) = unsafe { (read(self.0, i), read(self.1, i)) };
        let mut values = [f.f(a[0], b[0]); W];
        for k in 1..W {
            values[k] = f.f(a[k], b[k]);
        }
        values
    }
    #[inline(always)]
    fn after(self, bytes: &[isize]) -> Self {
        (self.0.wrapping_byte_offset(bytes[1]), self.1.wrapping_byte_offset(bytes[2]))
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Inputs<F, O> for FirstStays<A, B> {
    const WIDE: bool = A::WIDE || F::WIDE;
    #[inline(always)]
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W] {
        // SAFETY: ours.
        let (a, b): (A, [B; W]) = unsafe { (self.0.read(), read(self.1, i)) };
        let mut values = [f.f(a, b[0]); W];
        for k in 1..W {
            values[k] = f.f(a, b[k]);
        }
        values
    }
    #[inline(always)]
    fn after(self, bytes: &[isize]) -> Self {
        Self(self.0.wrapping_byte_offset(bytes[1]), self.1.wrapping_byte_offset(bytes[2]))
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Inputs<F, O> for SecondStays<A, B> {
    const WIDE: bool = A::WIDE || F::WIDE;
    #[inline(always)]
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W] {
        // SAFETY: ours.
        let (a, b): ([A; W], B) = unsafe { (read(self.0, i), self.1.read()) };
        let mut values = [f.f(a[0], b); W];
        for k in 1..W {
            values[k] = f.f(a[k], b);
        }
        values
    }
    #[inline(always)]
    fn after(self, bytes: &[isize]) -> Self {
        Self(self.0.wrapping_byte_offset(bytes[1]), self.1.wrapping_byte_offset(bytes[2]))
    }
}

impl<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>> Inputs<F, O> for (*const A, *const B, *const C) {
    const WIDE: bool = B::WIDE;
    #[inline(always)]
    unsafe fn values<const W: usize>(self, f: &F, i: usize) -> [O; W] {
        // SAFETY: ours.
        let (a, b, c): ([A; W], [B; W], [C; W]) = unsafe { (read(self.0, i), read(self.1, i), read(self.2, i)) };
        let mut values = [f.f(a[0], b[0], c[0]); W];
        for k in 1..W {
            values[k] = f.f(a[k], b[k], c[k]);
        }
        values
    }
    #[inline(always)]
    fn after(self, bytes: &[isize]) -> Self {
        let [a, b, c] = [bytes[1], bytes[2], bytes[3]];
        (self.0.wrapping_byte_offset(a), self.1.wrapping_byte_offset(b), self.2.wrapping_byte_offset(c))
    }
}

/// # Safety
/// 1. The `W` elements from `i` on are readable and initialised.
#[inline(always)]
unsafe fn read<const W: usize, T: Copy>(p: *const T, i: usize) -> [T; W] {
    // SAFETY: ours.
    unsafe { p.add(i).cast::<[T; W]>().read() }
}

/// The shortest chunk, but for what a row leaves over at the end of a piece.
const LEAST: usize = 4;

/// Rows of `n` elements, at least one. Duties, for each: 1. the inputs are readable and initialised, the output
/// writable, for `n` elements; an input that stays, for one; 2. the output is disjoint from the inputs, or the first of
/// them, which does not stay then.
pub(super) struct InRows<'s, F, I, O> {
    pub f: F,
    pub n: usize,
    pub rows: usize,
    pub inputs: I,
    pub o: *mut O,
    /// From one row to the next of the output and the inputs, in bytes.
    pub apart: &'s [isize],
}

impl<F, O: Copy, I: Inputs<F, O>> InRows<'_, F, I, O> {
    /// All rows, in chunks of `W`, or, where they are shorter, of `HALF`, [`LEAST`] or one.
    ///
    /// # Safety
    /// Our duties.
    #[inline(always)]
    unsafe fn all<const W: usize, const HALF: usize>(mut self) {
        for _ in 0..self.rows {
            // SAFETY: ours; there are so many elements.
            unsafe {
                match self.n {
                    n if n >= W => self.row::<W>(),
                    n if n >= HALF => self.row::<HALF>(),
                    n if n >= LEAST => self.row::<LEAST>(),
                    _ => self.row::<1>(),
                }
            }
            self.inputs = self.inputs.after(self.apart);
            self.o = self.o.wrapping_byte_offset(self.apart[0]);
        }
    }

    /// The places of a row, `W` of them at a time; the last ones may be some of those before them. Inputs of a chunk
    /// are read before the one before it is written, which may be to their places.
    ///
    /// # Safety
    /// Our duties. A row has at least `W` elements.
    #[inline(always)]
    unsafe fn row<const W: usize>(&self) {
        let Self { f, n, inputs, o, .. } = self;
        // SAFETY: ours: places of the row.
        unsafe {
            let (last, mut values) = (n - W, inputs.values::<W>(f, 0));
            for next in (W..*n).step_by(W) {
                let after = inputs.values(f, next.min(last));
                o.add(next - W).cast::<[O; W]>().write(values);
                values = after;
            }
            o.add(last).cast::<[O; W]>().write(values);
        }
    }
}

impl<F, O: Copy, I: Inputs<F, O>> Task for InRows<'_, F, I, O> {
    type Out = ();
    const WIDE: bool = I::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        // SAFETY: our duties.
        unsafe { if const { size_of::<O>() > 4 } { self.all::<LEAST, LEAST>() } else { self.all::<8, LEAST>() } }
    }

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // Chunks of 128 bytes: of twice as many the compiler does not keep two in registers.
        // SAFETY: our duties.
        unsafe { if const { size_of::<O>() > 4 } { self.all::<16, 8>() } else { self.all::<32, 16>() } }
    }
}
