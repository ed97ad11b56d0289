//! `gelu`.

use retrograd_macros::op;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::kernels::math;
use crate::kernels::pointwise::{Body, lanes2};
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::match_dtype;
use crate::ops::pointwise::{Pass, out_like};
use crate::tensor::{DType, Dtypes, Tensor, layout};

/// `gelu`: `x Phi(x)`, or its approximation by tanh. Reverse: [`GeluBackward`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gelu {
    tanh: bool,
}

/// sqrt(2 / pi) and the cubic's coefficient, of the approximation `x (1 + tanh(BETA (x + KAPPA x^3))) / 2`.
const BETA: f64 = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
const KAPPA: f64 = 0.044715;

struct Exact;
struct Tanh;

/// The tanh of the approximation.
#[inline(always)]
fn approximation_tanh<V: Vector>(x: V) -> V {
    math::tanh(x.of(BETA) * (x + x.of(KAPPA) * (x * x * x)))
}

impl<T: Real> Body<T, 1> for Exact {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        x * math::normal_cdf(x)
    }
}
impl<T: Real> Body<T, 1> for Tanh {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        x.of(0.5) * x * (x.of(1.0) + approximation_tanh(x))
    }
}

/// `g (Phi(x) + x phi(x))`.
impl<T: Real> Body<T, 2> for Exact {
    const PAIRED: bool = true;
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, x]: [V; 2]) -> V {
        let density = x.of(BETA * 0.5) * math::exp(x.of(-0.5) * x * x);
        g * (math::normal_cdf(x) + x * density)
    }
}
impl<T: Real> Body<T, 2> for Tanh {
    const PAIRED: bool = true;
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, x]: [V; 2]) -> V {
        let (t, one) = (approximation_tanh(x), x.of(1.0));
        let du = x.of(BETA) * (one + x.of(3.0 * KAPPA) * (x * x));
        let dt = (one - t * t) * du;
        g * (x.of(0.5) * (one + t + x * dt))
    }
}

impl Gelu {
    fn approximate(self) -> &'static str {
        if self.tanh { "tanh" } else { "none" }
    }
}

impl Primitive for Gelu {
    const NAME: &'static str = "gelu";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; approximate: op.approximate());
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let y = xs[0].empty_elementwise(xs[0].dtype())?;
        // SAFETY: (1) the result has the sizes and dtype of the operand; (2, 3) it is fresh.
        let pass = unsafe { Pass::new(xs[0], &y) };
        if self.tanh {
            pass.lanes(&Tanh)?
        } else {
            pass.lanes(&Exact)?
        }
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(GeluBackward(*self), &[cx.g(), cx.saved(0)?]).map(one)
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|op, cx| Ok(maybe(cx.t(0).map(|t| apply1(GeluBackward(*op), &[t, cx.xs[0]])).transpose()?)));
}

/// `g gelu'(x)`. Reverse: `gg gelu'(x)` for `g`, `gg g gelu''(x)` for `x`.
#[derive(Clone, Copy, Debug)]
struct GeluBackward(Gelu);

impl GeluBackward {
    /// `gelu''(x)`: `phi(x) (2 - x^2)`, or that of the approximation.
    fn second_derivative(self, x: &Tensor) -> Result<Tensor> {
        let square = x.mul(x)?;
        if !self.0.tanh {
            let density = square.times(-0.5)?.exp()?.times(BETA * 0.5)?;
            return density.mul(&square.times(-1.0)?.plus(2.0)?);
        }
        // With u the tanh's argument and t = tanh u: (1 - t^2) (u' + x u'' / 2 - x t u'^2).
        let t = square.times(KAPPA)?.plus(1.0)?.mul(x)?.times(BETA)?.tanh()?;
        let du = square.times(3.0 * KAPPA)?.plus(1.0)?.times(BETA)?;
        let factor = du.add(&square.times(3.0 * KAPPA * BETA)?)?.sub(&x.mul(&t)?.mul(&du)?.mul(&du)?)?;
        factor.mul(&t.mul(&t)?.times(-1.0)?.plus(1.0)?)
    }
    /// `a b gelu''(x)`.
    fn scaled_second_derivative(self, a: &Tensor, b: &Tensor, x: &Tensor) -> Result<Tensor> {
        a.mul(b)?.mul(&self.second_derivative(x)?)
    }
}

impl Primitive for GeluBackward {
    const NAME: &'static str = "gelu_backward";
    const SAVE: &'static [Save] = &[Save::input(0, "grad_output").when(1), Save::input(1, "self")];
    const PARAMS: Params<Self> = params!(op; approximate: op.0.approximate());
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(xs[1].dtype())
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (g, x) = (&crate::tensor::copy::cast(xs[0], xs[1].dtype())?, xs[1]);
        let sizes = layout::broadcast(Self::NAME, g.sizes(), x.sizes())?;
        let y = out_like(&sizes, x.dtype(), &[x, g])?;
        match_dtype!(floats, x.dtype(), T => {
            let (pg, px, py) = (g.ptr::<T>().cast_const(), x.ptr::<T>().cast_const(), y.ptr::<T>());
            let sg = layout::expanded_strides(g.sizes(), g.strides(), &sizes);
            let sx = layout::expanded_strides(x.sizes(), x.strides(), &sizes);
            // SAFETY: (1) S1 and S3, both expanded to the sizes of the output; (2) the output is fresh; (3) and dense.
            unsafe {
                if self.0.tanh {
                    lanes2(&Tanh, &sizes, pg, &sg, px, &sx, py, y.strides());
                } else {
                    lanes2(&Exact, &sizes, pg, &sg, px, &sx, py, y.strides());
                }
            }
            Ok(out(y))
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(1)?;
        let mut grads = maybe(cx.when(0, || apply1(*self, &[cx.g(), x]))?);
        grads.push(cx.when(1, || self.scaled_second_derivative(cx.g(), cx.saved(0)?, x))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (g, x) = (cx.xs[0], cx.xs[1]);
        let first = cx.t(0).map(|t| apply1(*op, &[t, x])).transpose()?;
        let second = cx.t(1).map(|t| op.scaled_second_derivative(t, g, x)).transpose()?;
        Jvp::sum([first, second]).map(maybe)
    });
}

/// The Gaussian error linear unit, `x * Phi(x)` with `Phi` the normal distribution function.
///
/// Args: `input` floating dtype, any shape; `approximate` 'none', or 'tanh' for
/// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2`.
/// Returns: a tensor of the same shape. Derivative: `g * (Phi(x) + x * phi(x))`, or that of the approximation.
/// Raises: RuntimeError for another `approximate`.
///
/// >>> rg.nn.functional.gelu(rg.tensor([0.0, 100.0])).tolist()
/// [0.0, 100.0]
#[op(function, out = FOUND, module = "nn.functional", "(*, approximate='none')")]
pub fn gelu(input: &Tensor, approximate: &str) -> Result<Tensor> {
    let tanh = match approximate {
        "none" => false,
        "tanh" => true,
        other => {
            return Err(Error::shape(
                "gelu",
                format!("approximate argument must be either none or tanh, got '{other}'"),
            ));
        }
    };
    apply1(Gelu { tanh }, &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for approximate in ["none", "tanh"] {
            gradcheck(&|x| gelu(&x[0], approximate), &[noise(1, &[3, 4])]);
            gradcheck(&|x| gelu(&x[0].times(3.0)?, approximate), &[noise(2, &[17])]);
            let f = |x: &[Tensor]| {
                let op = GeluBackward(Gelu { tanh: approximate == "tanh" });
                apply1(op, &[&x[0], &x[1]])
            };
            gradcheck(&f, &[noise(3, &[5]), noise(4, &[5])]);
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[-1.0f64, 0.5, 2.0], &[3]).unwrap();
        let near = |y: Tensor, want: [f64; 3]| {
            for (a, b) in y.to_vec::<f64>().unwrap().iter().zip(want) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        };
        near(gelu(&x, "none").unwrap(), [-0.15865525393145707, 0.34573123063700656, 1.9544997361036416]);
        near(gelu(&x, "tanh").unwrap(), [-0.15880800939172324, 0.34571400982514394, 1.9545976940877752]);
        assert!(gelu(&x, "x").is_err());
    }
}
