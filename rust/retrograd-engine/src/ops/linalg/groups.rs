//! Small real matrices, a group of them at a time: see `retrograd_linalg::jacobi`.

use retrograd_linalg::Grouped;
use retrograd_linalg::jacobi::Lanes;

use super::batch::{Entries, batch_of, each, sizes_of};
use crate::error::Result;
use crate::ops::view::reshape_to;
use crate::tensor::{DType, Dims, Element, Tensor, copy};

/// Matrices that are worth a group, however small they are.
const SOME: usize = 4;

/// What pays in groups: matrices of so many columns, at most, if there are more of them than columns over the share. A
/// group takes as long however many of its matrices there are.
///
/// In microseconds, of float32, in a group and one by one: eigenvalues of 4 columns 4.1 and 1.1, of 12 17.6 and 3.8;
/// with vectors 4.6 and 1.7, 17.7 and 5.8; singular values of 24 columns 97 and 15; with vectors of 12 26 and 12.
#[derive(Clone, Copy)]
pub struct Pays {
    columns: usize,
    share: usize,
}

/// What pays for eigenvalues, with vectors and without.
pub fn of_eigenvalues(vectors: bool) -> Pays {
    Pays { columns: 16, share: if vectors { 4 } else { 3 } }
}

/// What pays for singular values, with vectors and without.
pub fn of_singular_values(vectors: bool) -> Pays {
    Pays { columns: 32, share: if vectors { 6 } else { 3 } }
}

impl Pays {
    /// For the real matrices of `x`, or their transposes.
    pub fn for_all(self, x: &Tensor) -> bool {
        let ((m, n), count) = (sizes_of(x), batch_of(x).iter().product::<usize>());
        let (n, lanes) = (m.min(n), if x.dtype() == DType::Float64 { f64::LANES } else { f32::LANES });
        !x.dtype().is_complex() && count >= SOME && (1..=self.columns).contains(&n) && self.share * count.min(lanes) > n
    }
}

/// Whether the singular values of all these matrices take less time than a QR decomposition of each. 1000 matrices of
/// 4x4 take 0.4 ms and 0.9, 138 of 12x12 0.56 and 0.76, 78 of 16x16 0.64 and 0.44, one of 4x4 13 us and 4.7.
pub fn beat_qr(x: &Tensor) -> bool {
    let ((m, n), count) = (sizes_of(x), batch_of(x).iter().product::<usize>());
    !x.dtype().is_complex() && m.min(n) <= 12 && count >= 16
}

/// The groups of the matrices of `x`, element after element, column by column.
fn gathered<T: Element + Grouped>(x: &Tensor) -> Result<Tensor> {
    let ((m, n), lanes) = (sizes_of(x), T::LANES);
    let count: usize = batch_of(x).iter().product();
    let groups = count.div_ceil(lanes);
    let from = reshape_to(&x.transpose(-2, -1)?, &[count, m * n])?;
    let (full, rest) = (count / lanes, count % lanes);
    let to = if rest == 0 { Tensor::empty } else { Tensor::zeros }(&[groups, m * n, lanes], T::DTYPE)?;
    if full > 0 {
        let part = reshape_to(&from.narrow(0, 0, (full * lanes) as i64)?, &[full, lanes, m * n])?;
        copy::copy_into(&part.transpose(1, 2)?, &to.narrow(0, 0, full as i64)?)?;
    }
    if rest > 0 {
        let part = from.narrow(0, (full * lanes) as i64, rest as i64)?.transpose(0, 1)?;
        copy::copy_into(&part, &to.select(0, full as i64)?.narrow(1, 0, rest as i64)?)?;
    }
    Ok(to)
}

/// What groups have of each matrix, with the axes `last`.
fn scattered(x: &Tensor, batch: &[usize], last: &[usize]) -> Result<Tensor> {
    let &[groups, elements, lanes] = x.sizes() else { unreachable!("groups have three axes") };
    let count: usize = batch.iter().product();
    let flat = reshape_to(&x.transpose(1, 2)?, &[groups * lanes, elements])?;
    let flat = if count == groups * lanes { flat } else { copy::contiguous(&flat.narrow(0, 0, count as i64)?)? };
    let sizes: Dims = batch.iter().chain(last).copied().collect();
    reshape_to(&flat, &sizes)
}

/// Eigenvalues and eigenvectors of symmetric matrices, of which the lower triangles are read, and what is wrong.
pub fn eigh<T: Element + Grouped>(x: &Tensor) -> Result<[Tensor; 3]> {
    let ((n, _), batch, lanes) = (sizes_of(x), batch_of(x), T::LANES);
    let a = gathered::<T>(x)?;
    let groups = a.sizes()[0];
    let mut w = Entries::<T>::along(Tensor::empty(&[groups, n, lanes], T::DTYPE)?);
    let mut v = Entries::<T>::along(Tensor::empty(&[groups, n * n, lanes], T::DTYPE)?);
    let mut info = Entries::<i32>::along(Tensor::empty(&[groups, 1, lanes], crate::tensor::DType::Int32)?);
    let mut a = Entries::<T>::along(a);
    let cost = 500.0 + 30.0 * (n * n * n) as f64;
    each((a.write(), w.write(), v.write(), info.write()), cost, &|| Ok(()), &|(), (a, w, v, info)| {
        T::eigh_of_group(n, a, w, v, info);
    })?;
    let v = scattered(&v.tensor(), batch, &[n, n])?.transpose(-2, -1)?;
    Ok([scattered(&w.tensor(), batch, &[n])?, v, scattered(&info.tensor(), batch, &[])?])
}

/// The left singular vectors, the values and the right vectors of matrices with at least as many rows as columns, and
/// what is wrong.
pub fn svd<T: Element + Grouped>(x: &Tensor, vectors: bool) -> Result<[Tensor; 4]> {
    let ((m, n), batch, lanes) = (sizes_of(x), batch_of(x), T::LANES);
    let a = gathered::<T>(x)?;
    let groups = a.sizes()[0];
    let size = if vectors { n * n } else { 0 };
    let mut s = Entries::<T>::along(Tensor::empty(&[groups, n, lanes], T::DTYPE)?);
    let mut v = Entries::<T>::along(Tensor::empty(&[groups, size, lanes], T::DTYPE)?);
    let mut info = Entries::<i32>::along(Tensor::empty(&[groups, 1, lanes], crate::tensor::DType::Int32)?);
    let mut a = Entries::<T>::along(a);
    let cost = 500.0 + 40.0 * (m * n * n) as f64;
    each((a.write(), s.write(), v.write(), info.write()), cost, &|| Ok(()), &|(), (a, s, v, info)| {
        T::svd_of_group([m, n], a, s, v, info);
    })?;
    let (s, info) = (scattered(&s.tensor(), batch, &[n])?, scattered(&info.tensor(), batch, &[])?);
    if !vectors {
        let none: Dims = batch.iter().copied().chain([0, 0]).collect();
        let none = Tensor::empty(&none, T::DTYPE)?;
        return Ok([none.clone(), s, none, info]);
    }
    let u = scattered(&a.tensor(), batch, &[n, m])?.transpose(-2, -1)?;
    let v = scattered(&v.tensor(), batch, &[n, n])?.transpose(-2, -1)?;
    Ok([u, s, v, info])
}
