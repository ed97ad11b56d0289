//! Autograd state of a tensor that most tensors never need; made on first use.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use parking_lot::Mutex;

use super::forward::Tangents;
use super::hooks::{LeafHook, TensorHook};
use super::leaf::LeafRef;
use super::node::{Node, NodeRef};
use crate::counted::{Counted, WeakCounted};
use crate::tensor::{DType, Successors, Tensor};
use crate::transforms::Batched;

/// Registered hooks with the ids their handles remove them by.
pub type Registered<H> = Vec<(u64, H)>;

/// The Python object of a tensor, while the tensor owns it.
///
/// An object that nobody refers to any more may carry something (attributes, a class of its own) that must be found
/// again when the graph returns the tensor. Ownership is then transferred: the tensor owns the object, not the object
/// the tensor.
pub trait PreservedObject: Send + Sync {
    /// The tensor is being dropped. `last` has its elements, for users who get a reference to the object at this
    /// moment.
    fn tensor_dropped(self: Box<Self>, last: Tensor);
}

impl Tensor {
    /// How many handles on this tensor there are.
    pub fn handle_count(&self) -> usize {
        Counted::strong_count(self.counted())
    }
    /// Makes the tensor own its object.
    pub fn preserve_object(&self, object: Box<dyn PreservedObject>) {
        let old = self.meta().preserved_object.lock().replace(object);
        drop(old);
    }
    /// Gives up the ownership of the object, if the tensor has it.
    pub fn take_preserved_object(&self) -> Option<Box<dyn PreservedObject>> {
        self.inner().meta.get()?.preserved_object.lock().take()
    }
}

#[derive(Default)]
pub struct Meta {
    pub(crate) grad: Mutex<Option<Tensor>>,
    /// The dtype gradients are cast to before they accumulate; `None` in the inner option accepts any.
    pub(crate) grad_dtype: Mutex<Option<Option<DType>>>,
    /// The node that accumulates into this leaf, while somebody holds it.
    pub(crate) accumulator: Mutex<Option<WeakCounted<Node>>>,
    /// Tensor hooks of a leaf. Those of other tensors live on their node.
    pub(crate) hooks: Mutex<Registered<std::sync::Arc<dyn TensorHook>>>,
    /// Hooks that run after a leaf accumulated.
    pub(crate) post_accumulate: Mutex<Registered<std::sync::Arc<dyn LeafHook>>>,
    /// Directional derivatives by forward level.
    pub(crate) tangents: Mutex<Tangents>,
    /// The forward level at which this view has a tangent, or none, of its own: a dual, or the primal of an unpacked
    /// one.
    pub(crate) dual_at: AtomicU64,
    /// Bodies that replaced the first one; see `Tensor::replace_body`.
    pub(crate) successors: Mutex<Successors>,
    /// How many edges of graphs lead here.
    pub(crate) edges: AtomicUsize,
    /// The accumulating node, while edges lead here.
    pub(crate) pinned: Mutex<Option<NodeRef>>,
    /// The engine's run and slot for this leaf, packed as in `Node::mark`.
    pub(crate) mark: AtomicU64,
    /// The leaf that this one, unpacked by a saved-tensor hook, replaces.
    pub(crate) stands_for: OnceLock<LeafRef>,
    /// The value and level of a batched tensor.
    pub(crate) batched: Mutex<Option<Batched>>,
    pub(crate) preserved_object: Mutex<Option<Box<dyn PreservedObject>>>,
}
