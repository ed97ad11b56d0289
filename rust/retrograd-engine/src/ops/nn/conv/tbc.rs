//! `conv_tbc`: a convolution along time of an input (time, batch, channels).

use retrograd_macros::op;
use smallvec::smallvec;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params,
};
use crate::error::{Error, Result};
use crate::ops::nn::image::constant_pad_nd;
use crate::ops::view;
use crate::tensor::{Dtypes, Scalar, Tensor};

/// `conv_tbc`: `y[t] = sum of x[t + k - pad] w[k] over k, + b`. Reverse: `gw[k] = sum of x[t + k - pad]^T g[t] over t`,
/// and `gx` the same op on `g` with the taps in reverse order and transposed.
#[derive(Clone, Debug)]
struct ConvTbc {
    pad: i64,
}

/// The input with `pad` steps of zeros before and behind; without steps, if that is negative.
fn padded(x: &Tensor, pad: i64) -> Result<Tensor> {
    if pad == 0 { Ok(x.clone()) } else { constant_pad_nd(x, &[0, 0, 0, 0, pad, pad], Scalar::Int(0)) }
}

/// The convolution without bias, in recorded ops: a product of matrices for every tap.
fn convolved(x: &Tensor, w: &Tensor, pad: i64) -> Result<Tensor> {
    let x = padded(x, pad)?;
    let (steps, taps) = (x.sizes()[0], w.sizes()[0]);
    let length = (steps + 1).saturating_sub(taps);
    let mut sum: Option<Tensor> = None;
    for tap in 0..taps as i64 {
        let part = x.narrow(0, tap, length as i64)?.matmul(&w.select(0, tap)?)?;
        sum = Some(match sum {
            Some(sum) => sum.add(&part)?,
            None => part,
        });
    }
    sum.map_or_else(|| Tensor::zeros(&[length, x.sizes()[1], w.sizes()[2]], x.dtype()), Ok)
}

/// The gradient of the weight: for every tap, of the input that it met.
fn weight_grad(x: &Tensor, g: &Tensor, taps: usize, pad: i64) -> Result<Tensor> {
    let x = padded(x, pad)?;
    let rows = |t: &Tensor| view::reshape_to(t, &[t.sizes()[0] * t.sizes()[1], t.sizes()[2]]);
    let g = rows(g)?;
    let length = (x.sizes()[0] + 1).saturating_sub(taps) as i64;
    let parts = (0..taps as i64).map(|tap| rows(&x.narrow(0, tap, length)?)?.t()?.matmul(&g));
    view::stack(&parts.collect::<Result<Vec<_>>>()?, 0)
}

impl Primitive for ConvTbc {
    const NAME: &'static str = "conv_tbc";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "weight"), Save::input(2, "bias")];
    const PARAMS: Params<Self> = params!(op; pad);
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Loop;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        convolved(&xs[0].detach(), &xs[1].detach(), self.pad)?.add(&xs[2].detach()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let x = cx.when(0, || {
            let w = cx.saved(1)?;
            let taps = w.sizes()[0] as i64;
            convolved(g, &w.flip(&[0])?.transpose(1, 2)?, taps - 1 - self.pad)
        })?;
        let w = cx.when(1, || weight_grad(cx.saved(0)?, g, cx.sizes(1)[0], self.pad))?;
        Ok(smallvec![x, w, cx.when(2, || g.sum_dims(&[0, 1], false))?])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, w) = (cx.xs[0], cx.xs[1]);
        let from_x = cx.t(0).map(|t| convolved(t, w, op.pad)).transpose()?;
        let from_w = cx.t(1).map(|t| convolved(x, t, op.pad)).transpose()?;
        let from_bias = cx.t(2).map(|t| view::expand_to(t, cx.outs[0].sizes())).transpose()?;
        Ok(maybe(Jvp::sum([from_x, from_w, from_bias])?))
    });
}

/// A convolution along time: `result[t] = bias + sum of input[t + k - pad] @ weight[k]` over the taps `k`.
///
/// Args: `input` (time, batch, in channels); `weight` (taps, in channels, out channels); `bias` (out channels); `pad`
/// steps of zeros before and behind the input. Returns: (time + 2 pad - taps + 1, batch, out channels). Derivative: the
/// convolution of `g` with the taps reversed and transposed; for the weight the products of the input and `g`; for the
/// bias the sum of `g`. Raises: RuntimeError if sizes or dtypes are incompatible.
///
/// >>> x, w = rg.tensor([[[1.0]], [[2.0]], [[4.0]]]), rg.tensor([[[1.0]], [[10.0]]])
/// >>> rg.conv_tbc(x, w, rg.zeros(1)).flatten().tolist()
/// [21.0, 42.0]
#[op(function, "(pad=0)")]
pub fn conv_tbc(input: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor> {
    const OP: &str = "conv_tbc";
    let refused = |detail: &str| {
        let shapes = format!("{:?}, {:?} and {:?}", input.sizes(), weight.sizes(), bias.sizes());
        Err(Error::shape(OP, format!("{detail} Got input, weight and bias of shapes {shapes}")))
    };
    if input.ndim() != 3 {
        return refused("Input must have 3 dims: time, batch, in_channel.");
    }
    if weight.ndim() != 3 {
        return refused("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
    }
    if bias.ndim() != 1 {
        return refused("Bias must be 1-D.");
    }
    if input.sizes()[2] != weight.sizes()[1] {
        return refused("Input dim 2 (input channels) is not == dim 1 in the weight tensor.");
    }
    if weight.sizes()[2] != bias.sizes()[0] {
        return refused("Bias size must equal dim 2 in the weight tensor (output channels).");
    }
    for (t, name) in [(weight, "weight"), (bias, "bias")] {
        if t.dtype() != input.dtype() {
            return Err(Error::dtype(
                OP,
                format!(
                    "self and mat2 must have the same dtype, but got {} and {} for the {name}",
                    input.dtype().scalar_type_name(),
                    t.dtype().scalar_type_name()
                ),
            ));
        }
    }
    let length =
        pad.checked_mul(2).and_then(|both| both.checked_add(input.sizes()[0] as i64 + 1 - weight.sizes()[0] as i64));
    let Some(length) = length.filter(|&n| n >= 0) else {
        return refused(&format!(
            "Trying to create tensor with negative dimension {}: the taps are more than the steps with their padding.",
            length.unwrap_or(i64::MIN)
        ));
    };
    if input.sizes()[0] as i64 + 2 * pad < 0 {
        return refused(&format!(
            "Trying to create tensor with negative dimension {length}: the padding takes all steps."
        ));
    }
    apply1(ConvTbc { pad }, &[input, weight, bias])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let all = [noise(1, &[4, 2, 3]), noise(2, &[2, 3, 2]), noise(3, &[2])];
        for pad in [0, 1, 2, -1] {
            gradcheck(&|xs| conv_tbc(&xs[0], &xs[1], &xs[2], pad), &all);
        }
        assert!(conv_tbc(&all[0], &all[1], &all[2], -2).is_err() && conv_tbc(&all[0], &all[2], &all[1], 0).is_err());
    }
}
