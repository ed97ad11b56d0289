//! Transforms: the stack of batch levels, tensors that show one entry of a batch, and ops on them.
//!
//! Under `vmap` a tensor is *batched*: a handle that shows the sizes of one entry, over a value with all entries. An op
//! on batched tensors goes to the innermost level among its operands, where the op's batching rule runs it on the
//! values, which may be batched at outer levels in turn. The values alone have nodes, tangents and
//! versions: autograd knows nothing of batches.

mod active;
mod batched;
mod level;
mod random;
mod rules;

pub(crate) use active::check_captured;
pub use active::{IsGiven, begin, close, count, end, settled, variable};
pub(crate) use batched::{Batched, holds, move_to_levels, union, unwrap_levels, widened, wrap_levels};
pub use batched::{batch_at_all_levels, check_apart, check_read, joined};
pub(crate) use level::innermost;
pub use level::{Level, Open, Randomness, depth, enter, enter_private, exit, hide_from, level, unhide};
pub(crate) use random::{drawn, in_rule, refuse_same, to_draw_for};
pub use rules::looped;
pub(crate) use rules::{reshape_entry, run, run_inplace};

use crate::autograd::mode;
use crate::error::Result;
use crate::tensor::Tensor;

/// What is local to this thread of transforms, while another one continues for it.
#[derive(Default)]
pub(crate) struct Carried {
    running: active::Carried,
    levels: level::Carried,
}

impl Carried {
    pub fn exchange(&mut self) {
        self.running.exchange();
        self.levels.exchange();
    }
}

/// Whether this thread has a transform or a batch level: for fast paths.
#[inline]
pub fn any() -> bool {
    mode::word() & (mode::TRANSFORM | mode::INSIDE) != 0
}

/// Whether a batch level is open on this thread. Tensors that are left over from a closed one have ops look for it,
/// though there is none.
pub fn has_level() -> bool {
    mode::word() & mode::TRANSFORM != 0 && depth() > 0
}

/// How many transforms are under way on this thread: those that began and did not end, and public batch levels.
pub fn active() -> usize {
    active::count() + level::visible().iter().filter(|l| !l.is_private()).count()
}

/// Maps `function`, written for one entry, over a batch: axis 0 of every tensor in `xs`, which gives its results as
/// tensors with the batch in front.
///
/// Every op runs once for the whole batch, by its batching rule. Derivatives of all orders go through it.
///
/// Errors: those of `function`; no tensors, or axes of different sizes.
///
/// ```
/// use retrograd_engine::{Tensor, transforms::vmap};
/// let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
/// let norms = vmap(|xs| Ok(vec![xs[0].mul(&xs[0])?.sum(None)?]), &[&x]).unwrap();
/// assert_eq!(norms[0].to_vec::<f64>().unwrap(), [5.0, 25.0]);
/// ```
pub fn vmap(function: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>, xs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let sizes: Vec<Option<&usize>> = xs.iter().map(|x| x.sizes().first()).collect();
    let size = match sizes.first() {
        Some(&Some(&n)) if sizes.iter().all(|s| *s == Some(&n)) => n,
        _ => {
            return Err(crate::Error::value(
                "vmap",
                format!(
                    "takes tensors whose first axes have one size, got sizes {:?}",
                    xs.iter().map(|x| x.sizes()).collect::<Vec<_>>()
                ),
            ));
        }
    };
    let open = Open::new(size, Randomness::Error);
    let level = open.level();
    let entries = xs.iter().map(|x| x.batch(0, &level)).collect::<Result<Vec<_>>>()?;
    function(&entries)?.iter().map(|y| y.unbatch(0, &level)).collect()
}

#[cfg(test)]
mod tests;
