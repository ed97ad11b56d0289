//! Ops of neural networks: losses, activations, normalization, embedding, dropout.

pub mod activation;
pub mod attention;
pub mod attention_checks;
pub mod bag_offsets;
pub mod batch_norm;
pub mod bce;
pub mod bilinear;
pub mod class_margin;
pub mod conv;
pub mod cross_entropy;
pub mod ctc;
pub mod ctc_composed;
pub mod distance;
pub mod dropout;
pub mod dropout_variants;
pub mod elementwise_loss;
pub mod embedding;
pub mod embedding_bag;
pub mod gated;
pub mod gelu;
pub mod huber;
pub mod image;
pub mod layer_norm;
pub mod loss;
pub mod margin;
pub mod native;
pub mod nll;
pub mod nll_entries;
pub mod normalization;
pub mod piecewise_activations;
pub mod pool;
pub mod rrelu;
pub mod scale_norm;
pub mod smooth_activations;

pub use attention::scaled_dot_product_attention;
pub use cross_entropy::cross_entropy;
pub use dropout::dropout;
pub(crate) use dropout_variants::plain_dropout;
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
    &native::NATIVE_LAYER_NORM,
    &native::NATIVE_GROUP_NORM,
    &native::NATIVE_BATCH_NORM,
    &native::_NATIVE_BATCH_NORM_LEGIT,
    &native::_NATIVE_BATCH_NORM_LEGIT_OWN,
    &native::NATIVE_DROPOUT,
    &smooth_activations::ELU,
    &smooth_activations::ELU_INPLACE,
    &smooth_activations::SELU,
    &smooth_activations::SELU_INPLACE,
    &smooth_activations::CELU,
    &smooth_activations::CELU_INPLACE,
    &smooth_activations::SILU,
    &smooth_activations::SOFTPLUS,
    &smooth_activations::MISH,
    &smooth_activations::LOGSIGMOID,
    &piecewise_activations::LEAKY_RELU,
    &piecewise_activations::LEAKY_RELU_INPLACE,
    &piecewise_activations::THRESHOLD,
    &piecewise_activations::THRESHOLD_INPLACE,
    &piecewise_activations::HARDTANH,
    &piecewise_activations::HARDTANH_INPLACE,
    &piecewise_activations::RELU6,
    &piecewise_activations::HARDSIGMOID,
    &piecewise_activations::HARDSWISH,
    &piecewise_activations::SOFTSHRINK,
    &piecewise_activations::HARDSHRINK,
    &gated::GLU,
    &gated::PRELU,
    &gated::SOFTSIGN,
    &gated::TANHSHRINK,
    &gated::GUMBEL_SOFTMAX,
    &huber::SMOOTH_L1_LOSS,
    &huber::HUBER_LOSS,
    &huber::SOFT_MARGIN_LOSS,
    &huber::MULTILABEL_SOFT_MARGIN_LOSS,
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
    &dropout_variants::DROPOUT1D,
    &dropout_variants::DROPOUT2D,
    &dropout_variants::DROPOUT3D,
    &dropout_variants::ALPHA_DROPOUT,
    &dropout_variants::FEATURE_ALPHA_DROPOUT,
    &dropout_variants::PLAIN_DROPOUT,
    &dropout_variants::PLAIN_FEATURE_DROPOUT,
    &dropout_variants::PLAIN_ALPHA_DROPOUT,
    &dropout_variants::PLAIN_FEATURE_ALPHA_DROPOUT,
    &embedding_bag::EMBEDDING_BAG,
    &ctc::CTC_LOSS,
    &ctc::CTC_LOSS_OF_TENSORS,
    &bilinear::BILINEAR,
    &rrelu::RRELU,
    &rrelu::RRELU_INPLACE,
    &class_margin::MULTI_MARGIN_LOSS,
    &class_margin::MULTILABEL_MARGIN_LOSS,
];

/// How the losses of the elements are reduced.
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

    /// From the arguments of a loss: two deprecated flags, which win if given, and the name.
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
