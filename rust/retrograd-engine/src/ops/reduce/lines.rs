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
    let blocks = o.len().checked_div(each).unwrap_or(0);
    if !worth || blocks < FEWEST_BLOCKS || after >= BESIDE_EACH_OTHER {
        return work(xs, o, block);
    }
    let most = (TURNED / 4 / each).max(FEWEST_BLOCKS).min(blocks);
    let mut lines = [(); N].map(|()| vec![T::ZERO; most * each]);
    let mut results = vec![T::ZERO; most * each];
    for start in (0..blocks).step_by(most) {
        let here = most.min(blocks - start);
        let part = start * each..(start + here) * each;
        // A row of all lines for each place along `n`.
        let sizes = [n, here, after];
        let [whole, beside] = [[after, each, 1], [here * after, after, 1]].map(|s| s.map(|s| s as isize));
        let count = part.len();
        for (lines, x) in lines.iter_mut().zip(xs) {
            // SAFETY: (1) the elements of `here` blocks, on both sides; (2, 3) other memory, a place for each.
            unsafe { copy_strided(&sizes, x[part.clone()].as_ptr(), &whole, lines[..count].as_mut_ptr(), &beside) };
        }
        work(lines.each_ref().map(|lines| &lines[..count]), &mut results[..count], [1, n, here * after]);
        // SAFETY: as above.
        unsafe { copy_strided(&sizes, results[..count].as_ptr(), &beside, o[part].as_mut_ptr(), &whole) };
    }
}
