//! Samples at points in recorded ops: what the derivatives of `grid_sample` are made of, to any order.

use crate::error::Result;
use crate::kernels::grid::{A, Border, Mode, Sampler};
use crate::ops::memory::cast;
use crate::ops::pointwise::select::where_;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::{DType, Tensor};

/// An element that points draw on: where it is in its plane, its weight, and the derivatives of the weight by the
/// coordinates. All of shape (batch, 1, points).
pub(super) struct Tap {
    at: Tensor,
    /// Whether there is such an element; what is outside is 0.
    there: Tensor,
    pub weight: Tensor,
    pub slopes: Vec<Tensor>,
}

/// The taps along one axis: places (floats, any for those outside), whether they are inside, weights and derivatives.
type AlongAxis = Vec<[Tensor; 4]>;

fn number(x: f64, like: &Tensor) -> Result<Tensor> {
    Tensor::full(&[], x.into(), like.dtype())
}

/// Brought inside, and the derivative of that, as far as the border asks for it.
fn inside(s: &Sampler, at: &Tensor, n: usize) -> Result<(Tensor, Tensor)> {
    let last = n as f64 - 1.0;
    let (zero, one) = (number(0.0, at)?, number(1.0, at)?);
    let (at, sign) = match s.border {
        Border::Zeros => return Ok((at.clone(), one)),
        Border::Clamp => (at.clone(), one),
        Border::Reflect => {
            let (low, span) = if s.align { (0.0, last) } else { (-0.5, n as f64) };
            if span == 0.0 {
                return Ok((at.times(0.0)?, zero));
            }
            let from_low = at.plus(-low)?;
            let below = from_low.lt(&zero)?;
            let x = where_(&below, &from_low.neg()?, &from_low)?;
            let flips = x.times(1.0 / span)?.floor()?;
            let extra = x.sub(&flips.times(span)?)?;
            let even = flips.times(0.5)?.floor()?.times(2.0)?.eq(&flips)?;
            let folded = where_(&even, &extra.plus(low)?, &extra.neg()?.plus(span + low)?)?;
            let minus = one.neg()?;
            let sign = where_(&below, &minus, &one)?.mul(&where_(&even, &one, &minus)?)?;
            (folded, sign)
        }
    };
    let limit = number(last, &at)?;
    let (low, high) = (at.le(&zero)?, at.ge(&limit)?);
    let clamped = where_(&low, &zero, &where_(&high, &limit, &at)?)?;
    Ok((clamped, where_(&low.logical_or(&high)?, &zero, &sign)?))
}

/// A polynomial, the highest power first.
fn polynomial(x: &Tensor, coefficients: &[f64]) -> Result<Tensor> {
    let mut sum = number(coefficients[0], x)?;
    for &c in &coefficients[1..] {
        sum = sum.mul(x)?.plus(c)?;
    }
    Ok(sum)
}

/// Weights of four elements in a row for points `t` behind the second, and their derivatives.
fn cubic(t: &Tensor) -> Result<[[Tensor; 2]; 4]> {
    let near = [A + 2.0, -(A + 3.0), 0.0, 1.0];
    let far = [A, -5.0 * A, 8.0 * A, -4.0 * A];
    let of = |x: Tensor, c: [f64; 4], sign: f64| -> Result<[Tensor; 2]> {
        let slope = polynomial(&x, &[3.0 * c[0], 2.0 * c[1], c[2]])?.times(sign)?;
        Ok([polynomial(&x, &c)?, slope])
    };
    Ok([
        of(t.plus(1.0)?, far, 1.0)?,
        of(t.clone(), near, 1.0)?,
        of(t.neg()?.plus(1.0)?, near, -1.0)?,
        of(t.neg()?.plus(2.0)?, far, -1.0)?,
    ])
}

fn along_axis(s: &Sampler, x: &Tensor, n: usize) -> Result<AlongAxis> {
    let (at, slope) = if s.align {
        let half = (n as f64 - 1.0) / 2.0;
        (x.plus(1.0)?.times(half)?, half)
    } else {
        (x.plus(1.0)?.times(n as f64)?.plus(-1.0)?.times(0.5)?, n as f64 / 2.0)
    };
    let last = number(n as f64 - 1.0, x)?;
    let zero = number(0.0, x)?;
    let tap = |place: Tensor, weight: Tensor, slope: Tensor| -> Result<[Tensor; 4]> {
        let there = place.ge(&zero)?.logical_and(&place.le(&last)?)?;
        Ok([where_(&there, &place, &zero)?, there, weight, slope])
    };
    Ok(match s.mode {
        Mode::Nearest => {
            let place = inside(s, &at, n)?.0.round()?;
            vec![tap(place, number(1.0, x)?, zero.clone())?]
        }
        Mode::Linear => {
            let (at, inner) = inside(s, &at, n)?;
            let first = at.floor()?;
            let (t, slope) = (at.sub(&first)?, inner.times(slope)?);
            vec![tap(first.clone(), t.neg()?.plus(1.0)?, slope.neg()?)?, tap(first.plus(1.0)?, t, slope)?]
        }
        Mode::Cubic => {
            let first = at.floor()?;
            let weights = cubic(&at.sub(&first)?)?;
            let mut taps = Vec::new();
            for (k, [weight, dw]) in weights.into_iter().enumerate() {
                let place = inside(s, &first.plus(k as f64 - 1.0)?, n)?.0;
                taps.push(tap(place, weight, dw.times(slope)?)?);
            }
            taps
        }
    })
}

/// The taps of the points of a grid (batch, ..., rank) in planes of these sizes.
pub(super) fn taps(s: &Sampler, grid: &Tensor, plane: &[usize]) -> Result<Vec<Tap>> {
    let rank = s.rank;
    let batch = grid.sizes()[0];
    let points: usize = grid.sizes()[1..=rank].iter().product();
    // Of the last axis first, as coordinates are given.
    let mut axes = Vec::new();
    for d in 0..rank {
        let x = reshape_to(&grid.select(-1, d as i64)?, &[batch, 1, points])?;
        axes.push(along_axis(s, &x, plane[rank - 1 - d])?);
    }
    let mut all: Vec<(Tensor, Vec<&[Tensor; 4]>)> = vec![(Tensor::full(&[], 0i64.into(), DType::Int64)?, Vec::new())];
    for d in (0..rank).rev() {
        let mut next = Vec::new();
        for (at, chosen) in &all {
            for tap in &axes[d] {
                let place = cast(&tap[0], DType::Int64)?;
                let at = at.times(plane[rank - 1 - d] as i64)?.add(&place)?;
                // In the order of the coordinates.
                next.push((at, std::iter::once(tap).chain(chosen.iter().copied()).collect()));
            }
        }
        all = next;
    }
    let product = |parts: Vec<&Tensor>| parts[1..].iter().try_fold(parts[0].clone(), |p, t| p.mul(t));
    let whole = [batch, 1, points];
    all.into_iter()
        .map(|(at, chosen)| {
            let weight = expand_to(&product(chosen.iter().map(|t| &t[2]).collect())?, &whole)?;
            let there = chosen[1..].iter().try_fold(chosen[0][1].clone(), |all, t| all.logical_and(&t[1]))?;
            let slope = |d: usize| {
                let parts = chosen.iter().enumerate().map(|(e, t)| if e == d { &t[3] } else { &t[2] }).collect();
                expand_to(&product(parts)?, &whole)
            };
            let slopes = (0..rank).map(slope).collect::<Result<_>>()?;
            Ok(Tap { at: expand_to(&at, &whole)?, there: expand_to(&there, &whole)?, weight, slopes })
        })
        .collect()
}

impl Tap {
    /// Its elements in `x` (batch, channels, plane), as (batch, channels, points).
    pub fn of(&self, x: &Tensor) -> Result<Tensor> {
        let channels = x.sizes()[1];
        let [batch, _, points] = *self.at.sizes() else { return Ok(x.clone()) };
        where_(&self.there, &x.gather(2, &expand_to(&self.at, &[batch, channels, points])?)?, &number(0.0, x)?)
    }
    /// `g` (batch, channels, points) added up at its elements, in a tensor like `zeros`.
    pub fn to(&self, zeros: &Tensor, g: &Tensor) -> Result<Tensor> {
        zeros.scatter_add(2, &expand_to(&self.at, g.sizes())?, &where_(&self.there, g, &number(0.0, g)?)?)
    }
}
