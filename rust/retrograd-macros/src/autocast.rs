//! What autocast does to the operands of each op, as torch's CPU build does: the one table of it.
//!
//! Ops are called as torch's profiles call them, those of `linalg`, `special` and `fft` with that before their name.
//! Whatever is not listed computes in the dtypes that it is given; if it consists of other ops, each of these acts
//! by itself. An op has its policy from the moment in which it is defined under one of these names.

/// Products: in the dtype of the region.
const LOWER: &[&str] = &[
    "addbmm",
    "addmm",
    "affine_grid",
    "baddbmm",
    "bmm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mm",
    "prelu",
    "scaled_dot_product_attention",
];

/// What needs the precision or the range: in float32.
const FULL: &[&str] = &[
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "fake_quantize_per_tensor_affine",
    "fft_fft",
    "fft_fft2",
    "fft_fftn",
    "fft_hfft",
    "fft_ifft",
    "fft_ifft2",
    "fft_ifftn",
    "fft_ihfft",
    "fft_irfft",
    "fft_irfft2",
    "fft_irfftn",
    "fft_rfft",
    "fft_rfft2",
    "fft_rfftn",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "geqrf",
    "grid_sample",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "hinge_embedding_loss",
    "huber_loss",
    "inverse",
    "kl_div",
    "l1_loss",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_matrix_rank",
    "linalg_qr",
    "linalg_solve",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "margin_ranking_loss",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nanquantile",
    "nll_loss",
    "orgqr",
    "ormqr",
    "pinverse",
    "poisson_nll_loss",
    "polar",
    "prod",
    "qr",
    "quantile",
    "smooth_l1_loss",
    "soft_margin_loss",
    "stft",
    "svd",
    "trace",
    "triangular_solve",
    "triplet_margin_loss",
    "view_as_complex",
];

/// What puts tensors together: in the widest dtype among them.
const PROMOTE: &[&str] = &["cat", "index_copy", "stack"];

/// What consists of listed ops here, but not in torch: in the dtypes that it is given.
const AS_GIVEN: &[&str] = &["bilinear"];

/// The name in `retrograd_engine::autocast::Policy` of what happens to the operands of an op; `None`: nothing.
pub fn policy(op: &str) -> Option<&'static str> {
    [(LOWER, "Lower"), (FULL, "Full"), (PROMOTE, "Promote"), (AS_GIVEN, "AsGiven")]
        .into_iter()
        .find_map(|(ops, policy)| ops.contains(&op).then_some(policy))
}
