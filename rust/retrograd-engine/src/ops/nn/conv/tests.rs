//! Derivatives of convolutions of all kinds against differences, and refusals.

use super::*;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::testing::{gradcheck, noise};

#[test]
fn gradients() {
    for (stride, padding, dilation, groups) in [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 1, 2, 1), (2, 0, 3, 2)] {
        let (s, p, d) = ([stride], [padding], [dilation]);
        let (x, w, b) = (noise(1, &[2, 4, 9]), noise(2, &[2, 4 / groups, 3]), noise(3, &[2]));
        let conv = |t: &[Tensor]| -> Result<Tensor> { conv1d(&t[0], &t[1], t.get(2), &s, &p, &d, groups as i64) };
        gradcheck(&conv, &[x.clone(), w.clone(), b.clone()]);
        gradcheck(&conv, &[x.select(0, 0).unwrap(), w]);
        let wt = noise(4, &[4, 1, 3]);
        let extra = [stride.max(dilation) - 1];
        let transposed = |t: &[Tensor]| conv_transpose1d(&t[0], &t[1], t.get(2), &s, &p, &extra, groups as i64, &d);
        gradcheck(&transposed, &[noise(5, &[2, 4, 5]), wt.clone(), noise(6, &[groups])]);
        gradcheck(&transposed, &[noise(5, &[4, 5]), wt]);
    }
    let same = |t: &[Tensor]| conv1d_named(&t[0], &t[1], None, &[1], "same", &[1], 1);
    for kernel in 1..6 {
        gradcheck(&same, &[noise(1, &[2, 2, 3]), noise(2, &[3, 2, kernel])]);
    }
    let plane = |t: &[Tensor]| conv2d(&t[0], &t[1], Some(&t[2]), &[2, 1], &[1, 0], &[1, 2], 2);
    gradcheck(&plane, &[noise(1, &[2, 2, 5, 6]), noise(2, &[4, 1, 3, 2]), noise(3, &[4])]);
    let space = |t: &[Tensor]| conv3d(&t[0], &t[1], None, &[1], &[1], &[1], 1);
    gradcheck(&space, &[noise(1, &[1, 2, 3, 4, 3]), noise(2, &[2, 2, 2, 3, 1])]);
    let space = |t: &[Tensor]| conv_transpose3d(&t[0], &t[1], None, &[2, 1, 3], &[1], &[0], 1, &[1]);
    gradcheck(&space, &[noise(1, &[1, 2, 3, 4, 3]), noise(2, &[2, 2, 2, 3, 3])]);
}

#[test]
fn windows_and_their_sums() {
    for (kernel, dilation, padding, stride) in [([2, 2], 1, 0, 1), ([3, 2], 1, 1, 2), ([1, 3], 2, 2, 1)] {
        let (d, p, s) = ([dilation], [padding], [stride]);
        let x = noise(1, &[2, 3, 5, 6]);
        gradcheck(&|t| unfold(&t[0], &kernel, &d, &p, &s), std::slice::from_ref(&x));
        let y = unfold(&x, &kernel, &d, &p, &s).unwrap();
        gradcheck(&|t| fold(&t[0], &[5, 6], &kernel, &d, &p, &s), &[noise(2, y.sizes())]);
    }
}

#[test]
fn refusals() {
    let (x, w) = (noise(1, &[2, 4, 6, 6]), noise(2, &[6, 4, 3, 3]));
    let max = i64::MAX;
    for (stride, padding, dilation) in
        [(0, 0, 1), (max, max, 1), (1, max, max), (1, 1 << 55, 1), (1, 0, max), (max, 0, 1)]
    {
        let e = conv2d(&x, &w, None, &[stride], &[padding], &[dilation], 1).unwrap_err().to_string();
        assert!(e.starts_with("conv2d: "), "{e}");
    }
    for groups in [max, -1, 0, 3] {
        assert!(conv2d(&x, &w, None, &[1], &[0], &[1], groups).is_err());
    }
    for (stride, extra) in [(max, 0), (1 << 50, 0), (1, 1), (2, -1)] {
        assert!(conv_transpose2d(&x, &noise(3, &[4, 2, 3, 3]), None, &[stride], &[0], &[extra], 1, &[1]).is_err());
    }
    for number in [max, 1 << 31, 1 << 40] {
        assert!(unfold(&x, &[number], &[1], &[0], &[1]).is_err());
        assert!(unfold(&x, &[2], &[1], &[number], &[1]).is_err());
        assert!(fold(&noise(1, &[4, 4]), &[number], &[2], &[1], &[0], &[1]).is_err());
    }
}
