//! The factorization of symmetric and Hermitian matrices that need not be positive-definite, and solutions by it.

use retrograd_linalg::ldl::{self, Kind};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, sizes_of};
use super::fault::{self, Fault};
use super::{broadcast_batches, checks, cost};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::view::expand_to;
use crate::tensor::{DType, Dims, Dtypes, Tensor};

/// The matrices that the op means; those of real dtypes are both.
fn kind(hermitian: bool, dtype: DType) -> Kind {
    if hermitian && dtype.is_complex() { Kind::Hermitian } else { Kind::Symmetric }
}

/// What reverse mode answers, as torch.
fn no_reverse<T>(op: &str) -> Result<T> {
    Err(Error::autograd(format!("derivative for aten::{op} is not implemented: detach its operands")))
}

/// What forward mode answers, as torch.
fn no_forward<T>(op: &str) -> Result<T> {
    Err(Error::not_implemented(format!(
        "Trying to use forward AD with {op} that does not support it because it has not been implemented yet: detach its \
         operands"
    )))
}

/// `ldl_factor_ex`, which has no derivative.
#[derive(Clone, Debug)]
struct Ldl {
    hermitian: bool,
}

impl Primitive for Ldl {
    const NAME: &'static str = "linalg_ldl_factor_ex";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(op; hermitian);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_forward("linalg_ldl_factor_ex"));
    fn kernel_name(&self) -> &'static str {
        "ldl_factor_kernel_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, n, batch) = (xs[0], sizes_of(xs[0]).0, batch_of(xs[0]));
        let (mut pivots, mut info) = (Entries::<i32>::vectors(batch, n)?, Entries::<i32>::numbers(batch)?);
        let kind = kind(self.hermitian, x.dtype());
        let factors = match_dtype!(fields, x.dtype(), T => {
            let (x, mut factors) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, n, n)?);
            let parts = (x.read(), factors.write(), pivots.write(), info.write());
            each(parts, cost((n as f64).powi(3) / 3.0), &|| Ok(()), &|(), (x, a, pivots, info)| {
                x.copy_to(a);
                for j in 1..n {
                    a[j * n..j * n + j].fill(T::default());
                }
                info[0] = ldl::factor(kind, n, a, pivots);
            })?;
            factors.tensor()
        });
        Ok(smallvec![factors, pivots.tensor(), info.tensor()])
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_reverse("linalg_ldl_factor_ex")
    }
}

fn factored(op: &'static str, x: &Tensor, hermitian: bool) -> Result<[Tensor; 3]> {
    const NAME: &str = "torch.linalg.ldl_factor_ex";
    checks::float_or_complex_or_half(op, NAME, x)?;
    checks::square(op, NAME, x, "A")?;
    let outs = apply(Ldl { hermitian }, &[x])?;
    Ok(std::array::from_fn(|i| outs[i].clone()))
}

/// The factorization `A = L D L^T` of symmetric matrices, or `L D L^H` of Hermitian ones.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128, of which the lower triangle is read;
/// `hermitian` says which of both complex matrices are. Returns: `(LD, pivots)`: `D`, which has blocks of one or two
/// rows, and below it `L`, without its ones; and the rows that were swapped, as LAPACK's `sytrf` has them: negative for
/// blocks of two rows. There is no derivative. Raises: LinAlgError if a block of `D` is zero, RuntimeError if matrices
/// are not square.
///
/// >>> rg.linalg.ldl_factor(rg.tensor([[0.0, 2.0], [2.0, 0.0]])).pivots.tolist()
/// [-2, -2]
#[op(function, out, module = "linalg", name = "ldl_factor", fields("LD", "pivots"), "(*, hermitian=False)")]
#[allow(non_snake_case)]
pub fn ldl_factor(A: &Tensor, hermitian: bool) -> Result<(Tensor, Tensor)> {
    let [factors, pivots, info] = factored("ldl_factor", A, hermitian)?;
    fault::check("torch.linalg.ldl_factor", &info, Fault::Ldl)?;
    Ok((factors, pivots))
}

/// As `linalg.ldl_factor`, with a number for each matrix.
///
/// Args: `A`, `hermitian` as there; `check_errors` raises as it does. Returns: `(LD, pivots, info)`: `info`, int32, is
/// 0, or the first block of `D`, from 1 on, that is zero. There is no derivative.
///
/// >>> rg.linalg.ldl_factor_ex(rg.zeros(2, 2)).info.item()
/// 1
#[op(
    function,
    out,
    module = "linalg",
    name = "ldl_factor_ex",
    fields("LD", "pivots", "info"),
    "(*, hermitian=False, check_errors=False)"
)]
#[allow(non_snake_case)]
pub fn ldl_factor_ex(A: &Tensor, hermitian: bool, check_errors: bool) -> Result<Vec<Tensor>> {
    let [factors, pivots, info] = factored("ldl_factor_ex", A, hermitian)?;
    if check_errors {
        fault::check("torch.linalg.ldl_factor_ex", &info, Fault::Ldl)?;
    }
    Ok(vec![factors, pivots, info])
}

/// `ldl_solve`, of operands with one batch, which has no derivative.
#[derive(Clone, Debug)]
struct LdlSolve {
    hermitian: bool,
}

impl Primitive for LdlSolve {
    const NAME: &'static str = "linalg_ldl_solve";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(op; hermitian);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_forward("linalg_ldl_solve"));
    fn kernel_name(&self) -> &'static str {
        "ldl_solve_kernel_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (factors, b) = (xs[0], xs[2]);
        let (n, (rows, columns), batch) = (sizes_of(factors).0, sizes_of(b), batch_of(b));
        let pivots = Entries::<i32>::vectors_of(xs[1], batch, n)?;
        if n > 0 && pivots.all().chunks_exact(n).any(|pivots| !ldl::are_pivots(n, pivots)) {
            let detail = "the pivots must be rows, from 1 on, or their negatives in pairs, as ldl_factor returns them";
            return Err(Error::value("ldl_solve", detail));
        }
        let kind = kind(self.hermitian, b.dtype());
        match_dtype!(fields, factors.dtype(), T => {
            let (factors, b) = (Given::<T>::of(factors)?, Given::<T>::of(b)?);
            let mut x = Entries::<T>::matrices(batch, rows, columns)?;
            let parts = (factors.read(), pivots.read(), b.read(), x.write());
            let cost = cost(2.0 * (n * n * columns) as f64);
            each(parts, cost, &|| super::batch::room::<T>(n * n), &|own, (factors, pivots, b, x)| {
                factors.copy_to(own.slice());
                b.copy_to(x);
                ldl::solve(kind, n, own.slice(), pivots, x);
            })?;
            Ok(out(x.tensor()))
        })
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_reverse("linalg_ldl_solve")
    }
}

/// The solution of `A X = B` by the factors of `A`.
///
/// Args: `LD`, `pivots` what `linalg.ldl_factor` returned, with the same `hermitian`; `B` (*, n, k), whose batch
/// broadcasts with theirs. Returns: a tensor of the shape of `B`, broadcast. There is no derivative. Raises:
/// RuntimeError if shapes or dtypes do not fit.
///
/// >>> LD, pivots = rg.linalg.ldl_factor(rg.tensor([[0.0, 2.0], [2.0, 0.0]]))
/// >>> rg.linalg.ldl_solve(LD, pivots, rg.tensor([[4.0], [2.0]])).tolist()
/// [[1.0], [2.0]]
#[op(function, out, module = "linalg", name = "ldl_solve", "(*, hermitian=False)")]
#[allow(non_snake_case)]
pub fn ldl_solve(LD: &Tensor, pivots: &Tensor, B: &Tensor, hermitian: bool) -> Result<Tensor> {
    const OP: &str = "ldl_solve";
    const NAME: &str = "torch.linalg.ldl_solve";
    checks::float_or_complex_or_half(OP, NAME, LD)?;
    checks::square(OP, NAME, LD, "A")?;
    checks::matrices(OP, NAME, B, "B")?;
    checks::right_side(OP, NAME, LD, B)?;
    let n = sizes_of(LD).0;
    if pivots.sizes() != &LD.sizes()[..LD.ndim() - 1] {
        return Err(Error::shape(
            OP,
            format!(
                "{NAME}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {:?} instead",
                pivots.sizes()
            ),
        ));
    }
    if pivots.dtype().is_floating() || pivots.dtype().is_complex() || pivots.dtype() == DType::Bool {
        let found = pivots.dtype().scalar_type_name();
        return Err(Error::dtype(OP, format!("{NAME}: Expected pivots to be integers. Got {found}")));
    }
    let (factors, b) = broadcast_batches(OP, LD, B)?;
    let sizes: Dims = batch_of(&b).iter().copied().chain([n]).collect();
    apply1(LdlSolve { hermitian }, &[&factors, &expand_to(pivots, &sizes)?, &b])
}
