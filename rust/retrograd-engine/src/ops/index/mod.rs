//! Indexing: `x[...]` in all its forms, and the ops that read or write at index tensors.

pub mod advanced;
pub mod along;
pub mod along_index;
pub mod flat;
pub mod index_reduce;
pub mod items;
pub mod mask;
mod rectangle;
pub mod scatter;
pub mod scatter_mask;
pub mod scatter_reduce;
pub mod segment;
pub mod slices;
pub mod values_and_indices;
pub mod walk;

pub use advanced::{index, index_put, index_put_};
pub use along::{gather, index_select};
pub use items::{IndexItem, get, get_int, get_slice, set};
pub use mask::{masked_select, nonzero, nonzero_tuple};
pub use scatter::{scatter, scatter_add, scatter_value};
pub use slices::{index_add, index_copy, index_fill, index_fill_tensor};

pub(crate) use mask::dynamic_shape;
pub(crate) use values_and_indices::{at_chosen, to_chosen};

use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &along::INDEX_SELECT,
    &along::GATHER,
    &scatter::SCATTER_ADD,
    &scatter::SCATTER,
    &scatter::SCATTER_VALUE,
    &scatter::SCATTER_REDUCING,
    &scatter::SCATTER_VALUE_REDUCING,
    &slices::INDEX_ADD,
    &slices::INDEX_COPY,
    &slices::INDEX_FILL_TENSOR,
    &slices::INDEX_FILL,
    &mask::MASKED_SELECT,
    &mask::NONZERO,
    &mask::NONZERO_STATIC,
    &mask::NONZERO_AS,
    &mask::WHERE_NONZERO,
    &flat::TAKE,
    &flat::PUT,
    &flat::TAKE_ALONG_DIM,
    &flat::PUT_INDICES,
    &flat::ARGWHERE,
    &scatter_mask::MASKED_SCATTER,
    &scatter_reduce::SCATTER_REDUCE,
    &index_reduce::INDEX_REDUCE,
    &segment::SEGMENT_REDUCE,
];
