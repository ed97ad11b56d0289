//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::unique(any());
    ops::unique_with(any(), |o| o);
    any::<&Tensor>().unique();
    any::<&Tensor>().unique_with(|o| o);
    ops::unique_consecutive(any());
    ops::unique_consecutive_with(any(), |o| o);
    any::<&Tensor>().unique_consecutive();
    any::<&Tensor>().unique_consecutive_with(|o| o);
    ops::bincount(any());
    ops::bincount_with(any(), |o| o);
    any::<&Tensor>().bincount();
    any::<&Tensor>().bincount_with(|o| o);
    ops::unravel_index(any(), any::<i64>());
    ops::searchsorted(any(), any::<&Tensor>());
    ops::searchsorted_with(any(), any::<&Tensor>(), |o| o);
    ops::bucketize(any::<&Tensor>(), any());
    ops::bucketize_with(any::<&Tensor>(), any(), |o| o);
    ops::histc(any());
    ops::histc_with(any(), |o| o);
    any::<&Tensor>().histc();
    any::<&Tensor>().histc_with(|o| o);
    ops::histogram_edges(any(), any());
    ops::histogram_edges_with(any(), any(), |o| o);
    any::<&Tensor>().histogram_edges(any());
    any::<&Tensor>().histogram_edges_with(any(), |o| o);
    ops::histogram(any());
    ops::histogram_with(any(), |o| o);
    any::<&Tensor>().histogram();
    any::<&Tensor>().histogram_with(|o| o);
    ops::histogramdd(any(), any());
    ops::histogramdd_with(any(), any(), |o| o);
    ops::histogramdd_bins(any(), any::<i64>());
    ops::histogramdd_bins_with(any(), any::<i64>(), |o| o);
    ops::histogramdd_edges(any(), any::<&[Tensor]>());
    ops::histogramdd_edges_with(any(), any::<&[Tensor]>(), |o| o);
}
