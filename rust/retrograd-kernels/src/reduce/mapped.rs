//! Sums of what a function gives, which is never in memory as a whole.

use std::mem::MaybeUninit;

use super::super::real::Real;
use super::super::simd::SimdElement;
use super::engine::{Cascade, ELEMENT_COST, row};
use super::{Reduce, Sum};
use crate::parallel::{SharedPtr, split};
use crate::pointwise::RunBody;
use crate::thresholds::reduce::{BLOCK, PART};

/// The sum of `f([inputs..])` over `n` elements; an input of one element is the same for all. It is the very number
/// that [`row`] gives of the results of `f`: they are summed block by block, in the same tree.
///
/// # Panics
/// If an input has neither `n` elements nor one.
pub fn sum_of<T, const N: usize>(f: RunBody<T, N>, n: usize, inputs: [&[T]; N]) -> T
where
    T: Real + SimdElement + Send + Sync,
    Sum: Reduce<T, Acc = T>,
{
    assert!(inputs.iter().all(|x| x.len() == n || x.len() == 1), "inputs of {n} elements or one");
    if n <= PART {
        return part(f, 0, n, inputs);
    }
    let mut parts = vec![Sum.init(); n.div_ceil(PART)];
    let places = SharedPtr(parts.as_mut_ptr());
    // Each element is read and summed, and goes through `f`.
    split(n, PART, n as f64 * 3.0 * ELEMENT_COST, &|range| {
        for start in range.clone().step_by(PART) {
            let sum = part(f, start, PART.min(range.end - start), inputs);
            // SAFETY: the part's place is this piece's alone.
            unsafe { *places.get().add(start / PART) = sum };
        }
    });
    let mut cascade = Cascade::default();
    for &part in &parts {
        cascade.push(&Sum, part);
    }
    cascade.total(&Sum)
}

/// The sum over `n` elements from `start` on.
fn part<T, const N: usize>(f: RunBody<T, N>, start: usize, n: usize, inputs: [&[T]; N]) -> T
where
    T: Real + SimdElement,
    Sum: Reduce<T, Acc = T>,
{
    let mut results = [MaybeUninit::<T>::uninit(); BLOCK];
    // The inputs of one element, as a block.
    let numbers: [Option<Vec<T>>; N] = inputs.map(|x| (x.len() == 1 && n > 1).then(|| vec![x[0]; n.min(BLOCK)]));
    let mut cascade = Cascade::default();
    for done in (0..n).step_by(BLOCK) {
        let m = BLOCK.min(n - done);
        let run = std::array::from_fn(|k| match &numbers[k] {
            Some(block) => &block[..m],
            None if inputs[k].len() == 1 => inputs[k],
            None => &inputs[k][start + done..start + done + m],
        });
        f(run, &mut results[..m]);
        // SAFETY: (row 1) the body has written `m` results.
        cascade.push(&Sum, unsafe { row(&Sum, m, results.as_ptr().cast::<T>(), 1) });
    }
    cascade.total(&Sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointwise::each;

    fn is_the_sum_of_the_results<T>(of: fn(usize) -> T)
    where
        T: Real + SimdElement + Send + Sync + PartialEq + std::fmt::Debug,
        Sum: Reduce<T, Acc = T>,
    {
        let product = |v: [&[T]; 2], o: &mut [MaybeUninit<T>]| each(v, o, |[x, y]| x.mul(y));
        let tail = if cfg!(miri) { 3 } else { 2 * PART + BLOCK + 3 };
        for n in [0, 1, 2, 9, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7, PART, PART + 1, 3 * PART, 2 * PART + tail] {
            let x: Vec<T> = (0..n).map(of).collect();
            let y: Vec<T> = (0..n).map(|i| of(i + 3)).collect();
            for y in [&y[..], &[of(5)]] {
                let results: Vec<T> = (0..n).map(|i| x[i].mul(y[i % y.len()])).collect();
                // SAFETY: (1) all of the vector.
                let want = unsafe { row(&Sum, n, results.as_ptr(), 1) };
                assert_eq!(sum_of(&product, n, [&x, y]), want, "of {n}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_results_in_memory() {
        is_the_sum_of_the_results(|i| ((i * 37 + 11) % 101) as f32 * 0.37 - 17.0);
        is_the_sum_of_the_results(|i| ((i * 37 + 11) % 101) as f64 * 0.37 - 17.0);
    }

    #[test]
    #[should_panic(expected = "inputs of 3 elements or one")]
    fn other_lengths_are_refused() {
        sum_of(&|v: [&[f32]; 2], o: &mut [MaybeUninit<f32>]| each(v, o, |[x, _]| x), 3, [&[0.0; 3], &[0.0; 2]]);
    }
}
