//! What other families ask of decompositions, in a build without the feature `linalg`: errors that name it.

use super::Entry;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Entries of this family: none.
pub static ROSTER: &[&Entry] = &[];

/// The inverse, which negative powers of matrices need.
pub fn inv(_: &Tensor) -> Result<Tensor> {
    Err(Error::left_out("linalg.inv", "linalg"))
}

/// Norms by singular values.
pub mod spectrum {
    use crate::error::{Error, Result};
    use crate::tensor::{DType, Tensor};

    /// What is made of the singular values.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Spectral {
        Sum,
        Largest,
        Smallest,
    }

    /// The norm of matrices that `which` names.
    pub fn spectral_norm(
        op: &'static str,
        _: &Tensor,
        _: Spectral,
        _: &[i64],
        _: bool,
        _: Option<DType>,
    ) -> Result<Tensor> {
        Err(Error::left_out(op, "linalg"))
    }
}
