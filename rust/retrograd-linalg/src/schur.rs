//! Eigenvalues of real Hessenberg matrices, which are zero below the numbers under the diagonal.

use faer::c64;
use retrograd_kernels::simd::{InstructionSet, Isa, Task, for_isa};

/// Sweeps for an eigenvalue after which it is given up, and how many without one have another shift.
const MOST: usize = 60;
const STUCK: usize = 10;
/// What is less, of numbers up to 1, is 0 under the diagonal: no quotient overflows.
const TINY: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// The distance of the columns of a matrix with `n` rows: an odd number of cache lines, so that the elements of a row
/// do not drive one another out of the caches.
pub fn step(n: usize) -> usize {
    (n.div_ceil(8) | 1) * 8
}

/// The eigenvalues of the column-major matrix `h`, whose columns are [`step`] apart with zeros between them, of which
/// nothing is left, in the order of its diagonal; of a pair of conjugates the one with the positive imaginary part
/// comes first. A number under the diagonal that is less than `eps` of its neighbours is 0. Whether the iteration
/// converged. All numbers are finite.
///
/// QR with two shifts at a time (J. G. F. Francis, "The QR transformation", 1962; J. H. Wilkinson and C. Reinsch,
/// "Handbook for Automatic Computation", 1971, contribution II/14).
pub fn values(n: usize, h: &mut [f64], values: &mut [c64], eps: f64) -> bool {
    let most = h.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if most == 0.0 {
        values[..n].fill(c64::new(0.0, 0.0));
        return true;
    }
    // Products of two neither overflow nor vanish where they count.
    h.iter_mut().for_each(|x| *x /= most);
    let mut matrix = Hessenberg { step: step(n), h, eps };
    let (mut to, mut sweeps) = (n, 0);
    while to > 0 {
        let from = matrix.start(to);
        let last = to - 1;
        if from == last {
            values[last] = c64::new(matrix.at(last, last), 0.0);
        } else if from + 2 == to {
            [values[from], values[last]] = matrix.pair(from);
        } else {
            sweeps += 1;
            if sweeps == MOST {
                return false;
            }
            let shifts = if sweeps % STUCK == 0 { matrix.other_shifts(last) } else { matrix.shifts(last) };
            matrix.sweep(from, to, shifts);
            continue;
        }
        (to, sweeps) = (from, 0);
    }
    values[..n].iter_mut().for_each(|value| *value *= most);
    true
}

struct Hessenberg<'a> {
    step: usize,
    h: &'a mut [f64],
    eps: f64,
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
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.h[j * self.step + i]
    }

    /// The first of the rows before `to` that depend on one another; what is before it gets its 0.
    fn start(&mut self, to: usize) -> usize {
        let mut row = to - 1;
        while row > 0 {
            let (above, here) = (self.at(row - 1, row - 1).abs(), self.at(row, row).abs());
            // Where both are 0 the matrix is the measure, whose largest number is 1.
            let size = if above + here == 0.0 { 1.0 } else { above + here };
            if self.at(row, row - 1).abs() <= (self.eps * size).max(TINY) {
                self.h[(row - 1) * self.step + row] = 0.0;
                break;
            }
            row -= 1;
        }
        row
    }

    /// The eigenvalues of two rows from `i` on.
    fn pair(&self, i: usize) -> [c64; 2] {
        let (a, b, c, d) = (self.at(i, i), self.at(i, i + 1), self.at(i + 1, i), self.at(i + 1, i + 1));
        let half = 0.5 * (a - d);
        let square = half * half + b * c;
        if square < 0.0 {
            let root = (-square).sqrt();
            return [c64::new(d + half, root), c64::new(d + half, -root)];
        }
        let far = half + square.sqrt().copysign(half);
        let near = if far == 0.0 { 0.0 } else { b * c / far };
        [c64::new(d + far, 0.0), c64::new(d - near, 0.0)]
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
            let size = column.iter().map(|x| x.abs()).sum::<f64>();
            let column = column.map(|x| x / size);
            if m == from {
                return (m, column);
            }
            let left = self.at(m, m - 1).abs() * (column[1].abs() + column[2].abs());
            let near = self.at(m - 1, m - 1).abs() + z.abs() + self.at(m + 1, m + 1).abs();
            if left <= self.eps * column[0].abs() * near {
                return (m, column);
            }
            m -= 1;
        }
    }

    fn sweep(&mut self, from: usize, to: usize, shifts: Shifts) {
        let (first, column) = self.first(from, to, shifts);
        for row in first + 2..to {
            self.h[(row - 2) * self.step + row] = 0.0;
            if row > first + 2 {
                self.h[(row - 3) * self.step + row] = 0.0;
            }
        }
        // SAFETY: the task has no duties of its own.
        unsafe { for_isa(InstructionSet::detect(), Sweep { step: self.step, h: self.h, from, first, to, column }) }
    }
}

/// Reflections of three rows and columns, each a row further than the one before, from row `first` on, of the rows and
/// columns `from..to`, which are a matrix of their own.
struct Sweep<'a> {
    step: usize,
    h: &'a mut [f64],
    from: usize,
    first: usize,
    to: usize,
    column: Column,
}

impl Task for Sweep<'_> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { step, h, from, first, to, mut column } = self;
        for k in first..to - 1 {
            let rows = if k + 2 < to { 3 } else { 2 };
            let mut size = 1.0;
            if k > first {
                let before = &h[(k - 1) * step + k..][..rows];
                column = [before[0], before[1], if rows == 3 { before[2] } else { 0.0 }];
                size = column[0].abs() + column[1].abs() + column[2].abs();
                if size == 0.0 {
                    continue;
                }
                column = column.map(|x| x / size);
            }
            let [p, q, r] = column;
            let s = (p * p + q * q + r * r).sqrt().copysign(p);
            if k > first {
                h[(k - 1) * step + k] = -s * size;
            } else if first > from {
                h[(k - 1) * step + k] = -h[(k - 1) * step + k];
            }
            let p = p + s;
            let (by, v) = ([p / s, q / s, r / s], [q / p, r / p]);
            let bottom = to.min(k + 4);
            if rows == 3 {
                reflect_rows(step, &mut h[k * step + k..], to - k, by, v);
                let (a, rest) = h[k * step..].split_at_mut(step);
                let (b, c) = rest.split_at_mut(step);
                let (a, b, c) = (&mut a[from..bottom], &mut b[from..bottom], &mut c[from..bottom]);
                for i in 0..bottom - from {
                    let sum = by[0] * a[i] + by[1] * b[i] + by[2] * c[i];
                    a[i] -= sum;
                    b[i] -= sum * v[0];
                    c[i] -= sum * v[1];
                }
            } else {
                for j in k..to {
                    let x = &mut h[j * step + k..][..2];
                    let sum = x[0] + v[0] * x[1];
                    x[0] -= sum * by[0];
                    x[1] -= sum * by[1];
                }
                let (a, b) = h[k * step..].split_at_mut(step);
                let (a, b) = (&mut a[from..bottom], &mut b[from..bottom]);
                for i in 0..bottom - from {
                    let sum = by[0] * a[i] + by[1] * b[i];
                    a[i] -= sum;
                    b[i] -= sum * v[0];
                }
            }
        }
    }
}

/// A reflection of the first three numbers of `columns` columns, which are `step` apart.
///
/// A function of its own: with vectors, the compiler gathers what is far apart.
#[inline(never)]
fn reflect_rows(step: usize, h: &mut [f64], columns: usize, by: [f64; 3], v: [f64; 2]) {
    for column in h.chunks_mut(step).take(columns) {
        let [a, b, c] = column.first_chunk_mut::<3>().expect("three rows");
        let sum = *a + v[0] * *b + v[1] * *c;
        *a -= sum * by[0];
        *b -= sum * by[1];
        *c -= sum * by[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize, at: impl Fn(usize, usize) -> f64) -> Vec<c64> {
        let within = |i: usize, j: usize| if i < n && i <= j + 1 { at(i, j) } else { 0.0 };
        let mut h: Vec<f64> = (0..n * step(n)).map(|e| within(e % step(n), e / step(n))).collect();
        let mut w = vec![c64::new(0.0, 0.0); n];
        assert!(values(n, &mut h, &mut w, f64::EPSILON));
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
            // Triangles show theirs, also where rows are of the sizes that numbers have at most and at least.
            for by in [1.0, 1e300, 1e-300] {
                let w = of(n, |i, j| if i > j { 0.0 } else { (i * i % 7 + j - i) as f64 * by });
                assert!((0..n).all(|i| w[i] == real((i * i % 7) as f64 * by)));
            }
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
