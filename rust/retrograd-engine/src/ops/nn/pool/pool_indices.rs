//! Elements at places of planes that were found before: reverse and forward mode of the maximum.

use super::{plane, with_plane};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::pool;
use crate::match_dtype;
use crate::tensor::copy;
use crate::tensor::layout::numel;
use crate::tensor::{DType, Dtypes, Tensor};

/// The contiguous values and places of equal sizes that a kernel takes.
pub(super) fn paired(op: &'static str, x: &Tensor, at: &Tensor, same: bool) -> Result<(Tensor, Tensor)> {
    if at.dtype() != DType::Int64 || (same && x.sizes() != at.sizes()) {
        return Err(Error::shape(op, format!("{at:?} are no places for {x:?}")));
    }
    Ok((copy::contiguous(x)?, copy::contiguous(at)?))
}

/// `g` added up at places of zeros of the size `plane`. Reverse: [`AtPlaces`] of `gg`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToPlaces {
    pub rank: usize,
    pub plane: [usize; 3],
    pub node: &'static str,
}

impl Primitive for ToPlaces {
    const NAME: &'static str = "max_pool_backward";
    const SAVE: &'static [Save] = &[Save::input(1, "indices")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    // Places count from the beginning of their own plane, and any axes may stand in front.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        self.node
    }
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (g, at) = paired(Self::NAME, xs[0], xs[1], true)?;
        let sizes = with_plane(g.sizes(), self.rank, self.plane);
        let (inner, outer) = (numel(&self.plane), plane(g.sizes(), self.rank).iter().product());
        match_dtype!(floats, g.dtype(), T => Tensor::build::<T>(&sizes, |y| {
            pool::scatter(g.as_slice::<T>().unwrap_or(&[]), at.as_slice::<i64>().unwrap_or(&[]), y, inner, outer);
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = AtPlaces { rank: self.rank, node: self.node };
        let mut grads = maybe(cx.when(0, || apply1(back, &[cx.g(), cx.saved(0)?]))?);
        grads.push(None);
        Ok(grads)
    }
}

/// The elements at places of their planes. Reverse: [`ToPlaces`] of `g`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtPlaces {
    pub rank: usize,
    pub node: &'static str,
}

impl Primitive for AtPlaces {
    const NAME: &'static str = "max_pool_gather";
    const SAVE: &'static [Save] = &[Save::input(1, "indices")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        self.node
    }
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (x, at) = paired(Self::NAME, xs[0], xs[1], false)?;
        let lead = x.ndim() - self.rank;
        if x.ndim() != at.ndim() || x.sizes()[..lead] != at.sizes()[..lead] {
            return Err(Error::shape(Self::NAME, format!("{at:?} are no places for {x:?}")));
        }
        let [inner, outer] = [&x, &at].map(|t| plane(t.sizes(), self.rank).iter().product());
        match_dtype!(floats, x.dtype(), T => Tensor::build::<T>(at.sizes(), |y| {
            y.fill(0.0);
            if let (Some(x), Some(at)) = (x.as_slice::<T>(), at.as_slice::<i64>()) {
                pool::gather_at(x, at, y, inner, outer);
            }
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = ToPlaces { rank: self.rank, plane: plane(cx.sizes(0), self.rank), node: self.node };
        let mut grads = maybe(cx.when(0, || apply1(back, &[cx.g(), cx.saved(0)?]))?);
        grads.push(None);
        Ok(grads)
    }
}
