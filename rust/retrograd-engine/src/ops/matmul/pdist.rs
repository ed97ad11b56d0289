//! `pdist`: the distances between the rows of one matrix.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::cdist::slopes;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params};
use crate::error::{Error, Result};
use crate::kernels::distance::{self, Norm};
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::layout::numel;
use crate::tensor::{Dims, Dtypes, Tensor};

/// The distances of every row of a matrix, or of each of a batch of them, from those behind it.
#[derive(Clone, Copy, Debug)]
struct Pdist {
    norm: Norm,
}

const WHY: &str = "contiguous and of this dtype";

/// `[entries, rows, elements of a row]`.
fn extents(x: &Tensor) -> [usize; 3] {
    let (sizes, d) = (x.sizes(), x.ndim());
    [numel(&sizes[..d - 2]), sizes[d - 2], sizes[d - 1]]
}

/// The first and the second row of each pair.
fn pairs(n: usize) -> Result<[Tensor; 2]> {
    let mut rows: [SmallVec<[i64; 16]>; 2] = Default::default();
    for i in 0..n as i64 {
        for j in i + 1..n as i64 {
            rows[0].push(i);
            rows[1].push(j);
        }
    }
    let [first, second] = rows.map(|rows| Tensor::from_slice(&rows, &[rows.len()]));
    Ok([first?, second?])
}

impl Pdist {
    /// What each distance changes by with the difference of its rows.
    fn slopes(&self, x: &Tensor, distances: &Tensor, [first, second]: &[Tensor; 2]) -> Result<Tensor> {
        let difference = x.index_select(-2, first)?.sub(&x.index_select(-2, second)?)?;
        slopes(self.norm, &difference, &distances.unsqueeze(-1)?)
    }
}

impl Primitive for Pdist {
    const NAME: &'static str = "pdist";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; p: op.norm.p());
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let ([entries, rows, size], mut sizes) = (extents(&x), Dims::from_slice(&x.sizes()[..x.ndim() - 2]));
        let count = rows * rows.saturating_sub(1) / 2;
        sizes.push(count);
        match_dtype!(floats, x.dtype(), T => Tensor::build::<T>(&sizes, |to| {
            let x = x.as_slice::<T>().expect(WHY);
            for i in 0..entries {
                let (x, to) = (&x[i * rows * size..], &mut to[i * count..][..count]);
                distance::pairs(self.norm, x, [rows, size], to);
            }
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, result, x) = (cx.g(), cx.saved(0)?, cx.saved(1)?);
        if cx.differentiating() {
            let rows = pairs(x.sizes()[x.ndim() - 2])?;
            let scaled = self.slopes(x, result, &rows)?.mul(&g.unsqueeze(-1)?)?;
            let zeros = Tensor::zeros(x.sizes(), x.dtype())?;
            let first = zeros.index_add(-2, &rows[0], &scaled, 1.into())?;
            return first.index_add(-2, &rows[1], &scaled, (-1).into()).map(one);
        }
        let [g, result, x] = [copy::contiguous(g)?, copy::contiguous(result)?, copy::contiguous(x)?];
        let [entries, rows, size] = extents(&x);
        let count = rows * rows.saturating_sub(1) / 2;
        match_dtype!(floats, x.dtype(), T => Tensor::build::<T>(x.sizes(), |to| {
            let [g, d, x] = [&g, &result, &x].map(|t| t.as_slice::<T>().expect(WHY));
            for i in 0..entries {
                let (g, d) = (&g[i * count..][..count], &d[i * count..][..count]);
                let row = i * rows * size..(i + 1) * rows * size;
                distance::pairs_backward(self.norm, &x[row.clone()], g, d, [rows, size], &mut to[row]);
            }
        }).map(one))
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let along = |t: &Tensor| {
            let rows = pairs(t.sizes()[t.ndim() - 2])?;
            let change = t.index_select(-2, &rows[0])?.sub(&t.index_select(-2, &rows[1])?)?;
            op.slopes(cx.xs[0], &cx.outs[0], &rows)?.mul(&change)?.sum_dims(&[-1], false)
        };
        cx.t(0).map(along).transpose().map(maybe)
    });
}

fn run(input: &Tensor, p: f64) -> Result<Tensor> {
    const OP: &str = "pdist";
    if input.ndim() != 2 {
        return Err(Error::shape(OP, format!("pdist only supports 2D tensors, got: {}D", input.ndim())));
    }
    if !input.dtype().is_floating() {
        let detail = format!("pdist only supports floating-point dtypes, got {}", input.dtype().name());
        return Err(Error::dtype(OP, detail));
    }
    if p.is_nan() || p < 0.0 {
        return Err(Error::shape(OP, format!("pdist only supports non-negative p values, got {p}")));
    }
    apply1(Pdist { norm: Norm::of(p) }, &[input])
}

/// The distances between the rows of a matrix, of every row from those behind it: the upper triangle of `cdist` of the
/// matrix and itself, row by row.
///
/// Args: `input` (n, m), float32 or float64; `p` the norm of the differences, 0 or more. Returns: a tensor of `n * (n -
/// 1) / 2` distances. Derivative: that of the norm, zero where the distance is; to second order and in forward mode,
/// which torch has not. Raises: RuntimeError for other shapes or dtypes or a negative `p`.
///
/// >>> rg.nn.functional.pdist(rg.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()
/// [5.0, 1.0, 4.242640495300293]
#[op(function, module = "nn.functional", "(p=2.0)")]
pub fn pdist(input: &Tensor, p: f64) -> Result<Tensor> {
    run(input, p)
}

/// The distances between the rows of a matrix: `nn.functional.pdist`.
///
/// Args: `input`, `p` as there. Returns, Derivative, Raises: as there.
///
/// >>> rg.pdist(rg.tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
/// [5.0]
#[op(function, norust, name = "pdist", "(p=2.0)")]
pub fn top_pdist(input: &Tensor, p: f64) -> Result<Tensor> {
    run(input, p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for p in [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            gradcheck(&|xs| run(&xs[0], p), &[noise(1, &[5, 3])]);
        }
    }

    #[test]
    fn the_kernel_equals_the_rule() {
        let _reading = crate::storage::reclaim::reading();
        let (x, g) = (noise(1, &[4, 3]), noise(2, &[6]));
        for p in [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            let op = Pdist { norm: Norm::of(p) };
            let result = op.forward(&[&x]).unwrap().remove(0);
            let rows = pairs(4).unwrap();
            let scaled = op.slopes(&x, &result, &rows).unwrap().mul(&g.unsqueeze(-1).unwrap()).unwrap();
            let zeros = Tensor::zeros(x.sizes(), x.dtype()).unwrap();
            let want = zeros.index_add(-2, &rows[0], &scaled, 1.into()).unwrap();
            let want = want.index_add(-2, &rows[1], &scaled, (-1).into()).unwrap().to_vec::<f64>().unwrap();
            let mut got = vec![0.0; 12];
            let [x, g, d] = [&x, &g, &result].map(|t| t.as_slice::<f64>().unwrap());
            distance::pairs_backward(op.norm, x, g, d, [4, 3], &mut got);
            assert!(want.iter().zip(&got).all(|(x, y)| (x - y).abs() < 1e-12), "{p}");
        }
    }
}
