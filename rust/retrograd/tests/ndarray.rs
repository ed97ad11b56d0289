//! Arrays of the crate `ndarray` become tensors, and tensors arrays.
#![cfg(feature = "ndarray")]

use ndarray::{Array0, Array1, Array2, Array3, ArrayD, array, s};
use retrograd::{DType, Result, Tensor, tensor};

#[test]
fn arrays_become_tensors() -> Result<()> {
    let a = array![[1.5, 2.0, 3.0], [4.0, 5.0, 6.0]];
    for (tensor, shape, want) in [
        (Tensor::from(&a), [2, 3], vec![1.5, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (Tensor::from(a.view()), [2, 3], vec![1.5, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (Tensor::from(a.t()), [3, 2], vec![1.5, 4.0, 2.0, 5.0, 3.0, 6.0]),
        (Tensor::from(a.clone().reversed_axes()), [3, 2], vec![1.5, 4.0, 2.0, 5.0, 3.0, 6.0]),
        (Tensor::from(&a.slice(s![.., ..;-2])), [2, 2], vec![3.0, 1.5, 6.0, 4.0]),
        (Tensor::from(a.slice(s![1..1, ..])), [0, 3], vec![]),
    ] {
        assert_eq!((tensor.shape(), tensor.is_contiguous()), (&shape[..], true));
        assert_eq!(tensor.to_vec::<f64>()?, want);
    }
    assert_eq!(Tensor::from(array![true]).dtype(), DType::Bool);
    assert_eq!(Tensor::from(Array0::from_elem((), 3i16)).item::<i16>()?, 3);
    Ok(())
}

#[test]
fn tensors_become_arrays() -> Result<()> {
    let x = tensor![[1f32, 2.0], [3.0, 4.5]];
    assert_eq!(Array2::<f32>::try_from(&x)?, array![[1.0, 2.0], [3.0, 4.5]]);
    assert_eq!(Array2::<f64>::try_from(&x)?, array![[1.0, 2.0], [3.0, 4.5]]);
    assert_eq!(ArrayD::<f32>::try_from(&x)?.shape(), [2, 2]);
    assert_eq!(Array1::<bool>::try_from(&tensor![true, false])?, array![true, false]);
    let axes = Array3::<f32>::try_from(&x).unwrap_err().to_string();
    assert!(axes.contains("a tensor of shape [2, 2] is no array of 3 axes"), "{axes}");
    let dtype = Array2::<i32>::try_from(&x).unwrap_err().to_string();
    assert!(dtype.contains("not every float32 is a int32"), "{dtype}");
    Ok(())
}

#[test]
fn elements_are_seen_where_they_are() -> Result<()> {
    let mut x = tensor![[1, 2, 3], [4, 5, 6]];
    let column = x.i(retrograd::i![.., 1]);
    let elements = column.elements::<i32>()?;
    assert_eq!(elements.array(), array![2, 5].into_dyn());
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| x += 1)).unwrap_err();
    let refused = refused.downcast_ref::<String>().unwrap();
    assert!(refused.contains("a TensorView shows the tensor's memory"), "{refused}");
    drop(elements);
    x += 1;
    assert_eq!(column.elements::<i32>()?.array().sum(), 9);
    let kind = x.elements::<f32>().unwrap_err().to_string();
    assert!(kind.contains("the elements of a int32 tensor are no float32"), "{kind}");
    Ok(())
}
