//! Triangles of matrices.

use std::ops::Range;

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::overlap::{OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor::copy;

/// `tril` and `triu`: reverse the same triangle of `g`.
#[derive(Clone, Debug)]
struct Triangle {
    upper: bool,
    diagonal: i64,
}

impl Triangle {
    /// The triangle of one matrix, which has elements, of `width` bytes each; zeros of all dtypes have no bits.
    fn of_matrix(&self, [rows, columns, width]: [usize; 3], from: &[u8], to: &mut [u8]) {
        // Columns up to the diagonal, itself included, are the lower triangle: as many as the number of the row and
        // this.
        let start = self.diagonal.saturating_add(i64::from(!self.upper));
        let first_with = |edge: usize| (edge as i64).saturating_sub(start).clamp(0, rows as i64) as usize;
        // Rows before the first are on one side of the edge, those from the last on on the other.
        let (first, last) = (first_with(1), first_with(columns));
        let mut part = |at: Range<usize>, is_lower: bool| {
            let at = at.start * width..at.end * width;
            if is_lower == self.upper {
                to[at].fill(0);
            } else {
                to[at.clone()].copy_from_slice(&from[at]);
            }
        };
        part(0..first * columns, false);
        for row in first..last {
            let (row_start, edge) = (row * columns, row * columns + (row as i64 + start) as usize);
            part(row_start..edge, true);
            part(edge..row_start + columns, false);
        }
        part(last * columns..rows * columns, true);
    }
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
        let (t, width) = (Tensor::empty(x.sizes(), x.dtype())?, x.dtype().size());
        // SAFETY: S1 to S3: contiguous, of so many bytes; the result is fresh, and nobody else has it yet.
        let (from, to) = unsafe {
            let from = std::slice::from_raw_parts(x.op_ptr().cast::<u8>().cast_const(), x.numel() * width);
            (from, std::slice::from_raw_parts_mut(t.op_ptr().cast::<u8>(), from.len()))
        };
        let matrix = (rows * columns * width).max(1);
        for (to, from) in to.chunks_mut(matrix).zip(from.chunks(matrix)) {
            self.of_matrix([rows, columns, width], from, to);
        }
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
        // Every diagonal of tall and wide matrices, two of each: by the definition.
        for (rows, columns) in [(1, 1), (1, 4), (4, 1), (5, 3), (3, 5), (4, 4), (70, 2)] {
            let count = 2 * rows * columns;
            let x: Vec<i64> = (1..=count as i64).collect();
            let t = Tensor::from_slice(&x, &[2, rows, columns]).unwrap();
            for diagonal in -(rows as i64) - 1..=columns as i64 + 1 {
                let lower = |k: usize| (k % columns) as i64 <= (k / columns % rows) as i64 + diagonal;
                let upper = |k: usize| (k % columns) as i64 >= (k / columns % rows) as i64 + diagonal;
                let kept = |keeps: &dyn Fn(usize) -> bool| -> Vec<i64> {
                    x.iter().enumerate().map(|(k, &v)| if keeps(k) { v } else { 0 }).collect()
                };
                assert_eq!(t.tril(diagonal).unwrap().to_vec::<i64>().unwrap(), kept(&lower));
                assert_eq!(t.triu(diagonal).unwrap().to_vec::<i64>().unwrap(), kept(&upper));
            }
        }
        assert_eq!(Tensor::empty(&[2, 0], crate::DType::Float32).unwrap().tril(0).unwrap().numel(), 0);
        assert!(Tensor::arange(3).unwrap().tril(0).is_err());
        gradcheck(&|xs| xs[0].tril(-1), &[noise(3, &[2, 3, 4])]);
        gradcheck(&|xs| xs[0].triu(1), &[noise(4, &[3, 3])]);
    }
}
