//! How the floats of a vector lie in memory: as themselves, or as halves.

use std::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::pointwise::{f32_of_bf16, f32_of_f16};
use super::super::real::Real;
use super::vector::{Isa, Vector};

/// What a vector of floats is loaded from and stored to. Numbers that it does not hold are rounded to the nearest that
/// it does, ties to even.
pub trait Stored: Copy {
    /// What it is in a vector.
    type Float: Real;
    /// The number.
    fn float(self) -> Self::Float;
    /// A vector from `p`, of any alignment.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. As many elements as the vector has are readable and initialised.
    unsafe fn load<S: Isa>(p: *const Self) -> Lanes<Self, S>;
    /// All lanes to `p`, of any alignment.
    ///
    /// # Safety
    /// 1. As many elements as the vector has are writable.
    unsafe fn store<S: Isa>(x: Lanes<Self, S>, p: *mut Self);
    /// The first `len` lanes, fewer than the vector has, from `p`, the others 0.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. The `len` elements are readable and initialised.
    unsafe fn load_first<S: Isa>(p: *const Self, len: usize) -> Lanes<Self, S>;
    /// The first `len` lanes, fewer than the vector has, to `p`.
    ///
    /// # Safety
    /// 1. The `len` elements are writable.
    unsafe fn store_first<S: Isa>(x: Lanes<Self, S>, p: *mut Self, len: usize);
}

/// A vector of what is stored.
type Lanes<A, S> = <<A as Stored>::Float as Real>::Vector<S>;

impl<T: Real> Stored for T {
    type Float = T;
    #[inline(always)]
    fn float(self) -> T {
        self
    }
    #[inline(always)]
    unsafe fn load<S: Isa>(p: *const T) -> Lanes<Self, S> {
        // SAFETY: (load 1, 2) ours.
        unsafe { Vector::load(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Isa>(x: Lanes<Self, S>, p: *mut T) {
        // SAFETY: (store 1) ours.
        unsafe { x.store(p) }
    }
    #[inline(always)]
    unsafe fn load_first<S: Isa>(p: *const T, len: usize) -> Lanes<Self, S> {
        // SAFETY: (load_first 1, 2) ours.
        unsafe { Vector::load_first(p, len) }
    }
    #[inline(always)]
    unsafe fn store_first<S: Isa>(x: Lanes<Self, S>, p: *mut T, len: usize) {
        // SAFETY: (store_first 1) ours.
        unsafe { x.store_first(p, len) }
    }
}

/// Halves, by the methods of [`Isa`] for whole vectors.
macro_rules! halves {
    ($($half:ty: $load:ident $store:ident $float:ident);+) => { $(
        impl Stored for $half {
            type Float = f32;
            #[inline(always)]
            fn float(self) -> f32 {
                $float(self)
            }
            #[inline(always)]
            unsafe fn load<S: Isa>(p: *const $half) -> S::F32 {
                // SAFETY: duties 1 and 2.
                unsafe { S::$load(p) }
            }
            #[inline(always)]
            unsafe fn store<S: Isa>(x: S::F32, p: *mut $half) {
                // SAFETY: duty 1.
                unsafe { S::$store(x, p) }
            }
            #[inline(always)]
            unsafe fn load_first<S: Isa>(p: *const $half, len: usize) -> S::F32 {
                let mut lanes = [<$half>::ZERO; 32];
                // SAFETY: (copy) duty 2, and no vector is longer than the array. (load 1, 2) Duty 1; the array is.
                unsafe {
                    std::ptr::copy_nonoverlapping(p, lanes.as_mut_ptr(), len);
                    S::$load(lanes.as_ptr())
                }
            }
            #[inline(always)]
            unsafe fn store_first<S: Isa>(x: S::F32, p: *mut $half, len: usize) {
                let mut lanes = [const { MaybeUninit::<$half>::uninit() }; 32];
                // SAFETY: (store 1) no vector is longer than the array. (copy) Just written; duty 1.
                unsafe {
                    S::$store(x, lanes.as_mut_ptr().cast());
                    std::ptr::copy_nonoverlapping(lanes.as_ptr().cast(), p, len);
                }
            }
        }
    )+ };
}
halves!(f16: load_f16 store_f16 f32_of_f16; bf16: load_bf16 store_bf16 f32_of_bf16);

#[cfg(test)]
mod tests {
    use super::super::super::pointwise::{bf16_of_f32, f16_of_f32};
    use super::super::{InstructionSet, Task, for_isa};
    use super::*;

    /// Numbers from `a`, to `o`, whole vectors and the rest. Duties: both have one length.
    struct Through<'a, A, O> {
        a: &'a [A],
        o: &'a mut [O],
    }

    impl<A: Stored<Float = f32>, O: Stored<Float = f32>> Task for Through<'_, A, O> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            let (len, n) = (S::F32::LEN, self.a.len());
            let (a, o) = (self.a.as_ptr(), self.o.as_mut_ptr());
            for i in (0..n).step_by(len) {
                // SAFETY: Task 2; elements from there on of both.
                unsafe {
                    if i + len <= n {
                        O::store::<S>(A::load::<S>(a.add(i)), o.add(i));
                    } else {
                        O::store_first::<S>(A::load_first::<S>(a.add(i), n - i), o.add(i), n - i);
                    }
                }
            }
        }
    }

    fn through<A: Stored<Float = f32>, O: Stored<Float = f32> + Default>(level: InstructionSet, a: &[A]) -> Vec<O> {
        let mut o = vec![O::default(); a.len()];
        // SAFETY: slices of one length.
        unsafe { for_isa(level, Through { a, o: &mut o }) };
        o
    }

    #[test]
    fn halves_are_the_same_at_every_level() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        // Some are left over of vectors of every length.
        let all = (0..=u16::MAX).chain(0..15);
        let halves: Vec<f16> = all.clone().map(f16::from_bits).collect();
        let brains: Vec<bf16> = all.map(bf16::from_bits).collect();
        // Every 2^11th float, and what is next to each bfloat16 and halfway to the next one.
        let step = if cfg!(miri) { 1 << 20 } else { 1 << 11 };
        let near = brains.iter().flat_map(|h| [0, 1, 0x7fff, 0x8000, 0x8001].map(|i| (h.to_bits() as u32) << 16 | i));
        let floats: Vec<f32> =
            (0..u32::MAX / step).map(|i| i * step + i % step).chain(near).map(f32::from_bits).collect();
        for level in InstructionSet::available() {
            for (x, h) in through::<f16, f32>(level, &halves).into_iter().zip(&halves) {
                assert!(same(x, f32_of_f16(*h)), "{level:?} {h:?}");
            }
            for (x, h) in through::<bf16, f32>(level, &brains).into_iter().zip(&brains) {
                assert!(same(x, f32_of_bf16(*h)), "{level:?} {h:?}");
            }
            for (h, x) in through::<f32, f16>(level, &floats).into_iter().zip(&floats) {
                assert!(same(f32_of_f16(h), f32_of_f16(f16_of_f32(*x))), "{level:?} {x:?}");
            }
            for (h, x) in through::<f32, bf16>(level, &floats).into_iter().zip(&floats) {
                assert!(same(f32_of_bf16(h), f32_of_bf16(bf16_of_f32(*x))), "{level:?} {x:?}");
            }
        }
    }
}
