//! Strided iteration: axes of up to a few operands, reordered and merged, then walked.
//!
//! Strides are in elements; 0 is a broadcast axis, negative is allowed. [`plan`] drops axes of size 1, puts the axis on
//! which operand 0 (the output) moves least innermost, and merges axes that every operand walks as one. Nothing is
//! allocated up to 8 axes.

use smallvec::SmallVec;

use crate::simd::{InstructionSet, Isa, Task, for_isa};

/// One axis: its size, and the stride of each of `N` operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis<const N: usize> {
    /// Number of steps.
    pub size: usize,
    /// Elements from one step to the next, per operand.
    pub strides: [isize; N],
}

/// Axes, innermost first.
pub type Axes<const N: usize> = SmallVec<[Axis<N>; 8]>;

/// Reorders and merges the axes; innermost first. Operand 0 decides: its smallest stride comes innermost; operand 1
/// decides ties, and so on; full ties keep the row-major order. An axis of size 0 is kept as it is.
pub fn plan<const N: usize>(sizes: &[usize], strides: [&[isize]; N]) -> Axes<N> {
    let mut axes = gather(sizes, strides);
    let slice = axes.as_mut_slice();
    // Insertion sort: stable, few axes, usually already in order.
    for i in 1..slice.len() {
        let mut j = i;
        while j > 0 && before(&slice[j], &slice[j - 1]) {
            slice.swap(j, j - 1);
            j -= 1;
        }
    }
    merge(&mut axes);
    axes
}

/// As [`plan`], but the axes keep their row-major order: for reductions that report an index.
pub fn plan_in_order<const N: usize>(sizes: &[usize], strides: [&[isize]; N]) -> Axes<N> {
    let mut axes = gather(sizes, strides);
    merge(&mut axes);
    axes
}

/// Axis `i`, or the neutral axis (one step) beyond the last.
#[inline]
pub fn axis<const N: usize>(axes: &[Axis<N>], i: usize) -> Axis<N> {
    axes.get(i).copied().unwrap_or(Axis { size: 1, strides: [1; N] })
}

/// The axis of the largest size, the last of them, if there is one.
#[inline]
pub fn longest<const N: usize>(axes: &[Axis<N>]) -> Option<usize> {
    (0..axes.len()).max_by_key(|&i| axes[i].size)
}

/// Units from which on threads have pieces of about the same size.
const MANY: usize = 64;

/// The axis to cut for threads, and how many steps of it belong together, which are `together` of the innermost: the
/// outermost axis with many such units, or else the one with the most.
pub fn cut<const N: usize>(axes: &[Axis<N>], together: usize) -> (usize, usize) {
    let grain = |i: usize| if i == 0 { together } else { 1 };
    let units = |i: usize| axes[i].size.div_ceil(grain(i));
    let many = (0..axes.len()).rfind(|&i| units(i) >= MANY);
    let cut = many.unwrap_or_else(|| (0..axes.len()).max_by_key(|&i| units(i)).unwrap_or(0));
    (cut, grain(cut))
}

/// Whether the layout is row-major without gaps.
#[inline]
pub fn is_contiguous(sizes: &[usize], strides: &[isize]) -> bool {
    let mut expected = 1isize;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        if size != 1 {
            if stride != expected {
                return false;
            }
            expected *= size as isize;
        }
    }
    true
}

/// Row-major strides of `sizes`.
pub fn row_major(sizes: &[usize]) -> SmallVec<[isize; 8]> {
    let mut strides = repeated(1isize, sizes.len());
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i] * sizes[i] as isize;
    }
    strides
}

/// `SmallVec::from_elem` pushes one by one (10 ns for none at all); a filled array costs one.
#[inline]
fn repeated<T: Copy>(value: T, n: usize) -> SmallVec<[T; 8]> {
    if n <= 8 { SmallVec::from_buf_and_len([value; 8], n) } else { SmallVec::from_elem(value, n) }
}

#[inline(always)]
fn gather<const N: usize>(sizes: &[usize], strides: [&[isize]; N]) -> Axes<N> {
    let strides = strides.map(|s| &s[..sizes.len()]);
    let mut axes = repeated(Axis { size: 1, strides: [0; N] }, sizes.len());
    let (mut n, slice) = (0, axes.as_mut_slice());
    for (i, &size) in sizes.iter().enumerate().rev() {
        if size != 1 {
            slice[n].size = size;
            for (k, s) in strides.iter().enumerate() {
                slice[n].strides[k] = s[i];
            }
            n += 1;
        }
    }
    axes.truncate(n);
    axes
}

fn before<const N: usize>(x: &Axis<N>, y: &Axis<N>) -> bool {
    for (a, b) in x.strides.iter().zip(&y.strides) {
        let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
        if a != b {
            return a < b;
        }
    }
    false
}

#[inline(always)]
fn merge<const N: usize>(axes: &mut Axes<N>) {
    let mut kept = 0;
    let slice = axes.as_mut_slice();
    for i in 1..slice.len() {
        let (inner, outer) = (slice[kept], slice[i]);
        let joins = (0..N).all(|k| outer.strides[k] == inner.strides[k] * inner.size as isize);
        if joins {
            slice[kept].size *= outer.size;
        } else {
            kept += 1;
            slice[kept] = outer;
        }
    }
    axes.truncate(kept + 1);
}

/// Axes of an input and of results, with the results one after the other in the order of the input, if fewer axes are
/// left so.
pub fn dense_results(axes: &Axes<2>) -> Option<Axes<2>> {
    let (mut dense, mut next) = (axes.clone(), 1);
    for axis in &mut dense {
        axis.strides[1] = next;
        next *= axis.size as isize;
    }
    merge(&mut dense);
    (dense.len() < axes.len()).then_some(dense)
}

/// Every position of `axes` (the first is fastest), as one offset per operand.
#[derive(Clone, Debug)]
pub struct Offsets<'a, const N: usize> {
    axes: &'a [Axis<N>],
    index: SmallVec<[usize; 8]>,
    next: Option<[isize; N]>,
}

impl<'a, const N: usize> Offsets<'a, N> {
    /// Starts at offset 0; yields nothing if an axis is empty.
    #[inline]
    pub fn new(axes: &'a [Axis<N>]) -> Self {
        let empty = axes.iter().any(|a| a.size == 0);
        Offsets { axes, index: repeated(0, axes.len()), next: (!empty).then_some([0; N]) }
    }

    /// Starts at the `position`-th, counted from 0.
    pub fn starting_at(axes: &'a [Axis<N>], position: usize) -> Self {
        let (mut all, mut rest) = (Self::new(axes), position);
        let Some(start) = &mut all.next else { return all };
        for (axis, index) in axes.iter().zip(&mut all.index) {
            *index = rest % axis.size;
            rest /= axis.size;
            for (o, s) in start.iter_mut().zip(&axis.strides) {
                *o += s * *index as isize;
            }
        }
        if rest > 0 {
            all.next = None;
        }
        all
    }
}

impl<const N: usize> Iterator for Offsets<'_, N> {
    type Item = [isize; N];

    #[inline]
    fn next(&mut self) -> Option<[isize; N]> {
        let here = self.next?;
        let mut offsets = here;
        for (i, axis) in self.axes.iter().enumerate() {
            self.index[i] += 1;
            if self.index[i] < axis.size {
                for (o, s) in offsets.iter_mut().zip(&axis.strides) {
                    *o += s;
                }
                self.next = Some(offsets);
                return Some(here);
            }
            self.index[i] = 0;
            for (o, s) in offsets.iter_mut().zip(&axis.strides) {
                *o -= s * (axis.size as isize - 1);
            }
        }
        self.next = None;
        Some(here)
    }
}

/// Whether all are from 0 to `n - 1`.
#[inline]
pub fn within(values: &[i64], n: usize) -> bool {
    /// From so many values on a call for wider vectors takes less time.
    const MANY: usize = 64;
    let task = Within { values, last: n as i64 - 1 };
    if values.len() < MANY {
        return task.signs() >= 0;
    }
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), task) }
}

struct Within<'a> {
    values: &'a [i64],
    last: i64,
}

impl Within<'_> {
    /// Negative if a value is, or is larger than the last: old CPUs cannot compare 64 bits in vectors.
    #[inline(always)]
    fn signs(&self) -> i64 {
        let mut signs = 0;
        for &i in self.values {
            signs |= i | self.last.wrapping_sub(i);
        }
        signs
    }
}

impl Task for Within<'_> {
    type Out = bool;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> bool {
        self.signs() >= 0
    }
}

/// What an element of an index says, from one read: the memory may change meanwhile, and the compiler, which may assume
/// that it does not, could read a value that was checked a second time where it is used.
#[inline(always)]
pub fn read_once(index: &i64) -> i64 {
    // SAFETY: of a reference.
    unsafe { std::ptr::read_volatile(index) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_operands_become_one_axis() {
        let s = [12, 4, 1];
        let axes = plan(&[2, 3, 4], [&s, &s]);
        assert_eq!(axes.as_slice(), &[Axis { size: 24, strides: [1, 1] }]);
    }

    #[test]
    fn a_value_outside_is_seen_at_every_place() {
        for count in [1, 2, 7, 63, 64, 65, 100, 131] {
            let mut values: Vec<i64> = (0..count).map(|i| i % 9).collect();
            assert!(within(&values, 9));
            for i in 0..values.len() {
                for wrong in [9, -1, i64::MIN, i64::MAX] {
                    let right = std::mem::replace(&mut values[i], wrong);
                    assert!(!within(&values, 9), "{wrong} at {i} of {count}");
                    values[i] = right;
                }
            }
        }
        assert!(within(&[], 0) && !within(&[0], 0));
    }

    #[test]
    fn threads_part_an_axis_of_which_each_gets_as_much() {
        let of = |sizes: &[usize], together| {
            let axes: Axes<1> = sizes.iter().map(|&size| Axis { size, strides: [1] }).collect();
            cut(&axes, together)
        };
        // Sixteen rows of three thousand rather than three times a thousand in each.
        assert_eq!(of(&[3136, 16, 8], 1024), (1, 1));
        assert_eq!(of(&[3136, 16, 8], 1), (0, 1));
        assert_eq!(of(&[50176, 8], 1024), (0, 1024));
        assert_eq!(of(&[100_000, 64, 70, 3], 1024), (2, 1));
        assert_eq!(of(&[900], 1024), (0, 1024));
        assert_eq!(of(&[], 1024), (0, 1024));
    }

    #[test]
    fn a_permuted_pair_is_put_back_in_order() {
        let axes = plan(&[4, 3, 2], [&[1, 4, 12], &[1, 4, 12]]);
        assert_eq!(axes.as_slice(), &[Axis { size: 24, strides: [1, 1] }]);
    }

    #[test]
    fn positions_can_be_walked_from_any_on() {
        let axes = plan_in_order(&[3, 2, 4], [&[100, 10, 2], &[1, 0, 0]]);
        let all: Vec<[isize; 2]> = Offsets::new(&axes).collect();
        for start in 0..=all.len() + 1 {
            let rest: Vec<[isize; 2]> = Offsets::starting_at(&axes, start).collect();
            assert_eq!(rest, all[start.min(all.len())..]);
        }
        assert_eq!(Offsets::<1>::starting_at(&[], 0).count(), 1);
        assert_eq!(Offsets::<1>::starting_at(&[], 1).count(), 0);
        assert_eq!(Offsets::starting_at(&[Axis { size: 0, strides: [1] }], 0).count(), 0);
    }

    #[test]
    fn the_output_leads_and_broadcasts_stay_apart() {
        let axes = plan(&[3, 1, 5], [&[5, 5, 1], &[1, 0, 3], &[0, 0, 1]]);
        assert_eq!(axes.as_slice(), &[Axis { size: 5, strides: [1, 3, 1] }, Axis { size: 3, strides: [5, 1, 0] }]);
    }

    #[test]
    fn negative_strides_merge_and_order_is_kept_on_demand() {
        let axes = plan(&[2, 3], [&[-3, -1]]);
        assert_eq!(axes.as_slice(), &[Axis { size: 6, strides: [-1] }]);
        let axes = plan_in_order(&[2, 3], [&[1, 2]]);
        assert_eq!(axes[0], Axis { size: 3, strides: [2] });
    }

    #[test]
    fn offsets_visit_every_position_once() {
        let sizes = [2, 3, 2, 2];
        let strides = [100isize, 20, -5, 1];
        let axes = plan(&sizes, [&strides]);
        let mut seen: Vec<isize> = Offsets::new(&axes).map(|[o]| o).collect();
        seen.sort_unstable();
        let mut expected = Vec::new();
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..2 {
                    for l in 0..2 {
                        expected.push(100 * i + 20 * j - 5 * k + l);
                    }
                }
            }
        }
        expected.sort_unstable();
        assert_eq!(seen, expected);
        assert_eq!(Offsets::new(&plan(&[0, 3], [&[3, 1]])).count(), 0);
        assert_eq!(Offsets::<1>::new(&[]).count(), 1);
        assert!(is_contiguous(&[2, 1, 3], &[3, 77, 1]) && !is_contiguous(&[2, 3], &[1, 2]));
        assert_eq!(row_major(&[2, 3, 4]).as_slice(), &[12, 4, 1]);
    }
}
