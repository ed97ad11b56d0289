//! The kernel on tensors: operands at any strides, read transposed on demand, unrecorded.

use smallvec::SmallVec;

use crate::autograd::primitive::{Outs, out};
use crate::error::{Error, Result};
use crate::kernels::matmul::{TERM_COST, gemm_conj, gemm_halves};
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::pointwise::{Map2, map2};
use crate::kernels::real::Ring;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::expanded_strides;
use crate::tensor::{DType, Dtypes, FromScalar, Scalar, Tensor, lazy};

/// A matrix (or a batch of them, its last two axes) as an operand: maybe read transposed.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub x: &'a Tensor,
    pub transposed: bool,
}

/// The operand as it is.
pub(super) fn plain(x: &Tensor) -> Side<'_> {
    Side { x, transposed: false }
}

/// The operand read transposed.
pub(super) fn flipped(x: &Tensor) -> Side<'_> {
    Side { x, transposed: true }
}

impl Side<'_> {
    fn last_two<T: Copy>(&self, of: &[T], absent: T) -> (T, T) {
        match (of, self.transposed) {
            (&[.., r, c], false) | (&[.., c, r], true) => (r, c),
            _ => (absent, absent),
        }
    }
    /// Rows and columns.
    pub(super) fn sizes(&self) -> (usize, usize) {
        self.last_two(self.x.sizes(), 0)
    }
    fn strides(&self) -> (isize, isize) {
        self.last_two(self.x.strides(), 0)
    }
}

/// The dtypes that there are products of.
pub(super) const MULTIPLIED: Dtypes = Dtypes::ALL.without(Dtypes::BOOL);

/// Writes (or adds) the product of two matrices, or of two batches of as many, to `out`.
///
/// All have as many dims, two or three. The callers checked the user's operands in their own words; what reaches here
/// unchecked is a gradient that a hook replaced. `out` has no lazy bits, and overlaps neither itself nor an operand.
pub(super) fn multiply(op: &'static str, a: Side, b: Side, out: &Tensor, accumulate: bool) -> Result<()> {
    if lazy::exist() && (a.x.lazy_bits().any() || b.x.lazy_bits().any()) {
        return multiply_lazy(op, a, b, out, accumulate);
    }
    multiply_memory(op, a, b, [false; 2], out, accumulate)
}

/// [`multiply`] of operands with lazy bits: the kernel reads conjugates, and copies serve for negatives.
#[cold]
fn multiply_lazy(op: &'static str, a: Side, b: Side, out: &Tensor, accumulate: bool) -> Result<()> {
    let memory = |x: &Tensor| if x.is_neg() { x.resolved() } else { x.without_bits() };
    let (x, y) = (memory(a.x)?, memory(b.x)?);
    let conj = [a.x, b.x].map(|x| x.is_conj() && !x.is_neg());
    multiply_memory(op, Side { x: &x, ..a }, Side { x: &y, ..b }, conj, out, accumulate)
}

/// [`multiply`] of the numbers in memory, of those operands conjugated of which `conj` says so.
fn multiply_memory(op: &'static str, a: Side, b: Side, conj: [bool; 2], out: &Tensor, accumulate: bool) -> Result<()> {
    let (mut m, k) = a.sizes();
    let mut n = b.sizes().1;
    let (mut a_rs, a_cs) = a.strides();
    let (b_rs, mut b_cs) = b.strides();
    let (mut c_rs, mut c_cs) = plain(out).strides();
    let rank = out.ndim();
    let same =
        |x: &Tensor| x.ndim() == rank && x.dtype() == out.dtype() && (rank != 3 || x.sizes()[0] == out.sizes()[0]);
    if !(same(a.x) && same(b.x) && matches!(rank, 2 | 3) && b.sizes().0 == k && plain(out).sizes() == (m, n)) {
        return Err(Error::shape(op, format!("{:?} and {:?} have no product like {out:?}", a.x, b.x)));
    }
    let batched = rank == 3;
    let mut batch = if batched { out.sizes()[0] } else { 1 };
    let step = |t: &Tensor| if batched { t.strides()[0] } else { 0 };
    let (sa, sb, sc) = (step(a.x), step(b.x), step(out));
    // A batch that shares one operand is one product: its rows, or columns, are those of all.
    let evenly = |count: usize, inner: isize, outer: isize| count == 1 || outer == inner * count as isize;
    if batch > 1 && sb == 0 && evenly(m, a_rs, sa) && evenly(m, c_rs, sc) {
        if m == 1 {
            (a_rs, c_rs) = (sa, sc);
        }
        (m, batch) = (m * batch, 1);
    } else if batch > 1 && sa == 0 && evenly(n, b_cs, sb) && evenly(n, c_cs, sc) {
        if n == 1 {
            (b_cs, c_cs) = (sb, sc);
        }
        (n, batch) = (n * batch, 1);
    }
    match_dtype!(arithmetic, out.dtype(), T => {
        let [pa, pb, pc] = [a.x, b.x, out].map(|t| SharedPtr(t.ptr::<T>()));
        let cost = batch as f64 * (m as f64 * n as f64 * k as f64) * TERM_COST;
        split(batch, 1, cost, &|part| {
            for i in part.start as isize..part.end as isize {
                // Without elements there is nothing the offset could reach: the kernel does not read.
                let (pa, pb) = (pa.get().wrapping_offset(i * sa), pb.get().wrapping_offset(i * sb));
                let pc = pc.get().wrapping_offset(i * sc);
                // SAFETY: (1), (2) S1 and S3 for the matrix at position `i` of each tensor, sizes and dtypes as just
                // checked (rows or columns of several matrices at even distances, where they are one product);
                // with `accumulate` the callers filled `out`. (3) `out` overlaps neither itself nor an operand. (4) S4,
                // and no other piece has this matrix.
                unsafe {
                    let (pa, pb) = (pa.cast_const(), pb.cast_const());
                    gemm_conj(m, n, k, pa, a_rs, a_cs, pb, b_rs, b_cs, accumulate, pc, c_rs, c_cs, conj);
                }
            }
        });
        Ok(())
    }, else {
        let half = out.dtype().half().unwrap_or_else(|| undeclared(out.dtype()));
        let [pa, pb, pc] = [a.x, b.x, out].map(|t| t.op_ptr().cast::<u16>());
        for i in 0..batch as isize {
            let (pa, pb, pc) = (pa.wrapping_offset(i * sa), pb.wrapping_offset(i * sb), pc.wrapping_offset(i * sc));
            // SAFETY: as above.
            unsafe { gemm_halves(half, m, n, k, pa, a_rs, a_cs, pb, b_rs, b_cs, accumulate, pc, c_rs, c_cs) }
        }
        Ok(())
    })
}

/// The product of two matrices as a fresh row-major tensor.
pub(super) fn fresh2(op: &'static str, a: Side, b: Side) -> Result<Tensor> {
    let out = Tensor::empty(&[a.sizes().0, b.sizes().1], a.x.dtype())?;
    multiply(op, a, b, &out, false)?;
    Ok(out)
}

/// The product of two batches of matrices as a fresh row-major tensor.
pub(super) fn fresh3(op: &'static str, a: Side, b: Side) -> Result<Tensor> {
    let batch = a.x.sizes().first().copied().unwrap_or(0);
    let out = Tensor::empty(&[batch, a.sizes().0, b.sizes().1], a.x.dtype())?;
    multiply(op, a, b, &out, false)?;
    Ok(out)
}

/// `alpha * p + beta * x`.
struct Blend<T> {
    alpha: T,
    beta: T,
}
impl<T: Ring> Map2<T, T, T> for Blend<T> {
    #[inline(always)]
    fn f(&self, p: T, x: T) -> T {
        self.alpha.mul(p).add(self.beta.mul(x))
    }
}

/// Whether a factor changes nothing.
pub(super) fn is_one(factor: Scalar) -> bool {
    match factor {
        Scalar::Complex(re, im) => re == 1.0 && im == 0.0,
        s => s.as_f64() == 1.0,
    }
}

/// Runs a sum with factors in float32, where the operands are halves and the factors not both one: then the result is
/// rounded once.
pub(super) fn rounded_once(
    factors: Factors,
    xs: &[&Tensor],
    run: impl FnOnce(&[&Tensor]) -> Result<Outs>,
) -> Result<Outs> {
    let dtype = xs[0].dtype();
    if dtype.half().is_none() || factors.plain(dtype) {
        return run(xs);
    }
    let wide = xs.iter().map(|x| copy::cast(x, DType::Float32)).collect::<Result<SmallVec<[Tensor; 3]>>>()?;
    let sum = run(&wide.iter().collect::<SmallVec<[&Tensor; 3]>>())?;
    copy::cast(&sum[0], dtype).map(out)
}

/// How `beta * input + alpha * product` treats its factors.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub beta: Scalar,
    pub alpha: Scalar,
}

impl Factors {
    /// Whether both are one in this dtype, so that the product can be added to the input in the kernel.
    fn plain(self, dtype: DType) -> bool {
        let one = |s: Scalar| match s {
            Scalar::Float(x) if dtype.is_integral() => x as i64 == 1,
            s => is_one(s),
        };
        one(self.beta) && one(self.alpha)
    }

    /// Complex factors have no place in a real product.
    pub(super) fn check(self, op: &'static str, dtype: DType) -> Result<()> {
        for s in [self.beta, self.alpha] {
            if matches!(s, Scalar::Complex(..)) && !dtype.is_complex() {
                return Err(Error::dtype(op, "beta and alpha must be real numbers for real operands"));
            }
        }
        Ok(())
    }

    /// `beta * input + alpha * product` as a fresh row-major tensor; with `beta == 0` the input is not read, and with
    /// `alpha == 0` the product is not computed if `lazy`.
    pub(super) fn apply(
        self,
        op: &'static str,
        input: &Tensor,
        sizes: &[usize],
        lazy: bool,
        product: impl FnOnce(&Tensor, bool) -> Result<()>,
    ) -> Result<Tensor> {
        let dtype = input.dtype();
        let out = Tensor::empty(sizes, dtype)?;
        if self.plain(dtype) {
            fill_rows(input, &out)?;
            product(&out, true)?;
            return Ok(out);
        }
        let zero = |s: Scalar| if dtype.is_integral() { s.as_i64() == 0 } else { s.is_zero() };
        let input = &input.resolved()?;
        if lazy && zero(self.alpha) {
            out_zero(&out)?;
        } else {
            product(&out, false)?;
        }
        let input = if zero(self.beta) { &Tensor::full(&[], Scalar::Int(0), dtype)? } else { input };
        let strides = expanded_strides(input.sizes(), input.strides(), sizes);
        match_dtype!(arithmetic of op, dtype, T => {
            let f = Blend { alpha: T::from_scalar(self.alpha), beta: T::from_scalar(self.beta) };
            let p = out.ptr::<T>();
            // SAFETY: (1) S1 and S3, and the expansion of the input to `sizes`; (2) the output is operand 0, and fresh,
            // so disjoint from the input; (3) it is contiguous.
            unsafe { map2(&f, sizes, p.cast_const(), out.strides(), input.ptr::<T>().cast_const(), &strides, p, out.strides()) };
        });
        Ok(out)
    }

    /// As [`Factors::apply`], onto the input itself; `false` if that cannot be done at once.
    pub(super) fn apply_onto(
        self,
        out: &Tensor,
        operands: [&Tensor; 2],
        sizes: &[usize],
        product: impl FnOnce(&Tensor, bool) -> Result<()>,
    ) -> Result<bool> {
        let apart = operands.iter().all(|x| !copy::ranges_meet(x, out)) && !out.lazy_bits().any();
        if out.sizes() != sizes || !out.is_contiguous() || !self.plain(out.dtype()) || !apart {
            return Ok(false);
        }
        product(out, true)?;
        Ok(true)
    }
}

fn out_zero(out: &Tensor) -> Result<()> {
    copy::copy_into(&Tensor::full(&[], Scalar::Int(0), out.dtype())?, out)
}

/// Copies the input, expanded, to a fresh row-major `out`; a bias (one row for all) row by row.
fn fill_rows(input: &Tensor, out: &Tensor) -> Result<()> {
    let &[rows, cols] = out.sizes() else { return copy::copy_into(input, out) };
    if !(input.ndim() == 1 && input.is_contiguous() && input.numel() == cols && !input.lazy_bits().any()) {
        return copy::copy_into(input, out);
    }
    match_dtype!(any, out.dtype(), T => {
        let (from, to) = (input.ptr::<T>().cast_const(), out.ptr::<T>());
        for i in 0..rows {
            // SAFETY: S1 and S3: `cols` elements of the input, and row `i` of the fresh row-major output.
            unsafe { std::ptr::copy_nonoverlapping(from, to.add(i * cols), cols) }
        }
    });
    Ok(())
}

/// The refusal of matrices whose inner sizes differ.
#[cold]
pub(super) fn inner_sizes(op: &'static str, a: (usize, usize), b: (usize, usize)) -> Error {
    Error::shape(
        op,
        format!(
            "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{}): the columns of mat1 must be as many as the rows \
             of mat2; transpose one with .t() if that was meant",
            a.0, a.1, b.0, b.1
        ),
    )
}

/// The refusal of an operand that does not expand to the result.
#[cold]
pub(super) fn not_expandable(op: &'static str, input: &[usize], sizes: &[usize]) -> Error {
    use crate::error::Sizes;
    if input.len() > sizes.len() {
        return Error::shape(
            op,
            format!(
                "input of sizes {} does not expand to {}: the number of sizes provided ({}) must be greater or equal to the \
                 number of dimensions in the tensor ({})",
                Sizes(input),
                Sizes(sizes),
                sizes.len(),
                input.len()
            ),
        );
    }
    let lead = sizes.len() - input.len();
    let axis = (0..input.len()).find(|&i| input[i] != 1 && input[i] != sizes[lead + i]).unwrap_or(0);
    Error::shape(
        op,
        format!(
            "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  Target \
             sizes: {}.  Tensor sizes: {}",
            sizes.get(lead + axis).copied().unwrap_or(1),
            input.get(axis).copied().unwrap_or(1),
            lead + axis,
            Sizes(sizes),
            Sizes(input)
        ),
    )
}
