//! The Cholesky factorization `A = L L^H`.

use retrograd_kernels::matmul::{Layout, gemm_slices};
use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};

use crate::Scalar;
use crate::blocks::{Block, at, copy, part, transposed};
use crate::triangular::{self, Triangle};

/// Columns that are factored one by one.
const LEAF: usize = 32;
/// Elements that are computed together.
const WIDTH: usize = 8;

/// Elements of scratch that [`factor`] needs for a matrix of `n` rows.
pub fn scratch(n: usize) -> usize {
    // Two copies of the block below the diagonal.
    if n <= LEAF { 0 } else { n * n }
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

fn recurse<T: Scalar>(a: &mut [T], of: Layout, scratch: &mut [T]) -> i32 {
    let n = of.rows;
    if n <= LEAF {
        // SAFETY: `Leaf` has no duties.
        return unsafe { for_isa(InstructionSet::detect(), Leaf { a, of }) };
    }
    let half = (n / 2).next_multiple_of(WIDTH);
    let (top, rest) = (0..half, half..n);
    let first = part(of, &Block { rows: top.clone(), cols: top.clone() });
    let info = recurse(a, first, scratch);
    if info != 0 {
        return info;
    }
    let below = part(of, &Block { rows: rest.clone(), cols: top });
    let (corner, spare) = scratch.split_at_mut(half * half);
    copy((a, first), corner, |x| x);
    let adjoint = Triangle { transposed: true, conj: true, ..Triangle::default() };
    triangular::solve(adjoint, false, (corner, Layout::column_major(half, half)), (a, below), spare);
    let m = n - half;
    let (left, right) = scratch.split_at_mut(m * half);
    copy((a, below), left, |x| x.neg());
    copy((a, below), right, |x| x.conj());
    let second = part(of, &Block { rows: rest.clone(), cols: rest });
    let right = (&right[..m * half], transposed(Layout::column_major(m, half)));
    update((left, Layout::column_major(m, half)), right, (a, second));
    match recurse(a, second, scratch) {
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
    let whole = Layout::column_major(n, n);
    let half = <T::Real as Real>::of(0.5);
    // Conjugated L^T: `own` is L, conjugated.
    if upper {
        copy((l, transposed(ll)), own, |x| x);
        copy((g, transposed(gl)), spare, |x| x.conj());
    } else {
        copy((l, ll), own, |x| x.conj());
        copy((g, gl), spare, |x| x);
    }
    gemm_slices((own, transposed(whole)), (spare, whole), false, (out, whole));
    for j in 0..n {
        out[j * n + j] = T::of_real(out[j * n + j].re().mul(half));
        for i in j + 1..n {
            // Half of it on both sides.
            let x = out[j * n + i].scale(half);
            (out[j * n + i], out[i * n + j]) = (x, x.conj());
        }
    }
    let lower = Triangle { conj: true, ..Triangle::default() };
    let own = &*own;
    triangular::solve(Triangle { transposed: true, conj: false, ..lower }, true, (own, whole), (out, whole), spare);
    triangular::solve(lower, false, (own, whole), (out, whole), spare);
}

/// Adds the lower triangle of a product to that of `c`, with some elements above.
fn update<T: Scalar>((a, al): (&[T], Layout), (b, bl): (&[T], Layout), (c, cl): (&mut [T], Layout)) {
    let n = cl.rows;
    if n <= 2 * LEAF {
        return gemm_slices((a, al), (b, bl), true, (c, cl));
    }
    let k = al.cols;
    let half = (n / 2).next_multiple_of(WIDTH);
    let (top, rest) = (0..half, half..n);
    let rows = |r: &std::ops::Range<usize>| part(al, &Block { rows: r.clone(), cols: 0..k });
    let cols = |r: &std::ops::Range<usize>| part(bl, &Block { rows: 0..k, cols: r.clone() });
    let block =
        |r: &std::ops::Range<usize>, c: &std::ops::Range<usize>| part(cl, &Block { rows: r.clone(), cols: c.clone() });
    update((a, rows(&top)), (b, cols(&top)), (c, block(&top, &top)));
    gemm_slices((a, rows(&rest)), (b, cols(&top)), true, (c, block(&rest, &top)));
    update((a, rows(&rest)), (b, cols(&rest)), (c, block(&rest, &rest)));
}

/// The factorization of at most [`LEAF`] rows, in a copy whose columns are as long as vectors are.
struct Leaf<'a, T> {
    a: &'a mut [T],
    of: Layout,
}

impl<T: Scalar> Task for Leaf<'_, T> {
    type Out = i32;
    const WIDE: bool = <T as SimdElement>::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> i32 {
        let Self { a, of } = self;
        let n = of.rows;
        // Column j, from its diagonal on; whole vectors are computed, so there is something in the rows above.
        let mut columns = [[[<T as Ring>::ZERO; WIDTH]; LEAF / WIDTH]; LEAF];
        for (j, column) in columns[..n].iter_mut().enumerate() {
            let from = &a[at(of, j, j)..][..n - j];
            for (x, &from) in column.as_flattened_mut()[j..].iter_mut().zip(from) {
                *x = from;
            }
        }
        let mut info = 0;
        let groups = n.div_ceil(WIDTH);
        for k in 0..n {
            let (done, rest) = columns[..n].split_at_mut(k + 1);
            let column = &mut done[k];
            let pivot = column.as_flattened()[k].re();
            if pivot.is_nan() || pivot <= <T::Real as Ring>::ZERO {
                info = k as i32 + 1;
                break;
            }
            let root = pivot.sqrt();
            let inverse = <T::Real as Ring>::ONE.div(root);
            for group in &mut column[k / WIDTH..groups] {
                for x in group {
                    *x = x.scale(inverse);
                }
            }
            column.as_flattened_mut()[k] = T::of_real(root);
            for (i, to) in rest.iter_mut().enumerate() {
                let i = k + 1 + i;
                let factor = column.as_flattened()[i].conj();
                for (to, from) in to[i / WIDTH..groups].iter_mut().zip(&column[i / WIDTH..groups]) {
                    for (to, &x) in to.iter_mut().zip(from) {
                        *to = to.sub(x.mul(factor));
                    }
                }
            }
        }
        for (j, column) in columns[..n].iter().enumerate() {
            a[at(of, j, j)..][..n - j].copy_from_slice(&column.as_flattened()[j..n]);
        }
        info
    }
}
