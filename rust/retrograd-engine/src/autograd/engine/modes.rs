//! The modes of the thread while a run is under way.

use super::super::mode::{self, GradGuard};
use super::super::saved::InForce;

/// What rules and hooks find: the modes and saved-tensor hooks of the call. What one of them leaves changed, the next
/// does not see, nor does the caller.
pub(super) struct Modes {
    found: u32,
    hooks: InForce,
    /// Puts them back when the run ends.
    _before: GradGuard,
}

const MODES: u32 = mode::GRAD | mode::INFERENCE;

impl Modes {
    pub fn enter(create_graph: bool) -> Self {
        let before = GradGuard::keeping(MODES);
        mode::set_grad_enabled(create_graph);
        Self { found: mode::word(), hooks: InForce::now(), _before: before }
    }
    pub fn again(&self) {
        self.hooks.again(mode::restore(MODES, self.found));
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        self.hooks.again(mode::word());
    }
}
