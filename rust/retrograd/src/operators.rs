//! Operators: `+ - * / % & | ^ << >>` of tensors and numbers, their assigning forms, `-x` and `!x`.
//!
//! They panic at the line that has the operator, with the text of the error; the methods `try_add` and kin return it.
//!
//! On the right any number goes. On the left it is `f64` and `i64` alone: with a second float type there, the compiler
//! could not tell what `2.0` is in `(2.0 * &x).sum()`, and would ask for its type.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use crate::engine::Tensor as Engine;
use crate::engine::ops::pointwise::arith::rsub;
use crate::{Error, Operand, Result, Scalar, Tensor, site};

/// An operator of two operands: of a tensor on the left, then of the numbers listed, then in place.
macro_rules! binary {
    ($($Trait:ident $method:ident, $Assign:ident $assign:ident: $op:expr, $reflected:expr, $inplace:expr;
        $($number:ty),*;)*) => { $(
        impl<'r, R: Into<Operand<'r>>> $Trait<R> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $method(self, other: R) -> Tensor {
                site::here();
                site::done(op($op, &self.0, &other.into()))
            }
        }

        impl<'r, R: Into<Operand<'r>>> $Trait<R> for Tensor {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $method(self, other: R) -> Tensor {
                site::here();
                site::done(op($op, &self.0, &other.into()))
            }
        }

        /// In place, on the tensor itself: whoever has a handle on it, or a view of it, sees the new values. It is
        /// recorded like any op. An error for a leaf that requires grad, and where the result has other sizes, or a
        /// dtype of a higher category, than the tensor.
        impl<'r, R: Into<Operand<'r>>> $Assign<R> for Tensor {
            #[track_caller]
            #[inline]
            fn $assign(&mut self, other: R) {
                site::here();
                site::done(op($inplace, &self.0, &other.into()));
            }
        }

        $(
            impl $Trait<&Tensor> for $number {
                type Output = Tensor;
                #[track_caller]
                #[inline]
                fn $method(self, other: &Tensor) -> Tensor {
                    site::here();
                    site::done(op($reflected, &Operand::from(self), &other.0))
                }
            }

            impl $Trait<Tensor> for $number {
                type Output = Tensor;
                #[track_caller]
                #[inline]
                fn $method(self, other: Tensor) -> Tensor {
                    site::here();
                    site::done(op($reflected, &Operand::from(self), &other.0))
                }
            }
        )*
    )* };
}

#[inline]
fn op(f: impl FnOnce(&Engine, &Engine) -> Result<Engine>, a: &Engine, b: &Engine) -> Result<Tensor> {
    f(a, b).map(Tensor)
}

binary!(
    Add add, AddAssign add_assign: Engine::add, |a, x| x.add(a), Engine::add_; f64, i64;
    Sub sub, SubAssign sub_assign: Engine::sub, |a, x| rsub(x, a, Scalar::Int(1)), Engine::sub_; f64, i64;
    Mul mul, MulAssign mul_assign: Engine::mul, |a, x| x.mul(a), Engine::mul_; f64, i64;
    Div div, DivAssign div_assign: Engine::div, |a, x| x.reciprocal()?.mul(a), Engine::div_; f64, i64;
    Rem rem, RemAssign rem_assign: Engine::remainder, Engine::remainder, Engine::remainder_; f64, i64;
    BitAnd bitand, BitAndAssign bitand_assign: Engine::bitwise_and, Engine::bitwise_and, Engine::bitwise_and_;
        bool, i64;
    BitOr bitor, BitOrAssign bitor_assign: Engine::bitwise_or, Engine::bitwise_or, Engine::bitwise_or_; bool, i64;
    BitXor bitxor, BitXorAssign bitxor_assign: Engine::bitwise_xor, Engine::bitwise_xor, Engine::bitwise_xor_;
        bool, i64;
    Shl shl, ShlAssign shl_assign: Engine::bitwise_left_shift, Engine::bitwise_left_shift, Engine::bitwise_left_shift_;
        i64;
    Shr shr, ShrAssign shr_assign:
        Engine::bitwise_right_shift, Engine::bitwise_right_shift, Engine::bitwise_right_shift_; i64;
);

impl Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    #[inline]
    fn neg(self) -> Tensor {
        site::here();
        site::done(self.0.neg().map(Tensor))
    }
}

impl Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    #[inline]
    fn neg(self) -> Tensor {
        -&self
    }
}

/// The bits flipped, of integers and bools.
fn inverted(x: &Engine) -> Result<Tensor> {
    if !x.dtype().is_integral() {
        return Err(Error::type_error(
            "bitwise_not",
            format!(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors, got {}: in Rust the \
                 operator is `!`",
                x.dtype().name()
            ),
        ));
    }
    x.bitwise_not().map(Tensor)
}

impl Not for &Tensor {
    type Output = Tensor;
    #[track_caller]
    #[inline]
    fn not(self) -> Tensor {
        site::here();
        site::done(inverted(&self.0))
    }
}

impl Not for Tensor {
    type Output = Tensor;
    #[track_caller]
    #[inline]
    fn not(self) -> Tensor {
        !&self
    }
}
