//! The checker of derivatives: right rules pass, each kind of wrong one is refused with its entry.

mod small_ops;

use std::sync::atomic::{AtomicUsize, Ordering};

use retrograd::gradcheck::{Failure, Report};
use retrograd::{CustomOp, DType, Result, Tensor, Tree, custom_op, engine, gradcheck, gradgradcheck};
use small_ops::{add, exp, mm, mul, noise, sin, tensor, times};

fn values(t: &Tensor) -> Vec<f64> {
    t.to_vec().unwrap()
}

fn complex(seed: u64, sizes: &[usize]) -> Tensor {
    engine::testing::complex_noise(seed, sizes).into()
}

fn square(x: &Tensor) -> Tensor {
    mul(x, x)
}

/// `x^2` with this rule.
fn square_with(vjp: impl Fn(&Tensor, &Tensor) -> Tensor + Send + Sync + 'static) -> CustomOp<Tensor, Tensor> {
    custom_op("square", square, move |g, x, _| vjp(g, x))
}

fn right(g: &Tensor, x: &Tensor) -> Tensor {
    times(&mul(g, x), 2.0)
}

fn refused(op: &CustomOp<Tensor, Tensor>, x: &Tensor) -> Report {
    let report = gradcheck(|x: &Tensor| op.call(x), x).run().unwrap_err();
    // The quick way must see it too.
    let fast = gradcheck(|x: &Tensor| op.call(x), x).fast(true).run().unwrap_err();
    assert_eq!(fast.failure(), report.failure(), "{fast}");
    report
}

fn point() -> Tensor {
    tensor(&[0.5, -1.5, 2.5], &[3])
}

/// The entry on the diagonal that the report names.
fn entry(report: &Report) -> usize {
    assert_eq!(report.failure(), Failure::Backward, "{report}");
    let worst = report.mismatch().unwrap();
    assert_eq!((worst.input, worst.output), (0, 0));
    assert_eq!(worst.input_entry, worst.output_entry);
    let shown = format!("entry ({0}), output 0, entry ({0}), made by SquareBackward", worst.input_entry[0]);
    assert!(report.to_string().contains(&shown), "{report}");
    worst.input_entry[0]
}

fn cause(report: &Report) -> String {
    report.to_string().split("Likely cause: ").last().unwrap().trim().to_owned()
}

// ---- what passes

#[test]
fn right_rules_pass_every_check() {
    let op = square_with(right);
    for sizes in [&[][..], &[0], &[1], &[5], &[2, 3]] {
        for fast in [false, true] {
            gradcheck(|x: &Tensor| op.call(x), &noise(1, sizes))
                .fast(fast)
                .forward(true)
                .batched(true)
                .batched_forward(true)
                .check_grad_dtypes(true)
                .second(true)
                .run()
                .unwrap();
        }
    }
}

#[test]
fn several_inputs_and_outputs() {
    let f = |(a, b): &(Tensor, Tensor)| (mm(a, b), sin(&add(a, a)), exp(b));
    let inputs = (noise(1, &[2, 3]), noise(2, &[3, 4]));
    gradcheck(f, &inputs).forward(true).batched(true).batched_forward(true).second(true).run().unwrap();
    gradcheck(f, &inputs).forward(true).second(true).fast(true).seed(5).run().unwrap();
}

#[derive(Tree)]
struct Layer {
    weight: Tensor,
    bias: Option<Tensor>,
}

#[test]
fn trees_of_tensors() {
    let layer = Layer { weight: noise(1, &[2, 3]), bias: Some(noise(2, &[3])) };
    let f = |(layer, xs): &(Layer, Vec<Tensor>)| -> Vec<Tensor> {
        let output =
            |x: &Tensor| layer.bias.as_ref().map_or_else(|| mm(x, &layer.weight), |b| add(&mm(x, &layer.weight), b));
        xs.iter().map(|x| sin(&output(x))).collect()
    };
    gradcheck(f, &(layer, vec![noise(3, &[1, 2]), noise(4, &[2, 2])])).forward(true).second(true).run().unwrap();
}

#[test]
fn complex_numbers() {
    let z = complex(1, &[3]);
    let holomorphic = |z: &Tensor| mul(z, &exp(z));
    let to_real = |z: &Tensor| -> Result<Tensor> { Ok(z.engine().abs()?.into()) };
    let from_real = |x: &Tensor| mul(x, &complex(2, &[3]));
    let conjugate = |z: &Tensor| -> Result<Tensor> { Ok(z.engine().conj()?.mul(z.engine())?.into()) };
    for fast in [false, true] {
        gradcheck(holomorphic, &z).fast(fast).forward(true).batched(true).second(true).run().unwrap();
        gradcheck(to_real, &z).fast(fast).forward(true).second(true).run().unwrap();
        gradcheck(from_real, &noise(3, &[3])).fast(fast).forward(true).second(true).run().unwrap();
        gradcheck(conjugate, &z).fast(fast).forward(true).second(true).run().unwrap();
    }
    let op = custom_op("square", square, |g, z: &Tensor, _| times(&mul(g, z), 2.0));
    let report = gradcheck(|z: &Tensor| op.call(z), &z).run().unwrap_err();
    assert!(report.to_string().starts_with("While considering the "), "{report}");
    assert!(report.to_string().contains("part of complex outputs only, Jacobian mismatch"), "{report}");
    assert_eq!(cause(&report), "the gradient is conjugated");
    assert!(report.mismatch().unwrap().analytical.im != 0.0);
    let ruled =
        custom_op("square", square, |g, z: &Tensor, _| times(&mul(g, &Tensor::from(z.engine().conj().unwrap())), 2.0));
    gradcheck(|z: &Tensor| ruled.call(z), &z).forward(true).second(true).run().unwrap();
    let wrong = ruled.jvp(|t, z, _| times(&mul(t, &Tensor::from(z.engine().conj().unwrap())), 2.0));
    let report = gradcheck(|z: &Tensor| wrong.call(z), &z).forward(true).run().unwrap_err();
    assert!(
        report.to_string().contains("part of complex inputs only, Jacobian computed with forward mode"),
        "{report}"
    );
}

#[test]
fn inputs_are_left_as_they_are() {
    let x = point().requires_grad_(true);
    let constant = noise(2, &[3]);
    let (version, before) = (x.version(), values(&x));
    let f = |(x, c): &(Tensor, Tensor)| mul(&square(x), c);
    gradcheck(f, &(x.clone(), constant.clone())).forward(true).second(true).run().unwrap();
    assert!(x.grad().is_none() && x.version() == version && values(&x) == before);
    assert!(!constant.requires_grad());
    // An input that does not require grad, where another does, is not checked.
    let op = custom_op("half_right", |(a, b): &(Tensor, Tensor)| mul(a, b), |g, (_, b), _| (mul(g, b), g.detach()));
    let call = |(a, b): &(Tensor, Tensor)| op.call((a, b));
    gradcheck(call, &(x.clone(), constant.clone())).run().unwrap();
    let report = gradcheck(call, &(x.detach(), constant)).run().unwrap_err();
    assert_eq!(report.mismatch().unwrap().input, 1);
    assert!(report.to_string().contains("Worst at input 1, entry"), "{report}");
    let off = engine::autograd::GradGuard::new(false);
    gradcheck(|x: &Tensor| square(x), &x).second(true).run().unwrap();
    drop(off);
}

#[test]
fn layouts_that_are_not_contiguous() {
    let t = |x: &Tensor| Tensor::from(x.engine().t().unwrap());
    let x = t(&noise(1, &[2, 3]));
    assert!(!x.is_contiguous());
    gradcheck(|x: &Tensor| mm(x, &t(x)), &x).forward(true).second(true).run().unwrap();
    let wide = Tensor::from(noise(2, &[1]).engine().expand(&[3]).unwrap());
    gradcheck(|x: &Tensor| square(x), &wide).forward(true).run().unwrap();
}

// ---- wrong rules

#[test]
fn a_factor_that_is_a_thousandth_off() {
    let report = refused(&square_with(|g, x| times(&right(g, x), 1.001)), &point());
    assert_eq!(entry(&report), 2);
    let worst = report.mismatch().unwrap();
    assert!((worst.numerical.re - 5.0).abs() < 1e-6 && (worst.analytical.re - 5.005).abs() < 1e-12);
    assert!((worst.bound - 5.1e-4).abs() < 1e-9);
    assert!(report.to_string().contains("atol 1e-05 + rtol 0.0001 * |numerical|"), "{report}");
    assert_eq!(cause(&report), "a factor is wrong: the gradient is 1.001 times what it should be everywhere");
    let op = square_with(|g, x| times(&right(g, x), 1.001));
    gradcheck(|x: &Tensor| op.call(x), &point()).rtol(2e-3).check_undefined(false).run().unwrap();
}

#[test]
fn factors_have_their_causes() {
    for (factor, text) in [
        (0.5, "the gradient is 0.5 times what it should be: a factor is missing, or a second use"),
        (2.0, "the gradient is 2 times too large: it is accumulated twice"),
        (-1.0, "the sign is wrong"),
        (0.0, "there is no gradient: a detach(), no_grad, item()"),
    ] {
        let report = refused(&square_with(move |g, x| times(&right(g, x), factor)), &point());
        assert!(cause(&report).starts_with(text), "{report}");
    }
}

#[test]
fn a_factor_that_is_missing_at_some_entries() {
    let mask = || tensor(&[1.0, 0.5, 1.0], &[3]);
    let report = refused(&square_with(move |g, x| mul(&right(g, x), &mask())), &point());
    assert_eq!(entry(&report), 1);
    let gone = || tensor(&[1.0, 1.0, 0.0], &[3]);
    let report = refused(&square_with(move |g, x| mul(&right(g, x), &gone())), &point());
    assert_eq!(entry(&report), 2);
    assert_eq!(cause(&report), "there is no gradient for 1 of 3 elements of the input: a use of it is forgotten");
}

#[test]
fn a_transposed_jacobian_and_permuted_values() {
    let matrix = || tensor(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let op = custom_op("apply", move |x: &Tensor| mm(&matrix(), x), move |g, _, _| mm(&matrix(), g));
    let x = tensor(&[0.3, 0.7], &[2, 1]);
    let report = gradcheck(|x: &Tensor| op.call(x), &x).run().unwrap_err();
    assert_eq!(cause(&report), "the Jacobian is transposed");
    let worst = report.mismatch().unwrap();
    assert!(worst.input_entry[0] != worst.output_entry[0], "{report}");
    assert!(gradcheck(|x: &Tensor| op.call(x), &x).fast(true).run().is_err());

    let flip = |x: &Tensor| Tensor::from(x.engine().flip(&[0]).unwrap());
    let report = refused(&square_with(move |g, x| flip(&right(g, x))), &point());
    assert!(cause(&report).starts_with("the right values in the wrong places"), "{report}");
}

#[test]
fn a_backward_that_changes_from_run_to_run() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let op = square_with(|g, x| {
        let noise = 1e-9 * RUNS.fetch_add(1, Ordering::Relaxed) as f64;
        times(&right(g, x), 1.0 + noise)
    });
    let check = || gradcheck(|x: &Tensor| op.call(x), &noise(1, &[2])).check_undefined(false);
    let report = check().run().unwrap_err();
    assert_eq!(report.failure(), Failure::NotReentrant);
    assert!(report.to_string().contains("Backward is not reentrant"), "{report}");
    assert!(report.to_string().contains("gives input 0 the gradient"), "{report}");
    check().nondet_tol(1e-6).run().unwrap();
}

#[test]
fn a_function_that_changes_from_call_to_call() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let f = |x: &Tensor| times(x, 1.0 + 0.1 * CALLS.fetch_add(1, Ordering::Relaxed) as f64);
    let report = gradcheck(f, &point()).run().unwrap_err();
    assert!(cause(&report).starts_with("f gives different results for the same inputs"), "{report}");
}

#[test]
fn a_wrong_second_derivative() {
    // Right to first order; the rule hides that it depends on x.
    let op = square_with(|g, x| right(g, &x.detach()));
    gradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap();
    let report = gradgradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Backward);
    assert!(report.to_string().contains("(Outputs are gradients here"), "{report}");
    let worst = report.mismatch().unwrap();
    assert_eq!((worst.input, worst.output, worst.analytical.re), (0, 0, 0.0));
    let report = gradcheck(|x: &Tensor| op.call(x), &point()).second(true).run().unwrap_err();
    assert!(report.to_string().contains("(Outputs are gradients here"), "{report}");

    // The rule that the backward is made of is wrong by a thousandth.
    let inner = custom_op("double", |x: &Tensor| times(x, 2.0), |g, _, _| times(g, 2.002));
    let outer = square_with(move |g, x| mul(g, &inner.call(x)));
    gradcheck(|x: &Tensor| outer.call(x), &point()).run().unwrap();
    for fast in [false, true] {
        let check = gradgradcheck(|x: &Tensor| outer.call(x), &point()).fast(fast).run();
        assert_eq!(check.unwrap_err().failure(), Failure::Backward);
    }
}

#[test]
fn a_backward_that_is_not_linear() {
    let op = square_with(|g, x| mul(&right(g, x), g));
    let report = gradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap_err();
    assert_eq!(report.failure(), Failure::NotLinear);
    assert!(report.to_string().contains("for the sum of two gradients of output 0, input 0 does not get"), "{report}");
    let fast = gradcheck(|x: &Tensor| op.call(x), &point()).fast(true).run().unwrap_err();
    assert!(fast.to_string().contains("the backward is not linear in grad_output"), "{fast}");
    // Of a second derivative, the gradient of an output is an input.
    let wrong =
        custom_op("scale", |(x, c): &(Tensor, Tensor)| mul(x, c), |g, (x, c), _| (mul(g, c), times(&mul(g, x), 1.01)));
    let outer = square_with(move |g, x| times(&wrong.call((x, g)), 2.0));
    let report = gradgradcheck(|x: &Tensor| outer.call(x), &point()).run().unwrap_err();
    assert!(report.to_string().contains("Worst at input 1 (gradient of output 0), entry"), "{report}");
}

#[test]
fn a_wrong_forward_mode() {
    let point = point();
    let op = |factor: f64| square_with(right).jvp(move |t, x, _| times(&right(t, x), factor));
    gradcheck(|x: &Tensor| op(1.0).call(x), &point).forward(true).second(true).run().unwrap();
    gradcheck(|x: &Tensor| op(1.001).call(x), &point).run().unwrap();
    for fast in [false, true] {
        let report = gradcheck(|x: &Tensor| op(1.001).call(x), &point).forward(true).fast(fast).run().unwrap_err();
        assert_eq!(report.failure(), Failure::Forward);
        assert!(report.to_string().contains("Jacobian computed with forward mode mismatch"), "{report}");
        assert_eq!(report.mismatch().unwrap().input_entry, [2]);
        let alone = gradcheck(|x: &Tensor| op(1.001).call(x), &point).forward(true).backward(false).fast(fast).run();
        assert_eq!(alone.unwrap_err().failure(), Failure::Forward);
    }
    let report = gradcheck(|x: &Tensor| op(0.0).call(x), &point).forward(true).run().unwrap_err();
    assert!(cause(&report).starts_with("there is no tangent"), "{report}");
    // Forward over backward.
    let inner = custom_op("double", |x: &Tensor| times(x, 2.0), |g, _, _| times(g, 2.0)).jvp(|t, _, _| times(t, 3.0));
    let outer = square_with(move |g, x| mul(g, &inner.call(x)));
    gradgradcheck(|x: &Tensor| outer.call(x), &point).run().unwrap();
    let report = gradgradcheck(|x: &Tensor| outer.call(x), &point).forward(true).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Forward);
}

#[test]
fn not_a_number_on_either_side() {
    let report = refused(&square_with(|g, x| times(&right(g, x), f64::NAN)), &point());
    assert!(cause(&report).starts_with("the rule leaves its domain"), "{report}");
    assert!(report.mismatch().unwrap().analytical.re.is_nan());
    let op = custom_op("nan", |x: &Tensor| times(x, f64::NAN), |g, _, _| g.detach());
    let report = refused(&op, &point());
    assert!(report.mismatch().unwrap().numerical.re.is_nan());
    assert!(cause(&report).starts_with("f is not finite within eps of the input"), "{report}");
    let both = custom_op("nan", |x: &Tensor| times(x, f64::NAN), |g, _, _| times(g, f64::NAN));
    refused(&both, &point());
    let infinite = square_with(|g, x| times(&right(g, x), f64::INFINITY));
    refused(&infinite, &point());
    let tangent = square_with(right).jvp(|t, x, _| times(&right(t, x), f64::NAN));
    let report = gradcheck(|x: &Tensor| tangent.call(x), &point()).forward(true).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Forward);
    let cut = |x: &Tensor| times(&x.detach(), f64::NAN);
    assert_eq!(gradcheck(cut, &point()).run().unwrap_err().failure(), Failure::NotConstant);
}

// ---- other properties

#[test]
fn outputs_without_a_history() {
    gradcheck(|x: &Tensor| times(&x.detach(), 0.0), &point()).run().unwrap();
    let report = gradcheck(|x: &Tensor| square(&x.detach()), &point()).run().unwrap_err();
    assert_eq!(report.failure(), Failure::NotConstant);
    assert!(report.to_string().contains("output 0 depends on input 0"), "{report}");
    // Beside others they are left alone, and keep their place in messages.
    gradcheck(|x: &Tensor| (square(&x.detach()), square(x)), &point()).second(true).run().unwrap();
    let op = square_with(|g, x| times(&right(g, x), 2.0));
    let report = gradcheck(|x: &Tensor| (x.detach(), op.call(x)), &point()).run().unwrap_err();
    assert_eq!(report.mismatch().unwrap().output, 1);
}

#[test]
fn zero_gradients_lead_to_zeros() {
    // Too small a term to be seen in the values.
    let op = square_with(|g, x| add(&right(g, x), &tensor(&[1e-9, 0.0, 0.0], &[3])));
    let report = gradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap_err();
    assert_eq!(report.failure(), Failure::ZeroGradients);
    assert!(report.to_string().contains("backward not multiplied by grad_output"), "{report}");
    assert!(report.to_string().contains("input 0 gets the gradient"), "{report}");
}

#[test]
fn batches_lead_to_what_their_members_lead_to() {
    let reads = square_with(|g, x| {
        let g = tensor(&g.to_vec::<f64>().unwrap(), &[3]);
        right(&g, x)
    });
    gradcheck(|x: &Tensor| reads.call(x), &point()).run().unwrap();
    let fallible =
        custom_op("square", square, |g, x, _| -> Result<Tensor> { Ok(right(&tensor(&g.to_vec::<f64>()?, &[3]), x)) });
    let report = gradcheck(|x: &Tensor| fallible.call(x), &point()).batched(true).run().unwrap_err();
    assert_eq!(report.failure(), Failure::BatchedGradients);
    assert!(cause(&report).starts_with("a rule looks at values"), "{report}");
    assert!(report.error().is_some());
    // A rule that knows whether it runs for a batch.
    let op = square_with(|g, x| times(&right(g, x), if g.engine().is_batched() { 1.001 } else { 1.0 }));
    gradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap();
    let report = gradcheck(|x: &Tensor| op.call(x), &point()).batched(true).run().unwrap_err();
    assert_eq!(report.failure(), Failure::BatchedGradients);
    assert!(report.to_string().contains("Worst in the gradient of input 0, member "), "{report}");
    let op = square_with(right).jvp(|t, x, _| times(&right(t, x), if t.engine().is_batched() { 1.001 } else { 1.0 }));
    gradcheck(|x: &Tensor| op.call(x), &point()).forward(true).run().unwrap();
    let report = gradcheck(|x: &Tensor| op.call(x), &point()).forward(true).batched_forward(true).run().unwrap_err();
    assert_eq!(report.failure(), Failure::BatchedTangents);
    assert!(report.to_string().contains("the tangent of output 0"), "{report}");
}

#[test]
fn kinks_and_low_precision_are_told_apart_from_wrong_rules() {
    let abs = |x: &Tensor| Tensor::from(x.engine().abs().unwrap());
    let op = custom_op("abs", abs, |g, _, _| times(g, 1.0));
    let report = gradcheck(|x: &Tensor| op.call(x), &tensor(&[0.0, 1.0], &[2])).run().unwrap_err();
    assert!(cause(&report).starts_with("f has a kink or a jump"), "{report}");
    let single = point().to(DType::Float32);
    let report = gradcheck(|x: &Tensor| exp(x), &single).run().unwrap_err();
    assert!(cause(&report).contains("drown in the rounding of float32") || cause(&report).contains("kink"), "{report}");
    gradcheck(|x: &Tensor| exp(x), &single).eps(1e-2).atol(1e-2).rtol(1e-2).run().unwrap();
}

#[test]
fn errors_and_outputs_that_change() {
    let report = gradcheck(|x: &Tensor| small_ops::try_mul(x, &noise(1, &[4])), &point()).run().unwrap_err();
    assert_eq!(report.failure(), Failure::Function);
    assert!(report.error().is_some() && report.to_string().contains("must match the size"), "{report}");
    let at = values(&point());
    let sizes = |x: &Tensor| if values(x) == at { square(x) } else { Tensor::from(x.engine().sum(None).unwrap()) };
    let report = gradcheck(sizes, &point()).run().unwrap_err();
    assert!(
        report.to_string().contains("outputs with the same shape when inputs are perturbed by 0.000001"),
        "{report}"
    );
}

#[test]
fn checks_that_cannot_be_made() {
    let usage = |check: Result<(), Report>| {
        let report = check.unwrap_err();
        assert_eq!(report.failure(), Failure::Usage);
        report.to_string()
    };
    let x = point();
    let check = || gradcheck(|x: &Tensor| square(x), &x);
    assert!(usage(check().backward(false).run()).contains("at least one of forward or backward"));
    assert!(usage(check().batched_forward(true).run()).contains("requires forward"));
    assert!(usage(check().backward(false).forward(true).batched(true).run()).contains("requires backward"));
    assert!(usage(check().eps(0.0).run()).contains("eps is a positive number"));
    let integers = point().to(DType::Int64);
    assert!(usage(gradcheck(|x: &Tensor| square(x), &integers).run()).contains("expects at least one input tensor"));
}

#[test]
fn a_check_gives_the_same_answer_each_time() {
    let op = square_with(|g, x| times(&right(g, x), 1.01));
    let text = |seed| {
        let check = gradcheck(|x: &Tensor| op.call(x), &point()).fast(true).seed(seed);
        check.run().unwrap_err().to_string()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
    assert!(text(1).contains("random projections of the Jacobians (fast mode). Entry by entry (slow mode)"));
}

#[test]
#[should_panic(expected = "Worst at input 0, entry (2), output 0, entry (2), made by SquareBackward")]
fn unwrap_prints_the_diagnosis() {
    let op = square_with(|g, x| times(&right(g, x), 1.01));
    gradcheck(|x: &Tensor| op.call(x), &point()).run().unwrap();
}
