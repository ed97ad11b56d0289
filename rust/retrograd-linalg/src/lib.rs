//! Decompositions of one matrix, on top of faer, in the formats of LAPACK, which torch returns.
//!
//! A crate of its own so that faer's loops are compiled once, and not whenever a kernel or an op changes. It starts no
//! thread: whoever has a batch divides it.
