//! Ops of neural networks: losses, activations, normalization, embedding, dropout.

mod attention;
mod attention_checks;
mod bags;
mod batch_norm;
mod bce;
mod bilinear;
pub mod conv;
mod cross_entropy;
mod ctc;
mod ctc_composed;
mod curve;
mod distance;
mod dropout;
mod dropouts;
mod elementwise;
mod embedding;
mod embedding_bag;
mod gates;
mod gelu;
mod hard;
pub(crate) mod image;
mod layer_norm;
mod loss;
mod margin;
mod nll;
mod nll_entries;
pub(crate) mod pool;
mod robust;
mod scale_norm;
mod smooth;
mod standard;

pub use attention::scaled_dot_product_attention;
pub use cross_entropy::cross_entropy;
pub use dropout::dropout;
pub(crate) use dropouts::plain_dropout;
pub use embedding::{embedding, one_hot};
pub use embedding_bag::embedding_bag;
pub use gelu::gelu;
pub use layer_norm::layer_norm;
pub use loss::{l1_loss, mse_loss};
pub use nll::nll_loss;
pub use pool::{adaptive_avg_pool2d, adaptive_max_pool2d, avg_pool2d, max_pool2d};

use super::Entry;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

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
    &smooth::ELU,
    &smooth::ELU_INPLACE,
    &smooth::SELU,
    &smooth::SELU_INPLACE,
    &smooth::CELU,
    &smooth::CELU_INPLACE,
    &smooth::SILU,
    &smooth::SOFTPLUS,
    &smooth::MISH,
    &smooth::LOGSIGMOID,
    &hard::LEAKY_RELU,
    &hard::LEAKY_RELU_INPLACE,
    &hard::THRESHOLD,
    &hard::THRESHOLD_INPLACE,
    &hard::HARDTANH,
    &hard::HARDTANH_INPLACE,
    &hard::RELU6,
    &hard::HARDSIGMOID,
    &hard::HARDSWISH,
    &hard::SOFTSHRINK,
    &hard::HARDSHRINK,
    &gates::GLU,
    &gates::PRELU,
    &gates::SOFTSIGN,
    &gates::TANHSHRINK,
    &gates::GUMBEL_SOFTMAX,
    &robust::SMOOTH_L1_LOSS,
    &robust::HUBER_LOSS,
    &robust::SOFT_MARGIN_LOSS,
    &bce::BINARY_CROSS_ENTROPY,
    &bce::BINARY_CROSS_ENTROPY_WITH_LOGITS,
    &margin::KL_DIV,
    &margin::MARGIN_RANKING_LOSS,
    &margin::HINGE_EMBEDDING_LOSS,
    &margin::COSINE_EMBEDDING_LOSS,
    &margin::TRIPLET_MARGIN_LOSS,
    &margin::GAUSSIAN_NLL_LOSS,
    &margin::POISSON_NLL_LOSS,
    &distance::COSINE_SIMILARITY,
    &distance::PAIRWISE_DISTANCE,
    &distance::NORMALIZE,
    &batch_norm::BATCH_NORM,
    &batch_norm::INSTANCE_NORM,
    &batch_norm::GROUP_NORM,
    &scale_norm::RMS_NORM,
    &scale_norm::LOCAL_RESPONSE_NORM,
    &attention::SCALED_DOT_PRODUCT_ATTENTION,
    &dropouts::DROPOUT1D,
    &dropouts::DROPOUT2D,
    &dropouts::DROPOUT3D,
    &dropouts::ALPHA_DROPOUT,
    &dropouts::FEATURE_ALPHA_DROPOUT,
    &dropouts::PLAIN_DROPOUT,
    &dropouts::PLAIN_FEATURE_DROPOUT,
    &dropouts::PLAIN_ALPHA_DROPOUT,
    &dropouts::PLAIN_FEATURE_ALPHA_DROPOUT,
    &embedding_bag::EMBEDDING_BAG,
    &ctc::CTC_LOSS,
    &ctc::CTC_LOSS_OF_TENSORS,
    &bilinear::BILINEAR,
];

/// What becomes of the losses of the single elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    None = 0,
    Mean = 1,
    Sum = 2,
}

impl Reduction {
    /// The losses of the elements, or their mean or sum.
    fn reduced(self, losses: &Tensor) -> Result<Tensor> {
        match self {
            Self::None => Ok(losses.clone()),
            Self::Mean => losses.mean(None),
            Self::Sum => losses.sum(None),
        }
    }

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
