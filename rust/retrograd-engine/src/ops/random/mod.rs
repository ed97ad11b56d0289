//! Random numbers: the same as torch's CPU generator draws from the same seed.

pub mod choice;
pub mod draw;
pub mod factory;
#[cfg(feature = "random")]
pub mod variates;

use retrograd_macros::op;

use smallvec::smallvec;

use super::{Entry, Form, view};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply_as, apply1};
use crate::autograd::primitive::{Batch, BatchOuts, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::compile::record;
use crate::error::{Error, Result};
use crate::generator::Generator;
use crate::tensor::copy;
use crate::tensor::{DType, Dims, Dtypes, Tensor};
use crate::transforms::{self, Randomness};
use draw::{Draw, by_chance, draw_into};

pub use factory::{bernoulli_mask, rand, randn};

pub(crate) use draw::rounded;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &factory::RAND,
    &factory::RANDN,
    &factory::RANDINT_TO,
    &factory::RANDINT_FROM,
    &factory::RANDPERM,
    &factory::RAND_LIKE,
    &factory::RANDN_LIKE,
    &factory::RANDINT_LIKE_TO,
    &factory::RANDINT_LIKE_FROM,
    &UNIFORM,
    &NORMAL,
    &EXPONENTIAL,
    &CAUCHY,
    &LOG_NORMAL,
    &GEOMETRIC,
    &RANDOM_FROM,
    &RANDOM_TO,
    &RANDOM,
    &BERNOULLI,
    &BERNOULLI_WITH,
    &BERNOULLI_EACH,
    &BERNOULLI_ALL,
    &choice::MULTINOMIAL,
    &choice::NORMAL_AROUND,
    &choice::NORMAL_WITHIN,
    &choice::NORMAL_EACH,
    &choice::NORMAL_OF_SIZE,
    #[cfg(feature = "random")]
    &variates::POISSON,
    #[cfg(feature = "random")]
    &variates::BINOMIAL,
    #[cfg(feature = "random")]
    &variates::STANDARD_GAMMA,
    #[cfg(feature = "random")]
    &variates::STANDARD_GAMMA_GRAD,
    #[cfg(feature = "random")]
    &variates::SAMPLE_DIRICHLET,
    #[cfg(feature = "random")]
    &variates::DIRICHLET_GRAD,
];

/// The rule of an op that draws: each entry of a batch has its own numbers, as if the batch were one tensor.
pub(crate) fn batched<P: Primitive>(op: &P, xs: &[&Tensor], axes: &[Option<usize>], batch: usize) -> Result<BatchOuts> {
    transforms::refuse_same(P::NAME)?;
    let first = |(x, axis): (&&Tensor, &Option<usize>)| view::batch_first(x, *axis, batch);
    let all = xs.iter().zip(axes).map(first).collect::<Result<Vec<_>>>()?;
    let ndim = all.iter().map(Tensor::ndim).max().unwrap_or(1);
    // Operands with fewer dims broadcast behind the batch.
    let behind = |x: &Tensor| {
        let mut sizes = Dims::from_elem(1, ndim);
        sizes[0] = batch;
        sizes[ndim + 1 - x.ndim()..].copy_from_slice(&x.sizes()[1..]);
        view::view_to(x, &sizes)
    };
    let all = all.iter().map(behind).collect::<Result<Vec<_>>>()?;
    Ok((out(apply1(op.clone(), &all.iter().collect::<Vec<_>>())?), smallvec![Some(0)]))
}

/// A tensor overwritten with draws; the old value gets a zero gradient.
#[derive(Clone, Debug)]
struct Redraw {
    how: Draw,
    generator: Option<Generator>,
}

impl Primitive for Redraw {
    const NAME: &'static str = "random_";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::NUMERIC;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        if transforms::in_rule() == Randomness::Same {
            let one = Tensor::zeros(&xs[0].sizes()[usize::from(axes[0].is_some())..], xs[0].dtype())?;
            return Ok((apply(op.clone(), &[&one])?, smallvec![None]));
        }
        // Each entry of a batch has its own numbers, as if the batch were one tensor.
        Ok((apply(op.clone(), &[&view::batch_first(xs[0], axes[0], batch)?])?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn node(&self) -> &'static str {
        match self.how {
            Draw::Uniform { .. } => "UniformBackward0",
            Draw::Normal { .. } => "NormalBackward0",
            Draw::Exponential { .. } => "ExponentialBackward0",
            Draw::Cauchy { .. } => "CauchyBackward0",
            Draw::LogNormal { .. } => "LogNormalBackward0",
            Draw::Geometric { .. } => "GeometricBackward0",
            Draw::Below { .. } | Draw::From(_) => "RandomBackward0",
            Draw::Any => "RandomBackward2",
            Draw::Chance(_) => "BernoulliBackward2",
        }
    }
    fn kernel_name(&self) -> &'static str {
        self.how.kernel_name()
    }
    fn dtypes(&self) -> Dtypes {
        self.how.dtypes()
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let t = xs[0].empty_like_layout(xs[0].dtype())?;
        // SAFETY: fresh.
        unsafe { self.forward_into(xs, &t)? };
        Ok(out(t))
    }
    unsafe fn forward_into(&self, _: &[&Tensor], out: &Tensor) -> Result<bool> {
        self.how.check(out.dtype())?;
        draw_into(out, self.how, self.generator.as_ref())?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Tensor::zeros(cx.g().sizes(), cx.g().dtype()).map(one)
    }
}

/// Writes draws to a fresh tensor: as an op where what a function does is recorded.
fn fill(t: &Tensor, how: Draw, generator: Option<&Generator>) -> Result<()> {
    if !record::is_recording() {
        return draw_into(t, how, generator);
    }
    record::unwritten(t);
    apply_as(Form::InPlace, Redraw { how, generator: generator.cloned() }, &[t])?;
    t.set_version(0);
    Ok(())
}

fn redraw(form: Form, input: &Tensor, how: Draw, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for(how.name(), input, form)?;
    apply_as(form, Redraw { how, generator: generator.cloned() }, &[&input])
}

/// torch's name of the kernel that draws by probabilities.
const CHANCES: &str = "bernoulli_tensor_cpu_p_";

/// `bernoulli` of a tensor of probabilities: they get a zero gradient.
#[derive(Clone, Debug)]
struct Bernoulli {
    generator: Option<Generator>,
}

impl Primitive for Bernoulli {
    const NAME: &'static str = "bernoulli";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        transforms::refuse_same(Self::NAME)?;
        Ok((apply(op.clone(), &[&view::batch_first(xs[0], axes[0], batch)?])?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        CHANCES
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        by_chance(xs[0], self.generator.as_ref()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Tensor::zeros(cx.g().sizes(), cx.g().dtype()).map(one)
    }
}

/// `bernoulli_` with a tensor of probabilities: both operands get a zero gradient.
#[derive(Clone, Debug)]
struct BernoulliEach {
    generator: Option<Generator>,
}

impl Primitive for BernoulliEach {
    const NAME: &'static str = "bernoulli_";
    const NODE: &'static str = "BernoulliBackward1";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        transforms::refuse_same(Self::NAME)?;
        let (x, p) = (view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        // Probabilities with fewer dims broadcast behind the batch.
        let mut sizes: Dims = smallvec![1; x.ndim()];
        sizes[0] = batch;
        let lead = (x.ndim() + 1).saturating_sub(p.ndim()).max(1);
        sizes[lead..].copy_from_slice(&p.sizes()[1..]);
        Ok((apply(op.clone(), &[&x, &view::view_to(&p, &sizes)?])?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[1].dtype())
    }
    fn kernel_name(&self) -> &'static str {
        CHANCES
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if xs[0].dtype().is_complex() {
            return Err(Error::no_kernel("bernoulli_tensor_cpu_self_", xs[0].dtype()));
        }
        let p = Tensor::empty(xs[0].sizes(), xs[1].dtype())?;
        copy::copy_into(xs[1], &p)?;
        copy::cast(&by_chance(&p, self.generator.as_ref())?, xs[0].dtype()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let zeros = |i: usize| cx.when(i, || Tensor::zeros(cx.sizes(i), cx.dtype(i)));
        let mut grads = maybe(zeros(0)?);
        grads.push(zeros(1)?);
        Ok(grads)
    }
}

/// Overwrites the tensor with uniform random numbers in `[from, to)`.
///
/// Args: `from`, `to` numbers; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for an empty range; NotImplementedError for a dtype that is neither floating nor complex.
///
/// >>> rg.zeros(2).uniform_(3, 3).tolist()
/// [3.0, 3.0]
#[op(inplace, "(from=0.0, to=1.0, *, generator=None)")]
pub fn uniform(input: &Tensor, r#from: f64, to: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Uniform { lo: r#from, hi: to }, generator)
}

/// Overwrites the tensor with normal random numbers.
///
/// Args: `mean`, `std` numbers; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a negative `std`; NotImplementedError for a dtype that is neither floating nor complex.
///
/// >>> rg.zeros(2).normal_(3, 0).tolist()
/// [3.0, 3.0]
#[op(inplace, "(mean=0.0, std=1.0, *, generator=None)")]
pub fn normal(input: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Normal { mean, std }, generator)
}

/// Overwrites the tensor with exponentially distributed random numbers, whose mean is `1 / lambd`.
///
/// Args: `lambd` a positive number; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a `lambd` that is not positive, and for a dtype that is not floating.
///
/// >>> rg.zeros(2).exponential_(rg.inf).tolist()
/// [0.0, 0.0]
#[op(inplace, "(lambd=1.0, *, generator=None)")]
pub fn exponential(input: &Tensor, lambd: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Exponential { rate: lambd }, generator)
}

/// Overwrites the tensor with random numbers of Cauchy's distribution, `sigma / (pi * (sigma**2 + (x - median)**2))`.
///
/// Args: `median` a number, `sigma` a positive one; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a `sigma` that is not positive, and for a dtype that is not floating.
///
/// >>> rg.zeros(2).cauchy_(3.0, 1e-30).tolist()
/// [3.0, 3.0]
#[op(inplace, "(median=0.0, sigma=1.0, *, generator=None)")]
pub fn cauchy(input: &Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Cauchy { median, sigma }, generator)
}

/// Overwrites the tensor with the exponentials of normal random numbers.
///
/// Args: `mean`, `std` of the normal numbers, `std` positive; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a `std` that is not positive; NotImplementedError for a dtype that is not floating.
///
/// >>> rg.zeros(2).log_normal_(0.0, 1e-30).tolist()
/// [1.0, 1.0]
#[op(inplace, "(mean=1.0, std=2.0, *, generator=None)")]
pub fn log_normal(input: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::LogNormal { mean, std }, generator)
}

/// Overwrites the tensor with random counts: how many trials it takes to succeed, each with the chance `p`.
///
/// Args: `p` a number between 0 and 1; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for another `p`; NotImplementedError for bool and complex tensors.
///
/// >>> rg.zeros(2).geometric_(1 - 1e-16).tolist()
/// [1.0, 1.0]
#[op(inplace, "(*, generator=None)")]
pub fn geometric(input: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Geometric { p }, generator)
}

/// Overwrites the tensor with random integers in `[from, to)`.
///
/// Args: `from`, `to` integers, None for the largest of the dtype; `generator` draws (the default one).
/// Derivative: zero. Raises: RuntimeError if the range is empty or leaves the dtype.
///
/// >>> rg.zeros(2).random_(3, 4).tolist()
/// [3.0, 3.0]
#[op(inplace, norust, name = "random", "(*, generator=None)")]
pub fn random_from(input: &Tensor, r#from: i64, to: Option<i64>, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, to.map_or(Draw::From(r#from), |hi| Draw::Below { lo: r#from, hi }), generator)
}

/// Overwrites the tensor with random integers in `[0, to)`.
///
/// Args, Derivative, Raises: as above.
///
/// >>> rg.ones(2).random_(1).tolist()
/// [0.0, 0.0]
#[op(inplace, norust, name = "random", "(*, generator=None)")]
pub fn random_to(input: &Tensor, to: i64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Below { lo: 0, hi: to }, generator)
}

/// Overwrites the tensor with random integers from 0 to the largest of its dtype (for floats, to the largest up to
/// which all are exact).
///
/// Args: `generator` draws (the default one). Derivative: zero.
///
/// >>> rg.zeros(2).random_().shape
/// retrograd.Size([2])
#[op(inplace, "(*, generator=None)")]
pub fn random(input: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Any, generator)
}

/// 1 with the probability in each element, else 0.
///
/// Args: `input` probabilities of a floating dtype; `generator` draws (the default one).
/// Returns: the same shape and dtype. Derivative: zero. Raises: RuntimeError for a probability outside 0 to 1.
///
/// >>> rg.bernoulli(rg.tensor([0.0, 1.0])).tolist()
/// [0.0, 1.0]
#[op(function, method, out, "(*, generator=None)")]
pub fn bernoulli(input: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for("bernoulli", input, Form::New)?;
    apply1(Bernoulli { generator: generator.cloned() }, &[&input])
}

/// 1 with probability `p`, else 0, of the size and dtype of `input`.
///
/// Args: `p` a number; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a probability outside 0 to 1.
///
/// >>> rg.bernoulli(rg.zeros(2), 1.0).tolist()
/// [1.0, 1.0]
#[op(function, method, norust, name = "bernoulli", "(*, generator=None)")]
pub fn bernoulli_with(input: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(Form::New, input, Draw::Chance(p), generator)
}

/// Overwrites the tensor with 1 with the probability in each element of `p`, else 0.
///
/// Args: `p` probabilities of a floating dtype, broadcast; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a probability outside 0 to 1, or if `p` does not broadcast to the tensor.
///
/// >>> rg.zeros(2).bernoulli_(rg.tensor([0.0, 1.0])).tolist()
/// [0.0, 1.0]
#[op(inplace, norust, name = "bernoulli", "(*, generator=None)")]
pub fn bernoulli_each(input: &Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let input = transforms::to_draw_for("bernoulli_", input, form)?;
    apply_as(form, BernoulliEach { generator: generator.cloned() }, &[&input, p])
}

/// Overwrites the tensor with 1 with probability `p`, else 0.
///
/// Args: `p` a number; `generator` draws (the default one). Derivative: zero.
/// Raises: RuntimeError for a probability outside 0 to 1.
///
/// >>> rg.zeros(2).bernoulli_(1.0).tolist()
/// [1.0, 1.0]
#[op(inplace, norust, name = "bernoulli", "(p=0.5, *, generator=None)")]
pub fn bernoulli_all(input: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
    redraw(form, input, Draw::Chance(p), generator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::TensorOptions;
    use crate::{DType, Scalar};

    #[test]
    fn redrawn_values_get_a_zero_gradient() {
        let x = Tensor::ones(&[3], DType::Float64).unwrap();
        x.set_requires_grad(true).unwrap();
        assert!(x.uniform_(0.0, 1.0, None).is_err(), "a leaf that requires grad");
        let y = crate::ops::memory::cloned(&x).unwrap();
        y.normal_(0.0, 1.0, Some(&Generator::new(1))).unwrap();
        assert_eq!(y.grad_fn().unwrap().unwrap().node.name(), "NormalBackward0");
        crate::autograd::backward(&y.sum(None).unwrap()).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [0.0; 3]);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let usual = TensorOptions::default();
        let one = |seed| {
            let t = factory::rand(&[4], Some(&Generator::new(seed)), usual).unwrap();
            t.to_vec::<f32>().unwrap()
        };
        assert!(one(3) == one(3) && one(3) != one(4));
        let g = Generator::new(7);
        let perm = factory::randperm(6, Some(&g), usual).unwrap();
        assert_eq!(perm.to_vec::<i64>().unwrap(), [3, 0, 1, 5, 2, 4]);
        assert!(factory::randperm(-1, None, usual).is_err());
        assert!(factory::randperm(300, None, DType::UInt8.into()).is_err());
        assert!(factory::randint_from(5, 5, &[2], None, usual).is_err());
        assert!(factory::rand(&[2], None, DType::Int64.into()).is_err());
        let mask = bernoulli_mask(&[10], 0.5, Some(&Generator::new(7))).unwrap();
        assert_eq!(mask.to_vec::<i64>().unwrap(), [1, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
        let t = Tensor::full(&[2], Scalar::Int(0), DType::Int64).unwrap();
        bernoulli_each_as(Form::InPlace, &t, &Tensor::ones(&[1], DType::Float32).unwrap(), None).unwrap();
        assert_eq!(t.to_vec::<i64>().unwrap(), [1, 1]);
    }
}
