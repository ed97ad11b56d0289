//! Reductions of rows of halves, which become float32 in registers: the same trees as those of float32.

use std::mem::MaybeUninit;

use half::slice::HalfBitsSliceExt;
use half::{bf16, f16};

use super::super::pointwise::{Half, narrow, widen};
use super::super::real::Real;
use super::super::simd::{InstructionSet, Isa, Stored, Task, Vector, for_isa};
use super::engine::{
    Cascade, ELEMENT_COST, InVectors, StripCascade, fold, in_lanes, in_order, in_registers, join_copies, reduce_at,
    rest,
};
use super::{BLOCK, GROUP, Reduce};
use crate::parallel::{SharedPtr, split, split_rows};
use crate::thresholds::reduce::{IN_ORDER, NEAR, PART, STRIP_BYTES};

/// Lanes of a block, as for float32.
const LANES: usize = 64;

/// Elements of blocks some of which are made float32 at a time: what a loop over one takes to begin is more than that.
const SMALL: usize = NEAR / 8;

/// Reduces halves along the middle one of three axes, of `n` and `width` elements the last two. Results are rounded.
///
/// # Panics
/// If the number of elements is not that of the results times `n`.
pub fn reduce_halves<R>(r: &R, half: Half, [n, width]: [usize; 2], x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
    assert!(x.len() == n * o.len());
    match width {
        _ if x.is_empty() => o.fill(rounded(half, r.finish(r.init(), n))),
        _ if n * width <= SMALL && o.len() > width => small_blocks(r, half, [n, width], x, o),
        1 => rows(r, half, n, x, o),
        _ => columns(r, half, [n, width], x, o),
    }
}

/// Blocks of few elements, as many at a time as stay in the first-level cache as float32.
fn small_blocks<R>(r: &R, half: Half, [n, width]: [usize; 2], x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
    let (level, each, blocks) = (InstructionSet::detect(), n * width, o.len() / width);
    // The walk over a part of them is that over all: it has as many wherever it begins, some of them once more.
    let here = (NEAR / each).min(blocks);
    let strides = [each as isize, 1];
    split_rows(o, width, here, x.len() as f64 * 2.0 * ELEMENT_COST, &|some, o| {
        let (mut wide, mut results) = (vec![0f32; here * each], vec![0f32; here * width]);
        for (start, o) in some.step_by(here).zip(o.chunks_mut(here * width)) {
            let first = start.min(blocks - here);
            let skipped = (start - first) * width;
            // SAFETY: (widen 1, 2) as many of both; (reduce 1) these, over three axes; (2) a result for each of the
            // kept positions; (narrow 1, 2) as many as are left of them.
            unsafe {
                widen(half, wide.len(), x[first * each..][..wide.len()].as_ptr(), wide.as_mut_ptr());
                let (from, to) = (wide.as_ptr(), results.as_mut_ptr());
                reduce_at(level, r, &[here, width], &strides, &[n], &[width as isize], from, to);
                narrow(half, o.len(), results[skipped..][..o.len()].as_ptr(), o.as_mut_ptr());
            }
        }
    });
}

/// Reduces rows of `n` halves each, contiguous and one after the other, on several threads if they are long.
fn rows<R>(r: &R, half: Half, n: usize, x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
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
/// other.
fn columns<R>(r: &R, half: Half, [n, width]: [usize; 2], x: &[u16], o: &mut [u16])
where
    R: InVectors<f32> + Reduce<f32, O = f32>,
{
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
        // As in the walk of float32.
        let fold = fold(width, n);
        let (wide, (rows, left)) = (fold * width, (n / fold, n % fold));
        let acc = &mut strip[..STRIP.min(wide - first)];
        let mut cascade = StripCascade::new();
        cascade.start(acc.len());
        for start in (0..rows).step_by(GROUP) {
            let taken = GROUP.min(rows - start);
            // SAFETY: (step 1) Task 2.
            unsafe { step::<S, R, H>(r, acc, &x[start * wide..(start + taken) * wide], wide, first) };
            if taken == GROUP && (start + taken) * fold < n {
                cascade.push(r, acc);
                acc.fill(r.init());
            }
        }
        if left > 0 {
            // SAFETY: (step 1) Task 2.
            unsafe { step::<S, R, H>(r, &mut acc[..width], &x[rows * wide..], width, 0) };
        }
        cascade.close(r, acc);
        if fold > 1 {
            join_copies(r, acc, wide, width);
        }
        let acc = &mut acc[..STRIP.min(width - first)];
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
        if lanes.len() + x.len() <= IN_ORDER {
            return in_order(r, x.len(), wide.cast_const(), 1);
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
