//! Ops made of two closures, a function and its derivative. Empty as yet.
