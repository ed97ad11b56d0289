//! The element types of matrices.

use num_complex::Complex;
use retrograd_kernels::matmul::GemmScalar;
use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::{self, Isa};

use crate::blocks::transfer;

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
    /// Solves a lower triangular system in place of the rows of `x`, for `-X`: of the coefficients those on the
    /// diagonal are negated inverses.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    unsafe fn substitute<S: Isa, const N: usize, const W: usize>(coefficients: &[[Self; N]], x: &mut [[Self; W]]);
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
            unsafe fn substitute<S: Isa, const N: usize, const W: usize>(
                coefficients: &[[Self; N]],
                x: &mut [[Self; W]],
            ) {
                // SAFETY: our duty.
                unsafe { substitute::<Vector<$t, S>, N, W>(coefficients, x) }
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
            unsafe fn substitute<S: Isa, const N: usize, const W: usize>(
                coefficients: &[[Self; N]],
                x: &mut [[Self; W]],
            ) {
                for (i, factors) in coefficients.iter().enumerate() {
                    let (done, rest) = x.split_at_mut(i);
                    let sum = &mut rest[0];
                    for (&factor, row) in factors.iter().zip(done.iter()) {
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

/// Rows whose sums are computed together.
const ROWS: usize = 4;

/// [`Scalar::substitute`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn substitute<V: simd::Vector, const N: usize, const W: usize>(
    coefficients: &[[V::Elem; N]],
    x: &mut [[V::Elem; W]],
) {
    let n = x.len();
    assert!(W.is_multiple_of(V::LEN) && coefficients.len() == n && n <= N, "extents disagree");
    let x = x.as_mut_ptr().cast::<V::Elem>();
    for i in (0..n).step_by(ROWS) {
        let rows = &coefficients[i..n.min(i + ROWS)];
        let mut j = 0;
        // SAFETY: (1) ours; (2) whole vectors of the rows.
        unsafe {
            while j + STRIP * V::LEN <= W {
                strip::<V, N, W, STRIP>(rows, i, x.add(j));
                j += STRIP * V::LEN;
            }
            while j < W {
                strip::<V, N, W, 1>(rows, i, x.add(j));
                j += V::LEN;
            }
        }
    }
}

/// [`substitute`] for at most [`ROWS`] rows, from row `first` on, in `K` vectors of rows of `W` elements.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The vectors of these rows and of those before them are writable and
///    initialised from `x` on.
#[inline(always)]
unsafe fn strip<V: simd::Vector, const N: usize, const W: usize, const K: usize>(
    rows: &[[V::Elem; N]],
    first: usize,
    x: *mut V::Elem,
) {
    // SAFETY: duties 1 and 2.
    unsafe {
        let mut sums = [[V::load(x.add(first * W)); K]; ROWS];
        for (i, sums) in sums.iter_mut().enumerate().take(rows.len()) {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(x.add((first + i) * W + j * V::LEN));
            }
        }
        if let Ok(rows) = <&[[V::Elem; N]; ROWS]>::try_from(rows) {
            for k in 0..first {
                let done: [V; K] = std::array::from_fn(|j| V::load(x.add(k * W + j * V::LEN)));
                for (sums, row) in sums.iter_mut().zip(rows) {
                    let factor = done[0].splat(*row.get_unchecked(k));
                    for (sum, x) in sums.iter_mut().zip(done) {
                        *sum = x.fma(factor, *sum);
                    }
                }
            }
        } else {
            for (sums, row) in sums.iter_mut().zip(rows) {
                for (k, &factor) in row[..first].iter().enumerate() {
                    for (j, sum) in sums.iter_mut().enumerate() {
                        *sum = V::load(x.add(k * W + j * V::LEN)).fma(sum.splat(factor), *sum);
                    }
                }
            }
        }
        for (i, row) in rows.iter().enumerate() {
            let (done, rest) = sums.split_at_mut(i);
            for (j, sum) in rest[0].iter_mut().enumerate() {
                for (k, done) in done.iter().enumerate() {
                    *sum = done[j].fma(sum.splat(row[first + k]), *sum);
                }
                *sum = *sum * sum.splat(row[first + i]);
                sum.store(x.add((first + i) * W + j * V::LEN));
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
    for i in (0..rows).step_by(V::LEN) {
        for j in (0..cols).step_by(V::LEN) {
            let (m, n) = (V::LEN.min(rows - i), V::LEN.min(cols - j));
            let (i, j) = (i as isize, j as isize);
            // SAFETY: (1) ours; duty 2 for a part of the matrix.
            unsafe {
                let (from, to) = (from.offset(i * rs + j * cs), to.offset(i * to_rs + j * to_cs));
                if m < V::LEN || n < V::LEN {
                    transfer(m, n, (from, rs, cs), (to, to_rs, to_cs));
                } else if rs == 1 {
                    V::transpose(from, cs, to, to_rs);
                } else {
                    V::transpose(from, rs, to, to_cs);
                }
            }
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
