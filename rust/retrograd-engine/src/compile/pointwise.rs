//! Steps as loops over the elements of their result, which a run takes block by block.

use std::sync::Arc;

use smallvec::SmallVec;

use super::blocks::FROM;
use super::program::{Way, shown};
use super::recording::{Buffer, Step, ValueId, What, Window};
use crate::autograd::erased::{AnyPrimitive, Batching};
use crate::kernels::pointwise::{repeat, write_out};
use crate::tensor::layout::expanded_strides;
use crate::tensor::{DType, Tensor};

/// A step that is a loop over the elements of its contiguous result.
pub(super) struct Pointwise {
    pub op: Arc<dyn AnyPrimitive>,
    pub xs: SmallVec<[(ValueId, Moves); 2]>,
    pub out: ValueId,
    /// Elements of the result.
    pub n: usize,
    /// The dtype of an op of two operands whose loop asks for no more than addresses.
    pub by_address: Option<DType>,
}

/// How a loop moves in the memory of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moves {
    /// From each element to the next.
    Along,
    /// Not at all: it is one element.
    Stays,
    /// Over some elements, again and again.
    Repeats(Repeats),
}

/// Of an operand that was expanded, element `i` is the one at `i / hold % period`, elements `stride` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Repeats {
    pub hold: usize,
    pub period: usize,
    pub stride: isize,
}

impl Moves {
    /// How a loop over contiguous elements of `sizes` moves in an operand that is broadcast to them; `None` if it is
    /// none of these ways.
    pub fn of(x: &Tensor, sizes: &[usize]) -> Option<Self> {
        let strides = expanded_strides(x.sizes(), x.strides(), sizes);
        let (mut hold, mut period, mut stride) = (1, 1, 0);
        let mut after = false;
        for (&size, &step) in sizes.iter().zip(&strides).rev().filter(|&(&size, _)| size > 1) {
            match (step, period) {
                (0, 1) => hold *= size,
                (0, _) => after = true,
                (_, 1) => (period, stride) = (size, step),
                _ if !after && step == stride * period as isize => period *= size,
                _ => return None,
            }
        }
        Some(match (hold, stride) {
            _ if period == 1 => Moves::Stays,
            (1, 1) if !after => Moves::Along,
            _ => Moves::Repeats(Repeats { hold, period, stride }),
        })
    }
}

impl Repeats {
    /// After so many elements of the result all begins again.
    pub fn cycle(&self) -> usize {
        self.hold.saturating_mul(self.period)
    }

    /// Writes elements `start .. start + n` of an operand of `dtype` one after the other.
    ///
    /// # Safety
    /// 1. All elements of the operand, the first of which is at `from`, may be read. 2. `to` is memory for `n` others,
    ///    which nobody else uses.
    pub unsafe fn write_out(&self, dtype: DType, from: *const u8, to: *mut u8, start: usize, n: usize) {
        let &Self { hold, period, stride } = self;
        let (size, step) = (dtype.size(), stride * dtype.size() as isize);
        let (mut place, mut passed) = (start / hold % period, start % hold);
        // What comes after a cycle is as what is there already.
        let fresh = n.min(self.cycle());
        let mut done = 0;
        while done < fresh {
            let left = fresh - done;
            let (count, rows, steps) = match () {
                () if hold == 1 => (left.min(period - place), 1, [step, 0]),
                () if passed > 0 || left < hold => (left.min(hold - passed), 1, [0, 0]),
                () => (hold, (left / hold).min(period - place), [0, step]),
            };
            // SAFETY: (1) places of the operand; (2) up to `n` elements.
            unsafe { write_out(size, count, rows, from.offset(place as isize * step), steps, to.add(done * size)) };
            done += count * rows;
            passed += count * rows;
            (place, passed) = ((place + passed / hold) % period, passed % hold);
        }
        // SAFETY: (2) elements that were just written, and `n` that there is space for.
        unsafe { repeat(to, fresh * size, n * size) };
    }
}

impl Pointwise {
    /// The step as a loop, if it is one; it writes its result to memory that is there for it.
    pub fn of(step: &Step, way: Way, values: &[Window], buffers: &[Buffer]) -> Option<Self> {
        let (What::Op(op), [Some(out), ..], false) = (&step.what, &step.outs[..], step.draws) else { return None };
        let window = &values[*out as usize];
        let n = window.sizes.iter().product();
        let ids: SmallVec<[ValueId; 4]> = step.xs.iter().flatten().copied().collect();
        if way == Way::Flat {
            let is_one = |v: ValueId| values[v as usize].sizes.iter().product::<usize>() == 1 && n != 1;
            let xs = ids.iter().map(|&v| (v, if is_one(v) { Moves::Stays } else { Moves::Along })).collect();
            return Some(Self::new(op.clone(), xs, *out, n, values[*ids.first()? as usize].dtype));
        }
        let broadcasts = way == Way::Into && op.facts().batch == Batching::Pointwise;
        if !broadcasts || n < FROM || ids.len() != step.xs.len() {
            return None;
        }
        let xs: SmallVec<[Tensor; 2]> =
            ids.iter().map(|&v| shown(values, buffers, v)).collect::<Result<_, _>>().ok()?;
        let moves: SmallVec<[Moves; 2]> = xs.iter().map(|x| Moves::of(x, &window.sizes)).collect::<Option<_>>()?;
        let like_result = |dtype| Tensor::empty(&window.sizes, dtype);
        let written_out = |(x, moves): (&Tensor, &Moves)| match moves {
            Moves::Stays => Tensor::empty(&[1], x.dtype()),
            Moves::Along | Moves::Repeats(_) => like_result(x.dtype()),
        };
        // Numbers take no part in promotion, and are no elements.
        let plain = xs.iter().all(|x| !x.is_number() && !x.lazy_bits().any());
        let contiguous: SmallVec<[Tensor; 2]> =
            xs.iter().zip(&moves).map(written_out).collect::<Result<_, _>>().ok()?;
        let result = like_result(window.dtype).ok()?;
        let runs = plain
            && result.strides() == &window.strides[..]
            && op.runs_flat(&contiguous.iter().collect::<SmallVec<[&Tensor; 2]>>(), &result);
        let dtype = xs.first()?.dtype();
        runs.then(|| Self::new(op.clone(), ids.into_iter().zip(moves).collect(), *out, n, dtype))
    }

    fn new(
        op: Arc<dyn AnyPrimitive>,
        xs: SmallVec<[(ValueId, Moves); 2]>,
        out: ValueId,
        n: usize,
        dtype: DType,
    ) -> Self {
        let nowhere = std::ptr::NonNull::<[u64; 2]>::dangling().as_ptr().cast();
        // SAFETY: no element is read or written.
        let has_loop = xs.len() == 2 && n > 0 && unsafe { op.run_flat_at(dtype, [(nowhere, 1); 2], nowhere, 0) };
        Self { op, xs, out, n, by_address: has_loop.then_some(dtype) }
    }

    /// How far the loop moves in each of two operands, once those that repeat are written out.
    pub fn steps(&self) -> [isize; 2] {
        [0, 1].map(|i| isize::from(self.xs[i].1 != Moves::Stays))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::reclaim::reading;

    #[test]
    fn elements_of_what_is_expanded() {
        let _reading = reading();
        let sizes = [3, 5, 7];
        let all = Tensor::arange(2 * 3 * 5 * 7).unwrap();
        let shapes: [&[usize]; 8] = [&[7], &[5, 1], &[3, 1, 1], &[5, 7], &[3, 5, 1], &[1], &[3, 5, 7], &[3, 1, 7]];
        for shape in shapes {
            let n: usize = shape.iter().product();
            for step in [1, 2] {
                let mut strides = vec![step; shape.len()];
                for axis in (1..shape.len()).rev() {
                    strides[axis - 1] = strides[axis] * shape[axis] as isize;
                }
                let x = Tensor::from_parts(all.storage(), DType::Int64, shape, &strides, 0).unwrap();
                let whole = x.expand(&sizes.map(|s| s as i64)).unwrap().to_vec::<i64>().unwrap();
                let moves = Moves::of(&x, &sizes);
                let repeats = match moves {
                    Some(Moves::Repeats(repeats)) => repeats,
                    Some(Moves::Stays) => {
                        assert_eq!(n, 1);
                        continue;
                    }
                    Some(Moves::Along) => {
                        assert!(n == 105 && step == 1);
                        continue;
                    }
                    // Its elements stay in the middle of others that move.
                    None => {
                        assert_eq!(shape, [3, 1, 7]);
                        continue;
                    }
                };
                for start in [0, 1, 6, 7, 34, 35, 104] {
                    for len in [0, 1, 2, 7, 8, 36, 105] {
                        let len = len.min(105 - start);
                        let mut got = vec![-1i64; len + 1];
                        // SAFETY: the operand has its elements, and the vector room for them.
                        unsafe {
                            let (from, to) = (x.op_ptr(), got.as_mut_ptr().cast());
                            repeats.write_out(DType::Int64, from, to, start, len);
                        }
                        assert_eq!((&got[..len], got[len]), (&whole[start..start + len], -1), "{shape:?} {repeats:?}");
                    }
                }
            }
        }
    }
}
