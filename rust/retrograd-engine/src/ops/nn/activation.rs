//! Activations of one variable: what the definition of one states, and the two primitives that run it.

use std::fmt;
use std::marker::PhantomData;

use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1, check_target};
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::Result;
use crate::kernels::math;
use crate::kernels::pointwise::{Body, lanes_of_slices};
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{out_like, run_scalar_loop, zeros_of};
use crate::ops::{Form, Value};
use crate::tensor::copy;
use crate::tensor::{Dtypes, Scalar, Tensor, layout};

/// How many parameters an activation has at most.
const PARAMETERS: usize = 3;
/// Parameters of an activation; those that it does not have are 0.
pub(super) type Parameters<T> = [T; PARAMETERS];

/// A function of one variable with its derivatives. Implementors mark `value` and `vjp` `#[inline(always)]`.
pub(super) trait Activation: fmt::Debug + Copy + Send + Sync + 'static {
    const NODE: &'static str;
    /// The node of the derivative.
    const BACKWARD_NODE: &'static str;
    fn value<V: Vector>(p: Parameters<V>, x: V) -> V;
    /// `g` times the derivative, which at a kink is a convention. Where the activation is constant the result is 0
    /// without a product: 0 times an infinite `g` would be NaN.
    fn vjp<V: Vector>(p: Parameters<V>, g: V, x: V) -> V;
    /// `g` times the second derivative, in ops; `None` if that is zero everywhere. Where it is zero, the result is 0
    /// without a product, as in [`Activation::vjp`].
    fn second_derivative(_p: Parameters<f64>, _g: &Tensor, _x: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }
    /// Parameters as the node shows them.
    fn shown(_p: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// The body of [`Activation::value`].
struct ValueOf<A, T>(Parameters<T>, PhantomData<A>);
impl<A: Activation, T: Real> Body<T, 1> for ValueOf<A, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        A::value(self.0.map(|p| x.splat(p)), x)
    }
}

/// The body of [`Activation::vjp`].
struct VjpOf<A, T>(Parameters<T>, PhantomData<A>);
impl<A: Activation, T: Real> Body<T, 2> for VjpOf<A, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, x]: [V; 2]) -> V {
        A::vjp(self.0.map(|p| x.splat(p)), g, x)
    }
}

/// An [`Activation`] applied to each element: reverse `g` times the derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActivationOp<A> {
    p: Parameters<Scalar>,
    activation: PhantomData<A>,
}

impl<A: Activation> ActivationOp<A> {
    fn with(p: &[Scalar]) -> Self {
        let mut all = [Scalar::Int(0); PARAMETERS];
        all[..p.len()].copy_from_slice(p);
        Self { p: all, activation: PhantomData }
    }
    /// The parameters, in either precision.
    fn parameters(&self) -> (Parameters<f32>, Parameters<f64>) {
        let p = self.p.map(Scalar::as_f64);
        (p.map(|p| p as f32), p)
    }
    fn value(&self, x: &Tensor, out: &Tensor) {
        let (p32, p) = self.parameters();
        let (single, double) = (ValueOf::<A, f32>(p32, PhantomData), ValueOf::<A, f64>(p, PhantomData));
        run_scalar_loop([x], out, &|xs, out| lanes_of_slices(&single, xs, out), &|xs, out| {
            lanes_of_slices(&double, xs, out);
        });
    }
    fn scaled_derivative(&self, g: &Tensor, x: &Tensor, out: &Tensor) {
        let (p32, p) = self.parameters();
        let (single, double) = (VjpOf::<A, f32>(p32, PhantomData), VjpOf::<A, f64>(p, PhantomData));
        run_scalar_loop([g, x], out, &|xs, out| lanes_of_slices(&single, xs, out), &|xs, out| {
            lanes_of_slices(&double, xs, out);
        });
    }
}

impl<A: Activation> Primitive for ActivationOp<A> {
    const NAME: &'static str = "activation";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        A::NODE
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let y = xs[0].empty_elementwise(xs[0].dtype())?;
        self.value(xs[0], &y);
        Ok(out(y))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        check_target(Self::NAME, xs[0].sizes(), xs[0].dtype(), out)?;
        if !xs[0].is_same(out) && copy::ranges_meet(xs[0], out) {
            return Ok(false);
        }
        self.value(xs[0], out);
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(ActivationBackward(*self), &[cx.g(), cx.saved(0)?]).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        cx.t(0).map(|t| apply1(ActivationBackward(*op), &[t, cx.xs[0]])).transpose().map(maybe)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        A::shown(self.p)
    }
}

/// `g f'(x)`. Reverse: `gg f'(x)` for `g`, `gg g f''(x)` for `x`.
#[derive(Clone, Copy, Debug)]
struct ActivationBackward<A>(ActivationOp<A>);

impl<A: Activation> ActivationBackward<A> {
    /// `a b f''(x)`.
    fn second_derivative(&self, a: &Tensor, b: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        A::second_derivative(self.0.parameters().1, &a.mul(b)?, x)
    }
}

impl<A: Activation> Primitive for ActivationBackward<A> {
    const NAME: &'static str = "activation_backward";
    const SAVE: &'static [Save] = &[Save::input(0, "grad_output").when(1), Save::input(1, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::LoopsAlone;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        A::BACKWARD_NODE
    }
    fn kernel_name(&self) -> &'static str {
        "activation"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (g, x) = (copy::cast(xs[0], xs[1].dtype())?, xs[1]);
        let sizes = layout::broadcast(Self::NAME, g.sizes(), x.sizes())?;
        let y = out_like(&sizes, x.dtype(), &[x, &g])?;
        self.0.scaled_derivative(&g, x, &y);
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(1)?;
        let mut grads = maybe(cx.when(0, || apply1(*self, &[cx.g(), x]))?);
        // Where the second derivative is zero the gradient is zeros rather than none: the path to the operand exists.
        let second = || self.second_derivative(cx.g(), cx.saved(0)?, x)?.map_or_else(|| zeros_of(cx.g()), Ok);
        grads.push(cx.when(1, second)?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (g, x) = (cx.xs[0], cx.xs[1]);
        let first = cx.t(0).map(|t| apply1(*op, &[t, x])).transpose()?;
        let second = match cx.t(1) {
            Some(t) => op.second_derivative(t, g, x)?,
            None => None,
        };
        Jvp::sum([first, second]).map(maybe)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        self.0.params()
    }
}

/// `low` where `x <= bound`, else `high`.
#[inline(always)]
pub(super) fn up_to<V: Vector>(bound: V, x: V, low: V, high: V) -> V {
    low.select(x.lt(bound), low.select(x.eq(bound), high))
}

/// `log(1 / (1 + exp(-x)))`, without overflow.
#[inline(always)]
pub(super) fn log_sigmoid<V: Vector>(x: V) -> V {
    x.at_most(x.of(0.0)) - math::log1p(math::exp(-x.abs()))
}

/// `g` unless the mask holds, else 0.
pub(super) fn unless(mask: &Tensor, g: &Tensor) -> Result<Tensor> {
    where_(mask, &Tensor::number(Scalar::Int(0))?, g)
}

/// `g` times the derivative of an activation at `x`.
pub(super) fn derivative_of<A: Activation>(g: &Tensor, x: &Tensor, p: &[Scalar]) -> Result<Tensor> {
    apply1(ActivationBackward(ActivationOp::<A>::with(p)), &[g, x])
}

/// Applies an activation to a float tensor, in place if asked.
pub(super) fn apply_activation<A: Activation>(inplace: bool, input: &Tensor, p: &[Scalar]) -> Result<Tensor> {
    let form = if inplace { Form::InPlace } else { Form::New };
    apply_as(form, ActivationOp::<A>::with(p), &[input])
}
