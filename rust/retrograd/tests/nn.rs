//! Modules: what the derive finds, state dicts, what layers refuse, and loops that train.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};

use retrograd::engine::Tensor as Inner;
use retrograd::engine::autograd::{GradGuard, backward};
use retrograd::engine::generator::manual_seed;
use retrograd::nn::{
    self, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d, Dropout, Embedding, Forward,
    GroupNorm, Gru, LayerNorm, Linear, Lstm, Module, Padding, Sequential, StateDict, Training,
};
use retrograd::optim::{Adam, Optimizer, Sgd};
use retrograd::{DType, Result, Tensor};

#[path = "nn/layers.rs"]
mod layers;

/// The default generator is one for all threads: tests that draw take turns.
fn drawing() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|held| held.into_inner())
}

fn tensor(values: &[f64], sizes: &[usize]) -> Tensor {
    Inner::from_slice(values, sizes).unwrap().into()
}

fn parameter(values: &[f64]) -> Tensor {
    let t = tensor(values, &[values.len()]);
    t.engine().set_requires_grad(true).unwrap();
    t
}

fn names(module: &impl Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}

fn values(t: &Tensor) -> Vec<f64> {
    t.engine().to_vec::<f64>().unwrap()
}

// ---- the derive

#[derive(Module)]
struct Unit;

#[derive(Module)]
struct Pair(Tensor, #[module(buffer)] Tensor);

/// Not a module.
struct Config;

#[derive(Module)]
struct Everything<L, T: Clone = f32>
where
    T: Send,
{
    layers: Vec<L>,
    array: [Tensor; 2],
    maybe: Option<Tensor>,
    nothing: Option<Tensor>,
    tuple: (Tensor, Option<Pair>),
    map: BTreeMap<String, Tensor>,
    boxed: Box<dyn Forward + Send + Sync>,
    r#type: Tensor,
    #[module(buffer)]
    state: Vec<Tensor>,
    #[module(skip)]
    config: Config,
    #[module(skip)]
    cached: Tensor,
    unit: Unit,
    width: usize,
    rate: f64,
    label: String,
    training: Training,
    marker: PhantomData<T>,
}

fn everything() -> Everything<Linear> {
    let p = |x: f64| parameter(&[x]);
    Everything {
        layers: vec![Linear::new(1, 2), Linear::with(2, 1, |o| o.bias(false))],
        array: [p(1.0), p(2.0)],
        maybe: Some(p(3.0)),
        nothing: None,
        tuple: (p(4.0), Some(Pair(p(5.0), p(6.0)))),
        map: BTreeMap::from([("b".to_owned(), p(7.0)), ("a".to_owned(), p(8.0))]),
        boxed: Box::new(Linear::with(1, 1, |o| o.bias(false))),
        r#type: p(9.0),
        state: vec![tensor(&[10.0], &[1])],
        config: Config,
        cached: p(11.0),
        unit: Unit,
        width: 1,
        rate: 0.5,
        label: "x".into(),
        training: Training::default(),
        marker: PhantomData,
    }
}

#[test]
fn the_derive_finds_tensors_in_all_fields() {
    let _turn = drawing();
    let module = everything();
    let _ = (&module.config, &module.cached, module.width, module.rate, &module.label, &module.unit);
    assert_eq!(
        names(&module),
        [
            "layers.0.weight",
            "layers.0.bias",
            "layers.1.weight",
            "array.0",
            "array.1",
            "maybe",
            "tuple.0",
            "tuple.1.0",
            "map.a",
            "map.b",
            "boxed.weight",
            "type",
        ]
    );
    let buffers: Vec<String> = module.named_buffers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(buffers, ["tuple.1.1", "state.0"]);
    assert_eq!(module.num_parameters(), 2 + 2 + 2 + 9);
    assert_eq!(module.state_dict().len(), 14);
    assert!(names(&Unit).is_empty());
}

#[test]
fn what_is_in_two_places_comes_once() {
    let _turn = drawing();
    #[derive(Module)]
    struct Tied {
        first: Arc<Linear>,
        second: Arc<Linear>,
        own: Tensor,
        same: Tensor,
    }
    let (layer, own) = (Arc::new(Linear::new(2, 2)), parameter(&[1.0]));
    let tied = Tied { first: layer.clone(), second: layer, own: own.clone(), same: own };
    assert_eq!(names(&tied), ["first.weight", "first.bias", "own"]);
    assert_eq!(tied.state_dict().len(), 6);
    tied.load_state_dict(&tied.state_dict()).unwrap();
}

#[test]
fn modes_gradients_and_dtypes_reach_every_layer() -> Result<()> {
    let _turn = drawing();
    let mut module = everything();
    module.eval();
    assert!(!module.training.is_on());
    module.train(true);
    assert!(module.training.is_on());
    let mut nested = Sequential::new().push(Sequential::new().push(Dropout::new(1.0)));
    let x = tensor(&[1.0, 2.0], &[2]);
    assert_eq!(values(&nested.forward(&x)), [0.0, 0.0]);
    nested.eval();
    assert_eq!(values(&nested.forward(&x)), [1.0, 2.0]);

    module.requires_grad_(false);
    assert!(module.parameters().iter().all(|p| !p.engine().requires_grad()));
    module.requires_grad_(true);
    let p = module.maybe.as_ref().unwrap();
    backward(&p.engine().square()?.sum(None)?)?;
    assert_eq!(p.engine().grad().unwrap().to_vec::<f64>()?, [6.0]);
    module.zero_grad();
    assert!(module.parameters().iter().all(|p| p.engine().grad().is_none()));

    let norm = BatchNorm1d::new(2);
    norm.to_dtype(DType::Float64);
    let state = norm.state_dict();
    assert_eq!(state["running_mean"].engine().dtype(), DType::Float64);
    assert_eq!(state["num_batches_tracked"].engine().dtype(), DType::Int64);
    assert!(norm.parameters().iter().all(|p| p.engine().requires_grad() && p.engine().is_leaf()));
    let refused = norm.try_to_dtype(DType::Int64).unwrap_err().to_string();
    assert!(refused.contains("only accepts floating point"), "{refused}");
    Ok(())
}

// ---- state dicts

#[test]
fn states_are_copied() -> Result<()> {
    let _turn = drawing();
    let (from, to) = (everything(), everything());
    let shared = from.state_dict();
    assert!(shared.values().all(|t| !t.engine().requires_grad()));
    let weight = to.layers[0].weight.clone();
    to.load_state_dict(&shared)?;
    assert_eq!(weight.engine().to_vec::<f32>()?, from.layers[0].weight.engine().to_vec::<f32>()?);
    assert!(weight.engine().requires_grad() && !weight.engine().shares_storage(from.layers[0].weight.engine()));
    // Other dtypes are converted, and a single number may have an axis.
    let layer = Linear::with(1, 1, |o| o.bias(false));
    layer.load_state_dict(&StateDict::from([("weight".to_owned(), tensor(&[0.5], &[1, 1]))]))?;
    assert_eq!(layer.weight.engine().to_vec::<f32>()?, [0.5]);
    let norm = BatchNorm1d::new(2);
    let mut state = norm.state_dict();
    state.insert("num_batches_tracked".into(), tensor(&[7.0], &[1]));
    norm.load_state_dict(&state)?;
    assert_eq!(norm.num_batches_tracked.unwrap().engine().item()?.as_i64(), 7);
    Ok(())
}

#[test]
fn states_that_do_not_fit_are_refused_in_the_words_of_torch() -> Result<()> {
    let _turn = drawing();
    #[derive(Module)]
    struct Net<L> {
        first: L,
        last: L,
    }
    let net = Net { first: Linear::new(3, 2), last: Linear::new(2, 1) };
    let mut state = net.state_dict();
    state.remove("first.bias");
    state.insert("extra".into(), tensor(&[1.0], &[1]));
    state.insert("other.x".into(), tensor(&[1.0], &[1]));
    state.insert("last.weight".into(), tensor(&[1.0, 2.0, 3.0], &[1, 3]));
    state.insert("last.bias".into(), tensor(&[77.0], &[1]));
    let error = net.load_state_dict(&state).unwrap_err().to_string();
    assert_eq!(
        error,
        "Error(s) in loading state_dict for Net<Linear>:\n\tMissing key(s) in state_dict: \"first.bias\". \n\t\
         Unexpected key(s) in state_dict: \"extra\", \"other.x\". \n\tsize mismatch for last.weight: copying a param \
         with shape torch.Size([1, 3]) from checkpoint, the shape in current model is torch.Size([1, 2])."
    );
    assert_ne!(net.last.bias.as_ref().unwrap().engine().to_vec::<f32>()?, [77.0], "nothing is written");
    state.insert("last.weight".into(), tensor(&[1.0, 2.0], &[1, 2]));
    let left = net.load_state_dict_with(&state, |o| o.strict(false))?;
    assert_eq!(
        (left.missing_keys, left.unexpected_keys),
        (vec!["first.bias".into()], vec!["extra".into(), "other.x".into()])
    );
    assert_eq!(net.last.bias.unwrap().engine().to_vec::<f32>()?, [77.0]);
    Ok(())
}

#[test]
fn options_and_inputs_that_do_not_fit_are_refused() -> Result<()> {
    let _turn = drawing();
    fn refuses<T>(made: Result<T>, words: &str) {
        let error = made.err().expect("an error").to_string();
        assert!(error.contains(words), "{error}");
    }
    refuses(Dropout::try_new(1.5), "dropout probability has to be between 0 and 1, but got 1.5");
    refuses(Conv1d::try_with(4, 6, 3, |o| o.groups(0)), "groups must be a positive integer");
    refuses(Conv1d::try_with(3, 6, 3, |o| o.groups(2)), "in_channels must be divisible by groups");
    refuses(Conv1d::try_with(4, 5, 3, |o| o.groups(2)), "out_channels must be divisible by groups");
    let strided = Conv2d::try_with(4, 5, 3, |o| o.stride(2).padding(Padding::Same));
    refuses(strided, "padding='same' is not supported for strided convolutions");
    refuses(ConvTranspose1d::try_with(4, 5, 3, |o| o.groups(2)), "out_channels must be divisible by groups");
    let layer = ConvTranspose2d::with(1, 1, 3, |o| o.stride(2));
    let x = Tensor::ones([1, 3, 4]);
    for output_size in [[6, 9], [9, 9], [7, 11]] {
        let message = "but valid sizes range from [7, 9] to [8, 10] (for an input of [3, 4])";
        refuses(layer.try_forward_to(&x, output_size), message);
    }
    refuses(layer.try_forward_to(&Tensor::ones([3]), 7), "expected an input with 2 axes behind its channels");
    let longer = ConvTranspose1d::with(1, 1, 3, |o| o.output_padding(1));
    refuses(longer.try_forward(&Tensor::ones([1, 4])), "output padding must be smaller than either stride or dilation");
    refuses(GroupNorm::try_new(3, 4), "num_channels (4) must be divisible by num_groups (3)");
    refuses(GroupNorm::try_new(0, 4), "must be divisible by num_groups (0)");
    refuses(Embedding::try_with(3, 2, |o| o.padding_idx(3)), "Padding_idx must be within num_embeddings");
    refuses(Lstm::try_new(0, 2), "input_size must be greater than zero");
    refuses(Gru::try_with(1, 2, |o| o.dropout(2.0)), "dropout should be a number in range [0, 1]");
    refuses(Linear::try_new(usize::MAX, 2), "");
    refuses(Lstm::try_new(2, usize::MAX), "");
    let x = tensor(&[1.0, 2.0], &[1, 2]);
    refuses(Linear::new(3, 2).try_forward(&x), "");
    refuses(BatchNorm2d::new(3).try_forward(&x), "expected 4D input (got 2D input)");
    refuses(Lstm::new(3, 2).try_forward(&x), "RNN input dtype (float64) does not match weight dtype (float32)");
    let gru = Gru::with(3, 2, |o| o.dtype(DType::Float64));
    refuses(gru.try_forward(&x), "input.size(-1) must be equal to input_size. Expected 3, got 2");
    let gru = Gru::with(2, 2, |o| o.dtype(DType::Float64));
    refuses(gru.try_forward_from(&x, &tensor(&[0.0; 4], &[1, 2, 2])), "hx should also be 2-D but got 3-D tensor");
    refuses(gru.try_forward_from(&x, &tensor(&[0.0; 3], &[1, 3])), "Expected hidden size [1, 1, 2], got [1, 1, 3]");
    refuses(gru.try_forward(&tensor(&[1.0], &[])), "Expected input to be 2D or 3D, got 0D instead");

    // The panicking forms say the same, at the line of the caller.
    let panic = std::panic::catch_unwind(|| Dropout::new(-1.0)).map(drop).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("dropout probability"));
    Ok(())
}

// ---- training

/// A line through noisy points reaches the loss of the least squares.
#[test]
fn a_linear_layer_reaches_the_least_squares() -> Result<()> {
    let _turn = drawing();
    manual_seed(0);
    let xs: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0 - 1.0).collect();
    let ys: Vec<f64> = xs.iter().enumerate().map(|(i, x)| 3.0 * x - 0.5 + 0.1 * (i as f64 * 7.0).sin()).collect();
    let (n, mean) = (xs.len() as f64, |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64);
    let (mx, my) = (mean(&xs), mean(&ys));
    let slope = xs.iter().zip(&ys).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
        / xs.iter().map(|x| (x - mx).powi(2)).sum::<f64>();
    let offset = my - slope * mx;
    let least = xs.iter().zip(&ys).map(|(x, y)| (slope * x + offset - y).powi(2)).sum::<f64>() / n;

    let model = Linear::with(1, 1, |o| o.dtype(DType::Float64));
    let mut optimizer = Sgd::with(model.parameters(), 0.1, |o| o.momentum(0.9));
    let (x, y) = (tensor(&xs, &[20, 1]), tensor(&ys, &[20, 1]));
    let mut last = f64::INFINITY;
    for _ in 0..800 {
        optimizer.zero_grad();
        let loss = model.forward(&x).engine().sub(y.engine())?.square()?.mean(None)?;
        backward(&loss)?;
        optimizer.step()?;
        last = loss.item()?.as_f64();
    }
    assert!((last - least).abs() < 1e-12, "{last} is not {least}");
    assert!((values(&model.weight)[0] - slope).abs() < 1e-9);
    assert!((values(model.bias.as_ref().unwrap())[0] - offset).abs() < 1e-9);
    Ok(())
}

/// A net with a hidden layer learns what no line can: the exclusive or. Modes and batches take part.
#[test]
fn a_net_learns_the_exclusive_or() -> Result<()> {
    let _turn = drawing();
    manual_seed(3);
    let mut model =
        Sequential::new().push(Linear::new(2, 8)).push(LayerNorm::new(8)).push_fn(nn::tanh).push(Linear::new(8, 1));
    assert_eq!(names(&model), ["0.weight", "0.bias", "1.weight", "1.bias", "3.weight", "3.bias"]);
    let mut optimizer = Adam::new(model.parameters(), 0.05);
    let x: Tensor = Inner::from_slice(&[0f32, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[4, 2])?.into();
    let y = Inner::from_slice(&[0f32, 1.0, 1.0, 0.0], &[4, 1])?;
    for _ in 0..200 {
        optimizer.zero_grad();
        backward(&model.try_forward(&x)?.engine().sub(&y)?.square()?.sum(None)?)?;
        optimizer.step()?;
    }
    model.eval();
    let _off = GradGuard::new(false);
    let out = model.forward(&x).engine().to_vec::<f32>()?;
    assert!(out.iter().zip([0f32, 1.0, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < 0.05), "{out:?}");
    Ok(())
}
