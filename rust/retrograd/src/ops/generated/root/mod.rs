//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

mod casts;
mod create;
#[cfg(feature = "fft")]
mod fft;
mod index;
#[cfg(feature = "linalg")]
mod linalg;
mod matmul;
mod memory;
mod nn;
mod pointwise;
mod promotion_queries;
mod queries;
mod random;
mod reduce;
#[cfg(feature = "rnn")]
mod rnn;
mod sets;
mod sort;
mod sparse;
mod view;

#[allow(unused_imports)]
pub use casts::*;
#[allow(unused_imports)]
pub use create::*;
#[cfg(feature = "fft")]
#[allow(unused_imports)]
pub use fft::*;
#[allow(unused_imports)]
pub use index::*;
#[cfg(feature = "linalg")]
#[allow(unused_imports)]
pub use linalg::*;
#[allow(unused_imports)]
pub use matmul::*;
#[allow(unused_imports)]
pub use memory::*;
#[allow(unused_imports)]
pub use nn::*;
#[allow(unused_imports)]
pub use pointwise::*;
#[allow(unused_imports)]
pub use promotion_queries::*;
#[allow(unused_imports)]
pub use queries::*;
#[allow(unused_imports)]
pub use random::*;
#[allow(unused_imports)]
pub use reduce::*;
#[cfg(feature = "rnn")]
#[allow(unused_imports)]
pub use rnn::*;
#[allow(unused_imports)]
pub use sets::*;
#[allow(unused_imports)]
pub use sort::*;
#[allow(unused_imports)]
pub use sparse::*;
#[allow(unused_imports)]
pub use view::*;
