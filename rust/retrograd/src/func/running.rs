//! The time of a transform on a thread.

use std::sync::Arc;

use crate::Result;
use crate::engine::Tensor;
use crate::engine::autograd::{forward, mode};
use crate::engine::transforms;

/// A transform that runs a function on this thread, until it is dropped: modes are then as they were before, also where
/// the function panics.
pub(super) struct Running {
    /// How many transforms were under way before, if this one counts among them.
    before: Option<usize>,
    word: u32,
    forward: Option<bool>,
}

impl Running {
    /// A transform that records what its function does. It may write in place to what it makes and to `given`; with
    /// `None` to anything. Also says whether ops record outside.
    pub fn reversing(given: Option<&[Tensor]>) -> (Self, bool) {
        Self::new(Some(given), true, false)
    }

    /// As [`Running::reversing`], of a transform that moves the arguments of its function.
    pub fn pushing(given: &[Tensor]) -> Self {
        Self::new(Some(Some(given)), false, true).0
    }

    /// A time without inference mode, in which ops record if they do outside; says whether they do.
    pub fn out_of_inference() -> (Self, bool) {
        Self::new(None, false, false)
    }

    fn new(begins: Option<Option<&[Tensor]>>, records: bool, propagates: bool) -> (Self, bool) {
        let before = begins.map(|given| transforms::begin(given.map(is_given)));
        let forward = propagates.then(|| forward::set_enabled(true));
        let word = mode::set(mode::INFERENCE, false);
        let outside = mode::records(word);
        mode::set(mode::GRAD, records || outside);
        (Self { before, word, forward }, outside)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        mode::restore(mode::INFERENCE | mode::GRAD, self.word);
        if let Some(on) = self.forward {
            forward::set_enabled(on);
        }
        if let Some(before) = self.before {
            transforms::end(before);
        }
    }
}

/// Whether a tensor shares memory with one of `given`.
fn is_given(given: &[Tensor]) -> transforms::IsGiven {
    let given = given.to_vec();
    Arc::new(move |t: &Tensor| -> Result<bool> { Ok(given.iter().any(|x| x.storage_key() == t.storage_key())) })
}
