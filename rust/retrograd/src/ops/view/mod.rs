//! Views, and the ops that only rearrange: other layouts over the same memory, and joins and reversals of it.

mod arrange;
mod axes;
mod diag;
mod expand;
mod fill;
mod flip;
mod join;
pub(crate) mod look;
mod parts;
mod patch;
mod repeat;
mod roll;
mod shape;
mod slice;
mod split;
pub(crate) mod strided;
mod unfold;

pub use arrange::{atleast_1d, atleast_2d, atleast_3d, block_diag, column_stack, dstack, hstack, meshgrid, vstack};
pub use axes::{movedim, permute, squeeze_all, squeeze_dim, squeeze_dims, t, transpose, unsqueeze};
pub use expand::{broadcast_tensors, broadcast_to, expand, expand_to};
pub use flip::flip;
pub use join::{cat, stack};
pub use shape::{contiguous, flatten, reshape, reshape_to, unflatten};
pub use slice::{diagonal, narrow, select};
pub use split::{chunk, split, split_with_sizes, unbind};
pub use strided::as_strided;

pub(crate) use expand::refused_expand;
pub(crate) use look::{along_axis, batch_first, is_watched, with_batch};
pub(crate) use shape::{alias, view_to};
pub(crate) use slice::select_at;

use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &strided::AS_STRIDED,
    &expand::EXPAND,
    &expand::EXPAND_AS,
    &expand::BROADCAST_TO,
    &shape::VIEW_SIZES,
    &shape::VIEW_DTYPE,
    &shape::VIEW_LIKE,
    &shape::RESHAPE,
    &shape::RESHAPE_AS,
    &shape::FLATTEN,
    &shape::UNFLATTEN,
    &shape::RAVEL,
    &shape::CONTIGUOUS,
    &axes::TRANSPOSE,
    &axes::SWAPAXES,
    &axes::T,
    &axes::PERMUTE,
    &axes::MOVEDIM,
    &axes::SQUEEZE_ALL,
    &axes::SQUEEZE_DIM,
    &axes::SQUEEZE_DIMS,
    &axes::UNSQUEEZE,
    &slice::SELECT,
    &slice::NARROW,
    &slice::NARROW_TENSOR,
    &slice::DIAGONAL,
    &split::UNBIND,
    &split::SPLIT,
    &split::SPLIT_SECTIONS,
    &split::SPLIT_METHOD,
    &split::SPLIT_SECTIONS_METHOD,
    &split::SPLIT_WITH_SIZES,
    &split::CHUNK,
    &split::UNSAFE_SPLIT,
    &split::UNSAFE_SPLIT_WITH_SIZES,
    &split::UNSAFE_CHUNK,
    &join::CAT,
    &join::STACK,
    &flip::FLIP,
    &diag::DIAG,
    &diag::DIAGFLAT,
    &diag::DIAG_EMBED,
    &diag::TRACE,
    &patch::SELECT_SCATTER,
    &patch::SLICE_SCATTER,
    &patch::DIAGONAL_SCATTER,
    &repeat::REPEAT,
    &repeat::TILE,
    &repeat::REPEAT_INTERLEAVE,
    &repeat::REPEAT_EACH,
    &repeat::REPEATED_INDICES,
    &roll::ROLL,
    &roll::ROT90,
    &roll::FLIPLR,
    &roll::FLIPUD,
    &arrange::ATLEAST_1D,
    &arrange::ALL_ATLEAST_1D,
    &arrange::ATLEAST_2D,
    &arrange::ALL_ATLEAST_2D,
    &arrange::ATLEAST_3D,
    &arrange::ALL_ATLEAST_3D,
    &arrange::HSTACK,
    &arrange::VSTACK,
    &arrange::DSTACK,
    &arrange::COLUMN_STACK,
    &arrange::BLOCK_DIAG,
    &arrange::MESHGRID,
    &arrange::BROADCAST_ALL,
    &parts::TENSOR_SPLIT_AS,
    &parts::TENSOR_SPLIT_EVEN,
    &parts::TENSOR_SPLIT,
    &parts::HSPLIT_EVEN,
    &parts::HSPLIT,
    &parts::VSPLIT_EVEN,
    &parts::VSPLIT,
    &parts::DSPLIT_EVEN,
    &parts::DSPLIT,
    &unfold::UNFOLD,
    &fill::FILL_DIAGONAL,
];
