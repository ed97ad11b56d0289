//! Exchange with the crate `ndarray`. Empty as yet.
