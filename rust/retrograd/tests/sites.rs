//! Errors and panics name lines of the program: those of this file.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

use retrograd::nn::{self, Forward, Module};
use retrograd::{DType, Result, Tensor, checkpoint, custom_op, func, i, no_grad, ops, tensor};

/// The first panic of `f` is at this line of this file.
fn panics_at(line: u32, f: impl FnOnce()) {
    static SEEN: Mutex<Option<(String, u32)>> = Mutex::new(None);
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let before = take_hook();
    set_hook(Box::new(|info| *SEEN.lock().unwrap() = info.location().map(|at| (at.file().to_owned(), at.line()))));
    let result = catch_unwind(AssertUnwindSafe(f));
    set_hook(before);
    assert!(result.is_err());
    let (file, at) = SEEN.lock().unwrap().take().unwrap();
    assert!(file.ends_with("tests/sites.rs") && at == line, "{file}:{at}, not line {line}");
}

#[test]
fn panics_are_at_the_line_of_the_call() {
    let (two, three) = (tensor![1.0, 2.0], tensor![1.0, 2.0, 3.0]);
    panics_at(line!(), || drop(&two + &three));
    panics_at(line!(), || drop(two.clone() * three.clone()));
    panics_at(line!(), || drop(1 - tensor![true]));
    panics_at(line!(), || drop(!&two));
    let mut x = two.clone();
    panics_at(line!(), || x += &three);
}

#[test]
fn methods_panic_where_they_are_called() {
    let x = tensor![1.0, 2.0];
    panics_at(line!(), || drop(x.i(i![0, 0])));
    panics_at(line!(), || x.set(7, 1.0));
    panics_at(line!(), || drop(tensor![1].requires_grad_(true)));
    panics_at(line!(), || drop(Tensor::from_vec(vec![1.0], [2])));
    panics_at(line!(), || drop(Tensor::from(1.0).rows()));
    panics_at(line!(), || _ = x.size(4));
}

#[test]
fn generated_functions_panic_where_they_are_called() {
    let (x, three) = (tensor![1.0, 2.0], tensor![1.0, 2.0, 3.0]);
    panics_at(line!(), || drop(ops::add(&x, &three)));
    panics_at(line!(), || drop(ops::add_with(&x, &three, |o| o.alpha(2))));
    panics_at(line!(), || drop(x.add(&three)));
    panics_at(line!(), || drop(x.sub_with(&three, |o| o.alpha(2))));
    panics_at(line!(), || drop(x.add_(&three)));
    panics_at(line!(), || drop(x.add_with_(&three, |o| o.alpha(2))));
    panics_at(line!(), || drop(x.sum_dim(3)));
    panics_at(line!(), || drop(x.sum_with(|o| o.dim(3))));
    panics_at(line!(), || drop(Tensor::zeros([-1])));
    panics_at(line!(), || drop(Tensor::zeros_with([-1], |o| o.dtype(DType::Int64))));
    panics_at(line!(), || drop(x.max_dim(3)));
    panics_at(line!(), || drop(x.chunk(0)));
    panics_at(line!(), || drop(x.H()));
    panics_at(line!(), || drop(x.imag()));
}

/// What the macros that say an index have in them is at their line too.
#[test]
fn macros_panic_at_their_line() {
    let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    panics_at(line!(), || drop(x.i(i![.., 5])));
    panics_at(line!(), || drop(x.i(i![..., 0, 0, 0])));
    panics_at(line!(), || drop(x.i(tensor![true, false, true])));
    panics_at(line!(), || x.set(i![0, ..], tensor![1.0, 2.0, 3.0]));
    panics_at(line!(), || for _ in &Tensor::from(1.0) {});
}

#[test]
fn transforms_panic_where_they_are_called() {
    let x = tensor![1.0, 2.0];
    let three = tensor![1.0, 2.0, 3.0];
    let square = |x: &Tensor| x * x;
    panics_at(line!(), || drop(func::jvp(square, &x, &three)));
    panics_at(line!(), || drop(func::hvp(square, &x, &x)));
    panics_at(line!(), || drop(func::vjp(square, &x).1.call(&three)));
    panics_at(line!(), || drop(func::vjp(square, &tensor![1])));
    panics_at(line!(), || drop(func::linearize(square, &x).1.call(&three)));
    panics_at(line!(), || drop(checkpoint(|x: &Tensor| x + tensor![1.0, 2.0, 3.0], &x)));
    let compiled = func::compile(|x: &Tensor| x.try_add(tensor![1.0, 2.0, 3.0]));
    assert!(compiled.call(&x).is_err());
    let op = custom_op("add_three", |x: &Tensor| x.try_add(tensor![1.0, 2.0, 3.0]), |g, _x, _y| g.clone());
    panics_at(line!(), || drop(op.call(&x)));
}

/// A closure has no caller in Rust: what a transform makes says where it was made.
#[test]
fn functions_of_transforms_say_where_they_were_made() {
    let x = tensor![1.0, 2.0];
    let message = |f: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        payload.downcast_ref::<String>().cloned().expect("the text of an error")
    };
    let check = |line: u32, f: &dyn Fn()| {
        let (message, place) = (message(f), format!("tests/sites.rs:{line}:"));
        assert!(message.contains("in the function that was made at ") && message.contains(&place), "{message}");
    };
    let square = |x: &Tensor| x * x;
    let f = func::grad(square);
    check(line!() - 1, &|| drop(f(&x)));
    let f = func::jacrev_with(square, |o| o.chunk_size(0));
    check(line!() - 1, &|| drop(f(&x)));
    let f = func::jacobian(square);
    check(line!() - 1, &|| drop(f(&tensor![1])));
    let f = func::vmap(square);
    check(line!() - 1, &|| drop(f(&Tensor::from(1.0))));
}

#[derive(Module)]
struct Wide {
    layer: nn::Linear,
}

impl nn::Forward for Wide {
    fn forward(&self, x: &Tensor) -> Tensor {
        self.layer.forward(x) // line of the module
    }
}
const LINE_OF_MODULE: u32 = line!() - 3;

#[test]
fn layers_panic_where_they_are_called() {
    let x = Tensor::ones([2, 3]);
    let layer = nn::Linear::new(4, 2);
    panics_at(line!(), || drop(layer.forward(&x)));
    panics_at(line!(), || _ = nn::Dropout::new(2.0));
    panics_at(line!(), || drop(nn::Conv1d::with(3, 4, 3, |o| o.groups(2))));
    panics_at(line!(), || drop(nn::Conv1d::new(5, 4, 3).forward(&x)));
    panics_at(line!(), || drop(nn::Lstm::new(4, 2).forward(&x)));
    panics_at(line!(), || drop(nn::MultiheadAttention::new(4, 2).forward(&x, &x, &x)));
    panics_at(line!(), || drop(nn::init::xavier_uniform_(&tensor![1.0], 1.0)));
    // In lists and behind pointers, too.
    let list = nn::Sequential::new().push(nn::Linear::new(3, 4)).push(nn::Linear::new(3, 4));
    panics_at(line!(), || drop(list.forward(&x)));
    let nested = nn::Sequential::new().push(nn::Sequential::new().push(nn::Linear::new(4, 4)));
    panics_at(line!(), || drop(nested.forward(&x)));
    let boxed: Box<dyn nn::Forward> = Box::new(nn::Linear::new(4, 4));
    panics_at(line!(), || drop(boxed.forward(&x)));
    // A module of the program has its own line.
    let own = nn::Sequential::new().push(Wide { layer: nn::Linear::new(4, 2) });
    panics_at(LINE_OF_MODULE, || drop(own.forward(&x)));
}

/// The op that saved a tensor is a layer of a list: its line is that of the call of the list, or of the module there.
#[test]
fn layers_of_a_list_save_at_the_line_of_its_call() {
    let line_of = |error: String| {
        let row = error.lines().find(|row| row.trim_start().starts_with("saved by the op at")).map(str::to_owned);
        let row = row.unwrap_or_else(|| panic!("{error}"));
        row.split("tests/sites.rs:").nth(1).and_then(|rest| rest.split(':').next()?.parse::<u32>().ok())
    };
    let stale = |list: &nn::Sequential, own: bool| {
        let x = Tensor::ones([2, 3]);
        let y = list.forward(&x);
        let line = if own { LINE_OF_MODULE } else { line!() - 1 };
        x.add_(1.0);
        let error = y.sum().backward().unwrap_err().to_string();
        assert_eq!(line_of(error.clone()), Some(line), "{error}");
    };
    stale(&nn::Sequential::new().push(nn::Linear::new(3, 4)), false);
    stale(&nn::Sequential::new().push(nn::Sequential::new().push(nn::Linear::new(3, 4))), false);
    stale(&nn::Sequential::new().push(Wide { layer: nn::Linear::new(3, 4) }), true);
    // The layer after a module of the program has the line of the list again.
    let both = nn::Sequential::new().push(Wide { layer: nn::Linear::new(3, 3) }).push(nn::Linear::new(3, 4));
    let y = both.forward(&Tensor::ones([2, 3]));
    let line = line!() - 1;
    no_grad(|| both.parameters()[2].add_(1.0));
    assert_eq!(line_of(y.sum().backward().unwrap_err().to_string()), Some(line));
    let boxed: Box<dyn nn::Forward> = Box::new(nn::Linear::new(3, 4));
    let x = Tensor::ones([2, 3]);
    let y = boxed.forward(&x);
    let line = line!() - 1;
    x.add_(1.0);
    assert_eq!(line_of(y.sum().backward().unwrap_err().to_string()), Some(line));
}

#[test]
fn a_stale_saved_tensor_names_three_lines() -> Result<()> {
    let mut x = tensor![1.0, 2.0];
    let weight = tensor![3.0, 4.0].requires_grad_(true);
    let y = &weight * &x; // line of the op
    let saved = line!() - 1;
    x += 1.0;
    let written = line!() - 1;
    let error = y.backward_with(|o| o.gradient(&tensor![0.5, -1.0])).unwrap_err().to_string();
    let needed = line!() - 1;
    assert!(error.contains("has been modified by an inplace operation: [torch.DoubleTensor [2]]"), "{error}");
    for (what, line) in [("saved by the op at", saved), ("last written at", written), ("needed at", needed)] {
        let place = error.lines().find(|row| row.trim_start().starts_with(what)).unwrap_or_else(|| panic!("{error}"));
        assert!(place.contains(&format!("tests/sites.rs:{line}")) && !place.contains(", in "), "{place}");
    }
    Ok(())
}

#[test]
fn a_second_pass_names_the_first() -> Result<()> {
    let x = tensor![3.0].requires_grad_(true);
    let y = &x * &x;
    y.backward()?;
    let first = line!() - 1;
    let error = y.backward().unwrap_err().to_string();
    assert!(error.contains(&format!("tests/sites.rs:{first}")), "{error}");
    assert!(error.contains(&format!("tests/sites.rs:{}", first + 2)), "{error}");
    Ok(())
}
