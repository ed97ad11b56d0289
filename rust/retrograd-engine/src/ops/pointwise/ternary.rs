//! Ops of three operands: sums with scaled products and quotients, and weighted means.

use num_complex::Complex;
use retrograd_macros::op;
use smallvec::smallvec;

use super::arith::is_one;
use super::promote::{Fields, OutType, binary_shape, check_number, out_like, result_type};
use super::zip::{Binary, Zip};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, check_target};
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Map2, Map3, map_halves3, map3};
use crate::kernels::real::{Constant, Field, Ring};
use crate::match_dtype;
use crate::ops::{Entry, memory};
use crate::tensor::copy::{self, operand};
use crate::tensor::layout::{broadcast, expanded_strides};
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&ADDCMUL, &ADDCDIV, &LERP, &LERP_NUMBER];

/// A body of three numbers of one type.
trait Body3: OfThree<f32> + OfThree<f64> + OfThree<Complex<f32>> + OfThree<Complex<f64>> {}
impl<K: OfThree<f32> + OfThree<f64> + OfThree<Complex<f32>> + OfThree<Complex<f64>>> Body3 for K {}
trait OfThree<T>: Map3<T, T, T, T> {}
impl<T, K: Map3<T, T, T, T>> OfThree<T> for K {}

/// `a + value b c`.
#[derive(Clone, Copy)]
struct Product(Constant);
impl<T: Ring> Map3<T, T, T, T> for Product {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T, c: T) -> T {
        a.add(T::constant(self.0).mul(b).mul(c))
    }
}
/// `a + value b / c`.
#[derive(Clone, Copy)]
struct Quotient(Constant);
impl<T: Field> Map3<T, T, T, T> for Quotient {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T, c: T) -> T {
        a.add(T::constant(self.0).mul(b).div(c))
    }
}
/// A number that means are weighted by.
trait Weight: Ring {
    /// Whether its magnitude is less than 1/2.
    fn is_small(self) -> bool;
}
macro_rules! weights {
    ($($t:ty, |$w:ident| $is_small:expr;)*) => { $(impl Weight for $t {
        #[inline(always)]
        fn is_small(self) -> bool {
            let $w = self;
            $is_small
        }
    })* };
}
weights! {
    f32, |w| w.abs() < 0.5;
    f64, |w| w.abs() < 0.5;
    Complex<f32>, |w| w.re * w.re + w.im * w.im < 0.25;
    Complex<f64>, |w| w.re * w.re + w.im * w.im < 0.25;
}
/// The mean of `a` and `b` with the weight `w` on `b`, from the nearer end.
#[inline(always)]
fn mean<T: Ring>(a: T, b: T, w: T, near_a: bool) -> T {
    let (from, factor) = if near_a { (a, w) } else { (b, w.sub(T::ONE)) };
    from.add(factor.mul(b.sub(a)))
}
#[derive(Clone, Copy)]
struct Mean;
impl<T: Weight> Map3<T, T, T, T> for Mean {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T, w: T) -> T {
        mean(a, b, w, w.is_small())
    }
}
#[derive(Clone, Copy)]
struct MeanBy {
    weight: Constant,
    near_a: bool,
}
impl MeanBy {
    fn new(weight: Constant) -> Self {
        Self { weight, near_a: Complex::new(weight.re, weight.im).is_small() }
    }
}
impl<T: Ring> Map2<T, T, T> for MeanBy {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        mean(a, b, T::constant(self.weight), self.near_a)
    }
}

/// The broadcast shape of three operands.
fn shape_of(op: &'static str, xs: &[&Tensor]) -> Result<crate::tensor::layout::Dims> {
    broadcast(op, &binary_shape(op, xs[0], xs[1])?, xs[2].sizes())
}

/// Writes `k` of the operands, which have the dtype of `out`, are disjoint from it or equal to it, and broadcast to its
/// sizes.
fn write3<K: Body3>(k: &K, xs: [&Tensor; 3], out: &Tensor) {
    let sizes = out.sizes();
    let [sa, sb, sc] = xs.map(|x| expanded_strides(x.sizes(), x.strides(), sizes));
    match_dtype!(floats, out.dtype(), T => {
        let [a, b, c] = xs.map(|x| x.ptr::<T>().cast_const());
        // SAFETY: (1) S1, S3 and the expansion of the operands to `sizes`; (2) they are the target or disjoint from it,
        // as said above; (3) targets do not overlap themselves.
        unsafe { map3(k, sizes, a, &sa, b, &sb, c, &sc, out.ptr::<T>(), out.strides()) };
    }, else match out.dtype().half() {
        Some(_) => {
            let inputs = [operand(xs[0], &sa), operand(xs[1], &sb), operand(xs[2], &sc)];
            // SAFETY: as above.
            unsafe { map_halves3(k, sizes, operand(out, out.strides()), inputs) }
        }
        None => match_dtype!(complex, out.dtype(), T => {
            let [a, b, c] = xs.map(|x| x.ptr::<T>().cast_const());
            // SAFETY: as above.
            unsafe { map3(k, sizes, a, &sa, b, &sb, c, &sc, out.ptr::<T>(), out.strides()) };
        }),
    });
}

/// `k` of three operands converted to `dtype`, to a fresh tensor.
fn forward3<K: Body3>(op: &'static str, k: &K, xs: &[&Tensor], dtype: DType) -> Result<Tensor> {
    let (a, b, c) = (copy::cast(xs[0], dtype)?, copy::cast(xs[1], dtype)?, copy::cast(xs[2], dtype)?);
    let result = out_like(&shape_of(op, xs)?, dtype, &[&a, &b, &c])?;
    write3(k, [&a, &b, &c], &result);
    Ok(result)
}

/// As [`forward3`], into an existing tensor; `false` if its dtype is another than the result's.
fn forward3_into<K: Body3>(op: &'static str, k: &K, xs: &[&Tensor], dtype: DType, out: &Tensor) -> Result<bool> {
    check_target(op, &shape_of(op, xs)?, dtype, out)?;
    if out.dtype() != dtype {
        return Ok(false);
    }
    let apart = |x: &Tensor| {
        let x = copy::cast(x, dtype)?;
        if !x.is_same(out) && copy::ranges_meet(&x, out) { copy::copy(&x) } else { Ok(x) }
    };
    let (a, b, c) = (apart(xs[0])?, apart(xs[1])?, apart(xs[2])?);
    write3(k, [&a, &b, &c], out);
    Ok(true)
}

/// `x` times the number, if that is not 1.
fn scaled(x: Tensor, value: Scalar) -> Result<Tensor> {
    if is_one(value) { Ok(x) } else { x.times(value) }
}

/// `addcmul`: `a + v b c`. Reverse: `ga = g`, `gb = g v c`, `gc = g v b`.
#[derive(Clone, Debug)]
struct Addcmul {
    value: Scalar,
}

impl Primitive for Addcmul {
    const NAME: &'static str = "addcmul";
    const SAVE: &'static [Save] = &[Save::input(1, "tensor1").when(2), Save::input(2, "tensor2").when(1)];
    const PARAMS: Params<Self> = params!(op; value);
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::BOOL);
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(xs);
        if dtype.is_integral() {
            let [a, b, c] = [0, 1, 2].map(|i| copy::cast(xs[i], dtype));
            return a?.add(&scaled(b?.mul(&c?)?, Scalar::Int(self.value.as_i64()))?).map(out);
        }
        forward3(Self::NAME, &Product(self.value.into()), xs, dtype).map(out)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let dtype = result_type(xs);
        if dtype.is_integral() {
            return Ok(false);
        }
        forward3_into(Self::NAME, &Product(self.value.into()), xs, dtype, out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        Ok(smallvec![
            cx.when(0, || Ok(g.clone()))?,
            cx.when(1, || g.mul(&scaled(cx.saved(1)?.clone(), self.value)?))?,
            cx.when(2, || g.mul(&scaled(cx.saved(0)?.clone(), self.value)?))?,
        ])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_b = cx.t(1).map(|t| scaled(t.mul(cx.xs[2])?, op.value)).transpose()?;
        let by_c = cx.t(2).map(|t| scaled(t.mul(cx.xs[1])?, op.value)).transpose()?;
        Jvp::sum([cx.t(0).cloned(), by_b, by_c]).map(maybe)
    });
}

/// `input + value * tensor1 * tensor2`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `tensor1`, `tensor2` tensors of any dtype but bool with broadcastable shapes; `value` a number, cut
/// to an integer for integers. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g`,
/// `g * value * tensor2` and `g * value * tensor1`. Raises: RuntimeError if the shapes do not broadcast;
/// NotImplementedError for bool.
///
/// >>> rg.addcmul(rg.tensor([1.0]), rg.tensor([2.0]), rg.tensor([3.0]), value=10).tolist()
/// [61.0]
#[op(function, method, inplace, out, old("input value tensor1 tensor2"), "(*, value=1)")]
pub fn addcmul(input: &Tensor, tensor1: &Tensor, tensor2: &Tensor, value: Scalar) -> Result<Tensor> {
    check_number("addcmul", value, result_type(&[input, tensor1, tensor2]))?;
    apply_as(form, Addcmul { value }, &[input, tensor1, tensor2])
}

/// `addcdiv`: `a + v b / c`. Reverse: `ga = g`, `gb = g v / c`, `gc = -g v b / c^2`.
#[derive(Clone, Debug)]
struct Addcdiv {
    value: Scalar,
}

impl Addcdiv {
    /// `-t v b / c^2`.
    fn by_divisor(&self, t: &Tensor, b: &Tensor, c: &Tensor) -> Result<Tensor> {
        t.neg()?.mul(&scaled(b.clone(), self.value)?.div(&c.mul(c)?)?)
    }
}

impl Primitive for Addcdiv {
    const NAME: &'static str = "addcdiv";
    const SAVE: &'static [Save] = &[Save::input(1, "tensor1").when(2), Save::input(2, "tensor2")];
    const PARAMS: Params<Self> = params!(op; value);
    const DTYPES: Dtypes = Fields::DTYPES;
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        forward3(Self::NAME, &Quotient(self.value.into()), xs, result_type(xs)).map(out)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        forward3_into(Self::NAME, &Quotient(self.value.into()), xs, result_type(xs), out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        Ok(smallvec![
            cx.when(0, || Ok(g.clone()))?,
            cx.when(1, || scaled(g.clone(), self.value)?.div(cx.saved(1)?))?,
            cx.when(2, || self.by_divisor(g, cx.saved(0)?, cx.saved(1)?))?,
        ])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_b = cx.t(1).map(|t| scaled(t.clone(), op.value)?.div(cx.xs[2])).transpose()?;
        let by_c = cx.t(2).map(|t| op.by_divisor(t, cx.xs[1], cx.xs[2])).transpose()?;
        Jvp::sum([cx.t(0).cloned(), by_b, by_c]).map(maybe)
    });
}

/// `input + value * tensor1 / tensor2`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `tensor1`, `tensor2` tensors with broadcastable shapes, of which one of the last two is of a floating
/// or complex dtype;
/// `value` a number. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g`, `g * value /
/// tensor2` and `-g * value * tensor1 / tensor2**2`. Raises: RuntimeError if the shapes do not broadcast, or for a
/// quotient of integers.
///
/// >>> rg.addcdiv(rg.tensor([1.0]), rg.tensor([2.0]), rg.tensor([4.0]), value=10).tolist()
/// [6.0]
#[op(function, method, inplace, out, old("input value tensor1 tensor2"), "(*, value=1)")]
pub fn addcdiv(input: &Tensor, tensor1: &Tensor, tensor2: &Tensor, value: Scalar) -> Result<Tensor> {
    if tensor1.dtype().is_integral() && tensor2.dtype().is_integral() {
        return Err(Error::dtype(
            "addcdiv",
            format!(
                "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true \
                 division of tensor1 and tensor2. They are {} and {}: convert one of them to a float dtype",
                tensor1.dtype().name(),
                tensor2.dtype().name()
            ),
        ));
    }
    check_number("addcdiv", value, result_type(&[input, tensor1, tensor2]))?;
    apply_as(form, Addcdiv { value }, &[input, tensor1, tensor2])
}

/// Refuses operands of other dtypes than the first one's.
fn check_dtypes(start: &Tensor, others: &[(&str, &Tensor)]) -> Result<()> {
    let dtype = start.dtype();
    match others.iter().find(|(_, x)| x.dtype() != dtype) {
        None => Ok(()),
        Some((name, x)) => Err(Error::dtype(
            "lerp",
            format!("expected dtype {} for `{name}` but got dtype {}", dtype.name(), x.dtype().name()),
        )),
    }
}

/// `lerp` with a tensor of weights. Reverse: `ga = g (1 - w)`, `gb = g w`, `gw = g (b - a)`.
#[derive(Clone, Debug)]
struct Lerp;

impl Primitive for Lerp {
    const NAME: &'static str = "lerp";
    const NODE: &'static str = "LerpBackward1";
    const SAVE: &'static [Save] =
        &[Save::input(0, "self").when(2), Save::input(1, "end").when(2), Save::input(2, "weight")];
    const DTYPES: Dtypes = Fields::DTYPES;
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        forward3(Self::NAME, &Mean, xs, xs[0].dtype()).map(out)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        forward3_into(Self::NAME, &Mean, xs, xs[0].dtype(), out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        Ok(smallvec![
            cx.when(0, || g.mul(&cx.saved(2)?.neg()?.plus(1i64)?))?,
            cx.when(1, || g.mul(cx.saved(2)?))?,
            cx.when(2, || g.mul(&cx.saved(1)?.sub(cx.saved(0)?)?))?,
        ])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let (a, b, w) = (cx.xs[0], cx.xs[1], cx.xs[2]);
        let by_a = cx.t(0).map(|t| t.mul(&w.neg()?.plus(1i64)?)).transpose()?;
        let by_b = cx.t(1).map(|t| t.mul(w)).transpose()?;
        let by_w = cx.t(2).map(|t| t.mul(&b.sub(a)?)).transpose()?;
        Jvp::sum([by_a, by_b, by_w]).map(maybe)
    });
}

/// `lerp` with a number as weight. Reverse: `ga = g (1 - w)`, `gb = g w`.
#[derive(Clone, Debug)]
struct LerpNumber {
    weight: Scalar,
}

impl Binary for LerpNumber {
    const NAME: &'static str = "lerp";
    const PARAMS: Params<Zip<Self>> = params!(op; weight: op.0.weight);
    const JVP: Tangents<Zip<Self>> = Tangents::Linear(u32::MAX);
    type Class = Fields;
    type Kernel = MeanBy;
    fn kernel(&self) -> MeanBy {
        MeanBy::new(self.weight.into())
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[0].dtype())
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let rest = match self.weight {
            Scalar::Complex(re, im) => Scalar::Complex(1.0 - re, -im),
            w => Scalar::Float(1.0 - w.as_f64()),
        };
        let mut grads = maybe(cx.when(0, || cx.g().times(rest))?);
        grads.push(cx.when(1, || cx.g().times(self.weight))?);
        Ok(grads)
    }
}

/// The point between `input` and `end` that `weight` says, `input + weight * (end - input)`, elementwise.
///
/// Args: `input`, `end` tensors of one floating or complex dtype, `weight` a tensor of that dtype or with a single
/// dimensionless element, with broadcastable shapes. Returns: a tensor of the broadcast shape. Derivative: `g * (1 -
/// weight)`, `g * weight` and `g * (end - input)`. Raises: RuntimeError if the shapes do not broadcast or the dtypes
/// differ; NotImplementedError for integers.
///
/// >>> rg.lerp(rg.tensor([0.0, 1.0]), rg.tensor([4.0, 5.0]), rg.tensor([0.5, 0.25])).tolist()
/// [2.0, 2.0]
#[op(function, method, inplace, out = FOUND)]
pub fn lerp(input: &Tensor, end: &Tensor, weight: &Tensor) -> Result<Tensor> {
    check_dtypes(input, &[("end", end)])?;
    // A single weight takes any dtype, as a number does.
    let weight = if weight.ndim() == 0 { memory::cast(weight, input.dtype())? } else { weight.clone() };
    check_dtypes(input, &[("weight", &weight)])?;
    apply_as(form, Lerp, &[input, end, &weight])
}

/// The point between `input` and `end` that `weight` says, `input + weight * (end - input)`, elementwise.
///
/// Args: `input`, `end` tensors of one floating or complex dtype with broadcastable shapes, `weight` a number. Returns:
/// a tensor of the broadcast shape. Derivative: `g * (1 - weight)` and `g * weight`. Raises: RuntimeError if the shapes
/// do not broadcast or the dtypes differ; NotImplementedError for integers.
///
/// >>> rg.lerp(rg.tensor([0.0, 1.0]), rg.tensor([4.0, 5.0]), 0.5).tolist()
/// [2.0, 3.0]
#[op(function, method, inplace, out = FOUND, name = "lerp")]
pub fn lerp_number(input: &Tensor, end: &Tensor, weight: Scalar) -> Result<Tensor> {
    check_dtypes(input, &[("end", end)])?;
    check_number("lerp", weight, input.dtype())?;
    apply_as(form, Zip(LerpNumber { weight }), &[input, end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in
            [[&[3, 4][..], &[3, 4], &[3, 4]], [&[3, 1], &[4], &[]], [&[], &[2, 3], &[3]], [&[17], &[17], &[1]]]
        {
            let xs = [noise(1, shapes[0]), noise(2, shapes[1]), noise(3, shapes[2]).plus(2.0).unwrap()];
            for value in [Scalar::Int(1), Scalar::Float(-2.5)] {
                gradcheck(&|x| addcmul(&x[0], &x[1], &x[2], value), &xs);
                gradcheck(&|x| addcdiv(&x[0], &x[1], &x[2], value), &xs);
                gradcheck(&|x| lerp_number(&x[0], &x[1], value), &xs[..2]);
            }
            gradcheck(&|x| lerp(&x[0], &x[1], &x[2]), &xs);
        }
    }

    #[test]
    fn operands_over_the_target() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
        x.addcmul_(&x, &x, Scalar::Int(1)).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), [2.0, 6.0, 12.0, 20.0]);
        let i = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
        assert_eq!(addcmul(&i, &i, &i, Scalar::Float(2.5)).unwrap().to_vec::<i64>().unwrap(), [3, 10]);
        i.addcmul_(&i, &i, Scalar::Int(1)).unwrap();
        assert_eq!(i.to_vec::<i64>().unwrap(), [2, 6]);
        assert!(i.addcmul_(&x, &x, Scalar::Int(1)).is_err() && addcdiv(&x, &i, &i, Scalar::Int(1)).is_err());
        assert!(lerp_number(&x, &i, Scalar::Int(1)).unwrap_err().to_string().contains("expected dtype"));
    }
}
