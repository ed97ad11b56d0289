//! The five programs, and what a crate says to each.

/// What is timed.
pub trait Program {
    /// Runs it once.
    fn step(&mut self);
    /// Runs it, from its start, and returns what it computes, which is the same for all crates.
    fn result(&mut self) -> Vec<f64>;
}

/// Makes a program, or says why the crate has no way to write it.
pub type Make = fn() -> Result<Box<dyn Program>, &'static str>;

/// A crate, and how it writes the programs, in the order of [`NAMES`].
pub struct Crate {
    pub name: &'static str,
    pub programs: [Make; NAMES.len()],
}

pub const NAMES: [&str; 5] = [
    "MLP step, batch 32, hidden 64, SGD",
    "CNN step, 16 images of 28x28, SGD",
    "chain of 100 products of 4 floats, both ways",
    "Jacobian of tanh(W x), 16 inputs",
    "gradient of a Gaussian process's likelihood, 50 samples",
];
