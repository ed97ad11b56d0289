//! Values that are made where they stay.

use std::mem::MaybeUninit;
use std::sync::Arc;

/// An `Arc` of what `make` returns, which the compiler writes into it directly: `Arc::new` is given a value and copies
/// it.
#[inline(always)]
pub(crate) fn arc<T>(make: impl FnOnce() -> T) -> Arc<T> {
    let arc = Arc::new(MaybeUninit::<T>::uninit());
    // SAFETY: the place of a value, which nobody else has and nobody has borrowed; it is initialised then. (To ask
    // `Arc::get_mut` for it is an atomic exchange.) If `make` panics, the place has no value to drop.
    unsafe {
        Arc::as_ptr(&arc).cast_mut().cast::<T>().write(make());
        arc.assume_init()
    }
}
