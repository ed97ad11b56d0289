//! Python subscripts as index items.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use retrograd_engine::ops::index::IndexItem;
use retrograd_engine::{DType, Tensor};
use smallvec::SmallVec;

use crate::buffer;
use crate::call::type_name;
use crate::construct::is_sequence;
use crate::convert::{integer, integer_unless_interrupted, is_interrupt};
use crate::errors::warn_py;
use crate::overrides::state;
use crate::wrap::unwrap;

pub type Items = SmallVec<[IndexItem; 4]>;

/// `x[key]` as items.
#[inline]
pub fn items(x: &Tensor, key: &Bound<'_, PyAny>) -> PyResult<Items> {
    let items = if let Ok(tuple) = key.cast_exact::<PyTuple>() {
        tuple.iter_borrowed().map(|k| item(&k)).collect()
    } else if key.is_exact_instance_of::<PyInt>() || key.is_exact_instance_of::<PySlice>() || !lists_items(key)? {
        item(key).map(|i| Items::from_iter([i]))
    } else {
        key.try_iter()?.map(|k| item(&k?)).collect()
    };
    items.map_err(|why| match too_many(x, key) {
        Ok(true) => PyIndexError::new_err(format!("index: too many indices for tensor of dimension {}", x.ndim())),
        _ => why,
    })
}

/// Whether a key, one item of which is no index, has more items than the tensor has axes: then that is what is wrong
/// first.
#[cold]
fn too_many(x: &Tensor, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let covers = |k: &Bound<'_, PyAny>| match unwrap(k) {
        Some(t) if matches!(t.dtype(), DType::Bool | DType::UInt8) => t.ndim(),
        Some(_) => 1,
        None => usize::from(!(k.is_none() || k.is_instance_of::<PyEllipsis>() || k.is_instance_of::<PyBool>())),
    };
    let mut covered = 0;
    if lists_items(key)? {
        for k in key.try_iter()? {
            covered += covers(&k?);
        }
    } else {
        covered = covers(key);
    }
    Ok(covered > x.ndim())
}

/// Sequences of this length or more are an index, whatever they hold.
const MOST_ITEMS: usize = 32;

/// Whether a key means the tuple of its items: tuples do, and short sequences in which not all are numbers.
fn lists_items(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    if key.is_instance_of::<PyTuple>() {
        return Ok(true);
    }
    // In the order of their cost.
    if !is_sequence(key) || unwrap(key).is_some() || buffer::is_array(key) {
        return Ok(false);
    }
    let Ok(n) = key.len() else { return Ok(false) };
    if n >= MOST_ITEMS {
        return Ok(false);
    }
    for i in 0..n {
        let Ok(k) = key.get_item(i) else { return Ok(false) };
        if unwrap(&k).is_some()
            || k.is_none()
            || is_sequence(&k)
            || k.is_instance_of::<PySlice>()
            || k.is_instance_of::<PyEllipsis>()
        {
            warn_py(
                key.py(),
                "Using a non-tuple sequence for multidimensional indexing is deprecated: use x[tuple(seq)] instead of x[seq]",
            )?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The key if it is just a number.
#[inline]
pub fn exact_int(key: &Bound<'_, PyAny>) -> Option<i64> {
    if key.is_exact_instance_of::<PyInt>() { key.extract().ok() } else { None }
}

/// The start, the end and the step of a key that is just a slice of numbers, as Python reads it. `None` also of one
/// that Python refuses, and while tensors may be asked, which a bound could be.
#[inline]
pub fn exact_slice(key: &Bound<'_, PyAny>) -> PyResult<Option<[i64; 3]>> {
    // There are no subclasses of it.
    match key.cast_exact::<PySlice>() {
        Ok(slice) => unpacked(slice),
        Err(_) => Ok(None),
    }
}

#[inline]
fn item(k: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    if k.is_exact_instance_of::<PyInt>() {
        return k.extract().map(IndexItem::Int).map_err(|_| too_large("index"));
    }
    // There are no subclasses of it.
    if let Ok(s) = k.cast_exact::<PySlice>() {
        return slice(s);
    }
    slow_item(k)
}

#[cold]
fn too_large(op: &str) -> PyErr {
    PyValueError::new_err(format!("{op}: Overflow when unpacking long long: the int does not fit 64 bits"))
}

fn slow_item(k: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    if let Some(t) = unwrap(k) {
        return Ok(IndexItem::Tensor(t.clone()));
    }
    if k.is_none() {
        return Ok(IndexItem::NewAxis);
    }
    if k.is_instance_of::<PyEllipsis>() {
        return Ok(IndexItem::Ellipsis);
    }
    if let Ok(b) = k.cast::<PyBool>() {
        return Ok(IndexItem::Bool(b.is_true()));
    }
    if is_sequence(k) || k.hasattr("__array_interface__")? {
        let t = crate::construct::index_tensor(k)?;
        return Ok(IndexItem::Tensor(t));
    }
    match integer(k) {
        Some(i) => Ok(IndexItem::Int(i)),
        None => Err(PyIndexError::new_err(format!(
            "index: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})",
            type_name(k)
        ))),
    }
}

/// A slice, read by Python in one go; `None` if it refuses that.
#[inline]
fn unpacked(s: &Bound<'_, PySlice>) -> PyResult<Option<[i64; 3]>> {
    if state::possible() {
        return Ok(None);
    }
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a slice, and places for its numbers.
    if unsafe { ffi::PySlice_Unpack(s.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) } == 0 {
        return Ok(Some([start as i64, stop as i64, step as i64]));
    }
    let why = PyErr::fetch(s.py());
    if is_interrupt(s.py(), &why) { Err(why) } else { Ok(None) }
}

/// A slice. What Python does not read in one go, one with a step of zero among it, is read bound by bound; so are all
/// slices while tensors may be asked, which a bound could be.
fn slice(s: &Bound<'_, PySlice>) -> PyResult<IndexItem> {
    if let Some([start, stop, step]) = unpacked(s)? {
        return Ok(IndexItem::Slice(Some(start), Some(stop), Some(step)));
    }
    Ok(IndexItem::Slice(bound(s, "start")?, bound(s, "stop")?, bound(s, "step")?))
}

fn bound(s: &Bound<'_, PySlice>, which: &str) -> PyResult<Option<i64>> {
    let v = s.getattr(which)?;
    if v.is_none() {
        return Ok(None);
    }
    match integer_unless_interrupted(&v)? {
        Some(i) => Ok(Some(i)),
        // Beyond every size: as far as there are integers, as Python's own sequences have it.
        None if v.is_instance_of::<PyInt>() => Ok(Some(if v.lt(0)? { i64::MIN } else { i64::MAX })),
        None => Err(PyTypeError::new_err("index: slice indices must be integers or None or have an __index__ method")),
    }
}

/// Why `value` is nothing that `x[...] = value` takes.
#[cold]
pub fn refused_value(value: &Bound<'_, PyAny>, dtype: DType) -> PyErr {
    if value.is_instance_of::<PyInt>() {
        return too_large("setitem");
    }
    PyTypeError::new_err(format!(
        "setitem: can't assign a {} to a torch.{}: make it a tensor first",
        type_name(value),
        dtype.tensor_type_name()
    ))
}
