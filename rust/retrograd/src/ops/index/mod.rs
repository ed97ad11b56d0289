//! index
use super::Entry;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
impl Tensor {
    pub fn scatter_add(&self, _dim: i64, _index: &Tensor, _src: &Tensor) -> Result<Tensor> {
        Err(Error::not_implemented("scatter_add: soon"))
    }
    pub fn index_select(&self, _dim: i64, _index: &Tensor) -> Result<Tensor> {
        Err(Error::not_implemented("index_select: soon"))
    }
}
