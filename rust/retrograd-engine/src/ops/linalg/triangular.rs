//! Solutions of triangular systems.

use retrograd_linalg::lanes;
use retrograd_linalg::triangular::{self, Triangle};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each_of, sizes_of};
use super::{broadcast_batches, checks, cost};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::tensor::{Dtypes, Tensor};

/// `solve_triangular`, of operands with one batch. With `A X = B`: `dX = A^-1 (dB - dA X)`; reverse `gB = A^-T g` and
/// `gA = -gB X^T` in the triangle (Giles, An extended collection of matrix derivative results, 2008, 2.3.1).
#[derive(Clone, Debug)]
struct SolveTriangular {
    upper: bool,
    left: bool,
    unitriangular: bool,
}

impl SolveTriangular {
    /// The part of a matrix that the op reads.
    fn triangle(&self, x: &Tensor) -> Result<Tensor> {
        let above = i64::from(self.unitriangular);
        if self.upper { x.triu(above) } else { x.tril(-above) }
    }
    /// The product in the order of the equation: `a x`, or `x a`.
    fn product(&self, a: &Tensor, x: &Tensor) -> Result<Tensor> {
        if self.left { a.matmul(x) } else { x.matmul(a) }
    }
}

impl Primitive for SolveTriangular {
    const NAME: &'static str = "linalg_solve_triangular";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result").when(0)];
    const PARAMS: Params<Self> = params!(op; left, unitriangular, upper);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_a = cx.t(0).map(|t| op.product(&op.triangle(t)?, &cx.outs[0])?.neg()).transpose()?;
        let right = Jvp::sum([cx.t(1).cloned(), by_a])?;
        right.map(|b| apply1(op.clone(), &[cx.xs[0], &b])).transpose().map(maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "triangular_solve_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0], xs[1]);
        let (n, (rows, columns)) = (sizes_of(a).0, sizes_of(b));
        let triangle = Triangle { upper: self.upper, unit: self.unitriangular, ..Triangle::default() };
        match_dtype!(fields, a.dtype(), T => {
            let (a, b, mut x) = (Given::<T>::of(a)?, Given::<T>::of(b)?, Entries::<T>::matrices(batch_of(b), rows, columns)?);
            let flops = n as f64 * (rows * columns) as f64;
            let (together, parts) = (lanes::together::<T>(rows.max(columns)), (a.read(), b.read(), x.write()));
            each_of(together, parts, cost(flops), &|| Ok(()), &|(), (a, b, x)| {
                triangular::solve_all(&[triangle], self.left, a, b, x);
            })?;
            Ok(out(x.tensor()))
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let to_b = solved(&cx.saved(0)?.transpose(-2, -1)?, cx.g(), Self { upper: !self.upper, ..self.clone() })?;
        let to_a = cx.when(0, || {
            let x = cx.saved(1)?.transpose(-2, -1)?;
            let whole = if self.left { to_b.matmul(&x)? } else { x.matmul(&to_b)? };
            self.triangle(&whole.neg()?)
        })?;
        Ok(smallvec![to_a, cx.needs(1).then_some(to_b)])
    }
}

fn solved(a: &Tensor, b: &Tensor, op: SolveTriangular) -> Result<Tensor> {
    apply1(op, &[a, b])
}

/// The solution of `a X = b` (`X a = b` unless `left`), of operands that were checked, with one batch.
pub(super) fn solve(a: &Tensor, b: &Tensor, upper: bool, left: bool) -> Result<Tensor> {
    solved(a, b, SolveTriangular { upper, left, unitriangular: false })
}

/// As [`solve`], of a matrix with ones on its diagonal, which is not read.
pub(super) fn solve_unit(a: &Tensor, b: &Tensor, upper: bool, left: bool) -> Result<Tensor> {
    solved(a, b, SolveTriangular { upper, left, unitriangular: true })
}

/// The solution of `A X = B`, or of `X A = B`, with triangular matrices `A`.
///
/// Args: `A` (*, n, n) and `B` (*, n, k), or (*, k, n) with `left=False`, of one dtype, float32, float64, complex64 or
/// complex128, whose batches broadcast; `upper` which triangle of `A` is read; `left` which equation; `unitriangular`
/// takes ones for the diagonal. Returns: a tensor of the shape of `B`, broadcast. A zero on the diagonal gives
/// infinities or NaN. Derivative: `gB = A^-H g` and the triangle of `-gB X^H` (Giles 2008, 2.3.1). Raises:
/// RuntimeError if shapes or dtypes do not fit.
///
/// >>> A = rg.tensor([[2.0, 0.0], [1.0, 1.0]])
/// >>> rg.linalg.solve_triangular(A, rg.tensor([[2.0], [3.0]]), upper=False).tolist()
/// [[1.0], [2.0]]
#[op(
    function, module = "linalg", name = "solve_triangular",
    out = OutDtype::Same(&["Expected out tensor to have dtype {result}, but got {out} instead"]),
    "(*, upper, left=True, unitriangular=False)"
)]
#[allow(non_snake_case)]
pub fn solve_triangular(A: &Tensor, B: &Tensor, upper: bool, left: bool, unitriangular: bool) -> Result<Tensor> {
    const NAME: &str = "linalg.solve_triangular";
    fits("solve_triangular", NAME, A, B, left)?;
    let (a, b) = broadcast_batches("solve_triangular", A, B)?;
    solved(&a, &b, SolveTriangular { upper, left, unitriangular })
}

/// Refuses matrices that are not of the equation `A X = B`, or `X A = B`.
pub(super) fn fits(op: &'static str, name: &str, a: &Tensor, b: &Tensor, left: bool) -> Result<()> {
    checks::same_dtype(op, name, (a, "A"), (b, "B"))?;
    checks::square(op, name, a, "A")?;
    checks::matrices(op, name, b, "B")?;
    fit(op, name, a, b, left)
}

/// As [`fits`], of square matrices and a right side whose sizes may not go together.
pub(super) fn fit(op: &'static str, name: &str, a: &Tensor, b: &Tensor, left: bool) -> Result<()> {
    let ((n, _), (rows, columns)) = (sizes_of(a), sizes_of(b));
    if n == if left { rows } else { columns } {
        return Ok(());
    }
    let equation = if left { "AX = B" } else { "XA = B" };
    Err(Error::shape(
        op,
        format!("{name}: Incompatible shapes of A and B for the equation {equation} ({n}x{n} and {rows}x{columns})"),
    ))
}

/// `triangular_solve`, of operands with one batch: the derivative is that of `solve_triangular`.
#[derive(Clone, Debug)]
struct OldTriangularSolve {
    upper: bool,
    transpose: bool,
    unitriangular: bool,
}

impl OldTriangularSolve {
    /// The solution by the op of today, of `A` as it is meant.
    fn solved(&self, a: &Tensor, b: &Tensor, transpose: bool) -> Result<Tensor> {
        let (upper, unitriangular) = (self.upper != transpose, self.unitriangular);
        let a = if transpose { a.transpose(-2, -1)? } else { a.clone() };
        solved(&a, b, SolveTriangular { upper, left: true, unitriangular })
    }
    fn triangle(&self, x: &Tensor) -> Result<Tensor> {
        SolveTriangular { upper: self.upper, left: true, unitriangular: self.unitriangular }.triangle(x)
    }
}

impl Primitive for OldTriangularSolve {
    const NAME: &'static str = "triangular_solve";
    const SAVE: &'static [Save] =
        &[Save::input(1, "A"), Save::input(0, "self").when(1), Save::output(0, "solution").when(1)];
    const PARAMS: Params<Self> = params!(op; transpose, unitriangular, upper);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let by_a = |t: &Tensor| {
            let t = op.triangle(t)?;
            let t = if op.transpose { t.transpose(-2, -1)? } else { t };
            t.matmul(&cx.outs[0])?.neg()
        };
        let right = Jvp::sum([cx.t(0).cloned(), cx.t(1).map(by_a).transpose()?])?;
        let solution = right.map(|b| op.solved(cx.xs[1], &b, op.transpose)).transpose()?;
        Ok(smallvec![solution, cx.t(1).map(crate::ops::memory::cloned).transpose()?])
    });
    fn kernel_name(&self) -> &'static str {
        "triangular_solve_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (b, a) = (xs[0].detach(), xs[1].detach());
        Ok(smallvec![self.solved(&a, &b, self.transpose)?, crate::tensor::copy::row_major(&a)?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let Some(g) = cx.g_of(0) else { return Ok(smallvec![None, cx.g_of(1).cloned()]) };
        let a = cx.saved(0)?;
        let to_b = self.solved(a, g, !self.transpose)?;
        let to_a = cx.when(1, || {
            let x = cx.saved(2)?;
            let (left, right) = if self.transpose { (x, &to_b) } else { (&to_b, x) };
            self.triangle(&left.matmul(&right.transpose(-2, -1)?)?.neg()?)
        })?;
        let to_a = Jvp::sum([to_a, cx.g_of(1).filter(|_| cx.needs(1)).cloned()])?;
        Ok(smallvec![cx.needs(0).then_some(to_b), to_a])
    }
}

/// The solution of `A X = b` with triangular matrices `A`, and a copy of them; see `linalg.solve_triangular`.
///
/// Args: `input` the right side; `upper` which triangle of `A` is read; `transpose` takes the transpose of `A`;
/// `unitriangular` takes ones for the diagonal. Returns: `(solution, cloned_coefficient)`. Derivative: that of
/// `linalg.solve_triangular`. Raises: RuntimeError if shapes or dtypes do not fit.
///
/// >>> rg.triangular_solve(rg.tensor([[4.0]]), rg.tensor([[2.0]])).solution.tolist()
/// [[2.0]]
#[op(
    function,
    method,
    out,
    norust,
    fields("solution", "cloned_coefficient"),
    "(upper=True, transpose=False, unitriangular=False)"
)]
#[allow(non_snake_case)]
pub fn triangular_solve(
    input: &Tensor,
    A: &Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> Result<(Tensor, Tensor)> {
    const OP: &str = "triangular_solve";
    for (x, name) in [(input, "b"), (A, "A")] {
        if x.ndim() < 2 {
            return Err(Error::shape(
                OP,
                format!(
                    "torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {} dimensions instead",
                    x.ndim()
                ),
            ));
        }
    }
    checks::square_or(OP, A, "A must be batches of square matrices")?;
    checks::right_side(OP, OP, A, input)?;
    let (b, a) = broadcast_batches(OP, input, A)?;
    let mut outs = apply(OldTriangularSolve { upper, transpose, unitriangular }, &[&b, &a])?;
    let copy = outs.swap_remove(1);
    Ok((outs.swap_remove(0), copy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let shifted = |x: &Tensor| x.add(&Tensor::full(&[3], 3.0.into(), x.dtype())?.diag_embed(0, -2, -1)?);
        for (upper, left, unit) in
            [(true, true, false), (false, true, true), (true, false, true), (false, false, false)]
        {
            gradcheck(
                &|xs| solve_triangular(&shifted(&xs[0])?, &xs[1], upper, left, unit),
                &[noise(1, &[2, 1, 3, 3]), noise(2, &[2, 3, 3])],
            );
        }
    }
}
