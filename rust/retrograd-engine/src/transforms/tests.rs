use super::{Open, Randomness, batch_at_all_levels, depth, enter, exit, joined, move_to_levels, vmap};
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, out};
use crate::autograd::{Grads, engine, forward, mode};
use crate::testing::noise;
use crate::{DType, Result, Tensor};

fn values(t: &Tensor) -> Vec<f64> {
    t.to_vec::<f64>().unwrap()
}

fn watched() -> bool {
    mode::word() & mode::TRANSFORM != 0
}

#[test]
fn levels_close_from_the_innermost_on() {
    let (a, b) = (enter(2, Randomness::Error), enter(3, Randomness::Error));
    assert!((a, b) == (1, 2) && watched());
    assert!(exit(a).unwrap_err().to_string().contains("innermost"));
    exit(b).unwrap();
    exit(a).unwrap();
    assert!(depth() == 0 && !watched());
    assert!(exit(1).is_err() && super::level(1).is_err());
}

#[test]
fn an_error_or_a_panic_closes_the_levels() {
    let x = noise(1, &[2, 3]);
    assert!(vmap(|xs| Ok(vec![xs[0].mm(&xs[0])?]), &[&x]).is_err());
    let caught = std::panic::catch_unwind(|| vmap(|_| panic!("in the function"), &[&noise(1, &[2])]).map(drop));
    assert!(caught.is_err() && depth() == 0 && !watched());
}

#[test]
fn a_tensor_that_escapes_is_refused() {
    let mut kept = None;
    let x = noise(1, &[2, 3]);
    vmap(
        |xs| {
            kept = Some(xs[0].clone());
            Ok(vec![xs[0].clone()])
        },
        &[&x],
    )
    .unwrap();
    let kept = kept.unwrap();
    assert!(watched(), "as long as there is such a tensor, ops look for it");
    assert!(kept.exp().unwrap_err().to_string().contains("left the function"));
    assert!(x.exp().is_ok());
    drop(kept);
    x.exp().unwrap();
    assert!(!watched());
}

#[test]
fn entries_are_not_read() {
    let x = noise(1, &[2, 1]);
    let read = |f: &dyn Fn(&Tensor) -> bool| vmap(|xs| Ok(vec![Tensor::number(f(&xs[0]).into())?]), &[&x]).unwrap();
    for refused in [
        read(&|t| t.item().is_err_and(|e| e.to_string().contains("data-dependent control flow"))),
        read(&|t| t.to_vec::<f64>().is_err()),
        read(&|t| t.as_slice::<f64>().is_none()),
    ] {
        assert_eq!(refused[0].to_vec::<bool>().unwrap(), [true, true]);
    }
}

#[test]
fn axes_come_back_where_they_were() {
    let x = noise(1, &[2, 3, 4]);
    let (_outer, _inner) = (Open::new(2, Randomness::Error), Open::new(3, Randomness::Error));
    let (outer, inner) = (&_outer.level(), &_inner.level());
    let t = x.batch(0, outer).unwrap().batch(0, inner).unwrap();
    assert_eq!(t.sizes(), [4]);
    for levels in [vec![], vec![outer], vec![inner], vec![outer, inner]] {
        let levels: Vec<_> = levels.into_iter().cloned().collect();
        let apart = move_to_levels(&t, &levels).unwrap();
        assert_eq!(apart.ndim(), 1 + levels.len());
        let mut like = noise(1, &[4]);
        for level in &levels {
            like = move_to_levels(&like, std::slice::from_ref(level)).unwrap().batch(0, level).unwrap();
        }
        let back = joined(&apart, &like).unwrap();
        let back = back.unbatch(0, inner).unwrap().unbatch(0, outer).unwrap();
        assert_eq!((back.sizes(), values(&back)), (x.sizes(), values(&x)));
    }
    // Everywhere, in the order of the levels, whatever it is batched at before.
    let row = noise(2, &[3]).batch(0, inner).unwrap();
    let whole = batch_at_all_levels(&row).unwrap().unbatch(0, inner).unwrap().unbatch(0, outer).unwrap();
    assert_eq!(values(&whole), [values(&noise(2, &[3])), values(&noise(2, &[3]))].concat());
}

#[test]
fn maps_nest() {
    let (x, y) = (noise(1, &[3, 4]), noise(2, &[5, 4]));
    let dots = vmap(|xs| vmap(|ys| Ok(vec![xs[0].mul(&ys[0])?.sum(None)?]), &[&y]), &[&x]).unwrap();
    let want = x.mm(&y.t().unwrap()).unwrap();
    assert_eq!(dots[0].sizes(), [3, 5]);
    for (a, b) in values(&dots[0]).iter().zip(values(&want)) {
        assert!((a - b).abs() < 1e-13);
    }
}

#[test]
fn a_batch_without_entries() {
    let x = Tensor::zeros(&[0, 3], DType::Float64).unwrap();
    let y = vmap(|xs| Ok(vec![xs[0].exp()?.sum(None)?, xs[0].clone()]), &[&x]).unwrap();
    assert_eq!((y[0].sizes(), y[1].sizes()), (&[0][..], &[0, 3][..]));
}

/// `f` of an entry of `x` and of `y`.
fn dtype_of(f: fn(&Tensor, &Tensor) -> Result<Tensor>, x: &Tensor, y: &Tensor, batched: bool) -> DType {
    let result = vmap(|xs| Ok(vec![f(&xs[0], if batched { &xs[1] } else { y })?]), &[x, if batched { y } else { x }]);
    result.unwrap()[0].dtype()
}

#[test]
fn promotion_goes_by_the_dims_of_an_entry() {
    let zeros = |sizes: &[usize], dtype| Tensor::zeros(sizes, dtype).unwrap();
    let add: fn(&Tensor, &Tensor) -> Result<Tensor> = |a, b| a.add(b);
    let (line, point) = (zeros(&[2, 3], DType::Float32), zeros(&[2], DType::Float64));
    assert_eq!(dtype_of(add, &line, &point, true), DType::Float32);
    assert_eq!(dtype_of(add, &point, &zeros(&[3], DType::Float32), false), DType::Float32);
    assert_eq!(dtype_of(add, &zeros(&[2], DType::Float32), &zeros(&[], DType::Float64), false), DType::Float64);
    assert_eq!(dtype_of(add, &zeros(&[2, 3], DType::Int32), &point, true), DType::Float64);
    assert_eq!(dtype_of(add, &zeros(&[2, 3], DType::Int32), &zeros(&[2], DType::Int64), true), DType::Int32);
}

#[test]
fn one_tensor_is_not_written_with_many() {
    let (x, sum) = (noise(1, &[2, 3]), Tensor::zeros(&[3], DType::Float64).unwrap());
    let refused = vmap(|xs| Ok(vec![sum.add_(&xs[0])?]), &[&x]).unwrap_err().to_string();
    assert!(refused.contains("is not possible because"), "{refused}");
    assert!((values(&sum), sum.version()) == (vec![0.0; 3], 0));
}

#[test]
fn writes_reach_the_value_and_its_version() {
    let x = noise(1, &[2, 3]);
    let before = values(&x);
    vmap(|xs| Ok(vec![xs[0].mul_(&xs[0])?]), &[&x]).unwrap();
    assert_eq!(values(&x), before.iter().map(|v| v * v).collect::<Vec<_>>());
    assert_eq!(x.version(), 1);
}

#[test]
fn an_entry_has_no_grad_of_its_own() {
    let x = noise(1, &[2, 3]);
    x.set_requires_grad(true).unwrap();
    let refused = vmap(
        |xs| {
            let y = xs[0].exp()?;
            for refused in
                [y.retain_grad().err(), y.set_grad(None).err(), xs[0].set_(&y).err(), xs[0].resize_(&[2]).err()]
            {
                assert!(refused.expect("an error").to_string().contains("is not supported"));
            }
            Ok(vec![y])
        },
        &[&x],
    );
    assert!(refused.is_ok());
}

#[test]
fn gradients_of_every_entry() {
    let (x, w) = (noise(1, &[4, 3]), noise(2, &[3]));
    let per_entry = |xs: &[Tensor]| {
        let w = batch_at_all_levels(&w)?.detach();
        w.set_requires_grad(true)?;
        let y = w.mul(&w)?.mul(&xs[0])?.sum(None)?;
        let g = engine::grad(&y, &[&w], false)?.remove(0).expect("depends on it");
        Ok(vec![g])
    };
    let got = vmap(per_entry, &[&x]).unwrap();
    let want = x.mul(&w).unwrap().mul(&Tensor::number(2i64.into()).unwrap()).unwrap();
    assert_eq!(values(&got[0]), values(&want));
    // Of one tensor for all, it would be a sum without a word.
    let summed = vmap(
        |xs| {
            w.set_requires_grad(true)?;
            let y = w.mul(&xs[0])?.sum(None)?;
            engine::grad(&y, &[&w], false).map(|g| g.into_iter().flatten().collect())
        },
        &[&x],
    );
    assert!(summed.unwrap_err().to_string().contains("not batched"));
}

#[test]
fn a_batch_of_tangents_for_one_primal() {
    let x = noise(1, &[3]);
    let (open, dual_level) = (Open::private(3), forward::enter());
    let level = &open.level();
    let eye = Tensor::from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0f64], &[3, 3]).unwrap();
    let tangents = eye.batch(0, level).unwrap();
    let dual = forward::make_dual(&x, &tangents, dual_level, Some(level)).unwrap();
    let y = dual.exp().unwrap();
    assert!(!y.is_batched(), "the function runs once");
    let (_, t) = forward::unpack_dual(&y, dual_level).unwrap();
    let t = t.unwrap().unbatch(0, level).unwrap();
    forward::exit(dual_level).unwrap();
    let e: Vec<f64> = values(&x).iter().map(|v| v.exp()).collect();
    assert_eq!(values(&t), [e[0], 0.0, 0.0, 0.0, e[1], 0.0, 0.0, 0.0, e[2]]);
}

#[test]
fn random_numbers() {
    let x = Tensor::zeros(&[3, 2], DType::Float64).unwrap();
    let draw = |randomness, f: &dyn Fn(&Tensor) -> Result<Tensor>| {
        let open = Open::new(3, randomness);
        let level = &open.level();
        f(&x.batch(0, level)?)?.unbatch(0, level)
    };
    let fresh: &dyn Fn(&Tensor) -> Result<Tensor> = &|_| super::drawn("rand", &[2], |sizes| Ok(noise(1, sizes)));
    let written: &dyn Fn(&Tensor) -> Result<Tensor> = &|t| crate::ops::memory::cloned(t)?.uniform_(0.0, 1.0, None);
    for f in [fresh, written] {
        assert!(draw(Randomness::Error, f).unwrap_err().to_string().contains("randomness error mode"));
        let rows = |t: Tensor| values(&t).chunks(2).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let same = rows(draw(Randomness::Same, f).unwrap());
        assert!(same[0] == same[1] && same[1] == same[2]);
        let different = rows(draw(Randomness::Different, f).unwrap());
        assert!(different[0] != different[1] && different[1] != different[2]);
    }
}

/// An op without a batching rule.
#[derive(Clone, Debug)]
struct Twice;

impl Primitive for Twice {
    const NAME: &'static str = "twice";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Loop;
    const JVP: Tangents<Self> = Tangents::Linear(u32::MAX);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        xs[0].detach().add(&xs[1].detach()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok([0, 1].map(|_| Some(cx.g().clone())).into_iter().collect())
    }
}

#[test]
fn an_op_without_a_rule_runs_for_every_entry() {
    let (x, y) = (noise(1, &[4, 3]), noise(2, &[3]));
    x.set_requires_grad(true).unwrap();
    let sums = vmap(|xs| Ok(vec![apply1(Twice, &[&xs[0], &y])?]), &[&x]).unwrap().remove(0);
    assert_eq!(values(&sums), values(&x.add(&y).unwrap()));
    assert!(super::looped().contains(&"twice"));
    let grad = engine::grad(&sums.mul(&sums).unwrap().sum(None).unwrap(), &[&x], false).unwrap().remove(0).unwrap();
    assert_eq!(values(&grad), values(&sums).iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    let none = Tensor::zeros(&[0, 3], DType::Float64).unwrap();
    let refused = vmap(|xs| Ok(vec![apply1(Twice, &[&xs[0], &y])?]), &[&none]).unwrap_err().to_string();
    assert!(refused.contains("batch of size 0"), "{refused}");
}
