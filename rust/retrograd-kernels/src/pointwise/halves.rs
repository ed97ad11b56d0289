//! Halves as float32 and back, for the walk and for whatever computes with halves: they are a storage type.

use half::{bf16, f16};

use super::super::simd::{InstructionSet, Isa, Task, for_isa};
use super::cast::{bf16_of_f32, f16_of_f32, f32_of_bf16, f32_of_f16};

/// A format of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// IEEE half precision.
    F16,
    /// The upper half of a float32.
    BF16,
}

/// `o[i] = a[i]` as float32, exactly, for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
pub unsafe fn widen(half: Half, n: usize, a: *const u16, o: *mut f32) {
    // SAFETY: (Widen 1, 2) ours.
    unsafe { for_isa(InstructionSet::detect(), Widen { half, n, a, o }) }
}

/// `o[i] = a[i]` rounded to the nearest half, ties to even, for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
pub unsafe fn narrow(half: Half, n: usize, a: *const f32, o: *mut u16) {
    // SAFETY: (Narrow 1, 2) ours.
    unsafe { for_isa(InstructionSet::detect(), Narrow { half, n, a, o }) }
}

/// Duties: those of [`widen`].
struct Widen {
    half: Half,
    n: usize,
    a: *const u16,
    o: *mut f32,
}

impl Task for Widen {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: duties 1 and 2.
        let (a, o) = unsafe {
            (
                std::slice::from_raw_parts(self.a, self.n),
                std::slice::from_raw_parts_mut(self.o.cast::<std::mem::MaybeUninit<f32>>(), self.n),
            )
        };
        match self.half {
            Half::F16 => {
                for i in 0..a.len() {
                    o[i].write(f32_of_f16(f16::from_bits(a[i])));
                }
            }
            Half::BF16 => {
                for i in 0..a.len() {
                    o[i].write(f32_of_bf16(bf16::from_bits(a[i])));
                }
            }
        }
    }
}

/// Duties: those of [`narrow`].
struct Narrow {
    half: Half,
    n: usize,
    a: *const f32,
    o: *mut u16,
}

impl Task for Narrow {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: duties 1 and 2.
        let (a, o) = unsafe {
            (
                std::slice::from_raw_parts(self.a, self.n),
                std::slice::from_raw_parts_mut(self.o.cast::<std::mem::MaybeUninit<u16>>(), self.n),
            )
        };
        match self.half {
            Half::F16 => {
                for i in 0..a.len() {
                    o[i].write(f16_of_f32(a[i]).to_bits());
                }
            }
            Half::BF16 => {
                for i in 0..a.len() {
                    o[i].write(bf16_of_f32(a[i]).to_bits());
                }
            }
        }
    }
}
