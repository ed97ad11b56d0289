//! The stack of batch levels of a thread.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::autocast;
use crate::autograd::mode::{self, GradGuard};
use crate::error::{Error, Result};
use crate::kernels::thread_values::ThreadValue;
use crate::tensor::Tensor;

/// What random numbers do in a function that is mapped over a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Randomness {
    /// They are refused.
    Error,
    /// Every entry gets the same.
    Same,
    /// Every entry gets its own.
    Different,
}

/// A batch that a function is mapped over.
#[derive(Debug)]
pub struct Level {
    /// Larger than that of every level outside this one.
    id: u64,
    size: usize,
    randomness: Randomness,
    private: bool,
    /// How many other transforms were under way when it was opened.
    around: usize,
}

impl Level {
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn randomness(&self) -> Randomness {
        self.randomness
    }
    /// Of a batch of gradients or tangents, which no function is mapped over.
    pub fn is_private(&self) -> bool {
        self.private
    }
    /// Whether a transform other than `vmap` began inside this level, and is under way.
    pub fn is_around_others(&self) -> bool {
        super::count() > self.around
    }
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

/// Ids are never used again.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A level on the stack.
struct Entry {
    level: Arc<Level>,
    /// How many rules run that ops must not see this level from: those of ops at it or outside it.
    hidden: u32,
}

thread_local! {
    /// Position of the level whose rule runs.
    static RULE: Cell<Option<usize>> = const { Cell::new(None) };
}
static OPEN: ThreadValue<RefCell<Vec<Entry>>> = ThreadValue::new(|| RefCell::new(Vec::new()));
/// Closed levels with tensors that are still there.
static ESCAPED: ThreadValue<RefCell<Vec<Weak<Level>>>> = ThreadValue::new(|| RefCell::new(Vec::new()));

/// The stack of this thread, while another one continues for it; the mode word has the rest.
#[derive(Default)]
pub(super) struct Carried {
    open: Vec<Entry>,
    escaped: Vec<Weak<Level>>,
    rule: Option<usize>,
}

impl Carried {
    pub fn exchange(&mut self) {
        self.open = OPEN.replace(std::mem::take(&mut self.open));
        self.escaped = ESCAPED.replace(std::mem::take(&mut self.escaped));
        self.rule = RULE.replace(self.rule);
    }
}

/// Sets the mode bit by which ops know that there may be batched tensors.
fn update_mode() {
    let escaped = ESCAPED.with_borrow_mut(|all| {
        all.retain(|level| level.strong_count() > 0);
        !all.is_empty()
    });
    mode::set(mode::TRANSFORM, escaped || depth() > 0);
}

/// How many levels are open on this thread.
pub fn depth() -> usize {
    OPEN.with_borrow(Vec::len)
}

fn push(size: usize, randomness: Randomness, private: bool) -> usize {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let level = Level { id, size, randomness, private, around: super::count() };
    OPEN.with_borrow_mut(|all| all.push(Entry { level: Arc::new(level), hidden: 0 }));
    update_mode();
    depth()
}

/// Opens a level inside those that are open, for a batch of `size`; returns its number, from 1 on.
pub fn enter(size: usize, randomness: Randomness) -> usize {
    push(size, randomness, false)
}

/// Opens a level for gradients or tangents only: the function runs unbatched, so every entry sees the same random
/// numbers, unless they are to be refused.
pub fn enter_private(size: usize, randomness: Randomness) -> usize {
    push(size, randomness, true)
}

/// Closes the innermost level, whose number must be `number`.
pub fn exit(number: usize) -> Result<()> {
    if number != depth() {
        return Err(Error::autograd(format!(
            "vmap: level {number} cannot be closed, {} are open: levels are closed from the innermost on",
            depth()
        )));
    }
    let Some(Entry { level: closed, .. }) = OPEN.with_borrow_mut(Vec::pop) else { return Ok(()) };
    if Arc::strong_count(&closed) > 1 {
        ESCAPED.with_borrow_mut(|all| all.push(Arc::downgrade(&closed)));
    }
    drop(closed);
    update_mode();
    Ok(())
}

/// The open level with this number.
pub fn level(number: usize) -> Result<Arc<Level>> {
    let found = OPEN.with_borrow(|all| number.checked_sub(1).and_then(|at| all.get(at)).map(|open| open.level.clone()));
    found.ok_or_else(|| Error::autograd(format!("vmap: there is no level {number}, {} are open", depth())))
}

/// An open level; it closes when this is dropped, with those inside it.
#[must_use = "the level closes when this is dropped"]
pub struct Open {
    number: usize,
}

impl Open {
    pub fn new(size: usize, randomness: Randomness) -> Self {
        Self::numbered(enter(size, randomness))
    }
    /// As [`enter_private`].
    pub fn private(size: usize) -> Self {
        Self::numbered(enter_private(size, Randomness::Same))
    }
    fn numbered(number: usize) -> Self {
        Self { number }
    }
    /// The level, as long as it is open. Whoever holds it then counts as a tensor that escaped.
    pub fn level(&self) -> Arc<Level> {
        level(self.number).expect("open while this lives")
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        while depth() >= self.number {
            if exit(depth()).is_err() {
                return;
            }
        }
    }
}

/// The levels that ops see, from the outermost on.
pub(super) fn visible() -> Vec<Arc<Level>> {
    OPEN.with_borrow(|all| all.iter().filter(|open| open.hidden == 0).map(|open| open.level.clone()).collect())
}

/// Number of an open level.
pub(super) fn number_of(level: &Level) -> Option<usize> {
    OPEN.with_borrow(|all| all.iter().position(|open| open.level.id == level.id)).map(|at| at + 1)
}

fn hide(from: usize, to: usize, by: i32) {
    OPEN.with_borrow_mut(|all| {
        let to = to.min(all.len());
        for open in all.get_mut(from..to).into_iter().flatten() {
            open.hidden = open.hidden.saturating_add_signed(by);
        }
    });
}

/// Hides the level with this number, and those inside it, from ops; levels opened later are seen. Returns how many are
/// open, for [`unhide`].
pub fn hide_from(number: usize) -> usize {
    let to = depth();
    hide(number.saturating_sub(1), to, 1);
    to
}

/// Ends what [`hide_from`] began.
pub fn unhide(number: usize, to: usize) {
    hide(number.saturating_sub(1), to, -1);
}

/// Hides a level and those inside it while it lives: the rule of an op at that level runs.
pub(super) struct InRule {
    from: usize,
    to: usize,
    before: Option<usize>,
    _below: GradGuard,
}

impl InRule {
    pub fn at(level: &Level) -> Result<Self> {
        let number = number_of(level).ok_or_else(escaped)?;
        let (to, before) = (hide_from(number), RULE.replace(Some(number - 1)));
        Ok(Self { from: number, to, before, _below: autocast::below() })
    }
    /// The level whose rule runs.
    pub fn current() -> Option<Arc<Level>> {
        let at = RULE.get()?;
        OPEN.with_borrow(|all| all.get(at).map(|open| open.level.clone()))
    }
}

impl Drop for InRule {
    fn drop(&mut self) {
        unhide(self.from, self.to);
        RULE.set(self.before);
    }
}

#[cold]
fn escaped() -> Error {
    Error::autograd(
        "vmap: your tensor may have escaped from inside a function being vmapped and this is a user error: it left the \
         function other than as its result, and is used after the end of that vmap. Return it from the function",
    )
}

/// The innermost level among those that the tensors are batched at.
pub(crate) fn innermost(xs: &[&Tensor]) -> Result<Option<Arc<Level>>> {
    let mut found: Option<Arc<Level>> = None;
    for level in xs.iter().filter_map(|x| x.batch_level()) {
        if found.as_ref().is_none_or(|f| f.id < level.id) {
            found = Some(level);
        }
    }
    match &found {
        Some(level) if number_of(level).is_none() => Err(escaped()),
        None if depth() == 0 => {
            // The last escaped tensor may be gone.
            update_mode();
            Ok(None)
        }
        _ => Ok(found),
    }
}
