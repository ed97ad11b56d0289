//! The samples of blocks against those of one point after the other, to the bit.

use super::*;

/// An element along one axis (`None` outside), its weight and the weight's derivative.
type Tap = (Option<usize>, f64, f64);

/// Rounded to the precision of `T`.
fn rounded<T: Sample>(x: f64) -> f64 {
    T::of(x).into()
}

fn position<T: Sample>(s: &Sampler, x: f64, n: f64) -> (f64, f64) {
    let r = rounded::<T>;
    if s.align {
        (r(r(r(x + 1.0) / 2.0) * (n - 1.0)), (n - 1.0) / 2.0)
    } else {
        (r(r(r(r(x + 1.0) * n) - 1.0) / 2.0), n / 2.0)
    }
}

fn inside<T: Sample>(s: &Sampler, at: f64, n: f64) -> (f64, f64) {
    let r = rounded::<T>;
    let (at, sign) = match s.border {
        Border::Zeros => return (at, 1.0),
        Border::Clamp => (at, 1.0),
        Border::Reflect => {
            let (low, span) = if s.align { (0.0, n - 1.0) } else { (-0.5, n) };
            if span == 0.0 {
                return (0.0, 0.0);
            }
            let (x, sign) = if at - low < 0.0 { (r(low - at), -1.0) } else { (r(at - low), 1.0) };
            let (flips, extra) = ((x / span).floor(), x % span);
            if flips % 2.0 == 0.0 { (r(extra + low), sign) } else { (r(r(span - extra) + low), -sign) }
        }
    };
    if at > 0.0 && at < n - 1.0 { (at, sign) } else { (at.max(0.0).min(n - 1.0), 0.0) }
}

/// The weights of four elements for a point `t` behind the second, each step rounded by `r`, and their derivatives.
fn cubic(t: f64, r: fn(f64) -> f64) -> ([f64; 4], [f64; 4]) {
    let near = |t: f64| {
        let scaled = r((A + 2.0) * t);
        let w = r(r(1.0 - t) * r(1.0 + r(t * r(1.0 - scaled))));
        (w, r(t * r(r(3.0 * scaled) - r(2.0 * (A + 3.0)))))
    };
    let far = |t: f64| {
        let (rest, scaled) = (r(1.0 - t), r(A * r(1.0 - t)));
        (r(r(scaled * rest) * t), r(scaled * r(rest - r(t + t))))
    };
    let all = [far(t), near(t), near(r(1.0 - t)), far(r(1.0 - t))];
    (all.map(|w| w.0), [all[0].1, all[1].1, -all[2].1, -all[3].1])
}

fn along<T: Sample>(s: &Sampler, x: f64, n: usize) -> Vec<Tap> {
    let r = rounded::<T>;
    let size = n as f64;
    let (at, slope) = position::<T>(s, x, size);
    let element = |at: f64| (at >= 0.0 && at <= size - 1.0).then_some(at as usize);
    match s.mode {
        Mode::Nearest => vec![(element(inside::<T>(s, at, size).0.round_ties_even()), 1.0, 0.0)],
        Mode::Linear => {
            let (at, inner) = inside::<T>(s, at, size);
            let t = r(at - at.floor());
            let slope = slope * inner;
            vec![(element(at.floor()), r(1.0 - t), -slope), (element(at.floor() + 1.0), t, slope)]
        }
        Mode::Cubic => {
            let (w, dw) = cubic(r(at - at.floor()), r);
            let place = |k: usize| element(inside::<T>(s, at.floor() - 1.0 + k as f64, size).0);
            (0..4).map(|k| (place(k), w[k], r(dw[k] * slope))).collect()
        }
    }
}

/// The taps of point `p`: where, the weight, and its derivatives.
fn taps<T: Sample>(s: &Sampler, e: Extent, grid: &[T], p: usize) -> Vec<(Option<usize>, f64, [f64; 3])> {
    let axis = |d: usize| match d < s.rank {
        true => along::<T>(s, grid[p * s.rank + d].into(), e.plane[2 - d]),
        false => vec![(Some(0), 1.0, 0.0)],
    };
    let [xs, ys, zs] = [axis(0), axis(1), axis(2)];
    let mut all = Vec::new();
    for &(z, wz, dz) in &zs {
        for &(y, wy, dy) in &ys {
            for &(x, wx, dx) in &xs {
                let at = z.zip(y).zip(x).map(|((z, y), x)| (z * e.plane[1] + y) * e.plane[2] + x);
                all.push((at, rounded::<T>(rounded::<T>(wz * wy) * wx), [wz * wy * dx, wz * dy * wx, dz * wy * wx]));
            }
        }
    }
    all
}

/// The samples, and the gradients of planes and points from `g`.
fn one_by_one<T: Sample>(s: &Sampler, e: Extent, [x, grid, g]: [&[T]; 3]) -> [Vec<T>; 3] {
    let (mut y, mut gx, mut ggrid) = (vec![T::ZERO; g.len()], vec![T::ZERO; x.len()], vec![T::ZERO; grid.len()]);
    for point in 0..e.batch * e.points {
        let (b, p) = (point / e.points, point % e.points);
        let mut slopes = [0.0; 3];
        for (at, weight, by) in taps(s, e, grid, point) {
            let (w, mut sum) = (T::of(weight), 0.0);
            for c in b * e.channels..(b + 1) * e.channels {
                let o = c * e.points + p;
                let Some(i) = at.map(|i| c * e.inner() + i) else {
                    y[o] = y[o].add(T::ZERO.mul(w));
                    continue;
                };
                y[o] = y[o].add(x[i].mul(w));
                gx[i] = gx[i].add(g[o].mul(w));
                sum += Into::<f64>::into(g[o]) * Into::<f64>::into(x[i]);
            }
            for (slope, by) in slopes.iter_mut().zip(by).filter(|_| s.mode != Mode::Nearest) {
                *slope += sum * by;
            }
        }
        for d in 0..s.rank {
            ggrid[point * s.rank + d] = T::of(slopes[d]);
        }
    }
    [y, gx, ggrid]
}

/// Numbers from -1 to 1.
fn noise<T: Sample>(n: usize, seed: usize) -> Vec<T> {
    (0..n).map(|i| T::constant(((i * 7919 + seed * 104_729) as f64 * 0.618).sin().into())).collect()
}

fn same<T: Sample>(a: &[T], b: &[T], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
        let (a, b): (f64, f64) = (a.into(), b.into());
        assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{what}: {i} is {a}, not {b}");
    }
}

fn every_sampler(mut f: impl FnMut(Sampler)) {
    for rank in [2, 3] {
        for mode in [Mode::Linear, Mode::Nearest, Mode::Cubic] {
            for border in [Border::Zeros, Border::Clamp, Border::Reflect] {
                for align in [false, true] {
                    if rank == 2 || mode != Mode::Cubic {
                        f(Sampler { rank, mode, border, align });
                    }
                }
            }
        }
    }
}

/// Of these operands, everything that the kernels compute.
fn agree<T: Sample>(s: &Sampler, e: Extent, x: &[T], grid: &[T], g: &[T]) {
    let [y, gx, ggrid] = one_by_one(s, e, [x, grid, g]);
    let what = format!("{s:?} {e:?}");
    for level in InstructionSet::available() {
        let mut found = vec![T::ONE; y.len()];
        sample_by(level, s, e, x, grid, &mut found);
        same(&found, &y, &what);
        let (mut a, mut b) = (vec![T::ZERO; x.len()], vec![T::ONE; grid.len()]);
        backward_by(level, s, e, (x, grid, g), Some(&mut a), Some(&mut b));
        same(&a, &gx, &what);
        same(&b, &ggrid, &what);
        let (mut a, mut b) = (vec![T::ZERO; x.len()], vec![T::ONE; grid.len()]);
        backward_by(level, s, e, (x, grid, g), Some(&mut a), None);
        backward_by(level, s, e, (x, grid, g), None, Some(&mut b));
        same(&a, &gx, &what);
        same(&b, &ggrid, &what);
    }
}

fn sizes<T: Sample>() {
    every_sampler(|s| {
        for (batch, channels, plane, points) in [
            (1, 1, [1, 1, 1], 1),
            (2, 3, [2, 3, 5], 7),
            (1, 2, [3, 1, 4], 8),
            (1, 1, [2, 5, 1], 9),
            (1, 2, [2, 3, 2], 15),
            (1, 1, [1, 2, 2], 16),
            (1, 1, [2, 1, 3], 17),
            (2, 2, [4, 6, 7], 63),
            (1, 3, [2, 2, 9], 64),
            (3, 2, [3, 4, 4], 65),
            (2, 5, [2, 3, 4], 33),
            (2, 1, [5, 7, 3], 200),
            (0, 2, [2, 2, 2], 5),
            (2, 0, [2, 2, 2], 5),
            (2, 2, [2, 2, 2], 0),
        ] {
            let plane = if s.rank == 2 { [1, plane[1], plane[2]] } else { plane };
            let e = Extent { batch, channels, plane, points };
            let x = noise::<T>(batch * channels * e.inner(), 1);
            let grid: Vec<T> = noise::<T>(batch * points * s.rank, 2).iter().map(|v| v.add(*v)).collect();
            agree(&s, e, &x, &grid, &noise(batch * channels * points, 3));
        }
    });
}

#[test]
fn blocks_agree_with_single_points() {
    sizes::<f32>();
    sizes::<f64>();
}

/// Corners, edges, halves, what is far away and what is no number, among ordinary points and alone.
fn special<T: Sample>() {
    let values = [-1.0, 1.0, 0.0, -0.0, 0.5, -0.75, 1.25, -1.25, 3.0, -7.5, 1e9, -1e9, 3e38, -1e300];
    let mut values: Vec<f64> = values.to_vec();
    values.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40, -1.0 - 1e-7, 1.0 - 1e-7]);
    every_sampler(|s| {
        let plane = if s.rank == 2 { [1, 3, 4] } else { [2, 3, 4] };
        let points = values.len() * values.len();
        for finite in [true, false] {
            let mut grid = Vec::new();
            for p in 0..points {
                let by = [values[p % values.len()], values[p / values.len()], values[p * 7 % values.len()]];
                grid.extend(
                    by[..s.rank]
                        .iter()
                        .map(|&v| T::constant(if finite && (v.is_nan() || v.abs() > 100.0) { 0.1 } else { v }.into())),
                );
            }
            let e = Extent { batch: 1, channels: 2, plane, points };
            let (mut x, mut g) = (noise::<T>(2 * e.inner(), 1), noise::<T>(2 * points, 2));
            agree(&s, e, &x, &grid, &g);
            for (at, v) in [(0, f64::NAN), (3, f64::INFINITY), (7, -0.0), (13, f64::NEG_INFINITY)] {
                (x[at], g[5 * at]) = (T::constant(v.into()), T::constant(v.into()));
            }
            agree(&s, e, &x, &grid, &g);
        }
    });
}

#[test]
fn special_points_and_elements() {
    special::<f32>();
    special::<f64>();
}

#[test]
fn threads_share_points() {
    let s = Sampler { rank: 2, mode: Mode::Linear, border: Border::Zeros, align: false };
    let e = Extent { batch: 3, channels: 4, plane: [1, 20, 30], points: 5000 };
    let (x, grid) = (noise::<f32>(12 * e.inner(), 1), noise::<f32>(30_000, 2));
    agree(&s, e, &x, &grid, &noise(60_000, 3));
}

/// Quotients and remainders by the vectors of an instruction set. No duties.
struct Quotients<T>(std::marker::PhantomData<T>);
impl<T: Sample> Task for Quotients<T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        for y in [1.0f64, 3.0, 7.0, 56.0, 1e6] {
            for k in [0.0, 1.0, 2.0, 5.0, 1023.0, 8e6] {
                let just_below = [T::of(k * y), T::of(k * y).mul(T::ONE.sub(T::ONE.div(T::INTEGER)))];
                for x in [just_below[0], just_below[1], T::of(k * y + 0.5)] {
                    if x >= T::INTEGER {
                        continue;
                    }
                    let (mut q, mut rest) = ([x; STEP], [x; STEP]);
                    // SAFETY: (1) Task 2; (2) the array holds a vector.
                    let v = unsafe { T::Vector::<S>::load(q.as_ptr()) };
                    let found = divided(v, v.of(y));
                    put(&mut q, 0, found.0);
                    put(&mut rest, 0, found.1);
                    let (x, q, rest): (f64, f64, f64) = (x.into(), q[0].into(), rest[0].into());
                    assert!(rest == x % y && q * y + rest == x, "{x} by {y}: {q}, {rest}");
                }
            }
        }
    }
}

#[test]
fn quotients_that_round_up_are_rounded_down() {
    for level in InstructionSet::available() {
        // SAFETY: they have no duties.
        unsafe {
            for_isa(level, Quotients::<f32>(std::marker::PhantomData));
            for_isa(level, Quotients::<f64>(std::marker::PhantomData));
        }
    }
}

#[test]
fn cubic_weights_are_those_of_the_kernel() {
    for i in 0..=1000 {
        let t = f64::from(i) / 1000.0;
        let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
        let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
        let near_slope = |x: f64| (3.0 * (A + 2.0) * x - 2.0 * (A + 3.0)) * x;
        let far_slope = |x: f64| (3.0 * A * x - 10.0 * A) * x + 8.0 * A;
        let w = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
        let dw = [far_slope(t + 1.0), near_slope(t), -near_slope(1.0 - t), -far_slope(2.0 - t)];
        for (r, within) in [(rounded::<f32> as fn(f64) -> f64, 4e-7), (rounded::<f64>, 1e-14)] {
            let found = cubic(r(t), r);
            for k in 0..4 {
                assert!((found.0[k] - w[k]).abs() < within && (found.1[k] - dw[k]).abs() < 4.0 * within, "{t} {k}");
            }
        }
    }
}
