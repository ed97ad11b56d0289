//! Small real matrices, as many at once as a vector has lanes.
//!
//! A matrix of `m` rows is a list of vectors, element (i, j) of all of them at `j * m + i`. Every matrix becomes what
//! the routine for one makes of it, bit for bit but for the signs of zeros: the steps are the same in the same order,
//! and what takes another way there for a rare value is left to it here. The gradient of Cholesky is the same but for
//! rounding, since its sums may have another order.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use retrograd_kernels::matmul::Layout;
use retrograd_kernels::real::{Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, Vector, for_isa};

use crate::Scalar;
use crate::matrices::Matrices;
use crate::triangular::Triangle;

/// The most rows and columns.
pub(crate) const MOST: usize = 16;

/// A matrix in every lane.
type Buffer<V> = MaybeUninit<[V; MOST * MOST]>;

/// How many matrices of `n` rows and columns a routine takes at once, if there are so many.
pub fn together<T: Scalar>(n: usize) -> usize {
    if <T as Ring>::COMPLEX || n > MOST { 1 } else { 64 / size_of::<T>() }
}

/// Whether `count` matrices of at most this size are worth it: a vector of them takes as long as some three of the
/// smallest alone, and as eight of the largest, however many of its lanes are used.
pub(crate) fn serve<T: Scalar>(count: usize, sizes: &[usize]) -> bool {
    let fit = sizes.iter().all(|&n| 0 < n && n <= MOST && count > n / 2);
    !<T as Ring>::COMPLEX && count > 2 && fit
}

/// What is done with some matrices, a vector of them at a time.
pub trait Work<T> {
    /// Does it.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`.
    unsafe fn run<V: Vector<Elem = T>>(self);
}

/// [`Work`] as a task.
struct Run<T, W>(W, PhantomData<T>);

impl<T: Scalar, W: Work<T>> Task for Run<T, W> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: (1) our duty 2.
        unsafe { T::in_lanes::<S, W>(self.0) }
    }
}

pub(crate) fn run<T: Scalar, W: Work<T>>(work: W) {
    // SAFETY: `Run` has no duties.
    unsafe { for_isa(InstructionSet::detect(), Run(work, PhantomData)) }
}

/// Where the elements of `lanes` matrices are that follow one another evenly, from `first` on: the first one's, and the
/// distance of two.
///
/// # Panics
/// If a matrix leaves its slice.
#[inline(never)]
fn even<T: Scalar>(x: &Matrices<'_, T>, first: usize, lanes: usize) -> Option<(usize, isize)> {
    let of = x.layout;
    let last = (of.rows - 1) * of.rs as usize + (of.cols - 1) * of.cs as usize;
    let here = first..(first + lanes).min(x.count());
    assert!(here.clone().all(|l| x.offset(l) + last < x.data.len()), "outside the slice: {of:?}");
    let start = x.offset(first);
    let step = x.offset(first + 1) as isize - start as isize;
    let evenly = here.clone().all(|l| x.offset(l) as isize == start as isize + (l - first) as isize * step);
    let in_columns = of.rs == 1 && (of.cs == of.rows as isize || of.cols == 1);
    let in_rows = of.cs == 1 && (of.rs == of.cols as isize || of.rows == 1);
    let is_whole = here.len() == lanes && of.rows * of.cols >= lanes;
    (is_whole && evenly && (in_columns || in_rows)).then_some((start, step))
}

/// [`load`] of matrices anywhere.
///
/// # Safety
/// 1. The matrices are in their slice; `to` has a place for every element of `lanes` matrices.
#[inline(never)]
unsafe fn load_one_by_one<T: Scalar>(x: &Matrices<'_, T>, first: usize, lanes: usize, to: *mut T) {
    let (Layout { rows, cols, rs, cs, .. }, last) = (x.layout, x.count() - 1);
    for l in 0..lanes {
        // SAFETY: duty 1.
        unsafe {
            let from = x.data.as_ptr().add(x.offset((first + l).min(last)));
            for j in 0..cols {
                for i in 0..rows {
                    *to.add((j * rows + i) * lanes + l) = *from.offset(i as isize * rs + j as isize * cs);
                }
            }
        }
    }
}

/// Loads matrices `first` and those behind it; lanes for which there is none have the last one.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `to` has a place for every element of a matrix.
#[inline(always)]
unsafe fn load<V: Vector<Elem: Scalar>>(x: &Matrices<'_, V::Elem>, first: usize, to: *mut V) {
    let (Layout { rows, cols, cs, .. }, elements) = (x.layout, x.layout.rows * x.layout.cols);
    // SAFETY: (1) ours; every element that is read is in the slice, as `even` has checked, and by duty 2 every one that
    // is written has a place.
    unsafe {
        let Some((start, step)) = even(x, first, V::LEN) else {
            return load_one_by_one(x, first, V::LEN, to.cast::<V::Elem>());
        };
        let from = x.data.as_ptr().add(start);
        let mut turned = Buffer::<V>::uninit();
        let turns = cs == 1 && rows > 1 && cols > 1;
        let target = if turns { turned.as_mut_ptr().cast() } else { to };
        for e in (0..elements).step_by(V::LEN) {
            let e = e.min(elements - V::LEN);
            V::transpose(from.add(e), step, target.add(e).cast(), V::LEN as isize);
        }
        if turns {
            for i in 0..rows {
                for j in 0..cols {
                    *to.add(j * rows + i) = *target.add(i * cols + j);
                }
            }
        }
    }
}

/// Stores the matrices of as many lanes as there are entries of `elements` in `to`, at most all.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `from` has `elements` vectors.
#[inline(always)]
unsafe fn store<V: Vector<Elem: Scalar>>(from: *const V, elements: usize, to: &mut [V::Elem]) {
    // SAFETY: (1) ours; duty 2; the slice has as many elements.
    unsafe {
        if to.len() < elements * V::LEN || elements < V::LEN {
            return store_one_by_one(from.cast::<V::Elem>(), elements, V::LEN, to);
        }
        for e in (0..elements).step_by(V::LEN) {
            let e = e.min(elements - V::LEN);
            V::transpose(from.add(e).cast(), V::LEN as isize, to.as_mut_ptr().add(e), elements as isize);
        }
    }
}

/// [`store`] of a few elements or matrices.
///
/// # Safety
/// 1. `from` has `elements` of `lanes` matrices.
#[inline(never)]
unsafe fn store_one_by_one<T: Scalar>(from: *const T, elements: usize, lanes: usize, to: &mut [T]) {
    for (l, to) in to.chunks_exact_mut(elements).take(lanes).enumerate() {
        for (e, to) in to.iter_mut().enumerate() {
            // SAFETY: duty 1.
            *to = unsafe { *from.add(e * lanes + l) };
        }
    }
}

/// The elements of a matrix in lanes, at strides in vectors.
#[derive(Clone, Copy)]
struct View<V> {
    p: *mut V,
    rs: usize,
    cs: usize,
}

impl<V: Copy> View<V> {
    fn columns(buffer: &mut Buffer<V>, rows: usize) -> Self {
        Self { p: buffer.as_mut_ptr().cast(), rs: 1, cs: rows }
    }
    #[inline(always)]
    fn at(self, i: usize, j: usize) -> *mut V {
        self.p.wrapping_add(i * self.rs + j * self.cs)
    }
    fn transposed(self) -> Self {
        Self { rs: self.cs, cs: self.rs, ..self }
    }
}

/// The factorization of [`crate::cholesky::factor`]; false if a matrix has none.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `a` has `n` rows and columns.
#[inline(always)]
unsafe fn cholesky<V: Vector>(n: usize, upper: bool, a: View<V>) -> bool {
    // SAFETY: duties 1 and 2.
    unsafe {
        let zero = (*a.p).of(0.0);
        for k in 0..n {
            let pivot = *a.at(k, k);
            if !V::all(zero.lt(pivot)) {
                return false;
            }
            let root = pivot.sqrt();
            let inverse = pivot.of(1.0) / root;
            *a.at(k, k) = root;
            for i in k + 1..n {
                *a.at(i, k) = *a.at(i, k) * inverse;
            }
            for j in k + 1..n {
                let factor = -*a.at(j, k);
                for i in j..n {
                    *a.at(i, j) = (*a.at(i, k)).fma(factor, *a.at(i, j));
                }
            }
        }
        for j in 0..n {
            for i in j + 1..n {
                if upper {
                    *a.at(j, i) = *a.at(i, j);
                }
                *(if upper { a.at(i, j) } else { a.at(j, i) }) = zero;
            }
        }
    }
    true
}

/// The factorization of [`crate::lu::factor`]. Pivots are numbers from 0 on.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `a` has `m` rows and `n` columns; there is a place for as many vectors
///    of pivots.
#[inline(always)]
unsafe fn factor<V: Vector>([m, n]: [usize; 2], a: View<V>, pivots: *mut V::Elem) -> V {
    // SAFETY: duties 1 and 2.
    unsafe {
        let (zero, one) = ((*a.p).of(0.0), (*a.p).of(1.0));
        let tiny = zero.splat(V::Elem::SQUARES[0]);
        let mut info = zero;
        for k in 0..m.min(n) {
            // The first of the largest; a NaN leaves the number before it.
            let (mut most, mut place) = (-one, zero.of(k as f64));
            for i in k..m {
                let size = (*a.at(i, k)).abs();
                let larger = most.lt(size);
                (most, place) = (size.select(larger, most), zero.of(i as f64).select(larger, place));
            }
            place.store(pivots.add(k * V::LEN));
            let mut is_pivot = [V::eq(zero, one); MOST];
            for (i, is_pivot) in is_pivot.iter_mut().enumerate().take(m).skip(k + 1) {
                *is_pivot = place.eq(zero.of(i as f64));
            }
            for j in 0..k + 1 {
                let first = *a.at(k, j);
                let mut top = first;
                for (i, &is_pivot) in is_pivot.iter().enumerate().take(m).skip(k + 1) {
                    let x = *a.at(i, j);
                    *a.at(i, j) = first.select(is_pivot, x);
                    top = x.select(is_pivot, top);
                }
                *a.at(k, j) = top;
            }
            let value = *a.at(k, k);
            let is_zero = value.eq(zero);
            let unset = info.eq(zero);
            info = zero.of(k as f64 + 1.0).select(V::both(is_zero, unset), info);
            // The reciprocal of the smallest numbers is infinite.
            let has_none = value.abs().lt(tiny);
            let inverse = one / value;
            if V::mask_bits(has_none) == 0 {
                for i in k + 1..m {
                    *a.at(i, k) = *a.at(i, k) * inverse;
                }
            } else {
                let by = one.select(is_zero, value);
                for i in k + 1..m {
                    let x = *a.at(i, k);
                    *a.at(i, k) = (x / by).select(has_none, x * inverse);
                }
            }
            for j in k + 1..n {
                let first = *a.at(k, j);
                let mut top = first;
                for (i, &is_pivot) in is_pivot.iter().enumerate().take(m).skip(k + 1) {
                    top = (*a.at(i, j)).select(is_pivot, top);
                }
                *a.at(k, j) = top;
                let by = -top;
                for (i, &is_pivot) in is_pivot.iter().enumerate().take(m).skip(k + 1) {
                    let x = first.select(is_pivot, *a.at(i, j));
                    *a.at(i, j) = (*a.at(i, k)).fma(by, x);
                }
            }
        }
        info
    }
}

/// Swaps row `i` of `cols` columns with the row that `pivots[i]` says, in this order or backwards.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. There are vectors of `n` pivots, and `x` has `n` rows of `cols` columns.
#[inline(always)]
unsafe fn swap_rows<V: Vector>(n: usize, cols: usize, pivots: *const V::Elem, x: View<V>, backwards: bool) {
    // SAFETY: duties 1 and 2.
    unsafe {
        for i in 0..n {
            let i = if backwards { n - 1 - i } else { i };
            let pivot = V::load(pivots.add(i * V::LEN));
            for other in i + 1..n {
                let swaps = pivot.eq(pivot.of(other as f64));
                if V::mask_bits(swaps) == 0 {
                    continue;
                }
                for j in 0..cols {
                    let (a, b) = (*x.at(i, j), *x.at(other, j));
                    *x.at(i, j) = b.select(swaps, a);
                    *x.at(other, j) = a.select(swaps, b);
                }
            }
        }
    }
}

/// The solution of [`crate::triangular::solve`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `a` has `n` rows and columns, `x` as many rows (columns unless `left`) of
///    `cols`.
#[inline(always)]
unsafe fn substitute<V: Vector>(triangle: Triangle, left: bool, [n, cols]: [usize; 2], mut a: View<V>, mut x: View<V>) {
    let mut upper = triangle.upper;
    if triangle.transposed == left {
        (a, upper) = (a.transposed(), !upper);
    }
    if !left {
        x = x.transposed();
    }
    // SAFETY: duties 1 and 2.
    unsafe {
        let one = (*a.p).of(1.0);
        let mut inverses = [one; MOST];
        for (i, inverse) in inverses.iter_mut().enumerate().take(n) {
            *inverse = if triangle.unit { -one } else { -(one / *a.at(i, i)) };
        }
        for j in 0..cols {
            for k in 0..n {
                let k = if upper { n - 1 - k } else { k };
                // Minus the solution, for the sums of what is left.
                let done = *x.at(k, j) * inverses[k];
                *x.at(k, j) = -done;
                for i in if upper { 0..k } else { k + 1..n } {
                    *x.at(i, j) = done.fma(*a.at(i, k), *x.at(i, j));
                }
            }
        }
    }
}

/// See [`crate::cholesky::factor_all`].
pub(crate) struct Cholesky<'a, T> {
    pub upper: bool,
    pub x: Matrices<'a, T>,
    pub a: &'a mut [T],
    /// Set to -1 where nothing was done.
    pub info: &'a mut [i32],
}

impl<T: Scalar> Work<T> for Cholesky<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector<Elem = T>>(self) {
        let Self { upper, x, a, info } = self;
        let (n, mut buffer) = (x.layout.rows, Buffer::<V>::uninit());
        let view = View::columns(&mut buffer, n);
        for ((first, a), info) in (0..).step_by(V::LEN).zip(a.chunks_mut(n * n * V::LEN)).zip(info.chunks_mut(V::LEN)) {
            // SAFETY: (1) ours; (2) a buffer has place for `MOST` rows and columns, which `n` is not above.
            let done = unsafe {
                load::<V>(&x, first, view.p);
                cholesky::<V>(n, upper, view)
            };
            info.fill(if done { 0 } else { -1 });
            if done {
                // SAFETY: as before.
                unsafe { store::<V>(view.p, n * n, a) }
            }
        }
    }
}

/// See [`crate::lu::factor_all`].
pub(crate) struct Factor<'a, T> {
    pub x: Matrices<'a, T>,
    pub a: &'a mut [T],
    pub pivots: &'a mut [i32],
    pub info: &'a mut [i32],
}

impl<T: Scalar> Work<T> for Factor<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector<Elem = T>>(self) {
        let Self { x, a, pivots, info } = self;
        let (m, n, mut buffer) = (x.layout.rows, x.layout.cols, Buffer::<V>::uninit());
        let k = m.min(n);
        let view = View::columns(&mut buffer, m);
        let parts = a.chunks_mut(m * n * V::LEN).zip(pivots.chunks_mut(k * V::LEN)).zip(info.chunks_mut(V::LEN));
        for (first, ((a, pivots), info)) in (0..).step_by(V::LEN).zip(parts) {
            let mut numbers = [T::ZERO; (MOST + 1) * 16];
            let places = numbers.as_mut_ptr();
            // SAFETY: (1) ours; (2) a buffer has place for `MOST` rows and columns, and there is one for as many
            // vectors of pivots, of at most 16 lanes, and one more.
            unsafe {
                load::<V>(&x, first, view.p);
                factor::<V>([m, n], view, places).store(places.add(MOST * V::LEN));
                store::<V>(view.p, m * n, a);
            }
            store_pivots(&numbers, k, V::LEN, pivots, info);
        }
    }
}

/// The pivots of matrices `first` and those behind it, as numbers from 0 on; lanes for which there is none have those
/// of the last one.
///
/// # Panics
/// If a pivot is not a row.
#[inline(never)]
fn load_pivots<T: Scalar>(pivots: &[i32], n: usize, first: usize, lanes: usize, to: &mut [T]) {
    let last = pivots.len() / n - 1;
    for l in 0..lanes {
        let from = &pivots[(first + l).min(last) * n..][..n];
        for (i, &pivot) in from.iter().enumerate() {
            assert!(0 < pivot && pivot as usize <= n, "a pivot is not a row");
            to[i * lanes + l] = T::of_real(<T::Real as Real>::of(f64::from(pivot - 1)));
        }
    }
}

/// Writes the pivots that `numbers` has, counted from 1, and what it has of each matrix behind them.
#[inline(never)]
fn store_pivots<T: Scalar>(numbers: &[T], k: usize, lanes: usize, pivots: &mut [i32], info: &mut [i32]) {
    for (l, (pivots, info)) in pivots.chunks_exact_mut(k).zip(info).enumerate() {
        for (i, pivot) in pivots.iter_mut().enumerate() {
            *pivot = numbers[i * lanes + l].whole() + 1;
        }
        *info = numbers[MOST * lanes + l].whole();
    }
}

/// See [`crate::triangular::solve_all`] and [`crate::lu::solve_all`].
pub(crate) struct Solve<'a, T> {
    /// The triangles to be solved with, one after the other.
    pub triangles: &'a [Triangle],
    pub left: bool,
    /// Empty, or rows that are swapped before, or after if so told, in reverse order.
    pub pivots: &'a [i32],
    pub after: bool,
    pub a: Matrices<'a, T>,
    pub b: Matrices<'a, T>,
    pub x: &'a mut [T],
}

impl<T: Scalar> Work<T> for Solve<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector<Elem = T>>(self) {
        let Self { triangles, left, pivots, after, a, b, x } = self;
        let (n, rows, cols) = (a.layout.rows, b.layout.rows, b.layout.cols);
        let (mut factors, mut buffer) = (Buffer::<V>::uninit(), Buffer::<V>::uninit());
        let (factors, view) = (View::columns(&mut factors, n), View::columns(&mut buffer, rows));
        let (along, turned) = if left { (cols, view) } else { (rows, view.transposed()) };
        for (first, x) in (0..).step_by(V::LEN).zip(x.chunks_mut(rows * cols * V::LEN)) {
            let mut own = [<T as Ring>::ZERO; MOST * 16];
            if !pivots.is_empty() {
                load_pivots(pivots, n, first, V::LEN, &mut own);
            }
            let own = own.as_ptr();
            // SAFETY: (1) ours; (2) buffers have place for `MOST` rows and columns, and there are as many pivots.
            unsafe {
                load::<V>(&a, first, factors.p);
                load::<V>(&b, first, view.p);
                // Rows are swapped before the first triangle or after the last one.
                let swaps_at = if after { triangles.len() } else { 0 };
                for step in 0..=triangles.len() {
                    if step == swaps_at && !pivots.is_empty() {
                        swap_rows::<V>(n, along, own, turned, after);
                    }
                    if let Some(&triangle) = triangles.get(step) {
                        substitute::<V>(triangle, left, [n, along], factors, view);
                    }
                }
                store::<V>(view.p, rows * cols, x);
            }
        }
    }
}

/// See [`crate::cholesky::vjp_all`].
pub(crate) struct CholeskyVjp<'a, T> {
    pub upper: bool,
    pub l: Matrices<'a, T>,
    pub g: Matrices<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Scalar> Work<T> for CholeskyVjp<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector<Elem = T>>(self) {
        let Self { upper, l, g, out } = self;
        let n = l.layout.rows;
        let mut buffers = [const { Buffer::<V>::uninit() }; 3];
        let [l_view, g_view, view] = buffers.each_mut().map(|buffer| View::columns(buffer, n));
        // Both as they are of a lower factor.
        let (lower, g_lower) = if upper { (l_view.transposed(), g_view.transposed()) } else { (l_view, g_view) };
        for (first, out) in (0..).step_by(V::LEN).zip(out.chunks_mut(n * n * V::LEN)) {
            // SAFETY: (1) ours; (2) buffers have place for `MOST` rows and columns.
            unsafe {
                load::<V>(&l, first, l_view.p);
                load::<V>(&g, first, g_view.p);
                let zero = (*l_view.p).of(0.0);
                let half = zero.of(0.5);
                for j in 0..n {
                    for i in 0..n {
                        let mut sum = zero;
                        if i >= j {
                            for k in 0..n {
                                sum = (*lower.at(k, i)).fma(*g_lower.at(k, j), sum);
                            }
                        }
                        *view.at(i, j) = if i == j { sum * half } else { sum };
                    }
                }
                let triangle = Triangle::default();
                substitute::<V>(triangle, false, [n, n], lower, view);
                substitute::<V>(triangle, false, [n, n], lower, view.transposed());
                for j in 0..n {
                    for i in 0..=j {
                        let mean = (*view.at(i, j) + *view.at(j, i)) * half;
                        (*view.at(i, j), *view.at(j, i)) = (mean, mean);
                    }
                }
                store::<V>(view.p, n * n, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lu::Side;
    use crate::{cholesky, lu, triangular};

    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    /// Matrices in some memory, in three orders, one of them with gaps.
    fn given<T: Scalar<Real = T> + Real>(
        size: [usize; 2],
        count: usize,
        order: usize,
        f: impl Fn(usize, usize, usize) -> f64,
    ) -> (Vec<T>, Vec<isize>, [isize; 2]) {
        let [rows, cols] = size;
        let strides = match order {
            0 => [1, rows],
            1 => [cols, 1],
            _ => [2, 2 * rows + 1],
        };
        let step = if order < 2 { rows * cols } else { 2 * rows * cols + cols + 3 };
        let mut data = vec![T::of(f64::NAN); step * count];
        for l in 0..count {
            for i in 0..rows {
                for j in 0..cols {
                    data[l * step + i * strides[0] + j * strides[1]] = T::of(f(l, i, j));
                }
            }
        }
        // In the order of the memory, or not.
        let at = |l: usize| if order == 2 { (l * 7 + 3) % count } else { l };
        let offsets = (0..count).map(|l| (at(l) * step) as isize).collect();
        (data, offsets, strides.map(|s| s as isize))
    }

    fn several<'a, T: Copy>(
        size: [usize; 2],
        (data, offsets, strides): &'a (Vec<T>, Vec<isize>, [isize; 2]),
    ) -> Matrices<'a, T> {
        use retrograd_kernels::matmul::Layout;
        let layout = Layout { rows: size[0], cols: size[1], offset: 0, rs: strides[0], cs: strides[1] };
        Matrices::new(data, layout, crate::matrices::Places::Listed(offsets))
    }

    /// Runs a routine on all matrices, and on each alone, and compares every bit, or if sums have another order, to so
    /// many units in the last place of the largest.
    fn compare<T: Scalar<Real = T> + Real + Into<f64>, const K: usize>(
        what: &str,
        count: usize,
        given: [Matrices<'_, T>; 2],
        results: [usize; K],
        units: f64,
        work: &impl Fn([Matrices<'_, T>; 2], &mut [Vec<T>; K], &mut Vec<i32>),
    ) {
        let make = |count: usize| results.map(|len| vec![T::of(7.0); len * count]);
        let (mut all, mut numbers) = (make(count), vec![]);
        work(given, &mut all, &mut numbers);
        let mut numbers_alone = vec![];
        for l in 0..count {
            let mut one = make(1);
            work(given.map(|x| x.only(l)), &mut one, &mut numbers_alone);
            for (all, (one, len)) in all.iter().zip(one.iter().zip(results)) {
                let most = one.iter().fold(0.0, |most: f64, &y| most.max(y.into().abs()));
                let rounding = units * T::EPSILON.into() * most;
                for (i, (&x, &y)) in all[l * len..][..len].iter().zip(one).enumerate() {
                    let (x, y): (f64, f64) = (x.into(), y.into());
                    // A zero may have either sign.
                    let near = units > 0.0 && (x - y).abs() <= rounding;
                    assert!(
                        near || x == y || x.is_nan() && y.is_nan(),
                        "{what} {:?} {count} {l} {i}: {x} {y}",
                        given[0].layout
                    );
                }
            }
        }
        numbers.sort();
        numbers_alone.sort();
        assert_eq!(numbers, numbers_alone, "{what} {count}");
    }

    fn check<T: Scalar<Real = T> + Real + Into<f64>>(n: usize, cols: usize, count: usize, order: usize) {
        let near_one = |l: usize, i: usize, j: usize| noise(l * 999 + i * 31 + j) + if i == j { 4.0 } else { 0.0 };
        let square = [n, n];
        // Positive but for one of a dozen.
        let positive = given::<T>(square, count, order, |l, i, j| {
            let (i, j) = (i.max(j), i.min(j));
            if l % 12 == 5 && i == j && i == n / 2 {
                -1.0
            } else {
                near_one(l, i, j) / 9.0 + if i == j { 4.0 } else { 0.0 }
            }
        });
        let any = given::<T>(square, count, order, |l, i, j| noise(l * 999 + i * 31 + j + 5));
        let a = several(square, &any);
        for upper in [false, true] {
            compare("cholesky", count, [several(square, &positive), a], [n * n], 0.0, &|[x, _], [out], info| {
                let mut own = vec![0; x.count()];
                cholesky::factor_all(upper, x, out, &mut own, &mut []);
                info.extend(own);
            });
            let l = given::<T>(square, count, order, |l, i, j| match (i == j, (i < j) == upper) {
                (true, _) => 2.0 + noise(l + i),
                (_, true) => noise(l * 99 + i * 31 + j),
                _ => 0.0,
            });
            compare("vjp", count, [several(square, &l), a], [n * n], 1e3, &|[l, g], [out], _| {
                cholesky::vjp_all(upper, l, g, out, &mut vec![T::ZERO; cholesky::vjp_scratch(n)]);
            });
            for choice in 0..8 {
                let on = |bit: usize| choice >> bit & 1 == 1;
                let triangle = Triangle { upper, transposed: on(0), conj: false, unit: on(1) };
                let size = if on(2) { [n, cols] } else { [cols, n] };
                let right = given::<T>(size, count, (order + 1) % 3, |l, i, j| noise(l * 77 + i * 13 + j));
                compare(
                    "triangle",
                    count,
                    [several(square, &l), several(size, &right)],
                    [n * cols],
                    0.0,
                    &|[a, b], [x], _| {
                        triangular::solve_all(&[triangle], on(2), a, b, x);
                    },
                );
            }
        }
        // Numbers that are equal to others, zeros on the diagonal of U, the smallest ones, infinities and NaN.
        let odd = given::<T>([n, cols], count, order, |l, i, j| {
            let x = (noise(l * 999 + i * 31 + j) * 2.0).round();
            match (l % 6, i == n / 2) {
                (1, true) => 0.0,
                (2, true) => f64::INFINITY,
                (3, true) => f64::NAN,
                (4, _) => x * if size_of::<T>() == 4 { 1e-40 } else { 1e-310 },
                (5, _) => noise(l * 99 + i * 31 + j),
                _ => x,
            }
        });
        let k = n.min(cols);
        let odd = several([n, cols], &odd);
        compare("lu", count, [odd, odd], [n * cols], 0.0, &|[x, _], [out], numbers| {
            let (mut pivots, mut info) = (vec![0; k * x.count()], vec![0; x.count()]);
            lu::factor_all(x, out, &mut pivots, &mut info);
            numbers.extend(pivots);
            numbers.extend(info);
        });
        for choice in 0..4 {
            let side = Side { right: choice & 1 == 1, adjoint: choice & 2 == 2 };
            let size = if side.right { [cols, n] } else { [n, cols] };
            let right = given::<T>(size, count, (order + 2) % 3, |l, i, j| noise(l * 77 + i * 13 + j));
            let b = several(size, &right);
            compare("solve", count, [a, b], [n * cols, n * n, n * n], 0.0, &|[a, b], [x, inverse, cofactors], _| {
                let count = a.count();
                let mut factors = vec![T::ZERO; n * n * count];
                let (mut pivots, mut info) = (vec![0; n * count], vec![0; count]);
                lu::factor_all(a, &mut factors, &mut pivots, &mut info);
                lu::solve_all(side, Matrices::in_a_row(n, count, &factors), &pivots, b, x);
                lu::invert_all(n, &factors, &pivots, inverse);
                let times: Vec<T> = (0..count).map(|_| T::of(0.3)).collect();
                lu::cofactors_all(n, &times, &mut factors, &pivots, &mut vec![T::ZERO; n * n * count], cofactors);
            });
        }
    }

    #[test]
    fn many_are_as_one() {
        for (n, cols) in
            [(1, 1), (2, 2), (3, 1), (4, 4), (5, 7), (8, 8), (8, 3), (11, 16), (16, 16), (16, 1), (17, 17), (7, 17)]
        {
            for count in [2, 3, 16, 37] {
                for order in 0..3 {
                    check::<f32>(n, cols, count, order);
                    check::<f64>(n, cols, count, order);
                }
            }
        }
    }
}
