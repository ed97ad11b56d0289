//! Tensors of numbers that were operands, kept on each thread for the next op with the same number.
//!
//! A number stays a tensor for rules, tangents, batches and promotion, but an op of few elements would take longer to
//! make that tensor than to compute. So one tensor serves all ops of a thread with that number, and all nodes that save
//! it: nobody writes to it (users are given a copy of what a node saved). One that was changed all the same is not lent
//! again.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use super::{Scalar, Tensor, flag};
use crate::autograd::mode::{self, GradGuard};
use crate::error::Result;
use crate::kernels::thread_values::ThreadValue;

/// How many numbers a thread keeps.
const PLACES: usize = 8;

/// What distinguishes numbers: type and bits, since 0 and -0 are equal and different, and NaN is not equal to itself.
type Key = (u8, u64);

/// Numbers by place.
type Kept = [Option<(Key, Tensor)>; PLACES];

static KEPT: ThreadValue<RefCell<Kept>> = ThreadValue::new(|| RefCell::new([const { None }; PLACES]));

/// `None` for numbers that are not kept.
#[inline]
fn key(value: Scalar) -> Option<Key> {
    match value {
        Scalar::Float(x) => Some((0, x.to_bits())),
        Scalar::Int(i) => Some((1, i.cast_unsigned())),
        Scalar::Bool(_) | Scalar::UInt(_) | Scalar::Complex(..) => None,
    }
}

#[inline]
fn place_of((kind, bits): Key) -> usize {
    // Few significant bits of a short number are at either end of it: the product mixes them into the upper ones.
    ((bits ^ u64::from(kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize % PLACES
}

/// See [`Tensor::shared_number`].
#[inline]
pub(super) fn shared(value: Scalar) -> Result<Tensor> {
    let Some(key) = key(value) else { return Tensor::number(value) };
    let kept = KEPT.try_with(|kept| match kept.try_borrow().as_deref() {
        Ok(kept) => match &kept[place_of(key)] {
            Some((k, number)) if *k == key && is_as_made(number) => Some(number.clone()),
            _ => None,
        },
        Err(_) => None,
    });
    match kept {
        Ok(Some(number)) => Ok(number),
        _ => make(value, key),
    }
}

/// Whether nothing has happened to the number.
#[inline]
fn is_as_made(number: &Tensor) -> bool {
    let inner = number.inner();
    inner.flags.load(Ordering::Relaxed) == flag::NUMBER
        && inner.meta.get().is_none()
        && inner.object_slot.load(Ordering::Relaxed).is_null()
        && number.version() == 0
}

#[cold]
fn make(value: Scalar, key: Key) -> Result<Tensor> {
    let number = {
        // One made in inference mode could not be saved outside of it.
        let _outside = GradGuard::with(mode::INFERENCE, false);
        Tensor::number(value)?
    };
    // What was there is dropped after the borrow; at the end of the thread there is no place any more.
    let _before = KEPT.try_with(|kept| {
        kept.try_borrow_mut().ok().and_then(|mut kept| kept[place_of(key)].replace((key, number.clone())))
    });
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn of(value: impl Into<Scalar>) -> Tensor {
        Tensor::shared_number(value.into()).unwrap()
    }

    #[test]
    fn a_number_is_made_once_and_each_has_its_own() {
        let two = of(2.0);
        assert!(of(2.0).is_same(&two) && two.is_number());
        for (value, dtype) in [(Scalar::Int(2), DType::Int64), (Scalar::Float(-0.0), DType::Float64)] {
            assert_eq!((of(value).dtype(), of(value).item().unwrap()), (dtype, value));
        }
        let signs = [of(0.0), of(-0.0)].map(|t| t.item().unwrap().as_f64().is_sign_negative());
        assert_eq!(signs, [false, true]);
        assert!(of(f64::NAN).item().unwrap().as_f64().is_nan());
        assert_eq!(of(true).dtype(), DType::Bool);
        for i in 0..100i64 {
            assert_eq!(of(i).item().unwrap(), Scalar::Int(i));
        }
        assert!(!std::thread::spawn(move || of(2.0).is_same(&two)).join().unwrap());
    }

    #[test]
    fn a_number_that_was_changed_is_not_lent_again() {
        let three = of(3.0);
        three.add_(&of(1.0)).unwrap();
        assert_eq!(three.item().unwrap(), Scalar::Float(4.0));
        assert_eq!(of(3.0).item().unwrap(), Scalar::Float(3.0));
        let five = of(5.0);
        five.meta();
        assert!(!of(5.0).is_same(&five));
    }

    #[test]
    fn a_number_made_in_inference_mode_may_be_saved_outside() {
        let within = {
            let _inference = GradGuard::with(mode::INFERENCE, true);
            of(7.25)
        };
        assert!(!within.is_inference());
        let x = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        x.set_requires_grad(true).unwrap();
        assert!(x.times(7.25).unwrap().requires_grad());
    }
}
