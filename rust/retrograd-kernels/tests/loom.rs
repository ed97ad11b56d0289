//! The protocols of the pools, and of memory that a tensor released, under every order of their threads.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p retrograd-kernels --release --test loom`. The files of the protocols are
//! compiled here once more, with loom's threads, locks and atomics for those of [`sync`]; the crate itself keeps its
//! own.
#![cfg(loom)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::cell::UnsafeCell;
use loom::thread;

use sync::Arc;
use sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// Loom's primitives with the faces of those in `src/sync.rs`.
mod sync {
    use std::ops::{Deref, DerefMut};

    pub use loom::sync::{Arc, atomic};

    pub struct Mutex<T>(loom::sync::Mutex<T>);
    pub struct Guard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }
        pub fn lock(&self) -> Guard<'_, T> {
            Guard(Some(self.0.lock().unwrap()))
        }
    }
    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().unwrap()
        }
    }
    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().unwrap()
        }
    }

    pub struct Condvar(loom::sync::Condvar);
    impl Condvar {
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }
        pub fn wait<T>(&self, guard: &mut Guard<'_, T>) {
            guard.0 = Some(self.0.wait(guard.0.take().unwrap()).unwrap());
        }
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    pub fn pause(_turns: u32) {
        loom::thread::yield_now();
    }
}

#[path = "../src/parallel/jobs.rs"]
mod jobs;
#[path = "../src/memory/stack.rs"]
#[allow(dead_code, reason = "the pool knows the blocks, the stack only their nodes")]
mod stack;
/// The marks of threads that read the memory of tensors, of the crate `retrograd-engine`.
#[path = "."]
mod reclaim {
    use super::sync::atomic;
    #[path = "../../retrograd-engine/src/storage/reclaim/slot.rs"]
    pub mod slot;
    #[path = "../../retrograd-engine/src/storage/reclaim/stamps.rs"]
    pub mod stamps;
}

/// Memory of which loom knows who reads and who writes it.
struct Cells([UnsafeCell<u32>; 2]);
// SAFETY: loom reports accesses that are not ordered.
unsafe impl Sync for Cells {}
// SAFETY: as above.
unsafe impl Send for Cells {}

impl Cells {
    fn new() -> Self {
        Self([UnsafeCell::new(0), UnsafeCell::new(0)])
    }
    fn add(&self, i: usize) {
        // SAFETY: loom reports it if another thread has the cell.
        self.0[i].with_mut(|p| unsafe { *p += 1 });
    }
    fn get(&self, i: usize) -> u32 {
        // SAFETY: as above.
        self.0[i].with(|p| unsafe { *p })
    }
}

/// A model with at most `preemptions` changes of the running thread where it could have gone on: three find nearly
/// every mistake, as loom's documentation has it, and end in seconds.
fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// A worker that helps until the number of jobs is `last`; it counts as awake from the start.
fn worker(jobs: &Arc<jobs::Jobs>, last: usize) -> thread::JoinHandle<()> {
    jobs.awake.fetch_add(1, Ordering::Relaxed);
    let jobs = jobs.clone();
    thread::spawn(move || {
        let mut seen = 0;
        while seen < last {
            jobs.serve(1, &mut seen, |is_there| is_there());
        }
    })
}

#[test]
fn every_piece_runs_once_and_is_done_when_the_call_returns() {
    model(3, || {
        let jobs = Arc::new(jobs::Jobs::new());
        let worker = worker(&jobs, 1);
        // On the caller's stack: loom finds it if a worker comes too late.
        let cells = Cells::new();
        assert!(jobs.run(1, 2, &|i| cells.add(i), || {}));
        assert_eq!((cells.get(0), cells.get(1)), (1, 1));
        worker.join().unwrap();
    });
}

#[test]
fn no_worker_sleeps_through_a_job() {
    model(2, || {
        let jobs = Arc::new(jobs::Jobs::new());
        let worker = worker(&jobs, 2);
        for _ in 0..2 {
            let cells = Cells::new();
            assert!(jobs.run(1, 2, &|i| cells.add(i), || {}));
            assert_eq!((cells.get(0), cells.get(1)), (1, 1));
        }
        worker.join().unwrap();
    });
}

#[test]
fn one_of_two_callers_has_the_workers() {
    model(2, || {
        let jobs = Arc::new(jobs::Jobs::new());
        let worker = worker(&jobs, 1);
        let call = |jobs: &jobs::Jobs| {
            let cells = Cells::new();
            let taken = jobs.run(1, 2, &|i| cells.add(i), || {});
            assert_eq!(cells.get(0) + cells.get(1), if taken { 2 } else { 0 });
            taken
        };
        let other = jobs.clone();
        let other = thread::spawn(move || call(&other));
        let here = call(&jobs);
        assert!(other.join().unwrap() || here);
        worker.join().unwrap();
    });
}

#[test]
fn a_panic_is_passed_on_when_all_pieces_are_done() {
    model(2, || {
        let jobs = Arc::new(jobs::Jobs::new());
        let worker = worker(&jobs, 1);
        let cells = Cells::new();
        let work = |i: usize| {
            cells.add(i);
            assert!(i != 0, "piece 0");
        };
        let attempt = catch_unwind(AssertUnwindSafe(|| jobs.run(1, 2, &work, || {})));
        assert!(attempt.is_err());
        assert_eq!((cells.get(0), cells.get(1)), (1, 1));
        worker.join().unwrap();
    });
}

struct Stack {
    head: stack::Head,
    nodes: Vec<stack::Node>,
    /// What lies in the block of each node.
    blocks: Cells,
}

impl Stack {
    fn new() -> Self {
        let node = || stack::Node { block: AtomicPtr::new(std::ptr::null_mut()), below: AtomicU32::new(0) };
        let stack = Self { head: stack::Head(AtomicU64::new(0)), nodes: vec![node(), node()], blocks: Cells::new() };
        (0..2).for_each(|i| stack.head.push(&stack.nodes, i));
        stack
    }
    /// Whoever popped a node has its block.
    fn take(&self) -> Option<u32> {
        let node = self.head.pop(&self.nodes)?;
        self.blocks.add(node as usize);
        Some(node)
    }
    fn give(&self, node: Option<u32>) {
        if let Some(node) = node {
            self.blocks.add(node as usize);
            self.head.push(&self.nodes, node);
        }
    }
}

#[test]
fn no_two_threads_get_one_block() {
    model(3, || {
        let stack = Arc::new(Stack::new());
        let other = stack.clone();
        let other = thread::spawn(move || {
            // The top comes back over another node: a head of the same node, but not of the same stack.
            let (top, below) = (other.take(), other.take());
            other.give(top);
            below
        });
        let here = stack.take();
        let there = other.join().unwrap();
        stack.give(here);
        stack.give(there);
        let all = [stack.take(), stack.take(), stack.take()];
        assert!(all[0].is_some() && all[1].is_some() && all[0] != all[1] && all[2].is_none() && stack.head.is_empty());
    });
}

/// What who retires the first memory does: frees it, by a write, if the reader is not reading or has come to its end.
fn free_unless_read(reader: &reclaim::slot::Slot, memory: &Cells) {
    fence(Ordering::SeqCst);
    match reader.sequence_if_reading() {
        None => memory.add(0),
        Some(sequence) => {
            // A look later.
            if reader.has_moved_on(sequence) {
                memory.add(0);
            }
        }
    }
}

#[test]
fn no_reader_meets_memory_that_was_freed() {
    /// Two memories, the place that says which is the tensor's, and one reader's mark. Freeing writes to a memory.
    struct Tensor {
        memory: Cells,
        current: AtomicUsize,
        slot: reclaim::slot::Slot,
    }
    model(3, || {
        let t =
            Arc::new(Tensor { memory: Cells::new(), current: AtomicUsize::new(0), slot: reclaim::slot::Slot::new() });
        let other = t.clone();
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                other.slot.begin(|| fence(Ordering::SeqCst));
                let at = other.current.load(Ordering::Acquire);
                assert_eq!(other.memory.get(at), 0, "freed");
                other.slot.end();
            }
        });
        t.current.swap(1, Ordering::AcqRel);
        free_unless_read(&t.slot, &t.memory);
        reader.join().unwrap();
    });
}

#[test]
fn a_reading_sees_one_body() {
    use reclaim::stamps;
    /// R3: the memory of two bodies, the one that is the current, and one reader's mark.
    struct Tensor {
        memory: Cells,
        current: AtomicUsize,
        stamps: [AtomicU64; 2],
        latest: AtomicU64,
        slot: reclaim::slot::Slot,
    }
    model(3, || {
        let t = Arc::new(Tensor {
            memory: Cells::new(),
            current: AtomicUsize::new(0),
            stamps: [AtomicU64::new(0), AtomicU64::new(0)],
            latest: AtomicU64::new(0),
            slot: reclaim::slot::Slot::new(),
        });
        let other = t.clone();
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                other.slot.begin(|| fence(Ordering::SeqCst));
                let began = stamps::latest(&other.latest);
                let seen = [(); 2].map(|()| {
                    let newest = other.current.load(Ordering::Acquire);
                    let at = if other.stamps[newest].load(Ordering::Relaxed) <= began { newest } else { 0 };
                    assert_eq!(other.memory.get(at), 0, "freed");
                    at
                });
                assert_eq!(seen[0], seen[1]);
                other.slot.end();
            }
        });
        stamps::publish(&t.latest, |stamp| {
            t.stamps[1].store(stamp, Ordering::Relaxed);
            t.current.store(1, Ordering::Release);
        });
        free_unless_read(&t.slot, &t.memory);
        reader.join().unwrap();
    });
}

#[test]
fn a_view_and_a_write_exclude_one_another() {
    /// S7: the elements, how many views show them, and the writer's mark.
    struct Storage {
        elements: Cells,
        views: AtomicU32,
        slot: reclaim::slot::Slot,
    }
    model(3, || {
        let s =
            Arc::new(Storage { elements: Cells::new(), views: AtomicU32::new(0), slot: reclaim::slot::Slot::new() });
        let other = s.clone();
        let writer = thread::spawn(move || {
            for _ in 0..2 {
                other.slot.begin(|| fence(Ordering::SeqCst));
                if other.views.load(Ordering::Acquire) == 0 {
                    other.elements.add(0);
                }
                other.slot.end();
            }
        });
        s.views.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(sequence) = s.slot.sequence_if_reading() {
            while !s.slot.has_moved_on(sequence) {
                thread::yield_now();
            }
        }
        let before = s.elements.get(0);
        thread::yield_now();
        assert_eq!(s.elements.get(0), before);
        s.views.fetch_sub(1, Ordering::Release);
        writer.join().unwrap();
    });
}
