//! The memory pool: released buffers are allocated again, still mapped and often still in cache.
//!
//! Writing 40 MB costs 10.8 ms in fresh 4 KB pages and 1.35 ms in a reused block; an allocator that unmaps large
//! blocks spends most of an elementwise op on page faults. Sizes are rounded up to classes, four to the octave:
//!
//! - up to 256 KB, a free list per class on each thread (a few nanoseconds, no atomic read-modify-write);
//! - above, and for what overflows a thread's list of blocks from 4 KB up, one process-wide stack per class,
//!   under a limit in bytes. Blocks from 2 MB up are mapped on 2 MB bounds and advised to use huge pages;
//! - a block larger than that limit is mapped for its one use.
//!
//! Sizes that vary, as those of batches of sentences do, would leave blocks on every stack. So a large request whose
//! class has none takes one of the next three classes, and before the system gives memory, blocks of the classes that
//! were not used for longest go back to it, until live and kept bytes are at most 7/4 of the most live bytes that there
//! recently were. A loop over the same sizes comes to have all its blocks, and then finds one at each request.
//!
//! Nothing here takes a lock, so the pool stays usable in a forked child whatever other threads were doing; the
//! blocks on their lists, and one that was on its way to or from a stack, are lost to the child.
//!
//! The invariants that the unsafe blocks cite:
//!
//! - P1. A block of class `c` was obtained by `backing::obtain(size_of_class(c))`. `Route::of` computes class or
//!   direct size from a `Grant` alone, and its answer never changes within a process.
//! - P2. A block is in one place at a time: with a caller, on one thread's list, or in one node of a stack.
//!   Whoever takes it out of a place owns it.
//! - P3. A block on a thread's list starts with a `Link`, valid until the block is taken off; every block has at
//!   least 64 bytes, aligned to 64.

use std::cell::Cell;
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use stack::{Head, Node};

/// A buffer could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not enough memory for {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// A buffer of the pool, given back on drop.
#[derive(Debug)]
pub struct Block {
    ptr: NonNull<u8>,
    grant: Grant,
}

// SAFETY: the block is owned by this value, and plain bytes.
unsafe impl Send for Block {}
// SAFETY: a shared block gives its address only; each access through that is in an `unsafe` block of its own.
unsafe impl Sync for Block {}

impl Block {
    /// A buffer of at least `bytes` bytes, aligned to [`ALIGNMENT`]. The bytes have arbitrary values, which may be
    /// read.
    pub fn new(bytes: usize) -> Result<Self, OutOfMemory> {
        let (ptr, grant) = allocate(bytes).ok_or(OutOfMemory { bytes })?;
        propagate(ptr);
        Ok(Self { ptr, grant })
    }
    /// Where the bytes are.
    pub fn ptr(&self) -> NonNull<u8> {
        self.ptr
    }
    /// As many bytes as were requested.
    pub fn bytes(&self) -> usize {
        self.grant.bytes()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated by `allocate` with this grant in `new`, released once, here.
        unsafe { release(self.ptr, self.grant) }
    }
}

/// What a buffer is: the bytes that were requested, and in the two highest bits by how many classes its block is larger
/// than they need, which is 0 up to [`SMALL_MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grant(usize);

impl Grant {
    const SHIFT: u32 = usize::BITS - 2;
    /// More bytes than that are in no address space.
    const BYTES: usize = (1 << Self::SHIFT) - 1;

    /// `bytes` are at most [`Self::BYTES`], `steps` at most 3.
    fn new(bytes: usize, steps: usize) -> Self {
        Self(bytes | steps << Self::SHIFT)
    }
    #[inline]
    fn bytes(self) -> usize {
        self.0 & Self::BYTES
    }
    fn steps(self) -> usize {
        self.0 >> Self::SHIFT
    }
}

/// From here on the bytes at `ptr` are initialised: with whatever they are. Reading memory that was never written is
/// undefined behaviour, so the compiler may assume that it does not happen; here it must assume that the memory was
/// written. (Miri sees memory that [`backing`] wrote zeros to.)
#[inline(always)]
fn propagate(ptr: NonNull<u8>) {
    #[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: no instruction at all; as if it stored to each byte the value that it has.
    unsafe {
        std::arch::asm!("/* {0} */", in(reg) ptr.as_ptr(), options(nostack, preserves_flags));
    }
    #[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
    std::hint::black_box(ptr);
}

/// Every buffer is aligned to this: one cache line, one AVX-512 vector.
pub const ALIGNMENT: usize = 64;

/// Requests up to this many bytes are served from the thread's own lists.
const SMALL_MAX: usize = 256 << 10;
/// A thread's list of a class keeps at most about this many bytes ...
const LIST_BYTES: usize = 2 << 20;
/// ... and at most this many blocks.
const LIST_BLOCKS: usize = 4096;
/// Smaller blocks than this never enter the process-wide stacks: the nodes are worth more to larger ones.
const SHARED_MIN: usize = 4 << 10;
/// Limit of the process-wide stacks, where a tenth of the memory is not less.
const SHARED_MAX: usize = 1 << 30;
/// Blocks that the process-wide stacks can hold; their nodes take 16 bytes each. Miri walks over all of them whenever
/// one is used.
const NODES: usize = if cfg!(miri) { 1 << 5 } else { 1 << 14 };
/// A thread reports its balance of live bytes when it has moved by this much.
const BALANCE_STEP: isize = 1 << 20;
/// By how many classes a block may be larger than a large request needs: at most twice the requested bytes.
const STEPS: usize = 3;
/// Live and kept bytes stay within so many quarters of the most live bytes that there recently were: with 6, loops over
/// sizes of several octaves lose and miss their blocks in every round ...
const QUARTERS: usize = 7;
/// ... or within this many.
const FLOOR: usize = 64 << 20;
/// "Recently" ends between one and two times so many uses of the process-wide stacks ago: a training step has some
/// hundred to some thousand.
const WINDOW: u64 = 1 << 14;

/// Take a buffer of at least `bytes` bytes, aligned to [`ALIGNMENT`] and uninitialised.
///
/// `None` means that the memory is exhausted, after every cached block within reach was given back. Zero bytes
/// give a dangling aligned pointer.
#[inline]
fn allocate(bytes: usize) -> Option<(NonNull<u8>, Grant)> {
    if bytes == 0 {
        return Some((NonNull::<Aligned>::dangling().cast(), Grant(0)));
    }
    if bytes <= SMALL_MAX {
        let class = class_of(bytes);
        // Fails only while the thread is ending.
        if let Ok(Some(block)) = LOCAL.try_with(|local| local.take(class)) {
            return Some((block, Grant(bytes)));
        }
    }
    allocate_slowly(bytes)
}

/// Give back a buffer, on any thread.
///
/// # Safety
/// 1. `ptr` and `grant` came from one call of [`allocate`], in this process or in the one it was forked from.
/// 2. It has not been released since, and is not used from now on.
#[inline]
unsafe fn release(ptr: NonNull<u8>, grant: Grant) {
    let bytes = grant.0; // If its block is larger than it needs, this is above `SMALL_MAX` in any case.
    if bytes == 0 {
        return;
    }
    if bytes <= SMALL_MAX {
        let class = class_of(bytes);
        // SAFETY: (1) By duty 1 and P1 the block is of this class. (2) By duty 2 the caller owned it and yields it.
        if let Ok(true) = LOCAL.try_with(|local| unsafe { local.keep(class, ptr) }) {
            return;
        }
    }
    // SAFETY: our own duties; `keep` did not take the block.
    unsafe { release_slowly(ptr, grant) }
}

/// Give the cached blocks back to the system: the process-wide ones and those of the calling thread.
///
/// The lists of other threads stay (at most 2 MB per class each); they go when their thread ends.
pub fn empty_cache() {
    SHARED.empty();
    // Fails only while the thread is ending, and then its lists are gone already.
    let _ = LOCAL.try_with(Local::empty);
}

/// Keep at most so many bytes for reuse on the process-wide stacks, beginning with what is there. Returns the limit
/// that there was. At the start, and at most, it is 1 GB, or a tenth of the memory if that is less.
///
/// The lists of threads, of buffers up to 256 KB, are not subject to it.
pub fn set_cache_limit(bytes: usize) -> usize {
    let before = CACHE_LIMIT.swap(bytes, Relaxed).min(shared_limit());
    SHARED.shrink(bytes);
    before
}

static CACHE_LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Count [`MemoryStats::peak_bytes`] anew from the live bytes of now.
pub fn reset_peak() {
    TOTALS.peak.store(memory_stats().live_bytes, Relaxed);
}

/// What the pool holds and has done. Live bytes are at most a quarter above what was requested.
///
/// Exact while no other thread is inside the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in buffers that are allocated and not released.
    pub live_bytes: usize,
    /// The highest `live_bytes` there was, short by at most 1 MB per thread.
    pub peak_bytes: usize,
    /// Bytes in blocks kept for reuse.
    pub cached_bytes: usize,
    /// Bytes by which the blocks of live buffers are larger than blocks of their class.
    pub lent_bytes: usize,
    /// Allocations served from a kept block.
    pub hits: u64,
    /// Allocations that went to the system.
    pub misses: u64,
}

/// Read the counters. Cost grows with the number of threads that ever used the pool at one time.
pub fn memory_stats() -> MemoryStats {
    let mut live = TOTALS.live.load(Relaxed);
    let mut stats = MemoryStats {
        cached_bytes: SHARED.bytes.load(Relaxed),
        lent_bytes: TOTALS.lent.load(Relaxed),
        hits: TOTALS.hits.load(Relaxed),
        misses: TOTALS.misses.load(Relaxed),
        ..MemoryStats::default()
    };
    for record in Record::all() {
        live += record.balance.load(Relaxed);
        stats.cached_bytes += record.cached_bytes();
        stats.hits += record.hits.load(Relaxed);
        stats.misses += record.misses.load(Relaxed);
    }
    // A release counted before the allocation it answers can make the sum negative for a moment.
    stats.live_bytes = usize::try_from(live).unwrap_or(0);
    let before = TOTALS.peak.fetch_max(stats.live_bytes, Relaxed);
    stats.peak_bytes = before.max(stats.live_bytes);
    stats
}

// ---- size classes ----

/// A type with the alignment of a buffer.
#[repr(align(64))]
struct Aligned;

const SMALL_CLASSES: usize = class_of(SMALL_MAX) + 1;
const CLASSES: usize = class_of(SHARED_MAX) + 1;

/// The class of a request of `bytes > 0`: the smallest class whose size holds it.
///
/// In units of 64 bytes the sizes are 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...: with `m = units - 1`, the
/// class is `m`'s three leading bits and its exponent.
#[inline]
const fn class_of(bytes: usize) -> usize {
    let m = (bytes - 1) / ALIGNMENT;
    if m < 8 {
        return m;
    }
    let shift = m.ilog2() as usize - 2;
    4 * shift + (m >> shift)
}

/// Bytes in a block of `class < CLASSES`.
const fn size_of_class(class: usize) -> usize {
    let units = if class < 8 { class + 1 } else { (class % 4 + 5) << (class / 4 - 1) };
    units * ALIGNMENT
}

/// Where a request is served.
enum Route {
    Class(usize),
    /// Beyond what the stacks may hold: a mapping of this many bytes, made and unmade for the one buffer.
    Direct(usize),
}

impl Route {
    /// `None` if no address space holds the bytes, which must not be 0.
    fn of(grant: Grant) -> Option<Self> {
        let bytes = grant.bytes();
        if bytes <= SMALL_MAX {
            return Some(Self::Class(class_of(bytes)));
        }
        // Not above `SHARED_MAX`, so the class is below `CLASSES`.
        let limit = shared_limit();
        if bytes <= limit && size_of_class(class_of(bytes)) <= limit {
            return Some(Self::Class(class_of(bytes) + grant.steps()));
        }
        let size = bytes.checked_next_multiple_of(backing::HUGE)?;
        (size <= isize::MAX as usize).then_some(Self::Direct(size))
    }

    /// Bytes of the block.
    fn size(&self) -> usize {
        match *self {
            Self::Class(class) => size_of_class(class),
            Self::Direct(size) => size,
        }
    }
}

/// The process's limit for `SHARED`: a tenth of the memory, at most `SHARED_MAX`. Computed once.
fn shared_limit() -> usize {
    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    match LIMIT.load(Relaxed) {
        0 => {
            // 0 means "not computed". Of several threads that compute, the first one's answer stays (P1).
            let limit = (backing::memory() / 10).clamp(1, SHARED_MAX);
            match LIMIT.compare_exchange(0, limit, Relaxed, Relaxed) {
                Ok(_) => limit,
                Err(first) => first,
            }
        }
        limit => limit,
    }
}

// ---- the slow paths ----

#[cold]
#[inline(never)]
fn allocate_slowly(bytes: usize) -> Option<(NonNull<u8>, Grant)> {
    if bytes > Grant::BYTES {
        return None;
    }
    let route = Route::of(Grant(bytes))?;
    let size = route.size();
    let cached = match route {
        // The lists of threads, where smaller blocks go when they are released, are for blocks of the very class.
        Route::Class(class) => SHARED.take_near(class, if bytes <= SMALL_MAX { 0 } else { STEPS }),
        Route::Direct(_) => None,
    };
    let hit = cached.is_some();
    let (block, steps) = match cached {
        Some(lent) => lent,
        None => (obtain(size)?, 0),
    };
    let grant = Grant::new(bytes, steps);
    let counted = LOCAL.try_with(|local| {
        let record = local.record()?;
        bump(if hit { &record.hits } else { &record.misses });
        record.add_live(size as isize);
        Some(())
    });
    if !matches!(counted, Ok(Some(()))) {
        let count = if hit { &TOTALS.hits } else { &TOTALS.misses };
        count.fetch_add(1, Relaxed);
        TOTALS.add_live(size as isize);
    }
    if steps > 0 {
        TOTALS.lent.fetch_add(lent(grant), Relaxed);
    }
    Some((block, grant))
}

/// A block from the system, once blocks went back to it that are not needed, or all if it has no memory otherwise.
fn obtain(size: usize) -> Option<NonNull<u8>> {
    let live = TOTALS.live().saturating_add(size);
    SHARED.shrink(kept_beside(live));
    backing::obtain(size).or_else(|| {
        empty_cache();
        backing::obtain(size)
    })
}

/// How many bytes may be kept while `live` bytes are in use.
fn kept_beside(live: usize) -> usize {
    let recent = TOTALS.recent.iter().map(|peak| peak.load(Relaxed)).fold(live, usize::max);
    (recent / 4).saturating_mul(QUARTERS).max(FLOOR).saturating_sub(live).saturating_sub(TOTALS.lent.load(Relaxed))
}

/// By how much the block of a grant is larger than one of the class of its bytes.
fn lent(grant: Grant) -> usize {
    let class = class_of(grant.bytes());
    size_of_class(class + grant.steps()) - size_of_class(class)
}

/// # Safety
/// Those of [`release`], and the grant is not of 0 bytes.
#[cold]
#[inline(never)]
unsafe fn release_slowly(block: NonNull<u8>, grant: Grant) {
    let Some(route) = Route::of(grant) else {
        return; // No such buffer was ever given out.
    };
    let mut size = route.size();
    if grant.steps() > 0 {
        TOTALS.lent.fetch_sub(lent(grant), Relaxed);
        size -= lent(grant);
    }
    let counted = LOCAL.try_with(|local| {
        local.record()?.add_live(-(size as isize));
        Some(())
    });
    if !matches!(counted, Ok(Some(()))) {
        TOTALS.add_live(-(size as isize));
    }
    match route {
        // SAFETY: by P1 the block is of this class, and by duty 2 of `release` it is ours.
        Route::Class(class) => unsafe { SHARED.keep(class, block, shared_limit().min(CACHE_LIMIT.load(Relaxed))) },
        // SAFETY: by P1 it was obtained with this size, and by duty 2 of `release` it is ours.
        Route::Direct(size) => unsafe { backing::give_back(block, size) },
    }
    TOTALS.look_at_the_time(SHARED.ticks.load(Relaxed));
}

// ---- a thread's lists ----

/// The head of a free block: the next one on the list.
struct Link {
    next: Option<NonNull<Link>>,
}

/// How many blocks a thread's list of `class` keeps.
const LIST_LIMIT: [u32; SMALL_CLASSES] = {
    let mut limits = [0; SMALL_CLASSES];
    let mut class = 0;
    while class < SMALL_CLASSES {
        let blocks = LIST_BYTES / size_of_class(class);
        limits[class] = if blocks < LIST_BLOCKS { blocks as u32 } else { LIST_BLOCKS as u32 };
        class += 1;
    }
    limits
};

const SMALL_SIZE: [usize; SMALL_CLASSES] = {
    let mut sizes = [0; SMALL_CLASSES];
    let mut class = 0;
    while class < SMALL_CLASSES {
        sizes[class] = size_of_class(class);
        class += 1;
    }
    sizes
};

struct Local {
    /// Set on the first slow path of the thread; until then it has no lists.
    record: Cell<Option<&'static Record>>,
}

thread_local! {
    static LOCAL: Local = const { Local { record: Cell::new(None) } };
}

impl Local {
    #[inline]
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        let record = self.record.get()?;
        let block = self.pop(record, class)?;
        bump(&record.hits);
        record.add_live(SMALL_SIZE[class] as isize);
        Some(block)
    }

    /// Put a block on its list and count it as released; `false` if the list is full.
    ///
    /// # Safety
    /// 1. The block is of this class, as in P1.
    /// 2. The caller owns it, and yields it if the answer is `true`.
    #[inline]
    unsafe fn keep(&self, class: usize, block: NonNull<u8>) -> bool {
        let Some(record) = self.record.get().or_else(|| self.record()) else {
            return false;
        };
        let count = record.kept[class].load(Relaxed);
        if count >= LIST_LIMIT[class] {
            return false;
        }
        let link = block.cast::<Link>();
        let next = NonNull::new(record.lists[class].load(Relaxed));
        // SAFETY: (1) By P3 the block is large and aligned enough for a `Link`. (2) By duty 2 nobody else uses it.
        unsafe { link.write(Link { next }) };
        record.lists[class].store(link.as_ptr(), Relaxed);
        record.kept[class].store(count + 1, Relaxed);
        record.add_live(-(SMALL_SIZE[class] as isize));
        true
    }

    /// Take a block off its list, without counting it as live.
    #[inline]
    fn pop(&self, record: &Record, class: usize) -> Option<NonNull<u8>> {
        let link = NonNull::new(record.lists[class].load(Relaxed))?;
        // SAFETY: P3, the block is on this thread's list.
        let next = unsafe { link.as_ref().next };
        record.lists[class].store(next.map_or(null_mut(), NonNull::as_ptr), Relaxed);
        let count = &record.kept[class];
        count.store(count.load(Relaxed).wrapping_sub(1), Relaxed);
        Some(link.cast())
    }

    fn empty(&self) {
        let Some(record) = self.record.get() else {
            return;
        };
        for (class, &size) in SMALL_SIZE.iter().enumerate() {
            while let Some(block) = self.pop(record, class) {
                // SAFETY: P1 gives the size; P2, we took it off the list.
                unsafe { backing::give_back(block, size) };
            }
        }
    }

    /// The thread's record, claimed on first use; `None` if there is no memory for one.
    #[cold]
    fn record(&self) -> Option<&'static Record> {
        if self.record.get().is_none() {
            self.record.set(Record::claim());
        }
        self.record.get()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.empty();
        if let Some(record) = self.record.take() {
            record.claimed.store(false, Release);
        }
    }
}

// ---- counters ----

/// The lists and counters of one thread. Only the thread that claimed it writes, so a plain load and store count;
/// others only read the counters. Records are never freed: one goes to another thread, with its counts, when its thread
/// ends.
struct Record {
    claimed: AtomicBool,
    /// The record made before this one; set before the record is published, and constant from then on.
    older: AtomicPtr<Record>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// Bytes allocated less bytes released on this thread, not yet moved to `TOTALS.live`.
    balance: AtomicIsize,
    /// The first block of the thread's list of each class.
    lists: [AtomicPtr<Link>; SMALL_CLASSES],
    /// Blocks on the thread's list of each class.
    kept: [AtomicU32; SMALL_CLASSES],
}

/// The most recently made record.
static NEWEST: AtomicPtr<Record> = AtomicPtr::new(null_mut());

impl Record {
    /// Every record there is, newest first.
    fn all() -> impl Iterator<Item = &'static Record> {
        let mut next = NEWEST.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: a published record was leaked, so it is valid for ever, and only shared references exist.
            let record = unsafe { next.as_ref() }?;
            next = record.older.load(Relaxed);
            Some(record)
        })
    }

    fn claim() -> Option<&'static Record> {
        let free = |record: &&Record| {
            let claim = record.claimed.compare_exchange(false, true, Acquire, Relaxed);
            claim.is_ok()
        };
        if let Some(record) = Self::all().find(free) {
            return Some(record);
        }
        let fresh = backing::obtain(size_of::<Record>())?.cast::<Record>();
        const { assert!(align_of::<Record>() <= ALIGNMENT) };
        // SAFETY: (1) The memory has the size of a record and, by the assertion, its alignment. (2) It is ours alone.
        // (3) It is never given back, so the reference may live for ever.
        let record: &'static Record = unsafe {
            fresh.write(Record {
                claimed: AtomicBool::new(true),
                older: AtomicPtr::new(null_mut()),
                hits: AtomicU64::new(0),
                misses: AtomicU64::new(0),
                balance: AtomicIsize::new(0),
                lists: [const { AtomicPtr::new(null_mut()) }; SMALL_CLASSES],
                kept: [const { AtomicU32::new(0) }; SMALL_CLASSES],
            });
            fresh.as_ref()
        };
        let mut newest = NEWEST.load(Relaxed);
        loop {
            record.older.store(newest, Relaxed);
            // Release publishes the record's contents to the Acquire in `all`.
            match NEWEST.compare_exchange_weak(newest, fresh.as_ptr(), Release, Relaxed) {
                Ok(_) => return Some(record),
                Err(now) => newest = now,
            }
        }
    }

    fn cached_bytes(&self) -> usize {
        let counts = self.kept.iter().zip(SMALL_SIZE);
        counts.map(|(n, size)| n.load(Relaxed) as usize * size).sum()
    }

    #[inline]
    fn add_live(&self, bytes: isize) {
        let balance = self.balance.load(Relaxed) + bytes;
        if balance.unsigned_abs() <= BALANCE_STEP as usize {
            self.balance.store(balance, Relaxed);
        } else {
            self.balance.store(0, Relaxed);
            TOTALS.add_live(balance);
        }
    }
}

/// Add 1 to a counter that only this thread writes.
#[inline]
fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

/// What the threads' records do not hold.
struct Totals {
    live: AtomicIsize,
    peak: AtomicUsize,
    /// The highest `live` since `window` began, and in the window before.
    recent: [AtomicUsize; 2],
    /// When that was, on the clock of `SHARED`.
    window: AtomicU64,
    /// [`MemoryStats::lent_bytes`].
    lent: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

static TOTALS: Totals = Totals::new();

impl Totals {
    const fn new() -> Self {
        Self {
            live: AtomicIsize::new(0),
            peak: AtomicUsize::new(0),
            recent: [const { AtomicUsize::new(0) }; 2],
            window: AtomicU64::new(0),
            lent: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    #[cold]
    fn add_live(&self, bytes: isize) {
        let live = self.live.fetch_add(bytes, Relaxed) + bytes;
        if bytes > 0 {
            let live = usize::try_from(live).unwrap_or(0);
            for peak in [&self.peak, &self.recent[0]] {
                if live > peak.load(Relaxed) {
                    peak.fetch_max(live, Relaxed);
                }
            }
        }
    }

    /// Live bytes, to 1 MB per thread.
    fn live(&self) -> usize {
        usize::try_from(self.live.load(Relaxed)).unwrap_or(0)
    }

    /// Forget the live bytes of long ago, and give back what was kept for them.
    #[inline]
    fn look_at_the_time(&self, now: u64) {
        let began = self.window.load(Relaxed);
        if now.saturating_sub(began) >= WINDOW && self.window.compare_exchange(began, now, Relaxed, Relaxed).is_ok() {
            let live = self.live();
            self.recent[1].store(self.recent[0].swap(live, Relaxed), Relaxed);
            SHARED.shrink(kept_beside(live));
        }
    }
}

// ---- the process-wide stacks ----

static SHARED: SharedStacks = SharedStacks::new();

/// A lock-free stack of blocks per class, last in first out, over nodes that are never freed.
struct SharedStacks {
    stacks: [Head; CLASSES],
    /// When each class was last used, on the clock of `ticks`.
    used: [AtomicU64; CLASSES],
    ticks: AtomicU64,
    /// Nodes that hold no block.
    spare: Head,
    /// Nodes from this one on have never been used, and their pages never touched.
    fresh: AtomicU32,
    nodes: [Node; NODES],
    /// Bytes on the stacks, and of blocks about to be pushed or just popped.
    bytes: AtomicUsize,
}

impl Head {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Node {
    const fn new() -> Self {
        Self { block: AtomicPtr::new(null_mut()), below: AtomicU32::new(0) }
    }
}

impl SharedStacks {
    const fn new() -> Self {
        Self {
            stacks: [const { Head::new() }; CLASSES],
            used: [const { AtomicU64::new(0) }; CLASSES],
            ticks: AtomicU64::new(0),
            spare: Head::new(),
            fresh: AtomicU32::new(0),
            nodes: [const { Node::new() }; NODES],
            bytes: AtomicUsize::new(0),
        }
    }

    /// Take a block of `class`, or else of the smallest class above it that has one, up to `steps` classes above.
    /// Returns with it how many classes it is above.
    fn take_near(&self, class: usize, steps: usize) -> Option<(NonNull<u8>, usize)> {
        (0..=steps.min(CLASSES - 1 - class)).find_map(|step| Some((self.take(class + step)?, step)))
    }

    /// Take the block of `class` that was kept last.
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        if self.stacks[class].is_empty() {
            return None;
        }
        self.touch(class);
        self.pop(class)
    }

    /// Keep a block for reuse, within `limit` bytes at the expense of the classes that were not used for longest; if it
    /// still does not fit, give it back to the system.
    ///
    /// # Safety
    /// 1. The block is of this class, as in P1.
    /// 2. The caller owns it and yields it.
    unsafe fn keep(&self, class: usize, block: NonNull<u8>, limit: usize) {
        let size = size_of_class(class);
        if size >= SHARED_MIN && size <= limit {
            self.touch(class);
            loop {
                // Two threads may both see the last space; the limit is then passed by one block.
                let fits = self.bytes.load(Relaxed).saturating_add(size) <= limit;
                if fits && let Some(node) = self.spare_node() {
                    self.bytes.fetch_add(size, Relaxed);
                    self.nodes[node as usize].block.store(block.as_ptr(), Relaxed);
                    return self.stacks[class].push(&self.nodes, node);
                }
                if !self.evict_but(Some(class)) {
                    break;
                }
            }
        }
        // SAFETY: (1) P1 with duty 1 gives the size. (2) By duty 2 the block is ours.
        unsafe { backing::give_back(block, size) };
    }

    fn empty(&self) {
        for class in 0..CLASSES {
            while self.drop_one(class) {}
        }
    }

    /// Give back blocks, those of the classes that were not used for longest first, until there are at most so many
    /// bytes.
    fn shrink(&self, bytes: usize) {
        while self.bytes.load(Relaxed) > bytes && self.evict_but(None) {}
    }

    /// Free a block of the class unused for longest; `false` if no class has any, but perhaps `class`.
    fn evict_but(&self, class: Option<usize>) -> bool {
        let occupied = |&c: &usize| Some(c) != class && !self.stacks[c].is_empty();
        let oldest = (0..CLASSES).filter(occupied).min_by_key(|&c| self.used[c].load(Relaxed));
        // If another thread emptied that class meanwhile, there is space or the next round finds another.
        oldest.map(|c| self.drop_one(c)).is_some()
    }

    fn drop_one(&self, class: usize) -> bool {
        let Some(block) = self.pop(class) else {
            return false;
        };
        // SAFETY: P1 gives the size; P2, we took it off its stack.
        unsafe { backing::give_back(block, size_of_class(class)) };
        true
    }

    fn pop(&self, class: usize) -> Option<NonNull<u8>> {
        let node = self.stacks[class].pop(&self.nodes)?;
        let block = self.nodes[node as usize].block.load(Relaxed);
        self.spare.push(&self.nodes, node);
        self.bytes.fetch_sub(size_of_class(class), Relaxed);
        NonNull::new(block)
    }

    fn spare_node(&self) -> Option<u32> {
        self.spare.pop(&self.nodes).or_else(|| {
            let next = |fresh: u32| ((fresh as usize) < NODES).then_some(fresh + 1);
            self.fresh.fetch_update(Relaxed, Relaxed, next).ok()
        })
    }

    fn touch(&self, class: usize) {
        let now = self.ticks.fetch_add(1, Relaxed);
        self.used[class].store(now, Relaxed);
    }
}

// ---- the system ----

mod backing;
mod stack;

#[cfg(test)]
mod tests;
