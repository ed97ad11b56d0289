//! The indices of `embedding_bag`: how offsets cut them into bags, and rows of the table scaled down before use.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernels::copy;
use crate::tensor::{DType, Scalar, Tensor};
use crate::transforms;

pub(super) const OP: &str = "embedding_bag";

/// The indices as a contiguous int64 tensor, each checked to name a row.
pub(super) fn checked_indices(indices: &Tensor, rows: usize) -> Result<Tensor> {
    let indices = copy::contiguous(&copy::cast(indices, DType::Int64)?)?;
    let list = indices.as_slice::<i64>().unwrap_or(&[]);
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
    let offsets = copy::contiguous(&copy::cast(offsets, DType::Int64)?)?;
    let list = offsets.as_slice::<i64>().unwrap_or(&[]);
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if closed && list.is_empty() {
        return refuse("include_last_offset: number of offsets should be at least 1".into());
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

/// Rows of the table whose norm exceeds `max_norm` are scaled down to it, in place.
pub(super) fn renormalize(weight: &Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<()> {
    let rows = weight.sizes()[0];
    let indices = checked_indices(indices, rows)?;
    let mut list = indices.as_slice::<i64>().unwrap_or(&[]).to_vec();
    list.sort_unstable();
    list.dedup();
    let plain = weight.detach();
    for &i in &list {
        let row = plain.select(0, i)?;
        let values = row.to_vec::<f64>()?;
        let norm = if norm_type.is_infinite() {
            values.iter().fold(0.0f64, |m, v| m.max(v.abs()))
        } else if norm_type == 0.0 {
            values.iter().filter(|v| **v != 0.0).count() as f64
        } else {
            values.iter().map(|v| v.abs().powf(norm_type)).sum::<f64>().powf(norm_type.recip())
        };
        if norm > max_norm {
            row.mul_(&Tensor::number(Scalar::Float(max_norm / (norm + 1e-7)))?)?;
        }
    }
    Ok(())
}
