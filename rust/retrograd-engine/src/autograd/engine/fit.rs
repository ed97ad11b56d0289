//! Gradients as the operands are that they are for.

use super::super::arith;
use super::super::node::{Edge, Grads, NodeRef};
use crate::error::{Error, Result};
use crate::tensor::{DType, Tensor, layout};

/// Brings every gradient to the size and dtype of the operand it is for.
pub(super) fn validate(node: &NodeRef, results: &mut Grads) -> Result<()> {
    if results.len() != node.edges.len() {
        let (name, expected, got) = (node.name(), node.edges.len(), results.len());
        if results.len() < expected || results.iter().skip(expected).any(Option::is_some) {
            return Err(Error::autograd(format!(
                "Function {name} returned an invalid number of gradients (expected {expected}, but got {got})"
            )));
        }
        results.truncate(expected);
    }
    for (i, (result, edge)) in results.iter_mut().zip(&node.edges).enumerate() {
        let Some(g) = result else { continue };
        let Some((sizes, dtype)) = edge.as_ref().map(Edge::expects) else {
            *result = None;
            continue;
        };
        if g.dtype() != dtype || !layout::same_sizes(g.sizes(), sizes) {
            *result = result.take().map(|g| fit(g, sizes, dtype, &node.name(), i)).transpose()?;
        }
    }
    Ok(())
}

/// A gradient reduced to the sizes of the operand it is for, and cast to its dtype.
pub(crate) fn fit(g: Tensor, sizes: &[usize], dtype: DType, node: &str, index: usize) -> Result<Tensor> {
    let g = if g.sizes() == sizes {
        g
    } else if layout::expands_to(sizes, g.sizes()) {
        arith::sum_to_size(&g, sizes)?
    } else {
        return Err(Error::autograd(format!(
            "Function {node} returned an invalid gradient at index {index} - got {:?} but expected shape compatible with {sizes:?}",
            g.sizes()
        )));
    };
    if g.dtype() == dtype {
        return Ok(g);
    }
    if g.dtype().is_complex() && !dtype.is_complex() {
        return Err(Error::autograd(format!(
            "Function {node} returned an invalid gradient at index {index} - got dtype {} but expected {}",
            g.dtype().name(),
            dtype.name()
        )));
    }
    arith::cast(&g, dtype)
}
