//! Copies and casts between whole tensors, unrecorded.

use crate::autograd::mode;
use crate::compile::record;
use crate::error::{Error, Result};
use crate::kernels::pointwise::{self, Convert, Operand};
use crate::kernels::strided::{Offsets, plan_in_order};
use crate::kernels::truth::Truth;
use crate::match_dtype;
use crate::storage::reclaim::reading;
use crate::tensor::complex::{pairs, part};
use crate::tensor::layout::{self, expanded_strides};
use crate::tensor::{DType, Tensor, lazy};
use crate::{transforms, warn};

/// The tensor itself if it is contiguous, else a contiguous copy.
pub fn contiguous(x: &Tensor) -> Result<Tensor> {
    transforms::check_read("contiguous", x)?;
    if x.is_contiguous() {
        return Ok(x.clone());
    }
    let out = Tensor::empty(x.sizes(), x.dtype())?;
    copy_into(x, &out)?;
    Ok(out)
}

/// A copy with the order of axes in memory of the source, where that is dense.
pub fn copy(x: &Tensor) -> Result<Tensor> {
    let out = x.empty_like_layout(x.dtype())?;
    copy_into(x, &out)?;
    Ok(out)
}

/// A row-major copy.
pub fn row_major(x: &Tensor) -> Result<Tensor> {
    let out = Tensor::empty(x.sizes(), x.dtype())?;
    copy_into(x, &out)?;
    Ok(out)
}

/// The values of an index, int64 and row-major, in memory that nobody else can reach: what is checked of them is still
/// true when they are used (S6).
pub fn own_indices(x: &Tensor) -> Result<Tensor> {
    if record::is_recording() {
        record::read("tolist", x);
    }
    let out = Tensor::empty(x.sizes(), DType::Int64)?;
    copy_into(x, &out)?;
    Ok(out)
}

/// The tensor itself if it has this dtype, else a converted copy in the same memory order.
pub fn cast(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    let out = x.empty_like_layout(dtype)?;
    copy_into(x, &out)?;
    Ok(out)
}

/// Writes `src`, broadcast and converted, to `dst`: if that overlaps itself, in row-major order. Autograd is not
/// notified, and whether `dst` may be written is checked by the caller.
pub(crate) fn copy_into(src: &Tensor, dst: &Tensor) -> Result<()> {
    transforms::check_read("copy", src)?;
    transforms::check_read("copy", dst)?;
    let _reading = reading();
    if !layout::expands_to(src.sizes(), dst.sizes()) {
        let sizes = layout::broadcast("copy_", dst.sizes(), src.sizes())?;
        return Err(Error::shape(
            "copy_",
            format!("output with shape {:?} doesn't match the broadcast shape {sizes:?}", dst.sizes()),
        ));
    }
    if dst.numel() == 0 {
        return Ok(());
    }
    if lazy::exist() && (src.lazy_bits().any() || dst.lazy_bits().any()) {
        return lazy::copy_into(src, dst);
    }
    // Source and destination that overlap but differ in layout: read all before writing any.
    let staged;
    let same = src.op_ptr() == dst.op_ptr() && src.strides() == dst.strides() && src.dtype() == dst.dtype();
    if same && src.sizes() == dst.sizes() {
        return Ok(());
    }
    if _reading.mode() & mode::RECORDED != 0 {
        record::copies(src, dst);
    }
    let src = if ranges_meet(src, dst) {
        staged = {
            let c = src.empty_like_layout(src.dtype())?;
            copy_apart(src, &c)?;
            c
        };
        &staged
    } else {
        src
    };
    if dst.may_overlap_itself() { copy_in_order(src, dst) } else { copy_apart(src, dst) }
}

/// As [`copy_apart`], one element after the other.
fn copy_in_order(src: &Tensor, dst: &Tensor) -> Result<()> {
    let src = cast(src, dst.dtype())?;
    let strides = expanded_strides(src.sizes(), src.strides(), dst.sizes());
    let axes = plan_in_order(dst.sizes(), [&strides, dst.strides()]);
    match_dtype!(any, dst.dtype(), T => {
        let (from, to) = (src.ptr::<T>().cast_const(), dst.ptr::<T>());
        for [a, o] in Offsets::new(&axes) {
            // SAFETY: S1 and S3 for both tensors, the source being expanded to the sizes of the destination.
            unsafe { *to.offset(o) = *from.offset(a) };
        }
    });
    Ok(())
}

fn copy_apart(src: &Tensor, dst: &Tensor) -> Result<()> {
    let (from, to) = (src.dtype(), dst.dtype());
    let strides = expanded_strides(src.sizes(), src.strides(), dst.sizes());
    let (sizes, out) = (dst.sizes(), dst.strides());
    if from == to {
        return match_dtype!(any, from, T => {
            // SAFETY: (1) S1 and S3 for both tensors; (2) the ranges were made disjoint; (3) the
            // destination does not overlap itself (checked by callers for user tensors, fresh otherwise).
            unsafe { pointwise::copy_strided(sizes, src.ptr::<T>().cast_const(), &strides, dst.ptr::<T>(), out) };
            Ok(())
        });
    }
    if src.numel() < dst.numel() {
        // Each element is converted once.
        let converted = src.empty_like_layout(to)?;
        copy_apart(src, &converted)?;
        return copy_apart(&converted, dst);
    }
    if from.is_wide_unsigned() || to.is_wide_unsigned() {
        return copy_wide_unsigned(&at_sizes(src, sizes, &strides)?, dst);
    }
    match (from.is_complex(), to.is_complex()) {
        (false, false) => {}
        (true, true) => return copy_apart(&pairs(&at_sizes(src, sizes, &strides)?)?, &pairs(dst)?),
        (false, true) => {
            copy_apart(src, &part(dst, false)?)?;
            return copy_apart(&Tensor::full(&[], 0i64.into(), to.real())?, &part(dst, true)?);
        }
        (true, false) if to == DType::Bool && from == DType::Complex32 => {
            return copy_into(&cast(src, DType::Complex64)?, dst);
        }
        (true, false) if to == DType::Bool => {
            return match_dtype!(complex, from, T => {
                // SAFETY: as above.
                unsafe { pointwise::convert(sizes, src.ptr::<T>().cast_const(), &strides, dst.ptr::<Truth>(), out) };
                Ok(())
            }, else unreachable!());
        }
        (true, false) => {
            warn_of_lost_imaginary_parts();
            return copy_into(&part(src, false)?, dst);
        }
    }
    let (o, a) = (operand(dst, out), operand(src, &strides));
    let in_registers = |dtype: DType| dtype == DType::Float32 || dtype.half().is_some();
    macro_rules! by {
        ($dtype:expr, $t:ident => $run:expr) => {
            by!(@ $dtype, $t => $run; Bool Truth, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32,
                Float64 f64)
        };
        (@ $dtype:expr, $t:ident => $run:expr; $($d:ident $of:ty),*) => {
            match $dtype {
                $(DType::$d => { type $t = $of; $run })*
                _ => unreachable!("halves and complex numbers were dealt with"),
            }
        };
    }
    // SAFETY: as above; halves are given as such, for what takes and makes float32.
    unsafe {
        match (from.half(), to.half()) {
            (Some(_), _) | (_, Some(_)) if in_registers(from) && in_registers(to) => {
                pointwise::convert_halves(sizes, o, a);
            }
            (Some(_), _) => by!(to, O => pointwise::walk1::<f32, O, _>(&Convert, sizes, o, a)),
            (_, Some(_)) => by!(from, A => pointwise::walk1::<A, f32, _>(&Convert, sizes, o, a)),
            (None, None) => by!(from, A => by!(to, O => {
                pointwise::convert::<A, O>(sizes, src.ptr::<A>().cast_const(), &strides, dst.ptr::<O>(), out);
            })),
        }
    }
    Ok(())
}

/// A tensor with these strides as an operand of the walk: halves as such, anything else as what the body takes.
pub(crate) fn operand<'s>(x: &Tensor, strides: &'s [isize]) -> Operand<'s> {
    match x.dtype().half() {
        Some(half) => Operand::halves(half, x.op_ptr().cast(), strides),
        None => match_dtype!(any, x.dtype(), T => Operand::output(x.ptr::<T>(), strides)),
    }
}

pub(super) fn warn_of_lost_imaginary_parts() {
    warn::once(warn::Once::ComplexToReal, "Casting complex values to real discards the imaginary part");
}

/// [`copy_apart`] from or to uint16, uint32 or uint64, of tensors of the same sizes: by way of a dtype that holds all
/// that both have.
#[cold]
fn copy_wide_unsigned(src: &Tensor, dst: &Tensor) -> Result<()> {
    let (from, to) = (src.dtype(), dst.dtype());
    macro_rules! by_way_of {
        ($wide:ident $w:ty, $($d:ident $t:ty),*) => {{
            let middle = Tensor::empty(src.sizes(), DType::$wide)?;
            let (m, strides) = (middle.ptr::<$w>(), middle.strides());
            match from {
                // SAFETY: as in `copy_apart`; the tensor in the middle is fresh.
                $(DType::$d => unsafe {
                    pointwise::convert(src.sizes(), src.ptr::<$t>().cast_const(), src.strides(), m, strides);
                },)*
                _ => copy_apart(src, &middle)?,
            }
            match to {
                // SAFETY: as above.
                $(DType::$d => unsafe {
                    pointwise::convert(dst.sizes(), m.cast_const(), strides, dst.ptr::<$t>(), dst.strides());
                },)*
                _ => copy_apart(&middle, dst)?,
            }
            Ok(())
        }};
    }
    let float = from.is_floating() || to.is_floating() || from.is_complex() || to.is_complex();
    if float && (from == DType::UInt64 || to == DType::UInt64) {
        by_way_of!(Float64 f64, UInt16 u16, UInt32 u32, UInt64 u64)
    } else {
        by_way_of!(Int64 i64, UInt16 u16, UInt32 u32, UInt64 u64)
    }
}

/// The tensor expanded to these sizes, for kernels.
fn at_sizes(x: &Tensor, sizes: &[usize], strides: &[isize]) -> Result<Tensor> {
    x.part_uncounted(sizes, strides, x.storage_offset())
}

/// Whether the byte ranges that two tensors touch have a byte in common.
pub fn ranges_meet(a: &Tensor, b: &Tensor) -> bool {
    let _reading = reading();
    let range = |t: &Tensor| {
        let (size, start) = (t.dtype().size() as isize, t.op_ptr() as isize);
        let extent = match t.numel() {
            0 => None,
            n if t.is_contiguous() => Some((0, n as isize - 1)),
            _ => layout::extent(t.sizes(), t.strides()),
        };
        extent.map(|(lo, hi)| (start + lo * size, start + (hi + 1) * size))
    };
    match (range(a), range(b)) {
        (Some((a0, a1)), Some((b0, b1))) => a0 < b1 && b0 < a1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;

    #[test]
    fn onto_itself() {
        let x = noise(1, &[3, 4]);
        let before = x.to_vec::<f64>().unwrap();
        for part in [x.clone(), x.t().unwrap(), x.narrow(1, 1, 2).unwrap()] {
            copy_into(&part, &part).unwrap();
            assert_eq!(x.to_vec::<f64>().unwrap(), before);
        }
        // One element, or the first ones, over all that begin at the same place.
        let line = noise(2, &[4]);
        let first = line.narrow(0, 0, 1).unwrap();
        copy_into(&first, &line).unwrap();
        assert_eq!(line.to_vec::<f64>().unwrap(), [noise(2, &[4]).to_vec::<f64>().unwrap()[0]; 4]);
    }
}
