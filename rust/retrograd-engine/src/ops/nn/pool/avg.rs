//! `avg_pool1d`, `avg_pool2d`, `avg_pool3d`.

use retrograd_macros::op;

use super::{Layout, Pool, check_regular, plane, triple};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, one, out};
use crate::error::{Error, Result};
use crate::kernels::pool;
use crate::match_dtype;
use crate::ops::{Value, view};
use crate::tensor::copy;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Dtypes, Tensor};

/// The mean of every window. Reverse: `g`, over the count of its window, added to the window ([`AvgPoolBackward`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct AvgPool(pub Pool);

fn names(pool: &Pool) -> [&'static str; 2] {
    match (pool.is_adaptive(), pool.rank) {
        (false, 2) => ["AvgPool2DBackward0", "AvgPool2DBackwardBackward0"],
        (false, _) => ["AvgPool3DBackward0", "AvgPool3DBackwardBackward0"],
        (true, 2) => ["AdaptiveAvgPool2DBackward0", "AdaptiveAvgPool2DBackwardBackward0"],
        (true, _) => ["AdaptiveAvgPool3DBackward0", "AdaptiveAvgPool3DBackwardBackward0"],
    }
}

/// What torch calls the loop.
fn kernel(pool: &Pool) -> &'static str {
    match (pool.is_adaptive(), pool.rank) {
        (false, 2) => "avg_pool2d",
        (false, _) => "avg_pool3d_out_frame",
        (true, 2) => "adaptive_avg_pool2d",
        (true, _) => "adaptive_avg_pool3d_cpu",
    }
}

impl Primitive for AvgPool {
    const NAME: &'static str = "avg_pool";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES).or(Dtypes::of(&[DType::Int64]));
    const HALVES: Halves = Halves::InFloat32;
    // Any axes may stand in front of the planes.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        names(&self.0)[0]
    }
    fn kernel_name(&self) -> &'static str {
        kernel(&self.0)
    }
    fn dtypes(&self) -> Dtypes {
        match (self.0.is_adaptive(), self.0.rank) {
            (true, _) => Dtypes::FLOATS.or(Dtypes::HALVES),
            (false, 3) => Self::DTYPES.without(Dtypes::HALVES),
            (false, _) => Self::DTYPES,
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = copy::contiguous(xs[0])?;
        let sizes = self.0.out_sizes(x.sizes());
        macro_rules! run {
            ($t:ty) => {
                Tensor::build::<$t>(&sizes, |y| {
                    pool::mean(&self.0.windows(x.sizes()), x.as_slice::<$t>().unwrap_or(&[]), y)
                })
            };
        }
        match x.dtype() {
            DType::Int64 => run!(i64),
            dtype => match_dtype!(floats, dtype, T => run!(T)),
        }
        .map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(AvgPoolBackward { pool: self.0, plane: plane(cx.sizes(0), self.0.rank) }, &[cx.g()]).map(one)
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        self.0.params(false)
    }
}

/// Every element, over the count of its window, added to the window's positions in zeros of the size `plane`. Reverse:
/// [`AvgPool`] of `gg`.
#[derive(Clone, Copy, Debug)]
struct AvgPoolBackward {
    pool: Pool,
    plane: [usize; 3],
}

impl Primitive for AvgPoolBackward {
    const NAME: &'static str = "avg_pool_backward";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        names(&self.pool)[1]
    }
    fn kernel_name(&self) -> &'static str {
        kernel(&self.pool)
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let g = copy::contiguous(xs[0])?;
        let sizes: Dims = super::with_plane(g.sizes(), self.pool.rank, self.plane);
        if self.pool.out_sizes(&sizes)[..] != *g.sizes() {
            return Err(Error::shape(Self::NAME, format!("{g:?} is no gradient for windows of {sizes:?}")));
        }
        match_dtype!(floats, g.dtype(), T => Tensor::build::<T>(&sizes, |x| {
            x.fill(0.0);
            if g.numel() > 0 {
                pool::avg_backward(&self.pool.windows(&sizes), g.as_slice::<T>().unwrap_or(&[]), x);
            }
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(AvgPool(self.pool), &[cx.g()]).map(one)
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub kernel: &'a [i64],
    pub stride: Option<&'a [i64]>,
    pub padding: &'a [i64],
    pub ceil: bool,
    pub include_pad: bool,
    pub divisor: Option<i64>,
}

/// Over the last two or three axes.
fn over_planes(op: &'static str, x: &Tensor, call: Call, rank: usize) -> Result<Tensor> {
    let (either, number) = if rank == 2 { ("either ", "two") } else { ("", "three") };
    let wrong = |what: &str, one: &str| {
        Error::shape(op, format!("{op}: {what} must {either}{one}, or a tuple of {number} ints"))
    };
    let kernel = triple(call.kernel, rank, || wrong("kernel_size", "be a single int"))?;
    let strided = call.stride.is_some_and(|s| !s.is_empty());
    let stride = match call.stride {
        Some(s) if strided => triple(s, rank, || wrong("stride", "be omitted, a single int"))?,
        _ => kernel,
    };
    let mut padding = triple(call.padding, rank, || wrong("padding", "be a single int"))?;
    if rank == 2 {
        padding[0] = 0;
        wrap_dim(op, -3, x.ndim())?;
    } else if !(4..=5).contains(&x.ndim()) {
        let detail = "non-empty 4D or 5D (batch mode) tensor expected for input";
        return Err(Error::shape(op, format!("{detail}, got one of {} dims", x.ndim())));
    }
    if call.divisor == Some(0) {
        return Err(Error::shape(op, "divisor must be not zero"));
    }
    let layout = Layout::Regular { kernel, stride, padding, dilation: [1; 3], ceil: call.ceil, strided };
    let pool = Pool { rank, layout, include_pad: call.include_pad, divisor: call.divisor };
    check_regular(op, &pool, x, true)?;
    apply1(AvgPool(pool), &[x])
}

/// Over the last one, two or three axes.
pub(super) fn pooled(op: &'static str, x: &Tensor, call: Call, rank: usize) -> Result<Tensor> {
    if rank == 1 { over_lines(op, x, call) } else { over_planes(op, x, call, rank) }
}

/// Over the last axis, as one of two.
fn over_lines(op: &'static str, x: &Tensor, call: Call) -> Result<Tensor> {
    check_lines(op, x)?;
    let stride = call.stride.filter(|s| !s.is_empty());
    for (list, what) in [(call.kernel, "kernel_size"), (stride.unwrap_or(&[1]), "stride"), (call.padding, "padding")] {
        one_int(op, list, what)?;
    }
    let (kernel, padding) = ([1, call.kernel[0]], [0, call.padding[0]]);
    let stride = [1, stride.unwrap_or(call.kernel)[0]];
    let call = Call { kernel: &kernel, stride: Some(&stride), padding: &padding, ..call };
    view::squeeze_dim(&over_planes(op, &x.unsqueeze(-2)?, call, 2)?, -2)
}

/// A tensor with two axes, or three with a batch.
pub(super) fn check_lines(op: &'static str, x: &Tensor) -> Result<()> {
    if (2..=3).contains(&x.ndim()) {
        return Ok(());
    }
    Err(Error::shape(
        op,
        format!("Expected 2 to 3 dimensions, but got {}-dimensional tensor for argument #1 'self'", x.ndim()),
    ))
}

/// A list of one number.
pub(super) fn one_int(op: &'static str, list: &[i64], what: &str) -> Result<i64> {
    match *list {
        [n] => Ok(n),
        _ => Err(Error::shape(op, format!("argument '{what}' should contain one int (got {})", list.len()))),
    }
}

/// The mean of every window along the last axis.
///
/// Args: `input` (N, C, W) or (C, W), floating dtype or int64; `kernel_size` the size of the windows; `stride` from one
/// window to the next, by default the kernel size; `padding` of zeros on both sides, at most half the kernel size;
/// `ceil_mode` also counts windows that begin inside but end outside; `count_include_pad` divides by the number of
/// positions with those in the padding. Returns: a tensor (N, C, W'). Derivative: `g`, divided alike, added to every
/// position of its window. Raises: RuntimeError if windows and sizes are incompatible.
///
/// >>> rg.nn.functional.avg_pool1d(rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
/// [[2.0, 1.0]]
#[op(function, module = "nn.functional", "(stride=None, padding=0, ceil_mode=False, count_include_pad=True)")]
pub fn avg_pool1d(
    input: &Tensor,
    kernel_size: &[i64],
    stride: Option<&[i64]>,
    padding: &[i64],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Result<Tensor> {
    let call =
        Call { kernel: kernel_size, stride, padding, ceil: ceil_mode, include_pad: count_include_pad, divisor: None };
    pooled("avg_pool1d", input, call, 1)
}

/// The ops over two and three axes.
macro_rules! avg_pools {
    ($($name:ident: $rank:literal, $axes:literal, $sizes:literal, $result:literal, $x:literal => $shown:literal;)*) => { $(
        #[doc = concat!(" The mean of every window along ", $axes, ".")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype or int64;")]
        /// `kernel_size` the size of the windows; `stride` from one window to the next, by default the kernel size;
        /// `padding` of zeros on both sides, at most half the kernel size; `ceil_mode` also counts windows that begin
        /// inside but end outside; `count_include_pad` divides by the number of positions with those in the padding;
        /// `divisor_override` divides by this number instead.
        #[doc = concat!(" Returns: a tensor ", $result, ". Derivative: `g`, divided alike, added to every position of its")]
        /// window. Raises: RuntimeError if windows and sizes are incompatible.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($name), "(", $x, ", 2).tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(
            function, out = SAME, module = "nn.functional",
            "(stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)"
        )]
        pub fn $name(
            input: &Tensor,
            kernel_size: &[i64],
            stride: Option<&[i64]>,
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Tensor> {
            let (include_pad, divisor) = (count_include_pad, divisor_override);
            let call = Call { kernel: kernel_size, stride, padding, ceil: ceil_mode, include_pad, divisor };
            pooled(stringify!($name), input, call, $rank)
        }
    )* };
}

avg_pools! {
    avg_pool2d: 2, "the last two axes", "(N, C, H, W) or (C, H, W)", "(N, C, H', W')",
    "rg.arange(16.0).reshape(1, 4, 4)" => "[[[2.5, 4.5], [10.5, 12.5]]]";

    avg_pool3d: 3, "the last three axes", "(N, C, D, H, W) or (C, D, H, W)", "(N, C, D', H', W')",
    "rg.arange(8.0).reshape(1, 2, 2, 2)" => "[[[[3.5]]]]";
}

/// The mean of every window along the last axis: `nn.functional.avg_pool1d`.
///
/// Args: `input`, `kernel_size`, `stride`, `padding`, `ceil_mode`, `count_include_pad` as there. Returns, Derivative,
/// Raises: as there.
///
/// >>> rg.avg_pool1d(rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2).tolist()
/// [[2.0, 1.0]]
#[op(function, name = "avg_pool1d", norust, "(stride=None, padding=0, ceil_mode=False, count_include_pad=True)")]
pub fn top_avg_pool1d(
    input: &Tensor,
    kernel_size: &[i64],
    stride: Option<&[i64]>,
    padding: &[i64],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Result<Tensor> {
    let call =
        Call { kernel: kernel_size, stride, padding, ceil: ceil_mode, include_pad: count_include_pad, divisor: None };
    pooled("avg_pool1d", input, call, 1)
}
