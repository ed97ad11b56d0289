//! `convolution`, plain and transposed.
//!
//! `y[o] = b + sum over taps of w[k] x[o * stride - padding + k * dilation]`; the transposed one is its adjoint in `x`:
//! `y[i * stride - padding + k * dilation]` sums `w[k] x[i]`. Reverse: the gradient of the input is the other one of
//! the two with the same weight, that of the weight a third op (`weight`), that of the bias the sum over batch and
//! positions. Forward: linear in input and weight each, plus the tangent of the bias.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::arguments::Steps;
use super::weight::ConvolutionWeight;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::conv::{self, ConvScalar, Shape};
use crate::kernels::matmul::term_cost;
use crate::kernels::parallel::{SharedPtr, num_threads, try_split};
use crate::match_dtype;
use crate::ops::matmul::batch_first;
use crate::ops::view::{expand_to, movedim, reshape_to, with_batch};
use crate::storage::reclaim::reading;
use crate::tensor::complex::{of_parts, part};
use crate::tensor::copy;
use crate::tensor::{DType, Dims, Dtypes, Element, Tensor};

/// Operands: the input, the weight and, if there is one, the bias.
#[derive(Clone, Debug)]
pub(super) struct Convolution {
    pub steps: Steps,
    pub transposed: bool,
    /// The padding as given; `out` follows from it.
    pub output_padding: Dims,
    /// Sizes of the output's axes.
    pub out: Dims,
    /// Elements of the bias; 0 without one.
    pub bias: usize,
    /// Part of a derivative, where torch has one node for all.
    pub derivative: bool,
}

impl Convolution {
    /// A part of a derivative.
    pub(super) fn derived(steps: &Steps, transposed: bool, out: &[usize]) -> Self {
        let output_padding = smallvec![0; out.len()];
        let (steps, out) = (steps.clone(), Dims::from_slice(out));
        Self { steps, transposed, output_padding, out, bias: 0, derivative: true }
    }

    /// Sizes of the output.
    fn sizes(&self, x: &[usize], w: &[usize]) -> Result<Dims> {
        if x.len() != self.out.len() + 2 || w.len() != x.len() {
            return Err(Error::shape(Self::NAME, format!("{x:?} and {w:?} do not belong to one convolution")));
        }
        let channels = if self.transposed { w[1] * self.steps.groups } else { w[0] };
        let mut sizes: Dims = smallvec![x[0], channels];
        sizes.extend_from_slice(&self.out);
        Ok(sizes)
    }

    fn floats<T: Element + ConvScalar>(&self, s: &Shape, xs: &[&Tensor], y: &Tensor) -> Result<()> {
        let xs: SmallVec<[Tensor; 3]> = xs.iter().map(|x| copy::contiguous(x)).collect::<Result<_>>()?;
        let scratch = if self.transposed { conv::transposed_scratch(s) } else { conv::forward_scratch(s) };
        let pointer = |x: &Tensor| SharedPtr(x.ptr::<T>());
        let (x, w, y) = (pointer(&xs[0]), pointer(&xs[1]), pointer(y));
        let bias = xs.get(2).map_or(SharedPtr(std::ptr::null_mut()), pointer);
        in_pieces(s.batch * s.groups, s.terms() * term_cost::<T>(), &|units| {
            // Perhaps on another thread (R1).
            let _reading = reading();
            let work = Tensor::empty(&[scratch], T::DTYPE)?;
            let (x, w, bias) = (x.get().cast_const(), w.get().cast_const(), bias.get().cast_const());
            // SAFETY: (1) S1 and S3: contiguous tensors of the sizes that the shape was made of, the bias as long as
            // there are channels. (2) The output and `work` are fresh. (3) S4; no other piece has these units.
            unsafe {
                match self.transposed {
                    true => conv::transposed(s, units, x, w, bias, y.get(), work.ptr::<T>()),
                    false => conv::forward(s, units, x, w, bias, y.get(), work.ptr::<T>()),
                }
            }
            Ok(())
        })
    }

    /// Integers are computed in the widest type: sums wrap to the same values.
    fn integers(&self, s: &Shape, xs: &[&Tensor], y: &Tensor) -> Result<Tensor> {
        let xs: SmallVec<[Vec<i64>; 3]> = xs.iter().map(|x| x.to_vec::<i64>()).collect::<Result<_>>()?;
        let mut sums = vec![0; y.numel()];
        if let Some(bias) = xs.get(2).filter(|_| y.numel() > 0) {
            let positions = y.numel() / y.sizes()[0] / bias.len();
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = bias[i / positions % bias.len()];
            }
        }
        match self.transposed {
            true => conv::naive_transposed(s, &xs[0], &xs[1], &mut sums),
            false => conv::plain_gather(s, &xs[0], &xs[1], &mut sums),
        }
        copy::cast(&Tensor::from_slice(&sums, y.sizes())?, y.dtype())
    }
}

/// Runs `work` for pieces of so many equal units, unless they leave threads without work: then for all of them, which
/// the kernels divide one by one.
pub(super) fn in_pieces(units: usize, cost: f64, work: &(dyn Fn(Range<usize>) -> Result<()> + Sync)) -> Result<()> {
    if leaves_threads(units) { work(0..units) } else { try_split(units, 1, cost, work) }
}

/// Whether more than a quarter of the threads' time would be lost to so many equal units.
pub(super) fn leaves_threads(units: usize) -> bool {
    let threads = num_threads();
    4 * units < 3 * threads * units.div_ceil(threads)
}

impl Primitive for Convolution {
    const NAME: &'static str = "convolution";
    const SAVE: &'static [Save] = &[Save::input(0, "input"), Save::input(1, "weight")];
    const PARAMS: Params<Self> = params!(op;
        bias_sym_sizes_opt: &[op.bias][..],
        dilation: &op.steps.dilation[..],
        groups: op.steps.groups,
        output_padding: &op.output_padding[..],
        padding: &op.steps.padding[..],
        stride: &op.steps.stride[..],
        transposed,
    );
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::BOOL);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(batched);
    fn node(&self) -> &'static str {
        if self.derivative { "ConvolutionBackwardBackward0" } else { "ConvolutionBackward0" }
    }
    fn dtypes(&self) -> Dtypes {
        // torch has transposed convolutions of no other integers.
        if self.transposed { Self::DTYPES.without(SMALL_INTS) } else { Self::DTYPES }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, w) = (xs[0], xs[1]);
        let sizes = self.sizes(x.sizes(), w.sizes())?;
        let (large, small) = if self.transposed { (&sizes[..], x.sizes()) } else { (x.sizes(), &sizes[..]) };
        let shape = self.steps.shape(large, small, w.sizes())?;
        let dtype = x.dtype();
        let same = xs.iter().all(|x| x.dtype() == dtype) && xs.get(2).is_none_or(|b| b.sizes() == [sizes[1]]);
        if !same {
            return Err(Error::dtype(Self::NAME, "operands of different dtypes, or a bias of another size"));
        }
        if dtype.is_complex() {
            let real = Self { bias: 0, ..self.clone() };
            return by_real_parts(&real, x, w, xs.get(2).copied()).map(out);
        }
        let y = Tensor::empty(&sizes, dtype)?;
        if dtype.is_integral() {
            return self.integers(&shape, xs, &y).map(out);
        }
        match_dtype!(floats, dtype, T => self.floats::<T>(&shape, xs, &y)?);
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, x, w) = (cx.g(), cx.saved(0)?, cx.saved(1)?);
        let mut grads =
            maybe(cx.when(0, || apply1(Self::derived(&self.steps, !self.transposed, &x.sizes()[2..]), &[g, w]))?);
        grads.push(cx.when(1, || {
            let (small, large) = if self.transposed { (x, g) } else { (g, x) };
            apply1(ConvolutionWeight::new(&self.steps, &w.sizes()[2..]), &[small, large])
        })?);
        if cx.node.edges.len() > 2 {
            grads.push(cx.when(2, || over_channels(g))?);
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_x = cx.t(0).map(|t| apply1(op.clone(), &[t, cx.xs[1]])).transpose()?;
        let by_weight = cx.t(1).map(|t| apply1(op.clone(), &[cx.xs[0], t])).transpose()?;
        let sum = Jvp::sum([by_x, by_weight])?;
        let Some(bias) = cx.t(2) else { return Ok(maybe(sum)) };
        let bias = channel_wise(bias, op.out.len())?;
        Ok(maybe(Some(match sum {
            Some(sum) => sum.add(&bias)?,
            None => expand_to(&bias, cx.outs[0].sizes())?,
        })))
    });
}

/// The integers of which torch has no transposed convolution.
const SMALL_INTS: Dtypes = Dtypes::of(&[DType::UInt8, DType::Int8, DType::Int16, DType::Int32]);

/// What an op that is bilinear with real coefficients makes of complex numbers `x` and `w`: three of real ones, as
/// torch has it; plus a bias for each channel.
pub(super) fn by_real_parts<P: Primitive>(op: &P, x: &Tensor, w: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let run = |x: &Tensor, w: &Tensor| -> Result<Tensor> { Ok(op.forward(&[x, w])?.swap_remove(0)) };
    let parts = |x: &Tensor| -> Result<[Tensor; 2]> { Ok([part(x, false)?, part(x, true)?]) };
    let ([xr, xi], [wr, wi]) = (parts(x)?, parts(w)?);
    let (re, im, both) = (run(&xr, &wr)?, run(&xi, &wi)?, run(&xr.add(&xi)?, &wr.add(&wi)?)?);
    let mut y = [re.sub(&im)?, both.sub(&re)?.sub(&im)?];
    if let Some(bias) = bias {
        for (y, bias) in y.iter_mut().zip(parts(bias)?) {
            *y = y.add(&channel_wise(&bias, x.ndim() - 2)?)?;
        }
    }
    of_parts([&y[0], &y[1]])
}

/// The sum over all axes but that of the channels.
fn over_channels(g: &Tensor) -> Result<Tensor> {
    let dims: SmallVec<[i64; 5]> = (0..g.ndim() as i64).filter(|&d| d != 1).collect();
    g.sum_dims(&dims, false)
}

/// One number per channel, to be added to each of the positions along `axes` axes.
fn channel_wise(bias: &Tensor, axes: usize) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(bias.sizes());
    sizes.resize(sizes.len() + axes, 1);
    reshape_to(bias, &sizes)
}

/// A batch of inputs is a larger batch; a batch of weights is so many groups, each with its part of the channels.
fn batched(
    op: &Convolution,
    xs: &[&Tensor],
    axes: &[Option<usize>],
    batch: usize,
) -> Result<(Outs, SmallVec<[Option<usize>; 1]>)> {
    let first: SmallVec<[Tensor; 3]> =
        xs.iter().zip(axes).map(|(x, axis)| batch_first(x, *axis)).collect::<Result<_>>()?;
    let (x, w) = (&first[0], &first[1]);
    if batch == 0 {
        let entry = |i: usize| Dims::from_slice(&first[i].sizes()[usize::from(axes[i].is_some())..]);
        return nothing(&op.sizes(&entry(0), &entry(1))?, x.dtype());
    }
    // Where the result has the batch.
    let (mut y, mut at) = match (axes[0], axes[1]) {
        (None, None) => (apply1(op.clone(), &[x, w])?, None),
        (Some(_), None) => {
            let y = apply1(op.clone(), &[&joined(x, 0)?, w])?;
            (parted(&y, 0, batch)?, Some(0))
        }
        (_, Some(_)) => {
            let groups = op.steps.groups;
            // One group can see the same input many times; where the outputs are the weight's second axis, they go
            // there.
            let shared = axes[0].is_none() && groups == 1;
            let w = if shared && op.transposed { joined(&movedim(w, &[0], &[1])?, 1)? } else { joined(w, 0)? };
            let mut op = op.clone();
            let x = if shared {
                x.clone()
            } else {
                op.steps.groups = groups * batch;
                beside(x, axes[0], batch)?
            };
            (parted(&apply1(op, &[&x, &w])?, 1, batch)?, Some(1))
        }
    };
    if let Some(bias) = first.get(2) {
        let mut bias = channel_wise(bias, op.out.len())?;
        if axes[2].is_some() && at != Some(1) {
            bias = bias.unsqueeze(1)?;
            at = Some(0);
        }
        y = y.add(&bias)?;
    }
    Ok((out(y), smallvec![at]))
}

/// The result for a batch without entries, in which each has these sizes.
pub(super) fn nothing(entry: &[usize], dtype: DType) -> Result<(Outs, SmallVec<[Option<usize>; 1]>)> {
    Ok((out(Tensor::empty(&with_batch(entry, 0), dtype)?), smallvec![Some(0)]))
}

/// Axes `at` and `at + 1` as one.
pub(super) fn joined(x: &Tensor, at: usize) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(x.sizes());
    sizes[at + 1] *= sizes[at];
    sizes.remove(at);
    reshape_to(x, &sizes)
}

/// Axis `at` as two, the first of size `batch`.
pub(super) fn parted(x: &Tensor, at: usize, batch: usize) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(x.sizes());
    sizes[at] /= batch;
    sizes.insert(at, batch);
    reshape_to(x, &sizes)
}

/// The entries of a batch of (batch, channels, axes) as channels side by side; what is no batch is repeated. The batch
/// axis is in front.
pub(super) fn beside(x: &Tensor, axis: Option<usize>, batch: usize) -> Result<Tensor> {
    let lined = match axis {
        Some(_) => movedim(x, &[0], &[1])?,
        None => {
            let mut sizes = Dims::from_slice(x.sizes());
            sizes.insert(1, batch);
            expand_to(&x.unsqueeze(1)?, &sizes)?
        }
    };
    joined(&lined, 1)
}
