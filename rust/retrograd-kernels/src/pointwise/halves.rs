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
            #[cfg(target_arch = "x86_64")]
            Half::F16 if InstructionSet::detect() != InstructionSet::BASELINE => hardware::widen(n, a, o),
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
            #[cfg(target_arch = "x86_64")]
            Half::F16 if InstructionSet::detect() != InstructionSet::BASELINE => hardware::narrow(n, a, o),
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

/// IEEE half precision with the instructions for it, which every CPU above the baseline has.
#[cfg(target_arch = "x86_64")]
mod hardware {
    use std::arch::x86_64::*;

    use super::super::cast::{f16_of_f32, f32_of_f16};
    use half::f16;

    const LANES: usize = 8;

    /// # Safety
    /// 1. As [`super::widen`]. 2. The CPU has F16C.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn widen(n: usize, a: *const u16, o: *mut f32) {
        let whole = n - n % LANES;
        // SAFETY: duty 1: `whole` elements, eight by eight, then the rest.
        unsafe {
            for i in (0..whole).step_by(LANES) {
                _mm256_storeu_ps(o.add(i), _mm256_cvtph_ps(_mm_loadu_si128(a.add(i).cast())));
            }
            for i in whole..n {
                o.add(i).write(f32_of_f16(f16::from_bits(*a.add(i))));
            }
        }
    }

    /// # Safety
    /// 1. As [`super::narrow`]. 2. The CPU has F16C.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn narrow(n: usize, a: *const f32, o: *mut u16) {
        let whole = n - n % LANES;
        // SAFETY: duty 1: `whole` elements, eight by eight, then the rest.
        unsafe {
            for i in (0..whole).step_by(LANES) {
                let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(a.add(i)));
                _mm_storeu_si128(o.add(i).cast(), halves);
            }
            for i in whole..n {
                o.add(i).write(f16_of_f32(*a.add(i)).to_bits());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_instructions_for_it_conversions_are_the_same() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let mut wide = vec![0.0; all.len()];
        // SAFETY: as long as each other.
        unsafe { widen(Half::F16, all.len(), all.as_ptr(), wide.as_mut_ptr()) };
        for (&bits, &x) in all.iter().zip(&wide) {
            assert!(same(x, f32_of_f16(f16::from_bits(bits))), "{bits:04x}");
        }
        // Every 2^11th float, and the last few: 7 are left over of the blocks of 8.
        let floats: Vec<f32> = (0..=u32::MAX / 2048 - 1).map(|i| f32::from_bits(i * 2048 + i % 2048)).collect();
        let mut halves = vec![0; floats.len()];
        // SAFETY: as above.
        unsafe { narrow(Half::F16, floats.len(), floats.as_ptr(), halves.as_mut_ptr()) };
        for (&x, &bits) in floats.iter().zip(&halves) {
            let (got, want) = (f16::from_bits(bits), f16_of_f32(x));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x:?}");
        }
    }
}
