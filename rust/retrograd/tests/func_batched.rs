//! Transforms of closures that compute a batch at once: Jacobians, Hessians and `vmap`.

mod small_ops;

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use retrograd::engine::autograd::custom::{Call, Edges};
use retrograd::engine::autograd::{Grads, Node, NodeRef, Rule, Run, forward};
use retrograd::engine::{self, transforms};
use retrograd::func;
use retrograd::{Result, Tensor, Tree, custom_op};
use small_ops::model::*;
use small_ops::*;

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

/// Parts of the rows, and of the columns, are computed one after the other.
#[test]
fn jacobians_in_parts() {
    let wide = noise(4, &[3, 5]);
    let many = |x: &Tensor| sin(&mm(x, &wide)); // 2 x 3 -> 2 x 5: by columns
    let few = |x: &Tensor| sin(&mm(&wide, x)); // 5 x 2 -> 3 x 2: by rows
    let data = noise(3, &[4, 3]);
    let tree = |p: &Params| (loss(p, &data), vec![model(p, &data)]);
    let (x, y, p) = (noise(1, &[2, 3]), noise(2, &[5, 2]), params(8));
    let by = |chunk: Option<usize>| {
        let of_many = func::jacobian_with(many, |o| o.chunk_size(chunk))(&x);
        let rows_of_many = func::jacrev_with(many, |o| o.chunk_size(chunk))(&x);
        let of_few = func::jacobian_with(few, |o| o.chunk_size(chunk))(&y);
        let of_tree = func::jacobian_with(tree, |o| o.chunk_size(chunk))(&p);
        let rows_of_tree = func::jacrev_with(tree, |o| o.chunk_size(chunk))(&p);
        assert_eq!((sizes(&of_many), sizes(&of_few)), (&[2, 5, 2, 3][..], &[3, 2, 5, 2][..]));
        let of_few = values(&of_few);
        [values(&of_many), values(&rows_of_many), of_few, all_values(&of_tree), all_values(&rows_of_tree)]
    };
    let whole = by(None);
    assert_close(&whole[0], &values(&func::jacfwd(many)(&x)), 1e-14);
    for chunk in [1, 2, 3, 4, 6, 1000] {
        for (part, whole) in by(Some(chunk)).iter().zip(&whole) {
            assert_close(part, whole, 1e-14);
        }
    }
    // They are recorded too, and mapped.
    let third = |o: func::JacobianOptions| o.chunk_size(2);
    let cube = |x: &Tensor| mul(&mul(x, x), x);
    let of_row = func::jacrev_with(func::jacrev_with(cube, third), third);
    let z = noise(6, &[2, 3]);
    let expected = func::vmap(func::jacrev(func::jacrev(cube)))(&z);
    let found = func::vmap(of_row)(&z);
    assert_eq!(sizes(&found), [2, 3, 3, 3]);
    assert_close(&values(&found), &values(&expected), 1e-14);
    // Nothing at all is one part.
    let none = tensor(&[], &[0]);
    assert_eq!(sizes(&func::jacrev_with(cube, third)(&none)), [0, 0]);
    assert_eq!(sizes(&func::jacobian_with(cube, third)(&none)), [0, 0]);

    let refused = |x: &Tensor| -> Result<Tensor> { Ok(cube(x)) };
    let error = func::jacrev_with(refused, |o| o.chunk_size(0))(&z).unwrap_err().to_string();
    assert_eq!(error, "jacrev: `chunk_size` should be greater than 0.");
    let error = func::jacobian_with(refused, |o| o.chunk_size(0))(&z).unwrap_err().to_string();
    assert_eq!(error, "jacobian: `chunk_size` should be greater than 0.");
}

/// As many calls as there are parts: of the rule by rows, of the function by columns.
#[test]
fn calls_of_jacobians_in_parts() {
    let (calls, pulled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (of_call, of_pull) = (calls.clone(), pulled.clone());
    let square = custom_op(
        "square",
        move |x: &Tensor| {
            of_call.fetch_add(1, Relaxed);
            x * x
        },
        move |cotangent, x, _y| {
            of_pull.fetch_add(1, Relaxed);
            cotangent * x * 2.0
        },
    );
    let x = noise(1, &[7]);
    for (chunk, parts) in [(Some(1), 7), (Some(3), 3), (Some(6), 2), (Some(7), 1), (None, 1)] {
        calls.store(0, Relaxed);
        pulled.store(0, Relaxed);
        func::jacrev_with(|x: &Tensor| square.call(x), |o| o.chunk_size(chunk))(&x);
        assert_eq!((calls.load(Relaxed), pulled.load(Relaxed)), (1, parts), "{chunk:?}");
        // More results than arguments: a call that is given up, and then the parts of the columns.
        let counted = Cell::new(0);
        let twice = |x: &Tensor| {
            counted.set(counted.get() + 1);
            vec![sin(x), exp(x)]
        };
        func::jacobian_with(twice, |o| o.chunk_size(chunk))(&x);
        assert_eq!(counted.get(), 1 + parts, "{chunk:?}");
    }
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
