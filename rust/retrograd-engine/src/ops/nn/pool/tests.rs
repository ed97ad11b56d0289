use super::{adaptive, avg, max, norm, unpool};
use crate::ops::OneOrMany;
use crate::testing::{gradcheck, noise};
use crate::{Result, Tensor};

fn values(found: Result<OneOrMany>) -> Result<Tensor> {
    match found? {
        OneOrMany::One(values) => Ok(values),
        OneOrMany::Many(mut both) => Ok(both.swap_remove(0)),
    }
}

#[test]
fn derivatives() {
    let x = [noise(1, &[2, 3, 5, 19])];
    for (k, s, p) in [(2, 2, 0), (3, 1, 1), (2, 3, 1)] {
        let (k, s, p) = ([k], [s], [p]);
        gradcheck(&|x| values(max::max_pool2d(&x[0], &k, Some(&s), &p, &[1], true, true)), &x);
        gradcheck(&|x| avg::avg_pool2d(&x[0], &k, Some(&s), &p, true, false, None), &x);
        gradcheck(&|x| avg::avg_pool2d(&x[0], &k, Some(&s), &p, false, true, Some(-3)), &x);
    }
    gradcheck(&|x| adaptive::adaptive_avg_pool2d(&x[0], &[Some(2), None]), &x);
    gradcheck(&|x| values(adaptive::adaptive_max_pool2d(&x[0], &[Some(7)], false)), &x);
    gradcheck(&|x| norm::lp_pool2d(&x[0].plus(2.0)?, 3i64.into(), &[2], None, false), &x);
    let block = [noise(2, &[2, 3, 4, 5])];
    gradcheck(&|x| values(max::max_pool3d(&x[0], &[2], None, &[1], &[1], false, false)), &block);
    gradcheck(&|x| avg::avg_pool3d(&x[0], &[2], None, &[1], false, true, None), &block);
    let at = Tensor::from_slice(&[0i64, 3, 8, 15], &[1, 2, 2]).unwrap();
    gradcheck(&|x| unpool::max_unpool2d(&x[0], &at, &[2], None, &[0], None), &[noise(3, &[1, 2, 2])]);
}

#[test]
fn of_equal_elements_the_first_and_of_nans_the_last() {
    let nan = f64::NAN;
    for n in [4, 40] {
        let row: Vec<f64> = (0..n).map(|i| [1.0, 1.0, nan, nan][i % 4]).collect();
        let x = Tensor::from_slice(&row, &[1, n]).unwrap();
        let (values, at) = max::max_pool1d_with_indices(&x, &[2], None, &[0], &[1], false, true).unwrap();
        let (values, at) = (values.to_vec::<f64>().unwrap(), at.to_vec::<i64>().unwrap());
        for (o, (v, i)) in values.into_iter().zip(at).enumerate() {
            let odd = o % 2 == 1;
            assert!(v.is_nan() == odd && i == (2 * o + usize::from(odd)) as i64, "{v} at {i} in window {o} of {n}");
        }
    }
}

#[test]
fn refusals() {
    let x = noise(1, &[1, 4, 4]);
    let huge = i64::MAX;
    for (k, s, p, d) in
        [(0, 1, 0, 1), (2, 0, 0, 1), (2, 1, -1, 1), (2, 1, 2, 1), (2, 1, 0, 0), (5, 1, 0, 1), (2, 1, 0, huge)]
    {
        assert!(max::max_pool2d(&x, &[k], Some(&[s]), &[p], &[d], false, false).is_err(), "{k} {s} {p} {d}");
    }
    assert_eq!(max::top_max_pool2d(&x, &[2], Some(&[huge]), &[1], &[1], true).unwrap().sizes(), [1, 1, 1]);
    assert!(avg::avg_pool2d(&x, &[2], None, &[0], false, true, Some(0)).is_err());
    assert!(adaptive::adaptive_avg_pool2d(&x, &[Some(-1)]).is_err());
    assert!(adaptive::adaptive_avg_pool2d(&x, &[Some(1 << 40)]).is_err());
    assert!(unpool::max_unpool2d(&x, &Tensor::arange(16).unwrap(), &[2], None, &[0], None).is_err());
}
