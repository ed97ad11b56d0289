//! A function that was called on fresh views of its argument, and recorded.
//!
//! Reverse mode needs no levels: a transform differentiates with respect to the views, and the graph shows what was
//! computed from them.

use crate::engine::autograd::engine::{self, Backward, Target, leads_elsewhere};
use crate::engine::ops::TensorOptions;
use crate::engine::ops::create::like::zeros_like;
use crate::engine::ops::memory::cloned;
use crate::engine::ops::view::shape::view_like;
use crate::engine::{Tensor, transforms};
use crate::tree::{Tree, flatten, template, unflatten};
use crate::{Error, Result};

/// The views, and how results leave the transform.
pub(super) struct Views {
    pub xs: Vec<Tensor>,
    /// Those of the views at which the graph ends.
    pub inner: Vec<Tensor>,
    /// Whether derivatives may have a graph.
    pub keep: bool,
}

impl Views {
    /// Calls a function on fresh views of its argument; `link` says whether they are part of the argument's graph.
    pub fn call<X: Tree, Y>(f: impl FnOnce(&X) -> Result<Y>, x: &X, link: bool) -> Result<(Self, Y)> {
        let given = flatten(x);
        let xs: Vec<Tensor> = given.iter().map(|x| differentiable(x, link)).collect::<Result<_>>()?;
        let inner = xs.iter().zip(&given).filter(|(_, g)| !(link && g.requires_grad())).map(|(x, _)| x.clone());
        let views = Self { inner: inner.collect(), keep: link, xs };
        // An op in place raises at a leaf. At a view that is part of a graph it does not.
        let linked: Vec<(&Tensor, u32)> = views.xs.iter().filter(|x| !x.is_leaf()).map(|x| (x, x.version())).collect();
        let result = f(&unflatten(x, views.xs.clone())?)?;
        if linked.iter().any(|(x, version)| x.version() != *version) {
            return Err(Error::autograd(
                "a leaf Variable that requires grad is being used in an in-place operation: an argument that is \
                 differentiated for was written to. Write to a clone of it.",
            ));
        }
        Ok((views, result))
    }

    /// Derivatives of these results have a graph only if it leads to something outside.
    pub fn see_whether_to_keep(&mut self, outs: &[Tensor]) -> Result<()> {
        let linked = self.inner.len() < self.xs.len();
        self.keep = self.keep && (linked || leads_elsewhere(outs, &self.inner)?);
        Ok(())
    }

    /// A result as it is seen from outside.
    pub fn settled(&self, t: &Tensor) -> Result<Tensor> {
        transforms::settled(t, &self.inner, self.keep)
    }

    /// A tree of results as it is seen from outside.
    pub fn settled_tree<Y: Tree>(&self, y: &Y) -> Result<Y> {
        y.map_tensors(&mut |t| self.settled(&t.0).map(crate::Tensor))
    }

    /// The gradients of `outs`, zeros where there is none; a missing cotangent stands for a one.
    pub fn vjp(
        &self,
        outs: &[Tensor],
        cotangents: &[Option<Tensor>],
        retain: bool,
        create: bool,
    ) -> Result<Vec<Tensor>> {
        let found = gradients(outs, cotangents, &self.xs, retain, create)?;
        zeros_if_none(found, &self.xs)
    }
}

/// A view of `x` that requires grad: with `link` part of the graph of x, if it has one, else the start of a graph.
fn differentiable(x: &Tensor, link: bool) -> Result<Tensor> {
    let copy = if x.is_inference() { Some(cloned(x)?) } else { None };
    let x = transforms::batch_at_all_levels(copy.as_ref().unwrap_or(x))?;
    let view = view_like(&x, &x)?;
    if link && x.requires_grad() { Ok(view) } else { transforms::variable(&view) }
}

/// Gradients of `outs` with respect to `xs`, `None` where there is none.
pub(super) fn gradients(
    outs: &[Tensor],
    cotangents: &[Option<Tensor>],
    xs: &[Tensor],
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<Option<Tensor>>> {
    let mut roots = Vec::with_capacity(outs.len());
    for (i, (out, g)) in outs.iter().zip(cotangents).enumerate() {
        if out.requires_grad() {
            roots.push(engine::root(out, g.as_ref(), i)?);
        } else if let Some(g) = g {
            check_cotangent(out, g, i)?;
        }
    }
    if roots.is_empty() || xs.is_empty() {
        return Ok(vec![None; xs.len()]);
    }
    if transforms::any() {
        for x in xs {
            outs.iter().filter(|y| y.requires_grad()).try_for_each(|y| transforms::check_apart(y, x))?;
        }
    }
    let target = |x: &Tensor| {
        x.target_edge()?.map(Target::Capture).ok_or_else(|| {
            Error::autograd(
                "One of the differentiated Tensors does not require grad: the function detached it in place",
            )
        })
    };
    let targets = xs.iter().map(target).collect::<Result<_>>()?;
    let found = engine::run(Backward { roots, retain_graph, create_graph, targets })?;
    let of_entry = |(g, x): (Option<Tensor>, &Tensor)| g.map(|g| transforms::joined(&g, x)).transpose();
    found.into_iter().zip(xs).map(of_entry).collect()
}

/// What the engine demands of the cotangent of a result that has a graph, for one that has none.
fn check_cotangent(out: &Tensor, g: &Tensor, index: usize) -> Result<()> {
    if g.sizes() == out.sizes() {
        return Ok(());
    }
    Err(Error::autograd(format!(
        "Mismatch in shape: grad_output[{index}] has a shape of {:?} and output[{index}] has a shape of {:?}.",
        g.sizes(),
        out.sizes()
    )))
}

pub(super) fn zeros_if_none(found: Vec<Option<Tensor>>, like: &[Tensor]) -> Result<Vec<Tensor>> {
    found.into_iter().zip(like).map(|(t, x)| t.map_or_else(|| zeros(x), Ok)).collect()
}

/// Zeros like a tensor.
pub(super) fn zeros(x: &Tensor) -> Result<Tensor> {
    zeros_like(x, TensorOptions::default(), None)
}

/// A recorded call of a function that returns a tree of tensors.
pub(super) struct Record<X, Y> {
    pub views: Views,
    pub outs: Vec<Tensor>,
    /// The argument and the result without tensors.
    pub x: X,
    pub y: Y,
}

impl<X: Tree, Y: Tree> Record<X, Y> {
    pub fn call(caller: &'static str, f: impl FnOnce(&X) -> Result<Y>, x: &X, link: bool) -> Result<Self> {
        let (mut views, y) = Views::call(f, x, link)?;
        let outs = flatten(&y);
        demand_tensors(caller, &outs)?;
        for out in &outs {
            if !out.dtype().is_differentiable() {
                return Err(Error::autograd(format!(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {}: \
                     return others with value_and_grad_aux",
                    out.dtype().name()
                )));
            }
        }
        views.see_whether_to_keep(&outs)?;
        Ok(Self { views, outs, x: template(x)?, y: template(&y)? })
    }

    /// The results as they are seen from outside.
    pub fn value(&self) -> Result<Y> {
        let outs = self.outs.iter().map(|out| self.views.settled(out)).collect::<Result<_>>()?;
        unflatten(&self.y, outs)
    }
}

pub(super) fn demand_tensors(caller: &str, outs: &[Tensor]) -> Result<()> {
    if outs.is_empty() {
        return Err(Error::autograd(format!(
            "{caller}: Expected f to be a function that has non-empty output: it returned a tree without tensors"
        )));
    }
    Ok(())
}
