//! Fourier transforms of lines, contiguous in memory, on top of rustfft and realfft, with plans that are cached.
//!
//! A crate of its own so that the transforms are compiled once, and not whenever a kernel or an op changes. It starts no
//! thread: whoever has many lines divides them.
