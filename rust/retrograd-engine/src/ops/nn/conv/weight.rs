//! The gradient of a convolution's weight, as an op: it is linear in both operands, and its gradients are convolutions.

use smallvec::smallvec;

use super::arguments::Steps;
use super::convolution::{Convolution, beside, by_real_parts, in_pieces, leaves_threads, nothing, parted};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::kernels::conv::{self, ConvScalar, Shape};
use crate::kernels::matmul::term_cost;
use crate::kernels::parallel::{SharedPtr, num_threads};
use crate::kernels::reduce::{Reduce, Sum, reduce};
use crate::kernels::thresholds::conv::IMAGES as PART;
use crate::match_dtype;
use crate::ops::matmul::batch_first;
use crate::ops::view::movedim;
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::{Dims, Dtypes, Element, Tensor};

/// `w[k] = sum over batch and positions of y[o] x[o * stride - padding + k * dilation]`, of the small side `y` and the
/// large side `x`. Reverse: `gy` is the convolution of `x` with `g`, `gx` the transposed one of `y`.
#[derive(Clone, Debug)]
pub(super) struct ConvolutionWeight {
    steps: Steps,
    /// Sizes of the weight's axes.
    kernel: Dims,
}

impl ConvolutionWeight {
    pub(super) fn new(steps: &Steps, kernel: &[usize]) -> Self {
        Self { steps: steps.clone(), kernel: Dims::from_slice(kernel) }
    }

    /// Sizes of the weight.
    fn sizes(&self, y: &[usize], x: &[usize]) -> Dims {
        let channels = |sizes: &[usize]| sizes.get(1).copied().unwrap_or(0);
        let mut sizes: Dims = smallvec![channels(y), channels(x) / self.steps.groups];
        sizes.extend_from_slice(&self.kernel);
        sizes
    }

    fn floats<T: Element + ConvScalar>(s: &Shape, y: &Tensor, x: &Tensor, w: &Tensor) -> Result<()>
    where
        Sum: Reduce<T, O = T>,
    {
        let (y, x) = (copy::contiguous(y)?, copy::contiguous(x)?);
        // Parts of the batch, whose gradients are added up in their order: so many images in each that this costs
        // little.
        let parts = s.batch.div_ceil(PART).max(1);
        let units = parts * s.groups;
        let threads = if leaves_threads(units) { num_threads() } else { 1 };
        let sums = if parts > 1 { Tensor::empty(&[parts, w.numel()], w.dtype())? } else { w.clone() };
        let entry = |t: &Tensor| t.numel().checked_div(s.batch).unwrap_or(0);
        let (ny, nx, nw) = (entry(&y), entry(&x), w.numel());
        let (py, px, pw) = (SharedPtr(y.ptr::<T>()), SharedPtr(x.ptr::<T>()), SharedPtr(sums.ptr::<T>()));
        in_pieces(units, s.terms() * term_cost::<T>(), &|units| {
            // Perhaps on another thread (R1).
            let _reading = reading();
            let mut at = units.start;
            while at < units.end {
                // Groups of one part.
                let (i, g) = (at / s.groups, at % s.groups);
                let groups = g..s.groups.min(g + units.end - at);
                at += groups.len();
                let s = Shape { batch: PART.min(s.batch - i * PART), ..*s };
                let work = Tensor::empty(&[conv::weight_grad_scratch::<T>(&s, threads)], T::DTYPE)?;
                let work = work.ptr::<T>();
                let (y, x, w) = (py.get().wrapping_add(i * PART * ny), px.get().wrapping_add(i * PART * nx), pw.get());
                // SAFETY: (1) S1 and S3: the images of this part of contiguous tensors of the sizes that the shape was
                // made of. (2) The part's place in a fresh tensor, and `work` is fresh. (3) S4; no other piece has this
                // part and these groups.
                unsafe { conv::weight_grad(&s, groups, y, x, w.wrapping_add(i * nw), work, threads) }
            }
            Ok(())
        })?;
        if parts > 1 {
            // SAFETY: (reduce 1-3) `parts` rows of a contiguous tensor; the fresh result is disjoint from it.
            unsafe { reduce(&Sum, &[nw], &[1], &[parts], &[nw as isize], pw.get().cast_const(), w.ptr::<T>()) };
        }
        Ok(())
    }
}

impl Primitive for ConvolutionWeight {
    const NAME: &'static str = "convolution";
    const NODE: &'static str = "ConvolutionBackwardBackward0";
    const SAVE: &'static [Save] = &[Save::input(0, "grad_output").when(1), Save::input(1, "input").when(0)];
    const PARAMS: Params<Self> = params!(op;
        dilation: &op.steps.dilation[..],
        groups: op.steps.groups,
        padding: &op.steps.padding[..],
        stride: &op.steps.stride[..],
    );
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::INTEGRAL);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let (y, x) = (batch_first(xs[0], axes[0])?, batch_first(xs[1], axes[1])?);
        if batch == 0 {
            let entry = |t: &Tensor, axis: Option<usize>| Dims::from_slice(&t.sizes()[usize::from(axis.is_some())..]);
            return nothing(&op.sizes(&entry(&y, axes[0]), &entry(&x, axes[1])), x.dtype());
        }
        // The entries as channels side by side. Without groups, what is no batch is seen by all.
        let mut op = op.clone();
        let w = match (axes[0], axes[1]) {
            (Some(_), None) if op.steps.groups == 1 => {
                parted(&apply1(op, &[&beside(&y, axes[0], batch)?, &x])?, 0, batch)?
            }
            (None, Some(_)) if op.steps.groups == 1 => {
                let w = apply1(op, &[&y, &beside(&x, axes[1], batch)?])?;
                movedim(&parted(&w, 1, batch)?, &[1], &[0])?
            }
            _ => {
                op.steps.groups *= batch;
                parted(&apply1(op, &[&beside(&y, axes[0], batch)?, &beside(&x, axes[1], batch)?])?, 0, batch)?
            }
        };
        Ok((out(w), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (y, x) = (xs[0], xs[1]);
        let sizes = self.sizes(y.sizes(), x.sizes());
        let shape = self.steps.shape(x.sizes(), y.sizes(), &sizes)?;
        if x.dtype() != y.dtype() {
            return Err(Error::dtype(Self::NAME, format!("{x:?} and {y:?} differ in dtype")));
        }
        if x.dtype().is_complex() {
            return by_real_parts(self, y, x, None).map(out);
        }
        let w = Tensor::empty(&sizes, x.dtype())?;
        match_dtype!(floats, x.dtype(), T => Self::floats::<T>(&shape, y, x, &w)?);
        Ok(out(w))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let part = |i: usize, transposed: bool| {
            cx.when(i, || {
                let op = Convolution::derived(&self.steps, transposed, &cx.sizes(i)[2..]);
                apply1(op, &[cx.saved(1 - i)?, g])
            })
        };
        let mut grads = maybe(part(0, false)?);
        grads.push(part(1, true)?);
        Ok(grads)
    }
}
