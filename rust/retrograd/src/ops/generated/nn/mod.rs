//! Written by the crate `retrograd-generator`: change the roster of the engine, or the generator, and run `make face`.

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
