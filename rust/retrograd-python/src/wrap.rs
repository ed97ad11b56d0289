//! Python objects for tensors, with identity: the same tensor comes back as the same object.
//!
//! Normally the object owns a handle on its tensor. When the last Python reference goes away while the tensor lives on
//! in a graph, the ownership of an object that carries something (attributes, weak references, a subclass) is
//! transferred: the tensor owns the object, until the object is needed again or the tensor dies.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;
use pyo3::ffi;
use pyo3::prelude::*;
use retrograd_engine::Tensor;
use retrograd_engine::autograd::leaf::WeakTensor;
use retrograd_engine::autograd::meta::PreservedObject;

use crate::anythread::AnyThread;
use crate::class;
use crate::object_slot::{self, Found};

/// A multi-dimensional array with automatic differentiation.
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
/// Gradients collect in leaves, and in other tensors by `retain_grad`:
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
pub struct Handle {
    /// Initialised while the object owns the tensor.
    tensor: UnsafeCell<MaybeUninit<Tensor>>,
    /// Null for an object that was never owned by its tensor. The lowest bit is set while it is.
    back: AtomicPtr<Back>,
}

/// In [`Handle::back`]: the tensor owns the object.
const PRESERVED: usize = 1;

/// The way back to the tensor, while that owns the object. Made once for an object, and freed with it.
type Back = Mutex<Option<Owner>>;

struct Owner {
    tensor: WeakTensor,
    /// Filled when the tensor dies.
    last: Arc<Mutex<Option<Tensor>>>,
}

// SAFETY: the cell changes in two places. (1) `transfer_ownership` empties it when nobody has a reference to the
// object, so that no borrow of the tensor exists; it sets the bit before it makes a reference that others can find. (2)
// `reclaim` fills it under the lock of `back`, when the bit is set, so that nobody reads it; it clears the bit
// afterwards, with `Release`. `Tensor` and `Back` are Send and Sync.
unsafe impl Sync for Handle {}
// SAFETY: as above.
unsafe impl Send for Handle {}

impl Handle {
    pub fn new(t: Tensor) -> Self {
        Self { tensor: UnsafeCell::new(MaybeUninit::new(t)), back: AtomicPtr::new(null_mut()) }
    }
    /// The tensor, unless it owns the object.
    #[inline]
    pub fn owned(&self) -> Option<&Tensor> {
        if self.back.load(Ordering::Acquire).addr() & PRESERVED != 0 {
            return None;
        }
        // SAFETY: initialised while the bit is not set, and not changed while somebody has a reference to the object.
        Some(unsafe { (*self.tensor.get()).assume_init_ref() })
    }
    /// The address in `back`, without the bit.
    fn back_ptr(&self) -> *mut Back {
        self.back.load(Ordering::Acquire).map_addr(|a| a & !PRESERVED)
    }
    /// Owns a tensor again. Called while somebody has a reference to the object.
    #[cold]
    fn reclaim(&self) -> &Tensor {
        let back = self.back_ptr();
        // SAFETY: the bit was set, so there is one; it is freed when `self` is dropped.
        let mut lock = unsafe { &*back }.lock();
        // Nothing if another thread was first.
        if let Some(owner) = lock.take() {
            let tensor = loop {
                if let Some(t) = owner.tensor.upgrade() {
                    break t;
                }
                // The tensor is being dropped on another thread, which fills this before it waits for anything.
                if let Some(t) = owner.last.lock().take() {
                    break t;
                }
                std::thread::yield_now();
            };
            let object = tensor.take_preserved_object();
            // SAFETY: the bit is set, so nobody reads the cell, and the lock is held, so nobody else fills it.
            unsafe { (*self.tensor.get()).write(tensor) };
            self.back.store(back, Ordering::Release);
            drop(lock);
            // The tensor's reference; the caller has another one.
            drop(object);
        }
        self.owned().expect("just filled")
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

impl Drop for Handle {
    fn drop(&mut self) {
        if self.owned().is_some() {
            // SAFETY: initialised, and not used again.
            unsafe { self.tensor.get_mut().assume_init_drop() };
        }
        let back = self.back_ptr();
        if !back.is_null() {
            // SAFETY: made by `Box::into_raw` in `transfer_ownership`; freed here alone.
            drop(unsafe { Box::from_raw(back) });
        }
    }
}

impl Drop for PyTensor {
    fn drop(&mut self) {
        // Runs inside the object's deallocation: from now on the next wrap makes a new object.
        if let Some(t) = self.0.owned() {
            object_slot::clear(t.object_slot(), class::object_of(self));
        }
    }
}

/// The tensor's reference to the object that it owns.
struct Preserved {
    _object: AnyThread<PyAny>,
    last: Arc<Mutex<Option<Tensor>>>,
}

impl PreservedObject for Preserved {
    fn tensor_dropped(self: Box<Self>, last: Tensor) {
        *self.last.lock() = Some(last);
    }
}

/// Makes the tensor own its object, whose last reference is going away. Returns false if nobody else holds the tensor,
/// which then dies with its object. After true the object belongs to the tensor, and may be gone already.
///
/// # Safety
/// `object` is a tensor object, and nobody has a reference to it, or can get one except through the tensor's slot.
pub unsafe fn transfer_ownership(py: Python<'_>, object: *mut ffi::PyObject) -> bool {
    // SAFETY: a tensor object, by contract.
    let handle = unsafe { &(*class::contents(object)).0 };
    let Some(t) = handle.owned() else { return false };
    if t.handle_count() == 1 {
        return false;
    }
    // SAFETY: by contract nobody borrows from the cell. It counts as empty from here on: the bit is set below, before
    // anybody can get a reference.
    let t = unsafe { std::ptr::read(t) };
    let Some(_slot) = object_slot::lock(t.object_slot(), object) else {
        // Still in the cell.
        std::mem::forget(t);
        return false;
    };
    let last = Arc::new(Mutex::new(None));
    let mut back = handle.back_ptr();
    if back.is_null() {
        back = Box::into_raw(Box::default());
    }
    // Locked until the tensor owns the object: a weak reference may give the object to somebody before.
    // SAFETY: made here, or by an earlier call; freed with the object.
    let mut owner = unsafe { &*back }.lock();
    *owner = Some(Owner { tensor: t.downgrade(), last: last.clone() });
    handle.back.store(back.map_addr(|a| a | PRESERVED), Ordering::Release);
    // SAFETY: `object` is alive; this reference is the tensor's.
    let owned = unsafe { Bound::from_borrowed_ptr(py, object) }.unbind();
    // SAFETY: a valid object.
    unsafe { object_slot::allow_references(object) };
    t.preserve_object(Box::new(Preserved { _object: AnyThread::new(owned), last }));
    // Unlocks, then drops the handle, which may be the last one by now.
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

/// The present object of this tensor, if any.
#[inline]
pub fn live<'py>(py: Python<'py>, t: &Tensor) -> Option<Bound<'py, PyAny>> {
    match object_slot::find(py, t.object_slot()) {
        Found::Nothing => None,
        Found::Object(object) => {
            // SAFETY: the slots of tensors hold tensor objects. The object owns the tensor again if it did not.
            let _: &Tensor = unsafe { &(*class::contents(object.as_ptr())).0 };
            Some(object)
        }
        Found::Dying(object) => after_deallocation(py, t, object),
    }
}

/// The object of a tensor whose object `dying` is being deallocated: the deallocation may make the tensor own it.
#[cold]
fn after_deallocation<'py>(py: Python<'py>, t: &Tensor, mut dying: *mut ffi::PyObject) -> Option<Bound<'py, PyAny>> {
    let mut waited = 0;
    while object_slot::wait(py, &mut waited) {
        match object_slot::find(py, t.object_slot()) {
            Found::Nothing => return None,
            Found::Object(_) => return live(py, t),
            Found::Dying(object) => dying = object,
        }
    }
    object_slot::clear(t.object_slot(), dying);
    None
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
