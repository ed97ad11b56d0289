//! Tensors as text.

use std::fmt;

use crate::Tensor;

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine().fmt(f)
    }
}
