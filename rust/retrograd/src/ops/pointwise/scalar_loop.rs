//! Loops of ops that are called too seldom to be compiled for each instruction set, on tensors.

use crate::kernels::pointwise::{RunBody, each, runs};
use crate::tensor::dtype::undeclared;
use crate::tensor::{DType, Tensor, layout};

/// A loop over operands of the dtype of `out`, float32 or float64, that broadcast to its sizes. `out` is fresh or one
/// of the operands.
pub(crate) fn run_scalar_loop<const N: usize>(
    xs: [&Tensor; N],
    out: &Tensor,
    f32: RunBody<f32, N>,
    f64: RunBody<f64, N>,
) {
    let sizes = out.sizes();
    let strides = xs.map(|x| layout::expanded_strides(x.sizes(), x.strides(), sizes));
    let strides: [&[isize]; N] = std::array::from_fn(|k| &strides[k][..]);
    macro_rules! run {
        ($t:ty, $f:expr) => {{
            let inputs = xs.map(|x| x.ptr::<$t>().cast_const());
            // SAFETY: (1) S1, S3 and the expansion to the sizes of the output; (2) the output is fresh or an operand
            // itself; (3) targets do not overlap themselves.
            unsafe { runs($f, sizes, inputs, strides, out.ptr::<$t>(), out.strides()) };
        }};
    }
    match out.dtype() {
        DType::Float32 => run!(f32, f32),
        DType::Float64 => run!(f64, f64),
        other => undeclared(other),
    }
}

/// [`run_scalar_loop`] of a function in double precision, which serves float32 too.
pub(super) fn run_in_double<const N: usize>(xs: [&Tensor; N], out: &Tensor, f: &(dyn Fn([f64; N]) -> f64 + Sync)) {
    run_scalar_loop(xs, out, &|xs, out| each(xs, out, |x: [f32; N]| f(x.map(f64::from)) as f32), &|xs, out| {
        each(xs, out, f);
    });
}
