//! Logic on masks, bits of integers, and predicates on floats.

use std::fmt::Debug;
use std::marker::PhantomData;

use retrograd_macros::op;

use super::promote::{Bools, Integral, check_half, forward2, result_type};
use super::zip::{Binary, Zip};
use super::{refuse_numbers, zeros_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1, check_target};
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Map1, Map2, map1, walk1};
use crate::kernels::real::{Ordered, Ring};
use crate::match_dtype;
use crate::tensor::complex::part;
use crate::tensor::copy::operand;
use crate::tensor::{DType, Dtypes, Tensor, Truth};

/// A logical function of two truth values.
trait Connective: Debug + Copy + Send + Sync + 'static {
    const NAME: &'static str;
    fn holds(a: bool, b: bool) -> bool;
}

/// Runs a [`Connective`] elementwise; numbers are true unless 0.
#[derive(Clone, Copy, Debug)]
struct Logical<C>(PhantomData<C>);

#[derive(Clone, Copy)]
struct Kernel<C>(PhantomData<C>);
impl<C: Connective, T: Ring> Map2<T, T, Truth> for Kernel<C> {
    const WIDE: bool = T::SLOWLY_COMPARED;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> Truth {
        C::holds(a != T::ZERO, b != T::ZERO).into()
    }
}

impl<C: Connective> Binary for Logical<C> {
    const NAME: &'static str = C::NAME;
    const NODE: &'static str = "LogicalBackward0";
    const JVP: Tangents<Zip<Self>> = Tangents::Zero;
    type Class = Bools;
    type Kernel = Kernel<C>;
    fn kernel(&self) -> Kernel<C> {
        Kernel(PhantomData)
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        // Complex numbers become truth values before.
        let dtype = result_type(xs);
        Ok(if dtype.is_complex() { DType::Bool } else { dtype })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || zeros_of(cx.g()))?);
        grads.push(cx.when(1, || zeros_of(cx.g()))?);
        Ok(grads)
    }
}

/// `logical_and`: no derivative.
#[derive(Clone, Copy, Debug)]
struct And;
impl Connective for And {
    const NAME: &'static str = "logical_and";
    #[inline(always)]
    fn holds(a: bool, b: bool) -> bool {
        a & b
    }
}

/// Whether both elements are true; numbers are true unless 0.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes. Returns: a bool tensor of the broadcast
/// shape.
/// Derivative: none. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.logical_and(rg.tensor([True, True, False]), rg.tensor([1, 0, 0])).tolist()
/// [True, False, False]
#[op(function, method, inplace, out)]
pub fn logical_and(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(Logical::<And>(PhantomData)), &[input, other])
}

/// `logical_or`: no derivative.
#[derive(Clone, Copy, Debug)]
struct Or;
impl Connective for Or {
    const NAME: &'static str = "logical_or";
    #[inline(always)]
    fn holds(a: bool, b: bool) -> bool {
        a | b
    }
}

/// Whether one of the elements is true; numbers are true unless 0.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes. Returns: a bool tensor of the broadcast
/// shape.
/// Derivative: none. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.logical_or(rg.tensor([True, True, False]), rg.tensor([1, 0, 0])).tolist()
/// [True, True, False]
#[op(function, method, inplace, out)]
pub fn logical_or(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(Logical::<Or>(PhantomData)), &[input, other])
}

/// `logical_xor`: no derivative.
#[derive(Clone, Copy, Debug)]
struct Xor;
impl Connective for Xor {
    const NAME: &'static str = "logical_xor";
    #[inline(always)]
    fn holds(a: bool, b: bool) -> bool {
        a ^ b
    }
}

/// Whether exactly one of the elements is true; numbers are true unless 0.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes. Returns: a bool tensor of the broadcast
/// shape.
/// Derivative: none. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.logical_xor(rg.tensor([True, True, False]), rg.tensor([1, 0, 0])).tolist()
/// [False, True, False]
#[op(function, method, inplace, out)]
pub fn logical_xor(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(Logical::<Xor>(PhantomData)), &[input, other])
}

/// A property of a number.
trait Property: Debug + Copy + Send + Sync + 'static {
    const NAME: &'static str;
    /// A complex number has it if both parts have; otherwise one of them is enough.
    const BOTH: bool;
    fn holds<T: Ordered>(x: T) -> bool;
}

/// Runs a [`Property`] elementwise.
#[derive(Clone, Copy, Debug)]
struct Test<P>(PhantomData<P>);

#[derive(Clone, Copy)]
struct Holds<P>(PhantomData<P>);
impl<P: Property, T: Ordered> Map1<T, Truth> for Holds<P> {
    const WIDE: bool = T::LONG;
    #[inline(always)]
    fn f(&self, x: T) -> Truth {
        P::holds(x).into()
    }
}

impl<P: Property> Test<P> {
    /// Where a complex number has the property: of the truths of its parts.
    fn of_parts(&self, z: &Tensor) -> Result<Tensor> {
        let truth = |imaginary: bool| Ok::<_, Error>(self.forward(&[&part(z, imaginary)?])?.swap_remove(0));
        let (re, im) = (truth(false)?, truth(true)?);
        if P::BOTH {
            forward2::<_, Integral>(P::NAME, &BitKernel::<BitAnd>(PhantomData), &re, &im, DType::Bool)
        } else {
            forward2::<_, Integral>(P::NAME, &BitKernel::<BitOr>(PhantomData), &re, &im, DType::Bool)
        }
    }
}

impl<P: Property> Primitive for Test<P> {
    const NAME: &'static str = P::NAME;
    const NODE: &'static str = "LogicalBackward0";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::ALL;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        if x.dtype().is_complex() {
            return self.of_parts(x).map(out);
        }
        let result = x.empty_elementwise(DType::Bool)?;
        let kernel = Holds::<P>(PhantomData);
        match_dtype!(numeric, x.dtype(), T => {
            // SAFETY: (1) S1 and S3, equal sizes; (2) the result is fresh; (3) so it does not overlap itself.
            unsafe {
                map1(&kernel, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), result.ptr::<Truth>(), result.strides());
            }
        }, else {
            check_half(x.dtype());
            let (o, a) = (operand(&result, result.strides()), operand(x, x.strides()));
            // SAFETY: as above, for halves, which the walk gives as float32.
            unsafe { walk1::<f32, Truth, _>(&kernel, x.sizes(), o, a) };
        });
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        zeros_of(cx.g()).map(one)
    }
}

/// `logical_not`: no derivative.
#[derive(Clone, Copy, Debug)]
struct Not;
impl Property for Not {
    const NAME: &'static str = "logical_not";
    const BOTH: bool = true;
    #[inline(always)]
    fn holds<T: Ordered>(x: T) -> bool {
        x == T::ZERO
    }
}

/// A minus sign, that of zeros and NaN included.
#[derive(Clone, Copy, Debug)]
struct Minus;
impl Property for Minus {
    const NAME: &'static str = "signbit";
    const BOTH: bool = false;
    #[inline(always)]
    fn holds<T: Ordered>(x: T) -> bool {
        x.has_minus()
    }
}

/// Where numbers have a minus sign.
pub(super) fn has_minus(x: &Tensor) -> Result<Tensor> {
    apply1(Test::<Minus>(PhantomData), &[x])
}

/// Whether each element is 0 or false.
///
/// Args: `input` any dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.logical_not(rg.tensor([0.0, 2.0])).tolist()
/// [True, False]
#[op(function, method, inplace, out)]
pub fn logical_not(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Test::<Not>(PhantomData), &[input])
}

/// `isnan`: no derivative.
#[derive(Clone, Copy, Debug)]
struct IsNan;
impl Property for IsNan {
    const NAME: &'static str = "isnan";
    const BOTH: bool = false;
    #[inline(always)]
    fn holds<T: Ordered>(x: T) -> bool {
        x.is_nan()
    }
}

/// Whether each element is NaN.
///
/// Args: `input` any dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isnan(rg.tensor([1.0, float('nan')])).tolist()
/// [False, True]
#[op(function, method)]
pub fn isnan(input: &Tensor) -> Result<Tensor> {
    apply1(Test::<IsNan>(PhantomData), &[input])
}

/// `isinf`: no derivative.
#[derive(Clone, Copy, Debug)]
struct IsInf;
impl Property for IsInf {
    const NAME: &'static str = "isinf";
    const BOTH: bool = false;
    #[inline(always)]
    fn holds<T: Ordered>(x: T) -> bool {
        !(x.is_nan() || IsFinite::holds(x))
    }
}

/// Whether each element is infinite.
///
/// Args: `input` any dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isinf(rg.tensor([1.0, float('-inf')])).tolist()
/// [False, True]
#[op(function, method)]
pub fn isinf(input: &Tensor) -> Result<Tensor> {
    apply1(Test::<IsInf>(PhantomData), &[input])
}

/// `isfinite`: no derivative.
#[derive(Clone, Copy, Debug)]
struct IsFinite;
impl Property for IsFinite {
    const NAME: &'static str = "isfinite";
    const BOTH: bool = true;
    #[inline(always)]
    fn holds<T: Ordered>(x: T) -> bool {
        // Infinity less itself, and NaN less anything, is NaN; integers and bools give 0.
        x.sub(x) == T::ZERO
    }
}

/// Whether each element is neither infinite nor NaN.
///
/// Args: `input` any dtype. Returns: a bool tensor of the same shape. Derivative: none.
///
/// >>> rg.isfinite(rg.tensor([1.0, float('nan')])).tolist()
/// [True, False]
#[op(function, method)]
pub fn isfinite(input: &Tensor) -> Result<Tensor> {
    apply1(Test::<IsFinite>(PhantomData), &[input])
}

/// A function of the bits of two integers.
trait BitFn: Debug + Copy + Send + Sync + 'static {
    const NAME: &'static str;
    fn bits<T: Bits>(a: T, b: T) -> T;
}

/// Integers and bool.
trait Bits:
    Ring + std::ops::BitAnd<Output = Self> + std::ops::BitOr<Output = Self> + std::ops::BitXor<Output = Self>
{
}
impl<T> Bits for T where
    T: Ring + std::ops::BitAnd<Output = Self> + std::ops::BitOr<Output = Self> + std::ops::BitXor<Output = Self>
{
}

/// Runs a [`BitFn`] elementwise.
#[derive(Clone, Copy, Debug)]
struct Bitwise<B>(PhantomData<B>);

#[derive(Clone, Copy)]
struct BitKernel<B>(PhantomData<B>);
impl<B: BitFn, T: Bits> Map2<T, T, T> for BitKernel<B> {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        B::bits(a, b)
    }
}

impl<B: BitFn> Binary for Bitwise<B> {
    const NAME: &'static str = B::NAME;
    const NODE: &'static str = "BitwiseBackward0";
    const JVP: Tangents<Zip<Self>> = Tangents::Zero;
    const DTYPES: Dtypes = Dtypes::INTEGRAL.or(Dtypes::WIDE_UNSIGNED);
    type Class = Integral;
    type Kernel = BitKernel<B>;
    fn kernel(&self) -> BitKernel<B> {
        BitKernel(PhantomData)
    }
    // Operands with a derivative are floats, which are refused.
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// `bitwise_and`: integers only.
#[derive(Clone, Copy, Debug)]
struct BitAnd;
impl BitFn for BitAnd {
    const NAME: &'static str = "bitwise_and";
    #[inline(always)]
    fn bits<T: Bits>(a: T, b: T) -> T {
        a & b
    }
}

/// The bits set in both elements; of bools, the logical function.
///
/// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: none.
/// Raises: NotImplementedError for floats, RuntimeError if the shapes do not broadcast.
///
/// >>> rg.bitwise_and(rg.tensor([3, 4]), 2).tolist()
/// [2, 0]
#[op(function, method, inplace, out)]
pub fn bitwise_and(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    refuse_numbers("bitwise_and", input, other)?;
    apply_as(form, Zip(Bitwise::<BitAnd>(PhantomData)), &[input, other])
}

/// `bitwise_or`: integers only.
#[derive(Clone, Copy, Debug)]
struct BitOr;
impl BitFn for BitOr {
    const NAME: &'static str = "bitwise_or";
    #[inline(always)]
    fn bits<T: Bits>(a: T, b: T) -> T {
        a | b
    }
}

/// The bits set in one of the elements; of bools, the logical function.
///
/// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: none.
/// Raises: NotImplementedError for floats, RuntimeError if the shapes do not broadcast.
///
/// >>> rg.bitwise_or(rg.tensor([3, 4]), 2).tolist()
/// [3, 6]
#[op(function, method, inplace, out)]
pub fn bitwise_or(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    refuse_numbers("bitwise_or", input, other)?;
    apply_as(form, Zip(Bitwise::<BitOr>(PhantomData)), &[input, other])
}

/// `bitwise_xor`: integers only.
#[derive(Clone, Copy, Debug)]
struct BitXor;
impl BitFn for BitXor {
    const NAME: &'static str = "bitwise_xor";
    #[inline(always)]
    fn bits<T: Bits>(a: T, b: T) -> T {
        a ^ b
    }
}

/// The bits set in exactly one of the elements; of bools, the logical function.
///
/// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: none.
/// Raises: NotImplementedError for floats, RuntimeError if the shapes do not broadcast.
///
/// >>> rg.bitwise_xor(rg.tensor([3, 4]), 2).tolist()
/// [1, 6]
#[op(function, method, inplace, out)]
pub fn bitwise_xor(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    refuse_numbers("bitwise_xor", input, other)?;
    apply_as(form, Zip(Bitwise::<BitXor>(PhantomData)), &[input, other])
}

/// `bitwise_not`: integers only.
#[derive(Clone, Copy, Debug)]
struct BitNot;

#[derive(Clone, Copy)]
struct Flip;
impl<T: Ring + std::ops::Not<Output = T>> Map1<T, T> for Flip {
    #[inline(always)]
    fn f(&self, x: T) -> T {
        !x
    }
}

/// Writes the flipped bits; `out` is `x` or fresh.
fn flip(x: &Tensor, out: &Tensor) {
    match_dtype!(integral, x.dtype(), T => {
        // SAFETY: (1) S1 and S3, equal sizes; (2) `out` is `x` or fresh; (3) targets do not overlap themselves.
        unsafe { map1(&Flip, x.sizes(), x.ptr::<T>().cast_const(), x.strides(), out.ptr::<T>(), out.strides()) };
    });
}

impl Primitive for BitNot {
    const NAME: &'static str = "bitwise_not";
    const NODE: &'static str = "BitwiseBackward0";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::INTEGRAL;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = xs[0].empty_elementwise(xs[0].dtype())?;
        flip(xs[0], &result);
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        check_target(Self::NAME, xs[0].sizes(), xs[0].dtype(), out)?;
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        flip(out, out);
        Ok(true)
    }
    // Operands with a derivative are floats, which are refused.
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

/// Each element with its bits flipped; of bools, the logical not. The operator `~`.
///
/// Args: `input` an integer or bool tensor. Returns: same shape and dtype. Derivative: none.
/// Raises: NotImplementedError for floats.
///
/// >>> rg.bitwise_not(rg.tensor([True, False])).tolist()
/// [False, True]
#[op(function, method, inplace, out = FOUND)]
pub fn bitwise_not(input: &Tensor) -> Result<Tensor> {
    apply_as(form, BitNot, &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Scalar;

    #[test]
    fn logic_takes_any_dtype() {
        let a = Tensor::from_slice(&[0.0f32, f32::NAN, 2.0, 0.0], &[4]).unwrap();
        let b = Tensor::from_slice(&[0i64, 0, 3, 4], &[4]).unwrap();
        assert_eq!(a.logical_and(&b).unwrap().to_vec::<bool>().unwrap(), [false, false, true, false]);
        assert_eq!(a.logical_or(&b).unwrap().to_vec::<bool>().unwrap(), [false, true, true, true]);
        assert_eq!(a.logical_xor(&b).unwrap().to_vec::<bool>().unwrap(), [false, true, false, true]);
        assert_eq!(a.logical_not().unwrap().to_vec::<bool>().unwrap(), [true, false, false, true]);
        b.logical_not_().unwrap();
        assert_eq!(b.to_vec::<i64>().unwrap(), [1, 1, 0, 0]);
    }

    #[test]
    fn predicates() {
        let x = Tensor::from_slice(&[1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY], &[2, 2]).unwrap();
        let x = x.view_as(&[2, 2], &[1, 2], 0).unwrap();
        assert_eq!(x.isnan().unwrap().to_vec::<bool>().unwrap(), [false, false, true, false]);
        assert_eq!(x.isinf().unwrap().to_vec::<bool>().unwrap(), [false, true, false, true]);
        assert_eq!(x.isfinite().unwrap().to_vec::<bool>().unwrap(), [true, false, false, false]);
        let i = Tensor::from_slice(&[3i32], &[1]).unwrap();
        assert!(i.isfinite().unwrap().to_vec::<bool>().unwrap()[0] && !i.isinf().unwrap().to_vec::<bool>().unwrap()[0]);
    }

    #[test]
    fn bits() {
        let m = Tensor::from_slice(&[true, false], &[2]).unwrap();
        let n = Tensor::from_slice(&[true, true], &[2]).unwrap();
        assert_eq!(m.bitwise_xor(&n).unwrap().to_vec::<bool>().unwrap(), [false, true]);
        assert_eq!(m.bitwise_not().unwrap().to_vec::<bool>().unwrap(), [false, true]);
        let six = Tensor::number(Scalar::Int(6)).unwrap();
        let i = Tensor::from_slice(&[3u8, 8], &[2]).unwrap();
        assert_eq!(i.bitwise_and(&six).unwrap().to_vec::<u8>().unwrap(), [2, 0]);
        assert_eq!(m.bitwise_and(&six).unwrap().dtype(), DType::Int64);
        i.bitwise_not_().unwrap();
        assert_eq!(i.to_vec::<u8>().unwrap(), [252, 247]);
        let f = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        assert!(f.bitwise_and(&six).unwrap_err().to_string().contains("not implemented for 'Float'"));
        assert!(f.bitwise_not().is_err());
    }
}
