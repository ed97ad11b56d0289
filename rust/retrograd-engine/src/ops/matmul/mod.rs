//! Matrix products.
//!
//! `product` calls the kernel on strided operands, so that a transposed operand is never copied; `mm`, `bmm`, `addmm`
//! and `vector` define the ops with nodes of their own; `compose` writes `matmul` and `linear` in terms of them.

pub mod addmm;
pub mod bmm;
pub mod cdist;
pub mod compose;
pub mod einsum;
pub mod exponential;
pub mod linalg;
pub mod mm;
pub mod pdist;
pub mod product;
pub mod sums;
pub mod vandermonde;
pub mod vector;

pub use addmm::{addmm, addmm_as, addmv, addmv_as};
pub use bmm::{baddbmm, baddbmm_as, bmm};
pub use compose::{linear, matmul};
pub use mm::mm;
pub use vector::{dot, mv, outer};

use smallvec::SmallVec;

use super::Entry;
use crate::error::Result;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &mm::MM,
    &bmm::BMM,
    &bmm::BADDBMM,
    &addmm::ADDMM,
    &addmm::ADDMV,
    &sums::ADDR,
    &sums::ADDBMM,
    &vector::MV,
    &vector::DOT,
    &vector::OUTER,
    &compose::MATMUL,
    &compose::LINALG_MATMUL,
    &compose::LINEAR,
    &einsum::EINSUM,
    &einsum::TENSORDOT_LAST,
    &einsum::TENSORDOT,
    &einsum::INNER,
    &einsum::KRON,
    &linalg::LINALG_CROSS,
    &linalg::CROSS,
    &linalg::VECDOT,
    &linalg::LINALG_DIAGONAL,
    &linalg::MULTI_DOT,
    &linalg::CHAIN_MATMUL,
    &linalg::MATRIX_POWER,
    &linalg::MATRIX_POWER_OF,
    &linalg::LINALG_VANDER,
    &cdist::CDIST,
    &pdist::PDIST,
    &pdist::TOP_PDIST,
    &vandermonde::VDOT,
    &vandermonde::VANDER,
    &exponential::MATRIX_EXP,
    &exponential::LINALG_MATRIX_EXP,
];

/// The operand with its batch axis in front.
pub(super) fn batch_first(x: &Tensor, axis: Option<usize>) -> Result<Tensor> {
    match axis {
        None | Some(0) => Ok(x.clone()),
        Some(axis) => {
            let mut order: SmallVec<[i64; 6]> = (0..x.ndim() as i64).collect();
            let batch = order.remove(axis);
            order.insert(0, batch);
            x.permute(&order)
        }
    }
}
