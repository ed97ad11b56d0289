//! Autograd state of a tensor that most tensors never need; made on first use.

use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{OnceLock, Weak};

use parking_lot::Mutex;

use super::forward::Tangents;
use super::hooks::{LeafHook, TensorHook};
use super::leaf::LeafRef;
use super::node::{Node, NodeRef};
use crate::tensor::{Body, DType, Tensor};
use crate::transforms::Batched;

/// Registered hooks with the ids their handles remove them by.
pub type Registered<H> = Vec<(u64, H)>;

/// The host language's object for a tensor, while the tensor keeps it alive.
///
/// A host object whose last user is gone may still carry something (attributes, a class of its own) that must be found
/// again when the graph hands the tensor out. It then changes sides: the tensor owns it instead of the other way round.
pub trait HostObject: Send + Sync {
    /// The tensor is being dropped. `last` has its elements, for users who get hold of the object at this moment.
    fn release(self: Box<Self>, last: Tensor);
}

impl Tensor {
    /// How many handles on this tensor there are.
    pub fn handle_count(&self) -> usize {
        std::sync::Arc::strong_count(self.arc())
    }
    /// Makes the tensor own its host object.
    pub fn keep_host(&self, object: Box<dyn HostObject>) {
        let old = self.meta().kept_host.lock().replace(object);
        drop(old);
    }
    /// Gives the host object's ownership back.
    pub fn yield_host(&self) -> Option<Box<dyn HostObject>> {
        self.inner().meta.get()?.kept_host.lock().take()
    }
}

#[derive(Default)]
pub struct Meta {
    pub(crate) grad: Mutex<Option<Tensor>>,
    /// The dtype gradients are cast to before they accumulate; `None` in the inner option accepts any.
    pub(crate) grad_dtype: Mutex<Option<Option<DType>>>,
    /// The node that accumulates into this leaf, while somebody holds it.
    pub(crate) accumulator: Mutex<Option<Weak<Node>>>,
    /// Tensor hooks of a leaf. Those of other tensors live on their node.
    pub(crate) hooks: Mutex<Registered<std::sync::Arc<dyn TensorHook>>>,
    /// Hooks that run after a leaf accumulated.
    pub(crate) post_accumulate: Mutex<Registered<std::sync::Arc<dyn LeafHook>>>,
    /// Directional derivatives by forward level.
    pub(crate) tangents: Mutex<Tangents>,
    /// The forward level at which this view has a tangent, or none, of its own: a dual, or the primal of an unpacked one.
    pub(crate) dual_at: AtomicU64,
    /// Bodies that replaced the first one; see `Tensor::replace_body`.
    #[expect(clippy::vec_box, reason = "readers hold addresses of the bodies")]
    pub(crate) bodies: Mutex<Vec<Box<Body>>>,
    /// How many edges of graphs lead here.
    pub(crate) edges: AtomicUsize,
    /// The accumulating node, while edges lead here.
    pub(crate) pinned: Mutex<Option<NodeRef>>,
    /// The engine's run and slot for this leaf, packed as in `Node::mark`.
    pub(crate) mark: AtomicU64,
    /// The leaf that this one, unpacked by a saved-tensor hook, stands for.
    pub(crate) stands_for: OnceLock<LeafRef>,
    /// The value and level of a batched tensor.
    pub(crate) batched: Mutex<Option<Batched>>,
    pub(crate) kept_host: Mutex<Option<Box<dyn HostObject>>>,
}
