use super::{grid, interpolate, pad, shuffle};
use crate::testing::{gradcheck, noise};
use crate::{Result, Tensor};

#[test]
fn derivatives_of_borders_and_exchanges() {
    let x = [noise(1, &[2, 4, 3, 4])];
    for mode in ["constant", "reflect", "replicate", "circular"] {
        gradcheck(&|x| pad::pad(&x[0], &[1, 2, 2, 1], mode, None), &x);
        gradcheck(&|x| pad::pad(&x[0], &[-1, 2, 1, -1], mode, None), &x);
    }
    gradcheck(&|x| shuffle::pixel_shuffle(&x[0], 2), &x);
    gradcheck(&|x| shuffle::channel_shuffle(&x[0], 2), &x);
    gradcheck(&|x| shuffle::pixel_unshuffle(&x[0], 2), &[noise(2, &[2, 4, 2])]);
}

#[test]
fn derivatives_of_resampling() {
    let to = |x: &Tensor, mode: &str, align: Option<bool>| -> Result<Tensor> {
        interpolate::interpolate(x, None, Some(&[1.6]), mode, align, None, false)
    };
    for mode in ["nearest", "nearest-exact", "area"] {
        gradcheck(&|x| to(&x[0], mode, None), &[noise(1, &[2, 2, 5])]);
        gradcheck(&|x| to(&x[0], mode, None), &[noise(1, &[1, 2, 3, 4])]);
    }
    for align in [None, Some(true)] {
        gradcheck(&|x| to(&x[0], "linear", align), &[noise(2, &[2, 2, 5])]);
        gradcheck(&|x| to(&x[0], "bilinear", align), &[noise(2, &[1, 2, 3, 17])]);
        gradcheck(&|x| to(&x[0], "bicubic", align), &[noise(2, &[1, 2, 3, 4])]);
        gradcheck(&|x| to(&x[0], "trilinear", align), &[noise(2, &[1, 1, 2, 3, 2])]);
    }
}

#[test]
fn derivatives_of_samples() {
    for border in ["zeros", "border", "reflection"] {
        for align in [Some(false), Some(true)] {
            for mode in ["bilinear", "nearest", "bicubic"] {
                let operands = [noise(3, &[2, 2, 3, 4]), noise(4, &[2, 2, 3, 2])];
                gradcheck(&|x| grid::grid_sample(&x[0], &x[1].times(1.3)?, mode, border, align), &operands);
            }
            let operands = [noise(5, &[1, 2, 2, 3, 4]), noise(6, &[1, 2, 1, 2, 3])];
            gradcheck(&|x| grid::grid_sample(&x[0], &x[1].times(1.3)?, "bilinear", border, align), &operands);
        }
    }
    gradcheck(&|x| grid::affine_grid(&x[0], &[2, 1, 3, 2], Some(true)), &[noise(7, &[2, 2, 3])]);
    gradcheck(&|x| grid::affine_grid(&x[0], &[1, 1, 2, 3, 2], Some(false)), &[noise(8, &[1, 3, 4])]);
}

/// The kernel that serves first derivatives, and the recorded ops that serve all, where coordinates meet borders.
#[test]
fn both_reverses_agree() {
    use crate::autograd::engine::{Backward, Root, Target, run};
    let grads = |border: &str, mode: &str, create_graph: bool| -> Vec<Vec<f64>> {
        let x = noise(1, &[1, 2, 3, 3]);
        let points = [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, -1.5, 0.3, 0.4];
        let points = Tensor::from_slice(&points, &[1, 1, 5, 2]).unwrap();
        x.set_requires_grad(true).unwrap();
        points.set_requires_grad(true).unwrap();
        let y = grid::grid_sample(&x, &points, mode, border, Some(true)).unwrap();
        let roots = vec![Root { edge: y.grad_edge().unwrap().unwrap(), grad: noise(2, y.sizes()) }];
        let targets = [&x, &points].map(|t| Target::Capture(t.grad_edge().unwrap().unwrap())).into();
        let found = run(Backward { roots, retain_graph: create_graph, create_graph, targets }).unwrap();
        found.into_iter().map(|g| g.unwrap().to_vec::<f64>().unwrap()).collect()
    };
    for border in ["zeros", "border", "reflection"] {
        for mode in ["bilinear", "nearest", "bicubic"] {
            for (a, b) in grads(border, mode, false).iter().flatten().zip(grads(border, mode, true).iter().flatten()) {
                assert!((a - b).abs() < 1e-12, "{mode} {border}: {a} against {b}");
            }
        }
    }
}

#[test]
fn refusals() {
    let x = noise(1, &[1, 1, 3, 4]);
    for bad in [&[1][..], &[i64::MAX, 1], &[i64::MAX, i64::MAX], &[-5, 0], &[0; 10]] {
        assert!(pad::pad(&x, bad, "constant", None).is_err(), "{bad:?}");
        assert!(pad::pad(&x, bad, "replicate", None).is_err(), "{bad:?}");
    }
    assert!(shuffle::pixel_shuffle(&x, i64::MAX).is_err() && shuffle::pixel_unshuffle(&x, i64::MAX).is_err());
    for factor in [f64::NAN, 1e300, -1.0, 0.0] {
        assert!(
            interpolate::interpolate(&x, None, Some(&[factor]), "bilinear", None, None, false).is_err(),
            "{factor}"
        );
    }
    assert!(interpolate::interpolate(&x, Some(&[i64::MAX]), None, "nearest", None, None, false).is_err());
    assert!(grid::affine_grid(&noise(1, &[1, 2, 3]), &[1, 1, i64::MAX, i64::MAX], Some(true)).is_err());
}
