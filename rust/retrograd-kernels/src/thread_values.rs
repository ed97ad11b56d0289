//! Values that each thread has of its own: a few that are quickly found, and all others behind one of these.
//!
//! In a shared library a look for a `thread_local!` is a call into the dynamic linker: some 16 instructions, with what
//! the caller saves around it, and a small op asks fifteen times. Who asks the linker for a descriptor instead pays
//! six, as long as all that the library has of each thread fits into the room that glibc keeps for such libraries (512
//! bytes, its tunable `glibc.rtld.optional_static_tls`); if not, a look costs what it costs else, and nothing fails
//! (A. Oliva and G. Araujo, "Speeding Up Thread-Local Storage Access in Dynamic Libraries", GCC Developers' Summit
//! 2006). The compiler has no stable way to ask for a descriptor: [`thread_block!`](crate::thread_block) does so in
//! assembly. To keep the room, what is seldom asked for is a [`ThreadValue`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a value of a [`thread_block!`](crate::thread_block) may have.
pub const MOST: usize = 64;

/// Defines a function that hands the calling thread's value to a closure.
///
/// `thread_block!(unsafe fn name: Type = "symbol", begins with WORD, else VALUE)`: the value of a new thread is the
/// four bytes of the `u32` WORD and zeros after them, which is VALUE. The symbol belongs to this value alone, in all
/// that is linked into one file. Nothing in the value is dropped.
///
/// # Safety
/// 1. WORD and zeros are a valid value of the type, the same as VALUE.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(any(miri, loom))))]
#[macro_export]
macro_rules! thread_block {
    ($(#[$doc:meta])* unsafe $vis:vis fn $name:ident: $T:ty = $symbol:expr, begins with $word:expr, else $value:expr) => {
        const _: () = assert!(
            !::std::mem::needs_drop::<$T>()
                && size_of::<$T>() <= $crate::thread_values::MOST
                && size_of::<$T>() >= 4
                && align_of::<$T>() <= 8
        );
        ::std::arch::global_asm!(
            concat!(".pushsection .tdata.", $symbol, ",\"awT\",@progbits"),
            ".p2align 3",
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@object"),
            concat!(".size ", $symbol, ", {size}"),
            concat!($symbol, ":"),
            ".long {word}",
            ".zero {size} - 4",
            ".popsection",
            word = const $word,
            size = const size_of::<$T>(),
        );
        $(#[$doc])*
        #[inline(always)]
        $vis fn $name<R>(f: impl FnOnce(&$T) -> R) -> R {
            let at: *const $T;
            // SAFETY: what the descriptor leads to takes its address in RAX and gives back there how far the value is
            // from the address that the thread's block begins with, and saves all other registers but the flags. (In
            // some versions of glibc it does not save those of vectors, when the value is first asked for.) For one
            // thread the result is always the same.
            unsafe {
                ::std::arch::asm!(
                    concat!("leaq ", $symbol, "@TLSDESC(%rip), %rax"),
                    concat!("call *", $symbol, "@TLSCALL(%rax)"),
                    "addq %fs:0, %rax",
                    out("rax") at,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(att_syntax, pure, nomem),
                );
            }
            // SAFETY: the value lives as long as the thread, on which the closure runs. It is aligned, as the
            // definition says, and began as a valid one by duty 1. Other threads have their own.
            f(unsafe { &*at })
        }
    };
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(any(miri, loom)))))]
#[macro_export]
macro_rules! thread_block {
    ($(#[$doc:meta])* unsafe $vis:vis fn $name:ident: $T:ty = $symbol:expr, begins with $word:expr, else $value:expr) => {
        const _: () = assert!(!::std::mem::needs_drop::<$T>() && size_of::<$T>() <= $crate::thread_values::MOST);
        $(#[$doc])*
        #[inline(always)]
        $vis fn $name<R>(f: impl FnOnce(&$T) -> R) -> R {
            ::std::thread_local! {
                static VALUE: $T = const { $value };
            }
            VALUE.with(f)
        }
    };
}

/// A value of each thread, which is made when the thread first asks for it and dropped when the thread ends.
///
/// It is used as a `LocalKey` is. What is dropped at the end of a thread may still ask for values that were not
/// dropped before it.
pub struct ThreadValue<T: 'static> {
    /// One more than its place among the values of a thread; 0 before it has one.
    number: AtomicUsize,
    first: fn() -> T,
}

/// The thread ends, and its value was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Nothing would drop the values at the end of the thread.
    New,
    Open,
    Ended,
}

struct Values {
    /// By place.
    values: RefCell<Vec<Option<Box<dyn Any>>>>,
    stage: Cell<Stage>,
}

thread_local! {
    /// [`End`] drops what is in it.
    static VALUES: ManuallyDrop<Values> = const {
        ManuallyDrop::new(Values { values: RefCell::new(Vec::new()), stage: Cell::new(Stage::New) })
    };
    /// Dropped when the thread ends.
    static END: End = const { End };
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        VALUES.with(|all| {
            all.stage.set(Stage::Ended);
            // Each is dropped when nothing is borrowed any more: its drop may ask for others.
            while let Some(last) = { all.values.borrow_mut().pop() } {
                drop(last);
            }
            all.values.take();
        });
    }
}

impl<T: 'static> ThreadValue<T> {
    /// `first` makes the value of a thread.
    pub const fn new(first: fn() -> T) -> Self {
        Self { number: AtomicUsize::new(0), first }
    }

    fn number(&self) -> usize {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        match self.number.load(Ordering::Relaxed) {
            0 => {
                let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                match self.number.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => fresh,
                    Err(others) => others,
                }
            }
            number => number,
        }
    }

    /// Hands the thread's value to `f`, unless the thread has dropped it.
    #[inline]
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, Ended> {
        let at = VALUES.with(|all| {
            let place = self.number.load(Ordering::Relaxed).wrapping_sub(1);
            match all.values.borrow().get(place) {
                Some(Some(value)) => Ok(NonNull::from(value.downcast_ref::<T>().expect("places are of one value"))),
                _ => Err(Ended),
            }
        });
        let at = at.or_else(|_| self.make())?;
        // SAFETY: the value has memory of its own, from which nothing takes it but the end of the thread, which cannot
        // come before `f` has returned: what is dropped then was taken from its place before.
        Ok(f(unsafe { at.as_ref() }))
    }

    #[cold]
    fn make(&'static self) -> Result<NonNull<T>, Ended> {
        VALUES.with(|all| {
            if all.stage.get() == Stage::New {
                END.try_with(|_| ()).map_err(|_| Ended)?;
                all.stage.set(Stage::Open);
            }
            if all.stage.get() == Stage::Ended {
                return Err(Ended);
            }
            let place = self.number() - 1;
            let value: Box<dyn Any> = Box::new((self.first)());
            let mut values = all.values.borrow_mut();
            if values.len() <= place {
                values.resize_with(place + 1, || None);
            }
            let value = values[place].get_or_insert(value);
            Ok(NonNull::from(value.downcast_ref::<T>().expect("places are of one value")))
        })
    }

    /// Hands the thread's value to `f`.
    ///
    /// # Panics
    /// If the thread has dropped it.
    #[inline]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("the thread ends, and has dropped the value that it is asked for")
    }
}

/// As those of a `LocalKey`, with its panics.
impl<T: 'static> ThreadValue<RefCell<T>> {
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|value| f(&value.borrow()))
    }
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|value| f(&mut value.borrow_mut()))
    }
    pub fn set(&'static self, value: T) {
        drop(self.replace(value));
    }
    pub fn replace(&'static self, value: T) -> T {
        self.with(|own| own.replace(value))
    }
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[repr(C)]
    struct Value {
        first: Cell<u32>,
        rest: Cell<u64>,
        last: Cell<Option<&'static str>>,
    }

    thread_block!(
        /// SAFETY: (1) Zeros are a number and no string.
        unsafe fn value: Value = "retrograd_kernels_test_value", begins with 7, else
            Value { first: Cell::new(7), rest: Cell::new(0), last: Cell::new(None) }
    );

    fn seen() -> (u32, u64, Option<&'static str>) {
        value(|v| (v.first.get(), v.rest.get(), v.last.get()))
    }

    #[test]
    fn each_thread_has_a_block_of_its_own() {
        assert_eq!(seen(), (7, 0, None));
        value(|v| (v.first.set(1), v.rest.set(2), v.last.set(Some("here"))));
        let address = || value(|v| std::ptr::from_ref(v) as usize);
        let here = address();
        for _ in 0..3 {
            let there = thread::spawn(move || {
                assert_eq!(seen(), (7, 0, None));
                value(|v| v.rest.set(3));
                assert_eq!(seen(), (7, 3, None));
                address()
            });
            assert_ne!(there.join().expect("it ended"), here);
        }
        assert_eq!(seen(), (1, 2, Some("here")));
        assert_eq!(address(), here);
        assert_eq!(here % align_of::<Value>(), 0);
    }

    static NAMES: ThreadValue<RefCell<Vec<&str>>> = ThreadValue::new(|| RefCell::new(vec!["first"]));
    static COUNT: ThreadValue<Cell<u64>> = ThreadValue::new(|| Cell::new(5));

    #[test]
    fn each_thread_has_values_of_its_own() {
        NAMES.with_borrow_mut(|names| names.push("second"));
        COUNT.with(|count| count.set(6));
        thread::spawn(|| {
            assert_eq!(NAMES.take(), ["first"]);
            assert_eq!(COUNT.with(Cell::get), 5);
            NAMES.set(vec!["other"]);
            assert_eq!(NAMES.replace(Vec::new()), ["other"]);
        })
        .join()
        .expect("it ended");
        assert_eq!(NAMES.with_borrow(Vec::len), 2);
        assert_eq!(COUNT.with(Cell::get), 6);
    }

    /// Asks for itself and for others when it is dropped.
    struct Asks;
    static ASKS: ThreadValue<Asks> = ThreadValue::new(|| Asks);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    impl Drop for Asks {
        fn drop(&mut self) {
            assert_eq!(ASKS.try_with(|_| ()), Err(Ended));
            let earlier = NAMES.try_with(|names| names.borrow_mut().push("late"));
            let later = LATER.try_with(|_| ());
            DROPPED.store(1 + usize::from(earlier.is_ok()) + 10 * usize::from(later.is_ok()), Ordering::SeqCst);
        }
    }

    static LATER: ThreadValue<Cell<u8>> = ThreadValue::new(|| Cell::new(0));

    #[test]
    fn what_a_thread_drops_at_its_end_may_ask_for_what_is_left() {
        thread::spawn(|| {
            NAMES.with(|_| ());
            ASKS.with(|_| ());
            LATER.with(|_| ());
        })
        .join()
        .expect("it ended");
        let asked = DROPPED.load(Ordering::SeqCst);
        // Values are dropped from the last place on, and places are given when a value is first asked for, here or in
        // another test.
        let earlier = NAMES.number() < ASKS.number();
        let later = LATER.number() < ASKS.number();
        assert_eq!(asked, 1 + usize::from(earlier) + 10 * usize::from(later));
    }
}
