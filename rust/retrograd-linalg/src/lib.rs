//! Decompositions of one matrix, in the formats of LAPACK, which torch returns.
//!
//! A crate of its own so that its loops are compiled once, and not whenever a kernel or an op changes. Matrices are
//! column-major slices, some of them a group of small ones. No routine divides a batch among threads: its caller does.
//! Triangular factorizations and solutions are recursions over the matrix product of `retrograd-kernels`, down to
//! blocks that stay in L1, and it applies blocks of reflections; the other decompositions are faer's, but what
//! is smaller than the near caches, and values without vectors, are found here: eigenvalues of Hermitian matrices
//! ([`eigh`]) and of real ones ([`eig`]), and singular values ([`svd`]).

mod bidiagonal;
mod blocks;
pub mod cholesky;
mod decompose;
pub mod eig;
mod eigenvectors;
pub mod eigh;
pub mod full_rank;
mod hermitian;
pub mod householder;
pub mod jacobi;
pub mod lanes;
pub mod ldl;
pub mod lu;
pub mod matrices;
pub mod number;
mod rotations;
mod scalar;
mod schur;
mod small;
pub mod svd;
pub mod triangular;
mod tridiagonal;

pub use decompose::{Decompose, Grouped};
pub use number::Number;
pub use scalar::Scalar;

use faer::diag::DiagMut;
use faer::traits::ext::*;

/// A slice as the diagonal that faer writes.
fn diagonal<T>(x: &mut [T]) -> DiagMut<'_, T> {
    DiagMut::from_slice_mut(x)
}

/// The real parts of numbers that have no others.
fn real_parts<T: Number>(from: &[T], to: &mut [T::Real]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.real());
}
