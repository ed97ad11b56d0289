//! Ops made of closures: a function and its derivative.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::func::Returned;
use crate::function::call::{Custom, Rules, call};
use crate::function::vmap::{Batches, Entries};
use crate::function::{Arguments, Context, IntoArguments, Places, VmapInfo, places};
use crate::{Result, Tensor, engine, site};

/// Makes an op of two closures: the function, and its vector-Jacobian product.
///
/// `forward` is given the inputs, which its parameter names with a type: `|x: &Tensor|`, `|(a, b): &(Tensor, Tensor)|`,
/// `|xs: &Vec<Tensor>|`, and whatever else is [`Arguments`]. It runs without grad mode and returns the output, a tuple,
/// an array or a `Vec` of outputs, or a [`Result`] of these.
///
/// `vjp` is given the cotangents, the inputs and the outputs, each as `forward` has them, and returns the gradient of
/// each input, of its shape and dtype, `None` for zeros, or a [`Result`] of these. An output that was sent no cotangent
/// has zeros. If `vjp` consists of ops, it is differentiated like any other function: second derivatives work. The op
/// holds its inputs and outputs until the backward pass.
///
/// Forward mode transposes `vjp`, unless [`CustomOp::jvp`] has a rule; `vmap` runs both closures once on all entries,
/// unless [`CustomOp::vmap`] has one.
///
/// Errors of a backward pass, with the name of the op: a wrong number of gradients, and a gradient whose shape or dtype
/// does not fit the input.
///
/// ```
/// use retrograd::prelude::*;
///
/// # fn main() -> Result<()> {
/// let cube = custom_op("cube", |x: &Tensor| x * x * x, |cotangent, x, _y| 3.0 * cotangent * x * x);
///
/// let x = tensor![1.0, 2.0].requires_grad_(true);
/// let y = cube.call(&x);
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 8.0]);
/// y.backward_with(|o| o.gradient(&tensor![1.0, 10.0]))?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [3.0, 120.0]);
///
/// // Several inputs and outputs: patterns say how many there are.
/// let swap = custom_op(
///     "weighted_swap",
///     |(a, b): &(Tensor, Tensor)| (2.0 * b, a.detach()),
///     |(of_first, of_second), _inputs, _outputs| (of_second.detach(), 2.0 * of_first),
/// );
/// let (first, second) = swap.call((tensor![1.0], tensor![5.0]));
/// assert_eq!((first.item::<f64>()?, second.item::<f64>()?), (10.0, 1.0));
///
/// gradcheck(|x: &Tensor| cube.call(x), &x).second(true).run().unwrap();
/// # Ok(())
/// # }
/// ```
///
/// # The next steps
///
/// A [`Function`](crate::Function) decides what it saves and knows which gradients are wanted. A
/// [`Primitive`](engine::autograd::Primitive) is an op like those of the engine: its `forward` works on memory, it
/// states what is saved for which gradient, which dtypes it takes and how it batches, and has a rule of its own for
/// forward mode. [`gradcheck`](crate::gradcheck()) tells for each of them whether its rules are right.
///
/// ```
/// use retrograd::engine::autograd::apply::apply1;
/// use retrograd::engine::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
/// use retrograd::engine::autograd::Grads;
/// use retrograd::engine::tensor::Dtypes;
/// use retrograd::{engine, prelude::*};
///
/// /// `x^3`.
/// #[derive(Clone, Debug)]
/// struct Cube;
///
/// impl Primitive for Cube {
///     const NAME: &'static str = "cube";
///     // The rule reads operand 0; nothing is kept where no gradient is wanted.
///     const SAVE: &'static [Save] = &[Save::input(0, "self")];
///     const DTYPES: Dtypes = Dtypes::of(&[DType::Float64]);
///     // A batch is one more axis in front.
///     const BATCH: Batch<Self> = Batch::Pointwise;
///     const JVP: Tangents<Self> = Tangents::Rule(|_, cx| Ok(maybe(match cx.t(0) {
///         Some(t) => Some(slope(cx.xs[0])?.mul(t)?),
///         None => None,
///     })));
///
///     fn forward(&self, xs: &[&engine::Tensor]) -> Result<Outs> {
///         let cubes: Vec<f64> = xs[0].to_vec::<f64>()?.iter().map(|x| x * x * x).collect();
///         Ok(out(engine::Tensor::from_slice(&cubes, xs[0].sizes())?))
///     }
///
///     fn vjp(&self, cx: &Vjp) -> Result<Grads> {
///         Ok(one(cx.g().mul(&slope(cx.saved(0)?)?)?))
///     }
/// }
///
/// fn slope(x: &engine::Tensor) -> Result<engine::Tensor> {
///     x.square()?.times(3.0)
/// }
///
/// /// `x^3` for each element of a float64 tensor.
/// pub fn cube(x: &Tensor) -> Result<Tensor> {
///     apply1(Cube, &[x.engine()]).map(Tensor::from)
/// }
///
/// # fn main() -> Result<()> {
/// let x = tensor![0.5, -2.0, 3.0];
/// assert_eq!(cube(&x)?.to_vec::<f64>()?, [0.125, -8.0, 27.0]);
/// gradcheck(cube, &x).forward(true).batched(true).second(true).run().unwrap();
/// # Ok(())
/// # }
/// ```
pub fn custom_op<I, R, G>(
    name: &str,
    forward: impl Fn(&I) -> R + Send + Sync + 'static,
    vjp: impl Fn(&<R::Value as Arguments>::Given, &I, &R::Value) -> G + Send + Sync + 'static,
) -> CustomOp<I, R::Value>
where
    I: Arguments + Send + Sync,
    R: Returned<Value: Arguments + Send + Sync>,
    G: IntoTensors,
{
    CustomOp(Arc::new(Closures {
        name: lasting(name),
        forward: Arc::new(move |inputs| forward(inputs).into_result()),
        vjp: Arc::new(move |cotangents, inputs, outputs| vjp(cotangents, inputs, outputs).into_tensors()),
        jvp: None,
        vmap: None,
        once_differentiable: false,
    }))
}

/// An op that [`custom_op`] made. A clone is the same op.
pub struct CustomOp<I: Arguments, O: Arguments>(Arc<Closures<I, O>>);

impl<I: Arguments, O: Arguments> Clone for CustomOp<I, O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I: Arguments + Send + Sync, O: Arguments + Send + Sync> CustomOp<I, O> {
    /// Runs the op: `op.call(&x)`, `op.call((&a, &b))`.
    ///
    /// Panics where [`CustomOp::try_call`] is an error.
    #[track_caller]
    pub fn call(&self, inputs: impl IntoArguments<I>) -> O {
        site::done(self.try_call(inputs))
    }

    /// As [`CustomOp::call`]. Errors: those of `forward`; of the rules for tangents and batches, where these run.
    #[track_caller]
    pub fn try_call(&self, inputs: impl IntoArguments<I>) -> Result<O> {
        let called = Called { op: self.0.clone(), inputs: inputs.into_arguments(), outputs: Mutex::new(None) };
        let outputs = call(&called, &places(&called.inputs))?;
        let shape = called.outputs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let shape = shape.ok_or_else(|| crate::Error::autograd(format!("{}: forward did not run", self.0.name)))?;
        Ok(shape.in_places(&mut outputs.into_iter()))
    }

    /// The op's name.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Gives the op a rule for forward mode: tangents of the outputs, from those of the inputs, the inputs and the
    /// outputs. An input without a tangent has zeros; `None` is returned for zeros.
    #[must_use]
    pub fn jvp<G: IntoTensors>(self, rule: impl Fn(&I::Given, &I, &O) -> G + Send + Sync + 'static) -> Self {
        self.but(|op| op.jvp = Some(Arc::new(move |ts, inputs, outputs| rule(ts, inputs, outputs).into_tensors())))
    }

    /// Gives the op a rule for batches: the outputs with all entries, and the place of the batch axis in each, from
    /// inputs with all entries, and the place of the batch axis in each, `None` where there is none.
    ///
    /// Derivatives of a batch go through the ops of the rule; where a transform inside `vmap` differentiates, the other
    /// closures run on entries instead.
    #[must_use]
    pub fn vmap(
        self,
        rule: impl Fn(&VmapInfo, &I, &[Option<usize>]) -> Result<(O, Vec<Option<usize>>)> + Send + Sync + 'static,
    ) -> Self {
        self.but(|op| op.vmap = Some(Arc::new(rule)))
    }

    /// Lets the `vjp` do what cannot be differentiated, such as reading values: it runs without grad mode, and what it
    /// returns is refused where somebody differentiates it.
    #[must_use]
    pub fn once_differentiable(self) -> Self {
        self.but(|op| op.once_differentiable = true)
    }

    fn but(self, change: impl FnOnce(&mut Closures<I, O>)) -> Self {
        let mut op = Closures::clone(&self.0);
        change(&mut op);
        Self(Arc::new(op))
    }
}

type Forward<I, O> = dyn Fn(&I) -> Result<O> + Send + Sync;
type Vjp<I, O> = dyn Fn(&<O as Arguments>::Given, &I, &O) -> Result<Places> + Send + Sync;
type Jvp<I, O> = dyn Fn(&<I as Arguments>::Given, &I, &O) -> Result<Places> + Send + Sync;
type Vmap<I, O> = dyn Fn(&VmapInfo, &I, &[Option<usize>]) -> Result<(O, Vec<Option<usize>>)> + Send + Sync;

struct Closures<I: Arguments, O: Arguments> {
    name: &'static str,
    forward: Arc<Forward<I, O>>,
    vjp: Arc<Vjp<I, O>>,
    jvp: Option<Arc<Jvp<I, O>>>,
    vmap: Option<Arc<Vmap<I, O>>>,
    once_differentiable: bool,
}

impl<I: Arguments, O: Arguments> Clone for Closures<I, O> {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            forward: self.forward.clone(),
            vjp: self.vjp.clone(),
            jvp: self.jvp.clone(),
            vmap: self.vmap.clone(),
            once_differentiable: self.once_differentiable,
        }
    }
}

/// A call of an op, with its outputs when it has run.
struct Called<I: Arguments, O: Arguments> {
    op: Arc<Closures<I, O>>,
    inputs: I,
    outputs: Mutex<Option<O>>,
}

impl<I: Arguments, O: Arguments> Called<I, O> {
    fn note(&self, outputs: O) -> Places {
        let all = places(&outputs);
        *self.outputs.lock().unwrap_or_else(PoisonError::into_inner) = Some(outputs);
        all
    }
}

/// Plain values and numbers of tensors of a call, without its tensors: those are saved.
struct Shapes<I, O> {
    inputs: I,
    outputs: O,
}

/// The same with one small tensor in every place.
fn without_tensors<T: Arguments>(of: &T) -> Result<T> {
    let small = Tensor(engine::Tensor::full(&[], 0i64.into(), engine::DType::Float32)?);
    Ok(of.in_places(&mut vec![Some(small); places(of).len()].into_iter()))
}

impl<I: Arguments + Send + Sync, O: Arguments + Send + Sync> Custom for Called<I, O> {
    fn forward(&self, ctx: &mut Context, inputs: &Places) -> Result<Places> {
        let inputs = self.inputs.in_places(&mut inputs.clone().into_iter());
        let outputs = (self.op.forward)(&inputs)?;
        ctx.keep(Shapes { inputs: without_tensors(&inputs)?, outputs: without_tensors(&outputs)? });
        let (before, all) = (places(&inputs), self.note(outputs));
        ctx.save_for_backward(before.iter().chain(&all).map(Option::as_ref));
        Ok(all)
    }
    fn rules(&self) -> Arc<dyn Rules> {
        Arc::new(Derivatives(self.op.clone()))
    }
    fn vmap(&self, batch: &Entries) -> Result<Option<Batches>> {
        let Some(rule) = &self.op.vmap else { return Ok(None) };
        let inputs = self.inputs.in_places(&mut batch.inputs.clone().into_iter());
        let (outputs, axes) = rule(&batch.info, &inputs, batch.axes)?;
        Ok(Some((self.note(outputs), axes)))
    }
}

struct Derivatives<I: Arguments, O: Arguments>(Arc<Closures<I, O>>);

/// The inputs and outputs that were saved.
fn saved<I: Arguments + Send + Sync, O: Arguments + Send + Sync>(ctx: &Context) -> Result<(I, O)> {
    let shapes = ctx.kept::<Shapes<I, O>>()?;
    let mut saved = ctx.saved_options()?.into_iter();
    Ok((shapes.inputs.in_places(&mut saved), shapes.outputs.in_places(&mut saved)))
}

impl<I: Arguments + Send + Sync, O: Arguments + Send + Sync> Rules for Derivatives<I, O> {
    fn name(&self) -> &'static str {
        self.0.name
    }
    fn backward(&self, ctx: &Context, gradients: Places) -> Result<Places> {
        let (inputs, outputs) = saved(ctx)?;
        (self.0.vjp)(&O::given(&mut gradients.into_iter()), &inputs, &outputs)
    }
    fn jvp(&self, ctx: &Context, tangents: Places) -> Result<Option<Places>> {
        let Some(rule) = &self.0.jvp else { return Ok(None) };
        let (inputs, outputs) = saved(ctx)?;
        rule(&I::given(&mut tangents.into_iter()), &inputs, &outputs).map(Some)
    }
    fn once_differentiable(&self) -> bool {
        self.0.once_differentiable
    }
}

/// A name for as long as the program runs, kept once however many ops have it.
fn lasting(name: &str) -> &'static str {
    static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}

/// What a rule may return: tensors, where `None` stands for zeros, alone, in a tuple, an array or a `Vec`, or a
/// [`Result`] of these.
pub trait IntoTensors {
    /// As a list.
    fn into_tensors(self) -> Result<Vec<Option<Tensor>>>;
}

impl<T: IntoTensors> IntoTensors for Result<T> {
    fn into_tensors(self) -> Result<Places> {
        self.and_then(T::into_tensors)
    }
}

impl IntoTensors for Tensor {
    fn into_tensors(self) -> Result<Places> {
        Ok(vec![Some(self)])
    }
}

impl IntoTensors for Option<Tensor> {
    fn into_tensors(self) -> Result<Places> {
        Ok(vec![self])
    }
}

impl<T: Into<Option<Tensor>>, const N: usize> IntoTensors for [T; N] {
    fn into_tensors(self) -> Result<Places> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Option<Tensor>>> IntoTensors for Vec<T> {
    fn into_tensors(self) -> Result<Places> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}

macro_rules! into_tensors {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Into<Option<Tensor>>),*> IntoTensors for ($($t,)*) {
            fn into_tensors(self) -> Result<Places> {
                Ok(vec![$(self.$i.into()),*])
            }
        }
    };
}

into_tensors!(A 0);
into_tensors!(A 0, B 1);
into_tensors!(A 0, B 1, C 2);
into_tensors!(A 0, B 1, C 2, D 3);
into_tensors!(A 0, B 1, C 2, D 3, E 4);
into_tensors!(A 0, B 1, C 2, D 3, E 4, F 5);
