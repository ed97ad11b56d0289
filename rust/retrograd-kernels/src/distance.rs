//! Distances between rows: all of one matrix from all of another, or of every pair of one, and their gradients.

use std::ops::Range;

use super::real::Real;

/// The norm of a difference, the frequent ones by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// How many elements differ.
    Zero,
    One,
    Two,
    Largest,
    Power(f64),
}

impl Norm {
    pub fn of(p: f64) -> Self {
        match p {
            0.0 => Self::Zero,
            1.0 => Self::One,
            2.0 => Self::Two,
            f64::INFINITY => Self::Largest,
            p => Self::Power(p),
        }
    }
    pub fn p(self) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::One => 1.0,
            Self::Two => 2.0,
            Self::Largest => f64::INFINITY,
            Self::Power(p) => p,
        }
    }
}

/// The sum of `f` of the differences, of every eighth on its own, so that they are added side by side.
#[inline(always)]
fn eight_sums<T: Real>(a: &[T], b: &[T], f: impl Fn(T) -> T) -> T {
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let (a_rest, b_rest) = (a.remainder(), b.remainder());
    let mut sums = [T::ZERO; 8];
    for (x, y) in a.zip(b) {
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = sum.add(f(x[i].sub(y[i])));
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&x, &y)| f(x.sub(y)));
    rest.chain(sums).fold(T::ZERO, T::add)
}

/// The distance of two rows.
#[inline(always)]
fn between<T: Real>(norm: Norm, a: &[T], b: &[T]) -> T {
    let parts = || a.iter().zip(b).map(|(&x, &y)| x.sub(y).abs());
    match norm {
        Norm::Zero => parts().fold(T::ZERO, |n, d| if d == T::ZERO { n } else { n.add(T::ONE) }),
        Norm::One => eight_sums(a, b, |d| d.abs()),
        Norm::Two => eight_sums(a, b, |d| d.mul(d)).sqrt(),
        Norm::Largest => parts().fold(T::ZERO, T::larger),
        Norm::Power(p) => parts().fold(T::ZERO, |sum, d| sum.add(d.powf(T::of(p)))).powf(T::of(1.0 / p)),
    }
}

/// Rows `range` of all entries of `a` against the rows of the entry of `b`, to `to`, which is whole. Sizes are
/// `[entries, rows of a, rows of b, elements of a row]`; everything is contiguous.
pub fn all<T: Real>(
    norm: Norm,
    a: &[T],
    b: &[T],
    [_, rows, others, size]: [usize; 4],
    range: Range<usize>,
    to: &mut [T],
) {
    for row in range {
        let x = &a[row * size..][..size];
        let entry = row / rows * others;
        for (j, to) in to[row * others..][..others].iter_mut().enumerate() {
            *to = between(norm, x, &b[(entry + j) * size..][..size]);
        }
    }
}

/// Gradients of rows `range` of all entries of `a`, to `to`, which is whole: sums over the rows of `b` of `g` times
/// what the distance `d` changes by with the row. With `flipped`, rows and columns of `g` and `d` are exchanged.
#[allow(clippy::too_many_arguments)]
pub fn backward<T: Real>(
    norm: Norm,
    a: &[T],
    b: &[T],
    g: &[T],
    d: &[T],
    flipped: bool,
    [_, rows, others, size]: [usize; 4],
    range: Range<usize>,
    to: &mut [T],
) {
    for row in range {
        let (entry, i) = (row / rows, row % rows);
        let x = &a[row * size..][..size];
        let to = &mut to[row * size..][..size];
        to.fill(T::ZERO);
        if norm == Norm::Zero {
            continue;
        }
        for j in 0..others {
            let pair = entry * rows * others + if flipped { j * rows + i } else { i * others + j };
            let y = &b[(entry * others + j) * size..][..size];
            add_slope(norm, x, y, g[pair], d[pair], to);
        }
    }
}

/// The distances of every one of `n` rows of `size` elements from those behind it.
pub fn pairs<T: Real>(norm: Norm, x: &[T], [n, size]: [usize; 2], to: &mut [T]) {
    let mut to = to.iter_mut();
    for i in 0..n {
        // As many rows are behind it as are asked for.
        for (j, to) in (i + 1..n).zip(to.by_ref()) {
            *to = between(norm, &x[i * size..][..size], &x[j * size..][..size]);
        }
    }
}

/// The gradients of rows, to `to`: of each, `g` times what its distances `d` change by with it.
pub fn pairs_backward<T: Real>(norm: Norm, x: &[T], g: &[T], d: &[T], [n, size]: [usize; 2], to: &mut [T]) {
    to.fill(T::ZERO);
    if norm == Norm::Zero {
        return;
    }
    let mut pairs = g.iter().zip(d);
    for i in 0..n {
        for j in i + 1..n {
            let Some((&g, &d)) = pairs.next() else { return };
            let (a, b) = (&x[i * size..][..size], &x[j * size..][..size]);
            add_slope(norm, a, b, g, d, &mut to[i * size..][..size]);
            add_slope(norm, b, a, g, d, &mut to[j * size..][..size]);
        }
    }
}

/// `to += g * slope` of the distance `d` of two rows.
#[inline(always)]
fn add_slope<T: Real>(norm: Norm, x: &[T], y: &[T], g: T, d: T, to: &mut [T]) {
    if d == T::ZERO {
        return;
    }
    // Both sides by a choice of numbers, which needs no branch.
    let signed = |to: T, v: T, g: T| {
        let (up, down) = (if v > T::ZERO { g } else { T::ZERO }, if v < T::ZERO { g } else { T::ZERO });
        to.add(up).sub(down)
    };
    let pairs = to.iter_mut().zip(x.iter().zip(y).map(|(&x, &y)| x.sub(y)));
    match norm {
        Norm::Zero => {}
        Norm::One => pairs.for_each(|(to, v)| *to = signed(*to, v, g)),
        Norm::Two => {
            let scale = g.div(d);
            pairs.for_each(|(to, v)| *to = to.add(v.mul(scale)));
        }
        Norm::Largest => pairs.for_each(|(to, v)| {
            if v.abs() == d {
                *to = signed(*to, v, g);
            }
        }),
        Norm::Power(p) => {
            let (e, scale) = (T::of(p - 1.0), g.div(d.powf(T::of(p - 1.0))));
            pairs.for_each(|(to, v)| {
                if v != T::ZERO {
                    *to = signed(*to, v, v.abs().powf(e).mul(scale));
                }
            });
        }
    }
}
