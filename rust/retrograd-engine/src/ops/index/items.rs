//! `x[...]`: a list of items, read and written.

use super::advanced::{index_at, put_at_};
use super::walk::{is_mask, warn_of_bytes};
use crate::error::{Error, Result};
use crate::ops::pointwise::check_number;
use crate::ops::view::view_op::Layout;
use crate::ops::{memory, view};
use crate::profiler;
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::expands_to;
use crate::tensor::{Arg, DType, Noted, Scalar, Tensor};

/// One item of `x[a, b, ...]`.
#[derive(Clone, Debug)]
pub enum IndexItem {
    Int(i64),
    /// `start:end:step`.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// `None`: a new axis of size 1.
    NewAxis,
    Ellipsis,
    /// A new axis of size 1, or 0 for `false`.
    Bool(bool),
    Tensor(Tensor),
}

#[cold]
fn out_of_bounds(index: i64, dim: usize, size: usize) -> Error {
    Error::index("index", format!("index {index} is out of bounds for dimension {dim} with size {size}"))
}

/// The view at one index of axis `dim`, which messages call `named`.
#[inline]
fn at(x: &Tensor, dim: usize, index: i64, named: usize) -> Result<Tensor> {
    let args = || vec![("input", Noted::of(x)), ("dim", (dim as i64).note()), ("index", index.note())];
    let _op = profiler::op("select", false, args);
    // A second ellipsis can lead past the last axis.
    let n = x.sizes().get(dim).copied().unwrap_or(0);
    if index < -(n as i64) || index >= n as i64 {
        return Err(out_of_bounds(index, named, n));
    }
    if dim == 0 && !view::is_differentiated(x) && !x.is_sparse() {
        return Ok(x.row(if index < 0 { index + n as i64 } else { index } as usize));
    }
    view::select_at(x, dim, index)
}

/// `x[index]`.
#[inline]
pub fn get_int(x: &Tensor, index: i64) -> Result<Tensor> {
    let part = if x.ndim() > 0 { at(x, 0, index, 0) } else { get_part(x, &[IndexItem::Int(index)]) };
    part.map_err(|e| e.named("index"))
}

/// `x[start:end:step]`.
#[inline]
pub fn get_slice(x: &Tensor, start: i64, end: i64, step: i64) -> Result<Tensor> {
    if x.ndim() == 0 || step <= 0 {
        return get(x, &[IndexItem::Slice(Some(start), Some(end), Some(step))]);
    }
    let _op = slice_op(x, 0, Some(start), Some(end), step);
    view::slice_first(x, start, end, step).map_err(|e| e.named("index"))
}

/// `x[items]`: a view as far as the items are numbers, slices and new axes; a copy if there are index tensors.
#[inline]
pub fn get(x: &Tensor, items: &[IndexItem]) -> Result<Tensor> {
    if let [IndexItem::Int(i)] = items {
        return get_int(x, *i);
    }
    let _reading = reading();
    if let Some(part) = in_one_step(x, items) {
        return Ok(part);
    }
    get_part(x, items).map_err(|e| e.named("index"))
}

/// `x[items]` in one step, where the items are numbers, slices, new axes and an ellipsis. `None` where each is an op of
/// its own, since it is recorded or noted, and where an item is wrong, which the ops say.
fn in_one_step(x: &Tensor, items: &[IndexItem]) -> Option<Tensor> {
    if view::is_differentiated(x) || profiler::is_open() {
        return None;
    }
    let mut layout = Layout::of(x);
    let mut dim = 0;
    for item in items {
        match *item {
            IndexItem::Int(i) => {
                let n = *layout.sizes.get(dim)? as i64;
                if i < -n || i >= n {
                    return None;
                }
                layout.select(dim, i);
            }
            IndexItem::Slice(start, end, step) => {
                let step = step.unwrap_or(1);
                if step <= 0 || dim >= layout.sizes.len() {
                    return None;
                }
                layout.slice(dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step);
                dim += 1;
            }
            IndexItem::NewAxis if dim <= layout.sizes.len() => {
                layout.unsqueeze(dim);
                dim += 1;
            }
            IndexItem::Ellipsis => dim += x.ndim().checked_sub(items.iter().map(axes_of).sum())?,
            IndexItem::NewAxis | IndexItem::Bool(_) | IndexItem::Tensor(_) => return None,
        }
    }
    layout.view_of(x).ok()
}

fn get_part(x: &Tensor, items: &[IndexItem]) -> Result<Tensor> {
    if let [IndexItem::Slice(start, end, step)] = items {
        let step = checked_step(*step)?;
        if x.ndim() == 0 {
            return Err(Error::index("index", "slice() cannot be applied to a 0-dim tensor."));
        }
        let _op = slice_op(x, 0, *start, *end, step);
        return x.slice(0, *start, *end, step);
    }
    let part = Part::of(x, items)?;
    if !part.index.is_empty() {
        let _op = profiler::op("index", false, || vec![("input", Noted::of(&part.view))]);
        return index_at(&part.view, &part.at, &part.index.iter().collect::<Vec<_>>());
    }
    // Even `x[...]` gives a tensor of its own.
    if part.view.is_same(x) { view::alias(x) } else { Ok(part.view) }
}

/// `x[items] = value`: the value, broadcast and converted, written through a view, or at index tensors.
pub fn set(x: &Tensor, items: &[IndexItem], value: &Tensor) -> Result<()> {
    let _reading = reading();
    if value.is_number() {
        check_number("setitem", value.item()?, x.dtype())?;
    }
    assign(x, items, value).map_err(|e| e.named("setitem"))
}

fn assign(x: &Tensor, items: &[IndexItem], value: &Tensor) -> Result<()> {
    let real;
    let value = if value.is_number() && value.dtype().is_complex() && !x.dtype().is_complex() {
        real = real_number(value.item()?, x.dtype())?;
        &real
    } else {
        value
    };
    let part = Part::of(x, items)?;
    if part.index.is_empty() {
        return write(&part.view, value);
    }
    let value = match without_leading_ones(value.sizes()) {
        _ if value.is_number() => copy::cast(value, x.dtype())?,
        sizes if sizes.len() < value.ndim() => view::view_to(value, sizes)?,
        _ => value.clone(),
    };
    let args = || vec![("input", Noted::of(&part.view)), ("values", Noted::of(&value))];
    let _op = profiler::op("index_put", true, args);
    put_at_(&part.view, &part.at, &part.index.iter().collect::<Vec<_>>(), &value, false).map(drop)
}

/// A complex number as what a real dtype can hold of it: all, or whether it is zero.
fn real_number(z: Scalar, dtype: DType) -> Result<Tensor> {
    match z {
        _ if dtype == DType::Bool => Tensor::number(Scalar::Bool(!z.is_zero())),
        Scalar::Complex(_, im) if im != 0.0 => {
            let name = dtype.scalar_type_name();
            Err(Error::dtype("setitem", format!("value cannot be converted to type {name} without overflow")))
        }
        _ => Tensor::number(Scalar::Float(z.as_f64())),
    }
}

/// What the items other than index tensors make of `x`, and the index tensors with the axes at which they begin.
struct Part {
    view: Tensor,
    at: Vec<usize>,
    index: Vec<Tensor>,
}

impl Part {
    fn of(x: &Tensor, items: &[IndexItem]) -> Result<Self> {
        if x.ndim() == 0 && matches!(items, [IndexItem::Int(_)]) {
            return Err(Error::index(
                "index",
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number",
            ));
        }
        let covered: usize = items.iter().map(axes_of).sum();
        if covered > x.ndim() {
            return Err(Error::index("index", format!("too many indices for tensor of dimension {}", x.ndim())));
        }
        let mut part = Part { view: x.clone(), at: Vec::new(), index: Vec::new() };
        // `dim` counts axes of the view so far, `named` those of `x`.
        let (mut dim, mut named) = (0, 0);
        for item in items {
            match item {
                IndexItem::Int(i) => {
                    part.view = at(&part.view, dim, *i, named)?;
                    named += 1;
                }
                IndexItem::Slice(start, end, step) => {
                    part.view = slice(&part.view, dim, *start, *end, *step)?;
                    dim += 1;
                    named += 1;
                }
                IndexItem::Ellipsis => {
                    dim += x.ndim() - covered;
                    named += x.ndim() - covered;
                }
                IndexItem::NewAxis => {
                    part.view = part.view.unsqueeze(dim as i64)?;
                    dim += 1;
                }
                IndexItem::Bool(b) => part.truth(*b, &mut dim)?,
                IndexItem::Tensor(t) if t.ndim() == 0 && is_mask(t) => {
                    part.truth(!t.item()?.is_zero(), &mut dim)?;
                }
                // A batched one is another number for every entry.
                IndexItem::Tensor(t) if t.ndim() == 0 && t.dtype().is_integral() && !t.is_batched() => {
                    part.view = at(&part.view, dim, t.item()?.as_i64(), named)?;
                    named += 1;
                }
                IndexItem::Tensor(t) => {
                    warn_of_bytes(t)?;
                    part.at.push(dim);
                    part.index.push(t.clone());
                    dim += axes_of(item);
                    named += axes_of(item);
                }
            }
        }
        Ok(part)
    }

    /// A new axis that a truth value indexes: kept at size 1, or emptied.
    fn truth(&mut self, value: bool, dim: &mut usize) -> Result<()> {
        self.view = self.view.unsqueeze(*dim as i64)?;
        self.at.push(*dim);
        self.index.push(if value { Tensor::from_slice(&[0i64], &[1])? } else { Tensor::empty(&[0], DType::Int64)? });
        *dim += 1;
        Ok(())
    }
}

/// How many axes of the tensor an item covers.
fn axes_of(item: &IndexItem) -> usize {
    match item {
        IndexItem::Int(_) | IndexItem::Slice(..) => 1,
        IndexItem::NewAxis | IndexItem::Ellipsis | IndexItem::Bool(_) => 0,
        IndexItem::Tensor(t) if is_mask(t) => t.ndim(),
        IndexItem::Tensor(_) => 1,
    }
}

fn checked_step(step: Option<i64>) -> Result<i64> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(Error::value("index", "slice step cannot be zero"));
    }
    if step < 0 {
        return Err(Error::value(
            "index",
            format!("step must be greater than zero, got {step}: use flip to reverse an axis"),
        ));
    }
    Ok(step)
}

/// The slice of one of several items: the tensor itself if that is the whole axis.
fn slice(x: &Tensor, dim: usize, start: Option<i64>, end: Option<i64>, step: Option<i64>) -> Result<Tensor> {
    let step = checked_step(step)?;
    let whole = |&n: &usize| start.unwrap_or(0) == 0 && end.unwrap_or(i64::MAX) >= n as i64 && step == 1;
    if x.sizes().get(dim).is_some_and(whole) {
        return Ok(x.clone());
    }
    let _op = slice_op(x, dim, start, end, step);
    x.slice(dim as i64, start, end, step)
}

#[inline]
fn slice_op(x: &Tensor, dim: usize, start: Option<i64>, end: Option<i64>, step: i64) -> profiler::InOp {
    profiler::op("slice", false, || {
        let numbers = [("start", start.note()), ("end", end.note()), ("step", step.note())];
        [("input", Noted::of(x)), ("dim", (dim as i64).note())].into_iter().chain(numbers).collect()
    })
}

/// The sizes without leading ones.
fn without_leading_ones(sizes: &[usize]) -> &[usize] {
    &sizes[sizes.iter().take_while(|&&n| n == 1).count()..]
}

/// Writes `value` through a view.
fn write(to: &Tensor, value: &Tensor) -> Result<()> {
    if value.sizes() == to.sizes() {
        return to.copy_(value).map(drop);
    }
    if value.ndim() == 0 {
        return memory::assign(to, value).map(drop);
    }
    let value = view::view_to(value, without_leading_ones(value.sizes()))?;
    if !expands_to(value.sizes(), to.sizes()) {
        return Err(view::refused_expand("setitem", &value, to.sizes()));
    }
    to.copy_(&view::expand_to(&value, to.sizes())?).map(drop)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::IndexItem::{Bool, Ellipsis, Int, NewAxis, Slice};
    use super::*;
    use crate::testing::{gradcheck, noise};

    const ALL: IndexItem = Slice(None, None, None);

    fn counted() -> Tensor {
        Tensor::from_slice(&(0..24).map(f64::from).collect::<Vec<_>>(), &[2, 3, 4]).unwrap()
    }
    fn ints(v: &[i64]) -> IndexItem {
        IndexItem::Tensor(Tensor::from_slice(v, &[v.len()]).unwrap())
    }
    fn mask(v: &[bool], sizes: &[usize]) -> IndexItem {
        IndexItem::Tensor(Tensor::from_slice(v, sizes).unwrap())
    }

    #[test]
    fn shapes_are_torchs() {
        let x = counted();
        let m = mask(&[true, false, true, false, true, true], &[2, 3]);
        let cases: Vec<(Vec<IndexItem>, Vec<usize>)> = vec![
            (vec![Int(-1)], vec![3, 4]),
            (vec![Ellipsis, Int(0)], vec![2, 3]),
            (vec![NewAxis, NewAxis, Int(0), Ellipsis, NewAxis], vec![1, 1, 3, 4, 1]),
            (vec![Slice(Some(1), None, None), ALL, Slice(None, None, Some(3))], vec![1, 3, 2]),
            (vec![Bool(true)], vec![1, 2, 3, 4]),
            (vec![Bool(true), Int(0)], vec![1, 3, 4]),
            (vec![Bool(true), Bool(false)], vec![0, 2, 3, 4]),
            (vec![ints(&[0, 1]), Bool(true)], vec![2, 3, 4]),
            (vec![ints(&[0, 1]), ALL, ints(&[0, 1])], vec![2, 3]),
            (vec![ALL, ints(&[0, 1]), ints(&[0, 1])], vec![2, 2]),
            (vec![ints(&[0, 1]), NewAxis, ints(&[0, 1])], vec![2, 1, 4]),
            (vec![Int(0), ALL, ints(&[0, 1])], vec![3, 2]),
            (vec![ints(&[0, 1]), Int(0)], vec![2, 4]),
            (vec![m.clone()], vec![4, 4]),
            (vec![m.clone(), Int(0)], vec![4]),
            (vec![m.clone(), NewAxis, Slice(None, Some(2), None)], vec![4, 1, 2]),
            (vec![NewAxis, m.clone()], vec![1, 4, 4]),
            (vec![m, ints(&[0])], vec![4]),
            (vec![mask(&[true], &[]), Int(1)], vec![1, 3, 4]),
            (vec![IndexItem::Tensor(Tensor::from_slice(&[1i64], &[]).unwrap())], vec![3, 4]),
            (vec![ints(&[]), ints(&[7])], vec![0, 4]),
            (vec![], vec![2, 3, 4]),
        ];
        for (items, want) in cases {
            assert_eq!(get(&x, &items).unwrap().sizes(), want, "{items:?}");
        }
        assert!(!get(&x, &[Ellipsis]).unwrap().is_same(&x));
        assert_eq!(get(&noise(1, &[]), &[Bool(false)]).unwrap().sizes(), [0]);
    }

    #[test]
    fn errors_are_torchs() {
        let x = counted();
        let says = |items: &[IndexItem], text: &str| {
            let e = get(&x, items).unwrap_err().to_string();
            assert!(e.contains(text), "{e}");
        };
        says(&[Int(5)], "index 5 is out of bounds for dimension 0 with size 2");
        says(&[Int(0), Int(-4)], "index -4 is out of bounds for dimension 1 with size 3");
        says(&[Int(0), Int(0), Int(0), Int(0)], "too many indices for tensor of dimension 3");
        says(&[Slice(None, None, Some(-1))], "step must be greater than zero");
        says(&[ALL, ints(&[0, 3])], "index 3 is out of bounds for dimension 1 with size 3");
        says(&[ints(&[0, 1]), ints(&[0, 1, 2])], "could not be broadcast together with shapes [2], [3]");
        says(&[IndexItem::Tensor(noise(1, &[2]))], "must be long, int, byte or bool");
        says(&[mask(&[true; 3], &[3])], "The shape of the mask [3] at index 0 does not match");
        assert!(get(&noise(1, &[]), &[Int(0)]).unwrap_err().to_string().contains("0-dim tensor"));
        assert!(get(&noise(1, &[]), &[ALL]).is_err());
    }

    #[test]
    fn writes() {
        let x = counted();
        set(&x, &[Int(0), ALL, Slice(Some(1), Some(2), None)], &noise(1, &[1, 1, 3, 1])).unwrap();
        set(&x, &[Int(1)], &Tensor::number(7i64.into()).unwrap()).unwrap();
        assert_eq!(&x.to_vec::<f64>().unwrap()[12..], [7.0; 12]);
        set(&x, &[mask(&[true, false], &[2]), ints(&[2])], &Tensor::number(9i64.into()).unwrap()).unwrap();
        assert_eq!(&x.to_vec::<f64>().unwrap()[8..12], [9.0; 4]);
        set(&x, &[ints(&[0, 1])], &noise(1, &[1, 1, 2, 3, 4])).unwrap();
        set(&x, &[Bool(false)], &Tensor::number(1i64.into()).unwrap()).unwrap();
        set(&x, &[Slice(Some(5), None, None)], &noise(1, &[1])).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), noise(1, &[24]).to_vec::<f64>().unwrap());
        assert!(set(&x, &[Int(0)], &noise(1, &[2, 3, 4])).is_err());
        assert!(
            set(&x, &[ints(&[0, 1])], &noise(1, &[3, 1, 4])).unwrap_err().to_string().contains("shape mismatch: value")
        );
        let y = Tensor::from_slice(&[0i64, 0], &[2]).unwrap();
        set(&y, &[Int(0)], &Tensor::number(1.7.into()).unwrap()).unwrap();
        set(&y, &[ints(&[1])], &Tensor::number(2.7.into()).unwrap()).unwrap();
        assert_eq!(y.to_vec::<i64>().unwrap(), [1, 2]);
        assert!(set(&y, &[ints(&[1])], &noise(1, &[1])).is_err());
    }

    #[test]
    fn derivatives() {
        let (x, v) = (noise(1, &[3, 4]), noise(2, &[4]));
        gradcheck(&|xs| get(&xs[0], &[Int(1), Slice(None, None, Some(2))])?.exp(), from_ref(&x));
        gradcheck(&|xs| get(&xs[0], &[mask(&[true, false, true], &[3]), ints(&[1, 1])])?.exp(), from_ref(&x));
        gradcheck(&|xs| get(&xs[0], &[Bool(true), Ellipsis])?.exp(), from_ref(&x));
        // In-place writes have no forward mode yet, so reverse mode is compared with the form that writes nothing.
        let plain = |i: &[IndexItem]| {
            let (a, b) = (x.detach(), v.detach());
            a.set_requires_grad(true).unwrap();
            b.set_requires_grad(true).unwrap();
            let y = a.mul(&a).unwrap();
            set(&y, i, &b.mul(&b).unwrap()).unwrap();
            (y.grad_fn().unwrap().unwrap().node.name().into_owned(), y)
        };
        assert_eq!(plain(&[Int(0)]).0, "torch::autograd::CopySlices");
        assert_eq!(plain(&[ints(&[0, 2])]).0, "IndexPutBackward0");
    }
}
