//! Ops that choose between operands.
use super::super::Entry;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[];
