//! Householder reflections in LAPACK's format: the QR decomposition, and products with its orthogonal factor.
//!
//! Reflection `i` is `I - tau[i] v v^H`, where `v` has zeros above row `i`, 1 there and what column `i` has below. `Q`
//! is the product of all, the first one leftmost. Many reflections are applied together as `I - V T V^H` with
//! triangular `T` (Schreiber and Van Loan 1989).

use faer::traits::ext::*;
use retrograd_kernels::matmul::Layout;
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{multiply, transposed};
use crate::number::{Number, norm, tiny};

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
pub(crate) fn reflection<T: Number>(alpha: T, x: &mut [T]) -> (T, T) {
    let length = norm(x);
    if length == T::Real::zero() && alpha.imag() == T::Real::zero() {
        return (alpha, T::zero());
    }
    let all = alpha.abs().hypot(length);
    let tiny = tiny::<T::Real>();
    if all < tiny {
        // Its inverse might be infinite.
        x.iter_mut().for_each(|x| *x = x.mul_real(tiny.recip()));
        let (beta, tau) = reflection(alpha.mul_real(tiny.recip()), x);
        return (beta.mul_real(tiny), tau);
    }
    let beta = if alpha.real() < T::Real::zero() { all } else { -all };
    let tau = (T::from_real_impl(&beta) - alpha).mul_real(beta.recip());
    let scale = (alpha - T::from_real_impl(&beta)).recip();
    x.iter_mut().for_each(|x| *x *= scale);
    (T::from_real_impl(&beta), tau)
}

/// `column -= v (tau v^H column)` for columns of `rows` rows, where `v` is 1 in row `start` and `rest` below.
struct Reflect<'a, T> {
    rest: &'a [T],
    tau: T,
    start: usize,
    rows: usize,
    columns: &'a mut [T],
}

impl<T: Scalar> Reflect<'_, T> {
    fn run(self) {
        assert_eq!(self.start + 1 + self.rest.len(), self.rows, "a reflection reaches the last row");
        // SAFETY: the task has no duties of its own.
        unsafe { for_isa(InstructionSet::detect(), self) }
    }
}

impl<T: Scalar> Task for Reflect<'_, T> {
    type Out = ();
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        for column in self.columns.chunks_exact_mut(self.rows) {
            let (above, column) = column.split_at_mut(self.start + 1);
            let first = &mut above[self.start];
            // SAFETY: our duty 2; columns end with the last row, as `rest` does.
            unsafe {
                let by = first.add(T::dot::<S>(self.rest, column)).mul(self.tau);
                *first = first.sub(by);
                T::add_columns::<S>(column, &[by.neg()], self.rest.as_ptr(), 0);
            }
        }
    }
}

/// The decomposition `A = Q R` of a column-major matrix of `m` rows in place: `R` on and above the diagonal, the
/// reflections below. `tau` has one element for each.
pub fn factor<T: Number + Scalar>(m: usize, n: usize, a: &mut [T], tau: &mut [T], scratch: &mut [T]) {
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
            let columns = &mut right[..(last - i - 1) * m];
            Reflect { rest, tau: Scalar::conj(tau[i]), start: i, rows: m, columns }.run();
        }
        if end < n && width != k.max(1) {
            let (left, right) = a.split_at_mut(end * m);
            let block = Block::new(m, start, &left[start * m..], &tau[start..end], scratch);
            block.apply(m, n - end, right, true);
        }
    }
}

/// Some reflections as `I + V S V^H`, where `S` is `-T`.
struct Block<'a, T> {
    /// Rows above, which stay as they are.
    start: usize,
    rows: usize,
    width: usize,
    v: &'a [T],
    s: &'a [T],
    room: &'a mut [T],
}

impl<'a, T: Scalar> Block<'a, T> {
    /// The reflections of the columns `columns`, the first of which has its 1 in row `start` of `m`.
    fn new(m: usize, start: usize, columns: &[T], tau: &[T], scratch: &'a mut [T]) -> Self {
        let (rows, width) = (m - start, tau.len());
        let (v, room) = scratch.split_at_mut(rows * width);
        let (s, room) = room.split_at_mut(width * width);
        for (i, (to, from)) in v.chunks_exact_mut(rows).zip(columns.chunks_exact(m)).enumerate() {
            to[..i].fill(T::ZERO);
            to[i] = T::ONE;
            to[i + 1..].copy_from_slice(&from[start + i + 1..]);
        }
        let square = Layout::column_major(width, width);
        let of = Layout::column_major(rows, width);
        multiply((v, transposed(of), true), (v, of), false, (s, square));
        for i in 0..width {
            // S[..i, i] = -tau[i] S[..i, ..i] (V[.., ..i]^H v[i])
            let (before, now) = s.split_at_mut(i * width);
            let mut products = [T::ZERO; BLOCK];
            products[..i].copy_from_slice(&now[..i]);
            now[..width].fill(T::ZERO);
            for (j, &x) in products[..i].iter().enumerate() {
                let by = tau[i].mul(x).neg();
                for (to, &s) in now[..=j].iter_mut().zip(&before[j * width..]) {
                    *to = to.add(s.mul(by));
                }
            }
            now[i] = tau[i].neg();
        }
        Block { start, rows, width, v, s, room }
    }

    /// `C += V S V^H C`, or with the adjoint of `S`, for `n` columns of `m` rows.
    fn apply(self, m: usize, n: usize, c: &mut [T], adjoint: bool) {
        let Block { start, rows, width, v, s, room } = self;
        if n == 0 {
            return;
        }
        let (first, second) = room.split_at_mut(width * n);
        let (of, square) = (Layout::column_major(rows, width), Layout::column_major(width, width));
        let short = Layout::column_major(width, n);
        let long = Layout { rows, cols: n, offset: start, rs: 1, cs: m as isize };
        let s_of = if adjoint { transposed(square) } else { square };
        multiply((v, transposed(of), true), (c, long), false, (first, short));
        multiply((s, s_of, adjoint), (first, short), false, (second, short));
        multiply((v, of, false), (second, short), true, (c, long));
    }
}

/// Multiplies `n` columns of `m` rows from the left by `Q` of the reflections in `v`, or by its adjoint.
pub fn apply<T: Number + Scalar>(
    m: usize,
    n: usize,
    v: &[T],
    tau: &[T],
    c: &mut [T],
    adjoint: bool,
    scratch: &mut [T],
) {
    run(m, n, v, tau, c, adjoint, false, scratch);
}

/// The first `n` columns of `Q`.
pub fn product<T: Number + Scalar>(m: usize, n: usize, v: &[T], tau: &[T], q: &mut [T], scratch: &mut [T]) {
    q.fill(T::zero());
    (0..n.min(m)).for_each(|i| q[i * m + i] = T::one());
    run(m, n, v, tau, q, false, true, scratch);
}

/// See [`apply`]; `identity` says that `c` is the identity, which reflections leave as it is left of their own column.
#[allow(clippy::too_many_arguments)]
fn run<T: Number + Scalar>(
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
            let tau = if adjoint { Scalar::conj(tau) } else { tau };
            Reflect { rest, tau, start, rows: m, columns: &mut c[..(n - left) * m] }.run();
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

    fn check<T: Number<Real: Into<f64>> + Scalar>(m: usize, n: usize) {
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
    fn check_reflection<T: Number<Real: Into<f64>> + Scalar>(digits: f64) {
        for rows in (1..40).chain([64, 65, 100, 131]) {
            for start in [0, rows / 2, rows - 1] {
                let (rest, c, tau) = (noise::<T>(rows - start - 1, 1), noise::<T>(rows * 3, 2), noise::<T>(1, 3)[0]);
                let mut v = vec![T::ZERO; rows];
                v[start] = T::ONE;
                v[start + 1..].copy_from_slice(&rest);
                let row: Vec<T> = times(1, rows, 3, &crate::number::tests::adjoint(rows, 1, &v), &c);
                let row: Vec<T> = row.into_iter().map(|x| tau * x).collect();
                let expected: Vec<T> = c.iter().zip(times(rows, 1, 3, &v, &row)).map(|(c, x)| *c - x).collect();
                for level in InstructionSet::available() {
                    let mut columns = c.clone();
                    let task = Reflect { rest: &rest, tau, start, rows, columns: &mut columns };
                    // SAFETY: the task has no duties of its own.
                    unsafe { for_isa(level, task) };
                    assert!(distance(&columns, &expected) < digits, "{rows} {start} {}", level.name());
                }
            }
        }
    }

    #[test]
    fn numbers_without_an_inverse_are_reflected() {
        let a: Vec<f64> = noise::<f64>(20 * 7, 1).iter().map(|x| x * 1e-309).collect();
        let (mut f, mut tau, mut room) = (a.clone(), vec![0.0; 7], vec![0.0; scratch(20, 20)]);
        factor(20, 7, &mut f, &mut tau, &mut room);
        let mut q = vec![0.0; 20 * 20];
        product(20, 20, &f, &tau, &mut q, &mut room);
        let mut one = vec![0.0; 20 * 20];
        one.iter_mut().step_by(21).for_each(|x| *x = 1.0);
        assert!(distance(&times(20, 20, 20, &crate::number::tests::adjoint(20, 20, &q), &q), &one) < 1e-14);
        f.chunks_exact_mut(20).enumerate().for_each(|(j, c)| c[j + 1..].fill(0.0));
        assert!(distance(&times(20, 20, 7, &q, &f), &a) < 1e-320);
    }

    #[test]
    fn every_instruction_set_reflects() {
        check_reflection::<f32>(1e-4);
        check_reflection::<f64>(1e-12);
        check_reflection::<c64>(1e-12);
    }
}
