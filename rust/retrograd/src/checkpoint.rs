//! Checkpointing: compute again in the backward pass what the forward pass would have saved.

mod region;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::engine::autograd::{forward, mode, saved};
use crate::engine::{autocast, transforms};
use crate::func::Returned;
use crate::random_state::RandomState;
use crate::tree::{Tree, flatten, template, unflatten};
use crate::{Error, Result, site};
use region::{Hooks, How, Region};

/// Options of [`checkpoint_with`].
#[derive(Clone, Debug)]
pub struct CheckpointOptions {
    preserve_rng_state: bool,
    determinism_check: bool,
    early_stop: bool,
}

impl CheckpointOptions {
    /// Whether the function draws the same random numbers again; by default it does.
    #[must_use]
    pub fn preserve_rng_state(self, on: bool) -> Self {
        Self { preserve_rng_state: on, ..self }
    }
    /// Whether sizes and dtypes of the tensors saved each time are compared; by default they are. Their number always
    /// is.
    #[must_use]
    pub fn determinism_check(self, on: bool) -> Self {
        Self { determinism_check: on, ..self }
    }
    /// Whether a second call ends as soon as it has saved what the first one did; by default it does. It ends by
    /// unwinding, without a message; a program that aborts on panics calls the function to its end.
    #[must_use]
    pub fn early_stop(self, on: bool) -> Self {
        Self { early_stop: on, ..self }
    }
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        Self { preserve_rng_state: true, determinism_check: true, early_stop: true }
    }
}

/// Calls `f(x)` so that the graph keeps `x`, and not what is computed on the way.
///
/// When the backward pass needs a tensor that the graph would have saved, `f` is called again, once per pass, with the
/// random numbers of the first call; each tensor is freed as soon as it was used. This trades time for memory. `f` must
/// do the same again. The tensors of `x` may not be changed in place in between; what `f` captures it captures by
/// `move`, and parameters among that get their gradients, too. Every kind of backward pass works, and checkpoints nest.
/// Without grad mode this is a plain call.
///
/// # Errors
/// Those of `f`, and for batched tensors: as `f` returns them, see [`Returned`]. In the backward pass, if `f` did not
/// do the same again, and what `f` itself raises then.
///
/// ```
/// use retrograd::{Tensor, checkpoint};
///
/// # fn main() -> retrograd::Result<()> {
/// let x = Tensor::from(2.0).requires_grad_(true);
/// let y = checkpoint(|x: &Tensor| x * x * x, &x);
/// y.backward()?;
/// assert_eq!(x.grad().unwrap().item::<f64>()?, 12.0);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn checkpoint<X, R>(f: impl Fn(&X) -> R + Send + Sync + 'static, x: &X) -> R::With<R::Value>
where
    X: Tree + Send + Sync + 'static,
    R: Returned,
{
    checkpoint_with(f, x, |options| options)
}

/// As [`checkpoint`], with options.
///
/// ```
/// use retrograd::{Tensor, checkpoint_with, tensor};
///
/// # fn main() -> retrograd::Result<()> {
/// let y = checkpoint_with(|x: &Tensor| x * x, &tensor![1.0, 2.0], |o| o.preserve_rng_state(false));
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn checkpoint_with<X, R>(
    f: impl Fn(&X) -> R + Send + Sync + 'static,
    x: &X,
    options: impl FnOnce(CheckpointOptions) -> CheckpointOptions,
) -> R::With<R::Value>
where
    X: Tree + Send + Sync + 'static,
    R: Returned,
{
    site::here();
    R::give(checkpointed(f, x, &options(CheckpointOptions::default())))
}

fn checkpointed<X, R>(
    f: impl Fn(&X) -> R + Send + Sync + 'static,
    x: &X,
    options: &CheckpointOptions,
) -> Result<R::Value>
where
    X: Tree + Send + Sync + 'static,
    R: Returned,
{
    if !mode::records(mode::word()) {
        return f(x).into_result();
    }
    let tensors = flatten(x);
    if tensors.iter().any(|t| t.is_batched()) {
        return Err(Error::autograd(
            "checkpoint: what is saved of a function mapped by vmap is that of all entries at once. Put the checkpoint \
             around the vmap.",
        ));
    }
    // Of a function that draws no numbers there is no state to repeat; whether it does is known after the first call.
    let random = options.preserve_rng_state.then(|| Arc::new((RandomState::now(), AtomicBool::new(true))));
    let (f, like, settings) = (Arc::new(f), template(x)?, autocast::settings());
    let again = {
        let (f, levels, random) = (f.clone(), Levels::now(), random.clone());
        move |tensors| {
            let _levels = levels.again();
            let random = random.as_ref().filter(|random| random.1.load(Relaxed));
            let _random = random.map(|random| random.0.exchange()).transpose()?;
            let _autocast = autocast::Guard::new(settings);
            f(&unflatten(&like, tensors)?).into_result().map(drop)
        }
    };
    let how = How { compares: options.determinism_check, early_stop: options.early_stop };
    let region = Region::new(Box::new(again), tensors, how)?;
    let y = {
        let _hooks = Hooked::new(Hooks::first(&region))?;
        f(x).into_result()?
    };
    region.complete();
    if let Some(random) = random {
        random.1.store(random.0 != RandomState::now(), Relaxed);
    }
    Ok(y)
}

/// How many levels of batches and of tangents were open at the call.
struct Levels {
    batches: usize,
    tangents: usize,
}

impl Levels {
    fn now() -> Self {
        Self { batches: transforms::depth(), tangents: forward::depth() }
    }
    /// Hides those that were opened since: the function did not see them, and a pass may run in levels of its own.
    fn again(&self) -> SinceHidden {
        let from = self.batches + 1;
        SinceHidden { from, to: transforms::hide_from(from), _tangents: forward::Hidden::from(self.tangents) }
    }
}

/// Levels are hidden while it lives.
struct SinceHidden {
    from: usize,
    to: usize,
    _tangents: forward::Hidden,
}

impl Drop for SinceHidden {
    fn drop(&mut self) {
        transforms::unhide(self.from, self.to);
    }
}

/// Saved-tensor hooks in force while it lives.
struct Hooked;

impl Hooked {
    fn new(hooks: Hooks) -> Result<Self> {
        saved::push_hooks(Arc::new(hooks))?;
        Ok(Self)
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        // There are some: those that were pushed.
        let _ = saved::pop_hooks();
    }
}
