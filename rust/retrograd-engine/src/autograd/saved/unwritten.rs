//! Saved tensors that nobody wrote to, for who runs several rules together.

use super::super::node::NodeRef;
use super::{Saved, SavedSlots, Slots};
use crate::error::Result;
use crate::tensor::Tensor;

impl SavedSlots {
    /// Whether the node may use the values, all are tensors of which this holds, and nobody wrote to one since.
    pub(in super::super) fn hold_only(&self, holds: &dyn Fn(&Tensor) -> bool) -> bool {
        let is_fresh = |saved: &Saved| {
            saved.tensor_and_version().is_some_and(|(tensor, version)| tensor.version() == version && holds(tensor))
        };
        match &*self.0.lock() {
            Slots::Held { values, claimed: false, .. } => values.iter().flatten().all(is_fresh),
            Slots::Held { .. } | Slots::Freed { .. } => false,
        }
    }
    /// The error of values that somebody wrote to, also while a run has them.
    pub(in super::super) fn check_versions(&self, node: &NodeRef) -> Result<()> {
        let values = match &*self.0.lock() {
            Slots::Held { values, .. } => values.clone(),
            Slots::Freed { .. } => return Ok(()),
        };
        let is_stale = |saved: &Saved| saved.tensor_and_version().is_some_and(|(x, version)| x.version() != version);
        match values.iter().enumerate().find_map(|(slot, v)| v.as_ref().filter(|v| is_stale(v)).map(|v| (slot, v))) {
            Some((slot, saved)) => Err(saved.stale(node, slot)),
            None => Ok(()),
        }
    }
}
