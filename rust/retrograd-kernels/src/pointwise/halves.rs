//! Halves as float32 and back, for the walk and for whatever computes with halves: they are a storage type.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::super::simd::{InstructionSet, Stored, Vector, for_isa};
use super::vectorized::{Body, Lanes, VectorRow};
use super::walk::{Operand, walk};

/// A format of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// IEEE half precision.
    F16,
    /// The upper half of a float32.
    BF16,
}

/// The number itself.
struct Unchanged;

impl Body<f32, 1> for Unchanged {
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, [x]: [V; 1]) -> V {
        x
    }
}

/// `o[i] = a[i]` as float32, exactly, for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
pub unsafe fn widen(half: Half, n: usize, a: *const u16, o: *mut f32) {
    let level = InstructionSet::detect();
    // SAFETY: (VectorRow 1, 2) ours.
    unsafe {
        match half {
            Half::F16 => for_isa(level, VectorRow { f: &Unchanged, n, a: [a.cast::<f16>()], o }),
            Half::BF16 => for_isa(level, VectorRow { f: &Unchanged, n, a: [a.cast::<bf16>()], o }),
        }
    }
}

/// `o[i] = a[i]` rounded to the nearest half, ties to even, for `n` contiguous elements.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements. 2. `o` is writable for `n` elements, and disjoint.
pub unsafe fn narrow(half: Half, n: usize, a: *const f32, o: *mut u16) {
    let level = InstructionSet::detect();
    // SAFETY: (VectorRow 1, 2) ours.
    unsafe {
        match half {
            Half::F16 => for_isa(level, VectorRow { f: &Unchanged, n, a: [a], o: o.cast::<f16>() }),
            Half::BF16 => for_isa(level, VectorRow { f: &Unchanged, n, a: [a], o: o.cast::<bf16>() }),
        }
    }
}

/// Copies numbers to another format of halves or float32, one of which is of halves: rounded to the nearest, ties to
/// even.
///
/// # Safety
/// As [`map1`](super::map1), for operands of two such formats.
///
/// # Panics
/// If both have one format.
pub unsafe fn convert_halves(sizes: &[usize], o: Operand, a: Operand) {
    // SAFETY: (1-3) are ours, for elements of these formats.
    unsafe {
        match (a.half(), o.half()) {
            (Some(Half::F16), None) => convert_as::<f16, f32>(sizes, o, a),
            (Some(Half::BF16), None) => convert_as::<bf16, f32>(sizes, o, a),
            (None, Some(Half::F16)) => convert_as::<f32, f16>(sizes, o, a),
            (None, Some(Half::BF16)) => convert_as::<f32, bf16>(sizes, o, a),
            (Some(Half::F16), Some(Half::BF16)) => convert_as::<f16, bf16>(sizes, o, a),
            (Some(Half::BF16), Some(Half::F16)) => convert_as::<bf16, f16>(sizes, o, a),
            _ => unreachable!("halves on one side, and another format on the other"),
        }
    }
}

/// # Safety
/// As [`map1`](super::map1), for elements of these types.
unsafe fn convert_as<A: Stored<Float = f32>, O: Stored<Float = f32>>(sizes: &[usize], o: Operand, a: Operand) {
    let body = Lanes::<_, A, O, 1> { level: InstructionSet::detect(), f: &Unchanged, stored: PhantomData };
    // SAFETY: (1-3) are ours.
    unsafe { walk(&body, sizes, [o.as_stored(), a.as_stored()]) }
}
