//! Solutions by least squares.

use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{batch_of, sizes_of};
use super::pinv::{self, large, pinv_gradient, pinv_tangent, reciprocals, relative, taken};
use super::{adjoint, full_rank, gauge, groups, qr, svd, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::mode::GradGuard;
use crate::autograd::primitive::{Batch, ComplexRule, Jvp, Outs, Primitive, Save, Tangents, Vjp};
use crate::error::{Error, Result};
use crate::ops::memory;
use crate::ops::pointwise::complex::{conj_physical, real_part};
use crate::tensor::{DType, Dims, Dtypes, Tensor};

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
        pinv::inverse("linalg.lstsq", a, &relative(self.rcond)?, false)
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

/// The solution of smallest length, and the rank, which are differentiated as those of [`Lstsq`].
#[derive(Clone, Debug)]
struct Solution {
    rcond: f64,
}

impl Primitive for Solution {
    const NAME: &'static str = "linalg_lstsq_solution";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0].detach(), xs[1].detach());
        let rest = |xs: &[Tensor]| {
            let [x, rank, _] = by_values(&xs[0], &xs[1], self.rcond)?;
            Ok(smallvec![x, rank])
        };
        if groups::beat_qr(&a) {
            return rest(&[a, b]);
        }
        let (x, proven) = full_rank::solve(&a, &b, &relative(self.rcond)?)?;
        let (m, n) = sizes_of(&a);
        let rank = Tensor::full(batch_of(&a), (m.min(n) as i64).into(), DType::Int64)?;
        full_rank::complete(&proven, &[a, b], smallvec![x, rank], &rest)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        unreachable!("its operands are detached")
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
    let (x, full, rank, values) = match driver {
        Driver::Gels => {
            // By a QR decomposition: R X = Q^H B, or with A^H = Q R, X = Q R^-H B.
            let x = if m >= n {
                let (q, r) = qr::linalg_qr(a, "reduced")?;
                triangular::solve(&r, &adjoint(&q)?.matmul(b)?, true, true)?
            } else {
                let (q, r) = qr::linalg_qr(&adjoint(a)?, "reduced")?;
                q.matmul(&triangular::solve(&adjoint(&r)?, b, false, true)?)?
            };
            (x, true, none(DType::Int64)?, none(real)?)
        }
        Driver::Gelsy => {
            let mut outs = apply(Solution { rcond }, &[a, b])?;
            let rank = outs.swap_remove(1);
            (outs.swap_remove(0), false, rank, none(real)?)
        }
        Driver::Gelsd | Driver::Gelss => {
            let [x, rank, s] = by_values(a, b, rcond)?;
            let full = m > n && all_have_rank(&rank, n)?;
            (x, full, rank, s)
        }
    };
    let residuals = if full && m > n {
        let r = a.matmul(&x)?.sub(b)?.abs()?;
        r.mul(&r)?.sum_dims(&[-2], false)?
    } else {
        none(real)?
    };
    Ok([x, residuals, rank, values])
}

/// The solution by singular values, the rank, and the values.
fn by_values(a: &Tensor, b: &Tensor, rcond: f64) -> Result<[Tensor; 3]> {
    let [u, s, vh] = svd::decomposed("linalg.lstsq", a, false, true)?;
    let large = large(&s, &relative(rcond)?)?;
    let inverse = reciprocals(&s, &large)?;
    let x = adjoint(&vh)?.matmul(&adjoint(&u)?.matmul(b)?.mul(&inverse.unsqueeze(-1)?)?)?;
    Ok([x, large.sum_dims(&[-1], false)?, s])
}

/// Under `vmap` of all entries: the results of all have one shape.
fn all_have_rank(rank: &Tensor, n: usize) -> Result<bool> {
    Ok(super::all_levels(rank).to_vec::<i64>()?.iter().all(|&rank| rank == n as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::view::stack;
    use crate::testing::{complex_noise, gradcheck, noise};

    fn solution(a: &Tensor, b: &Tensor, rcond: Option<f64>, driver: &str) -> Result<Tensor> {
        Ok(lstsq(a, b, rcond, Some(driver))?.swap_remove(0))
    }

    fn close(x: &Tensor, y: &Tensor) {
        let off = x.sub(y).unwrap().abs().unwrap().to_vec::<f64>().unwrap();
        assert!(!off.is_empty() && off.iter().all(|&x| x < 1e-12), "{off:?}");
    }

    #[test]
    fn derivatives() {
        for (m, n) in [(4, 3), (3, 4), (3, 3)] {
            for driver in ["gelsy", "gelsd"] {
                let solve = |xs: &[Tensor]| solution(&xs[0], &xs[1], None, driver);
                gradcheck(&solve, &[noise(1, &[m, n]), noise(2, &[m, 2])]);
                gradcheck(&solve, &[complex_noise(1, &[m, n]), complex_noise(2, &[m, 2])]);
            }
            // Of constant rank 2, beside a matrix of full rank.
            let solve =
                |xs: &[Tensor]| solution(&stack(&[xs[0].matmul(&xs[1])?, xs[2].clone()], 0)?, &xs[3], None, "gelsy");
            gradcheck(&solve, &[noise(1, &[m, 2]), noise(2, &[2, n]), noise(3, &[m, n]), noise(4, &[2, m, 1])]);
        }
        let residuals = |xs: &[Tensor]| Ok(lstsq(&xs[0], &xs[1], None, Some("gels"))?.swap_remove(1));
        gradcheck(&residuals, &[noise(1, &[4, 3]), noise(2, &[4, 2])]);
    }

    #[test]
    fn both_ways_have_the_same_solutions_and_derivatives() {
        // Singular values 1 and about 0.6: a QR decomposition proves the rank up to a `rcond` of about 0.4, and
        // singular values themselves do up to 0.6.
        let (a, b) = (Tensor::from_slice(&[0.8, 0.3, -0.3, 0.75, 0.1, 0.2], &[3, 2]).unwrap(), noise(2, &[3, 2]));
        let turned = a.transpose(0, 1).unwrap();
        for (a, b) in [(&a, &b), (&turned, &noise(3, &[2, 2]))] {
            let by_values = solution(a, b, Some(0.5), "gelsd").unwrap();
            for rcond in [1e-15, 0.3, 0.4, 0.5, 0.55] {
                close(&solution(a, b, Some(rcond), "gelsy").unwrap(), &by_values);
                gradcheck(&|xs| solution(&xs[0], &xs[1], Some(rcond), "gelsy"), &[a.clone(), b.clone()]);
            }
            // Of rank 1.
            gradcheck(
                &|xs| solution(&xs[0].matmul(&xs[1])?, &xs[2], Some(0.99), "gelsy"),
                &[noise(4, &[a.sizes()[0], 1]), noise(5, &[1, a.sizes()[1]]), b.clone()],
            );
        }
    }

    #[test]
    fn each_matrix_of_a_batch_goes_its_way() {
        for (m, n) in [(5, 3), (3, 5), (20, 20)] {
            let full = noise(1, &[m, n]);
            let poor = noise(2, &[m, 2]).matmul(&noise(3, &[2, n])).unwrap();
            let zero = Tensor::zeros(&[m, n], DType::Float64).unwrap();
            let all =
                stack(&[poor, full.clone(), zero, full], 0).unwrap().reshape(&[2, 2, m as i64, n as i64]).unwrap();
            let b = noise(4, &[2, 2, m, 3]);
            let [x, _, rank, _] = lstsq(&all, &b, None, None).unwrap().try_into().unwrap();
            let [want, _, ranks, _] = lstsq(&all, &b, None, Some("gelsd")).unwrap().try_into().unwrap();
            close(&x, &want);
            assert!(x.is_contiguous());
            assert_eq!(rank.to_vec::<i64>().unwrap(), [2, m.min(n) as i64, 0, m.min(n) as i64]);
            assert_eq!(ranks.to_vec::<i64>().unwrap(), rank.to_vec::<i64>().unwrap());
        }
    }
}
