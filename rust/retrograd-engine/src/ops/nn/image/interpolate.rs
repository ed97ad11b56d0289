//! `interpolate` and its old names.

use retrograd_macros::op;

use super::separable::{Face, Separable};
use crate::autograd::apply::apply1;
use crate::error::{Error, Result, Sizes};
use crate::kernels::resample::ResampleTable;
use crate::ops::nn::pool::adaptive_avg;
use crate::ops::{Value, memory};
use crate::tensor::layout::checked_numel;
use crate::tensor::{DType, Dims, Tensor};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
    /// Smooth alone.
    Lanczos,
}

/// One axis: from `n` elements to `m`, by a factor if one was given.
#[derive(Clone, Copy)]
struct ImageAxis {
    n: usize,
    m: usize,
    factor: Option<f64>,
}

/// Positions are computed in the precision of the operand, which decides where they fall.
#[derive(Clone, Copy)]
struct Precision {
    single: bool,
}

impl Precision {
    fn round(self, x: f64) -> f64 {
        if self.single { f64::from(x as f32) } else { x }
    }
    /// From a position in the result to one in the operand.
    fn scale(self, axis: ImageAxis, align: bool) -> f64 {
        self.round(match axis.factor {
            _ if align && axis.m > 1 => (axis.n - 1) as f64 / (axis.m - 1) as f64,
            _ if align => 0.0,
            Some(f) if f > 0.0 => 1.0 / f,
            _ => axis.n as f64 / axis.m as f64,
        })
    }
    fn source(self, scale: f64, o: usize, align: bool) -> f64 {
        if align {
            return self.round(scale * o as f64);
        }
        self.round(self.round(scale * self.round(o as f64 + 0.5)) - 0.5)
    }
    /// The element before a position, and how far the position is from it.
    fn before(self, at: f64, n: usize) -> (i64, f64) {
        let i = (f64::from((at as f32).floor()) as i64).min(n as i64 - 1);
        (i, self.round(at - i as f64).clamp(0.0, 1.0))
    }
}

fn nearest(axis: ImageAxis, exact: bool) -> Result<ResampleTable> {
    let single = Precision { single: true };
    let scale = single.scale(axis, false) as f32;
    let place = |o: usize| {
        let i = match (exact, axis.n, axis.m) {
            (true, ..) => ((o as f64 + 0.5) * f64::from(scale)) as f32,
            (false, n, m) if n == m => return o,
            (false, n, m) if m == 2 * n => return o / 2,
            _ => o as f32 * scale,
        };
        (i.floor().max(0.0) as usize).min(axis.n - 1)
    };
    Ok(ResampleTable::new(axis.n, 1, (0..axis.m).map(|o| [(place(o), 1.0)]))?)
}

fn linear(axis: ImageAxis, align: bool, precision: Precision) -> Result<ResampleTable> {
    let scale = precision.scale(axis, align);
    let taps = |o: usize| {
        if axis.n == axis.m {
            return vec![(o, 1.0)];
        }
        let (i, t) = precision.before(precision.source(scale, o, align).max(0.0), axis.n);
        let i = i.max(0) as usize;
        let next = (i + 1).min(axis.n - 1);
        vec![(i, precision.round(1.0 - t)), (next, t)]
    };
    Ok(ResampleTable::new(axis.n, 2, (0..axis.m).map(taps))?)
}

/// The weights of the elements around a position `t` behind the second of them.
fn cubic_weights(t: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

fn cubic(axis: ImageAxis, align: bool, precision: Precision) -> Result<ResampleTable> {
    let scale = precision.scale(axis, align);
    let taps = |o: usize| {
        let (i, t) = precision.before(precision.source(scale, o, align), axis.n);
        let weights = cubic_weights(t);
        (0..4).map(move |k| ((i - 1 + k as i64).clamp(0, axis.n as i64 - 1) as usize, precision.round(weights[k])))
    };
    Ok(ResampleTable::new(axis.n, 4, (0..axis.m).map(taps))?)
}

/// Every position as a weighted mean of all elements that it covers, the wider the more it shrinks.
fn antialiased(axis: ImageAxis, align: bool, precision: Precision, kernel: Mode) -> Result<ResampleTable> {
    let round = |x: f64| precision.round(x);
    let scale = precision.scale(axis, align);
    let reach = match kernel {
        Mode::Cubic => 2.0,
        Mode::Lanczos => LANCZOS,
        _ => 1.0,
    };
    let stretch = scale.max(1.0);
    let support = round(reach * stretch);
    let weight = |x: f64| match (kernel, x.abs()) {
        (Mode::Cubic, x) => smooth_cubic(x),
        (Mode::Lanczos, x) if x >= LANCZOS => 0.0,
        (Mode::Lanczos, x) => sinc(x) * sinc(x / LANCZOS),
        (_, x) => (1.0 - x).max(0.0),
    };
    let taps = |o: usize| {
        let center = round(scale * (o as f64 + 0.5));
        let first = round(round(center - support) + 0.5).max(0.0) as usize;
        let end = (round(round(center + support) + 0.5).max(0.0) as usize).clamp(first, axis.n);
        let weights: Vec<f64> = (first..end).map(|i| weight((i as f64 - center + 0.5) / stretch)).collect();
        let total: f64 = weights.iter().sum();
        (first..end).zip(weights.into_iter().map(move |w| precision.round(w / total)))
    };
    let most = ((2.0 * support).ceil() as usize).saturating_add(1).min(axis.n);
    Ok(ResampleTable::new(axis.n, most, (0..axis.m).map(taps))?)
}

/// Half the width of Lanczos' kernel.
const LANCZOS: f64 = 3.0;

fn sinc(x: f64) -> f64 {
    let x = std::f64::consts::PI * x;
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

/// The cubic kernel of means over many elements.
fn smooth_cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    match x {
        ..1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
        1.0..2.0 => ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A,
        _ => 0.0,
    }
}

/// Names of the node, of the reverse, and of torch's loop.
fn names(mode: Mode, rank: usize, smooth: bool) -> [&'static str; 3] {
    const UINT8: &str = "upsample_nearest2d_channels_last";
    const SMOOTH: &str = "compute_index_ranges_weights";
    match (mode, rank) {
        (Mode::Linear, _) if smooth => {
            ["UpsampleBilinear2DAaBackward0", "UpsampleBilinear2DAaBackwardBackward0", SMOOTH]
        }
        (Mode::Lanczos, _) => ["UpsampleLanczos2DAaBackward0", "UpsampleLanczos2DAaBackwardBackward0", SMOOTH],
        (_, _) if smooth => ["UpsampleBicubic2DAaBackward0", "UpsampleBicubic2DAaBackwardBackward0", SMOOTH],
        (Mode::Nearest, 1) => {
            ["UpsampleNearest1DBackward0", "UpsampleNearest1DBackwardBackward0", "upsample_nearest1d"]
        }
        (Mode::Nearest, 2) => ["UpsampleNearest2DBackward0", "UpsampleNearest2DBackwardBackward0", UINT8],
        (Mode::Nearest, _) => {
            ["UpsampleNearest3DBackward0", "UpsampleNearest3DBackwardBackward0", "upsample_nearest3d"]
        }
        (Mode::NearestExact, 1) => {
            ["UpsampleNearestExact1DBackward0", "UpsampleNearestExact1DBackwardBackward0", "upsample_nearest1d"]
        }
        (Mode::NearestExact, 2) => {
            ["UpsampleNearestExact2DBackward0", "UpsampleNearestExact2DBackwardBackward0", UINT8]
        }
        (Mode::NearestExact, _) => {
            ["UpsampleNearestExact3DBackward0", "UpsampleNearestExact3DBackwardBackward0", "upsample_nearest3d"]
        }
        (Mode::Linear, 1) => ["UpsampleLinear1DBackward0", "UpsampleLinear1DBackwardBackward0", "upsample_linear1d"],
        (Mode::Linear, 2) => {
            ["UpsampleBilinear2DBackward0", "UpsampleBilinear2DBackwardBackward0", "upsample_bilinear2d_channels_last"]
        }
        (Mode::Linear, _) => {
            ["UpsampleTrilinear3DBackward0", "UpsampleTrilinear3DBackwardBackward0", "upsample_trilinear3d"]
        }
        (Mode::Cubic, _) => {
            ["UpsampleBicubic2DBackward0", "UpsampleBicubic2DBackwardBackward0", "compute_indices_weights_cubic"]
        }
    }
}

/// `D: 1, H: 2, W: 3`.
fn listed(sizes: impl IntoIterator<Item = String>, rank: usize) -> String {
    let names = ["D", "H", "W"];
    let pairs = names[3 - rank..].iter().zip(sizes).map(|(name, n)| format!("{name}: {n}"));
    pairs.collect::<Vec<_>>().join(", ")
}

/// The requested sizes, and the factors that they came from, if positions use these.
struct Wanted {
    sizes: Vec<i64>,
    factors: Option<Vec<f64>>,
}

/// The arguments that say how large the result is.
struct Asked<'a> {
    size: Option<&'a [i64]>,
    factor: Option<&'a [f64]>,
    recompute: bool,
    /// Whether positions are means of all elements that they cover.
    smooth: bool,
}

fn wanted(op: &'static str, x: &Tensor, asked: &Asked, area: bool) -> Result<Wanted> {
    let spatial = x.sizes().get(2..).unwrap_or(&[]);
    let dims = spatial.len();
    let (one_each, what) = match (asked.size, asked.factor) {
        (Some(_), Some(_)) => return Err(Error::value(op, "only one of size or scale_factor should be defined")),
        (None, None) => return Err(Error::value(op, "either size or scale_factor should be defined")),
        (Some(size), None) => (size.len(), ("output", "output size of")),
        (None, Some(factor)) => (factor.len(), ("scale_factor", "scale_factor of shape")),
    };
    if one_each != 1 && one_each != dims {
        return Err(Error::value(
            op,
            format!(
                "Input and {} must have the same number of spatial dimensions, but got input with spatial dimensions of {} \
                 and {} {one_each} numbers. Please give input in (N, C, d1, ..., dK) format and one number for each of d1 to dK.",
                what.0,
                Sizes(spatial),
                what.1
            ),
        ));
    }
    if let Some(size) = asked.size {
        if asked.recompute {
            return Err(Error::value(op, "recompute_scale_factor is not meaningful with an explicit size."));
        }
        let sizes = if size.len() == dims { size.to_vec() } else { vec![size[0]; dims] };
        return Ok(Wanted { sizes, factors: None });
    }
    let given = asked.factor.unwrap_or(&[]);
    let factors = if given.len() == dims { given.to_vec() } else { vec![given.first().copied().unwrap_or(0.0); dims] };
    let sizes = spatial.iter().zip(&factors).map(|(&n, f)| (n as f64 * f) as i64).collect();
    Ok(Wanted { sizes, factors: (!asked.recompute && !area).then_some(factors) })
}

fn resampled(op: &'static str, x: &Tensor, asked: &Asked, mode: &str, align: Option<bool>) -> Result<Tensor> {
    if matches!(mode, "nearest" | "area" | "nearest-exact") && align.is_some() {
        return Err(Error::value(
            op,
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear",
        ));
    }
    let want = wanted(op, x, asked, mode == "area")?;
    let align = align.unwrap_or(false);
    let rank = match (mode, x.ndim()) {
        ("area", 3..=5) => return adaptive_avg(op, x, &want.sizes),
        ("nearest" | "nearest-exact", ndim @ 3..=5) => ndim - 2,
        ("linear", 3) => 1,
        ("bilinear" | "bicubic" | "lanczos", 4) => 2,
        ("trilinear", 5) => 3,
        ("linear" | "bilinear" | "trilinear", ndim @ 3..=5) => {
            let needed = [("linear", 3), ("bilinear", 4), ("trilinear", 5)].into_iter().find(|(name, _)| *name == mode);
            return Err(Error::not_implemented(format!(
                "{op}: Got {ndim}D input, but {mode} mode needs {}D input",
                needed.map_or(0, |n| n.1)
            )));
        }
        (_, ndim) => {
            return Err(Error::not_implemented(format!(
                "{op}: Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | \
                 bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
            )));
        }
    };
    let mode = match mode {
        "nearest" => Mode::Nearest,
        "nearest-exact" => Mode::NearestExact,
        "bicubic" => Mode::Cubic,
        "lanczos" if align => return Err(Error::value(op, "Lanczos mode does not support align_corners=True")),
        "lanczos" if !asked.smooth => return Err(Error::value(op, "Lanczos mode requires antialias=True")),
        "lanczos" => Mode::Lanczos,
        _ => Mode::Linear,
    };
    check(op, x, &want.sizes, rank)?;
    let [node, back, kernel] = names(mode, rank, asked.smooth);
    let whole = x.dtype() == DType::UInt8 && !(mode == Mode::Linear && rank != 2);
    if !whole && !x.dtype().is_floating() {
        return Err(Error::no_kernel(kernel, x.dtype()));
    }
    let precision = Precision { single: x.dtype() != DType::Float64 };
    // Before any table: the result must fit, and there must be memory for it.
    let mut sizes = Dims::from_slice(&x.sizes()[..2]);
    sizes.extend(want.sizes.iter().map(|&m| m as usize));
    Tensor::empty(&sizes, x.dtype()).map_err(|e| e.named(op))?;
    let table = |i: usize| -> Result<Option<ResampleTable>> {
        let axis =
            ImageAxis { n: x.sizes()[2 + i], m: want.sizes[i] as usize, factor: want.factors.as_ref().map(|f| f[i]) };
        match mode {
            Mode::Nearest => nearest(axis, false),
            Mode::NearestExact => nearest(axis, true),
            Mode::Linear | Mode::Cubic | Mode::Lanczos if asked.smooth => antialiased(axis, align, precision, mode),
            Mode::Linear => linear(axis, align, precision),
            _ => cubic(axis, align, precision),
        }
        .map(Some)
    };
    let mut params = vec![("output_size", Value::from(&want.sizes[..])), ("self_sym_sizes", Value::from(x.sizes()))];
    if matches!(mode, Mode::Linear | Mode::Cubic | Mode::Lanczos) {
        params.push(("align_corners", align.into()));
    }
    let shown: &[&'static str] =
        if rank == 1 { &["scales"] } else { &["scales_d", "scales_h", "scales_w"][3 - rank..] };
    for (i, name) in shown.iter().enumerate() {
        params.push((name, want.factors.as_ref().map_or(Value::None, |f| f[i].into())));
    }
    let face = Face { node, back, kernel, params };
    if whole && matches!(mode, Mode::Linear | Mode::Cubic | Mode::Lanczos) {
        return of_bytes(x, table(0)?, table(1)?, face);
    }
    apply1(Separable::<false>::new((0..rank).map(table).collect::<Result<_>>()?, face), &[x])
}

/// Of integers from 0 to 255: each axis in turn, its results rounded to such integers.
fn of_bytes(x: &Tensor, rows: Option<ResampleTable>, columns: Option<ResampleTable>, face: Face) -> Result<Tensor> {
    let rounded = |x: Tensor| {
        let bound = |v: i64| Tensor::number(v.into());
        x.plus(0.5)?.floor()?.maximum(&bound(0)?)?.minimum(&bound(255)?)
    };
    let first = Separable::<false>::new(vec![None, columns], face);
    let second = Separable { tables: vec![rows, None].into(), ..first.clone() };
    let x = rounded(apply1(first, &[&memory::cast(x, DType::Float32)?])?)?;
    memory::cast(&rounded(apply1(second, &[&x])?)?, DType::UInt8)
}

fn check(op: &'static str, x: &Tensor, sizes: &[i64], rank: usize) -> Result<()> {
    let spatial = &x.sizes()[2..];
    if sizes.iter().any(|&m| m <= 0) || spatial.contains(&0) {
        return Err(Error::shape(
            op,
            format!(
                "Input and output sizes should be greater than 0, but got input ({}) output ({})",
                listed(spatial.iter().map(usize::to_string), rank),
                listed(sizes.iter().map(i64::to_string), rank)
            ),
        ));
    }
    if x.sizes()[1] == 0 {
        return Err(Error::shape(
            op,
            format!("Non-empty {}D data tensor expected but got a tensor with sizes {}", rank + 2, Sizes(x.sizes())),
        ));
    }
    let mut whole = Dims::from_slice(&x.sizes()[..2]);
    whole.extend(sizes.iter().map(|&m| m as usize));
    checked_numel(op, &whole).map(|_| ())
}

/// Resamples the axes behind the channels to other sizes.
///
/// Args: `input` (N, C, W), (N, C, H, W) or (N, C, D, H, W), floating dtype (uint8 for some modes); `size` the new
/// sizes, or `scale_factor` what to multiply the old ones by: one number for all or one for each; `mode` 'nearest',
/// 'nearest-exact', 'area', or by the number of axes 'linear', 'bilinear', 'bicubic', 'trilinear'; `align_corners` lets
/// the corners of both coincide (in the last four); `recompute_scale_factor` takes positions from the sizes instead of
/// the factors; `antialias` makes positions of a smaller image means of all that they cover ('bilinear', 'bicubic' and
/// 'lanczos', which is smooth alone). Returns: a tensor of the new sizes. Derivative: `g`, distributed with the same
/// weights over the elements that its positions came from. Raises: ValueError if arguments are incompatible;
/// NotImplementedError for other modes and numbers of axes; RuntimeError for empty sizes.
///
/// >>> rg.nn.functional.interpolate(rg.tensor([[[1.0, 3.0]]]), scale_factor=2, mode='linear').tolist()
/// [[[1.0, 1.5, 2.5, 3.0]]]
#[op(
    function,
    module = "nn.functional",
    "(size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=False)"
)]
pub fn interpolate(
    input: &Tensor,
    size: Option<&[i64]>,
    scale_factor: Option<&[f64]>,
    mode: &str,
    align_corners: Option<bool>,
    recompute_scale_factor: Option<bool>,
    antialias: bool,
) -> Result<Tensor> {
    const OP: &str = "interpolate";
    let asked =
        Asked { size, factor: scale_factor, recompute: recompute_scale_factor.unwrap_or(false), smooth: antialias };
    if antialias && (!matches!(mode, "bilinear" | "bicubic" | "lanczos") || input.ndim() != 4) {
        return Err(Error::value(
            OP,
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input",
        ));
    }
    resampled(OP, input, &asked, mode, align_corners)
}

/// `interpolate` under its old name.
///
/// Args: `input`, `size`, `scale_factor`, `mode`, `align_corners` as there. Returns, Derivative, Raises: as there.
///
/// >>> import warnings
/// >>> with warnings.catch_warnings(action="ignore"):
/// ...     rg.nn.functional.upsample(rg.tensor([[[1.0, 3.0]]]), 4).tolist()
/// [[[1.0, 1.0, 3.0, 3.0]]]
#[op(function, module = "nn.functional", "(size=None, scale_factor=None, mode='nearest', align_corners=None)")]
pub fn upsample(
    input: &Tensor,
    size: Option<&[i64]>,
    scale_factor: Option<&[f64]>,
    mode: &str,
    align_corners: Option<bool>,
) -> Result<Tensor> {
    crate::warn::warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")?;
    resampled(
        "upsample",
        input,
        &Asked { size, factor: scale_factor, recompute: false, smooth: false },
        mode,
        align_corners,
    )
}

/// `interpolate` in mode 'nearest', under its old name.
///
/// Args: `input`, `size`, `scale_factor` as there. Returns, Derivative, Raises: as there.
///
/// >>> import warnings
/// >>> with warnings.catch_warnings(action="ignore"):
/// ...     rg.nn.functional.upsample_nearest(rg.tensor([[[1.0, 3.0]]]), 3).tolist()
/// [[[1.0, 1.0, 3.0]]]
#[op(function, module = "nn.functional", "(size=None, scale_factor=None)")]
pub fn upsample_nearest(input: &Tensor, size: Option<&[i64]>, scale_factor: Option<&[f64]>) -> Result<Tensor> {
    crate::warn::warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")?;
    resampled(
        "upsample_nearest",
        input,
        &Asked { size, factor: scale_factor, recompute: false, smooth: false },
        "nearest",
        None,
    )
}

/// `interpolate` in mode 'bilinear' with aligned corners, under its old name.
///
/// Args: `input`, `size`, `scale_factor` as there. Returns, Derivative, Raises: as there.
///
/// >>> import warnings
/// >>> with warnings.catch_warnings(action="ignore"):
/// ...     rg.nn.functional.upsample_bilinear(rg.tensor([[[[1.0, 3.0]]]]), (1, 3)).tolist()
/// [[[[1.0, 2.0, 3.0]]]]
#[op(function, module = "nn.functional", "(size=None, scale_factor=None)")]
pub fn upsample_bilinear(input: &Tensor, size: Option<&[i64]>, scale_factor: Option<&[f64]>) -> Result<Tensor> {
    crate::warn::warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")?;
    let asked = Asked { size, factor: scale_factor, recompute: false, smooth: false };
    resampled("upsample_bilinear", input, &asked, "bilinear", Some(true))
}
