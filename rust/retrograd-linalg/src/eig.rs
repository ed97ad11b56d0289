//! Eigenvalues and eigenvectors of square matrices, in double precision.

use std::mem::MaybeUninit;

use faer::c64;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::hessenberg::{HessenbergParams, hessenberg_in_place, hessenberg_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, EvdParams, evd_cplx, evd_real, evd_scratch};
use faer::{Auto, MatMut, MatRef, Par, Spec};
use retrograd_kernels::matmul::Layout;

use crate::blocks::multiply;
use crate::number::{Number, Scale, all_finite, norm};
use crate::{diagonal, eigenvectors, householder, schur};

/// What [`real`] and [`complex`] return for matrices with infinities or NaN.
pub const NOT_FINITE: i32 = -1;

const NO: ComputeEigenvectors = ComputeEigenvectors::No;
const YES: ComputeEigenvectors = ComputeEigenvectors::Yes;

/// Bytes of scratch for a matrix of `n` rows, complex ones or real.
pub fn scratch(n: usize, complex: bool) -> usize {
    let numbers = |n: usize| StackReq::new::<f64>(n);
    let request = match complex {
        true => evd_scratch::<c64>(n, NO, YES, Par::Seq, params()),
        false if n < LARGE => StackReq::all_of(&[
            numbers(schur::size(n)),
            numbers(schur::size(n)),
            numbers(n),
            hessenberg_in_place_scratch::<f64>(n, 1, Par::Seq, one_by_one()).or(StackReq::all_of(&[
                numbers(n * n),
                numbers(n * n),
                numbers(householder::scratch(n, n)),
            ])),
        ])
        .or(evd_scratch::<f64>(n, NO, YES, Par::Seq, params())),
        false => evd_scratch::<f64>(n, NO, YES, Par::Seq, params()),
    };
    request.unaligned_bytes_required()
}

/// Of matrices with at least so many rows, faer makes most operations products.
const LARGE: usize = 800;
/// Columns of eigenvectors that are one product.
const COLUMNS: usize = 64;

/// Whether the iteration converged, and numbers stayed finite. A pair of conjugate values has the real and the
/// imaginary part of one vector in its two columns of `vectors`, which have any length. Values alone need not be nearer
/// than `eps` of the matrix.
fn by_schur(
    n: usize,
    a: &[f64],
    values: &mut [c64],
    vectors: Option<&mut [f64]>,
    eps: f64,
    stack: &mut MemStack,
) -> bool {
    let step = schur::step(n);
    let (mut h, stack) = stack.make_with(schur::size(n), |_| 0.0);
    let (mut taus, stack) = stack.make_with(n - 1, |_| 0.0);
    h.chunks_exact_mut(step).zip(a.chunks_exact(n)).for_each(|(to, from)| to[..n].copy_from_slice(from));
    let all = MatMut::from_column_major_slice_with_stride_mut(&mut h, n, n, step);
    let to = MatMut::from_column_major_slice_mut(&mut taus, 1, n - 1);
    hessenberg_in_place(all, to, Par::Seq, stack, one_by_one());
    let (mut z, stack) = stack.make_with(if vectors.is_some() { schur::size(n) } else { 0 }, |_| 0.0);
    if vectors.is_some() {
        // faer divides by its factors.
        taus.iter_mut().for_each(|tau| *tau = tau.recip());
        reflections(n, &h, &taus, &mut z, stack);
    }
    for (j, column) in h.chunks_exact_mut(step).take(n).enumerate() {
        column[n.min(j + 2)..].fill(0.0);
    }
    if !all_finite(&h) {
        return false;
    }
    let Some(vectors) = vectors else { return schur::decompose(n, &mut h, None, values, eps) };
    if !schur::decompose(n, &mut h, Some(&mut z), values, eps) {
        return false;
    }
    let (mut x, _) = stack.make_with(n * n, |_| 0.0);
    eigenvectors::substitute(n, &h, values, &mut x);
    for start in (0..n).step_by(COLUMNS) {
        let end = (start + COLUMNS).min(n);
        // The second row of a square may be behind.
        let rows = (end + 1).min(n);
        let of = |rows, cols, offset, cs: usize| Layout { rows, cols, offset, rs: 1, cs: cs as isize };
        multiply(
            (&z, of(n, rows, 0, step), false),
            (&x, of(rows, end - start, start * n, n)),
            false,
            (&mut *vectors, of(n, end - start, start * n, n)),
        );
    }
    true
}

/// As [`by_schur`], by faer's routine; `parts` takes `2 n` numbers.
fn by_faer(
    n: usize,
    a: &[f64],
    values: &mut [c64],
    vectors: Option<&mut [f64]>,
    parts: &mut [f64],
    stack: &mut MemStack,
) -> bool {
    let to = vectors.map(|to| MatMut::from_column_major_slice_mut(to, n, n));
    let a = MatRef::from_column_major_slice(a, n, n);
    let (re, im) = parts.split_at_mut(n);
    if evd_real(a, diagonal(re), diagonal(im), None, to, Par::Seq, stack, params()).is_err() {
        return false;
    }
    for (value, (re, im)) in values.iter_mut().zip(re.iter().zip(&*im)) {
        *value = c64::new(*re, *im);
    }
    true
}

/// The product of the reflections under the first subdiagonal of `h`; `z` is in the same layout, and 0 before.
fn reflections(n: usize, h: &[f64], taus: &[f64], z: &mut [f64], stack: &mut MemStack) {
    let (step, rows) = (schur::step(n), n - 1);
    z[0] = 1.0;
    let (mut v, stack) = stack.make_with(rows * rows, |_| 0.0);
    let (mut q, stack) = stack.make_with(rows * rows, |_| 0.0);
    let (mut room, _) = stack.make_with(householder::scratch(rows, rows), |_| 0.0);
    for (to, from) in v.chunks_exact_mut(rows.max(1)).zip(h.chunks_exact(step)) {
        to.copy_from_slice(&from[1..n]);
    }
    householder::product(rows, rows, &v, taus, &mut q, &mut room);
    for (to, from) in z[step..].chunks_exact_mut(step).zip(q.chunks_exact(rows.max(1))) {
        to[1..n].copy_from_slice(from);
    }
}

/// Reflections are not applied in blocks.
fn one_by_one() -> Spec<HessenbergParams, f64> {
    let mut params = <HessenbergParams as Auto<f64>>::auto();
    params.blocking_threshold = usize::MAX;
    Spec::new(params)
}

/// faer's own, but for the window in which it looks for converged eigenvalues.
fn params<T: Number>() -> Spec<EvdParams, T> {
    let mut params = <EvdParams as Auto<T>>::auto();
    params.schur.recommended_deflation_window = deflation_window;
    Spec::new(params)
}

/// The rows of the window of aggressive early deflation for `n` rows, as LAPACK's `iparmq` has them. Without its
/// feature `std`, faer takes the logarithm of 1 for that of `n`, and needs three times as long.
extern "C" fn deflation_window(n: usize, _active: usize) -> usize {
    match n {
        0..30 => 2,
        30..60 => 4,
        60..150 => 10,
        150..590 => (n as f64 / (n as f64).log2()) as usize,
        590..3000 => 96,
        3000..6000 => 192,
        _ => 384,
    }
}

/// The eigenvalues of a real matrix, and eigenvectors of length 1 as the columns of `v`; `room` takes `n * (n + 2)`
/// numbers, and anything may be left of `a`. Values alone need not be nearer than `eps` of the matrix. Returns 0,
/// [`NOT_FINITE`], or 1 if the iteration did not converge.
pub fn real(
    n: usize,
    a: &mut [f64],
    values: &mut [c64],
    v: Option<&mut [c64]>,
    eps: f64,
    room: &mut [f64],
    scratch: &mut [MaybeUninit<u8>],
) -> i32 {
    if !all_finite(a) {
        return NOT_FINITE;
    }
    if n == 0 {
        return 0;
    }
    let scale = Scale::of([&*a]);
    scale.divide(a);
    let (parts, room) = room.split_at_mut(2 * n);
    let mut vectors = v.is_some().then(|| &mut room[..n * n]);
    let stack = MemStack::new(scratch);
    let done = n < LARGE && by_schur(n, a, values, vectors.as_deref_mut(), eps, stack);
    if !done && !by_faer(n, a, values, vectors.as_deref_mut(), parts, stack) {
        return 1;
    }
    if let (Some(v), Some(vectors)) = (v, vectors) {
        let mut j = 0;
        while j < n {
            let (first, second) = v[j * n..].split_at_mut(n);
            let re = &vectors[j * n..][..n];
            if values[j].im == 0.0 {
                let by = norm(re).recip();
                first.iter_mut().zip(re).for_each(|(to, x)| *to = c64::new(x * by, 0.0));
                j += 1;
                continue;
            }
            let im = &vectors[(j + 1) * n..][..n];
            first.iter_mut().zip(re.iter().zip(im)).for_each(|(to, (x, y))| *to = c64::new(*x, *y));
            normalize(first);
            second.iter_mut().zip(first).for_each(|(to, x)| *to = x.conj());
            j += 2;
        }
    }
    scale.multiply(values);
    0
}

/// As [`real`], of a complex matrix; without `room`.
pub fn complex(
    n: usize,
    a: &mut [c64],
    values: &mut [c64],
    mut v: Option<&mut [c64]>,
    scratch: &mut [MaybeUninit<u8>],
) -> i32 {
    if !all_finite(a) {
        return NOT_FINITE;
    }
    if n == 0 {
        return 0;
    }
    let scale = Scale::of([&*a]);
    scale.divide(a);
    let to = v.as_deref_mut().map(|v| MatMut::from_column_major_slice_mut(v, n, n));
    let a = MatRef::from_column_major_slice(a, n, n);
    if evd_cplx(a, diagonal(values), None, to, Par::Seq, MemStack::new(scratch), params()).is_err() {
        return 1;
    }
    scale.multiply(values);
    if let Some(v) = v {
        v.chunks_exact_mut(n).for_each(normalize);
    }
    0
}

/// Scales a vector to length 1, with a real largest element, as LAPACK does.
fn normalize(v: &mut [c64]) {
    let length = norm(v);
    let (mut most, mut square) = (c64::new(0.0, 0.0), 0.0);
    for &x in &*v {
        if x.norm_sqr() > square {
            (most, square) = (x, x.norm_sqr());
        }
    }
    let turn = if most.im == 0.0 { c64::new(1.0, 0.0) } else { most.conj() / most.norm() };
    let by = turn / length;
    v.iter_mut().for_each(|x| *x *= by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::tests::{distance, noise, product};

    fn agree(n: usize, a: &[c64], w: &[c64], v: &[c64]) {
        let scaled: Vec<c64> = v.iter().enumerate().map(|(i, v)| *v * w[i / n]).collect();
        assert!(distance(&product(n, n, n, a, v), &scaled) < 1e-9, "{n} {w:?} {v:?}");
        v.chunks_exact(n).for_each(|v| assert!((norm(v) - 1.0).abs() < 1e-12));
    }

    fn check_real(n: usize, a: &[f64]) {
        let zeros = |n| vec![c64::new(0.0, 0.0); n];
        let (mut w, mut v) = (zeros(n), zeros(n * n));
        let mut bytes = vec![MaybeUninit::uninit(); scratch(n, false)];
        assert!(
            real(n, &mut a.to_vec(), &mut w, Some(&mut v), f64::EPSILON, &mut vec![0.0; n * (n + 2)], &mut bytes) == 0
        );
        let complex: Vec<c64> = a.iter().map(|&x| c64::new(x, 0.0)).collect();
        agree(n, &complex, &w, &v);
        let pairs = |w: &[c64]| {
            for (i, x) in w.iter().enumerate() {
                let second = i > 0 && w[i - 1].im > 0.0;
                assert!(if second { *x == w[i - 1].conj() } else { x.im >= 0.0 }, "{n}: pairs");
            }
        };
        pairs(&w);
        // Each way the same values, each next to one of its own, also without vectors.
        let stack = MemStack::new(&mut bytes);
        let same = |only: &[c64], near: f64| {
            let mut left = w.clone();
            pairs(only);
            for x in only {
                let at =
                    (0..left.len()).min_by(|&a, &b| (left[a] - x).norm().total_cmp(&(left[b] - x).norm())).unwrap();
                let size = a.iter().map(|x| x.abs()).fold(0.0, f64::max) * n as f64;
                assert!((left[at] - x).norm() <= near * size, "{n}: {x} for {}", left[at]);
                left.swap_remove(at);
            }
        };
        let (mut only, mut vectors) = (zeros(n), vec![0.0; n * n]);
        for (eps, near) in [(f64::EPSILON, 1e-10), (1e-9, 1e-6)] {
            assert!(by_schur(n, a, &mut only, None, eps, stack));
            same(&only, near);
        }
        assert!(by_schur(n, a, &mut only, Some(&mut vectors), f64::EPSILON, stack));
        same(&only, 1e-10);
        for vectors in [None, Some(&mut vectors[..])] {
            assert!(by_faer(n, a, &mut only, vectors, &mut vec![0.0; 2 * n], stack));
            same(&only, 1e-10);
        }
    }

    #[test]
    fn vectors_are_multiplied_by_values() {
        for n in [1, 2, 3, 4, 5, 9, 17, 40, 64, 65, 90, 170] {
            check_real(n, &noise(n * n, 5));
            let a = noise::<c64>(n * n, 6);
            let (mut w, mut v) = (vec![c64::new(0.0, 0.0); n], vec![c64::new(0.0, 0.0); n * n]);
            let mut bytes = vec![MaybeUninit::uninit(); scratch(n, true)];
            assert!(complex(n, &mut a.clone(), &mut w, Some(&mut v), &mut bytes) == 0);
            agree(n, &a, &w, &v);
        }
        // Numbers that are far apart: triangles of all sizes, and rows and columns of different sizes.
        for n in [5, 24, 60] {
            let a = noise::<f64>(n * n, 7);
            check_real(n, &a.iter().enumerate().map(|(e, x)| if e % n > e / n { 0.0 } else { *x }).collect::<Vec<_>>());
            let size = |i: usize| 10f64.powf(-6.0 * i as f64 / n as f64);
            check_real(n, &a.iter().enumerate().map(|(e, x)| x * size(e % n) * size(e / n)).collect::<Vec<_>>());
        }
        // Values that are repeated, with a basis of vectors and without one.
        check_real(3, &[0.0; 9]);
        check_real(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        check_real(2, &[1.0, 0.0, 1.0, 1.0]);
        for n in [6, 40] {
            for by in [0.0, 1.0, 1e-100] {
                let at = |i: usize, j: usize| if i == j { by } else { f64::from(i + 1 == j) };
                check_real(n, &(0..n * n).map(|e| at(e % n, e / n)).collect::<Vec<_>>());
            }
            // The same turn again and again, each one beside the next.
            let at = |i: usize, j: usize| match (j / 2).wrapping_sub(i / 2) {
                0 => [[0.5, -2.0], [2.0, 0.5]][i % 2][j % 2],
                1 => f64::from(i % 2 == j % 2),
                _ => 0.0,
            };
            check_real(n, &(0..n * n).map(|e| at(e % n, e / n)).collect::<Vec<_>>());
        }
        assert!(
            real(1, &mut [f64::NAN], &mut [c64::new(0.0, 0.0)], None, f64::EPSILON, &mut [0.0; 3], &mut [])
                == NOT_FINITE
        );
    }
}
