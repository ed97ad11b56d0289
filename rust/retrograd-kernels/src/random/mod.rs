//! Random numbers equal to those of torch's CPU generator, from the same seed.
//!
//! `mt19937` is the engine and its saved state, `fill` the distributions, `normal` the normal numbers in bulk,
//! `fused` the switch to fused instructions.

mod fill;
mod fused;
mod mt19937;
mod normal;

#[cfg(test)]
mod tests;

pub use fill::{bernoulli, normal_f32, normal_f64, permutation, random_below, uniform_f32, uniform_f64};
pub use mt19937::Mt19937;
