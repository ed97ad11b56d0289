//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    any::<&Tensor>().coalesce();
    any::<&Tensor>().values();
    any::<&Tensor>().to_dense();
    any::<&Tensor>().to_dense_with(|o| o);
    any::<&Tensor>().to_sparse();
    any::<&Tensor>().to_sparse_with(|o| o);
    any::<&Tensor>().to_sparse_dim(any());
    any::<&Tensor>().to_sparse_coo();
    any::<&Tensor>().to_sparse_csr();
    any::<&Tensor>().to_sparse_csr_with(|o| o);
    any::<&Tensor>().sparse_mask(any());
    ops::sparse::mm(any(), any());
    ops::sparse::mm_reduce(any(), any(), any());
    ops::sparse::sampled_addmm(any(), any(), any());
    ops::sparse::sampled_addmm_with(any(), any(), any(), |o| o);
    ops::sparse::addmm(any(), any(), any());
    ops::sparse::addmm_with(any(), any(), any(), |o| o);
    ops::sparse::sum(any());
    ops::sparse::sum_with(any(), |o| o);
    ops::sparse::softmax(any(), any());
    ops::sparse::softmax_with(any(), any(), |o| o);
    ops::sparse::log_softmax(any(), any());
    ops::sparse::log_softmax_with(any(), any(), |o| o);
}
