//! `scaled_dot_product_attention`.

use std::ops::Range;

use retrograd_macros::op;

use super::attention_checks::{Operands, none};
use super::dropout::dropout;
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params};
use crate::error::{Error, Result};
use crate::kernels::attention::{Gradients, Head, Matrix, Plan};
use crate::kernels::matmul::{GemmScalar, term_cost};
use crate::kernels::parallel::{SharedPtr, try_split};
use crate::kernels::real::Real;
use crate::match_dtype;
use crate::ops::Value;
use crate::ops::view::{batch_first, reshape_to};
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::{Dims, numel};
use crate::tensor::{Dtypes, Element, Scalar, Tensor};

/// Attention: with scores `s = scale q k^T + mask` and weights `w = softmax(s)`, the output `w v`.
///
/// Reverse: `gv = w^T g`, and with `ds = w (g v^T - sum(w g v^T))` for the scores `gq = scale ds k`, `gk = scale ds^T
/// q` and `gmask = ds`. Forward: `w (ds - sum(w ds)) v + w dv`. A row that the mask hides from all columns has weights
/// 0.
///
/// Operands: query, key and value, and the mask if there is one, with the same axes in front; but several heads of the
/// query may share one of key and value. Results: the output and the logarithms of the rows' sums.
#[derive(Clone, Copy, Debug)]
struct Attention {
    given_scale: Option<f64>,
    causal: bool,
}

/// The offset of matrix `index` of the leading axes. `shared` consecutive heads have one matrix.
fn start(sizes: &[usize], strides: &[isize], mut index: usize, shared: usize) -> isize {
    let mut offset = 0;
    for axis in (0..sizes.len() - 2).rev() {
        let i = index % sizes[axis];
        index /= sizes[axis];
        let i = if axis + 3 == sizes.len() { i / shared } else { i };
        offset += i as isize * strides[axis];
    }
    offset
}

/// The matrices of one tensor, by the heads of the query. Its address is taken where the op runs: workers have no
/// reading (R1).
#[derive(Clone, Copy)]
struct Matrices<'a, T> {
    first: SharedPtr<T>,
    strides: &'a [isize],
    /// Sizes of the query.
    sizes: &'a [usize],
    /// How many heads of the query have one matrix of this tensor.
    shared: usize,
}

impl<'a, T: Element> Matrices<'a, T> {
    fn of(x: &'a Tensor, sizes: &'a [usize], shared: usize) -> Self {
        Self { first: SharedPtr(x.ptr()), strides: x.strides(), sizes, shared }
    }
    /// The matrix of head `index`. The leading axes are those of the query, also where heads are shared.
    fn at(&self, index: usize) -> Matrix<T> {
        let n = self.strides.len();
        let p = self.first.get().wrapping_offset(start(self.sizes, self.strides, index, self.shared));
        Matrix { p, rs: self.strides[n - 2], cs: self.strides[n - 1] }
    }
}

/// What attention reads, by the heads of the query.
struct Heads<'a, T> {
    query: Matrices<'a, T>,
    key: Matrices<'a, T>,
    value: Matrices<'a, T>,
    mask: Option<Matrices<'a, T>>,
}

impl<'a, T: Element> Heads<'a, T> {
    fn of(xs: &[&'a Tensor]) -> Self {
        let (sizes, shared) = (xs[0].sizes(), Attention::shared(xs[0].sizes(), xs[1].sizes()));
        Self {
            query: Matrices::of(xs[0], sizes, 1),
            key: Matrices::of(xs[1], sizes, shared),
            value: Matrices::of(xs[2], sizes, shared),
            mask: xs.get(3).map(|mask| Matrices::of(mask, sizes, 1)),
        }
    }
    fn at(&self, index: usize) -> Head<T> {
        Head {
            query: self.query.at(index),
            key: self.key.at(index),
            value: self.value.at(index),
            mask: self.mask.map(|mask| mask.at(index)),
        }
    }
}

impl Attention {
    fn scale(&self, query: &Tensor) -> f64 {
        let width = query.sizes()[query.ndim() - 1];
        // Without terms the scores are zero at any scale.
        self.given_scale.unwrap_or(if width == 0 { 1.0 } else { (width as f64).sqrt().recip() })
    }

    fn plan<T: Real + GemmScalar>(&self, xs: &[&Tensor]) -> Plan<T> {
        let last_two = |x: &Tensor| (x.sizes()[x.ndim() - 2], x.sizes()[x.ndim() - 1]);
        let ((queries, width), (keys, value_width)) = (last_two(xs[0]), last_two(xs[2]));
        Plan { queries, keys, width, value_width, scale: T::of(self.scale(xs[0])), causal: self.causal }
    }

    /// The heads of the query that share one of key and value.
    fn shared(query: &[usize], key: &[usize]) -> usize {
        match query.len() {
            2 => 1,
            // Without heads any number shares none.
            n => (query[n - 3] / key[n - 3].max(1)).max(1),
        }
    }

    fn run<T: Element + Real + GemmScalar>(&self, xs: &[&Tensor]) -> Result<Outs> {
        let q = xs[0];
        let plan = self.plan::<T>(xs);
        let lead = q.ndim() - 2;
        let mut sizes = Dims::from_slice(q.sizes());
        sizes[lead + 1] = plan.value_width;
        // The output has the memory order of the query.
        let y =
            if q.sizes() == &sizes[..] { q.empty_like_layout(q.dtype())? } else { Tensor::empty(&sizes, q.dtype())? };
        let lse = Tensor::empty(&sizes[..lead + 1], q.dtype())?;
        let (heads, out) = (Heads::<T>::of(xs), Matrices::<T>::of(&y, q.sizes(), 1));
        let sums = SharedPtr(lse.ptr::<T>());
        let each = |range: Range<usize>| -> Result<()> {
            let _reading = reading();
            let scratch = Tensor::empty(&[plan.forward_scratch()], T::DTYPE)?;
            // SAFETY: S1 to S3: all elements of a fresh tensor that nobody else has; every bit pattern is a number.
            let scratch = unsafe { std::slice::from_raw_parts_mut(scratch.ptr::<T>(), scratch.numel()) };
            for i in range {
                let sums = sums.get().wrapping_add(i * plan.queries);
                // SAFETY: (1) S1 and S3 for matrix `i` of each operand, whose sizes were checked; S4. (2) Matrix and
                // row `i` of fresh tensors, which no other piece has.
                unsafe { plan.forward(&heads.at(i), out.at(i), sums, scratch) }
            }
            Ok(())
        };
        if y.numel() > 0 || lse.numel() > 0 {
            let count = numel(&q.sizes()[..lead]);
            try_split(count, 1, count as f64 * plan.terms() * term_cost::<T>(), &each)?;
        }
        Ok(smallvec::smallvec![y, lse])
    }

    /// Gradients of query, key and value in one pass.
    fn fused<T: Element + Real + GemmScalar>(&self, cx: &Vjp, g: &Tensor) -> Result<Grads> {
        let xs = Self::operands(cx)?;
        let (q, k, v) = (xs[0], xs[1], xs[2]);
        let plan = self.plan::<T>(&xs);
        let shared = Self::shared(q.sizes(), k.sizes());
        let (out, lse) = (cx.saved(4)?, copy::contiguous(cx.saved(5)?)?);
        let gq = cx.when(0, || Tensor::empty(q.sizes(), q.dtype()))?;
        let gk = cx.when(1, || Tensor::zeros(k.sizes(), k.dtype()))?;
        let gv = cx.when(2, || Tensor::zeros(v.sizes(), v.dtype()))?;
        let (heads, sums) = (Heads::<T>::of(&xs), SharedPtr(lse.ptr::<T>()));
        let [grad, out] = [g, out].map(|t| Matrices::<T>::of(t, q.sizes(), 1));
        let [to_query, to_key, to_value] = [(&gq, 1), (&gk, shared), (&gv, shared)]
            .map(|(t, shared)| t.as_ref().map(|t| Matrices::<T>::of(t, q.sizes(), shared)));
        let each = |range: Range<usize>| -> Result<()> {
            let _reading = reading();
            let scratch = Tensor::empty(&[plan.backward_scratch()], T::DTYPE)?;
            // SAFETY: S1 to S3: all elements of a fresh tensor that nobody else has; every bit pattern is a number.
            let scratch = unsafe { std::slice::from_raw_parts_mut(scratch.ptr::<T>(), scratch.numel()) };
            for i in range {
                let to = Gradients {
                    grad: grad.at(i),
                    out: out.at(i),
                    lse: sums.get().wrapping_add(i * plan.queries).cast_const(),
                    query: to_query.map(|t| t.at(i)),
                    key: to_key.map(|t| t.at(i)),
                    value: to_value.map(|t| t.at(i)),
                };
                // SAFETY: (1) S1 and S3 for matrix `i` of each tensor, whose sizes were checked, as was the gradient's;
                // S4. (2) Matrices of fresh tensors; those that are added to hold zeros, or what other heads added.
                unsafe { plan.backward(&heads.at(i), &to, scratch) }
            }
            Ok(())
        };
        // Without queries there are gradients, which are zero.
        let count = if plan.queries == 0 { 0 } else { numel(&q.sizes()[..q.ndim() - 2]) };
        // Heads that share a key and a value add to one gradient: a piece has all of them.
        try_split(count, shared, 2.5 * count as f64 * plan.terms() * term_cost::<T>(), &each)?;
        let mut grads = maybe(gq);
        grads.push(gk);
        grads.push(gv);
        grads.extend(xs.get(3).map(|_| None));
        Ok(grads)
    }

    fn operands<'a>(cx: &'a Vjp) -> Result<smallvec::SmallVec<[&'a Tensor; 4]>> {
        let mut xs = smallvec::smallvec![cx.saved(0)?, cx.saved(1)?, cx.saved(2)?];
        if cx.node.edges.len() > 3 {
            xs.push(cx.saved(3)?);
        }
        Ok(xs)
    }
}

/// The op in tensor ops, where heads of the query that share a key have an axis of their own.
struct Composed {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: f64,
    weights: Tensor,
    shared: usize,
}

/// Sizes with the heads split: (..., shared heads, heads of each, rows, columns).
fn apart(x: &Tensor, shared: usize) -> Result<Tensor> {
    if shared == 1 {
        return Ok(x.clone());
    }
    let mut sizes = Dims::from_slice(x.sizes());
    let axis = sizes.len() - 3;
    sizes[axis] /= shared;
    sizes.insert(axis + 1, shared);
    reshape_to(x, &sizes)
}

fn flipped(x: &Tensor) -> Result<Tensor> {
    x.transpose(-2, -1)
}

/// The softmax of scores; rows that are minus infinity throughout get zeros.
fn softmax_or_zero(scores: &Tensor) -> Result<Tensor> {
    let hidden = scores.eq(&none(scores.dtype())?)?.all_dims(Some(&[-1]), true)?;
    let zero = Tensor::full(&[], Scalar::Int(0), scores.dtype())?;
    scores.masked_fill(&hidden, &zero)?.softmax(-1, None)?.masked_fill(&hidden, &zero)
}

/// The weights of scores that a mask is added to.
fn weights(scores: &Tensor, mask: Option<&Tensor>, causal: bool) -> Result<Tensor> {
    let mut scores = match mask {
        Some(mask) => scores.add(mask)?,
        None => scores.clone(),
    };
    if causal {
        let n = scores.ndim();
        let (rows, columns) = (scores.sizes()[n - 2], scores.sizes()[n - 1]);
        let hidden = Tensor::arange(rows as i64)?.unsqueeze(-1)?.lt(&Tensor::arange(columns as i64)?)?;
        scores = scores.masked_fill(&hidden, &none(scores.dtype())?)?;
    }
    if mask.is_some() { softmax_or_zero(&scores) } else { scores.softmax(-1, None) }
}

impl Composed {
    fn new(op: &Attention, xs: &[&Tensor]) -> Result<Self> {
        let shared = Attention::shared(xs[0].sizes(), xs[1].sizes());
        let single = |x: &Tensor| if shared == 1 { Ok(x.clone()) } else { x.unsqueeze(-3) };
        let (query, key, value) = (apart(xs[0], shared)?, single(xs[1])?, single(xs[2])?);
        let mask = xs.get(3).map(|mask| apart(mask, shared)).transpose()?;
        let scale = op.scale(xs[0]);
        let scores = query.times(scale)?.matmul(&flipped(&key)?)?;
        let weights = weights(&scores, mask.as_ref(), op.causal)?;
        Ok(Self { query, key, value, scale, weights, shared })
    }
    /// The derivative of the softmax applied to `q`; it is symmetric.
    fn along(&self, q: &Tensor) -> Result<Tensor> {
        let weighted = self.weights.mul(q)?;
        weighted.sub(&self.weights.mul(&weighted.sum_dims(&[-1], true)?)?)
    }
    /// The gradient of a shared operand, summed over the heads that share it.
    fn summed(&self, g: Tensor) -> Result<Tensor> {
        if self.shared == 1 { Ok(g) } else { g.sum_dims(&[-3], false) }
    }
}

impl Primitive for Attention {
    const NAME: &'static str = "scaled_dot_product_attention";
    const NODE: &'static str = "ScaledDotProductFlashAttentionForCpuBackward0";
    const SAVE: &'static [Save] = &[
        Save::input(0, "query"),
        Save::input(1, "key"),
        Save::input(2, "value"),
        Save::input(3, "attn_mask"),
        Save::output(0, "output"),
        Save::output(1, "logsumexp"),
    ];
    const PARAMS: Params<Self> = params!(op;
        dropout_p: 0.0,
        is_causal: op.causal,
        scale: op.given_scale.map_or(Value::None, Value::from),
    );
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const STATISTICS: u32 = 0b10;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let own = xs.iter().zip(axes).map(|(x, axis)| batch_first(x, *axis, batch)).collect::<Result<Vec<_>>>()?;
        // Operands with two axes have no heads; a batch axis in front is treated as the heads, with the same result.
        let outs = apply(*op, &own.iter().collect::<Vec<_>>())?;
        Ok((outs, smallvec::smallvec![Some(0), Some(0)]))
    });
    fn inputs(&self) -> u32 {
        0b111
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The logarithms are not returned.
        let Some(g) = cx.g_of(0) else { return Ok(cx.node.edges.iter().map(|_| None).collect()) };
        let out = cx.saved(4)?;
        if !cx.differentiating() && !cx.needs(3) && g.dtype() == out.dtype() && g.sizes() == out.sizes() {
            return match_dtype!(floats, g.dtype(), T => self.fused::<T>(cx, g));
        }
        let xs = Self::operands(cx)?;
        let c = Composed::new(self, &xs)?;
        let g = apart(g, c.shared)?;
        let mut grads = Grads::new();
        let ds = c.along(&g.matmul(&flipped(&c.value)?)?)?;
        grads.push(cx.when(0, || reshape_to(&ds.matmul(&c.key)?.times(c.scale)?, xs[0].sizes()))?);
        grads.push(cx.when(1, || c.summed(flipped(&ds)?.matmul(&c.query)?.times(c.scale)?))?);
        grads.push(cx.when(2, || c.summed(flipped(&c.weights)?.matmul(&g)?))?);
        if let Some(mask) = xs.get(3) {
            grads.push(cx.when(3, || reshape_to(&ds, mask.sizes()))?);
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let c = Composed::new(op, cx.xs)?;
        let single = |x: &Tensor| if c.shared == 1 { Ok(x.clone()) } else { x.unsqueeze(-3) };
        let mut scores: Vec<Tensor> = Vec::new();
        if let Some(t) = cx.t(0) {
            scores.push(apart(t, c.shared)?.matmul(&flipped(&c.key)?)?.times(c.scale)?);
        }
        if let Some(t) = cx.t(1) {
            scores.push(c.query.matmul(&flipped(&single(t)?)?)?.times(c.scale)?);
        }
        if let Some(t) = cx.t(3) {
            scores.push(apart(t, c.shared)?);
        }
        let ds = Jvp::sum(scores.into_iter().map(Some))?;
        let by_scores = ds.map(|ds| c.along(&ds)?.matmul(&c.value)).transpose()?;
        let by_values = cx.t(2).map(|t| c.weights.matmul(&single(t)?)).transpose()?;
        let sum = Jvp::sum([by_scores, by_values])?;
        let mut ts = maybe(sum.map(|t| reshape_to(&t, cx.outs[0].sizes())).transpose()?);
        ts.push(None);
        Ok(ts)
    });
}

/// Attention with weights that are dropped at random, in tensor ops throughout.
fn dropping(op: &Attention, xs: &[&Tensor], p: f64) -> Result<Tensor> {
    let c = Composed::new(op, xs)?;
    // The weights are drawn for in the order of the query's heads.
    let mut sizes = Dims::from_slice(xs[0].sizes());
    let n = sizes.len();
    let weights = dropout(&c.weights, p, true, false)?;
    sizes[n - 1] = c.value.sizes()[c.value.ndim() - 1];
    reshape_to(&weights.matmul(&c.value)?, &sizes)
}

/// Values weighted by how well their keys match the queries: `softmax(scale * query @ key.mT + mask) @ value`.
///
/// Args: `query` (*, heads, queries, width), `key` (*, heads, keys, width) and `value` (*, heads, keys, value width),
/// of one floating dtype with any axes in front (none, too) that broadcast; `attn_mask` broadcastable to
/// (*, heads, queries, keys): bool, True for what is seen, or numbers added to the scores; `dropout_p` the share of
/// weights dropped at random, by the default generator; `is_causal` lets row `i` see the columns up to `i`; `scale` is
/// `1 / sqrt(width)` by default; `enable_gqa` lets several heads of the query share one of key and value. Returns: (*,
/// heads, queries, value width); zeros for a row that sees nothing. Derivative, with weights `w` and `ds = w * (g @
/// value.mT - sum(w * g @ value.mT))`: `scale * ds @ key`, `scale * ds.mT @ query`, `w.mT @ g`, and `ds` for the mask.
/// Scores are computed by tiles and never kept. Raises: RuntimeError if sizes or dtypes are incompatible, or
/// `dropout_p` is out of range.
///
/// >>> q, k, v = rg.ones(1, 2), rg.ones(2, 2), rg.tensor([[1.0], [3.0]])
/// >>> rg.nn.functional.scaled_dot_product_attention(q, k, v).tolist()
/// [[2.0]]
#[op(
    function,
    module = "nn.functional",
    "(attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False)"
)]
pub fn scaled_dot_product_attention(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    attn_mask: Option<&Tensor>,
    dropout_p: f64,
    is_causal: bool,
    scale: Option<f64>,
    enable_gqa: bool,
) -> Result<Tensor> {
    if !(0.0..=1.0).contains(&dropout_p) {
        let detail = format!("dropout probability has to be between 0 and 1, but got {dropout_p}");
        return Err(Error::shape("scaled_dot_product_attention", detail));
    }
    let o = Operands::new(query, key, value, attn_mask, enable_gqa)?;
    let op = Attention { given_scale: scale, causal: is_causal };
    let mut xs: smallvec::SmallVec<[&Tensor; 4]> = smallvec::smallvec![&o.query, &o.key, &o.value];
    xs.extend(&o.mask);
    if dropout_p > 0.0 {
        return dropping(&op, &xs, dropout_p);
    }
    Ok(apply(op, &xs)?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;
    use crate::testing::{gradcheck, noise};

    fn attend(x: &[Tensor], mask: Option<&Tensor>, causal: bool, gqa: bool) -> Result<Tensor> {
        scaled_dot_product_attention(&x[0], &x[1], &x[2], mask, 0.0, causal, None, gqa)
    }

    #[test]
    fn gradients() {
        let cases: [[&[usize]; 3]; 6] = [
            [&[3, 2], &[4, 2], &[4, 3]],
            [&[2, 3, 2], &[2, 4, 2], &[2, 4, 2]],
            [&[2, 1, 3, 2], &[2, 5, 2], &[5, 2]],
            [&[1, 20, 2], &[1, 3, 2], &[1, 3, 1]],
            [&[2, 0, 2], &[2, 4, 2], &[2, 4, 2]],
            [&[2, 3, 2], &[2, 0, 2], &[2, 0, 2]],
        ];
        for [q, k, v] in cases {
            let xs = [noise(1, q), noise(2, k), noise(3, v)];
            for causal in [false, true] {
                gradcheck(&|x| attend(x, None, causal, false), &xs);
            }
            let scores = [q[q.len() - 2], k[k.len() - 2]];
            let mask = noise(4, &scores);
            let with_mask = [xs[0].clone(), xs[1].clone(), xs[2].clone(), mask.clone()];
            gradcheck(&|x| attend(x, Some(&mask), false, false), &xs);
            gradcheck(&|x| attend(x, Some(&x[3]), true, false), &with_mask);
        }
        let xs = [noise(1, &[2, 4, 3, 2]), noise(2, &[2, 2, 5, 2]), noise(3, &[2, 2, 5, 3])];
        gradcheck(&|x| attend(x, None, true, true), &xs);
        let mask = noise(4, &[4, 3, 5]).gt(&Tensor::number(0.0.into()).unwrap()).unwrap();
        gradcheck(&|x| attend(x, Some(&mask), false, true), &xs);
    }

    #[test]
    fn many_tiles() {
        for (l, s, causal) in [(130, 600, false), (300, 270, true), (70, 513, true)] {
            let xs = [noise(1, &[l, 8]), noise(2, &[s, 8]), noise(3, &[s, 5])];
            let refs: Vec<&Tensor> = xs.iter().collect();
            let op = Attention { given_scale: Some(2.0), causal };
            let y = attend_scaled(&xs, causal).to_vec::<f64>().unwrap();
            let c = Composed::new(&op, &refs).unwrap();
            let want = c.weights.matmul(&c.value).unwrap().to_vec::<f64>().unwrap();
            assert!(y.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-13), "{l} {s} {causal}");
            gradcheck(&|x| Ok(attend_scaled(x, causal)), &xs);
        }
    }

    fn attend_scaled(x: &[Tensor], causal: bool) -> Tensor {
        scaled_dot_product_attention(&x[0], &x[1], &x[2], None, 0.0, causal, Some(2.0), false).unwrap()
    }

    #[test]
    fn rows_that_see_nothing() {
        let xs = [noise(1, &[3, 2]), noise(2, &[4, 2]), noise(3, &[4, 2])];
        let mask = Tensor::from_slice(&[true, false, true, true], &[4]).unwrap();
        let rows = Tensor::from_slice(&[true, false, true], &[3, 1]).unwrap();
        let mask = mask.logical_and(&rows).unwrap();
        let y = attend(&xs, Some(&mask), false, false).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(y[2..4], [0.0, 0.0]);
        gradcheck(&|x| attend(x, Some(&mask), false, false), &xs);
        let x = Tensor::full(&[3, 2], f64::NAN.into(), DType::Float32).unwrap();
        let y = attend(&[x.clone(), x.clone(), x], None, false, false).unwrap().to_vec::<f32>().unwrap();
        assert!(y.iter().all(|v| v.is_nan()));
    }
}
