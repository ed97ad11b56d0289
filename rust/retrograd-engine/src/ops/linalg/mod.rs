//! Decompositions of matrices, and what is computed by them: solutions, inverses, determinants.
//!
//! `batch` is the driver, through which every routine of `retrograd-linalg` is called; `checks` and `fault` say what is
//! wrong with operands and with matrices, in torch's words. The matrices are the last two dims of an operand.

pub mod batch;
pub mod checks;
pub mod cholesky;
pub mod cholesky_solve;
pub mod determinant;
pub mod eig;
pub mod eigh;
pub mod fault;
pub mod full_rank;
pub mod gauge;
pub mod groups;
pub mod ldl;
pub mod lowrank;
pub mod lstsq;
pub mod lu;
pub mod pinv;
pub mod qr;
pub mod solve;
pub mod spectrum;
pub mod svd;
pub mod triangular;

pub use solve::inv;

use super::Entry;
use crate::error::Result;
use crate::ops::view::expand_to;
use crate::tensor::layout::broadcast;
use crate::tensor::{Dims, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &cholesky::LINALG_CHOLESKY,
    &cholesky::CHOLESKY_EX,
    &cholesky::CHOLESKY,
    &triangular::SOLVE_TRIANGULAR,
    &triangular::TRIANGULAR_SOLVE,
    &cholesky_solve::CHOLESKY_SOLVE,
    &cholesky_solve::CHOLESKY_INVERSE,
    &ldl::LDL_FACTOR,
    &ldl::LDL_FACTOR_EX,
    &ldl::LDL_SOLVE,
    &lu::LINALG_LU,
    &lu::LU_FACTOR,
    &lu::LU_FACTOR_EX,
    &lu::LU_OF,
    &lu::LU_UNPACK,
    &lu::LINALG_LU_SOLVE,
    &lu::LU_SOLVE,
    &solve::SOLVE,
    &solve::SOLVE_EX,
    &solve::INV,
    &solve::INVERSE,
    &solve::INV_EX,
    &solve::TENSORINV,
    &solve::TENSORSOLVE,
    &determinant::LINALG_DET,
    &determinant::DET,
    &determinant::LINALG_SLOGDET,
    &determinant::SLOGDET,
    &determinant::LOGDET,
    &qr::LINALG_QR,
    &qr::QR,
    &qr::GEQRF,
    &qr::HOUSEHOLDER_PRODUCT,
    &qr::ORGQR,
    &qr::ORMQR,
    &eigh::LINALG_EIGH,
    &eigh::EIGVALSH,
    &eig::LINALG_EIG,
    &eig::EIGVALS,
    &svd::LINALG_SVD,
    &svd::SVDVALS,
    &svd::SVD,
    &pinv::PINV,
    &pinv::PINV_TENSORS,
    &pinv::PINV_RCOND,
    &pinv::PINV_RCOND_TENSOR,
    &pinv::PINVERSE,
    &pinv::MATRIX_RANK,
    &pinv::MATRIX_RANK_TENSORS,
    &pinv::MATRIX_RANK_TOL,
    &pinv::MATRIX_RANK_TOL_TENSOR,
    &lstsq::LSTSQ,
    &lowrank::SVD_LOWRANK,
    &lowrank::PCA_LOWRANK,
    &lowrank::LOBPCG,
    &spectrum::NUCLEAR_NORM_ALL,
    &spectrum::NUCLEAR_NORM,
    &spectrum::COND,
    &spectrum::COND_NAMED,
];

/// The tensor of all levels of `vmap`: what is said of one entry is said for all.
fn all_levels(x: &Tensor) -> Tensor {
    let mut all = x.detach();
    while let Some(batched) = all.batched() {
        all = batched.value;
    }
    all
}

/// The conjugate transpose of each matrix; the transpose of real ones.
fn adjoint(x: &Tensor) -> Result<Tensor> {
    let turned = x.transpose(-2, -1)?;
    if x.dtype().is_complex() { super::pointwise::complex::conj_physical(&turned) } else { Ok(turned) }
}

/// Both operands with the axes before their matrices broadcast.
fn broadcast_batches(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let batch = broadcast(op, batch::batch_of(a), batch::batch_of(b))?;
    let whole = |x: &Tensor| {
        let (rows, columns) = batch::sizes_of(x);
        let sizes: Dims = batch.iter().copied().chain([rows, columns]).collect();
        if x.sizes() == &*sizes { Ok(x.clone()) } else { expand_to(x, &sizes) }
    };
    Ok((whole(a)?, whole(b)?))
}

/// What an op on matrices of `n` rows costs, in nanoseconds, that does `flops` multiplications and additions.
fn cost(flops: f64) -> f64 {
    100.0 + flops / 4.0
}
