//! The element types of matrices.

use num_complex::Complex;
use retrograd_kernels::matmul::GemmScalar;
use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::{self, Isa};

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
    /// `sum += factors[0] * rows[0] + factors[1] * rows[1] + ..`, with as many rows as factors.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    unsafe fn combine<S: Isa, const W: usize>(sum: &mut [Self; W], factors: &[Self], rows: &[[Self; W]]);
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
            unsafe fn combine<S: Isa, const W: usize>(sum: &mut [Self; W], factors: &[Self], rows: &[[Self; W]]) {
                // SAFETY: our duty.
                unsafe { combine::<Vector<$t, S>, W>(sum, factors, rows) }
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
            unsafe fn combine<S: Isa, const W: usize>(sum: &mut [Self; W], factors: &[Self], rows: &[[Self; W]]) {
                for (&factor, row) in factors.iter().zip(rows) {
                    for (sum, &x) in sum.iter_mut().zip(row) {
                        *sum += factor * x;
                    }
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

/// Vectors of a row whose sums are computed together: with two sums for each there are as many as hide the latency of
/// an addition, and registers for them.
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

/// [`Scalar::combine`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn combine<V: simd::Vector, const W: usize>(sum: &mut [V::Elem; W], factors: &[V::Elem], rows: &[[V::Elem; W]]) {
    assert!(factors.len() == rows.len());
    let (to, rows) = (sum.as_mut_ptr(), rows.as_ptr().cast::<V::Elem>());
    // SAFETY: duty 1; whole vectors of the rows, or the only one, which is a part of one.
    unsafe {
        if W < V::LEN {
            let mut sum = V::load_first(to, W);
            for (k, &factor) in factors.iter().enumerate() {
                sum = V::load_first(rows.add(k * W), W).fma(sum.splat(factor), sum);
            }
            return sum.store_first(to, W);
        }
        assert!(W.is_multiple_of(V::LEN));
        let mut i = 0;
        while i + STRIP * V::LEN <= W {
            strip::<V, W, STRIP>(to.add(i), factors, rows.add(i));
            i += STRIP * V::LEN;
        }
        while i < W {
            strip::<V, W, 1>(to.add(i), factors, rows.add(i));
            i += V::LEN;
        }
    }
}

/// [`combine`] of `K` vectors of rows of `W` elements.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. So many elements are readable in as many rows as there are factors, and
///    writable at `to`.
#[inline(always)]
unsafe fn strip<V: simd::Vector, const W: usize, const K: usize>(
    to: *mut V::Elem,
    factors: &[V::Elem],
    rows: *const V::Elem,
) {
    // SAFETY: duties 1 and 2.
    unsafe {
        let first = V::load(to);
        let (mut sums, mut others) = ([first; K], [first.splat(V::Elem::ZERO); K]);
        for (i, sum) in sums.iter_mut().enumerate().skip(1) {
            *sum = V::load(to.add(i * V::LEN));
        }
        let mut k = 0;
        while k + 2 <= factors.len() {
            let (f, g) = (first.splat(*factors.get_unchecked(k)), first.splat(*factors.get_unchecked(k + 1)));
            for i in 0..K {
                let x = rows.add(k * W + i * V::LEN);
                sums[i] = V::load(x).fma(f, sums[i]);
                others[i] = V::load(x.add(W)).fma(g, others[i]);
            }
            k += 2;
        }
        if k < factors.len() {
            let f = first.splat(*factors.get_unchecked(k));
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(rows.add(k * W + i * V::LEN)).fma(f, *sum);
            }
        }
        for i in 0..K {
            (sums[i] + others[i]).store(to.add(i * V::LEN));
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
