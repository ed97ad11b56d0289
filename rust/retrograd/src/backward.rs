//! Gradients: `backward`, which accumulates them in leaves, and `grad`, which returns them.

use crate::engine::autograd::engine::{self, Backward, Root, Target};
use crate::engine::{Tensor as Engine, transforms, warn};
use crate::operand::Tensors;
use crate::{Error, Result, Tensor, site};

/// What [`Tensor::backward_with`] and [`backward_with`] may be told.
#[derive(Clone, Debug, Default)]
pub struct BackwardOptions {
    gradients: Option<Vec<Option<Engine>>>,
    retain_graph: Option<bool>,
    create_graph: bool,
    inputs: Option<Vec<Engine>>,
}

impl BackwardOptions {
    /// The gradient of the tensor that differentiation starts from, of its shape. Without it that is 1, for a tensor
    /// with one element.
    #[must_use]
    pub fn gradient(mut self, gradient: &Tensor) -> Self {
        self.gradients = Some(vec![Some(gradient.0.clone())]);
        self
    }

    /// The gradients of several tensors, in their order.
    #[must_use]
    pub fn gradients<'g>(mut self, gradients: impl Into<Tensors<'g>>) -> Self {
        self.gradients = Some(gradients.into().engine().iter().cloned().map(Some).collect());
        self
    }

    /// Retains what the graph saved, for another pass. By default as [`create_graph`](Self::create_graph) says.
    #[must_use]
    pub fn retain_graph(mut self, retain_graph: bool) -> Self {
        self.retain_graph = Some(retain_graph);
        self
    }

    /// Records the backward pass, so that the gradients can be differentiated.
    #[must_use]
    pub fn create_graph(mut self, create_graph: bool) -> Self {
        self.create_graph = create_graph;
        self
    }

    /// Accumulates into these only. Those that are no leaves retain their gradient from then on.
    #[must_use]
    pub fn inputs<'i>(mut self, inputs: impl Into<Tensors<'i>>) -> Self {
        self.inputs = Some(inputs.into().engine().to_vec());
        self
    }
}

/// What [`grad_with`] and [`grad_if_used`] may be told.
#[derive(Clone, Debug, Default)]
pub struct GradOptions {
    gradients: Option<Vec<Option<Engine>>>,
    retain_graph: Option<bool>,
    create_graph: bool,
    materialize_grads: bool,
}

impl GradOptions {
    /// The gradients of the outputs, each of its output's shape. Without them they are 1, for outputs with one element.
    #[must_use]
    pub fn grad_outputs<'g>(mut self, gradients: impl Into<Tensors<'g>>) -> Self {
        self.gradients = Some(gradients.into().engine().iter().cloned().map(Some).collect());
        self
    }

    /// Retains what the graph saved, for another pass. By default as [`create_graph`](Self::create_graph) says.
    #[must_use]
    pub fn retain_graph(mut self, retain_graph: bool) -> Self {
        self.retain_graph = Some(retain_graph);
        self
    }

    /// Records the backward pass, so that the gradients can be differentiated.
    #[must_use]
    pub fn create_graph(mut self, create_graph: bool) -> Self {
        self.create_graph = create_graph;
        self
    }

    /// Zeros for the inputs that the outputs do not depend on.
    #[must_use]
    pub fn materialize_grads(mut self, materialize_grads: bool) -> Self {
        self.materialize_grads = materialize_grads;
        self
    }
}

impl Tensor {
    /// Accumulates the gradient of this tensor, which has one element, into [`grad`](Tensor::grad) of the leaves that
    /// it was computed from.
    ///
    /// # Errors
    /// If the tensor does not require grad or has several elements, if an earlier pass freed what the graph saved, and
    /// if a saved tensor was written in place since.
    ///
    /// ```
    /// let x = retrograd::tensor![3.0].requires_grad_(true);
    /// (&x * &x).backward()?;
    /// assert_eq!(x.grad().unwrap().item::<f64>()?, 6.0);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn backward(&self) -> Result<()> {
        site::here();
        run(vec![engine::root(&self.0, None, 0)?], false, false, Vec::new()).map(drop)
    }

    /// As [`Tensor::backward`], with options.
    ///
    /// # Errors
    /// Also if the gradient has another shape than the tensor, if `inputs` is empty, or one of them does not require
    /// grad.
    ///
    /// ```
    /// use retrograd::tensor;
    ///
    /// let x = tensor![1.0, 2.0].requires_grad_(true);
    /// (&x * &x).backward_with(|o| o.gradient(&tensor![1.0, 10.0]))?;
    /// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [2.0, 40.0]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn backward_with(&self, options: impl FnOnce(BackwardOptions) -> BackwardOptions) -> Result<()> {
        backward_with(self, options)
    }
}

/// Accumulates the gradients of several tensors, each with one element, into the leaves that they were computed from,
/// in one pass.
///
/// # Errors
/// As those of [`Tensor::backward`].
///
/// ```
/// use retrograd::{backward, tensor};
///
/// let x = tensor![3.0].requires_grad_(true);
/// backward([&x * &x, &x * 5.0])?;
/// assert_eq!(x.grad().unwrap().item::<f64>()?, 11.0);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn backward<'t>(tensors: impl Into<Tensors<'t>>) -> Result<()> {
    backward_with(tensors, |options| options)
}

/// As [`backward`], with options.
///
/// # Errors
/// As those of [`Tensor::backward_with`], and if there are not as many gradients as tensors.
#[track_caller]
pub fn backward_with<'t>(
    tensors: impl Into<Tensors<'t>>,
    options: impl FnOnce(BackwardOptions) -> BackwardOptions,
) -> Result<()> {
    site::here();
    let (tensors, options) = (tensors.into(), options(BackwardOptions::default()));
    let roots = roots(tensors.engine(), options.gradients.as_deref())?;
    let targets = match &options.inputs {
        None => Vec::new(),
        Some(inputs) if inputs.is_empty() => return Err(empty("backward")),
        Some(inputs) => inputs.iter().map(accumulated).collect::<Result<_>>()?,
    };
    // No roots: nothing is differentiated.
    if roots.is_empty() {
        return Ok(());
    }
    let retain_graph = options.retain_graph.unwrap_or(options.create_graph);
    run(roots, retain_graph, options.create_graph, targets).map(drop)
}

fn empty(function: &str) -> Error {
    Error::autograd(format!("`inputs` argument to `{function}()` cannot be empty."))
}

/// Roots of tensors and their gradients.
fn roots(tensors: &[Engine], gradients: Option<&[Option<Engine>]>) -> Result<Vec<Root>> {
    if let Some(gradients) = gradients
        && gradients.len() != tensors.len()
    {
        return Err(Error::autograd(format!("got {} tensors and {} gradients", tensors.len(), gradients.len())));
    }
    let gradient = |i: usize| gradients.and_then(|all| all[i].as_ref());
    tensors.iter().enumerate().map(|(i, t)| engine::root(t, gradient(i), i)).collect()
}

/// The target of a pass that accumulates into `x`.
fn accumulated(x: &Engine) -> Result<Target> {
    if !x.requires_grad() {
        return Err(Error::autograd(
            "can't retain_grad on Tensor that has requires_grad=False: one of the inputs of backward() does not require \
             grad",
        ));
    }
    x.retain_grad()?;
    Ok(Target::Accumulate(x.target_edge()?.expect("it requires grad")))
}

fn run(roots: Vec<Root>, retain_graph: bool, create_graph: bool, targets: Vec<Target>) -> Result<()> {
    if transforms::active() > 0 {
        return Err(Error::autograd(
            "backward() called inside a functorch transform. This is not supported, please use func.grad or func.vjp \
             instead, or call backward() outside of the transform. Transforms are the functions of retrograd::func, such \
             as grad and vmap.",
        ));
    }
    if create_graph {
        warn::once(
            warn::Once::CycleThroughGrad,
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient \
             which can cause a memory leak: take the gradients with retrograd::grad_with, which returns them, or call \
             zero_grad() on the parameters afterwards, which breaks the cycle.",
        );
    }
    engine::run(Backward { roots, retain_graph, create_graph, targets }).map(drop)
}

/// The gradients of the sum of `outputs`, each with one element, with respect to `inputs`. No [`grad`](Tensor::grad) of
/// a tensor is touched.
///
/// # Errors
/// What [`Tensor::backward`] refuses; an input that does not require grad, or that the outputs do not depend on.
///
/// ```
/// use retrograd::{grad, tensor};
///
/// let x = tensor![3.0].requires_grad_(true);
/// let gradients = grad(&x * &x, &x)?;
/// assert_eq!(gradients[0].item::<f64>()?, 6.0);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn grad<'o, 'i>(outputs: impl Into<Tensors<'o>>, inputs: impl Into<Tensors<'i>>) -> Result<Vec<Tensor>> {
    grad_with(outputs, inputs, |options| options)
}

/// As [`grad`], with options.
///
/// # Errors
/// As those of [`grad`]; with `materialize_grads` an input that the outputs do not depend on has zeros.
///
/// ```
/// use retrograd::{grad, grad_with, tensor};
///
/// let x = tensor![3.0].requires_grad_(true);
/// let first = grad_with(&x * &x * &x, &x, |o| o.create_graph(true))?;
/// let second = grad(&first[0], &x)?;
/// assert_eq!((first[0].item::<f64>()?, second[0].item::<f64>()?), (27.0, 18.0));
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn grad_with<'o, 'i>(
    outputs: impl Into<Tensors<'o>>,
    inputs: impl Into<Tensors<'i>>,
    options: impl FnOnce(GradOptions) -> GradOptions,
) -> Result<Vec<Tensor>> {
    site::here();
    let gradients = gradients(outputs.into().engine(), inputs.into().engine(), &options(GradOptions::default()))?;
    let used = |(i, g): (usize, Option<Tensor>)| {
        g.ok_or_else(|| {
            Error::autograd(format!(
                "The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if \
                 this is the desired behavior: in Rust call grad_if_used, which returns None for it, or set \
                 materialize_grads for zeros."
            ))
        })
    };
    gradients.into_iter().enumerate().map(used).collect()
}

/// As [`grad_with`], and with None for the inputs that the outputs do not depend on: torch's `allow_unused=True`.
///
/// # Errors
/// As those of [`grad`], without the last one.
///
/// ```
/// use retrograd::{grad_if_used, tensor};
///
/// let (x, y) = (tensor![3.0].requires_grad_(true), tensor![4.0].requires_grad_(true));
/// assert!(grad_if_used(&x * &x, [&x, &y], |o| o)?[1].is_none());
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn grad_if_used<'o, 'i>(
    outputs: impl Into<Tensors<'o>>,
    inputs: impl Into<Tensors<'i>>,
    options: impl FnOnce(GradOptions) -> GradOptions,
) -> Result<Vec<Option<Tensor>>> {
    site::here();
    gradients(outputs.into().engine(), inputs.into().engine(), &options(GradOptions::default()))
}

fn gradients(outputs: &[Engine], inputs: &[Engine], options: &GradOptions) -> Result<Vec<Option<Tensor>>> {
    if inputs.is_empty() {
        return Err(empty("grad"));
    }
    let roots = roots(outputs, options.gradients.as_deref())?;
    let target = |x: &Engine| {
        x.target_edge()?.map(Target::Capture).ok_or_else(|| {
            Error::autograd(
                "One of the differentiated Tensors does not require grad: mark it with requires_grad_(true) before the ops \
                 that use it",
            )
        })
    };
    let targets = inputs.iter().map(target).collect::<Result<_>>()?;
    for (x, y) in inputs.iter().flat_map(|x| outputs.iter().map(move |y| (x, y))) {
        transforms::check_apart(y, x)?;
    }
    let create_graph = options.create_graph;
    let retain_graph = options.retain_graph.unwrap_or(create_graph);
    let found = engine::run(Backward { roots, retain_graph, create_graph, targets })?;
    let of_input = |(g, x): (Option<Engine>, &Engine)| {
        Ok(match g {
            Some(g) => Some(Tensor(transforms::joined(&g, x)?)),
            None if options.materialize_grads => {
                let zeros = Engine::full(x.sizes(), 0i64.into(), x.dtype())?;
                zeros.set_requires_grad(create_graph)?;
                Some(Tensor(zeros))
            }
            None => None,
        })
    };
    found.into_iter().zip(inputs).map(of_input).collect()
}
