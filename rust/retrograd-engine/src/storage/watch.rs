//! Telling a profile of memory that storages get and give up.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many want to know.
static WATCHING: AtomicU32 = AtomicU32::new(0);
static WATCHER: OnceLock<fn(i64, usize)> = OnceLock::new();

/// Has `watcher` called with the bytes that a storage gets (or gives up, if negative) and their address, until
/// [`end`] was called as often. The first watcher stays.
pub(crate) fn begin(watcher: fn(i64, usize)) {
    let _ = WATCHER.set(watcher);
    WATCHING.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn end() {
    WATCHING.fetch_sub(1, Ordering::Relaxed);
}

/// Nobody watches in a forked process.
#[cfg(all(unix, not(miri)))]
pub(crate) fn forget() {
    WATCHING.store(0, Ordering::Relaxed);
}

#[inline]
pub(super) fn changed(bytes: impl FnOnce() -> i64, address: *const u8) {
    if WATCHING.load(Ordering::Relaxed) != 0 {
        tell(bytes(), address.addr());
    }
}

#[cold]
fn tell(bytes: i64, address: usize) {
    if let Some(watcher) = WATCHER.get()
        && bytes != 0
    {
        watcher(bytes, address);
    }
}
