//! Sizes and dimensions, from whatever says them.

/// Sizes, or other integers that there is one of per dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape(Vec<i64>);

/// Dimensions of a tensor; negative ones count from the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dims(Vec<i64>);

macro_rules! lists {
    ($($list:ident)*) => {$(
        impl $list {
            /// As the engine takes them.
            #[inline]
            pub fn as_slice(&self) -> &[i64] {
                &self.0
            }
        }
        impl From<()> for $list {
            fn from((): ()) -> Self {
                Self(Vec::new())
            }
        }
        lists!(@of $list usize, i32, i64);
    )*};
    (@of $list:ident $($integer:ty),*) => {$(
        impl From<$integer> for $list {
            fn from(one: $integer) -> Self {
                Self(vec![one as i64])
            }
        }
        impl<const N: usize> From<[$integer; N]> for $list {
            fn from(list: [$integer; N]) -> Self {
                Self(list.iter().map(|&n| n as i64).collect())
            }
        }
        impl<const N: usize> From<&[$integer; N]> for $list {
            fn from(list: &[$integer; N]) -> Self {
                Self(list.iter().map(|&n| n as i64).collect())
            }
        }
        impl From<&[$integer]> for $list {
            fn from(list: &[$integer]) -> Self {
                Self(list.iter().map(|&n| n as i64).collect())
            }
        }
        impl From<Vec<$integer>> for $list {
            fn from(list: Vec<$integer>) -> Self {
                Self(list.iter().map(|&n| n as i64).collect())
            }
        }
    )*};
}

lists!(Shape Dims);
