//! The maps: scalar bodies over one to three operands.

use crate::thresholds::pointwise::MANY;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::super::simd::{InstructionSet, Isa, SimdElement, Task, Vector, for_isa};
use super::super::strided::is_contiguous;
use super::in_rows::{FirstStays, InRows, Inputs, SecondStays};
use super::vectorized::{Body, walk_halves};
use super::walk::{Operand, Pieces, RowLoop, walk};
use super::{Map1, Map2, Map3};

/// `o[..] = f(a[..])` over strided operands.
///
/// # Safety
/// 1. Each input is readable and initialised, the output writable, at every position of `sizes` under its strides.
/// 2. The output overlaps an input only if both have the same start, strides and element size.
/// 3. Distinct positions have distinct places in the output.
#[inline]
pub unsafe fn map1<A: SimdElement, O: Copy, F: Map1<A, O>>(
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { map1_at(InstructionSet::detect(), f, sizes, a, a_strides, o, o_strides) }
}

/// `o[..] = f(a[..], b[..])` over strided operands.
///
/// # Safety
/// As [`map1`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn map2<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>>(
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { map2_at(InstructionSet::detect(), f, sizes, a, a_strides, b, b_strides, o, o_strides) }
}

/// `o[..] = f(a[..], b[..], c[..])` over strided operands.
///
/// # Safety
/// As [`map1`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn map3<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    c: *const C,
    c_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let level = InstructionSet::detect();
    // SAFETY: (1-3) are ours.
    unsafe { map3_at(level, f, sizes, a, a_strides, b, b_strides, c, c_strides, o, o_strides) }
}

/// [`map2`] of `n` contiguous elements: the fast path of an op whose operands agree.
///
/// # Safety
/// As [`map1`] with sizes `[n]` and strides `[1]`.
#[inline]
pub unsafe fn map2_contiguous<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>>(
    f: &F,
    n: usize,
    a: *const A,
    b: *const B,
    o: *mut O,
) {
    if n >= MANY || same(b, o) {
        // SAFETY: (1-3) are ours.
        return unsafe { map2_walked(InstructionSet::detect(), f, &[n], a, &[1], b, &[1], o, &[1]) };
    }
    // SAFETY: Run 1 and 2 are our 1 and 2; 3 was just checked.
    unsafe { for_isa(InstructionSet::detect(), Run2 { f: *f, n, a, b, o }) }
}

/// [`map1`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
pub unsafe fn map1_at<A: SimdElement, O: Copy, F: Map1<A, O>>(
    level: InstructionSet,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let n = sizes.iter().product();
    if n < MANY && is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) {
        // SAFETY: Run 1 and 2 are our 1 and 2, the layout being contiguous.
        return unsafe { for_isa(level, Run1 { f: *f, n, a, o }) };
    }
    let body: Typed<F, (A, O)> = Typed { level, f, types: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [Operand::output(o, o_strides), Operand::input(a, a_strides)]) };
}

/// [`map2`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn map2_at<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>>(
    level: InstructionSet,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let n = sizes.iter().product();
    let dense = is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) && is_contiguous(sizes, b_strides);
    if dense && n < MANY && !same(b, o) {
        // SAFETY: Run 1 and 2 are our 1 and 2, the layout being contiguous; 3 was just checked.
        return unsafe { for_isa(level, Run2 { f: *f, n, a, b, o }) };
    }
    // SAFETY: (1-3) are ours.
    unsafe { map2_walked(level, f, sizes, a, a_strides, b, b_strides, o, o_strides) };
}

/// [`map2_at`] of operands that are not all contiguous.
///
/// # Safety
/// As [`map1`].
#[allow(clippy::too_many_arguments)]
unsafe fn map2_walked<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>>(
    level: InstructionSet,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let body: Typed<F, (A, B, O)> = Typed { level, f, types: PhantomData };
    let operands = [Operand::output(o, o_strides), Operand::input(a, a_strides), Operand::input(b, b_strides)];
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, operands) };
}

/// [`map3`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn map3_at<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
    level: InstructionSet,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    c: *const C,
    c_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let body: Typed<F, (A, B, C, O)> = Typed { level, f, types: PhantomData };
    let out = Operand::output(o, o_strides);
    let operands = [out, Operand::input(a, a_strides), Operand::input(b, b_strides), Operand::input(c, c_strides)];
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, operands) };
}

/// [`map1`] of operands that may be halves, where the body takes float32.
///
/// # Safety
/// As [`map1`], for operands that are of the body's types, or halves.
pub unsafe fn walk1<A: SimdElement, O: Copy, F: Map1<A, O>>(f: &F, sizes: &[usize], o: Operand, a: Operand) {
    let body: Typed<F, (A, O)> = Typed { level: InstructionSet::detect(), f, types: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [o, a]) };
}

/// As [`walk1`], of two operands.
///
/// # Safety
/// As [`walk1`].
pub unsafe fn walk2<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>>(
    f: &F,
    sizes: &[usize],
    o: Operand,
    a: Operand,
    b: Operand,
) {
    let body: Typed<F, (A, B, O)> = Typed { level: InstructionSet::detect(), f, types: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [o, a, b]) };
}

/// A body of float32 over halves, which are made float32 in registers if the body is a light one.
///
/// # Safety
/// As [`walk1`].
pub unsafe fn map_halves1<F: Map1<f32, f32>>(f: &F, sizes: &[usize], o: Operand, a: Operand) {
    match o.half() {
        // SAFETY: (1-3) are ours, for halves of one format.
        Some(half) if const { F::LIGHT } && a.half() == Some(half) => unsafe {
            walk_halves(&EachLane(*f), half, sizes, [o, a]);
        },
        // SAFETY: (1-3) are ours.
        _ => unsafe { walk1::<f32, f32, F>(f, sizes, o, a) },
    }
}

/// As [`map_halves1`], of two operands, of which one may be of float32.
///
/// # Safety
/// As [`walk1`].
pub unsafe fn map_halves2<F: Map2<f32, f32, f32>>(f: &F, sizes: &[usize], o: Operand, a: Operand, b: Operand) {
    let Some(half) = o.half().filter(|_| const { F::LIGHT } && !sizes.contains(&0)) else {
        // SAFETY: (1-3) are ours.
        return unsafe { walk2::<f32, f32, f32, F>(f, sizes, o, a, b) };
    };
    let is_half = |x: Operand| x.half() == Some(half);
    // SAFETY: (1-3) are ours, for halves of one format; (`number` 1) there is an element.
    unsafe {
        match (a.number(), b.number()) {
            (_, Some(number)) if is_half(a) => walk_halves(&EachLane(Second { f: *f, number }), half, sizes, [o, a]),
            (Some(number), _) if is_half(b) => walk_halves(&EachLane(First { f: *f, number }), half, sizes, [o, b]),
            _ if is_half(a) && is_half(b) => walk_halves(&EachLane(*f), half, sizes, [o, a, b]),
            _ => walk2::<f32, f32, f32, F>(f, sizes, o, a, b),
        }
    }
}

/// As [`map_halves1`], of three operands, all of halves.
///
/// # Safety
/// As [`walk1`].
pub unsafe fn map_halves3<F: Map3<f32, f32, f32, f32>>(f: &F, sizes: &[usize], o: Operand, inputs: [Operand; 3]) {
    let [a, b, c] = inputs;
    match o.half() {
        // SAFETY: (1-3) are ours, for halves of one format.
        Some(half) if const { F::LIGHT } && inputs.iter().all(|x| x.half() == Some(half)) => unsafe {
            walk_halves(&EachLane(*f), half, sizes, [o, a, b, c]);
        },
        _ => {
            let body: Typed<F, (f32, f32, f32, f32)> = Typed { level: InstructionSet::detect(), f, types: PhantomData };
            // SAFETY: (1-3) are ours.
            unsafe { walk(&body, sizes, [o, a, b, c]) }
        }
    }
}

/// A scalar body as a body in vectors.
struct EachLane<F>(F);

/// Of the lanes of `x`, what `$f` makes of each; the compiler makes vectors of it again.
macro_rules! each_lane {
    ($v:ident, $k:literal, $x:ident, |$lanes:ident| $f:expr) => {{
        let (mut from, mut to) = ([[0.0; 32]; $k], [0.0; 32]);
        // SAFETY: (1) `x` exists; (1, 2) no vector is longer than an array.
        unsafe {
            for k in 0..$k {
                $x[k].store(from[k].as_mut_ptr());
            }
            for i in 0..$v::LEN {
                let mut $lanes = [0.0; $k];
                for k in 0..$k {
                    $lanes[k] = from[k][i];
                }
                to[i] = $f;
            }
            $v::load(to.as_ptr())
        }
    }};
}

impl<F: Map1<f32, f32>> Body<f32, 1> for EachLane<F> {
    const PAIRED: bool = false;
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, x: [V; 1]) -> V {
        let f = self.0;
        each_lane!(V, 1, x, |lanes| f.f(lanes[0]))
    }
}

impl<F: Map2<f32, f32, f32>> Body<f32, 2> for EachLane<F> {
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, x: [V; 2]) -> V {
        let f = self.0;
        each_lane!(V, 2, x, |lanes| f.f(lanes[0], lanes[1]))
    }
}

impl<F: Map3<f32, f32, f32, f32>> Body<f32, 3> for EachLane<F> {
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, x: [V; 3]) -> V {
        let f = self.0;
        each_lane!(V, 3, x, |lanes| f.f(lanes[0], lanes[1], lanes[2]))
    }
}

/// A body of two operands whose first one is a number.
#[derive(Clone, Copy)]
struct First<F> {
    f: F,
    number: f32,
}

/// A body of two operands whose second one is a number.
#[derive(Clone, Copy)]
struct Second<F> {
    f: F,
    number: f32,
}

impl<F: Map2<f32, f32, f32>> Map1<f32, f32> for First<F> {
    #[inline(always)]
    fn f(&self, b: f32) -> f32 {
        self.f.f(self.number, b)
    }
}

impl<F: Map2<f32, f32, f32>> Map1<f32, f32> for Second<F> {
    #[inline(always)]
    fn f(&self, a: f32) -> f32 {
        self.f.f(a, self.number)
    }
}

/// A body and the element types of its operands, for the walk.
struct Typed<'f, F, Types> {
    level: InstructionSet,
    f: &'f F,
    types: PhantomData<fn(Types)>,
}

impl<F: Copy, Types> Typed<'_, F, Types> {
    /// The loop over rows of `n` elements.
    ///
    /// # Safety
    /// As [`RowLoop::run`], for the output and the inputs `p`.
    unsafe fn rows<I: Inputs<F, O>, O: Copy>(&self, [n, rows]: [usize; 2], inputs: I, p: &[*mut u8], apart: &[isize]) {
        // SAFETY: (InRows 1, 2) ours.
        unsafe { for_isa(self.level, InRows { f: *self.f, n, rows, inputs, o: p[0].cast::<O>(), apart }) }
    }
}

impl<A: SimdElement, O: Copy, F: Map1<A, O>> Pieces for Typed<'_, F, (A, O)> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        // SAFETY: Run 1-3 are our 1 and 2.
        unsafe { for_isa(self.level, Run1 { f: *self.f, n, a: p[1].cast_const().cast::<A>(), o: p[0].cast::<O>() }) }
    }
    fn in_rows(&self) -> Option<&dyn RowLoop> {
        if const { F::LIGHT && A::IN_ROWS } { Some(self) } else { None }
    }
}

impl<A: SimdElement, O: Copy, F: Map1<A, O>> RowLoop for Typed<'_, F, (A, O)> {
    unsafe fn run(&self, [n, rows]: [usize; 2], p: &[*mut u8], apart: &[isize], _: Option<usize>) {
        // SAFETY: (1, 2) ours.
        unsafe { self.rows::<_, O>([n, rows], p[1].cast_const().cast::<A>(), p, apart) }
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Typed<'_, F, (A, B, O)> {
    /// Whether there is a loop over rows of both inputs.
    const IN_ROWS: bool = F::LIGHT && (A::IN_ROWS || F::WIDE);
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Pieces for Typed<'_, F, (A, B, O)> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        let (a, b) = (p[1].cast_const().cast::<A>(), p[2].cast_const().cast::<B>());
        // SAFETY: Run 1-3 are our 1 and 2.
        unsafe { for_isa(self.level, Run2 { f: *self.f, n, a, b, o: p[0].cast::<O>() }) }
    }
    fn in_rows(&self) -> Option<&dyn RowLoop> {
        if const { Self::IN_ROWS } { Some(self) } else { None }
    }
    fn staying(&self) -> Option<&dyn RowLoop> {
        if const { F::LIGHT && A::STAYS } { Some(self) } else { None }
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> RowLoop for Typed<'_, F, (A, B, O)> {
    unsafe fn run(&self, [n, rows]: [usize; 2], p: &[*mut u8], apart: &[isize], stays: Option<usize>) {
        let (a, b) = (p[1].cast_const().cast::<A>(), p[2].cast_const().cast::<B>());
        // SAFETY: (1, 2) ours.
        unsafe {
            match stays {
                None if const { Self::IN_ROWS } => self.rows::<_, O>([n, rows], (a, b), p, apart),
                None => unreachable!("there is no such loop"),
                Some(1) => self.rows::<_, O>([n, rows], FirstStays(a, b), p, apart),
                Some(_) => self.rows::<_, O>([n, rows], SecondStays(a, b), p, apart),
            }
        }
    }
}

impl<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>> Pieces for Typed<'_, F, (A, B, C, O)> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        let (a, b, c) = (p[1].cast_const().cast::<A>(), p[2].cast_const().cast::<B>(), p[3].cast_const().cast::<C>());
        // SAFETY: Run 1-3 are our 1 and 2.
        unsafe { for_isa(self.level, Run3 { f: *self.f, n, a, b, c, o: p[0].cast::<O>() }) }
    }
    fn in_rows(&self) -> Option<&dyn RowLoop> {
        if const { F::LIGHT && B::IN_ROWS } { Some(self) } else { None }
    }
}

impl<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>> RowLoop for Typed<'_, F, (A, B, C, O)> {
    unsafe fn run(&self, [n, rows]: [usize; 2], p: &[*mut u8], apart: &[isize], _: Option<usize>) {
        let (a, b, c) = (p[1].cast_const().cast::<A>(), p[2].cast_const().cast::<B>(), p[3].cast_const().cast::<C>());
        // SAFETY: (1, 2) ours.
        unsafe { self.rows::<_, O>([n, rows], (a, b, c), p, apart) }
    }
}

/// `n` contiguous elements. Duties: 1. the inputs are readable and initialised, the output writable, for `n` elements;
/// 2. the output equals an input of the same element size, or is disjoint from it; 3. only the first input may equal
///    it.
struct Run1<F, A, O> {
    f: F,
    n: usize,
    a: *const A,
    o: *mut O,
}

/// As [`Run1`].
struct Run2<F, A, B, O> {
    f: F,
    n: usize,
    a: *const A,
    b: *const B,
    o: *mut O,
}

/// As [`Run1`].
struct Run3<F, A, B, C, O> {
    f: F,
    n: usize,
    a: *const A,
    b: *const B,
    c: *const C,
    o: *mut O,
}

/// Whether output and input are the same memory; sizes decide at compile time for most pairs.
#[inline(always)]
fn same<A, O>(a: *const A, o: *mut O) -> bool {
    size_of::<A>() == size_of::<O>() && std::ptr::addr_eq(a, o)
}

// One loop serves narrow types and old CPUs, through pointers that may be equal: the compiler tests for overlap. Where
// the loop is hot there are two: over slices, which need no test, and through one pointer for an output that is the
// input.

impl<A: SimdElement, O: Copy, F: Map1<A, O>> Task for Run1<F, A, O> {
    type Out = ();
    const WIDE: bool = A::WIDE || F::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        let Run1 { f, n, a, o } = self;
        for i in 0..n {
            // SAFETY: duties 1 and 2; the element is read before its place is written.
            unsafe { *o.add(i) = f.f(*a.add(i)) };
        }
    }

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Run1 { f, n, a, o } = self;
        if same(a, o) {
            let a: *mut A = o.cast();
            for i in 0..n {
                // SAFETY: duty 1; the element is read before its place is written.
                unsafe { *o.add(i) = f.f(*a.add(i)) };
            }
            return;
        }
        // SAFETY: duty 1; the output is not the input, so by duty 2 it is disjoint.
        let (a, o) = unsafe { (std::slice::from_raw_parts(a, n), places(o, n)) };
        for i in 0..n {
            o[i] = MaybeUninit::new(f.f(a[i]));
        }
    }
}

impl<A: SimdElement, B: Copy, O: Copy, F: Map2<A, B, O>> Task for Run2<F, A, B, O> {
    type Out = ();
    const WIDE: bool = A::WIDE || F::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        let Run2 { f, n, a, b, o } = self;
        for i in 0..n {
            // SAFETY: duties 1 and 2; the elements are read before the place is written.
            unsafe { *o.add(i) = f.f(*a.add(i), *b.add(i)) };
        }
    }

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Run2 { f, n, a, b, o } = self;
        // SAFETY: duty 1 for `b`; it is not the output (duty 3), so by duty 2 it is disjoint.
        let b = unsafe { std::slice::from_raw_parts(b, n) };
        if same(a, o) {
            let a: *mut A = o.cast();
            for (i, &b) in b.iter().enumerate() {
                // SAFETY: duty 1; the element is read before its place is written.
                unsafe { *o.add(i) = f.f(*a.add(i), b) };
            }
            return;
        }
        // SAFETY: duty 1; the output is neither input, so by duty 2 it is disjoint.
        let (a, o) = unsafe { (std::slice::from_raw_parts(a, n), places(o, n)) };
        for i in 0..n {
            o[i] = MaybeUninit::new(f.f(a[i], b[i]));
        }
    }
}

impl<A: Copy, B: SimdElement, C: Copy, O: Copy, F: Map3<A, B, C, O>> Task for Run3<F, A, B, C, O> {
    type Out = ();
    const WIDE: bool = B::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Run3 { f, n, a, b, c, o } = self;
        // SAFETY: duty 1 for `b` and `c`; they are not the output (duty 3), so by duty 2 they are disjoint.
        let (b, c) = unsafe { (std::slice::from_raw_parts(b, n), std::slice::from_raw_parts(c, n)) };
        if same(a, o) {
            let a: *mut A = o.cast();
            for i in 0..n {
                // SAFETY: duty 1; the element is read before its place is written.
                unsafe { *o.add(i) = f.f(*a.add(i), b[i], c[i]) };
            }
            return;
        }
        // SAFETY: duty 1; the output is none of the inputs, so by duty 2 it is disjoint.
        let (a, o) = unsafe { (std::slice::from_raw_parts(a, n), places(o, n)) };
        for i in 0..n {
            o[i] = MaybeUninit::new(f.f(a[i], b[i], c[i]));
        }
    }
}

/// # Safety
/// 1. The `n` elements are writable, and read through no other pointer meanwhile.
#[inline(always)]
unsafe fn places<'o, O>(o: *mut O, n: usize) -> &'o mut [MaybeUninit<O>] {
    // SAFETY: ours.
    unsafe { std::slice::from_raw_parts_mut(o.cast(), n) }
}
