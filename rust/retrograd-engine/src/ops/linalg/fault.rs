//! What is said of a matrix that has no factorization, inverse or solution.

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// What a number above 0 among those that a routine leaves for each matrix means.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Of `inv`: the diagonal element that is zero.
    Inverse,
    /// Of a solution.
    Solution,
    /// Of `cholesky`: the leading minor.
    Cholesky,
    /// Of `lu_factor`: the diagonal element of U that is zero.
    LuFactor,
    /// Of `ldl_factor`: the block of D that is zero.
    Ldl,
    /// Of eigenvalues, which did not converge.
    Eigenvalues,
    /// Of singular values, which did not converge.
    SingularValues,
}

impl Fault {
    /// torch's phrase.
    fn phrase(self, info: i32) -> String {
        match self {
            Fault::Inverse => format!(
                "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is \
                 singular."
            ),
            Fault::Solution => "The solver failed because the input matrix is singular.".into(),
            Fault::Cholesky => format!(
                "The factorization could not be completed because the input is not positive-definite (the leading minor of \
                 order {info} is not positive-definite)."
            ),
            Fault::LuFactor => format!(
                "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to \
                 perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
            ),
            Fault::Ldl => format!(
                "The block of D at row {info} is zero, and dividing by it in ldl_solve gives infinities: call \
                 linalg.ldl_factor_ex for the factors"
            ),
            Fault::Eigenvalues => format!(
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated \
                 eigenvalues (error code: {info})."
            ),
            Fault::SingularValues if info < 0 => {
                "The algorithm failed to converge because the input matrix contained non-finite values.".into()
            }
            Fault::SingularValues => format!(
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated \
                 singular values (error code: {info})."
            ),
        }
    }
}

/// Refuses the first matrix whose number in `infos` is not 0. `name` is what torch's message calls the function.
///
/// Under `vmap` the entries of all levels are looked at: an error says which matrix it was, and leaks nothing else.
pub fn check(name: &str, infos: &Tensor, fault: Fault) -> Result<()> {
    let all = super::all_levels(infos);
    let found = all.to_vec::<i32>()?;
    let Some((i, &info)) = found.iter().enumerate().find(|&(_, &info)| info != 0) else { return Ok(()) };
    let which = if all.ndim() == 0 { String::new() } else { format!(": (Batch element {i})") };
    let detail = format!("{name}{which}: {}", fault.phrase(info));
    // The one that torch raises a plain RuntimeError for.
    Err(if matches!(fault, Fault::LuFactor) { Error::shape("lu_factor", detail) } else { Error::linalg(detail) })
}
