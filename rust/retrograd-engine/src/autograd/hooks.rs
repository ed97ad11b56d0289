//! Callbacks of the engine. The core calls them through traits; the host language implements them.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::meta::Registered;
use super::mode;
use super::node::Grads;
use crate::error::Result;
use crate::kernels::thread_values::ThreadValue;
use crate::tensor::Tensor;

/// What all hooks have.
pub trait Hook: Send + Sync {
    /// For the crate that made the hook, which may look for reference cycles through it.
    fn as_any(&self) -> &dyn Any;
}

/// Sees the gradient of one tensor; may replace it.
pub trait TensorHook: Hook {
    fn call(&self, grad: Option<&Tensor>) -> Result<Option<Tensor>>;
}

/// Sees the gradients a node is about to receive; may replace them.
pub trait PreHook: Hook {
    fn call(&self, grads: &[Option<Tensor>]) -> Result<Option<Grads>>;
}

/// Sees what a node returned and what it received; may replace the former.
pub trait PostHook: Hook {
    fn call(&self, results: &[Option<Tensor>], grads: &[Option<Tensor>]) -> Result<Option<Grads>>;
}

/// Sees a leaf after its `.grad` was updated.
pub trait LeafHook: Hook {
    fn call(&self, leaf: &Tensor) -> Result<()>;
}

/// Hooks of one node.
#[derive(Default)]
pub struct NodeHooks {
    /// Tensor hooks by output, in order of registration.
    pub(crate) tensor: Mutex<Registered<(u32, Arc<dyn TensorHook>)>>,
    /// Outputs whose tensor retains its gradient. Weak: a node never owns its output.
    pub(crate) retain: Mutex<BTreeMap<u32, crate::autograd::leaf::WeakTensor>>,
    pub pre: Mutex<Registered<Arc<dyn PreHook>>>,
    pub post: Mutex<Registered<Arc<dyn PostHook>>>,
    /// A sequence number to show instead of the real one.
    pub(crate) sequence_nr: Mutex<Option<u64>>,
    /// Whatever the host language wants to find again on this node.
    pub host_notes: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

static ON_HISTORY: OnceLock<fn(&Tensor)> = OnceLock::new();

/// Has `f` called whenever a tensor that has a Python object becomes part of a graph. Only the first call counts.
pub fn on_history(f: fn(&Tensor)) {
    let _ = ON_HISTORY.set(f);
}

impl Tensor {
    /// Says that the Python object of this tensor, if there is one, leads to a graph from now on.
    #[inline]
    pub(crate) fn tell_of_history(&self) {
        if !self.object_slot().load(Ordering::Relaxed).is_null()
            && let Some(f) = ON_HISTORY.get()
        {
            f(self);
        }
    }
}

/// Is called before every write in place of its thread.
pub type WriteWatch = dyn Fn(&Tensor) -> Result<()> + Send + Sync;

static WATCH: ThreadValue<RefCell<Option<Arc<WriteWatch>>>> = ThreadValue::new(|| RefCell::new(None));

/// Has `watch` called before the writes of this thread; returns the former one.
pub fn watch_writes(watch: Option<Arc<WriteWatch>>) -> Option<Arc<WriteWatch>> {
    mode::set(mode::WATCH_WRITES, watch.is_some());
    WATCH.replace(watch)
}

/// Exchanges the watch of the writes of this thread; the mode word says whether there is one.
pub(super) fn exchange_watch(watch: &mut Option<Arc<WriteWatch>>) {
    *watch = WATCH.replace(watch.take());
}

impl Tensor {
    /// Tells whoever watches that this tensor is about to be written in place.
    #[inline]
    pub(crate) fn tell_of_write(&self) -> Result<()> {
        if mode::word() & mode::WATCH_WRITES == 0 {
            return Ok(());
        }
        let watch = WATCH.with_borrow(Clone::clone);
        watch.map_or(Ok(()), |watch| watch(self))
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// An id no other registration has.
pub fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// Adds a hook; returns its id.
pub fn register<H>(list: &Mutex<Registered<H>>, hook: H) -> u64 {
    super::forward::hook_registered();
    let id = next_id();
    list.lock().push((id, hook));
    id
}

/// Removes the hook with this id; removing twice is fine.
pub fn remove<H>(list: &Mutex<Registered<H>>, id: u64) {
    // The hook is dropped after the lock is released: its drop may run foreign code.
    let gone = {
        let mut list = list.lock();
        list.iter().position(|(i, _)| *i == id).map(|at| list.remove(at))
    };
    drop(gone);
}

/// Shows every hook of a list to `see`, unless the list is in use at this moment.
fn each<H>(list: &Mutex<Registered<H>>, mut see: impl FnMut(&H)) {
    if let Some(list) = list.try_lock() {
        list.iter().for_each(|(_, h)| see(h));
    }
}

/// Takes every hook off a list, unless the list is in use at this moment.
fn take_all<H>(list: &Mutex<Registered<H>>) {
    let gone = list.try_lock().map(|mut list| std::mem::take(&mut *list));
    drop(gone);
}

impl NodeHooks {
    /// Tensor hooks by output.
    pub fn tensor_hooks(&self) -> &Mutex<Registered<(u32, Arc<dyn TensorHook>)>> {
        &self.tensor
    }
    /// Shows every hook to `see`.
    pub fn each(&self, mut see: impl FnMut(&dyn Any)) {
        each(&self.tensor, |(_, h)| see(h.as_any()));
        each(&self.pre, |h| see(h.as_any()));
        each(&self.post, |h| see(h.as_any()));
    }
    /// Forgets every hook.
    pub fn clear(&self) {
        take_all(&self.tensor);
        take_all(&self.pre);
        take_all(&self.post);
    }
}

impl Tensor {
    /// Registers a hook on the gradient of this tensor; returns its id and the node it lives on (`None` for leaves).
    pub fn register_hook(&self, hook: Arc<dyn TensorHook>) -> Result<(u64, Option<super::NodeRef>)> {
        self.check_own_gradient("register_hook")?;
        if !self.requires_grad() {
            return Err(crate::Error::autograd("cannot register a hook on a tensor that doesn't require gradient"));
        }
        Ok(match self.grad_fn()? {
            Some(edge) => {
                let id = register(&edge.node.hooks().tensor, (edge.nr, hook));
                (id, Some(edge.node))
            }
            None => (register(&self.meta().hooks, hook), None),
        })
    }
    /// Registers a hook that runs after this leaf accumulated.
    pub fn register_post_accumulate_hook(&self, hook: Arc<dyn LeafHook>) -> Result<u64> {
        self.check_own_gradient("register_post_accumulate_grad_hook")?;
        if !self.requires_grad() {
            return Err(crate::Error::autograd("cannot register a hook on a tensor that doesn't require gradient"));
        }
        if self.grad_fn()?.is_some() {
            return Err(crate::Error::autograd("post accumulate grad hooks cannot be registered on non-leaf tensors"));
        }
        Ok(register(&self.meta().post_accumulate, hook))
    }
    /// Shows the hooks that this tensor holds itself (as a leaf) to `see`.
    pub fn each_own_hook(&self, mut see: impl FnMut(&dyn Any)) {
        if let Some(meta) = self.inner().meta.get() {
            each(&meta.hooks, |h| see(h.as_any()));
            each(&meta.post_accumulate, |h| see(h.as_any()));
        }
    }
    /// Forgets the hooks that this tensor holds itself.
    pub fn clear_own_hooks(&self) {
        if let Some(meta) = self.inner().meta.get() {
            take_all(&meta.hooks);
            take_all(&meta.post_accumulate);
        }
    }
    /// The hooks on the gradient of this tensor, with their ids.
    pub fn tensor_hooks(&self) -> Result<Registered<Arc<dyn TensorHook>>> {
        Ok(match self.grad_fn()? {
            Some(edge) => edge.node.hooks_if_any().map_or_else(Vec::new, |hooks| {
                let of_output = |(id, (nr, hook)): &(u64, (u32, _))| (*nr == edge.nr).then(|| (*id, Arc::clone(hook)));
                hooks.tensor.lock().iter().filter_map(of_output).collect()
            }),
            None => self.inner().meta.get().map_or_else(Vec::new, |meta| meta.hooks.lock().clone()),
        })
    }
    /// Gives the gradient of this tensor, which need not require one yet, this hook alone, or none.
    pub fn replace_tensor_hooks(&self, hook: Option<Arc<dyn TensorHook>>) -> Result<()> {
        self.check_own_gradient("_backward_hooks")?;
        let ids = self.tensor_hooks()?.into_iter().map(|(id, _)| id);
        match self.grad_fn()? {
            Some(edge) => {
                ids.for_each(|id| remove(&edge.node.hooks().tensor, id));
                hook.map(|hook| register(&edge.node.hooks().tensor, (edge.nr, hook)));
            }
            None => {
                ids.for_each(|id| remove(&self.meta().hooks, id));
                hook.map(|hook| register(&self.meta().hooks, hook));
            }
        }
        Ok(())
    }
    /// The hooks that run after this leaf accumulated, with their ids.
    pub fn post_accumulate_hooks(&self) -> Registered<Arc<dyn LeafHook>> {
        self.inner().meta.get().map_or_else(Vec::new, |meta| meta.post_accumulate.lock().clone())
    }
    /// Has this hook alone, or none, run after this leaf accumulated.
    pub fn replace_post_accumulate_hooks(&self, hook: Option<Arc<dyn LeafHook>>) -> Result<()> {
        self.check_own_gradient("_post_accumulate_grad_hooks")?;
        take_all(&self.meta().post_accumulate);
        hook.map(|hook| register(&self.meta().post_accumulate, hook));
        Ok(())
    }
    /// Removes a hook of a leaf.
    pub fn remove_hook(&self, id: u64) {
        remove(&self.meta().hooks, id);
        remove(&self.meta().post_accumulate, id);
    }
}
