//! Products.

use retrograd_macros::op;

use super::lines::{are_short, side_by_side};
use super::sum::{accumulated, accumulated_wide, as_asked, into_accumulator, sum_of};
use super::{ReduceAxes, run};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::Result;
use crate::kernels::parallel::split_rows;
use crate::kernels::real::Ring;
use crate::kernels::reduce;
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Tensor, Truth};

/// `prod`: reverse `g` times the product of the other elements.
#[derive(Clone, Debug)]
struct Prod {
    over: ReduceAxes,
    dtype: Option<DType>,
}

impl Prod {
    /// For each element the product of the others. Recorded if `recorded`, and then differentiable at zeros too.
    fn others(&self, x: &Tensor, result: &Tensor, recorded: bool) -> Result<Tensor> {
        if x.numel() == 0 {
            return Ok(x.clone());
        }
        if !recorded {
            return others(x, self.over.block(x.sizes()));
        }
        if !has_zero(x)? {
            return self.over.aligned(result, x.sizes())?.div(x);
        }
        // Row i of a square holds the elements with a 1 in place i: `n^2` elements, but only where there are zeros.
        let [before, n, after] = self.over.block(x.sizes());
        if n == 1 {
            return Tensor::ones(x.sizes(), x.dtype());
        }
        let eye = identity(n, true)?;
        let square = where_(&eye, &Tensor::ones(&[], x.dtype())?, &view::reshape_to(x, &[before, 1, n, after])?)?;
        let over = ReduceAxes::dim(Self::NAME, 2, 4, false)?;
        view::reshape_to(&apply1(Prod { over, dtype: None }, &[&square])?, x.sizes())
    }
}

impl Primitive for Prod {
    const NAME: &'static str = "prod";
    const DTYPES: Dtypes = Dtypes::ALL;
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]), dtype: op.dtype }));
    fn node(&self) -> &'static str {
        if self.over.is_given() { "ProdBackward1" } else { "ProdBackward0" }
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(accumulated(xs[0].dtype(), self.dtype))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = accumulated_wide(xs[0].dtype(), self.dtype);
        let x = into_accumulator(xs[0], dtype)?;
        let product = match_dtype!(rings, x.dtype(), T => run::<T, _>(&reduce::Prod, &x, &self.over)?);
        copy::cast(&product, dtype).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if cx.sizes(0).is_empty() {
            return Ok(one(cx.g().clone()));
        }
        // In the dtype in which the product was taken.
        let x = crate::ops::memory::cast(cx.saved(0)?, cx.g().dtype())?;
        let others = self.others(&x, cx.saved(1)?, cx.differentiating())?;
        others.mul(&self.over.aligned(cx.g(), x.sizes())?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        let result = &cx.outs[0];
        let x = crate::ops::memory::cast(cx.xs[0], result.dtype())?;
        let others = op.others(&x, result, true)?;
        sum_of(&others.mul(t)?, op.over.clone(), None).map(one)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        if !self.over.is_given() {
            return Vec::new();
        }
        vec![("dim", self.over.saved_dim()), ("keepdim", self.over.keepdim.into())]
    }
}

/// The mask of the diagonal (or of it and what is below it) as `(1, n, n, 1)`.
pub(super) fn identity(n: usize, diagonal: bool) -> Result<Tensor> {
    Tensor::build::<Truth>(&[1, n, n, 1], |out| {
        for (i, row) in out.chunks_mut(n.max(1)).enumerate() {
            for (j, place) in row.iter_mut().enumerate() {
                *place = (if diagonal { i == j } else { i <= j }).into();
            }
        }
    })
}

/// Whether an element is zero, or may be in another entry of a batch.
pub(super) fn has_zero(x: &Tensor) -> Result<bool> {
    if x.is_batched() {
        return Ok(true);
    }
    Ok(x.detach().all()?.item()?.is_zero())
}

/// The products of all other elements along the middle axis: those before times those after. No division, so zeros are
/// exact. Threads share the first axis.
fn others(x: &Tensor, block @ [_, n, after]: [usize; 3]) -> Result<Tensor> {
    let x = &copy::contiguous(x)?;
    if are_short(block) && matches!(x.dtype(), DType::Float32 | DType::Float64) {
        return match_dtype!(floats, x.dtype(), T => Tensor::build::<T>(x.sizes(), |o| {
            let x = x.as_slice::<T>().expect("contiguous and of this dtype");
            split_rows(o, n * after, 1, x.len() as f64 * COST, &|some, o| {
                let x = &x[some.start * n * after..some.end * n * after];
                side_by_side([x], o, [some.len(), n, after], true, |[x], o, [_, n, after]| {
                    let blocks = x.chunks_exact(n * after).zip(o.chunks_exact_mut(n * after));
                    blocks.for_each(|(x, o)| columns_of_others(x, o, after));
                });
            });
        }));
    }
    if x.dtype() == DType::Float32 && after == 1 {
        // One number after the other costs the same in float64, which hardly reaches subnormal numbers.
        return by_blocks(x, n, |x: &[f32], o| line_of_others(x, o, &mut vec![0.0f64; n], f64::from, |y| y as f32));
    }
    let wide = copy::cast(x, x.dtype().wide())?;
    let others = match_dtype!(wide, wide.dtype(), T => by_blocks(&wide, n * after, |x: &[T], o| {
        if after == 1 {
            line_of_others(x, o, &mut vec![T::ONE; n], |x| x, |y| y);
        } else {
            columns_of_others(x, o, after);
        }
    }))?;
    copy::cast(&others, x.dtype())
}

/// What an element takes in nanoseconds.
const COST: f64 = 1.5;

/// A tensor of the sizes of a contiguous one, of which `fill` makes each block of so many elements.
fn by_blocks<T: Element>(x: &Tensor, block: usize, fill: impl Fn(&[T], &mut [T]) + Sync) -> Result<Tensor> {
    Tensor::build::<T>(x.sizes(), |o| {
        let x = x.as_slice::<T>().expect("contiguous and of this dtype");
        split_rows(o, block, 1, x.len() as f64 * COST, &|some, o| {
            for (i, o) in some.zip(o.chunks_exact_mut(block)) {
                fill(&x[i * block..(i + 1) * block], o);
            }
        });
    })
}

/// The products of the other elements of `after` columns.
fn columns_of_others<T: Ring>(x: &[T], o: &mut [T], after: usize) {
    let mut run = vec![T::ONE; after];
    for (x, o) in x.chunks(after).zip(o.chunks_mut(after)) {
        for ((run, x), o) in run.iter_mut().zip(x).zip(o) {
            *o = *run;
            *run = run.mul(*x);
        }
    }
    run.fill(T::ONE);
    for (x, o) in x.chunks(after).zip(o.chunks_mut(after)).rev() {
        for ((run, x), o) in run.iter_mut().zip(x).zip(o) {
            *o = o.mul(*run);
            *run = run.mul(*x);
        }
    }
}

/// Elements of a line whose products wait for those of the others once, not for each other one by one.
const TOGETHER: usize = 8;

/// The products of the other elements of one line, of elements `T` that are multiplied as `W`; `before` is as long.
fn line_of_others<T: Copy, W: Ring>(
    x: &[T],
    o: &mut [T],
    before: &mut [W],
    widen: impl Fn(T) -> W,
    narrow: impl Fn(W) -> T,
) {
    let mut run = W::ONE;
    for (x, before) in x.chunks(TOGETHER).zip(before.chunks_mut(TOGETHER)) {
        let mut near = W::ONE;
        for (&x, before) in x.iter().zip(before) {
            *before = run.mul(near);
            near = near.mul(widen(x));
        }
        run = run.mul(near);
    }
    run = W::ONE;
    for ((x, o), before) in x.rchunks(TOGETHER).zip(o.rchunks_mut(TOGETHER)).zip(before.rchunks(TOGETHER)) {
        let mut near = W::ONE;
        for ((&x, o), before) in x.iter().zip(o).zip(before).rev() {
            *o = narrow(before.mul(run.mul(near)));
            near = near.mul(widen(x));
        }
        run = run.mul(near);
    }
}

/// The product of all elements.
///
/// Args: `input` any dtype; `dtype` the dtype to convert to before (int64 for integers and bool).
/// Returns: a 0-dim tensor; 1 for an empty one. Derivative: `g` times the product of the others, exact at zeros.
///
/// >>> rg.prod(rg.tensor([2.0, 3.0])).item()
/// 6.0
#[op(function, method, "(*, dtype=None)")]
pub fn prod(input: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    apply1(Prod { over: ReduceAxes::all(), dtype }, &[&as_asked(input, dtype)?])
}

/// The product along a dimension.
///
/// Args: `input` any dtype; `dim` the dimension; `keepdim` keeps it with size 1; `dtype` as for the full product.
/// Returns: a tensor without (or with size 1 in) the dimension. Derivative: `g` times the product of the others.
/// Raises: IndexError for a dimension out of range.
///
/// >>> rg.prod(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), 1).tolist()
/// [2.0, 12.0]
#[op(function, method, out = COMPUTED, name = "prod", "(keepdim=False, *, dtype=None)")]
pub fn prod_dim(input: &Tensor, dim: i64, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    apply1(Prod { over: ReduceAxes::dim("prod", dim, input.ndim(), keepdim)?, dtype }, &[&as_asked(input, dtype)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Scalar;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[2, 3], &[3, 1, 4]] {
            let x = [noise(5, sizes)];
            gradcheck(&|xs| xs[0].prod(None), &x);
            gradcheck(&|xs| xs[0].prod_dim(0, true, None), &x);
            gradcheck(&|xs| xs[0].prod_dim(-1, false, None), &x);
        }
        for zeros in [&[0.0, 2.0, 3.0, -1.0, 0.5, 4.0][..], &[0.0, 2.0, 0.0, -1.0, 0.5, 4.0], &[0.0; 6]] {
            let x = [Tensor::from_slice(zeros, &[2, 3]).unwrap()];
            gradcheck(&|xs| xs[0].prod(None), &x);
            gradcheck(&|xs| xs[0].prod_dim(0, false, None), &x);
            gradcheck(&|xs| xs[0].prod_dim(1, false, None), &x);
        }
    }

    #[test]
    fn the_fused_rule_equals_the_recorded_one() {
        let _reading = crate::storage::reclaim::reading();
        for zeros in [[1.5, 2.0, 3.0, -1.0], [1.5, 0.0, 3.0, -1.0]] {
            let x = Tensor::from_slice(&zeros, &[2, 2]).unwrap();
            for over in [ReduceAxes::all(), ReduceAxes::dim("prod", 0, 2, false).unwrap()] {
                let op = Prod { over, dtype: None };
                let result = apply1(op.clone(), &[&x]).unwrap();
                let [a, b] = [true, false].map(|r| op.others(&x, &result, r).unwrap().to_vec::<f64>().unwrap());
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn others_are_the_products_without_each_element() {
        for dims in [[1, 1, 1], [1, 7, 1], [2, 8, 1], [3, 9, 1], [1, 21, 1], [2, 5, 3], [1, 17, 2]] {
            let count = dims.iter().product::<usize>();
            for zeros in [&[][..], &[3], &[0, 4], &[6]] {
                let mut x: Vec<f32> = (0..count).map(|i| 1.5 - (i as f32 * 0.37).sin()).collect();
                zeros.iter().filter(|&&z| z < count).for_each(|&z| x[z] = 0.0);
                let x = Tensor::from_slice(&x, &[count]).unwrap();
                let wide = copy::cast(&x, DType::Float64).unwrap();
                let [single, double] = [&x, &wide].map(|x| others(x, dims).unwrap());
                let (x, single) = (wide.to_vec::<f64>().unwrap(), single.to_vec::<f32>().unwrap());
                for (at, &y) in double.to_vec::<f64>().unwrap().iter().enumerate() {
                    let (b, j) = (at / dims[2] / dims[1], at % dims[2]);
                    let line = (0..dims[1]).map(|i| (b * dims[1] + i) * dims[2] + j);
                    let want: f64 = line.filter(|&i| i != at).map(|i| x[i]).product();
                    assert!((y - want).abs() <= 1e-13 * want.abs(), "{dims:?} {at}: {y}, not {want}");
                    let bound = dims[1] as f32 * f32::EPSILON * want.abs() as f32;
                    assert!((single[at] - want as f32).abs() <= bound, "{dims:?} {at}");
                }
            }
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[2i32, 3, 4, 5], &[2, 2]).unwrap();
        assert_eq!(x.prod(None).unwrap().item().unwrap(), Scalar::Int(120));
        assert_eq!(x.prod_dim(0, false, Some(DType::Float32)).unwrap().to_vec::<f32>().unwrap(), [8.0, 15.0]);
        let e = Tensor::empty(&[2, 0], DType::Float32).unwrap();
        assert_eq!(e.prod_dim(1, false, None).unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0]);
    }
}
