//! Python's buffer protocol both ways: memory of others as tensors, and memory of tensors for others.
//!
//! Everything that an exporter says and that can be checked is checked: item size, format, byte order, shape, strides,
//! and alignment.

use std::ffi::{CStr, c_int, c_long};
use std::ptr::{NonNull, null_mut};

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use retrograd_engine::counted::Counted;
use retrograd_engine::storage::Storage;
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::layout::{self, Strides};
use retrograd_engine::tensor::{copy, lazy};
use retrograd_engine::transforms::check_read;
use retrograd_engine::{DType, Tensor};

use crate::anythread::AnyThread;
use crate::call::type_name;
use crate::errors::{OrPy, warn_py};
use crate::wrap::{PyTensor, wrap};
use crate::{dtype, export};

/// Axes that a buffer may have, as in CPython.
pub const MAX_NDIM: usize = 64;

// ---- NumPy's classes, without importing NumPy

static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether `v` is an instance of a class of NumPy. If nobody imported NumPy, it is not.
fn is_numpy(v: &Bound<'_, PyAny>, name: &str, cache: &'static PyOnceLock<Py<PyType>>) -> bool {
    let py = v.py();
    let class = cache.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let numpy = modules.get_item("numpy")?.ok_or_else(|| PyTypeError::new_err("numpy was not imported"))?;
        Ok(numpy.getattr(name)?.cast_into::<PyType>()?.unbind())
    });
    class.is_ok_and(|class| v.is_instance(class.bind(py)).unwrap_or(false))
}

/// Whether `v` is a NumPy array.
pub fn is_array(v: &Bound<'_, PyAny>) -> bool {
    is_numpy(v, "ndarray", &NDARRAY)
}

/// Whether `v` is a NumPy scalar.
pub fn is_generic(v: &Bound<'_, PyAny>) -> bool {
    is_numpy(v, "generic", &GENERIC)
}

static SCALARS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// The dtype of a NumPy scalar, remembered for its class.
pub fn generic_dtype(v: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = v.py();
    let known = SCALARS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let class = v.get_type();
    if let Some(i) = known.get_item(&class)? {
        return Ok(DType::ALL[i.extract::<usize>()?]);
    }
    let dtype = numpy_dtype(v)?;
    known.set_item(class, dtype as usize)?;
    Ok(dtype)
}

/// The dtype of a NumPy array or scalar.
pub fn numpy_dtype(v: &Bound<'_, PyAny>) -> PyResult<DType> {
    let described = v.getattr("dtype")?;
    let code: String = described.getattr("char")?.extract()?;
    let itemsize: usize = described.getattr("itemsize")?.extract()?;
    let Some(dtype) = element(code.as_bytes(), itemsize) else {
        let name: String = described.getattr("type")?.getattr("__name__")?.extract()?;
        return Err(PyTypeError::new_err(format!(
            "can't convert np.ndarray of type numpy.{name}. The only supported types are: float64, float32, float16, \
             complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )));
    };
    if !described.getattr("isnative")?.is_truthy()? {
        return Err(foreign_order("numpy array"));
    }
    Ok(dtype)
}

fn foreign_order(what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "given {what} has byte order different from the native byte order. Conversion between byte orders is currently \
         not supported."
    ))
}

/// The dtype of a type code of the `struct` module or NumPy with a given item size.
fn element(code: &[u8], itemsize: usize) -> Option<DType> {
    Some(match (code, itemsize) {
        (b"?", 1) => DType::Bool,
        (b"B", 1) => DType::UInt8,
        (b"b" | b"h" | b"i" | b"l" | b"q" | b"n" | b"p", 1) => DType::Int8,
        (b"b" | b"h" | b"i" | b"l" | b"q" | b"n" | b"p", 2) => DType::Int16,
        (b"b" | b"h" | b"i" | b"l" | b"q" | b"n" | b"p", 4) => DType::Int32,
        (b"b" | b"h" | b"i" | b"l" | b"q" | b"n" | b"p", 8) => DType::Int64,
        (b"H" | b"I" | b"L" | b"Q" | b"N", 2) => DType::UInt16,
        (b"H" | b"I" | b"L" | b"Q" | b"N", 4) => DType::UInt32,
        (b"H" | b"I" | b"L" | b"Q" | b"N", 8) => DType::UInt64,
        (b"e", 2) => DType::Float16,
        (b"f", 4) => DType::Float32,
        (b"d", 8) => DType::Float64,
        (b"F" | b"Zf", 8) => DType::Complex64,
        (b"D" | b"Zd", 16) => DType::Complex128,
        _ => return None,
    })
}

/// The dtype of a buffer's format string.
fn format_dtype(format: &[u8], itemsize: usize) -> PyResult<DType> {
    let (order, code) = match format.split_first() {
        Some((b @ (b'@' | b'=' | b'^' | b'<' | b'>' | b'!'), rest)) => (*b, rest),
        _ => (b'@', format),
    };
    let native = match order {
        b'<' => cfg!(target_endian = "little"),
        b'>' | b'!' => cfg!(target_endian = "big"),
        _ => true,
    };
    if !native && itemsize > 1 {
        return Err(foreign_order("buffer"));
    }
    element(code, itemsize).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "can't convert a buffer of format '{}' with items of {itemsize} bytes to a tensor",
            String::from_utf8_lossy(format)
        ))
    })
}

// ---- memory of others as tensors

/// A buffer that another object exports, released when this one is dropped.
#[pyclass(frozen, name = "_HeldBuffer", module = "retrograd._core")]
struct Held(Box<ffi::Py_buffer>);

// SAFETY: (1) the fields are only read, after `PyObject_GetBuffer` filled them; (2) the release, the one use of the
// pointers with a side effect, runs in the object's deallocation, with the interpreter held.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl Held {
    fn acquire(v: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: (1) `v` is alive and the interpreter is held; (2) `view` is a writable Py_buffer; it is boxed, so
        // that pointers into itself, which exporters may store in it, stay true.
        if unsafe { ffi::PyObject_GetBuffer(v.as_ptr(), &raw mut *view, flags) } != 0 {
            return Err(PyErr::fetch(v.py()));
        }
        Ok(Self(view))
    }
    fn readonly(&self) -> bool {
        self.0.readonly != 0
    }
    fn bytes(&self) -> usize {
        self.0.len.max(0) as usize
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the buffer was acquired in `acquire` and is released once, here, with the interpreter held: the
        // object is a local of a function that holds it, or is being deallocated.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
    }
}

/// Bytes that the first element of a dtype must be aligned to.
pub fn alignment(dtype: DType) -> usize {
    dtype.real().size()
}

fn check_alignment(ptr: *const u8, dtype: DType) -> PyResult<()> {
    if ptr.addr().is_multiple_of(alignment(dtype)) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the memory is not aligned to {} bytes, as {} needs: copy it first",
        alignment(dtype),
        dtype.name()
    )))
}

/// Memory held through a buffer: `offset` bytes in, `bytes` bytes long.
fn storage(
    py: Python<'_>,
    held: Held,
    dtype: DType,
    offset: usize,
    bytes: usize,
    import: &'static str,
) -> PyResult<Counted<Storage>> {
    let read_only = held.readonly().then_some(import);
    let start = held.0.buf.cast::<u8>().wrapping_add(offset);
    let ptr = NonNull::new(start).ok_or_else(|| PyBufferError::new_err("the buffer has no memory"))?;
    check_alignment(ptr.as_ptr(), dtype)?;
    let owner = AnyThread::new(Py::new(py, held)?);
    // SAFETY: (1) The exporter keeps the memory valid until the buffer is released, which `owner` does when dropped;
    // the callers computed `bytes` from what the exporter said it exports, and it says whether that may be written. (2)
    // What a library exports has values as far as Rust knows.
    Ok(unsafe { Storage::foreign(ptr, bytes, Box::new(owner), read_only) })
}

/// A tensor over memory of others.
struct ReduceAxes {
    tensor: Tensor,
    readonly: bool,
}

/// A tensor over the memory of a NumPy array. What its dtype makes impossible is said in NumPy's words.
fn over_array(array: &Bound<'_, PyAny>) -> PyResult<ReduceAxes> {
    over(array).map_err(|e| numpy_dtype(array).err().unwrap_or(e))
}

/// A tensor over the memory of an exporter.
fn over(v: &Bound<'_, PyAny>) -> PyResult<ReduceAxes> {
    let held = Held::acquire(v, ffi::PyBUF_RECORDS_RO)?;
    let view = &*held.0;
    let bad = |what: &str| PyBufferError::new_err(format!("{}: the exported buffer has {what}", type_name(v)));
    let ndim = usize::try_from(view.ndim).ok().filter(|&n| n <= MAX_NDIM).ok_or_else(|| bad("too many axes"))?;
    let itemsize = usize::try_from(view.itemsize).map_err(|_| bad("a negative item size"))?;
    let format = if view.format.is_null() {
        &b"B"[..]
    } else {
        // SAFETY: the protocol makes a format that is not null a string that lives as long as the buffer.
        unsafe { CStr::from_ptr(view.format) }.to_bytes()
    };
    let dtype = format_dtype(format, itemsize)?;
    if ndim > 0 && (view.shape.is_null() || view.strides.is_null()) || !view.suboffsets.is_null() {
        return Err(bad("no shape and strides, or indirections"));
    }
    let axes = |p: *const ffi::Py_ssize_t| -> &[ffi::Py_ssize_t] {
        if ndim == 0 {
            return &[];
        }
        // SAFETY: not null (checked above), and the protocol gives it `ndim` entries that live as long as the buffer.
        unsafe { std::slice::from_raw_parts(p, ndim) }
    };
    let (shape, strides) = (axes(view.shape), axes(view.strides));
    let sizes: Vec<usize> =
        shape.iter().map(|&n| usize::try_from(n).map_err(|_| bad("a negative size"))).collect::<PyResult<_>>()?;
    let n = layout::checked_numel("from_numpy", &sizes).or_py()?;
    if n.checked_mul(itemsize) != Some(held.bytes()) {
        return Err(bad("a length that its shape does not explain"));
    }
    let readonly = held.readonly();
    if n == 0 {
        return Ok(ReduceAxes { tensor: Tensor::empty(&sizes, dtype).or_py()?, readonly });
    }
    if strides.iter().any(|&s| s < 0) {
        return Err(PyValueError::new_err(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not \
             currently supported. (You can probably work around this by making a copy of your array with array.copy().)",
        ));
    }
    if strides.iter().any(|&s| !(s as usize).is_multiple_of(itemsize)) {
        return Err(PyValueError::new_err(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the \
             memory.",
        ));
    }
    let strides: Strides = strides.iter().map(|&s| s / itemsize as isize).collect();
    let bytes = layout::extent(&sizes, &strides)
        .and_then(|(_, last)| usize::try_from(last).ok()?.checked_add(1)?.checked_mul(itemsize))
        .ok_or_else(|| bad("strides that leave the address space"))?;
    let storage = storage(v.py(), held, dtype, 0, bytes, "from_numpy")?;
    Ok(ReduceAxes { tensor: Tensor::from_parts(storage, dtype, &sizes, &strides, 0).or_py()?, readonly })
}

/// A tensor that shares the memory of a NumPy array.
pub fn share(array: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let ReduceAxes { tensor, readonly } = over_array(array)?;
    if readonly {
        warn_py(
            array.py(),
            "The given NumPy array is not writable, and retrograd does not support non-writable tensors: writing to this \
             tensor will be refused. You may want to copy the array, or make it writable, before converting it to a tensor.",
        )?;
    }
    Ok(tensor)
}

/// A tensor with a copy of a NumPy array, in the array's order of axes.
pub fn copied(array: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let aligned = array.getattr("flags")?.getattr("aligned")?.is_truthy()?;
    let over = if aligned { over_array(array)? } else { over_array(&array.call_method0("copy")?)? };
    copy::copy(&over.tensor).or_py()
}

/// A tensor that shares memory with a NumPy array: writes to either are seen in both.
///
/// Args: `ndarray` of a dtype that tensors have, in native byte order, strides not negative.
/// Raises: TypeError for other objects and dtypes; ValueError for layouts that tensors do not have. A read-only array
/// warns, and its tensor refuses writes.
///
/// >>> import numpy as np, retrograd as rg
/// >>> array = np.zeros(2)
/// >>> rg.from_numpy(array).fill_(1)
/// tensor([1., 1.], dtype=retrograd.float64)
/// >>> array.tolist()
/// [1.0, 1.0]
#[pyfunction]
fn from_numpy<'py>(py: Python<'py>, ndarray: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !is_array(ndarray) {
        return Err(PyTypeError::new_err(format!("expected np.ndarray (got {})", type_name(ndarray))));
    }
    wrap(py, share(ndarray)?)
}

/// A tensor of one axis that shares memory with any object that exports a buffer.
///
/// Args: `dtype` how the bytes are read; `count` elements (-1: all that fit); `offset` bytes skipped first.
/// Raises: ValueError if the bytes do not divide into elements or are too few. Read-only memory warns, and
/// refuses writes.
///
/// >>> rg.frombuffer(bytearray([1, 0, 2, 0]), dtype=rg.int16)
/// tensor([1, 2], dtype=retrograd.int16)
#[pyfunction]
#[pyo3(
    signature = (buffer, *, dtype, count = -1, offset = 0, requires_grad = false),
    text_signature = "(buffer, *, dtype, count=-1, offset=0, requires_grad=False)"
)]
fn frombuffer<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    count: isize,
    offset: isize,
    requires_grad: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = dtype::extract(dtype).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "frombuffer(): argument 'dtype' must be retrograd.dtype, not {}",
            type_name(dtype)
        ))
    })?;
    let t = from_bytes(buffer, dtype, count, offset)?;
    crate::construct::mark(&t, requires_grad)?;
    wrap(py, t)
}

/// The elements of a buffer's bytes; see [`frombuffer`].
pub fn from_bytes(buffer: &Bound<'_, PyAny>, dtype: DType, count: isize, offset: isize) -> PyResult<Tensor> {
    // SAFETY: the object is alive and the interpreter held.
    if unsafe { ffi::PyObject_CheckBuffer(buffer.as_ptr()) } == 0 {
        return Err(PyValueError::new_err("object does not implement Python buffer protocol."));
    }
    let held = Held::acquire(buffer, ffi::PyBUF_SIMPLE)?;
    let (len, size) = (held.bytes(), dtype.size());
    if len == 0 || count == 0 {
        return Err(PyValueError::new_err(format!("both buffer length ({len}) and count ({count}) must not be 0")));
    }
    let Some(start) = usize::try_from(offset).ok().filter(|&o| o < len) else {
        return Err(PyValueError::new_err(format!(
            "offset ({offset} bytes) must be non-negative and no greater than buffer length ({len} bytes) minus 1"
        )));
    };
    let rest = len - start;
    let n = match usize::try_from(count) {
        Err(_) if !rest.is_multiple_of(size) => {
            return Err(PyValueError::new_err(format!(
                "buffer length ({rest} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
            )));
        }
        Err(_) => rest / size,
        Ok(n) => n,
    };
    let Some(bytes) = n.checked_mul(size).filter(|&b| b <= rest) else {
        return Err(PyValueError::new_err(format!(
            "requested buffer length ({n} * {size} bytes) after offset ({offset} bytes) must not be greater than actual \
             buffer length ({len} bytes)"
        )));
    };
    if held.readonly() {
        warn_py(
            buffer.py(),
            "The given buffer is not writable, and retrograd does not support non-writable tensors: writing to this tensor \
             will be refused. You may want to copy the buffer, or make it writable, before converting it to a tensor.",
        )?;
    }
    let storage = storage(buffer.py(), held, dtype, start, bytes, "frombuffer")?;
    Tensor::from_parts(storage, dtype, &[n], &[1], 0).or_py()
}

// ---- the memory behind tensors, for copies and files

/// A key of the storage of a tensor, unique while it lives, and all of its bytes as a uint8 tensor.
#[pyfunction]
fn _storage<'py>(py: Python<'py>, t: &Bound<'py, PyTensor>) -> PyResult<(usize, Bound<'py, PyAny>)> {
    let t: &Tensor = &t.get().0;
    check_read("storage", t).or_py()?;
    let _reading = reading();
    let storage = t.storage();
    let bytes = Tensor::from_parts(storage.clone(), DType::UInt8, &[storage.bytes()], &[1], 0).or_py()?;
    Ok((t.storage_key(), wrap(py, bytes)?))
}

/// A tensor over the storage of another, without history; offset and strides in elements.
///
/// Raises: RuntimeError for a layout that leaves the storage; ValueError if the memory is not aligned for the dtype.
#[pyfunction]
fn _over_storage<'py>(
    py: Python<'py>,
    memory: &Bound<'py, PyTensor>,
    dtype: &Bound<'py, dtype::PyDType>,
    sizes: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (storage, dtype) = (memory.get().0.storage(), dtype.get().0);
    if strides.iter().any(|&s| s < 0) {
        return Err(PyValueError::new_err(format!("tensors do not have negative strides, such as {strides:?}")));
    }
    check_alignment(storage.ptr(), dtype)?;
    wrap(py, Tensor::from_parts(storage, dtype, &sizes, &strides, offset).or_py()?)
}

// ---- memory of tensors for others

/// What an exported buffer points to; lives from `getbuffer` to `releasebuffer`.
struct Export {
    /// Keeps the memory should the tensor get another one.
    _storage: Counted<Storage>,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// The format string of a dtype; `None` where the protocol has none.
fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::Bool => c"?",
        DType::UInt8 => c"B",
        DType::Int8 => c"b",
        DType::Int16 => c"h",
        DType::Int32 => c"i",
        // NumPy's int64 is the C type that has 8 bytes and comes first.
        DType::Int64 if size_of::<c_long>() == 8 => c"l",
        DType::Int64 => c"q",
        DType::Float16 => c"e",
        DType::Float32 => c"f",
        DType::Float64 => c"d",
        DType::Complex64 => c"Zf",
        DType::Complex128 => c"Zd",
        DType::UInt16 => c"H",
        DType::UInt32 => c"I",
        DType::UInt64 if size_of::<c_long>() == 8 => c"L",
        DType::UInt64 => c"Q",
        DType::BFloat16 | DType::Complex32 => return None,
    })
}

/// `__getbuffer__`: lends the tensor's memory, writable if it is, with its shape and strides. It can no longer be
/// resized.
///
/// # Safety
/// 1. `view` is null or points to a `Py_buffer` that may be written.
/// 2. A filled `view` is given to [`releasebuffer`] once.
pub unsafe fn getbuffer(slf: &Bound<'_, PyTensor>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no Py_buffer to fill"));
    }
    // SAFETY: duty 1. An error must leave a null `obj`.
    unsafe { (*view).obj = null_mut() };
    let t = &slf.get().0;
    check_read("__buffer__", t).map_err(|e| PyBufferError::new_err(e.to_string()))?;
    lazy::check_resolved("__buffer__", t).map_err(|e| PyBufferError::new_err(e.to_string()))?;
    if export::requires_grad(t) {
        return Err(PyBufferError::new_err(
            "Can't export the memory of a Tensor that requires grad. Use tensor.detach() first.",
        ));
    }
    let reading = reading();
    let format = format_of(t.dtype())
        .ok_or_else(|| PyBufferError::new_err(format!("the buffer protocol has no format for {}", t.dtype().name())))?;
    let wants = |bits: c_int| flags & bits == bits;
    let read_only = t.storage().read_only().is_some();
    if read_only && wants(ffi::PyBUF_WRITABLE) {
        return Err(PyBufferError::new_err("the tensor's memory is read-only: clone() it first"));
    }
    let reversed = |s: &[usize]| s.iter().rev().copied().collect::<Vec<_>>();
    let fortran = || {
        let strides: Vec<isize> = t.strides().iter().rev().copied().collect();
        layout::is_contiguous(&reversed(t.sizes()), &strides)
    };
    let refused = if wants(ffi::PyBUF_C_CONTIGUOUS) || !wants(ffi::PyBUF_STRIDES) {
        !t.is_contiguous()
    } else if wants(ffi::PyBUF_F_CONTIGUOUS) {
        !fortran()
    } else {
        wants(ffi::PyBUF_ANY_CONTIGUOUS) && !t.is_contiguous() && !fortran()
    };
    if refused {
        return Err(PyBufferError::new_err(
            "the tensor is not contiguous in the requested order: use tensor.contiguous()",
        ));
    }
    let size = t.dtype().size() as ffi::Py_ssize_t;
    let storage = t.storage();
    storage.fix_address();
    let mut held = Box::new(Export {
        _storage: storage,
        shape: t.sizes().iter().map(|&n| n as ffi::Py_ssize_t).collect(),
        strides: t.strides().iter().map(|&s| s * size).collect(),
    });
    // SAFETY: (1) duty 1. (2) What the fields point to lives in `held`, which `internal` owns until `releasebuffer`, or
    // is static; `obj` gets a reference of its own. (3) S3: shape and strides stay inside the storage that `held`
    // keeps.
    unsafe {
        let v = &mut *view;
        v.buf = t.data_ptr(&reading).cast();
        v.len = t.nbytes() as ffi::Py_ssize_t;
        v.itemsize = size;
        v.readonly = c_int::from(read_only);
        v.ndim = t.ndim() as c_int;
        v.format = if wants(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { null_mut() };
        v.shape = if wants(ffi::PyBUF_ND) { held.shape.as_mut_ptr() } else { null_mut() };
        v.strides = if wants(ffi::PyBUF_STRIDES) { held.strides.as_mut_ptr() } else { null_mut() };
        v.suboffsets = null_mut();
        v.internal = Box::into_raw(held).cast();
        v.obj = slf.clone().into_any().into_ptr();
    }
    Ok(())
}

/// `__releasebuffer__`: the end of what [`getbuffer`] began.
///
/// # Safety
/// `view` was filled by [`getbuffer`] and not released since.
pub unsafe fn releasebuffer(view: *mut ffi::Py_buffer) {
    // SAFETY: the duty: `internal` is the box that `getbuffer` gave away.
    unsafe {
        drop(Box::from_raw((*view).internal.cast::<Export>()));
        (*view).internal = null_mut();
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_storage, m)?)?;
    m.add_function(wrap_pyfunction!(_over_storage, m)?)?;
    m.add_function(wrap_pyfunction!(from_numpy, m)?)?;
    m.add_function(wrap_pyfunction!(frombuffer, m)?)
}
