//! Conversions with names of their own, and ops that return a dense tensor on a CPU unchanged.

use retrograd_macros::op;

use super::Entry;
use super::memory::{cloned, converted};
use super::view::conj;
use crate::error::{Error, Result};
use crate::tensor::{DType, MemoryFormat, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &TO_BOOL,
    &TO_BYTE,
    &TO_CHAR,
    &TO_SHORT,
    &TO_INT,
    &TO_LONG,
    &TO_HALF,
    &TO_BFLOAT16,
    &TO_FLOAT,
    &TO_DOUBLE,
    &TO_CHALF,
    &TO_CFLOAT,
    &TO_CDOUBLE,
    &CPU,
    &TYPE_AS,
    &RESOLVE_CONJ,
    &RESOLVE_NEG,
    &ADJOINT,
];

macro_rules! cast {
    ($function:ident, $name:literal, $dtype:ident, $($doc:literal)*) => {
        $(#[doc = $doc])*
        #[op(method, norust, name = $name, "(*, memory_format=None)")]
        pub fn $function(input: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
            converted(input, DType::$dtype, false, memory_format)
        }
    };
}
cast!(to_bool, "bool", Bool, " As `to(bool)`: whether each element is not zero."
    "" " >>> rg.tensor([0.0, 0.5]).bool().tolist()" " [False, True]");
cast!(to_byte, "byte", UInt8, " As `to(uint8)`."
    "" " >>> rg.tensor([7.0]).byte().dtype" " retrograd.uint8");
cast!(to_char, "char", Int8, " As `to(int8)`."
    "" " >>> rg.tensor([7.0]).char().dtype" " retrograd.int8");
cast!(to_short, "short", Int16, " As `to(int16)`."
    "" " >>> rg.tensor([7.0]).short().dtype" " retrograd.int16");
cast!(to_int, "int", Int32, " As `to(int32)`."
    "" " >>> rg.tensor([1.5, -1.5]).int().tolist()" " [1, -1]");
cast!(to_long, "long", Int64, " As `to(int64)`."
    "" " >>> rg.tensor([1.5, -1.5]).long().tolist()" " [1, -1]");
cast!(to_half, "half", Float16, " As `to(float16)`."
    "" " >>> rg.tensor([7.0]).half().dtype" " retrograd.float16");
cast!(to_bfloat16, "bfloat16", BFloat16, " As `to(bfloat16)`."
    "" " >>> rg.tensor([7.0]).bfloat16().dtype" " retrograd.bfloat16");
cast!(to_float, "float", Float32, " As `to(float32)`."
    "" " >>> rg.tensor([7]).float().dtype" " retrograd.float32");
cast!(to_double, "double", Float64, " As `to(float64)`."
    "" " >>> rg.tensor([7]).double().dtype" " retrograd.float64");
cast!(to_chalf, "chalf", Complex32, " As `to(complex32)`."
    "" " >>> rg.tensor([7.0]).chalf().dtype" " retrograd.complex32");
cast!(to_cfloat, "cfloat", Complex64, " As `to(complex64)`."
    "" " >>> rg.tensor([7.0]).cfloat().tolist()" " [(7+0j)]");
cast!(to_cdouble, "cdouble", Complex128, " As `to(complex128)`."
    "" " >>> rg.tensor([7]).cdouble().tolist()" " [(7+0j)]");

/// The tensor itself: its memory is that of the CPU.
///
/// Args: `memory_format` another order of the axes, which needs a copy.
///
/// >>> x = rg.ones(2)
/// >>> x.cpu() is x
/// True
#[op(method, norust, "(*, memory_format=None)")]
pub fn cpu(input: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    converted(input, input.dtype(), false, memory_format)
}

/// `input` converted to the dtype of `other`, itself if it has it; see `to`.
///
/// >>> rg.tensor([1.5]).type_as(rg.tensor(2)).tolist()
/// [1]
#[op(method, norust)]
pub fn type_as(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    converted(input, other.dtype(), false, None)
}

/// `input` itself, or a copy of it if it is to be conjugated (see `conj`).
///
/// Derivative: `g`.
///
/// >>> x = rg.ones(2)
/// >>> rg.resolve_conj(x) is x
/// True
#[op(function, method, norust)]
pub fn resolve_conj(input: &Tensor) -> Result<Tensor> {
    if input.is_conj() { cloned(input) } else { Ok(input.clone()) }
}

/// `input` itself, or a copy of it if it is to be negated, as the imaginary parts of conjugates are.
///
/// Derivative: `g`.
///
/// >>> x = rg.ones(2)
/// >>> rg.resolve_neg(x) is x
/// True
#[op(function, method, norust)]
pub fn resolve_neg(input: &Tensor) -> Result<Tensor> {
    if input.is_neg() { cloned(input) } else { Ok(input.clone()) }
}

/// The view with the last two axes swapped; of complex numbers the conjugates (see `conj`).
///
/// Derivative: `g` with the axes swapped, conjugated if complex. Raises: RuntimeError if there are fewer than two axes.
///
/// >>> rg.adjoint(rg.tensor([[1.0, 2.0]])).tolist()
/// [[1.0], [2.0]]
#[op(function, method)]
pub fn adjoint(input: &Tensor) -> Result<Tensor> {
    if input.ndim() < 2 {
        return Err(Error::shape(
            "adjoint",
            format!(
                "tensor.adjoint() is only supported on matrices or batches of matrices. Got {}-D tensor.",
                input.ndim()
            ),
        ));
    }
    conj(&input.transpose(-2, -1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn names_and_what_stays_itself() {
        let x = noise(1, &[2, 3]);
        assert!(to_double(&x, None).unwrap().is_same(&x) && cpu(&x, None).unwrap().is_same(&x));
        assert_eq!(to_half(&x, None).unwrap().dtype(), DType::Float16);
        assert!(to_double(&x, Some(MemoryFormat::ChannelsLast)).is_err() && noise(1, &[2]).adjoint().is_err());
        gradcheck(&|xs| xs[0].adjoint()?.exp(), &[x]);
    }
}
