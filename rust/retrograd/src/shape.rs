//! Sizes and dimensions, from whatever says them.

use std::ops::Deref;

use smallvec::SmallVec;

use crate::{Result, engine};

/// How many integers are kept without the heap.
const FEW: usize = 6;

mod sealed {
    pub trait Sealed {}
}

/// An integer that says a size or a dimension: `i32`, `i64`, `isize`, `u32`, `u64`, `usize`.
pub trait Size: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn get(self) -> i64;
}

macro_rules! sizes {
    ($($t:ty),*) => { $(
        impl sealed::Sealed for $t {}
        impl Size for $t {
            /// What does not fit is as much too large as the largest number that does.
            #[inline]
            fn get(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )* };
}
sizes!(i32, i64, isize, u32, u64, usize);

/// A list of integers, made of one, of arrays, slices, vectors and tuples of them, and of `()`.
macro_rules! list {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name(SmallVec<[i64; FEW]>);

        impl Deref for $name {
            type Target = [i64];
            #[inline]
            fn deref(&self) -> &[i64] {
                &self.0
            }
        }

        impl<T: Size> FromIterator<T> for $name {
            #[inline]
            fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
                Self(list.into_iter().map(Size::get).collect())
            }
        }

        impl<T: Size> From<T> for $name {
            #[inline]
            fn from(one: T) -> Self {
                Self::from_iter([one])
            }
        }

        impl<T: Size, const N: usize> From<[T; N]> for $name {
            #[inline]
            fn from(list: [T; N]) -> Self {
                Self::from_iter(list)
            }
        }

        impl<T: Size, const N: usize> From<&[T; N]> for $name {
            #[inline]
            fn from(list: &[T; N]) -> Self {
                Self::from_iter(*list)
            }
        }

        impl<T: Size> From<&[T]> for $name {
            #[inline]
            fn from(list: &[T]) -> Self {
                Self::from_iter(list.iter().copied())
            }
        }

        impl<T: Size> From<Vec<T>> for $name {
            #[inline]
            fn from(list: Vec<T>) -> Self {
                Self::from_iter(list)
            }
        }

        impl<T: Size> From<&Vec<T>> for $name {
            #[inline]
            fn from(list: &Vec<T>) -> Self {
                Self::from(list.as_slice())
            }
        }

        impl From<&$name> for $name {
            #[inline]
            fn from(list: &$name) -> Self {
                list.clone()
            }
        }

        impl From<()> for $name {
            #[inline]
            fn from((): ()) -> Self {
                Self::default()
            }
        }

        tuples!($name; A a, B b; A a, B b, C c; A a, B b, C c, D d; A a, B b, C c, D d, E e;
            A a, B b, C c, D d, E e, F f);
    };
}

macro_rules! tuples {
    ($name:ident; $($($t:ident $x:ident),+);+) => { $(
        impl<$($t: Size),+> From<($($t,)+)> for $name {
            #[inline]
            fn from(($($x,)+): ($($t,)+)) -> Self {
                Self::from_iter([$($x.get()),+])
            }
        }
    )+ };
}

list! {
    /// Sizes, one per axis: from an integer for one axis, from an array, a slice, a vector or a tuple for several, and
    /// from `()` for none. A size that an op infers, where it does, is -1.
    ///
    /// ```
    /// use retrograd::Shape;
    ///
    /// let n = 3usize;
    /// assert_eq!(Shape::from([2, 3]), Shape::from((2, n)));
    /// assert_eq!(Shape::from(7), Shape::from(vec![7i64]));
    /// assert_eq!(Shape::from(()).len(), 0);
    /// ```
    Shape
}

list! {
    /// Dimensions, counted from the end where they are negative: from an integer, an array, a slice, a vector or a
    /// tuple, and from `()` for an empty list.
    ///
    /// ```
    /// use retrograd::Dims;
    ///
    /// assert_eq!(*Dims::from(-1), [-1]);
    /// assert_eq!(*Dims::from([0, 2]), [0, 2]);
    /// ```
    Dims
}

impl Shape {
    /// The sizes as an op takes them that makes a tensor; an error in its name if one is negative.
    pub(crate) fn sizes(&self, op: &'static str) -> Result<engine::tensor::Dims> {
        engine::ops::create::sizes(op, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(shape: impl Into<Shape>) -> Vec<i64> {
        shape.into().to_vec()
    }
    fn dims(dims: impl Into<Dims>) -> Vec<i64> {
        dims.into().to_vec()
    }

    #[test]
    fn literals_and_lists_say_shapes() {
        assert_eq!(shape([2, 3]), [2, 3]);
        assert_eq!(shape([2usize, 3]), [2, 3]);
        let (array, list, whole) = ([2i64, -1], vec![4usize], Shape::from(3));
        assert_eq!(shape(&array), [2, -1]);
        assert_eq!(shape(vec![1; 9]), [1; 9]);
        assert_eq!(shape(&list), [4]);
        assert_eq!(shape(&[4usize, 5][..]), [4, 5]);
        assert_eq!(shape((2, 3usize, 4i64)), [2, 3, 4]);
        assert_eq!(shape((1, 2, 3, 4, 5, 6)), [1, 2, 3, 4, 5, 6]);
        assert_eq!(shape(5), [5]);
        assert_eq!(shape(()), []);
        assert_eq!(shape(&whole), [3]);
        assert_eq!(dims(-1), [-1]);
        assert_eq!(dims([0, -1]), [0, -1]);
        assert_eq!(shape(u64::MAX), [i64::MAX]);
    }

    #[test]
    fn few_sizes_are_no_heaps() {
        assert!(!Shape::from([1, 2, 3, 4, 5, 6]).0.spilled());
        let error = Shape::from([2, -3]).sizes("zeros").unwrap_err().to_string();
        assert!(error.starts_with("zeros: Trying to create tensor with negative dimension -3"), "{error}");
    }
}
