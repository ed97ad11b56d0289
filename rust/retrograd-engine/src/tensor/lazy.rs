//! Conjugation and negation that wait until elements are read.
//!
//! `conj()` of a complex tensor is a view with a bit set: the elements are the conjugates of what the memory holds, and
//! the imaginary part of such a view is a view of real numbers whose negation waits. An op that does not know the bits
//! is given copies without them (`autograd/operands.rs`), and so is everybody else who reads memory.
//!
//! A third bit says that the memory has no elements at all: those of a sparse tensor (`tensor/sparse.rs`). An op that
//! does not know sparse operands refuses them, in the same place.

use std::ops::BitXor;
use std::sync::atomic::{AtomicBool, Ordering};

use super::complex::part;
use super::{DType, Scalar, Tensor, copy, sparse};
use crate::error::{Error, Result};
use crate::kernels::real::Ring;
use crate::match_dtype;

/// What is to be done to each element of the memory to get the tensor's. The order does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LazyBits {
    /// To be conjugated; of complex tensors only.
    pub conj: bool,
    /// To be negated.
    pub neg: bool,
    /// The memory has no elements: the tensor is sparse.
    pub sparse: bool,
}

impl LazyBits {
    pub const NONE: Self = Self { conj: false, neg: false, sparse: false };

    /// Whether the elements are other ones than those of the memory.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.conj | self.neg | self.sparse
    }
    /// Whether elements of the memory are to be conjugated or negated.
    #[inline(always)]
    pub fn waiting(self) -> bool {
        self.conj | self.neg
    }
    /// The element that a tensor with these bits has where its memory holds `x`.
    pub fn of(self, x: Scalar) -> Scalar {
        match x {
            Scalar::Complex(re, im) => {
                let sign = |neg: bool| if neg { -1.0 } else { 1.0 };
                Scalar::Complex(re * sign(self.neg), im * sign(self.neg != self.conj))
            }
            Scalar::Float(x) if self.neg => Scalar::Float(-x),
            Scalar::Int(x) if self.neg => Scalar::Int(x.wrapping_neg()),
            x => x,
        }
    }
}

/// What is left to be done between elements with these bits and elements with those.
impl BitXor for LazyBits {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        Self { conj: self.conj ^ other.conj, neg: self.neg ^ other.neg, sparse: self.sparse | other.sparse }
    }
}

/// Whether a tensor with bits has been made in this process: until then nobody looks for them. Who has such a tensor
/// from another thread sees that it was set before.
static EXIST: AtomicBool = AtomicBool::new(false);

/// Whether a tensor may have bits.
#[inline(always)]
pub(crate) fn exist() -> bool {
    EXIST.load(Ordering::Relaxed)
}

/// Tells that a tensor with bits is being made.
#[cold]
pub(super) fn announce() {
    EXIST.store(true, Ordering::Relaxed);
}

impl Tensor {
    /// What is to be done to the elements of the memory.
    #[inline]
    pub fn lazy_bits(&self) -> LazyBits {
        self.body().bits
    }
    /// Whether the elements are the conjugates of what the memory holds, as those of `conj()` are.
    pub fn is_conj(&self) -> bool {
        self.lazy_bits().conj
    }
    /// Whether the elements are the negatives of what the memory holds, as the imaginary parts of `conj()` are.
    pub fn is_neg(&self) -> bool {
        self.lazy_bits().neg
    }
    /// The elements of the memory as they are: for kernels, without autograd.
    pub(crate) fn without_bits(&self) -> Result<Tensor> {
        self.memory_as(self.dtype(), LazyBits::NONE, self.sizes(), self.strides(), self.storage_offset())
    }
    /// The tensor itself if no element is to be conjugated or negated, else a copy, unrecorded.
    pub(crate) fn resolved(&self) -> Result<Tensor> {
        if self.lazy_bits().waiting() { copy::copy(self) } else { Ok(self.clone()) }
    }
}

/// [`copy::copy_into`] where source or destination have bits.
#[cold]
pub(super) fn copy_into(src: &Tensor, dst: &Tensor) -> Result<()> {
    match (src.dtype().is_complex(), dst.dtype().is_complex()) {
        (false, true) => {
            copy::copy_into(src, &part(dst, false)?)?;
            let zero = Tensor::full(&[], 0i64.into(), dst.dtype().real())?;
            copy::copy_into(&zero, &part(dst, true)?)
        }
        (true, false) if dst.dtype() != DType::Bool => {
            copy::warn_of_lost_imaginary_parts();
            copy::copy_into(&part(src, false)?, dst)
        }
        (true, false) => copy::copy_into(&src.without_bits()?, &dst.without_bits()?),
        _ => {
            let bits = src.lazy_bits() ^ dst.lazy_bits();
            let (src, dst) = (src.without_bits()?, dst.without_bits()?);
            if bits.any() { copy::copy_into(&applied(&src, bits)?, &dst) } else { copy::copy_into(&src, &dst) }
        }
    }
}

/// A copy of `x`, which has no bits, with these applied.
fn applied(x: &Tensor, bits: LazyBits) -> Result<Tensor> {
    let copied = copy::row_major(x)?;
    if !x.dtype().is_complex() {
        negate(&copied, 0, 1)?;
        return Ok(copied);
    }
    if bits.neg {
        negate(&copied, 0, 2)?;
    }
    if bits.neg != bits.conj {
        negate(&copied, 1, 2)?;
    }
    Ok(copied)
}

/// Negates the parts `first`, `first + step` and so on of a fresh contiguous tensor.
fn negate(x: &Tensor, first: usize, step: usize) -> Result<()> {
    let n = x.numel() * if x.dtype().is_complex() { 2 } else { 1 };
    let flat = x.memory_as(x.dtype().real(), LazyBits::NONE, &[n], &[1], 0)?;
    match_dtype!(numeric, flat.dtype(), T => {
        flat.write_all::<T>(|all| all.iter_mut().skip(first).step_by(step).for_each(|v| *v = Ring::neg(*v)));
    }, else {
        // Of halves the sign is the highest bit.
        let words = flat.memory_as(DType::Int16, LazyBits::NONE, &[n], &[1], 0)?;
        words.write_all::<i16>(|all| all.iter_mut().skip(first).step_by(step).for_each(|v| *v ^= i16::MIN));
    });
    Ok(())
}

/// Refuses a tensor with bits, whose memory is to be handed out.
pub fn check_resolved(call: &'static str, x: &Tensor) -> Result<()> {
    sparse::check_strided(call, x)?;
    let bits = x.lazy_bits();
    if bits.conj {
        return Err(Error::autograd(format!(
            "Can't call {call}() on Tensor that has conjugate bit set. Use tensor.resolve_conj().{call}() instead."
        )));
    }
    if bits.neg {
        return Err(Error::autograd(format!(
            "Can't call {call}() on Tensor that has negative bit set. Use tensor.resolve_neg().{call}() instead."
        )));
    }
    Ok(())
}
