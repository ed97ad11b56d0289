//! Steps that are taken together: all of them for one block of elements, and then for the next, so that what one makes
//! is still in the cache when another one reads it.

use std::ops::Range;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::pointwise::{Moves, Pointwise, Repeats};
use super::program::{ALIGNMENT, Planned, covers};
use super::recording::{Buffer, ValueId, Window};
use crate::error::Result;
use crate::kernels::parallel::{SharedPtr, split};
use crate::storage::Storage;
use crate::storage::reclaim::reading;
use crate::tensor::{DType, Tensor};

/// Consecutive steps that are loops over as many elements.
pub(super) struct Run {
    pub steps: Range<usize>,
    numel: usize,
    /// Elements of a block.
    block: usize,
    /// What the steps read and write, each once.
    values: Vec<InRun>,
    /// The operands of each step and its result, by their places among these.
    among: Vec<(SmallVec<[usize; 2]>, usize)>,
    /// Bytes for the blocks of values that have a block for themselves.
    scratch: usize,
}

/// A value of a run.
struct InRun {
    value: ValueId,
    is: Is,
    dtype: DType,
    /// A step takes it as a tensor, having no loop over addresses.
    as_tensor: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    /// Memory with an element for each of the others.
    Memory,
    /// One element for all others.
    One,
    /// A block is all that there is, at this place in the memory for them: no other step sees it.
    Block(usize),
    /// An operand that repeats, written out block by block at this place.
    WrittenOut(usize, Repeats),
}

/// Up to how many steps a run has: so many blocks fit into the caches.
const LONGEST: usize = 64;

/// From how many elements on steps are taken together.
pub(super) const FROM: usize = 1 << 14;

/// The consecutive steps that can be taken together.
pub(super) fn runs(steps: &[Option<Pointwise>], values: &[Window], buffers: &[Buffer]) -> Vec<Range<usize>> {
    let buffer = |v: ValueId| values[v as usize].buffer;
    let mut runs = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let mut end = start;
        if let Some(first) = steps[start].as_ref().filter(|first| first.n >= FROM) {
            let mut made: SmallVec<[u32; 16]> = SmallVec::new();
            // A block of an operand is there as soon as that of the result; other elements of what the run makes are
            // not.
            let is_there = |made: &[u32], (v, moves): &(ValueId, Moves)| {
                let whole = || covers(&values[*v as usize], buffers[buffer(*v) as usize].bytes);
                !made.contains(&buffer(*v)) || *moves == Moves::Along && whole()
            };
            while let Some(Some(next)) = steps.get(end)
                && end - start < LONGEST
                && next.n == first.n
                && next.xs.iter().all(|x| is_there(&made, x))
            {
                made.push(buffer(next.out));
                end += 1;
            }
        }
        if end - start > 1 {
            runs.push(start..end);
        }
        start = end.max(start + 1);
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
        let mut values: Vec<InRun> = Vec::new();
        let mut among = Vec::new();
        let mut n = 0;
        for step in loops(&steps[range.clone()]) {
            n = step.n;
            let mut place = |v: ValueId, moves: Moves| {
                // Several values may show all of one buffer.
                let inside = is_inside(v);
                let is = match moves {
                    _ if inside.is_some() => Is::Block(0),
                    Moves::Along => Is::Memory,
                    Moves::Stays => Is::One,
                    Moves::Repeats(repeats) => Is::WrittenOut(0, repeats),
                };
                let same = |met: &InRun| {
                    let one_buffer = inside.is_some() && is_inside(met.value) == inside;
                    met.is == is && (met.value == v || one_buffer)
                };
                let at = values.iter().position(same).unwrap_or_else(|| {
                    values.push(InRun { value: v, is, dtype: windows[v as usize].dtype, as_tensor: false });
                    values.len() - 1
                });
                values[at].as_tensor |= step.by_address.is_none();
                at
            };
            let xs = step.xs.iter().map(|&(v, moves)| place(v, moves)).collect();
            among.push((xs, place(step.out, Moves::Along)));
        }
        let places = give_places(&mut values, &among);
        let cycles = values.iter().filter_map(|value| match value.is {
            Is::WrittenOut(_, repeats) => Some(repeats.cycle()),
            _ => None,
        });
        let widest = values.iter().map(|value| value.dtype.size()).max().unwrap_or(1);
        let block = block_of(places.len(), widest, cycles);
        let mut scratch = 0;
        let starts: Vec<usize> = places
            .iter()
            .map(|width| {
                let start = scratch;
                scratch += (block * width).next_multiple_of(ALIGNMENT);
                start
            })
            .collect();
        for value in &mut values {
            if let Is::Block(at) | Is::WrittenOut(at, _) = &mut value.is {
                *at = starts[*at];
            }
        }
        Self { steps: range, numel: n, block, values, among, scratch }
    }

    /// Takes the steps. `value` gives the tensor of a value, which is there unless no other step sees it, and where its
    /// elements begin.
    pub fn take<'t>(&self, steps: &[Planned], value: impl Fn(ValueId) -> (&'t Tensor, *mut u8)) -> Result<()> {
        let mut whole: SmallVec<[(Option<&Tensor>, SharedPtr<u8>); 48]> = SmallVec::new();
        for met in &self.values {
            whole.push(match met.is {
                Is::Block(_) => (None, SharedPtr(std::ptr::null_mut())),
                Is::Memory | Is::One | Is::WrittenOut(..) => {
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
            let (base, storage, first) = match (met.is, tensor) {
                // SAFETY: the memory has that many bytes, and those of a block behind them.
                (Is::Block(at) | Is::WrittenOut(at, _), _) => unsafe {
                    (scratch.ptr().add(at), scratch.clone(), at / met.dtype.size())
                },
                (Is::Memory | Is::One, Some(tensor)) => (at.get(), tensor.storage(), tensor.storage_offset()),
                (Is::Memory | Is::One, None) => unreachable!("a value that others see has a tensor"),
            };
            let n = if met.is == Is::One { 1 } else { self.block };
            let window = || Tensor::from_parts(storage, met.dtype, &[n], &[1], first);
            bases.push(base);
            windows.push(met.as_tensor.then(window).transpose()?);
        }
        let firsts: SmallVec<[usize; 48]> =
            windows.iter().map(|window| window.as_ref().map_or(0, Tensor::storage_offset)).collect();
        let moves = |met: &InRun| if met.is == Is::Memory { met.dtype.size() } else { 0 };
        let moves: SmallVec<[usize; 48]> = self.values.iter().map(moves).collect();
        let first_block = blocks.start;
        for number in blocks {
            let start = number * self.block;
            let len = self.block.min(self.numel - start);
            for (i, met) in self.values.iter().enumerate() {
                if let Is::WrittenOut(_, repeats) = met.is
                    && (number == first_block || !self.block.is_multiple_of(repeats.cycle()))
                {
                    // SAFETY: (1) the operand of a value; (2) the block at its base, of `self.block` elements.
                    unsafe { repeats.write_out(met.dtype, whole[i].1.get(), bases[i], start, len) };
                }
                if let Some(window) = &mut windows[i]
                    && met.is != Is::One
                {
                    let from = if met.is == Is::Memory { firsts[i] + start } else { firsts[i] };
                    // SAFETY: the value has elements up to `start + len`, and a block up to `len`.
                    unsafe { window.slide(from, len) };
                }
            }
            // SAFETY: as above, in bytes.
            let at = |i: usize| unsafe { bases[i].add(start * moves[i]) };
            for (step, (xs, out)) in loops(steps).zip(&self.among) {
                // SAFETY: 1. The plan has asked, for all of the elements. 2. It has the result apart from all that is
                // in use during the run; blocks are memory of their own.
                unsafe {
                    if let Some(dtype) = step.by_address {
                        let [a, b] = step.steps();
                        step.op.run_flat_at(dtype, [(at(xs[0]), a), (at(xs[1]), b)], at(*out), len);
                    } else {
                        let shown = |i: usize| windows[i].as_ref().expect("taken as a tensor");
                        let xs: SmallVec<[&Tensor; 3]> = xs.iter().map(|&i| shown(i)).collect();
                        step.op.run_flat(&xs, shown(*out));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Gives blocks their places by number, and returns the bytes of an element in each. What no later step reads makes
/// room for what is made next, so that few places go around, which stay in the cache.
fn give_places(values: &mut [InRun], among: &[(SmallVec<[usize; 2]>, usize)]) -> Vec<usize> {
    let mut last = vec![0; values.len()];
    for (step, (xs, out)) in among.iter().enumerate() {
        xs.iter().chain([out]).for_each(|&v| last[v] = step);
    }
    let mut places = Vec::new();
    for value in values.iter_mut() {
        // What is written out stays from block to block.
        if let Is::WrittenOut(at, _) = &mut value.is {
            *at = places.len();
            places.push(value.dtype.size());
        }
    }
    let mut has_place = vec![false; values.len()];
    let mut free: Vec<usize> = Vec::new();
    for (step, (xs, out)) in among.iter().enumerate() {
        let width = values[*out].dtype.size();
        if let Is::Block(at) = &mut values[*out].is
            && !std::mem::replace(&mut has_place[*out], true)
        {
            *at = match free.iter().rposition(|&place| places[place] == width) {
                Some(i) => free.swap_remove(i),
                None => {
                    places.push(width);
                    places.len() - 1
                }
            };
        }
        for (i, &v) in xs.iter().chain([out]).enumerate() {
            if let Is::Block(at) = values[v].is
                && last[v] == step
                && !xs[..i].contains(&v)
            {
                free.push(at);
            }
        }
    }
    places
}

/// The loops of steps that are taken together.
fn loops(steps: &[Planned]) -> impl Iterator<Item = &Pointwise> {
    steps.iter().map(|step| step.pointwise.as_ref().expect("a run has loops"))
}

/// Bytes of a core's first cache.
const NEAR: usize = 48 << 10;
/// What passes through it besides: the memory that a step reads and writes.
const PASSING: usize = 2;
/// The least and the most elements of a block.
const BLOCKS: [usize; 2] = [1 << 9, 1 << 12];

/// Elements of a block, so many that all places stay in the cache: cycles of operands that repeat, if one of them is a
/// part of it in whole vectors.
fn block_of(places: usize, widest: usize, cycles: impl Iterator<Item = usize>) -> usize {
    let fit = NEAR / ((places + PASSING) * widest);
    let most = (1 << fit.max(1).ilog2()).clamp(BLOCKS[0], BLOCKS[1]);
    let cycle = cycles.filter(|&cycle| cycle <= most && cycle.is_multiple_of(LANES)).max();
    cycle.map_or(most, |cycle| most - most % cycle)
}

/// So many elements fill vectors of every dtype.
const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    #[test]
    fn what_is_needed_at_the_same_time_shares_no_place() {
        let (float, double) = (DType::Float32, DType::Float64);
        let kinds = [
            (Is::Memory, float),
            (Is::Block(0), float),
            (Is::Block(0), float),
            (Is::Block(0), float),
            (Is::Block(0), double),
            (Is::Block(0), float),
            (Is::Memory, float),
        ];
        let mut values: Vec<InRun> =
            kinds.map(|(is, dtype)| InRun { value: 0, is, dtype, as_tensor: false }).into_iter().collect();
        // 1 and 2 are made of memory, 3 of both, 4 of 3, 5 of 1 and 4, and 6 of 5: 2 makes room at 3, and 3 at 4.
        let among = [
            (smallvec![0, 0], 1),
            (smallvec![0, 1], 2),
            (smallvec![2, 2], 3),
            (smallvec![3, 3], 4),
            (smallvec![1, 4], 5),
            (smallvec![5, 0], 6),
        ];
        let places = give_places(&mut values, &among);
        let at = |v: usize| match values[v].is {
            Is::Block(at) => at,
            _ => unreachable!(),
        };
        assert_eq!([1, 2, 3, 4, 5].map(at), [0, 1, 2, 3, 2]);
        assert_eq!(places, [4, 4, 4, 8]);
    }
}
