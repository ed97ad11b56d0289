//! Transforms of closures, checked against differences, analytic derivatives and one another.

mod small_ops;

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use retrograd::engine::autograd::custom::{Call, Edges};
use retrograd::engine::autograd::{Grads, Node, NodeRef, Rule, Run, forward, mode};
use retrograd::engine::{self, transforms};
use retrograd::forward_ad::{dual_level, make_dual, try_make_dual, unpack_dual};
use retrograd::func;
use retrograd::{Error, Result, Tensor, Tree};
use small_ops::*;

#[derive(Tree, Clone)]
struct Params {
    weight: Tensor,
    bias: Tensor,
    #[tree(skip)]
    power: i32,
}

fn params(seed: u64) -> Params {
    Params { weight: noise(seed, &[3, 2]), bias: noise(seed + 1, &[2]), power: 2 }
}

/// Twice a tensor, by a rule that takes the values out of gradients and tangents: it cannot work on batches.
fn doubled_by_value(x: &Tensor) -> Result<Tensor> {
    struct ByValue;
    impl Rule for ByValue {
        fn name(&self) -> Cow<'static, str> {
            "ByValueBackward".into()
        }
        fn apply(&self, _: &NodeRef, grads: &[Option<engine::Tensor>], _: Run) -> Result<Grads> {
            Ok([grads[0].as_ref().map(twice).transpose()?].into_iter().collect())
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }
    fn twice(t: &engine::Tensor) -> Result<engine::Tensor> {
        let doubled: Vec<f64> = t.to_vec::<f64>()?.iter().map(|v| 2.0 * v).collect();
        engine::Tensor::from_slice(&doubled, t.sizes())
    }
    let operands = [x.engine().clone()];
    let node = Edges::of(&operands)?
        .map(|edges| move |_: &[Option<engine::Tensor>], metas| Node::new(ByValue, edges.to_vec(), metas));
    let mut results = [Some(twice(x.engine())?)];
    Call { operands: &operands, dirty: &[], still: &[] }.finish(&mut results, node)?;
    let [Some(result)] = results else { unreachable!("it is there") };
    let rule = &mut |ts: &[Option<engine::Tensor>]| Ok([ts[0].as_ref().map(twice).transpose()?].into_iter().collect());
    forward::propagate_through(&[x.engine()], std::slice::from_ref(&result), rule, "by_value")?;
    Ok(result.into())
}

/// A result for each row of `x`, nonlinear in everything.
fn model(p: &Params, x: &Tensor) -> Tensor {
    let mut y = tanh(&add(&mm(x, &p.weight), &p.bias));
    for _ in 1..p.power {
        y = mul(&y, &add(&y, &p.bias));
    }
    y
}

fn loss(p: &Params, x: &Tensor) -> Tensor {
    sum(&model(p, x))
}

const STEP: f64 = 1e-6;

/// The central difference of `f` along a direction, paired with a cotangent.
fn difference<X: Tree, Y: Tree>(f: impl Fn(&X) -> Y, x: &X, direction: &X, cotangent: &Y) -> f64 {
    let (up, down) = (f(&moved(x, direction, STEP)), f(&moved(x, direction, -STEP)));
    (dot(cotangent, &up) - dot(cotangent, &down)) / (2.0 * STEP)
}

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

#[test]
fn jacobians_agree() {
    let wide = noise(4, &[3, 5]);
    let f = |x: &Tensor| sin(&mm(x, &wide)); // 2 x 3 -> 2 x 5
    let x = noise(1, &[2, 3]);
    let (rows, columns, either) = (func::jacrev(f)(&x), func::jacfwd(f)(&x), func::jacobian(f)(&x));
    assert_eq!(sizes(&rows), [2, 5, 2, 3]);
    assert_eq!((sizes(&columns), sizes(&either)), (sizes(&rows), sizes(&rows)));
    assert_close(&values(&rows), &values(&columns), 1e-14);
    assert_close(&values(&rows), &values(&either), 1e-14);
    let direction = noise(7, &[2, 3]);
    let product: Vec<f64> =
        values(&rows).chunks(6).map(|row| row.iter().zip(values(&direction)).map(|(a, b)| a * b).sum()).collect();
    assert_close(&product, &values(&func::jvp(f, &x, &direction).1), 1e-14);

    // Trees of trees.
    let data = noise(3, &[4, 3]);
    let f = |p: &Params| (loss(p, &data), vec![model(p, &data)]);
    let p = params(8);
    let (of_loss, of_model) = func::jacrev(f)(&p);
    assert_eq!((sizes(&of_loss.weight), sizes(&of_model[0].bias)), (&[3, 2][..], &[4, 2, 2][..]));
    let (of_loss_too, of_model_too) = func::jacfwd(f)(&p);
    assert_close(&all_values(&of_loss), &all_values(&of_loss_too), 1e-13);
    assert_close(&all_values(&of_model), &all_values(&of_model_too), 1e-13);
    assert_close(&all_values(&of_loss), &all_values(&func::grad(|p: &Params| loss(p, &data))(&p)), 1e-13);
    // A result that does not depend on the argument; one element; none.
    let f = |x: &Tensor| (scalar(1.0), mul(x, x));
    let (zeros, squares) = func::jacobian(f)(&tensor(&[3.0], &[1]));
    assert_eq!((values(&zeros), values(&squares), sizes(&squares)), (vec![0.0], vec![6.0], &[1, 1][..]));
    let none = tensor(&[], &[0]);
    assert_eq!(sizes(&func::jacrev(|x: &Tensor| mul(x, x))(&none)), [0, 0]);
    assert_eq!(sizes(&func::jacfwd(|x: &Tensor| mul(x, x))(&none)), [0, 0]);
}

/// The function is called once on plain values, and may branch on them; by `jacobian` twice at most.
#[test]
fn calls_of_jacobians() {
    let calls = Cell::new(0);
    let f = |x: &Tensor| {
        calls.set(calls.get() + 1);
        let x = sum(x);
        if item(&x) > 0.0 { vec![mul(&x, &x); 3] } else { vec![x; 3] }
    };
    let count = |run: &dyn Fn()| {
        calls.set(0);
        run();
        calls.get()
    };
    let x = tensor(&[1.0, 2.0], &[2]);
    assert_eq!(count(&|| drop(func::jacrev(f)(&x))), 1);
    assert_eq!(count(&|| drop(func::jacfwd(f)(&x))), 1);
    assert_eq!(count(&|| drop(func::jacobian(f)(&x))), 2);
    assert_eq!(count(&|| drop(func::hessian(|x: &Tensor| f(x).remove(0))(&x))), 1);
}

/// Where a rule does not know batches there is a loop.
#[test]
fn rules_without_batches() {
    let x = noise(1, &[3]);
    let f = |x: &Tensor| -> Result<(Tensor, Tensor)> {
        let y = doubled_by_value(&mul(x, &sin(x)))?;
        Ok((mul(&y, x), sum(&y)))
    };
    let plain = |x: &Tensor| {
        let y = times(&mul(x, &sin(x)), 2.0);
        (mul(&y, x), sum(&y))
    };
    let expected = func::jacrev(plain)(&x);
    for found in [func::jacrev(f)(&x), func::jacfwd(f)(&x), func::jacobian(f)(&x)] {
        let found = found.unwrap();
        assert_eq!((sizes(&found.0), sizes(&found.1)), (sizes(&expected.0), sizes(&expected.1)));
        assert_close(&all_values(&found), &all_values(&expected), 1e-14);
    }
    let refused = func::vmap(doubled_by_value)(&x).unwrap_err().to_string();
    assert!(refused.contains("vmap"), "{refused}");
    assert_eq!((transforms::depth(), forward::depth()), (0, 0));
}

#[test]
fn hessians() {
    // x^T A x has the Hessian A + A^T.
    let a = noise(1, &[3, 3]);
    let f = |x: &Tensor| {
        let column: Tensor = x.engine().reshape(&[3, 1]).unwrap().into();
        let row: Tensor = x.engine().reshape(&[1, 3]).unwrap().into();
        sum(&mm(&row, &mm(&a, &column)))
    };
    let x = noise(2, &[3]);
    let h = func::hessian(f)(&x);
    let v = values(&a);
    let expected: Vec<f64> = (0..9).map(|i| v[i] + v[i % 3 * 3 + i / 3]).collect();
    assert_eq!(sizes(&h), [3, 3]);
    assert_close(&values(&h), &expected, 1e-14);
    let direction = noise(3, &[3]);
    let product: Vec<f64> =
        expected.chunks(3).map(|row| row.iter().zip(values(&direction)).map(|(a, b)| a * b).sum()).collect();
    assert_close(&values(&func::hvp(f, &x, &direction)), &product, 1e-14);
    // By the parts, in any order of modes.
    for h in [
        func::jacfwd(func::grad(f))(&x),
        func::jacrev(func::grad(f))(&x),
        func::jacrev(func::jacfwd(f))(&x),
        func::jacfwd(func::jacfwd(f))(&x),
    ] {
        assert_close(&values(&h), &expected, 1e-14);
    }
    // Of a struct: a list with a struct for each tensor.
    let (p, data) = (params(3), noise(9, &[4, 3]));
    let h = func::hessian(|p: &Params| loss(p, &data))(&p);
    assert_eq!((sizes(&h[0].bias), sizes(&h[1].weight)), (&[3, 2, 2][..], &[2, 3, 2][..]));
    let direction = noise_like(4, &p);
    let product = func::hvp(|p: &Params| loss(p, &data), &p, &direction);
    let numeric = difference(func::grad(|p: &Params| loss(p, &data)), &p, &direction, &direction);
    assert_close(&[dot(&product, &direction)], &[numeric], 1e-7);
    let full: f64 = h
        .iter()
        .zip(direction.tensors())
        .map(|(rows, left)| {
            let left = values(left);
            rows.tensors()
                .iter()
                .zip(direction.tensors())
                .map(|(block, right)| {
                    let right = values(right);
                    let each = values(block).into_iter().enumerate();
                    each.map(|(i, b)| left[i / right.len()] * b * right[i % right.len()]).sum::<f64>()
                })
                .sum::<f64>()
        })
        .sum();
    assert_close(&[full], &[numeric], 1e-7);
}

#[test]
fn maps() {
    let x = noise(1, &[4, 3]);
    let f = |x: &Tensor| sum(&mul(x, &sin(x)));
    let rows: Vec<f64> = values(&x).chunks(3).map(|row| item(&f(&tensor(row, &[3])))).collect();
    assert_close(&values(&func::vmap(f)(&x)), &rows, 1e-15);
    let g = func::vmap(func::grad(f))(&x);
    let each: Vec<f64> = values(&x).chunks(3).flat_map(|row| values(&func::grad(f)(&tensor(row, &[3])))).collect();
    assert_eq!(sizes(&g), [4, 3]);
    assert_close(&values(&g), &each, 1e-15);
    // Hessians and products for each entry, and a map in a map.
    let h = func::vmap(func::hessian(f))(&x);
    assert_eq!(sizes(&h), [4, 3, 3]);
    let each: Vec<f64> = values(&x).chunks(3).flat_map(|row| values(&func::hessian(f)(&tensor(row, &[3])))).collect();
    assert_close(&values(&h), &each, 1e-14);
    let v = noise(5, &[4, 3]);
    let products = func::vmap(|(x, v): &(Tensor, Tensor)| func::hvp(f, x, v))(&(x.clone(), v.clone()));
    let each: Vec<f64> = values(&x)
        .chunks(3)
        .zip(values(&v).chunks(3))
        .flat_map(|(x, v)| values(&func::hvp(f, &tensor(x, &[3]), &tensor(v, &[3]))))
        .collect();
    assert_close(&values(&products), &each, 1e-14);
    let pairs = func::vmap(|a: &Tensor| func::vmap(|b: &Tensor| mul(a, b))(&v))(&x);
    assert_eq!(sizes(&pairs), [4, 4, 3]);
    // A gradient of a map, and a pullback in a map.
    let total = func::grad(|x: &Tensor| sum(&func::vmap(f)(x)))(&x);
    assert_close(&values(&total), &values(&g), 1e-15);
    let (_, pullback) = func::vjp(|x: &Tensor| mul(x, &sin(x)), &tensor(&[1.0, 2.0, 3.0], &[3]));
    let rows = func::vmap(|g: &Tensor| pullback.call(g))(&v);
    let each: Vec<f64> = values(&v).chunks(3).flat_map(|g| values(&pullback.call(&tensor(g, &[3])))).collect();
    assert_close(&values(&rows), &each, 1e-15);
}

#[test]
fn options_of_maps() {
    let (x, w) = (noise(1, &[3, 4]), noise(2, &[3]));
    let p = Params { weight: noise(3, &[3, 2]), bias: noise(4, &[5, 2]), power: 1 };
    // Axis 1 of x, the same w.
    let f = |(x, w): &(Tensor, Tensor)| sum(&mul(x, w));
    let y = func::vmap_with(f, |o| o.in_dims((1, None)))(&(x.clone(), w.clone()));
    assert_eq!(sizes(&y), [4]);
    let last = func::vmap_with(f, |o| o.in_dims((-1, None)))(&(x.clone(), w.clone()));
    assert_eq!(values(&last), values(&y));
    // A field of a struct, and results in two places.
    let f = |(p, x): &(Params, Tensor)| (model(p, x), p.weight.clone());
    let map = func::vmap_with(f, |o| o.in_dims(((None, 0), None)).out_dims([Some(-1), None]));
    let (y, weight) = map(&(p.clone(), noise(5, &[7, 3])));
    assert_eq!((sizes(&y), sizes(&weight)), (&[7, 2, 5][..], &[3, 2][..]));
    // In parts.
    let square = |x: &Tensor| mul(x, x);
    for chunk in [1, 3, 4, 9] {
        let y = func::vmap_with(square, |o| o.in_dims(1).out_dims(1).chunk_size(chunk))(&x);
        assert_eq!((sizes(&y), values(&y)), (sizes(&x), values(&square(&x))));
    }
}

#[test]
fn refusals_of_maps() {
    let f = |x: &Tensor| -> Result<Tensor> { Ok(x.clone()) };
    let text = |r: Result<Tensor>| r.unwrap_err().to_string();
    assert!(text(func::vmap(f)(&scalar(1.0))).contains("expected in_dim to satisfy -0 <= in_dim < 0"));
    assert!(
        text(func::vmap_with(f, |o| o.in_dims(None))(&scalar(1.0)))
            .contains("Expected at least one Tensor to vmap over")
    );
    let pair = |x: &(Tensor, Tensor)| -> Result<Tensor> { Ok(x.0.clone()) };
    let given = (noise(1, &[2]), noise(1, &[3]));
    let sizes = text(func::vmap(pair)(&given));
    assert!(
        sizes.contains("Expected all tensors to have the same size in the mapped dimension, got sizes [2, 3]"),
        "{sizes}"
    );
    let structure = text(func::vmap_with(pair, |o| o.in_dims((0, (0, 0))))(&given));
    assert!(
        structure.contains("in_dims has structure (0, (0, 0)) but inputs has structure (tensor, tensor)"),
        "{structure}"
    );
    let out = text(func::vmap_with(f, |o| o.out_dims(None))(&noise(1, &[2])));
    assert!(out.contains("can not return a BatchedTensor when out_dim is None"), "{out}");
    let out = text(func::vmap_with(f, |o| o.out_dims((0, 0)))(&noise(1, &[2])));
    assert!(out.contains("out_dims is not compatible"), "{out}");
    assert!(text(func::vmap_with(f, |o| o.chunk_size(0))(&noise(1, &[2]))).contains("greater than 0"));
    let reads = text(func::vmap(|x: &Tensor| -> Result<Tensor> {
        x.engine().item()?;
        Ok(x.clone())
    })(&noise(1, &[2])));
    assert!(reads.contains("calling .item() on a Tensor"), "{reads}");
    assert_eq!(transforms::depth(), 0);
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
