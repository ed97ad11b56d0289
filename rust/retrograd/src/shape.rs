//! Sizes and dimensions, from whatever says them. Empty as yet.
