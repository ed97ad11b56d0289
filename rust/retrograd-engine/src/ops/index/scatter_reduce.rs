//! `scatter_reduce`: elements combined where an index tensor names along one axis.

use retrograd_macros::op;
use smallvec::smallvec;

use super::along::check_index;
use super::along_index::Along;
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::real::{Ordered, Ring};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::{Dtypes, FromScalar, Scalar, Tensor};

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

impl ScatterReduce {
    pub(super) fn run(&self, x: &Tensor, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        apply_as(crate::ops::Form::New, self.clone(), &[x, index, src])
    }

    /// Derivatives of the result's elements, in the shape of the tensor and in that of the source.
    pub(super) fn partials(&self, x: &Tensor, index: &Tensor, src: &Tensor, result: &Tensor) -> Result<[Tensor; 2]> {
        let dim = self.dim as i64;
        let ones = |t: &Tensor| Tensor::ones(t.sizes(), t.dtype());
        let [to_x, to_src] = match self.reduction {
            Reduction::Sum => [ones(x)?, ones(src)?],
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
        Ok([to_x, to_src])
    }

    /// `g` times the derivatives by the operand; 0, whatever they are, where that was replaced.
    pub(super) fn to_operand(&self, g: &Tensor, by_x: &Tensor, index: &Tensor) -> Result<Tensor> {
        let all = g.mul(by_x)?;
        if self.include_self { Ok(all) } else { all.scatter_value(self.dim as i64, index, Scalar::Int(0)) }
    }
}

/// Combines the elements of `src` with those of `to` at the offsets; those first named are replaced unless `included`.
/// Returns how many came together in each place.
fn combine<T: Ring>(to: &mut [T], src: &[T], at: &[isize], included: bool, f: impl Fn(T, T) -> T) -> Vec<i64> {
    let mut counts = vec![i64::from(included); to.len()];
    for (&x, &o) in src.iter().zip(at) {
        let (place, count) = (&mut to[o as usize], &mut counts[o as usize]);
        *place = if *count == 0 { x } else { f(*place, x) };
        *count += 1;
    }
    counts
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
        let at = Along::new(Self::NAME, result.sizes(), result.strides(), self.dim, xs[1])?.offsets()?;
        let src = copy::contiguous(xs[2])?;
        if result.dtype().is_complex() {
            return match_dtype!(complex, result.dtype(), T => Tensor::build::<T>(result.sizes(), |to| {
                to.copy_from_slice(result.as_slice::<T>().unwrap_or(&[]));
                combine(to, src.as_slice::<T>().unwrap_or(&[]), &at, self.include_self, T::mul);
            }))
            .map(out);
        }
        match_dtype!(numeric, result.dtype(), T => Tensor::build::<T>(result.sizes(), |to| {
            to.copy_from_slice(result.as_slice::<T>().unwrap_or(&[]));
            let (src, given) = (src.as_slice::<T>().unwrap_or(&[]), self.include_self);
            match self.reduction {
                Reduction::Sum => combine(to, src, &at, given, T::add),
                Reduction::Prod => combine(to, src, &at, given, T::mul),
                Reduction::AMax => combine(to, src, &at, given, T::larger),
                Reduction::AMin => combine(to, src, &at, given, T::smaller),
                Reduction::Mean => {
                    let counts = combine(to, src, &at, given, T::add);
                    for (to, n) in to.iter_mut().zip(&counts).filter(|(_, n)| **n > 1) {
                        *to = match to.to_scalar() {
                            // Integers are rounded down.
                            Scalar::Int(sum) => T::from_scalar(Scalar::Int(sum.div_euclid(*n))),
                            sum => T::from_scalar(Scalar::Float(sum.as_f64() / *n as f64)),
                        };
                    }
                    counts
                }
            };
        }))
        .map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let [to_x, to_src] = self.partials(cx.saved(2)?, index, cx.saved(3)?, cx.saved(1)?)?;
        let x = cx.when(0, || self.to_operand(g, &to_x, index))?;
        let src = cx.when(2, || g.gather(self.dim as i64, index)?.mul(&to_src))?;
        Ok(smallvec![x, None, src])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, index) = (cx.xs[0], cx.xs[1]);
        let [to_x, to_src] = op.partials(x, index, cx.xs[2], &cx.outs[0])?;
        let from_x = cx.t(0).map(|t| op.to_operand(t, &to_x, index)).transpose()?;
        let Some(src) = cx.t(2) else { return Ok(maybe(from_x)) };
        let start = from_x.map_or_else(|| Tensor::zeros(x.sizes(), x.dtype()), Ok)?;
        start.scatter_add(op.dim as i64, index, &src.mul(&to_src)?).map(one)
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
    use crate::testing::{gradcheck, noise};

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
