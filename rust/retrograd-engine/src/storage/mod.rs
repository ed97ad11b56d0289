//! Storage: the memory behind one or more tensors, and its version counter.
//!
//! Invariants that distant `unsafe` blocks cite:
//!
//! - **S1** `ptr()` is readable for `bytes()` bytes for as long as the `Storage` lives, and writable too unless the
//!   storage is marked as read-only: `Tensor::check_write`, which every write to a tensor that an op was given asks
//!   first, refuses those. When a storage grows, the memory that it had stays mapped for those who are reading (R1 in
//!   [`reclaim`]).
//! - **S2** `ptr()` is aligned to at least 16 bytes when this crate allocated it (64 from the pool), and otherwise to
//!   the element type of every tensor over it, which is checked where a dtype meets a storage (`Tensor::from_parts`).
//! - **S3** Every tensor over a storage reaches only bytes inside it: offset and strides are checked where a layout is
//!   made (`Tensor::from_parts`), and storages never shrink.
//! - **S4** Element memory is written through raw pointers, or as a slice of a fresh tensor that nobody else has, so
//!   tensors that share storage do not break Rust's aliasing rules. Kernels read operands as slices
//!   (`Tensor::as_slice`) while their op writes to nothing but fresh memory. Two threads of which one writes to what
//!   the other one reads race, as they do in NumPy and torch: values may be any, but nothing that memory rests on is
//!   decided by them (S6).
//! - **S5** Every byte has a value, also before it is written: memory of the pool comes with arbitrary ones (see
//!   `kernels::memory::Block`), importers answer for theirs, and any bytes are a value of every [`Element`]. No op
//!   reads an element that it or an earlier op did not write: `empty` is the one way to see such memory.
//! - **S6** What an index says is read once: the memory of an index operand may be written by another thread, or
//!   through another library, while an op runs without the interpreter. So a value is checked where it becomes an
//!   offset, from one read, or the op copies all of them first (`copy::own_indices`) and then checks the copy.
//! - **S7** While a [`TensorView`] shows the bytes nobody writes to them. It counts itself in the storage, and then
//!   waits for all threads that are reading (see [`reclaim`]); a write asks for the count (`Tensor::check_write`) in
//!   the same reading in which it writes. So either the view waits for the write, or the write sees the view and is
//!   refused.
//!
//! [`Element`]: crate::tensor::Element
//! [`TensorView`]: crate::tensor::TensorView

pub mod reclaim;
mod shared;
pub(crate) mod watch;

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::call_site::CallSite;
use crate::counted::{Counted, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::kernels::memory::Block;
use crate::tensor::dtype::Element;
use crate::thread;
use shared::Mapping;

/// Bytes of a buffer that lives inside the `Storage` itself: the small tensors that dispatch cost is measured on.
const INLINE: usize = 64;

#[repr(align(16))]
struct Inline(UnsafeCell<[u8; INLINE]>);

/// Memory that belongs to somebody else.
struct Foreign {
    /// Dropped with the storage.
    owner: Owner,
    /// Names the import if the bytes may only be read.
    read_only: Option<&'static str>,
}

enum Owner {
    /// Of the bytes.
    Bytes {
        #[allow(dead_code, reason = "held for its Drop")]
        owner: Box<dyn Send + Sync>,
    },
    /// Nobody owns bytes, as there are none: these are the elements.
    Elements(Box<dyn Any + Send + Sync>),
}

/// What a storage has for its bytes.
struct Memory {
    /// A block of the pool, also one that had them before they were shared, if others have its address.
    block: Option<Block>,
    /// The bytes, as other processes may have them too.
    shared: Option<Box<Mapping>>,
}

/// What the address of a storage without bytes leads to: an element of any dtype, which nobody has reason to read.
#[repr(align(16))]
struct Nothing([u8; 16]);
static NOTHING: Nothing = Nothing([0; 16]);

/// A number that grows when a transform begins, which distinguishes memory from before it from memory made since.
static EPOCH: AtomicU32 = AtomicU32::new(0);

/// Begins another epoch; returns its number.
pub(crate) fn next_epoch() -> u32 {
    EPOCH.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
}

/// Counts in-place writes; shared by a tensor, its views, their base and what `detach` returns.
#[derive(Debug)]
pub struct Version {
    count: AtomicU32,
    /// The epoch in which the counter, and the memory that it is of, was made.
    made: u32,
    /// Where the last write was made.
    written: AtomicU64,
}

impl Default for Version {
    #[inline]
    fn default() -> Self {
        Self { count: AtomicU32::new(0), made: EPOCH.load(Ordering::Relaxed), written: AtomicU64::new(0) }
    }
}

impl Version {
    pub fn get(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }
    pub fn bump(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.written.store(CallSite::here().0, Ordering::Relaxed);
    }
    pub fn set(&self, value: u32) {
        self.count.store(value, Ordering::Relaxed);
    }
    pub(crate) fn written(&self) -> CallSite {
        CallSite(self.written.load(Ordering::Relaxed))
    }
}

/// A block of the pool, if need be of memory that was waiting to be freed.
#[inline]
fn pool_block(bytes: usize) -> Result<Block> {
    match Block::new(bytes) {
        Ok(block) => Ok(block),
        Err(_) => {
            reclaim::collect();
            Ok(Block::new(bytes)?)
        }
    }
}

/// A block of bytes with its version counter.
pub struct Storage {
    inline: Inline,
    foreign: Option<Box<Foreign>>,
    /// Where the bytes are, and how many: both change only when the storage grows.
    ptr: AtomicPtr<u8>,
    bytes: AtomicUsize,
    /// Whether others have the address of the bytes, so that they may not move.
    fixed: AtomicBool,
    /// How many views show the bytes (S7).
    views: AtomicU32,
    /// What has the bytes, unless they are inline or somebody else's.
    memory: Mutex<Memory>,
    /// The counter of the tensors made over this storage; `.data` aliases bring their own.
    pub(crate) version: Version,
    /// Whether profiles are told of the bytes.
    counted: bool,
    /// Elements of a tangent that results of other ops have for theirs; see `autograd::forward`.
    lent: AtomicBool,
}

// SAFETY: `inline` and the pool's memory are owned by this value and plain bytes; foreign owners are `Send + Sync`; an
// inline storage lives in its `Counted` and is not moved out of it; sharing the bytes between threads is S4.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// Uninitialised memory for `bytes` bytes.
    #[inline]
    pub fn allocate(bytes: usize) -> Result<Counted<Self>> {
        let storage = Self::make(bytes, true)?;
        watch::changed(|| bytes as i64, storage.ptr());
        Ok(storage)
    }

    /// As [`Storage::allocate`], for what is no tensor to a user: profiles are not told of it.
    pub(crate) fn uncounted(bytes: usize) -> Result<Counted<Self>> {
        Self::make(bytes, false)
    }

    #[inline(always)]
    fn make(bytes: usize, counted: bool) -> Result<Counted<Self>> {
        if bytes > INLINE {
            return Self::make_in_pool(bytes, counted);
        }
        Ok(Self::new(None, None, None, bytes, counted))
    }

    // Apart: the compiler would make both in one place, out of pieces.
    #[inline(never)]
    fn make_in_pool(bytes: usize, counted: bool) -> Result<Counted<Self>> {
        let block = pool_block(bytes)?;
        let ptr = block.ptr();
        Ok(Self::new(None, Some(block), Some(ptr), bytes, counted))
    }

    /// A storage whose bytes are at `ptr`, or inline.
    #[inline(always)]
    fn new(
        foreign: Option<Box<Foreign>>,
        block: Option<Block>,
        ptr: Option<NonNull<u8>>,
        bytes: usize,
        counted: bool,
    ) -> Counted<Self> {
        // Has an error if there is a field that is not written below.
        let _ = |storage: &Self| {
            let Self {
                inline: _,
                foreign: _,
                ptr: _,
                bytes: _,
                fixed: _,
                views: _,
                memory: _,
                version: _,
                counted: _,
                lent: _,
            } = storage;
        };
        let mut place = Place::<Self>::new();
        let to = place.ptr();
        // SAFETY: each field is written.
        unsafe {
            let inline = &raw mut (*to).inline;
            inline.write(Inline(UnsafeCell::new([0; INLINE])));
            (&raw mut (*to).fixed).write(AtomicBool::new(foreign.is_some()));
            (&raw mut (*to).views).write(AtomicU32::new(0));
            (&raw mut (*to).foreign).write(foreign);
            // Inline bytes do not move any more.
            (&raw mut (*to).ptr).write(AtomicPtr::new(ptr.map_or((&raw mut (*inline).0).cast(), NonNull::as_ptr)));
            (&raw mut (*to).bytes).write(AtomicUsize::new(bytes));
            (&raw mut (*to).memory).write(Mutex::new(Memory { block, shared: None }));
            (&raw mut (*to).version).write(Version::default());
            (&raw mut (*to).counted).write(counted);
            (&raw mut (*to).lent).write(AtomicBool::new(false));
            place.filled()
        }
    }

    /// Makes space for at least `bytes` bytes; what is beyond the old end is not initialised. All tensors over the
    /// storage go on sharing it. An error if others have its address.
    pub fn grow(&self, op: &'static str, bytes: usize) -> Result<()> {
        let mut memory = self.memory.lock();
        let old = self.bytes();
        if bytes <= old {
            return Ok(());
        }
        if self.is_elsewhere() {
            return Err(self.refusal(op));
        }
        if self.fixed.load(Ordering::Relaxed) {
            return Err(Error::autograd(format!(
                "{op}: Trying to resize storage that is not resizable: its memory is shared with another library (NumPy, \
                 DLPack, a buffer) or process, which would go on with the old one: clone() the tensor first"
            )));
        }
        if self.views.load(Ordering::Relaxed) > 0 {
            return Err(self.refusal(op));
        }
        let block = pool_block(bytes)?;
        let from = self.ptr();
        // SAFETY: both are valid for as many bytes (S1), and the new one overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(from, block.ptr().as_ptr(), old) };
        // Who sees the new size sees the new place.
        self.ptr.store(block.ptr().as_ptr(), Ordering::Release);
        self.bytes.store(bytes, Ordering::Release);
        if self.counted {
            watch::changed(|| -(old as i64), from);
            watch::changed(|| bytes as i64, self.ptr());
        }
        let former = memory.block.replace(block);
        drop(memory);
        reclaim::retire(former);
        Ok(())
    }

    /// Nobody writes to the bytes, and they do not move, until [`Storage::end_view`] (S7). Waits for writes that are
    /// under way. An error if others may write to them without asking.
    pub(crate) fn begin_view(&self, op: &'static str) -> Result<()> {
        if reclaim::is_reading() {
            return Err(Error::autograd(format!(
                "{op}: called from inside of an op, which may be the one to wait for: take the view before or after it"
            )));
        }
        {
            // Not while it grows.
            let _memory = self.memory.lock();
            if self.is_fixed() {
                return Err(Error::autograd(format!(
                    "{op}: the tensor's memory is shared with another library (NumPy, DLPack, a buffer) or process, which may \
                     write to it: clone() the tensor and take a view of the clone"
                )));
            }
            self.views.fetch_add(1, Ordering::Relaxed);
        }
        reclaim::wait_for_readers();
        Ok(())
    }
    pub(crate) fn end_view(&self) {
        // What was read is read before the next write, which asks with `Acquire`.
        self.views.fetch_sub(1, Ordering::Release);
    }

    /// Whether the memory is another library's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }
    /// Whether the bytes may be written: not if they are read-only, nor while a view shows them.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.read_only().is_none() && self.views.load(Ordering::Acquire) == 0
    }
    /// The error of a write to bytes that may not be written.
    #[cold]
    pub(crate) fn refusal(&self, op: &'static str) -> Error {
        if self.is_elsewhere() {
            return ErrorKind::Sparse { op, backend: "SparseCPU" }.into();
        }
        Error::autograd(match self.read_only() {
            Some(import) => format!(
                "{op}: the tensor's memory is read-only, as it was when {import} took it over: clone() the tensor and write to \
                 the clone"
            ),
            None => format!(
                "{op}: a TensorView shows the tensor's memory, which stays as it is until the view is dropped: drop it first, \
                 or clone() the tensor and write to the clone"
            ),
        })
    }

    /// Somebody outside has the address from now on: the bytes may not move.
    pub fn fix_address(&self) {
        thread::note(thread::GAVE_ADDRESS);
        // Not while it grows.
        let _memory = self.memory.lock();
        self.fixed.store(true, Ordering::Relaxed);
    }

    /// Whether somebody outside has the address, and may read or write the bytes.
    pub fn is_fixed(&self) -> bool {
        self.fixed.load(Ordering::Relaxed)
    }

    /// Moves the bytes to memory that other processes can have too, unless they are there. All tensors over the storage
    /// go on sharing it; who has the address, such as a NumPy array, goes on with what was there.
    pub fn share(this: &Counted<Self>, op: &'static str) -> Result<()> {
        let former = {
            let mut memory = this.memory.lock();
            if memory.shared.is_some() {
                return Ok(());
            }
            if this.is_elsewhere() || this.views.load(Ordering::Relaxed) > 0 {
                return Err(this.refusal(op));
            }
            let mapping = Mapping::new(op, this.bytes())?;
            // SAFETY: both are valid for as many bytes (S1), and the new one overlaps nothing.
            unsafe { std::ptr::copy_nonoverlapping(this.ptr(), mapping.ptr(), this.bytes()) };
            if this.counted {
                watch::changed(|| -(this.bytes() as i64), this.ptr());
                watch::changed(|| this.bytes() as i64, mapping.ptr());
            }
            this.ptr.store(mapping.ptr(), Ordering::Release);
            shared::remember(&mapping, this);
            memory.shared = Some(Box::new(mapping));
            // Those who have the address of the block go on with it.
            if this.fixed.swap(true, Ordering::Relaxed) { None } else { memory.block.take() }
        };
        reclaim::retire(former);
        Ok(())
    }

    /// The bytes of a file that another process got from [`Storage::shared_file`]: the storage that has them, if there
    /// is one. The file stays the caller's.
    pub fn of_shared_file(op: &'static str, file: i32, bytes: usize) -> Result<Counted<Self>> {
        let mapping = Mapping::of(op, file, bytes)?;
        Ok(shared::storage_of(mapping, |mapping| {
            let storage = Self::new(None, None, NonNull::new(mapping.ptr()), bytes, false);
            storage.fixed.store(true, Ordering::Relaxed);
            storage.memory.lock().shared = Some(Box::new(mapping));
            storage
        }))
    }

    /// The file with the bytes, if they are shared; it is open as long as the storage lives.
    pub fn shared_file(&self) -> Option<i32> {
        self.memory.lock().shared.as_ref().map(|mapping| mapping.file())
    }

    /// Memory that `owner` keeps alive. `read_only` names the import if the memory may not be written.
    ///
    /// # Safety
    /// 1. `ptr` is valid for reads of `bytes` bytes while `owner` lives, and for writes unless it is `read_only`.
    /// 2. The bytes are initialised.
    pub unsafe fn foreign(
        ptr: NonNull<u8>,
        bytes: usize,
        owner: Box<dyn Send + Sync>,
        read_only: Option<&'static str>,
    ) -> Counted<Self> {
        let foreign = Box::new(Foreign { owner: Owner::Bytes { owner }, read_only });
        Self::new(Some(foreign), None, Some(ptr), bytes, false)
    }

    /// The memory of a vector, which is the storage's alone from now on.
    pub fn of_vec<T: Element>(mut values: Vec<T>) -> Counted<Self> {
        let bytes = size_of_val(values.as_slice());
        let ptr = NonNull::new(values.as_mut_ptr()).expect("a vector's address").cast();
        // SAFETY: (1) the owner is the vector, whose elements stay where they are when it moves. (2) They are.
        let storage = unsafe { Self::foreign(ptr, bytes, Box::new(values), None) };
        // Nobody outside has the address.
        storage.fixed.store(false, Ordering::Relaxed);
        storage
    }

    /// A storage that has no bytes, and stands for elements which are kept in another way. It never gets any bytes.
    pub(crate) fn without_bytes(elements: Box<dyn Any + Send + Sync>) -> Counted<Self> {
        let foreign = Box::new(Foreign { owner: Owner::Elements(elements), read_only: Some("a sparse tensor") });
        Self::new(Some(foreign), None, Some(NonNull::from(&NOTHING.0).cast()), 0, false)
    }

    fn is_elsewhere(&self) -> bool {
        self.foreign.as_ref().is_some_and(|foreign| matches!(foreign.owner, Owner::Elements(_)))
    }

    /// The elements that the storage stands for, if it was made for such.
    pub(crate) fn elements<T: 'static>(&self) -> Option<&T> {
        match &self.foreign.as_ref()?.owner {
            Owner::Elements(elements) => elements.downcast_ref(),
            Owner::Bytes { .. } => None,
        }
    }

    /// The import that the memory came by, if it may not be written.
    #[inline]
    pub fn read_only(&self) -> Option<&'static str> {
        self.foreign.as_ref().and_then(|foreign| foreign.read_only)
    }

    pub(crate) fn lend(&self, on: bool) {
        self.lent.store(on, Ordering::Relaxed);
    }
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.load(Ordering::Acquire)
    }
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }
    /// Whether the memory was there before an epoch began. Numbers wrap around: after two thousand million epochs old
    /// memory counts as new.
    pub(crate) fn is_from_before(&self, epoch: u32) -> bool {
        self.version.made.wrapping_sub(epoch) as i32 <= -1
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        if self.counted {
            watch::changed(|| -(self.bytes() as i64), self.ptr());
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} bytes at {:p})", self.bytes(), self.ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storages_grow_where_they_are_unless_their_address_is_known() {
        for first in [8, INLINE, 1000] {
            let storage = Storage::allocate(first).unwrap();
            let _reading = reclaim::reading();
            // SAFETY: S1.
            unsafe { std::ptr::write_bytes(storage.ptr(), 7, first) };
            let before = storage.ptr();
            for bytes in [first, 2000, 100, 300_000] {
                storage.grow("test", bytes).unwrap();
                assert!(storage.bytes() >= bytes);
                // SAFETY: S1.
                assert!((0..first).all(|i| unsafe { *storage.ptr().add(i) } == 7));
            }
            assert!(storage.ptr() != before && storage.bytes() == 300_000 && storage.read_only().is_none());
            // SAFETY: R1: what was handed out is still there for who is reading.
            assert_eq!(unsafe { *before }, 7);
            storage.fix_address();
            assert!(storage.grow("test", 300_000).is_ok() && storage.grow("test", 300_001).is_err());
            assert_eq!(storage.bytes(), 300_000);
        }
    }

    #[test]
    #[cfg_attr(any(miri, not(target_os = "linux")), ignore = "needs files of Linux")]
    fn shared_bytes_are_those_that_were_there_and_those_of_every_process() {
        for bytes in [0, 8, 1000, 100_000] {
            let storage = Storage::allocate(bytes).unwrap();
            // SAFETY: S1.
            unsafe { std::ptr::write_bytes(storage.ptr(), 7, bytes) };
            assert_eq!(storage.shared_file(), None);
            Storage::share(&storage, "test").unwrap();
            let (file, at) = (storage.shared_file().unwrap(), storage.ptr());
            Storage::share(&storage, "test").unwrap();
            assert!(storage.shared_file() == Some(file) && storage.ptr() == at);
            assert!(storage.is_fixed() && storage.grow("test", bytes + 1).is_err());
            // As in another process, which has no storage for it.
            let other = Mapping::of("test", file, bytes).unwrap();
            // SAFETY: S1, and what `Mapping` says.
            assert!((0..bytes).all(|i| unsafe { *at.add(i) == 7 && *other.ptr().add(i) == 7 }));
            assert!(Counted::ptr_eq(&storage, &Storage::of_shared_file("test", file, bytes).unwrap()));
            assert!(Mapping::of("test", file, bytes + 2).is_err());
        }
    }

    #[test]
    #[cfg_attr(any(miri, not(target_os = "linux")), ignore = "needs files of Linux")]
    fn who_has_the_address_keeps_the_bytes_when_they_are_shared() {
        let storage = Storage::allocate(1000).unwrap();
        storage.fix_address();
        let before = storage.ptr();
        // SAFETY: S1.
        unsafe { std::ptr::write_bytes(before, 7, 1000) };
        Storage::share(&storage, "test").unwrap();
        // SAFETY: the storage has the block as long as it lives.
        assert!(storage.ptr() != before && unsafe { *before.add(999) } == 7);
    }

    #[test]
    fn the_memory_of_a_vector_is_the_storages_own() {
        let values = vec![1u32, 2, 3];
        let at = values.as_ptr().cast::<u8>();
        let storage = Storage::of_vec(values);
        assert!(storage.ptr().cast_const() == at && storage.bytes() == 12 && !storage.is_fixed());
        storage.begin_view("test").unwrap();
        assert!(!storage.is_writable() && storage.grow("test", 13).is_err());
        storage.end_view();
        storage.grow("test", 100_000).unwrap();
        // SAFETY: S1.
        assert!(storage.ptr().cast_const() != at && unsafe { storage.ptr().cast::<u32>().add(2).read() } == 3);
    }

    #[test]
    fn memory_of_others_is_marked() {
        let mut bytes = Box::new([1u8; 16]);
        let ptr = NonNull::from(&mut bytes[0]);
        // SAFETY: (1) the owner is the memory, and moves only as a box; (2) it is.
        let storage = unsafe { Storage::foreign(ptr, 16, bytes, Some("test")) };
        assert!(storage.is_fixed() && storage.read_only() == Some("test") && storage.grow("test", 17).is_err());
    }
}
