//! The element that occurs most often.

use retrograd_macros::op;

use super::selection::{Choose, along, size_along};
use crate::error::Result;
use crate::kernels::OutOfMemory;
use crate::kernels::sort::{Key, Keys, Pick};
use crate::tensor::Tensor;

/// The last of the equal elements that are most in number; of several such, the smallest. NaN equals nothing.
#[derive(Clone, Debug)]
struct Most {
    keepdim: bool,
}

impl Choose for Most {
    const NAME: &'static str = "mode";
    const KERNEL: &'static str = "mode_cpu";
    fn node(&self) -> &'static str {
        "ModeBackward0"
    }
    fn count(&self, _: usize) -> usize {
        1
    }
    fn keepdim(&self) -> Option<bool> {
        Some(self.keepdim)
    }
}

impl Pick for Most {
    fn pick<K: Key>(&self, keys: &mut Keys<K>) -> Result<(), OutOfMemory> {
        keys.sort()?;
        let (mut best, mut most, mut start) = (0, 0, 0);
        for i in 0..keys.count() {
            if i + 1 == keys.count() || !keys.is_repeated(i) {
                if i + 1 - start > most {
                    (best, most) = (i, i + 1 - start);
                }
                start = i + 1;
            }
        }
        keys.to_front(best);
        Ok(())
    }
}

/// The element that occurs most often along a dimension, and its last index there.
///
/// Of several such elements the smallest is taken. NaN equals nothing, itself included.
///
/// Args: `input` any real dtype; `dim` the dimension, the last by default; `keepdim` keeps it with size 1. Returns:
/// `(values, indices)`, indices in int64. Derivative: `g` to the index. Raises: IndexError for a dimension out of range
/// or of size 0; NotImplementedError for complex dtypes.
///
/// >>> values, indices = rg.mode(rg.tensor([3.0, 1.0, 3.0, 2.0]))
/// >>> values.item(), indices.item()
/// (3.0, 2)
#[op(
    function, method,
    out = OutDtype::Same(&[
        "expected scalar type '{Result}' but got '{Out}' for values output",
        "expected scalar type '{Result}' but got '{Out}' for indices output",
    ]),
    fields("values", "indices"), "(dim=-1, keepdim=False)"
)]
pub fn mode(input: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    size_along("mode", input, dim)?;
    along(Most { keepdim }, input, dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        gradcheck(&|xs| xs[0].mode(0, true)?.0.exp(), &[noise(6, &[4, 3])]);
        gradcheck(&|xs| xs[0].mode(-1, false)?.0.exp(), &[noise(7, &[])]);
    }

    #[test]
    fn ties_and_nan() {
        let found = |v: &[f64]| {
            let (values, indices) = Tensor::from_slice(v, &[v.len()]).unwrap().mode(0, false).unwrap();
            (values.item().unwrap().as_f64(), indices.item().unwrap().as_i64())
        };
        assert_eq!(found(&[3.0, 3.0, 1.0, 1.0, 2.0]), (1.0, 3));
        assert_eq!(found(&[3.0, f64::NAN, f64::NAN, 2.0]), (2.0, 3));
        assert!(noise(1, &[2, 0]).mode(1, false).is_err());
    }
}
