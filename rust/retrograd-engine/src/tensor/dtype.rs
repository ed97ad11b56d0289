//! Element types, their names, categories and the promotion lattice.

use half::{bf16, f16};
use num_complex::Complex;

use crate::error::{Error, Result};
use crate::kernels::pointwise::Half;
pub use crate::kernels::truth::Truth;

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    Bool,
    UInt8,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    /// This one and the following are there to be stored and converted: no op has loops of its own for them.
    UInt16,
    UInt32,
    UInt64,
    Complex32,
}

/// The rungs of promotion: a value of a higher category wins over any of a lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Category {
    Bool,
    Int,
    Float,
    Complex,
}

impl DType {
    pub const ALL: [DType; 16] = [
        DType::Bool,
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Complex32,
    ];

    /// Refuses the dtypes that features have left out of this build: no tensor of them is made.
    #[inline(always)]
    pub(crate) fn refuse_left_out(self) -> Result<()> {
        if cfg!(not(feature = "complex")) && self.is_complex() {
            return Err(Error::left_out(self.name(), "complex"));
        }
        if cfg!(not(feature = "half")) && self.half().is_some() {
            return Err(Error::left_out(self.name(), "half"));
        }
        Ok(())
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 | DType::Complex32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }
    /// What the address of an element is a multiple of.
    pub const fn alignment(self) -> usize {
        match self {
            DType::Complex32 | DType::Complex64 | DType::Complex128 => self.size() / 2,
            _ => self.size(),
        }
    }
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::UInt8
            | DType::Int8
            | DType::Int16
            | DType::Int32
            | DType::Int64
            | DType::UInt16
            | DType::UInt32
            | DType::UInt64 => Category::Int,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => Category::Float,
            DType::Complex32 | DType::Complex64 | DType::Complex128 => Category::Complex,
        }
    }
    pub const fn is_floating(self) -> bool {
        matches!(self.category(), Category::Float)
    }
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }
    /// Whether values of this type can carry a gradient.
    pub const fn is_differentiable(self) -> bool {
        matches!(self.category(), Category::Float | Category::Complex)
    }
    /// The 16-bit format, of the two dtypes that kernels compute with in float32.
    pub const fn half(self) -> Option<Half> {
        match self {
            DType::Float16 => Some(Half::F16),
            DType::BFloat16 => Some(Half::BF16),
            _ => None,
        }
    }
    /// Whether it is one of the unsigned integers that are not promoted with other integers.
    pub const fn is_wide_unsigned(self) -> bool {
        matches!(self, DType::UInt16 | DType::UInt32 | DType::UInt64)
    }
    /// Whether no op has loops for it: it is stored, and converted to be computed with.
    #[inline(always)]
    pub const fn is_only_stored(self) -> bool {
        self as u8 >= DType::UInt16 as u8
    }
    /// The dtype that ops compute in where they are given one that is only stored.
    pub const fn computed(self) -> DType {
        match self {
            DType::UInt16 => DType::Int32,
            DType::UInt32 | DType::UInt64 => DType::Int64,
            DType::Complex32 => DType::Complex64,
            other => other,
        }
    }
    /// Whether it has negative numbers.
    pub const fn is_signed(self) -> bool {
        !matches!(self, DType::Bool | DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64)
    }
    /// The complex dtype whose parts have this one; complex ones unchanged, bfloat16 and integers as float32.
    pub const fn complex(self) -> DType {
        match self {
            DType::Float64 | DType::Complex128 => DType::Complex128,
            DType::Float16 | DType::Complex32 => DType::Complex32,
            _ => DType::Complex64,
        }
    }
    /// Integer or bool.
    pub const fn is_integral(self) -> bool {
        matches!(self.category(), Category::Int | Category::Bool)
    }
    /// `"float32"`, the attribute name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::UInt8 => "uint8",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Complex32 => "complex32",
        }
    }
    /// `"Float"`, the name torch's messages use.
    pub const fn scalar_type_name(self) -> &'static str {
        match self {
            DType::Bool => "Bool",
            DType::UInt8 => "Byte",
            DType::Int8 => "Char",
            DType::Int16 => "Short",
            DType::Int32 => "Int",
            DType::Int64 => "Long",
            DType::Float16 => "Half",
            DType::BFloat16 => "BFloat16",
            DType::Float32 => "Float",
            DType::Float64 => "Double",
            DType::Complex64 => "ComplexFloat",
            DType::Complex128 => "ComplexDouble",
            DType::UInt16 => "UInt16",
            DType::UInt32 => "UInt32",
            DType::UInt64 => "UInt64",
            DType::Complex32 => "ComplexHalf",
        }
    }
    /// `"float"`, the name that C++ has for the elements, which some of torch's messages use.
    pub const fn cpp_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::UInt8 => "unsigned char",
            DType::Int8 => "signed char",
            DType::Int16 => "short int",
            DType::Int32 => "int",
            DType::Int64 => "long int",
            DType::Float16 => "c10::Half",
            DType::BFloat16 => "c10::BFloat16",
            DType::Float32 => "float",
            DType::Float64 => "double",
            DType::Complex64 => "c10::complex<float>",
            DType::Complex128 => "c10::complex<double>",
            DType::UInt16 => "short unsigned int",
            DType::UInt32 => "unsigned int",
            DType::UInt64 => "long unsigned int",
            DType::Complex32 => "c10::complex<c10::Half>",
        }
    }
    /// `"FloatTensor"`.
    pub fn tensor_type_name(self) -> String {
        format!("{}Tensor", self.scalar_type_name())
    }
    /// The dtype both operands are converted to, for operands of equal standing (two tensors with dims).
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        if self == other {
            return self;
        }
        let (lo, hi) = if self < other { (self, other) } else { (other, self) };
        match (lo, hi) {
            (UInt8, Int8) => Int16,
            (Float16, BFloat16) => Float32,
            (Float64, Complex64 | Complex32) => Complex128,
            (BFloat16 | Float32, Complex32) => Complex64,
            (Complex64 | Complex128, Complex32) => lo,
            // With integers of other dtypes there is none: see `unpromoted`.
            (_, UInt16 | UInt32 | UInt64) if lo.category() > Category::Int => lo,
            _ => hi,
        }
    }
    /// Whether two dtypes have none in common: wide unsigned integers with other integers and bools.
    pub fn unpromoted(self, other: DType) -> bool {
        self != other
            && (self.is_wide_unsigned() || other.is_wide_unsigned())
            && self.category().max(other.category()) <= Category::Int
    }
    /// Whether a result of this dtype may be written to a tensor of dtype `to` (never down a category).
    pub fn can_cast(self, to: DType) -> bool {
        let (from, to) = (self.category(), to.category());
        from <= to
    }
    /// What loops that are compiled for few types compute it in: halves in float32, complex numbers in complex128.
    pub const fn wide(self) -> DType {
        match self {
            DType::Float16 | DType::BFloat16 => DType::Float32,
            DType::Complex64 => DType::Complex128,
            other => other,
        }
    }
    /// The real dtype of a complex one; others unchanged.
    pub const fn real(self) -> DType {
        match self {
            DType::Complex32 => DType::Float16,
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }
}

/// A set of dtypes. The named ones are the classes of [`match_dtype!`](crate::match_dtype).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dtypes(u32);

impl Dtypes {
    pub const BOOL: Self = Self::of(&[DType::Bool]);
    /// Integers, without bool.
    pub const INTS: Self = Self::of(&[DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64]);
    pub const INTEGRAL: Self = Self::INTS.or(Self::BOOL);
    pub const HALVES: Self = Self::of(&[DType::Float16, DType::BFloat16]);
    /// float32 and float64.
    pub const FLOATS: Self = Self::of(&[DType::Float32, DType::Float64]);
    /// Floats and integers, without bool.
    pub const REALS: Self = Self::FLOATS.or(Self::INTS);
    pub const NUMERIC: Self = Self::REALS.or(Self::BOOL);
    pub const ORDERED: Self = Self::NUMERIC.or(Self::HALVES);
    pub const COMPLEX: Self = Self::of(&[DType::Complex64, DType::Complex128]);
    pub const FIELDS: Self = Self::FLOATS.or(Self::COMPLEX);
    /// What [`DType::wide`] makes of differentiable dtypes.
    pub const WIDE: Self = Self::FLOATS.or(Self::of(&[DType::Complex128]));
    pub const RINGS: Self = Self::NUMERIC.or(Self::COMPLEX);
    pub const ARITHMETIC: Self = Self::REALS.or(Self::COMPLEX);
    /// Every dtype that loops are written for.
    pub const ALL: Self = Self::RINGS.or(Self::HALVES);
    /// uint16, uint32 and uint64.
    pub const WIDE_UNSIGNED: Self = Self::of(&[DType::UInt16, DType::UInt32, DType::UInt64]);
    pub const COMPLEX32: Self = Self::of(&[DType::Complex32]);
    /// Every dtype: for ops that only move elements, and so have loops for all of them.
    pub const STORED: Self = Self(Self::ALL.or(Self::WIDE_UNSIGNED).or(Self::COMPLEX32).0 | Self::MOVED);
    const MOVED: u32 = 1 << DType::ALL.len();

    pub const fn of(list: &[DType]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < list.len() {
            bits |= 1 << list[i] as u32;
            i += 1;
        }
        Self(bits)
    }
    /// The dtypes of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// The dtypes of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    #[inline(always)]
    pub const fn has(self, dtype: DType) -> bool {
        self.0 >> dtype as u32 & 1 != 0
    }
    /// Whether it has every dtype that loops are written for.
    pub const fn has_all(self) -> bool {
        self.0 & Self::ALL.0 == Self::ALL.0
    }
    /// Whether it is [`Dtypes::STORED`].
    pub const fn is_stored(self) -> bool {
        self.0 & Self::MOVED != 0
    }
    /// The dtypes of the set, from bool to complex ones.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&d| self.has(d))
    }
}

/// What [`match_dtype!`](crate::match_dtype) without `else` does with a dtype outside of the class.
///
/// # Panics
///
/// Always: an op is not run with a dtype that it does not declare.
#[cold]
pub fn undeclared(dtype: DType) -> ! {
    panic!("an op met {}, which its set of dtypes does not have or its kernel does not know", dtype.name())
}

/// A Rust type that is the element type of a tensor.
///
/// # Safety
/// 1. It has the size of `DTYPE`, at most its alignment, and no padding.
/// 2. Any bytes are a value of it, since memory may hold any.
pub unsafe trait Element:
    crate::kernels::simd::SimdElement + Default + PartialEq + Send + Sync + 'static
{
    const DTYPE: DType;
}

macro_rules! element {
    ($($t:ty => $d:ident),*) => { $(
        const _: () = assert!(size_of::<$t>() == DType::$d.size() && align_of::<$t>() <= DType::$d.alignment());
        // SAFETY: (1) as asserted; plain numbers have no padding, nor do pairs of them. (2) Of numbers; `Truth` is a
        // byte.
        unsafe impl Element for $t { const DTYPE: DType = DType::$d; }
    )* };
}
element!(Truth => Bool, u8 => UInt8, i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    f16 => Float16, bf16 => BFloat16, f32 => Float32, f64 => Float64,
    Complex<f32> => Complex64, Complex<f64> => Complex128,
    u16 => UInt16, u32 => UInt32, u64 => UInt64, Complex<f16> => Complex32);

/// A Rust type whose values go into tensors and come back: the element types, and `bool` for [`Truth`].
pub trait Host: Copy {
    type Element: Element;
    fn into_element(self) -> Self::Element;
    fn from_element(element: Self::Element) -> Self;
}
impl<T: Element> Host for T {
    type Element = T;
    #[inline(always)]
    fn into_element(self) -> T {
        self
    }
    #[inline(always)]
    fn from_element(element: T) -> T {
        element
    }
}
impl Host for bool {
    type Element = Truth;
    #[inline(always)]
    fn into_element(self) -> Truth {
        self.into()
    }
    #[inline(always)]
    fn from_element(element: Truth) -> bool {
        element.get()
    }
}

/// Runs the body with `$T` naming the Rust type of a dtype out of a class, and `else` for the others. Without `else`
/// the others are not expected: an op refuses what is not among its `DTYPES` before it runs. What is no op refuses the
/// others itself: with `match_dtype!(floats of op, ..)` the function returns the error that `op` has no kernel.
///
/// Classes: `ints` (without bool), `integral` (ints and bool), `floats` (float32, float64), `reals` (ints and
/// floats), `numeric` (integral and floats), `halves`, `complex`, `fields` (floats and complex), `rings`
/// (numeric and complex), `arithmetic` (these without bool), `wide` (floats and complex128: what [`DType::wide`] makes
/// of differentiable dtypes), `ordered` (every dtype whose values have an order: all but complex ones),
/// `any` (every dtype with storage). [`Dtypes`] has the same names.
///
/// Among others, dtypes that a feature has left out are left out here: there is no tensor of them.
#[macro_export]
macro_rules! match_dtype {
    (@ $dtype:expr, $T:ident, $body:expr, [$($d:ident $t:ty),* $(,)?], $other:expr) => {
        match $dtype { $($crate::DType::$d => { type $T = $t; $body })* #[allow(unreachable_patterns)] _ => $other }
    };
    ($class:ident of $op:expr, $dtype:expr, $T:ident => $body:expr) => {
        $crate::match_dtype!($class, $dtype, $T => $body, else return Err($crate::error::Error::no_kernel($op, $dtype)))
    };
    (any, $dtype:expr, $T:ident => $body:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body,
            [Bool $crate::tensor::Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64,
                UInt16 u16, UInt32 u32, UInt64 u64,]
            half [Float16 half::f16, BFloat16 half::bf16,]
            complex [Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>,
                Complex32 num_complex::Complex<half::f16>,],
            unreachable!())
    };
    ($class:ident, $dtype:expr, $T:ident => $body:expr) => {
        $crate::match_dtype!($class, $dtype, $T => $body, else $crate::tensor::dtype::undeclared($dtype))
    };
    (floats, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [Float32 f32, Float64 f64], $other)
    };
    (ints, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64], $other)
    };
    (integral, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body,
            [Bool $crate::tensor::Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64], $other)
    };
    (reals, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body,
            [UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64], $other)
    };
    (numeric, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body,
            [Bool $crate::tensor::Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64],
            $other)
    };
    (complex, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body,
            [Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>], $other)
    };
    (halves, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [Float16 half::f16, BFloat16 half::bf16], $other)
    };
    (fields, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body, [Float32 f32, Float64 f64,] half []
            complex [Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>], $other)
    };
    (arithmetic, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body,
            [UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64,] half []
            complex [Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>], $other)
    };
    (wide, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body, [Float32 f32, Float64 f64,] half []
            complex [Complex128 num_complex::Complex<f64>], $other)
    };
    (rings, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body,
            [Bool $crate::tensor::Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64,]
            half [] complex [Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>], $other)
    };
    (ordered, $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::match_built_dtype!($dtype, $T, $body,
            [Bool $crate::tensor::Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64,]
            half [Float16 half::f16, BFloat16 half::bf16] complex [], $other)
    };
}

// `match_built_dtype!` is `match_dtype!` over the dtypes that this build has, out of three lists. A `cfg` inside of
// `match_dtype!` would ask for features of the crate that uses it.

#[cfg(all(feature = "half", feature = "complex"))]
#[doc(hidden)]
#[macro_export]
macro_rules! match_built_dtype {
    ($dtype:expr, $T:ident, $body:expr, [$($plain:tt)*] half [$($half:tt)*] complex [$($complex:tt)*], $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [$($plain)* $($half)* $($complex)*], $other)
    };
}

#[cfg(all(feature = "half", not(feature = "complex")))]
#[doc(hidden)]
#[macro_export]
macro_rules! match_built_dtype {
    ($dtype:expr, $T:ident, $body:expr, [$($plain:tt)*] half [$($half:tt)*] complex [$($complex:tt)*], $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [$($plain)* $($half)*], $other)
    };
}

#[cfg(all(not(feature = "half"), feature = "complex"))]
#[doc(hidden)]
#[macro_export]
macro_rules! match_built_dtype {
    ($dtype:expr, $T:ident, $body:expr, [$($plain:tt)*] half [$($half:tt)*] complex [$($complex:tt)*], $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [$($plain)* $($complex)*], $other)
    };
}

#[cfg(not(any(feature = "half", feature = "complex")))]
#[doc(hidden)]
#[macro_export]
macro_rules! match_built_dtype {
    ($dtype:expr, $T:ident, $body:expr, [$($plain:tt)*] half [$($half:tt)*] complex [$($complex:tt)*], $other:expr) => {
        $crate::match_dtype!(@ $dtype, $T, $body, [$($plain)*], $other)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_classes_of_the_same_name() {
        macro_rules! same {
            ($($class:ident $set:ident),*) => { $(
                for dtype in DType::ALL {
                    assert_eq!(match_dtype!($class, dtype, T => size_of::<T>() > 0, else false), Dtypes::$set.has(dtype));
                }
            )* };
        }
        same!(ints INTS, integral INTEGRAL, halves HALVES, floats FLOATS, reals REALS, numeric NUMERIC, ordered ORDERED,
            complex COMPLEX, fields FIELDS, wide WIDE, arithmetic ARITHMETIC, rings RINGS);
        assert!(Dtypes::STORED.iter().eq(DType::ALL) && Dtypes::STORED.is_stored() && !Dtypes::ALL.is_stored());
        assert!(Dtypes::ALL.has_all() && !Dtypes::RINGS.has_all());
    }

    #[test]
    fn promotion_is_symmetric_and_never_lowers_the_category() {
        for a in DType::ALL {
            for b in DType::ALL {
                let p = a.promote(b);
                assert_eq!(p, b.promote(a));
                assert!(p.category() >= a.category() && p.category() >= b.category());
            }
        }
        assert_eq!(DType::UInt8.promote(DType::Int8), DType::Int16);
        assert_eq!(DType::Float16.promote(DType::BFloat16), DType::Float32);
        assert_eq!(DType::Int64.promote(DType::Float16), DType::Float16);
        assert_eq!(DType::Float64.promote(DType::Complex64), DType::Complex128);
    }
}
