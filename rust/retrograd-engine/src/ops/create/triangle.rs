//! Triangles of matrices.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::overlap::{OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::tensor::Tensor;
use crate::tensor::copy;

/// `tril` and `triu`: reverse the same triangle of `g`.
#[derive(Clone, Debug)]
struct Triangle {
    upper: bool,
    diagonal: i64,
}

impl Primitive for Triangle {
    const NAME: &'static str = "tril";
    const SAVE: &'static [Save] = &[];
    // The matrices are the last two dims, wherever a batch comes from.
    const PARAMS: Params<Self> = params!(op; diagonal);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.upper { "TriuBackward0" } else { "TrilBackward0" }
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules { repeats: Repeats::Taken, reads: Reads::Any }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let &[.., rows, columns] = x.sizes() else { unreachable!("checked by `triangle`") };
        let t = match_dtype!(any, x.dtype(), T => {
            let from = x.as_slice::<T>().expect("contiguous and of this dtype");
            Tensor::build::<T>(x.sizes(), |to| {
                for (i, (to, from)) in to.chunks_mut(columns.max(1)).zip(from.chunks(columns.max(1))).enumerate() {
                    // Columns up to the diagonal, itself included, are the lower triangle.
                    let on = ((i % rows) as i64).saturating_add(self.diagonal);
                    let edge = if self.upper { on } else { on.saturating_add(1) }.clamp(0, columns as i64) as usize;
                    let (kept, zero) = if self.upper { (edge..columns, 0..edge) } else { (0..edge, edge..columns) };
                    to[kept.clone()].copy_from_slice(&from[kept]);
                    to[zero].fill(T::default());
                }
            })
        })?;
        Ok(out(t))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply_as(crate::ops::Form::New, self.clone(), &[cx.g()]).map(one)
    }
}

fn triangle(op: &'static str, form: crate::ops::Form, input: &Tensor, upper: bool, diagonal: i64) -> Result<Tensor> {
    if input.ndim() < 2 {
        return Err(Error::shape(
            op,
            format!("input tensor must have at least 2 dimensions, got shape {:?}", input.sizes()),
        ));
    }
    apply_as(form, Triangle { upper, diagonal }, &[input])
}

/// The lower triangle of each matrix, zeros elsewhere.
///
/// Args: `input` of at least 2 dims; `diagonal` the last diagonal kept (0 the main one, above it positive).
/// Returns: the same shape. Derivative: the same triangle of `g`.
/// Raises: RuntimeError for fewer than 2 dims.
///
/// >>> rg.tril(rg.ones(2, 2)).tolist()
/// [[1.0, 0.0], [1.0, 1.0]]
#[op(function, method, inplace, out = SAME, "(diagonal=0)")]
pub fn tril(input: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle("tril", form, input, false, diagonal)
}

/// The upper triangle of each matrix, zeros elsewhere.
///
/// Args: `input` of at least 2 dims; `diagonal` the first diagonal kept (0 the main one, above it positive).
/// Returns: the same shape. Derivative: the same triangle of `g`.
/// Raises: RuntimeError for fewer than 2 dims.
///
/// >>> rg.triu(rg.ones(2, 2)).tolist()
/// [[1.0, 1.0], [0.0, 1.0]]
#[op(function, method, inplace, out = SAME, "(diagonal=0)")]
pub fn triu(input: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle("triu", form, input, true, diagonal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn triangles() {
        let x = Tensor::from_slice(&[1i64, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        assert_eq!(x.tril(0).unwrap().to_vec::<i64>().unwrap(), [1, 0, 0, 4, 5, 0]);
        assert_eq!(x.tril(1).unwrap().to_vec::<i64>().unwrap(), [1, 2, 0, 4, 5, 6]);
        assert_eq!(x.triu(0).unwrap().to_vec::<i64>().unwrap(), [1, 2, 3, 0, 5, 6]);
        assert_eq!(x.triu(-1).unwrap().to_vec::<i64>().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(x.tril(i64::MIN).unwrap().to_vec::<i64>().unwrap(), [0; 6]);
        assert_eq!(x.triu(i64::MAX).unwrap().to_vec::<i64>().unwrap(), [0; 6]);
        assert_eq!(Tensor::empty(&[2, 0], crate::DType::Float32).unwrap().tril(0).unwrap().numel(), 0);
        assert!(Tensor::arange(3).unwrap().tril(0).is_err());
        gradcheck(&|xs| xs[0].tril(-1), &[noise(3, &[2, 3, 4])]);
        gradcheck(&|xs| xs[0].triu(1), &[noise(4, &[3, 3])]);
    }
}
