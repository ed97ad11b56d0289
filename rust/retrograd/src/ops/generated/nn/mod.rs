//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

mod activations;
mod layers;
#[cfg(feature = "nn")]
mod losses;
#[cfg(feature = "conv")]
mod windows;

#[allow(unused_imports)]
pub use activations::*;
#[allow(unused_imports)]
pub use layers::*;
#[cfg(feature = "nn")]
#[allow(unused_imports)]
pub use losses::*;
#[cfg(feature = "conv")]
#[allow(unused_imports)]
pub use windows::*;
