//! The element types of matrices.

use num_complex::Complex;
use retrograd_kernels::matmul::GemmScalar;
use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::{self, Isa};

use crate::blocks::transfer;
use crate::{lanes, small};

/// A float or a complex number.
pub trait Scalar: Field + GemmScalar + Default {
    /// The type of its parts.
    type Real: Real;
    /// The distance from 1 to the next number.
    const EPSILON: Self::Real;
    fn conj(self) -> Self;
    fn re(self) -> Self::Real;
    fn of_real(x: Self::Real) -> Self;
    /// The sum of the magnitudes of its parts, by which LAPACK compares pivots.
    fn size(self) -> Self::Real;
    /// Its distance from zero.
    fn magnitude(self) -> Self::Real;
    fn recip(self) -> Self;
    /// A number times a real one.
    fn scale(self, by: Self::Real) -> Self;
    /// `y += factor * x`, from element `from` on, and before it if its vector begins there.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    unsafe fn add_scaled<S: Isa, const W: usize>(y: &mut [Self; W], factor: Self, x: &[Self; W], from: usize);
    /// Elements that fill vectors of `S`, at least so many.
    fn padded<S: Isa>(n: usize) -> usize;
    /// Copies `n` elements, and with `zeros` behind them up to the end of a vector.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. The elements are readable and initialised at `from`, and as many are
    ///    writable at `to`, or [`Scalar::padded`] ones; they share no memory.
    unsafe fn copy_row<S: Isa>(n: usize, from: *const Self, to: *mut Self, zeros: bool);
    /// Solves a lower triangular system of `n` rows in place of the rows of `x`, `width` elements each, for `-X`. The
    /// coefficients are rows of `N`; those on the diagonal are negated inverses.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. `n` coefficients of `n` rows are readable and initialised; the rows
    ///    of `x` are writable, too, and `width` is what [`Scalar::padded`] gives.
    unsafe fn substitute<S: Isa, const N: usize>(n: usize, coefficients: *const Self, x: *mut Self, width: usize);
    /// Copies a matrix between memories of any strides, fast where columns are contiguous on one side and rows on the
    /// other.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. Every element is readable at `from` and writable at
    ///    `to`, which share no memory.
    #[inline(always)]
    unsafe fn turn<S: Isa>(rows: usize, cols: usize, from: (*const Self, isize, isize), to: (*mut Self, isize, isize)) {
        // SAFETY: duty 2.
        unsafe { transfer(rows, cols, from, to) }
    }
    /// `y += factors[0] * columns[0] + factors[1] * columns[1] + ..`, one after the other, of columns `step` apart.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. There are as many columns as factors, and each is readable and
    ///    initialised for as many elements as `y` has, none of them in `y`.
    unsafe fn add_columns<S: Isa>(y: &mut [Self], factors: &[Self], columns: *const Self, step: isize);
    /// The sum of `conj(x) * y`, of as many elements.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    unsafe fn dot<S: Isa>(x: &[Self], y: &[Self]) -> Self;
    /// Replaces a column-major matrix of at most 64 rows and 32 columns, `step` elements from column to column, by its
    /// factors, as [`lu::factor`](crate::lu::factor) does; None, with nothing done, for types without vectors.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. The matrix is readable, initialised and writable at `a`, and nobody
    ///    else uses it; `pivots` has a place for each of the first `min(m, n)` rows.
    #[inline(always)]
    unsafe fn factor_small<S: Isa>(_size: [usize; 2], _a: *mut Self, _step: isize, _pivots: &mut [i32]) -> Option<i32> {
        None
    }
    /// Does what is done with vectors of matrices; nothing for types without vectors.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    #[inline(always)]
    unsafe fn in_lanes<S: Isa, W: lanes::Work<Self>>(_work: W) {}
    /// The integer that a real number is.
    fn whole(self) -> i32;
    /// The index of the first of the largest numbers by [`Scalar::size`]; 0 if all are NaN.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    unsafe fn largest<S: Isa>(x: &[Self]) -> usize;
}

macro_rules! scalar {
    ($($t:ty),*) => { $(
        impl Scalar for $t {
            type Real = $t;
            const EPSILON: $t = <$t>::EPSILON;
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn re(self) -> $t {
                self
            }
            #[inline(always)]
            fn of_real(x: $t) -> Self {
                x
            }
            #[inline(always)]
            fn size(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn scale(self, by: $t) -> Self {
                self * by
            }
            #[inline(always)]
            unsafe fn add_scaled<S: Isa, const W: usize>(y: &mut [Self; W], factor: Self, x: &[Self; W], from: usize) {
                // SAFETY: our duty.
                unsafe { add_scaled::<Vector<$t, S>, W>(y, factor, x, from) }
            }
            #[inline(always)]
            fn padded<S: Isa>(n: usize) -> usize {
                n.next_multiple_of(<Vector<$t, S> as simd::Vector>::LEN)
            }
            #[inline(always)]
            unsafe fn copy_row<S: Isa>(n: usize, from: *const Self, to: *mut Self, zeros: bool) {
                // SAFETY: our duties.
                unsafe { copy_row::<Vector<$t, S>>(n, from, to, zeros) }
            }
            #[inline(always)]
            unsafe fn substitute<S: Isa, const N: usize>(
                n: usize,
                coefficients: *const Self,
                x: *mut Self,
                width: usize,
            ) {
                // SAFETY: our duties.
                unsafe { substitute::<Vector<$t, S>, N>(n, coefficients, x, width) }
            }
            #[inline(always)]
            unsafe fn turn<S: Isa>(
                rows: usize,
                cols: usize,
                from: (*const Self, isize, isize),
                to: (*mut Self, isize, isize),
            ) {
                // SAFETY: our duties.
                unsafe { turn::<Vector<$t, S>>(rows, cols, from, to) }
            }
            #[inline(always)]
            unsafe fn add_columns<S: Isa>(y: &mut [Self], factors: &[Self], columns: *const Self, step: isize) {
                // SAFETY: our duties.
                unsafe { add_columns::<Vector<$t, S>>(y, factors, columns, step) }
            }
            #[inline(always)]
            unsafe fn dot<S: Isa>(x: &[Self], y: &[Self]) -> Self {
                // SAFETY: our duty.
                unsafe { dot::<Vector<$t, S>>(x, y) }
            }
            #[inline(always)]
            unsafe fn factor_small<S: Isa>(
                size: [usize; 2],
                a: *mut Self,
                step: isize,
                pivots: &mut [i32],
            ) -> Option<i32> {
                // SAFETY: our duties.
                Some(unsafe { small::factor::<Vector<$t, S>>(size, a, step, pivots) })
            }
            #[inline(always)]
            unsafe fn in_lanes<S: Isa, W: lanes::Work<Self>>(work: W) {
                // SAFETY: our duty.
                unsafe { work.run::<Vector<$t, S>>() }
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            unsafe fn largest<S: Isa>(x: &[Self]) -> usize {
                // SAFETY: our duty.
                unsafe { largest::<Vector<$t, S>>(x) }
            }
        }
        impl Scalar for Complex<$t> {
            type Real = $t;
            const EPSILON: $t = <$t>::EPSILON;
            #[inline(always)]
            fn conj(self) -> Self {
                Self { re: self.re, im: -self.im }
            }
            #[inline(always)]
            fn re(self) -> $t {
                self.re
            }
            #[inline(always)]
            fn of_real(x: $t) -> Self {
                Self { re: x, im: 0.0 }
            }
            #[inline(always)]
            fn size(self) -> $t {
                self.re.abs() + self.im.abs()
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                retrograd_kernels::real::Complex::abs(self)
            }
            #[inline(always)]
            fn recip(self) -> Self {
                Field::div(Self { re: 1.0, im: 0.0 }, self)
            }
            #[inline(always)]
            fn scale(self, by: $t) -> Self {
                Self { re: self.re * by, im: self.im * by }
            }
            #[inline(always)]
            unsafe fn add_scaled<S: Isa, const W: usize>(y: &mut [Self; W], factor: Self, x: &[Self; W], from: usize) {
                for (y, &x) in y[from..].iter_mut().zip(&x[from..]) {
                    *y += factor * x;
                }
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                self.re as i32
            }
            #[inline(always)]
            fn padded<S: Isa>(n: usize) -> usize {
                n
            }
            #[inline(always)]
            unsafe fn copy_row<S: Isa>(n: usize, from: *const Self, to: *mut Self, _: bool) {
                // SAFETY: duty 2.
                unsafe { std::ptr::copy_nonoverlapping(from, to, n) }
            }
            #[inline(always)]
            unsafe fn substitute<S: Isa, const N: usize>(
                n: usize,
                coefficients: *const Self,
                x: *mut Self,
                width: usize,
            ) {
                for i in 0..n {
                    // SAFETY: duty 2: the row, those before it, and their coefficients.
                    let (factors, done, sum) = unsafe {
                        (
                            std::slice::from_raw_parts(coefficients.add(i * N), i + 1),
                            std::slice::from_raw_parts(x, i * width),
                            std::slice::from_raw_parts_mut(x.add(i * width), width),
                        )
                    };
                    for (&factor, row) in factors.iter().zip(done.chunks_exact(width.max(1))) {
                        for (sum, &x) in sum.iter_mut().zip(row) {
                            *sum += factor * x;
                        }
                    }
                    sum.iter_mut().for_each(|x| *x *= factors[i]);
                }
            }
            #[inline(always)]
            unsafe fn add_columns<S: Isa>(y: &mut [Self], factors: &[Self], columns: *const Self, step: isize) {
                for (k, &factor) in factors.iter().enumerate() {
                    // SAFETY: duty 2.
                    let column = unsafe { std::slice::from_raw_parts(columns.offset(k as isize * step), y.len()) };
                    for (y, &x) in y.iter_mut().zip(column) {
                        *y += factor * x;
                    }
                }
            }
            #[inline(always)]
            unsafe fn dot<S: Isa>(x: &[Self], y: &[Self]) -> Self {
                // One sum would wait for itself.
                let (mut sums, n) = ([<Self as Ring>::ZERO; STRIP], x.len().min(y.len()));
                let (x, y) = (x[..n].chunks_exact(STRIP), y[..n].chunks_exact(STRIP));
                for (i, (x, y)) in x.remainder().iter().zip(y.remainder()).enumerate() {
                    sums[i] = Scalar::conj(*x) * *y;
                }
                for (x, y) in x.zip(y) {
                    for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(y)) {
                        *sum += Scalar::conj(x) * y;
                    }
                }
                (sums[0] + sums[2]) + (sums[1] + sums[3])
            }
            #[inline(always)]
            unsafe fn largest<S: Isa>(x: &[Self]) -> usize {
                let (mut most, mut at) = (-1.0, 0);
                for (i, x) in x.iter().enumerate() {
                    if x.size() > most {
                        (most, at) = (x.size(), i);
                    }
                }
                at
            }
        }
    )* };
}
scalar!(f32, f64);

/// The vector of floats of an instruction set.
type Vector<T, S> = <T as Real>::Vector<S>;

/// Vectors whose sums are computed together.
const STRIP: usize = 4;

/// [`Scalar::add_scaled`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn add_scaled<V: simd::Vector, const W: usize>(
    y: &mut [V::Elem; W],
    factor: V::Elem,
    x: &[V::Elem; W],
    from: usize,
) {
    let (x, y) = (x.as_ptr(), y.as_mut_ptr());
    // SAFETY: duty 1; whole vectors of the rows, or the only one, which is a part of one.
    unsafe {
        if W < V::LEN {
            let x = V::load_first(x, W);
            return x.fma(x.splat(factor), V::load_first(y, W)).store_first(y, W);
        }
        assert!(W.is_multiple_of(V::LEN));
        for i in (from / V::LEN * V::LEN..W).step_by(V::LEN) {
            let x = V::load(x.add(i));
            x.fma(x.splat(factor), V::load(y.add(i))).store(y.add(i));
        }
    }
}

/// [`Scalar::copy_row`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. As [`Scalar::copy_row`] says.
#[inline(always)]
unsafe fn copy_row<V: simd::Vector>(n: usize, from: *const V::Elem, to: *mut V::Elem, zeros: bool) {
    let whole = n / V::LEN * V::LEN;
    // SAFETY: duties 1 and 2: whole vectors, and the first elements of the last one.
    unsafe {
        for i in (0..whole).step_by(V::LEN) {
            V::load(from.add(i)).store(to.add(i));
        }
        if whole < n {
            let rest = V::load_first(from.add(whole), n - whole);
            if zeros { rest.store(to.add(whole)) } else { rest.store_first(to.add(whole), n - whole) }
        }
    }
}

/// Rows whose sums are computed together.
const ROWS: usize = 4;

/// [`Scalar::substitute`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. As [`Scalar::substitute`] says.
#[inline(always)]
unsafe fn substitute<V: simd::Vector, const N: usize>(
    n: usize,
    coefficients: *const V::Elem,
    x: *mut V::Elem,
    width: usize,
) {
    assert!(width.is_multiple_of(V::LEN) && n <= N, "extents disagree");
    // Their sums stay in registers, of which instruction sets with vectors of 64 bytes have twice as many.
    let many = V::LEN * size_of::<V::Elem>() >= 64;
    let together = if many { STRIP } else { STRIP / 2 } * V::LEN;
    for first in (0..n).step_by(ROWS) {
        let (rows, mut j) = (ROWS.min(n - first), 0);
        // SAFETY: (1) ours; (2) whole vectors of the rows.
        unsafe {
            let coefficients = coefficients.add(first * N);
            while j + together <= width {
                if many {
                    strip::<V, N, STRIP>(rows, coefficients, first, x.add(j), width);
                } else {
                    strip::<V, N, { STRIP / 2 }>(rows, coefficients, first, x.add(j), width);
                }
                j += together;
            }
            while j < width {
                strip::<V, N, 1>(rows, coefficients, first, x.add(j), width);
                j += V::LEN;
            }
        }
    }
}

/// [`substitute`] for at most [`ROWS`] rows, from row `first` on, in `K` vectors of rows of `width` elements.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The coefficients of these rows are readable and initialised, and the
///    vectors of these rows and of those before them are also writable from `x` on.
#[inline(always)]
unsafe fn strip<V: simd::Vector, const N: usize, const K: usize>(
    rows: usize,
    coefficients: *const V::Elem,
    first: usize,
    x: *mut V::Elem,
    width: usize,
) {
    // SAFETY: duties 1 and 2.
    unsafe {
        let mut sums = [[V::load(x.add(first * width)); K]; ROWS];
        for (i, sums) in sums.iter_mut().enumerate().take(rows) {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(x.add((first + i) * width + j * V::LEN));
            }
        }
        if rows == ROWS {
            for k in 0..first {
                let done: [V; K] = std::array::from_fn(|j| V::load(x.add(k * width + j * V::LEN)));
                for (i, sums) in sums.iter_mut().enumerate() {
                    let factor = done[0].splat(*coefficients.add(i * N + k));
                    for (sum, x) in sums.iter_mut().zip(done) {
                        *sum = x.fma(factor, *sum);
                    }
                }
            }
        } else {
            for (i, sums) in sums.iter_mut().enumerate().take(rows) {
                for k in 0..first {
                    let factor = *coefficients.add(i * N + k);
                    for (j, sum) in sums.iter_mut().enumerate() {
                        *sum = V::load(x.add(k * width + j * V::LEN)).fma(sum.splat(factor), *sum);
                    }
                }
            }
        }
        for i in 0..rows {
            let (done, rest) = sums.split_at_mut(i);
            for (j, sum) in rest[0].iter_mut().enumerate() {
                for (k, done) in done.iter().enumerate() {
                    *sum = done[j].fma(sum.splat(*coefficients.add(i * N + first + k)), *sum);
                }
                *sum = *sum * sum.splat(*coefficients.add(i * N + first + i));
                sum.store(x.add((first + i) * width + j * V::LEN));
            }
        }
    }
}

/// [`Scalar::turn`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The duties of [`transfer`].
#[inline(always)]
unsafe fn turn<V: simd::Vector<Elem: Scalar>>(
    rows: usize,
    cols: usize,
    (from, rs, cs): (*const V::Elem, isize, isize),
    (to, to_rs, to_cs): (*mut V::Elem, isize, isize),
) {
    if !(rs == 1 && to_cs == 1 || cs == 1 && to_rs == 1) {
        // SAFETY: duty 2.
        return unsafe { transfer(rows, cols, (from, rs, cs), (to, to_rs, to_cs)) };
    }
    let (m, n) = (rows / V::LEN * V::LEN, cols / V::LEN * V::LEN);
    let (right, below) = (n as isize, m as isize);
    // SAFETY: (1) ours; duty 2 for parts of the matrix: whole squares, the columns right of them and the rows below.
    unsafe {
        for i in (0..m as isize).step_by(V::LEN) {
            for j in (0..n as isize).step_by(V::LEN) {
                let (from, to) = (from.offset(i * rs + j * cs), to.offset(i * to_rs + j * to_cs));
                if rs == 1 {
                    V::transpose(from, cs, to, to_rs);
                } else {
                    V::transpose(from, rs, to, to_cs);
                }
            }
        }
        if n < cols {
            let (from, to) = (from.offset(right * cs), to.offset(right * to_cs));
            transfer(rows, cols - n, (from, rs, cs), (to, to_rs, to_cs));
        }
        if m < rows {
            let (from, to) = (from.offset(below * rs), to.offset(below * to_rs));
            transfer(rows - m, n, (from, rs, cs), (to, to_rs, to_cs));
        }
    }
}

/// [`Scalar::add_columns`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. As [`Scalar::add_columns`] says.
#[inline(always)]
unsafe fn add_columns<V: simd::Vector>(y: &mut [V::Elem], factors: &[V::Elem], columns: *const V::Elem, step: isize) {
    let (n, y) = (y.len(), y.as_mut_ptr());
    let mut i = 0;
    // SAFETY: duties 1 and 2; `i` plus the elements that are touched is at most `n`.
    unsafe {
        while i + STRIP * V::LEN <= n {
            let mut sums = [V::load(y.add(i)); STRIP];
            for (j, sum) in sums.iter_mut().enumerate().skip(1) {
                *sum = V::load(y.add(i + j * V::LEN));
            }
            for (k, &factor) in factors.iter().enumerate() {
                let (x, factor) = (columns.offset(k as isize * step).add(i), sums[0].splat(factor));
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(x.add(j * V::LEN)).fma(factor, *sum);
                }
            }
            for (j, sum) in sums.iter().enumerate() {
                sum.store(y.add(i + j * V::LEN));
            }
            i += STRIP * V::LEN;
        }
        while i + V::LEN <= n {
            let mut sum = V::load(y.add(i));
            for (k, &factor) in factors.iter().enumerate() {
                sum = V::load(columns.offset(k as isize * step).add(i)).fma(sum.splat(factor), sum);
            }
            sum.store(y.add(i));
            i += V::LEN;
        }
        if i < n {
            let mut sum = V::load_first(y.add(i), n - i);
            for (k, &factor) in factors.iter().enumerate() {
                sum = V::load_first(columns.offset(k as isize * step).add(i), n - i).fma(sum.splat(factor), sum);
            }
            sum.store_first(y.add(i), n - i);
        }
    }
}

/// [`Scalar::dot`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn dot<V: simd::Vector>(x: &[V::Elem], y: &[V::Elem]) -> V::Elem {
    let (n, x, y) = (x.len().min(y.len()), x.as_ptr(), y.as_ptr());
    let mut lanes = [V::Elem::ZERO; 32];
    let mut i = 0;
    // SAFETY: duty 1; `i` plus the elements that are touched is at most `n`; a vector has at most 32 lanes.
    unsafe {
        // One sum would wait for itself.
        let mut sums = [V::load(lanes.as_ptr()); STRIP];
        while i + STRIP * V::LEN <= n {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(x.add(i + j * V::LEN)).fma(V::load(y.add(i + j * V::LEN)), *sum);
            }
            i += STRIP * V::LEN;
        }
        let mut j = 0;
        while i + V::LEN <= n {
            sums[j] = V::load(x.add(i)).fma(V::load(y.add(i)), sums[j]);
            (i, j) = (i + V::LEN, j + 1);
        }
        if i < n {
            sums[3] = V::load_first(x.add(i), n - i).fma(V::load_first(y.add(i), n - i), sums[3]);
        }
        ((sums[0] + sums[2]) + (sums[1] + sums[3])).store(lanes.as_mut_ptr());
    }
    let mut width = V::LEN;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = lanes[i].add(lanes[i + width]);
        }
    }
    lanes[0]
}

/// [`Scalar::largest`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn largest<V: simd::Vector>(x: &[V::Elem]) -> usize {
    let mut lanes = [V::Elem::ONE.neg(); 32];
    let whole = x.len() / V::LEN * V::LEN;
    // SAFETY: duty 1; a vector has at most 32 lanes, and whole ones of `x` are read.
    unsafe {
        // A NaN leaves the number before it.
        let mut most = V::load(lanes.as_ptr());
        for i in (0..whole).step_by(V::LEN) {
            most = most.at_least(V::load(x[i..i + V::LEN].as_ptr()).abs());
        }
        most.store(lanes.as_mut_ptr());
    }
    let mut most = V::Elem::ONE.neg();
    for &lane in &lanes {
        most = if lane > most { lane } else { most };
    }
    for x in &x[whole..] {
        most = if x.abs() > most { x.abs() } else { most };
    }
    for i in (0..whole).step_by(V::LEN) {
        // SAFETY: duty 1; a whole vector of `x`.
        let bits = unsafe {
            let x = V::load(x[i..i + V::LEN].as_ptr()).abs();
            V::mask_bits(V::eq(x, x.splat(most)))
        };
        if bits != 0 {
            return i + bits.trailing_zeros() as usize;
        }
    }
    x[whole..].iter().position(|x| x.abs() == most).map_or(0, |i| whole + i)
}
