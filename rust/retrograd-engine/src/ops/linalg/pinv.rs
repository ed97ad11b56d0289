//! Pseudoinverses and ranks.

use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{batch_of, sizes_of};
use super::{adjoint, checks, eigh, full_rank, gauge, groups, svd};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::mode::GradGuard;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::ops::memory::cast;
use crate::ops::pointwise::select::where_;
use crate::ops::view::{expand_to, stack};
use crate::tensor::layout::broadcast;
use crate::tensor::{DType, Dims, Dtypes, Scalar, Tensor};

/// A tolerance that the user gave.
#[derive(Clone, Copy)]
enum Given<'a> {
    None,
    Number(f64),
    Tensor(&'a Tensor),
}

/// `atol` and `rtol` along the last axis, in float64.
///
/// Without `rtol` it is epsilon times the larger side, or 0 if `atol` is positive; without `atol` there is none.
fn tolerances(x: &Tensor, atol: Given, rtol: Given) -> Result<Tensor> {
    let (m, n) = sizes_of(x);
    let default = m.max(n) as f64 * gauge::epsilon(x.dtype());
    let number = |x: f64| Tensor::from_slice(&[x], &[]);
    let double = |x: &Tensor| cast(&x.detach(), DType::Float64);
    let atol = match atol {
        Given::None => number(f64::NEG_INFINITY)?,
        Given::Number(x) => number(x)?,
        Given::Tensor(x) => double(x)?,
    };
    let rtol = match rtol {
        Given::None => where_(&atol.gt(&number(0.0)?)?, &number(0.0)?, &number(default)?)?,
        Given::Number(x) => number(x)?,
        Given::Tensor(x) => double(x)?,
    };
    let sizes = broadcast("linalg.pinv", atol.sizes(), rtol.sizes())?;
    stack(&[expand_to(&atol, &sizes)?, expand_to(&rtol, &sizes)?], -1)
}

/// The tolerance by which singular values up to `rcond` times the largest count as 0.
pub(super) fn relative(rcond: f64) -> Result<Tensor> {
    Tensor::from_slice(&[0.0, rcond], &[2])
}

/// Operands with the batch that they have together with the tolerances, and these.
fn of_one_batch(op: &'static str, x: &Tensor, tolerances: &Tensor) -> Result<(Tensor, Tensor)> {
    let (m, n) = sizes_of(x);
    let batch = broadcast(op, batch_of(x), &tolerances.sizes()[..tolerances.ndim() - 1])?;
    let expanded = |x: &Tensor, last: &[usize]| {
        let sizes: Dims = batch.iter().chain(last).copied().collect();
        if x.sizes() == &*sizes { Ok(x.clone()) } else { expand_to(x, &sizes) }
    };
    Ok((expanded(x, &[m, n])?, expanded(tolerances, &[2])?))
}

/// Those of the values that are larger than the tolerances.
pub(super) fn large(values: &Tensor, tolerances: &Tensor) -> Result<Tensor> {
    let values = cast(&values.detach().abs()?, DType::Float64)?;
    let [atol, rtol] = [tolerances.select(-1, 0)?, tolerances.select(-1, 1)?];
    let bound = values.amax(&[-1], false)?.mul(&rtol)?.maximum(&atol)?;
    values.gt(&bound.unsqueeze(-1)?)
}

/// Reciprocals of those of the values that are `large`, and 0 for the others.
pub(super) fn reciprocals(values: &Tensor, large: &Tensor) -> Result<Tensor> {
    let number = |x: i64| Tensor::full(&[], Scalar::Int(x), values.dtype());
    where_(large, &where_(large, values, &number(1)?)?.reciprocal()?, &number(0)?)
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
pub(super) fn pinv_tangent(a: &Tensor, p: &Tensor, t: &Tensor) -> Result<Tensor> {
    let (ph, th) = (adjoint(p)?, adjoint(t)?);
    let inner = p.matmul(&t.matmul(p)?)?;
    let left = outside(p, a, &th.matmul(&ph)?)?.matmul(p)?;
    let right = p.matmul(&outside_right(&ph.matmul(&th)?, a, p)?)?;
    left.add(&right)?.sub(&inner)
}

/// The gradient of `a` from that of its pseudoinverse `p`.
pub(super) fn pinv_gradient(a: &Tensor, p: &Tensor, g: &Tensor) -> Result<Tensor> {
    let (ph, gh) = (adjoint(p)?, adjoint(g)?);
    let inner = ph.matmul(&g.matmul(&ph)?)?;
    let left = ph.matmul(&outside_right(&p.matmul(&gh)?, p, a)?)?;
    let right = outside(a, p, &gh.matmul(p)?)?.matmul(&ph)?;
    left.add(&right)?.sub(&inner)
}

/// The pseudoinverse by singular values, or of Hermitian matrices by eigenvalues.
fn by_values(x: &Tensor, tolerances: &Tensor, hermitian: bool) -> Result<Tensor> {
    let (u, s, v) = if hermitian {
        let (w, v) = eigh::linalg_eigh(x, "L")?;
        (v.clone(), w, v)
    } else {
        let [u, s, vh] = svd::decomposed("linalg.svd", x, false, true)?;
        (u, s, adjoint(&vh)?)
    };
    let inverse = reciprocals(&s, &large(&s, tolerances)?)?;
    v.mul(&inverse.unsqueeze(-2)?)?.matmul(&adjoint(&u)?)
}

/// `pinv`, of constant rank: `dP = -P dA P + (I - P A) dA^H P^H P + P P^H dA^H (I - A P)`; reverse `-P^H g P^H + P^H P
/// g^H (I - P A) + (I - A P) g^H P P^H` (Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least
/// squares problems whose variables separate, 1973). Operands: the matrices, and their tolerances.
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
        let _plain = GradGuard::new(false);
        let (x, tolerances) = (xs[0].detach(), xs[1].detach());
        let (m, n) = sizes_of(&x);
        if x.numel() == 0 {
            let sizes: Dims = batch_of(&x).iter().copied().chain([n, m]).collect();
            return Tensor::zeros(&sizes, x.dtype()).map(out);
        }
        if self.hermitian || groups::beat_qr(&x) {
            return by_values(&x, &tolerances, self.hermitian).map(out);
        }
        let (inverse, proven) = full_rank::inverse(&x, &tolerances)?;
        let rest = |xs: &[Tensor]| by_values(&xs[0], &xs[1], false).map(out);
        full_rank::complete(&proven, &[x, tolerances], out(inverse), &rest)
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
    let tolerances = {
        let _plain = GradGuard::new(false);
        tolerances(x, atol, rtol)?
    };
    inverse(op, x, &tolerances, hermitian)
}

/// The pseudoinverse of checked matrices.
pub(super) fn inverse(op: &'static str, x: &Tensor, tolerances: &Tensor, hermitian: bool) -> Result<Tensor> {
    let (x, tolerances) = of_one_batch(op, x, tolerances)?;
    apply1(Pinv { hermitian }, &[&x, &tolerances])
}

pub(super) fn taken(dtype: DType) -> bool {
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
    large(&values, &tolerances(&x, atol, rtol)?)?.sum_dims(&[-1], false)
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
    }
    #[test]
    fn tolerances_decide_as_singular_values_do() {
        let a = Tensor::from_slice(&[2.0, 0.0, 0.0, 0.5], &[2, 2]).unwrap();
        let second = |atol: Option<f64>, rtol: Option<f64>| {
            let p = pinv(&a, atol, rtol, false).unwrap().to_vec::<f64>().unwrap();
            assert_eq!(p[..3], [0.5, 0.0, 0.0]);
            p[3]
        };
        for (atol, rtol, expected) in [
            (None, None, 2.0),
            (Some(0.0), None, 2.0),
            (Some(0.1), None, 2.0),
            (Some(0.4999), None, 2.0),
            (Some(0.5), None, 0.0),
            (Some(0.51), Some(0.0), 0.0),
            (None, Some(0.2), 2.0),
            (None, Some(0.2499), 2.0),
            (None, Some(0.25), 0.0),
            (Some(0.1), Some(0.3), 0.0),
        ] {
            assert_eq!(second(atol, rtol), expected, "{atol:?} {rtol:?}");
        }
        // Of each matrix of a batch, and for more tolerances than matrices.
        let tolerances = Tensor::from_slice(&[0.4, 0.6], &[2]).unwrap();
        for batch in [vec![2, 2], vec![2, 2, 2]] {
            let many = expand_to(&a, &batch).unwrap();
            let p = pinv_tensors(&many, Some(&tolerances), None, false).unwrap();
            assert_eq!(p.sizes(), [2, 2, 2]);
            assert_eq!(p.to_vec::<f64>().unwrap(), [0.5, 0.0, 0.0, 2.0, 0.5, 0.0, 0.0, 0.0]);
        }
        // The rank stays 2, which a QR decomposition proves for the first tolerance alone.
        let below = Tensor::from_slice(&[0.1, 0.49], &[2]).unwrap();
        gradcheck(&|xs| pinv_tensors(&xs[0], Some(&below), None, false), &[a]);
    }

    #[test]
    fn layouts_are_those_of_fresh_matrices() {
        for (m, n) in [(5, 3), (3, 5), (4, 4)] {
            assert!(pinv(&noise(1, &[2, m, n]), None, None, false).unwrap().is_contiguous());
        }
    }
}
