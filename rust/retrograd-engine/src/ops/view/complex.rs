//! Views of complex numbers: their conjugates, their parts, and pairs of real numbers as complex ones.

use retrograd_macros::op;

use super::select_at;
use super::view_op::{Layout, ViewOp, apply_view};
use crate::error::{Error, Result};
use crate::ops::memory::{cast, clone_in, cloned};
use crate::tensor::{DType, LazyBits, MemoryFormat, Tensor};

/// The same memory with other lazy bits: conjugates, or negatives. Reverse: `g` with the same bits.
#[derive(Clone, Copy, Debug)]
struct Flipped(LazyBits);

const CONJ_BIT: LazyBits = LazyBits { conj: true, ..LazyBits::NONE };
const NEG_BIT: LazyBits = LazyBits { neg: true, ..LazyBits::NONE };

impl ViewOp for Flipped {
    const NAME: &'static str = "conj";
    fn node(&self) -> &'static str {
        if self.0.conj { "ConjBackward0" } else { "NegViewBackward0" }
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let layout = Layout::of(x);
        Ok(Layout { bits: layout.bits ^ self.0, ..layout })
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        self.jvp(g)
    }
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        // Of a real tangent the conjugate is itself.
        if self.0.conj && !t.dtype().is_complex() { Ok(t.clone()) } else { apply_view(*self, t) }
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        *self
    }
}

/// The complex conjugate of each element: of real numbers `input` itself.
///
/// Args: `input` any dtype. Returns: same shape and dtype; of complex numbers a view, which is conjugated when it is
/// read (`is_conj()`); `resolve_conj` makes a copy of it. Derivative: `conj(g)`.
///
/// >>> rg.conj(rg.tensor([1+2j])).tolist()
/// [(1-2j)]
#[op(function, method)]
pub fn conj(input: &Tensor) -> Result<Tensor> {
    if input.dtype().is_complex() { apply_view(Flipped(CONJ_BIT), input) } else { Ok(input.clone()) }
}

/// The negatives, as a view.
fn neg_view(x: &Tensor) -> Result<Tensor> {
    apply_view(Flipped(NEG_BIT), x)
}

/// `view_as_real`. Reverse: pairs as complex numbers.
#[derive(Clone, Copy, Debug)]
struct AsReal;

impl ViewOp for AsReal {
    const NAME: &'static str = "view_as_real";
    fn node(&self) -> &'static str {
        "ViewAsRealBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        l.strides.iter_mut().for_each(|s| *s *= 2);
        l.sizes.push(2);
        l.strides.push(1);
        Ok(Layout { offset: 2 * l.offset, dtype: l.dtype.real(), ..l })
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        view_as_complex(&packed(g)?)
    }
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        // A tangent may be real where its primal is complex.
        let t = if t.dtype().is_complex() { t.clone() } else { cast(t, t.dtype().complex())? };
        view_as_real(&resolved(&t)?)
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        *self
    }
}

/// The tensor, or a recorded copy of it, so that pairs of elements lie beside each other, also in a batch.
fn packed(x: &Tensor) -> Result<Tensor> {
    if x.is_contiguous() && !x.is_batched() { Ok(x.clone()) } else { clone_in("view", x, MemoryFormat::Contiguous) }
}

/// The tensor, or a recorded copy of it if it is to be conjugated.
fn resolved(x: &Tensor) -> Result<Tensor> {
    if x.is_conj() { cloned(x) } else { Ok(x.clone()) }
}

/// `input` as real numbers with one more axis, of size 2: real parts and imaginary parts.
///
/// Args: `input` a complex dtype. Returns: a view of shape `(*input.shape, 2)` in the dtype of the parts. Derivative:
/// `view_as_complex(g)`. Raises: RuntimeError for real dtypes, and for tensors that are to be conjugated.
///
/// >>> rg.view_as_real(rg.tensor([1+2j])).tolist()
/// [[1.0, 2.0]]
#[op(function)]
pub fn view_as_real(input: &Tensor) -> Result<Tensor> {
    if !input.dtype().is_complex() {
        return Err(Error::dtype("view_as_real", "view_as_real is only supported for complex tensors"));
    }
    if input.is_conj() {
        return Err(Error::dtype(
            "view_as_real",
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view \
             it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.",
        ));
    }
    apply_view(AsReal, input)
}

/// `view_as_complex`. Reverse: complex numbers as pairs.
#[derive(Clone, Copy, Debug)]
struct AsComplex;

impl ViewOp for AsComplex {
    const NAME: &'static str = "view_as_complex";
    fn node(&self) -> &'static str {
        "ViewAsComplexBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let refused = |why: &str| Err(Error::shape("view_as_complex", why));
        let mut l = Layout::of(x);
        if l.strides.pop() != Some(1) {
            return refused("Tensor must have a last dimension with stride 1");
        }
        l.sizes.pop();
        if l.strides.iter().any(|s| s % 2 != 0) {
            return refused("Tensor must have a stride divisible by 2 for all but last dimension");
        }
        if !l.offset.is_multiple_of(2) {
            return refused("Tensor must have a storage_offset divisible by 2");
        }
        l.strides.iter_mut().for_each(|s| *s /= 2);
        Ok(Layout { offset: l.offset / 2, dtype: l.dtype.complex(), ..l })
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        AsReal.jvp(g)
    }
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        apply_view(*self, &packed(t)?)
    }
    fn lift(&self, _ndim: usize, _batch: usize) -> Self {
        *self
    }
}

/// `input`, whose last axis has size 2, as complex numbers.
///
/// Args: `input` of float16, float32 or float64, its last axis with stride 1, the other strides and the offset even.
/// Returns: a complex view without the last axis. Derivative: `view_as_real(g)`. Raises: RuntimeError for other dtypes
/// and layouts.
///
/// >>> rg.view_as_complex(rg.tensor([[1.0, 2.0]])).tolist()
/// [(1+2j)]
#[op(function)]
pub fn view_as_complex(input: &Tensor) -> Result<Tensor> {
    if !matches!(input.dtype(), DType::Float16 | DType::Float32 | DType::Float64) {
        return Err(Error::dtype(
            "view_as_complex",
            format!(
                "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {}",
                input.dtype().scalar_type_name()
            ),
        ));
    }
    match input.sizes().last() {
        None => Err(Error::shape("view_as_complex", "Input tensor must have one or more dimensions")),
        Some(2) => apply_view(AsComplex, input),
        Some(n) => {
            Err(Error::shape("view_as_complex", format!("Tensor must have a last dimension of size 2, not {n}")))
        }
    }
}

/// One of the two parts, as a view.
fn part(x: &Tensor, imaginary: bool) -> Result<Tensor> {
    let pairs = match x.is_conj() {
        false => view_as_real(x)?,
        true => {
            let pairs = view_as_real(&conj(x)?)?;
            if imaginary { neg_view(&pairs)? } else { pairs }
        }
    };
    select_at(&pairs, x.ndim(), i64::from(imaginary))
}

/// The real parts of the elements: of a real tensor, the tensor itself.
///
/// Args: `input` any dtype. Returns: same shape, in the dtype of the parts; a view. Derivative: `g`.
///
/// >>> rg.real(rg.tensor([1+2j])).tolist()
/// [1.0]
#[op(function, norust)]
pub fn real(input: &Tensor) -> Result<Tensor> {
    if input.dtype().is_complex() { part(input, false) } else { Ok(input.clone()) }
}

/// The imaginary parts of the elements.
///
/// Args: `input` a complex dtype. Returns: same shape, in the dtype of the parts; a view. Derivative: `i g`. Raises:
/// RuntimeError for real dtypes.
///
/// >>> rg.imag(rg.tensor([1+2j])).tolist()
/// [2.0]
#[op(function, norust)]
pub fn imag(input: &Tensor) -> Result<Tensor> {
    if !input.dtype().is_complex() {
        return Err(Error::dtype("imag", "imag is not implemented for tensors with non-complex dtypes."));
    }
    part(input, true)
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;
    use crate::testing::{complex_noise, gradcheck, noise};

    type C = Complex<f64>;

    #[test]
    fn derivatives() {
        let z = [complex_noise(1, &[2, 3])];
        gradcheck(&|z| conj(&z[0]), &z);
        gradcheck(&|z| real(&z[0]), &z);
        gradcheck(&|z| imag(&z[0]), &z);
        gradcheck(&|z| imag(&conj(&z[0])?), &z);
        gradcheck(&|z| view_as_real(&z[0]), &z);
        gradcheck(&|z| conj(&z[0])?.mul(&z[0]), &z);
        gradcheck(&|x| view_as_complex(&x[0]), &[noise(1, &[3, 2])]);
    }

    #[test]
    fn writes_reach_the_memory_through_the_bits() {
        let z = Tensor::from_slice(&[C::new(1.0, 2.0), C::new(3.0, -1.0)], &[2]).unwrap();
        let w = conj(&z).unwrap();
        assert!(w.is_conj() && w.shares_storage(&z) && w.base().is_some_and(|b| b.is_same(&z)));
        w.copy_(&Tensor::from_slice(&[C::new(5.0, 5.0), C::new(0.0, 1.0)], &[2]).unwrap()).unwrap();
        assert_eq!(z.to_vec::<C>().unwrap(), [C::new(5.0, -5.0), C::new(0.0, -1.0)]);
        let im = imag(&w).unwrap();
        assert!(im.is_neg() && !im.is_conj());
        im.fill_(&Tensor::number(7.0.into()).unwrap()).unwrap();
        assert_eq!(z.to_vec::<C>().unwrap(), [C::new(5.0, -7.0), C::new(0.0, -7.0)]);
        assert_eq!(w.add(&w).unwrap().to_vec::<C>().unwrap(), [C::new(10.0, 14.0), C::new(0.0, 14.0)]);
        assert!(view_as_real(&w).is_err() && w.as_slice::<C>().is_none());
    }

    #[test]
    fn writes_to_views_are_differentiated() {
        let z = [complex_noise(1, &[3]), complex_noise(2, &[3]), noise(3, &[3])];
        gradcheck(
            &|z| {
                let b = z[0].mul(&z[0])?;
                conj(&b)?.mul_(&z[1])?;
                imag(&conj(&b)?)?.mul_(&z[2])?;
                real(&b)?.copy_(&z[2])?;
                b.mul(&z[1])
            },
            &z,
        );
        gradcheck(
            &|z| {
                let b = z[0].mul(&z[0])?;
                let views = [conj(&b)?, view_as_real(&b)?, imag(&conj(&b)?)?];
                b.mul_(&z[1])?;
                views[0].mul(&views[1].select(-1, 0)?)?.mul(&views[2])
            },
            &z,
        );
    }
}
