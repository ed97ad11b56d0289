//! Checkpointed calls against plain ones.

mod small_ops;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use retrograd::engine::autograd::engine::{Backward, Target, root, run};
use retrograd::engine::autograd::{backward, mode};
use retrograd::engine::transforms;
use retrograd::{Error, Result, Tensor, Tree, checkpoint, checkpoint_with, func};
use small_ops::*;

/// Counts calls.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicUsize>);

impl Calls {
    fn count(&self) {
        self.0.fetch_add(1, Relaxed);
    }
    fn so_far(&self) -> usize {
        self.0.load(Relaxed)
    }
}

fn gradient_of(x: &Tensor) -> Vec<f64> {
    let g = x.engine().grad().map(|g| g.to_vec().unwrap()).unwrap_or_default();
    x.engine().set_grad(None).unwrap();
    g
}

fn weighted(y: &Tensor, seed: u64) -> Tensor {
    sum(&mul(y, &noise(seed, sizes(y))))
}

fn backward_of(y: &Tensor) {
    backward(weighted(y, 77).engine()).unwrap();
}

#[test]
fn the_same_gradients() {
    let w = leaf(&noise(1, &[3, 3]));
    let block = {
        let w = w.clone();
        move |(x, bias): &(Tensor, Vec<Tensor>)| tanh(&add(&mm(x, &exp(&w)), &sin(&bias[0])))
    };
    let x = (leaf(&noise(2, &[2, 3])), vec![leaf(&noise(3, &[3]))]);
    let all = || [&w, &x.0, &x.1[0]].map(gradient_of);
    let plain = block(&x);
    backward_of(&plain);
    let expected = all();
    let calls = Calls::default();
    let counted = {
        let (block, calls) = (block.clone(), calls.clone());
        move |x: &(Tensor, Vec<Tensor>)| {
            calls.count();
            block(x)
        }
    };
    let y = checkpoint(counted, &x);
    assert_eq!((values(&y), calls.so_far()), (values(&plain), 1));
    backward_of(&y);
    assert_eq!((all(), calls.so_far()), (expected, 2));
    // Without grad mode, a plain call.
    let off = mode::GradGuard::new(false);
    let y = checkpoint(block, &x);
    drop(off);
    assert!(!requires_grad(&y));
}

#[test]
fn once_in_each_pass() {
    let calls = Calls::default();
    let x = leaf(&noise(1, &[4]));
    let block = {
        let calls = calls.clone();
        move |x: &Tensor| {
            calls.count();
            (exp(x), sin(&exp(x)))
        }
    };
    let (a, b) = checkpoint(block, &x);
    let total = add(&sum(&a), &weighted(&b, 3));
    let pass = |retain_graph: bool| {
        let (roots, targets) = (vec![root(total.engine(), None, 0)?], Vec::new());
        run(Backward { roots, retain_graph, create_graph: false, targets })
    };
    pass(true).unwrap();
    assert_eq!(calls.so_far(), 2);
    let first = gradient_of(&x);
    pass(false).unwrap();
    assert_eq!((calls.so_far(), gradient_of(&x)), (3, first));
    let again = pass(false).err().unwrap().to_string();
    assert!(again.contains("Trying to backward through the graph a second time"), "{again}");
    assert_eq!(calls.so_far(), 3);
}

#[test]
fn nested_calls() {
    let (outer, inner) = (Calls::default(), Calls::default());
    let x = leaf(&noise(1, &[3]));
    let block = {
        let (outer, inner) = (outer.clone(), inner.clone());
        move |x: &Tensor| {
            outer.count();
            let inner = inner.clone();
            let y = checkpoint(
                move |x: &Tensor| {
                    inner.count();
                    sin(&exp(x))
                },
                &sin(x),
            );
            exp(&mul(&y, x))
        }
    };
    let plain = exp(&mul(&sin(&exp(&sin(&x))), &x));
    backward_of(&plain);
    let expected = gradient_of(&x);
    let y = checkpoint(block, &x);
    backward_of(&y);
    assert_eq!(gradient_of(&x), expected);
    // The inner one: in the first call, in the repetition of the outer one, and in its own.
    assert_eq!((outer.so_far(), inner.so_far()), (2, 3));
}

#[test]
fn the_second_call_stops_early() {
    let x = leaf(&noise(1, &[3]));
    for early_stop in [true, false] {
        let ends = Calls::default();
        let block = {
            let ends = ends.clone();
            move |x: &Tensor| {
                let y = exp(x);
                ends.count();
                y
            }
        };
        let before = (mode::word(), transforms::active());
        let y = checkpoint_with(block, &x, |o| o.early_stop(early_stop));
        backward_of(&y);
        assert_eq!(gradient_of(&x), values(&mul(&y, &noise(77, &[3]))));
        assert_eq!(ends.so_far(), if early_stop { 1 } else { 2 });
        assert_eq!((mode::word(), transforms::active()), before);
    }
}

#[test]
fn derivatives_of_any_order() {
    let x = noise(1, &[3]);
    let f = |x: &Tensor| sum(&mul(&sin(&exp(x)), x));
    let checkpointed = |x: &Tensor| checkpoint(move |x: &Tensor| mul(&sin(&exp(x)), x), x);
    let g = |x: &Tensor| sum(&checkpointed(x));
    assert_close(&values(&func::grad(g)(&x)), &values(&func::grad(f)(&x)), 1e-14);
    assert_close(&values(&func::hessian(g)(&x)), &values(&func::hessian(f)(&x)), 1e-13);
    let v = noise(2, &[3]);
    assert_close(&values(&func::hvp(g, &x, &v)), &values(&func::hvp(f, &x, &v)), 1e-13);
    let third = |h: &dyn Fn(&Tensor) -> Tensor| {
        func::grad(|x: &Tensor| sum(&func::grad(|x: &Tensor| sum(&func::grad(|x: &Tensor| h(x))(x)))(x)))(&x)
    };
    assert_close(&values(&third(&g)), &values(&third(&f)), 1e-12);
    assert_close(
        &values(&func::jacrev(checkpointed)(&x)),
        &values(&func::jacfwd(|x: &Tensor| mul(&sin(&exp(x)), x))(&x)),
        1e-14,
    );
    let batch = noise(4, &[5, 3]);
    let of_map = |x: &Tensor| checkpoint(|x: &Tensor| func::vmap(func::grad(|x: &Tensor| sum(&sin(x))))(x), x);
    let plain = |x: &Tensor| func::vmap(func::grad(|x: &Tensor| sum(&sin(x))))(x);
    let weighted_gradient = |h: &dyn Fn(&Tensor) -> Tensor| func::grad(|x: &Tensor| weighted(&h(x), 6))(&batch);
    assert_close(&values(&weighted_gradient(&of_map)), &values(&weighted_gradient(&plain)), 1e-15);
}

#[test]
fn what_is_refused() {
    let x = leaf(&noise(1, &[3]));
    let calls = Calls::default();
    let run = |f: fn(usize, &Tensor) -> Tensor, check: bool| {
        let calls = calls.clone();
        calls.0.store(0, Relaxed);
        let block = move |x: &Tensor| {
            calls.count();
            f(calls.so_far(), x)
        };
        let y = checkpoint_with(block, &x, |o| o.determinism_check(check).early_stop(false));
        let result = backward(weighted(&y, 1).engine());
        x.engine().set_grad(None).unwrap();
        result.map_err(|error| error.to_string())
    };
    let fewer = run(|n, x| if n == 1 { exp(&sin(x)) } else { exp(x) }, true).unwrap_err();
    assert!(
        fewer.contains(
            "checkpoint: A different number of tensors was saved during the original forward and recomputation.\nNumber \
             of tensors saved during forward: 2\nNumber of tensors saved during recomputation: 1."
        ),
        "{fewer}"
    );
    let more = run(|n, x| if n == 1 { exp(x) } else { exp(&sin(x)) }, true).unwrap_err();
    assert!(more.contains("trying to save more tensors during recomputation"), "{more}");
    let other =
        |n: usize, x: &Tensor| if n == 1 { exp(x) } else { exp(&Tensor::from(x.engine().expand(&[2, 3]).unwrap())) };
    let facts = run(other, true).unwrap_err();
    assert!(facts.contains("saved metadata: sizes [3], dtype float64\nrecomputed metadata: sizes [2, 3]"), "{facts}");
    assert!(!run(other, false).is_err_and(|error| error.contains("metadata")));

    // A write to an argument in between.
    let y = mul(&x, &scalar(1.0));
    let z = checkpoint(exp, &y);
    y.engine().copy_(noise(3, &[3]).engine()).unwrap();
    let stale = backward(sum(&z).engine()).unwrap_err().to_string();
    assert!(stale.contains("has been modified by an inplace operation"), "{stale}");
    assert!(stale.contains("saved it as 'argument'"), "{stale}");
    let batched =
        func::vmap(|x: &Tensor| -> Result<Tensor> { checkpoint(|x: &Tensor| -> Result<Tensor> { Ok(exp(x)) }, x) })(
            &noise(1, &[2]),
        );
    assert!(batched.unwrap_err().to_string().contains("Put the checkpoint around the vmap"));
}

#[test]
fn errors_and_panics_of_the_second_call() {
    let x = leaf(&noise(1, &[3]));
    let before = (mode::word(), transforms::active());
    let calls = Calls::default();
    let fails = {
        let calls = calls.clone();
        move |x: &Tensor| -> Result<Tensor> {
            calls.count();
            if calls.so_far() % 2 == 0 { Err(Error::value("mine", "not again")) } else { Ok(exp(x)) }
        }
    };
    let y = checkpoint(fails, &x).unwrap();
    assert_eq!(backward(sum(&y).engine()).unwrap_err().to_string(), "mine: not again");
    // Nothing was lost: the third call succeeds.
    backward(sum(&y).engine()).unwrap();
    assert_eq!(gradient_of(&x), values(&y));
    let panics = {
        let calls = Calls::default();
        move |x: &Tensor| {
            calls.count();
            assert!(calls.so_far() == 1, "the second call");
            exp(x)
        }
    };
    let y = checkpoint(panics, &x);
    assert_eq!(panic_of(|| backward(sum(&y).engine())), "the second call");
    assert_eq!((mode::word(), transforms::active()), before);
    let z = checkpoint(exp, &x);
    backward(sum(&z).engine()).unwrap();
    assert_eq!(gradient_of(&x), values(&z));
}

/// What the call holds is freed with the graph.
#[test]
fn nothing_stays() {
    let calls = Calls::default();
    let x = leaf(&noise(1, &[3]));
    for _ in 0..3 {
        let counts = calls.clone();
        let y = checkpoint(
            move |x: &Tensor| {
                counts.count();
                let y = checkpoint(|x: &Tensor| exp(&sin(x)), &exp(x));
                sin(&mul(&y, x))
            },
            &x,
        );
        assert!(Arc::strong_count(&calls.0) > 1);
        backward_of(&y);
        assert_eq!(Arc::strong_count(&calls.0), 1, "the pass freed it, though the result is there");
    }
}

#[test]
fn a_pass_on_another_thread() {
    let x = leaf(&noise(1, &[3]));
    let y = checkpoint(|x: &Tensor| exp(&sin(x)), &x);
    std::thread::scope(|scope| scope.spawn(|| backward_of(&y)).join().unwrap());
    let expected = func::grad(|x: &Tensor| weighted(&exp(&sin(x)), 77))(&x);
    assert_close(&gradient_of(&x), &values(&expected), 1e-15);
}

#[derive(Tree)]
struct Block {
    weight: Tensor,
    #[tree(skip)]
    depth: usize,
}

/// A gradient with chosen inputs, of a struct with a constant.
#[test]
fn structs_and_chosen_inputs() {
    let block = Block { weight: leaf(&noise(1, &[2, 2])), depth: 3 };
    let f = |b: &Block| (0..b.depth).fold(b.weight.clone(), |y, _| tanh(&mm(&y, &b.weight)));
    let loss = weighted(&checkpoint(f, &block), 5);
    let targets = vec![Target::Capture(block.weight.engine().grad_edge().unwrap().unwrap())];
    let roots = vec![root(loss.engine(), None, 0).unwrap()];
    let found = run(Backward { roots, retain_graph: false, create_graph: false, targets }).unwrap();
    let expected = func::grad(|b: &Block| weighted(&f(b), 5))(&block);
    assert_close(&found[0].as_ref().unwrap().to_vec::<f64>().unwrap(), &values(&expected.weight), 1e-15);
}
