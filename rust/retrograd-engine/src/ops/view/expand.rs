//! Views that repeat axes of size 1: expand, broadcast_to and related ops.

use retrograd_macros::op;
use smallvec::smallvec;

use super::shape::{checked_sizes, reshape_to};
use super::view_op::{Layout, ViewOp, Viewed, apply_view, batch_first, with_batch};
use crate::autograd::primitive::{Batch, Params, out, params};
use crate::error::{Error, Result};
use crate::tensor::layout;
use crate::tensor::{Dims, Strides, Tensor};

/// `expand`. Reverse: `g`, which the engine sums to the operand's sizes.
#[derive(Clone, Debug)]
struct Expand {
    from: Dims,
    sizes: Dims,
}

impl ViewOp for Expand {
    const NAME: &'static str = "expand";
    const PARAMS: Params<Self> = params!(op; self_sym_sizes: &*op.from);
    const BATCH: Batch<Viewed<Self>> = Batch::Rule(|p, xs, axes, batch| {
        let x = batch_first(xs[0], axes[0], batch)?;
        // The operand's axes are aligned with the last axes of the result.
        let lead = p.0.sizes.len() + 1 - x.ndim();
        let mut whole: Dims = smallvec![1; lead];
        whole.extend_from_slice(&x.sizes()[1..]);
        whole.insert(0, batch);
        let y = expand_to(&reshape_to(&x, &whole)?, &with_batch(&p.0.sizes, batch))?;
        Ok((out(y), smallvec![Some(0)]))
    });
    fn node(&self) -> &'static str {
        "ExpandBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let lead = self.sizes.len() - x.ndim();
        let mut strides: Strides = smallvec![0; self.sizes.len()];
        for i in (0..self.sizes.len()).rev() {
            strides[i] = match i.checked_sub(lead) {
                Some(d) if x.sizes()[d] == self.sizes[i] => x.strides()[d],
                None if self.sizes[i] == 1 && i + 1 < self.sizes.len() => {
                    (self.sizes[i + 1] as isize).saturating_mul(strides[i + 1])
                }
                None if self.sizes[i] == 1 => 1,
                _ => 0,
            };
        }
        Ok(Layout::over(x, self.sizes.clone(), strides, x.storage_offset()))
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        Ok(g.clone())
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { from: with_batch(&self.from, batch), sizes: with_batch(&self.sizes, batch) }
    }
}

/// The target of an expand; -1 keeps a size.
fn expanded_sizes(op: &'static str, x: &Tensor, sizes: &[i64]) -> Result<Dims> {
    let Some(lead) = sizes.len().checked_sub(x.ndim()) else {
        return Err(Error::shape(
            op,
            format!(
                "expand(torch.{}{{{:?}}}, size={sizes:?}): the number of sizes provided ({}) must be greater or equal to the \
                 number of dimensions in the tensor ({})",
                x.dtype().tensor_type_name(),
                x.sizes(),
                sizes.len(),
                x.ndim()
            ),
        ));
    };
    let mut target = Vec::with_capacity(sizes.len());
    for (i, &s) in sizes.iter().enumerate() {
        match i.checked_sub(lead).map(|d| x.sizes()[d]) {
            None if s < 0 => {
                return Err(Error::shape(
                    op,
                    format!(
                        "The expanded size of the tensor ({s}) isn't allowed in a leading, non-existing dimension {i}"
                    ),
                ));
            }
            Some(n) if s == -1 => target.push(n as i64),
            Some(n) if n != 1 && s != n as i64 => {
                return Err(Error::shape(
                    op,
                    format!(
                        "The expanded size of the tensor ({s}) must match the existing size ({n}) at non-singleton dimension \
                         {i}.  Target sizes: {sizes:?}.  Tensor sizes: {:?}",
                        x.sizes()
                    ),
                ));
            }
            _ => target.push(s),
        }
    }
    checked_sizes(op, &target)
}

/// Why `x` does not expand to `sizes`.
pub(crate) fn refused_expand(op: &'static str, x: &Tensor, sizes: &[usize]) -> Error {
    let wanted: Vec<i64> = sizes.iter().map(|&n| n as i64).collect();
    expanded_sizes(op, x, &wanted).err().unwrap_or_else(|| Error::broadcast(op, sizes, x.sizes()))
}

/// `x` broadcast to `sizes`; `x` itself if it has them.
pub fn expand_to(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    if x.sizes() == sizes {
        return Ok(x.clone());
    }
    if !layout::expands_to(x.sizes(), sizes) {
        return Err(Error::broadcast("expand", sizes, x.sizes()));
    }
    apply_view(Expand { from: Dims::from_slice(x.sizes()), sizes: Dims::from_slice(sizes) }, x)
}

/// Several tensors broadcast against one another.
pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut sizes = Dims::new();
    for t in tensors {
        sizes = layout::broadcast("broadcast_tensors", &sizes, t.sizes())?;
    }
    tensors.iter().map(|t| apply_view(Expand { from: Dims::from_slice(t.sizes()), sizes: sizes.clone() }, t)).collect()
}

/// A view of `input` with axes of size 1 repeated to `size`.
///
/// Args: `size` one entry per axis, further axes in front; -1 keeps a size. Returns: a view in which repeated elements
/// share memory. Derivative: `g` summed to the sizes of `input`. Raises: RuntimeError if an axis that is not 1 would
/// change.
///
/// >>> rg.tensor([[1.0], [2.0]]).expand(2, 3).tolist()
/// [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
#[op(method)]
pub fn expand(input: &Tensor, #[size] size: &[i64]) -> Result<Tensor> {
    let sizes = expanded_sizes("expand", input, size)?;
    apply_view(Expand { from: Dims::from_slice(input.sizes()), sizes }, input)
}

/// `input` expanded to the sizes of `other`; see `expand`.
///
/// >>> rg.ones(1).expand_as(rg.zeros(2)).tolist()
/// [1.0, 1.0]
#[op(method)]
pub fn expand_as(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    let size: Vec<i64> = other.sizes().iter().map(|&n| n as i64).collect();
    expand(input, &size)
}

/// A view of `input` broadcast to `size`; see `expand`.
///
/// >>> rg.broadcast_to(rg.tensor([1.0, 2.0]), (2, 2)).tolist()
/// [[1.0, 2.0], [1.0, 2.0]]
#[op(function, method)]
pub fn broadcast_to(input: &Tensor, size: &[i64]) -> Result<Tensor> {
    expand(input, size)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn expand_strides_are_torchs() {
        let x = noise(1, &[3, 1]);
        assert_eq!(x.expand(&[1, 3, 4]).unwrap().strides(), [3, 1, 0]);
        assert_eq!(x.expand(&[2, -1, 4]).unwrap().sizes(), [2, 3, 4]);
        assert!(x.expand(&[-1, 3, 4]).is_err() && x.expand(&[4, 4]).is_err() && x.expand(&[3]).is_err());
        assert!(x.expand(&[3, i64::MAX]).is_err() && x.expand(&[3, -3]).is_err());
        assert_eq!(x.expand(&[3, 0]).unwrap().numel(), 0);
    }

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].expand(&[2, 3, 4])?.exp(), &[noise(2, &[3, 1])]);
        gradcheck(&|xs| xs[0].expand(&[3])?.exp(), &[noise(2, &[])]);
    }
}
