//! Sums into the large side: `x[i] = start + sum of w[k] y[o]` over the elements and taps that meet there, `i = o *
//! stride - pad + k * dilation`.
//!
//! Elements of one residue modulo the stride meet the same taps, at positions with a fixed distance: they are a
//! convolution of the small side with those taps in reverse order. So no sum is accumulated in memory, and no factor is
//! a zero between elements.

use std::ops::Range;

use super::forward::{Conv, constant, reaches_end};
use super::grid::gcd;
use super::{ConvAxis, ConvScalar, Shape, each};
use crate::parallel::{SharedPtr, split};

/// The elements `first + t * stride` of the large side along an axis, and the taps `tap + q * period` that they meet.
#[derive(Clone, Copy)]
struct Residue {
    first: usize,
    stride: usize,
    /// How many elements there are.
    count: usize,
    tap: usize,
    period: usize,
    /// How many taps there are.
    taps: usize,
    /// The convolution that sums them; its kernel has the taps in reverse. Without taps there is none.
    axis: ConvAxis,
}

impl Residue {
    fn all(a: &ConvAxis) -> Vec<Self> {
        let common = gcd(a.stride, a.dilation);
        let (period, dilation) = (a.stride / common, a.dilation / common);
        let residue = |first: usize| {
            let count = (a.large - first).div_ceil(a.stride);
            // Of tap k at position o: `first + pad - k * dilation` must be a multiple of the stride.
            let distance = |k: usize| first as isize + a.pad - (k * a.dilation) as isize;
            let tap = (0..period.min(a.kernel)).find(|&k| distance(k) % a.stride as isize == 0);
            let (tap, taps) = tap.map_or((0, 0), |tap| (tap, (a.kernel - tap).div_ceil(period)));
            let reach = (taps.max(1) - 1) * dilation;
            let pad = reach as isize - distance(tap) / a.stride as isize;
            let axis = ConvAxis { large: a.small, small: count, kernel: taps.max(1), stride: 1, dilation, pad };
            Self { first, stride: a.stride, count, tap, period, taps, axis }
        };
        (0..a.stride.min(a.large)).map(residue).collect()
    }
    /// The tap at place `q` of the reversed kernel.
    fn tap(&self, q: usize) -> usize {
        self.tap + self.period * (self.taps - 1 - q)
    }
}

/// Channels of either side whose weights are turned together.
const SQUARE: usize = 16;
/// What an element takes that is moved alone, in nanoseconds.
const ELEMENT_COST: f64 = 0.5;

/// The elements of one residue along each axis.
struct Part {
    residues: [Residue; 3],
    /// None where no tap reaches.
    conv: Option<Conv>,
    /// Where its weights begin, in a group's.
    weights: usize,
}

/// The parts of a convolution, and what of `work` they use.
struct Parts {
    parts: Vec<Part>,
    /// Elements of the rearranged weights, of all groups.
    weights: usize,
    /// Elements of a padded image.
    copy: usize,
    /// Elements of a part's result, if there are several.
    result: usize,
    /// Parts that differ in the last axis alone follow each other, so many.
    beside: usize,
}

impl Parts {
    fn new(s: &Shape) -> Self {
        let residues = [0, 1, 2].map(|i| Residue::all(&s.axes[i]));
        let weights = s.groups * s.small * s.large * s.taps();
        let mut all = Self { parts: Vec::new(), weights, copy: 0, result: 0, beside: residues[2].len() };
        let mut weights = 0;
        let is_one = residues.iter().all(|r| r.len() == 1);
        let images = if is_one && s.groups == 1 { s.batch } else { 1 };
        for at in each([0, 1, 2].map(|i: usize| residues[i].len())) {
            let residues = [0, 1, 2].map(|i| residues[i][at[i]]);
            let taps: usize = residues.iter().map(|r| r.taps).product();
            let some = s.small > 0 && taps > 0 && s.small_len() > 0;
            let conv = some.then(|| Conv::new(s.large, s.small, residues.map(|r| r.axis), images));
            all.copy = all.copy.max(conv.as_ref().map_or(0, Conv::scratch_len));
            all.parts.push(Part { residues, conv, weights });
            weights += s.large * s.small * taps;
        }
        if all.parts.len() > 1 {
            all.result = s.large * all.parts.iter().map(Part::count).max().unwrap_or(0);
        }
        all
    }
    fn scratch_len(&self) -> usize {
        self.weights + self.copy + self.result * self.beside
    }
}

impl Part {
    fn count(&self) -> usize {
        self.residues.iter().map(|r| r.count).product()
    }

    /// The taps of this part, channels of both sides exchanged, in the order of its convolution.
    ///
    /// # Safety
    /// `w` is readable for the weights of one group; `to` is writable for those of the part, and overlaps nothing else.
    /// No other thread writes what is read or touches what is written during the call.
    unsafe fn turn<T: Copy>(&self, s: &Shape, w: *const T, to: *mut T) {
        let kernel = s.axes.map(|a| a.kernel);
        let taps: Vec<usize> = each(self.residues.map(|r| r.taps))
            .map(|q| (0..3).fold(0, |at, i| at * kernel[i] + self.residues[i].tap(q[i])))
            .collect();
        let (w, to, kernel) = (SharedPtr(w.cast_mut()), SharedPtr(to), s.taps());
        let cost = (s.large * s.small * taps.len()) as f64 * ELEMENT_COST;
        // In squares of channels, whose lines stay in the cache until all of them are used.
        split(s.large, SQUARE, cost, &|channels| {
            for (l, k) in
                channels.clone().step_by(SQUARE).flat_map(|l| (0..s.small).step_by(SQUARE).map(move |k| (l, k)))
            {
                for large in l..channels.end.min(l + SQUARE) {
                    for small in k..s.small.min(k + SQUARE) {
                        // SAFETY: our duties: the taps of one pair of channels.
                        unsafe {
                            let from = w.get().cast_const().add((small * s.large + large) * kernel);
                            let to = to.get().add((large * s.small + small) * taps.len());
                            for (i, &tap) in taps.iter().enumerate() {
                                *to.add(i) = *from.add(tap);
                            }
                        }
                    }
                }
            }
        });
    }
}

/// Writes the results of parts that differ in the last axis alone to their elements of the large side.
///
/// # Safety
/// `from` is readable for the results, one row per channel, `apart` elements from one part to the next; `x` is writable
/// for the channels of the large side. No other thread writes what is read or touches what is written during the call.
unsafe fn scatter<T: Copy>(s: &Shape, parts: &[Part], from: *const T, apart: usize, x: *mut T) {
    let [d, h, w] = parts[0].residues;
    let [_, height, width] = s.axes.map(|a| a.large);
    let (from, x) = (SharedPtr(from.cast_mut()), SharedPtr(x));
    let lines = d.count * h.count;
    split(s.large, 1, (s.large * lines * width) as f64 * ELEMENT_COST, &|channels| {
        for (channel, i, j) in
            channels.flat_map(|c| (0..d.count).flat_map(move |i| (0..h.count).map(move |j| (c, i, j))))
        {
            let row = (channel * s.axes[0].large + d.first + i * d.stride) * height + h.first + j * h.stride;
            let line = |at: usize| {
                let count = parts[at].residues[2].count;
                let from =
                    from.get().cast_const().wrapping_add(at * apart + ((channel * d.count + i) * h.count + j) * count);
                (from, count)
            };
            // SAFETY: our duties: the parts' elements of a row are inside it; no other piece has this channel.
            unsafe {
                let to = x.get().add(row * width);
                if parts.len() == 2 && w.stride == 2 {
                    // Known to the compiler, which puts vectors together.
                    let ((even, evens), (odd, odds)) = (line(0), line(1));
                    for k in 0..odds {
                        *to.add(2 * k) = *even.add(k);
                        *to.add(2 * k + 1) = *odd.add(k);
                    }
                    if evens > odds {
                        *to.add(2 * odds) = *even.add(odds);
                    }
                } else {
                    for (at, part) in parts.iter().enumerate() {
                        let (from, count) = line(at);
                        for k in 0..count {
                            *to.add(part.residues[2].first + k * w.stride) = *from.add(k);
                        }
                    }
                }
            }
        }
    });
}

/// Elements of `work` that [`transposed`] needs.
pub fn transposed_scratch(s: &Shape) -> usize {
    Parts::new(s).scratch_len()
}

/// The transposed convolution of some images and groups, as [`forward`](super::forward) counts and divides them.
///
/// # Safety
/// 1. `y`, `w` and `bias` are readable for the small side, the weight, and the channels of the large side of `s`;
///    `bias` may be null, for zeros.
/// 2. `x` is writable for the large side, `work` for [`transposed_scratch`] elements; both overlap nothing else.
/// 3. No other thread writes what is read or touches what is written during the call.
pub unsafe fn transposed<T: ConvScalar>(
    s: &Shape,
    units: Range<usize>,
    y: *const T,
    w: *const T,
    bias: *const T,
    x: *mut T,
    work: *mut T,
) {
    if s.large == 0 || s.large_len() == 0 {
        return;
    }
    let all = Parts::new(s);
    let group = s.small * s.large * s.taps();
    let (turned, copy, result) = (work, work.wrapping_add(all.weights), work.wrapping_add(all.weights + all.copy));
    // The groups of these units: they follow each other, from the first one on.
    let groups = units.clone().take(s.groups).map(|at| at % s.groups);
    for (part, g) in all.parts.iter().flat_map(|part| groups.clone().map(move |g| (part, g))) {
        if part.conv.is_some() {
            // SAFETY: duties 1 and 2; the parts have each tap once.
            unsafe { part.turn(s, w.add(g * group), turned.add(g * group + part.weights)) }
        }
    }
    let (large, small) = (s.large * s.large_len(), s.small * s.small_len());
    let together = all.parts[0].conv.as_ref().map_or(1, |conv| conv.together);
    for at in units.clone().step_by(together) {
        let (g, images) = (at % s.groups, together.min(units.end - at));
        let start = if bias.is_null() { bias } else { bias.wrapping_add(g * s.large) };
        for parts in all.parts.chunks(all.beside) {
            // SAFETY: our duties, for these images and group, one image if there are several parts; a single part has
            // all elements of the large side in order.
            unsafe {
                let x = x.add(at * large);
                for (i, part) in parts.iter().enumerate() {
                    let to = if all.parts.len() == 1 { x } else { result.add(i * all.result) };
                    match &part.conv {
                        Some(conv) => {
                            let w = turned.add(g * group + part.weights).cast_const();
                            let last = reaches_end(at + images - 1, s.batch * s.groups, small);
                            conv.run(images, y.add(at * small), last, w, start, to, copy);
                        }
                        None => constant(s.large, part.count(), start, to),
                    }
                }
                if all.parts.len() > 1 {
                    scatter(s, parts, result.cast_const(), all.result, x);
                }
            }
        }
    }
}
