//! Clamping between bounds, which are numbers or tensors.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::promote::{OutType, Same, check_number, dtype_with_number, forward2, result_type};
use super::refuse_complex;
use super::select::{Extreme, number, where_};
use super::unary::{Map, Pass, Unary};
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{
    Batch, Jvp, Outs, Params, Primitive, Save, Source, Tangents, Vjp, maybe, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::pointwise::Map1;
use crate::kernels::real::{Constant, Ordered};
use crate::ops::{Form, Value};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Which op a clamp was called as: it decides the node's name and the bounds that it shows.
const CLAMP_OP: u8 = 0;
const MIN_OP: u8 = 1;
const MAX_OP: u8 = 2;

const fn op_name(op: u8) -> &'static str {
    match op {
        MIN_OP => "clamp_min",
        MAX_OP => "clamp_max",
        _ => "clamp",
    }
}

/// `clamp` between numbers: reverse `g` where `min <= x <= max`.
#[derive(Clone, Copy, Debug)]
struct Within<const OP: u8> {
    min: Option<Scalar>,
    max: Option<Scalar>,
}

/// The bounds that there are, none of them NaN.
#[derive(Clone, Copy)]
struct Bounds<const MIN: bool, const MAX: bool> {
    min: Constant,
    max: Constant,
}
impl<const MIN: bool, const MAX: bool, T: Ordered> Map1<T, T> for Bounds<MIN, MAX> {
    const WIDE: bool = T::LONG;
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, x: T) -> T {
        let x = if MIN { x.no_less_than(T::constant(self.min)) } else { x };
        if MAX { x.no_more_than(T::constant(self.max)) } else { x }
    }
}

impl<const OP: u8> Unary for Within<OP> {
    const NAME: &'static str = op_name(OP);
    const NODE: &'static str = match OP {
        MIN_OP => "ClampMinBackward0",
        MAX_OP => "ClampMaxBackward0",
        _ => "ClampBackward1",
    };
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        let bounds = [self.min, self.max];
        let dtype = bounds.into_iter().flatten().fold(x, dtype_with_number);
        for bound in bounds.into_iter().flatten() {
            check_number(Self::NAME, bound, dtype)?;
        }
        Ok(dtype)
    }
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    fn kernel(&self, pass: Pass) -> Result<()> {
        if [self.min, self.max].into_iter().flatten().any(|bound| bound.as_f64().is_nan()) {
            return pass.write(&number(f64::NAN)?);
        }
        let [min, max] = [self.min, self.max].map(|bound| bound.map_or(Constant::from(0.0), Constant::from));
        match (self.min, self.max) {
            (Some(_), Some(_)) => pass.numeric(&Bounds::<true, true> { min, max }),
            (Some(_), None) => pass.numeric(&Bounds::<true, false> { min, max }),
            (None, Some(_)) => pass.numeric(&Bounds::<false, true> { min, max }),
            (None, None) => pass.copy(),
        }
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        let above = self.min.map(|m| x.ge(&Tensor::number(m)?)).transpose()?;
        let below = self.max.map(|m| x.le(&Tensor::number(m)?)).transpose()?;
        let inside = match (above, below) {
            (Some(a), Some(b)) => a.logical_and(&b)?,
            (Some(m), None) | (None, Some(m)) => m,
            (None, None) => return Ok(g.clone()),
        };
        where_(&inside, g, &number(0.0)?)
    }
    const PARAMS: Params<Map<Self>> = match OP {
        MIN_OP => params!(op; min: op.0.min),
        MAX_OP => params!(op; max: op.0.max),
        _ => params!(op; min: op.0.min, max: op.0.max),
    };
}

/// `clamp` between tensors, of which one may be missing: `x` gets `g` inside the bounds, a bound where it cut.
/// Operands: the tensor, then the bounds there are.
#[derive(Clone, Debug)]
struct ClampBetween<const OP: u8, const MIN: bool, const MAX: bool>;

impl<const OP: u8, const MIN: bool, const MAX: bool> ClampBetween<OP, MIN, MAX> {
    /// The lower and the upper bound out of operands or what was kept of them.
    fn bounds<'a>(xs: &[&'a Tensor]) -> (Option<&'a Tensor>, Option<&'a Tensor>) {
        (if MIN { Some(xs[1]) } else { None }, if MAX { xs.last().copied() } else { None })
    }

    /// Where `x` itself, the lower and the upper bound are the result: three masks that do not overlap (but for NaN).
    fn parts(xs: &[&Tensor]) -> Result<SmallVec<[Tensor; 3]>> {
        let x = xs[0];
        Ok(match Self::bounds(xs) {
            (Some(lo), Some(hi)) => {
                let crossed = lo.gt(hi)?;
                SmallVec::from_iter([
                    x.ge(lo)?.logical_and(&x.le(hi)?)?,
                    x.lt(lo)?.logical_and(&lo.lt(hi)?)?,
                    x.gt(hi)?.logical_or(&crossed)?,
                ])
            }
            (Some(lo), None) => SmallVec::from_iter([x.ge(lo)?, x.lt(lo)?]),
            (None, Some(hi)) => SmallVec::from_iter([x.le(hi)?, x.gt(hi)?]),
            (None, None) => SmallVec::new(),
        })
    }
}

impl<const OP: u8, const MIN: bool, const MAX: bool> Primitive for ClampBetween<OP, MIN, MAX> {
    const NAME: &'static str = op_name(OP);
    const NODE: &'static str = match OP {
        MIN_OP => "ClampMinBackward1",
        MAX_OP => "ClampMaxBackward1",
        _ => "ClampBackward0",
    };
    const SAVE: &'static [Save] = match (MIN, MAX) {
        (true, true) => &[Save::input(0, "self"), Save::input(1, "min"), Save::input(2, "max")],
        (true, false) => &[Save::input(0, "self"), Save::input(1, "min")],
        _ => &[Save::input(0, "self"), Save::input(1, "max")],
    };
    const PARAMS: Params<Self> = match (OP, MIN, MAX) {
        (CLAMP_OP, true, false) => params!(op; max: Value::None),
        (CLAMP_OP, false, true) => params!(op; min: Value::None),
        _ => &[],
    };
    const DTYPES: Dtypes = Same::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(xs);
        let mut result = copy::cast(xs[0], dtype)?;
        let (lo, hi) = Self::bounds(xs);
        if let Some(lo) = lo {
            result = forward2::<_, Same>(Self::NAME, &Extreme::<true>, &result, lo, dtype)?;
        }
        if let Some(hi) = hi {
            result = forward2::<_, Same>(Self::NAME, &Extreme::<false>, &result, hi, dtype)?;
        }
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let saved: SmallVec<[&Tensor; 3]> = (0..Self::SAVE.len()).map(|i| cx.saved(i)).collect::<Result<_>>()?;
        let zero = number(0.0)?;
        let masks = Self::parts(&saved)?;
        masks.iter().enumerate().map(|(i, m)| cx.when(i, || where_(m, cx.g(), &zero))).collect()
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let parts = Self::parts(cx.xs)?;
        let part = |(i, m)| cx.t(i).map(|t| where_(m, t, &number(0.0)?)).transpose();
        let parts: SmallVec<[_; 3]> = parts.iter().enumerate().map(part).collect::<Result<_>>()?;
        Jvp::sum(parts).map(maybe)
    });
}

const _: () = {
    // `params` and `bounds` count on bounds being kept as operands.
    assert!(matches!(<ClampBetween<CLAMP_OP, true, true> as Primitive>::SAVE[2].source, Source::Input(2)));
};

fn run<const OP: u8>(form: Form, x: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor> {
    let xs = [x, min.unwrap_or(x), max.unwrap_or(x)];
    refuse_complex(&xs, || Error::not_implemented("clamp: clamp is not supported for complex types"))?;
    let bounds = [min, max];
    let given = || bounds.iter().flatten();
    if given().next().is_none() {
        return Err(Error::shape("clamp", "At least one of 'min' or 'max' must not be None"));
    }
    if given().any(|b| b.is_number()) {
        // With a number, a 0-dim tensor that does not require grad counts as one.
        if let Some(b) = given().find(|b| !b.is_number() && (b.ndim() > 0 || b.requires_grad())) {
            return Err(Error::type_error(
                op_name(OP),
                format!(
                    "min and max must both be numbers or both tensors, got a number and a tensor of sizes {:?}",
                    b.sizes()
                ),
            ));
        }
        let value = |b: Option<&Tensor>| b.map(Tensor::item).transpose();
        return apply_as(form, Map(Within::<OP> { min: value(min)?, max: value(max)? }), &[x]);
    }
    match (min, max) {
        (Some(lo), Some(hi)) => apply_as(form, ClampBetween::<OP, true, true>, &[x, lo, hi]),
        (Some(lo), None) => apply_as(form, ClampBetween::<OP, true, false>, &[x, lo]),
        (_, Some(hi)) => apply_as(form, ClampBetween::<OP, false, true>, &[x, hi]),
        (None, None) => Ok(x.clone()),
    }
}

/// Each element, but not less than `min` and not more than `max`; `max` wins if they cross. NaN stays, a NaN bound
/// spreads.
///
/// Args: `input` any real dtype; `min`, `max` numbers or tensors whose shapes broadcast with it, one of them may be
/// None.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g` where `min <= input <= max`; a tensor
/// bound gets `g` where it cut. Raises: RuntimeError if both bounds are None, shapes do not broadcast, or a number does
/// not fit the dtype.
///
/// >>> rg.clamp(rg.tensor([-1.0, 0.5, 2.0]), 0, 1).tolist()
/// [0.0, 0.5, 1.0]
#[op(function, method, inplace, out = FOUND, aliases("clip"), "(min=None, max=None)")]
pub fn clamp(input: &Tensor, #[operand] min: Option<&Tensor>, #[operand] max: Option<&Tensor>) -> Result<Tensor> {
    run::<CLAMP_OP>(form, input, min, max)
}

/// Each element, but not less than `min`.
///
/// Args: `input` any real dtype; `min` a number or a tensor whose shape broadcasts with it. Returns: a tensor of the
/// broadcast shape and promoted dtype. Derivative: `g` where `input >= min`; a tensor bound gets `g` where it cut.
///
/// >>> rg.clamp_min(rg.tensor([-1.0, 0.5]), 0).tolist()
/// [0.0, 0.5]
#[op(function, method, inplace, out)]
pub fn clamp_min(input: &Tensor, #[operand] min: &Tensor) -> Result<Tensor> {
    run::<MIN_OP>(form, input, Some(min), None)
}

/// Each element, but not more than `max`.
///
/// Args: `input` any real dtype; `max` a number or a tensor whose shape broadcasts with it. Returns: a tensor of the
/// broadcast shape and promoted dtype. Derivative: `g` where `input <= max`; a tensor bound gets `g` where it cut.
///
/// >>> rg.clamp_max(rg.tensor([0.5, 2.0]), 1).tolist()
/// [0.5, 1.0]
#[op(function, method, inplace, out)]
pub fn clamp_max(input: &Tensor, #[operand] max: &Tensor) -> Result<Tensor> {
    run::<MAX_OP>(form, input, None, Some(max))
}

/// `Tensor.clamp_` as a function: writes to `input` and returns it.
///
/// Args: `input`, `min`, `max` as for `clamp`. Derivative: as there.
///
/// >>> rg.clamp_(rg.tensor([0.5, 2.0]), 1, 1.5).tolist()
/// [1.0, 1.5]
#[op(function, norust, name = "clamp_", aliases("clip_"), "(min=None, max=None)")]
pub fn clamp_function(
    input: &Tensor,
    #[operand] min: Option<&Tensor>,
    #[operand] max: Option<&Tensor>,
) -> Result<Tensor> {
    clamp_as(Form::InPlace, input, min, max)
}

/// `Tensor.clamp_min_` as a function: writes to `input` and returns it.
///
/// Args: `input`, `min` as for `clamp_min`. Derivative: as there.
///
/// >>> rg.clamp_min_(rg.tensor([0.5, 2.0]), 1).tolist()
/// [1.0, 2.0]
#[op(function, norust, name = "clamp_min_")]
pub fn clamp_min_function(input: &Tensor, #[operand] min: &Tensor) -> Result<Tensor> {
    clamp_min_as(Form::InPlace, input, min)
}

/// `Tensor.clamp_max_` as a function: writes to `input` and returns it.
///
/// Args: `input`, `max` as for `clamp_max`. Derivative: as there.
///
/// >>> rg.clamp_max_(rg.tensor([0.5, 2.0]), 1).tolist()
/// [0.5, 1.0]
#[op(function, norust, name = "clamp_max_")]
pub fn clamp_max_function(input: &Tensor, #[operand] max: &Tensor) -> Result<Tensor> {
    clamp_max_as(Form::InPlace, input, max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (lo, hi) = (number(-0.3).unwrap(), number(0.4).unwrap());
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let (x, a) = (noise(1, shapes[0]), noise(2, shapes[1]));
            let b = noise(3, shapes[1]);
            gradcheck(&|x| x[0].clamp(Some(&lo), Some(&hi)), std::slice::from_ref(&x));
            gradcheck(&|x| x[0].clamp(Some(&hi), Some(&lo)), std::slice::from_ref(&x));
            gradcheck(&|x| x[0].clamp_min(&lo), std::slice::from_ref(&x));
            gradcheck(&|x| x[0].clamp_max(&hi), std::slice::from_ref(&x));
            gradcheck(&|x| x[0].clamp(Some(&x[1]), Some(&x[2])), &[x.clone(), a.clone(), b]);
            gradcheck(&|x| x[0].clamp(Some(&x[1]), None), &[x.clone(), a.clone()]);
            gradcheck(&|x| x[0].clamp(None, Some(&x[1])), &[x.clone(), a.clone()]);
            gradcheck(&|x| x[0].clamp_min(&x[1]), &[x.clone(), a.clone()]);
            gradcheck(&|x| x[0].clamp_max(&x[1]), &[x, a]);
        }
    }

    #[test]
    fn bounds() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, f64::NAN], &[4]).unwrap();
        let g = Tensor::from_slice(&[1.0; 4], &[4]).unwrap();
        let within = Within::<CLAMP_OP> { min: Some(Scalar::Int(1)), max: Some(Scalar::Int(2)) };
        assert_eq!(within.vjp(&g, &x).unwrap().to_vec::<f64>().unwrap(), [1.0, 1.0, 0.0, 0.0]);
        let y = x.clamp(Some(&number(2.0).unwrap()), None).unwrap().to_vec::<f64>().unwrap();
        assert!(y[..3] == [2.0, 2.0, 3.0] && y[3].is_nan());
        let crossed = x.clamp(Some(&number(2.0).unwrap()), Some(&number(1.0).unwrap())).unwrap();
        assert_eq!(crossed.to_vec::<f64>().unwrap()[..3], [1.0; 3]);
        let nan = x.clamp_min(&number(f64::NAN).unwrap()).unwrap();
        assert!(nan.to_vec::<f64>().unwrap().iter().all(|v| v.is_nan()));
        assert!(
            x.clamp(None, None).unwrap_err().to_string().contains("At least one of 'min' or 'max' must not be None")
        );
        assert!(x.clamp(Some(&number(1.0).unwrap()), Some(&g)).is_err());
        let u = Tensor::from_slice(&[1u8], &[1]).unwrap();
        assert!(u.clamp_max(&number(300.0).unwrap()).unwrap().dtype() == DType::Float32);
        assert!(u.clamp_max(&Tensor::number(Scalar::Int(300)).unwrap()).is_err());
    }
}
