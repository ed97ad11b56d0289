//! Decompositions of one matrix, in the formats of LAPACK, which torch returns.
//!
//! A crate of its own so that its loops are compiled once, and not whenever a kernel or an op changes. Matrices are
//! column-major slices. No routine divides a batch among threads: its caller does. Triangular factorizations and
//! solutions are recursions over the matrix product of `retrograd-kernels`, down to blocks that stay in L1; the other
//! decompositions are faer's.

mod blocks;
pub mod cholesky;
pub mod ldl;
pub mod lu;
mod scalar;
pub mod triangular;

pub use scalar::Scalar;
