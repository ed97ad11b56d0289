//! `fractional_max_pool2d`, `fractional_max_pool3d`: the maximum of windows at random distances.

use retrograd_macros::op;
use smallvec::smallvec;

use super::max::chosen;
use super::pool_indices::{AtPlaces, ToPlaces};
use super::{Triple, plane, triple, with_plane};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Halves, Outs, Primitive, Save, Tangents, Vjp, one};
use crate::error::{Error, Result, Sizes};
use crate::kernels::pool::{self, PoolAxis, Pooled, Window, Windows};
use crate::match_dtype;
use crate::ops::random::{rand, rounded};
use crate::ops::{OneOrMany, TensorOptions, Value, view};
use crate::tensor::copy;
use crate::tensor::layout::{numel, wrap_dim};
use crate::tensor::{DType, Dims, Dtypes, Element, Tensor};

/// The maximum of every window, and where in its plane it stands. Reverse: `g` to these places ([`ToPlaces`]).
///
/// Operands: planes behind one or two axes, and a number from 0 to 1 for each plane and axis, (batch, channels, rank).
#[derive(Clone, Copy, Debug)]
struct FractionalMaxPool {
    rank: usize,
    kernel: Triple,
    out: Triple,
    /// In which the positions of windows are computed.
    precision: DType,
}

/// The windows of `k` positions along an axis of size `n`, `m` of them, at the distances that `sample` gives: B.
/// Graham, "Fractional Max-Pooling" (2014), section 2. Out of range, as samples outside 0 to 1 may lead, none.
fn windows(sample: f64, n: usize, m: usize, k: usize, precision: DType) -> Option<PoolAxis> {
    let r = |x: f64| rounded(x, precision);
    let reach = (n as i64 - k as i64) as f64;
    let alpha = if m > 1 { r(r(reach) / r((m - 1) as f64)) } else { 0.0 };
    let start = |i: usize| {
        // The last window ends where the axis does.
        let at = if i + 1 == m { reach } else { r(r(i as f64 + sample) * alpha).trunc() - r(sample * alpha).trunc() };
        (0.0..=reach).contains(&at).then_some(at as usize)
    };
    let windows = (0..m).map(|i| start(i).map(|s| Window { start: s, end: s + k, span: k })).collect::<Option<_>>()?;
    Some(PoolAxis { size: n, step: 1, windows, whole: 0..0, stride: 0, taps: k })
}

impl FractionalMaxPool {
    const NAMES: [&'static str; 2] = ["fractional_max_pool2d", "fractional_max_pool3d"];

    fn name(&self) -> &'static str {
        Self::NAMES[self.rank - 2]
    }
    fn backward_node(&self) -> &'static str {
        ["FractionalMaxPool2DBackwardBackward0", "FractionalMaxPool3DBackwardBackward0"][self.rank - 2]
    }
    fn outer(&self) -> [usize; 3] {
        self.out.map(|n| n as usize)
    }
    fn run<T: Element + Pooled>(&self, x: &Tensor, samples: &[f64]) -> Result<[Tensor; 2]> {
        let (inner, outer) = (plane(x.sizes(), self.rank), self.outer());
        let sizes = with_plane(x.sizes(), self.rank, outer);
        let (x, mut at) = (copy::contiguous(x)?, vec![0; numel(&sizes)]);
        let mut fault = None;
        let values = Tensor::build::<T>(&sizes, |y| {
            let (size, count) = (numel(&inner), numel(&outer));
            if count == 0 {
                return;
            }
            let planes = x.as_slice::<T>().unwrap_or(&[]).chunks(size.max(1));
            let results = y.chunks_mut(count).zip(at.chunks_mut(count));
            for ((x, (y, at)), samples) in planes.zip(results).zip(samples.chunks(self.rank)) {
                // Of two axes, the first number is that of the last axis.
                let of = |axis: usize| match (self.rank, axis) {
                    (2, 0) => windows(0.0, 1, 1, 1, self.precision),
                    (2, _) => {
                        windows(samples[2 - axis], inner[axis], outer[axis], self.kernel[axis] as usize, self.precision)
                    }
                    _ => windows(samples[axis], inner[axis], outer[axis], self.kernel[axis] as usize, self.precision),
                };
                match (of(0), of(1), of(2)) {
                    (Some(d), Some(h), Some(w)) => {
                        pool::max(&Windows { axes: [d, h, w], divisor: None }, x, y, Some(at))
                    }
                    _ => {
                        y.fill(T::LOWEST);
                        fault = Some(samples.to_vec());
                    }
                }
            }
        })?;
        if let Some(samples) = fault {
            let detail = format!("a window is out of range: _random_samples must be from 0 to 1, got {samples:?}");
            return Err(Error::shape(self.name(), detail));
        }
        Ok([values, Tensor::from_slice(&at, &sizes)?])
    }
}

impl Primitive for FractionalMaxPool {
    const NAME: &'static str = "fractional_max_pool";
    const SAVE: &'static [Save] = &[Save::output(1, "result1"), Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let (x, samples) = (view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        // The batch and the entry's own one together; of more samples than that the first count.
        let entry = x.ndim() - 1 - op.rank - 1;
        let count = if entry == 0 { 1 } else { x.sizes()[1] };
        let samples = view::reshape_to(
            &view::narrow(&samples, 1, 0, count as i64)?,
            &[batch * count, samples.sizes()[2], samples.sizes()[3]],
        )?;
        let mut flat = Dims::from_slice(&[batch * count]);
        flat.extend_from_slice(&x.sizes()[1 + entry..]);
        let outs = apply(*op, &[&view::reshape_to(&x, &flat)?, &samples])?;
        let whole = |y: &Tensor| {
            let mut sizes = Dims::from_slice(&x.sizes()[..1 + entry]);
            sizes.extend_from_slice(&y.sizes()[1..]);
            view::reshape_to(y, &sizes)
        };
        Ok((smallvec![whole(&outs[0])?, whole(&outs[1])?], smallvec![Some(0), Some(0)]))
    });
    fn node(&self) -> &'static str {
        ["FractionalMaxPool2DBackward0", "FractionalMaxPool3DBackward0"][self.rank - 2]
    }
    fn inputs(&self) -> u32 {
        0b1
    }
    fn kernel_name(&self) -> &'static str {
        ["fractional_max_pool2d_out_frame", "fractional_max_pool3d_out_frame"][self.rank - 2]
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let samples = xs[1].to_vec::<f64>()?;
        let [values, at] = match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs[0], &samples)?);
        Ok(smallvec![values, at])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let back = ToPlaces { rank: self.rank, plane: plane(cx.sizes(0), self.rank), node: self.backward_node() };
        let mut grads = one(apply1(back, &[cx.g(), cx.saved(0)?])?);
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let at = AtPlaces { rank: op.rank, node: op.backward_node() };
        let t = cx.t(0).map(|t| apply1(at, &[t, &cx.outs[1]])).transpose()?;
        Ok(smallvec![t, None])
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        let each = |v: Triple| Value::from(&v[3 - self.rank..]);
        vec![("kernel_size", each(self.kernel)), ("output_size", each(self.out))]
    }
}

/// How many windows there are along each axis, by their number or by the ratio of it to the size.
fn wanted<'a>(
    op: &'static str,
    x: &Tensor,
    rank: usize,
    size: Option<&'a [i64]>,
    ratio: Option<&[f64]>,
) -> Result<std::borrow::Cow<'a, [i64]>> {
    if let Some(size) = size {
        return Ok(size.into());
    }
    let Some(ratio) = ratio else {
        let detail = format!("{op} requires specifying either an output_size or an output_ratio");
        return Err(Error::value(op, detail));
    };
    if ratio.len() != 1 && ratio.len() != rank {
        let detail = format!("{op} requires output_ratio to either be a single Int or tuple of Ints.");
        return Err(Error::value(op, format!("{detail} Got {} numbers for {rank} axes", ratio.len())));
    }
    let size_of = |i: usize| {
        let axis = wrap_dim(op, i as i64 - rank as i64, x.ndim())?;
        Ok((x.sizes()[axis] as f64 * ratio[if ratio.len() == 1 { 0 } else { i }]) as i64)
    };
    (0..rank).map(size_of).collect()
}

/// The arguments of a call.
struct Call<'a> {
    kernel: &'a [i64],
    size: Option<&'a [i64]>,
    ratio: Option<&'a [f64]>,
    samples: Option<&'a Tensor>,
}

fn pooled(op: &'static str, x: &Tensor, call: Call, rank: usize) -> Result<(Tensor, Tensor)> {
    let fail = |detail: String| Err(Error::shape(op, detail));
    // torch's name of it in what it checks after the arguments.
    let (what, several) =
        if rank == 2 { ("fractional_max_pool2d()", "Ints") } else { ("fractional_max_pool3d_out()", "three Ints") };
    let size = wanted(op, x, rank, call.size, call.ratio)?;
    let (batch, channels) = {
        let axis = wrap_dim(op, -(rank as i64) - 1, x.ndim())?;
        (if x.ndim() == rank + 1 { 1 } else { x.sizes()[0] }, x.sizes()[axis])
    };
    let drawn;
    let samples = match call.samples {
        Some(samples) => samples,
        None => {
            drawn = rand(&[batch as i64, channels as i64, rank as i64], None, TensorOptions::from(x.dtype()))?;
            &drawn
        }
    };
    let list = |name: &str| Error::shape(op, format!("{op}: {name} must either be a single Int or tuple of {several}"));
    let kernel = triple(call.kernel, rank, || list("kernel_size"))?;
    let out = triple(&size, rank, || list("output_size"))?;
    let d = x.ndim();
    if d != rank + 1 && d != rank + 2 {
        let detail = format!("{what}: Expected {}D or {}D tensor, but got: {}", rank + 1, rank + 2, Sizes(x.sizes()));
        return fail(detail);
    }
    for axis in d - rank - 1..d {
        if x.sizes()[axis] == 0 {
            return fail(format!(
                "{what}: Expected input to have non-zero size for non-batch dimensions, but got{} with dimension {axis} being \
                 empty.",
                Sizes(x.sizes())
            ));
        }
    }
    if out.iter().any(|&n| n < 0) || kernel.iter().any(|&n| n < 0) {
        let detail =
            "Trying to create tensor with negative dimension: sizes of results and windows must not be negative, got";
        return fail(format!("{detail} {:?} and {:?}", &out[3 - rank..], &kernel[3 - rank..]));
    }
    let inner = plane(x.sizes(), rank);
    // torch looks at the width before the height in three dims, where a window less than the others must fit too.
    let order: &[(usize, &str)] =
        if rank == 2 { &[(1, "height"), (2, "width")] } else { &[(0, "time"), (2, "width"), (1, "height")] };
    for &(axis, name) in order {
        let reach = i128::from(out[axis]) + i128::from(kernel[axis]) - 1 + i128::from(rank == 3);
        if reach > inner[axis] as i128 {
            return fail(format!(
                "{what}: pool {name} {} too large relative to input {name} {}",
                kernel[axis], inner[axis]
            ));
        }
    }
    if samples.dtype() != x.dtype() {
        return Err(Error::dtype(op, "Expect _random_samples to have the same dtype as input"));
    }
    match *samples.sizes() {
        [n, _, _] if n < batch => return fail("Expect _random_samples.size(0) no less then input batch size.".into()),
        [_, c, _] if c != channels => {
            return fail("Expect _random_samples.size(1) equals to input channel size.".into());
        }
        [_, _, r] if r != rank => return fail(format!("Expect _random_samples.size(2) equals to {rank}; got {r}.")),
        [_, _, _] => {}
        ref other => return fail(format!("Expect _random_samples to have 3 dimensions, got {}", other.len())),
    }
    let mut outs = apply(FractionalMaxPool { rank, kernel, out, precision: x.dtype() }, &[x, &samples.detach()])?;
    let at = outs.swap_remove(1);
    Ok((outs.swap_remove(0), at))
}

/// The ops over two and three axes, with and without a choice of indices.
macro_rules! fractional_pools {
    ($($name:ident, $with_indices:ident: $rank:literal, $axes:literal, $sizes:literal, $x:literal => $shown:literal;)*) => { $(
        #[doc = concat!(" The maximum of windows at random distances along ", $axes, ".")]
        ///
        #[doc = concat!(" Args: `input` ", $sizes, ", floating dtype; `kernel_size` the size of the windows;")]
        /// `output_size` how many there are along each axis, or `output_ratio` how many for each element;
        #[doc = concat!(" `return_indices` also returns where in its plane each maximum stands; `_random_samples` (N, C, ",
            stringify!($rank), ") numbers")]
        /// from 0 to 1 for the distances (drawn from the default generator). Returns: a tensor, or a pair of it and
        /// int64 indices. NaN wins. Derivative: `g` at the places of the maxima. Raises: ValueError without a size,
        /// RuntimeError if sizes are incompatible.
        ///
        #[doc = concat!(" >>> rg.nn.functional.", stringify!($name), "(", $x, ").tolist()")]
        #[doc = concat!(" ", $shown)]
        #[op(
            function, norust, module = "nn.functional",
            "(output_size=None, output_ratio=None, return_indices=False, _random_samples=None)"
        )]
        pub fn $name(
            input: &Tensor,
            kernel_size: &[i64],
            output_size: Option<&[i64]>,
            output_ratio: Option<&[f64]>,
            return_indices: bool,
            _random_samples: Option<&Tensor>,
        ) -> Result<OneOrMany> {
            let call = Call { kernel: kernel_size, size: output_size, ratio: output_ratio, samples: _random_samples };
            let (values, at) = pooled(stringify!($name), input, call, $rank)?;
            Ok(chosen((values, return_indices.then_some(at))))
        }

        #[doc = concat!(" The maxima that [`", stringify!($name), "`] returns, and their indices.")]
        ///
        #[doc = concat!(" Args, Returns, Derivative, Raises: as `", stringify!($name), "`; indices are returned always.")]
        ///
        #[doc = concat!(" >>> values, indices = rg.nn.functional.", stringify!($with_indices), "(", $x, ")")]
        /// >>> indices.dtype
        /// retrograd.int64
        #[op(
            function, norust, module = "nn.functional",
            "(output_size=None, output_ratio=None, return_indices=False, _random_samples=None)"
        )]
        pub fn $with_indices(
            input: &Tensor,
            kernel_size: &[i64],
            output_size: Option<&[i64]>,
            output_ratio: Option<&[f64]>,
            return_indices: bool,
            _random_samples: Option<&Tensor>,
        ) -> Result<(Tensor, Tensor)> {
            let call = Call { kernel: kernel_size, size: output_size, ratio: output_ratio, samples: _random_samples };
            let _ = return_indices;
            pooled(stringify!($name), input, call, $rank)
        }
    )* };
}

fractional_pools! {
    fractional_max_pool2d, fractional_max_pool2d_with_indices: 2, "the last two axes",
    "(N, C, H, W) or (C, H, W)", "rg.arange(16.0).reshape(1, 4, 4), 4, 1" => "[[[15.0]]]";

    fractional_max_pool3d, fractional_max_pool3d_with_indices: 3, "the last three axes",
    "(N, C, D, H, W) or (C, D, H, W)", "rg.arange(27.0).reshape(1, 3, 3, 3), 2, 1" => "[[[[26.0]]]]";
}
