//! The search for the op that made the first NaN or infinity: while `mode::DETECT_NAN` is on, results of ops, of rules
//! and of hooks are looked through as they are made.
//!
//! Numbers that are finite cost one pass over each result. Only where a result is not, operands are looked at: what
//! they passed on is no news. An op makes a NaN if no operand has one, and an infinity if all operands are finite; of
//! an op that computes entry by entry, this is asked of each entry. An infinity or NaN that the user gave, as an
//! operand or a parameter, is not one that the op made.
//!
//! ```
//! use retrograd_engine::{Tensor, autograd::{GradGuard, mode}};
//! let _searching = GradGuard::with(mode::DETECT_NAN | mode::DETECT_INF, true);
//! let error = Tensor::from_slice(&[1.0f32, 0.0], &[2]).unwrap().log().unwrap_err();
//! assert!(error.to_string().starts_with("log made -inf at index (1,) of its result"));
//! ```

use smallvec::SmallVec;

use super::arith;
use super::erased::{AnyPrimitive, Batching, op_name};
use super::mode::{self, GradGuard};
use super::node::{Grads, NodeRef};
use super::primitive::Jvp;
use crate::autocast;
use crate::call_site::CallSite;
use crate::error::{ErrorKind, NonFinite, Operand, Result};
use crate::kernels::finite::{Worst, worst};
use crate::kernels::simd::InstructionSet;
use crate::storage::reclaim::reading;
use crate::tensor::layout::expands_to;
use crate::tensor::{DType, Scalar, Tensor};

mod reason;

/// Modes that what looks at tensors here does without.
const PLAIN: u32 = mode::SPECIAL | mode::DETECT_INF | mode::GRAD;

/// The worst element of a tensor; of integers and batched tensors none is bad.
pub(super) fn look(t: &Tensor) -> Worst {
    if !t.dtype().is_differentiable() || t.is_batched() {
        return Worst::Finite;
    }
    if let Some(elements) = t.elements() {
        return look(elements.values());
    }
    let _reading = reading();
    let level = InstructionSet::detect();
    macro_rules! of {
        ($part:ty, $sizes:expr, $strides:expr) => {
            // SAFETY: (1) the elements of the tensor exist (S1, S3, R1).
            unsafe { worst::<$part>(level, $sizes, $strides, t.op_ptr().cast()) }
        };
    }
    match t.dtype() {
        DType::Float32 => of!(f32, t.sizes(), t.strides()),
        DType::Float64 => of!(f64, t.sizes(), t.strides()),
        DType::Float16 => of!(half::f16, t.sizes(), t.strides()),
        DType::BFloat16 => of!(half::bf16, t.sizes(), t.strides()),
        dtype => {
            // The real and the imaginary part are elements side by side.
            let sizes: SmallVec<[usize; 8]> = t.sizes().iter().copied().chain([2]).collect();
            let strides: SmallVec<[isize; 8]> = t.strides().iter().map(|s| 2 * s).chain([1]).collect();
            match dtype {
                DType::Complex64 => of!(f32, &sizes, &strides),
                _ => of!(f64, &sizes, &strides),
            }
        }
    }
}

/// Whether what was found is searched for under this mode word.
fn is_bad(found: Worst, word: u32) -> bool {
    found == Worst::Nan || found == Worst::Infinite && word & mode::DETECT_INF != 0
}

/// What is needed of an op to say what it made.
struct Maker<'a> {
    name: String,
    node: Option<&'a NodeRef>,
    /// Every entry is made of those of the operands at the same index.
    pointwise: bool,
    /// The worst of the operands that are gone.
    before: Worst,
}

/// Reports a result that is not finite though its operands are; they have names.
#[cold]
fn report(maker: &Maker<'_>, nr: usize, result: &Tensor, operands: &[(String, &Tensor)], word: u32) -> Result<()> {
    let _plain = GradGuard::with(PLAIN, false);
    let _reading = reading();
    let operands: SmallVec<[(&str, Tensor); 4]> = operands.iter().map(|(n, x)| (&**n, x.detach())).collect();
    let result = &result.detach();
    let Some(index) = first_made(maker, result, &operands, word)? else { return Ok(()) };
    let value = element(result, &index)?;
    let there = |x: &Tensor| -> Result<Option<Scalar>> {
        let fits = maker.pointwise && expands_to(x.sizes(), result.sizes());
        fits.then(|| element(&arith::expand_to(x, result.sizes())?, &index)).transpose()
    };
    let operand = |(name, x): &(&str, Tensor)| -> Result<Operand> {
        let (at, ordered) = (there(x)?, x.numel() > 0 && !x.dtype().is_complex() && x.dtype() != DType::Bool);
        let range = if at.is_none() && ordered {
            Some((x.amin(&[], false)?.item()?, x.amax(&[], false)?.item()?))
        } else {
            None
        };
        Ok(Operand { name: (*name).to_owned(), sizes: x.sizes().to_vec(), dtype: x.dtype(), at, range })
    };
    let operands = operands.iter().map(operand).collect::<Result<_>>()?;
    let mut facts = NonFinite {
        maker: maker.name.clone(),
        called: None,
        result: nr,
        gradient_of: maker.node.map(|node| node.rule.op().map_or_else(String::new, |op| op_name(op).into_owned())),
        index,
        value,
        sizes: result.sizes().to_vec(),
        dtype: result.dtype(),
        operands,
        location: maker.node.map_or_else(CallSite::here, |node| node.origin).location(),
        reason: None,
    };
    facts.reason = reason::of(&facts);
    Err(ErrorKind::NonFinite(Box::new(facts)).into())
}

/// The index of the first element that is a NaN, or else an infinity, which the operands do not explain.
fn first_made(
    maker: &Maker<'_>,
    result: &Tensor,
    operands: &[(&str, Tensor)],
    word: u32,
) -> Result<Option<Vec<usize>>> {
    let floats = || operands.iter().map(|(_, x)| x).filter(|x| x.dtype().is_differentiable());
    let entries = maker.pointwise && floats().all(|x| expands_to(x.sizes(), result.sizes()));
    let mut whole = maker.before;
    if !entries {
        whole = floats().map(look).fold(whole, Worst::max);
    }
    for kind in [Worst::Nan, Worst::Infinite] {
        if !is_bad(kind, word) || whole >= kind {
            continue;
        }
        let mut made = is_below(kind, result)?.logical_not()?;
        if kind == Worst::Infinite {
            made = made.logical_and(&is_below(Worst::Nan, result)?)?;
        }
        if entries {
            for x in floats() {
                made = made.logical_and(&is_below(kind, x)?)?;
            }
        }
        if let Some(at) = made.to_vec::<bool>()?.iter().position(|&made| made) {
            return Ok(Some(unravel(at, result.sizes())));
        }
    }
    Ok(None)
}

/// Which elements are better than `kind`: no NaN, or finite. Of any floating-point or complex dtype.
fn is_below(kind: Worst, x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return is_below(kind, &arith::real(x)?)?.logical_and(&is_below(kind, &arith::imag(x)?)?);
    }
    // What is not finite is no number when it is subtracted from itself.
    let x = if kind == Worst::Infinite { &x.sub(x)? } else { x };
    x.eq(x)
}

/// The index of the element at a row-major position.
fn unravel(mut at: usize, sizes: &[usize]) -> Vec<usize> {
    let mut index = vec![0; sizes.len()];
    for (i, &n) in index.iter_mut().zip(sizes).rev() {
        *i = at % n;
        at /= n;
    }
    index
}

fn element(t: &Tensor, index: &[usize]) -> Result<Scalar> {
    let mut t = t.clone();
    for &i in index {
        t = arith::select_at(&t, 0, i as i64)?;
    }
    t.item()
}

/// Whether a parameter of the op is no finite number: then its results may be none either.
fn is_given(op: &dyn AnyPrimitive) -> bool {
    let printed = format!("{op:?}");
    printed.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "inf" | "NaN"))
}

fn operand_names<'a>(xs: &[&'a Tensor]) -> SmallVec<[(String, &'a Tensor); 4]> {
    xs.iter().enumerate().map(|(i, &x)| (format!("operand {i}"), x)).collect()
}

/// Checks the fresh results of an op.
pub(super) fn check_results(op: &dyn AnyPrimitive, xs: &[&Tensor], outs: &[Tensor], word: u32) -> Result<()> {
    for (nr, out) in outs.iter().enumerate() {
        // A view computes nothing.
        if out.view_of().is_none() && is_bad(look(out), word) && !is_given(op) {
            let pointwise = op.facts().batch == Batching::Pointwise;
            let maker = Maker { name: op_name(op).into_owned(), node: None, pointwise, before: Worst::Finite };
            report(&maker, nr, out, &operand_names(xs), word)?;
        }
    }
    Ok(())
}

/// The worst element of the operands that an op overwrites, before it does.
pub(super) fn before_write(xs: &[&Tensor]) -> Worst {
    xs.iter().filter(|x| x.shares_storage(xs[0])).map(|x| look(x)).fold(Worst::Finite, Worst::max)
}

/// Checks what an op wrote to operand 0, given [`before_write`].
pub(super) fn check_written(op: &dyn AnyPrimitive, xs: &[&Tensor], before: Worst, word: u32) -> Result<()> {
    let target = xs[0];
    if is_bad(look(target), word) && !is_given(op) {
        let mut left = operand_names(xs);
        left.retain(|(_, x)| !x.shares_storage(target));
        let pointwise = op.facts().batch == Batching::Pointwise;
        let name = format!("{}_", op_name(op).trim_end_matches('_'));
        report(&Maker { name, node: None, pointwise, before }, 0, target, &left, word)?;
    }
    Ok(())
}

/// Checks what a node's rule returned for `grads`, with the saved tensors that it used.
pub(super) fn check_rule(
    node: &NodeRef,
    results: &[Option<Tensor>],
    grads: &[Option<Tensor>],
    saved: impl FnOnce() -> Vec<(String, Tensor)>,
    word: u32,
) -> Result<()> {
    let bad = |g: &Option<Tensor>| g.as_ref().is_some_and(|g| is_bad(look(g), word));
    if !results.iter().any(bad) {
        return Ok(());
    }
    let op = node.rule.op();
    if op.is_some_and(is_given) {
        return Ok(());
    }
    let saved = saved();
    let several = grads.len() > 1;
    let received = grads.iter().enumerate().filter_map(|(i, g)| {
        let name = if several { format!("the gradient of result {i}") } else { "the gradient of the result".into() };
        Some((name, g.as_ref()?))
    });
    let operands: Vec<_> = received.chain(saved.iter().map(|(name, x)| (name.clone(), x))).collect();
    let pointwise = op.is_some_and(|op| op.facts().batch == Batching::Pointwise);
    let maker = Maker { name: node.name().into_owned(), node: Some(node), pointwise, before: Worst::Finite };
    for (nr, result) in results.iter().enumerate() {
        if let Some(result) = result.as_ref().filter(|g| is_bad(look(g), word)) {
            report(&maker, nr, result, &operands, word)?;
        }
    }
    Ok(())
}

/// The op's JVP, whose results are checked as those of rules are.
pub(super) fn jvp(op: &dyn AnyPrimitive, cx: &Jvp) -> Result<Grads> {
    let word = mode::word();
    let _below = autocast::below();
    if word & mode::DETECT_NAN == 0 {
        return op.jvp(cx);
    }
    let results = {
        let _off = GradGuard::with(mode::DETECT_NAN, false);
        op.jvp(cx)?
    };
    for (nr, result) in results.iter().enumerate() {
        if let Some(result) = result.as_ref().filter(|t| is_bad(look(t), word))
            && !is_given(op)
        {
            let mut operands = operand_names(cx.xs);
            for (i, t) in cx.tangents.iter().enumerate() {
                operands.extend(t.as_ref().map(|t| (format!("the tangent of operand {i}"), t)));
            }
            let pointwise = op.facts().batch == Batching::Pointwise;
            let name = format!("the JVP of {}", op_name(op));
            report(&Maker { name, node: None, pointwise, before: Worst::Finite }, nr, result, &operands, word)?;
        }
    }
    Ok(results)
}

/// Checks what something that is no op made of tensors: a custom function, a hook.
pub fn check_foreign(name: &str, made: &[&Tensor], operands: &[&Tensor]) -> Result<()> {
    let word = mode::word();
    if word & mode::DETECT_NAN == 0 {
        return Ok(());
    }
    for (nr, result) in made.iter().enumerate() {
        if result.view_of().is_none() && is_bad(look(result), word) {
            let maker = Maker { name: name.to_owned(), node: None, pointwise: false, before: Worst::Finite };
            report(&maker, nr, result, &operand_names(operands), word)?;
        }
    }
    Ok(())
}

/// Checks what hooks made of gradients.
pub(super) fn check_hook(made: &[Option<Tensor>], given: &[Option<Tensor>]) -> Result<()> {
    let all = |grads: &[Option<Tensor>]| grads.iter().flatten().cloned().collect::<Vec<_>>();
    if mode::word() & mode::DETECT_NAN == 0 {
        return Ok(());
    }
    let (made, given) = (all(made), all(given));
    check_foreign("a hook", &made.iter().collect::<Vec<_>>(), &given.iter().collect::<Vec<_>>())
}

/// Checks the sum of a leaf's old gradient, of which `before` is known, and another one.
pub(super) fn check_sum(sum: &Tensor, before: Worst, g: &Tensor) -> Result<()> {
    let word = mode::word();
    if word & mode::DETECT_NAN != 0 && is_bad(look(sum), word) {
        let maker = Maker { name: "the sum of gradients in .grad".into(), node: None, pointwise: true, before };
        report(&maker, 0, sum, &[("the gradient that was added".into(), g)], word)?;
    }
    Ok(())
}

/// The worst element of a gradient that is about to be added to.
pub(super) fn before_sum(old: &Tensor) -> Worst {
    if mode::word() & mode::DETECT_NAN == 0 { Worst::Finite } else { look(old) }
}

/// The name of the tensor that a node saved in each slot, for messages.
pub(super) fn saved_names(node: &NodeRef, saved: &[Option<Tensor>]) -> Vec<(String, Tensor)> {
    let name = |(i, x): (usize, &Option<Tensor>)| Some((format!("'{}'", node.rule.slot_name(i)), x.clone()?));
    saved.iter().enumerate().filter_map(name).collect()
}
