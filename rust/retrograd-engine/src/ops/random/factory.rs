//! Random tensors: from a size, and like another tensor.

use retrograd_macros::op;

use super::draw::Draw;
use super::fill;
use crate::error::{Error, Result};
use crate::generator::{Generator, default_generator};
use crate::kernels::random;
use crate::ops::create::{blank, sizes};
use crate::ops::{TensorOptions, memory};
use crate::tensor::{DType, MemoryFormat, Scalar, Tensor, Truth, default_dtype};
use crate::transforms;

/// A fresh tensor of draws.
pub(super) fn fresh(
    op: &'static str,
    size: &[i64],
    usual: DType,
    how: Draw,
    generator: Option<&Generator>,
    options: TensorOptions,
) -> Result<Tensor> {
    let dtype = options.dtype_or(op, usual)?;
    how.check(dtype)?;
    let t = transforms::drawn(op, &sizes(op, size)?, |sizes| {
        let t = Tensor::empty(sizes, dtype)?;
        fill(&t, how, generator)?;
        Ok(t)
    })?;
    options.leaf(t)
}

/// As [`fresh`], like another tensor in size, dtype and memory order.
fn fresh_like(
    op: &'static str,
    input: &Tensor,
    how: Draw,
    generator: Option<&Generator>,
    options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    how.check(options.dtype_or(op, input.dtype())?)?;
    let one = blank(op, input, options, memory_format)?;
    let t = transforms::drawn(op, one.sizes(), |sizes| {
        // Batch axes come first; each entry is then in row-major order.
        let t = if sizes == one.sizes() { one.clone() } else { Tensor::empty(sizes, one.dtype())? };
        fill(&t, how, generator)?;
        Ok(t)
    })?;
    options.leaf(t)
}

/// Uniform random numbers in `[0, 1)`.
///
/// Args: `size` integers or one sequence of them; `generator` draws (the default one); `dtype` (the default float
/// dtype); the rest as `empty`. Returns: the numbers that torch draws from the same seed. Raises: as `empty`, and
/// NotImplementedError for a dtype that is neither floating nor complex.
///
/// >>> rg.rand(2, 3).shape
/// retrograd.Size([2, 3])
#[op(function, out, "(*, generator=None)")]
pub fn rand(#[size] size: &[i64], generator: Option<&Generator>, #[options] options: TensorOptions) -> Result<Tensor> {
    fresh("rand", size, default_dtype(), Draw::Uniform { lo: 0.0, hi: 1.0 }, generator, options)
}

/// Normal random numbers of mean 0 and standard deviation 1.
///
/// Args: `size` integers or one sequence of them; `generator` draws (the default one); `dtype` (the default float
/// dtype); the rest as `empty`. Returns: the numbers that torch draws from the same seed. Raises: as `empty`, and
/// NotImplementedError for a dtype that is neither floating nor complex.
///
/// >>> rg.randn(2, 3).shape
/// retrograd.Size([2, 3])
#[op(function, out, "(*, generator=None)")]
pub fn randn(#[size] size: &[i64], generator: Option<&Generator>, #[options] options: TensorOptions) -> Result<Tensor> {
    fresh("randn", size, default_dtype(), Draw::Normal { mean: 0.0, std: 1.0 }, generator, options)
}

/// Random integers in `[0, high)`.
///
/// Args: `high` an integer; `size` a sequence of integers; `generator` draws (the default one); `dtype` (int64);
/// the rest as `empty`. Returns: the numbers that torch draws from the same seed. Raises: as `empty`, and RuntimeError
/// if the range is empty or leaves the dtype.
///
/// >>> rg.randint(1, (2,)).tolist()
/// [0, 0]
#[op(function, out, name = "randint", "(*, generator=None)")]
pub fn randint_to(
    high: i64,
    size: &[i64],
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    fresh("randint", size, DType::Int64, Draw::Below { lo: 0, hi: high }, generator, options)
}

/// Random integers in `[low, high)`.
///
/// Args: `low`, `high` integers; `size` a sequence of integers; `generator` draws (the default one); `dtype` (int64);
/// the rest as `empty`. Returns: the numbers that torch draws from the same seed. Raises: as `empty`, and RuntimeError
/// if the range is empty or leaves the dtype.
///
/// >>> rg.randint(7, 8, (2,)).tolist()
/// [7, 7]
#[op(function, out, name = "randint", "(*, generator=None)")]
pub fn randint_from(
    low: i64,
    high: i64,
    size: &[i64],
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    fresh("randint", size, DType::Int64, Draw::Below { lo: low, hi: high }, generator, options)
}

/// A random permutation of the integers from 0 to before `n`.
///
/// Args: `n` how many; `generator` draws (the default one); `dtype` (int64); the rest as `empty`.
/// Returns: a 1-dim tensor. Raises: RuntimeError if `n` is negative or too large for the dtype.
///
/// >>> sorted(rg.randperm(4).tolist())
/// [0, 1, 2, 3]
#[op(function, out, "(*, generator=None)")]
pub fn randperm(n: i64, generator: Option<&Generator>, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("randperm", DType::Int64)?;
    let size = sizes("randperm", &[n])?;
    let largest = match dtype {
        DType::Bool | DType::Complex32 | DType::Complex64 | DType::Complex128 => {
            return Err(Error::no_kernel("randperm", dtype));
        }
        DType::UInt16 => i64::from(u16::MAX),
        DType::UInt32 => i64::from(u32::MAX),
        DType::UInt8 => 255,
        DType::Int8 => 127,
        DType::Int16 => i64::from(i16::MAX),
        DType::Int32 => i64::from(i32::MAX),
        DType::Int64 | DType::UInt64 => i64::MAX,
        DType::Float16 => 1 << 11,
        DType::BFloat16 => 1 << 8,
        DType::Float32 => 1 << 24,
        DType::Float64 => 1 << 53,
    };
    if n > largest {
        return Err(Error::shape(
            "randperm",
            format!(
                "value cannot be converted to type {} without overflow: n is at most {largest}, got {n}",
                dtype.name()
            ),
        ));
    }
    let generator = generator.unwrap_or_else(|| default_generator());
    let t = transforms::drawn("randperm", &size, |sizes| {
        Tensor::build::<i64>(sizes, |out| {
            for line in out.chunks_mut((n as usize).max(1)) {
                generator.with(|g| random::permutation(g, line));
            }
        })
    })?;
    let t = memory::cast(&t, dtype)?;
    options.leaf(t)
}

/// Uniform random numbers in `[0, 1)`, of the size and dtype of `input`.
///
/// Args: `input` any tensor; `generator` draws (the default one); `dtype` another dtype; the rest as
/// `empty_like`. Raises: as `rand`.
///
/// >>> rg.rand_like(rg.zeros(2)).shape
/// retrograd.Size([2])
#[op(function, "(*, generator=None, memory_format=None)")]
pub fn rand_like(
    input: &Tensor,
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    fresh_like("rand_like", input, Draw::Uniform { lo: 0.0, hi: 1.0 }, generator, options, memory_format)
}

/// Normal random numbers of mean 0 and standard deviation 1, of the size and dtype of `input`.
///
/// Args: `input` any tensor; `generator` draws (the default one); `dtype` another dtype; the rest as
/// `empty_like`. Raises: as `randn`.
///
/// >>> rg.randn_like(rg.zeros(2)).shape
/// retrograd.Size([2])
#[op(function, "(*, generator=None, memory_format=None)")]
pub fn randn_like(
    input: &Tensor,
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    fresh_like("randn_like", input, Draw::Normal { mean: 0.0, std: 1.0 }, generator, options, memory_format)
}

/// Random integers in `[0, high)`, of the size and dtype of `input`.
///
/// Args: `input` any tensor; `high` an integer; `generator` draws (the default one); `dtype` another dtype; the rest as
/// `empty_like`. Raises: as `randint`.
///
/// >>> rg.randint_like(rg.zeros(2), 1).tolist()
/// [0.0, 0.0]
#[op(function, name = "randint_like", "(*, generator=None, memory_format=None)")]
pub fn randint_like_to(
    input: &Tensor,
    high: i64,
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    fresh_like("randint_like", input, Draw::Below { lo: 0, hi: high }, generator, options, memory_format)
}

/// Random integers in `[low, high)`, of the size and dtype of `input`.
///
/// Args: `input` any tensor; `low`, `high` integers; `generator` draws (the default one); `dtype` another dtype; the
/// rest as `empty_like`. Raises: as `randint`.
///
/// >>> rg.randint_like(rg.zeros(2), 7, 8).tolist()
/// [7.0, 7.0]
#[op(function, name = "randint_like", "(*, generator=None, memory_format=None)")]
pub fn randint_like_from(
    input: &Tensor,
    low: i64,
    high: i64,
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    fresh_like("randint_like", input, Draw::Below { lo: low, hi: high }, generator, options, memory_format)
}

/// Random 0 and 1 for a dropout mask: true with probability `p`, the draws of torch's dropout for a contiguous tensor.
pub fn bernoulli_mask(sizes: &[usize], p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    super::draw::check_chance(Scalar::Float(p))?;
    let generator = generator.unwrap_or_else(|| default_generator());
    Tensor::build::<Truth>(sizes, |out| generator.with(|g| random::bernoulli(g, out, p)))
}
