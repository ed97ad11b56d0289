//! Schur forms of real Hessenberg matrices, which are zero below the numbers under the diagonal.

use std::ops::Range;

use faer::c64;
use retrograd_kernels::simd::{InstructionSet, Isa, Task, Vector, for_isa};

/// Sweeps for an eigenvalue after which it is given up, and how many without one have another shift.
const MOST: usize = 60;
const STUCK: usize = 10;
/// What is less, of numbers near 1, is 0 under the diagonal: no quotient overflows.
const TINY: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Lengths below it are found with larger numbers: squares would lose digits. A power of two.
const VANISHING: f64 = f64::from_bits((1023 - 480) << 52);
/// Reflections that change together what is not next to them, and how many rows and columns these change.
const TOGETHER: usize = 6;
const ALL: usize = TOGETHER + 2;

/// The distance of the columns of a matrix with `n` rows: an odd number of cache lines, so that the elements of a row
/// do not drive one another out of the caches.
pub fn step(n: usize) -> usize {
    ((n + ALL).div_ceil(8) | 1) * 8
}

/// The numbers of a matrix with `n` rows.
pub fn size(n: usize) -> usize {
    (n + ALL) * step(n)
}

/// The eigenvalues of the column-major matrix `h` of [`size`], whose columns are [`step`] apart, with zeros between and
/// behind them, in the order of its diagonal; of a pair of conjugates the one with the positive imaginary part comes
/// first. A number under the diagonal that is less than `eps` of its neighbours is 0. Whether the iteration converged.
/// All numbers are finite, and the largest is near 1.
///
/// Without `z` nothing is left of `h`. With `z`, a matrix in the same layout that is multiplied from the right by what
/// is orthogonal, `h` becomes its Schur form: a triangle, but for the squares of two rows that have pairs of
/// conjugates.
///
/// QR with two shifts at a time (J. G. F. Francis, "The QR transformation", 1962; J. H. Wilkinson and C. Reinsch,
/// "Handbook for Automatic Computation", 1971, contributions II/14 and II/15).
pub fn decompose(n: usize, h: &mut [f64], z: Option<&mut [f64]>, values: &mut [c64], eps: f64) -> bool {
    Hessenberg { n, step: step(n), h, z, eps, level: InstructionSet::detect() }.decompose(values)
}

struct Hessenberg<'a> {
    n: usize,
    step: usize,
    h: &'a mut [f64],
    z: Option<&'a mut [f64]>,
    eps: f64,
    level: InstructionSet,
}

/// What two shifts are the eigenvalues of: the diagonal, and the product of the other two numbers.
#[derive(Clone, Copy)]
struct Shifts {
    x: f64,
    y: f64,
    w: f64,
}

/// The first column that a sweep makes 0 below its first number, up to its length.
type Column = [f64; 3];

impl Hessenberg<'_> {
    /// [`decompose`].
    fn decompose(mut self, values: &mut [c64]) -> bool {
        let (mut to, mut sweeps) = (self.n, 0);
        while to > 0 {
            let from = self.start(to);
            let last = to - 1;
            if from == last {
                values[last] = c64::new(self.at(last, last), 0.0);
            } else if from + 2 == to {
                [values[from], values[last]] = self.pair(from);
            } else {
                sweeps += 1;
                if sweeps == MOST {
                    return false;
                }
                let shifts = if sweeps % STUCK == 0 { self.other_shifts(last) } else { self.shifts(last) };
                self.sweep(from, to, shifts);
                continue;
            }
            (to, sweeps) = (from, 0);
        }
        true
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.h[j * self.step + i]
    }

    /// The first of the rows before `to` that depend on one another; what is before it gets its 0.
    fn start(&mut self, to: usize) -> usize {
        let mut row = to - 1;
        while row > 0 {
            let (above, here) = (self.at(row - 1, row - 1).abs(), self.at(row, row).abs());
            // Where both are 0 the matrix is the measure, whose largest number is near 1.
            let size = if above + here == 0.0 { 1.0 } else { above + here };
            if self.at(row, row - 1).abs() <= (self.eps * size).max(TINY) {
                self.h[(row - 1) * self.step + row] = 0.0;
                break;
            }
            row -= 1;
        }
        row
    }

    /// The eigenvalues of two rows from `i` on, which become a triangle if these are real and there is a `z`.
    fn pair(&mut self, i: usize) -> [c64; 2] {
        let (a, b, c, d) = (self.at(i, i), self.at(i, i + 1), self.at(i + 1, i), self.at(i + 1, i + 1));
        let half = 0.5 * (a - d);
        let square = half * half + b * c;
        if square < 0.0 {
            let root = (-square).sqrt();
            return [c64::new(d + half, root), c64::new(d + half, -root)];
        }
        let far = half + square.sqrt().copysign(half);
        let near = if far == 0.0 { 0.0 } else { b * c / far };
        let values = [d + far, d - near];
        // The first has the eigenvector (far, c).
        self.turn(i, [far, c], values);
        values.map(|value| c64::new(value, 0.0))
    }

    /// Turns two rows and columns from `i` on, so that the first goes along `vector`, if there is a `z`.
    fn turn(&mut self, i: usize, [x, y]: [f64; 2], diagonal: [f64; 2]) {
        let Some(z) = self.z.as_deref_mut() else { return };
        let (step, h) = (self.step, &mut *self.h);
        let length = x.hypot(y);
        if length > 0.0 {
            let (cosine, sine) = (x / length, y / length);
            let turned = |x: f64, y: f64| (cosine * x + sine * y, cosine * y - sine * x);
            for column in h.chunks_exact_mut(step).take(self.n).skip(i) {
                (column[i], column[i + 1]) = turned(column[i], column[i + 1]);
            }
            for (matrix, rows) in [(&mut *h, i + 2), (z, self.n)] {
                let (left, right) = matrix[i * step..].split_at_mut(step);
                for (x, y) in left[..rows].iter_mut().zip(&mut right[..rows]) {
                    (*x, *y) = turned(*x, *y);
                }
            }
        }
        h[i * step + i + 1] = 0.0;
        [h[i * step + i], h[(i + 1) * step + i + 1]] = diagonal;
    }

    fn shifts(&self, last: usize) -> Shifts {
        let w = self.at(last, last - 1) * self.at(last - 1, last);
        Shifts { x: self.at(last, last), y: self.at(last - 1, last - 1), w }
    }

    fn other_shifts(&self, last: usize) -> Shifts {
        let size = self.at(last, last - 1).abs() + self.at(last - 1, last - 2).abs();
        let x = self.at(last, last) + 0.75 * size;
        Shifts { x, y: x, w: -0.4375 * size * size }
    }

    /// Where a sweep of rows `from..to` may begin: the last place where what it would leave before it is next to
    /// nothing. The first column of the product with both shifts there.
    fn first(&self, from: usize, to: usize, Shifts { x, y, w }: Shifts) -> (usize, Column) {
        let mut m = to - 3;
        loop {
            let (z, below) = (self.at(m, m), self.at(m + 1, m));
            let (r, s) = (x - z, y - z);
            let column =
                [(r * s - w) / below + self.at(m, m + 1), self.at(m + 1, m + 1) - z - r - s, self.at(m + 2, m + 1)];
            let near_zero = m > from && {
                let left = self.at(m, m - 1).abs() * (column[1].abs() + column[2].abs());
                let near = self.at(m - 1, m - 1).abs() + z.abs() + self.at(m + 1, m + 1).abs();
                left <= self.eps * column[0].abs() * near
            };
            if m == from || near_zero {
                let size = column.iter().map(|x| x.abs()).sum::<f64>();
                return (m, column.map(|x| x / size));
            }
            m -= 1;
        }
    }

    fn sweep(&mut self, from: usize, to: usize, shifts: Shifts) {
        let (first, column) = self.first(from, to, shifts);
        // Without vectors, the rows and columns are a matrix of their own.
        let (top, end) = if self.z.is_some() { (0, self.n) } else { (from, to) };
        assert!(to <= self.n && self.h.len() >= size(self.n), "a matrix with zeros behind it");
        let z = self.z.as_deref_mut().map(|z| {
            assert!(z.len() >= size(self.n), "as `h`");
            z.as_mut_ptr()
        });
        let h = self.h.as_mut_ptr();
        let sweep = Sweep { n: self.n, step: self.step, h, z, split: first > from, first, to, top, end, column };
        // SAFETY: (1, 2) as just checked, and borrowed mutably.
        unsafe { for_isa(self.level, sweep) }
    }
}

/// Reflections of three rows and columns before `to`, each a row further than the one before, from row `first` on: of
/// the columns up to `end`, of the rows from `top` on, and of the columns of `z`. More rows and columns than these may
/// be changed: what is in them are zeros, or nothing that counts.
///
/// A few reflections change the rows and columns next to them at once, and all others together, in vectors of columns
/// or of rows.
///
/// Duties: 1. `h` and `z` are readable and writable for [`size`] numbers, and nobody else touches them. 2. `first + 2 <
/// to <= end <= n`, and `top` is no more than `first`.
struct Sweep {
    n: usize,
    step: usize,
    h: *mut f64,
    z: Option<*mut f64>,
    /// Whether there is a number next to nothing before the first row.
    split: bool,
    first: usize,
    to: usize,
    top: usize,
    end: usize,
    column: Column,
}

/// `x -= tau v (v^T x)` for three neighbours `x`; the first of `v` is 1.
#[derive(Clone, Copy, Default)]
struct Reflection {
    tau: f64,
    v: [f64; 2],
}

impl Reflection {
    #[inline(always)]
    fn of(self, [a, b, c]: [f64; 3]) -> [f64; 3] {
        let Self { tau, v } = self;
        let by = tau * (a + v[0] * b + v[1] * c);
        [a - by, b - by * v[0], c - by * v[1]]
    }

    #[inline(always)]
    fn of_vectors<V: Vector<Elem = f64>>(self, [a, b, c]: [V; 3]) -> [V; 3] {
        let [tau, v, w] = [self.tau, self.v[0], self.v[1]].map(|x| a.splat(x));
        let by = -(c.fma(w, b.fma(v, a)) * tau);
        [a + by, by.fma(v, b), by.fma(w, c)]
    }
}

type Reflections = [Reflection; TOGETHER];

impl Task for Sweep {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { n, step, h, z, split, first, to, top, end, mut column } = self;
        for start in (first..to - 1).step_by(TOGETHER) {
            let next = (start + TOGETHER).min(to - 1);
            // Columns from `right` on are changed later, and rows before `above`.
            let (right, above) = (to.min(next + 3), start / ALL * ALL);
            let mut all = Reflections::default();
            for k in start..next {
                // SAFETY: duties 1 and 2: a column, with two rows below row `to - 2`, and two columns behind that.
                // There is one before the first row if that is not the first of its part.
                unsafe {
                    let before = h.wrapping_add(k.wrapping_sub(1).wrapping_mul(step)).wrapping_add(k);
                    if k > first {
                        column = before.cast::<Column>().read();
                    }
                    let (scale, s) = length(column);
                    if s == 0.0 {
                        if k > first {
                            before.add(1).cast::<[f64; 2]>().write([0.0; 2]);
                        }
                        continue;
                    }
                    let [p, q, r] = column.map(|x| x * scale);
                    let s = s.copysign(p);
                    if k > first {
                        before.cast::<Column>().write([-s / scale, 0.0, 0.0]);
                    } else if split {
                        *before = -*before;
                    }
                    let p = p + s;
                    let reflection = Reflection { tau: p / s, v: [q / p, r / p] };
                    all[k - start] = reflection;
                    near_rows(h.add(k * step + k), step, right - k, reflection);
                    near_columns::<S::F64>(h.add(k * step), step, above..to.min(k + 4), reflection);
                }
            }
            // SAFETY: (1) Task 2. (2) Duties 1 and 2: rows and columns before `n`, and fewer than `ALL` behind.
            unsafe {
                far_rows::<S::F64>(h.add(right * step + start), step, end - right, &all);
                far_columns::<S::F64>(h.add(start * step), step, top / ALL * ALL..above, &all);
                if let Some(z) = z {
                    far_columns::<S::F64>(z.add(start * step), step, 0..n, &all);
                }
            }
        }
    }
}

/// A power of two that brings a column near 1 if its squares vanish, and the length of the column multiplied by it.
#[inline(always)]
fn length(column: Column) -> (f64, f64) {
    let square = |scale: f64| column.map(|x| (x * scale).powi(2)).iter().sum::<f64>();
    let sum = square(1.0);
    if sum >= VANISHING * VANISHING { (1.0, sum.sqrt()) } else { (1.0 / VANISHING, square(1.0 / VANISHING).sqrt()) }
}

/// Changes the first three numbers of some columns.
///
/// A function of its own: with vectors, the compiler gathers what is far apart.
///
/// # Safety
/// 1. They are readable and writable.
#[inline(never)]
unsafe fn near_rows(mut x: *mut f64, step: usize, columns: usize, reflection: Reflection) {
    for _ in 0..columns {
        // SAFETY: duty 1.
        unsafe { x.cast::<[f64; 3]>().write(reflection.of(x.cast::<[f64; 3]>().read())) };
        x = x.wrapping_add(step);
    }
}

/// Changes rows of the first three columns, and what else is in the last vector.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The rows are readable and writable, also those that whole vectors have
///    besides.
#[inline(always)]
unsafe fn near_columns<V: Vector<Elem = f64>>(x: *mut f64, step: usize, rows: Range<usize>, reflection: Reflection) {
    for row in rows.step_by(V::LEN) {
        // SAFETY: our duties.
        unsafe {
            let at = [0, step, 2 * step].map(|column| x.add(column + row));
            let [a, b, c] = reflection.of_vectors(at.map(|x| V::load(x)));
            a.store(at[0]);
            b.store(at[1]);
            c.store(at[2]);
        }
    }
}

/// Changes rows of the first [`ALL`] columns, and what else is in the last vector.
///
/// # Safety
/// As [`near_columns`].
#[inline(always)]
unsafe fn far_columns<V: Vector<Elem = f64>>(x: *mut f64, step: usize, rows: Range<usize>, all: &Reflections) {
    for row in rows.step_by(V::LEN) {
        // SAFETY: our duties.
        unsafe { reflected::<V>(x.add(row), step, all) };
    }
}

/// Changes the first [`ALL`] numbers of some columns, and of as many more as the last vector has.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. They are readable and writable.
#[inline(always)]
unsafe fn far_rows<V: Vector<Elem = f64>>(x: *mut f64, step: usize, columns: usize, all: &Reflections) {
    const { assert!(ALL.is_multiple_of(V::LEN)) };
    let mut turned = [0.0; ALL * ALL];
    let room = turned.as_mut_ptr();
    for column in (0..columns).step_by(V::LEN) {
        // SAFETY: our duties; `room` has `LEN` numbers of `ALL` rows, and `LEN` is no more than `ALL`.
        unsafe {
            let x = x.add(column * step);
            for row in (0..ALL).step_by(V::LEN) {
                V::transpose(x.add(row), step as isize, room.add(row * V::LEN), V::LEN as isize);
            }
            reflected::<V>(room, V::LEN, all);
            for row in (0..ALL).step_by(V::LEN) {
                V::transpose(room.add(row * V::LEN), V::LEN as isize, x.add(row), step as isize);
            }
        }
    }
}

/// Changes [`ALL`] vectors that are `step` apart.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. They are readable and writable.
#[inline(always)]
unsafe fn reflected<V: Vector<Elem = f64>>(x: *mut f64, step: usize, all: &Reflections) {
    // SAFETY: our duties.
    unsafe {
        let (mut a, mut b) = (V::load(x), V::load(x.add(step)));
        for (k, reflection) in all.iter().enumerate() {
            let c = V::load(x.add((k + 2) * step));
            let [done, second, third] = reflection.of_vectors([a, b, c]);
            done.store(x.add(k * step));
            (a, b) = (second, third);
        }
        a.store(x.add(TOGETHER * step));
        b.store(x.add((TOGETHER + 1) * step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize, at: impl Fn(usize, usize) -> f64) -> Vec<c64> {
        let within = |i: usize, j: usize| if i < n && j < n && i <= j + 1 { at(i, j) } else { 0.0 };
        let mut h: Vec<f64> = (0..size(n)).map(|e| within(e % step(n), e / step(n))).collect();
        let mut w = vec![c64::new(0.0, 0.0); n];
        assert!(decompose(n, &mut h, None, &mut w, f64::EPSILON));
        w
    }

    fn near(mut w: Vec<c64>, want: &[c64], near: f64) {
        for x in want {
            let at = (0..w.len()).min_by(|&a, &b| (w[a] - x).norm().total_cmp(&(w[b] - x).norm())).unwrap();
            assert!((w[at] - x).norm() <= near, "{} for {x} of {want:?}", w[at]);
            w.swap_remove(at);
        }
    }

    #[test]
    fn every_instruction_set_makes_a_triangle() {
        use crate::number::tests::{adjoint, distance, noise, product};
        for n in [2, 3, 7, 8, 9, 14, 15, 16, 17, 22, 31, 41, 65] {
            let (step, dense) = (step(n), noise::<f64>(n * n, 3));
            let full = |m: &[f64]| -> Vec<f64> { m.chunks_exact(step).take(n).flat_map(|c| c[..n].to_vec()).collect() };
            let mut start = vec![0.0; size(n)];
            for (e, &x) in dense.iter().enumerate() {
                // A few zeros under the diagonal leave parts that others go past.
                if e % n <= e / n || e % n == e / n + 1 && e / n % 11 != 10 {
                    start[e / n * step + e % n] = x;
                }
            }
            for level in InstructionSet::available() {
                let (mut h, mut z, mut w) = (start.clone(), vec![0.0; size(n)], vec![c64::new(0.0, 0.0); n]);
                (0..n).for_each(|i| z[i * step + i] = 1.0);
                let matrix = Hessenberg { n, step, h: &mut h, z: Some(&mut z), eps: f64::EPSILON, level };
                assert!(matrix.decompose(&mut w));
                let what = format!("{n} rows by {}", level.name());
                let (mut t, z) = (full(&h), full(&z));
                for (e, x) in t.iter_mut().enumerate().filter(|(e, _)| e % n > e / n) {
                    let pair = e % n == e / n + 1 && w[e / n].im > 0.0;
                    assert!(pair || *x == 0.0, "{what}: {x} at {e}");
                }
                // Z is orthogonal, and Z T Z^T what there was.
                let mut unit = vec![0.0; n * n];
                unit.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
                assert!(distance(&product(n, n, n, &adjoint(n, n, &z), &z), &unit) < 1e-13, "{what}");
                t = product(n, n, n, &product(n, n, n, &z, &t), &adjoint(n, n, &z));
                assert!(distance(&t, &full(&start)) < 1e-13, "{what}");
                // As without vectors, but for rounding.
                let (mut h, mut only) = (start.clone(), w.clone());
                let matrix = Hessenberg { n, step, h: &mut h, z: None, eps: f64::EPSILON, level };
                assert!(matrix.decompose(&mut only));
                near(only, &w, 1e-12);
            }
        }
    }

    #[test]
    fn shifts_leave_cycles() {
        // The rows of a cycle are all alike: shifts of the last ones are of no use.
        for n in 1..14 {
            let w = of(n, |i, j| f64::from(i == (j + 1) % n));
            let roots: Vec<c64> =
                (0..n).map(|k| c64::from_polar(1.0, std::f64::consts::TAU * k as f64 / n as f64)).collect();
            near(w, &roots, 1e-13);
        }
    }

    #[test]
    fn known_eigenvalues() {
        let real = |x: f64| c64::new(x, 0.0);
        for n in [1, 2, 3, 4, 7, 20, 45] {
            // Triangles show theirs.
            let w = of(n, |i, j| if i > j { 0.0 } else { (i * i % 7 + j - i) as f64 });
            assert!((0..n).all(|i| w[i] == real((i * i % 7) as f64)));
            // Tridiagonal ones with the same number on each diagonal.
            let w = of(n, |i, j| [2.0, -1.0, 0.0][i.abs_diff(j).min(2)]);
            let angle = |k: usize| std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64;
            near(w, &(0..n).map(|k| real(2.0 - 2.0 * angle(k).cos())).collect::<Vec<_>>(), 1e-13);
            let w = of(n, |i, j| {
                if i == j {
                    1.0
                } else if i == j + 1 {
                    1.25
                } else if j == i + 1 {
                    -0.8
                } else {
                    0.0
                }
            });
            near(w, &(0..n).map(|k| c64::new(1.0, 2.0 * angle(k).cos())).collect::<Vec<_>>(), 1e-9);
            // Blocks of two that turn, one after the other.
            let w = of(2 * n, |i, j| match (i / 2 == j / 2, i % 2 == j % 2) {
                (true, true) => (i / 2) as f64,
                (true, false) => {
                    if i > j {
                        3.0
                    } else {
                        -3.0
                    }
                }
                _ => {
                    if i < j {
                        0.5
                    } else {
                        0.0
                    }
                }
            });
            for (k, pair) in w.chunks(2).enumerate() {
                near(pair.to_vec(), &[c64::new(k as f64, 3.0), c64::new(k as f64, -3.0)], 1e-13 * (1 + k) as f64);
                assert!(pair[0].im > 0.0 && pair[1] == pair[0].conj());
            }
        }
        assert_eq!(of(3, |_, _| 0.0), [real(0.0); 3]);
        // Numbers that quotients would overflow with.
        for by in [1e-300, 1e-310, 1e-320] {
            let w = of(6, |i, j| if i == 0 && j == 0 { 1.0 } else { (1 + (i * j + i) % 4) as f64 * by });
            near(w, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(real), 1e-290);
        }
    }
}
