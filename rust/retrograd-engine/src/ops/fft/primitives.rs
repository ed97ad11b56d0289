//! The three transforms that have nodes: complex to complex, real to complex, complex to real.

use num_complex::Complex;
use retrograd_fft::{ComplexLines, HalfLines, Number, RealLines, long_plan};

use super::lines::{transform, transform_long};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::Result;
use crate::match_dtype;
use crate::ops::pointwise::complex::real_part;
use crate::tensor::copy;
use crate::tensor::{Dims, Dtypes, Element, Tensor};

/// What the sums of a transform of `n` numbers are divided by, with torch's numbers for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    None = 0,
    RootN = 1,
    N = 2,
}

impl Norm {
    fn scale(self, n: f64) -> f64 {
        match self {
            Norm::None => 1.0,
            Norm::RootN => 1.0 / n.sqrt(),
            Norm::N => 1.0 / n,
        }
    }
}

/// The number of points of a transform along `dims`.
fn points(sizes: &[usize], dims: &[usize]) -> f64 {
    dims.iter().map(|&d| sizes[d] as f64).product()
}

/// Axes of operands that have one more in front.
fn lifted(dims: &Dims) -> Dims {
    dims.iter().map(|d| d + 1).collect()
}

/// Transforms `result` along `dims`, of the numbers in `x`, which may be `result` itself.
///
/// # Safety
/// As [`transform`].
unsafe fn complex_passes<T: Number + Element>(
    x: &Tensor,
    result: &Tensor,
    dims: &[usize],
    inverse: bool,
    scale: f64,
) -> Result<()>
where
    Complex<T>: Element,
{
    let mut from = x;
    for (i, &dim) in dims.iter().rev().enumerate() {
        let (n, scale) = (result.sizes()[dim].max(1), if i == 0 { scale } else { 1.0 });
        let long = long_plan::<T>(n);
        // SAFETY: the caller's.
        unsafe {
            let done = match &long {
                Some(plan) => transform_long(plan, inverse, from, result, dim, scale)?,
                None => false,
            };
            if !done {
                transform(&ComplexLines::<T>::new(n, inverse), from, result, dim, scale)?;
            }
        }
        from = result;
    }
    Ok(())
}

/// Complex to complex. Reverse: the transform of `g` in the other direction.
#[derive(Clone, Debug)]
pub struct C2C {
    pub dims: Dims,
    pub norm: Norm,
    pub forward: bool,
}

impl Primitive for C2C {
    const NAME: &'static str = "_fft_c2c";
    const NODE: &'static str = "FftC2CBackward0";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::COMPLEX;
    const PARAMS: Params<Self> = params!(op; dim: &*op.dims, forward, normalization: op.norm as i64);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(Self { dims: lifted(&op.dims), ..op.clone() }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        if self.dims.is_empty() {
            return copy::row_major(x).map(out);
        }
        let result = Tensor::empty(x.sizes(), x.dtype())?;
        let scale = self.norm.scale(points(x.sizes(), &self.dims));
        match_dtype!(floats, x.dtype().real(), T => {
            // SAFETY: the result is fresh, of the sizes of `x`.
            unsafe { complex_passes::<T>(x, &result, &self.dims, !self.forward, scale)? }
        });
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(Self { forward: !self.forward, ..self.clone() }, &[cx.g()]).map(one)
    }
}

/// Real to complex: all of the last of `dims`, or the half that says everything. Reverse: the adjoint, the real part of
/// the inverse of the half, which is [`C2R`] with the numbers that have no mirrored one counted twice as much as the
/// others.
#[derive(Clone, Debug)]
pub struct R2C {
    pub dims: Dims,
    pub norm: Norm,
    pub onesided: bool,
    /// The adjoint of [`C2R`], in which numbers that have a mirrored one are doubled.
    pub adjoint: bool,
}

impl Primitive for R2C {
    const NAME: &'static str = "_fft_r2c";
    const NODE: &'static str = "FftR2CBackward0";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const PARAMS: Params<Self> = params!(op; dim: &*op.dims, normalization: op.norm as i64, onesided);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(Self { dims: lifted(&op.dims), ..op.clone() }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let (&last, others) = self.dims.split_last().expect("an axis");
        let n = x.sizes()[last];
        let mut sizes = Dims::from_slice(x.sizes());
        if self.onesided {
            sizes[last] = n / 2 + 1;
        }
        let result = Tensor::empty(&sizes, x.dtype().complex())?;
        let (ends, factor) = if self.adjoint { (0.5, 2.0) } else { (1.0, 1.0) };
        let scale = factor * self.norm.scale(points(x.sizes(), &self.dims));
        match_dtype!(floats, x.dtype(), T => {
            let lines = RealLines::<T>::new(n.max(1), !self.onesided, ends as T);
            // SAFETY: the result is fresh, with as many numbers along `last` as the lines have.
            unsafe {
                transform(&lines, x, &result, last, scale)?;
                complex_passes::<T>(&result, &result, others, false, 1.0)?;
            }
        });
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (dims, norm) = (self.dims.clone(), self.norm);
        if !self.onesided {
            return real_part(&apply1(C2C { dims, norm, forward: false }, &[cx.g()])?).map(one);
        }
        let n = cx.saved(0)?.sizes()[self.dims[self.dims.len() - 1]];
        apply1(C2R { dims, norm, n, adjoint: !self.adjoint }, &[cx.g()]).map(one)
    }
}

/// Complex to real: `n` numbers along the last of `dims` of the half of their spectrum. Reverse: the adjoint, [`R2C`]
/// with the numbers doubled that stand for two of the spectrum.
#[derive(Clone, Debug)]
pub struct C2R {
    pub dims: Dims,
    pub norm: Norm,
    pub n: usize,
    /// The adjoint of [`R2C`], in which numbers that have a mirrored one are halved.
    pub adjoint: bool,
}

impl Primitive for C2R {
    const NAME: &'static str = "_fft_c2r";
    const NODE: &'static str = "FftC2RBackward0";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::COMPLEX;
    const PARAMS: Params<Self> = params!(op; dim: &*op.dims, normalization: op.norm as i64);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(Self { dims: lifted(&op.dims), ..op.clone() }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let (&last, others) = self.dims.split_last().expect("an axis");
        let mut sizes = Dims::from_slice(x.sizes());
        sizes[last] = self.n;
        let result = Tensor::empty(&sizes, x.dtype().real())?;
        let (ends, factor) = if self.adjoint { (2.0, 0.5) } else { (1.0, 1.0) };
        let scale = factor * self.norm.scale(points(&sizes, &self.dims));
        let spectrum = if others.is_empty() { x.clone() } else { Tensor::empty(x.sizes(), x.dtype())? };
        match_dtype!(floats, result.dtype(), T => {
            let lines = HalfLines::<T>::new(self.n, ends as T);
            // SAFETY: both results are fresh, with as many numbers along the axes as their lines have.
            unsafe {
                complex_passes::<T>(x, &spectrum, others, true, 1.0)?;
                transform(&lines, &spectrum, &result, last, scale)?;
            }
        });
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (dims, norm) = (self.dims.clone(), self.norm);
        apply1(R2C { dims, norm, onesided: true, adjoint: !self.adjoint }, &[cx.g()]).map(one)
    }
}
