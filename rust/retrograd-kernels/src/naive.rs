//! The plain reference that the tests of kernels compare with: `ndarray`, which does not use the plans in
//! [`crate::strided`].

use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, ShapeBuilder};

/// The elements of `buffer` under these sizes and strides, which may be 0 or negative, with index 0 at `start`.
pub fn array<'a, T>(buffer: &'a [T], start: usize, sizes: &[usize], strides: &[isize]) -> ArrayViewD<'a, T> {
    if sizes.contains(&0) {
        return ArrayViewD::from_shape(sizes, &[]).unwrap();
    }
    let reach = |sign: isize| -> usize {
        let steps = sizes.iter().zip(strides).filter(|(_, s)| s.signum() == sign);
        steps.map(|(n, s)| (n - 1) * s.unsigned_abs()).sum()
    };
    let (before, after) = (reach(-1), reach(1));
    assert!(before <= start && start + after < buffer.len(), "{sizes:?} {strides:?} from {start} in {}", buffer.len());
    let ahead: Vec<usize> = strides.iter().map(|s| s.unsigned_abs()).collect();
    // SAFETY: all elements lie in `buffer`, as was asserted, which the view borrows.
    let mut array =
        unsafe { ArrayViewD::from_shape_ptr(IxDyn(sizes).strides(IxDyn(&ahead)), &raw const buffer[start - before]) };
    for (axis, _) in strides.iter().enumerate().filter(|(_, s)| **s < 0) {
        array.invert_axis(Axis(axis));
    }
    array
}

/// Where the elements are, in row-major order.
pub fn positions(sizes: &[usize], strides: &[isize], start: usize) -> Vec<usize> {
    let reach: usize = sizes.iter().zip(strides).map(|(n, s)| n.saturating_sub(1) * s.unsigned_abs()).sum();
    let all: Vec<usize> = (0..=start + reach).collect();
    array(&all, start, sizes, strides).iter().copied().collect()
}

/// The elements of each index along the first `lead` axes, in row-major order: a row for each.
pub fn rows<T: Copy>(array: ArrayViewD<'_, T>, lead: usize) -> Vec<Vec<T>> {
    let (kept, reduced) = array.shape().split_at(lead);
    let (m, n): (usize, usize) = (kept.iter().product(), reduced.iter().product());
    let flat: Vec<T> = array.iter().copied().collect();
    ArrayD::from_shape_vec(IxDyn(&[m, n]), flat)
        .unwrap()
        .outer_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}
