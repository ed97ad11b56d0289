//! `cdist`: the distances between the rows of two matrices.

use retrograd_macros::op;
use smallvec::smallvec;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::kernels::distance::{self, Norm};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, numel};
use crate::tensor::{Dims, Dtypes, Scalar, Tensor};

fn number(x: f64) -> Result<Tensor> {
    Tensor::number(Scalar::Float(x))
}

/// The distances between all rows of `x1` and all rows of `x2`, which have the same leading sizes.
#[derive(Clone, Debug)]
struct Cdist {
    norm: Norm,
}

/// `[entries, rows, others, size]` of operands with the same leading sizes.
fn extents(x1: &Tensor, x2: &Tensor) -> [usize; 4] {
    let (s, d) = (x1.sizes(), x1.ndim());
    [numel(&s[..d - 2]), s[d - 2], x2.sizes()[d - 2], s[d - 1]]
}

/// What distances (.., 1) of rows change by with the differences of the rows.
pub(super) fn slopes(norm: Norm, difference: &Tensor, distances: &Tensor) -> Result<Tensor> {
    let zero = number(0.0)?;
    let p = norm.p();
    if p == 0.0 {
        return difference.mul(&zero);
    }
    if p == 1.0 {
        return difference.sign();
    }
    let one = number(1.0)?;
    let apart = distances.masked_fill(&distances.eq(&zero)?, &one)?;
    if p.is_infinite() {
        let largest = difference.detach().abs()?.eq(&distances.detach())?;
        return difference.sign()?.mul(&largest);
    }
    // Where a difference is zero so is its derivative; the power there is kept from being infinite.
    let power = |e: f64| {
        let still = difference.detach().eq(&zero)?;
        difference.abs()?.masked_fill(&still, &one)?.power(e)
    };
    let derivative = if p == 2.0 {
        difference.div(&apart)?
    } else if p > 2.0 {
        difference.mul(&power(p - 2.0)?)?.div(&apart.power(p - 1.0)?)?
    } else {
        difference.sign()?.mul(&power(p - 1.0)?)?.div(&apart.power(p - 1.0)?)?
    };
    where_(&distances.detach().eq(&zero)?, &zero, &derivative)
}

impl Cdist {
    /// What the distance of each pair of rows changes by with their difference.
    fn derivatives(&self, x1: &Tensor, x2: &Tensor, distances: &Tensor) -> Result<Tensor> {
        slopes(self.norm, &x1.unsqueeze(-2)?.sub(&x2.unsqueeze(-3)?)?, &distances.unsqueeze(-1)?)
    }
}

impl Primitive for Cdist {
    const NAME: &'static str = "cdist";
    const SAVE: &'static [Save] = &[Save::input(0, "x1"), Save::input(1, "x2"), Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; p: op.norm.p());
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let (a, b) = (view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        Ok((out(apply1(p.clone(), &[&a, &b])?), smallvec![Some(0)]))
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let [x1, x2] = [copy::contiguous(xs[0])?, copy::contiguous(xs[1])?];
        let shape @ [_, rows, others, _] = extents(&x1, &x2);
        let mut sizes = Dims::from_slice(&x1.sizes()[..x1.ndim() - 2]);
        sizes.extend([rows, others]);
        const WHY: &str = "contiguous and of this dtype";
        match_dtype!(floats, x1.dtype(), T => Tensor::build::<T>(&sizes, |to| {
            let (a, b) = (x1.as_slice::<T>().expect(WHY), x2.as_slice::<T>().expect(WHY));
            distance::all(self.norm, a, b, shape, to);
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, x1, x2, result) = (cx.g(), cx.saved(0)?, cx.saved(1)?, cx.saved(2)?);
        if cx.differentiating() {
            let scaled = self.derivatives(x1, x2, result)?.mul(&g.unsqueeze(-1)?)?;
            let first = cx.when(0, || scaled.sum_dims(&[-2], false))?;
            return Ok(smallvec![first, cx.when(1, || scaled.sum_dims(&[-3], false)?.neg())?]);
        }
        let [g, x1, x2, result] =
            [copy::contiguous(g)?, copy::contiguous(x1)?, copy::contiguous(x2)?, copy::contiguous(result)?];
        const WHY: &str = "contiguous and of this dtype";
        let grad = |x1: &Tensor, x2: &Tensor, flipped: bool| {
            match_dtype!(floats, x1.dtype(), T => Tensor::build::<T>(x1.sizes(), |to| {
                let [a, b, g, d] = [x1, x2, &g, &result].map(|x| x.as_slice::<T>().expect(WHY));
                distance::backward(self.norm, a, b, g, d, flipped, extents(x1, x2), to);
            }))
        };
        let first = cx.when(0, || grad(&x1, &x2, false))?;
        Ok(smallvec![first, cx.when(1, || grad(&x2, &x1, true))?])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let derivatives = op.derivatives(cx.xs[0], cx.xs[1], &cx.outs[0])?;
        let change = match (cx.t(0), cx.t(1)) {
            (None, None) => return Ok(maybe(None)),
            (Some(a), None) => a.unsqueeze(-2)?,
            (None, Some(b)) => b.unsqueeze(-3)?.neg()?,
            (Some(a), Some(b)) => a.unsqueeze(-2)?.sub(&b.unsqueeze(-3)?)?,
        };
        derivatives.mul(&change)?.sum_dims(&[-1], false).map(Some).map(maybe)
    });
}

/// `cdist` for `p = 2` by one product of matrices: `|a - b|^2 = |a|^2 - 2 a b + |b|^2`. Reverse, with `r = g / result`:
/// `a sum(r) - r b` and `b sum(r) - r^T a`.
#[derive(Clone, Debug)]
struct Euclidean;

impl Euclidean {
    /// `g / result`, zero where the distance is.
    fn ratio(g: &Tensor, result: &Tensor) -> Result<Tensor> {
        let same = result.detach().eq(&number(0.0)?)?;
        g.div(result)?.masked_fill(&same, &number(0.0)?)
    }
}

impl Primitive for Euclidean {
    const NAME: &'static str = "cdist";
    const NODE: &'static str = "EuclideanDistBackward0";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "x1"), Save::input(1, "x2")];
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let (a, b) = (view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        Ok((out(apply1(p.clone(), &[&a, &b])?), smallvec![Some(0)]))
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0].detach(), xs[1].detach());
        let squares = |x: &Tensor| x.square()?.sum_dims(&[-1], true);
        let ones = |x: &Tensor| {
            let mut sizes = Dims::from_slice(x.sizes());
            *sizes.last_mut().expect("a matrix") = 1;
            Tensor::ones(&sizes, x.dtype())
        };
        let left = view::cat(&[a.times(-2.0)?, squares(&a)?, ones(&a)?], -1)?;
        let right = view::cat(&[b.clone(), ones(&b)?, squares(&b)?], -1)?;
        left.matmul(&right.transpose(-2, -1)?)?.clamp_min(&number(0.0)?)?.sqrt().map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (result, a, b) = (cx.saved(0)?, cx.saved(1)?, cx.saved(2)?);
        let r = Self::ratio(cx.g(), result)?;
        let first = cx.when(0, || a.mul(&r.sum_dims(&[-1], true)?)?.sub(&r.matmul(b)?))?;
        let second =
            cx.when(1, || b.mul(&r.sum_dims(&[-2], false)?.unsqueeze(-1)?)?.sub(&r.transpose(-2, -1)?.matmul(a)?))?;
        Ok(smallvec![first, second])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let (a, b, result) = (cx.xs[0], cx.xs[1], &cx.outs[0]);
        // The change of half the square of each distance.
        let inner = |x: &Tensor, t: &Tensor| x.mul(t)?.sum_dims(&[-1], true);
        let by_a = |t: &Tensor| inner(a, t)?.sub(&t.matmul(&b.transpose(-2, -1)?)?);
        let by_b = |t: &Tensor| inner(b, t)?.transpose(-2, -1)?.sub(&a.matmul(&t.transpose(-2, -1)?)?);
        let half = Jvp::sum([cx.t(0).map(by_a).transpose()?, cx.t(1).map(by_b).transpose()?])?;
        half.map(|half| Self::ratio(&half, result)).transpose().map(maybe)
    });
}

/// The operand with the given leading sizes.
fn expanded(x: &Tensor, lead: &[usize]) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(lead);
    sizes.extend_from_slice(&x.sizes()[x.ndim() - 2..]);
    view::expand_to(x, &sizes)
}

/// The distances between the rows of two matrices, or of two batches of them.
///
/// Args: `x1` (..., p, m), `x2` (..., r, m), float32 or float64, whose leading sizes broadcast; `p` the norm of the
/// differences, 0 or more; `compute_mode` for `p=2`: 'use_mm_for_euclid_dist' expands the square, which is faster and
/// less exact, 'donot_use_mm_for_euclid_dist' does not, 'use_mm_for_euclid_dist_if_necessary' does so for more than 25
/// rows.
/// Returns: a tensor of sizes (..., p, r). Derivative: that of the norm, zero where the distance is. Raises:
/// RuntimeError for other shapes or dtypes or a negative `p`; ValueError for another mode.
///
/// >>> rg.cdist(rg.tensor([[0.0, 0.0]]), rg.tensor([[3.0, 4.0], [1.0, 0.0]])).tolist()
/// [[5.0, 1.0]]
#[op(function, "(p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary')")]
pub fn cdist(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: &str) -> Result<Tensor> {
    const OP: &str = "cdist";
    const BOUND: usize = 25;
    for (x, name) in [(x1, "X1"), (x2, "X2")] {
        if x.ndim() < 2 {
            return Err(Error::shape(
                OP,
                format!("cdist only supports at least 2D tensors, {name} got: {}D", x.ndim()),
            ));
        }
        if !x.dtype().is_floating() {
            return Err(Error::dtype(
                OP,
                format!("cdist only supports floating-point dtypes, {name} got: {}", x.dtype().scalar_type_name()),
            ));
        }
    }
    if x1.dtype() != x2.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "expected scalar type {} but found {}: both tensors must have one dtype",
                x1.dtype().name(),
                x2.dtype().name()
            ),
        ));
    }
    let [rows, others] = [x1, x2].map(|x| x.sizes()[x.ndim() - 2]);
    let [m1, m2] = [x1, x2].map(|x| x.sizes()[x.ndim() - 1]);
    if m1 != m2 {
        return Err(Error::shape(OP, format!("X1 and X2 must have the same number of columns. X1: {m1} X2: {m2}")));
    }
    if p.is_nan() || p < 0.0 {
        return Err(Error::shape(OP, format!("cdist only supports non-negative p values, got {p}")));
    }
    let expand = match compute_mode {
        "use_mm_for_euclid_dist" => true,
        "donot_use_mm_for_euclid_dist" => false,
        "use_mm_for_euclid_dist_if_necessary" => rows > BOUND || others > BOUND,
        other => return Err(Error::value(OP, format!("{other} is not a valid value for compute_mode"))),
    };
    let lead = broadcast(OP, &x1.sizes()[..x1.ndim() - 2], &x2.sizes()[..x2.ndim() - 2])?;
    let (x1, x2) = (expanded(x1, &lead)?, expanded(x2, &lead)?);
    if p == 2.0 && expand && x1.numel() > 0 && x2.numel() > 0 {
        return apply1(Euclidean, &[&x1, &x2]);
    }
    apply1(Cdist { norm: Norm::of(p) }, &[&x1, &x2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for p in [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            for mode in ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"] {
                let xs = [noise(1, &[2, 3, 4]), noise(2, &[5, 4])];
                gradcheck(&|xs| cdist(&xs[0], &xs[1], p, mode), &xs);
            }
        }
    }

    #[test]
    fn the_kernel_equals_the_rule() {
        let _reading = crate::storage::reclaim::reading();
        let (a, b, g) = (noise(1, &[3, 4]), noise(2, &[5, 4]), noise(3, &[3, 5]));
        for p in [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            let op = Cdist { norm: Norm::of(p) };
            let result = op.forward(&[&a, &b]).unwrap().remove(0);
            let scaled = op.derivatives(&a, &b, &result).unwrap().mul(&g.unsqueeze(-1).unwrap()).unwrap();
            let want = scaled.sum_dims(&[-2], false).unwrap().to_vec::<f64>().unwrap();
            let mut got = vec![0.0; 12];
            let [a, b, g, d] = [&a, &b, &g, &result].map(|x| x.as_slice::<f64>().unwrap());
            distance::backward(op.norm, a, b, g, d, false, [1, 3, 5, 4], &mut got);
            assert!(want.iter().zip(&got).all(|(x, y)| (x - y).abs() < 1e-12), "{p}");
        }
    }
}
