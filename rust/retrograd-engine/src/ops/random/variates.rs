//! Draws with a parameter for each number: of Poisson's, the binomial, the gamma and Dirichlet's distribution.

use retrograd_macros::op;

use super::{batched, view};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::generator::{Generator, default_generator};
use crate::kernels::random::{self, Mt19937};
use crate::kernels::special;
use crate::match_dtype;
use crate::ops::Form;
use crate::ops::pointwise::incomplete_gamma::sample_slope;
use crate::tensor::copy;
use crate::tensor::layout::broadcast;
use crate::tensor::{DType, Dtypes, Tensor};
use crate::transforms;

/// Fills a tensor of the sizes and dtype of `like` in row-major order: `draw` gets the index of each number.
fn drawn(like: &Tensor, generator: Option<&Generator>, draw: impl Fn(&mut Mt19937, usize) -> f64) -> Result<Tensor> {
    let generator = generator.unwrap_or_else(|| default_generator());
    match_dtype!(floats, like.dtype(), T => Tensor::build::<T>(like.sizes(), |to| {
        generator.with(|g| to.iter_mut().enumerate().for_each(|(i, o)| *o = draw(g, i) as T));
    }))
}

/// The refusal to differentiate.
fn no_derivative<T>(op: &str, why: &str) -> Result<T> {
    Err(Error::not_implemented(format!("the derivative for '{op}' is not implemented: {why}")))
}

/// `poisson`: the rates get a zero gradient.
#[derive(Clone, Debug)]
struct Poisson {
    generator: Option<Generator>,
}

impl Primitive for Poisson {
    const NAME: &'static str = "poisson";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(batched);
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        "poisson_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let rates = xs[0].to_vec::<f64>()?;
        if let Some(rate) = rates.iter().find(|&&r| r.is_nan() || r < 0.0) {
            let detail = format!("invalid Poisson rate, expected rate to be non-negative, got {rate}");
            return Err(Error::shape(Self::NAME, detail));
        }
        drawn(xs[0], self.generator.as_ref(), |g, i| random::poisson(g, rates[i])).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Tensor::zeros(cx.g().sizes(), cx.g().dtype()).map(one)
    }
}

/// Random counts of Poisson's distribution with the rates in `input`.
///
/// Args: `input` not negative, floating dtype; `generator` draws (the default one).
/// Returns: the same shape and dtype. Derivative: zero. Raises: RuntimeError for a negative rate; NotImplementedError
/// for integers.
///
/// >>> rg.poisson(rg.zeros(2)).tolist()
/// [0.0, 0.0]
#[op(function, norust, "(generator=None)")]
pub fn poisson(input: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for("poisson", input, Form::New)?;
    apply1(Poisson { generator: generator.cloned() }, &[&input])
}

/// `binomial`.
#[derive(Clone, Debug)]
struct Binomial {
    generator: Option<Generator>,
}

impl Binomial {
    const WHY: &'static str = "counts do not change continuously with their parameters; detach() them";
}

impl Primitive for Binomial {
    const NAME: &'static str = "binomial";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(batched);
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(Self::NAME, Self::WHY));
    fn kernel_name(&self) -> &'static str {
        "binomial_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let sizes = broadcast(Self::NAME, xs[0].sizes(), xs[1].sizes())?;
        let whole = |x: &Tensor| view::expand_to(x, &sizes)?.to_vec::<f64>();
        let (counts, chances) = (whole(xs[0])?, whole(xs[1])?);
        let like = view::expand_to(xs[0], &sizes)?;
        let single = like.dtype() == DType::Float32;
        let one = |g: &mut Mt19937, i: usize| {
            let draw = if single { random::binomial::<f32> } else { random::binomial::<f64> };
            draw(g, counts[i], chances[i])
        };
        drawn(&like, self.generator.as_ref(), one).map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, Self::WHY)
    }
}

/// Random counts of successes in `count` trials, each with the chance `prob`.
///
/// Args: `count`, `prob` float32 or float64, both of one dtype, with broadcastable shapes; chances outside 0 to 1 count
/// as these; `generator` draws (the default one).
/// Returns: a tensor of the broadcast shape and the same dtype; NaN where an argument is. No derivative. Raises:
/// ValueError for integers, RuntimeError for different dtypes.
///
/// >>> rg.binomial(rg.tensor([5.0, 5.0]), rg.tensor([0.0, 1.0])).tolist()
/// [0.0, 5.0]
#[op(function, norust, "(generator=None)")]
pub fn binomial(count: &Tensor, prob: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    const OP: &str = "binomial";
    for (x, name) in [(count, "count"), (prob, "prob")] {
        if !x.dtype().is_floating() {
            let kind = x.dtype().scalar_type_name();
            let detail = format!("binomial only supports floating-point dtypes for {name}, got: {kind}");
            return Err(Error::value(OP, detail));
        }
    }
    if prob.dtype() != count.dtype() {
        let [found, expected] = [prob, count].map(|x| x.dtype().scalar_type_name());
        return Err(Error::dtype(OP, format!("Found dtype {found} but expected {expected}")));
    }
    let count = transforms::to_draw_for(OP, count, Form::New)?;
    let prob = transforms::to_draw_for(OP, prob, Form::New)?;
    apply1(Binomial { generator: generator.cloned() }, &[&count, &prob])
}

/// `_standard_gamma`. Reverse: [`sample_slope`] of the shapes and the result.
#[derive(Clone, Debug)]
struct StandardGamma {
    generator: Option<Generator>,
}

impl Primitive for StandardGamma {
    const NAME: &'static str = "_standard_gamma";
    const NODE: &'static str = "StandardGammaBackward0";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(batched);
    fn kernel_name(&self) -> &'static str {
        "gamma_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let shapes = xs[0].to_vec::<f64>()?;
        let single = xs[0].dtype() == DType::Float32;
        let one = |g: &mut Mt19937, i: usize| {
            // Never 0, whose logarithm is infinite; not NaN either.
            if single {
                f64::from(f32::MIN_POSITIVE.max(random::gamma::<f32>(g, shapes[i]) as f32))
            } else {
                f64::MIN_POSITIVE.max(random::gamma::<f64>(g, shapes[i]))
            }
        };
        drawn(xs[0], self.generator.as_ref(), one).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (result, shapes) = (cx.saved(0)?, cx.saved(1)?);
        cx.g().mul(&sample_slope(shapes, result)?).map(one)
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|_, cx| cx.t(0).map(|t| t.mul(&sample_slope(cx.xs[0], &cx.outs[0])?)).transpose().map(maybe));
}

/// Random numbers of the gamma distribution, of scale 1 and the shapes (often called alpha) in `input`.
///
/// Args: `input` positive, float32 or float64; `generator` draws (the default one). Returns: the same shape and dtype,
/// never 0. Derivative: `g` times that of the quantile by the shape, `-(dP/da) / p` with the distribution function `P`
/// and density `p` (Figurnov, Mohamed and Mnih 2018), exact where torch approximates, and to second order, which torch
/// has not. Raises: NotImplementedError for other dtypes.
///
/// >>> rg._standard_gamma(rg.full((2,), 1e6)).log10().round().tolist()
/// [6.0, 6.0]
#[op(function, norust, name = "_standard_gamma", "(generator=None)")]
pub fn standard_gamma(input: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for(StandardGamma::NAME, input, Form::New)?;
    apply1(StandardGamma { generator: generator.cloned() }, &[&input])
}

/// How random numbers of the gamma distribution change with the shape: the derivative of [`standard_gamma`].
///
/// Args: `input` the shapes, `output` the numbers, floating dtype, with broadcastable shapes. Returns: a tensor of the
/// broadcast shape; NaN for shapes and numbers that are not positive. Derivative: by `input` and by `output`, of first
/// order; torch has none. Raises: RuntimeError if shapes do not broadcast.
///
/// >>> rg._standard_gamma_grad(rg.tensor([1.0]), rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, norust, name = "_standard_gamma_grad")]
pub fn standard_gamma_grad(input: &Tensor, output: &Tensor) -> Result<Tensor> {
    sample_slope(input, output)
}

/// `_sample_dirichlet`. Reverse, with the slopes `s` of [`DirichletGrad`]: `s (g - sum(result g))`.
#[derive(Clone, Debug)]
struct SampleDirichlet {
    generator: Option<Generator>,
}

impl SampleDirichlet {
    fn slopes(alpha: &Tensor, result: &Tensor) -> Result<Tensor> {
        let total = alpha.sum_dims(&[-1], true)?;
        apply1(DirichletGrad, &[result, alpha, &view::expand_to(&total, alpha.sizes())?])
    }
}

impl Primitive for SampleDirichlet {
    const NAME: &'static str = "_sample_dirichlet";
    const NODE: &'static str = "SampleDirichletBackward0";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        if xs[0].ndim() == 1 {
            // One number for each entry, whose sum is its own.
            let (outs, axes) = batched(op, &[&xs[0].unsqueeze(-1)?], axes, batch)?;
            return Ok((out(view::squeeze_dim(&outs[0], -1)?), axes));
        }
        batched(op, xs, axes, batch)
    });
    fn kernel_name(&self) -> &'static str {
        "dirichlet"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let alpha = xs[0].to_vec::<f64>()?;
        let generator = self.generator.as_ref().unwrap_or_else(|| default_generator());
        let gammas: Vec<f64> = generator.with(|g| {
            let one = |&alpha: &f64| f64::MIN_POSITIVE.max(random::gamma::<f64>(g, alpha));
            alpha.iter().map(one).collect()
        });
        let row = xs[0].sizes().last().copied().unwrap_or(1).max(1);
        match_dtype!(floats, xs[0].dtype(), T => Tensor::build::<T>(xs[0].sizes(), |to| {
            for (to, gammas) in to.chunks_mut(row).zip(gammas.chunks(row)) {
                let sum: f64 = gammas.iter().sum();
                for (o, x) in to.iter_mut().zip(gammas) {
                    *o = T::MIN_POSITIVE.max((x / sum) as T).min((1.0 as T).next_down());
                }
            }
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, result, alpha) = (cx.g(), cx.saved(0)?, cx.saved(1)?);
        if alpha.ndim() == 0 {
            return Tensor::zeros(&[], g.dtype()).map(one);
        }
        let along = g.sub(&result.mul(g)?.sum_dims(&[-1], true)?)?;
        Self::slopes(alpha, result)?.mul(&along).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let (alpha, result) = (cx.xs[0], &cx.outs[0]);
        let along = |t: &Tensor| {
            let moved = Self::slopes(alpha, result)?.mul(t)?;
            moved.sub(&result.mul(&moved.sum_dims(&[-1], true)?)?)
        };
        cx.t(0).filter(|_| alpha.ndim() > 0).map(along).transpose().map(maybe)
    });
}

/// Random shares of a whole, of Dirichlet's distribution with the concentrations in the rows of `input`.
///
/// Args: `input` positive, float32 or float64; `generator` draws (the default one). Returns: the same shape and dtype;
/// each row of the last dim sums to 1. Derivative: `s * (g - sum(result * g))` with the slopes `s` of
/// `_dirichlet_grad`. Raises: NotImplementedError for other dtypes, and for second derivatives.
///
/// >>> rg._sample_dirichlet(rg.tensor([1e8, 1e8])).mul(100).round().tolist()
/// [50.0, 50.0]
#[op(function, norust, name = "_sample_dirichlet", "(generator=None)")]
pub fn sample_dirichlet(input: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for(SampleDirichlet::NAME, input, Form::New)?;
    apply1(SampleDirichlet { generator: generator.cloned() }, &[&input])
}

/// `_dirichlet_grad`.
#[derive(Clone, Copy, Debug)]
struct DirichletGrad;

impl DirichletGrad {
    const WHY: &'static str = "random shares have first derivatives only";
}

impl Primitive for DirichletGrad {
    const NAME: &'static str = "_dirichlet_grad";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(Self::NAME, Self::WHY));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let sizes = broadcast(Self::NAME, &broadcast(Self::NAME, xs[0].sizes(), xs[1].sizes())?, xs[2].sizes())?;
        let whole = |x: &Tensor| copy::contiguous(&view::expand_to(x, &sizes)?)?.to_vec::<f64>();
        let (x, alpha, total) = (whole(xs[0])?, whole(xs[1])?, whole(xs[2])?);
        match_dtype!(floats, xs[0].dtype(), T => Tensor::build::<T>(&sizes, |to| {
            for (i, o) in to.iter_mut().enumerate() {
                *o = special::dirichlet_sample_slope(x[i], alpha[i], total[i]) as T;
            }
        }).map(out))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, Self::WHY)
    }
}

/// How a random share of Dirichlet's distribution changes with its concentration: the derivative of a number `x` of the
/// beta distribution of `alpha` and `total - alpha` by `alpha`, over `1 - x`.
///
/// Args: `x`, `alpha`, `total` float32 or float64 of one dtype, with broadcastable shapes. Returns: a tensor of the
/// broadcast shape: `-(dI/dalpha) / p / (1 - x)` with the distribution function `I` (DLMF 8.17.22, differentiated term
/// by term) and density `p`. No derivative. Raises: RuntimeError for different dtypes or if shapes do not broadcast.
///
/// >>> rg._dirichlet_grad(rg.tensor([0.5]), rg.tensor([1.0]), rg.tensor([2.0])).tolist()
/// [0.6931471824645996]
#[op(function, norust, name = "_dirichlet_grad")]
pub fn dirichlet_grad(x: &Tensor, alpha: &Tensor, total: &Tensor) -> Result<Tensor> {
    for other in [alpha, total] {
        if other.dtype() != x.dtype() {
            let [found, expected] = [other, x].map(|x| x.dtype().scalar_type_name());
            return Err(Error::dtype(DirichletGrad::NAME, format!("Found dtype {found} but expected {expected}")));
        }
    }
    apply1(DirichletGrad, &[x, alpha, total])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded() -> Generator {
        Generator::new(7)
    }

    #[test]
    fn poisson_refuses_negative_rates_and_passes_zeros() {
        let x = Tensor::from_slice(&[0.0, 3.0, 40.0], &[3]).unwrap();
        x.set_requires_grad(true).unwrap();
        let y = poisson(&x, Some(&seeded())).unwrap();
        crate::autograd::backward(&y.sum(None).unwrap()).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [0.0; 3]);
        assert!(poisson(&x.detach().neg().unwrap(), None).is_err());
    }

    #[test]
    fn shares_are_of_one() {
        let alpha = Tensor::from_slice(&[0.1, 2.0, 30.0, 1.0, 1.0, 1.0], &[2, 3]).unwrap();
        let sums = sample_dirichlet(&alpha, Some(&seeded())).unwrap().sum_dims(&[-1], false).unwrap();
        assert!(sums.to_vec::<f64>().unwrap().iter().all(|s| (s - 1.0).abs() < 1e-15));
    }
}
