//! Approximations of low rank, by random projections.

use retrograd_macros::op;

use super::batch::sizes_of;
use super::{adjoint, eigh, qr, svd, triangular};
use crate::error::{Error, Result};
use crate::ops::TensorOptions;
use crate::ops::random::randn;
use crate::ops::view::broadcast_to;
use crate::tensor::Tensor;

/// An orthonormal basis of about the space that `a - mean` maps to (Halko, Martinsson and Tropp, Finding structure with
/// randomness, 2009, algorithm 4.4).
fn basis(a: &Tensor, q: i64, niter: i64, mean: Option<&Tensor>) -> Result<Tensor> {
    let minus = |x: Tensor, m: Option<Tensor>, by: &Tensor| match m {
        Some(m) => x.sub(&m.matmul(by)?),
        None => Ok(x),
    };
    let (turned, turned_mean) = (adjoint(a)?, mean.map(adjoint).transpose()?);
    let start = randn(&[sizes_of(a).1 as i64, q], None, TensorOptions::from(a.dtype()))?;
    let orthonormal = |x: Tensor| Ok::<_, Error>(qr::linalg_qr(&x, "reduced")?.0);
    let mut q = orthonormal(minus(a.matmul(&start)?, mean.cloned(), &start)?)?;
    for _ in 0..niter {
        q = orthonormal(minus(turned.matmul(&q)?, turned_mean.clone(), &q)?)?;
        q = orthonormal(minus(a.matmul(&q)?, mean.cloned(), &q)?)?;
    }
    Ok(q)
}

fn approximated(a: &Tensor, q: i64, niter: i64, mean: Option<&Tensor>) -> Result<Vec<Tensor>> {
    let (m, n) = sizes_of(a);
    let mean =
        mean.map(|mean| broadcast_to(mean, &a.sizes().iter().map(|&n| n as i64).collect::<Vec<_>>())).transpose()?;
    let turned = m < n;
    let (a, mean) = if turned { (adjoint(a)?, mean.as_ref().map(adjoint).transpose()?) } else { (a.clone(), mean) };
    let q = basis(&a, q, niter, mean.as_ref())?;
    let projection = adjoint(&q)?;
    let mut inner = projection.matmul(&a)?;
    if let Some(mean) = &mean {
        inner = inner.sub(&projection.matmul(mean)?)?;
    }
    let [u, s, vh] = svd::decomposed("svd_lowrank", &inner, false, true)?;
    let (u, v) = (q.matmul(&u)?, adjoint(&vh)?);
    Ok(if turned { vec![v, s, u] } else { vec![u, s, v] })
}

fn check(op: &'static str, a: &Tensor) -> Result<()> {
    if a.ndim() < 2 {
        return Err(Error::shape(op, format!("{op}: A must have at least 2 dimensions, got shape {:?}", a.sizes())));
    }
    super::checks::float_or_complex(op, op, a)
}

/// About the singular value decomposition of matrices of low rank: `A - M = U diag(S) V^H`.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `q` how many singular values, somewhat more
/// than the rank; `niter` how often the random subspace is improved; `M` is subtracted, with a shape that broadcasts.
/// Returns: `(U, S, V)` with `q` columns. Random: `manual_seed` repeats it. Derivative: that of the operations (Halko
/// et al. 2009, algorithm 5.1).
///
/// >>> A = rg.tensor([[1.0, 2.0], [2.0, 4.0]])
/// >>> round(rg.svd_lowrank(A, q=1)[1].item(), 4)
/// 5.0
#[op(function, "(q=6, niter=2, M=None)")]
#[allow(non_snake_case)]
pub fn svd_lowrank(A: &Tensor, q: Option<i64>, niter: Option<i64>, M: Option<&Tensor>) -> Result<Vec<Tensor>> {
    check("svd_lowrank", A)?;
    approximated(A, q.unwrap_or(6), niter.unwrap_or(2), M)
}

/// The principal components of matrices of low rank, whose rows are observations.
///
/// Args: `A` (*, m, n); `q` how many, by default `min(6, m, n)`; `center` subtracts the means of columns; `niter` as
/// for `svd_lowrank`. Returns: `(U, S, V)`: directions are the columns of `V`. Derivative: that of the operations.
/// Raises: ValueError if `q` is negative or larger than `min(m, n)`, or `niter` is negative.
///
/// >>> A = rg.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
/// >>> round(rg.pca_lowrank(A, q=1)[1].item() ** 2, 3)
/// 10.0
#[op(function, "(q=None, center=True, niter=2)")]
#[allow(non_snake_case)]
pub fn pca_lowrank(A: &Tensor, q: Option<i64>, center: bool, niter: i64) -> Result<Vec<Tensor>> {
    const OP: &str = "pca_lowrank";
    check(OP, A)?;
    let (m, n) = sizes_of(A);
    let most = m.min(n) as i64;
    let q = q.unwrap_or(most.min(6));
    if !(0..=most).contains(&q) {
        return Err(Error::value(
            OP,
            format!("q(={q}) must be non-negative integer and not greater than min(m, n)={most}"),
        ));
    }
    if niter < 0 {
        return Err(Error::value(OP, format!("niter(={niter}) must be non-negative integer")));
    }
    if !center {
        return approximated(A, q, niter, None);
    }
    let mean = A.mean_dims(&[-2], true)?;
    approximated(&A.sub(&mean)?, q, niter, None)
}

/// Some eigenvalues and eigenvectors of symmetric matrices, the largest or the smallest: `A X = B X diag(E)`.
///
/// Args: `A` (*, m, m) symmetric, of dtype float32 or float64; `k` how many, by default as many as `X` has columns, or
/// 1; `B` (*, m, m) positive-definite, by default the identity; `largest` False for the smallest. Returns: `(E, X)`:
/// (*, k) in descending order, or ascending for the smallest, and (*, m, k). All of the matrices is decomposed, which
/// is exact: what torch takes to begin, to precondition and to end an iteration (`X`, `n`, `iK`, `niter`, `tol`,
/// `method`) is accepted, and changes nothing. Derivative: that of `linalg.eigh`. Raises: ValueError if `m` is less
/// than 3 times `k`; RuntimeError if matrices are not square.
///
/// >>> rg.lobpcg(rg.diag(rg.tensor([1.0, 3.0, 2.0])))[0].tolist()
/// [3.0]
#[op(function, "(k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None)")]
#[allow(non_snake_case, clippy::too_many_arguments)]
pub fn lobpcg(
    A: &Tensor,
    k: Option<i64>,
    B: Option<&Tensor>,
    X: Option<&Tensor>,
    n: Option<i64>,
    iK: Option<&Tensor>,
    niter: Option<i64>,
    tol: Option<f64>,
    largest: Option<bool>,
    method: Option<&str>,
) -> Result<Vec<Tensor>> {
    const OP: &str = "lobpcg";
    let _ = (n, iK, niter, tol);
    super::checks::square(OP, OP, A, "A")?;
    if let Some(method) = method.filter(|method| !matches!(*method, "basic" | "ortho")) {
        return Err(Error::value(OP, format!("method must be 'basic' or 'ortho', got '{method}'")));
    }
    let m = sizes_of(A).0 as i64;
    let k = k.unwrap_or_else(|| X.filter(|x| x.ndim() >= 2).map_or(1, |x| sizes_of(x).1 as i64));
    if k < 0 || m < 3 * k {
        return Err(Error::value(
            OP,
            format!(
                "LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of \
                 requested eigenpairs (={k})"
            ),
        ));
    }
    let lower = B.map(|b| super::cholesky::linalg_cholesky(b, false)).transpose()?;
    let whole = match &lower {
        Some(l) => {
            let half = triangular::solve(l, A, false, true)?;
            adjoint(&triangular::solve(l, &adjoint(&half)?, false, true)?)?
        }
        None => A.clone(),
    };
    let (w, v) = eigh::linalg_eigh(&whole, "L")?;
    let (w, v) = match largest.unwrap_or(true) {
        true => (w.narrow(-1, m - k, k)?.flip(&[-1])?, v.narrow(-1, m - k, k)?.flip(&[-1])?),
        false => (w.narrow(-1, 0, k)?, v.narrow(-1, 0, k)?),
    };
    let v = match &lower {
        Some(l) => triangular::solve(&adjoint(l)?, &v, true, true)?,
        None => v,
    };
    Ok(vec![w, v])
}
