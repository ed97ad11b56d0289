//! Complex numbers: one real product of twice the depth and twice the columns.
//!
//! In memory a row of C is `re, im, re, im, ..`, and so is a row of A. With the rows of B as they are, and behind each
//! of them the same turned by a right angle, `-im, re, ..`, the real product of A and that is C.

use num_complex::Complex;

use super::driver::Product;
use super::sealed::Kernel;
use super::{Float, Of, Panels, Routine, Simd, Vectors, Virtual};
use crate::parallel::SharedPtr;
use crate::real::{Real, Ring};

/// # Safety
/// 1. The duties of [`super::gemm`]; `m`, `n` and `k` are not zero.
pub(super) unsafe fn product<T: Vectors + Real + Kernel>(p: &Product<Complex<T>>) {
    let p = *p;
    if p.m == 1 && p.n == 1 {
        // SAFETY: duty 1: a row of A, a column of B, the one element of C.
        unsafe {
            let sum = dot(p.conj, p.k, p.a, p.a_cs, p.b, p.b_rs);
            return *p.c = if p.accumulate { (*p.c).add(sum) } else { sum };
        }
    }
    let vector = if p.n == 1 && p.m != 1 { p.transposed() } else { p };
    if vector.m == 1 && (vector.b_rs == 1 || vector.b_cs == 1 || vector.k == 1 || vector.n == 1) {
        // SAFETY: duty 1.
        return unsafe { vector_times_matrix(vector) };
    }
    let p = if p.c_cs != 1 && p.c_rs == 1 { p.transposed() } else { p };
    // SAFETY: duty 1. What is copied has the sizes of the matrix.
    unsafe {
        let packed;
        let (a, a_rs) = if p.a_cs == 1 || p.k == 1 {
            (p.a, p.a_rs)
        } else {
            packed = rows(p.m, p.k, p.a, p.a_rs, p.a_cs);
            (packed.as_ptr(), p.k as isize)
        };
        if p.c_cs == 1 || p.n == 1 {
            return in_pairs(Product { a, a_rs, ..p });
        }
        let mut c = vec![Ring::ZERO; p.m * p.n];
        in_pairs(Product { a, a_rs, c: c.as_mut_ptr(), c_rs: p.n as isize, accumulate: false, ..p });
        for (i, row) in c.chunks_exact(p.n).enumerate() {
            for (j, &sum) in row.iter().enumerate() {
                let c = p.c.offset(i as isize * p.c_rs + j as isize * p.c_cs);
                *c = if p.accumulate { (*c).add(sum) } else { sum };
            }
        }
    }
}

/// -1 where the imaginary part of a number that is conjugated stands, else 1.
fn sign<T: Ring>(conj: bool) -> T {
    if conj { T::ONE.neg() } else { T::ONE }
}

/// The sum of products of two vectors, those conjugated of which `conj` says so.
///
/// # Safety
/// 1. `a` and `b` are readable and initialised for `k` elements with strides `a_s` and `b_s`.
pub(super) unsafe fn dot<T: Vectors + Real>(
    conj: [bool; 2],
    k: usize,
    a: *const Complex<T>,
    a_s: isize,
    b: *const Complex<T>,
    b_s: isize,
) -> Complex<T> {
    // Of the products of all pairs of parts: re re, im im, re im, im re.
    let mut sums = [<T as Ring>::ZERO; 4];
    // SAFETY: (Dot) duty 1: each complex number is two reals one after the other.
    unsafe {
        if k == 1 || a_s == 1 && b_s == 1 {
            T::call(&Dot { reals: 2 * k, a: a.cast(), b: b.cast(), sums: &raw mut sums });
        } else {
            for i in 0..k as isize {
                let (x, y) = (*a.offset(i * a_s), *b.offset(i * b_s));
                let products = [x.re.times(y.re), x.im.times(y.im), x.re.times(y.im), x.im.times(y.re)];
                sums.iter_mut().zip(products).for_each(|(sum, product)| *sum = sum.plus(product));
            }
        }
    }
    let [re_re, im_im, re_im, im_re] = sums;
    let [a, b] = conj.map(sign::<T>);
    Complex {
        re: Ring::sub(re_re, Ring::mul(Ring::mul(a, b), im_im)),
        im: Ring::add(Ring::mul(b, re_im), Ring::mul(a, im_re)),
    }
}

/// The sums of [`dot`], in four chains each. Duties: `a` and `b` are readable and initialised for `reals` elements, an
/// even number; `sums` is writable.
struct Dot<T> {
    reals: usize,
    a: *const T,
    b: *const T,
    sums: *mut [T; 4],
}

impl<T: Vectors> Routine for Dot<T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        const CHAINS: usize = 4;
        // SAFETY: duty 1 of `run`; elements up to `i + CHAINS * LEN <= reals`, up to `i + LEN <= reals`, and the rest.
        unsafe {
            let (mut alike, mut crossed) = ([V::zero(); CHAINS], [V::zero(); CHAINS]);
            let mut i = 0;
            while self.reals - i >= CHAINS * V::LEN {
                for c in 0..CHAINS {
                    let (a, b) = (V::load(self.a.add(i + c * V::LEN)), V::load(self.b.add(i + c * V::LEN)));
                    alike[c] = a.fma(b, alike[c]);
                    crossed[c] = a.fma(b.exchange(), crossed[c]);
                }
                i += CHAINS * V::LEN;
            }
            while i < self.reals {
                let len = V::LEN.min(self.reals - i);
                let (a, b) = (V::load_first(self.a.add(i), len), V::load_first(self.b.add(i), len));
                alike[0] = a.fma(b, alike[0]);
                crossed[0] = a.fma(b.exchange(), crossed[0]);
                i += len;
            }
            let [x, y] = [alike, crossed].map(|v| pair(v[0].plus(v[1]).plus(v[2].plus(v[3]))));
            *self.sums = [x[0], x[1], y[0], y[1]];
        }
    }
}

/// The sums of the lanes at even and at odd places, pairwise.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn pair<V: Simd>(v: V) -> [V::Elem; 2] {
    let mut lanes = [V::Elem::ZERO; 16];
    // SAFETY: the duty of this function; no vector is longer than 16 elements.
    unsafe { v.store(lanes.as_mut_ptr()) }
    let mut width = V::LEN;
    while width > 2 {
        width /= 2;
        for i in 0..width {
            lanes[i] = lanes[i].plus(lanes[i + width]);
        }
    }
    [lanes[0], lanes[1]]
}

/// The product of one row: two real products, which read B in place along its contiguous axis.
///
/// # Safety
/// 1. As [`product`]; `m` is 1, and rows or columns of B are contiguous.
unsafe fn vector_times_matrix<T: Vectors + Real + Kernel>(p: Product<Complex<T>>) {
    let Product { n, k, b_rs, b_cs, c_cs, accumulate, .. } = p;
    let (b, c) = (p.b.cast::<T>(), p.c.cast::<T>());
    let real = |n, k, a, b_rs, b_cs, accumulate, c, c_cs| Product {
        m: 1,
        n,
        k,
        a,
        a_rs: 0,
        a_cs: 1,
        b,
        b_rs,
        b_cs,
        accumulate,
        c,
        c_rs: 0,
        c_cs,
        conj: [false; 2],
        is_all: p.is_all,
    };
    let [a, b_sign] = p.conj.map(sign::<T>);
    // SAFETY: duty 1.
    let numbers = || (0..k as isize).map(|i| unsafe { *p.a.offset(i * p.a_cs) });
    let numbers = || numbers().map(|z| Complex { re: z.re, im: Ring::mul(a, z.im) });
    // SAFETY: duty 1: each complex number is two reals one after the other.
    unsafe {
        if b_rs == 1 || k == 1 {
            // Columns of B as pairs, against `re, -im` for the real parts of the sums and `im, re` for the others.
            let re: Vec<T> = numbers().flat_map(|z| [z.re, Ring::neg(Ring::mul(b_sign, z.im))]).collect();
            let im: Vec<T> = numbers().flat_map(|z| [z.im, Ring::mul(b_sign, z.re)]).collect();
            T::product(&real(n, 2 * k, re.as_ptr(), 1, 2 * b_cs, accumulate, c, 2 * c_cs));
            return T::product(&real(n, 2 * k, im.as_ptr(), 1, 2 * b_cs, accumulate, c.add(1), 2 * c_cs));
        }
        // Rows of B as pairs: their sums by the real parts, and by the imaginary ones.
        let re: Vec<T> = numbers().map(|z| z.re).collect();
        let im: Vec<T> = numbers().map(|z| z.im).collect();
        let (mut by_re, mut by_im) = (vec![Ring::ZERO; 2 * n], vec![Ring::ZERO; 2 * n]);
        T::product(&real(2 * n, k, re.as_ptr(), 2 * b_rs, 1, false, by_re.as_mut_ptr(), 1));
        T::product(&real(2 * n, k, im.as_ptr(), 2 * b_rs, 1, false, by_im.as_mut_ptr(), 1));
        for j in 0..n {
            let sum = Complex {
                re: Ring::sub(by_re[2 * j], Ring::mul(b_sign, by_im[2 * j + 1])),
                im: Ring::add(Ring::mul(b_sign, by_re[2 * j + 1]), by_im[2 * j]),
            };
            let c = p.c.offset(j as isize * c_cs);
            *c = if accumulate { (*c).add(sum) } else { sum };
        }
    }
}

/// The elements of a matrix, row by row.
///
/// # Safety
/// 1. `x` is readable at `i * rs + j * cs` for all `i < rows`, `j < cols`.
unsafe fn rows<T: Copy>(rows: usize, cols: usize, x: *const T, rs: isize, cs: isize) -> Vec<T> {
    let mut copy = Vec::with_capacity(rows * cols);
    for i in 0..rows as isize {
        // SAFETY: duty 1.
        copy.extend((0..cols as isize).map(|j| unsafe { *x.offset(i * rs + j * cs) }));
    }
    copy
}

/// The product, where rows of A and of C are contiguous.
///
/// # Safety
/// 1. As [`product`].
unsafe fn in_pairs<T: Vectors + Real>(p: Product<Complex<T>>) {
    let turned = Turned { b: SharedPtr(p.b.cast_mut()), b_rs: p.b_rs, b_cs: p.b_cs, conj: p.conj };
    let real = Product {
        m: p.m,
        n: 2 * p.n,
        k: 2 * p.k,
        a: p.a.cast::<T>(),
        a_rs: 2 * p.a_rs,
        a_cs: 1,
        b: std::ptr::null(),
        b_rs: 0,
        b_cs: 0,
        accumulate: p.accumulate,
        c: p.c.cast::<T>(),
        c_rs: 2 * p.c_rs,
        c_cs: 1,
        conj: [false; 2],
        is_all: p.is_all,
    };
    // SAFETY: duty 1: each complex number is two reals one after the other; the panels are written from B, which is
    // readable.
    unsafe { T::call(&Of(real, Virtual { panels: &turned, first: 0, start: std::ptr::null() })) }
}

/// B, conjugated if it is to be, each row twice: as it is, and multiplied by the imaginary unit (if A is conjugated, by
/// its negative). Duties: B is readable for the rows and columns of the product.
struct Turned<T> {
    b: SharedPtr<Complex<T>>,
    b_rs: isize,
    b_cs: isize,
    conj: [bool; 2],
}

impl<T: Vectors + Real> Panels<T> for Turned<T> {
    unsafe fn fill(&self, p0: usize, k: usize, j0: usize, columns: usize, dst: *mut T, width: usize) {
        debug_assert!(j0.is_multiple_of(2) && columns.is_multiple_of(2));
        let n = columns / 2;
        let [a, b] = self.conj.map(sign::<T>);
        for i in 0..k {
            let p = p0 + i;
            // SAFETY: duties of the type: rows and columns of B; duty 1 for `dst`, whose rows are whole pairs.
            unsafe {
                let from =
                    self.b.get().cast_const().offset((p / 2) as isize * self.b_rs + (j0 / 2) as isize * self.b_cs);
                let to = std::slice::from_raw_parts_mut(dst.add(i * width).cast::<[T; 2]>(), width / 2);
                let (to, rest) = to.split_at_mut(n);
                if self.b_cs == 1 {
                    let from = std::slice::from_raw_parts(from, n);
                    turn(p % 2 == 1, a, b, to, |j| from[j]);
                } else {
                    turn(p % 2 == 1, a, b, to, |j| *from.offset(j as isize * self.b_cs));
                }
                rest.fill([Ring::ZERO; 2]);
            }
        }
    }
}

/// Writes numbers, their imaginary parts times the sign `b`, or what they become multiplied by the imaginary unit and
/// the sign `a`.
#[inline(always)]
fn turn<T: Ring>(by_right_angle: bool, a: T, b: T, to: &mut [[T; 2]], from: impl Fn(usize) -> Complex<T>) {
    if by_right_angle {
        let im = a.mul(b).neg();
        to.iter_mut().enumerate().for_each(|(j, to)| *to = [from(j).im.mul(im), from(j).re.mul(a)]);
    } else {
        to.iter_mut().enumerate().for_each(|(j, to)| *to = [from(j).re, from(j).im.mul(b)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::gemm_conj;

    /// Which operands are conjugated.
    const BITS: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

    fn read<T: Ring>(conj: bool, z: Complex<T>) -> Complex<T> {
        Complex { re: z.re, im: if conj { z.im.neg() } else { z.im } }
    }

    /// Small integers: every sum is exact.
    #[test]
    fn products_of_pairs() {
        type C = Complex<f32>;
        for (m, n, k) in
            [(1, 1, 1), (1, 1, 9), (1, 5, 3), (4, 1, 7), (5, 7, 9), (31, 33, 17), (90, 70, 400), (200, 40, 3)]
        {
            let number = |i: usize| C::new(((i * 37 + 11) % 15) as f32 - 7.0, ((i * 29 + 3) % 13) as f32 - 6.0);
            let a: Vec<C> = (0..m * k).map(number).collect();
            let b: Vec<C> = (0..k * n).map(|i| number(i + 5)).collect();
            let flip = |x: &[C], cols: usize| -> Vec<C> {
                let rows = x.len() / cols;
                (0..x.len()).map(|at| x[at % rows * cols + at / rows]).collect()
            };
            let (at, bt) = (flip(&a, k), flip(&b, n));
            let bits = [false, true];
            for (accumulate, conj) in bits.into_iter().flat_map(|x| BITS.map(|conj| (x, conj))) {
                let start = C::new(2.0, -1.0);
                let want: Vec<C> = (0..m * n)
                    .map(|i| {
                        let term = |p| read(conj[0], a[i / n * k + p]) * read(conj[1], b[p * n + i % n]);
                        let sum: C = (0..k).map(term).sum();
                        sum + if accumulate { start } else { C::ZERO }
                    })
                    .collect();
                let (mi, ni, ki) = (m as isize, n as isize, k as isize);
                for (a, a_rs, a_cs) in [(&a, ki, 1), (&at, 1, mi)] {
                    for (b, b_rs, b_cs) in [(&b, ni, 1), (&bt, 1, ki)] {
                        for (c_rs, c_cs) in [(ni, 1), (1, mi), (2 * ni, 2)] {
                            let mut c = vec![start; 2 * m * n];
                            // SAFETY: matrices of these sizes in their slices.
                            unsafe {
                                let (a, b) = (a.as_ptr(), b.as_ptr());
                                let c = c.as_mut_ptr();
                                gemm_conj(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj);
                            }
                            for (i, want) in want.iter().enumerate() {
                                let at = (i / n) as isize * c_rs + (i % n) as isize * c_cs;
                                assert_eq!(
                                    c[at as usize], *want,
                                    "{m} {n} {k} {accumulate} {conj:?} {a_rs} {b_rs} {c_rs}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    /// Around the lengths of vectors and of chains of them; small integers, as above.
    #[test]
    fn inner_products() {
        fn check<T: Vectors + Real>() {
            let number = |i: usize| Complex {
                re: T::of(((i * 37 + 11) % 15) as f64 - 7.0),
                im: T::of(((i * 29 + 3) % 13) as f64 - 6.0),
            };
            for k in (0..150).chain([1000, 4097]) {
                let a: Vec<Complex<T>> = (0..2 * k).map(number).collect();
                let b: Vec<Complex<T>> = (0..2 * k).map(|i| number(i + 5)).collect();
                for (a_s, b_s) in [(1, 1), (2, 1), (1, 2), (2, 2), (0, 1), (1, -1)] {
                    let from = if b_s < 0 { k.saturating_sub(1) } else { 0 };
                    for conj in BITS {
                        let want = (0..k).fold(<Complex<T> as Ring>::ZERO, |sum, i| {
                            let x = read(conj[0], a[i * a_s as usize]);
                            Ring::add(sum, Ring::mul(x, read(conj[1], b[from.wrapping_add_signed(i as isize * b_s)])))
                        });
                        // SAFETY: 2 k numbers each, from the start, or from the k-th backwards.
                        let got = unsafe { dot(conj, k, a.as_ptr(), a_s, b.as_ptr().add(from), b_s) };
                        assert!(got.re == want.re && got.im == want.im, "{k} {a_s} {b_s} {conj:?}");
                    }
                }
            }
        }
        check::<f32>();
        check::<f64>();
    }
}
