//! Closures that see gradients, and what is saved for the backward pass. Empty as yet.
