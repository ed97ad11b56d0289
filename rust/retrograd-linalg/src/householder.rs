//! Householder reflections in LAPACK's format: the QR decomposition, and products with its orthogonal factor.
//!
//! Reflection `i` is `I - tau[i] v v^H`, where `v` has zeros above row `i`, 1 there and what column `i` has below. `Q`
//! is the product of all, the first one leftmost. Many reflections are applied together as `I - V T V^H` with
//! triangular `T` (Schreiber and Van Loan 1989).

use faer::linalg::matmul::matmul_with_conj;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::ext::*;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use crate::number::{Number, norm};

/// Reflections that are applied together.
const BLOCK: usize = 32;
/// Fewer than this are applied one by one.
const WORTH_BLOCKS: usize = 48;

/// The numbers of scratch for `k` reflections of `m` rows applied to `n` columns.
pub fn scratch(m: usize, n: usize) -> usize {
    BLOCK * (m + BLOCK + 2 * n)
}

/// Makes the reflection that takes `(alpha, x)` to a multiple of the first unit vector, as LAPACK's `larfg`: the
/// multiple, which is real, and `tau`; `x` becomes the rest of `v`.
fn reflection<T: Number>(alpha: T, x: &mut [T]) -> (T, T) {
    let length = norm(x);
    if length == T::Real::zero() && alpha.imag() == T::Real::zero() {
        return (alpha, T::zero());
    }
    let all = alpha.abs().hypot(length);
    let beta = if alpha.real() < T::Real::zero() { all } else { -all };
    let tau = (T::from_real_impl(&beta) - alpha).mul_real(beta.recip());
    let scale = (alpha - T::from_real_impl(&beta)).recip();
    x.iter_mut().for_each(|x| *x *= scale);
    (T::from_real_impl(&beta), tau)
}

/// `column -= v (tau v^H column)`, where `v` is 1 and `rest`.
#[inline]
fn reflect<T: Number>(rest: &[T], tau: T, column: &mut [T]) {
    let Some((first, column)) = column.split_first_mut() else { return };
    let mut dot = *first;
    for (v, c) in rest.iter().zip(&*column) {
        dot += v.conj() * *c;
    }
    dot *= tau;
    *first -= dot;
    for (v, c) in rest.iter().zip(column) {
        *c -= *v * dot;
    }
}

/// The decomposition `A = Q R` of a column-major matrix of `m` rows in place: `R` on and above the diagonal, the
/// reflections below. `tau` has one element for each.
pub fn factor<T: Number>(m: usize, n: usize, a: &mut [T], tau: &mut [T], scratch: &mut [T]) {
    let k = m.min(n);
    let width = if k < WORTH_BLOCKS { k.max(1) } else { BLOCK };
    for start in (0..k).step_by(width) {
        let end = (start + width).min(k);
        for i in start..end {
            let (left, right) = a.split_at_mut((i + 1) * m);
            let column = &mut left[i * m + i..];
            let (first, rest) = column.split_first_mut().expect("a row for each reflection");
            (*first, tau[i]) = reflection(*first, rest);
            // The others of the block, and of all if there is one block.
            let last = if end == k && width == k.max(1) { n } else { end };
            for other in right.chunks_exact_mut(m).take(last - i - 1) {
                reflect(rest, tau[i].conj(), &mut other[i..]);
            }
        }
        if end < n && width != k.max(1) {
            let (left, right) = a.split_at_mut(end * m);
            let block = Block::new(m, start, &left[start * m..], &tau[start..end], scratch);
            block.apply(m, n - end, right, true);
        }
    }
}

/// Some reflections as `I - V T V^H`.
struct Block<'a, T> {
    /// Rows above, which stay as they are.
    start: usize,
    rows: usize,
    width: usize,
    v: &'a [T],
    t: &'a [T],
    room: &'a mut [T],
}

impl<'a, T: Number> Block<'a, T> {
    /// The reflections of the columns `columns`, the first of which has its 1 in row `start` of `m`.
    fn new(m: usize, start: usize, columns: &[T], tau: &[T], scratch: &'a mut [T]) -> Self {
        let (rows, width) = (m - start, tau.len());
        let (v, room) = scratch.split_at_mut(rows * width);
        let (t, room) = room.split_at_mut(width * width);
        for (i, (to, from)) in v.chunks_exact_mut(rows).zip(columns.chunks_exact(m)).enumerate() {
            to[..i].fill(T::zero());
            to[i] = T::one();
            to[i + 1..].copy_from_slice(&from[start + i + 1..]);
        }
        t.fill(T::zero());
        for i in 0..width {
            // T[..i, i] = -tau[i] T[..i, ..i] (V[.., ..i]^H v[i])
            let (before, now) = t.split_at_mut(i * width);
            for j in 0..i {
                let (a, b) = (&v[j * rows..][..rows], &v[i * rows..][..rows]);
                now[j] = a[i..].iter().zip(&b[i..]).fold(T::zero(), |sum, (a, b)| sum + a.conj() * *b);
            }
            for j in 0..i {
                let sum = (j..i).fold(T::zero(), |sum, l| sum + before[l * width + j] * now[l]);
                now[j] = -(tau[i] * sum);
            }
            now[i] = tau[i];
        }
        Block { start, rows, width, v, t, room }
    }

    /// `C -= V T V^H C`, or with the adjoint of `T`, for `n` columns of `m` rows.
    fn apply(self, m: usize, n: usize, c: &mut [T], adjoint: bool) {
        let Block { start, rows, width, v, t, room } = self;
        if n == 0 {
            return;
        }
        let (first, second) = room.split_at_mut(width * n);
        let v = MatRef::from_column_major_slice(v, rows, width);
        let t = MatRef::from_column_major_slice(t, width, width);
        let mut first = MatMut::from_column_major_slice_mut(first, width, n);
        let mut second = MatMut::from_column_major_slice_mut(&mut second[..width * n], width, n);
        let c = MatMut::from_column_major_slice_with_stride_mut(&mut c[start..], rows, n, m);
        let (one, seq) = (T::one(), Par::Seq);
        matmul_with_conj(first.rb_mut(), Accum::Replace, v.transpose(), Conj::Yes, c.rb(), Conj::No, one, seq);
        let (t, conj) = if adjoint { (t.transpose(), Conj::Yes) } else { (t, Conj::No) };
        matmul_with_conj(second.rb_mut(), Accum::Replace, t, conj, first.rb(), Conj::No, one, seq);
        matmul_with_conj(c, Accum::Add, v, Conj::No, second.rb(), Conj::No, -one, seq);
    }
}

/// Multiplies `n` columns of `m` rows from the left by `Q` of the reflections in `v`, or by its adjoint.
pub fn apply<T: Number>(m: usize, n: usize, v: &[T], tau: &[T], c: &mut [T], adjoint: bool, scratch: &mut [T]) {
    run(m, n, v, tau, c, adjoint, false, scratch);
}

/// The first `n` columns of `Q`.
pub fn product<T: Number>(m: usize, n: usize, v: &[T], tau: &[T], q: &mut [T], scratch: &mut [T]) {
    q.fill(T::zero());
    (0..n.min(m)).for_each(|i| q[i * m + i] = T::one());
    run(m, n, v, tau, q, false, true, scratch);
}

/// See [`apply`]; `identity` says that `c` is the identity, which reflections leave as it is left of their own column.
#[allow(clippy::too_many_arguments)]
fn run<T: Number>(
    m: usize,
    n: usize,
    v: &[T],
    tau: &[T],
    c: &mut [T],
    adjoint: bool,
    identity: bool,
    scratch: &mut [T],
) {
    let k = tau.len();
    if n == 0 || k == 0 {
        return;
    }
    let width = if k < WORTH_BLOCKS { 1 } else { BLOCK };
    let blocks = k.div_ceil(width);
    for block in 0..blocks {
        let start = width * if adjoint { block } else { blocks - 1 - block };
        let end = (start + width).min(k);
        let left = if identity { start.min(n) } else { 0 };
        let c = &mut c[left * m..];
        if width == 1 {
            let (rest, tau) = (&v[start * m + start + 1..(start + 1) * m], tau[start]);
            let tau = if adjoint { tau.conj() } else { tau };
            c.chunks_exact_mut(m).for_each(|column| reflect(rest, tau, &mut column[start..]));
        } else {
            Block::new(m, start, &v[start * m..], &tau[start..end], scratch).apply(m, n - left, c, adjoint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{distance, noise, product as times};
    use faer::c64;

    fn check<T: Number<Real: Into<f64>>>(m: usize, n: usize) {
        let k = m.min(n);
        let a = noise::<T>(m * n, 1);
        let (mut f, mut tau) = (a.clone(), vec![T::zero(); k]);
        let mut room = vec![T::zero(); scratch(m, m.max(n))];
        factor(m, n, &mut f, &mut tau, &mut room);
        let mut q = vec![T::zero(); m * m];
        product(m, m, &f, &tau, &mut q, &mut room);
        let mut r = f.clone();
        r.chunks_exact_mut(m).enumerate().for_each(|(j, c)| c.iter_mut().skip(j + 1).for_each(|x| *x = T::zero()));
        assert!(distance(&times(m, m, n, &q, &r), &a) < 1e-11, "{m} {n}");
        // Q^H A is R, and Q R is A.
        let mut b = a.clone();
        apply(m, n, &f, &tau, &mut b, true, &mut room);
        assert!(distance(&b, &r) < 1e-11);
        apply(m, n, &f, &tau, &mut b, false, &mut room);
        assert!(distance(&b, &a) < 1e-11);
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        for (m, n) in [(1, 1), (5, 3), (3, 5), (8, 8), (60, 50), (50, 70), (100, 49)] {
            check::<f64>(m, n);
            check::<c64>(m, n);
        }
    }
}
