//! Forward mode: tensors that carry tangents, and the levels that the tangents live in.
//!
//! [`func::jvp`](crate::func::jvp) is the shorter way for a function; here are its parts.

use std::cell::RefCell;

use crate::engine::autograd::forward::{self, Level};
use crate::{Error, Result, Tensor, site};

thread_local! {
    /// Numbers of the levels that were opened by the user.
    static OPEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn innermost() -> Option<usize> {
    OPEN.with_borrow(|open| open.last().copied())
}

struct Opened {
    _level: Level,
}

impl Opened {
    fn new() -> Self {
        let number = forward::depth();
        let level = Level::enter();
        OPEN.with_borrow_mut(|open| open.push(number));
        Self { _level: level }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(Vec::pop);
    }
}

/// Calls `f` with a level of tangents open, inside those that are open: [`make_dual`] and [`unpack_dual`] work at it.
///
/// When `f` returns, or panics, the tangents of the level are gone; the tensors stay. Levels belong to the calling
/// thread. They nest, and no level takes the tangents of another for its own.
///
/// ```
/// use retrograd::forward_ad::{dual_level, make_dual, unpack_dual};
/// use retrograd::tensor;
///
/// # fn main() -> retrograd::Result<()> {
/// let derivative = dual_level(|| {
///     let x = make_dual(&tensor![3.0], &tensor![1.0]);
///     unpack_dual(&(&x * &x)).tangent
/// });
/// assert_eq!(derivative.unwrap().to_vec::<f64>()?, [6.0]);
/// # Ok(())
/// # }
/// ```
pub fn dual_level<R>(f: impl FnOnce() -> R) -> R {
    let _opened = Opened::new();
    f()
}

/// A view of `primal` that carries `tangent` at the innermost level: the derivative of its elements in some direction.
///
/// What is computed from it carries the derivative in that direction, for [`unpack_dual`]. The view shares memory and
/// version with `primal`, which itself gets no tangent. Both have floating point or complex dtypes and the same sizes.
///
/// # Panics
/// Where [`try_make_dual`] returns an error.
///
/// See [`dual_level`] for an example.
#[track_caller]
pub fn make_dual(primal: &Tensor, tangent: &Tensor) -> Tensor {
    site::here();
    site::done(dual_of(primal, tangent))
}

/// As [`make_dual`].
///
/// # Errors
/// If no level is open, if the sizes differ, if one of the two has a tangent at this level already, and for other
/// dtypes.
#[track_caller]
pub fn try_make_dual(primal: &Tensor, tangent: &Tensor) -> Result<Tensor> {
    site::here();
    dual_of(primal, tangent)
}

fn dual_of(primal: &Tensor, tangent: &Tensor) -> Result<Tensor> {
    let Some(level) = innermost() else {
        return Err(Error::autograd(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first: \
             call make_dual inside of dual_level(|| ..).",
        ));
    };
    forward::make_dual(&primal.0, &tangent.0, level, None).map(Tensor)
}

/// What [`unpack_dual`] gives.
#[derive(Clone, Debug)]
pub struct UnpackedDual {
    /// The values.
    pub primal: Tensor,
    /// Their derivative, if there is one.
    pub tangent: Option<Tensor>,
}

/// The values of a tensor, without tangent at the innermost level, and that tangent.
///
/// Without a level the values are the tensor itself. Both parts are differentiable in reverse mode, and by outer
/// levels.
///
/// # Panics
/// Where [`try_unpack_dual`] returns an error.
///
/// See [`dual_level`] for an example.
#[track_caller]
pub fn unpack_dual(dual: &Tensor) -> UnpackedDual {
    site::here();
    site::done(unpacked(dual))
}

/// As [`unpack_dual`].
///
/// # Errors
/// If there is not enough memory for a view.
#[track_caller]
pub fn try_unpack_dual(dual: &Tensor) -> Result<UnpackedDual> {
    site::here();
    unpacked(dual)
}

fn unpacked(dual: &Tensor) -> Result<UnpackedDual> {
    let Some(level) = innermost() else { return Ok(UnpackedDual { primal: dual.clone(), tangent: None }) };
    let (primal, tangent) = forward::unpack_dual(&dual.0, level)?;
    Ok(UnpackedDual { primal: Tensor(primal), tangent: tangent.map(Tensor) })
}
