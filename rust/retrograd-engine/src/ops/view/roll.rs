//! Copies with elements moved around: roll, rot90, fliplr, flipud.

use retrograd_macros::op;

use super::flip::{flip, flipped};
use super::reshape_to;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Strides, Tensor};

/// `roll`. Reverse: `g` rolled back.
#[derive(Clone, Debug)]
struct Roll {
    shifts: Vec<i64>,
    /// None for the elements in row-major order.
    dims: Dims,
    /// Axes in front that are batches.
    lead: usize,
}

/// A copy of `x` with the indices of an axis moved on by `shift`, not recorded.
fn rolled(x: &Tensor, dim: usize, shift: i64) -> Result<Tensor> {
    let result = Tensor::empty(x.sizes(), x.dtype())?;
    let n = x.sizes()[dim];
    if result.numel() == 0 {
        return Ok(result);
    }
    let by = shift.rem_euclid(n as i64) as usize;
    let mut sizes = Dims::from_slice(x.sizes());
    for (from, to, count) in [(0, by, n - by), (n - by, 0, by)] {
        sizes[dim] = count;
        let part = |t: &Tensor, start: usize| {
            let offset = t.storage_offset().wrapping_add_signed(t.strides()[dim] * start as isize);
            Tensor::from_parts(t.storage(), t.dtype(), &sizes, t.strides(), offset)
        };
        if count > 0 {
            copy::copy_into(&part(x, from)?, &part(&result, to)?)?;
        }
    }
    Ok(result)
}

impl Primitive for Roll {
    const NAME: &'static str = "roll";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dims: &*op.dims, shifts: &*op.shifts);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| {
        Ok(Self { shifts: p.shifts.clone(), dims: p.dims.iter().map(|d| d + 1).collect(), lead: p.lead + 1 })
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if self.dims.is_empty() {
            let x = copy::contiguous(xs[0])?;
            let (lead, rest) = x.sizes().split_at(self.lead);
            let mut line = Dims::from_slice(lead);
            line.push(rest.iter().product());
            let moved = rolled(&reshape_to(&x, &line)?, self.lead, self.shifts[0])?;
            return reshape_to(&moved, x.sizes()).map(out);
        }
        let mut x = xs[0].clone();
        for (&dim, &shift) in self.dims.iter().zip(&self.shifts) {
            x = rolled(&x, dim, shift)?;
        }
        Ok(out(x))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = Self { shifts: self.shifts.iter().map(|s| s.wrapping_neg()).collect(), ..self.clone() };
        apply1(back, &[cx.g()]).map(one)
    }
}

/// A copy of `input` with the indices of axes moved on; those that leave an axis wrap around to its start.
///
/// Args: `shifts` a number, or one for each of `dims`; `dims` the axes, none or None for the elements in row-major
/// order. Returns: a fresh tensor. Derivative: `g` rolled back. Raises: IndexError if an axis does not exist;
/// RuntimeError if there are not as many shifts as axes.
///
/// >>> rg.roll(rg.tensor([1.0, 2.0, 3.0]), 1).tolist()
/// [3.0, 1.0, 2.0]
#[op(function, method, "(dims=None)")]
pub fn roll(input: &Tensor, shifts: &[i64], dims: Option<&[i64]>) -> Result<Tensor> {
    let dims = dims.unwrap_or_default();
    if shifts.is_empty() {
        return Err(Error::shape("roll", "`shifts` required"));
    }
    if dims.is_empty() && shifts.len() == 1 {
        return apply1(Roll { shifts: shifts.to_vec(), dims: Dims::new(), lead: 0 }, &[input]);
    }
    if shifts.len() != dims.len() {
        return Err(Error::shape(
            "roll",
            format!("shifts and dimensions must align. shifts: {}, dims:{}", shifts.len(), dims.len()),
        ));
    }
    if input.ndim() == 0 {
        return Err(Error::index("roll", "Dimension specified as 0 but tensor has no dimensions"));
    }
    let dims = dims.iter().map(|&d| wrap_dim("roll", d, input.ndim())).collect::<Result<Dims>>()?;
    apply1(Roll { shifts: shifts.to_vec(), dims, lead: 0 }, &[input])
}

/// `rot90`. Reverse: `g` turned back.
#[derive(Clone, Debug)]
struct Rot90 {
    k: i64,
    dims: [usize; 2],
}

impl Primitive for Rot90 {
    const NAME: &'static str = "rot90";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dims: &op.dims[..], k);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(Self { k: p.k, dims: p.dims.map(|d| d + 1) }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, [a, b]) = (xs[0], self.dims);
        let turned = match self.k.rem_euclid(4) {
            0 => return copy::row_major(x).map(out),
            2 => return flipped(x, &[a, b]).map(out),
            1 => flipped(x, &[b])?,
            _ => flipped(x, &[a])?,
        };
        let (mut sizes, mut strides) = (Dims::from_slice(turned.sizes()), Strides::from_slice(turned.strides()));
        sizes.swap(a, b);
        strides.swap(a, b);
        Tensor::from_parts(turned.storage(), x.dtype(), &sizes, &strides, 0).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(Self { k: self.k.wrapping_neg(), dims: self.dims }, &[cx.g()]).map(one)
    }
}

/// A copy of `input` turned by 90 degrees, `k` times, in the plane of two axes.
///
/// Args: `k` how often, negative in the opposite direction; `dims` the two axes, turned from the first towards the
/// second. Returns: a fresh tensor. Derivative: `g` turned back. Raises: RuntimeError unless `dims` are two different
/// axes, IndexError if one does not exist.
///
/// >>> rg.rot90(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[2.0, 4.0], [1.0, 3.0]]
#[op(function, method, "(k=1, dims=(0, 1))")]
pub fn rot90(input: &Tensor, k: i64, dims: &[i64]) -> Result<Tensor> {
    let &[a, b] = dims else {
        return Err(Error::shape("rot90", format!("expected total rotation dims == 2, but got dims = {}", dims.len())));
    };
    let n = input.ndim();
    if n < 2 {
        return Err(Error::shape("rot90", format!("expected total dims >= 2, but got total dims = {n}")));
    }
    if a == b || a.abs_diff(b) == n as u64 {
        return Err(Error::shape(
            "rot90",
            format!("expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"),
        ));
    }
    apply1(Rot90 { k, dims: [wrap_dim("rot90", a, n)?, wrap_dim("rot90", b, n)?] }, &[input])
}

/// A copy of `input` with the order of columns, its second axis, reversed; see `flip`.
///
/// Raises: RuntimeError for fewer than 2 dims.
///
/// >>> rg.fliplr(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[2.0, 1.0], [4.0, 3.0]]
#[op(function, method)]
pub fn fliplr(input: &Tensor) -> Result<Tensor> {
    if input.ndim() < 2 {
        return Err(Error::shape("fliplr", format!("Input must be >= 2-d, got shape {:?}", input.sizes())));
    }
    flip(input, &[1])
}

/// A copy of `input` with the order of rows, its first axis, reversed; see `flip`.
///
/// Raises: RuntimeError for a 0-dim tensor.
///
/// >>> rg.flipud(rg.tensor([1.0, 2.0])).tolist()
/// [2.0, 1.0]
#[op(function, method)]
pub fn flipud(input: &Tensor) -> Result<Tensor> {
    if input.ndim() < 1 {
        return Err(Error::shape("flipud", "Input must be >= 1-d, got a 0-dim tensor"));
    }
    flip(input, &[0])
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].roll(&[5], None)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].t()?.roll(&[-1, 2], Some(&[0, 1]))?.exp(), from_ref(&x));
        for k in [-1, 0, 1, 2, 3] {
            gradcheck(&|xs| xs[0].rot90(k, &[0, 1])?.exp(), from_ref(&x));
        }
        assert!(
            x.roll(&[i64::MIN], Some(&[1])).is_ok() && x.roll(&[], None).is_err() && x.rot90(i64::MIN, &[1, 0]).is_ok()
        );
    }
}
