//! Reverse mode: gradients, and products of vectors with Jacobians.

use std::panic::Location;

use super::Returned;
use super::record::{Record, Views};
use super::running::Running;
use crate::engine;
use crate::tree::{Tree, flatten, unflatten};
use crate::{Error, Result, Tensor, site};

/// The function that gives the gradient of `f`, which returns a tensor without axes.
///
/// Inside of `f` ops record, whether or not they do outside; what it computes under `no_grad` counts as constant. The
/// gradient is itself differentiable: by another transform around this one, and by `backward` if the argument, or
/// another tensor that `f` uses, requires grad.
///
/// The function that it returns gives a tree like the argument, with zeros for tensors that the result does not depend
/// on.
///
/// # Errors
/// If `f` returns a tensor with axes, if the argument has tensors that are neither floating nor complex, and those of
/// `f`: as `f` returns them, see [`Returned`].
///
/// ```
/// use retrograd::{Tensor, func};
///
/// # fn main() -> retrograd::Result<()> {
/// let x = Tensor::from(2.0);
/// let cube = |x: &Tensor| x * x * x;
/// assert_eq!(func::grad(cube)(&x).item::<f64>()?, 12.0);
/// assert_eq!(func::grad(func::grad(func::grad(cube)))(&x).item::<f64>()?, 6.0);
/// // Of a function of several tensors: a tree of them.
/// let (by_a, by_b) = func::grad(|(a, b): &(Tensor, Tensor)| a * a * b)(&(x, Tensor::from(5.0)));
/// assert_eq!([by_a.item::<f64>()?, by_b.item::<f64>()?], [20.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn grad<X: Tree, R: Returned<Value = Tensor>>(f: impl Fn(&X) -> R) -> impl Fn(&X) -> R::With<X> {
    let made = Location::caller();
    move |x| {
        site::at(made);
        R::give_of(gradient("grad", |x| with_nothing(f(x).into_result()?), x).map(|(_, gradient)| gradient), made)
    }
}

/// The function that gives the value of `f` and its gradient, by one call of `f`. See [`grad`].
///
/// ```
/// use retrograd::{Tensor, Tree, func};
///
/// #[derive(Tree)]
/// struct Params {
///     slope: Tensor,
///     offset: Tensor,
/// }
///
/// # fn main() -> retrograd::Result<()> {
/// let params = Params { slope: Tensor::from(2.0), offset: Tensor::from(1.0) };
/// let x = Tensor::from(3.0);
/// let (value, grads) = func::value_and_grad(|p: &Params| &p.slope * &x + &p.offset)(&params);
/// assert_eq!(value.item::<f64>()?, 7.0);
/// assert_eq!([grads.slope.item::<f64>()?, grads.offset.item::<f64>()?], [3.0, 1.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn value_and_grad<X: Tree, R: Returned<Value = Tensor>>(
    f: impl Fn(&X) -> R,
) -> impl Fn(&X) -> R::With<(Tensor, X)> {
    let made = Location::caller();
    move |x| {
        site::at(made);
        let found = gradient("value_and_grad", |x| with_nothing(f(x).into_result()?), x);
        R::give_of(found.map(|((value, ()), gradient)| (value, gradient)), made)
    }
}

/// As [`value_and_grad`], of a function that returns a pair: the tensor to differentiate, and another tree, which comes
/// back as it is. The function gives `((value, rest), gradient)`.
///
/// ```
/// use retrograd::{Tensor, func};
///
/// # fn main() -> retrograd::Result<()> {
/// let squared = |x: &Tensor| {
///     let residual = x - 1.0;
///     (&residual * &residual, residual)
/// };
/// let ((loss, residual), gradient) = func::value_and_grad_aux(squared)(&Tensor::from(3.0));
/// assert_eq!([loss.item::<f64>()?, residual.item::<f64>()?, gradient.item::<f64>()?], [4.0, 2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn value_and_grad_aux<X: Tree, A: Tree, R: Returned<Value = (Tensor, A)>>(
    f: impl Fn(&X) -> R,
) -> impl Fn(&X) -> R::With<((Tensor, A), X)> {
    let made = Location::caller();
    move |x| {
        site::at(made);
        R::give_of(gradient("value_and_grad_aux", |x| f(x).into_result(), x), made)
    }
}

fn with_nothing(value: Tensor) -> Result<(Tensor, ())> {
    Ok((value, ()))
}

/// The value and the rest of what `f` returns, and the gradient.
fn gradient<X: Tree, A: Tree>(
    caller: &str,
    f: impl FnOnce(&X) -> Result<(Tensor, A)>,
    x: &X,
) -> Result<((Tensor, A), X)> {
    let (_running, outside) = Running::reversing(Some(&flatten(x)));
    let (mut views, (Tensor(value), aux)) = Views::call(f, x, outside)?;
    if value.ndim() > 0 {
        return Err(Error::autograd(format!(
            "{caller}(f)(x): Expected f(*args) to return a scalar Tensor, got tensor with {} dims: its sizes are {:?}. \
             Sum it up, or use vjp or jacobian.",
            value.ndim(),
            value.sizes()
        )));
    }
    let aux = views.settled_tree(&aux)?;
    let outs = [value];
    views.see_whether_to_keep(&outs)?;
    let found = views.vjp(&outs, &[None], views.keep, views.keep)?;
    let gradient = found.iter().map(|g| views.settled(g)).collect::<Result<_>>()?;
    Ok(((Tensor(views.settled(&outs[0])?), aux), unflatten(x, gradient)?))
}

/// The value of a function, and its pullback: the product of a vector with the Jacobian, as a function of the vector.
///
/// `f` is called and recorded once; each call of the pullback is a backward pass.
///
/// # Errors
/// If `f` returns tensors that are neither floating nor complex, or none; if the argument has such tensors; and those
/// of `f`: as `f` returns them, see [`Returned`].
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let (value, pullback) = func::vjp(|x: &Tensor| x * x, &tensor![1.0, 2.0]);
/// assert_eq!(value.to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(pullback.call(&tensor![10.0, 1.0]).to_vec::<f64>()?, [20.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
#[expect(clippy::type_complexity, reason = "a pair, in the manner in which the closure returns")]
pub fn vjp<X: Tree, R: Returned>(f: impl FnOnce(&X) -> R, x: &X) -> R::With<(R::Value, Pullback<X, R::Value>)> {
    site::here();
    let recorded = || {
        let (_running, outside) = Running::reversing(Some(&flatten(x)));
        let record = Record::call("vjp(f, x)", |x| f(x).into_result(), x, outside)?;
        Ok((record.value()?, Pullback(record)))
    };
    R::give(recorded())
}

/// The product of vectors with the Jacobian of a function at one point: what [`vjp`] gives.
///
/// It can be called often, and inside of `vmap`. It keeps what the function recorded until it is dropped.
pub struct Pullback<X, Y>(Record<X, Y>);

impl<X: Tree, Y: Tree> Pullback<X, Y> {
    /// The product, a tree like the argument of the function. `cotangent` has the structure and the shapes of its
    /// value.
    ///
    /// The product has a graph if the argument, the cotangent or another tensor that the function used requires grad,
    /// unless under `no_grad`.
    ///
    /// # Panics
    /// Where [`Pullback::try_call`] returns an error.
    #[track_caller]
    pub fn call(&self, cotangent: &Y) -> X {
        site::here();
        site::done(self.pulled(cotangent))
    }

    /// As [`Pullback::call`].
    ///
    /// # Errors
    /// If structure or shapes of the cotangent are not those of the value.
    #[track_caller]
    pub fn try_call(&self, cotangent: &Y) -> Result<X> {
        site::here();
        self.pulled(cotangent)
    }

    fn pulled(&self, cotangent: &Y) -> Result<X> {
        let record = &self.0;
        let (structure, outputs) = (cotangent.structure(), record.y.structure());
        if structure != outputs {
            return Err(Error::autograd(format!(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. \
                 cotangents: {structure}, primal output: {outputs}"
            )));
        }
        let (_running, outside) = Running::out_of_inference();
        let given = flatten(cotangent);
        let keep = outside && (record.views.keep || given.iter().any(engine::Tensor::requires_grad));
        let given: Vec<_> = given.into_iter().map(Some).collect();
        let found = record.views.vjp(&record.outs, &given, true, keep)?;
        let settle = |g: &engine::Tensor| engine::transforms::settled(g, &record.views.inner, keep);
        unflatten(&record.x, found.iter().map(settle).collect::<Result<_>>()?)
    }
}
