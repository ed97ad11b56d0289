//! Arithmetic that kernels are generic over: numbers with wrapping integer arithmetic, and real numbers with functions.

/// A number of any dtype that has kernels. Integers wrap; `bool` is 0 and 1 with "or" as sum and "and" as product.
pub trait Num: Copy + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, o: Self) -> Self;
    fn minus(self, o: Self) -> Self;
    fn times(self, o: Self) -> Self;
    fn negate(self) -> Self;
    fn is_nan(self) -> bool;
}

macro_rules! int_num {
    ($($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = 0;
        const ONE: Self = 1;
        #[inline(always)] fn plus(self, o: Self) -> Self { self.wrapping_add(o) }
        #[inline(always)] fn minus(self, o: Self) -> Self { self.wrapping_sub(o) }
        #[inline(always)] fn times(self, o: Self) -> Self { self.wrapping_mul(o) }
        #[inline(always)] fn negate(self) -> Self { self.wrapping_neg() }
        #[inline(always)] fn is_nan(self) -> bool { false }
    })* };
}
int_num!(u8, i8, i16, i32, i64);

impl Num for bool {
    const ZERO: Self = false;
    const ONE: Self = true;
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        self | o
    }
    #[inline(always)]
    fn minus(self, o: Self) -> Self {
        self ^ o
    }
    #[inline(always)]
    fn times(self, o: Self) -> Self {
        self & o
    }
    #[inline(always)]
    fn negate(self) -> Self {
        !self
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

/// A floating point number with the functions that ops need.
pub trait Real: Num {
    fn of(x: f64) -> Self;
    fn over(self, o: Self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tanh(self) -> Self;
    fn powf(self, e: Self) -> Self;
    fn abs(self) -> Self;
    fn floor(self) -> Self;
    fn trunc(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
}

macro_rules! real {
    ($($t:ty, $erf:ident);*) => { $(
        impl Num for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)] fn plus(self, o: Self) -> Self { self + o }
            #[inline(always)] fn minus(self, o: Self) -> Self { self - o }
            #[inline(always)] fn times(self, o: Self) -> Self { self * o }
            #[inline(always)] fn negate(self) -> Self { -self }
            #[inline(always)] fn is_nan(self) -> bool { self.is_nan() }
        }
        impl Real for $t {
            #[inline(always)] fn of(x: f64) -> Self { x as $t }
            #[inline(always)] fn over(self, o: Self) -> Self { self / o }
            #[inline(always)] fn exp(self) -> Self { self.exp() }
            #[inline(always)] fn ln(self) -> Self { self.ln() }
            #[inline(always)] fn ln_1p(self) -> Self { self.ln_1p() }
            #[inline(always)] fn sqrt(self) -> Self { self.sqrt() }
            #[inline(always)] fn sin(self) -> Self { self.sin() }
            #[inline(always)] fn cos(self) -> Self { self.cos() }
            #[inline(always)] fn tanh(self) -> Self { self.tanh() }
            #[inline(always)] fn powf(self, e: Self) -> Self { self.powf(e) }
            #[inline(always)] fn abs(self) -> Self { self.abs() }
            #[inline(always)] fn floor(self) -> Self { self.floor() }
            #[inline(always)] fn trunc(self) -> Self { self.trunc() }
            #[inline(always)] fn erf(self) -> Self { libm::$erf(self) }
        }
    )* };
}
real!(f32, erff; f64, erf);
