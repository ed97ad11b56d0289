//! random
use super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
