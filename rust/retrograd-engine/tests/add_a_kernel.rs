//! The worked example of CONTRIBUTING.md, "Add a kernel": a scalar body, run by the shared loops.

use retrograd_engine::kernels::pointwise::{Map2, map2};
use retrograd_engine::kernels::real::Real;
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::testing::noise;
use retrograd_engine::{DType, Tensor};

// [example: kernel]
/// The length of the vector `(a, b)`.
#[derive(Clone, Copy, Debug)]
pub struct Length;

impl<T: Real> Map2<T, T, T> for Length {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.mul(a).add(b.mul(b)).sqrt()
    }
}

/// `out[..] = length(a[..], b[..])` for float64 tensors of one shape, of which `out` is fresh.
pub fn length(a: &Tensor, b: &Tensor, out: &Tensor) {
    // While this thread reads, nobody takes the memory away, and sizes are those of the memory.
    let reading = reading();
    assert!([a, b, out].iter().all(|t| t.dtype() == DType::Float64 && t.sizes() == out.sizes()));
    let [x, y, z] = [a, b, out].map(|t| t.data_ptr(&reading).cast::<f64>());
    // SAFETY: (1) S1, S3 and R1, equal sizes and dtypes; (2) and (3) `out` is fresh.
    unsafe { map2(&Length, out.sizes(), x, a.strides(), y, b.strides(), z, out.strides()) };
}
// [end]

#[test]
fn the_kernel_equals_a_plain_loop_on_ugly_sizes() {
    for n in [0, 1, 7, 8, 9, 33, 1000] {
        let (a, b) = (noise(1, &[n, 3]), noise(2, &[3, n]));
        let b = b.transpose(0, 1).unwrap();
        let out = Tensor::empty(&[n, 3], DType::Float64).unwrap();
        length(&a, &b, &out);
        let (x, y) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
        let want: Vec<f64> = x.iter().zip(&y).map(|(x, y)| (x * x + y * y).sqrt()).collect();
        assert_eq!(out.to_vec::<f64>().unwrap(), want);
    }
}

#[test]
fn the_document_shows_this_file() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../CONTRIBUTING.md")).unwrap();
    let source = include_str!("add_a_kernel.rs");
    let shown = source.split("// [example: kernel]\n").nth(1).unwrap().split("// [end]").next().unwrap();
    assert!(document.contains(shown.trim()), "CONTRIBUTING.md does not show the kernel as it is here");
}
