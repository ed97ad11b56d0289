//! What an op takes in the place of a tensor: references, tensors, numbers.

use crate::engine;
use crate::{Scalar, Tensor};

/// An operand of an op: a tensor, or a number that takes part in promotion by its category alone.
#[derive(Clone, Debug)]
pub struct Operand<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Borrowed(&'a engine::Tensor),
    Owned(engine::Tensor),
}

impl Operand<'_> {
    /// The tensor as the engine takes it.
    #[inline]
    pub(crate) fn engine(&self) -> &engine::Tensor {
        match &self.0 {
            Kind::Borrowed(tensor) => tensor,
            Kind::Owned(tensor) => tensor,
        }
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Self {
        Self(Kind::Borrowed(tensor.engine()))
    }
}

impl From<Tensor> for Operand<'_> {
    #[inline]
    fn from(tensor: Tensor) -> Self {
        Self(Kind::Owned(tensor.into()))
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(number: Scalar) -> Self {
        Self(Kind::Owned(engine::Tensor::shared_number(number).expect("memory for one number")))
    }
}

macro_rules! numbers {
    ($($number:ty => $variant:ident as $as:ty),*) => {$(
        impl From<$number> for Operand<'_> {
            #[inline]
            fn from(number: $number) -> Self {
                Scalar::$variant(<$as>::from(number)).into()
            }
        }
    )*};
}

numbers!(bool => Bool as bool, i32 => Int as i64, i64 => Int as i64, f32 => Float as f64, f64 => Float as f64);
