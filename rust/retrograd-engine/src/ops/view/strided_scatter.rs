//! `as_strided_scatter`: a copy of a tensor in which the part is replaced that `as_strided` would show.

use retrograd_macros::op;
use smallvec::smallvec;

use super::strided::{as_strided, span, through_storage};
use super::view_op::{Layout, batch_first};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::ops::memory::cloned;
use crate::ops::view;
use crate::tensor::layout::may_overlap;
use crate::tensor::{Scalar, Tensor, copy};

/// A copy of the first operand, whose layout is `from`, with the second in the places of `to`. Reverse: `g` with zeros
/// in these places, and what `g` has there.
#[derive(Clone, Debug)]
struct StridedPatch {
    from: Layout,
    to: Layout,
    /// As the user gave it.
    offset: Option<i64>,
}

impl StridedPatch {
    fn new(x: &Tensor, part: &Tensor, offset: Option<i64>) -> Self {
        Self { from: Layout::of(x), to: Layout::of(part), offset }
    }

    /// Ones in the places of the first operand that the second replaces, and in the elements of the second that are the
    /// last to be written to their place.
    fn masks(&self) -> Result<(Tensor, Tensor)> {
        let Self { from, to, .. } = self;
        let order = Tensor::arange(to.sizes.iter().product::<usize>() as i64)?;
        let order = view::reshape_to(&order, &to.sizes)?;
        let none = Tensor::full(&from.sizes, Scalar::Int(-1), order.dtype())?;
        let covered = self.patched(&none, &order)?.ge(&Tensor::number(Scalar::Int(0))?)?;
        let last = if may_overlap(&to.sizes, &to.strides) {
            // The storage has, in each place, who wrote there last.
            let Some((lo, n)) = span(from, to) else { return Ok((covered, order.eq(&order)?)) };
            let storage = Tensor::full(&[n], Scalar::Int(-1), order.dtype())?;
            let place = |l: &Layout| {
                Tensor::from_parts(storage.storage(), l.dtype, &l.sizes, &l.strides, (l.offset as isize - lo) as usize)
            };
            let seen = place(&Layout { dtype: order.dtype(), ..to.clone() })?;
            copy::copy_into(&order, &seen)?;
            seen.eq(&order)?
        } else {
            order.eq(&order)?
        };
        Ok((covered, last))
    }

    /// The op on plain memory, of an operand in any layout.
    fn patched(&self, x: &Tensor, src: &Tensor) -> Result<Tensor> {
        let Self { from, to, .. } = self;
        let Some((lo, n)) = span(from, to) else { return copy::copy(x) };
        let storage = Tensor::zeros(&[n], x.dtype())?;
        let within = |l: &Layout| {
            let offset = (l.offset as isize - lo) as usize;
            Tensor::from_parts(storage.storage(), x.dtype(), &l.sizes, &l.strides, offset)
        };
        let whole = within(from)?;
        copy::copy_into(x, &whole)?;
        copy::copy_into(src, &within(to)?)?;
        Ok(whole)
    }
}

impl Primitive for StridedPatch {
    const NAME: &'static str = "as_strided_scatter";
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(
        op;
        size: &*op.to.sizes,
        storage_offset: op.offset,
        stride: &*op.to.strides.iter().map(|&s| s as i64).collect::<Vec<_>>()
    );
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let (x, src) = (batch_first(xs[0], axes[0], batch)?, batch_first(xs[1], axes[1], batch)?);
        // Entries are laid out as one was when the op was called, whatever their place in the batch.
        let entry = |i: i64| apply1(op.clone(), &[&x.select(0, i)?, &src.select(0, i)?]);
        let entries = (0..batch as i64).map(entry).collect::<Result<Vec<_>>>()?;
        if entries.is_empty() {
            return Ok((out(cloned(&x)?), smallvec![Some(0)]));
        }
        Ok((out(view::stack(&entries, 0)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.patched(xs[0], xs[1]).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, zero) = (cx.g(), Tensor::number(Scalar::Int(0))?);
        let (covered, last) = self.masks()?;
        let x = cx.when(0, || g.masked_fill(&covered, &zero))?;
        let src = cx.when(1, || {
            through_storage(g, &self.from, &self.to, &self.from)?.masked_fill(&last.logical_not()?, &zero)
        })?;
        Ok(smallvec![x, src])
    }
}

/// A copy of `input` with `src` in the places of its storage that `as_strided` would show.
///
/// Args: `src` of the sizes `size`; `size`, `stride`, `storage_offset` as for `as_strided`. Places outside of `input`
/// are left out; where elements of `src` share a place, the last one stays. Returns: a fresh tensor, laid out as
/// `input`.
/// Derivative: `g` with zeros in these places, and what `g` has there. Raises: RuntimeError if `src` has other sizes,
/// or the layout leaves the storage.
///
/// >>> rg.as_strided_scatter(rg.zeros(2, 2), rg.tensor([1.0, 2.0]), (2,), (3,)).tolist()
/// [[1.0, 0.0], [0.0, 2.0]]
#[op(function, method, "(storage_offset=None)")]
pub fn as_strided_scatter(
    input: &Tensor,
    src: &Tensor,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    if input.is_batched() || src.is_batched() {
        return Err(Error::not_implemented(
            "vmap: as_strided_scatter goes by memory, of which an entry of a batch has no own",
        ));
    }
    // Elements that share memory get memory of their own.
    let apart = if input.may_overlap_itself() { cloned(input)? } else { input.clone() };
    let part = as_strided(&apart.detach(), size, stride, storage_offset)?;
    if src.sizes() != part.sizes() {
        return Err(Error::shape(
            "as_strided_scatter",
            format!(
                "expected src to have a size equal to the slice of self. src size = {:?}, slice size = {:?}",
                src.sizes(),
                part.sizes()
            ),
        ));
    }
    apply1(StridedPatch::new(&apart, &part, storage_offset), &[&apart, src])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (x, src) = (noise(1, &[3, 4]), noise(2, &[2, 2]));
        gradcheck(
            &|xs| as_strided_scatter(&xs[0], &xs[1], &[2, 2], &[5, 1], Some(1))?.exp(),
            &[x.clone(), src.clone()],
        );
        gradcheck(&|xs| as_strided_scatter(&xs[0], &xs[1], &[2, 2], &[1, 1], None)?.exp(), &[x.clone(), src.clone()]);
        let f = |xs: &[Tensor]| {
            as_strided_scatter(&xs[0].transpose(0, 1)?.narrow(0, 1, 2)?, &xs[1], &[2, 2], &[3, 2], None)
        };
        gradcheck(&f, &[x.clone(), src.clone()]);
        assert!(as_strided_scatter(&x, &src, &[2, 2], &[20, 1], None).is_err());
        assert!(as_strided_scatter(&x, &src, &[3], &[1], None).is_err());
    }
}
