//! Normalizations and dropout with all their results: the ops that those of `nn.functional` are in torch.

use retrograd_macros::op;
use smallvec::SmallVec;
use smallvec::smallvec;

use super::batch_norm::{Channels, scales};
use super::dropout::drawn_mask;
use super::layer_norm::{check, normalized_over};
use super::normalization::{BATCH, GIVEN, GROUP, Standardize};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result, Sizes};
use crate::ops::memory::cast;
use crate::ops::view::reshape_to;
use crate::tensor::{DType, Scalar, Tensor};
use crate::transforms;

/// Result, means and reciprocal deviations. The moments get no gradient, as in torch.
fn three(outs: Outs, dtype: DType) -> Result<Vec<Tensor>> {
    let mut outs = outs.into_iter();
    let y = outs.next().expect("the result");
    let mut moments = outs.take(2).map(|t| cast(&t.detach(), dtype)).collect::<Result<Vec<_>>>()?;
    if moments.is_empty() {
        // Those that were given.
        moments = vec![Tensor::empty(&[0], dtype)?, Tensor::empty(&[0], dtype)?];
    }
    moments.insert(0, y);
    Ok(moments)
}

/// The dtype of moments: that of a weight, if there is one.
fn moments_of(input: &Tensor, weight: Option<&Tensor>) -> DType {
    weight.unwrap_or(input).dtype()
}

/// `nn.functional.layer_norm` with its means and reciprocal deviations.
///
/// Args: as `nn.functional.layer_norm`. Returns: `(result, mean, rstd)`; the moments have size 1 in the dims normalized
/// over, and get no gradient. Derivative, Raises: as there.
///
/// >>> [t.tolist() for t in rg.native_layer_norm(rg.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)]
/// [[[-1.0, 1.0]], [[2.0]], [[1.0]]]
#[op(function)]
pub fn native_layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Vec<Tensor>> {
    let normalized = check(input, normalized_shape, weight, bias)?;
    let count = normalized.len();
    let mut all = three(normalized_over(input, normalized, weight, bias, eps)?, moments_of(input, weight))?;
    let mut sizes = input.sizes().to_vec();
    sizes[input.ndim() - count..].fill(1);
    for moment in &mut all[1..] {
        *moment = reshape_to(moment, &sizes)?;
    }
    Ok(all)
}

/// `nn.functional.group_norm` of an input seen as (N, C, HxW), with its means and reciprocal deviations.
///
/// Args: `weight`, `bias` of shape (C,), or None; `N`, `C`, `HxW` sizes whose product is the number of elements;
/// `group` how many groups, a divisor of C; `eps` a number added to the variance. Returns: `(result, mean, rstd)`, the
/// moments of shape (N, group) and without a gradient. Derivative: as `nn.functional.group_norm`. Raises: RuntimeError
/// if sizes or dtypes are incompatible.
///
/// >>> [t.tolist() for t in rg.native_group_norm(rg.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)]
/// [[[-1.0, 1.0]], [[2.0]], [[1.0]]]
#[op(function)]
#[allow(non_snake_case)]
pub fn native_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    eps: f64,
) -> Result<Vec<Tensor>> {
    const OP: &str = "native_group_norm";
    let refused = |detail: String| Err(Error::shape(OP, detail));
    let Some(groups) = usize::try_from(group).ok().filter(|&g| g > 0) else {
        return refused(format!("Expected num groups to be greater than 0, got {group}"));
    };
    if C % group != 0 {
        return refused(format!(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={group}",
            Sizes(input.sizes())
        ));
    }
    let product = [N, C, HxW].iter().try_fold(1i64, |n, &size| n.checked_mul(size).filter(|_| size >= 0));
    if product != Some(input.numel() as i64) {
        return refused(format!(
            "Expected X.numel() == N * C * HxW to be true, but got false: {} elements, N={N}, C={C}, HxW={HxW}",
            input.numel()
        ));
    }
    for (t, name) in [(weight, "weight"), (bias, "bias")] {
        if let Some(t) = t.filter(|t| *t.sizes() != [C as usize]) {
            return refused(format!(
                "Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape {} and \
                 input of shape {}",
                Sizes(t.sizes()),
                Sizes(input.sizes())
            ));
        }
    }
    let fits = input.ndim() >= 2 && input.sizes()[..2] == [N as usize, C as usize];
    let x = if fits { input.clone() } else { reshape_to(input, &[N as usize, C as usize, HxW as usize])? };
    Channels { mean: None, var: None, weight, bias, training: true }.check(OP, &x)?;
    let one = Tensor::full(&[C as usize], Scalar::Int(1), input.dtype())?;
    let mut xs: SmallVec<[&Tensor; 3]> = SmallVec::from_slice(&[&x]);
    xs.extend(scales(weight, bias, &one));
    let outs = apply(Standardize::<GROUP> { groups, eps, node: Standardize::<GROUP>::NODE }, &xs)?;
    let mut all = three(outs, moments_of(input, weight))?;
    all[0] = reshape_to(&all[0], input.sizes())?;
    Ok(all)
}

/// `nn.functional.batch_norm` with its moments, the node being called `nodes[0]`, or `nodes[1]` for given moments.
fn batch(
    op: &'static str,
    channels: &Channels,
    x: &Tensor,
    momentum: f64,
    eps: f64,
    node: [&'static str; 2],
) -> Result<Vec<Tensor>> {
    if x.numel() == 0 {
        return Err(Error::shape(
            op,
            format!("input tensor must have at least one element, but got input_sizes = {}", Sizes(x.sizes())),
        ));
    }
    channels.check(op, x)?;
    three(channels.standardized(x, momentum, eps, node)?, moments_of(x, channels.weight))
}

/// `nn.functional.batch_norm` with its means and reciprocal deviations.
///
/// Args: as `nn.functional.batch_norm`, in another order. Returns: `(result, mean, rstd)`, the moments of shape (C,)
/// and without a gradient; empty unless `training`. Derivative: as there. Raises: RuntimeError for no elements, or if
/// sizes or dtypes are incompatible.
///
/// >>> x = rg.tensor([[1.0], [3.0]])
/// >>> [t.tolist() for t in rg.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)]
/// [[[-1.0], [1.0]], [2.0], [1.0]]
#[op(function)]
pub fn native_batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Vec<Tensor>> {
    let channels = Channels { mean: running_mean, var: running_var, weight, bias, training };
    batch(
        "native_batch_norm",
        &channels,
        input,
        momentum,
        eps,
        [Standardize::<BATCH>::NODE, Standardize::<GIVEN>::NODE],
    )
}

/// As `native_batch_norm`, with running moments.
///
/// >>> x, zero, one = rg.tensor([[1.0], [3.0]]), rg.zeros(1), rg.ones(1)
/// >>> rg._native_batch_norm_legit(x, None, None, zero, one, False, 0.1, 0.0)[0].tolist()
/// [[1.0], [3.0]]
#[op(function)]
pub fn _native_batch_norm_legit(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &Tensor,
    running_var: &Tensor,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Vec<Tensor>> {
    let channels = Channels { mean: Some(running_mean), var: Some(running_var), weight, bias, training };
    batch("_native_batch_norm_legit", &channels, input, momentum, eps, ["NativeBatchNormLegitBackward0"; 2])
}

/// As `native_batch_norm`, without running moments.
///
/// >>> rg._native_batch_norm_legit(rg.tensor([[1.0], [3.0]]), None, None, True, 0.1, 0.0)[1].tolist()
/// [2.0]
#[op(function, name = "_native_batch_norm_legit")]
pub fn _native_batch_norm_legit_own(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Vec<Tensor>> {
    let channels = Channels { mean: None, var: None, weight, bias, training };
    batch("_native_batch_norm_legit", &channels, input, momentum, eps, ["NativeBatchNormLegitBackward1"; 2])
}

/// `x * mask * scale`: reverse `g * mask * scale`.
#[derive(Clone, Debug)]
struct NativeDropout {
    p: f64,
    scale: f64,
}

impl Primitive for NativeDropout {
    const NAME: &'static str = "native_dropout";
    const SAVE: &'static [Save] = &[Save::input(1, "result1")];
    const PARAMS: Params<Self> = params!(op; p);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Linear(0b01);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // Without a scale, integers stay integers.
        let kept = xs[0].detach().mul(&xs[1].detach())?;
        if self.scale == 1.0 { Ok(out(kept)) } else { kept.times(self.scale).map(out) }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(smallvec![Some(apply1(self.clone(), &[cx.g(), cx.saved(0)?])?), None])
    }
}

/// Zeroes elements at random, each with probability `p`, and scales the others by `1 / (1 - p)`; and says which stayed.
///
/// Args: `input` floating dtype, any shape; `p` from 0 to 1; `train` False drops nothing, of any dtype; None is True.
/// Draws from the default generator. Returns: `(result, mask)`, the mask in bool. Derivative: `g` times the same
/// factors. Raises: RuntimeError if `p` is out of range, or for integers.
///
/// >>> [t.tolist() for t in rg.native_dropout(rg.ones(2), 0.0, True)]
/// [[1.0, 1.0], [True, True]]
#[op(function)]
pub fn native_dropout(input: &Tensor, p: f64, train: Option<bool>) -> Result<(Tensor, Tensor)> {
    const OP: &str = "native_dropout";
    if train == Some(false) {
        let mask = Tensor::full(input.sizes(), Scalar::Bool(true), DType::Bool)?;
        return Ok((apply1(NativeDropout { p, scale: 1.0 }, &[input, &mask])?, mask));
    }
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::shape(OP, format!("bernoulli_ expects p to be in [0, 1], but got p={}", 1.0 - p)));
    }
    if input.dtype().is_integral() {
        return Err(Error::dtype(
            OP,
            format!(
                "result type Float can't be cast to the desired output type {}: convert the input with .to(float32)",
                input.dtype().scalar_type_name()
            ),
        ));
    }
    let mask = transforms::drawn(OP, input.sizes(), |sizes| {
        let like = if sizes == input.sizes() { input.clone() } else { Tensor::empty(sizes, input.dtype())? };
        drawn_mask(&like, 1.0 - p)
    })?;
    let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
    Ok((apply1(NativeDropout { p, scale }, &[input, &mask])?, mask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let (x, w, b) = (noise(1, &[3, 4]), noise(2, &[4]), noise(3, &[4]));
        let all = [x.clone(), w, b];
        let eps = 1e-2;
        gradcheck(&|t| Ok(native_layer_norm(&t[0], &[4], Some(&t[1]), Some(&t[2]), eps)?.swap_remove(0)), &all);
        gradcheck(&|t| Ok(native_group_norm(&t[0], Some(&t[1]), None, 3, 4, 1, 2, eps)?.swap_remove(0)), &all[..2]);
        gradcheck(&|t| Ok(native_batch_norm(&t[0], None, None, None, None, true, 0.1, eps)?.swap_remove(0)), &all[..1]);
        assert!(native_group_norm(&x, None, None, 3, 4, 2, 2, eps).is_err());
        assert!(native_dropout(&x, 1.5, None).is_err() && native_dropout(&x, 1.5, Some(false)).is_ok());
    }
}
