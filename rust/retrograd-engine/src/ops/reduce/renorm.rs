//! `renorm`: slices scaled down to a largest norm.

use retrograd_macros::op;

use super::ReduceAxes;
use super::norm::{check_float, norm_jvp, norm_of, norm_of_memory, norm_vjp};
use super::sum::sum_of;
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{
    Batch, ComplexRule, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::ops::pointwise::complex::{conj_physical as conj, real_part as real};
use crate::ops::pointwise::select::where_;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dtypes, Scalar, Tensor};

/// What is added to a norm before it divides, as in torch.
const EPS: f64 = 1e-7;

/// `renorm`: `x * s`, with `s = maxnorm / (norm + eps)` for slices whose norm is larger than `maxnorm`, else 1.
/// Reverse, where `n'` is the derivative of the norm: `s * (g - n' * sum(g * x) / (norm + eps))`.
#[derive(Clone, Debug)]
struct Renorm {
    p: Scalar,
    dim: i64,
    maxnorm: Scalar,
    /// All axes but that of the slices, kept.
    over: ReduceAxes,
}

impl Renorm {
    /// The norms, and which are too large.
    fn norms(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let norm = norm_of(x, self.p.as_f64(), &self.over)?;
        let large = self.too_large(&norm)?;
        Ok((norm, large))
    }
    fn too_large(&self, norm: &Tensor) -> Result<Tensor> {
        norm.gt(&Tensor::number(Scalar::Float(self.maxnorm.as_f64()))?)
    }
    /// `maxnorm / (norm + eps)`, and `1 / (norm + eps)`.
    fn scales(&self, norm: &Tensor) -> Result<(Tensor, Tensor)> {
        let inverse = norm.plus(EPS)?.reciprocal()?;
        Ok((inverse.times(self.maxnorm.as_f64())?, inverse))
    }
}

impl Primitive for Renorm {
    const NAME: &'static str = "renorm";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim, maxnorm, p);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::COMPLEX).or(Dtypes::HALVES);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, _| Ok(Self { over: p.over.lifted(ndims[0]), ..p.clone() }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0].detach();
        let norm = norm_of_memory(&x, self.p.as_f64(), &self.over)?;
        let one = Tensor::number(Scalar::Int(1))?;
        x.mul(&where_(&self.too_large(&norm)?, &self.scales(&norm)?.0, &one)?).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, g) = (cx.saved(0)?, cx.g());
        let (norm, large) = self.norms(x)?;
        let (scale, inverse) = self.scales(&norm)?;
        let along = if x.dtype().is_complex() { real(&conj(x)?.mul(g)?)? } else { x.mul(g)? };
        let along = sum_of(&along, self.over.clone(), None)?;
        let by_norm = norm_vjp(&along, x, &norm, self.p.as_f64(), &self.over)?;
        where_(&large, &scale.mul(&g.sub(&inverse.mul(&by_norm)?)?)?, g).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let x = cx.xs[0];
        let (norm, large) = op.norms(x)?;
        let (scale, inverse) = op.scales(&norm)?;
        let change = sum_of(&norm_jvp(t, x, &norm, op.p.as_f64(), &op.over)?, op.over.clone(), None)?;
        where_(&large, &scale.mul(&t.sub(&x.mul(&inverse.mul(&change)?)?)?)?, t).map(one)
    });
}

/// `input` with the slices along a dimension whose norm is larger than `maxnorm` scaled down to that norm.
///
/// Args: `input` a floating or complex dtype with 2 or more dims; `p` the order of the norm, positive; `dim` the
/// dimension whose indices name the slices; `maxnorm` not negative. Returns: the same shape. Derivative: `g` for a
/// slice that stays; else, with `s = maxnorm / norm`, `s * (g - n' * sum(g * input) / norm)` where `n'` is the
/// derivative of the norm.
/// Raises: IndexError for a dimension out of range; RuntimeError for fewer dims, integers, or numbers out of range.
///
/// >>> rg.renorm(rg.tensor([[3.0, 4.0], [0.6, 0.8]]), 2, 0, 2.5).tolist()[1]
/// [0.6000000238418579, 0.800000011920929]
#[op(function, method, inplace, out = SAME)]
pub fn renorm(input: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    const OP: &str = "renorm";
    let refused = |detail: String| Err(Error::shape(OP, format!("renorm: {detail}")));
    if p.dtype().is_complex() {
        return refused("p must be real-valued".into());
    }
    if p.as_f64().is_nan() || p.as_f64() <= 0.0 {
        return refused("non-positive-norm not supported".into());
    }
    if maxnorm.dtype().is_complex() {
        return refused("maxnorm must be real-valued".into());
    }
    if maxnorm.as_f64().is_nan() || maxnorm.as_f64() < 0.0 {
        return refused(format!("expected maxnorm to be >= 0 but got {}", maxnorm.as_f64()));
    }
    if input.ndim() < 2 {
        return refused(format!("input needs at least 2 dimensions, got {} dimensions", input.ndim()));
    }
    check_float("linalg.vector_norm", input, None)?;
    let axis = wrap_dim(OP, dim, input.ndim())?;
    let others: Vec<i64> = (0..input.ndim() as i64).filter(|&other| other != axis as i64).collect();
    let over = ReduceAxes::dims(OP, Some(&others), input.ndim(), true)?;
    apply_as(form, Renorm { p, dim, maxnorm, over }, &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for p in [0.5, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            let f = |xs: &[Tensor]| xs[0].renorm(Scalar::Float(p), 1, Scalar::Float(0.7))?.exp();
            gradcheck(&f, &[noise(1, &[3, 4])]);
        }
        assert!(noise(1, &[3]).renorm(Scalar::Int(2), 0, Scalar::Int(1)).is_err());
    }
}
