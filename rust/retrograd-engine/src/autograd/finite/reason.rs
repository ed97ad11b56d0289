//! Why an op made a NaN or an infinity, and what to do about it, where the entry tells.

use crate::error::NonFinite;
use crate::tensor::{DType, Scalar};

/// A sentence or two; `None` where the reason is not plain.
pub(super) fn of(facts: &NonFinite) -> Option<String> {
    let at = |i: usize| facts.operands.get(i).and_then(|x| x.at).and_then(real);
    if facts.dtype.is_complex() {
        return overflow(facts);
    }
    let reason = match &facts.gradient_of {
        Some(op) => backward(op, facts),
        None => forward(facts.maker.trim_end_matches('_'), is_nan(facts.value), at(0), at(1)),
    };
    reason.map(str::to_owned).or_else(|| overflow(facts))
}

fn real(x: Scalar) -> Option<f64> {
    match x {
        Scalar::Complex(..) => None,
        x => Some(x.as_f64()),
    }
}

fn is_nan(x: Scalar) -> bool {
    match x {
        Scalar::Complex(x, y) => x.is_nan() || y.is_nan(),
        Scalar::Float(x) => x.is_nan(),
        _ => false,
    }
}

/// Of a result made of the elements `a` and `b`.
fn forward(op: &str, nan: bool, a: Option<f64>, b: Option<f64>) -> Option<&'static str> {
    let zero = |x: Option<f64>| x == Some(0.0);
    let negative = |x: Option<f64>| x.is_some_and(|x| x < 0.0);
    let infinite = |x: Option<f64>| x.is_some_and(f64::is_infinite);
    Some(match op {
        "log" | "log2" | "log10" if !nan => {
            "The logarithm of 0 is -inf: keep the operand above 0, as with clamp(min=1e-12)."
        }
        "log" | "log2" | "log10" => {
            "The logarithm of a negative number is nan: keep the operand above 0, as with clamp(min=1e-12)."
        }
        "log1p" => "log1p takes numbers above -1: it is -inf there, and nan below: keep the operand above -1.",
        "div" | "true_divide" if zero(b) => {
            "This is a division by 0: keep the divisor away from 0, as by adding a small number to it."
        }
        "reciprocal" | "rsqrt" if !nan => {
            "This is a division by 0: keep the operand away from 0, as with clamp(min=1e-12)."
        }
        "sqrt" | "rsqrt" => {
            "The square root of a negative number is nan: keep the operand at 0 or above, as with clamp(min=0)."
        }
        "exp" | "exp2" | "expm1" | "sinh" | "cosh" if !nan => {
            "The result is larger than the largest number of its dtype: subtract the largest operand first, as logsumexp \
             and softmax do, or keep the operand small with clamp(max=...)."
        }
        "pow" if zero(a) && negative(b) => "This is 0 to a negative power, a division by 0: keep the base away from 0.",
        "pow" if negative(a) && nan => {
            "A negative base to a power that is no integer is nan: keep the base at 0 or above, as with abs()."
        }
        "acos" | "asin" if nan => "The operand must be from -1 to 1: keep it there, as with clamp(-1, 1).",
        "atanh" => "The operand must be between -1 and 1: keep it there, as with clamp(-0.999999, 0.999999).",
        "acosh" if nan => "The operand must be 1 or above: keep it there, as with clamp(min=1).",
        "sub" | "add" | "rsub" if nan && infinite(a) && infinite(b) => {
            "This is the difference of two infinities: see where they come from, or use large numbers instead."
        }
        "mul" if nan && (zero(a) && infinite(b) || infinite(a) && zero(b)) => {
            "This is 0 times an infinity, which is no number: choose elements with where() instead of multiplying by 0."
        }
        "softmax" | "log_softmax" if nan => {
            "A row of which every element is -inf has no softmax: leave at least one element of it unmasked."
        }
        "mean" if nan => "The mean of no elements is nan: see why the tensor is empty.",
        "var" | "std" if nan => {
            "The variance needs more elements than its correction: pass correction=0, or more elements."
        }
        _ => return None,
    })
}

/// Of a gradient of `op`.
fn backward(op: &str, facts: &NonFinite) -> Option<&'static str> {
    let zero_saved = facts.operands.iter().skip(1).filter_map(|x| x.at).any(|x| real(x) == Some(0.0));
    let zero_received = facts.operands.first().and_then(|x| x.at).and_then(real) == Some(0.0);
    if zero_saved && zero_received && is_nan(facts.value) {
        return Some(
            "The gradient that was received is 0 and the derivative is infinite, and their product is no number: a \
             where() or a mask after the op hides its value but not its derivative. Replace the operand by a harmless \
             one before the op, with a where() of its own.",
        );
    }
    Some(match op {
        "sqrt" if zero_saved => {
            "The square root has an infinite derivative at 0: keep the operand above 0, as with clamp(min=1e-12)."
        }
        "log" | "log2" | "log10" | "reciprocal" | "rsqrt" if zero_saved => {
            "The derivative at 0 is infinite: keep the operand away from 0, as with clamp(min=1e-12)."
        }
        "div" | "true_divide" if zero_saved => {
            "The divisor is 0: keep it away from 0, as by adding a small number to it."
        }
        "pow" if zero_saved => {
            "A power below 1 has an infinite derivative at 0: keep the base away from 0, as with clamp(min=1e-12)."
        }
        "acos" | "asin" | "acosh" | "atanh" => {
            "The derivative is infinite at the ends of the domain: keep the operand inside, as with clamp()."
        }
        _ => return None,
    })
}

/// An infinity made of finite numbers that is none of the above is too large for its dtype.
fn overflow(facts: &NonFinite) -> Option<String> {
    const SUMS: [&str; 19] = [
        "add",
        "sub",
        "rsub",
        "mul",
        "sum",
        "cumsum",
        "prod",
        "cumprod",
        "mm",
        "bmm",
        "mv",
        "dot",
        "addmm",
        "baddbmm",
        "addmv",
        "mean",
        "to",
        "copy",
        "convolution",
    ];
    let maker = facts.maker.trim_end_matches('_');
    if is_nan(facts.value) || facts.gradient_of.is_some() || !SUMS.contains(&maker) {
        return None;
    }
    let largest = match facts.dtype {
        DType::Float16 => "65504",
        DType::BFloat16 | DType::Float32 | DType::Complex64 => "3.4e38",
        _ => "1.8e308",
    };
    let wider = if facts.dtype == DType::Float16 { ", or use bfloat16 or float32" } else { "" };
    let dtype = facts.dtype.name();
    Some(format!("The result is larger than the largest {dtype} number, {largest}: scale the operands down{wider}."))
}
