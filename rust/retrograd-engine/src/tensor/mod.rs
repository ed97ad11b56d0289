//! The tensor: a handle on one allocation that holds layout, flags and a lazily made autograd state.

mod body;
pub(crate) mod complex;
pub mod copy;
pub mod device;
pub mod dtype;
pub mod format;
pub mod layout;
pub mod lazy;
pub mod memory_format;
#[cfg(feature = "ndarray")]
mod ndarray;
mod numbers;
pub mod scalar;
pub mod sparse;
mod tensor_view;
mod value;

use std::fmt;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use parking_lot::Mutex;

pub(crate) use body::{Body, Successors};
pub use dtype::{Category, DType, Dtypes, Element, Host, Truth};
pub use layout::{Dims, Strides};
pub use lazy::LazyBits;
pub use memory_format::MemoryFormat;
pub use scalar::{FromScalar, Scalar, default_dtype, set_default_dtype};
pub use sparse::Layout;
pub use tensor_view::TensorView;
pub use value::{Arg, Device, Form, IntoValue, Kind, MaybeNamed, Noted, OneOrMany, Value};

use crate::autograd::meta::Meta;
use crate::autograd::mode;
use crate::autograd::node::Output;
use crate::autograd::view::ViewOf;
use crate::call_site::CallSite;
use crate::compile::record;
use crate::counted::{Counted, Place};
use crate::error::{Error, Result};
use crate::kernels::parallel::split_rows;
use crate::kernels::pointwise::copying;
use crate::kernels::thresholds::pointwise::TOGETHER;
use crate::storage::reclaim::{Proof, Shared, in_op, reading};
use crate::storage::{Storage, Version};
use crate::transforms::{self, Batched};
use body::Successor;
use layout::{extent, is_contiguous};

/// Bits of a tensor's `flags`.
pub(crate) mod flag {
    /// A leaf that the user marked, or the output of a recorded op.
    pub const REQUIRES_GRAD: u32 = 1;
    /// Stands for a Python number: promotes by category alone.
    pub const NUMBER: u32 = 1 << 1;
    /// Has a tangent at the current forward level.
    pub const TANGENT: u32 = 1 << 2;
    /// Accumulates into `.grad` though it is no leaf.
    pub const RETAINS_GRAD: u32 = 1 << 3;
    /// Has a history (which may be stale, for a view).
    pub const HISTORY: u32 = 1 << 4;
    /// Had a node of its own as a leaf at some time.
    pub const ACCUMULATOR: u32 = 1 << 6;
    /// Made in inference mode: never part of a graph, writes are not counted.
    pub const INFERENCE: u32 = 1 << 5;
    /// A leaf whose gradient accumulates into another one.
    pub const STANDS_IN: u32 = 1 << 7;
    /// Stands for one entry of a batch; see `transforms`.
    pub const BATCHED: u32 = 1 << 8;
    /// A view whose tangent, at one level, is not that of its base: see `Meta::dual_at`.
    pub const DUAL: u32 = 1 << 9;
    /// A leaf that a transform made and that ended with it: no graph leads on from here.
    pub const CLOSED: u32 = 1 << 10;
}

/// A multi-dimensional array that autograd can follow. Cloning copies the handle, not the elements.
#[derive(Clone)]
pub struct Tensor(Counted<Inner>);

pub(crate) struct Inner {
    first: Body,
    /// Replaces `first` once the tensor got another body in place; null before.
    current: AtomicPtr<Successor>,
    pub(crate) flags: AtomicU32,
    pub(crate) view: Option<ViewOf>,
    /// The node and output that computed this tensor.
    pub(crate) history: Mutex<Option<Output>>,
    pub(crate) meta: OnceLock<Box<Meta>>,
    /// Non-owning: the Python object of this tensor.
    pub(crate) object_slot: AtomicPtr<()>,
}

/// A [`Body`] without its lists, which are copied from where they are.
struct Plain {
    dtype: DType,
    bits: LazyBits,
    contiguous: bool,
    numel: usize,
    offset: usize,
    storage: Shared<Storage>,
    version: Shared<Version>,
}

impl Plain {
    /// The same memory.
    #[inline(always)]
    fn of(b: &Body, reading: &Proof) -> Self {
        Self {
            dtype: b.dtype,
            bits: b.bits,
            contiguous: b.contiguous,
            numel: b.numel,
            offset: b.offset,
            storage: b.storage.share(reading),
            version: b.version.share(reading),
        }
    }
}

impl Tensor {
    /// A tensor over memory that nobody has seen yet.
    #[inline(always)]
    fn new(first: Body) -> Self {
        let t = Self::with(first, None, 0);
        t.begin();
        t
    }

    /// What the modes do to a tensor over memory that nobody has seen yet.
    #[inline(always)]
    fn begin(&self) {
        let word = mode::word();
        if word & (mode::INFERENCE | mode::RECORDED) != 0 {
            self.begin_specially(word);
        }
    }

    #[cold]
    fn begin_specially(&self, word: u32) {
        if word & mode::INFERENCE != 0 {
            self.set_flag(flag::INFERENCE, true);
        }
        if word & mode::RECORDED != 0 {
            record::fresh(self);
        }
    }

    #[inline(always)]
    fn with(body: Body, view: Option<ViewOf>, flags: u32) -> Self {
        let Body { dtype, bits, contiguous, numel, offset, sizes, strides, storage, version } = body;
        Self::laid_out(
            Plain { dtype, bits, contiguous, numel, offset, storage, version },
            &sizes,
            Some(&strides),
            view,
            flags,
        )
    }

    /// A tensor over memory, in this layout: row-major without strides.
    #[inline(always)]
    fn laid_out(plain: Plain, sizes: &Dims, strides: Option<&Strides>, view: Option<ViewOf>, flags: u32) -> Self {
        // Has an error if there is a field that is not written below.
        let _ = |Inner { first, current: _, flags: _, view: _, history: _, meta: _, object_slot: _ }: &Inner| {
            let Body {
                dtype: _,
                bits: _,
                contiguous: _,
                numel: _,
                offset: _,
                sizes: _,
                strides: _,
                storage: _,
                version: _,
            } = first;
        };
        let mut place = Place::<Inner>::new();
        let to = place.ptr();
        // SAFETY: each field is written.
        Self(unsafe {
            let first = &raw mut (*to).first;
            (&raw mut (*first).dtype).write(plain.dtype);
            (&raw mut (*first).bits).write(plain.bits);
            (&raw mut (*first).contiguous).write(plain.contiguous);
            (&raw mut (*first).numel).write(plain.numel);
            (&raw mut (*first).offset).write(plain.offset);
            (&raw mut (*first).storage).write(plain.storage);
            (&raw mut (*first).version).write(plain.version);
            layout::write_copy(&raw mut (*first).sizes, sizes);
            match strides {
                Some(strides) => layout::write_copy(&raw mut (*first).strides, strides),
                None => layout::write_row_major(&raw mut (*first).strides, sizes),
            }
            (&raw mut (*to).current).write(AtomicPtr::new(null_mut()));
            (&raw mut (*to).flags).write(AtomicU32::new(flags));
            (&raw mut (*to).view).write(view);
            (&raw mut (*to).history).write(Mutex::new(None));
            (&raw mut (*to).meta).write(OnceLock::new());
            (&raw mut (*to).object_slot).write(AtomicPtr::new(null_mut()));
            place.filled()
        })
    }

    /// A handle that shows `body` and stands for one entry of a batch.
    pub(crate) fn batched_over(body: Body, batched: Batched) -> Self {
        let t = Self::with(body, None, batched.value.kind() | flag::BATCHED);
        *t.meta().batched.lock() = Some(batched);
        t
    }

    /// A fresh contiguous tensor whose elements have arbitrary values.
    pub fn empty(sizes: &[usize], dtype: DType) -> Result<Self> {
        let n = layout::checked_numel("empty", sizes)?;
        Self::empty_contiguous(&Dims::from_slice(sizes), None, n, dtype)
    }

    /// As [`Tensor::empty`], with the sizes of this tensor.
    #[inline]
    pub(crate) fn empty_beside(&self, dtype: DType) -> Result<Self> {
        let b = self.body();
        Self::empty_contiguous(&b.sizes, None, b.numel, dtype)
    }

    /// A fresh tensor of `n` elements, with these strides, which are contiguous for the sizes, or row-major ones.
    #[inline]
    fn empty_contiguous(sizes: &Dims, strides: Option<&Strides>, n: usize, dtype: DType) -> Result<Self> {
        dtype.refuse_left_out()?;
        Ok(Self::contiguous_over(Storage::allocate(n * dtype.size())?, sizes, strides, n, dtype))
    }

    /// As [`Tensor::empty_contiguous`], over a storage of as many bytes.
    #[inline(always)]
    fn contiguous_over(
        storage: Counted<Storage>,
        sizes: &Dims,
        strides: Option<&Strides>,
        n: usize,
        dtype: DType,
    ) -> Self {
        debug_assert!(n == layout::numel(sizes) && strides.is_none_or(|strides| is_contiguous(sizes, strides)));
        let plain = Plain {
            dtype,
            bits: LazyBits::NONE,
            contiguous: true,
            numel: n,
            offset: 0,
            storage: Shared::new(storage),
            version: Shared::none(),
        };
        let t = Self::laid_out(plain, sizes, strides, None, 0);
        t.begin();
        t
    }

    /// A fresh tensor with the given strides (which must not overlap), its elements of arbitrary values.
    pub fn empty_strided(sizes: &[usize], strides: &[isize], dtype: DType) -> Result<Self> {
        let n = layout::checked_numel("empty_strided", sizes)?;
        let overflow = || {
            Error::shape(
                "empty_strided",
                format!("Storage size calculation overflowed with sizes={sizes:?} and strides={strides:?}"),
            )
        };
        if n == 0 {
            return Self::from_parts(Storage::allocate(0)?, dtype, sizes, strides, 0);
        }
        let (lo, hi) = extent(sizes, strides).ok_or_else(overflow)?;
        if lo < 0 {
            return Err(Error::value("empty_strided", format!("strides must not be negative, got {strides:?}")));
        }
        let bytes = (hi as usize).checked_add(1).and_then(|n| n.checked_mul(dtype.size()));
        let bytes = bytes.filter(|&b| b <= isize::MAX as usize).ok_or_else(overflow)?;
        let storage = Storage::allocate(bytes)?;
        Self::from_parts(storage, dtype, sizes, strides, 0)
    }

    /// A tensor like `self` in size and (where dense) in strides; elements not initialised.
    pub fn empty_like_layout(&self, dtype: DType) -> Result<Self> {
        let b = self.body();
        if b.contiguous {
            return Self::empty_contiguous(&b.sizes, Some(&b.strides), b.numel, dtype);
        }
        Self::empty_strided(&b.sizes, &layout::preserving_strides(&b.sizes, &b.strides), dtype)
    }

    /// As [`Tensor::empty_like_layout`], for results of elementwise ops: those of a contiguous operand get row-major
    /// strides also along axes of size 1.
    pub(crate) fn empty_elementwise(&self, dtype: DType) -> Result<Self> {
        if self.is_contiguous() { self.empty_beside(dtype) } else { self.empty_like_layout(dtype) }
    }

    /// A tensor over existing storage. Offset in elements; an error if the layout leaves the storage (S3), or the
    /// storage is not aligned for the dtype (S2). Any bytes are elements of any dtype (S5).
    pub fn from_parts(
        storage: Counted<Storage>,
        dtype: DType,
        sizes: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        if !storage.ptr().addr().is_multiple_of(dtype.alignment()) {
            return Err(misaligned(&storage, dtype));
        }
        let (numel, contiguous) = Self::checked(&storage, dtype, sizes, strides, offset)?;
        let (storage, version) = (Shared::new(storage), Shared::none());
        let plain = Plain { dtype, bits: LazyBits::NONE, contiguous, numel, offset, storage, version };
        let t = Self::laid_out(plain, &Dims::from_slice(sizes), Some(&Strides::from_slice(strides)), None, 0);
        t.begin();
        Ok(t)
    }

    /// How many elements a layout has, and whether they are contiguous; an error if it leaves the storage (S3).
    #[inline]
    fn checked(
        storage: &Storage,
        dtype: DType,
        sizes: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<(usize, bool)> {
        dtype.refuse_left_out()?;
        let outside = || outside(storage, dtype, sizes, strides, offset);
        if sizes.len() != strides.len() {
            return Err(Error::shape("as_strided", "sizes and strides differ in length"));
        }
        let n = layout::checked_numel("as_strided", sizes)?;
        if n > 0 {
            let (lo, hi) = extent(sizes, strides).ok_or_else(outside)?;
            let lo = (offset as isize).checked_add(lo).ok_or_else(outside)?;
            let hi = (offset as isize).checked_add(hi).ok_or_else(outside)?;
            if lo < 0 || hi as usize >= storage.bytes() / dtype.size() {
                return Err(outside());
            }
        }
        Ok((n, is_contiguous(sizes, strides)))
    }

    /// The flags that everything over the same memory has.
    fn kind(&self) -> u32 {
        self.0.flags.load(Ordering::Relaxed) & flag::INFERENCE
    }

    /// Shares storage and version counter with `self`, is no view of it and has no autograd state.
    pub(crate) fn alias(&self) -> Self {
        if let Some(b) = self.batched() {
            return Self::batched_over(self.snapshot(), Batched { value: b.value.alias(), ..b });
        }
        let reading = reading();
        let b = self.body();
        Self::laid_out(Plain::of(b, &reading), &b.sizes, Some(&b.strides), None, self.kind())
    }

    /// Shares storage with `self` but counts its own writes, from 0 (`.data`).
    pub(crate) fn alias_uncounted(&self) -> Self {
        if let Some(b) = self.batched() {
            return Self::batched_over(self.snapshot(), Batched { value: b.value.alias_uncounted(), ..b });
        }
        let reading = reading();
        let b = self.body();
        let plain = Plain { version: Shared::new(Counted::default()), ..Plain::of(b, &reading) };
        Self::laid_out(plain, &b.sizes, Some(&b.strides), None, self.kind())
    }

    /// Shares storage with `self` under another layout, is no view of it, and counts its own writes from 0.
    pub(crate) fn part_uncounted(&self, sizes: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        let (sizes, strides) = (Dims::from_slice(sizes), Strides::from_slice(strides));
        let plain = self.plain_over(None, &sizes, &strides, offset)?;
        let plain = Plain { version: Shared::new(Counted::default()), ..plain };
        Ok(Self::laid_out(plain, &sizes, Some(&strides), None, self.kind()))
    }

    /// The memory of `self` as elements of another dtype, in a layout in such elements: for kernels, without autograd.
    pub(crate) fn memory_as(
        &self,
        dtype: DType,
        bits: LazyBits,
        sizes: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self> {
        let (sizes, strides) = (Dims::from_slice(sizes), Strides::from_slice(strides));
        let plain = Plain { bits, ..self.plain_over(Some(dtype), &sizes, &strides, offset)? };
        Ok(Self::laid_out(plain, &sizes, Some(&strides), None, self.kind()))
    }

    /// A view of `self` with another layout over the same storage; views of views share the root base.
    pub(crate) fn view_as(&self, sizes: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        self.view_with(&Dims::from_slice(sizes), &Strides::from_slice(strides), offset)
    }

    /// As [`Tensor::view_as`].
    #[inline]
    pub(crate) fn view_with(&self, sizes: &Dims, strides: &Strides, offset: usize) -> Result<Self> {
        Ok(self.view_over(self.plain_over(None, sizes, strides, offset)?, sizes, strides))
    }

    /// As [`Tensor::view_with`], in elements of another dtype or with other bits.
    pub(crate) fn view_of_elements(
        &self,
        dtype: DType,
        bits: LazyBits,
        sizes: &Dims,
        strides: &Strides,
        offset: usize,
    ) -> Result<Self> {
        if bits.any() {
            lazy::announce();
        }
        let storage = self.storage();
        if !storage.ptr().addr().is_multiple_of(dtype.alignment()) {
            return Err(misaligned(&storage, dtype));
        }
        let plain = Plain { bits, ..self.plain_over(Some(dtype), sizes, strides, offset)? };
        Ok(self.view_over(plain, sizes, strides))
    }

    /// Another layout over the memory of `self` and its counter, in elements of `dtype` if one is given.
    #[inline]
    fn plain_over(&self, dtype: Option<DType>, sizes: &[usize], strides: &[isize], offset: usize) -> Result<Plain> {
        let reading = reading();
        let (b, storage) = self.memory(&reading);
        if b.bits.sparse {
            return Err(sparse::refused("as_strided", &[self]));
        }
        let dtype = dtype.unwrap_or(b.dtype);
        let (numel, contiguous) = Self::checked(&storage, dtype, sizes, strides, offset)?;
        let (storage, version) = (Shared::new(storage.clone()), b.version.share(&reading));
        Ok(Plain { dtype, bits: b.bits, contiguous, numel, offset, storage, version })
    }

    /// The view of the same elements in other sizes, if both layouts are row-major and there are elements.
    #[inline]
    pub(crate) fn in_sizes(&self, sizes: &Dims) -> Option<Self> {
        let reading = in_op();
        let b = self.body();
        // S3: the elements of `self`.
        let same = b.numel > 0 && layout::numel(sizes) == b.numel && !b.bits.sparse;
        if !(same && layout::is_row_major(&b.sizes, &b.strides)) {
            return None;
        }
        let kind = self.kind();
        let view = (kind == 0).then(|| ViewOf::new(self));
        Some(Self::laid_out(Plain::of(b, reading), sizes, None, view, kind))
    }

    /// The view of `count` indices of the first axis from `start` on, `step` apart; they are in range.
    #[inline]
    pub(crate) fn rows(&self, start: usize, count: usize, step: usize) -> Self {
        let reading = in_op();
        let b = self.body();
        debug_assert!(count == 0 || start + (count - 1) * step < b.sizes[0]);
        let (mut sizes, mut strides) = (layout::copied(&b.sizes), layout::copied(&b.strides));
        let stride = strides[0];
        sizes[0] = count;
        strides[0] = stride.saturating_mul(step as isize);
        // S3: some of the elements of `self`.
        let plain = Plain {
            contiguous: is_contiguous(&sizes, &strides),
            numel: if count == 0 { 0 } else { b.numel / b.sizes[0] * count },
            offset: b.offset.wrapping_add_signed(stride.wrapping_mul(start as isize)),
            ..Plain::of(b, reading)
        };
        self.view_over(plain, &sizes, &strides)
    }

    /// The view at one index of the first axis; the index is in range.
    #[inline]
    pub(crate) fn row(&self, index: usize) -> Self {
        let reading = in_op();
        let (b, storage) = self.memory(reading);
        debug_assert!(index < b.sizes[0]);
        let (sizes, strides) = (Dims::from_slice(&b.sizes[1..]), Strides::from_slice(&b.strides[1..]));
        let contiguous = b.contiguous || is_contiguous(&sizes, &strides);
        // S3: some of the elements of `self`.
        let plain = Plain {
            dtype: b.dtype,
            bits: b.bits,
            contiguous,
            numel: b.numel / b.sizes[0],
            offset: b.offset.wrapping_add_signed(b.strides[0] * index as isize),
            storage: Shared::new(storage.clone()),
            version: b.version.share(reading),
        };
        self.view_over(plain, &sizes, &strides)
    }

    /// A view with this layout. Autograd does not follow inference tensors, so it knows no views of them.
    #[inline]
    fn view_over(&self, plain: Plain, sizes: &Dims, strides: &Strides) -> Self {
        let kind = self.kind();
        let view = (kind == 0).then(|| ViewOf::new(self));
        Self::laid_out(plain, sizes, Some(strides), view, kind)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
    /// The inside of a tensor that has no other handle.
    #[inline]
    pub(crate) fn inner_mut(&mut self) -> Option<&mut Inner> {
        Counted::get_mut(&mut self.0)
    }
    /// Moves a row of elements, which nobody else has a handle on, along its storage: from now on it shows `n` elements
    /// from `offset` on.
    ///
    /// # Safety
    /// These elements lie in the storage (S3).
    pub(crate) unsafe fn slide(&mut self, offset: usize, n: usize) {
        let inner = self.inner_mut().expect("nobody else has a handle on it");
        debug_assert!(inner.first.contiguous && inner.first.sizes.len() == 1);
        inner.first.offset = offset;
        inner.first.numel = n;
        inner.first.sizes[0] = n;
    }
    pub(crate) fn counted(&self) -> &Counted<Inner> {
        &self.0
    }
    pub(crate) fn from_inner(inner: Counted<Inner>) -> Self {
        Self(inner)
    }
    /// The slot for the tensor's Python object; null if there is none. The core only stores it.
    #[inline]
    pub fn object_slot(&self) -> &AtomicPtr<()> {
        &self.0.object_slot
    }
    pub(crate) fn meta(&self) -> &Meta {
        self.0.meta.get_or_init(Box::default)
    }
    /// Address that identifies the tensor while it lives.
    #[inline]
    pub fn id(&self) -> usize {
        Counted::as_ptr(&self.0) as usize
    }
    #[inline]
    pub fn is_same(&self, other: &Tensor) -> bool {
        Counted::ptr_eq(&self.0, &other.0)
    }
    /// Whether this handle is the only one, over storage nobody else uses: its memory may be reused.
    pub(crate) fn is_unshared(&self) -> bool {
        let (_, storage) = self.memory(in_op());
        Counted::strong_count(&self.0) == 1
            && Counted::strong_count(&storage) == 1
            && !storage.is_fixed()
            && self.0.object_slot.load(Ordering::Relaxed).is_null()
    }

    // ---- layout

    #[inline]
    pub fn dtype(&self) -> DType {
        self.body().dtype
    }
    /// As [`Tensor::sizes`].
    #[inline]
    pub(crate) fn dims(&self) -> &Dims {
        &self.body().sizes
    }
    /// Sizes, one per axis.
    #[inline]
    pub fn sizes(&self) -> &[usize] {
        &self.body().sizes
    }
    /// Strides in elements, one per axis.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.body().strides
    }
    #[inline]
    pub fn ndim(&self) -> usize {
        self.body().sizes.len()
    }
    #[inline]
    pub fn numel(&self) -> usize {
        self.body().numel
    }
    /// Position of the first element in the storage, in elements.
    #[inline]
    pub fn storage_offset(&self) -> usize {
        self.body().offset
    }
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.body().contiguous
    }
    /// Whether two elements may lie in one place.
    pub(crate) fn may_overlap_itself(&self) -> bool {
        !self.is_contiguous() && layout::may_overlap(self.sizes(), self.strides())
    }
    pub fn storage(&self) -> Counted<Storage> {
        self.memory(&reading()).1.clone()
    }
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        let reading = reading();
        Counted::ptr_eq(&self.memory(&reading).1, &other.memory(&reading).1)
    }
    /// Lets the storage grow until `n` elements from `offset` on fit.
    pub(crate) fn make_room(&self, op: &'static str, n: usize, offset: usize) -> Result<()> {
        // Without elements the offset may be anything.
        let needed = if n == 0 { 0 } else { n.saturating_add(offset).saturating_mul(self.dtype().size()) };
        self.storage().grow(op, needed)
    }
    /// A number that tensors have in common if and only if they share memory.
    pub fn storage_key(&self) -> usize {
        Counted::as_ptr(&self.memory(&reading()).1).addr()
    }
    /// Address of the first element, to be used only as long as the thread is reading (R1), or as long as somebody
    /// holds the storage. Of a tensor without elements it may lead anywhere.
    #[inline]
    pub fn data_ptr(&self, reading: &Proof) -> *mut u8 {
        let (b, storage) = self.memory(reading);
        // S3: the offset lies inside the storage (or the tensor has no elements and the pointer is not used).
        storage.ptr().wrapping_add(b.offset.wrapping_mul(b.dtype.size()))
    }
    /// As [`Tensor::data_ptr`], inside of an op, which reads from its beginning to its end.
    #[inline]
    pub(crate) fn op_ptr(&self) -> *mut u8 {
        self.data_ptr(in_op())
    }
    /// Address of the first element as a typed pointer, inside of an op.
    ///
    /// # Panics
    /// If `T` is not the tensor's element type.
    #[inline]
    pub(crate) fn ptr<T: Element>(&self) -> *mut T {
        debug_assert!(!self.is_batched(), "the memory of a batched tensor is read");
        debug_assert!(!self.lazy_bits().any(), "the memory of a tensor with lazy bits is read");
        assert!(T::DTYPE == self.dtype(), "a {} tensor read as {}", self.dtype().name(), T::DTYPE.name());
        self.op_ptr().cast()
    }
    /// The elements of a contiguous tensor. `None` if the dtype differs, the elements are not contiguous, or the tensor
    /// is batched.
    ///
    /// For kernels: the op writes to the storage only after the last use of the slice, and if others can write to it,
    /// what the elements say decides nothing about memory (S4, S6). What users are given is [`Tensor::view`].
    pub(crate) fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if T::DTYPE != self.dtype() || !self.is_contiguous() || self.is_batched() || self.lazy_bits().any() {
            return None;
        }
        if self.numel() == 0 {
            return Some(&[]);
        }
        // SAFETY: S1 and S3 give `numel` readable elements, S2 their alignment.
        Some(unsafe { std::slice::from_raw_parts(self.ptr::<T>(), self.numel()) })
    }
    /// A fresh contiguous tensor whose elements `fill` writes, all of them: those that it is given have arbitrary
    /// values.
    pub fn build<T: Element>(sizes: &[usize], fill: impl FnOnce(&mut [T])) -> Result<Self> {
        let t = Self::empty(sizes, T::DTYPE)?;
        t.write_all(fill);
        Ok(t)
    }
    /// Has `fill` write the elements of a fresh contiguous tensor.
    pub(crate) fn write_all<T: Element>(&self, fill: impl FnOnce(&mut [T])) {
        if self.numel() > 0 {
            let _reading = reading();
            // SAFETY: S1 to S3 as in `as_slice`; nobody else has the storage yet, so the borrow is unique; by S5 the
            // bytes are elements already.
            fill(unsafe { std::slice::from_raw_parts_mut(self.ptr::<T>(), self.numel()) });
        }
    }

    // ---- version

    #[inline]
    fn counter<R>(&self, f: impl FnOnce(&Version) -> R) -> R {
        let reading = reading();
        let (b, storage) = self.memory(&reading);
        match b.version.get(&reading) {
            Some(own) => f(&own),
            None => f(&storage.version),
        }
    }
    /// A counter that goes on from the current one, apart from the storage.
    pub(crate) fn own_version(&self) -> Shared<Version> {
        let reading = reading();
        match self.body().version.get(&reading) {
            Some(own) => Shared::new(own.clone()),
            None => {
                let own = Version::default();
                own.set(self.version());
                Shared::new(Counted::new(own))
            }
        }
    }
    /// Number of in-place writes so far to the memory this tensor shares with its views.
    #[inline]
    pub fn version(&self) -> u32 {
        self.counter(Version::get)
    }
    /// Counts one in-place write, if writes are counted.
    pub fn bump_version(&self) {
        if !self.is_inference() {
            self.counter(Version::bump);
        }
    }
    /// Makes autograd believe that there were so many in-place writes.
    pub fn set_version(&self, version: u32) {
        if !self.is_inference() {
            self.counter(|counter| counter.set(version));
        }
    }
    /// Where the last in-place write was made.
    pub(crate) fn last_write(&self) -> CallSite {
        self.counter(Version::written)
    }
    /// Whether the tensor was made in inference mode (or shares memory with such a one): it takes no part in graphs,
    /// and writes to it are not counted.
    #[inline]
    pub fn is_inference(&self) -> bool {
        self.has_flag(flag::INFERENCE)
    }

    // ---- flags

    #[inline]
    pub(crate) fn has_flag(&self, bit: u32) -> bool {
        self.0.flags.load(Ordering::Relaxed) & bit != 0
    }
    pub(crate) fn set_flag(&self, bit: u32, on: bool) {
        if on {
            self.0.flags.fetch_or(bit, Ordering::Relaxed);
        } else {
            self.0.flags.fetch_and(!bit, Ordering::Relaxed);
        }
    }
    /// Whether the tensor stands for a plain number in promotion.
    pub(crate) fn is_number(&self) -> bool {
        self.has_flag(flag::NUMBER)
    }

    // ---- making and reading

    /// A 0-dim tensor of a number that promotes by its category alone.
    pub fn number(value: Scalar) -> Result<Self> {
        let dtype = match value {
            // A Python float is a double until promotion says otherwise.
            Scalar::Float(_) => DType::Float64,
            Scalar::Complex(..) => DType::Complex128,
            _ => value.dtype(),
        };
        dtype.refuse_left_out()?;
        let storage = Storage::uncounted(dtype.size())?;
        let t = Self::contiguous_over(storage, &Dims::new(), None, 1, dtype);
        crate::match_dtype!(any, dtype, T => t.write_all::<T>(|out| out.fill(T::from_scalar(value))));
        t.set_flag(flag::NUMBER, true);
        Ok(t)
    }

    /// As [`Tensor::number`], of a tensor that is only read: others may have it too, for the same number.
    #[inline]
    pub fn shared_number(value: Scalar) -> Result<Self> {
        numbers::shared(value)
    }

    /// A contiguous tensor with every element equal to `value`.
    pub fn full(sizes: &[usize], value: Scalar, dtype: DType) -> Result<Self> {
        let t = crate::match_dtype!(any, dtype, T => Self::build::<T>(sizes, |out| {
            let (value, cost) = (T::from_scalar(value), copying(size_of_val(out)));
            split_rows(out, 1, TOGETHER, cost, &|_, out| out.fill(value));
        }))?;
        if record::is_recording() {
            record::filled(&t);
        }
        Ok(t)
    }

    /// A contiguous tensor of `values` in row-major order.
    ///
    /// ```
    /// let t = retrograd_engine::Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    /// assert_eq!(t.sizes(), &[2, 2]);
    /// ```
    pub fn from_slice<T: Host>(values: &[T], sizes: &[usize]) -> Result<Self> {
        let n = layout::checked_numel("from_slice", sizes)?;
        if n != values.len() {
            return Err(Error::shape("from_slice", format!("{} values do not fill sizes {sizes:?}", values.len())));
        }
        Self::build::<T::Element>(sizes, |out| out.iter_mut().zip(values).for_each(|(o, v)| *o = v.into_element()))
    }

    /// A contiguous tensor of `values` in row-major order, in the memory of the vector if that is not small.
    ///
    /// ```
    /// let values = vec![1.0f32; 10_000];
    /// let at = values.as_ptr();
    /// let t = retrograd_engine::Tensor::from_vec(values, &[100, 100]).unwrap();
    /// assert_eq!(t.view::<f32>().unwrap().as_slice().unwrap().as_ptr(), at);
    /// ```
    pub fn from_vec<T: Element>(values: Vec<T>, sizes: &[usize]) -> Result<Self> {
        // What fits into the storage itself, or into a block that the pool has, is copied faster than it is owned.
        const SMALL: usize = 4096;
        let n = layout::checked_numel("from_vec", sizes)?;
        if n != values.len() {
            return Err(Error::shape("from_vec", format!("{} values do not fill sizes {sizes:?}", values.len())));
        }
        if size_of_val(values.as_slice()) <= SMALL {
            return Self::from_slice(&values, sizes);
        }
        let strides = layout::contiguous_strides(sizes);
        Self::from_parts(Storage::of_vec(values), T::DTYPE, sizes, &strides, 0)
    }

    /// The only element.
    pub fn item(&self) -> Result<Scalar> {
        let _reading = reading();
        if self.numel() != 1 {
            return Err(Error::shape(
                "item",
                format!("a Tensor with {} elements cannot be converted to Scalar", self.numel()),
            ));
        }
        transforms::check_read("item", self)?;
        if _reading.mode() & mode::RECORDED != 0 {
            record::read("item", self);
        }
        let bits = self.lazy_bits();
        // SAFETY: one element exists (S1, S3, R1), aligned (S2).
        Ok(crate::match_dtype!(any, self.dtype(), T => bits.of(unsafe { *self.op_ptr().cast::<T>() }.to_scalar())))
    }

    /// The elements in row-major order.
    pub fn to_vec<T: Host>(&self) -> Result<Vec<T>> {
        transforms::check_read("to_vec", self)?;
        let _reading = reading();
        if _reading.mode() & mode::RECORDED != 0 {
            record::read("tolist", self);
        }
        let c = copy::contiguous(&copy::cast(&self.resolved()?, T::Element::DTYPE)?)?;
        let elements = c.as_slice::<T::Element>().expect("contiguous and of this dtype");
        Ok(elements.iter().map(|&e| T::from_element(e)).collect())
    }

    pub fn nbytes(&self) -> usize {
        self.numel() * self.dtype().size()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(object) = self.meta.get_mut().and_then(|m| m.preserved_object.get_mut().take()) {
            let kind = self.flags.load(Ordering::Relaxed) & flag::INFERENCE;
            object.tensor_dropped(Tensor::with(self.last_body(), None, kind));
        }
        if let Some(edge) = self.history.get_mut().take() {
            crate::autograd::node::drop_later(edge.node);
        }
        self.forget_former_memory();
    }
}

/// The error of a layout that leaves the storage.
#[cold]
fn outside(storage: &Storage, dtype: DType, sizes: &[usize], strides: &[isize], offset: usize) -> Error {
    let spans = sizes.iter().zip(strides).map(|(&n, &step)| (n as i128 - 1).saturating_mul(step as i128));
    let elements = spans.fold(offset as i128 + 1, i128::saturating_add);
    Error::shape(
        "as_strided",
        format!(
            "setStorage: sizes {sizes:?}, strides {strides:?}, storage offset {offset}, and itemsize {} requiring a \
             storage size of {} are out of bounds for storage of size {}",
            dtype.size(),
            elements.saturating_mul(dtype.size() as i128),
            storage.bytes()
        ),
    )
}

#[cold]
fn misaligned(storage: &Storage, dtype: DType) -> Error {
    Error::value(
        "from_parts",
        format!("{storage:?} is not aligned to the {} bytes of {}", dtype.alignment(), dtype.name()),
    )
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {})", self.sizes(), self.dtype().name())
    }
}
