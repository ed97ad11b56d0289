//! extreme
