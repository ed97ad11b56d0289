//! Sets and counts: the distinct elements of a tensor, how many there are of each, and where numbers stand among sorted
//! ones.

pub mod count;
pub mod histogram;
pub mod histogram_nd;
pub mod search;
pub mod unique;

pub use count::{bincount, unravel_index};
pub use histogram::{histc, histogram, histogram_edges};
pub use search::{bucketize, searchsorted};
pub use unique::{unique, unique_consecutive};

use super::Entry;
use crate::error::{Error, Result};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &unique::UNIQUE,
    &unique::UNIQUE_CONSECUTIVE,
    &count::BINCOUNT,
    &count::UNRAVEL_INDEX,
    &search::SEARCHSORTED,
    &search::BUCKETIZE,
    &histogram::HISTC,
    &histogram::HISTOGRAM_EDGES,
    &histogram::HISTOGRAM,
    &histogram_nd::HISTOGRAMDD,
    &histogram_nd::HISTOGRAMDD_BINS,
    &histogram_nd::HISTOGRAMDD_EDGES,
];

/// The answer of an op whose operand requires grad but which has no derivative.
#[cold]
fn no_derivative<T>(op: &str, remedy: &str) -> Result<T> {
    Err(Error::not_implemented(format!("the derivative for '{op}' is not implemented: {remedy}")))
}
