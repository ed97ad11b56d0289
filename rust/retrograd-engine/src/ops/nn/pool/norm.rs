//! `lp_pool1d`, `lp_pool2d`, `lp_pool3d`: of powers, means, and roots.

use retrograd_macros::op;

use super::{avg, max};
use crate::error::{Error, Result};
use crate::tensor::{Scalar, Tensor};

/// `(sum |x|^p)^(1/p)` of every window, from the mean of powers, as torch composes it.
fn lp(
    op: &'static str,
    x: &Tensor,
    p: Scalar,
    (kernel, stride, ceil): (&[i64], Option<&[i64]>, bool),
    rank: usize,
) -> Result<Tensor> {
    let power = p.as_f64();
    if power.is_infinite() {
        let call = max::Call { kernel, stride, padding: &[0], dilation: &[1], ceil, places: false };
        let maxima = |x: &Tensor| Ok::<_, Error>(max::pooled(op, x, call, rank)?.0);
        return if power > 0.0 { maxima(&x.abs()?) } else { maxima(&x.abs()?.neg()?)?.neg() };
    }
    if power == 0.0 {
        return Err(Error::value(op, "division by zero: norm_type must not be 0"));
    }
    let powers = x.power(p)?;
    let call = avg::Call { kernel, stride, padding: &[0], ceil, include_pad: true, divisor: None };
    let means = avg::pooled(op, &powers, call, rank)?;
    let count: i64 = match *kernel {
        [k] => k.saturating_pow(rank as u32),
        _ => kernel.iter().fold(1, |n, &k| n.saturating_mul(k)),
    };
    means.sign()?.mul(&means.abs()?.relu()?)?.times(count)?.power(1.0 / power)
}

/// The ops over one, two and three axes.
macro_rules! lp_pools {
    ($(
        $name:ident($size:ident: $Size:ty = $kernel:expr): $rank:literal, $axes:literal, $sizes:literal, $avg:literal,
        $x:literal => $shown:literal;
    )*) => { $(
        #[doc = concat!(" The p-norm of every window along ", $axes, ": `(sum x^p)^(1/p)`.")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype; `norm_type` the number p, also")]
        #[doc = concat!(" infinite for the maximum; `kernel_size`, `stride` and `ceil_mode` as for `", $avg, "`.")]
        #[doc = concat!(" Returns: a tensor as `", $avg, "` does. Derivative: that of the powers, the mean and the")]
        /// root it consists of. Raises: RuntimeError if windows and sizes are incompatible; ValueError for p = 0.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($name), "(", $x, ", 2).tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(function, module = "nn.functional", "(stride=None, ceil_mode=False)")]
        pub fn $name(
            input: &Tensor,
            norm_type: Scalar,
            $size: $Size,
            stride: Option<&[i64]>,
            ceil_mode: bool,
        ) -> Result<Tensor> {
            lp(stringify!($name), input, norm_type, ($kernel, stride, ceil_mode), $rank)
        }
    )* };
}

lp_pools! {
    lp_pool1d(kernel_size: i64 = &[kernel_size]): 1, "the last axis", "(N, C, W) or (C, W)", "avg_pool1d",
    "rg.tensor([[3.0, 4.0, 0.0, 2.0]]), 2.0" => "[[5.0, 2.0]]";

    lp_pool2d(kernel_size: &[i64] = kernel_size): 2, "the last two axes", "(N, C, H, W) or (C, H, W)", "avg_pool2d",
    "rg.ones(1, 2, 2), 2.0" => "[[[2.0]]]";

    lp_pool3d(kernel_size: &[i64] = kernel_size): 3, "the last three axes", "(N, C, D, H, W) or (C, D, H, W)", "avg_pool3d",
    "rg.ones(1, 2, 2, 2), 1.0" => "[[[[8.0]]]]";
}
