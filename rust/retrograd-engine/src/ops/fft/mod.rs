//! Fourier transforms.

pub mod lines;
pub mod primitives;
pub mod short_time;

use retrograd_macros::op;

pub use primitives::Norm;
use primitives::{C2C, C2R, R2C};
pub use short_time::{istft, stft};

use crate::autograd::apply::apply1;
use crate::error::{Error, Result};
use crate::ops::Entry;
use crate::ops::memory::cast;
use crate::ops::nn::image::constant_pad_nd;
use crate::ops::pointwise::complex::conj_physical;
use crate::ops::view::conj;
use crate::ops::view::roll;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Tensor, default_dtype};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &FFT,
    &IFFT,
    &RFFT,
    &IRFFT,
    &HFFT,
    &IHFFT,
    &FFT2,
    &IFFT2,
    &RFFT2,
    &IRFFT2,
    &HFFT2,
    &IHFFT2,
    &FFTN,
    &IFFTN,
    &RFFTN,
    &IRFFTN,
    &HFFTN,
    &IHFFTN,
    &FFTSHIFT,
    &IFFTSHIFT,
    &short_time::STFT,
    &short_time::ISTFT,
];

/// Numbers as a transform takes them: float32, float64 and their complex numbers. Integers become numbers of the
/// default dtype, and real ones complex if `complex`.
fn promoted(op: &'static str, x: &Tensor, complex: bool) -> Result<Tensor> {
    let dtype = x.dtype();
    let dtype = if dtype.is_differentiable() { dtype } else { default_dtype() };
    if !matches!(dtype.real().size(), 4 | 8) {
        return Err(Error::dtype(op, format!("Unsupported dtype {}", dtype.scalar_type_name())));
    }
    cast(x, if complex { dtype.complex() } else { dtype })
}

/// What divides the sums, by the name of a mode.
fn norm_of(op: &'static str, mode: Option<&str>, forward: bool) -> Result<Norm> {
    match (mode.unwrap_or("backward"), forward) {
        ("backward", true) | ("forward", false) => Ok(Norm::None),
        ("backward", false) | ("forward", true) => Ok(Norm::N),
        ("ortho", _) => Ok(Norm::RootN),
        (other, _) => Err(Error::shape(
            op,
            format!("Invalid normalization mode: \"{other}\": the modes are \"forward\", \"backward\" and \"ortho\""),
        )),
    }
}

/// An axis, counted from either end.
fn axis(op: &'static str, x: &Tensor, dim: i64) -> Result<usize> {
    if x.ndim() == 0 {
        return Err(Error::index(op, format!("Dimension specified as {dim} but tensor has no dimensions")));
    }
    wrap_dim(op, dim, x.ndim())
}

/// The number of points of a transform.
fn points(op: &'static str, n: i64) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(Error::shape(op, format!("Invalid number of data points ({n}) specified: it must be at least 1"))),
    }
}

/// `x` with these sizes along axes: cut at their ends, or filled up with zeros.
fn resized(x: &Tensor, dims: &[usize], sizes: &[usize]) -> Result<Tensor> {
    let (mut x, mut pad) = (x.clone(), vec![0; 2 * x.ndim()]);
    for (&dim, &size) in dims.iter().zip(sizes) {
        let have = x.sizes()[dim];
        if have > size {
            x = x.slice(dim as i64, Some(0), Some(size as i64), 1)?;
        }
        pad[2 * (x.ndim() - 1 - dim) + 1] = size.saturating_sub(have) as i64;
    }
    if pad.iter().all(|&p| p == 0) { Ok(x) } else { constant_pad_nd(&x, &pad, 0i64.into()) }
}

/// One axis, and as many points as `n` says, by default `have` points.
fn one_axis(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    have: impl Fn(i64) -> i64,
) -> Result<(Dims, usize)> {
    let dim = axis(op, x, dim)?;
    let n = points(op, n.unwrap_or_else(|| have(x.sizes()[dim] as i64)))?;
    Ok((Dims::from_slice(&[dim]), n))
}

fn refuse_complex(op: &'static str, x: &Tensor, real: &str) -> Result<()> {
    if x.dtype().is_complex() {
        let detail = format!("{op} expects a {real} input tensor, but got {}", x.dtype().scalar_type_name());
        return Err(Error::dtype(op, detail));
    }
    Ok(())
}

/// The transform of real numbers along one axis, or for the inverse the conjugates of it.
fn of_real(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
    forward: bool,
    onesided: bool,
) -> Result<Tensor> {
    refuse_complex(op, x, "real")?;
    let x = promoted(op, x, false)?;
    let (dims, n) = one_axis(op, &x, n, dim, |have| have)?;
    let x = resized(&x, &dims, &[n])?;
    let y = apply1(R2C { dims, norm: norm_of(op, norm, forward)?, onesided, adjoint: false }, &[&x])?;
    if forward { Ok(y) } else { conj(&y) }
}

/// The transform along one axis.
fn of_any(op: &'static str, x: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>, forward: bool) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return of_real(op, x, n, dim, norm, forward, false);
    }
    let x = promoted(op, x, true)?;
    let (dims, n) = one_axis(op, &x, n, dim, |have| have)?;
    let x = resized(&x, &dims, &[n])?;
    apply1(C2C { dims, norm: norm_of(op, norm, forward)?, forward }, &[&x])
}

/// Real numbers of the half of their spectrum along one axis.
fn of_half(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
    forward: bool,
) -> Result<Tensor> {
    let x = promoted(op, x, true)?;
    let (dims, n) = one_axis(op, &x, n, dim, |have| 2 * (have - 1))?;
    let x = resized(&x, &dims, &[n / 2 + 1])?;
    let norm = norm_of(op, norm, forward)?;
    let x = if forward { conj(&x)? } else { x };
    apply1(C2R { dims, norm, n, adjoint: false }, &[&x])
}

/// The axes, and the number of points along each.
fn axes(op: &'static str, x: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<(Dims, Dims)> {
    let refuse = |detail: String| Err(Error::shape(op, detail));
    let mut dims = dim.unwrap_or_default().iter().map(|&d| axis(op, x, d)).collect::<Result<Dims>>()?;
    if (1..dims.len()).any(|i| dims[..i].contains(&dims[i])) {
        return refuse(format!("FFT dims must be unique, got {:?}", dim.unwrap_or_default()));
    }
    if let Some(s) = s {
        if dim.is_some_and(|dim| dim.len() != s.len()) {
            let (dim, s) = (dim.unwrap_or_default(), s.len());
            let lengths = format!("dim has {} and s {s}", dim.len());
            return refuse(format!("When given, dim and shape arguments must have the same length: {lengths}"));
        }
        if s.len() > x.ndim() {
            let (s, ndim) = (s.len(), x.ndim());
            return refuse(format!("Got shape with {s} values but input tensor only has {ndim} dimensions."));
        }
    }
    if dim.is_none() {
        dims = (x.ndim() - s.map_or(x.ndim(), <[i64]>::len)..x.ndim()).collect();
    }
    let have = |i: usize| x.sizes()[dims[i]] as i64;
    let size = |i: usize| {
        points(op, s.map_or(-1, |s| s[i])).or_else(|e| match s.map(|s| s[i]) {
            None | Some(-1) => points(op, have(i)),
            Some(_) => Err(e),
        })
    };
    let sizes = (0..dims.len()).map(size).collect::<Result<Dims>>()?;
    Ok((dims, sizes))
}

/// As [`axes`], of which there must be one at least.
fn some_axes(op: &'static str, x: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<(Dims, Dims)> {
    let (dims, sizes) = axes(op, x, s, dim)?;
    if dims.is_empty() {
        return Err(Error::shape(op, format!("{op} must transform at least one axis")));
    }
    Ok((dims, sizes))
}

/// As [`some_axes`], for a half spectrum along the last of them, and the number of points that it stands for.
fn half_axes(op: &'static str, x: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<(Dims, Dims, usize)> {
    let (dims, mut sizes) = some_axes(op, x, s, dim)?;
    let last = dims.len() - 1;
    let n = match s {
        Some(s) if s[last] != -1 => sizes[last],
        _ => points(op, 2 * (x.sizes()[dims[last]] as i64 - 1))?,
    };
    sizes[last] = n / 2 + 1;
    Ok((dims, sizes, n))
}

type Shape<'a> = Option<&'a [i64]>;

fn whole_n(x: &Tensor, s: Shape, dim: Shape, norm: Option<&str>, forward: bool) -> Result<Tensor> {
    let op = if forward { "fftn" } else { "ifftn" };
    let (dims, sizes) = axes(op, x, s, dim)?;
    let x = resized(&promoted(op, x, true)?, &dims, &sizes)?;
    apply1(C2C { dims, norm: norm_of(op, norm, forward)?, forward }, &[&x])
}

fn rfft_n(x: &Tensor, s: Shape, dim: Shape, norm: Option<&str>) -> Result<Tensor> {
    let op = "rfftn";
    refuse_complex(op, x, "real-valued")?;
    let (dims, sizes) = some_axes(op, x, s, dim)?;
    let x = resized(&promoted(op, x, false)?, &dims, &sizes)?;
    apply1(R2C { dims, norm: norm_of(op, norm, true)?, onesided: true, adjoint: false }, &[&x])
}

fn irfft_n(x: &Tensor, s: Shape, dim: Shape, norm: Option<&str>) -> Result<Tensor> {
    let op = "irfftn";
    let (dims, sizes, n) = half_axes(op, x, s, dim)?;
    let x = resized(&promoted(op, x, true)?, &dims, &sizes)?;
    apply1(C2R { dims, norm: norm_of(op, norm, false)?, n, adjoint: false }, &[&x])
}

fn hfft_n(x: &Tensor, s: Shape, dim: Shape, norm: Option<&str>) -> Result<Tensor> {
    let op = "hfftn";
    let (mut dims, sizes, n) = half_axes(op, x, s, dim)?;
    let mut x = resized(&promoted(op, x, true)?, &dims, &sizes)?;
    let norm = norm_of(op, norm, true)?;
    let last = Dims::from_slice(&[dims.pop().expect("an axis")]);
    if !dims.is_empty() {
        x = apply1(C2C { dims, norm, forward: true }, &[&x])?;
    }
    apply1(C2R { dims: last, norm, n, adjoint: false }, &[&conj(&x)?])
}

fn ihfft_n(x: &Tensor, s: Shape, dim: Shape, norm: Option<&str>) -> Result<Tensor> {
    let op = "ihfftn";
    let (mut dims, sizes) = some_axes(op, x, s, dim)?;
    if x.dtype().is_complex() {
        let detail = format!("Only supports floating-point dtypes, but found: {}", x.dtype().scalar_type_name());
        return Err(Error::dtype(op, detail));
    }
    let x = resized(&promoted(op, x, false)?, &dims, &sizes)?;
    let norm = norm_of(op, norm, false)?;
    let last = Dims::from_slice(&[dims.pop().expect("an axis")]);
    let y = apply1(R2C { dims: last, norm, onesided: true, adjoint: false }, &[&x])?;
    if dims.is_empty() {
        return conj(&y);
    }
    apply1(C2C { dims, norm, forward: false }, &[&conj_physical(&y)?])
}

/// The discrete Fourier transform along an axis: `y[k] = sum of x[j] exp(-2 pi i j k / n)`.
///
/// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is more is
/// cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "forward", its root for
/// "ortho", nothing for "backward" (the default). Returns: a complex tensor. Derivative: the inverse transform of `g`,
/// not divided by `n`; of real numbers its real part. Raises: RuntimeError for fewer points than 1, another norm or
/// dtype; IndexError if the axis does not exist.
///
/// >>> rg.fft.fft(rg.tensor([1.0, 2.0, 3.0, 2.0])).real.tolist()
/// [8.0, -2.0, 0.0, -2.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("fft expects a complex output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn fft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_any("fft", input, n, dim, norm, true)
}

/// The inverse of `fft` along an axis: `y[k] = sum of x[j] exp(2 pi i j k / n) / n`.
///
/// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is more is
/// cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "backward" (the
/// default), its root for "ortho", nothing for "forward". Returns: a complex tensor. Derivative: the transform of `g`
/// divided by `n`; of real numbers its real part. Raises: RuntimeError for fewer points than 1, another norm or dtype;
/// IndexError if the axis does not exist.
///
/// >>> rg.fft.ifft(rg.tensor([8.0, -2.0, 0.0, -2.0])).real.tolist()
/// [1.0, 2.0, 3.0, 2.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("ifft expects a complex output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn ifft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_any("ifft", input, n, dim, norm, false)
}

/// The Fourier transform of real numbers along an axis, the first `n // 2 + 1` numbers of it: the others are their
/// conjugates, `y[n - k] = conj(y[k])`.
///
/// Args: `input` a real dtype but halves; integers are converted to the default float dtype; `n` points: what is more
/// is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "forward", its root
/// for "ortho", nothing for "backward" (the default). Returns: a complex tensor. Derivative: the real part of the
/// inverse transform of `g`, with zeros for what is left out, not divided by `n`. Raises: RuntimeError for fewer points
/// than 1, another norm or dtype; IndexError if the axis does not exist.
///
/// >>> rg.fft.rfft(rg.tensor([1.0, 2.0, 3.0, 2.0])).real.tolist()
/// [8.0, -2.0, 0.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("rfft expects a complex output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn rfft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_real("rfft", input, n, dim, norm, true, true)
}

/// The inverse of `rfft` along an axis: `n` real numbers of the first `n // 2 + 1` numbers of their transform. The
/// imaginary parts of those that symmetry makes real do not count.
///
/// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is more is
/// cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "backward" (the
/// default), its root for "ortho", nothing for "forward". Returns: a real tensor, by default of an even length, `2 (m -
/// 1)` for `m` numbers. Derivative: `rfft(g) / n`, doubled where a number stands for two of the spectrum. Raises:
/// RuntimeError for fewer points than 1, another norm or dtype; IndexError if the axis does not exist.
///
/// >>> rg.fft.irfft(rg.tensor([8.0, -2.0, 0.0])).tolist()
/// [1.0, 2.0, 3.0, 2.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("irfft expects a floating point output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn irfft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_half("irfft", input, n, dim, norm, false)
}

/// The Fourier transform along an axis of `n` numbers that are Hermitian, `x[n - j] = conj(x[j])`, given by the first
/// `n // 2 + 1` of them; it is real.
///
/// Args: `input` any dtype but halves; integers are converted to the default float dtype; `n` points: what is more is
/// cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "forward", its root for
/// "ortho", nothing for "backward" (the default). Returns: a real tensor, by default of an even length, `2 (m - 1)` for
/// `m` numbers. Derivative: `conj(rfft(g))`, doubled where a number stands for two. Raises: RuntimeError for fewer
/// points than 1, another norm or dtype; IndexError if the axis does not exist.
///
/// >>> rg.fft.hfft(rg.tensor([1.0, 2.0, 3.0])).tolist()
/// [8.0, -2.0, 0.0, -2.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("hfft expects a floating point output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn hfft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_half("hfft", input, n, dim, norm, true)
}

/// The inverse of `hfft` along an axis: the first `n // 2 + 1` of the Hermitian numbers whose transform is real.
///
/// Args: `input` a real dtype but halves; integers are converted to the default float dtype; `n` points: what is more
/// is cut off, what is missing is 0; `dim` the axis; `norm` what the sums are divided by, `n` for "backward" (the
/// default), its root for "ortho", nothing for "forward". Returns: a complex tensor. Derivative: the real part of the
/// transform of `g`, with zeros for what is left out, divided by `n`. Raises: RuntimeError for fewer points than 1,
/// another norm or dtype; IndexError if the axis does not exist.
///
/// >>> rg.fft.ihfft(rg.tensor([8.0, -2.0, 0.0, -2.0])).real.tolist()
/// [1.0, 2.0, 3.0]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("ihfft expects a complex output tensor, but got {Out}"),
    "(n=None, dim=-1, norm=None)"
)]
pub fn ihfft(input: &Tensor, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<Tensor> {
    of_real("ihfft", input, n, dim, norm, false, true)
}

/// The Fourier transform along two axes: `fft` along one after the other.
///
/// Args: as `fftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.fft2(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("fftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn fft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    whole_n(input, s, Some(dim), norm, true)
}

/// The inverse of `fft2`: `ifft` along two axes.
///
/// Args: as `ifftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.ifft2(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("fftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn ifft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    whole_n(input, s, Some(dim), norm, false)
}

/// The Fourier transform of real numbers along two axes: `rfft` along the last one, then `fft` along the others.
///
/// Args: as `rfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.rfft2(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("rfftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn rfft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    rfft_n(input, s, Some(dim), norm)
}

/// The inverse of `rfft2`: `ifft` along the first one, then `irfft` along the last one.
///
/// Args: as `irfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.irfft2(rg.ones(2, 2)).tolist()
/// [[1.0, 0.0], [0.0, 0.0]]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("irfftn expects a floating point output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn irfft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    irfft_n(input, s, Some(dim), norm)
}

/// The Fourier transform of Hermitian numbers along two axes: `fft` along the first one, then `hfft` along the last
/// one.
///
/// Args: as `hfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.hfft2(rg.ones(2, 2)).tolist()
/// [[4.0, 0.0], [0.0, 0.0]]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("hfftn expects a floating point output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn hfft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    hfft_n(input, s, Some(dim), norm)
}

/// The inverse of `hfft2`: `ihfft` along the last of two axes, then `ifft` along the others.
///
/// Args: as `ihfftn`, with `dim` the last two axes by default. Returns, derivative and errors: as there.
///
/// >>> rg.fft.ihfft2(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("ihfftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=(-2, -1), norm=None)"
)]
pub fn ihfft2(input: &Tensor, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<Tensor> {
    ihfft_n(input, s, Some(dim), norm)
}

/// The Fourier transform along several axes: `fft` along one after the other.
///
/// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off, what
/// is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "forward", its root for "ortho", nothing for "backward" (the default). Returns:
/// a complex tensor. Derivative: the inverse transform of `g`, not divided by the number of points. Raises:
/// RuntimeError for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
/// IndexError if an axis does not exist.
///
/// >>> rg.fft.fftn(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("fftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn fftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    whole_n(input, s, dim, norm, true)
}

/// The inverse of `fftn`: `ifft` along several axes.
///
/// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off, what
/// is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "backward" (the default), its root for "ortho", nothing for "forward". Returns:
/// a complex tensor. Derivative: the transform of `g`, divided by the number of points. Raises: RuntimeError for fewer
/// points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length; IndexError if an axis
/// does not exist.
///
/// >>> rg.fft.ifftn(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("fftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn ifftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    whole_n(input, s, dim, norm, false)
}

/// The Fourier transform of real numbers along several axes: `rfft` along the last one, then `fft` along the others.
///
/// Args: `input` a real dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off,
/// what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "forward", its root for "ortho", nothing for "backward" (the default). Returns:
/// a complex tensor, with `n // 2 + 1` numbers along the last of the axes. Derivative: the real part of the inverse
/// transform of `g`, with zeros for what is left out. Raises: RuntimeError for fewer points than 1, repeated axes,
/// another norm or dtype, or if `s` and `dim` differ in length; IndexError if an axis does not exist.
///
/// >>> rg.fft.rfftn(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("rfftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn rfftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    rfft_n(input, s, dim, norm)
}

/// The inverse of `rfftn`: `ifft` along all but the last one, then `irfft` along the last one.
///
/// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off, what
/// is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "backward" (the default), its root for "ortho", nothing for "forward". Returns:
/// a real tensor. Derivative: the `rfftn` of `g`, doubled where a number stands for two, divided by the number of
/// points. Raises: RuntimeError for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim`
/// differ in length; IndexError if an axis does not exist.
///
/// >>> rg.fft.irfftn(rg.ones(2, 2)).tolist()
/// [[1.0, 0.0], [0.0, 0.0]]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("irfftn expects a floating point output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn irfftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    irfft_n(input, s, dim, norm)
}

/// The Fourier transform of Hermitian numbers along several axes: `fft` along all but the last one, then `hfft` along
/// the last one.
///
/// Args: `input` any dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off, what
/// is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "forward", its root for "ortho", nothing for "backward" (the default). Returns:
/// a real tensor. Derivative: the conjugate of the `rfftn` of `g`, doubled where a number stands for two. Raises:
/// RuntimeError for fewer points than 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length;
/// IndexError if an axis does not exist.
///
/// >>> rg.fft.hfftn(rg.ones(2, 2)).tolist()
/// [[4.0, 0.0], [0.0, 0.0]]
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("hfftn expects a floating point output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn hfftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    hfft_n(input, s, dim, norm)
}

/// The inverse of `hfftn`: `ihfft` along the last of several axes, then `ifft` along the others.
///
/// Args: `input` a real dtype but halves; `s` the points along each axis, -1 for its length: what is more is cut off,
/// what is missing is 0; `dim` the axes, by default the last ones, as many as `s` has, or all; `norm` what the sums are
/// divided by: the number of points for "backward" (the default), its root for "ortho", nothing for "forward". Returns:
/// a complex tensor, with `n // 2 + 1` numbers along the last of the axes. Derivative: the real part of the transform
/// of `g`, with zeros for what is left out, divided by the number of points. Raises: RuntimeError for fewer points than
/// 1, repeated axes, another norm or dtype, or if `s` and `dim` differ in length; IndexError if an axis does not exist.
///
/// >>> rg.fft.ihfftn(rg.ones(2, 2)).shape
/// retrograd.Size([2, 2])
#[op(
    function,
    module = "fft",
    out = OutDtype::Category("ihfftn expects a complex output tensor, but got {Out}"),
    "(s=None, dim=None, norm=None)"
)]
pub fn ihfftn(input: &Tensor, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<Tensor> {
    ihfft_n(input, s, dim, norm)
}

/// As many places as each axis moves, by its length.
fn shifted(op: &'static str, x: &Tensor, dim: Option<&[i64]>, by: fn(i64) -> i64) -> Result<Tensor> {
    let dims: Vec<i64> = match dim {
        None => (0..x.ndim() as i64).collect(),
        Some(dim) => dim.iter().map(|&d| axis(op, x, d).map(|d| d as i64)).collect::<Result<_>>()?,
    };
    let shifts: Vec<i64> = dims.iter().map(|&d| by(x.sizes()[d as usize] as i64)).collect();
    roll(x, &shifts, Some(&dims))
}

/// A copy with the frequency 0 in the middle of each axis, where transforms have it in front.
///
/// Args: `input` any dtype; `dim` the axes, by default all. Returns: a tensor of the same shape. Derivative: `g` moved
/// back. Raises: IndexError if an axis does not exist; RuntimeError without axes.
///
/// >>> rg.fft.fftshift(rg.fft.fftfreq(4)).tolist()
/// [-0.5, -0.25, 0.0, 0.25]
#[op(function, module = "fft", "(dim=None)")]
pub fn fftshift(input: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
    shifted("fftshift", input, dim, |n| n / 2)
}

/// The inverse of `fftshift`: a copy with the middle of each axis in front.
///
/// Args: `input` any dtype; `dim` the axes, by default all. Returns: a tensor of the same shape. Derivative: `g` moved
/// back. Raises: as `fftshift`.
///
/// >>> rg.fft.ifftshift(rg.tensor([-0.5, -0.25, 0.0, 0.25])).tolist()
/// [0.0, 0.25, -0.5, -0.25]
#[op(function, module = "fft", "(dim=None)")]
pub fn ifftshift(input: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
    shifted("ifftshift", input, dim, |n| (n + 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for n in [1, 2, 5, 6] {
            gradcheck(&|x| rfft(&x[0], Some(n), 0, Some("ortho")), &[noise(1, &[4, 3])]);
            gradcheck(&|z| irfft(&z[0], Some(n), -1, None), &[complex_noise(2, &[2, 4])]);
            gradcheck(&|z| hfft(&z[0], Some(n), -1, None), &[complex_noise(3, &[4])]);
        }
        gradcheck(&|x| ifft(&x[0], None, -1, None), &[noise(4, &[2, 5])]);
        gradcheck(&|z| fft(&z[0], None, 0, None)?.mul(&z[0]), &[complex_noise(5, &[3, 2])]);
        gradcheck(&|x| rfftn(&x[0], None, None, None), &[noise(6, &[3, 2, 4])]);
        gradcheck(&|z| irfftn(&z[0], None, Some(&[2, 0]), None), &[complex_noise(7, &[3, 2, 3])]);
        gradcheck(&|x| ihfftn(&x[0], None, None, None), &[noise(8, &[3, 4])]);
    }

    #[test]
    fn sizes_and_axes_are_checked() {
        let x = noise(1, &[2, 3]);
        assert!(fft(&x, Some(0), -1, None).is_err() && fft(&x, None, 2, None).is_err());
        assert!(fftn(&x, None, Some(&[0, -2]), None).is_err() && fftn(&x, Some(&[2, 2, 2]), None, None).is_err());
        assert_eq!(fftn(&x, Some(&[4, -1]), None, None).unwrap().sizes(), [4, 3]);
        assert_eq!(irfftn(&x, None, None, None).unwrap().sizes(), [2, 4]);
    }
}
