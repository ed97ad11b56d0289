//! What an op takes in the place of a tensor: references, tensors, numbers.

use std::fmt;
use std::ops::Deref;

use half::{bf16, f16};
use num_complex::Complex;

use crate::engine;
use crate::{Scalar, Tensor, site};

/// An operand of an op: a tensor, borrowed or given away, or a number.
///
/// A number takes part in promotion by its category alone, as in torch: an integer beside float32 elements, or a float
/// beside them of whatever width, leaves the result float32; a float beside integers makes it the default dtype.
///
/// ```
/// use retrograd::{DType, tensor};
///
/// let x = tensor![1f32, 2.0];
/// assert_eq!((&x * 2.0).dtype(), DType::Float32);
/// assert_eq!((&x * 2).dtype(), DType::Float32);
/// assert_eq!((tensor![1, 2] * 0.5).dtype(), DType::Float32);
/// assert_eq!((&x * tensor![1f64, 2.0]).dtype(), DType::Float64);
/// ```
#[derive(Clone)]
pub struct Operand<'a>(Held<'a>);

#[derive(Clone)]
enum Held<'a> {
    Borrowed(&'a engine::Tensor),
    Owned(engine::Tensor),
}

impl Deref for Operand<'_> {
    type Target = engine::Tensor;
    #[inline]
    fn deref(&self) -> &engine::Tensor {
        match &self.0 {
            Held::Borrowed(tensor) => tensor,
            Held::Owned(tensor) => tensor,
        }
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operand({:?})", &**self)
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Self {
        Self(Held::Borrowed(&tensor.0))
    }
}

impl From<Tensor> for Operand<'_> {
    #[inline]
    fn from(tensor: Tensor) -> Self {
        Self(Held::Owned(tensor.0))
    }
}

impl<'a> From<&'a engine::Tensor> for Operand<'a> {
    #[inline]
    fn from(tensor: &'a engine::Tensor) -> Self {
        Self(Held::Borrowed(tensor))
    }
}

/// An integer from 2^63 on, which no dtype that ops compute in has, is a float.
///
/// Panics for complex numbers without the feature `complex`.
impl From<Scalar> for Operand<'_> {
    #[inline]
    fn from(number: Scalar) -> Self {
        let number = if let Scalar::UInt(large) = number { Scalar::Float(large as f64) } else { number };
        // What can fail is a dtype that a feature leaves out.
        Self(Held::Owned(site::done(engine::Tensor::shared_number(number))))
    }
}

macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl From<$t> for Operand<'_> {
            #[inline]
            fn from(number: $t) -> Self {
                Scalar::from(number).into()
            }
        }
    )* };
}
numbers!(bool u8 i8 i16 u16 i32 u32 i64 u64 usize f16 bf16 f32 f64 Complex<f32> Complex<f64>);

/// A list of tensors, for what takes one or several: of one, of arrays, slices and vectors of tensors or of references
/// to them, or collected from either.
///
/// ```
/// use retrograd::{grad, tensor};
///
/// let (x, y) = (tensor![1.0].requires_grad_(true), tensor![2.0].requires_grad_(true));
/// let product = &x * &y;
/// let gradients = grad(&product, [&x, &y])?;
/// assert_eq!(gradients[0].item::<f64>()?, 2.0);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tensors<'a>(List<'a>);

#[derive(Clone, Debug)]
enum List<'a> {
    Borrowed(&'a [Tensor]),
    Owned(Vec<Tensor>),
}

impl Tensors<'_> {
    /// The tensors as the engine takes them.
    #[inline]
    pub(crate) fn engine(&self) -> &[engine::Tensor] {
        let tensors = match &self.0 {
            List::Borrowed(tensors) => tensors,
            List::Owned(tensors) => tensors.as_slice(),
        };
        // SAFETY: 1. `Tensor` is `repr(transparent)` over the engine's tensor, so a slice of one is laid out as a slice
        // of the other. 2. The result borrows from `self`, as the slice does.
        unsafe { std::slice::from_raw_parts(tensors.as_ptr().cast(), tensors.len()) }
    }
}

impl FromIterator<Tensor> for Tensors<'_> {
    fn from_iter<I: IntoIterator<Item = Tensor>>(tensors: I) -> Self {
        Self(List::Owned(tensors.into_iter().collect()))
    }
}

impl<'t> FromIterator<&'t Tensor> for Tensors<'_> {
    fn from_iter<I: IntoIterator<Item = &'t Tensor>>(tensors: I) -> Self {
        tensors.into_iter().cloned().collect()
    }
}

/// Conversions to a list: of what is borrowed, and of what is collected.
macro_rules! lists {
    ($([$($const:tt)*] $from:ty, $tensors:ident => $list:expr);* $(;)?) => { $(
        impl<'a, $($const)*> From<$from> for Tensors<'a> {
            #[inline]
            fn from($tensors: $from) -> Self {
                $list
            }
        }
    )* };
}
lists!(
    [] &'a Tensor, tensor => Self(List::Borrowed(std::slice::from_ref(tensor)));
    [] &'a [Tensor], tensors => Self(List::Borrowed(tensors));
    [] &'a Vec<Tensor>, tensors => Self(List::Borrowed(tensors));
    [const N: usize] &'a [Tensor; N], tensors => Self(List::Borrowed(tensors));
    [] Tensor, tensor => Self(List::Owned(vec![tensor]));
    [] Vec<Tensor>, tensors => Self(List::Owned(tensors));
    [const N: usize] [Tensor; N], tensors => tensors.into_iter().collect();
    [const N: usize] [&Tensor; N], tensors => tensors.into_iter().collect();
    [const N: usize] &[&Tensor; N], tensors => tensors.iter().copied().collect();
    [] &[&Tensor], tensors => tensors.iter().copied().collect();
    [] Vec<&Tensor>, tensors => tensors.into_iter().collect();
    [] &Vec<&Tensor>, tensors => tensors.iter().copied().collect();
);
