//! The LU factorization, its parts, and solutions by it.

use retrograd_linalg::{lanes, lu};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, each_of, room, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, checks, cost, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::view::{cat, expand_to};
use crate::tensor::{DType, Dims, Dtypes, MaybeNamed, Tensor, copy};

/// The factors of matrices in one, the pivots, and a number that says which element of `U` is zero.
pub(super) fn factors(x: &Tensor) -> Result<[Tensor; 3]> {
    let ((m, n), batch) = (sizes_of(x), batch_of(x));
    let mut pivots = Entries::<i32>::vectors(batch, m.min(n))?;
    let mut info = Entries::<i32>::numbers(batch)?;
    let factors = match_dtype!(fields, x.dtype(), T => {
        let (x, mut factors) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, m, n)?);
        let parts = (x.read(), factors.write(), pivots.write(), info.write());
        each_of(lanes::together::<T>(m.max(n)), parts, factoring_cost(m, n), &|| Ok(()), &|(), (x, a, pivots, info)| {
            lu::factor_all(x, a, pivots, info);
        })?;
        factors.tensor()
    });
    Ok([factors, pivots.tensor(), info.tensor()])
}

/// What the factors of a matrix cost.
pub(super) fn factoring_cost(m: usize, n: usize) -> f64 {
    let least = m.min(n) as f64;
    cost(least * least * (m.max(n) as f64 - least / 3.0))
}

/// The transposed matrices.
fn turned(x: &Tensor) -> Result<Tensor> {
    x.transpose(-2, -1)
}

/// `L` with ones on its diagonal, and `U`, of factors in one.
pub(super) fn parts(factors: &Tensor) -> Result<(Tensor, Tensor)> {
    let (m, n) = sizes_of(factors);
    let k = m.min(n) as i64;
    let ones = crate::ops::create::eye(m as i64, Some(k), factors.dtype().into())?;
    Ok((factors.narrow(-1, 0, k)?.tril(-1)?.add(&ones)?, factors.narrow(-2, 0, k)?.triu(0)?))
}

/// `lu_factor_ex` and `lu`: see [`reverse`] and [`forward`].
#[derive(Clone, Debug)]
struct LuFactor {
    pivot: bool,
}

impl Primitive for LuFactor {
    const NAME: &'static str = "linalg_lu_factor_ex";
    const SAVE: &'static [Save] = &[Save::output(0, "LU"), Save::output(1, "pivots")];
    const PARAMS: Params<Self> = params!(op; pivot);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let tangent = |t: &Tensor| {
            let (l, u) = parts(&cx.outs[0])?;
            let (dl, du) = forward(t, &permutation(&cx.outs[1], sizes_of(t).0, t.dtype())?, &l, &u)?;
            padded(&dl, &du, sizes_of(t))
        };
        Ok(smallvec![cx.t(0).map(tangent).transpose()?, None, None])
    });
    fn kernel_name(&self) -> &'static str {
        "lu_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Ok(factors(xs[0])?.into_iter().collect())
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (factors, g) = (cx.saved(0)?, cx.g());
        let ((m, n), (l, u)) = (sizes_of(factors), parts(factors)?);
        let k = m.min(n) as i64;
        let p = permutation(cx.saved(1)?, m, factors.dtype())?;
        reverse(Some(&g.narrow(-1, 0, k)?), Some(&g.narrow(-2, 0, k)?), &p, &l, &u).map(maybe)
    }
}

/// Tangents of `L` and `U`: with `K = L1^-1 P^T dA1 U1^-1`, `dL1 = L1 tril(K, -1)` and `dU1 = triu(K) U1`, where `L1`
/// and `U1` are the square parts, and the others follow from `dA = P (dL U + L dU)` (Walter and Lehmann, Algorithmic
/// differentiation of linear algebra functions with application in optimum experimental design, 2010).
fn forward(t: &Tensor, p: &Tensor, l: &Tensor, u: &Tensor) -> Result<(Tensor, Tensor)> {
    let (m, n) = sizes_of(t);
    let (k, t) = (m.min(n) as i64, turned(p)?.matmul(t)?);
    let (l1, u1) = (l.narrow(-2, 0, k)?, u.narrow(-1, 0, k)?);
    let inner = triangular::solve_unit(&l1, &t.narrow(-2, 0, k)?.narrow(-1, 0, k)?, false, true)?;
    let inner = triangular::solve(&u1, &inner, true, false)?;
    let (mut dl, mut du) = (l1.matmul(&inner.tril(-1)?)?, inner.triu(0)?.matmul(&u1)?);
    if m < n {
        let rest = n as i64 - k;
        let right = t.narrow(-1, k, rest)?.sub(&dl.matmul(&u.narrow(-1, k, rest)?)?)?;
        du = cat(&[du, triangular::solve_unit(l, &right, false, true)?], -1)?;
    } else if m > n {
        let rest = m as i64 - k;
        let below = t.narrow(-2, k, rest)?.sub(&l.narrow(-2, k, rest)?.matmul(&du)?)?;
        dl = cat(&[dl, triangular::solve(u, &below, true, false)?], -2)?;
    }
    Ok((dl, du))
}

/// The gradient of `A`, the transpose of [`forward`].
fn reverse(gl: Option<&Tensor>, gu: Option<&Tensor>, p: &Tensor, l: &Tensor, u: &Tensor) -> Result<Option<Tensor>> {
    if gl.is_none() && gu.is_none() {
        return Ok(None);
    }
    let ((m, k), n) = (sizes_of(l), sizes_of(u).1);
    let (square, rows, columns) = (k as i64, (m - k) as i64, (n - k) as i64);
    let (l1, u1) = (l.narrow(-2, 0, square)?, u.narrow(-1, 0, square)?);
    let from_l = |gl: &Tensor| -> Result<Tensor> {
        let g1 = turned(&l1)?.matmul(&gl.narrow(-2, 0, square)?)?.tril(-1)?;
        if rows == 0 {
            return Ok(g1);
        }
        // The rest of L is a function of both parts of U.
        g1.sub(&turned(&l.narrow(-2, square, rows)?)?.matmul(&gl.narrow(-2, square, rows)?)?.triu(0)?)
    };
    let from_u = |gu: &Tensor| -> Result<Tensor> {
        let g1 = gu.narrow(-1, 0, square)?.matmul(&turned(&u1)?)?.triu(0)?;
        if columns == 0 {
            return Ok(g1);
        }
        g1.sub(&gu.narrow(-1, square, columns)?.matmul(&turned(&u.narrow(-1, square, columns)?)?)?.tril(-1)?)
    };
    let inner = Jvp::sum([gl.map(from_l).transpose()?, gu.map(from_u).transpose()?])?.expect("one of them is there");
    let corner = triangular::solve(&turned(&u1)?, &inner, false, false)?;
    let corner = triangular::solve_unit(&turned(&l1)?, &corner, true, true)?;
    let zeros = |rows: usize, columns: usize| {
        let sizes: Dims = batch_of(l).iter().copied().chain([rows, columns]).collect();
        Tensor::zeros(&sizes, l.dtype())
    };
    let whole = if columns > 0 {
        let right = match gu {
            Some(gu) => triangular::solve_unit(&turned(&l1)?, &gu.narrow(-1, square, columns)?, true, true)?,
            None => zeros(k, n - k)?,
        };
        cat(&[corner, right], -1)?
    } else if rows > 0 {
        let below = match gl {
            Some(gl) => triangular::solve(&turned(&u1)?, &gl.narrow(-2, square, rows)?, false, false)?,
            None => zeros(m - k, k)?,
        };
        cat(&[corner, below], -2)?
    } else {
        corner
    };
    p.matmul(&whole).map(Some)
}

/// `l` below the diagonal and `u` from there on, in one.
fn padded(l: &Tensor, u: &Tensor, (m, n): (usize, usize)) -> Result<Tensor> {
    let grown = |x: Tensor, dim: i64, by: usize| -> Result<Tensor> {
        if by == 0 {
            return Ok(x);
        }
        let mut sizes = Dims::from_slice(x.sizes());
        let axis = (x.ndim() as i64 + dim) as usize;
        sizes[axis] = by;
        let zeros = Tensor::zeros(&sizes, x.dtype())?;
        cat(&[x, zeros], dim)
    };
    let k = m.min(n);
    grown(l.tril(-1)?, -1, n - k)?.add(&grown(u.triu(0)?, -2, m - k)?)
}

/// The matrices `P` of pivots: row `i` was swapped with row `pivots[i] - 1`, in this order.
#[derive(Clone, Debug)]
struct Permutation {
    rows: usize,
    dtype: DType,
}

impl Primitive for Permutation {
    const NAME: &'static str = "lu_unpack";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let batch = &xs[0].sizes()[..xs[0].ndim() - 1];
        let pivots = own_pivots(xs[0], |p| (1..=self.rows as i64).contains(&p), TO_UNPACK)?;
        let mut ones = Entries::<f32>::matrices(batch, self.rows, self.rows)?;
        let rows = self.rows;
        each(
            (pivots.read(), ones.write()),
            cost((rows * rows) as f64),
            &|| room::<i32>(rows),
            &|order, (pivots, p)| {
                let order = order.slice();
                order.iter_mut().zip(0..).for_each(|(to, i)| *to = i);
                for (i, &pivot) in pivots.iter().enumerate() {
                    order.swap(i, pivot as usize - 1);
                }
                p.fill(0.0);
                order.iter().enumerate().for_each(|(i, &row)| p[i * rows + row as usize] = 1.0);
            },
        )?;
        let ones = ones.tensor();
        let result = Tensor::empty(ones.sizes(), self.dtype)?;
        copy::copy_into(&ones, &result)?;
        Ok(out(result))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

const TO_UNPACK: &str = "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the \
                         result of lu_factor?";
const TO_SOLVE: &str = "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of \
                        lu_factor?";

/// The pivots that a user gave, or a hook of a saved tensor, copied once and checked.
fn own_pivots(x: &Tensor, is_row: impl Fn(i64) -> bool, refusal: &str) -> Result<Entries<i32>> {
    let (last, batch) = x.sizes().split_last().expect("pivots were checked to have an axis");
    let own = Entries::<i32>::vectors_of(x, batch, *last)?;
    if own.all().iter().any(|&p| !is_row(i64::from(p))) {
        return Err(Error::shape("pivots", refusal));
    }
    Ok(own)
}

/// As [`own_pivots`], for solutions with matrices of `n` rows.
pub(super) fn pivots_to_solve(x: &Tensor, n: usize) -> Result<Entries<i32>> {
    own_pivots(x, |p| (1..=n as i64).contains(&p), TO_SOLVE)
}

pub(super) fn permutation(pivots: &Tensor, rows: usize, dtype: DType) -> Result<Tensor> {
    // A constant, although its dtype is one that gradients have.
    apply1(Permutation { rows, dtype }, &[&pivots.detach()])
}

/// `lu`: see [`reverse`] and [`forward`].
#[derive(Clone, Debug)]
struct Lu {
    pivot: bool,
}

impl Primitive for Lu {
    const NAME: &'static str = "linalg_lu";
    const SAVE: &'static [Save] = &[Save::output(0, "P"), Save::output(1, "L"), Save::output(2, "U")];
    const PARAMS: Params<Self> = params!(op; pivot);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None, None]) };
        let (dl, du) = forward(t, &cx.outs[0], &cx.outs[1], &cx.outs[2])?;
        Ok(smallvec![None, Some(dl), Some(du)])
    });
    fn kernel_name(&self) -> &'static str {
        "lu_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let [factors, pivots, _] = factors(xs[0])?;
        let (l, u) = parts(&factors)?;
        Ok(smallvec![permutation(&pivots, sizes_of(xs[0]).0, xs[0].dtype())?, l, u])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        reverse(cx.g_of(1), cx.g_of(2), cx.saved(0)?, cx.saved(1)?, cx.saved(2)?).map(maybe)
    }
}

/// `lu_unpack`, of the factors alone: reverse both gradients in one.
#[derive(Clone, Debug)]
struct LuUnpack {
    sizes: (usize, usize),
}

impl Primitive for LuUnpack {
    const NAME: &'static str = "lu_unpack";
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> =
        params!(op; LU_data_sym_argsize_minus_1: op.sizes.1, LU_data_sym_argsize_minus_2: op.sizes.0);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None]) };
        let k = op.sizes.0.min(op.sizes.1) as i64;
        Ok(smallvec![Some(t.narrow(-1, 0, k)?.tril(-1)?), Some(t.narrow(-2, 0, k)?.triu(0)?)])
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (l, u) = parts(&xs[0].detach())?;
        Ok(smallvec![l, u])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (m, n) = self.sizes;
        let of = |i: usize, rows: usize, columns: usize| match cx.g_of(i) {
            Some(g) => Ok(g.clone()),
            None => {
                let sizes: Dims = cx.sizes(0)[..cx.sizes(0).len() - 2].iter().copied().chain([rows, columns]).collect();
                Tensor::zeros(&sizes, cx.dtype(0))
            }
        };
        padded(&of(0, m, m.min(n))?, &of(1, m.min(n), n)?, self.sizes).map(one)
    }
}

/// `lu_solve`, of operands with one batch. With `A X = B`: `dX = A^-1 (dB - dA X)`, `dA = P (dL U + L dU)`; reverse `gB
/// = A^-H g`, `gA = -gB X^H`, of which `gL` is the lower triangle of `P^T gA U^H`, `gU` the upper one of `L^H P^T gA`.
#[derive(Clone, Debug)]
struct LuSolve {
    left: bool,
    adjoint: bool,
}

impl Primitive for LuSolve {
    const NAME: &'static str = "linalg_lu_solve";
    const SAVE: &'static [Save] = &[Save::input(0, "LU"), Save::input(1, "pivots"), Save::output(0, "result").when(0)];
    const PARAMS: Params<Self> = params!(op; adjoint, left);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (factors, pivots, x) = (cx.xs[0], cx.xs[1], &cx.outs[0]);
        let by_factors = |t: &Tensor| {
            let (l, u) = parts(factors)?;
            let inner = t.tril(-1)?.matmul(&u)?.add(&l.matmul(&t.triu(0)?)?)?;
            let da = permutation(pivots, sizes_of(factors).0, factors.dtype())?.matmul(&inner)?;
            let da = if op.adjoint { adjoint(&da)? } else { da };
            if op.left { da.matmul(x)?.neg() } else { x.matmul(&da)?.neg() }
        };
        let right = Jvp::sum([cx.t(2).cloned(), cx.t(0).map(by_factors).transpose()?])?;
        right.map(|b| apply1(op.clone(), &[factors, pivots, &b])).transpose().map(maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "linalg.lu_solve_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (factors, b) = (xs[0], xs[2]);
        let (n, (rows, columns), batch) = (sizes_of(factors).0, sizes_of(b), batch_of(b));
        let pivots = pivots_to_solve(xs[1], n)?;
        let side = lu::Side { right: !self.left, adjoint: self.adjoint };
        match_dtype!(fields, factors.dtype(), T => {
            let (factors, b) = (Given::<T>::of(factors)?, Given::<T>::of(b)?);
            let mut x = Entries::<T>::matrices(batch, rows, columns)?;
            let parts = (factors.read(), pivots.read(), b.read(), x.write());
            let flops = 2.0 * n as f64 * (rows * columns) as f64;
            let together = lanes::together::<T>(rows.max(columns));
            each_of(together, parts, cost(flops), &|| Ok(()), &|(), (lu, pivots, b, x)| {
                lu::solve_all(side, lu, pivots, b, x);
            })?;
            Ok(out(x.tensor()))
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (factors, pivots) = (cx.saved(0)?, cx.saved(1)?);
        let to_b = apply1(Self { adjoint: !self.adjoint, ..self.clone() }, &[factors, pivots, cx.g()])?;
        let to_factors = cx.when(0, || {
            let x = cx.saved(2)?;
            // Of `A`, or of its adjoint.
            let whole = if self.left { to_b.matmul(&adjoint(x)?)? } else { adjoint(x)?.matmul(&to_b)? };
            let whole = if self.adjoint { adjoint(&whole)? } else { whole }.neg()?;
            let (l, u) = parts(factors)?;
            let p = permutation(pivots, sizes_of(factors).0, factors.dtype())?;
            let whole = turned(&p)?.matmul(&whole)?;
            whole.matmul(&adjoint(&u)?)?.tril(-1)?.add(&adjoint(&l)?.matmul(&whole)?.triu(0)?)
        })?;
        Ok(smallvec![to_factors, None, cx.needs(2).then_some(to_b)])
    }
}

/// The solution by factors, of operands that were checked, with one batch.
pub(super) fn solve_by(factors: &Tensor, pivots: &Tensor, b: &Tensor, left: bool, adjoint: bool) -> Result<Tensor> {
    apply1(LuSolve { left, adjoint }, &[factors, pivots, b])
}

/// Refuses vectors, and `pivot=False`, as torch does on CPUs.
fn check(op: &'static str, name: &str, x: &Tensor, pivot: bool) -> Result<()> {
    if x.ndim() < 2 {
        return Err(Error::shape(
            op,
            format!("{name}: Expected tensor with 2 or more dimensions. Got size: {:?} instead", x.sizes()),
        ));
    }
    if !pivot && x.dtype().is_differentiable() {
        return Err(Error::shape(
            op,
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU: leave pivot=True",
        ));
    }
    Ok(())
}

/// The factors, pivots and info, checked.
fn factored(op: &'static str, x: &Tensor, pivot: bool) -> Result<[Tensor; 3]> {
    check(op, "torch.lu_factor", x, pivot)?;
    let outs = apply(LuFactor { pivot }, &[x])?;
    Ok(std::array::from_fn(|i| outs[i].clone()))
}

/// The LU factorization with row pivoting, `A = P L U`.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `pivot` must be True. Returns: `(P, L, U)`:
/// permutations (*, m, m), lower triangles (*, m, k) with ones on the diagonal, upper triangles (*, k, n), with `k =
/// min(m, n)`. Singular matrices are factored too; they have no derivative. Derivative: that of Walter and Lehmann
/// (2010). Raises: RuntimeError for fewer than 2 dims.
///
/// >>> P, L, U = rg.linalg.lu(rg.tensor([[1.0, 2.0], [2.0, 2.0]]))
/// >>> P.tolist(), L.tolist(), U.tolist()
/// ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.5, 1.0]], [[2.0, 2.0], [0.0, 1.0]])
#[op(function, out, module = "linalg", name = "lu", fields("P", "L", "U"), "(*, pivot=True)")]
#[allow(non_snake_case)]
pub fn linalg_lu(A: &Tensor, pivot: bool) -> Result<Vec<Tensor>> {
    check("lu", "linalg.lu", A, pivot)?;
    let mut outs = apply(Lu { pivot }, &[A])?;
    let (u, l) = (outs.pop().expect("three results"), outs.pop().expect("three results"));
    Ok(vec![outs.swap_remove(0).detach(), l, u])
}

/// The factors of `A = P L U` in one matrix, and the pivots.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `pivot` must be True. Returns: `(LU,
/// pivots)`: `U` and below its diagonal `L`, without its ones; and in int32, from 1 on, the row that each row was
/// swapped with. Derivative: that of Walter and Lehmann (2010). Raises: RuntimeError if a diagonal element of `U` is
/// zero.
///
/// >>> rg.linalg.lu_factor(rg.tensor([[1.0, 2.0], [2.0, 2.0]])).pivots.tolist()
/// [2, 2]
#[op(function, out, module = "linalg", name = "lu_factor", fields("LU", "pivots"), "(*, pivot=True)")]
#[allow(non_snake_case)]
pub fn lu_factor(A: &Tensor, pivot: bool) -> Result<(Tensor, Tensor)> {
    let [factors, pivots, info] = factored("lu_factor", A, pivot)?;
    fault::check("torch.linalg.lu_factor", &info, Fault::LuFactor)?;
    Ok((factors, pivots))
}

/// As `linalg.lu_factor`, with a number for each matrix.
///
/// Args: `A`, `pivot` as there; `check_errors` raises as it does. Returns: `(LU, pivots, info)`: `info`, int32, is 0,
/// or the first diagonal element of `U`, from 1 on, that is zero.
///
/// >>> rg.linalg.lu_factor_ex(rg.zeros(2, 2)).info.item()
/// 1
#[op(
    function,
    out,
    module = "linalg",
    name = "lu_factor_ex",
    fields("LU", "pivots", "info"),
    "(*, pivot=True, check_errors=False)"
)]
#[allow(non_snake_case)]
pub fn lu_factor_ex(A: &Tensor, pivot: bool, check_errors: bool) -> Result<Vec<Tensor>> {
    let [factors, pivots, info] = factored("lu_factor_ex", A, pivot)?;
    if check_errors {
        fault::check("torch.linalg.lu_factor_ex", &info, Fault::LuFactor)?;
    }
    Ok(vec![factors, pivots, info])
}

/// The factors of `A = P L U` in one matrix, and the pivots; see `linalg.lu_factor_ex`.
///
/// Args: `get_infos` returns the numbers of `linalg.lu_factor_ex` too. Returns: `(LU, pivots)` or `(LU, pivots, info)`.
///
/// >>> rg.lu(rg.tensor([[1.0, 2.0], [2.0, 2.0]]))[1].tolist()
/// [2, 2]
#[op(function, method, norust, name = "lu", fields("LU", "pivots", "info"), "(pivot=True, get_infos=False)")]
pub fn lu_of(input: &Tensor, pivot: bool, get_infos: bool) -> Result<MaybeNamed> {
    let [factors, pivots, info] = factored("lu", input, pivot)?;
    Ok(match get_infos {
        true => MaybeNamed(vec![factors, pivots, info], true),
        false => MaybeNamed(vec![factors, pivots], false),
    })
}

/// The matrices `P`, `L` and `U` of what `linalg.lu_factor` returned.
///
/// Args: `LU_data` (*, m, n); `LU_pivots` its pivots, int32; `unpack_data`, `unpack_pivots` leave `L` and `U`, or `P`,
/// empty. Returns: `(P, L, U)`. Derivative: the triangles of `g`. Raises: RuntimeError for pivots that are no rows.
///
/// >>> factors, pivots = rg.linalg.lu_factor(rg.tensor([[1.0, 2.0], [2.0, 2.0]]))
/// >>> rg.lu_unpack(factors, pivots).L.tolist()
/// [[1.0, 0.0], [0.5, 1.0]]
#[op(function, out, fields("P", "L", "U"), "(unpack_data=True, unpack_pivots=True)")]
#[allow(non_snake_case)]
pub fn lu_unpack(LU_data: &Tensor, LU_pivots: &Tensor, unpack_data: bool, unpack_pivots: bool) -> Result<Vec<Tensor>> {
    const OP: &str = "lu_unpack";
    if LU_data.ndim() < 2 {
        let detail = format!(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {:?} instead",
            LU_data.sizes()
        );
        return Err(Error::shape(OP, detail));
    }
    let sizes = sizes_of(LU_data);
    if unpack_pivots && (LU_pivots.dtype() != DType::Int32 || LU_pivots.ndim() == 0) {
        return Err(Error::dtype(
            OP,
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is \
             intended to be used with the output produced by linalg.lu_factor",
        ));
    }
    let nothing = || Tensor::empty(&[0], LU_data.dtype());
    let p = if unpack_pivots { permutation(LU_pivots, sizes.0, LU_data.dtype())?.detach() } else { nothing()? };
    if !unpack_data {
        return Ok(vec![p, nothing()?, nothing()?]);
    }
    let mut outs = apply(LuUnpack { sizes }, &[LU_data])?;
    let u = outs.pop().expect("two results");
    Ok(vec![p, outs.swap_remove(0), u])
}

/// The solution of `A X = B`, or `X A = B`, by the factors of `A`.
///
/// Args: `LU`, `pivots` what `linalg.lu_factor` returned for (*, n, n); `B` (*, n, k), or
/// (*, k, n) unless `left`; `adjoint` takes the adjoint of `A`. Batches broadcast. Returns: a tensor of the shape of
/// `B`, broadcast. Derivative: `gB = A^-H g`, and those of the factors from `-gB X^H`. Raises: RuntimeError if shapes
/// or dtypes do not fit.
///
/// >>> factors, pivots = rg.linalg.lu_factor(rg.tensor([[2.0, 0.0], [1.0, 1.0]]))
/// >>> rg.linalg.lu_solve(factors, pivots, rg.tensor([[2.0], [3.0]])).tolist()
/// [[1.0], [2.0]]
#[op(function, out, module = "linalg", name = "lu_solve", "(*, left=True, adjoint=False)")]
#[allow(non_snake_case)]
pub fn linalg_lu_solve(LU: &Tensor, pivots: &Tensor, B: &Tensor, left: bool, adjoint: bool) -> Result<Tensor> {
    const OP: &str = "lu_solve";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    checks::float_or_complex_or_half(OP, "torch.linalg.lu_solve", LU)?;
    checks::square(OP, "torch.linalg.lu_solve", LU, "A")?;
    if pivots.dtype() != DType::Int32 {
        return refuse("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32".into());
    }
    checks::same_dtype(OP, "linalg.lu_solve", (LU, "LU"), (B, "B"))?;
    checks::matrices(OP, "linalg.lu_solve", B, "B")?;
    triangular::fit(OP, "linalg.lu_solve", LU, B, left)?;
    let n = sizes_of(LU).0;
    if pivots.sizes().last() != Some(&n) {
        return refuse(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix".into(),
        );
    }
    if pivots.sizes() != &LU.sizes()[..LU.ndim() - 1] {
        return refuse(format!(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape {:?} instead",
            pivots.sizes()
        ));
    }
    let (factors, b) = super::broadcast_batches(OP, LU, B)?;
    let sizes: Dims = batch_of(&b).iter().copied().chain([n]).collect();
    solve_by(&factors, &expand_to(pivots, &sizes)?, &b, left, adjoint)
}

/// The solution of `A x = b` by the factors of `A`; see `linalg.lu_solve`.
///
/// >>> factors, pivots = rg.linalg.lu_factor(rg.tensor([[2.0]]))
/// >>> rg.lu_solve(rg.tensor([[4.0]]), factors, pivots).tolist()
/// [[2.0]]
#[op(function, method, out, norust)]
#[allow(non_snake_case)]
pub fn lu_solve(input: &Tensor, LU_data: &Tensor, LU_pivots: &Tensor) -> Result<Tensor> {
    linalg_lu_solve(LU_data, LU_pivots, input, true, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 3][..], &[2, 3, 5], &[2, 5, 3]] {
            let x = [noise(1, sizes)];
            gradcheck(&|xs| Ok(lu_factor(&xs[0], true)?.0), &x);
            gradcheck(&|xs| Ok(linalg_lu(&xs[0], true)?[1].clone()), &x);
            gradcheck(&|xs| Ok(linalg_lu(&xs[0], true)?[2].clone()), &x);
        }
        let pivots = Tensor::from_slice(&[2i32, 3, 3], &[3]).unwrap();
        let shifted = |x: &Tensor| x.add(&Tensor::full(&[3], 3.0.into(), x.dtype())?.diag_embed(0, -2, -1)?);
        for (left, adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
            gradcheck(
                &|xs| linalg_lu_solve(&shifted(&xs[0])?, &pivots, &xs[1], left, adjoint),
                &[noise(1, &[3, 3]), noise(2, &[2, 3, 3])],
            );
        }
    }
}
