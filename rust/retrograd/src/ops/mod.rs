//! Every op by its name in torch. Empty as yet.
