//! Powers at equal distances, and the indices of triangles.

use std::f64::consts::PI;

use num_complex::Complex;
use retrograd_macros::op;

use super::range::{check_ends, default_dtype_of, parts};
use crate::error::{Error, ErrorKind, Result};
use crate::match_dtype;
use crate::ops::TensorOptions;
use crate::ops::pointwise::check_number;
use crate::tensor::copy;
use crate::tensor::{DType, FromScalar, Scalar, Tensor};

/// `steps` powers of `base`, whose exponents are evenly spaced from `start` to `end`, both included.
///
/// Args: `start`, `end` numbers (whole ones for an integer dtype); `steps` how many; `base` a number; `dtype` (the
/// default float dtype). Returns: a vector of `steps` elements. Raises: RuntimeError if `steps` is negative.
///
/// >>> rg.logspace(0, 2, 3).tolist()
/// [1.0, 10.0, 100.0]
#[op(function, out, "(base=10.0)")]
pub fn logspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    base: f64,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    let dtype = options.dtype_or("logspace", default_dtype_of([start, end]))?;
    for number in [start, end] {
        check_number("logspace", number, dtype)?;
    }
    let n = usize::try_from(steps)
        .map_err(|_| Error::shape("logspace", format!("number of steps must be non-negative, got {steps}")))?;
    if dtype == DType::Bool {
        return Err(ErrorKind::NoKernel { op: "logspace", kernel: "logspace_cpu", dtype }.into());
    }
    // The ends are numbers of the dtype, unless there is but one; those between are not.
    let number = |x: Scalar| if n == 1 { Ok(x) } else { Tensor::full(&[], x, dtype)?.item() };
    let ends = parts([number(start)?, number(end)?]);
    let exponents = |[a, b]: [f64; 2]| {
        let step = if n > 1 { (b - a) / (n - 1) as f64 } else { 0.0 };
        let at = |i: usize| if i < n / 2 || n == 1 { a + step * i as f64 } else { b - step * (n - 1 - i) as f64 };
        let exact = Tensor::from_slice(&(0..n).map(at).collect::<Vec<f64>>(), &[n])?;
        if dtype.is_integral() { Ok(exact) } else { copy::cast(&exact, dtype.real()) }?.to_vec::<f64>()
    };
    let [re, im] = [exponents(ends[0])?, exponents(ends[1])?];
    let t = if dtype.is_complex() {
        // In polar coordinates: a negative base points the other way.
        let (log, angle) = (base.abs().ln(), if base < 0.0 { PI } else { 0.0 });
        let powers = re.iter().zip(&im).map(|(&re, &im)| {
            let (size, turn) = ((re * log - im * angle).exp(), re * angle + im * log);
            Complex::new(size * turn.cos(), size * turn.sin())
        });
        Tensor::from_slice(&powers.collect::<Vec<_>>(), &[n])?
    } else {
        Tensor::from_slice(&re.iter().map(|&x| base.powf(x)).collect::<Vec<_>>(), &[n])?
    };
    let t = copy::cast(&t, dtype)?;
    options.leaf(t)
}

/// As above, between exponents that tensors hold.
///
/// Args: `start`, `end` 0-dim tensors or numbers, whose values are read; the rest as above. Returns: as above, without
/// a gradient for the ends. Raises: RuntimeError for ends with dims.
///
/// >>> rg.logspace(rg.tensor(0.0), 2, 3, 2.0).tolist()
/// [1.0, 2.0, 4.0]
#[op(function, out, name = "logspace", "(base=10.0)")]
pub fn logspace_tensors(
    #[operand] start: &Tensor,
    #[operand] end: &Tensor,
    steps: i64,
    base: f64,
    #[options] options: TensorOptions,
) -> Result<Tensor> {
    check_ends("logspace", start, end)?;
    logspace(start.item()?, end.item()?, steps, base, options)
}

/// The rows and columns of the elements of a triangle, in two rows.
fn triangle(op: &'static str, row: i64, col: i64, offset: i64, upper: bool, options: TensorOptions) -> Result<Tensor> {
    let size = |name: &str, n: i64| {
        usize::try_from(n)
            .map_err(|_| Error::shape(op, format!("{name} must be non-negative, got{n}: sizes are 0 or more")))
    };
    let (rows, columns) = (size("row", row)?, size("col", col)?);
    let dtype = options.dtype_or(op, DType::Int64)?;
    // In row `i` the triangle ends, or begins, at column `i + first`, or at the matrix's edge. Rows from `enters` on
    // have such a column, and those from `leaves` on are beyond the last one.
    let first = i128::from(offset) + i128::from(!upper);
    let edge = |i: usize| (i as i128 + first).clamp(0, columns as i128) as usize;
    let enters = (-first).clamp(0, rows as i128) as usize;
    let leaves = (columns as i128 - first).clamp(enters as i128, rows as i128) as usize;
    let span = |i: usize| if upper { edge(i)..columns } else { 0..edge(i) };
    let (full, there) = if upper { (enters, 0..leaves) } else { (rows - leaves, enters..rows) };
    // Rows that are cut, by what is left of them: an arithmetic series.
    let cut = (leaves - enters) as i128;
    let left = |i: usize| span(i).len() as i128;
    let series = if cut == 0 { 0 } else { (left(enters) + left(leaves - 1)) * cut / 2 };
    let n = usize::try_from(full as i128 * columns as i128 + series).unwrap_or(usize::MAX);
    let there = if columns == 0 { 0..0 } else { there };
    match_dtype!(ints of op, dtype, T => Tensor::build::<T>(&[2, n], |out| {
        let (mut at_row, mut at_column) = out.split_at_mut(n);
        for i in there {
            let columns = span(i);
            let (rows, later_rows) = at_row.split_at_mut(columns.len());
            let (places, later_places) = at_column.split_at_mut(columns.len());
            rows.fill(T::from_scalar(Scalar::Int(i as i64)));
            places.iter_mut().zip(columns).for_each(|(place, j)| *place = T::from_scalar(Scalar::Int(j as i64)));
            (at_row, at_column) = (later_rows, later_places);
        }
    }))
}

/// The indices of the lower triangle of a matrix: a row of rows and a row of columns.
///
/// Args: `row`, `col` the sizes of the matrix; `offset` the last diagonal of the triangle (0 the main one, above it
/// positive); `dtype` an integer one (int64). Returns: a tensor of sizes (2, n). Raises: RuntimeError for a negative
/// size; NotImplementedError for another dtype.
///
/// >>> rg.tril_indices(2, 2).tolist()
/// [[0, 1, 1], [0, 0, 1]]
#[op(function, "(offset=0)")]
pub fn tril_indices(row: i64, col: i64, offset: i64, #[options] options: TensorOptions) -> Result<Tensor> {
    triangle("tril_indices", row, col, offset, false, options)
}

/// The indices of the upper triangle of a matrix: a row of rows and a row of columns.
///
/// Args: `row`, `col` the sizes of the matrix; `offset` the first diagonal of the triangle (0 the main one, above it
/// positive); `dtype` an integer one (int64). Returns: a tensor of sizes (2, n). Raises: as `tril_indices`.
///
/// >>> rg.triu_indices(2, 2).tolist()
/// [[0, 0, 1], [0, 1, 1]]
#[op(function, "(offset=0)")]
pub fn triu_indices(row: i64, col: i64, offset: i64, #[options] options: TensorOptions) -> Result<Tensor> {
    triangle("triu_indices", row, col, offset, true, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_by_the_definition() {
        for [rows, columns] in [[0, 3], [3, 0], [1, 1], [2, 5], [5, 2], [4, 4]] {
            for offset in [-7, -2, -1, 0, 1, 3, 9, i64::MIN, i64::MAX] {
                for upper in [false, true] {
                    let is_in = |i: i64, j: i64| {
                        let on = i128::from(i) + i128::from(offset);
                        if upper { i128::from(j) >= on } else { i128::from(j) <= on }
                    };
                    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
                    let (mut want, second): (Vec<i64>, Vec<i64>) = all.filter(|&(i, j)| is_in(i, j)).unzip();
                    want.extend(second);
                    let got = triangle("tril_indices", rows, columns, offset, upper, DType::Int64.into()).unwrap();
                    assert_eq!(got.to_vec::<i64>().unwrap(), want, "{rows} {columns} {offset} {upper}");
                }
            }
        }
    }
}
