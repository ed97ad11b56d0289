//! `nll_loss` of a batch of inputs, in ops: each entry of the batch has a loss of its own.

use smallvec::SmallVec;

use super::Reduction;
use super::nll::Loss;
use crate::error::Result;
use crate::ops::pointwise::select::where_;
use crate::ops::view::{batch_first, expand_to, reshape_to};
use crate::tensor::{Scalar, Tensor};

/// The operands, with the batch in front.
pub(super) struct Entries {
    x: Tensor,
    /// The axis of the classes.
    axis: i64,
    /// The class of every sample along that axis, which has size 1; 0 where the sample is ignored.
    classes: Tensor,
    /// Whether a sample is not ignored.
    used: Tensor,
    /// The weight of every sample, 0 where it is ignored; the class axis has size 1.
    weights: Tensor,
    reduction: Reduction,
    /// Whether an entry is one sample, without an axis for samples.
    single: bool,
}

impl Entries {
    pub fn of(
        loss: &Loss,
        x: &Tensor,
        x_axis: Option<usize>,
        target: &Tensor,
        target_axis: Option<usize>,
        weight: Option<(&&Tensor, &Option<usize>)>,
        batch: usize,
    ) -> Result<Self> {
        let x = batch_first(x, x_axis, batch)?;
        let target = batch_first(target, target_axis, batch)?;
        let single = x.ndim() == 2;
        let axis = if single { 1 } else { 2 };
        let mut sizes: SmallVec<[usize; 6]> = SmallVec::from_slice(x.sizes());
        sizes[axis] = 1;
        let target = reshape_to(&target, &sizes)?;
        let used = target.ne(&Tensor::number(Scalar::Int(loss.ignore_index))?)?;
        let classes = where_(&used, &target, &Tensor::number(Scalar::Int(0))?)?;
        let zero = Tensor::zeros(&[], x.dtype())?;
        let each = match weight {
            None => Tensor::ones(&[], x.dtype())?,
            Some((weight, at)) => {
                let weight = batch_first(weight, *at, batch)?;
                let mut along: SmallVec<[usize; 6]> = SmallVec::from_elem(1, x.ndim());
                (along[0], along[axis]) = (batch, weight.sizes()[1]);
                expand_to(&reshape_to(&weight, &along)?, x.sizes())?.gather(axis as i64, &classes)?
            }
        };
        let weights = expand_to(&where_(&used, &each, &zero)?, &sizes)?;
        Ok(Self { x, axis: axis as i64, classes, used, weights, reduction: loss.reduction, single })
    }

    /// Sum over the samples of every entry.
    fn total(&self, x: &Tensor) -> Result<Tensor> {
        let all: Vec<i64> = (1..x.ndim() as i64).collect();
        x.sum_dims(&all, true)
    }

    /// The loss of every entry.
    pub fn loss(&self) -> Result<Tensor> {
        let picked = self.x.gather(self.axis, &self.classes)?;
        // An ignored sample is ignored, whatever its value.
        let zero = Tensor::zeros(&[], self.x.dtype())?;
        let losses = where_(&self.used, &picked.mul(&self.weights)?.neg()?, &zero)?;
        let losses = match self.reduction {
            Reduction::None if self.single => return reshape_to(&losses, &losses.sizes()[..1]),
            Reduction::None => return losses.squeeze_dim(self.axis),
            Reduction::Sum => self.total(&losses)?,
            Reduction::Mean => self.total(&losses)?.div(&self.total(&self.weights)?)?,
        };
        reshape_to(&losses, &losses.sizes()[..1])
    }

    /// The gradient of the input of every entry, from that of the loss.
    pub fn gradient(&self, g: &Tensor) -> Result<Tensor> {
        let mut sizes: SmallVec<[usize; 6]> = SmallVec::from_elem(1, self.x.ndim());
        let g = match self.reduction {
            Reduction::None => reshape_to(g, self.classes.sizes())?,
            _ => {
                sizes[0] = g.sizes()[0];
                reshape_to(g, &sizes)?
            }
        };
        let mut share = self.weights.neg()?;
        if self.reduction == Reduction::Mean {
            share = share.div(&self.total(&self.weights)?)?;
        }
        let parts = expand_to(&g.mul(&share)?, self.classes.sizes())?;
        Tensor::zeros(self.x.sizes(), self.x.dtype())?.scatter_add(self.axis, &self.classes, &parts)
    }
}
