//! Loops over memory, and the pools of threads and of memory that they use. Nothing in this crate depends on tensors.
//!
//! A kernel gets pointers, sizes and strides in elements; its caller is responsible for them (`# Safety` sections
//! number the duties). [`simd`] picks the instruction set at run time, [`parallel`] divides long work among threads,
//! [`memory`] allocates buffers that were used before.

pub mod attention;
pub mod bits;
pub mod columns;
pub mod complex;
pub mod conv;
pub mod cross;
pub mod ctc;
pub mod distance;
pub mod fft;
pub mod finite;
pub mod grid;
pub mod lstm;
pub mod math;
pub mod matmul;
pub mod memory;
#[cfg(test)]
mod naive;
pub mod norm;
pub mod optim;
pub mod parallel;
pub mod pointwise;
pub mod pool;
pub mod positions;
pub mod random;
pub mod real;
pub mod reduce;
pub mod resample;
pub mod row_sums;
pub mod rows;
pub mod simd;
pub mod sort;
pub mod special;
pub mod strided;
mod sync;
pub mod testing;
pub mod thread_values;
pub mod thresholds;
pub mod truth;
pub mod windows;

pub use memory::OutOfMemory;

/// The result of a kernel that allocates memory.
pub type Result<T, E = OutOfMemory> = std::result::Result<T, E>;
