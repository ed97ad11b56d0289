//! What a graph holds, as tuples for `retrograd.utils.graph`: nothing is unpacked, and no object is made for a node.

use std::collections::HashSet;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use retrograd_engine::autograd::inspect::{SlotFacts, TensorFacts};
use retrograd_engine::autograd::{Edge, NodeRef, Output};
use retrograd_engine::call_site::CallSite;
use retrograd_engine::counted::Counted;

use crate::call::type_name;
use crate::errors::OrPy;
use crate::node::{call_node, unwrap_node};
use crate::wrap::unwrap;
use crate::{dtype, size};

fn id_of(node: &NodeRef) -> usize {
    Counted::as_ptr(node).addr()
}

/// The fields of `_facts.Held`, in their order.
fn of_tensor<'py>(py: Python<'py>, t: &TensorFacts) -> PyResult<Bound<'py, PyTuple>> {
    let base = t.base.as_ref().map(|base| of_tensor(py, base)).transpose()?;
    let who = (t.id, t.handles, t.own_bytes).into_pyobject(py)?;
    let memory = (t.memory, t.storage_bytes, t.sharers, t.is_foreign).into_pyobject(py)?;
    let what = (size::size(py, &t.sizes)?, dtype::object(py, t.dtype)?, t.requires_grad).into_pyobject(py)?;
    let rest = (t.is_number, t.version, t.written.0, base).into_pyobject(py)?;
    PyTuple::new(py, [who, memory, what, rest].iter().flat_map(|part| part.iter()).collect::<Vec<_>>())
}

/// The fields of `_facts.Facts`, in their order.
fn of_node<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyTuple>> {
    let rule = node.rule();
    let outputs: Vec<_> = node
        .outputs()
        .iter()
        .map(|o| (size::size(py, &o.sizes)?, dtype::object(py, o.dtype)?).into_pyobject(py))
        .collect::<PyResult<_>>()?;
    let edges: Vec<Option<(usize, u32)>> = node
        .next_edges()
        .map(|edge| {
            edge.map(|edge| match edge {
                Edge::Node(output) => (id_of(&output.node), output.nr),
                Edge::Leaf(leaf) => (leaf.id(), 0),
            })
        })
        .collect();
    let saved: Vec<_> = node
        .saved_facts()
        .into_iter()
        .map(|(slot, facts)| {
            let (tensor, output) = match &facts {
                SlotFacts::Tensor { tensor, output } => (Some(of_tensor(py, tensor)?), *output),
                SlotFacts::Packed => (None, None),
            };
            (rule.slot_name(slot), tensor, output).into_pyobject(py)
        })
        .collect::<PyResult<_>>()?;
    (
        id_of(node),
        node.name(),
        node.own_bytes(),
        node.origin().0,
        PyTuple::new(py, outputs)?,
        PyTuple::new(py, edges)?,
        PyTuple::new(py, saved)?,
        rule.saved_slots().is_some_and(|saved| saved.is_freed()),
    )
        .into_pyobject(py)
}

/// The nodes and the leaves that the tensors or nodes `roots` lead to: those with the highest sequence numbers first.
#[pyfunction]
fn _graph_facts<'py>(
    py: Python<'py>,
    roots: Vec<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let (mut seen, mut nodes, mut leaves) = (HashSet::new(), Vec::<NodeRef>::new(), Vec::new());
    let mut reach = |edge: &Edge, nodes: &mut Vec<NodeRef>| match edge {
        Edge::Node(output) => {
            if seen.insert(id_of(&output.node)) {
                nodes.push(output.node.clone());
            }
        }
        Edge::Leaf(leaf) => {
            if seen.insert(leaf.id()) {
                leaves.push(TensorFacts::of(leaf));
            }
        }
    };
    for root in &roots {
        let edge = match (unwrap(root), unwrap_node(root)) {
            (Some(t), _) => t.grad_edge().or_py()?,
            (None, Some(node)) => Some(Edge::from(Output { node, nr: 0 })),
            (None, None) => {
                let what = type_name(root);
                return Err(PyTypeError::new_err(format!("expected a Tensor, a Node or a GradientEdge, not {what}")));
            }
        };
        if let Some(edge) = edge {
            reach(&edge, &mut nodes);
        }
    }
    let mut next = 0;
    while let Some(node) = nodes.get(next).cloned() {
        next += 1;
        node.next_edges().flatten().for_each(|edge| reach(edge, &mut nodes));
    }
    nodes.sort_by_key(|node| std::cmp::Reverse(node.number()));
    let nodes = nodes.iter().map(|node| of_node(py, node)).collect::<PyResult<Vec<_>>>()?;
    let leaves = leaves.iter().map(|leaf| of_tensor(py, leaf)).collect::<PyResult<Vec<_>>>()?;
    Ok((PyList::new(py, nodes)?, PyList::new(py, leaves)?))
}

/// A tensor in numbers.
#[pyfunction]
fn _tensor_facts<'py>(py: Python<'py>, t: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let t = unwrap(t).ok_or_else(|| PyTypeError::new_err(format!("expected a Tensor, not {}", type_name(t))))?;
    of_tensor(py, &TensorFacts::of(t))
}

/// File, line, function and text of a place that facts name by its number; None if it is not known.
#[pyfunction]
fn _place(number: u64) -> Option<(String, u32, String, Option<String>)> {
    CallSite(number).location().map(|at| (at.file, at.line, at.function, at.text))
}

/// Runs the rule of a node, which may be the ctx of a custom function, outside of the engine: without hooks, and
/// without freeing anything.
#[pyfunction]
fn _run_rule<'py>(node: &Bound<'py, PyAny>, grads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let node = unwrap_node(node).ok_or_else(|| PyTypeError::new_err("expected a Node"))?;
    call_node(grads.py(), &node, grads)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_graph_facts, m)?)?;
    m.add_function(wrap_pyfunction!(_tensor_facts, m)?)?;
    m.add_function(wrap_pyfunction!(_place, m)?)?;
    m.add_function(wrap_pyfunction!(_run_rule, m)?)
}
