//! How work gets from the calling thread to workers and back: a job is posted, its pieces are claimed one by one, and
//! the caller returns when all are done.
//!
//! Every thread has a share of the pieces, the same in every job, and claims those of others when its own are gone:
//! what it computes from the results of the job before lies in its own caches.
//!
//! `tests/loom.rs` runs this file under every order of its threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, pause};

/// One call of [`Jobs::run`].
struct Job {
    /// Dereferenced for claimed pieces only, which the caller waits for.
    work: *const (dyn Fn(usize) + Sync),
    pieces: usize,
    /// Of the caller, and of each worker that may help: the next piece of its share.
    next: Vec<AtomicUsize>,
    done: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}
// SAFETY: `work` is `Sync`, and lives while pieces can be claimed.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// Where the share of a thread begins.
    fn share(pieces: usize, threads: usize, thread: usize) -> usize {
        pieces * thread / threads
    }

    /// Claims pieces for a thread until there are none.
    fn help(&self, thread: usize) {
        let threads = self.next.len();
        for share in (thread..threads).chain(0..thread) {
            let end = Self::share(self.pieces, threads, share + 1);
            loop {
                let piece = self.next[share].fetch_add(1, Ordering::Relaxed);
                if piece >= end {
                    break;
                }
                // SAFETY: the caller returns after all pieces are done, and this one is not.
                let work = unsafe { &*self.work };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(piece))) {
                    self.panic.lock().get_or_insert(panic);
                }
                self.done.fetch_add(1, Ordering::Release);
            }
        }
    }
}

/// The current job, if any, and the workers waiting for one.
pub struct Jobs {
    job: Mutex<Option<Arc<Job>>>,
    wake: Condvar,
    /// Counts jobs; changes while `job` is locked.
    epoch: AtomicUsize,
    /// Workers that do not sleep.
    pub awake: AtomicUsize,
    /// Whether a thread is using the pool.
    taken: AtomicBool,
}

impl Jobs {
    pub fn new() -> Self {
        Self {
            job: Mutex::new(None),
            wake: Condvar::new(),
            epoch: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            taken: AtomicBool::new(false),
        }
    }

    /// Runs all pieces with the help of workers 1 to `helpers`, which `start` starts; `false` if there is a job. A
    /// panic of a piece is passed on when the others are done.
    pub fn run(&self, helpers: usize, pieces: usize, work: &(dyn Fn(usize) + Sync), start: impl FnOnce()) -> bool {
        if self.taken.swap(true, Ordering::Acquire) {
            return false;
        }
        start();
        let job = Arc::new(Job {
            // SAFETY: (of the lifetime) see `Job::help`: no piece is claimed after this function returns.
            work: unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) },
            pieces,
            next: (0..=helpers).map(|thread| AtomicUsize::new(Job::share(pieces, helpers + 1, thread))).collect(),
            done: AtomicUsize::new(0),
            panic: Mutex::new(None),
        });
        {
            let mut current = self.job.lock();
            *current = Some(job.clone());
            self.epoch.fetch_add(1, Ordering::Release);
        }
        if self.awake.load(Ordering::Relaxed) < helpers {
            self.wake.notify_all();
        }
        job.help(0);
        let mut turns = 0u32;
        while job.done.load(Ordering::Acquire) < pieces {
            turns += 1;
            pause(turns);
        }
        *self.job.lock() = None;
        self.taken.store(false, Ordering::Release);
        let panic = job.panic.lock().take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        true
    }

    /// Helps with the next job after number `seen`, which becomes the number of that one, as worker `worker`, from 1
    /// on. Until it comes: for as long as `is_worth_waiting` says awake, then asleep.
    pub fn serve(&self, worker: usize, seen: &mut usize, is_worth_waiting: impl FnOnce(&dyn Fn() -> bool) -> bool) {
        let is_there = || self.epoch.load(Ordering::Acquire) != *seen;
        if !is_worth_waiting(&is_there) {
            let mut job = self.job.lock();
            self.awake.fetch_sub(1, Ordering::Relaxed);
            while !is_there() {
                self.wake.wait(&mut job);
            }
            self.awake.fetch_add(1, Ordering::Relaxed);
        }
        let job = {
            let current = self.job.lock();
            *seen = self.epoch.load(Ordering::Relaxed);
            current.clone()
        };
        if let Some(job) = job
            && worker < job.next.len()
        {
            job.help(worker);
        }
    }
}
