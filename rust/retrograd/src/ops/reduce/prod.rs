//! prod
