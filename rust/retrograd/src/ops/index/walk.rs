//! Where an advanced index leads: offsets into memory, checked before anything is read or written, and the loops over
//! them.

use crate::error::{Error, ErrorKind, Result};
use crate::kernels::copy;
use crate::kernels::real::Num;
use crate::kernels::simd::prefetch_lines;
use crate::kernels::strided::{Axes, Offsets, axis, plan_in_order};
use crate::tensor::layout::{broadcast, numel};
use crate::tensor::{DType, Dims, Strides, Tensor};

/// Positions of the elements that are not zero, one vector per axis, in row-major order.
pub fn nonzero_positions(x: &Tensor) -> Result<Vec<Vec<i64>>> {
    let truth = copy::contiguous(&copy::cast(x, DType::Bool)?)?;
    let truth = truth.as_slice::<bool>().unwrap_or(&[]);
    let mut positions = vec![Vec::new(); x.ndim()];
    for at in truth.iter().enumerate().filter_map(|(i, &b)| b.then_some(i)) {
        let mut rest = at;
        for (d, p) in positions.iter_mut().enumerate().rev() {
            p.push((rest % x.sizes()[d]) as i64);
            rest /= x.sizes()[d];
        }
    }
    Ok(positions)
}

/// Whether an index tensor is a mask: it stands for the positions of its true elements.
pub fn is_mask(t: &Tensor) -> bool {
    matches!(t.dtype(), DType::Bool | DType::UInt8)
}

/// Index tensors as int64, masks turned into one vector for each axis they cover. `at` gives the axis of `sizes` at which
/// each of the given ones begins.
pub fn positions(op: &'static str, sizes: &[usize], at: &[usize], given: &[&Tensor]) -> Result<Vec<(usize, Tensor)>> {
    let mut all = Vec::with_capacity(given.len());
    for (i, (&at, t)) in at.iter().zip(given).enumerate() {
        if is_mask(t) {
            for (d, &n) in t.sizes().iter().enumerate() {
                if sizes.get(at + d) != Some(&n) {
                    return Err(Error::index(
                        op,
                        format!(
                            "The shape of the mask {:?} at index {d} does not match the shape of the indexed tensor {sizes:?} \
                             at index {}",
                            t.sizes(),
                            at + d
                        ),
                    ));
                }
            }
            for (d, p) in nonzero_positions(t)?.iter().enumerate() {
                all.push((at + d, Tensor::from_slice(p, &[p.len()])?));
            }
        } else if matches!(t.dtype(), DType::Int64 | DType::Int32) {
            if at >= sizes.len() {
                return Err(Error::index(
                    op,
                    format!("too many indices for tensor of dimension {} (got {})", sizes.len(), i + 1),
                ));
            }
            all.push((at, copy::cast(t, DType::Int64)?));
        } else {
            return Err(Error::index(op, "tensors used as indices must be long, int, byte or bool tensors"));
        }
    }
    Ok(all)
}

/// Whether the axes follow one another: then the index's axes take their place, otherwise they come first.
pub fn are_adjacent(positions: &[(usize, Tensor)]) -> bool {
    positions.windows(2).all(|w| w[1].0 == w[0].0 + 1)
}

/// How many runs ahead memory is asked for.
const AHEAD: usize = 8;

/// A checked index: the result has the sizes `before`, those of the index, then `after`.
pub struct Walk {
    pub sizes: Dims,
    before: Axes<1>,
    offsets: Vec<isize>,
    after: Axes<1>,
}

impl Walk {
    /// The walk over a tensor of these sizes and strides; nothing of the tensor is touched.
    pub fn new(op: &'static str, sizes: &[usize], strides: &[isize], at: &[usize], given: &[&Tensor]) -> Result<Self> {
        let index = positions(op, sizes, at, given)?;
        let mut shape = Dims::new();
        for (_, t) in &index {
            shape = broadcast(op, &shape, t.sizes()).map_err(|_| {
                let shapes: Vec<String> = index.iter().map(|(_, t)| format!("{:?}", t.sizes())).collect();
                let shapes = shapes.join(", ");
                Error::index(
                    op,
                    format!("shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"),
                )
            })?;
        }
        let count = crate::tensor::layout::checked_numel(op, &shape)?;
        if count > 0 && index.iter().any(|(d, _)| sizes[*d] == 0) {
            return Err(Error::index(op, "index is out of bounds for dimension with size 0"));
        }
        // The axes that stay, those left of the index's place first.
        let place = if are_adjacent(&index) { index.first().map_or(0, |(d, _)| *d) } else { 0 };
        let stay: Dims = (0..sizes.len()).filter(|d| index.iter().all(|(i, _)| i != d)).collect();
        let (left, right): (Dims, Dims) = stay.into_iter().partition(|&d| d < place);
        let pick = |ds: &Dims| -> (Dims, Strides) {
            (ds.iter().map(|&d| sizes[d]).collect(), ds.iter().map(|&d| strides[d]).collect())
        };
        let ((bs, bt), (rs, rt)) = (pick(&left), pick(&right));
        let mut result = bs.clone();
        result.extend_from_slice(&shape);
        result.extend_from_slice(&rs);
        let empty = crate::tensor::layout::checked_numel(op, &result)? == 0;
        let offsets = if empty { Vec::new() } else { offsets(op, &index, &shape, count, sizes, strides)? };
        Ok(Self { sizes: result, before: plan_in_order(&bs, [&bt]), offsets, after: plan_in_order(&rs, [&rt]) })
    }

    /// Calls `f` with an offset into memory and the row-major position in the result, once for each run of elements, and
    /// `ahead` with the offset of a run that is soon to come.
    fn runs(&self, ahead: impl Fn(isize), mut f: impl FnMut(isize, usize)) {
        if self.sizes.contains(&0) {
            return;
        }
        let (n, mut at) = (self.run().0, 0);
        let outer = self.after.get(1..).unwrap_or(&[]);
        for [b] in Offsets::new(&self.before) {
            for (i, &o) in self.offsets.iter().enumerate() {
                if outer.is_empty() {
                    if let Some(&next) = self.offsets.get(i + AHEAD) {
                        ahead(b + next);
                    }
                    f(b + o, at);
                    at += n;
                } else {
                    for [a] in Offsets::new(outer) {
                        f(b + o + a, at);
                        at += n;
                    }
                }
            }
        }
    }

    /// Elements of a run and their distance in memory.
    fn run(&self) -> (usize, isize) {
        let inner = axis(&self.after, 0);
        (inner.size, inner.strides[0])
    }

    /// Reads the indexed elements.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `from`, all readable. 2. `to` is writable for as many contiguous
    ///    elements as `sizes` has, and apart from them.
    pub unsafe fn read<T: Copy>(&self, from: *const T, to: *mut T) {
        let (n, step) = self.run();
        self.runs(
            |mem| prefetch_lines::<2, T>(from.wrapping_offset(mem)),
            |mem, at| {
                // SAFETY: (1) the offsets were checked against the sizes; (2) `at + n` stays within `sizes`.
                unsafe {
                    let (from, to) = (from.offset(mem), to.add(at));
                    if step == 1 {
                        std::ptr::copy_nonoverlapping(from, to, n);
                    } else {
                        (0..n).for_each(|i| *to.add(i) = *from.offset(i as isize * step));
                    }
                }
            },
        );
    }

    /// Writes one value to the indexed elements.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `to`, all writable.
    pub unsafe fn fill<T: Copy>(&self, to: *mut T, value: T) {
        let (n, step) = self.run();
        self.runs(
            |_| {},
            |mem, _| {
                for i in 0..n {
                    // SAFETY: (1) the offsets were checked against the sizes.
                    unsafe { *to.offset(mem + i as isize * step) = value };
                }
            },
        );
    }

    /// Writes, or combines by `f`, the indexed elements with those of `from`, in row-major order.
    ///
    /// # Safety
    /// 1. The walk was made for the sizes and strides at `to`, all writable. 2. `from` is readable for as many contiguous
    ///    elements as `sizes` has, and apart from them.
    pub unsafe fn write<T: Copy>(&self, from: *const T, to: *mut T, f: impl Fn(T, T) -> T) {
        let (n, step) = self.run();
        self.runs(
            |_| {},
            |mem, at| {
                for i in 0..n {
                    // SAFETY: (1) the offsets were checked against the sizes; (2) `at + n` stays within `sizes`.
                    unsafe {
                        let to = to.offset(mem + i as isize * step);
                        *to = f(*to, *from.add(at + i));
                    }
                }
            },
        );
    }
}

/// Sum over the index tensors of index times stride, for every position of the index.
fn offsets(
    op: &'static str,
    index: &[(usize, Tensor)],
    shape: &[usize],
    count: usize,
    sizes: &[usize],
    strides: &[isize],
) -> Result<Vec<isize>> {
    debug_assert_eq!(numel(shape), count);
    let mut offsets = Vec::new();
    let bytes = count.saturating_mul(size_of::<isize>());
    offsets.try_reserve_exact(count).map_err(|_| ErrorKind::OutOfMemory { bytes })?;
    offsets.resize(count, 0isize);
    for (d, t) in index {
        let whole = if t.sizes() == shape && t.is_contiguous() {
            t.clone()
        } else {
            let whole = Tensor::empty(shape, DType::Int64)?;
            copy::copy_into(t, &whole)?;
            whole
        };
        let n = sizes[*d] as i64;
        for (o, &i) in offsets.iter_mut().zip(whole.as_slice::<i64>().unwrap_or(&[])) {
            if i < -n || i >= n {
                return Err(Error::index(op, format!("index {i} is out of bounds for dimension {d} with size {n}")));
            }
            *o += (if i < 0 { i + n } else { i }) as isize * strides[*d];
        }
    }
    Ok(offsets)
}

/// Where the elements of an `index` along one axis lead in a tensor (`gather`, `scatter`): its values count along `dim`,
/// and its places along the other axes. All of it is checked before anything is read or written.
pub struct Along {
    index: Tensor,
    axes: Axes<1>,
    step: isize,
}

impl Along {
    /// For a tensor of these sizes and strides.
    pub fn new(op: &'static str, sizes: &[usize], strides: &[isize], dim: usize, index: &Tensor) -> Result<Self> {
        let n = sizes.get(dim).map_or(1, |&n| n as i64);
        let step = strides.get(dim).copied().unwrap_or(1);
        let mut others = Strides::from_slice(strides);
        others.resize(index.ndim(), 0);
        if let Some(s) = others.get_mut(dim) {
            *s = 0;
        }
        let index = copy::contiguous(&copy::cast(index, DType::Int64)?)?;
        let values = index.as_slice::<i64>().unwrap_or(&[]);
        // All together first: a loop without an exit is done in vectors.
        if values.iter().fold(false, |wrong, &i| wrong | (i < 0) | (i >= n)) {
            let i = values.iter().find(|&&i| i < 0 || i >= n).unwrap_or(&n);
            return Err(Error::shape(op, format!("index {i} is out of bounds for dimension {dim} with size {n}")));
        }
        let axes = plan_in_order(index.sizes(), [&others]);
        Ok(Self { index, axes, step })
    }

    /// Calls `f` with each place in the index, in order, and the offset into the tensor.
    #[inline(always)]
    pub fn each(&self, mut f: impl FnMut(usize, isize)) {
        let values = self.index.as_slice::<i64>().unwrap_or(&[]);
        let inner = axis(&self.axes, 0);
        let rows = values.chunks_exact(inner.size.max(1));
        for (row, ([base], values)) in Offsets::new(self.axes.get(1..).unwrap_or(&[])).zip(rows).enumerate() {
            for (j, &i) in values.iter().enumerate() {
                f(row * inner.size + j, base + j as isize * inner.strides[0] + i as isize * self.step);
            }
        }
    }

    /// Reads the elements in order.
    ///
    /// # Safety
    /// 1. `from` is readable for the sizes and strides that this was made for. 2. `to` is writable for the elements of the
    ///    index, and apart from them.
    pub unsafe fn read<T: Copy>(&self, from: *const T, to: *mut T) {
        let inner = axis(&self.axes, 0);
        if self.step != 1 || inner.strides[0] != 0 {
            // SAFETY: (1) the offset was checked against the sizes; (2) a place of the index.
            return self.each(|k, offset| unsafe { *to.add(k) = *from.offset(offset) });
        }
        // Along contiguous rows an index is an offset.
        let rows = self.index.as_slice::<i64>().unwrap_or(&[]).chunks_exact(inner.size.max(1));
        for (row, ([base], values)) in Offsets::new(self.axes.get(1..).unwrap_or(&[])).zip(rows).enumerate() {
            // SAFETY: as above.
            unsafe {
                let (from, to) = (from.offset(base), to.add(row * inner.size));
                for (j, &i) in values.iter().enumerate() {
                    *to.add(j) = *from.offset(i as isize);
                }
            }
        }
    }

    /// The offsets of all elements, for those who come back to them.
    pub fn offsets(&self) -> Vec<isize> {
        let mut all = Vec::with_capacity(self.index.numel());
        self.each(|_, offset| all.push(offset));
        all
    }
}

/// `a + b`, for accumulation.
pub fn sum<T: Num>(a: T, b: T) -> T {
    a.plus(b)
}

/// `b`, for plain writes.
pub fn second<T>(_a: T, b: T) -> T {
    b
}
