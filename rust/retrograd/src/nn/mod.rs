//! Modules: structs that own parameters. Empty as yet.
