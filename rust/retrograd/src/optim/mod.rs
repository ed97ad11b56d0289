//! Optimizers and their schedules. Empty as yet.
