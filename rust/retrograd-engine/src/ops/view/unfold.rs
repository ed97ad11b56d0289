//! `unfold`: windows of an axis.

use retrograd_macros::op;

use super::view_op::{Layout, ViewOp, apply_view, with_batch};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::real::Ring;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Dtypes, Tensor};

/// `unfold`: windows of `size` along an axis, which counts them, in steps of `step`; their elements along a new last
/// axis. Reverse: every element is given the sum over the windows that it is in.
#[derive(Clone, Debug)]
struct Unfold {
    dim: usize,
    size: usize,
    step: usize,
    from: Dims,
}

impl ViewOp for Unfold {
    const NAME: &'static str = "unfold";
    const PARAMS: Params<Self> = params!(op; dimension: op.dim, self_sym_sizes: &*op.from, size, step);
    const BATCH: Batch<super::view_op::Viewed<Self>> = Batch::Rule(|p, xs, axes, batch| {
        let mut x = super::batch_first(xs[0], axes[0], batch)?;
        let flat = x.ndim() == 1;
        if flat {
            x = x.unsqueeze(1)?;
        }
        let (p, mut y) = (&p.0, x);
        y = unfold(&y, p.dim as i64 + 1, p.size as i64, p.step as i64)?;
        // A 0-dim tensor has one window; it is not counted.
        Ok((out(if flat { y.select(1, 0)? } else { y }), smallvec::smallvec![Some(0)]))
    });
    fn node(&self) -> &'static str {
        "UnfoldBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        let Some(&n) = x.sizes().get(self.dim) else {
            (l.sizes, l.strides) = (smallvec::smallvec![self.size], smallvec::smallvec![1]);
            return Ok(l);
        };
        l.sizes[self.dim] = (n - self.size) / self.step + 1;
        l.sizes.push(self.size);
        l.strides.push(x.strides()[self.dim]);
        l.strides[self.dim] = x.strides()[self.dim].saturating_mul(self.step as isize);
        Ok(l)
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        apply1(Fold(self.clone()), &[g])
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { dim: self.dim + 1, from: with_batch(&self.from, batch), ..*self }
    }
}

/// The sum of windows into the axis that they are of. Reverse: the windows of `g`.
#[derive(Clone, Debug)]
struct Fold(Unfold);

impl Primitive for Fold {
    const NAME: &'static str = "unfold_backward";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::INTEGRAL);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let g = super::batch_first(xs[0], axes[0], batch)?;
        let p = &p.0;
        if p.from.is_empty() {
            return Ok((out(g.sum_dims(&[1], false)?), smallvec::smallvec![Some(0)]));
        }
        Ok((out(apply1(Fold(p.lift(p.from.len(), batch)), &[&g])?), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        fn add<T: Ring>(g: &[T], to: &mut [T], windows: usize, n: usize, after: usize, p: &Unfold) {
            for (g, to) in
                g.chunks_exact((windows * after * p.size).max(1)).zip(to.chunks_exact_mut((n * after).max(1)))
            {
                for w in 0..windows {
                    for a in 0..after {
                        for i in 0..p.size {
                            let place = &mut to[(w * p.step + i) * after + a];
                            *place = place.add(g[(w * after + a) * p.size + i]);
                        }
                    }
                }
            }
        }
        let p = &self.0;
        let g = copy::contiguous(xs[0])?;
        let (n, windows, after) = match p.from.get(p.dim) {
            Some(&n) => (n, xs[0].sizes()[p.dim], p.from[p.dim + 1..].iter().product()),
            None => (1, 1, 1),
        };
        match_dtype!(fields, g.dtype(), T => Tensor::build::<T>(&p.from, |to| {
            to.fill(T::ZERO);
            add(g.as_slice::<T>().unwrap_or(&[]), to, windows, n, after, p);
        }))
        .map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply_view(self.0.clone(), cx.g()).map(one)
    }
}

/// The sum of windows, along the last axis of `x` and counted by `dim`, `step` apart, in an axis of `n` elements.
pub(crate) fn overlap_add(x: &Tensor, dim: usize, n: usize, step: usize) -> Result<Tensor> {
    let (&size, sizes) = x.sizes().split_last().expect("windows");
    let mut from = Dims::from_slice(sizes);
    from[dim] = n;
    apply1(Fold(Unfold { dim, size, step, from }), &[x])
}

/// Windows of an axis, as a view: the axis counts them, and their elements are along a new last axis.
///
/// Args: `dimension` the axis; `size` of a window; `step` from one to the next. Returns: a view in which windows that
/// overlap share memory. Derivative: `g` summed over the windows. Raises: IndexError if the axis does not exist;
/// RuntimeError if a window is larger than the axis, or `size` or `step` is negative or `step` zero.
///
/// >>> rg.tensor([1.0, 2.0, 3.0]).unfold(0, 2, 1).tolist()
/// [[1.0, 2.0], [2.0, 3.0]]
#[op(method)]
pub fn unfold(input: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
    let dim = wrap_dim("unfold", dimension, input.ndim())?;
    let n = input.sizes().get(dim).copied().unwrap_or(1);
    if size < 0 {
        return Err(Error::shape("unfold", format!("size is {size} but must be >= 0")));
    }
    if size as usize > n {
        return Err(Error::shape(
            "unfold",
            format!("maximum size for tensor at dimension {dim} is {n} but size is {size}"),
        ));
    }
    if step <= 0 {
        return Err(Error::shape("unfold", format!("step is {step} but must be > 0")));
    }
    apply_view(Unfold { dim, size: size as usize, step: step as usize, from: Dims::from_slice(input.sizes()) }, input)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[2, 5, 3]);
        for (dim, size, step) in [(1, 3, 1), (1, 2, 3), (-1, 3, 2), (0, 1, 1), (1, 0, 2)] {
            gradcheck(&|xs| xs[0].unfold(dim, size, step)?.exp(), from_ref(&x));
        }
        gradcheck(&|xs| xs[0].unfold(0, 1, 1)?.exp(), &[noise(2, &[])]);
        assert!(x.unfold(0, 3, 1).is_err() && x.unfold(0, -1, 1).is_err() && x.unfold(0, 1, 0).is_err());
        assert!(x.unfold(1, 2, i64::MAX).is_ok());
    }
}
