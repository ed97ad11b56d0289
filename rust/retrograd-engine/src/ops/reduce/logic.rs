//! Counting truth.

use retrograd_macros::op;

use super::{ReduceAxes, run};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::Result;
use crate::kernels::reduce;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Tensor, Truth};

/// What is asked about the elements that are not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Question {
    All,
    Any,
    Count,
}

/// `all`, `any`, `count_nonzero`; no derivative.
#[derive(Clone, Debug)]
struct Ask {
    what: Question,
    over: ReduceAxes,
}

impl Primitive for Ask {
    const NAME: &'static str = "all";
    const NODE: &'static str = "NotDifferentiable";
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::WIDE_UNSIGNED).or(Dtypes::COMPLEX32);
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { what: op.what, over: op.over.lifted(ndims[0]) }));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let over = &self.over;
        if self.what == Question::Count {
            return match_dtype!(numeric, xs[0].dtype(), T => run::<T, _>(&reduce::CountNonzero, xs[0], over).map(out),
                else run::<Truth, _>(&reduce::CountNonzero, &copy::cast(xs[0], DType::Bool)?, over).map(out));
        }
        let truth = match_dtype!(numeric, xs[0].dtype(), T => match self.what {
            Question::All => run::<T, _>(&reduce::All, xs[0], over)?,
            _ => run::<T, _>(&reduce::Any, xs[0], over)?,
        }, else {
            let x = copy::cast(xs[0], DType::Bool)?;
            match self.what {
                Question::All => run::<Truth, _>(&reduce::All, &x, over)?,
                _ => run::<Truth, _>(&reduce::Any, &x, over)?,
            }
        });
        // As torch: uint8, once its bool, stays uint8.
        if xs[0].dtype() == DType::UInt8 { copy::cast(&truth, DType::UInt8).map(out) } else { Ok(out(truth)) }
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

fn all_or_any(what: Question, op: &'static str, input: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    let over = match dim {
        // An empty list reduces nothing here.
        Some([]) if what != Question::Count => ReduceAxes::none(),
        dim => ReduceAxes::dims(op, dim, input.ndim(), keepdim)?,
    };
    apply1(Ask { what, over }, &[input])
}

/// Whether all elements are non-zero.
///
/// Args: `input` any dtype. Returns: a 0-dim bool (uint8 for uint8); True for an empty tensor. No derivative.
///
/// >>> rg.all(rg.tensor([True, False])).item()
/// False
#[op(function, method, out = TRUTH)]
pub fn all(input: &Tensor) -> Result<Tensor> {
    all_or_any(Question::All, "all", input, None, false)
}

/// Whether all elements along dimensions are non-zero.
///
/// Args: `input` any dtype; `dim` an integer or a list, None for all, an empty list for none; `keepdim` keeps them with
/// size 1. Returns: bool (uint8 for uint8). No derivative. Raises: IndexError for a dimension out of range.
///
/// >>> rg.all(rg.tensor([[True, False], [True, True]]), 1).tolist()
/// [False, True]
#[op(function, method, out = TRUTH, name = "all", "(keepdim=False)")]
pub fn all_dims(input: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    all_or_any(Question::All, "all", input, dim, keepdim)
}

/// Whether any element is non-zero.
///
/// Args: `input` any dtype. Returns: a 0-dim bool (uint8 for uint8); False for an empty tensor. No derivative.
///
/// >>> rg.any(rg.tensor([True, False])).item()
/// True
#[op(function, method, out = TRUTH)]
pub fn any(input: &Tensor) -> Result<Tensor> {
    all_or_any(Question::Any, "any", input, None, false)
}

/// Whether any element along dimensions is non-zero.
///
/// Args: `input` any dtype; `dim` an integer or a list, None for all, an empty list for none; `keepdim` keeps them with
/// size 1. Returns: bool (uint8 for uint8). No derivative. Raises: IndexError for a dimension out of range.
///
/// >>> rg.any(rg.tensor([[True, False], [False, False]]), 1).tolist()
/// [True, False]
#[op(function, method, out = TRUTH, name = "any", "(keepdim=False)")]
pub fn any_dims(input: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    all_or_any(Question::Any, "any", input, dim, keepdim)
}

/// The number of elements that are not zero.
///
/// Args: `input` any dtype; `dim` an integer or a list, None or an empty list for all. Returns: int64. No derivative.
/// Raises: IndexError for a dimension out of range.
///
/// >>> rg.count_nonzero(rg.tensor([0.0, 2.0, 3.0])).item()
/// 2
#[op(function, method, "(dim=None)")]
pub fn count_nonzero(input: &Tensor, dim: Option<&[i64]>) -> Result<Tensor> {
    all_or_any(Question::Count, "count_nonzero", input, dim, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth() {
        let x = Tensor::from_slice(&[0.0f32, 1.0, 2.0, f32::NAN], &[2, 2]).unwrap();
        let v = |t: Result<Tensor>| t.unwrap().to_vec::<i64>().unwrap();
        assert_eq!((v(x.all()), v(x.any()), v(x.count_nonzero(None))), (vec![0], vec![1], vec![3]));
        assert_eq!(v(x.all_dims(Some(&[1]), false)), [0, 1]);
        assert_eq!(v(x.any_dims(Some(&[]), true)), [0, 1, 1, 1]);
        assert_eq!(x.all_dims(Some(&[0, 1]), true).unwrap().sizes(), &[1, 1]);
        assert_eq!(x.all().unwrap().dtype(), DType::Bool);
        assert_eq!(Tensor::ones(&[2], DType::UInt8).unwrap().any().unwrap().dtype(), DType::UInt8);
        let e = Tensor::empty(&[0], DType::Float16).unwrap();
        assert_eq!((v(e.all()), v(e.any())), (vec![1], vec![0]));
        assert_eq!(v(Tensor::ones(&[], DType::Int64).unwrap().any_dims(Some(&[-1]), false)), [1]);
    }
}
