//! Products that choose among the others by the operands' ranks: `matmul` and `linear`.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::addmm::add_product;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::Tensor;
use crate::tensor::copy;
use crate::tensor::layout::{self, Dims};

/// The elements of a fresh result in another shape; unlike a view it has no base. Reverse: `g` in the old shape.
#[derive(Clone, Debug)]
struct Reshaped {
    from: Dims,
    to: Dims,
    node: &'static str,
}

impl Primitive for Reshaped {
    const NAME: &'static str = "_unsafe_view";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, batch| {
        let mut op = op.clone();
        op.from.insert(0, batch);
        op.to.insert(0, batch);
        Ok(op)
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        self.node
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let strides = layout::contiguous_strides(&self.to);
        Tensor::from_parts(x.storage(), x.dtype(), &self.to, &strides, x.storage_offset()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        reshape_to(cx.g(), &self.from).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        if self.node == "UnsafeViewBackward0" {
            vec![("self_sym_sizes", Value::from(&self.from[..]))]
        } else {
            Vec::new()
        }
    }
}

fn reshaped(x: &Tensor, to: &[usize], node: &'static str) -> Result<Tensor> {
    apply1(Reshaped { from: Dims::from_slice(x.sizes()), to: Dims::from_slice(to), node }, &[x])
}

pub(super) fn unsafe_view(x: &Tensor, to: &[usize]) -> Result<Tensor> {
    reshaped(x, to, "UnsafeViewBackward0")
}

/// The matrix product, by the ranks of the operands.
///
/// Args: `input`, `other` of one dtype (any dtype but bool) with at least one dim. Two vectors give
/// their inner product, a matrix and a vector their product; a vector on the left is a row, on the right a column, and
/// its axis is dropped from the result. With three or more dims the last two are matrices and the dims before them
/// broadcast. Returns: the product. Derivative: `g @ other.mT` and `input.mT @ g`, summed over broadcast dims. Raises:
/// RuntimeError if an operand has no dims, or sizes or dtypes are incompatible.
///
/// >>> rg.matmul(rg.ones(4, 2, 3), rg.ones(3, 5)).shape
/// retrograd.Size([4, 2, 5])
#[op(function, method, out = SAME)]
pub fn matmul(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    match (input.ndim(), other.ndim()) {
        (2, 2) => input.mm(other),
        (2, 1) => input.mv(other),
        (1, 1) => input.dot(other),
        (1, 2) => {
            let row = input.unsqueeze(0)?.mm(other)?;
            reshaped(&row, &[other.sizes()[1]], "SqueezeBackward4")
        }
        (a, b) if a == 0 || b == 0 => Err(Error::shape(
            "matmul",
            format!("both arguments to matmul need to be at least 1D, but they are {a}D and {b}D"),
        )),
        _ if folds(input, other) => folded(input, other),
        _ => batched(input, other),
    }
}

/// The matrix product, by the ranks of the operands: see `matmul`.
///
/// Args, Returns, Derivative, Raises: as there.
///
/// >>> rg.linalg.matmul(rg.ones(4, 2, 3), rg.ones(3, 5)).shape
/// retrograd.Size([4, 2, 5])
#[op(function, out = SAME, module = "linalg", name = "matmul")]
pub fn linalg_matmul(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    matmul(input, other)
}

/// Whether the batch of the larger operand is better folded into its rows, so that one product does: where the smaller
/// one needs a gradient (it would be summed over the batch) or where folding costs no copy.
fn folds(a: &Tensor, b: &Tensor) -> bool {
    let flipped = b.ndim() > a.ndim();
    let (large, small) = if flipped { (b, a) } else { (a, b) };
    if large.ndim() < 3 || small.ndim() > 2 {
        return false;
    }
    if small.requires_grad() {
        return true;
    }
    // The product of the transposed operands would have to be copied.
    if a.ndim() == 2 {
        return false;
    }
    // A batch on the right is folded into its columns, which are the rows of the transposed.
    let (n, s, batch) = (large.sizes(), large.strides(), large.ndim() - 2);
    let next = |i: usize| i + 1 + usize::from(flipped && i + 1 == batch);
    large.numel() == 0 || (0..batch).all(|i| s[i] == s[next(i)] * n[next(i)] as isize)
}

fn folded(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let flipped = b.ndim() > a.ndim();
    let (large, small) = match (flipped, a.ndim()) {
        (false, _) => (a.clone(), b.clone()),
        (true, 2) => (b.transpose(-2, -1)?, a.t()?),
        (true, _) => (b.transpose(-2, -1)?, a.clone()),
    };
    let (&inner, lead) = large.sizes().split_last().expect("three dims or more");
    let rows = layout::numel(lead);
    let mut sizes = Dims::from_slice(lead);
    let matrix = reshape_to(&large, &[rows, inner])?;
    if small.ndim() == 1 {
        return unsafe_view(&matrix.mv(&small)?, &sizes);
    }
    sizes.push(small.sizes()[1]);
    let y = unsafe_view(&matrix.mm(&small)?, &sizes)?;
    if flipped { y.transpose(-2, -1)?.contiguous() } else { Ok(y) }
}

fn batched(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let split = |x: &Tensor| -> (Dims, Dims) {
        let at = x.ndim().saturating_sub(2);
        (Dims::from_slice(&x.sizes()[..at]), Dims::from_slice(&x.sizes()[at..]))
    };
    let ((lead_a, mat_a), (lead_b, mat_b)) = (split(a), split(b));
    // Broadcasting an operand that requires grad over the batch is left to folding, for its gradient's sake.
    if a.ndim() == 3 && b.ndim() == 3 && lead_a != lead_b {
        if lead_a[0] == 1 && a.requires_grad() {
            return matmul(&a.squeeze_dim(0)?, b);
        }
        if lead_b[0] == 1 && b.requires_grad() {
            return matmul(a, &b.squeeze_dim(0)?);
        }
    }
    let lead = layout::broadcast("matmul", &lead_a, &lead_b)?;
    let batch = layout::checked_numel("matmul", &lead)?;
    let full = |mat: &[usize]| -> SmallVec<[usize; 6]> { lead.iter().chain(mat).copied().collect() };
    let row;
    let (left, rows) = match mat_a[..] {
        [m, k] => (reshape_to(&expand_to(a, &full(&[m, k]))?, &[batch, m, k])?, Some(m)),
        _ => {
            row = mat_a[0];
            (reshape_to(&expand_to(a, &full(&[1, row]))?, &[batch, 1, row])?, None)
        }
    };
    let (right, cols) = match mat_b[..] {
        [k, n] => (reshape_to(&expand_to(b, &full(&[k, n]))?, &[batch, k, n])?, Some(n)),
        _ => (reshape_to(&expand_to(b, &full(&mat_b))?, &[batch, mat_b[0]])?.unsqueeze(2)?, None),
    };
    let mut product = left.bmm(&right)?;
    if cols.is_none() {
        product = product.squeeze_dim(-1)?;
    }
    let sizes: SmallVec<[usize; 6]> = lead.iter().copied().chain(rows).chain(cols).collect();
    unsafe_view(&product, &sizes)
}

/// `input @ weight.t() + bias`, the affine map of a layer.
///
/// Args: `input` (*, m), `weight` (n, m) or (m,), `bias` (n,) or None, all of one dtype. Returns: a tensor of shape (*,
/// n), or (*) if the weight is a vector. Derivative: `g @ weight`, `g.t() @ input` and `g` summed to the bias. Raises:
/// RuntimeError if sizes or dtypes are incompatible.
///
/// >>> rg.nn.functional.linear(rg.ones(2, 3), rg.ones(4, 3), rg.ones(4)).tolist()
/// [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]
#[op(function, out, module = "nn.functional", "(bias=None)")]
pub fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    if input.ndim() == 0 || weight.ndim() == 0 {
        return Err(Error::shape(
            "linear",
            format!(
                "both arguments to linear need to be at least 1D, but they are {}D and {}D",
                input.ndim(),
                weight.ndim()
            ),
        ));
    }
    let Some(bias) = bias else { return input.matmul(&weight.t()?) };
    if input.ndim() == 2 {
        return add_product(bias, input, &weight.t()?);
    }
    let row = bias.ndim() == 1 || (bias.ndim() == 2 && bias.sizes()[0] == 1);
    if input.is_contiguous() && row {
        let (&inner, lead) = input.sizes().split_last().expect("at least one dim");
        let flat = reshape_to(input, &[layout::numel(lead), inner])?;
        let y = add_product(bias, &flat, &weight.t()?)?;
        let mut sizes = Dims::from_slice(lead);
        sizes.push(y.sizes()[1]);
        return reshape_to(&y, &sizes);
    }
    input.matmul(&weight.t()?)?.add(bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn naive(a: &Tensor, b: &Tensor) -> Vec<f64> {
        let (a3, b3) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
        let (m, k, n) = (a.sizes()[1], a.sizes()[2], b.sizes()[2]);
        let mut out = Vec::new();
        for s in 0..a.sizes()[0] {
            for i in 0..m {
                for j in 0..n {
                    out.push((0..k).map(|l| a3[(s * m + i) * k + l] * b3[(s * k + l) * n + j]).sum());
                }
            }
        }
        out
    }

    #[test]
    fn gradients_of_matmul() {
        let shapes: &[(&[usize], &[usize])] = &[
            (&[3], &[3]),
            (&[2, 3], &[3]),
            (&[3], &[3, 4]),
            (&[2, 3], &[3, 4]),
            (&[5, 2, 3], &[3, 4]),
            (&[5, 2, 3], &[3]),
            (&[2, 3], &[5, 3, 4]),
            (&[3], &[5, 3, 4]),
            (&[5, 2, 3], &[5, 3, 4]),
            (&[1, 2, 3], &[5, 3, 4]),
            (&[2, 1, 2, 3], &[3, 3, 4]),
            (&[0, 2, 3], &[3, 4]),
            (&[2, 2, 0], &[0, 4]),
        ];
        for (a, b) in shapes {
            gradcheck(&|x| x[0].matmul(&x[1]), &[noise(1, a), noise(2, b)]);
            let fixed = noise(2, b);
            gradcheck(&|x| x[0].matmul(&fixed), &[noise(1, a)]);
            let fixed = noise(1, a);
            gradcheck(&|x| fixed.matmul(&x[0]), &[noise(2, b)]);
        }
    }

    #[test]
    fn values_of_matmul() {
        let (a, b) = (noise(1, &[5, 2, 3]), noise(2, &[5, 3, 4]));
        let y = a.matmul(&b).unwrap();
        assert_eq!(y.sizes(), [5, 2, 4]);
        for (x, want) in y.to_vec::<f64>().unwrap().iter().zip(naive(&a, &b)) {
            assert!((x - want).abs() < 1e-12);
        }
        let y = noise(1, &[4, 1, 2, 3]).matmul(&noise(2, &[5, 3, 6])).unwrap();
        assert_eq!(y.sizes(), [4, 5, 2, 6]);
        let e = noise(1, &[]).matmul(&noise(2, &[2])).unwrap_err().to_string();
        assert!(e.contains("both arguments to matmul need to be at least 1D, but they are 0D and 1D"), "{e}");
        let e = noise(1, &[5, 2, 3]).matmul(&noise(2, &[4, 3, 4])).unwrap_err().to_string();
        assert!(
            e.contains("The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0"),
            "{e}"
        );
    }

    #[test]
    fn gradients_of_linear() {
        for x in [&[2, 3][..], &[3], &[5, 2, 3], &[0, 3]] {
            gradcheck(&|t| linear(&t[0], &t[1], Some(&t[2])), &[noise(1, x), noise(2, &[4, 3]), noise(3, &[4])]);
            gradcheck(&|t| linear(&t[0], &t[1], None), &[noise(1, x), noise(2, &[4, 3])]);
        }
        gradcheck(
            &|t| linear(&t[0].permute(&[2, 1, 0])?, &t[1], Some(&t[2])),
            &[noise(1, &[3, 2, 5]), noise(2, &[4, 3]), noise(3, &[4])],
        );
        assert!(linear(&noise(1, &[2, 3]), &noise(2, &[3]), Some(&noise(3, &[1]))).is_err());
    }
}
