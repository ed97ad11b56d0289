//! Which instructions this CPU has, the one place where code is compiled for each set, and vectors of each.
//!
//! A kernel is a [`Task`] whose `run` is `#[inline(always)]`; [`for_isa`] inlines it into one function per instruction
//! set, so the same source is vectorised for the baseline, for AVX2 with FMA and for AVX-512. Everything a task calls
//! in its hot loop must be `#[inline(always)]` too, and no closure may stand in between: a closure is a function of its
//! own, compiled for the baseline (an order of magnitude slower, see the bench gate).
//!
//! With `one_level` the baseline is compiled alone: half the code. `build.rs` says so where nothing is optimised.

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod stored;
mod twice;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
pub use portable::Portable as Baseline;
pub use stored::Stored;
pub use twice::Twice;
pub use vector::{Format, Isa, Vector};
#[cfg(target_arch = "x86_64")]
pub use x86::Sse2 as Baseline;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

use std::sync::atomic::{AtomicU8, Ordering};

use super::truth::Truth;

const BASELINE: u8 = 1;
#[cfg(all(target_arch = "x86_64", not(one_level)))]
const AVX2: u8 = 2;
#[cfg(all(target_arch = "x86_64", not(one_level)))]
const AVX512: u8 = 3;

/// Proof that this CPU runs an instruction set. Only [`InstructionSet::detect`] and [`InstructionSet::available`] make
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstructionSet(u8);

static DETECTED: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// What every CPU of this architecture runs.
    pub const BASELINE: InstructionSet = InstructionSet(BASELINE);

    /// Whether it is AVX-512.
    #[inline]
    pub fn is_avx512(self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(one_level)))]
        return self.0 == AVX512;
        #[cfg(not(all(target_arch = "x86_64", not(one_level))))]
        return false;
    }

    /// This one, or the best one before it whose vectors `bytes` fill, if there is one.
    #[inline]
    pub fn filled_by(self, bytes: usize) -> InstructionSet {
        #[cfg(all(target_arch = "x86_64", not(one_level)))]
        let filled = match bytes {
            0..32 => BASELINE,
            32..64 => AVX2,
            _ => AVX512,
        };
        #[cfg(not(all(target_arch = "x86_64", not(one_level))))]
        let (filled, _) = (BASELINE, bytes);
        self.min(InstructionSet(filled))
    }

    /// The best level of this CPU: one relaxed load after the first call.
    #[inline]
    pub fn detect() -> InstructionSet {
        match DETECTED.load(Ordering::Relaxed) {
            0 => Self::detect_slowly(),
            known => InstructionSet(known),
        }
    }

    #[cold]
    fn detect_slowly() -> InstructionSet {
        let best = Self::available().last().copied().unwrap_or(Self::BASELINE);
        DETECTED.store(best.0, Ordering::Relaxed);
        best
    }

    /// Every level that this CPU can run, the best last; tests run each.
    pub fn available() -> Vec<InstructionSet> {
        #[allow(unused_mut)]
        let mut levels = vec![Self::BASELINE];
        #[cfg(all(target_arch = "x86_64", not(miri), not(one_level)))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            if avx2 {
                levels.push(InstructionSet(AVX2));
            }
            if avx2 && avx512 {
                levels.push(InstructionSet(AVX512));
            }
        }
        levels
    }

    /// The name that reports print.
    pub fn name(self) -> &'static str {
        match self.0 {
            BASELINE => "baseline",
            2 => "avx2",
            _ => "avx512",
        }
    }
}

/// An element type. Loops over wide ones are compiled for every instruction set, loops over the others for the baseline
/// alone: much less code for what is rarely the hot part of a program.
pub trait SimdElement: Copy {
    /// Whether loops over this type are compiled for every instruction set.
    const WIDE: bool;
    /// Whether there are loops over rows that do not follow one another,
    const IN_ROWS: bool = Self::WIDE;
    /// and such in which a broadcast operand stays in registers.
    const STAYS: bool = Self::IN_ROWS;
    /// Whether it is an integer of 64 bits, which the baseline of x86-64 compares and converts one by one.
    const LONG: bool = false;
    /// Whether the baseline takes longer to compare two than their memory does: it does if they are of 64 bits, and
    /// bytes are little memory.
    const SLOWLY_COMPARED: bool = Self::LONG || size_of::<Self>() == 1;
}

macro_rules! lanes {
    ($wide:literal: $($t:ty),*) => { $(impl SimdElement for $t { const WIDE: bool = $wide; })* };
}
lanes!(true: f32, f64);
lanes!(false: Truth, u8, i8, i16, i32, u16, u32, u64, half::f16, half::bf16);
impl SimdElement for i64 {
    const WIDE: bool = false;
    const IN_ROWS: bool = true;
    const LONG: bool = true;
}
impl<T: SimdElement> SimdElement for num_complex::Complex<T> {
    const WIDE: bool = false;
    const STAYS: bool = true;
}

/// Work to be compiled once per instruction set.
pub trait Task {
    /// What `run` returns.
    type Out;

    /// Whether there is a version per instruction set; if not, `plain` runs.
    const WIDE: bool;

    /// The work for narrow types and old CPUs; short code.
    ///
    /// # Safety
    /// 1. The duties written on the implementing type hold.
    #[inline(always)]
    unsafe fn plain(self) -> Self::Out
    where
        Self: Sized,
    {
        // SAFETY: (1) our duty; (2) every CPU has those.
        unsafe { self.run::<Baseline>() }
    }

    /// Does the work; `S` is the instruction set, for work that names its vectors. Implementors mark it
    /// `#[inline(always)]`.
    ///
    /// # Safety
    /// 1. The duties written on the implementing type hold. 2. The CPU has the instructions of `S`.
    unsafe fn run<S: Isa>(self) -> Self::Out;
}

/// Runs `task` with the instructions of `level`.
///
/// # Safety
/// 1. The duties written on the type of `task` hold.
#[inline]
pub unsafe fn for_isa<T: Task>(level: InstructionSet, task: T) -> T::Out {
    if const { !T::WIDE } {
        // SAFETY: Task 1 is our duty 1.
        return unsafe { run_baseline(task) };
    }
    match level.0 {
        // SAFETY: Task 1 is our duty 1. Features 1: a `InstructionSet` of 3 exists only if the CPU has them.
        #[cfg(all(target_arch = "x86_64", not(one_level)))]
        AVX512 => unsafe { run_avx512(task) },
        // SAFETY: Task 1 is our duty 1. Features 1: a `InstructionSet` of 2 exists only if the CPU has them.
        #[cfg(all(target_arch = "x86_64", not(one_level)))]
        AVX2 => unsafe { run_avx2(task) },
        // SAFETY: Task 1 is our duty 1.
        _ => unsafe { run_baseline(task) },
    }
}

/// Asks for the first `LINES` cache lines from `p` on, which need not be valid memory.
#[inline(always)]
pub fn prefetch_lines<const LINES: usize, T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..LINES {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching reads nothing that the program can observe, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast::<i8>().wrapping_add(line * 64)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// # Safety
/// 1. The duties written on the type of `task` hold.
#[inline(never)]
unsafe fn run_baseline<T: Task>(task: T) -> T::Out {
    // SAFETY: Task 1 is our duty 1.
    unsafe { task.plain() }
}

/// # Safety
/// 1. The CPU has the features. 2. The duties written on the type of `task` hold.
#[cfg(all(target_arch = "x86_64", not(one_level)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c")]
unsafe fn run_avx2<T: Task>(task: T) -> T::Out {
    // SAFETY: Task 1 is our duty 2, and 2 our duty 1.
    unsafe { task.run::<Avx2>() }
}

/// # Safety
/// 1. The CPU has the features. 2. The duties written on the type of `task` hold.
#[cfg(all(target_arch = "x86_64", not(one_level)))]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,f16c")]
unsafe fn run_avx512<T: Task>(task: T) -> T::Out {
    // SAFETY: Task 1 is our duty 2, and 2 our duty 1.
    unsafe { task.run::<Avx512>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_is_the_best_available() {
        let levels = InstructionSet::available();
        for (i, &level) in levels.iter().enumerate() {
            for (bytes, most) in [(0, 0), (31, 0), (32, 1), (63, 1), (64, 2)] {
                assert_eq!(level.filled_by(bytes), levels[i.min(most)]);
            }
        }
        assert_eq!(Some(&InstructionSet::detect()), levels.last());
        assert_eq!(InstructionSet::detect(), InstructionSet::detect());
        println!("instruction sets run here: {:?}", levels.iter().map(|l| l.name()).collect::<Vec<_>>());
    }

    /// Stores and loads of the first lanes of a vector of `T`. No duties.
    struct FirstLanes<T>(std::marker::PhantomData<T>);
    impl<T: crate::real::Real> Task for FirstLanes<T> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            let from: [T; 33] = std::array::from_fn(|i| T::of(i as f64 + 1.0));
            for len in 0..T::Vector::<S>::LEN {
                for start in 0..2 {
                    let mut to = [T::of(-1.0); 40];
                    // SAFETY: Task 2; the arrays have room for a vector from there on.
                    unsafe {
                        T::Vector::<S>::load(from.as_ptr()).store_first(to.as_mut_ptr().add(start), len);
                        T::Vector::<S>::load_first(to.as_ptr().add(start), len).store(to.as_mut_ptr().add(start));
                    }
                    for (i, x) in to.into_iter().enumerate() {
                        let (lane, whole) = (i.wrapping_sub(start), i >= start && i < start + T::Vector::<S>::LEN);
                        let want = if i >= start && lane < len { lane as f64 + 1.0 } else { -f64::from(!whole) };
                        assert!(x == T::of(want), "{len} {start} {i}");
                    }
                    // SAFETY: as above.
                    unsafe { T::Vector::<S>::load(from.as_ptr()).store_first(to.as_mut_ptr().add(start), len) };
                    let behind = to[start + len..].iter().take(T::Vector::<S>::LEN - len);
                    assert!(behind.into_iter().all(|&x| x == T::ZERO), "{len} {start}");
                }
            }
        }
    }

    #[test]
    fn first_lanes_are_loaded_and_stored_alone() {
        for level in InstructionSet::available() {
            // SAFETY: they have no duties, and the CPU has the instructions.
            unsafe {
                for_isa(level, FirstLanes::<f32>(std::marker::PhantomData));
                for_isa(level, FirstLanes::<f64>(std::marker::PhantomData));
            }
        }
    }
}
