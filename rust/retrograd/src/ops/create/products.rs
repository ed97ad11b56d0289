//! Combinations of the elements of vectors.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::ops::view;
use crate::tensor::Tensor;

/// All ways to take `r` of the elements of a vector, in the order of their indices.
///
/// Args: `input` a vector; `r` how many; `with_replacement` lets an element be taken again. Returns: a tensor of sizes (n, r).
/// Derivative: `g` summed over the places where each element was taken. Raises: RuntimeError for another shape or a
/// negative `r`.
///
/// >>> import retrograd as rg
/// >>> rg.combinations(rg.tensor([1, 2, 3])).tolist()
/// [[1, 2], [1, 3], [2, 3]]
#[op(function)]
pub fn combinations(input: &Tensor, #[default(2)] r: i64, #[default(false)] with_replacement: bool) -> Result<Tensor> {
    const OP: &str = "combinations";
    if input.ndim() != 1 {
        return Err(Error::shape(OP, format!("Expect a 1D vector, but got shape {:?}", input.sizes())));
    }
    let r = usize::try_from(r).map_err(|_| Error::shape(OP, format!("Expect a non-negative number, but got {r}")))?;
    if r == 0 {
        return Tensor::empty(&[0], input.dtype());
    }
    let n = input.numel() as i64;
    // Columns of indices, taken one after the other.
    let mut columns: Vec<Vec<i64>> = vec![(0..n).collect()];
    for _ in 1..r {
        let last = columns.last().expect("one at least");
        let from = |i: i64| if with_replacement { i } else { i + 1 };
        let repeats: Vec<usize> = last.iter().map(|&i| (n - from(i)).max(0) as usize).collect();
        let next = last.iter().flat_map(|&i| from(i)..n).collect();
        let spread = |c: &Vec<i64>| c.iter().zip(&repeats).flat_map(|(&i, &k)| std::iter::repeat_n(i, k)).collect();
        columns = columns.iter().map(spread).collect();
        columns.push(next);
    }
    let take = |at: &Vec<i64>| input.index_select(0, &Tensor::from_slice(at, &[at.len()])?);
    view::stack(&columns.iter().map(take).collect::<Result<Vec<_>>>()?, 1)
}
