//! Tensors from numbers, lists and arrays of Rust, and back.

use std::any::Any;
use std::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::engine::tensor::{Host, default_dtype};
use crate::engine::{self, DType, Error};
use crate::{Result, Scalar, Shape, Tensor, site};

mod sealed {
    pub trait Sealed {}
}

/// A Rust type whose values are elements of tensors: `bool`, the integers of 8 to 64 bits, [`half::f16`] and
/// [`half::bf16`], `f32`, `f64`, and [`Complex`](num_complex::Complex) of `f16`, `f32` and `f64`.
pub trait Element:
    Host<Element: engine::tensor::Element> + sealed::Sealed + fmt::Debug + Send + Sync + 'static
{
    /// The dtype of tensors made of such values.
    const DTYPE: DType;

    /// The value of a number, where the type can have it: a float may be rounded to a narrower one, and nothing else
    /// is changed.
    #[doc(hidden)]
    fn from_number(number: Scalar) -> Option<Self>;
}

/// A float of a number that is real.
macro_rules! float {
    ($($t:ty: $d:ident, $from:expr, $to:expr);* $(;)?) => { $(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            fn from_number(number: Scalar) -> Option<Self> {
                let (x, integer) = match number {
                    Scalar::Bool(b) => (f64::from(u8::from(b)), None),
                    Scalar::Int(i) => (i as f64, Some(i128::from(i))),
                    Scalar::UInt(i) => (i as f64, Some(i128::from(i))),
                    Scalar::Float(x) => (x, None),
                    Scalar::Complex(..) => return None,
                };
                let value: Self = $from(x);
                // An infinity becomes the largest integer there is.
                integer.is_none_or(|i| $to(value) as i128 == i).then_some(value)
            }
        }
    )* };
}
float!(
    f16: Float16, f16::from_f64, f16::to_f64;
    bf16: BFloat16, bf16::from_f64, bf16::to_f64;
    f32: Float32, |x| x as f32, f64::from;
    f64: Float64, |x| x, |x| x;
);

macro_rules! integer {
    ($($t:ty: $d:ident),*) => { $(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            fn from_number(number: Scalar) -> Option<Self> {
                match number {
                    Scalar::Bool(b) => Some(b.into()),
                    Scalar::Int(i) => i.try_into().ok(),
                    Scalar::UInt(i) => i.try_into().ok(),
                    Scalar::Float(_) | Scalar::Complex(..) => None,
                }
            }
        }
    )* };
}
integer!(u8: UInt8, i8: Int8, i16: Int16, i32: Int32, i64: Int64, u16: UInt16, u32: UInt32, u64: UInt64);

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn from_number(number: Scalar) -> Option<Self> {
        if let Scalar::Bool(b) = number { Some(b) } else { None }
    }
}

macro_rules! complex {
    ($($t:ty: $d:ident),*) => { $(
        impl sealed::Sealed for Complex<$t> {}
        impl Element for Complex<$t> {
            const DTYPE: DType = DType::$d;
            fn from_number(number: Scalar) -> Option<Self> {
                let (re, im) = match number {
                    Scalar::Complex(re, im) => (Scalar::Float(re), im),
                    real => (real, 0.0),
                };
                Some(Self::new(<$t>::from_number(re)?, <$t>::from_number(Scalar::Float(im))?))
            }
        }
    )* };
}
complex!(f16: Complex32, f32: Complex64, f64: Complex128);

/// A tensor of the values listed: `tensor![1.0, 2.0]` has one axis, `tensor![[1.0, 2.0], [3.0, 4.0]]` has two, and so
/// on up to six. Its dtype is that of the values' Rust type, so `tensor![1.0]` is float64, `tensor![1f32]` is float32
/// and `tensor![1, 2]` is int32; class labels and indices, which torch has as int64, are `tensor![1i64, 2]`.
///
/// Brackets nest as they do in `vec!` and in `array!` of ndarray: one value, `tensor![3.0]`, is a list of one, of shape
/// `[1]`. A tensor without axes is `Tensor::from(3.0)`. An empty list has the default dtype.
///
/// ```
/// use retrograd::{DType, Tensor, tensor};
///
/// let m = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!((m.shape(), m.dtype()), (&[2, 3][..], DType::Float64));
/// assert_eq!(tensor![true, false].dtype(), DType::Bool);
/// assert_eq!(tensor![3f32].shape(), [1]);
/// assert_eq!(Tensor::from(3f32).shape(), []);
/// assert_eq!(tensor![].shape(), [0]);
/// ```
#[macro_export]
macro_rules! tensor {
    () => { $crate::Tensor::empty_list() };
    ($($x:expr),+ $(,)?) => { $crate::Tensor::from([$($x),+]) };
    ($x:expr; $n:expr) => { $crate::Tensor::from([$x; $n]) };
}

impl Tensor {
    /// `tensor![]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn empty_list() -> Self {
        site::here();
        site::done(engine::Tensor::empty(&[0], default_dtype()).map(Self))
    }

    /// A tensor of these values in row-major order, with the dtype of their type. The memory of a vector that is not
    /// small becomes the tensor's: nothing is copied, except of `bool`s.
    ///
    /// # Panics
    /// If the shape has another number of elements, or a negative size.
    ///
    /// ```
    /// use retrograd::Tensor;
    ///
    /// let x = Tensor::from_vec(vec![1f32, 2.0, 3.0, 4.0], [2, 2]);
    /// assert_eq!(x.shape(), [2, 2]);
    /// ```
    #[track_caller]
    pub fn from_vec<T: Element>(values: Vec<T>, shape: impl Into<Shape>) -> Self {
        site::here();
        site::done(from_vec(values, &shape.into()))
    }

    /// As [`Tensor::from_vec`], with the error.
    #[track_caller]
    pub fn try_from_vec<T: Element>(values: Vec<T>, shape: impl Into<Shape>) -> Result<Self> {
        site::here();
        from_vec(values, &shape.into())
    }

    /// A tensor of copies of these values in row-major order, with the dtype of their type.
    ///
    /// # Panics
    /// If the shape has another number of elements, or a negative size.
    ///
    /// ```
    /// use retrograd::Tensor;
    ///
    /// assert_eq!(Tensor::from_slice(&[1, 2, 3], (3, 1)).shape(), [3, 1]);
    /// ```
    #[track_caller]
    pub fn from_slice<T: Element>(values: &[T], shape: impl Into<Shape>) -> Self {
        site::here();
        site::done(from_slice(values, &shape.into()))
    }

    /// As [`Tensor::from_slice`], with the error.
    #[track_caller]
    pub fn try_from_slice<T: Element>(values: &[T], shape: impl Into<Shape>) -> Result<Self> {
        site::here();
        from_slice(values, &shape.into())
    }

    /// The only element, as a number of the type asked for.
    ///
    /// A float may be asked for as a narrower one, which rounds it, and a complex number is made of a real one. Nothing
    /// else is changed: an error if the type cannot have the value (an integer out of its range, or one that a float
    /// would round), for an integer of a float, for a real number of a complex one, for a bool of a number, and if the
    /// tensor has not exactly one element.
    ///
    /// ```
    /// use retrograd::tensor;
    ///
    /// let loss = tensor![0.25];
    /// assert_eq!(loss.item::<f64>()?, 0.25);
    /// assert_eq!(loss.item::<f32>()?, 0.25);
    /// assert!(loss.item::<i64>().is_err());
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        site::here();
        let number = self.0.item()?;
        T::from_number(number).ok_or_else(|| {
            let (has, wanted) = (self.dtype().name(), T::DTYPE.name());
            Error::dtype(
                "item",
                format!(
                    "{number:?} of a {has} tensor is no {wanted}: ask for a type that has the value, or convert the tensor \
                     first, with .to(DType::{:?})",
                    T::DTYPE
                ),
            )
        })
    }

    /// The elements in row-major order, as values of the type asked for.
    ///
    /// It is the type of the tensor's dtype, or one that has every value of it: float32 elements come as `f32` and
    /// `f64`, int32 as `i32`, `i64` and `f64`, bool as any. An error for all others: what rounds, or cuts off, is for
    /// `to` to do, whose call says so.
    ///
    /// ```
    /// use retrograd::{DType, tensor};
    ///
    /// let x = tensor![[1f32, 2.0], [3.0, 4.5]];
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.5]);
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.5]);
    /// assert!(x.to_vec::<i64>().is_err());
    /// assert_eq!(x.to(DType::Int64).to_vec::<i64>()?, [1, 2, 3, 4]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        site::here();
        check_lossless("to_vec", self.dtype(), T::DTYPE)?;
        self.0.to_vec()
    }
}

/// An error unless every value of one dtype is one of the other.
pub(crate) fn check_lossless(op: &'static str, has: DType, wanted: DType) -> Result<()> {
    if is_lossless(has, wanted) {
        return Ok(());
    }
    Err(Error::dtype(
        op,
        format!(
            "not every {} is a {}: ask for the type of the elements, or convert them first, with .to(DType::{wanted:?})",
            has.name(),
            wanted.name()
        ),
    ))
}

/// The binary digits that numbers of a dtype have at most, and the bits of its exponents; integers have none.
fn precision(dtype: DType) -> (u32, u32) {
    match dtype {
        DType::Bool => (1, 0),
        DType::Int8 => (7, 0),
        DType::UInt8 => (8, 0),
        DType::Int16 => (15, 0),
        DType::UInt16 => (16, 0),
        DType::Int32 => (31, 0),
        DType::UInt32 => (32, 0),
        DType::Int64 => (63, 0),
        DType::UInt64 => (64, 0),
        DType::Float16 | DType::Complex32 => (11, 5),
        DType::BFloat16 => (8, 8),
        DType::Float32 | DType::Complex64 => (24, 8),
        DType::Float64 | DType::Complex128 => (53, 11),
    }
}

fn is_lossless(from: DType, to: DType) -> bool {
    let ((digits, exponent), (room, reach)) = (precision(from), precision(to));
    // An integer of as many digits as a float has is one of its values: all floats reach beyond their digits.
    let fits = digits <= room && exponent <= reach && from.category() <= to.category();
    // The least of a signed integer has one digit more than the others, and is a power of two.
    let sign = to.is_signed() || !from.is_signed();
    from == to || fits && sign && (to != DType::Bool)
}

fn from_slice<T: Element>(values: &[T], shape: &Shape) -> Result<Tensor> {
    let sizes = shape.sizes("from_slice")?;
    engine::Tensor::from_slice(values, &sizes).map(Tensor)
}

fn from_vec<T: Element>(values: Vec<T>, shape: &Shape) -> Result<Tensor> {
    let sizes = shape.sizes("from_vec")?;
    let mut values = Some(values);
    // A vector of elements: of all types but bool, which is a type of its own in memory.
    let elements = (&mut values as &mut dyn Any).downcast_mut::<Option<Vec<T::Element>>>().and_then(Option::take);
    match elements {
        Some(elements) => engine::Tensor::from_vec(elements, &sizes),
        None => {
            let values = values.unwrap_or_default();
            engine::Tensor::from_slice(&values, &sizes).map_err(|error| error.named("from_vec"))
        }
    }
    .map(Tensor)
}

/// Conversions of single numbers.
macro_rules! number {
    ($($t:ty),*) => { $(
        /// A tensor without axes.
        impl From<$t> for Tensor {
            #[track_caller]
            fn from(value: $t) -> Self {
                site::here();
                site::done(engine::Tensor::from_slice(&[value], &[]).map(Self))
            }
        }

        /// As [`Tensor::item`].
        impl TryFrom<&Tensor> for $t {
            type Error = Error;
            #[track_caller]
            fn try_from(tensor: &Tensor) -> Result<Self> {
                tensor.item()
            }
        }
    )* };
}
number!(bool, u8, i8, i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);

/// Conversions of arrays: the sizes, outermost first, with the type of the array and its values in a row.
macro_rules! array {
    ($($array:ty, [$($n:ident),+], $x:ident => $row:expr);* $(;)?) => { $(
        impl<T: Element, $(const $n: usize),+> From<$array> for Tensor {
            #[track_caller]
            fn from(array: $array) -> Self {
                Self::from(&array)
            }
        }

        impl<T: Element, $(const $n: usize),+> From<&$array> for Tensor {
            #[track_caller]
            fn from($x: &$array) -> Self {
                site::here();
                site::done(engine::Tensor::from_slice($row, &[$($n),+]).map(Self))
            }
        }
    )* };
}
array!(
    [T; A], [A], x => x;
    [[T; B]; A], [A, B], x => x.as_flattened();
    [[[T; C]; B]; A], [A, B, C], x => x.as_flattened().as_flattened();
    [[[[T; D]; C]; B]; A], [A, B, C, D], x => x.as_flattened().as_flattened().as_flattened();
    [[[[[T; E]; D]; C]; B]; A], [A, B, C, D, E],
        x => x.as_flattened().as_flattened().as_flattened().as_flattened();
    [[[[[[T; F]; E]; D]; C]; B]; A], [A, B, C, D, E, F],
        x => x.as_flattened().as_flattened().as_flattened().as_flattened().as_flattened();
);

/// A tensor with one axis.
impl<T: Element> From<Vec<T>> for Tensor {
    #[track_caller]
    fn from(values: Vec<T>) -> Self {
        let n = values.len();
        Self::from_vec(values, n)
    }
}

/// A tensor with one axis.
impl<T: Element> From<&Vec<T>> for Tensor {
    #[track_caller]
    fn from(values: &Vec<T>) -> Self {
        Self::from(values.as_slice())
    }
}

/// A tensor with one axis.
impl<T: Element> From<&[T]> for Tensor {
    #[track_caller]
    fn from(values: &[T]) -> Self {
        Self::from_slice(values, values.len())
    }
}

/// A tensor with two axes; an error if the rows differ in length.
impl<T: Element> TryFrom<Vec<Vec<T>>> for Tensor {
    type Error = Error;
    #[track_caller]
    fn try_from(rows: Vec<Vec<T>>) -> Result<Self> {
        let n = rows.first().map_or(0, Vec::len);
        if let Some(at) = rows.iter().position(|row| row.len() != n) {
            return Err(Error::value(
                "Tensor::try_from",
                format!("expected rows of length {n}, as the first one has, but row {at} has {}", rows[at].len()),
            ));
        }
        Self::try_from_vec(rows.concat(), (rows.len(), n))
    }
}

/// A tensor with one axis.
///
/// ```
/// use retrograd::Tensor;
///
/// let squares: Tensor = (0..4).map(|i| f64::from(i * i)).collect();
/// assert_eq!(squares.to_vec::<f64>()?, [0.0, 1.0, 4.0, 9.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
impl<T: Element> FromIterator<T> for Tensor {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<T>>())
    }
}

/// As [`Tensor::to_vec`].
impl<T: Element> TryFrom<&Tensor> for Vec<T> {
    type Error = Error;
    #[track_caller]
    fn try_from(tensor: &Tensor) -> Result<Self> {
        tensor.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lossless_is_so_for_the_least_and_the_greatest() {
        use DType::*;
        for (from, to, want) in [
            (Bool, Int8, true),
            (Bool, Float16, true),
            (Int8, Bool, false),
            (UInt8, Int8, false),
            (UInt8, Int16, true),
            (Int8, UInt8, false),
            (Int8, UInt64, false),
            (Int64, Float64, false),
            (Int32, Float64, true),
            (Int32, Float32, false),
            (Int16, Float32, true),
            (UInt8, BFloat16, true),
            (Float16, BFloat16, false),
            (BFloat16, Float16, false),
            (Float16, Float32, true),
            (Float64, Float32, false),
            (Float32, Int64, false),
            (Float32, Complex64, true),
            (Complex64, Complex128, true),
            (Complex64, Float64, false),
            (UInt64, UInt64, true),
        ] {
            assert_eq!(is_lossless(from, to), want, "{from:?} {to:?}");
        }
        assert!(DType::ALL.iter().all(|&d| is_lossless(d, d)));
    }

    #[test]
    fn numbers_are_exact_or_floats_that_are_rounded() {
        assert_eq!(f32::from_number(Scalar::Float(0.1)), Some(0.1f32));
        assert_eq!(f32::from_number(Scalar::Int(16_777_217)), None);
        assert_eq!(f64::from_number(Scalar::Int(i64::MAX)), None);
        assert_eq!(f64::from_number(Scalar::Int(i64::MIN)), Some(-9_223_372_036_854_775_808.0));
        assert_eq!(f16::from_number(Scalar::Int(65_536)), None);
        assert_eq!(f16::from_number(Scalar::Int(2048)), Some(f16::from_f32(2048.0)));
        assert_eq!(i8::from_number(Scalar::Int(-128)), Some(-128));
        assert_eq!(i8::from_number(Scalar::Int(128)), None);
        assert_eq!(u64::from_number(Scalar::UInt(u64::MAX)), Some(u64::MAX));
        assert_eq!(i64::from_number(Scalar::Float(2.0)), None);
        assert_eq!(bool::from_number(Scalar::Int(1)), None);
        assert_eq!(Complex::<f32>::from_number(Scalar::Complex(1.0, -2.0)), Some(Complex::new(1.0, -2.0)));
        assert_eq!(Complex::<f64>::from_number(Scalar::Bool(true)), Some(Complex::new(1.0, 0.0)));
        assert_eq!(f64::from_number(Scalar::Complex(1.0, 0.0)), None);
    }
}
