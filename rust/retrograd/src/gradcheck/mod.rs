//! Derivatives, compared with differences. Empty as yet.
