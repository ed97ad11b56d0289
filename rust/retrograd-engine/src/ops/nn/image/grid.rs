//! `grid_sample`, `affine_grid`.

use retrograd_macros::op;
use smallvec::smallvec;

use super::grid_composed::taps;
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{
    Batch, Halves, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params,
};
use crate::error::{Error, Result, Shape, Sizes};
use crate::kernels::grid::{self, Border, Extent, Mode, Sample, Sampler};
use crate::match_dtype;
use crate::ops::matmul::product::{flipped, fresh3, plain};
use crate::ops::view::{self, reshape_to};
use crate::tensor::copy;
use crate::tensor::layout::{contiguous_strides, numel};
use crate::tensor::{Category, DType, Dims, Dtypes, Element, Tensor};

/// `grid_sample`: operands (N, C, *plane) and a grid (N, *points, rank). Linear in the first; its derivatives in
/// recorded ops are those of [`taps`], its own kernel computes a reverse that is not differentiated again.
#[derive(Clone, Copy, Debug)]
struct GridSample(Sampler);

impl GridSample {
    fn sizes(&self, x: &Tensor, grid: &Tensor) -> Dims {
        x.sizes()[..2].iter().chain(&grid.sizes()[1..=self.0.rank]).copied().collect()
    }
    fn extent(&self, x: &Tensor, grid: &Tensor) -> Extent {
        let mut plane = [1; 3];
        plane[3 - self.0.rank..].copy_from_slice(&x.sizes()[2..]);
        let points = numel(&grid.sizes()[1..=self.0.rank]);
        Extent { batch: x.sizes()[0], channels: x.sizes()[1], plane, points }
    }
    /// With a plane or all points as one axis.
    fn flat(t: &Tensor, from: usize) -> Result<Tensor> {
        let mut sizes = Dims::from_slice(&t.sizes()[..from]);
        sizes.push(numel(&t.sizes()[from..]));
        reshape_to(t, &sizes)
    }
    fn run<T: Element + Sample>(&self, x: &Tensor, points: &Tensor) -> Result<Tensor> {
        let e = self.extent(x, points);
        let sizes = self.sizes(x, points);
        let (x, points) = (copy::contiguous(x)?, copy::contiguous(points)?);
        Tensor::build::<T>(&sizes, |y| {
            grid::sample(&self.0, e, x.as_slice::<T>().unwrap_or(&[]), points.as_slice::<T>().unwrap_or(&[]), y);
        })
    }
    fn backward<T: Element + Sample>(&self, cx: &Vjp, x: &Tensor, points: &Tensor) -> Result<[Option<Tensor>; 2]> {
        let e = self.extent(x, points);
        let [x, points, g] = [copy::contiguous(x)?, copy::contiguous(points)?, copy::contiguous(cx.g())?];
        let fresh = |i: usize, like: &Tensor| cx.when(i, || Tensor::zeros(like.sizes(), like.dtype()));
        let (mut gx, mut ggrid) = (fresh(0, &x)?, fresh(1, &points)?);
        fn slice<T: Element>(t: &mut Option<Tensor>) -> Option<&mut [T]> {
            // SAFETY: S1 to S3: a fresh contiguous tensor, which nobody else has yet.
            t.as_mut().map(|t| unsafe { std::slice::from_raw_parts_mut(t.ptr::<T>(), t.numel()) })
        }
        if let (Some(x), Some(p), Some(g)) = (x.as_slice::<T>(), points.as_slice::<T>(), g.as_slice::<T>())
            && !g.is_empty()
        {
            grid::backward(&self.0, e, (x, p, g), slice::<T>(&mut gx), slice::<T>(&mut ggrid));
        }
        Ok([gx, ggrid])
    }
    /// The reverse in recorded ops.
    fn pull_composed(&self, cx: &Vjp, x: &Tensor, points: &Tensor) -> Result<[Option<Tensor>; 2]> {
        let g = Self::flat(cx.g(), 2)?;
        let flat = Self::flat(x, 2)?;
        let mut gx = cx.when(0, || Tensor::zeros(flat.sizes(), x.dtype()))?;
        let mut slopes: Vec<Option<Tensor>> = vec![None; self.0.rank];
        for tap in taps(&self.0, points, &x.sizes()[2..])? {
            if let Some(gx) = &mut gx {
                *gx = tap.to(gx, &g.mul(&tap.weight)?)?;
            }
            if cx.needs(1) {
                let along = g.mul(&tap.of(&flat)?)?.sum_dims(&[1], true)?;
                for (sum, slope) in slopes.iter_mut().zip(&tap.slopes) {
                    let term = along.mul(slope)?;
                    *sum = Some(match sum.take() {
                        Some(sum) => sum.add(&term)?,
                        None => term,
                    });
                }
            }
        }
        let gx = gx.map(|gx| reshape_to(&gx, x.sizes())).transpose()?;
        let ggrid = cx.when(1, || {
            let parts: Vec<Tensor> = slopes.into_iter().flatten().collect();
            reshape_to(&view::stack(&parts, -1)?, points.sizes())
        })?;
        Ok([gx, ggrid])
    }
}

impl Primitive for GridSample {
    const NAME: &'static str = "grid_sampler";
    const SAVE: &'static [Save] = &[Save::input(0, "input"), Save::input(1, "grid")];
    const PARAMS: Params<Self> = params!(op;
        align_corners: op.0.align,
        interpolation_mode: op.0.mode as i64,
        padding_mode: op.0.border as i64,
    );
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        // The batch becomes part of the entries that the op knows itself.
        let joined = |i: usize| -> Result<Tensor> {
            let t = view::batch_first(xs[i], axes[i], batch)?;
            let mut sizes = Dims::from_slice(&t.sizes()[1..]);
            sizes[0] *= batch;
            reshape_to(&t, &sizes)
        };
        let y = apply1(*op, &[&joined(0)?, &joined(1)?])?;
        let mut sizes = Dims::from_slice(y.sizes());
        sizes[0] /= batch.max(1);
        sizes.insert(0, batch);
        Ok((out(reshape_to(&y, &sizes)?), smallvec![Some(0)]))
    });
    fn node(&self) -> &'static str {
        if self.0.rank == 2 { "GridSampler2DBackward0" } else { "GridSampler3DBackward0" }
    }
    fn kernel_name(&self) -> &'static str {
        if self.0.rank == 2 { "grid_sampler_2d_cpu_kernel_impl" } else { "grid_sampler_3d_cpu" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs[0], xs[1]).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, points) = (cx.saved(0)?, cx.saved(1)?);
        let fits = cx.g().sizes() == &self.sizes(x, points)[..] && cx.g().dtype() == x.dtype();
        let grads = if cx.differentiating() || !fits {
            self.pull_composed(cx, x, points)?
        } else {
            match_dtype!(floats, x.dtype(), T => self.backward::<T>(cx, x, points)?)
        };
        Ok(grads.into_iter().collect())
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, points) = (cx.xs[0], cx.xs[1]);
        let by_points = cx.t(1).map(|t| {
            let mut sum: Option<Tensor> = None;
            let flat = Self::flat(x, 2)?;
            let t = reshape_to(t, &[x.sizes()[0], 1, numel(&t.sizes()[1..=op.0.rank]), op.0.rank])?;
            for tap in taps(&op.0, points, &x.sizes()[2..])? {
                let mut weight: Option<Tensor> = None;
                for (d, slope) in tap.slopes.iter().enumerate() {
                    let term = slope.mul(&t.select(-1, d as i64)?)?;
                    weight = Some(match weight {
                        Some(w) => w.add(&term)?,
                        None => term,
                    });
                }
                if let Some(weight) = weight {
                    let term = tap.of(&flat)?.mul(&weight)?;
                    sum = Some(match sum {
                        Some(sum) => sum.add(&term)?,
                        None => term,
                    });
                }
            }
            sum.map(|sum| reshape_to(&sum, cx.outs[0].sizes())).transpose()
        });
        let by_points = by_points.transpose()?.flatten();
        let by_planes = cx.t(0).map(|t| apply1(*op, &[t, points])).transpose()?;
        Jvp::sum([by_planes, by_points]).map(maybe)
    });
}

fn sampled(op: &'static str, x: &Tensor, points: &Tensor, s: Sampler) -> Result<Tensor> {
    let fail = |detail: String| Err(Error::shape(op, detail));
    let both = || format!("input with sizes {} and grid with sizes {}", Sizes(x.sizes()), Sizes(points.sizes()));
    if x.ndim() == 0 || points.ndim() == 0 || x.sizes()[0] != points.sizes()[0] {
        return fail(format!("grid_sampler(): expected grid and input to have same batch size, but got {}", both()));
    }
    if points.sizes()[points.ndim() - 1] + 2 != x.ndim() {
        return fail(format!(
            "grid_sampler(): expected grid to have size {} in last dimension, but got grid with sizes {}",
            x.ndim() as i64 - 2,
            Sizes(points.sizes())
        ));
    }
    if let Some(a) = (2..x.ndim()).find(|&a| x.sizes()[a] == 0) {
        return fail(format!(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {} with dimension {a} \
             being empty",
            Sizes(x.sizes())
        ));
    }
    if !(4..=5).contains(&x.ndim()) || points.ndim() != x.ndim() {
        return fail(format!(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got {}",
            both()
        ));
    }
    if x.ndim() == 5 && s.mode == Mode::Cubic {
        return fail("grid_sampler(): bicubic interpolation only supports 4D input".into());
    }
    if x.dtype() != points.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "expected scalar type {} but found {}: input and grid must have one dtype",
                x.dtype().scalar_type_name(),
                points.dtype().scalar_type_name()
            ),
        ));
    }
    apply1(GridSample(Sampler { rank: x.ndim() - 2, ..s }), &[x, points])
}

/// The modes as numbers, which torch's own functions take.
fn numbered(op: &'static str, mode: i64, border: i64, align: bool) -> Result<Sampler> {
    let mode = match mode {
        0 => Mode::Linear,
        1 => Mode::Nearest,
        2 => Mode::Cubic,
        _ => return Err(Error::value(op, format!("interpolation_mode must be 0, 1 or 2, got {mode}"))),
    };
    let border = match border {
        0 => Border::Zeros,
        1 => Border::Clamp,
        2 => Border::Reflect,
        _ => return Err(Error::value(op, format!("padding_mode must be 0, 1 or 2, got {border}"))),
    };
    Ok(Sampler { rank: 2, mode, border, align })
}

fn warn_of_default(align: Option<bool>) -> Result<bool> {
    match align {
        Some(align) => Ok(align),
        None => {
            crate::warn::warn(
                "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify \
                 align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            )?;
            Ok(false)
        }
    }
}

/// Samples of `input` at the points of `grid`.
///
/// Args: `input` (N, C, H, W) or (N, C, D, H, W), floating dtype; `grid` (N, H', W', 2) or (N, D', H', W', 3) of
/// the same dtype: for each sample its x, y (and z), where -1 and 1 are the edges; `mode` 'bilinear' (also of three
/// axes), 'nearest' or 'bicubic' (two axes); `padding_mode` what is outside: 'zeros', 'border' for the nearest element,
/// 'reflection'; `align_corners` lets -1 and 1 be the centres of the outermost elements instead. Returns: a tensor (N,
/// C, H', W') or (N, C, D', H', W'). Derivative: `g` times the weights to the elements, and times the weights' slopes
/// to the points; of any order. Raises: ValueError for other modes; RuntimeError if sizes or dtypes are incompatible.
///
/// >>> x = rg.tensor([[[[1.0, 3.0], [5.0, 7.0]]]])
/// >>> rg.nn.functional.grid_sample(x, rg.tensor([[[[0.0, 0.0], [1.0, 1.0]]]]), align_corners=True).tolist()
/// [[[[4.0, 7.0]]]]
#[op(function, module = "nn.functional", "(mode='bilinear', padding_mode='zeros', align_corners=None)")]
pub fn grid_sample(
    input: &Tensor,
    grid: &Tensor,
    mode: &str,
    padding_mode: &str,
    align_corners: Option<bool>,
) -> Result<Tensor> {
    const OP: &str = "grid_sample";
    let mode = match mode {
        "bilinear" => 0,
        "nearest" => 1,
        "bicubic" => 2,
        _ => {
            let detail = "expected mode to be 'bilinear', 'nearest' or 'bicubic', but got:";
            return Err(Error::value(OP, format!("{detail} '{mode}'")));
        }
    };
    let border = match padding_mode {
        "zeros" => 0,
        "border" => 1,
        "reflection" => 2,
        _ => {
            let detail = "expected padding_mode to be 'zeros', 'border', or 'reflection', but got:";
            return Err(Error::value(OP, format!("{detail} '{padding_mode}'")));
        }
    };
    let align = warn_of_default(align_corners)?;
    sampled(OP, input, grid, numbered(OP, mode, border, align)?)
}

/// `nn.functional.grid_sample` with its modes as numbers, in the order in which they are listed there.
///
/// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
/// Raises: as there.
///
/// >>> rg.grid_sampler(rg.ones(1, 1, 2, 2), rg.zeros(1, 1, 1, 2), 0, 0, True).tolist()
/// [[[[1.0]]]]
#[op(function)]
pub fn grid_sampler(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    const OP: &str = "grid_sampler";
    sampled(OP, input, grid, numbered(OP, interpolation_mode, padding_mode, align_corners)?)
}

/// `grid_sampler` of planes of two axes.
///
/// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
/// Raises: as there.
///
/// >>> rg.grid_sampler_2d(rg.ones(1, 1, 2, 2), rg.zeros(1, 1, 1, 2), 0, 0, True).tolist()
/// [[[[1.0]]]]
#[op(function)]
pub fn grid_sampler_2d(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    const OP: &str = "grid_sampler_2d";
    sampled(OP, input, grid, numbered(OP, interpolation_mode, padding_mode, align_corners)?)
}

/// `grid_sampler` of blocks of three axes.
///
/// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
/// Raises: as there.
///
/// >>> rg.grid_sampler_3d(rg.ones(1, 1, 2, 2, 2), rg.zeros(1, 1, 1, 1, 3), 0, 0, True).tolist()
/// [[[[[1.0]]]]]
#[op(function)]
pub fn grid_sampler_3d(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    const OP: &str = "grid_sampler_3d";
    sampled(OP, input, grid, numbered(OP, interpolation_mode, padding_mode, align_corners)?)
}

/// `affine_grid`: the coordinates of every position, and a 1, times the transposed matrix. Reverse: the same product
/// the other way around.
#[derive(Clone, Debug)]
struct AffineGrid {
    size: Vec<i64>,
    align: bool,
    /// The matrices' gradient from that of the grid.
    reversed: bool,
}

impl AffineGrid {
    /// Coordinates (positions, rank + 1).
    fn base(&self, dtype: DType) -> Result<Tensor> {
        let plane = &self.size[2..];
        let along = |&n: &i64| -> Vec<f64> {
            let by = if self.align { (n - 1).max(1) } else { n };
            (0..n).map(|i| (2 * i + 1 - n) as f64 / by as f64).collect()
        };
        let sizes = [plane.iter().product::<i64>() as usize, plane.len() + 1];
        let base = Tensor::build::<f64>(&sizes, |values| {
            let coordinates: Vec<Vec<f64>> = plane.iter().map(along).collect();
            let mut position = vec![0; plane.len()];
            for values in values.chunks_exact_mut(plane.len() + 1) {
                values[plane.len()] = 1.0;
                for (value, (axis, &i)) in values.iter_mut().zip(coordinates.iter().zip(&position).rev()) {
                    *value = axis[i];
                }
                for (i, axis) in position.iter_mut().zip(&coordinates).rev() {
                    *i += 1;
                    if *i < axis.len() {
                        break;
                    }
                    *i = 0;
                }
            }
        })?;
        copy::cast(&base, dtype)
    }
}

impl Primitive for AffineGrid {
    const NAME: &'static str = "affine_grid_generator";
    const SAVE: &'static [Save] = &[];
    // The matrices are the last two axes, or the positions and coordinates behind the batch.
    const PARAMS: Params<Self> = params!(op; align_corners: op.align, size: &op.size[..]);
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let t = view::batch_first(xs[0], axes[0], batch)?;
        let mut sizes = Dims::from_slice(&t.sizes()[1..]);
        sizes[0] *= batch;
        let joined = Self { size: [&[op.size[0] * batch as i64], &op.size[1..]].concat(), ..op.clone() };
        let y = apply1(joined, &[&reshape_to(&t, &sizes)?])?;
        let mut sizes = Dims::from_slice(y.sizes());
        sizes[0] = op.size[0] as usize;
        sizes.insert(0, batch);
        Ok((out(reshape_to(&y, &sizes)?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        if self.reversed { "AffineGridGeneratorBackwardBackward0" } else { "AffineGridGeneratorBackward0" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = &copy::contiguous(xs[0])?;
        let (n, rank) = (self.size[0] as usize, self.size.len() - 2);
        let base = self.base(x.dtype())?;
        let count = base.sizes()[0];
        let laid = |x: &Tensor, sizes: &[usize], strides: &[isize]| {
            Tensor::from_parts(x.storage(), x.dtype(), sizes, strides, x.storage_offset())
        };
        let base = laid(&base, &[n, count, rank + 1], &[0, rank as isize + 1, 1])?;
        if self.reversed {
            let g = laid(x, &[n, count, rank], &contiguous_strides(&[n, count, rank]))?;
            return fresh3(Self::NAME, flipped(&g), plain(&base)).map(out);
        }
        let plane = self.size[2..].iter().map(|&n| n as usize);
        let sizes: Dims = std::iter::once(n).chain(plane).chain([rank]).collect();
        let grid = fresh3(Self::NAME, plain(&base), flipped(x))?;
        laid(&grid, &sizes, &contiguous_strides(&sizes)).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(Self { reversed: !self.reversed, ..self.clone() }, &[cx.g()]).map(one)
    }
}

fn affine(op: &'static str, theta: &Tensor, size: &[i64], align: bool) -> Result<Tensor> {
    let shown = || Shape(theta.sizes()).to_string();
    if !(4..=5).contains(&size.len()) {
        return Err(Error::not_implemented(format!(
            "{op}: affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size:?}."
        )));
    }
    let rank = size.len() - 2;
    if theta.ndim() != 3 || theta.sizes()[1..] != [rank, rank + 1] {
        return Err(Error::value(
            op,
            format!(
                "Expected a batch of {rank}D affine matrices of shape Nx{rank}x{} for size {size:?}. Got {}.",
                rank + 1,
                shown()
            ),
        ));
    }
    if size.iter().any(|&n| n <= 0) {
        return Err(Error::value(op, format!("Expected non-zero, positive output size. Got {size:?}")));
    }
    if theta.sizes()[0] as i64 != size[0] {
        return Err(Error::shape(
            op,
            format!(
                "Expected size for first two dimensions of batch2 tensor to be: {} but got: matrices {}",
                size[0],
                shown()
            ),
        ));
    }
    let whole: Dims = size.iter().map(|&n| n as usize).collect();
    crate::tensor::layout::checked_numel(op, &whole)?;
    apply1(AffineGrid { size: size.to_vec(), align, reversed: false }, &[theta])
}

/// Points for `grid_sample` that affine maps send every position of a result to.
///
/// Args: `theta` matrices (N, 2, 3), or (N, 3, 4) for three axes, floating dtype; `size` the sizes (N, C, H, W) or (N,
/// C, D, H, W) of the result; `align_corners` as for `grid_sample`.
/// Returns: a grid (N, H, W, 2) or (N, D, H, W, 3). Derivative: the products of `g` with the coordinates, added up.
/// Raises: ValueError for other shapes and dtypes; NotImplementedError for other numbers of axes.
///
/// >>> theta = rg.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
/// >>> rg.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=False).tolist()
/// [[[[-0.5, 0.0], [0.5, 0.0]]]]
#[op(function, module = "nn.functional", "(align_corners=None)")]
pub fn affine_grid(theta: &Tensor, size: &[i64], align_corners: Option<bool>) -> Result<Tensor> {
    const OP: &str = "affine_grid";
    let align = warn_of_default(align_corners)?;
    if theta.dtype().category() != Category::Float {
        return Err(Error::value(
            OP,
            format!("Expected theta to have floating point type, but got {}", theta.dtype().name()),
        ));
    }
    let grid = affine(OP, theta, size, align)?;
    if align && size[2..].contains(&1) {
        crate::warn::warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not \
             an intended use case of affine_grid. See the documentation of affine_grid for details.",
        )?;
    }
    Ok(grid)
}

/// `nn.functional.affine_grid` under the name of its kernel.
///
/// Args: `theta`, `size`, `align_corners` as there. Returns, Derivative, Raises: as there.
///
/// >>> theta = rg.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
/// >>> rg.affine_grid_generator(theta, (1, 1, 1, 2), True).tolist()
/// [[[[-1.0, 0.0], [1.0, 0.0]]]]
#[op(function)]
pub fn affine_grid_generator(theta: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    affine("affine_grid_generator", theta, size, align_corners)
}
