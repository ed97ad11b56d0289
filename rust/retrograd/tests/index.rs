//! Parts of tensors, written as torch's subscripts are.

use retrograd::{Ellipsis, IndexItem, NewAxis, Operand, Result, Tensor, i, tensor};

fn counted() -> Tensor {
    Tensor::from_vec((0..24).collect::<Vec<i64>>(), [2, 3, 4])
}

#[test]
fn shapes_and_elements_are_torchs() -> Result<()> {
    let x = counted();
    let n = 1usize;
    for (part, shape, first) in [
        (x.i(0), vec![3, 4], 0),
        (x.i(-1), vec![3, 4], 12),
        (x.i(n), vec![3, 4], 12),
        (x.i(..), vec![2, 3, 4], 0),
        (x.i(1..), vec![1, 3, 4], 12),
        (x.i(..-1), vec![1, 3, 4], 0),
        (x.i(..=-1), vec![2, 3, 4], 0),
        (x.i(0..=0), vec![1, 3, 4], 0),
        (x.i(i![0, 1, 2]), vec![], 6),
        (x.i(i![.., 0, ..-1]), vec![2, 3], 0),
        (x.i(i![1..3, ..;2]), vec![1, 2, 4], 12),
        (x.i(i![.., .., 1..;2]), vec![2, 3, 2], 1),
        (x.i(i![.., n..n + 1, 0]), vec![2, 1], 4),
        (x.i(i![..., 3]), vec![2, 3], 3),
        (x.i(i![1, ...]), vec![3, 4], 12),
        (x.i(i![1, Ellipsis, 2]), vec![3], 14),
        (x.i(i![NewAxis, 0, .., NewAxis]), vec![1, 3, 1, 4], 0),
        (x.i(NewAxis), vec![1, 2, 3, 4], 0),
        (x.i(true), vec![1, 2, 3, 4], 0),
        (x.i(tensor![1, 0, 1]), vec![3, 3, 4], 12),
        (x.i(i![.., tensor![2, 0], tensor![1i64, 3]]), vec![2, 2], 9),
        (x.i(i![tensor![false, true], 0]), vec![1, 4], 12),
        (x.i(Tensor::from(x.engine().gt(&Operand::from(21))?)), vec![2], 22),
        (x.i(vec![IndexItem::from(1), IndexItem::from(0)]), vec![4], 12),
        (x.i(i![]), vec![2, 3, 4], 0),
    ] {
        assert_eq!((part.shape(), part.to_vec::<i64>()?[0]), (&shape[..], first));
    }
    Ok(())
}

#[test]
fn parts_are_views_and_have_gradients() -> Result<()> {
    let x = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].requires_grad_(true);
    let part = x.i(i![.., 1..]);
    assert!(part.base().unwrap().same(&x));
    part.backward_with(|o| o.gradient(&tensor![[0.5, -1.0], [2.0, 0.25]]))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.0, 0.5, -1.0, 0.0, 2.0, 0.25]);
    x.zero_grad();
    x.i(i![tensor![1, 1], 0]).backward_with(|o| o.gradient(&tensor![3.0, 0.5]))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.0, 0.0, 0.0, 3.5, 0.0, 0.0]);
    Ok(())
}

#[test]
fn values_are_assigned_in_place_and_tracked() -> Result<()> {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    x.set(i![0, ..], tensor![9.0, 8.0]);
    x.set(i![1, 0], 7);
    x.set(x.try_i(i![.., 1]).map(|_| tensor![[false, false], [false, true]])?, -1.5);
    assert_eq!(x.to_vec::<f64>()?, [9.0, 8.0, 7.0, -1.5]);
    let (leaf, value) = (tensor![1.0, 2.0].requires_grad_(true), tensor![5.0].requires_grad_(true));
    let y = &leaf * 3.0;
    y.set(0, value.i(0));
    y.backward_with(|o| o.gradient(&tensor![0.5, -2.0]))?;
    assert_eq!(leaf.grad().unwrap().to_vec::<f64>()?, [0.0, -6.0]);
    assert_eq!(value.grad().unwrap().item::<f64>()?, 0.5);
    assert!(leaf.try_set(0, 1.0).unwrap_err().to_string().contains("a view of a leaf Variable that requires grad"));
    Ok(())
}

#[test]
fn errors_are_torchs() {
    let x = counted();
    let says = |part: Result<Tensor>, text: &str| {
        let error = part.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    says(x.try_i(2), "index 2 is out of bounds for dimension 0 with size 2");
    says(x.try_i(i![0, 0, 0, 0]), "too many indices for tensor of dimension 3");
    says(x.try_i(i![..;0]), "slice step cannot be zero");
    says(x.try_i(i![..;-1]), "step must be greater than zero, got -1: use flip");
    says(x.try_i(i![0;2]), "slice step cannot be zero");
    says(x.try_i(tensor![0.5]), "must be long, int, byte or bool");
    let misfit = x.try_set(0, tensor![1, 2, 3]).unwrap_err().to_string();
    assert!(misfit.contains("must match the existing size (3)"), "{misfit}");
}
