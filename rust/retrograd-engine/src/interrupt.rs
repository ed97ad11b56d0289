//! Whether a long op is to end: the host language knows which keys its user pressed.

use std::cell::Cell;
use std::sync::OnceLock;

use crate::error::Result;

/// An error if the user wants the op to end.
pub type Host = fn() -> Result<()>;

static HOST: OnceLock<Host> = OnceLock::new();

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// Registers who is asked; the first registration stays.
pub fn set_host(host: Host) {
    let _ = HOST.set(host);
}

/// To be called between blocks of work by ops whose work grows with a number of the user's, and not only with the sizes
/// of tensors that exist or fit.
pub fn check() -> Result<()> {
    ASKED.set(ASKED.get() + 1);
    HOST.get().map_or(Ok(()), |host| host())
}

/// How often ops of this thread have called [`check`].
pub(crate) fn asked() -> u64 {
    ASKED.get()
}
