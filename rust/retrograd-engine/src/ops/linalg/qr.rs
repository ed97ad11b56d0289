//! The QR decomposition, and products of Householder reflections.

use retrograd_linalg::{Decompose, householder};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, room, sizes_of};
use super::{adjoint, checks, cost, triangular};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::TensorOptions;
use crate::ops::create::eye;
use crate::ops::pointwise::complex::conj_physical;
use crate::ops::view::{cat, expand_to};
use crate::tensor::{Dims, Dtypes, Tensor};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Reduced,
    Complete,
    R,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Reduced => "reduced",
            Mode::Complete => "complete",
            Mode::R => "r",
        }
    }
}

/// `qr`. With `phi` the upper triangle, its diagonal halved: for `m >= n`, `dR = phi(X + X^H) R` with `X = Q^H dA
/// R^-1`, and `dQ = (dA - Q dR) R^-1`; reverse `(gQ + Q copyltu(M)) R^-H` with `M = R gR^H - gQ^H Q` (Seeger et al.,
/// Auto-differentiating linear algebra, 2017, 4.3; wide matrices: Walter and Lehmann 2018; Roberts and Roberts 2020).
#[derive(Clone, Debug)]
struct Qr {
    mode: Mode,
}

impl Qr {
    fn check(&self, m: usize, n: usize) -> Result<()> {
        match self.mode {
            Mode::R => Err(Error::autograd(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, \
                 mode='reduced') if you are going to differentiate through linalg.qr.",
            )),
            Mode::Complete if m > n => Err(Error::autograd(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
            )),
            _ => Ok(()),
        }
    }
}

/// The strictly lower triangle and what is imaginary of the diagonal: what a skew matrix is made of.
fn lower_of_skew(x: &Tensor) -> Result<Tensor> {
    let strict = x.tril(-1)?;
    if !x.dtype().is_complex() {
        return Ok(strict);
    }
    strict.add(&imaginary_diagonal(x)?)
}

fn imaginary_diagonal(x: &Tensor) -> Result<Tensor> {
    let diagonal = x.diagonal(0, -2, -1)?;
    diagonal.sub(&conj_physical(&diagonal)?)?.times(0.5)?.diag_embed(0, -2, -1)
}

/// The upper triangle with half of the diagonal.
fn halved(x: &Tensor) -> Result<Tensor> {
    x.triu(0)?.add(&x.triu(1)?)?.times(0.5)
}

impl Primitive for Qr {
    const NAME: &'static str = "linalg_qr";
    const SAVE: &'static [Save] = &[Save::output(0, "Q"), Save::output(1, "R")];
    const PARAMS: Params<Self> = params!(op; mode: op.mode.name());
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None]) };
        let (m, n) = sizes_of(t);
        op.check(m, n)?;
        let (q, r) = (&cx.outs[0], &cx.outs[1]);
        let turned = adjoint(q)?.matmul(t)?;
        if m >= n {
            let x = triangular::solve(r, &turned, true, false)?;
            let inner = halved(&x.add(&adjoint(&x)?)?)?;
            let dq = triangular::solve(r, t, true, false)?.sub(&q.matmul(&inner)?)?;
            return Ok(smallvec![Some(dq), Some(inner.matmul(r)?)]);
        }
        let first = |x: &Tensor| x.narrow(-1, 0, m as i64);
        let x = lower_of_skew(&triangular::solve(&first(r)?, &first(&turned)?, true, false)?)?;
        // The diagonal is in both parts of the difference.
        let skew = x.tril(-1)?.sub(&adjoint(&x.tril(-1)?)?)?;
        let skew = if t.dtype().is_complex() { skew.add(&imaginary_diagonal(&x)?)? } else { skew };
        Ok(smallvec![Some(q.matmul(&skew)?), Some(turned.sub(&skew.matmul(r)?)?)])
    });
    fn kernel_name(&self) -> &'static str {
        "geqrf_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, (m, n), batch) = (xs[0], sizes_of(xs[0]), batch_of(xs[0]));
        let k = m.min(n);
        let (columns, rows) = match self.mode {
            Mode::Reduced => (k, k),
            Mode::Complete => (m, m),
            Mode::R => (0, k),
        };
        let q_rows = if self.mode == Mode::R { 0 } else { m };
        match_dtype!(fields, x.dtype(), T => {
            let (x, mut q) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, q_rows, columns)?);
            let mut r = Entries::<T>::matrices(batch, rows, n)?;
            let flops = 3.0 * (m * n * k) as f64;
            let scratch = || room::<T>(m * n + k + householder::scratch(m, m.max(n)));
            each((x.read(), q.write(), r.write()), cost(flops), &scratch, &|scratch, (x, q, r)| {
                let (a, scratch) = scratch.slice().split_at_mut(m * n);
                let (tau, scratch) = scratch.split_at_mut(k);
                x.copy_to(a);
                <T as Decompose>::qr(m, n, a, tau, scratch);
                if m > 0 && rows > 0 {
                    for (j, (to, from)) in r.chunks_exact_mut(rows).zip(a.chunks_exact(m)).enumerate() {
                        let above = (j + 1).min(k);
                        to[..above].copy_from_slice(&from[..above]);
                        to[above..].fill(T::default());
                    }
                }
                if columns > 0 {
                    <T as Decompose>::product(m, columns, a, tau, q, scratch);
                }
            })?;
            Ok(smallvec![q.tensor(), r.tensor()])
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (q, r) = (cx.saved(0)?, cx.saved(1)?);
        let (m, n) = (sizes_of(q).0, sizes_of(r).1);
        self.check(if self.mode == Mode::R { sizes_of(r).0 } else { m }, n)?;
        let by_r = cx.g_of(1).map(|g| g.matmul(&adjoint(r)?)).transpose()?;
        let by_q = cx.g_of(0).map(|g| adjoint(q)?.matmul(g)?.neg()).transpose()?;
        let Some(inner) = Jvp::sum([by_r, by_q])? else { return Ok(maybe(None)) };
        if m >= n {
            let upper = halved(&inner)?;
            // Both triangles of the upper one, and its diagonal, which is real.
            let whole = q.matmul(&upper.add(&adjoint(&upper)?)?)?;
            let whole = match cx.g_of(0) {
                Some(g) => whole.add(g)?,
                None => whole,
            };
            return triangular::solve(&adjoint(r)?, &whole, false, false).map(one);
        }
        let skew = inner.neg()?;
        let skew = skew.sub(&adjoint(&skew)?)?;
        let lower = skew.tril(-1)?;
        let lower = if q.dtype().is_complex() { lower.add(&imaginary_diagonal(&skew)?.times(0.5)?)? } else { lower };
        let first = adjoint(&r.narrow(-1, 0, m as i64)?)?;
        let left = triangular::solve(&first, &q.matmul(&lower)?, false, false)?;
        let rest = Tensor::zeros(
            &{
                let mut sizes: Dims = r.sizes().into();
                sizes[r.ndim() - 1] = n - m;
                sizes
            },
            r.dtype(),
        )?;
        let mut whole = cat(&[left, rest], -1)?;
        if let Some(g) = cx.g_of(1) {
            whole = whole.add(&q.matmul(g)?)?;
        }
        Ok(one(whole))
    }
}

fn decomposed(op: &'static str, x: &Tensor, mode: Mode) -> Result<(Tensor, Tensor)> {
    checks::matrices(op, "linalg.qr", x, "A")?;
    checks::float_or_complex_or_half(op, "linalg.qr", x)?;
    let mut outs = apply(Qr { mode }, &[x])?;
    let r = outs.swap_remove(1);
    Ok((outs.swap_remove(0), r))
}

/// The QR decomposition of matrices: `A = Q R`, with orthonormal columns of `Q` and an upper triangle `R`.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `mode` "reduced" for `min(m, n)` columns and
/// rows, "complete" for `m` of them, "r" for `R` alone, with an empty `Q`. Returns: `(Q, R)`. Derivative: `(gQ + Q
/// copyltu(R gR^H - gQ^H Q)) R^-H` (Seeger et al. 2017, 4.3), of matrices whose first `min(m, n)` columns are linearly
/// independent; not with mode "r", nor with "complete" and more rows than columns. Raises: RuntimeError there, and for
/// other modes.
///
/// >>> rg.linalg.qr(rg.tensor([[3.0], [4.0]])).R.abs().tolist()
/// [[5.0]]
#[op(function, out, module = "linalg", name = "qr", fields("Q", "R"), "(mode='reduced')")]
#[allow(non_snake_case)]
pub fn linalg_qr(A: &Tensor, mode: &str) -> Result<(Tensor, Tensor)> {
    let mode = match mode {
        "reduced" => Mode::Reduced,
        "complete" => Mode::Complete,
        "r" => Mode::R,
        _ => {
            return Err(Error::shape(
                "linalg.qr",
                format!(
                    "qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
                ),
            ));
        }
    };
    decomposed("linalg.qr", A, mode)
}

/// The QR decomposition of matrices; see `linalg.qr`.
///
/// Args: `some` True for the mode "reduced" there, False for "complete".
///
/// >>> rg.qr(rg.tensor([[3.0], [4.0]])).R.abs().tolist()
/// [[5.0]]
#[op(function, method, out, norust, fields("Q", "R"), "(some=True)")]
pub fn qr(input: &Tensor, some: bool) -> Result<(Tensor, Tensor)> {
    decomposed("qr", input, if some { Mode::Reduced } else { Mode::Complete })
}

/// `geqrf`: has no derivative.
#[derive(Clone, Debug)]
struct Geqrf;

impl Primitive for Geqrf {
    const NAME: &'static str = "geqrf";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| Err(no_derivative()));
    fn kernel_name(&self) -> &'static str {
        "geqrf_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, (m, n), batch) = (xs[0], sizes_of(xs[0]), batch_of(xs[0]));
        let k = m.min(n);
        match_dtype!(fields, x.dtype(), T => {
            let (x, mut a) = (Given::<T>::of(x)?, Entries::<T>::matrices(batch, m, n)?);
            let mut tau = Entries::<T>::vectors(batch, k)?;
            let scratch = || room::<T>(householder::scratch(m, m.max(n)));
            let flops = 2.0 * (m * n * k) as f64;
            each((x.read(), a.write(), tau.write()), cost(flops), &scratch, &|scratch, (x, a, tau)| {
                x.copy_to(a);
                <T as Decompose>::qr(m, n, a, tau, scratch.slice());
            })?;
            Ok(smallvec![a.tensor(), tau.tensor()])
        })
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Err(no_derivative())
    }
}

fn no_derivative() -> Error {
    Error::not_implemented("the derivative for 'geqrf' is not implemented. Use linalg.qr, which has one.")
}

/// The QR decomposition in LAPACK's format, for `ormqr` and `linalg.householder_product`.
///
/// Args: `input` (*, m, n) of dtype float32, float64, complex64 or complex128. Returns: `(a, tau)`: `R` on and above
/// the diagonal of `a`, and below the vectors of the reflections `I - tau[i] v v^H`, whose product is `Q`. Derivative:
/// none.
/// Raises: RuntimeError if there are fewer than 2 dims.
///
/// >>> rg.geqrf(rg.tensor([[2.0]])).tau.tolist()
/// [0.0]
#[op(function, method, out, fields("a", "tau"))]
pub fn geqrf(input: &Tensor) -> Result<(Tensor, Tensor)> {
    if input.ndim() < 2 {
        return Err(Error::shape("geqrf", "torch.geqrf: input must have at least 2 dimensions."));
    }
    let mut outs = apply(Geqrf, &[input])?;
    let tau = outs.swap_remove(1);
    Ok((outs.swap_remove(0), tau))
}

/// Products of reflections with a matrix `C`, which is the identity for `householder_product`.
///
/// With `Y[i] = C[i] - tau v (v^H C[i])`, from the last reflection to the first, a gradient `G` of `Y[i]` is
/// `G - conj(tau) v (v^H G)` for `C[i]`, `-v^H G w^H` for `tau` where `w = v^H C[i]`, and `-conj(tau) G w^H - tau C[i]
/// G^H v` for `v`: the rule of the product for each factor.
struct Reflections<'a> {
    input: &'a Tensor,
    tau: &'a Tensor,
    /// Whether they make `Q^H`.
    adjoint: bool,
}

/// One reflection: its vector as a column, and its number as a matrix of one element.
struct Reflection {
    index: usize,
    v: Tensor,
    tau: Tensor,
}

impl Reflection {
    fn apply(&self, c: &Tensor) -> Result<Tensor> {
        let row = adjoint(&self.v)?.matmul(c)?;
        c.sub(&self.v.mul(&self.tau)?.matmul(&row)?)
    }
}

impl Reflections<'_> {
    /// In the order in which they are applied.
    fn factors(&self) -> Result<Vec<Reflection>> {
        let (m, n) = sizes_of(self.input);
        let k = *self.tau.sizes().last().expect("a vector");
        let unit = eye(m as i64, Some(n as i64), TensorOptions::from(self.input.dtype()))?;
        let columns = self.input.tril(-1)?.add(&unit)?;
        let tau = self.number(self.tau)?;
        let factor = |index: usize| {
            let at = index as i64;
            Ok(Reflection { index, v: columns.narrow(-1, at, 1)?, tau: tau.narrow(-1, at, 1)?.unsqueeze(-1)? })
        };
        if self.adjoint { (0..k).map(factor).collect() } else { (0..k).rev().map(factor).collect() }
    }

    /// What stands for `tau` in the products.
    fn number(&self, tau: &Tensor) -> Result<Tensor> {
        if self.adjoint { conj_physical(tau) } else { Ok(tau.clone()) }
    }

    /// The tangent of the product from those of the vectors, the numbers and `C`.
    fn tangent(&self, c: &Tensor, [dv, dtau, dc]: [Option<&Tensor>; 3]) -> Result<Option<Tensor>> {
        let (mut c, mut tangent) = (c.clone(), dc.cloned());
        let dv = dv.map(|t| t.tril(-1)).transpose()?;
        let dtau = dtau.map(|t| self.number(t)).transpose()?;
        for factor in self.factors()? {
            let at = factor.index as i64;
            let row = adjoint(&factor.v)?.matmul(&c)?;
            let by_tau = |t: &Tensor| factor.v.mul(&t.narrow(-1, at, 1)?.unsqueeze(-1)?)?.matmul(&row)?.neg();
            let by_v = |t: &Tensor| {
                let t = t.narrow(-1, at, 1)?;
                t.matmul(&row)?.add(&factor.v.matmul(&adjoint(&t)?.matmul(&c)?)?)?.mul(&factor.tau)?.neg()
            };
            let parts = [
                tangent.as_ref().map(|t| factor.apply(t)).transpose()?,
                dtau.as_ref().map(by_tau).transpose()?,
                dv.as_ref().map(by_v).transpose()?,
            ];
            tangent = Jvp::sum(parts)?;
            c = factor.apply(&c)?;
        }
        Ok(tangent)
    }

    /// The gradients of the vectors, the numbers and `C`.
    fn gradients(&self, c: &Tensor, g: &Tensor) -> Result<[Tensor; 3]> {
        let factors = self.factors()?;
        let mut before = Vec::with_capacity(factors.len());
        let mut y = c.clone();
        for factor in &factors {
            before.push(y.clone());
            y = factor.apply(&y)?;
        }
        let blank = Tensor::zeros(&[1, 1], self.input.dtype())?;
        let mut columns = vec![blank.expand_as(&self.input.narrow(-1, 0, 1)?)?; sizes_of(self.input).1];
        let mut numbers = vec![blank; factors.len()];
        let mut g = g.clone();
        for (factor, c) in factors.iter().zip(&before).rev() {
            let (v, row, tau) = (&factor.v, adjoint(&factor.v)?, conj_physical(&factor.tau)?);
            let along = row.matmul(&g)?;
            let w = adjoint(&row.matmul(c)?)?;
            numbers[factor.index] = self.number(&along.matmul(&w)?.neg()?)?;
            columns[factor.index] =
                g.matmul(&w)?.mul(&tau)?.add(&c.matmul(&adjoint(&along)?)?.mul(&factor.tau)?)?.neg()?;
            g = g.sub(&v.mul(&tau)?.matmul(&along)?)?;
        }
        let to_tau = match factors.is_empty() {
            true => Tensor::zeros(self.tau.sizes(), self.tau.dtype())?,
            false => cat(&numbers, -1)?.squeeze_dims(&[-2])?,
        };
        Ok([cat(&columns, -1)?.tril(-1)?, to_tau, g])
    }
}

/// `householder_product`: see [`Reflections`].
#[derive(Clone, Debug)]
struct HouseholderProduct;

/// The identity, as much of it as `input` has room for.
fn identity(input: &Tensor) -> Result<Tensor> {
    let (m, n) = sizes_of(input);
    expand_to(&eye(m as i64, Some(n as i64), TensorOptions::from(input.dtype()))?, input.sizes())
}

impl Primitive for HouseholderProduct {
    const NAME: &'static str = "linalg_householder_product";
    const SAVE: &'static [Save] = &[Save::input(0, "input"), Save::output(0, "result"), Save::input(1, "tau")];
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let all = Reflections { input: cx.xs[0], tau: cx.xs[1], adjoint: false };
        all.tangent(&identity(cx.xs[0])?, [cx.t(0), cx.t(1), None]).map(maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "orgqr_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (v, tau) = (xs[0], xs[1]);
        let ((m, n), k, batch) = (sizes_of(v), *tau.sizes().last().expect("a vector"), batch_of(v));
        match_dtype!(fields, v.dtype(), T => {
            let (tau, mut q) = (tau.unsqueeze(-2)?, Entries::<T>::matrices(batch, m, n)?);
            let (v, tau) = (Given::<T>::of(v)?, Given::<T>::of(&tau)?);
            let scratch = || room::<T>(m * n + k + householder::scratch(m, n));
            let cost = cost(2.0 * (m * n * k) as f64);
            each((v.read(), tau.read(), q.write()), cost, &scratch, &|scratch, (v, tau, q)| {
                let (vs, scratch) = scratch.slice().split_at_mut(m * n);
                let (taus, scratch) = scratch.split_at_mut(k);
                v.copy_to(vs);
                tau.copy_to(taus);
                <T as Decompose>::product(m, n, vs, taus, q, scratch);
            })?;
            Ok(out(q.tensor()))
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (input, tau) = (cx.saved(0)?, cx.saved(2)?);
        if input.numel() == 0 {
            return Ok(smallvec![None, None]);
        }
        let [to_v, to_tau, _] = Reflections { input, tau, adjoint: false }.gradients(&identity(input)?, cx.g())?;
        Ok(smallvec![Some(to_v), Some(to_tau)])
    }
}

/// `ormqr`: see [`Reflections`]. A product from the right is the adjoint of one from the left.
#[derive(Clone, Debug)]
struct Ormqr {
    left: bool,
    transpose: bool,
}

impl Ormqr {
    fn reflections<'a>(&self, input: &'a Tensor, tau: &'a Tensor) -> Reflections<'a> {
        Reflections { input, tau, adjoint: self.left == self.transpose }
    }
    /// `other`, its tangent or gradient, as what is multiplied from the left; and back.
    fn turned(&self, x: &Tensor) -> Result<Tensor> {
        if self.left { Ok(x.clone()) } else { adjoint(x) }
    }
}

impl Primitive for Ormqr {
    const NAME: &'static str = "ormqr";
    const SAVE: &'static [Save] =
        &[Save::input(1, "input2"), Save::input(2, "input3"), Save::output(0, "result"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; left, transpose);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let t = cx.t(2).map(|t| op.turned(t)).transpose()?;
        let all = op.reflections(cx.xs[0], cx.xs[1]);
        let tangent = all.tangent(&op.turned(cx.xs[2])?, [cx.t(0), cx.t(1), t.as_ref()])?;
        tangent.map(|t| op.turned(&t)).transpose().map(maybe)
    });
    fn kernel_name(&self) -> &'static str {
        "ormqr_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (v, tau, c) = (xs[0], xs[1], self.turned(xs[2])?);
        let ((m, n), k, batch) = (sizes_of(&c), *tau.sizes().last().expect("a vector"), batch_of(&c));
        let adjoint = self.reflections(v, tau).adjoint;
        let y = match_dtype!(fields, c.dtype(), T => {
            let (tau, mut y) = (tau.unsqueeze(-2)?, Entries::<T>::matrices(batch, m, n)?);
            let (v, tau, c) = (Given::<T>::of(v)?, Given::<T>::of(&tau)?, Given::<T>::of(&c)?);
            let cost = cost(2.0 * (m * n * k) as f64);
            let scratch = || room::<T>(m * k + k + householder::scratch(m, n));
            each((v.read(), tau.read(), c.read(), y.write()), cost, &scratch, &|scratch, (mut v, tau, c, y)| {
                let (vs, scratch) = scratch.slice().split_at_mut(m * k);
                let (taus, scratch) = scratch.split_at_mut(k);
                v.layout.cols = k;
                v.copy_to(vs);
                tau.copy_to(taus);
                c.copy_to(y);
                <T as Decompose>::reflect(m, n, vs, taus, y, adjoint, scratch);
            })?;
            y.tensor()
        });
        self.turned(&y).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (tau, other, input) = (cx.saved(0)?, cx.saved(1)?, cx.saved(3)?);
        if input.numel() == 0 || other.numel() == 0 {
            return Ok(smallvec![None, None, cx.needs(2).then(|| cx.g().clone())]);
        }
        let all = self.reflections(input, tau);
        let [to_v, to_tau, to_c] = all.gradients(&self.turned(other)?, &self.turned(cx.g())?)?;
        Ok(smallvec![Some(to_v), Some(to_tau), Some(self.turned(&to_c)?)])
    }
}

fn same_dtype(op: &'static str, name: &str, tau: &Tensor, input: &Tensor) -> Result<()> {
    if tau.dtype() == input.dtype() {
        return Ok(());
    }
    Err(Error::dtype(
        op,
        format!(
            "{name} dtype {} does not match input dtype {}",
            tau.dtype().scalar_type_name(),
            input.dtype().scalar_type_name()
        ),
    ))
}

/// The first columns of the product of Householder reflections, as `geqrf` gives them.
///
/// Args: `input` (*, m, n) whose columns have the reflections' vectors below the diagonal, `tau` (*, k) with `m >= n >=
/// k`, of one dtype. Returns: (*, m, n), the first `n` columns of `H[0] H[1] ...` with `H[i] = I - tau[i] v v^H`.
/// Derivative: that of a product, a factor at a time. Raises: RuntimeError if shapes or dtypes do not fit.
///
/// >>> rg.linalg.householder_product(rg.tensor([[0.0], [1.0]]), rg.tensor([1.0])).tolist()
/// [[0.0], [-1.0]]
#[op(function, out, module = "linalg")]
pub fn householder_product(input: &Tensor, tau: &Tensor) -> Result<Tensor> {
    product("linalg.householder_product", input, tau)
}

/// The first columns of the product of Householder reflections; see `linalg.householder_product`.
///
/// >>> rg.orgqr(rg.tensor([[0.0], [1.0]]), rg.tensor([1.0])).tolist()
/// [[0.0], [-1.0]]
#[op(function, method, out, norust)]
pub fn orgqr(input: &Tensor, input2: &Tensor) -> Result<Tensor> {
    product("orgqr", input, input2)
}

fn product(op: &'static str, input: &Tensor, tau: &Tensor) -> Result<Tensor> {
    const NAME: &str = "torch.linalg.householder_product:";
    let refuse = |detail: String| Err(Error::shape(op, format!("{NAME} {detail}")));
    if input.ndim() < 2 {
        return refuse("input must have at least 2 dimensions.".into());
    }
    let (m, n) = sizes_of(input);
    let k = tau.sizes().last().copied().unwrap_or(0);
    if m < n {
        return refuse("input.shape[-2] must be greater than or equal to input.shape[-1]".into());
    }
    if n < k {
        return refuse("input.shape[-1] must be greater than or equal to tau.shape[-1]".into());
    }
    if input.ndim() != tau.ndim() + 1 {
        return refuse(format!(
            "Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is equal to \
             {}",
            tau.ndim(),
            input.ndim()
        ));
    }
    if batch_of(input) != &tau.sizes()[..tau.ndim() - 1] {
        return refuse(format!(
            "Expected batch dimensions of tau to be equal to input.shape[:-2], but got {:?}",
            &tau.sizes()[..tau.ndim() - 1]
        ));
    }
    same_dtype(op, "torch.linalg.householder_product: tau", tau, input)?;
    apply1(HouseholderProduct, &[input, tau])
}

/// The product of a matrix with the orthogonal factor of `geqrf`: `Q C`, or with `transpose` or from the right.
///
/// Args: `input` (*, m, k) and `tau` (*, k) as `geqrf` gives them, `other` (*, m, n), or (*, n, m) with `left=False`,
/// of one dtype; `left` multiplies from the left, `transpose` by `Q^H`. Returns: a tensor of the shape of `other`.
/// Derivative: that of a product, a factor at a time. Raises: RuntimeError if shapes or dtypes do not fit.
///
/// >>> a, tau = rg.geqrf(rg.tensor([[3.0], [4.0]]))
/// >>> tuple(rg.ormqr(a, tau, rg.tensor([[1.0], [0.0]]), transpose=True).shape)
/// (2, 1)
#[op(function, method, out, "(left=True, transpose=False)")]
pub fn ormqr(input: &Tensor, input2: &Tensor, input3: &Tensor, left: bool, transpose: bool) -> Result<Tensor> {
    let (op, tau, other) = ("ormqr", input2, input3);
    let refuse = |detail: String| Err(Error::shape(op, format!("torch.ormqr: {detail}")));
    for (x, name) in [(input, "input"), (other, "other")] {
        if x.ndim() < 2 {
            return refuse(format!("{name} must have at least 2 dimensions."));
        }
    }
    let axis = if left { other.ndim() - 2 } else { other.ndim() - 1 };
    let (rows, columns) = sizes_of(input);
    let side = if left { "-2" } else { "-1" };
    if tau.sizes().last().copied().unwrap_or(0) > other.sizes()[axis] {
        return refuse(format!("other.shape[{side}] must be greater than or equal to tau.shape[-1]"));
    }
    if other.sizes()[axis] != rows {
        return refuse(format!("other.shape[{side}] must be equal to input.shape[-2]"));
    }
    if tau.sizes().last() != Some(&columns.min(rows)) {
        return refuse(format!("tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"));
    }
    if input.ndim() != tau.ndim() + 1 {
        return refuse(format!(
            "Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is equal to \
             {}",
            tau.ndim(),
            input.ndim()
        ));
    }
    if input.ndim() != other.ndim() {
        return refuse(format!(
            "Expected other to have the same number of dimensions as input, but got other.ndim equal to {} and input.ndim \
             is equal to {}",
            other.ndim(),
            input.ndim()
        ));
    }
    if batch_of(input) != &tau.sizes()[..tau.ndim() - 1] {
        return refuse(format!(
            "Expected batch dimensions of tau to be equal to input.shape[:-2], but got {:?}",
            &tau.sizes()[..tau.ndim() - 1]
        ));
    }
    if batch_of(input) != batch_of(other) {
        return refuse(format!(
            "Expected batch dimensions of other to be equal to input.shape[:-2], but got {:?}",
            batch_of(other)
        ));
    }
    for (x, name) in [(tau, "tau"), (other, "other")] {
        if x.dtype() != input.dtype() {
            return Err(Error::dtype(
                op,
                format!(
                    "torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype{} and {name} has \
                     dtype {}",
                    input.dtype().scalar_type_name(),
                    x.dtype().scalar_type_name()
                ),
            ));
        }
    }
    apply1(Ormqr { left, transpose }, &[input, tau, other])
}

/// The solution of `A X = B` with square matrices that have one.
pub(super) fn solution(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (q, r) = decomposed("linalg.qr", a, Mode::Reduced)?;
    triangular::solve(&r, &adjoint(&q)?.matmul(b)?, true, true)
}
