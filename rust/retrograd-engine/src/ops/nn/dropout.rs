//! `dropout`.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply_inplace;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::compile::record;
use crate::error::{Error, Result};
use crate::generator::{Generator, default_generator};
use crate::kernels::random;
use crate::tensor::copy;
use crate::tensor::{DType, Dims, Dtypes, Scalar, Tensor, Truth};
use crate::transforms;

/// True with probability `keep`, in the memory order of `x`, in which they are drawn too, by the default generator.
pub(super) fn drawn_mask(x: &Tensor, keep: f64) -> Result<Tensor> {
    mask_like(x, keep, default_generator())
}

fn mask_like(x: &Tensor, keep: f64, generator: &Generator) -> Result<Tensor> {
    let mask = x.empty_like_layout(DType::Bool)?;
    if record::is_recording() {
        record::unwritten(&mask);
        return apply_inplace(DrawMask { keep, generator: generator.clone() }, &[&mask]);
    }
    draw_mask(&mask, keep, generator);
    Ok(mask)
}

/// Writes the draws to a dense tensor of bools.
fn draw_mask(mask: &Tensor, keep: f64, generator: &Generator) {
    // SAFETY: S1 and S3: a fresh dense tensor has its elements in one run; they are written before the slice is made.
    let run = unsafe {
        std::ptr::write_bytes(mask.ptr::<Truth>(), 0, mask.numel());
        std::slice::from_raw_parts_mut(mask.ptr::<Truth>(), mask.numel())
    };
    generator.with(|g| random::bernoulli(g, run, keep));
}

/// The draws of a mask, as an op: where what a function does is recorded.
#[derive(Clone, Debug)]
struct DrawMask {
    keep: f64,
    generator: Generator,
}

impl Primitive for DrawMask {
    const NAME: &'static str = "dropout_mask";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::BOOL;
    const BATCH: Batch<Self> = Batch::Loop;
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let mask = xs[0].empty_like_layout(DType::Bool)?;
        draw_mask(&mask, self.keep, &self.generator);
        Ok(out(mask))
    }
    unsafe fn forward_into(&self, _: &[&Tensor], out: &Tensor) -> Result<bool> {
        draw_mask(out, self.keep, &self.generator);
        Ok(true)
    }
    // Bools have no gradient.
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// The same as 1 and 0 in the dtype of `x`.
fn kept_like(x: &Tensor, keep: f64, generator: &Generator) -> Result<Tensor> {
    copy::cast(&mask_like(x, keep, generator)?, x.dtype())
}

/// What is dropped, and which value replaces it.
#[derive(Clone, Copy, Default)]
pub(super) struct How {
    /// Whole channels: one draw for each pair of indices of the first two dims.
    pub features: bool,
    /// What is dropped takes the value that SELU saturates at, and all is scaled and shifted to keep mean and variance.
    pub alpha: bool,
}

/// Refuses a probability outside 0 to 1.
pub(super) fn check_chance(op: &'static str, p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Error::value(op, format!("dropout probability has to be between 0 and 1, but got {p}")))
}

/// `input` with elements dropped with probability `p`, which was checked; `input` itself if nothing is dropped.
pub(super) fn dropped(op: &'static str, input: &Tensor, p: f64, inplace: bool, how: How) -> Result<Tensor> {
    if p == 0.0 || input.numel() == 0 {
        return Ok(input.clone());
    }
    if input.dtype().is_complex() {
        return Err(Error::no_kernel("bernoulli_scalar_cpu_", input.dtype()));
    }
    if !input.dtype().is_floating() {
        return Err(Error::dtype(
            op,
            format!(
                "result type Float can't be cast to the desired output type {}: convert the input with .to(float32)",
                input.dtype().scalar_type_name()
            ),
        ));
    }
    let times = |factors: &Tensor| if inplace { input.mul_(factors) } else { input.mul(factors) };
    if p == 1.0 {
        return times(&Tensor::full(&[], Scalar::Int(0), input.dtype())?);
    }
    let mut sizes = Dims::from_slice(input.sizes());
    if how.features {
        if sizes.len() < 2 {
            return Err(Error::shape(op, "Feature dropout requires at least 2 dimensions in the input"));
        }
        sizes[2..].fill(1);
    }
    let kept = transforms::drawn(op, &sizes, |sizes| {
        // Channels are drawn for in row-major order.
        let own = sizes == input.sizes() && !how.features;
        let like = if own { input.clone() } else { Tensor::empty(sizes, input.dtype())? };
        kept_like(&like, 1.0 - p, default_generator())
    })?;
    if !how.alpha {
        return times(&kept.div(&Tensor::number(Scalar::Float(1.0 - p))?)?);
    }
    // Minus the product of the scale and the alpha of SELU.
    const SATURATION: f64 = 1.758_099_340_847_376_6;
    let a = 1.0 / ((SATURATION * SATURATION * p + 1.0) * (1.0 - p)).sqrt();
    let shift = kept.plus(-1.0)?.times(SATURATION * a)?.plus(SATURATION * a * p)?;
    times(&kept.times(a)?)?.add_(&shift)
}

/// Zeroes elements at random, each with probability `p`, and scales the others by `1 / (1 - p)`; outside training,
/// nothing.
///
/// Args: `input` floating dtype, any shape; `p` from 0 to 1; `training` whether to do anything; `inplace` to write
/// to `input`. Draws from the default generator. Returns: a tensor of the same shape; `input` itself if nothing is
/// dropped. Derivative: `g` times the same factors. Raises: ValueError if `p` is out of range.
///
/// >>> rg.nn.functional.dropout(rg.ones(2), training=False).tolist()
/// [1.0, 1.0]
/// >>> rg.nn.functional.dropout(rg.ones(2), p=1.0).tolist()
/// [0.0, 0.0]
#[op(function, module = "nn.functional", "(p=0.5, training=True, inplace=False)")]
pub fn dropout(input: &Tensor, p: f64, training: bool, inplace: bool) -> Result<Tensor> {
    check_chance("dropout", p)?;
    if training { dropped("dropout", input, p, inplace, How::default()) } else { Ok(input.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;

    #[test]
    fn keeps_about_the_right_share_and_passes_gradients_there() {
        let x = Tensor::full(&[1000], 1.0.into(), DType::Float64).unwrap();
        let y = dropout(&x, 0.25, true, false).unwrap().to_vec::<f64>().unwrap();
        let kept = y.iter().filter(|v| **v != 0.0).count();
        assert!((700..800).contains(&kept), "{kept}");
        assert!(y.iter().all(|&v| v == 0.0 || (v - 4.0 / 3.0).abs() < 1e-12));
    }

    #[test]
    fn draws_in_memory_order_as_torch_does() {
        let _reading = crate::storage::reclaim::reading();
        let x = Tensor::full(&[2, 3], 1.0.into(), DType::Float32).unwrap();
        let y = kept_like(&x.t().unwrap(), 0.5, &Generator::new(0)).unwrap();
        assert_eq!(y.strides(), [1, 3]);
        assert_eq!(y.to_vec::<f32>().unwrap(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn does_nothing_where_there_is_nothing_to_do() {
        let x = noise(1, &[4]);
        assert!(dropout(&x, 0.5, false, false).unwrap().is_same(&x));
        assert!(dropout(&x, 0.0, true, false).unwrap().is_same(&x));
        assert_eq!(
            dropout(&x, 1.0, true, false).unwrap().to_vec::<f64>().unwrap().iter().map(|v| v.abs()).sum::<f64>(),
            0.0
        );
        assert!(dropout(&x, 1.5, true, false).is_err());
        assert!(dropout(&x, f64::NAN, true, false).is_err());
        assert!(dropout(&x, 0.5, true, true).unwrap().is_same(&x));
    }
}
