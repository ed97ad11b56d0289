//! Closures that are recorded and replayed.

use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Returned;
use crate::engine::compile::{Program, Recording, Replayed, record};
use crate::tree::{Structure, Tree, flatten, template, unflatten};
use crate::{Result, site};

/// How many kinds of calls are replayed, and how many calls of one kind are recorded in the hope that two are alike.
const LIMIT: usize = 8;
const ATTEMPTS: u32 = 3;

/// Records what `f` does, and replays it.
///
/// The first two calls of a kind run as they are, and are recorded: every op, and those of backward passes and of
/// optimizers' steps. If both did the same, later calls of that kind are replayed: no graph is made, steps that nobody
/// needs are left out, runs of pointwise steps are taken together, and memory is planned. A call is of the kind if the
/// structure of its argument is the same, its tensors have the same sizes, strides, dtypes and `requires_grad`, and the
/// tensors that the closure captures are where they were.
///
/// What the closure does besides ops is not done at a replay. Other values that it captures, and constants in its
/// argument and result (`#[tree(skip)]`), are those of the first calls. A closure that reads elements (`item`,
/// `to_vec`) runs as it is; [`Compiled::given_up`] says why. Inside of transforms it runs as it is, too.
///
/// ```
/// use retrograd::{Tensor, func, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let f = func::compile(|(x, y): &(Tensor, Tensor)| x * y + 1.0);
/// for i in 0..4 {
///     let x = tensor![i as f64, 2.0];
///     assert_eq!(f.call(&(x, tensor![3.0, 4.0])).to_vec::<f64>()?, [3.0 * i as f64 + 1.0, 9.0]);
/// }
/// assert_eq!(f.programs(), 1);
/// assert!(f.explain().contains("mul"));
/// # Ok(())
/// # }
/// ```
pub fn compile<X: Tree, R: Returned, F: Fn(&X) -> R>(f: F) -> Compiled<X, R, F> {
    Compiled { f, state: Mutex::new(State::default()), of: PhantomData }
}

/// A closure that is recorded and replayed: see [`compile`].
pub struct Compiled<X, R: Returned, F> {
    f: F,
    state: Mutex<State<R::Value>>,
    of: PhantomData<fn(&X) -> R>,
}

/// A kind of calls that is replayed.
struct Kind<Y> {
    structure: Structure,
    program: Program,
    /// The result without tensors.
    y: Y,
}

/// A call that was recorded.
struct Pending {
    structure: Structure,
    result: Structure,
    recording: Recording,
    /// How many of its kind there were.
    attempts: u32,
}

struct State<Y> {
    kinds: Vec<Arc<Kind<Y>>>,
    pending: Vec<Pending>,
    given_up: Option<String>,
}

impl<Y> Default for State<Y> {
    fn default() -> Self {
        Self { kinds: Vec::new(), pending: Vec::new(), given_up: None }
    }
}

/// Ends a recording that was not ended.
struct Abandoned;

impl Drop for Abandoned {
    fn drop(&mut self) {
        record::abandon();
    }
}

impl<X: Tree, R: Returned, F: Fn(&X) -> R> Compiled<X, R, F> {
    /// What the closure returns.
    ///
    /// # Errors
    /// Those of the closure, and of the ops at a replay: as the closure returns them, see [`Returned`].
    #[track_caller]
    pub fn call(&self, x: &X) -> R::With<R::Value> {
        site::here();
        R::give(self.run(x))
    }

    /// How many kinds of calls are replayed.
    pub fn programs(&self) -> usize {
        self.state().kinds.len()
    }

    /// Why the closure runs as it is, if it is not recorded any more.
    pub fn given_up(&self) -> Option<String> {
        self.state().given_up.clone()
    }

    /// What a replay does, as text: for each kind of calls its argument and the steps, one per line.
    pub fn explain(&self) -> String {
        let (kinds, given_up) = {
            let state = self.state();
            (state.kinds.clone(), state.given_up.clone())
        };
        let mut text = String::new();
        if let Some(why) = given_up {
            let _ = writeln!(text, "runs as it is: {why}");
        } else if kinds.is_empty() {
            text.push_str("no kind of calls is replayed as yet: two that do the same are recorded first\n");
        }
        for kind in kinds {
            let (steps, recorded) = kind.program.steps();
            let (blocks, arena) = (kind.program.in_blocks(), kind.program.arena());
            let _ = writeln!(
                text,
                "of {}: {steps} of {recorded} steps, {blocks} of them in blocks, {arena} bytes planned",
                kind.structure
            );
            for (name, operands) in kind.program.explain() {
                let _ = writeln!(text, "  {name} {}", operands.join(", "));
            }
        }
        text
    }

    /// A panic of the closure leaves the state as it was.
    fn state(&self) -> MutexGuard<'_, State<R::Value>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, x: &X) -> Result<R::Value> {
        let plainly = || (self.f)(x).into_result();
        let (inputs, structure) = (flatten(x), x.structure());
        let kinds = self.state().kinds.clone();
        for kind in kinds.iter().filter(|kind| kind.structure == structure) {
            match kind.program.replay(&inputs, &[])? {
                Replayed::Done(results) => return unflatten(&kind.y, results),
                Replayed::Busy => return plainly(),
                Replayed::Other => {}
            }
        }
        if self.state().given_up.is_some() || !record::modes_allow() {
            return plainly();
        }
        record::begin(&inputs);
        let abandoned = Abandoned;
        let y = plainly()?;
        let recorded = record::end(&flatten(&y));
        std::mem::forget(abandoned);
        let mut state = self.state();
        match recorded {
            Ok(recording) => state.take(Pending { structure, result: y.structure(), recording, attempts: 1 }, &y)?,
            Err(refusal) => state.give_up(refusal.why),
        }
        Ok(y)
    }
}

impl<Y: Tree> State<Y> {
    fn give_up(&mut self, why: String) {
        *self = Self { given_up: Some(why), ..Self::default() };
    }

    /// Makes a program of a call and an earlier one that is like it.
    fn take(&mut self, call: Pending, y: &Y) -> Result<()> {
        let is_like =
            |before: &Pending| before.structure == call.structure && call.recording.has_inputs_of(&before.recording);
        let Some(at) = self.pending.iter().position(is_like) else {
            if self.pending.len() >= LIMIT {
                self.give_up(format!("{LIMIT} calls in a row were of different kinds"));
            } else {
                self.pending.push(call);
            }
            return Ok(());
        };
        let before = self.pending.swap_remove(at);
        let difference = match call.recording.differs(&before.recording) {
            Err(how) => Some(how),
            Ok(numbers) if !numbers.is_empty() => Some("a number among operands was another one".into()),
            Ok(_) if before.result != call.result => Some("the results were structured otherwise".into()),
            Ok(_) => None,
        };
        match difference {
            None if self.kinds.len() >= LIMIT => {
                self.give_up(format!("{LIMIT} kinds of calls were recorded, and this one is another"));
            }
            None => {
                let program = Program::new(call.recording, &[])?;
                self.kinds.push(Arc::new(Kind { structure: call.structure, program, y: template(y)? }));
            }
            Some(how) if before.attempts + 1 >= ATTEMPTS => self.give_up(format!("no two calls did the same: {how}")),
            Some(_) => self.pending.push(Pending { attempts: before.attempts + 1, ..call }),
        }
        Ok(())
    }
}
