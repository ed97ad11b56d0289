//! The saved-tensor hooks that are in force on a thread.

use std::cell::RefCell;
use std::sync::Arc;

use super::SavedHooks;
use crate::autograd::mode;
use crate::error::{Error, Result};
use crate::kernels::thread_values::ThreadValue;

static HOOKS: ThreadValue<RefCell<Vec<Arc<dyn SavedHooks>>>> = ThreadValue::new(|| RefCell::new(Vec::new()));
/// Why no hooks may be set, if so.
static FORBIDDEN: ThreadValue<RefCell<Option<String>>> = ThreadValue::new(|| RefCell::new(None));

/// Passes every tensor that ops of this thread save from now on to `hooks`, until [`pop_hooks`].
pub fn push_hooks(hooks: Arc<dyn SavedHooks>) -> Result<()> {
    if let Some(why) = FORBIDDEN.with_borrow(Clone::clone) {
        return Err(Error::autograd(why));
    }
    HOOKS.with_borrow_mut(|all| all.push(hooks));
    mode::set(mode::SAVED_HOOKS, true);
    Ok(())
}

/// Puts the hooks in force that were so before the last [`push_hooks`].
pub fn pop_hooks() -> Result<()> {
    let (gone, left) = HOOKS.with_borrow_mut(|all| (all.pop(), all.len()));
    mode::set(mode::SAVED_HOOKS, left > 0);
    gone.map(drop).ok_or_else(|| Error::autograd("no saved-tensor hooks are in force"))
}

/// Forbids hooks on this thread for the reason given, which is the text of the error, or allows them. Returns the
/// reason before.
pub fn forbid_hooks(why: Option<String>) -> Result<Option<String>> {
    if let Some(why) = &why
        && HOOKS.with_borrow(|all| !all.is_empty())
    {
        return Err(Error::autograd(why.clone()));
    }
    Ok(FORBIDDEN.replace(why))
}

/// While it lives, no hooks are in force but those set meanwhile: hooks are not hooked.
pub(super) struct Suspended(Vec<Arc<dyn SavedHooks>>);

impl Suspended {
    pub fn new() -> Self {
        mode::set(mode::SAVED_HOOKS, false);
        Self(HOOKS.take())
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        let outer = std::mem::take(&mut self.0);
        mode::set(mode::SAVED_HOOKS, !outer.is_empty());
        let left = HOOKS.replace(outer);
        drop(left);
    }
}

/// The saved-tensor hooks of this thread, while another one continues for it; the mode word says whether there are any.
#[derive(Default)]
pub(in crate::autograd) struct Carried {
    hooks: Vec<Arc<dyn SavedHooks>>,
    forbidden: Option<String>,
}

impl Carried {
    pub fn exchange(&mut self) {
        self.hooks = HOOKS.replace(std::mem::take(&mut self.hooks));
        self.forbidden = FORBIDDEN.replace(self.forbidden.take());
    }
}

/// The hooks in force at one moment, to be put in force again.
pub(in crate::autograd) struct InForce(Vec<Arc<dyn SavedHooks>>);

impl InForce {
    pub fn now() -> Self {
        let any = mode::word() & mode::SAVED_HOOKS != 0;
        Self(if any { HOOKS.with_borrow(Clone::clone) } else { Vec::new() })
    }
    /// Undoes what was pushed and popped since, given the mode word.
    #[inline]
    pub fn again(&self, word: u32) {
        if self.0.is_empty() && word & mode::SAVED_HOOKS == 0 {
            return;
        }
        let same = |all: &Vec<Arc<dyn SavedHooks>>| {
            all.len() == self.0.len() && all.iter().zip(&self.0).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        if !HOOKS.with_borrow(same) {
            mode::set(mode::SAVED_HOOKS, !self.0.is_empty());
            let left = HOOKS.replace(self.0.clone());
            drop(left);
        }
    }
}

/// The hooks that were pushed last.
pub(super) fn innermost() -> Option<Arc<dyn SavedHooks>> {
    HOOKS.with_borrow(|all| all.last().cloned())
}
