//! Modes of a thread, such as `no_grad`, for the time of a closure. Empty as yet.
