//! A number outside any tensor, and default dtypes.

use std::sync::atomic::{AtomicU8, Ordering};

use num_complex::Complex;

use super::dtype::{Category, DType, Truth};
use crate::error::{Error, Result};
use crate::kernels::real::Constant;

/// A number outside any tensor: it takes part in promotion by its category alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    /// An integer that an `i64` does not hold, from 2^63 on.
    UInt(u64),
    Float(f64),
    Complex(f64, f64),
}

static DEFAULT: AtomicU8 = AtomicU8::new(DType::Float32 as u8);

/// The dtype of floating tensors that are made without naming one.
pub fn default_dtype() -> DType {
    if DEFAULT.load(Ordering::Relaxed) == DType::Float64 as u8 { DType::Float64 } else { DType::Float32 }
}

/// Sets [`default_dtype`]; float32 and float64 are accepted.
pub fn set_default_dtype(dtype: DType) -> Result<()> {
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        return Err(Error::type_error(
            "set_default_dtype",
            format!(
                "only floating-point types are supported as the default type: float32 or float64, got {}",
                dtype.name()
            ),
        ));
    }
    DEFAULT.store(dtype as u8, Ordering::Relaxed);
    Ok(())
}

impl Scalar {
    pub fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) | Scalar::UInt(_) => Category::Int,
            Scalar::Float(_) => Category::Float,
            Scalar::Complex(..) => Category::Complex,
        }
    }
    /// The dtype a tensor made of this number has.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(_) => DType::Int64,
            Scalar::UInt(_) => DType::UInt64,
            Scalar::Float(_) => default_dtype(),
            Scalar::Complex(..) if default_dtype() == DType::Float64 => DType::Complex128,
            Scalar::Complex(..) => DType::Complex64,
        }
    }
    /// As a double; the real part of a complex number.
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::UInt(i) => i as f64,
            Scalar::Float(x) | Scalar::Complex(x, _) => x,
        }
    }
    /// As an integer, truncating; of integers from 2^63 on the same bits.
    pub fn as_i64(self) -> i64 {
        match self {
            Scalar::Bool(b) => i64::from(b),
            Scalar::Int(i) => i,
            Scalar::UInt(i) => i as i64,
            Scalar::Float(x) | Scalar::Complex(x, _) => x as i64,
        }
    }
    pub fn is_zero(self) -> bool {
        match self {
            Scalar::Bool(b) => !b,
            Scalar::Int(i) => i == 0,
            Scalar::UInt(i) => i == 0,
            Scalar::Float(x) => x == 0.0,
            Scalar::Complex(x, y) => x == 0.0 && y == 0.0,
        }
    }
}

impl From<Scalar> for Constant {
    fn from(s: Scalar) -> Self {
        let im = if let Scalar::Complex(_, y) = s { y } else { 0.0 };
        Self { int: s.as_i64(), re: s.as_f64(), im }
    }
}

/// Conversions of numbers: integers that an `i64` holds are [`Scalar::Int`], larger ones [`Scalar::UInt`].
macro_rules! from_numbers {
    ($($t:ty: $x:pat => $scalar:expr),* $(,)?) => { $(
        impl From<$t> for Scalar {
            #[inline]
            fn from($x: $t) -> Self {
                $scalar
            }
        }
    )* };
}
from_numbers!(
    bool: x => Scalar::Bool(x),
    Truth: x => Scalar::Bool(x.get()),
    u8: x => Scalar::Int(x.into()),
    i8: x => Scalar::Int(x.into()),
    i16: x => Scalar::Int(x.into()),
    u16: x => Scalar::Int(x.into()),
    i32: x => Scalar::Int(x.into()),
    u32: x => Scalar::Int(x.into()),
    i64: x => Scalar::Int(x),
    u64: x => i64::try_from(x).map_or(Scalar::UInt(x), Scalar::Int),
    usize: x => Scalar::from(x as u64),
    half::f16: x => Scalar::Float(x.into()),
    half::bf16: x => Scalar::Float(x.into()),
    f32: x => Scalar::Float(x.into()),
    f64: x => Scalar::Float(x),
    Complex<f32>: z => Scalar::Complex(z.re.into(), z.im.into()),
    Complex<f64>: z => Scalar::Complex(z.re, z.im),
);

/// An element type that a scalar can be converted to and from.
pub trait FromScalar: Sized {
    fn from_scalar(s: Scalar) -> Self;
    fn to_scalar(self) -> Scalar;
}
macro_rules! from_scalar {
    (int: $($t:ty),*) => { $(impl FromScalar for $t {
        fn from_scalar(s: Scalar) -> Self { s.as_i64() as $t }
        fn to_scalar(self) -> Scalar { Scalar::Int(self as i64) }
    })* };
    (float: $($t:ty),*) => { $(impl FromScalar for $t {
        fn from_scalar(s: Scalar) -> Self { s.as_f64() as $t }
        fn to_scalar(self) -> Scalar { Scalar::Float(f64::from(self)) }
    })* };
    (half: $($t:ty),*) => { $(impl FromScalar for $t {
        fn from_scalar(s: Scalar) -> Self { <$t>::from_f64(s.as_f64()) }
        fn to_scalar(self) -> Scalar { Scalar::Float(self.to_f64()) }
    })* };
}
from_scalar!(int: u8, i8, i16, i32, i64, u16, u32);
from_scalar!(float: f32, f64);
from_scalar!(half: half::f16, half::bf16);
impl FromScalar for u64 {
    fn from_scalar(s: Scalar) -> Self {
        match s {
            Scalar::Float(x) | Scalar::Complex(x, _) if x >= 0.0 => x as u64,
            s => s.as_i64() as u64,
        }
    }
    fn to_scalar(self) -> Scalar {
        i64::try_from(self).map_or(Scalar::UInt(self), Scalar::Int)
    }
}
impl FromScalar for Truth {
    fn from_scalar(s: Scalar) -> Self {
        (!s.is_zero()).into()
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self.get())
    }
}
macro_rules! complex_scalar {
    ($($t:ty),*) => { $(impl FromScalar for num_complex::Complex<$t> {
        fn from_scalar(s: Scalar) -> Self {
            let im = if let Scalar::Complex(_, y) = s { y } else { 0.0 };
            num_complex::Complex::new(s.as_f64() as $t, im as $t)
        }
        fn to_scalar(self) -> Scalar { Scalar::Complex(f64::from(self.re), f64::from(self.im)) }
    })* };
}
complex_scalar!(f32, f64);
impl FromScalar for num_complex::Complex<half::f16> {
    fn from_scalar(s: Scalar) -> Self {
        let im = if let Scalar::Complex(_, y) = s { y } else { 0.0 };
        num_complex::Complex::new(half::f16::from_f64(s.as_f64()), half::f16::from_f64(im))
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Complex(self.re.to_f64(), self.im.to_f64())
    }
}
