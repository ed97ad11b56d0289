//! Loops over memory. Nothing here knows of autograd.

pub mod attention;
pub mod conv;
pub mod copy;
pub mod ctc;
pub mod distance;
pub mod math;
pub mod matmul;
pub mod norm;
pub mod pointwise;
pub mod random;
pub mod real;
pub mod reduce;
pub mod simd;
pub mod sort;
pub mod special;
pub mod strided;
