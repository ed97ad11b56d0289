//! Writing whole slices at positions along an axis: index_add, index_copy, index_fill.

use retrograd_macros::op;
use smallvec::smallvec;

use super::walk::{IndexWalk, Places, add_in_float32};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::overlap::{self, OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{
    Batch, BatchRule, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::real::Ring;
use crate::kernels::strided::within;
use crate::match_dtype;
use crate::ops::pointwise::check_number;
use crate::ops::pointwise::select::where_;
use crate::ops::{Form, Value, memory, view};
use crate::tensor::copy;
use crate::tensor::layout::{numel, wrap_dim};
use crate::tensor::{DType, Dims, Dtypes, FromScalar, Scalar, Tensor};

/// The tensor with an axis to count along: a 0-dim one is seen as a vector.
fn vector(t: &Tensor) -> Result<Tensor> {
    match t.ndim() {
        0 => Tensor::from_parts(t.storage(), t.dtype(), &[1], &[1], t.storage_offset()),
        _ => Ok(t.clone()),
    }
}

/// The places in `to` of the slices at `index`.
fn places(op: &'static str, to: &Tensor, dim: usize, index: &Tensor) -> Result<Places> {
    IndexWalk::new(op, &vector(to)?, &[dim], &[&vector(index)?])?.places()
}

/// Refuses positions that count from the end, or are outside the axis. `says` makes the error. Memory does not rest on
/// it: the walk checks what it uses (S6).
fn check_positions(to: &Tensor, dim: usize, index: &Tensor, says: impl Fn(String) -> Error) -> Result<()> {
    let n = to.sizes().get(dim).copied().unwrap_or(1);
    let index = copy::own_indices(index)?;
    let values = index.as_slice::<i64>().unwrap_or(&[]);
    if within(values, n) {
        return Ok(());
    }
    match values.iter().find(|i| !within(&[**i], n)) {
        Some(i) => Err(says(format!("index {i} is out of bounds for dimension {dim} with size {n}"))),
        None => Ok(()),
    }
}

/// `source` as it is written: row-major, and disjoint from `to`.
fn staged(source: &Tensor, to: &Tensor) -> Result<Tensor> {
    let source = copy::contiguous(source)?;
    if copy::ranges_meet(&source, to) { copy::copy(&source) } else { Ok(source) }
}

/// The slices of `g` at the index, in the sizes of what was written there.
fn pulled(g: &Tensor, dim: usize, index: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    view::reshape_to(&g.index_select(dim as i64, index)?, sizes)
}

/// Operands with a batch axis in front, the batch folded into the axis that `index` counts along: entry `b` of the
/// batch finds its slices `n * b` further on.
struct Folded {
    x: Tensor,
    index: Tensor,
    source: Option<Tensor>,
    sizes: Dims,
}

impl Folded {
    fn new(dim: usize, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> Result<Self> {
        let first = |i: usize| view::batch_first(xs[i], axes[i], batch);
        // A 0-dim operand gets the axis it is counted along.
        let along = |t: Tensor| if t.ndim() == 1 { t.unsqueeze(1) } else { Ok(t) };
        let sizes = Dims::from_slice(first(0)?.sizes());
        let (x, index) = (along(first(0)?)?, along(first(1)?)?);
        let n = x.sizes()[dim + 1] as i64;
        let steps: Vec<i64> = (0..batch as i64).map(|b| b * n).collect();
        let steps = Tensor::from_slice(&steps, &[batch, 1])?;
        let fold = |t: Tensor| {
            let t = view::movedim(&t, &[0], &[dim as i64])?;
            let mut sizes = Dims::from_slice(t.sizes());
            let n = sizes.remove(dim + 1);
            sizes[dim] = batch * n;
            view::reshape_to(&t, &sizes)
        };
        let source = if xs.len() > 2 { Some(fold(along(first(2)?)?)?) } else { None };
        // From the front, so that positions of one entry do not reach into its neighbour.
        let index = memory::cast(&index, DType::Int64)?;
        let index = index.remainder(&Tensor::number(Scalar::Int(n.max(1)))?)?.add(&steps)?;
        Ok(Self { x: fold(x)?, index: view::reshape_to(&index, &[index.numel()])?, source, sizes })
    }
    /// A result in the sizes of the operand, the batch axis in front.
    fn unfold(&self, dim: usize, result: &Tensor) -> Result<Tensor> {
        let mut sizes = Dims::from_slice(result.sizes());
        sizes[dim] = self.sizes[0];
        sizes.insert(dim + 1, self.sizes.get(dim + 1).copied().unwrap_or(1));
        let result = view::movedim(&view::reshape_to(result, &sizes)?, &[dim as i64], &[0])?;
        view::reshape_to(&result, &self.sizes)
    }
}

/// What happens to the slices of the source.
#[derive(Clone, Copy, Debug)]
enum How {
    Add(Scalar),
    Copy,
}

/// `index_add` and `index_copy`. Operands: the tensor, the index, the source.
///
/// Reverse: the tensor gets `g`, with zeros where it was overwritten; the source gets `g` at the index.
#[derive(Clone, Debug)]
struct WriteSlices {
    dim: usize,
    how: How,
    source_dim: usize,
}

impl WriteSlices {
    /// Checks, then writes to `to`.
    fn write(&self, xs: &[&Tensor], to: &Tensor) -> Result<()> {
        let (index, source) = (xs[1], xs[2]);
        if matches!(self.how, How::Add(_)) && to.dtype().half().is_some() {
            return add_in_float32(to, source, |to, source| self.write(&[xs[0], index, source], to));
        }
        check_positions(to, self.dim, index, |detail| match self.how {
            How::Add(_) => Error::shape(Self::NAME, detail),
            How::Copy => Error::index("index_copy", format!("index_copy_(): {detail}")),
        })?;
        let places = places(Self::NAME, to, self.dim, index)?;
        let source = staged(source, to)?;
        debug_assert_eq!(numel(places.sizes()), source.numel());
        match self.how {
            How::Add(alpha) => match_dtype!(rings, to.dtype(), T => {
                let alpha = T::from_scalar(alpha);
                let add = move |a: T, b: T| a.add(b.mul(alpha));
                // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) `source` has as many elements as the
                // walk, row-major, and is disjoint from `to`.
                unsafe { places.combine(source.ptr::<T>().cast_const(), to.ptr::<T>(), add) };
            }),
            // SAFETY: as above; the dtypes are the same.
            How::Copy => unsafe { places.write(source.op_ptr().cast_const(), to.op_ptr()) },
        }
        Ok(())
    }
}

impl Primitive for WriteSlices {
    const NAME: &'static str = "index_add";
    const SAVE: &'static [Save] = &[Save::input(1, "index"), Save::input(2, "source").when(2)];
    const DTYPES: Dtypes = Dtypes::ALL;
    const BATCH: Batch<Self> = Batch::Rule(WRITE_BATCHED);
    const JVP: Tangents<Self> = Tangents::Linear(0b101);
    fn node(&self) -> &'static str {
        match self.how {
            How::Add(_) => "IndexAddBackward0",
            How::Copy => "IndexCopyBackward0",
        }
    }
    fn inputs(&self) -> u32 {
        0b101
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules::SCATTER
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = copy::row_major(xs[0])?;
        self.write(xs, &result)?;
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        self.write(xs, out)?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let to_self = cx.when(0, || match self.how {
            How::Add(_) => Ok(g.clone()),
            How::Copy => index_fill(g, self.dim as i64, index, Scalar::Int(0)),
        })?;
        let to_source = cx.when(2, || {
            let part = pulled(g, self.dim, index, cx.sizes(2))?;
            match self.how {
                How::Add(alpha) if alpha != Scalar::Int(1) => part.mul(&Tensor::number(alpha)?),
                _ => Ok(part),
            }
        })?;
        Ok(smallvec![to_self, None, to_source])
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = vec![("dim", (self.dim as i64).into()), ("source_dim", (self.source_dim as i64).into())];
        if let How::Add(alpha) = self.how {
            params.push(("alpha", alpha.into()));
        }
        params
    }
}

const WRITE_BATCHED: BatchRule<WriteSlices> = |p, xs, axes, batch| {
    let all = Folded::new(p.dim, xs, axes, batch)?;
    let source = all.source.as_ref().ok_or_else(|| Error::autograd("index_add: no source"))?;
    let result = apply1(p.clone(), &[&all.x, &all.index, source])?;
    Ok((out(all.unfold(p.dim, &result)?), smallvec![Some(0)]))
};

/// `index_fill`. Operands: the tensor, the index, and the value unless it is a number.
///
/// Reverse: the tensor gets `g` with zeros where it was overwritten; the value gets the sum of `g` there.
#[derive(Clone, Debug)]
struct FillSlices {
    dim: usize,
    number: Option<Scalar>,
}

impl FillSlices {
    fn write(&self, xs: &[&Tensor], to: &Tensor) -> Result<()> {
        let value = match self.number {
            Some(number) => number,
            None => xs[2].item()?,
        };
        check_number(Self::NAME, value, to.dtype())?;
        let places = places(Self::NAME, to, self.dim, xs[1])?;
        match_dtype!(any, to.dtype(), T => {
            let value = T::from_scalar(value);
            // SAFETY: (1) S1 and S3, the walk being made for this tensor.
            unsafe { places.fill(to.ptr::<T>(), value) };
        });
        Ok(())
    }
}

impl FillSlices {
    /// Where elements are filled: once each, however often the index names them.
    fn mask(&self, sizes: &[usize], index: &Tensor) -> Result<Tensor> {
        index_fill(&Tensor::zeros(sizes, DType::Bool)?, self.dim as i64, index, Scalar::Bool(true))
    }
}

impl Primitive for FillSlices {
    const NAME: &'static str = "index_fill";
    const SAVE: &'static [Save] = &[Save::input(1, "index")];
    const PARAMS: Params<Self> = params!(op; dim);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(FILL_BATCHED);
    fn node(&self) -> &'static str {
        if self.number.is_some() { "IndexFillBackward0" } else { "IndexFillBackward1" }
    }
    fn inputs(&self) -> u32 {
        if self.number.is_some() { 0b001 } else { 0b101 }
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules { repeats: Repeats::Deprecated, reads: Reads::Any }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = copy::copy(xs[0])?;
        self.write(xs, &result)?;
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        self.write(xs, out)?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let mut grads = maybe(cx.when(0, || index_fill(g, self.dim as i64, index, Scalar::Int(0)))?);
        grads.push(None);
        if self.number.is_none() {
            let zero = Tensor::full(&[], Scalar::Int(0), g.dtype())?;
            grads.push(cx.when(2, || where_(&self.mask(g.sizes(), index)?, g, &zero)?.sum(None))?);
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        if cx.t(0).is_none() && cx.t(2).is_none() {
            return Ok(maybe(None));
        }
        let zeros = Tensor::full(cx.xs[0].sizes(), Scalar::Int(0), cx.xs[0].dtype())?;
        let t = cx.t(0).unwrap_or(&zeros);
        match cx.t(2) {
            Some(value) => apply1(op.clone(), &[t, cx.xs[1], value]).map(one),
            None => apply1(Self { dim: op.dim, number: Some(Scalar::Int(0)) }, &[t, cx.xs[1]]).map(one),
        }
    });
}

const FILL_BATCHED: BatchRule<FillSlices> = |p, xs, axes, batch| {
    let all = Folded::new(p.dim, &xs[..2], &axes[..2], batch)?;
    if let (Some(value), Some(axis)) = (xs.get(2), axes.get(2).copied().flatten()) {
        // A value for each entry.
        let mask = all.unfold(p.dim, &p.mask(all.x.sizes(), &all.index)?)?;
        let x = view::reshape_to(&view::batch_first(xs[0], axes[0], batch)?, &all.sizes)?;
        let mut ones: Dims = smallvec![1; x.ndim()];
        ones[0] = batch;
        let value = memory::cast(&view::batch_first(value, Some(axis), batch)?, x.dtype())?;
        return Ok((out(where_(&mask, &view::reshape_to(&value, &ones)?, &x)?), smallvec![Some(0)]));
    }
    let mut operands = vec![&all.x, &all.index];
    operands.extend(xs.get(2));
    let result = apply1(p.clone(), &operands)?;
    Ok((out(all.unfold(p.dim, &result)?), smallvec![Some(0)]))
};

// ---- arguments

fn check_vector(op: &'static str, index: &Tensor, says: &str) -> Result<()> {
    if index.ndim() <= 1 {
        return Ok(());
    }
    Err(Error::index(op, format!("{says}: got one of shape {:?}", index.sizes())))
}

fn check_dtypes(op: &'static str, input: &Tensor, source: &Tensor, says: &str) -> Result<()> {
    if input.dtype() == source.dtype() {
        return Ok(());
    }
    let (to, from) = (input.dtype().name(), source.dtype().name());
    Err(Error::dtype(op, format!("{op}_(): {says}, but got (self) {to} and (source) {from}: convert with .to(dtype)")))
}

/// The sizes without the axis.
fn rest(sizes: &[usize], dim: usize) -> Dims {
    sizes.iter().enumerate().filter(|&(d, _)| d != dim).map(|(_, &n)| n).collect()
}

/// `input` with the slices of `source`, times `alpha`, added at the positions `index` along an axis.
///
/// Args: `dim` an axis; `index` a vector of int32 or int64, from 0 on; `source` of the dtype of `input`, with as many
/// slices as `index` has elements, and otherwise the sizes of `input`; `alpha` a number. Returns: a tensor of the sizes
/// of `input`. Derivative: `g` for `input`, `alpha * g` at the index for `source`. Raises: RuntimeError if an index is
/// out of range, or sizes or dtypes do not fit.
///
/// >>> rg.index_add(rg.zeros(3), 0, rg.tensor([0, 2, 0]), rg.ones(3), alpha=2).tolist()
/// [4.0, 0.0, 2.0]
#[op(function, method, inplace, out = SAME, "(*, alpha=1)")]
pub fn index_add(input: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    const OP: &str = "index_add";
    let dim = wrap_dim(OP, dim, input.ndim())?;
    check_vector(OP, index, "index_add_(): Index is supposed to be a vector")?;
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        let got = index.dtype().name();
        return Err(Error::dtype(OP, format!("index_add_(): Expected dtype int32/int64 for index but got: {got}")));
    }
    check_dtypes(OP, input, source, "self and source must have the same scalar type")?;
    let slices = source.sizes().get(dim).copied().unwrap_or(1);
    if slices != index.numel() {
        return Err(Error::shape(
            OP,
            format!(
                "index_add_(): Number of indices ({}) should be equal to source.size(dim): ({slices}), for dim: {dim}",
                index.numel()
            ),
        ));
    }
    if source.ndim() != input.ndim() || rest(source.sizes(), dim) != rest(input.sizes(), dim) {
        return Err(Error::shape(
            OP,
            format!(
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = \
                 {:?} source.shape = {:?}",
                input.sizes(),
                source.sizes()
            ),
        ));
    }
    apply_as(form, WriteSlices { dim, how: How::Add(alpha), source_dim: source.ndim() }, &[input, index, source])
}

/// `input` with the slices of `source` written at the positions `index` along an axis. Where an index comes twice, the
/// last one stays.
///
/// Args: `dim` an axis; `index` a vector of int64, from 0 on; `source` of the dtype of `input`, with as many slices as
/// `index` has elements, and otherwise the sizes of `input`. Returns: a tensor of the sizes of `input`. Derivative: `g`
/// with zeros at the index for `input`, `g` at the index for `source` (as if no index came twice). Raises: IndexError
/// if an index is out of range or the number of slices does not fit; RuntimeError if other sizes or dtypes do not.
///
/// >>> rg.index_copy(rg.zeros(3), 0, rg.tensor([2, 0]), rg.tensor([1.0, 2.0])).tolist()
/// [2.0, 0.0, 1.0]
#[op(function, method, inplace, out = SAME)]
pub fn index_copy(input: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    const OP: &str = "index_copy";
    let dim = wrap_dim(OP, dim, input.ndim())?;
    check_vector(OP, index, "index_copy_(): Index should have dimension 1 or 0")?;
    let refused = |detail: String| Err(Error::index(OP, format!("index_copy_(): {detail}")));
    if source.ndim() == 0 && index.numel() != 1 {
        return refused(format!("When source is scalar, index should have one element (got {})", index.numel()));
    }
    if source.ndim() != input.ndim() && source.ndim() > 0 && input.ndim() > 0 {
        return refused(format!(
            "When source and destination are not scalars, their dimensionality must match. Source dimensionality ({}), \
             destination dimensionality ({})",
            source.ndim(),
            input.ndim()
        ));
    }
    if index.dtype() != DType::Int64 {
        let got = index.dtype().name();
        return Err(Error::dtype(OP, format!("index_copy_(): Expected a long tensor for index, but got {got}")));
    }
    check_dtypes(OP, input, source, "self and source expected to have the same dtype")?;
    let (to, from) = (rest(input.sizes(), dim), rest(source.sizes(), dim));
    if to != from {
        return Err(Error::shape(
            OP,
            format!(
                "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {to:?} at \
                 dimension {dim} and source slice shape: {from:?} at dimension {dim}."
            ),
        ));
    }
    let slices = source.sizes().get(dim).copied().unwrap_or(1);
    if source.ndim() > 0 && slices != index.numel() {
        return refused(format!(
            "Number of indices ({}) should be equal to source.size(dim) ({slices})",
            index.numel()
        ));
    }
    apply_as(form, WriteSlices { dim, how: How::Copy, source_dim: source.ndim() }, &[input, index, source])
}

fn fill_slices(input: &Tensor, dim: i64, index: &Tensor, number: Option<Scalar>) -> Result<FillSlices> {
    const OP: &str = "index_fill";
    let dim = wrap_dim(OP, dim, input.ndim())?;
    if index.dtype() != DType::Int64 {
        return Err(Error::index(OP, "index_fill_(): Expected dtype int64 for index."));
    }
    if index.ndim() > 1 {
        return Err(Error::shape(OP, format!("Index has to be a vector/scalar, got shape {:?}", index.sizes())));
    }
    if matches!(number, Some(Scalar::Complex(..))) && !input.dtype().is_complex() {
        return Err(Error::shape(
            OP,
            "index_fill_(): Converting complex Scalar to non-complex type is not supported: give a real number",
        ));
    }
    Ok(FillSlices { dim, number })
}

/// `input` with a number written to the slices at the positions `index` along an axis.
///
/// Args: `dim` an axis; `index` a vector of int64, which may count from the end; `value` a number. Returns: a tensor of
/// the sizes of `input`. Derivative: `g` with zeros at the index. Raises: IndexError if an index is out of range, or of
/// another dtype.
///
/// >>> rg.index_fill(rg.zeros(3), 0, rg.tensor([0, -1]), 5.0).tolist()
/// [5.0, 0.0, 5.0]
#[op(function, method, inplace)]
pub fn index_fill(input: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    check_apart(form, input, index)?;
    apply_as(form, fill_slices(input, dim, index, Some(value))?, &[input, index])
}

/// `input` with the element of a 0-dim tensor written to the slices at the positions `index` along an axis.
///
/// Args: as above, `value` a 0-dim tensor. Derivative: `g` with zeros at the index for `input`, the sum of `g` there
/// for `value` (as often as an index comes). Raises: RuntimeError for a value with dims.
///
/// >>> rg.index_fill(rg.zeros(3), 0, rg.tensor([0]), rg.tensor(5.0)).tolist()
/// [5.0, 0.0, 0.0]
#[op(function, method, inplace, name = "index_fill")]
pub fn index_fill_tensor(input: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    if value.ndim() > 0 {
        return Err(Error::shape(
            "index_fill",
            format!(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
                value.ndim()
            ),
        ));
    }
    check_apart(form, input, index)?;
    apply_as(form, fill_slices(input, dim, index, None)?, &[input, index, value])
}

/// Refuses to write to the index that says where; the value may be an element of the target.
fn check_apart(form: Form, input: &Tensor, index: &Tensor) -> Result<()> {
    match form {
        Form::InPlace => overlap::check_reads("index_fill_", input, index, Reads::Apart),
        Form::New | Form::Out => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn ints(v: &[i64]) -> Tensor {
        Tensor::from_slice(v, &[v.len()]).unwrap()
    }

    #[test]
    fn derivatives() {
        let (x, s, v) = (noise(1, &[3, 4]), noise(2, &[3, 2]), noise(3, &[]));
        let (twice, once) = (ints(&[1, 1]), ints(&[3, 0]));
        let half = Scalar::Float(0.5);
        gradcheck(&|xs| xs[0].exp()?.index_add(1, &twice, &xs[1].exp()?, half)?.exp(), &[x.clone(), s.clone()]);
        gradcheck(&|xs| xs[0].exp()?.index_copy(1, &once, &xs[1].exp()?)?.exp(), &[x.clone(), s]);
        gradcheck(&|xs| xs[0].exp()?.index_fill(0, &ints(&[-1]), half)?.exp(), std::slice::from_ref(&x));
        gradcheck(&|xs| xs[0].exp()?.index_fill_tensor(1, &once, &xs[1].exp()?)?.exp(), &[x, v.clone()]);
        gradcheck(&|xs| xs[0].index_fill_tensor(0, &ints(&[-1]), &xs[1].exp()?)?.exp(), &[noise(4, &[3]), v.clone()]);
        gradcheck(&|xs| xs[0].index_fill_tensor(0, &ints(&[-1]), &xs[1].exp()?)?.exp(), &[noise(4, &[]), v.clone()]);
        gradcheck(&|xs| xs[0].index_copy(0, &ints(&[0]), &xs[1].exp()?)?.exp(), &[noise(4, &[3]), v.clone()]);
        gradcheck(&|xs| xs[0].index_add(0, &ints(&[0]), &xs[1].exp()?, half)?.exp(), &[noise(5, &[]), v]);
    }

    #[test]
    fn refusals_leave_the_target_alone() {
        let x = noise(1, &[2, 3]);
        let before = x.to_vec::<f64>().unwrap();
        let one = Scalar::Int(1);
        assert!(x.index_add_(1, &ints(&[0, 3]), &noise(2, &[2, 2]), one).is_err());
        assert!(x.index_add_(1, &ints(&[-1]), &noise(2, &[2, 1]), one).is_err());
        assert!(x.index_add_(1, &ints(&[0]), &noise(2, &[1, 1]), one).is_err());
        assert!(x.index_add_(1, &ints(&[0, 1, 2]), &x, one).is_err());
        assert!(x.index_copy_(0, &ints(&[0, 2]), &noise(2, &[2, 3])).is_err());
        assert!(x.index_copy_(0, &ints(&[0]), &noise(2, &[2, 3])).is_err());
        assert!(x.index_fill_(0, &ints(&[2]), one).is_err() && x.index_fill_(0, &noise(1, &[1]), one).is_err());
        assert_eq!((x.to_vec::<f64>().unwrap(), x.version()), (before, 0));
    }

    /// Each entry of the batch as the op does it alone.
    fn check_batched<P: Primitive>(p: &P, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) {
        let Batch::Rule(rule) = P::BATCH else { panic!("a rule") };
        let (outs, places) = rule(p, xs, axes, batch).unwrap();
        assert_eq!(places[0], Some(0));
        for b in 0..batch {
            let pick = |(x, axis): (&&Tensor, &Option<usize>)| {
                axis.map_or_else(|| (*x).clone(), |a| x.select(a as i64, b as i64).unwrap())
            };
            let alone: Vec<Tensor> = xs.iter().zip(axes).map(pick).collect();
            let refs: Vec<&Tensor> = alone.iter().collect();
            let want = apply1(p.clone(), &refs).unwrap().to_vec::<f64>().unwrap();
            assert_eq!(outs[0].select(0, b as i64).unwrap().to_vec::<f64>().unwrap(), want, "{p:?} {axes:?} {b}");
        }
    }

    #[test]
    fn batches() {
        let (x, s) = (noise(1, &[3, 4, 2]), noise(2, &[3, 3, 2]));
        let index = Tensor::from_slice(&[0i64, 3, 0, 1, 1, 2, 3, 2, 1], &[3, 3]).unwrap();
        let (add, put) = (How::Add(Scalar::Float(0.5)), How::Copy);
        for (how, dim) in [(add, 0), (put, 0)] {
            let p = WriteSlices { dim, how, source_dim: 2 };
            check_batched(&p, &[&x, &index, &s], &[Some(0), Some(0), Some(0)], 3);
            check_batched(&p, &[&x, &ints(&[0, 2, 1]), &s], &[Some(0), None, Some(0)], 3);
            check_batched(&p, &[&noise(3, &[4, 2]), &index, &s], &[None, Some(1), Some(1)], 3);
        }
        let p = FillSlices { dim: 1, number: Some(Scalar::Int(5)) };
        check_batched(&p, &[&noise(3, &[2, 3, 4]), &ints(&[-1])], &[Some(1), None], 3);
        let p = FillSlices { dim: 0, number: None };
        check_batched(&p, &[&x, &index, &noise(4, &[3])], &[Some(0), Some(0), Some(0)], 3);
        check_batched(&p, &[&x, &index, &noise(4, &[])], &[Some(0), Some(0), None], 3);
        let p = WriteSlices { dim: 0, how: add, source_dim: 0 };
        check_batched(&p, &[&noise(3, &[3]), &ints(&[0]), &noise(4, &[3])], &[Some(0), None, Some(0)], 3);
    }
}
