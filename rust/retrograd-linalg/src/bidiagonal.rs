//! Matrices become bidiagonal by Householder reflections; singular values of bidiagonal matrices.

use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::hermitian::Change;
use crate::householder::reflection;
use crate::number::Number;
use crate::tridiagonal::scaled;

/// The numbers of scratch for a matrix of `m` rows and `n` columns.
pub fn scratch(m: usize, n: usize) -> usize {
    3 * m + 3 * n
}

/// Makes a column-major matrix of real numbers, which has no fewer rows than columns, bidiagonal: `d` is its diagonal
/// then, and `e` what is beside it, above. Of `a` nothing is left.
///
/// As LAPACK's `gebd2`, but that each column is changed once for the reflections of a row and of a column (G. W. Howell
/// et al., "Cache efficient bidiagonalization using BLAS 2.5 operators", ACM TOMS 34, 2008).
pub fn reduce<T: Number + Scalar>(m: usize, n: usize, a: &mut [T], d: &mut [T], e: &mut [T], scratch: &mut [T]) {
    let (changes, scratch) = scratch.split_at_mut(2 * m);
    let (v, scratch) = scratch.split_at_mut(m);
    let (factors, row) = scratch.split_at_mut(2 * n);
    for k in 0..n {
        let (column, columns) = a[k * m..].split_at_mut(m);
        if k > 0 {
            let by = [factors[k], factors[n + k]];
            // SAFETY: the task has no duties of its own.
            unsafe { for_isa(InstructionSet::detect(), Change { from: k, by, column, changes }) };
        }
        let (first, below) = column[k..].split_first_mut().expect("a row for each column");
        let (diagonal, tau) = reflection(*first, below);
        d[k] = diagonal;
        if k + 1 == n {
            break;
        }
        v[k] = T::ONE;
        v[k + 1..].copy_from_slice(below);
        let behind = k + 1..n;
        let (row, factors) = (&mut row[behind.clone()], factors.split_at_mut(n));
        let (by_column, by_row) = (&mut factors.0[behind.clone()], &mut factors.1[behind]);
        let left = Left { m, k, columns, v, tau, by_column, by_row, changes, row };
        // SAFETY: as above.
        unsafe { for_isa(InstructionSet::detect(), left) };
        let (first, rest) = row.split_first_mut().expect("a column behind");
        let (beside, tau) = reflection(*first, rest);
        e[k] = beside;
        *first = T::ONE;
        by_row.copy_from_slice(row);
        // SAFETY: as above.
        unsafe { for_isa(InstructionSet::detect(), Right { m, k, columns, v, tau, by_column, by_row, changes }) };
    }
}

/// Makes the change of the step before to the columns behind `k`, and what reflection `v` makes of row `k`: `by_column`
/// has `w = tau A^T v` then.
struct Left<'a, T> {
    m: usize,
    k: usize,
    columns: &'a mut [T],
    v: &'a [T],
    tau: T,
    by_column: &'a mut [T],
    by_row: &'a [T],
    changes: &'a [T],
    row: &'a mut [T],
}

impl<T: Scalar> Task for Left<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Left { m, k, columns, v, tau, by_column, by_row, changes, row } = self;
        let v = &v[k..m];
        for (j, column) in columns.chunks_exact_mut(m).enumerate() {
            // SAFETY: Task 2.
            unsafe {
                if k > 0 {
                    Change { from: k, by: [by_column[j], by_row[j]], column: &mut *column, changes }.run::<S>();
                }
                by_column[j] = tau.mul(T::dot::<S>(v, &column[k..]));
            }
            row[j] = column[k].sub(by_column[j]);
        }
    }
}

/// The change that the reflections `v`, of columns, and `by_row`, of rows, make together: `tau A u` without what the
/// first takes away.
struct Right<'a, T> {
    m: usize,
    k: usize,
    columns: &'a [T],
    v: &'a [T],
    tau: T,
    by_column: &'a [T],
    by_row: &'a [T],
    changes: &'a mut [T],
}

impl<T: Scalar> Task for Right<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Right { m, k, columns, v, tau, by_column, by_row, changes } = self;
        let (first, second) = changes[..2 * m].split_at_mut(m);
        first[k..].copy_from_slice(&v[k..m]);
        let (v, z) = (&first[k + 1..], &mut second[k + 1..]);
        z.fill(T::ZERO);
        assert!(columns.len() >= by_row.len() * m, "a column for each factor");
        // SAFETY: Task 2; as many columns of `m` elements, apart from the sums, and one more of as many as these.
        unsafe {
            if !z.is_empty() {
                T::add_columns::<S>(z, by_row, columns[k + 1..].as_ptr(), m as isize);
            }
            T::add_columns::<S>(z, &[T::dot::<S>(by_column, by_row).neg()], v.as_ptr(), 0);
        }
        z.iter_mut().for_each(|z| *z = z.mul(tau));
    }
}

/// Transforms for a value, on the average, after which it is given up: three to four are usual.
const MOST: usize = 30;
const EPS: f64 = f64::EPSILON;
/// What is less, of numbers up to 1, is 0: no quotient overflows.
const TINY: f64 = f64::MIN_POSITIVE / EPS;

/// The singular values, in descending order in `d`, of the matrix with diagonal `d` and, beside it, the numbers `e`,
/// one fewer; what is in `e` afterwards may be anything. Each is known to `eps` of itself or a few units in its last
/// place, but not beyond 1e-154 of the largest. Whether the iteration converged. All numbers are finite.
///
/// The differential quotient-difference algorithm with shifts, dqds (K. V. Fernando and B. N. Parlett, "Accurate
/// singular values and differential qd algorithms", Numerische Mathematik 67, 1994). A number takes an addition, a
/// division and a multiplication in a row, where rotations take square roots besides.
pub fn values(d: &mut [f64], e: &mut [f64], eps: f64) -> bool {
    let Some(most) = scaled(d, e) else { return true };
    d.iter_mut().chain(&mut *e).for_each(|x| *x *= *x);
    let numbers = || Numbers { q: d.to_vec(), e: e.to_vec() };
    let mut qd =
        Quotients { sides: [numbers(), numbers()], left: vec![0.0; d.len()], tries: MOST * d.len(), small: eps * eps };
    if !qd.all(d) {
        return false;
    }
    d.iter_mut().for_each(|x| *x = x.sqrt() * most);
    d.sort_unstable_by(|x, y| y.total_cmp(x));
    true
}

/// The matrix `L U` of a lower bidiagonal `L` with ones and `e`, and an upper bidiagonal `U` with `q` and ones.
struct Numbers {
    q: Vec<f64>,
    e: Vec<f64>,
}

/// The numbers, what they become, and what is known of that.
struct Quotients {
    /// A transform goes from one side to the other.
    sides: [Numbers; 2],
    /// What the last transform left of each row, which is no less than the least eigenvalue.
    left: Vec<f64>,
    /// Transforms until all is given up.
    tries: usize,
    /// An `e` that is less than this share of its neighbour is 0.
    small: f64,
}

/// Rows that do not depend on others.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
    /// Where its numbers are.
    side: usize,
    /// What was subtracted from its eigenvalues, and what rounding took from that.
    shift: f64,
    lost: f64,
    /// Whether [`Quotients::left`] is of these rows.
    known: bool,
    /// Whether an `e` may be 0.
    apart: bool,
    /// The share of the least that is left which was the last shift, if the least is not near the end.
    share: f64,
}

/// What is left of the rows after a transform: the least of the rows but the last, and the last.
struct Rest {
    least: f64,
    end: f64,
    apart: bool,
}

impl Quotients {
    /// Writes the eigenvalues to `values`.
    fn all(&mut self, values: &mut [f64]) -> bool {
        let all =
            Part { from: 0, to: values.len(), side: 0, shift: 0.0, lost: 0.0, known: false, apart: true, share: 0.0 };
        let mut parts = vec![all];
        while let Some(mut part) = parts.pop() {
            while part.to - part.from > 2 {
                if let Some(below) = self.divided(&mut part) {
                    parts.push(below);
                } else if !self.step(&mut part) {
                    return false;
                }
            }
            let Numbers { q, e } = &self.sides[part.side];
            let all = part.lost + part.shift;
            match part.to - part.from {
                1 => values[part.from] = q[part.from] + all,
                _ => {
                    let [large, small] = pair(q[part.from], e[part.from], q[part.from + 1]);
                    (values[part.from], values[part.from + 1]) = (large + all, small + all);
                }
            }
        }
        true
    }

    /// Cuts off the rows behind the last `e` that is 0.
    fn divided(&mut self, part: &mut Part) -> Option<Part> {
        if !std::mem::take(&mut part.apart) {
            return None;
        }
        let Numbers { q, e } = &self.sides[part.side];
        let cut = (part.from..part.to - 1).rev().find(|&k| e[k] <= self.small * (part.shift + q[k + 1]))? + 1;
        let below = Part { from: cut, ..*part };
        // Others may be.
        (part.to, part.apart) = (cut, true);
        Some(below)
    }

    /// A transform with a shift that leaves all eigenvalues at 0 or above.
    fn step(&mut self, part: &mut Part) -> bool {
        let Numbers { q, e } = &mut self.sides[part.side];
        // Small values are found at the end.
        if 1.5 * q[part.from] < q[part.to - 1] {
            q[part.from..part.to].reverse();
            e[part.from..part.to - 1].reverse();
            part.known = false;
        }
        let mut tau = if part.known { self.shift(part) } else { 0.0 };
        for attempt in 0.. {
            if self.tries == 0 {
                return false;
            }
            self.tries -= 1;
            let Rest { least, end, apart } = self.transform(part, tau);
            let rounding = EPS * (part.shift + tau);
            if least >= 0.0 && end >= -rounding {
                let end = end.max(0.0);
                self.sides[1 - part.side].q[part.to - 1] = end;
                self.left[part.to - 1] = end;
                part.apart = apart;
                break;
            }
            part.share = 0.0;
            tau = match attempt {
                // Of the last row alone, what is below 0 says by how much the shift was too large.
                0 | 1 if least > 0.0 && end < 0.0 => ((tau + end) * (1.0 - 4.0 * EPS)).max(0.0),
                0 | 1 => 0.25 * tau,
                _ => 0.0,
            };
        }
        let sum = part.shift + tau;
        part.lost += tau - (sum - part.shift);
        (part.shift, part.side, part.known) = (sum, 1 - part.side, true);
        true
    }

    /// The transform with the shift `tau`. What is left is below 0 or NaN if that is more than the least eigenvalue.
    fn transform(&mut self, part: &Part, tau: f64) -> Rest {
        let (rows, n, shift) = (part.from..part.to, part.to - part.from, part.shift + tau);
        let [first, second] = &mut self.sides;
        let (old, new) = if part.side == 0 { (first, second) } else { (second, first) };
        let (q, e) = (&old.q[rows.clone()], &old.e[rows.start..rows.end - 1]);
        let (new_q, new_e) = (&mut new.q[rows.clone()], &mut new.e[rows.start..rows.end - 1]);
        let left = &mut self.left[rows];
        let (mut d, mut least, mut apart) = (q[0] - tau, f64::INFINITY, false);
        left[0] = d;
        // All but `d` is beside its way.
        for k in 0..n - 1 {
            let sum = d + e[k];
            let ratio = q[k + 1] / sum;
            (new_q[k], new_e[k]) = (sum, e[k] * ratio);
            least = if d >= least { least } else { d };
            d = d * ratio - tau;
            left[k + 1] = d;
            apart |= new_e[k] <= self.small * (shift + q[k + 1]);
        }
        new_q[n - 1] = d;
        if !d.is_finite() {
            return zero_rows(old, new, left, part, tau);
        }
        Rest { least, end: d, apart }
    }

    /// A shift near the least eigenvalue, and below it more often than not, by what the last transform left.
    ///
    /// Near the end: B. N. Parlett and O. A. Marques, "An implementation of the dqds algorithm (positive case)", Linear
    /// Algebra and its Applications 309, 2000, section 6.
    fn shift(&self, part: &mut Part) -> f64 {
        let left = &self.left[part.from..part.to];
        let n = left.len();
        let (end, before) = (left[n - 1], left[n - 2]);
        let others = left[..n - 2].iter().fold(f64::INFINITY, |a, &b| a.min(b));
        let least = others.min(before).min(end);
        if least < end || others < before {
            // The more, the longer that went well.
            part.share += (1.0 - part.share) / 3.0;
            return part.share * least;
        }
        part.share = 0.0;
        let Numbers { q, e } = &self.sides[part.side];
        let (q, e) = (&q[part.from..part.to], &e[part.from..part.to - 1]);
        // What is beside the last two rows, and the distance of their eigenvalues.
        let (first, second) = ((q[n - 1] * e[n - 2]).sqrt(), (q[n - 2] * e[n - 3]).sqrt());
        let sum = q[n - 2] + e[n - 2];
        let wide = 0.75 * others - sum;
        let gap = sum - end - if wide > second { (second / wide) * second } else { first + second };
        if gap > first {
            return (end - (first / gap) * first).max(0.5 * least);
        }
        let near = (end - first).max(0.0);
        let bounded = if sum > first + second { near.min(sum - (first + second)) } else { near };
        bounded.max(least / 3.0)
    }
}

/// As [`Quotients::transform`], where nothing is left of a row and its `e` is 0: what is below does not depend on it.
#[cold]
fn zero_rows(old: &Numbers, new: &mut Numbers, left: &mut [f64], part: &Part, tau: f64) -> Rest {
    let (mut d, mut least) = (old.q[part.from] - tau, f64::INFINITY);
    for (k, left) in (part.from..part.to - 1).zip(left) {
        *left = d;
        let sum = d + old.e[k];
        least = if d >= least { least } else { d };
        (new.q[k], new.e[k], d) = match sum < TINY {
            true => (0.0, 0.0, old.q[k + 1] - tau),
            false => (sum, old.e[k] * (old.q[k + 1] / sum), d * (old.q[k + 1] / sum) - tau),
        };
    }
    new.q[part.to - 1] = d;
    Rest { least, end: d, apart: true }
}

/// The eigenvalues of two rows, the larger one first.
fn pair(q: f64, e: f64, next: f64) -> [f64; 2] {
    let (large, small) = (q.max(next), q.min(next));
    let half = 0.5 * (large - small + e);
    let root = half.hypot((small * e).sqrt());
    let more = large + e + if half + root > 0.0 { small * (e / (half + root)) } else { 0.0 };
    [more, if more > 0.0 { small * (large / more) } else { 0.0 }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::noise;
    use faer::traits::ext::*;

    /// How many singular values are below `x` > 0, by those of the symmetric matrix with zeros on its diagonal and all
    /// numbers beside it (G. Golub and W. Kahan, 1965): the signs of the pivots of an elimination.
    fn below(d: &[f64], e: &[f64], x: f64) -> usize {
        let (mut count, mut pivot) = (0, -x);
        for i in 0..2 * d.len() {
            if i > 0 {
                let beside = if i % 2 == 1 { d[i / 2] } else { e[i / 2 - 1] };
                pivot = -x - beside * beside / pivot;
            }
            if pivot == 0.0 {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count - d.len()
    }

    fn check(d: &[f64], e: &[f64]) {
        let most = d.iter().chain(e).fold(0.0f64, |most, x| most.max(x.abs()));
        for eps in [f64::EPSILON, f64::from(f32::EPSILON)] {
            let (mut s, mut beside) = (d.to_vec(), e.to_vec());
            assert!(values(&mut s, &mut beside, eps), "{d:?} {e:?}");
            if most == 0.0 {
                assert_eq!(s, d);
                continue;
            }
            let near = 4.0 * (eps + 1e-16 * (2.0 + (d.len() as f64).sqrt()));
            let [d, e, s] = [d, e, &s].map(|x| x.iter().map(|x| x / most).collect::<Vec<_>>());
            assert!(s.is_sorted_by(|a, b| a >= b) && s[d.len() - 1] >= 0.0);
            for (i, &x) in s.iter().rev().enumerate() {
                let lower = if x > near { below(&d, &e, x - near) } else { 0 };
                let upper = below(&d, &e, x + near);
                assert!(lower <= i && i < upper, "{x} at {i} of {d:?} {e:?}: {lower} {upper}");
            }
        }
    }

    #[test]
    fn there_are_as_many_singular_values_below_each() {
        for n in [1usize, 2, 3, 4, 5, 10, 33, 100] {
            let (d, e) = (noise::<f64>(n, 1), noise::<f64>(n - 1, 2));
            check(&d, &e);
            // Equal ones, rows that fall apart, zeros in either place, the largest and the smallest numbers.
            check(&vec![2.0; n], &vec![0.0; n - 1]);
            check(&vec![1.0; n], &vec![1.0; n - 1]);
            let every = |x: &[f64], k: usize| -> Vec<f64> {
                x.iter().enumerate().map(|(i, x)| if i % k == k - 1 { 0.0 } else { *x }).collect()
            };
            for k in [1, 2, 3, 5] {
                check(&every(&d, k), &e);
                check(&d, &every(&e, k));
                check(&every(&d, k), &every(&e, 7 - k));
            }
            for by in [1e300, 1e-300] {
                let [d, e] = [&d, &e].map(|x| x.iter().map(|x| x * by).collect::<Vec<_>>());
                check(&d, &e);
            }
            // Graded matrices, both ways, and clusters.
            for share in [0.9, 0.3, 1e-3] {
                let graded = |x: &[f64]| -> Vec<f64> {
                    x.iter().enumerate().map(|(i, x)| x * f64::powi(share, i as i32)).collect()
                };
                let (mut d, mut e) = (graded(&d), graded(&e));
                check(&d, &e);
                d.reverse();
                e.reverse();
                check(&d, &e);
            }
            // Numbers whose squares vanish, and those whose squares almost do.
            for size in [1e-200, 1e-161, 1e-158, 1e-150] {
                for k in [1, 2, 3] {
                    let some = |x: &[f64], i: usize| -> Vec<f64> {
                        x.iter().enumerate().map(|(j, x)| if j % (k + 1) == i { *x } else { x * size }).collect()
                    };
                    check(&some(&d, 0), &some(&e, 0));
                    check(&some(&d, 1), &some(&e, 0));
                    check(&some(&d, 0), &some(&e, 1));
                }
            }
            for size in [1e-3, 1e-8, 1e-14] {
                let near_one: Vec<f64> = d.iter().map(|x| 1.0 + size * x).collect();
                check(&near_one, &e.iter().map(|x| size * x).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn small_singular_values_have_all_digits() {
        // The least one of ones with tens beside them is near 10^(1-n); its inverse has known entries.
        let n = 12;
        let (mut d, mut e) = (vec![1.0; n], vec![10.0; n - 1]);
        assert!(values(&mut d, &mut e, f64::EPSILON));
        let product: f64 = d.iter().product();
        assert!((product - 1.0).abs() < 1e-13, "the determinant {product}");
    }

    fn check_reduced<T: Number<Real: Into<f64>> + Scalar>(m: usize, n: usize, near: f64) {
        let a = noise::<T>(m * n, 3);
        let (mut f, mut d, mut e) = (a.clone(), vec![T::zero(); n], vec![T::zero(); n - 1]);
        reduce(m, n, &mut f, &mut d, &mut e, &mut vec![T::zero(); scratch(m, n)]);
        // Orthogonal factors keep sums of squares, and those of the products of all columns.
        let squares = |x: &[T]| x.iter().map(|x| Into::<f64>::into(x.real()).powi(2)).sum::<f64>();
        let (all, left) = (squares(&a), squares(&d) + squares(&e));
        assert!((all - left).abs() < near * all, "{m} {n}");
        let fourth = |columns: &dyn Fn(usize) -> Vec<f64>| -> f64 {
            let columns: Vec<Vec<f64>> = (0..n).map(columns).collect();
            let dot = |i: usize, j: usize| columns[i].iter().zip(&columns[j]).map(|(x, y)| x * y).sum::<f64>();
            (0..n * n).map(|i| dot(i / n, i % n).powi(2)).sum()
        };
        let real = |x: &T| Into::<f64>::into(x.real());
        let of_a = fourth(&|j| a[j * m..(j + 1) * m].iter().map(real).collect());
        let of_b = fourth(&|j| {
            let mut column = vec![0.0; n];
            column[j] = real(&d[j]);
            if j > 0 {
                column[j - 1] = real(&e[j - 1]);
            }
            column
        });
        assert!((of_a - of_b).abs() < near * of_a, "{m} {n}: {of_a} {of_b}");
    }

    #[test]
    fn reduced_matrices_have_the_same_singular_values() {
        for n in [1, 2, 3, 4, 5, 9, 17, 33, 70] {
            for m in [n, n + 1, n + 13, 3 * n] {
                check_reduced::<f64>(m, n, 1e-13);
                check_reduced::<f32>(m, n, 1e-5);
            }
        }
    }
}
