//! Elementwise ops: what all of them share, and their rooms.
//!
//! A unary room implements [`Unary`] and is run as [`Map`]; a binary room implements `Primitive` with [`forward2`].

pub mod arith;
pub mod compare;
pub mod functions;
mod promote;
pub mod select;
mod unary;

pub(crate) use arith::add_assign;
pub use promote::{binary_shape, forward2, forward2_into, out_like, result_type};
pub use unary::{Map, Unary, floats, numeric};
