//! Writing at index tensors along one axis: scatter, scatter_add.

use retrograd_macros::op;
use smallvec::smallvec;

use super::advanced::and_none;
use super::along::check_index;
use super::along_index::{Along, rows_named};
use super::scatter_reduce::scatter_reduce_as;
use super::walk::{IndexWalk, add_in_float32, is_summed, sum, summed};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::overlap::OverlapRules;
use crate::autograd::primitive::{
    Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::parallel::SharedPtr;
use crate::kernels::real::Ring;
use crate::match_dtype;
use crate::ops::pointwise::check_number;
use crate::ops::{Form, view};
use crate::tensor::copy;
use crate::tensor::{Dims, Dtypes, Element, FromScalar, Scalar, Tensor};
use crate::warn;

/// The part of `src` that the index covers, row-major.
fn covered(src: &Tensor, index: &Tensor) -> Result<Tensor> {
    if src.ndim() != index.ndim() {
        // One of them is 0-dim: one element.
        return Tensor::from_parts(
            src.storage(),
            src.dtype(),
            index.sizes(),
            &vec![1; index.ndim()],
            src.storage_offset(),
        );
    }
    let part = Tensor::from_parts(src.storage(), src.dtype(), index.sizes(), src.strides(), src.storage_offset())?;
    copy::contiguous(&part)
}

/// `g` at the index, with zeros where `src` is larger than the index.
fn pulled(g: &Tensor, dim: usize, index: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    let mut part = g.gather(dim as i64, index)?;
    if part.ndim() != sizes.len() {
        return view::reshape_to(&part, sizes);
    }
    for (d, &n) in sizes.iter().enumerate() {
        if part.sizes()[d] < n {
            let mut rest = Dims::from_slice(part.sizes());
            rest[d] = n - rest[d];
            part = view::cat(&[part.clone(), Tensor::full(&rest, Scalar::Int(0), part.dtype())?], d as i64)?;
        }
    }
    Ok(part)
}

/// The places of `to` that an index names, known to exist before the first is written to, unless `to` is fresh.
fn places(op: &'static str, to: &Tensor, dim: usize, index: &Tensor, fresh: bool) -> Result<Along> {
    let at = Along::new(op, to.sizes(), to.strides(), dim, index)?;
    if fresh { Ok(at) } else { at.checked() }
}

/// `scatter` and `scatter_add` of a tensor. Operands: the tensor, the index, the source.
///
/// Reverse: the tensor gets `g`, with zeros where it was overwritten; the source gets `g` at the index.
#[derive(Clone, Debug)]
struct Scatter {
    dim: usize,
    add: bool,
}

impl Scatter {
    fn name(&self) -> &'static str {
        if self.add { "scatter_add" } else { "scatter" }
    }
    /// Writes to `to`: all, or if the index is not right, nothing. A fresh result may be left with a part, since nobody
    /// sees it.
    fn write(&self, xs: &[&Tensor], to: &Tensor, fresh: bool) -> Result<()> {
        let index = xs[1];
        if index.numel() == 0 {
            return Ok(());
        }
        if self.add && to.dtype().half().is_some() {
            return add_in_float32(to, xs[2], |to, src| self.write(&[xs[0], index, src], to, fresh));
        }
        let mut src = covered(xs[2], index)?;
        if copy::ranges_meet(&src, to) {
            src = copy::copy(&src)?;
        }
        if let Some((line, to)) = rows_named(to, self.dim, index)? {
            let places = IndexWalk::new(self.name(), &to, &[self.dim], &[&line])?.places()?;
            if self.add {
                match_dtype!(rings, to.dtype(), T => {
                    // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) the source has the sizes of the
                    // index, which are the walk's, and is disjoint from `to`.
                    unsafe { places.combine(src.ptr::<T>(), to.ptr(), sum::<T>) };
                });
            } else {
                // SAFETY: as above; the dtypes are the same.
                unsafe { places.write(src.op_ptr().cast_const(), to.op_ptr()) };
            }
            return Ok(());
        }
        let at = places(self.name(), to, self.dim, index, fresh)?;
        if self.add {
            return match_dtype!(rings, to.dtype(), T => combine(&src, to, &at, T::add));
        }
        match_dtype!(any, to.dtype(), T => combine(&src, to, &at, |_: T, b: T| b))
    }
}

/// Combines the elements of `src`, which are contiguous and as many as those of the index, with those of `to`.
fn combine<T: Element>(src: &Tensor, to: &Tensor, at: &Along, f: impl Fn(T, T) -> T + Sync + Copy) -> Result<()> {
    let (src, to) = (SharedPtr(src.ptr::<T>()), SharedPtr(to.ptr::<T>()));
    at.each(|| {
        let (src, to) = (src.get().cast_const(), to.get());
        move |k, o| {
            // SAFETY: S1 and S3: a position of the index; the offset was checked against the sizes.
            unsafe {
                let to = to.offset(o);
                *to = f(*to, *src.add(k));
            }
        }
    })
}

impl Scatter {
    /// The result, if it is one number everywhere with rows added.
    fn summed(&self, xs: &[&Tensor]) -> Result<Option<Tensor>> {
        let (base, index) = (xs[0], xs[1]);
        if !self.add || index.numel() == 0 || !is_summed(base, self.dim) {
            return Ok(None);
        }
        match rows_named(base, self.dim, index)? {
            Some((line, part)) if part.sizes() == base.sizes() => {
                summed(base, self.dim, &line, &covered(xs[2], index)?)
            }
            _ => Ok(None),
        }
    }
}

impl Primitive for Scatter {
    const NAME: &'static str = "scatter";
    const SAVE: &'static [Save] = &[Save::input(1, "index")];
    const PARAMS: Params<Self> = params!(op; dim);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const DTYPES: Dtypes = Dtypes::ALL;
    const BATCH: Batch<Self> =
        Batch::Rule(|p, xs, axes, batch| view::along_axis(Scatter { dim: p.dim + 1, ..*p }, xs, axes, batch, 0));
    const JVP: Tangents<Self> = Tangents::Linear(0b101);
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules::SCATTER
    }
    fn node(&self) -> &'static str {
        if self.add { "ScatterAddBackward0" } else { "ScatterBackward0" }
    }
    fn inputs(&self) -> u32 {
        0b101
    }
    fn kernel_name(&self) -> &'static str {
        self.name()
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if let Some(result) = self.summed(xs)? {
            return Ok(out(result));
        }
        let result = copy::row_major(xs[0])?;
        self.write(xs, &result, true)?;
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        self.write(xs, out, false)?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let to_self = cx.when(0, || {
            if self.add { Ok(g.clone()) } else { scatter_value(g, self.dim as i64, index, Scalar::Int(0)) }
        })?;
        Ok(smallvec![to_self, None, cx.when(2, || pulled(g, self.dim, index, cx.sizes(2)))?])
    }
}

/// `scatter` of a number. Reverse: `g` with zeros where it was written.
#[derive(Clone, Debug)]
struct ScatterValue {
    dim: usize,
    value: Scalar,
}

impl ScatterValue {
    /// As [`Scatter::write`].
    fn write(&self, index: &Tensor, to: &Tensor, fresh: bool) -> Result<()> {
        if index.numel() == 0 {
            return Ok(());
        }
        let at = places(Self::NAME, to, self.dim, index, fresh)?;
        match_dtype!(any, to.dtype(), T => {
            let (value, to) = (T::from_scalar(self.value), SharedPtr(to.ptr::<T>()));
            at.each(|| {
                let (to, value) = (to.get(), value);
                // SAFETY: S1 and S3: the offsets were checked against the sizes.
                move |_, o| unsafe { *to.offset(o) = value }
            })
        })
    }
}

impl Primitive for ScatterValue {
    const NAME: &'static str = "scatter";
    const NODE: &'static str = "ScatterBackward1";
    const SAVE: &'static [Save] = &[Save::input(1, "index")];
    const PARAMS: Params<Self> = params!(op; dim);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> =
        Batch::Rule(|p, xs, axes, batch| view::along_axis(ScatterValue { dim: p.dim + 1, ..*p }, xs, axes, batch, 0));
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules::SCATTER
    }
    fn inputs(&self) -> u32 {
        0b001
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = copy::row_major(xs[0])?;
        self.write(xs[1], &result, true)?;
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        self.write(xs[1], out, false)?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(and_none(cx, one(scatter_value(cx.g(), self.dim as i64, cx.saved(0)?, Scalar::Int(0))?)))
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let zero = ScatterValue { dim: op.dim, value: Scalar::Int(0) };
        cx.t(0).map(|t| apply1(zero, &[t, cx.xs[1]])).transpose().map(maybe)
    });
}

fn check_src(input: &Tensor, src: &Tensor) -> Result<()> {
    if input.dtype() == src.dtype() {
        return Ok(());
    }
    Err(Error::dtype(
        "scatter",
        format!(
            "scatter(): Expected self.dtype to be equal to src.dtype, got {} and {}: convert with .to(dtype)",
            input.dtype().name(),
            src.dtype().name()
        ),
    ))
}

/// `input` with the elements of `src` added where `index` names along an axis.
///
/// Args: `dim` an axis; `index` int32 or int64, no larger than `src`, nor than `input` but along `dim`; `src` of the
/// dtype of `input`. Returns: a tensor of the sizes of `input`. Derivative: `g` for `input`, `g` at the index for
/// `src`. Raises: RuntimeError if an index is out of range, or sizes or dtypes do not fit.
///
/// >>> rg.scatter_add(rg.zeros(3), 0, rg.tensor([0, 0]), rg.tensor([1.0, 2.0])).tolist()
/// [3.0, 0.0, 0.0]
#[op(function, method, inplace, out = SAME)]
pub fn scatter_add(input: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let dim = check_index("scatter_add", input, dim, index, Some(src))?;
    check_src(input, src)?;
    apply_as(form, Scatter { dim, add: true }, &[input, index, src])
}

/// `input` with the elements of `src` written where `index` names along an axis. Where an index comes twice, the last
/// one in row-major order stays.
///
/// Args: as for `scatter_add`. Derivative: `g` with zeros at the index for `input`, `g` at the index for `src` (as if
/// no index came twice). Raises: RuntimeError if an index is out of range, or sizes or dtypes do not fit.
///
/// >>> rg.scatter(rg.zeros(3), 0, rg.tensor([2, 0]), rg.tensor([1.0, 2.0])).tolist()
/// [2.0, 0.0, 1.0]
#[op(function, method, inplace, out = SAME)]
pub fn scatter(input: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let dim = check_index("scatter", input, dim, index, Some(src))?;
    check_src(input, src)?;
    apply_as(form, Scatter { dim, add: false }, &[input, index, src])
}

/// `input` with a number written where `index` names along an axis; see `scatter`.
///
/// >>> rg.scatter(rg.zeros(3), 0, rg.tensor([2]), 1.0).tolist()
/// [0.0, 0.0, 1.0]
#[op(function, method, inplace, out = SAME, name = "scatter")]
pub fn scatter_value(input: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let dim = check_index("scatter", input, dim, index, None)?;
    check_number("scatter", value, input.dtype())?;
    apply_as(form, ScatterValue { dim, value }, &[input, index])
}

/// The reduction that the old argument `reduce` of `scatter` names.
fn reduced(form: Form, input: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
    match reduce {
        "add" => scatter_add_as(form, input, dim, index, src),
        "multiply" => scatter_reduce_as(form, input, dim, index, src, "prod", true),
        _ => Err(Error::shape("scatter", format!("reduce argument must be either add or multiply. Got '{reduce}'"))),
    }
}

/// `input` with the elements of `src` added or multiplied where `index` names along an axis: an old form of
/// `scatter_add` and `scatter_reduce`.
///
/// Args: `reduce` is "add" or "multiply". Raises: RuntimeError for another one.
///
/// >>> rg.scatter(rg.zeros(3), 0, rg.tensor([2, 2]), 1.0, reduce="add").tolist()
/// [0.0, 0.0, 2.0]
#[op(function, method, inplace, out = SAME, norust, name = "scatter", "(*, reduce)")]
pub fn scatter_reducing(input: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
    warn::once(
        warn::Once::ScatterReduce,
        "The reduce argument of retrograd.scatter with Tensor src is deprecated and will be removed in a future release. \
         Use retrograd.scatter_reduce instead for more reduction options.",
    );
    reduced(form, input, dim, index, src, reduce)
}

/// `input` with a number added or multiplied where `index` names along an axis; see `scatter_add`.
///
/// >>> rg.scatter(rg.ones(3), 0, rg.tensor([2]), 3.0, reduce="multiply").tolist()
/// [1.0, 1.0, 3.0]
#[op(function, method, inplace, out = SAME, norust, name = "scatter", "(*, reduce)")]
pub fn scatter_value_reducing(input: &Tensor, dim: i64, index: &Tensor, value: Scalar, reduce: &str) -> Result<Tensor> {
    check_number("scatter", value, input.dtype())?;
    let src = Tensor::full(index.sizes(), value, input.dtype())?;
    reduced(form, input, dim, index, &src, reduce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (x, s) = (noise(1, &[3, 4]), noise(2, &[2, 5]));
        let index = Tensor::from_slice(&[2i64, 0, 2, 0, 1, 1], &[2, 3]).unwrap();
        let twice = Tensor::from_slice(&[2i64, 0, 2, 2, 0, 1], &[2, 3]).unwrap();
        gradcheck(&|xs| xs[0].exp()?.scatter_add(0, &twice, &xs[1].exp()?)?.exp(), &[x.clone(), s.clone()]);
        gradcheck(&|xs| xs[0].exp()?.scatter(0, &index, &xs[1].exp()?)?.exp(), &[x.clone(), s]);
        gradcheck(&|xs| xs[0].exp()?.scatter_value(0, &twice, Scalar::Float(0.5))?.exp(), &[x]);
        let z = noise(3, &[]);
        let first = Tensor::from_slice(&[0i64], &[]).unwrap();
        gradcheck(&|xs| xs[0].scatter_add(0, &first, &xs[1].exp()?)?.exp(), &[z.clone(), z]);
    }
}
