//! Solutions and inverses by the Cholesky factors of matrices.

use retrograd_linalg::lanes;
use retrograd_linalg::triangular::{self, Triangle};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each_of, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, broadcast_batches, checks, cost};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params,
};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::tensor::{Dtypes, Tensor};

/// The triangle that is read of a factor.
fn triangle(x: &Tensor, upper: bool) -> Result<Tensor> {
    if upper { x.triu(0) } else { x.tril(0) }
}

/// The two solutions that make one by the factor `L`, or `U = L^H`: with `L` first.
fn both(upper: bool) -> [Triangle; 2] {
    let plain = Triangle { upper, ..Triangle::default() };
    let adjoint = Triangle { transposed: true, conj: true, ..plain };
    if upper { [adjoint, plain] } else { [plain, adjoint] }
}

/// `dA` of a tangent of the factor: `dL L^H + L dL^H`.
fn product_tangent(l: &Tensor, t: &Tensor, upper: bool) -> Result<Tensor> {
    let t = triangle(t, upper)?;
    let half = if upper { adjoint(&t)?.matmul(l)? } else { t.matmul(&adjoint(l)?)? };
    half.add(&adjoint(&half)?)
}

/// The gradient of the factor of that of `A`: the triangle of `(G + G^H) L`.
fn factor_gradient(l: &Tensor, g: &Tensor, upper: bool) -> Result<Tensor> {
    let both = g.add(&adjoint(g)?)?;
    triangle(&if upper { l.matmul(&both)? } else { both.matmul(l)? }, upper)
}

/// `cholesky_solve`, of operands with one batch: with `A X = B`, `dX = A^-1 (dB - dA X)`; reverse `gB = A^-1 g` and `gA
/// = -gB X^H` (Giles, An extended collection of matrix derivative results, 2008, 2.3.1).
#[derive(Clone, Debug)]
struct CholeskySolve {
    upper: bool,
}

impl Primitive for CholeskySolve {
    const NAME: &'static str = "cholesky_solve";
    const SAVE: &'static [Save] =
        &[Save::input(1, "input2"), Save::output(0, "result").when(1), Save::input(0, "self").when(1)];
    const PARAMS: Params<Self> = params!(op; upper);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_factor = |t: &Tensor| {
            let l = triangle(cx.xs[1], op.upper)?;
            product_tangent(&l, t, op.upper)?.matmul(&cx.outs[0])?.neg()
        };
        let right = Jvp::sum([cx.t(0).cloned(), cx.t(1).map(by_factor).transpose()?])?;
        right.map(|b| apply1(op.clone(), &[&b, cx.xs[1]])).transpose().map(crate::autograd::primitive::maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "cholesky_solve_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (b, l) = (xs[0], xs[1]);
        let (n, (rows, columns)) = (sizes_of(l).0, sizes_of(b));
        let triangles = both(self.upper);
        match_dtype!(fields, b.dtype(), T => {
            let (b_given, l) = (Given::<T>::of(b)?, Given::<T>::of(l)?);
            let mut x = Entries::<T>::matrices(batch_of(b), rows, columns)?;
            let cost = cost(2.0 * n as f64 * (rows * columns) as f64);
            let parts = (b_given.read(), l.read(), x.write());
            each_of(lanes::together::<T>(rows.max(columns)), parts, cost, &|| Ok(()), &|(), (b, l, x)| {
                triangular::solve_all(&triangles, true, l, b, x);
            })?;
            Ok(out(x.tensor()))
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let l = cx.saved(0)?;
        let to_b = apply1(self.clone(), &[cx.g(), l])?;
        let to_l = cx.when(1, || {
            let g = to_b.matmul(&adjoint(cx.saved(1)?)?)?.neg()?;
            factor_gradient(&triangle(l, self.upper)?, &g, self.upper)
        })?;
        Ok(smallvec![cx.needs(0).then_some(to_b), to_l])
    }
}

/// The solution of `A X = B` by the Cholesky factor of `A`.
///
/// Args: `input` the right side `B` (*, n, k); `L` what `linalg.cholesky` returned, (*, n, n), of which one triangle is
/// read; `upper` says that it is `U = L^H`. Batches broadcast. Returns: a tensor of the shape of `B`, broadcast.
/// Derivative: `gB = A^-1 g`, and the triangle of `(gA + gA^H) L` with `gA = -gB X^H`. Raises: RuntimeError if shapes
/// or dtypes do not fit.
///
/// >>> rg.cholesky_solve(rg.tensor([[8.0]]), rg.tensor([[2.0]])).tolist()
/// [[2.0]]
#[op(function, method, out, norust, "(upper=False)")]
#[allow(non_snake_case)]
pub fn cholesky_solve(input: &Tensor, L: &Tensor, upper: bool) -> Result<Tensor> {
    const OP: &str = "cholesky_solve";
    for (x, name) in [(input, "b"), (L, "u")] {
        if x.ndim() < 2 {
            let detail = format!("{name} should have at least 2 dimensions, but has {} dimensions instead", x.ndim());
            return Err(Error::shape(OP, detail));
        }
    }
    checks::square_or(OP, L, "A must be batches of square matrices")?;
    checks::right_side(OP, "cholesky_solve", L, input)?;
    let (b, l) = broadcast_batches(OP, input, L)?;
    apply1(CholeskySolve { upper }, &[&b, &l])
}

/// `cholesky_inverse`: with `X = A^-1`, `dX = -X dA X`; reverse the gradient of `A` is `-X g X`.
#[derive(Clone, Debug)]
struct CholeskyInverse {
    upper: bool,
}

impl Primitive for CholeskyInverse {
    const NAME: &'static str = "cholesky_inverse";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; upper);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let tangent = |t: &Tensor| {
            let (l, x) = (triangle(cx.xs[0], op.upper)?, &cx.outs[0]);
            x.matmul(&product_tangent(&l, t, op.upper)?)?.matmul(x)?.neg()
        };
        Ok(smallvec![cx.t(0).map(tangent).transpose()?, None])
    });
    fn kernel_name(&self) -> &'static str {
        "cholesky_inverse_out_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (l, n, batch) = (xs[0], sizes_of(xs[0]).0, batch_of(xs[0]));
        let mut info = Entries::<i32>::numbers(batch)?;
        let triangles = both(self.upper);
        let inverses = match_dtype!(fields, l.dtype(), T => {
            let (l, mut inverses) = (Given::<T>::of(l)?, Entries::<T>::matrices(batch, n, n)?);
            let parts = (l.read(), inverses.write(), info.write());
            let cost = cost(2.0 * (n as f64).powi(3));
            each_of(lanes::together::<T>(n), parts, cost, &|| Ok(()), &|(), (l, x, info)| {
                info.iter_mut().enumerate().for_each(|(i, info)| *info = l.first_zero(i));
                triangular::invert_all(&triangles, l, x);
            })?;
            inverses.tensor()
        });
        Ok(smallvec![inverses, info.tensor()])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, l) = (cx.saved(0)?, triangle(cx.saved(1)?, self.upper)?);
        let g = x.matmul(cx.g())?.matmul(x)?.neg()?;
        factor_gradient(&l, &g, self.upper).map(one)
    }
}

/// The inverse of `A` by its Cholesky factor.
///
/// Args: `L` what `linalg.cholesky` returned, (*, n, n), of which one triangle is read; `upper` says that it is `U =
/// L^H`. Returns: a tensor of the same shape. Derivative: the triangle of `(gA + gA^H) L` with `gA = -A^-1 g A^-1`.
/// Raises: LinAlgError if a diagonal element is zero, RuntimeError if matrices are not square.
///
/// >>> rg.cholesky_inverse(rg.tensor([[2.0]])).tolist()
/// [[0.25]]
#[op(function, method, out, norust, "(upper=False)")]
#[allow(non_snake_case)]
pub fn cholesky_inverse(L: &Tensor, upper: bool) -> Result<Tensor> {
    checks::square("cholesky_inverse", "cholesky_inverse", L, "A")?;
    let mut outs = apply(CholeskyInverse { upper }, &[L])?;
    fault::check("cholesky_inverse", &outs[1], Fault::Inverse)?;
    Ok(outs.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let shifted = |x: &Tensor| x.add(&Tensor::full(&[3], 3.0.into(), x.dtype())?.diag_embed(0, -2, -1)?);
        for upper in [false, true] {
            let operands = [noise(1, &[2, 3, 2]), noise(2, &[3, 3])];
            gradcheck(&|xs| cholesky_solve(&xs[0], &shifted(&xs[1])?, upper), &operands);
            gradcheck(&|xs| cholesky_inverse(&shifted(&xs[0])?, upper), &[noise(1, &[2, 3, 3])]);
        }
    }
}
