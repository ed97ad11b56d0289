//! The examples run.

#[path = "../examples/custom_op.rs"]
mod custom_op;
#[path = "../examples/digits.rs"]
mod digits;
#[path = "../examples/gp.rs"]
mod gp;
#[path = "../examples/gradcheck.rs"]
mod gradcheck;
#[path = "../examples/linear.rs"]
mod linear;
#[path = "../examples/mlp.rs"]
mod mlp;
#[path = "../examples/ndarray.rs"]
mod ndarrays;
#[path = "../examples/ode.rs"]
mod ode;
#[path = "../examples/threads.rs"]
mod threads;
#[path = "../examples/vmap.rs"]
mod vmap;

use std::sync::{Mutex, PoisonError};

/// They draw from the one generator of the process, so that only one runs at a time.
fn alone<T>(example: impl FnOnce() -> T) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    example()
}

macro_rules! run {
    ($($example:ident $name:ident),* $(,)?) => { $(
        #[test]
        fn $name() -> retrograd::Result<()> {
            alone($example::main)
        }
    )* };
}
run! {
    custom_op custom_op_runs, gp gp_runs, gradcheck gradcheck_runs, linear linear_runs, mlp mlp_runs,
    ndarrays ndarray_runs, ode ode_runs, threads threads_runs, vmap vmap_runs,
}

#[test]
fn digits_reach_97_percent() -> Result<(), Box<dyn std::error::Error>> {
    alone(digits::main)
}
