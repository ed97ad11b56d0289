//! Lists that ops take, from whatever says them.

use crate::Tensor;
use crate::engine;
use crate::shape::Shape;

/// A list of tensors: of a slice, an array or a `Vec` of tensors, or of references to them.
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

impl<'a> From<&'a [Tensor]> for Tensors<'a> {
    #[inline]
    fn from(tensors: &'a [Tensor]) -> Self {
        Self(List::Borrowed(tensors))
    }
}

impl<'a> From<&'a Vec<Tensor>> for Tensors<'a> {
    #[inline]
    fn from(tensors: &'a Vec<Tensor>) -> Self {
        Self(List::Borrowed(tensors))
    }
}

impl<'a, const N: usize> From<&'a [Tensor; N]> for Tensors<'a> {
    #[inline]
    fn from(tensors: &'a [Tensor; N]) -> Self {
        Self(List::Borrowed(tensors))
    }
}

impl From<Vec<Tensor>> for Tensors<'_> {
    #[inline]
    fn from(tensors: Vec<Tensor>) -> Self {
        Self(List::Owned(tensors))
    }
}

impl<const N: usize> From<[Tensor; N]> for Tensors<'_> {
    fn from(tensors: [Tensor; N]) -> Self {
        Self(List::Owned(tensors.into()))
    }
}

impl<const N: usize> From<[&Tensor; N]> for Tensors<'_> {
    fn from(tensors: [&Tensor; N]) -> Self {
        Self(List::Owned(tensors.into_iter().cloned().collect()))
    }
}

impl<const N: usize> From<&[&Tensor; N]> for Tensors<'_> {
    fn from(tensors: &[&Tensor; N]) -> Self {
        Self(List::Owned(tensors.iter().copied().cloned().collect()))
    }
}

impl From<&[&Tensor]> for Tensors<'_> {
    fn from(tensors: &[&Tensor]) -> Self {
        Self(List::Owned(tensors.iter().copied().cloned().collect()))
    }
}

/// The size of an output along each axis, where `None` keeps that of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSize(Vec<Option<i64>>);

impl OutputSize {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Option<i64>] {
        &self.0
    }
}

macro_rules! output_sizes {
    ($($integer:ty),*) => {$(
        impl From<$integer> for OutputSize {
            fn from(size: $integer) -> Self {
                Self(vec![Some(size as i64)])
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
pub struct Floats(Vec<f64>);

impl Floats {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

impl From<f64> for Floats {
    fn from(one: f64) -> Self {
        Self(vec![one])
    }
}

impl<const N: usize> From<[f64; N]> for Floats {
    fn from(list: [f64; N]) -> Self {
        Self(list.into())
    }
}

impl From<&[f64]> for Floats {
    fn from(list: &[f64]) -> Self {
        Self(list.into())
    }
}

impl From<Vec<f64>> for Floats {
    fn from(list: Vec<f64>) -> Self {
        Self(list)
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
