//! Random numbers under `vmap`.

use super::batched::{at_levels, entry_of};
use super::level::{InRule, Randomness, visible};
use crate::autograd::arith::with_batch;
use crate::error::{Error, Result};
use crate::tensor::{Form, Tensor};

#[cold]
fn refused(op: &'static str) -> Error {
    Error::autograd(format!(
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' \
         randomness flags on vmap or perform the randomness operation out of vmap. The operation is {op}"
    ))
}

/// Fresh random numbers of the given sizes for every entry: `draw` is called for them once, with the batches in front
/// that want numbers of their own.
pub(crate) fn drawn(
    op: &'static str,
    sizes: &[usize],
    draw: impl FnOnce(&[usize]) -> Result<Tensor>,
) -> Result<Tensor> {
    let levels = visible();
    if levels.iter().any(|l| l.randomness() == Randomness::Error) {
        return Err(refused(op));
    }
    let own: Vec<_> = levels.into_iter().filter(|l| l.randomness() == Randomness::Different).collect();
    let whole = own.iter().rev().fold(sizes.into(), |sizes: crate::tensor::Dims, l| with_batch(&sizes, l.size()));
    own.iter().try_fold(draw(&whole)?, entry_of)
}

/// The operand of an op that draws numbers for it: repeated where every entry gets its own.
pub(crate) fn to_draw_for(op: &'static str, x: &Tensor, form: Form) -> Result<Tensor> {
    let levels = visible();
    if levels.iter().any(|l| l.randomness() == Randomness::Error) {
        return Err(refused(op));
    }
    let own: Vec<_> = levels.into_iter().filter(|l| l.randomness() == Randomness::Different).collect();
    if own.is_empty() {
        return Ok(x.clone());
    }
    let whole = at_levels(x, &own)?;
    if form.is_in_place() && !whole.is_same(x) {
        return Err(Error::autograd(format!(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. \
             {op} would write the same numbers for every entry: use an out-of-place op"
        )));
    }
    Ok(whole)
}

/// Refuses an op whose numbers depend on its operand's entries where every entry is to get the same ones.
pub(crate) fn refuse_same(op: &'static str) -> Result<()> {
    if in_rule() != Randomness::Same {
        return Ok(());
    }
    Err(Error::autograd(format!(
        "Vmap does not currently support same randomness with a batched tensor input: {op} draws from numbers that differ \
         between entries. Draw with rand() and compare"
    )))
}

/// What the level whose rule runs wants of random numbers.
pub(crate) fn in_rule() -> Randomness {
    InRule::current().map_or(Randomness::Different, |l| l.randomness())
}
