//! The memory pool: buffers that were released are handed out again, still mapped and often still in cache.
//!
//! Writing 40 MB costs 10.8 ms in fresh 4 KB pages and 1.35 ms in a reused block; an allocator that unmaps large
//! blocks spends most of an elementwise op on page faults. Sizes are rounded up to classes, four to the octave:
//!
//! - up to 256 KB, a free list per class on each thread (a few nanoseconds, no atomic read-modify-write);
//! - above, and for what overflows a thread's list of blocks from 4 KB up, one process-wide stack per class,
//!   under a limit in bytes. Blocks from 2 MB up are mapped on 2 MB bounds and advised to use huge pages;
//! - a block larger than that limit is mapped for its one use.
//!
//! Nothing here takes a lock, so the pool stays usable in a forked child whatever other threads were doing; the
//! blocks on their lists, and one that was on its way to or from a stack, are lost to the child.
//!
//! The invariants that the unsafe blocks cite:
//!
//! - P1. A block of class `c` was obtained by `backing::obtain(size_of_class(c))`. `Route::of` computes class or
//!   direct size from the requested bytes alone, and its answer never changes within a process.
//! - P2. A block is in one place at a time: with a caller, on one thread's list, or in one node of a stack.
//!   Whoever takes it out of a place owns it.
//! - P3. A block on a thread's list starts with a `Link`, valid until the block is taken off; every block has at
//!   least 64 bytes, aligned to 64.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

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
/// Blocks that the process-wide stacks can hold; their nodes take 16 bytes each.
const NODES: usize = 1 << 14;
/// A thread reports its balance of live bytes when it has moved by this much.
const BALANCE_STEP: isize = 1 << 20;

/// Take a buffer of at least `bytes` bytes, aligned to [`ALIGNMENT`] and uninitialised.
///
/// `None` means that the memory is exhausted, after every cached block within reach was given back. Zero bytes
/// give a dangling aligned pointer.
#[inline]
pub fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    if bytes == 0 {
        return Some(NonNull::<Aligned>::dangling().cast());
    }
    if bytes <= SMALL_MAX {
        let class = class_of(bytes);
        // Fails only while the thread is ending.
        if let Ok(Some(block)) = LOCAL.try_with(|local| local.take(class)) {
            return Some(block);
        }
    }
    allocate_slowly(bytes)
}

/// Give back a buffer, on any thread.
///
/// # Safety
/// 1. `ptr` came from [`allocate`] called with the same `bytes`, in this process or in the one it was forked from.
/// 2. It has not been released since, and is not used from now on.
#[inline]
pub unsafe fn release(ptr: NonNull<u8>, bytes: usize) {
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
    // SAFETY: our own duties, handed on; `keep` did not take the block.
    unsafe { release_slowly(ptr, bytes) }
}

/// Give the cached blocks back to the system: the process-wide ones and those of the calling thread.
///
/// The lists of other threads stay (at most 2 MB per class each); they go when their thread ends.
pub fn empty_cache() {
    SHARED.empty();
    // Fails only while the thread is ending, and then its lists are gone already.
    let _ = LOCAL.try_with(Local::empty);
}

/// What the pool holds and has done. Bytes are those of whole blocks, at most a quarter above what was asked for.
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

/// Anything with the alignment of a buffer.
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
    /// `None` if no address space holds `bytes`. `bytes` must not be 0.
    fn of(bytes: usize) -> Option<Self> {
        if bytes <= SMALL_MAX {
            return Some(Self::Class(class_of(bytes)));
        }
        // Not above `SHARED_MAX`, so the class is below `CLASSES`.
        let limit = shared_limit();
        if bytes <= limit && size_of_class(class_of(bytes)) <= limit {
            return Some(Self::Class(class_of(bytes)));
        }
        let size = bytes.checked_next_multiple_of(backing::HUGE)?;
        (size <= isize::MAX as usize).then_some(Self::Direct(size))
    }
}

/// The process's limit for `SHARED`: a tenth of the memory, at most `SHARED_MAX`. Computed once.
fn shared_limit() -> usize {
    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    match LIMIT.load(Relaxed) {
        0 => {
            // 0 stands for "not computed". Of several threads that compute, the first one's answer stays (P1).
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
fn allocate_slowly(bytes: usize) -> Option<NonNull<u8>> {
    let route = Route::of(bytes)?;
    let (size, cached) = match route {
        Route::Class(class) => (size_of_class(class), SHARED.take(class)),
        Route::Direct(size) => (size, None),
    };
    let hit = cached.is_some();
    let block = cached.or_else(|| backing::obtain(size)).or_else(|| {
        empty_cache();
        backing::obtain(size)
    })?;
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
    Some(block)
}

/// # Safety
/// Those of [`release`], and `bytes > 0`.
#[cold]
#[inline(never)]
unsafe fn release_slowly(block: NonNull<u8>, bytes: usize) {
    let Some(route) = Route::of(bytes) else {
        return; // No such buffer was ever given out.
    };
    let size = match route {
        Route::Class(class) => size_of_class(class),
        Route::Direct(size) => size,
    };
    let counted = LOCAL.try_with(|local| {
        local.record()?.add_live(-(size as isize));
        Some(())
    });
    if !matches!(counted, Ok(Some(()))) {
        TOTALS.add_live(-(size as isize));
    }
    match route {
        // SAFETY: by P1 the block is of this class, and by duty 2 of `release` it is ours.
        Route::Class(class) => unsafe { SHARED.keep(class, block, shared_limit()) },
        // SAFETY: by P1 it was obtained with this size, and by duty 2 of `release` it is ours.
        Route::Direct(size) => unsafe { backing::give_back(block, size) },
    }
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
    lists: [Cell<Option<NonNull<Link>>>; SMALL_CLASSES],
    /// Set on the first slow path of the thread; until then the lists are empty.
    record: Cell<Option<&'static Record>>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            lists: [const { Cell::new(None) }; SMALL_CLASSES],
            record: Cell::new(None),
        }
    };
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
        let next = self.lists[class].get();
        // SAFETY: (1) By P3 the block is large and aligned enough for a `Link`. (2) By duty 2 nobody else uses it.
        unsafe { link.write(Link { next }) };
        self.lists[class].set(Some(link));
        record.kept[class].store(count + 1, Relaxed);
        record.add_live(-(SMALL_SIZE[class] as isize));
        true
    }

    /// Take a block off its list, without counting it as live.
    #[inline]
    fn pop(&self, record: &Record, class: usize) -> Option<NonNull<u8>> {
        let link = self.lists[class].get()?;
        // SAFETY: P3, the block is on this thread's list.
        let next = unsafe { link.as_ref().next };
        self.lists[class].set(next);
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

/// The counters of one thread. Only the thread that claimed it writes, so a plain load and store count; others
/// only read. Records are never freed: one is handed on, counts and all, when its thread ends.
struct Record {
    claimed: AtomicBool,
    /// The record made before this one; set before the record is published, and constant from then on.
    older: AtomicPtr<Record>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// Bytes allocated less bytes released on this thread, not yet moved to `TOTALS.live`.
    balance: AtomicIsize,
    /// Blocks on the thread's list of each class.
    kept: [AtomicU32; SMALL_CLASSES],
}

/// The most recently made record.
static NEWEST: AtomicPtr<Record> = AtomicPtr::new(std::ptr::null_mut());

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
                older: AtomicPtr::new(std::ptr::null_mut()),
                hits: AtomicU64::new(0),
                misses: AtomicU64::new(0),
                balance: AtomicIsize::new(0),
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
    hits: AtomicU64,
    misses: AtomicU64,
}

static TOTALS: Totals =
    Totals { live: AtomicIsize::new(0), peak: AtomicUsize::new(0), hits: AtomicU64::new(0), misses: AtomicU64::new(0) };

impl Totals {
    #[cold]
    fn add_live(&self, bytes: isize) {
        let live = self.live.fetch_add(bytes, Relaxed) + bytes;
        if bytes > 0 {
            self.peak.fetch_max(usize::try_from(live).unwrap_or(0), Relaxed);
        }
    }
}

// ---- the process-wide stacks ----

static SHARED: Shared = Shared::new();

/// A lock-free stack of blocks per class, last in first out.
///
/// The links live in `nodes`, which is never freed, and not in the blocks: a thread that was overtaken between
/// reading a head and replacing it reads a stale link, never unmapped memory, and the head's tag makes it try
/// again. (The tag has 32 bits; being fooled takes a stall of exactly a multiple of 2^32 operations.)
struct Shared {
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

struct Node {
    block: AtomicPtr<u8>,
    /// The node below, plus 1; 0 for none.
    below: AtomicU32,
}

/// The top node plus 1 (0 for none) in the low half, a tag in the high half that changes with each operation.
struct Head(AtomicU64);

impl Head {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn is_empty(&self) -> bool {
        self.0.load(Relaxed) as u32 == 0
    }

    fn push(&self, nodes: &[Node], node: u32) {
        let mut head = self.0.load(Relaxed);
        loop {
            nodes[node as usize].below.store(head as u32, Relaxed);
            // Release publishes `below` and the node's block to the Acquire in `pop`.
            let new = Self::next_tag(head) | u64::from(node + 1);
            match self.0.compare_exchange_weak(head, new, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn pop(&self, nodes: &[Node]) -> Option<u32> {
        let mut head = self.0.load(Acquire);
        loop {
            let node = (head as u32).checked_sub(1)?;
            // Stale if another thread was faster, and then the exchange fails.
            let below = nodes[node as usize].below.load(Relaxed);
            let new = Self::next_tag(head) | u64::from(below);
            // Acquire suffices for the nodes below too: heads change by exchanges alone, which continue the release
            // sequence of every earlier push.
            match self.0.compare_exchange_weak(head, new, Acquire, Acquire) {
                Ok(_) => return Some(node),
                Err(now) => head = now,
            }
        }
    }

    fn next_tag(head: u64) -> u64 {
        ((head >> 32).wrapping_add(1)) << 32
    }
}

impl Shared {
    const fn new() -> Self {
        Self {
            stacks: [const { Head::new() }; CLASSES],
            used: [const { AtomicU64::new(0) }; CLASSES],
            ticks: AtomicU64::new(0),
            spare: Head::new(),
            fresh: AtomicU32::new(0),
            nodes: [const { Node { block: AtomicPtr::new(std::ptr::null_mut()), below: AtomicU32::new(0) } }; NODES],
            bytes: AtomicUsize::new(0),
        }
    }

    /// Take the block of `class` that was kept last.
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        if self.stacks[class].is_empty() {
            return None;
        }
        self.touch(class);
        self.pop(class)
    }

    /// Keep a block for reuse, within `limit` bytes at the expense of the classes that were not used for longest;
    /// if it does not fit even so, give it back to the system.
    ///
    /// # Safety
    /// 1. The block is of this class, as in P1.
    /// 2. The caller owns it and yields it.
    unsafe fn keep(&self, class: usize, block: NonNull<u8>, limit: usize) {
        let size = size_of_class(class);
        if size >= SHARED_MIN && size <= limit {
            self.touch(class);
            loop {
                // Two threads may both see the last room; the limit is then passed by one block.
                let room = self.bytes.load(Relaxed).saturating_add(size) <= limit;
                if room && let Some(node) = self.spare_node() {
                    self.bytes.fetch_add(size, Relaxed);
                    self.nodes[node as usize].block.store(block.as_ptr(), Relaxed);
                    return self.stacks[class].push(&self.nodes, node);
                }
                if !self.evict_other_than(class) {
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

    /// Free a block of the class unused for longest; `false` if only `class` has any.
    fn evict_other_than(&self, class: usize) -> bool {
        let occupied = |&c: &usize| c != class && !self.stacks[c].is_empty();
        let oldest = (0..CLASSES).filter(occupied).min_by_key(|&c| self.used[c].load(Relaxed));
        // If another thread emptied that class meanwhile, there is room or the next round finds another.
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

mod backing {
    use super::ALIGNMENT;
    use std::alloc::Layout;
    use std::ptr::NonNull;

    /// The size of a huge page, and from which size on blocks are mapped.
    pub const HUGE: usize = 2 << 20;

    /// Fresh memory, aligned to `ALIGNMENT`, to `HUGE` if it is that large. `size` must not be 0.
    pub fn obtain(size: usize) -> Option<NonNull<u8>> {
        #[cfg(target_os = "linux")]
        if size >= HUGE {
            return linux::map(size);
        }
        let layout = Layout::from_size_align(size, ALIGNMENT).ok()?;
        assert!(size > 0, "the pool obtains no empty block");
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { std::alloc::alloc(layout) })
    }

    /// # Safety
    /// 1. `block` was obtained by [`obtain`] with this `size`.
    /// 2. It is not used from now on.
    pub unsafe fn give_back(block: NonNull<u8>, size: usize) {
        #[cfg(target_os = "linux")]
        if size >= HUGE {
            // SAFETY: by duties 1 and 2 this is a whole mapping of ours, no longer used.
            return unsafe { linux::unmap(block.as_ptr(), size) };
        }
        // SAFETY: `obtain` made this layout, so it is valid.
        let layout = unsafe { Layout::from_size_align_unchecked(size, ALIGNMENT) };
        // SAFETY: by duty 1 the block was allocated with this layout; duty 2.
        unsafe { std::alloc::dealloc(block.as_ptr(), layout) };
    }

    /// The memory this process may use, in bytes.
    #[cfg(not(target_os = "linux"))]
    pub fn memory() -> usize {
        usize::MAX
    }

    #[cfg(target_os = "linux")]
    pub use linux::memory;

    #[cfg(target_os = "linux")]
    mod linux {
        use super::HUGE;
        use std::ptr::{NonNull, null_mut};

        /// Map `size` bytes at a multiple of `HUGE`, advised to use huge pages.
        pub fn map(size: usize) -> Option<NonNull<u8>> {
            // Recent kernels align a large mapping themselves.
            let mut start = map_anywhere(size)?;
            if start.align_offset(HUGE) != 0 {
                // SAFETY: just mapped with this size, and nobody knows of it.
                unsafe { unmap(start, size) };
                // Map more, and keep the aligned part.
                let slack = HUGE;
                start = map_anywhere(size.checked_add(slack)?)?;
                let head = start.align_offset(HUGE);
                // SAFETY: (1) `head` is below `HUGE`, so all three parts lie in the mapping. (2) Nobody knows of it, and
                // only the part from `head`, `size` long, stays in use.
                start = unsafe {
                    let kept = start.add(head);
                    unmap(start, head);
                    unmap(kept.add(size), slack - head);
                    kept
                };
            }
            // SAFETY: the range is a mapping of ours. Without huge pages the advice fails and nothing is lost.
            unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
            NonNull::new(start)
        }

        fn map_anywhere(size: usize) -> Option<*mut u8> {
            // SAFETY: a private anonymous mapping at an address of the kernel's choice touches no memory in use.
            let start = unsafe {
                libc::mmap(
                    null_mut(),
                    size,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            (start != libc::MAP_FAILED).then_some(start.cast())
        }

        /// # Safety
        /// 1. The range is empty, or whole pages mapped by [`map_anywhere`].
        /// 2. It is not used from now on.
        pub unsafe fn unmap(start: *mut u8, size: usize) {
            if size > 0 {
                // Can fail only when splitting a mapping passes the limit on their number; the pages then stay mapped.
                // SAFETY: the duties of this function.
                unsafe { libc::munmap(start.cast(), size) };
            }
        }

        /// The memory this process may use: the machine's, or its control group's limit if that is less.
        pub fn memory() -> usize {
            // SAFETY: `sysconf` only reads its argument.
            let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
            let pages = usize::try_from(pages).unwrap_or(usize::MAX);
            let page = usize::try_from(page).unwrap_or(1);
            let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
            let limits = limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
            limits.fold(pages.saturating_mul(page), usize::min)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held by the test that forks and by the one that counts page faults: a fork makes the parent's pages
    /// copy-on-write, and its next write to each of them faults.
    #[cfg(target_os = "linux")]
    static FORKING: std::sync::Mutex<()> = std::sync::Mutex::new(());

    /// A buffer that is released at the end, so that a failed assertion leaks nothing.
    struct Buffer(NonNull<u8>, usize);

    // SAFETY: a buffer is memory that one owner at a time uses; the pool lets any thread release it.
    unsafe impl Send for Buffer {}

    impl Buffer {
        fn new(bytes: usize) -> Self {
            Self(allocate(bytes).expect("there is memory"), bytes)
        }

        fn address(&self) -> usize {
            self.0.as_ptr() as usize
        }

        fn fill(&self, byte: u8) {
            // SAFETY: the buffer is ours, and has at least this many bytes.
            unsafe { self.0.as_ptr().write_bytes(byte, self.1) }
        }

        fn holds(&self, byte: u8) -> bool {
            // SAFETY: as in `fill`, which the tests call first.
            let bytes = unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.1) };
            bytes.iter().all(|&b| b == byte)
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            // SAFETY: (1) `new` allocated the buffer with these bytes. (2) It is dropped once.
            unsafe { release(self.0, self.1) }
        }
    }

    fn new_block(class: usize) -> NonNull<u8> {
        backing::obtain(size_of_class(class)).expect("there is memory")
    }

    #[test]
    fn a_class_is_the_smallest_that_holds_the_request() {
        for class in 0..CLASSES {
            let size = size_of_class(class);
            assert_eq!(class_of(size), class);
            assert_eq!(class_of(size + 1), class + 1);
            assert!(size.is_multiple_of(ALIGNMENT));
        }
        for bytes in 1..=SMALL_MAX {
            let size = size_of_class(class_of(bytes));
            assert!(bytes <= size && size - bytes < ALIGNMENT + bytes / 4);
        }
        assert_eq!(size_of_class(SMALL_CLASSES - 1), SMALL_MAX);
        assert_eq!(size_of_class(CLASSES - 1), SHARED_MAX);
    }

    #[test]
    fn buffers_are_aligned_and_apart() {
        let mut sizes = vec![0, 1, 63, 64, 65, 1000, 4096, SMALL_MAX, SMALL_MAX + 1];
        sizes.extend([backing::HUGE - 1, backing::HUGE, 3 * backing::HUGE / 2 + 1]);
        let buffers: Vec<Buffer> = sizes.iter().map(|&n| Buffer::new(n)).collect();
        for (tag, buffer) in buffers.iter().enumerate() {
            assert!(buffer.address().is_multiple_of(ALIGNMENT));
            buffer.fill(tag as u8);
        }
        for (tag, buffer) in buffers.iter().enumerate() {
            assert!(buffer.holds(tag as u8), "{} bytes", buffer.1);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn mapped_blocks_start_on_a_huge_page() {
        for class in (class_of(backing::HUGE)..).step_by(3).take(6) {
            let block = new_block(class);
            assert!(block.addr().get().is_multiple_of(backing::HUGE));
            // SAFETY: just obtained with this size.
            unsafe { backing::give_back(block, size_of_class(class)) };
        }
    }

    #[test]
    fn a_small_buffer_is_reused_last_in_first_out() {
        let (first, second) = (Buffer::new(500), Buffer::new(480)); // One class: 449 to 512 bytes.
        let addresses = [second.address(), first.address()];
        drop(first);
        drop(second);
        let (again, older) = (Buffer::new(512), Buffer::new(450));
        assert_eq!([again.address(), older.address()], addresses);
    }

    #[test]
    fn a_thread_list_is_bounded() {
        let bytes = 1500;
        let class = class_of(bytes);
        let limit = LIST_LIMIT[class];
        let buffers: Vec<Buffer> = (0..2 * limit).map(|_| Buffer::new(bytes)).collect();
        drop(buffers);
        let kept = LOCAL.with(|local| local.record().expect("claimed").kept[class].load(Relaxed));
        assert_eq!(kept, limit);
    }

    #[test]
    fn buffers_may_be_released_on_another_thread() {
        for bytes in [0, 100, 100_000, 1 << 20, 5 << 20] {
            let buffers: Vec<Buffer> = (0..20).map(|_| Buffer::new(bytes)).collect();
            for buffer in &buffers {
                buffer.fill(7);
            }
            let check = move || assert!(buffers.iter().all(|b| b.holds(7)));
            std::thread::spawn(check).join().expect("released there");
        }
    }

    #[test]
    fn buffers_may_be_released_while_a_thread_ends() {
        thread_local! {
            static LATE: Cell<Option<Buffer>> = const { Cell::new(None) };
            static EARLY: Cell<Option<Buffer>> = const { Cell::new(None) };
        }
        let work = || {
            // One is registered for destruction before the pool's lists, one after: either order is met.
            LATE.with(|_| {});
            drop(Buffer::new(100));
            EARLY.with(|slot| slot.set(Some(Buffer::new(200))));
            LATE.with(|slot| slot.set(Some(Buffer::new(300))));
        };
        std::thread::spawn(work).join().expect("ended in peace");
    }

    #[test]
    fn threads_hand_buffers_around() {
        let hand = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for seed in 1..=4_usize {
                let hand = &hand;
                scope.spawn(move || {
                    let mut state = seed;
                    for round in 0..500 {
                        // A linear congruential generator; its high bits choose size and partner.
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                        let bytes = [40, 5000, 200_000, 300_000][(state >> 33) % 4] + round;
                        let mine = Buffer::new(bytes);
                        mine.fill(seed as u8);
                        let theirs = {
                            let mut hand = hand.lock().expect("no panic");
                            hand.push((mine, seed as u8));
                            let at = (state >> 40) % hand.len();
                            (hand.len() > 30).then(|| hand.swap_remove(at))
                        };
                        if let Some((buffer, byte)) = theirs {
                            assert!(buffer.holds(byte));
                        }
                    }
                });
            }
        });
        assert!(hand.into_inner().is_ok_and(|h| h.iter().all(|(b, byte)| b.holds(*byte))));
    }

    #[test]
    fn exhausted_memory_is_none() {
        for bytes in [usize::MAX, usize::MAX - 63, isize::MAX as usize, 1 << 62, 1 << 50] {
            assert_eq!(allocate(bytes), None, "{bytes} bytes");
        }
        assert!(Buffer::new(100).address() != 0);
    }

    #[test]
    fn a_buffer_beyond_the_limit_is_mapped_directly() {
        let Some(Route::Direct(size)) = Route::of(shared_limit() + 1) else {
            panic!("the limit is the largest class");
        };
        assert!(size > shared_limit() && size.is_multiple_of(backing::HUGE));
        let buffer = Buffer::new(shared_limit() + 1);
        // SAFETY: the buffer has this byte. Only its page is touched.
        unsafe { buffer.0.as_ptr().add(shared_limit()).write(1) };
    }

    #[test]
    fn the_stacks_evict_what_was_unused_for_longest() {
        static STACKS: Shared = Shared::new();
        let [old, middle, new] = [512 << 10, 448 << 10, 320 << 10].map(class_of);
        let sizes = [old, middle, new].map(size_of_class);
        let limit: usize = sizes.iter().sum();
        let keep = |class| {
            // SAFETY: (1) The block was obtained with the class's size. (2) It is passed on at once.
            unsafe { STACKS.keep(class, new_block(class), limit) }
        };
        [old, middle, new].into_iter().for_each(keep);
        assert_eq!(STACKS.bytes.load(Relaxed), limit);
        keep(middle); // Makes room by freeing `old`.
        assert_eq!(STACKS.bytes.load(Relaxed), limit - sizes[0] + sizes[1]);
        assert_eq!(STACKS.take(old), None);
        keep(class_of(3 << 10)); // Too small for the stacks.
        assert_eq!(STACKS.bytes.load(Relaxed), limit - sizes[0] + sizes[1]);
        keep(class_of(limit + 1)); // Its class is above the limit, so nothing is freed for it in vain.
        assert_eq!(STACKS.bytes.load(Relaxed), limit - sizes[0] + sizes[1]);
        let large = class_of(limit - sizes[0]);
        keep(large); // Frees `new`, the oldest by now, and since that is too little one of `middle`.
        assert_eq!(STACKS.bytes.load(Relaxed), size_of_class(large) + sizes[1]);
        STACKS.empty();
        assert_eq!(STACKS.bytes.load(Relaxed), 0);
        assert!((0..CLASSES).all(|c| STACKS.take(c).is_none()));
    }

    #[test]
    fn the_stacks_hold_when_threads_race() {
        static STACKS: Shared = Shared::new();
        let class = class_of(SHARED_MIN);
        let race = || {
            for round in 0..20_000_u64 {
                let block = STACKS.take(class).unwrap_or_else(|| new_block(class));
                let cell = block.cast::<u64>();
                // SAFETY: the block is ours until `keep`. Were it another's too, the value would change between.
                let read = unsafe {
                    cell.write_volatile(round);
                    std::hint::spin_loop();
                    cell.read_volatile()
                };
                assert_eq!(read, round);
                // SAFETY: (1) Its class, either way. (2) Not used any more.
                unsafe { STACKS.keep(class, block, 5 * SHARED_MIN) };
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(race);
            }
        });
        assert!(STACKS.bytes.load(Relaxed) <= 7 * SHARED_MIN); // The limit, and a block for each rival.
        STACKS.empty();
        assert_eq!(STACKS.bytes.load(Relaxed), 0);
    }

    #[test]
    fn counters_follow_the_buffers() {
        // A thread of its own, whose record nobody else writes.
        let work = || {
            let record = LOCAL.with(Local::record).expect("claimed");
            let read = || {
                let counts = (record.hits.load(Relaxed), record.misses.load(Relaxed));
                (counts.0 + counts.1, record.balance.load(Relaxed), record.cached_bytes())
            };
            let before = read();
            assert_eq!(before.2, 0);
            let buffers: Vec<Buffer> = (1..=10).map(|n| Buffer::new(1000 * n)).collect();
            let size: usize = buffers.iter().map(|b| size_of_class(class_of(b.1))).sum();
            assert_eq!(read(), (before.0 + 10, before.1 + size as isize, 0));
            drop(buffers);
            assert_eq!(read(), (before.0 + 10, before.1, size));
            let hits = record.hits.load(Relaxed);
            drop(Buffer::new(1000));
            assert_eq!(record.hits.load(Relaxed), hits + 1);
            empty_cache();
            assert_eq!(read(), (before.0 + 11, before.1, 0));
        };
        std::thread::spawn(work).join().expect("counted");
    }

    #[test]
    fn stats_include_what_is_held() {
        // Other tests run beside this one, so the process-wide figures have bounds on one side only.
        let held = Buffer::new(64 << 20);
        let stats = memory_stats();
        assert!(stats.live_bytes >= held.1, "{stats:?}");
        assert!(stats.peak_bytes >= stats.live_bytes, "{stats:?}");
        assert!(stats.hits + stats.misses > 0, "{stats:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_reused_block_has_no_page_faults() {
        static STACKS: Shared = Shared::new(); // Its own, which no other test empties.
        fn faults() -> i64 {
            // SAFETY: all zeros are a valid `rusage`, which the call overwrites.
            unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
                usage.ru_minflt
            }
        }
        let _no_fork = FORKING.lock();
        let bytes = 40_000_000;
        let class = class_of(bytes);
        let round = || {
            let block = STACKS.take(class).unwrap_or_else(|| new_block(class));
            // SAFETY: the block is ours, and its class holds `bytes`.
            unsafe { block.as_ptr().write_bytes(1, bytes) };
            // SAFETY: (1) Its class, either way. (2) Not used any more.
            unsafe { STACKS.keep(class, block, SHARED_MAX) };
        };
        // The first time warms up the block, and the code of the measurement itself.
        let [_, counted] = [(); 2].map(|()| {
            let before = faults();
            (0..3).for_each(|_| round());
            faults() - before
        });
        assert_eq!(counted, 0);
        STACKS.empty();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_forked_child_uses_the_pool() {
        let _forking = FORKING.lock();
        let stop = AtomicBool::new(false);
        let churn = || {
            while !stop.load(Relaxed) {
                for bytes in [100, 10_000, 300_000, 3 << 20] {
                    drop(Buffer::new(bytes));
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(churn);
            for _ in 0..20 {
                // SAFETY: the child of this many-threaded process only uses the pool and the system allocator, whose
                // locks the C library takes care of, and leaves by `_exit`. The alarm ends it should it hang.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    // SAFETY: sets a timer.
                    unsafe { libc::alarm(20) };
                    let fine = [100, 10_000, 300_000, 3 << 20, 100].iter().all(|&bytes| {
                        let buffer = Buffer::new(bytes);
                        buffer.fill(9);
                        buffer.holds(9)
                    });
                    empty_cache();
                    // SAFETY: ends the child without running the parent's exit handlers.
                    unsafe { libc::_exit(i32::from(!fine)) };
                }
                let mut status = -1;
                // SAFETY: `status` is ours to write.
                let ended = unsafe { libc::waitpid(child, &mut status, 0) };
                assert!(ended == child && status == 0, "child {child}: {status:#x}");
            }
            stop.store(true, Relaxed);
        });
    }
}
