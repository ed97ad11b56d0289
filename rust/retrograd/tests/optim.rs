//! Optimizers against torch's numbers, against formulas in plain Rust, and what they refuse.

use retrograd::engine::Tensor as Inner;
use retrograd::engine::autograd::backward;
use retrograd::nn::StateDict;
use retrograd::optim::{
    Adam, AdamW, CosineAnnealingLr, ExponentialLr, GroupOptimizer, LambdaLr, Lbfgs, LinearLr, Optimizer, RmsProp, Rule,
    Scheduler, Sgd, StepLr, Warmup, clip_grad_norm_, clip_grad_value_, try_clip_grad_norm_with,
};
use retrograd::{DType, Result, Tensor};

#[path = "optim/records.rs"]
mod records;

use records::{GRADS, PARAMS};

const SHAPES: [&[usize]; 2] = [&[3, 2], &[5]];

fn tensor(values: &[f64], sizes: &[usize], dtype: DType) -> Result<Inner> {
    let made = Inner::zeros(sizes, dtype)?;
    made.copy_(&Inner::from_slice(values, sizes)?)?;
    Ok(made)
}

fn leaf(values: &[f64], sizes: &[usize], dtype: DType) -> Result<Tensor> {
    let made = tensor(values, sizes, dtype)?;
    made.set_requires_grad(true)?;
    Ok(made.into())
}

fn leaves(dtype: DType) -> Result<[Tensor; 2]> {
    Ok([leaf(PARAMS[0], SHAPES[0], dtype)?, leaf(PARAMS[1], SHAPES[1], dtype)?])
}

fn values(t: &Tensor) -> Result<Vec<f64>> {
    t.engine().to_vec::<f64>()
}

/// The steps of the records: the third has no gradient of the second parameter.
fn step(optimizer: &mut dyn Optimizer, params: &[Tensor; 2], n: usize) -> Result<()> {
    for (i, p) in params.iter().enumerate() {
        let g = tensor(GRADS[n][i], SHAPES[i], p.engine().dtype())?;
        p.engine().set_grad(if n == 2 && i == 1 { None } else { Some(g) })?;
    }
    optimizer.step()
}

fn assert_close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (a, b) in got.iter().zip(want) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {got:?} is not {want:?}");
    }
}

/// PyTorch multiplies and adds in one rounding where its code is vectorized, which six steps amplify.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::Float64 => 1e-14,
        DType::Float32 => 5e-6,
        _ => 2e-2,
    }
}

fn check<R: Rule>(
    name: &str,
    dtype: DType,
    want: [&[f64]; 2],
    make: impl FnOnce(Tensor, Tensor) -> Result<GroupOptimizer<R>>,
) -> Result<StateDict> {
    let params = leaves(dtype)?;
    let mut optimizer = make(params[0].clone(), params[1].clone())?;
    for n in 0..GRADS.len() {
        step(&mut optimizer, &params, n)?;
    }
    for (p, want) in params.iter().zip(want) {
        assert_close(&values(p)?, want, tolerance(dtype), name);
    }
    Ok(optimizer.state_dict())
}

fn check_state(name: &str, state: &StateDict, want: &[(&str, &[f64])]) -> Result<()> {
    let keys: Vec<&str> = state.keys().map(String::as_str).filter(|key| key.starts_with("state.")).collect();
    assert_eq!(keys, want.iter().map(|(key, _)| *key).collect::<Vec<_>>(), "{name}");
    for (key, want) in want {
        assert_close(&values(&state[*key])?, want, 1e-14, key);
    }
    Ok(())
}

/// `$optimizer` with options, and the second parameter in a group of rate 0.05.
macro_rules! two_groups {
    ($optimizer:ident, $lr:expr, $options:expr) => {
        |a, b| {
            let mut made = $optimizer::try_with([a], $lr, $options)?;
            made.add_group([b], |o| o.lr(0.05))?;
            Ok(made)
        }
    };
}

#[test]
fn steps_are_those_of_torch() -> Result<()> {
    use DType::{Float32, Float64};
    check("SGD", Float64, records::SGD, two_groups!(Sgd, 1e-3, |o| o))?;
    let state = check("momentum", Float64, records::SGD_MOMENTUM, two_groups!(Sgd, 1e-3, |o| o.momentum(0.9)))?;
    check_state("momentum", &state, records::SGD_MOMENTUM_STATE)?;
    let damped = two_groups!(Sgd, 1e-3, |o| o.momentum(0.9).dampening(0.1).weight_decay(0.01));
    check("dampening", Float32, records::SGD_DAMPENED, damped)?;
    let nesterov = two_groups!(Sgd, 1e-3, |o| o.momentum(0.9).nesterov(true).maximize(true));
    check("nesterov", Float32, records::SGD_NESTEROV, nesterov)?;
    check("Adam", Float64, records::ADAM, two_groups!(Adam, 1e-3, |o| o))?;
    let amsgrad = two_groups!(Adam, 1e-3, |o| o.amsgrad(true).weight_decay(0.1));
    let state = check("amsgrad", Float64, records::ADAM_AMSGRAD, amsgrad)?;
    check_state("amsgrad", &state, records::ADAM_AMSGRAD_STATE)?;
    let betas = two_groups!(Adam, 1e-3, |o| o.betas(0.5, 0.7).eps(1e-3).maximize(true));
    check("betas", Float32, records::ADAM_BETAS, betas)?;
    check("AdamW", Float64, records::ADAMW, two_groups!(AdamW, 1e-3, |o| o))?;
    let amsgrad = two_groups!(AdamW, 1e-3, |o| o.amsgrad(true).maximize(true));
    check("AdamW, amsgrad", Float64, records::ADAMW_AMSGRAD, amsgrad)?;
    check("RMSprop", Float64, records::RMSPROP, two_groups!(RmsProp, 1e-2, |o| o))?;
    let centered = two_groups!(RmsProp, 1e-2, |o| o.momentum(0.9).centered(true).weight_decay(0.1));
    let state = check("centered", Float64, records::RMSPROP_CENTERED, centered)?;
    check_state("centered", &state, records::RMSPROP_CENTERED_STATE)
}

#[test]
fn what_the_fused_steps_do_not_take_is_a_step_of_ops() -> Result<()> {
    check("Adam", DType::BFloat16, records::ADAM_BFLOAT16, two_groups!(Adam, 1e-3, |o| o))?;
    check("SGD", DType::BFloat16, records::SGD_BFLOAT16, two_groups!(Sgd, 1e-3, |o| o))?;
    Ok(())
}

#[test]
fn gradient_descent_is_its_formula() -> Result<()> {
    let (lr, momentum, dampening, decay) = (0.1, 0.8, 0.3, 0.05);
    let params = leaves(DType::Float64)?;
    let mut optimizer =
        Sgd::with(params.clone(), lr, |o| o.momentum(momentum).dampening(dampening).weight_decay(decay));
    let mut expected: Vec<Vec<f64>> = PARAMS.iter().map(|p| p.to_vec()).collect();
    let mut sums: Vec<Option<Vec<f64>>> = vec![None, None];
    for (n, grads) in GRADS.iter().enumerate() {
        step(&mut optimizer, &params, n)?;
        for (i, p) in expected.iter_mut().enumerate() {
            if n == 2 && i == 1 {
                continue;
            }
            let g: Vec<f64> = grads[i].iter().zip(&*p).map(|(g, p)| g + decay * p).collect();
            let sum = match &sums[i] {
                None => g,
                Some(b) => b.iter().zip(&g).map(|(b, g)| momentum * b + (1.0 - dampening) * g).collect(),
            };
            p.iter_mut().zip(&sum).for_each(|(p, b)| *p -= lr * b);
            sums[i] = Some(sum);
        }
        for (p, want) in params.iter().zip(&expected) {
            assert_close(&values(p)?, want, 1e-14, "gradient descent");
        }
    }
    Ok(())
}

#[test]
fn adam_is_its_formula() -> Result<()> {
    let (lr, b1, b2, eps, decay) = (0.1f64, 0.8f64, 0.9f64, 1e-6, 0.05);
    let x = leaf(PARAMS[0], SHAPES[0], DType::Float64)?;
    let mut optimizer = AdamW::with([x.clone()], lr, |o| o.betas(b1, b2).eps(eps).weight_decay(decay));
    let mut p = PARAMS[0].to_vec();
    let (mut m, mut v) = (vec![0.0; 6], vec![0.0; 6]);
    for (n, grads) in GRADS.iter().enumerate() {
        x.engine().set_grad(Some(tensor(grads[0], SHAPES[0], DType::Float64)?))?;
        optimizer.step()?;
        let t = n as i32 + 1;
        for i in 0..6 {
            let g = grads[0][i];
            m[i] = b1 * m[i] + (1.0 - b1) * g;
            v[i] = b2 * v[i] + (1.0 - b2) * g * g;
            let (mean, square) = (m[i] / (1.0 - b1.powi(t)), v[i] / (1.0 - b2.powi(t)));
            p[i] = p[i] * (1.0 - lr * decay) - lr * mean / (square.sqrt() + eps);
        }
        assert_close(&values(&x)?, &p, 1e-14, "Adam");
    }
    Ok(())
}

#[test]
fn a_complex_parameter_is_two_real_ones() -> Result<()> {
    let pairs = [1.0, -2.0, 0.5, 3.0];
    let real = leaf(&pairs, &[4], DType::Float64)?;
    let z = |v: &[f64]| Inner::from_slice(&[c64(v[0], v[1]), c64(v[2], v[3])], &[2]);
    let complex = z(&pairs)?;
    complex.set_requires_grad(true)?;
    let mut both = Adam::new([real.clone(), complex.clone().into()], 0.1);
    let g = [0.5, -1.0, 2.0, 0.25];
    for _ in 0..3 {
        real.engine().set_grad(Some(Inner::from_slice(&g, &[4])?))?;
        complex.set_grad(Some(z(&g)?))?;
        both.step()?;
    }
    let got: Vec<f64> = complex.to_vec::<C64>()?.iter().flat_map(|z| [z.re, z.im]).collect();
    assert_eq!(got, values(&real)?);
    Ok(())
}

type C64 = num_complex::Complex<f64>;

fn c64(re: f64, im: f64) -> C64 {
    C64::new(re, im)
}

#[test]
fn states_are_loaded_as_they_were_saved() -> Result<()> {
    let make = |params: &[Tensor; 2]| -> Result<_> {
        let mut made = Adam::try_with([params[0].clone()], 0.01, |o| o.amsgrad(true))?;
        made.add_group([params[1].clone()], |o| o.lr(0.05).weight_decay(0.1))?;
        Ok(made)
    };
    let params = leaves(DType::Float64)?;
    let mut whole = make(&params)?;
    (0..3).try_for_each(|n| step(&mut whole, &params, n))?;
    // Another optimizer goes on from there.
    let copies = [
        leaf(&values(&params[0])?, SHAPES[0], DType::Float64)?,
        leaf(&values(&params[1])?, SHAPES[1], DType::Float64)?,
    ];
    let mut other = make(&copies)?;
    other.groups_mut()[1].options.lr = 7.0;
    other.load_state_dict(&whole.state_dict())?;
    assert_eq!(other.lrs(), [0.01, 0.05]);
    for n in 3..6 {
        step(&mut whole, &params, n)?;
        step(&mut other, &copies, n)?;
    }
    assert_eq!(values(&params[0])?, values(&copies[0])?);
    assert_eq!(values(&params[1])?, values(&copies[1])?);

    let mut single = Adam::new(copies.clone(), 0.01);
    let error = single.load_state_dict(&whole.state_dict()).unwrap_err().to_string();
    assert!(error.contains("loaded state dict has a different number of parameter groups"), "{error}");
    let mut broken = whole.state_dict();
    broken.insert("state.0.exp_avg".into(), Inner::zeros(&[2, 2], DType::Float64)?.into());
    let error = other.load_state_dict(&broken).unwrap_err().to_string();
    assert!(error.contains("state.0.exp_avg") && error.contains("[3, 2]"), "{error}");
    broken.insert("param_groups.0.params".into(), Inner::zeros(&[3], DType::Int64)?.into());
    let error = other.load_state_dict(&broken).unwrap_err().to_string();
    assert!(error.contains("doesn't match the size of optimizer's group"), "{error}");
    let mut without = whole.state_dict();
    without.remove("param_groups.1.lr");
    let error = other.load_state_dict(&without).unwrap_err().to_string();
    assert!(error.contains("lacks param_groups.1.lr"), "{error}");
    Ok(())
}

#[test]
fn options_and_parameters_that_do_not_fit_are_refused() -> Result<()> {
    let x = leaf(&[1.0], &[1], DType::Float64)?;
    let refuses = |made: Result<()>, words: &str| {
        let error = made.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let one = || [x.clone()];
    refuses(Sgd::try_new(one(), -1.0).map(drop), "Invalid learning rate: -1.0");
    refuses(Sgd::try_new(one(), f64::NAN).map(drop), "Invalid learning rate: NaN");
    refuses(Sgd::try_with(one(), 0.1, |o| o.momentum(-1.0)).map(drop), "Invalid momentum value: -1.0");
    let nesterov = Sgd::try_with(one(), 0.1, |o| o.nesterov(true));
    refuses(nesterov.map(drop), "Nesterov momentum requires a momentum and zero dampening");
    let betas = Adam::try_with(one(), 0.1, |o| o.betas(1.0, 0.5));
    refuses(betas.map(drop), "Invalid beta parameter at index 0: 1.0");
    refuses(RmsProp::try_with(one(), 0.1, |o| o.alpha(-1.0)).map(drop), "Invalid alpha value: -1.0");
    refuses(Lbfgs::try_with(one(), |o| o.lr(-1.0)).map(drop), "Invalid learning rate: -1.0");
    refuses(Sgd::try_new([], 0.1).map(drop), "optimizer got an empty parameter list");
    refuses(Sgd::try_new([x.clone(), x.clone()], 0.1).map(drop), "duplicate parameters");
    let made = Tensor::from(x.engine().square()?);
    refuses(Sgd::try_new([made], 0.1).map(drop), "can't optimize a non-leaf Tensor");
    let again = Sgd::new(one(), 0.1).add_group(one(), |o| o);
    refuses(again, "some parameters appear in more than one parameter group");
    let panic = std::panic::catch_unwind(|| Sgd::new(leaves(DType::Float64).unwrap(), -1.0)).map(drop).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("Invalid learning rate"));
    Ok(())
}

#[test]
fn steps_are_not_recorded_and_gradients_go() -> Result<()> {
    let x = leaf(&[1.0, 2.0], &[2], DType::Float64)?;
    let mut optimizer = Sgd::new([x.clone()], 0.25);
    optimizer.step()?; // no gradient, no step
    assert_eq!(values(&x)?, [1.0, 2.0]);
    backward(&x.engine().square()?.sum(None)?)?;
    optimizer.step()?;
    assert!(x.engine().is_leaf() && x.engine().requires_grad());
    assert_eq!(values(&x)?, [0.5, 1.0]);
    optimizer.zero_grad();
    assert!(x.engine().grad().is_none());
    Ok(())
}

/// Rosenbrock's function, of two parameters.
fn rosenbrock(x: &Inner, y: &Inner) -> Result<Tensor> {
    let valley = y.sub(&x.square()?)?.square()?.sum(None)?.times(10.0)?;
    x.neg()?.plus(1.0)?.square()?.add(&valley).map(Tensor::from)
}

#[test]
fn lbfgs_takes_the_steps_of_torch() -> Result<()> {
    type Make = fn(retrograd::optim::LbfgsOptions) -> retrograd::optim::LbfgsOptions;
    // Losses of four steps, parameters after them, evaluations and iterations: as in `tests/optimizers.json`.
    type Row = (Make, [f64; 4], [f64; 3], (usize, usize));
    let rows: [Row; 5] = [
        (
            |o| o.lr(0.05),
            [37.5, 11.088619021139703, 5.414422613317207, 4.325542223903095],
            [-0.5022184561167806, 0.10347968082881924, 0.324594360746694],
            (80, 80),
        ),
        (
            |o| o.strong_wolfe(true),
            [37.5, 0.025008949608770488, 4.524074980748721e-12, 4.524074980748721e-12],
            [1.0000005026834484, 1.0000013291332788, 1.000000437640167],
            (35, 28),
        ),
        (
            |o| o.strong_wolfe(true).history_size(2).max_iter(5),
            [37.5, 8.174748607995411, 3.762413168960106, 2.2001438673042593],
            [0.4017396684744254, 0.11592962098815654, 0.13630578691743928],
            (25, 15),
        ),
        (
            |o| o.strong_wolfe(true).max_eval(3).lr(0.5),
            [37.5, 9.323723220822849, 4.6802235524821185, 4.195243431672666],
            [-1.0034040368426316, 0.9947217354621197, 1.066840845781269],
            (13, 8),
        ),
        (
            |o| o.lr(0.1).max_iter(3).history_size(1),
            [37.5, 26.37406529991673, 22.114805802560006, 18.162829058715428],
            [-1.2824290062241521, 1.8765095710377209, 0.7216026308308471],
            (12, 8),
        ),
    ];
    for (i, (options, losses, params, counts)) in rows.into_iter().enumerate() {
        let x = leaf(&[-1.5], &[], DType::Float64)?;
        let y = leaf(&[2.0, 0.5], &[2], DType::Float64)?;
        let mut optimizer = Lbfgs::with([x.clone(), y.clone()], options);
        for want in losses {
            let got = optimizer.try_step(|| rosenbrock(x.engine(), y.engine()))?;
            // The function amplifies roundings.
            assert!((got - want).abs() <= 1e-8 * (1.0 + want), "row {i}: {got} is not {want}");
        }
        let got = [values(&x)?, values(&y)?].concat();
        assert_close(&got, &params, 1e-8, &format!("row {i}"));
        assert_eq!((optimizer.evaluations(), optimizer.iterations()), counts, "row {i}");
    }
    Ok(())
}

#[test]
fn an_error_of_the_loss_ends_a_step_and_the_parameters_stay() -> Result<()> {
    let x = leaf(&[-1.5], &[], DType::Float64)?;
    let y = leaf(&[2.0, 0.5], &[2], DType::Float64)?;
    let mut optimizer = Lbfgs::with([x.clone(), y.clone()], |o| o.strong_wolfe(true));
    let mut calls = 0;
    let stopped = optimizer.try_step(|| {
        calls += 1;
        if calls == 2 { Err(retrograd::Error::autograd("enough")) } else { rosenbrock(x.engine(), y.engine()) }
    });
    assert_eq!(stopped.unwrap_err().to_string(), "enough");
    assert_eq!(values(&x)?, [-1.5]);
    let again = optimizer.step(|| rosenbrock(x.engine(), y.engine()).unwrap())?;
    assert_eq!(again, 37.5);
    assert!(rosenbrock(x.engine(), y.engine())?.engine().item()?.as_f64() < 1.0);
    Ok(())
}

#[test]
fn lbfgs_goes_on_from_a_state() -> Result<()> {
    let leaves = |values: &[f64]| -> Result<[Tensor; 2]> {
        Ok([leaf(&values[..1], &[], DType::Float64)?, leaf(&values[1..], &[2], DType::Float64)?])
    };
    let make = |params: &[Tensor; 2]| Lbfgs::with(params.clone(), |o| o.strong_wolfe(true).max_iter(4));
    let params = leaves(&[-1.5, 2.0, 0.5])?;
    let mut whole = make(&params);
    let fresh = whole.state_dict()?;
    whole.try_step(|| rosenbrock(params[0].engine(), params[1].engine()))?;
    let copies = leaves(&[values(&params[0])?, values(&params[1])?].concat())?;
    let mut other = make(&copies);
    other.load_state_dict(&whole.state_dict()?)?;
    for _ in 0..2 {
        let a = whole.try_step(|| rosenbrock(params[0].engine(), params[1].engine()))?;
        let b = other.try_step(|| rosenbrock(copies[0].engine(), copies[1].engine()))?;
        assert_eq!(a, b);
    }
    assert_eq!((whole.iterations(), whole.evaluations()), (other.iterations(), other.evaluations()));
    other.load_state_dict(&fresh)?;
    assert_eq!(other.iterations(), 0);
    let mut broken = whole.state_dict()?;
    broken.insert("state.0.old_stps".into(), Inner::zeros(&[1, 7], DType::Float64)?.into());
    let refused = other.load_state_dict(&broken).unwrap_err().to_string();
    assert!(refused.contains("state.0.old_stps"), "{refused}");
    let mut broken = whole.state_dict()?;
    broken.remove("state.0.d");
    let refused = other.load_state_dict(&broken).unwrap_err().to_string();
    assert!(refused.contains("lacks state.0.d"), "{refused}");
    Ok(())
}

#[test]
fn schedules_are_those_of_torch() -> Result<()> {
    fn rates(schedule: impl retrograd::optim::Schedule) -> Result<Vec<f64>> {
        let mut optimizer = Sgd::new(leaves(DType::Float64)?, 0.5);
        let mut scheduler = Scheduler::new(&mut optimizer, schedule);
        let mut rates = optimizer.lrs();
        for _ in 0..7 {
            scheduler.step(&mut optimizer);
            rates.extend(optimizer.lrs());
        }
        assert_eq!((scheduler.epoch(), scheduler.lrs()), (7, optimizer.lrs()));
        Ok(rates)
    }
    let steps = [0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005];
    assert_close(&rates(StepLr::new(3, 0.1))?, &steps, 1e-15, "StepLr");
    let powers = [0.5, 0.4, 0.32, 0.256, 0.2048, 0.16384, 0.131072, 0.1048576];
    assert_close(&rates(ExponentialLr::new(0.8))?, &powers, 1e-15, "ExponentialLr");
    let line =
        [0.35, 0.3083333333333333, 0.26666666666666666, 0.225, 0.18333333333333332, 0.14166666666666666, 0.1, 0.1];
    assert_close(&rates(LinearLr::new(0.7, 0.2, 6))?, &line, 1e-15, "LinearLr");
    let cosine = rates(CosineAnnealingLr::new(5).eta_min(0.01))?;
    let some = [0.5, 0.45320916362186214, 0.3307091636218621, 0.17929083637813786];
    assert_close(&cosine[..4], &some, 1e-15, "CosineAnnealingLr");
    let (there, back) = (cosine[5], cosine[6]);
    assert!((there - 0.01).abs() < 1e-15 && (back - cosine[4]).abs() < 1e-15);
    let hyperbola: Vec<f64> = (1..=8).map(|n| 0.5 / n as f64).collect();
    assert_close(&rates(LambdaLr::new(|epoch| 1.0 / (epoch + 1) as f64))?, &hyperbola, 1e-15, "LambdaLr");
    let warm = [0.125, 0.25, 0.375, 0.5, 0.5, 0.25, 0.125, 0.0625];
    assert_eq!(rates(Warmup::new(4, ExponentialLr::new(0.5)))?, warm);
    Ok(())
}

#[test]
fn gradients_are_clipped_together() -> Result<()> {
    let params = leaves(DType::Float64)?;
    let set = || -> Result<()> {
        for (i, p) in params.iter().enumerate() {
            p.engine().set_grad(Some(tensor(GRADS[3][i], SHAPES[i], DType::Float64)?))?;
        }
        Ok(())
    };
    let grads = || -> Result<Vec<f64>> {
        let both = params.iter().map(|p| p.engine().grad().unwrap().to_vec::<f64>());
        Ok(both.collect::<Result<Vec<_>>>()?.concat())
    };
    let before: Vec<f64> = GRADS[3].concat();
    let norm = before.iter().map(|g| g * g).sum::<f64>().sqrt();
    set()?;
    assert_close(&values(&clip_grad_norm_(&params, 0.5))?, &[norm], 1e-15, "norm");
    let scaled: Vec<f64> = before.iter().map(|g| g * 0.5 / (norm + 1e-6)).collect();
    assert_close(&grads()?, &scaled, 1e-15, "clipped");
    set()?;
    clip_grad_norm_(&params, 100.0);
    assert_eq!(grads()?, before);
    clip_grad_value_(&params, 0.4);
    assert_eq!(grads()?, before.iter().map(|g| g.clamp(-0.4, 0.4)).collect::<Vec<_>>());
    set()?;
    params[0].engine().grad().unwrap().copy_(&Inner::full(&[3, 2], f64::INFINITY.into(), DType::Float64)?)?;
    let written = grads()?;
    let refused = try_clip_grad_norm_with(&params, 1.0, |o| o.error_if_nonfinite(true)).unwrap_err();
    assert!(refused.to_string().contains("is non-finite, so it cannot be clipped"), "{refused}");
    assert_eq!(grads()?, written);
    let nothing = clip_grad_norm_(&[], 1.0);
    assert_eq!(nothing.engine().item()?.as_f64(), 0.0);
    Ok(())
}
