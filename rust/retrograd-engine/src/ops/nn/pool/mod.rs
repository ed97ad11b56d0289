//! Pooling: what its ops have in common. Windows are along the last two or three axes; one axis is the last of two.

pub mod adaptive;
pub mod avg;
pub mod fractional;
pub mod max;
pub mod norm;
pub mod pool_indices;
#[cfg(test)]
mod tests;
pub mod unpool;

pub use adaptive::{adaptive_avg_pool2d, adaptive_max_pool2d};
pub use avg::avg_pool2d;
pub use max::max_pool2d;

pub(crate) use adaptive::adaptive_avg;

use crate::error::{Error, Result, Sizes};
use crate::kernels::pool::{PoolAxis, Window, Windows};
use crate::ops::{Entry, Value};
use crate::tensor::{Dims, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &fractional::FRACTIONAL_MAX_POOL2D,
    &fractional::FRACTIONAL_MAX_POOL3D,
    &fractional::FRACTIONAL_MAX_POOL2D_WITH_INDICES,
    &fractional::FRACTIONAL_MAX_POOL3D_WITH_INDICES,
    &max::MAX_POOL1D,
    &max::MAX_POOL2D,
    &max::MAX_POOL3D,
    &max::MAX_POOL1D_WITH_INDICES,
    &max::MAX_POOL2D_WITH_INDICES,
    &max::MAX_POOL3D_WITH_INDICES,
    &max::TOP_MAX_POOL1D,
    &max::TOP_MAX_POOL2D,
    &max::TOP_MAX_POOL3D,
    &max::TOP_MAX_POOL1D_WITH_INDICES,
    &avg::AVG_POOL1D,
    &avg::AVG_POOL2D,
    &avg::AVG_POOL3D,
    &avg::TOP_AVG_POOL1D,
    &adaptive::ADAPTIVE_AVG_POOL1D,
    &adaptive::ADAPTIVE_AVG_POOL2D,
    &adaptive::ADAPTIVE_AVG_POOL3D,
    &adaptive::TOP_ADAPTIVE_AVG_POOL1D,
    &adaptive::ADAPTIVE_MAX_POOL1D,
    &adaptive::ADAPTIVE_MAX_POOL2D,
    &adaptive::ADAPTIVE_MAX_POOL3D,
    &adaptive::ADAPTIVE_MAX_POOL1D_WITH_INDICES,
    &adaptive::ADAPTIVE_MAX_POOL2D_WITH_INDICES,
    &adaptive::ADAPTIVE_MAX_POOL3D_WITH_INDICES,
    &adaptive::TOP_ADAPTIVE_MAX_POOL1D,
    &norm::LP_POOL1D,
    &norm::LP_POOL2D,
    &norm::LP_POOL3D,
    &unpool::MAX_UNPOOL1D,
    &unpool::MAX_UNPOOL2D,
    &unpool::MAX_UNPOOL3D,
];

/// A number for each of the last three axes; that of the depth is unused where there are two.
pub(crate) type Triple = [i64; 3];

/// The positions of the windows.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Regular windows: as many of equal size as fit.
    Regular {
        kernel: Triple,
        stride: Triple,
        padding: Triple,
        dilation: Triple,
        ceil: bool,
        /// Not given, the stride is the kernel size.
        strided: bool,
    },
    /// Adaptive windows, which together cover the whole plane.
    Adaptive { out: Triple },
}

/// Pooling over the last `rank` axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    rank: usize,
    layout: Layout,
    /// The windows of averages count padding among their elements.
    include_pad: bool,
    divisor: Option<i64>,
}

/// The last three axes; that of the depth has size 1 where there are two.
fn plane(sizes: &[usize], rank: usize) -> [usize; 3] {
    let mut plane = [1; 3];
    plane[3 - rank..].copy_from_slice(&sizes[sizes.len() - rank..]);
    plane
}

/// `sizes` with the last `rank` axes replaced.
fn with_plane(sizes: &[usize], rank: usize, plane: [usize; 3]) -> Dims {
    let mut sizes = Dims::from_slice(sizes);
    let lead = sizes.len() - rank;
    sizes[lead..].copy_from_slice(&plane[3 - rank..]);
    sizes
}

impl Pool {
    fn adaptive(rank: usize, out: Triple) -> Self {
        Self { rank, layout: Layout::Adaptive { out }, include_pad: true, divisor: None }
    }
    fn is_adaptive(&self) -> bool {
        matches!(self.layout, Layout::Adaptive { .. })
    }
    /// Sizes of the result, whose operand was checked.
    fn out_sizes(&self, sizes: &[usize]) -> Dims {
        let mut out = plane(sizes, self.rank);
        for (axis, n) in out.iter_mut().enumerate().skip(3 - self.rank) {
            *n = self.out_size(axis, *n).max(0) as usize;
        }
        with_plane(sizes, self.rank, out)
    }
    /// How many windows there are along an axis of size `n`; at most 0 if none fits.
    fn out_size(&self, axis: usize, n: usize) -> i128 {
        match self.layout {
            Layout::Adaptive { out } => out[axis].into(),
            Layout::Regular { kernel, stride, padding, dilation, ceil, .. } => {
                let [k, s, p, d] = [kernel, stride, padding, dilation].map(|v| i128::from(v[axis]));
                let reach = n as i128 + 2 * p - d * (k - 1) - 1 + if ceil { s - 1 } else { 0 };
                let m = reach.div_euclid(s) + 1;
                // With `ceil`, the last window starts inside the axis or the padding in front of it.
                if ceil && (m - 1) * s >= n as i128 + p { m - 1 } else { m }
            }
        }
    }
    /// The windows of planes of operand `sizes`; there is at least one.
    fn windows(&self, sizes: &[usize]) -> Windows {
        let (inner, outer) = (plane(sizes, self.rank), plane(&self.out_sizes(sizes), self.rank));
        let axis = |a: usize| match self.layout {
            _ if a < 3 - self.rank => split(1, 1),
            Layout::Adaptive { .. } => split(inner[a], outer[a]),
            Layout::Regular { kernel, stride, padding, dilation, .. } => {
                let [k, s, p, d] = [kernel, stride, padding, dilation].map(|v| v[a]);
                tile(inner[a], outer[a], [k, s, p, d], self.include_pad)
            }
        };
        Windows { axes: [axis(0), axis(1), axis(2)], divisor: self.divisor }
    }
    /// The axes that the op works on.
    fn of(&self, triple: Triple) -> Value {
        Value::from(&triple[3 - self.rank..])
    }
    /// `kernel_size`, `stride` and similar arguments as nodes show them.
    fn params(&self, dilated: bool) -> Vec<(&'static str, Value)> {
        let Layout::Regular { kernel, stride, padding, dilation, ceil, strided } = self.layout else {
            return Vec::new();
        };
        let none: &[i64] = &[];
        let mut all = vec![
            ("ceil_mode", ceil.into()),
            ("kernel_size", self.of(kernel)),
            ("padding", self.of(padding)),
            ("stride", if strided { self.of(stride) } else { none.into() }),
        ];
        if dilated {
            all.push(("dilation", self.of(dilation)));
        } else {
            let divisor = self.divisor.map_or(Value::None, Value::from);
            all.extend([("count_include_pad", self.include_pad.into()), ("divisor_override", divisor)]);
        }
        all
    }
}

/// `m` windows that divide an axis of size `n` as evenly as may be.
fn split(n: usize, m: usize) -> PoolAxis {
    let at = |i: usize, up: usize| ((i as u128 * n as u128 + up as u128) / m as u128) as usize;
    let windows: Vec<Window> = (0..m)
        .map(|i| {
            let (start, end) = (at(i, 0), at(i + 1, m - 1));
            Window { start, end, span: end - start }
        })
        .collect();
    let even = m > 0 && n.is_multiple_of(m);
    let taps = if even { n / m } else { 0 };
    PoolAxis { size: n, step: 1, windows, whole: 0..if even { m } else { 0 }, stride: taps, taps }
}

/// `m` windows of `k` positions with dilation `d`, stride `s` and padding `p`, along an axis of size `n`.
fn tile(n: usize, m: usize, [k, s, p, d]: [i64; 4], include_pad: bool) -> PoolAxis {
    let [size, k, s, p, d] = [n as i128, k.into(), s.into(), p.into(), d.into()];
    let windows = (0..m as i128)
        .map(|i| {
            let first = i * s - p;
            let reach = first + (k - 1) * d + 1;
            // The first position inside.
            let start = if first < 0 { first + (d - 1 - first) / d * d } else { first };
            let (start, end) = (start as usize, reach.clamp(0, size) as usize);
            let span = if include_pad { (reach.min(size + p) - first) as usize } else { end.saturating_sub(start) };
            Window { start, end, span }
        })
        .collect();
    let from = ((p + s - 1) / s).clamp(0, m as i128) as usize;
    let reach = size - 1 - (k - 1) * d + p;
    let to = if reach < 0 { 0 } else { (reach / s + 1).min(m as i128) as usize };
    let whole = from..to.max(from);
    // Steps and strides that are longer than the axis are never taken.
    let bound = |v: i128| v.min(isize::MAX as i128 / 2) as usize;
    PoolAxis { size: n, step: bound(d), windows, whole, stride: bound(s), taps: bound(k) }
}

/// One number for each of the `rank` last axes, as `kernel_size` and similar arguments are given: one for all or one
/// each.
fn triple(given: &[i64], rank: usize, wrong: impl FnOnce() -> Error) -> Result<Triple> {
    let mut all = [1; 3];
    match given {
        [one] => all[3 - rank..].fill(*one),
        each if each.len() == rank => all[3 - rank..].copy_from_slice(each),
        _ => return Err(wrong()),
    }
    Ok(all)
}

/// The names of the axes in messages.
const AXES: [&str; 3] = ["T", "H", "W"];

/// `kT: 1 kH: 2 kW: 3`.
fn listed(rank: usize, prefix: &str, v: Triple) -> String {
    let of = |axis: usize| format!("{prefix}{}: {}", AXES[axis], v[axis]);
    (3 - rank..3).map(of).collect::<Vec<_>>().join(" ")
}

/// `1x2x3`.
fn crossed(sizes: impl IntoIterator<Item = impl ToString>) -> String {
    sizes.into_iter().map(|n| n.to_string()).collect::<Vec<_>>().join("x")
}

/// What the ops with regular windows ask of them and of an operand with its axis of planes, and perhaps of a batch.
fn check_regular(op: &'static str, pool: &Pool, x: &Tensor, average: bool) -> Result<()> {
    let Layout::Regular { kernel, stride, padding, dilation, .. } = pool.layout else { return Ok(()) };
    let rank = pool.rank;
    let fail = |detail: String| Err(Error::shape(op, detail));
    let axes = 3 - rank..3;
    for a in axes.clone() {
        let (k, p, d) = (i128::from(kernel[a]), i128::from(padding[a]), i128::from(dilation[a]));
        if stride[a] == 0 {
            return fail("stride should not be zero".into());
        }
        if p < 0 {
            return fail(format!("pad must be non-negative, but got pad: {p}"));
        }
        if p > ((k - 1) * d + 1) / 2 {
            return fail(format!(
                "pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            ));
        }
    }
    for (v, prefix, what) in [(kernel, "k", "kernel size"), (stride, "d", "stride"), (dilation, "dilation", "dilation")]
    {
        if axes.clone().any(|a| v[a] <= 0) {
            return fail(format!("{what} should be greater than zero, but got {}", listed(rank, prefix, v)));
        }
    }
    let sizes = x.sizes();
    let empty = sizes.len() > rank && sizes[sizes.len() - rank - 1..].contains(&0);
    if rank == 3 && empty {
        return fail(format!(
            "Expected input's non-batch dimensions to have positive length, but input has a shape of {} and non-batch \
             dimension {} has length zero!",
            Sizes(sizes),
            sizes[sizes.len() - rank - 1..].iter().position(|&n| n == 0).unwrap_or(0)
        ));
    }
    if !(rank + 1..=rank + 2).contains(&sizes.len()) || empty {
        return fail(format!(
            "Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got:{}",
            rank + 1,
            rank + 2,
            Sizes(sizes)
        ));
    }
    let inner = plane(sizes, rank);
    if rank == 3 && average && axes.clone().any(|a| (inner[a] as i128) < kernel[a].into()) {
        let image = listed(3, "", inner.map(|n| n as i64));
        return fail(format!("input image ({image}) smaller than kernel size ({})", listed(3, "k", kernel)));
    }
    if axes.clone().any(|a| padding[a] > kernel[a] / 2) {
        return fail(format!(
            "pad should be smaller than or equal to half of kernel size, but got {} {}",
            listed(rank, "pad", padding),
            listed(rank, "k", kernel)
        ));
    }
    let out: Vec<i128> = axes.map(|a| pool.out_size(a, inner[a])).collect();
    if out.iter().any(|&n| n < 1) {
        let planes = sizes[sizes.len() - rank - 1];
        return fail(format!(
            "Given input size: ({planes}x{}). Calculated output size: ({planes}x{}). Output size is too small",
            crossed(&inner[3 - rank..]),
            crossed(out)
        ));
    }
    Ok(())
}
