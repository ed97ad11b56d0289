//! Tests of the pool.

use super::*;

/// Held by the test that forks and by the one that counts page faults: a fork makes the parent's pages
/// copy-on-write, and its next write to each of them faults.
#[cfg(all(target_os = "linux", not(miri)))]
static FORKING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A buffer that is released at the end, so that a failed assertion leaks nothing.
struct Buffer(NonNull<u8>, Grant);

// SAFETY: a buffer is memory that one owner at a time uses; the pool lets any thread release it.
unsafe impl Send for Buffer {}

impl Buffer {
    fn new(bytes: usize) -> Self {
        let (block, grant) = allocate(bytes).expect("there is memory");
        Self(block, grant)
    }

    fn bytes(&self) -> usize {
        self.1.bytes()
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    fn fill(&self, byte: u8) {
        // SAFETY: the buffer is ours, and has at least this many bytes.
        unsafe { self.0.as_ptr().write_bytes(byte, self.bytes()) }
    }

    fn holds(&self, byte: u8) -> bool {
        // SAFETY: as in `fill`, which the tests call first.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.bytes()) };
        bytes.iter().step_by(if cfg!(miri) { 4093 } else { 1 }).all(|&b| b == byte)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: (1) `new` allocated the buffer with this grant. (2) It is dropped once.
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
    for bytes in (1..=SMALL_MAX).step_by(if cfg!(miri) { 1021 } else { 1 }) {
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
        assert!(buffer.holds(tag as u8), "{} bytes", buffer.bytes());
    }
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
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
    let bytes = if cfg!(miri) { 100_000 } else { 1500 };
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
        let buffers: Vec<Buffer> = (0..if cfg!(miri) { 2 } else { 20 }).map(|_| Buffer::new(bytes)).collect();
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
                for round in 0..if cfg!(miri) { 40 } else { 500 } {
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
#[cfg_attr(miri, ignore = "Miri ends where memory does")]
fn exhausted_memory_is_none() {
    for bytes in [usize::MAX, usize::MAX - 63, isize::MAX as usize, 1 << 62, 1 << 50] {
        assert_eq!(allocate(bytes), None, "{bytes} bytes");
    }
    assert!(Buffer::new(100).address() != 0);
}

#[test]
fn a_buffer_beyond_the_limit_is_mapped_directly() {
    let Some(Route::Direct(size)) = Route::of(Grant(shared_limit() + 1)) else {
        panic!("the limit is the largest class");
    };
    assert!(size > shared_limit() && size.is_multiple_of(backing::HUGE));
    let buffer = Buffer::new(shared_limit() + 1);
    // SAFETY: the buffer has this byte. Only its page is touched.
    unsafe { buffer.0.as_ptr().add(shared_limit()).write(1) };
}

#[test]
fn the_stacks_evict_what_was_unused_for_longest() {
    static STACKS: SharedStacks = SharedStacks::new();
    let [old, middle, new] = [512 << 10, 448 << 10, 320 << 10].map(class_of);
    let sizes = [old, middle, new].map(size_of_class);
    let limit: usize = sizes.iter().sum();
    let keep = |class| {
        // SAFETY: (1) The block was obtained with the class's size. (2) It is passed on at once.
        unsafe { STACKS.keep(class, new_block(class), limit) }
    };
    [old, middle, new].into_iter().for_each(keep);
    assert_eq!(STACKS.bytes.load(Relaxed), limit);
    keep(middle); // Makes space by freeing `old`.
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
fn a_grant_tells_the_block() {
    for bytes in [SMALL_MAX + 1, 1 << 20, (10 << 20) + 1] {
        for steps in 0..=STEPS {
            let grant = Grant::new(bytes, steps);
            assert_eq!((grant.bytes(), grant.steps()), (bytes, steps));
            let class = class_of(bytes) + steps;
            assert!(matches!(Route::of(grant), Some(Route::Class(c)) if c == class));
            assert_eq!(lent(grant), size_of_class(class) - size_of_class(class_of(bytes)));
            assert!(size_of_class(class) < 2 * bytes);
        }
    }
}

#[test]
fn the_stacks_lend_a_block_of_a_class_above() {
    static STACKS: SharedStacks = SharedStacks::new();
    let class = class_of(400 << 10);
    let keep = |class, block| {
        // SAFETY: (1) Its class, below. (2) It is passed on at once.
        unsafe { STACKS.keep(class, block, 16 << 20) }
    };
    let block = new_block(class + 2);
    keep(class + 2, block);
    assert_eq!(STACKS.take_near(class, 1), None);
    assert_eq!(STACKS.take_near(class + 3, STEPS), None);
    assert_eq!(STACKS.take_near(class, STEPS), Some((block, 2)));
    assert_eq!(STACKS.take_near(CLASSES - 1, STEPS), None);
    // The nearest first.
    let own = new_block(class);
    keep(class + 2, block);
    keep(class, own);
    assert_eq!(STACKS.take_near(class, STEPS), Some((own, 0)));
    keep(class, own);
    STACKS.empty();
}

#[test]
fn shrinking_gives_back_what_was_unused_for_longest() {
    static STACKS: SharedStacks = SharedStacks::new();
    let classes = [512 << 10, 448 << 10, 320 << 10].map(class_of);
    for class in classes {
        // SAFETY: (1) The block was obtained with the class's size. (2) It is passed on at once.
        unsafe { STACKS.keep(class, new_block(class), 16 << 20) };
    }
    let sizes = classes.map(size_of_class);
    let all: usize = sizes.iter().sum();
    STACKS.shrink(all);
    assert_eq!(STACKS.bytes.load(Relaxed), all);
    STACKS.shrink(all - 1);
    assert_eq!(STACKS.bytes.load(Relaxed), all - sizes[0]);
    STACKS.shrink(sizes[2]);
    assert_eq!(STACKS.bytes.load(Relaxed), sizes[2]);
    STACKS.shrink(0);
    assert_eq!(STACKS.bytes.load(Relaxed), 0);
}

#[test]
fn the_stacks_hold_when_threads_race() {
    static STACKS: SharedStacks = SharedStacks::new();
    let class = class_of(SHARED_MIN);
    let race = || {
        for round in 0..if cfg!(miri) { 100 } else { 20_000_u64 } {
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
    // A separate thread, whose record no other thread writes.
    let work = || {
        let record = LOCAL.with(Local::record).expect("claimed");
        let read = || {
            let counts = (record.hits.load(Relaxed), record.misses.load(Relaxed));
            (counts.0 + counts.1, record.balance.load(Relaxed), record.cached_bytes())
        };
        let before = read();
        assert_eq!(before.2, 0);
        let buffers: Vec<Buffer> = (1..=10).map(|n| Buffer::new(1000 * n)).collect();
        let size: usize = buffers.iter().map(|b| size_of_class(class_of(b.bytes()))).sum();
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
    // Other tests run at the same time, so the process-wide figures have bounds on one side only.
    let held = Buffer::new(64 << 20);
    let stats = memory_stats();
    assert!(stats.live_bytes >= held.bytes(), "{stats:?}");
    assert!(stats.peak_bytes >= stats.live_bytes, "{stats:?}");
    assert!(stats.hits + stats.misses > 0, "{stats:?}");
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn a_reused_block_has_no_page_faults() {
    static STACKS: SharedStacks = SharedStacks::new(); // Its own, which no other test empties.
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
#[cfg(all(target_os = "linux", not(miri)))]
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
