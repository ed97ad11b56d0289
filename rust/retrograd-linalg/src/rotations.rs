//! Plane rotations of neighbouring columns.

use retrograd_kernels::real::Real;
use retrograd_kernels::simd::{InstructionSet, Isa, Task, Vector, for_isa};

/// Vectors of a column that are rotated together, since one waits for itself.
const TOGETHER: usize = 4;
/// Sweeps that are applied together: some rows of all columns then stay in the first-level cache.
const SWEEPS: usize = 16;

/// Sweeps over columns of `rows` elements, which are applied as late as possible.
pub struct Rotations<'a, R> {
    rows: usize,
    columns: &'a mut [R],
    /// The first column of a sweep, and how many rotations it has.
    sweeps: Vec<(usize, usize)>,
    turns: Vec<[R; 2]>,
}

impl<'a, R: Real> Rotations<'a, R> {
    pub fn of(rows: usize, columns: &'a mut [R]) -> Self {
        Self { rows, columns, sweeps: Vec::new(), turns: Vec::new() }
    }

    /// Rotates the columns from `first` on, the last two first: each turn is a cosine and a sine, with which two
    /// neighbours become `cosine left - sine right` and `sine left + cosine right`.
    pub fn sweep(&mut self, first: usize, turns: &[[R; 2]]) {
        assert!((first + turns.len() + 1) * self.rows <= self.columns.len(), "there are such columns");
        self.sweeps.push((first, turns.len()));
        self.turns.extend_from_slice(turns);
        if self.sweeps.len() == SWEEPS {
            self.columns();
        }
    }

    /// The columns, all sweeps applied.
    pub fn columns(&mut self) -> &mut [R] {
        let (sweeps, turns) = (&self.sweeps[..], &self.turns[..]);
        let task = Rotate { rows: self.rows, columns: self.columns.as_mut_ptr(), sweeps, turns };
        // SAFETY: (1) `sweep` looked for the columns, and (2) has as many turns; they are borrowed mutably.
        unsafe { for_isa(InstructionSet::detect(), task) };
        self.sweeps.clear();
        self.turns.clear();
        self.columns
    }
}

/// Duties: 1. The columns that sweeps name are there, and nobody else touches them. 2. `turns` has the rotations of all
/// sweeps.
struct Rotate<'a, R> {
    rows: usize,
    columns: *mut R,
    sweeps: &'a [(usize, usize)],
    turns: &'a [[R; 2]],
}

impl<R: Real> Task for Rotate<'_, R> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let len = R::Vector::<S>::LEN;
        let mut row = 0;
        // SAFETY: our duties; the rows are there.
        unsafe {
            while row + 2 * TOGETHER * len <= self.rows {
                self.some_rows::<R::Vector<S>, TOGETHER>(row, len);
                row += TOGETHER * len;
            }
            // At most twice as many, the last of which may be a part.
            let left = (self.rows - row).div_ceil(len);
            let there = self.rows - row - left.saturating_sub(1) * len;
            match left {
                0 => {}
                1 => self.some_rows::<R::Vector<S>, 1>(row, there),
                2 => self.some_rows::<R::Vector<S>, 2>(row, there),
                3 => self.some_rows::<R::Vector<S>, 3>(row, there),
                4 => self.some_rows::<R::Vector<S>, 4>(row, there),
                5 => self.some_rows::<R::Vector<S>, 5>(row, there),
                6 => self.some_rows::<R::Vector<S>, 6>(row, there),
                7 => self.some_rows::<R::Vector<S>, 7>(row, there),
                _ => self.some_rows::<R::Vector<S>, 8>(row, there),
            }
        }
    }
}

impl<R: Real> Rotate<'_, R> {
    /// All sweeps over `N` vectors of each column, from `row` on; the last one has `there` elements.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`. 2. The columns have these rows. 3. The duties of the type.
    #[inline(always)]
    unsafe fn some_rows<V: Vector<Elem = R>, const N: usize>(&self, row: usize, there: usize) {
        let mut turns = self.turns;
        for &(first, count) in self.sweeps {
            let (these, rest) = turns.split_at(count);
            turns = rest;
            let mut p = self.columns.wrapping_add((first + count) * self.rows + row);
            // SAFETY: (1-3) ours: elements of the columns from `first` on.
            unsafe {
                let mut right = [V::load_first(p, 0); N];
                for (k, right) in right.iter_mut().enumerate() {
                    *right = load(p.wrapping_add(k * V::LEN), count_of::<V>(k + 1 == N, there));
                }
                for &[cosine, sine] in these.iter().rev() {
                    let q = p.wrapping_sub(self.rows);
                    for (k, right) in right.iter_mut().enumerate() {
                        let count = count_of::<V>(k + 1 == N, there);
                        let left: V = load(q.wrapping_add(k * V::LEN), count);
                        let (c, s) = (left.splat(cosine), left.splat(sine));
                        store(left.fma(s, *right * c), p.wrapping_add(k * V::LEN), count);
                        *right = left.fma(c, *right * left.splat(R::ZERO.sub(sine)));
                    }
                    p = q;
                }
                for (k, right) in right.into_iter().enumerate() {
                    store(right, p.wrapping_add(k * V::LEN), count_of::<V>(k + 1 == N, there));
                }
            }
        }
    }
}

/// How many elements a vector has, if it is the last one `there`.
#[inline(always)]
fn count_of<V: Vector>(is_last: bool, there: usize) -> usize {
    if is_last { there } else { V::LEN }
}

/// A vector, or the elements of it that are there.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `there` elements are readable.
#[inline(always)]
unsafe fn load<V: Vector>(p: *const V::Elem, there: usize) -> V {
    // SAFETY: (1, 2) ours.
    unsafe { if there == V::LEN { V::load(p) } else { V::load_first(p, there) } }
}

/// See [`load`].
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. `there` elements are writable.
#[inline(always)]
unsafe fn store<V: Vector>(x: V, p: *mut V::Elem, there: usize) {
    // SAFETY: (1, 2) ours.
    unsafe { if there == V::LEN { x.store(p) } else { x.store_first(p, there) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::noise;

    fn check<R: Real + crate::number::Number + Into<f64>>(rows: usize, sweeps: &[(usize, usize)], near: f64) {
        let mut columns = noise::<R>(rows * 12, 3);
        let mut want: Vec<f64> = columns.iter().map(|&x| x.into()).collect();
        let mut rotations = Rotations::of(rows, &mut columns);
        for (k, &(first, count)) in sweeps.iter().enumerate() {
            let turns: Vec<[R; 2]> = noise::<R>(2 * count, 4 + k as u64).chunks(2).map(|x| [x[0], x[1]]).collect();
            rotations.sweep(first, &turns);
            for (i, turn) in turns.iter().enumerate().rev() {
                let [c, s]: [f64; 2] = turn.map(Into::into);
                for row in 0..rows {
                    let at = (first + i) * rows + row;
                    let (left, right) = (want[at], want[at + rows]);
                    want[at] = c * left - s * right;
                    want[at + rows] = s * left + c * right;
                }
            }
        }
        for (i, (&got, want)) in rotations.columns().iter().zip(want).enumerate() {
            let got: f64 = got.into();
            assert!((got - want).abs() <= near, "{rows} rows, {sweeps:?}, element {i}: {got} for {want}");
        }
    }

    #[test]
    fn columns_are_rotated_from_the_last_on() {
        let many: Vec<(usize, usize)> = (0..2 * SWEEPS + 1).map(|k| (k % 5, 11 - k % 5 - k % 3)).collect();
        for rows in [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 131] {
            for sweeps in [&[(0, 11)][..], &[(3, 1)], &[(2, 5), (0, 0), (1, 10)], &many] {
                check::<f64>(rows, sweeps, 1e-12);
                check::<f32>(rows, sweeps, 1e-3);
            }
        }
    }
}
