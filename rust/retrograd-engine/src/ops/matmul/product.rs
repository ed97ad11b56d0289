//! The kernel on tensors: operands at any strides, read transposed on demand, unrecorded.

use std::ops::Range;

use smallvec::SmallVec;

use crate::autograd::primitive::{Outs, out};
use crate::error::{Error, Result};
use crate::kernels::matmul::{GemmScalar, dots_of_halves, gemm_batch, gemm_bf16, gemm_conj, term_cost};
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::pointwise::{Half, Map2, map2, repeat};
use crate::kernels::real::Ring;
use crate::kernels::thresholds::matmul::WIDENED;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::dtype::undeclared;
use crate::tensor::layout::{Dims, expanded_strides};
use crate::tensor::{DType, Dtypes, FromScalar, Scalar, Tensor, lazy};

/// A matrix (or a batch of them, its last two axes) as an operand: maybe read transposed.
#[derive(Clone, Copy)]
pub(in crate::ops) struct Side<'a> {
    pub x: &'a Tensor,
    pub transposed: bool,
}

/// The operand as it is.
pub(in crate::ops) fn plain(x: &Tensor) -> Side<'_> {
    Side { x, transposed: false }
}

/// The operand read transposed.
pub(in crate::ops) fn flipped(x: &Tensor) -> Side<'_> {
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

/// A product of two matrices, as the kernel takes it: sizes, and the distances of rows and of columns.
#[derive(Clone, Copy)]
struct Product {
    m: usize,
    n: usize,
    k: usize,
    a: (isize, isize),
    b: (isize, isize),
    c: (isize, isize),
    conj: [bool; 2],
    accumulate: bool,
}

impl Product {
    /// # Safety
    /// The duties of [`gemm_conj`].
    #[inline(always)]
    unsafe fn run<T: GemmScalar>(&self, a: *const T, b: *const T, c: *mut T) {
        let Self { m, n, k, a: (a_rs, a_cs), b: (b_rs, b_cs), c: (c_rs, c_cs), conj, accumulate } = *self;
        // SAFETY: those of callers.
        unsafe { gemm_conj(m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj) }
    }
    /// # Safety
    /// The duties of [`gemm_batch`].
    #[inline(always)]
    unsafe fn run_all<T: GemmScalar>(&self, batch: Batch, a: *const T, b: *const T, c: *mut T) {
        let Self { m, n, k, a: (a_rs, a_cs), b: (b_rs, b_cs), c: (c_rs, c_cs), conj, accumulate } = *self;
        let apart = [batch.a, batch.b, batch.c];
        // SAFETY: those of callers.
        unsafe {
            gemm_batch(batch.count, apart, m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj);
        }
    }
}

/// How many products there are, and the distances of their operands and results.
#[derive(Clone, Copy)]
struct Batch {
    count: usize,
    a: isize,
    b: isize,
    c: isize,
}

impl Batch {
    const ONE: Self = Self { count: 1, a: 0, b: 0, c: 0 };

    /// A batch that shares one operand is one product: its rows, or columns, are those of all.
    fn join(self, p: &mut Product) -> Self {
        let evenly = |count: usize, inner: isize, outer: isize| count == 1 || outer == inner * count as isize;
        if self.count <= 1 {
            return self;
        }
        if self.b == 0 && evenly(p.m, p.a.0, self.a) && evenly(p.m, p.c.0, self.c) {
            if p.m == 1 {
                (p.a.0, p.c.0) = (self.a, self.c);
            }
            p.m *= self.count;
            return Self::ONE;
        }
        if self.a == 0 && evenly(p.n, p.b.1, self.b) && evenly(p.n, p.c.1, self.c) {
            if p.n == 1 {
                (p.b.1, p.c.1) = (self.b, self.c);
            }
            p.n *= self.count;
            return Self::ONE;
        }
        self
    }
}

/// [`multiply`] of the numbers in memory, of those operands conjugated of which `conj` says so.
fn multiply_memory(op: &'static str, a: Side, b: Side, conj: [bool; 2], out: &Tensor, accumulate: bool) -> Result<()> {
    let ((m, k), (inner, n)) = (a.sizes(), b.sizes());
    let (rank, dtype) = (out.ndim(), out.dtype());
    let same = |x: &Tensor| x.ndim() == rank && x.dtype() == dtype && (rank != 3 || x.sizes()[0] == out.sizes()[0]);
    if !(same(a.x) && same(b.x) && matches!(rank, 2 | 3) && inner == k && plain(out).sizes() == (m, n)) {
        return Err(Error::shape(op, format!("{:?} and {:?} have no product like {out:?}", a.x, b.x)));
    }
    let mut p = Product { m, n, k, a: a.strides(), b: b.strides(), c: plain(out).strides(), conj, accumulate };
    let batch = if rank == 2 {
        Batch::ONE
    } else {
        let step = |t: &Tensor| t.strides()[0];
        Batch { count: out.sizes()[0], a: step(a.x), b: step(b.x), c: step(out) }.join(&mut p)
    };
    let p = p;
    match_dtype!(arithmetic, dtype, T => {
        let [pa, pb, pc] = [a.x, b.x, out].map(|t| SharedPtr(t.ptr::<T>()));
        let run = |part: Range<usize>| {
            let (i, batch) = (part.start as isize, Batch { count: part.len(), ..batch });
            // Without elements there is nothing the offset could reach: the kernel does not read.
            let (pa, pb) = (pa.get().wrapping_offset(i * batch.a), pb.get().wrapping_offset(i * batch.b));
            let pc = pc.get().wrapping_offset(i * batch.c);
            // SAFETY: (1), (2) S1 and S3 for the matrices at the positions `part` of each tensor, sizes and dtypes as
            // just checked (rows or columns of several matrices at even distances, where they are one product);
            // with `accumulate` the callers filled `out`. (3) `out` overlaps neither itself nor an operand. (4) S4,
            // and no other piece has these matrices.
            unsafe { p.run_all(batch, pa.cast_const(), pb.cast_const(), pc) }
        };
        if batch.count == 1 {
            // SAFETY: as above, for the only matrix of each.
            unsafe { p.run(pa.get().cast_const(), pb.get().cast_const(), pc.get()) }
            return Ok(());
        }
        let cost = batch.count as f64 * (p.m as f64 * p.n as f64 * p.k as f64) * term_cost::<T>();
        split(batch.count, 1, cost, &run);
        Ok(())
    }, else multiply_halves(op, a, b, out, &p, batch))
}

/// Terms of dot products of halves that are worth a loop each, unless there are few of them.
const LONG_DOT: usize = 32;

/// [`multiply`] of halves: sums are float32, and each element of the result is rounded once. One row or column, whose
/// product has little to do with each element, is read as it lies; bfloat16 goes by the CPU's matrix unit, if it has
/// one; everything else by way of float32. `p` and `batch` say the same of the matrices as the operands.
fn multiply_halves(op: &'static str, a: Side, b: Side, out: &Tensor, p: &Product, batch: Batch) -> Result<()> {
    let ((m, k), (_, n)) = (a.sizes(), b.sizes());
    let ((a_rs, a_cs), (b_rs, b_cs), (c_rs, c_cs)) = (a.strides(), b.strides(), plain(out).strides());
    let is_one = out.ndim() == 2 || out.sizes()[0] == 1;
    let half = out.dtype().half().unwrap_or_else(|| undeclared(out.dtype()));
    let [pa, pb, pc] = [a.x, b.x, out].map(|t| t.op_ptr().cast::<u16>());
    let (rows, long) = (m.max(n), k >= LONG_DOT);
    if m.min(n) == 1 && (long || rows < LONG_DOT) && a_cs == 1 && b_rs == 1 && !p.accumulate && is_one {
        // SAFETY: S1 and S3 for rows of one operand, the one row or column of the other, and `out`, which overlaps
        // neither.
        unsafe {
            match n {
                1 => dots_of_halves(half, [m, k], pa, a_rs, pb, pc, c_rs),
                _ => dots_of_halves(half, [n, k], pb, b_cs, pa, pc, c_cs),
            }
        }
        return Ok(());
    }
    if half == Half::BF16 {
        let Product { m, n, k, a: (a_rs, a_cs), b: (b_rs, b_cs), c: (c_rs, c_cs), accumulate, .. } = *p;
        let apart = [batch.a, batch.b, batch.c];
        // SAFETY: as in `multiply_memory`, for all matrices of the batch.
        let done = unsafe {
            gemm_bf16(batch.count, apart, m, n, k, pa, a_rs, a_cs, pb, b_rs, b_cs, accumulate, pc, c_rs, c_cs)
        };
        if done {
            return Ok(());
        }
    }
    multiply_wide(op, a, b, out, p.accumulate)
}

/// [`multiply_halves`] by way of float32, a part of the larger operand at a time: of a batch some matrices, of a matrix
/// some rows or columns.
fn multiply_wide(op: &'static str, a: Side, b: Side, out: &Tensor, accumulate: bool) -> Result<()> {
    let (last, [x, y]) = (out.ndim() - 1, [a.x, b.x].map(|x| x.numel()));
    if x.max(y) > WIDENED {
        // The axis of A, of B and of `out` that is cut.
        let [rows, columns] = [last - usize::from(!a.transposed), last - usize::from(b.transposed)];
        let axes = match () {
            () if last == 2 && out.sizes()[0] > 1 => [Some(0), Some(0), Some(0)],
            () if x < y => [None, Some(columns), Some(last)],
            () => [Some(rows), None, Some(last - 1)],
        };
        let n = axes[2].map_or(1, |axis| out.sizes()[axis]);
        if n > 1 {
            for range in [0..n / 2, n / 2..n] {
                let [x, y, out] = [(a.x, axes[0]), (b.x, axes[1]), (out, axes[2])].map(|(x, axis)| match axis {
                    None => Ok(x.clone()),
                    Some(axis) => part(x, axis, range.clone()),
                });
                let (x, y, out) = (x?, y?, out?);
                multiply_wide(op, Side { x: &x, ..a }, Side { x: &y, ..b }, &out, accumulate)?;
            }
            return Ok(());
        }
    }
    let wide = |t: &Tensor| copy::cast(t, DType::Float32);
    let (x, y) = (wide(a.x)?, wide(b.x)?);
    let sum = if accumulate { wide(out)? } else { out.empty_like_layout(DType::Float32)? };
    multiply_memory(op, Side { x: &x, ..a }, Side { x: &y, ..b }, [false; 2], &sum, accumulate)?;
    copy::copy_into(&sum, out)
}

/// Some of the positions along an axis.
fn part(x: &Tensor, axis: usize, range: Range<usize>) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(x.sizes());
    sizes[axis] = range.len();
    // An operand's position along an axis is in its memory.
    let offset = x.storage_offset().wrapping_add_signed(range.start as isize * x.strides()[axis]);
    x.memory_as(x.dtype(), x.lazy_bits(), &sizes, x.strides(), offset)
}

/// The product of two matrices as a fresh row-major tensor.
pub(super) fn fresh2(op: &'static str, a: Side, b: Side) -> Result<Tensor> {
    let out = Tensor::empty(&[a.sizes().0, b.sizes().1], a.x.dtype())?;
    multiply(op, a, b, &out, false)?;
    Ok(out)
}

/// The product of two batches of matrices as a fresh row-major tensor.
pub(in crate::ops) fn fresh3(op: &'static str, a: Side, b: Side) -> Result<Tensor> {
    let batch = a.x.sizes().first().copied().unwrap_or(0);
    let out = Tensor::empty(&[batch, a.sizes().0, b.sizes().1], a.x.dtype())?;
    multiply(op, a, b, &out, false)?;
    Ok(out)
}

/// `alpha * p + beta * x`.
#[derive(Clone, Copy)]
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
        input: &Tensor,
        operands: [&Tensor; 2],
        sizes: &[usize],
        product: impl FnOnce(&Tensor, bool) -> Result<()>,
    ) -> Result<bool> {
        let apart = operands.iter().all(|x| !copy::ranges_meet(x, out)) && !out.lazy_bits().any();
        if out.sizes() != sizes || !out.is_contiguous() || !self.plain(out.dtype()) || !apart {
            return Ok(false);
        }
        if !input.is_same(out) {
            if copy::ranges_meet(input, out) || input.dtype() != out.dtype() {
                return Ok(false);
            }
            fill_rows(input, out)?;
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
        let (row, all) = (cols.min(rows * cols), rows * cols);
        // SAFETY: S1 and S3: up to `cols` elements of the input, and those of the fresh row-major output. (1) As many
        // as were just written.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, row);
            repeat(to.cast(), row * size_of::<T>(), all * size_of::<T>());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose sums are exact in float32.
    fn integers(sizes: &[usize], shift: usize) -> Tensor {
        let values: Vec<f32> =
            (0..sizes.iter().product()).map(|i: usize| ((i * 37 + shift) % 15) as f32 - 7.0).collect();
        Tensor::from_slice(&values, sizes).unwrap()
    }

    /// The product of halves is that of float32, rounded once.
    fn check(a: &Tensor, b: &Tensor, [m, n]: [usize; 2], dtype: DType) {
        let _reading = crate::storage::reclaim::reading();
        let narrow = |x: &Tensor| copy::cast(x, dtype).unwrap();
        let flip = |x: &Tensor| x.transpose(-1, -2).unwrap();
        let sizes = if a.ndim() == 3 { vec![a.sizes()[0], m, n] } else { vec![m, n] };
        for accumulate in [false, true] {
            let start = integers(&sizes, 3);
            let want = copy::copy(&start).unwrap();
            multiply("mm", plain(a), plain(b), &want, accumulate).unwrap();
            let want = narrow(&want).to_vec::<f32>().unwrap();
            let (ha, hb) = (narrow(a), narrow(b));
            let (fa, fb) = (copy::copy(&flip(&ha)).unwrap(), copy::copy(&flip(&hb)).unwrap());
            // As they lie, read transposed, and written transposed.
            let across = copy::copy(&flip(&narrow(&start))).unwrap();
            for (x, y, out) in [
                (plain(&ha), plain(&hb), narrow(&start)),
                (flipped(&fa), flipped(&fb), narrow(&start)),
                (plain(&ha), flipped(&fb), flip(&across)),
            ] {
                multiply("mm", x, y, &out, accumulate).unwrap();
                let got = copy::cast(&out, DType::Float32).unwrap().to_vec::<f32>().unwrap();
                assert!(got == want, "{dtype:?} {:?} {:?} {accumulate}", a.sizes(), b.sizes());
            }
        }
    }

    #[test]
    fn products_of_halves_are_rounded_once() {
        // Operands of which no more than a part is made float32 at a time: columns of B, rows of A, a batch, and terms
        // alone, which are not cut.
        let long = WIDENED / 8 + 3;
        let zeros = Tensor::zeros(&[WIDENED + 1, 1], DType::Float32).unwrap();
        for dtype in [DType::Float16, DType::BFloat16] {
            for (m, n, k) in [(1, 1, 0), (1, 3, 2), (3, 1, 4), (5, 7, 9), (70, 33, 100), (16, 65, 20), (0, 3, 2)] {
                check(&integers(&[m, k], 11), &integers(&[k, n], 5), [m, n], dtype);
                check(&integers(&[3, m, k], 11), &integers(&[3, k, n], 5), [m, n], dtype);
            }
            check(&integers(&[2, 9], 1), &integers(&[9, long], 2), [2, long], dtype);
            check(&integers(&[long, 9], 1), &integers(&[9, 2], 2), [long, 2], dtype);
            check(&integers(&[9, long, 1], 1), &integers(&[9, 1, 2], 2), [long, 2], dtype);
            check(&integers(&[1, WIDENED + 1], 1), &zeros, [1, 1], dtype);
        }
    }
}
