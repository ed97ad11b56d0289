//! `segment_reduce`: reductions of neighbouring slices, whose numbers or borders are given.

use retrograd_macros::op;
use smallvec::smallvec;

use super::scatter_reduce::{Reduction, ScatterReduce};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::memory::cast;
use crate::ops::pointwise::select::maximum;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Dtypes, Element, FromScalar, Scalar, Tensor};

const OP: &str = "segment_reduce";

/// `segment_reduce`. Operands: the data, and the lengths of the segments or (`OFFSETS`) where they begin and end.
///
/// A segment is a place that its elements are scattered to: [`ScatterReduce::partials`] has the derivatives.
#[derive(Clone, Debug)]
struct SegmentReduce<const OFFSETS: bool> {
    axis: usize,
    reduction: Reduction,
    initial: Option<Scalar>,
    /// As the user named it.
    reduce: String,
}

impl<const OFFSETS: bool> SegmentReduce<OFFSETS> {
    fn start(&self) -> f64 {
        self.initial.map_or_else(
            || match self.reduction {
                Reduction::Prod => 1.0,
                Reduction::AMax => f64::NEG_INFINITY,
                Reduction::AMin => f64::INFINITY,
                Reduction::Sum | Reduction::Mean => 0.0,
            },
            Scalar::as_f64,
        )
    }

    /// The segments of each row of the axis, as ranges of its indices; and how many there are in a row.
    fn segments(&self, data: &[usize], given: &Tensor) -> Result<(Vec<(usize, usize)>, usize)> {
        let refused = |detail: String| Err(Error::shape(OP, format!("segment_reduce(): {detail}")));
        let numbers = copy::contiguous(&copy::cast(&given.detach(), DType::Int64)?)?.to_vec::<i64>()?;
        let width = given.sizes()[self.axis];
        let count = if OFFSETS { width.saturating_sub(1) } else { width };
        let n = data[self.axis] as i64;
        let mut segments = Vec::new();
        for row in numbers.chunks(width.max(1)) {
            let mut end = 0;
            for i in 0..count {
                let begin = if OFFSETS { row[i] } else { end };
                end = if OFFSETS { row[i + 1] } else { end.saturating_add(row[i]) };
                if begin < 0 || end < begin || end > n {
                    return refused(format!(
                        "a segment from {begin} to {end} does not lie within the {n} indices of dimension {}",
                        self.axis
                    ));
                }
                segments.push((begin as usize, end as usize));
            }
        }
        Ok((segments, count))
    }

    /// For every element of the data its segment; the one behind the last for those that are in none.
    fn places(&self, data: &Tensor, given: &Tensor) -> Result<(Tensor, usize)> {
        let (segments, count) = self.segments(data.sizes(), given)?;
        let n = data.sizes()[self.axis];
        let rows: usize = data.sizes()[..self.axis].iter().product();
        let mut places = vec![count as i64; rows * n];
        for row in 0..rows {
            for (i, &(begin, end)) in segments[row * count..(row + 1) * count].iter().enumerate() {
                places[row * n + begin..row * n + end].fill(i as i64);
            }
        }
        let mut sizes = Dims::from_slice(&data.sizes()[..=self.axis]);
        let mut places = Tensor::from_slice(&places, &sizes)?;
        sizes.resize(data.ndim(), 1);
        places = view::reshape_to(&places, &sizes)?;
        Ok((view::expand_to(&places, data.sizes())?, count))
    }

    /// With a slice of zeros behind the last segment.
    fn padded(&self, t: &Tensor) -> Result<Tensor> {
        let mut sizes = Dims::from_slice(t.sizes());
        sizes[self.axis] = 1;
        view::cat(&[t.clone(), Tensor::zeros(&sizes, t.dtype())?], self.axis as i64)
    }

    /// Where the elements of the data lead, and the derivative of the result there by each of them.
    fn partials(&self, data: &Tensor, given: &Tensor, result: &Tensor) -> Result<(Tensor, Tensor)> {
        let (places, _) = self.places(data, given)?;
        let result = self.padded(result)?;
        let axis = self.axis as i64;
        let by = match self.reduction {
            // Split evenly among the elements that are equal to the result; what the reduction began with gets no
            // share.
            Reduction::AMax | Reduction::AMin => {
                let is = cast(&data.eq(&result.gather(axis, &places)?)?, result.dtype())?;
                let count = Tensor::zeros(result.sizes(), result.dtype())?.scatter_add(axis, &places, &is)?;
                let one = Tensor::ones(&[], result.dtype())?;
                is.div(&maximum(&count, &one)?.gather(axis, &places)?)?
            }
            _ => {
                // What a product begins with is a factor.
                let first = Tensor::full(result.sizes(), Scalar::Float(self.start()), result.dtype())?;
                let include_self = self.reduction == Reduction::Prod;
                let whole = ScatterReduce { dim: self.axis, reduction: self.reduction, include_self };
                let [_, by] = whole.partials(&first, &places, data, &result)?;
                by.map_or_else(|| Tensor::ones(data.sizes(), data.dtype()), Ok)?
            }
        };
        let outside = places.eq(&Tensor::number(Scalar::Int(result.sizes()[self.axis] as i64 - 1))?)?;
        Ok((places, by.masked_fill(&outside, &Tensor::number(Scalar::Int(0))?)?))
    }

    fn run<T: Element + FromScalar>(&self, data: &Tensor, given: &Tensor) -> Result<Tensor>
    where
        f64: From<T>,
    {
        let (segments, count) = self.segments(data.sizes(), given)?;
        let n = data.sizes()[self.axis];
        let inner: usize = data.sizes()[self.axis + 1..].iter().product();
        let from = copy::contiguous(data)?;
        let from = from.as_slice::<T>().expect("contiguous and of this dtype");
        let mut sizes = Dims::from_slice(data.sizes());
        sizes[self.axis] = count;
        let mut sums = vec![0.0; inner];
        Tensor::build::<T>(&sizes, |to| {
            if inner == 0 || count == 0 {
                return;
            }
            for (i, (to, &(begin, end))) in to.chunks_mut(inner).zip(&segments).enumerate() {
                sums.fill(self.start());
                for slice in begin..end {
                    let slice = &from[(i / count * n + slice) * inner..][..inner];
                    for (sum, &v) in sums.iter_mut().zip(slice) {
                        let v = f64::from(v);
                        *sum = match self.reduction {
                            Reduction::Sum | Reduction::Mean => *sum + v,
                            Reduction::Prod => *sum * v,
                            Reduction::AMax if v > *sum || v.is_nan() => v,
                            Reduction::AMin if v < *sum || v.is_nan() => v,
                            Reduction::AMax | Reduction::AMin => *sum,
                        };
                    }
                }
                let shares = match (self.reduction, end - begin) {
                    (Reduction::Mean, 0) if self.initial.is_none() => f64::NAN,
                    (Reduction::Mean, count) if count > 0 => count as f64,
                    _ => 1.0,
                };
                to.iter_mut().zip(&sums).for_each(|(to, &sum)| *to = T::from_scalar(Scalar::Float(sum / shares)));
            }
        })
    }
}

impl<const OFFSETS: bool> Primitive for SegmentReduce<OFFSETS> {
    const NAME: &'static str = OP;
    const NODE: &'static str = "SegmentReduceBackward0";
    const SAVE: &'static [Save] = &[
        Save::input(0, "data"),
        Save::input(1, if OFFSETS { "offsets" } else { "lengths" }),
        Save::output(0, "result"),
    ];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Loop;
    fn kernel_name(&self) -> &'static str {
        "_segment_reduce_cpu"
    }
    fn inputs(&self) -> u32 {
        0b01
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let other = if OFFSETS { "lengths" } else { "offsets" };
        let reduce = Value::Str(self.reduce.clone());
        vec![("axis", self.axis.into()), ("initial", self.initial.into()), ("reduce", reduce), (other, Value::None)]
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs[0], xs[1])).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (places, by) = self.partials(cx.saved(0)?, cx.saved(1)?, cx.saved(2)?)?;
        Ok(smallvec![Some(self.padded(cx.g())?.gather(self.axis as i64, &places)?.mul(&by)?), None])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let (places, by) = op.partials(cx.xs[0], cx.xs[1], &cx.outs[0])?;
        let (axis, count) = (op.axis as i64, cx.outs[0].sizes()[op.axis] as i64);
        let start = op.padded(&Tensor::zeros(cx.outs[0].sizes(), t.dtype())?)?;
        start.scatter_add(axis, &places, &t.mul(&by)?)?.narrow(axis, 0, count).map(one)
    });
}

/// What the segments must be, unless `unsafe` says that they are.
fn check(data: &Tensor, axis: usize, given: &Tensor, offsets: bool, trusted: bool) -> Result<()> {
    let refused = |detail: String| Err(Error::shape(OP, detail));
    let name = if offsets { "offsets" } else { "lengths" };
    if !matches!(given.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::no_kernel(
            if offsets { "_segment_reduce_offsets_cpu_kernel1" } else { "_segment_reduce_lengths_cpu_kernel1" },
            given.dtype(),
        ));
    }
    if axis + 1 != given.ndim() {
        return refused(format!(
            "segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}, with {name} of shape {:?}",
            given.sizes()
        ));
    }
    if data.ndim() < given.ndim() || data.sizes()[..axis] != given.sizes()[..axis] {
        return refused(format!(
            "segment_reduce(): data of shape {:?} and {name} of shape {:?} differ before dimension {axis}",
            data.sizes(),
            given.sizes()
        ));
    }
    if trusted || given.numel() == 0 || given.is_batched() {
        return Ok(());
    }
    let given = given.detach();
    if !offsets {
        if given.lt(&Tensor::number(Scalar::Int(0))?)?.any()?.is_nonzero()? {
            return refused("lengths contains negative value!".into());
        }
        let whole = Tensor::number(Scalar::Int(data.sizes()[axis] as i64))?;
        if given.sum_dims(&[-1], false)?.ne(&whole)?.any()?.is_nonzero()? {
            return refused(format!(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe. It is \
                 {}",
                data.sizes()[axis]
            ));
        }
    }
    Ok(())
}

/// Each segment of a dimension reduced to one element: neighbouring slices, whose numbers or borders are given.
///
/// Args: `data` a floating dtype; `reduce` is "sum", "mean", "max", "min" or "prod"; `lengths` int32 or int64, how many
/// indices of `axis` each segment has; or `offsets` where each begins, and behind them the end of the last; both with
/// the sizes of `data` before `axis`, their last dimension; `unsafe` does not check that the lengths sum to the size of
/// the dimension; `indices` None, as in torch; `initial` is what each reduction begins with: for a segment without
/// indices it is the result, which is else 0 for a sum, 1 for a product, an infinity for extremes and NaN for a
/// mean. Returns: `data` with one element per segment along `axis`. Derivative: that of the reduction, for extremes `g`
/// split evenly among equal elements.
/// Raises: RuntimeError if segments do not lie within `data`, or both `lengths` and `offsets` are missing;
/// NotImplementedError for integers.
///
/// >>> rg.segment_reduce(rg.tensor([1.0, 2.0, 4.0]), "sum", lengths=rg.tensor([2, 1])).tolist()
/// [3.0, 4.0]
#[op(
    function,
    aliases("_segment_reduce"),
    "(*, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None)"
)]
pub fn segment_reduce(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    indices: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    r#unsafe: bool,
    initial: Option<Scalar>,
) -> Result<Tensor> {
    let axis = wrap_dim(OP, axis, data.ndim())?;
    let reduction = match reduce {
        "sum" => Reduction::Sum,
        "mean" => Reduction::Mean,
        "max" | "amax" => Reduction::AMax,
        "min" | "amin" => Reduction::AMin,
        "prod" => Reduction::Prod,
        other => {
            return Err(Error::shape(
                OP,
                format!("reduce argument must be either sum, prod, mean, amax or amin, got {other}"),
            ));
        }
    };
    if indices.is_some() {
        return Err(Error::shape(OP, "segment_reduce(): indices based reduction is not supported yet."));
    }
    let reduce = reduce.to_owned();
    match (offsets, lengths) {
        (Some(offsets), _) => {
            check(data, axis, offsets, true, r#unsafe)?;
            apply1(SegmentReduce::<true> { axis, reduction, initial, reduce }, &[data, offsets])
        }
        (None, Some(lengths)) => {
            check(data, axis, lengths, false, r#unsafe)?;
            apply1(SegmentReduce::<false> { axis, reduction, initial, reduce }, &[data, lengths])
        }
        (None, None) => Err(Error::shape(OP, "segment_reduce(): Either lengths or offsets must be defined.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let lengths = Tensor::from_slice(&[2i64, 0, 3], &[3]).unwrap();
        let rows = Tensor::from_slice(&[0i64, 1, 3, 2, 2, 4], &[2, 3]).unwrap();
        for reduce in ["sum", "mean", "max", "min", "prod"] {
            let f = |xs: &[Tensor]| {
                segment_reduce(&xs[0], reduce, Some(&lengths), None, None, 0, false, Some(Scalar::Float(0.7)))?.sin()
            };
            gradcheck(&f, &[noise(1, &[5, 2])]);
            let f =
                |xs: &[Tensor]| segment_reduce(&xs[0], reduce, None, None, Some(&rows), 1, false, Some(Scalar::Int(1)));
            gradcheck(&f, &[noise(2, &[2, 4, 2])]);
        }
        assert!(segment_reduce(&noise(1, &[4]), "sum", Some(&lengths), None, None, 0, false, None).is_err());
        assert!(segment_reduce(&noise(1, &[4]), "sum", Some(&lengths), None, None, 0, true, None).is_err());
    }
}
