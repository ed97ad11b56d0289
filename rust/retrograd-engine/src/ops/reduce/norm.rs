//! Norms of vectors, what is made of them, and the distance of two tensors.

use retrograd_macros::op;
use smallvec::smallvec;

use super::ReduceAxes;
use super::sum::{sum_of, sum_of_fields};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::reduce;
use crate::ops::linalg::spectrum::{Spectral, spectral_norm};
use crate::ops::memory::cast;
use crate::ops::pointwise::complex::{conj_physical as conj, real_part as real};
use crate::ops::pointwise::{refuse_bools, result_type};
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Scalar, Tensor};

fn zero() -> Result<Tensor> {
    Tensor::number(Scalar::Int(0))
}

/// The `ord`-norm over axes.
pub(super) fn norm_of(x: &Tensor, ord: f64, over: &ReduceAxes) -> Result<Tensor> {
    let dims: Vec<i64> = over.axes(x.ndim()).iter().map(|&axis| axis as i64).collect();
    let sum = |x: &Tensor| sum_of(x, over.clone(), None);
    let magnitude = x.abs()?;
    let largest = |max: bool| match (dims.is_empty(), max) {
        // A 0-dim tensor, or no axis: `amax` would take an empty list for all.
        (true, _) => Ok(magnitude.clone()),
        (_, true) => magnitude.amax(&dims, over.keepdim),
        (_, false) => magnitude.amin(&dims, over.keepdim),
    };
    if ord == 0.0 {
        cast(&sum(&x.ne(&zero()?)?)?, magnitude.dtype())
    } else if ord == 1.0 {
        sum(&magnitude)
    } else if ord == 2.0 {
        sum(&magnitude.mul(&magnitude)?)?.sqrt()
    } else if ord.is_infinite() {
        largest(ord > 0.0)
    } else {
        sum(&magnitude.power(ord)?)?.power(1.0 / ord)
    }
}

/// As [`norm_of`], of memory: nothing is recorded, and that of order 2 takes one pass.
pub(super) fn norm_of_memory(x: &Tensor, ord: f64, over: &ReduceAxes) -> Result<Tensor> {
    let x = &x.detach();
    match x.dtype() {
        dtype if ord == 2.0 && !dtype.is_complex() => sum_of_fields(&reduce::Length, x, over),
        dtype if dtype.half().is_some() => copy::cast(&norm_of(&copy::cast(x, DType::Float32)?, ord, over)?, dtype),
        _ => norm_of(x, ord, over),
    }
}

/// `g` times the derivative of the norm by each element, where `g` and `norm` broadcast to `x`. At zero, the
/// subgradient of least length.
pub(super) fn norm_vjp(g: &Tensor, x: &Tensor, norm: &Tensor, ord: f64, over: &ReduceAxes) -> Result<Tensor> {
    let zero = zero()?;
    let off = |t: &Tensor, mask: &Tensor| t.masked_fill(mask, &zero);
    if ord == 0.0 {
        return Tensor::zeros(x.sizes(), g.dtype());
    }
    if ord == 1.0 {
        return g.mul(&x.sgn()?);
    }
    let none = norm.eq(&zero)?;
    if ord == 2.0 {
        return g.mul(&off(&x.div(norm)?, &none)?);
    }
    let magnitude = x.abs()?;
    if ord.is_infinite() {
        let nan = |t: &Tensor| t.ne(t);
        let best = magnitude.eq(norm)?.logical_or(&nan(&magnitude)?.logical_and(&nan(norm)?)?)?;
        let count = cast(&sum_of(&best, over.keeping(), None)?, magnitude.dtype())?;
        return g.mul(&off(&x.sgn()?.div(&count)?, &best.logical_not()?)?);
    }
    if ord < 1.0 {
        let power = off(&magnitude.power(ord - 1.0)?, &x.eq(&zero)?)?;
        return g.mul(&x.sgn()?.mul(&power)?.mul(&norm.power(1.0 - ord)?)?);
    }
    let scaled =
        if ord < 2.0 { x.sgn()?.mul(&magnitude.power(ord - 1.0)?)? } else { x.mul(&magnitude.power(ord - 2.0)?)? };
    scaled.mul(&off(&g.div(&norm.power(ord - 1.0)?)?, &none)?)
}

/// Whether the norm of this order is a number of elements: no small change of one changes it, and it gives no gradient,
/// not one of zeros, as in PyTorch.
fn counts(ord: Scalar) -> bool {
    ord.as_f64() == 0.0
}

/// The change of the norm along `t`, element by element: to be summed.
pub(super) fn norm_jvp(t: &Tensor, x: &Tensor, norm: &Tensor, ord: f64, over: &ReduceAxes) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return norm_vjp(t, x, norm, ord, over);
    }
    let one = Tensor::ones(&[], norm.dtype())?;
    real(&conj(&norm_vjp(&one, x, norm, ord, over)?)?.mul(t)?)
}

/// `linalg.vector_norm`: reverse [`norm_vjp`].
#[derive(Clone, Debug)]
struct VectorNorm {
    ord: Scalar,
    over: ReduceAxes,
    /// Its node has the name and the attributes of the older `norm`.
    older: bool,
}

impl Primitive for VectorNorm {
    const NAME: &'static str = "vector_norm";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, _| Ok(Self { over: p.over.lifted(ndims[0]), ..p.clone() }));
    fn node(&self) -> &'static str {
        match (self.older, self.over.is_given()) {
            (true, true) => "NormBackward1",
            (true, false) => "NormBackward0",
            (false, _) => "LinalgVectorNormBackward0",
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        norm_of_memory(xs[0], self.ord.as_f64(), &self.over).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if counts(self.ord) {
            return Ok(maybe(None));
        }
        let (x, sizes) = (cx.saved(1)?, cx.sizes(0));
        let [g, norm] = [self.over.aligned(cx.g(), sizes)?, self.over.aligned(cx.saved(0)?, sizes)?];
        norm_vjp(&g, x, &norm, self.ord.as_f64(), &self.over).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let x = cx.xs[0];
        let norm = op.over.aligned(&cx.outs[0], x.sizes())?;
        sum_of(&norm_jvp(t, x, &norm, op.ord.as_f64(), &op.over)?, op.over.clone(), None).map(one)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        let ord = if self.older { "p" } else { "ord" };
        if self.older && !self.over.is_given() {
            return vec![(ord, self.ord.into())];
        }
        vec![("dim", self.over.saved_dims()), ("keepdim", self.over.keepdim.into()), (ord, self.ord.into())]
    }
}

pub(super) fn check_float(op: &'static str, x: &Tensor, dtype: Option<DType>) -> Result<()> {
    let found = dtype.unwrap_or(x.dtype());
    if found.is_integral() || x.dtype().is_integral() {
        return Err(Error::dtype(
            op,
            format!(
                "{op}: Expected a floating point or complex tensor as input. Got {}: convert with .to(dtype)",
                x.dtype().scalar_type_name()
            ),
        ));
    }
    Ok(())
}

impl VectorNorm {
    fn checked(op: &'static str, x: &Tensor, ord: Scalar, dim: Option<&[i64]>, keepdim: bool) -> Result<Self> {
        check_float(op, x, None)?;
        let over = ReduceAxes::dims(op, dim, x.ndim(), keepdim)?;
        let p = ord.as_f64();
        if (p < 0.0 || p == f64::INFINITY) && over.axes(x.ndim()).iter().any(|&axis| x.sizes()[axis] == 0) {
            return Err(Error::shape(
                op,
                format!(
                    "linalg.vector_norm cannot compute the {p} norm on an empty tensor because the operation does not \
                     have an identity: shape {:?}",
                    x.sizes()
                ),
            ));
        }
        Ok(Self { ord, over, older: false })
    }
}

/// The norm of vectors that other ops use, under their name.
pub(crate) fn vector(
    op: &'static str,
    x: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    check_float(op, x, dtype)?;
    if let Some(dtype) = dtype.filter(|dtype| dtype.is_complex() != x.dtype().is_complex()) {
        let kind = if x.dtype().is_complex() { "complex" } else { "real" };
        return Err(Error::dtype(
            op,
            format!("{op}: dtype should be {kind} for {kind} inputs, but got {}", dtype.scalar_type_name()),
        ));
    }
    let norm = VectorNorm::checked(op, x, ord, dim, keepdim)?;
    apply1(norm, &[&cast(x, dtype.unwrap_or(x.dtype()))?])
}

/// The same with the node of the older op.
pub(crate) fn older_vector(
    op: &'static str,
    x: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
) -> Result<Tensor> {
    apply1(VectorNorm { older: true, ..VectorNorm::checked(op, x, ord, dim, keepdim)? }, &[x])
}

/// The norm of vectors: of all elements, or over dimensions; a real number.
///
/// Args: `x` a floating or complex dtype; `ord` the order `p` of `sum(abs(x) ** p) ** (1 / p)`, infinity for the
/// largest magnitude, minus infinity for the smallest, 0 for the number of elements that are not zero; `dim`, `keepdim`
/// as for `sum`; `dtype` converts first. Returns: a tensor without (or with size 1 in) the dimensions. Derivative: `g`
/// times that of the norm, 0 where the norm is 0; none for order 0. Raises: RuntimeError for integers, or an order
/// without identity over no elements.
///
/// >>> rg.linalg.vector_norm(rg.tensor([3.0, 4.0])).item()
/// 5.0
#[op(function, out = SAME, module = "linalg", "(ord=2, dim=None, keepdim=False, *, dtype=None)")]
pub fn vector_norm(
    x: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    vector("linalg.vector_norm", x, ord, dim, keepdim, dtype)
}

fn matrix_axes(op: &'static str, a: &Tensor, dim: &[i64]) -> Result<[usize; 2]> {
    check_float(op, a, None)?;
    if a.ndim() < 2 {
        return Err(Error::shape(op, format!("{op}: The input tensor A must have at least 2 dimensions.")));
    }
    let &[rows, columns] = dim else {
        return Err(Error::shape(op, format!("{op}: dim must be a 2-tuple. Got {dim:?}")));
    };
    let axes = [wrap_dim(op, rows, a.ndim())?, wrap_dim(op, columns, a.ndim())?];
    if axes[0] == axes[1] {
        return Err(Error::shape(op, format!("{op}: dims must be different. Got ({rows}, {columns})")));
    }
    Ok(axes)
}

/// The norm of matrices by a name.
///
/// Args: `A` a floating or complex dtype; `ord` "fro" for the root of the sum of squares, "nuc" for the sum of the
/// singular values; `dim` the two axes of the matrices; `keepdim` keeps them with size 1; `dtype` converts first.
/// Derivative: as for `linalg.vector_norm` and `linalg.svdvals`. Raises: RuntimeError for integers, fewer than 2 dims
/// or another name.
///
/// >>> rg.linalg.matrix_norm(rg.tensor([[3.0, 0.0], [0.0, 4.0]])).item()
/// 5.0
#[op(function, out, module = "linalg", "(ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None)")]
#[allow(non_snake_case)]
pub fn matrix_norm(A: &Tensor, ord: &str, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "linalg.matrix_norm";
    matrix_axes(op, A, dim)?;
    match ord {
        "fro" => vector(op, A, Scalar::Int(2), Some(dim), keepdim, dtype),
        "nuc" => spectral_norm(op, A, Spectral::Sum, dim, keepdim, dtype),
        other => Err(Error::shape(op, format!("{op}: Order {other} not supported."))),
    }
}

/// The norm of matrices by a number.
///
/// Args: `ord` 1 for the largest sum of magnitudes of a column, infinity for that of a row, -1 and minus infinity for
/// the smallest; 2 for the largest singular value, -2 for the smallest; others as above.
///
/// >>> rg.linalg.matrix_norm(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), 1).item()
/// 6.0
#[op(function, out, module = "linalg", name = "matrix_norm", "(dim=(-2, -1), keepdim=False, *, dtype=None)")]
#[allow(non_snake_case)]
pub fn matrix_norm_number(A: &Tensor, ord: Scalar, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "linalg.matrix_norm";
    let [mut inner, mut outer] = matrix_axes(op, A, dim)?;
    let p = ord.as_f64();
    match p.abs() {
        1.0 => {}
        f64::INFINITY => std::mem::swap(&mut inner, &mut outer),
        2.0 => {
            let which = if p > 0.0 { Spectral::Largest } else { Spectral::Smallest };
            return spectral_norm(op, A, which, dim, keepdim, dtype);
        }
        _ => return Err(Error::shape(op, format!("{op}: Order {p} not supported."))),
    }
    let sums = vector(op, A, Scalar::Int(1), Some(&[inner as i64]), keepdim, dtype)?;
    let axis = [if outer > inner && !keepdim { outer - 1 } else { outer } as i64];
    if p < 0.0 {
        return sums.amin(&axis, keepdim);
    }
    if sums.sizes()[axis[0] as usize] == 0 {
        // The largest of no sums, none of which is negative.
        return sums.sum_dims(&axis, keepdim);
    }
    sums.amax(&axis, keepdim)
}

/// The norm of vectors or, with an order and two axes, of matrices.
///
/// Args: `A` a floating or complex dtype; `ord` an order, None for the root of the sum of squares; `dim` one axis or
/// two, None for all; `keepdim` keeps them with size 1; `dtype` converts first. Returns: `linalg.vector_norm`, or
/// `linalg.matrix_norm` for an order and two axes. Raises: RuntimeError for more axes, and as these do.
///
/// >>> rg.linalg.norm(rg.tensor([3.0, 4.0])).item()
/// 5.0
#[op(function, out, module = "linalg", name = "norm", "(ord=None, dim=None, keepdim=False, *, dtype=None)")]
#[allow(non_snake_case)]
pub fn linalg_norm(
    A: &Tensor,
    ord: Option<Scalar>,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let op = "linalg.norm";
    if let Some(d) = dim.filter(|d| !matches!(d.len(), 1 | 2)) {
        return Err(Error::shape(
            op,
            format!("linalg.norm: If dim is specified, it must be of length 1 or 2. Got {d:?}"),
        ));
    }
    if dim.is_none() && ord.is_some() && !matches!(A.ndim(), 1 | 2) {
        return Err(Error::shape(
            op,
            format!("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.", A.ndim()),
        ));
    }
    match ord {
        Some(ord) if dim.map_or(A.ndim(), <[i64]>::len) == 2 => {
            matrix_norm_number(A, ord, dim.unwrap_or(&[0, 1]), keepdim, dtype)
        }
        _ => vector(op, A, ord.unwrap_or(Scalar::Int(2)), dim, keepdim, dtype),
    }
}

/// The norm of matrices by a name; see `linalg.matrix_norm`.
///
/// >>> rg.linalg.norm(rg.tensor([[3.0, 0.0], [0.0, 4.0]]), "fro").item()
/// 5.0
#[op(function, out, module = "linalg", name = "norm", "(dim=None, keepdim=False, *, dtype=None)")]
#[allow(non_snake_case)]
pub fn linalg_norm_named(
    A: &Tensor,
    ord: &str,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    if dim.is_none() && A.ndim() != 2 {
        return Err(Error::shape(
            "linalg.norm",
            format!("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.", A.ndim()),
        ));
    }
    matrix_norm(A, ord, dim.unwrap_or(&[0, 1]), keepdim, dtype)
}

/// The norm of some order, of all elements or over dimensions: `sum(abs(input) ** p) ** (1 / p)`.
///
/// Args: `input` a floating or complex dtype; `p` the order of `linalg.vector_norm` (0 counts the elements that are not
/// 0, infinity takes the largest magnitude, minus infinity the smallest), None for 2; `dim` an int, several, or None
/// for all; `keepdim` keeps them with size 1; `dtype` converts first. Returns: a tensor without those dims. Derivative:
/// `g * sign(input) * (abs(input) / norm) ** (p - 1)`, and 0 where the norm is 0. Raises: IndexError if there is no
/// such dim; RuntimeError for integers, and for an order without identity over no elements.
///
/// >>> rg.norm(rg.tensor([3.0, -4.0]), 1).item()
/// 7.0
#[op(function, method, out = SAME, "(dim=None, keepdim=False, dtype=None)")]
pub fn norm(
    input: &Tensor,
    p: Option<Scalar>,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    vector("norm", input, p.unwrap_or(Scalar::Int(2)), dim, keepdim, dtype)
}

/// The norm by name: "fro", the root of the sum of squares, or "nuc", the sum of the singular values of matrices.
///
/// Args: `dim`, `keepdim`, `dtype` as above. Raises: RuntimeError for another name.
///
/// >>> rg.tensor([3.0, -4.0]).norm().item()
/// 5.0
#[op(function, method, out = SAME, norust, name = "norm", "(p='fro', dim=None, keepdim=False, dtype=None)")]
pub fn norm_named(input: &Tensor, p: &str, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    match p {
        "fro" => vector("norm", input, Scalar::Int(2), dim, keepdim, dtype),
        "nuc" => matrix_norm(input, "nuc", dim.unwrap_or(&[-2, -1]), keepdim, dtype),
        other => Err(Error::shape(
            "norm",
            format!("Order {other} not supported: only valid string values are 'fro' and 'nuc'"),
        )),
    }
}

/// Refuses integers in the words of the older norm.
fn check_older(op: &'static str, x: &Tensor) -> Result<()> {
    if !x.dtype().is_integral() {
        return Ok(());
    }
    let got = x.dtype().scalar_type_name();
    Err(Error::dtype(op, format!("norm(): input dtype should be either floating point or complex. Got {got} instead.")))
}

/// The root of the sum of squared magnitudes over one dimension or two.
///
/// Args: `input` a floating or complex dtype; `dim` an integer or a list, an empty one for all; `keepdim` keeps them
/// with size 1. Returns: a real tensor without (or with size 1 in) the dimensions. Derivative: `g * input / result`,
/// and 0 where the norm is 0. Raises: IndexError for a dimension out of range; RuntimeError for integers or more
/// dimensions.
///
/// >>> rg.frobenius_norm(rg.tensor([[3.0, 4.0]]), (0, 1)).item()
/// 5.0
#[op(function, out = SAME, "(keepdim=False)")]
pub fn frobenius_norm(input: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    const OP: &str = "frobenius_norm";
    if dim.len() > 2 {
        return Err(Error::shape(
            OP,
            format!("Expected at most 2 dimensions, but got {} dimensions instead.", dim.len()),
        ));
    }
    check_older(OP, input)?;
    older_vector(OP, input, Scalar::Int(2), Some(dim), keepdim)
}

/// The norms of the slices along a dimension, over all the others: what weights are divided by in weight normalization.
///
/// Args: `v` a floating or complex dtype; `pow` the order of the norm; `dim` the dimension whose indices name the
/// slices, -1 for the norm of all elements. Returns: a tensor with size 1 in the other dimensions, 0-dim for
/// -1. Derivative: as for `norm`. Raises: IndexError for a dimension out of range; RuntimeError for integers.
///
/// >>> rg.norm_except_dim(rg.tensor([[3.0, 4.0], [0.0, 2.0]])).tolist()
/// [[5.0], [2.0]]
#[op(function, "(pow=2, dim=0)")]
pub fn norm_except_dim(v: &Tensor, pow: i64, dim: i64) -> Result<Tensor> {
    const OP: &str = "norm_except_dim";
    check_older(OP, v)?;
    if dim == -1 {
        return older_vector(OP, v, Scalar::Int(pow), None, false);
    }
    if v.ndim() == 0 {
        return Err(Error::index(OP, format!("Dimension specified as {dim} but tensor has no dimensions")));
    }
    let axis = wrap_dim(OP, dim, v.ndim())?;
    let front = if axis == 0 { v.clone() } else { v.transpose(0, axis as i64)? };
    let count = front.sizes()[0];
    let rows = view::reshape_to(&front, &[count, front.sizes()[1..].iter().product()])?;
    let mut sizes = vec![1; v.ndim()];
    sizes[axis] = count;
    view::reshape_to(&older_vector(OP, &rows, Scalar::Int(pow), Some(&[1]), false)?, &sizes)
}

/// `dist`: the norm of the difference.
#[derive(Clone, Debug)]
struct Dist {
    p: Scalar,
}

impl Dist {
    /// `g` times the derivative by each element of `a`.
    fn norm_vjp(&self, g: &Tensor, a: &Tensor, b: &Tensor, norm: &Tensor) -> Result<Tensor> {
        norm_vjp(g, &a.sub(b)?, norm, self.p.as_f64(), &ReduceAxes::all())
    }
}

impl Primitive for Dist {
    const NAME: &'static str = "dist";
    const SAVE: &'static [Save] = &[Save::input(1, "other"), Save::output(0, "result"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; p);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let [a, b] = [view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?];
        let ndim = a.ndim().max(b.ndim());
        let aligned = |t: &Tensor| {
            let mut sizes = Dims::from_slice(t.sizes());
            (t.ndim()..ndim).for_each(|_| sizes.insert(1, 1));
            view::reshape_to(t, &sizes)
        };
        let difference = aligned(&a)?.sub(&aligned(&b)?)?;
        let over = ReduceAxes::all().lifted(ndim - 1);
        let dims: Vec<i64> = over.axes(ndim).iter().map(|&axis| axis as i64).collect();
        let y = if dims.is_empty() {
            apply1(VectorNorm { ord: p.p, over: ReduceAxes::none(), older: false }, &[&difference])?
        } else {
            vector(Self::NAME, &difference, p.p, Some(&dims), false, None)?
        };
        Ok((out(y), smallvec![Some(0)]))
    });
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        norm_of_memory(&xs[0].detach().sub(&xs[1].detach())?, self.p.as_f64(), &ReduceAxes::all()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if counts(self.p) {
            return Ok(smallvec![None, None]);
        }
        let g = self.norm_vjp(cx.g(), cx.saved(2)?, cx.saved(0)?, cx.saved(1)?)?;
        let other = cx.when(1, || g.neg())?;
        Ok(smallvec![Some(g), other])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (difference, norm) = (cx.xs[0].sub(cx.xs[1])?, &cx.outs[0]);
        let change = |t: &Tensor| norm_jvp(t, &difference, norm, op.p.as_f64(), &ReduceAxes::all())?.sum(None);
        let part = |i: usize| cx.t(i).map(change).transpose();
        maybe_difference(part(0)?, part(1)?)
    });
}

fn maybe_difference(a: Option<Tensor>, b: Option<Tensor>) -> Result<Grads> {
    Ok(maybe(match (a, b) {
        (Some(a), Some(b)) => Some(a.sub(&b)?),
        (None, Some(b)) => Some(b.neg()?),
        (a, None) => a,
    }))
}

/// The norm of the difference of two tensors.
///
/// Args: `other` with a shape that broadcasts against that of `input`; `p` the order of `linalg.vector_norm`. Returns:
/// a 0-dim tensor. Derivative: as for `linalg.vector_norm`, for `other` its negative. Raises: RuntimeError for
/// integers.
///
/// >>> rg.dist(rg.tensor([3.0, 4.0]), rg.zeros(2)).item()
/// 5.0
#[op(function, method, "(p=2)")]
pub fn dist(input: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    refuse_bools("dist", &[input, other])?;
    let common = result_type(&[input, other]);
    if common.is_integral() {
        return Err(Error::dtype(
            "dist",
            format!(
                "norm(): input dtype should be either floating point or complex. Got {} instead.",
                common.scalar_type_name()
            ),
        ));
    }
    apply1(Dist { p }, &[&cast(input, common)?, &cast(other, common)?])
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for p in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.5, f64::INFINITY, f64::NEG_INFINITY] {
            let ord = Scalar::Float(p);
            let x = noise(1, &[3, 4]);
            gradcheck(&|xs| vector_norm(&xs[0], ord, None, false, None), from_ref(&x));
            gradcheck(&|xs| vector_norm(&xs[0], ord, Some(&[1]), true, None)?.exp(), from_ref(&x));
            gradcheck(&|xs| xs[0].dist(&xs[1], ord), &[x, noise(2, &[4])]);
        }
        gradcheck(
            &|xs| matrix_norm_number(&xs[0], Scalar::Int(-1), &[0, 2], false, None)?.exp(),
            &[noise(3, &[2, 3, 2])],
        );
        for dim in [Some(&[0][..]), Some(&[-1, 0])] {
            gradcheck(&|xs| norm(&xs[0].t()?, Some(Scalar::Float(3.0)), dim, false, None), &[noise(4, &[3, 4])]);
        }
    }

    #[test]
    fn edges() {
        let x = Tensor::from_slice(&[0.0f64; 0], &[0]).unwrap();
        assert!(norm(&x, Some(f64::INFINITY.into()), None, false, None).is_err());
        assert_eq!(norm(&x, None, None, false, None).unwrap().item().unwrap().as_f64(), 0.0);
        assert!(norm_named(&x, "spectral", None, false, None).is_err());
        assert!(norm(&Tensor::from_slice(&[1i64], &[1]).unwrap(), None, None, false, None).is_err());
        let x = Tensor::from_slice(&[0.0, 2.0, -3.0], &[3]).unwrap();
        assert_eq!(norm(&x, Some(Scalar::Int(0)), None, false, None).unwrap().item().unwrap().as_f64(), 2.0);
    }
}
