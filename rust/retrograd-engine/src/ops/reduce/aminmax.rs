//! The smallest and the largest element together.

use retrograd_macros::op;
use smallvec::smallvec;

use super::extreme::Ties;
use super::{ReduceAxes, run};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, one, params};
use crate::error::{Error, Result};
use crate::kernels::reduce::{Max, Min};
use crate::match_dtype;
use crate::tensor::{Dtypes, Tensor};

/// `aminmax`: reverse, each gradient split evenly among the elements equal to its result.
#[derive(Clone, Debug)]
struct AMinMax {
    over: ReduceAxes,
}

impl Primitive for AMinMax {
    const NAME: &'static str = "aminmax";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "min"), Save::output(1, "max")];
    const PARAMS: Params<Self> = params!(op; dim: op.over.saved_dim(), keepdim: op.over.keepdim);
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, ndims, _| Ok(Self { over: op.over.lifted(ndims[0]) }));
    fn kernel_name(&self) -> &'static str {
        "aminmax_cpu"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        match_dtype!(numeric, x.dtype(), T => {
            Ok(smallvec![run::<T, _>(&Min, x, &self.over)?, run::<T, _>(&Max, x, &self.over)?])
        })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut sum: Option<Tensor> = None;
        for i in 0..2 {
            let Some(g) = cx.g_of(i) else { continue };
            let part = Ties::of(cx.saved(0)?, cx.saved(i + 1)?, &self.over, false)?.split(g, cx.sizes(0))?;
            sum = Some(match sum {
                None => part,
                Some(sum) => sum.add(&part)?,
            });
        }
        Ok(smallvec![sum])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec![None, None]) };
        let mean = |out: &Tensor| Ties::of(cx.xs[0], out, &op.over, false)?.mean(t);
        let mut tangents = one(mean(&cx.outs[0])?);
        tangents.push(Some(mean(&cx.outs[1])?));
        Ok(tangents)
    });
}

/// The smallest and the largest element, of all or along a dimension.
///
/// Args: `input` any real dtype; `dim` the dimension, None for all; `keepdim` keeps it with size 1. NaN wins over every
/// number. Returns: `(min, max)`. Derivative: each `g`, split evenly among the elements equal to its result. Raises:
/// IndexError for a dimension out of range or of size 0; RuntimeError for no elements; NotImplementedError for complex
/// dtypes.
///
/// >>> low, high = rg.aminmax(rg.tensor([2.0, 1.0, 3.0]))
/// >>> low.item(), high.item()
/// (1.0, 3.0)
#[op(function, method, out = SAME, fields("min", "max"), "(*, dim=None, keepdim=False)")]
pub fn aminmax(input: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    const OP: &str = "aminmax";
    let over = ReduceAxes::dims(OP, dim.as_ref().map(std::slice::from_ref), input.ndim(), keepdim)?;
    if dim.is_none() && input.numel() == 0 {
        return Err(Error::shape(
            OP,
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
        ));
    }
    if let Some(axis) = over.axes(input.ndim()).into_iter().find(|&axis| input.sizes()[axis] == 0 && dim.is_some()) {
        return Err(Error::index(
            OP,
            format!("Expected reduction dim {axis} to have non-zero size, got shape {:?}", input.sizes()),
        ));
    }
    let mut outs = apply(AMinMax { over }, &[input])?;
    let max = outs.swap_remove(1);
    Ok((outs.swap_remove(0), max))
}

#[cfg(test)]
mod tests {
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for dim in [None, Some(0), Some(-1)] {
            let x = [noise(4, &[3, 4])];
            gradcheck(
                &|xs| {
                    let (min, max) = xs[0].aminmax(dim, false)?;
                    min.mul(&max)
                },
                &x,
            );
        }
    }

    #[test]
    fn refusals() {
        let none = noise(1, &[0, 2]);
        assert!(none.aminmax(None, false).is_err() && none.aminmax(Some(0), false).is_err());
        assert_eq!(none.aminmax(Some(1), true).unwrap().0.sizes(), [0, 1]);
    }
}
