//! The state of the default generator, for functions that are called again and must draw the same numbers.

use crate::engine::generator::default_generator;
use crate::{Error, Result};

/// The state at one moment.
#[derive(PartialEq)]
pub(crate) struct RandomState(Vec<u8>);

impl RandomState {
    pub fn now() -> Self {
        Self(default_generator().read(|g| g.state()))
    }

    /// Puts the generator into this state, if it is in another: other threads use it, too.
    pub fn set(&self) -> Result<()> {
        if *self == Self::now() {
            return Ok(());
        }
        default_generator().with(|g| g.set_state(&self.0)).map_err(|why| Error::value("set_state", why))
    }

    /// As [`RandomState::set`]; the state before is put back when the result is dropped.
    pub fn exchange(&self) -> Result<PutBack> {
        let before = PutBack(Self::now());
        self.set()?;
        Ok(before)
    }
}

/// The generator is put back into a state when this is dropped.
pub(crate) struct PutBack(RandomState);

impl Drop for PutBack {
    fn drop(&mut self) {
        // A state that the generator gave is one that it takes.
        let _ = self.0.set();
    }
}
