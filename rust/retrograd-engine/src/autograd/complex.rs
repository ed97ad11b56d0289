//! Rules that are written for real numbers, run for complex ones.
//!
//! A gradient is `dL/dRe + i dL/dIm` (torch's convention), so a VJP is `J^H g`. A rule written for real numbers
//! computes `J^T g`, and `J^H g = conj(J^T conj(g))` where the op is complex-analytic. The conjugates are ops, so what
//! is differentiated again, and forward over reverse, follow by themselves. A real operand takes the real part.

use super::arith::{conj, real};
use super::erased::AnyPrimitive;
use super::node::{Grads, NodeRef, Run};
use super::primitive::{ComplexRule, Vjp};
use super::saved::SavedTensors;
use crate::error::Result;
use crate::tensor::Tensor;

/// Whether a gradient is complex: then the rule is run by [`vjp`].
#[inline]
pub(super) fn any(grads: &[Option<Tensor>]) -> bool {
    grads.iter().flatten().any(|g| g.dtype().is_complex())
}

/// Runs a rule for complex gradients.
#[cold]
pub(super) fn vjp(
    op: &dyn AnyPrimitive,
    node: &NodeRef,
    grads: &[Option<Tensor>],
    saved: SavedTensors,
    run: Run,
) -> Result<Grads> {
    let rule = op.facts().complex;
    let given = before(rule, grads)?;
    after(rule, node, op.vjp(&Vjp { node, grads: &given, saved, run })?)
}

/// The gradients that the rule is given.
fn before(rule: ComplexRule, grads: &[Option<Tensor>]) -> Result<Grads> {
    match rule {
        ComplexRule::Analytic => grads.iter().map(|g| g.as_ref().map(conj).transpose()).collect(),
        ComplexRule::RealLinear | ComplexRule::Own => Ok(grads.iter().cloned().collect()),
    }
}

/// The gradients of the operands, of what the rule returned.
fn after(rule: ComplexRule, node: &NodeRef, mut results: Grads) -> Result<Grads> {
    for (i, result) in results.iter_mut().enumerate() {
        let Some(g) = result.as_ref().filter(|g| g.dtype().is_complex()) else { continue };
        // Of a complex number and of its conjugate the real part is the same.
        *result = Some(match node.input_meta(i) {
            Some((_, dtype)) if !dtype.is_complex() => real(g)?,
            _ if rule == ComplexRule::Analytic => conj(g)?,
            _ => continue,
        });
    }
    Ok(results)
}
