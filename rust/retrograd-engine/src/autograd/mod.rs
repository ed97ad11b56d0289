//! Reverse and forward differentiation: nodes, saved values, engine, accumulation, hooks, views and in-place, modes.

pub mod accumulate;
pub mod anomaly;
pub mod apply;
pub(crate) mod arith;
mod complex;
pub mod custom;
pub mod engine;
pub mod erased;
pub mod finite;
pub mod forward;
pub mod hooks;
pub mod inspect;
pub mod leaf;
pub mod meta;
pub mod mode;
pub mod node;
pub mod observe;
mod operands;
pub mod overlap;
pub mod primitive;
pub mod saved;
pub mod view;

pub use engine::{Backward, Root, Target, backward, grad};
pub use mode::{GradGuard, is_grad_enabled, set_grad_enabled};
pub use node::{Edge, Grads, Node, NodeRef, OutMeta, Output, Rule, Run};
pub use primitive::{Batch, Jvp, Outs, Primitive, Save, Vjp};
