//! Forward mode: products of Jacobians with vectors.

use super::Returned;
use super::record::{Record, demand_tensors, gradients, zeros, zeros_if_none};
use super::reverse::grad;
use super::running::Running;
use crate::engine;
use crate::engine::autograd::forward::{self, Level};
use crate::engine::transforms::{batch_at_all_levels, settled, variable};
use crate::tree::{Tree, flatten, unflatten};
use crate::{Error, Result, Tensor, site};

/// The value of a function, and the product of its Jacobian with a vector: how the value moves along `tangent`.
///
/// `f` is called once, on tensors that carry tangents. `tangent` has the structure and the shapes of `x`; the product
/// has those of the value, with zeros for results that do not depend on `x`.
///
/// # Errors
/// If structures or shapes differ, for tensors that are neither floating nor complex, if `f` returns no tensors, and
/// those of `f`: as `f` returns them, see [`Returned`].
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let (value, moved) = func::jvp(|x: &Tensor| x * x, &tensor![1.0, 2.0], &tensor![1.0, 0.5]);
/// assert_eq!(value.to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(moved.to_vec::<f64>()?, [2.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn jvp<X: Tree, R: Returned>(f: impl FnOnce(&X) -> R, x: &X, tangent: &X) -> R::With<(R::Value, R::Value)> {
    site::here();
    R::give(pushed(|x| f(x).into_result(), x, tangent))
}

fn pushed<X: Tree, Y: Tree>(f: impl FnOnce(&X) -> Result<Y>, x: &X, tangent: &X) -> Result<(Y, Y)> {
    const CALLER: &str = "jvp(f, x, tangent)";
    let (structure, tangents) = (x.structure(), tangent.structure());
    if structure != tangents {
        return Err(Error::autograd(format!(
            "{CALLER}: Expected primals and tangents to have the same python structure. Got primals with structure \
             {structure} and tangents with structure {tangents}"
        )));
    }
    let (xs, ts) = (flatten(x), flatten(tangent));
    if xs.is_empty() {
        return Err(Error::autograd(format!("{CALLER}: Expected primals to contain at least one Tensor.")));
    }
    let given: Vec<_> = xs.iter().chain(&ts).cloned().collect();
    let _running = Running::pushing(&given);
    let number = forward::depth();
    let _level = Level::enter();
    let duals = xs.iter().zip(&ts).map(|(x, t)| forward::make_dual(x, t, number, None)).collect::<Result<_>>()?;
    let y = f(&unflatten(x, duals)?)?;
    demand_tensors(CALLER, &flatten(&y))?;
    let mut moved = Vec::new();
    let value = y.map_tensors(&mut |t| {
        let (primal, tangent) = forward::unpack_dual(&t.0, number)?;
        moved.push(tangent.map_or_else(|| zeros(&primal), Ok)?);
        Ok(Tensor(primal))
    })?;
    let moved = unflatten(&value, moved)?;
    Ok((value, moved))
}

/// The product of the Hessian of a function with a vector, by forward mode over reverse mode.
///
/// `f` returns a tensor without axes. `vector` has the structure and the shapes of `x`, and so has the product.
///
/// # Errors
/// Those of [`grad`] and [`jvp`].
///
/// ```
/// use retrograd::{Tensor, func};
///
/// # fn main() -> retrograd::Result<()> {
/// let pair = |a: f64, b: f64| (Tensor::from(a), Tensor::from(b));
/// let f = |(a, b): &(Tensor, Tensor)| a * a * b;
/// let (by_a, by_b) = func::hvp(f, &pair(3.0, 5.0), &pair(1.0, 0.0));
/// assert_eq!([by_a.item::<f64>()?, by_b.item::<f64>()?], [10.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn hvp<X: Tree, R: Returned<Value = Tensor>>(f: impl Fn(&X) -> R, x: &X, vector: &X) -> R::With<X> {
    site::here();
    let gradient = grad(|x: &X| f(x).into_result());
    R::give(pushed(gradient, x, vector).map(|(_, product)| product))
}

/// The value of a function, and its pushforward: the product of the Jacobian with a vector, as a function of the
/// vector.
///
/// `f` is called and recorded once. Its pullback is linear in the cotangents, so it is recorded too, and the
/// pushforward is its derivative; ops must be differentiable twice.
///
/// # Errors
/// Those of [`vjp`](super::vjp).
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let (value, pushforward) = func::linearize(|x: &Tensor| x * x, &tensor![1.0, 2.0]);
/// assert_eq!(value.to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(pushforward.call(&tensor![1.0, 0.5]).to_vec::<f64>()?, [2.0, 2.0]);
/// assert_eq!(pushforward.call(&tensor![0.0, 1.0]).to_vec::<f64>()?, [0.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
#[expect(clippy::type_complexity, reason = "a pair, in the manner in which the closure returns")]
pub fn linearize<X: Tree, R: Returned>(
    f: impl FnOnce(&X) -> R,
    x: &X,
) -> R::With<(R::Value, Pushforward<X, R::Value>)> {
    site::here();
    R::give(linearized(|x| f(x).into_result(), x))
}

fn linearized<X: Tree, Y: Tree>(f: impl FnOnce(&X) -> Result<Y>, x: &X) -> Result<(Y, Pushforward<X, Y>)> {
    // As torch, whose linearize lets the function write to anything.
    let (_running, outside) = Running::reversing(None);
    let record = Record::call("linearize(f, x)", f, x, outside)?;
    // What is gradients back: any cotangents, as the result is linear in them. They are not batched by themselves.
    let cotangent = |out: &engine::Tensor| variable(&batch_at_all_levels(&zeros(out)?)?);
    let cotangents: Vec<_> = record.outs.iter().map(cotangent).collect::<Result<_>>()?;
    let given: Vec<_> = cotangents.iter().cloned().map(Some).collect();
    let gradients = record.views.vjp(&record.outs, &given, true, true)?;
    let inner = record.views.inner.iter().chain(&cotangents).cloned().collect();
    let value = record.value()?;
    let (keep, outs) = (record.views.keep, record.outs);
    let pushforward = Pushforward { x: record.x, y: record.y, outs, cotangents, gradients, inner, keep };
    Ok((value, pushforward))
}

/// The product of the Jacobian of a function at one point with vectors: what [`linearize`] gives.
///
/// It can be called often, and inside of `vmap`. It keeps what the function recorded until it is dropped.
pub struct Pushforward<X, Y> {
    /// The argument and the value without tensors.
    x: X,
    y: Y,
    outs: Vec<engine::Tensor>,
    cotangents: Vec<engine::Tensor>,
    /// Of the argument, as functions of the cotangents.
    gradients: Vec<engine::Tensor>,
    inner: Vec<engine::Tensor>,
    keep: bool,
}

impl<X: Tree, Y: Tree> Pushforward<X, Y> {
    /// The product, a tree like the value of the function. `tangent` has structure, shapes and dtypes of the argument.
    ///
    /// # Panics
    /// Where [`Pushforward::try_call`] returns an error.
    #[track_caller]
    pub fn call(&self, tangent: &X) -> Y {
        site::here();
        site::done(self.pushed(tangent))
    }

    /// As [`Pushforward::call`].
    ///
    /// # Errors
    /// If structure, shapes or dtypes of the tangent are not those of the argument.
    #[track_caller]
    pub fn try_call(&self, tangent: &X) -> Result<Y> {
        site::here();
        self.pushed(tangent)
    }

    fn pushed(&self, tangent: &X) -> Result<Y> {
        let (structure, primals) = (tangent.structure(), self.x.structure());
        if structure != primals {
            return Err(Error::autograd(format!(
                "Expected the tangents {structure} to have the same argspec as the primals {primals}"
            )));
        }
        let given = flatten(tangent);
        for (i, (t, x)) in given.iter().zip(&self.gradients).enumerate() {
            let differ = |what: &str, got: String, want: String| {
                Err(Error::autograd(format!(
                    "tangent:{i} with {what} {got} in flattened pytree doesn't match the {what} {want} of the corresponding \
                     primal."
                )))
            };
            if t.sizes() != x.sizes() {
                return differ("shape", format!("{:?}", t.sizes()), format!("{:?}", x.sizes()));
            }
            if t.dtype() != x.dtype() {
                return differ("dtype", t.dtype().name().into(), x.dtype().name().into());
            }
        }
        let (_running, outside) = Running::out_of_inference();
        let keep = outside && (self.keep || given.iter().any(engine::Tensor::requires_grad));
        let given: Vec<_> = given.into_iter().map(Some).collect();
        let found = gradients(&self.gradients, &given, &self.cotangents, true, keep)?;
        let moved = zeros_if_none(found, &self.outs)?;
        unflatten(&self.y, moved.iter().map(|t| settled(t, &self.inner, keep)).collect::<Result<_>>()?)
    }
}
