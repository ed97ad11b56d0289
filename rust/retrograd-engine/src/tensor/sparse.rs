//! Sparse tensors: which elements are not zero, and what they are, in place of a memory with all of them.
//!
//! A sparse tensor is a tensor like any other: its dtype, sizes, history and flags are where those of others are. Its
//! storage has no bytes, and holds an [`Elements`] instead: ordinary tensors of indices and values, without history,
//! which ops on sparse tensors compute with. Whoever shares the storage (`detach()`, a saved tensor) shares these.
//!
//! The layout of such a tensor has the bit `sparse` among its [`LazyBits`], and strides of 0. Everything that reads
//! elements asks for the bit, or asks the storage for room that it does not have: `operands.rs` for ops, `plain_over`
//! for views, `check_read` for who leaves the engine.

use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};

use super::layout::{Dims, checked_numel};
use super::{Body, LazyBits, Tensor, lazy};
use crate::counted::Counted;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::Storage;
use crate::storage::reclaim::{Shared, reading};
use crate::transforms::check_read;

/// How a tensor keeps its elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Layout {
    /// All of them in memory, with strides.
    #[default]
    Strided,
    /// Those that are given, each with its indices.
    SparseCoo,
    /// Those that are given, row by row, each with its column.
    SparseCsr,
}

impl Layout {
    pub const ALL: [Self; 3] = [Self::Strided, Self::SparseCoo, Self::SparseCsr];

    pub fn name(self) -> &'static str {
        match self {
            Self::Strided => "strided",
            Self::SparseCoo => "sparse_coo",
            Self::SparseCsr => "sparse_csr",
        }
    }
    /// torch's name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Strided => "Strided",
            Self::SparseCoo => "Sparse",
            Self::SparseCsr => "SparseCsr",
        }
    }
}

/// Entries with their indices.
#[derive(Clone, Debug)]
pub struct Coo {
    /// Int64, a row for each of the first axes of the tensor, a column for each entry.
    pub indices: Tensor,
    /// The entries: their number, then the sizes of the other axes of the tensor.
    pub values: Tensor,
    /// Whether the indices are known to be in order, and different.
    pub coalesced: bool,
}

/// Entries row by row.
#[derive(Clone, Debug)]
pub struct Csr {
    /// Where the entries of each row begin, and where the last ones end.
    pub crow: Tensor,
    pub col: Tensor,
    pub values: Tensor,
}

/// The elements of a sparse tensor that are given; others are zero.
#[derive(Clone, Debug)]
pub enum Elements {
    Coo(Coo),
    Csr(Csr),
}

impl Elements {
    pub fn values(&self) -> &Tensor {
        match self {
            Self::Coo(coo) => &coo.values,
            Self::Csr(csr) => &csr.values,
        }
    }
    /// How many entries there are.
    pub fn nnz(&self) -> usize {
        self.values().sizes()[0]
    }
    fn layout(&self) -> Layout {
        match self {
            Self::Coo(_) => Layout::SparseCoo,
            Self::Csr(_) => Layout::SparseCsr,
        }
    }
    fn parts(&mut self) -> SmallVec<[&mut Tensor; 3]> {
        match self {
            Self::Coo(Coo { indices, values, .. }) => smallvec![indices, values],
            Self::Csr(Csr { crow, col, values }) => smallvec![crow, col, values],
        }
    }
}

/// What the storage of a sparse tensor holds. Ops in place replace all of it.
struct Held(Mutex<Elements>);

/// Refuses a sparse tensor where its elements in memory are asked for.
#[inline]
pub fn check_strided(op: &'static str, x: &Tensor) -> Result<()> {
    if x.is_sparse() { Err(refused(op, &[x])) } else { Ok(()) }
}

/// The error of an op that does not take the sparse one among its operands.
#[cold]
pub(crate) fn refused(op: &'static str, xs: &[&Tensor]) -> Error {
    let csr = xs.iter().any(|x| x.layout() == Layout::SparseCsr);
    ErrorKind::Sparse { op, backend: if csr { "SparseCsrCPU" } else { "SparseCPU" } }.into()
}

impl Tensor {
    /// Whether the tensor is sparse, in whichever layout.
    #[inline]
    pub fn is_sparse(&self) -> bool {
        self.lazy_bits().sparse
    }
    /// How the tensor keeps its elements.
    pub fn layout(&self) -> Layout {
        self.elements().map_or(Layout::Strided, |e| e.layout())
    }
    /// The elements of a sparse tensor.
    pub fn elements(&self) -> Option<Elements> {
        if !self.is_sparse() {
            return None;
        }
        let reading = reading();
        let (_, storage) = self.memory(&reading);
        storage.elements::<Held>().map(|held| held.0.lock().clone())
    }
    /// The entries of a tensor that must be in coordinates.
    pub(crate) fn coo(&self, op: &'static str) -> Result<Coo> {
        match self.elements() {
            Some(Elements::Coo(coo)) => Ok(coo),
            other => Err(unexpected(op, "coordinate ", other)),
        }
    }
    /// The entries of a matrix that must be kept by rows.
    pub fn csr(&self, op: &'static str) -> Result<Csr> {
        match self.elements() {
            Some(Elements::Csr(csr)) => Ok(csr),
            other => Err(unexpected(op, "row compressed ", other)),
        }
    }

    /// A sparse tensor of these sizes, without history. That the parts fit the sizes is checked by the caller.
    pub(crate) fn sparse(sizes: &[usize], mut elements: Elements) -> Result<Self> {
        let numel = checked_numel("sparse_tensor", sizes)?;
        for part in elements.parts() {
            check_read("sparse_tensor", part)?;
            *part = part.resolved()?.alias();
        }
        lazy::announce();
        Ok(Self::new(Body {
            dtype: elements.values().dtype(),
            bits: LazyBits { sparse: true, ..LazyBits::NONE },
            contiguous: false,
            numel,
            offset: 0,
            sizes: Dims::from_slice(sizes),
            strides: smallvec![0; sizes.len()],
            storage: Shared::new(Storage::without_bytes(Box::new(Held(Mutex::new(elements))))),
            version: Shared::none(),
        }))
    }

    /// Whether nobody else has the tensor, nor its indices and values.
    pub(crate) fn owns_elements(&self) -> bool {
        let reading = reading();
        let (_, storage) = self.memory(&reading);
        let alone = Counted::strong_count(self.counted()) == 1
            && Counted::strong_count(&storage) == 1
            && self.object_slot().load(Ordering::Relaxed).is_null();
        alone
            && storage
                .elements::<Held>()
                .is_some_and(|held| held.0.lock().parts().iter().all(|part| part.is_unshared()))
    }
    /// Takes the elements of another sparse tensor of the same sizes and dtype in place of its own.
    pub(crate) fn take_elements(&self, op: &'static str, other: &Tensor) -> Result<()> {
        let new = other.elements().filter(|e| e.values().dtype() == self.dtype() && e.layout() == self.layout());
        let Some(new) = new else { return Err(refused(op, &[self])) };
        let reading = reading();
        let (_, storage) = self.memory(&reading);
        let held = storage.elements::<Held>().map(|held| std::mem::replace(&mut *held.0.lock(), new));
        drop(held);
        Ok(())
    }
}

#[cold]
fn unexpected(op: &'static str, kind: &str, got: Option<Elements>) -> Error {
    let got = got.map_or(Layout::Strided, |e| e.layout()).title();
    Error::autograd(format!("{op} expected sparse {kind}tensor layout but got {got}"))
}
