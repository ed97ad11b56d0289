//! Functions that see gradients on their way, and functions in whose hands saved tensors are.
//!
//! ```
//! use retrograd::tensor;
//!
//! let x = tensor![1.0, 2.0].requires_grad_(true);
//! let handle = x.register_hook(|gradient| gradient * 10.0)?;
//! (&x * 3.0).backward_with(|o| o.gradient(&tensor![1.0, 1.0]))?;
//! assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [30.0, 30.0]);
//! handle.remove();
//! # Ok::<(), retrograd::Error>(())
//! ```

use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

use crate::engine::autograd::hooks::{Hook, LeafHook, TensorHook, remove};
use crate::engine::autograd::leaf::WeakTensor;
use crate::engine::autograd::node::Node;
use crate::engine::autograd::saved::{PackedValue, SavedHooks, forbid_hooks, pop_hooks, push_hooks};
use crate::engine::counted::{Counted, WeakCounted};
use crate::{Error, Result, Tensor, engine, site};

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for crate::Tensor {}
    impl Sealed for Option<crate::Tensor> {}
    impl<T: Sealed> Sealed for crate::Result<T> {}
}

/// What a hook on a gradient returns: a tensor that replaces it, nothing, an `Option` of a tensor, or a `Result` of
/// these, whose error is that of the backward pass.
pub trait Replacement: sealed::Sealed {
    #[doc(hidden)]
    fn replacement(self) -> Result<Option<Tensor>>;
}

impl Replacement for () {
    fn replacement(self) -> Result<Option<Tensor>> {
        Ok(None)
    }
}

impl Replacement for Tensor {
    fn replacement(self) -> Result<Option<Tensor>> {
        Ok(Some(self))
    }
}

impl Replacement for Option<Tensor> {
    fn replacement(self) -> Result<Option<Tensor>> {
        Ok(self)
    }
}

impl<T: Replacement> Replacement for Result<T> {
    fn replacement(self) -> Result<Option<Tensor>> {
        self.and_then(T::replacement)
    }
}

/// What a hook returns that replaces nothing: nothing, or a `Result` whose error is that of the backward pass.
pub trait Done: Replacement {}

impl Done for () {}
impl Done for Result<()> {}

/// What unpacks a saved tensor: a tensor, or a `Result` of one, whose error is that of the backward pass.
pub trait Unpacked: Replacement {}

impl Unpacked for Tensor {}
impl Unpacked for Result<Tensor> {}

/// A registered hook. The hook stays when the handle is dropped; [`remove`](Handle::remove) takes it away.
#[derive(Debug)]
pub struct Handle {
    id: u64,
    on: On,
}

enum On {
    Leaf(WeakTensor),
    Node(WeakCounted<Node>),
}

impl std::fmt::Debug for On {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            On::Leaf(_) => "a leaf",
            On::Node(_) => "a node",
        })
    }
}

impl Handle {
    /// Takes the hook away, unless what it is on is gone already.
    pub fn remove(self) {
        match self.on {
            On::Leaf(leaf) => {
                if let Some(leaf) = leaf.upgrade() {
                    leaf.remove_hook(self.id);
                }
            }
            On::Node(node) => {
                if let Some(node) = node.upgrade() {
                    remove(node.hooks().tensor_hooks(), self.id);
                }
            }
        }
    }
}

/// A function on a gradient, and where it was registered.
struct OnGradient<F> {
    f: F,
    at: &'static Location<'static>,
}

impl<F: Send + Sync + 'static> Hook for OnGradient<F> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<R: Replacement, F: Fn(&Tensor) -> R + Send + Sync + 'static> TensorHook for OnGradient<F> {
    fn call(&self, grad: Option<&engine::Tensor>) -> Result<Option<engine::Tensor>> {
        // There is nothing to see, nor to replace.
        let Some(grad) = grad else { return Ok(None) };
        let Some(new) = (self.f)(face(grad)).replacement()? else { return Ok(None) };
        let changed = |what: String| {
            let detail = format!("hook '{}:{}' has changed the {what}", self.at.file(), self.at.line());
            Err(Error::autograd(detail))
        };
        if new.shape() != grad.sizes() {
            return changed(format!("size of value (was {:?} got {:?})", grad.sizes(), new.shape()));
        }
        if new.dtype() != grad.dtype() {
            return changed(format!("type of value (was {} got {})", grad.dtype().name(), new.dtype().name()));
        }
        Ok(Some(new.0))
    }
}

/// An engine's tensor as one of programs.
fn face(tensor: &engine::Tensor) -> &Tensor {
    // SAFETY: (1) `Tensor` is `repr(transparent)` over the engine's. (2) The result borrows as long as the argument
    // does.
    unsafe { &*std::ptr::from_ref(tensor).cast::<Tensor>() }
}

/// A function on a leaf.
struct OnLeaf<F>(F);

impl<F: Send + Sync + 'static> Hook for OnLeaf<F> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<R: Done, F: Fn(&Tensor) -> R + Send + Sync + 'static> LeafHook for OnLeaf<F> {
    fn call(&self, leaf: &engine::Tensor) -> Result<()> {
        (self.0)(face(leaf)).replacement().map(drop)
    }
}

impl Tensor {
    /// Calls `hook` with the gradient of this tensor whenever a backward pass has it; a tensor that it returns replaces
    /// the gradient, and must have its shape and dtype.
    ///
    /// A hook that holds the tensor itself keeps both alive until it is removed.
    ///
    /// # Errors
    /// If the tensor does not require grad.
    ///
    /// ```
    /// use retrograd::tensor;
    ///
    /// let x = tensor![3.0].requires_grad_(true);
    /// let y = &x * &x;
    /// y.register_hook(|gradient| println!("{gradient}"))?;
    /// y.register_hook(|gradient| gradient / 2.0)?;
    /// y.backward()?;
    /// assert_eq!(x.grad().unwrap().item::<f64>()?, 3.0);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn register_hook<R: Replacement>(&self, hook: impl Fn(&Tensor) -> R + Send + Sync + 'static) -> Result<Handle> {
        site::here();
        let (id, node) = self.0.register_hook(Arc::new(OnGradient { f: hook, at: Location::caller() }))?;
        let on = match node {
            Some(node) => On::Node(Counted::downgrade(&node)),
            None => On::Leaf(self.0.downgrade()),
        };
        Ok(Handle { id, on })
    }

    /// Calls `hook` with this leaf whenever a gradient was accumulated into it.
    ///
    /// # Errors
    /// If the tensor is no leaf, or does not require grad.
    ///
    /// ```
    /// use retrograd::tensor;
    ///
    /// let x = tensor![3.0].requires_grad_(true);
    /// let handle = x.register_post_accumulate_grad_hook(|leaf| leaf.zero_grad())?;
    /// (&x * &x).backward()?;
    /// assert!(x.grad().is_none());
    /// handle.remove();
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn register_post_accumulate_grad_hook<R: Done>(
        &self,
        hook: impl Fn(&Tensor) -> R + Send + Sync + 'static,
    ) -> Result<Handle> {
        site::here();
        let id = self.0.register_post_accumulate_hook(Arc::new(OnLeaf(hook)))?;
        Ok(Handle { id, on: On::Leaf(self.0.downgrade()) })
    }
}

/// A pair of functions for saved tensors.
struct Pair<P, U> {
    pack: P,
    unpack: Arc<U>,
}

/// What `pack` returned, with the function that unpacks it.
struct Packed<V, U> {
    value: V,
    unpack: Arc<U>,
}

impl<V, R, P, U> SavedHooks for Pair<P, U>
where
    V: Send + Sync + 'static,
    R: Unpacked,
    P: Fn(&Tensor) -> V + Send + Sync,
    U: Fn(&V) -> R + Send + Sync + 'static,
{
    fn pack(&self, tensor: &engine::Tensor) -> Result<Box<dyn PackedValue>> {
        Ok(Box::new(Packed { value: (self.pack)(face(tensor)), unpack: self.unpack.clone() }))
    }
}

impl<V, R, U> PackedValue for Packed<V, U>
where
    V: Send + Sync + 'static,
    R: Unpacked,
    U: Fn(&V) -> R + Send + Sync + 'static,
{
    fn unpack(&self) -> Result<engine::Tensor> {
        let tensor = (self.unpack)(&self.value).replacement()?;
        tensor.map(|tensor| tensor.0).ok_or_else(|| Error::type_error("unpack", "an unpack hook returned no tensor"))
    }
    fn as_any(&self) -> &dyn Any {
        &self.value
    }
}

/// Runs `f`, and passes every tensor that ops of this thread save meanwhile to `pack`. What that returns is saved
/// instead, and `unpack` makes a tensor of it again when a backward pass needs it.
///
/// # Panics
/// Inside of [`disable_saved_tensors_hooks`], with its message.
///
/// ```
/// use retrograd::{DType, Tensor, hooks::saved_tensors_hooks, tensor};
///
/// // The graph holds floats of half the width.
/// let (pack, unpack) = (|t: &Tensor| t.to(DType::Float32), |t: &Tensor| t.to(DType::Float64));
/// let x = tensor![3.0].requires_grad_(true);
/// let y = saved_tensors_hooks(pack, unpack, || &x * &x);
/// y.backward()?;
/// assert_eq!(x.grad().unwrap().item::<f64>()?, 6.0);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn saved_tensors_hooks<V, R, O>(
    pack: impl Fn(&Tensor) -> V + Send + Sync + 'static,
    unpack: impl Fn(&V) -> R + Send + Sync + 'static,
    f: impl FnOnce() -> O,
) -> O
where
    V: Send + Sync + 'static,
    R: Unpacked + 'static,
{
    site::done(try_saved_tensors_hooks(pack, unpack, f))
}

/// As [`saved_tensors_hooks`], with the error.
///
/// # Errors
/// Inside of [`disable_saved_tensors_hooks`], with its message.
#[track_caller]
pub fn try_saved_tensors_hooks<V, R, O>(
    pack: impl Fn(&Tensor) -> V + Send + Sync + 'static,
    unpack: impl Fn(&V) -> R + Send + Sync + 'static,
    f: impl FnOnce() -> O,
) -> Result<O>
where
    V: Send + Sync + 'static,
    R: Unpacked + 'static,
{
    struct InForce;
    impl Drop for InForce {
        fn drop(&mut self) {
            // There are some: those that were pushed below.
            let _ = pop_hooks();
        }
    }
    site::here();
    push_hooks(Arc::new(Pair { pack, unpack: Arc::new(unpack) }))?;
    let _in_force = InForce;
    Ok(f())
}

/// Runs `f`, and has [`saved_tensors_hooks`] refuse meanwhile, with this message.
///
/// # Errors
/// If hooks are in force already.
///
/// ```
/// use retrograd::hooks::{disable_saved_tensors_hooks, try_saved_tensors_hooks};
///
/// let refused = disable_saved_tensors_hooks("not in here", || {
///     try_saved_tensors_hooks(|t| t.clone(), |t| t.clone(), || ())
/// })?;
/// assert_eq!(refused.unwrap_err().to_string(), "not in here");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn disable_saved_tensors_hooks<O>(message: &str, f: impl FnOnce() -> O) -> Result<O> {
    struct Forbidden(Option<String>);
    impl Drop for Forbidden {
        fn drop(&mut self) {
            // Hooks that are in force are none of this scope's: none could be set inside of it.
            let _ = forbid_hooks(self.0.take());
        }
    }
    let _before = Forbidden(forbid_hooks(Some(message.to_owned()))?);
    Ok(f())
}
