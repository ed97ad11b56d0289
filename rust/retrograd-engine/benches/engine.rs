//! What an op costs besides its arithmetic, and how fast memory is read and written, on one thread.
//!
//! The same cases as in `benches/compare.py`, without Python: the difference between the two is what the binding costs.
//! Rows of `ndarray` are the baseline: the same arithmetic without graph, dtypes or threads.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::ArrayD;
use retrograd_engine::autograd::engine::{Backward, root, run};
use retrograd_engine::{DType, Tensor};

const CHAIN: usize = 100;

fn ones(len: usize) -> Tensor {
    Tensor::ones(&[len], DType::Float32).unwrap()
}

fn array(t: &Tensor) -> ArrayD<f32> {
    t.try_into().unwrap()
}

fn leaf(len: usize) -> Tensor {
    let x = ones(len);
    x.set_requires_grad(true).unwrap();
    x
}

fn chain(x: &Tensor, w: &Tensor) -> Tensor {
    (1..CHAIN).fold(x.mul(w).unwrap(), |y, _| y.mul(w).unwrap())
}

fn backward(y: &Tensor, g: &Tensor, retain_graph: bool) {
    let roots = vec![root(y, Some(g), 0).unwrap()];
    run(Backward { roots, retain_graph, create_graph: false, targets: Vec::new() }).unwrap();
}

/// Four floats, so that the time is dispatch, recording and the engine.
fn overhead(criterion: &mut Criterion) {
    let (a, b) = (ones(4), ones(4));
    criterion.bench_function("add, 4 floats, plain", |bencher| bencher.iter(|| black_box(&a).add(&b).unwrap()));

    let (c, d) = (array(&a), array(&b));
    criterion.bench_function("add, 4 floats, ndarray", |bencher| bencher.iter(|| black_box(&c) + &d));

    let x = leaf(4);
    criterion.bench_function("add, 4 floats, recorded", |bencher| bencher.iter(|| black_box(&x).add(&b).unwrap()));

    let mut group = criterion.benchmark_group("chain of 100 mul");
    group.throughput(Throughput::Elements(CHAIN as u64));
    group.bench_function("forward", |bencher| bencher.iter(|| chain(&x, &b)));
    let y = chain(&x, &b);
    group.bench_function("backward", |bencher| bencher.iter(|| backward(&y, &a, true)));
    group.bench_function("forward and backward", |bencher| {
        bencher.iter(|| {
            x.set_grad(None).unwrap();
            backward(&chain(&x, &b), &a, false);
        });
    });
    group.finish();
}

/// Larger than the caches, so that the time is memory.
fn bandwidth(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("f32");
    group.sample_size(20);

    let (a, b) = (ones(10_000_000), ones(10_000_000));
    group.throughput(Throughput::Bytes(3 * a.nbytes() as u64));
    group.bench_function("add, 10M, fresh output", |bencher| bencher.iter(|| black_box(&a).add(&b).unwrap()));
    let (c, d) = (array(&a), array(&b));
    group.bench_function("add, 10M, fresh output, ndarray", |bencher| bencher.iter(|| black_box(&c) + &d));
    drop((c, d));

    let x = ones(4_000_000);
    group.throughput(Throughput::Bytes(x.nbytes() as u64));
    group.bench_function("sum, 4M", |bencher| bencher.iter(|| black_box(&x).sum(None).unwrap()));
    let x = array(&x);
    group.bench_function("sum, 4M, ndarray", |bencher| bencher.iter(|| black_box(&x).sum()));
    group.finish();
}

criterion_group!(all, overhead, bandwidth);
criterion_main!(all);
