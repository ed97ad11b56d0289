//! Sizes, strides and offset: where the elements of a tensor are in its storage.

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};

/// Sizes of a tensor, one per axis.
pub type Dims = SmallVec<[usize; 5]>;
/// Strides of a tensor in elements, one per axis.
pub type Strides = SmallVec<[isize; 5]>;

/// A clone, in a few moves where the elements are in the value itself.
#[inline(always)]
pub(crate) fn copied<A: smallvec::Array<Item: Copy>>(list: &SmallVec<A>) -> SmallVec<A> {
    if list.spilled() {
        return list.clone();
    }
    // SAFETY: all that the value has are elements that may be copied.
    unsafe { std::ptr::read(list) }
}

/// The most elements that strides may step over.
const MOST: usize = isize::MAX as usize;

/// Number of elements of `sizes`; an error if it (or the number of bytes) cannot be addressed.
pub fn checked_numel(op: &'static str, sizes: &[usize]) -> Result<usize> {
    // A matrix, neither empty nor large: zero wraps around.
    const SHORT: usize = 1 << (usize::BITS / 2 - 4);
    if let &[m, n] = sizes
        && m.wrapping_sub(1) < SHORT
        && n.wrapping_sub(1) < SHORT
    {
        return Ok(m * n);
    }
    // With empty axes too: strides are products of the other sizes.
    let n = sizes.iter().try_fold(1usize, |n, &s| n.checked_mul(s.max(1))).filter(|&n| n <= MOST);
    let empty = sizes.contains(&0);
    n.filter(|&n| empty || n <= MOST / 16).map(|n| if empty { 0 } else { n }).ok_or_else(|| {
        let what = if empty { "Stride" } else { "Storage size" };
        let more = "more elements than memory can address";
        Error::shape(op, format!("{what} calculation overflowed with sizes={sizes:?}: {more}"))
    })
}

/// Number of elements of sizes that belong to an existing tensor.
pub fn numel(sizes: &[usize]) -> usize {
    if sizes.contains(&0) { 0 } else { sizes.iter().product() }
}

/// Whether sizes are equal. Written out: there are few of them, and comparing slices is a call.
#[inline]
pub(crate) fn same_sizes(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Writes a clone to a place for a list.
///
/// # Safety
/// A place for a list.
#[inline(always)]
pub(crate) unsafe fn write_copy<A: smallvec::Array<Item: Copy>>(to: *mut SmallVec<A>, list: &SmallVec<A>) {
    // SAFETY: by contract. A new list has room for as many elements as are in any value itself; they may be copied.
    unsafe {
        if list.spilled() {
            return to.write(list.clone());
        }
        to.write(SmallVec::new());
        // One by one: they may just have been written, in this way.
        let (from, list) = (list, &mut *to);
        let at = list.as_mut_ptr();
        for (i, &x) in from.iter().enumerate() {
            at.add(i).write(x);
        }
        list.set_len(from.len());
    }
}

/// Writes row-major strides to a place for them.
///
/// # Safety
/// A place for a list.
#[inline(always)]
pub(crate) unsafe fn write_row_major(to: *mut Strides, sizes: &[usize]) {
    // SAFETY: by contract.
    let strides = unsafe {
        to.write(Strides::new());
        &mut *to
    };
    match *sizes {
        [] => {}
        [_] => strides.push(1),
        [_, n] => {
            strides.push(n.max(1) as isize);
            strides.push(1);
        }
        _ => *strides = strides_of_more(sizes),
    }
}

/// Row-major strides.
#[inline(always)]
pub fn contiguous_strides(sizes: &[usize]) -> Strides {
    match *sizes {
        [_] => Strides::from_buf_and_len([1, 0, 0, 0, 0], 1),
        [_, n] => Strides::from_buf_and_len([n.max(1) as isize, 1, 0, 0, 0], 2),
        _ => strides_of_more(sizes),
    }
}

fn strides_of_more(sizes: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, sizes.len());
    let mut step = 1isize;
    for (s, &n) in strides.iter_mut().zip(sizes).rev() {
        *s = step;
        // Wraps only if an axis is empty: then no stride is ever used.
        step = step.wrapping_mul(n.max(1) as isize);
    }
    strides
}

/// Whether the elements are row-major without gaps; no elements are. Axes of size 1 may have any stride.
pub fn is_contiguous(sizes: &[usize], strides: &[isize]) -> bool {
    let mut step = 1isize;
    for (&n, &s) in sizes.iter().zip(strides).rev() {
        if n != 1 {
            if s != step {
                return sizes.contains(&0);
            }
            // Wraps only if an axis further out is empty.
            step = step.wrapping_mul(n as isize);
        }
    }
    true
}

/// Whether strides are those of [`contiguous_strides`], also along axes of size 1. Of sizes without a zero.
pub(crate) fn is_row_major(sizes: &[usize], strides: &[isize]) -> bool {
    let mut step = 1isize;
    sizes.iter().zip(strides).rev().all(|(&n, &s)| {
        let is_step = s == step;
        step = step.wrapping_mul(n as isize);
        is_step
    })
}

/// Whether every element has its own place and the places form one block (torch's non-overlapping and dense).
pub fn is_dense(sizes: &[usize], strides: &[isize]) -> bool {
    if numel(sizes) == 0 {
        return true;
    }
    let mut axes: SmallVec<[usize; 8]> = (0..sizes.len()).filter(|&i| sizes[i] != 1).collect();
    axes.sort_by_key(|&i| strides[i]);
    let mut step = 1isize;
    axes.iter().all(|&i| {
        let ok = strides[i] == step;
        step *= sizes[i] as isize;
        ok
    })
}

/// Strides of a copy: those of a dense tensor; else packed, with the axes in the order that their strides have.
pub fn preserving_strides(sizes: &[usize], strides: &[isize]) -> Strides {
    if is_dense(sizes, strides) {
        return Strides::from_slice(strides);
    }
    // The order that elementwise ops of torch give their results: from the inside out, axes move inwards past those
    // with larger strides (or as large, and more elements). Stride 0 says nothing: such an axis is looked past.
    let inwards = |outer: usize, inner: usize| match (strides[outer], strides[inner]) {
        (0, _) | (_, 0) => None,
        (o, i) if o == i => (sizes[inner] > sizes[outer]).then_some(true),
        (o, i) => Some(o < i),
    };
    let mut axes: SmallVec<[usize; 8]> = (0..sizes.len()).rev().collect();
    for i in 1..axes.len() {
        let mut at = i;
        for j in (0..i).rev() {
            match inwards(axes[at], axes[j]) {
                Some(true) => {
                    axes.swap(at, j);
                    at = j;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    let mut out: Strides = SmallVec::from_elem(0, sizes.len());
    let mut step = 1isize;
    for &i in &axes {
        out[i] = step;
        step *= sizes[i].max(1) as isize;
    }
    out
}

/// Whether two different indices may name the same element.
pub fn may_overlap(sizes: &[usize], strides: &[isize]) -> bool {
    if numel(sizes) <= 1 {
        return false;
    }
    let mut axes: SmallVec<[usize; 8]> = (0..sizes.len()).filter(|&i| sizes[i] > 1).collect();
    axes.sort_by_key(|&i| strides[i].unsigned_abs());
    let mut reach = 0usize; // last offset reachable through the axes so far
    for &i in &axes {
        let s = strides[i].unsigned_abs();
        if s <= reach {
            return true;
        }
        reach += s * (sizes[i] - 1);
    }
    false
}

/// Whether elements surely share memory: an axis of several has stride 0. Layouts that overlap in other ways are not
/// distinguished from those that do not.
pub fn repeats(sizes: &[usize], strides: &[isize]) -> bool {
    !sizes.contains(&0) && sizes.iter().zip(strides).any(|(&n, &s)| n > 1 && s == 0)
}

/// Lowest and highest element offset (relative to the first element) that the layout touches.
pub fn extent(sizes: &[usize], strides: &[isize]) -> Option<(isize, isize)> {
    if sizes.contains(&0) {
        return None;
    }
    let (mut lo, mut hi) = (0isize, 0isize);
    for (&n, &s) in sizes.iter().zip(strides) {
        let reach = (n as isize - 1).checked_mul(s)?;
        if reach < 0 { lo = lo.checked_add(reach)? } else { hi = hi.checked_add(reach)? }
    }
    Some((lo, hi))
}

/// The shape both operands expand to.
pub fn broadcast(op: &'static str, a: &[usize], b: &[usize]) -> Result<Dims> {
    if a == b {
        return Ok(Dims::from_slice(a));
    }
    let ndim = a.len().max(b.len());
    let at = |s: &[usize], axis: usize| (axis + s.len()).checked_sub(ndim).map_or(1, |i| s[i]);
    (0..ndim)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => Err(Error::broadcast(op, a, b)),
        })
        .collect()
}

/// Whether `from` expands to `to` by broadcasting.
pub fn expands_to(from: &[usize], to: &[usize]) -> bool {
    from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(&f, &t)| f == t || f == 1)
}

/// Strides of a tensor seen in the shape `to` that it expands to: 0 along broadcast axes.
pub fn expanded_strides(sizes: &[usize], strides: &[isize], to: &[usize]) -> Strides {
    let lead = to.len() - sizes.len();
    (0..to.len())
        .map(|axis| match axis.checked_sub(lead) {
            Some(i) if sizes[i] == to[axis] => strides[i],
            _ => 0,
        })
        .collect()
}

/// A dimension counted from either end, as an index; 0-dim tensors accept 0 and -1.
pub fn wrap_dim(op: &'static str, dim: i64, ndim: usize) -> Result<usize> {
    let n = ndim.max(1) as i64;
    if dim < -n || dim >= n {
        return Err(ErrorKind::DimRange { op, dim, ndim }.into());
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

/// Strides for `to` over the same memory, if the shape can be changed without copying.
pub fn view_strides(sizes: &[usize], strides: &[isize], to: &[usize]) -> Option<Strides> {
    if numel(sizes) == 0 {
        return Some(if sizes == to { Strides::from_slice(strides) } else { contiguous_strides(to) });
    }
    let mut out: Strides = SmallVec::from_elem(1, to.len());
    let mut at = to.len(); // axes of `to` from here on have their stride
    let mut block = 1usize; // elements of the mergeable block of source axes being matched
    let mut base = *strides.last().unwrap_or(&1);
    let mut taken = 1usize;
    for i in (0..sizes.len()).rev() {
        block *= sizes[i];
        let ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != block as isize * base);
        if ends {
            while at > 0 && (taken < block || to[at - 1] == 1) {
                out[at - 1] = taken as isize * base;
                taken *= to[at - 1];
                at -= 1;
            }
            if taken != block {
                return None;
            }
            if i > 0 {
                base = strides[i - 1];
                block = 1;
                taken = 1;
            }
        }
    }
    while at > 0 {
        if to[at - 1] != 1 {
            return None;
        }
        at -= 1;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_merge_and_split_axes() {
        let s = |v: &[isize]| Some(Strides::from_slice(v));
        assert_eq!(view_strides(&[2, 3], &[3, 1], &[6]), s(&[1]));
        assert_eq!(view_strides(&[2, 3], &[1, 2], &[6]), None);
        assert_eq!(view_strides(&[6], &[2], &[2, 3]), s(&[6, 2]));
        assert_eq!(view_strides(&[], &[], &[1, 1]), s(&[1, 1]));
        assert_eq!(view_strides(&[4, 1, 3], &[6, 7, 2], &[12]), s(&[2]));
        assert_eq!(view_strides(&[2, 3, 4], &[12, 4, 1], &[3, 2, 4]), s(&[8, 4, 1]));
        assert_eq!(view_strides(&[2, 2], &[0, 1], &[4]), None);
    }

    #[test]
    fn matrices_are_counted_as_other_tensors_are() {
        let limit = 1usize << (usize::BITS / 2 - 4);
        let lengths = [0, 1, 2, 7, limit - 1, limit, limit + 1, 1 << 31, 1 << 32, usize::MAX / 2, usize::MAX];
        for m in lengths {
            for n in lengths {
                let (got, want) = (checked_numel("", &[m, n]), checked_numel("", &[1, m, n]));
                assert_eq!(got.ok(), want.ok(), "{m} x {n}");
                assert_eq!(contiguous_strides(&[m, n])[..], contiguous_strides(&[1, m, n])[1..], "{m} x {n}");
            }
        }
    }

    #[test]
    fn overlap_and_density() {
        assert!(may_overlap(&[3, 2], &[0, 1]));
        assert!(!may_overlap(&[3, 2], &[2, 1]));
        assert!(is_dense(&[3, 2], &[1, 3]));
        assert!(!is_dense(&[3, 2], &[4, 1]));
    }
}
