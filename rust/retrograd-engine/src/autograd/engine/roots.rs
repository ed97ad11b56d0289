//! Where a run begins: the gradients of its roots, and calls from Rust.

use super::{Backward, Root, Target, run, validate};
use crate::autograd::mode;
use crate::autograd::node::{Edge, Grads, Node, NodeRef, OutMeta, Run};
use crate::error::{Error, Result};
use crate::profiler;
use crate::tensor::{Tensor, layout};
use crate::transforms;

#[cold]
fn not_scalar(sizes: &[usize], what: &str, index: usize) -> Error {
    Error::autograd(format!(
        "grad can be implicitly created only for scalar outputs: the {what} {index} has shape {}; pass a gradient, or reduce it \
         with .sum() first",
        crate::error::Shape(sizes)
    ))
}

/// The gradient a root starts with: the given one after checks, or ones for a root with one element.
pub fn root_grad(edge: &Edge, given: Option<&Tensor>, index: usize, what: &str) -> Result<Tensor> {
    let (sizes, dtype) = edge.expects();
    match given {
        None => {
            if layout::numel(sizes) != 1 {
                return Err(not_scalar(sizes, what, index));
            }
            if !dtype.is_floating() {
                return Err(Error::autograd(format!(
                    "grad can be implicitly created only for real scalar outputs but got {}",
                    dtype.name()
                )));
            }
            let _op = profiler::op("ones_like", false, Vec::new);
            Tensor::full(sizes, 1i64.into(), dtype)
        }
        Some(g) => {
            if g.sizes() != sizes {
                return Err(Error::autograd(format!(
                    "Mismatch in shape: grad_output[{index}] has a shape of {:?} and output[{index}] has a shape of {:?}.",
                    g.sizes(),
                    sizes
                )));
            }
            if g.dtype().is_complex() != dtype.is_complex() {
                return Err(Error::autograd(format!(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: \
                     grad_output[{index}] has a dtype of {} and output[{index}] has a dtype of {}.",
                    g.dtype().name(),
                    dtype.name()
                )));
            }
            if g.dtype() == dtype { Ok(g.clone()) } else { crate::autograd::arith::cast(g, dtype) }
        }
    }
}

/// Accumulates the gradient of a scalar `loss` into `.grad` of every leaf it depends on.
///
/// ```
/// use retrograd_engine::{Tensor, autograd};
/// let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0], &[3]).unwrap();
/// x.set_requires_grad(true).unwrap();
/// let loss = x.mul(&x).unwrap().sum(None).unwrap();
/// autograd::backward(&loss).unwrap();
/// assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [2.0, 4.0, 6.0]);
/// ```
pub fn backward(loss: &Tensor) -> Result<()> {
    let roots = vec![root(loss, None, 0)?];
    run(Backward { roots, retain_graph: false, create_graph: false, targets: Vec::new() }).map(drop)
}

/// Gradients of the scalar `loss` with respect to `inputs`; `None` for inputs it does not depend on.
pub fn grad(loss: &Tensor, inputs: &[&Tensor], create_graph: bool) -> Result<Vec<Option<Tensor>>> {
    let targets = inputs
        .iter()
        .map(|x| {
            x.grad_edge()?.map(Target::Capture).ok_or_else(|| {
                Error::autograd(
                    "One of the differentiated Tensors does not require grad: mark it with set_requires_grad",
                )
            })
        })
        .collect::<Result<_>>()?;
    inputs.iter().try_for_each(|x| transforms::check_apart(loss, x))?;
    let roots = vec![root(loss, None, 0)?];
    let grads = run(Backward { roots, retain_graph: create_graph, create_graph, targets })?;
    let of_entry = |(g, x): (Option<Tensor>, &&Tensor)| g.map(|g| transforms::joined(&g, x)).transpose();
    grads.into_iter().zip(inputs).map(of_entry).collect()
}

/// A root made of a tensor and its optional gradient.
pub fn root(t: &Tensor, grad: Option<&Tensor>, index: usize) -> Result<Root> {
    let Some(edge) = t.grad_edge()? else {
        return Err(Error::autograd(format!(
            "element {index} of tensors does not require grad and does not have a grad_fn: no input of the ops that made it \
             requires grad, or they ran inside no_grad"
        )));
    };
    if !t.is_batched() {
        return Ok(Root { grad: root_grad(&edge, grad, index, "root")?, edge });
    }
    // The graph is that of the value, which has all entries.
    let (_, levels) = transforms::unwrap_levels(t);
    let one = match grad {
        Some(g) => g.clone(),
        None => Tensor::full(t.sizes(), 1i64.into(), t.dtype())?,
    };
    if grad.is_none() && t.numel() != 1 {
        return Err(not_scalar(t.sizes(), "root", index));
    }
    let all = transforms::move_to_levels(&one, &levels)?;
    Ok(Root { grad: root_grad(&edge, Some(&all), index, "root")?, edge })
}

impl Node {
    /// Runs the node's rule outside of the engine: the gradients of its inputs from those of its outputs.
    pub fn call(node: &NodeRef, grads: &[Option<Tensor>]) -> Result<Grads> {
        // Outputs that cannot have a gradient need not be given one.
        let given = |(i, meta): (usize, &OutMeta)| i < grads.len() || !meta.dtype.is_differentiable();
        if grads.len() > node.outputs.len() || !node.outputs.iter().enumerate().all(given) {
            return Err(Error::type_error(
                "Node",
                format!(
                    "expected {} arguments, got {} instead: {} has as many outputs",
                    node.outputs.len(),
                    grads.len(),
                    node.name()
                ),
            ));
        }
        let create_graph = mode::is_grad_enabled();
        let wanted = |needs, (i, edge): (usize, &Option<Edge>)| needs | u32::from(edge.is_some()) << i.min(31);
        let needs = node.edges.iter().enumerate().fold(0, wanted);
        let mut all: Grads = grads.into();
        all.resize(node.outputs.len(), None);
        let mut results = node.rule.apply(node, &all, Run { create_graph, frees: false, needs })?;
        validate(node, &mut results)?;
        Ok(node.shown(&results))
    }
}
