//! Compiled closures give what plain ones give.

mod small_ops;

use std::cell::Cell;

use retrograd::engine::autograd::backward;
use retrograd::{Result, Tensor, Tree, func};
use small_ops::*;

#[derive(Tree)]
struct Params {
    weight: Tensor,
    bias: Option<Tensor>,
}

fn model(p: &Params) -> (Tensor, Vec<Tensor>) {
    let y = tanh(&mm(&p.weight, &p.weight));
    let y = p.bias.as_ref().map_or_else(|| y.clone(), |bias| add(&y, bias));
    (sum(&y), vec![sin(&y), exp(&y)])
}

#[test]
fn trees_in_and_out() {
    let calls = Cell::new(0);
    let f = func::compile(|p: &Params| {
        calls.set(calls.get() + 1);
        model(p)
    });
    for i in 0..6 {
        for bias in [None, Some(noise(9 + i, &[3]))] {
            let p = Params { weight: noise(i, &[3, 3]), bias };
            let (found, expected) = (f.call(&p), model(&p));
            assert_eq!(found.structure(), expected.structure());
            assert_eq!(all_values(&found), all_values(&expected));
        }
    }
    assert_eq!((f.programs(), f.given_up(), calls.get()), (2, None, 4));
    let text = f.explain();
    assert!(text.contains("of Params { weight: tensor, bias: None }: ") && text.contains("tanh"), "{text}");
    let timed = f.explain_call(&Params { weight: noise(1, &[3, 3]), bias: None }).unwrap();
    assert!(timed.matches(" us\n").count() == 1 && timed.matches("tanh").count() == 2, "{timed}");
    let other = f.explain_call(&Params { weight: noise(1, &[4, 4]), bias: None }).unwrap();
    assert!(!other.contains(" us") && calls.get() == 5, "{other}");
}

/// The same tensors in another structure are another kind of call.
#[test]
fn structures_are_told_apart() {
    let f = func::compile(|(a, b): &(Option<Tensor>, Option<Tensor>)| {
        let twice = a.as_ref().map(|a| times(a, 2.0));
        (twice, b.as_ref().map(sin))
    });
    for i in 0..4 {
        let x = noise(i, &[3]);
        let (twice, none) = f.call(&(Some(x.clone()), None));
        assert_eq!((values(&twice.unwrap()), none.is_none()), (values(&times(&x, 2.0)), true));
        let (none, sine) = f.call(&(None, Some(x.clone())));
        assert_eq!((values(&sine.unwrap()), none.is_none()), (values(&sin(&x)), true));
    }
    assert_eq!(f.programs(), 2);
}

#[test]
fn transforms_and_passes_inside() {
    let loss = |p: &Params| model(p).0;
    let gradient = func::compile(func::grad(loss));
    for i in 0..4 {
        let p = Params { weight: noise(i, &[3, 3]), bias: None };
        assert_eq!(all_values(&gradient.call(&p)), all_values(&func::grad(loss)(&p)));
    }
    // Of results of a replay there are gradients, too.
    let f = func::compile(|p: &Params| mul(&sin(&p.weight), &p.weight));
    for i in 0..4 {
        let p = Params { weight: leaf(&noise(i, &[2, 2])), bias: None };
        let cotangent = noise(i + 20, &[2, 2]);
        backward(sum(&mul(&f.call(&p), &cotangent)).engine()).unwrap();
        let expected = func::grad(|w: &Tensor| sum(&mul(&mul(&sin(w), w), &cotangent)))(&p.weight);
        assert_close(&p.weight.engine().grad().unwrap().to_vec::<f64>().unwrap(), &values(&expected), 1e-14);
    }
    assert_eq!(f.programs(), 1);
    // Inside of transforms it runs as it is.
    let f = func::compile(|x: &Tensor| sum(&mul(x, &sin(x))));
    for i in 0..3 {
        let x = noise(i, &[4]);
        let expected = values(&func::grad(|x: &Tensor| sum(&mul(x, &sin(x))))(&x));
        assert_eq!(values(&func::grad(|x: &Tensor| f.call(x))(&x)), expected);
        assert_eq!(sizes(&func::vmap(|x: &Tensor| f.call(x))(&noise(i, &[2, 4]))), [2]);
    }
    assert_eq!((f.programs(), f.given_up()), (0, None));
}

#[test]
fn what_cannot_be_recorded() {
    let reads = func::compile(|x: &Tensor| times(x, item(&sum(x))));
    for i in 0..3 {
        let x = noise(i, &[3]);
        assert_eq!(values(&reads.call(&x)), values(&times(&x, item(&sum(&x)))));
    }
    assert!(reads.given_up().unwrap().contains("item() reads elements"));
    assert!(reads.explain().contains("runs as it is: "));
    let calls = Cell::new(0);
    let varies = func::compile(|x: &Tensor| {
        calls.set(calls.get() + 1);
        if calls.get() % 2 == 0 { vec![x.clone(), sin(x)] } else { vec![sin(x)] }
    });
    for i in 0..4 {
        assert_eq!(varies.call(&noise(i, &[3])).len(), 1 + usize::from(i % 2 == 1));
    }
    assert!(varies.given_up().unwrap().contains("no two calls did the same"));
    let fails = func::compile(|x: &Tensor| -> Result<Tensor> { Ok(x.engine().mm(x.engine())?.into()) });
    for _ in 0..3 {
        assert!(fails.call(&noise(1, &[2, 3])).is_err());
    }
    assert!(fails.given_up().is_none() && !retrograd::engine::compile::is_recording());
    assert!(fails.explain().contains("no kind of calls is replayed as yet"));
}

#[test]
fn from_several_threads() {
    let f = func::compile(|x: &Tensor| sin(&exp(x)));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let f = &f;
            scope.spawn(move || {
                for i in 0..20 {
                    let x = noise(100 * thread + i, &[16]);
                    assert_eq!(values(&f.call(&x)), values(&sin(&exp(&x))));
                }
            });
        }
    });
    assert!(f.programs() >= 1);
}
