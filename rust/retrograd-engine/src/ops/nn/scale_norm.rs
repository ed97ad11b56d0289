//! Norms that divide without centring: rms_norm, local_response_norm.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::layer_norm::{check, widened};
use crate::error::{Error, ErrorKind, Result, Shape};
use crate::ops::memory;
use crate::ops::view::cat;
use crate::tensor::{DType, Dims, Scalar, Tensor, default_dtype};

/// Divides by the root mean square over the last dims: `x / sqrt(mean(x**2) + eps)`, times `weight`.
///
/// Args: `input` floating or complex dtype; `normalized_shape` the sizes of the dims to normalize over, the last ones
/// of the input; `weight` a tensor of those sizes, or None; `eps` a number, None for the dtype's smallest step from 1.
/// Returns: a tensor of the input's shape. Derivative, with `h` the normalized input and `q = g * weight`: `(q - h *
/// mean(q * h)) / sqrt(mean(x**2) + eps)`; `g * h` for the weight, summed over the other dims. Raises: RuntimeError if
/// sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.rms_norm(rg.tensor([1.0, -1.0]), (2,), eps=0.0).tolist()
/// [1.0, -1.0]
#[op(function, norust, module = "nn.functional", "(weight=None, eps=None)")]
pub fn rms_norm(input: &Tensor, normalized_shape: &[i64], weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    const OP: &str = "rms_norm";
    let normalized = check(input, normalized_shape, weight, None)?;
    let least = match input.dtype().real() {
        DType::Float16 | DType::BFloat16 | DType::Float32 => f64::from(f32::EPSILON),
        DType::Float64 => f64::EPSILON,
        other => return Err(Error::no_kernel(OP, other)),
    };
    let axes: SmallVec<[i64; 5]> = (1..=normalized.len() as i64).map(|i| -i).collect();
    let x = widened(input)?;
    let squares = x.mul(&x)?.mean_dims(&axes, true)?;
    let y = x.mul(&squares.plus(eps.unwrap_or(least))?.rsqrt()?)?;
    memory::cast(&weight.map_or(Ok(y.clone()), |w| y.mul(w))?, input.dtype())
}

/// Divides by the response of neighbouring channels: `x / (k + alpha * mean(x**2))**beta`, the mean over `size`
/// channels around each, with zeros beyond the first and the last.
///
/// Args: `input` of shape (N, C, ...), with three or more dims, floating or complex dtype or int64; `size` a positive
/// number of channels; `alpha`, `beta`, `k` numbers. Returns: a tensor of the input's shape, for integers of the
/// default float dtype (their mean is rounded down, as torch rounds it).
/// Derivative: that of the quotient.
/// Raises: ValueError for fewer dims, RuntimeError for a `size` that is not positive.
///
/// >>> rg.nn.functional.local_response_norm(rg.tensor([[[1.0], [2.0]]]), 1, alpha=1.0, beta=1.0, k=0.0).tolist()
/// [[[1.0], [0.5]]]
#[op(function, norust, module = "nn.functional", "(alpha=1e-4, beta=0.75, k=1.0)")]
pub fn local_response_norm(input: &Tensor, size: i64, alpha: f64, beta: f64, k: f64) -> Result<Tensor> {
    const OP: &str = "local_response_norm";
    let dtype = input.dtype();
    // What torch calls the mean over the window.
    let whole = dtype.is_integral();
    if whole && dtype != DType::Int64 {
        return Err(ErrorKind::NoKernel { op: OP, kernel: "avg_pool2d", dtype }.into());
    }
    if input.ndim() < 3 {
        return Err(Error::value(
            OP,
            format!("Expected 3D or higher dimensionality input (got {} dimensions)", input.ndim()),
        ));
    }
    if input.numel() == 0 {
        return Ok(input.clone());
    }
    let channels = input.sizes()[1];
    if size < 1 {
        return Err(Error::shape(
            OP,
            format!("size should be a positive number of channels, got {size} for shape {}", Shape(input.sizes())),
        ));
    }
    // Windows reach `size / 2` channels back; windows entirely beyond the ends do not count.
    let (back, ahead) = (size / 2, (size - 1) / 2);
    let (back, ahead) = (back.min(channels as i64), ahead.min(channels as i64));
    let zeros = |n: i64| {
        let mut sizes = Dims::from_slice(input.sizes());
        sizes[1] = n as usize;
        Tensor::zeros(&sizes, input.dtype())
    };
    let padded = widened(&cat(&[zeros(back)?, input.mul(input)?, zeros(ahead)?], 1)?)?;
    let mut sums = padded.narrow(1, 0, channels as i64)?;
    for start in 1..=back + ahead {
        sums = sums.add(&padded.narrow(1, start, channels as i64)?)?;
    }
    let means = if whole {
        memory::cast(&sums.floor_divide(&Tensor::full(&[], Scalar::Int(size), dtype)?)?, default_dtype())?
    } else {
        sums.times(1.0 / size as f64)?
    };
    let normalized = widened(input)?.div(&means.times(alpha)?.plus(k)?.power(beta)?)?;
    if whole { Ok(normalized) } else { memory::cast(&normalized, dtype) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for (sizes, shape) in [(&[3, 4][..], &[4][..]), (&[2, 3, 2], &[3, 2]), (&[0, 3], &[3])] {
            let n: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
            let xs = [noise(1, sizes), noise(2, &n)];
            gradcheck(&|t| rms_norm(&t[0], shape, Some(&t[1]), Some(1e-2)), &xs);
            gradcheck(&|t| rms_norm(&t[0], shape, None, None), &xs[..1]);
        }
        for size in [1, 2, 3, 9, i64::MAX] {
            gradcheck(&|t| local_response_norm(&t[0], size, 0.5, 0.75, 1.0), &[noise(1, &[2, 4, 3])]);
        }
    }

    #[test]
    fn refusals() {
        let x = noise(1, &[2, 4, 3]);
        for size in [0, -1] {
            assert!(local_response_norm(&x, size, 1.0, 1.0, 1.0).is_err());
        }
        assert!(local_response_norm(&noise(1, &[2, 4]), 2, 1.0, 1.0, 1.0).is_err());
        assert!(rms_norm(&x, &[4], None, None).is_err());
        assert!(rms_norm(&Tensor::from_slice(&[1i64], &[1]).unwrap(), &[1], None, None).is_err());
    }
}
