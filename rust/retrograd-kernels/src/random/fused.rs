//! Code with fused multiply-adds, run with the instruction where the CPU has it.
//!
//! `mul_add` rounds once everywhere, so the numbers are the same on every CPU; without the instruction each is a
//! function call (measured for a million normal numbers in f32: 46 ns an element against 2).

use super::super::simd::{InstructionSet, Isa, Task, for_isa};

/// Work with `mul_add`. Implementors mark `run` `#[inline(always)]`: what is not inlined where the instruction is known
/// to be there calls the function.
pub(super) trait Fused {
    fn run(self);
}

/// Runs `work`, compiled for the instructions of this CPU.
pub(super) fn fused(work: impl Fused) {
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Work(work)) }
}

/// No duties.
struct Work<W>(W);

impl<W: Fused> Task for Work<W> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        self.0.run();
    }
}
