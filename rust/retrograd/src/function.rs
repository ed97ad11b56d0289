//! Ops with a context, by a trait. Empty as yet.
