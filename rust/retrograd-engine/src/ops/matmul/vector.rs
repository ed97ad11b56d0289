//! Products with vectors: `mv`, `dot`, `outer`.

use retrograd_macros::op;

use super::batch_first;
use super::product::{MULTIPLIED, Side, flipped, fresh2, multiply, plain};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::tensor::{Dtypes, Tensor};

/// Ranks and sizes of a matrix and a vector; gives the number of rows.
pub(super) fn check_mv(op: &'static str, a: &Tensor, v: &Tensor) -> Result<usize> {
    if a.ndim() != 2 || v.ndim() != 1 {
        return Err(Error::shape(op, format!("vector + matrix @ vector expected, got 1, {}, {}", a.ndim(), v.ndim())));
    }
    let (m, n) = plain(a).sizes();
    if n != v.numel() {
        return Err(Error::shape(
            op,
            format!(
                "size mismatch, got input ({m}), mat ({m}x{n}), vec ({}): vec must have as many elements as mat columns",
                v.numel()
            ),
        ));
    }
    Ok(m)
}

/// The refusal of operands whose dtypes differ.
#[cold]
pub(super) fn mixed(op: &'static str, input: &Tensor, a: &Tensor, v: &Tensor) -> Error {
    Error::dtype(
        op,
        format!(
            "addmv input tensors must have the same dtype, but got {}, {}, and {}",
            input.dtype().scalar_type_name(),
            a.dtype().scalar_type_name(),
            v.dtype().scalar_type_name()
        ),
    )
}

/// A vector as a matrix of one column.
fn column(v: &Tensor) -> Result<Tensor> {
    let stride = v.strides().first().copied().unwrap_or(1);
    v.memory_as(v.dtype(), v.lazy_bits(), &[v.numel(), 1], &[stride, 1], v.storage_offset())
}

/// Writes (or adds) `A v` to the vector `out`.
fn multiply_side(op: &'static str, a: Side, v: &Tensor, out: &Tensor, accumulate: bool) -> Result<()> {
    multiply(op, a, plain(&column(v)?), &column(out)?, accumulate)
}

/// Writes (or adds) `A v` to the vector `out`.
pub(super) fn multiply_mv(op: &'static str, a: &Tensor, v: &Tensor, out: &Tensor, accumulate: bool) -> Result<()> {
    multiply_side(op, plain(a), v, out, accumulate)
}

/// `A^T g`.
pub(super) fn transposed_mv(unrecorded: bool, a: &Tensor, g: &Tensor) -> Result<Tensor> {
    if !unrecorded || a.is_sparse() {
        return a.t()?.mv(g);
    }
    let out = Tensor::empty(&[a.sizes()[1]], a.dtype())?;
    multiply_side("mv", flipped(a), g, &out, false)?;
    Ok(out)
}

/// `A v` of operands with the batch in front (`v` has one if `batched`).
pub(super) fn batched_mv(a: &Tensor, v: &Tensor, batched: bool) -> Result<Tensor> {
    if batched { a.matmul(&v.unsqueeze(-1)?)?.squeeze_dim(-1) } else { a.matmul(v) }
}

/// `mv`: `A v`. Reverse: `gA = g v^T`, `gv = A^T g`.
#[derive(Clone, Debug)]
pub(crate) struct Mv;

impl Primitive for Mv {
    const NAME: &'static str = "mv";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "vec").when(0)];
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, _| {
        let (a, v) = (batch_first(xs[0], axes[0])?, batch_first(xs[1], axes[1])?);
        Ok((out(batched_mv(&a, &v, axes[1].is_some())?), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, v) = (xs[0], xs[1]);
        let rows = check_mv(Self::NAME, a, v)?;
        if a.dtype() != v.dtype() {
            return Err(mixed(Self::NAME, v, a, v));
        }
        let y = Tensor::empty(&[rows], a.dtype())?;
        multiply_mv(Self::NAME, a, v, &y, false)?;
        Ok(out(y))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        if xs[1].is_sparse() {
            return Err(crate::tensor::sparse::refused(Self::NAME, xs));
        }
        check_mv(Self::NAME, xs[0], xs[1])?;
        crate::ops::sparse::product(Self::NAME, xs[0], &xs[1].unsqueeze(1)?)?.squeeze_dim(1).map(|y| out(y.alias()))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || {
            if cx.differentiating() {
                return cx.g().outer(cx.saved(1)?);
            }
            fresh2(Self::NAME, plain(&column(cx.g())?), flipped(&column(cx.saved(1)?)?))
        })?);
        grads.push(cx.when(1, || transposed_mv(!cx.differentiating(), cx.saved(0)?, cx.g()))?);
        Ok(grads)
    }
}

/// The product of a matrix and a vector.
///
/// Args: `input` (n, m), `vec` (m,), of one dtype, any dtype but bool. Returns: a tensor of shape
/// (n,). Derivative: `outer(g, vec)` and `input.t() @ g`. Raises: RuntimeError if ranks, sizes or dtypes are
/// incompatible.
///
/// >>> rg.mv(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.tensor([1.0, 10.0])).tolist()
/// [21.0, 43.0]
#[op(
    function, method,
    out = OutDtype::Same(&["addmv input tensors must have the same dtype, but got {Out}, {Result}, and {Result}"])
)]
pub fn mv(input: &Tensor, vec: &Tensor) -> Result<Tensor> {
    apply1(Mv, &[input, vec])
}

/// Ranks, dtypes and sizes of two vectors.
pub(super) fn check_dot(a: &Tensor, b: &Tensor) -> Result<()> {
    if a.ndim() != 1 || b.ndim() != 1 {
        return Err(Error::shape(
            "dot",
            format!("1D tensors expected, but got {}D and {}D tensors", a.ndim(), b.ndim()),
        ));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(
            "dot",
            format!(
                "expected both vectors to have same dtype, but found {} and {}",
                a.dtype().scalar_type_name(),
                b.dtype().scalar_type_name()
            ),
        ));
    }
    if a.numel() != b.numel() {
        return Err(Error::shape(
            "dot",
            format!(
                "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, but \
                 got {0} and {1} elements respectively",
                a.numel(),
                b.numel()
            ),
        ));
    }
    Ok(())
}

/// `dot`: the sum of `a_i b_i`. Reverse: `ga = g b`, `gb = g a`.
#[derive(Clone, Debug)]
pub(crate) struct Dot;

impl Primitive for Dot {
    const NAME: &'static str = "dot";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "tensor").when(0)];
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, _| {
        let (a, b) = (batch_first(xs[0], axes[0])?, batch_first(xs[1], axes[1])?);
        Ok((
            out(a.unsqueeze(-2)?.matmul(&b.unsqueeze(-1)?)?.squeeze_dim(-1)?.squeeze_dim(-1)?),
            smallvec::smallvec![Some(0)],
        ))
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0], xs[1]);
        check_dot(a, b)?;
        let y = Tensor::empty(&[], a.dtype())?;
        let one = Tensor::from_parts(y.storage(), y.dtype(), &[1, 1], &[1, 1], 0)?;
        multiply(Self::NAME, flipped(&column(a)?), plain(&column(b)?), &one, false)?;
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || cx.g().mul(cx.saved(1)?))?);
        grads.push(cx.when(1, || cx.g().mul(cx.saved(0)?))?);
        Ok(grads)
    }
}

/// The inner product of two vectors.
///
/// Args: `input`, `tensor` (n,), of one dtype, any dtype but bool; nothing is conjugated.
/// Returns: a 0-dim tensor. Derivative: `g * tensor` and `g * input`.
/// Raises: RuntimeError if an operand has not one dim, or sizes or dtypes differ.
///
/// >>> rg.dot(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).item()
/// 11.0
#[op(function, method, out = OutDtype::Same(&["result dtype {Out} does not match input dtype {Result}"]))]
pub fn dot(input: &Tensor, tensor: &Tensor) -> Result<Tensor> {
    apply1(Dot, &[input, tensor])
}

/// The outer product of two vectors.
///
/// Args: `input` (n,), `vec2` (m,), any dtype; they promote as in `mul`.
/// Returns: a tensor of shape (n, m). Derivative: `g @ vec2` and `g.t() @ input`.
/// Raises: RuntimeError if an operand has not one dim.
///
/// >>> rg.outer(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).tolist()
/// [[3.0, 4.0], [6.0, 8.0]]
#[op(function, method, out, aliases("ger"))]
pub fn outer(input: &Tensor, vec2: &Tensor) -> Result<Tensor> {
    for (x, name) in [(input, "self"), (vec2, "vec2")] {
        if x.ndim() != 1 {
            return Err(Error::shape("outer", format!("Expected 1-D argument {name}, but got {}-D", x.ndim())));
        }
    }
    crate::ops::view::reshape_to(input, &[input.numel(), 1])?.mul(vec2)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for (m, n) in [(2, 3), (1, 1), (0, 3), (3, 0), (17, 9)] {
            gradcheck(&|x| x[0].mv(&x[1]), &[noise(1, &[m, n]), noise(2, &[n])]);
            gradcheck(&|x| x[0].t()?.mv(&x[1]), &[noise(1, &[n, m]), noise(2, &[n])]);
            gradcheck(&|x| x[0].dot(&x[1]), &[noise(1, &[m]), noise(2, &[m])]);
            gradcheck(&|x| x[0].outer(&x[1]), &[noise(1, &[m]), noise(2, &[n])]);
        }
    }

    #[test]
    fn refusals() {
        let f = |s: &[usize]| noise(1, s);
        assert!(
            f(&[2, 3])
                .mv(&f(&[4]))
                .unwrap_err()
                .to_string()
                .contains("size mismatch, got input (2), mat (2x3), vec (4)")
        );
        assert!(
            f(&[1, 1])
                .dot(&f(&[3]))
                .unwrap_err()
                .to_string()
                .contains("1D tensors expected, but got 2D and 1D tensors")
        );
        assert!(f(&[2]).dot(&f(&[3])).unwrap_err().to_string().contains("inconsistent tensor size"));
        assert!(f(&[2, 2]).outer(&f(&[3])).is_err());
    }
}
