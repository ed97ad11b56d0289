//! Pseudoinverses, ranks and solutions by least squares.

use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{batch_of, sizes_of};
use super::{adjoint, checks, eigh, gauge, qr, svd, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::mode::GradGuard;
use crate::autograd::primitive::{Batch, ComplexRule, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::ops::memory::{self, cast};
use crate::ops::pointwise::complex::{conj_physical, real_part};
use crate::ops::pointwise::select::where_;
use crate::tensor::{DType, Dims, Dtypes, Scalar, Tensor};

/// A tolerance that the user gave.
#[derive(Clone, Copy)]
enum Given<'a> {
    None,
    Number(f64),
    Tensor(&'a Tensor),
}

/// Those of the values that are larger than the tolerances.
///
/// Without `rtol` it is epsilon times the larger side, or 0 if `atol` is positive.
fn large(values: &Tensor, side: usize, atol: Given, rtol: Given) -> Result<Tensor> {
    let values = values.detach().abs()?;
    let double = |x: &Tensor| cast(&x.detach(), DType::Float64);
    let default = side as f64 * gauge::epsilon(values.dtype());
    let number = |x: f64| Tensor::number(Scalar::Float(x)).and_then(|x| double(&x));
    let atol = match atol {
        Given::None => None,
        Given::Number(x) => Some(number(x)?),
        Given::Tensor(x) => Some(double(x)?),
    };
    let rtol = match (rtol, &atol) {
        (Given::Number(x), _) => number(x)?,
        (Given::Tensor(x), _) => double(x)?,
        (Given::None, None) => number(default)?,
        (Given::None, Some(atol)) => where_(&atol.gt(&number(0.0)?)?, &number(0.0)?, &number(default)?)?,
    };
    let values = double(&values)?;
    let largest = values.amax(&[-1], false)?;
    let mut bound = largest.mul(&rtol)?;
    if let Some(atol) = atol {
        bound = bound.maximum(&atol)?;
    }
    values.gt(&bound.unsqueeze(-1)?)
}

/// `x - a (b x)`.
fn outside(a: &Tensor, b: &Tensor, x: &Tensor) -> Result<Tensor> {
    x.sub(&a.matmul(&b.matmul(x)?)?)
}

/// `x - (x a) b`.
fn outside_right(x: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    x.sub(&x.matmul(a)?.matmul(b)?)
}

/// The tangent of the pseudoinverse `p` of `a`.
fn pinv_tangent(a: &Tensor, p: &Tensor, t: &Tensor) -> Result<Tensor> {
    let (ph, th) = (adjoint(p)?, adjoint(t)?);
    let inner = p.matmul(&t.matmul(p)?)?;
    let left = outside(p, a, &th.matmul(&ph)?)?.matmul(p)?;
    let right = p.matmul(&outside_right(&ph.matmul(&th)?, a, p)?)?;
    left.add(&right)?.sub(&inner)
}

/// The gradient of `a` from that of its pseudoinverse `p`.
fn pinv_gradient(a: &Tensor, p: &Tensor, g: &Tensor) -> Result<Tensor> {
    let (ph, gh) = (adjoint(p)?, adjoint(g)?);
    let inner = ph.matmul(&g.matmul(&ph)?)?;
    let left = ph.matmul(&outside_right(&p.matmul(&gh)?, p, a)?)?;
    let right = outside(a, p, &gh.matmul(p)?)?.matmul(&ph)?;
    left.add(&right)?.sub(&inner)
}

/// The pseudoinverse by singular values, or of Hermitian matrices by eigenvalues.
fn pseudoinverse(x: &Tensor, hermitian: bool, atol: Given, rtol: Given) -> Result<Tensor> {
    let (m, n) = sizes_of(x);
    if x.numel() == 0 {
        let sizes: Dims = batch_of(x).iter().copied().chain([n, m]).collect();
        return Tensor::zeros(&sizes, x.dtype());
    }
    let (u, s, v) = if hermitian {
        let (w, v) = eigh::linalg_eigh(x, "L")?;
        (v.clone(), w, v)
    } else {
        let [u, s, vh] = svd::decomposed("linalg.svd", x, false, true)?;
        (u, s, adjoint(&vh)?)
    };
    let large = large(&s, m.max(n), atol, rtol)?;
    let one = Tensor::full(&[], Scalar::Int(1), s.dtype())?;
    let zero = Tensor::full(&[], Scalar::Int(0), s.dtype())?;
    let inverse = where_(&large, &where_(&large, &s, &one)?.reciprocal()?, &zero)?;
    v.mul(&inverse.unsqueeze(-2)?)?.matmul(&adjoint(&u)?)
}

/// `pinv`, of constant rank: `dP = -P dA P + (I - P A) dA^H P^H P + P P^H dA^H (I - A P)`; reverse `-P^H g P^H + P^H P
/// g^H (I - P A) + (I - A P) g^H P P^H` (Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least
/// squares problems whose variables separate, 1973). Operands: the matrices, and what was computed of them.
#[derive(Clone, Debug)]
struct Pinv {
    hermitian: bool,
}

impl Primitive for Pinv {
    const NAME: &'static str = "linalg_pinv";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let tangent = |t: &Tensor| pinv_tangent(cx.xs[0], &cx.outs[0], &op.symmetric(t)?);
        cx.t(0).map(tangent).transpose().map(maybe)
    });
    fn inputs(&self) -> u32 {
        0b1
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        memory::cloned(&xs[1].detach()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = pinv_gradient(cx.saved(1)?, cx.saved(0)?, cx.g())?;
        Ok(smallvec![Some(self.symmetric(&g)?), None])
    }
}

impl Pinv {
    /// What a Hermitian matrix changes by.
    fn symmetric(&self, t: &Tensor) -> Result<Tensor> {
        if self.hermitian { t.add(&adjoint(t)?)?.times(0.5) } else { Ok(t.clone()) }
    }
}

fn inverted(op: &'static str, x: &Tensor, hermitian: bool, atol: Given, rtol: Given) -> Result<Tensor> {
    if x.ndim() < 2 || !taken(x.dtype()) {
        return Err(Error::shape(
            op,
            format!(
                "linalg.pinv({}{{{:?}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble \
                 types",
                x.dtype().scalar_type_name(),
                x.sizes()
            ),
        ));
    }
    if hermitian {
        checks::square(op, "linalg.eigh", x, "A")?;
    }
    let result = {
        let _plain = GradGuard::new(false);
        pseudoinverse(&x.detach(), hermitian, atol, rtol)?
    };
    apply1(Pinv { hermitian }, &[x, &result])
}

fn taken(dtype: DType) -> bool {
    matches!(dtype, DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128)
}

fn number(x: Option<f64>) -> Given<'static> {
    x.map_or(Given::None, Given::Number)
}

fn tensor(x: Option<&Tensor>) -> Given<'_> {
    x.map_or(Given::None, Given::Tensor)
}

/// The pseudoinverse of matrices (Moore and Penrose).
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; singular values up to `max(atol, rtol *
/// largest)` count as 0, where `rtol` is `max(m, n)` times epsilon, or 0 if `atol` is positive; `hermitian` says that
/// matrices are Hermitian (or real symmetric), of which the lower triangle is read. Returns: (*, n, m). Derivative:
/// `-P^H g P^H + P^H P g^H (I - P A) + (I - A P) g^H P P^H`, of matrices whose rank stays (Golub and Pereyra 1973).
/// Raises: LinAlgError if there are infinities or NaN.
///
/// >>> rg.linalg.pinv(rg.tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
/// [[0.5, 0.0], [0.0, 0.0]]
#[op(function, out, module = "linalg", "(*, atol=None, rtol=None, hermitian=False)")]
#[allow(non_snake_case)]
pub fn pinv(A: &Tensor, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<Tensor> {
    inverted("linalg.pinv", A, hermitian, number(atol), number(rtol))
}

/// The pseudoinverse, with tolerances for each matrix of a batch.
///
/// Args: `atol`, `rtol` tensors of the shape of the batch, or that broadcast to it.
///
/// >>> rg.linalg.pinv(rg.eye(2), atol=rg.tensor(0.0)).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[op(function, out, module = "linalg", norust, name = "pinv", "(*, atol=None, rtol=None, hermitian=False)")]
#[allow(non_snake_case)]
pub fn pinv_tensors(A: &Tensor, atol: Option<&Tensor>, rtol: Option<&Tensor>, hermitian: bool) -> Result<Tensor> {
    inverted("linalg.pinv", A, hermitian, tensor(atol), tensor(rtol))
}

/// The pseudoinverse, with the older name of `rtol`, `rcond`.
///
/// >>> rg.linalg.pinv(rg.eye(2), 1e-5).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[op(function, out, module = "linalg", norust, name = "pinv", "(hermitian=False)")]
#[allow(non_snake_case)]
pub fn pinv_rcond(A: &Tensor, rcond: f64, hermitian: bool) -> Result<Tensor> {
    inverted("linalg.pinv", A, hermitian, Given::Number(0.0), Given::Number(rcond))
}

/// The pseudoinverse, with the older name of `rtol`, `rcond`, for each matrix of a batch.
///
/// >>> rg.linalg.pinv(rg.eye(2), rg.tensor(1e-5)).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[op(function, out, module = "linalg", norust, name = "pinv", "(hermitian=False)")]
#[allow(non_snake_case)]
pub fn pinv_rcond_tensor(A: &Tensor, rcond: &Tensor, hermitian: bool) -> Result<Tensor> {
    inverted("linalg.pinv", A, hermitian, Given::Number(0.0), Given::Tensor(rcond))
}

/// The pseudoinverse of matrices; see `linalg.pinv`.
///
/// Args: `rcond` as `rtol` there.
///
/// >>> rg.pinverse(rg.tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
/// [[0.5, 0.0], [0.0, 0.0]]
#[op(function, method, "(rcond=1e-15)")]
pub fn pinverse(input: &Tensor, rcond: f64) -> Result<Tensor> {
    inverted("pinverse", input, false, Given::Number(0.0), Given::Number(rcond))
}

fn rank(op: &'static str, x: &Tensor, hermitian: bool, atol: Given, rtol: Given) -> Result<Tensor> {
    checks::matrices(op, "torch.linalg.matrix_rank", x, "input")?;
    if !taken(x.dtype()) {
        return Err(Error::dtype(
            op,
            format!(
                "This function doesn't handle types other than float and double. Got {}",
                x.dtype().scalar_type_name()
            ),
        ));
    }
    let _plain = GradGuard::new(false);
    let x = x.detach();
    let (m, n) = sizes_of(&x);
    if m.min(n) == 0 {
        return Tensor::zeros(batch_of(&x), DType::Int64);
    }
    let values = if hermitian { eigh::eigvalsh(&x, "L")? } else { svd::values("linalg.matrix_rank", &x)? };
    large(&values, m.max(n), atol, rtol)?.sum_dims(&[-1], false)
}

/// How many singular values of matrices are not 0.
///
/// Args: `A`, `atol`, `rtol`, `hermitian` as for `linalg.pinv`. Returns: int64, of the shape of the batch. Derivative:
/// none. Raises: as there.
///
/// >>> rg.linalg.matrix_rank(rg.tensor([[1.0, 2.0], [2.0, 4.0]])).item()
/// 1
#[op(function, out, module = "linalg", "(*, atol=None, rtol=None, hermitian=False)")]
#[allow(non_snake_case)]
pub fn matrix_rank(A: &Tensor, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<Tensor> {
    rank("linalg.matrix_rank", A, hermitian, number(atol), number(rtol))
}

/// How many singular values are not 0, with tolerances for each matrix of a batch.
///
/// Args: `atol`, `rtol` tensors of the shape of the batch, or that broadcast to it.
///
/// >>> rg.linalg.matrix_rank(rg.eye(2), atol=rg.tensor(2.0)).item()
/// 0
#[op(function, out, module = "linalg", norust, name = "matrix_rank", "(*, atol=None, rtol=None, hermitian=False)")]
#[allow(non_snake_case)]
pub fn matrix_rank_tensors(
    input: &Tensor,
    atol: Option<&Tensor>,
    rtol: Option<&Tensor>,
    hermitian: bool,
) -> Result<Tensor> {
    rank("linalg.matrix_rank", input, hermitian, tensor(atol), tensor(rtol))
}

/// How many singular values are larger than `tol`.
///
/// >>> rg.linalg.matrix_rank(rg.eye(2), 2.0).item()
/// 0
#[op(function, out, module = "linalg", norust, name = "matrix_rank", "(hermitian=False)")]
#[allow(non_snake_case)]
pub fn matrix_rank_tol(A: &Tensor, tol: f64, hermitian: bool) -> Result<Tensor> {
    rank("linalg.matrix_rank", A, hermitian, Given::Number(tol), Given::Number(0.0))
}

/// How many singular values are larger than `tol`, for each matrix of a batch.
///
/// >>> rg.linalg.matrix_rank(rg.eye(2), rg.tensor(2.0)).item()
/// 0
#[op(function, out, module = "linalg", norust, name = "matrix_rank", "(hermitian=False)")]
pub fn matrix_rank_tol_tensor(input: &Tensor, tol: &Tensor, hermitian: bool) -> Result<Tensor> {
    rank("linalg.matrix_rank", input, hermitian, Given::Tensor(tol), Given::Number(0.0))
}

/// `lstsq`: with the pseudoinverse `P`, `X = P B` and its derivatives (Golub and Pereyra 1973), and for the residuals
/// `|A X - B|^2`, where `X` is the best, `dL = 2 Re(r^H (dA X - dB))`. Operands: both sides, and what was computed of
/// them, the solution and the residuals.
#[derive(Clone, Debug)]
struct Lstsq {
    rcond: f64,
}

impl Lstsq {
    /// The pseudoinverse that solves.
    fn inverse(&self, a: &Tensor) -> Result<Tensor> {
        inverted("linalg.lstsq", a, false, Given::Number(0.0), Given::Number(self.rcond))
    }
}

impl Primitive for Lstsq {
    const NAME: &'static str = "linalg_lstsq";
    const SAVE: &'static [Save] = &[Save::input(1, "b"), Save::input(0, "self"), Save::output(0, "solution")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (a, b, x) = (cx.xs[0], cx.xs[1], &cx.outs[0]);
        let p = op.inverse(a)?;
        let by_a = cx.t(0).map(|t| pinv_tangent(a, &p, t)?.matmul(b)).transpose()?;
        let by_b = cx.t(1).map(|t| p.matmul(t)).transpose()?;
        let residuals = match cx.outs[1].numel() {
            0 => None,
            _ => {
                let parts = [cx.t(0).map(|t| t.matmul(x)).transpose()?, cx.t(1).map(Tensor::neg).transpose()?];
                let r = conj_physical(&a.matmul(x)?.sub(b)?)?;
                let change = |dr: Tensor| real_part(&r.mul(&dr)?)?.sum_dims(&[-2], false)?.times(2.0);
                Jvp::sum(parts)?.map(change).transpose()?
            }
        };
        Ok(smallvec![Jvp::sum([by_a, by_b])?, residuals])
    });
    fn inputs(&self) -> u32 {
        0b11
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Ok(smallvec![memory::cloned(&xs[2].detach())?, memory::cloned(&xs[3].detach())?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (b, a, x) = (cx.saved(0)?, cx.saved(1)?, cx.saved(2)?);
        let (mut to_a, mut to_b) = (None, None);
        if let Some(g) = cx.g_of(0) {
            let p = self.inverse(a)?;
            to_a = cx.when(0, || pinv_gradient(a, &p, &g.matmul(&adjoint(b)?)?))?;
            to_b = cx.when(1, || adjoint(&p)?.matmul(g))?;
        }
        if let Some(g) = cx.g_of(1).filter(|g| g.numel() > 0) {
            let r = a.matmul(x)?.sub(b)?.mul(&g.unsqueeze(-2)?)?.times(2.0)?;
            to_a = Jvp::sum([to_a, cx.when(0, || r.matmul(&adjoint(x)?))?])?;
            to_b = Jvp::sum([to_b, cx.when(1, || r.neg())?])?;
        }
        Ok(smallvec![to_a, to_b, None, None])
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Gels,
    Gelsy,
    Gelsd,
    Gelss,
}

/// Solutions by least squares: the `X` of smallest length among those for which `|A X - B|` is smallest.
///
/// Args: `A` (*, m, n) and `B` (*, m, k), or (*, m) for one right side each, of one dtype, float32, float64, complex64
/// or complex128, of one batch; `rcond` singular values up to `rcond` times the largest count as 0, by default `max(m,
/// n)` times epsilon; `driver` "gelsy", the default, "gelsd", "gelss", or "gels" for matrices of full rank. Returns:
/// `(solution, residuals, rank, singular_values)`: (*, n, k); the squares of `|A X - B|` if `m > n`, all matrices have
/// rank `n` and the driver is not "gelsy", or else empty; the rank unless the driver is "gels"; the singular values for
/// "gelsd" and "gelss". Derivative: that of `pinv(A) @ B` (Golub and Pereyra 1973), for matrices whose rank stays, and
/// of the residuals. Raises: RuntimeError if shapes or dtypes do not fit; LinAlgError if there are infinities or NaN.
///
/// >>> A, B = rg.tensor([[1.0], [1.0]]), rg.tensor([[1.0], [3.0]])
/// >>> round(rg.linalg.lstsq(A, B).solution.item(), 5)
/// 2.0
#[op(
    function,
    out,
    module = "linalg",
    fields("solution", "residuals", "rank", "singular_values"),
    "(rcond=None, *, driver=None)"
)]
#[allow(non_snake_case)]
pub fn lstsq(A: &Tensor, B: &Tensor, rcond: Option<f64>, driver: Option<&str>) -> Result<Vec<Tensor>> {
    const OP: &str = "linalg.lstsq";
    let refuse = |detail: String| Err(Error::shape(OP, format!("torch.linalg.lstsq: {detail}")));
    if A.ndim() < 2 {
        return refuse("input must have at least 2 dimensions.".into());
    }
    if B.ndim() < 1 {
        return refuse("other must have at least 1 dimension.".into());
    }
    if A.dtype() != B.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {} and \
                 other's dtype {}",
                A.dtype().scalar_type_name(),
                B.dtype().scalar_type_name()
            ),
        ));
    }
    if B.ndim() > A.ndim() || A.ndim() - B.ndim() > 1 {
        return refuse(
            "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1".into(),
        );
    }
    let vector = B.ndim() + 1 == A.ndim();
    let (m, n) = sizes_of(A);
    let b = if vector { B.unsqueeze(-1)? } else { B.clone() };
    if sizes_of(&b).0 != m {
        return refuse(match vector {
            true => "input.size(-2) should match other.size(-1)".into(),
            false => "input.size(-2) should match other.size(-2)".into(),
        });
    }
    let driver = match driver {
        None | Some("gelsy") => Driver::Gelsy,
        Some("gels") => Driver::Gels,
        Some("gelsd") => Driver::Gelsd,
        Some("gelss") => Driver::Gelss,
        Some(_) => return refuse("parameter `driver` should be one of (gels, gelsy, gelsd, gelss)".into()),
    };
    if !taken(A.dtype()) {
        return Err(Error::dtype(
            OP,
            format!(
                "This function doesn't handle types other than float and double. Got {}",
                A.dtype().scalar_type_name()
            ),
        ));
    }
    let (a, b) = super::broadcast_batches(OP, A, &b)?;
    let rcond = rcond.unwrap_or(m.max(n) as f64 * gauge::epsilon(A.dtype()));
    let [x, residuals, rank, values] = {
        let _plain = GradGuard::new(false);
        solved(&a.detach(), &b.detach(), rcond, driver)?
    };
    let mut outs = apply(Lstsq { rcond }, &[&a, &b, &x, &residuals])?;
    let residuals = outs.swap_remove(1);
    let x = outs.swap_remove(0);
    Ok(vec![if vector { x.squeeze_dims(&[-1])? } else { x }, residuals, rank, values])
}

/// The solution, the residuals, the ranks and the singular values, as `driver` gives them.
fn solved(a: &Tensor, b: &Tensor, rcond: f64, driver: Driver) -> Result<[Tensor; 4]> {
    let ((m, n), (_, k), batch) = (sizes_of(a), sizes_of(b), batch_of(a));
    let real = a.dtype().real();
    let none = |dtype: DType| Tensor::empty(&[0], dtype);
    let sized = |last: &[usize]| -> Dims { batch.iter().chain(last).copied().collect() };
    if a.numel() == 0 || k == 0 {
        let rank = if driver == Driver::Gels { none(DType::Int64)? } else { Tensor::zeros(batch, DType::Int64)? };
        return Ok([Tensor::zeros(&sized(&[n, k]), a.dtype())?, none(real)?, rank, none(real)?]);
    }
    let (x, full, rank, values) = if driver == Driver::Gels {
        // By a QR decomposition: R X = Q^H B, or with A^H = Q R, X = Q R^-H B.
        let x = if m >= n {
            let (q, r) = qr::linalg_qr(a, "reduced")?;
            triangular::solve(&r, &adjoint(&q)?.matmul(b)?, true, true)?
        } else {
            let (q, r) = qr::linalg_qr(&adjoint(a)?, "reduced")?;
            q.matmul(&triangular::solve(&adjoint(&r)?, b, false, true)?)?
        };
        (x, true, none(DType::Int64)?, none(real)?)
    } else {
        let [u, s, vh] = svd::decomposed("linalg.lstsq", a, false, true)?;
        let large = large(&s, m.max(n), Given::Number(0.0), Given::Number(rcond))?;
        let one = Tensor::full(&[], Scalar::Int(1), real)?;
        let zero = Tensor::full(&[], Scalar::Int(0), real)?;
        let inverse = where_(&large, &where_(&large, &s, &one)?.reciprocal()?, &zero)?;
        let x = adjoint(&vh)?.matmul(&adjoint(&u)?.matmul(b)?.mul(&inverse.unsqueeze(-1)?)?)?;
        let rank = large.sum_dims(&[-1], false)?;
        let full = driver != Driver::Gelsy && m > n && all_have_rank(&rank, n)?;
        let values = if driver == Driver::Gelsy { none(real)? } else { s };
        (x, full, rank, values)
    };
    let residuals = if full && m > n {
        let r = a.matmul(&x)?.sub(b)?.abs()?;
        r.mul(&r)?.sum_dims(&[-2], false)?
    } else {
        none(real)?
    };
    Ok([x, residuals, rank, values])
}

/// Under `vmap` of all entries: the results of all have one shape.
fn all_have_rank(rank: &Tensor, n: usize) -> Result<bool> {
    let mut all = rank.clone();
    while let Some(batched) = all.batched() {
        all = batched.value;
    }
    Ok(all.to_vec::<i64>()?.iter().all(|&rank| rank == n as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| pinv(&xs[0], None, None, false), &[noise(1, &[4, 3])]);
        gradcheck(&|xs| pinv(&xs[0], None, None, false), &[noise(1, &[2, 3, 4])]);
        // Of constant rank 2.
        gradcheck(&|xs| pinv(&xs[0].matmul(&xs[1])?, None, None, false), &[noise(1, &[4, 2]), noise(2, &[2, 3])]);
        for (m, n) in [(4, 3), (3, 4)] {
            let solve = |xs: &[Tensor]| Ok(lstsq(&xs[0], &xs[1], None, Some("gelsd"))?.swap_remove(0));
            gradcheck(&solve, &[noise(1, &[m, n]), noise(2, &[m, 2])]);
        }
        let residuals = |xs: &[Tensor]| Ok(lstsq(&xs[0], &xs[1], None, Some("gels"))?.swap_remove(1));
        gradcheck(&residuals, &[noise(1, &[4, 3]), noise(2, &[4, 2])]);
    }
}
