//! What happens when a gradient reaches a leaf, or a second gradient reaches the same place.

use super::arith;
use super::finite;
use super::mode::{self, GradGuard};
use super::overlap::{Repeats, check_repeats};
use crate::compile::record;
use crate::error::Result;
use crate::storage::reclaim::reading;
use crate::tensor::{Tensor, layout};

/// Sum of two gradients for the same output. Reuses `a`'s buffer when nobody else can see it.
pub(crate) fn add(a: Tensor, b: &Tensor, create_graph: bool) -> Result<Tensor> {
    let plain = !a.may_have_tangent() && !b.may_have_tangent();
    let _reading = reading();
    if !create_graph
        && plain
        && mode::word() & mode::DETECT_NAN == 0
        && !b.is_batched()
        && a.is_unshared()
        && a.sizes() == b.sizes()
        && a.dtype() == b.dtype()
        && a.is_contiguous()
    {
        arith::add_assign(&a, b)?;
        return Ok(a);
    }
    if a.is_sparse() && !b.is_sparse() { b.add(&a) } else { a.add(b) }
}

/// Adds `g` to the leaf's `.grad` by the gradient layout rules (semantics ACC-1 to ACC-7).
pub(crate) fn accumulate(leaf: &Tensor, g: Tensor, create_graph: bool) -> Result<()> {
    let _reading = reading();
    let g = match leaf.grad_dtype() {
        Some(want) if want != g.dtype() => arith::cast(&g, want)?,
        _ => g,
    };
    let g = g.without_tangents();
    if g.is_batched() {
        return Err(crate::Error::autograd(
            "vmap: a batch of gradients cannot be accumulated into .grad: use autograd.grad, or func.grad",
        ));
    }
    let slot = &leaf.meta().grad;
    let mut g = g;
    let recorded = record::is_recording();
    if recorded {
        record::grad_read(leaf);
    }
    // Other threads may accumulate into the same leaf: what was computed from the old gradient counts only if that is
    // still the gradient.
    loop {
        let current = slot.lock().clone();
        let sizes = current.as_ref().map_or(leaf.sizes(), Tensor::sizes);
        if g.sizes() != sizes {
            g = resized(&g, sizes)?;
        }
        let next = match &current {
            None if create_graph && g.is_sparse() => arith::cloned(&g)?,
            None if create_graph => arith::clone_strided(&g, &wanted_strides(leaf, &g))?,
            None => own(leaf, &mut g)?,
            // Of a sparse and a dense gradient the sum is dense: another tensor.
            Some(old) if old.is_sparse() && !g.is_sparse() => {
                let _mode = GradGuard::new(create_graph);
                g.add(old)?
            }
            Some(old) if create_graph => {
                let sum = old.add(&g)?;
                warn_of_layout(leaf, &sum);
                sum
            }
            Some(old) => {
                warn_of_layout(leaf, old);
                if recorded {
                    let _off = GradGuard::new(false);
                    return old.add_(&g).map(drop);
                }
                old.check_write_or_exchange("add_", false)?;
                check_repeats("add_", old, Repeats::Refused)?;
                old.tell_of_write()?;
                let held = slot.lock();
                if !is_still(&held, &current) {
                    continue;
                }
                // Nothing here calls the host language, which may wait for the slot.
                let before = finite::before_sum(old);
                arith::add_assign(old, &g)?;
                old.bump_version();
                return finite::check_sum(old, before, &g);
            }
        };
        if recorded {
            record::grad_set(leaf, Some(&next));
        }
        let mut held = slot.lock();
        if is_still(&held, &current) {
            let previous = held.replace(next);
            drop(held);
            drop(previous);
            return Ok(());
        }
        drop(held);
        if current.is_none() {
            g = next;
        }
    }
}

/// The gradient of a leaf that got other sizes in place after it was used, as far as axes of size 1 and broadcasting
/// bring it to those of `.grad`.
#[cold]
fn resized(g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    if g.numel() == layout::numel(sizes) && layout::expands_to(sizes, g.sizes()) {
        return arith::sum_to_size(g, sizes);
    }
    layout::broadcast("backward", sizes, g.sizes())?;
    if !layout::expands_to(g.sizes(), sizes) {
        return Err(crate::Error::shape(
            "backward",
            format!(
                "output with shape {sizes:?} doesn't match the broadcast shape {:?}: the leaf got other sizes in place after it \
                 was used",
                g.sizes()
            ),
        ));
    }
    arith::expand_to(g, sizes)
}

fn is_still(now: &Option<Tensor>, before: &Option<Tensor>) -> bool {
    match (now, before) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is_same(b),
        _ => false,
    }
}

/// The gradient as a first `.grad`: `g` itself if nobody else has it and its layout fits, else a copy.
fn own(leaf: &Tensor, g: &mut Tensor) -> Result<Tensor> {
    let _off = GradGuard::new(false);
    if g.is_sparse() {
        let own = g.owns_elements() && g.history().is_none();
        return if own { Ok(g.clone()) } else { arith::cloned(&g.detach()) };
    }
    if g.is_unshared() && g.history().is_none() && fits(leaf, g) {
        return Ok(g.clone());
    }
    arith::clone_strided(&g.detach(), &wanted_strides(leaf, g))
}

fn warn_of_layout(leaf: &Tensor, grad: &Tensor) {
    if !fits(leaf, grad) {
        crate::warn::once(
            crate::warn::Once::GradLayout,
            "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance.",
        );
    }
}

/// Strides that a gradient gets as `.grad`: the leaf's own if they are dense, else row-major, as also if the leaf got
/// other sizes since it was used.
fn wanted_strides(leaf: &Tensor, g: &Tensor) -> layout::Strides {
    if leaf.sizes() == g.sizes() && layout::is_dense(leaf.sizes(), leaf.strides()) {
        layout::Strides::from_slice(leaf.strides())
    } else {
        layout::contiguous_strides(g.sizes())
    }
}

/// Whether `g` is laid out as `.grad` of this leaf may be.
fn fits(leaf: &Tensor, g: &Tensor) -> bool {
    if g.is_sparse() {
        return true;
    }
    let b = g.body();
    if leaf.is_contiguous() && b.contiguous {
        return true;
    }
    if mode::word() & mode::LOOSE_GRADS != 0 {
        return layout::is_dense(&b.sizes, &b.strides);
    }
    let want = wanted_strides(leaf, g);
    b.sizes.iter().zip(b.strides.iter().zip(&want)).all(|(&n, (a, b))| n <= 1 || a == b)
}
