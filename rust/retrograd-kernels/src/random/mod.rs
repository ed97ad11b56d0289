//! Random numbers equal to those of torch's CPU generator, from the same seed.
//!
//! `mt19937` is the engine and its saved state, `fill` the frequent distributions, `normal` the normal numbers in bulk,
//! `variates` the other distributions, `fused` the switch to fused instructions.

mod fill;
mod fused;
mod mt19937;
mod normal;
mod variates;

#[cfg(test)]
mod tests;

pub use fill::{bernoulli, normal_f32, normal_f64, permutation, random_below, uniform_f32, uniform_f64};
pub use mt19937::Mt19937;
pub use variates::{Precision, binomial, cauchy, gamma, geometric, log_normal, poisson};
