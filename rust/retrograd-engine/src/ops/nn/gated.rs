//! Activations with a second operand or a second half: glu, prelu; and those that are composed: softsign, tanhshrink,
//! gumbel_softmax.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result, Shape};
use crate::kernels::math;
use crate::kernels::pointwise::lanes_of_slices;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{elementary, out_like, run_lanes, run_scalar_loop};
use crate::ops::view::{cat, reshape_to};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Dtypes, Scalar, Tensor};

/// `glu`: `a s(b)` of the halves `a`, `b` along a dim, `s` the logistic function. Reverse: `g s(b)` and `g a s'(b)`.
#[derive(Clone, Debug)]
struct Glu {
    dim: usize,
}

/// `a s(b)`.
struct Gated;
elementary!(Gated, const PAIRED = true; |a, b| a * math::sigmoid(b));

/// `g a s'(b)`.
struct ToGate;
elementary!(ToGate, const PAIRED = true; |g, a, b| {
    let s = math::sigmoid(b);
    g * a * (s * (b.of(1.0) - s))
});

impl Glu {
    fn half(&self, x: &Tensor) -> usize {
        x.sizes()[self.dim] / 2
    }
    /// Both halves, recorded.
    fn halves(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (dim, n) = (self.dim as i64, self.half(x) as i64);
        Ok((x.narrow(dim, 0, n)?, x.narrow(dim, n, n)?))
    }
    /// Both halves, as memory.
    fn parts(&self, x: &Tensor) -> Result<[Tensor; 2]> {
        let n = self.half(x);
        let mut sizes = Dims::from_slice(x.sizes());
        sizes[self.dim] = n;
        let second = x.storage_offset().wrapping_add_signed(n as isize * x.strides()[self.dim]);
        let part = |at| Tensor::from_parts(x.storage(), x.dtype(), &sizes, x.strides(), at);
        Ok([part(x.storage_offset())?, part(if x.numel() == 0 { x.storage_offset() } else { second })?])
    }
    /// What the halves of `x` get from `g`, in one pass each.
    fn fused(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        let grad = out_like(x.sizes(), x.dtype(), &[x])?;
        let ([a, b], [ga, gb]) = (self.parts(x)?, self.parts(&grad)?);
        run_scalar_loop([g, &b], &ga, &|v, o| lanes_of_slices(&Gated, v, o), &|v, o| lanes_of_slices(&Gated, v, o));
        run_scalar_loop([g, &a, &b], &gb, &|v, o| lanes_of_slices(&ToGate, v, o), &|v, o| {
            lanes_of_slices(&ToGate, v, o)
        });
        Ok(grad)
    }
}

impl Primitive for Glu {
    const NAME: &'static str = "glu";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(Self { dim: op.dim + 1 }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let [a, b] = self.parts(xs[0])?;
        let y = out_like(a.sizes(), a.dtype(), &[&a])?;
        run_scalar_loop([&a, &b], &y, &|v, o| lanes_of_slices(&Gated, v, o), &|v, o| lanes_of_slices(&Gated, v, o));
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, x) = (cx.g(), cx.saved(0)?);
        if !cx.differentiating() && g.dtype() == x.dtype() {
            return self.fused(g, x).map(one);
        }
        let (a, b) = self.halves(x)?;
        let s = b.sigmoid()?;
        let ga = g.mul(&s)?;
        let gb = ga.mul(&a)?.mul(&s.times(-1.0)?.plus(1.0)?)?;
        cat(&[ga, gb], self.dim as i64).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let ((a, b), (da, db)) = (op.halves(cx.xs[0])?, op.halves(t)?);
        let s = b.sigmoid()?;
        let along = a.mul(&s.times(-1.0)?.plus(1.0)?)?.mul(&db)?;
        da.add(&along)?.mul(&s).map(one)
    });
}

/// The gated linear unit: the first half of `input` along `dim`, times the logistic function of the second.
///
/// Args: `input` floating dtype with an even size along `dim`. Returns: a tensor of half that size.
/// Derivative, of halves `a` and `b`: `g * s` and `g * a * s * (1 - s)` with `s = sigmoid(b)`.
/// Raises: RuntimeError for 0 dims or an odd size, IndexError if there is no such dim.
///
/// >>> rg.nn.functional.glu(rg.tensor([4.0, 0.0])).tolist()
/// [2.0]
#[op(function, norust, module = "nn.functional", "(dim=-1)")]
pub fn glu(input: &Tensor, dim: i64) -> Result<Tensor> {
    if input.ndim() == 0 {
        return Err(Error::shape("glu", "glu does not support scalars because halving size must be even"));
    }
    let dim = wrap_dim("glu", dim, input.ndim())?;
    let n = input.sizes()[dim];
    if !n.is_multiple_of(2) {
        return Err(Error::shape("glu", format!("Halving dimension must be even, but dimension {dim} is size {n}")));
    }
    apply1(Glu { dim }, &[input])
}

/// `prelu` of a weight that broadcasts: reverse `g` where `x > 0`, else `g w`; the weight gets `g x` there.
#[derive(Clone, Debug)]
struct Prelu;

struct PreluValue;
elementary!(PreluValue, const LIGHT = true; |x, w| x.select(x.of(0.0).lt(x), x * w));

impl Primitive for Prelu {
    const NAME: &'static str = "prelu";
    const NODE: &'static str = "PreluKernelBackward0";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "weight")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let sizes = crate::tensor::layout::broadcast(Self::NAME, xs[0].sizes(), xs[1].sizes())?;
        let y = out_like(&sizes, xs[0].dtype(), &[xs[0]])?;
        run_lanes([xs[0], xs[1]], &y, &PreluValue);
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, x, w, zero) = (cx.g(), cx.saved(0)?, cx.saved(1)?, Tensor::number(Scalar::Int(0))?);
        let positive = x.gt(&zero)?;
        let mut grads = maybe(cx.when(0, || where_(&positive, g, &g.mul(w)?))?);
        grads.push(cx.when(1, || where_(&positive, &zero, &g.mul(x)?))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let (x, w, zero) = (cx.xs[0], cx.xs[1], Tensor::number(Scalar::Int(0))?);
        let positive = x.gt(&zero)?;
        let from_x = cx.t(0).map(|t| where_(&positive, t, &t.mul(w)?)).transpose()?;
        let from_w = cx.t(1).map(|t| where_(&positive, &zero, &t.mul(x)?)).transpose()?;
        Jvp::sum([from_x, from_w]).map(maybe)
    });
}

/// `input` where positive, else `weight * input`, with one weight for all or one per channel.
///
/// Args: `input` floating dtype; `weight` of the same dtype, with one element or as many as dim 1 of the input.
/// Returns: a tensor of the input's shape. Derivative: `g` where `input > 0`, else `g * weight`; for the weight the sum
/// of `g * input` over the elements that are not positive. Raises: RuntimeError if sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.prelu(rg.tensor([-4.0, 2.0]), rg.tensor([0.25])).tolist()
/// [-1.0, 2.0]
#[op(function, method, norust, module = "nn.functional")]
pub fn prelu(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let refuse = |detail: String| Err(Error::shape("prelu", detail));
    if input.dtype() != weight.dtype() {
        return refuse(format!(
            "Type promoting not supported. Got {} and {}",
            input.dtype().scalar_type_name(),
            weight.dtype().scalar_type_name()
        ));
    }
    if weight.numel() != 1 {
        if input.ndim() == 0 {
            return refuse("Not allow zero-dim input tensor.".into());
        }
        let channels = if input.ndim() > 1 { input.sizes()[1] } else { 1 };
        if channels != weight.numel() {
            return refuse(format!(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel size = \
                 {channels}.",
                weight.numel()
            ));
        }
    }
    if weight.ndim() > 1 {
        return refuse(format!(
            "Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}, shape {}",
            weight.ndim(),
            Shape(weight.sizes())
        ));
    }
    let mut sizes: Dims = smallvec::smallvec![1; input.ndim()];
    if input.ndim() > 1 {
        sizes[1] = weight.numel();
    }
    apply1(Prelu, &[input, &reshape_to(weight, &sizes)?])
}

/// `input / (1 + abs(input))`.
///
/// Args: `input` any dtype but bool. Returns: a tensor of the same shape. Derivative: `g / (1 + abs(input))**2`.
///
/// >>> rg.nn.functional.softsign(rg.tensor([1.0, -3.0])).tolist()
/// [0.5, -0.75]
#[op(function, norust, module = "nn.functional")]
pub fn softsign(input: &Tensor) -> Result<Tensor> {
    input.div(&input.abs()?.plus(1i64)?)
}

/// `input - tanh(input)`.
///
/// Args: `input` any dtype but bool. Returns: a tensor of the same shape. Derivative: `g * tanh(input)**2`.
///
/// >>> rg.nn.functional.tanhshrink(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, norust, module = "nn.functional")]
pub fn tanhshrink(input: &Tensor) -> Result<Tensor> {
    input.sub(&input.tanh()?)
}

/// A sample of the Gumbel-softmax distribution: `softmax((logits + noise) / tau)` along `dim`.
///
/// Args: `logits` floating dtype, unnormalized log probabilities; `tau` a positive temperature; `hard` to round to
/// a vector with a single 1, whose derivative is that of the soft sample; `eps` has no effect. Draws from the default
/// generator. Returns: a tensor of the same shape. Derivative: that of `softmax`.
/// Raises: IndexError if there is no such dim.
///
/// >>> rg.nn.functional.gumbel_softmax(rg.tensor([0.0, 1e4]), hard=True).tolist()
/// [0.0, 1.0]
#[op(function, norust, module = "nn.functional", "(tau=1, hard=False, eps=1e-10, dim=-1)")]
pub fn gumbel_softmax(logits: &Tensor, tau: Scalar, hard: bool, eps: f64, dim: i64) -> Result<Tensor> {
    if eps != 1e-10 {
        crate::warn::warn("`eps` parameter is deprecated and has no effect.")?;
    }
    let blank = Tensor::empty(logits.sizes(), logits.dtype())?;
    let noise = crate::ops::random::exponential(&blank, 1.0, None)?.log()?.neg()?;
    let soft = logits.add(&noise)?.div(&Tensor::number(tau)?)?.softmax(dim, None)?;
    if !hard {
        return Ok(soft);
    }
    let (_, index) = soft.detach().max_dim(dim, true)?;
    let sharp = soft.detach().times(0i64)?.scatter_value(dim, &index, Scalar::Int(1))?;
    sharp.sub(&soft.detach())?.add(&soft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for (sizes, dim) in [(&[3, 4][..], -1), (&[4, 3], 0), (&[2, 6, 3], 1), (&[0, 4], 1), (&[3, 0], 1)] {
            gradcheck(&|x| glu(&x[0], dim), &[noise(1, sizes)]);
        }
        for (x, w) in [(&[3, 4][..], &[4][..]), (&[2, 3, 5], &[3]), (&[5], &[1]), (&[], &[]), (&[2, 2], &[])] {
            gradcheck(&|x| prelu(&x[0], &x[1]), &[noise(1, x), noise(2, w)]);
        }
        gradcheck(&|x| softsign(&x[0]), &[noise(1, &[3, 4])]);
        gradcheck(&|x| tanhshrink(&x[0]), &[noise(1, &[3, 4])]);
    }

    #[test]
    fn halves_of_columns_are_those_of_rows() {
        for (sizes, dim) in [([40, 70], 0), ([40, 70], 1), ([2, 2], 1)] {
            let x = noise(1, &sizes);
            let (plain, turned) = (glu(&x, dim).unwrap(), glu(&x.t().unwrap(), 1 - dim).unwrap());
            assert_eq!(turned.t().unwrap().to_vec::<f64>().unwrap(), plain.to_vec::<f64>().unwrap());
            assert_eq!(turned.t().unwrap().strides(), plain.strides());
            let grads = [false, true].map(|turn| {
                let x = x.detach();
                x.set_requires_grad(true).unwrap();
                let y = if turn { glu(&x.t().unwrap(), 1 - dim).unwrap().t() } else { glu(&x, dim) }.unwrap();
                let loss = y.mul(&plain).unwrap().sum(None).unwrap();
                crate::autograd::grad(&loss, &[&x], false).unwrap()[0].as_ref().unwrap().to_vec::<f64>().unwrap()
            });
            assert_eq!(grads[0], grads[1]);
        }
    }

    #[test]
    fn refusals() {
        assert!(glu(&noise(1, &[3]), -1).is_err() && glu(&noise(1, &[]), -1).is_err());
        assert!(prelu(&noise(1, &[2, 3]), &noise(1, &[2])).is_err());
        assert!(prelu(&noise(1, &[2, 3]), &noise(1, &[1, 3])).is_err());
        assert!(prelu(&noise(1, &[]), &noise(1, &[2])).is_err());
    }

    #[test]
    fn hard_samples_have_a_single_one() {
        let y = gumbel_softmax(&noise(1, &[5, 3]), Scalar::Int(1), true, 1e-10, -1).unwrap().to_vec::<f64>().unwrap();
        assert!(y.iter().all(|v| v.abs() < 1e-12 || (v - 1.0).abs() < 1e-12));
        assert!((y.iter().sum::<f64>() - 5.0).abs() < 1e-9);
    }
}
