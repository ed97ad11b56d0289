//! Parts of tensors: `x.i(i![..])` and assignment to them.

use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::{SmallVec, smallvec};

use crate::engine::ops::index::{IndexItem as Item, get, set};
use crate::shape::Size;
use crate::{Operand, Result, Tensor, site};

/// In an index: a new axis of size 1, which torch writes `None`.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// In an index: all axes that the other items do not name, which [`i!`](crate::i) also writes `...`.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

/// One item of an index; see [`i!`](crate::i).
#[derive(Clone)]
pub struct IndexItem(Item);

impl IndexItem {
    /// Of the elements of a range every `step`th one; `i![1..9;2]` calls it.
    ///
    /// A step is at least 1, which is checked where the index is used.
    #[must_use]
    pub fn step(self, step: impl Size) -> Self {
        Self(match self.0 {
            Item::Slice(start, end, _) => Item::Slice(start, end, Some(step.get())),
            // A step of what is no range is an error: that of step 0.
            _ => Item::Slice(None, None, Some(0)),
        })
    }
}

impl fmt::Debug for IndexItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is in the brackets of torch's `x[..]`: one item or several; see [`i!`](crate::i).
#[derive(Clone, Debug)]
pub struct Index(SmallVec<[Item; 4]>);

impl<const N: usize> From<[IndexItem; N]> for Index {
    #[inline]
    fn from(items: [IndexItem; N]) -> Self {
        Self(items.into_iter().map(|item| item.0).collect())
    }
}

impl From<Vec<IndexItem>> for Index {
    fn from(items: Vec<IndexItem>) -> Self {
        Self(items.into_iter().map(|item| item.0).collect())
    }
}

impl From<IndexItem> for Index {
    #[inline]
    fn from(item: IndexItem) -> Self {
        Self(smallvec![item.0])
    }
}

/// Conversions to an item, and to an index of that item alone.
macro_rules! item {
    ($($(#[$bound:tt])? $t:ty, $x:pat => $item:expr);* $(;)?) => { $(
        impl From<$t> for IndexItem {
            #[inline]
            fn from($x: $t) -> Self {
                Self($item)
            }
        }

        impl From<$t> for Index {
            #[inline]
            fn from(item: $t) -> Self {
                IndexItem::from(item).into()
            }
        }
    )* };
}
item!(
    bool, b => Item::Bool(b);
    NewAxis, _ => Item::NewAxis;
    Ellipsis, _ => Item::Ellipsis;
    Tensor, t => Item::Tensor(t.0);
    &Tensor, t => Item::Tensor(t.0.clone());
    RangeFull, _ => Item::Slice(None, None, None);
);

macro_rules! integers {
    ($($t:ty),*) => { $(
        item!(
            $t, i => Item::Int(i.get());
            Range<$t>, r => Item::Slice(Some(r.start.get()), Some(r.end.get()), None);
            RangeFrom<$t>, r => Item::Slice(Some(r.start.get()), None, None);
            RangeTo<$t>, r => Item::Slice(None, Some(r.end.get()), None);
            RangeInclusive<$t>, r => Item::Slice(Some(r.start().get()), behind(r.end().get()), None);
            RangeToInclusive<$t>, r => Item::Slice(None, behind(r.end.get()), None);
        );
    )* };
}
integers!(i32, i64, isize, usize);

/// The end of a range that includes `last`.
fn behind(last: i64) -> Option<i64> {
    // Behind the last one of all there is no index that counts from the end.
    if last == -1 { None } else { last.checked_add(1) }
}

/// An index, as torch has it in the brackets of `x[..]`, for [`Tensor::i`] and [`Tensor::set`].
///
/// Its items, separated by commas: integers, which count from the end where they are negative; ranges, `1..3`, `..-1`,
/// `2..`, `0..=4` and `..`, with a step behind a semicolon, `1..;2`; [`NewAxis`](crate::NewAxis); `...` or
/// [`Ellipsis`](crate::Ellipsis) for all axes that are not named; tensors of integers or of bools.
///
/// ```
/// use retrograd::{NewAxis, Tensor, i, tensor};
///
/// let x = Tensor::from_vec((0..24).collect::<Vec<i64>>(), [2, 3, 4]);
/// assert_eq!(x.i(i![0, .., -1]).to_vec::<i64>()?, [3, 7, 11]);
/// assert_eq!(x.i(i![.., 1..;2]).shape(), [2, 1, 4]);
/// assert_eq!(x.i(i![..., NewAxis, 0]).shape(), [2, 3, 1]);
/// assert_eq!(x.i(i![1, 0, tensor![3, 1, 3]]).to_vec::<i64>()?, [15, 13, 15]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[macro_export]
macro_rules! i {
    (@ [$($done:tt)*]) => { [$($done)*] };
    (@ [$($done:tt)*] ...) => { $crate::i!(@ [$($done)* $crate::IndexItem::from($crate::Ellipsis),]) };
    (@ [$($done:tt)*] ..., $($rest:tt)*) => {
        $crate::i!(@ [$($done)* $crate::IndexItem::from($crate::Ellipsis),] $($rest)*)
    };
    (@ [$($done:tt)*] $x:expr; $step:expr) => {
        $crate::i!(@ [$($done)* $crate::IndexItem::from($x).step($step),])
    };
    (@ [$($done:tt)*] $x:expr; $step:expr, $($rest:tt)*) => {
        $crate::i!(@ [$($done)* $crate::IndexItem::from($x).step($step),] $($rest)*)
    };
    (@ [$($done:tt)*] $x:expr) => { $crate::i!(@ [$($done)* $crate::IndexItem::from($x),]) };
    (@ [$($done:tt)*] $x:expr, $($rest:tt)*) => {
        $crate::i!(@ [$($done)* $crate::IndexItem::from($x),] $($rest)*)
    };
    ($($items:tt)*) => { $crate::i!(@ [] $($items)*) };
}

impl Tensor {
    /// The part that an index says: torch's `x[..]`. It is an item, such as `0`, `1..3` or a mask, or several in
    /// [`i!`](crate::i).
    ///
    /// It is a view as far as the items are integers, ranges and new axes, and a copy where there are tensors among
    /// them.
    ///
    /// # Panics
    /// If an index is out of bounds, there are more of them than axes, or a mask has another shape than its axes.
    ///
    /// ```
    /// use retrograd::{i, tensor};
    ///
    /// let x = tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// assert_eq!(x.i(0).to_vec::<f64>()?, [1.0, 2.0]);
    /// assert_eq!(x.i(1..).shape(), [2, 2]);
    /// assert_eq!(x.i(i![.., -1]).to_vec::<f64>()?, [2.0, 4.0, 6.0]);
    /// assert_eq!(x.i(tensor![true, false, true]).shape(), [2, 2]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn i(&self, index: impl Into<Index>) -> Tensor {
        site::done(self.try_i(index))
    }

    /// As [`Tensor::i`], with the error.
    #[track_caller]
    pub fn try_i(&self, index: impl Into<Index>) -> Result<Tensor> {
        site::here();
        get(&self.0, &index.into().0).map(Tensor)
    }

    /// Writes to the part that an index says: torch's `x[..] = value`. The value, a tensor or a number, is broadcast
    /// and converted. It is recorded like any op in place.
    ///
    /// # Panics
    /// As [`Tensor::i`]; if the value does not broadcast to the part; for a leaf that requires grad.
    ///
    /// ```
    /// use retrograd::{i, tensor};
    ///
    /// let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    /// x.set(i![.., 0], 9);
    /// x.set(1, tensor![7.0, 8.0]);
    /// assert_eq!(x.to_vec::<f64>()?, [9.0, 2.0, 7.0, 8.0]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn set<'v>(&self, index: impl Into<Index>, value: impl Into<Operand<'v>>) {
        site::done(self.try_set(index, value));
    }

    /// As [`Tensor::set`], with the error.
    #[track_caller]
    pub fn try_set<'v>(&self, index: impl Into<Index>, value: impl Into<Operand<'v>>) -> Result<()> {
        site::here();
        set(&self.0, &index.into().0, &value.into())
    }
}
