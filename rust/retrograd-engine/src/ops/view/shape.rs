//! Views that change the sizes: view, reshape and related ops, and `contiguous`.

use retrograd_macros::op;
use smallvec::smallvec;

use super::view_op::{Layout, ViewOp, apply_view, with_batch};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::ops::memory;
use crate::tensor::layout::{checked_numel, contiguous_strides, copied, numel, view_strides, wrap_dim};
use crate::tensor::{Body, DType, Dims, MemoryFormat, Tensor};

/// `view`. Reverse: `g` in the operand's sizes.
#[derive(Clone, Debug)]
struct ViewTo {
    from: Dims,
    sizes: Dims,
    /// Made by `reshape` of a tensor that is not contiguous, which torch shows in the node's name.
    reshaped: bool,
}

impl ViewOp for ViewTo {
    const NAME: &'static str = "view";
    const PARAMS: Params<Self> = params!(op; self_sym_sizes: &*op.from);
    fn node(&self) -> &'static str {
        if self.reshaped { "ReshapeAliasBackward0" } else { "ViewBackward0" }
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let strides = view_strides(x.sizes(), x.strides(), &self.sizes).ok_or_else(|| {
            Error::shape(
                "view",
                format!(
                    "view size is not compatible with input tensor's size and stride (at least one dimension spans across \
                     two contiguous subspaces). Use .reshape(...) instead. Got {:?} for a tensor of sizes {:?} and strides \
                     {:?}",
                    self.sizes,
                    x.sizes(),
                    x.strides()
                ),
            )
        })?;
        Ok(Layout::over(x, self.sizes.clone(), strides, x.storage_offset()))
    }
    #[inline]
    fn view(&self, x: &Tensor) -> Result<Tensor> {
        match x.in_sizes(&self.sizes) {
            Some(view) => Ok(view),
            None => self.layout(x)?.view_of(x),
        }
    }
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        reshape_to(g, sizes)
    }
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        reshape_to(t, &self.sizes)
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { from: with_batch(&self.from, batch), sizes: with_batch(&self.sizes, batch), ..*self }
    }
}

/// What `reshape` makes of its own copy: the copy's memory in other sizes, not tracked as a view.
#[derive(Clone, Debug)]
struct UnsafeView(ViewTo);

impl Primitive for UnsafeView {
    const NAME: &'static str = "reshape";
    const NODE: &'static str = "UnsafeViewBackward0";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; self_sym_sizes: &*op.0.from);
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, batch| Ok(UnsafeView(p.0.lift(ndims[0], batch))));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let l = self.0.layout(xs[0])?;
        Tensor::from_parts(xs[0].storage(), xs[0].dtype(), &l.sizes, &l.strides, l.offset).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(one(reshape_to(cx.g(), cx.sizes(0))?))
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|op, cx| cx.t(0).map(|t| reshape_to(t, &op.0.sizes)).transpose().map(maybe));
}

/// `x[...]`: the same layout. Reverse: `g`.
#[derive(Clone, Debug)]
struct Alias;

impl ViewOp for Alias {
    const NAME: &'static str = "alias";
    fn node(&self) -> &'static str {
        "AliasBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        Ok(Layout::of(x))
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        Ok(g.clone())
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        Self
    }
}

/// A view with the layout of `x` itself.
pub(crate) fn alias(x: &Tensor) -> Result<Tensor> {
    apply_view(Alias, x)
}

// ---- arguments

/// Sizes given by the user: none negative, and their product fits.
pub fn checked_sizes(op: &'static str, sizes: &[i64]) -> Result<Dims> {
    if let Some(n) = sizes.iter().find(|&&n| n < 0) {
        return Err(Error::shape(op, format!("invalid shape dimension {n} in {sizes:?}: sizes must not be negative")));
    }
    let dims: Dims = sizes.iter().map(|&n| n as usize).collect();
    // Strides are products too, also where another size is 0.
    let filled: Dims = dims.iter().map(|&n| n.max(1)).collect();
    checked_numel(op, &filled)?;
    Ok(dims)
}

/// Sizes for `n` elements, one of which may be -1: what is left.
fn inferred_sizes(op: &'static str, sizes: &[i64], n: usize) -> Result<Dims> {
    let invalid = || Error::shape(op, format!("shape '{sizes:?}' is invalid for input of size {n}"));
    let mut open = None;
    let mut known = 1usize;
    for (i, &s) in sizes.iter().enumerate() {
        match s {
            -1 if open.is_some() => return Err(Error::shape(op, "only one dimension can be inferred")),
            -1 => open = Some(i),
            s if s < 0 => {
                return Err(Error::shape(op, format!("invalid shape dimension {s} at index {i} of shape {sizes:?}")));
            }
            0 => known = 0,
            s => known = known.checked_mul(s as usize).ok_or_else(invalid)?,
        }
    }
    let Some(open) = open else {
        // As many elements as there are: none of the sizes is 0, and their product fits.
        if known == n && n > 0 {
            return Ok(sizes.iter().map(|&s| s as usize).collect());
        }
        let dims = checked_sizes(op, sizes)?;
        return if known == n { Ok(dims) } else { Err(invalid()) };
    };
    if known == 0 && n == 0 {
        return Err(Error::shape(
            op,
            format!(
                "cannot reshape tensor of 0 elements into shape {sizes:?} because the unspecified dimension size -1 can be \
                 any value and is ambiguous"
            ),
        ));
    }
    if known == 0 || !n.is_multiple_of(known) {
        return Err(invalid());
    }
    let mut filled: Vec<i64> = sizes.to_vec();
    filled[open] = (n / known) as i64;
    checked_sizes(op, &filled)
}

// ---- Rust face

/// `x` in other sizes of the same product: a view if the layout allows, else a copy; `x` itself if it has them.
pub fn reshape_to(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    if x.sizes() == sizes { Ok(x.clone()) } else { reshaped(x, Dims::from_slice(sizes)) }
}

fn reshaped(x: &Tensor, sizes: Dims) -> Result<Tensor> {
    if numel(&sizes) != x.numel() {
        return Err(Error::shape("reshape", format!("shape '{sizes:?}' is invalid for input of size {}", x.numel())));
    }
    let view = ViewTo { from: Dims::from_slice(x.sizes()), sizes, reshaped: !x.is_contiguous() };
    if view_strides(x.sizes(), x.strides(), &view.sizes).is_some() {
        return apply_view(view, x);
    }
    let copy = memory::clone_strided(x, &contiguous_strides(x.sizes()))?;
    apply1(UnsafeView(view), &[&copy])
}

fn viewed(x: &Tensor, sizes: Dims) -> Result<Tensor> {
    apply_view(ViewTo { from: copied(x.dims()), sizes, reshaped: false }, x)
}

/// A view of `x` in other sizes of the same product, also if it has them.
pub(crate) fn view_to(x: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    viewed(x, Dims::from_slice(sizes))
}

// ---- entries

/// A view of `input` in other sizes, elements in the same row-major order.
///
/// Args: `size` with the same product as the sizes of `input`; one entry may be -1 for what is left. Returns: a view.
/// Derivative: `g` in the sizes of `input`. Raises: RuntimeError if the product differs, or the memory layout allows no
/// view (use `reshape`).
///
/// >>> rg.tensor([1.0, 2.0, 3.0, 4.0]).view(2, -1).tolist()
/// [[1.0, 2.0], [3.0, 4.0]]
#[op(method, name = "view")]
pub fn view_sizes(input: &Tensor, #[size] size: &[i64]) -> Result<Tensor> {
    viewed(input, inferred_sizes("view", size, input.numel())?)
}

/// A view of the bytes of `input` as another dtype of the same size. Not differentiable.
///
/// >>> rg.tensor([1.0]).view(rg.int32).tolist()
/// [1065353216]
#[op(method, name = "view")]
pub fn view_dtype(input: &Tensor, dtype: DType) -> Result<Tensor> {
    let bits = input.lazy_bits();
    if dtype != input.dtype() && bits.any() {
        let (bit, call) = if bits.conj { ("conjugate", "conj") } else { ("negative", "neg") };
        return Err(Error::shape(
            "view",
            format!(
                "torch.Tensor.view is not supported for {bit} view tensors when converting to a different dtype. Use \
                 .resolve_{call}() first"
            ),
        ));
    }
    if dtype.size() != input.dtype().size() {
        return Err(Error::not_implemented(format!(
            "view: {} to {} changes the size of an element, which is not available yet; use .to(dtype) to convert values",
            input.dtype().name(),
            dtype.name()
        )));
    }
    if !input.op_ptr().addr().is_multiple_of(dtype.size().min(8)) {
        return Err(Error::shape(
            "view",
            format!("memory of this tensor is not aligned for {}; clone it first", dtype.name()),
        ));
    }
    if let Some(view) = input.over(|value| view_dtype(value, dtype)) {
        return view;
    }
    let l = Layout::of(input);
    let view = input.view_as(&l.sizes, &l.strides, l.offset)?;
    // Elements of equal size are in the same places, so S3 holds as it did; S2 was checked above.
    view.replace_body(Body { dtype, ..view.snapshot() });
    Ok(view)
}

/// A view of `input` in the sizes of `other`; see `view`.
///
/// >>> tuple(rg.ones(4).view_as(rg.zeros(2, 2)).shape)
/// (2, 2)
#[op(method, name = "view_as")]
pub fn view_like(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    let size: Vec<i64> = other.sizes().iter().map(|&n| n as i64).collect();
    view_sizes(input, &size)
}

/// `input` in other sizes, elements in the same row-major order: a view if the memory layout allows, else a copy.
///
/// Args: `shape` with the same product as the sizes of `input`; one entry may be -1. Derivative: `g` in the sizes of
/// `input`. Raises: RuntimeError if the product differs.
///
/// >>> rg.reshape(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), (-1,)).tolist()
/// [1.0, 2.0, 3.0, 4.0]
#[op(function, method)]
pub fn reshape(input: &Tensor, #[size] shape: &[i64]) -> Result<Tensor> {
    reshaped(input, inferred_sizes("reshape", shape, input.numel())?)
}

/// `input` in the sizes of `other`; see `reshape`.
///
/// >>> tuple(rg.ones(4).reshape_as(rg.zeros(2, 2)).shape)
/// (2, 2)
#[op(method)]
pub fn reshape_as(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    let size: Vec<i64> = other.sizes().iter().map(|&n| n as i64).collect();
    reshape(input, &size)
}

/// The axes from `start_dim` to `end_dim` merged into one: `input` itself if there is nothing to merge, a view if the
/// memory layout allows, else a copy.
///
/// Derivative: `g` in the sizes of `input`. Raises: IndexError if an axis does not exist; RuntimeError if `start_dim`
/// comes after `end_dim`.
///
/// >>> tuple(rg.flatten(rg.zeros(2, 3, 4), 1).shape)
/// (2, 12)
#[op(function, method, "(start_dim=0, end_dim=-1)")]
pub fn flatten(input: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
    let (start, end) = (wrap_dim("flatten", start_dim, input.ndim())?, wrap_dim("flatten", end_dim, input.ndim())?);
    if start > end {
        return Err(Error::shape(
            "flatten",
            format!(
                "flatten() has invalid args: start_dim cannot come after end_dim, got start_dim={start_dim} and \
                 end_dim={end_dim}"
            ),
        ));
    }
    if input.ndim() == 0 {
        return reshaped(input, smallvec![1]);
    }
    if start == end {
        return Ok(input.clone());
    }
    let s = input.sizes();
    let mut sizes = Dims::from_slice(&s[..start]);
    sizes.push(numel(&s[start..=end]));
    sizes.extend_from_slice(&s[end + 1..]);
    reshaped(input, sizes)
}

/// The axis `dim` split into several.
///
/// Args: `sizes` with a product equal to the size of the axis; one entry may be -1. Returns: a view. Derivative: `g` in
/// the sizes of `input`. Raises: RuntimeError if the product differs.
///
/// >>> tuple(rg.zeros(6, 2).unflatten(0, (2, -1)).shape)
/// (2, 3, 2)
#[op(function, method)]
pub fn unflatten(input: &Tensor, dim: i64, sizes: &[i64]) -> Result<Tensor> {
    let d = wrap_dim("unflatten", dim, input.ndim())?;
    if sizes.is_empty() {
        return Err(Error::shape("unflatten", "sizes must be non-empty"));
    }
    let Some(&n) = input.sizes().get(d) else {
        return Err(Error::index("unflatten", "the input has no axis to split: it has 0 dims"));
    };
    let parts = inferred_sizes("unflatten", sizes, n).map_err(|e| {
        Error::shape(
            "unflatten",
            format!(
                "Provided sizes {sizes:?} don't multiply up to the size of dim {dim} ({n}) in the input tensor: {e}"
            ),
        )
    })?;
    let mut target = Dims::from_slice(&input.sizes()[..d]);
    target.extend_from_slice(&parts);
    target.extend_from_slice(&input.sizes()[d + 1..]);
    viewed(input, target)
}

/// All elements along one axis: a view if the memory layout allows, else a copy. Derivative: `g` in the sizes of
/// `input`.
///
/// >>> tuple(rg.ravel(rg.zeros(2, 3)).shape)
/// (6,)
#[op(function, method)]
pub fn ravel(input: &Tensor) -> Result<Tensor> {
    viewed(&input.contiguous()?, smallvec![input.numel()])
}

/// `input` itself if its elements are in row-major order without gaps, else a copy that does. Derivative: `g`.
///
/// Args: `memory_format` another order of the axes. Raises: RuntimeError if the format is for tensors of other dims.
///
/// >>> rg.zeros(2, 3).t().contiguous().stride()
/// (2, 1)
#[op(method, norust, "(*, memory_format=None)")]
pub fn contiguous(input: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let memory_format = memory_format.unwrap_or(MemoryFormat::Contiguous);
    if input.is_contiguous_in(memory_format) {
        return Ok(input.clone());
    }
    if memory_format == MemoryFormat::Preserve {
        return Err(Error::shape(
            "contiguous",
            "preserve memory format is unsupported by the contiguous operator: use clone, or name a format",
        ));
    }
    memory::clone_in("contiguous", input, memory_format)
}

impl Tensor {
    /// This tensor if its elements are in row-major order without gaps, else a copy that does; see [`contiguous`].
    pub fn contiguous(&self) -> Result<Tensor> {
        contiguous(self, None)
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn view_infers_and_refuses() {
        let x = noise(1, &[3, 4]);
        assert_eq!(x.view_sizes(&[2, -1]).unwrap().sizes(), [2, 6]);
        for bad in [&[5, -1][..], &[-1, -1], &[-2, 6], &[], &[i64::MAX, 4], &[0, -1], &[i64::MAX, i64::MAX, 0]] {
            assert!(x.view_sizes(bad).is_err(), "{bad:?}");
        }
        assert!(x.transpose(0, 1).unwrap().view_sizes(&[12]).unwrap_err().to_string().contains("is not compatible"));
        let e = Tensor::empty(&[0, 3], DType::Float64).unwrap();
        assert!(e.view_sizes(&[0, -1]).unwrap_err().to_string().contains("ambiguous"));
        assert_eq!(e.view_sizes(&[3, -1]).unwrap().sizes(), [3, 0]);
        assert!(e.view_sizes(&[0, i64::MAX, i64::MAX]).is_err());
        let bits = view_dtype(&Tensor::from_slice(&[1.0f32], &[1]).unwrap(), DType::Int32).unwrap();
        assert_eq!(bits.to_vec::<i32>().unwrap(), [0x3f80_0000]);
    }

    #[test]
    fn reshape_copies_only_when_it_must() {
        let x = noise(1, &[3, 4]);
        assert!(x.reshape(&[12]).unwrap().base().unwrap().is_same(&x));
        let y = x.transpose(0, 1).unwrap().reshape(&[12]).unwrap();
        assert!(y.base().is_none() && !y.shares_storage(&x));
        let (v, w) = (x.to_vec::<f64>().unwrap(), y.to_vec::<f64>().unwrap());
        assert!((0..12).all(|i| w[i] == v[i % 3 * 4 + i / 3]));
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].view_sizes(&[2, 6])?.mul(&xs[0].reshape(&[2, 6])?), from_ref(&x));
        gradcheck(&|xs| xs[0].transpose(0, 1)?.reshape(&[2, 6])?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].flatten(0, -1)?.unflatten(0, &[2, -1])?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].transpose(0, 1)?.contiguous()?.ravel(), &[x]);
    }
}
