//! Warnings: the host language decides how they are shown; without one they go to stderr.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Result, spelled};

/// Receives warnings. It may turn one into an error.
pub type Sink = fn(&str) -> Result<()>;

static SINK: OnceLock<Sink> = OnceLock::new();
static SAID: AtomicU32 = AtomicU32::new(0);

/// Warnings that are given once per process.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Once {
    GradLayout = 1,
    CycleThroughGrad = 2,
    OldForm = 4,
    ChainMatmul = 8,
    ScatterReduce = 16,
    ListOfArrays = 32,
    SearchedValues = 64,
    SearchedSequence = 128,
    SearchedSorter = 256,
    Transposed = 512,
    TransposedNumber = 1024,
    ComplexToReal = 2048,
    WindowOfTransform = 1 << 16,
    PairsOfTransform = 1 << 17,
    WindowOfInverse = 1 << 18,
    LengthOfInverse = 1 << 19,
}

/// Registers the receiver; the first registration stays.
pub fn set_sink(sink: Sink) {
    let _ = SINK.set(sink);
}

/// Gives a warning.
pub fn warn(message: &str) -> Result<()> {
    let message = &*spelled(message);
    match SINK.get() {
        Some(sink) => sink(message),
        None => {
            eprintln!("warning: {message}");
            Ok(())
        }
    }
}

/// Gives a warning the first time only. Errors of the receiver are dropped: nothing went wrong in the op.
pub fn once(which: Once, message: &str) {
    let bit = which as u32;
    if SAID.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let _ = warn(message);
    }
}
