//! The largest or smallest element and its first index. NaN wins over every number.

mod short;

use self::short::ShortLines;
use super::super::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use super::super::strided::{Axes, Axis, Offsets, axis, plan, plan_in_order, row_major};
use super::with_dense_results;
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::{BEST_BLOCK as BLOCK, BEST_LANES as LANES, BEST_LEAST as LEAST, BEST_STRIP as STRIP};

/// What an element takes, in nanoseconds.
const ELEMENT_COST: f64 = 0.2;

/// Whether `a` goes before `b`: NaN first, then larger numbers, or smaller ones.
#[inline(always)]
#[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
fn beats<T: PartialOrd + Copy, const MAX: bool>(a: T, b: T) -> bool {
    let better = if MAX { a > b } else { a < b };
    better | ((a != a) & (b == b))
}

/// Looks along the `red` axes of `a`, which are not empty, for every position of the `kept` axes; `values` and
/// `indices` are contiguous over the latter, row-major, and an index is a row-major position within the reduced axes.
///
/// # Safety
/// 1. `a` is readable and initialised at every position of both sets of axes. 2. `values` and `indices` are writable
///    for the product of `kept_sizes`. 3. None of the three overlap.
#[allow(clippy::too_many_arguments)]
pub unsafe fn best<T: SimdElement + PartialOrd + Send + Sync, const MAX: bool>(
    level: InstructionSet,
    kept_sizes: &[usize],
    kept_strides: &[isize],
    red_sizes: &[usize],
    red_strides: &[isize],
    a: *const T,
    values: *mut T,
    indices: *mut i64,
) {
    let kept: Axes<2> = plan(kept_sizes, [kept_strides, &row_major(kept_sizes)]);
    let red: Axes<1> = plan_in_order(red_sizes, [red_strides]);
    if kept.iter().any(|x| x.size == 0) {
        return;
    }
    let n = red.iter().map(|x| x.size).product::<usize>();
    // SAFETY: (1, 2) ours, for axes of the same positions.
    unsafe {
        with_dense_results(&kept, n, indices, |_, indices| {
            with_dense_results(&kept, n, values, |kept, values| {
                best_of_axes::<T, MAX>(level, kept, &red, a, values, indices);
            });
        });
    }
}

/// [`best`] of planned axes.
///
/// # Safety
/// As [`best`].
unsafe fn best_of_axes<T: SimdElement + PartialOrd + Send + Sync, const MAX: bool>(
    level: InstructionSet,
    kept: &Axes<2>,
    red: &Axes<1>,
    a: *const T,
    values: *mut T,
    indices: *mut i64,
) {
    let count = red.iter().map(|x| x.size).chain(kept.iter().map(|x| x.size)).product::<usize>();
    let cost = count as f64 * ELEMENT_COST;
    if let Some(lines) = ShortLines::of(kept, red) {
        // SAFETY: ours.
        return unsafe { lines.look::<T, MAX>(level, cost, a, values, indices) };
    }
    let (n, k0, d0) = (red.iter().map(|x| x.size).product::<usize>(), axis(kept, 0), axis(red, 0));
    let side_by_side =
        red.len() == 1 && !kept.is_empty() && k0.strides[0].unsigned_abs() < d0.strides[0].unsigned_abs();
    let (width, rows) = if side_by_side { (STRIP.min(k0.size), k0.size.div_ceil(STRIP)) } else { (1, k0.size) };
    let outer: Vec<[isize; 2]> = Offsets::new(kept.get(1..).unwrap_or(&[])).collect();
    let (a, values, indices) = (SharedPtr(a.cast_mut()), SharedPtr(values), SharedPtr(indices));
    split(outer.len() * rows, 1, cost, &|part| {
        let mut i = part.start;
        while i < part.end {
            let ([pa, po], k) = (outer[i / rows], (i % rows * width) as isize);
            // Rows as far as they are at one distance.
            let count = if side_by_side { 1 } else { (rows - i % rows).min(part.end - i) };
            i += count;
            // SAFETY: duty 1: positions of `kept`, and those of `red` from them; duty 2 for the results; every piece
            // has positions of its own.
            unsafe {
                let a = a.get().offset(pa + k * k0.strides[0]).cast_const();
                let o = po + k * k0.strides[1];
                let (values, indices) = (values.get().offset(o), indices.get().offset(o));
                if side_by_side {
                    let width = width.min(k0.size - k as usize);
                    let steps = [k0.strides[0], d0.strides[0], k0.strides[1]];
                    let (strip, many) = (Strip::<T, MAX> { a, n, width, steps, values, indices }, STRIP / width);
                    if many > 1 && n >= LEAST * many && steps[1] == steps[0] * width as isize {
                        folded(level, strip, many);
                    } else {
                        for_isa(level, strip);
                    }
                } else {
                    for_isa(level, BestRows::<T, MAX> { a, count, steps: k0.strides, red, values, indices });
                }
            }
        }
    });
}

/// The best of each of `count` rows, which are the `red` axes; steps from row to row and from result to result. Duties:
/// 1. `a` is readable and initialised there; no axis is empty. 2. The results are writable.
struct BestRows<'a, T, const MAX: bool> {
    a: *const T,
    count: usize,
    steps: [isize; 2],
    red: &'a [Axis<1>],
    values: *mut T,
    indices: *mut i64,
}

impl<T: SimdElement + PartialOrd, const MAX: bool> Task for BestRows<'_, T, MAX> {
    type Out = ();
    const WIDE: bool = T::WIDE || T::LONG;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let BestRows { a, count, steps, red, values, indices } = self;
        let (d0, others) = (axis(red, 0), red.get(1..).unwrap_or(&[]));
        for k in 0..count as isize {
            // SAFETY: duties 1 and 2.
            unsafe {
                let a = a.offset(k * steps[0]);
                let (mut value, mut at) = best_of_row::<T, MAX>(a, d0.size, d0.strides[0]);
                if !others.is_empty() {
                    for (i, [pr]) in Offsets::new(others).enumerate().skip(1) {
                        let (other, place) = best_of_row::<T, MAX>(a.offset(pr), d0.size, d0.strides[0]);
                        if beats::<T, MAX>(other, value) {
                            (value, at) = (other, i * d0.size + place);
                        }
                    }
                }
                *values.offset(k * steps[1]) = value;
                *indices.offset(k * steps[1]) = at as i64;
            }
        }
    }
}

/// The best of a row, and where it comes first.
///
/// # Safety
/// 1. `a` is readable and initialised for `n > 0` elements with stride `step`.
#[inline(always)]
unsafe fn best_of_row<T: PartialOrd + Copy, const MAX: bool>(a: *const T, n: usize, step: isize) -> (T, usize) {
    if step == 1 && n >= LEAST {
        // SAFETY: duty 1, the elements being contiguous.
        let x = unsafe { std::slice::from_raw_parts(a, n) };
        return if n >= LANES { of_many::<T, MAX, LANES>(x) } else { of_many::<T, MAX, LEAST>(x) };
    }
    // SAFETY: duty 1.
    let (mut value, mut at) = (unsafe { *a }, 0);
    for i in 1..n {
        // SAFETY: duty 1.
        let x = unsafe { *a.offset(i as isize * step) };
        if beats::<T, MAX>(x, value) {
            (value, at) = (x, i);
        }
    }
    (value, at)
}

/// The best of at least `N` elements, which is a power of two: first what it is, in `N` lanes, then where it comes
/// first. That one is returned: numbers that are equal may differ in sign.
#[inline(always)]
fn of_many<T: PartialOrd + Copy, const MAX: bool, const N: usize>(x: &[T]) -> (T, usize) {
    let better = |x: T, best: T| if beats::<T, MAX>(x, best) { x } else { best };
    let (whole, _) = x.as_chunks::<N>();
    let mut lanes = whole[0];
    // The last lanes have some elements once more.
    let last = x.last_chunk::<N>().expect("as many elements");
    for part in whole[1..].iter().chain([last]) {
        for (best, &x) in lanes.iter_mut().zip(part) {
            *best = better(x, *best);
        }
    }
    let mut width = N / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = better(lanes[i + width], lanes[i]);
        }
        width /= 2;
    }
    let value = lanes[0];
    for (i, part) in x.chunks(4 * LANES).enumerate() {
        let first = place(part, value);
        if first < part.len() {
            return (part[first], i * 4 * LANES + first);
        }
    }
    // It is one of them, unless somebody else writes to them meanwhile.
    (value, 0)
}

/// The first place of a part where `value` is, or a NaN if it is one, found without a branch; its length if there is
/// none.
#[inline(always)]
#[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
fn place<T: PartialOrd + Copy>(part: &[T], value: T) -> usize {
    let none = part.len() as u32;
    let mut first = none;
    for (i, &x) in (0..).zip(part) {
        let like = (x == value) | ((x != x) & (value != value));
        first = first.min(if like { i } else { none });
    }
    first as usize
}

/// `width` columns at once; steps from column to column, from row to row, and from result to result. Duties: 1. `a` is
/// readable and initialised for `n > 0` rows of them. 2. The results are writable. 3. `0 < width <= STRIP`.
struct Strip<T, const MAX: bool> {
    a: *const T,
    n: usize,
    width: usize,
    steps: [isize; 3],
    values: *mut T,
    indices: *mut i64,
}

impl<T: SimdElement + PartialOrd, const MAX: bool> Task for Strip<T, MAX> {
    type Out = ();
    const WIDE: bool = T::WIDE || T::LONG;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Strip { a, n, width, steps: [column, row, out], values, indices } = self;
        // SAFETY: duty 1.
        let (mut value, mut at) = ([unsafe { *a }; STRIP], [0u32; STRIP]);
        let mut block = [0usize; STRIP];
        for (j, value) in value[..width].iter_mut().enumerate() {
            // SAFETY: duty 1.
            *value = unsafe { *a.offset(j as isize * column) };
        }
        for start in (0..n).step_by(BLOCK) {
            let mut better = [false; STRIP];
            for i in start..n.min(start + BLOCK) {
                // SAFETY: duty 1.
                let a = unsafe { a.offset(i as isize * row) };
                let (value, at) = (&mut value[..width], &mut at[..width]);
                for j in 0..width {
                    // SAFETY: duty 1.
                    let x = unsafe { *a.offset(j as isize * column) };
                    let wins = beats::<T, MAX>(x, value[j]);
                    value[j] = if wins { x } else { value[j] };
                    at[j] = if wins { (i - start) as u32 } else { at[j] };
                    if n > BLOCK {
                        better[j] |= wins;
                    }
                }
            }
            for j in 0..width {
                block[j] = if better[j] { start } else { block[j] };
            }
        }
        for j in 0..width {
            // SAFETY: duty 2.
            unsafe {
                *values.offset(j as isize * out) = value[j];
                *indices.offset(j as isize * out) = (block[j] + at[j] as usize) as i64;
            }
        }
    }
}

/// A strip whose rows follow one another without a gap: `many` rows are one, and the best of its columns are compared
/// at last.
///
/// # Safety
/// The duties of [`Strip`], for as many columns too, and there are as many rows.
unsafe fn folded<T: SimdElement + PartialOrd, const MAX: bool>(
    level: InstructionSet,
    strip: Strip<T, MAX>,
    many: usize,
) {
    let Strip { a, n, width, steps: [column, row, out], values, indices } = strip;
    let (rows, columns, long) = (n / many, many * width, row * many as isize);
    // SAFETY: duty 1 of the strip.
    let (mut best, mut places) = ([unsafe { *a }; STRIP], [0i64; STRIP]);
    let (to, at) = (best.as_mut_ptr(), places.as_mut_ptr());
    // SAFETY: (1) the same elements, but for the last rows; (2) the arrays; (3) as promised.
    unsafe {
        for_isa(
            level,
            Strip::<T, MAX> { a, n: rows, width: columns, steps: [column, long, 1], values: to, indices: at },
        )
    };
    for j in 0..width {
        let (mut value, mut at) = (best[j], places[j] * many as i64);
        for k in 1..many {
            let (x, i) = (best[k * width + j], places[k * width + j] * many as i64 + k as i64);
            if beats::<T, MAX>(x, value) || i < at && !beats::<T, MAX>(value, x) {
                (value, at) = (x, i);
            }
        }
        for i in rows * many..n {
            // SAFETY: duty 1 of the strip.
            let x = unsafe { *a.offset(i as isize * row + j as isize * column) };
            if beats::<T, MAX>(x, value) {
                (value, at) = (x, i as i64);
            }
        }
        // SAFETY: duty 2 of the strip.
        unsafe {
            *values.offset(j as isize * out) = value;
            *indices.offset(j as isize * out) = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_definition_on_every_layout() {
        let sizes = [1usize, 2, 5, 15, 16, 17, 33, 63, 64, 65, 200, 300];
        for level in InstructionSet::available() {
            for &rows in &sizes {
                for &columns in &sizes {
                    let n = rows * columns;
                    let mut x: Vec<f32> = (0..2 * n).map(|i| ((i * 37 + 11) % 101) as f32).collect();
                    for poisoned in [false, true] {
                        if poisoned {
                            x.iter_mut().step_by(97).for_each(|x| *x = f32::NAN);
                        }
                        // Along rows, along columns, and both with gaps.
                        for (kept, reduced, ks, rs) in [
                            (rows, columns, columns as isize, 1),
                            (columns, rows, 1, columns as isize),
                            (rows, columns, 2 * columns as isize, 2),
                            (columns, rows, 2, 2 * columns as isize),
                        ] {
                            let (mut v, mut at) = (vec![0f32; kept], vec![-1i64; kept]);
                            // SAFETY: `2 n` elements; results for every kept position.
                            unsafe {
                                let (pv, pi) = (v.as_mut_ptr(), at.as_mut_ptr());
                                best::<f32, true>(level, &[kept], &[ks], &[reduced], &[rs], x.as_ptr(), pv, pi);
                            }
                            for k in 0..kept {
                                let line: Vec<f32> =
                                    (0..reduced).map(|i| x[(k as isize * ks + i as isize * rs) as usize]).collect();
                                let top = line.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                                let nan = line.iter().position(|x| x.is_nan());
                                let want = nan.or_else(|| line.iter().position(|&x| x == top));
                                assert_eq!(Some(at[k] as usize), want, "{level:?} {kept} {reduced} {ks} {rs}");
                                assert!(v[k] == top || nan.is_some() && v[k].is_nan());
                            }
                        }
                    }
                }
            }
        }
    }

    /// Along the middle axis of small blocks, in every order of the two kept axes, some of them in two lots.
    #[test]
    fn short_lines_of_many_blocks() {
        fn check<T: SimdElement + PartialOrd + Default + Send + Sync + std::fmt::Debug>(of: impl Fn(i32) -> T) {
            for (lots, n, columns) in [(15, 3, 4), (16, 3, 4), (100, 5, 4), (65, 2, 1), (300, 16, 3), (40, 17, 3)] {
                for (columns, strides) in [
                    (columns, [n * columns, columns, 1]),
                    // The columns follow the line, or are expanded; lots in reverse.
                    (columns, [n * columns, 1, n]),
                    (columns, [n, 1, 0]),
                    (columns, [1, lots * columns, lots]),
                ] {
                    let x: Vec<T> = (0..2 * lots * n * columns).map(|i| of((i * 37 + 11) as i32 % 23)).collect();
                    let [l, s, c] = strides.map(|s| s as isize);
                    let two = (lots * n * columns) as isize;
                    let count = 2 * lots * columns;
                    let (mut v, mut at) = (vec![T::default(); count], vec![-1i64; count]);
                    // SAFETY: the elements of two times as many lots; results for each kept position.
                    unsafe {
                        let (pv, pi, level) = (v.as_mut_ptr(), at.as_mut_ptr(), InstructionSet::detect());
                        best::<T, false>(level, &[2, lots, columns], &[two, l, c], &[n], &[s], x.as_ptr(), pv, pi);
                    }
                    for k in 0..count {
                        let (lot, column) = (k / columns, k % columns);
                        let start = lot / lots * (lots * n * columns) + lot % lots * l as usize + column * c as usize;
                        let line: Vec<T> = (0..n).map(|i| x[start + i * s as usize]).collect();
                        let want =
                            (0..n).fold(0, |best, i| if beats::<T, false>(line[i], line[best]) { i } else { best });
                        let found = at[k] as usize;
                        assert_eq!(found, want, "{lots} {n} {columns} {strides:?} {k}");
                        assert!(!beats::<T, false>(v[k], line[want]) && !beats::<T, false>(line[want], v[k]));
                    }
                }
            }
        }
        check(|i| i as u8);
        check(|i| i as i16);
        check(|i| if i == 7 { f32::NAN } else { i as f32 });
        check(|i| if i == 7 { f64::NAN } else { i as f64 });
        check(i64::from);
    }

    #[test]
    fn several_axes_integers_and_the_worst_values() {
        let x: Vec<i16> = (0..2 * 3 * 4 * 5).map(|i| (i * 53 % 29) as i16).collect();
        let (mut v, mut at) = ([0i16; 3], [-1i64; 3]);
        // SAFETY: sizes 2, 3, 4, 5; the second axis is kept.
        unsafe {
            let (pv, pi) = (v.as_mut_ptr(), at.as_mut_ptr());
            best::<i16, false>(InstructionSet::detect(), &[3], &[20], &[2, 4, 5], &[60, 5, 1], x.as_ptr(), pv, pi);
        }
        for k in 0..3 {
            let line: Vec<i16> = (0..40).map(|i| x[i / 20 * 60 + k * 20 + i % 20]).collect();
            let low = line.iter().min().copied();
            assert_eq!((Some(v[k]), Some(at[k] as usize)), (low, line.iter().position(|x| Some(*x) == low)));
        }
        // Zeros are equal, and the first of them is it, with its sign.
        for n in [2, 16, 40, 70, 300, 600] {
            for (first, sign) in [(-0.0, 0.0), (0.0, -0.0)] {
                let mut x = vec![-1.0f32; n];
                (x[n / 2], x[n - 1]) = (first, sign);
                let (mut v, mut at) = ([7f32], [-1i64]);
                // SAFETY: `n` elements.
                unsafe {
                    let (pv, pi) = (v.as_mut_ptr(), at.as_mut_ptr());
                    best::<f32, true>(InstructionSet::detect(), &[], &[], &[n], &[1], x.as_ptr(), pv, pi);
                }
                assert_eq!(
                    (v[0].to_bits(), at[0] as usize),
                    (if n == 2 { sign } else { first }.to_bits(), n / 2),
                    "{n}"
                );
            }
        }
        let low = [f32::NEG_INFINITY; 70];
        let (mut v, mut at) = ([0f32], [-1i64]);
        // SAFETY: 70 elements.
        unsafe {
            let (pv, pi) = (v.as_mut_ptr(), at.as_mut_ptr());
            best::<f32, true>(InstructionSet::detect(), &[], &[], &[70], &[1], low.as_ptr(), pv, pi);
        }
        assert_eq!((v[0], at[0]), (f32::NEG_INFINITY, 0));
    }
}
