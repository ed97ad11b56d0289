//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

mod activations;
mod layers;
mod losses;
mod windows;

#[allow(unused_imports)]
pub use activations::*;
#[allow(unused_imports)]
pub use layers::*;
#[allow(unused_imports)]
pub use losses::*;
#[allow(unused_imports)]
pub use windows::*;
