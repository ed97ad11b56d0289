//! Closures that are recorded and replayed.

use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Returned;
use crate::engine::compile::{Call, Kind, Kinds, Replayed, Times, modes_allow, recorded};
use crate::tree::{Structure, Tree, flatten, template, unflatten};
use crate::{Result, site};

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
/// assert!(f.explain_call(&(tensor![1.0, 2.0], tensor![3.0, 4.0]))?.contains(" us\n"));
/// # Ok(())
/// # }
/// ```
pub fn compile<X: Tree, R: Returned, F: Fn(&X) -> R>(f: F) -> Compiled<X, R, F> {
    Compiled { f, kinds: Mutex::default(), of: PhantomData }
}

/// A closure that is recorded and replayed: see [`compile`].
pub struct Compiled<X, R: Returned, F> {
    f: F,
    /// By the structure of the argument, each with the result without tensors.
    kinds: Mutex<Kinds<Structure, R::Value>>,
    of: PhantomData<fn(&X) -> R>,
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
        self.kinds().replayed().len()
    }

    /// Why the closure runs as it is, if it is not recorded any more.
    pub fn given_up(&self) -> Option<String> {
        self.kinds().given_up().map(str::to_owned)
    }

    /// What a replay does, as text: for each kind of calls its argument and the steps, one per line, with their
    /// operands and results, the bytes that they read and write, and which of them are taken together, block by block.
    pub fn explain(&self) -> String {
        self.explained(|kind, title| Ok(kind.program.explain(title, None))).unwrap_or_default()
    }

    /// As [`explain`](Self::explain); calls the closure once more, as [`call`](Self::call) does, and shows how many
    /// microseconds each step of the replay took, if the call is one.
    ///
    /// # Errors
    /// Those of the call.
    #[track_caller]
    pub fn explain_call(&self, x: &X) -> Result<String> {
        site::here();
        let (inputs, arguments) = (flatten(x), x.structure());
        let mut is_replayed = false;
        let text = self.explained(|kind, title| {
            let mut times = Times::default();
            if !is_replayed && kind.arguments == arguments {
                is_replayed = matches!(kind.program.timed(&inputs, &[], &mut times)?, Replayed::Done(_));
                return Ok(kind.program.explain(title, is_replayed.then_some(&times)));
            }
            Ok(kind.program.explain(title, None))
        })?;
        if is_replayed {
            return Ok(text);
        }
        self.run(x)?;
        Ok(self.explain())
    }

    fn explained(&self, mut of: impl FnMut(&Kind<Structure, R::Value>, &str) -> Result<String>) -> Result<String> {
        let (kinds, given_up) = {
            let kinds = self.kinds();
            (kinds.replayed().to_vec(), kinds.given_up().map(str::to_owned))
        };
        let mut text = String::new();
        if let Some(why) = given_up {
            let _ = writeln!(text, "runs as it is: {why}");
        } else if kinds.is_empty() {
            text.push_str("no kind of calls is replayed as yet: two that do the same are recorded first\n");
        }
        for kind in kinds {
            let _ = writeln!(text, "{}", of(&kind, &format!("of {}", kind.arguments))?);
        }
        Ok(text)
    }

    /// A panic of the closure leaves the kinds as they were.
    fn kinds(&self) -> MutexGuard<'_, Kinds<Structure, R::Value>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, x: &X) -> Result<R::Value> {
        let plainly = || (self.f)(x).into_result();
        let (inputs, arguments) = (flatten(x), x.structure());
        let kinds = self.kinds().replayed().to_vec();
        for kind in kinds.iter().filter(|kind| kind.arguments == arguments) {
            match kind.program.replay(&inputs, &[])? {
                Replayed::Done(results) => return unflatten(&kind.rest, results),
                Replayed::Busy => return plainly(),
                Replayed::Other => {}
            }
        }
        if self.given_up().is_some() || !modes_allow() {
            return plainly();
        }
        let (y, recording) = recorded(&inputs, plainly, flatten)?;
        let mut kinds = self.kinds();
        match recording {
            Ok(recording) => {
                kinds.take(Call { arguments, results: y.structure(), recording }, || template(&y))?;
            }
            Err(refusal) => kinds.give_up(refusal.why),
        }
        Ok(y)
    }
}
