//! Steps that are taken together: all of them for one block of elements, and then for the next, so that what one makes
//! is still in the cache when another one reads it.

use std::ops::Range;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::program::{ALIGNMENT, Loop, Planned, Way};
use super::recording::{Step, ValueId, What, Window};
use crate::error::Result;
use crate::kernels::parallel::{SharedPtr, split};
use crate::storage::Storage;
use crate::storage::reclaim::reading;
use crate::tensor::{DType, Tensor};

/// Consecutive steps that are flat loops over as many elements.
pub(super) struct Run {
    pub steps: Range<usize>,
    numel: usize,
    /// Elements of a block.
    block: usize,
    /// What the steps read and write, each once.
    values: Vec<InRun>,
    /// The operands of each step and its result, by their places among these.
    among: Vec<(SmallVec<[usize; 2]>, usize)>,
    /// Bytes of one block of each value that has no more.
    scratch: usize,
}

/// A value of a run.
struct InRun {
    value: ValueId,
    moves: Moves,
    dtype: DType,
    /// A step takes it as a tensor, having no loop over addresses.
    as_tensor: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Over the elements of the value.
    Along,
    /// A block is all that there is, at this place in the memory for them: no other step sees it.
    Stays(usize),
    /// It is one element, for all others.
    IsOne,
}

/// Up to how many steps a run has: so many blocks fit into the caches.
const LONGEST: usize = 64;

/// From how many elements on steps are taken together.
pub(super) const FROM: usize = 1 << 14;

fn numel(window: &Window) -> usize {
    window.sizes.iter().product()
}

/// The consecutive steps that can be taken together.
pub(super) fn runs(steps: &[Step], way: &[Way], values: &[Window]) -> Vec<Range<usize>> {
    let numel = |i: usize| match (way[i], &steps[i].outs[..]) {
        (Way::Flat, [Some(v)]) => Some(numel(&values[*v as usize])).filter(|&n| n >= FROM),
        _ => None,
    };
    let mut runs = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let mut end = start + 1;
        if let Some(n) = numel(start) {
            while end < steps.len() && end - start < LONGEST && numel(end) == Some(n) {
                end += 1;
            }
            if end - start > 1 {
                runs.push(start..end);
            }
        }
        start = end;
    }
    runs
}

impl Run {
    /// The run of these steps. `is_inside` gives the buffer of a value that no other step sees.
    pub fn new(
        range: Range<usize>,
        steps: &[Planned],
        windows: &[Window],
        is_inside: &dyn Fn(ValueId) -> Option<usize>,
    ) -> Self {
        let result = |planned: &Planned| planned.step.outs[0].expect("a flat step has a result");
        let n = numel(&windows[result(&steps[range.start]) as usize]);
        let mut values: Vec<InRun> = Vec::new();
        let mut among = Vec::new();
        for planned in &steps[range.clone()] {
            let mut place = |v: ValueId| {
                // Several values may show all of one buffer.
                let inside = is_inside(v);
                let is_it = |met: &InRun| met.value == v || inside.is_some() && is_inside(met.value) == inside;
                let at = values.iter().position(is_it).unwrap_or_else(|| {
                    let w = &windows[v as usize];
                    let moves = match () {
                        () if inside.is_some() => Moves::Stays(0),
                        () if numel(w) == n => Moves::Along,
                        () => Moves::IsOne,
                    };
                    values.push(InRun { value: v, moves, dtype: w.dtype, as_tensor: false });
                    values.len() - 1
                });
                values[at].as_tensor |= planned.alone.is_none();
                at
            };
            let xs = planned.step.xs.iter().flatten().map(|&v| place(v)).collect();
            among.push((xs, place(result(planned))));
        }
        let block = block_of(values.len());
        let mut scratch = 0;
        for value in &mut values {
            if let Moves::Stays(at) = &mut value.moves {
                *at = scratch;
                scratch += (block * value.dtype.size()).next_multiple_of(ALIGNMENT);
            }
        }
        Self { steps: range, numel: n, block, values, among, scratch }
    }

    /// Takes the steps. `value` gives the tensor of a value, which is there unless no other step sees it, and where its
    /// elements begin.
    pub fn take<'t>(&self, steps: &[Planned], value: impl Fn(ValueId) -> (&'t Tensor, *mut u8)) -> Result<()> {
        let mut whole: SmallVec<[(Option<&Tensor>, SharedPtr<u8>); 48]> = SmallVec::new();
        for met in &self.values {
            whole.push(match met.moves {
                Moves::Stays(_) => (None, SharedPtr(std::ptr::null_mut())),
                Moves::Along | Moves::IsOne => {
                    let (tensor, at) = value(met.value);
                    (Some(tensor), SharedPtr(at))
                }
            });
        }
        let steps = &steps[self.steps.clone()];
        let failed = Mutex::new(None);
        let piece = |blocks: Range<usize>| {
            let _reading = reading();
            if let Err(error) = self.take_blocks(blocks, steps, &whole) {
                *failed.lock() = Some(error);
            }
        };
        // About a nanosecond for four elements.
        let cost = (self.numel * steps.len()) as f64 * 0.25;
        split(self.numel.div_ceil(self.block), 1, cost, &piece);
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn take_blocks(
        &self,
        blocks: Range<usize>,
        steps: &[Planned],
        whole: &[(Option<&Tensor>, SharedPtr<u8>)],
    ) -> Result<()> {
        let scratch = Storage::uncounted(self.scratch)?;
        let mut bases: SmallVec<[*mut u8; 48]> = SmallVec::new();
        let mut windows: SmallVec<[Option<Tensor>; 48]> = SmallVec::new();
        for (met, (tensor, at)) in self.values.iter().zip(whole) {
            let (base, storage, first) = match (met.moves, tensor) {
                // SAFETY: the memory has that many bytes, and those of a block behind them.
                (Moves::Stays(at), _) => unsafe { (scratch.ptr().add(at), scratch.clone(), at / met.dtype.size()) },
                (_, Some(tensor)) => (at.get(), tensor.storage(), tensor.storage_offset()),
                (_, None) => unreachable!("a value that others see has a tensor"),
            };
            let n = if met.moves == Moves::IsOne { 1 } else { self.block };
            let window = || Tensor::from_parts(storage, met.dtype, &[n], &[1], first);
            bases.push(base);
            windows.push(met.as_tensor.then(window).transpose()?);
        }
        let firsts: SmallVec<[usize; 48]> =
            windows.iter().map(|window| window.as_ref().map_or(0, Tensor::storage_offset)).collect();
        for number in blocks {
            let start = number * self.block;
            let len = self.block.min(self.numel - start);
            for ((met, window), &first) in self.values.iter().zip(&mut windows).zip(&firsts) {
                if let (Some(window), moves) = (window, met.moves)
                    && moves != Moves::IsOne
                {
                    let from = if moves == Moves::Along { first + start } else { first };
                    // SAFETY: the value has elements up to `start + len`, and a block up to `len`.
                    unsafe { window.slide(from, len) };
                }
            }
            let at = |i: usize| {
                let met = &self.values[i];
                let moved = if met.moves == Moves::Along { start * met.dtype.size() } else { 0 };
                // SAFETY: as above, in bytes.
                unsafe { bases[i].add(moved) }
            };
            for (planned, (xs, out)) in steps.iter().zip(&self.among) {
                // SAFETY: 1. The plan has asked, for all of the elements. 2. It has the result apart from all that is
                // in use during the run; blocks of values that have no more than that are memory of their own.
                unsafe {
                    if let Some(Loop { op, dtype, xs: [(_, sa), (_, sb)], .. }) = &planned.alone {
                        op.run_flat_at(*dtype, [(at(xs[0]), *sa), (at(xs[1]), *sb)], at(*out), len);
                    } else if let What::Op(op) = &planned.step.what {
                        let shown = |i: usize| windows[i].as_ref().expect("taken as a tensor");
                        let xs: SmallVec<[&Tensor; 3]> = xs.iter().map(|&i| shown(i)).collect();
                        op.run_flat(&xs, shown(*out));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Elements of a block, of so many values that all of them stay in the cache.
fn block_of(values: usize) -> usize {
    match values {
        0..=16 => 1 << 12,
        17..=32 => 1 << 11,
        _ => 1 << 10,
    }
}
