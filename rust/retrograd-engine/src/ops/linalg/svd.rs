//! Singular values and vectors.

use retrograd_linalg::svd::Vectors;
use retrograd_linalg::{Decompose, Scalar, jacobi};
use retrograd_macros::op;
use smallvec::smallvec;

use super::batch::{Entries, Given, batch_of, each, room, sizes_of};
use super::fault::{self, Fault};
use super::{adjoint, checks, cost, gauge, groups};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::pointwise::complex::{imag_part, real_part};
use crate::ops::view::{is_differentiated, reshape_to};
use crate::tensor::{Dims, Dtypes, Tensor, copy};

const PHASES: &str = "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i \
                      phi}. The specified loss function depends on this phase term, making it ill-defined.";

/// `svd`. With `P = U^H dA V`, `E[i, j] = s[j] - s[i]` and `F[i, j] = s[j] + s[i]`: `ds = Re(diag(P))`, and `U^H dU`,
/// `V^H dV` are half of `(P + P^H) / E` plus and minus `(P - P^H) / F`; reverse `U (diag(gs) + ((X + Y) / E + (X - Y) /
/// F) / 2) V^H`, where `X` and `Y` are the skew parts of `U^H gU` and `V^H gV` (Townsend, Differentiating the singular
/// value decomposition, 2016; for complex numbers Wan and Zhang, Automatic differentiation for complex valued SVD,
/// 2019). Vectors besides those of `s` move by what these leave: `U2^H dU = U2^H dA V / s`, and `dU2 = -U (U2^H dU)^H`.
#[derive(Clone, Debug)]
struct Svd {
    full_matrices: bool,
    vectors: bool,
}

impl Svd {
    /// `U`, `S`, `V`, and what is wrong.
    fn one_by_one(&self, x: &Tensor) -> Result<[Tensor; 4]> {
        let ((m, n), batch) = (sizes_of(x), batch_of(x));
        let k = m.min(n);
        let (kind, left, right) = match (self.vectors, self.full_matrices) {
            (false, _) => (Vectors::None, 0, 0),
            (true, false) => (Vectors::Thin, k, k),
            (true, true) => (Vectors::Full, m, n),
        };
        let mut info = Entries::<i32>::numbers(batch)?;
        match_dtype!(fields, x.dtype(), T => {
            let (x, mut s) = (Given::<T>::of(x)?, Entries::<<T as Scalar>::Real>::vectors(batch, k)?);
            let mut u = Entries::<T>::matrices(batch, if self.vectors { m } else { 0 }, left)?;
            let mut v = Entries::<T>::matrices(batch, if self.vectors { n } else { 0 }, right)?;
            let parts = (x.read(), s.write(), u.write(), v.write(), info.write());
            let flops = (m * n * k) as f64 * if self.vectors { 20.0 } else { 4.0 };
            let scratch = || Ok((room::<T>(m * n + k)?, room::<u8>(<T as Decompose>::svd_scratch(m, n, kind))?));
            each(parts, cost(flops), &scratch, &|(numbers, bytes), (x, s, u, v, info)| {
                let (a, values) = numbers.slice().split_at_mut(m * n);
                x.copy_to(a);
                info[0] = <T as Decompose>::svd([m, n], a, s, self.vectors.then_some((u, v)), values, bytes.uninit());
            })?;
            Ok([u.tensor(), s.tensor(), v.tensor(), info.tensor()])
        })
    }

    /// The same of small real matrices. Those without full rank lack singular vectors, and are decomposed once more.
    fn grouped(&self, x: &Tensor) -> Result<[Tensor; 4]> {
        let (m, n) = sizes_of(x);
        let turned = m < n;
        let tall = if turned { x.transpose(-2, -1)? } else { x.clone() };
        let [u, s, v, info] = match_dtype!(floats, x.dtype(), T => groups::svd::<T>(&tall, self.vectors)?);
        let (u, v) = if turned { (v, u) } else { (u, v) };
        let found = info.to_vec::<i32>()?;
        if !self.vectors || found.iter().all(|&info| info != jacobi::DEFICIENT) {
            return Ok([u, s, v, info]);
        }
        let all = |x: &Tensor, axes: usize| {
            let sizes: Dims =
                std::iter::once(found.len()).chain(x.sizes()[x.ndim() - axes..].iter().copied()).collect();
            reshape_to(x, &sizes)
        };
        let results = [all(&copy::contiguous(&u)?, 2)?, all(&s, 1)?, all(&copy::contiguous(&v)?, 2)?, all(&info, 0)?];
        let given = all(x, 2)?;
        for i in (0..found.len()).filter(|&i| found[i] == jacobi::DEFICIENT) {
            let again = self.one_by_one(&given.select(0, i as i64)?)?;
            for (to, from) in results.iter().zip(&again) {
                copy::copy_into(from, &to.select(0, i as i64)?)?;
            }
        }
        let [u, s, v, info] = results;
        let batch = |x: &Tensor| {
            let sizes: Dims = batch_of(&tall).iter().chain(&x.sizes()[1..]).copied().collect();
            reshape_to(x, &sizes)
        };
        Ok([batch(&u)?, batch(&s)?, batch(&v)?, batch(&info)?])
    }
}

/// The left or the right singular vectors: those of the singular values, and the others if there are any.
struct Basis {
    first: Tensor,
    rest: Option<Tensor>,
    /// Whether there are dimensions besides.
    open: bool,
}

impl Basis {
    /// `columns` as the vectors of `k` values.
    fn new(columns: &Tensor, k: usize) -> Result<Self> {
        let (rows, n) = sizes_of(columns);
        let split = |from: usize, count: usize| columns.narrow(-1, from as i64, count as i64);
        let first = if n > k { split(0, k)? } else { columns.clone() };
        let rest = (n > k).then(|| split(k, n - k)).transpose()?;
        Ok(Self { first, rest, open: rows > k })
    }

    /// The change of the first vectors outside of their space, of which `x / s` is a change, and that of the others.
    fn outward(&self, x: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        match &self.rest {
            Some(rest) => {
                let inner = adjoint(rest)?.matmul(x)?;
                let others = self.first.matmul(&adjoint(&inner)?)?.neg()?;
                Ok((Some(rest.matmul(&inner)?), Some(others)))
            }
            None if self.open => Ok((Some(x.sub(&self.first.matmul(&adjoint(&self.first)?.matmul(x)?)?)?), None)),
            None => Ok((None, None)),
        }
    }

    /// The part of a gradient that leads outside of the space of the first vectors.
    fn inward(&self, g: &Tensor) -> Result<Option<Tensor>> {
        let k = sizes_of(&self.first).1;
        let g = Basis::new(g, k)?;
        match (&self.rest, &g.rest) {
            (Some(rest), Some(g_rest)) => {
                let inner = adjoint(rest)?.matmul(&g.first)?.sub(&adjoint(g_rest)?.matmul(&self.first)?)?;
                rest.matmul(&inner).map(Some)
            }
            _ => Ok(self.outward(&g.first)?.0),
        }
    }
}

/// `x / s` by columns; a column of 0, or what rounding makes of it, is left if its value is 0.
fn over_values(x: &Tensor, s: &Tensor) -> Result<Tensor> {
    let s = s.unsqueeze(-2)?;
    let largest = s.detach().amax(&[-1], true)?;
    let none = gauge::vanishing(&s, &largest)?.logical_and(&gauge::quiet(x)?)?;
    gauge::over(x, &s, &none)
}

/// `x[i, j] / (s[i] + s[j])`, where both are 0 as for a value there.
fn over_sums(x: &Tensor, s: &Tensor) -> Result<Tensor> {
    let sums = s.unsqueeze(-2)?.add(&s.unsqueeze(-1)?)?;
    let largest = s.detach().amax(&[-1], true)?.unsqueeze(-1)?;
    let none = gauge::vanishing(&sums, &largest)?.logical_and(&gauge::quiet(x)?)?;
    gauge::over(x, &sums, &none)
}

impl Primitive for Svd {
    const NAME: &'static str = "linalg_svd";
    const SAVE: &'static [Save] = &[Save::output(1, "S"), Save::output(0, "U"), Save::output(2, "Vh")];
    const PARAMS: Params<Self> = params!(op; full_matrices);
    const DTYPES: Dtypes = Dtypes::FIELDS;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None, None]) };
        let s = &cx.outs[1];
        let k = *s.sizes().last().expect("values of a matrix");
        let (u, v) = (Basis::new(&cx.outs[0], k)?, Basis::new(&adjoint(&cx.outs[2])?, k)?);
        let (left, right) = (t.matmul(&v.first)?, adjoint(t)?.matmul(&u.first)?);
        let p = adjoint(&u.first)?.matmul(&left)?;
        let ds = real_part(&p.diagonal(0, -2, -1)?)?;
        if k == 0 {
            return Ok(smallvec![None, Some(ds), None]);
        }
        let turned = adjoint(&p)?;
        let both = gauge::over_gaps(&p.add(&turned)?, s, Some(&ds))?;
        let apart = over_sums(&p.sub(&turned)?, s)?;
        let whole = |basis: &Basis, turn: &Tensor, x: &Tensor| {
            let mut first = basis.first.matmul(&turn.times(0.5)?)?;
            let (outward, others) = if basis.open { basis.outward(&over_values(x, s)?)? } else { (None, None) };
            if let Some(outward) = outward {
                first = first.add(&outward)?;
            }
            match others {
                Some(others) => crate::ops::view::cat(&[first, others], -1),
                None => Ok(first),
            }
        };
        let du = whole(&u, &both.add(&apart)?, &left)?;
        let dv = whole(&v, &both.sub(&apart)?, &right)?;
        Ok(smallvec![Some(du), Some(ds), Some(adjoint(&dv)?)])
    });
    fn kernel_name(&self) -> &'static str {
        "linalg_svd_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, (m, n)) = (xs[0], sizes_of(xs[0]));
        let in_groups =
            (!self.vectors || !self.full_matrices || m == n) && groups::of_singular_values(self.vectors).for_all(x);
        let [u, s, v, info] = if in_groups { self.grouped(x)? } else { self.one_by_one(x)? };
        fault::check("linalg.svd", &info, Fault::SingularValues)?;
        Ok(smallvec![u, s, adjoint(&v)?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (s, u, vh) = (cx.saved(0)?, cx.saved(1)?, cx.saved(2)?);
        let (gu, gs, gvh) = (cx.g_of(0), cx.g_of(1), cx.g_of(2));
        let k = *s.sizes().last().expect("values of a matrix");
        let (u, v) = (Basis::new(u, k)?, Basis::new(&adjoint(vh)?, k)?);
        let back = |inner: &Tensor| -> Result<Tensor> { u.first.matmul(&inner.matmul(&adjoint(&v.first)?)?) };
        if k == 0 || (gu.is_none() && gvh.is_none()) {
            return match gs {
                Some(gs) => u.first.mul(&gs.unsqueeze(-2)?)?.matmul(&adjoint(&v.first)?).map(one),
                None => Tensor::zeros(cx.sizes(0), u.first.dtype()).map(one),
            };
        }
        let gv = gvh.map(adjoint).transpose()?;
        let skew = |basis: &Basis, g: Option<&Tensor>| -> Result<Option<Tensor>> {
            let part = |g: &Tensor| {
                let p = adjoint(&basis.first)?.matmul(&Basis::new(g, k)?.first)?;
                p.sub(&adjoint(&p)?)
            };
            g.map(part).transpose()
        };
        let (x, y) = (skew(&u, gu)?, skew(&v, gv.as_ref())?);
        if u.first.dtype().is_complex() {
            let phases = |x: &Tensor| imag_part(&x.diagonal(0, -2, -1)?);
            match (&x, &y) {
                (Some(x), Some(y)) => gauge::check_phases(&phases(x)?, Some(&phases(y)?.neg()?), PHASES)?,
                (Some(x), None) | (None, Some(x)) => gauge::check_phases(&phases(x)?, None, PHASES)?,
                (None, None) => {}
            }
        }
        let (both, apart) = match (&x, &y) {
            (Some(x), Some(y)) => (x.add(y)?, x.sub(y)?),
            (Some(x), None) => (x.clone(), x.clone()),
            (None, Some(y)) => (y.clone(), y.neg()?),
            (None, None) => unreachable!("one of them has a gradient"),
        };
        let mut inner = gauge::over_gaps(&both, s, gs)?.add(&over_sums(&apart, s)?)?.times(0.5)?;
        if let Some(gs) = gs {
            inner = inner.add(&gs.diag_embed(0, -2, -1)?)?;
        }
        let mut whole = back(&inner)?;
        if let Some(out) = gu.filter(|_| u.open).map(|g| u.inward(g)).transpose()?.flatten() {
            whole = whole.add(&over_values(&out, s)?.matmul(&adjoint(&v.first)?)?)?;
        }
        if let Some(out) = gv.filter(|_| v.open).map(|g| v.inward(&g)).transpose()?.flatten() {
            whole = whole.add(&u.first.matmul(&adjoint(&over_values(&out, s)?)?)?)?;
        }
        Ok(one(whole))
    }
}

/// `U`, `S` and `Vh`.
pub(super) fn decomposed(op: &'static str, x: &Tensor, full_matrices: bool, vectors: bool) -> Result<[Tensor; 3]> {
    checks::matrices(op, "linalg.svd", x, "A")?;
    checks::float_or_complex_or_half(op, "linalg.svd", x)?;
    let outs = apply(Svd { full_matrices, vectors }, &[x])?;
    Ok(outs.into_iter().collect::<Vec<_>>().try_into().expect("three results"))
}

/// The singular values of checked operands.
pub(super) fn values(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let [_, s, _] = decomposed(op, x, false, is_differentiated(x))?;
    Ok(s)
}

fn check_driver(op: &'static str, driver: Option<&str>) -> Result<()> {
    match driver {
        None => Ok(()),
        Some(_) => Err(Error::shape(
            op,
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
        )),
    }
}

/// The singular value decomposition of matrices: `A = U diag(S) Vh`.
///
/// Args: `A` (*, m, n) of dtype float32, float64, complex64 or complex128; `full_matrices` makes `U` (*, m, m) and `Vh`
/// (*, n, n) bases, otherwise they have `min(m, n)` columns and rows; `driver` is for other devices. Returns: `(U, S,
/// Vh)`, `S` real and in descending order. Derivative: see Townsend 2016, and Wan and Zhang 2019 for complex numbers;
/// singular vectors have an arbitrary sign or phase, and a loss that depends on phases is refused. Repeated values that
/// the loss does not separate add nothing; otherwise the derivative is infinite or NaN. Raises: LinAlgError if there
/// are infinities or NaN.
///
/// >>> rg.linalg.svd(rg.tensor([[3.0, 0.0], [0.0, 4.0]])).S.tolist()
/// [4.0, 3.0]
#[op(function, out, module = "linalg", name = "svd", fields("U", "S", "Vh"), "(full_matrices=True, *, driver=None)")]
#[allow(non_snake_case)]
pub fn linalg_svd(A: &Tensor, full_matrices: bool, driver: Option<&str>) -> Result<Vec<Tensor>> {
    check_driver("linalg.svd", driver)?;
    decomposed("linalg.svd", A, full_matrices, true).map(Vec::from)
}

/// The singular values of matrices, in descending order.
///
/// Args: as `linalg.svd`. Returns: real numbers (*, min(m, n)). Derivative: `U diag(g) V^H`, of any matrix. Raises: as
/// there.
///
/// >>> rg.linalg.svdvals(rg.tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()
/// [4.0, 3.0]
#[op(function, out, module = "linalg", "(*, driver=None)")]
#[allow(non_snake_case)]
pub fn svdvals(A: &Tensor, driver: Option<&str>) -> Result<Tensor> {
    check_driver("linalg.svdvals", driver)?;
    values("linalg.svdvals", A)
}

/// The singular value decomposition of matrices, `input = U diag(S) V^H`; see `linalg.svd`.
///
/// Args: `some` as the negation of `full_matrices` there; `compute_uv` False gives zeros for `U` and `V`. Returns: `(U,
/// S, V)`.
///
/// >>> rg.svd(rg.tensor([[3.0, 0.0], [0.0, 4.0]])).S.tolist()
/// [4.0, 3.0]
#[op(function, method, out, fields("U", "S", "V"), "(some=True, compute_uv=True)")]
pub fn svd(input: &Tensor, some: bool, compute_uv: bool) -> Result<Vec<Tensor>> {
    if input.ndim() < 2 {
        return Err(Error::shape(
            "svd",
            format!("linalg.svd: input should have at least 2 dimensions, but has {} dimensions instead", input.ndim()),
        ));
    }
    if !compute_uv {
        let s = values("svd", input)?;
        let (m, n) = sizes_of(input);
        let zeros = |n: usize| {
            let sizes: Dims = batch_of(input).iter().copied().chain([n, n]).collect();
            Tensor::zeros(&sizes, input.dtype())
        };
        return Ok(vec![zeros(m)?, s, zeros(n)?]);
    }
    let [u, s, vh] = decomposed("svd", input, !some, true)?;
    Ok(vec![u, s, vh.adjoint()?])
}
