//! `masked_scatter`: consecutive elements written where a mask is true.

use retrograd_macros::op;
use smallvec::smallvec;

use super::flat::lines;
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::{Form, view};
use crate::tensor::copy;
use crate::tensor::layout::broadcast;
use crate::tensor::{DType, Dims, Element, Scalar, Tensor, Truth};

/// `masked_scatter`, of a mask with the sizes of the tensor. Reverse: `g` with zeros where the mask is true, and `g`
/// there in row-major order, with zeros for what was not used.
#[derive(Clone, Debug)]
struct MaskedScatter {
    source: Dims,
}

/// For every element the number of true ones before it in the mask, as `(batch, n)`.
fn ranks(mask: &Tensor) -> Result<Tensor> {
    mask.cumsum(1, None)?.sub(&Tensor::number(Scalar::Int(1))?)
}

impl Primitive for MaskedScatter {
    const NAME: &'static str = "masked_scatter";
    const SAVE: &'static [Save] = &[Save::input(1, "mask")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; source_sym_sizes: &*op.source);
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, batch| {
        let whole = view::batch_first(xs[0], axes[0], batch)?;
        let [x, mask, source] = [0, 1, 2].map(|i| lines(xs[i], axes[i], batch));
        let (x, mask, source) = (x?, mask?, source?);
        if source.numel() == 0 {
            return Ok((out(crate::ops::memory::cloned(&whole)?), smallvec![Some(0)]));
        }
        let last = Tensor::number(Scalar::Int(source.sizes()[1] as i64 - 1))?;
        let zero = Tensor::number(Scalar::Int(0))?;
        let at = ranks(&mask)?.maximum(&zero)?.minimum(&last)?;
        let y = where_(&mask, &source.gather(1, &at)?, &x)?;
        Ok((out(view::reshape_to(&y, whole.sizes())?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b101);
    fn inputs(&self) -> u32 {
        0b101
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        /// Whether there were elements enough.
        fn write<T: Element>(to: &mut [T], mask: &[Truth], from: &[T]) -> bool {
            let mut from = from.iter();
            to.iter_mut().zip(mask).filter(|(_, m)| m.get()).all(|(to, _)| from.next().map(|&x| *to = x).is_some())
        }
        let [x, mask, source] = [copy::contiguous(xs[0])?, copy::contiguous(xs[1])?, copy::contiguous(xs[2])?];
        let mut enough = true;
        let result = match_dtype!(any, x.dtype(), T => Tensor::build::<T>(x.sizes(), |to| {
            to.copy_from_slice(x.as_slice::<T>().unwrap_or(&[]));
            let (mask, from) = (mask.as_slice::<Truth>().unwrap_or(&[]), source.as_slice::<T>().unwrap_or(&[]));
            enough = write(to, mask, from);
        }))?;
        if !enough {
            return Err(Error::shape(
                Self::NAME,
                format!("Number of elements of source < number of ones in mask: source has {}", source.numel()),
            ));
        }
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, mask) = (cx.g(), cx.saved(0)?);
        let rest = cx.when(0, || g.masked_fill(mask, &Tensor::full(&[], Scalar::Int(0), g.dtype())?))?;
        let source = cx.when(2, || {
            // Elements that were not written go to one place more, which is cut off.
            let (flat, n) = (view::reshape_to(mask, &[1, mask.numel()])?, cx.sizes(2).iter().product::<usize>());
            let at = where_(&flat, &ranks(&flat)?, &Tensor::number(Scalar::Int(n as i64))?)?;
            let zeros = Tensor::full(&[1, n + 1], Scalar::Int(0), g.dtype())?;
            let sum = zeros.scatter_add(1, &at, &view::reshape_to(g, &[1, g.numel()])?)?;
            view::reshape_to(&sum.narrow(1, 0, n as i64)?, cx.sizes(2))
        })?;
        Ok(smallvec![rest, None, source])
    }
}

/// `input` with the elements of `source`, one after the other, written where `mask` is true.
///
/// Args: `mask` bool, broadcast against `input` (in place: to it); `source` of the dtype of `input`, with at least as
/// many elements as the mask has true ones. Returns: a fresh tensor. Derivative: `g` with zeros where the mask is true,
/// and `g` there. Raises: RuntimeError if `source` has another dtype or too few elements, or `mask` is not bool.
///
/// >>> rg.masked_scatter(rg.zeros(3), rg.tensor([True, False, True]), rg.tensor([1.0, 2.0])).tolist()
/// [1.0, 0.0, 2.0]
#[op(function, method, inplace)]
pub fn masked_scatter(input: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
    const OP: &str = "masked_scatter";
    if input.dtype() != source.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "masked_scatter: expected self and source to have same dtypes but got {} and {}",
                input.dtype().scalar_type_name(),
                source.dtype().scalar_type_name()
            ),
        ));
    }
    if mask.dtype() != DType::Bool {
        return Err(Error::dtype(
            OP,
            format!(
                "masked_scatter_ only supports boolean masks, but got mask with dtype {}",
                mask.dtype().scalar_type_name()
            ),
        ));
    }
    let op = MaskedScatter { source: Dims::from_slice(source.sizes()) };
    match form {
        Form::InPlace => apply_as(form, op, &[input, &view::expand_to(mask, input.sizes())?, source]),
        Form::New | Form::Out => {
            let sizes = broadcast(OP, input.sizes(), mask.sizes())?;
            apply1(op, &[&view::expand_to(input, &sizes)?, &view::expand_to(mask, &sizes)?, source])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let mask = Tensor::from_slice(&[true, false, true, true], &[2, 2]).unwrap();
        gradcheck(&|xs| xs[0].masked_scatter(&mask, &xs[1])?.exp(), &[noise(1, &[2, 2]), noise(2, &[2, 3])]);
        gradcheck(&|xs| xs[0].masked_scatter(&mask, &xs[1])?.exp(), &[noise(1, &[2]), noise(2, &[3])]);
        assert!(noise(1, &[2, 2]).masked_scatter(&mask, &noise(2, &[2])).is_err());
    }
}
