//! Order: sorting, the largest, the k-th, the median. They choose elements along an axis and say where these are.
//!
//! Equal elements come in the order of their indices, NaN after every number. Reverse: `g` to the index chosen.

pub mod median;
pub mod mode;
pub mod order;
pub mod quantile;
pub mod select;
pub mod selection;

pub use median::{median, median_dim, nanmedian, nanmedian_dim};
pub use order::{argsort, argsort_stable, msort, sort, sort_stable};
pub use select::{kthvalue, topk};

use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &order::SORT,
    &order::SORT_STABLE,
    &order::ARGSORT,
    &order::ARGSORT_STABLE,
    &order::MSORT,
    &select::TOPK,
    &select::KTHVALUE,
    &median::MEDIAN,
    &median::MEDIAN_DIM,
    &median::NANMEDIAN,
    &median::NANMEDIAN_DIM,
    &mode::MODE,
    &quantile::QUANTILE,
    &quantile::QUANTILE_NUMBER,
    &quantile::NANQUANTILE,
    &quantile::NANQUANTILE_NUMBER,
];
