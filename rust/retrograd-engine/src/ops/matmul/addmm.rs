//! Sums of a tensor and a product: `addmm`, `addmv`.

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use super::batch_first;
use super::mm::{Matrix, check};
use super::product::{Factors, MULTIPLIED, is_one, multiply, not_expandable, plain, rounded_once};
use super::vector::check_mv;
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::overlap::OverlapRules;
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::tensor::layout::expands_to;
use crate::tensor::{Dtypes, Scalar, Tensor};

/// `by * t`, or `t` itself for 1.
pub(super) fn scaled(t: Tensor, by: Scalar) -> Result<Tensor> {
    if is_one(by) { Ok(t) } else { t.times(by) }
}

/// `beta * input + alpha * product` of batched operands, the batch in front of both; `ndim` counts the product's dims
/// without it.
pub(super) fn blend(
    beta: Scalar,
    alpha: Scalar,
    input: &Tensor,
    axis: Option<usize>,
    product: Tensor,
    batch: usize,
    ndim: usize,
) -> Result<(Outs, SmallVec<[Option<usize>; 1]>)> {
    let mut input = batch_first(input, axis)?;
    if axis.is_some() {
        // The input's own dims line up with the last ones of the product.
        let mut sizes: SmallVec<[usize; 5]> = smallvec![1; ndim + 2 - input.ndim()];
        sizes[0] = batch;
        sizes.extend_from_slice(&input.sizes()[1..]);
        input = crate::ops::view::reshape_to(&input, &sizes)?;
    }
    // Only the input may have had a batch.
    let product = if product.ndim() == ndim { product.unsqueeze(0)? } else { product };
    let product = scaled(product, alpha)?;
    Ok((out(if beta.is_zero() { product } else { scaled(input, beta)?.add(&product)? }), smallvec![Some(0)]))
}

/// JVP of `beta c + alpha A B`, by the op itself: `beta dc + alpha dA B`, plus `alpha A dB`.
pub(super) fn affine_jvp(
    cx: &Jvp,
    beta: Scalar,
    alpha: Scalar,
    run: impl Fn(&Tensor, &Tensor, &Tensor, Scalar, Scalar) -> Result<Tensor>,
) -> Result<Grads> {
    let (a, b) = (cx.xs[1], cx.xs[2]);
    let zero = || Tensor::full(&[], Scalar::Int(0), a.dtype());
    let mut sum = match cx.t(0) {
        Some(dc) => Some(crate::ops::view::expand_to(&scaled(dc.clone(), beta)?, cx.outs[0].sizes())?),
        None => None,
    };
    for (a, b) in [(cx.t(1), Some(b)), (Some(a), cx.t(2))] {
        let (Some(a), Some(b)) = (a, b) else { continue };
        sum = Some(match sum {
            Some(s) => run(&s, a, b, Scalar::Int(1), alpha)?,
            None => run(&zero()?, a, b, Scalar::Int(0), alpha)?,
        });
    }
    Ok(maybe(sum))
}

/// `addmm`: `beta C + alpha A B`. Reverse: `gC = beta g`, `gA = alpha g B^T`, `gB = alpha A^T g`.
#[derive(Clone, Debug)]
pub(crate) struct Addmm {
    beta: Scalar,
    alpha: Scalar,
    lhs: Matrix,
    rhs: Matrix,
}

impl Addmm {
    fn checked(&self, xs: &[&Tensor]) -> Result<(Factors, [usize; 2])> {
        let (input, a, b) = (xs[0], xs[1], xs[2]);
        for (x, name) in [(a, "mat1"), (b, "mat2")] {
            if x.ndim() != 2 {
                return Err(Error::shape(Self::NAME, format!("{name} must be a matrix, got {}-D tensor", x.ndim())));
            }
        }
        if input.dtype() != b.dtype() {
            return Err(Error::dtype(
                "addmm",
                format!(
                    "self and mat2 must have the same dtype, but got {} and {}; convert one with .to",
                    input.dtype().scalar_type_name(),
                    b.dtype().scalar_type_name()
                ),
            ));
        }
        check(Self::NAME, a, b)?;
        let sizes = [a.sizes()[0], b.sizes()[1]];
        if !expands_to(input.sizes(), &sizes) {
            return Err(not_expandable(Self::NAME, input.sizes(), &sizes));
        }
        let factors = Factors { beta: self.beta, alpha: self.alpha };
        factors.check("addmm", input.dtype())?;
        Ok((factors, sizes))
    }
}

impl Primitive for Addmm {
    const NAME: &'static str = "addmm";
    const SAVE: &'static [Save] = &[Save::input(1, "mat1").when(2), Save::input(2, "mat2").when(1)];
    const PARAMS: Params<Self> = params!(op;
        alpha,
        beta,
        mat1_sym_sizes: op.lhs.sizes_value(),
        mat1_sym_strides: op.lhs.strides_value(),
        mat2_sym_sizes: op.rhs.sizes_value(),
        mat2_sym_strides: op.rhs.strides_value(),
    );
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let product = batch_first(xs[1], axes[1])?.matmul(&batch_first(xs[2], axes[2])?)?;
        blend(op.beta, op.alpha, xs[0], axes[0], product, batch, 2)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (factors, sizes) = self.checked(xs)?;
        rounded_once(factors, xs, |xs| {
            let product = |c: &Tensor, acc: bool| multiply(Self::NAME, plain(xs[1]), plain(xs[2]), c, acc);
            factors.apply(Self::NAME, xs[0], &sizes, true, product).map(out)
        })
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        crate::ops::sparse::add_product(Self::NAME, xs, self.beta, self.alpha)
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
        let mut grads = maybe(cx.when(0, || scaled(cx.g().clone(), self.beta))?);
        grads.push(cx.when(1, || scaled(self.lhs.left_grad(cx, cx.g(), cx.saved(1)?)?, self.alpha))?);
        grads.push(cx.when(2, || scaled(self.rhs.right_grad(cx, cx.g(), cx.saved(0)?)?, self.alpha))?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| affine_jvp(cx, op.beta, op.alpha, addmm));
}

/// `beta * input + alpha * (mat1 @ mat2)`.
///
/// Args: `input` broadcastable to (n, p), `mat1` (n, m), `mat2` (m, p), all of one dtype, any dtype but bool; `beta`,
/// `alpha` numbers, truncated for integers. With `beta=0` the input is not read. Returns: a tensor of
/// shape (n, p). Derivative: `beta * g`, `alpha * g @ mat2.t()`, `alpha * mat1.t() @ g`. Raises: RuntimeError if ranks,
/// sizes or dtypes are incompatible.
///
/// >>> rg.addmm(rg.tensor([1.0]), rg.ones(2, 3), rg.ones(3, 2), alpha=2).tolist()
/// [[7.0, 7.0], [7.0, 7.0]]
#[op(
    function, method, inplace, out = SAME, old("beta input alpha mat1 mat2", "beta input mat1 mat2"),
    "(*, beta=1, alpha=1)"
)]
pub fn addmm(input: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let op = Addmm { beta, alpha, lhs: Matrix::of(mat1), rhs: Matrix::of(mat2) };
    apply_as(form, op, &[input, mat1, mat2])
}

/// `input + mat1 @ mat2`, the heart of `linear`.
#[inline]
pub(super) fn add_product(input: &Tensor, mat1: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    let one = Scalar::Int(1);
    apply1(Addmm { beta: one, alpha: one, lhs: Matrix::of(mat1), rhs: Matrix::of(mat2) }, &[input, mat1, mat2])
}

/// `addmv`: `beta c + alpha A v`. Reverse: `gc = beta g`, `gA = alpha g v^T`, `gv = alpha A^T g`.
#[derive(Clone, Debug)]
pub(crate) struct Addmv {
    beta: Scalar,
    alpha: Scalar,
}

impl Primitive for Addmv {
    const NAME: &'static str = "addmv";
    const SAVE: &'static [Save] = &[Save::input(1, "mat").when(2), Save::input(2, "vec").when(1)];
    const PARAMS: Params<Self> = params!(op; alpha, beta);
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let (a, v) = (batch_first(xs[1], axes[1])?, batch_first(xs[2], axes[2])?);
        let product = super::vector::batched_mv(&a, &v, axes[2].is_some())?;
        blend(op.beta, op.alpha, xs[0], axes[0], product, batch, 1)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (input, a, v) = (xs[0], xs[1], xs[2]);
        let rows = check_mv(Self::NAME, a, v)?;
        if !expands_to(input.sizes(), &[rows]) {
            return Err(Error::shape(
                "addmv",
                format!(
                    "size mismatch, got input {:?}, mat ({}x{}), vec ({})",
                    input.sizes(),
                    rows,
                    a.sizes()[1],
                    v.numel()
                ),
            ));
        }
        if input.dtype() != a.dtype() || a.dtype() != v.dtype() {
            return Err(super::vector::mixed(Self::NAME, input, a, v));
        }
        let factors = Factors { beta: self.beta, alpha: self.alpha };
        factors.check("addmv", input.dtype())?;
        rounded_once(factors, xs, |xs| {
            let product = |c: &Tensor, acc: bool| super::vector::multiply_mv(Self::NAME, xs[1], xs[2], c, acc);
            factors.apply(Self::NAME, xs[0], &[rows], true, product).map(out)
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || scaled(cx.g().clone(), self.beta))?);
        grads.push(cx.when(1, || scaled(cx.g().outer(cx.saved(1)?)?, self.alpha))?);
        grads.push(cx.when(2, || {
            scaled(super::vector::transposed_mv(!cx.differentiating(), cx.saved(0)?, cx.g())?, self.alpha)
        })?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| affine_jvp(cx, op.beta, op.alpha, addmv));
}

/// `beta * input + alpha * (mat @ vec)`.
///
/// Args: `input` broadcastable to (n,), `mat` (n, m), `vec` (m,), all of one dtype, any dtype but bool; `beta`, `alpha`
/// numbers. With `beta=0` the input is not read. Returns: a tensor of shape (n,). Derivative: `beta * g`, `alpha *
/// outer(g, vec)`, `alpha * mat.t() @ g`. Raises: RuntimeError if ranks, sizes or dtypes are incompatible.
///
/// >>> rg.addmv(rg.ones(2), rg.ones(2, 3), rg.ones(3)).tolist()
/// [4.0, 4.0]
#[op(
    function, method, inplace, out = SAME, old("beta input alpha mat vec", "beta input mat vec"),
    "(*, beta=1, alpha=1)"
)]
pub fn addmv(input: &Tensor, mat: &Tensor, vec: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    apply_as(form, Addmv { beta, alpha }, &[input, mat, vec])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for (m, k, n) in [(2, 3, 4), (1, 1, 1), (0, 2, 3), (2, 0, 3)] {
            for bias in [&[][..], &[n], &[m, 1], &[m, n]] {
                for (beta, alpha) in [(1.0, 1.0), (0.5, -2.0), (1.0, 3.0)] {
                    gradcheck(
                        &|x| addmm(&x[0], &x[1], &x[2].t()?, beta.into(), alpha.into()),
                        &[noise(3, bias), noise(1, &[m, k]), noise(2, &[n, k])],
                    );
                }
            }
            gradcheck(
                &|x| addmv(&x[0], &x[1], &x[2], 0.5.into(), 2.0.into()),
                &[noise(3, &[m]), noise(1, &[m, k]), noise(2, &[k])],
            );
        }
    }

    #[test]
    fn factors_of_zero_do_not_read() {
        let nan = Tensor::full(&[2, 2], f64::NAN.into(), crate::DType::Float64).unwrap();
        let one = Tensor::full(&[2, 2], 1.0.into(), crate::DType::Float64).unwrap();
        let a = addmm(&nan, &one, &one, Scalar::Int(0), Scalar::Int(1)).unwrap();
        assert_eq!(a.to_vec::<f64>().unwrap(), [2.0; 4]);
        let b = addmm(&one, &nan, &one, Scalar::Int(1), Scalar::Int(0)).unwrap();
        assert_eq!(b.to_vec::<f64>().unwrap(), [1.0; 4]);
        let i = Tensor::full(&[2, 2], Scalar::Int(1), crate::DType::Int64).unwrap();
        let c = addmm(&i, &i, &i, 1.9.into(), 0.5.into()).unwrap();
        assert_eq!(c.to_vec::<i64>().unwrap(), [1; 4]);
    }

    #[test]
    fn in_place_writes_the_first_operand() {
        let (a, b) = (noise(1, &[2, 3]), noise(2, &[3, 4]));
        let x = noise(3, &[2, 4]);
        let want = addmm(&x, &a, &b, 1.0.into(), 1.0.into()).unwrap().to_vec::<f64>().unwrap();
        let y = x.addmm_(&a, &b, 1.0.into(), 1.0.into()).unwrap();
        assert!(y.is_same(&x));
        assert_eq!(x.to_vec::<f64>().unwrap(), want);
        let s = noise(4, &[3, 3]);
        let want = addmm(&s, &s, &s, 1.0.into(), 1.0.into()).unwrap().to_vec::<f64>().unwrap();
        s.addmm_(&s, &s, 1.0.into(), 1.0.into()).unwrap();
        assert_eq!(s.to_vec::<f64>().unwrap(), want);
        assert!(noise(5, &[3, 3]).addmm_(&a, &b, 1.0.into(), 1.0.into()).is_err());
    }
}
