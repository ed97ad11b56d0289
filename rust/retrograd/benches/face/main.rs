//! What statements of programs in Rust cost: those that `benches/statements.py` has, and some for Rust alone.

use criterion::{Criterion, criterion_group, criterion_main};

mod statements;

fn all_of(criterion: &mut Criterion) {
    retrograd::set_num_threads(1);
    for (name, setup) in statements::STATEMENTS {
        let mut run = setup();
        criterion.bench_function(name, |bencher| bencher.iter(&mut run));
    }
}

criterion_group!(all, all_of);
criterion_main!(all);
