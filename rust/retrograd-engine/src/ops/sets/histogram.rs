//! Histograms: how many elements are between edges.

use retrograd_macros::op;
use smallvec::smallvec;

use super::no_derivative;
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::error::{Error, Result};
use crate::kernels::real::Real;
use crate::match_dtype;
use crate::ops::create::linspace;
use crate::tensor::copy;
use crate::tensor::{DType, Dims, Dtypes, Element, Scalar, Tensor};

/// The smallest and the largest element; NaN if there is one.
fn reach<T: Real + Into<f64>>(x: &[T]) -> Option<[f64; 2]> {
    /// Extremes that do not wait for one another.
    const LANES: usize = 16;
    let first = *x.first()?;
    let (mut low, mut high) = ([first; LANES], [first; LANES]);
    for x in x.chunks(LANES) {
        for ((low, high), &v) in low.iter_mut().zip(&mut high).zip(x) {
            (*low, *high) = (low.smaller(v), high.larger(v));
        }
    }
    let low = low.into_iter().fold(first, T::smaller);
    let high = high.into_iter().fold(first, T::larger);
    Some([low.into(), high.into()])
}

/// Adds every element to its bin, of evenly spaced ones; the last edge belongs to the last bin.
fn count<T: Real + Into<f64>>(x: &[T], edges: &[T], bins: &mut [f64]) {
    /// Elements whose bins are found before they are counted.
    const TOGETHER: usize = 256;
    /// Neighbours are counted apart: a count would wait for the one before.
    const APART: usize = 4;
    let n = bins.len();
    let (first, last) = (edges[0], edges[n]);
    let number = T::of(n as f64);
    let width = last.sub(first);
    // One more bin for what is outside.
    let mut counts = vec![[0usize; APART]; n + 1];
    for x in x.chunks(TOGETHER) {
        let mut places = [T::ZERO; TOGETHER];
        for (place, &v) in places.iter_mut().zip(x) {
            *place = v.sub(first).mul(number).div(width);
        }
        for (i, (&v, &place)) in x.iter().zip(&places).enumerate() {
            let inside = (v >= first) & (v <= last);
            let at = if inside { (place.into() as i64 as usize).min(n - 1) } else { n };
            counts[at][i % APART] += 1;
        }
    }
    for (bin, counts) in bins.iter_mut().zip(&counts) {
        *bin += counts.iter().sum::<usize>() as f64;
    }
}

/// Adds the weight of every element (1 without weights) to its bin. The last edge belongs to the last bin.
///
/// `even`: the edges are evenly spaced, so that a division finds the bin, up to those next to it.
fn fill<T: Real + Into<f64>>(x: &[T], weights: Option<&[T]>, edges: &[T], even: bool, bins: &mut [f64]) {
    let n = bins.len();
    let (first, last) = (edges[0], edges[n]);
    let count = T::of(n as f64);
    let width = last.sub(first);
    for (i, &v) in x.iter().enumerate() {
        if !(v >= first && v <= last) {
            continue;
        }
        let near = if even { v.sub(first).mul(count).div(width).into() as usize } else { 0 };
        let (low, high) = if even { (near.saturating_sub(1), (near + 2).min(n + 1)) } else { (0, n + 1) };
        let at = (low + edges[low..high].partition_point(|&edge| edge <= v)).saturating_sub(1);
        bins[at.min(n - 1)] += weights.map_or(1.0, |w| w[i].into());
    }
}

/// `bins + 1` edges from one number to another.
pub(super) fn edges_between([low, high]: [f64; 2], bins: usize, dtype: DType) -> Result<Tensor> {
    linspace(Scalar::Float(low), Scalar::Float(high), bins as i64 + 1, dtype.into())
}

pub(super) fn check_bins(op: &'static str, bins: i64, dim: usize) -> Result<usize> {
    usize::try_from(bins).ok().filter(|&n| n > 0).ok_or_else(|| {
        Error::shape(op, format!("torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}"))
    })
}

/// `histc`: of each entry, if the first `lead` axes are batches.
#[derive(Clone, Debug)]
struct Histc {
    bins: usize,
    reach: [f64; 2],
    lead: usize,
}

impl Histc {
    /// The outer edges for these elements.
    fn reach_for<T: Real + Into<f64>>(&self, x: &[T]) -> Result<[f64; 2]> {
        let [mut low, mut high] = self.reach;
        if low == high {
            [low, high] = reach(x).unwrap_or([low, high]);
        }
        if low == high {
            [low, high] = [low - 1.0, high + 1.0];
        }
        let refuse = |detail: String| Err(Error::shape(Self::NAME, detail));
        if !low.is_finite() || !high.is_finite() {
            return refuse(format!("range of [{low}, {high}] is not finite"));
        }
        if low > high {
            return refuse(format!("max must be larger than min, got {high} and {low}"));
        }
        Ok([low, high])
    }
}

impl Primitive for Histc {
    const NAME: &'static str = "histc";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(Self { lead: p.lead + 1, ..*p }));
    const JVP: Tangents<Self> = Tangents::Zero;
    fn kernel_name(&self) -> &'static str {
        "histogram_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let (lead, entry) = x.sizes().split_at(self.lead);
        let size = crate::tensor::layout::numel(entry);
        let mut sizes = Dims::from_slice(lead);
        sizes.push(self.bins);
        match_dtype!(floats, x.dtype(), T => {
            let from = x.as_slice::<T>().expect("contiguous and of this dtype");
            let mut counts = vec![0.0; crate::tensor::layout::checked_numel(Self::NAME, &sizes)?];
            for (i, counts) in counts.chunks_mut(self.bins).enumerate() {
                let from = &from[i * size..(i + 1) * size];
                let edges = edges_between(self.reach_for(from)?, self.bins, x.dtype())?;
                count(from, edges.as_slice::<T>().expect("fresh"), counts);
            }
            Tensor::build::<T>(&sizes, |to| to.iter_mut().zip(&counts).for_each(|(to, &n)| *to = n as T)).map(out)
        })
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, REMEDY)
    }
}

const REMEDY: &str = "counts do not change with the elements: detach them";

/// How many elements are in each bin, of bins of equal width; those outside are not counted.
///
/// Args: `input` a floating dtype; `bins` how many; `min`, `max` the outer edges, by default (and if equal) the
/// smallest and largest element. Returns: a vector of `bins` counts in the dtype of `input`. No derivative. Raises:
/// RuntimeError if `bins` is not positive, or the edges are not finite or reversed; NotImplementedError for integers.
///
/// >>> rg.histc(rg.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
/// [0.0, 2.0, 1.0, 0.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist \
         {out}",
    ]),
    "(bins=100, min=0, max=0)"
)]
pub fn histc(input: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<Tensor> {
    let bins = check_bins("histc", bins, 0)?;
    apply1(Histc { bins, reach: [min.as_f64(), max.as_f64()], lead: 0 }, &[&input.detach()])
}

/// `histogram`. Operands: the elements, then the edges or a weight of each element, if given. Results: the sums, the
/// edges.
#[derive(Clone, Debug)]
struct Histogram {
    /// Number of bins and outer edges; `None` if the edges are an operand.
    even: Option<(usize, Option<[f64; 2]>)>,
    weighted: bool,
    density: bool,
    lead: usize,
}

const OP: &str = "histogram";

/// The outer edges, by default those of the elements; moved apart if they are equal.
pub(super) fn outer<T: Real + Into<f64>>(
    op: &'static str,
    dim: usize,
    x: &[T],
    given: Option<[f64; 2]>,
) -> Result<[f64; 2]> {
    let [low, high] = given.or_else(|| reach(x)).unwrap_or([0.0, 1.0]);
    if !low.is_finite() || !high.is_finite() {
        return Err(Error::shape(op, format!("torch.{op}: dimension {dim}'s range [{low}, {high}] is not finite")));
    }
    if low > high {
        return Err(Error::shape(
            op,
            format!("torch.{op}: min should not exceed max, but got min {low} max {high} for dimension {dim}"),
        ));
    }
    Ok(if low == high { [low - 0.5, high + 0.5] } else { [low, high] })
}

impl Histogram {
    fn run<T: Real + Element + Into<f64>>(
        &self,
        x: &Tensor,
        weights: Option<&Tensor>,
        edges: Option<&Tensor>,
    ) -> Result<Outs> {
        const WHY: &str = "contiguous and of this dtype";
        let (lead, entry) = x.sizes().split_at(self.lead);
        let (entries, size) = (crate::tensor::layout::numel(lead), crate::tensor::layout::numel(entry));
        let bins = match (self.even, edges) {
            (Some((bins, _)), _) => bins,
            (None, Some(edges)) => *edges.sizes().last().expect("checked to be a vector") - 1,
            (None, None) => unreachable!("edges are given where they are not even"),
        };
        let sizes = |n: usize| lead.iter().copied().chain([n]).collect::<Dims>();
        let (mut sums, mut all_edges) = (Vec::<T>::new(), Vec::<T>::new());
        let x = x.as_slice::<T>().expect(WHY);
        for i in 0..entries {
            let range = i * size..(i + 1) * size;
            let x = &x[range.clone()];
            let weights = weights.map(|w| &w.as_slice::<T>().expect(WHY)[range]);
            let own;
            let edges = match (self.even, edges) {
                (None, Some(edges)) => &edges.as_slice::<T>().expect(WHY)[i * (bins + 1)..][..bins + 1],
                (even, _) => {
                    own = edges_between(outer(OP, 0, x, even.and_then(|(_, given)| given))?, bins, T::DTYPE)?;
                    own.as_slice::<T>().expect(WHY)
                }
            };
            let mut found = vec![0.0; bins];
            fill(x, weights, edges, self.even.is_some(), &mut found);
            if self.density {
                let total: f64 = found.iter().sum();
                for (sum, ends) in found.iter_mut().zip(edges.windows(2)) {
                    *sum = *sum / total / (ends[1].into() - ends[0].into());
                }
            }
            sums.extend(found.into_iter().map(T::of));
            all_edges.extend_from_slice(edges);
        }
        Ok(smallvec![Tensor::from_slice(&sums, &sizes(bins))?, Tensor::from_slice(&all_edges, &sizes(bins + 1))?])
    }
}

impl Primitive for Histogram {
    const NAME: &'static str = OP;
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let all = xs.iter().zip(axes).map(|(x, axis)| crate::ops::view::batch_first(x, *axis, batch));
        let all = all.collect::<Result<Vec<_>>>()?;
        let outs = apply(Self { lead: p.lead + 1, ..p.clone() }, &all.iter().collect::<Vec<_>>())?;
        Ok((outs, smallvec![Some(0), Some(0)]))
    });
    fn kernel_name(&self) -> &'static str {
        "histogramdd"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let all = xs.iter().map(|x| copy::contiguous(x)).collect::<Result<Vec<_>>>()?;
        let edges = self.even.is_none().then(|| &all[1]);
        let weights = self.weighted.then(|| &all[all.len() - 1]);
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(&all[0], weights, edges))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(OP, REMEDY)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(OP, REMEDY));
}

fn histogram_of(
    input: &Tensor,
    edges: Option<&Tensor>,
    even: Option<(usize, Option<[f64; 2]>)>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Tensor)> {
    if let Some(w) = weight {
        if w.dtype() != input.dtype() {
            return Err(Error::dtype(
                OP,
                format!(
                    "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input({}), and \
                     weight({})",
                    input.dtype().name(),
                    w.dtype().name()
                ),
            ));
        }
        if w.sizes() != input.sizes() {
            return Err(Error::shape(
                OP,
                format!(
                    "if weight tensor is provided it should have the same shape as the input tensor, but got input with shape {:?} \
                     and weight with shape {:?}",
                    input.sizes(),
                    w.sizes()
                ),
            ));
        }
    }
    let xs: Vec<&Tensor> = [Some(input), edges, weight].into_iter().flatten().collect();
    let mut outs = apply(Histogram { even, weighted: weight.is_some(), density, lead: 0 }, &xs)?;
    let edges = outs.swap_remove(1);
    Ok((outs.swap_remove(0), edges))
}

/// How many elements are in each bin, of bins with given edges; and these edges.
///
/// A bin takes the elements from its lower edge to below its upper one; the last bin takes both.
///
/// Args: `input` float32 or float64; `bins` the edges, a vector that rises, of the same dtype; `weight` what each
/// element counts, of the shape of `input`; `density` divides the counts by their sum and by the widths of the bins.
/// Returns: `(hist, bin_edges)`. Derivative: not implemented, as in torch. Raises: RuntimeError if shapes or dtypes are
/// incompatible, or there is no bin; NotImplementedError for integers.
///
/// >>> rg.histogram(rg.tensor([1.0, 2.0, 4.0]), rg.tensor([0.0, 2.0, 4.0])).hist.tolist()
/// [1.0, 2.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist \
         {out}",
        "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input {result} and \
         bin_edges {out}",
    ]),
    norust, name = "histogram", fields("hist", "bin_edges"), "(*, weight=None, density=False)"
)]
pub fn histogram_edges(
    input: &Tensor,
    bins: &Tensor,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Tensor)> {
    if bins.ndim() != 1 || bins.numel() == 0 {
        let has = if bins.ndim() == 1 {
            "at least 1 element, but got 0 elements".into()
        } else {
            format!("one dimension, but got {} dimensions", bins.ndim())
        };
        return Err(Error::shape(OP, format!("bins tensor should have {has} in the bins tensor for dimension 0")));
    }
    if bins.dtype() != input.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "input tensor and bins tensors should have the same dtype, but got input with dtype {} and bins for dimension 0 \
                 with dtype {}",
                input.dtype().name(),
                bins.dtype().name()
            ),
        ));
    }
    check_bins(OP, bins.numel() as i64 - 1, 0)?;
    histogram_of(input, Some(bins), None, weight, density)
}

/// As above, for bins of equal width.
///
/// Args: `bins` how many; `range` the outer edges `(low, high)`, by default the smallest and largest element; the rest
/// as above. Raises: RuntimeError if `range` is not finite or falls.
///
/// >>> rg.histogram(rg.tensor([1.0, 2.0, 4.0]), 2, range=(0.0, 4.0)).hist.tolist()
/// [1.0, 2.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist \
         {out}",
        "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input {result} and \
         bin_edges {out}",
    ]),
    norust, fields("hist", "bin_edges"), "(bins=100, *, range=None, weight=None, density=False)"
)]
pub fn histogram(
    input: &Tensor,
    bins: i64,
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Tensor)> {
    let bins = check_bins(OP, bins, 0)?;
    let range = match range {
        None => None,
        Some(&[low, high]) => Some([low, high]),
        Some(other) => {
            return Err(Error::shape(
                OP,
                format!("for a 1-dimensional histogram range should have 2 elements, but got {}", other.len()),
            ));
        }
    };
    histogram_of(input, None, Some((bins, range)), weight, density)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_belong_to_the_bin_above_but_the_last() {
        let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 0.0, 4.0, f32::NAN], &[6]).unwrap();
        let counts = x.histc(4, Scalar::Int(0), Scalar::Int(4)).unwrap();
        assert_eq!(counts.to_vec::<f32>().unwrap(), [1.0, 1.0, 1.0, 2.0]);
        assert!(
            x.histc(4, Scalar::Int(0), Scalar::Int(0)).is_err() && x.histc(0, Scalar::Int(0), Scalar::Int(1)).is_err()
        );
        let edges = Tensor::from_slice(&[0.0f32, 2.0, 4.0], &[3]).unwrap();
        let (sums, _) = histogram_edges(&x, &edges, None, true).unwrap();
        assert_eq!(sums.to_vec::<f32>().unwrap(), [0.2, 0.3]);
    }

    #[test]
    fn ranges() {
        let x = Tensor::from_slice(&[2.0f64, 2.0], &[2]).unwrap();
        assert_eq!(histogram(&x, 2, None, None, false).unwrap().1.to_vec::<f64>().unwrap(), [1.5, 2.0, 2.5]);
        assert_eq!(x.histc(3, Scalar::Int(0), Scalar::Int(0)).unwrap().to_vec::<f64>().unwrap(), [0.0, 2.0, 0.0]);
        assert!(histogram(&x, 2, Some(&[1.0]), None, false).is_err());
        assert!(histogram(&x, 2, Some(&[2.0, 1.0]), None, false).is_err());
    }
}
