//! Halves as float32 and back, for the walk and for whatever computes with halves: they are a storage type.

use std::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::simd::{InstructionSet, Isa, Task, for_isa};
use super::cast::{bf16_of_f32, f16_of_f32, f32_of_bf16, f32_of_f16};
use super::copy::copying;
use crate::parallel::{SharedPtr, split};

/// Threads share whole multiples of so many elements.
const CHUNK: usize = 4096;

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
            Half::F16 if InstructionSet::detect().is_avx512() => hardware::by_16::widen(n, a, o),
            #[cfg(target_arch = "x86_64")]
            Half::F16 if InstructionSet::detect() != InstructionSet::BASELINE => hardware::by_8::widen(n, a, o),
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
            Half::F16 if InstructionSet::detect().is_avx512() => hardware::by_16::narrow(n, a, o),
            #[cfg(target_arch = "x86_64")]
            Half::F16 if InstructionSet::detect() != InstructionSet::BASELINE => hardware::by_8::narrow(n, a, o),
            Half::F16 => convert(n, a, o, |x| f16_of_f32(x).to_bits()),
            Half::BF16 => convert(n, a, o, |x| bf16_of_f32(x).to_bits()),
        }
    }
}

/// [`widen`], divided among threads.
///
/// # Safety
/// As [`widen`].
pub unsafe fn widen_all(half: Half, n: usize, a: *const u16, o: *mut f32) {
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    split(n, CHUNK, copying(n * 6), &|some| {
        // SAFETY: (1, 2) ours, for elements that no other piece has.
        unsafe { widen(half, some.len(), a.get().add(some.start), o.get().add(some.start)) }
    });
}

/// [`narrow`], divided among threads.
///
/// # Safety
/// As [`narrow`].
pub unsafe fn narrow_all(half: Half, n: usize, a: *const f32, o: *mut u16) {
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    split(n, CHUNK, copying(n * 6), &|some| {
        // SAFETY: (1, 2) ours, for elements that no other piece has.
        unsafe { narrow(half, some.len(), a.get().add(some.start), o.get().add(some.start)) }
    });
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

    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

    /// Conversions of `$lanes` numbers at a time.
    macro_rules! conversions {
        ($module:ident, $features:literal, $lanes:literal, $halves:ident, $floats:ident, $widen:ident, $narrow:ident) => {
            pub mod $module {
                use super::*;

                /// # Safety
                /// 1. As [`super::super::widen`]. 2. The CPU has the instructions.
                #[target_feature(enable = $features)]
                pub unsafe fn widen(n: usize, a: *const u16, o: *mut f32) {
                    let whole = n - n % $lanes;
                    // SAFETY: duty 1: `whole` elements, so many at a time, then the rest.
                    unsafe {
                        for i in (0..whole).step_by($lanes) {
                            let x = $widen(a.add(i).cast::<$halves>().read_unaligned());
                            o.add(i).cast::<$floats>().write_unaligned(x);
                        }
                        for i in whole..n {
                            o.add(i).write(f32_of_f16(f16::from_bits(*a.add(i))));
                        }
                    }
                }

                /// # Safety
                /// 1. As [`super::super::narrow`]. 2. The CPU has the instructions.
                #[target_feature(enable = $features)]
                pub unsafe fn narrow(n: usize, a: *const f32, o: *mut u16) {
                    let whole = n - n % $lanes;
                    // SAFETY: duty 1: `whole` elements, so many at a time, then the rest.
                    unsafe {
                        for i in (0..whole).step_by($lanes) {
                            let x = $narrow::<NEAREST>(a.add(i).cast::<$floats>().read_unaligned());
                            o.add(i).cast::<$halves>().write_unaligned(x);
                        }
                        for i in whole..n {
                            o.add(i).write(f16_of_f32(*a.add(i)).to_bits());
                        }
                    }
                }
            }
        };
    }
    conversions!(by_8, "avx,f16c", 8, __m128i, __m256, _mm256_cvtph_ps, _mm256_cvtps_ph);
    conversions!(by_16, "avx512f", 16, __m256i, __m512, _mm512_cvtph_ps, _mm512_cvtps_ph);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conversions of IEEE halves that this CPU has, in both directions.
    type Conversions = (unsafe fn(usize, *const u16, *mut f32), unsafe fn(usize, *const f32, *mut u16));

    fn available() -> Vec<Conversions> {
        let mut all: Vec<Conversions> = vec![(
            // SAFETY: those of callers.
            |n, a, o| unsafe { widen(Half::F16, n, a, o) },
            // SAFETY: those of callers.
            |n, a, o| unsafe { narrow(Half::F16, n, a, o) },
        )];
        #[cfg(target_arch = "x86_64")]
        for level in InstructionSet::available() {
            if level.is_avx512() {
                all.push((hardware::by_16::widen, hardware::by_16::narrow));
            } else if level != InstructionSet::BASELINE {
                all.push((hardware::by_8::widen, hardware::by_8::narrow));
            }
        }
        all
    }

    #[test]
    fn with_and_without_instructions_for_it_conversions_are_the_same() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        for (widen, narrow) in available() {
            let all: Vec<u16> = (0..=u16::MAX).collect();
            let mut wide = vec![0.0; all.len()];
            // SAFETY: as long as each other; a level of this CPU.
            unsafe { widen(all.len(), all.as_ptr(), wide.as_mut_ptr()) };
            for (&bits, &x) in all.iter().zip(&wide) {
                assert!(same(x, f32_of_f16(f16::from_bits(bits))), "{bits:04x}");
            }
            // Every 2^11th float, and the last few: 15 are left over of the blocks of 16, and 7 of those of 8.
            let floats: Vec<f32> = (0..=u32::MAX / 2048 - 1).map(|i| f32::from_bits(i * 2048 + i % 2048)).collect();
            let mut halves = vec![0; floats.len()];
            // SAFETY: as above.
            unsafe { narrow(floats.len(), floats.as_ptr(), halves.as_mut_ptr()) };
            for (&x, &bits) in floats.iter().zip(&halves) {
                let (got, want) = (f16::from_bits(bits), f16_of_f32(x));
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x:?}");
            }
        }
    }
}
