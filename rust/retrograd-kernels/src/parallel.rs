//! The thread pool: pieces of one kernel on several threads.
//!
//! [`split`] cuts a range into pieces that the calling thread and the workers claim one by one, so no thread waits for
//! one that the system has suspended. Work is only divided if it pays: waking a sleeping worker takes the caller more
//! than 10 us, a worker that still spins answers at once. So short work runs on the caller alone; a pool that was just
//! used takes smaller work too, and workers are woken if such work comes so often that they would not sleep again. Work
//! inside a piece is not divided again, and if two threads want the pool at once, the second one works alone.
//!
//! The caller decides the borders of pieces by sizes alone wherever they could be seen in a result; otherwise pieces
//! are independent, so that results do not depend on the number of threads.
//!
//! No thread is started before the first work that is divided. A forked child starts its own. Without the feature
//! `threads` there is one thread, the caller.

mod jobs;

use std::cell::Cell;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::thresholds::parallel::{PIECE, WORTH_SHARING, WORTH_WAKING};
use jobs::Jobs;

/// How long a worker looks for more work before it sleeps.
const PATIENCE: Duration = Duration::from_micros(200);
/// Pieces of work, each within the workers' patience of the one before, that wake them together.
const DENSE: usize = 8;

/// The variables that set the number of threads; the first that is set counts.
const VARIABLES: [&str; 2] = ["RETROGRAD_NUM_THREADS", "OMP_NUM_THREADS"];
/// As many threads as a variable can ask for.
const MOST: usize = 1024;

/// 0 until it is read or set.
static THREADS: AtomicUsize = AtomicUsize::new(0);
static POOL: AtomicPtr<Pool> = AtomicPtr::new(null_mut());

thread_local! {
    /// Whether this thread is inside of a piece.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// How many threads one kernel may use: at the start, what the environment says, or else the cores that this
/// process may run on.
///
/// `RETROGRAD_NUM_THREADS` counts before `OMP_NUM_THREADS`. Both hold a positive number, or a list whose first one
/// counts, as OpenMP has it; anything else is reported on standard error and ignored. They are read at the first
/// call.
#[inline]
pub fn num_threads() -> usize {
    if cfg!(not(feature = "threads")) {
        return 1;
    }
    match THREADS.load(Ordering::Relaxed) {
        0 => first_number(),
        n => n,
    }
}

/// Sets how many threads one kernel may use, the calling one among them; 0 counts as 1.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.max(1), Ordering::Relaxed);
}

#[cold]
fn first_number() -> usize {
    let n = VARIABLES.iter().find_map(|name| asked_for(name)).unwrap_or_else(count_cores);
    // A number that was set meanwhile is kept.
    match THREADS.compare_exchange(0, n, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => n,
        Err(set) => set,
    }
}

/// The number in an environment variable; says so if there is something else.
fn asked_for(name: &str) -> Option<usize> {
    let text = std::env::var(name).ok().filter(|text| !text.trim().is_empty())?;
    let n = text.split(',').next().and_then(|first| first.trim().parse().ok()).filter(|&n: &usize| n > 0);
    if n.is_none() {
        eprintln!("retrograd: {name}={text:?} is no positive number of threads, and is ignored");
    }
    n.map(|n| n.min(MOST))
}

fn count_cores() -> usize {
    match std::thread::available_parallelism().map_or(1, |n| n.get()) {
        1 => 1,
        allowed => physical_cores().map_or(allowed, |n| n.clamp(1, allowed)),
    }
}

/// The cores of the CPUs that the calling thread may run on; those that share a core do not add to its arithmetic.
fn physical_cores() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cores = std::collections::BTreeSet::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        for cpu in first.parse::<usize>().ok()?..=last.parse().ok()? {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            cores.insert(std::fs::read_to_string(path).ok()?);
        }
    }
    Some(cores.len())
}

/// Runs `work` for pieces that together are `0..n`; returns when all are done.
///
/// `cost` is an estimate of the whole in nanoseconds on one thread. Pieces begin at multiples of `grain`. A panic of a
/// piece is passed on when the others are done.
pub fn split(n: usize, grain: usize, cost: f64, work: &(dyn Fn(Range<usize>) + Sync)) {
    let units = n.div_ceil(grain.max(1));
    if units < 2 || cost < WORTH_SHARING || INSIDE.get() {
        return work(0..n);
    }
    let threads = num_threads();
    if cfg!(not(feature = "threads")) || threads == 1 {
        return work(0..n);
    }
    let pool = Pool::current();
    if cost < WORTH_WAKING && pool.jobs.awake.load(Ordering::Relaxed) + 1 < threads && !pool.is_wanted() {
        return work(0..n);
    }
    // A few pieces for each thread, since some may be slower than others.
    let pieces = units.min(threads * 4).min((cost / PIECE) as usize).max(1);
    let step = units.div_ceil(pieces) * grain.max(1);
    let piece = |i: usize| work(i * step..((i + 1) * step).min(n));
    let _inside = Inside::enter();
    if !pool.jobs.run(threads - 1, n.div_ceil(step), &piece, || pool.start(threads - 1)) {
        // As one piece: what is in it is not divided either.
        work(0..n);
    }
}

/// Marks this thread as inside of a piece, also if that panics.
struct Inside;
impl Inside {
    fn enter() -> Self {
        INSIDE.set(true);
        Inside
    }
}
impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// As [`split`], for work that may fail, as where each piece takes memory of its own. The first failure is returned
/// when all pieces are done.
pub fn try_split<E: Send>(
    n: usize,
    grain: usize,
    cost: f64,
    work: &(dyn Fn(Range<usize>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let failure = Mutex::new(None);
    split(n, grain, cost, &|piece| {
        if let Err(error) = work(piece) {
            failure.lock().get_or_insert(error);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

/// As [`split`], for work that writes to rows of `len` elements each, the last of which may be shorter: each piece gets
/// its rows and what is in them.
pub fn split_rows<T: Copy + Send>(
    to: &mut [T],
    len: usize,
    grain: usize,
    cost: f64,
    work: &(dyn Fn(Range<usize>, &mut [T]) + Sync),
) {
    let (n, to) = (to.len(), SharedPtr(to.as_mut_ptr()));
    split(n.div_ceil(len.max(1)), grain, cost, &|rows| {
        let (start, end) = (rows.start * len, n.min(rows.end * len));
        // SAFETY: elements of the slice, which is borrowed mutably for the call; no other piece has them.
        work(rows, unsafe { std::slice::from_raw_parts_mut(to.get().add(start), end - start) });
    });
}

/// A pointer that pieces may share; its user answers for what they do with it.
#[derive(Clone, Copy)]
pub struct SharedPtr<T>(pub *mut T);
// SAFETY: a pointer does nothing by itself; each dereference is in an `unsafe` block of its own.
unsafe impl<T> Send for SharedPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for SharedPtr<T> {}
impl<T> SharedPtr<T> {
    /// The pointer. A method, so that closures capture the whole.
    #[inline(always)]
    pub fn get(self) -> *mut T {
        self.0
    }
}

struct Pool {
    jobs: Jobs,
    /// Workers started.
    started: AtomicUsize,
    /// When work last did without workers since they slept, in nanoseconds of [`nanoseconds`], and how often in a row.
    missed: AtomicU64,
    row: AtomicUsize,
}

/// Nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Makes a forked child create its own pool: the workers stay with the parent, and what they had locked stays locked.
#[cfg(all(unix, not(miri)))]
fn leave_workers_to_the_parent() {
    static AT_FORK: std::sync::Once = std::sync::Once::new();
    extern "C" fn forget() {
        POOL.store(null_mut(), Ordering::Release);
    }
    AT_FORK.call_once(|| {
        // SAFETY: the handler stores to an atomic, which is allowed after a fork.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    });
}

impl Pool {
    fn new() -> Self {
        Pool { jobs: Jobs::new(), started: AtomicUsize::new(0), missed: AtomicU64::new(0), row: AtomicUsize::new(0) }
    }

    /// The pool of this process.
    fn current() -> &'static Pool {
        let pool = POOL.load(Ordering::Acquire);
        if !pool.is_null() {
            // SAFETY: pools are leaked.
            return unsafe { &*pool };
        }
        Self::create()
    }

    #[cold]
    fn create() -> &'static Pool {
        #[cfg(all(unix, not(miri)))]
        leave_workers_to_the_parent();
        let fresh = Box::into_raw(Box::new(Pool::new()));
        match POOL.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: leaked from here on.
            Ok(_) => unsafe { &*fresh },
            Err(other) => {
                // SAFETY: made above and shown to nobody.
                drop(unsafe { Box::from_raw(fresh) });
                // SAFETY: pools are leaked.
                unsafe { &*other }
            }
        }
    }

    /// Notes work that would be divided if workers were awake: whether it comes often enough to wake them. Threads may
    /// miscount one another, which costs a wake-up at most.
    fn is_wanted(&self) -> bool {
        let now = nanoseconds();
        let before = self.missed.swap(now, Ordering::Relaxed);
        let row = if now.saturating_sub(before) < PATIENCE.as_nanos() as u64 {
            self.row.load(Ordering::Relaxed) + 1
        } else {
            0
        };
        self.row.store(row % DENSE, Ordering::Relaxed);
        row >= DENSE
    }

    /// Starts workers until there are `n`; whoever has the pool calls this. If the system refuses a thread, the pool
    /// works with fewer.
    fn start(&'static self, n: usize) {
        for i in self.started.load(Ordering::Relaxed)..n {
            self.jobs.awake.fetch_add(1, Ordering::Relaxed);
            let worker =
                std::thread::Builder::new().name(format!("retrograd-{}", i + 1)).spawn(move || self.work(i + 1));
            if worker.is_err() {
                self.jobs.awake.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            self.started.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The loop of worker `worker`, from 1 on.
    fn work(&self, worker: usize) {
        INSIDE.set(true);
        let mut seen = 0;
        loop {
            self.jobs.serve(worker, &mut seen, is_worth_waiting);
        }
    }
}

/// Lets others run until `done` holds; `false` if that takes longer than a worker stays awake.
fn is_worth_waiting(done: &dyn Fn() -> bool) -> bool {
    let since = Instant::now();
    loop {
        for _ in 0..64 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// The number of threads is the process's: tests that set it run one at a time.
    static SETTING: Mutex<()> = Mutex::new(());

    fn pieces_of(n: usize, grain: usize, cost: f64) -> Vec<Range<usize>> {
        let pieces = Mutex::new(Vec::new());
        split(n, grain, cost, &|piece| pieces.lock().push(piece));
        let mut pieces = pieces.into_inner();
        pieces.sort_by_key(|piece| piece.start);
        pieces
    }

    #[test]
    fn pieces_are_the_range_and_begin_at_the_grain() {
        let _setting = SETTING.lock();
        for threads in [1, 2, 3, 7] {
            set_num_threads(threads);
            for (n, grain, cost) in
                [(0, 1, 1e9), (1, 1, 1e9), (1000, 1, 1e9), (1000, 64, 1e9), (1000, 999, 1e9), (10, 3, 1.0)]
            {
                let pieces = pieces_of(n, grain, cost);
                let mut end = 0;
                for piece in &pieces {
                    assert!(piece.start == end && piece.start % grain == 0, "{pieces:?}");
                    end = piece.end;
                }
                assert_eq!(end, n);
                assert!(pieces.len() == 1 || threads > 1 && cost > WORTH_WAKING);
            }
        }
    }

    #[test]
    fn work_in_pieces_is_not_divided_and_threads_take_turns() {
        let _setting = SETTING.lock();
        set_num_threads(3);
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        split(64, 1, 1e9, &|piece| {
                            let inner = pieces_of(piece.len(), 1, 1e9);
                            assert_eq!(inner.len(), 1);
                            sum.fetch_add(piece.len(), Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4 * 200 * 64);
    }

    #[test]
    fn a_panic_is_passed_on_and_the_pool_goes_on() {
        let _setting = SETTING.lock();
        set_num_threads(2);
        let attempt = catch_unwind(|| split(8, 1, 1e9, &|piece| assert!(!piece.contains(&5), "piece {piece:?}")));
        assert!(attempt.is_err());
        assert_eq!(pieces_of(8, 1, 1e9).iter().map(Range::len).sum::<usize>(), 8);
    }

    #[test]
    fn short_work_wakes_workers_if_it_comes_densely() {
        let pool = Pool::new();
        for _ in 0..2 * DENSE {
            assert!(!pool.is_wanted());
            std::thread::sleep(2 * PATIENCE);
        }
        // A thread that the system suspends does not work often enough.
        assert!((0..100_000).any(|_| pool.is_wanted()));
    }

    #[test]
    fn sleeping_workers_wake() {
        let _setting = SETTING.lock();
        set_num_threads(2);
        for _ in 0..3 {
            assert_eq!(pieces_of(100, 1, 1e9).iter().map(Range::len).sum::<usize>(), 100);
            std::thread::sleep(4 * PATIENCE);
        }
    }

    #[test]
    #[cfg(all(unix, not(miri)))]
    fn a_forked_child_starts_its_own_workers() {
        let _setting = SETTING.lock();
        set_num_threads(2);
        assert_eq!(pieces_of(100, 1, 1e9).iter().map(Range::len).sum::<usize>(), 100);
        // SAFETY: the child does its work and leaves by `_exit`.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0);
            if child == 0 {
                let whole = pieces_of(100, 1, 1e9).iter().map(Range::len).sum::<usize>();
                libc::_exit(i32::from(whole != 100));
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        }
    }
}
