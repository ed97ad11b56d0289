//! `adaptive_avg_pool1d`, `adaptive_max_pool1d` and the same ops over two and three axes.

use retrograd_macros::op;

use super::avg::{AvgPool, check_lines, one_int};
use super::max::{Found, as_planes, both, chosen, found};
use super::{Pool, Triple};
use crate::autograd::apply::apply1;
use crate::error::{Error, Result, Sizes};
use crate::ops::{OneOrMany, view};
use crate::tensor::Tensor;

/// Sizes of the result along the last `rank` axes: one for all, or one each, where None keeps the operand's.
fn wanted(op: &'static str, given: &[Option<i64>], x: &Tensor, rank: usize) -> Result<Triple> {
    let mut out = [1; 3];
    if let [Some(n)] = *given {
        out[3 - rank..].fill(n);
        return Ok(out);
    }
    if x.ndim() <= given.len() {
        return Err(Error::value(op, format!("Input dimension should be at least {}", given.len() + 1)));
    }
    if given.len() != rank {
        return Err(Error::shape(op, format!("{op}: output_size must be {rank} numbers, got {}", given.len())));
    }
    let kept = &x.sizes()[x.ndim() - rank..];
    for ((out, given), &kept) in out[3 - rank..].iter_mut().zip(given).zip(kept) {
        *out = given.unwrap_or(kept as i64);
    }
    Ok(out)
}

/// The checks of an operand that both kinds share; `from` is the first axis that must not be empty.
fn check(op: &'static str, x: &Tensor, rank: usize, channels: bool) -> Result<()> {
    if !(rank + 1..=rank + 2).contains(&x.ndim()) {
        let detail = format!("{op}(): Expected {}D or {}D tensor, but got", rank + 1, rank + 2);
        return Err(Error::shape(op, format!("{detail}{} {}", if channels { ":" } else { "" }, Sizes(x.sizes()))));
    }
    let from = if channels { x.ndim() - rank - 1 } else { x.ndim() - rank }.max(usize::from(x.ndim() == rank + 2));
    match (from..x.ndim()).find(|&a| x.sizes()[a] == 0) {
        None => Ok(()),
        Some(a) => Err(Error::shape(
            op,
            format!(
                "{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {} with dimension \
                 {a} being empty",
                Sizes(x.sizes())
            ),
        )),
    }
}

fn average(op: &'static str, x: &Tensor, out: Triple, rank: usize) -> Result<Tensor> {
    if out.iter().any(|&n| n < 0) {
        return Err(Error::shape(
            op,
            format!(
                "{op}: elements of output_size must be greater than or equal to 0 but received {:?}",
                &out[3 - rank..]
            ),
        ));
    }
    if out == [1; 3] {
        return x.mean_dims(&last(rank), true);
    }
    check(op, x, rank, false)?;
    apply1(AvgPool(Pool::adaptive(rank, out)), &[x])
}

/// `adaptive_avg_pool*d` to given sizes, one for each axis behind the channels.
pub(crate) fn adaptive_avg(op: &'static str, x: &Tensor, out: &[i64]) -> Result<Tensor> {
    match *out {
        [w] => view::squeeze_dim(&average(op, &x.unsqueeze(-2)?, [1, 1, w], 2)?, -2),
        [h, w] => average(op, x, [1, h, w], 2),
        [d, h, w] => average(op, x, [d, h, w], 3),
        _ => Err(Error::shape(op, format!("output_size must be 1 to 3 numbers, got {}", out.len()))),
    }
}

/// The last axes.
fn last(rank: usize) -> Vec<i64> {
    (1..=rank as i64).map(|a| -a).collect()
}

fn maximum(op: &'static str, x: &Tensor, out: Triple, rank: usize, places: bool) -> Result<Found> {
    check(op, x, rank, true)?;
    if out.iter().any(|&n| n < 0) {
        let detail = "Trying to create tensor with negative dimension: output_size must not be negative, got";
        return Err(Error::shape(op, format!("{detail} {:?}", &out[3 - rank..])));
    }
    if out == [1; 3] && !places && !view::is_differentiated(x) {
        return Ok((x.amax(&last(rank), true)?, None));
    }
    found(Pool::adaptive(rank, out), x, places)
}

fn maximum_of_planes<const RANK: usize>(
    op: &'static str,
    x: &Tensor,
    output_size: &[Option<i64>],
    places: bool,
) -> Result<Found> {
    maximum(op, x, wanted(op, output_size, x, RANK)?, RANK, places)
}

fn average_of_planes<const RANK: usize>(op: &'static str, x: &Tensor, output_size: &[Option<i64>]) -> Result<Tensor> {
    average(op, x, wanted(op, output_size, x, RANK)?, RANK)
}

fn maximum_of_lines(op: &'static str, x: &Tensor, output_size: &[i64], places: bool) -> Result<Found> {
    check_lines(op, x)?;
    let out = one_int(op, output_size, "output_size")?;
    check(op, x, 1, true)?;
    as_planes(x, |x| maximum(op, x, [1, 1, out], 2, places))
}

fn average_of_lines(op: &'static str, x: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    check_lines(op, x)?;
    adaptive_avg(op, x, &[one_int(op, output_size, "output_size")?])
}

/// The ops of `nn.functional` over one, two and three axes: means, maxima, and these with their indices.
macro_rules! adaptive_pools {
    ($(
        $avg:ident, $max:ident, $with_indices:ident: $average:path, $maximum:path, $size:ty, $axes:literal, $sizes:literal,
        $wanted:literal, $result:literal, $call:literal => $mean:literal, $most:literal, $at:literal;
    )*) => { $(
        #[doc = concat!(" The means of windows that divide ", $axes, " as evenly as may be.")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype; `output_size` how many windows", $wanted, ".")]
        #[doc = concat!(" Returns: a tensor ", $result, ". Derivative: `g`, over the size of its window, added to the")]
        /// window. Raises: RuntimeError if sizes are incompatible.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($avg), "(", $call, ").tolist()")]
        #[doc = concat!(" ", $mean)]
        #[op(function, module = "nn.functional")]
        pub fn $avg(input: &Tensor, output_size: $size) -> Result<Tensor> {
            $average(stringify!($avg), input, output_size)
        }

        #[doc = concat!(" The maxima of windows that divide ", $axes, " as evenly as may be.")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype; `output_size` how many windows", $wanted, ";")]
        /// `return_indices` also returns where in its plane each maximum stands.
        #[doc = concat!(" Returns: a tensor ", $result, ", or a pair of it and int64 indices. Derivative: `g` at the")]
        /// places of the maxima. Raises: RuntimeError if sizes are incompatible.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($max), "(", $call, ").tolist()")]
        #[doc = concat!(" ", $most)]
        #[op(function, module = "nn.functional", "(return_indices=False)")]
        pub fn $max(input: &Tensor, output_size: $size, return_indices: bool) -> Result<OneOrMany> {
            $maximum(stringify!($max), input, output_size, return_indices).map(chosen)
        }

        #[doc = concat!(" The maxima that [`", stringify!($max), "`] returns, and their indices.")]
        ///
        #[doc = concat!(" Args, Returns, Derivative, Raises: as `", stringify!($max), "`; indices are returned always.")]
        ///
        #[doc = concat!(" >>> values, indices = rg.nn.functional.", stringify!($with_indices), "(", $call, ")")]
        /// >>> indices.tolist()
        #[doc = concat!(" ", $at)]
        #[op(function, module = "nn.functional", "(return_indices=False)")]
        pub fn $with_indices(input: &Tensor, output_size: $size, return_indices: bool) -> Result<(Tensor, Tensor)> {
            let _ = return_indices;
            $maximum(stringify!($with_indices), input, output_size, true).map(both)
        }
    )* };
}

adaptive_pools! {
    adaptive_avg_pool1d, adaptive_max_pool1d, adaptive_max_pool1d_with_indices:
    average_of_lines, maximum_of_lines, &[i64],
    "the last axis", "(N, C, W) or (C, W)", "", "(N, C, output_size)",
    "rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2" => "[[2.0, 1.0]]", "[[3.0, 2.0]]", "[[1, 2]]";

    adaptive_avg_pool2d, adaptive_max_pool2d, adaptive_max_pool2d_with_indices:
    average_of_planes::<2>, maximum_of_planes::<2>, &[Option<i64>],
    "the last two axes", "(N, C, H, W) or (C, H, W)",
    ", one number for all axes or one for each; None keeps the axis", "(N, C, *output_size)",
    "rg.arange(16.0).reshape(1, 4, 4), 2" =>
    "[[[2.5, 4.5], [10.5, 12.5]]]", "[[[5.0, 7.0], [13.0, 15.0]]]", "[[[5, 7], [13, 15]]]";

    adaptive_avg_pool3d, adaptive_max_pool3d, adaptive_max_pool3d_with_indices:
    average_of_planes::<3>, maximum_of_planes::<3>, &[Option<i64>],
    "the last three axes", "(N, C, D, H, W) or (C, D, H, W)",
    ", one number for all axes or one for each; None keeps the axis", "(N, C, *output_size)",
    "rg.arange(8.0).reshape(1, 2, 2, 2), (None, 1, 1)" =>
    "[[[[1.5]], [[5.5]]]]", "[[[[3.0]], [[7.0]]]]", "[[[[3]], [[7]]]]";
}

/// The means of windows that divide the last axis: `nn.functional.adaptive_avg_pool1d`.
///
/// Args: `input`, `output_size` as there. Returns, Derivative, Raises: as there.
///
/// >>> rg.adaptive_avg_pool1d(rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
/// [[2.0, 1.0]]
#[op(function, name = "adaptive_avg_pool1d", norust)]
pub fn top_adaptive_avg_pool1d(input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    average_of_lines("adaptive_avg_pool1d", input, output_size)
}

/// The maxima of windows that divide the last axis, and their indices: `nn.functional.adaptive_max_pool1d`.
///
/// Args: `input`, `output_size` as there. Returns, Derivative, Raises: as there, always with indices.
///
/// >>> values, indices = rg.adaptive_max_pool1d(rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
/// >>> indices.tolist()
/// [[1, 2]]
#[op(function, name = "adaptive_max_pool1d", norust)]
pub fn top_adaptive_max_pool1d(input: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
    maximum_of_lines("adaptive_max_pool1d", input, output_size, true).map(both)
}
