//! The matrix of patches, in pieces: the panels of the matrix product, read from padded copies.

use super::grid::{Grid, SLACK};
use crate::matmul::{Panels, Routine, Simd, Vectors};
use crate::parallel::SharedPtr;

/// Positions that are neighbours in the copy.
#[derive(Clone, Copy, Default)]
pub(super) struct Run {
    /// Where they are in the copy, for a tap of offset 0.
    pub src: usize,
    /// The index of the first one among the requested positions.
    pub at: usize,
    pub len: usize,
}

/// Goes through the positions of several images run by run.
pub(super) struct Runs {
    extents: [usize; 3],
    units: [usize; 3],
    image: usize,
    /// Image and coordinates of the next position.
    next: [usize; 4],
    at: usize,
    left: usize,
}

impl Runs {
    /// The runs of `count` positions from `first` on.
    pub(super) fn new(grid: &Grid, first: usize, count: usize) -> Self {
        let extents @ [d, h, w] = grid.extents();
        let row = first / w;
        let next = [row / h / d, row / h % d, row % h, first % w];
        Self { extents, units: grid.units, image: grid.image(), next, at: 0, left: count }
    }
}

impl Iterator for Runs {
    type Item = Run;
    fn next(&mut self) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let [n, d, h, w] = self.next;
        let len = (self.extents[2] - w).min(self.left);
        let run = Run { src: n * self.image + d * self.units[0] + h * self.units[1] + w, at: self.at, len };
        self.at += len;
        self.left -= len;
        self.next = if h + 1 < self.extents[1] {
            [n, d, h + 1, 0]
        } else if d + 1 < self.extents[0] {
            [n, d + 1, 0, 0]
        } else {
            [n + 1, 0, 0, 0]
        };
        Some(run)
    }
}

/// The matrix of patches, of one row per channel and tap and one column per position.
///
/// Duties: `copy` is the padded copy of the images, of layout `grid`, and readable for [`SLACK`] more elements;
/// `offsets` are those of the grid.
pub(super) struct Patches<'a, T> {
    pub grid: &'a Grid,
    pub offsets: &'a [usize],
    pub copy: SharedPtr<T>,
}

/// The most columns of a panel.
const WIDTH: usize = 2 * SLACK;

impl<T: Vectors> Panels<T> for Patches<'_, T> {
    unsafe fn fill(&self, p0: usize, k: usize, j0: usize, columns: usize, dst: *mut T, width: usize) {
        let mut runs = [Run::default(); WIDTH];
        let mut count = 0;
        for run in Runs::new(self.grid, j0, columns) {
            runs[count] = run;
            count += 1;
        }
        let fill = Fill {
            runs: &runs[..count],
            offsets: &self.offsets[p0..p0 + k],
            copy: self.copy.get().cast_const(),
            dst,
            width,
        };
        // SAFETY: our duties, and those of the type.
        unsafe { T::call(&fill) }
    }
}

/// Duties: those of [`Panels::fill`] and [`Patches`], `runs` being those of the columns.
struct Fill<'a, T> {
    runs: &'a [Run],
    offsets: &'a [usize],
    copy: *const T,
    dst: *mut T,
    width: usize,
}

/// What a vector of a row takes from one run: lanes `from ..`, lane `i` from `at + i`.
#[derive(Clone, Copy)]
struct Piece {
    at: isize,
    from: usize,
}

impl<T: Vectors> Routine for Fill<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        // SAFETY: our duties.
        unsafe {
            if self.width == V::LEN {
                self.rows::<V, 1>();
            } else {
                self.rows::<V, 2>();
            }
        }
    }
}

impl<T: Vectors> Fill<'_, T> {
    /// Rows of `C` vectors.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; `width` is `C` vectors.
    #[inline(always)]
    unsafe fn rows<V: Simd<Elem = T>, const C: usize>(&self) {
        let none = Piece { at: 0, from: V::LEN };
        let mut pieces = [[none; SLACK]; C];
        let mut counts = [0; C];
        for run in self.runs {
            for (j, (pieces, count)) in pieces.iter_mut().zip(&mut counts).enumerate() {
                let start = j * V::LEN;
                if run.at < start + V::LEN && run.at + run.len > start {
                    let at = run.src as isize + start as isize - run.at as isize;
                    pieces[*count] = Piece { at, from: run.at.saturating_sub(start) };
                    *count += 1;
                }
            }
        }
        let mut dst = self.dst;
        // SAFETY: a run is inside the copy whatever the tap. The first piece of a vector is read whole, at most the
        // slack past its run; of the others, lanes that are in their run or, past it, in what follows. Whole vectors
        // are written.
        unsafe {
            if counts.iter().all(|&count| count <= 2) {
                let firsts: [isize; C] = std::array::from_fn(|j| pieces[j][0].at);
                let seconds: [Piece; C] = std::array::from_fn(|j| pieces[j][1]);
                for &offset in self.offsets {
                    let src = self.copy.add(offset);
                    for j in 0..C {
                        let mut v = V::load(src.offset(firsts[j]));
                        if seconds[j].from < V::LEN {
                            v = v.merge(src.wrapping_offset(seconds[j].at), seconds[j].from);
                        }
                        v.store(dst.add(j * V::LEN));
                    }
                    dst = dst.add(self.width);
                }
                return;
            }
            for &offset in self.offsets {
                let src = self.copy.add(offset);
                for j in 0..C {
                    let mut v = V::load(src.offset(pieces[j][0].at));
                    for piece in &pieces[j][1..counts[j]] {
                        v = v.merge(src.wrapping_offset(piece.at), piece.from);
                    }
                    v.store(dst.add(j * V::LEN));
                }
                dst = dst.add(self.width);
            }
        }
    }
}
