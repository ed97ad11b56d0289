//! Eigenvalues and eigenvectors of square matrices, in double precision.

use std::mem::MaybeUninit;

use faer::c64;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::hessenberg::{hessenberg_in_place, hessenberg_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, EvdParams, evd_cplx, evd_real, evd_scratch};
use faer::{Auto, MatMut, MatRef, Par, Spec};

use crate::number::{Number, Scale, all_finite, norm};
use crate::{diagonal, schur};

/// What [`real`] and [`complex`] return for matrices with infinities or NaN.
pub const NOT_FINITE: i32 = -1;

const NO: ComputeEigenvectors = ComputeEigenvectors::No;
const YES: ComputeEigenvectors = ComputeEigenvectors::Yes;

/// Bytes of scratch for a matrix of `n` rows, complex ones or real.
pub fn scratch(n: usize, complex: bool) -> usize {
    let request = match complex {
        true => evd_scratch::<c64>(n, NO, YES, Par::Seq, params()),
        false => evd_scratch::<f64>(n, NO, YES, Par::Seq, params()).or(StackReq::all_of(&[
            StackReq::new::<f64>(n * schur::step(n)),
            StackReq::new::<f64>(n),
            hessenberg_in_place_scratch::<f64>(n, 1, Par::Seq, Default::default()),
        ])),
    };
    request.unaligned_bytes_required()
}

/// Matrices of at least so many rows leave the near caches, and faer makes most of their operations products.
const LARGE: usize = 300;

/// [`real`] without vectors.
fn only_values(n: usize, a: &[f64], values: &mut [c64], eps: f64, stack: &mut MemStack) -> bool {
    let step = schur::step(n);
    let (mut h, stack) = stack.make_with(n * step, |_| 0.0);
    h.chunks_exact_mut(step).zip(a.chunks_exact(n)).for_each(|(to, from)| to[..n].copy_from_slice(from));
    let (mut reflections, stack) = stack.make_with(n - 1, |_| 0.0);
    let all = MatMut::from_column_major_slice_with_stride_mut(&mut h, n, n, step);
    let reflections = MatMut::from_column_major_slice_mut(&mut reflections, 1, n - 1);
    hessenberg_in_place(all, reflections, Par::Seq, stack, Default::default());
    for (j, column) in h.chunks_exact_mut(step).enumerate() {
        column[n.min(j + 2)..].fill(0.0);
    }
    all_finite(&h) && schur::values(n, &mut h, values, eps)
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
    if v.is_none() && n < LARGE && only_values(n, a, values, eps, MemStack::new(scratch)) {
        scale.multiply(values);
        return 0;
    }
    let (re, room) = room.split_at_mut(n);
    let (im, room) = room.split_at_mut(n);
    let vectors = &mut room[..n * n];
    let to = v.is_some().then(|| MatMut::from_column_major_slice_mut(&mut *vectors, n, n));
    let a = MatRef::from_column_major_slice(a, n, n);
    if evd_real(a, diagonal(re), diagonal(im), None, to, Par::Seq, MemStack::new(scratch), params()).is_err() {
        return 1;
    }
    for (value, (re, im)) in values.iter_mut().zip(re.iter().zip(&*im)) {
        *value = c64::new(*re, *im);
    }
    scale.multiply(values);
    let Some(v) = v else { return 0 };
    // A pair of conjugate values has the real and the imaginary part of one vector in its two columns.
    let mut j = 0;
    while j < n {
        let pair = j + 1 < n && im[j] != 0.0;
        for i in 0..n {
            let x = vectors[j * n + i];
            if pair {
                let y = vectors[(j + 1) * n + i];
                (v[j * n + i], v[(j + 1) * n + i]) = (c64::new(x, y), c64::new(x, -y));
            } else {
                v[j * n + i] = c64::new(x, 0.0);
            }
        }
        j += if pair { 2 } else { 1 };
    }
    v.chunks_exact_mut(n).for_each(normalize);
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
    let most =
        v.iter().copied().fold(c64::new(0.0, 0.0), |most, x| if x.norm_sqr() > most.norm_sqr() { x } else { most });
    let turn = if most.im == 0.0 { c64::new(1.0, 0.0) } else { most.conj() / most.norm() };
    v.iter_mut().for_each(|x| *x = *x * turn / length);
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
        let (mut w, mut v) = (vec![c64::new(0.0, 0.0); n], vec![c64::new(0.0, 0.0); n * n]);
        let mut bytes = vec![MaybeUninit::uninit(); scratch(n, false)];
        assert!(
            real(n, &mut a.to_vec(), &mut w, Some(&mut v), f64::EPSILON, &mut vec![0.0; n * (n + 2)], &mut bytes) == 0
        );
        agree(n, &a.iter().map(|&x| c64::new(x, 0.0)).collect::<Vec<_>>(), &w, &v);
        // The same values alone, each next to one of its own.
        for (eps, near) in [(f64::EPSILON, 1e-10), (1e-9, 1e-6)] {
            let mut only = vec![c64::new(0.0, 0.0); n];
            assert!(only_values(n, a, &mut only, eps, MemStack::new(&mut bytes)));
            let mut left = w.clone();
            for (i, x) in only.iter().enumerate() {
                let at =
                    (0..left.len()).min_by(|&a, &b| (left[a] - x).norm().total_cmp(&(left[b] - x).norm())).unwrap();
                let size = a.iter().map(|x| x.abs()).fold(0.0, f64::max) * n as f64;
                assert!((left[at] - x).norm() <= near * size, "{n}: {x} for {}", left[at]);
                left.swap_remove(at);
                let second = i > 0 && only[i - 1].im > 0.0;
                assert!(if second { *x == only[i - 1].conj() } else { x.im >= 0.0 }, "{n}: pairs");
            }
        }
    }

    #[test]
    fn vectors_are_multiplied_by_values() {
        for n in [1, 2, 3, 9, 40, 90, 170] {
            check_real(n, &noise(n * n, 5));
            let a = noise::<c64>(n * n, 6);
            let (mut w, mut v) = (vec![c64::new(0.0, 0.0); n], vec![c64::new(0.0, 0.0); n * n]);
            let mut bytes = vec![MaybeUninit::uninit(); scratch(n, true)];
            assert!(complex(n, &mut a.clone(), &mut w, Some(&mut v), &mut bytes) == 0);
            agree(n, &a, &w, &v);
        }
        // Values that are repeated, with a basis of vectors and without one.
        check_real(3, &[0.0; 9]);
        check_real(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        check_real(2, &[1.0, 0.0, 1.0, 1.0]);
        assert!(
            real(1, &mut [f64::NAN], &mut [c64::new(0.0, 0.0)], None, f64::EPSILON, &mut [0.0; 3], &mut [])
                == NOT_FINITE
        );
    }
}
