//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;

op! {
    {
        /// As `to(bool)`: whether each element is not zero.
    }
    method [bool try_bool bool_with try_bool_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_bool, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(uint8)`.
    }
    method [byte try_byte byte_with try_byte_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_byte, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int8)`.
    }
    method [char try_char char_with try_char_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_char, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int16)`.
    }
    method [short try_short short_with try_short_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_short, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int32)`.
    }
    method [int try_int int_with try_int_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_int, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int64)`.
    }
    method [long try_long long_with try_long_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_long, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(float16)`.
    }
    method [half try_half half_with try_half_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_half, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(bfloat16)`.
    }
    method [bfloat16 try_bfloat16 bfloat16_with try_bfloat16_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_bfloat16, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(float32)`.
    }
    method [float try_float float_with try_float_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_float, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(float64)`.
    }
    method [double try_double double_with try_double_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_double, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(complex32)`.
    }
    method [chalf try_chalf chalf_with try_chalf_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_chalf, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(complex64)`.
    }
    method [cfloat try_cfloat cfloat_with try_cfloat_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_cfloat, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(complex128)`.
    }
    method [cdouble try_cdouble cdouble_with try_cdouble_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_cdouble, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// The tensor itself: its memory is that of the CPU.
        ///
        /// Args: `memory_format` another order of the axes, which needs a copy.
    }
    method [cpu try_cpu cpu_with try_cpu_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::cpu, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// `input` converted to the dtype of `other`, itself if it has it; see `to`.
    }
    method [type_as try_type_as] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::casts::type_as, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// `input` itself, or a copy of it if it is to be conjugated (see `conj`).
        ///
        /// Derivative: `g`.
    }
    fn [resolve_conj try_resolve_conj] ([] input: &Tensor)
    method [resolve_conj try_resolve_conj] ([] &self) {let input = self;}
    -> Tensor = engine::casts::resolve_conj, (input.engine())
    {}
}

op! {
    {
        /// `input` itself, or a copy of it if it is to be negated, as the imaginary parts of conjugates are.
        ///
        /// Derivative: `g`.
    }
    fn [resolve_neg try_resolve_neg] ([] input: &Tensor)
    method [resolve_neg try_resolve_neg] ([] &self) {let input = self;}
    -> Tensor = engine::casts::resolve_neg, (input.engine())
    {}
}

op! {
    {
        /// The view with the last two axes swapped; of complex numbers the conjugates (see `conj`).
        ///
        /// Derivative: `g` with the axes swapped, conjugated if complex. Errors: RuntimeError if there are fewer than
        /// two axes.
    }
    fn [adjoint try_adjoint] ([] input: &Tensor)
    method [adjoint try_adjoint] ([] &self) {let input = self;}
    -> Tensor = engine::casts::adjoint, (input.engine())
    {}
}
