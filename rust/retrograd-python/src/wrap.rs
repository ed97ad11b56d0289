//! Python objects for tensors, with identity: the same tensor comes back as the same object.
//!
//! Normally the object owns a handle on its tensor. When the last Python reference goes away while the tensor lives on in
//! a graph, an object that carries something of its own (attributes, weak references, a subclass) is transferred: the
//! tensor keeps the object, until it is handed out again or the tensor dies.

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use pyo3::ffi;
use pyo3::prelude::*;
use retrograd::Tensor;
use retrograd::autograd::leaf::WeakTensor;
use retrograd::autograd::meta::PreservedObject;

use crate::anythread::AnyThread;
use crate::class;

/// A multi-dimensional array that autograd can follow.
///
/// Tensors are made by `tensor`, `zeros`, `rand` and the like. `Tensor(data)` makes one of the default dtype.
///
/// >>> x = rg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
/// >>> x.size(), x.size(1), x.stride(), x.stride(0), x.storage_offset()
/// (retrograd.Size([2, 3]), 3, (3, 1), 3, 0)
/// >>> x.dim(), x.ndimension(), x.numel(), x.nelement(), x.element_size()
/// (2, 2, 6, 6, 4)
/// >>> x.is_contiguous(), x.T.is_contiguous(), x.is_floating_point(), x.is_complex(), x.is_inference()
/// (True, False, True, False, False)
/// >>> x[1].data_ptr() - x.data_ptr()
/// 12
/// >>> x[0, 2].item(), x[:, 0].tolist(), x.numpy().mean()
/// (3.0, [1.0, 4.0], np.float32(3.5))
/// >>> x.new_tensor([7, 8])
/// tensor([7., 8.])
/// >>> other = rg.zeros(1).set_(x)
/// >>> other.resize_(3)
/// tensor([1., 2., 3.])
///
/// Gradients collect in leaves, and in other tensors that are told to retain theirs:
///
/// >>> x.requires_grad_()[0]
/// tensor([1., 2., 3.], grad_fn=<SelectBackward0>)
/// >>> y = x * 2
/// >>> y.retain_grad()
/// >>> y.sum().backward()
/// >>> y.grad[0], x.grad[0]
/// (tensor([1., 1., 1.]), tensor([2., 2., 2.]))
/// >>> y.detach_().requires_grad
/// False
#[pyclass(name = "Tensor", module = "retrograd", subclass, weakref, dict, frozen)]
pub struct PyTensor(pub Handle);

/// How an object holds its tensor.
pub struct Handle(UnsafeCell<Side>);

enum Side {
    /// The object owns a handle.
    Owns(Tensor),
    /// The tensor owns the object.
    Preserved(Box<Preserved>),
}

struct Preserved {
    tensor: WeakTensor,
    /// Filled when the tensor dies.
    last: Arc<Mutex<Option<Tensor>>>,
}

// SAFETY: the cell changes only with the interpreter held: to `Preserved` when no reference to the object is left, so that no
// borrow of the tensor exists, and from `Preserved`, into which nobody borrows. `Tensor` and `Preserved` are Send and Sync.
unsafe impl Sync for Handle {}
// SAFETY: as above.
unsafe impl Send for Handle {}

impl Handle {
    pub fn new(t: Tensor) -> Self {
        Self(UnsafeCell::new(Side::Owns(t)))
    }
    /// The tensor, unless it owns the object.
    pub fn owned(&self) -> Option<&Tensor> {
        // SAFETY: shared access, see above; the interpreter is held by whoever works with objects.
        match unsafe { &*self.0.get() } {
            Side::Owns(t) => Some(t),
            Side::Preserved(_) => None,
        }
    }
    /// Owns a tensor again. Called with the interpreter held, while somebody holds the object.
    #[cold]
    fn reclaim(&self) -> &Tensor {
        // SAFETY: shared access as above.
        if let Side::Preserved(kept) = unsafe { &*self.0.get() } {
            let tensor = loop {
                if let Some(t) = kept.tensor.upgrade() {
                    break t;
                }
                // The tensor is being dropped on another thread, which fills this before it waits for the interpreter.
                if let Some(t) = kept.last.lock().clone() {
                    break t;
                }
                std::thread::yield_now();
            };
            let object = tensor.take_preserved_object();
            // SAFETY: the interpreter is held and nothing borrows from `Preserved` any more.
            unsafe { *self.0.get() = Side::Owns(tensor) };
            drop(object);
        }
        self.owned().expect("just set")
    }
}

impl Deref for Handle {
    type Target = Tensor;
    #[inline]
    fn deref(&self) -> &Tensor {
        match self.owned() {
            Some(t) => t,
            None => self.reclaim(),
        }
    }
}

impl Drop for PyTensor {
    fn drop(&mut self) {
        // Runs inside the object's deallocation, with the interpreter held: from now on the next wrap makes a new object.
        if let Some(t) = self.0.owned() {
            t.object_slot().store(null_mut(), Ordering::Release);
        }
    }
}

/// The object, on the tensor's side.
struct TensorsReference {
    _object: AnyThread<PyAny>,
    last: Arc<Mutex<Option<Tensor>>>,
}

impl PreservedObject for TensorsReference {
    fn tensor_dropped(self: Box<Self>, last: Tensor) {
        *self.last.lock() = Some(last);
    }
}

/// Makes the tensor own `object`, which stands for it and whose last reference is going away. Returns false if nobody else
/// holds the tensor, which then dies with its object.
///
/// # Safety
/// `object` is a tensor object, the interpreter is held, and nobody borrows its tensor.
pub unsafe fn transfer_ownership(py: Python<'_>, object: *mut ffi::PyObject) -> bool {
    // SAFETY: a tensor object, by contract.
    let handle = unsafe { &(*class::contents(object)).0 };
    let Some(t) = handle.owned() else { return false };
    if t.handle_count() == 1 || t.object_slot().load(Ordering::Acquire) != object.cast() {
        return false;
    }
    let last = Arc::new(Mutex::new(None));
    // SAFETY: `object` is alive; this reference is the tensor's.
    let owned = unsafe { Bound::from_borrowed_ptr(py, object) }.unbind();
    let kept = TensorsReference { _object: AnyThread::new(owned), last: last.clone() };
    t.preserve_object(Box::new(kept));
    let side = Side::Preserved(Box::new(Preserved { tensor: t.downgrade(), last }));
    // SAFETY: the interpreter is held and nobody borrows the tensor, by contract.
    let owned = unsafe { std::mem::replace(&mut *handle.0.get(), side) };
    drop(owned);
    true
}

/// The Python object of a tensor: the live one if there is one, else a new one.
#[inline]
pub fn wrap(py: Python<'_>, t: Tensor) -> PyResult<Bound<'_, PyAny>> {
    if let Some(live) = live(py, &t) {
        return Ok(live);
    }
    class::new_object(py, t)
}

/// The object that stands for this tensor now, if any.
#[inline]
pub fn live<'py>(py: Python<'py>, t: &Tensor) -> Option<Bound<'py, PyAny>> {
    let p: *mut ffi::PyObject = t.object_slot().load(Ordering::Acquire).cast();
    // SAFETY: the slot is set to an object that owns a handle on `t` or is owned by it, and cleared in that object's
    // deallocation; both happen with the interpreter held, as we hold it. An object being deallocated has a count of 0
    // and is not revived.
    unsafe {
        if p.is_null() || ffi::Py_REFCNT(p) == 0 {
            return None;
        }
        let object = Bound::from_borrowed_ptr(py, p);
        let _: &Tensor = &(*class::contents(p)).0;
        Some(object)
    }
}

/// The core tensor of an object that is one (of the exact class or a subclass).
#[inline]
pub fn unwrap<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    if class::is_exact(object) {
        // SAFETY: objects of the class are tensor objects.
        return Some(unsafe { &(*class::contents(object.as_ptr())).0 });
    }
    Some(&object.cast::<PyTensor>().ok()?.get().0)
}

/// `None` becomes None.
pub fn wrap_option(py: Python<'_>, t: Option<Tensor>) -> PyResult<Bound<'_, PyAny>> {
    t.map_or_else(|| Ok(py.None().into_bound(py)), |t| wrap(py, t))
}
