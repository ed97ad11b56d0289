//! What closures return, and how a transform returns likewise.

use std::panic::Location;

use crate::site;
use crate::tree::Tree;
use crate::{Error, Result};

/// What a closure returns that is given to a transform: a tree of tensors, or a [`Result`] of one.
///
/// The function that a transform makes returns in the same way. Of a closure that returns a tree it returns a plain
/// value, and panics with the text of the error if there is one; of a closure that returns a `Result`, a `Result`.
///
/// ```
/// use retrograd::{Result, Tensor, func, tensor};
///
/// // Both return a vector, which has no gradient.
/// let fallible = func::grad(|x: &Tensor| -> Result<Tensor> { Ok(x * x) });
/// assert!(fallible(&tensor![3.0]).unwrap_err().to_string().contains("return a scalar Tensor"));
/// let panics = func::grad(|x: &Tensor| x * x);
/// assert!(std::panic::catch_unwind(|| panics(&tensor![3.0])).is_err());
/// ```
pub trait Returned {
    /// The tree.
    type Value: Tree;
    /// `T`, or a `Result<T>`.
    type With<T>;

    /// The tree, or the error.
    ///
    /// # Errors
    /// That of the closure.
    fn into_result(self) -> Result<Self::Value>;

    /// Returns a value or an error: `Err(error)`, or a panic at the caller's line.
    #[track_caller]
    fn give<T>(result: Result<T>) -> Self::With<T>;

    /// As [`Returned::give`], where the caller has no line in the program: a panic names the place where the function
    /// was made.
    fn give_of<T>(result: Result<T>, made: &'static Location<'static>) -> Self::With<T>;
}

impl<Y: Tree> Returned for Y {
    type Value = Y;
    type With<T> = T;

    fn into_result(self) -> Result<Y> {
        Ok(self)
    }
    #[track_caller]
    fn give<T>(result: Result<T>) -> T {
        site::done(result)
    }
    fn give_of<T>(result: Result<T>, made: &'static Location<'static>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => fail(&error, made),
        }
    }
}

impl<Y: Tree> Returned for Result<Y> {
    type Value = Y;
    type With<T> = Result<T>;

    fn into_result(self) -> Result<Y> {
        self
    }
    fn give<T>(result: Result<T>) -> Result<T> {
        result
    }
    fn give_of<T>(result: Result<T>, _made: &'static Location<'static>) -> Result<T> {
        result
    }
}

#[cold]
fn fail(error: &Error, made: &Location) -> ! {
    panic!("{error}\n  in the function that was made at {made}")
}
