//! Products of batches of matrices.

use retrograd_macros::op;

use super::batch_first;
use super::product::{Factors, MULTIPLIED, flipped, fresh3, multiply, not_expandable, plain, rounded_once};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::overlap::OverlapRules;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result, Sizes};
use crate::profiler;
use crate::tensor::layout::expands_to;
use crate::tensor::{Dtypes, Noted, Scalar, Tensor};

fn check(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    for (x, name) in [(a, "batch1"), (b, "batch2")] {
        if x.ndim() != 3 {
            return Err(Error::shape(op, format!("{name} must be a 3D tensor, got {} dims", x.ndim())));
        }
    }
    let want = [a.sizes()[0], a.sizes()[2]];
    if b.sizes()[..2] != want {
        return Err(Error::shape(
            op,
            format!(
                "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}.",
                Sizes(&want),
                Sizes(&b.sizes()[..2])
            ),
        ));
    }
    Ok(())
}

/// `bmm`: `A_i B_i`. Reverse: `gA_i = g_i B_i^T`, `gB_i = A_i^T g_i`.
#[derive(Clone, Debug)]
pub(crate) struct Bmm;

/// `g rhs^T`, entry by entry.
fn left_grad(cx: &Vjp, g: &Tensor, rhs: &Tensor) -> Result<Tensor> {
    if cx.in_steps() {
        return g.bmm(&rhs.transpose(1, 2)?);
    }
    let _op = profiler::op("bmm", false, || vec![("input", Noted::of(g)), ("mat2", Noted::transposed(rhs))]);
    fresh3("bmm", plain(g), flipped(rhs))
}

/// `lhs^T g`, entry by entry.
fn right_grad(cx: &Vjp, g: &Tensor, lhs: &Tensor) -> Result<Tensor> {
    if cx.in_steps() {
        return lhs.transpose(1, 2)?.bmm(g);
    }
    let _op = profiler::op("bmm", false, || vec![("input", Noted::transposed(lhs)), ("mat2", Noted::of(g))]);
    fresh3("bmm", flipped(lhs), plain(g))
}

impl Primitive for Bmm {
    const NAME: &'static str = "bmm";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "mat2").when(0)];
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, _| {
        Ok((out(batch_first(xs[0], axes[0])?.matmul(&batch_first(xs[1], axes[1])?)?), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        check(Self::NAME, xs[0], xs[1])?;
        if xs[0].dtype() != xs[1].dtype() {
            return Err(Error::dtype(
                "bmm",
                format!(
                    "expected scalar type {} but found {}; convert one with .to",
                    xs[0].dtype().scalar_type_name(),
                    xs[1].dtype().scalar_type_name()
                ),
            ));
        }
        fresh3(Self::NAME, plain(xs[0]), plain(xs[1])).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || left_grad(cx, cx.g(), cx.saved(1)?))?);
        grads.push(cx.when(1, || right_grad(cx, cx.g(), cx.saved(0)?))?);
        Ok(grads)
    }
}

/// The matrix products of two batches of matrices, entry by entry.
///
/// Args: `input` (b, n, m), `mat2` (b, m, p), of one dtype, any dtype but bool. Nothing is broadcast.
/// Returns: a tensor of shape (b, n, p). Derivative: `bmm(g, mat2.mT)` and `bmm(input.mT, g)`. Raises: RuntimeError if
/// an operand has not three dims, or sizes or dtypes are incompatible.
///
/// >>> rg.bmm(rg.ones(2, 1, 3), rg.ones(2, 3, 1)).tolist()
/// [[[3.0]], [[3.0]]]
#[op(function, method, out = SAME)]
pub fn bmm(input: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    apply1(Bmm, &[input, mat2])
}

/// `baddbmm`: `beta C + alpha A_i B_i`. Reverse: `gC = beta g`, `gA_i = alpha g_i B_i^T`, `gB_i = alpha A_i^T g_i`.
#[derive(Clone, Debug)]
pub(crate) struct Baddbmm {
    beta: Scalar,
    alpha: Scalar,
}

impl Baddbmm {
    fn checked(&self, xs: &[&Tensor]) -> Result<(Factors, [usize; 3])> {
        let (input, a, b) = (xs[0], xs[1], xs[2]);
        check(Self::NAME, a, b)?;
        let sizes = [a.sizes()[0], a.sizes()[1], b.sizes()[2]];
        if !expands_to(input.sizes(), &sizes) {
            return Err(not_expandable(Self::NAME, input.sizes(), &sizes));
        }
        if input.dtype() != a.dtype() || a.dtype() != b.dtype() {
            return Err(Error::dtype(
                "baddbmm",
                format!(
                    "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}",
                    input.dtype().name(),
                    a.dtype().name(),
                    b.dtype().name()
                ),
            ));
        }
        let factors = Factors { beta: self.beta, alpha: self.alpha };
        factors.check("baddbmm", input.dtype())?;
        Ok((factors, sizes))
    }
}

impl Primitive for Baddbmm {
    const NAME: &'static str = "baddbmm";
    const SAVE: &'static [Save] = &[Save::input(1, "batch1").when(2), Save::input(2, "batch2").when(1)];
    const PARAMS: Params<Self> = params!(op; alpha, beta);
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let product = batch_first(xs[1], axes[1])?.matmul(&batch_first(xs[2], axes[2])?)?;
        super::addmm::blend(op.beta, op.alpha, xs[0], axes[0], product, batch, 3)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (factors, sizes) = self.checked(xs)?;
        rounded_once(factors, xs, |xs| {
            let product = |c: &Tensor, acc: bool| multiply(Self::NAME, plain(xs[1]), plain(xs[2]), c, acc);
            factors.apply(Self::NAME, xs[0], &sizes, false, product).map(out)
        })
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules::WHOLE
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let (factors, sizes) = self.checked(xs)?;
        let product = |c: &Tensor, acc: bool| multiply(Self::NAME, plain(xs[1]), plain(xs[2]), c, acc);
        factors.apply_onto(out, xs[0], [xs[1], xs[2]], &sizes, product)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let scaled = |t: Tensor, by: Scalar| super::addmm::scaled(t, by);
        let mut grads = maybe(cx.when(0, || scaled(cx.g().clone(), self.beta))?);
        grads.push(cx.when(1, || scaled(left_grad(cx, cx.g(), cx.saved(1)?)?, self.alpha))?);
        grads.push(cx.when(2, || scaled(right_grad(cx, cx.g(), cx.saved(0)?)?, self.alpha))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| super::addmm::affine_jvp(cx, op.beta, op.alpha, baddbmm));
}

/// `beta * input + alpha * bmm(batch1, batch2)`.
///
/// Args: `input` broadcastable to (b, n, p), `batch1` (b, n, m), `batch2` (b, m, p), all of one dtype, any dtype but
/// bool; `beta`, `alpha` numbers. With `beta=0` the input is not read. Returns: a tensor of shape (b, n,
/// p). Derivative: `beta * g`, `alpha * bmm(g, batch2.mT)`, `alpha * bmm(batch1.mT, g)`. Raises: RuntimeError if ranks,
/// sizes or dtypes are incompatible.
///
/// >>> rg.baddbmm(rg.ones(1), rg.ones(2, 1, 3), rg.ones(2, 3, 1)).tolist()
/// [[[4.0]], [[4.0]]]
#[op(
    function, method, inplace, out = SAME, old("beta input alpha batch1 batch2", "beta input batch1 batch2"),
    "(*, beta=1, alpha=1)"
)]
pub fn baddbmm(input: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    apply_as(form, Baddbmm { beta, alpha }, &[input, batch1, batch2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for (b, m, k, n) in [(2, 2, 3, 4), (1, 1, 1, 1), (3, 1, 4, 2), (0, 2, 2, 3), (2, 2, 0, 3)] {
            gradcheck(&|x| x[0].bmm(&x[1]), &[noise(1, &[b, m, k]), noise(2, &[b, k, n])]);
            gradcheck(
                &|x| x[0].transpose(1, 2)?.bmm(&x[1].transpose(1, 2)?),
                &[noise(1, &[b, k, m]), noise(2, &[b, n, k])],
            );
            gradcheck(
                &|x| baddbmm(&x[0], &x[1], &x[2], 0.5.into(), (-2.0).into()),
                &[noise(3, &[m, 1]), noise(1, &[b, m, k]), noise(2, &[b, k, n])],
            );
        }
    }

    #[test]
    fn a_shared_operand() {
        for (b, m, k, n) in
            [(3, 1, 4, 5), (3, 2, 4, 5), (3, 4, 5, 1), (3, 1, 4, 1), (1, 2, 3, 4), (0, 2, 3, 4), (3, 2, 0, 4)]
        {
            let (x, w) = (noise(1, &[b, m, k]), noise(2, &[k, n]));
            let (y, v) = (noise(3, &[b, k, n]), noise(4, &[m, k]));
            let (all_w, all_v) = (w.expand(&[b as i64, -1, -1]).unwrap(), v.expand(&[b as i64, -1, -1]).unwrap());
            let turned = noise(5, &[b, k, m]).transpose(1, 2).unwrap();
            for (left, right) in [(&x, &all_w), (&all_v, &y), (&all_v, &all_w), (&turned, &all_w)] {
                let apart = |t: &Tensor| crate::tensor::copy::row_major(t).unwrap();
                let got = left.bmm(right).unwrap().to_vec::<f64>().unwrap();
                let want = apart(left).bmm(&apart(right)).unwrap().to_vec::<f64>().unwrap();
                assert_eq!(got.len(), b * m * n);
                for (g, w) in got.iter().zip(&want) {
                    assert!((g - w).abs() <= 1e-14 * (1.0 + w.abs()), "{b} {m} {k} {n}: {g} against {w}");
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let e = noise(1, &[2, 3, 4]).bmm(&noise(2, &[3, 4, 5])).unwrap_err().to_string();
        assert!(
            e.contains("Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [3, 4]."),
            "{e}"
        );
        assert!(noise(1, &[2, 3]).bmm(&noise(2, &[3, 4, 5])).is_err());
    }
}
