//! Lists that ops take, from whatever says them.

use smallvec::{SmallVec, smallvec};

use crate::shape::Shape;

/// The size of an output along each axis, where `None` keeps that of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSize(SmallVec<[Option<i64>; 3]>);

impl OutputSize {
    #[cfg(feature = "conv")]
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Option<i64>] {
        &self.0
    }
}

macro_rules! output_sizes {
    ($($integer:ty),*) => {$(
        impl From<$integer> for OutputSize {
            fn from(size: $integer) -> Self {
                Self(smallvec![Some(size as i64)])
            }
        }
        impl<const N: usize> From<[$integer; N]> for OutputSize {
            fn from(sizes: [$integer; N]) -> Self {
                Self(sizes.iter().map(|&size| Some(size as i64)).collect())
            }
        }
        impl<const N: usize> From<[Option<$integer>; N]> for OutputSize {
            fn from(sizes: [Option<$integer>; N]) -> Self {
                Self(sizes.iter().map(|size| size.map(|size| size as i64)).collect())
            }
        }
    )*};
}

output_sizes!(usize, i32, i64);

/// Floats, as many as an op takes: one, or a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Floats(SmallVec<[f64; 3]>);

impl Floats {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

impl From<f64> for Floats {
    fn from(one: f64) -> Self {
        Self(smallvec![one])
    }
}

impl<const N: usize> From<[f64; N]> for Floats {
    fn from(list: [f64; N]) -> Self {
        Self(SmallVec::from_slice(&list))
    }
}

impl From<&[f64]> for Floats {
    fn from(list: &[f64]) -> Self {
        Self(list.into())
    }
}

impl From<Vec<f64>> for Floats {
    fn from(list: Vec<f64>) -> Self {
        Self(list.into())
    }
}

/// What a convolution puts around its input: so many elements at each side of each axis, or what a name says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Padding {
    /// Nothing.
    Valid,
    /// As much as keeps the size, which takes a stride of 1.
    Same,
    /// So many elements of zero.
    Sizes(Shape),
}

impl<T: Into<Shape>> From<T> for Padding {
    fn from(sizes: T) -> Self {
        Self::Sizes(sizes.into())
    }
}
