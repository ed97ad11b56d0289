//! Combinations of the elements of vectors.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::interrupt;
use crate::ops::{memory, view};
use crate::tensor::{DType, Tensor};

/// All ways to take `r` of the elements of a vector, in the order of their indices.
///
/// Args: `input` a vector; `r` how many; `with_replacement` lets an element be taken again. Returns: a tensor of sizes
/// (n, r).
/// Derivative: `g` summed over the places where each element was taken. Raises: RuntimeError for another shape or a
/// negative `r`.
///
/// >>> rg.combinations(rg.tensor([1, 2, 3])).tolist()
/// [[1, 2], [1, 3], [2, 3]]
#[op(function, "(r=2, with_replacement=False)")]
pub fn combinations(input: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
    const OP: &str = "combinations";
    if input.ndim() != 1 {
        return Err(Error::shape(OP, format!("Expect a 1D vector, but got shape {:?}", input.sizes())));
    }
    let r = usize::try_from(r).map_err(|_| Error::shape(OP, format!("Expect a non-negative number, but got {r}")))?;
    if r == 0 {
        return Tensor::empty(&[0], input.dtype());
    }
    let n = input.numel();
    let rows = ways(n, r, with_replacement);
    if rows == Some(0) {
        return memory::cloned(&view::expand_to(&input.narrow(0, 0, 0)?.unsqueeze(1)?, &[0, r])?);
    }
    // A row of indices for each column of the result.
    let at = Tensor::empty(&[r, rows.unwrap_or(usize::MAX)], DType::Int64).map_err(|e| e.named(OP))?;
    let rows = at.sizes()[1];
    let to = at.ptr::<i64>();
    let mut taken: Vec<usize> = if with_replacement { vec![0; r] } else { (0..r).collect() };
    for row in 0..rows {
        if row * r % BLOCK < r {
            interrupt::check()?;
        }
        for (k, &i) in taken.iter().enumerate() {
            // SAFETY: S1 and S3: element (k, row) of a fresh contiguous tensor of `r` times `rows` elements.
            unsafe { *to.add(k * rows + row) = i as i64 };
        }
        // The last place that can move on does, and those behind it follow as closely as they may.
        let most = |k: usize| if with_replacement { n - 1 } else { n - r + k };
        if let Some(k) = (0..r).rev().find(|&k| taken[k] < most(k)) {
            let next = taken[k] + 1;
            for (j, i) in taken[k..].iter_mut().enumerate() {
                *i = if with_replacement { next } else { next + j };
            }
        }
    }
    let take = |k: usize| input.index_select(0, &at.row(k));
    view::stack(&(0..r).map(take).collect::<Result<Vec<_>>>()?, 1)
}

/// Indices that are written between two checks for an interrupt.
const BLOCK: usize = 1 << 20;

/// In how many ways `r > 0` of `n` can be taken, if so many can be counted.
fn ways(n: usize, r: usize, with_replacement: bool) -> Option<usize> {
    if n == 0 || !with_replacement && r > n {
        return Some(0);
    }
    let from = if with_replacement { (n as u128) + (r as u128) - 1 } else { n as u128 };
    let few = (r as u128).min(from - r as u128);
    // Each product is a number of ways itself, and at least twice the last one, so that this ends soon.
    let count =
        (1..=few).try_fold(1u128, |ways, k| Some(ways.checked_mul(from - few + k)? / k).filter(|&w| w >> 64 == 0));
    count.and_then(|ways| usize::try_from(ways).ok())
}
