//! Eigenvalues and eigenvectors of square matrices.

use num_complex::Complex;
use retrograd_linalg::eig;
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, room, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, checks, cost, gauge};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, one};
use crate::error::{Error, Result};
use crate::ops::memory::cast;
use crate::ops::pointwise::complex::{conj_physical, imag_part, real_part};
use crate::ops::view::is_differentiated;
use crate::tensor::{DType, Dtypes, Tensor};

const PHASES: &str = "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by \
                      e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.";

/// `eig`: with `P = V^-1 dA V` and `E[i, j] = w[j] - w[i]`, `dw = diag(P)` and `dV = X - V Re(diag(V^H X))`, where `X =
/// V (P / E)` without a diagonal, since eigenvectors have length 1; reverse `V^-H (diag(gw) + (V^H gV - V^H V
/// Re(diag(V^H gV))) / conj(E)) V^H` (Giles 2008, 3.1; Boeddeker et al. 2017, 4.77).
#[derive(Clone, Debug)]
struct Eig {
    vectors: bool,
}

impl Primitive for Eig {
    const NAME: &'static str = "linalg_eig";
    const SAVE: &'static [Save] = &[Save::output(0, "eigenvalues"), Save::output(1, "eigenvectors")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None]) };
        let (w, v) = (&cx.outs[0], &cx.outs[1]);
        let p = super::qr::solution(v, &cast(t, v.dtype())?.matmul(v)?)?;
        let dw = p.diagonal(0, -2, -1)?;
        let x = v.matmul(&gauge::over_gaps(&p, w, Some(&dw))?)?;
        let along = real_part(&adjoint(v)?.matmul(&x)?.diagonal(0, -2, -1)?)?;
        let dv = x.sub(&v.mul(&along.unsqueeze(-2)?)?)?;
        Ok(smallvec![Some(dw), Some(dv)])
    });
    fn kernel_name(&self) -> &'static str {
        "linalg_eig_out_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // In double precision throughout: a seldom used op, compiled once.
        let (dtype, n, batch) = (xs[0].dtype(), sizes_of(xs[0]).0, batch_of(xs[0]));
        let complex = dtype.is_complex();
        let rows = if self.vectors { n } else { 0 };
        let mut info = Entries::<i32>::numbers(batch)?;
        let mut w = Entries::<Complex<f64>>::vectors(batch, n)?;
        let mut v = Entries::<Complex<f64>>::matrices(batch, rows, rows)?;
        let cost = cost((n as f64).powi(3) * 25.0);
        let bytes = || room::<u8>(eig::scratch(n, complex));
        if complex {
            let x = cast(xs[0], DType::Complex128)?;
            let x = Given::<Complex<f64>>::of(&x)?;
            let scratch = || Ok((room::<Complex<f64>>(n * n)?, bytes()?));
            let parts = (x.read(), w.write(), v.write(), info.write());
            each(parts, cost, &scratch, &|(a, bytes), (x, w, v, info)| {
                x.copy_to(a.slice());
                info[0] = eig::complex(n, a.slice(), w, self.vectors.then_some(v), bytes.uninit());
            })?;
        } else {
            let x = cast(xs[0], DType::Float64)?;
            let x = Given::<f64>::of(&x)?;
            // Beyond what float32 shows.
            let eps = if dtype == DType::Float64 { f64::EPSILON } else { f64::from(f32::EPSILON) / 64.0 };
            let scratch = || Ok((room::<f64>(n * (2 * n + 2))?, bytes()?));
            let parts = (x.read(), w.write(), v.write(), info.write());
            each(parts, cost, &scratch, &|(numbers, bytes), (x, w, v, info)| {
                let (a, room) = numbers.slice().split_at_mut(n * n);
                x.copy_to(a);
                info[0] = eig::real(n, a, w, self.vectors.then_some(v), eps, room, bytes.uninit());
            })?;
        }
        let info = info.tensor();
        if info.to_vec::<i32>()?.contains(&eig::NOT_FINITE) {
            return Err(Error::shape("linalg.eig", "torch.linalg.eig: input tensor should not contain infs or NaNs."));
        }
        fault::check("linalg.eig", &info, Fault::Eigenvalues)?;
        Ok(smallvec![cast(&w.tensor(), dtype.complex())?, cast(&v.tensor(), dtype.complex())?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (w, v) = (cx.saved(0)?, cx.saved(1)?);
        let (gw, adjoint_v) = (cx.g_of(0), adjoint(v)?);
        let Some(gv) = cx.g_of(1) else {
            let gw = gw.expect("a node runs when it has a gradient").unsqueeze(-1)?;
            return super::qr::solution(&adjoint_v, &gw.mul(&adjoint_v)?).map(one);
        };
        let p = adjoint_v.matmul(gv)?;
        let along = p.diagonal(0, -2, -1)?;
        gauge::check_phases(&imag_part(&along)?, None, PHASES)?;
        let along = real_part(&along)?.unsqueeze(-2)?;
        let p = p.sub(&adjoint_v.matmul(&v.mul(&along)?)?)?;
        let mut inner = gauge::over_gaps(&p, &conj_physical(w)?, gw)?;
        if let Some(gw) = gw {
            inner = inner.add(&gw.diag_embed(0, -2, -1)?)?;
        }
        super::qr::solution(&adjoint_v, &inner.matmul(&adjoint_v)?).map(one)
    }
}

fn decomposed(op: &'static str, x: &Tensor, vectors: bool) -> Result<Outs> {
    checks::square(op, op, x, "A")?;
    if !x.dtype().is_differentiable() {
        return Err(Error::dtype(
            op,
            format!("Unknown Complex ScalarType for {}: convert with .to(dtype)", x.dtype().scalar_type_name()),
        ));
    }
    apply(Eig { vectors }, &[x])
}

/// The eigenvalues and eigenvectors of square matrices: `A V = V diag(w)`.
///
/// Args: `A` (*, n, n) of dtype float32, float64, complex64 or complex128. Returns: `(eigenvalues, eigenvectors)`, both
/// complex: in no particular order, and columns of length 1. Derivative: `V^-H (diag(gw) + (V^H gV - V^H V Re(diag(V^H
/// gV))) / conj(E)) V^H`, where `E` has the distances of eigenvalues (Giles 2008, 3.1; Boeddeker et al. 2017); a loss
/// that depends on the phases of eigenvectors is refused; repeated eigenvalues as for `linalg.eigh`. Raises:
/// RuntimeError if matrices are not square, or have infinities or NaN; LinAlgError if the iteration does not converge.
///
/// >>> rg.linalg.eig(rg.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.abs().tolist()
/// [1.0, 1.0]
#[op(function, out, module = "linalg", name = "eig", fields("eigenvalues", "eigenvectors"))]
#[allow(non_snake_case)]
pub fn linalg_eig(A: &Tensor) -> Result<(Tensor, Tensor)> {
    let mut outs = decomposed("linalg.eig", A, true)?;
    let vectors = outs.swap_remove(1);
    Ok((outs.swap_remove(0), vectors))
}

/// The eigenvalues of square matrices, complex numbers in no particular order.
///
/// Args: as `linalg.eig`. Returns: (*, n). Derivative: `V^-H diag(g) V^H`. Raises: as there.
///
/// >>> rg.linalg.eigvals(rg.tensor([[0.0, 1.0], [-1.0, 0.0]])).abs().tolist()
/// [1.0, 1.0]
#[op(function, out, module = "linalg")]
#[allow(non_snake_case)]
pub fn eigvals(A: &Tensor) -> Result<Tensor> {
    Ok(decomposed("linalg.eigvals", A, is_differentiated(A))?.swap_remove(0))
}
