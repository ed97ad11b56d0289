//! The reducers.

use num_complex::Complex;

use super::super::pointwise::Cast;
use super::super::real::{Real, Ring};
use super::super::simd::{Isa, SimdElement, Vector};
use super::super::truth::Truth;
use super::engine::{InVectors, few_in_vector, few_side_by_side, vector_lanes};
use super::{Reduce, row};

/// The sum. f32 accumulates in f32, f64 in f64; integers and bool in i64, wrapping, which is the result
/// dtype.
#[derive(Clone, Copy, Debug)]
pub struct Sum;
/// The sum of the floats that are not NaN.
#[derive(Clone, Copy, Debug)]
pub struct NanSum;
/// The product; dtypes as [`Sum`].
#[derive(Clone, Copy, Debug)]
pub struct Prod;
/// The mean of floats.
#[derive(Clone, Copy, Debug)]
pub struct Mean;
/// As [`Sum`], for scans: floats are carried in f64, since a scan has no tree.
#[derive(Clone, Copy, Debug)]
pub struct CumSum;
/// As [`Prod`], for scans: floats are carried in f64.
#[derive(Clone, Copy, Debug)]
pub struct CumProd;
/// The maximum; NaN wins.
#[derive(Clone, Copy, Debug)]
pub struct Max;
/// The minimum; NaN wins.
#[derive(Clone, Copy, Debug)]
pub struct Min;
/// Whether all elements are non-zero.
#[derive(Clone, Copy, Debug)]
pub struct All;
/// Whether any element is non-zero.
#[derive(Clone, Copy, Debug)]
pub struct Any;
/// How many elements are not zero.
#[derive(Clone, Copy, Debug)]
pub struct CountNonzero;
/// Mean and sum of squared deviations (Welford) of floats, over any axes; for contiguous rows see [`row_moments`].
#[derive(Clone, Copy, Debug)]
pub struct Moments;

/// In the `Reduce` of a type that is [`InVectors`]: uses that.
macro_rules! in_vectors {
    ($t:ty) => {
        #[inline(always)]
        unsafe fn lanes<S: Isa, const L: usize>(&self, n: usize, a: *const $t) -> $t {
            // SAFETY: ours.
            unsafe { vector_lanes::<S, L, $t, Self>(self, n, a) }
        }
        #[inline(always)]
        unsafe fn few<S: Isa>(&self, n: usize, a: *const $t) -> Option<$t> {
            // SAFETY: ours.
            Some(unsafe { few_in_vector::<S, $t, Self>(self, n, a) })
        }
        #[inline(always)]
        unsafe fn few_of_rows<S: Isa>(
            &self,
            n: usize,
            rows: usize,
            a: *const $t,
            apart: isize,
            to: &mut [$t; 32],
        ) -> usize {
            // SAFETY: ours.
            unsafe { few_side_by_side::<S, $t, Self>(self, n, rows, a, apart, to) }
        }
    };
}

macro_rules! fold {
    (@one $name:ident, $a:ty, $acc:ty, $o:ty; $init:expr; |$x:ident, $y:ident| $join:expr; |$t:ident, $n:ident| $end:expr;
     $($lanes:item)?) => {
        impl Reduce<$a> for $name {
            type Acc = $acc;
            type O = $o;
            const EXACT: bool = !<$acc>::WIDE && !<$acc>::COMPLEX;
            #[inline(always)]
            fn init(&self) -> $acc {
                $init
            }
            #[inline(always)]
            fn step(&self, $x: $acc, y: $a) -> $acc {
                let $y: $acc = y.cast();
                $join
            }
            #[inline(always)]
            fn combine(&self, $x: $acc, $y: $acc) -> $acc {
                $join
            }
            #[inline(always)]
            fn finish(&self, $t: $acc, $n: usize) -> $o {
                let _ = $n;
                $end
            }
            $($lanes)?
        }
    };
    // Of floats that accumulate in their own type.
    (in vectors $name:ident: $($a:ty),+; $init:expr; |$x:ident, $y:ident| $join:expr; |$t:ident, $n:ident| $end:expr) => {$(
        fold!(@one $name, $a, $a, $a; $init; |$x, $y| $join; |$t, $n| $end; in_vectors! { $a });
        impl InVectors<$a> for $name {
            #[inline(always)]
            fn combine_vectors<V: Vector<Elem = $a>>(&self, $x: V, $y: V) -> V {
                $join
            }
        }
    )+};
    ($name:ident: $($a:ty),+ => $acc:ty => $o:ty; $init:expr; |$x:ident, $y:ident| $join:expr; |$t:ident, $n:ident| $end:expr) => {$(
        fold!(@one $name, $a, $acc, $o; $init; |$x, $y| $join; |$t, $n| $end;);
    )+};
}

fold!(in vectors Sum: f32, f64; 0.0; |x, y| x + y; |t, n| t);
fold!(Sum: u8, i8, i16, i32 => i64 => i64; 0; |x, y| x.wrapping_add(y); |t, n| t);
fold!(@one Sum, i64, i64, i64; 0; |x, y| x.wrapping_add(y); |t, n| t; const BEYOND_BASELINE: bool = true;);
fold!(@one Sum, Truth, i64, i64; 0; |x, y| x + y; |t, n| t;
    #[inline(always)]
    fn slice(&self, acc: i64, x: &[Truth]) -> i64 {
        CountNonzero.slice(acc, x)
    }
);
fold!(in vectors Prod: f32, f64; 1.0; |x, y| x * y; |t, n| t);
fold!(Prod: Truth, u8, i8, i16, i32 => i64 => i64; 1; |x, y| x.wrapping_mul(y); |t, n| t);
fold!(@one Prod, i64, i64, i64; 1; |x, y| x.wrapping_mul(y); |t, n| t; const BEYOND_BASELINE: bool = true;);
fold!(in vectors Mean: f32; 0.0; |x, y| x + y; |t, n| t / n as f32);
fold!(in vectors Mean: f64; 0.0; |x, y| x + y; |t, n| t / n as f64);
fold!(CumSum: f32 => f64 => f32; 0.0; |x, y| x + y; |t, n| t as f32);
fold!(CumSum: f64 => f64 => f64; 0.0; |x, y| x + y; |t, n| t);
fold!(CumSum: Truth, u8, i8, i16, i32, i64 => i64 => i64; 0; |x, y| x.wrapping_add(y); |t, n| t);
fold!(CumProd: f32 => f64 => f32; 1.0; |x, y| x * y; |t, n| t as f32);
fold!(CumProd: f64 => f64 => f64; 1.0; |x, y| x * y; |t, n| t);
fold!(CumProd: Truth, u8, i8, i16, i32, i64 => i64 => i64; 1; |x, y| x.wrapping_mul(y); |t, n| t);
fold!(CumProd: Complex<f32> => Complex<f64> => Complex<f32>; Ring::ONE; |x, y| x.mul(y);
    |t, n| Complex::new(t.re as f32, t.im as f32));
fold!(CumProd: Complex<f64> => Complex<f64> => Complex<f64>; Ring::ONE; |x, y| x.mul(y); |t, n| t);
fold!(Prod: Complex<f32> => Complex<f32> => Complex<f32>; Ring::ONE; |x, y| x.mul(y); |t, n| t);
fold!(Prod: Complex<f64> => Complex<f64> => Complex<f64>; Ring::ONE; |x, y| x.mul(y); |t, n| t);
fold!(All: Truth, u8, i8, i16, i32, i64, f32, f64 => Truth => Truth; Truth::TRUE; |x, y| x & y; |t, n| t);

impl<A: Cast<Truth>> Reduce<A> for Any {
    // The bits of bytes joined: truth values, which are one or the other, would not fill vectors.
    type Acc = u8;
    type O = Truth;
    const EXACT: bool = true;
    #[inline(always)]
    fn init(&self) -> u8 {
        0
    }
    #[inline(always)]
    fn step(&self, acc: u8, x: A) -> u8 {
        acc | u8::from(x.cast().get())
    }
    #[inline(always)]
    fn combine(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    #[inline(always)]
    fn finish(&self, acc: u8, _: usize) -> Truth {
        (acc != 0).into()
    }
}

impl<A: Cast<Truth> + SimdElement> Reduce<A> for CountNonzero {
    type Acc = i64;
    type O = i64;
    const EXACT: bool = !A::WIDE;
    #[inline(always)]
    fn init(&self) -> i64 {
        0
    }
    #[inline(always)]
    fn step(&self, acc: i64, x: A) -> i64 {
        acc + i64::from(x.cast().get())
    }
    #[inline(always)]
    fn slice(&self, acc: i64, x: &[A]) -> i64 {
        if size_of::<A>() > 1 {
            return x.iter().fold(acc, |acc, &x| self.step(acc, x));
        }
        // Bytes that count fill vectors; they hold the count of so many.
        let count = |part: &[A]| part.iter().map(|x| u8::from(x.cast().get())).sum::<u8>();
        x.chunks(240).fold(acc, |acc, part| acc + i64::from(count(part)))
    }
    #[inline(always)]
    fn combine(&self, a: i64, b: i64) -> i64 {
        a + b
    }
    #[inline(always)]
    fn finish(&self, acc: i64, _: usize) -> i64 {
        acc
    }
}

macro_rules! extremes {
    // The accumulator dtype, the value that loses to all others as a maximum and as a minimum, and the loops.
    ($($a:ty => $acc:ty, $low:expr, $high:expr, $loops:ident);+ $(;)?) => {$(
        extremes!(@one Max, $a, $acc, $low, $loops);
        extremes!(@one Min, $a, $acc, $high, $loops);
    )+};
    (@beyond wide) => { true };
    (@beyond $loops:ident) => { false };
    (@lanes in_vectors, $acc:ty) => { in_vectors!($acc); };
    (@lanes $loops:ident, $acc:ty) => {};
    (@one $name:ident, $a:ty, $acc:ty, $worst:expr, $loops:ident) => {
        impl Reduce<$a> for $name {
            type Acc = $acc;
            type O = $a;
            const EXACT: bool = !<$acc>::WIDE;
            const BEYOND_BASELINE: bool = extremes!(@beyond $loops);
            #[inline(always)]
            fn init(&self) -> $acc {
                $worst
            }
            #[inline(always)]
            fn step(&self, acc: $acc, x: $a) -> $acc {
                self.combine_values(acc, Cast::<$acc>::cast(x))
            }
            #[inline(always)]
            fn combine(&self, a: $acc, b: $acc) -> $acc {
                self.combine_values(a, b)
            }
            #[inline(always)]
            fn finish(&self, acc: $acc, _: usize) -> $a {
                acc.cast()
            }
            extremes!(@lanes $loops, $acc);
        }
    };
}

/// The better of two values, NaN first.
trait CombineValues<T> {
    fn combine_values(&self, a: T, b: T) -> T;
}

macro_rules! combine_values {
    ($($t:ty),+) => {$(
        impl CombineValues<$t> for Max {
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn combine_values(&self, a: $t, b: $t) -> $t {
                if (b > a) | (b != b) { b } else { a }
            }
        }
        impl CombineValues<$t> for Min {
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn combine_values(&self, a: $t, b: $t) -> $t {
                if (b < a) | (b != b) { b } else { a }
            }
        }
    )+};
}

combine_values!(Truth, u8, i8, i16, i32, i64, f32, f64);

// SSE2 does not compare 64 bits, and has no extremes of 32; images are bytes.
extremes! {
    Truth => Truth, Truth::FALSE, Truth::TRUE, plain;
    u8 => u8, u8::MIN, u8::MAX, wide;
    i8 => i8, i8::MIN, i8::MAX, plain;
    i16 => i16, i16::MIN, i16::MAX, plain;
    i32 => i32, i32::MIN, i32::MAX, wide;
    i64 => i64, i64::MIN, i64::MAX, wide;
    f32 => f32, f32::NEG_INFINITY, f32::INFINITY, in_vectors;
    f64 => f64, f64::NEG_INFINITY, f64::INFINITY, in_vectors;
}

// Of NaN and a number, `at_least` and `at_most` give their first operand.
impl<T: Real> InVectors<T> for Max
where
    Max: Reduce<T, Acc = T>,
{
    #[inline(always)]
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V {
        a.at_least(b).select(b.eq(b), b)
    }
}
impl<T: Real> InVectors<T> for Min
where
    Min: Reduce<T, Acc = T>,
{
    #[inline(always)]
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V {
        a.at_most(b).select(b.eq(b), b)
    }
}

impl<T: Real + Send + Sync> Reduce<T> for NanSum {
    type Acc = T;
    type O = T;
    #[inline(always)]
    fn init(&self) -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step(&self, acc: T, x: T) -> T {
        acc.add(if x.is_nan() { T::ZERO } else { x })
    }
    // Of infinities of both signs the sum is NaN, and stays it.
    #[inline(always)]
    fn combine(&self, a: T, b: T) -> T {
        a.add(b)
    }
    #[inline(always)]
    fn finish(&self, acc: T, _: usize) -> T {
        acc
    }
    in_vectors! { T }
}
impl<T: Real + Send + Sync> InVectors<T> for NanSum {
    #[inline(always)]
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V {
        a + b
    }
    #[inline(always)]
    fn step_vectors<V: Vector<Elem = T>>(&self, acc: V, x: V) -> V {
        acc + x.select(x.eq(x), x.of(0.0))
    }
}

impl<T: Real> InVectors<T> for Squares<T>
where
    Squares<T>: Reduce<T, Acc = T>,
{
    #[inline(always)]
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V {
        a + b
    }
    #[inline(always)]
    fn step_vectors<V: Vector<Elem = T>>(&self, acc: V, x: V) -> V {
        let d = x - x.splat(self.0);
        acc + d * d
    }
}

/// The root of the sum of squares.
#[derive(Clone, Copy, Debug)]
pub struct Length;

impl<T: Real + Send + Sync> Reduce<T> for Length {
    type Acc = T;
    type O = T;
    #[inline(always)]
    fn init(&self) -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step(&self, acc: T, x: T) -> T {
        acc.add(x.mul(x))
    }
    #[inline(always)]
    fn combine(&self, a: T, b: T) -> T {
        a.add(b)
    }
    #[inline(always)]
    fn finish(&self, acc: T, _: usize) -> T {
        acc.sqrt()
    }
    in_vectors! { T }
}
impl<T: Real + Send + Sync> InVectors<T> for Length {
    #[inline(always)]
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V {
        a + b
    }
    #[inline(always)]
    fn step_vectors<V: Vector<Elem = T>>(&self, acc: V, x: V) -> V {
        acc + x * x
    }
}

/// Sum of squared deviations from `.0`.
#[derive(Clone, Copy, Debug)]
pub struct Squares<T>(pub T);

macro_rules! moments {
    ($($a:ty => $t:ty $(, $lanes:ident)?);+ $(;)?) => {$(
        impl Reduce<$a> for Moments {
            /// Count, mean, sum of squared deviations.
            type Acc = [$t; 3];
            /// Mean, sum of squared deviations.
            type O = [$t; 2];
            #[inline(always)]
            fn init(&self) -> [$t; 3] {
                [0.0; 3]
            }
            #[inline(always)]
            fn step(&self, [n, mean, m2]: [$t; 3], x: $a) -> [$t; 3] {
                let x: $t = x.cast();
                let (n, d) = (n + 1.0, x - mean);
                let mean = mean + d / n;
                [n, mean, m2 + d * (x - mean)]
            }
            #[inline(always)]
            fn combine(&self, [na, ma, sa]: [$t; 3], [nb, mb, sb]: [$t; 3]) -> [$t; 3] {
                let (n, d) = (na + nb, mb - ma);
                if n == 0.0 {
                    return [0.0; 3];
                }
                let share = nb / n;
                [n, ma + d * share, sa + sb + d * d * na * share]
            }
            #[inline(always)]
            fn finish(&self, [_, mean, m2]: [$t; 3], n: usize) -> [$t; 2] {
                if n == 0 { [<$t>::NAN, 0.0] } else { [mean, m2] }
            }
        }

        impl Reduce<$a> for Squares<$t> {
            type Acc = $t;
            type O = $t;
            #[inline(always)]
            fn init(&self) -> $t {
                0.0
            }
            #[inline(always)]
            fn step(&self, acc: $t, x: $a) -> $t {
                let d = Cast::<$t>::cast(x) - self.0;
                acc + d * d
            }
            #[inline(always)]
            fn combine(&self, a: $t, b: $t) -> $t {
                a + b
            }
            #[inline(always)]
            fn finish(&self, acc: $t, _: usize) -> $t {
                acc
            }
            $($lanes!($t);)?
        }

        impl RowMoments for $a {
            type Real = $t;
            #[inline]
            unsafe fn row_moments(a: *const Self, n: usize, stride: isize) -> ($t, $t) {
                // SAFETY: duty 1 of `row_moments`, twice.
                unsafe {
                    let mean = row(&Sum, n, a, stride) / n as $t;
                    (mean, row(&Squares(mean), n, a, stride))
                }
            }
        }
    )+};
}

/// The dtypes of [`row_moments`].
pub trait RowMoments: Copy {
    /// What the moments are computed in.
    type Real;
    /// See [`row_moments`].
    ///
    /// # Safety
    /// 1. As [`row_moments`].
    unsafe fn row_moments(a: *const Self, n: usize, stride: isize) -> (Self::Real, Self::Real);
}

moments!(f32 => f32, in_vectors; f64 => f64, in_vectors);

/// Mean and sum of squared deviations of one row, in two passes (the second finds the row in cache); NaN mean if empty.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements with stride `stride`.
pub unsafe fn row_moments<A: RowMoments>(a: *const A, n: usize, stride: isize) -> (A::Real, A::Real) {
    // SAFETY: duty 1 is ours.
    unsafe { A::row_moments(a, n, stride) }
}
