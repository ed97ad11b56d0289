//! Where in the user's program something happened, stored at all times so that errors can name the lines involved.
//!
//! The host language registers [`SourceLocations`]; it encodes a location in one number, cheaply enough for every
//! recorded op, and turns the number into text when an error is made.

use std::fmt;
use std::sync::OnceLock;

/// A place in the host program as the host encodes it; zero: unknown.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct CallSite(pub u64);

/// What the host language knows of places in its programs.
pub trait SourceLocations: Send + Sync {
    /// The place that is being executed on this thread; zero if there is none.
    fn here(&self) -> u64;
    /// The place in words; `None` if it is no longer known.
    fn describe(&self, origin: u64) -> Option<SourceLocation>;
}

/// A line of the host program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: String,
    pub line: u32,
    /// The function around the line.
    pub function: String,
    /// The line itself, if its source is available.
    pub text: Option<String>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}, in {}", self.file, self.line, self.function)?;
        match &self.text {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

static PLACES: OnceLock<&'static dyn SourceLocations> = OnceLock::new();

/// Has `places` asked from now on. Only the first call counts.
pub fn register(places: &'static dyn SourceLocations) {
    let _ = PLACES.set(places);
}

impl CallSite {
    /// The place that is being executed; unknown without a host language.
    #[inline]
    pub fn here() -> Self {
        Self(PLACES.get().map_or(0, |p| p.here()))
    }
    /// The place in words.
    #[cold]
    pub fn place(self) -> Option<SourceLocation> {
        if self.0 == 0 { None } else { PLACES.get()?.describe(self.0) }
    }
}
