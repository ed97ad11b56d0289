//! Loops on tensors whose body stands behind a pointer: one of scalars, which is compiled once and not for each
//! instruction set, or one over slices that chooses its instructions itself; and the unary functions that they run.

use num_complex::Complex;

use super::promote::{Lanes, Numeric2};
use super::unary::{Map, Pass, Unary, with_complex};
use crate::autograd::primitive::{Halves, Save};
use crate::error::Result;
use crate::kernels::complex::C;
use crate::kernels::pointwise::{Map2, RunBody, each, in_double, map2, runs};
use crate::kernels::simd::SimdElement;
use crate::tensor::copy::operand;
use crate::tensor::dtype::undeclared;
use crate::tensor::{DType, Dtypes, Element, Tensor, layout};

/// A loop over operands of the dtype of `out`, float32, float64 or halves, that broadcast to its sizes; with halves,
/// one may be a float32 of one element. `out` is fresh or one of the operands.
pub(crate) fn run_scalar_loop<const N: usize>(
    xs: [&Tensor; N],
    out: &Tensor,
    f32: RunBody<f32, N>,
    f64: RunBody<f64, N>,
) {
    match out.dtype() {
        DType::Float32 | DType::Float16 | DType::BFloat16 => run(xs, out, f32),
        DType::Float64 => run(xs, out, f64),
        other => undeclared(other),
    }
}

/// `T` is the element of `out`, or float32 for halves.
fn run<T: Element, const N: usize>(xs: [&Tensor; N], out: &Tensor, f: RunBody<T, N>) {
    let sizes = out.sizes();
    let strides = xs.map(|x| layout::expanded_strides(x.sizes(), x.strides(), sizes));
    let inputs = std::array::from_fn(|k| operand(xs[k], &strides[k]));
    // SAFETY: (1) S1, S3 and the expansion to the sizes of the output; (2) the output is fresh or an operand itself;
    // (3) targets do not overlap themselves.
    unsafe { runs(f, sizes, inputs, operand(out, out.strides())) };
}

/// [`run_scalar_loop`] of a function in double precision, which serves float32 too.
pub(super) fn run_in_double<const N: usize>(xs: [&Tensor; N], out: &Tensor, f: &(dyn Fn([f64; N]) -> f64 + Sync)) {
    run_scalar_loop(xs, out, &|xs, out| each(xs, out, |x: [f32; N]| f(x.map(f64::from)) as f32), &|xs, out| {
        each(xs, out, f);
    });
}

/// As [`run_in_double`], of a function over blocks: those of float32 are converted piece by piece.
pub(super) fn run_blocks<const N: usize>(xs: [&Tensor; N], out: &Tensor, f: RunBody<f64, N>) {
    run_scalar_loop(xs, out, &|xs, out| in_double(f, xs, out), f);
}

/// As [`run_in_double`], of a body in vectors of float32 or float64.
pub(crate) fn run_lanes<K: Numeric2<Lanes>>([a, b]: [&Tensor; 2], out: &Tensor, k: &K) {
    // SAFETY: (1) the operands have the dtype of the output and broadcast to its sizes; (2) the output is fresh or one
    // of them; (3) targets do not overlap themselves.
    unsafe { Numeric2::<Lanes>::run(k, a, b, out) }
}

/// A loop over two operands that broadcast to the sizes of `out`, which is fresh.
///
/// # Panics
/// If the tensors do not have the dtypes of `f`.
pub(super) fn run_pairs<T: Element + SimdElement, O: Element>(
    [a, b]: [&Tensor; 2],
    out: &Tensor,
    f: &impl Map2<T, T, O>,
) {
    assert!([a.dtype(), b.dtype(), out.dtype()] == [T::DTYPE, T::DTYPE, O::DTYPE], "the dtypes of the loop");
    let sizes = out.sizes();
    let strides = |x: &Tensor| layout::expanded_strides(x.sizes(), x.strides(), sizes);
    let (pa, pb) = (a.ptr::<T>().cast_const(), b.ptr::<T>().cast_const());
    // SAFETY: (1) S1, S3 and the expansion of both operands to `sizes`; (2) the result is fresh; (3) so it does not
    // overlap itself.
    unsafe { map2(f, sizes, pa, &strides(a), pb, &strides(b), out.ptr::<O>(), out.strides()) };
}

/// As [`run_in_double`], of a function of complex numbers.
pub(super) fn run_in_complex<const N: usize>(xs: [&Tensor; N], out: &Tensor, f: &(dyn Fn([C; N]) -> C + Sync)) {
    type Single = Complex<f32>;
    match out.dtype() {
        DType::Complex64 => run(xs, out, &|xs, out| {
            each(xs, out, |x: [Single; N]| {
                let y = f(x.map(|x| C::new(x.re.into(), x.im.into())));
                Single::new(y.re as f32, y.im as f32)
            });
        }),
        DType::Complex128 => run(xs, out, &|xs, out| each(xs, out, f)),
        other => undeclared(other),
    }
}

/// A unary function of real numbers and its derivative. All of them share what an op is made of, so that one costs no
/// code but its own.
#[derive(Debug)]
pub struct UnaryFunction {
    pub name: &'static str,
    pub node: &'static str,
    /// As [`Unary::kernel`], for float32 and float64.
    pub kernel: fn(Pass) -> Result<()>,
    /// It takes halves, as torch's does.
    pub halves: bool,
    /// Of complex numbers, where the op is there for them.
    pub of_complex: Option<fn(C) -> C>,
    /// As [`Unary::vjp`].
    pub vjp: fn(&Tensor, &Tensor) -> Result<Tensor>,
}

/// A [`UnaryFunction`] as a [`Unary`], with what its derivative is written in: `1`, the operand; `2`, the result; `0`,
/// neither.
#[derive(Clone, Copy, Debug)]
pub struct UnaryLoop<const SAVED: u8>(&'static UnaryFunction);

/// A function whose derivative is written in the operand.
pub fn of_self(function: &'static UnaryFunction) -> Map<UnaryLoop<1>> {
    Map(UnaryLoop(function))
}

/// A function whose derivative is written in the result.
pub fn of_result(function: &'static UnaryFunction) -> Map<UnaryLoop<2>> {
    Map(UnaryLoop(function))
}

/// A function whose derivative is constant.
pub fn of_neither(function: &'static UnaryFunction) -> Map<UnaryLoop<0>> {
    Map(UnaryLoop(function))
}

impl<const SAVED: u8> Unary for UnaryLoop<SAVED> {
    const NAME: &'static str = "pointwise";
    const SAVE: &'static [Save] = match SAVED {
        1 => &[Save::input(0, "self")],
        2 => &[Save::output(0, "result")],
        _ => &[],
    };
    fn node(&self) -> &'static str {
        self.0.node
    }
    const HALVES: Halves = Halves::LoopsAlone;
    // Of a function that is there for complex numbers.
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    fn dtypes(&self) -> Dtypes {
        let reals = if self.0.halves { Dtypes::FLOATS.or(Dtypes::HALVES) } else { Dtypes::FLOATS };
        with_complex(reals, self.0.of_complex)
    }
    fn of_complex(&self) -> Option<fn(C) -> C> {
        self.0.of_complex
    }
    fn kernel_name(&self) -> &'static str {
        self.0.name
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        (self.0.kernel)(pass)
    }
    fn vjp(&self, g: &Tensor, saved: &Tensor) -> Result<Tensor> {
        (self.0.vjp)(g, saved)
    }
}
