//! Indexing, and the items that it takes. Empty as yet.
