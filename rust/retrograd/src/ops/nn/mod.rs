//! Ops of neural networks: losses, activations, normalization, embedding, dropout.

mod cross_entropy;
mod dropout;
mod embedding;
mod gelu;
mod layer_norm;
mod loss;
mod nll;
mod nll_entries;

pub use cross_entropy::cross_entropy;
pub use dropout::dropout;
pub use embedding::{embedding, one_hot};
pub use gelu::gelu;
pub use layer_norm::layer_norm;
pub use loss::{l1_loss, mse_loss};
pub use nll::nll_loss;

use super::Entry;
use crate::error::{Error, Result};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &cross_entropy::CROSS_ENTROPY,
    &nll::NLL_LOSS,
    &loss::MSE_LOSS,
    &loss::L1_LOSS,
    &gelu::GELU,
    &layer_norm::LAYER_NORM,
    &embedding::EMBEDDING,
    &embedding::ONE_HOT,
    &dropout::DROPOUT,
];

/// What becomes of the losses of the single elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    None = 0,
    Mean = 1,
    Sum = 2,
}

impl Reduction {
    /// From the arguments of a loss: two flags of old, which win if given, and the name.
    fn of(op: &'static str, size_average: Option<bool>, reduce: Option<bool>, name: &str) -> Result<Self> {
        if size_average.is_some() || reduce.is_some() {
            let (reduction, name) = match (reduce.unwrap_or(true), size_average.unwrap_or(true)) {
                (true, true) => (Self::Mean, "mean"),
                (true, false) => (Self::Sum, "sum"),
                (false, _) => (Self::None, "none"),
            };
            crate::warn::warn(&format!(
                "size_average and reduce args will be deprecated, please use reduction='{name}' instead."
            ))?;
            return Ok(reduction);
        }
        match name {
            "none" => Ok(Self::None),
            "mean" => Ok(Self::Mean),
            "sum" => Ok(Self::Sum),
            _ => {
                Err(Error::value(op, format!("{name} is not a valid value for reduction: use 'none', 'mean' or 'sum'")))
            }
        }
    }
}
