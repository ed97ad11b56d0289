//! The maps: entry, tiles, rows.

use std::mem::MaybeUninit;

use super::super::simd::{Lane, Level, Task, dispatch};
use super::super::strided::{Axes, Offsets, axis, is_contiguous, plan};
use super::{Map1, Map2, Map3, SHORT, STAGE};

/// An uninitialised piece in L1.
type Piece<T> = [MaybeUninit<T>; STAGE];

/// `o[..] = f(a[..])` over strided operands.
///
/// # Safety
/// 1. Each input is readable and initialised, the output writable, at every position of `sizes` under its strides.
/// 2. The output overlaps an input only if both have the same start, strides and element size.
/// 3. Distinct positions have distinct places in the output.
#[inline]
pub unsafe fn map1<A: Lane, O: Copy, F: Map1<A, O>>(
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { map1_at(Level::detect(), f, sizes, a, a_strides, o, o_strides) }
}

/// `o[..] = f(a[..], b[..])` over strided operands.
///
/// # Safety
/// As [`map1`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn map2<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(
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
    unsafe { map2_at(Level::detect(), f, sizes, a, a_strides, b, b_strides, o, o_strides) }
}

/// `o[..] = f(a[..], b[..], c[..])` over strided operands.
///
/// # Safety
/// As [`map1`].
#[inline]
#[allow(clippy::too_many_arguments)]
pub unsafe fn map3<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
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
    let level = Level::detect();
    // SAFETY: (1-3) are ours.
    unsafe { map3_at(level, f, sizes, a, a_strides, b, b_strides, c, c_strides, o, o_strides) }
}

/// [`map1`] of `n` contiguous elements: the fast path of an op whose operands agree.
///
/// # Safety
/// As [`map1`] with sizes `[n]` and strides `[1]`.
#[inline]
pub unsafe fn map1_contiguous<A: Lane, O: Copy, F: Map1<A, O>>(f: &F, n: usize, a: *const A, o: *mut O) {
    // SAFETY: Run 1 and 2 are our 1 and 2.
    unsafe { dispatch(Level::detect(), Run1 { f, n, a, o }) }
}

/// [`map2`] of `n` contiguous elements.
///
/// # Safety
/// As [`map1`] with sizes `[n]` and strides `[1]`.
#[inline]
pub unsafe fn map2_contiguous<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(
    f: &F,
    n: usize,
    a: *const A,
    b: *const B,
    o: *mut O,
) {
    if same(b, o) {
        // SAFETY: (Tile 1-3) are ours, for this one row.
        return unsafe { dispatch(Level::detect(), Tile2 { f, n: [n, 1], s: [[1, 1]; 3], a, b, o }) };
    }
    // SAFETY: Run 1 and 2 are our 1 and 2; 3 was just checked.
    unsafe { dispatch(Level::detect(), Run2 { f, n, a, b, o }) }
}

/// [`map3`] of `n` contiguous elements.
///
/// # Safety
/// As [`map1`] with sizes `[n]` and strides `[1]`.
#[inline]
pub unsafe fn map3_contiguous<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
    f: &F,
    n: usize,
    a: *const A,
    b: *const B,
    c: *const C,
    o: *mut O,
) {
    if same(b, o) || same(c, o) {
        // SAFETY: (Tile 1-3) are ours, for this one row.
        return unsafe { dispatch(Level::detect(), Tile3 { f, n: [n, 1], s: [[1, 1]; 4], a, b, c, o }) };
    }
    // SAFETY: Run 1 and 2 are our 1 and 2; 3 was just checked.
    unsafe { dispatch(Level::detect(), Run3 { f, n, a, b, c, o }) }
}

/// [`map1`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
pub unsafe fn map1_at<A: Lane, O: Copy, F: Map1<A, O>>(
    level: Level,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    if is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) {
        // SAFETY: Run 1 and 2 are our 1 and 2, the layout being contiguous.
        return unsafe { dispatch(level, Run1 { f, n: sizes.iter().product(), a, o }) };
    }
    let axes: Axes<2> = plan(sizes, [o_strides, a_strides]);
    let (x, y) = (axis(&axes, 0), axis(&axes, 1));
    let s = std::array::from_fn(|k| [x.strides[k], y.strides[k]]);
    for [po, pa] in Offsets::new(axes.get(2..).unwrap_or(&[])) {
        // SAFETY: (Tile 1-3) the offsets, and the two inner axes from each, are positions of `sizes`: our 1-3.
        unsafe { dispatch(level, Tile1 { f, n: [x.size, y.size], s, a: a.offset(pa), o: o.offset(po) }) };
    }
}

/// [`map2`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn map2_at<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(
    level: Level,
    f: &F,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    b: *const B,
    b_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    let dense = is_contiguous(sizes, o_strides) && is_contiguous(sizes, a_strides) && is_contiguous(sizes, b_strides);
    if dense && !same(b, o) {
        // SAFETY: Run 1 and 2 are our 1 and 2, the layout being contiguous; 3 was just checked.
        return unsafe { dispatch(level, Run2 { f, n: sizes.iter().product(), a, b, o }) };
    }
    let axes: Axes<3> = plan(sizes, [o_strides, a_strides, b_strides]);
    let (x, y) = (axis(&axes, 0), axis(&axes, 1));
    let s = std::array::from_fn(|k| [x.strides[k], y.strides[k]]);
    for [po, pa, pb] in Offsets::new(axes.get(2..).unwrap_or(&[])) {
        // SAFETY: (Tile 1-3) the offsets, and the two inner axes from each, are positions of `sizes`: our 1-3.
        unsafe {
            let tile = Tile2 { f, n: [x.size, y.size], s, a: a.offset(pa), b: b.offset(pb), o: o.offset(po) };
            dispatch(level, tile);
        }
    }
}

/// [`map3`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn map3_at<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
    level: Level,
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
    let inputs = is_contiguous(sizes, a_strides) && is_contiguous(sizes, b_strides);
    let dense = inputs && is_contiguous(sizes, c_strides) && is_contiguous(sizes, o_strides);
    if dense && !same(b, o) && !same(c, o) {
        // SAFETY: Run 1 and 2 are our 1 and 2, the layout being contiguous; 3 was just checked.
        return unsafe { dispatch(level, Run3 { f, n: sizes.iter().product(), a, b, c, o }) };
    }
    let axes: Axes<4> = plan(sizes, [o_strides, a_strides, b_strides, c_strides]);
    let (x, y) = (axis(&axes, 0), axis(&axes, 1));
    let s = std::array::from_fn(|k| [x.strides[k], y.strides[k]]);
    for [po, pa, pb, pc] in Offsets::new(axes.get(2..).unwrap_or(&[])) {
        // SAFETY: (Tile 1-3) the offsets, and the two inner axes from each, are positions of `sizes`: our 1-3.
        unsafe {
            let (a, b, c) = (a.offset(pa), b.offset(pb), c.offset(pc));
            dispatch(level, Tile3 { f, n: [x.size, y.size], s, a, b, c, o: o.offset(po) });
        }
    }
}

/// `n` contiguous elements. Duties: 1. the inputs are readable and initialised, the output writable, for `n` elements;
/// 2. the output equals an input of the same element size, or is disjoint from it; 3. only the first input may equal it.
struct Run1<'f, F, A, O> {
    f: &'f F,
    n: usize,
    a: *const A,
    o: *mut O,
}

/// As [`Run1`].
struct Run2<'f, F, A, B, O> {
    f: &'f F,
    n: usize,
    a: *const A,
    b: *const B,
    o: *mut O,
}

/// As [`Run1`].
struct Run3<'f, F, A, B, C, O> {
    f: &'f F,
    n: usize,
    a: *const A,
    b: *const B,
    c: *const C,
    o: *mut O,
}

/// Two axes, `n[0]` the inner; strides of the output, then of the inputs, inner and outer. Duties: 1-3 of [`map1`].
struct Tile1<'f, F, A, O> {
    f: &'f F,
    n: [usize; 2],
    s: [[isize; 2]; 2],
    a: *const A,
    o: *mut O,
}

/// As [`Tile1`].
struct Tile2<'f, F, A, B, O> {
    f: &'f F,
    n: [usize; 2],
    s: [[isize; 2]; 3],
    a: *const A,
    b: *const B,
    o: *mut O,
}

/// As [`Tile1`].
struct Tile3<'f, F, A, B, C, O> {
    f: &'f F,
    n: [usize; 2],
    s: [[isize; 2]; 4],
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

/// A contiguous view of `n <= STAGE` strided elements: themselves, or a copy if they are strided or `copied` is set.
///
/// # Safety
/// 1. The elements are readable and initialised.
#[inline(always)]
unsafe fn staged<T: Copy>(p: *const T, s: isize, n: usize, copied: bool, piece: &mut Piece<T>) -> *const T {
    if s == 1 && !copied {
        return p;
    }
    for (i, place) in piece.iter_mut().enumerate().take(n) {
        // SAFETY: duty 1.
        *place = MaybeUninit::new(unsafe { *p.offset(i as isize * s) });
    }
    piece.as_ptr().cast()
}

/// # Safety
/// 1. `piece` holds `n` initialised elements. 2. The places are writable.
#[inline(always)]
unsafe fn scatter<T: Copy>(piece: &Piece<T>, o: *mut T, s: isize, n: usize) {
    for (i, value) in piece.iter().enumerate().take(n) {
        // SAFETY: duties 1 and 2.
        unsafe { *o.offset(i as isize * s) = value.assume_init() };
    }
}

/// Slices of `n` elements.
macro_rules! slices {
    ($n:expr; $($p:expr),+; $o:expr) => {
        ($(std::slice::from_raw_parts($p, $n),)+ std::slice::from_raw_parts_mut($o.cast::<MaybeUninit<_>>(), $n))
    };
}

#[inline(always)]
fn loop1<A: Lane, O: Copy, F: Map1<A, O>>(f: &F, a: &[A], o: &mut [MaybeUninit<O>]) {
    let n = o.len();
    let a = &a[..n];
    for i in 0..n {
        o[i] = MaybeUninit::new(f.f(a[i]));
    }
}

#[inline(always)]
fn loop2<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(f: &F, a: &[A], b: &[B], o: &mut [MaybeUninit<O>]) {
    let n = o.len();
    let (a, b) = (&a[..n], &b[..n]);
    for i in 0..n {
        o[i] = MaybeUninit::new(f.f(a[i], b[i]));
    }
}

#[inline(always)]
fn loop2_left<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(f: &F, a: A, b: &[B], o: &mut [MaybeUninit<O>]) {
    let n = o.len();
    let b = &b[..n];
    for i in 0..n {
        o[i] = MaybeUninit::new(f.f(a, b[i]));
    }
}

#[inline(always)]
fn loop2_right<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>>(f: &F, a: &[A], b: B, o: &mut [MaybeUninit<O>]) {
    let n = o.len();
    let a = &a[..n];
    for i in 0..n {
        o[i] = MaybeUninit::new(f.f(a[i], b));
    }
}

#[inline(always)]
fn loop3<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>>(
    f: &F,
    a: &[A],
    b: &[B],
    c: &[C],
    o: &mut [MaybeUninit<O>],
) {
    let n = o.len();
    let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
    for i in 0..n {
        o[i] = MaybeUninit::new(f.f(a[i], b[i], c[i]));
    }
}

impl<A: Lane, O: Copy, F: Map1<A, O>> Task for Run1<'_, F, A, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn run(self) {
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
        let (a, o) = unsafe { slices!(n; a; o) };
        loop1(f, a, o);
    }
}

impl<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>> Task for Run2<'_, F, A, B, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn run(self) {
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
        let (a, o) = unsafe { slices!(n; a; o) };
        loop2(f, a, b, o);
    }
}

impl<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>> Task for Run3<'_, F, A, B, C, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn run(self) {
        let Run3 { f, n, a, b, c, o } = self;
        // SAFETY: duty 1; neither is the output (duty 3), so by duty 2 they are disjoint from it.
        let (b, c) = unsafe { (std::slice::from_raw_parts(b, n), std::slice::from_raw_parts(c, n)) };
        if same(a, o) {
            let a: *mut A = o.cast();
            for i in 0..n {
                // SAFETY: duty 1; the element is read before its place is written.
                unsafe { *o.add(i) = f.f(*a.add(i), b[i], c[i]) };
            }
            return;
        }
        // SAFETY: duty 1; the output is no input, so by duty 2 it is disjoint.
        let (a, o) = unsafe { slices!(n; a; o) };
        loop3(f, a, b, c, o);
    }
}

impl<A: Lane, O: Copy, F: Map1<A, O>> Task for Tile1<'_, F, A, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        let Tile1 { f, n: [n, rows], s: [so, sa], a, o } = self;
        for row in 0..rows as isize {
            // SAFETY: (1-3) the positions are of the tile: duties 1-3; an element is read before its place is written.
            unsafe {
                let o = o.offset(row * so[1]);
                let a = a.offset(row * sa[1]);
                for i in 0..n as isize {
                    *o.offset(i * so[0]) = f.f(*a.offset(i * sa[0]));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn run(self) {
        let Tile1 { f, n: [n, rows], s: [so, sa], a, o } = self;
        let (mut pa, mut po) = ([MaybeUninit::uninit(); STAGE], [MaybeUninit::uninit(); STAGE]);
        let direct = so[0] == 1 && sa[0] == 1;
        let step = if direct { n.max(1) } else { STAGE };
        // Columns outside, rows inside: the cache lines that a strided row touches serve the next rows.
        for k in (0..n).step_by(step) {
            let m = step.min(n - k);
            for row in 0..rows as isize {
                // SAFETY: (1-3) the positions are of the tile: duties 1-3. `loop1` gets disjoint slices: an input that
                // is the output is staged or, if direct, goes to `Run1`, whose duties are ours.
                unsafe {
                    let o = o.offset(row * so[1] + k as isize * so[0]);
                    let a = a.offset(row * sa[1] + k as isize * sa[0]);
                    if n < SHORT {
                        for i in 0..m as isize {
                            *o.offset(i * so[0]) = f.f(*a.offset(i * sa[0]));
                        }
                        continue;
                    }
                    let out = if so[0] == 1 { o } else { po.as_mut_ptr().cast() };
                    let a = if direct { a } else { staged(a, sa[0], m, same(a, o), &mut pa) };
                    Run1 { f, n: m, a, o: out }.run();
                    if so[0] != 1 {
                        scatter(&po, o, so[0], m);
                    }
                }
            }
        }
    }
}

impl<A: Lane, B: Copy, O: Copy, F: Map2<A, B, O>> Task for Tile2<'_, F, A, B, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        let Tile2 { f, n: [n, rows], s: [so, sa, sb], a, b, o } = self;
        for row in 0..rows as isize {
            // SAFETY: (1-3) the positions are of the tile: duties 1-3; an element is read before its place is written.
            unsafe {
                let o = o.offset(row * so[1]);
                let a = a.offset(row * sa[1]);
                let b = b.offset(row * sb[1]);
                for i in 0..n as isize {
                    *o.offset(i * so[0]) = f.f(*a.offset(i * sa[0]), *b.offset(i * sb[0]));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn run(self) {
        let Tile2 { f, n: [n, rows], s: [so, sa, sb], a, b, o } = self;
        let mut pa = [MaybeUninit::uninit(); STAGE];
        let mut pb = [MaybeUninit::uninit(); STAGE];
        let mut po = [MaybeUninit::uninit(); STAGE];
        let (left, right) = (sa[0] == 0, sb[0] == 0);
        let inputs = (sa[0] == 1 || left) && (sb[0] == 1 || right) && !(left && right);
        let direct = inputs && so[0] == 1 && !same(a, o) && !same(b, o);
        let step = if direct { n.max(1) } else { STAGE };
        // Columns outside, rows inside: the cache lines that a strided row touches serve the next rows.
        for k in (0..n).step_by(step) {
            let m = step.min(n - k);
            for row in 0..rows as isize {
                // SAFETY: (1-3) the positions are of the tile: duties 1-3. The loops get disjoint slices: an input that
                // is the output is staged.
                unsafe {
                    let o = o.offset(row * so[1] + k as isize * so[0]);
                    let a = a.offset(row * sa[1] + k as isize * sa[0]);
                    let b = b.offset(row * sb[1] + k as isize * sb[0]);
                    if n < SHORT {
                        for i in 0..m as isize {
                            *o.offset(i * so[0]) = f.f(*a.offset(i * sa[0]), *b.offset(i * sb[0]));
                        }
                        continue;
                    }
                    let out = if so[0] == 1 { o } else { po.as_mut_ptr().cast() };
                    let x = if left { a } else { staged(a, sa[0], m, !direct && same(a, o), &mut pa) };
                    if right && !left {
                        let (x, out) = slices!(m; x; out);
                        loop2_right(f, x, *b, out);
                    } else {
                        let y = if direct && sb[0] == 1 { b } else { staged(b, sb[0], m, same(b, o), &mut pb) };
                        if left {
                            let (y, out) = slices!(m; y; out);
                            loop2_left(f, *a, y, out);
                        } else {
                            let (x, y, out) = slices!(m; x, y; out);
                            loop2(f, x, y, out);
                        }
                    }
                    if so[0] != 1 {
                        scatter(&po, o, so[0], m);
                    }
                }
            }
        }
    }
}

impl<A: Lane, B: Copy, C: Copy, O: Copy, F: Map3<A, B, C, O>> Task for Tile3<'_, F, A, B, C, O> {
    type Out = ();
    const WIDE: bool = A::WIDE;

    #[inline(always)]
    unsafe fn plain(self) {
        let Tile3 { f, n: [n, rows], s: [so, sa, sb, sc], a, b, c, o } = self;
        for row in 0..rows as isize {
            // SAFETY: (1-3) the positions are of the tile: duties 1-3; an element is read before its place is written.
            unsafe {
                let o = o.offset(row * so[1]);
                let a = a.offset(row * sa[1]);
                let b = b.offset(row * sb[1]);
                let c = c.offset(row * sc[1]);
                for i in 0..n as isize {
                    *o.offset(i * so[0]) = f.f(*a.offset(i * sa[0]), *b.offset(i * sb[0]), *c.offset(i * sc[0]));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn run(self) {
        let Tile3 { f, n: [n, rows], s: [so, sa, sb, sc], a, b, c, o } = self;
        let mut pa = [MaybeUninit::uninit(); STAGE];
        let mut pb = [MaybeUninit::uninit(); STAGE];
        let mut pc = [MaybeUninit::uninit(); STAGE];
        let mut po = [MaybeUninit::uninit(); STAGE];
        for k in (0..n).step_by(STAGE) {
            let m = STAGE.min(n - k);
            for row in 0..rows as isize {
                // SAFETY: (1-3) the positions are of the tile: duties 1-3. `loop3` gets disjoint slices: an input that
                // is the output is staged.
                unsafe {
                    let o = o.offset(row * so[1] + k as isize * so[0]);
                    let a = a.offset(row * sa[1] + k as isize * sa[0]);
                    let b = b.offset(row * sb[1] + k as isize * sb[0]);
                    let c = c.offset(row * sc[1] + k as isize * sc[0]);
                    if n < SHORT {
                        for i in 0..m as isize {
                            let (a, b, c) = (*a.offset(i * sa[0]), *b.offset(i * sb[0]), *c.offset(i * sc[0]));
                            *o.offset(i * so[0]) = f.f(a, b, c);
                        }
                        continue;
                    }
                    let out = if so[0] == 1 { o } else { po.as_mut_ptr().cast() };
                    let a = staged(a, sa[0], m, same(a, o), &mut pa);
                    let b = staged(b, sb[0], m, same(b, o), &mut pb);
                    let c = staged(c, sc[0], m, same(c, o), &mut pc);
                    let (a, b, c, out) = slices!(m; a, b, c; out);
                    loop3(f, a, b, c, out);
                    if so[0] != 1 {
                        scatter(&po, o, so[0], m);
                    }
                }
            }
        }
    }
}
