//! `max_pool1d`, `max_pool2d`, `max_pool3d`.

use retrograd_macros::op;
use smallvec::smallvec;

use super::pool_indices::{AtPlaces, ToPlaces};
use super::{Layout, Pool, check_regular, plane, triple};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, one};
use crate::error::{Error, Result, Sizes};
use crate::kernels::pool::{self, Pooled};
use crate::match_dtype;
use crate::ops::{OneOrMany, Value, view};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Tensor};

/// The maximum of every window and, if asked for, where in its plane it stands. Reverse: `g` to these places
/// ([`ToPlaces`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxPool {
    pub pool: Pool,
    /// Whether there are places; without them there is no derivative.
    pub places: bool,
}

impl MaxPool {
    fn names(&self) -> [&'static str; 2] {
        match (self.pool.is_adaptive(), self.pool.rank) {
            (false, 2) => ["MaxPool2DWithIndicesBackward0", "MaxPool2DWithIndicesBackwardBackward0"],
            (false, _) => ["MaxPool3DWithIndicesBackward0", "MaxPool3DWithIndicesBackwardBackward0"],
            (true, 2) => ["AdaptiveMaxPool2DBackward0", "AdaptiveMaxPool2DBackwardBackward0"],
            (true, _) => ["AdaptiveMaxPool3DBackward0", "AdaptiveMaxPool3DBackwardBackward0"],
        }
    }
    /// What torch calls the loop.
    fn run<T: Element + Pooled>(&self, x: &Tensor) -> Result<Outs> {
        let sizes = self.pool.out_sizes(x.sizes());
        let at = self.places.then(|| Tensor::empty(&sizes, DType::Int64)).transpose()?;
        let x = copy::contiguous(x)?;
        let values = Tensor::build::<T>(&sizes, |y| {
            // SAFETY: S1 to S3: a fresh contiguous tensor of as many elements, which nobody else has yet.
            let at = at.as_ref().map(|at| unsafe { std::slice::from_raw_parts_mut(at.ptr::<i64>(), y.len()) });
            pool::max(&self.pool.windows(x.sizes()), x.as_slice::<T>().unwrap_or(&[]), y, at);
        })?;
        Ok([values].into_iter().chain(at).collect())
    }
}

impl Primitive for MaxPool {
    const NAME: &'static str = "max_pool";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(1, "result1")];
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    // Any axes may stand in front of the planes.
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(*op));
    fn node(&self) -> &'static str {
        self.names()[0]
    }
    fn kernel_name(&self) -> &'static str {
        match (self.pool.is_adaptive(), self.pool.rank) {
            (false, 2) => "max_pool2d",
            (false, _) => "max_pool3d",
            (true, 2) => "adaptive_max_pool2d",
            (true, _) => "adaptive_max_pool3d_cpu",
        }
    }
    fn dtypes(&self) -> Dtypes {
        if self.pool.is_adaptive() { Dtypes::FLOATS.or(Dtypes::HALVES) } else { Self::DTYPES }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        if !x.dtype().is_integral() {
            return match_dtype!(floats, x.dtype(), T => self.run::<T>(x));
        }
        // The smaller integers take the way of the largest.
        let mut outs = self.run::<i64>(&copy::cast(x, DType::Int64)?)?;
        outs[0] = copy::cast(&outs[0], x.dtype())?;
        Ok(outs)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = ToPlaces { rank: self.pool.rank, plane: plane(cx.sizes(0), self.pool.rank), node: self.names()[1] };
        apply1(back, &[cx.g(), cx.saved(1)?]).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let at = AtPlaces { rank: op.pool.rank, node: op.names()[1] };
        let t = cx.t(0).map(|t| apply1(at, &[t, &cx.outs[1]])).transpose()?;
        Ok(smallvec![t, None])
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        self.pool.params(true)
    }
}

/// Values and places, if they were asked for.
pub(super) type Found = (Tensor, Option<Tensor>);

pub(super) fn found(pool: Pool, x: &Tensor, places: bool) -> Result<Found> {
    let op = MaxPool { pool, places: places || view::is_differentiated(x) };
    let mut outs = apply(op, &[x])?.into_iter();
    Ok((outs.next().expect("the maxima"), outs.next().filter(|_| places)))
}

/// Both, or the values alone.
pub(super) fn chosen((values, at): Found) -> OneOrMany {
    match at {
        Some(at) => OneOrMany::Many(vec![values, at]),
        None => OneOrMany::One(values),
    }
}

pub(super) fn both((values, at): Found) -> (Tensor, Tensor) {
    (values, at.expect("they were asked for"))
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub kernel: &'a [i64],
    pub stride: Option<&'a [i64]>,
    pub padding: &'a [i64],
    pub dilation: &'a [i64],
    pub ceil: bool,
    pub places: bool,
}

/// Over the last one, two or three axes.
pub(super) fn pooled(op: &'static str, x: &Tensor, call: Call, rank: usize) -> Result<Found> {
    if rank == 1 { over_lines(op, x, call) } else { over_planes(op, x, call, rank) }
}

/// Over the last two or three axes.
fn over_planes(op: &'static str, x: &Tensor, call: Call, rank: usize) -> Result<Found> {
    let number = if rank == 2 { "two" } else { "three" };
    let wrong =
        |what: &str, one: &str| Error::shape(op, format!("{op}: {what} must {one}, or a tuple of {number} ints"));
    let kernel = triple(call.kernel, rank, || wrong("kernel_size", "either be a single int"))?;
    let strided = call.stride.is_some_and(|s| !s.is_empty());
    let stride = match call.stride {
        Some(s) if strided => triple(s, rank, || wrong("stride", "either be omitted, a single int"))?,
        _ => kernel,
    };
    let padding = triple(call.padding, rank, || wrong("padding", "either be a single int"))?;
    let dilation = triple(call.dilation, rank, || wrong("dilation", "be either a single int"))?;
    if !(rank + 1..=rank + 2).contains(&x.ndim()) {
        let detail = format!("non-empty {}D or {}D (batch mode) tensor expected for input", rank + 1, rank + 2);
        return Err(Error::shape(op, format!("{detail}, got one of {} dims", x.ndim())));
    }
    let padding = if rank == 2 { [0, padding[1], padding[2]] } else { padding };
    let layout = Layout::Regular { kernel, stride, padding, dilation, ceil: call.ceil, strided };
    let pool = Pool { rank, layout, include_pad: true, divisor: None };
    check_regular(op, &pool, x, false)?;
    found(pool, x, call.places)
}

/// Over the last axis, as one of two.
fn over_lines(op: &'static str, x: &Tensor, call: Call) -> Result<Found> {
    let fail = |detail: String| Err(Error::shape(op, detail));
    let entry = if x.ndim() == 3 { &x.sizes()[1..] } else { x.sizes() };
    if !(2..=3).contains(&x.ndim()) || entry.contains(&0) {
        return fail(format!(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{}",
            Sizes(x.sizes())
        ));
    }
    let stride = call.stride.filter(|s| !s.is_empty());
    let lists = [
        (Some(call.kernel), "kernel_size must be an int, list of ints or tuple of ints"),
        (stride, "stride must be None, an int, list of ints, or tuple of ints"),
        (Some(call.padding), "padding must be an int, list of ints, or tuple of ints"),
        (Some(call.dilation), "dilation must be an int, list of ints or tuple of ints"),
    ];
    for (list, what) in lists {
        if let Some(list) = list.filter(|l| l.len() != 1) {
            return fail(format!("max_pool1d() {what} of size 1 but got size {}", list.len()));
        }
    }
    let (k, p, d) = (call.kernel[0], call.padding[0], call.dilation[0]);
    let s = stride.map_or(k, |s| s[0]);
    for (v, what) in [(k, "kernel_size"), (s, "stride")] {
        if v <= 0 {
            return fail(format!("max_pool1d() {what} must be greater than zero, but got {v}"));
        }
    }
    if p < 0 {
        return fail(format!("max_pool1d() padding must be non-negative, but got {p}"));
    }
    if p > k / 2 {
        return fail(format!(
            "max_pool1d() padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"
        ));
    }
    if d <= 0 {
        return fail(format!("max_pool1d() dilation must be greater than zero, but got {d}"));
    }
    let layout = Layout::Regular {
        kernel: [1, 1, k],
        stride: [1, 1, s],
        padding: [0, 0, p],
        dilation: [1, 1, d],
        ceil: call.ceil,
        strided: true,
    };
    let pool = Pool { rank: 2, layout, include_pad: true, divisor: None };
    let n = pool.out_size(2, x.sizes()[x.ndim() - 1]);
    if n <= 0 {
        return fail(format!("max_pool1d() Invalid computed output size: {n}"));
    }
    as_planes(x, |x| found(pool, x, call.places))
}

/// Runs `f` on a tensor with an axis of size 1 before the last.
pub(super) fn as_planes(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Found>) -> Result<Found> {
    let (values, at) = f(&x.unsqueeze(-2)?)?;
    Ok((view::squeeze_dim(&values, -2)?, at.map(|at| view::squeeze_dim(&at, -2)).transpose()?))
}

/// Without indices, one axis is only for floats.
fn check_dtype(x: &Tensor, rank: usize, indices: bool) -> Result<()> {
    if rank > 1 || indices || x.dtype().is_floating() {
        return Ok(());
    }
    Err(Error::no_kernel("max_pool1d_impl", x.dtype()))
}

/// The ops over one, two or three axes: of `nn.functional`, with and without a choice of indices, and at the top.
macro_rules! max_pools {
    ($(
        $name:ident, $with_indices:ident, $top:ident: $rank:literal, $axes:literal, $sizes:literal, $whole:literal,
        $result:literal, $x:literal => $shown:literal;
    )*) => { $(
        #[doc = concat!(" The maximum of every window along ", $axes, ".")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ";")]
        /// `kernel_size` the size of the windows; `stride` from one window to the next, by default the kernel size;
        /// `padding` of lower than every number on both sides, at most half the kernel size; `dilation` from one
        /// position of a window to the next; `ceil_mode` also counts windows that begin inside but end outside;
        #[doc = concat!(" `return_indices` also returns where in its ", $whole, " each maximum stands.")]
        #[doc = concat!(" Returns: a tensor ", $result, ", or a pair of it and int64 indices.")]
        /// Of equal numbers the first is the maximum; NaN wins. Derivative: `g` at the places of the maxima. Raises:
        /// RuntimeError if windows and sizes are incompatible.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($name), "(", $x, ", 2).tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(
            function, module = "nn.functional",
            "(stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)"
        )]
        pub fn $name(
            input: &Tensor,
            kernel_size: &[i64],
            stride: Option<&[i64]>,
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            return_indices: bool,
        ) -> Result<OneOrMany> {
            let places = return_indices;
            let call = Call { kernel: kernel_size, stride, padding, dilation, ceil: ceil_mode, places };
            check_dtype(input, $rank, places)?;
            pooled(stringify!($name), input, call, $rank).map(chosen)
        }

        #[doc = concat!(" The maxima that [`", stringify!($name), "`] returns, and their indices.")]
        ///
        #[doc = concat!(" Args, Returns, Derivative, Raises: as `", stringify!($name), "`; indices are returned always.")]
        ///
        #[doc = concat!(" >>> values, indices = rg.nn.functional.", stringify!($with_indices), "(", $x, ", 2)")]
        /// >>> indices.dtype
        /// retrograd.int64
        #[op(
            function, module = "nn.functional",
            "(stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)"
        )]
        pub fn $with_indices(
            input: &Tensor,
            kernel_size: &[i64],
            stride: Option<&[i64]>,
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            return_indices: bool,
        ) -> Result<(Tensor, Tensor)> {
            let _ = return_indices;
            let call = Call { kernel: kernel_size, stride, padding, dilation, ceil: ceil_mode, places: true };
            pooled(stringify!($with_indices), input, call, $rank).map(both)
        }

        #[doc = concat!(" The maximum of every window along ", $axes, ":")]
        #[doc = concat!(" `nn.functional.", stringify!($name), "` without indices.")]
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative,
        /// Raises: as there.
        ///
        #[doc = concat!(" >>> rg.", stringify!($name), "(", $x, ", 2).tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(function, norust, name = stringify!($name), "(stride=None, padding=0, dilation=1, ceil_mode=False)")]
        pub fn $top(
            input: &Tensor,
            kernel_size: &[i64],
            stride: Option<&[i64]>,
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<Tensor> {
            let call = Call { kernel: kernel_size, stride, padding, dilation, ceil: ceil_mode, places: false };
            check_dtype(input, $rank, false)?;
            Ok(pooled(stringify!($name), input, call, $rank)?.0)
        }
    )* };
}

max_pools! {
    max_pool1d, max_pool1d_with_indices, top_max_pool1d: 1, "the last axis",
    "(N, C, W) or (C, W), a float dtype (with indices also integers)", "row", "(N, C, W')",
    "rg.tensor([[1.0, 3.0, 2.0, 0.0]])" => "[[3.0, 2.0]]";

    max_pool2d, max_pool2d_with_indices, top_max_pool2d: 2, "the last two axes",
    "(N, C, H, W) or (C, H, W), a float dtype or integers", "plane, row by row,", "(N, C, H', W')",
    "rg.arange(16.0).reshape(1, 4, 4)" => "[[[5.0, 7.0], [13.0, 15.0]]]";

    max_pool3d, max_pool3d_with_indices, top_max_pool3d: 3, "the last three axes",
    "(N, C, D, H, W) or (C, D, H, W), a float dtype or integers", "block, row by row,", "(N, C, D', H', W')",
    "rg.arange(8.0).reshape(1, 2, 2, 2)" => "[[[[7.0]]]]";
}

/// The maximum of every window along the last axis and where it stands: `nn.functional.max_pool1d_with_indices`.
///
/// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative, Raises:
/// as there.
///
/// >>> values, indices = rg.max_pool1d_with_indices(rg.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
/// >>> indices.tolist()
/// [[1, 2]]
#[op(function, name = "max_pool1d_with_indices", norust, "(stride=None, padding=0, dilation=1, ceil_mode=False)")]
pub fn top_max_pool1d_with_indices(
    input: &Tensor,
    kernel_size: &[i64],
    stride: Option<&[i64]>,
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<(Tensor, Tensor)> {
    let call = Call { kernel: kernel_size, stride, padding, dilation, ceil: ceil_mode, places: true };
    pooled("max_pool1d_with_indices", input, call, 1).map(both)
}
