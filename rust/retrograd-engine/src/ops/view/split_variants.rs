//! Parts of an axis as independent views: tensor_split, hsplit, vsplit, dsplit.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Tensor};

/// The parts of an axis that end, and begin again, at `indices`.
fn at(x: &Tensor, dim: usize, indices: &[i64]) -> Result<Vec<Tensor>> {
    let starts = std::iter::once(0).chain(indices.iter().copied());
    let ends = indices.iter().copied().map(Some).chain([None]);
    starts.zip(ends).map(|(start, end)| x.slice(dim as i64, Some(start), end, 1)).collect()
}

/// `sections` parts, the first ones longer by one if they cannot be equal.
fn even(op: &'static str, x: &Tensor, dim: usize, sections: i64) -> Result<Vec<Tensor>> {
    if sections <= 0 {
        return Err(Error::shape(op, format!("number of sections must be larger than 0, got {sections}")));
    }
    let n = x.sizes()[dim] as i64;
    let (each, longer) = (n / sections, n % sections);
    let part = |i: i64| {
        let start = i * each + i.min(longer);
        x.slice(dim as i64, Some(start), Some(start + each + i64::from(i < longer)), 1)
    };
    (0..sections).map(part).collect()
}

fn axis(x: &Tensor, dim: i64) -> Result<usize> {
    if x.ndim() == 0 {
        return Err(Error::shape(
            "tensor_split",
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
        ));
    }
    wrap_dim("tensor_split", dim, x.ndim())
}

/// Views of parts of an axis that end at indices.
///
/// Args: `indices` where parts end, as in slices; or `sections`, a number of parts, equal but for the first ones that
/// may be longer by one; or `tensor_indices_or_sections`, an int64 tensor of either; `dim` the axis. Returns: a tuple
/// of views. Derivative: `g` there, zeros elsewhere.
/// Raises: RuntimeError for a 0-dim tensor or no parts; IndexError if the axis does not exist.
///
/// >>> [part.tolist() for part in rg.tensor_split(rg.tensor([1.0, 2.0, 3.0]), (1,))]
/// [[1.0], [2.0, 3.0]]
#[op(function, method, norust, "(dim=0)")]
pub fn tensor_split(input: &Tensor, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    at(input, axis(input, dim)?, indices)
}

/// Views of equal parts of an axis.
///
/// >>> [part.tolist() for part in rg.tensor_split(rg.tensor([1.0, 2.0, 3.0]), 2)]
/// [[1.0, 2.0], [3.0]]
#[op(function, method, norust, name = "tensor_split", "(dim=0)")]
pub fn tensor_split_even(input: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    even("tensor_split", input, axis(input, dim)?, sections)
}

/// Views of parts of an axis, whose number or ends a tensor gives.
///
/// >>> [part.tolist() for part in rg.tensor_split(rg.tensor([1.0, 2.0, 3.0]), rg.tensor([1]))]
/// [[1.0], [2.0, 3.0]]
#[op(function, method, norust, name = "tensor_split", "(dim=0)")]
pub fn tensor_split_as(input: &Tensor, tensor_indices_or_sections: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    let told = tensor_indices_or_sections;
    if told.dtype() != DType::Int64 {
        return Err(Error::dtype(
            "tensor_split",
            format!(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got {}",
                told.dtype().name()
            ),
        ));
    }
    let values = told.to_vec::<i64>()?;
    match told.ndim() {
        0 => tensor_split_even(input, values[0], dim),
        1 => tensor_split(input, &values, dim),
        n => Err(Error::shape(
            "tensor_split",
            format!(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a \
                 tensor with {n} dims"
            ),
        )),
    }
}

/// The checks of `hsplit`, `vsplit` and `dsplit`; returns the axis to split.
fn checked(op: &'static str, x: &Tensor, least: usize, sections: Option<i64>) -> Result<usize> {
    if x.ndim() < least {
        return Err(Error::shape(
            op,
            format!(
                "torch.{op} requires a tensor with at least {least} dimension, but got a tensor with {} dimensions!",
                x.ndim()
            ),
        ));
    }
    let dim = match op {
        "hsplit" => usize::from(x.ndim() > 1),
        "vsplit" => 0,
        _ => 2,
    };
    let n = x.sizes()[dim] as i64;
    match sections {
        Some(s) if s == 0 || n % s != 0 => Err(Error::shape(
            op,
            format!(
                "torch.{op} attempted to split along dimension {dim}, but the size of the dimension {n} is not divisible by the \
                 split_size {s}!"
            ),
        )),
        _ => Ok(dim),
    }
}

/// Views of parts of columns (the second axis, or the only one) that end at indices; see `tensor_split`.
///
/// Raises: RuntimeError for a 0-dim tensor, or if a number of parts does not divide the axis.
///
/// >>> [part.tolist() for part in rg.hsplit(rg.tensor([[1.0, 2.0, 3.0]]), (1,))]
/// [[[1.0]], [[2.0, 3.0]]]
#[op(function, method, norust)]
pub fn hsplit(input: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    at(input, checked("hsplit", input, 1, None)?, indices)
}

/// Views of equal parts of columns.
///
/// >>> [part.tolist() for part in rg.hsplit(rg.tensor([1.0, 2.0]), 2)]
/// [[1.0], [2.0]]
#[op(function, method, norust, name = "hsplit")]
pub fn hsplit_even(input: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    even("hsplit", input, checked("hsplit", input, 1, Some(sections))?, sections)
}

/// Views of parts of rows, the first axis, that end at indices; see `tensor_split`.
///
/// Raises: RuntimeError for fewer than 2 dims, or if a number of parts does not divide the axis.
///
/// >>> [part.tolist() for part in rg.vsplit(rg.tensor([[1.0], [2.0], [3.0]]), (1,))]
/// [[[1.0]], [[2.0], [3.0]]]
#[op(function, method, norust)]
pub fn vsplit(input: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    at(input, checked("vsplit", input, 2, None)?, indices)
}

/// Views of equal parts of rows.
///
/// >>> [part.tolist() for part in rg.vsplit(rg.tensor([[1.0], [2.0]]), 2)]
/// [[[1.0]], [[2.0]]]
#[op(function, method, norust, name = "vsplit")]
pub fn vsplit_even(input: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    even("vsplit", input, checked("vsplit", input, 2, Some(sections))?, sections)
}

/// Views of parts of the third axis that end at indices; see `tensor_split`.
///
/// Raises: RuntimeError for fewer than 3 dims, or if a number of parts does not divide the axis.
///
/// >>> [tuple(part.shape) for part in rg.dsplit(rg.zeros(1, 1, 3), (1,))]
/// [(1, 1, 1), (1, 1, 2)]
#[op(function, method, norust)]
pub fn dsplit(input: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    at(input, checked("dsplit", input, 3, None)?, indices)
}

/// Views of equal parts of the third axis.
///
/// >>> [tuple(part.shape) for part in rg.dsplit(rg.zeros(1, 1, 4), 2)]
/// [(1, 1, 2), (1, 1, 2)]
#[op(function, method, norust, name = "dsplit")]
pub fn dsplit_even(input: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    even("dsplit", input, checked("dsplit", input, 3, Some(sections))?, sections)
}
