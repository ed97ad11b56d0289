//! Random generators: torch's CPU streams behind a lock.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::kernels::random::Mt19937;
use crate::thread;

/// A source of random numbers; clones are the same source.
#[derive(Clone)]
pub struct Generator(Arc<Mutex<Mt19937>>);

/// The seed of a generator nobody seeded, as in torch.
pub const DEFAULT_SEED: u64 = 67280421310721;

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Mt19937::new(seed))))
    }
    /// Looks at the engine.
    pub fn read<R>(&self, f: impl FnOnce(&Mt19937) -> R) -> R {
        f(&self.0.lock())
    }
    /// Runs `f`, which draws numbers or sets the state, with the engine locked.
    pub fn with<R>(&self, f: impl FnOnce(&mut Mt19937) -> R) -> R {
        thread::note(thread::DREW);
        f(&mut self.0.lock())
    }
}

/// The generator used when none is given.
pub fn default_generator() -> &'static Generator {
    static DEFAULT: OnceLock<Generator> = OnceLock::new();
    DEFAULT.get_or_init(|| Generator::new(DEFAULT_SEED))
}

/// Seeds the default generator.
pub fn manual_seed(seed: u64) {
    default_generator().with(|g| g.seed(seed));
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator")
    }
}
