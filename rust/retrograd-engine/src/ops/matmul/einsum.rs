//! Sums of products over named or numbered axes: einsum, tensordot, inner, kron.

use std::fmt;

use retrograd_macros::op;

use crate::autocast;
use crate::error::{Error, Result};
use crate::ops::view::{permute, reshape_to};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Tensor};

const OP: &str = "einsum";

/// An axis of an operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Label {
    /// One of the axes of an ellipsis, counted from the last.
    Rest(usize),
    Named(char),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest(_) => f.write_str("..."),
            Self::Named(c) => write!(f, "{c}"),
        }
    }
}

fn refuse<T>(detail: String) -> Result<T> {
    Err(Error::shape(OP, format!("einsum(): {detail}")))
}

/// The labels of one side's term; an ellipsis has `rest` axes.
fn labels(term: &str, rest: usize) -> Result<Vec<Label>> {
    let (mut found, mut ellipsis) = (Vec::new(), false);
    let mut chars = term.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => {}
            '.' => {
                if ellipsis || chars.next() != Some('.') || chars.next() != Some('.') {
                    return refuse(format!(
                        "found '.' in {term:?} that is not part of the one ellipsis a term may have"
                    ));
                }
                ellipsis = true;
                found.extend((0..rest).rev().map(Label::Rest));
            }
            c if c.is_ascii_alphabetic() => found.push(Label::Named(c)),
            c => {
                return refuse(format!(
                    "invalid subscript given at index {} of {term:?} in the equation string, subscripts must be in [a-zA-Z], \
                     got {c:?}",
                    term.len() - chars.as_str().len() - c.len_utf8()
                ));
            }
        }
    }
    Ok(found)
}

/// How many axes the ellipsis of a term has in a tensor of `ndim`.
fn ellipsis_of(term: &str, ndim: usize, operand: usize) -> Result<usize> {
    let named = labels(term, 0)?.len();
    let rest = ndim.checked_sub(named).filter(|&rest| rest == 0 || term.contains('.'));
    rest.map_or_else(
        || {
            refuse(format!(
                "the number of subscripts in the equation ({named}) does not match the number of dimensions ({ndim}) for operand \
                 {operand}{}",
                if term.contains('.') { "" } else { " and no ellipsis was given" }
            ))
        },
        Ok,
    )
}

/// The operand with an axis for each of `all`, of size 1 where it has none; of repeated labels, the diagonal.
fn aligned(operand: usize, x: &Tensor, mut names: Vec<Label>, all: &[Label]) -> Result<Tensor> {
    let mut x = x.clone();
    let mut at = 0;
    while at < names.len() {
        let Some(twin) = (at + 1..names.len()).find(|&other| names[other] == names[at]) else {
            at += 1;
            continue;
        };
        let (n, m) = (x.sizes()[at], x.sizes()[twin]);
        if n != m {
            return refuse(format!(
                "subscript {} is repeated for operand {operand} but the sizes don't match, {m} != {n}",
                names[at]
            ));
        }
        x = x.diagonal(0, at as i64, twin as i64)?;
        let name = names.remove(twin);
        names.remove(at);
        names.push(name);
    }
    let order: Vec<i64> =
        all.iter().filter_map(|label| names.iter().position(|name| name == label)).map(|axis| axis as i64).collect();
    x = permute(&x, &order)?;
    for (axis, label) in all.iter().enumerate() {
        if !names.contains(label) {
            x = x.unsqueeze(axis as i64)?;
        }
    }
    Ok(x)
}

/// The least terms with which a batch of products of two vectors is one of matrices.
const FEW_TERMS: usize = 64;

/// The product of two tensors with the same axes, broadcast, summed over `sum`, which stay with size 1.
fn pair(a: &Tensor, b: &Tensor, sum: &[usize]) -> Result<Tensor> {
    let wide = |t: &Tensor, axis: usize| t.sizes()[axis] != 1;
    // Where only one of them varies, it is summed at once.
    let alone = |t: &Tensor, other: &Tensor| {
        let dims: Vec<i64> = sum.iter().filter(|&&d| wide(t, d) && !wide(other, d)).map(|&d| d as i64).collect();
        if dims.is_empty() { Ok(t.clone()) } else { t.sum_dims(&dims, true) }
    };
    let (a, b) = (alone(a, b)?, alone(b, a)?);
    let axes = |pick: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..a.ndim()).filter(|&d| pick(d)).collect() };
    let shared = axes(&|d| sum.contains(&d) && wide(&a, d));
    if shared.is_empty() {
        return a.mul(&b);
    }
    let left = axes(&|d| !shared.contains(&d) && wide(&a, d) && !wide(&b, d));
    let right = axes(&|d| !shared.contains(&d) && !wide(&a, d) && wide(&b, d));
    let batch = axes(&|d| !shared.contains(&d) && !left.contains(&d) && !right.contains(&d));
    let terms: usize = shared.iter().map(|&d| a.sizes()[d]).product();
    // A product of two vectors costs as much as `FEW_TERMS` terms of a product that is stored and summed. Halves would
    // be rounded, and integers widen, on that way.
    let is_exact = a.dtype() == b.dtype() && a.dtype().is_differentiable() && a.dtype().half().is_none();
    if left.is_empty() && right.is_empty() && terms < FEW_TERMS && is_exact && !autocast::is_enabled() {
        let dims: Vec<i64> = shared.iter().map(|&d| d as i64).collect();
        return a.mul(&b)?.sum_dims(&dims, true);
    }
    let matrices = |t: &Tensor, parts: [&[usize]; 3]| -> Result<Tensor> {
        let used = parts.concat();
        let rest = (0..t.ndim()).filter(|d| !used.contains(d));
        let order: Vec<i64> = used.iter().copied().chain(rest).map(|d| d as i64).collect();
        let size = |part: &[usize]| part.iter().map(|&d| t.sizes()[d]).product::<usize>();
        reshape_to(&permute(t, &order)?, &parts.map(size))
    };
    let product = matrices(&a, [&batch, &left, &shared])?.bmm(&matrices(&b, [&batch, &shared, &right])?)?;
    let order = [&batch[..], &left, &right, &shared].concat();
    let size = |d: usize| match () {
        () if shared.contains(&d) => 1,
        () if right.contains(&d) => b.sizes()[d],
        () => a.sizes()[d],
    };
    let sizes: Dims = order.iter().map(|&d| size(d)).collect();
    let back: Vec<i64> =
        (0..order.len()).filter_map(|d| order.iter().position(|&o| o == d)).map(|d| d as i64).collect();
    permute(&reshape_to(&product, &sizes)?, &back)
}

/// The sum of the products of the operands' elements, over every axis that the result does not name.
///
/// Args: `equation` as "ij,jk->ik": a letter for every axis of each operand, and those of the result; "..." means any
/// further axes, which broadcast; a letter that an operand has twice takes its diagonal; without "->" the result has
/// the letters that come once, in alphabetical order. `operands` one after the other, or in a list. Returns: a tensor
/// of the named axes. Derivative: the same sum with `g` in the operand's place. Raises: RuntimeError if the equation is
/// not understood, or does not fit the operands or these each other.
///
/// >>> rg.einsum("ij,j->i", rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.ones(2)).tolist()
/// [3.0, 7.0]
#[op(function)]
pub fn einsum(equation: &str, #[size] operands: &[Tensor]) -> Result<Tensor> {
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation, None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if operands.is_empty() {
        return refuse("must provide at least one operand".into());
    }
    if terms.len() != operands.len() {
        let which = if operands.len() < terms.len() { "fewer" } else { "more" };
        return refuse(format!(
            "{which} operands were provided than specified in the equation, which has {} terms for {} operands",
            terms.len(),
            operands.len()
        ));
    }
    let rests = terms.iter().zip(operands).enumerate().map(|(i, (term, x))| ellipsis_of(term, x.ndim(), i));
    let rests = rests.collect::<Result<Vec<usize>>>()?;
    let most = rests.iter().copied().max().unwrap_or(0);
    let names = terms.iter().zip(&rests).map(|(term, &rest)| labels(term, rest)).collect::<Result<Vec<_>>>()?;
    let mut every: Vec<Label> = names.concat();
    every.sort_unstable();
    let mut all = match right {
        Some(right) => labels(right, most)?,
        None => {
            let once = |l: &Label| every.iter().filter(|&other| other == l).count() == 1;
            let named = every.iter().copied().filter(|l| matches!(l, Label::Named(_)) && once(l));
            (0..most).rev().map(Label::Rest).chain(named).collect()
        }
    };
    let kept = all.len();
    for (i, label) in all.iter().enumerate() {
        if all[..i].contains(label) {
            return refuse(format!("output subscript {label} appears more than once in the output"));
        }
        if matches!(label, Label::Named(_)) && !every.contains(label) {
            return refuse(format!("output subscript {label} does not appear in the equation for any input operand"));
        }
    }
    every.dedup();
    all.extend(every.into_iter().filter(|l| !all[..kept].contains(l)).collect::<Vec<_>>());
    let xs = operands.iter().zip(&names).enumerate().map(|(i, (x, names))| aligned(i, x, names.clone(), &all));
    let xs = xs.collect::<Result<Vec<Tensor>>>()?;
    for (axis, label) in all.iter().enumerate() {
        let mut sizes = xs.iter().map(|x| x.sizes()[axis]).enumerate().filter(|&(_, n)| n != 1);
        let seen = sizes.next().map_or(1, |(_, n)| n);
        if let Some((i, n)) = sizes.find(|&(_, n)| n != seen) {
            let shapes: Vec<&[usize]> = operands.iter().map(Tensor::sizes).collect();
            return refuse(format!(
                "subscript {label} has size {n} for operand {i} which does not broadcast with previously seen size {seen}: the                  operands have sizes {shapes:?}"
            ));
        }
    }
    let mut y = xs[0].clone();
    for (i, x) in xs.iter().enumerate().skip(1) {
        let last = |d: &usize| xs[i + 1..].iter().zip(&names[i + 1..]).all(|(_, names)| !names.contains(&all[*d]));
        let sum: Vec<usize> = (kept..all.len()).filter(last).collect();
        y = pair(&y, x, &sum)?;
    }
    if kept == all.len() {
        return Ok(y);
    }
    if xs.len() == 1 {
        let dims: Vec<i64> = (kept..all.len()).map(|d| d as i64).collect();
        return y.sum_dims(&dims, false);
    }
    // What is left to sum belongs to operands before the last: it has size 1.
    let sizes = Dims::from_slice(&y.sizes()[..kept]);
    let dims: Vec<i64> = (kept..all.len()).filter(|&d| y.sizes()[d] != 1).map(|d| d as i64).collect();
    if !dims.is_empty() {
        y = y.sum_dims(&dims, true)?;
    }
    reshape_to(&y, &sizes)
}

/// The sum of products over axes of one tensor and as many of the other.
///
/// Args: `a`, `b` of one dtype; `dims_a` and `dims_b` the axes that go together. Returns: a tensor of the axes that are
/// left, those of `a` first. Derivative: the same sum with `g` in the operand's place. Raises: RuntimeError if the axes
/// do not fit.
///
/// >>> rg.tensordot(rg.ones(2, 3), rg.ones(3, 2), dims=([1, 0], [0, 1])).item()
/// 6.0
#[op(function, out)]
pub fn tensordot(a: &Tensor, b: &Tensor, dims_a: &[i64], dims_b: &[i64]) -> Result<Tensor> {
    const NAME: &str = "tensordot";
    if dims_a.len() != dims_b.len() {
        return Err(Error::shape(
            NAME,
            format!("both dimension lists should have same length: got {dims_a:?}, {dims_b:?}"),
        ));
    }
    let wrapped =
        |x: &Tensor, dims: &[i64]| dims.iter().map(|&d| wrap_dim(NAME, d, x.ndim())).collect::<Result<Vec<_>>>();
    if !dims_a.is_empty() && (a.ndim() == 0 || b.ndim() == 0) {
        let dim = if a.ndim() == 0 { dims_a[0] } else { dims_b[0] };
        return Err(Error::index(NAME, format!("Dimension specified as {dim} but tensor has no dimensions")));
    }
    let (of_a, of_b) = (wrapped(a, dims_a)?, wrapped(b, dims_b)?);
    let (mut x, mut y) = (a.clone(), b.clone());
    for (&i, &j) in of_a.iter().zip(&of_b) {
        let (n, m) = (a.sizes()[i], b.sizes()[j]);
        match (n, m) {
            (1, 1) => {}
            (_, 1) => x = x.sum_dims(&[i as i64], true)?,
            (1, _) => y = y.sum_dims(&[j as i64], true)?,
            _ if n == m => {}
            _ => {
                return Err(Error::shape(
                    NAME,
                    format!(
                        "contracted dimensions need to match, but first has size {n} in dim {i} and second has size {m} in dim {j}"
                    ),
                ));
            }
        }
    }
    let free = |t: &Tensor, used: &[usize]| (0..t.ndim()).filter(|d| !used.contains(d)).collect::<Vec<usize>>();
    let (left, right) = (free(a, &of_a), free(b, &of_b));
    let matrix = |t: &Tensor, rows: &[usize], columns: &[usize]| {
        let order: Vec<i64> = rows.iter().chain(columns).map(|&d| d as i64).collect();
        let size = |part: &[usize]| part.iter().map(|&d| t.sizes()[d]).product::<usize>();
        reshape_to(&permute(t, &order)?, &[size(rows), size(columns)])
    };
    let product = matrix(&x, &left, &of_a)?.mm(&matrix(&y, &of_b, &right)?)?;
    let sizes: Dims = left.iter().map(|&d| a.sizes()[d]).chain(right.iter().map(|&d| b.sizes()[d])).collect();
    reshape_to(&product, &sizes)
}

/// The sums of products over the last `dims` axes of one tensor and the first of the other.
///
/// >>> tuple(rg.tensordot(rg.ones(2, 3, 4), rg.ones(3, 4, 5)).shape)
/// (2, 5)
#[op(function, out, norust, name = "tensordot", "(dims=2)")]
pub fn tensordot_last(a: &Tensor, b: &Tensor, dims: i64) -> Result<Tensor> {
    if dims < 0 {
        return Err(Error::shape("tensordot", format!("tensordot expects dims >= 0, but got dims={dims}")));
    }
    if dims > a.ndim().min(b.ndim()) as i64 {
        return Err(Error::shape(
            "tensordot",
            format!("tensordot expects dims < ndim_a or ndim_b, but got dims={dims}"),
        ));
    }
    let first: Vec<i64> = (0..dims).collect();
    let last: Vec<i64> = (-dims..0).collect();
    tensordot(a, b, &last, &first)
}

/// The sums of products over the last axes; with a 0-dim tensor, the product.
///
/// Args: `other` with a last axis as long as that of `input`. Returns: a tensor of the other axes, those of `input`
/// first.
/// Derivative: the same sum with `g` in the operand's place. Raises: RuntimeError if the last axes differ.
///
/// >>> rg.inner(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).item()
/// 11.0
#[op(function, method, out, norust)]
pub fn inner(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    if input.ndim() == 0 || other.ndim() == 0 {
        return input.mul(other);
    }
    if input.sizes().last() != other.sizes().last() {
        return Err(Error::shape(
            "inner",
            format!(
                "inner() the last dimension must match on both input tensors but got shapes {:?} and {:?}",
                input.sizes(),
                other.sizes()
            ),
        ));
    }
    tensordot(input, other, &[-1], &[-1])
}

/// The Kronecker product: every element of `input` times the whole of `other`, as blocks.
///
/// Args: tensors of any shapes; the one with fewer axes gets ones in front. Returns: a fresh tensor, each axis the
/// product of two. Derivative: the sums of `g * other` and `g * input` over the blocks.
///
/// >>> rg.kron(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 10.0])).tolist()
/// [1.0, 10.0, 2.0, 20.0]
#[op(function, method, out)]
pub fn kron(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    let n = input.ndim().max(other.ndim());
    let padded =
        |t: &Tensor| -> Dims { std::iter::repeat_n(1, n - t.ndim()).chain(t.sizes().iter().copied()).collect() };
    let (a, b) = (padded(input), padded(other));
    let left: Dims = a.iter().flat_map(|&n| [n, 1]).collect();
    let right: Dims = b.iter().flat_map(|&n| [1, n]).collect();
    let sizes: Dims = a.iter().zip(&b).map(|(&n, &m)| n.saturating_mul(m)).collect();
    super::compose::unsafe_view(&reshape_to(input, &left)?.mul(&reshape_to(other, &right)?)?, &sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for (equation, shapes) in [
            ("ij,jk->ik", &[&[2, 3][..], &[3, 4]][..]),
            ("bij,bjk", &[&[2, 3, 2], &[2, 2, 4]]),
            ("ii->i", &[&[3, 3]]),
            ("...ij->...j", &[&[2, 3, 2]]),
            ("i,j,ik->jk", &[&[2], &[3], &[2, 2]]),
            ("ij,ij,j", &[&[2, 3], &[2, 3], &[3]]),
            ("a...,...b->...", &[&[2, 3], &[3, 2]]),
            ("ij,ij->i", &[&[3, 2], &[3, 2]]),
            ("ij,ij->j", &[&[3, 70], &[3, 70]]),
            ("ij,ij->i", &[&[2, 70], &[2, 70]]),
            ("ij,ij", &[&[3, 2], &[3, 2]]),
        ] {
            let xs: Vec<Tensor> = shapes.iter().zip(1..).map(|(s, i)| noise(i, s)).collect();
            gradcheck(&|xs| einsum(equation, xs)?.sin(), &xs);
        }
        gradcheck(&|xs| xs[0].kron(&xs[1]), &[noise(1, &[2, 3]), noise(2, &[2])]);
        for bad in ["ij,jk", "i.j", "i1", "ij->ijk", "ij->ii", "i"] {
            assert!(einsum(bad, &[noise(1, &[2, 2])]).is_err(), "{bad}");
        }
    }
}
