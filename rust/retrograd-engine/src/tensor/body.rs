//! A tensor's body, which is its layout with the memory that has it, and how a tensor gets another body in place.
//!
//! `p.data = new`, `set_` and `resize_` give a tensor another body while other threads may be using it. An op reads the
//! body several times, and sizes of one with the memory of another would lead outside of it. So (R3 in [`reclaim`])
//! whoever is reading sees the same body until the reading ends: the one that was current when it began, or the newest
//! that the thread itself has made current since. Each body that replaced another one has the stamp of that moment and
//! refers to the one before.
//!
//! The layout of a body stays with the tensor, since `sizes()` is a reference that lives as long as the tensor does.
//! Its memory is retired when another body becomes current. Once nobody can be reading it any more, a body becomes
//! current again if the tensor gets its layout again.

use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use super::dtype::DType;
use super::layout::{Dims, Strides, copied};
use super::lazy::LazyBits;
use super::{Inner, Tensor};
use crate::compile::record;
use crate::storage::reclaim::{self, Held, Proof, Shared, reading};
use crate::storage::{Storage, Version};

/// A layout and the memory that has it.
pub(crate) struct Body {
    pub dtype: DType,
    pub bits: LazyBits,
    pub contiguous: bool,
    pub numel: usize,
    pub offset: usize,
    pub sizes: Dims,
    pub strides: Strides,
    pub storage: Shared<Storage>,
    /// A counter of its own, for `.data`; otherwise the storage's.
    pub version: Shared<Version>,
}

impl Body {
    /// This layout over the same memory.
    fn share(&self, reading: &Proof) -> Self {
        Self {
            dtype: self.dtype,
            bits: self.bits,
            contiguous: self.contiguous,
            numel: self.numel,
            offset: self.offset,
            sizes: copied(&self.sizes),
            strides: copied(&self.strides),
            storage: self.storage.share(reading),
            version: self.version.share(reading),
        }
    }
    fn has_layout_of(&self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.bits == other.bits
            && self.offset == other.offset
            && self.sizes == other.sizes
            && self.strides == other.strides
    }
    /// Takes the memory of `new`, which has the same layout. What is returned is to be retired.
    fn take_memory(&self, new: Self) -> Memory {
        (self.version.exchange(new.version), self.storage.exchange(new.storage))
    }
    /// Gives up the memory, to be retired; the body still shows it to those who are reading.
    ///
    /// # Safety
    /// 1. From now on only those use the memory who are reading already. 2. The body is not dropped before
    ///    [`Body::forget_memory`], or [`Body::take_memory`] whose result is forgotten.
    unsafe fn give_up_memory(&self) -> Memory {
        // SAFETY: (`give_up` 1, 2) duties 1 and 2.
        unsafe { (self.version.give_up(), self.storage.give_up()) }
    }
    /// The memory was given up, and is not freed with this body.
    fn forget_memory(&mut self) {
        forget(std::mem::replace(&mut self.version, Shared::none()));
        forget(std::mem::replace(&mut self.storage, Shared::none()));
    }
}

type Memory = (Shared<Version>, Shared<Storage>);

/// A body that replaced another one. What is atomic changes while nobody is reading the body.
pub(crate) struct Successor {
    body: Body,
    /// The moment in which it became the current one.
    stamp: AtomicU64,
    /// The thread that made it the current one.
    by: AtomicUsize,
    /// The one that it replaced; null stands for the first one.
    before: AtomicPtr<Self>,
    /// Whether another body is the current one by now: the memory was given up.
    is_former: AtomicBool,
}

impl Successor {
    fn new(body: Body) -> Self {
        Self {
            body,
            stamp: AtomicU64::new(0),
            by: AtomicUsize::new(0),
            before: AtomicPtr::default(),
            is_former: AtomicBool::new(false),
        }
    }
    /// Whether the body may become the current one again.
    fn nobody_reads(this: &Arc<Self>) -> bool {
        let free = this.is_former.load(Ordering::Relaxed) && Arc::strong_count(this) == 1;
        // What readers did comes before the end of the other reference.
        fence(Ordering::Acquire);
        free
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        if *self.is_former.get_mut() {
            self.body.forget_memory();
        }
    }
}

/// The bodies that replaced the first one of a tensor, each layout as often as it was read at the same time. Who
/// retires the memory of a former one holds another reference to it: without that nobody can be reading it any more.
pub(crate) type Successors = Vec<Arc<Successor>>;

impl Inner {
    /// The newest body.
    fn newest(&self) -> &Body {
        // SAFETY: `current` only ever points to a body in `Meta::successors`, which lives as long as `self`.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }.map_or(&self.first, |s| &s.body)
    }

    /// The body that this thread sees, where there is more than one.
    #[cold]
    fn body_seen(&self, newest: *const Successor) -> &Body {
        let mut at = newest;
        // SAFETY: as in `newest`, also for `before`. A thread that is reading does not come to a body that has become
        // the current one again since it began: its memory was retired when another one replaced it, and nobody was
        // reading it any more, so this thread began after that and stops at the other one.
        while let Some(s) = unsafe { at.as_ref() } {
            if reclaim::sees(s.stamp.load(Ordering::Relaxed), s.by.load(Ordering::Relaxed)) {
                return &s.body;
            }
            at = s.before.load(Ordering::Relaxed);
        }
        &self.first
    }

    /// What a tensor shows at its end, for another tensor.
    pub(super) fn last_body(&self) -> Body {
        self.newest().share(&reading())
    }

    /// The first body's memory is not freed with the tensor if it was given up.
    pub(super) fn forget_former_memory(&mut self) {
        if !self.current.get_mut().is_null() {
            self.first.forget_memory();
        }
    }
}

impl Tensor {
    #[inline]
    pub(crate) fn body(&self) -> &Body {
        let p = self.inner().current.load(Ordering::Acquire);
        if p.is_null() { &self.inner().first } else { self.inner().body_seen(p) }
    }

    /// The body and its storage.
    #[inline]
    pub(crate) fn memory<'a>(&'a self, reading: &'a Proof) -> (&'a Body, Held<'a, Storage>) {
        let b = self.body();
        (b, b.storage.get(reading).expect("a body has a storage"))
    }

    /// The layout over the same memory, for another tensor.
    pub(crate) fn snapshot(&self) -> Body {
        let reading = reading();
        self.body().share(&reading)
    }

    /// Replaces layout, dtype and storage in place. The former memory is freed when nobody reads it.
    pub(crate) fn replace_body(&self, new: Body) {
        if record::is_recording() {
            record::refuse(|| "a tensor was given other memory or another layout in place".into());
        }
        let inner = self.inner();
        let mut successors = self.meta().successors.lock();
        let before = inner.current.load(Ordering::Acquire);
        let former = inner.newest();
        if former.has_layout_of(&new)
            && let Some(alone) = reclaim::alone()
        {
            let memory = former.take_memory(new);
            drop((alone, successors));
            return reclaim::retire(memory);
        }
        let free = successors.iter().position(|s| Successor::nobody_reads(s) && s.body.has_layout_of(&new));
        let at = match free {
            Some(at) => {
                // Given up, and freed since.
                forget(successors[at].body.take_memory(new));
                at
            }
            None => {
                successors.push(Arc::new(Successor::new(new)));
                successors.len() - 1
            }
        };
        let successor = &successors[at];
        let replaced = successors.iter().find(|s| std::ptr::eq(Arc::as_ptr(s), before)).cloned();
        successor.before.store(before, Ordering::Relaxed);
        successor.is_former.store(false, Ordering::Relaxed);
        reclaim::publish(|stamp, by| {
            successor.stamp.store(stamp, Ordering::Relaxed);
            successor.by.store(by, Ordering::Relaxed);
            inner.current.store(Arc::as_ptr(successor).cast_mut(), Ordering::Release);
        });
        if let Some(replaced) = &replaced {
            replaced.is_former.store(true, Ordering::Relaxed);
        }
        // SAFETY: 1. Whoever begins to read from now on sees the successor, and this thread does already. 2. A former
        // successor forgets its memory when it is dropped; the first body, in `forget_former_memory`.
        let memory = unsafe { former.give_up_memory() };
        drop(successors);
        // The reference to the successor goes with its memory.
        reclaim::retire((memory, replaced));
    }

    /// A number that stands for the layout among those that this tensor had.
    pub(crate) fn layout_number(&self) -> u32 {
        let body = self.body();
        if std::ptr::eq(body, &raw const self.inner().first) {
            return 0;
        }
        let successors = self.meta().successors.lock();
        successors.iter().position(|s| std::ptr::eq(&s.body, body)).map_or(0, |i| i as u32 + 1)
    }

    /// The body with this number, for its layout alone.
    pub(crate) fn body_number(&self, number: u32) -> &Body {
        let Some(at) = (number as usize).checked_sub(1) else { return &self.inner().first };
        let successor = Arc::as_ptr(&self.meta().successors.lock()[at]);
        // SAFETY: successors stay in `Meta::successors` as long as `self` lives.
        unsafe { &(*successor).body }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::counted::Counted;

    fn ones(n: usize) -> Tensor {
        Tensor::full(&[n], 1.0.into(), DType::Float32).unwrap()
    }
    fn bodies(x: &Tensor) -> usize {
        1 + x.meta().successors.lock().len()
    }

    #[test]
    fn a_reading_sees_one_layout_and_its_memory_whatever_another_thread_does() {
        let x = ones(2);
        let (began, replaced) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|s| {
            s.spawn(|| {
                let outer = reading();
                began.wait();
                replaced.wait();
                // The first look at the tensor comes after the replacement.
                assert_eq!((x.sizes(), x.storage().bytes()), (&[2][..], 8));
                assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 1.0]);
                // What the thread does itself it sees.
                x.set_data(&ones(5)).unwrap();
                assert_eq!((x.sizes(), x.storage().bytes()), (&[5][..], 20));
                drop(outer);
                assert_eq!(x.sizes(), [5]);
            });
            began.wait();
            x.set_data(&ones(300)).unwrap();
            assert_eq!((x.sizes(), x.storage().bytes()), (&[300][..], 1200));
            x.set_data(&ones(4000)).unwrap();
            replaced.wait();
        });
        assert_eq!((x.sizes(), x.storage().bytes()), (&[5][..], 20));
    }

    #[test]
    fn a_body_becomes_current_again_once_nobody_reads_it() {
        let (two, three) = (ones(2), ones(3));
        let after_replacements = || {
            let x = ones(2);
            for _ in 0..10 {
                x.set_data(&three).unwrap();
                assert_eq!(x.to_vec::<f32>().unwrap().len(), 3);
                x.set_data(&two).unwrap();
                assert_eq!(x.to_vec::<f32>().unwrap().len(), 2);
                assert!(x.shares_storage(&two));
            }
            bodies(&x)
        };
        // Other tests may be reading, and then a body waits for them, and so does memory.
        let soon = |done: &dyn Fn() -> bool| {
            (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                reclaim::collect();
                done()
            })
        };
        assert!(soon(&|| after_replacements() <= 3), "bodies are not used again");
        let held = || (Counted::strong_count(&two.storage()), Counted::strong_count(&three.storage()));
        assert!(soon(&|| held() == (2, 2)), "the memory is held: {:?}", held());
    }

    /// Threads that read, write in place and take views, while another one gives the tensor other layouts.
    #[test]
    fn layouts_and_memory_belong_together_under_many_threads() {
        let (rounds, many) = if cfg!(miri) { (20, 50) } else { (3000, 20_000) };
        let x = ones(2);
        let sources = [ones(2), ones(many), ones(7)];
        let stop = AtomicBool::new(false);
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let read = x.to_vec::<f32>().unwrap();
                        assert!([2, many, 7].contains(&read.len()), "{}", read.len());
                        assert!(read.iter().all(|&v| v == 1.0), "an element of other memory");
                        assert_eq!(x.mul(&x).unwrap().to_vec::<f32>().unwrap()[1], 1.0);
                        // The sizes may be others by then: not while it adds up.
                        let (total, n) = (x.sum(None).unwrap().item().unwrap().as_f64(), [2.0, many as f64, 7.0]);
                        assert!(n.contains(&total), "{total}");
                        drop(x.narrow(0, 0, 2).unwrap());
                    }
                });
            }
            for i in 0..rounds {
                x.set_data(&sources[i % 3]).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}
