//! `layer_norm`.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use retrograd_macros::op;
use smallvec::SmallVec;

use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params};
use crate::error::{Error, Result, Sizes};
use crate::kernels::norm;
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::pointwise::{Half, narrow, widen};
use crate::kernels::real::Real;
use crate::kernels::reduce::row_moments;
use crate::kernels::thresholds::norm::{BLOCK as SHORT, ROWS as PART};
use crate::ops::matmul::batch_first;
use crate::ops::memory;
use crate::ops::view::reshape_to;
use crate::tensor::copy;
use crate::tensor::layout::{Dims, numel};
use crate::tensor::{DType, Dtypes, Element, Tensor};

/// `layer_norm`: `h w + b` with `h = (x - mean(x)) rstd(x)` over the last dims. Reverse, with `q = g w`: `gx = rstd (q
/// - mean(q) - h mean(q h))`, `gw = g h`, `gb = g`.
///
/// Operands: the input, then weight (if `W`) and bias (if `B`). Results: the output, means and reciprocal deviations.
#[derive(Clone, Debug)]
struct LayerNorm<const W: bool, const B: bool> {
    normalized: Dims,
    eps: f64,
}

/// `row_moments` of an element type.
type RowMoments<T> = unsafe fn(*const T, usize, isize) -> (T, T);

/// What an element takes, in nanoseconds.
const FORWARD_COST: f64 = 0.4;
const BACKWARD_COST: f64 = 0.6;

/// No operand.
const ABSENT: usize = usize::MAX;

/// The rows of a contiguous tensor, in blocks. Those of halves are converted to float32 and back, so that `T` is `f32`.
#[derive(Clone, Copy)]
struct Rows<T> {
    first: SharedPtr<u8>,
    half: Option<Half>,
    n: usize,
    elements: PhantomData<T>,
}

/// How many halves are converted at once: so few that they stay in the cache.
const BLOCK: usize = 4096;

impl<T: Element + Real> Rows<T> {
    fn of(t: &Tensor, n: usize) -> Self {
        let half = t.dtype().half();
        assert!(T::DTYPE == if half.is_some() { DType::Float32 } else { t.dtype() });
        Self { first: SharedPtr(t.op_ptr()), half, n, elements: PhantomData }
    }
    /// The blocks of a row: of elements that are not converted, there is one.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (n, block) = (self.n, if self.half.is_some() { BLOCK } else { self.n.max(1) });
        let mut start = 0;
        // Rather than `step_by`, which divides, for each row once more.
        std::iter::from_fn(move || {
            let at = start..n.min(start + block);
            start = at.end;
            (!at.is_empty()).then_some(at)
        })
    }
    /// Whether rows go through each step together: they are short, and need no conversion.
    fn are_short(&self) -> bool {
        self.half.is_none() && (1..=SHORT).contains(&self.n)
    }
    /// Room for a block of halves.
    fn room(&self) -> Vec<T> {
        vec![T::ZERO; if self.half.is_some() { self.n.min(BLOCK) } else { 0 }]
    }
    /// # Safety
    /// 1. There is a row `i`, initialised, that nobody writes meanwhile. 2. `at` is one of the blocks.
    unsafe fn read<'a>(&self, i: usize, at: Range<usize>, room: &'a mut [T]) -> &'a [T] {
        let (start, n) = (i * self.n + at.start, at.len());
        // SAFETY: duties 1 and 2; the room is of `f32`, and as long as was just asked for.
        unsafe {
            match self.half {
                None => std::slice::from_raw_parts(self.first.get().cast::<T>().add(start), n),
                Some(half) => {
                    let room = &mut room[..n];
                    widen(half, n, self.first.get().cast::<u16>().add(start).cast_const(), room.as_mut_ptr().cast());
                    room
                }
            }
        }
    }
    /// As [`Rows::read`], of the row that was read last.
    ///
    /// # Safety
    /// As [`Rows::read`].
    unsafe fn read_again<'a>(&self, i: usize, at: Range<usize>, room: &'a mut [T]) -> &'a [T] {
        let there = self.half.is_some() && at.len() == self.n;
        // SAFETY: as ours.
        if there { &room[..self.n] } else { unsafe { self.read(i, at, room) } }
    }
    /// # Safety
    /// 1. There is a row `i`, that nobody reads or writes meanwhile. 2. `at` is one of the blocks. 3. `fill` writes
    ///    every element.
    unsafe fn write(&self, i: usize, at: Range<usize>, room: &mut [T], fill: impl FnOnce(&mut [T])) {
        let (start, n) = (i * self.n + at.start, at.len());
        // SAFETY: duties 1 to 3; the room is of `f32`, and as long as was just asked for.
        unsafe {
            match self.half {
                None => fill(std::slice::from_raw_parts_mut(self.first.get().cast::<T>().add(start), n)),
                Some(half) => {
                    let room = &mut room[..n];
                    fill(room);
                    narrow(half, n, room.as_ptr().cast(), self.first.get().cast::<u16>().add(start));
                }
            }
        }
    }
}

/// Mean and sum of squared deviations of two sets of elements together, from those of each.
fn joined<T: Real>((n, mean, squares): (usize, T, T), (m, mean_too, squares_too): (usize, T, T)) -> (T, T) {
    let share = T::of(m as f64 / (n + m) as f64);
    let apart = mean_too.sub(mean);
    let between = apart.mul(apart).mul(share).mul(T::of(n as f64));
    (mean.add(apart.mul(share)), squares.add(squares_too).add(between))
}

/// The numbers of a tensor in the dtype that halves are computed in, recorded.
pub(super) fn widened(t: &Tensor) -> Result<Tensor> {
    if t.dtype().half().is_some() { memory::cast(t, DType::Float32) } else { Ok(t.clone()) }
}

/// Rows of so few elements are float32 in whole: to make each of them that takes longer than to walk it.
fn short_widened(t: Tensor, n: usize) -> Result<Tensor> {
    if (1..=SHORT).contains(&n) { copy::cast(&t, t.dtype().wide()) } else { Ok(t) }
}

/// Whether parameters of this dtype go with inputs of dtype `x`: those of halves may be float32.
pub(super) fn goes_with(x: DType, parameter: DType) -> bool {
    parameter == x || x.half().is_some() && parameter == DType::Float32
}

/// Reciprocal deviations and normalized elements, recorded.
struct Standard {
    rstd: Tensor,
    h: Tensor,
}

impl<const W: bool, const B: bool> LayerNorm<W, B> {
    const WEIGHT: usize = if W { 1 } else { ABSENT };
    const BIAS: usize = if B { 1 + W as usize } else { ABSENT };

    /// The normalized axes, counted from the end.
    fn axes(&self) -> SmallVec<[i64; 5]> {
        (1..=self.normalized.len() as i64).map(|i| -i).collect()
    }
    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        x.mean_dims(&self.axes(), true)
    }
    fn standardized(&self, x: &Tensor) -> Result<Standard> {
        let x = &widened(x)?;
        let centered = x.sub(&self.mean(x)?)?;
        let rstd = self.mean(&centered.mul(&centered)?)?.plus(self.eps)?.rsqrt()?;
        Ok(Standard { h: centered.mul(&rstd)?, rstd })
    }
    /// The derivative of `h` applied to `q`: it is symmetric, so it serves both directions.
    fn project(&self, s: &Standard, q: &Tensor) -> Result<Tensor> {
        let along = s.h.mul(&self.mean(&q.mul(&s.h)?)?)?;
        q.sub(&self.mean(q)?)?.sub(&along)?.mul(&s.rstd)
    }

    fn run<T: Element + Real>(&self, xs: &[&Tensor], moments: RowMoments<T>) -> Result<Outs> {
        let n = numel(&self.normalized);
        let x = short_widened(copy::contiguous(xs[0])?, n)?;
        let contiguous = |i: usize| xs.get(i).map(|t| copy::contiguous(&copy::cast(t, T::DTYPE)?)).transpose();
        let (weight, bias) = (contiguous(Self::WEIGHT)?, contiguous(Self::BIAS)?);
        let lead = xs[0].ndim() - self.normalized.len();
        let rows = numel(&xs[0].sizes()[..lead]);
        let mut sizes = Dims::from_slice(&xs[0].sizes()[..lead]);
        sizes.resize(xs[0].ndim(), 1);
        let y = Tensor::empty(xs[0].sizes(), x.dtype())?;
        let (means, rstds) = (Tensor::empty(&sizes, T::DTYPE)?, Tensor::empty(&sizes, T::DTYPE)?);
        let (pm, pr) = (means.ptr::<T>(), rstds.ptr::<T>());
        // Without them, what changes no element.
        fn row<T: Element + Real>(t: Option<&Tensor>, neutral: f64, n: usize) -> Cow<'_, [T]> {
            t.map_or_else(
                || Cow::Owned(vec![T::of(neutral); n]),
                |t| Cow::Borrowed(t.as_slice::<T>().expect("contiguous and of this dtype")),
            )
        }
        let (weight, bias) = (row::<T>(weight.as_ref(), 1.0, n), row::<T>(bias.as_ref(), -0.0, n));
        let (from, to) = (Rows::<T>::of(&x, n), Rows::<T>::of(&y, n));
        if from.are_short() {
            let x = x.as_slice::<T>().unwrap_or(&[]);
            // SAFETY: S1 to S3: fresh and contiguous, and nobody else has them yet.
            let [of_y, of_means, of_rstds] =
                [&y, &means, &rstds].map(|t| unsafe { std::slice::from_raw_parts_mut(t.ptr::<T>(), t.numel()) });
            norm::standardize_rows(n, T::of(self.eps), [x, &weight, &bias], of_y, [of_means, of_rstds]);
            return Ok(smallvec::smallvec![copy::cast(&y, xs[0].dtype())?, means, rstds]);
        }
        let (pm, pr) = (SharedPtr(pm), SharedPtr(pr));
        split(rows, 1, (rows * n) as f64 * FORWARD_COST, &|range| {
            let (mut read, mut written) = (from.room(), to.room());
            for i in range {
                // SAFETY: S1 and S3: row `i` of input and output, contiguous, the output fresh; element `i` of the
                // fresh moments; no other piece has this row.
                unsafe {
                    let (mut mean, mut squares) = (T::of(f64::NAN), T::ZERO);
                    for at in from.blocks() {
                        let (before, x) = (at.start, from.read(i, at, &mut read));
                        let (m, s) = moments(x.as_ptr(), x.len(), 1);
                        (mean, squares) =
                            if before == 0 { (m, s) } else { joined((before, mean, squares), (x.len(), m, s)) };
                    }
                    let rstd = T::ONE.div(squares.div(T::of(n as f64)).add(T::of(self.eps)).sqrt());
                    *pm.get().add(i) = mean;
                    *pr.get().add(i) = rstd;
                    for at in from.blocks() {
                        let x = from.read_again(i, at.clone(), &mut read);
                        let (w, b) = (&weight[at.clone()], &bias[at.clone()]);
                        to.write(i, at, &mut written, |y| norm::standardize(x, mean, rstd, w, b, y));
                    }
                }
            }
        });
        Ok(smallvec::smallvec![y, means, rstds])
    }

    /// Gradients of input and weight in one pass.
    fn fused<T: Element + Real>(&self, cx: &Vjp, g: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (x, g) = (copy::contiguous(cx.saved(0)?)?, copy::contiguous(g)?);
        if g.sizes() != x.sizes() || g.dtype() != x.dtype() {
            return Err(Error::shape(Self::NAME, format!("{g:?} is no gradient for {x:?}")));
        }
        let (dtype, n) = (x.dtype(), numel(&self.normalized));
        let (x, g) = (short_widened(x, n)?, short_widened(g, n)?);
        let (means, rstds) = (copy::contiguous(cx.saved(3)?)?, copy::contiguous(cx.saved(4)?)?);
        let weight = if W { Some(copy::contiguous(&copy::cast(cx.saved(1)?, T::DTYPE)?)?) } else { None };
        let weight = weight.as_ref().and_then(Tensor::as_slice::<T>);
        let rows = means.numel();
        let slice = |t: &Tensor| t.as_slice::<T>().map_or(std::ptr::null_mut(), |s| s.as_ptr().cast_mut());
        let [pm, pr] = [&means, &rstds].map(|t| SharedPtr(slice(t)));
        let (rows_of_x, rows_of_g) = (Rows::<T>::of(&x, n), Rows::<T>::of(&g, n));
        let gx = if cx.needs(0) { Some(Tensor::empty(x.sizes(), x.dtype())?) } else { None };
        if rows_of_x.are_short() {
            let [x, g, means, rstds] = [&x, &g, &means, &rstds].map(|t| t.as_slice::<T>().unwrap_or(&[]));
            let given = norm::Standardized { n, turns: 1, x, g, w: weight, means, rstds };
            // SAFETY: S1 to S3: fresh and contiguous, and nobody else has it yet.
            let of_x = gx.as_ref().map(|gx| unsafe { std::slice::from_raw_parts_mut(gx.ptr::<T>(), gx.numel()) });
            let gw = norm::pull_rows(given, W && cx.needs(Self::WEIGHT), of_x);
            let gx = gx.map(|gx| copy::cast(&gx, dtype)).transpose()?;
            return Ok((gx, gw.map(|gw| Tensor::from_slice(&gw, &self.normalized)).transpose()?));
        }
        let out = gx.as_ref().map(|gx| Rows::<T>::of(gx, n));
        // A row of sums for each part, added up in their order, whichever thread had them.
        let parts = if W && cx.needs(Self::WEIGHT) { rows.div_ceil(PART) } else { 0 };
        let mut partial = vec![T::ZERO; parts * n];
        let along_weight = SharedPtr(partial.as_mut_ptr());
        let share = T::ONE.div(T::of(n as f64));
        split(rows, PART, (rows * n) as f64 * BACKWARD_COST, &|range| {
            let [mut x, mut g, mut o] = [rows_of_x.room(), rows_of_x.room(), rows_of_x.room()];
            for i in range {
                // SAFETY: S1 and S3: all four are contiguous, with as many rows as there are moments.
                let (mean, rstd) = unsafe { (*pm.get().add(i), *pr.get().add(i)) };
                let weight = |at: &Range<usize>| weight.map(|w| &w[at.clone()]);
                let (mut sum, mut along) = (T::ZERO, T::ZERO);
                for at in rows_of_x.blocks() {
                    // SAFETY: as above.
                    let (x, g) =
                        unsafe { (rows_of_x.read(i, at.clone(), &mut x), rows_of_g.read(i, at.clone(), &mut g)) };
                    if out.is_some() {
                        let (s, a) = norm::sums(x, g, weight(&at), mean);
                        (sum, along) = (sum.add(s), along.add(a));
                    }
                    if parts > 0 {
                        let first = along_weight.get().wrapping_add(i / PART * n + at.start);
                        // SAFETY: the sums of this part, which no other piece has.
                        norm::add_along(x, g, mean, rstd, unsafe { std::slice::from_raw_parts_mut(first, at.len()) });
                    }
                }
                let Some(out) = out else { continue };
                let factors = norm::factors(rstd, sum.mul(share), along.mul(share));
                for at in out.blocks() {
                    // SAFETY: S1 and S3: as above, and row `i` of the fresh contiguous gradient, which no other piece
                    // has.
                    unsafe {
                        let x = rows_of_x.read_again(i, at.clone(), &mut x);
                        let g = rows_of_g.read_again(i, at.clone(), &mut g);
                        out.write(i, at.clone(), &mut o, |o| norm::project(x, g, weight(&at), mean, factors, o));
                    }
                }
            }
        });
        let gw = if parts > 0 {
            let (first, rest) = partial.split_at_mut(n);
            for part in rest.chunks_exact(n.max(1)) {
                for (sum, &x) in first.iter_mut().zip(part) {
                    *sum = sum.add(x);
                }
            }
            Some(Tensor::from_slice(first, &self.normalized)?)
        } else if W && cx.needs(Self::WEIGHT) {
            Some(Tensor::zeros(&self.normalized, T::DTYPE)?)
        } else {
            None
        };
        Ok((gx, gw))
    }
}

impl<const W: bool, const B: bool> Primitive for LayerNorm<W, B> {
    const NAME: &'static str = "layer_norm";
    const NODE: &'static str = "NativeLayerNormBackward0";
    const SAVE: &'static [Save] = &[
        Save::input(0, "input"),
        Save::input(Self::WEIGHT, "weight"),
        Save::input(Self::BIAS, "bias"),
        Save::output(1, "result1"),
        Save::output(2, "result2"),
    ];
    const PARAMS: Params<Self> = params!(op; normalized_shape: &op.normalized[..]);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        // The input alone is normalized; weights of a batch are lined up with it afterwards.
        let plain = LayerNorm::<false, false> { normalized: op.normalized.clone(), eps: op.eps };
        let mut outs = apply(plain, &[&batch_first(xs[0], axes[0])?])?;
        let align = |i: usize| -> Result<Tensor> {
            let t = batch_first(xs[i], axes[i])?;
            if axes[i].is_none() {
                return Ok(t);
            }
            let mut sizes: Dims = smallvec::smallvec![1; xs[0].ndim() + usize::from(axes[0].is_none())];
            sizes.truncate(sizes.len() - op.normalized.len());
            sizes[0] = batch;
            sizes.extend_from_slice(&op.normalized);
            reshape_to(&t, &sizes)
        };
        if W {
            outs[0] = outs[0].mul(&align(Self::WEIGHT)?)?;
        }
        if B {
            outs[0] = outs[0].add(&align(Self::BIAS)?)?;
        }
        // Weights of halves may be float32.
        outs[0] = memory::cast(&outs[0], xs[0].dtype())?;
        let moments = axes[0].map(|_| 0);
        Ok((outs, smallvec::smallvec![Some(0), moments, moments]))
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match xs[0].dtype() {
            DType::Float64 => self.run::<f64>(xs, row_moments::<f64>),
            _ => self.run::<f32>(xs, row_moments::<f32>),
        }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The moments are not returned, so no gradient comes from them but through the rule's own use of the input.
        let Some(g) = cx.g_of(0) else { return Ok(cx.node.edges.iter().map(|_| None).collect()) };
        let (gx, gw) = if !cx.differentiating() {
            match g.dtype() {
                DType::Float64 => self.fused::<f64>(cx, g)?,
                _ => self.fused::<f32>(cx, g)?,
            }
        } else {
            let (s, g) = (self.standardized(cx.saved(0)?)?, widened(g)?);
            let q = if W { g.mul(cx.saved(1)?)? } else { g.clone() };
            let gx = cx.when(0, || self.project(&s, &q))?;
            (gx, if W { cx.when(Self::WEIGHT, || g.mul(&s.h))? } else { None })
        };
        let mut grads = maybe(gx);
        if W {
            grads.push(gw);
        }
        if B {
            grads.push(cx.needs(Self::BIAS).then(|| g.clone()));
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let s = op.standardized(cx.xs[0])?;
        let mut parts: SmallVec<[Tensor; 3]> = SmallVec::new();
        if let Some(t) = cx.t(0) {
            let dh = op.project(&s, &widened(t)?)?;
            parts.push(if W { dh.mul(cx.xs[Self::WEIGHT])? } else { dh });
        }
        if W && let Some(t) = cx.t(Self::WEIGHT) {
            parts.push(s.h.mul(t)?);
        }
        if B && let Some(t) = cx.t(Self::BIAS) {
            parts.push(crate::ops::view::expand_to(t, cx.outs[0].sizes())?);
        }
        let mut ts = maybe(Jvp::sum(parts.into_iter().map(Some))?);
        ts.extend([None, None]);
        Ok(ts)
    });
}

#[cold]
pub(super) fn mixed(op: &'static str, x: &Tensor, parameter: &Tensor, name: &str) -> Error {
    let wanted = if x.dtype().half().is_some() { DType::Float32 } else { x.dtype() };
    let (wanted, got) = (wanted.scalar_type_name(), parameter.dtype().scalar_type_name());
    let detail = format!("mixed dtype (CPU): expect parameter to have scalar type of {wanted}, but {name} has {got}");
    Error::dtype(op, detail)
}

pub(super) fn check(
    input: &Tensor,
    normalized: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
) -> Result<Dims> {
    const OP: &str = "layer_norm";
    if normalized.is_empty() {
        return Err(Error::shape(
            OP,
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got \
             normalized_shape = []",
        ));
    }
    let lead = input.ndim().checked_sub(normalized.len());
    let matches =
        lead.is_some_and(|lead| input.sizes()[lead..].iter().map(|&n| n as i64).eq(normalized.iter().copied()));
    if !matches {
        let list = normalized.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Err(Error::shape(
            OP,
            format!(
                "Given normalized_shape=[{list}], expected input with shape [*, {list}], but got input of size{}",
                Sizes(input.sizes())
            ),
        ));
    }
    let normalized: Dims = normalized.iter().map(|&n| n as usize).collect();
    for (t, name) in [(weight, "weight"), (bias, "bias")] {
        let Some(t) = t else { continue };
        if t.sizes() != &normalized[..] {
            return Err(Error::shape(
                OP,
                format!(
                    "Expected {name} to be of same shape as normalized_shape, but got {name} of shape {} and normalized_shape \
                     = {}",
                    Sizes(t.sizes()),
                    Sizes(&normalized)
                ),
            ));
        }
        if input.dtype().is_floating() && !goes_with(input.dtype(), t.dtype()) {
            return Err(mixed(OP, input, t, name));
        }
    }
    Ok(normalized)
}

/// Normalizes over the last dims: `(x - mean) / sqrt(var + eps)`, times `weight`, plus `bias`.
///
/// Args: `input` floating dtype; `normalized_shape` the sizes of the dims to normalize over, the last ones of the
/// input; `weight`, `bias` tensors of those sizes, or None, of the input's dtype or, for halves, float32; `eps` a
/// number added to the (biased) variance. Returns: a tensor of the input's shape. Derivative, with `h` the normalized
/// input and `q = g * weight`: `(q - mean(q) - h * mean(q * h)) / sqrt(var + eps)`; `g * h` for the weight and `g` for
/// the bias, summed over the other dims. Raises: RuntimeError if sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.layer_norm(rg.tensor([[1.0, 3.0]]), (2,), eps=0.0).tolist()
/// [[-1.0, 1.0]]
#[op(function, module = "nn.functional", "(weight=None, bias=None, eps=1e-5)")]
pub fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    let normalized = check(input, normalized_shape, weight, bias)?;
    Ok(normalized_over(input, normalized, weight, bias, eps)?.swap_remove(0))
}

/// The results of the primitive, for arguments that were checked.
pub(super) fn normalized_over(
    input: &Tensor,
    normalized: Dims,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Outs> {
    match (weight, bias) {
        (None, None) => apply(LayerNorm::<false, false> { normalized, eps }, &[input]),
        (Some(w), None) => apply(LayerNorm::<true, false> { normalized, eps }, &[input, w]),
        (None, Some(b)) => apply(LayerNorm::<false, true> { normalized, eps }, &[input, b]),
        (Some(w), Some(b)) => apply(LayerNorm::<true, true> { normalized, eps }, &[input, w, b]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        let sizes: [(&[usize], &[i64]); 4] = [(&[3, 4], &[4]), (&[2, 3, 2], &[3, 2]), (&[5], &[5]), (&[0, 3], &[3])];
        for (x, shape) in sizes {
            let n: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
            let (x, w, b) = (noise(1, x), noise(2, &n), noise(3, &n));
            let eps = 1e-2;
            gradcheck(&|t| layer_norm(&t[0], shape, None, None, eps), std::slice::from_ref(&x));
            gradcheck(&|t| layer_norm(&t[0], shape, Some(&t[1]), None, eps), &[x.clone(), w.clone()]);
            gradcheck(&|t| layer_norm(&t[0], shape, None, Some(&t[1]), eps), &[x.clone(), b.clone()]);
            gradcheck(&|t| layer_norm(&t[0], shape, Some(&t[1]), Some(&t[2]), eps), &[x.clone(), w.clone(), b.clone()]);
        }
        gradcheck(&|t| layer_norm(&t[0].t()?, &[4], None, None, 1e-2), &[noise(1, &[4, 3])]);
    }

    #[test]
    fn values_and_refusals() {
        let x = Tensor::from_slice(&[1.0f64, 3.0, 2.0, 6.0], &[2, 2]).unwrap();
        let y = layer_norm(&x, &[2], None, None, 0.0).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [-1.0, 1.0, -1.0, 1.0]);
        for shape in [&[][..], &[3], &[1, 2, 2], &[-2]] {
            assert!(layer_norm(&x, shape, None, None, 1e-5).is_err());
        }
        assert!(layer_norm(&x, &[2], Some(&noise(1, &[3])), None, 1e-5).is_err());
    }
}
