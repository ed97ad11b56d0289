//! Pointwise loops that are not compiled per instruction set: the walk passes contiguous runs of elements to a body
//! behind a pointer, which may be a loop in vectors in turn.

use std::mem::MaybeUninit;

use super::cast::convert;
use super::walk::{Operand, Pieces, walk};
use crate::thresholds::pointwise::COPIED;

/// Writes a run of results; the inputs have as many elements as the output.
pub type RunBody<'a, T, const N: usize> = &'a (dyn Fn([&[T]; N], &mut [MaybeUninit<T>]) + Sync);

/// The loop of a body: `out[i] = f([inputs..][i])`.
#[inline(always)]
pub fn each<T: Copy, const N: usize>(inputs: [&[T]; N], out: &mut [MaybeUninit<T>], f: impl Fn([T; N]) -> T) {
    let n = out.len();
    let inputs = inputs.map(|run| &run[..n]);
    for (i, place) in out.iter_mut().enumerate() {
        place.write(f(std::array::from_fn(|k| inputs[k][i])));
    }
}

/// The loop of a body in double precision over float32 numbers, which are converted piece by piece.
pub fn in_double<const N: usize>(f: RunBody<f64, N>, inputs: [&[f32]; N], out: &mut [MaybeUninit<f32>]) {
    const PIECE: usize = 256;
    let inputs = inputs.map(|run| &run[..out.len()]);
    let mut doubles = [[0.0f64; PIECE]; N];
    let mut results = [MaybeUninit::<f64>::uninit(); PIECE];
    for start in (0..out.len()).step_by(PIECE) {
        let n = PIECE.min(out.len() - start);
        for (to, run) in doubles.iter_mut().zip(inputs) {
            let from = &run[start..start + n];
            // SAFETY: (1) both have `n` elements; (2) they are disjoint; (3) contiguous.
            unsafe { convert(&[n], from.as_ptr(), &[1], to.as_mut_ptr(), &[1]) };
        }
        f(std::array::from_fn(|k| &doubles[k][..n]), &mut results[..n]);
        let (from, to) = (results.as_ptr().cast::<f64>(), out[start..start + n].as_mut_ptr().cast::<f32>());
        // SAFETY: (1) a body writes all of its results, and there are `n`; (2) the slices are disjoint; (3) contiguous.
        unsafe { convert(&[n], from, &[1], to, &[1]) };
    }
}

/// `o[..] = f(inputs[..])` over strided operands, of `T` or, where that is float32, of halves.
///
/// # Safety
/// 1. Each input is readable and initialised, the output writable, at every position of `sizes` under its strides.
/// 2. The output overlaps an input only if both have the same start and strides.
/// 3. Distinct positions have distinct places in the output.
pub unsafe fn runs<T: Copy + Sync, const N: usize>(
    f: RunBody<T, N>,
    sizes: &[usize],
    inputs: [Operand; N],
    o: Operand,
) {
    const { assert!(N >= 1 && N <= 5) };
    let (body, input) = (Runs(f), |k: usize| inputs[k]);
    // SAFETY: (1-3) are ours.
    unsafe {
        match N {
            1 => walk(&body, sizes, [o, input(0)]),
            2 => walk(&body, sizes, [o, input(0), input(1)]),
            3 => walk(&body, sizes, [o, input(0), input(1), input(2)]),
            4 => walk(&body, sizes, [o, input(0), input(1), input(2), input(3)]),
            _ => walk(&body, sizes, [o, input(0), input(1), input(2), input(3), input(4)]),
        }
    }
}

struct Runs<'a, T, const N: usize>(RunBody<'a, T, N>);

impl<T: Copy + Sync, const N: usize> Pieces for Runs<'_, T, N> {
    unsafe fn run(&self, n: usize, p: &[*mut u8]) {
        let out = p[0].cast::<MaybeUninit<T>>();
        if p[1] != p[0] {
            // SAFETY: duty 1; the output is not the first input, so by duty 2 it is disjoint from all.
            return unsafe {
                let inputs = std::array::from_fn(|k| std::slice::from_raw_parts(p[k + 1].cast::<T>(), n));
                (self.0)(inputs, std::slice::from_raw_parts_mut(out, n));
            };
        }
        let mut copy = [MaybeUninit::<T>::uninit(); COPIED];
        for start in (0..n).step_by(COPIED) {
            let m = COPIED.min(n - start);
            // SAFETY: duty 1; the output is disjoint from the copy of the first input, and by duty 2 from the others.
            unsafe {
                std::ptr::copy_nonoverlapping(out.add(start), copy.as_mut_ptr(), m);
                let inputs = std::array::from_fn(|k| {
                    let input =
                        if k == 0 { copy.as_ptr().cast() } else { p[k + 1].cast::<T>().add(start).cast_const() };
                    std::slice::from_raw_parts(input, m)
                });
                (self.0)(inputs, std::slice::from_raw_parts_mut(out.add(start), m));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_broadcast_and_in_place() {
        let a: Vec<f64> = (0..600).map(f64::from).collect();
        let b = [10.0f64];
        let mut out = vec![0.0f64; 600];
        let add = |v: [&[f64]; 2], o: &mut [MaybeUninit<f64>]| each(v, o, |[x, y]| x + y);
        // SAFETY: (1) 20 x 30 positions of the vectors, one of `b`; (2) disjoint; (3) a permutation.
        unsafe {
            let inputs = [Operand::input(a.as_ptr(), &[1, 20]), Operand::input(b.as_ptr(), &[0, 0])];
            runs(&add, &[20, 30], inputs, Operand::output(out.as_mut_ptr(), &[30, 1]));
        }
        for (i, j) in [(0, 0), (3, 7), (19, 29)] {
            assert_eq!(out[i * 30 + j], a[i + 20 * j] + 10.0);
        }
        let double = |v: [&[f64]; 1], o: &mut [MaybeUninit<f64>]| each(v, o, |[x]| 2.0 * x);
        let p = out.as_mut_ptr();
        let before = out[599];
        // SAFETY: (1) 600 elements; (2) the output is the input; (3) contiguous.
        unsafe { runs(&double, &[600], [Operand::input(p.cast_const(), &[1])], Operand::output(p, &[1])) };
        assert_eq!(out[599], 2.0 * before);
    }
    #[test]
    fn float32_in_double_precision() {
        let f = |v: [&[f64]; 2], o: &mut [MaybeUninit<f64>]| each(v, o, |[x, y]| x * x - y);
        for n in [0, 1, 7, 255, 256, 257, 1000] {
            // The difference is lost where the square is rounded first.
            let x: Vec<f32> = (0..n).map(|i| 1.0 + i as f32 * f32::EPSILON).collect();
            let y: Vec<f32> = x.iter().map(|x| x * x).collect();
            let mut out = vec![MaybeUninit::new(f32::NAN); n + 1];
            in_double(&f, [&x, &y], &mut out[..n]);
            // SAFETY: they were initialised.
            let out: Vec<f32> = out.into_iter().map(|y| unsafe { y.assume_init() }).collect();
            for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
                assert_eq!(out[i], (f64::from(x) * f64::from(x) - f64::from(y)) as f32, "{i} of {n}");
            }
            assert!(out[n].is_nan());
        }
    }
}
