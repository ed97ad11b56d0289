//! Views, and the ops that only rearrange: other layouts over the same memory, and joins and reversals of it.

pub mod axes;
pub mod complex;
pub mod copies;
pub mod diag;
pub mod expand;
pub mod fill_diagonal;
pub mod flip;
pub mod join;
pub mod repeat;
pub mod roll;
pub mod scatter_views;
pub mod shape;
pub mod slice;
pub mod split;
pub mod split_variants;
pub mod stack;
pub mod strided;
pub mod strided_scatter;
pub mod unfold;
pub(crate) mod view_op;

pub use axes::{movedim, permute, squeeze_all, squeeze_dim, squeeze_dims, t, transpose, unsqueeze};
pub use complex::{conj, imag, real, view_as_complex, view_as_real};
pub use expand::{broadcast_tensors, broadcast_to, expand, expand_to};
pub use flip::flip;
pub use join::{cat, stack};
pub use roll::roll;
pub use shape::{contiguous, flatten, reshape, reshape_to, unflatten};
pub use slice::{diagonal, narrow, select};
pub use split::{chunk, split, split_with_sizes, unbind};
pub use stack::{atleast_1d, atleast_2d, atleast_3d, block_diag, column_stack, dstack, hstack, meshgrid, vstack};
pub use strided::as_strided;
pub use unfold::unfold;

pub(crate) use expand::refused_expand;
pub(crate) use shape::{alias, view_to};
pub(crate) use slice::{select_at, slice_first};
pub(crate) use unfold::overlap_add;
pub(crate) use view_op::{along_axis, batch_first, is_differentiated, with_batch};

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
    &scatter_views::SELECT_SCATTER,
    &scatter_views::SLICE_SCATTER,
    &scatter_views::DIAGONAL_SCATTER,
    &strided_scatter::AS_STRIDED_SCATTER,
    &repeat::REPEAT,
    &repeat::TILE,
    &repeat::REPEAT_INTERLEAVE,
    &repeat::REPEAT_EACH,
    &repeat::REPEATED_INDICES,
    &roll::ROLL,
    &roll::ROT90,
    &roll::FLIPLR,
    &roll::FLIPUD,
    &stack::ATLEAST_1D,
    &stack::ALL_ATLEAST_1D,
    &stack::ATLEAST_2D,
    &stack::ALL_ATLEAST_2D,
    &stack::ATLEAST_3D,
    &stack::ALL_ATLEAST_3D,
    &stack::HSTACK,
    &stack::VSTACK,
    &stack::DSTACK,
    &stack::COLUMN_STACK,
    &stack::BLOCK_DIAG,
    &stack::MESHGRID,
    &stack::CARTESIAN_PROD,
    &stack::BROADCAST_ALL,
    &split_variants::TENSOR_SPLIT_AS,
    &split_variants::TENSOR_SPLIT_EVEN,
    &split_variants::TENSOR_SPLIT,
    &split_variants::HSPLIT_EVEN,
    &split_variants::HSPLIT,
    &split_variants::VSPLIT_EVEN,
    &split_variants::VSPLIT,
    &split_variants::DSPLIT_EVEN,
    &split_variants::DSPLIT,
    &unfold::UNFOLD,
    &fill_diagonal::FILL_DIAGONAL,
    &complex::CONJ,
    &complex::REAL,
    &complex::IMAG,
    &complex::VIEW_AS_REAL,
    &complex::VIEW_AS_COMPLEX,
];
