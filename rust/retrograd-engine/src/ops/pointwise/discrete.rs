//! Functions without a derivative: divisors, steps, predicates, membership.

use retrograd_macros::op;

use super::division::no_derivative;
use super::logic::has_minus;
use super::promote::{OutType, Same, forward2, out_like, result_type};
use super::scalar_loop::run_pairs;
use super::select::number;
use super::{complex, refuse_complex};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::error::{Error, Result};
use crate::kernels::parallel::split_rows;
use crate::kernels::pointwise::Map2;
use crate::kernels::real::Ordered;
use crate::kernels::special;
use crate::ops::reduce::logic::any_dims;
use crate::ops::sets::search::{STEP_COST, place};
use crate::ops::{Entry, view};
use crate::tensor::copy;
use crate::tensor::layout::broadcast;
use crate::tensor::{DType, Dtypes, Element, Tensor, Truth};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&GCD, &LCM, &HEAVISIDE, &ISPOSINF, &ISNEGINF, &ISREAL, &SIGNBIT, &ISIN];

/// `gcd` and `lcm`, computed in int64 for all integer types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor<const LEAST: bool>;

impl<const LEAST: bool> Map2<i64, i64, i64> for Divisor<LEAST> {
    #[inline(always)]
    fn f(&self, a: i64, b: i64) -> i64 {
        if LEAST { special::lcm(a, b) } else { special::gcd(a, b) }
    }
}

impl<const LEAST: bool> Primitive for Divisor<LEAST> {
    const NAME: &'static str = if LEAST { "lcm" } else { "gcd" };
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::INTS;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Zero;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(xs);
        let sizes = broadcast(Self::NAME, xs[0].sizes(), xs[1].sizes())?;
        let (a, b) = (copy::cast(xs[0], DType::Int64)?, copy::cast(xs[1], DType::Int64)?);
        let result = out_like(&sizes, DType::Int64, &[&a, &b])?;
        run_pairs::<i64, i64>([&a, &b], &result, self);
        copy::cast(&result, dtype).map(out)
    }
    // Operands with a derivative are floats, which are refused.
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// The greatest common divisor of two integers, not negative; 0 for two zeros.
///
/// Args: `input`, `other` integer tensors with broadcastable shapes. Returns: a tensor of the broadcast shape and
/// promoted dtype. Derivative: none. Raises: NotImplementedError for floats and bool, RuntimeError if the shapes do not
/// broadcast.
///
/// >>> rg.gcd(rg.tensor([12, -4]), rg.tensor([18, 6])).tolist()
/// [6, 2]
#[op(function, method, inplace, out)]
pub fn gcd(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Divisor::<false>, &[input, other])
}

/// The least common multiple of two integers, not negative; 0 if one of them is.
///
/// Args: `input`, `other` integer tensors with broadcastable shapes. Returns: a tensor of the broadcast shape and
/// promoted dtype. Derivative: none. Raises: NotImplementedError for floats and bool, RuntimeError if the shapes do not
/// broadcast.
///
/// >>> rg.lcm(rg.tensor([12, -4]), rg.tensor([18, 6])).tolist()
/// [36, 12]
#[op(function, method, inplace, out)]
pub fn lcm(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Divisor::<true>, &[input, other])
}

/// `heaviside`: without a derivative.
#[derive(Clone, Debug)]
pub(crate) struct Heaviside;

/// The step, with its value at 0.
#[derive(Clone, Copy)]
struct Step;
impl<T: Ordered> Map2<T, T, T> for Step {
    const WIDE: bool = T::LONG;
    #[inline(always)]
    fn f(&self, x: T, at_zero: T) -> T {
        let step = if x > T::ZERO { T::ONE } else { T::ZERO };
        if x == T::ZERO { at_zero } else { step }
    }
}

const SMOOTH: &str = "use a smooth step such as sigmoid, or detach the operands";

impl Primitive for Heaviside {
    const NAME: &'static str = "heaviside";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Same::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, values) = (xs[0], xs[1]);
        if x.dtype() != values.dtype() {
            return Err(Error::dtype(
                "heaviside",
                format!(
                    "heaviside is not yet implemented for tensors with different dtypes. (input is {}, values {})",
                    x.dtype().name(),
                    values.dtype().name()
                ),
            ));
        }
        forward2::<_, Same>(Self::NAME, &Step, x, values, x.dtype()).map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, SMOOTH)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(Self::NAME, SMOOTH));
}

/// The step function: 0 for negative elements and NaN, 1 for positive ones, `values` at 0.
///
/// Args: `input`, `values` tensors of one real dtype with broadcastable shapes. Returns: a tensor of the broadcast
/// shape.
/// Derivative: not implemented, as in torch. Raises: RuntimeError if the shapes do not broadcast or the dtypes differ.
///
/// >>> rg.heaviside(rg.tensor([-1.5, 0.0, 2.0]), rg.tensor([0.5])).tolist()
/// [0.0, 0.5, 1.0]
#[op(
    function, method, inplace,
    out = OutDtype::Same(&["heaviside is not yet implemented for tensors with different dtypes."])
)]
pub fn heaviside(input: &Tensor, values: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input, values], || {
        Error::dtype("heaviside", "heaviside is not yet implemented for complex tensors.")
    })?;
    apply_as(form, Heaviside, &[input, values])
}

/// Whether each element is positive infinity.
///
/// Args: `input` any real dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isposinf(rg.tensor([1.0, float('inf'), float('-inf')])).tolist()
/// [False, True, False]
#[op(function, method, out = OutDtype::Same(&["isposinf does not support non-boolean outputs."]))]
pub fn isposinf(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::dtype("isposinf", "isposinf does not support complex inputs."))?;
    input.eq(&number(f64::INFINITY)?)
}

/// Whether each element is negative infinity.
///
/// Args: `input` any real dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isneginf(rg.tensor([1.0, float('inf'), float('-inf')])).tolist()
/// [False, False, True]
#[op(function, method, out = OutDtype::Same(&["isneginf does not support non-boolean outputs."]))]
pub fn isneginf(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::dtype("isneginf", "isneginf does not support complex inputs."))?;
    input.eq(&number(f64::NEG_INFINITY)?)
}

/// Whether each element is a real number: one whose imaginary part is 0.
///
/// Args: `input` any dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isreal(rg.tensor([1 + 0j, 2j])).tolist()
/// [True, False]
#[op(function, method)]
pub fn isreal(input: &Tensor) -> Result<Tensor> {
    if input.dtype().is_complex() {
        return complex::imag_part(&input.detach())?.eq(&number(0.0)?);
    }
    input.isnan()?.isfinite()
}

/// Whether the sign of each element is negative, that of zeros and NaN included.
///
/// Args: `input` any real dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.signbit(rg.tensor([1.0, -0.0, -2.0])).tolist()
/// [False, True, True]
#[op(function, method, out = OutDtype::Same(&["signbit does not support non-boolean outputs."]))]
pub fn signbit(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::not_implemented("signbit: signbit is not implemented for complex tensors."))?;
    // Wide unsigned integers have no loops of their own.
    if input.dtype().is_wide_unsigned() { input.lt(&number(0.0)?) } else { has_minus(input) }
}

/// `isin`: no derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsIn {
    invert: bool,
}

/// So many numbers are compared with all elements, which is done in vectors; among more, one is looked for.
const FEW: usize = 24;
/// Elements that stay in the first-level cache with their answers.
const BLOCK: usize = 1024;

impl IsIn {
    /// Which of the `elements` are among those of `tests`.
    fn run<T: Element + PartialOrd>(&self, elements: &Tensor, tests: &Tensor) -> Result<Tensor> {
        const WHY: &str = "contiguous and of this dtype";
        let [elements, tests] = [elements, tests].map(|x| copy::contiguous(&copy::cast(x, T::DTYPE)?));
        let (elements, tests) = (elements?, tests?);
        // NaN equals nothing, and both zeros are one number.
        let mut tests: Vec<T> =
            tests.as_slice::<T>().expect(WHY).iter().copied().filter(|x| x.partial_cmp(x).is_some()).collect();
        let few = tests.len() <= FEW;
        if !few {
            tests.sort_unstable_by(|x, y| x.partial_cmp(y).expect("no NaN"));
        }
        let cost = if few { 0.1 * tests.len() as f64 } else { f64::from(tests.len().ilog2() + 2) * STEP_COST };
        Tensor::build::<Truth>(elements.sizes(), |to| {
            let elements = elements.as_slice::<T>().expect(WHY);
            split_rows(to, 1, BLOCK, cost * elements.len() as f64, &|part, to| {
                for (to, elements) in to.chunks_mut(BLOCK).zip(elements[part].chunks(BLOCK)) {
                    let mut is_in = [false; BLOCK];
                    if few {
                        for y in tests.iter() {
                            is_in.iter_mut().zip(elements).for_each(|(is_in, x)| *is_in |= x == y);
                        }
                    } else {
                        for (is_in, &x) in is_in.iter_mut().zip(elements) {
                            let at = place(tests.len(), x, true, |j| tests[j]) as usize;
                            *is_in = at.checked_sub(1).is_some_and(|last| tests[last] == x);
                        }
                    }
                    to.iter_mut().zip(is_in).for_each(|(to, is_in)| *to = Truth::from(is_in != self.invert));
                }
            });
        })
    }
}

impl Primitive for IsIn {
    const NAME: &'static str = "isin";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        if axes[1].is_none() {
            return Ok((out(apply1(*op, xs)?), smallvec::smallvec![axes[0]]));
        }
        // Each entry has numbers of its own to compare with.
        let elements = view::batch_first(xs[0], axes[0], batch)?;
        let tests = view::batch_first(xs[1], axes[1], batch)?;
        let mut sizes = vec![1; elements.ndim() + 1];
        (sizes[0], sizes[elements.ndim()]) = (batch, tests.numel() / batch.max(1));
        let same = elements.unsqueeze(-1)?.eq(&view::reshape_to(&tests, &sizes)?)?;
        let any = any_dims(&same, Some(&[-1]), false)?;
        Ok((out(if op.invert { any.logical_not()? } else { any }), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if let Some(x) = xs.iter().find(|x| x.dtype() == DType::Bool || x.dtype().is_complex()) {
            return Err(Error::dtype(
                "isin",
                format!("Unsupported input type encountered for isin(): {}", x.dtype().scalar_type_name()),
            ));
        }
        let dtype = result_type(xs);
        match dtype {
            DType::Float64 => self.run::<f64>(xs[0], xs[1]),
            _ if dtype.is_integral() => self.run::<i64>(xs[0], xs[1]),
            _ => self.run::<f32>(xs[0], xs[1]),
        }
        .map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// Whether each of the `elements` is one of the `test_elements`.
///
/// Args: `elements`, `test_elements` tensors of any real dtype but bool and any shapes, one may be a number;
/// `assume_unique` is accepted for a promise that makes nothing faster here; `invert` answers the opposite.
/// Returns: a bool tensor of the shape of `elements`; NaN is in nothing. Derivative: none. Raises: RuntimeError for
/// bool.
///
/// >>> rg.isin(rg.tensor([1, 2, 3]), rg.tensor([3, 1])).tolist()
/// [True, False, True]
#[op(function, out = SAME, "(*, assume_unique=False, invert=False)")]
pub fn isin(
    #[operand] elements: &Tensor,
    #[operand] test_elements: &Tensor,
    assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    let _ = assume_unique;
    super::refuse_numbers("isin", elements, test_elements)?;
    apply1(IsIn { invert }, &[elements, test_elements])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Scalar;

    #[test]
    fn divisors_keep_their_dtype() {
        let a = Tensor::from_slice(&[100i8, -128, 0], &[3]).unwrap();
        let b = Tensor::from_slice(&[99i8, -128, 0], &[3]).unwrap();
        assert_eq!(gcd(&a, &b).unwrap().to_vec::<i8>().unwrap(), [1, -128, 0]);
        assert_eq!(lcm(&a, &b).unwrap().to_vec::<i8>().unwrap(), [-84, -128, 0]);
        assert!(gcd(&a, &number(1.5).unwrap()).is_err());
    }

    #[test]
    fn predicates() {
        let x = Tensor::from_slice(&[-0.0, 0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY], &[6]).unwrap();
        let bools = |t: Result<Tensor>| t.unwrap().to_vec::<bool>().unwrap();
        assert_eq!(bools(signbit(&x)), [true, false, false, true, false, true]);
        assert_eq!(bools(isposinf(&x)), [false, false, false, false, true, false]);
        assert_eq!(bools(isneginf(&x)), [false, false, false, false, false, true]);
        assert_eq!(bools(isreal(&x)), [true; 6]);
        let tests = Tensor::from_slice(&[f64::NAN, 0.0, f64::INFINITY], &[3, 1]).unwrap();
        assert_eq!(bools(isin(&x, &tests, false, false)), [true, true, false, false, true, false]);
        assert_eq!(bools(isin(&x, &tests, false, true)), [false, false, true, true, false, true]);
        let i = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
        assert_eq!(bools(isin(&i, &Tensor::number(Scalar::Int(2)).unwrap(), false, false)), [false, true]);
    }
}
