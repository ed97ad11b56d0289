//! Running extremes and logarithms of running sums: cummax, cummin, logcumsumexp.

use std::hint::select_unpredictable;

use num_complex::Complex;
use retrograd_macros::op;
use smallvec::smallvec;

use super::ReduceAxes;
use super::lines::{Beside, side_by_side};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::Result;
use crate::kernels::complex;
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::pointwise::{Body, lanes_of_slices};
use crate::kernels::real::{Ordered, Real, Ring};
use crate::match_dtype;
use crate::ops::index::{at_chosen, to_chosen};
use crate::ops::pointwise::binary::LogAddExp;
use crate::ops::pointwise::complex::real_part as real;
use crate::ops::pointwise::select::where_;
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// `cummax` and `cummin`: reverse `g` added up at the indices found.
#[derive(Clone, Debug)]
struct Running {
    max: bool,
    /// As the caller said it.
    dim: i64,
    axis: usize,
}

/// What an element takes in nanoseconds.
const COST: f64 = 0.7;
/// Elements of a line that are looked at together for one that wins.
const TOGETHER: usize = 16;

/// Elements of lines, many of which are walked side by side.
const SHORT: usize = 128;

/// Whether an element takes the place of the best so far: it is as good, or NaN.
#[inline(always)]
fn wins<T: Ordered, const MAX: bool>(value: T, best: T) -> bool {
    (if MAX { value >= best } else { value <= best }) | value.is_nan()
}

/// The running extremes of a line and the last index where each was found; NaN stays.
fn line_extremes<T: Ordered, const MAX: bool>(x: &[T], values: &mut [T], indices: &mut [i64]) {
    let (mut best, mut index) = (x[0], 0);
    let parts = values.chunks_mut(TOGETHER).zip(indices.chunks_mut(TOGETHER));
    for (part, (x, (values, indices))) in x.chunks(TOGETHER).zip(parts).enumerate() {
        if !x.iter().fold(false, |any, &v| any | wins::<T, MAX>(v, best)) {
            values.fill(best);
            indices.fill(index);
            continue;
        }
        for (i, &v) in x.iter().enumerate() {
            if wins::<T, MAX>(v, best) {
                (best, index) = (v, (part * TOGETHER + i) as i64);
            }
            (values[i], indices[i]) = (best, index);
        }
    }
}

/// An index of a row.
trait Row: Copy {
    /// Of a row whose number fits.
    fn of(row: usize) -> Self;
}

macro_rules! rows {
    ($($t:ty),*) => { $(impl Row for $t {
        #[inline(always)]
        fn of(row: usize) -> Self {
            row as $t
        }
    })* };
}
rows!(u32, i64);

/// As [`line_extremes`], of the columns of `(n, after)` elements.
///
/// A function of its own without branches: the compiler makes vectors of it where it knows that its slices are apart.
#[inline(never)]
fn column_extremes<T: Ordered, I: Row, const MAX: bool>(x: &[T], values: &mut [T], indices: &mut [I], after: usize) {
    values[..after].copy_from_slice(&x[..after]);
    indices[..after].fill(I::of(0));
    for (i, x) in x.chunks_exact(after).enumerate().skip(1) {
        let (best, values) = values[(i - 1) * after..].split_at_mut(after);
        let (found, indices) = indices[(i - 1) * after..].split_at_mut(after);
        // Of one length, for vectors.
        let (x, best, found) = (&x[..after], &best[..after], &found[..after]);
        let (values, indices) = (&mut values[..after], &mut indices[..after]);
        for j in 0..after {
            let wins = wins::<T, MAX>(x[j], best[j]);
            values[j] = select_unpredictable(wins, x[j], best[j]);
            indices[j] = select_unpredictable(wins, I::of(i), found[j]);
        }
    }
}

/// As [`column_extremes`], of `N` columns, whose best so far stay in registers.
fn few_extremes<T: Ordered, const MAX: bool, const N: usize>(x: &[T], values: &mut [T], indices: &mut [i64]) {
    let (mut best, mut found) = ([x[0]; N], [0; N]);
    best.copy_from_slice(&x[..N]);
    let results = values.chunks_exact_mut(N).zip(indices.chunks_exact_mut(N));
    for (i, (x, (values, indices))) in x.chunks_exact(N).zip(results).enumerate() {
        // Seldom: a branch, so that no element waits for the one before.
        if (0..N).fold(false, |any, j| any | wins::<T, MAX>(x[j], best[j])) {
            for j in 0..N {
                if wins::<T, MAX>(x[j], best[j]) {
                    (best[j], found[j]) = (x[j], i as i64);
                }
            }
        }
        values.copy_from_slice(&best);
        indices.copy_from_slice(&found);
    }
}

/// As [`line_extremes`], of many lines of `n` elements one after the other, some of them side by side.
fn short_extremes<T: Ordered, const MAX: bool>(x: &[T], values: &mut [T], indices: &mut [i64], most: Beside) {
    let mut lines = [(); 2].map(|()| vec![T::ZERO; most.count()]);
    // Indices as wide as most elements, so that the same masks select them.
    let (mut rows, mut found) = (vec![0u32; most.count()], vec![0i64; most.count()]);
    let [from, best] = &mut lines;
    let results = values.chunks_mut(most.count()).zip(indices.chunks_mut(most.count()));
    for (x, (values, indices)) in x.chunks(most.count()).zip(results) {
        let some = Beside { blocks: x.len() / most.n, ..most };
        some.gather(x, from);
        let (from, best, rows) = (&from[..x.len()], &mut best[..x.len()], &mut rows[..x.len()]);
        column_extremes::<T, u32, MAX>(from, best, rows, some.lines());
        found.iter_mut().zip(rows).for_each(|(found, row)| *found = i64::from(*row));
        some.scatter(best, values);
        some.scatter(&found, indices);
    }
}

/// The running extremes along the middle one of three axes, of which threads share the first.
fn extremes<T: Ordered, const MAX: bool>(x: &[T], values: &mut [T], indices: &mut [i64], [_, n, after]: [usize; 3]) {
    let block = n * after;
    let (values, indices) = (SharedPtr(values.as_mut_ptr()), SharedPtr(indices.as_mut_ptr()));
    split(x.len() / block, 1, x.len() as f64 * COST, &|some| {
        let x = &x[some.start * block..some.end * block];
        // SAFETY: both have the elements of all, and no other piece has those of these blocks.
        let (values, indices) = unsafe {
            let (values, indices) = (values.get().add(some.start * block), indices.get().add(some.start * block));
            (std::slice::from_raw_parts_mut(values, x.len()), std::slice::from_raw_parts_mut(indices, x.len()))
        };
        if after == 1
            && n <= SHORT
            && let Some(most) = Beside::of(some.len(), [n, 1])
        {
            return short_extremes::<T, MAX>(x, values, indices, most);
        }
        let results = values.chunks_mut(block).zip(indices.chunks_mut(block));
        for (x, (values, indices)) in x.chunks(block).zip(results) {
            match after {
                1 => line_extremes::<T, MAX>(x, values, indices),
                2 => few_extremes::<T, MAX, 2>(x, values, indices),
                3 => few_extremes::<T, MAX, 3>(x, values, indices),
                4 => few_extremes::<T, MAX, 4>(x, values, indices),
                _ => column_extremes::<T, i64, MAX>(x, values, indices, after),
            }
        }
    });
}

impl Primitive for Running {
    const NAME: &'static str = "cummax";
    const SAVE: &'static [Save] = &[Save::output(1, "indices"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim);
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let axis = p.axis + 1;
        view::along_axis(Self { max: p.max, dim: axis as i64, axis }, xs, axes, batch, 0)
    });
    fn node(&self) -> &'static str {
        if self.max { "CummaxBackward0" } else { "CumminBackward0" }
    }
    fn kernel_name(&self) -> &'static str {
        if self.max { "cummax" } else { "cummin" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let block = ReduceAxes::dim(Self::NAME, self.axis as i64, x.ndim(), false)?.block(x.sizes());
        let (values, indices) = (Tensor::empty(x.sizes(), x.dtype())?, Tensor::empty(x.sizes(), DType::Int64)?);
        match_dtype!(numeric, x.dtype(), T => values.write_all::<T>(|values| indices.write_all::<i64>(|indices| {
            let x = x.as_slice::<T>().expect("contiguous and of this dtype");
            // As many values and indices as elements, of which there are some.
            let run = if self.max { extremes::<T, true> } else { extremes::<T, false> };
            run(x, values, indices, block);
        })));
        Ok(smallvec![values, indices])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        to_chosen(cx.g(), cx.saved(0)?, self.axis, cx.sizes(0)).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let t = cx.t(0).map(|t| at_chosen(t, &cx.outs[1], op.axis)).transpose()?;
        Ok(smallvec![t, None])
    });
}

fn running(op: &'static str, x: &Tensor, max: bool, dim: i64) -> Result<(Tensor, Tensor)> {
    let axis = crate::tensor::layout::wrap_dim(op, dim, x.ndim())?;
    let mut outs = apply(Running { max, dim, axis }, &[x])?;
    let indices = outs.swap_remove(1);
    Ok((outs.swap_remove(0), indices))
}

/// The largest of the elements up to each one along a dimension, and its last index.
///
/// Args: `input` any real dtype; `dim` the dimension. NaN wins over every number. Returns: `(values, indices)`, indices
/// in int64. Derivative: `g` added up at the indices. Raises: IndexError for a dimension out of range.
///
/// >>> rg.cummax(rg.tensor([1.0, 3.0, 2.0]), 0).values.tolist()
/// [1.0, 3.0, 3.0]
#[op(function, method, out = SCALAR, fields("values", "indices"))]
pub fn cummax(input: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    running("cummax", input, true, dim)
}

/// The smallest of the elements up to each one along a dimension, and its last index; see `cummax`.
///
/// >>> rg.cummin(rg.tensor([2.0, 1.0, 3.0]), 0).indices.tolist()
/// [0, 1, 1]
#[op(function, method, out = SCALAR, fields("values", "indices"))]
pub fn cummin(input: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    running("cummin", input, false, dim)
}

/// `logcumsumexp`: with `y` the result, `gx[k] = exp(x[k]) sum over i >= k of g[i] exp(-y[i])`.
#[derive(Clone, Debug)]
struct LogCumSumExp {
    over: ReduceAxes,
    reverse: bool,
}

/// A number whose logarithms of sums can be taken.
trait LogSum: Ring {
    /// `log(exp(self) + exp(sum))`.
    fn joined(self, sum: Self) -> Self;
}

macro_rules! log_sum {
    ($($t:ty),*) => { $(impl LogSum for $t {
        #[inline(always)]
        fn joined(self, y: Self) -> Self {
            let x = self;
            if x.is_nan() || y.is_nan() {
                return x + y;
            }
            // Also of two equal infinities, whose difference is NaN.
            if x == y && (x - y).is_nan() {
                return x;
            }
            let (high, low) = if x > y { (x, y) } else { (y, x) };
            high + (low - high).exp().ln_1p()
        }
    })* };
}
log_sum!(f32, f64);

impl LogSum for Complex<f64> {
    /// As torch: near the larger of the two, so that the imaginary part goes on where a logarithm would jump.
    fn joined(self, sum: Self) -> Self {
        let (low, high) = if self.re < sum.re { (self, sum) } else { (sum, self) };
        if Ring::is_nan(self) || Ring::is_nan(sum) {
            return Self::new(f64::NAN, f64::NAN);
        }
        if high.re.is_infinite() && low.re == high.re {
            return if high.re < 0.0 { low } else { complex::ln(low.exp() + high.exp()) };
        }
        let z = (low - high).exp();
        // The logarithm of 1 + z, exact for small z.
        let squares = z.re * (2.0 + z.re) + z.im * z.im;
        let size = match squares {
            _ if libm::hypot(z.re, z.im) >= 0.5 => libm::hypot(z.re + 1.0, z.im).ln(),
            0.0 => z.re,
            _ => 0.5 * squares.ln_1p(),
        };
        Self::new(high.re + size, high.im + z.im.atan2(z.re + 1.0))
    }
}

/// The logarithms of running sums of exponentials, each line by itself.
fn logs<T: LogSum>(x: &[T], to: &mut [T], [before, n, after]: [usize; 3], reverse: bool) {
    for b in 0..before {
        for j in 0..after {
            let mut last: Option<T> = None;
            for i in 0..n {
                let at = (b * n + if reverse { n - 1 - i } else { i }) * after + j;
                let x = x[at];
                let next = last.map_or(x, |sum| x.joined(sum));
                to[at] = next;
                last = Some(next);
            }
        }
    }
}

/// Elements of blocks whose lines are copied side by side: to take them one by one takes ten times as long.
const FEW: usize = 1 << 12;

/// As [`logs`], of floats: lines side by side in vectors.
fn logs_of_floats<T: LogSum + Real>(x: &[T], to: &mut [T], block: [usize; 3], reverse: bool)
where
    LogAddExp: Body<T, 2>,
{
    side_by_side([x], to, block, block[1] * block[2] <= FEW, |[x], to, block @ [_, n, after]| {
        if after < 2 {
            return logs(x, to, block, reverse);
        }
        for (x, to) in x.chunks_exact(n * after).zip(to.chunks_exact_mut(n * after)) {
            let row = |i: usize| if reverse { n - 1 - i } else { i } * after;
            to[row(0)..][..after].copy_from_slice(&x[row(0)..][..after]);
            for i in 1..n {
                let [before, here] =
                    to.get_disjoint_mut([row(i - 1)..row(i - 1) + after, row(i)..row(i) + after]).expect("two rows");
                // SAFETY: initialised elements, which stay it.
                let here = unsafe { std::slice::from_raw_parts_mut(here.as_mut_ptr().cast(), after) };
                lanes_of_slices(&LogAddExp, [&x[row(i)..][..after], &*before], here);
            }
        }
    });
}

impl Primitive for LogCumSumExp {
    const NAME: &'static str = "logcumsumexp";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dim());
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> =
        Batch::Lift(|p, ndims, _| Ok(Self { over: p.over.lifted(ndims[0]), reverse: p.reverse }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(&copy::cast(xs[0], xs[0].dtype().wide())?)?;
        let block = self.over.block(x.sizes());
        let logs = match_dtype!(floats, x.dtype(), T => Tensor::build::<T>(x.sizes(), |to| {
            logs_of_floats(x.as_slice::<T>().unwrap_or(&[]), to, block, self.reverse);
        }), else Tensor::build::<Complex<f64>>(x.sizes(), |to| {
            logs(x.as_slice::<Complex<f64>>().unwrap_or(&[]), to, block, self.reverse);
        }))?;
        copy::cast(&logs, xs[0].dtype()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, result, x) = (cx.g(), cx.saved(0)?, cx.saved(1)?);
        if g.ndim() == 0 || g.numel() == 0 {
            return Ok(one(g.clone()));
        }
        let back = Self { over: self.over.clone(), reverse: !self.reverse };
        let zero = Tensor::number(Scalar::Int(0))?;
        let none = Tensor::number(Scalar::Float(f64::NEG_INFINITY))?;
        // In logarithms, separately for positive and negative gradients. Where the sum is 0, so is the derivative by
        // what it is of.
        let some = result.ne(&none)?;
        let part = |g: &Tensor, counts: &Tensor| -> Result<Tensor> {
            let counts = counts.logical_and(&some)?;
            let safe = where_(&counts, g, &Tensor::number(Scalar::Int(1))?)?;
            let log = where_(&counts, &safe.log()?.sub(&where_(&some, result, &zero)?)?, &none)?;
            apply1(back.clone(), &[&log])?.add(x)?.exp()
        };
        if g.dtype().is_complex() {
            return part(g, &g.ne(&zero)?).map(one);
        }
        // NaN counts as both.
        let positive = |g: &Tensor| part(g, &g.le(&zero)?.logical_not()?);
        positive(g)?.sub(&positive(&g.neg()?)?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let (x, result) = (cx.xs[0], &cx.outs[0]);
        // Without an axis, as in a batch of numbers, the result is the operand.
        let axis = match op.over.axes(x.ndim()).first() {
            Some(&axis) if x.numel() > 0 => axis as i64,
            _ => return Ok(one(t.clone())),
        };
        let (zero, none) = (Tensor::number(Scalar::Int(0))?, Tensor::number(Scalar::Float(f64::NEG_INFINITY))?);
        let largest = real(&x.detach())?.amax(&[axis], true)?;
        let largest = where_(&largest.gt(&none)?, &largest, &zero)?;
        let sums = x.sub(&largest)?.exp()?.mul(t)?;
        let sums =
            if op.reverse { sums.flip(&[axis])?.cumsum(axis, None)?.flip(&[axis])? } else { sums.cumsum(axis, None)? };
        let some = result.ne(&none)?;
        let scale = where_(&some, &largest.sub(&where_(&some, result, &zero)?)?, &none)?;
        sums.mul(&scale.exp()?).map(one)
    });
}

/// The logarithm of the sums of exponentials of the elements up to each one, along a dimension.
///
/// Args: `input` a floating or complex dtype; `dim` the dimension. Returns: the same shape. Derivative: `g * exp(input
/// - result)`, summed from the other end. Raises: IndexError for a dimension out of range; NotImplementedError for
/// integers.
///
/// >>> rg.logcumsumexp(rg.tensor([0.0, 0.0]), 0).exp().tolist()
/// [1.0, 2.0]
#[op(function, method, out = SCALAR)]
pub fn logcumsumexp(input: &Tensor, dim: i64) -> Result<Tensor> {
    let over = ReduceAxes::dim("logcumsumexp", dim, input.ndim(), false)?;
    apply1(LogCumSumExp { over, reverse: false }, &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    /// One element after the other, as the definition says.
    fn one_by_one(max: bool, x: &[f64]) -> (Vec<f64>, Vec<i64>) {
        let (mut values, mut indices) = (vec![x[0]], vec![0]);
        for (i, &v) in x.iter().enumerate().skip(1) {
            let best = values[i - 1];
            let wins = v.is_nan() || !best.is_nan() && if max { v >= best } else { v <= best };
            values.push(if wins { v } else { best });
            indices.push(if wins { i as i64 } else { indices[i - 1] });
        }
        (values, indices)
    }

    #[test]
    fn lines_and_columns_are_as_one_by_one() {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        for n in [1, 2, 15, 16, 17, 33, 70] {
            let noise: Vec<f64> = (0..n).map(|i| (f64::from(i) * 7.3).sin()).collect();
            let ties: Vec<f64> = (0..n).map(|i| f64::from(i % 3)).collect();
            let falls: Vec<f64> = (0..n).map(|i| -f64::from(i)).collect();
            let mut holes = noise.clone();
            holes[n as usize / 2] = f64::NAN;
            holes[n as usize * 3 / 4] = f64::NAN;
            let zeros: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 0.0 } else { -0.0 }).collect();
            for line in [noise, ties, falls, holes, zeros] {
                let n = line.len();
                for max in [true, false] {
                    let (values, indices) = one_by_one(max, &line);
                    let x = Tensor::from_slice(&line, &[n]).unwrap();
                    let (v, i) = running("cummax", &x, max, 0).unwrap();
                    assert!(same(&v.to_vec::<f64>().unwrap(), &values), "{line:?}");
                    assert_eq!(i.to_vec::<i64>().unwrap(), indices, "{line:?}");
                    // The same line as every column of three.
                    let columns: Vec<f64> = line.iter().flat_map(|&v| [v; 3]).collect();
                    let x = Tensor::from_slice(&columns, &[n, 3]).unwrap();
                    let (v, i) = running("cummax", &x, max, 0).unwrap();
                    for j in 0..3 {
                        let column: Vec<f64> = v.to_vec::<f64>().unwrap().into_iter().skip(j).step_by(3).collect();
                        assert!(same(&column, &values), "{line:?}");
                        let column: Vec<i64> = i.to_vec::<i64>().unwrap().into_iter().skip(j).step_by(3).collect();
                        assert_eq!(column, indices);
                    }
                }
            }
        }
    }

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[0, 2], &[3, 4], &[2, 3, 2]] {
            let x = [noise(21, sizes)];
            gradcheck(&|xs| xs[0].cummax(0)?.0.exp(), &x);
            gradcheck(&|xs| xs[0].cummin(-1)?.0.exp(), &x);
            gradcheck(&|xs| xs[0].logcumsumexp(0)?.exp(), &x);
            gradcheck(&|xs| xs[0].logcumsumexp(-1)?.sin(), &x);
        }
    }
}
