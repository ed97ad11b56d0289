//! Convolutions over up to three axes: the values, and the two adjoints that derivatives are made of.
//!
//! All of them go over the same triples of an element of the large side, `x`, one of the small side, `y`, and one of
//! the weight between: along each axis `i = o * stride - pad + k * dilation`. [`forward`] sums into the small side,
//! [`transposed`] into the large one, [`weight_grad`] into the weight. Convolutions over one or two axes get leading
//! axes of one element.
//!
//! Nothing is unrolled into a matrix of patches. An image is copied once, with its zeros, into a buffer where elements
//! at the distance of the stride are neighbours (`grid`); from it the panels of the matrix product are written when the
//! product needs them (`im2col`), or, where the product would have few rows, sums are taken directly (`direct`), as
//! those of the weight's gradient always are.
//! `transposed` is one `forward` for each residue of the stride. The order of the terms of a sum depends on the shapes
//! and the CPU alone.

mod direct;
mod forward;
mod grid;
mod im2col;
mod naive;
#[cfg(test)]
mod tests;
mod transposed;
mod weight_grad;
mod windows;

pub use forward::{forward, forward_scratch};
pub use naive::{naive_transposed, plain_gather};
pub use transposed::{transposed, transposed_scratch};
pub use weight_grad::{weight_grad, weight_grad_scratch};
pub use windows::{Window, fold, unfold};

use super::matmul::{GemmScalar, Vectors};

/// An element type with convolutions: `f32` and `f64`.
#[expect(private_bounds, reason = "the vectors are nobody else's")]
pub trait ConvScalar: Vectors + GemmScalar {}
impl<T: Vectors + GemmScalar> ConvScalar for T {}

/// One axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvAxis {
    /// Elements of the large side.
    pub large: usize,
    /// Elements of the small side.
    pub small: usize,
    /// Elements of the weight, not 0.
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    /// Zeros in front of the large side; if negative, elements of it that are skipped.
    pub pad: isize,
}

impl ConvAxis {
    /// An axis that is not there.
    pub const NONE: Self = Self { large: 1, small: 1, kernel: 1, stride: 1, dilation: 1, pad: 0 };
}

/// Extents of a convolution. Memory is row-major throughout: the large side (batch, groups, large, axes), the small
/// side (batch, groups, small, axes), the weight (groups, small, large, axes).
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub batch: usize,
    pub groups: usize,
    /// Channels of the large side in a group.
    pub large: usize,
    /// Channels of the small side in a group.
    pub small: usize,
    pub axes: [ConvAxis; 3],
}

impl Shape {
    /// How many products are summed in all.
    pub fn terms(&self) -> f64 {
        let channels = self.batch as f64 * self.groups as f64 * self.large as f64 * self.small as f64;
        channels * self.small_len() as f64 * self.taps() as f64
    }
    fn large_len(&self) -> usize {
        self.axes.iter().map(|a| a.large).product()
    }
    fn small_len(&self) -> usize {
        self.axes.iter().map(|a| a.small).product()
    }
    fn taps(&self) -> usize {
        self.axes.iter().map(|a| a.kernel).product()
    }
}

/// Whether the large side is, element for element, the matrix of patches.
fn is_product(axes: &[ConvAxis; 3]) -> bool {
    axes.iter().all(|a| a.kernel == 1 && a.stride == 1 && a.pad == 0 && a.large == a.small)
}

/// The numbers below the extents, the last one fastest.
fn each(extents: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [d, h, w] = extents;
    (0..d).flat_map(move |i| (0..h).flat_map(move |j| (0..w).map(move |k| [i, j, k])))
}
