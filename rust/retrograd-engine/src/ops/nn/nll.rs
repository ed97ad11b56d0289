//! `nll_loss`: the negative log likelihood of class indices.

use retrograd_macros::op;
use smallvec::{SmallVec, smallvec};

use super::Reduction;
use super::nll_entries::Entries;
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::mode;
use crate::autograd::primitive::{
    Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result, Sizes};
use crate::kernels::real::Real;
use crate::match_dtype;
use crate::ops::memory;
use crate::ops::view::{batch_first, reshape_to};
use crate::tensor::layout::Dims;
use crate::tensor::{DType, Dtypes, Element, Tensor};

/// The parameters of both directions of the loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    pub reduction: Reduction,
    pub ignore_index: i64,
    /// The input is (N, C, H, W) and the target (N, H, W), not (N, C) and (N,).
    spatial: bool,
}

/// Position and strides of a tensor seen as samples of classes: (N, C, H, W) with axes that may be missing.
struct Samples<T> {
    data: *mut T,
    strides: [isize; 4],
}

impl<T: Element> Samples<T> {
    /// Of an operand with the class axis.
    fn of(x: &Tensor) -> Self {
        let strides = match *x.strides() {
            [c] => [0, c, 0, 0],
            [n, c] => [n, c, 0, 0],
            [n, c, h, w] => [n, c, h, w],
            _ => [0; 4],
        };
        Self { data: x.ptr(), strides }
    }
    /// Of an operand without the class axis; with one element (0-dim) every sample has it.
    fn without_classes(x: &Tensor) -> Self {
        let strides = match *x.strides() {
            [n] => [n, 0, 0, 0],
            [n, h, w] => [n, 0, h, w],
            _ => [0; 4],
        };
        Self { data: x.ptr(), strides }
    }
    fn at(&self, [n, h, w]: [usize; 3], class: usize) -> *mut T {
        let [sn, sc, sh, sw] = self.strides;
        self.data.wrapping_offset(n as isize * sn + class as isize * sc + h as isize * sh + w as isize * sw)
    }
}

/// Samples (N, H, W) and classes of an input of these sizes.
fn extents(sizes: &[usize]) -> ([usize; 3], usize) {
    match *sizes {
        [c] => ([1, 1, 1], c),
        [n, c] => ([n, 1, 1], c),
        [n, c, h, w] => ([n, h, w], c),
        _ => ([0; 3], 0),
    }
}

impl Loss {
    /// Calls `f` for every sample with its class, unless that is the ignored one.
    fn each(&self, sizes: &[usize], target: &Tensor, mut f: impl FnMut([usize; 3], usize)) -> Result<()> {
        let ([n, h, w], classes) = extents(sizes);
        let target = Samples::<i64>::without_classes(target);
        for i in 0..n {
            for j in 0..h {
                for k in 0..w {
                    // SAFETY: S1 and S3: the target was checked to have an element for every sample. S6: read once,
                    // which the compiler also learns.
                    let class = unsafe { target.at([i, j, k], 0).read_volatile() };
                    if class == self.ignore_index {
                        continue;
                    }
                    if class < 0 || class >= classes as i64 {
                        return Err(Error::index(
                            "nll_loss",
                            format!(
                                "Target {class} is out of bounds. It must be from 0 to {} for {classes} classes",
                                classes as i64 - 1
                            ),
                        ));
                    }
                    f([i, j, k], class as usize);
                }
            }
        }
        Ok(())
    }

    /// Sizes of the unreduced loss of an input of these sizes.
    fn sample_sizes(&self, sizes: &[usize]) -> Dims {
        let mut s = Dims::from_slice(sizes);
        s.remove(usize::from(sizes.len() > 1));
        s
    }

    /// Sizes of the loss of an input of these sizes.
    fn result_sizes(&self, sizes: &[usize]) -> Dims {
        if self.reduction == Reduction::None { self.sample_sizes(sizes) } else { Dims::new() }
    }

    fn forward<T: Element + Real + Into<f64>>(
        &self,
        x: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<Outs> {
        let input = Samples::<T>::of(x);
        let weight = weight.map(|w| (w.ptr::<T>(), w.strides()[0]));
        // SAFETY: S1 and S3: the weight was checked to have an element for every class.
        let weight_of =
            |class: usize| weight.map_or(T::ONE, |(p, s)| unsafe { *p.wrapping_offset(class as isize * s) });
        // SAFETY: S1 and S3: the sample and the class are inside the input's sizes.
        let value = |at, class| unsafe { *input.at(at, class) };
        if self.reduction == Reduction::None {
            let sizes = self.sample_sizes(x.sizes());
            let y = Tensor::full(&sizes, 0i64.into(), x.dtype())?;
            let losses = Samples::<T>::without_classes(&y);
            self.each(x.sizes(), target, |at, class| {
                // SAFETY: S1 and S3: one element of the fresh output for every sample.
                unsafe { *losses.at(at, 0) = value(at, class).mul(weight_of(class)).neg() }
            })?;
            return Ok(smallvec::smallvec![y, Tensor::full(&[], 0i64.into(), x.dtype())?]);
        }
        let (mut sum, mut count) = (0.0f64, 0.0f64);
        self.each(x.sizes(), target, |at, class| {
            let w: f64 = weight_of(class).into();
            sum -= value(at, class).into() * w;
            count += w;
        })?;
        let loss = if self.reduction == Reduction::Mean { sum / count } else { sum };
        let number = |v: f64| Tensor::full(&[], v.into(), x.dtype());
        Ok(smallvec::smallvec![number(loss)?, number(count)?])
    }

    fn backward<T: Element + Real>(
        &self,
        sizes: &[usize],
        g: &Tensor,
        target: &Tensor,
        total: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        let y = Tensor::full(sizes, 0i64.into(), g.dtype())?;
        let result = Samples::<T>::of(&y);
        let g = Samples::<T>::without_classes(g);
        let weight = weight.map(|w| (w.ptr::<T>(), w.strides()[0]));
        // SAFETY: S1 and S3: a 0-dim tensor has its element.
        let total = unsafe { *total.ptr::<T>() };
        self.each(sizes, target, |at, class| {
            // SAFETY: S1 and S3: the weight has an element for every class, the gradient one for every sample or one
            // for all; sample and class are inside the sizes of the fresh output.
            unsafe {
                let w = weight.map_or(T::ONE, |(p, s)| *p.wrapping_offset(class as isize * s));
                let d = w.mul(*g.at(at, 0)).neg();
                *result.at(at, class) = if self.reduction == Reduction::Mean { d.div(total) } else { d };
            }
        })?;
        Ok(y)
    }
}

/// `nll_loss`: `-w[t_i] x[i, t_i]`, its sum, or its mean weighted by `w[t_i]`. Reverse: [`NllBackward`].
///
/// Operands: input, target, and the weight if there is one. Results: the loss, and the sum of the weights.
#[derive(Clone, Copy, Debug)]
struct Nll(Loss);

impl Primitive for Nll {
    const NAME: &'static str = "nll_loss";
    const SAVE: &'static [Save] =
        &[Save::input(0, "self"), Save::input(1, "target"), Save::input(2, "weight"), Save::output(1, "total_weight")];
    const PARAMS: Params<Self> = params!(op; ignore_index: op.0.ignore_index, reduction: op.0.reduction as i64);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let all = Entries::of(&op.0, xs[0], axes[0], xs[1], axes[1], xs.get(2).zip(axes.get(2)), batch)?;
        // The sum of the weights is used by the rule only.
        Ok((smallvec![all.loss()?, Tensor::zeros(&[], xs[0].dtype())?], smallvec![Some(0), None]))
    });
    fn node(&self) -> &'static str {
        if self.0.spatial { "NllLoss2DBackward0" } else { "NllLossBackward0" }
    }
    fn inputs(&self) -> u32 {
        1
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.0.forward::<T>(xs[0], xs[1], xs.get(2).copied()))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The sum of the weights does not depend on the input.
        let Some(g) = cx.g_of(0) else { return Ok(maybe(None)) };
        let mut grads = one(self.backward(g, cx.saved(0)?, cx.saved(1)?, &cx.saved(3)?.detach(), cx.saved(2).ok())?);
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let mut xs: SmallVec<[&Tensor; 3]> = SmallVec::from_slice(cx.xs);
        let mut ts = maybe(None);
        if let Some(t) = cx.t(0) {
            xs[0] = t;
            ts[0] = Some(apply(*op, &xs)?.swap_remove(0));
        }
        ts.push(None);
        Ok(ts)
    });
}

impl Nll {
    fn backward(
        &self,
        g: &Tensor,
        x: &Tensor,
        target: &Tensor,
        total: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        let xs: SmallVec<[&Tensor; 5]> = [g, x, target, total].into_iter().chain(weight).collect();
        apply1(NllBackward(self.0), &xs)
    }
}

/// The gradient of the input: `-g w[t_i]` at `[i, t_i]`, over the sum of the weights for the mean. Reverse: [`Nll`] of
/// `gg`, and zeros for the input, which is an operand so that a second derivative exists.
///
/// Operands: g, the input, target, the sum of the weights, and the weight if there is one.
#[derive(Clone, Copy, Debug)]
struct NllBackward(Loss);

impl Primitive for NllBackward {
    const NAME: &'static str = "nll_loss_backward";
    const SAVE: &'static [Save] = &[Save::input(2, "target"), Save::input(4, "weight")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let all = Entries::of(&op.0, xs[1], axes[1], xs[2], axes[2], xs.get(4).zip(axes.get(4)), batch)?;
        Ok((out(all.gradient(&batch_first(xs[0], axes[0], batch)?)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.0.spatial { "NllLoss2DBackwardBackward0" } else { "NllLossBackwardBackward0" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let (weight, g, of) = (xs.get(4).copied(), xs[0], xs[1].sizes());
        // A hook may have replaced the gradient.
        let sizes = self.0.result_sizes(of);
        if g.sizes() != &sizes[..] || g.dtype() != xs[3].dtype() {
            return Err(Error::shape(
                "nll_loss_backward",
                format!("expected a gradient of sizes {sizes:?}, got {g:?}"),
            ));
        }
        match_dtype!(floats, xs[0].dtype(), T => self.0.backward::<T>(of, g, xs[2], xs[3], weight).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let xs: SmallVec<[&Tensor; 3]> = [cx.g(), cx.saved(0)?].into_iter().chain(cx.saved(1).ok()).collect();
        let mut grads = maybe(cx.when(0, || Ok(apply(Nll(self.0), &xs)?.swap_remove(0)))?);
        grads.push(cx.when(1, || Tensor::zeros(cx.sizes(1), cx.dtype(1)))?);
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
}

/// Checks an input of one, two or four dims with its target, and runs the loss.
fn run(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignore_index: i64,
) -> Result<Tensor> {
    const OP: &str = "nll_loss";
    let spatial = input.ndim() == 4;
    let (x, t) = (input.sizes(), target.sizes());
    if spatial && t.len() != 3 {
        return Err(Error::shape(
            OP,
            format!("only batches of spatial targets supported (3D tensors) but got targets of dimension: {}", t.len()),
        ));
    }
    if !spatial && t.len() > 1 {
        return Err(Error::shape(
            OP,
            format!("0D or 1D target tensor expected, multi-target not supported, got target sizes {}", Sizes(t)),
        ));
    }
    if x.len() == 1 && t.len() == 1 && t[0] != 1 {
        return Err(Error::value(
            OP,
            format!("For 1D input, 1D target must have size 1, but got target size: {}", t[0]),
        ));
    }
    let fits = match (x, t) {
        ([_], _) => true,
        ([n, _], [m]) => n == m,
        ([n, _, h, w], [m, i, j]) => (n, h, w) == (m, i, j),
        _ => false,
    };
    if !fits {
        return Err(Error::shape(OP, format!("size mismatch (got input: {}, target: {})", Sizes(x), Sizes(t))));
    }
    let classes = extents(x).1;
    if let Some(w) = weight {
        if w.ndim() != 1 || w.numel() != classes {
            let all = if spatial { "all".to_string() } else { format!("all {classes} classes") };
            return Err(Error::shape(
                OP,
                format!(
                    "weight tensor should be defined either for {all} or no classes but got weight tensor of shape: {}",
                    Sizes(w.sizes())
                ),
            ));
        }
        if w.dtype() != input.dtype() {
            return Err(Error::dtype(
                OP,
                format!(
                    "expected scalar type {} but found {} in weight",
                    input.dtype().scalar_type_name(),
                    w.dtype().scalar_type_name()
                ),
            ));
        }
        if w.requires_grad() && mode::is_grad_enabled() {
            return Err(Error::not_implemented(
                "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. This input cannot \
                 have requires_grad True: detach the weight.",
            ));
        }
    }
    if !matches!((target.dtype(), spatial), (DType::Int64, _) | (DType::UInt8, false)) {
        return Err(Error::dtype(
            OP,
            format!(
                "expected target dtype to be Long or Byte, but got {}; convert it with .to(int64)",
                target.dtype().scalar_type_name()
            ),
        ));
    }
    let target = memory::cast(target, DType::Int64)?;
    let xs: SmallVec<[&Tensor; 3]> = [input, &target].into_iter().chain(weight).collect();
    Ok(apply(Nll(Loss { reduction, ignore_index, spatial }), &xs)?.swap_remove(0))
}

/// The loss of an input of any number of dims; see [`nll_loss`].
pub(super) fn any_dims(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
    ignore_index: i64,
) -> Result<Tensor> {
    const OP: &str = "nll_loss";
    let (x, t) = (input.sizes(), target.sizes());
    if x.is_empty() {
        return Err(Error::value(OP, "Expected 1 or more dimensions (got 0)"));
    }
    let samples = t.first().copied().unwrap_or(0);
    if x.len() > 1 && x[0] != samples {
        return Err(Error::value(
            OP,
            format!("Expected input batch_size ({}) to match target batch_size ({samples}).", x[0]),
        ));
    }
    if matches!(x.len(), 1 | 2 | 4) {
        return run(input, target, weight, reduction, ignore_index);
    }
    let (n, c) = (x[0], x[1]);
    let mut sizes: Dims = Dims::from_slice(&x[2..]);
    sizes.insert(0, n);
    if t.get(1..) != Some(&x[2..]) {
        return Err(Error::shape(OP, format!("Expected target size {}, got {}", Sizes(&sizes), Sizes(t))));
    }
    let (h, w) = if input.numel() > 0 { (1, x[2..].iter().product()) } else { (0, 0) };
    let flat = reshape_to(&input.contiguous()?, &if input.numel() > 0 { [n, c, h, w] } else { [n, c, 0, 0] })?;
    let losses = run(&flat, &reshape_to(&target.contiguous()?, &[n, h, w])?, weight, reduction, ignore_index)?;
    if reduction == Reduction::None { reshape_to(&losses, &sizes) } else { Ok(losses) }
}

/// The negative log likelihood of class indices: `-weight[t] * input[t]` for each sample, and its mean or sum.
///
/// Args: `input` log probabilities (C,), (N, C) or (N, C, d1, ...), floating dtype; `target` class indices (), (N,)
/// or (N, d1, ...), int64; `weight` (C,) or None; `ignore_index` a class whose samples are ignored; `reduction` 'mean'
/// (weighted), 'sum' or 'none'. `size_average` and `reduce` are deprecated. Returns: a 0-dim tensor, or the target's
/// shape for 'none'. Derivative: `-g * weight[t]` (over the sum of the weights for 'mean') at the target's class, zero
/// elsewhere. Raises: IndexError for a class out of range; RuntimeError or ValueError for sizes and dtypes that are
/// incompatible.
///
/// >>> rg.nn.functional.nll_loss(rg.tensor([[-1.0, -2.0]]), rg.tensor([1])).item()
/// 2.0
#[op(
    function,
    module = "nn.functional",
    "(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean')"
)]
pub fn nll_loss(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    ignore_index: i64,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    let reduction = Reduction::of("nll_loss", size_average, reduce, reduction)?;
    any_dims(input, target, weight, reduction, ignore_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn classes(values: &[i64], sizes: &[usize]) -> Tensor {
        Tensor::from_slice(values, sizes).unwrap()
    }

    fn loss(x: &Tensor, t: &Tensor, w: Option<&Tensor>, reduction: &str) -> Result<Tensor> {
        nll_loss(x, t, w, None, 1, None, reduction)
    }

    #[test]
    fn gradients() {
        let w = Tensor::from_slice(&[0.5f64, 1.0, 2.0, 0.25], &[4]).unwrap();
        for reduction in ["mean", "sum", "none"] {
            for w in [None, Some(&w)] {
                let t = classes(&[0, 1, 3], &[3]);
                gradcheck(&|x| loss(&x[0], &t, w, reduction), &[noise(1, &[3, 4])]);
                gradcheck(&|x| loss(&x[0].t()?, &t, w, reduction), &[noise(1, &[4, 3])]);
                let t = classes(&[2], &[]);
                gradcheck(&|x| loss(&x[0], &t, w, reduction), &[noise(1, &[4])]);
                let t = classes(&[0, 1, 3, 2, 0, 0, 1, 1], &[2, 2, 2]);
                gradcheck(&|x| loss(&x[0], &t, w, reduction), &[noise(1, &[2, 4, 2, 2])]);
                let t = classes(&[0, 1, 3, 2], &[2, 2]);
                gradcheck(&|x| loss(&x[0], &t, w, reduction), &[noise(1, &[2, 4, 2])]);
            }
        }
    }

    #[test]
    fn values_and_refusals() {
        let x = Tensor::from_slice(&[-1.0f32, -2.0, -3.0, -4.0, -5.0, -6.0], &[2, 3]).unwrap();
        let t = classes(&[2, 0], &[2]);
        let f = |r| loss(&x, &t, None, r).unwrap();
        assert_eq!(f("none").to_vec::<f32>().unwrap(), [3.0, 4.0]);
        assert_eq!(f("sum").item().unwrap().as_f64(), 7.0);
        assert_eq!(f("mean").item().unwrap().as_f64(), 3.5);
        let ignored = classes(&[1, 1], &[2]);
        assert!(loss(&x, &ignored, None, "mean").unwrap().item().unwrap().as_f64().is_nan());
        let message = |t: &Tensor| loss(&x, t, None, "mean").unwrap_err().to_string();
        assert!(message(&classes(&[0, 5], &[2])).contains("Target 5 is out of bounds."));
        assert!(message(&classes(&[0, -1], &[2])).contains("Target -1 is out of bounds."));
        assert!(
            message(&classes(&[0], &[1])).contains("Expected input batch_size (2) to match target batch_size (1).")
        );
        assert!(message(&classes(&[0, 0], &[2, 1])).contains("0D or 1D target tensor expected"));
        assert!(loss(&noise(1, &[]), &classes(&[0], &[]), None, "mean").is_err());
        assert!(loss(&noise(1, &[0, 2, 3, 4]), &classes(&[], &[0, 3, 4]), None, "sum").is_ok());
        assert!(loss(&noise(1, &[2, 2, 0]), &classes(&[], &[2, 0]), None, "none").is_ok());
    }
}
