//! Pointwise loops: a scalar body over one to three strided operands, compiled per instruction set.
//!
//! Contiguous operands go to the body's loop at once, through `for_isa`; other layouts through `walk`, which makes
//! contiguous pieces of them and is shared by all bodies. So a body is compiled for contiguous elements only, per dtype
//! and instruction set.
//!
//! Aliasing. The output may be an input, element for element. The compiler would answer the run-time overlap test of a
//! vector loop by its scalar fallback, so the cases are distinguished here: either the pointers differ, and then the
//! duties make the memory disjoint and the loop takes slices; or the output *is* the first operand, and the loop reads
//! and writes through one pointer, which vectorises without a test; or the walk copies the aliased operand.

mod cast;
mod copy;
mod halves;
mod in_rows;
mod map;
mod planar;
mod scalar_loop;
mod stream;
mod vectorized;
mod walk;

#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) use cast::bf16_of_f32;
pub use cast::{Cast, Convert, convert, convert_at};
pub(crate) use cast::{f16_of_f32, f32_of_bf16, f32_of_f16};
pub(crate) use copy::copy_block;
pub use copy::{copy_part, copy_run, copy_strided, copy_strided_at, copying, fill, join_rows, pick_rows, repeat};
pub use halves::{Half, convert_halves, narrow, widen};
pub use map::{
    map_halves1, map_halves2, map_halves3, map1, map1_at, map2, map2_at, map2_contiguous, map3, map3_at, walk1, walk2,
};
pub use planar::{Planar, magnitudes, planar1};
pub use scalar_loop::{RunBody, each, in_double, runs};
#[cfg(test)]
pub(crate) use vectorized::lanes_of_slices_at;
pub use vectorized::{Body, lanes_of_slices, lanes1, lanes1_at, lanes2, row, row_of, walk_lanes};
pub use walk::{Operand, write_out};

/// A scalar body; implementors mark `f` `#[inline(always)]` so that the loops vectorise it per instruction set. A loop
/// has a copy of it, which no store of results can change: what the body computes from its own numbers alone is
/// computed once.
pub trait Map1<A, O>: Copy + Sync {
    /// Whether the loop is compiled for every instruction set though that over other bodies is not.
    const WIDE: bool = false;
    /// Whether it takes no longer than its memory: then there are loops of it over rows and over halves too.
    const LIGHT: bool = false;
    /// The body.
    fn f(&self, a: A) -> O;
}

/// As [`Map1`], of two operands.
pub trait Map2<A, B, O>: Copy + Sync {
    /// Whether the loop is compiled for every instruction set though that over other bodies is not.
    const WIDE: bool = false;
    /// Whether it takes no longer than its memory: writing a broadcast operand out first, or halves as float32, would
    /// show, so that there are loops over rows, in which an operand may stay at one element, and over halves.
    const LIGHT: bool = false;
    /// The body.
    fn f(&self, a: A, b: B) -> O;
}

/// As [`Map1`], of three operands.
pub trait Map3<A, B, C, O>: Copy + Sync {
    /// As [`Map1::LIGHT`].
    const LIGHT: bool = false;
    /// The body.
    fn f(&self, a: A, b: B, c: C) -> O;
}

#[cfg(test)]
mod tests;
