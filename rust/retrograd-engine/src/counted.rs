//! Values with counted references, as those of `std::sync::Arc`, whose last reference goes without an atomic exchange.
//!
//! An op makes a tensor, a storage and a node, and each mostly has one reference when it is dropped. The standard `Arc`
//! exchanges two counters atomically then, each for some 6 ns. Here both are halves of one word: who reads in it that
//! there is one reference, which is its own, knows that nobody can make another one.
//!
//! - **C1** The lower half of the word counts `Counted`s, the upper half `WeakCounted`s, and one more for all
//!   `Counted`s together.
//! - **C2** The value lives while there is an `Counted`, its memory while there is either.
//! - **C3** Who decrements the word releases what it did with the value; who finds itself alone acquires that.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::process::abort;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};

const ONE: u64 = 1;
const ONE_WEAK: u64 = 1 << 32;
/// There is one `Counted`, and no `WeakCounted`.
const ALONE: u64 = ONE_WEAK + ONE;
/// Counts beyond it end the process: somebody forgets references in a loop. So no half runs over.
const MOST: u64 = 1 << 31;

#[repr(C)]
struct Slot<T: ?Sized> {
    count: AtomicU64,
    value: ManuallyDrop<T>,
}

/// A reference to a value that lives as long as there is one.
pub struct Counted<T: ?Sized>(NonNull<Slot<T>>, PhantomData<Slot<T>>);

/// A reference that does not keep the value alive.
pub struct WeakCounted<T: ?Sized>(NonNull<Slot<T>>, PhantomData<Slot<T>>);

// SAFETY: as for `std::sync::Arc`: whoever has one can share the value, and drop it.
unsafe impl<T: ?Sized + Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for Counted<T> {}
// SAFETY: as above, since one can make an `Counted` of it.
unsafe impl<T: ?Sized + Send + Sync> Send for WeakCounted<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for WeakCounted<T> {}
impl<T: ?Sized + RefUnwindSafe> UnwindSafe for Counted<T> {}
impl<T: ?Sized + RefUnwindSafe> UnwindSafe for WeakCounted<T> {}

fn arcs(count: u64) -> u64 {
    count & (ONE_WEAK - 1)
}

fn weaks(count: u64) -> u64 {
    count >> 32
}

/// Memory for a value that is written to its place, field by field: what is put together on the stack and moved is read
/// in larger pieces than it was written in, a moment later, which the CPU cannot hand on before they are stored: it
/// stands still for some 5 ns each time. (So does what a closure is given by value.)
///
/// Not a box: whenever one is moved, what leads to its contents otherwise would no longer be valid, and a value may
/// lead to itself.
pub(crate) struct Place<T>(NonNull<Slot<T>>);

impl<T> Place<T> {
    #[inline(always)]
    pub fn new() -> Self {
        // SAFETY: a box is not null.
        Self(unsafe { NonNull::new_unchecked(Box::into_raw(Box::<Slot<T>>::new_uninit()).cast()) })
    }
    /// Where the value is to be.
    #[inline(always)]
    pub fn ptr(&mut self) -> *mut T {
        // SAFETY: a field of the slot. `ManuallyDrop` has its value at its own address.
        unsafe { (&raw mut (*self.0.as_ptr()).value).cast() }
    }
    /// The first reference to the value.
    ///
    /// # Safety
    /// There is a value: each field of it was written.
    #[inline(always)]
    pub unsafe fn filled(self) -> Counted<T> {
        let slot = ManuallyDrop::new(self).0;
        // SAFETY: by contract, and the count is all else.
        unsafe { (&raw mut (*slot.as_ptr()).count).write(AtomicU64::new(ALONE)) };
        Counted(slot, PhantomData)
    }
}

impl<T> Drop for Place<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box of `new`, which `filled` gives to nobody else then.
        drop(unsafe { Box::from_raw(self.0.as_ptr().cast::<MaybeUninit<Slot<T>>>()) });
    }
}

impl<T> Counted<T> {
    #[inline]
    pub fn new(value: T) -> Self {
        Self::of(Box::new(Slot { count: AtomicU64::new(ALONE), value: ManuallyDrop::new(value) }))
    }

    /// The value's address, for [`Counted::from_raw`]: it stands for the reference.
    #[inline]
    pub fn into_raw(this: Self) -> *const T {
        Self::as_ptr(&ManuallyDrop::new(this))
    }

    /// # Safety
    /// The address came from [`Counted::into_raw`], once for each call of this.
    #[inline]
    pub unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: by contract.
        unsafe { Self::from_raw_as(value) }
    }

    /// The reference to the value as one of another type.
    ///
    /// # Safety
    /// `unsize` returns the address that it is given, with what the other type adds to it.
    #[inline]
    pub(crate) unsafe fn unsized_by<U: ?Sized>(this: Self, unsize: impl FnOnce(*const T) -> *const U) -> Counted<U> {
        // SAFETY: by contract.
        unsafe { Self::from_raw_as(unsize(Self::into_raw(this))) }
    }

    /// # Safety
    /// The address of a `T`, as for [`Counted::from_raw`].
    #[inline]
    unsafe fn from_raw_as<U: ?Sized>(value: *const U) -> Counted<U> {
        let slot = value as *mut Slot<U>;
        // SAFETY: the value of a `Slot`, by contract, and an address in an allocation is not null.
        Counted(unsafe { NonNull::new_unchecked(slot.byte_sub(offset_of!(Slot<T>, value))) }, PhantomData)
    }
}

impl<T: ?Sized> Counted<T> {
    #[inline(always)]
    fn of(slot: Box<Slot<T>>) -> Self {
        // SAFETY: a box is not null.
        Self(unsafe { NonNull::new_unchecked(Box::into_raw(slot)) }, PhantomData)
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<T> {
        // SAFETY: C2. References to the value and the count may be shared.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub fn as_ptr(this: &Self) -> *const T {
        // SAFETY: a field of what the pointer leads to, by C2, which has its value at its own address.
        unsafe { &raw const (*this.0.as_ptr()).value as *const T }
    }

    #[inline]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::ptr::addr_eq(this.0.as_ptr(), other.0.as_ptr())
    }

    /// How many `Counted`s there are at this moment.
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        arcs(this.slot().count.load(Ordering::Relaxed)) as usize
    }

    #[inline]
    pub fn downgrade(this: &Self) -> WeakCounted<T> {
        let before = this.slot().count.fetch_add(ONE_WEAK, Ordering::Relaxed);
        if weaks(before) >= MOST {
            abort();
        }
        WeakCounted(this.0, PhantomData)
    }

    /// The value, if this is the only reference of either kind.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        // SAFETY: C1: nobody else has a reference that another one could be made of, and this one is borrowed.
        (this.slot().count.load(Ordering::Acquire) == ALONE).then(|| unsafe { Self::contents(this) })
    }

    /// The value, of which nobody knows yet.
    ///
    /// # Safety
    /// While the result is used, there is no other reference of either kind, and nobody borrows from this one.
    #[inline(always)]
    pub(crate) unsafe fn contents(this: &mut Self) -> &mut T {
        // SAFETY: by contract. Not the count, which who has a `WeakCounted` reads.
        unsafe { &mut (*this.0.as_ptr()).value }
    }

    // Apart, since most are dropped by the fast path.
    #[cold]
    #[inline(never)]
    fn drop_one_of_many(&mut self) {
        if arcs(self.slot().count.fetch_sub(ONE, Ordering::Release)) != 1 {
            return;
        }
        fence(Ordering::Acquire);
        // SAFETY: C2: that was the last `Counted`. What all of them counted as a `WeakCounted` is given up after the
        // value.
        unsafe { ManuallyDrop::drop(&mut (*self.0.as_ptr()).value) };
        drop(WeakCounted(self.0, PhantomData));
    }
}

impl<T: ?Sized> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        if self.slot().count.load(Ordering::Acquire) != ALONE {
            return self.drop_one_of_many();
        }
        // SAFETY: C1, C3: there is no other reference, nor can one be made. A `Box` of a `Slot` drops no value.
        unsafe {
            ManuallyDrop::drop(&mut (*self.0.as_ptr()).value);
            drop(Box::from_raw(self.0.as_ptr()));
        }
    }
}

impl<T: ?Sized> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        if arcs(self.slot().count.fetch_add(ONE, Ordering::Relaxed)) >= MOST {
            abort();
        }
        Self(self.0, PhantomData)
    }
}

impl<T: ?Sized> Deref for Counted<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.slot().value
    }
}

impl<T: ?Sized> AsRef<T> for Counted<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Counted<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> WeakCounted<T> {
    fn count(&self) -> &AtomicU64 {
        // SAFETY: C2: the memory is there, though the value may not be.
        unsafe { &(*self.0.as_ptr()).count }
    }

    /// The value, if there is still an `Counted` of it.
    pub fn upgrade(&self) -> Option<Counted<T>> {
        let more = |count| (arcs(count) != 0).then_some(count + ONE);
        let before = self.count().fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok()?;
        if arcs(before) >= MOST {
            abort();
        }
        Some(Counted(self.0, PhantomData))
    }

    /// How many `Counted`s there are at this moment.
    pub fn strong_count(&self) -> usize {
        arcs(self.count().load(Ordering::Relaxed)) as usize
    }
}

impl<T: ?Sized> Clone for WeakCounted<T> {
    fn clone(&self) -> Self {
        if weaks(self.count().fetch_add(ONE_WEAK, Ordering::Relaxed)) >= MOST {
            abort();
        }
        Self(self.0, PhantomData)
    }
}

impl<T: ?Sized> Drop for WeakCounted<T> {
    fn drop(&mut self) {
        if weaks(self.count().fetch_sub(ONE_WEAK, Ordering::Release)) != 1 {
            return;
        }
        fence(Ordering::Acquire);
        // SAFETY: C2: there is no reference any more, and the value was dropped. A `Box` of a `Slot` drops no value.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    /// Counts its drops.
    struct Counts<'a> {
        drops: &'a AtomicUsize,
        mark: u64,
    }
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            assert_eq!(self.mark, 7, "dropped twice, or never made");
            self.mark = 0;
            self.drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_value_goes_with_its_last_arc() {
        let drops = AtomicUsize::new(0);
        let a = Counted::new(Counts { drops: &drops, mark: 7 });
        let b = a.clone();
        assert!(Counted::ptr_eq(&a, &b) && Counted::strong_count(&a) == 2);
        drop(a);
        assert_eq!((drops.load(Ordering::Relaxed), Counted::strong_count(&b)), (0, 1));
        drop(b);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_weak_keeps_memory_and_no_value() {
        let drops = AtomicUsize::new(0);
        let a = Counted::new(Counts { drops: &drops, mark: 7 });
        let (weak, other) = (Counted::downgrade(&a), Counted::downgrade(&a));
        let b = weak.upgrade().unwrap();
        drop((a, other));
        assert_eq!((b.mark, weak.strong_count()), (7, 1));
        drop(b);
        assert_eq!((drops.load(Ordering::Relaxed), weak.strong_count()), (1, 0));
        assert!(weak.clone().upgrade().is_none());
    }

    #[test]
    fn a_value_can_be_written_while_nobody_else_has_it() {
        let mut a = Counted::new(1);
        *Counted::get_mut(&mut a).unwrap() = 2;
        let weak = Counted::downgrade(&a);
        assert!(Counted::get_mut(&mut a).is_none());
        drop(weak);
        let b = a.clone();
        assert!(Counted::get_mut(&mut a).is_none());
        drop(b);
        assert_eq!(Counted::get_mut(&mut a), Some(&mut 2));
    }

    #[test]
    fn raw_addresses_and_objects_are_the_same_value() {
        #[repr(align(64))]
        struct Aligned {
            byte: u8,
        }
        let raw = Counted::into_raw(Counted::new(Aligned { byte: 3 }));
        assert!(raw.addr().is_multiple_of(64));
        // SAFETY: from `into_raw`, once.
        assert_eq!(unsafe { Counted::from_raw(raw) }.byte, 3);
        let drops = AtomicUsize::new(0);
        {
            // SAFETY: the same address.
            let object: Counted<dyn Send + '_> =
                unsafe { Counted::unsized_by(Counted::new(Counts { drops: &drops, mark: 7 }), |p| p as _) };
            let weak = Counted::downgrade(&object);
            drop(object.clone());
            drop(object);
            assert!(weak.upgrade().is_none());
        }
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        let mut place = Place::<u32>::new();
        // SAFETY: an integer is written to a place for one.
        let five = unsafe {
            place.ptr().write(5);
            place.filled()
        };
        assert_eq!((*five, Counted::strong_count(&five)), (5, 1));
    }

    #[test]
    fn threads_drop_clone_and_upgrade_side_by_side() {
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let drops = AtomicUsize::new(0);
        for _ in 0..rounds {
            let a = Counted::new(Counts { drops: &drops, mark: 7 });
            let (b, weak) = (a.clone(), Counted::downgrade(&a));
            thread::scope(|s| {
                if rounds < 100 || drops.load(Ordering::Relaxed).is_multiple_of(8) {
                    s.spawn(move || drop(a));
                    s.spawn(move || assert_eq!(b.clone().mark, 7));
                    s.spawn(move || assert!(weak.upgrade().is_none_or(|c| c.mark == 7)));
                } else {
                    drop((a, b));
                    assert!(weak.upgrade().is_none());
                }
            });
        }
        assert_eq!(drops.load(Ordering::Relaxed), rounds);
    }
}
