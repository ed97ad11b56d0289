//! `histogramdd`: how many points are in each cell of a grid.

use retrograd_macros::op;

use super::histogram::{check_bins, edges_between, outer};
use super::no_derivative;
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp};
use crate::error::{Error, Result};
use crate::kernels::real::Real;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::{Dims, Dtypes, Element, Tensor};

const OP: &str = "histogramdd";
const REMEDY: &str = "counts do not change with the points: detach them";

/// `histogramdd` of points, the rows of a matrix. Operands: the points, the edges of each axis if they are given, and
/// the weights of the points. Results: the sums, the edges of each axis.
#[derive(Clone, Debug)]
struct HistogramDd {
    /// Numbers of bins, and outer edges of all axes; `None` if the edges are operands.
    even: Option<(Vec<usize>, Option<Vec<f64>>)>,
    weighted: bool,
    density: bool,
}

/// The bin of a number, of edges that rise; the last edge belongs to the last bin.
fn bin<T: Real>(edges: &[T], v: T) -> Option<usize> {
    let n = edges.len() - 1;
    (v >= edges[0] && v <= edges[n]).then(|| (edges.partition_point(|&edge| edge <= v) - 1).min(n - 1))
}

impl HistogramDd {
    fn run<T: Real + Element + Into<f64>>(
        &self,
        points: &Tensor,
        edges: &[Tensor],
        weights: Option<&Tensor>,
    ) -> Result<Outs> {
        const WHY: &str = "contiguous and of this dtype";
        let axes = points.sizes()[1];
        let x = points.as_slice::<T>().expect(WHY);
        let mut all_edges: Vec<Tensor> = Vec::with_capacity(axes);
        for axis in 0..axes {
            all_edges.push(match &self.even {
                None => copy::copy(&edges[axis])?,
                Some((bins, range)) => {
                    let given = range.as_ref().map(|r| [r[2 * axis], r[2 * axis + 1]]);
                    let column: Vec<T> = x.iter().skip(axis).step_by(axes).copied().collect();
                    edges_between(outer(OP, axis, &column, given)?, bins[axis], T::DTYPE)?
                }
            });
        }
        let borders: Vec<&[T]> = all_edges.iter().map(|e| e.as_slice::<T>().expect(WHY)).collect();
        let sizes: Dims = borders.iter().map(|e| e.len() - 1).collect();
        let mut found = vec![0.0; crate::tensor::layout::checked_numel(OP, &sizes)?];
        for i in 0..points.sizes()[0] {
            let point = &x[i * axes..(i + 1) * axes];
            let cell = point.iter().zip(&borders).try_fold(0, |cell, (&v, e)| Some(cell * (e.len() - 1) + bin(e, v)?));
            if let Some(cell) = cell {
                found[cell] += weights.map_or(1.0, |w| w.as_slice::<T>().expect(WHY)[i].into());
            }
        }
        if self.density {
            let total: f64 = found.iter().sum();
            for (mut cell, sum) in found.iter_mut().enumerate() {
                *sum /= total;
                for e in borders.iter().rev() {
                    let (n, at) = (e.len() - 1, cell % (e.len() - 1));
                    let width: f64 = e[at + 1].into() - e[at].into();
                    (*sum, cell) = (*sum / width, cell / n);
                }
            }
        }
        let found: Vec<T> = found.into_iter().map(T::of).collect();
        Ok(std::iter::once(Tensor::from_slice(&found, &sizes)?).chain(all_edges).collect())
    }
}

impl Primitive for HistogramDd {
    const NAME: &'static str = OP;
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Loop;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let all = xs.iter().map(|x| copy::contiguous(x)).collect::<Result<Vec<_>>>()?;
        let (weights, rest) =
            if self.weighted { all.split_last() } else { None }.map_or((None, &all[..]), |(w, r)| (Some(w), r));
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(&rest[0], &rest[1..], weights))
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(OP, REMEDY)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(OP, REMEDY));
}

fn refused<T>(detail: String) -> Result<T> {
    Err(Error::shape(OP, format!("torch.histogramdd: {detail}")))
}

/// The number of axes, after all checks; `named` is what was given for the bins of each.
fn check(
    input: &Tensor,
    named: Option<usize>,
    edges: &[Tensor],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
) -> Result<usize> {
    if input.ndim() < 2 {
        return refused("input tensor should have at least 2 dimensions".into());
    }
    let axes = input.sizes()[input.ndim() - 1];
    match named {
        Some(n) if n != axes => {
            return Err(Error::shape(
                OP,
                format!(
                    "histogramdd: The size of bins must be equal to the innermost dimension of the input. They are {n} and {axes}"
                ),
            ));
        }
        None if edges.len() != axes => {
            return refused(format!(
                "expected {axes} sequences of bin edges for a {axes}-dimensional histogram but got {}",
                edges.len()
            ));
        }
        _ => {}
    }
    for (axis, e) in edges.iter().enumerate() {
        if e.ndim() != 1 {
            return refused(format!(
                "bins tensor should have one dimension, but got {} dimensions in the bins tensor for dimension {axis}",
                e.ndim()
            ));
        }
        if e.numel() == 0 {
            return refused(format!(
                "bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension {axis}"
            ));
        }
        if e.dtype() != input.dtype() {
            return refused(format!(
                "input tensor and bins tensors should have the same dtype, but got input with dtype {} and bins for dimension \
                 {axis} with dtype {}",
                input.dtype().name(),
                e.dtype().name()
            ));
        }
        check_bins(OP, e.numel() as i64 - 1, axis)?;
    }
    if let Some(range) = range.filter(|range| range.len() != 2 * axes) {
        return refused(format!(
            "for a {axes}-dimensional histogram range should have {} elements, but got {}",
            2 * axes,
            range.len()
        ));
    }
    if let Some(w) = weight {
        if w.dtype() != input.dtype() {
            return refused(format!(
                "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input({}), and \
                 weight({})",
                input.dtype().name(),
                w.dtype().name()
            ));
        }
        if w.sizes() != &input.sizes()[..input.ndim() - 1] {
            return refused(format!(
                "if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, \
                 but got input with shape {:?} and weight with shape {:?}",
                input.sizes(),
                w.sizes()
            ));
        }
    }
    Ok(axes)
}

/// Runs the op on points that were checked.
fn run(
    input: &Tensor,
    edges: &[Tensor],
    even: Option<(Vec<usize>, Option<Vec<f64>>)>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let axes = input.sizes()[input.ndim() - 1];
    let count = input.sizes()[..input.ndim() - 1].iter().product();
    let points = crate::ops::view::reshape_to(input, &[count, axes])?;
    let weight = weight.map(|w| crate::ops::view::reshape_to(w, &[count])).transpose()?;
    let xs: Vec<&Tensor> = std::iter::once(&points).chain(edges).chain(weight.as_ref()).collect();
    let mut outs = apply(HistogramDd { even, weighted: weight.is_some(), density }, &xs)?.into_iter();
    Ok((outs.next().expect("the sums"), outs.collect()))
}

/// How many points are in each cell of a grid, of cells of equal width; and the edges of the grid.
///
/// A cell takes the points from its lower edges to below its upper ones; the last cells of an axis take both.
///
/// Args: `input` points, float32 or float64 of shape (..., axes); `bins` how many along each axis, or one number for
/// all; `range` the outer edges `(low, high, low, high, ...)`, by default the smallest and largest coordinates;
/// `weight` what each point counts, of the shape of `input` without the last dim; `density` divides the counts by their
/// sum and by the volumes of the cells. Returns: `(hist, bin_edges)`, the second a tuple with a vector for each
/// axis. Derivative: not implemented, as in torch. Raises: RuntimeError if shapes or dtypes are incompatible, there is
/// no bin, or `range` is not finite or falls; NotImplementedError for integers.
///
/// >>> rg.histogramdd(rg.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 1]).hist.tolist()
/// [[1.0], [2.0]]
#[op(function, norust, fields("hist", "bin_edges"), "(range=None, weight=None, density=False)")]
pub fn histogramdd(
    input: &Tensor,
    bins: i64,
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let axes = input.sizes().last().copied().unwrap_or(0);
    histogramdd_bins(input, &vec![bins; axes], range, weight, density)
}

/// As above, with a number of bins for each axis.
///
/// >>> [e.tolist() for e in rg.histogramdd(rg.tensor([[0.0, 1.0], [2.0, 2.0]]), [2, 1]).bin_edges]
/// [[0.0, 1.0, 2.0], [1.0, 2.0]]
#[op(function, norust, name = "histogramdd", fields("hist", "bin_edges"), "(range=None, weight=None, density=False)")]
pub fn histogramdd_bins(
    input: &Tensor,
    bins: &[i64],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    check(input, Some(bins.len()), &[], range, weight)?;
    let bins = bins.iter().enumerate().map(|(axis, &n)| check_bins(OP, n, axis)).collect::<Result<Vec<_>>>()?;
    run(input, &[], Some((bins, range.map(<[f64]>::to_vec))), weight, density)
}

/// As above, of cells with given edges.
///
/// Args: `bins` for each axis its edges, a vector that rises, of the dtype of `input`; `range` is not looked at.
///
/// >>> edges = [rg.tensor([0.0, 1.0, 3.0]), rg.tensor([0.0, 2.0])]
/// >>> rg.histogramdd(rg.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), edges).hist.tolist()
/// [[1.0], [2.0]]
#[op(function, norust, name = "histogramdd", fields("hist", "bin_edges"), "(range=None, weight=None, density=False)")]
pub fn histogramdd_edges(
    input: &Tensor,
    bins: &[Tensor],
    range: Option<&[f64]>,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<(Tensor, Vec<Tensor>)> {
    let _ = range;
    check(input, None, bins, None, weight)?;
    run(input, bins, None, weight, density)
}
