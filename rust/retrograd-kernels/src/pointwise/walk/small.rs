//! Tiles of few elements, such as rows of three beside an axis of five: as many as a piece holds are computed at once.
//! To begin with one takes as long as some hundred elements.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use super::super::copy::copy_tiles;
use super::super::halves;
use super::{Element, Piece, Pieces};
use crate::strided::{Axes, Axis, Offsets, axis};
use crate::thresholds::pointwise::PIECE_BYTES;

/// Pieces that hold fewer tiles are not worth their copies.
const TILES: usize = 8;

/// Sizes of three axes and strides in bytes, both from the inner to the outer one.
pub(super) type Block = ([usize; 3], [isize; 3]);

/// How many tiles of the two inner axes a piece holds, if they are small.
pub(super) fn together<const N: usize>(axes: &Axes<N>, elements: &[Element; N]) -> Option<usize> {
    let tile = axis(axes, 0).size * axis(axes, 1).size;
    let most = PIECE_BYTES / elements.iter().map(|x| x.held()).max().unwrap_or(1);
    (axes.len() > 2 && tile > 0 && most / tile >= TILES).then(|| most / tile)
}

/// The walk over `axes`, `depth` tiles at a time.
///
/// # Safety
/// 1-3. As [`walk`](super::walk), for the positions of `axes`. 4. A piece holds so many tiles.
pub(super) unsafe fn walk_small<const N: usize>(
    body: &dyn Pieces,
    axes: &Axes<N>,
    elements: [Element; N],
    starts: [*mut u8; N],
    depth: usize,
) {
    let inner: [Axis<N>; 3] = std::array::from_fn(|i| axis(axes, i));
    let [x, y, z] = inner.map(|axis| axis.size);
    let s: [[isize; 3]; N] = std::array::from_fn(|k| inner.map(|x| x.strides[k] * elements[k].width as isize));
    let mut pieces: [Piece; N] = [const { Piece([MaybeUninit::uninit(); PIECE_BYTES]) }; N];
    // Where the elements in each come from: what a block before it loaded is there.
    let mut held: [*mut u8; N] = [null_mut(); N];
    for offsets in Offsets::new(axes.get(3..).unwrap_or(&[])) {
        for first in (0..z).step_by(depth) {
            let n = [x, y, depth.min(z - first)];
            let count = x * y * n[2];
            // SAFETY: duty 1: a position of the axes.
            let at: [*mut u8; N] = std::array::from_fn(|k| unsafe {
                starts[k].offset(offsets[k] * elements[k].width as isize + first as isize * s[k][2])
            });
            let mut q = [null_mut(); N];
            for k in 0..N {
                // An input behind the first that is the output is read from a copy.
                let copied = k > 1 && at[k] == at[0] && elements[k].width == elements[0].width;
                if elements[k].half.is_none() && !copied && is_dense((n, s[k]), elements[k].width) {
                    q[k] = at[k];
                    continue;
                }
                q[k] = pieces[k].0.as_mut_ptr().cast();
                if k > 0 && held[k] != at[k] {
                    // SAFETY: (1) ours; (2) a piece has space for the block.
                    unsafe { load(elements[k], (n, s[k]), at[k], q[k]) };
                    held[k] = at[k];
                }
            }
            // SAFETY: (1) elements of the block or of pieces; (2) the output is a piece or disjoint by duty 2 from
            // inputs that are not copied, unless the first input is it.
            unsafe { body.run(count, &q) };
            if q[0] != at[0] {
                // SAFETY: (1) the body wrote them; (2) ours.
                unsafe { store(elements[0], (n, s[0]), q[0], at[0]) };
            }
        }
    }
}

/// Whether elements of `width` bytes follow one another.
fn is_dense((n, s): Block, width: usize) -> bool {
    let mut next = width;
    n.iter().zip(s).all(|(&n, s)| {
        let follows = n == 1 || s == next as isize;
        next *= n;
        follows
    })
}

/// The strides of elements of `width` bytes that follow one another.
fn dense([x, y, _]: [usize; 3], width: usize) -> [isize; 3] {
    [width, x * width, x * y * width].map(|s| s as isize)
}

/// Copies a block to a piece as the body takes it.
///
/// # Safety
/// 1. `a` is readable at its positions. 2. `o` has space for as many elements one after the other, and is disjoint.
pub(super) unsafe fn load(element: Element, (n, s): Block, a: *const u8, o: *mut u8) {
    let width = element.width;
    let Some(half) = element.half else {
        // SAFETY: (1, 2) ours.
        return unsafe { copy_tiles(width, n, [dense(n, width), s], a, o) };
    };
    let mut packed = Piece([MaybeUninit::uninit(); PIECE_BYTES]);
    let p = packed.0.as_mut_ptr().cast::<u8>();
    // SAFETY: copy_tiles: (1) ours; (2) halves take half of a piece. widen: (1) just written, or ours; (2) ours.
    unsafe {
        let from = if is_dense((n, s), width) {
            a
        } else {
            copy_tiles(width, n, [dense(n, width), s], a, p);
            p.cast_const()
        };
        halves::widen(half, n.iter().product(), from.cast(), o.cast());
    }
}

/// Copies a block from a piece to memory.
///
/// # Safety
/// 1. `a` is readable for its elements, one after the other. 2. `o` is writable at its positions, and disjoint.
pub(super) unsafe fn store(element: Element, (n, s): Block, a: *const u8, o: *mut u8) {
    let width = element.width;
    let Some(half) = element.half else {
        // SAFETY: (1, 2) ours.
        return unsafe { copy_tiles(width, n, [s, dense(n, width)], a, o) };
    };
    let mut packed = Piece([MaybeUninit::uninit(); PIECE_BYTES]);
    let p = packed.0.as_mut_ptr().cast::<u8>();
    // SAFETY: narrow: (1) ours; (2) ours, or halves take half of a piece. copy_tiles: (1) just written; (2) ours.
    unsafe {
        let is_dense = is_dense((n, s), width);
        halves::narrow(half, n.iter().product(), a.cast(), if is_dense { o } else { p }.cast());
        if !is_dense {
            copy_tiles(width, n, [s, dense(n, width)], p, o);
        }
    }
}
