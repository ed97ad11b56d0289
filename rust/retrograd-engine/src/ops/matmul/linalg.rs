//! Products of vectors and matrices of the `linalg` module: vecdot, cross, diagonal, multi_dot, matrix_power, vander.

use retrograd_macros::op;
use smallvec::smallvec;

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::kernels::cross;
use crate::match_dtype;
use crate::ops::memory;
use crate::ops::pointwise::complex::conj_physical as conj;
use crate::ops::view::{self, cat, expand_to};
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, numel, wrap_dim};
use crate::tensor::{Dims, Tensor};
use crate::warn;

/// `linalg.cross`, of operands with all axes. Reverse: `other x g` and `g x self`.
#[derive(Clone, Debug)]
struct Cross {
    /// Counted from the end, where batches do not move it.
    dim: i64,
}

impl Cross {
    /// The product in one pass, of floats and complex numbers. A gradient that a hook replaced may have another
    /// dtype or other sizes: that is for ops, which say so.
    fn fused(&self, a: &Tensor, b: &Tensor) -> Result<Option<Tensor>> {
        if a.dtype() != b.dtype() || a.sizes() != b.sizes() {
            return Ok(None);
        }
        let axis = a.ndim() - self.dim.unsigned_abs() as usize;
        let extents = [numel(&a.sizes()[..axis]), numel(&a.sizes()[axis + 1..])];
        let (a, b) = (copy::contiguous(a)?, copy::contiguous(b)?);
        let to = Tensor::empty(a.sizes(), a.dtype())?;
        match_dtype!(fields, a.dtype(), T => {
            // SAFETY: (1) S1 and S3: contiguous tensors of so many elements; (2) the result is fresh.
            unsafe { cross::cross::<T>(extents, a.ptr::<T>().cast_const(), b.ptr::<T>().cast_const(), to.ptr()) };
        }, else return Ok(None));
        Ok(Some(to))
    }
}

impl Primitive for Cross {
    const NAME: &'static str = "cross";
    const NODE: &'static str = "LinalgCrossBackward0";
    const SAVE: &'static [Save] = &[Save::input(1, "other").when(0), Save::input(0, "self").when(1)];
    const PARAMS: Params<Self> = params!(op; dim);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(p.clone()));
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (a, b) = (xs[0].detach(), xs[1].detach());
        if let Some(result) = self.fused(&a, &b)? {
            return Ok(out(result));
        }
        // The others, by ops that compute with them.
        let turn = |t: &Tensor, by: i64| t.roll(&[by], Some(&[self.dim]));
        let ahead = turn(&a, -1)?.mul(&turn(&b, 1)?)?;
        ahead.sub(&turn(&a, 1)?.mul(&turn(&b, -1)?)?).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let run = |a: &Tensor, b: &Tensor| apply1(self.clone(), &[a, b]);
        let a = cx.when(0, || run(cx.saved(0)?, cx.g()))?;
        let b = cx.when(1, || run(cx.g(), cx.saved(1)?))?;
        Ok(smallvec![a, b])
    }
}

fn crossed(op: &'static str, a: &Tensor, b: &Tensor, dim: i64) -> Result<Tensor> {
    if a.ndim() != b.ndim() {
        return Err(Error::shape(op, "linalg.cross: inputs must have the same number of dimensions."));
    }
    let axis = wrap_dim(op, dim, a.ndim())?;
    if a.sizes().get(axis) != Some(&3) || b.sizes().get(axis) != Some(&3) {
        return Err(Error::shape(
            op,
            format!(
                "linalg.cross: inputs dimension {dim} must have length 3. Got {:?} and {:?}",
                a.sizes().get(axis),
                b.sizes().get(axis)
            ),
        ));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "expected scalar type {} but found {}: {op} takes two tensors of one dtype, convert one with .to",
                a.dtype().scalar_type_name(),
                b.dtype().scalar_type_name()
            ),
        ));
    }
    let sizes = broadcast(op, a.sizes(), b.sizes())?;
    let whole = |t: &Tensor| expand_to(t, &sizes);
    apply1(Cross { dim: axis as i64 - a.ndim() as i64 }, &[&whole(a)?, &whole(b)?])
}

/// The cross product of vectors of 3 elements along an axis.
///
/// Args: `other` with as many axes, which broadcast; `dim` the axis of size 3. Returns: a fresh tensor. Derivative:
/// `other x g` and `g x input`. Raises: RuntimeError if the axis has another size.
///
/// >>> rg.linalg.cross(rg.tensor([1.0, 0.0, 0.0]), rg.tensor([0.0, 1.0, 0.0])).tolist()
/// [0.0, 0.0, 1.0]
#[op(function, out = SAME, module = "linalg", name = "cross", "(*, dim=-1)")]
pub fn linalg_cross(input: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
    crossed("linalg.cross", input, other, dim)
}

/// The cross product of vectors of 3 elements along an axis; see `linalg.cross`.
///
/// Args: `dim` the axis, by default the first of size 3. Raises: RuntimeError if there is none.
///
/// >>> rg.cross(rg.tensor([1.0, 0.0, 0.0]), rg.tensor([0.0, 1.0, 0.0]), dim=0).tolist()
/// [0.0, 0.0, 1.0]
#[op(function, method, out = SAME, "(dim=None)")]
pub fn cross(input: &Tensor, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let dim = match dim {
        Some(dim) => dim,
        None => match input.sizes().iter().position(|&n| n == 3) {
            Some(axis) => axis as i64,
            None => return Err(Error::shape("cross", format!("no dimension of size 3 in input: {:?}", input.sizes()))),
        },
    };
    crossed("cross", input, other, dim)
}

/// The sums of products along an axis, the first factors conjugated.
///
/// Args: `x`, `y` of one floating or complex dtype, with shapes that broadcast; `dim` the axis. Returns: a tensor
/// without the axis. Derivative: `g * y` and `g * x`. Raises: RuntimeError if the axis has different sizes, for
/// integers, or if the dtypes differ.
///
/// >>> rg.linalg.vecdot(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.ones(2)).tolist()
/// [3.0, 7.0]
#[op(
    function, out = OutDtype::Same(&["linalg.vecdot: Expected out of dtype{Result} but found {Out}"]),
    module = "linalg", "(*, dim=-1)"
)]
pub fn vecdot(x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
    let found = |t: &Tensor| t.dtype().scalar_type_name();
    if x.dtype().is_integral() {
        return Err(Error::dtype(
            "vecdot",
            format!(
                "linalg.vecdot: Expected a floating point or complex tensor as input. Got {}: convert with .to(dtype)",
                found(x)
            ),
        ));
    }
    if x.dtype() != y.dtype() {
        return Err(Error::dtype(
            "vecdot",
            format!(
                "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} instead",
                found(x),
                found(y)
            ),
        ));
    }
    if let (Ok(a), Ok(b)) = (wrap_dim("vecdot", dim, x.ndim()), wrap_dim("vecdot", dim, y.ndim()))
        && x.sizes().get(a) != y.sizes().get(b)
    {
        return Err(Error::shape(
            "vecdot",
            format!(
                "linalg.vecdot: Expected x and y to have the same size along dim={dim}: {:?}, {:?}",
                x.sizes(),
                y.sizes()
            ),
        ));
    }
    conj(x)?.mul(y)?.sum_dims(&[dim], false)
}

/// A view of the diagonals of matrices; see `diagonal`.
///
/// Args: `offset` which diagonal; `dim1`, `dim2` the axes of the matrices.
///
/// >>> rg.linalg.diagonal(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [1.0, 4.0]
#[op(function, module = "linalg", name = "diagonal", "(*, offset=0, dim1=-2, dim2=-1)")]
#[allow(non_snake_case)]
pub fn linalg_diagonal(A: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    A.diagonal(offset, dim1, dim2)
}

/// The product of matrices in the order that takes the fewest multiplications.
fn chained(xs: &[Tensor]) -> Result<Tensor> {
    let n = xs.len();
    let sizes: Vec<u128> =
        std::iter::once(xs[0].sizes()[0]).chain(xs.iter().map(|x| x.sizes()[1])).map(|n| n as u128).collect();
    let mut best = vec![vec![(0u128, 0usize); n]; n];
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let cost = |k: usize| {
                let last = sizes[i].saturating_mul(sizes[k + 1]).saturating_mul(sizes[j + 1]);
                best[i][k].0.saturating_add(best[k + 1][j].0).saturating_add(last)
            };
            best[i][j] = (i..j).map(|k| (cost(k), k)).min().unwrap_or((0, i));
        }
    }
    // Of at most as many levels as there are matrices.
    fn product(xs: &[Tensor], best: &[Vec<(u128, usize)>], i: usize, j: usize) -> Result<Tensor> {
        if i == j {
            return Ok(xs[i].clone());
        }
        let k = best[i][j].1;
        product(xs, best, i, k)?.mm(&product(xs, best, k + 1, j)?)
    }
    product(xs, &best, 0, n - 1)
}

/// The product of several matrices, in the order that takes the fewest multiplications.
///
/// Args: `tensors` two or more matrices; the first and the last may be vectors, a row and a column, whose axes are not
/// in the result. Derivative: that of the products. Raises: RuntimeError for fewer than two or other shapes.
///
/// >>> tuple(rg.linalg.multi_dot([rg.ones(2, 3), rg.ones(3, 4), rg.ones(4)]).shape)
/// (2,)
#[op(
    function, out = OutDtype::Same(&["multi_dot(): expected out tensor to have dtype {result} but got {out}"]),
    module = "linalg"
)]
pub fn multi_dot(tensors: &[Tensor]) -> Result<Tensor> {
    const OP: &str = "multi_dot";
    let [first, middle @ .., last] = tensors else {
        return Err(Error::shape(OP, "multi_dot(): expected at least 2 tensors but got fewer"));
    };
    if let Some(i) = middle.iter().position(|t| t.ndim() != 2) {
        return Err(Error::shape(
            OP,
            format!("multi_dot(): tensor {} must be 2D but got {}D", i + 1, middle[i].ndim()),
        ));
    }
    for (t, which) in [(first, "first"), (last, "last")] {
        if !matches!(t.ndim(), 1 | 2) {
            return Err(Error::shape(
                OP,
                format!("multi_dot(): the {which} tensor must be 1D or 2D but got {}D", t.ndim()),
            ));
        }
    }
    for (i, pair) in tensors.windows(2).enumerate() {
        let (a, b) = (pair[0].sizes(), pair[1].sizes());
        if a.last() != b.first() {
            let detail =
                format!("multi_dot(): tensors {i} and {} with shapes {a:?} and {b:?} cannot be multiplied", i + 1);
            return Err(Error::shape(OP, detail));
        }
    }
    let mut matrices = tensors.to_vec();
    let mut sizes = Dims::new();
    match first.ndim() {
        1 => matrices[0] = view::reshape_to(first, &[1, first.numel()])?,
        _ => sizes.push(first.sizes()[0]),
    }
    match last.ndim() {
        1 => matrices[tensors.len() - 1] = view::reshape_to(last, &[last.numel(), 1])?,
        _ => sizes.push(last.sizes()[1]),
    }
    view::reshape_to(&chained(&matrices)?, &sizes)
}

/// The product of several matrices; see `linalg.multi_dot`.
///
/// Args: `matrices` one after the other. Raises: RuntimeError for other shapes.
///
/// >>> tuple(rg.chain_matmul(rg.ones(2, 3), rg.ones(3, 4)).shape)
/// (2, 4)
#[op(function, out)]
pub fn chain_matmul(#[size] matrices: &[Tensor]) -> Result<Tensor> {
    const OP: &str = "chain_matmul";
    warn::once(
        warn::Once::ChainMatmul,
        "retrograd.chain_matmul is deprecated and will be removed in a future release. Use retrograd.linalg.multi_dot \
         instead, which accepts a list of two or more tensors rather than multiple parameters.",
    );
    if let Some(t) = matrices.iter().find(|t| t.ndim() != 2) {
        return Err(Error::shape(OP, format!("Tensor dimension is {}, expected 2 instead.", t.ndim())));
    }
    match matrices {
        [] => Err(Error::shape(OP, "chain_matmul(): Expected one or more matrices")),
        [one] => Ok(one.clone()),
        _ => chained(matrices),
    }
}

/// A square matrix, or each of a batch, multiplied by itself.
///
/// Args: `A` of shape `(*, m, m)`; `n` how often, 0 for the identity, a negative one for powers of the
/// inverse. Returns: a tensor of the same shape. Derivative: that of the products and of the inverse. Raises:
/// RuntimeError for matrices that are not square; LinAlgError for a singular matrix and a negative `n`.
///
/// >>> rg.linalg.matrix_power(rg.tensor([[1.0, 1.0], [0.0, 1.0]]), 5).tolist()
/// [[1.0, 5.0], [0.0, 1.0]]
#[op(function, out = SAME, module = "linalg")]
#[allow(non_snake_case)]
pub fn matrix_power(A: &Tensor, n: i64) -> Result<Tensor> {
    power_of(A, n)
}

/// A square matrix multiplied by itself; see `linalg.matrix_power`.
///
/// >>> rg.matrix_power(rg.tensor([[2.0]]), 3).tolist()
/// [[8.0]]
#[op(function, method, out = SAME, norust, name = "matrix_power")]
pub fn matrix_power_of(input: &Tensor, n: i64) -> Result<Tensor> {
    power_of(input, n)
}

fn power_of(x: &Tensor, n: i64) -> Result<Tensor> {
    const OP: &str = "matrix_power";
    let &[.., rows, columns] = x.sizes() else {
        return Err(Error::shape(OP, "linalg.matrix_power: The input tensor A must have at least 2 dimensions."));
    };
    if rows != columns {
        return Err(Error::shape(
            OP,
            format!(
                "linalg.matrix_power: A must be batches of square matrices, but they are {rows} by {columns} matrices"
            ),
        ));
    }
    if n < 0 {
        let power = n.checked_neg().ok_or_else(|| Error::value(OP, format!("the power {n} is out of range")))?;
        return power_of(&crate::ops::linalg::inv(x)?, power);
    }
    if n == 0 {
        // Written into a copy, so that the result is recorded, with a gradient of zeros.
        let identity = Tensor::ones(&[rows], x.dtype())?.diag_embed(0, -2, -1)?;
        return memory::cloned(x)?.copy_(&identity);
    }
    let (mut square, mut left, mut result): (Tensor, i64, Option<Tensor>) = (x.clone(), n, None);
    loop {
        if left & 1 == 1 {
            result = Some(match result {
                None => square.clone(),
                Some(r) => r.matmul(&square)?,
            });
        }
        left >>= 1;
        match result {
            Some(r) if left == 0 => return if n == 1 { memory::cloned(&r) } else { Ok(r) },
            r => result = r,
        }
        square = square.matmul(&square)?;
    }
}

/// The powers of each element, from 0 on, along a new last axis.
///
/// Args: `x` of any shape, a 0-dim tensor as one of length 1; `N` how many powers, by default the size of the last
/// axis. Returns: a fresh tensor; integers become int64. Derivative: that of the powers. Raises: RuntimeError for `N`
/// below 2.
///
/// >>> rg.linalg.vander(rg.tensor([2.0, 3.0]), N=3).tolist()
/// [[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]]
#[op(function, module = "linalg", name = "vander", "(*, N=None)")]
#[allow(non_snake_case)]
pub fn linalg_vander(x: &Tensor, N: Option<i64>) -> Result<Tensor> {
    const OP: &str = "vander";
    let x = view::atleast_1d(x)?;
    let n = N.unwrap_or_else(|| x.sizes().last().map_or(0, |&last| last as i64));
    if n <= 1 {
        return Err(Error::shape(OP, format!("N must be greater than 1, got {n}")));
    }
    let column = x.unsqueeze(-1)?;
    let mut sizes: Vec<i64> = column.sizes().iter().map(|&n| n as i64).collect();
    sizes[x.ndim()] = n - 1;
    let powers = column.expand(&sizes)?.cumprod(-1, None)?;
    cat(&[Tensor::ones(column.sizes(), powers.dtype())?, powers], -1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].cross(&xs[1], Some(0)), &[noise(1, &[3, 2]), noise(2, &[3, 1])]);
        gradcheck(&|xs| multi_dot(xs), &[noise(1, &[3]), noise(2, &[3, 4]), noise(3, &[4, 2])]);
        gradcheck(&|xs| matrix_power(&xs[0], 5), &[noise(1, &[2, 3, 3])]);
        gradcheck(&|xs| linalg_vander(&xs[0], Some(4)), &[noise(1, &[2, 3])]);
        assert!(multi_dot(&[noise(1, &[2])]).is_err() && matrix_power(&noise(1, &[2, 3]), 2).is_err());
    }
}
