//! Structures of tensors, taken apart and put together. Empty as yet.
