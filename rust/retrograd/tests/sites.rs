//! Errors and panics name lines of the program: those of this file.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

use retrograd::{Result, Tensor, i, tensor};

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
        assert!(place.contains(&format!("tests/sites.rs:{line}")), "{place}");
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
