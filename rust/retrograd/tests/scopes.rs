//! What holds while functions run, and what functions see of a backward pass.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use retrograd::hooks::{disable_saved_tensors_hooks, saved_tensors_hooks, try_saved_tensors_hooks};
use retrograd::{
    DType, Error, Result, Tensor, autocast, autocast_with, detect_anomaly, detect_nan, detect_nan_or_inf, enable_grad,
    inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled, tensor,
};

/// Runs `scope` with a function that panics.
fn interrupted(scope: impl FnOnce(&dyn Fn())) {
    let panic = || panic!("in the midst of it");
    assert!(catch_unwind(AssertUnwindSafe(|| scope(&panic))).is_err());
}

#[test]
fn modes_end_with_their_function_and_with_panics() {
    let x = tensor![1.0].requires_grad_(true);
    let modes = || (is_grad_enabled(), is_inference_mode_enabled());
    assert_eq!(no_grad(modes), (false, false));
    assert_eq!(no_grad(|| enable_grad(modes)), (true, false));
    assert_eq!(set_grad_enabled(false, modes), (false, false));
    assert_eq!(inference_mode(modes), (false, true));
    assert!(!inference_mode(|| &x * 2.0).requires_grad());
    interrupted(|f| no_grad(f));
    interrupted(|f| inference_mode(f));
    assert_eq!(modes(), (true, false));
    assert!((&x * 2.0).requires_grad());
}

#[test]
fn autocast_ends_with_its_function_and_with_panics() -> Result<()> {
    let x = tensor![[1f32, 2.0], [3.0, 4.0]];
    let product = || x.engine().matmul(x.engine()).map(|y| y.dtype());
    assert_eq!(autocast(product)?, DType::BFloat16);
    assert_eq!(autocast_with(|o| o.dtype(DType::Float16), product)?, DType::Float16);
    assert_eq!(autocast(|| autocast_with(|o| o.enabled(false).cache_enabled(false), product))?, DType::Float32);
    interrupted(|f| autocast(f));
    assert_eq!(product()?, DType::Float32);
    Ok(())
}

#[test]
fn anomalies_are_errors_while_they_are_looked_for() {
    let zero = tensor![0.0].requires_grad_(true);
    let zeros = tensor![0.0];
    let backward = || (&zero / &zeros).backward_with(|o| o.gradient(&tensor![0.0]));
    assert!(backward().is_ok());
    let error = detect_anomaly(backward).unwrap_err().to_string();
    assert!(error.contains("Function 'DivBackward0' returned nan values in its 0th output."), "{error}");
    interrupted(|f| detect_anomaly(f));
    assert!(backward().is_ok());
    let ratio = || tensor![0.0].engine().div(tensor![0.0].engine());
    let error = detect_nan(ratio).unwrap_err().to_string();
    assert!(error.contains("div"), "{error}");
    let log = || tensor![0.0].engine().log();
    assert!(detect_nan(log).is_ok() && detect_nan_or_inf(log).is_err() && ratio().is_ok());
    interrupted(|f| detect_nan_or_inf(f));
    assert!(log().is_ok());
}

#[test]
fn hooks_see_and_replace_gradients() -> Result<()> {
    let x = tensor![1.0, 2.0].requires_grad_(true);
    let y = &x * 3.0;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let first = y.register_hook(move |g| log.lock().unwrap().push(g.to_vec::<f64>().unwrap()))?;
    let second = x.register_hook(|g| g * 2.0)?;
    let third = x.register_hook(|g| Some(g + 1.0))?;
    let cotangent = tensor![0.5, -1.0];
    y.backward_with(|o| o.gradient(&cotangent).retain_graph(true))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [4.0, -5.0]);
    assert_eq!(*seen.lock().unwrap(), [[0.5, -1.0]]);
    first.remove();
    second.remove();
    third.remove();
    x.zero_grad();
    y.backward_with(|o| o.gradient(&cotangent))?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.5, -3.0]);
    assert_eq!(seen.lock().unwrap().len(), 1);
    let refused = tensor![1.0].register_hook(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("cannot register a hook on a tensor that doesn't require gradient"), "{refused}");
    Ok(())
}

#[test]
fn hooks_that_change_what_they_may_not_are_errors() -> Result<()> {
    let x = tensor![1.0, 2.0].requires_grad_(true);
    let error_of = |handle: Result<retrograd::hooks::Handle>| -> Result<String> {
        let handle = handle?;
        let error = (&x * 3.0).backward_with(|o| o.gradient(&tensor![1.0, -1.0])).unwrap_err().to_string();
        handle.remove();
        Ok(error)
    };
    let size = error_of(x.register_hook(|_| tensor![1.0]))?;
    assert!(
        size.contains("scopes.rs:") && size.contains("' has changed the size of value (was [2] got [1])"),
        "{size}"
    );
    let kind = error_of(x.register_hook(|g| g.to(DType::Float32)))?;
    assert!(kind.contains("' has changed the type of value (was float64 got float32)"), "{kind}");
    let own = error_of(x.register_hook(|_| -> Result<()> { Err(Error::autograd("none of that")) }))?;
    assert_eq!(own, "none of that");
    Ok(())
}

#[test]
fn a_panic_in_a_hook_leaves_everything_as_it_was() -> Result<()> {
    let x = tensor![1.0].requires_grad_(true);
    let y = &x * &x;
    let handle = y.register_hook(|_| -> () { panic!("in a hook") })?;
    assert!(catch_unwind(AssertUnwindSafe(|| y.backward())).is_err());
    handle.remove();
    assert!(is_grad_enabled() && x.grad().is_none());
    y.backward()?;
    assert_eq!(x.grad().unwrap().item::<f64>()?, 2.0);
    Ok(())
}

#[test]
fn hooks_run_after_accumulation() -> Result<()> {
    let x = tensor![1.0].requires_grad_(true);
    let handle = x.register_post_accumulate_grad_hook(|leaf| {
        let step = leaf.grad().unwrap() * 0.5;
        no_grad(|| leaf.set(.., leaf - step));
        leaf.zero_grad();
    })?;
    (&x * 4.0).backward()?;
    assert_eq!((x.item::<f64>()?, x.grad().is_none()), (-1.0, true));
    handle.remove();
    (&x * 4.0).backward()?;
    assert_eq!(x.grad().unwrap().item::<f64>()?, 4.0);
    let refused = (&x * 1.0).register_post_accumulate_grad_hook(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("post accumulate grad hooks cannot be registered on non-leaf tensors"), "{refused}");
    Ok(())
}

#[test]
fn saved_tensors_are_packed_and_unpacked() -> Result<()> {
    let x = tensor![3.0].requires_grad_(true);
    let packed = Arc::new(Mutex::new(0));
    let count = packed.clone();
    let y = saved_tensors_hooks(
        move |t| {
            *count.lock().unwrap() += 1;
            t.to_vec::<f64>().unwrap()
        },
        |values: &Vec<f64>| Tensor::from(values),
        || &x * &x,
    );
    let after = &y * &y;
    assert_eq!(*packed.lock().unwrap(), 2);
    after.backward()?;
    assert_eq!(x.grad().unwrap().item::<f64>()?, 4.0 * 27.0);
    let z = saved_tensors_hooks(|_| (), |()| -> Result<Tensor> { Err(Error::autograd("it is gone")) }, || &x * &x);
    assert_eq!(z.backward().unwrap_err().to_string(), "it is gone");
    interrupted(|f| saved_tensors_hooks(|t| t.clone(), |t| t.clone(), f));
    let refused =
        disable_saved_tensors_hooks("not in here", || try_saved_tensors_hooks(|_| (), |()| tensor![0.0], || ()))?;
    assert_eq!(refused.unwrap_err().to_string(), "not in here");
    assert_eq!(saved_tensors_hooks(|_| (), |()| tensor![0.0], || 7), 7);
    Ok(())
}
