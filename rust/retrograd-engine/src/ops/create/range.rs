//! Ranges and the identity.

use half::{bf16, f16};
use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::kernels::parallel::split_rows;
use crate::kernels::real::{Constant, Real, Ring};
use crate::match_dtype;
use crate::ops::TensorOptions;
use crate::ops::pointwise::check_number;
use crate::tensor::complex::of_parts;
use crate::tensor::copy;
use crate::tensor::dtype::Category;
use crate::tensor::{DType, Element, FromScalar, Scalar, Tensor, default_dtype};

/// Number of elements from `start` to before `end`.
fn count(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<usize> {
    let refuse = |detail: String| Err(Error::shape("arange", detail));
    let (a, b, s) = (start.as_f64(), end.as_f64(), step.as_f64());
    if s.is_nan() || s == 0.0 {
        return refuse("step must be nonzero".into());
    }
    if !a.is_finite() || !b.is_finite() {
        return refuse(format!("unsupported range: {a} -> {b}: start and end must be finite"));
    }
    if (s > 0.0 && b < a) || (s < 0.0 && b > a) {
        return refuse(format!(
            "upper bound and lower bound inconsistent with step sign: from {a} to {b} by {s}; an empty range has end == start"
        ));
    }
    if dtype == DType::Int64 {
        // Exact where doubles are not.
        let (a, b, s) = (i128::from(start.as_i64()), i128::from(end.as_i64()), i128::from(step.as_i64()));
        if s == 0 {
            return refuse("step must be nonzero, and is 0 as an integer".into());
        }
        return Ok(((b - a + s - s.signum()) / s).max(0) as usize);
    }
    let n = ((b - a) / s).ceil();
    if n > i64::MAX as f64 {
        return refuse(format!("invalid size, possible overflow? From {a} to {b} by {s}"));
    }
    Ok(n as usize)
}

/// What an element takes in nanoseconds.
const COST: f64 = 0.3;
/// Elements whose positions are numbers of a type that vectors have.
const TOGETHER: usize = 1024;

/// A vector whose elements `fill` writes, of which it is given some and the position of the first. Threads share them.
fn filled<T: Element>(n: usize, fill: impl Fn(usize, &mut [T]) + Sync) -> Result<Tensor> {
    Tensor::build::<T>(&[n], |out| {
        split_rows(out, 1, TOGETHER, n as f64 * COST, &|some, out| fill(some.start, out));
    })
}

/// As [`filled`], of a function of the position, below 2^53.
fn of_positions<T: Element>(n: usize, f: impl Fn(f64) -> T + Sync) -> Result<Tensor> {
    filled(n, |start, out: &mut [T]| {
        for (k, out) in out.chunks_mut(TOGETHER).enumerate() {
            let first = (start + k * TOGETHER) as f64;
            for (i, x) in out.iter_mut().enumerate() {
                *x = f(first + f64::from(i as i32));
            }
        }
    })
}

/// As [`filled`], of integers in steps.
fn integers<T: Element + Ring>(n: usize, start: i64, step: i64) -> Result<Tensor> {
    let constant = |int: i64| T::constant(Constant { int, re: 0.0, im: 0.0 });
    filled(n, |first, out: &mut [T]| {
        let mut x = constant(start.wrapping_add(step.wrapping_mul(first as i64)));
        let step = constant(step);
        for out in out {
            *out = x;
            x = x.add(step);
        }
    })
}

fn arange(start: Scalar, end: Scalar, step: Scalar, options: TensorOptions) -> Result<Tensor> {
    let usual = if [start, end, step].iter().all(|s| s.dtype().is_integral()) { DType::Int64 } else { default_dtype() };
    let dtype = options.dtype_or("arange", usual)?;
    let unsupported = || Error::no_kernel("arange_cpu", dtype);
    if dtype.half().is_some() {
        // In float32, and rounded once.
        let n = count(start, end, step, dtype)?;
        let (a, s) = (start.as_f64() as f32, step.as_f64() as f32);
        let wide = of_positions(n, |i| a + s * i as f32)?;
        return options.leaf(copy::cast(&wide, dtype)?);
    }
    let (a, s) = (start.as_f64(), step.as_f64());
    let t = match_dtype!(ints, dtype, T => {
        integers::<T>(count(start, end, step, dtype)?, start.as_i64(), step.as_i64())
    }, else match dtype {
        DType::Float32 => of_positions(count(start, end, step, dtype)?, |i| (a + s * i) as f32),
        DType::Float64 => of_positions(count(start, end, step, dtype)?, |i| a + s * i),
        _ => Err(unsupported()),
    })?;
    options.leaf(t)
}

/// The numbers from `start` to `end`, both included, in steps of `step`.
///
/// Deprecated in favour of `arange`, which leaves out the end, as Python's `range` does; a warning says so.
///
/// Args: `start`, `end`, `step` numbers; `dtype` (the default float dtype). Returns: a 1-dim tensor of `floor((end -
/// start) / step) + 1` elements. Raises: RuntimeError for a step of 0 or in the wrong direction, and ends that are not
/// finite.
///
/// >>> import warnings
/// >>> with warnings.catch_warnings(action="ignore"):
/// ...     rg.range(1, 4).tolist()
/// [1.0, 2.0, 3.0, 4.0]
#[op(function, out, "(step=1)")]
pub fn range(start: Scalar, end: Scalar, step: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    const OP: &str = "range";
    crate::warn::warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's \
         range builtin. Instead, use torch.arange, which produces values in [start, end).",
    )?;
    let dtype = options.dtype_or(OP, default_dtype())?;
    let refused = |detail: String| Err(Error::shape(OP, detail));
    let (a, b, s) = (start.as_f64(), end.as_f64(), step.as_f64());
    if s.is_nan() || s == 0.0 || (dtype.is_integral() && step.as_i64() == 0) {
        return refused(format!("step must be nonzero, but got {s} for {}", dtype.name()));
    }
    if !a.is_finite() || !b.is_finite() {
        return refused(format!("unsupported range: {a} -> {b}: start and end must be finite"));
    }
    if (s > 0.0 && b < a) || (s < 0.0 && b > a) {
        return refused(format!("upper bound and lower bound inconsistent with step sign: from {a} to {b} by {s}"));
    }
    if dtype == DType::Bool || dtype.is_complex() {
        return Err(Error::no_kernel("range_cpu", dtype));
    }
    let count = if dtype.is_integral() {
        let (a, b, s) = (i128::from(start.as_i64()), i128::from(end.as_i64()), i128::from(step.as_i64()));
        ((b - a) / s) as f64
    } else {
        ((b - a) / s).floor()
    };
    if count >= i64::MAX as f64 {
        return refused(format!("invalid size, possible overflow? From {a} to {b} by {s}"));
    }
    // In the widest dtype of its kind, and rounded once.
    let wide = if dtype.is_integral() {
        let (a, s) = (start.as_i64(), step.as_i64());
        integers::<i64>(count as usize + 1, a, s)?
    } else {
        of_positions(count as usize + 1, |i| a + s * i)?
    };
    options.leaf(copy::cast(&wide, dtype)?)
}

/// The numbers from 0 to before `end`, in steps of 1.
///
/// Args: `end` a number; `dtype` (int64 for an integer, else the default float dtype).
/// Returns: a 1-dim tensor of `ceil(end)` elements. Raises: RuntimeError if `end` is negative or not finite.
///
/// >>> rg.arange(3).tolist()
/// [0, 1, 2]
#[op(function, out, name = "arange")]
pub fn arange_to(end: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    arange(Scalar::Int(0), end, Scalar::Int(1), options)
}

/// The numbers from `start` to before `end`, in steps of `step`.
///
/// Args: `start`, `end`, `step` numbers; `dtype` (int64 if all are integers, else the default float dtype).
/// Returns: a 1-dim tensor of `ceil((end - start) / step)` elements.
/// Raises: RuntimeError if `step` is zero or of the wrong sign, or a bound is not finite.
///
/// >>> rg.arange(5, 0, -2).tolist()
/// [5, 3, 1]
#[op(function, out, name = "arange", "(step=1)")]
pub fn arange_from(start: Scalar, end: Scalar, step: Scalar, #[options] options: TensorOptions) -> Result<Tensor> {
    arange(start, end, step, options)
}

/// The default dtype of numbers between two: a float, complex if one of them is.
pub(super) fn default_dtype_of(ends: [Scalar; 2]) -> DType {
    let complex = ends.iter().any(|x| x.category() == Category::Complex);
    if complex { default_dtype().complex() } else { default_dtype() }
}

/// As [`spaced`], of floats that loops compute with.
fn spaced_floats<T: Element + FromScalar + Real>(ends: [Scalar; 2], n: usize) -> Result<Tensor> {
    let [a, b] = ends.map(T::from_scalar);
    let step = if n > 1 { b.sub(a).div(T::of((n - 1) as f64)) } else { T::ZERO };
    let half = if n == 1 { 1 } else { n / 2 };
    filled(n, |start, out: &mut [T]| {
        let (near, far) = out.split_at_mut(half.saturating_sub(start).min(out.len()));
        let last = n as f64 - 1.0 - (start + near.len()) as f64;
        for (k, near) in near.chunks_mut(TOGETHER).enumerate() {
            let first = (start + k * TOGETHER) as f64;
            for (i, x) in near.iter_mut().enumerate() {
                *x = a.add(step.mul(T::of(first + f64::from(i as i32))));
            }
        }
        for (k, far) in far.chunks_mut(TOGETHER).enumerate() {
            let last = last - (k * TOGETHER) as f64;
            for (i, x) in far.iter_mut().enumerate() {
                *x = b.sub(step.mul(T::of(last - f64::from(i as i32))));
            }
        }
    })
}

/// `n` numbers evenly spaced between two, both included, in the arithmetic of the dtype: from the nearer end, so that
/// both are exact.
fn spaced(dtype: DType, ends: [Scalar; 2], n: usize) -> Result<Tensor> {
    /// `round` is to the precision of the dtype.
    fn build<T: Element + FromScalar>(
        ends: [Scalar; 2],
        n: usize,
        round: impl Fn(f64) -> f64 + Sync,
    ) -> Result<Tensor> {
        // The ends are numbers of the dtype.
        let [a, b] = ends.map(|x| T::from_scalar(x).to_scalar().as_f64());
        let step = if n > 1 { round(round(b - a) / round((n - 1) as f64)) } else { 0.0 };
        let along = |i: f64| round(step * round(i));
        let (half, last) = (if n == 1 { 1.0 } else { (n / 2) as f64 }, n as f64 - 1.0);
        of_positions(n, |i| {
            let at = if i < half { a + along(i) } else { b - along(last - i) };
            T::from_scalar(Scalar::Float(round(at)))
        })
    }
    match dtype {
        DType::Float16 => build::<f16>(ends, n, |x| f16::from_f64(x).to_f64()),
        DType::BFloat16 => build::<bf16>(ends, n, |x| bf16::from_f64(x).to_f64()),
        DType::Float32 => spaced_floats::<f32>(ends, n),
        DType::Float64 => spaced_floats::<f64>(ends, n),
        _ => match_dtype!(ints of "linspace_cpu", dtype, T => build::<T>(ends, n, |x| x)),
    }
}

/// The parts of two numbers.
pub(super) fn parts(ends: [Scalar; 2]) -> [[f64; 2]; 2] {
    let imaginary = |x| if let Scalar::Complex(_, y) = x { y } else { 0.0 };
    [ends.map(Scalar::as_f64), ends.map(imaginary)]
}

/// `steps` numbers from `start` to `end`, both included, evenly spaced.
///
/// Args: `start`, `end` numbers; `steps` how many; `dtype` (the default float dtype).
/// Returns: a 1-dim tensor of `steps` elements. Raises: RuntimeError if `steps` is negative.
///
/// >>> rg.linspace(0, 1, 5).tolist()
/// [0.0, 0.25, 0.5, 0.75, 1.0]
#[op(function, out)]
pub fn linspace(start: Scalar, end: Scalar, steps: i64, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.dtype_or("linspace", default_dtype_of([start, end]))?;
    for number in [start, end] {
        check_number("linspace", number, dtype)?;
    }
    let n = usize::try_from(steps)
        .map_err(|_| Error::shape("linspace", format!("number of steps must be non-negative, got {steps}")))?;
    let t = if dtype.is_complex() {
        let [re, im] = parts([start, end]).map(|ends| spaced(dtype.real(), ends.map(Scalar::Float), n));
        of_parts([&re?, &im?])?
    } else {
        spaced(dtype, [start, end], n)?
    };
    options.leaf(t)
}

/// Refuses ends that are more than numbers.
pub(super) fn check_ends(op: &'static str, start: &Tensor, end: &Tensor) -> Result<()> {
    if start.ndim() == 0 && end.ndim() == 0 {
        return Ok(());
    }
    Err(Error::shape(
        op,
        format!(
            "{op} only supports 0-dimensional start and end tensors, but got start with {} dimension(s) and end with {} \
             dimension(s): take one element of each",
            start.ndim(),
            end.ndim()
        ),
    ))
}

/// `steps` numbers between two that tensors hold.
///
/// Args: `start`, `end` 0-dim tensors or numbers, whose values are read; the rest as above.
/// Returns: as above, without a gradient for the ends. Raises: RuntimeError for ends with dims.
///
/// >>> rg.linspace(rg.tensor(0.0), 1, 3).tolist()
/// [0.0, 0.5, 1.0]
#[op(function, out, name = "linspace")]
pub fn linspace_tensors(
    #[operand] start: &Tensor,
    #[operand] end: &Tensor,
    steps: i64,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    check_ends("linspace", start, end)?;
    linspace(start.item()?, end.item()?, steps, options)
}

/// The identity matrix, or its first `m` columns.
///
/// Args: `n` rows; `m` columns (`n`); `dtype` (the default float dtype).
/// Returns: an `(n, m)` tensor. Raises: RuntimeError if a size is negative.
///
/// >>> rg.eye(2).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[op(function, out, "(m=None)")]
pub fn eye(n: i64, m: Option<i64>, #[options] options: TensorOptions) -> Result<Tensor> {
    let dtype = options.float_dtype("eye")?;
    let size = |name: &str, n: i64| {
        usize::try_from(n).map_err(|_| Error::shape("eye", format!("{name} must be greater or equal to 0, got {n}")))
    };
    let (rows, columns) = (size("n", n)?, size("m", m.unwrap_or(n))?);
    let t = Tensor::zeros(&[rows, columns], dtype)?;
    match_dtype!(any, dtype, T => {
        for i in 0..rows.min(columns) {
            // SAFETY: S1 to S3: a contiguous place inside `rows` by `columns`; nobody else has the storage yet.
            unsafe { *t.ptr::<T>().add(i * columns + i) = T::from_scalar(Scalar::Int(1)) };
        }
    });
    options.leaf(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(a: Scalar, b: Scalar, s: Scalar, options: TensorOptions) -> Result<Vec<f64>> {
        arange(a, b, s, options)?.to_vec::<f64>()
    }

    #[test]
    fn long_ones_are_as_one_by_one() {
        use Scalar::{Float, Int};
        for n in [0, 1, 2, 3, 1023, 1024, 1025, 2049, 5000] {
            let t = spaced(DType::Float32, [Float(-1.3), Float(2.7)], n).unwrap().to_vec::<f32>().unwrap();
            let (a, b) = (-1.3f32, 2.7f32);
            let step = (b - a) / (n as f32 - 1.0);
            let want = |i: usize| if i < n / 2 { a + step * i as f32 } else { b - step * (n - 1 - i) as f32 };
            assert!(t.len() == n && (0..n).all(|i| t[i] == if n == 1 { a } else { want(i) }), "{n}");
            let t = spaced(DType::Float64, [Int(0), Int(n as i64 - 1)], n).unwrap().to_vec::<f64>().unwrap();
            assert!((0..n).all(|i| t[i] == i as f64));
            let t = spaced(DType::Int32, [Int(0), Int(n as i64 - 1)], n).unwrap().to_vec::<i64>().unwrap();
            assert!((0..n).all(|i| t[i] == i as i64));
            let (end, usual) = (Int(3 * n as i64), TensorOptions::default());
            let t = arange(Int(0), end, Int(3), usual).unwrap().to_vec::<i64>().unwrap();
            assert!(t.len() == n && (0..n).all(|i| t[i] == 3 * i as i64));
            let t = arange(Int(0), end, Float(3.0), usual).unwrap().to_vec::<f64>().unwrap();
            assert!(t.len() == n && (0..n).all(|i| t[i] == 3.0 * i as f64));
            let t = arange(Int(0), end, Int(3), DType::UInt8.into()).unwrap().to_vec::<i64>().unwrap();
            assert!((0..n).all(|i| t[i] == (3 * i % 256) as i64));
        }
    }

    #[test]
    fn ranges() {
        use Scalar::{Float, Int};
        let usual = TensorOptions::default();
        assert_eq!(range(Int(5), Int(0), Int(-2), usual).unwrap(), [5.0, 3.0, 1.0]);
        assert_eq!(range(Int(1), Float(2.5), Float(0.5), usual).unwrap(), [1.0, 1.5, 2.0]);
        assert_eq!(range(Float(0.0), Float(2.6), Int(1), DType::Int64.into()).unwrap(), [0.0, 1.0]);
        assert_eq!(range(Int(0), Int(10), Int(1 << 62), usual).unwrap(), [0.0]);
        assert_eq!(range(Int(3), Int(3), Int(-1), usual).unwrap(), [0.0; 0]);
        for (a, b, s) in [
            (Int(1), Int(5), Int(-1)),
            (Int(0), Int(5), Int(0)),
            (Int(0), Float(f64::NAN), Int(1)),
            (Int(0), Float(f64::INFINITY), Int(1)),
            (Int(0), Float(1e20), Int(1)),
            (Int(0), Int(i64::MAX), Int(1)),
            (Int(i64::MIN), Int(i64::MAX), Int(1)),
        ] {
            assert!(range(a, b, s, usual).is_err(), "{a:?} {b:?} {s:?}");
        }
        assert!(range(Int(0), Int(2), Int(1), DType::Bool.into()).is_err());
        assert!(arange(Int(0), Int(2), Int(1), usual.requires_grad(true)).is_err());
    }

    #[test]
    fn spaces_and_identity() {
        let usual = TensorOptions::default();
        let space = |a: i64, b: i64, n, options| linspace(Scalar::Int(a), Scalar::Int(b), n, options)?.to_vec::<f64>();
        assert_eq!(space(0, 1, 5, usual).unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(space(0, 1, 1, usual).unwrap(), [0.0]);
        assert_eq!(space(0, 10, 5, DType::Int64.into()).unwrap(), [0.0, 2.0, 5.0, 7.0, 10.0]);
        assert_eq!(space(3, 10, 4, DType::Int32.into()).unwrap(), [3.0, 5.0, 7.0, 10.0]);
        assert!(space(0, 1, -1, usual).is_err());
        let i = eye(2, Some(3), usual).unwrap();
        assert_eq!(i.to_vec::<f32>().unwrap(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(eye(-1, None, usual).is_err());
    }
}
