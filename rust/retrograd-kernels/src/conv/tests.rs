//! The three sums against loops over all triples, over awkward extents.

use super::*;

/// Small whole numbers, the same in every run: sums of their products are exact.
fn numbers(seed: u64, len: usize) -> Vec<i64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % 9 - 4
    };
    (0..len).map(|_| next()).collect()
}

fn floats<T: Of>(v: &[i64]) -> Vec<T> {
    v.iter().map(|&x| T::of(x)).collect()
}

trait Of: ConvScalar + PartialEq + std::fmt::Debug {
    fn of(x: i64) -> Self;
    fn third(x: i64) -> Self;
    const NAN: Self;
}
impl Of for f32 {
    fn of(x: i64) -> Self {
        x as f32
    }
    fn third(x: i64) -> Self {
        x as f32 / 3.0
    }
    const NAN: Self = f32::NAN;
}
impl Of for f64 {
    fn of(x: i64) -> Self {
        x as f64
    }
    fn third(x: i64) -> Self {
        x as f64 / 3.0
    }
    const NAN: Self = f64::NAN;
}

/// An axis from its large side, as a convolution has it; `None` if nothing comes out.
fn axis(large: usize, kernel: usize, stride: usize, dilation: usize, pad: isize, extra: usize) -> Option<ConvAxis> {
    let span = large as isize + 2 * pad + extra as isize - ((kernel - 1) * dilation) as isize - 1;
    let small = (span >= 0).then(|| span as usize / stride + 1)?;
    Some(ConvAxis { large, small, kernel, stride, dilation, pad })
}

/// The transpose of [`plain_gather`] for the weight.
fn plain_weigh(s: &Shape, y: &[i64], x: &[i64]) -> Vec<i64> {
    let mut w = vec![0; s.groups * s.small * s.large * s.taps()];
    super::naive::products(s, |i, k, o| w[k] += y[o] * x[i]);
    w
}

fn check<T: Of>(s: &Shape) {
    let weights = s.groups * s.small * s.large * s.taps();
    let x = numbers(1, s.batch * s.groups * s.large * s.large_len());
    let y = numbers(2, s.batch * s.groups * s.small * s.small_len());
    let w = numbers(3, weights);
    let (over_small, over_large) = (numbers(4, s.groups * s.small), numbers(5, s.groups * s.large));
    let (fx, fy, fw) = (floats::<T>(&x), floats::<T>(&y), floats::<T>(&w));
    let started = |bias: &[i64], channels: usize, len: usize| -> Vec<i64> {
        (0..s.batch * channels * len).map(|i| bias[i / len % channels]).collect()
    };
    let lengths = [forward_scratch(s), transposed_scratch(s), weight_grad_scratch::<T>(s, 3)];
    // Elements that are not written are detected.
    let mut work = vec![T::NAN; lengths.into_iter().max().unwrap_or(0)];
    for bias in [true, false] {
        let zeros = vec![0; s.groups * s.large.max(s.small)];
        let ptr = |b: &Vec<T>| if bias { b.as_ptr() } else { std::ptr::null() };

        let start = if bias { &over_small } else { &zeros };
        let mut want = started(&start[..s.groups * s.small], s.groups * s.small, s.small_len());
        plain_gather(s, &x, &w, &mut want);
        let mut got = vec![T::NAN; y.len()];
        let b = floats::<T>(&over_small);
        // SAFETY: slices of the lengths of the shape, and as much scratch as asked for.
        unsafe {
            forward(s, 0..s.batch * s.groups, fx.as_ptr(), fw.as_ptr(), ptr(&b), got.as_mut_ptr(), work.as_mut_ptr());
        }
        assert_eq!(got, floats::<T>(&want), "gather {s:?}");

        let start = if bias { &over_large } else { &zeros };
        let mut want = started(&start[..s.groups * s.large], s.groups * s.large, s.large_len());
        naive_transposed(s, &y, &w, &mut want);
        let mut got = vec![T::NAN; x.len()];
        let b = floats::<T>(&over_large);
        // SAFETY: as above.
        unsafe {
            transposed(
                s,
                0..s.batch * s.groups,
                fy.as_ptr(),
                fw.as_ptr(),
                ptr(&b),
                got.as_mut_ptr(),
                work.as_mut_ptr(),
            );
        }
        assert_eq!(got, floats::<T>(&want), "spread {s:?}");
    }
    let mut got = vec![T::NAN; weights];
    // SAFETY: as above.
    unsafe { weight_grad(s, 0..s.groups, fy.as_ptr(), fx.as_ptr(), got.as_mut_ptr(), work.as_mut_ptr(), 3) }
    assert_eq!(got, floats::<T>(&plain_weigh(s, &y, &x)), "weigh {s:?}");
}

fn both(s: &Shape) {
    check::<f32>(s);
    check::<f64>(s);
}

#[test]
fn one_axis() {
    for large in [1, 2, 5, 16, 17, 33, 70] {
        for kernel in [1, 2, 3, 5] {
            for stride in [1, 2, 3, 4] {
                for dilation in [1, 2, 3] {
                    for pad in [0, 1, 2, -1] {
                        let Some(a) = axis(large, kernel, stride, dilation, pad, stride % 2) else { continue };
                        for (groups, l, small) in [(1, 2, 3), (2, 1, 1)] {
                            both(&Shape {
                                batch: 2,
                                groups,
                                large: l,
                                small,
                                axes: [ConvAxis::NONE, ConvAxis::NONE, a],
                            });
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn three_axes() {
    let lines = [(5, 3, 1, 1, 1), (4, 2, 2, 1, 0), (7, 3, 2, 2, 2), (1, 1, 1, 1, 0), (6, 1, 3, 1, 0), (4, 4, 4, 1, 0)];
    let made =
        lines.map(|(large, kernel, stride, dilation, pad)| axis(large, kernel, stride, dilation, pad, 0).unwrap());
    for at in each([6, 6, 6]) {
        let axes = at.map(|i| made[i]);
        for (groups, large, small) in [(1, 2, 1), (3, 1, 2)] {
            both(&Shape { batch: 2, groups, large, small, axes });
        }
    }
}

#[test]
fn many_channels() {
    let plane = |large, kernel, pad, stride| axis(large, kernel, stride, 1, pad, 0).unwrap();
    for (channels, small, side, kernel, pad, stride) in
        [(70, 33, 6, 3, 1, 1), (33, 180, 5, 3, 1, 2), (3, 20, 40, 7, 3, 2), (5, 4, 60, 1, 0, 1), (1, 32, 30, 3, 0, 1)]
    {
        let a = plane(side, kernel, pad, stride);
        let s = Shape { batch: 3, groups: 1, large: channels, small, axes: [ConvAxis::NONE, a, a] };
        both(&s);
    }
}

/// Rows of positions that fill vectors, or nearly, whose sums are taken from the copy: every height of tiles, pieces in
/// one row and in two, an odd number of them, and a plane after the other.
#[test]
fn few_channels() {
    let line = |large, kernel, pad, stride| axis(large, kernel, stride, 1, pad, 0).unwrap();
    for (width, rows) in [(16, 3), (31, 2), (32, 1), (40, 2), (48, 3)] {
        for small in [2, 3, 4, 6, 7, 8, 13, 15, 17] {
            for stride in [1, 2] {
                let axes = [line(2, 1, 0, 1), line(rows * stride, 3, 1, stride), line(width * stride, 3, 1, stride)];
                both(&Shape { batch: 2, groups: 2, large: 3, small, axes });
            }
        }
    }
}

#[test]
fn nothing_there() {
    let a = axis(5, 3, 1, 1, 1, 0).unwrap();
    for (batch, large, small) in [(0, 2, 3), (2, 0, 3), (2, 3, 0)] {
        both(&Shape { batch, groups: 1, large, small, axes: [ConvAxis::NONE, ConvAxis::NONE, a] });
    }
}

#[test]
fn infinities_beside_a_row_stay_there() {
    // One infinite element: only what meets it is infinite, and nothing is NaN.
    let a = axis(20, 3, 1, 1, 0, 0).unwrap();
    let s = Shape { batch: 1, groups: 1, large: 1, small: 1, axes: [ConvAxis::NONE, ConvAxis::NONE, a] };
    let mut x = [1.0f64; 20];
    x[19] = f64::INFINITY;
    let y = [1.0f64; 18];
    let (mut w, mut work) = ([0.0; 3], vec![0.0; weight_grad_scratch::<f64>(&s, 1)]);
    // SAFETY: slices of the lengths of the shape, and as much scratch as asked for.
    unsafe { weight_grad(&s, 0..1, y.as_ptr(), x.as_ptr(), w.as_mut_ptr(), work.as_mut_ptr(), 1) }
    assert_eq!(w, [18.0, 18.0, f64::INFINITY]);
}

/// The three sums of numbers that are rounded, on so many threads, some of them being asked for at a time.
fn rounded<T: Of>(s: &Shape, threads: usize, units: usize) -> [Vec<T>; 3] {
    crate::parallel::set_num_threads(threads);
    let thirds = |seed, len| -> Vec<T> { numbers(seed, len).into_iter().map(T::third).collect() };
    let x = thirds(1, s.batch * s.groups * s.large * s.large_len());
    let y = thirds(2, s.batch * s.groups * s.small * s.small_len());
    let w = thirds(3, s.groups * s.small * s.large * s.taps());
    let (over_small, over_large) = (thirds(4, s.groups * s.small), thirds(5, s.groups * s.large));
    let lengths = [forward_scratch(s), transposed_scratch(s), weight_grad_scratch::<T>(s, threads)];
    let mut work = vec![T::NAN; lengths.into_iter().max().unwrap_or(0)];
    let mut got = [vec![T::NAN; y.len()], vec![T::NAN; x.len()], vec![T::NAN; w.len()]];
    let (work, [to_y, to_x, to_w]) = (work.as_mut_ptr(), got.each_mut().map(|got| got.as_mut_ptr()));
    let all = s.batch * s.groups;
    for at in (0..all).step_by(units) {
        let part = at..all.min(at + units);
        // SAFETY: slices of the lengths of the shape, and as much scratch as asked for.
        unsafe {
            forward(s, part.clone(), x.as_ptr(), w.as_ptr(), over_small.as_ptr(), to_y, work);
            transposed(s, part, y.as_ptr(), w.as_ptr(), over_large.as_ptr(), to_x, work);
        }
    }
    for g in 0..s.groups {
        // SAFETY: as above.
        unsafe { weight_grad(s, g..g + 1, y.as_ptr(), x.as_ptr(), to_w, work, threads) }
    }
    got
}

#[test]
fn threads_change_no_bit() {
    let plane = |large, kernel, pad, stride| axis(large, kernel, stride, 1, pad, 0).unwrap();
    for (batch, groups, large, small, a) in [
        (1, 1, 40, 24, plane(40, 3, 1, 1)),
        (2, 1, 24, 50, plane(33, 3, 0, 1)),
        (1, 1, 64, 300, plane(9, 3, 1, 1)),
        (1, 2, 30, 20, plane(41, 3, 1, 2)),
        (3, 20, 1, 1, plane(40, 5, 2, 1)),
        (1, 1, 64, 48, plane(36, 1, 0, 1)),
        (1, 1, 60, 1, plane(150, 3, 1, 1)),
        (1, 1, 20, 9, plane(96, 3, 1, 1)),
        (2, 1, 9, 20, plane(96, 3, 1, 2)),
    ] {
        let s = Shape { batch, groups, large, small, axes: [ConvAxis::NONE, a, a] };
        check_threads(&s);
    }
    check_threads(&Shape {
        batch: 1,
        groups: 1,
        large: 9,
        small: 6,
        axes: [ConvAxis::NONE, ConvAxis::NONE, plane(9000, 5, 1, 1)],
    });
}

/// Any number of threads gives the bits of one.
fn check_threads(s: &Shape) {
    let (batch, groups) = (s.batch, s.groups);
    let (one, one64) = (rounded::<f32>(s, 1, batch * groups), rounded::<f64>(s, 1, batch * groups));
    for (threads, units) in [(2, 1), (3, 1), (3, 2)] {
        assert_eq!(rounded::<f32>(s, threads, units), one, "{s:?} on {threads} threads");
        assert_eq!(rounded::<f64>(s, threads, units), one64, "{s:?} on {threads} threads");
    }
}
