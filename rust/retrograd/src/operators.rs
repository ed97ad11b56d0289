//! The operators of Rust on tensors and numbers. Empty as yet.
