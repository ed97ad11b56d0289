//! Reductions of rows of halves, which become float32 in registers: the same trees as those of float32.

use std::mem::MaybeUninit;

use half::slice::HalfBitsSliceExt;
use half::{bf16, f16};

use super::super::pointwise::{Half, narrow};
use super::super::real::Real;
use super::super::simd::{InstructionSet, Isa, Stored, Task, Vector, for_isa};
use super::engine::{Cascade, ELEMENT_COST, InVectors, StripCascade, in_lanes, in_registers, rest};
use super::{BLOCK, GROUP, Reduce};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::{PART, STRIP_BYTES};

/// Lanes of a block, as for float32.
const LANES: usize = 64;

/// Reduces rows of `n` halves each, contiguous and one after the other, on several threads if they are long. Results
/// are rounded.
///
/// # Panics
/// If the number of elements is not that of the results times `n`.
pub fn reduce_rows_of_halves<R>(r: &R, half: Half, n: usize, x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
    assert!(x.len() == n * o.len());
    let level = InstructionSet::detect();
    let row = |x: &[u16]| {
        // SAFETY: the tasks have no duties.
        unsafe {
            match half {
                Half::F16 => for_isa(level, Row { r, x: x.reinterpret_cast::<f16>() }),
                Half::BF16 => for_isa(level, Row { r, x: x.reinterpret_cast::<bf16>() }),
            }
        }
    };
    let cost = x.len() as f64 * ELEMENT_COST;
    if let [o] = o
        && n >= 2 * PART
    {
        let mut parts = vec![r.init(); n.div_ceil(PART)];
        let out = SharedPtr(parts.as_mut_ptr());
        split(n, PART, cost, &|range| {
            for start in range.clone().step_by(PART) {
                let part = row(&x[start..(start + PART).min(range.end)]);
                // SAFETY: the part's place is this piece's alone.
                unsafe { *out.get().add(start / PART) = part };
            }
        });
        let mut cascade = Cascade::default();
        parts.into_iter().for_each(|part| cascade.push(r, part));
        return *o = rounded(half, r.finish(cascade.total(r), n));
    }
    let out = SharedPtr(o.as_mut_ptr());
    split(o.len(), 1, cost, &|range| {
        for i in range {
            let result = r.finish(row(&x[i * n..(i + 1) * n]), n);
            // SAFETY: the result's place is this piece's alone.
            unsafe { *out.get().add(i) = rounded(half, result) };
        }
    });
}

/// Reduces columns of halves: the `n` rows of `width` elements in each of the matrices in `x`, which lie one after the
/// other. Results are rounded.
///
/// # Panics
/// If the number of elements is not that of the results times `n`.
pub fn reduce_columns_of_halves<R>(r: &R, half: Half, [n, width]: [usize; 2], x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
    assert!(x.len() == n * o.len());
    if o.is_empty() {
        return;
    }
    let (level, strips) = (InstructionSet::detect(), width.div_ceil(STRIP));
    let out = SharedPtr(o.as_mut_ptr());
    split(o.len() / width * strips, 1, x.len() as f64 * ELEMENT_COST, &|range| {
        for i in range {
            let (matrix, first) = (i / strips, i % strips * STRIP);
            let x = &x[matrix * n * width..(matrix + 1) * n * width];
            // SAFETY: (Columns 1) results of this piece alone.
            unsafe {
                let o = out.get().add(matrix * width + first);
                match half {
                    Half::F16 => {
                        let x = x.reinterpret_cast::<f16>();
                        for_isa(level, Columns { r, x, n, width, first, o: o.cast::<f16>() });
                    }
                    Half::BF16 => {
                        let x = x.reinterpret_cast::<bf16>();
                        for_isa(level, Columns { r, x, n, width, first, o: o.cast::<bf16>() });
                    }
                }
            }
        }
    });
}

/// Columns that are reduced at a time: longer runs of rows than with float32, in as many bytes of each.
const STRIP: usize = 2 * STRIP_BYTES / size_of::<f32>();

/// What [`STRIP`] columns from `first` on, or those that are left, of `n` rows of `width` come to. Duties: 1. `o` is
/// writable for a half for each of them, and disjoint from `x`.
struct Columns<'a, R, H> {
    r: &'a R,
    x: &'a [H],
    n: usize,
    width: usize,
    first: usize,
    o: *mut H,
}

impl<R: InVectors<f32> + Reduce<f32, O = f32>, H: Stored<Float = f32>> Task for Columns<'_, R, H> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Columns { r, x, n, width, first, o } = self;
        let mut strip = [r.init(); STRIP];
        let acc = &mut strip[..STRIP.min(width - first)];
        let mut cascade = StripCascade::new();
        cascade.start(acc.len());
        for start in (0..n).step_by(GROUP) {
            let rows = GROUP.min(n - start);
            // SAFETY: (step 1) Task 2.
            unsafe { step::<S, R, H>(r, acc, &x[start * width..(start + rows) * width], width, first) };
            if start + rows < n {
                cascade.push(r, acc);
                acc.fill(r.init());
            }
        }
        cascade.close(r, acc);
        let len = S::F32::LEN;
        for result in acc.iter_mut() {
            *result = r.finish(*result, n);
        }
        for j in (0..acc.len()).step_by(len) {
            let left = acc.len() - j;
            // SAFETY: (load 1, load_first 1) Task 2; (2) floats of the slice; (store 1) duty 1.
            unsafe {
                if left >= len {
                    H::store::<S>(S::F32::load(acc.as_ptr().add(j)), o.add(j));
                } else {
                    H::store_first::<S>(S::F32::load_first(acc.as_ptr().add(j), left), o.add(j), left);
                }
            }
        }
    }
}

/// `acc[j]` takes the elements of column `first + j` of rows of `width`.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn step<S: Isa, R: InVectors<f32>, H: Stored<Float = f32>>(
    r: &R,
    acc: &mut [f32],
    x: &[H],
    width: usize,
    first: usize,
) {
    let (len, rows) = (S::F32::LEN, x.len() / width);
    let mut i = 0;
    while i < rows {
        // Four rows a pass: the accumulators are loaded and stored once for four elements.
        let m = if i + 4 <= rows { 4 } else { 1 };
        let row = x[i * width + first..(i + m - 1) * width + first + acc.len()].as_ptr();
        for j in (0..acc.len()).step_by(len) {
            let left = acc.len() - j;
            let at = acc[j..].as_mut_ptr();
            // SAFETY: (1) ours; (2) from `j` on there are `left` accumulators, and elements of each of the `m` rows.
            unsafe {
                if left >= len {
                    let mut sum = S::F32::load(at);
                    for k in 0..m {
                        sum = r.step_vectors(sum, H::load::<S>(row.add(k * width + j)));
                    }
                    sum.store(at);
                } else {
                    let mut sum = S::F32::load_first(at, left);
                    for k in 0..m {
                        sum = r.step_vectors(sum, H::load_first::<S>(row.add(k * width + j), left));
                    }
                    sum.store_first(at, left);
                }
            }
        }
        i += m;
    }
}

/// What a row comes to, in float32.
struct Row<'a, R, H> {
    r: &'a R,
    x: &'a [H],
}

impl<R: InVectors<f32>, H: Stored<Float = f32> + Default> Task for Row<'_, R, H> {
    type Out = f32;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> f32 {
        let mut cascade = Cascade::default();
        for x in self.x.chunks(BLOCK) {
            // SAFETY: (block 1) Task 2.
            cascade.push(self.r, unsafe { block::<S, R, H>(self.r, x) });
        }
        cascade.total(self.r)
    }
}

/// What a block comes to: what the lanes leave is stored as float32 first.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn block<S: Isa, R: InVectors<f32>, H: Stored<Float = f32> + Default>(r: &R, x: &[H]) -> f32 {
    let len = <f32 as Real>::Vector::<S>::LEN;
    let (lanes, x) = x.split_at(in_lanes::<LANES>(x.len()));
    // SAFETY: (in_registers 1) the elements of a slice, a multiple of `LANES` if any; duty 1; (2) 64 lanes are 4
    // vectors of 16, 8 of 8 or 16 of 4. (load 1, 2) Duty 1; elements of the slice, or of `last`, which is longer than
    // any vector. (store 1, rest 1) `wide` has places for the fewer than 4 `LANES` elements in whole vectors.
    unsafe {
        let acc = if lanes.is_empty() {
            r.init()
        } else {
            in_registers::<S, LANES, f32, H, R>(r, lanes.len(), lanes.as_ptr())
        };
        let mut wide = [MaybeUninit::<f32>::uninit(); 4 * LANES];
        let wide = wide.as_mut_ptr().cast::<f32>();
        let whole = x.len() - x.len() % len;
        let end = &x[whole..];
        for i in (0..whole).step_by(len) {
            H::load::<S>(x.as_ptr().add(i)).store(wide.add(i));
        }
        if !end.is_empty() {
            let mut last = [H::default(); 32];
            last[..end.len()].copy_from_slice(end);
            H::load::<S>(last.as_ptr()).store(wide.add(whole));
        }
        rest(r, acc, x.len(), wide.cast_const())
    }
}

fn rounded(half: Half, x: f32) -> u16 {
    let mut o = 0;
    // SAFETY: (narrow 1, 2) one element of both.
    unsafe { narrow(half, 1, &x, &mut o) };
    o
}
