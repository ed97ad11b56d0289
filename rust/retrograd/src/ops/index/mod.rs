//! Indexing: `x[...]` in all its forms, and the ops that read or write at index tensors.

mod advanced;
mod along;
mod items;
mod mask;
mod scatter;
mod walk;

pub use advanced::{index, index_put, index_put_};
pub use along::{gather, index_select};
pub use items::{IndexItem, get, get_int, set};
pub use mask::{masked_select, nonzero, nonzero_tuple};
pub use scatter::{scatter, scatter_add, scatter_value};

use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &along::INDEX_SELECT,
    &along::GATHER,
    &scatter::SCATTER_ADD,
    &scatter::SCATTER,
    &scatter::SCATTER_VALUE,
    &mask::MASKED_SELECT,
    &mask::NONZERO,
    &mask::NONZERO_AS,
];
