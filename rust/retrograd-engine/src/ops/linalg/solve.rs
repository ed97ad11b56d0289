//! Solutions of systems of equations, and inverses.

use retrograd_linalg::matrices::Matrices;
use retrograd_linalg::{lanes, lu};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each_of, room, sizes_of};
use super::fault::{self, Fault};
use super::lu::{factoring_cost, solve_by};
use super::{adjoint, checks, cost, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{
    Batch, ComplexRule, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params,
};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::layout::broadcast;
use crate::tensor::{Dims, Dtypes, Tensor};

/// `solve_ex`, of operands with one batch. With `A X = B`: `dX = A^-1 (dB - dA X)`; reverse `gB = A^-H g` and `gA = -gB
/// X^H` (Giles, An extended collection of matrix derivative results, 2008, 2.3.1).
#[derive(Clone, Debug)]
struct Solve {
    left: bool,
    /// The right side is vectors, and so are the solutions.
    vector: bool,
}

impl Solve {
    /// The right side, a solution or the like as matrices.
    fn columns(&self, x: &Tensor) -> Result<Tensor> {
        if self.vector { x.unsqueeze(-1) } else { Ok(x.clone()) }
    }
    /// Turns back what [`Solve::columns`] did.
    fn vectors(&self, x: Tensor) -> Result<Tensor> {
        if self.vector { x.squeeze_dim(-1) } else { Ok(x) }
    }
}

impl Primitive for Solve {
    const NAME: &'static str = "linalg_solve_ex";
    const SAVE: &'static [Save] =
        &[Save::input(0, "A"), Save::output(0, "result").when(0), Save::output(1, "LU"), Save::output(2, "pivots")];
    const PARAMS: Params<Self> = params!(op; left);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let x = op.columns(&cx.outs[0])?;
        let by_a = |t: &Tensor| if op.left { t.matmul(&x)?.neg() } else { x.matmul(t)?.neg() };
        let by_b = cx.t(1).map(|t| op.columns(t)).transpose()?;
        let tangent = |b: Tensor| {
            let matrices = Self { vector: false, ..op.clone() };
            op.vectors(apply(matrices, &[cx.xs[0], &b])?.swap_remove(0))
        };
        let right = Jvp::sum([by_b, cx.t(0).map(by_a).transpose()?])?;
        Ok(smallvec![right.map(tangent).transpose()?, None, None, None])
    });
    fn kernel_name(&self) -> &'static str {
        "lu_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0].detach(), self.columns(&xs[1].detach())?);
        let (n, (rows, columns), batch) = (sizes_of(&a).0, sizes_of(&b), batch_of(&a));
        let mut pivots = Entries::<i32>::vectors(batch, n)?;
        let mut info = Entries::<i32>::numbers(batch)?;
        let side = lu::Side { right: !self.left, adjoint: false };
        let (x, factors) = match_dtype!(fields, a.dtype(), T => {
            let (a, b) = (Given::<T>::of(&a)?, Given::<T>::of(&b)?);
            let (mut x, mut factors) = (Entries::<T>::matrices(batch, rows, columns)?, Entries::<T>::matrices(batch, n, n)?);
            let cost = factoring_cost(n, n) + cost(2.0 * n as f64 * (rows * columns) as f64);
            let parts = (a.read(), b.read(), (x.write(), factors.write()), pivots.write(), info.write());
            let together = lanes::together::<T>(rows.max(columns));
            each_of(together, parts, cost, &|| Ok(()), &|(), (a, b, (x, factors), pivots, info)| {
                lu::factor_all(a, factors, pivots, info);
                lu::solve_all(side, Matrices::in_a_row(n, info.len(), factors), pivots, b, x);
            })?;
            (x.tensor(), factors.tensor())
        });
        let x = if self.vector { reshape_to(&x, &x.sizes()[..x.ndim() - 1])?.alias() } else { x };
        Ok(smallvec![x, factors, pivots.tensor(), info.tensor()])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (a, g) = (cx.saved(0)?, self.columns(cx.g())?);
        let to_b = if cx.differentiating() {
            apply(Self { vector: false, ..self.clone() }, &[&adjoint(a)?, &g])?.swap_remove(0)
        } else {
            solve_by(cx.saved(2)?, cx.saved(3)?, &g, self.left, true)?
        };
        let to_a = cx.when(0, || {
            let x = adjoint(&self.columns(cx.saved(1)?)?)?;
            if self.left { to_b.matmul(&x)?.neg() } else { x.matmul(&to_b)?.neg() }
        })?;
        let to_b = if cx.needs(1) { Some(self.vectors(to_b)?) } else { None };
        Ok(smallvec![to_a, to_b])
    }
}

/// The solution and its info, of operands that are checked here.
fn solved(op: &'static str, a: &Tensor, b: &Tensor, left: bool) -> Result<(Tensor, Tensor)> {
    const NAME: &str = "linalg.solve";
    checks::float_or_complex_or_half(op, NAME, a)?;
    checks::square(op, NAME, a, "A")?;
    checks::same_dtype(op, NAME, (a, "A"), (b, "B"))?;
    let vector = b.ndim() == 1 || b.ndim() + 1 == a.ndim() && b.sizes() == &a.sizes()[..a.ndim() - 1];
    if !vector {
        checks::matrices(op, NAME, b, "B")?;
        triangular::fit(op, NAME, a, b, left)?;
    } else {
        triangular::fit(op, NAME, a, &b.detach().unsqueeze(-1)?, left)?;
    }
    let (axes, n) = (if vector { 1 } else { 2 }, sizes_of(a).0);
    let (b_batch, b_entry) = b.sizes().split_at(b.ndim() - axes);
    let batch = broadcast(op, batch_of(a), b_batch)?;
    let whole = |x: &Tensor, entry: &[usize]| {
        let sizes: Dims = batch.iter().chain(entry).copied().collect();
        expand_to(x, &sizes)
    };
    let outs = apply(Solve { left, vector }, &[&whole(a, &[n, n])?, &whole(b, b_entry)?])?;
    Ok((outs[0].clone(), outs[3].clone()))
}

/// The solution of `A X = B`, or of `X A = B`, with square matrices `A`.
///
/// Args: `A` (*, n, n); `B` (*, n, k), or (*, k, n) unless `left`, of the same dtype, float32, float64, complex64
/// or complex128; batches broadcast. A `B` of one dim, or of the shape (*, n) of `A` without its last axis, is vectors.
/// Returns: a tensor of the shape of `B`, broadcast. Derivative: `gB = A^-H g` and `gA = -gB X^H` (Giles 2008, 2.3.1).
/// Raises: LinAlgError if a matrix is singular, RuntimeError if shapes or dtypes do not fit.
///
/// >>> rg.linalg.solve(rg.tensor([[2.0, 0.0], [1.0, 1.0]]), rg.tensor([2.0, 3.0])).tolist()
/// [1.0, 2.0]
#[op(function, out, module = "linalg", name = "solve", "(*, left=True)")]
#[allow(non_snake_case)]
pub fn solve(A: &Tensor, B: &Tensor, left: bool) -> Result<Tensor> {
    let (x, info) = solved("solve", A, B, left)?;
    fault::check("torch.linalg.solve", &info, Fault::Solution)?;
    Ok(x)
}

/// The solution of `A X = B`, with a number for each matrix that says whether there is one; see `linalg.solve`.
///
/// Args: `A`, `B`, `left` as there; `check_errors` raises as it does. Returns: `(result, info)`: `info`, int32, is 0,
/// or the diagonal element of the factor `U`, from 1 on, that is zero.
///
/// >>> rg.linalg.solve_ex(rg.zeros(1, 1), rg.ones(1)).info.item()
/// 1
#[op(
    function,
    out,
    module = "linalg",
    name = "solve_ex",
    fields("result", "info"),
    "(*, left=True, check_errors=False)"
)]
#[allow(non_snake_case)]
pub fn solve_ex(A: &Tensor, B: &Tensor, left: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
    let (x, info) = solved("solve_ex", A, B, left)?;
    if check_errors {
        fault::check("torch.linalg.solve_ex", &info, Fault::Solution)?;
    }
    Ok((x, info))
}

/// `inv_ex`: `dX = -X dA X`; reverse `-X^T g X^T` (Giles 2008, 2.2.3).
#[derive(Clone, Debug)]
struct Inverse;

impl Primitive for Inverse {
    const NAME: &'static str = "linalg_inv_ex";
    const SAVE: &'static [Save] = &[Save::output(0, "inverse")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let x = &cx.outs[0];
        Ok(smallvec![cx.t(0).map(|t| x.matmul(t)?.matmul(x)?.neg()).transpose()?, None])
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, n, batch) = (xs[0], sizes_of(xs[0]).0, batch_of(xs[0]));
        let mut info = Entries::<i32>::numbers(batch)?;
        let inverses = match_dtype!(fields, a.dtype(), T => {
            let (a, mut inverses) = (Given::<T>::of(a)?, Entries::<T>::matrices(batch, n, n)?);
            let together = lanes::together::<T>(n);
            let scratch = || Ok((room::<T>(n * n * together)?, room::<i32>(n * together)?));
            let parts = (a.read(), inverses.write(), info.write());
            let cost = 3.0 * factoring_cost(n, n);
            each_of(together, parts, cost, &scratch, &|(factors, pivots), (a, inverse, info)| {
                let (factors, pivots) = (&mut factors.slice()[..inverse.len()], &mut pivots.slice()[..n * info.len()]);
                lu::factor_all(a, factors, pivots, info);
                lu::invert_all(n, factors, pivots, inverse);
            })?;
            inverses.tensor()
        });
        Ok(smallvec![inverses, info.tensor()])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(0)?.transpose(-2, -1)?;
        Ok(maybe(Some(x.matmul(cx.g())?.matmul(&x)?.neg()?)))
    }
}

/// The inverse and its info.
fn inverted(op: &'static str, x: &Tensor) -> Result<(Tensor, Tensor)> {
    checks::float_or_complex(op, "linalg.inv", x)?;
    checks::square(op, "linalg.inv", x, "A")?;
    let outs = apply(Inverse, &[x])?;
    Ok((outs[0].clone(), outs[1].clone()))
}

/// The inverses of square matrices.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128. Returns: a tensor of the same shape.
/// Derivative: `-A^-H g A^-H` (Giles 2008, 2.2.3). Raises: LinAlgError if a matrix is singular, RuntimeError if
/// matrices are not square.
///
/// >>> rg.linalg.inv(rg.tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
/// [[0.5, 0.0], [0.0, 0.25]]
#[op(function, out, module = "linalg", name = "inv")]
#[allow(non_snake_case)]
pub fn inv(A: &Tensor) -> Result<Tensor> {
    let (inverse, info) = inverted("inv", A)?;
    fault::check("linalg.inv", &info, Fault::Inverse)?;
    Ok(inverse)
}

/// The inverses of square matrices; see `linalg.inv`.
///
/// >>> rg.inverse(rg.tensor([[2.0]])).tolist()
/// [[0.5]]
#[op(function, method, out)]
pub fn inverse(input: &Tensor) -> Result<Tensor> {
    inv(input)
}

/// The inverses of square matrices, with a number for each that says whether there is one; see `linalg.inv`.
///
/// Args: `check_errors` raises as `linalg.inv` does. Returns: `(inverse, info)`: `info`, int32, is 0, or the diagonal
/// element of the factor `U`, from 1 on, that is zero.
///
/// >>> rg.linalg.inv_ex(rg.zeros(1, 1)).info.item()
/// 1
#[op(function, out, module = "linalg", name = "inv_ex", fields("inverse", "info"), "(*, check_errors=False)")]
#[allow(non_snake_case)]
pub fn inv_ex(A: &Tensor, check_errors: bool) -> Result<(Tensor, Tensor)> {
    let (inverse, info) = inverted("inv_ex", A)?;
    if check_errors {
        fault::check("linalg.inv_ex", &info, Fault::Inverse)?;
    }
    Ok((inverse, info))
}

fn product(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

/// The tensor that `tensordot` takes back to the identity: the inverse of a matrix whose rows are the first `ind` axes.
///
/// Args: `A` whose first `ind` axes have as many elements as the others. Returns: a tensor with the axes in the other
/// order, the last ones first. Derivative: that of `linalg.inv`. Raises: RuntimeError if sizes do not fit, LinAlgError
/// if there is no inverse.
///
/// >>> rg.linalg.tensorinv(rg.eye(4).reshape(2, 2, 4)).shape
/// retrograd.Size([4, 2, 2])
#[op(function, out = SAME, module = "linalg", name = "tensorinv", "(ind=2)")]
#[allow(non_snake_case)]
pub fn tensorinv(A: &Tensor, ind: i64) -> Result<Tensor> {
    const OP: &str = "tensorinv";
    if ind <= 0 {
        return Err(Error::shape(OP, format!("Expected a strictly positive integer for 'ind', but got {ind}")));
    }
    let (first, last) = A.sizes().split_at((ind as usize).min(A.ndim()));
    let (rows, columns) = (product(first), product(last));
    if rows != columns {
        return Err(Error::shape(
            OP,
            format!(
                "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got \
                 {columns} != {rows}"
            ),
        ));
    }
    let (inverse, info) = inverted(OP, &reshape_to(A, &[rows, columns])?)?;
    fault::check("inv", &info, Fault::Inverse)?;
    let sizes: Dims = last.iter().chain(first).copied().collect();
    reshape_to(&inverse, &sizes)
}

/// The tensor `X` with `tensordot(A, X, X.ndim) = B`.
///
/// Args: `A` whose first axes are those of `B`, and whose others have as many elements; `dims` axes of `A` that are
/// moved to the end before. Returns: a tensor with the other axes of `A`. Derivative: that of `linalg.solve`. Raises:
/// RuntimeError if sizes do not fit, LinAlgError if there is no solution.
///
/// >>> rg.linalg.tensorsolve(2 * rg.eye(4).reshape(2, 2, 4), rg.ones(2, 2)).tolist()
/// [0.5, 0.5, 0.5, 0.5]
#[op(function, out = SAME, module = "linalg", name = "tensorsolve", "(dims=None)")]
#[allow(non_snake_case)]
pub fn tensorsolve(A: &Tensor, B: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
    const OP: &str = "tensorsolve";
    let a = match dims {
        Some(dims) => {
            let ends: Vec<i64> = (A.ndim() as i64 - dims.len() as i64..A.ndim() as i64).collect();
            A.movedim(dims, &ends)?
        }
        None => A.clone(),
    };
    let (first, last) = a.sizes().split_at(B.ndim().min(a.ndim()));
    let (rows, columns) = (product(first), product(last));
    if rows != columns {
        return Err(Error::shape(
            OP,
            format!(
                "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), \
                 but got {columns} != {rows}"
            ),
        ));
    }
    let x = solve(&a.reshape(&[columns as i64, columns as i64])?, &reshape_to(B, &[B.numel()])?, true)?;
    reshape_to(&x, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let shifted = |x: &Tensor| x.add(&Tensor::full(&[3], 3.0.into(), x.dtype())?.diag_embed(0, -2, -1)?);
        gradcheck(&|xs| inv(&shifted(&xs[0])?), &[noise(1, &[2, 3, 3])]);
        for (left, b) in [(true, &[2, 3, 2][..]), (false, &[2, 2, 3]), (true, &[3]), (true, &[3, 1])] {
            gradcheck(&|xs| solve(&shifted(&xs[0])?, &xs[1], left), &[noise(1, &[2, 3, 3]), noise(2, b)]);
        }
        gradcheck(&|xs| solve(&shifted(&xs[0])?, &xs[1], true), &[noise(1, &[2, 3, 3]), noise(2, &[2, 3])]);
    }
}
