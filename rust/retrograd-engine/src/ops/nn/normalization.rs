//! The primitive of batch_norm, instance_norm and group_norm: elements standardized by groups, then scaled by channel.

use smallvec::{SmallVec, smallvec};

use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params};
use crate::error::{Error, Result};
use crate::kernels::columns;
use crate::kernels::norm;
use crate::kernels::parallel::{SharedPtr, split, split_rows};
use crate::kernels::real::Real;
use crate::kernels::reduce::row_moments;
use crate::kernels::thresholds::norm::{BLOCK, SHORT, WIDE};
use crate::match_dtype;
use crate::ops::matmul::batch_first;
use crate::ops::memory;
use crate::ops::view::{movedim, reshape_to};
use crate::tensor::copy;
use crate::tensor::{Dims, Dtypes, Element, Tensor};

/// Groups are channels; their moments are those of the input.
pub(super) const BATCH: u8 = 0;
/// Groups are channels; their moments are operands 1 and 2.
pub(super) const GIVEN: u8 = 1;
/// Groups are neighbouring channels of one entry.
pub(super) const GROUP: u8 = 2;

/// `h w + b` with `h = (x - mean) rstd` by groups. Reverse, with `q = g w`: `gx = rstd (q - mean(q) - h mean(q h))`, or
/// `rstd q` for given moments; `gw = sum(g h)`, `gb = sum(g)` by channels.
///
/// Operands: the input (N, C, ...), the given moments if so, then weight and bias (C), of which the last ones may be
/// missing. Results: the output and, of moments that are not given, mean and reciprocal deviation; of channels the
/// variance, too.
#[derive(Clone, Debug)]
pub(super) struct Standardize<const KIND: u8> {
    /// How many an entry has, unless groups are channels.
    pub groups: usize,
    pub eps: f64,
    pub node: &'static str,
}

/// What an element takes in a pass, in nanoseconds.
const PASS_COST: f64 = 0.3;

/// `row_moments` of an element type.
type RowMoments<T> = unsafe fn(*const T, usize, isize) -> (T, T);

/// The input as (entries, channels, the rest).
#[derive(Clone, Copy)]
struct Blocks {
    n: usize,
    c: usize,
    rest: usize,
}

impl Blocks {
    fn of(sizes: &[usize]) -> Self {
        Self { n: sizes[0], c: sizes[1], rest: sizes[2..].iter().product() }
    }
    fn sizes(self) -> [usize; 3] {
        [self.n, self.c, self.rest]
    }
    /// What the channels have, for each element of a row of whole entries.
    fn per_element<T: Copy>(self, row: usize, of: impl Fn(usize) -> T) -> Vec<T> {
        let entry: Vec<T> = (0..self.c).flat_map(|c| std::iter::repeat_n(of(c), self.rest)).collect();
        entry.repeat(row / entry.len())
    }
}

/// Moments as the kernels read them.
struct Stats<T> {
    means: Vec<T>,
    rstds: Vec<T>,
    variances: Vec<T>,
}

impl<const KIND: u8> Standardize<KIND> {
    const WEIGHT: usize = if KIND == GIVEN { 3 } else { 1 };
    const BIAS: usize = Self::WEIGHT + 1;

    /// How many groups there are, and of how many elements each.
    fn extent(&self, b: Blocks) -> (usize, usize) {
        if KIND == GROUP { (b.n * self.groups, b.c / self.groups * b.rest) } else { (b.c, b.n * b.rest) }
    }
    /// The group of a channel of an entry.
    fn group(&self, b: Blocks, n: usize, c: usize) -> usize {
        if KIND == GROUP { n * self.groups + c / (b.c / self.groups) } else { c }
    }

    /// How long the rows of the matrix are whose columns have a channel each, if the input is walked as one: whole
    /// entries.
    fn row(b: Blocks) -> Option<usize> {
        let entry = b.c * b.rest;
        // Where there are few entries, joining the columns of a channel costs more than its runs do.
        let by_columns = KIND != GROUP && entry > 0 && b.rest < SHORT && b.rest < 4 * b.n;
        by_columns.then(|| entry * (WIDE / entry).clamp(1, b.n))
    }

    /// The moments of channels; of groups where there is no element.
    fn measured<T: Element + Real>(&self, b: Blocks, x: &[T], moments: RowMoments<T>) -> Stats<T> {
        let (groups, count) = self.extent(b);
        let mut means = vec![T::ZERO; groups];
        let mut squares = vec![T::ZERO; groups];
        let mut seen = vec![0usize; groups];
        // The moments of two sets together, from those of each: the difference of the means counts as well.
        let mut join = |k: usize, count: usize, mean: T, square: T| {
            let (before, here) = (seen[k] as f64, count as f64);
            let share = T::of(here / (before + here));
            let apart = mean.sub(means[k]);
            means[k] = means[k].add(apart.mul(share));
            squares[k] = squares[k].add(square).add(apart.mul(apart).mul(share.mul(T::of(before))));
            seen[k] += count;
        };
        if let Some(row) = Self::row(b) {
            let (whole, rest) = x.split_at(x.len() / row * row);
            let [means, squares] = columns::moments(whole, row);
            let channel = |j: usize| j / b.rest % b.c;
            for (j, (&mean, &square)) in means.iter().zip(&squares).enumerate() {
                join(channel(j), whole.len() / row, mean, square);
            }
            for (j, &x) in rest.iter().enumerate() {
                join(channel(j), 1, x, T::ZERO);
            }
        } else {
            let length = b.rest.max(1);
            let mut by_run = vec![(T::ZERO, T::ZERO); x.len() / length];
            let found = SharedPtr(by_run.as_mut_ptr());
            split(by_run.len(), 1, x.len() as f64 * PASS_COST, &|runs| {
                for i in runs {
                    let run = &x[i * length..(i + 1) * length];
                    // SAFETY: the pointer and length of a slice; the place of run `i`, which no other piece has.
                    unsafe { *found.get().add(i) = moments(run.as_ptr(), length, 1) };
                }
            });
            for (i, &(mean, square)) in by_run.iter().enumerate() {
                join(i % b.c, length, mean, square);
            }
        }
        let variances: Vec<T> = squares.iter().map(|s| s.div(T::of(count as f64))).collect();
        let rstds = variances.iter().map(|v| self.rstd(*v)).collect();
        Stats { means, rstds, variances }
    }
    fn rstd<T: Real>(&self, variance: T) -> T {
        T::ONE.div(variance.add(T::of(self.eps)).sqrt())
    }
    fn given<T: Element + Real>(&self, mean: &Tensor, variance: &Tensor) -> Result<Stats<T>> {
        let means = values::<T>(mean)?;
        let variances = values::<T>(variance)?;
        Ok(Stats { rstds: variances.iter().map(|v| self.rstd(*v)).collect(), means, variances })
    }

    fn run<T: Element + Real>(&self, xs: &[&Tensor], moments: RowMoments<T>) -> Result<Outs> {
        let b = Blocks::of(xs[0].sizes());
        let x = copy::contiguous(xs[0])?;
        let x = x.as_slice::<T>().expect("contiguous and of this dtype");
        let scales = |i: usize| xs.get(i).map(|t| values::<T>(t)).transpose();
        let (weight, bias) = (scales(Self::WEIGHT)?, scales(Self::BIAS)?);
        let weight = |c: usize| weight.as_ref().map_or(T::ONE, |w| w[c]);
        let shift = |c: usize| bias.as_ref().map_or(T::ZERO, |s| s[c]);
        let (y, stats) = if KIND == GROUP && !x.is_empty() {
            self.standardize_groups(xs[0].sizes(), x, moments, weight, shift)?
        } else {
            let stats = if KIND == GIVEN { self.given::<T>(xs[1], xs[2])? } else { self.measured(b, x, moments) };
            (self.standardize_channels(xs[0].sizes(), x, &stats, weight, shift)?, stats)
        };
        let mut outs: Outs = smallvec![y];
        if KIND != GIVEN {
            let sizes: Dims = if KIND == GROUP { smallvec![b.n, self.groups] } else { smallvec![b.c] };
            let variances = (KIND == BATCH).then_some(stats.variances);
            for values in [stats.means, stats.rstds].into_iter().chain(variances) {
                outs.push(Tensor::from_slice(&values, &sizes)?);
            }
        }
        Ok(outs)
    }

    /// The results, whose moments are known.
    fn standardize_channels<T: Element + Real>(
        &self,
        sizes: &[usize],
        x: &[T],
        stats: &Stats<T>,
        weight: impl Fn(usize) -> T + Sync,
        shift: impl Fn(usize) -> T + Sync,
    ) -> Result<Tensor> {
        let b = Blocks::of(sizes);
        let scale = |c: usize, k: usize| stats.rstds[k].mul(weight(c));
        Tensor::build::<T>(sizes, |y| {
            if let Some(row) = Self::row(b) {
                let [scales, shifts] = [b.per_element(row, |c| scale(c, c)), b.per_element(row, &shift)];
                return columns::standardize(x, [&b.per_element(row, |c| stats.means[c]), &scales, &shifts], y);
            }
            let length = b.rest.max(1);
            split_rows(y, length, 1, x.len() as f64 * PASS_COST, &|runs, y| {
                for (i, y) in runs.zip(y.chunks_exact_mut(length)) {
                    let (n, c) = (i / b.c, i % b.c);
                    let k = self.group(b, n, c);
                    norm::shift_and_scale(&x[i * length..(i + 1) * length], stats.means[k], scale(c, k), shift(c), y);
                }
            });
        })
    }

    /// The results and the moments of groups, whose elements lie together and are not empty: each group is read once
    /// from memory.
    fn standardize_groups<T: Element + Real>(
        &self,
        sizes: &[usize],
        x: &[T],
        moments: RowMoments<T>,
        weight: impl Fn(usize) -> T + Sync,
        shift: impl Fn(usize) -> T + Sync,
    ) -> Result<(Tensor, Stats<T>)> {
        let b = Blocks::of(sizes);
        let (groups, count) = self.extent(b);
        if self.are_short(b) {
            return self.standardize_short_groups(sizes, x, weight, shift);
        }
        let mut found = vec![[T::ZERO; 2]; groups];
        let places = SharedPtr(found.as_mut_ptr());
        let y = Tensor::build::<T>(sizes, |y| {
            let out = SharedPtr(y.as_mut_ptr());
            split(groups, 1, x.len() as f64 * 2.0 * PASS_COST, &|some| {
                for k in some {
                    let x = &x[k * count..(k + 1) * count];
                    // SAFETY: the pointer and length of a slice; group `k` of the output and the place of its moments,
                    // which no other piece has.
                    let (y, place, (mean, square)) = unsafe {
                        let y = std::slice::from_raw_parts_mut(out.get().add(k * count), count);
                        (y, &mut *places.get().add(k), moments(x.as_ptr(), count, 1))
                    };
                    let rstd = self.rstd(square.div(T::of(count as f64)));
                    *place = [mean, rstd];
                    let first = k % self.groups * (b.c / self.groups);
                    for (c, (x, y)) in (first..).zip(x.chunks(b.rest).zip(y.chunks_mut(b.rest))) {
                        norm::shift_and_scale(x, mean, rstd.mul(weight(c)), shift(c), y);
                    }
                }
            });
        })?;
        let of = |i: usize| found.iter().map(|found| found[i]).collect();
        Ok((y, Stats { means: of(0), rstds: of(1), variances: Vec::new() }))
    }

    /// Whether groups go through each step together, with weights by element.
    fn are_short(&self, b: Blocks) -> bool {
        KIND == GROUP && b.rest < SHORT && (1..=BLOCK).contains(&self.extent(b).1)
    }

    /// [`Self::standardize_groups`] of short ones.
    fn standardize_short_groups<T: Element + Real>(
        &self,
        sizes: &[usize],
        x: &[T],
        weight: impl Fn(usize) -> T,
        shift: impl Fn(usize) -> T,
    ) -> Result<(Tensor, Stats<T>)> {
        let b = Blocks::of(sizes);
        let ((groups, count), entry) = (self.extent(b), b.c * b.rest);
        let [w, shift] = [b.per_element(entry, weight), b.per_element(entry, shift)];
        let [mut means, mut rstds] = [vec![T::ZERO; groups], vec![T::ZERO; groups]];
        let y = Tensor::build::<T>(sizes, |y| {
            norm::standardize_rows(count, T::of(self.eps), [x, &w, &shift], y, [&mut means, &mut rstds]);
        })?;
        Ok((y, Stats { means, rstds, variances: Vec::new() }))
    }

    /// Gradients of the input and the weight, of short groups.
    fn pull_short_groups<T: Element + Real>(
        &self,
        cx: &Vjp,
        [x, g]: [&Tensor; 2],
        stats: &Stats<T>,
        weight: Option<&[T]>,
    ) -> Result<[Option<Tensor>; 2]> {
        let b = Blocks::of(x.sizes());
        let w = weight.map(|w| b.per_element(b.c * b.rest, |c| w[c]));
        let (n, [of_x, g]) =
            (self.extent(b).1, [x, g].map(|t| t.as_slice::<T>().expect("contiguous and of this dtype")));
        let (means, rstds) = (&stats.means[..], &stats.rstds[..]);
        let given = norm::Standardized { n, turns: self.groups, x: of_x, g, w: w.as_deref(), means, rstds };
        let for_weight = weight.is_some() && cx.needs(Self::WEIGHT);
        let (gx, gw) = if cx.needs(0) {
            let mut gw = None;
            (Some(Tensor::build::<T>(x.sizes(), |gx| gw = norm::pull_rows(given, for_weight, Some(gx)))?), gw)
        } else {
            (None, norm::pull_rows(given, for_weight, None))
        };
        let of_channel = |c: &[T]| c.iter().fold(T::ZERO, |sum, &x| sum.add(x));
        let gw = gw.map(|gw| gw.chunks_exact(b.rest).map(of_channel).collect::<Vec<T>>());
        Ok([gx, gw.map(|gw| Tensor::from_slice(&gw, &[b.c])).transpose()?])
    }

    /// Gradients of input, weight and bias in two passes.
    fn fused<T: Element + Real>(&self, cx: &Vjp, g: &Tensor) -> Result<[Option<Tensor>; 3]> {
        let (x, g) = (copy::contiguous(cx.saved(0)?)?, copy::contiguous(g)?);
        if g.sizes() != x.sizes() || g.dtype() != x.dtype() {
            return Err(Error::shape(Self::NAME, format!("{g:?} is no gradient for {x:?}")));
        }
        let (sizes, b) = (Dims::from_slice(x.sizes()), Blocks::of(x.sizes()));
        let stats = if KIND == GIVEN {
            self.given::<T>(cx.saved(2)?, cx.saved(3)?)?
        } else {
            Stats { means: values(cx.saved(2)?)?, rstds: values(cx.saved(3)?)?, variances: Vec::new() }
        };
        let weighted = cx.node.edges.len() > Self::WEIGHT;
        let weight = if weighted { Some(values::<T>(cx.saved(1)?)?) } else { None };
        let scale = |c: usize| weight.as_ref().map_or(T::ONE, |w| w[c]);
        if self.are_short(b) && x.numel() > 0 {
            let [gx, gw] = self.pull_short_groups(cx, [&x, &g], &stats, weight.as_deref())?;
            let gb = cx.when(Self::BIAS, || reshape_to(&g, &b.sizes())?.sum_dims(&[0, 2], false))?;
            return Ok([gx, gw, gb]);
        }
        let [x, g] = [&x, &g].map(|t| t.as_slice::<T>().expect("contiguous and of this dtype"));
        let (groups, count) = self.extent(b);
        let mut sums = vec![(T::ZERO, T::ZERO); groups];
        let mut by_channel = vec![(T::ZERO, T::ZERO); b.c];
        let mut add = |n: usize, c: usize, (sum, along): (T, T)| {
            let k = self.group(b, n, c);
            let along = along.mul(stats.rstds[k]);
            by_channel[c] = (by_channel[c].0.add(sum), by_channel[c].1.add(along));
            sums[k] = (sums[k].0.add(sum.mul(scale(c))), sums[k].1.add(along.mul(scale(c))));
        };
        let length = b.rest.max(1);
        let row = Self::row(b);
        let means = row.map_or(Vec::new(), |row| b.per_element(row, |c| stats.means[c]));
        if row.is_some() {
            let [sum, along] = columns::sums(x, g, &means);
            for (j, (&sum, &along)) in sum.iter().zip(&along).enumerate() {
                add(0, j / b.rest % b.c, (sum, along));
            }
        } else {
            let mut by_run = vec![(T::ZERO, T::ZERO); x.len() / length];
            let found = SharedPtr(by_run.as_mut_ptr());
            split(by_run.len(), 1, x.len() as f64 * PASS_COST, &|runs| {
                for i in runs {
                    let run = i * length..(i + 1) * length;
                    let mean = stats.means[self.group(b, i / b.c, i % b.c)];
                    // SAFETY: the place of run `i`, which no other piece has.
                    unsafe { *found.get().add(i) = norm::sums(&x[run.clone()], &g[run], None, mean) };
                }
            });
            by_run.into_iter().enumerate().for_each(|(i, found)| add(i / b.c, i % b.c, found));
        }
        let gx = cx.when(0, || {
            let share = T::ONE.div(T::of(count as f64));
            let factors = |c: usize, k: usize| {
                let rstd = stats.rstds[k];
                let (sum, along) = if KIND == GIVEN { (T::ZERO, T::ZERO) } else { sums[k] };
                let (shift, slope) = (sum.mul(share).mul(rstd), along.mul(share).mul(rstd).mul(rstd));
                [scale(c).mul(rstd), T::ZERO.sub(slope), T::ZERO.sub(shift)]
            };
            Tensor::build::<T>(&sizes, |o| {
                if let Some(row) = row {
                    let [p, q, r] = [0, 1, 2].map(|i| b.per_element(row, |c| factors(c, c)[i]));
                    return columns::project(x, g, &means, [&p, &q, &r], o);
                }
                split_rows(o, length, 1, x.len() as f64 * PASS_COST, &|runs, o| {
                    for (i, o) in runs.zip(o.chunks_exact_mut(length)) {
                        let (n, c) = (i / b.c, i % b.c);
                        let k = self.group(b, n, c);
                        let run = i * length..(i + 1) * length;
                        norm::project(&x[run.clone()], &g[run], None, stats.means[k], factors(c, k), o);
                    }
                });
            })
        })?;
        let channels = |pick: fn(&(T, T)) -> T| {
            let values: Vec<T> = by_channel.iter().map(pick).collect();
            Tensor::from_slice(&values, &[b.c])
        };
        let gw = cx.when(Self::WEIGHT, || channels(|s| s.1))?;
        Ok([gx, gw, cx.when(Self::BIAS, || channels(|s| s.0))?])
    }

    /// The sizes in which groups are axes, and the axes of a group.
    fn grouped(&self, b: Blocks) -> ([usize; 3], &'static [i64]) {
        if KIND == GROUP { ([b.n, self.groups, b.c / self.groups * b.rest], &[2]) } else { (b.sizes(), &[0, 2]) }
    }
    /// Reciprocal deviations and standardized elements by groups, recorded.
    fn standardized(&self, x: &Tensor, given: Option<(&Tensor, &Tensor)>) -> Result<(Tensor, Tensor)> {
        let (sizes, axes) = self.grouped(Blocks::of(x.sizes()));
        let x = reshape_to(x, &sizes)?;
        let moment = |t: &Tensor| reshape_to(t, &[1, sizes[1], 1]);
        let (centred, variance) = match given {
            Some((mean, variance)) => (x.sub(&moment(mean)?)?, moment(variance)?),
            None => {
                let centred = x.sub(&x.mean_dims(axes, true)?)?;
                let variance = centred.mul(&centred)?.mean_dims(axes, true)?;
                (centred, variance)
            }
        };
        let rstd = variance.plus(self.eps)?.rsqrt()?;
        Ok((rstd.clone(), centred.mul(&rstd)?))
    }
    /// The derivative of `h` applied to `q`: it is symmetric, so it serves both directions.
    fn project(&self, x: &Tensor, (rstd, h): &(Tensor, Tensor), q: &Tensor) -> Result<Tensor> {
        let (sizes, axes) = self.grouped(Blocks::of(x.sizes()));
        let mut q = reshape_to(q, &sizes)?;
        if KIND != GIVEN {
            let along = h.mul(&q.mul(h)?.mean_dims(axes, true)?)?;
            q = q.sub(&q.mean_dims(axes, true)?)?.sub(&along)?;
        }
        reshape_to(&q.mul(rstd)?, x.sizes())
    }
}

/// The numbers of a tensor.
fn values<T: Element + Real>(t: &Tensor) -> Result<Vec<T>> {
    Ok(copy::contiguous(t)?.as_slice::<T>().expect("contiguous and of this dtype").to_vec())
}

/// A tensor by channels, so that it broadcasts against an input of `ndim` dims; its batch axis in front.
fn by_channel(t: &Tensor, axis: Option<usize>, ndim: usize) -> Result<Tensor> {
    let t = batch_first(t, axis)?;
    let mut sizes: Dims = SmallVec::new();
    if axis.is_some() {
        sizes.extend([t.sizes()[0], 1]);
    }
    sizes.push(t.sizes()[t.ndim() - 1]);
    sizes.resize(sizes.len() + ndim - 2, 1);
    reshape_to(&t, &sizes)
}

impl<const KIND: u8> Primitive for Standardize<KIND> {
    const NAME: &'static str = if KIND == GROUP { "group_norm" } else { "batch_norm" };
    const NODE: &'static str = if KIND == GROUP { "NativeGroupNormBackward0" } else { "NativeBatchNormBackward0" };
    const SAVE: &'static [Save] = match KIND {
        GIVEN => &[
            Save::input(0, "input"),
            Save::input(3, "weight"),
            Save::input(1, "running_mean"),
            Save::input(2, "running_var"),
        ],
        _ => {
            &[Save::input(0, "input"), Save::input(1, "weight"), Save::output(1, "result1"), Save::output(2, "result2")]
        }
    };
    const PARAMS: Params<Self> = match KIND {
        GROUP => params!(op; eps, group: op.groups),
        _ => params!(op; eps, training: KIND == BATCH),
    };
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const STATISTICS: u32 = 0b1110;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let ndim = xs[0].ndim() - usize::from(axes[0].is_some());
        let x = batch_first(xs[0], axes[0])?;
        let plain = |x: &Tensor| apply(op.clone(), &[x]);
        // The input alone is standardized; weights are lined up with it afterwards.
        let mut outs: Outs = match (KIND, axes[0]) {
            (GIVEN, _) => {
                let rstd = by_channel(xs[2], axes[2], ndim)?.plus(op.eps)?.rsqrt()?;
                smallvec![x.sub(&by_channel(xs[1], axes[1], ndim)?)?.mul(&rstd)?]
            }
            (_, None) => plain(&x)?,
            // The batch joins the entries, which are standardized one by one, or the channels.
            _ => {
                let x = if KIND == GROUP { x } else { movedim(&x, &[0], &[1])? };
                let at = usize::from(KIND != GROUP);
                let sizes = Dims::from_slice(x.sizes());
                let mut joined = sizes.clone();
                joined[at] *= joined.remove(at + 1);
                let mut outs = plain(&reshape_to(&x, &joined)?)?;
                outs[0] = reshape_to(&outs[0], &sizes)?;
                if KIND != GROUP {
                    outs[0] = movedim(&outs[0], &[1], &[0])?;
                }
                for o in &mut outs[1..] {
                    let mut sizes: Dims = smallvec![batch, o.sizes()[0] / batch.max(1)];
                    sizes.extend_from_slice(&o.sizes()[1..]);
                    *o = reshape_to(o, &sizes)?;
                }
                outs
            }
        };
        if xs.len() > Self::WEIGHT {
            outs[0] = outs[0].mul(&by_channel(xs[Self::WEIGHT], axes[Self::WEIGHT], ndim)?)?;
        }
        if xs.len() > Self::BIAS {
            outs[0] = outs[0].add(&by_channel(xs[Self::BIAS], axes[Self::BIAS], ndim)?)?;
        }
        // Weights of halves may be float32.
        outs[0] = memory::cast(&outs[0], xs[0].dtype())?;
        let mut batched: SmallVec<[Option<usize>; 1]> = smallvec![Some(0)];
        batched.resize(outs.len(), axes[0].map(|_| 0));
        Ok((outs, batched))
    });
    fn node(&self) -> &'static str {
        self.node
    }
    fn inputs(&self) -> u32 {
        if KIND == GIVEN { 0b11001 } else { 0b111 }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs, row_moments::<T>))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The moments are not returned, so no gradient comes from them but through the rule's own use of the input.
        let count = cx.node.edges.len();
        let Some(g) = cx.g_of(0) else { return Ok(cx.node.edges.iter().map(|_| None).collect()) };
        let parts = if !cx.differentiating() {
            match_dtype!(floats, g.dtype(), T => self.fused::<T>(cx, g)?)
        } else {
            let x = cx.saved(0)?;
            let b = Blocks::of(x.sizes());
            let given = if KIND == GIVEN { Some((cx.saved(2)?, cx.saved(3)?)) } else { None };
            let s = self.standardized(x, given)?;
            let g = reshape_to(g, &b.sizes())?;
            let q = if count > Self::WEIGHT { g.mul(&reshape_to(cx.saved(1)?, &[1, b.c, 1])?)? } else { g.clone() };
            let gx = cx.when(0, || self.project(x, &s, &q))?;
            let gw = cx.when(Self::WEIGHT, || g.mul(&reshape_to(&s.1, &b.sizes())?)?.sum_dims(&[0, 2], false))?;
            [gx, gw, cx.when(Self::BIAS, || g.sum_dims(&[0, 2], false))?]
        };
        let [gx, gw, gb] = parts;
        let mut grads = maybe(gx);
        if KIND == GIVEN {
            grads.extend([None, None]);
        }
        grads.extend([gw, gb].into_iter().take(count.saturating_sub(Self::WEIGHT)));
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let x = cx.xs[0];
        let ndim = x.ndim();
        let given = if KIND == GIVEN { Some((cx.xs[1], cx.xs[2])) } else { None };
        let s = op.standardized(x, given)?;
        let mut parts: SmallVec<[Tensor; 3]> = SmallVec::new();
        if let Some(t) = cx.t(0) {
            let dh = op.project(x, &s, t)?;
            parts.push(match cx.xs.get(Self::WEIGHT) {
                Some(w) => dh.mul(&by_channel(w, None, ndim)?)?,
                None => dh,
            });
        }
        if let Some(t) = cx.t(Self::WEIGHT) {
            parts.push(reshape_to(&s.1, x.sizes())?.mul(&by_channel(t, None, ndim)?)?);
        }
        if let Some(t) = cx.t(Self::BIAS) {
            parts.push(crate::ops::view::expand_to(&by_channel(t, None, ndim)?, x.sizes())?);
        }
        let mut ts = maybe(Jvp::sum(parts.into_iter().map(Some))?);
        ts.resize_with(cx.outs.len(), || None);
        Ok(ts)
    });
}
