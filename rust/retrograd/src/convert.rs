//! Tensors from numbers, slices and arrays, and back. Empty as yet.
