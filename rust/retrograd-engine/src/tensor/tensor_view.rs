//! The elements of a tensor as Rust sees memory: behind a shared reference, and unchanged while that lives.

use std::fmt;
use std::ptr::NonNull;

use super::{Dims, Element, Strides, Tensor, lazy};
use crate::counted::Counted;
use crate::error::{Error, Result};
use crate::storage::Storage;
use crate::storage::reclaim::reading;
use crate::transforms;

const OP: &str = "view";

/// The elements of a tensor, for reading: [`Tensor::view`].
///
/// Until it is dropped the memory stays as it is. In-place ops, `out=` and growth are refused for every tensor that
/// shares the memory; the tensor may get other memory (`set_data`) or go away meanwhile, which the view does not
/// notice.
pub struct TensorView<T: Element> {
    storage: Counted<Storage>,
    /// The element at index 0 of every axis.
    first: NonNull<T>,
    sizes: Dims,
    strides: Strides,
    contiguous: bool,
}

// SAFETY: a view is a reference to its storage, and shared references to elements, which are `Send` and `Sync`.
unsafe impl<T: Element> Send for TensorView<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for TensorView<T> {}

impl Tensor {
    /// The elements where they are, for reading. With the feature `ndarray`, `TensorView::array` gives them as an
    /// `ArrayViewD`.
    ///
    /// While the view lives nobody writes to the memory: writes by ops are refused, and this function waits for those
    /// that are under way on other threads. So take it for a moment, or view a copy.
    ///
    /// An error if `T` is not the tensor's element type (see [`Element`]: [`Truth`](super::Truth) for bool), if the
    /// memory is shared with another library, which could write to it, inside of a kernel, and for tensors under
    /// `vmap`.
    ///
    /// ```
    /// use retrograd_engine::Tensor;
    ///
    /// let t = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    /// let view = t.view::<f32>().unwrap();
    /// assert_eq!(view.as_slice().unwrap(), &[1.0, 2.0, 3.0, 4.0]);
    /// assert!(t.mul_(&t).unwrap_err().to_string().contains("a TensorView shows the tensor's memory"));
    /// drop(view);
    /// t.mul_(&t).unwrap();
    /// ```
    ///
    /// There is no slice of the elements without such a guard:
    /// ```compile_fail,E0624
    /// let t = retrograd_engine::Tensor::from_slice(&[1.0f32], &[1]).unwrap();
    /// let elements: &[f32] = t.as_slice().unwrap();
    /// ```
    pub fn view<T: Element>(&self) -> Result<TensorView<T>> {
        transforms::check_read(OP, self)?;
        lazy::check_resolved(OP, self)?;
        let (sizes, strides, contiguous, offset, storage) = {
            let reading = reading();
            let (b, storage) = self.memory(&reading);
            if b.dtype != T::DTYPE {
                return Err(Error::dtype(
                    OP,
                    format!(
                        "the elements of a {} tensor are no {}: view it as what it is, or convert it first",
                        b.dtype.name(),
                        T::DTYPE.name()
                    ),
                ));
            }
            (b.sizes.clone(), b.strides.clone(), b.contiguous, b.offset, storage.clone())
        };
        storage.begin_view(OP)?;
        // From here on the memory stays where it is; S3: the offset lies in it, unless there are no elements.
        let first = storage.ptr().cast::<T>().wrapping_add(offset);
        let first = if sizes.contains(&0) { NonNull::dangling() } else { NonNull::new(first).expect("S1") };
        Ok(TensorView { storage, first, sizes, strides, contiguous })
    }
}

impl<T: Element> TensorView<T> {
    /// Sizes, one per axis.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }
    /// Strides in elements, one per axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
    /// The elements as a slice, if they are row-major in memory.
    pub fn as_slice(&self) -> Option<&[T]> {
        let n = self.sizes.iter().product();
        // SAFETY: S1 to S3 and S5: `n` aligned elements that the storage holds; S7: nobody writes to them.
        self.contiguous.then(|| unsafe { std::slice::from_raw_parts(self.first.as_ptr(), n) })
    }
    /// The element at an index, if it is one.
    pub fn get(&self, index: &[usize]) -> Option<&T> {
        if index.len() != self.sizes.len() || index.iter().zip(&self.sizes).any(|(i, n)| i >= n) {
            return None;
        }
        let at = index.iter().zip(&self.strides).map(|(&i, step)| i as isize * step).sum::<isize>();
        // SAFETY: S3 for an index within the sizes; otherwise as in `as_slice`.
        Some(unsafe { &*self.first.as_ptr().offset(at) })
    }
    #[cfg(feature = "ndarray")]
    pub(super) fn first(&self) -> NonNull<T> {
        self.first
    }
}

impl<T: Element> Drop for TensorView<T> {
    fn drop(&mut self) {
        self.storage.end_view();
    }
}

impl<T: Element> fmt::Debug for TensorView<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorView({:?}, {})", self.sizes, T::DTYPE.name())
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::DType;

    fn counted(sizes: &[usize]) -> Tensor {
        let n = sizes.iter().product::<usize>();
        Tensor::from_slice(&(0..n).map(|i| i as f32).collect::<Vec<_>>(), sizes).unwrap()
    }

    #[test]
    fn writes_are_refused_while_a_view_lives() {
        let t = counted(&[3, 2]);
        let (column, other) = (t.select(1, 0).unwrap(), counted(&[3, 2]));
        let first = column.view::<f32>().unwrap();
        let second = t.view::<f32>().unwrap();
        assert_eq!((first.sizes(), first.strides(), first.as_slice()), (&[3][..], &[2][..], None));
        assert_eq!((first.get(&[2]), first.get(&[3]), first.get(&[])), (Some(&4.0), None, None));
        assert_eq!(second.as_slice().unwrap(), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        drop(first);
        let refused = |what: Result<()>| {
            let error = what.unwrap_err().to_string();
            assert!(error.contains("a TensorView shows the tensor's memory"), "{error}");
        };
        refused(t.add_(&other).map(drop));
        refused(column.copy_(&other.select(1, 1).unwrap()).map(drop));
        refused(crate::ops::memory::write_out("test", &other, &t, &[]).map(drop));
        refused(t.storage().grow("test", 1000));
        assert_eq!(second.as_slice().unwrap()[5], 5.0);
        assert_eq!(t.add(&other).unwrap().to_vec::<f32>().unwrap()[5], 10.0);
        drop(second);
        t.copy_(&t.add(&other).unwrap()).unwrap();
        assert_eq!(t.view::<f32>().unwrap().get(&[2, 1]), Some(&10.0));
        t.storage().grow("test", 1000).unwrap();
    }

    #[test]
    fn a_view_outlives_its_tensor() {
        let t = counted(&[100]);
        let view = t.view::<f32>().unwrap();
        t.set_data(&counted(&[2])).unwrap();
        t.neg_().unwrap();
        drop(t);
        assert_eq!(std::thread::spawn(move || view.as_slice().unwrap()[99]).join().unwrap(), 99.0);
    }

    #[test]
    fn what_cannot_be_viewed() {
        let t = counted(&[2]);
        let error = t.view::<f64>().unwrap_err().to_string();
        assert!(error.contains("a float32 tensor are no float64"), "{error}");
        {
            let _reading = reading();
            assert!(t.view::<f32>().unwrap_err().to_string().contains("inside of an op"));
        }
        t.storage().fix_address();
        assert!(t.view::<f32>().unwrap_err().to_string().contains("another library"));
        let none = Tensor::empty(&[0, 3], DType::Bool).unwrap();
        let none = none.view::<crate::tensor::Truth>().unwrap();
        assert!(none.as_slice().unwrap().is_empty() && none.get(&[0, 0]).is_none());
    }

    #[test]
    fn elements_do_not_change_under_a_view() {
        let n = if cfg!(miri) { 8 } else { 2000 };
        let rounds = if cfg!(miri) { 20 } else { 2000 };
        let t = Tensor::zeros(&[n], DType::Int64).unwrap();
        let one = Tensor::full(&[], 1i64.into(), DType::Int64).unwrap();
        // Writers do not exclude one another.
        let turn = std::sync::Mutex::new(());
        let write = |_: &usize| {
            let _mine = turn.lock().unwrap();
            t.copy_(&t.add(&one).unwrap()).is_ok()
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..rounds).filter(write).count());
            }
            for _ in 0..rounds {
                let view = t.view::<i64>().unwrap();
                let elements = view.as_slice().unwrap();
                let before = elements.to_vec();
                std::thread::yield_now();
                assert!(elements == before);
            }
        });
    }

    #[test]
    fn parts_are_checked() {
        static BYTES: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
        let odd = NonNull::from(&BYTES).cast::<u8>().map_addr(|a| a.saturating_add(1));
        // SAFETY: (1) one byte less than there are, for good, which may be written; (2) zeros.
        let storage = unsafe { Storage::foreign(odd, 31, Box::new(()), None) };
        let over = |dtype, n| Tensor::from_parts(storage.clone(), dtype, &[n], &[1], 0);
        assert!(over(DType::UInt8, 31).is_ok());
        let error = over(DType::Float32, 1).unwrap_err().to_string();
        assert!(error.contains("is not aligned to the 4 bytes of float32"), "{error}");
        assert!(over(DType::UInt8, 32).is_err());
    }
}
