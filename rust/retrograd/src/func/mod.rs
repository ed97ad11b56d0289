//! Transforms: functions that take a function of tensors and give its derivatives, its Jacobian, or the same function
//! for a whole batch.
//!
//! The functions are closures of one tree of tensors (see [`Tree`](crate::Tree)): a tensor, a tuple, a struct with
//! `#[derive(Tree)]`. What they capture is constant. Transforms nest in any order and to any depth.
//!
//! | function | what it gives |
//! |---|---|
//! | [`grad`], [`value_and_grad`], [`value_and_grad_aux`] | the gradient of a function with a scalar result |
//! | [`vjp`] | value and pullback: vector times Jacobian |
//! | [`jvp`] | value and product of Jacobian and vector |
//! | [`linearize`] | value and pushforward: Jacobian times vector, often |
//! | [`jacobian`], [`jacrev`], [`jacfwd`] | the Jacobian; with options [`jacobian_with`], [`jacrev_with`] |
//! | [`hessian`], [`hvp`] | second derivatives, and their product with a vector |
//! | [`vmap`], [`vmap_with`] | the function for each entry of a batch, by one call |
//! | [`compile`] | the function, recorded and replayed |
//!
//! A closure returns a tree, or a [`Result`](crate::Result) of one, and what a transform makes of it returns likewise:
//! a plain value, with a panic where there is an error; or a `Result`. See [`Returned`].
//!
//! ```
//! use retrograd::{Tensor, func, tensor};
//!
//! # fn main() -> retrograd::Result<()> {
//! let x = tensor![1.0, 2.0];
//! let (value, pullback) = func::vjp(|x: &Tensor| x * x * x, &x);
//! assert_eq!(value.to_vec::<f64>()?, [1.0, 8.0]);
//! assert_eq!(pullback.call(&tensor![1.0, 10.0]).to_vec::<f64>()?, [3.0, 120.0]);
//!
//! // A derivative for each entry, and second ones.
//! let cube = |x: &Tensor| x * x * x;
//! assert_eq!(func::vmap(func::grad(cube))(&x).to_vec::<f64>()?, [3.0, 12.0]);
//! assert_eq!(func::vmap(func::grad(func::grad(cube)))(&x).to_vec::<f64>()?, [6.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # With ordinary autograd
//!
//! A result of a transform has a graph if the argument or a captured tensor requires grad, and none otherwise. Under
//! `no_grad` there is no graph, but the derivative is there all the same; what a function computes under `no_grad` of
//! its own counts as constant. A function may write in place to what it makes, in forward mode to its argument, and to
//! nothing that it captures.

mod compile;
mod forward;
mod jacobians;
mod record;
mod returned;
mod reverse;
mod running;
mod vmap;

pub use compile::{Compiled, compile};
pub use forward::{Pushforward, hvp, jvp, linearize};
pub use jacobians::{JacobianOptions, hessian, jacfwd, jacobian, jacobian_with, jacrev, jacrev_with};
pub use returned::Returned;
pub use reverse::{Pullback, grad, value_and_grad, value_and_grad_aux, vjp};
pub use vmap::{Axes, Randomness, VmapOptions, vmap, vmap_with};
