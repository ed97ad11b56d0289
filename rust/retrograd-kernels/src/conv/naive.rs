//! Integers: plain loops, wrapping on overflow. They have no gradients, and are rarely convolved.

use super::{Shape, each};

/// Where tap `k` at position `o` meets the large side, if it is inside.
fn meets(s: &Shape, o: [usize; 3], k: [usize; 3]) -> Option<usize> {
    let mut at = 0;
    for i in 0..3 {
        let a = &s.axes[i];
        let coordinate = (o[i] * a.stride + k[i] * a.dilation) as isize - a.pad;
        if coordinate < 0 || coordinate as usize >= a.large {
            return None;
        }
        at = at * a.large + coordinate as usize;
    }
    Some(at)
}

/// Calls `f` with the places in `x`, `w` and `y` of every product, those of one element of `y` after the other, and
/// those of one element of `x` in the order of positions.
pub(super) fn products(s: &Shape, mut f: impl FnMut(usize, usize, usize)) {
    let (positions, kernel) = (s.axes.map(|a| a.small), s.axes.map(|a| a.kernel));
    let (large, small, taps) = (s.large_len(), s.small_len(), s.taps());
    for at in 0..s.batch * s.groups {
        for (row, column) in (0..s.small).flat_map(|r| (0..s.large).map(move |c| (r, c))) {
            let weights = ((at % s.groups * s.small + row) * s.large + column) * taps;
            for (p, o) in each(positions).enumerate() {
                for (tap, k) in each(kernel).enumerate() {
                    if let Some(i) = meets(s, o, k) {
                        f((at * s.large + column) * large + i, weights + tap, (at * s.small + row) * small + p);
                    }
                }
            }
        }
    }
}

/// As [`super::forward`], onto `y`, which holds what the sums start from.
pub fn plain_gather(s: &Shape, x: &[i64], w: &[i64], y: &mut [i64]) {
    products(s, |i, k, o| y[o] = y[o].wrapping_add(x[i].wrapping_mul(w[k])));
}

/// As [`super::transposed`], onto `x`, which holds what the sums start from.
pub fn naive_transposed(s: &Shape, y: &[i64], w: &[i64], x: &mut [i64]) {
    products(s, |i, k, o| x[i] = x[i].wrapping_add(y[o].wrapping_mul(w[k])));
}
