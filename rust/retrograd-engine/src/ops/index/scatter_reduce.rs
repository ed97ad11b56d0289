//! `scatter_reduce`: elements combined where an index tensor names along one axis.

use retrograd_macros::op;
use smallvec::smallvec;

use super::along::check_index;
use super::along_index::{Along, rows_named};
use super::walk::IndexWalk;
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::parallel::SharedPtr;
use crate::kernels::real::{Ordered, Ring};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::layout::numel;
use crate::tensor::{Dtypes, Element, FromScalar, Scalar, Tensor};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    Sum,
    Prod,
    Mean,
    AMax,
    AMin,
}

impl Reduction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Mean => "mean",
            Self::AMax => "amax",
            Self::AMin => "amin",
        }
    }
}

/// `scatter_reduce`, of a source with the sizes of the index. Every element of the result is a function of those it was
/// combined from; [`ScatterReduce::partials`] has its derivatives, and both rules are made of them.
#[derive(Clone, Debug)]
pub(super) struct ScatterReduce {
    pub(super) dim: usize,
    pub(super) reduction: Reduction,
    pub(super) include_self: bool,
}

fn number(x: i64) -> Result<Tensor> {
    Tensor::number(Scalar::Int(x))
}

/// `t` times derivatives, where none are 1.
pub(super) fn times(t: Tensor, by: &Option<Tensor>) -> Result<Tensor> {
    match by {
        Some(by) => t.mul(by),
        None => Ok(t),
    }
}

impl ScatterReduce {
    pub(super) fn run(&self, x: &Tensor, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        apply_as(crate::ops::Form::New, self.clone(), &[x, index, src])
    }

    /// Derivatives of the result's elements, in the shape of the tensor and in that of the source. None for those of a
    /// sum, which are 1.
    pub(super) fn partials(
        &self,
        x: &Tensor,
        index: &Tensor,
        src: &Tensor,
        result: &Tensor,
    ) -> Result<[Option<Tensor>; 2]> {
        let dim = self.dim as i64;
        let ones = |t: &Tensor| Tensor::ones(t.sizes(), t.dtype());
        let partials = match self.reduction {
            Reduction::Sum => return Ok([None, None]),
            Reduction::Mean => {
                let first = if self.include_self { ones(x)? } else { Tensor::zeros(x.sizes(), x.dtype())? };
                let count = first.scatter_add(dim, index, &ones(src)?)?.maximum(&number(1)?)?;
                let share = count.reciprocal()?;
                [share.clone(), share.gather(dim, index)?]
            }
            Reduction::AMax | Reduction::AMin => {
                // Split evenly among all that are equal to the result, as `amax` does.
                let is = |t: &Tensor, r: &Tensor| crate::ops::memory::cast(&t.eq(r)?, x.dtype());
                let (from_x, from_src) = (is(x, result)?, is(src, &result.gather(dim, index)?)?);
                let share = from_x.scatter_add(dim, index, &from_src)?.reciprocal()?;
                [from_x.mul(&share)?, from_src.mul(&share.gather(dim, index)?)?]
            }
            Reduction::Prod => {
                // A product without one factor: the quotient, but where that factor is the only zero.
                let (zero, one) = (number(0)?, number(1)?);
                let filled = x.masked_fill(&x.eq(&zero)?, &one)?;
                let to_x = self.run(&filled, index, src)?.div(&filled)?;
                let none = src.eq(&zero)?;
                let zeros = Tensor::zeros(x.sizes(), x.dtype())?;
                let count = zeros.scatter_add(dim, index, &crate::ops::memory::cast(&none, x.dtype())?)?;
                let alone = count.gather(dim, index)?.eq(&one)?.logical_and(&none)?;
                let others = self.run(x, index, &src.masked_fill(&alone, &one)?)?.gather(dim, index)?;
                let quotient = result.gather(dim, index)?.div(&src.masked_fill(&none, &one)?)?;
                [to_x, where_(&alone, &others, &quotient)?]
            }
        };
        Ok(partials.map(Some))
    }

    /// `g` times the derivatives by the operand; 0, whatever they are, where that was replaced.
    pub(super) fn to_operand(&self, g: &Tensor, by_x: &Option<Tensor>, index: &Tensor) -> Result<Tensor> {
        let all = times(g.clone(), by_x)?;
        if self.include_self { Ok(all) } else { all.scatter_value(self.dim as i64, index, Scalar::Int(0)) }
    }
}

/// How many elements came together in the places of a result: `counts` are those of neighbouring stretches of `each`
/// places, again and again.
struct Counts {
    counts: Vec<i64>,
    each: usize,
}

impl ScatterReduce {
    /// Combines, by `f` and in order, the elements of `src`, which is contiguous, with those of `to`, a fresh tensor.
    /// Elements of `to` that are not included are replaced by the first that comes there. Says how many came together
    /// if that is asked for.
    fn combine<T: Ring + Element>(
        &self,
        [to, index, src]: [&Tensor; 3],
        counted: bool,
        f: impl Fn(T, T) -> T + Sync + Copy,
    ) -> Result<Option<Counts>> {
        let (dim, included) = (self.dim, i64::from(self.include_self));
        if self.include_self
            && let Some((line, part)) = rows_named(to, dim, index)?
            && (!counted || part.sizes() == to.sizes())
        {
            let places = IndexWalk::new(Self::NAME, &part, &[dim], &[&line])?.places()?;
            // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) the source has the sizes of the index,
            // which are the walk's, and the fresh tensor is disjoint from it.
            unsafe { places.combine(src.ptr::<T>(), to.ptr(), f) };
            return Ok(counted.then(|| {
                let mut counts = vec![included; to.sizes()[dim]];
                line.as_slice::<i64>().unwrap_or(&[]).iter().for_each(|&i| counts[i as usize] += 1);
                Counts { counts, each: numel(&to.sizes()[dim + 1..]) }
            }));
        }
        let at = Along::new(Self::NAME, to.sizes(), to.strides(), dim, index)?;
        let (from, place) = (SharedPtr(src.ptr::<T>()), SharedPtr(to.ptr::<T>()));
        if self.include_self && !counted {
            at.each(|| {
                let (from, to) = (from.get().cast_const(), place.get());
                move |k, o| {
                    // SAFETY: S1 and S3: a position of the index; the offset was checked against the sizes.
                    unsafe { *to.offset(o) = f(*to.offset(o), *from.add(k)) }
                }
            })?;
            return Ok(None);
        }
        let mut counts = vec![included; to.numel()];
        let all = SharedPtr(counts.as_mut_ptr());
        at.each(|| {
            let (from, to, counts) = (from.get().cast_const(), place.get(), all.get());
            move |k, o| {
                // SAFETY: as above; the tensor is row-major, so that an offset is the number of a place.
                unsafe {
                    let (x, to, count) = (*from.add(k), to.offset(o), counts.offset(o));
                    *to = if *count == 0 { x } else { f(*to, x) };
                    *count += 1;
                }
            }
        })?;
        Ok(Some(Counts { counts, each: 1 }))
    }
}

impl Counts {
    /// Calls `f` with the elements of every stretch into which more than one was combined, and how many.
    fn each_of<T: Element>(&self, to: &mut [T], f: impl Fn(&mut [T], i64)) {
        if self.each > 0 {
            let stretches = to.chunks_exact_mut(self.each).zip(self.counts.iter().cycle());
            stretches.filter(|(_, n)| **n > 1).for_each(|(to, &n)| f(to, n));
        }
    }

    /// Makes means of sums.
    fn divide(&self, sums: &Tensor) {
        match_dtype!(floats, sums.dtype(), T => {
            // SAFETY: S1 and S3: a fresh row-major tensor, of which nobody else knows.
            let sums = unsafe { std::slice::from_raw_parts_mut(sums.ptr::<T>(), sums.numel()) };
            self.each_of(sums, |sums, n| {
                let n = n as T;
                sums.iter_mut().for_each(|sum| *sum /= n);
            });
        }, else match_dtype!(numeric, sums.dtype(), T => {
            // SAFETY: as above.
            let sums = unsafe { std::slice::from_raw_parts_mut(sums.ptr::<T>(), sums.numel()) };
            self.each_of(sums, |sums, n| {
                for to in sums {
                    *to = match to.to_scalar() {
                        // Integers are rounded down.
                        Scalar::Int(sum) => T::from_scalar(Scalar::Int(sum.div_euclid(n))),
                        sum => T::from_scalar(Scalar::Float(sum.as_f64() / n as f64)),
                    };
                }
            });
        }));
    }
}

impl Primitive for ScatterReduce {
    const NAME: &'static str = "scatter_reduce";
    const SAVE: &'static [Save] =
        &[Save::input(1, "index"), Save::output(0, "result"), Save::input(0, "self"), Save::input(2, "src")];
    const PARAMS: Params<Self> = params!(op; dim, include_self, reduce: Value::Str(op.reduction.name().into()));
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> =
        Batch::Rule(|p, xs, axes, batch| view::along_axis(Self { dim: p.dim + 1, ..*p }, xs, axes, batch, 0));
    fn inputs(&self) -> u32 {
        0b101
    }
    fn dtypes(&self) -> Dtypes {
        // For the old form, `scatter` with `reduce="multiply"`.
        if self.reduction == Reduction::Prod { Dtypes::ALL } else { Self::DTYPES }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = copy::row_major(xs[0])?;
        if xs[1].numel() == 0 {
            return Ok(out(result));
        }
        let src = copy::contiguous(xs[2])?;
        let all = [&result, xs[1], &src];
        if result.dtype().is_complex() {
            match_dtype!(complex, result.dtype(), T => self.combine(all, false, <T as Ring>::mul))?;
            return Ok(out(result));
        }
        let counted = self.reduction == Reduction::Mean;
        let counts = match_dtype!(floats, result.dtype(), T => match self.reduction {
            Reduction::Sum | Reduction::Mean => self.combine(all, counted, <T as Ring>::add),
            Reduction::Prod => self.combine(all, counted, <T as Ring>::mul),
            Reduction::AMax => self.combine(all, counted, <T as Ordered>::larger),
            Reduction::AMin => self.combine(all, counted, <T as Ordered>::smaller),
        }, else match_dtype!(numeric, result.dtype(), T => {
            // One loop for all: integers are rarely combined.
            let f: fn(T, T) -> T = match self.reduction {
                Reduction::Sum | Reduction::Mean => <T as Ring>::add,
                Reduction::Prod => <T as Ring>::mul,
                Reduction::AMax => <T as Ordered>::larger,
                Reduction::AMin => <T as Ordered>::smaller,
            };
            self.combine(all, counted, f)
        }))?;
        if let (Reduction::Mean, Some(counts)) = (self.reduction, counts) {
            counts.divide(&result);
        }
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let [to_x, to_src] = self.partials(cx.saved(2)?, index, cx.saved(3)?, cx.saved(1)?)?;
        let x = cx.when(0, || self.to_operand(g, &to_x, index))?;
        let src = cx.when(2, || times(g.gather(self.dim as i64, index)?, &to_src))?;
        Ok(smallvec![x, None, src])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, index) = (cx.xs[0], cx.xs[1]);
        let [to_x, to_src] = op.partials(x, index, cx.xs[2], &cx.outs[0])?;
        let from_x = cx.t(0).map(|t| op.to_operand(t, &to_x, index)).transpose()?;
        let Some(src) = cx.t(2) else { return Ok(maybe(from_x)) };
        let start = from_x.map_or_else(|| Tensor::zeros(x.sizes(), x.dtype()), Ok)?;
        start.scatter_add(op.dim as i64, index, &times(src.clone(), &to_src)?).map(one)
    });
}

/// `input` with the elements of `src` combined into the places that `index` names along an axis.
///
/// Args: `dim` an axis; `index` int32 or int64, no larger than `src`, nor than `input` but along `dim`; `src` of the
/// dtype of `input`; `reduce` is "sum", "prod", "mean", "amax" or "amin"; without `include_self` the elements of
/// `input` in the places named do not count. Returns: a tensor of the sizes of `input`. Derivative: that of the
/// reduction; for "amax" and "amin" `g`, split evenly among equal elements. Raises: RuntimeError if an index is out of
/// range, or sizes or dtypes do not fit.
///
/// >>> rg.scatter_reduce(rg.ones(2), 0, rg.tensor([0, 0]), rg.tensor([2.0, 3.0]), "prod").tolist()
/// [6.0, 1.0]
#[op(function, method, inplace, out = SAME, "(*, include_self=True)")]
pub fn scatter_reduce(
    input: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    const OP: &str = "scatter_reduce";
    let every = [Reduction::Sum, Reduction::Prod, Reduction::Mean, Reduction::AMax, Reduction::AMin];
    let Some(reduction) = every.into_iter().find(|r| r.name() == reduce) else {
        return Err(Error::shape(
            OP,
            format!("reduce argument must be either sum, prod, mean, amax or amin, got {reduce}."),
        ));
    };
    let dim = check_index(OP, input, dim, index, Some(src))?;
    if input.dtype() != src.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "scatter(): Expected self.dtype to be equal to src.dtype, got {} and {}: convert with .to(dtype)",
                input.dtype().name(),
                src.dtype().name()
            ),
        ));
    }
    let mut covered = src.clone();
    if index.ndim() == src.ndim() {
        for (d, (&n, &whole)) in index.sizes().iter().zip(src.sizes()).enumerate() {
            if n != whole {
                covered = covered.narrow(d as i64, 0, n as i64)?;
            }
        }
    } else if index.numel() > 0 {
        covered = view::reshape_to(src, index.sizes())?;
    }
    apply_as(form, ScatterReduce { dim, reduction, include_self }, &[input, index, &covered])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::parallel::set_num_threads;
    use crate::testing::{gradcheck, noise};

    /// What comes together in each place of a tensor of these sizes, in order, by the definition.
    fn naive(sizes: &[usize], x: &[f64], dim: usize, index: &Tensor, src: &[f64], included: bool) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
        let mut named = vec![included; x.len()];
        for (k, &i) in index.to_vec::<i64>().unwrap().iter().enumerate() {
            let (mut rest, mut place, mut step) = (k, 0, 1);
            for d in (0..sizes.len()).rev() {
                place += step * if d == dim { i as usize } else { rest % index.sizes()[d] };
                (rest, step) = (rest / index.sizes()[d], step * sizes[d]);
            }
            if !std::mem::replace(&mut named[place], true) {
                all[place].clear();
            }
            all[place].push(src[k]);
        }
        all
    }

    #[test]
    fn elements_and_rows_come_together_in_order() {
        let whole = |n: usize, by: usize| -> Vec<f64> { (0..n).map(|i| ((i * by) % 23) as f64 / 4.0 - 2.0).collect() };
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        // The sizes of the tensor and of the index, and the axis: elements, and rows where the index is repeated.
        for (sizes, count, dim) in [
            (&[5usize][..], &[9usize][..], 0usize),
            (&[3, 7], &[5, 7], 0),
            (&[3, 7], &[5, 6], 0),
            (&[7, 3], &[7, 8], 1),
            (&[2, 5, 3], &[2, 11, 3], 1),
            (&[3, 5, 3], &[2, 11, 2], 1),
            (&[40, 900], &[70, 900], 0),
            (&[900, 40], &[900, 70], 1),
            (&[3, 0], &[5, 0], 0),
        ] {
            let (n, m) = (sizes.iter().product::<usize>(), count.iter().product::<usize>());
            let (mut x, mut src) = (whole(n, 7), whole(m, 5));
            for (at, special) in [f64::NAN, -0.0, 0.0, f64::INFINITY].into_iter().enumerate() {
                src.iter_mut().skip(3 * at).take(1).for_each(|x| *x = special);
                x.iter_mut().skip(2 * at + 1).take(1).for_each(|x| *x = special);
            }
            let line: Vec<i64> = (0..count[dim]).map(|i| (i * i * 3 % sizes[dim]) as i64).collect();
            let mut along = vec![1; count.len()];
            along[dim] = count[dim];
            let rows = view::expand_to(&Tensor::from_slice(&line, &along).unwrap(), count).unwrap();
            let each: Vec<i64> = (0..m).map(|k| ((k * k + k / 3) % sizes[dim]) as i64).collect();
            let each = Tensor::from_slice(&each, count).unwrap();
            let floats = |v: &[f64], sizes: &[usize]| Tensor::from_slice(v, sizes).unwrap();
            let singles = |v: &[f64], sizes: &[usize]| {
                Tensor::from_slice(&v.iter().map(|&x| x as f32).collect::<Vec<_>>(), sizes).unwrap()
            };
            let ints = |v: &[f64], sizes: &[usize]| {
                Tensor::from_slice(&v.iter().map(|&x| x as i32).collect::<Vec<_>>(), sizes).unwrap()
            };
            for (index, included) in [(&rows, true), (&rows, false), (&each, true), (&each, false)] {
                let parts = naive(sizes, &x, dim, index, &src, included);
                for reduce in ["sum", "prod", "mean", "amax", "amin"] {
                    let f = |a: f64, b: f64| match reduce {
                        "prod" => a * b,
                        "amax" => a.larger(b),
                        "amin" => a.smaller(b),
                        _ => a + b,
                    };
                    let share = |n: usize| if reduce == "mean" { n as f64 } else { 1.0 };
                    let want = |part: &Vec<f64>| part.iter().copied().reduce(f).unwrap() / share(part.len());
                    let want_single = |part: &Vec<f64>| {
                        let all = part.iter().map(|&x| x as f32);
                        all.reduce(|a, b| match reduce {
                            "prod" => a * b,
                            "amax" => a.larger(b),
                            "amin" => a.smaller(b),
                            _ => a + b,
                        })
                        .unwrap()
                            / share(part.len()) as f32
                    };
                    let want_int = |part: &Vec<f64>| {
                        let all = part.iter().map(|&x| x as i32);
                        let whole = all.reduce(|a, b| match reduce {
                            "prod" => a.wrapping_mul(b),
                            "amax" => a.max(b),
                            "amin" => a.min(b),
                            _ => a.wrapping_add(b),
                        });
                        whole.unwrap().div_euclid(share(part.len()) as i32)
                    };
                    for threads in [1, 3] {
                        set_num_threads(threads);
                        let case = format!("{reduce} {sizes:?} by {count:?} along {dim}, {included}, on {threads}");
                        let run = |x: &Tensor, src: &Tensor| {
                            x.scatter_reduce(dim as i64, index, src, reduce, included).unwrap()
                        };
                        let got = run(&floats(&x, sizes), &floats(&src, count)).to_vec::<f64>().unwrap();
                        assert!(got.iter().zip(&parts).all(|(&a, part)| same(a, want(part))), "{case}");
                        let got = run(&singles(&x, sizes), &singles(&src, count)).to_vec::<f32>().unwrap();
                        let same = |a: f32, b: f32| same(a.into(), b.into());
                        assert!(got.iter().zip(&parts).all(|(&a, part)| same(a, want_single(part))), "{case}");
                        let got = run(&ints(&x, sizes), &ints(&src, count)).to_vec::<i32>().unwrap();
                        assert!(got.iter().zip(&parts).all(|(&a, part)| a == want_int(part)), "{case}");
                    }
                }
            }
        }
        // An index that leads nowhere, of rows and of elements.
        let (x, src) = (noise(1, &[3, 4]), noise(2, &[2, 4]));
        for wrong in [3i64, -1] {
            let line = Tensor::from_slice(&[0, wrong], &[2, 1]).unwrap();
            let rows = view::expand_to(&line, &[2, 4]).unwrap();
            for index in [&rows, &copy::contiguous(&rows).unwrap()] {
                assert!(x.scatter_reduce(0, index, &src, "mean", true).is_err());
                assert!(x.scatter_reduce(0, index, &src, "sum", false).is_err());
            }
        }
    }

    #[test]
    fn derivatives() {
        let index = Tensor::from_slice(&[2i64, 0, 2, 2, 0, 1], &[2, 3]).unwrap();
        for reduce in ["sum", "prod", "mean", "amax", "amin"] {
            for include in [true, false] {
                let f = |xs: &[Tensor]| xs[0].scatter_reduce(0, &index, &xs[1], reduce, include)?.exp();
                gradcheck(&f, &[noise(1, &[3, 4]), noise(2, &[2, 3])]);
                gradcheck(&f, &[noise(1, &[3, 3]), noise(2, &[4, 5])]);
            }
        }
        assert!(noise(1, &[3, 4]).scatter_reduce(0, &index, &noise(2, &[2, 3]), "max", true).is_err());
    }
}
