//! Views that torch has as attributes of a tensor: its parts, and its transposes.

use crate::engine::ops::{casts, view};
use crate::engine::warn;
use crate::{Error, Result, Tensor, engine, site};

/// Each as a method that panics, and its twin that returns the error.
macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident $try_name:ident = $view:expr;)*) => {
        impl Tensor { $(
            $(#[$doc])*
            #[track_caller]
            #[allow(non_snake_case)]
            pub fn $name(&self) -> Tensor {
                site::done(self.$try_name())
            }

            #[doc = concat!("As [`Tensor::", stringify!($name), "`], with the error.")]
            #[track_caller]
            #[allow(non_snake_case)]
            pub fn $try_name(&self) -> Result<Tensor> {
                site::here();
                let view: fn(&engine::Tensor) -> Result<engine::Tensor> = $view;
                view(&self.0).map(Tensor)
            }
        )* }
    };
}

attributes! {
    /// The real parts of the elements, as a view; a real tensor is its own. What is written to them is written to the
    /// elements.
    ///
    /// ```
    /// use retrograd::ops;
    ///
    /// # #[cfg(feature = "complex")] {
    /// let z = ops::complex(&retrograd::tensor![1.0, 2.0], &retrograd::tensor![3.0, 4.0]);
    /// assert_eq!(z.real().to_vec::<f64>()?, [1.0, 2.0]);
    /// z.real().mul_(10);
    /// assert_eq!(z.abs().square().to_vec::<f64>()?[0].round(), 109.0);
    /// # }
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    real try_real = view::real;
    /// The imaginary parts of the elements, as a view. What is written to them is written to the elements.
    ///
    /// # Panics
    /// For real dtypes.
    ///
    /// ```
    /// # #[cfg(feature = "complex")] {
    /// let z = retrograd::ops::complex(&retrograd::tensor![1.0, 2.0], &retrograd::tensor![3.0, 4.0]);
    /// assert_eq!(z.imag().to_vec::<f64>()?, [3.0, 4.0]);
    /// # }
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    imag try_imag = view::imag;
    /// A view with all axes in reverse order. Of other tensors than matrices it is deprecated in torch, and warns:
    /// [`Tensor::mT`] transposes batches of matrices.
    ///
    /// ```
    /// assert_eq!(retrograd::tensor![[1.0, 2.0, 3.0]].T().shape(), [3, 1]);
    /// ```
    T try_T = reversed;
    /// A view with the last two axes swapped.
    ///
    /// # Panics
    /// If there are fewer than two.
    ///
    /// ```
    /// assert_eq!(retrograd::Tensor::ones([4, 2, 3]).mT().shape(), [4, 3, 2]);
    /// ```
    mT try_mT = |x| matrices("mT", x)?.transpose(-2, -1);
    /// A view with the two axes of a matrix swapped, of complex numbers the conjugates.
    ///
    /// # Panics
    /// If there are other than two axes or none.
    ///
    /// ```
    /// assert_eq!(retrograd::tensor![[1.0, 2.0, 3.0]].H().shape(), [3, 1]);
    /// ```
    H try_H = adjoint;
    /// A view with the last two axes swapped, of complex numbers the conjugates.
    ///
    /// # Panics
    /// If there are fewer than two.
    ///
    /// ```
    /// assert_eq!(retrograd::Tensor::ones([4, 2, 3]).mH().shape(), [4, 3, 2]);
    /// ```
    mH try_mH = |x| casts::adjoint(matrices("mH", x)?);
}

fn matrices<'x>(what: &'static str, x: &'x engine::Tensor) -> Result<&'x engine::Tensor> {
    match x.ndim() {
        n @ (0 | 1) => Err(Error::shape(
            what,
            format!("tensor.{what} is only supported on matrices or batches of matrices. Got {n}-D tensor."),
        )),
        _ => Ok(x),
    }
}

fn reversed(x: &engine::Tensor) -> Result<engine::Tensor> {
    match x.ndim() {
        0 => warn::once(
            warn::Once::TransposedNumber,
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
        ),
        2 => {}
        _ => warn::once(
            warn::Once::Transposed,
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw \
             an error in a future release. Consider `x.mT` to transpose batches of matrices or \
             `x.permute(*range(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
        ),
    }
    let dims: Vec<i64> = (0..x.ndim() as i64).rev().collect();
    x.permute(&dims)
}

fn adjoint(x: &engine::Tensor) -> Result<engine::Tensor> {
    match x.ndim() {
        0 => {
            warn::warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")?;
            Ok(x.clone())
        }
        2 => casts::adjoint(x),
        n => {
            let batches = if n > 2 { " For batches of matrices, consider using tensor.mH" } else { "" };
            Err(Error::shape(
                "H",
                format!("tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{batches}"),
            ))
        }
    }
}
