//! Windows of an image side by side (`unfold`), and their sum back into the image (`fold`).

use super::ConvAxis;
use crate::real::Ring;

/// Images (rows of the plane `axes[0]` x `axes[1]`), and windows at its positions: one row of positions for each image
/// and tap.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub images: usize,
    pub axes: [ConvAxis; 2],
}

impl Window {
    /// Calls `f` for each row of positions, in steps of one row of the large side: its place among the windows, and
    /// where the first one is in the images, maybe outside, if the row is inside.
    fn rows(&self, mut f: impl FnMut(usize, Option<usize>, isize)) {
        let [h, w] = &self.axes;
        let mut at = 0;
        for (image, i) in (0..self.images).flat_map(|n| (0..h.kernel).map(move |i| (n, i))) {
            for j in 0..w.kernel {
                let first = (j * w.dilation) as isize - w.pad;
                for o in 0..h.small {
                    let y = (o * h.stride + i * h.dilation) as isize - h.pad;
                    let inside = y >= 0 && (y as usize) < h.large;
                    f(at, inside.then(|| (image * h.large + y as usize) * w.large), first);
                    at += w.small;
                }
            }
        }
    }
}

/// Writes the windows; zeros where they reach outside.
///
/// # Safety
/// `x` is readable for the images, `y` writable for the windows; they do not overlap.
pub unsafe fn unfold<T: Ring>(s: &Window, x: *const T, y: *mut T) {
    let w = &s.axes[1];
    s.rows(|at, row, first| {
        for k in 0..w.small {
            let column = first + (k * w.stride) as isize;
            let inside = column >= 0 && (column as usize) < w.large;
            // SAFETY: our duty; what is read is inside its row.
            unsafe {
                *y.add(at + k) = match row {
                    Some(row) if inside => *x.add(row + column as usize),
                    _ => T::ZERO,
                };
            }
        }
    });
}

/// Adds up the windows, in memory order.
///
/// # Safety
/// `y` is readable for the windows, `x` writable for the images, and holds what the sums start from; they do not
/// overlap.
pub unsafe fn fold<T: Ring>(s: &Window, y: *const T, x: *mut T) {
    let w = &s.axes[1];
    s.rows(|at, row, first| {
        let Some(row) = row else { return };
        for k in 0..w.small {
            let column = first + (k * w.stride) as isize;
            if column >= 0 && (column as usize) < w.large {
                // SAFETY: our duty; what is written is inside its row.
                unsafe {
                    let to = x.add(row + column as usize);
                    *to = (*to).add(*y.add(at + k));
                }
            }
        }
    });
}
