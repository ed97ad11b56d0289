//! Loops over memory. Nothing here knows of autograd.

pub mod attention;
pub mod columns;
pub mod conv;
pub mod copy;
pub mod ctc;
pub mod distance;
pub mod grid;
pub mod math;
pub mod matmul;
pub mod norm;
pub mod pointwise;
pub mod pool;
pub mod random;
pub mod real;
pub mod reduce;
pub mod resample;
pub mod rows;
pub mod simd;
pub mod sort;
pub mod special;
pub mod strided;
pub mod truth;
