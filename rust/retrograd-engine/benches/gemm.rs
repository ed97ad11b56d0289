//! The matrix product over the shapes of `docs/gemm.md`, on one thread.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrograd_engine::kernels::matmul::{GemmScalar, gemm};

/// Rows, columns and terms.
const SHAPES: [(usize, usize, usize); 8] = [
    (16, 16, 16),
    (64, 64, 64),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (32, 64, 64),
    (64, 3136, 576),
    (1, 512, 512),
];

/// Whether A and whether B is stored transposed.
const LAYOUTS: [(&str, bool, bool); 3] = [("NN", false, false), ("NT", false, true), ("TN", true, false)];

fn products<T: GemmScalar>(criterion: &mut Criterion, name: &str, value: fn(usize) -> T) {
    let mut group = criterion.benchmark_group(name);
    // There are two dozen of each type, and they scatter little.
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for (m, n, k) in SHAPES {
        let (a, b): (Vec<T>, Vec<T>) = ((0..m * k).map(value).collect(), (0..k * n).map(value).collect());
        let mut c: Vec<T> = (0..m * n).map(value).collect();
        group.throughput(Throughput::Elements(2 * (m * n * k) as u64));
        for (layout, a_transposed, b_transposed) in LAYOUTS {
            let (a_rs, a_cs) = if a_transposed { (1, m as isize) } else { (k as isize, 1) };
            let (b_rs, b_cs) = if b_transposed { (1, k as isize) } else { (n as isize, 1) };
            let id = BenchmarkId::new(layout, format!("{m}x{k}x{n}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let (a, b, c) = (black_box(a.as_ptr()), black_box(b.as_ptr()), c.as_mut_ptr());
                    // SAFETY: (1), (2) The slices hold m * k, k * n and m * n initialised elements,
                    // and the strides are those of row-major or column-major matrices of these
                    // extents. (3) They are three vectors. (4) No other thread has them.
                    unsafe { gemm(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, false, c, n as isize, 1) }
                });
            });
        }
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    products::<f32>(criterion, "gemm f32", |i| (i % 17) as f32 / 17.0 - 0.5);
    products::<f64>(criterion, "gemm f64", |i| (i % 17) as f64 / 17.0 - 0.5);
}

criterion_group!(all, benches);
criterion_main!(all);
