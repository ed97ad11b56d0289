//! In-place ops and memory that elements share: within the tensor that is written, and between it and what is read.

use super::erased::AnyPrimitive;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::tensor::copy::ranges_meet;
use crate::tensor::layout::{is_dense, repeats};

/// Whether an op may write to a tensor in which several elements share memory, such as an expanded one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeats {
    Refused,
    /// As in torch, with a warning. Elements are written in row-major order, so the last one of a place stays.
    Deprecated,
    /// Elements are written in row-major order.
    Taken,
}

/// Whether an operand may share memory with the tensor that the op writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// The same elements, or none of them.
    Same,
    /// None of them.
    Apart,
    /// Any: what is read is read before the first write.
    Any,
}

/// What an in-place op allows of memory that elements share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverlapRules {
    pub repeats: Repeats,
    pub reads: Reads,
}

impl OverlapRules {
    /// Ops that walk all operands side by side.
    pub const ELEMENTWISE: Self = Self { repeats: Repeats::Refused, reads: Reads::Same };
    /// Ops that write at an index.
    pub const SCATTER: Self = Self { repeats: Repeats::Refused, reads: Reads::Apart };
    /// Ops with a result of their own, which is copied.
    pub const WHOLE: Self = Self { repeats: Repeats::Refused, reads: Reads::Any };
}

/// Checks, before the op writes to operand 0, the memory it shares with itself and with the other operands.
pub(crate) fn check(op: &dyn AnyPrimitive, xs: &[&Tensor]) -> Result<()> {
    let name = op.facts().name;
    check_repeats(name, xs[0], op.overlap_rules().repeats)?;
    (1..xs.len()).try_for_each(|i| check_reads(name, xs[0], xs[i], op.reads(xs, i)))
}

/// Whether several elements surely share memory.
pub(crate) fn check_repeats(op: &str, target: &Tensor, allowed: Repeats) -> Result<()> {
    if target.is_contiguous()
        || allowed == Repeats::Taken
        || target.is_sparse()
        || !repeats(target.sizes(), target.strides())
    {
        return Ok(());
    }
    if allowed == Repeats::Deprecated {
        return crate::warn::warn(&format!(
            "Use of {}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This \
             also applies to advanced indexing e.g. tensor[mask] = scalar",
            op.trim_end_matches('_')
        ));
    }
    Err(Error::autograd(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please \
         clone() the tensor before performing the operation.",
    ))
}

/// Checks what is read during a write to `target`. Where a layout has gaps it is not known which elements meet, and the
/// op reads all before it writes.
pub(crate) fn check_reads(op: &'static str, target: &Tensor, x: &Tensor, allowed: Reads) -> Result<()> {
    let dense = |t: &Tensor| t.is_contiguous() || is_dense(t.sizes(), t.strides());
    let refused = if allowed == Reads::Any {
        false
    } else if x.is_same(target) {
        allowed == Reads::Apart
    } else if !x.shares_storage(target) || x.numel() == 0 || target.numel() == 0 || !dense(x) || !dense(target) {
        false
    } else if x.op_ptr() == target.op_ptr() && x.strides() == target.strides() {
        // Dense, with equal strides: one of them ends after the other, or they are the same.
        allowed == Reads::Apart || x.numel() * x.dtype().size() != target.numel() * target.dtype().size()
    } else {
        ranges_meet(x, target)
    };
    if !refused {
        return Ok(());
    }
    Err(Error::shape(
        op,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory \
         location. Please clone() the tensor before performing the operation.",
    ))
}
