//! DLPack both ways: memory of tensors in capsules for others, and capsules of others as tensors.
//!
//! What a capsule says is checked before use: version, device, dtype, axes, sizes, strides, offsets, alignment. That
//! its pointers point to what it says cannot be checked.

use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};

use pyo3::exceptions::{PyAssertionError, PyBufferError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBool, PyInt};
use retrograd_engine::counted::Counted;
use retrograd_engine::storage::Storage;
use retrograd_engine::storage::reclaim::reading;
use retrograd_engine::tensor::copy;
use retrograd_engine::tensor::layout::{self, Strides};
use retrograd_engine::transforms::check_read;
use retrograd_engine::{DType, Tensor};

use crate::buffer::{self, MAX_NDIM};
use crate::call::type_name;
use crate::errors::{OrPy, warn_py};
use crate::wrap::wrap;

// ---- the C structs

const CPU: i32 = 1;
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const COMPLEX: u8 = 5;
const BOOL: u8 = 6;

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`
#[repr(C)]
struct Lent {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

type Deleter<M> = unsafe extern "C" fn(*mut M);

/// `DLManagedTensor`
#[repr(C)]
struct Plain {
    tensor: Lent,
    context: *mut c_void,
    deleter: Option<Deleter<Plain>>,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
struct Versioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<Deleter<Versioned>>,
    flags: u64,
    tensor: Lent,
}

/// What the two kinds of capsule have in common.
trait Managed: Sized + 'static {
    /// The capsule's name until a consumer takes over its content, and from then on.
    const FRESH: &'static CStr;
    const USED: &'static CStr;

    fn new(tensor: Lent, flags: u64) -> Self;
    /// For the one who made it.
    fn context(&mut self) -> &mut *mut c_void;
    fn deleter(&self) -> Option<Deleter<Self>>;
    /// The tensor and its flags, if the version is one whose fields are known.
    fn parts(&self) -> PyResult<(&Lent, u64)>;
}

impl Managed for Plain {
    const FRESH: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn new(tensor: Lent, _flags: u64) -> Self {
        Self { tensor, context: null_mut(), deleter: Some(delete::<Self>) }
    }
    fn context(&mut self) -> &mut *mut c_void {
        &mut self.context
    }
    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
    fn parts(&self) -> PyResult<(&Lent, u64)> {
        Ok((&self.tensor, 0))
    }
}

impl Managed for Versioned {
    const FRESH: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn new(tensor: Lent, flags: u64) -> Self {
        let version = Version { major: 1, minor: 0 };
        Self { version, context: null_mut(), deleter: Some(delete::<Self>), flags, tensor }
    }
    fn context(&mut self) -> &mut *mut c_void {
        &mut self.context
    }
    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
    fn parts(&self) -> PyResult<(&Lent, u64)> {
        match self.version.major {
            1 => Ok((&self.tensor, self.flags)),
            major => Err(PyBufferError::new_err(format!(
                "from_dlpack: the capsule is of DLPack version {major}.{}, and only 1.x is known",
                self.version.minor
            ))),
        }
    }
}

/// DLPack's code and bits of a dtype.
fn code_of(dtype: DType) -> DataType {
    let code = match dtype {
        DType::Bool => BOOL,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => UINT,
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => INT,
        DType::Float16 | DType::Float32 | DType::Float64 => FLOAT,
        DType::BFloat16 => BFLOAT,
        DType::Complex32 | DType::Complex64 | DType::Complex128 => COMPLEX,
    };
    DataType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}

fn dtype_of(t: &DataType) -> PyResult<DType> {
    let is_it = |d: &DType| {
        let known = code_of(*d);
        (known.code, known.bits, known.lanes) == (t.code, t.bits, t.lanes)
    };
    DType::ALL.into_iter().find(is_it).ok_or_else(|| {
        PyBufferError::new_err(format!(
            "from_dlpack: no dtype has DLPack's type code {} with {} bits and {} lanes",
            t.code, t.bits, t.lanes
        ))
    })
}

// ---- memory of tensors for others

/// What a capsule of ours points to; lives until its deleter is called.
struct Export<M> {
    managed: M,
    _storage: Counted<Storage>,
    _shape: Vec<i64>,
    _strides: Vec<i64>,
}

/// Ends an export. Any thread may call it, with or without the interpreter.
///
/// # Safety
/// `managed` is that of an [`Export`] which was leaked, and is not used afterwards.
unsafe extern "C" fn delete<M: Managed>(managed: *mut M) {
    // SAFETY: the duty; the context of our exports is the box itself.
    drop(unsafe { Box::from_raw((*(*managed).context()).cast::<Export<M>>()) });
}

/// Called when a capsule of ours is freed. If it has another name by now, a consumer took over its content.
///
/// # Safety
/// `capsule` was made by [`capsule`], and the interpreter is held.
unsafe extern "C" fn abandon<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: the duty; under this name the capsule holds an export that nobody ended.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::FRESH.as_ptr()) == 1 {
            delete::<M>(ffi::PyCapsule_GetPointer(capsule, M::FRESH.as_ptr()).cast());
        }
    }
}

fn capsule<'py, M: Managed>(py: Python<'py>, t: &Tensor, flags: u64) -> PyResult<Bound<'py, PyAny>> {
    check_read("__dlpack__", t).or_py()?;
    let bits = t.lazy_bits();
    if bits.any() {
        let (bit, call) = if bits.conj { ("conjugate", "conj") } else { ("negative", "neg") };
        return Err(PyBufferError::new_err(format!(
            "Can't export tensors with the {bit} bit set: use tensor.resolve_{call}()"
        )));
    }
    let reading = reading();
    let storage = t.storage();
    storage.fix_address();
    let mut shape: Vec<i64> = t.sizes().iter().map(|&n| n as i64).collect();
    let mut strides: Vec<i64> = t.strides().iter().map(|&s| s as i64).collect();
    let lent = Lent {
        data: if t.numel() == 0 { null_mut() } else { t.data_ptr(&reading).cast() },
        device: Device { kind: CPU, id: 0 },
        ndim: t.ndim() as i32,
        dtype: code_of(t.dtype()),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = M::new(lent, flags);
    let export = Export { managed, _storage: storage, _shape: shape, _strides: strides };
    let leaked = Box::into_raw(Box::new(export));
    // SAFETY: (1) `leaked` is a box that only `delete` frees: called here if there is no capsule, else by whoever takes
    // over what is in the capsule, else by `abandon`. (2) What the tensor points to lives in the box: sizes and strides
    // in its vectors, elements in its storage (S1, S3).
    unsafe {
        let managed = &raw mut (*leaked).managed;
        *(*managed).context() = leaked.cast();
        let capsule = ffi::PyCapsule_New(managed.cast(), M::FRESH.as_ptr(), Some(abandon::<M>));
        if capsule.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// `__dlpack__`: a capsule with the tensor's memory, or with a copy.
pub fn export<'py>(
    py: Python<'py>,
    t: &Tensor,
    stream: Option<&Bound<'py, PyAny>>,
    max_version: Option<(i64, i64)>,
    dl_device: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    if t.requires_grad() {
        return Err(PyBufferError::new_err("Can't export tensors that require gradient, use tensor.detach()"));
    }
    if let Some(stream) = stream {
        if !stream.is_instance_of::<PyInt>() || stream.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("stream must be ``int`` or ``none``"));
        }
        if !stream.eq(-1)? {
            return Err(PyAssertionError::new_err("stream should be None on cpu."));
        }
    }
    if let Some((kind, id)) = dl_device.filter(|&(kind, _)| kind != CPU) {
        return Err(PyBufferError::new_err(format!(
            "Can't export to DLPack's device ({kind}, {id}): tensors are in the memory of the CPU, ({CPU}, 0)"
        )));
    }
    check_read("__dlpack__", t).or_py()?;
    let copied = if copy == Some(true) { Some(copy::copy(t).or_py()?) } else { None };
    let (t, flags) = copied.as_ref().map_or((t, 0), |t| (t, IS_COPIED));
    // The memory that is asked about is the one that is exported.
    let _reading = reading();
    let read_only = t.storage().read_only().is_some();
    match max_version {
        Some((1.., _)) => capsule::<Versioned>(py, t, if read_only { flags | READ_ONLY } else { flags }),
        _ if read_only => Err(PyBufferError::new_err(
            "Can't export a tensor whose memory is read-only: DLPack says that from version 1.0 on. Ask for max_version=(1, 0), \
             or clone() the tensor first.",
        )),
        _ => capsule::<Plain>(py, t, flags),
    }
}

/// `__dlpack_device__`: `(kDLCPU, 0)`.
pub fn device(py: Python<'_>) -> PyResult<(Bound<'_, PyAny>, i32)> {
    let kinds = py.import("retrograd.utils.dlpack")?.getattr("DLDeviceType")?;
    Ok((kinds.call1((CPU,))?, 0))
}

// ---- memory of others as tensors

/// What a producer lends us through a capsule; its deleter runs on drop.
struct Loan<M: Managed>(NonNull<M>);

// SAFETY: the pointer is used once more, to call the deleter, which DLPack lets any thread do.
unsafe impl<M: Managed> Send for Loan<M> {}
// SAFETY: as above; shared references do nothing.
unsafe impl<M: Managed> Sync for Loan<M> {}

impl<M: Managed> Drop for Loan<M> {
    fn drop(&mut self) {
        // SAFETY: the capsule was renamed when the loan was made, so that nobody else calls the deleter, and it is
        // called once, here. It may be absent, and may free what the pointer points to.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter() {
                deleter(self.0.as_ptr());
            }
        }
    }
}

/// A layout that was found to be one that tensors have.
struct Described {
    /// The first element; null only if there are no elements.
    start: *mut u8,
    bytes: usize,
    elements: usize,
    dtype: DType,
    sizes: Vec<usize>,
    strides: Strides,
}

fn bad(what: &str) -> PyErr {
    PyBufferError::new_err(format!("from_dlpack: {what}"))
}

/// Entries that a capsule says it has, one per axis.
///
/// # Safety
/// `p` points to `n` readable entries if it is aligned and not null.
unsafe fn entries<'a>(p: *const i64, n: usize, what: &str) -> PyResult<&'a [i64]> {
    if n == 0 {
        return Ok(&[]);
    }
    if p.is_null() || !p.is_aligned() {
        return Err(bad(&format!("the capsule has no {what}, or not at an address of integers")));
    }
    // SAFETY: the duty, and what was checked above.
    Ok(unsafe { std::slice::from_raw_parts(p, n) })
}

/// Checks all that a capsule says.
///
/// # Safety
/// Shape and strides of `t`, if aligned and not null, point to as many readable entries as it has axes.
unsafe fn described(t: &Lent) -> PyResult<Described> {
    if t.device.kind != CPU {
        return Err(bad(&format!(
            "the memory is on DLPack's device ({}, {}), and tensors are in that of the CPU, ({CPU}, 0)",
            t.device.kind, t.device.id
        )));
    }
    let dtype = dtype_of(&t.dtype)?;
    let ndim = usize::try_from(t.ndim)
        .ok()
        .filter(|&n| n <= MAX_NDIM)
        .ok_or_else(|| bad(&format!("{} axes, instead of 0 to {MAX_NDIM}", t.ndim)))?;
    // SAFETY: the duty.
    let sizes = unsafe { entries(t.shape, ndim, "shape") }?;
    let sizes: Vec<usize> = sizes
        .iter()
        .map(|&n| usize::try_from(n).map_err(|_| bad(&format!("axis of negative size {n}"))))
        .collect::<PyResult<_>>()?;
    let elements = layout::checked_numel("from_dlpack", &sizes).map_err(|e| bad(&e.to_string()))?;
    if elements == 0 {
        let strides = layout::contiguous_strides(&sizes);
        return Ok(Described { start: null_mut(), bytes: 0, elements, dtype, sizes, strides });
    }
    let strides = if t.strides.is_null() {
        layout::contiguous_strides(&sizes)
    } else {
        // SAFETY: the duty.
        let given = unsafe { entries(t.strides, ndim, "strides") }?;
        let stride = |&s: &i64| isize::try_from(s).ok().filter(|&s| s >= 0);
        given.iter().map(stride).collect::<Option<Strides>>().ok_or_else(|| {
            bad(&format!("tensors do not have negative strides, and the memory has {given:?}: copy it first"))
        })?
    };
    let outside = || bad("sizes, strides and offset leave the address space");
    let bytes = layout::extent(&sizes, &strides)
        .and_then(|(_, last)| usize::try_from(last).ok()?.checked_add(1)?.checked_mul(dtype.size()))
        .ok_or_else(outside)?;
    let data = t.data.cast::<u8>();
    if data.is_null() {
        return Err(bad(&format!("no memory for {elements} elements")));
    }
    // Both are in one block of memory, and no block is larger than `isize::MAX`.
    let offset = usize::try_from(t.byte_offset).map_err(|_| outside())?;
    let end = offset.checked_add(bytes).filter(|&end| end <= isize::MAX as usize).ok_or_else(outside)?;
    data.addr().checked_add(end).ok_or_else(outside)?;
    let start = data.wrapping_add(offset);
    if !start.addr().is_multiple_of(buffer::alignment(dtype)) {
        return Err(bad(&format!(
            "the memory is not aligned to {} bytes, as {} needs: copy it first",
            buffer::alignment(dtype),
            dtype.name()
        )));
    }
    Ok(Described { start, bytes, elements, dtype, sizes, strides })
}

/// Takes over what is in a capsule, if it is a fresh one of this kind: a tensor over the memory, and whether
/// the memory is read-only.
fn take<M: Managed>(capsule: &Bound<'_, PyAny>) -> Option<PyResult<(Tensor, bool)>> {
    with_critical_section(capsule, || {
        // SAFETY: the call may be made on any object, with the interpreter held.
        if unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), M::FRESH.as_ptr()) } != 1 {
            return None;
        }
        // SAFETY: a capsule with something under this name.
        let managed: *mut M = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::FRESH.as_ptr()) }.cast();
        Some(take_managed(capsule, managed))
    })
}

fn take_managed<M: Managed>(capsule: &Bound<'_, PyAny>, managed: *mut M) -> PyResult<(Tensor, bool)> {
    let found = NonNull::new(managed).filter(|p| p.is_aligned()).ok_or_else(|| bad("no tensor in the capsule"))?;
    // SAFETY: DLPack: under its name a capsule that nobody consumed holds such a struct, whose shape and strides point
    // to `ndim` entries each. The borrow ends before anything that could free it.
    let (it, readonly) = unsafe {
        let (lent, flags) = found.as_ref().parts()?;
        (described(lent)?, flags & READ_ONLY != 0)
    };
    // From here on the capsule leaves it to us to call the deleter.
    // SAFETY: a capsule, with the interpreter held; the name is static.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) } != 0 {
        return Err(PyErr::fetch(capsule.py()));
    }
    let loan = Loan(found);
    let t = match NonNull::new(it.start).filter(|_| it.elements > 0) {
        None => Tensor::empty(&it.sizes, it.dtype).or_py()?,
        Some(start) => {
            let import = readonly.then_some("from_dlpack");
            // SAFETY: (1) DLPack: the memory is valid until the deleter is called, which `loan` does when dropped;
            // `bytes` is what sizes and strides reach, and `readonly` whether it may be written. (2) What a
            // library exports has values as far as Rust knows.
            let storage = unsafe { Storage::foreign(start, it.bytes, Box::new(loan), import) };
            Tensor::from_parts(storage, it.dtype, &it.sizes, &it.strides, 0).or_py()?
        }
    };
    Ok((t, readonly))
}

/// The tensor in a capsule, which nobody can take again: over the same memory, or a copy.
fn import(capsule: &Bound<'_, PyAny>, copied: bool) -> PyResult<Tensor> {
    let taken = take::<Versioned>(capsule).or_else(|| take::<Plain>(capsule));
    let (t, readonly) = taken.ok_or_else(|| {
        PyRuntimeError::new_err(format!(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might \
             have already constructed a tensor from it once. (got {})",
            type_name(capsule)
        ))
    })??;
    if copied {
        return copy::copy(&t).or_py();
    }
    if readonly {
        warn_py(
            capsule.py(),
            "The memory that from_dlpack was given is not writable, and retrograd does not support non-writable tensors: \
             writing to this tensor will be refused. Pass copy=True for one that can be written.",
        )?;
    }
    Ok(t)
}

/// See [`import`].
#[pyfunction]
fn _from_dlpack<'py>(py: Python<'py>, capsule: &Bound<'py, PyAny>, copy: bool) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, import(capsule, copy)?)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_from_dlpack, m)?)
}
