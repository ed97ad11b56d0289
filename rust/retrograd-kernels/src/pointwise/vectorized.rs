//! Loops over bodies that are written in vectors, for the functions of `kernels::math`.
//!
//! There is one task per body and dtype, for every number of operands. Elements beyond the last whole vector are
//! computed in vectors as well: an element's result must not depend on its place.

use crate::thresholds::pointwise::MANY;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::real::Real;
use super::super::simd::{InstructionSet, Isa, Stored, Task, Twice, Vector, for_isa};
use super::super::strided::is_contiguous;
use super::halves::Half;
use super::walk::{Operand, Pieces, RowLoop, walk};

/// A body over vectors of `T`, of `K` operands. Implementors mark `f` `#[inline(always)]`.
pub trait Body<T: Real, const K: usize>: Sync {
    /// Whether long loops take two vectors of each operand together: up to a fifth less time, for twice the code.
    const PAIRED: bool = K == 1;
    /// Whether it takes no longer than its memory, as [`Map2::LIGHT`](super::Map2::LIGHT).
    const LIGHT: bool = false;
    /// The body.
    fn f<V: Vector<Elem = T>>(&self, x: [V; K]) -> V;
}

/// `o[i] = f(a[i])` for `n` contiguous elements, inside a task.
///
/// # Safety
/// 1. The inputs are readable and initialised, the output writable, for `n` elements. 2. The output is an input, or
///    disjoint from it. 3. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn row<S: Isa, T: Real, const K: usize, F: Body<T, K>>(f: &F, n: usize, a: [*const T; K], o: *mut T) {
    // SAFETY: (1-3) are ours.
    unsafe { stored_row::<S, T, T, T, K, F>(f, n, a, o) }
}

/// [`row`] of elements in any storage.
///
/// # Safety
/// As [`row`].
#[inline(always)]
unsafe fn stored_row<S: Isa, T, A, O, const K: usize, F: Body<T, K>>(f: &F, n: usize, a: [*const A; K], o: *mut O)
where
    T: Real,
    A: Stored<Float = T>,
    O: Stored<Float = T>,
{
    let len = T::Vector::<S>::LEN;
    let mut i = 0;
    // SAFETY: duties 1 and 3; an element is read before its place is written.
    unsafe {
        while i + len <= n {
            let mut x = [A::load::<S>(a[0].add(i)); K];
            for k in 1..K {
                x[k] = A::load::<S>(a[k].add(i));
            }
            O::store::<S>(f.f(x), o.add(i));
            i += len;
        }
        if i < n {
            let mut x = [A::load_first::<S>(a[0].add(i), n - i); K];
            for k in 1..K {
                x[k] = A::load_first::<S>(a[k].add(i), n - i);
            }
            O::store_first::<S>(f.f(x), o.add(i), n - i);
        }
    }
}

/// [`row`] of slices, which have one length.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn row_of<S: Isa, T: Real, const K: usize, F: Body<T, K>>(f: &F, a: [&[T]; K], o: &mut [T]) {
    let mut from = [a[0].as_ptr(); K];
    for k in 0..K {
        assert!(a[k].len() == o.len(), "slices of one length");
        from[k] = a[k].as_ptr();
    }
    // SAFETY: (1, 2) slices of one length, of which a mutable one is disjoint from the others; (3) our duty 1.
    unsafe { row::<S, T, K, F>(f, o.len(), from, o.as_mut_ptr()) }
}

/// `out[i] = f([inputs..][i])` for slices of one length.
pub fn lanes_of_slices<T: Real, const K: usize, F: Body<T, K>>(f: &F, inputs: [&[T]; K], out: &mut [MaybeUninit<T>]) {
    lanes_of_slices_at(InstructionSet::detect(), f, inputs, out);
}

/// [`lanes_of_slices`] with the instructions of `level`.
pub(crate) fn lanes_of_slices_at<T: Real, const K: usize, F: Body<T, K>>(
    level: InstructionSet,
    f: &F,
    inputs: [&[T]; K],
    out: &mut [MaybeUninit<T>],
) {
    let n = out.len();
    let a = inputs.map(|run| run[..n].as_ptr());
    // SAFETY: (Row 1) slices of that length; (2) a mutable one is disjoint from the others.
    unsafe { for_isa(level, VectorRow { f, n, a, o: out.as_mut_ptr().cast::<T>() }) }
}

/// `o[..] = f(a[..])` over strided operands.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn lanes1<T: Real, F: Body<T, 1>>(
    f: &F,
    sizes: &[usize],
    a: *const T,
    a_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { lanes1_at(InstructionSet::detect(), f, sizes, a, a_strides, o, o_strides) }
}

/// [`lanes1`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn lanes1_at<T: Real, F: Body<T, 1>>(
    level: InstructionSet,
    f: &F,
    sizes: &[usize],
    a: *const T,
    a_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) {
    let n = sizes.iter().product();
    if n < MANY && is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) {
        // SAFETY: (Row 1, 2) our 1-3, the layout being contiguous.
        return unsafe { for_isa(level, VectorRow { f, n, a: [a], o }) };
    }
    let body: Lanes<F, T, T, 1> = Lanes { level, f, stored: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [Operand::output(o, o_strides), Operand::input(a, a_strides)]) };
}

/// `o[..] = f(a[..], b[..])` over strided operands.
///
/// # Safety
/// As [`map1`](super::map1).
#[allow(clippy::too_many_arguments)]
pub unsafe fn lanes2<T: Real, F: Body<T, 2>>(
    f: &F,
    sizes: &[usize],
    a: *const T,
    a_strides: &[isize],
    b: *const T,
    b_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) {
    let (level, n) = (InstructionSet::detect(), sizes.iter().product());
    let dense = is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) && is_contiguous(sizes, b_strides);
    if dense && n < MANY {
        // SAFETY: (Row 1, 2) our 1-3, the layout being contiguous.
        return unsafe { for_isa(level, VectorRow { f, n, a: [a, b], o }) };
    }
    let body: Lanes<F, T, T, 2> = Lanes { level, f, stored: PhantomData };
    let operands = [Operand::output(o, o_strides), Operand::input(a, a_strides), Operand::input(b, b_strides)];
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, operands) };
}

/// A body in vectors of float32 over operands that may be halves: operand 0 is the output.
///
/// # Safety
/// As [`map1`](super::map1), for operands of float32 or halves.
pub unsafe fn walk_lanes<const K: usize, const N: usize, F: Body<f32, K>>(
    f: &F,
    sizes: &[usize],
    operands: [Operand; N],
) {
    const { assert!(N == K + 1) };
    let half = operands[0].half();
    if let (true, Some(half)) = (const { F::LIGHT }, half.filter(|_| operands.iter().all(|x| x.half() == half))) {
        // SAFETY: (1-3) are ours, for halves of one format.
        return unsafe { walk_halves(f, half, sizes, operands) };
    }
    let body: Lanes<F, f32, f32, K> = Lanes { level: InstructionSet::detect(), f, stored: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, operands) };
}

/// The walk of a body over halves of one format, as they lie in memory.
///
/// # Safety
/// As [`walk_lanes`], for operands of that format.
pub(super) unsafe fn walk_halves<const K: usize, const N: usize, F: Body<f32, K>>(
    f: &F,
    half: Half,
    sizes: &[usize],
    operands: [Operand; N],
) {
    const { assert!(N == K + 1) };
    let (level, operands) = (InstructionSet::detect(), operands.map(Operand::as_stored));
    // SAFETY: (1-3) are ours.
    unsafe {
        match half {
            Half::F16 => walk(&Lanes::<F, f16, f16, K> { level, f, stored: PhantomData }, sizes, operands),
            Half::BF16 => walk(&Lanes::<F, bf16, bf16, K> { level, f, stored: PhantomData }, sizes, operands),
        }
    }
}

/// A body and how its inputs and its output are stored, for the walk.
pub(super) struct Lanes<'f, F, A, O, const K: usize> {
    pub level: InstructionSet,
    pub f: &'f F,
    pub stored: PhantomData<fn(A) -> O>,
}

impl<A: Stored<Float = O::Float>, O: Stored, const K: usize, F: Body<O::Float, K>> Pieces for Lanes<'_, F, A, O, K> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        let a = std::array::from_fn(|k| p[k + 1].cast_const().cast::<A>());
        // SAFETY: Row 1 and 2 are our 1 and 2.
        unsafe { for_isa(self.level, VectorRow { f: self.f, n, a, o: p[0].cast::<O>() }) }
    }
    fn in_rows(&self) -> Option<&dyn RowLoop> {
        // The end of a row of halves, part of a vector, takes longer than copies of rows would.
        if const { F::LIGHT && size_of::<A>() == size_of::<O::Float>() } { Some(self) } else { None }
    }
    fn staying(&self) -> Option<&dyn RowLoop> {
        if const { F::LIGHT && K == 2 } { Some(self) } else { None }
    }
}

impl<A: Stored<Float = O::Float>, O: Stored, const K: usize, F: Body<O::Float, K>> RowLoop for Lanes<'_, F, A, O, K> {
    unsafe fn run(&self, [n, rows]: [usize; 2], p: &[*mut u8], apart: &[isize], stays: Option<usize>) {
        let a = std::array::from_fn(|k| p[k + 1].cast_const().cast::<A>());
        // SAFETY: (VectorRows) our 1 and 2.
        unsafe { for_isa(self.level, VectorRows { f: self.f, n, rows, a, o: p[0].cast::<O>(), apart, stays }) }
    }
}

/// A body of two operands of which one is a number.
struct Beside<'f, F, T, const K: usize> {
    f: &'f F,
    number: T,
    /// Which one.
    place: usize,
}

impl<T: Real, F: Body<T, K>, const K: usize> Body<T, 1> for Beside<'_, F, T, K> {
    const PAIRED: bool = false;
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        let number = x.splat(self.number);
        let mut both = [x; K];
        if self.place == 0 {
            both[0] = number;
        } else {
            both[K - 1] = number;
        }
        self.f.f(both)
    }
}

/// Contiguous elements. Duties: 1 and 2 of [`row`].
pub(super) struct VectorRow<'f, F, A, O, const K: usize> {
    pub f: &'f F,
    pub n: usize,
    pub a: [*const A; K],
    pub o: *mut O,
}

impl<A: Stored<Float = O::Float>, O: Stored, const K: usize, F: Body<O::Float, K>> Task for VectorRow<'_, F, A, O, K> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let VectorRow { f, n, a, o } = self;
        let mut done = 0;
        if const { F::PAIRED } {
            let half = <O::Float as Real>::Vector::<S>::LEN;
            while done + 2 * half <= n {
                // SAFETY: (row 1-3) as below; an element is read before its place is written.
                unsafe {
                    let (now, next) = (done, done + half);
                    let mut x = [Twice::new(A::load::<S>(a[0].add(now)), A::load::<S>(a[0].add(next))); K];
                    for k in 1..K {
                        x[k] = Twice::new(A::load::<S>(a[k].add(now)), A::load::<S>(a[k].add(next)));
                    }
                    let (first, second) = f.f(x).parts();
                    O::store::<S>(first, o.add(done));
                    O::store::<S>(second, o.add(done + half));
                }
                done += 2 * half;
            }
        }
        // SAFETY: (row 1, 2) ours, from there on; (row 3) Task 2.
        unsafe {
            let mut rest = a;
            for k in 0..K {
                rest[k] = a[k].add(done);
            }
            stored_row::<S, O::Float, A, O, K, F>(f, n - done, rest, o.add(done))
        }
    }
}

/// Rows of contiguous elements; from one to the next it is `apart` bytes in the output and in the inputs. Duties: 1 and
/// 2 of [`row`] for each; of an input that stays one element of each row is read, and it is not the output.
struct VectorRows<'f, F, A, O, const K: usize> {
    f: &'f F,
    n: usize,
    rows: usize,
    a: [*const A; K],
    o: *mut O,
    apart: &'f [isize],
    /// 1 or 2, if there is one.
    stays: Option<usize>,
}

impl<A: Stored<Float = O::Float>, O: Stored, const K: usize, F: Body<O::Float, K>> Task for VectorRows<'_, F, A, O, K> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let VectorRows { f, n, rows, mut a, mut o, apart, stays } = self;
        for _ in 0..rows {
            // SAFETY: (row 1, 2) ours; an input that stays has one element; (row 3) Task 2.
            unsafe {
                match stays {
                    Some(k) if const { K == 2 } => {
                        let f = &Beside::<F, O::Float, K> { f, number: (*a[k - 1]).float(), place: k - 1 };
                        stored_row::<S, O::Float, A, O, 1, _>(f, n, [a[2 - k]], o);
                    }
                    _ => stored_row::<S, O::Float, A, O, K, F>(f, n, a, o),
                }
            }
            for k in 0..K {
                a[k] = a[k].wrapping_byte_offset(apart[k + 1]);
            }
            o = o.wrapping_byte_offset(apart[0]);
        }
    }
}
