//! Halves as float32 and back, for the walk and for whatever computes with halves: they are a storage type.

use std::mem::MaybeUninit;

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
    // SAFETY: (convert 1, 2) ours.
    unsafe {
        match half {
            Half::F16 => convert(n, a, o, |x| f32_of_f16(f16::from_bits(x))),
            Half::BF16 => convert(n, a, o, |x| f32_of_bf16(bf16::from_bits(x))),
        }
    }
}

/// `o[i] = a[i]` rounded to the nearest half, ties to even, for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
pub unsafe fn narrow(half: Half, n: usize, a: *const f32, o: *mut u16) {
    // SAFETY: (convert 1, 2) ours.
    unsafe {
        match half {
            Half::F16 => convert(n, a, o, |x| f16_of_f32(x).to_bits()),
            Half::BF16 => convert(n, a, o, |x| bf16_of_f32(x).to_bits()),
        }
    }
}

/// `o[i] = one(a[i])` for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
unsafe fn convert<A: Copy, O>(n: usize, a: *const A, o: *mut O, one: impl Fn(A) -> O) {
    // SAFETY: (Convert 1, 2) ours.
    unsafe { for_isa(InstructionSet::detect(), Convert { n, a, o, one }) }
}

/// Duties: those of [`convert`].
struct Convert<A, O, F> {
    n: usize,
    a: *const A,
    o: *mut O,
    one: F,
}

impl<A: Copy, O, F: Fn(A) -> O> Task for Convert<A, O, F> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: duties 1 and 2.
        let (a, o) = unsafe {
            (
                std::slice::from_raw_parts(self.a, self.n),
                std::slice::from_raw_parts_mut(self.o.cast::<MaybeUninit<O>>(), self.n),
            )
        };
        for i in 0..a.len() {
            o[i].write((self.one)(a[i]));
        }
    }
}
