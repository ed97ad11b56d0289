//! The entries of sparse tensors: where they are, and which of them are the same.

use crate::error::{Error, Result};
use crate::ops::view::reshape_to;
use crate::tensor::copy;
use crate::tensor::layout::{Dims, numel};
use crate::tensor::sparse::{Coo, Elements, refused};
use crate::tensor::{DType, Tensor};

/// Integers, read once (S6).
pub(crate) fn read(indices: &Tensor) -> Result<Vec<i64>> {
    copy::row_major(indices)?.to_vec::<i64>()
}

/// The row-major numbers of entries among the axes that indices are given for, whose sizes these are. Indices are read
/// once, and checked (S6).
pub(crate) fn keys(indices: &Tensor, sizes: &[usize]) -> Result<Vec<i64>> {
    let all = read(indices)?;
    let count = indices.sizes().get(1).copied().unwrap_or(0);
    let mut keys = vec![0i64; count];
    for (dim, (&size, list)) in sizes.iter().zip(all.chunks(count.max(1))).enumerate() {
        for (key, &index) in keys.iter_mut().zip(list) {
            if index < 0 {
                return Err(Error::autograd(format!("found negative index {index} for dim {dim}")));
            }
            if index >= size as i64 {
                return Err(Error::autograd(format!(
                    "size is inconsistent with indices: for dim {dim}, size is {size} but found index {index}"
                )));
            }
            *key = *key * size as i64 + index;
        }
    }
    Ok(keys)
}

/// The indices of entries by their numbers.
pub(crate) fn indices_of(keys: &[i64], sizes: &[usize]) -> Result<Tensor> {
    let mut left = keys.to_vec();
    Tensor::build::<i64>(&[sizes.len(), keys.len()], |all| {
        for (list, &size) in all.chunks_mut(keys.len().max(1)).zip(sizes).rev() {
            for (index, key) in list.iter_mut().zip(&mut left) {
                (*index, *key) = (*key % size.max(1) as i64, *key / size.max(1) as i64);
            }
        }
    })
}

/// A list of int64.
pub(crate) fn list(of: &[i64]) -> Result<Tensor> {
    Tensor::from_slice(of, &[of.len()])
}

/// Whether numbers grow from each to the next.
pub(crate) fn grow(keys: &[i64]) -> bool {
    keys.windows(2).all(|pair| pair[0] < pair[1])
}

/// The different numbers in order, and for each entry which of them it has.
pub(crate) fn distinct(keys: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&k| keys[k]);
    let (mut found, mut which) = (Vec::new(), vec![0; keys.len()]);
    for k in order {
        if found.last() != Some(&keys[k]) {
            found.push(keys[k]);
        }
        which[k] = found.len() as i64 - 1;
    }
    (found, which)
}

/// The sums of rows that belong together, in the first of `count` places each.
pub(crate) fn added_up(values: &Tensor, which: &[i64], count: usize) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(values.sizes());
    sizes[0] = count;
    let dtype = values.dtype();
    // Halves add up in float32, and what is true once is true.
    let wide = match dtype {
        DType::Bool => DType::Int32,
        d if d.half().is_some() => DType::Float32,
        d => d,
    };
    let sum = Tensor::zeros(&sizes, wide)?.index_add(0, &list(which)?, &copy::cast(values, wide)?, 1i64.into())?;
    copy::cast(&sum, dtype)
}

impl Tensor {
    /// The entries of a sparse tensor in coordinates, whatever its layout.
    pub(crate) fn entries(&self, op: &'static str) -> Result<Coo> {
        match self.elements() {
            None => Err(refused(op, &[self])),
            Some(Elements::Coo(coo)) => Ok(coo),
            Some(Elements::Csr(csr)) => {
                let (starts, columns) = (read(&csr.crow)?, read(&csr.col)?);
                // Read once (S6): rows that overlap or leave gaps by now are taken as they come.
                let mut all = vec![0; columns.len()];
                for (row, w) in starts.windows(2).enumerate() {
                    if let Some(entries) = all.get_mut(w[0].max(0) as usize..w[1].max(0) as usize) {
                        entries.fill(row as i64);
                    }
                }
                all.extend_from_slice(&columns);
                let indices = Tensor::from_slice(&all, &[2, columns.len()])?;
                Ok(Coo { indices, values: csr.values, coalesced: true })
            }
        }
    }
}

impl Coo {
    /// How many axes indices are given for.
    pub(crate) fn sparse_dim(&self) -> usize {
        self.indices.sizes()[0]
    }
    /// How many entries there are.
    pub(crate) fn nnz(&self) -> usize {
        self.indices.sizes()[1]
    }
    /// The numbers of the entries, in a tensor of these sizes.
    pub(crate) fn keys(&self, sizes: &[usize]) -> Result<Vec<i64>> {
        keys(&self.indices, &sizes[..self.sparse_dim()])
    }
    /// The same tensor with its entries in order, those of one place as their sum.
    pub(crate) fn coalesced(&self, sizes: &[usize]) -> Result<Coo> {
        if self.coalesced {
            return Ok(self.clone());
        }
        let keys = self.keys(sizes)?;
        if grow(&keys) {
            return Ok(Coo { coalesced: true, ..self.clone() });
        }
        let (found, which) = distinct(&keys);
        Ok(Coo {
            indices: indices_of(&found, &sizes[..self.sparse_dim()])?,
            values: added_up(&self.values, &which, found.len())?,
            coalesced: true,
        })
    }
    /// All elements.
    pub(crate) fn dense(&self, sizes: &[usize]) -> Result<Tensor> {
        let keys = self.keys(sizes)?;
        let sparse = self.sparse_dim();
        if self.nnz() == 0 {
            return Tensor::zeros(sizes, self.values.dtype());
        }
        let dense = added_up(&self.values, &keys, numel(&sizes[..sparse]))?;
        reshape_to(&dense, sizes)
    }
}

/// A dense tensor with its first axes as one.
pub(crate) fn flat(x: &Tensor, axes: usize) -> Result<Tensor> {
    let mut sizes = Dims::from_slice(&x.sizes()[axes..]);
    sizes.insert(0, numel(&x.sizes()[..axes]));
    reshape_to(x, &sizes)
}
