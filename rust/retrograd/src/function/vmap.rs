//! Custom functions under `vmap`: by a rule of their own, or by running their methods on entries of the batch.

use std::cell::RefCell;
use std::sync::Arc;

use super::arguments::Places;
use super::call::{Custom, Rules, call, node_name};
use super::context::{Available, Context};
use crate::engine::ops::reduce::sum::sum_to_size;
use crate::engine::transforms::{self, Level, Open, Randomness};
use crate::engine::{self, Error};
use crate::{Result, Tensor};

type Raw = engine::Tensor;

/// What a batching rule is told of the batch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct VmapInfo {
    /// How many entries the batch has.
    pub batch_size: usize,
    /// What random numbers do.
    pub randomness: Randomness,
}

/// Inputs with all entries, and where the batch axis of each is.
pub(crate) struct Entries<'a> {
    pub info: VmapInfo,
    pub inputs: &'a Places,
    pub axes: &'a [Option<usize>],
}

/// Outputs with all entries, and where the batch axis of each is.
pub(crate) type Batches = (Places, Vec<Option<usize>>);

/// Hides a level and those inside it while it lives.
struct Hidden {
    from: usize,
    to: usize,
}

impl Hidden {
    fn from(level: usize) -> Self {
        Self { from: level, to: transforms::hide_from(level) }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        transforms::unhide(self.from, self.to);
    }
}

/// The outputs of a call with batched tensors, at the innermost level that one is batched at; `None` if none is.
#[cold]
pub(super) fn batched(function: &dyn Custom, inputs: &Places) -> Result<Option<Places>> {
    let part = |t: &Option<Tensor>| t.as_ref().and_then(|t| t.0.batch_parts()).transpose();
    let parts: Vec<Option<(Raw, usize, usize)>> = inputs.iter().map(part).collect::<Result<_>>()?;
    let Some(number) = parts.iter().flatten().map(|part| part.2).max() else { return Ok(None) };
    let level = transforms::level(number)?;
    let mut values = inputs.clone();
    let mut axes = vec![None; inputs.len()];
    for (i, part) in parts.into_iter().enumerate() {
        if let Some((value, axis, at)) = part
            && at == number
        {
            (values[i], axes[i]) = (Some(Tensor(value)), Some(axis));
        }
    }
    let info = VmapInfo { batch_size: level.size(), randomness: level.randomness() };
    let _rule = Hidden::from(number);
    // A transform inside the batch differentiates the function by its rules, and not what its rule for batches does.
    if !level.is_around_others()
        && let Some((outputs, axes)) = function.vmap(&Entries { info, inputs: &values, axes: &axes })?
    {
        if outputs.len() != axes.len() {
            return Err(Error::autograd(format!(
                "vmap: the batching rule of {} gives {} outputs and {} batch axes: there is one, or None, for each output",
                function.name(),
                outputs.len(),
                axes.len()
            )));
        }
        let written = |t: &Tensor| values.iter().position(|v| v.as_ref().is_some_and(|v| v.0.is_same(&t.0)));
        let entry = |(t, axis): (Option<Tensor>, Option<usize>)| match (t, axis) {
            (Some(t), Some(_)) if written(&t).is_some_and(|i| axes_differ(&inputs[i], &t)) => {
                Ok(written(&t).and_then(|i| inputs[i].clone()))
            }
            (Some(t), Some(axis)) => t.0.batch(axis as i64, &level).map(|t| Some(Tensor(t))),
            (t, _) => Ok(t),
        };
        return outputs.into_iter().zip(axes).map(entry).collect::<Result<_>>().map(Some);
    }
    let over = Vmapped { inner: function, info, axes, noted: RefCell::default() };
    let outputs = call(&over, &values)?;
    let entry = |t: Option<Tensor>| t.map(|t| t.0.batch(0, &level).map(Tensor)).transpose();
    outputs.into_iter().map(entry).collect::<Result<_>>().map(Some)
}

/// Whether an input shows an entry of a value, and is not the value itself.
fn axes_differ(input: &Option<Tensor>, value: &Tensor) -> bool {
    input.as_ref().is_some_and(|x| !x.0.is_same(&value.0))
}

/// A function on whole values, which runs another one once on the entries of a batch.
struct Vmapped<'a> {
    inner: &'a dyn Custom,
    info: VmapInfo,
    axes: Vec<Option<usize>>,
    noted: RefCell<Noted>,
}

/// What `forward` of the inner function left.
#[derive(Clone, Default)]
struct Noted {
    /// Sizes of each input for one entry.
    sizes: Vec<Option<Vec<usize>>>,
    saved_axes: Vec<Option<usize>>,
    forward_axes: Vec<Option<usize>>,
}

struct VmappedRules {
    inner: Arc<dyn Rules>,
    info: VmapInfo,
    axes: Vec<Option<usize>>,
    noted: Noted,
}

/// One entry of each value that has a batch axis.
fn entries(values: &[Option<Tensor>], axes: &[Option<usize>], level: &Arc<Level>) -> Result<Places> {
    let entry = |(value, axis): (&Option<Tensor>, &Option<usize>)| match (value, axis) {
        (Some(value), Some(axis)) => value.0.batch(*axis as i64, level).map(|t| Some(Tensor(t))),
        _ => Ok(value.clone()),
    };
    values.iter().zip(axes).map(entry).collect()
}

fn all_entries(t: Tensor, level: &Arc<Level>) -> Result<Tensor> {
    t.0.unbatch(0, level).map(Tensor)
}

impl Custom for Vmapped<'_> {
    fn forward(&self, ctx: &mut Context, values: &Places) -> Result<Places> {
        let open = Open::new(self.info.batch_size, self.info.randomness);
        let level = open.level();
        let inputs = entries(values, &self.axes, &level)?;
        let mut inside = Context::of_forward(ctx.needs.to_vec());
        let outputs = self.inner.forward(&mut inside, &inputs)?;
        let notes = inside.notes;
        if !notes.dirty.is_empty() {
            return Err(Error::autograd(format!(
                "A rule for vmap cannot be generated for a function that writes to its inputs (mark_dirty): write the vmap \
                 rule of {}",
                self.inner.name()
            )));
        }
        let whole = outputs.iter().map(|t| t.clone().map(|t| all_entries(t, &level)).transpose());
        let whole = whole.collect::<Result<Places>>()?;
        // What is saved is an input or output itself where it is one, so that it has its gradient.
        let ins = inputs.iter().zip(values.iter().zip(&self.axes)).map(|(t, (v, axis))| (t, v, *axis));
        let outs = outputs.iter().zip(&whole).map(|(t, v)| (t, v, Some(0)));
        let known: Vec<(&Option<Tensor>, &Option<Tensor>, Option<usize>)> = ins.chain(outs).collect();
        let outside = |t: &Tensor| -> Result<(Tensor, Option<usize>)> {
            for (entry, value, axis) in &known {
                if let (Some(entry), Some(value)) = (entry, value)
                    && entry.0.is_same(&t.0)
                {
                    return Ok((value.clone(), *axis));
                }
            }
            Ok((all_entries(t.clone(), &level)?, Some(0)))
        };
        let all = |list: &[Option<Tensor>]| -> Result<Batches> {
            let each = list.iter().map(|t| match t {
                Some(t) => outside(t).map(|(t, axis)| (Some(t), axis)),
                None => Ok((None, None)),
            });
            Ok(each.collect::<Result<Vec<_>>>()?.into_iter().unzip())
        };
        let (save, saved_axes) = all(&notes.save)?;
        let forward = notes.save_for_forward.as_ref().map(|list| all(list)).transpose()?;
        let forward_axes = forward.as_ref().map_or_else(|| saved_axes.clone(), |(_, axes)| axes.clone());
        let still = notes.still.iter().map(|t| outside(t).map(|(t, _)| t)).collect::<Result<_>>()?;
        let sizes = inputs.iter().map(|t| t.as_ref().map(|t| t.0.sizes().to_vec())).collect();
        *self.noted.borrow_mut() = Noted { sizes, saved_axes, forward_axes };
        ctx.notes.save = save;
        ctx.notes.save_for_forward = forward.map(|(tensors, _)| tensors);
        ctx.notes.still = still;
        ctx.notes.materialize = notes.materialize;
        ctx.notes.kept = notes.kept;
        Ok(whole)
    }

    fn rules(&self) -> Arc<dyn Rules> {
        let (axes, noted) = (self.axes.clone(), self.noted.borrow().clone());
        Arc::new(VmappedRules { inner: self.inner.rules(), info: self.info, axes, noted })
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }
}

impl VmappedRules {
    /// The context of a rule for one entry.
    fn inside(&self, ctx: &Context, axes: &[Option<usize>], level: &Arc<Level>) -> Result<Context> {
        let saved = Available::Here(entries(&ctx.saved_options()?, axes, level)?);
        Ok(Context::of_rule(ctx.needs.clone(), ctx.notes.kept.clone(), saved, ctx.received.clone()))
    }

    /// The gradient of the input in a place: that of all entries for one that is batched, their sum for one that is
    /// not.
    fn gradient(&self, place: usize, g: Tensor, level: &Arc<Level>) -> Result<Option<Tensor>> {
        let (Some(axis), Some(Some(sizes))) = (self.axes.get(place), self.noted.sizes.get(place)) else {
            return Ok(Some(g));
        };
        let mut g = g.0;
        // Outside, the axis of the batch would stand among those of the entry.
        if g.sizes() != sizes {
            let refusal = || {
                Error::autograd(format!(
                    "Function {} returned an invalid gradient at index {place} - got {:?} but expected shape compatible \
                     with {sizes:?}",
                    node_name(self.inner.name()),
                    g.sizes()
                ))
            };
            g = sum_to_size(&g, sizes).map_err(|_| refusal())?;
        }
        let whole = match axis {
            Some(axis) => g.unbatch(*axis as i64, level)?,
            // Repeated where it is the same for every entry, so that the sum has a part for each.
            None => sum_to_size(&g.unbatch(0, level)?, sizes)?,
        };
        Ok(Some(Tensor(whole)))
    }
}

impl Rules for VmappedRules {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn backward(&self, ctx: &Context, gradients: Places) -> Result<Places> {
        let open = Open::new(self.info.batch_size, self.info.randomness);
        let level = open.level();
        let inside = self.inside(ctx, &self.noted.saved_axes, &level)?;
        let given = entries(&gradients, &vec![Some(0); gradients.len()], &level)?;
        let found = self.inner.backward(&inside, given)?;
        let gradient = |(i, g): (usize, Option<Tensor>)| g.map_or(Ok(None), |g| self.gradient(i, g, &level));
        found.into_iter().enumerate().map(gradient).collect()
    }
    fn jvp(&self, ctx: &Context, tangents: Places) -> Result<Option<Places>> {
        let open = Open::new(self.info.batch_size, self.info.randomness);
        let level = open.level();
        let inside = self.inside(ctx, &self.noted.forward_axes, &level)?;
        let Some(found) = self.inner.jvp(&inside, entries(&tangents, &self.axes, &level)?)? else { return Ok(None) };
        found.into_iter().map(|t| t.map(|t| all_entries(t, &level)).transpose()).collect::<Result<_>>().map(Some)
    }
    fn once_differentiable(&self) -> bool {
        self.inner.once_differentiable()
    }
}
