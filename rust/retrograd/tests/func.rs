//! Transforms of closures that give derivatives, checked against differences, analytic derivatives and one another.

mod small_ops;

use std::collections::BTreeMap;

use retrograd::engine::autograd::{forward, mode};
use retrograd::engine::{self, transforms};
use retrograd::forward_ad::{dual_level, make_dual, try_make_dual, unpack_dual};
use retrograd::func;
use retrograd::{Error, Result, Tensor, Tree};
use small_ops::model::*;
use small_ops::*;

/// vjp, jvp and linearize against differences; the VJP of the VJP, and its JVP, too.
fn check<X: Tree, Y: Tree>(f: impl Fn(&X) -> Y, x: &X) {
    let direction = noise_like(11, x);
    let (value, pullback) = func::vjp(&f, x);
    let cotangent = noise_like(23, &value);
    let expected = difference(&f, x, &direction, &cotangent);
    assert_close(&[dot(&direction, &pullback.call(&cotangent))], &[expected], 1e-7);
    let (again, tangent) = func::jvp(&f, x, &direction);
    assert_eq!(all_values(&again), all_values(&value));
    assert_close(&[dot(&cotangent, &tangent)], &[expected], 1e-7);
    let (again, pushforward) = func::linearize(&f, x);
    assert_eq!(all_values(&again), all_values(&value));
    assert_close(&all_values(&pushforward.call(&direction)), &all_values(&tangent), 1e-12);

    let pulled = |x: &X| func::vjp(&f, x).1.call(&cotangent);
    let second = noise_like(41, x);
    let expected = difference(pulled, x, &direction, &second);
    assert_close(&[dot(&direction, &func::vjp(pulled, x).1.call(&second))], &[expected], 1e-7);
    assert_close(&[dot(&second, &func::jvp(pulled, x, &direction).1)], &[expected], 1e-7);
    let pushed = |x: &X| func::jvp(&f, x, &second).1;
    let cotangent = noise_like(53, &value);
    let expected = difference(pushed, x, &direction, &cotangent);
    assert_close(&[dot(&direction, &func::vjp(pushed, x).1.call(&cotangent))], &[expected], 1e-7);
    assert_close(&[dot(&cotangent, &func::jvp(pushed, x, &direction).1)], &[expected], 1e-7);
}

#[test]
fn products_against_differences() {
    let data = noise(3, &[4, 3]);
    check(|x: &Tensor| exp(&mul(x, &sin(x))), &noise(1, &[2, 3]));
    check(|p: &Params| model(p, &data), &params(5));
    check(|(a, b): &(Tensor, Vec<Tensor>)| (mul(a, &b[0]), [sum(&mul(&b[1], a))]), &{
        (noise(1, &[3]), vec![noise(2, &[3]), noise(3, &[])])
    });
    let map: BTreeMap<String, Tensor> = [("a".into(), noise(1, &[2])), ("b".into(), noise(2, &[2]))].into();
    check(|m: &BTreeMap<String, Tensor>| Some(mul(&m["a"], &exp(&m["b"]))), &map);
}

#[test]
fn gradients() {
    let x = tensor(&[1.0, -2.0], &[2]);
    let g = func::grad(|w: &Tensor| sum(&mul(w, w)));
    assert_eq!(values(&g(&x)), [2.0, -4.0]);
    let (p, data) = (params(1), noise(9, &[4, 3]));
    let (value, grads) = func::value_and_grad(|p: &Params| loss(p, &data))(&p);
    assert_eq!(item(&value), item(&loss(&p, &data)));
    let direction = noise_like(2, &p);
    let one = scalar(1.0);
    assert_close(&[dot(&grads, &direction)], &[difference(|p| loss(p, &data), &p, &direction, &one)], 1e-8);
    assert_eq!(grads.power, 2);
    let ((value, rest), grads) =
        func::value_and_grad_aux(|x: &Tensor| (sum(&mul(x, x)), (mul(x, x), vec![sin(x)])))(&x);
    assert_eq!((item(&value), values(&rest.0), values(&grads)), (5.0, vec![1.0, 4.0], vec![2.0, -4.0]));
    assert!(!requires_grad(&value) && !requires_grad(&rest.0) && !requires_grad(&rest.1[0]));
    // What the result does not depend on has zeros.
    let (ga, gb) = func::grad(|(a, _): &(Tensor, Tensor)| sum(a))(&(x.clone(), noise(1, &[3])));
    assert_eq!((values(&ga), values(&gb)), (vec![1.0; 2], vec![0.0; 3]));
    assert_eq!(values(&func::grad(|_: &Tensor| scalar(3.0))(&x)), [0.0, 0.0]);
}

/// What can be given to a transform: functions, closures that return either, boxed ones, what transforms made.
#[test]
fn functions_of_all_kinds() {
    fn square(x: &Tensor) -> Tensor {
        mul(x, x)
    }
    fn fallible(x: &Tensor) -> Result<Tensor> {
        try_mul(x, x)
    }
    let x = scalar(3.0);
    assert_eq!(item(&func::grad(square)(&x)), 6.0);
    assert_eq!(item(&func::grad(fallible)(&x).unwrap()), 6.0);
    assert_eq!(item(&func::grad(|x: &Tensor| Ok(sum(&try_mul(x, x)?)))(&x).unwrap()), 6.0);
    let boxed: Box<dyn Fn(&Tensor) -> Tensor> = Box::new(func::grad(square));
    assert_eq!(item(&func::grad(boxed)(&x)), 2.0);
    assert_eq!(item(&func::grad(func::grad(fallible))(&x).unwrap()), 2.0);
    assert_eq!(item(&func::jacfwd(func::jacrev(square))(&x)), 2.0);
    let once = vec![scalar(2.0)];
    let (value, _) = func::vjp(move |x: &Tensor| mul(x, &{ once }[0]), &x);
    assert_eq!(item(&value), 6.0);
    // A reference to a function that transforms share.
    let cube = |x: &Tensor| mul(x, &square(x));
    assert_eq!([item(&func::grad(&cube)(&x)), item(&func::hessian(&cube)(&x))], [27.0, 18.0]);
}

/// Perturbations of different transforms must not be taken for one another.
#[test]
fn nested_perturbations() {
    let one = scalar(1.0);
    // d/dx (x * d/dy (x + y)) = 1
    let inner = |x: &Tensor| func::grad(|y: &Tensor| add(x, y))(&scalar(1.0));
    assert_eq!(item(&func::grad(|x: &Tensor| mul(x, &inner(x)))(&one)), 1.0);
    // The same by forward mode, and mixed.
    let inner = |x: &Tensor| func::jvp(|y: &Tensor| add(x, y), &scalar(1.0), &scalar(1.0)).1;
    assert_eq!(item(&func::jvp(|x: &Tensor| mul(x, &inner(x)), &one, &one).1), 1.0);
    assert_eq!(item(&func::grad(|x: &Tensor| mul(x, &inner(x)))(&one)), 1.0);
    let inner = |x: &Tensor| func::grad(|y: &Tensor| add(x, y))(&scalar(1.0));
    assert_eq!(item(&func::jvp(|x: &Tensor| mul(x, &inner(x)), &one, &one).1), 1.0);
    // d/dx (x * d/dy (x * y^2) at y = x) = d/dx 2x^3
    let inner = |x: &Tensor| func::grad(|y: &Tensor| mul(x, &mul(y, y)))(x);
    assert_eq!(item(&func::grad(|x: &Tensor| mul(x, &inner(x)))(&scalar(3.0))), 54.0);
    let inner = |x: &Tensor| func::jvp(|y: &Tensor| mul(x, &mul(y, y)), x, &one).1;
    assert_eq!(item(&func::jvp(|x: &Tensor| mul(x, &inner(x)), &scalar(3.0), &one).1), 54.0);
}

/// An inner gradient that closes over the outer variable once leaked the outer graph into the result.
#[test]
fn nested_gradients_have_no_graph() {
    let point = scalar(2.0);
    let cube = |p: &Tensor, x: &Tensor| mul(p, &mul(x, &mul(x, x)));
    let r = func::grad(|p: &Tensor| func::grad(|x: &Tensor| cube(p, x))(&point))(&scalar(3.0));
    assert_eq!((item(&r), requires_grad(&r)), (12.0, false));
    let r =
        func::grad(|(p, x): &(Tensor, Tensor)| func::grad(|x: &Tensor| cube(p, x))(x))(&(scalar(3.0), point.clone()));
    assert!(!requires_grad(&r.0) && !requires_grad(&r.1));
    let batch = noise(1, &[5]);
    let (value, r) =
        func::value_and_grad(|p: &Tensor| sum(&func::vmap(func::grad(|x: &Tensor| cube(p, x)))(&batch)))(&scalar(3.0));
    assert!(!requires_grad(&value) && !requires_grad(&r));
    let expected: f64 = values(&batch).iter().map(|x| 3.0 * x * x).sum();
    assert_close(&[item(&r)], &[expected], 1e-14);
    // The chain of steps does not grow.
    let mut p = scalar(0.5);
    for _ in 0..3 {
        p = func::grad(|p: &Tensor| mul(p, &func::grad(|x: &Tensor| cube(p, x))(&point)))(&p);
        assert!(!requires_grad(&p) && !p.engine().has_history());
    }
}

/// A graph is there where something outside requires grad, and not under `no_grad`.
#[test]
fn with_ordinary_autograd() {
    let w = leaf(&scalar(3.0));
    let x = scalar(2.0);
    let g = func::grad(|x: &Tensor| mul(&w, &mul(x, x)))(&x);
    assert!(requires_grad(&g));
    engine::autograd::backward(g.engine()).unwrap();
    assert_eq!(w.engine().grad().unwrap().item().unwrap().as_f64(), 4.0);
    let g = func::grad(|w: &Tensor| mul(w, &mul(w, w)))(&w);
    w.engine().set_grad(None).unwrap();
    engine::autograd::backward(g.engine()).unwrap();
    assert_eq!(w.engine().grad().unwrap().item().unwrap().as_f64(), 18.0);
    let _off = mode::GradGuard::new(false);
    let g = func::grad(|w: &Tensor| mul(w, &mul(w, w)))(&w);
    assert_eq!((item(&g), requires_grad(&g)), (27.0, false));
    // What the function computes under no_grad of its own is constant.
    let g = func::grad(|x: &Tensor| {
        let constant = {
            let _off = mode::GradGuard::new(false);
            mul(x, x)
        };
        mul(x, &constant)
    })(&x);
    assert_eq!(item(&g), 4.0);
    let inference = mode::GradGuard::with(mode::INFERENCE, true);
    let y = scalar(2.0);
    assert_eq!(item(&func::grad(|x: &Tensor| mul(x, &mul(x, x)))(&y)), 12.0);
    assert_eq!(item(&func::jvp(|x: &Tensor| mul(x, &mul(x, x)), &y, &y).1), 24.0);
    drop(inference);
}

#[cfg(feature = "complex")]
#[test]
fn refusals_of_derivatives() {
    let f = |x: &Tensor| -> Result<Tensor> { try_mul(x, x) };
    let (x, pair) = (noise(1, &[2]), tensor(&[1.0, 2.0], &[1, 2]));
    let text = |r: Result<()>| r.unwrap_err().to_string();
    let scalar_wanted = text(func::grad(f)(&x).map(drop));
    assert!(
        scalar_wanted.starts_with("grad(f)(x): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims"),
        "{scalar_wanted}"
    );
    let integers = Tensor::from(engine::Tensor::from_slice(&[1i64, 2], &[2]).unwrap());
    let dtype = "only Tensors of floating point and complex dtype can require gradients";
    assert!(text(func::grad(|x: &Tensor| -> Result<Tensor> { Ok(sum(x)) })(&integers).map(drop)).contains(dtype));
    assert!(text(func::jacrev(f)(&integers).map(drop)).contains(dtype));
    let wanted = "Expected primal to be floating point or complex, but got: int64";
    assert!(text(func::jvp(f, &integers, &integers).map(drop)).contains(wanted));
    let bools = |x: &Tensor| -> Result<Tensor> { Ok(x.engine().gt(x.engine())?.into()) };
    assert!(
        text(func::vjp(bools, &x).map(drop)).contains("All outputs of f must be floating-point or complex Tensors")
    );
    assert!(text(func::vjp(|_: &Tensor| -> Result<()> { Ok(()) }, &x).map(drop)).contains("non-empty output"));

    // Shapes and structures.
    let (_, pullback) = func::vjp(f, &x).unwrap();
    let shape = text(pullback.try_call(&pair).map(drop));
    assert!(
        shape.contains("Mismatch in shape: grad_output[0] has a shape of [1, 2] and output[0] has a shape of [2]"),
        "{shape}"
    );
    let list = |x: &Vec<Tensor>| -> Result<Vec<Tensor>> { Ok(x.clone()) };
    let (_, pullback) = func::vjp(list, &vec![x.clone()]).unwrap();
    let structure = text(pullback.try_call(&vec![x.clone(), x.clone()]).map(drop));
    assert!(structure.contains("cotangents: [tensor, tensor], primal output: [tensor]"), "{structure}");
    let structure = text(func::jvp(list, &vec![x.clone()], &vec![]).map(drop));
    assert!(structure.contains("Got primals with structure [tensor] and tangents with structure []"), "{structure}");
    assert!(text(func::jvp(f, &x, &pair).map(drop)).contains("different size than that of the original Tensor"));
    let (_, pushforward) = func::linearize(list, &vec![x.clone()]).unwrap();
    assert!(text(pushforward.try_call(&vec![]).map(drop)).contains("the same argspec as the primals [tensor]"));
    assert!(text(pushforward.try_call(&vec![pair.clone()]).map(drop)).contains("tangent:0 with shape [1, 2]"));
    let single = Tensor::from(engine::Tensor::from_slice(&[1f32, 2.0], &[2]).unwrap());
    assert!(text(pushforward.try_call(&vec![single]).map(drop)).contains("tangent:0 with dtype float32"));
    let complex = Tensor::from(engine::testing::complex_noise(1, &[2]));
    for r in [func::jacrev(f)(&complex), func::jacfwd(f)(&complex), func::jacobian(f)(&complex)] {
        assert!(text(r.map(drop)).contains("Expected all inputs to be real but received complex tensor"));
    }
    // Writes to captured tensors, and to the argument.
    let captured = noise(2, &[2]);
    let writes = |x: &Tensor| -> Result<Tensor> {
        captured.engine().copy_(x.engine())?;
        Ok(sum(x))
    };
    assert!(text(func::grad(writes)(&x).map(drop)).contains("would mutate a captured Tensor"));
    let writes = |x: &Tensor| -> Result<Tensor> {
        x.engine().copy_(captured.engine())?;
        Ok(sum(x))
    };
    assert!(text(func::grad(writes)(&x).map(drop)).contains("in-place"));
    let linked = leaf(&x);
    assert!(text(func::grad(writes)(&linked).map(drop)).contains("in-place"));
}

/// Errors of closures come through, and panics name the place where the function was made.
#[test]
fn errors_and_panics() {
    let fails = |_: &Tensor| -> Result<Tensor> { Err(Error::value("mine", "no")) };
    let x = noise(1, &[2]);
    for error in [
        func::grad(fails)(&x).unwrap_err(),
        func::jacobian(fails)(&x).unwrap_err(),
        func::hessian(fails)(&x).unwrap_err(),
        func::vmap(fails)(&x).unwrap_err(),
        func::hvp(fails, &x, &x).unwrap_err(),
        func::linearize(fails, &x).err().unwrap(),
    ] {
        assert_eq!(error.to_string(), "mine: no");
    }
    let gradient = func::grad(|x: &Tensor| mul(x, x));
    let line = line!() - 1;
    let text = panic_of(|| gradient(&x));
    assert!(text.contains("return a scalar Tensor"), "{text}");
    assert!(text.contains(&format!("made at {}:{line}:", file!())), "{text}");
    let (_, pullback) = func::vjp(|x: &Tensor| mul(x, x), &x);
    assert!(panic_of(|| pullback.call(&scalar(1.0))).contains("Mismatch in shape"));
}

/// Levels and modes of this thread.
fn levels() -> (usize, usize, usize, u32, bool) {
    (transforms::depth(), transforms::active(), forward::depth(), mode::word(), forward::is_enabled())
}

#[test]
fn panics_leave_everything_as_it_was() {
    let x = noise(1, &[2, 2]);
    let before = levels();
    fn bad(_: &Tensor) -> Tensor {
        mode::set_grad_enabled(false);
        panic!("in the closure")
    }
    let runs: [&dyn Fn(); 9] = [
        &|| drop(func::grad(bad)(&x)),
        &|| drop(func::vjp(bad, &x)),
        &|| drop(func::jvp(bad, &x, &x)),
        &|| drop(func::linearize(bad, &x)),
        &|| drop(func::jacfwd(bad)(&x)),
        &|| drop(func::hessian(bad)(&x)),
        &|| drop(func::vmap(func::grad(|x: &Tensor| func::jvp(bad, x, x).1))(&x)),
        &|| drop(func::compile(func::jacrev(bad)).call(&x)),
        &|| dual_level(|| drop(func::hvp(bad, &make_dual(&x, &x), &x))),
    ];
    for run in runs {
        assert_eq!(panic_of(run), "in the closure");
        assert_eq!(levels(), before);
    }
    assert!(try_make_dual(&x, &x).is_err(), "the level of the user is closed, too");
    assert_eq!(item(&func::grad(|x: &Tensor| sum(&mul(x, x)))(&scalar(2.0))), 4.0);
}

#[test]
fn each_thread_for_itself() {
    let (p, data) = (params(1), noise(9, &[4, 3]));
    let f = |p: &Params| loss(p, &data);
    let expected = all_values(&func::hvp(f, &p, &p));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(all_values(&func::hvp(f, &p, &p)), expected);
                    assert_eq!(transforms::active(), 0);
                }
            });
        }
    });
    // A pullback made here may be called elsewhere.
    let (value, pullback) = func::vjp(f, &p);
    let here = all_values(&pullback.call(&value));
    let there = std::thread::scope(|scope| scope.spawn(|| all_values(&pullback.call(&value))).join().unwrap());
    assert_eq!(here, there);
}

#[test]
fn levels_of_the_user() {
    let (x, t) = (noise(1, &[3]), noise(2, &[3]));
    let tangent = dual_level(|| unpack_dual(&mul(&make_dual(&x, &t), &sin(&x))).tangent.unwrap());
    assert_close(&values(&tangent), &values(&mul(&t, &sin(&x))), 1e-15);
    // Nested: the second derivative of sin.
    let second = dual_level(|| {
        let outer = make_dual(&x, &t);
        let inner = dual_level(|| unpack_dual(&sin(&make_dual(&outer, &t))).tangent.unwrap());
        unpack_dual(&inner).tangent.unwrap()
    });
    assert_close(&values(&second), &values(&times(&mul(&sin(&x), &mul(&t, &t)), -1.0)), 1e-15);
    let left = dual_level(|| make_dual(&x, &t));
    assert!(unpack_dual(&left).tangent.is_none());
    dual_level(|| {
        assert!(unpack_dual(&left).tangent.is_none(), "of a level that is closed");
        // Transforms inside do not see the level of the user, and leave it alone.
        let dual = make_dual(&x, &t);
        let g = func::grad(|x: &Tensor| sum(&mul(x, &mul(x, x))))(&dual);
        let expected = times(&mul(&x, &t), 6.0);
        assert_close(&values(&unpack_dual(&g).tangent.unwrap()), &values(&expected), 1e-14);
        let twice = try_make_dual(&dual, &t).unwrap_err().to_string();
        assert!(twice.contains("already has a forward gradient at the same level"), "{twice}");
    });
    let none = try_make_dual(&x, &t).unwrap_err().to_string();
    assert!(none.contains("no level exists, make sure to enter_dual_level() first"), "{none}");
}
