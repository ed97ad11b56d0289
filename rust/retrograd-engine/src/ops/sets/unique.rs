//! Distinct elements: `unique`, `unique_consecutive`.

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use super::no_derivative;
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp};
use crate::error::{Error, Result};
use crate::ops::index::dynamic_shape;
use crate::ops::sort::sort;
use crate::ops::{OneOrMany, view};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dtypes, Tensor};

/// The distinct elements, or slices along an axis. Results: the elements, for each element which of them it is, and how
/// often each occurs; the latter two without elements unless asked for.
#[derive(Clone, Debug)]
struct Unique {
    /// Only neighbours are compared. Otherwise the elements are put in order first.
    consecutive: bool,
    axis: Option<usize>,
    inverse: bool,
    counts: bool,
}

impl Unique {
    fn op(&self) -> &'static str {
        if self.consecutive { "unique_consecutive" } else { "unique" }
    }
}

impl Primitive for Unique {
    const NAME: &'static str = "unique";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const BATCH: Batch<Self> = Batch::Rule(|p, _, _, _| Err(dynamic_shape(p.op())));
    fn node(&self) -> &'static str {
        match (self.consecutive, self.axis) {
            (true, _) => "UniqueConsecutiveBackward0",
            (false, None) => "Unique2Backward0",
            (false, Some(_)) => "UniqueDimBackward0",
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // Fresh of history: nothing inside is recorded.
        let x = xs[0].detach();
        match self.axis {
            None => self.of_elements(&x),
            Some(axis) => self.of_slices(&x, axis),
        }
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(self.op(), REMEDY)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, _| no_derivative(op.op(), REMEDY));
}

const REMEDY: &str = "take the elements at indices, which has one";

impl Unique {
    fn of_elements(&self, x: &Tensor) -> Result<Outs> {
        let flat = view::reshape_to(x, &[x.numel()])?;
        if self.consecutive {
            let runs = Runs::of(x.numel(), changes(&flat)?, None);
            let values = flat.index_select(0, &runs.firsts()?)?;
            return runs.results(values, x.sizes(), self);
        }
        if let Some(runs) = Runs::counted(&flat)? {
            let values = flat.index_select(0, &runs.firsts()?)?;
            return runs.results(values, x.sizes(), self);
        }
        let (sorted, order) = sort(&flat, 0, false)?;
        let runs = Runs::of(x.numel(), changes(&sorted)?, Some(order.to_vec::<i64>()?));
        let firsts = Tensor::from_slice(&runs.starts, &[runs.starts.len()])?;
        runs.results(sorted.index_select(0, &firsts)?, x.sizes(), self)
    }

    fn of_slices(&self, x: &Tensor, axis: usize) -> Result<Outs> {
        let n = x.sizes()[axis];
        if x.numel() == 0 && n > 0 {
            return Err(Error::shape(
                self.op(),
                format!(
                    "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied: got shape {:?}",
                    x.sizes()
                ),
            ));
        }
        let rows = view::movedim(x, &[axis as i64], &[0])?;
        let width = rows.numel().checked_div(n).unwrap_or(0);
        let rows = view::reshape_to(&rows, &[n, width])?;
        let (changes, order) = if self.consecutive {
            let differ = if n > 0 { differ_from_next(&rows)?.any_dims(Some(&[1]), false)? } else { rows.ne(&rows)? };
            (differ.to_vec::<bool>()?, None)
        } else {
            let ranks = ranks(&rows)?;
            let row = |i: &i64| &ranks[*i as usize * width..][..width];
            let mut order: Vec<i64> = (0..n as i64).collect();
            order.sort_by(|a, b| row(a).cmp(row(b)));
            (order.windows(2).map(|pair| row(&pair[0]) != row(&pair[1])).collect(), Some(order))
        };
        let runs = Runs::of(n, changes, order);
        let values = x.index_select(axis as i64, &runs.firsts()?)?;
        runs.results(values, &[n], self)
    }
}

/// For every row (or element) but the last, where it differs from the next. NaN differs from everything.
fn differ_from_next(x: &Tensor) -> Result<Tensor> {
    // Exact, and comparisons have no kernels for half precision.
    let x =
        if matches!(x.dtype(), DType::Float16 | DType::BFloat16) { copy::cast(x, DType::Float32)? } else { x.clone() };
    let n = x.sizes()[0] as i64 - 1;
    x.narrow(0, 0, n)?.ne(&x.narrow(0, 1, n)?)
}

/// Whether each element of a vector but the last differs from the next.
fn changes(flat: &Tensor) -> Result<Vec<bool>> {
    if flat.numel() < 2 { Ok(Vec::new()) } else { differ_from_next(flat)?.to_vec::<bool>() }
}

/// The place of every element among all distinct ones, row-major. Each NaN has a place of its own.
fn ranks(x: &Tensor) -> Result<Vec<i64>> {
    let (sorted, order) = sort(&view::reshape_to(x, &[x.numel()])?, 0, false)?;
    Ok(Runs::of(x.numel(), changes(&sorted)?, Some(order.to_vec::<i64>()?)).members(x.numel()))
}

/// Equal elements one after the other.
struct Runs {
    /// The order in which the elements were looked at, if not their own.
    order: Option<Vec<i64>>,
    /// Where in that order each run starts.
    starts: Vec<i64>,
}

impl Runs {
    /// Of `n` elements; `changes` says of each but the last whether the next is another.
    fn of(n: usize, changes: Vec<bool>, order: Option<Vec<i64>>) -> Self {
        // Every place is written and only those of changes are kept: no branch, which would often be foretold wrongly.
        let mut starts = vec![0; n + 1];
        let mut count = usize::from(n > 0);
        for (&change, at) in changes.iter().zip(1i64..) {
            starts[count] = at;
            count += usize::from(change);
        }
        starts.truncate(count);
        Self { order, starts }
    }
    /// For integers in a small range, by counting instead of sorting: the distinct elements in rising order.
    fn counted(flat: &Tensor) -> Result<Option<Self>> {
        let n = flat.numel();
        if !flat.dtype().is_integral() || n == 0 {
            return Ok(None);
        }
        let numbers = flat.to_vec::<i64>()?;
        let (low, high) = numbers.iter().fold((i64::MAX, i64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        let Some(span) = high.checked_sub(low).and_then(|d| usize::try_from(d).ok()).filter(|&d| d < 4 * n) else {
            return Ok(None);
        };
        // First how many of each, then where in the order the next one goes.
        let mut next = vec![0i64; span + 1];
        numbers.iter().for_each(|&v| next[(v - low) as usize] += 1);
        let (mut starts, mut at) = (Vec::new(), 0);
        for place in &mut next {
            let count = std::mem::replace(place, at);
            if count > 0 {
                starts.push(at);
            }
            at += count;
        }
        let mut order = vec![0i64; n];
        for (i, &v) in numbers.iter().enumerate() {
            let place = &mut next[(v - low) as usize];
            order[*place as usize] = i as i64;
            *place += 1;
        }
        Ok(Some(Self { order: Some(order), starts }))
    }
    /// The index of the first element of each run.
    fn firsts(&self) -> Result<Tensor> {
        let Some(order) = &self.order else { return Tensor::from_slice(&self.starts, &[self.starts.len()]) };
        let firsts: Vec<i64> = self.starts.iter().map(|&start| order[start as usize]).collect();
        Tensor::from_slice(&firsts, &[firsts.len()])
    }
    /// The lengths of the runs of `n` elements.
    fn lengths(&self, n: usize) -> impl Iterator<Item = i64> + '_ {
        let ends = self.starts.iter().skip(1).copied().chain([n as i64]);
        self.starts.iter().zip(ends).map(|(start, end)| end - start)
    }
    /// The run of each of `n` elements.
    fn members(&self, n: usize) -> Vec<i64> {
        let runs = self.lengths(n).zip(0i64..).flat_map(|(length, run)| std::iter::repeat_n(run, length as usize));
        match &self.order {
            None => runs.collect(),
            Some(order) => {
                let mut members = vec![0; n];
                order.iter().zip(runs).for_each(|(&at, run)| members[at as usize] = run);
                members
            }
        }
    }
    /// The results of an op over elements of these sizes.
    fn results(self, values: Tensor, sizes: &[usize], asked: &Unique) -> Result<Outs> {
        let n = crate::tensor::layout::numel(sizes);
        let empty = || Tensor::empty(&[0], DType::Int64);
        let inverse = if asked.inverse { Tensor::from_slice(&self.members(n), sizes)? } else { empty()? };
        let counts = if asked.counts {
            Tensor::from_slice(&self.lengths(n).collect::<Vec<_>>(), &[self.starts.len()])?
        } else {
            empty()?
        };
        Ok(smallvec![values, inverse, counts])
    }
}

fn distinct(x: &Tensor, dim: Option<i64>, asked: Unique) -> Result<OneOrMany> {
    let op = asked.op();
    let axis = match dim {
        Some(dim) if x.ndim() == 0 => {
            return Err(Error::index(op, format!("Dimension specified as {dim} but tensor has no dimensions")));
        }
        Some(dim) => Some(wrap_dim(op, dim, x.ndim())?),
        None => None,
    };
    let wanted = [true, asked.inverse, asked.counts];
    let outs = apply(Unique { axis, ..asked }, &[x])?;
    let mut kept: SmallVec<[Tensor; 3]> = outs.into_iter().zip(wanted).filter(|(_, w)| *w).map(|(t, _)| t).collect();
    Ok(if kept.len() == 1 { OneOrMany::One(kept.remove(0)) } else { OneOrMany::Many(kept.into_vec()) })
}

/// The distinct elements, in rising order; or the distinct slices along a dimension, in lexicographic order.
///
/// NaN is equal to nothing, itself included, and comes last.
///
/// Args: `input` any real dtype; `sorted` is accepted for compatibility with torch, the result comes in order either
/// way; `return_inverse` adds where in the result each element stands; `return_counts` adds how often each occurs;
/// `dim` compares the slices along a dimension. Returns: a tensor, or a tuple of it and what was asked for, in int64.
/// Derivative: refused when it is asked for, as in torch. Raises: IndexError for a dimension out of range; RuntimeError
/// for slices without elements; NotImplementedError for complex dtypes.
///
/// >>> values, counts = rg.unique(rg.tensor([3, 1, 3]), return_counts=True)
/// >>> values.tolist(), counts.tolist()
/// ([1, 3], [1, 2])
#[op(function, method, norust, "(sorted=True, return_inverse=False, return_counts=False, dim=None)")]
pub fn unique(
    input: &Tensor,
    sorted: bool,
    return_inverse: bool,
    return_counts: bool,
    dim: Option<i64>,
) -> Result<OneOrMany> {
    let _ = sorted;
    distinct(input, dim, Unique { consecutive: false, axis: None, inverse: return_inverse, counts: return_counts })
}

/// The elements without those that equal the one before them; or the slices along a dimension.
///
/// Args: `return_inverse` adds where in the result each element stands; `return_counts` adds the lengths of the runs of
/// equal elements; `dim` compares the slices along a dimension. Returns: a tensor, or a tuple of it and what was asked
/// for, in int64. Derivative: refused when it is asked for, as in torch. Raises: as `unique`.
///
/// >>> rg.unique_consecutive(rg.tensor([1, 1, 2, 2, 1])).tolist()
/// [1, 2, 1]
#[op(function, method, norust, "(return_inverse=False, return_counts=False, dim=None)")]
pub fn unique_consecutive(
    input: &Tensor,
    return_inverse: bool,
    return_counts: bool,
    dim: Option<i64>,
) -> Result<OneOrMany> {
    distinct(input, dim, Unique { consecutive: true, axis: None, inverse: return_inverse, counts: return_counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(result: Result<OneOrMany>) -> Vec<Tensor> {
        match result.unwrap() {
            OneOrMany::One(t) => vec![t],
            OneOrMany::Many(ts) => ts,
        }
    }

    #[test]
    fn elements_and_slices() {
        let ints = |t: &Tensor| t.to_vec::<i64>().unwrap();
        let x = Tensor::from_slice(&[3i64, 1, 3, 3, 1, 3, 0, 1, 0], &[3, 3]).unwrap();
        let found = many(unique(&x, true, true, true, None));
        assert_eq!(
            found.iter().map(ints).collect::<Vec<_>>(),
            [vec![0, 1, 3], vec![2, 1, 2, 2, 1, 2, 0, 1, 0], vec![2, 3, 4]]
        );
        let found = many(unique(&x, true, true, true, Some(0)));
        assert_eq!(ints(&found[0]), [0, 1, 0, 3, 1, 3]);
        assert_eq!((ints(&found[1]), ints(&found[2])), (vec![1, 1, 0], vec![1, 2]));
        let found = many(unique_consecutive(&x, true, true, Some(1)));
        assert_eq!((ints(&found[1]), ints(&found[2])), (vec![0, 1, 2], vec![1, 1, 1]));
    }

    #[test]
    fn nan_is_unlike_itself() {
        let x = Tensor::from_slice(&[f64::NAN, 1.0, f64::NAN, -0.0, 0.0], &[5]).unwrap();
        let found = many(unique(&x, true, true, true, None));
        assert_eq!(found[0].numel(), 4);
        assert_eq!(found[1].to_vec::<i64>().unwrap(), [2, 1, 3, 0, 0]);
        assert_eq!(many(unique_consecutive(&x, false, false, None))[0].numel(), 4);
        let none = Tensor::empty(&[2, 0], DType::Float32).unwrap();
        assert!(unique(&none, true, false, false, Some(0)).is_err());
        assert_eq!(many(unique(&none, true, false, false, Some(1)))[0].sizes(), [2, 0]);
    }

    #[test]
    fn runs_of_every_length() {
        for n in [0usize, 1, 2, 3, 50] {
            for each in [1, 2, 3, 100] {
                let all: Vec<i64> = (0..n).map(|i| (i / each % 2) as i64).collect();
                let found = many(unique_consecutive(&Tensor::from_slice(&all, &[n]).unwrap(), true, true, None));
                let mut runs: Vec<(i64, i64)> = Vec::new();
                let mut members = Vec::new();
                for &x in &all {
                    match runs.last_mut() {
                        Some((last, count)) if *last == x => *count += 1,
                        _ => runs.push((x, 1)),
                    }
                    members.push(runs.len() as i64 - 1);
                }
                let (values, counts): (Vec<i64>, Vec<i64>) = runs.into_iter().unzip();
                let found: Vec<Vec<i64>> = found.iter().map(|t| t.to_vec().unwrap()).collect();
                assert_eq!(found, [values, members, counts], "{n} {each}");
            }
        }
    }
}
