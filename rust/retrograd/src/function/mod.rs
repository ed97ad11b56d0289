//! Functions with derivatives of their own, by a trait and a context.

mod arguments;
pub(crate) mod call;
mod context;
mod forward_mode;
pub(crate) mod vmap;

use std::any::{Any, type_name};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

pub use arguments::{Arguments, IntoArguments, Plain};
pub(crate) use arguments::{Places, places};
pub use context::Context;
pub use vmap::VmapInfo;

use crate::engine::error::ErrorKind;
use crate::{Error, Result, site};
use arguments::{given, returned};
use call::{Custom, Rules, call};

/// A function with derivatives of its own, as `torch.autograd.Function` is: the second of three ways to make an op.
///
/// [`custom_op`](crate::custom_op) takes two closures and is shorter. This one chooses what it saves, takes plain
/// values among its tensors, knows which gradients are wanted, may write to its inputs, and may have results without a
/// gradient. The third is a [`Primitive`](crate::engine::autograd::Primitive) of the engine, which runs loops of its
/// own over memory; [`custom_op`](crate::custom_op) shows one.
///
/// `forward` runs without grad mode, on the tensors that [`Function::apply`] was given. `backward` is given a gradient
/// for each output and returns one for each input, `None` where it is zero or not wanted. If it consists of ops, it
/// can be differentiated in turn, so second derivatives need no rule. Its gradients are cast and reduced to what the
/// inputs are; other dtypes and shapes are refused, with the function's name.
///
/// ```
/// use retrograd::prelude::*;
///
/// /// `factor * x^2`.
/// struct ScaledSquare;
///
/// impl Function for ScaledSquare {
///     type Inputs = (Tensor, f64);
///     type Outputs = Tensor;
///
///     fn forward(ctx: &mut Context, (x, factor): &(Tensor, f64)) -> Result<Tensor> {
///         ctx.save_for_backward([x]);
///         ctx.keep(*factor);
///         Ok(*factor * x * x)
///     }
///
///     fn backward(ctx: &Context, gradient: Tensor) -> Result<(Option<Tensor>, ())> {
///         let [x] = ctx.saved_tensors()?;
///         let &factor = ctx.kept::<f64>()?;
///         Ok((ctx.needs_input_grad(0).then(|| 2.0 * factor * gradient * x), ()))
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let x = tensor![2.0, 3.0].requires_grad_(true);
/// let y = ScaledSquare::apply((&x, 0.5));
/// assert_eq!(y.to_vec::<f64>()?, [2.0, 4.5]);
/// y.backward_with(|o| o.gradient(&tensor![1.0, 10.0]))?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [2.0, 30.0]);
/// gradcheck(|x: &Tensor| ScaledSquare::apply((x, 0.5)), &x).second(true).run().unwrap();
/// # Ok(())
/// # }
/// ```
pub trait Function: Sized + 'static {
    /// What [`Function::apply`] takes.
    type Inputs: Arguments;
    /// What it gives.
    type Outputs: Arguments;

    /// `backward` may do what cannot be differentiated, such as reading values: it runs without grad mode, and what it
    /// returns is refused where somebody differentiates it.
    const ONCE_DIFFERENTIABLE: bool = false;

    /// The function itself, without grad mode. Its notes in `ctx` are for the rules.
    fn forward(ctx: &mut Context, inputs: &Self::Inputs) -> Result<Self::Outputs>;

    /// Gradients of the inputs from those of the outputs. An output that was sent none has zeros.
    fn backward(
        ctx: &Context,
        gradients: <Self::Outputs as Arguments>::Given,
    ) -> Result<<Self::Inputs as Arguments>::Returned>;

    /// Tangents of the outputs from those of the inputs, right after `forward`. An input that has none has zeros.
    ///
    /// Without it, forward mode runs the function again and transposes `backward`, which must then consist of ops.
    fn jvp(
        _ctx: &Context,
        _tangents: <Self::Inputs as Arguments>::Given,
    ) -> Result<<Self::Outputs as Arguments>::Returned> {
        Err(not_overridden())
    }

    /// The outputs for a batch at once, and where the batch axis is in each place of them, `None` for an output that is
    /// the same for all entries. Given: inputs with all entries, and the batch axis in each place, `None` for one that
    /// has no batch. Derivatives of a batch go through the ops of this rule.
    ///
    /// Without it, and where a transform inside `vmap` differentiates, `forward` and `backward` run on one entry, for
    /// all of them at once. That is right where they consist of ops; where they read values, it is an error.
    fn vmap(
        _info: &VmapInfo,
        _inputs: &Self::Inputs,
        _axes: &[Option<usize>],
    ) -> Result<(Self::Outputs, Vec<Option<usize>>)> {
        Err(not_overridden())
    }

    /// The function's name in messages and graphs; that of the type.
    fn name() -> &'static str {
        let name = type_name::<Self>();
        let name = name.split('<').next().unwrap_or(name);
        name.rsplit("::").next().unwrap_or(name)
    }

    /// Runs the function, and records it if a tensor among the inputs requires grad.
    ///
    /// Panics where [`Function::try_apply`] is an error.
    #[track_caller]
    fn apply(inputs: impl IntoArguments<Self::Inputs>) -> Self::Outputs {
        site::done(Self::try_apply(inputs))
    }

    /// As [`Function::apply`]. Errors: those of `forward`; an input that was written to in place is not among the
    /// outputs, or is a leaf that requires grad.
    #[track_caller]
    fn try_apply(inputs: impl IntoArguments<Self::Inputs>) -> Result<Self::Outputs> {
        let function = Applied::<Self> { inputs: inputs.into_arguments(), outputs: RefCell::new(None) };
        let outputs = call(&function, &places(&function.inputs))?;
        let shape = function.outputs.take();
        shape.map(|shape| shape.in_places(&mut outputs.into_iter())).ok_or_else(|| {
            Error::autograd(format!("{} was applied to batched tensors, and forward did not run", Self::name()))
        })
    }
}

/// Marks the error of a rule that a function does not have.
struct NotOverridden;

fn not_overridden() -> Error {
    ErrorKind::Foreign(Arc::new(NotOverridden)).into()
}

/// `None` for a rule that a function does not have.
fn overridden<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::Foreign(why) if (**why).type_id() == NotOverridden.type_id()) => {
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// A function with its inputs, and its outputs when it has run.
struct Applied<F: Function> {
    inputs: F::Inputs,
    outputs: RefCell<Option<F::Outputs>>,
}

impl<F: Function> Custom for Applied<F> {
    fn forward(&self, ctx: &mut Context, inputs: &Places) -> Result<Places> {
        let outputs = F::forward(ctx, &self.inputs.in_places(&mut inputs.clone().into_iter()))?;
        let all = places(&outputs);
        self.outputs.replace(Some(outputs));
        Ok(all)
    }
    fn rules(&self) -> Arc<dyn Rules> {
        Arc::new(Methods::<F>(PhantomData))
    }
    fn vmap(&self, batch: &vmap::Entries) -> Result<Option<vmap::Batches>> {
        let inputs = self.inputs.in_places(&mut batch.inputs.clone().into_iter());
        let Some((outputs, axes)) = overridden(F::vmap(&batch.info, &inputs, batch.axes))? else { return Ok(None) };
        let all = places(&outputs);
        self.outputs.replace(Some(outputs));
        Ok(Some((all, axes)))
    }
}

/// The rules of a function.
struct Methods<F>(PhantomData<fn() -> F>);

impl<F: Function> Rules for Methods<F> {
    fn name(&self) -> &'static str {
        F::name()
    }
    fn backward(&self, ctx: &Context, gradients: Places) -> Result<Places> {
        F::backward(ctx, given::<F::Outputs>(gradients)).map(returned::<F::Inputs>)
    }
    fn jvp(&self, ctx: &Context, tangents: Places) -> Result<Option<Places>> {
        Ok(overridden(F::jvp(ctx, given::<F::Inputs>(tangents)))?.map(returned::<F::Outputs>))
    }
    fn once_differentiable(&self) -> bool {
        F::ONCE_DIFFERENTIABLE
    }
}
