//! Joins: cat, stack.

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use super::view_op::batch_first;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::kernels::pointwise;
use crate::ops::pointwise::result_type;
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::{contiguous_strides, wrap_dim};
use crate::tensor::{Dims, MemoryFormat, Scalar, Strides, Tensor};

/// Writes `x` to the range of `whole` that starts at `start` along `dim` and has the sizes `sizes`.
fn place(x: &Tensor, whole: &Tensor, dim: usize, start: usize, sizes: &[usize]) -> Result<()> {
    if x.numel() == 0 {
        return Ok(());
    }
    let offset = start * whole.strides()[dim] as usize;
    let part = Tensor::from_parts(whole.storage(), whole.dtype(), sizes, whole.strides(), offset)?;
    copy::copy_into(x, &part)
}

/// Writes row-major operands to `whole`, whose sizes are theirs together along `dim`, row after row: the rows of one
/// alone would leave gaps in lines of the cache, to come back to. False, and nothing is done, for other layouts and
/// dtypes, and along the first axis, where operands are rows of their own.
fn join_rows(xs: &[&Tensor], whole: &Tensor, dim: usize) -> bool {
    let _reading = reading();
    let rows: usize = whole.sizes()[..dim].iter().product();
    let plain = |x: &Tensor| x.is_contiguous() && x.dtype() == whole.dtype() && !x.lazy_bits().any() && !x.is_batched();
    if rows < 2 || whole.numel() == 0 || !plain(whole) || !xs.iter().all(|x| plain(x)) {
        return false;
    }
    let mut parts: SmallVec<[_; 4]> = SmallVec::new();
    for x in xs.iter().filter(|x| x.numel() > 0) {
        parts.push((x.op_ptr().cast::<u8>().cast_const(), x.numel() / rows * x.dtype().size()));
    }
    // SAFETY: (1) S1 and S3: contiguous tensors, of `rows` rows each, and one that has the elements of all; (2) `whole`
    // is fresh.
    unsafe { pointwise::join_rows(rows, &parts, whole.op_ptr().cast::<u8>()) };
    true
}

/// Whether `cat` ignores the tensor: an empty vector, whatever the other shapes.
fn is_skipped(sizes: &[usize]) -> bool {
    sizes == [0]
}

/// The memory format that all operands suggest; row-major if they do not agree.
fn common_format(xs: &[&Tensor]) -> MemoryFormat {
    let mut formats = xs.iter().map(|x| MemoryFormat::suggested(x.sizes(), x.strides()));
    let first = formats.next().unwrap_or(MemoryFormat::Contiguous);
    if formats.all(|f| f == first) { first } else { MemoryFormat::Contiguous }
}

/// `cat`. Reverse: each operand's range of `g`.
#[derive(Clone, Debug)]
struct Cat {
    dim: usize,
    /// Size of each operand along `dim`; `None` for those skipped.
    parts: Vec<Option<i64>>,
}

impl Primitive for Cat {
    const NAME: &'static str = "cat";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dim);
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let mut parts = Vec::with_capacity(xs.len());
        for (x, &axis) in xs.iter().zip(axes) {
            let x = batch_first(x, axis, batch)?;
            if !is_skipped(&x.sizes()[1..]) {
                parts.push(x);
            }
        }
        if parts.is_empty() {
            parts.push(batch_first(xs[0], axes[0], batch)?);
        }
        Ok((out(cat(&parts, p.dim as i64 + 1)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let Some(first) = xs.iter().find(|x| !is_skipped(x.sizes())) else {
            return Tensor::empty(&[0], result_type(xs)).map(out);
        };
        let mut sizes = Dims::from_slice(first.sizes());
        sizes[self.dim] = 0;
        for (i, x) in xs.iter().enumerate().filter(|(_, x)| !is_skipped(x.sizes())) {
            if x.ndim() != sizes.len() {
                return Err(Error::shape(
                    "cat",
                    format!("Tensors must have same number of dimensions: got {} and {}", sizes.len(), x.ndim()),
                ));
            }
            if let Some(d) = (0..sizes.len()).find(|&d| d != self.dim && x.sizes()[d] != sizes[d]) {
                return Err(Error::shape(
                    "cat",
                    format!(
                        "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor \
                         number {i} in the list.",
                        self.dim,
                        sizes[d],
                        x.sizes()[d]
                    ),
                ));
            }
            sizes[self.dim] = sizes[self.dim].saturating_add(x.sizes()[self.dim]);
        }
        let strides = common_format(xs).strides(Self::NAME, &sizes, &[])?;
        let whole = Tensor::empty_strided(&sizes, &strides, result_type(xs))?;
        if join_rows(xs, &whole, self.dim) {
            return Ok(out(whole));
        }
        let mut start = 0;
        for x in xs.iter().filter(|x| !is_skipped(x.sizes())) {
            place(x, &whole, self.dim, start, x.sizes())?;
            start += x.sizes()[self.dim];
        }
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let mut grads = Grads::new();
        let mut start = 0;
        for i in 0..cx.node.edges.len() {
            let Some(n) = self.parts.get(i) else { break };
            grads.push(cx.when(i, || match n {
                None => Tensor::full(&[0], Scalar::Int(0), g.dtype()),
                Some(n) => g.narrow(self.dim as i64, start, *n),
            })?);
            start += n.unwrap_or(0);
        }
        Ok(grads)
    }
}

/// `stack`. Reverse: the indices of `g` along the new axis.
#[derive(Clone, Debug)]
struct Stack {
    dim: usize,
}

impl Stack {
    /// Those of the operands joined along an axis of theirs, which is then cut; row-major behind all axes.
    fn strides(&self, xs: &[&Tensor]) -> Result<Strides> {
        let mut sizes = Dims::from_slice(xs[0].sizes());
        if self.dim == sizes.len() {
            sizes.push(xs.len());
            return Ok(contiguous_strides(&sizes));
        }
        let n = sizes[self.dim];
        sizes[self.dim] = n.saturating_mul(xs.len());
        let mut strides = common_format(xs).strides(Self::NAME, &sizes, &[])?;
        strides.insert(self.dim, strides[self.dim].wrapping_mul(n as isize));
        Ok(strides)
    }
}

impl Primitive for Stack {
    const NAME: &'static str = "stack";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dim);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(Stack { dim: p.dim + 1 }));
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let mut sizes = Dims::from_slice(xs[0].sizes());
        sizes.insert(self.dim, xs.len());
        let strides = self.strides(xs)?;
        let whole = Tensor::empty_strided(&sizes, &strides, result_type(xs))?;
        sizes[self.dim] = 1;
        for (i, x) in xs.iter().enumerate() {
            let mut strides = Strides::from_slice(x.strides());
            strides.insert(self.dim, 0);
            let x = Tensor::from_parts(x.storage(), x.dtype(), &sizes, &strides, x.storage_offset())?;
            place(&x, &whole, self.dim, i, &sizes)?;
        }
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let dim = self.dim as i64;
        (0..cx.node.edges.len()).map(|i| cx.when(i, || cx.g().select(dim, i as i64))).collect()
    }
}

/// Tensors joined along an existing axis.
///
/// Args: `tensors` of equal sizes but along `dim`, dtypes promoted; empty vectors are skipped. Returns: a fresh tensor.
/// Derivative: each tensor's range of `g`. Raises: ValueError for an empty list; RuntimeError if sizes do not fit.
///
/// >>> rg.cat([rg.tensor([1.0]), rg.tensor([2.0, 3.0])]).tolist()
/// [1.0, 2.0, 3.0]
#[op(function, out, aliases("concat", "concatenate"), "(dim=0)")]
pub fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::value("cat", "expected a non-empty list of Tensors"));
    }
    if let Some(i) = tensors.iter().position(|t| t.ndim() == 0) {
        return Err(Error::shape(
            "cat",
            format!("zero-dimensional tensor (at position {i}) cannot be concatenated: use stack, or unsqueeze it"),
        ));
    }
    let ndim = tensors.iter().find(|t| !is_skipped(t.sizes())).map_or(1, Tensor::ndim);
    let dim = wrap_dim("cat", dim, ndim)?;
    let xs: Vec<&Tensor> = tensors.iter().collect();
    let parts =
        xs.iter().map(|x| (!is_skipped(x.sizes())).then(|| x.sizes().get(dim).map_or(0, |&n| n as i64))).collect();
    apply1(Cat { dim, parts }, &xs)
}

/// Tensors of equal sizes joined along a new axis.
///
/// Args: `tensors` of equal sizes, dtypes promoted; `dim` the place of the new axis. Returns: a fresh tensor.
/// Derivative: each tensor's index of `g`. Raises: RuntimeError for an empty list or unequal sizes.
///
/// >>> rg.stack([rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])], dim=1).tolist()
/// [[1.0, 3.0], [2.0, 4.0]]
#[op(function, out, "(dim=0)")]
pub fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(Error::shape("stack", "stack expects a non-empty TensorList"));
    };
    let dim = wrap_dim("stack", dim, first.ndim() + 1)?;
    if let Some(i) = tensors.iter().position(|t| t.sizes() != first.sizes()) {
        return Err(Error::shape(
            "stack",
            format!(
                "stack expects each tensor to be equal size, but got {:?} at entry 0 and {:?} at entry {i}",
                first.sizes(),
                tensors[i].sizes()
            ),
        ));
    }
    let xs: Vec<&Tensor> = tensors.iter().collect();
    apply1(Stack { dim }, &xs)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::DType;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn values_and_promotion() {
        let a = Tensor::from_slice(&[1.0f32, 2.0], &[2, 1]).unwrap();
        let b = Tensor::from_slice(&[3i64, 4, 5, 6], &[2, 2]).unwrap();
        let skipped = Tensor::empty(&[0], DType::Float32).unwrap();
        let y = cat(&[a.clone(), skipped.clone(), b], -1).unwrap();
        assert_eq!((y.dtype(), y.sizes()), (DType::Float32, &[2usize, 3][..]));
        assert_eq!(y.to_vec::<f32>().unwrap(), [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]);
        assert_eq!(cat(&[skipped.clone(), skipped], 0).unwrap().sizes(), [0]);
        let s = stack(&[a.clone(), a.clone()], 1).unwrap();
        assert_eq!((s.sizes(), s.to_vec::<f32>().unwrap()), (&[2usize, 2, 1][..], vec![1.0, 1.0, 2.0, 2.0]));
        let z = noise(1, &[]);
        assert_eq!(stack(&[z.clone(), z.clone()], -1).unwrap().sizes(), [2]);
        assert!(cat(&[], 0).is_err() && stack(&[], 0).is_err() && cat(from_ref(&z), 0).is_err());
        assert!(cat(&[a.clone(), noise(1, &[3, 2])], 1).is_err() && cat(&[a.clone(), noise(1, &[3])], 0).is_err());
        assert!(stack(&[a, z], 0).is_err());
    }

    #[test]
    fn derivatives() {
        let (a, b, e) = (noise(1, &[2, 3]), noise(2, &[2, 1]), noise(3, &[0]));
        gradcheck(&|xs| cat(xs, 1)?.exp(), &[a.clone(), b.clone()]);
        gradcheck(&|xs| cat(xs, 1)?.exp(), &[a.clone(), e, b]);
        gradcheck(&|xs| stack(&[xs[0].clone(), xs[1].exp()?, xs[0].clone()], 1)?.exp(), &[a, noise(4, &[2, 3])]);
    }
}
