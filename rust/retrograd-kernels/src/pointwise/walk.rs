//! The walk over strided operands, which all pointwise loops share: it makes contiguous pieces of them.
//!
//! It knows element sizes but no element types, so it is compiled once per number of operands, and a body only has to
//! be compiled for contiguous elements. Rows that are contiguous are passed on in place. Other inputs are gathered into
//! pieces in L1, other outputs scattered from one; short rows share a piece, and so do longer ones that follow each
//! other in memory or are broadcast, and parts of rows that are columns of an input, which is then read line by line. A
//! piece that already holds the elements it needs, such as a broadcast row, is not filled again. Where an input is
//! broadcast along rows, bodies that are as fast as memory have a loop that keeps its element in a register; the same
//! loop takes rows that are contiguous but do not follow one another. Where both inner axes are short, a third one
//! shares the piece (`small`).
//!
//! Halves are a storage type: bodies take them as float32. An operand of halves goes through a piece and is converted
//! on the way, so that no body is compiled for halves, but for light ones: those convert in registers, and to the walk
//! their operands are elements like others ([`Operand::as_stored`]).

mod small;

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use super::super::simd::{InstructionSet, Isa, Task, for_isa, prefetch_lines};
use super::super::strided::{Axes, Offsets, axis, cut, plan};
use super::copy::copy_tiles;
use super::halves::Half;
use super::stream::{finish, is_streamed, stream};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::pointwise::{IN_ROWS, LONG_ROW, MANY, PIECE_BYTES, SQUARE, STRIDED_PIECE, TOGETHER};

/// An operand whose element type is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'s> {
    start: *mut u8,
    element: Element,
    strides: &'s [isize],
}

/// What an element is in memory and in a piece.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// Bytes in memory.
    width: usize,
    /// The body takes it as float32.
    half: Option<Half>,
}

impl Element {
    /// Bytes in a piece.
    fn held(self) -> usize {
        if self.half.is_some() { size_of::<f32>() } else { self.width }
    }
}

impl<'s> Operand<'s> {
    /// Elements that are read.
    #[inline(always)]
    pub fn input<T>(p: *const T, strides: &'s [isize]) -> Self {
        Self::output(p.cast_mut(), strides)
    }

    /// Elements that are written.
    #[inline(always)]
    pub fn output<T>(p: *mut T, strides: &'s [isize]) -> Self {
        const { assert!(size_of::<T>() <= 16) };
        Operand { start: p.cast(), element: Element { width: size_of::<T>(), half: None }, strides }
    }

    /// Halves, which the body reads or writes as float32.
    pub fn halves(half: Half, p: *mut u16, strides: &'s [isize]) -> Self {
        Operand { start: p.cast(), element: Element { width: size_of::<u16>(), half: Some(half) }, strides }
    }

    /// The format of halves.
    pub(super) fn half(&self) -> Option<Half> {
        self.element.half
    }

    /// The same elements for a body that takes them as they lie in memory.
    pub(super) fn as_stored(self) -> Self {
        Operand { element: Element { half: None, ..self.element }, ..self }
    }

    /// The number that all elements are, if they are one, a half or a float32.
    ///
    /// # Safety
    /// 1. The operand has an element, which is readable and initialised; one of 4 bytes is a float32.
    pub(super) unsafe fn number(&self) -> Option<f32> {
        if self.element.held() != size_of::<f32>() || self.strides.iter().any(|&step| step != 0) {
            return None;
        }
        // SAFETY: (1) ours; (2) there is room for a number.
        unsafe {
            let mut number = 0.0;
            load(self.element, 1, 1, Rows::dense(self.start.cast_const(), 1, 0), (&raw mut number).cast());
            Some(number)
        }
    }
}

/// A loop over contiguous elements.
pub(super) trait Pieces: Sync {
    /// Computes `n` elements; `p` is the output, then the inputs.
    ///
    /// # Safety
    /// 1. The inputs are readable and initialised, the output writable, for `n` elements of the types that the loop
    ///    knows.
    /// 2. The output is the first input, or disjoint from it; it is disjoint from the others.
    unsafe fn run(&self, n: usize, p: &[*mut u8]);
    /// The loop over rows, if there is one.
    fn in_rows(&self) -> Option<&dyn RowLoop> {
        None
    }
    /// The loop over rows in which an input stays at one element, if there is one.
    fn staying(&self) -> Option<&dyn RowLoop> {
        None
    }
}

/// A loop over rows of contiguous elements.
pub(super) trait RowLoop {
    /// Computes rows of `n` elements; `p` is the output, then the inputs, and `apart` the bytes from one row of each to
    /// the next.
    ///
    /// # Safety
    /// As [`Pieces::run`] for each row. The input that stays, if one does, is readable for one element, and is not the
    /// output.
    unsafe fn run(&self, sizes: [usize; 2], p: &[*mut u8], apart: &[isize], stays: Option<usize>);
}

/// What an element takes, in nanoseconds: most bodies wait for memory.
const ELEMENT_COST: f64 = 0.25;

#[repr(align(64))]
struct Piece([MaybeUninit<u8>; PIECE_BYTES]);

/// Runs `body` over every position of `sizes`; operand 0 is the output.
///
/// # Safety
/// 1. Each input is readable and initialised, the output writable, at every position of `sizes` under its strides, for
///    the element types that `body` knows.
/// 2. The output overlaps an input only if both have the same start, strides and element size.
/// 3. Distinct positions have distinct places in the output.
pub(super) unsafe fn walk<const N: usize>(body: &dyn Pieces, sizes: &[usize], operands: [Operand; N]) {
    let axes: Axes<N> = plan(sizes, operands.map(|x| x.strides));
    let elements = operands.map(|x| x.element);
    let starts = operands.map(|x| x.start);
    let count = axes.iter().map(|x| x.size).product::<usize>();
    if count < MANY {
        // SAFETY: (1-3) ours.
        return unsafe { walk_axes(body, &axes, elements, starts, false) };
    }
    // Lines of an input that is written to are there already.
    let streams = is_streamed(count * elements[0].width) && starts[1..].iter().all(|&input| input != starts[0]);
    let (cut, grain) = cut(&axes, TOGETHER);
    let starts = starts.map(SharedPtr);
    split(axes[cut].size, grain, count as f64 * ELEMENT_COST, &|range| {
        let mut axes = axes.clone();
        axes[cut].size = range.len();
        let p = std::array::from_fn(|k| {
            let offset = range.start as isize * axes[cut].strides[k] * elements[k].width as isize;
            // SAFETY: duty 1: a position of `sizes`.
            unsafe { starts[k].get().offset(offset) }
        });
        // SAFETY: (1-3) ours, for some of the positions; (3) no other piece has them.
        unsafe { walk_axes(body, &axes, elements, p, streams) };
    });
}

/// # Safety
/// As [`walk`], for the positions of `axes`.
unsafe fn walk_axes<const N: usize>(
    body: &dyn Pieces,
    axes: &Axes<N>,
    elements: [Element; N],
    starts: [*mut u8; N],
    streams: bool,
) {
    if let Some(depth) = small::together(axes, &elements) {
        // SAFETY: (1-3) ours; (4) just computed.
        return unsafe { small::walk_small(body, axes, elements, starts, depth) };
    }
    let (x, y) = (axis(axes, 0), axis(axes, 1));
    let tile = Tile {
        n: [x.size, y.size],
        s: std::array::from_fn(|k| [x.strides[k], y.strides[k]].map(|s| s * elements[k].width as isize)),
        elements,
        streams,
    };
    let mut pieces = Held::new();
    for offsets in Offsets::new(axes.get(2..).unwrap_or(&[])) {
        // SAFETY: duty 1: a position of the axes.
        let p = std::array::from_fn(|k| unsafe { starts[k].offset(offsets[k] * elements[k].width as isize) });
        // SAFETY: (1-3) the positions are some of the axes': ours; (4) all tiles are of these axes.
        unsafe { tile.run(body, p, &mut pieces) };
    }
}

/// A piece of each operand.
struct Held<const N: usize> {
    pieces: [Piece; N],
    /// Where the elements in each come from, how many a row has, and how many rows they are.
    of: [(*mut u8, usize, usize); N],
}

impl<const N: usize> Held<N> {
    fn new() -> Self {
        Self { pieces: [const { Piece([MaybeUninit::uninit(); PIECE_BYTES]) }; N], of: [(null_mut(), 0, 0); N] }
    }
}

/// How a body goes along a row.
#[derive(Clone, Copy)]
enum Loop<'b> {
    Along(&'b dyn Pieces),
    /// The input of this number stays, if there is one.
    InRows(&'b dyn RowLoop, Option<usize>),
}

impl Loop<'_> {
    /// Computes `rows` rows of `n` elements, which are `apart` bytes from each other in the output and in the inputs.
    ///
    /// # Safety
    /// As [`Pieces::run`] for each row; the input that stays is readable for one element, and is not the output.
    #[inline(always)]
    unsafe fn run<const N: usize>(self, [n, rows]: [usize; 2], p: [*mut u8; N], apart: [isize; N]) {
        match self {
            Loop::Along(body) => {
                for row in 0..rows as isize {
                    // SAFETY: ours.
                    unsafe { body.run(n, &std::array::from_fn::<_, N, _>(|k| p[k].offset(row * apart[k]))) };
                }
            }
            // SAFETY: ours.
            Loop::InRows(body, stays) => unsafe { body.run([n, rows], &p, &apart, stays) },
        }
    }
}

/// Two axes, `n[0]` the inner; strides in bytes, inner and outer, and element sizes of the operands.
struct Tile<const N: usize> {
    n: [usize; 2],
    s: [[isize; 2]; N],
    elements: [Element; N],
    /// What is written in place is written past the caches.
    streams: bool,
}

impl<const N: usize> Tile<N> {
    /// Whether all rows are one, each following the one before, or an operand is broadcast along them.
    fn rows_follow(&self) -> bool {
        let n = self.n[0] as isize;
        (0..N).all(|k| {
            let ([inner, outer], width) = (self.s[k], self.elements[k].width as isize);
            inner == 0 || inner == width && (outer == 0 || outer == n * width)
        })
    }

    /// # Safety
    /// 1-3. As [`walk`], for the tile's positions from `p` on. 4. What pieces hold, they hold of tiles of these sizes
    ///    and strides.
    unsafe fn run(&self, body: &dyn Pieces, p: [*mut u8; N], Held { pieces, of: held }: &mut Held<N>) {
        let ([n, rows], s, elements) = (self.n, &self.s, &self.elements);
        if n == 0 || rows == 0 {
            return;
        }
        // An input behind the first that is the output is read from a copy.
        let copied: [bool; N] =
            std::array::from_fn(|k| k > 1 && p[k] == p[0] && elements[k].width == elements[0].width);
        let broadcast = |k: usize| k > 0 && s[k][0] == 0 && elements[k].half.is_none();
        let staying = (0..N).find(|&k| n >= IN_ROWS && broadcast(k));
        let row_loop = match staying {
            Some(_) => body.staying(),
            None if n >= IN_ROWS => body.in_rows(),
            None => None,
        };
        let stays = |k: usize| row_loop.is_some() && staying == Some(k);
        let contiguous = (0..N)
            .all(|k| (s[k][0] == elements[k].width as isize || stays(k)) && elements[k].half.is_none() && !copied[k]);
        let rows_follow = self.rows_follow();
        let body = match row_loop {
            Some(body) if staying.is_some() || contiguous && rows > 1 && !rows_follow && !self.streams => {
                Loop::InRows(body, staying)
            }
            _ => Loop::Along(body),
        };
        let strided = (0..N).any(|k| s[k][0] != 0 && s[k][0] != elements[k].width as isize);
        let whole = PIECE_BYTES / elements.iter().map(|x| x.held()).max().unwrap_or(1);
        let most = if strided { whole.min(STRIDED_PIECE) } else { whole };
        let share = n < LONG_ROW || 2 * n <= most && rows_follow;
        if contiguous && !self.streams && (!share || rows == 1 || matches!(body, Loop::InRows(..))) {
            // SAFETY: the tile's rows.
            return unsafe { body.run([n, rows], p, s.map(|s| s[1])) };
        }
        // An input whose columns are contiguous.
        let turned = |k: usize| {
            let width = elements[k].width as isize;
            s[k][1] == width && s[k][0] != width && s[k][0] != 0
        };
        let squares = !share && n.min(rows) >= SQUARE && (1..N).any(turned);
        let (columns, height) = match () {
            () if share => (n, (most / n).min(rows)),
            () if squares => (n.min(whole / SQUARE), SQUARE),
            () => (n.min(most), 1),
        };
        // Row by row, as they lie in memory, unless a piece can be kept for the next row, or lines of it.
        let kept = |k: usize| s[k][1] == 0 && elements[k].half.is_some();
        let across = if share || strided || (0..N).any(kept) { rows } else { 1 };
        // Whether all pieces of as many rows are computed alike: each operand follows in memory, or repeats its row.
        let follows = |k: usize| {
            let width = elements[k].width as isize;
            s[k] == [width, n as isize * width] || k > 0 && s[k][1] == 0
        };
        let alike = share
            && !self.streams
            && matches!(body, Loop::Along(_))
            && (0..N).all(|k| elements[k].half.is_none() && !copied[k] && follows(k));
        for (first, column) in (0..rows).step_by(across).flat_map(|row| (0..n).step_by(columns).map(move |c| (row, c)))
        {
            let m = columns.min(n - column);
            let mut row = first;
            while row < first + across {
                let h = height.min(rows - row);
                let many = if alike && h == height { (rows - row) / height } else { 1 };
                let count = m * h;
                let (mut q, mut apart) = ([null_mut(); N], [0; N]);
                let (mut out, mut streams) = (null_mut(), false);
                // What follows in inputs that are read in place.
                let (mut ahead, mut followed) = ([null(); N], 0);
                for k in 0..N {
                    let width = elements[k].width as isize;
                    // SAFETY: duty 1: a position of the tile.
                    let at = unsafe { p[k].offset(column as isize * s[k][0] + row as isize * s[k][1]) };
                    let dense = (m == 1 || s[k][0] == width) && (h == 1 || s[k][1] == m as isize * width);
                    let in_rows = dense || stays(k) || squares && s[k][0] == width;
                    let in_place = in_rows && !copied[k] && elements[k].half.is_none();
                    if k == 0 {
                        (out, streams) = (at, in_place && dense && self.streams);
                    }
                    if in_place && !(k == 0 && streams) {
                        (q[k], apart[k]) = (at, s[k][1]);
                        if dense && !stays(k) {
                            ahead[followed] = at.cast_const().wrapping_add(count * elements[k].width);
                            followed += 1;
                        }
                        continue;
                    }
                    (q[k], apart[k]) = (pieces[k].0.as_mut_ptr().cast(), (m * elements[k].held()) as isize);
                    let (held_at, held_m, held_h) = held[k];
                    let is_held = held_at == at && held_h >= h && (held_m == m || h == 1 && held_m > m);
                    if k > 0 && !is_held {
                        let from = Rows { at: at.cast_const(), inner: s[k][0], outer: s[k][1] };
                        if squares && turned(k) {
                            // The next line of every column: they are more streams than the processor follows.
                            for i in 0..m as isize {
                                prefetch_lines::<1, _>(at.wrapping_offset(i * s[k][0] + SQUARE as isize * width));
                            }
                        }
                        // SAFETY: (1) ours; (2) a piece has space for `count` elements.
                        unsafe { load(elements[k], m, h, from, q[k]) };
                        held[k] = (at, m, h);
                    }
                }
                // SAFETY: (1) elements of the tile or of pieces; (2) the output is a piece or disjoint by duty 2 from
                // inputs that are not copied, unless the first input is it.
                unsafe {
                    match body {
                        Loop::Along(_) if !squares => {
                            body.run([count, many], q, std::array::from_fn(|k| h as isize * s[k][1]));
                        }
                        _ => body.run([m, h], q, apart),
                    }
                }
                if streams {
                    // SAFETY: (1) just written, and ours; (2) a piece is no output.
                    unsafe { stream(q[0], out, count * elements[0].width, &ahead[..followed]) };
                } else if q[0] != out {
                    // SAFETY: (1) the body wrote them; (2) ours.
                    unsafe { store(elements[0], m, h, q[0], Rows { at: out, inner: s[0][0], outer: s[0][1] }) };
                }
                row += h * many;
            }
        }
        if self.streams {
            finish();
        }
    }
}

/// Rows of elements in memory: how far it is from one to the next, and from one row to the next, in bytes.
#[derive(Clone, Copy)]
struct Rows<T> {
    at: T,
    inner: isize,
    outer: isize,
}

impl<T> Rows<T> {
    /// Rows of `n` elements of `width` bytes, one after the other.
    fn dense(at: T, n: usize, width: usize) -> Self {
        Self { at, inner: width as isize, outer: (n * width) as isize }
    }
    /// `rows` rows of `n` elements.
    fn block(&self, n: usize, rows: usize) -> small::Block {
        ([n, rows, 1], [self.inner, self.outer, 0])
    }
}

/// Copies `rows` rows of `n` elements to a piece as the body takes them.
///
/// # Safety
/// 1. `a` is readable at these positions. 2. `o` has space for as many elements one after the other, and is disjoint.
#[inline(always)]
unsafe fn load(element: Element, n: usize, rows: usize, a: Rows<*const u8>, o: *mut u8) {
    // SAFETY: (1, 2) ours.
    unsafe {
        match element.half {
            None => copy(element.width, n, rows, a, Rows::dense(o, n, element.width)),
            Some(_) => small::load(element, a.block(n, rows), a.at, o),
        }
    }
}

/// Copies `rows` rows of `n` elements from a piece to memory.
///
/// # Safety
/// 1. `a` is readable for these elements, one after the other. 2. `o` is writable at these positions, and disjoint.
unsafe fn store(element: Element, n: usize, rows: usize, a: *const u8, o: Rows<*mut u8>) {
    // SAFETY: (1, 2) ours.
    unsafe {
        match element.half {
            None => copy(element.width, n, rows, Rows::dense(a, n, element.width), o),
            Some(_) => small::store(element, o.block(n, rows), a, o.at),
        }
    }
}

/// Writes `rows` rows of `n` elements of `width` bytes one after the other. In `a` it is `inner` bytes from one element
/// to the next, and `outer` from one row to the next.
///
/// # Safety
/// 1. `a` is readable at these positions. 2. `o` has space for the elements, and is disjoint.
pub unsafe fn write_out(width: usize, n: usize, rows: usize, a: *const u8, [inner, outer]: [isize; 2], o: *mut u8) {
    // SAFETY: (1, 2) ours.
    unsafe { copy(width, n, rows, Rows { at: a, inner, outer }, Rows::dense(o, n, width)) }
}

/// Copies `rows` rows of `n` elements of `width` bytes.
///
/// # Safety
/// 1. `a` is readable at these positions. 2. `o` is writable at these positions, and disjoint.
unsafe fn copy(width: usize, n: usize, rows: usize, a: Rows<*const u8>, o: Rows<*mut u8>) {
    // SAFETY: ours; bytes from element to element are multiples of the width.
    unsafe {
        match width {
            4 if a.inner == 0 && o.inner == 4 => fill_rows::<u32>(n, rows, a, o),
            8 if a.inner == 0 && o.inner == 8 => fill_rows::<u64>(n, rows, a, o),
            4 if rows == 1 => copy_line::<u32>(n, a, o),
            8 if rows == 1 => copy_line::<u64>(n, a, o),
            _ => copy_tiles(width, [n, rows, 1], [[o.inner, o.outer, 0], [a.inner, a.outer, 0]], a.at, o.at),
        }
    }
}

/// A single row: to choose how rows are copied would take as long as a short one.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_line<T: Copy>(n: usize, a: Rows<*const u8>, o: Rows<*mut u8>) {
    for i in 0..n as isize {
        // SAFETY: ours; elements such as complex numbers are aligned to less than `T`.
        unsafe {
            o.at.offset(i * o.inner).cast::<T>().write_unaligned(a.at.offset(i * a.inner).cast::<T>().read_unaligned());
        }
    }
}

/// Writes the one element of each row of `a` to all `n` of the row of `o`.
///
/// # Safety
/// As [`copy`].
unsafe fn fill_rows<T: Copy>(n: usize, rows: usize, a: Rows<*const u8>, o: Rows<*mut u8>) {
    let task = Filled { n, rows, a: a.at.cast::<T>(), a_outer: a.outer, o: o.at.cast(), o_outer: o.outer };
    // SAFETY: (Filled 1, 2) ours.
    unsafe { for_isa(InstructionSet::detect(), task) }
}

/// Rows of `n` equal elements. Duties: 1. `a` is readable for the element of each row; 2. `o` is writable for the rows,
/// and disjoint. From one row to the next it is `a_outer` and `o_outer` bytes.
struct Filled<T> {
    n: usize,
    rows: usize,
    a: *const T,
    a_outer: isize,
    o: *mut T,
    o_outer: isize,
}

impl<T: Copy> Task for Filled<T> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Filled { n, rows, a, a_outer, o, o_outer } = self;
        for row in 0..rows as isize {
            // SAFETY: (1, 2) ours; elements such as complex numbers are aligned to less than `T`.
            unsafe {
                let (a, o) = (a.byte_offset(row * a_outer), o.byte_offset(row * o_outer));
                let value = a.read_unaligned();
                for i in 0..n {
                    o.add(i).write_unaligned(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{each, runs};
    use super::*;

    /// `2 x - y + z` of all elements, each operand from its first one on.
    fn combined<T: Copy + Sync + Default>(
        f: fn([T; 3]) -> T,
        sizes: &[usize],
        inputs: [&[T]; 3],
        strides: [&[isize]; 3],
        out: &[isize],
    ) -> Vec<T> {
        let mut o = vec![T::default(); sizes.iter().product()];
        // SAFETY: (1) each operand has the places of its strides; (2) the output is apart; (3) it is a permutation.
        unsafe {
            let inputs = std::array::from_fn(|k| Operand::input(inputs[k].as_ptr(), strides[k]));
            runs(&|xs, o| each(xs, o, f), sizes, inputs, Operand::output(o.as_mut_ptr(), out));
        }
        o
    }

    /// Rows of the output that are columns of an input, beside rows, broadcast rows and broadcast columns.
    #[test]
    fn columns_of_inputs_are_read_in_squares() {
        fn check<T: Copy + Sync + Default + PartialEq + std::fmt::Debug>(of: fn(usize) -> T, f: fn([T; 3]) -> T) {
            for (rows, n) in [(16, 64), (17, 65), (40, 130), (33, 15), (15, 33), (16, 1025), (300, 300), (2, 3)] {
                let (r, c) = (rows as isize, n as isize);
                let x: Vec<T> = (0..2 * rows * n).map(of).collect();
                let layouts = [[1, r], [c, 1], [0, 1], [1, 0], [0, 0], [2, 2 * r], [1, r + 1]];
                for (i, a) in layouts.iter().enumerate() {
                    let (b, d) = (&layouts[(i + 1) % layouts.len()], &layouts[(i + 3) % layouts.len()]);
                    let got = combined(f, &[rows, n], [&x; 3], [a, b, d], &[c, 1]);
                    let at = |s: &[isize; 2], i: usize, j: usize| x[(i as isize * s[0] + j as isize * s[1]) as usize];
                    for i in 0..rows {
                        for j in 0..n {
                            let want = f([a, b, d].map(|s| at(s, i, j)));
                            assert_eq!(got[i * n + j], want, "{rows} x {n}, {a:?} {b:?} {d:?} at {i}, {j}");
                        }
                    }
                }
            }
        }
        check::<f32>(|i| i as f32, |[x, y, z]| 2.0 * x - y + z);
        check::<f64>(|i| i as f64, |[x, y, z]| 2.0 * x - y + z);
        check::<u8>(|i| i as u8, |[x, y, z]| x.wrapping_mul(2).wrapping_sub(y).wrapping_add(z));
        check::<[f64; 2]>(|i| [i as f64, 1.0], |[x, y, z]| [2.0 * x[0] - y[0] + z[0], x[1] + y[1] + z[1]]);
    }

    #[test]
    fn columns_are_read_for_an_output_that_is_an_input() {
        let (rows, n) = (50, 70);
        let x: Vec<f64> = (0..rows * n).map(|i| i as f64).collect();
        let mut o: Vec<f64> = x.iter().map(|x| x * 0.5).collect();
        let before = o.clone();
        let p = o.as_mut_ptr();
        // SAFETY: (1) all elements; (2) the output is the first input; (3) it is contiguous.
        unsafe {
            let f = |v: [&[f64]; 2], o: &mut [MaybeUninit<f64>]| each(v, o, |[x, y]| x - y);
            let (lines, columns) = ([n as isize, 1], [1, rows as isize]);
            let inputs = [Operand::input(p.cast_const(), &lines), Operand::input(x.as_ptr(), &columns)];
            runs(&f, &[rows, n], inputs, Operand::output(p, &lines));
        }
        for (i, got) in o.iter().enumerate() {
            assert_eq!(*got, before[i] - x[i / n + rows * (i % n)]);
        }
    }
}
