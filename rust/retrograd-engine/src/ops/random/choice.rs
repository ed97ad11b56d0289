//! Random choices by probability, and normal numbers with means and deviations of their own.

use retrograd_macros::op;
use smallvec::smallvec;

use super::draw::{Draw, draw_into};
use super::factory::fresh;
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::generator::Generator;
use crate::ops::{Form, TensorOptions, view};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor, default_dtype};
use crate::transforms;

/// `multinomial`: indices along the last axis.
#[derive(Clone, Debug)]
struct Multinomial {
    count: usize,
    replacement: bool,
    generator: Option<Generator>,
}

const OP: &str = "multinomial";

impl Multinomial {
    /// With the probability of an element, over an exponential number, the largest is at its index.
    fn at_once(&self, p: &Tensor) -> Result<Tensor> {
        let exponential = Tensor::empty(p.sizes(), p.dtype())?;
        draw_into(&exponential, Draw::Exponential { rate: 1.0 }, self.generator.as_ref())?;
        let keys = p.div(&exponential)?;
        if self.count == 1 { keys.argmax(Some(-1), true) } else { Ok(keys.topk(self.count as i64, -1, true, true)?.1) }
    }

    /// Each choice by a uniform number among the running sums.
    fn one_by_one(&self, p: &Tensor) -> Result<Tensor> {
        let n = *p.sizes().last().expect("checked to have an axis");
        let mut chosen = p.sizes().to_vec();
        *chosen.last_mut().expect("as above") = self.count;
        let uniform = Tensor::empty(&chosen, DType::Float64)?;
        draw_into(&uniform, Draw::Uniform { lo: 0.0, hi: 1.0 }, self.generator.as_ref())?;
        let uniform = uniform.to_vec::<f64>()?;
        macro_rules! choose {
            ($T:ty) => {{
                let p = p.to_vec::<$T>()?;
                let mut sums: Vec<$T> = vec![0.0; n];
                Tensor::build::<i64>(&chosen, |out| {
                    for (i, row) in out.chunks_mut(self.count).enumerate() {
                        let mut sum = 0.0;
                        for (s, &p) in sums.iter_mut().zip(&p[i * n..]) {
                            sum += p;
                            *s = sum;
                        }
                        sums.iter_mut().for_each(|s| *s /= sum);
                        sums[n - 1] = 1.0;
                        for (o, &u) in row.iter_mut().zip(&uniform[i * self.count..]) {
                            *o = sums.partition_point(|&s| f64::from(s) < u) as i64;
                        }
                    }
                })
            }};
        }
        if p.dtype() == DType::Float64 { choose!(f64) } else { choose!(f32) }
    }
}

impl Primitive for Multinomial {
    const NAME: &'static str = OP;
    const NODE: &'static str = "NotDifferentiable";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        transforms::refuse_same(OP)?;
        Ok((apply(op.clone(), &[&view::batch_first(xs[0], axes[0], batch)?])?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let p = copy::contiguous(xs[0])?;
        let n = p.sizes().last().copied().unwrap_or(0);
        let numbers = p.to_vec::<f64>()?;
        if !numbers.iter().all(|x| (0.0..f64::INFINITY).contains(x)) {
            return Err(Error::shape(OP, "probability tensor contains either `inf`, `nan` or element < 0"));
        }
        if numbers.chunks(n.max(1)).any(|row| row.iter().sum::<f64>() == 0.0) {
            return Err(Error::shape(OP, "invalid multinomial distribution (sum of probabilities <= 0)"));
        }
        if self.replacement && self.count > 1 { self.one_by_one(&p) } else { self.at_once(&p) }.map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

/// Indices, each drawn with the probability that stands there.
///
/// Args: `input` weights, none negative, that need not sum to 1: a vector or rows of them, floating dtype;
/// `num_samples` how many indices for each; `replacement` lets an index be drawn again; `generator` draws (the default
/// one).
/// Returns: int64 of sizes (num_samples,) or (rows, num_samples). No derivative. Raises: RuntimeError for other shapes
/// or dtypes, too many samples, or weights that are negative, not finite or all zero.
///
/// >>> rg.multinomial(rg.tensor([0.0, 2.0, 0.0]), 2, replacement=True).tolist()
/// [1, 1]
#[op(
    function, method, out = OutDtype::Same(&["multinomial expects {Result} tensor out, got: {Out}"]),
    "(replacement=False, *, generator=None)"
)]
pub fn multinomial(
    input: &Tensor,
    num_samples: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    if !matches!(input.ndim(), 1 | 2) {
        return refuse(format!("prob_dist must be 1 or 2 dim, got shape {:?}", input.sizes()));
    }
    if !input.dtype().is_floating() {
        return Err(Error::dtype(
            OP,
            format!(
                "multinomial only supports floating-point dtypes for input, got: {}",
                input.dtype().scalar_type_name()
            ),
        ));
    }
    if num_samples <= 0 {
        return refuse(format!("cannot sample n_sample <= 0 samples, got {num_samples}"));
    }
    let n = input.sizes()[input.ndim() - 1] as i64;
    if !replacement && num_samples > n {
        return refuse(format!(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: {num_samples} of {n}"
        ));
    }
    if n > 1 << 24 {
        return refuse(format!("number of categories cannot exceed 2^24, got {n}"));
    }
    let input = transforms::to_draw_for(OP, input, Form::New)?;
    let op = Multinomial { count: num_samples as usize, replacement, generator: generator.cloned() };
    apply1(op, &[&input])
}

/// `normal` with a mean or deviation for each element: they get a zero gradient.
#[derive(Clone, Debug)]
struct NormalAround {
    /// The mean and the deviation of all elements; where there is none, the next operand has them.
    mean: Option<f64>,
    std: Option<f64>,
    generator: Option<Generator>,
}

impl Primitive for NormalAround {
    const NAME: &'static str = "normal";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::INTEGRAL);
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        transforms::refuse_same(Self::NAME)?;
        // Operands with fewer dims broadcast behind the batch.
        let all =
            xs.iter().zip(axes).map(|(x, axis)| view::batch_first(x, *axis, batch)).collect::<Result<Vec<_>>>()?;
        let ndim = all.iter().map(Tensor::ndim).max().unwrap_or(1);
        let padded = all.iter().map(|x| {
            let mut sizes = vec![1; ndim];
            sizes[0] = batch;
            sizes[ndim + 1 - x.ndim()..].copy_from_slice(&x.sizes()[1..]);
            view::reshape_to(x, &sizes)
        });
        let padded = padded.collect::<Result<Vec<_>>>()?;
        Ok((apply(op.clone(), &padded.iter().collect::<Vec<_>>())?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn node(&self) -> &'static str {
        match (self.mean, self.std) {
            (None, Some(_)) => "NormalBackward1",
            (Some(_), _) => "NormalBackward2",
            (None, None) => "NormalBackward3",
        }
    }
    fn kernel_name(&self) -> &'static str {
        "normal_kernel_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let shape = match xs {
            [a, b] => crate::tensor::layout::broadcast(Self::NAME, a.sizes(), b.sizes())?,
            _ => xs[0].sizes().into(),
        };
        let std = self.std.is_none().then(|| xs[xs.len() - 1].detach());
        if std.as_ref().is_some_and(|std| std.dtype().is_complex()) {
            return Err(Error::shape(Self::NAME, "normal expects standard deviation to be non-complex"));
        }
        if let Some(std) = &std
            && std.to_vec::<f64>()?.iter().any(|&x| x < 0.0)
        {
            return Err(Error::shape(Self::NAME, "normal expects all elements of std >= 0.0"));
        }
        let drawn = Tensor::empty(&shape, xs[0].dtype())?;
        let how =
            Draw::Normal { mean: self.mean.filter(|_| std.is_none()).unwrap_or(0.0), std: self.std.unwrap_or(1.0) };
        how.check(drawn.dtype())?;
        draw_into(&drawn, how, self.generator.as_ref())?;
        let drawn = match &std {
            Some(std) => copy::cast(&drawn.mul(std)?, drawn.dtype())?,
            None => drawn,
        };
        let drawn = match self.mean {
            None => copy::cast(&drawn.add(&xs[0].detach())?, drawn.dtype())?,
            Some(mean) => drawn.add(&Tensor::full(&[], Scalar::Float(mean), drawn.dtype())?)?,
        };
        Ok(out(drawn))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let operands = 1 + usize::from(self.mean.is_none() && self.std.is_none());
        (0..operands).map(|i| cx.when(i, || Tensor::zeros(cx.sizes(i), cx.dtype(i)))).collect()
    }
}

fn around(mean: Result<&Tensor, f64>, std: Result<&Tensor, f64>, generator: Option<&Generator>) -> Result<Tensor> {
    if let Err(std) = std {
        Draw::Normal { mean: 0.0, std }.check(DType::Float64)?;
    }
    let xs = [mean.ok(), std.ok()].into_iter().flatten();
    let xs = xs.map(|x| transforms::to_draw_for("normal", x, Form::New)).collect::<Result<Vec<_>>>()?;
    let op = NormalAround { mean: mean.err(), std: std.err(), generator: generator.cloned() };
    apply1(op, &xs.iter().collect::<Vec<_>>())
}

/// Normal random numbers around the elements of a tensor.
///
/// Args: `mean` the mean of each number, floating or complex dtype; `std` the standard deviation of all; `generator`
/// draws (the default one). Returns: a tensor of the shape and dtype of `mean`. Derivative: zero. Raises: RuntimeError
/// for a negative `std`.
///
/// >>> rg.normal(rg.tensor([1.0, 2.0]), 0.0).tolist()
/// [1.0, 2.0]
#[op(function, out, norust, name = "normal", "(std=1.0, *, generator=None)")]
pub fn normal_around(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    around(Ok(mean), Err(std), generator)
}

/// Normal random numbers with a deviation of each.
///
/// Args: `mean` the mean of all; `std` a tensor of standard deviations; the rest as above. Raises: RuntimeError for a
/// negative deviation.
///
/// >>> rg.normal(3.0, rg.tensor([0.0, 0.0])).tolist()
/// [3.0, 3.0]
#[op(function, out, norust, name = "normal", "(*, generator=None)")]
pub fn normal_within(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    around(Err(mean), Ok(std), generator)
}

/// Normal random numbers with a mean and a deviation of each.
///
/// Args: `mean`, `std` tensors whose shapes broadcast; the rest as above.
///
/// >>> rg.normal(rg.tensor([1.0, 2.0]), rg.tensor([0.0])).tolist()
/// [1.0, 2.0]
#[op(function, out, norust, name = "normal", "(*, generator=None)")]
pub fn normal_each(mean: &Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    around(Ok(mean), Ok(std), generator)
}

/// Normal random numbers of one mean and deviation.
///
/// Args: `mean`, `std` numbers; `size` the sizes of the result; `generator` draws (the default one); `dtype` (the
/// default float dtype). Raises: RuntimeError for a negative `std` or size.
///
/// >>> rg.normal(2.0, 0.0, (2,)).tolist()
/// [2.0, 2.0]
#[op(function, out, norust, name = "normal", "(*, generator=None)")]
pub fn normal_of_size(
    mean: f64,
    std: f64,
    size: &[i64],
    generator: Option<&Generator>,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    fresh("normal", size, default_dtype(), Draw::Normal { mean, std }, generator, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let p = Tensor::from_slice(&[0.0f32, 0.0, 3.0, 1.0, 0.0, 0.0], &[2, 3]).unwrap();
        assert_eq!(p.multinomial(1, false, None).unwrap().to_vec::<i64>().unwrap(), [2, 0]);
        assert_eq!(p.multinomial(2, true, None).unwrap().to_vec::<i64>().unwrap(), [2, 2, 0, 0]);
        assert!(p.multinomial(4, false, None).is_err() && p.multinomial(0, true, None).is_err());
        assert!(p.neg().unwrap().multinomial(1, false, None).is_err());
        assert!(Tensor::zeros(&[2], DType::Float32).unwrap().multinomial(1, false, None).is_err());
    }
}
