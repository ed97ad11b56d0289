//! Short lines of many blocks, side by side.

use crate::kernels::pointwise::copy_strided;
use crate::kernels::real::Real;
use crate::kernels::thresholds::reduce::TURNED;

/// Blocks that are worth being copied.
const FEWEST_BLOCKS: usize = 16;
/// Lines of a block that are long rows of neighbours as they lie.
const BESIDE_EACH_OTHER: usize = 64;

/// Whether blocks of `n` times `after` elements are so short that [`side_by_side`] is worth it for passes that are as
/// fast along longer ones: along rows, and along columns, which are neighbours already.
pub fn are_short([_, n, after]: [usize; 3]) -> bool {
    n * after <= if after == 1 { 16 } else { 512 }
}

/// Some of many blocks of `n` times `after` elements, the lines along `n` of which are copied side by side.
#[derive(Clone, Copy)]
pub struct Beside {
    pub blocks: usize,
    pub n: usize,
    pub after: usize,
}

impl Beside {
    /// As many as the cache holds, if there are so many that copies are worth it.
    pub fn of(blocks: usize, [n, after]: [usize; 2]) -> Option<Self> {
        let many = blocks >= FEWEST_BLOCKS && n * after > 0 && after < BESIDE_EACH_OTHER;
        many.then(|| Self { blocks: (TURNED / 4 / (n * after)).max(FEWEST_BLOCKS).min(blocks), n, after })
    }
    pub fn count(self) -> usize {
        self.blocks * self.n * self.after
    }
    /// The lines in a row for each place along `n`.
    pub fn lines(self) -> usize {
        self.blocks * self.after
    }
    /// Sizes along `n`, of blocks and within them, and the strides as they lie and side by side.
    fn layouts(self) -> ([usize; 3], [[isize; 3]; 2]) {
        let Self { blocks, n, after } = self;
        let strides = [[after, n * after, 1], [blocks * after, after, 1]];
        ([n, blocks, after], strides.map(|s| s.map(|s| s as isize)))
    }
    /// Copies the blocks of `x` so that their lines are side by side.
    pub fn gather<T: Copy>(self, x: &[T], to: &mut [T]) {
        let (sizes, [whole, beside]) = self.layouts();
        let (x, to) = (&x[..self.count()], &mut to[..self.count()]);
        // SAFETY: (1) all elements of the blocks, on both sides; (2, 3) other memory, a place for each.
        unsafe { copy_strided(&sizes, x.as_ptr(), &whole, to.as_mut_ptr(), &beside) };
    }
    /// The way back.
    pub fn scatter<T: Copy>(self, x: &[T], to: &mut [T]) {
        let (sizes, [whole, beside]) = self.layouts();
        let (x, to) = (&x[..self.count()], &mut to[..self.count()]);
        // SAFETY: as in `gather`.
        unsafe { copy_strided(&sizes, x.as_ptr(), &beside, to.as_mut_ptr(), &whole) };
    }
}

/// Calls `work` for operands over `(before, n, after)` and for these sizes: as they are, or, where blocks are many and
/// that is `worth` it, for copies of some blocks at a time, with all their lines side by side. What is computed along
/// `n` is to be the same wherever a line is.
pub fn side_by_side<T: Real, const N: usize>(
    xs: [&[T]; N],
    o: &mut [T],
    block @ [_, n, after]: [usize; 3],
    worth: bool,
    work: impl Fn([&[T]; N], &mut [T], [usize; 3]),
) {
    let each = n * after;
    let Some(most) = Beside::of(o.len().checked_div(each).unwrap_or(0), [n, after]).filter(|_| worth) else {
        return work(xs, o, block);
    };
    let mut lines = [(); N].map(|()| vec![T::ZERO; most.count()]);
    let mut results = vec![T::ZERO; most.count()];
    for (i, o) in o.chunks_mut(most.count()).enumerate() {
        let (start, some) = (i * most.count(), Beside { blocks: o.len() / each, ..most });
        for (lines, x) in lines.iter_mut().zip(xs) {
            some.gather(&x[start..], lines);
        }
        work(lines.each_ref().map(|lines| &lines[..o.len()]), &mut results[..o.len()], [1, n, some.lines()]);
        some.scatter(&results, o);
    }
}
