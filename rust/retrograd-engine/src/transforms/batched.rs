//! Batched tensors: handles that show one entry of a value.

use std::sync::Arc;

use smallvec::SmallVec;

use super::level::{Level, number_of, visible};
use crate::autograd::arith;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::{Body, Dims, Strides, Tensor, flag, layout, sparse};

/// The value of a batched tensor.
#[derive(Clone)]
pub(crate) struct Batched {
    pub level: Arc<Level>,
    /// All entries, along axis 0.
    pub value: Tensor,
    /// Where the batch axis was in the tensor that the user has.
    pub dim: usize,
}

/// The levels of a tensor, from the outermost on.
pub(crate) type Levels = SmallVec<[Arc<Level>; 2]>;

impl Tensor {
    /// Whether the tensor shows one entry of a batch.
    #[inline]
    pub fn is_batched(&self) -> bool {
        self.has_flag(flag::BATCHED)
    }
    pub(crate) fn batched(&self) -> Option<Batched> {
        if !self.is_batched() {
            return None;
        }
        self.inner().meta.get().and_then(|meta| meta.batched.lock().clone())
    }
    /// The innermost level that the tensor is batched at.
    pub(super) fn batch_level(&self) -> Option<Arc<Level>> {
        if !self.is_batched() {
            return None;
        }
        self.inner().meta.get().and_then(|meta| meta.batched.lock().as_ref().map(|b| b.level.clone()))
    }
    /// The value of a batched tensor, its batch axis, and the number of its level (0 once that is closed).
    pub fn batch_parts(&self) -> Option<Result<(Tensor, usize, usize)>> {
        let b = self.batched()?;
        let value = arith::movedim(&b.value, &[0], &[b.dim as i64]);
        Some(value.map(|value| (value, b.dim, number_of(&b.level).unwrap_or(0))))
    }
    /// The value beneath all levels; the tensor itself if it is not batched.
    pub(crate) fn physical(&self) -> Tensor {
        let mut t = self.clone();
        while let Some(b) = t.batched() {
            t = b.value;
        }
        t
    }
    /// The entry that axis `dim` of this tensor runs over, as a tensor.
    pub fn batch(&self, dim: i64, level: &Arc<Level>) -> Result<Tensor> {
        let value = arith::movedim(self, &[dim], &[0])?;
        if value.sizes().first() != Some(&level.size()) {
            return Err(Error::shape(
                "vmap",
                format!("axis {dim} of sizes {:?} is not the batch, which has {} entries", self.sizes(), level.size()),
            ));
        }
        let entry = entry_of(value, level)?;
        let rank = self.ndim() as i64;
        if let Some(b) = entry.meta().batched.lock().as_mut() {
            b.dim = (if dim < 0 { dim + rank } else { dim }) as usize;
        }
        Ok(entry)
    }
    /// All entries of a tensor batched at `level`, along axis `dim`; the tensor repeated if it is not batched there.
    pub fn unbatch(&self, dim: i64, level: &Arc<Level>) -> Result<Tensor> {
        let dim = layout::wrap_dim("vmap", dim, self.ndim() + 1)?;
        let value = move_to_levels(self, std::slice::from_ref(level))?;
        arith::movedim(&value, &[0], &[dim as i64])
    }
    /// A batched tensor over the value that `f` makes of this one's; `None` if this one is not batched.
    pub(crate) fn over(&self, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Option<Result<Tensor>> {
        self.batched().map(|b| entry_of(f(&b.value)?, &b.level))
    }
}

/// One entry of `value`, whose axis 0 is the batch. It shows the first entry, so that whoever reads its memory stays
/// within bounds; ops never do.
pub(super) fn entry_of(value: Tensor, level: &Arc<Level>) -> Result<Tensor> {
    let body = entry_body(&value, level)?;
    Ok(Tensor::batched_over(body, Batched { level: level.clone(), value, dim: 0 }))
}

/// What a handle on `value` shows.
pub(super) fn entry_body(value: &Tensor, level: &Level) -> Result<Body> {
    debug_assert_eq!(value.sizes().first(), Some(&level.size()), "the batch is in front");
    sparse::check_strided("vmap", value)?;
    let b = value.snapshot();
    let (sizes, strides) = (Dims::from_slice(&b.sizes[1..]), Strides::from_slice(&b.strides[1..]));
    let numel = layout::numel(&sizes);
    if b.numel == 0 && numel > 0 {
        // Without entries there is no first one to show.
        return Ok(Tensor::full(&sizes, 0i64.into(), b.dtype)?.snapshot());
    }
    Ok(Body {
        dtype: b.dtype,
        bits: b.bits,
        contiguous: layout::is_contiguous(&sizes, &strides),
        numel,
        offset: b.offset,
        sizes,
        strides,
        storage: b.storage,
        version: b.version,
    })
}

/// The value beneath all levels, whose first axes are the batches, and the levels.
pub(crate) fn unwrap_levels(t: &Tensor) -> (Tensor, Levels) {
    let mut levels = Levels::new();
    let mut t = t.clone();
    while let Some(b) = t.batched() {
        levels.push(b.level);
        t = b.value;
    }
    levels.reverse();
    (t, levels)
}

/// The entry that the first axes of `value` run over, one for each level, from the outermost on.
pub(crate) fn wrap_levels(value: Tensor, levels: &[Arc<Level>]) -> Result<Tensor> {
    levels.iter().try_fold(value, entry_of)
}

fn has(levels: &[Arc<Level>], level: &Level) -> bool {
    levels.iter().any(|l| l.id() == level.id())
}

/// Both, from the outermost on.
pub(crate) fn union(a: &[Arc<Level>], b: &[Arc<Level>]) -> Levels {
    let mut all: Levels = a.iter().chain(b.iter().filter(|l| !has(a, l))).cloned().collect();
    all.sort_unstable_by_key(|l| l.id());
    all
}

/// The tensor with the batches of `levels` as axes in front, from the outermost on, repeated along those that it is not
/// batched at. It stays batched at the other levels.
pub(crate) fn move_to_levels(t: &Tensor, levels: &[Arc<Level>]) -> Result<Tensor> {
    let (mut value, have) = unwrap_levels(t);
    if have.is_empty() && levels.is_empty() {
        return Ok(value);
    }
    let rest: Levels = have.iter().filter(|l| !has(levels, l)).cloned().collect();
    let at = |level: &Level| have.iter().position(|l| l.id() == level.id());
    let present = levels.iter().filter(|l| has(&have, l));
    let front: Vec<i64> = rest.iter().chain(present).filter_map(|l| at(l)).map(|i| i as i64).collect();
    if front.iter().enumerate().any(|(i, &from)| i as i64 != from) {
        let to: Vec<i64> = (0..front.len() as i64).collect();
        value = arith::movedim(&value, &front, &to)?;
    }
    let mut sizes = Dims::from_slice(value.sizes());
    for (i, level) in levels.iter().enumerate() {
        if !has(&have, level) {
            value = arith::unsqueeze(&value, (rest.len() + i) as i64)?;
            sizes.insert(rest.len() + i, level.size());
        }
    }
    wrap_levels(arith::expand_to(&value, &sizes)?, &rest)
}

/// A tensor with axes in front that are the batches of the levels of `like`, as a tensor
/// batched there.
pub fn joined(t: &Tensor, like: &Tensor) -> Result<Tensor> {
    let (_, levels) = unwrap_levels(like);
    if levels.is_empty() {
        return Ok(t.clone());
    }
    let (value, have) = unwrap_levels(t);
    let all = union(&have, &levels);
    let from = |level: &Level| {
        let of = |levels: &Levels| levels.iter().position(|l| l.id() == level.id());
        of(&have).or_else(|| of(&levels).map(|i| have.len() + i))
    };
    let front: Vec<i64> = all.iter().filter_map(|l| from(l)).map(|i| i as i64).collect();
    let to: Vec<i64> = (0..front.len() as i64).collect();
    wrap_levels(arith::movedim(&value, &front, &to)?, &all)
}

/// The tensor, batched at every level that ops see.
pub fn batch_at_all_levels(t: &Tensor) -> Result<Tensor> {
    let open: Levels = visible().into_iter().filter(|l| !l.is_private()).collect();
    at_levels(t, &open)
}

/// The tensor, batched at these levels too.
pub(super) fn at_levels(t: &Tensor, levels: &[Arc<Level>]) -> Result<Tensor> {
    let (_, have) = unwrap_levels(t);
    if levels.iter().all(|l| has(&have, l)) {
        return Ok(t.clone());
    }
    let all = union(&have, levels);
    wrap_levels(move_to_levels(t, &all)?, &all)
}

/// A copy of `t` with memory of its own, batched at the levels of `like` too, so that values batched there can be
/// written to it. Every entry is laid out as `t` is.
pub(crate) fn widened(t: &Tensor, like: &Tensor) -> Result<Tensor> {
    let all = union(&unwrap_levels(t).1, &unwrap_levels(like).1);
    let whole = move_to_levels(t, &all)?;
    let mut strides = layout::preserving_strides(t.sizes(), t.strides());
    let mut step = t.numel().max(1);
    for level in all.iter().rev() {
        strides.insert(0, step as isize);
        step *= level.size().max(1);
    }
    let fresh = arith::zeros_strided(whole.sizes(), &strides, whole.dtype())?;
    wrap_levels(fresh.copy_(&whole)?, &all)
}

/// Whether `t` is batched at every level of `other`.
pub(crate) fn holds(t: &Tensor, other: &Tensor) -> bool {
    if !other.is_batched() {
        return true;
    }
    let have = unwrap_levels(t).1;
    unwrap_levels(other).1.iter().all(|l| has(&have, l))
}

/// Whether the gradient of `y` with respect to `x` is one per entry: `x` must be batched where `y` is, or those of all
/// entries would be summed.
pub fn check_apart(y: &Tensor, x: &Tensor) -> Result<()> {
    if holds(x, y) {
        return Ok(());
    }
    Err(Error::autograd(
        "vmap: the gradient of a batched tensor with respect to one that is not batched: it would be the sum over all entries. \
         Use func.grad or func.vjp inside vmap, or expand the input to the batch outside",
    ))
}

/// A tensor that somebody is about to read: an error if it is batched, for then there is no one value.
#[inline]
pub fn check_read(op: &'static str, t: &Tensor) -> Result<()> {
    if t.is_batched() { Err(ErrorKind::Batched { op }.into()) } else { sparse::check_strided(op, t) }
}
