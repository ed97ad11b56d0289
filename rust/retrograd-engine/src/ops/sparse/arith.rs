//! Arithmetic whose operands are sparse, as far as zeros stay zeros: what elementwise ops run in place of their loops.

use super::entries::{added_up, distinct, flat, indices_of, list};
use super::of_entries;
use crate::autograd::erased::{AnyPrimitive, op_name};
use crate::autograd::primitive::{Outs, out};
use crate::error::{Error, Result, Sizes};
use crate::ops::view::expand_to;
use crate::tensor::layout::broadcast;
use crate::tensor::sparse::{Coo, Csr, Elements, refused};
use crate::tensor::{DType, Layout, Scalar, Tensor, copy};

/// Elementwise ops of one operand that are 0 where that is.
const ZERO_AT_ZERO: &[&str] = &[
    "abs",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "conj_physical",
    "deg2rad",
    "erf",
    "erfinv",
    "expm1",
    "floor",
    "frac",
    "log1p",
    "neg",
    "nan_to_num",
    "positive",
    "rad2deg",
    "relu",
    "round",
    "sgn",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
];
/// Those of them that are linear: entries of one place may be mapped one by one.
const LINEAR: &[&str] = &["conj_physical", "deg2rad", "neg", "positive", "rad2deg"];

/// An elementwise op of one operand, which is sparse.
pub(crate) fn unary(op: &dyn AnyPrimitive, xs: &[&Tensor]) -> Result<Outs> {
    let name = op_name(op);
    if !ZERO_AT_ZERO.contains(&name.as_ref()) {
        return Err(refused(op.facts().name, xs));
    }
    let x = if LINEAR.contains(&name.as_ref()) || xs[0].layout() == Layout::SparseCsr {
        xs[0].clone()
    } else {
        super::coalesce(&xs[0].detach())?
    };
    of_values(&x, |values| Ok(op.forward(&[values])?.swap_remove(0))).map(out)
}

/// A tensor with the indices of `x`, and other values.
pub(crate) fn of_values(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let elements = match x.elements() {
        Some(Elements::Coo(coo)) => Elements::Coo(Coo { values: f(&coo.values)?, ..coo }),
        Some(Elements::Csr(csr)) => Elements::Csr(Csr { values: f(&csr.values)?, ..csr }),
        None => return f(x),
    };
    Tensor::sparse(x.sizes(), elements)
}

/// A tensor with memory of its own, converted.
pub(crate) fn copied(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let converted =
        |values: &Tensor| if values.dtype() == dtype { copy::copy(values) } else { copy::cast(values, dtype) };
    let elements = match x.elements() {
        Some(Elements::Coo(coo)) => {
            Elements::Coo(Coo { indices: copy::row_major(&coo.indices)?, values: converted(&coo.values)?, ..coo })
        }
        Some(Elements::Csr(csr)) => Elements::Csr(Csr {
            crow: copy::row_major(&csr.crow)?,
            col: copy::row_major(&csr.col)?,
            values: converted(&csr.values)?,
        }),
        None => return converted(x),
    };
    Tensor::sparse(x.sizes(), elements)
}

/// A tensor like `x` without entries.
pub(crate) fn emptied(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let coo = x.coo(op).map_err(|_| refused(op, &[x]))?;
    let mut sizes = coo.values.sizes().to_vec();
    sizes[0] = 0;
    let indices = Tensor::empty(&[coo.sparse_dim(), 0], DType::Int64)?;
    of_entries(x.sizes(), indices, Tensor::empty(&sizes, x.dtype())?, true)
}

fn scaled(values: &Tensor, alpha: Scalar) -> Result<Tensor> {
    if matches!(alpha, Scalar::Int(1)) { Ok(values.clone()) } else { values.times(alpha) }
}

/// `a + alpha b`, of dtype `dtype`.
pub(crate) fn add(op: &'static str, xs: &[&Tensor], alpha: Scalar, dtype: DType) -> Result<Outs> {
    let (a, b) = (xs[0], xs[1]);
    if !b.is_sparse() {
        return Err(Error::autograd(format!("{op}(sparse, dense) is not supported. Use {op}(dense, sparse) instead.")));
    }
    if [a, b].iter().any(|x| x.layout() == Layout::SparseCsr) {
        let coo =
            |x: &Tensor| if x.is_sparse() { super::converted(&x.detach(), Layout::SparseCoo) } else { Ok(x.clone()) };
        let sum = add(op, &[&coo(a)?, &coo(b)?], alpha, dtype)?;
        let by_rows = a.layout() == b.layout();
        return if by_rows { super::converted(&sum[0], Layout::SparseCsr).map(out) } else { Ok(sum) };
    }
    let Some(Elements::Coo(second)) = b.elements() else { return Err(refused(op, xs)) };
    if a.sizes() != b.sizes() {
        return Err(Error::shape(
            op,
            format!("expected sizes of 'self' and 'other' to match, but {} != {}", Sizes(a.sizes()), Sizes(b.sizes())),
        ));
    }
    let values = scaled(&copy::cast(&second.values, dtype)?, alpha)?;
    let keys = second.keys(b.sizes())?;
    let Some(Elements::Coo(first)) = a.elements() else {
        let sum = copy::row_major(&copy::cast(a, dtype)?)?;
        if keys.is_empty() {
            return Ok(out(sum));
        }
        let by_place = flat(&sum, second.sparse_dim())?;
        let sum = by_place.index_add(0, &list(&keys)?, &values, 1i64.into())?;
        return crate::ops::view::reshape_to(&sum, a.sizes()).map(out);
    };
    if first.sparse_dim() != second.sparse_dim() {
        return Err(Error::shape(
            op,
            format!(
                "expected 'self' and 'other' to have same number of sparse dimensions, but {} != {}",
                first.sparse_dim(),
                second.sparse_dim()
            ),
        ));
    }
    let all = crate::ops::view::cat(&[copy::cast(&first.values, dtype)?, values], 0)?;
    let apart = [&first, &second].iter().all(|coo| coo.coalesced);
    if !apart {
        // Entries of one place may stay apart: who asks for few coalesces.
        let indices = crate::ops::view::cat(&[first.indices.clone(), second.indices.clone()], 1)?;
        let sum = Coo { indices, values: all, coalesced: false };
        // No more entries than elements, however many sums.
        let sum = if sum.nnz() > a.numel() { sum.coalesced(a.sizes())? } else { sum };
        return Tensor::sparse(a.sizes(), Elements::Coo(sum)).map(out);
    }
    let mut both = first.keys(a.sizes())?;
    both.extend(&keys);
    let (found, which) = distinct(&both);
    let indices = indices_of(&found, &a.sizes()[..first.sparse_dim()])?;
    of_entries(a.sizes(), indices, added_up(&all, &which, found.len())?, true).map(out)
}

/// `a b`.
pub(crate) fn mul(xs: &[&Tensor], dtype: DType) -> Result<Outs> {
    let (x, y) = if xs[0].is_sparse() { (xs[0], xs[1]) } else { (xs[1], xs[0]) };
    if y.ndim() == 0 && !y.is_sparse() {
        return of_values(x, |values| copy::cast(&values.mul(y)?, dtype)).map(out);
    }
    let a = x.entries("mul")?;
    let sizes = broadcast("mul", x.sizes(), y.sizes())?;
    if *sizes != *x.sizes() {
        return Err(Error::not_implemented(format!(
            "mul: a sparse operand is not broadcast: {} would become {}",
            Sizes(x.sizes()),
            Sizes(&sizes)
        )));
    }
    let product = |a: &Tensor, b: &Tensor| copy::cast(a, dtype)?.mul(&copy::cast(b, dtype)?);
    if !y.is_sparse() {
        let keys = list(&a.keys(x.sizes())?)?;
        let there = flat(&expand_to(y, &sizes)?, a.sparse_dim())?.index_select(0, &keys)?;
        return of_values(x, |values| product(values, &there)).map(out);
    }
    let (Some(Elements::Coo(b)), Layout::SparseCoo, true) = (y.elements(), x.layout(), x.sizes() == y.sizes()) else {
        return Err(refused("mul", xs));
    };
    if a.sparse_dim() != b.sparse_dim() {
        return Err(Error::shape("mul", "operands have incompatible sizes: the numbers of their sparse axes differ"));
    }
    let (a, b) = (a.coalesced(&sizes)?, b.coalesced(&sizes)?);
    let (of_a, of_b) = (a.keys(&sizes)?, b.keys(&sizes)?);
    let (mut at_a, mut at_b, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (i, key) in of_a.iter().enumerate() {
        if let Ok(j) = of_b.binary_search(key) {
            at_a.push(i as i64);
            at_b.push(j as i64);
            keys.push(*key);
        }
    }
    let (va, vb) = (a.values.index_select(0, &list(&at_a)?)?, b.values.index_select(0, &list(&at_b)?)?);
    of_entries(&sizes, indices_of(&keys, &sizes[..a.sparse_dim()])?, product(&va, &vb)?, true).map(out)
}

/// `a / b` for a number `b`.
pub(crate) fn div(xs: &[&Tensor]) -> Result<Outs> {
    let (x, y) = (xs[0], xs[1]);
    if y.is_sparse() || y.ndim() > 0 {
        return Err(Error::shape(
            "div",
            format!(
                "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {} for divisor)",
                Sizes(y.sizes())
            ),
        ));
    }
    of_values(x, |values| values.div(y)).map(out)
}

/// The tensor with two axes exchanged, over the same values.
pub(crate) fn transposed(x: &Tensor, [a, b]: [usize; 2]) -> Result<Tensor> {
    let Some(Elements::Coo(coo)) = x.elements() else { return Err(refused("transpose", &[x])) };
    if a == b {
        return Ok(x.alias());
    }
    let mut sizes = x.sizes().to_vec();
    sizes.swap(a, b);
    let axes = coo.sparse_dim();
    let coo = match (a < axes, b < axes) {
        (true, true) => {
            let mut order: Vec<i64> = (0..axes as i64).collect();
            order.swap(a, b);
            Coo { indices: coo.indices.index_select(0, &list(&order)?)?, coalesced: false, ..coo }
        }
        (false, false) => {
            let values = coo.values.transpose((a - axes + 1) as i64, (b - axes + 1) as i64)?.alias();
            Coo { values, ..coo }
        }
        _ => {
            return Err(Error::autograd(
                "transpose: transposed dimensions must not be a sparse and a dense one: use to_dense() first",
            ));
        }
    };
    Tensor::sparse(&sizes, Elements::Coo(coo))
}
