//! Ops made of closures: orders, modes, batches, and what is refused.

mod small_ops;

use retrograd::engine::transforms::vmap;
use retrograd::{CustomOp, Result, Tensor, custom_op, engine, func, grad_with, gradcheck};
use small_ops::{add, exp, mul, noise, sin, tensor};

fn my_exp() -> CustomOp<Tensor, Tensor> {
    custom_op("my_exp", exp, |g, _x, y| mul(g, y))
}

fn values(t: &Tensor) -> Vec<f64> {
    t.to_vec().unwrap()
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_closures_are_the_op_and_its_derivative_of_every_order() {
    let op = my_exp();
    for sizes in [&[][..], &[0], &[1], &[7], &[3, 5]] {
        let x = noise(1, sizes);
        assert_eq!(values(&op.call(&x)), values(&exp(&x)));
        gradcheck(|x: &Tensor| op.call(x), &x).forward(true).batched(true).second(true).run().unwrap();
    }
    let x = tensor(&[0.5, -1.0], &[2]).requires_grad_(true);
    let mut derivative = op.call(&x);
    assert_eq!(derivative.grad_fn_name().unwrap(), "MyExpBackward");
    for _ in 0..3 {
        let ones = tensor(&[1.0, 1.0], &[2]);
        derivative = grad_with(&derivative, &x, |o| o.grad_outputs(&ones).create_graph(true)).unwrap().remove(0);
        for (got, want) in values(&derivative).iter().zip([0.5f64.exp(), (-1.0f64).exp()]) {
            assert!((got - want).abs() < 1e-12);
        }
    }
}

#[test]
fn several_inputs_and_outputs() {
    let op = custom_op(
        "sum_and_product",
        |(a, b): &(Tensor, Tensor)| (add(a, b), mul(a, b)),
        |(sum, product), (a, b), _| (add(sum, &mul(product, b)), add(sum, &mul(product, a))),
    );
    let inputs = (noise(1, &[2, 3]), noise(2, &[2, 3]));
    let call = |(a, b): &(Tensor, Tensor)| op.call((a, b));
    gradcheck(call, &inputs).forward(true).batched(true).batched_forward(true).second(true).run().unwrap();
    let list = custom_op(
        "product_of_all",
        |xs: &Vec<Tensor>| xs[1..].iter().fold(xs[0].clone(), |all, x| mul(&all, x)),
        |g, xs, _| {
            let others = |i: usize| xs.iter().enumerate().filter(move |(k, _)| *k != i).map(|(_, x)| x);
            (0..xs.len()).map(|i| others(i).fold(g.clone(), |all, x| mul(&all, x))).collect::<Vec<Tensor>>()
        },
    );
    let many = vec![noise(3, &[4]), noise(4, &[4]), noise(5, &[4])];
    gradcheck(|xs: &Vec<Tensor>| list.call(xs), &many).forward(true).batched(true).second(true).run().unwrap();
}

#[test]
fn an_output_without_a_gradient_has_zeros() {
    let op = custom_op(
        "two",
        |x: &Tensor| [sin(x), exp(x)],
        |[of_sin, of_exp], x, [_, y]| {
            assert_eq!(of_exp.shape(), [3]);
            assert_eq!(values(of_exp), [0.0; 3]);
            let cos = x.engine().cos().unwrap().into();
            add(&mul(of_sin, &cos), &mul(of_exp, y))
        },
    );
    let x = tensor(&[0.1, 0.2, 0.3], &[3]).requires_grad_(true);
    let [sine, _] = op.call(&x);
    sine.backward_with(|o| o.gradient(&noise(1, &[3]))).unwrap();
    let want: Vec<f64> = values(&noise(1, &[3])).iter().zip([0.1f64, 0.2, 0.3]).map(|(g, x)| g * x.cos()).collect();
    assert_eq!(values(&x.grad().unwrap()), want);
}

#[cfg(feature = "complex")]
#[test]
fn gradients_of_the_wrong_number_shape_or_dtype_are_refused_by_name() {
    let backward = |op: &CustomOp<(Tensor, Tensor), Tensor>, b: Tensor| {
        let a = noise(1, &[2]).requires_grad_(true);
        let y = op.call((&a, b.requires_grad_(true)));
        message(y.backward_with(|o| o.gradient(&noise(3, &[2]))))
    };
    let b = || noise(2, &[2]);
    let pair = |(a, b): &(Tensor, Tensor)| mul(a, b);
    let one = custom_op("my_mul", pair, |g, (_, b), _| mul(g, b));
    let text = backward(&one, b());
    assert!(
        text.contains("function MyMulBackward returned an incorrect number of gradients (expected 2, got 1)"),
        "{text}"
    );
    let three = custom_op("my_mul", pair, |g, (a, b), _| [mul(g, b), mul(g, a), mul(g, a)]);
    let text = backward(&three, b());
    assert!(text.contains("returned an incorrect number of gradients (expected 2, got 3)"), "{text}");
    let shape = custom_op("my_mul", pair, |g, (a, _), _| (noise(1, &[3]), mul(g, a)));
    let text = backward(&shape, b());
    assert!(text.contains("MyMulBackward returned an invalid gradient at index 0"), "{text}");
    assert!(text.contains("[3]") && text.contains("[2]"), "{text}");
    let complex =
        custom_op("my_mul", pair, |g, (a, _), _| (Tensor::from(engine::testing::complex_noise(1, &[2])), mul(g, a)));
    let text = backward(&complex, b());
    assert!(text.contains("MyMulBackward") && text.contains("omplex"), "{text}");
    let none = custom_op("my_mul", pair, |g, (_, b), _| (Some(mul(g, b)), None::<Tensor>));
    let (a, b) = (noise(1, &[2]).requires_grad_(true), b().requires_grad_(true));
    none.call((&a, &b)).backward_with(|o| o.gradient(&noise(3, &[2]))).unwrap();
    assert!(a.grad().is_some() && b.grad().is_none());
}

#[test]
fn gradients_of_broadcast_inputs_are_summed() {
    let op = custom_op("my_mul", |(a, b): &(Tensor, Tensor)| mul(a, b), |g, (a, b), _| (mul(g, b), mul(g, a)));
    let inputs = (noise(1, &[2, 3]), noise(2, &[3]));
    gradcheck(|(a, b): &(Tensor, Tensor)| op.call((a, b)), &inputs)
        .forward(true)
        .batched(true)
        .second(true)
        .run()
        .unwrap();
}

#[test]
fn errors_of_the_closures_arrive() {
    let op = custom_op(
        "picky",
        |x: &Tensor| -> Result<Tensor> { small_ops::try_mul(x, &noise(1, &[2])) },
        |_, _, _| -> Result<Tensor> { Err(engine::Error::autograd("the rule has no answer")) },
    );
    assert!(message(op.try_call(noise(1, &[3]))).contains("must match the size"));
    let x = noise(1, &[2]).requires_grad_(true);
    let text = message(op.call(&x).backward_with(|o| o.gradient(&noise(3, &[2]))));
    assert!(text.contains("the rule has no answer"), "{text}");
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| op.call(noise(1, &[3])))).err().unwrap();
    assert!(panic.downcast_ref::<String>().unwrap().contains("must match the size"));
}

#[test]
fn what_was_saved_may_not_be_written_to() {
    let op = my_exp();
    let x = noise(1, &[2]).requires_grad_(true);
    let y = op.call(&x);
    y.detach().engine().mul_(noise(2, &[2]).engine()).unwrap();
    let text = message(y.backward_with(|o| o.gradient(&noise(3, &[2]))));
    assert!(text.contains("modified by an inplace operation") && text.contains("MyExp"), "{text}");
    let y = op.call(&x);
    y.backward_with(|o| o.gradient(&noise(3, &[2]))).unwrap();
    let text = message(y.backward_with(|o| o.gradient(&noise(3, &[2]))));
    assert!(text.contains("Trying to backward through the graph a second time"), "{text}");
}

#[test]
fn forward_mode_uses_the_rule_that_is_given() {
    let op = my_exp().jvp(|t, _x, y| mul(t, y));
    let x = noise(1, &[3]);
    gradcheck(|x: &Tensor| op.call(x), &x).forward(true).batched_forward(true).second(true).run().unwrap();
    let wrong = my_exp().jvp(|t, x, _y| mul(t, x));
    let report = gradcheck(|x: &Tensor| wrong.call(x), &x).forward(true).run().unwrap_err();
    assert_eq!(report.failure(), retrograd::gradcheck::Failure::Forward);
    let many = my_exp().jvp(|t, x, _y| [mul(t, x), mul(t, x)]);
    let (primal, tangent) = (noise(1, &[3]), noise(2, &[3]));
    let text = message(func::jvp(|x: &Tensor| many.try_call(x), &primal, &tangent));
    assert!(text.contains("returned an invalid number of forward gradients (expected 1 but got 2)"), "{text}");
    assert!(text.contains("my_exp"), "{text}");
}

#[test]
fn batches_run_the_closures_once_for_all_entries() {
    let op = custom_op("my_mul", |(a, b): &(Tensor, Tensor)| mul(a, b), |g, (a, b), _| (mul(g, b), mul(g, a)));
    let (a, b) = (noise(1, &[4, 3]).requires_grad_(true), noise(2, &[3]).requires_grad_(true));
    let product = |op: &CustomOp<(Tensor, Tensor), Tensor>| -> Result<Tensor> {
        let outs = vmap(|xs| Ok(vec![op.try_call((&Tensor::from(xs[0].clone()), &b))?.into()]), &[a.engine()])?;
        Ok(outs[0].clone().into())
    };
    let y = product(&op).unwrap();
    assert_eq!(values(&y), values(&mul(&a, &b)));
    let g = noise(3, &[4, 3]);
    let grads = grad_with(&y, &[&a, &b][..], |o| o.grad_outputs(&g)).unwrap();
    let want = grad_with(mul(&a, &b), &[&a, &b][..], |o| o.grad_outputs(&g)).unwrap();
    for (got, want) in grads.iter().zip(&want) {
        assert_eq!(got.shape(), want.shape());
        for (got, want) in values(got).iter().zip(values(want)) {
            assert!((got - want).abs() < 1e-12);
        }
    }
    // A gradient inside of the batch, and a batch inside of a batch.
    let inside = func::vmap(func::grad(|x: &Tensor| {
        let y = op.call((x, &b));
        Tensor::from(y.engine().sum(None).unwrap())
    }));
    let want = vec![values(&b); 4].concat();
    assert_eq!(values(&inside(&a)), want);
    let nested = func::vmap(func::vmap(|x: &Tensor| op.call((x, x))));
    assert_eq!(values(&nested(&a)), values(&mul(&a, &a)));
}

#[test]
fn a_rule_for_batches_takes_the_place_of_the_closures() {
    let op = custom_op("first", |x: &Tensor| exp(x), |g, _, y| mul(g, y)).vmap(|info, x, axes| {
        assert_eq!((info.batch_size, axes), (4, &[Some(0)][..]));
        Ok((small_ops::times(&exp(x), 10.0), vec![Some(0)]))
    });
    let x = noise(1, &[4, 3]);
    let mapped = func::vmap(|x: &Tensor| op.call(x));
    assert_eq!(values(&mapped(&x)), values(&small_ops::times(&exp(&x), 10.0)));
    // Where a transform inside differentiates, the closures are what is differentiated.
    let slopes = func::vmap(func::grad(|x: &Tensor| Tensor::from(op.call(x).engine().sum(None).unwrap())));
    assert_eq!(values(&slopes(&x)), values(&exp(&x)));
    let short = my_exp().vmap(|_, x, _| Ok((exp(x), Vec::new())));
    let text = message(func::vmap(|x: &Tensor| short.try_call(x))(&x));
    assert!(text.contains("the batching rule of my_exp gives 1 outputs and 0 batch axes"), "{text}");
}

#[test]
fn a_rule_that_reads_values_says_so_and_is_not_differentiated() {
    let read = |g: &Tensor, _: &Tensor, y: &Tensor| {
        let (g, y) = (values(g), values(y));
        tensor(&g.iter().zip(&y).map(|(g, y)| g * y).collect::<Vec<_>>(), &[g.len()])
    };
    let op = custom_op("by_hand", exp, read).once_differentiable();
    let x = noise(1, &[3]).requires_grad_(true);
    gradcheck(|x: &Tensor| op.call(x), &x).run().unwrap();
    let g = noise(2, &[3]).requires_grad_(true);
    let once = grad_with(op.call(&x), &x, |o| o.grad_outputs(&g).create_graph(true)).unwrap().remove(0);
    let text = message(once.backward_with(|o| o.gradient(&noise(3, &[3]))));
    assert!(
        text.contains("trying to differentiate twice a function that was marked with @once_differentiable"),
        "{text}"
    );
    assert!(text.contains("by_hand"), "{text}");
}

#[test]
fn forward_mode_is_refused_where_it_cannot_be_made() {
    let random = custom_op(
        "noisy",
        |x: &Tensor| {
            let draws = engine::ops::random::factory::rand(&[3], None, Default::default()).unwrap();
            Tensor::from(x.engine().add(&draws).unwrap())
        },
        |g, _, _| g.clone(),
    );
    let (x, t) = (noise(1, &[3]), noise(2, &[3]));
    let text = message(func::jvp(|x: &Tensor| random.try_call(x), &x, &t));
    assert!(text.contains("You must implement the jvp function") && text.contains("noisy"), "{text}");
    assert!(text.contains("random numbers"), "{text}");
}

#[test]
fn ops_are_shared_among_threads() {
    let op = my_exp();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let op = op.clone();
            scope.spawn(move || gradcheck(|x: &Tensor| op.call(x), &noise(seed, &[3])).run().unwrap());
        }
    });
}
