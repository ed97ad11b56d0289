//! Pointwise loops: a scalar body over one to three strided operands, compiled per instruction set.
//!
//! [`map1`], [`map2`] and [`map3`] reorder and merge the axes (`strided`), then run two-dimensional tiles through
//! `dispatch`. Inside a tile there are few inner loops, since each is compiled for every body, dtype and instruction
//! set: all operands contiguous; one operand a constant; the output on top of the first operand. Any other row goes
//! through them in pieces of `STAGE` elements: strided inputs are gathered into, and a strided output scattered from,
//! arrays in L1 (the gathers are shared by all bodies). Short strided rows run element by element.
//!
//! Aliasing. The output may be an input, element for element. The compiler would answer the run-time overlap test of a
//! vector loop by its scalar fallback, so the cases are told apart here: either the pointers differ, and then the
//! duties make the memory disjoint and the loop takes slices; or the output *is* the first operand, and the loop reads
//! and writes through one pointer, which vectorises without a test; or the aliased operand is staged.

mod cast;
mod copy;
mod map;

pub use cast::{Cast, Convert, convert, convert_at};
pub use copy::{copy_strided, copy_strided_at, fill};
pub use map::{map1, map1_at, map1_contiguous, map2, map2_at, map2_contiguous, map3, map3_at, map3_contiguous};

/// A scalar body; implementors mark `f` `#[inline(always)]` so that the loops vectorise it per instruction set.
pub trait Map1<A, O> {
    /// The body.
    fn f(&self, a: A) -> O;
}

/// As [`Map1`], of two operands.
pub trait Map2<A, B, O> {
    /// The body.
    fn f(&self, a: A, b: B) -> O;
}

/// As [`Map1`], of three operands.
pub trait Map3<A, B, C, O> {
    /// The body.
    fn f(&self, a: A, b: B, c: C) -> O;
}

/// Elements per staged piece: three pieces of f64 and their output fill a quarter of a 32 KB L1.
const STAGE: usize = 256;

/// Strided rows shorter than this run element by element.
const SHORT: usize = 16;

#[cfg(test)]
mod tests;
