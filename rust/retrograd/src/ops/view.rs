//! Views.
use super::Entry;
use crate::error::Result;
use crate::tensor::Tensor;
/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
pub(crate) fn expand_to(_x: &Tensor, sizes: &[usize]) -> Result<Tensor> { todo!() }
impl Tensor {
    pub fn as_strided(&self, sizes: &[usize], strides: &[isize], offset: Option<i64>) -> Result<Tensor> { todo!() }
}
