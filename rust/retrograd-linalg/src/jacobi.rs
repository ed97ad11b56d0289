//! Eigenvalues and singular values of small real matrices by Jacobi's rotations, several matrices at once.
//!
//! Element `e` of matrix `l` of a group is at `e * LANES + l`, so that one instruction works on all of the group. A
//! cyclic sweep rotates every pair of columns; a few sweeps make a symmetric matrix diagonal, or columns orthogonal
//! (Golub and Van Loan, Matrix Computations, 8.5 and 8.6.3; Hestenes 1958). What a matrix becomes does not depend on
//! the others of its group: rotations of a matrix that is done are the identity.

use retrograd_kernels::real::Real;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

/// Sweeps after which a matrix is given up; ten are many.
const SWEEPS: usize = 40;

/// What is said of a matrix that has infinities or NaN.
pub const NOT_FINITE: i32 = -1;
/// What is said of a matrix that did not converge.
pub const NOT_CONVERGED: i32 = 1;
/// What is said of a matrix without full rank, whose left singular vectors are not there.
pub const DEFICIENT: i32 = 2;

/// A float of which a group has as many matrices as fit into a cache line.
pub trait Lanes: Real {
    const LANES: usize;
    const EPSILON: Self;
    const TINY: Self;
}
impl Lanes for f32 {
    const LANES: usize = 16;
    const EPSILON: Self = f32::EPSILON;
    const TINY: Self = f32::MIN_POSITIVE;
}
impl Lanes for f64 {
    const LANES: usize = 8;
    const EPSILON: Self = f64::EPSILON;
    const TINY: Self = f64::MIN_POSITIVE;
}

/// The eigenvalues in ascending order and the eigenvectors of a group of symmetric matrices of `n` rows, of which the
/// lower triangles are read, column by column. `a` and `v` have `n * n` groups of elements, `values` `n`; `info` one
/// number for each matrix.
///
/// # Panics
/// If a slice has another length.
pub fn eigh<T: Lanes>(n: usize, a: &mut [T], values: &mut [T], v: &mut [T], info: &mut [i32]) {
    let group = T::LANES;
    assert!(a.len() == n * n * group && v.len() == a.len() && values.len() == n * group && info.len() == group);
    // SAFETY: `Eigh` has no duties.
    unsafe {
        match group {
            8 => for_isa(InstructionSet::detect(), Eigh::<T, 8> { n, a, values, v, info }),
            _ => for_isa(InstructionSet::detect(), Eigh::<T, 16> { n, a, values, v, info }),
        }
    }
}

/// The singular values in descending order of a group of matrices of `m >= n` rows, and if `v` is not empty their
/// vectors: the left ones replace `a`, and the right ones are in `v`, `n * n` groups of elements.
///
/// # Panics
/// If a slice has another length.
pub fn svd<T: Lanes>(m: usize, n: usize, a: &mut [T], values: &mut [T], v: &mut [T], info: &mut [i32]) {
    let group = T::LANES;
    assert!(m >= n && a.len() == m * n * group && values.len() == n * group && info.len() == group);
    assert!(v.is_empty() || v.len() == n * n * group);
    // SAFETY: `Svd` has no duties.
    unsafe {
        match group {
            8 => for_isa(InstructionSet::detect(), Svd::<T, 8> { m, n, a, values, v, info }),
            _ => for_isa(InstructionSet::detect(), Svd::<T, 16> { m, n, a, values, v, info }),
        }
    }
}

/// The tangent, the cosine and the sine of the rotation that makes `half` zero, where `gap` is the difference of the
/// diagonal.
#[inline(always)]
fn rotation<T: Lanes, const L: usize>(gap: &[T; L], half: &[T; L], rotates: &[bool; L]) -> [[T; L]; 3] {
    let mut all = [[T::ZERO; L]; 3];
    for l in 0..L {
        let (d, h) = (gap[l], half[l].add(half[l]));
        let root = d.mul(d).add(h.mul(h)).sqrt();
        let size = Real::abs(d).add(root);
        let t = h.div(if size > T::TINY { size } else { T::ONE });
        let t = if d < T::ZERO { t.neg() } else { t };
        let t = if rotates[l] { t } else { T::ZERO };
        let c = T::ONE.div(T::ONE.add(t.mul(t)).sqrt());
        (all[0][l], all[1][l], all[2][l]) = (t, c, t.mul(c));
    }
    all
}

/// `x, y = c x - s y, s x + c y`.
#[inline(always)]
fn turn<T: Lanes, const L: usize>(x: &mut [T; L], y: &mut [T; L], c: &[T; L], s: &[T; L]) {
    for l in 0..L {
        let (a, b) = (x[l], y[l]);
        x[l] = c[l].mul(a).sub(s[l].mul(b));
        y[l] = s[l].mul(a).add(c[l].mul(b));
    }
}

/// Turns two columns of `rows` elements each.
#[inline(always)]
fn turn_columns<T: Lanes, const L: usize>(x: &mut [[T; L]], rows: usize, p: usize, q: usize, c: &[T; L], s: &[T; L]) {
    let (left, right) = x.split_at_mut(q * rows);
    for (x, y) in left[p * rows..(p + 1) * rows].iter_mut().zip(&mut right[..rows]) {
        turn(x, y, c, s);
    }
}

/// The largest magnitudes; NaN or an infinity of a matrix that has one.
#[inline(always)]
fn largest<T: Lanes, const L: usize>(x: &[[T; L]]) -> [T; L] {
    let (mut most, mut sum) = ([T::ZERO; L], [T::ZERO; L]);
    for x in x {
        for l in 0..L {
            let size = Real::abs(x[l]);
            most[l] = if size > most[l] { size } else { most[l] };
            sum[l] = sum[l].add(x[l].sub(x[l]));
        }
    }
    for l in 0..L {
        most[l] = most[l].add(sum[l]);
    }
    most
}

/// Where element (i, j) of the lower triangle is.
#[inline(always)]
fn at(n: usize, i: usize, j: usize) -> usize {
    if i < j { i * n + j } else { j * n + i }
}

/// See [`eigh`].
struct Eigh<'a, T, const L: usize> {
    n: usize,
    a: &'a mut [T],
    values: &'a mut [T],
    v: &'a mut [T],
    info: &'a mut [i32],
}

impl<T: Lanes, const L: usize> Task for Eigh<'_, T, L> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { n, a, values, v, info } = self;
        let (a, _) = a.as_chunks_mut::<L>();
        let (v, _) = v.as_chunks_mut::<L>();
        for j in 0..n {
            for i in 0..n {
                v[j * n + i] = [if i == j { T::ONE } else { T::ZERO }; L];
                if i < j {
                    a[j * n + i] = [T::ZERO; L];
                }
            }
        }
        let scale = largest(a);
        let mut inverse = [T::ONE; L];
        for l in 0..L {
            let finite = scale[l].sub(scale[l]) == T::ZERO;
            info[l] = if finite { 0 } else { NOT_FINITE };
            if finite && scale[l] > T::TINY {
                inverse[l] = T::ONE.div(scale[l]);
            }
        }
        for x in a.iter_mut() {
            for l in 0..L {
                x[l] = if info[l] == 0 { x[l].mul(inverse[l]) } else { T::ZERO };
            }
        }
        let small = T::EPSILON.mul(T::of(0.25));
        let mut sweep = 0;
        loop {
            let mut moved = false;
            for p in 0..n {
                for q in p + 1..n {
                    let off = a[at(n, q, p)];
                    let (first, second) = (a[at(n, p, p)], a[at(n, q, q)]);
                    let mut rotates = [false; L];
                    let mut gap = [T::ZERO; L];
                    for l in 0..L {
                        rotates[l] = Real::abs(off[l]) > small;
                        gap[l] = second[l].sub(first[l]);
                    }
                    if !rotates.contains(&true) {
                        continue;
                    }
                    moved = true;
                    let [t, c, s] = rotation(&gap, &off, &rotates);
                    for l in 0..L {
                        a[at(n, p, p)][l] = first[l].sub(t[l].mul(off[l]));
                        a[at(n, q, q)][l] = second[l].add(t[l].mul(off[l]));
                        a[at(n, q, p)][l] = if rotates[l] { T::ZERO } else { off[l] };
                    }
                    for k in 0..n {
                        if k != p && k != q {
                            let (mut x, mut y) = (a[at(n, k, p)], a[at(n, k, q)]);
                            turn(&mut x, &mut y, &c, &s);
                            (a[at(n, k, p)], a[at(n, k, q)]) = (x, y);
                        }
                    }
                    turn_columns(v, n, p, q, &c, &s);
                }
            }
            sweep += 1;
            if !moved || sweep == SWEEPS {
                break;
            }
        }
        if sweep == SWEEPS {
            info.iter_mut().filter(|info| **info == 0).for_each(|info| *info = NOT_CONVERGED);
        }
        for l in 0..L {
            let diagonal: Vec<T> = (0..n).map(|j| a[j * n + j][l]).collect();
            let order = sorted(&diagonal, false);
            for (j, &from) in order.iter().enumerate() {
                values[j * L + l] = diagonal[from].mul(if inverse[l] == T::ONE { T::ONE } else { scale[l] });
            }
            permute(v, n, l, &order);
        }
    }
}

/// The places of numbers by their size, equal ones as they are. A function of its own, for sorting is a lot of code,
/// and no better with wide vectors.
#[inline(never)]
fn sorted<T: PartialOrd>(x: &[T], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| {
        let (i, j) = if descending { (j, i) } else { (i, j) };
        x[i].partial_cmp(&x[j]).unwrap_or(std::cmp::Ordering::Equal)
    });
    order
}

/// Puts the columns of matrix `l` in this order.
#[inline(always)]
fn permute<T: Lanes, const L: usize>(x: &mut [[T; L]], rows: usize, l: usize, order: &[usize]) {
    let copy: Vec<T> = x[..rows * order.len()].iter().map(|x| x[l]).collect();
    for (j, &from) in order.iter().enumerate() {
        for i in 0..rows {
            x[j * rows + i][l] = copy[from * rows + i];
        }
    }
}

/// See [`svd`].
struct Svd<'a, T, const L: usize> {
    m: usize,
    n: usize,
    a: &'a mut [T],
    values: &'a mut [T],
    v: &'a mut [T],
    info: &'a mut [i32],
}

impl<T: Lanes, const L: usize> Task for Svd<'_, T, L> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { m, n, a, values, v, info } = self;
        let (a, _) = a.as_chunks_mut::<L>();
        let (v, _) = v.as_chunks_mut::<L>();
        let vectors = !v.is_empty();
        if vectors {
            for (e, x) in v.iter_mut().enumerate() {
                *x = [if e / n == e % n { T::ONE } else { T::ZERO }; L];
            }
        }
        let scale = largest(a);
        let mut inverse = [T::ONE; L];
        for l in 0..L {
            let finite = scale[l].sub(scale[l]) == T::ZERO;
            info[l] = if finite { 0 } else { NOT_FINITE };
            if finite && scale[l] > T::TINY {
                inverse[l] = T::ONE.div(scale[l]);
            }
        }
        for x in a.iter_mut() {
            for l in 0..L {
                x[l] = if info[l] == 0 { x[l].mul(inverse[l]) } else { T::ZERO };
            }
        }
        let small = T::EPSILON.mul(T::of((m as f64).sqrt()));
        let limit = small.mul(small);
        let mut squares = vec![[T::ZERO; L]; n];
        let mut sweep = 0;
        loop {
            let mut moved = false;
            for (square, column) in squares.iter_mut().zip(a.chunks_exact(m)) {
                *square = dot(column, column);
            }
            for p in 0..n {
                for q in p + 1..n {
                    let product = dot(&a[p * m..(p + 1) * m], &a[q * m..(q + 1) * m]);
                    let (first, second) = (squares[p], squares[q]);
                    let (mut rotates, mut gap) = ([false; L], [T::ZERO; L]);
                    for l in 0..L {
                        let bound = limit.mul(first[l]).mul(second[l]);
                        let size = product[l].mul(product[l]);
                        rotates[l] = size > bound && Real::abs(product[l]) > T::TINY;
                        gap[l] = second[l].sub(first[l]);
                    }
                    if !rotates.contains(&true) {
                        continue;
                    }
                    moved = true;
                    let [t, c, s] = rotation(&gap, &product, &rotates);
                    for l in 0..L {
                        squares[p][l] = first[l].sub(t[l].mul(product[l]));
                        squares[q][l] = second[l].add(t[l].mul(product[l]));
                    }
                    turn_columns(a, m, p, q, &c, &s);
                    if vectors {
                        turn_columns(v, n, p, q, &c, &s);
                    }
                }
            }
            sweep += 1;
            if !moved || sweep == SWEEPS {
                break;
            }
        }
        if sweep == SWEEPS {
            info.iter_mut().filter(|info| **info == 0).for_each(|info| *info = NOT_CONVERGED);
        }
        for (square, column) in squares.iter_mut().zip(a.chunks_exact(m)) {
            *square = dot(column, column);
        }
        for l in 0..L {
            let lengths: Vec<T> = squares[..n].iter().map(|square| square[l].sqrt()).collect();
            let order = sorted(&lengths, true);
            let unscale = if inverse[l] == T::ONE { T::ONE } else { scale[l] };
            for (j, &from) in order.iter().enumerate() {
                values[j * L + l] = lengths[from].mul(unscale);
            }
            if vectors && n > 0 {
                let (most, least) = (lengths[order[0]], lengths[order[n - 1]]);
                if info[l] == 0 && (most == T::ZERO || least <= most.mul(small).mul(T::of(n as f64))) {
                    info[l] = DEFICIENT;
                }
                permute(v, n, l, &order);
                permute(a, m, l, &order);
                for (j, &from) in order.iter().enumerate() {
                    let by = T::ONE.div(lengths[from]);
                    a[j * m..(j + 1) * m].iter_mut().for_each(|x| x[l] = x[l].mul(by));
                }
            }
        }
    }
}

/// The inner products of columns.
#[inline(always)]
fn dot<T: Lanes, const L: usize>(x: &[[T; L]], y: &[[T; L]]) -> [T; L] {
    let mut sum = [T::ZERO; L];
    for (x, y) in x.iter().zip(y) {
        for l in 0..L {
            sum[l] = sum[l].add(x[l].mul(y[l]));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{adjoint, distance, noise, product};

    fn lane(x: &[f64], l: usize) -> Vec<f64> {
        x.iter().skip(l).step_by(8).copied().collect()
    }

    #[test]
    fn eigenvectors_are_multiplied_by_values() {
        for n in [1, 2, 5, 8, 16] {
            let mut a = noise::<f64>(n * n * 8, n as u64);
            a.iter_mut().skip(3).step_by(8).for_each(|x| *x = 0.0);
            let given: Vec<Vec<f64>> = (0..8)
                .map(|l| {
                    let a = lane(&a, l);
                    (0..n * n).map(|e| if e % n >= e / n { a[e] } else { a[(e % n) * n + e / n] }).collect()
                })
                .collect();
            let (mut w, mut v, mut info) = (vec![0.0; n * 8], vec![0.0; n * n * 8], [9; 8]);
            eigh(n, &mut a, &mut w, &mut v, &mut info);
            for l in 0..8 {
                let (w, v) = (lane(&w, l), lane(&v, l));
                let scaled: Vec<f64> = v.iter().enumerate().map(|(e, v)| v * w[e / n]).collect();
                assert!(distance(&product(n, n, n, &given[l], &v), &scaled) < 1e-13 * n as f64);
                assert!(w.windows(2).all(|w| w[0] <= w[1]) && info[l] == 0);
            }
        }
    }

    #[test]
    fn singular_vectors_multiply_to_the_matrix() {
        for (m, n) in [(1, 1), (4, 2), (8, 8), (20, 12)] {
            let given = noise::<f64>(m * n * 8, 7);
            let mut a = given.clone();
            let (mut s, mut v, mut info) = (vec![0.0; n * 8], vec![0.0; n * n * 8], [9; 8]);
            svd(m, n, &mut a, &mut s, &mut v, &mut info);
            for (l, &info) in info.iter().enumerate() {
                let (u, s, v) = (lane(&a, l), lane(&s, l), lane(&v, l));
                let us: Vec<f64> = u.iter().enumerate().map(|(e, u)| u * s[e / m]).collect();
                assert!(distance(&product(m, n, n, &us, &adjoint(n, n, &v)), &lane(&given, l)) < 1e-13 * m as f64);
                let gram = product(n, m, n, &adjoint(m, n, &u), &u);
                assert!((0..n * n).all(|e| (gram[e] - f64::from(u8::from(e / n == e % n))).abs() < 1e-13 * m as f64));
                assert!(s.windows(2).all(|s| s[0] >= s[1]) && info == 0);
            }
            let mut only = vec![0.0; n * 8];
            svd(m, n, &mut given.clone(), &mut only, &mut [], &mut info);
            assert!(distance(&s, &only) < 1e-13 * m as f64);
        }
        let (mut s, mut info) = (vec![0.0; 8], [9; 8]);
        svd(1, 1, &mut [f64::NAN, 0.0, 1.0, f64::INFINITY, 1.0, 1.0, 1.0, 1.0], &mut s, &mut [], &mut info);
        assert_eq!(info, [NOT_FINITE, 0, 0, NOT_FINITE, 0, 0, 0, 0]);
    }
}
