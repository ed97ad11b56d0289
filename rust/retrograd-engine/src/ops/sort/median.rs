//! The median, of all elements or along a dimension.

use retrograd_macros::op;

use super::selection::{Choose, along, as_lines, chosen, size_along};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::Result;
use crate::kernels::OutOfMemory;
use crate::kernels::sort::{First, Key, Keys, Pick};
use crate::ops::reduce::{ReduceAxes, Ties};
use crate::tensor::layout::contiguous_strides;
use crate::tensor::{Dtypes, Scalar, Tensor};

/// The element in the middle of a line, the lower one of two.
#[derive(Clone, Debug)]
struct Middle {
    /// The middle of the numbers. Otherwise NaN, if there is one, is the median.
    ignore_nan: bool,
    keepdim: bool,
}

impl Choose for Middle {
    const NAME: &'static str = "median";
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    const KERNEL: &'static str = "median_cpu";
    fn node(&self) -> &'static str {
        if self.ignore_nan { "NanmedianBackward1" } else { "MedianBackward1" }
    }
    fn count(&self, _: usize) -> usize {
        1
    }
    fn keepdim(&self) -> Option<bool> {
        Some(self.keepdim)
    }
}

impl Middle {
    /// The place of the median among `n` elements in order, of which the first `numbers` are not NaN.
    fn place(&self) -> fn(numbers: usize, n: usize) -> usize {
        const fn middle(numbers: usize, _: usize) -> usize {
            numbers.saturating_sub(1) / 2
        }
        const fn nan_or_middle(numbers: usize, n: usize) -> usize {
            if numbers < n { numbers } else { middle(numbers, n) }
        }
        if self.ignore_nan { middle } else { nan_or_middle }
    }
}

impl Pick for Middle {
    fn in_order(&self) -> Option<First> {
        Some(First::ByNumbers(self.place()))
    }
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<(), OutOfMemory> {
        keys.bring(self.place()(keys.numbers(), keys.count()));
        Ok(())
    }
}

/// `median` of all elements: reverse `g`, split evenly among the elements equal to it.
#[derive(Clone, Debug)]
struct Median {
    ignore_nan: bool,
    /// Axes in front that are batches: every entry has its median.
    lead: usize,
}

impl Median {
    fn over(&self, ndim: usize) -> Result<ReduceAxes> {
        if self.lead == 0 {
            return Ok(ReduceAxes::all());
        }
        let dims: Vec<i64> = (self.lead..ndim).map(|d| d as i64).collect();
        if dims.is_empty() { Ok(ReduceAxes::none()) } else { ReduceAxes::dims(Self::NAME, Some(&dims), ndim, false) }
    }
}

impl Primitive for Median {
    const NAME: &'static str = "median";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const DTYPES: Dtypes = Middle::DTYPES;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(Self { lead: op.lead + 1, ..*op }));
    fn node(&self) -> &'static str {
        if self.ignore_nan { "NanmedianBackward0" } else { "MedianBackward0" }
    }
    fn kernel_name(&self) -> &'static str {
        Middle::KERNEL
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let lead = &x.sizes()[..self.lead];
        if x.numel() == 0 {
            return Tensor::full(lead, Scalar::Float(f64::NAN), x.dtype()).map(out);
        }
        let middle = Middle { ignore_nan: self.ignore_nan, keepdim: true };
        let (value, _) = chosen(&middle, &as_lines(x, self.lead)?, self.lead)?;
        Tensor::from_parts(value.storage(), x.dtype(), lead, &contiguous_strides(lead), 0).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ties::of(cx.saved(0)?, cx.saved(1)?, &self.over(cx.sizes(0).len())?, true)?.split(cx.g(), cx.sizes(0)).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        Ties::of(cx.xs[0], &cx.outs[0], &op.over(cx.xs[0].ndim())?, true)?.mean(t).map(one)
    });
}

fn median_of(x: &Tensor, ignore_nan: bool) -> Result<Tensor> {
    apply1(Median { ignore_nan, lead: 0 }, &[x])
}

fn median_along(op: &'static str, x: &Tensor, ignore_nan: bool, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    size_along(op, x, dim)?;
    along(Middle { ignore_nan, keepdim }, x, dim)
}

/// The median of all elements: the one in the middle of their order, the lower one of two. NaN if there is one.
///
/// Args: `input` any real dtype but bool. Returns: a 0-dim tensor; NaN for no elements. Derivative: `g`, split evenly
/// among the elements equal to the median.
/// Raises: NotImplementedError for bool.
///
/// >>> rg.median(rg.tensor([3.0, 1.0, 2.0, 4.0])).item()
/// 2.0
#[op(function, method)]
pub fn median(input: &Tensor) -> Result<Tensor> {
    median_of(input, false)
}

/// The median along a dimension and its index: the element in the middle of the order, the lower one of two.
///
/// Args: `input` any real dtype but bool; `dim` the dimension; `keepdim` keeps it with size 1. Returns: `(values,
/// indices)`, indices in int64. Derivative: `g` to the index. Raises: IndexError for a dimension out of range or of
/// size 0; NotImplementedError for bool.
///
/// >>> rg.median(rg.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]), 1).values.tolist()
/// [2.0, 5.0]
#[op(function, method, out, name = "median", fields("values", "indices"), "(keepdim=False)")]
pub fn median_dim(input: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    median_along("median", input, false, dim, keepdim)
}

/// The median of all elements that are numbers; see `median`.
///
/// Returns: a 0-dim tensor; NaN if there is no number.
///
/// >>> rg.nanmedian(rg.tensor([3.0, float('nan'), 2.0, 4.0])).item()
/// 3.0
#[op(function, method)]
pub fn nanmedian(input: &Tensor) -> Result<Tensor> {
    median_of(input, true)
}

/// The median of the numbers along a dimension and its index; see `median`.
///
/// >>> rg.nanmedian(rg.tensor([[3.0, float('nan'), 2.0], [4.0, 6.0, 5.0]]), 1).values.tolist()
/// [2.0, 5.0]
#[op(function, method, out, name = "nanmedian", fields("values", "indices"), "(keepdim=False)")]
pub fn nanmedian_dim(input: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    median_along("nanmedian", input, true, dim, keepdim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[][..], &[5], &[3, 4], &[2, 3, 2]] {
            let x = [noise(8, sizes)];
            gradcheck(&|xs| xs[0].median()?.exp(), &x);
            gradcheck(&|xs| xs[0].median_dim(0, false)?.0.exp(), &x);
            gradcheck(&|xs| xs[0].nanmedian_dim(-1, true)?.0.exp(), &x);
        }
    }

    #[test]
    fn nan_is_the_median_unless_ignored() {
        let nan = f64::NAN;
        let x = Tensor::from_slice(&[1.0, nan, 0.0, nan, 3.0, 2.0], &[2, 3]).unwrap();
        let (values, indices) = x.median_dim(1, false).unwrap();
        assert!(values.to_vec::<f64>().unwrap().iter().all(|v| v.is_nan()));
        assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 0]);
        let (values, indices) = x.nanmedian_dim(1, false).unwrap();
        assert_eq!((values.to_vec::<f64>().unwrap(), indices.to_vec::<i64>().unwrap()), (vec![0.0, 2.0], vec![2, 2]));
        let none = Tensor::empty(&[0, 2], DType::Float64).unwrap();
        assert!(none.median().unwrap().item().unwrap().as_f64().is_nan());
        assert!(none.median_dim(0, false).is_err());
        assert_eq!(none.median_dim(1, true).unwrap().0.sizes(), [0, 1]);
    }
}
