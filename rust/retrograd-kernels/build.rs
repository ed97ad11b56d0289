//! Says whether loops are compiled for each instruction set, or for the baseline alone.
//!
//! Without optimisation nothing is vectorised, so a build at `opt-level = 0` has the baseline alone: half the code to
//! compile. Tests of the other levels set `RETROGRAD_ALL_LEVELS=1`.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RETROGRAD_ALL_LEVELS");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("OPT_LEVEL", "0") && !is("RETROGRAD_ALL_LEVELS", "1") {
        println!("cargo::rustc-cfg=one_level");
    }
}
