//! Functions with a context: what rules are given, what is refused, modes, batches, transforms.

mod small_ops;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use retrograd::engine::autograd::saved::{PackedValue, SavedHooks, pop_hooks, push_hooks};
use retrograd::gradcheck::Failure;
use retrograd::{
    Context, Function, Plain, Result, Tensor, VmapInfo, engine, func, grad_with, gradcheck, gradgradcheck,
};
use small_ops::{add, exp, mul, noise, sin, tensor, times};

fn values(t: &Tensor) -> Vec<f64> {
    t.to_vec().unwrap()
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    }
}

fn total(x: &Tensor) -> Tensor {
    x.engine().sum(None).unwrap().into()
}

fn send(y: &Tensor, g: &Tensor) -> Result<()> {
    y.backward_with(|o| o.gradient(g))
}

/// `e^x`, which saves its output.
struct Exp;

impl Function for Exp {
    type Inputs = Tensor;
    type Outputs = Tensor;
    fn forward(ctx: &mut Context, x: &Tensor) -> Result<Tensor> {
        let y = exp(x);
        ctx.save_for_backward([&y]);
        Ok(y)
    }
    fn backward(ctx: &Context, g: Tensor) -> Result<Option<Tensor>> {
        let [y] = ctx.saved_tensors()?;
        Ok(Some(mul(&g, &y)))
    }
}

/// `a * b`, which computes what is needed.
struct Mul;

impl Function for Mul {
    type Inputs = (Tensor, Tensor);
    type Outputs = Tensor;
    fn forward(ctx: &mut Context, (a, b): &(Tensor, Tensor)) -> Result<Tensor> {
        ctx.save_for_backward([ctx.needs_input_grad(1).then_some(a), ctx.needs_input_grad(0).then_some(b)]);
        ctx.save_for_forward([a, b]);
        Ok(mul(a, b))
    }
    fn backward(ctx: &Context, g: Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let saved = ctx.saved_options()?;
        let times = |place: usize| saved[place].as_ref().map(|x| mul(&g, x));
        assert_eq!(ctx.needs_input_grad(0), saved[1].is_some());
        Ok((times(1), times(0)))
    }
    fn jvp(ctx: &Context, (ta, tb): (Tensor, Tensor)) -> Result<Option<Tensor>> {
        let [a, b] = ctx.saved_tensors()?;
        Ok(Some(add(&mul(&ta, &b), &mul(&a, &tb))))
    }
}

#[test]
fn derivatives_of_every_order_and_mode() {
    for sizes in [&[][..], &[0], &[1], &[3, 2]] {
        let check = |c: retrograd::gradcheck::Gradcheck| {
            c.forward(true).batched(true).batched_forward(true).second(true).run().unwrap()
        };
        check(gradcheck(|x: &Tensor| Exp::apply(x), &noise(1, sizes)));
        check(gradcheck(|(a, b): &(Tensor, Tensor)| Mul::apply((a, b)), &(noise(1, sizes), noise(2, sizes))));
    }
    let x = noise(1, &[3]);
    assert_eq!(Exp::apply(x.requires_grad_(true)).grad_fn_name().unwrap(), "ExpBackward");
    assert!(Exp::apply(noise(1, &[3])).is_leaf());
}

#[test]
fn derivatives_of_derivatives_by_transforms() {
    let x = tensor(&[0.5, -1.0], &[2]);
    let f = |x: &Tensor| total(&mul(&Exp::apply(x), &Mul::apply((x, x))));
    // x^2 e^x has the second derivative (x^2 + 4 x + 2) e^x.
    let want: Vec<f64> = [0.5f64, -1.0].iter().map(|x| (x * x + 4.0 * x + 2.0) * x.exp()).collect();
    let hessian = func::hessian(f)(&x);
    let twice_forward = func::jacfwd(func::jacfwd(f))(&x);
    let twice_reverse = func::jacrev(func::jacrev(f))(&x);
    for h in [hessian, twice_forward, twice_reverse] {
        let h = values(&h);
        assert!((h[0] - want[0]).abs() < 1e-12 && (h[3] - want[1]).abs() < 1e-12, "{h:?} for {want:?}");
        assert_eq!((h[1], h[2]), (0.0, 0.0));
    }
    let third = func::jacfwd(func::jacfwd(func::grad(|x: &Tensor| total(&Exp::apply(x)))))(&x);
    let third = values(&third);
    assert!((third[0] - 0.5f64.exp()).abs() < 1e-12 && (third[7] - (-1.0f64).exp()).abs() < 1e-12);
}

#[test]
fn only_what_is_needed_is_saved() {
    let (a, b) = (noise(1, &[3]).requires_grad_(true), noise(2, &[3]));
    send(&Mul::apply((&a, &b)), &noise(3, &[3])).unwrap();
    assert_eq!(values(&a.grad().unwrap()), values(&mul(&noise(3, &[3]), &b)));
    assert!(b.grad().is_none());
}

/// Several kinds of arguments: a tensor that may be missing, plain values, a list.
struct Affine;

impl Function for Affine {
    type Inputs = (f64, Option<Tensor>, Plain<(i32, char)>, Vec<Tensor>);
    type Outputs = (Tensor, Tensor, &'static str);
    fn forward(ctx: &mut Context, (factor, bias, plain, xs): &Self::Inputs) -> Result<Self::Outputs> {
        assert_eq!(plain.0, (7, 'c'));
        assert!(bias.is_some() || !ctx.needs_input_grad(0));
        ctx.keep(*factor);
        ctx.keep(xs.len());
        ctx.save_for_backward([bias.as_ref()]);
        let sum = xs.iter().fold(times(&xs[0], 0.0), |sum, x| add(&sum, &times(x, *factor)));
        let moved = bias.as_ref().map_or_else(|| sum.clone(), |bias| add(&sum, bias));
        Ok((moved, sum, "a name"))
    }
    fn backward(
        ctx: &Context,
        (moved, sum, ()): (Tensor, Tensor, ()),
    ) -> Result<((), Option<Tensor>, (), Vec<Option<Tensor>>)> {
        let (&factor, &count) = (ctx.kept::<f64>()?, ctx.kept::<usize>()?);
        let both = times(&add(&moved, &sum), factor);
        let bias = ctx.saved_options()?[0].as_ref().map(|_| moved);
        Ok(((), bias, (), vec![Some(both); count]))
    }
}

#[test]
fn arguments_of_many_kinds() {
    let xs = vec![noise(1, &[3]), noise(2, &[3])];
    let plain = || Plain((7, 'c'));
    let with_bias = |(bias, xs): &(Tensor, Vec<Tensor>)| {
        let (moved, sum, name) = Affine::apply((2.0, Some(bias), plain(), xs));
        assert_eq!(name, "a name");
        (moved, sum)
    };
    let inputs = (noise(3, &[3]), xs.clone());
    gradcheck(with_bias, &inputs).forward(true).batched(true).second(true).run().unwrap();
    let without = |xs: &Vec<Tensor>| {
        let (moved, sum, _) = Affine::apply((2.0, None::<Tensor>, plain(), xs));
        (moved, sum)
    };
    gradcheck(without, &xs).forward(true).batched(true).second(true).run().unwrap();
    let mapped = func::vmap(with_bias)(&(noise(3, &[4, 3]), vec![noise(1, &[4, 3]), noise(2, &[4, 3])]));
    assert_eq!(mapped.0.shape(), [4, 3]);
}

/// Returns wrong gradients, as the list says.
struct Wrong;

impl Function for Wrong {
    type Inputs = Vec<Tensor>;
    type Outputs = Tensor;
    fn forward(_ctx: &mut Context, xs: &Vec<Tensor>) -> Result<Tensor> {
        Ok(add(&xs[0], &xs[1]))
    }
    fn backward(_ctx: &Context, g: Tensor) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![Some(g)])
    }
}

/// Refuses to find what was not left for it.
struct Forgetful;

impl Function for Forgetful {
    type Inputs = (Tensor, f64);
    type Outputs = Tensor;
    fn forward(ctx: &mut Context, (x, what): &(Tensor, f64)) -> Result<Tensor> {
        ctx.keep(*what);
        match *what {
            0.0 => ctx.save_for_backward([x, x]),
            1.0 => ctx.save_for_backward([None::<&Tensor>]),
            3.0 => drop(ctx.saved_tensors::<1>()?),
            _ => ctx.save_for_backward([x]),
        }
        Ok(times(x, 2.0))
    }
    fn backward(ctx: &Context, g: Tensor) -> Result<(Option<Tensor>, ())> {
        let [_x] = ctx.saved_tensors()?;
        if *ctx.kept::<f64>()? == 2.0 {
            ctx.kept::<String>()?;
        }
        Ok((Some(times(&g, 2.0)), ()))
    }
}

#[test]
fn mistakes_of_rules_are_errors_with_a_name_and_a_remedy() {
    let x = || noise(1, &[2]).requires_grad_(true);
    let text = message(send(&Wrong::apply([&x(), &x()]), &noise(2, &[2])));
    assert!(
        text.contains("function WrongBackward returned an incorrect number of gradients (expected 2, got 1)"),
        "{text}"
    );
    let text = |what: f64| message(Forgetful::try_apply((x(), what)).and_then(|y| send(&y, &noise(2, &[2]))));
    assert!(text(0.0).contains("2 tensors were saved, and 1 are asked for"), "{}", text(0.0));
    assert!(text(1.0).contains("ask for saved_options()"), "{}", text(1.0));
    assert!(text(2.0).contains("call ctx.keep"), "{}", text(2.0));
    assert!(text(3.0).contains("forward is still running"), "{}", text(3.0));
}

/// Doubles its input in place.
struct Double<const MARK: bool, const GIVE: bool>;

impl<const MARK: bool, const GIVE: bool> Function for Double<MARK, GIVE> {
    type Inputs = Tensor;
    type Outputs = Tensor;
    fn forward(ctx: &mut Context, x: &Tensor) -> Result<Tensor> {
        x.engine().mul_(&tensor(&[2.0], &[]).into())?;
        if MARK {
            ctx.mark_dirty([x]);
        }
        Ok(if GIVE { x.clone() } else { times(x, 1.0) })
    }
    fn backward(_ctx: &Context, g: Tensor) -> Result<Option<Tensor>> {
        Ok(Some(times(&g, 2.0)))
    }
    fn jvp(_ctx: &Context, t: Tensor) -> Result<Option<Tensor>> {
        t.engine().mul_(&tensor(&[2.0], &[]).into())?;
        Ok(Some(t))
    }
}

#[test]
fn inputs_may_be_written_to_and_returned() {
    let leaf = tensor(&[1.0, 2.0], &[2]).requires_grad_(true);
    let x = times(&leaf, 3.0);
    let before = x.version();
    let y = Double::<true, true>::apply(&x);
    assert!(y.same(&x) && y.version() > before);
    assert_eq!(y.grad_fn_name().unwrap(), "DoubleBackward");
    send(&total(&mul(&y, &y)), &tensor(&[1.0], &[])).unwrap();
    assert_eq!(values(&leaf.grad().unwrap()), [72.0, 144.0]);
    let tripled = |x: &Tensor| Double::<true, true>::apply(times(x, 3.0));
    gradcheck(tripled, &noise(1, &[3])).forward(true).run().unwrap();

    let text = message(Double::<true, true>::try_apply(&leaf));
    assert!(text.contains("a leaf Variable that requires grad"), "{text}");
    let text = message(Double::<true, false>::try_apply(times(&leaf, 3.0)));
    assert!(
        text.contains("Some elements marked as dirty during the forward method were not returned as output"),
        "{text}"
    );
    let batch = func::vmap(|x: &Tensor| Double::<true, true>::try_apply(times(x, 1.0)));
    let text = message(batch(&noise(1, &[3, 2])));
    assert!(text.contains("mark_dirty") && text.contains("write the vmap rule of Double"), "{text}");
}

/// An output as is, one without a gradient, and an integer.
struct Mixed;

impl Function for Mixed {
    type Inputs = Tensor;
    type Outputs = (Tensor, Tensor, Tensor);
    fn forward(ctx: &mut Context, x: &Tensor) -> Result<Self::Outputs> {
        let sign: Tensor = x.engine().sign()?.into();
        ctx.mark_non_differentiable([&sign]);
        ctx.set_materialize_grads(false);
        Ok((x.clone(), sign.clone(), sign.to(retrograd::DType::Int64)))
    }
    fn backward(ctx: &Context, (g, of_sign, of_integer): (Tensor, Tensor, Tensor)) -> Result<Option<Tensor>> {
        assert!(ctx.has_gradient(0) && !ctx.has_gradient(1) && !ctx.has_gradient(2));
        assert_eq!(values(&of_sign), [0.0; 2]);
        assert_eq!(of_integer.to_vec::<i64>()?, [0; 2]);
        assert_eq!(of_sign.strides(), [0]);
        Ok(Some(times(&g, 5.0)))
    }
}

#[test]
fn outputs_of_many_kinds() {
    let x = tensor(&[3.0, -4.0], &[2]).requires_grad_(true);
    let (same, sign, integer) = Mixed::apply(&x);
    assert!(!same.same(&x) && same.requires_grad() && !sign.requires_grad() && !integer.requires_grad());
    assert_eq!(values(&same), values(&x));
    send(&same, &tensor(&[1.0, 10.0], &[2])).unwrap();
    assert_eq!(values(&x.grad().unwrap()), [5.0, 50.0]);
    let still = Mixed::apply(tensor(&[3.0], &[1])).0;
    assert!(!still.requires_grad());
}

#[test]
fn forward_runs_without_grad_mode() {
    struct Look;
    impl Function for Look {
        type Inputs = Tensor;
        type Outputs = Tensor;
        fn forward(_ctx: &mut Context, x: &Tensor) -> Result<Tensor> {
            assert!(x.requires_grad() && x.is_leaf());
            let y = sin(x);
            assert!(!y.requires_grad());
            Ok(y)
        }
        fn backward(_ctx: &Context, g: Tensor) -> Result<Option<Tensor>> {
            Ok(Some(g))
        }
    }
    let x = noise(1, &[2]).requires_grad_(true);
    assert!(Look::apply(&x).requires_grad());
    let off = retrograd::engine::autograd::GradGuard::new(false);
    assert!(!Look::apply(&x).requires_grad());
    drop(off);
}

/// Counts its calls, and has a rule for batches that can be told apart.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

impl Function for Counting {
    type Inputs = (Tensor, Tensor);
    type Outputs = Tensor;
    const ONCE_DIFFERENTIABLE: bool = true;
    fn forward(ctx: &mut Context, (a, b): &(Tensor, Tensor)) -> Result<Tensor> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        ctx.save_for_backward([a, b]);
        Ok(mul(a, b))
    }
    fn backward(ctx: &Context, g: Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let [a, b] = ctx.saved_tensors()?;
        Ok((Some(mul(&g, &b)), Some(mul(&g, &a))))
    }
    fn vmap(
        info: &VmapInfo,
        (a, b): &(Tensor, Tensor),
        axes: &[Option<usize>],
    ) -> Result<(Tensor, Vec<Option<usize>>)> {
        assert_eq!((info.batch_size, axes), (4, &[Some(0), None][..]));
        assert_eq!((a.shape(), b.shape()), (&[4, 3][..], &[3][..]));
        Ok((times(&mul(a, b), 10.0), vec![Some(0)]))
    }
    fn name() -> &'static str {
        "counting"
    }
}

#[test]
fn batches_by_a_rule_and_by_entries() {
    let (a, b) = (noise(1, &[4, 3]), noise(2, &[3]));
    let mapped = func::vmap(|a: &Tensor| Counting::apply((a, &b)))(&a);
    assert_eq!(values(&mapped), values(&times(&mul(&a, &b), 10.0)));
    assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    let inside = func::vmap(func::grad(|a: &Tensor| total(&Counting::apply((a, &b)))))(&a);
    assert_eq!(values(&inside), vec![values(&b); 4].concat());
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);

    let (x, y) = (noise(3, &[2]).requires_grad_(true), noise(4, &[2]));
    let g = noise(5, &[2]).requires_grad_(true);
    let once = grad_with(Counting::apply((&x, &y)), &x, |o| o.grad_outputs(&g).create_graph(true)).unwrap().remove(0);
    let text = message(send(&once, &noise(6, &[2])));
    assert!(text.contains("marked with @once_differentiable") && text.contains("counting"), "{text}");
    let report = gradgradcheck(|x: &Tensor| Counting::apply((x, &y)), &x).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Backward);
    assert!(report.to_string().contains("the backward is once_differentiable"), "{report}");
}

#[test]
fn gradients_with_respect_to_what_a_batch_shares_are_sums() {
    let (a, b) = (noise(1, &[4, 3]).requires_grad_(true), noise(2, &[3]).requires_grad_(true));
    let g = noise(3, &[4, 3]);
    let by_entries = func::vmap(|a: &Tensor| Mul::apply((a, &b)));
    let got = grad_with(by_entries(&a), &[&a, &b][..], |o| o.grad_outputs(&g)).unwrap();
    let want = grad_with(mul(&a, &b), &[&a, &b][..], |o| o.grad_outputs(&g)).unwrap();
    for (got, want) in got.iter().zip(&want) {
        assert_eq!(got.shape(), want.shape());
        assert!(values(got).iter().zip(values(want)).all(|(g, w)| (g - w).abs() < 1e-12));
    }
    let inner = |a: &Tensor| func::vmap(|x: &Tensor| Mul::apply((&Exp::apply(x), &b)))(a);
    gradcheck(|a: &Tensor| inner(a), &noise(4, &[2, 3])).forward(true).batched(true).second(true).run().unwrap();
    let nested = func::vmap(func::vmap(|x: &Tensor| Exp::apply(x)))(&a);
    assert_eq!(values(&nested), values(&exp(&a)));
    let reads = func::vmap(|x: &Tensor| Reads::try_apply(x));
    let text = message(reads(&a));
    assert!(text.contains("vmap"), "{text}");
}

/// Reads values, which a batch does not have.
struct Reads;

impl Function for Reads {
    type Inputs = Tensor;
    type Outputs = Tensor;
    fn forward(_ctx: &mut Context, x: &Tensor) -> Result<Tensor> {
        Ok(tensor(&x.to_vec::<f64>()?, x.shape()))
    }
    fn backward(_ctx: &Context, g: Tensor) -> Result<Option<Tensor>> {
        Ok(Some(g))
    }
}

/// Keeps what is saved as a list of numbers, in other memory.
struct AsNumbers;

struct Numbers(Vec<f64>, Vec<usize>);

impl SavedHooks for AsNumbers {
    fn pack(&self, t: &engine::Tensor) -> Result<Box<dyn PackedValue>> {
        PACKED.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Numbers(t.to_vec()?, t.sizes().to_vec())))
    }
}

impl PackedValue for Numbers {
    fn unpack(&self) -> Result<engine::Tensor> {
        engine::Tensor::from_slice(&self.0, &self.1)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

static PACKED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn hooks_see_what_is_saved() {
    let (x, g) = (noise(1, &[3]).requires_grad_(true), noise(2, &[3]));
    push_hooks(Arc::new(AsNumbers)).unwrap();
    let y = Exp::apply(&x);
    pop_hooks().unwrap();
    assert_eq!(PACKED.load(Ordering::Relaxed), 1);
    let first = grad_with(&y, &x, |o| o.grad_outputs(&g).create_graph(true)).unwrap().remove(0);
    assert_eq!(values(&first), values(&mul(&g, &exp(&x))));
    // The second derivative goes through the output that was packed.
    let second = grad_with(&first, &x, |o| o.grad_outputs(&g)).unwrap().remove(0);
    assert_eq!(values(&second), values(&mul(&mul(&g, &g), &exp(&x))));
}

/// Panics, is a NaN, or leaves out what is not needed, as its input says.
struct Odd;

impl Function for Odd {
    type Inputs = (Tensor, &'static str);
    type Outputs = (Tensor, Tensor);
    fn forward(ctx: &mut Context, (x, what): &Self::Inputs) -> Result<Self::Outputs> {
        ctx.keep(*what);
        ctx.set_materialize_grads(false);
        Ok((times(x, if *what == "nan" { f64::NAN } else { 2.0 }), times(x, 3.0)))
    }
    fn backward(ctx: &Context, (a, b): (Tensor, Tensor)) -> Result<(Option<Tensor>, ())> {
        assert!(*ctx.kept::<&str>()? != "panic", "a rule that panics");
        let wrong = *ctx.kept::<&str>()? == "undefined" && !ctx.has_gradient(0);
        let a = if wrong { tensor(&[1.0, 1.0], &[2]) } else { a };
        Ok((Some(add(&times(&a, 2.0), &times(&b, 3.0))), ()))
    }
    fn jvp(ctx: &Context, (t, ()): (Tensor, ())) -> Result<(Option<Tensor>, Option<Tensor>)> {
        Ok((Some(times(&t, 2.0)), ctx.has_gradient(0).then(|| times(&t, 3.0))))
    }
}

#[test]
fn gradients_that_were_not_sent_must_count_as_zeros() {
    let x = noise(1, &[2]);
    gradcheck(|x: &Tensor| Odd::apply((x, "right")), &x).forward(true).run().unwrap();
    let wrong = |x: &Tensor| Odd::apply((x, "undefined"));
    let report = gradcheck(wrong, &x).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Backward);
    let first = |x: &Tensor| Odd::apply((x, "undefined")).0;
    let report = gradcheck(first, &x).run().unwrap_err();
    assert_eq!(report.failure(), Failure::UndefinedGradients);
    assert!(report.to_string().contains("Expected all input grads to be undefined or zero"), "{report}");
    gradcheck(first, &x).check_undefined(false).run().unwrap();
}

#[test]
fn a_rule_that_panics_leaves_everything_as_it_was() {
    let x = noise(1, &[2]).requires_grad_(true);
    let (y, _) = Odd::apply((&x, "panic"));
    let sent = std::panic::catch_unwind(AssertUnwindSafe(|| send(&y, &noise(2, &[2]))));
    assert_eq!(*sent.unwrap_err().downcast::<&str>().unwrap(), "a rule that panics");
    assert!(engine::autograd::is_grad_enabled() && x.grad().is_none());
    send(&Odd::apply((&x, "right")).0, &tensor(&[1.0, 10.0], &[2])).unwrap();
    assert_eq!(values(&x.grad().unwrap()), [2.0, 20.0]);
}

#[test]
fn anomaly_mode_names_the_function_that_made_a_nan() {
    let x = noise(1, &[2]).requires_grad_(true);
    let before = engine::autograd::mode::set(engine::autograd::mode::DETECT_NAN, true);
    let made = Nan::try_apply(&x);
    engine::autograd::mode::restore(engine::autograd::mode::DETECT_NAN, before);
    let text = message(made);
    assert!(text.contains("Nan"), "{text}");
}

/// A NaN that no op makes.
struct Nan;

impl Function for Nan {
    type Inputs = Tensor;
    type Outputs = Tensor;
    fn forward(_ctx: &mut Context, _x: &Tensor) -> Result<Tensor> {
        Ok(tensor(&[1.0, f64::NAN], &[2]))
    }
    fn backward(_ctx: &Context, g: Tensor) -> Result<Option<Tensor>> {
        Ok(Some(g))
    }
}

#[test]
fn nothing_is_left_behind() {
    let x = noise(1, &[1000]).requires_grad_(true);
    let held = x.engine().handle_count();
    for _ in 0..3 {
        let y = Exp::apply(&x);
        let _ = Mul::apply((&y, &x));
        let _tangents = func::jvp(|x: &Tensor| Exp::apply(x), &x.detach(), &noise(2, &[1000]));
    }
    assert_eq!(x.engine().handle_count(), held);
    let y = Exp::apply(&x);
    let weak = y.engine().downgrade();
    drop(y);
    assert!(weak.upgrade().is_none(), "an output that is saved does not hold itself");
}

#[test]
fn errors_name_the_line_of_the_call() {
    let x = noise(1, &[2]).requires_grad_(true);
    let line = line!() + 1;
    let y = Exp::apply(&x);
    y.detach().engine().mul_(noise(2, &[2]).engine()).unwrap();
    let text = message(send(&y, &noise(3, &[2])));
    assert!(text.contains(&format!("saved by the op at    rust/retrograd/tests/function.rs:{line}")), "{text}");
}
