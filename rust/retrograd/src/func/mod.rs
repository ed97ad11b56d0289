//! Transforms of closures: derivatives, batches, recordings. Empty as yet.
