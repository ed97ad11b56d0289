//! Ops on planes of elements: padding, resampling, sampling at points, and exchanges between channels and positions.

pub mod grid;
pub mod grid_composed;
pub mod interpolate;
pub mod pad;
pub mod separable;
pub mod shuffle;
#[cfg(test)]
mod tests;

pub use pad::{constant_pad_nd, pad};

use crate::ops::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &pad::PAD,
    &pad::CONSTANT_PAD_ND,
    &shuffle::PIXEL_SHUFFLE,
    &shuffle::TOP_PIXEL_SHUFFLE,
    &shuffle::PIXEL_UNSHUFFLE,
    &shuffle::TOP_PIXEL_UNSHUFFLE,
    &shuffle::CHANNEL_SHUFFLE,
    &shuffle::TOP_CHANNEL_SHUFFLE,
    &interpolate::INTERPOLATE,
    &interpolate::UPSAMPLE,
    &interpolate::UPSAMPLE_NEAREST,
    &interpolate::UPSAMPLE_BILINEAR,
    &grid::GRID_SAMPLE,
    &grid::GRID_SAMPLER,
    &grid::GRID_SAMPLER_2D,
    &grid::GRID_SAMPLER_3D,
    &grid::AFFINE_GRID,
    &grid::AFFINE_GRID_GENERATOR,
];
