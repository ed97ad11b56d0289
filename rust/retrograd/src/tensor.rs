//! The tensor of programs, which is the engine's under another type: methods of one name return a tensor here, and a
//! `Result` there.

use crate::engine;

/// A handle on numbers in some shape, with the history that gradients need.
///
/// A clone is the same tensor: it has the same memory, the same gradient and the same history.
#[derive(Clone)]
#[repr(transparent)]
pub struct Tensor(pub(crate) engine::Tensor);

impl Tensor {
    /// This tensor as the engine knows it.
    #[inline]
    pub fn engine(&self) -> &engine::Tensor {
        &self.0
    }
}

impl From<engine::Tensor> for Tensor {
    #[inline]
    fn from(tensor: engine::Tensor) -> Self {
        Self(tensor)
    }
}

impl From<Tensor> for engine::Tensor {
    #[inline]
    fn from(tensor: Tensor) -> Self {
        tensor.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_is_the_engines() -> crate::Result<()> {
        let given = engine::Tensor::from_slice(&[1.0, 2.0], &[2])?;
        let tensor = Tensor::from(given.clone());
        assert_eq!(tensor.engine().id(), given.id());
        assert_eq!(engine::Tensor::from(tensor.clone()).id(), given.id());
        assert_eq!(format!("{tensor:?}"), "Tensor([2], float64)");
        assert_eq!(size_of::<Option<Tensor>>(), size_of::<engine::Tensor>());
        Ok(())
    }
}
