//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

/// Fourier transforms: `torch.fft`.
pub mod fft;
/// Linear algebra: `torch.linalg`.
pub mod linalg;
/// Reductions of the elements that a mask keeps: `torch.masked`.
pub mod masked;
/// What networks are made of, as functions: `torch.nn.functional`.
pub mod nn;
/// What the closures of `_with` forms set.
pub mod options;
/// The top level.
pub mod root;
/// Windows: `torch.signal.windows`.
pub mod signal;
/// Products and reductions of sparse tensors: `torch.sparse`.
pub mod sparse;
/// Special functions: `torch.special`.
pub mod special;
