//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;

op! {
    {
        /// The index of the tensor's device: -1, which means the CPU.
    }
    fn [get_device try_get_device] ([] input: &Tensor)
    method [get_device try_get_device] ([] &self) {let input = self;}
    -> i64 = engine::queries::get_device, (input.engine())
    {}
}

op! {
    {
        /// Whether the elements are the conjugates of what the memory holds, as those of `conj()` are.
    }
    fn [is_conj try_is_conj] ([] input: &Tensor)
    method [is_conj try_is_conj] ([] &self) {let input = self;}
    -> bool = engine::queries::is_conj, (input.engine())
    {}
}

op! {
    {
        /// Whether the elements are the negatives of what the memory holds, as those of `conj().imag` are.
    }
    fn [is_neg try_is_neg] ([] input: &Tensor)
    method [is_neg try_is_neg] ([] &self) {let input = self;}
    -> bool = engine::queries::is_neg, (input.engine())
    {}
}

op! {
    {
        /// Whether the only element of the tensor is not zero.
        ///
        /// Errors: if it has several elements or none.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert!(tensor![0.5f32].is_nonzero());
        /// ```
    }
    fn [is_nonzero try_is_nonzero] ([] input: &Tensor)
    method [is_nonzero try_is_nonzero] ([] &self) {let input = self;}
    -> bool = engine::queries::is_nonzero, (input.engine())
    {}
}

op! {
    {
        /// Whether `other` has the sizes of `input`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert!(!Tensor::ones([2, 3]).is_same_size(&Tensor::ones([3, 2])));
        /// ```
    }
    fn [is_same_size try_is_same_size] ([] input: &Tensor, other: &Tensor)
    method [is_same_size try_is_same_size] ([] &self, other: &Tensor) {let input = self;}
    -> bool = engine::queries::is_same_size, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Whether `tensor` has the same elements of the same memory as this one, in the same order.
    }
    method [is_set_to try_is_set_to] ([] &self, tensor: &Tensor) {let input = self;}
    -> bool = engine::queries::is_set_to, (input.engine(), tensor.engine())
    {}
}

op! {
    {
        /// Whether the tensor's dtype has negative numbers.
    }
    fn [is_signed try_is_signed] ([] input: &Tensor)
    method [is_signed try_is_signed] ([] &self) {let input = self;}
    -> bool = engine::queries::is_signed, (input.engine())
    {}
}
