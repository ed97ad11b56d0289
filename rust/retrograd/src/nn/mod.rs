//! Modules: structs that own parameters, and the usual layers.
//!
//! A module is a struct whose fields are tensors and other modules; `#[derive(Module)]` gives it `parameters()`,
//! `state_dict()` and the other methods of [`Module`]. What makes a tensor of a tensor implements [`Forward`], too.
//! Layers have the names of their parameters from torch, and from the same seed the same first values; their state
//! dicts go both ways. A clone of a layer has the same parameters, as a clone of a tensor is the same tensor.
//!
//! Layers and activations need the feature `nn`, which is on by default, convolutions `conv`, and recurrent layers
//! `rnn`; what modules are made of, [`Module`], [`Sequential`], [`StateDict`] and [`init`], needs none.
//!
//! ```
//! use retrograd::nn::{self, Forward, Linear, Module};
//! use retrograd::{DType, Tensor, engine};
//!
//! #[derive(Module)]
//! struct Net {
//!     hidden: Linear,
//!     out: Linear,
//! }
//!
//! impl Forward for Net {
//!     fn forward(&self, x: &Tensor) -> Tensor {
//!         self.out.forward(&nn::tanh(&self.hidden.forward(x)))
//!     }
//! }
//!
//! let net = Net { hidden: Linear::new(3, 8), out: Linear::with(8, 1, |o| o.bias(false)) };
//! let x = Tensor::from(engine::Tensor::ones(&[5, 3], DType::Float32)?);
//! assert_eq!(net.forward(&x).engine().sizes(), [5, 1]);
//! assert_eq!(net.state_dict().into_keys().collect::<Vec<_>>(), ["hidden.bias", "hidden.weight", "out.weight"]);
//! # Ok::<(), retrograd::Error>(())
//! ```

#[cfg(feature = "nn")]
mod activation;
#[cfg(feature = "nn")]
mod attention;
#[cfg(feature = "conv")]
mod conv;
#[cfg(feature = "conv")]
mod conv_transpose;
#[cfg(feature = "nn")]
mod dropout;
pub mod init;
#[cfg(feature = "nn")]
mod linear;
mod module;
#[cfg(feature = "nn")]
mod norm;
#[cfg(feature = "nn")]
mod options;
#[cfg(feature = "rnn")]
mod rnn;
mod sequential;
mod state;

#[cfg(feature = "nn")]
pub use activation::{gelu, relu, sigmoid, silu, softplus, tanh};
#[cfg(feature = "nn")]
pub use attention::{MultiheadAttention, MultiheadAttentionOptions, Seen};
#[cfg(feature = "conv")]
pub use conv::{Conv1d, Conv1dOptions, Conv2d, Conv2dOptions, Conv3d, Conv3dOptions, Padding, PaddingMode};
#[cfg(feature = "conv")]
pub use conv_transpose::{
    ConvTranspose1d, ConvTranspose1dOptions, ConvTranspose2d, ConvTranspose2dOptions, ConvTranspose3d,
    ConvTranspose3dOptions,
};
#[cfg(feature = "nn")]
pub use dropout::Dropout;
#[cfg(feature = "nn")]
pub use linear::{Embedding, EmbeddingOptions, Linear, LinearOptions};
pub use module::{Forward, Module, Training, Visitor};
#[cfg(feature = "nn")]
pub use norm::{
    BatchNorm1d, BatchNorm2d, BatchNormOptions, GroupNorm, GroupNormOptions, LastAxes, LayerNorm, LayerNormOptions,
    RmsNorm, RmsNormOptions,
};
#[cfg(feature = "nn")]
pub use options::PerAxis;
#[cfg(feature = "rnn")]
pub use rnn::{Gru, Lstm, RnnOptions};
pub use sequential::Sequential;
pub use state::{Incompatible, LoadOptions, StateDict};

pub use retrograd_derive::Module;
