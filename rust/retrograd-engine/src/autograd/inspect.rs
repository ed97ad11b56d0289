//! What a graph holds, seen from outside: no saved tensor is unpacked, and nobody gets a handle on anything, so neither
//! lifetimes nor counts change.

use super::meta::Meta;
use super::node::{Edge, Node, OutMeta};
use super::saved::{SavedSlots, Seen};
use crate::call_site::CallSite;
use crate::counted::Counted;
use crate::storage::reclaim::reading;
use crate::tensor::{DType, Dims, Inner, Tensor};

/// The counts in front of what a [`Counted`] refers to.
const COUNTS: usize = size_of::<u64>();

/// A tensor in numbers.
#[derive(Clone, Debug)]
pub struct TensorFacts {
    /// As [`Tensor::id`].
    pub id: usize,
    /// As [`Tensor::handle_count`].
    pub handles: usize,
    /// Bytes of the tensor without its elements.
    pub own_bytes: usize,
    /// The address of the storage's memory, which several storages have in common if another library shares it; of a
    /// storage without bytes, that of the storage.
    pub memory: usize,
    /// Bytes of the storage.
    pub storage_bytes: usize,
    /// How many tensors are over the storage.
    pub sharers: usize,
    /// Whether the memory is another library's.
    pub is_foreign: bool,
    pub sizes: Dims,
    pub dtype: DType,
    pub requires_grad: bool,
    /// Whether it stands for a number of the host language.
    pub is_number: bool,
    pub version: u32,
    /// Where the last write in place was made.
    pub written: CallSite,
    /// What the tensor is a view of.
    pub base: Option<Box<TensorFacts>>,
}

impl TensorFacts {
    pub fn of(t: &Tensor) -> Self {
        let (memory, storage_bytes, sharers, is_foreign) = {
            let reading = reading();
            let (_, storage) = t.memory(&reading);
            let bytes = storage.bytes();
            let memory = if bytes == 0 { Counted::as_ptr(&storage).addr() } else { storage.ptr().addr() };
            (memory, bytes, Counted::strong_count(&storage), storage.is_foreign())
        };
        let meta = if t.inner().meta.get().is_some() { size_of::<Meta>() } else { 0 };
        Self {
            id: t.id(),
            handles: t.handle_count(),
            own_bytes: COUNTS + size_of::<Inner>() + meta,
            memory,
            storage_bytes,
            sharers,
            is_foreign,
            sizes: Dims::from_slice(t.sizes()),
            dtype: t.dtype(),
            requires_grad: t.requires_grad(),
            is_number: t.is_number(),
            version: t.version(),
            written: t.last_write(),
            base: t.base().map(|base| Box::new(Self::of(base))),
        }
    }
}

/// What is in a slot for a saved tensor.
#[derive(Clone, Debug)]
pub enum SlotFacts {
    /// A tensor; `output` says which output of the node it is, if it is one.
    Tensor { tensor: TensorFacts, output: Option<u32> },
    /// What a hook made of one.
    Packed,
}

impl Node {
    /// Larger than those of all nodes that this one leads to, whatever [`Node::sequence_nr`] was set to.
    pub fn number(&self) -> u64 {
        self.seq
    }
    /// Bytes of the node without what it saved.
    pub fn own_bytes(&self) -> usize {
        let spilled = |yes: bool, count: usize, each: usize| if yes { count * each } else { 0 };
        COUNTS
            + size_of_val(self)
            + spilled(self.edges.spilled(), self.edges.capacity(), size_of::<Option<Edge>>())
            + spilled(self.outputs.spilled(), self.outputs.capacity(), size_of::<OutMeta>())
            + self.rule().saved_slots().map_or(0, SavedSlots::spilled_bytes)
    }
    /// What the node saved, by slot.
    pub fn saved_facts(&self) -> Vec<(usize, SlotFacts)> {
        let mut facts = Vec::new();
        if let Some(saved) = self.rule().saved_slots() {
            saved.each(|slot, seen| {
                facts.push(match seen {
                    Seen::Tensor(tensor, output) => {
                        (slot, SlotFacts::Tensor { tensor: TensorFacts::of(tensor), output })
                    }
                    Seen::Packed => (slot, SlotFacts::Packed),
                });
            });
        }
        facts
    }
}
