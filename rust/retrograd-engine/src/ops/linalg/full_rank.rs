//! Solutions and pseudoinverses of matrices of full rank, by a QR decomposition that proves it; see
//! `retrograd_linalg::full_rank`. Other matrices, and those of which that is not clear, are left to singular values.

use retrograd_linalg::Decompose;
use retrograd_linalg::full_rank::{Tolerance, scratch};

use super::batch::{Entries, Given, batch_of, each, room, sizes_of};
use super::{adjoint, cost};
use crate::autograd::primitive::Outs;
use crate::error::Result;
use crate::match_dtype;
use crate::ops::index::along::index_select;
use crate::ops::view::reshape_to;
use crate::tensor::{Dims, Tensor, copy};

/// The matrices, or their adjoints if these are tall, and which it is.
fn tall(a: &Tensor) -> Result<(Tensor, bool)> {
    let (m, n) = sizes_of(a);
    Ok(if m < n { (adjoint(a)?, true) } else { (a.clone(), false) })
}

/// Tolerances (*, 2) of each matrix.
fn tolerances_of(tolerances: &Tensor, batch: &[usize]) -> Result<Entries<f64>> {
    Entries::vectors_of(tolerances, batch, 2)
}

/// The solutions of smallest length by least squares, and for each matrix whether its rank was proven to be full: other
/// matrices have no solution yet.
pub fn solve(a: &Tensor, b: &Tensor, tolerances: &Tensor) -> Result<(Tensor, Tensor)> {
    let ((m, n), (_, k), batch) = (sizes_of(a), sizes_of(b), batch_of(a));
    let (a, wide) = tall(a)?;
    let size @ (rows, columns) = sizes_of(&a);
    let tolerances = tolerances_of(tolerances, batch)?;
    let mut proven = Entries::<i32>::numbers(batch)?;
    let flops = (2 * rows * columns * (columns + k)) as f64;
    match_dtype!(fields, a.dtype(), T => {
        let (a, b, mut x) = (Given::<T>::of(&a)?, Given::<T>::of(b)?, Entries::<T>::matrices(batch, n, k)?);
        let room = || room::<T>(m * n + m * k + scratch(rows, columns, k));
        let parts = (a.read(), b.read(), tolerances.read(), x.write(), proven.write());
        each(parts, cost(flops), &room, &|room, (a, b, tolerance, x, proven)| {
            let (factors, room) = room.slice().split_at_mut(m * n);
            let (right, room) = room.split_at_mut(m * k);
            a.copy_to(factors);
            b.copy_to(right);
            let size = [size.0, size.1, k];
            let tolerance = Tolerance { atol: tolerance[0], rtol: tolerance[1] };
            let done = <T as Decompose>::solve_of_full_rank(size, factors, wide, right, x, tolerance, room);
            proven[0] = i32::from(done);
        })?;
        Ok((copy::row_major(&x.tensor())?, proven.tensor()))
    })
}

/// The pseudoinverses, and for each matrix whether its rank was proven to be full: others have no pseudoinverse yet.
pub fn inverse(a: &Tensor, tolerances: &Tensor) -> Result<(Tensor, Tensor)> {
    let batch = batch_of(a);
    let (a, wide) = tall(a)?;
    let (m, n) = sizes_of(&a);
    let tolerances = tolerances_of(tolerances, batch)?;
    let mut proven = Entries::<i32>::numbers(batch)?;
    let flops = (4 * m * n * n) as f64;
    match_dtype!(fields, a.dtype(), T => {
        let (a, mut p) = (Given::<T>::of(&a)?, Entries::<T>::matrices(batch, m, n)?);
        let room = || room::<T>(m * n + scratch(m, n, 0));
        let parts = (a.read(), tolerances.read(), p.write(), proven.write());
        each(parts, cost(flops), &room, &|room, (a, tolerance, p, proven)| {
            let (factors, room) = room.slice().split_at_mut(m * n);
            a.copy_to(factors);
            let tolerance = Tolerance { atol: tolerance[0], rtol: tolerance[1] };
            proven[0] = i32::from(<T as Decompose>::inverse_of_full_rank([m, n], factors, p, tolerance, room));
        })?;
        let p = p.tensor();
        Ok((if wide { copy::row_major(&p)? } else { adjoint(&p)? }, proven.tensor()))
    })
}

/// The results, with those of matrices that are not `proven` as `rest` computes them of the operands of these matrices.
pub fn complete(
    proven: &Tensor,
    operands: &[Tensor],
    results: Outs,
    rest: &dyn Fn(&[Tensor]) -> Result<Outs>,
) -> Result<Outs> {
    let found = proven.to_vec::<i32>()?;
    let left: Vec<i64> = (0..found.len()).filter(|&i| found[i] == 0).map(|i| i as i64).collect();
    if left.is_empty() {
        return Ok(results);
    }
    if left.len() == found.len() {
        return rest(operands);
    }
    let in_a_row = |x: &Tensor| {
        let sizes: Dims = std::iter::once(found.len()).chain(x.sizes()[proven.ndim()..].iter().copied()).collect();
        reshape_to(x, &sizes)
    };
    let index = Tensor::from_slice(&left, &[left.len()])?;
    let part = operands.iter().map(|x| index_select(&in_a_row(x)?, 0, &index)).collect::<Result<Vec<_>>>()?;
    // An error names the matrix by its place among all.
    let Ok(computed) = rest(&part) else { return rest(operands) };
    let whole = |(x, computed): (&Tensor, &Tensor)| {
        let to = in_a_row(&copy::contiguous(x)?)?;
        for (from, &i) in left.iter().enumerate() {
            copy::copy_into(&computed.select(0, from as i64)?, &to.select(0, i)?)?;
        }
        reshape_to(&to, x.sizes())
    };
    results.iter().zip(&computed).map(whole).collect()
}
