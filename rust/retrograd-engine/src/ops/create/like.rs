//! Tensors made after another: `*_like` with its size and memory order, `new_*` with its dtype.

use retrograd_macros::op;

use super::{blank_strided, clear, set_all, sizes, uninitialised};
use crate::error::Result;
use crate::ops::pointwise::check_number;
use crate::ops::{TensorOptions, sparse};
use crate::tensor::sparse::check_strided;
use crate::tensor::{MemoryFormat, Scalar, Tensor};
use crate::transforms;

/// A tensor of the size of `input`, not initialised: in its memory order, unless another is named.
pub(crate) fn blank(
    op: &'static str,
    input: &Tensor,
    options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    check_strided(op, input)?;
    let dtype = options.dtype_or(op, input.dtype())?;
    input.empty_in(op, memory_format.unwrap_or(MemoryFormat::Preserve), dtype)
}

/// A tensor like a sparse one, without entries.
#[cold]
fn no_entries(op: &'static str, input: &Tensor, options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or(op, input.dtype())?;
    options.leaf(sparse::copied(&sparse::emptied(op, input)?, dtype)?)
}

/// `t`, made after `input`: batched where that is, so that it can be written with values made from it.
fn beside(input: &Tensor, t: Tensor) -> Result<Tensor> {
    if input.is_batched() { transforms::widened(&t, input) } else { Ok(t) }
}

/// A tensor not initialised, of the size and dtype of `input`, in its memory order.
///
/// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
/// Raises: RuntimeError if `requires_grad` and the dtype carries no gradient.
///
/// >>> t = rg.empty_like(rg.tensor([1.0, 2.0]))
/// >>> t.shape
/// retrograd.Size([2])
#[op(function, "(*, memory_format=None)")]
pub fn empty_like(
    input: &Tensor,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    if input.is_sparse() {
        return no_entries("empty_like", input, options);
    }
    let t = uninitialised(blank("empty_like", input, options, memory_format)?)?;
    options.leaf(beside(input, t)?)
}

/// Zeros, of the size and dtype of `input`, in its memory order.
///
/// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
/// Raises: RuntimeError if `requires_grad` and the dtype carries no gradient.
///
/// >>> t = rg.zeros_like(rg.tensor([1.0, 2.0]))
/// >>> t.tolist()
/// [0.0, 0.0]
#[op(function, "(*, memory_format=None)")]
pub fn zeros_like(
    input: &Tensor,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    if input.is_sparse() {
        return no_entries("zeros_like", input, options);
    }
    let t = blank("zeros_like", input, options, memory_format)?;
    clear(&t);
    options.leaf(beside(input, t)?)
}

/// Ones, of the size and dtype of `input`, in its memory order.
///
/// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
/// Raises: RuntimeError if `requires_grad` and the dtype carries no gradient.
///
/// >>> t = rg.ones_like(rg.tensor([1.0, 2.0]))
/// >>> t.tolist()
/// [1.0, 1.0]
#[op(function, "(*, memory_format=None)")]
pub fn ones_like(
    input: &Tensor,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let t = blank("ones_like", input, options, memory_format)?;
    set_all(&t, Scalar::Int(1));
    options.leaf(beside(input, t)?)
}

/// A tensor filled with one number, of the size and dtype of `input`, in its memory order.
///
/// Args: `input` any tensor; `fill_value` a number; `dtype` another dtype; `memory_format` another order of the axes.
/// Raises: RuntimeError if `requires_grad` and the dtype carries no gradient, or if the dtype cannot hold the number.
///
/// >>> t = rg.full_like(rg.tensor([1.0, 2.0]), 7)
/// >>> t.tolist()
/// [7.0, 7.0]
#[op(function, "(*, memory_format=None)")]
pub fn full_like(
    input: &Tensor,
    fill_value: Scalar,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let t = blank("full_like", input, options, memory_format)?;
    check_number("full_like", fill_value, t.dtype())?;
    set_all(&t, fill_value);
    options.leaf(beside(input, t)?)
}

/// A tensor not initialised, of the given size and the dtype of this tensor.
///
/// Args: `size` integers or one sequence of them; `dtype` another dtype. Raises: as `empty`.
///
/// >>> rg.tensor([1.0]).new_empty(2).shape
/// retrograd.Size([2])
#[op(method, norust)]
pub fn new_empty(input: &Tensor, #[size] size: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("new_empty", input.dtype())?;
    let size = sizes("new_empty", size)?;
    options.leaf(beside(input, uninitialised(Tensor::empty(&size, dtype)?)?)?)
}

/// A tensor not initialised, of the given size and strides and the dtype of this tensor.
///
/// Args: `size`, `stride` sequences of integers; `dtype` another dtype. Raises: as `empty_strided`.
///
/// >>> rg.tensor([1]).new_empty_strided((2, 3), (1, 2)).stride()
/// (1, 2)
#[op(method, norust)]
pub fn new_empty_strided(
    input: &Tensor,
    size: &[i64],
    stride: &[i64],
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    let dtype = options.dtype_or("new_empty_strided", input.dtype())?;
    let t = uninitialised(blank_strided("new_empty_strided", size, stride, dtype)?)?;
    options.leaf(beside(input, t)?)
}

/// Zeros, of the given size and the dtype of this tensor.
///
/// Args: `size` integers or one sequence of them; `dtype` another dtype. Raises: as `zeros`.
///
/// >>> rg.tensor([1.0]).new_zeros(2).tolist()
/// [0.0, 0.0]
#[op(method, norust)]
pub fn new_zeros(input: &Tensor, #[size] size: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("new_zeros", input.dtype())?;
    let size = sizes("new_zeros", size)?;
    options.leaf(beside(input, Tensor::zeros(&size, dtype)?)?)
}

/// Ones, of the given size and the dtype of this tensor.
///
/// Args: `size` integers or one sequence of them; `dtype` another dtype. Raises: as `ones`.
///
/// >>> rg.tensor([1.0]).new_ones(2).tolist()
/// [1.0, 1.0]
#[op(method, norust)]
pub fn new_ones(input: &Tensor, #[size] size: &[i64], #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("new_ones", input.dtype())?;
    let size = sizes("new_ones", size)?;
    options.leaf(beside(input, Tensor::ones(&size, dtype)?)?)
}

/// A tensor filled with one number, of the given size and the dtype of this tensor.
///
/// Args: `size` a sequence of integers; `fill_value` a number; `dtype` another dtype. Raises: as `full`.
///
/// >>> rg.tensor([1.0]).new_full((2,), 7).tolist()
/// [7.0, 7.0]
#[op(method, norust)]
pub fn new_full(input: &Tensor, size: &[i64], fill_value: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("new_full", input.dtype())?;
    check_number("new_full", fill_value, dtype)?;
    let size = sizes("new_full", size)?;
    options.leaf(beside(input, Tensor::full(&size, fill_value, dtype)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn likes_keep_memory_order_and_news_the_dtype() {
        let usual = TensorOptions::default();
        let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        let t = x.view_as(&[3, 2], &[1, 3], 0).unwrap();
        let z = zeros_like(&t, usual.requires_grad(true), None).unwrap();
        assert!(z.strides() == [1, 3] && z.requires_grad() && z.dtype() == DType::Float64);
        let f = full_like(&t, Scalar::Int(7), DType::Int8.into(), Some(MemoryFormat::Contiguous)).unwrap();
        assert!(f.is_contiguous() && f.to_vec::<i8>().unwrap() == [7; 6]);
        let wide = x.view_as(&[4, 2, 3], &[0, 3, 1], 0).unwrap();
        assert!(ones_like(&wide, usual, None).unwrap().to_vec::<f64>().unwrap() == [1.0; 24]);
        assert!(ones_like(&x, usual.dtype(DType::Int64).requires_grad(true), None).is_err());
        let n = new_full(&x, &[2], Scalar::Int(1), usual).unwrap();
        assert_eq!(n.dtype(), DType::Float64);
        assert!(new_zeros(&x, &[-1], usual).is_err());
    }
}
