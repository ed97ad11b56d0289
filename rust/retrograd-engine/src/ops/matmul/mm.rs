//! The product of two matrices.

use std::fmt;

use retrograd_macros::op;

use super::batch_first;
use super::product::{MULTIPLIED, flipped, fresh2, inner_sizes, multiply, plain};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result};
use crate::ops::{Value, sparse};
use crate::profiler;
use crate::tensor::{Dtypes, Noted, Tensor, copy};

/// How a matrix operand lay in memory: its gradient is laid out alike.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    sizes: [usize; 2],
    strides: [isize; 2],
    requires_grad: bool,
}

/// Nothing of it changes a product, and by these words compiled functions tell products of the same operands apart.
impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Matrix")
    }
}

impl Matrix {
    /// Of a tensor with two dims; others are refused by `forward`.
    pub(super) fn of(x: &Tensor) -> Self {
        match (x.sizes(), x.strides()) {
            (&[m, n], &[s, t]) => Self { sizes: [m, n], strides: [s, t], requires_grad: x.requires_grad() },
            _ => Self { sizes: [0; 2], strides: [0; 2], requires_grad: false },
        }
    }
    fn column_major(&self) -> bool {
        self.strides[0] == 1 && self.strides[1] == self.sizes[0] as isize
    }
    pub(super) fn sizes_value(&self) -> Value {
        Value::from(&self.sizes[..])
    }
    /// Strides are shown for operands that require grad only, as torch does.
    pub(super) fn strides_value(&self) -> Value {
        Value::Ints(if self.requires_grad { self.strides.iter().map(|&s| s as i64).collect() } else { Vec::new() })
    }

    /// The gradient of this matrix as left operand: `g rhs^T`.
    pub(super) fn left_grad(&self, cx: &Vjp, g: &Tensor, rhs: &Tensor) -> Result<Tensor> {
        if !cx.in_steps() && !g.is_sparse() && !rhs.is_sparse() {
            let _op = profiler::op("mm", false, || vec![("input", Noted::of(g)), ("mat2", Noted::transposed(rhs))]);
            if !self.column_major() {
                return fresh2("mm", plain(g), flipped(rhs));
            }
            let out = Tensor::empty_strided(&self.sizes, &[1, self.sizes[0] as isize], g.dtype())?;
            multiply("mm", plain(g), flipped(rhs), &out, false)?;
            return Ok(out);
        }
        if self.column_major() || rhs.is_sparse() { rhs.mm(&g.t()?)?.t() } else { g.mm(&rhs.t()?) }
    }

    /// The gradient of this matrix as right operand: `lhs^T g`.
    pub(super) fn right_grad(&self, cx: &Vjp, g: &Tensor, lhs: &Tensor) -> Result<Tensor> {
        if !cx.in_steps() && !g.is_sparse() && !lhs.is_sparse() {
            let _op = profiler::op("mm", false, || vec![("input", Noted::transposed(lhs)), ("mat2", Noted::of(g))]);
            if !self.column_major() {
                return fresh2("mm", flipped(lhs), plain(g));
            }
            let out = Tensor::empty_strided(&self.sizes, &[1, self.sizes[0] as isize], g.dtype())?;
            multiply("mm", flipped(lhs), plain(g), &out, false)?;
            return Ok(out);
        }
        // A sparse matrix stays as it is.
        if self.column_major() || lhs.is_sparse() { g.t()?.mm(lhs)?.t() } else { lhs.t()?.mm(g) }
    }
}

/// `mm`: `A B`. Reverse: `gA = g B^T`, `gB = A^T g`.
#[derive(Clone, Debug)]
pub(crate) struct Mm {
    lhs: Matrix,
    rhs: Matrix,
}

/// Ranks, inner sizes and dtypes of two matrices.
pub(super) fn check(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    for (x, name) in [(a, "self"), (b, "mat2")] {
        if x.ndim() != 2 {
            return Err(Error::shape(op, format!("{name} must be a matrix, got a tensor with {} dims", x.ndim())));
        }
    }
    if a.sizes()[1] != b.sizes()[0] {
        return Err(inner_sizes(op, plain(a).sizes(), plain(b).sizes()));
    }
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "expected m1 and m2 to have the same dtype, but got: {} != {}; convert one with .to",
                a.dtype().cpp_name(),
                b.dtype().cpp_name()
            ),
        ));
    }
    Ok(())
}

impl Primitive for Mm {
    const NAME: &'static str = "mm";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "mat2").when(0)];
    const PARAMS: Params<Self> = params!(op;
        self_sym_sizes: op.lhs.sizes_value(),
        self_sym_strides: op.lhs.strides_value(),
        mat2_sym_sizes: op.rhs.sizes_value(),
        mat2_sym_strides: op.rhs.strides_value(),
    );
    const DTYPES: Dtypes = MULTIPLIED;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, _| {
        Ok((out(batch_first(xs[0], axes[0])?.matmul(&batch_first(xs[1], axes[1])?)?), smallvec::smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Multilinear;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.forward_one(xs).map(out)
    }
    fn forward_one(&self, xs: &[&Tensor]) -> Result<Tensor> {
        check(Self::NAME, xs[0], xs[1])?;
        fresh2(Self::NAME, plain(xs[0]), plain(xs[1]))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        check(Self::NAME, xs[0], xs[1])?;
        let sizes = [xs[0].sizes()[0], xs[1].sizes()[1]];
        let fits = out.sizes() == sizes && out.dtype() == xs[0].dtype() && !out.lazy_bits().any();
        if !fits || xs.iter().any(|x| copy::ranges_meet(x, out)) {
            return Ok(false);
        }
        multiply(Self::NAME, plain(xs[0]), plain(xs[1]), out, false)?;
        Ok(true)
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::product(Self::NAME, xs[0], xs[1]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || self.lhs.left_grad(cx, cx.g(), cx.saved(1)?))?);
        grads.push(cx.when(1, || self.rhs.right_grad(cx, cx.g(), cx.saved(0)?))?);
        Ok(grads)
    }
}

/// The matrix product of two matrices.
///
/// Args: `input` (n, m), `mat2` (m, p), of one dtype, any dtype but bool; halves add up in float32. Nothing is
/// broadcast.
/// Returns: a tensor of shape (n, p). Derivative: `g @ mat2.t()` and `input.t() @ g`.
/// Raises: RuntimeError if an operand is no matrix, the inner sizes differ, or the dtypes do.
///
/// >>> rg.mm(rg.tensor([[1.0, 2.0]]), rg.tensor([[3.0], [4.0]])).tolist()
/// [[11.0]]
#[op(function, method, out = SAME)]
pub fn mm(input: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    apply1(Mm { lhs: Matrix::of(input), rhs: Matrix::of(mat2) }, &[input, mat2])
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;
    use crate::tensor::{DType, Scalar};
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn gradients() {
        for (m, k, n) in [(2, 3, 4), (1, 1, 1), (3, 1, 2), (0, 2, 3), (2, 0, 3), (17, 5, 9)] {
            gradcheck(&|x| x[0].mm(&x[1]), &[noise(1, &[m, k]), noise(2, &[k, n])]);
            gradcheck(&|x| x[0].t()?.mm(&x[1].t()?), &[noise(1, &[k, m]), noise(2, &[n, k])]);
        }
    }

    /// Matrices of these sizes: row-major, column-major, with gaps, and with equal rows.
    fn layouts(seed: u64, rows: usize, cols: usize, of: fn(u64, &[usize]) -> Tensor) -> [Tensor; 4] {
        [
            of(seed, &[rows, cols]),
            of(seed + 1, &[cols, rows]).t().unwrap(),
            of(seed + 2, &[rows, cols, 3]).select(2, 1).unwrap(),
            of(seed + 3, &[1, cols]).expand(&[rows as i64, -1]).unwrap(),
        ]
    }

    #[test]
    fn small_products_of_every_layout() {
        let sizes = [(1, 1, 1), (4, 4, 4), (2, 3, 0), (0, 3, 2), (3, 0, 2), (1, 5, 4), (5, 4, 1), (15, 3, 2)];
        let limits = [(57, 2, 3), (3, 40, 5), (3, 65, 2), (7, 9, 33), (6, 32, 32)];
        for (m, k, n) in sizes.into_iter().chain(limits) {
            for a in layouts(1, m, k, noise) {
                for b in layouts(5, k, n, noise) {
                    let (x, y) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
                    let got = a.mm(&b).unwrap();
                    assert_eq!((got.sizes(), got.is_contiguous()), (&[m, n][..], true));
                    for (i, got) in got.to_vec::<f64>().unwrap().into_iter().enumerate() {
                        let want: f64 = (0..k).map(|p| x[i / n * k + p] * y[p * n + i % n]).sum();
                        assert!((got - want).abs() <= 1e-15 * (k + 1) as f64, "{m} x {n} x {k}: {got}, not {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn small_products_of_conjugates() {
        for (m, k, n) in [(4, 4, 4), (1, 3, 5), (5, 2, 1), (2, 0, 2), (9, 7, 17)] {
            for (a, b) in layouts(1, m, k, complex_noise).iter().zip(layouts(5, k, n, complex_noise).iter().rev()) {
                for [left, right] in [[false, true], [true, false], [true, true]] {
                    let of = |x: &Tensor, conj: bool| if conj { x.conj().unwrap() } else { x.clone() };
                    let (a, b) = (of(a, left), of(b, right));
                    let (x, y) = (a.to_vec::<Complex<f64>>().unwrap(), b.to_vec::<Complex<f64>>().unwrap());
                    for (i, got) in a.mm(&b).unwrap().to_vec::<Complex<f64>>().unwrap().into_iter().enumerate() {
                        let want: Complex<f64> = (0..k).map(|p| x[i / n * k + p] * y[p * n + i % n]).sum();
                        assert!((got - want).norm() <= 1e-14, "{m} x {n} x {k}: {got}, not {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn complex_products() {
        let xs = [complex_noise(1, &[3, 4]), complex_noise(2, &[4, 2])];
        gradcheck(&|x| x[0].mm(&x[1]), &xs);
        gradcheck(&|x| x[1].t()?.mm(&x[0].t()?), &xs);
        let i = Tensor::full(&[1, 1], Scalar::Complex(0.0, 1.0), DType::Complex64).unwrap();
        assert_eq!(i.mm(&i).unwrap().item().unwrap(), Scalar::Complex(-1.0, 0.0));
    }

    #[test]
    fn column_major_operands_get_column_major_gradients() {
        let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        let w = Tensor::empty_strided(&[3, 2], &[1, 3], DType::Float64).unwrap();
        crate::tensor::copy::copy_into(&noise(3, &[3, 2]), &w).unwrap();
        w.set_requires_grad(true).unwrap();
        let y = x.mm(&w).unwrap();
        let roots = vec![crate::autograd::engine::Root {
            edge: y.grad_edge().unwrap().unwrap(),
            grad: Tensor::full(&[2, 2], 1.0.into(), DType::Float64).unwrap(),
        }];
        let targets = vec![crate::autograd::engine::Target::Capture(w.grad_edge().unwrap().unwrap())];
        let call = crate::autograd::engine::Backward { roots, retain_graph: false, create_graph: false, targets };
        let g = crate::autograd::engine::run(call).unwrap().remove(0).unwrap();
        assert_eq!(g.strides(), &[1, 3]);
        assert_eq!(g.to_vec::<f64>().unwrap(), [5.0, 5.0, 7.0, 7.0, 9.0, 9.0]);
    }

    #[test]
    fn refusals_and_integers() {
        let f = |s: &[usize]| noise(1, s);
        let message = |r: Result<Tensor>| r.unwrap_err().to_string();
        assert!(
            message(f(&[2, 3]).mm(&f(&[4, 5]))).contains("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
        );
        assert!(message(f(&[3]).mm(&f(&[3, 5]))).contains("self must be a matrix"));
        let i = Tensor::from_slice(&[1i64, 2, 3, 4], &[2, 2]).unwrap();
        assert!(message(i.mm(&f(&[2, 2]))).contains("but got: long int != double"));
        assert_eq!(i.mm(&i).unwrap().to_vec::<i64>().unwrap(), [7, 10, 15, 22]);
        let b = Tensor::full(&[2, 2], true.into(), DType::Bool).unwrap();
        assert!(b.mm(&b).is_err());
    }
}
