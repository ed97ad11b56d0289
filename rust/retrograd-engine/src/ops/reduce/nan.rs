//! Sums and means of the elements that are numbers.

use retrograd_macros::op;

use super::ReduceAxes;
use super::sum::{accumulated, sum_of, sum_of_fields};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params};
use crate::error::{Error, Result};
use crate::kernels::reduce;
use crate::ops::memory::cast;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// The tensor with zeros for NaN.
fn numbers(x: &Tensor, nan: &Tensor) -> Result<Tensor> {
    x.masked_fill(nan, &Tensor::number(Scalar::Int(0))?)
}

/// `nansum`: reverse `g` for every number, 0 for NaN.
#[derive(Clone, Debug)]
struct NanSum {
    over: ReduceAxes,
    dtype: Option<DType>,
}

impl Primitive for NanSum {
    const NAME: &'static str = "nansum";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dims(), keepdim: op.over.keepdim);
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const BATCH: Batch<Self> = Batch::Lift(|p, ndims, _| Ok(Self { over: p.over.lifted(ndims[0]), dtype: p.dtype }));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, dtype) = (xs[0].detach(), accumulated(xs[0].dtype(), self.dtype));
        if dtype.is_floating() {
            return sum_of_fields(&reduce::NanSum, &copy::cast(&x, dtype)?, &self.over).map(out);
        }
        sum_of(&numbers(&x, &x.ne(&x)?)?, self.over.clone(), self.dtype).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let x = cx.saved(0)?;
        numbers(&self.over.expand(cx.g(), cx.sizes(0))?, &x.ne(x)?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(maybe(None)) };
        sum_of(&numbers(t, &cx.xs[0].ne(cx.xs[0])?)?, op.over.clone(), op.dtype).map(one)
    });
}

/// The sum of the elements that are not NaN.
///
/// Args: `input` any real dtype; `dim` an integer or a list, None for all; `keepdim` keeps them with size 1; `dtype` to
/// sum in (int64 for integers and bool). Returns: a tensor without (or with size 1 in) the summed dimensions.
/// Derivative: `g`, expanded, and 0 for NaN.
/// Raises: IndexError for a dimension out of range; RuntimeError if one is named twice.
///
/// >>> rg.nansum(rg.tensor([1.0, float('nan'), 2.0])).item()
/// 3.0
#[op(function, method, out = COMPUTED, "(dim=None, keepdim=False, *, dtype=None)")]
pub fn nansum(input: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if input.dtype().is_complex() {
        return Err(Error::dtype("nansum", "nansum does not support complex inputs"));
    }
    let over = ReduceAxes::dims("nansum", dim, input.ndim(), keepdim)?;
    if input.dtype().is_integral() {
        return sum_of(input, over, Some(accumulated(input.dtype(), dtype)));
    }
    apply1(NanSum { over, dtype }, &[input])
}

/// The mean of the elements that are not NaN.
///
/// Args: `input` a floating dtype; `dim`, `keepdim`, `dtype` as for `nansum`. Returns: a tensor without (or
/// with size 1 in) the dimensions; NaN where no element is a number. Derivative: `g / n` for every number. Raises:
/// RuntimeError for integers.
///
/// >>> rg.nanmean(rg.tensor([1.0, float('nan'), 2.0])).item()
/// 1.5
#[op(function, method, out, "(dim=None, keepdim=False, *, dtype=None)")]
pub fn nanmean(input: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if !input.dtype().is_floating() {
        return Err(Error::dtype(
            "nanmean",
            format!(
                "nanmean(): expected input to have floating point or complex dtype but got {}",
                input.dtype().name()
            ),
        ));
    }
    let x = input.detach();
    let over = ReduceAxes::dims("nanmean", dim, input.ndim(), keepdim)?;
    let count = sum_of(&x.eq(&x)?, over, None)?;
    let sum = nansum(input, dim, keepdim, dtype)?;
    let count = cast(&count, sum.dtype())?;
    sum.div(&count)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].nansum(Some(&[0]), true, None)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].nanmean(None, false, None)?.exp(), &[x]);
    }

    /// Bits of the sums in one pass, and of those of a copy that has zeros for NaN.
    #[test]
    fn sums_in_one_pass_are_those_of_zeros_for_nan() {
        let mut values = noise(1, &[70 * 90]).to_vec::<f64>().unwrap();
        values.iter_mut().step_by(13).for_each(|x| *x = f64::NAN);
        values[5] = f64::INFINITY;
        let whole = Tensor::from_slice(&values, &[70, 90]).unwrap();
        let layouts: [fn(&Tensor) -> Result<Tensor>; 6] = [
            |x| Ok(x.clone()),
            |x| x.t(),
            |x| x.narrow(1, 3, 40),
            |x| x.narrow(0, 3, 1)?.expand(&[20, 90]),
            |x| x.narrow(0, 0, 0),
            |x| x.narrow(0, 1, 1)?.narrow(1, 1, 1),
        ];
        for dtype in [DType::Float64, DType::Float32, DType::Float16, DType::BFloat16] {
            let whole = copy::cast(&whole, dtype).unwrap();
            let zeros = numbers(&whole, &whole.ne(&whole).unwrap()).unwrap();
            for layout in layouts {
                let [x, zeros] = [&whole, &zeros].map(|x| layout(x).unwrap());
                for dims in [None, Some(&[0][..]), Some(&[1]), Some(&[0, 1])] {
                    for to in [None, Some(DType::Float64), Some(DType::Int64)] {
                        if to == Some(DType::Int64) && x.numel() > 0 && dtype != DType::Float64 {
                            continue;
                        }
                        let over = ReduceAxes::dims("nansum", dims, 2, false).unwrap();
                        let (got, want) = (x.nansum(dims, false, to).unwrap(), sum_of(&zeros, over, to).unwrap());
                        assert_eq!((got.dtype(), got.sizes()), (want.dtype(), want.sizes()));
                        let bits = |t: &Tensor| {
                            let wide = cast(t, DType::Float64).unwrap().to_vec::<f64>().unwrap();
                            wide.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                        };
                        assert_eq!(
                            bits(&got),
                            bits(&want),
                            "{dtype:?} {:?} {:?} {dims:?} {to:?}",
                            x.sizes(),
                            x.strides()
                        );
                    }
                }
            }
        }
        let opposed = Tensor::from_slice(&[f32::INFINITY, f32::NAN, f32::NEG_INFINITY], &[3]).unwrap();
        assert!(opposed.nansum(None, false, None).unwrap().to_vec::<f32>().unwrap()[0].is_nan());
    }
}
