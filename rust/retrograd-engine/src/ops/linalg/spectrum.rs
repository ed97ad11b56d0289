//! What is computed by singular values: norms and condition numbers.

use retrograd_macros::op;

use super::{checks, qr, svd};
use crate::error::{Error, Result};
use crate::ops::create::eye;
use crate::ops::memory::cast;
use crate::ops::reduce::norm::{matrix_norm, matrix_norm_number};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Scalar, Tensor};

/// A norm by singular values.
#[derive(Clone, Copy, Debug)]
pub enum Spectral {
    Largest,
    Smallest,
    Sum,
}

/// The norm of the matrices in two axes, which are checked.
pub fn spectral_norm(
    op: &'static str,
    x: &Tensor,
    which: Spectral,
    dim: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let x = cast(x, dtype.unwrap_or(x.dtype()))?;
    let axes = [wrap_dim(op, dim[0], x.ndim())?, wrap_dim(op, dim[1], x.ndim())?];
    let mut order: Vec<i64> = (0..x.ndim()).filter(|axis| !axes.contains(axis)).map(|axis| axis as i64).collect();
    order.extend(axes.map(|axis| axis as i64));
    let last = if order.iter().enumerate().all(|(i, &axis)| i as i64 == axis) { x.clone() } else { x.permute(&order)? };
    let values = svd::values(op, &last)?;
    let mut norms = match which {
        Spectral::Sum => values.sum_dims(&[-1], false)?,
        // The largest of none, as none is negative.
        Spectral::Largest if values.sizes().last() == Some(&0) => values.sum_dims(&[-1], false)?,
        Spectral::Largest => values.amax(&[-1], false)?,
        Spectral::Smallest => values.amin(&[-1], false)?,
    };
    if keepdim {
        let mut sorted = axes;
        sorted.sort_unstable();
        for axis in sorted {
            norms = norms.unsqueeze(axis as i64)?;
        }
    }
    Ok(norms)
}

/// The sum of the singular values of a matrix.
///
/// Args: `input` a matrix of dtype float32, float64, complex64 or complex128; `keepdim` keeps its axes with size 1.
/// Derivative: `g U V^H`. Raises: RuntimeError unless it has 2 dims.
///
/// >>> rg.nuclear_norm(rg.tensor([[3.0, 0.0], [0.0, 4.0]])).item()
/// 7.0
#[op(function, out, norust, name = "nuclear_norm", "(keepdim=False)")]
pub fn nuclear_norm_all(input: &Tensor, keepdim: bool) -> Result<Tensor> {
    if input.ndim() < 2 {
        return Err(Error::shape(
            "nuclear_norm",
            format!("linalg.matrix_norm: The input tensor A must have at least 2 dimensions. Got {}.", input.ndim()),
        ));
    }
    matrix_norm(input, "nuc", &[-2, -1], keepdim, None)
}

/// The sums of the singular values of the matrices in two axes.
///
/// Args: `dim` the axes; `keepdim` keeps them with size 1.
///
/// >>> tuple(rg.nuclear_norm(rg.ones(2, 1, 2), (0, 2)).shape)
/// (1,)
#[op(function, out, norust, name = "nuclear_norm", "(keepdim=False)")]
pub fn nuclear_norm(input: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    matrix_norm(input, "nuc", dim, keepdim, None)
}

/// A norm by a number or a name.
#[derive(Clone, Copy)]
enum Ord<'a> {
    Number(Scalar),
    Name(&'a str),
}

fn condition(x: &Tensor, p: Option<Ord>) -> Result<Tensor> {
    const OP: &str = "linalg.cond";
    if x.ndim() < 2 {
        return Err(Error::shape(OP, "linalg.cond: The input tensor must have at least 2 dimensions."));
    }
    let invalid = |p: String| Err(Error::shape(OP, format!("linalg.cond got an invalid norm type: {p}")));
    let two = match p {
        None => Some(true),
        Some(Ord::Number(p)) if p.as_f64() == 2.0 => Some(true),
        Some(Ord::Number(p)) if p.as_f64() == -2.0 => Some(false),
        Some(Ord::Number(p)) if matches!(p.as_f64().abs(), 1.0 | f64::INFINITY) => None,
        Some(Ord::Number(p)) => return invalid(p.as_f64().to_string()),
        Some(Ord::Name(_)) => None,
    };
    if let Some(largest_first) = two {
        if x.numel() == 0 {
            let batch = super::batch::batch_of(x);
            return Tensor::zeros(batch, x.dtype().real());
        }
        let values = svd::values(OP, x)?;
        let k = *values.sizes().last().expect("values of a matrix") as i64;
        let (largest, smallest) = (values.narrow(-1, 0, 1)?, values.narrow(-1, k - 1, 1)?);
        let ratio = if largest_first { largest.div(&smallest)? } else { smallest.div(&largest)? };
        return ratio.squeeze_dims(&[-1]);
    }
    let p = p.expect("an order");
    let shown = match p {
        Ord::Number(p) => p.as_f64().to_string(),
        Ord::Name(p) => p.to_string(),
    };
    checks::square(OP, &format!("linalg.cond(ord={shown})"), x, "A")?;
    if let Ord::Name(name) = p
        && !matches!(name, "fro" | "nuc")
    {
        return invalid(shown);
    }
    if x.numel() == 0 {
        return Tensor::zeros(super::batch::batch_of(x), x.dtype().real());
    }
    let norm = |x: &Tensor| match p {
        Ord::Number(p) => matrix_norm_number(x, p, &[-2, -1], false, None),
        Ord::Name(p) => matrix_norm(x, p, &[-2, -1], false, None),
    };
    norm(x)?.mul(&norm(&inverse(x)?)?)
}

/// The inverses of matrices.
fn inverse(x: &Tensor) -> Result<Tensor> {
    let n = super::batch::sizes_of(x).0;
    let identity = crate::ops::view::expand_to(&eye(n as i64, None, x.dtype().into())?, x.sizes())?;
    qr::solution(x, &identity)
}

/// The condition number of matrices: how much a relative error may grow in a solution.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `p` None or 2 for the largest singular value
/// over the smallest, -2 for its inverse; 1, -1, infinity or minus infinity for the product of the norms of a square
/// matrix and of its inverse. Returns: real numbers of the shape of the batch; infinite or NaN for a singular matrix.
/// Derivative: that of the norms. Raises: RuntimeError for another `p`, or if matrices are not square for one that
/// needs it.
///
/// >>> rg.linalg.cond(rg.tensor([[2.0, 0.0], [0.0, 1.0]])).item()
/// 2.0
#[op(function, out, module = "linalg", "(p=None)")]
#[allow(non_snake_case)]
pub fn cond(A: &Tensor, p: Option<Scalar>) -> Result<Tensor> {
    condition(A, p.map(Ord::Number))
}

/// The condition number of square matrices by the name of a norm.
///
/// Args: `p` "fro" or "nuc".
///
/// >>> rg.linalg.cond(rg.tensor([[1.0, 0.0], [0.0, 1.0]]), "nuc").item()
/// 4.0
#[op(function, out, module = "linalg", norust, name = "cond")]
#[allow(non_snake_case)]
pub fn cond_named(A: &Tensor, p: &str) -> Result<Tensor> {
    condition(A, Some(Ord::Name(p)))
}
