//! `logsumexp`, `softmax` and `log_softmax`, with their row kernels.

use std::ops::Range;

use retrograd_macros::op;

use super::lines::{are_short, side_by_side};
use super::sum::sum_of;
use super::{ReduceAxes, run};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::Result;
use crate::kernels::math;
use crate::kernels::parallel::{SharedPtr, split_rows};
use crate::kernels::pointwise::{Body, Half, lanes2, narrow, row_of, widen};
use crate::kernels::real::Real;
use crate::kernels::reduce;
use crate::kernels::rows::{self, dot, exp_and_sum, larger, row_max, row_sum};
use crate::kernels::simd::{InstructionSet, Isa, Task, Vector, for_isa as on};
use crate::kernels::thresholds::reduce::{CONVERTED, NEAR, WIDE};
use crate::match_dtype;
use crate::ops::memory::cast;
use crate::ops::pointwise::out_like;
use crate::tensor::complex::part;
use crate::tensor::copy;
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::{Dims, contiguous_strides, expanded_strides};
use crate::tensor::{DType, Dtypes, Scalar, Tensor, default_dtype};

/// `logsumexp`: reverse `g exp(x - result)`.
#[derive(Clone, Debug)]
struct LogSumExp {
    over: ReduceAxes,
}

/// `exp(x - m)`; an infinite or missing maximum does not shift.
struct Shifted;
impl<T: Real> Body<T, 2> for Shifted {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, m]: [V; 2]) -> V {
        math::exp(x - finite(m))
    }
}

/// `log(s) + m`.
struct Unshifted;
impl<T: Real> Body<T, 2> for Unshifted {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [s, m]: [V; 2]) -> V {
        math::log(s) + finite(m)
    }
}

/// The number, or 0 for an infinity.
#[inline(always)]
fn finite<V: Vector>(m: V) -> V {
    m.of(0.0).select(m.abs().eq(m.of(f64::INFINITY)), m)
}

/// `k(a, b)` for tensors of one dtype, `b` expanded to `a`, in a fresh tensor in the memory order of `a`.
fn fresh2<K: Body<f32, 2> + Body<f64, 2>>(k: &K, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let o = out_like(a.sizes(), a.dtype(), &[a])?;
    let sb = expanded_strides(b.sizes(), b.strides(), a.sizes());
    match_dtype!(floats, a.dtype(), T => {
        // SAFETY: (1) S1, S3 and the expansion of `b`; (2, 3) the output is fresh.
        unsafe { lanes2(k, a.sizes(), a.ptr::<T>().cast_const(), a.strides(), b.ptr::<T>().cast_const(), &sb, o.ptr::<T>(), o.strides()) };
        Ok(o)
    })
}

impl LogSumExp {
    /// `exp(x - result)`: the softmax over the reduced axes.
    fn weights(&self, x: &Tensor, result: &Tensor) -> Result<Tensor> {
        x.sub(&self.over.aligned(result, x.sizes())?)?.exp()
    }
}

impl Primitive for LogSumExp {
    const NAME: &'static str = "logsumexp";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dims(), keepdim: op.over.keepdim);
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]) }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, kept) = (xs[0], self.over.keeping());
        let result = match_dtype!(floats, x.dtype(), T => {
            // Of no elements the maximum is minus infinity, and so is the result.
            let max = run::<T, _>(&reduce::Max, x, &kept)?;
            let sum = run::<T, _>(&reduce::Sum, &fresh2(&Shifted, x, &max)?, &kept)?;
            fresh2(&Unshifted, &sum, &max)?
        }, else of_complex(x, kept)?);
        let sizes = self.over.sizes(x.sizes());
        let strides = contiguous_strides(&sizes);
        Ok(out(Tensor::from_parts(result.storage(), result.dtype(), &sizes, &strides, 0)?))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(0)?;
        self.weights(x, cx.saved(1)?)?.mul(&self.over.aligned(cx.g(), x.sizes())?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let weighted = op.weights(cx.xs[0], &cx.outs[0])?.mul(t)?;
        sum_of(&weighted, op.over.clone(), None).map(one)
    });
}

/// The same of complex numbers, shifted by the largest of their real parts.
fn of_complex(x: &Tensor, kept: ReduceAxes) -> Result<Tensor> {
    let re = part(x, false)?;
    let max = match_dtype!(floats, re.dtype(), T => run::<T, _>(&reduce::Max, &re, &kept)?);
    let infinite = max.abs()?.eq(&Tensor::number(Scalar::Float(f64::INFINITY))?)?;
    let shift = max.masked_fill(&infinite, &Tensor::number(Scalar::Int(0))?)?;
    sum_of(&x.detach().sub(&shift)?.exp()?, kept, None)?.log()?.add(&shift)
}

/// `softmax` and `log_softmax` along one axis, with `y` the result:
/// `g y - y sum(g y)`, and for the logarithm `g - exp(y) sum(g)`.
#[derive(Clone, Debug)]
struct Softmax<const LOG: bool> {
    over: ReduceAxes,
}

impl<const LOG: bool> Softmax<LOG> {
    fn sums(&self, x: &Tensor) -> Result<Tensor> {
        sum_of(x, self.over.keeping(), None)
    }
    /// The rule in tensor ops.
    fn pulled(&self, g: &Tensor, y: &Tensor) -> Result<Tensor> {
        if LOG {
            return g.sub(&y.exp()?.mul(&self.sums(g)?)?);
        }
        let gy = g.mul(y)?;
        gy.sub(&y.mul(&self.sums(&gy)?)?)
    }
    /// The rule as one kernel, unrecorded.
    fn pulled_at_once(&self, g: &Tensor, y: &Tensor) -> Result<Tensor> {
        let (g, y) = (copy::contiguous(g)?, copy::contiguous(y)?);
        let (sizes, block) = (Dims::from_slice(y.sizes()), self.over.block(y.sizes()));
        if let Some(half) = y.dtype().half() {
            return in_float32(half, [&g, &y], block, |[g, y], o| backward::<f32, LOG>([g, y], o, block));
        }
        match_dtype!(floats, y.dtype(), T => {
            let [g, y] = [&g, &y].map(|t| t.as_slice::<T>().expect("contiguous and of this dtype"));
            Tensor::build::<T>(&sizes, |o| {
                in_parts(o, block, |o, part| backward::<T, LOG>([&g[part.clone()], &y[part]], o, block));
            })
        })
    }
}

impl<const LOG: bool> Primitive for Softmax<LOG> {
    const NAME: &'static str = if LOG { "log_softmax" } else { "softmax" };
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dim());
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]) }));
    fn kernel_name(&self) -> &'static str {
        if LOG { "log_softmax_kernel_impl" } else { "softmax_kernel_impl" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let block = self.over.block(x.sizes());
        match_dtype!(floats, x.dtype(), T => {
            let from = x.as_slice::<T>().expect("contiguous and of this dtype");
            Tensor::build::<T>(x.sizes(), |o| {
                in_parts(o, block, |o, part| forward::<T, LOG>([&from[part]], o, block));
            }).map(out)
        }, else {
            let half = x.dtype().half().unwrap_or_else(|| undeclared(x.dtype()));
            if block[2] == 1 && block[1] > CONVERTED {
                return long_rows::<LOG>(half, &x, block).map(out);
            }
            in_float32(half, [&x], block, |x, o| forward::<f32, LOG>(x, o, block)).map(out)
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, y) = (cx.g(), cx.saved(0)?);
        let fused = !cx.differentiating() && g.dtype() == y.dtype();
        if fused { self.pulled_at_once(g, y) } else { self.pulled(g, y) }.map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let y = &cx.outs[0];
        if LOG {
            return t.sub(&op.sums(&y.exp()?.mul(t)?)?).map(one);
        }
        op.pulled(t, y).map(one)
    });
}

/// What an element takes, in nanoseconds.
const ELEMENT_COST: f64 = 0.4;

/// Calls `work` for parts of the output and their places: whole blocks of `n` times `after` elements.
fn in_parts<T: Copy + Send>(o: &mut [T], [before, n, after]: [usize; 3], work: impl Fn(&mut [T], Range<usize>) + Sync) {
    let (block, cost) = (n * after, o.len() as f64 * ELEMENT_COST);
    assert_eq!(o.len(), before * block, "an output of these sizes");
    split_rows(o, block, 1, cost, &|blocks, o| work(o, blocks.start * block..blocks.end * block));
}

/// The forward pass over parts of a tensor.
fn forward<T: Real, const LOG: bool>(x: [&[T]; 1], o: &mut [T], block: [usize; 3]) {
    side_by_side(x, o, block, are_short(block), |[x], o, block| {
        // SAFETY: the task has no duties: it works on slices.
        unsafe { on(InstructionSet::detect(), SoftmaxRows::<T, LOG> { x, o, block }) }
    });
}

/// The backward pass over parts of a cotangent and a result.
fn backward<T: Real, const LOG: bool>(gy: [&[T]; 2], o: &mut [T], block: [usize; 3]) {
    side_by_side(gy, o, block, are_short(block), |[g, y], o, block| {
        // SAFETY: the task has no duties: it works on slices.
        unsafe { on(InstructionSet::detect(), BackwardRows::<T, LOG> { g, y, o, block }) }
    });
}

/// Calls `work` for parts of halves as float32: whole blocks of `n` times `after` elements of contiguous operands,
/// which have the sizes of the result.
fn in_float32<const N: usize>(
    half: Half,
    xs: [&Tensor; N],
    block @ [_, n, after]: [usize; 3],
    work: impl Fn([&[f32]; N], &mut [f32]) + Sync,
) -> Result<Tensor> {
    let (result, dtype) = (Tensor::empty(xs[0].sizes(), xs[0].dtype())?, xs[0].dtype());
    if n * after > CONVERTED {
        // In whole, since the pool of memory has places for that.
        let wide: Vec<Tensor> = xs.iter().map(|x| copy::cast(x, DType::Float32)).collect::<Result<_>>()?;
        let wide: Vec<&[f32]> = wide.iter().map(|x| x.as_slice().expect("contiguous and of this dtype")).collect();
        let sums = Tensor::build::<f32>(result.sizes(), |o| {
            in_parts(o, block, |o, part| work(std::array::from_fn(|i| &wide[i][part.clone()]), o));
        })?;
        return copy::cast(&sums, dtype);
    }
    let count = result.numel();
    // SAFETY: S1 to S3: contiguous, of `count` elements of two bytes; the result is fresh, and nobody else has it yet.
    let (xs, to) = unsafe {
        let halves = |x: &Tensor| std::slice::from_raw_parts(x.op_ptr().cast::<u16>().cast_const(), count);
        (xs.map(halves), std::slice::from_raw_parts_mut(result.op_ptr().cast::<u16>(), count))
    };
    in_parts(to, block, |to, part| {
        let step = (n * after).max(1) * (NEAR / (n * after).max(1)).max(1);
        let mut wide = [(); N].map(|()| vec![0f32; step.min(to.len())]);
        let mut o = vec![0f32; step.min(to.len())];
        for start in (0..to.len()).step_by(step) {
            let len = step.min(to.len() - start);
            for (wide, x) in wide.iter_mut().zip(&xs) {
                // SAFETY: (1, 2) `len` elements of both.
                unsafe { widen(half, len, x[part.start + start..][..len].as_ptr(), wide.as_mut_ptr()) };
            }
            work(wide.each_ref().map(|wide| &wide[..len]), &mut o[..len]);
            // SAFETY: (1, 2) `len` elements of both.
            unsafe { narrow(half, len, o.as_ptr(), to[start..][..len].as_mut_ptr()) };
        }
    });
    Ok(result)
}

/// The forward pass over long rows of halves, a few of which are float32 at a time: of the whole row, only the
/// exponentials are.
fn long_rows<const LOG: bool>(half: Half, x: &Tensor, block: [usize; 3]) -> Result<Tensor> {
    let result = Tensor::empty(x.sizes(), x.dtype())?;
    let exponentials = if LOG { None } else { Some(Tensor::empty(x.sizes(), DType::Float32)?) };
    let count = x.numel();
    let exps = exponentials.as_ref().map(|e| SharedPtr(e.ptr::<f32>()));
    // SAFETY: S1 to S3: contiguous, of `count` elements of two bytes; the result is fresh, and nobody else has it yet.
    let (from, to) = unsafe {
        let from = std::slice::from_raw_parts(x.op_ptr().cast::<u16>().cast_const(), count);
        (from, std::slice::from_raw_parts_mut(result.op_ptr().cast::<u16>(), count))
    };
    let n = block[1];
    in_parts(to, block, |to, part| {
        let mut wide = vec![0f32; CONVERTED];
        for (i, o) in to.chunks_exact_mut(n).enumerate() {
            let start = part.start + i * n;
            // SAFETY: the part of the fresh exponentials that belongs to this row.
            let exps = exps.map(|e| unsafe { std::slice::from_raw_parts_mut(e.get().add(start), n) });
            let row = LongRow { half, x: &from[start..start + n], exps, o, wide: &mut wide };
            // SAFETY: the task has no duties: it works on slices.
            unsafe { on(InstructionSet::detect(), row) };
        }
    });
    Ok(result)
}

/// One row of [`long_rows`]: the logarithm, or with `exps` the softmax. No duties.
struct LongRow<'a> {
    half: Half,
    x: &'a [u16],
    exps: Option<&'a mut [f32]>,
    o: &'a mut [u16],
    wide: &'a mut [f32],
}

impl Task for LongRow<'_> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let LongRow { half, x, mut exps, o, wide } = self;
        let step = wide.len();
        // SAFETY: (widen and narrow 1, 2; row_max and exp_and_sum 1, 2) slices of one length; (3) Task 2.
        unsafe {
            let mut m = f32::NEG_INFINITY;
            for x in x.chunks(step) {
                widen(half, x.len(), x.as_ptr(), wide.as_mut_ptr());
                m = larger(m, row_max::<S, f32>(&wide[..x.len()]));
            }
            let mut sum = 0.0;
            for (i, x) in x.chunks(step).enumerate() {
                widen(half, x.len(), x.as_ptr(), wide.as_mut_ptr());
                let to = exps.as_mut().map_or(wide.as_mut_ptr(), |exps| exps[i * step..].as_mut_ptr());
                sum += exp_and_sum::<S, f32>(wide.as_ptr(), m, x.len(), to);
            }
            for (i, o) in o.chunks_mut(step).enumerate() {
                let wide = &mut wide[..o.len()];
                match &exps {
                    Some(exps) => {
                        let share = 1.0 / sum;
                        wide.iter_mut().zip(&exps[i * step..]).for_each(|(wide, e)| *wide = e * share);
                    }
                    None => {
                        widen(half, o.len(), x[i * step..].as_ptr(), wide.as_mut_ptr());
                        let log = sum.ln();
                        wide.iter_mut().for_each(|x| *x = *x - m - log);
                    }
                }
                narrow(half, o.len(), wide.as_ptr(), o.as_mut_ptr());
            }
        }
    }
}

/// `exp(x - m)`.
struct Difference;
impl<T: Real> Body<T, 2> for Difference {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, m]: [V; 2]) -> V {
        math::exp(x - m)
    }
}

/// `log(x)`.
struct Log;
impl<T: Real> Body<T, 1> for Log {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        math::log(x)
    }
}

/// The gradient by `g`, `y` and the sum.
#[inline(always)]
fn pulled<const LOG: bool, V: Vector>(g: V, y: V, sum: V) -> V {
    if LOG { g - math::exp(y) * sum } else { g * y - y * sum }
}

/// [`pulled`] for one sum.
struct BackwardElement<T, const LOG: bool>(T);
impl<T: Real, const LOG: bool> Body<T, 2> for BackwardElement<T, LOG> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, y]: [V; 2]) -> V {
        pulled::<LOG, V>(g, y, g.splat(self.0))
    }
}

/// [`pulled`] for a sum of each column.
struct BackwardKernel<const LOG: bool>;
impl<T: Real, const LOG: bool> Body<T, 3> for BackwardKernel<LOG> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, y, sum]: [V; 3]) -> V {
        pulled::<LOG, V>(g, y, sum)
    }
}

/// Forward, over `(before, n, after)`. No duties.
struct SoftmaxRows<'a, T, const LOG: bool> {
    x: &'a [T],
    o: &'a mut [T],
    block: [usize; 3],
}

impl<T: Real, const LOG: bool> Task for SoftmaxRows<'_, T, LOG> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let SoftmaxRows { x, o, block: [_, n, after] } = self;
        if x.is_empty() {
            return;
        }
        if after == 1 {
            // SAFETY: Task 2.
            return unsafe { rows::softmax::<S, T, LOG>(n, x, o) };
        }
        // Columns side by side: `m` and `sum` hold one value for each, as often as a wide row has it.
        let wide = after * fold(n, after);
        let (mut m, mut sum) = (vec![T::ZERO; wide], vec![T::ZERO; wide]);
        let mut log = vec![T::ZERO; if LOG { wide } else { 0 }];
        for (x, o) in x.chunks_exact(n * after).zip(o.chunks_exact_mut(n * after)) {
            m.copy_from_slice(&x[..wide]);
            sum.fill(T::ZERO);
            for row in x.chunks(wide) {
                for (m, &x) in m.iter_mut().zip(row) {
                    *m = larger(*m, x);
                }
            }
            join(&mut m, after, larger);
            for (x, o) in x.chunks(wide).zip(o.chunks_mut(wide)) {
                // SAFETY: Task 2.
                unsafe { row_of::<S, T, 2, _>(&Difference, [x, &m[..x.len()]], o) };
                for (sum, &e) in sum.iter_mut().zip(o.iter()) {
                    *sum = sum.add(e);
                }
            }
            join(&mut sum, after, T::add);
            if LOG {
                // SAFETY: Task 2.
                unsafe { row_of::<S, T, 1, _>(&Log, [&sum], &mut log) };
                for (x, o) in x.chunks(wide).zip(o.chunks_mut(wide)) {
                    for (((o, &x), &m), &log) in o.iter_mut().zip(x).zip(&m).zip(&log) {
                        *o = x.sub(m).sub(log);
                    }
                }
                continue;
            }
            for sum in &mut sum {
                *sum = T::ONE.div(*sum);
            }
            for o in o.chunks_mut(wide) {
                for (o, &sum) in o.iter_mut().zip(&sum) {
                    *o = o.mul(sum);
                }
            }
        }
    }
}

/// How many rows of few columns are walked as one wide row, of `n` rows.
fn fold(n: usize, after: usize) -> usize {
    (WIDE / after).clamp(1, n)
}

/// Joins the values of each column in a wide row, and puts the result in the place of each.
fn join<T: Copy>(wide: &mut [T], after: usize, both: fn(T, T) -> T) {
    let (columns, copies) = wide.split_at_mut(after);
    for copy in copies.chunks_exact(after) {
        columns.iter_mut().zip(copy).for_each(|(column, &copy)| *column = both(*column, copy));
    }
    copies.chunks_exact_mut(after).for_each(|copy| copy.copy_from_slice(columns));
}

/// Backward, over `(before, n, after)`. No duties.
struct BackwardRows<'a, T, const LOG: bool> {
    g: &'a [T],
    y: &'a [T],
    o: &'a mut [T],
    block: [usize; 3],
}

impl<T: Real, const LOG: bool> Task for BackwardRows<'_, T, LOG> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let BackwardRows { g, y, o, block: [_, n, after] } = self;
        if y.is_empty() {
            return;
        }
        let wide = after * fold(n, after);
        let mut sum = vec![T::ZERO; wide];
        for ((g, y), o) in g.chunks_exact(n * after).zip(y.chunks_exact(n * after)).zip(o.chunks_exact_mut(n * after)) {
            if after == 1 {
                // SAFETY: Task 2.
                unsafe {
                    let total = if LOG { row_sum::<S, T>(g) } else { dot::<S, T>(g, y) };
                    row_of::<S, T, 2, _>(&BackwardElement::<T, LOG>(total), [g, y], o);
                }
                continue;
            }
            sum.fill(T::ZERO);
            for (g, y) in g.chunks(wide).zip(y.chunks(wide)) {
                for ((&g, &y), sum) in g.iter().zip(y).zip(&mut sum) {
                    *sum = sum.add(if LOG { g } else { g.mul(y) });
                }
            }
            join(&mut sum, after, T::add);
            for ((g, y), o) in g.chunks(wide).zip(y.chunks(wide)).zip(o.chunks_mut(wide)) {
                // SAFETY: Task 2.
                unsafe { row_of::<S, T, 3, _>(&BackwardKernel::<LOG>, [g, y, &sum[..g.len()]], o) };
            }
        }
    }
}

/// The logarithm of the sum of exponentials over dimensions, without overflow.
///
/// Args: `input` any dtype, integers are converted to the default float dtype; `dim` an integer or a list;
/// `keepdim` keeps them with size 1. Returns: minus infinity where there are no elements.
/// Derivative: `g * exp(input - result)`. Raises: IndexError for a dimension out of range.
///
/// >>> round(rg.logsumexp(rg.tensor([1000.0, 1000.0]), 0).item(), 3)
/// 1000.693
#[op(function, method, out, "(keepdim=False)")]
pub fn logsumexp(input: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let over = ReduceAxes::dims("logsumexp", Some(dim), input.ndim(), keepdim)?;
    let x = if input.dtype().is_integral() { cast(input, default_dtype())? } else { input.clone() };
    apply1(LogSumExp { over }, &[&x])
}

fn softmax_of<const LOG: bool>(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let over = ReduceAxes::dim(Softmax::<LOG>::NAME, dim, input.ndim(), false)?;
    apply1(Softmax::<LOG> { over }, &[&cast(input, dtype.unwrap_or(input.dtype()))?])
}

/// The dim that torch falls back to when `nn.functional` is given none, with its warning.
fn implicit_dim(op: &'static str, input: &Tensor) -> Result<i64> {
    crate::warn::warn(&format!(
        "Implicit dimension choice for {op} has been deprecated. Change the call to include dim=X as an argument."
    ))?;
    Ok(i64::from(!matches!(input.ndim(), 0 | 1 | 3)))
}

/// Exponentials along a dimension, scaled to sum to one.
///
/// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts the input first.
/// Returns: the same shape. Derivative: `result * (g - sum(g * result))`.
/// Raises: IndexError for a dimension out of range; NotImplementedError for integers without `dtype`.
///
/// >>> rg.softmax(rg.tensor([1.0, 1.0]), 0).tolist()
/// [0.5, 0.5]
#[op(function, method, "(dtype=None)")]
pub fn softmax(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax_of::<false>(input, dim, dtype)
}

/// The logarithm of `softmax`, computed without it.
///
/// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts the input first.
/// Returns: the same shape. Derivative: `g - exp(result) * sum(g)`.
/// Raises: IndexError for a dimension out of range; NotImplementedError for integers without `dtype`.
///
/// >>> rg.log_softmax(rg.tensor([0.0, 0.0]), 0).exp().tolist()
/// [0.5, 0.5]
#[op(function, method, "(dtype=None)")]
pub fn log_softmax(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax_of::<true>(input, dim, dtype)
}

/// Exponentials along a dimension, scaled to sum to one; see `softmax`.
///
/// Args: `dim` the dimension; without one 0 for 0, 1 and 3 dims and else 1, with a warning.
///
/// >>> rg.nn.functional.softmax(rg.tensor([1.0, 1.0]), dim=0).tolist()
/// [0.5, 0.5]
#[op(function, module = "nn.functional", name = "softmax", "(dim=None, _stacklevel=3, dtype=None)")]
pub fn functional_softmax(input: &Tensor, dim: Option<i64>, _stacklevel: i64, dtype: Option<DType>) -> Result<Tensor> {
    let dim = dim.map_or_else(|| implicit_dim("softmax", input), Ok)?;
    softmax_of::<false>(input, dim, dtype)
}

/// The logarithm of `softmax`; see `log_softmax`.
///
/// Args: `dim` the dimension; without one 0 for 0, 1 and 3 dims and else 1, with a warning.
///
/// >>> rg.nn.functional.log_softmax(rg.tensor([0.0, 0.0]), dim=0).exp().tolist()
/// [0.5, 0.5]
#[op(function, module = "nn.functional", name = "log_softmax", "(dim=None, _stacklevel=3, dtype=None)")]
pub fn functional_log_softmax(
    input: &Tensor,
    dim: Option<i64>,
    _stacklevel: i64,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let dim = dim.map_or_else(|| implicit_dim("log_softmax", input), Ok)?;
    softmax_of::<true>(input, dim, dtype)
}

/// The softmax of the negated input.
///
/// Args: as `softmax`. Derivative: that of `softmax`, negated.
///
/// >>> rg.nn.functional.softmin(rg.tensor([1.0, 1.0]), dim=0).tolist()
/// [0.5, 0.5]
#[op(function, module = "nn.functional", "(dim=None, _stacklevel=3, dtype=None)")]
pub fn softmin(input: &Tensor, dim: Option<i64>, _stacklevel: i64, dtype: Option<DType>) -> Result<Tensor> {
    let dim = dim.map_or_else(|| implicit_dim("softmin", input), Ok)?;
    softmax_of::<false>(&input.neg()?, dim, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[2, 3], &[3, 1, 4], &[0, 3], &[2, 40]] {
            let x = [noise(31, sizes)];
            for dim in [0, -1] {
                gradcheck(&|xs| xs[0].softmax(dim, None), &x);
                gradcheck(&|xs| xs[0].log_softmax(dim, None), &x);
                if x[0].numel() > 0 {
                    gradcheck(&|xs| xs[0].logsumexp(&[dim], dim == 0), &x);
                }
            }
        }
        let x = [noise(32, &[2, 3, 4])];
        gradcheck(&|xs| xs[0].logsumexp(&[0, 2], false), &x);
        gradcheck(&|xs| xs[0].softmax(1, None), &x);
        gradcheck(&|xs| softmin(&xs[0], Some(1), 3, None), &x);
    }

    #[test]
    fn the_fused_rule_equals_the_recorded_one() {
        let _reading = crate::storage::reclaim::reading();
        fn compare<const LOG: bool>(sizes: &[usize], dim: i64) {
            let (x, g) = (noise(1, sizes), noise(2, sizes));
            let op = Softmax::<LOG> { over: ReduceAxes::dim("softmax", dim, sizes.len(), false).unwrap() };
            let y = apply1(op.clone(), &[&x]).unwrap();
            let [a, b] = [op.pulled(&g, &y), op.pulled_at_once(&g, &y)].map(|t| t.unwrap().to_vec::<f64>().unwrap());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
        }
        for dim in [0, 1] {
            compare::<false>(&[3, 37], dim);
            compare::<true>(&[3, 37], dim);
        }
    }

    #[test]
    fn boundaries() {
        let inf = f64::INFINITY;
        let lse = |v: &[f64]| {
            Tensor::from_slice(v, &[v.len()]).unwrap().logsumexp(&[0], false).unwrap().to_vec::<f64>().unwrap()[0]
        };
        assert_eq!(lse(&[-inf, -inf]), -inf);
        assert_eq!(lse(&[inf, 1.0]), inf);
        assert!(lse(&[f64::NAN, 1.0]).is_nan());
        assert_eq!(lse(&[]), -inf);
        let x = Tensor::from_slice(&[-inf, -inf], &[2]).unwrap();
        assert!(x.softmax(0, None).unwrap().to_vec::<f64>().unwrap().iter().all(|v| v.is_nan()));
        assert!(Tensor::arange(2).unwrap().softmax(0, None).is_err());
        assert_eq!(Tensor::arange(2).unwrap().softmax(0, Some(DType::Float64)).unwrap().dtype(), DType::Float64);
        assert_eq!(Tensor::arange(2).unwrap().logsumexp(&[0], false).unwrap().dtype(), DType::Float32);
        let big = Tensor::from_slice(&[1000.0f32, 1000.0, 0.0, 0.0], &[2, 2]).unwrap();
        assert_eq!(big.softmax(1, None).unwrap().to_vec::<f32>().unwrap(), [0.5; 4]);
        assert_eq!(big.softmax(0, None).unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0, 0.0, 0.0]);
    }
}
