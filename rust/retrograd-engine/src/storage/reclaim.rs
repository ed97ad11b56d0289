//! Freeing memory that a tensor gave up, once nobody can be reading it any more (quiescent-state-based reclamation).
//!
//! `p.data = new`, `set_` and growth take memory away from a tensor that other threads may be using at this moment. An
//! op reads tensors without a lock or a count, so it says instead that it is reading: [`reading`] makes the thread's
//! own counter odd and its end makes it even again. `retire` notes which counters are odd, and frees the memory when
//! each of those has moved on.
//!
//! - **R1** The address of an element, a storage or a version counter of a tensor is used only while the thread is
//!   reading, or while a reference to the storage is held. `Tensor::data_ptr` asserts it in debug builds.
//! - **R2** What is retired cannot be reached from a tensor any more when `retire` is called, but by those who are
//!   reading.
//! - **R3** Who is reading sees one body of a tensor, layout and memory, until the reading ends, unless the thread
//!   itself replaces it (`tensor/body.rs`): a reading sees what was published before it began.
//!
//! A reader that `retire` does not see began after the memory was out of reach (R2). For that the reader's counter
//! must be visible before its loads. On Linux the retiring thread pays for the order, by `membarrier`, and reading is
//! two plain stores; elsewhere, and where the system call is not to be had, each reader issues a fence.

mod slot;
mod stamps;

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{
    self, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

use parking_lot::Mutex;

use crate::counted::Counted;
use crate::thread::{Local, local};
use slot::Slot;

/// One thread's mark; handed on to another thread when the first one ends.
pub(crate) struct Place {
    slot: Slot,
    taken: AtomicBool,
}

/// Every place there ever was: as many as there were threads at the same time.
static PLACES: Mutex<Vec<&'static Place>> = Mutex::new(Vec::new());

/// Memory that somebody may be reading.
struct Waiting {
    /// Freed by its own drop.
    #[expect(dead_code, reason = "held for its Drop")]
    memory: Box<dyn Any + Send>,
    /// The readers at the time, with their counters.
    readers: Vec<(&'static Slot, u64)>,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
/// How many there are in `WAITING`.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How readers make their counter visible: not known yet, by the retiring thread's `membarrier`, or each by a fence.
static ORDER: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = 0;
const MEMBARRIER: u32 = 1;
const FENCES: u32 = 2;

/// How often a body was published. Each body has the number that it made of this.
static STAMP: AtomicU64 = AtomicU64::new(0);
/// Held while a body is published.
static PUBLISHING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Gives the place back when the thread ends.
    static OWNED: Cell<Option<Owned>> = const { Cell::new(None) };
}

struct Owned(&'static Place);

impl Drop for Owned {
    fn drop(&mut self) {
        local(|t| t.place.set(None));
        self.0.taken.store(false, Ordering::Release);
    }
}

/// While it lives, memory that the thread reads from tensors stays mapped, whatever happens to the tensors.
#[must_use = "memory is protected until the guard is dropped"]
#[derive(Debug)]
pub struct Reading(NonNull<Local>);

/// Says that this thread reads the memory of tensors. Calls nest.
#[inline]
pub fn reading() -> Reading {
    local(|t| {
        let depth = t.depth.get();
        t.depth.set(depth + 1);
        if depth == 0 {
            begin(t);
        }
        Reading(NonNull::from(t))
    })
}

impl Reading {
    /// The thread's mode word, without another look for where it is.
    #[inline]
    pub(crate) fn mode(&self) -> u32 {
        // SAFETY: a `Reading` stays on its thread, whose `Local` is not dropped.
        unsafe { self.0.as_ref() }.mode.get()
    }
}

impl Drop for Reading {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a `Reading` stays on its thread, whose `Local` is not dropped.
        let t = unsafe { self.0.as_ref() };
        let depth = t.depth.get() - 1;
        t.depth.set(depth);
        if depth == 0 {
            end(t);
        }
    }
}

// Calls, so that what is compiled into every op stays small.
#[inline(never)]
fn begin(t: &Local) {
    let slot = &t.place.get().unwrap_or_else(register).slot;
    slot.begin(|| {
        if ORDER.load(Ordering::Relaxed) == MEMBARRIER {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    });
    // After the mark: who publishes and then retires either finds the mark, or is seen here.
    t.began.set(stamps::latest(&STAMP));
}

#[inline(never)]
fn end(t: &Local) {
    if let Some(place) = t.place.get() {
        place.slot.end();
    }
}

/// What is only there while the thread is reading: what a [`Reading`] derefs to.
#[derive(Debug)]
pub struct Proof(());

static PROOF: Proof = Proof(());

impl Deref for Reading {
    type Target = Proof;
    #[inline]
    fn deref(&self) -> &Proof {
        &PROOF
    }
}

/// The proof inside of an op, which is reading from its beginning to its end (R1): nested marks would cost more than
/// what they protect. Debug builds ask.
#[inline]
pub(crate) fn in_op() -> &'static Proof {
    debug_assert!(is_reading(), "an op reads from its beginning to its end");
    &PROOF
}

/// Whether this thread is reading.
pub fn is_reading() -> bool {
    local(|t| t.depth.get() > 0)
}

/// Makes the body that `f` publishes one that is seen by all readings that begin later and by none that began before,
/// except those of this thread. `f` gets its stamp and this thread's number.
pub(crate) fn publish(f: impl FnOnce(u64, usize)) {
    let _publishing = PUBLISHING.lock();
    stamps::publish(&STAMP, |stamp| f(stamp, thread_number()));
}

/// Whether this thread sees what was published with this stamp by this thread: if it is reading, only what it published
/// itself and what was there when it began.
pub(crate) fn sees(stamp: u64, by: usize) -> bool {
    local(|t| t.depth.get() == 0 || stamp <= t.began.get() || by == thread_number())
}

fn my_place() -> Option<&'static Place> {
    local(|t| t.place.get())
}

/// A number that no other living thread has; 0 if the thread never read.
fn thread_number() -> usize {
    my_place().map_or(0, |place| std::ptr::from_ref(place).addr())
}

/// While the result lives no other thread is reading. `None` if another thread was reading at some time and lives.
pub(crate) fn alone() -> Option<impl Drop> {
    let places = PLACES.lock();
    let is_mine = |place: &Place| my_place().is_some_and(|mine| std::ptr::eq(mine, place));
    places.iter().all(|place| is_mine(place) || !place.taken.load(Ordering::Acquire)).then_some(places)
}

/// A reference to a `T`, or none, that one thread may exchange while others use it.
pub struct Shared<T>(AtomicPtr<T>, PhantomData<Counted<T>>);

/// What a [`Shared`] referred to, for as long as the thread is reading.
pub struct Held<'a, T>(ManuallyDrop<Counted<T>>, PhantomData<&'a T>);

impl<T> Deref for Held<'_, T> {
    type Target = Counted<T>;
    #[inline]
    fn deref(&self) -> &Counted<T> {
        &self.0
    }
}

impl<T> Shared<T> {
    #[inline]
    pub fn new(value: Counted<T>) -> Self {
        Self(AtomicPtr::new(Counted::into_raw(value).cast_mut()), PhantomData)
    }
    #[inline]
    pub const fn none() -> Self {
        Self(AtomicPtr::new(null_mut()), PhantomData)
    }
    #[inline]
    pub fn get<'a>(&'a self, _: &'a Proof) -> Option<Held<'a, T>> {
        let p = self.0.load(Ordering::Acquire);
        // SAFETY: `p` came from `Counted::into_raw` and was reachable while this thread was reading; what is exchanged
        // is retired, so the count that it stands for is not given up before the reading ends.
        (!p.is_null()).then(|| Held(ManuallyDrop::new(unsafe { Counted::from_raw(p) }), PhantomData))
    }
    /// Another reference to the same.
    #[inline]
    pub fn share(&self, reading: &Proof) -> Self {
        self.get(reading).map_or(Self::none(), |held| Self::new(held.clone()))
    }
    /// The reference, to be retired. This value still shows what it referred to.
    ///
    /// # Safety
    /// 1. From now on only those call [`Shared::get`] who are reading already. 2. This value is forgotten, not dropped.
    pub(crate) unsafe fn give_up(&self) -> Self {
        Self(AtomicPtr::new(self.0.load(Ordering::Acquire)), PhantomData)
    }
    /// Refers to something else from now on. What is returned is to be retired.
    pub(crate) fn exchange(&self, mut new: Self) -> Self {
        let p = std::mem::replace(new.0.get_mut(), null_mut());
        Self(AtomicPtr::new(self.0.swap(p, Ordering::AcqRel)), PhantomData)
    }
}

impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        let p = *self.0.get_mut();
        if !p.is_null() {
            // SAFETY: from `Counted::into_raw`; this value stands for the count.
            drop(unsafe { Counted::from_raw(p) });
        }
    }
}

#[cold]
fn register() -> &'static Place {
    if ORDER.load(Ordering::Relaxed) == UNKNOWN {
        let order = if barrier::register() { MEMBARRIER } else { FENCES };
        ORDER.store(order, Ordering::Relaxed);
    }
    #[cfg(all(unix, not(miri)))]
    fork::handle();
    let mut places = PLACES.lock();
    let free = places.iter().find(|place| !place.taken.swap(true, Ordering::Acquire)).copied();
    let place = free.unwrap_or_else(|| {
        let place: &'static Place = Box::leak(Box::new(Place { slot: Slot::new(), taken: AtomicBool::new(true) }));
        places.push(place);
        place
    });
    local(|t| t.place.set(Some(place)));
    // While the thread ends there is nobody left to give the place back: it stays taken.
    let _ = OWNED.try_with(|owned| owned.set(Some(Owned(place))));
    // Whoever retires memory after this fence knows of `ORDER`; for who did before, later loads see what they did.
    fence(Ordering::SeqCst);
    place
}

/// The threads that are reading, with their counters. Whoever begins to read later sees what this thread did before.
fn readers() -> Vec<(&'static Slot, u64)> {
    barrier::issue();
    let places = PLACES.lock();
    places.iter().filter_map(|place| Some((&place.slot, place.slot.sequence_if_reading()?))).collect()
}

/// Waits until every thread that is reading now has come to the end of that: what it did is done. This thread must not
/// be reading, for two that wait for one another would wait for ever.
pub(crate) fn wait_for_readers() {
    assert!(!is_reading(), "who waits for readers must not be one");
    for (slot, sequence) in readers() {
        let mut turns = 0u32;
        while !slot.has_moved_on(sequence) {
            turns += 1;
            match turns {
                0..100 => std::hint::spin_loop(),
                100..1000 => std::thread::yield_now(),
                _ => std::thread::sleep(std::time::Duration::from_micros(50)),
            }
        }
    }
}

/// Frees `memory` as soon as nobody can be reading it: at once, if no thread is reading now, else at a later call of
/// this function or of [`collect`].
pub(crate) fn retire<T: Any + Send>(memory: T) {
    let readers = readers();
    if readers.is_empty() {
        drop(memory);
    } else {
        let mut waiting = WAITING.lock();
        waiting.push(Waiting { memory: Box::new(memory), readers });
        COUNT.store(waiting.len(), Ordering::Relaxed);
    }
    collect();
}

/// Frees what was retired and is not read any more.
#[inline]
pub(crate) fn collect() {
    if COUNT.load(Ordering::Relaxed) > 0 {
        free();
    }
}

#[cold]
fn free() {
    let mut waiting = WAITING.lock();
    let is_read = |w: &mut Waiting| {
        w.readers.retain(|(slot, sequence)| !slot.has_moved_on(*sequence));
        !w.readers.is_empty()
    };
    let (read, free): (Vec<_>, Vec<_>) =
        waiting.drain(..).map(|mut w| (is_read(&mut w), w)).partition(|(read, _)| *read);
    waiting.extend(read.into_iter().map(|(_, w)| w));
    COUNT.store(waiting.len(), Ordering::Relaxed);
    drop(waiting);
    // Without the lock: what is freed may run code of others.
    drop(free);
}

/// A forked child has one thread. The others do not go on reading there, nor give their locks back.
#[cfg(all(unix, not(miri)))]
mod fork {
    use std::mem::forget;
    use std::sync::Once;

    use super::super::shared::STORAGES;
    use super::{Ordering, PLACES, PUBLISHING, WAITING, my_place};

    /// Nobody else has a lock while the process is copied. No thread waits for one while it has another.
    extern "C" fn prepare() {
        forget((PLACES.lock(), WAITING.lock(), PUBLISHING.lock(), STORAGES.lock()));
    }
    extern "C" fn go_on() {
        // SAFETY: this thread locked them in `prepare`, and forgot the guards.
        unsafe {
            PLACES.force_unlock();
            WAITING.force_unlock();
            PUBLISHING.force_unlock();
            STORAGES.force_unlock();
        }
    }
    extern "C" fn go_on_alone() {
        go_on();
        let mine = my_place();
        for place in PLACES.lock().iter().filter(|place| mine.is_none_or(|mine| !std::ptr::eq(mine, **place))) {
            if place.slot.sequence_if_reading().is_some() {
                place.slot.end();
            }
            place.taken.store(false, Ordering::Release);
        }
    }
    /// Registers the handlers, once.
    pub fn handle() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: functions that live as long as the process.
            unsafe { libc::pthread_atfork(Some(prepare), Some(go_on), Some(go_on_alone)) };
        });
    }
}

/// Makes the counters of all threads visible to this one.
#[cfg(all(target_os = "linux", not(miri)))]
mod barrier {
    use super::{MEMBARRIER, ORDER, Ordering, fence};

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the system call touches no memory of the process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
    pub fn register() -> bool {
        membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
    }
    pub fn issue() {
        fence(Ordering::SeqCst);
        if ORDER.load(Ordering::Relaxed) == MEMBARRIER {
            let done = membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
            assert!(done, "membarrier fails though it is registered");
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod barrier {
    pub fn register() -> bool {
        false
    }
    pub fn issue() {
        super::fence(super::Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Says when it is dropped.
    struct Told(Counted<AtomicBool>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// Other tests may be reading too, for a while.
    fn wait_for(freed: &AtomicBool) {
        while !freed.load(Ordering::SeqCst) {
            collect();
            std::thread::yield_now();
        }
    }

    #[test]
    fn memory_waits_for_those_who_were_reading_and_for_nobody_else() {
        let (go, ready) = (channel::<()>(), channel::<()>());
        let freed = Counted::new(AtomicBool::new(false));
        let reader = std::thread::spawn(move || {
            let outer = reading();
            drop(reading());
            ready.0.send(()).unwrap();
            go.1.recv().unwrap();
            drop(outer);
            let _later = reading();
            ready.0.send(()).unwrap();
            go.1.recv().unwrap();
        });
        ready.1.recv().unwrap();
        retire(Told(freed.clone()));
        assert!(!freed.load(Ordering::SeqCst), "an inner guard's end is not the reader's");
        go.0.send(()).unwrap();
        ready.1.recv().unwrap();
        // Who began to read later holds nothing up.
        wait_for(&freed);
        go.0.send(()).unwrap();
        reader.join().unwrap();
    }

    #[test]
    fn the_retiring_thread_may_be_reading_itself() {
        let freed = Counted::new(AtomicBool::new(false));
        let here = reading();
        retire(Told(freed.clone()));
        assert!(!freed.load(Ordering::SeqCst) && is_reading());
        drop(here);
        wait_for(&freed);
    }

    #[test]
    fn no_reader_meets_memory_that_was_freed() {
        const ALIVE: u64 = 0x5AFE;
        struct Cell(AtomicU64);
        impl Drop for Cell {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Relaxed);
            }
        }
        let fresh = || Shared::new(Counted::new(Cell(AtomicU64::new(ALIVE))));
        let shared = fresh();
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..rounds {
                        let reading = reading();
                        let held = shared.get(&reading).expect("it always refers to one");
                        let Cell(number) = &**held;
                        assert_eq!(number.load(Ordering::Relaxed), ALIVE);
                    }
                });
            }
            for _ in 0..rounds / 10 {
                retire(shared.exchange(fresh()));
            }
        });
    }
}
