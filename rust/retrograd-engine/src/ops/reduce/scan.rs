//! Running sums and products.

use retrograd_macros::op;

use super::ReduceAxes;
use super::prod::{has_zero, identity};
use super::sum::{accumulated, accumulated_wide, as_asked, into_accumulator, sum_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::real::Ring;
use crate::kernels::reduce::{self, Reduce, scan};
use crate::match_dtype;
use crate::ops::memory::cast;
use crate::ops::pointwise::select::where_;
use crate::ops::{Form, view};
use crate::tensor::complex::pairs;
use crate::tensor::copy;
use crate::tensor::layout::{Dims, Strides};
use crate::tensor::{DType, Dtypes, Element, Tensor};

/// The running result of `r` along the one axis of `over`, forwards or backwards, in a fresh tensor.
fn scanned<T: Element, R: Reduce<T>>(r: &R, x: &Tensor, over: &ReduceAxes, reverse: bool) -> Result<Tensor>
where
    R::O: Element,
{
    let result = Tensor::empty(x.sizes(), <R::O as Element>::DTYPE)?;
    scan_to(r, x, &result, over, reverse);
    Ok(result)
}

/// As [`scanned`], of complex numbers by a scan that is linear with real coefficients: that of their parts.
fn scanned_parts<R>(r: &R, x: &Tensor, over: &ReduceAxes, reverse: bool) -> Result<Tensor>
where
    R: Reduce<f32, O = f32> + Reduce<f64, O = f64>,
{
    let result = Tensor::empty(x.sizes(), x.dtype())?;
    let (from, to, over) = (pairs(x)?, pairs(&result)?, over.without_last(x.ndim()));
    match_dtype!(floats, from.dtype(), T => scan_to::<T, _>(r, &from, &to, &over, reverse));
    Ok(result)
}

/// As [`scanned`], into fresh memory of the operand's sizes.
fn scan_to<T: Element, R: Reduce<T>>(r: &R, x: &Tensor, result: &Tensor, over: &ReduceAxes, reverse: bool)
where
    R::O: Element,
{
    if x.numel() == 0 {
        return;
    }
    let (mut outer, mut from, mut to) = (Dims::new(), Strides::new(), Strides::new());
    let (mut n, mut steps) = (1, [1, 1]);
    for (axis, &size) in x.sizes().iter().enumerate() {
        let strides = [x.strides()[axis], result.strides()[axis]];
        if over.has(axis) {
            (n, steps) = (size, strides);
        } else {
            outer.push(size);
            from.push(strides[0]);
            to.push(strides[1]);
        }
    }
    let (mut a, mut o) = (x.ptr::<T>().cast_const(), result.ptr::<R::O>());
    if reverse {
        // The last element of the axis is inside both tensors.
        (a, o) = (a.wrapping_offset((n as isize - 1) * steps[0]), o.wrapping_offset((n as isize - 1) * steps[1]));
        steps = [-steps[0], -steps[1]];
    }
    // SAFETY: (1) S1 and S3: from either end, the steps and the outer axes are the positions of `x`, and of the result;
    // (2, 3) the result is fresh, and no two of its elements share memory.
    unsafe { scan(r, &outer, &from, &to, n, steps[0], steps[1], a, o) };
}

/// `cumsum`: reverse the running sum of `g` from the other end.
#[derive(Clone, Debug)]
struct CumSum {
    over: ReduceAxes,
    reverse: bool,
    dtype: Option<DType>,
}

impl Primitive for CumSum {
    const NAME: &'static str = "cumsum";
    const DTYPES: Dtypes = Dtypes::ALL;
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dim());
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]), ..*op }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(accumulated(xs[0].dtype(), self.dtype))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = accumulated_wide(xs[0].dtype(), self.dtype);
        let x = into_accumulator(xs[0], dtype)?;
        let sums = match_dtype!(numeric, x.dtype(), T => {
            scanned::<T, _>(&reduce::CumSum, &x, &self.over, self.reverse)?
        }, else scanned_parts(&reduce::CumSum, &x, &self.over, self.reverse)?);
        copy::cast(&sums, dtype).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(Self { over: self.over.clone(), reverse: !self.reverse, dtype: None }, &[cx.g()]).map(one)
    }
}

/// `cumprod`: with `y` the result, `gx[k] = sum over i >= k of g[i] y[i] / x[k]`, where the quotient is exact at zeros.
#[derive(Clone, Debug)]
struct CumProd {
    over: ReduceAxes,
    dtype: Option<DType>,
}

impl CumProd {
    /// The running sum along the axis.
    fn sums(&self, x: &Tensor, reverse: bool) -> Result<Tensor> {
        apply1(CumSum { over: self.over.clone(), reverse, dtype: None }, &[x])
    }
    /// The derivatives `dy[i] / dx[k]` as `(before, k, i, after)`: the products up to `i` without `k`. For operands
    /// with zeros; of `n^2` elements.
    fn partials(&self, x: &Tensor) -> Result<Tensor> {
        let [before, n, after] = self.over.block(x.sizes());
        let one = Tensor::ones(&[], x.dtype())?;
        let square = where_(&identity(n, true)?, &one, &view::reshape_to(x, &[before, 1, n, after])?)?;
        let products = apply1(CumProd { over: ReduceAxes::dim(Self::NAME, 2, 4, false)?, dtype: None }, &[&square])?;
        where_(&identity(n, false)?, &products, &Tensor::zeros(&[], x.dtype())?)
    }
}

impl Primitive for CumProd {
    const NAME: &'static str = "cumprod";
    const DTYPES: Dtypes = Dtypes::ALL;
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dim());
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]), dtype: op.dtype }));
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(accumulated(xs[0].dtype(), self.dtype))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = accumulated_wide(xs[0].dtype(), self.dtype);
        let x = into_accumulator(xs[0], dtype)?;
        let products = match_dtype!(rings, x.dtype(), T => scanned::<T, _>(&reduce::CumProd, &x, &self.over, false)?);
        copy::cast(&products, dtype).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, result) = (cx.g(), cx.saved(1)?);
        if self.over.block(g.sizes())[1] == 1 {
            return Ok(one(g.clone()));
        }
        let x = cast(cx.saved(0)?, g.dtype())?;
        if x.numel() == 0 {
            return Ok(one(g.clone()));
        }
        if !cx.differentiating() {
            return pulled(g, &x, result, self.over.block(x.sizes())).map(one);
        }
        if !has_zero(&x)? {
            return self.sums(&g.mul(result)?, true)?.div(&x).map(one);
        }
        let [before, n, after] = self.over.block(x.sizes());
        let terms = self.partials(&x)?.mul(&view::reshape_to(g, &[before, 1, n, after])?)?;
        view::reshape_to(&sum_of(&terms, ReduceAxes::dim(Self::NAME, 2, 4, false)?, None)?, x.sizes()).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let result = &cx.outs[0];
        let (x, t) = (cast(cx.xs[0], result.dtype())?, cast(t, result.dtype())?);
        if !has_zero(&x)? {
            return result.mul(&op.sums(&t.div(&x)?, false)?).map(one);
        }
        let [before, n, after] = op.over.block(x.sizes());
        let terms = op.partials(&x)?.mul(&view::reshape_to(&t, &[before, n, 1, after])?)?;
        view::reshape_to(&sum_of(&terms, ReduceAxes::dim(Self::NAME, 1, 4, false)?, None)?, x.sizes()).map(one)
    });
}

/// The gradient of `cumprod` without a division: `y[k - 1] r[k]` with `r[k] = g[k] + x[k + 1] r[k + 1]`.
fn pulled(g: &Tensor, x: &Tensor, y: &Tensor, [before, n, after]: [usize; 3]) -> Result<Tensor> {
    /// How many contiguous lines are walked together, since each waits for its own sums. More would be in each other's
    /// way in the cache where their distance is a power of two.
    const LINES: usize = 4;
    /// `L` lines of `n` contiguous elements, one after the other.
    #[inline(always)]
    fn lines<T: Ring, const L: usize>([g, x, y]: [&[T]; 3], o: &mut [T], n: usize) {
        let mut r = [T::ZERO; L];
        for k in (0..n).rev() {
            for (j, r) in r.iter_mut().enumerate() {
                let at = j * n + k;
                let later = if k + 1 < n { x[at + 1].mul(*r) } else { T::ZERO };
                *r = g[at].add(later);
                o[at] = if k > 0 { y[at - 1].mul(*r) } else { *r };
            }
        }
    }
    fn fill<T: Ring>(g: &[T], x: &[T], y: &[T], o: &mut [T], [before, n, after]: [usize; 3]) {
        if after == 1 {
            let whole = before / LINES * LINES * n;
            let part = |range: std::ops::Range<usize>| [&g[range.clone()], &x[range.clone()], &y[range]];
            for at in (0..whole).step_by(LINES * n) {
                lines::<T, LINES>(part(at..at + LINES * n), &mut o[at..at + LINES * n], n);
            }
            for at in (whole..before * n).step_by(n) {
                lines::<T, 1>(part(at..at + n), &mut o[at..at + n], n);
            }
            return;
        }
        let mut r = vec![T::ZERO; after];
        for b in 0..before {
            r.fill(T::ZERO);
            for k in (0..n).rev() {
                for (j, r) in r.iter_mut().enumerate() {
                    let at = (b * n + k) * after + j;
                    let later = if k + 1 < n { x[at + after].mul(*r) } else { T::ZERO };
                    *r = g[at].add(later);
                    o[at] = if k > 0 { y[at - after].mul(*r) } else { *r };
                }
            }
        }
    }
    let dtype = x.dtype();
    let wide = |t: &Tensor| copy::contiguous(&copy::cast(t, dtype.wide())?);
    let [g, x, y] = [wide(g)?, wide(x)?, wide(y)?];
    const WHY: &str = "contiguous and of this dtype";
    let pulled = match_dtype!(wide, x.dtype(), T => Tensor::build::<T>(x.sizes(), |o| {
        let [g, x, y] = [&g, &x, &y].map(|t| t.as_slice::<T>().expect(WHY));
        fill(g, x, y, o, [before, n, after]);
    }))?;
    copy::cast(&pulled, dtype)
}

/// In place, the dtype cannot change.
fn check_form(op: &'static str, form: Form, input: &Tensor, dtype: Option<DType>) -> Result<Option<DType>> {
    match dtype {
        _ if !form.is_in_place() => Ok(dtype),
        None => Ok(Some(input.dtype())),
        Some(d) if d == input.dtype() => Ok(dtype),
        Some(d) => Err(Error::dtype(
            op,
            format!(
                "Bad in-place call: input tensor dtype {} and output tensor dtype {} should match",
                input.dtype().name(),
                d.name()
            ),
        )),
    }
}

/// The sums of the elements up to each one, along a dimension.
///
/// Args: `input` any dtype; `dim` the dimension; `dtype` the dtype to convert to before (int64 for integers and bool).
/// Returns: the same shape. Derivative: the running sum of `g` from the other end.
/// Raises: IndexError for a dimension out of range.
///
/// >>> rg.cumsum(rg.tensor([1.0, 2.0, 3.0]), 0).tolist()
/// [1.0, 3.0, 6.0]
#[op(function, method, inplace, out = COMPUTED, "(*, dtype=None)")]
pub fn cumsum(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = check_form("cumsum", form, input, dtype)?;
    let over = ReduceAxes::dim("cumsum", dim, input.ndim(), false)?;
    apply_as(form, CumSum { over, reverse: false, dtype }, &[&as_asked(input, dtype)?])
}

/// The products of the elements up to each one, along a dimension.
///
/// Args: `input` any dtype; `dim` the dimension; `dtype` the dtype to convert to before (int64 for integers and bool).
/// Returns: the same shape. Derivative: the running sum of `g * result` from the other end, over `input`; exact at
/// zeros.
/// Raises: IndexError for a dimension out of range.
///
/// >>> rg.cumprod(rg.tensor([1.0, 2.0, 3.0]), 0).tolist()
/// [1.0, 2.0, 6.0]
#[op(function, method, inplace, out = COMPUTED, "(*, dtype=None)")]
pub fn cumprod(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = check_form("cumprod", form, input, dtype)?;
    let over = ReduceAxes::dim("cumprod", dim, input.ndim(), false)?;
    apply_as(form, CumProd { over, dtype }, &[&as_asked(input, dtype)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Scalar;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[0, 2], &[3, 4], &[2, 3, 2], &[9, 5], &[4, 2]] {
            let x = [noise(21, sizes)];
            gradcheck(&|xs| xs[0].cumsum(0, None), &x);
            gradcheck(&|xs| xs[0].cumsum(-1, None), &x);
            gradcheck(&|xs| xs[0].cumprod(0, None), &x);
            gradcheck(&|xs| xs[0].cumprod(-1, None), &x);
        }
        for zeros in [&[0.5, 0.0, 2.0, 3.0, -1.0, 0.5][..], &[0.0, 2.0, 0.0, 4.0, 3.0, 0.0]] {
            let x = [Tensor::from_slice(zeros, &[3, 2]).unwrap()];
            gradcheck(&|xs| xs[0].cumprod(0, None), &x);
            gradcheck(&|xs| xs[0].cumprod(1, None), &x);
        }
    }

    #[test]
    fn values_and_dtypes() {
        let x = Tensor::from_slice(&[1i32, 2, 3, 4], &[2, 2]).unwrap();
        let sums = x.cumsum(0, None).unwrap();
        assert_eq!((sums.dtype(), sums.to_vec::<i64>().unwrap()), (DType::Int64, vec![1, 2, 4, 6]));
        let t = x.view_as(&[2, 2], &[1, 2], 0).unwrap();
        assert_eq!(t.cumprod(1, None).unwrap().to_vec::<i64>().unwrap(), [1, 3, 2, 8]);
        x.cumsum_(1, None).unwrap();
        assert_eq!((x.dtype(), x.to_vec::<i64>().unwrap()), (DType::Int32, vec![1, 3, 3, 7]));
        assert!(x.cumsum_(1, Some(DType::Int64)).is_err() && x.cumsum(2, None).is_err());
        assert_eq!(
            Tensor::full(&[], Scalar::Int(3), DType::Int64).unwrap().cumsum(0, None).unwrap().sizes(),
            &[] as &[usize]
        );
    }
}
