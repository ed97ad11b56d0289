//! `pixel_shuffle`, `pixel_unshuffle`, `channel_shuffle`: exchanges of axes within a split of them.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result, Sizes};
use crate::ops::Value;
use crate::tensor::copy;
use crate::tensor::{Dims, Strides, Tensor};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    /// Channels become positions.
    Pixels,
    /// Positions become channels.
    Channels,
    /// Channels change places.
    Groups,
}

/// One of the three. Reverse: the exchange that undoes it.
#[derive(Clone, Copy, Debug)]
struct Shuffle {
    exchange: Exchange,
    factor: usize,
    /// Axes from the channels on.
    rank: usize,
}

impl Shuffle {
    /// How the last axes are split, in which order the parts go, and the sizes of the result.
    fn split(&self, sizes: &[usize]) -> (Dims, Vec<usize>, Dims) {
        let lead = sizes.len() - self.rank;
        let (front, own, r) = (&sizes[..lead], &sizes[lead..], self.factor);
        let (parts, order, result): (Vec<usize>, Vec<usize>, Vec<usize>) = match (self.exchange, own) {
            (Exchange::Pixels, &[c, h, w]) => {
                (vec![c / (r * r), r, r, h, w], vec![0, 3, 1, 4, 2], vec![c / (r * r), h * r, w * r])
            }
            (Exchange::Channels, &[c, h, w]) => {
                (vec![c, h / r, r, w / r, r], vec![0, 2, 4, 1, 3], vec![c * r * r, h / r, w / r])
            }
            (_, &[c, ref rest @ ..]) => {
                let mut parts = vec![r, c / r];
                parts.extend(rest);
                let order = [1, 0].into_iter().chain(2..parts.len()).collect();
                (parts, order, own.to_vec())
            }
            (_, []) => (Vec::new(), Vec::new(), Vec::new()),
        };
        let order = (0..lead).chain(order.into_iter().map(|a| a + lead)).collect();
        let with_front = |own: Vec<usize>| front.iter().copied().chain(own).collect::<Dims>();
        (with_front(parts), order, with_front(result))
    }
    fn reversed(&self, sizes: &[usize]) -> Self {
        match self.exchange {
            Exchange::Pixels => Self { exchange: Exchange::Channels, ..*self },
            Exchange::Channels => Self { exchange: Exchange::Pixels, ..*self },
            Exchange::Groups => Self { factor: sizes[sizes.len() - self.rank].max(1) / self.factor, ..*self },
        }
    }
}

impl Primitive for Shuffle {
    const NAME: &'static str = "pixel_shuffle";
    const SAVE: &'static [Save] = &[];
    // The axes count from the end, and any may stand in front.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        match self.exchange {
            Exchange::Pixels => "PixelShuffleBackward0",
            Exchange::Channels => "PixelUnshuffleBackward0",
            Exchange::Groups => "ChannelShuffleBackward0",
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (parts, order, sizes) = self.split(xs[0].sizes());
        let y = Tensor::empty(&sizes, xs[0].dtype())?;
        if y.numel() == 0 {
            return Ok(out(y));
        }
        let x = copy::contiguous(xs[0])?;
        let strides = crate::tensor::layout::contiguous_strides(&parts);
        let moved: (Dims, Strides) = order.iter().map(|&a| (parts[a], strides[a])).unzip();
        let x = Tensor::from_parts(x.storage(), x.dtype(), &moved.0, &moved.1, x.storage_offset())?;
        let flat = crate::tensor::layout::contiguous_strides(&moved.0);
        copy::copy_into(&x, &Tensor::from_parts(y.storage(), y.dtype(), &moved.0, &flat, y.storage_offset())?)?;
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(self.reversed(cx.sizes(0)), &[cx.g()]).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let name = match self.exchange {
            Exchange::Pixels => "upscale_factor",
            Exchange::Channels => "downscale_factor",
            Exchange::Groups => "groups",
        };
        vec![(name, (self.factor as i64).into())]
    }
}

/// What the exchanges of pixels ask of an operand and a factor.
fn check_pixels(op: &'static str, x: &Tensor, factor: i64, which: &str) -> Result<usize> {
    if x.ndim() < 3 {
        return Err(Error::shape(
            op,
            format!("{op} expects input to have at least 3 dimensions, but got input with {} dimension(s)", x.ndim()),
        ));
    }
    match usize::try_from(factor) {
        Ok(r) if r > 0 => Ok(r),
        _ => Err(Error::shape(op, format!("{op} expects a positive {which}, but got {factor}"))),
    }
}

fn to_pixels(op: &'static str, x: &Tensor, factor: i64) -> Result<Tensor> {
    let r = check_pixels(op, x, factor, "upscale_factor")?;
    let channels = x.sizes()[x.ndim() - 3];
    let square = (r as u128) * (r as u128);
    if !(channels as u128).is_multiple_of(square) {
        return Err(Error::shape(
            op,
            format!(
                "{op} expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but \
                 input.size(-3)={channels} is not divisible by {square}"
            ),
        ));
    }
    if channels == 0 && square > 1 << 32 {
        return Err(Error::shape(op, format!("a factor of {r} is too large")));
    }
    apply1(Shuffle { exchange: Exchange::Pixels, factor: r, rank: 3 }, &[x])
}

fn to_channels(op: &'static str, x: &Tensor, factor: i64) -> Result<Tensor> {
    let r = check_pixels(op, x, factor, "downscale_factor")?;
    for (axis, what) in [(2, "height"), (1, "width")] {
        let n = x.sizes()[x.ndim() - axis];
        if !n.is_multiple_of(r) {
            return Err(Error::shape(
                op,
                format!(
                    "{op} expects {what} to be divisible by downscale_factor, but input.size(-{axis})={n} is not divisible by \
                     {r}"
                ),
            ));
        }
    }
    if r > 1 << 16 {
        return Err(Error::shape(op, format!("a factor of {r} is too large")));
    }
    apply1(Shuffle { exchange: Exchange::Channels, factor: r, rank: 3 }, &[x])
}

fn among_groups(op: &'static str, x: &Tensor, groups: i64) -> Result<Tensor> {
    if x.ndim() <= 2 {
        return Err(Error::shape(
            op,
            format!("channel_shuffle expects input with > 2 dims, but got input with sizes {}", Sizes(x.sizes())),
        ));
    }
    let factor = usize::try_from(groups).unwrap_or(0);
    if factor == 0 {
        return Err(Error::shape(
            op,
            format!("Number of groups to divide channels in must be positive. Value of groups:{groups}"),
        ));
    }
    let channels = x.sizes()[1];
    if !channels.is_multiple_of(factor) {
        return Err(Error::shape(
            op,
            format!("Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."),
        ));
    }
    if channels == 0 {
        return crate::ops::memory::cloned(x);
    }
    apply1(Shuffle { exchange: Exchange::Groups, factor, rank: x.ndim() - 1 }, &[x])
}

/// Moves channels into positions: every square of `upscale_factor` positions is filled from as many channels.
///
/// Args: `input` a tensor (*, C * r^2, H, W), any dtype; `upscale_factor` the number r. Returns: a tensor (*, C, H * r,
/// W * r). Derivative: `g` moved back. Raises: RuntimeError if sizes and the number are incompatible.
///
/// >>> rg.nn.functional.pixel_shuffle(rg.arange(4.0).reshape(4, 1, 1), 2).tolist()
/// [[[0.0, 1.0], [2.0, 3.0]]]
#[op(function, module = "nn.functional")]
pub fn pixel_shuffle(input: &Tensor, upscale_factor: i64) -> Result<Tensor> {
    to_pixels("pixel_shuffle", input, upscale_factor)
}

/// The same as `nn.functional.pixel_shuffle`.
///
/// Args: `input`, `upscale_factor` as there. Returns, Derivative, Raises: as there.
///
/// >>> rg.pixel_shuffle(rg.arange(4.0).reshape(4, 1, 1), 2).tolist()
/// [[[0.0, 1.0], [2.0, 3.0]]]
#[op(function, name = "pixel_shuffle", norust)]
pub fn top_pixel_shuffle(input: &Tensor, upscale_factor: i64) -> Result<Tensor> {
    to_pixels("pixel_shuffle", input, upscale_factor)
}

/// Moves positions into channels: undoes `pixel_shuffle`.
///
/// Args: `input` a tensor (*, C, H * r, W * r), any dtype; `downscale_factor` the number r. Returns: a tensor (*, C *
/// r^2, H, W). Derivative: `g` moved back. Raises: RuntimeError if sizes and the number are incompatible.
///
/// >>> rg.nn.functional.pixel_unshuffle(rg.arange(4.0).reshape(1, 2, 2), 2).tolist()
/// [[[0.0]], [[1.0]], [[2.0]], [[3.0]]]
#[op(function, module = "nn.functional")]
pub fn pixel_unshuffle(input: &Tensor, downscale_factor: i64) -> Result<Tensor> {
    to_channels("pixel_unshuffle", input, downscale_factor)
}

/// The same as `nn.functional.pixel_unshuffle`.
///
/// Args: `input`, `downscale_factor` as there. Returns, Derivative, Raises: as there.
///
/// >>> rg.pixel_unshuffle(rg.arange(4.0).reshape(1, 2, 2), 2).tolist()
/// [[[0.0]], [[1.0]], [[2.0]], [[3.0]]]
#[op(function, name = "pixel_unshuffle", norust)]
pub fn top_pixel_unshuffle(input: &Tensor, downscale_factor: i64) -> Result<Tensor> {
    to_channels("pixel_unshuffle", input, downscale_factor)
}

/// Reorders the channels (axis 1): the first of every group, then the second of every group, and so on.
///
/// Args: `input` a tensor (N, C, *) with at least three axes, any dtype; `groups` how many groups the channels form.
/// Returns: a tensor of the same shape. Derivative: `g` in the original order. Raises: RuntimeError if sizes and the
/// number are incompatible.
///
/// >>> rg.nn.functional.channel_shuffle(rg.arange(4.0).reshape(1, 4, 1), 2).tolist()
/// [[[0.0], [2.0], [1.0], [3.0]]]
#[op(function, module = "nn.functional")]
pub fn channel_shuffle(input: &Tensor, groups: i64) -> Result<Tensor> {
    among_groups("channel_shuffle", input, groups)
}

/// The same as `nn.functional.channel_shuffle`.
///
/// Args: `input`, `groups` as there. Returns, Derivative, Raises: as there.
///
/// >>> rg.channel_shuffle(rg.arange(4.0).reshape(1, 4, 1), 2).tolist()
/// [[[0.0], [2.0], [1.0], [3.0]]]
#[op(function, name = "channel_shuffle", norust)]
pub fn top_channel_shuffle(input: &Tensor, groups: i64) -> Result<Tensor> {
    among_groups("channel_shuffle", input, groups)
}
