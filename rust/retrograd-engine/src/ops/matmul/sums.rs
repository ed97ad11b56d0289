//! Sums of a tensor and products that are no single matrix product: `addr`, `addbmm`.

use retrograd_macros::op;

use super::addmm::{affine_jvp, blend, scaled};
use super::batch_first;
use super::product::MULTIPLIED;
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::ops::pointwise::result_type;
use crate::ops::view;
use crate::tensor::layout::expands_to;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Refuses sizes of the input that do not expand to those of the product.
fn check_input(op: &'static str, input: &Tensor, sizes: &[usize]) -> Result<()> {
    if expands_to(input.sizes(), sizes) {
        Ok(())
    } else {
        Err(super::product::not_expandable(op, input.sizes(), sizes))
    }
}

/// Refuses batches that are not as many, or whose matrices do not fit.
fn check_batches(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    for (x, name) in [(a, "batch1"), (b, "batch2")] {
        if x.ndim() != 3 {
            return Err(Error::shape(op, format!("{name} must be a 3D tensor, got {} dims", x.ndim())));
        }
    }
    let (a, b) = (a.sizes(), b.sizes());
    if a[0] != b[0] {
        let detail = format!("batch1 and batch2 must have same number of batches, got {} and {}", a[0], b[0]);
        return Err(Error::shape(op, detail));
    }
    if a[2] != b[1] {
        let detail = format!("Incompatible matrix sizes for bmm ({}x{} and {}x{})", a[1], a[2], b[1], b[2]);
        return Err(Error::shape(op, detail));
    }
    Ok(())
}

/// `beta * input + alpha * product`, where the input is not read for `beta = 0`; unrecorded.
fn sum(input: &Tensor, product: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    if product.dtype() == DType::Bool {
        let product = if alpha.is_zero() { product.logical_not()?.logical_and(product)? } else { product.clone() };
        return if beta.is_zero() { Ok(product) } else { product.logical_or(input) };
    }
    let product = scaled(product.clone(), alpha)?;
    if beta.is_zero() { Ok(product) } else { product.add(&scaled(input.clone(), beta)?) }
}

/// `addr`: `beta C + alpha a b^T`. Reverse: `gC = beta g`, `ga = alpha g b`, `gb = alpha g^T a`.
#[derive(Clone, Debug)]
pub(crate) struct Addr {
    beta: Scalar,
    alpha: Scalar,
}

/// The outer product, of the vectors' common dtype.
fn outer(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.unsqueeze(-1)?.mul(&b.unsqueeze(-2)?)
}

impl Primitive for Addr {
    const NAME: &'static str = "addr";
    const SAVE: &'static [Save] = &[Save::input(1, "vec1").when(2), Save::input(2, "vec2").when(1)];
    const PARAMS: Params<Self> = params!(op; alpha, beta);
    const DTYPES: Dtypes = Dtypes::ALL;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let product = outer(&batch_first(xs[1], axes[1])?, &batch_first(xs[2], axes[2])?)?;
        blend(op.beta, op.alpha, xs[0], axes[0], product, batch, 2)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(xs);
        if !dtype.is_integral() && !self.beta.is_zero() && !self.alpha.dtype().is_complex() {
            // One pass over the matrix.
            let input = scaled(xs[0].clone(), self.beta)?;
            return input.addcmul(&xs[1].unsqueeze(-1)?, &xs[2].unsqueeze(-2)?, self.alpha).map(out);
        }
        sum(xs[0], &outer(xs[1], xs[2])?, self.beta, self.alpha).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || scaled(cx.g().clone(), self.beta))?);
        grads.push(cx.when(1, || scaled(cx.g().mv(cx.saved(1)?)?, self.alpha))?);
        grads.push(cx.when(2, || scaled(cx.g().t()?.mv(cx.saved(0)?)?, self.alpha))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| affine_jvp(cx, op.beta, op.alpha, addr));
}

/// `beta * input + alpha * outer(vec1, vec2)`.
///
/// Args: `input` broadcastable to (n, m), `vec1` (n,), `vec2` (m,), any dtypes, which are promoted; `beta`, `alpha`
/// numbers. With `beta=0` the input is not read. Returns: a tensor of shape (n, m). Derivative: `beta * g`, `alpha * g
/// @ vec2`, `alpha * g.t() @ vec1`. Raises: RuntimeError if ranks or sizes are incompatible, or for fractions with
/// integers.
///
/// >>> rg.addr(rg.zeros(2, 1), rg.tensor([1.0, 2.0]), rg.tensor([3.0])).tolist()
/// [[3.0], [6.0]]
#[op(function, method, inplace, out, old("beta input alpha vec1 vec2", "beta input vec1 vec2"), "(*, beta=1, alpha=1)")]
pub fn addr(input: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    const OP: &str = "addr";
    for (x, name) in [(vec1, "vec1"), (vec2, "vec2")] {
        if x.ndim() != 1 {
            let detail = format!("addr: Expected 1-D argument {name}, but got {}-D", x.ndim());
            return Err(Error::shape(OP, detail));
        }
    }
    let xs = [input, vec1, vec2];
    if xs.iter().all(|x| x.dtype().is_integral()) {
        for (factor, name) in [(beta, "beta"), (alpha, "alpha")] {
            if factor.dtype().is_floating() {
                let detail =
                    format!("For integral input tensors, argument {name} must not be a floating point number.");
                return Err(Error::shape(OP, detail));
            }
        }
    }
    let sizes = [vec1.numel(), vec2.numel()];
    if form.is_in_place() && input.ndim() != 2 {
        return Err(Error::shape(OP, format!("2D tensor expected, got {}D tensor for input", input.ndim())));
    }
    check_input(OP, input, &sizes)?;
    apply_as(form, Addr { beta, alpha }, &xs)
}

/// `addbmm`: `beta C + alpha sum A_i B_i`. Reverse: `gC = beta g`, `gA_i = alpha g B_i^T`, `gB_i = alpha A_i^T g`.
#[derive(Clone, Debug)]
pub(crate) struct Addbmm {
    beta: Scalar,
    alpha: Scalar,
}

/// The sum of the products of matrices: one product of the matrices side by side and of those below one another.
fn product_sum(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (lead, &[batch, n, m]) = a.sizes().split_at(a.ndim() - 3) else { unreachable!("three axes were checked") };
    let p = b.sizes()[b.ndim() - 1];
    let with = |a: &Tensor, sizes: [usize; 2]| {
        let sizes: Vec<usize> = lead.iter().copied().chain(sizes).collect();
        view::reshape_to(a, &sizes)
    };
    with(&a.transpose(-3, -2)?, [n, batch * m])?.matmul(&with(b, [batch * m, p])?)
}

impl Primitive for Addbmm {
    const NAME: &'static str = "addbmm";
    const SAVE: &'static [Save] = &[Save::input(1, "batch1").when(2), Save::input(2, "batch2").when(1)];
    const PARAMS: Params<Self> = params!(op; alpha, beta);
    const DTYPES: Dtypes = MULTIPLIED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let [a, b] = [1, 2].map(|i| view::batch_first(xs[i], axes[i], batch));
        blend(op.beta, op.alpha, xs[0], axes[0], product_sum(&a?, &b?)?, batch, 2)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        sum(xs[0], &product_sum(xs[1], xs[2])?, self.beta, self.alpha).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || scaled(cx.g().clone(), self.beta))?);
        grads.push(cx.when(1, || scaled(cx.g().matmul(&cx.saved(1)?.transpose(1, 2)?)?, self.alpha))?);
        grads.push(cx.when(2, || scaled(cx.saved(0)?.transpose(1, 2)?.matmul(cx.g())?, self.alpha))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| affine_jvp(cx, op.beta, op.alpha, addbmm));
}

/// `beta * input + alpha * (batch1 @ batch2).sum(0)`.
///
/// Args: `input` broadcastable to (n, p), `batch1` (b, n, m), `batch2` (b, m, p), all of one dtype, any dtype but bool;
/// `beta`, `alpha` numbers. With `beta=0` the input is not read. Returns: a tensor of shape (n, p). Derivative: `beta *
/// g`, `alpha * g @ batch2.mT`, `alpha * batch1.mT @ g`. Raises: RuntimeError if ranks, sizes or dtypes are
/// incompatible.
///
/// >>> rg.addbmm(rg.ones(1), rg.ones(2, 1, 3), rg.ones(2, 3, 1)).tolist()
/// [[7.0]]
#[op(
    function, method, inplace, out = SAME, old("beta input alpha batch1 batch2", "beta input batch1 batch2"),
    "(*, beta=1, alpha=1)"
)]
pub fn addbmm(input: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    const OP: &str = "addbmm";
    check_batches(OP, batch1, batch2)?;
    if input.dtype() != batch2.dtype() {
        let names = (input.dtype().scalar_type_name(), batch2.dtype().scalar_type_name());
        let detail = format!("self and mat2 must have the same dtype, but got {} and {}", names.0, names.1);
        return Err(Error::dtype(OP, format!("{detail}; convert one with .to")));
    }
    check_input(OP, input, &[batch1.sizes()[1], batch2.sizes()[2]])?;
    // As torch: fractions are cut for integers.
    let whole = |factor: Scalar| if input.dtype().is_integral() { Scalar::Int(factor.as_i64()) } else { factor };
    apply_as(form, Addbmm { beta: whole(beta), alpha: whole(alpha) }, &[input, batch1, batch2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        let (beta, alpha) = (Scalar::Float(0.5), Scalar::Float(-2.0));
        for input in [&[][..], &[3], &[2, 1], &[2, 3]] {
            let x = noise(1, input);
            gradcheck(&|x| addr(&x[0], &x[1], &x[2], beta, alpha), &[x.clone(), noise(2, &[2]), noise(3, &[3])]);
            gradcheck(&|x| addbmm(&x[0], &x[1], &x[2], beta, alpha), &[x, noise(2, &[4, 2, 5]), noise(3, &[4, 5, 3])]);
        }
    }
}
