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

use retrograd::Tensor;
#[allow(unused_imports)]
use retrograd::ops::{self, Floats, OutputSize};

fn any<T>() -> T {
    unreachable!("these calls are only compiled")
}

#[test]
fn calls_of_every_op_compile() {
    assert!(FAMILIES.iter().any(|(name, _)| *name == "pointwise"));
}

/// Every op, family by family.
const FAMILIES: &[(&str, fn())] = &[
    ("casts", casts::calls),
    ("create", create::calls),
    #[cfg(feature = "fft")]
    ("fft", fft::calls),
    ("index", index::calls),
    #[cfg(feature = "linalg")]
    ("linalg", linalg::calls),
    ("matmul", matmul::calls),
    ("memory", memory::calls),
    ("nn", nn::calls),
    ("pointwise", pointwise::calls),
    ("promotion_queries", promotion_queries::calls),
    ("queries", queries::calls),
    ("random", random::calls),
    ("reduce", reduce::calls),
    #[cfg(feature = "rnn")]
    ("rnn", rnn::calls),
    ("sets", sets::calls),
    ("sort", sort::calls),
    ("sparse", sparse::calls),
    ("view", view::calls),
];
