//! `rrelu`: a leaky ReLU whose slopes are random.

use retrograd_macros::op;

use super::activation::{apply_activation, derivative_of};
use super::piecewise_activations::LeakyRelu;
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::generator::{Generator, default_generator};
use crate::kernels::random;
use crate::ops::Form;
use crate::ops::random::{batched, rounded};
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};
use crate::transforms;

/// The slopes of elements: random where they are not positive, else 1.
#[derive(Clone, Debug)]
struct Slopes {
    lower: f64,
    upper: f64,
    generator: Option<Generator>,
}

impl Primitive for Slopes {
    const NAME: &'static str = "rrelu";
    const NODE: &'static str = "NotDifferentiable";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::of(&[DType::BFloat16]));
    const HALVES: Halves = Halves::InFloat32;
    // As drawn: results are rounded once.
    const STATISTICS: u32 = 0b1;
    const BATCH: Batch<Self> = Batch::Rule(batched);
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        "rrelu_with_noise_out_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0].to_vec::<f64>()?;
        let mut drawn = vec![0.0; x.iter().filter(|&&x| x <= 0.0).count()];
        // In double precision, between bounds in that of the tensor.
        let [lower, upper] = [self.lower, self.upper].map(|v| rounded(v, xs[0].dtype()));
        let generator = self.generator.as_ref().unwrap_or_else(|| default_generator());
        generator.with(|g| random::uniform_f64(g, &mut drawn, lower, upper));
        let mut drawn = drawn.into_iter();
        let slopes = x.iter().map(|&x| if x <= 0.0 { drawn.next().unwrap_or(1.0) } else { 1.0 });
        let slopes: Vec<f64> = slopes.collect();
        copy::cast(&Tensor::from_slice(&slopes, xs[0].sizes())?, xs[0].dtype()).map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

/// `rrelu` with its slopes (`noise`), or in evaluation [`LeakyRelu`] with their mean.
#[derive(Clone, Copy, Debug)]
struct Rrelu {
    lower: Scalar,
    upper: Scalar,
    training: bool,
}

impl Rrelu {
    fn mean(&self) -> [Scalar; 1] {
        [Scalar::Float((self.lower.as_f64() + self.upper.as_f64()) / 2.0)]
    }
    fn scaled(&self, g: &Tensor, x: &Tensor, noise: &Tensor) -> Result<Tensor> {
        if self.training { g.mul(noise) } else { derivative_of::<LeakyRelu>(g, x, &self.mean()) }
    }
}

impl Primitive for Rrelu {
    const NAME: &'static str = "rrelu";
    const NODE: &'static str = "RreluWithNoiseBackward0";
    const SAVE: &'static [Save] = &[Save::input(1, "noise"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; lower, training, upper);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn inputs(&self) -> u32 {
        0b1
    }
    fn kernel_name(&self) -> &'static str {
        "leaky_relu_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0].detach();
        if self.training { x.mul(xs[1]) } else { apply_activation::<LeakyRelu>(false, &x, &self.mean()) }.map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = one(self.scaled(cx.g(), cx.saved(1)?, cx.saved(0)?)?);
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|op, cx| cx.t(0).map(|t| op.scaled(t, cx.xs[0], cx.xs[1])).transpose().map(maybe));
}

fn run(form: Form, x: &Tensor, lower: Scalar, upper: Scalar, training: bool) -> Result<Tensor> {
    const OP: &str = "rrelu";
    let [low, high] = [lower, upper].map(Scalar::as_f64);
    for (name, bound) in [("lower", low), ("upper", high)] {
        if !bound.is_finite() {
            let shown = if bound.is_nan() { "nan".to_string() } else { bound.to_string() };
            return Err(Error::shape(OP, format!("rrelu: {name} bound must be finite, got {shown}")));
        }
    }
    if low > high {
        let detail = format!("Lower bound should be less than or equal to the upper bound, got {low} and {high}");
        return Err(Error::shape(OP, detail));
    }
    let op = Rrelu { lower, upper, training };
    if !training {
        let noise = view::expand_to(&Tensor::zeros(&[], x.dtype())?, x.sizes())?;
        return apply_as(form, op, &[x, &noise]);
    }
    let x = transforms::to_draw_for(OP, x, form)?;
    let noise = apply1(Slopes { lower: low, upper: high, generator: None }, &[&x.detach()])?;
    apply_as(form, op, &[&x, &noise])
}

/// `input` where positive, else `input` times a random number between `lower` and `upper`, which in evaluation is their
/// mean; in `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape (float16 in evaluation only); `lower`, `upper` numbers; `training` to draw,
/// from the default generator. Returns: a tensor of the same shape, or `input`. Derivative: `g` where `input > 0`, else
/// `g` times the same number. Raises: RuntimeError for `lower` above `upper` or bounds that are not finite.
///
/// >>> rg.nn.functional.rrelu(rg.tensor([-4.0, 2.0]), 0.25, 0.75).tolist()
/// [-2.0, 2.0]
#[op(
    function,
    norust,
    module = "nn.functional",
    "(lower=0.125, upper=0.3333333333333333, training=False, inplace=False)"
)]
pub fn rrelu(input: &Tensor, lower: Scalar, upper: Scalar, training: bool, inplace: bool) -> Result<Tensor> {
    run(if inplace { Form::InPlace } else { Form::New }, input, lower, upper, training)
}

/// As `rrelu`, in `input` itself.
///
/// Args, Derivative, Raises: as `rrelu`. Returns: `input`.
///
/// >>> rg.nn.functional.rrelu_(rg.tensor([-4.0, 2.0]), 0.25, 0.75).tolist()
/// [-2.0, 2.0]
#[op(
    function,
    norust,
    module = "nn.functional",
    name = "rrelu_",
    "(lower=0.125, upper=0.3333333333333333, training=False)"
)]
pub fn rrelu_inplace(input: &Tensor, lower: Scalar, upper: Scalar, training: bool) -> Result<Tensor> {
    run(Form::InPlace, input, lower, upper, training)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives_in_evaluation() {
        let x = noise(1, &[4, 5]);
        gradcheck(&|xs| rrelu(&xs[0], 0.2.into(), 0.6.into(), false, false), &[x]);
    }

    #[test]
    fn slopes_are_between_the_bounds() {
        let x = noise(1, &[200]);
        let y = rrelu(&x, 0.2.into(), 0.6.into(), true, false).unwrap().div(&x).unwrap().to_vec::<f64>().unwrap();
        let x = x.to_vec::<f64>().unwrap();
        assert!(x.iter().zip(&y).all(|(&x, y)| if x > 0.0 { *y == 1.0 } else { (0.2..0.6).contains(y) }));
    }
}
