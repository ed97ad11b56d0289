//! Eigenvalues and eigenvectors of symmetric tridiagonal matrices.

use std::cell::RefCell;
use std::ops::Range;

use faer::traits::RealField;
use faer::traits::ext::*;
use retrograd_kernels::real::{Real, Ring};

use crate::rotations::Rotations;

/// Iterations for an eigenvalue, on the average, after which it is given up: two are usual.
const MOST: usize = 30;

/// The eigenvalues of the matrix with diagonal `d` and, beside it, the numbers `e`, in ascending order in `d`; what is
/// in `e` afterwards may be anything. Whether the iteration converged. All numbers are finite.
///
/// The QL iteration on squares, without square roots, of Pal, Walker and Kahan (B. N. Parlett, "The Symmetric
/// Eigenvalue Problem", 1980, section 8-15), with Wilkinson's shifts, one for each iteration.
pub fn values<R: RealField + Copy>(d: &mut [R], e: &mut [R]) -> bool {
    let Some(most) = scaled(d, e) else { return true };
    e.iter_mut().for_each(|x| *x = *x * *x);
    if !diagonalized(d, e, |square| square, |_| {}, |d, e, _| iterate(d, e)) {
        return false;
    }
    d.iter_mut().for_each(|x| *x *= most);
    d.sort_unstable_by(|x, y| x.partial_cmp(y).expect("finite numbers"));
    true
}

/// [`values`]; and the product of `z`, whose columns follow each other, and the orthonormal eigenvectors as columns.
///
/// The QL iteration with implicit shifts (C. Reinsch and J. H. Wilkinson, "Handbook for Automatic Computation", 1971,
/// contribution II/4). The rotations of an iteration are applied together, which makes it as fast as methods with fewer
/// operations up to some hundred rows (F. G. Van Zee, R. A. van de Geijn and G. Quintana-Orti, "Restructuring the
/// Tridiagonal and Bidiagonal QR Algorithms for Performance", ACM TOMS 40, 2014).
pub fn vectors<R: RealField + Real + Copy>(d: &mut [R], e: &mut [R], z: &mut [R]) -> bool {
    let (n, rows) = (d.len(), z.len() / d.len());
    let Some(most) = scaled(d, e) else { return true };
    let mut turns = vec![[<R as Ring>::ZERO; 2]; n];
    let rotations = RefCell::new(Rotations::of(rows, z));
    let reversed = |part: Range<usize>| {
        let mut rotations = rotations.borrow_mut();
        let z = &mut rotations.columns()[part.start * rows..part.end * rows];
        (0..part.len() / 2).for_each(|i| swap(rows, z, i, part.len() - 1 - i));
    };
    let iterated = |d: &mut [R], e: &mut [R], first: usize| {
        let turns = &mut turns[..e.len()];
        rotations_of(d, e, turns);
        rotations.borrow_mut().sweep(first, turns);
    };
    if !diagonalized(d, e, |x| x * x, reversed, iterated) {
        return false;
    }
    d.iter_mut().for_each(|x| *x *= most);
    // By selection: a column moves once.
    let mut rotations = rotations.into_inner();
    let z = rotations.columns();
    for i in 0..n {
        let least = (i..n).fold(i, |least, j| if d[j] < d[least] { j } else { least });
        if least != i {
            d.swap(i, least);
            swap(rows, z, i, least);
        }
    }
    true
}

/// Exchanges columns `i < j`.
fn swap<R>(rows: usize, z: &mut [R], i: usize, j: usize) {
    let (left, right) = z.split_at_mut(j * rows);
    left[i * rows..][..rows].swap_with_slice(&mut right[..rows]);
}

/// Divides all by their largest magnitude, which is returned, unless they are zeros: then squares neither overflow nor
/// vanish where they count.
pub(crate) fn scaled<R: RealField + Copy>(d: &mut [R], e: &mut [R]) -> Option<R> {
    let most = d.iter().chain(&*e).fold(R::zero(), |most, x| most.fmax(x.abs()));
    if most == R::zero() {
        return None;
    }
    d.iter_mut().chain(e).for_each(|x| *x /= most);
    Some(most)
}

/// Iterates on the parts of a matrix between numbers `e` that are as good as 0, until all are. `square` makes the
/// square of what `e` has, `reversed` hears of parts that were reversed, and `iterate` takes a part and where it
/// begins. Whether that ended.
fn diagonalized<R: RealField + Copy>(
    d: &mut [R],
    e: &mut [R],
    square: impl Fn(R) -> R,
    mut reversed: impl FnMut(Range<usize>),
    mut iterate: impl FnMut(&mut [R], &mut [R], usize),
) -> bool {
    let n = d.len();
    let unit = R::epsilon_impl() * R::epsilon_impl();
    let is_zero = |d: &[R], e: &[R], i: usize| square(e[i]) <= unit * (d[i] * d[i + 1]).abs().fmax(unit);
    let mut left = MOST * n;
    let mut start = 0;
    while start < n {
        let end = (start..n - 1).find(|&i| is_zero(d, e, i)).unwrap_or(n - 1);
        // Small numbers come out first, and keep their digits, if they are at the beginning.
        if d[end].abs() < d[start].abs() {
            d[start..=end].reverse();
            e[start..end].reverse();
            reversed(start..end + 1);
        }
        let mut first = start;
        while first < end {
            let last = (first..end).find(|&i| is_zero(d, e, i)).unwrap_or(end);
            if last == first {
                first += 1;
            } else if left == 0 {
                return false;
            } else {
                left -= 1;
                iterate(&mut d[first..=last], &mut e[first..last], first);
            }
        }
        start = end + 1;
    }
    true
}

/// Wilkinson's shift: the eigenvalue of the first two rows, with `beside` beside the diagonal, that is nearer to
/// `d[0]`.
fn shift<R: RealField + Copy>(d: &[R], beside: R) -> R {
    let half = (d[1] - d[0]) / ((R::one() + R::one()) * beside);
    let length = half.hypot(R::one());
    d[0] - beside / (half + if half < R::zero() { -length } else { length })
}

/// One iteration on a block, at the first place of which an eigenvalue comes out; the cosines and sines of its
/// rotations, the last of which is the first to be applied.
fn rotations_of<R: RealField + Copy>(d: &mut [R], e: &mut [R], turns: &mut [[R; 2]]) {
    let (zero, one, two) = (R::zero(), R::one(), R::one() + R::one());
    let last = d.len() - 1;
    let shift = shift(d, e[0]);
    let unit = R::epsilon_impl() * R::epsilon_impl();
    let (mut c, mut s, mut p) = (one, one, zero);
    let mut g = d[last] - shift;
    for i in (0..last).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let squares = g * g + f * f;
        let mut r = squares.sqrt();
        (c, s) = (g / r, f / r);
        if squares <= unit * unit {
            // Squares of such small numbers do not have all digits.
            r = g.hypot(f);
            (c, s) = if r == zero { (one, zero) } else { (g / r, f / r) };
        }
        if i + 1 < last {
            e[i + 1] = r;
        }
        g = d[i + 1] - p;
        let r = (d[i] - g) * s + two * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        turns[i] = [c, s];
    }
    d[0] -= p;
    e[0] = g;
}

/// One iteration on a block, at the first place of which an eigenvalue comes out.
fn iterate<R: RealField + Copy>(d: &mut [R], e: &mut [R]) {
    let one = R::one();
    let last = d.len() - 1;
    let shift = shift(d, e[0].sqrt());
    let (mut c, mut s) = (one, R::zero());
    let mut gamma = d[last] - shift;
    let mut p = gamma * gamma;
    for i in (0..last).rev() {
        let square = e[i];
        let sum = p + square;
        if i + 1 < last {
            e[i + 1] = s * sum;
        }
        // One division does not wait for the other.
        let (before, inverse) = (c, sum / p);
        c = p / sum;
        s = square / sum;
        let (previous, alpha) = (gamma, d[i]);
        gamma = c * (alpha - shift) - s * previous;
        d[i + 1] = previous + (alpha - gamma);
        p = if c == R::zero() { before * square } else { gamma * gamma * inverse };
    }
    e[0] = s * p;
    d[0] = shift + gamma;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::noise;

    /// How many eigenvalues are below `x`: the signs of the pivots of an elimination (W. Givens, 1954).
    fn below(d: &[f64], e: &[f64], x: f64) -> usize {
        let (mut count, mut pivot) = (0, 1.0);
        for i in 0..d.len() {
            pivot = d[i] - x - if i == 0 { 0.0 } else { e[i - 1] * e[i - 1] / pivot };
            if pivot == 0.0 {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count
    }

    fn check(d: &[f64], e: &[f64]) {
        let most = d.iter().chain(e).fold(0.0f64, |most, x| most.max(x.abs()));
        let (mut w, mut beside) = (d.to_vec(), e.to_vec());
        assert!(values(&mut w, &mut beside), "{d:?} {e:?}");
        if most == 0.0 {
            return assert_eq!(w, d);
        }
        // Each is as near to an eigenvalue of the same place as rounding lets it be.
        let near = 1e-15 * (2.0 + (d.len() as f64).sqrt());
        let [d, e, w] = [d, e, &w].map(|x| x.iter().map(|x| x / most).collect::<Vec<_>>());
        for (i, &x) in w.iter().enumerate() {
            let (lower, upper) = (below(&d, &e, x - near), below(&d, &e, x + near));
            assert!(lower <= i && i < upper, "{x} at {i} of {d:?} {e:?}: {lower} {upper}");
        }
    }

    #[test]
    fn there_are_as_many_eigenvalues_below_each() {
        for n in [1usize, 2, 3, 5, 10, 33, 100] {
            let (d, e) = (noise::<f64>(n, 1), noise::<f64>(n - 1, 2));
            check(&d, &e);
            // Equal ones, blocks that fall apart, zeros, the largest and the smallest numbers, a graded matrix.
            check(&vec![2.0; n], &vec![0.0; n - 1]);
            check(&d, &e.iter().enumerate().map(|(i, x)| if i % 3 == 0 { 0.0 } else { *x }).collect::<Vec<_>>());
            check(&vec![0.0; n], &e);
            check(&vec![0.0; n], &vec![1.0; n - 1]);
            let scaled = |by: f64| [&d, &e].map(|x| x.iter().map(|x| x * by).collect::<Vec<_>>());
            for by in [1e300, 1e-300] {
                let [d, e] = scaled(by);
                check(&d, &e);
            }
            let graded = |x: &[f64]| x.iter().enumerate().map(|(i, x)| x * 0.3f64.powi(i as i32)).collect::<Vec<_>>();
            let (mut d, mut e) = (graded(&d), graded(&e));
            check(&d, &e);
            d.reverse();
            e.reverse();
            check(&d, &e);
            // W. H. Wilkinson's matrix, whose largest eigenvalues come in pairs that are nearly equal.
            let wilkinson: Vec<f64> = (0..n).map(|i| (i as f64 - (n - 1) as f64 / 2.0).abs()).collect();
            check(&wilkinson, &vec![1.0; n - 1]);
        }
        let (mut d, mut e) = ([0.0; 4], [0.0; 3]);
        assert!(values(&mut d, &mut e) && d == [0.0; 4]);
        let (mut d, mut e) = ([3.0f32, -1.0], [0.0f32]);
        assert!(values(&mut d, &mut e) && d == [-1.0, 3.0]);
    }
}
