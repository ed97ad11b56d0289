//! Comparisons and logic.
use super::super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
