//! The one door to ops: the tensor arithmetic that the engine and the transforms themselves do. Everything else that
//! they do with tensors is a rule's work.
//!
//! An op imports the engine, since its rules are written in terms of it. The way back leads through here alone, and
//! through the methods of [`Tensor`](crate::Tensor) that `#[op]` makes.

/// Casts, copies and fresh memory.
pub(crate) use crate::ops::create::{fill_from, zeros_strided};
pub(crate) use crate::ops::memory::{cast, clone_strided, cloned};

/// Conjugates and real parts, for rules that are written for real numbers.
pub(crate) use crate::ops::pointwise::complex::{conj_physical as conj, imag_part as imag, real_part as real};

/// Sums of gradients.
pub(crate) use crate::ops::pointwise::add_assign;
pub(crate) use crate::ops::reduce::sum_to_size;

pub(crate) use crate::ops::view::strided::{node_of_view, same_view};
/// Views: of primals for their tangents, of bases for written views, of values for entries of a batch.
pub(crate) use crate::ops::view::view_op::Layout;
pub(crate) use crate::ops::view::{
    alias, batch_first, expand_to, movedim, select_at, stack, unsqueeze, view_to, with_batch,
};
