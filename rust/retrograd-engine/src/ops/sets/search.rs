//! Places among sorted numbers: `searchsorted`, `bucketize`.

use std::hint::select_unpredictable;

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::parallel::split_rows;
use crate::ops::pointwise::result_type;
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Tensor};
use crate::warn;

/// For every value, how many elements of its row of `sorted` come before it; with a third operand, the order that sorts
/// the row. Vectors are the row of all values.
#[derive(Clone, Debug)]
struct Search {
    /// Elements equal to the value count as before it.
    right: bool,
    int32: bool,
}

/// Whether an element of a row comes before a value, as an equal one does if `right`. NaN is before nothing, and all is
/// before NaN.
#[inline(always)]
fn is_before<T: PartialOrd>(x: T, value: T, right: bool) -> bool {
    !(if right { x > value } else { x >= value })
}

/// The first place of a row of `n` elements that is not before `value`.
#[inline(always)]
pub(crate) fn place<T: Copy + PartialOrd>(n: usize, value: T, right: bool, at: impl Fn(usize) -> T) -> i64 {
    let is_before = |place: usize| is_before(at(place), value, right);
    if n == 0 {
        return 0;
    }
    // Without branches, none of which could be foreseen: it is one of `rest + 1` places from `low` on.
    let (mut low, mut rest) = (0, n);
    while rest > 1 {
        let half = rest / 2;
        low = select_unpredictable(is_before(low + half - 1), low + half, low);
        rest -= half;
    }
    (low + usize::from(is_before(low))) as i64
}

/// Values that are searched for together, so that the steps of one do not wait for each other.
const TOGETHER: usize = 16;

/// The [`place`] of each value in a row, which has elements.
fn places_in_row<T: Copy + PartialOrd, const RIGHT: bool>(row: &[T], values: &[T], to: &mut [i64]) {
    for (values, to) in values.chunks(TOGETHER).zip(to.chunks_mut(TOGETHER)) {
        let mut looked_for = [values[0]; TOGETHER];
        looked_for[..values.len()].copy_from_slice(values);
        // As there.
        let (mut low, mut rest) = ([0usize; TOGETHER], row.len());
        while rest > 1 {
            let half = rest / 2;
            for (low, &value) in low.iter_mut().zip(&looked_for) {
                // SAFETY: `low + rest` is at most the length of the row, and `half` less than `rest`.
                let x = unsafe { *row.get_unchecked(*low + half - 1) };
                *low = select_unpredictable(is_before(x, value, RIGHT), *low + half, *low);
            }
            rest -= half;
        }
        for ((to, low), value) in to.iter_mut().zip(low).zip(looked_for) {
            *to = (low + usize::from(is_before(row[low], value, RIGHT))) as i64;
        }
    }
}

/// What a step of a search takes, in nanoseconds.
pub(crate) const STEP_COST: f64 = 1.0;
/// What it takes where it is one of many together.
const STEP_TOGETHER_COST: f64 = 0.3;

impl Search {
    /// All places. `per_row` values share a row of `n` elements.
    fn places<T: Element + PartialOrd>(
        &self,
        sorted: &[T],
        order: Option<&[i64]>,
        values: &[T],
        [n, per_row]: [usize; 2],
        to: &mut [i64],
    ) {
        let steps = values.len() as f64 * f64::from(n.max(1).ilog2() + 2);
        let Some(order) = order else {
            return split_rows(to, 1, 1, steps * STEP_TOGETHER_COST, &|part, to| {
                let (mut i, mut to) = (part.start, to);
                while !to.is_empty() {
                    // As many as share a row.
                    let row = i / per_row;
                    let (some, rest) = to.split_at_mut(((row + 1) * per_row - i).min(to.len()));
                    let (sorted, values) = (&sorted[row * n..(row + 1) * n], &values[i..i + some.len()]);
                    match self.right {
                        _ if n == 0 => some.fill(0),
                        true => places_in_row::<T, true>(sorted, values, some),
                        false => places_in_row::<T, false>(sorted, values, some),
                    }
                    (i, to) = (i + some.len(), rest);
                }
            });
        };
        split_rows(to, 1, 1, steps * STEP_COST, &|part, to| {
            for (i, to) in part.zip(to) {
                let row = i / per_row * n;
                let sorted = &sorted[row..row + n];
                *to = place(n, values[i], self.right, |j| sorted[order[row + j] as usize]);
            }
        });
    }

    fn run<T: Element + PartialOrd>(&self, sorted: &Tensor, order: Option<&Tensor>, values: &Tensor) -> Result<Tensor> {
        const WHY: &str = "contiguous and of this dtype";
        let [sorted, values] = [sorted, values].map(|x| copy::contiguous(&copy::cast(x, T::DTYPE)?));
        let (sorted, values) = (sorted?, values?);
        let n = *sorted.sizes().last().expect("checked by `check`");
        let per_row = if sorted.ndim() == 1 { values.numel() } else { *values.sizes().last().expect("as many dims") };
        Tensor::build::<i64>(values.sizes(), |to| {
            let order = order.map(|o| o.as_slice::<i64>().expect(WHY));
            let [sorted, values] = [&sorted, &values].map(|x| x.as_slice::<T>().expect(WHY));
            self.places(sorted, order, values, [n, per_row.max(1)], to);
        })
    }
}

impl Primitive for Search {
    const NAME: &'static str = "searchsorted";
    const NODE: &'static str = "NotDifferentiable";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        if axes[0].is_none() && xs.len() == 2 && xs[0].ndim() == 1 {
            // One vector for the values of all entries.
            let values = view::batch_first(xs[1], axes[1], batch)?;
            return Ok((out(apply1(p.clone(), &[xs[0], &values])?), smallvec![Some(0)]));
        }
        let mut all: SmallVec<[Tensor; 3]> =
            xs.iter().zip(axes).map(|(x, axis)| view::batch_first(x, *axis, batch)).collect::<Result<_>>()?;
        let sizes = all[1].sizes().to_vec();
        if all[0].ndim() == 2 {
            // A vector each: the values of an entry are a row.
            let n = all[1].numel().checked_div(batch).unwrap_or(0);
            all[1] = view::reshape_to(&all[1], &[batch, n])?;
        }
        let places = apply1(p.clone(), &all.iter().collect::<SmallVec<[&Tensor; 3]>>())?;
        Ok((out(view::reshape_to(&places, &sizes)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn inputs(&self) -> u32 {
        0
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(&xs[..2]))
    }
    fn kernel_name(&self) -> &'static str {
        "searchsorted_out_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (sorted, values, order) = (xs[0], xs[1], xs.get(2).copied());
        // S6.
        let order = order.map(copy::own_indices).transpose()?;
        if let Some(order) = &order {
            let n = sorted.sizes().last().map_or(0, |&n| n as i64);
            if order.as_slice::<i64>().unwrap_or(&[]).iter().any(|i| !(0..n).contains(i)) {
                return Err(Error::shape(
                    "searchsorted",
                    format!("sorter index out of range: the last axis of the boundaries has {n} elements"),
                ));
            }
        }
        let order = order.as_ref();
        let places = match result_type(&[sorted, values]) {
            DType::Float64 => self.run::<f64>(sorted, order, values)?,
            DType::Float32 | DType::Float16 | DType::BFloat16 => self.run::<f32>(sorted, order, values)?,
            _ => self.run::<i64>(sorted, order, values)?,
        };
        copy::cast(&places, if self.int32 { DType::Int32 } else { DType::Int64 }).map(out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(maybe(None))
    }
}

/// Checks of both ops; `what` is the head of the messages.
fn check(op: &'static str, sorted: &Tensor, values: &Tensor, int32: bool) -> Result<()> {
    let refuse = |detail: String| Err(Error::shape(op, detail));
    let (s, v) = (sorted.sizes(), values.sizes());
    if v.is_empty() && s.len() != 1 {
        return refuse(format!(
            "input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor dim({}) and \
             input value's dim(0) numel(1)",
            s.len()
        ));
    }
    if s.is_empty() {
        return refuse("boundaries tensor should have positive dimension, but got 0 dimension".into());
    }
    if s.len() > 1 && (s.len() != v.len() || s[..s.len() - 1] != v[..s.len() - 1]) {
        return refuse(format!(
            "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must \
             match, but we got boundaries tensor {s:?} and input value tensor {v:?}"
        ));
    }
    if int32 && s[s.len() - 1] >= i32::MAX as usize {
        return refuse(format!(
            "the size of boundaries' last dimension should be less than {}: leave out_int32",
            i32::MAX
        ));
    }
    Ok(())
}

/// Where in a sorted sequence each value would be put, so that the sequence stays sorted.
///
/// Args: `sorted_sequence` a vector, or rows along the last axis that rise; `input` values, for rows with the same
/// leading sizes, or a number for a vector; `out_int32` for int32 results; `right` puts a value behind those equal to
/// it, as does `side='right'`; `sorter` the indices that sort the sequence, if it is not sorted. NaN comes last.
/// Returns: int64, of the shape of `input`. No derivative. Raises: RuntimeError if shapes are incompatible, for another
/// `side` or one that contradicts `right`, or indices out of range; NotImplementedError for bool and complex dtypes.
///
/// >>> rg.searchsorted(rg.tensor([1, 3, 5]), rg.tensor([3, 6, 0])).tolist()
/// [1, 3, 0]
#[op(
    function,
    out = OutDtype::Same(&[
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on \
         whether out_int32 flag is True, but we got output tensor's dtype {Out}",
    ]),
    norust, "(*, out_int32=False, right=False, side=None, sorter=None)"
)]
pub fn searchsorted(
    sorted_sequence: &Tensor,
    #[operand] input: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    const OP: &str = "searchsorted";
    let refuse = |detail: String| Err(Error::shape(OP, detail));
    match side {
        None | Some("right") => {}
        Some("left") if !right => {}
        Some("left") => {
            return refuse("side and right can't be set to opposites, got side of left while right was True".into());
        }
        Some(other) => return refuse(format!("side can only be 'left' or 'right' but got {other}")),
    }
    if let Some(sorter) = sorter {
        if sorter.sizes() != sorted_sequence.sizes() {
            return refuse(format!(
                "boundary and sorter must have the same size, but got boundary tensor {:?} and got sorter tensor {:?}",
                sorted_sequence.sizes(),
                sorter.sizes()
            ));
        }
        if sorter.dtype() != DType::Int64 {
            return Err(Error::dtype(
                OP,
                format!(
                    "sorter must be a tensor of long dtype but got dtype {}: convert with .to(int64)",
                    sorter.dtype().scalar_type_name()
                ),
            ));
        }
    }
    check(OP, sorted_sequence, input, out_int32)?;
    warn_of_copies(sorted_sequence, input, sorter);
    let op = Search { right: right || side == Some("right"), int32: out_int32 };
    match sorter {
        None => apply1(op, &[sorted_sequence, input]),
        Some(sorter) => apply1(op, &[sorted_sequence, input, sorter]),
    }
}

/// Warns once of operands that are copied first.
fn warn_of_copies(sorted: &Tensor, values: &Tensor, sorter: Option<&Tensor>) {
    use warn::Once::{SearchedSequence, SearchedSorter, SearchedValues};
    let operands = [
        (SearchedValues, "input value tensor", Some(values)),
        (SearchedSequence, "boundary tensor", Some(sorted)),
        (SearchedSorter, "sorter tensor", sorter),
    ];
    for (which, name, x) in operands {
        if x.is_some_and(|x| !x.is_contiguous()) {
            warn::once(
                which,
                &format!(
                    "retrograd.searchsorted(): {name} is non-contiguous, this will lower the performance due to extra data \
                     copy when converting non-contiguous tensor to contiguous, please use contiguous {name} if possible. \
                     This message will only appear once per program."
                ),
            );
        }
    }
}

/// Which of the boundaries each value is between: the index of the boundary after it.
///
/// Args: `input` values, or a number; `boundaries` a vector that rises; `out_int32` for int32 results; `right` puts a
/// value equal to a boundary behind it. NaN comes last. Returns: int64, of the shape of `input`. No derivative. Raises:
/// RuntimeError if `boundaries` is no vector; NotImplementedError for bool and complex dtypes.
///
/// >>> rg.bucketize(rg.tensor([3, 6, 0]), rg.tensor([1, 3, 5])).tolist()
/// [1, 3, 0]
#[op(
    function,
    out = OutDtype::Same(&[
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on \
         whether out_int32 flag is True, but we got output tensor's dtype {Out}",
    ]),
    norust, "(*, out_int32=False, right=False)"
)]
pub fn bucketize(#[operand] input: &Tensor, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
    if boundaries.ndim() != 1 {
        return Err(Error::shape(
            "bucketize",
            format!("boundaries tensor must be 1 dimension, but got dim({})", boundaries.ndim()),
        ));
    }
    check("bucketize", boundaries, input, out_int32)?;
    warn_of_copies(boundaries, input, None);
    apply1(Search { right, int32: out_int32 }, &[boundaries, input])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_equal_elements() {
        let s = Tensor::from_slice(&[1.0f32, 3.0, 5.0, f32::NAN], &[4]).unwrap();
        let v = Tensor::from_slice(&[f32::NAN, 3.0, 0.0, 9.0], &[2, 2]).unwrap();
        let at = |right| bucketize(&v, &s, false, right).unwrap().to_vec::<i64>().unwrap();
        assert_eq!((at(false), at(true)), (vec![4, 1, 0, 4], vec![4, 2, 0, 4]));
    }

    #[test]
    fn rows_of_every_length() {
        for n in (0..70).chain([127, 128, 129]) {
            // Some elements are equal, and some values between two of them.
            let row: Vec<i64> = (0..n).map(|i| i / 3 * 2).collect();
            let values: Vec<i64> = (-2..n + 2).collect();
            let s = Tensor::from_slice(&row, &[n as usize]).unwrap();
            let v = Tensor::from_slice(&values, &[values.len()]).unwrap();
            for right in [false, true] {
                let got = bucketize(&v, &s, false, right).unwrap().to_vec::<i64>().unwrap();
                for (value, got) in values.iter().zip(got) {
                    let want = row.iter().filter(|&x| if right { x <= value } else { x < value }).count();
                    assert_eq!(got, want as i64, "{value} among {n}, {right}");
                }
            }
        }
    }

    #[test]
    fn rows_and_orders() {
        let s = Tensor::from_slice(&[5i64, 1, 3, 2, 4, 0], &[2, 3]).unwrap();
        let order = Tensor::from_slice(&[1i64, 2, 0, 2, 0, 1], &[2, 3]).unwrap();
        let v = Tensor::from_slice(&[3i64, 6, 3, 0], &[2, 2]).unwrap();
        let found = searchsorted(&s, &v, true, false, None, Some(&order)).unwrap();
        assert_eq!((found.dtype(), found.to_vec::<i64>().unwrap()), (DType::Int32, vec![1, 3, 2, 0]));
        assert!(searchsorted(&s, &v, false, false, None, Some(&s)).is_err());
        assert!(searchsorted(&s, &Tensor::zeros(&[], DType::Int64).unwrap(), false, false, None, None).is_err());
    }
}
