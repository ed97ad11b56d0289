//! The place in the program that called an op, for errors. Empty as yet.
