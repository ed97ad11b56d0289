//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

mod casts;
mod create;
mod fft;
mod index;
mod linalg;
mod matmul;
mod memory;
mod nn;
mod pointwise;
mod promotion_queries;
mod queries;
mod random;
mod reduce;
mod rnn;
mod sets;
mod sort;
mod sparse;
mod view;

use retrograd::Tensor;
use retrograd::ops::{self, Floats, OutputSize};

fn any<T>() -> T {
    unreachable!("these calls are only compiled")
}

/// Every op, family by family.
pub const FAMILIES: &[(&str, fn())] = &[
    ("casts", casts::calls),
    ("create", create::calls),
    ("fft", fft::calls),
    ("index", index::calls),
    ("linalg", linalg::calls),
    ("matmul", matmul::calls),
    ("memory", memory::calls),
    ("nn", nn::calls),
    ("pointwise", pointwise::calls),
    ("promotion_queries", promotion_queries::calls),
    ("queries", queries::calls),
    ("random", random::calls),
    ("reduce", reduce::calls),
    ("rnn", rnn::calls),
    ("sets", sets::calls),
    ("sort", sort::calls),
    ("sparse", sparse::calls),
    ("view", view::calls),
];
