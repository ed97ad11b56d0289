//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;

op! {
    {
        /// As `to(bool)`: whether each element is not zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 0.5].bool().to_vec::<bool>()?, [false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
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
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![7f32].char().dtype(), DType::Int8);
        /// ```
    }
    method [char try_char char_with try_char_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_char, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int16)`.
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![7f32].short().dtype(), DType::Int16);
        /// ```
    }
    method [short try_short short_with try_short_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_short, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int32)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1.5f32, -1.5].int().to_vec::<i64>()?, [1, -1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [int try_int int_with try_int_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_int, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(int64)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1.5f32, -1.5].long().to_vec::<i64>()?, [1, -1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [long try_long long_with try_long_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_long, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(float16)`.
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![7f32].half().dtype(), DType::Float16);
        /// ```
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
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![7i64].float().dtype(), DType::Float32);
        /// ```
    }
    method [float try_float float_with try_float_with] ([] &self) {let input = self;}
    -> Tensor = engine::casts::to_float, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// As `to(float64)`.
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![7i64].double().dtype(), DType::Float64);
        /// ```
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
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(tensor![1.5f32].type_as(&Tensor::from(2i64)).to_vec::<i64>()?, [1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
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
        /// Derivative: `g` with the axes swapped, conjugated if complex.
        ///
        /// Errors: if there are fewer than two axes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0]].adjoint().to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [adjoint try_adjoint] ([] input: &Tensor)
    method [adjoint try_adjoint] ([] &self) {let input = self;}
    -> Tensor = engine::casts::adjoint, (input.engine())
    {}
}
