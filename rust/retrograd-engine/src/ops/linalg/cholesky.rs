//! The Cholesky factorization.

use retrograd_linalg::{cholesky, lanes};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each_of, room, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, checks, cost, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, params};
use crate::error::Result;
use crate::match_dtype;
use crate::tensor::{Dtypes, Tensor};

/// `cholesky_ex`. With `phi` the lower triangle, its diagonal halved: `dL = L phi(L^-1 dA L^-H)`; reverse
/// `L^-H phi(L^H g) L^-1`, made Hermitian (Murray, Differentiation of the Cholesky decomposition, 2016).
///
/// `OLD` is the node of `cholesky`, whose names are others.
#[derive(Clone, Debug)]
struct Cholesky<const OLD: bool> {
    upper: bool,
}

impl<const OLD: bool> Cholesky<OLD> {
    /// The lower factor of this op's result, or the result of a lower factor.
    fn lower(&self, factor: &Tensor) -> Result<Tensor> {
        if self.upper { adjoint(factor) } else { Ok(factor.clone()) }
    }
}

impl<const OLD: bool> Primitive for Cholesky<OLD> {
    const NAME: &'static str = if OLD { "cholesky" } else { "linalg_cholesky_ex" };
    const SAVE: &'static [Save] = &[Save::output(0, if OLD { "result" } else { "L" })];
    const PARAMS: Params<Self> = params!(op; upper);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let tangent = |t: &Tensor| {
            let l = op.lower(&cx.outs[0])?;
            let inner = triangular::solve(&l, t, false, true)?;
            let inner = triangular::solve(&adjoint(&l)?, &inner, true, false)?;
            op.lower(&l.matmul(&halved(&inner)?)?)
        };
        Ok(smallvec![cx.t(0).map(tangent).transpose()?, None])
    });
    fn kernel_name(&self) -> &'static str {
        "cholesky_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, n, batch) = (xs[0], sizes_of(xs[0]).0, batch_of(xs[0]));
        let mut info = Entries::<i32>::numbers(batch)?;
        let factors = match_dtype!(fields, x.dtype(), T => {
            let (x, mut factors) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, n, n)?);
            let parts = (x.read(), factors.write(), info.write());
            let (flops, scratch) = ((n as f64).powi(3) / 3.0, || room::<T>(cholesky::scratch(n)));
            each_of(lanes::together::<T>(n), parts, cost(flops), &scratch, &|scratch, (x, a, info)| {
                let x = if self.upper { x.transposed() } else { x };
                cholesky::factor_all(self.upper, x, a, info, scratch.slice());
            })?;
            factors.tensor()
        });
        Ok(smallvec![factors, info.tensor()])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if !cx.differentiating() {
            return at_once(cx.saved(0)?, cx.g(), self.upper).map(one);
        }
        let (l, g) = (self.lower(cx.saved(0)?)?, self.lower(cx.g())?);
        let transposed = adjoint(&l)?;
        let inner = halved(&transposed.matmul(&g)?)?;
        let inner = inner.add(&adjoint(&inner)?)?.times(0.5)?;
        let inner = triangular::solve(&transposed, &inner, true, true)?;
        triangular::solve(&l, &inner, false, false).map(one)
    }
}

/// The gradient, when nobody differentiates it.
fn at_once(l: &Tensor, g: &Tensor, upper: bool) -> Result<Tensor> {
    let n = sizes_of(l).0;
    match_dtype!(fields, l.dtype(), T => {
        let (factors, g) = (Given::<T>::of(l)?, Given::<T>::broadcast(g, batch_of(l))?);
        let mut out = Entries::<T>::matrices(batch_of(l), n, n)?;
        let parts = (factors.read(), g.read(), out.write());
        let scratch = || room::<T>(cholesky::vjp_scratch(n));
        let cost = cost(2.0 * (n as f64).powi(3));
        each_of(lanes::together::<T>(n), parts, cost, &scratch, &|scratch, (l, g, out)| {
            cholesky::vjp_all(upper, l, g, out, scratch.slice());
        })?;
        Ok(out.tensor())
    })
}

/// The lower triangle with half of the diagonal.
fn halved(x: &Tensor) -> Result<Tensor> {
    x.tril(0)?.add(&x.tril(-1)?)?.times(0.5)
}

fn factored<const OLD: bool>(op: &'static str, name: &str, x: &Tensor, upper: bool) -> Result<(Tensor, Tensor)> {
    checks::square(op, name, x, "A")?;
    let mut outs = apply(Cholesky::<OLD> { upper }, &[x])?;
    let info = outs.swap_remove(1);
    Ok((outs.swap_remove(0), info))
}

/// The Cholesky factorization of Hermitian (or real symmetric) positive-definite matrices: `A = L L^H`.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128, of which one triangle is read; `upper`
/// gives `U = L^H` instead, of the upper triangle. Returns: triangular matrices of the same shape. Derivative: `L^-H
/// phi(L^H g) L^-1` made Hermitian, with `phi` the lower triangle whose diagonal is halved (Murray 2016). Raises:
/// LinAlgError if a matrix is not positive-definite, RuntimeError if matrices are not square.
///
/// >>> rg.linalg.cholesky(rg.tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
/// [[2.0, 0.0], [1.0, 2.0]]
#[op(function, out, module = "linalg", name = "cholesky", "(*, upper=False)")]
#[allow(non_snake_case)]
pub fn linalg_cholesky(A: &Tensor, upper: bool) -> Result<Tensor> {
    checks::float_or_complex_or_half("cholesky", "linalg.cholesky", A)?;
    let (factors, info) = factored::<false>("cholesky", "linalg.cholesky", A, upper)?;
    fault::check("linalg.cholesky", &info, Fault::Cholesky)?;
    Ok(factors)
}

/// The Cholesky factorization, with a number for each matrix that says whether it succeeded; see `linalg.cholesky`.
///
/// Args: `A`, `upper` as there; `check_errors` raises as it does. Returns: `(L, info)`: `info`, int32, is 0, or the
/// order of the first leading minor that is not positive-definite; then the matrix holds what was computed till then.
///
/// >>> rg.linalg.cholesky_ex(rg.tensor([[1.0, 2.0], [2.0, 1.0]])).info.item()
/// 2
#[op(
    function,
    out,
    module = "linalg",
    name = "cholesky_ex",
    fields("L", "info"),
    "(*, upper=False, check_errors=False)"
)]
#[allow(non_snake_case)]
pub fn cholesky_ex(A: &Tensor, upper: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
    checks::float_or_complex_or_half("cholesky_ex", "linalg.cholesky", A)?;
    let (factors, info) = factored::<false>("cholesky_ex", "linalg.cholesky", A, upper)?;
    if check_errors {
        fault::check("linalg.cholesky_ex", &info, Fault::Cholesky)?;
    }
    Ok((factors, info))
}

/// The Cholesky factorization; see `linalg.cholesky`.
///
/// >>> rg.tensor([[4.0]]).cholesky().tolist()
/// [[2.0]]
#[op(function, method, out, "(upper=False)")]
pub fn cholesky(input: &Tensor, upper: bool) -> Result<Tensor> {
    let (factors, info) = factored::<true>("cholesky", "cholesky", input, upper)?;
    fault::check("cholesky", &info, Fault::Cholesky)?;
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for n in [1, 3] {
            let positive = |x: &Tensor| {
                let shift = Tensor::full(&[n], 2.0.into(), DType::Float64)?.diag_embed(0, -2, -1)?;
                x.matmul(&x.transpose(-2, -1)?)?.add(&shift)
            };
            for upper in [false, true] {
                gradcheck(&|xs| linalg_cholesky(&positive(&xs[0])?, upper), &[noise(1, &[2, n, n])]);
            }
        }
    }
}
