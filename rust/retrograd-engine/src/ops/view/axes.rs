//! Views that reorder, drop or add axes.

use retrograd_macros::op;

use super::view_op::{Layout, ViewOp, apply_view, apply_view_inplace, lifted, with_batch, wrap_dims};
use crate::autograd::primitive::{Params, params};
use crate::error::{Error, Result};
use crate::ops::{Form, Value};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Tensor};

/// The recorded view, or the same change of the tensor itself.
fn looked<V: ViewOp>(form: Form, view: V, x: &Tensor) -> Result<Tensor> {
    match form {
        Form::New | Form::Out => apply_view(view, x),
        Form::InPlace => apply_view_inplace(view, x),
    }
}

/// `transpose`, and `t`, which is the transpose of a matrix. Reverse: the same.
#[derive(Clone, Debug)]
struct Transpose {
    dims: [usize; 2],
    node: &'static str,
}

impl ViewOp for Transpose {
    const NAME: &'static str = "transpose";
    fn node(&self) -> &'static str {
        self.node
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        let [a, b] = self.dims;
        if a != b {
            l.sizes.swap(a, b);
            l.strides.swap(a, b);
        }
        Ok(l)
    }
    fn sparse(&self, x: &Tensor) -> Result<Tensor> {
        crate::ops::sparse::transposed(x, self.dims)
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        apply_view(self.clone(), g)
    }
    fn lift(&self, ndim: usize, _batch: usize) -> Self {
        Self { dims: self.dims.map(|d| lifted(d, ndim)), node: "TransposeBackward0" }
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        if self.node.starts_with("TB") {
            return Vec::new();
        }
        vec![("dim0", (self.dims[0] as i64).into()), ("dim1", (self.dims[1] as i64).into())]
    }
}

/// `permute`. Reverse: the inverse permutation.
#[derive(Clone, Debug)]
struct Permute(Dims);

impl ViewOp for Permute {
    const NAME: &'static str = "permute";
    const PARAMS: Params<Self> = params!(op; dims: &*op.0);
    fn node(&self) -> &'static str {
        "PermuteBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let (sizes, strides) = (x.sizes(), x.strides());
        let (sizes, strides) =
            (self.0.iter().map(|&d| sizes[d]).collect(), self.0.iter().map(|&d| strides[d]).collect());
        Ok(Layout::over(x, sizes, strides, x.storage_offset()))
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        let mut inverse = self.0.clone();
        for (to, &from) in self.0.iter().enumerate() {
            inverse[from] = to;
        }
        apply_view(Permute(inverse), g)
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        Self(std::iter::once(0).chain(self.0.iter().map(|d| d + 1)).collect())
    }
}

/// How `squeeze` was asked for: all axes, one, or a list.
#[derive(Clone, Copy, Debug)]
enum Asked {
    All,
    One,
    List,
}

/// `squeeze`. Reverse: `g` in the operand's sizes.
#[derive(Clone, Debug)]
struct Squeeze {
    asked: Asked,
    /// Axes that go if their size is 1.
    dims: Dims,
    from: Dims,
    form: Form,
}

impl Squeeze {
    fn of(form: Form, asked: Asked, dims: Dims, x: &Tensor) -> Self {
        Self { asked, dims, from: Dims::from_slice(x.sizes()), form }
    }
}

impl ViewOp for Squeeze {
    const NAME: &'static str = "squeeze";
    fn node(&self) -> &'static str {
        match (self.asked, self.form.is_in_place()) {
            (Asked::All, false) => "SqueezeBackward0",
            (Asked::One, false) => "SqueezeBackward1",
            (Asked::List, false) => "SqueezeBackward2",
            (Asked::All, true) => "SqueezeBackward3",
            (Asked::One, true) => "SqueezeBackward4",
            (Asked::List, true) => "SqueezeBackward5",
        }
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let stays = |&d: &usize| x.sizes()[d] != 1 || !self.dims.contains(&d);
        let sizes = (0..x.ndim()).filter(stays).map(|d| x.sizes()[d]).collect();
        let strides = (0..x.ndim()).filter(stays).map(|d| x.strides()[d]).collect();
        Ok(Layout::over(x, sizes, strides, x.storage_offset()))
    }
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        super::reshape_to(g, sizes)
    }
    fn lift(&self, ndim: usize, batch: usize) -> Self {
        let dims = if ndim == 0 { Dims::new() } else { self.dims.iter().map(|d| d + 1).collect() };
        Self { asked: Asked::List, dims, from: with_batch(&self.from, batch), form: self.form }
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let sizes = ("self_sym_sizes", (&*self.from).into());
        match self.asked {
            Asked::All => vec![sizes],
            Asked::One => vec![("dim", (self.dims[0] as i64).into()), sizes],
            Asked::List => vec![("dim", (&*self.dims).into()), sizes],
        }
    }
}

/// `unsqueeze`. Reverse: `squeeze` of the axis.
#[derive(Clone, Debug)]
struct Unsqueeze {
    dim: usize,
    form: Form,
}

impl ViewOp for Unsqueeze {
    const NAME: &'static str = "unsqueeze";
    const PARAMS: Params<Self> = params!(op; dim);
    fn node(&self) -> &'static str {
        if self.form.is_in_place() { "UnsqueezeBackward1" } else { "UnsqueezeBackward0" }
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        l.unsqueeze(self.dim);
        Ok(l)
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        g.squeeze_dim(self.dim as i64)
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        Self { dim: self.dim + 1, form: self.form }
    }
}

fn swapped(form: Form, op: &'static str, x: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    let dims = [wrap_dim(op, dim0, x.ndim())?, wrap_dim(op, dim1, x.ndim())?];
    let node = if form.is_in_place() { "TransposeBackward1" } else { "TransposeBackward0" };
    looked(form, Transpose { dims, node }, x)
}

/// A view of `input` with two axes swapped.
///
/// Args: `dim0`, `dim1` axes, negative ones counted from the end. Returns: a view. Derivative: `g` with the axes
/// swapped back. Raises: IndexError if an axis does not exist.
///
/// >>> tuple(rg.transpose(rg.zeros(2, 3, 4), 0, -1).shape)
/// (4, 3, 2)
#[op(function, method, inplace, aliases("swapdims"))]
pub fn transpose(input: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    swapped(form, "transpose", input, dim0, dim1)
}

/// A view of `input` with two axes swapped; see `transpose`.
///
/// >>> tuple(rg.swapaxes(rg.zeros(2, 3), 0, 1).shape)
/// (3, 2)
#[op(function, method, inplace)]
pub fn swapaxes(input: &Tensor, axis0: i64, axis1: i64) -> Result<Tensor> {
    swapped(form, "swapaxes", input, axis0, axis1)
}

/// The transpose of a matrix; tensors of fewer axes as they are.
///
/// Args: `input` with at most 2 axes. Returns: a view. Derivative: `g` transposed. Raises: RuntimeError for more axes.
///
/// >>> rg.tensor([[1.0, 2.0]]).t().tolist()
/// [[1.0], [2.0]]
#[op(function, method, inplace)]
pub fn t(input: &Tensor) -> Result<Tensor> {
    if input.ndim() > 2 {
        return Err(Error::shape(
            "t",
            format!(
                "t() expects a tensor with <= 2 dimensions, but self is {}D: use transpose or permute",
                input.ndim()
            ),
        ));
    }
    let dims = if input.ndim() == 2 { [0, 1] } else { [0, 0] };
    let node = if form.is_in_place() { "TBackward1" } else { "TBackward0" };
    looked(form, Transpose { dims, node }, input)
}

/// A view of `input` with its axes in another order.
///
/// Args: `dims` every axis once, in the order of the result. Returns: a view. Derivative: `g` in the inverse order.
/// Raises: RuntimeError if an axis is missing or named twice; IndexError if one does not exist.
///
/// >>> tuple(rg.zeros(2, 3, 4).permute(2, 0, 1).shape)
/// (4, 2, 3)
#[op(function, method)]
pub fn permute(input: &Tensor, #[size] dims: &[i64]) -> Result<Tensor> {
    if dims.len() != input.ndim() {
        return Err(Error::shape(
            "permute",
            format!(
                "number of dimensions in the tensor input does not match the length of the desired ordering of dimensions \
                 i.e. input.dim() = {} is not equal to len(dims) = {}",
                input.ndim(),
                dims.len()
            ),
        ));
    }
    let mut order = Dims::new();
    for &d in dims {
        let w = wrap_dim("permute", d, input.ndim())?;
        if order.contains(&w) {
            return Err(Error::shape("permute", format!("permute(): duplicate dims are not allowed, got {dims:?}")));
        }
        order.push(w);
    }
    apply_view(Permute(order), input)
}

/// A view of `input` with the axes `source` moved to the places `destination`; the others keep their order.
///
/// Args: `source`, `destination` axes, as many of each. Returns: a view. Derivative: `g` moved back. Raises:
/// RuntimeError if the lists differ in length or name an axis twice; IndexError if an axis does not exist.
///
/// >>> tuple(rg.movedim(rg.zeros(2, 3, 4), 0, -1).shape)
/// (3, 4, 2)
#[op(function, method, aliases("moveaxis"))]
pub fn movedim(input: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    if source.len() != destination.len() {
        return Err(Error::shape(
            "movedim",
            format!(
                "Invalid source or destination dims: source ({source:?} dims) should contain the same number of dims as \
                 destination ({destination:?} dims)"
            ),
        ));
    }
    let distinct = |dims: &[i64], which: &str| {
        let wrapped = dims.iter().map(|&d| wrap_dim("movedim", d, input.ndim())).collect::<Result<Dims>>()?;
        if (1..wrapped.len()).any(|i| wrapped[..i].contains(&wrapped[i])) {
            return Err(Error::shape("movedim", format!("repeated dim in `{which}` ({dims:?})")));
        }
        Ok(wrapped)
    };
    let from = distinct(source, "source")?;
    let to = distinct(destination, "destination")?;
    if input.ndim() == 0 {
        return apply_view(Permute(Dims::new()), input);
    }
    let mut order: Dims = (0..input.ndim()).filter(|d| !from.contains(d)).collect();
    let mut moves: Vec<(usize, usize)> = to.into_iter().zip(from).collect();
    moves.sort_unstable();
    for (at, d) in moves {
        order.insert(at, d);
    }
    apply_view(Permute(order), input)
}

/// A view of `input` without its axes of size 1.
///
/// Returns: a view. Derivative: `g` in the sizes of `input`.
///
/// >>> tuple(rg.squeeze(rg.zeros(1, 3, 1)).shape)
/// (3,)
#[op(function, method, inplace, name = "squeeze")]
pub fn squeeze_all(input: &Tensor) -> Result<Tensor> {
    looked(form, Squeeze::of(form, Asked::All, (0..input.ndim()).collect(), input), input)
}

/// A view of `input` without the axis `dim`, if its size is 1.
///
/// Returns: a view. Derivative: `g` in the sizes of `input`. Raises: IndexError if the axis does not exist.
///
/// >>> tuple(rg.squeeze(rg.zeros(1, 3, 1), 0).shape)
/// (3, 1)
#[op(function, method, inplace, name = "squeeze")]
pub fn squeeze_dim(input: &Tensor, dim: i64) -> Result<Tensor> {
    let d = wrap_dim("squeeze", dim, input.ndim())?;
    looked(form, Squeeze::of(form, Asked::One, Dims::from_slice(&[d]), input), input)
}

/// A view of `input` without those of the axes `dim` whose size is 1.
///
/// Returns: a view. Derivative: `g` in the sizes of `input`. Raises: IndexError if an axis does not exist; RuntimeError
/// if one is named twice.
///
/// >>> tuple(rg.squeeze(rg.zeros(1, 3, 1), (0, 1)).shape)
/// (3, 1)
#[op(function, method, inplace, name = "squeeze")]
pub fn squeeze_dims(input: &Tensor, dim: &[i64]) -> Result<Tensor> {
    let dims = wrap_dims("squeeze", dim, input.ndim())?;
    looked(form, Squeeze::of(form, Asked::List, dims, input), input)
}

/// A view of `input` with an axis of size 1 at `dim`.
///
/// Args: `dim` from `-ndim - 1` to `ndim`. Returns: a view. Derivative: `g` without the axis. Raises: IndexError if
/// `dim` is out of range.
///
/// >>> tuple(rg.unsqueeze(rg.zeros(3), 1).shape)
/// (3, 1)
#[op(function, method, inplace)]
pub fn unsqueeze(input: &Tensor, dim: i64) -> Result<Tensor> {
    let dim = wrap_dim("unsqueeze", dim, input.ndim() + 1)?;
    looked(form, Unsqueeze { dim, form }, input)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use crate::testing::{gradcheck, noise};

    #[test]
    fn shapes_and_refusals() {
        let x = noise(1, &[2, 1, 4]);
        assert_eq!(x.movedim(&[0, 1], &[-1, 0]).unwrap().sizes(), [1, 4, 2]);
        assert_eq!(x.movedim(&[2], &[0]).unwrap().sizes(), [4, 2, 1]);
        assert_eq!(x.squeeze_dim(0).unwrap().sizes(), [2, 1, 4]);
        assert_eq!(x.squeeze_dims(&[0, 1]).unwrap().sizes(), [2, 4]);
        assert_eq!(x.unsqueeze(-1).unwrap().sizes(), [2, 1, 4, 1]);
        assert_eq!(x.unsqueeze(1).unwrap().strides(), [4, 4, 4, 1]);
        assert!(x.unsqueeze(4).is_err() && x.unsqueeze(-5).is_err() && x.t().is_err());
        assert!(x.permute(&[0, 1]).is_err() && x.permute(&[0, 0, 1]).is_err() && x.permute(&[0, 1, 3]).is_err());
        assert!(x.squeeze_dims(&[0, -3]).is_err() && x.transpose(0, i64::MIN).is_err());
        let s = noise(1, &[]);
        assert_eq!(s.transpose(0, -1).unwrap().ndim(), 0);
        assert_eq!(s.squeeze_dim(0).unwrap().ndim(), 0);
        assert_eq!(s.unsqueeze(0).unwrap().strides(), [1]);
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[2, 1, 3]);
        gradcheck(&|xs| xs[0].transpose(0, 2)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].permute(&[2, 0, 1])?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].squeeze_all()?.t()?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].squeeze_dim(1)?.unsqueeze(0)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].squeeze_dims(&[1, 2])?.exp(), &[x]);
    }

    #[test]
    fn in_place_forms_change_the_tensor_and_its_history() {
        let x = noise(1, &[2, 3]);
        x.set_requires_grad(true).unwrap();
        assert!(x.t_().is_err());
        let y = x.exp().unwrap();
        y.transpose_(0, 1).unwrap();
        assert_eq!((y.sizes(), y.version()), (&[3usize, 2][..], 1));
        assert_eq!(y.grad_fn().unwrap().unwrap().node.name(), "TransposeBackward1");
        gradcheck(&|xs| xs[0].mul(&xs[0])?.transpose_(0, 1)?.unsqueeze_(0)?.squeeze_all_()?.mul(&xs[0].t()?), &[x]);
        let plain = noise(1, &[1, 3]);
        plain.squeeze_dim_(0).unwrap();
        assert_eq!(plain.sizes(), [3]);
        assert!(plain.grad_fn().unwrap().is_none());
        let whole = noise(1, &[2, 1, 3]);
        let part = whole.select(0, 1).unwrap();
        part.squeeze_all_().unwrap();
        part.zero_().unwrap();
        assert_eq!(&whole.to_vec::<f64>().unwrap()[3..], [0.0; 3]);
    }
}
