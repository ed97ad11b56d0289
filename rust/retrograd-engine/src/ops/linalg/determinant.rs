//! Determinants and their logarithms.

use retrograd_linalg::{Scalar as _, lanes, lu};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each_of, room, sizes_of};
use super::lu::{factoring_cost, pivots_to_solve, solve_by};
use super::{adjoint, checks};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Jvp, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::Result;
use crate::kernels::real::{Real, Ring};
use crate::match_dtype;
use crate::ops::pointwise::complex::{conj_physical as conj, imag_part, real_part};
use crate::ops::pointwise::polar::complex;
use crate::ops::pointwise::select::where_;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// What is computed of the diagonal of `U`.
#[derive(Clone, Copy)]
enum Of {
    Determinant,
    SignAndLogarithm,
}

/// The determinants (or their signs), the logarithms of their magnitudes, the factors and the pivots.
fn of_factors(x: &Tensor, of: Of) -> Result<[Tensor; 4]> {
    let (n, batch) = (sizes_of(x).0, batch_of(x));
    let mut pivots = Entries::<i32>::vectors(batch, n)?;
    match_dtype!(fields, x.dtype(), T => {
        type R = <T as retrograd_linalg::Scalar>::Real;
        let (x, mut factors) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, n, n)?);
        let (mut result, mut logarithm) = (Entries::<T>::numbers(batch)?, Entries::<R>::numbers(batch)?);
        let parts = (x.read(), factors.write(), pivots.write(), result.write(), logarithm.write());
        let (together, cost) = (lanes::together::<T>(n), factoring_cost(n, n));
        let numbers = || room::<i32>(together);
        each_of(together, parts, cost, &numbers, &|info, (x, factors, pivots, results, logarithms)| {
            lu::factor_all(x, factors, pivots, &mut info.slice()[..results.len()]);
            for (l, (result, logarithm)) in results.iter_mut().zip(logarithms).enumerate() {
                let (diagonal, odd) = lu::diagonal(n, &factors[l * n * n..][..n * n], &pivots[l * n..][..n]);
                let start = if odd { T::ONE.neg() } else { T::ONE };
                let mut sum = <R as Ring>::ZERO;
                *result = match of {
                    Of::Determinant => diagonal.fold(start, Ring::mul),
                    Of::SignAndLogarithm => diagonal.fold(start, |sign, x| {
                        let size = x.magnitude();
                        sum = Ring::add(sum, Real::ln(size));
                        if x == T::ZERO { T::ZERO } else { sign.mul(x.scale(retrograd_linalg::Scalar::recip(size))) }
                    }),
                };
                *logarithm = sum;
            }
        })?;
        Ok([result.tensor(), logarithm.tensor(), factors.tensor(), pivots.tensor()])
    })
}

/// A number for each matrix on the diagonals of matrices of `n` rows.
fn on_diagonals(x: &Tensor, n: usize) -> Result<Tensor> {
    let mut sizes = crate::tensor::Dims::from_slice(x.sizes());
    sizes.push(n);
    crate::ops::view::expand_to(&x.unsqueeze(-1)?, &sizes)?.diag_embed(0, -2, -1)
}

/// `det`: `d det = tr(C^T dA)` with the cofactors `C = det A^-T` (Giles 2008, 2.2.4), which exist for singular matrices
/// too: they are taken of factors whose zero pivots are replaced by numbers that do not matter beside the others.
#[derive(Clone, Debug)]
struct Det;

impl Primitive for Det {
    const NAME: &'static str = "linalg_det";
    const SAVE: &'static [Save] =
        &[Save::input(0, "A"), Save::output(1, "LU"), Save::output(2, "pivots"), Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let tangent = |t: &Tensor| {
            let cofactors = Cofactors::of(cx.xs[0], &cx.outs[1], &cx.outs[2])?;
            conj(&cofactors)?.mul(t)?.sum_dims(&[-2, -1], false)
        };
        Ok(smallvec![cx.t(0).map(tangent).transpose()?, None, None])
    });
    fn kernel_name(&self) -> &'static str {
        "lu_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let [det, _, factors, pivots] = of_factors(xs[0], Of::Determinant)?;
        Ok(smallvec![det, factors, pivots])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g().unsqueeze(-1)?.unsqueeze(-1)?;
        if !cx.differentiating() {
            return cofactors(cx.saved(1)?, cx.saved(2)?, &g).map(one);
        }
        let cofactors = Cofactors::of(cx.saved(0)?, cx.saved(1)?, cx.saved(2)?)?;
        g.mul(&cofactors).map(one)
    }
}

/// The conjugated cofactors of matrices, by their factors and pivots, times a number for each, which `scale` has as a
/// matrix of one element.
fn cofactors(factors: &Tensor, pivots: &Tensor, scale: &Tensor) -> Result<Tensor> {
    let (n, batch) = (sizes_of(factors).0, batch_of(factors));
    let pivots = pivots_to_solve(pivots, n)?;
    match_dtype!(fields, factors.dtype(), T => {
        let (factors, scale) = (Given::<T>::of(factors)?, Given::<T>::broadcast(scale, batch)?);
        let mut result = Entries::<T>::matrices(batch, n, n)?;
        let parts = (factors.read(), pivots.read(), scale.read(), result.write());
        let (together, cost) = (lanes::together::<T>(n), 3.0 * factoring_cost(n, n));
        let own = || Ok((room::<T>(2 * n * n * together)?, room::<T>(together)?));
        each_of(together, parts, cost, &own, &|(own, times), (factors, pivots, scale, out)| {
            let (copy, own) = own.slice().split_at_mut(n * n * together);
            let (copy, times) = (&mut copy[..out.len()], &mut times.slice()[..scale.count()]);
            factors.copy_to(copy);
            scale.copy_to(times);
            lu::cofactors_all(n, times, copy, pivots, own, out);
        })?;
        Ok(result.tensor())
    })
}

/// The conjugated cofactors `C` of matrices, which are given with their factors and pivots: with `X = A^-H`, `dC =
/// conj(tr(A^-1 dA)) C - X dA^H C`. The derivative at a singular matrix is that at a regular one, so near that what is
/// neglected is as small as the rounding errors.
#[derive(Clone, Debug)]
struct Cofactors;

impl Cofactors {
    fn of(x: &Tensor, factors: &Tensor, pivots: &Tensor) -> Result<Tensor> {
        // The factors are functions of the matrix, by which the derivative is told.
        apply1(Cofactors, &[x, &factors.detach(), pivots])
    }
}

impl Primitive for Cofactors {
    const NAME: &'static str = "linalg_det_backward";
    const SAVE: &'static [Save] = &[Save::input(0, "A")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let tangent = |t: &Tensor| {
            let (inverse, c) = regular(cx.xs[0])?;
            let trace = conj(&inverse)?.mul(t)?.sum_dims(&[-2, -1], true)?;
            let rest = inverse.matmul(&adjoint(t)?)?.matmul(&c)?;
            conj(&trace)?.mul(&c)?.sub(&rest)
        };
        cx.t(0).map(tangent).transpose().map(crate::autograd::primitive::maybe)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let one = Tensor::full(&[1, 1], Scalar::Int(1), xs[1].dtype())?;
        cofactors(xs[1], xs[2], &one).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (inverse, c) = regular(cx.saved(0)?)?;
        let g = cx.g();
        let trace = conj(g)?.mul(&c)?.sum_dims(&[-2, -1], true)?;
        let rest = c.matmul(&adjoint(g)?)?.matmul(&inverse)?;
        Ok(smallvec![Some(trace.mul(&inverse)?.sub(&rest)?), None, None])
    }
}

/// `A^-H` and the conjugated cofactors, of a matrix near `A` that is not singular.
fn regular(a: &Tensor) -> Result<(Tensor, Tensor)> {
    let n = sizes_of(a).0 as i64;
    let factors = apply(Det, &[&a.detach()])?.swap_remove(1);
    let zero = factors.diagonal(0, -2, -1)?.eq(&Tensor::number(Scalar::Float(0.0))?)?;
    let little = if a.dtype().real() == DType::Float32 { f64::from(f32::EPSILON).sqrt() } else { f64::EPSILON.sqrt() };
    let size = zero.sum_dims(&[-1], false)?.gt(&Tensor::number(Scalar::Int(0))?)?;
    let size = crate::ops::memory::cast(&size, a.dtype().real())?.times(little)?;
    let identity = crate::ops::create::eye(n, None, a.dtype().into())?;
    let near = a.add(&identity.mul(&size.unsqueeze(-1)?.unsqueeze(-1)?)?)?;
    let inverse = adjoint(&super::solve::inv_ex(&near, false)?.0)?;
    let det = apply(Det, &[&near])?.swap_remove(0);
    let c = inverse.mul(&conj(&det)?.unsqueeze(-1)?.unsqueeze(-1)?)?;
    Ok((inverse, c))
}

/// The determinants of square matrices.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128. Returns: a number for each matrix, 1 of
/// empty ones. Derivative: `g` times the cofactors, `det A^-H`; those of singular matrices too. Raises: RuntimeError if
/// matrices are not square.
///
/// >>> rg.linalg.det(rg.tensor([[2.0, 1.0], [1.0, 3.0]])).item()
/// 5.0
#[op(function, out, module = "linalg", name = "det")]
#[allow(non_snake_case)]
pub fn linalg_det(A: &Tensor) -> Result<Tensor> {
    checks::float_or_complex_or_half("det", "linalg.det", A)?;
    checks::square("det", "linalg.det", A, "A")?;
    Ok(apply(Det, &[A])?.swap_remove(0))
}

/// The determinants of square matrices; see `linalg.det`.
///
/// >>> rg.det(rg.tensor([[2.0]])).item()
/// 2.0
#[op(function, method)]
pub fn det(input: &Tensor) -> Result<Tensor> {
    linalg_det(input)
}

/// `slogdet`: with `t = tr(A^-1 dA)`, `d sign = i sign Im(t)` and `d log = Re(t)`; reverse `A^-H` times `g_log - i
/// Im(conj(g_sign) sign)` (Giles 2008, 2.2.4).
#[derive(Clone, Debug)]
struct Slogdet;

impl Primitive for Slogdet {
    const NAME: &'static str = "linalg_slogdet";
    const SAVE: &'static [Save] =
        &[Save::input(0, "A"), Save::output(2, "LU"), Save::output(3, "pivots"), Save::output(0, "sign")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None, None, None]) };
        let inner = super::solve::solve_ex(cx.xs[0], t, true, false)?.0;
        let trace = inner.diagonal(0, -2, -1)?.sum_dims(&[-1], false)?;
        if !trace.dtype().is_complex() {
            return Ok(smallvec![None, Some(trace), None, None]);
        }
        let turn = imag_part(&trace)?;
        let turn = complex(&Tensor::zeros(&[], turn.dtype())?, &turn)?;
        Ok(smallvec![Some(cx.outs[0].mul(&turn)?), Some(real_part(&trace)?), None, None])
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Ok(of_factors(xs[0], Of::SignAndLogarithm)?.into_iter().collect())
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (a, sign) = (cx.saved(0)?, cx.saved(3)?);
        let n = sizes_of(a).0;
        let by_sign = match cx.g_of(0) {
            Some(g) if a.dtype().is_complex() => {
                let turn = imag_part(&conj(g)?.mul(sign)?)?.neg()?;
                Some(complex(&Tensor::zeros(&[], turn.dtype())?, &turn)?)
            }
            _ => None,
        };
        let Some(scale) = Jvp::sum([cx.g_of(1).cloned(), by_sign])? else { return Ok(smallvec![None]) };
        let scale = on_diagonals(&crate::ops::memory::cast(&scale, a.dtype())?, n)?;
        if cx.differentiating() {
            return super::solve::solve_ex(&adjoint(a)?, &scale, true, false).map(|(x, _)| one(x));
        }
        solve_by(cx.saved(1)?, cx.saved(2)?, &scale, true, true).map(one)
    }
}

fn sign_and_logarithm(op: &'static str, name: &str, x: &Tensor) -> Result<(Tensor, Tensor)> {
    checks::float_or_complex(op, name, x)?;
    checks::square(op, name, x, "A")?;
    let outs = apply(Slogdet, &[x])?;
    Ok((outs[0].clone(), outs[1].clone()))
}

/// The signs of determinants, and the logarithms of their magnitudes.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128. Returns: `(sign, logabsdet)`: the sign has
/// the dtype of `A`, and is a number of magnitude 1, or 0 for a singular matrix, whose logarithm is `-inf`. Derivative:
/// `A^-H` times the gradient of the logarithm, and of complex matrices `-i Im(conj(g) sign)`. Raises: RuntimeError if
/// matrices are not square.
///
/// >>> rg.linalg.slogdet(rg.tensor([[0.0, 1.0], [1.0, 0.0]])).sign.item()
/// -1.0
#[op(function, out, module = "linalg", name = "slogdet", fields("sign", "logabsdet"))]
#[allow(non_snake_case)]
pub fn linalg_slogdet(A: &Tensor) -> Result<(Tensor, Tensor)> {
    sign_and_logarithm("slogdet", "linalg.slogdet", A)
}

/// The signs of determinants, and the logarithms of their magnitudes; see `linalg.slogdet`.
///
/// >>> rg.slogdet(rg.tensor([[-1.0]])).sign.item()
/// -1.0
#[op(function, method, out, fields("sign", "logabsdet"))]
pub fn slogdet(input: &Tensor) -> Result<(Tensor, Tensor)> {
    sign_and_logarithm("slogdet", "linalg.slogdet", input)
}

/// The logarithms of determinants.
///
/// Args: `input` (*, n, n) of dtype float32, float64, complex64 or complex128. Returns: a number for each matrix: NaN
/// if the determinant is negative, `-inf` if it is zero. Derivative: `g A^-H`. Raises: RuntimeError if matrices are not
/// square.
///
/// >>> rg.logdet(rg.eye(3)).item()
/// 0.0
#[op(function, method)]
pub fn logdet(input: &Tensor) -> Result<Tensor> {
    let (sign, logarithm) = sign_and_logarithm("logdet", "logdet", input)?;
    if sign.dtype().is_complex() {
        return sign.log()?.add(&logarithm);
    }
    let negative = sign.eq(&Tensor::number(Scalar::Float(-1.0))?)?;
    where_(&negative, &Tensor::full(&[], f64::NAN.into(), logarithm.dtype())?, &logarithm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = [noise(1, &[2, 3, 3])];
        gradcheck(&|xs| linalg_det(&xs[0]), &x);
        gradcheck(&|xs| Ok(linalg_slogdet(&xs[0])?.1), &x);
    }

    #[test]
    fn cofactors_of_singular_matrices() {
        let a = Tensor::from_slice(&[1.0, 2.0, 2.0, 4.0], &[2, 2]).unwrap();
        let outs = apply(Det, &[&a]).unwrap();
        let c = Cofactors::of(&a, &outs[1], &outs[2]).unwrap().to_vec::<f64>().unwrap();
        for (got, want) in c.iter().zip([4.0, -2.0, -2.0, 1.0]) {
            assert!((got - want).abs() < 1e-12, "{c:?}");
        }
    }
}
