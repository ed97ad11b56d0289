//! Storage: the memory behind one or more tensors, and its version counter.
//!
//! Invariants that distant `unsafe` blocks cite:
//!
//! - **S1** `ptr()` is readable and writable for `bytes()` bytes for as long as the `Storage` lives (read-only foreign
//!   memory is marked and never handed out for writing without the caller's having been warned).
//! - **S2** `ptr()` is aligned to at least 16 bytes when this crate allocated it (64 from the pool), and to the element type's alignment otherwise;
//!   importers check that.
//! - **S3** Every tensor over a storage reaches only bytes inside it: offset and strides are checked where a layout is
//!   made (`Tensor::from_parts`), and storages never shrink.
//! - **S4** Element memory is reached through raw pointers only, so tensors that share storage do not break Rust's
//!   aliasing rules. Two threads that write the same elements race, as they do in NumPy and torch.
//! - **S5** No op reads an element it or an earlier op did not write: `empty` is the one way to see such memory.

pub mod pool;

use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::error::{ErrorKind, Result};
use crate::origin::Origin;

/// Bytes of a buffer that lives inside the `Storage` itself: the small tensors that dispatch cost is measured on.
const INLINE: usize = 64;

#[repr(align(16))]
struct Inline(UnsafeCell<[u8; INLINE]>);

enum Owner {
    /// The bytes are `inline`.
    Inline,
    /// The bytes came from the pool.
    Pool(NonNull<u8>),
    /// The bytes belong to somebody else, who is told on drop.
    Foreign(NonNull<u8>, #[allow(dead_code, reason = "held for its Drop")] Box<dyn Send + Sync>),
}

/// A number that grows when a transform begins, so that memory from before is told apart from memory made meanwhile.
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
        self.written.store(Origin::here().0, Ordering::Relaxed);
    }
    pub fn set(&self, value: u32) {
        self.count.store(value, Ordering::Relaxed);
    }
    pub(crate) fn written(&self) -> Origin {
        Origin(self.written.load(Ordering::Relaxed))
    }
}

/// A block of bytes with its version counter.
pub struct Storage {
    inline: Inline,
    owner: Owner,
    bytes: usize,
    /// The counter of the tensors made over this storage; `.data` aliases bring their own.
    pub(crate) version: Version,
    /// Elements of a tangent that results of other ops have for theirs; see `autograd::forward`.
    lent: AtomicBool,
}

// SAFETY: `inline` and the pool's memory are owned by this value and plain bytes; foreign owners are `Send + Sync`;
// sharing the bytes between threads is S4.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// Uninitialised memory for `bytes` bytes.
    pub fn allocate(bytes: usize) -> Result<Arc<Self>> {
        let owner = if bytes <= INLINE {
            Owner::Inline
        } else {
            Owner::Pool(pool::allocate(bytes).ok_or(ErrorKind::OutOfMemory { bytes })?)
        };
        Ok(Arc::new(Self {
            inline: Inline(UnsafeCell::new([0; INLINE])),
            owner,
            bytes,
            version: Version::default(),
            lent: AtomicBool::new(false),
        }))
    }

    /// A larger copy; what lies beyond the old end is not initialised.
    pub fn grown(&self, bytes: usize) -> Result<Arc<Self>> {
        let larger = Self::allocate(bytes)?;
        // SAFETY: both are valid for as many bytes (S1), and the new one overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(self.ptr(), larger.ptr(), self.bytes.min(bytes)) };
        Ok(larger)
    }

    /// Memory that `owner` keeps alive.
    ///
    /// # Safety
    /// 1. `ptr` is valid for reads and writes of `bytes` bytes while `owner` lives.
    /// 2. `ptr` is aligned for the dtype of every tensor that will be made over it.
    pub unsafe fn foreign(ptr: NonNull<u8>, bytes: usize, owner: Box<dyn Send + Sync>) -> Arc<Self> {
        Arc::new(Self {
            inline: Inline(UnsafeCell::new([0; INLINE])),
            owner: Owner::Foreign(ptr, owner),
            bytes,
            version: Version::default(),
            lent: AtomicBool::new(false),
        })
    }

    pub(crate) fn lend(&self, on: bool) {
        self.lent.store(on, Ordering::Relaxed);
    }
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn ptr(&self) -> *mut u8 {
        match &self.owner {
            Owner::Inline => self.inline.0.get().cast(),
            Owner::Pool(p) | Owner::Foreign(p, _) => p.as_ptr(),
        }
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// Whether the memory was there before an epoch began. Numbers wrap around: after two thousand million epochs old memory
    /// counts as new.
    pub(crate) fn is_from_before(&self, epoch: u32) -> bool {
        self.version.made.wrapping_sub(epoch) as i32 <= -1
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Owner::Pool(p) = self.owner {
            // SAFETY: allocated by `pool::allocate` with the same size in `allocate`, released once, here.
            unsafe { pool::release(p, self.bytes) }
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} bytes at {:p})", self.bytes, self.ptr())
    }
}
