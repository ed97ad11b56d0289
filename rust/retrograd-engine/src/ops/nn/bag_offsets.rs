//! The indices of `embedding_bag`, and how offsets cut them into bags.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernels::strided::within;
use crate::tensor::Tensor;
use crate::tensor::copy;
use crate::transforms;

pub(super) const OP: &str = "embedding_bag";

/// A contiguous int64 copy of the indices, each checked to name a row (S6).
pub(super) fn checked_indices(indices: &Tensor, rows: usize) -> Result<Tensor> {
    let indices = copy::own_indices(indices)?;
    let list = indices.as_slice::<i64>().unwrap_or(&[]);
    if within(list, rows) {
        return Ok(indices);
    }
    match list.iter().enumerate().find(|(_, i)| **i < 0 || **i >= rows as i64) {
        None => Ok(indices),
        Some((k, i)) => Err(Error::shape(
            OP,
            format!("Index {k} of input takes value {i} which is not in the valid range [0, {rows})"),
        )),
    }
}

/// The bags that offsets cut `count` indices into.
pub(super) fn cut(offsets: &Tensor, count: usize, closed: bool) -> Result<Arc<[Range<usize>]>> {
    transforms::check_read(OP, offsets)?;
    // S6.
    let offsets = copy::own_indices(offsets)?;
    let list = offsets.as_slice::<i64>().unwrap_or(&[]);
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if closed && list.is_empty() {
        return refuse("include_last_offset: number of offset should be at least 1".into());
    }
    if let Some(&first) = list.first()
        && first != 0
    {
        return refuse(format!(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got {first}"
        ));
    }
    if let Some(&last) = list.last()
        && last > count as i64
    {
        return refuse(format!(
            "offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}"
        ));
    }
    let mut starts: Vec<usize> = list.iter().map(|&o| o.max(0) as usize).collect();
    if !list.is_sorted() {
        return refuse(format!("offsets must not descend, got {list:?}"));
    }
    if !closed {
        starts.push(count);
    }
    if list.is_empty() {
        return Ok(Arc::new([]));
    }
    Ok(starts.windows(2).map(|w| w[0]..w[1]).collect())
}
