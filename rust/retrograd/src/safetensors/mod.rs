//! Files of named tensors. Empty as yet.
