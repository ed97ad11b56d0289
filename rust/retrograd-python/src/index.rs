//! Python subscripts as index items.

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyTuple};
use retrograd::ops::index::IndexItem;
use smallvec::SmallVec;

use crate::convert::integer;
use crate::wrap::unwrap;

pub type Items = SmallVec<[IndexItem; 4]>;

/// `x[key]` as items.
#[inline]
pub fn items(key: &Bound<'_, PyAny>) -> PyResult<Items> {
    if let Ok(tuple) = key.cast_exact::<PyTuple>() {
        return tuple.iter_borrowed().map(|k| item(&k)).collect();
    }
    let mut out = Items::new();
    out.push(item(key)?);
    Ok(out)
}

/// The key if it is just a number.
#[inline]
pub fn exact_int(key: &Bound<'_, PyAny>) -> Option<i64> {
    if key.is_exact_instance_of::<PyInt>() { key.extract().ok() } else { None }
}

#[inline]
fn item(k: &Bound<'_, PyAny>) -> PyResult<IndexItem> {
    if k.is_exact_instance_of::<PyInt>() {
        return k.extract().map(IndexItem::Int).map_err(|_| PyIndexError::new_err("index: index does not fit 64 bits"));
    }
    slow_item(k)
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
    if let Ok(s) = k.cast::<PySlice>() {
        return Ok(IndexItem::Slice(bound(s, "start")?, bound(s, "stop")?, bound(s, "step")?));
    }
    if k.is_instance_of::<PyList>() || k.is_instance_of::<PyTuple>() || k.hasattr("__array_interface__")? {
        let t = crate::construct::index_tensor(k)?;
        return Ok(IndexItem::Tensor(t));
    }
    match integer(k) {
        Some(i) => Ok(IndexItem::Int(i)),
        None => Err(PyTypeError::new_err(format!(
            "index: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})",
            crate::call::type_name(k)
        ))),
    }
}

fn bound(s: &Bound<'_, PySlice>, which: &str) -> PyResult<Option<i64>> {
    let v = s.getattr(which)?;
    if v.is_none() {
        return Ok(None);
    }
    integer(&v).map(Some).ok_or_else(|| {
        PyTypeError::new_err("index: slice indices must be integers or None or have an __index__ method")
    })
}
