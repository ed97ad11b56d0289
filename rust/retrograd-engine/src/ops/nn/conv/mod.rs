//! Convolutions, and windows of images side by side.
//!
//! `arguments` checks what the user gave, `convolution` and `weight` are the two ops that all of them, and their
//! derivatives of any order, consist of; `entries` has the names. `windows` has `unfold` and `fold`.

pub mod arguments;
pub mod convolution;
pub mod entries;
pub mod tbc;
#[cfg(test)]
mod tests;
pub mod weight;
pub mod windows;

pub use entries::{
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv1d_named, conv2d, conv2d_named, conv3d,
    conv3d_named, convolution,
};
pub use windows::{fold, unfold};

use crate::ops::Entry;

/// Entries of convolutions.
pub static ROSTER: &[&Entry] = &[
    &entries::CONV1D,
    &entries::CONV1D_NAMED,
    &entries::CONV2D,
    &entries::CONV2D_NAMED,
    &entries::CONV3D,
    &entries::CONV3D_NAMED,
    &entries::CONV_TRANSPOSE1D,
    &entries::CONV_TRANSPOSE2D,
    &entries::CONV_TRANSPOSE3D,
    &entries::TOP_CONV1D,
    &entries::TOP_CONV1D_NAMED,
    &entries::TOP_CONV2D,
    &entries::TOP_CONV2D_NAMED,
    &entries::TOP_CONV3D,
    &entries::TOP_CONV3D_NAMED,
    &entries::TOP_CONV_TRANSPOSE1D,
    &entries::TOP_CONV_TRANSPOSE2D,
    &entries::TOP_CONV_TRANSPOSE3D,
    &entries::CONVOLUTION,
    &tbc::CONV_TBC,
    &windows::UNFOLD,
    &windows::FOLD,
];
