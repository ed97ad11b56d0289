//! reduce
use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
use crate::error::Result;
use crate::tensor::Tensor;
pub(crate) fn sum_to_size(g: &Tensor, sizes: &[usize]) -> Result<Tensor> { todo!() }
