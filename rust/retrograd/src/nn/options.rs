//! What layers have in common: constructors, options, and sizes of windows.

use crate::engine::ops::{TensorOptions, create};
use crate::{DType, Result, Tensor};

/// A struct of options with their defaults, whose setters return it changed.
macro_rules! options {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $t:ty = $default:expr $(, $from:ty => $with:expr)?;)* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(pub(super) $field: $t,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $(
                $(#[doc = $field_doc])*
                pub fn $field(self, $field: $crate::nn::options::options!(@type $t $(, $from)?)) -> Self {
                    $(let convert: fn(_) -> $t = $with; let $field = convert($field);)?
                    Self { $field, ..self }
                }
            )*
        }
    };
    (@type $t:ty) => { $t };
    (@type $t:ty, $from:ty) => { $from };
}
pub(super) use options;

/// `new`, `with` and their twins, by a `try_with` that returns a `Result`.
macro_rules! constructors {
    ($name:ident, $options:ident, ($($arg:ident: $t:ty),*)) => {
        /// The layer with the usual options.
        ///
        /// Panics where [`try_new`](Self::try_new) has an error.
        #[track_caller]
        pub fn new($($arg: $t),*) -> Self {
            $crate::site::here();
            $crate::site::done(Self::made($($arg,)* $options::default()))
        }
        /// As [`new`](Self::new), with an error in the place of a panic.
        #[track_caller]
        pub fn try_new($($arg: $t),*) -> $crate::Result<Self> {
            $crate::site::here();
            Self::made($($arg,)* $options::default())
        }
        /// The layer with options, which the closure sets.
        ///
        /// Panics where [`try_with`](Self::try_with) has an error.
        #[track_caller]
        pub fn with($($arg: $t,)* options: impl FnOnce($options) -> $options) -> Self {
            $crate::site::here();
            $crate::site::done(Self::made($($arg,)* options($options::default())))
        }
        /// As [`with`](Self::with), with an error in the place of a panic.
        #[track_caller]
        pub fn try_with($($arg: $t,)* options: impl FnOnce($options) -> $options) -> $crate::Result<Self> {
            $crate::site::here();
            Self::made($($arg,)* options($options::default()))
        }
    };
}
pub(super) use constructors;

/// `Forward` by a function `run` that returns a `Result`.
macro_rules! forward {
    ($($name:ty)*) => { $(
        impl $crate::nn::Forward for $name {
            #[track_caller]
            fn forward(&self, x: &$crate::Tensor) -> $crate::Tensor {
                $crate::site::of_layer();
                $crate::site::done(self.run(&x.0).map($crate::Tensor))
            }
            #[track_caller]
            fn try_forward(&self, x: &$crate::Tensor) -> $crate::Result<$crate::Tensor> {
                $crate::site::of_layer();
                self.run(&x.0).map($crate::Tensor)
            }
        }
    )* };
}
pub(super) use forward;

/// A parameter whose values are still to be set.
pub(super) fn parameter(sizes: &[usize], dtype: Option<DType>) -> Result<Tensor> {
    let mut options = TensorOptions::default().requires_grad(true);
    if let Some(dtype) = dtype {
        options = options.dtype(dtype);
    }
    create::empty(&int_sizes(sizes), options, None).map(Tensor)
}

/// A buffer of one value.
pub(super) fn buffer(sizes: &[usize], value: f64, dtype: Option<DType>) -> Result<Tensor> {
    let options = dtype.map_or_else(TensorOptions::default, TensorOptions::from);
    create::full(&int_sizes(sizes), value.into(), if dtype.is_some() { options } else { float() }).map(Tensor)
}

fn float() -> TensorOptions {
    TensorOptions::from(crate::engine::tensor::default_dtype())
}

/// Sizes as ops take them. What exceeds `i64` is negative, which they refuse.
pub(super) fn int_sizes(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&n| i64::try_from(n).unwrap_or(-1)).collect()
}

/// A number for each of `N` axes; of one number and of an array.
///
/// ```
/// use retrograd::nn::Conv2d;
///
/// let square = Conv2d::with(1, 1, 3, |o| o.stride(2));
/// let wide = Conv2d::with(1, 1, [1, 3], |o| o.stride([1, 2]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerAxis<const N: usize>(pub [usize; N]);

impl<const N: usize> From<usize> for PerAxis<N> {
    fn from(n: usize) -> Self {
        Self([n; N])
    }
}

impl<const N: usize> From<[usize; N]> for PerAxis<N> {
    fn from(sizes: [usize; N]) -> Self {
        Self(sizes)
    }
}

impl<const N: usize> PerAxis<N> {
    #[cfg(feature = "conv")]
    pub(super) fn ints(self) -> [i64; N] {
        self.0.map(|n| i64::try_from(n).unwrap_or(-1))
    }
}
