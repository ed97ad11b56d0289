//! Where in the user's program something happened, stored at all times so that errors can name the lines involved.
//!
//! The host language registers [`SourceLocations`]; it encodes a location in one number, cheaply enough for every
//! recorded op, and turns the number into text when an error is made.

use std::fmt;
use std::sync::OnceLock;

/// A location in the host program as the host encodes it; zero: unknown.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct CallSite(pub u64);

/// What the host language knows of locations in its programs.
pub trait SourceLocations: Send + Sync {
    /// The location that this thread executes; zero if there is none.
    fn here(&self) -> u64;
    /// The locations that this thread came through, innermost first.
    fn stack(&self) -> Vec<u64> {
        vec![self.here()]
    }
    /// The location as text; `None` if it is no longer known.
    fn describe(&self, site: u64) -> Option<SourceLocation>;
}

/// A line of the host program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: String,
    pub line: u32,
    /// The function around the line; empty if that is not known.
    pub function: String,
    /// The line itself, if its source is available.
    pub text: Option<String>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if !self.function.is_empty() {
            write!(f, ", in {}", self.function)?;
        }
        match &self.text {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

static LOCATIONS: OnceLock<&'static dyn SourceLocations> = OnceLock::new();

/// Registers the host language's [`SourceLocations`]. Only the first call counts.
pub fn register(locations: &'static dyn SourceLocations) {
    let _ = LOCATIONS.set(locations);
}

/// The locations that this thread came through, innermost first; none without a host language.
#[cold]
pub(crate) fn stack() -> Box<[CallSite]> {
    LOCATIONS.get().map_or_else(Box::default, |p| p.stack().into_iter().map(CallSite).collect())
}

impl CallSite {
    /// The location that is being executed; unknown without a host language.
    #[inline]
    pub fn here() -> Self {
        Self(LOCATIONS.get().map_or(0, |p| p.here()))
    }
    /// The location as text.
    #[cold]
    pub fn location(self) -> Option<SourceLocation> {
        if self.0 == 0 { None } else { LOCATIONS.get()?.describe(self.0) }
    }
}
