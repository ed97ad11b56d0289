//! The Cholesky factorization `A = L L^H`.

use retrograd_kernels::matmul::{Layout, gemm_slices};
use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::blocks::{Block, add_product, at, copy, copy_along, part, transposed};
use crate::matrices::Matrices;
use crate::triangular::{self, Triangle};
use crate::{Scalar, lanes};

/// Columns that are factored one by one.
const LEAF: usize = 32;
/// Elements of a column of a leaf: the least of these that holds its rows.
const WIDTHS: [usize; 3] = [8, 16, LEAF];
/// Columns of a triangular part that are computed together.
const PANEL: usize = 64;

/// Elements of scratch that [`factor`] needs for a matrix of `n` rows.
pub fn scratch(n: usize) -> usize {
    // The largest block below the diagonal, negated.
    if n <= LEAF { 0 } else { n.pow(2).div_ceil(4) }
}

/// Rows of the first part of a matrix that is taken apart.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(LEAF)
}

/// Replaces a matrix of `n` rows by `L`, zeros above the diagonal; of `A` only the lower triangle is read, and the real
/// part of the diagonal. Returns 0, or the order of the first leading minor that is not positive, as LAPACK's `potrf`
/// does. If `upper`, the matrix is given transposed, and replaced by `L^H` of the one that is meant.
pub fn factor<T: Scalar>(n: usize, upper: bool, a: &mut [T], scratch: &mut [T]) -> i32 {
    if upper && <T as Ring>::COMPLEX {
        // The transpose of a Hermitian matrix is its conjugate.
        a.iter_mut().for_each(|x| *x = x.conj());
    }
    let info = recurse(a, Layout::column_major(n, n), scratch);
    for j in 1..n {
        a[j * n..j * n + j].fill(<T as Ring>::ZERO);
    }
    if upper {
        for j in 1..n {
            for i in 0..j {
                a[j * n + i] = a[i * n + j].conj();
                a[i * n + j] = <T as Ring>::ZERO;
            }
        }
    }
    info
}

/// [`factor`] of some matrices, into `a`; the lower triangles of `x` are read. `info` has what it returns for each.
pub fn factor_all<T: Scalar>(upper: bool, x: Matrices<'_, T>, a: &mut [T], info: &mut [i32], scratch: &mut [T]) {
    let (n, count) = (x.layout.rows, x.count());
    let len = n * n;
    assert!(x.layout.cols == n && a.len() == len * count && info.len() == count, "extents disagree");
    let in_lanes = lanes::serve::<T>(count, &[n]);
    if in_lanes {
        lanes::run(lanes::Cholesky { upper, x, a, info });
    }
    for (l, info) in info.iter_mut().enumerate() {
        if !in_lanes || *info < 0 {
            let a = &mut a[l * len..][..len];
            x.copy_one(l, a);
            *info = factor(n, upper, a, scratch);
        }
    }
}

fn recurse<T: Scalar>(a: &mut [T], of: Layout, scratch: &mut [T]) -> i32 {
    let n = of.rows;
    if n <= LEAF {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { a, of }) };
    }
    let half = half(n);
    let (top, rest) = (0..half, half..n);
    let first = part(of, &Block { rows: top.clone(), cols: top.clone() });
    let info = recurse(a, first, scratch);
    if info != 0 {
        return info;
    }
    let below = part(of, &Block { rows: rest.clone(), cols: top.clone() });
    let adjoint = Triangle { transposed: true, conj: true, ..Triangle::default() };
    assert!(of.fits(a.len()) && of.distinct(), "outside the slice: {of:?}");
    let p = a.as_mut_ptr();
    // SAFETY: both parts are in the slice, which is borrowed mutably; they share no element, and elements are distinct.
    unsafe { triangular::solve_at(adjoint, false, (p.cast_const(), first), (p, below)) };
    // Of the rest, the upper triangle of the transposed matrix loses `conj(L) L^T`, panel by panel.
    let (left, ll) = copy_along((a, below), scratch, |x| x.conj().neg());
    for start in (0..n - half).step_by(PANEL) {
        let rows = start..(start + PANEL).min(n - half);
        let block = Block { rows: half + rows.start..half + rows.end, cols: half + start..n };
        let right = Block { rows: top.clone(), cols: block.cols.clone() };
        add_product((left, part(ll, &Block { rows, cols: top.clone() })), (a, transposed(of)), right, block);
    }
    match recurse(a, part(of, &Block { rows: rest.clone(), cols: rest }), scratch) {
        0 => 0,
        info => info + half as i32,
    }
}

/// Elements of scratch that [`vjp`] needs for matrices of `n` rows.
pub fn vjp_scratch(n: usize) -> usize {
    2 * n * n
}

/// Writes `L^-H phi(L^H G) L^-1`, made Hermitian, to `out`, where `phi` is the lower triangle with half of the
/// diagonal. If `upper`, `L` and `G` are given as their adjoints.
pub fn vjp<T: Scalar>(
    n: usize,
    upper: bool,
    (l, ll): (&[T], Layout),
    (g, gl): (&[T], Layout),
    out: &mut [T],
    scratch: &mut [T],
) {
    let (own, spare) = scratch.split_at_mut(n * n);
    let (other, _) = spare.split_at_mut(n * n);
    // `conj(L)`, and `G`.
    let ((l, ll), (g, gl)) = if upper {
        (copy_along((l, transposed(ll)), own, |x| x), copy_along((g, transposed(gl)), other, Scalar::conj))
    } else {
        (copy_along((l, ll), own, Scalar::conj), copy_along((g, gl), other, |x| x))
    };
    let whole = Layout::column_major(n, n);
    let lower = Triangle { conj: true, ..Triangle::default() };
    for start in (0..n).step_by(PANEL) {
        let (rows, rest) = (start..n.min(start + PANEL), start..n);
        let left = transposed(part(ll, &Block { rows: rest.clone(), cols: rows.clone() }));
        let right = part(gl, &Block { rows: rest, cols: 0..rows.end });
        let panel = part(whole, &Block { rows: rows.clone(), cols: 0..rows.end });
        gemm_slices((l, left), (g, right), false, (out, panel));
        for j in rows.clone() {
            out[j * n + start..j * n + j].fill(<T as Ring>::ZERO);
            out[j * n + j] = T::of_real(out[j * n + j].re().mul(<T::Real as Real>::of(0.5)));
        }
        let corner = part(ll, &Block { rows: 0..rows.end, cols: 0..rows.end });
        triangular::solve(lower, false, (l, corner), (out, panel));
    }
    // Columns that were not written so far are zero.
    for j in PANEL..n {
        out[j * n..j * n + j / PANEL * PANEL].fill(<T as Ring>::ZERO);
    }
    copy((out, transposed(whole)), other, Scalar::conj);
    triangular::solve(lower, false, (l, ll), (other, whole));
    hermitian(n, other, out);
}

/// [`vjp`] of some matrices. In lanes the sums of its product may have another order.
pub fn vjp_all<T: Scalar>(upper: bool, l: Matrices<'_, T>, g: Matrices<'_, T>, out: &mut [T], scratch: &mut [T]) {
    let (n, count) = (l.layout.rows, l.count());
    assert!([l, g].iter().all(|x| [x.layout.rows, x.layout.cols] == [n, n] && x.count() == count), "extents disagree");
    assert!(out.len() == n * n * count, "extents disagree");
    if lanes::serve::<T>(count, &[n]) {
        return lanes::run(lanes::CholeskyVjp { upper, l, g, out });
    }
    for i in 0..count {
        let out = &mut out[i * n * n..][..n * n];
        vjp(n, upper, (l.data, l.layout(i)), (g.data, g.layout(i)), out, scratch);
    }
}

/// Writes the half of a matrix and its adjoint.
fn hermitian<T: Scalar>(n: usize, from: &[T], to: &mut [T]) {
    let half = <T::Real as Real>::of(0.5);
    copy((from, transposed(Layout::column_major(n, n))), to, Scalar::conj);
    to.iter_mut().zip(from).for_each(|(to, &x)| *to = x.add(*to).scale(half));
}

/// The factorization of at most [`LEAF`] rows, in a copy.
struct Leaf<'a, T> {
    a: &'a mut [T],
    of: Layout,
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = i32;
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> i32 {
        let [narrow, middle, _] = WIDTHS;
        if self.of.rows <= narrow {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[0] }>() }
        } else if self.of.rows <= middle {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[1] }>() }
        } else {
            // SAFETY: our duty 2.
            unsafe { self.factor::<S, { WIDTHS[2] }>() }
        }
    }
}

impl<T: Scalar> Leaf<'_, T> {
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    #[inline(always)]
    unsafe fn factor<S: Isa, const W: usize>(self) -> i32 {
        let Self { a, of } = self;
        let n = of.rows;
        // Column j, from its diagonal on; whole columns are computed, so there is something in the rows above.
        let mut columns = [[<T as Ring>::ZERO; W]; W];
        for (j, column) in columns[..n].iter_mut().enumerate() {
            column[j..n].copy_from_slice(&a[at(of, j, j)..][..n - j]);
        }
        let mut info = 0;
        for k in 0..n {
            let (done, rest) = columns[..n].split_at_mut(k + 1);
            let column = &mut done[k];
            let pivot = column[k].re();
            if pivot.is_nan() || pivot <= <T::Real as Ring>::ZERO {
                info = k as i32 + 1;
                break;
            }
            let root = pivot.sqrt();
            let inverse = <T::Real as Ring>::ONE.div(root);
            column.iter_mut().for_each(|x| *x = x.scale(inverse));
            column[k] = T::of_real(root);
            for (i, to) in rest.iter_mut().enumerate() {
                let i = k + 1 + i;
                // SAFETY: duty 1.
                unsafe { T::add_scaled::<S, W>(to, column[i].conj().neg(), column, i) };
            }
        }
        for (j, column) in columns[..n].iter().enumerate() {
            a[at(of, j, j)..][..n - j].copy_from_slice(&column[j..n]);
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use retrograd_kernels::matmul::gemm_slices;

    use super::*;

    /// A number that looks random.
    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    fn check<T: Scalar>(n: usize, upper: bool, of: impl Fn(f64, f64) -> T) {
        let whole = Layout::column_major(n, n);
        let random = |seed: usize| (0..n * n).map(|i| of(noise(i + seed), noise(i + seed + 5))).collect::<Vec<T>>();
        let product = |a: &[T], al: Layout, b: &[T], bl: Layout| {
            let mut c = vec![<T as Ring>::ZERO; n * n];
            gemm_slices((a, al), (b, bl), false, (&mut c, whole));
            c
        };
        let adjoint = |a: &[T]| {
            let mut to = a.to_vec();
            copy((a, transposed(whole)), &mut to, Scalar::conj);
            to
        };
        let half = random(0);
        let mut a = product(&half, whole, &adjoint(&half), whole);
        a.iter_mut().step_by(n + 1).for_each(|x| *x = x.add(of(n as f64, 0.0)));
        let (mut l, mut spare) = (if upper { adjoint(&a) } else { a.clone() }, vec![<T as Ring>::ZERO; scratch(n)]);
        if upper {
            l = l.iter().map(|x| x.conj()).collect();
        }
        assert_eq!(factor(n, upper, &mut l, &mut spare), 0);
        let lower = if upper { adjoint(&l) } else { l.clone() };
        let near = |x: &[T], y: &[T], what: &str| {
            let limit = <T::Real as Real>::of(1e-10 * (n * n) as f64);
            assert!(x.iter().zip(y).all(|(x, y)| x.sub(*y).size() < limit), "{what} {n} {upper}");
        };
        near(&product(&lower, whole, &adjoint(&lower), whole), &a, "L L^H");
        let g = random(99);
        let (mut out, mut spare) = (vec![<T as Ring>::ZERO; n * n], vec![<T as Ring>::ZERO; vjp_scratch(n)]);
        vjp(n, upper, (&l, whole), (&g, whole), &mut out, &mut spare);
        // L^H out L is the Hermitian part of phi(L^H G).
        let got = product(&product(&adjoint(&lower), whole, &out, whole), whole, &lower, whole);
        let g = if upper { adjoint(&g) } else { g };
        let mut phi = product(&adjoint(&lower), whole, &g, whole);
        for j in 0..n {
            phi[j * n..j * n + j].fill(<T as Ring>::ZERO);
            phi[j * n + j] = phi[j * n + j].scale(<T::Real as Real>::of(0.5));
            phi[j * n + j] = T::of_real(phi[j * n + j].re());
        }
        let turned = adjoint(&phi);
        let want: Vec<T> = phi.iter().zip(&turned).map(|(x, &y)| x.add(y).scale(<T::Real as Real>::of(0.5))).collect();
        near(&got, &want, "vjp");
    }

    #[test]
    fn factors_and_gradients() {
        for n in [1, 3, 8, 9, 17, 32, 33, 64, 65, 100, 130] {
            for upper in [false, true] {
                check::<f64>(n, upper, |x, _| x);
                check::<Complex<f64>>(n, upper, Complex::new);
            }
        }
    }
}
