//! Variance and standard deviation.

use retrograd_macros::op;
use smallvec::smallvec;

use super::sum::{mean_of, sum_of};
use super::{ReduceAxes, run_into};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::reduce::{Moments, Reduce, row_moments};
use crate::match_dtype;
use crate::ops::pointwise::complex::{conj_physical as conj, real_part as real};
use crate::ops::pointwise::select::where_;
use crate::tensor::complex::pairs;
use crate::tensor::layout::{self, numel};
use crate::tensor::{Dtypes, Element, FromScalar, Scalar, Tensor};

/// `var`, `std` and, with the mean, `var_mean`, `std_mean`: with `n - correction` below,
/// `gvar = 2 g (x - mean) / (n - correction)`, and `gstd = gvar / (2 std)`, 0 where `std` is 0.
#[derive(Clone, Debug)]
struct VarOrStd<const STD: bool, const MEAN: bool> {
    over: ReduceAxes,
    /// `None` as torch's default of 1.
    correction: Option<Scalar>,
}

impl<const STD: bool, const MEAN: bool> VarOrStd<STD, MEAN> {
    /// What the squared deviations are divided by; 0 or less if there are too few elements.
    fn freedom(&self, sizes: &[usize]) -> f64 {
        self.over.count(sizes) as f64 - self.correction.map_or(1.0, Scalar::as_f64)
    }
    /// `x - mean`.
    fn centred(&self, x: &Tensor) -> Result<Tensor> {
        x.sub(&mean_of(x, self.over.keeping(), None)?)
    }
    /// A gradient or tangent of `std` made one of `var`, or (both ways it is the same factor) back.
    fn halved(&self, g: &Tensor, std: &Tensor) -> Result<Tensor> {
        let zero = Tensor::full(&[], Scalar::Int(0), g.dtype())?;
        where_(&std.eq(&zero)?, &zero, &g.div(&std.times(2i64)?)?)
    }
}

impl<const STD: bool, const MEAN: bool> Primitive for VarOrStd<STD, MEAN> {
    const NAME: &'static str = if STD { "std" } else { "var" };
    const NODE: &'static str = match (STD, MEAN) {
        (false, false) => "VarBackward0",
        (true, false) => "StdBackward0",
        (false, true) => "VarMeanBackward0",
        (true, true) => "StdMeanBackward0",
    };
    const SAVE: &'static [Save] = match (STD, MEAN) {
        (false, _) => &[Save::input(0, "self")],
        (true, false) => &[Save::input(0, "self"), Save::output(0, "result")],
        (true, true) => &[Save::input(0, "self"), Save::output(0, "result0")],
    };
    const PARAMS: Params<Self> = params!(op; correction, dim: op.over.saved_dims(), keepdim: op.over.keepdim);
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> =
        Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]), correction: op.correction }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, dtype) = (xs[0], xs[0].dtype());
        let (freedom, sizes) = (self.freedom(x.sizes()).max(0.0), self.over.sizes(x.sizes()));
        // The variance of complex numbers is the sum of those of their parts.
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let (x, over) = match parts {
            1 => (x.clone(), self.over.clone()),
            _ => (pairs(x)?, self.over.without_last(x.ndim())),
        };
        match_dtype!(floats, x.dtype(), T => {
            let moments = moments::<T>(&x, &over, |row| {
                // SAFETY: (1) the elements of a slice.
                let (mean, squares) = unsafe { row_moments(row.as_ptr(), row.len(), 1) };
                [mean, squares]
            });
            let var_or_std = Tensor::build::<T>(&sizes, |o| {
                for (o, of_parts) in o.iter_mut().zip(moments.chunks_exact(parts)) {
                    let squares = of_parts[1..].iter().fold(of_parts[0][1], |sum, [_, squares]| sum + squares);
                    let var = squares / T::from_scalar(Scalar::Float(freedom));
                    *o = if STD { var.sqrt() } else { var };
                }
            })?;
            if !MEAN {
                return Ok(out(var_or_std));
            }
            let mean = Tensor::empty(&sizes, dtype)?;
            for (i, [mean_of_part, _]) in moments.iter().enumerate() {
                // SAFETY: fresh, contiguous memory of as many reals as there are moments.
                unsafe { *mean.op_ptr().cast::<T>().add(i) = *mean_of_part };
            }
            Ok(smallvec![var_or_std, mean])
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(0)?;
        let mut total = None;
        if let Some(g) = cx.g_of(0) {
            let g = if STD { self.halved(g, cx.saved(1)?)? } else { g.clone() };
            let g = self.over.aligned(&g, x.sizes())?;
            let freedom = self.freedom(x.sizes());
            let centred = self.centred(x)?;
            total = Some(if freedom <= 0.0 && self.over.is_all() {
                // No 0 times infinity where the mean is the element itself.
                let number = |v: f64| Tensor::full(&[], Scalar::Float(v), x.dtype().real());
                let at_mean = centred.eq(&number(0.0)?)?;
                g.mul(&where_(&at_mean, &number(f64::NAN)?, &number(f64::INFINITY)?)?)?
            } else {
                centred.mul(&g.times(2.0 / freedom)?)?
            });
        }
        if let Some(g) = cx.g_of(1) {
            let share = g.div(&Tensor::number(Scalar::Int(self.over.count(x.sizes()) as i64))?)?;
            let share = self.over.expand(&share, x.sizes())?;
            total = Some(match total {
                None => share,
                Some(t) => t.add(&share)?,
            });
        }
        Ok(maybe(total))
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(cx.outs.iter().map(|_| None).collect()) };
        let x = cx.xs[0];
        let change = real(&conj(&op.centred(x)?)?.mul(t)?)?;
        let var = sum_of(&change, op.over.clone(), None)?.times(2.0 / op.freedom(x.sizes()))?;
        let var_or_std = if STD { op.halved(&var, &cx.outs[0])? } else { var };
        if MEAN {
            Ok(smallvec![Some(var_or_std), Some(mean_of(t, op.over.clone(), None)?)])
        } else {
            Ok(one(var_or_std))
        }
    });
}

/// Mean and sum of squared deviations for each element of the result; `row` gives them for one row.
fn moments<T: Element>(x: &Tensor, over: &ReduceAxes, row: fn(&[T]) -> [T; 2]) -> Vec<[T; 2]>
where
    Moments: Reduce<T, O = [T; 2]>,
{
    let n = numel(&over.sizes(x.sizes()));
    let mut all: Vec<[T; 2]> = Vec::with_capacity(n);
    let in_rows = x.is_contiguous() && over.is_trailing(x.ndim());
    if x.numel() > 0 && (in_rows || over.is_all() && layout::is_dense(x.sizes(), x.strides())) {
        // Two passes over a row that the cache holds beat one with a division in each step.
        // SAFETY: S1 to S3: all elements, without gaps.
        let data = unsafe { std::slice::from_raw_parts(x.ptr::<T>(), x.numel()) };
        all.extend(data.chunks_exact(x.numel() / n).map(row));
        return all;
    }
    // SAFETY: (Into 1) the vector has space for the `n` results, which are all written.
    unsafe {
        run_into(&Moments, x, over, all.as_mut_ptr());
        all.set_len(n);
    }
    all
}

fn var_or_std<const STD: bool, const MEAN: bool>(
    x: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<Outs> {
    if x.dtype().is_integral() {
        return Err(Error::dtype(
            if STD { "std" } else { "var" },
            format!(
                "std and var only support floating point and complex dtypes, got {}: convert with .to(float32)",
                x.dtype().name()
            ),
        ));
    }
    let over = ReduceAxes::dims(if STD { "std" } else { "var" }, dim, x.ndim(), keepdim)?;
    let op = VarOrStd::<STD, MEAN> { over, correction };
    if op.freedom(x.sizes()) <= 0.0 || numel(&op.over.sizes(x.sizes())) == 0 {
        let name = if STD { "std" } else { "var" };
        crate::warn::warn(&format!(
            "{name}{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input \
             numel divided by output numel).",
            if MEAN { "_mean" } else { "" }
        ))?;
    }
    apply(op, &[x])
}

fn first(mut outs: Outs) -> Tensor {
    outs.swap_remove(0)
}

fn pair(mut outs: Outs) -> (Tensor, Tensor) {
    let mean = outs.swap_remove(1);
    (outs.swap_remove(0), mean)
}

fn bessel(unbiased: bool) -> Option<Scalar> {
    Some(Scalar::Int(i64::from(unbiased)))
}

/// The variance of all elements.
///
/// Args: `input` a floating or complex dtype; `unbiased` divides by `n - 1` rather than by `n`.
/// Returns: a 0-dim tensor, NaN for too few elements. Derivative: `2 g (input - mean) / (n - 1)`.
/// Raises: RuntimeError for integers.
///
/// >>> rg.var(rg.tensor([1.0, 3.0]), False).item()
/// 1.0
#[op(function, method, norust, name = "var")]
pub fn var_unbiased(input: &Tensor, unbiased: bool) -> Result<Tensor> {
    var_or_std::<false, false>(input, None, bessel(unbiased), false).map(first)
}

/// The variance over dimensions.
///
/// Args: `dim` an integer or a list, None for all; `unbiased` divides by `n - 1` rather than by `n`; `keepdim` keeps
/// the dimensions with size 1. Returns, Derivative, Raises: as above.
///
/// >>> rg.var(rg.tensor([[1.0, 3.0]]), 1).tolist()
/// [2.0]
#[op(function, method, out, norust, name = "var", "(unbiased=True, keepdim=False)")]
pub fn var_dim(input: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    var_or_std::<false, false>(input, dim, bessel(unbiased), keepdim).map(first)
}

/// The variance over dimensions, squared deviations divided by `n - correction`.
///
/// Args: `input` a floating or complex dtype; `dim` an integer or a list, None for all; `correction` a number (1);
/// `keepdim` keeps the dimensions with size 1.
/// Returns: NaN or infinity if `n` is not above `correction`. Derivative: `2 g (input - mean) / (n - correction)`.
/// Raises: RuntimeError for integers.
///
/// >>> rg.var(rg.tensor([1.0, 3.0]), correction=0).item()
/// 1.0
#[op(function, method, out, "(dim=None, *, correction=None, keepdim=False)")]
pub fn var(input: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    var_or_std::<false, false>(input, dim, correction, keepdim).map(first)
}

/// The standard deviation of all elements.
///
/// Args: `input` a floating or complex dtype; `unbiased` divides by `n - 1` rather than by `n`.
/// Returns: a 0-dim tensor, NaN for too few elements. Derivative: `g (input - mean) / ((n - 1) std)`, 0 where `std` is
/// 0.
/// Raises: RuntimeError for integers.
///
/// >>> rg.std(rg.tensor([1.0, 3.0]), False).item()
/// 1.0
#[op(function, method, norust, name = "std")]
pub fn std_unbiased(input: &Tensor, unbiased: bool) -> Result<Tensor> {
    var_or_std::<true, false>(input, None, bessel(unbiased), false).map(first)
}

/// The standard deviation over dimensions.
///
/// Args: `dim` an integer or a list, None for all; `unbiased` divides by `n - 1` rather than by `n`; `keepdim` keeps
/// the dimensions with size 1. Returns, Derivative, Raises: as above.
///
/// >>> rg.std(rg.tensor([[1.0, 3.0]]), 1, unbiased=False).tolist()
/// [1.0]
#[op(function, method, out, norust, name = "std", "(unbiased=True, keepdim=False)")]
pub fn std_dim(input: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    var_or_std::<true, false>(input, dim, bessel(unbiased), keepdim).map(first)
}

/// The standard deviation over dimensions, squared deviations divided by `n - correction`.
///
/// Args: `input` a floating or complex dtype; `dim` an integer or a list, None for all; `correction` a number (1);
/// `keepdim` keeps the dimensions with size 1.
/// Returns: NaN or infinity if `n` is not above `correction`. Derivative: `g (input - mean) / ((n - correction) std)`.
/// Raises: RuntimeError for integers.
///
/// >>> rg.std(rg.tensor([1.0, 3.0]), correction=0).item()
/// 1.0
#[op(function, method, out, "(dim=None, *, correction=None, keepdim=False)")]
pub fn std(input: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    var_or_std::<true, false>(input, dim, correction, keepdim).map(first)
}

/// The variance and the mean of all elements.
///
/// Args: as `var`. Returns: `(var, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.var_mean(rg.tensor([1.0, 3.0]), False)]
/// [1.0, 2.0]
#[op(function, name = "var_mean")]
pub fn var_mean_unbiased(input: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    var_or_std::<false, true>(input, None, bessel(unbiased), false).map(pair)
}

/// The variance and the mean over dimensions.
///
/// Args: as `var`. Returns: `(var, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.var_mean(rg.tensor([1.0, 3.0]), 0)]
/// [2.0, 2.0]
#[op(function, name = "var_mean", "(unbiased=True, keepdim=False)")]
pub fn var_mean_dim(input: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    var_or_std::<false, true>(input, dim, bessel(unbiased), keepdim).map(pair)
}

/// The variance and the mean over dimensions, squared deviations divided by `n - correction`.
///
/// Args: as `var`. Returns: `(var, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.var_mean(rg.tensor([1.0, 3.0]), correction=0)]
/// [1.0, 2.0]
#[op(function, "(dim=None, *, correction=None, keepdim=False)")]
pub fn var_mean(
    input: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    var_or_std::<false, true>(input, dim, correction, keepdim).map(pair)
}

/// The standard deviation and the mean of all elements.
///
/// Args: as `std`. Returns: `(std, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.std_mean(rg.tensor([1.0, 3.0]), False)]
/// [1.0, 2.0]
#[op(function, name = "std_mean")]
pub fn std_mean_unbiased(input: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    var_or_std::<true, true>(input, None, bessel(unbiased), false).map(pair)
}

/// The standard deviation and the mean over dimensions.
///
/// Args: as `std`. Returns: `(std, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.std_mean(rg.tensor([1.0, 3.0]), 0, False)]
/// [1.0, 2.0]
#[op(function, name = "std_mean", "(unbiased=True, keepdim=False)")]
pub fn std_mean_dim(input: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    var_or_std::<true, true>(input, dim, bessel(unbiased), keepdim).map(pair)
}

/// The standard deviation and the mean over dimensions, squared deviations divided by `n - correction`.
///
/// Args: as `std`. Returns: `(std, mean)`. Derivative: the sum of both.
///
/// >>> [t.item() for t in rg.std_mean(rg.tensor([1.0, 3.0]), correction=0)]
/// [1.0, 2.0]
#[op(function, "(dim=None, *, correction=None, keepdim=False)")]
pub fn std_mean(
    input: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    var_or_std::<true, true>(input, dim, correction, keepdim).map(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[5][..], &[3, 4], &[2, 3, 4]] {
            let x = [noise(9, sizes)];
            gradcheck(&|xs| xs[0].var(None, None, false), &x);
            gradcheck(&|xs| xs[0].std(None, Some(Scalar::Int(0)), true), &x);
            gradcheck(&|xs| xs[0].var(Some(&[0]), Some(Scalar::Float(0.5)), false), &x);
            gradcheck(&|xs| xs[0].std(Some(&[-1]), None, true), &x);
            gradcheck(
                &|xs| {
                    let (v, m) = var_mean(&xs[0], Some(&[0]), None, false)?;
                    v.mul(&m)
                },
                &x,
            );
            gradcheck(
                &|xs| {
                    let (s, m) = std_mean(&xs[0], None, None, false)?;
                    s.mul(&m)
                },
                &x,
            );
            gradcheck(&|xs| Ok(var_mean(&xs[0], None, None, false)?.1), &x);
        }
    }

    #[test]
    fn values_and_boundaries() {
        let x = Tensor::from_slice(&[1.0f64, 3.0, 5.0, 9.0], &[2, 2]).unwrap();
        let v = |t: Result<Tensor>| t.unwrap().to_vec::<f64>().unwrap();
        assert_eq!(v(x.var(Some(&[1]), None, false)), [2.0, 8.0]);
        assert_eq!(v(x.var(Some(&[0]), None, false)), [8.0, 18.0]);
        assert_eq!(v(var_unbiased(&x, false)), [8.75]);
        assert_eq!(v(x.var(None, Some(Scalar::Int(10)), false)), [f64::INFINITY]);
        let single = Tensor::from_slice(&[2.0f64], &[1]).unwrap();
        assert!(v(single.std(None, None, false))[0].is_nan());
        single.set_requires_grad(true).unwrap();
        crate::autograd::backward(&single.std(None, None, false).unwrap()).unwrap();
        assert!(single.grad().unwrap().to_vec::<f64>().unwrap()[0].is_nan());
        let e = Tensor::empty(&[0, 2], DType::Float32).unwrap();
        assert!(e.var(Some(&[0]), None, false).unwrap().to_vec::<f32>().unwrap().iter().all(|v| v.is_nan()));
        assert_eq!(e.var(Some(&[1]), None, false).unwrap().numel(), 0);
        assert!(Tensor::arange(3).unwrap().var(None, None, false).is_err());
        let flat = Tensor::from_slice(&[2.0f64, 2.0], &[2]).unwrap();
        flat.set_requires_grad(true).unwrap();
        crate::autograd::backward(&flat.std(None, None, false).unwrap()).unwrap();
        assert_eq!(flat.grad().unwrap().to_vec::<f64>().unwrap(), [0.0, 0.0]);
    }
}
