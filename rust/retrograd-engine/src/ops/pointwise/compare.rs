//! Comparisons. The roster of comparisons and logic.

use std::fmt::Debug;
use std::marker::PhantomData;

use retrograd_macros::op;

use super::promote::{Bools, Numeric2, OutType, RingBools};
use super::zeros_of;
use super::zip::{Binary, Zip};
use super::{logic, shift};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Tangents, Vjp, maybe};
use crate::autograd::{GradGuard, Grads};
use crate::error::{Error, Result};
use crate::kernels::pointwise::Map2;
use crate::kernels::real::{Ordered, Ring};
use crate::ops::Entry;
use crate::tensor::{Dtypes, Tensor, Truth};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &EQ,
    &NE,
    &LT,
    &LE,
    &GT,
    &GE,
    &EQUAL,
    &ISCLOSE,
    &ALLCLOSE,
    &logic::LOGICAL_AND,
    &logic::LOGICAL_OR,
    &logic::LOGICAL_XOR,
    &logic::LOGICAL_NOT,
    &logic::BITWISE_AND,
    &logic::BITWISE_OR,
    &logic::BITWISE_XOR,
    &logic::BITWISE_NOT,
    &shift::BITWISE_LEFT_SHIFT,
    &shift::BITWISE_RIGHT_SHIFT,
    &logic::ISNAN,
    &logic::ISINF,
    &logic::ISFINITE,
];

/// A comparison of two numbers.
trait Relation: Debug + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const NODES: [&'static str; 2];
    /// What can be compared: complex numbers have no order.
    type Class: OutType;
    /// As [`Binary::DTYPES`].
    const DTYPES: Dtypes = Self::Class::DTYPES;
    type Kernel: Numeric2<Self::Class> + Default;
}

/// Runs a [`Relation`] elementwise. The result is bool, so a node is made only in place; its gradients are zero.
#[derive(Clone, Debug)]
struct Compare<R> {
    /// The right-hand side is a number.
    number: bool,
    relation: PhantomData<R>,
}

/// Whether two numbers are equal, or are not.
#[derive(Clone, Copy, Default)]
struct Equality<const EQUAL: bool>;
impl<const EQUAL: bool, T: Ring> Map2<T, T, Truth> for Equality<EQUAL> {
    const WIDE: bool = T::SLOWLY_COMPARED;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> Truth {
        ((a == b) == EQUAL).into()
    }
}

/// Whether the first number is less than the second, or greater; or equal to it, too.
#[derive(Clone, Copy, Default)]
struct Order<const LESS: bool, const EQUAL: bool>;
impl<const LESS: bool, const EQUAL: bool, T: Ordered> Map2<T, T, Truth> for Order<LESS, EQUAL> {
    const WIDE: bool = T::SLOWLY_COMPARED;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> Truth {
        match (LESS, EQUAL) {
            (true, false) => a < b,
            (true, true) => a <= b,
            (false, false) => a > b,
            (false, true) => a >= b,
        }
        .into()
    }
}

impl<R: Relation> Binary for Compare<R> {
    const NAME: &'static str = R::NAME;
    const JVP: Tangents<Zip<Self>> = Tangents::Zero;
    const DTYPES: Dtypes = R::DTYPES;
    type Class = R::Class;
    type Kernel = R::Kernel;
    fn kernel(&self) -> R::Kernel {
        R::Kernel::default()
    }
    fn node(&self) -> &'static str {
        R::NODES[usize::from(!self.number)]
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || zeros_of(cx.g()))?);
        grads.push(cx.when(1, || zeros_of(cx.g()))?);
        Ok(grads)
    }
}

fn compare<R: Relation>(_: R, other: &Tensor) -> Zip<Compare<R>> {
    Zip(Compare { number: other.is_number(), relation: PhantomData })
}

/// `eq`: no derivative.
#[derive(Clone, Debug)]
struct Eq;
impl Relation for Eq {
    const NAME: &'static str = "eq";
    const NODES: [&'static str; 2] = ["EqBackward0", "EqBackward1"];
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::WIDE_UNSIGNED).or(Dtypes::COMPLEX32);
    type Class = RingBools;
    type Kernel = Equality<true>;
}

/// Whether each element of `input` equals that of `other`, after promotion; never for NaN.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.eq(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [False, True, False]
#[op(function, method, inplace, out)]
pub fn eq(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Eq, other), &[input, other])
}

/// `ne`: no derivative.
#[derive(Clone, Debug)]
struct Ne;
impl Relation for Ne {
    const NAME: &'static str = "ne";
    const NODES: [&'static str; 2] = ["NeBackward0", "NeBackward1"];
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::WIDE_UNSIGNED).or(Dtypes::COMPLEX32);
    type Class = RingBools;
    type Kernel = Equality<false>;
}

/// Whether each element of `input` differs from that of `other`, after promotion; always for NaN.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.ne(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [True, False, True]
#[op(function, method, inplace, out, aliases("not_equal"))]
pub fn ne(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Ne, other), &[input, other])
}

/// `lt`: no derivative.
#[derive(Clone, Debug)]
struct Lt;
impl Relation for Lt {
    const NAME: &'static str = "lt";
    const NODES: [&'static str; 2] = ["LtBackward0", "LtBackward1"];
    type Class = Bools;
    type Kernel = Order<true, false>;
}

/// Whether each element of `input` is less than that of `other`, after promotion; never for NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast;
/// NotImplementedError for complex numbers.
///
/// >>> rg.lt(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [True, False, False]
#[op(function, method, inplace, out, aliases("less"))]
pub fn lt(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Lt, other), &[input, other])
}

/// `le`: no derivative.
#[derive(Clone, Debug)]
struct Le;
impl Relation for Le {
    const NAME: &'static str = "le";
    const NODES: [&'static str; 2] = ["LeBackward0", "LeBackward1"];
    type Class = Bools;
    type Kernel = Order<true, true>;
}

/// Whether each element of `input` is at most that of `other`, after promotion; never for NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast;
/// NotImplementedError for complex numbers.
///
/// >>> rg.le(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [True, True, False]
#[op(function, method, inplace, out, aliases("less_equal"))]
pub fn le(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Le, other), &[input, other])
}

/// `gt`: no derivative.
#[derive(Clone, Debug)]
struct Gt;
impl Relation for Gt {
    const NAME: &'static str = "gt";
    const NODES: [&'static str; 2] = ["GtBackward0", "GtBackward1"];
    type Class = Bools;
    type Kernel = Order<false, false>;
}

/// Whether each element of `input` is greater than that of `other`, after promotion; never for NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast;
/// NotImplementedError for complex numbers.
///
/// >>> rg.gt(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [False, False, True]
#[op(function, method, inplace, out, aliases("greater"))]
pub fn gt(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Gt, other), &[input, other])
}

/// `ge`: no derivative.
#[derive(Clone, Debug)]
struct Ge;
impl Relation for Ge {
    const NAME: &'static str = "ge";
    const NODES: [&'static str; 2] = ["GeBackward0", "GeBackward1"];
    type Class = Bools;
    type Kernel = Order<false, true>;
}

/// Whether each element of `input` is at least that of `other`, after promotion; never for NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number. Returns: a bool
/// tensor of the broadcast shape. Derivative: none. Raises: RuntimeError if the shapes do not broadcast;
/// NotImplementedError for complex numbers.
///
/// >>> rg.ge(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [False, True, True]
#[op(function, method, inplace, out, aliases("greater_equal"))]
pub fn ge(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, compare(Ge, other), &[input, other])
}

/// Whether every element of a bool tensor is true.
fn all_true(x: &Tensor) -> Result<bool> {
    Ok(!x.all()?.item()?.is_zero())
}

/// Whether two tensors have the same shape and equal elements; NaN equals nothing.
///
/// Args: `input`, `other` tensors. Returns: a Python bool.
///
/// >>> rg.equal(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 2.0]))
/// True
#[op(function, method)]
pub fn equal(input: &Tensor, other: &Tensor) -> Result<bool> {
    if input.sizes() != other.sizes() {
        return Ok(false);
    }
    all_true(&input.eq(other)?)
}

/// Whether each element of `input` is close to that of `other`: `|input - other| <= atol + rtol * |other|`.
///
/// Args: `input`, `other` tensors of one dtype with broadcastable shapes; `rtol`, `atol` not negative; `equal_nan` lets
/// NaN equal NaN. Returns: a bool tensor. Derivative: none.
/// Raises: RuntimeError if the dtypes differ or a tolerance is negative.
///
/// >>> rg.isclose(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 2.1])).tolist()
/// [True, False]
#[op(function, method, "(rtol=1e-05, atol=1e-08, equal_nan=False)")]
pub fn isclose(input: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
    if input.dtype() != other.dtype() {
        let (a, b) = (input.dtype().scalar_type_name(), other.dtype().scalar_type_name());
        return Err(Error::dtype("isclose", format!("{a} did not match {b}: convert one with .to(...)")));
    }
    for (name, v) in [("rtol", rtol), ("atol", atol)] {
        if v.is_nan() || v < 0.0 {
            return Err(Error::shape("isclose", format!("{name} must be greater than or equal to zero, but got {v}")));
        }
    }
    let _guard = GradGuard::new(false);
    let (a, b) = (input.detach(), other.detach());
    let mut close = a.eq(&b)?;
    if equal_nan && a.dtype().is_differentiable() {
        close = close.logical_or(&a.isnan()?.logical_and(&b.isnan()?)?)?;
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close);
    }
    let (a, b) = if a.dtype() == crate::DType::Bool { (a.times(1i64)?, b.times(1i64)?) } else { (a, b) };
    let allowed = b.times(rtol)?.abs()?.plus(atol)?;
    let apart = a.sub(&b)?.abs()?;
    let near = apart.isfinite()?.logical_and(&apart.le(&allowed)?)?;
    close.logical_or(&near)
}

/// Whether all elements of `input` and `other` are close; see `isclose`.
///
/// Args: as `isclose`. Returns: a Python bool. Raises: as `isclose`.
///
/// >>> rg.allclose(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 2.1]))
/// False
#[op(function, method, "(rtol=1e-05, atol=1e-08, equal_nan=False)")]
pub fn allclose(input: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
    all_true(&isclose(input, other, rtol, atol, equal_nan)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DType, Scalar};

    fn bools(t: Result<Tensor>) -> Vec<bool> {
        let t = t.unwrap();
        assert_eq!(t.dtype(), DType::Bool);
        t.to_vec::<bool>().unwrap()
    }

    #[test]
    fn relations_broadcast_and_promote() {
        let a = Tensor::from_slice(&[1.0f32, 2.0, f32::NAN], &[3, 1]).unwrap();
        let b = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
        assert_eq!(bools(a.eq(&b)), [true, false, false, true, false, false]);
        assert_eq!(bools(a.ne(&b)), [false, true, true, false, true, true]);
        assert_eq!(bools(a.lt(&b)), [false, true, false, false, false, false]);
        assert_eq!(bools(a.ge(&b)), [true, false, true, true, false, false]);
        let half = Tensor::number(Scalar::Float(1.5)).unwrap();
        assert_eq!(bools(b.gt(&half)), [false, true]);
        assert_eq!(bools(b.le(&half)), [true, false]);
        assert!(a.eq(&Tensor::empty(&[2, 2], DType::Float32).unwrap()).is_err());
    }

    #[test]
    fn in_place_keeps_the_dtype_and_has_zero_gradients() {
        let x = Tensor::from_slice(&[1.0, 2.0], &[2]).unwrap();
        x.set_requires_grad(true).unwrap();
        let y = x.times(1.0).unwrap();
        y.eq_(&x).unwrap();
        assert_eq!((y.dtype(), y.to_vec::<f64>().unwrap()), (DType::Float64, vec![1.0, 1.0]));
        assert!(y.requires_grad());
        assert!(!x.eq(&x).unwrap().requires_grad());
    }

    #[test]
    fn equality_of_whole_tensors() {
        let x = Tensor::from_slice(&[1.0, f64::NAN], &[2]).unwrap();
        let y = Tensor::from_slice(&[1.0 + 1e-9, f64::NAN], &[2]).unwrap();
        assert!(!equal(&x, &x).unwrap());
        assert!(
            equal(&Tensor::empty(&[0], DType::Int64).unwrap(), &Tensor::empty(&[0], DType::Int64).unwrap()).unwrap()
        );
        assert!(!equal(&x, &Tensor::empty(&[1, 2], DType::Float64).unwrap()).unwrap());
        // One element of many differs, wherever it is.
        let n = 10_000;
        for place in [0, 1, 4095, 4096, 8191, 8192, n - 1] {
            let mut other = vec![0i64; n];
            other[place] = 1;
            let [zeros, other] = [&vec![0; n], &other].map(|x| Tensor::from_slice(x, &[n]).unwrap());
            assert!(!equal(&zeros, &other).unwrap(), "{place}");
            assert!(equal(&other, &other).unwrap());
        }
        assert_eq!(bools(isclose(&x, &y, 1e-5, 1e-8, false)), [true, false]);
        assert!(allclose(&x, &y, 1e-5, 1e-8, true).unwrap());
        assert!(!allclose(&x, &y, 0.0, 0.0, true).unwrap());
        let inf = Tensor::from_slice(&[f64::INFINITY], &[1]).unwrap();
        assert!(allclose(&inf, &inf, 1e-5, 1e-8, false).unwrap());
        assert!(!allclose(&Tensor::from_slice(&[0.0], &[1]).unwrap(), &inf, 1e-5, 1e-8, false).unwrap());
        assert!(isclose(&x, &y, -1.0, 0.0, false).is_err());
    }
}
