//! The engine's Python interface: backward, grad, edges, modes.

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use retrograd_engine::autograd::engine::{self, Backward, Root, Target, root_grad};
use retrograd_engine::autograd::forward::Level;
use retrograd_engine::autograd::node::{Edge, Output, WeakEdge, next_sequence_nr};
use retrograd_engine::autograd::observe::{Observed, observed};
use retrograd_engine::autograd::{anomaly, mode};
use retrograd_engine::{DType, Error, Tensor, transforms};

use crate::anythread::AnyThread;
use crate::call_site::{attached, detached};
use crate::errors::{OrPy, from_py, to_py};
use crate::node::{unwrap_node, wrap_node};
use crate::wrap::{unwrap, wrap, wrap_option};

/// A root or target: a tensor, or a `GradientEdge`.
enum Spot {
    Tensor(Tensor),
    Edge(Edge),
    /// An edge to an output that its node does not have: it receives nothing and passes nothing on.
    Nowhere,
}

fn spot(v: &Bound<'_, PyAny>, what: &str) -> PyResult<Spot> {
    if let Some(t) = unwrap(v) {
        return Ok(Spot::Tensor(t.clone()));
    }
    let (Ok(node), Ok(nr)) = (v.getattr("node"), v.getattr("output_nr")) else {
        return Err(PyRuntimeError::new_err(format!(
            "all {what} have to be Tensors or GradientEdges, but got {}",
            crate::call::type_name(v)
        )));
    };
    let Some(node) = unwrap_node(&node) else {
        return Err(PyRuntimeError::new_err(format!(
            "GradientEdge's first object must be an autograd.graph.Node but got {}",
            crate::call::type_name(&node)
        )));
    };
    Ok(match nr.extract::<u32>() {
        Ok(nr) if (nr as usize) < node.outputs().len() => Spot::Edge(Output { node, nr }.into()),
        _ => Spot::Nowhere,
    })
}

fn roots(tensors: &Bound<'_, PyTuple>, grads: &Bound<'_, PyTuple>) -> PyResult<Vec<Root>> {
    if let Some(g) = grads.iter().find(|g| unwrap(g).is_none() && !g.is_none()) {
        let got = crate::call::type_name(&g);
        return Err(PyTypeError::new_err(format!("gradients can be either Tensors or None, but got {got}")));
    }
    if tensors.len() != grads.len() {
        return Err(PyRuntimeError::new_err(format!("got {} tensors and {} gradients", tensors.len(), grads.len())));
    }
    let mut out = Vec::with_capacity(tensors.len());
    for (i, (t, g)) in tensors.iter().zip(grads.iter()).enumerate() {
        let g = unwrap(&g);
        out.push(match spot(&t, "outputs")? {
            Spot::Tensor(t) => engine::root(&t, g, i).or_py()?,
            Spot::Edge(edge) => Root { grad: root_grad(&edge, g, i, "root").or_py()?, edge },
            Spot::Nowhere => {
                return Err(PyIndexError::new_err(format!(
                    "the GradientEdge at index {i}: its node has no such output"
                )));
            }
        });
    }
    Ok(out)
}

fn accumulate_targets(inputs: &Bound<'_, PyTuple>) -> PyResult<Vec<Target>> {
    let target = |v: Bound<'_, PyAny>| {
        Ok(match spot(&v, "inputs")? {
            Spot::Tensor(t) => {
                if !t.requires_grad() {
                    return Err(to_py(Error::autograd(
                        "can't retain_grad on Tensor that has requires_grad=False: one of the inputs of backward() does not \
                         require grad",
                    )));
                }
                t.retain_grad().or_py()?;
                Some(Target::Accumulate(t.target_edge().or_py()?.expect("requires grad")))
            }
            Spot::Edge(edge) => Some(Target::Accumulate(edge)),
            Spot::Nowhere => None,
        })
    };
    Ok(inputs.iter().map(target).collect::<PyResult<Vec<_>>>()?.into_iter().flatten().collect())
}

static CYCLE: &str = "Using backward() with create_graph=True will create a reference cycle between the parameter and its \
    gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you \
    have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle \
    and avoid the leak.";

/// `backward` over tuples; `inputs` None for all leaves.
#[pyfunction]
#[pyo3(signature = (tensors, grads, retain_graph, create_graph, inputs))]
pub fn _backward(
    py: Python<'_>,
    tensors: &Bound<'_, PyTuple>,
    grads: &Bound<'_, PyTuple>,
    retain_graph: bool,
    create_graph: bool,
    inputs: Option<&Bound<'_, PyTuple>>,
) -> PyResult<()> {
    let roots = roots(tensors, grads)?;
    let targets = match inputs {
        None => Vec::new(),
        Some(inputs) => accumulate_targets(inputs)?,
    };
    if inputs.is_some() && targets.is_empty() {
        return Ok(()); // no targets at all would mean every leaf
    }
    run_backward(py, Backward { roots, retain_graph, create_graph, targets })
}

/// Runs with the interpreter released, after the warning that belongs to create_graph.
pub fn run_backward(py: Python<'_>, call: Backward) -> PyResult<()> {
    if transforms::active() > 0 {
        return Err(PyRuntimeError::new_err(
            "backward() called inside a functorch transform. This is not supported, please use func.grad or func.vjp instead, \
             or call backward() outside of the transform. Transforms are the functions of retrograd.func, such as grad and \
             vmap.",
        ));
    }
    if call.create_graph {
        retrograd_engine::warn::once(retrograd_engine::warn::Once::CycleThroughGrad, CYCLE);
    }
    detached(py, || engine::run(call)).or_py().map(drop)
}

/// Gradients of the roots with respect to `inputs`, None where unreachable.
#[pyfunction]
fn _grad<'py>(
    py: Python<'py>,
    outputs: &Bound<'py, PyTuple>,
    grads: &Bound<'py, PyTuple>,
    retain_graph: bool,
    create_graph: bool,
    inputs: &Bound<'py, PyTuple>,
    allow_unused: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let roots = roots(outputs, grads)?;
    let mut edges = Vec::with_capacity(inputs.len());
    for v in inputs.iter() {
        edges.push(match spot(&v, "inputs")? {
            Spot::Edge(edge) => Some(edge),
            Spot::Nowhere => None,
            Spot::Tensor(t) => Some(t.target_edge().or_py()?.ok_or_else(|| {
                PyRuntimeError::new_err(
                    "One of the differentiated Tensors does not require grad: mark it with requires_grad_() before the ops \
                     that use it",
                )
            })?),
        });
    }
    // By position, and None for edges: whose gradients are to be those of entries.
    let of_entries: Vec<Option<Tensor>> =
        if transforms::any() { inputs.iter().map(|x| unwrap(&x).cloned()).collect() } else { Vec::new() };
    for x in of_entries.iter().flatten() {
        for y in outputs.iter() {
            unwrap(&y).map_or(Ok(()), |y| transforms::check_apart(y, x)).or_py()?;
        }
    }
    let nowhere: Vec<usize> = (0..edges.len()).filter(|&i| edges[i].is_none()).collect();
    let targets: Vec<_> = edges.into_iter().flatten().map(Target::Capture).collect();
    let mut results = match targets.is_empty() {
        true => Vec::new(), // the engine would take it for every leaf
        false => detached(py, || engine::run(Backward { roots, retain_graph, create_graph, targets })).or_py()?,
    };
    for i in nowhere {
        results.insert(i, None);
    }
    for (g, x) in results.iter_mut().zip(&of_entries) {
        if let (Some(joint), Some(x)) = (g.as_ref(), x) {
            *g = Some(transforms::joined(joint, x).or_py()?);
        }
    }
    if !allow_unused && let Some(unused) = results.iter().position(Option::is_none) {
        return Err(PyRuntimeError::new_err(format!(
            "The differentiated Tensor at index {unused} appears to not have been used in the graph. Set allow_unused=True if \
             this is the desired behavior.",
        )));
    }
    let results: Vec<_> = results.into_iter().map(|g| wrap_option(py, g)).collect::<PyResult<_>>()?;
    PyTuple::new(py, results)
}

/// `(node, output_nr)` that receives a tensor's gradient.
#[pyfunction]
fn _gradient_edge<'py>(t: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, u32)> {
    let edge = edge_of(t)?;
    let _node = anomaly::used(std::iter::once(&edge));
    let output = edge.output();
    Ok((wrap_node(t.py(), &output.node)?, output.nr))
}

fn edge_of(t: &Bound<'_, PyAny>) -> PyResult<Edge> {
    let tensor = unwrap(t).ok_or_else(|| PyTypeError::new_err("get_gradient_edge: expected a Tensor"))?;
    tensor.grad_edge().or_py()?.ok_or_else(|| {
        PyRuntimeError::new_err(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients",
        )
    })
}

/// Number of the backward run under way on this thread; None outside one.
#[pyfunction]
fn _current_run() -> Option<u64> {
    engine::current_run()
}

/// Weak references to what receives the gradients of some tensors, so that hooks on these tensors may hold it.
#[pyclass(module = "retrograd._core", frozen)]
struct _WeakEdges(Vec<WeakEdge>);

#[pymethods]
impl _WeakEdges {
    #[new]
    fn new(tensors: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let edge = |t: Bound<'_, PyAny>| Ok(edge_of(&t)?.downgrade());
        tensors.iter().map(edge).collect::<PyResult<_>>().map(Self)
    }
    /// Which of them the run under way on this thread reaches.
    fn reached(&self) -> Vec<bool> {
        self.0.iter().map(|e| e.upgrade().is_some_and(|e| engine::run_reaches(&e))).collect()
    }
}

/// Whether reentrant checkpointing may be used here: not in a pass with chosen inputs, or inside one.
#[pyfunction]
fn _is_checkpoint_valid() -> bool {
    engine::runs_are_for_all_leaves()
}

/// Calls `callback()` at the end of the run under way on this thread.
#[pyfunction]
fn _queue_callback(callback: Py<PyAny>) -> PyResult<()> {
    let callback = AnyThread::new(callback);
    let call = move || attached(|py| callback.call0(py).map(drop)).map_err(from_py);
    engine::queue_callback(Box::new(call)).or_py()
}

/// Whether ops record on this thread.
///
/// >>> with rg.no_grad():
/// ...     rg.is_grad_enabled()
/// False
#[pyfunction]
fn is_grad_enabled() -> bool {
    mode::is_grad_enabled()
}

/// Whether inference mode is on on this thread.
///
/// >>> rg.is_inference_mode_enabled()
/// False
#[pyfunction]
fn is_inference_mode_enabled() -> bool {
    mode::word() & mode::INFERENCE != 0
}

/// `fn(*primals)` and its directional derivative along `tangents`: drives the JVP rules in the records.
#[pyfunction]
fn _jvp<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    primals: Vec<Bound<'py, PyAny>>,
    tangents: Vec<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let _level = Level::enter();
    let mut duals = Vec::with_capacity(primals.len());
    for (p, t) in primals.iter().zip(&tangents) {
        let (Some(p), Some(t)) = (unwrap(p), unwrap(t)) else {
            return Err(PyTypeError::new_err("_jvp: primals and tangents must be tensors"));
        };
        let dual = p.detach();
        dual.set_tangent(t.clone()).or_py()?;
        duals.push(wrap(py, dual)?);
    }
    let outs = function.call1(PyTuple::new(py, duals)?)?;
    let tangent = |o: &Bound<'py, PyAny>| match unwrap(o) {
        Some(t) => wrap_option(py, t.tangent().or_py()?),
        None => Ok(py.None().into_bound(py)),
    };
    let tangents = match outs.cast::<PyTuple>() {
        Ok(many) => PyTuple::new(py, many.iter().map(|o| tangent(&o)).collect::<PyResult<Vec<_>>>()?)?.into_any(),
        Err(_) => match outs.cast::<PyList>() {
            Ok(many) => PyList::new(py, many.iter().map(|o| tangent(&o)).collect::<PyResult<Vec<_>>>()?)?.into_any(),
            Err(_) => tangent(&outs)?,
        },
    };
    Ok((outs, tangents))
}

/// An op that ran: its name, the dtype that it was to compute in, and those that it declares.
type Ran = (&'static str, &'static str, Vec<&'static str>);

/// Calls a function: what it raised, or None, and the ops that ran.
///
/// >>> from retrograd._core import _observed
/// >>> error, [(name, dtype, declared)] = _observed(lambda: rg.tensor([True]).floor())
/// >>> type(error).__name__, name, dtype, dtype in declared
/// ('NotImplementedError', 'floor', 'bool', False)
#[pyfunction]
fn _observed(function: &Bound<'_, PyAny>) -> (Option<PyErr>, Vec<Ran>) {
    let (result, ran) = observed(|| function.call0());
    let names = |o: Observed| (o.name, o.dtype.name(), o.dtypes.iter().map(DType::name).collect());
    (result.err(), ran.into_iter().map(names).collect())
}

/// Dotted names of all ops: the roster, and what takes Python's own data and subscripts.
///
/// >>> from retrograd._core import _op_names
/// >>> "nn.functional.linear" in _op_names()
/// True
#[pyfunction]
fn _op_names() -> Vec<String> {
    let mut names: Vec<String> = retrograd_engine::ops::roster().map(retrograd_engine::ops::Entry::path).collect();
    names.extend(crate::call::BY_HAND.map(String::from));
    names.sort();
    names.dedup();
    names
}

/// Count one in-place write.
#[pyfunction]
fn _increment_version(t: &Bound<'_, PyAny>) -> PyResult<()> {
    let t = unwrap(t).ok_or_else(|| PyTypeError::new_err("increment_version expects tensors"))?;
    t.bump_version();
    Ok(())
}

/// Set how many in-place writes of each tensor were counted.
#[pyfunction]
fn _set_versions(tensors: Vec<Bound<'_, PyAny>>, versions: Vec<u32>) -> PyResult<()> {
    for (t, version) in tensors.iter().zip(versions) {
        unwrap(t).ok_or_else(|| PyTypeError::new_err("_set_versions expects tensors"))?.set_version(version);
    }
    Ok(())
}

/// The number that the next node of this thread gets.
///
/// >>> from retrograd._core import _next_sequence_nr
/// >>> number = _next_sequence_nr()
/// >>> rg.ones(1, requires_grad=True).exp().grad_fn._sequence_nr() == number
/// True
#[pyfunction]
fn _next_sequence_nr() -> u64 {
    next_sequence_nr()
}

/// Sets from how many elements on pointwise nodes run together, and the elements of a block. Returns what they were.
#[pyfunction]
fn _set_chain_sizes(least: usize, block: usize) -> (usize, usize) {
    engine::set_chain_sizes(least, block)
}

/// How many nodes of this process have run together with others, block by block.
#[pyfunction]
fn _nodes_in_chains() -> u64 {
    engine::nodes_in_chains()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<_WeakEdges>()?;
    for f in [
        wrap_pyfunction!(_backward, m)?,
        wrap_pyfunction!(_grad, m)?,
        wrap_pyfunction!(_gradient_edge, m)?,
        wrap_pyfunction!(_current_run, m)?,
        wrap_pyfunction!(_queue_callback, m)?,
        wrap_pyfunction!(_is_checkpoint_valid, m)?,
        wrap_pyfunction!(is_grad_enabled, m)?,
        wrap_pyfunction!(is_inference_mode_enabled, m)?,
        wrap_pyfunction!(_jvp, m)?,
        wrap_pyfunction!(_observed, m)?,
        wrap_pyfunction!(_op_names, m)?,
        wrap_pyfunction!(_increment_version, m)?,
        wrap_pyfunction!(_set_versions, m)?,
        wrap_pyfunction!(_next_sequence_nr, m)?,
        wrap_pyfunction!(_set_chain_sizes, m)?,
        wrap_pyfunction!(_nodes_in_chains, m)?,
    ] {
        m.add_function(f)?;
    }
    Ok(())
}
