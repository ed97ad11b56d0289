//! The one driver of decompositions: what a batch of matrices is copied to, and how it is divided among threads.
//!
//! A definition makes fresh column-major matrices for its results ([`Entries`]), states how its operands are read
//! ([`Given`]), and lets [`each`] call a routine on slices, entry by entry, or [`each_of`] for several at once:
//!
//! ```text
//! let (given, mut factors) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, n, n)?);
//! let mut info = Entries::<i32>::numbers(batch)?;
//! let parts = (given.read(), factors.write(), info.write());
//! let scratch = || room::<T>(cholesky::scratch(n));
//! each_of(lanes::together::<T>(n), parts, cost, &scratch, &|scratch, (x, a, info)| {
//!     cholesky::factor_all(false, x, a, info, scratch.slice());
//! })?;
//! fault::check("linalg.cholesky", &info.tensor(), Fault::Cholesky)?;
//! ```
//!
//! One thread computes a group of entries, and groups do not depend on threads, so results are the same bits on any
//! number of threads. What fails is a number per entry, as LAPACK has it; `fault` makes an error of it that names the
//! entry.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use retrograd_linalg::matrices::{Matrices, Places};

use crate::error::Result;
use crate::kernels::matmul::Layout;
use crate::kernels::memory::Block;
use crate::kernels::parallel::{SharedPtr, try_split};
use crate::kernels::strided::{Offsets, plan_in_order};
use crate::tensor::layout::{contiguous_strides, expanded_strides, extent};
use crate::tensor::{Dims, Element, Tensor, copy};

/// A fresh tensor of a batch of matrices, vectors or numbers, the elements of each one after the other.
#[derive(Debug)]
pub struct Entries<T> {
    tensor: Tensor,
    count: usize,
    /// Elements of an entry.
    len: usize,
    of: PhantomData<T>,
}

impl<T: Element> Entries<T> {
    /// Column-major matrices, their elements of arbitrary values.
    pub fn matrices(batch: &[usize], rows: usize, columns: usize) -> Result<Self> {
        let axes = batch.len();
        let mut sizes: Dims = batch.iter().copied().chain([columns, rows]).collect();
        let mut strides = contiguous_strides(&sizes);
        sizes.swap(axes, axes + 1);
        strides.swap(axes, axes + 1);
        let tensor = Tensor::empty_strided(&sizes, &strides, T::DTYPE)?;
        Ok(Self { tensor, count: batch.iter().product(), len: rows * columns, of: PhantomData })
    }

    /// Vectors, their elements of arbitrary values.
    pub fn vectors(batch: &[usize], n: usize) -> Result<Self> {
        let sizes: Dims = batch.iter().copied().chain([n]).collect();
        let tensor = Tensor::empty(&sizes, T::DTYPE)?;
        Ok(Self { tensor, count: batch.iter().product(), len: n, of: PhantomData })
    }

    /// Copies of vectors, of `n` elements each.
    pub fn vectors_of(x: &Tensor, batch: &[usize], n: usize) -> Result<Self> {
        let copies = Self::vectors(batch, n)?;
        copy::copy_into(x, &copies.tensor)?;
        Ok(copies)
    }

    /// Numbers of arbitrary values.
    pub fn numbers(batch: &[usize]) -> Result<Self> {
        Ok(Self { tensor: Tensor::empty(batch, T::DTYPE)?, count: batch.iter().product(), len: 1, of: PhantomData })
    }

    /// All elements.
    pub fn all(&self) -> &[T] {
        if self.count * self.len == 0 {
            return &[];
        }
        // SAFETY: the tensor has `count * len` elements in a row (S1 to S3, S5), and nobody else has it.
        unsafe { std::slice::from_raw_parts(self.tensor.ptr(), self.count * self.len) }
    }

    /// A fresh contiguous tensor whose first axis counts the entries.
    pub fn along(tensor: Tensor) -> Self {
        let count = tensor.sizes()[0];
        debug_assert!(tensor.is_contiguous());
        Self { count, len: tensor.numel() / count.max(1), tensor, of: PhantomData }
    }

    /// The entries, to be read.
    pub fn read(&self) -> Read<'_, T> {
        Read(Span { ptr: SharedPtr(self.tensor.ptr()), len: self.len, count: self.count, of: PhantomData })
    }

    /// The entries, to be written.
    pub fn write(&mut self) -> Write<'_, T> {
        Write(Span { ptr: SharedPtr(self.tensor.ptr()), len: self.len, count: self.count, of: PhantomData })
    }

    /// The tensor of them all.
    pub fn tensor(self) -> Tensor {
        self.tensor
    }
}

/// The matrices of an operand, at any strides, broadcast to a batch.
#[derive(Debug)]
pub struct Given<T> {
    tensor: Tensor,
    /// Where the first element of each matrix is, from that of the tensor on.
    offsets: Vec<isize>,
    of: PhantomData<T>,
}

impl<T: Element> Given<T> {
    /// The matrices of `x`.
    pub fn of(x: &Tensor) -> Result<Self> {
        Self::broadcast(x, batch_of(x))
    }

    /// The matrices of `x`, broadcast to this batch.
    pub fn broadcast(x: &Tensor, batch: &[usize]) -> Result<Self> {
        let strides = expanded_strides(batch_of(x), &x.strides()[..x.ndim() - 2], batch);
        let offsets = match batch {
            [] => vec![0],
            _ if batch.contains(&0) => Vec::new(),
            _ => Offsets::new(&plan_in_order(batch, [&strides])).map(|[at]| at).collect(),
        };
        Ok(Self { tensor: x.clone(), offsets, of: PhantomData })
    }

    /// The matrices, to be read.
    pub fn read(&self) -> Operand<'_, T> {
        let x = &self.tensor;
        let (rows, cols) = sizes_of(x);
        let &[.., rs, cs] = x.strides() else { unreachable!("operands were checked to have matrices") };
        let layout = Layout { rows, cols, offset: 0, rs, cs };
        // No stride of a tensor is negative, so the last element has the highest address.
        let len =
            if x.numel() == 0 { 0 } else { extent(x.sizes(), x.strides()).map_or(0, |(_, last)| last as usize + 1) };
        Operand { ptr: SharedPtr(x.ptr()), len, offsets: &self.offsets, layout }
    }
}

/// An operand, which [`each`] gives as [`Matrices`].
pub struct Operand<'a, T> {
    ptr: SharedPtr<T>,
    len: usize,
    offsets: &'a [isize],
    layout: Layout,
}

impl<'a, T: Element> Parts for Operand<'a, T> {
    type Entry = Matrices<'a, T>;
    fn count(&self) -> usize {
        self.offsets.len()
    }
    unsafe fn entries(&self, part: Range<usize>) -> Matrices<'a, T> {
        let data = match self.len {
            0 => &[],
            // SAFETY: S1 and S3 give every element up to the last; the operand is held for 'a, and what others write
            // to it meanwhile decides nothing about memory (S4, S6).
            len => unsafe { std::slice::from_raw_parts(self.ptr.get(), len) },
        };
        Matrices::new(data, self.layout, Places::Listed(&self.offsets[part]))
    }
}

/// Sizes of the axes before the last two.
pub fn batch_of(x: &Tensor) -> &[usize] {
    &x.sizes()[..x.ndim() - 2]
}

/// Rows and columns of the matrices of `x`.
pub fn sizes_of(x: &Tensor) -> (usize, usize) {
    let &[.., rows, columns] = x.sizes() else { unreachable!("operands were checked to have matrices") };
    (rows, columns)
}

/// Where the entries of [`Entries`] are.
#[derive(Clone, Copy)]
struct Span<'a, T> {
    ptr: SharedPtr<T>,
    len: usize,
    count: usize,
    of: PhantomData<&'a T>,
}

/// Entries that [`each`] gives as slices to read.
#[derive(Clone, Copy)]
pub struct Read<'a, T>(Span<'a, T>);

/// Entries that [`each`] gives as slices to write.
pub struct Write<'a, T>(Span<'a, T>);

/// What [`each`] takes apart: [`Operand`], [`Read`] and [`Write`] of batches of one size, and tuples of them.
pub trait Parts: Sync {
    /// What there is of some entries.
    type Entry;
    /// How many entries there are.
    fn count(&self) -> usize;
    /// These entries, which are below the count.
    ///
    /// # Safety
    /// 1. Nobody else has these entries as long as the slices are used.
    unsafe fn entries(&self, part: Range<usize>) -> Self::Entry;
}

impl<'a, T: Element> Parts for Read<'a, T> {
    type Entry = &'a [T];
    fn count(&self) -> usize {
        self.0.count
    }
    unsafe fn entries(&self, part: Range<usize>) -> &'a [T] {
        let Span { ptr, len, count, .. } = self.0;
        assert!(part.start <= part.end && part.end <= count);
        if len == 0 {
            return &[];
        }
        // SAFETY: the tensor has `count * len` elements in a row (S1 to S3, S5), and is borrowed for 'a.
        unsafe { std::slice::from_raw_parts(ptr.get().add(part.start * len), part.len() * len) }
    }
}

impl<'a, T: Element> Parts for Write<'a, T> {
    type Entry = &'a mut [T];
    fn count(&self) -> usize {
        self.0.count
    }
    unsafe fn entries(&self, part: Range<usize>) -> &'a mut [T] {
        let Span { ptr, len, count, .. } = self.0;
        assert!(part.start <= part.end && part.end <= count);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as for `Read`; the tensor is fresh and borrowed mutably, and nobody else has the entries (1).
        unsafe { std::slice::from_raw_parts_mut(ptr.get().add(part.start * len), part.len() * len) }
    }
}

macro_rules! parts {
    ($($p:ident $i:tt),*) => {
        impl<$($p: Parts),*> Parts for ($($p,)*) {
            type Entry = ($($p::Entry,)*);
            fn count(&self) -> usize {
                self.0.count()
            }
            unsafe fn entries(&self, part: Range<usize>) -> Self::Entry {
                // SAFETY: our duty.
                unsafe { ($(self.$i.entries(part.clone()),)*) }
            }
        }
    };
}
parts!(A 0, B 1);
parts!(A 0, B 1, C 2);
parts!(A 0, B 1, C 2, D 3);
parts!(A 0, B 1, C 2, D 3, E 4);

/// Calls `work` for every entry, on several threads where that pays.
///
/// `cost` estimates the nanoseconds of one entry. `scratch` makes what a thread needs besides, once for all entries
/// that it takes in a row.
pub fn each<P: Parts, S>(
    parts: P,
    cost: f64,
    scratch: &(dyn Fn() -> Result<S> + Sync),
    work: &(dyn Fn(&mut S, P::Entry) + Sync),
) -> Result<()> {
    each_of(1, parts, cost, scratch, work)
}

/// Vectors of matrices take so much less time than one after the other.
const GAIN: f64 = 5.0;

/// As [`each`], for `together` entries at once, if there are so many left: see [`retrograd_linalg::lanes`]. `cost` is
/// that of one alone.
pub fn each_of<P: Parts, S>(
    together: usize,
    parts: P,
    cost: f64,
    scratch: &(dyn Fn() -> Result<S> + Sync),
    work: &(dyn Fn(&mut S, P::Entry) + Sync),
) -> Result<()> {
    let count = parts.count();
    let cost = if together > 1 && count > 1 { cost / GAIN } else { cost };
    try_split(count.div_ceil(together), 1, cost * count as f64, &|groups| {
        if groups.is_empty() {
            return Ok(());
        }
        let mut scratch = scratch()?;
        for group in groups {
            let first = group * together;
            // SAFETY: (1) groups share no entry, and this loop is done with one before the next.
            work(&mut scratch, unsafe { parts.entries(first..count.min(first + together)) });
        }
        Ok(())
    })
}

/// Memory of the pool for `n` elements of arbitrary values.
pub fn room<T: Element>(n: usize) -> Result<Room<T>> {
    let bytes = n.saturating_mul(size_of::<T>());
    Ok(Room { block: Block::new(bytes)?, len: n, of: PhantomData })
}

/// See [`room`].
#[derive(Debug)]
pub struct Room<T> {
    block: Block,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Element> Room<T> {
    /// The memory, for what counts on no values.
    pub fn uninit(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: as for `slice`.
        unsafe { std::slice::from_raw_parts_mut(self.block.ptr().as_ptr().cast(), self.len) }
    }
    /// The elements.
    pub fn slice(&mut self) -> &mut [T] {
        // SAFETY: the block has as many bytes, aligned for every dtype; any bytes are elements (S5). It is borrowed
        // mutably.
        unsafe { std::slice::from_raw_parts_mut(self.block.ptr().as_ptr().cast(), self.len) }
    }
}
