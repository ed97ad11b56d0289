//! A line search along a direction, to a step that fulfils the strong Wolfe conditions.

use crate::Result;
use crate::engine::Tensor as Inner;

/// A step along the direction: its length, and the loss, the gradient and the slope there.
#[derive(Clone)]
pub(super) struct Point {
    pub t: f64,
    pub loss: f64,
    pub grad: Inner,
    pub slope: f64,
}

const SUFFICIENT_DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const TOLERANCE_CHANGE: f64 = 1e-9;

/// Searches from `start` on, beginning with a step of length `t`. `at` gives the point at a step, `size` is the largest
/// entry of the direction. Returns the step, and how often `at` was called.
pub(super) fn strong_wolfe(
    start: &Point,
    t: f64,
    size: f64,
    most: usize,
    mut at: impl FnMut(f64) -> Result<Point>,
) -> Result<(Point, usize)> {
    let is_too_high = |point: &Point| point.loss > start.loss + SUFFICIENT_DECREASE * point.t * start.slope;
    let is_flat = |point: &Point| point.slope.abs() <= -CURVATURE * start.slope;

    // Longer and longer steps, until two of them have a good one between them.
    let (mut previous, mut new) = (start.clone(), at(t)?);
    let (mut iteration, mut done) = (0, false);
    let mut ends = None;
    while iteration < most {
        if is_too_high(&new) || iteration > 1 && new.loss >= previous.loss {
            ends = Some([previous.clone(), new.clone()]);
            break;
        }
        if is_flat(&new) {
            (ends, done) = (Some([new.clone(), new.clone()]), true);
            break;
        }
        if new.slope >= 0.0 {
            ends = Some([previous.clone(), new.clone()]);
            break;
        }
        let bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10.0);
        let t = cubic(&previous, &new, Some(bounds));
        previous = new;
        new = at(t)?;
        iteration += 1;
    }
    let mut ends = ends.unwrap_or_else(|| [start.clone(), new]);

    // The interval shrinks; `low` is its better end.
    let order = |ends: &[Point; 2]| if ends[0].loss <= ends[1].loss { (0, 1) } else { (1, 0) };
    let (mut low, mut high) = order(&ends);
    let mut is_slow = false;
    while !done && iteration < most {
        let (smallest, largest) = (ends[0].t.min(ends[1].t), ends[0].t.max(ends[1].t));
        if (ends[1].t - ends[0].t).abs() * size < TOLERANCE_CHANGE {
            break;
        }
        let mut t = cubic(&ends[0], &ends[1], None);
        // A point near an end makes little progress: once that may be; twice, or at the end itself, it moves inwards.
        let margin = 0.1 * (largest - smallest);
        let mut is_near_end = (largest - t).min(t - smallest) < margin;
        if is_near_end && (is_slow || t >= largest || t <= smallest) {
            let to_largest = (t - largest).abs() < (t - smallest).abs();
            t = if to_largest { largest - margin } else { smallest + margin };
            is_near_end = false;
        }
        is_slow = is_near_end;
        let new = at(t)?;
        iteration += 1;
        if is_too_high(&new) || new.loss >= ends[low].loss {
            ends[high] = new;
            (low, high) = order(&ends);
        } else {
            if is_flat(&new) {
                done = true;
            } else if new.slope * (ends[high].t - ends[low].t) >= 0.0 {
                ends[high] = ends[low].clone();
            }
            ends[low] = new;
        }
    }
    let [first, second] = ends;
    Ok((if low == 0 { first } else { second }, iteration + 1))
}

/// Where the cubic with the losses and slopes of two points is smallest, between them or within the bounds.
fn cubic(a: &Point, b: &Point, bounds: Option<(f64, f64)>) -> f64 {
    let (lower, upper) = bounds.unwrap_or((a.t.min(b.t), a.t.max(b.t)));
    let d1 = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.t - b.t);
    let square = d1 * d1 - a.slope * b.slope;
    if square < 0.0 || square.is_nan() {
        return (lower + upper) / 2.0;
    }
    let d2 = square.sqrt();
    let (left, right) = if a.t <= b.t { (a, b) } else { (b, a) };
    let t = right.t - (right.t - left.t) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2.0 * d2));
    t.max(lower).min(upper)
}
