//! Samples of planes at points between their elements.

use super::real::Ring;

/// How a sample is computed from the elements around its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Linear,
    Nearest,
    Cubic,
}

/// What is outside of the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    Zeros,
    /// The nearest element inside.
    Clamp,
    /// The element that a reflection at the edge leads to.
    Reflect,
}

/// How points are interpreted. Coordinates are computed as in the elements' precision, which decides between
/// neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Axes of a plane: 2 or 3.
    pub rank: usize,
    pub mode: Mode,
    pub border: Border,
    /// -1 and 1 are the centres of the outermost elements, not their outer edges.
    pub align: bool,
}

/// An element along one axis (`None` outside), its weight and the weight's derivative by the coordinate given.
type Tap = (Option<usize>, f64, f64);

/// The parameter of the cubic kernel.
pub const A: f64 = -0.75;

impl Sampler {
    /// The coordinate as a position among `n` elements, not yet brought inside, and its derivative.
    fn position(&self, x: f64, n: usize, round: fn(f64) -> f64) -> (f64, f64) {
        if self.align {
            let last = n as f64 - 1.0;
            (round(round(round(x + 1.0) / 2.0) * last), last / 2.0)
        } else {
            (round(round(round(round(x + 1.0) * n as f64) - 1.0) / 2.0), n as f64 / 2.0)
        }
    }
    /// Brought inside, where the border mode requires it, and the derivative of that.
    fn inside(&self, at: f64, n: usize, round: fn(f64) -> f64) -> (f64, f64) {
        let last = n as f64 - 1.0;
        let (at, sign) = match self.border {
            Border::Zeros => return (at, 1.0),
            Border::Clamp => (at, 1.0),
            Border::Reflect => {
                let (low, span) = if self.align { (0.0, last) } else { (-0.5, n as f64) };
                if span == 0.0 {
                    return (0.0, 0.0);
                }
                let (x, sign) = if at - low < 0.0 { (round(low - at), -1.0) } else { (round(at - low), 1.0) };
                let (flips, extra) = ((x / span).floor(), x % span);
                if flips % 2.0 == 0.0 { (round(extra + low), sign) } else { (round(round(span - extra) + low), -sign) }
            }
        };
        if at > 0.0 && at < last { (at, sign) } else { (at.max(0.0).min(last), 0.0) }
    }
    /// The elements of an axis of size `n` that a coordinate uses.
    fn taps(&self, x: f64, n: usize, round: fn(f64) -> f64) -> ([Tap; 4], usize) {
        let mut taps = [(None, 0.0, 0.0); 4];
        let (at, slope) = self.position(x, n, round);
        let element = |at: f64| (at >= 0.0 && at <= n as f64 - 1.0).then_some(at as usize);
        match self.mode {
            Mode::Nearest => {
                let at = self.inside(at, n, round).0.round_ties_even();
                taps[0] = (element(at), 1.0, 0.0);
                (taps, 1)
            }
            Mode::Linear => {
                let (at, inner) = self.inside(at, n, round);
                let (first, slope) = (at.floor(), slope * inner);
                let t = round(at - first);
                taps[0] = (element(first), round(1.0 - t), -slope);
                taps[1] = (element(first + 1.0), t, slope);
                (taps, 2)
            }
            Mode::Cubic => {
                let first = at.floor();
                let (w, dw) = cubic(round(at - first));
                for (k, tap) in taps.iter_mut().enumerate() {
                    let at = self.inside(first - 1.0 + k as f64, n, round).0;
                    *tap = (element(at), w[k], dw[k] * slope);
                }
                (taps, 4)
            }
        }
    }
    /// Runs `f(element, weight, derivatives)` for the elements that a point uses. What is outside is 0 and left out,
    /// unless its weights are not finite, as those of a point that is not: 0 times that is NaN.
    fn each(
        &self,
        point: [f64; 3],
        sizes: [usize; 3],
        round: fn(f64) -> f64,
        mut f: impl FnMut(Option<usize>, f64, [f64; 3]),
    ) {
        let single = ([(Some(0), 1.0, 0.0), (None, 0.0, 0.0), (None, 0.0, 0.0), (None, 0.0, 0.0)], 1);
        let [d, h, w] = sizes;
        let (zs, nz) = if self.rank == 3 { self.taps(point[2], d, round) } else { single };
        let (ys, ny) = self.taps(point[1], h, round);
        let (xs, nx) = self.taps(point[0], w, round);
        for &(z, wz, dz) in &zs[..nz] {
            for &(y, wy, dy) in &ys[..ny] {
                for &(x, wx, dx) in &xs[..nx] {
                    let weight = wz * wy * wx;
                    let at = match (z, y, x) {
                        (Some(z), Some(y), Some(x)) => Some((z * h + y) * w + x),
                        _ => None,
                    };
                    if at.is_some() || !weight.is_finite() {
                        f(at, weight, [wz * wy * dx, wz * dy * wx, dz * wy * wx]);
                    }
                }
            }
        }
    }
}

/// The weights of four elements in a row for a point `t` behind the second, and their derivatives.
fn cubic(t: f64) -> ([f64; 4], [f64; 4]) {
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    let dnear = |x: f64| (3.0 * (A + 2.0) * x - 2.0 * (A + 3.0)) * x;
    let dfar = |x: f64| (3.0 * A * x - 10.0 * A) * x + 8.0 * A;
    ([far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)], [dfar(t + 1.0), dnear(t), -dnear(1.0 - t), -dfar(2.0 - t)])
}

/// A number that planes are made of.
pub trait Sample: Ring + Into<f64> {
    /// Rounded to this precision.
    fn rounded(x: f64) -> f64;
}
impl Sample for f32 {
    fn rounded(x: f64) -> f64 {
        f64::from(x as f32)
    }
}
impl Sample for f64 {
    fn rounded(x: f64) -> f64 {
        x
    }
}

/// The sizes of a call: entries of a batch, channels, a plane, points of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub batch: usize,
    pub channels: usize,
    pub plane: [usize; 3],
    pub points: usize,
}

impl Extent {
    fn inner(&self) -> usize {
        self.plane.iter().product()
    }
}

fn point<T: Sample>(grid: &[T], at: usize, rank: usize) -> [f64; 3] {
    let mut point = [0.0; 3];
    for (p, &x) in point.iter_mut().zip(&grid[at * rank..(at + 1) * rank]) {
        *p = x.into();
    }
    point
}

/// Samples `x` (batch, channels, plane) at the points of `grid` (batch, points, rank) into `y` (batch, channels,
/// points).
pub fn sample<T: Sample>(s: &Sampler, e: Extent, x: &[T], grid: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    let inner = e.inner();
    for b in 0..e.batch {
        let (x, y) = (&x[b * e.channels * inner..], &mut y[b * e.channels * e.points..]);
        for p in 0..e.points {
            let at = point(grid, b * e.points + p, s.rank);
            s.each(at, e.plane, T::rounded, |i, w, _| {
                let w = T::constant(w.into());
                for c in 0..e.channels {
                    let y = &mut y[c * e.points + p];
                    *y = (*y).add(i.map_or(T::ZERO, |i| x[c * inner + i]).mul(w));
                }
            });
        }
    }
}

/// The reverse of [`sample`]: adds to the gradient of the planes, and writes that of the points, if these are wanted.
pub fn backward<T: Sample>(
    s: &Sampler,
    e: Extent,
    (x, grid, g): (&[T], &[T], &[T]),
    mut gx: Option<&mut [T]>,
    mut ggrid: Option<&mut [T]>,
) {
    let inner = e.inner();
    for b in 0..e.batch {
        let (from, to) = (b * e.channels * inner, b * e.channels * e.points);
        for p in 0..e.points {
            let at = point(grid, b * e.points + p, s.rank);
            let mut slopes = [0.0; 3];
            s.each(at, e.plane, T::rounded, |i, w, dw| {
                let weight = T::constant(w.into());
                let mut along = 0.0;
                for c in 0..e.channels {
                    let g = g[to + c * e.points + p];
                    let Some(i) = i else { continue };
                    if let Some(gx) = gx.as_deref_mut() {
                        let o = &mut gx[from + c * inner + i];
                        *o = (*o).add(g.mul(weight));
                    }
                    along += Into::<f64>::into(g) * Into::<f64>::into(x[from + c * inner + i]);
                }
                for (slope, dw) in slopes.iter_mut().zip(dw) {
                    *slope += along * dw;
                }
            });
            if let Some(ggrid) = ggrid.as_deref_mut() {
                for (o, slope) in ggrid[(b * e.points + p) * s.rank..][..s.rank].iter_mut().zip(slopes) {
                    *o = T::constant(slope.into());
                }
            }
        }
    }
}
