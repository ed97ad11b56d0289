//! The routines of each element type: what is generic is compiled here, and not in the crates that call it.

use std::mem::MaybeUninit;

use num_complex::Complex;

use crate::full_rank::Tolerance;
use crate::jacobi::{self, Lanes};
use crate::svd::Vectors;
use crate::{Scalar, eigh, full_rank, householder, svd};

/// An element type with decompositions; see the functions of these names for what they take.
pub trait Decompose: Scalar {
    /// [`householder::factor`].
    fn qr(m: usize, n: usize, a: &mut [Self], tau: &mut [Self], scratch: &mut [Self]);
    /// [`householder::product`].
    fn product(m: usize, n: usize, v: &[Self], tau: &[Self], q: &mut [Self], scratch: &mut [Self]);
    /// [`householder::apply`].
    fn reflect(m: usize, n: usize, v: &[Self], tau: &[Self], c: &mut [Self], adjoint: bool, scratch: &mut [Self]);
    /// [`full_rank::solve`].
    fn solve_of_full_rank(
        size: [usize; 3],
        a: &mut [Self],
        adjoint: bool,
        b: &mut [Self],
        x: &mut [Self],
        tolerance: Tolerance,
        scratch: &mut [Self],
    ) -> bool;
    /// [`full_rank::inverse`].
    fn inverse_of_full_rank(
        size: [usize; 2],
        a: &mut [Self],
        p: &mut [Self],
        tolerance: Tolerance,
        scratch: &mut [Self],
    ) -> bool;
    /// [`eigh::scratch`].
    fn eigh_scratch(n: usize, vectors: bool) -> usize;
    /// [`eigh::eigh`].
    fn eigh(
        n: usize,
        a: &mut [Self],
        values: &mut [Self::Real],
        v: Option<&mut [Self]>,
        room: &mut [Self],
        scratch: &mut [MaybeUninit<u8>],
    ) -> bool;
    /// [`svd::scratch`].
    fn svd_scratch(m: usize, n: usize, vectors: Vectors) -> usize;
    /// [`svd::svd`].
    fn svd(
        size: [usize; 2],
        a: &mut [Self],
        values: &mut [Self::Real],
        vectors: Option<(&mut [Self], &mut [Self])>,
        room: &mut [Self],
        scratch: &mut [MaybeUninit<u8>],
    ) -> i32;
}

/// A float with decompositions of groups of small matrices.
pub trait Grouped: Lanes {
    /// [`jacobi::eigh`].
    fn eigh_of_group(n: usize, a: &mut [Self], values: &mut [Self], v: &mut [Self], info: &mut [i32]);
    /// [`jacobi::svd`].
    fn svd_of_group(size: [usize; 2], a: &mut [Self], values: &mut [Self], v: &mut [Self], info: &mut [i32]);
}

macro_rules! decompose {
    ($($t:ty),*) => { $(impl Decompose for $t {
        fn qr(m: usize, n: usize, a: &mut [Self], tau: &mut [Self], scratch: &mut [Self]) {
            householder::factor(m, n, a, tau, scratch);
        }
        fn product(m: usize, n: usize, v: &[Self], tau: &[Self], q: &mut [Self], scratch: &mut [Self]) {
            householder::product(m, n, v, tau, q, scratch);
        }
        fn reflect(m: usize, n: usize, v: &[Self], tau: &[Self], c: &mut [Self], adjoint: bool, scratch: &mut [Self]) {
            householder::apply(m, n, v, tau, c, adjoint, scratch);
        }
        fn solve_of_full_rank(
            size: [usize; 3],
            a: &mut [Self],
            adjoint: bool,
            b: &mut [Self],
            x: &mut [Self],
            tolerance: Tolerance,
            scratch: &mut [Self],
        ) -> bool {
            full_rank::solve(size, a, adjoint, b, x, tolerance, scratch)
        }
        fn inverse_of_full_rank(
            size: [usize; 2],
            a: &mut [Self],
            p: &mut [Self],
            tolerance: Tolerance,
            scratch: &mut [Self],
        ) -> bool {
            full_rank::inverse(size, a, p, tolerance, scratch)
        }
        fn eigh_scratch(n: usize, vectors: bool) -> usize {
            eigh::scratch::<Self>(n, vectors)
        }
        fn eigh(
            n: usize,
            a: &mut [Self],
            values: &mut [<Self as Scalar>::Real],
            v: Option<&mut [Self]>,
            room: &mut [Self],
            scratch: &mut [MaybeUninit<u8>],
        ) -> bool {
            eigh::eigh(n, a, values, v, room, scratch)
        }
        fn svd_scratch(m: usize, n: usize, vectors: Vectors) -> usize {
            svd::scratch::<Self>(m, n, vectors)
        }
        fn svd(
            [m, n]: [usize; 2],
            a: &mut [Self],
            values: &mut [<Self as Scalar>::Real],
            vectors: Option<(&mut [Self], &mut [Self])>,
            room: &mut [Self],
            scratch: &mut [MaybeUninit<u8>],
        ) -> i32 {
            svd::svd(m, n, a, values, vectors, room, scratch)
        }
    })* };
}
decompose!(f32, f64, Complex<f32>, Complex<f64>);

macro_rules! grouped {
    ($($t:ty),*) => { $(impl Grouped for $t {
        fn eigh_of_group(n: usize, a: &mut [Self], values: &mut [Self], v: &mut [Self], info: &mut [i32]) {
            jacobi::eigh(n, a, values, v, info);
        }
        fn svd_of_group([m, n]: [usize; 2], a: &mut [Self], values: &mut [Self], v: &mut [Self], info: &mut [i32]) {
            jacobi::svd(m, n, a, values, v, info);
        }
    })* };
}
grouped!(f32, f64);
