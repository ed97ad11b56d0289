//! Eigenvalues and eigenvectors of Hermitian matrices.

use retrograd_linalg::{Decompose, Scalar};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, room, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, checks, cost, gauge, groups};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, one};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::pointwise::complex::{imag_part, real_part};
use crate::ops::view::is_differentiated;
use crate::tensor::{Dtypes, Tensor};

const PHASES: &str = "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication by \
                      e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.";

/// `eigh`: with `P = V^H dA V` and `E[i, j] = w[j] - w[i]`, `dw = diag(P)` and `dV = V (P / E)`, where the quotient has
/// no diagonal; reverse `V (diag(gw) + skew(V^H gV) / E) V^H` (Giles, An extended collection of matrix derivative
/// results, 2008, 3.1; for complex numbers Boeddeker et al., On the computation of complex-valued gradients, 2017).
/// Both are of a Hermitian matrix: the tangent is made one.
#[derive(Clone, Debug)]
struct Eigh {
    upper: bool,
    vectors: bool,
}

impl Primitive for Eigh {
    const NAME: &'static str = "linalg_eigh";
    const SAVE: &'static [Save] = &[Save::output(0, "eigenvalues"), Save::output(1, "eigenvectors")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None]) };
        let (w, v) = (&cx.outs[0], &cx.outs[1]);
        let t = t.add(&adjoint(t)?)?.times(0.5)?;
        let p = adjoint(v)?.matmul(&t.matmul(v)?)?;
        let dw = real_part(&p.diagonal(0, -2, -1)?)?;
        let dv = v.matmul(&gauge::over_gaps(&p, w, Some(&dw))?)?;
        Ok(smallvec![Some(dw), Some(dv)])
    });
    fn kernel_name(&self) -> &'static str {
        "linalg_eigh_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, n, batch) = (xs[0], sizes_of(xs[0]).0, batch_of(xs[0]));
        if groups::of_eigenvalues(self.vectors).for_all(x) {
            let x = if self.upper { x.transpose(-2, -1)? } else { x.clone() };
            let [w, v, info] = match_dtype!(floats, x.dtype(), T => groups::eigh::<T>(&x)?);
            fault::check("linalg.eigh", &info, Fault::Eigenvalues)?;
            return Ok(smallvec![w, v]);
        }
        let mut info = Entries::<i32>::numbers(batch)?;
        let rows = if self.vectors { n } else { 0 };
        let (w, v) = match_dtype!(fields, x.dtype(), T => {
            let (x, mut w) = (Given::<T>::of(x)?, Entries::<<T as Scalar>::Real>::vectors(batch, n)?);
            let mut v = Entries::<T>::matrices(batch, rows, rows)?;
            let parts = (x.read(), w.write(), v.write(), info.write());
            let flops = (n as f64).powi(3) * if self.vectors { 9.0 } else { 2.0 };
            let scratch = || Ok((room::<T>(n * n + n)?, room::<u8>(<T as Decompose>::eigh_scratch(n, self.vectors))?));
            each(parts, cost(flops), &scratch, &|(numbers, bytes), (mut x, w, v, info)| {
                let (a, values) = numbers.slice().split_at_mut(n * n);
                if self.upper {
                    x = x.transposed();
                }
                x.copy_to(a);
                if self.upper {
                    a.iter_mut().for_each(|x| *x = Scalar::conj(*x));
                }
                // A Hermitian matrix has a real diagonal, and imaginary parts there count for nothing.
                a.iter_mut().step_by(n + 1).for_each(|x| *x = Scalar::of_real(x.re()));
                let v = self.vectors.then_some(v);
                info[0] = i32::from(!<T as Decompose>::eigh(n, a, w, v, values, bytes.uninit()));
            })?;
            (w.tensor(), v.tensor())
        });
        fault::check("linalg.eigh", &info.tensor(), Fault::Eigenvalues)?;
        Ok(smallvec![w, v])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (w, v) = (cx.saved(0)?, cx.saved(1)?);
        let (gw, adjoint_v) = (cx.g_of(0), adjoint(v)?);
        let Some(gv) = cx.g_of(1) else {
            let gw = gw.expect("a node runs when it has a gradient").unsqueeze(-2)?;
            return v.mul(&gw)?.matmul(&adjoint_v).map(one);
        };
        let p = adjoint_v.matmul(gv)?;
        if v.dtype().is_complex() {
            gauge::check_phases(&imag_part(&p.diagonal(0, -2, -1)?)?, None, PHASES)?;
        }
        let skew = p.sub(&adjoint(&p)?)?.times(0.5)?;
        let mut inner = gauge::over_gaps(&skew, w, gw)?;
        if let Some(gw) = gw {
            inner = inner.add(&gw.diag_embed(0, -2, -1)?)?;
        }
        v.matmul(&inner.matmul(&adjoint_v)?).map(one)
    }
}

fn decomposed(op: &'static str, x: &Tensor, uplo: &str, vectors: bool) -> Result<Outs> {
    checks::square(op, "linalg.eigh", x, "A")?;
    let upper = match uplo {
        "L" | "l" => false,
        "U" | "u" => true,
        _ => return Err(Error::shape(op, format!("Expected UPLO argument to be 'L' or 'U', but got {uplo}"))),
    };
    apply(Eigh { upper, vectors }, &[x])
}

/// The eigenvalues and eigenvectors of Hermitian (or real symmetric) matrices: `A = V diag(w) V^H`.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128; `UPLO` which triangle is read, "L" or "U".
/// Returns: `(eigenvalues, eigenvectors)`: real numbers in ascending order, and orthonormal columns. Derivative: `V
/// (diag(gw) + skew(V^H gV) / E) V^H`, where `E` has the distances of eigenvalues (Giles 2008, 3.1). Eigenvectors have
/// an arbitrary sign or phase: a loss that depends on phases is refused. Repeated eigenvalues that the loss does not
/// separate add nothing; otherwise the derivative is infinite or NaN. Raises: LinAlgError if there are infinities or
/// NaN; RuntimeError if matrices are not square.
///
/// >>> rg.linalg.eigh(rg.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.tolist()
/// [1.0, 3.0]
#[op(function, out, module = "linalg", name = "eigh", fields("eigenvalues", "eigenvectors"), "(UPLO='L')")]
#[allow(non_snake_case)]
pub fn linalg_eigh(A: &Tensor, UPLO: &str) -> Result<(Tensor, Tensor)> {
    let mut outs = decomposed("linalg.eigh", A, UPLO, true)?;
    let vectors = outs.swap_remove(1);
    Ok((outs.swap_remove(0), vectors))
}

/// The eigenvalues of Hermitian (or real symmetric) matrices, in ascending order.
///
/// Args: as `linalg.eigh`. Returns: real numbers (*, n). Derivative: `V diag(g) V^H`, of any matrix. Raises: as there.
///
/// >>> rg.linalg.eigvalsh(rg.tensor([[2.0, 1.0], [1.0, 2.0]])).tolist()
/// [1.0, 3.0]
#[op(function, out, module = "linalg", "(UPLO='L')")]
#[allow(non_snake_case)]
pub fn eigvalsh(A: &Tensor, UPLO: &str) -> Result<Tensor> {
    Ok(decomposed("linalg.eigvalsh", A, UPLO, is_differentiated(A))?.swap_remove(0))
}
