//! Recurrent layers over sequences.

use std::collections::BTreeMap;

use crate::engine::Tensor as Inner;
use crate::engine::ops::rnn;
use crate::nn::init;
use crate::nn::module::{Module, Training, Visitor};
use crate::nn::options::{constructors, options, parameter};
use crate::{DType, Error, Result, Tensor, site};

options! {
    /// Options of [`Lstm`] and [`Gru`].
    RnnOptions {
        /// How many layers there are, each of which gets the states of the one before: 1.
        num_layers: usize = 1;
        /// Whether there are biases: true.
        bias: bool = true;
        /// Whether sequences are (N, L, input_size), not (L, N, input_size): false.
        batch_first: bool = false;
        /// The probability that a state is dropped on its way to the next layer, while the layers are trained: 0.
        dropout: f64 = 0.0;
        /// Whether there is a second direction, from the end: false.
        bidirectional: bool = false;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// What recurrent layers share: their weights in the order of the op, with their names.
#[derive(Clone, Debug)]
struct Layers {
    names: Vec<String>,
    weights: Vec<Inner>,
    training: Training,
    input_size: usize,
    hidden_size: usize,
    options: RnnOptions,
}

impl Layers {
    fn new(op: &'static str, gates: usize, input_size: usize, hidden_size: usize, o: RnnOptions) -> Result<Self> {
        for (name, n) in [("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", o.num_layers)] {
            if n == 0 {
                return Err(Error::value(op, format!("{name} must be greater than zero")));
            }
        }
        if !(0.0..=1.0).contains(&o.dropout) {
            let detail = "dropout should be a number in range [0, 1] representing the probability of an element being \
                          zeroed";
            return Err(Error::value(op, format!("{detail}, got {}", o.dropout)));
        }
        let too_large = || Error::shape(op, format!("weights of {gates} x {hidden_size} rows are too many"));
        let rows = gates.checked_mul(hidden_size).ok_or_else(too_large)?;
        let directions: &[&str] = if o.bidirectional { &["", "_reverse"] } else { &[""] };
        let (mut names, mut weights) = (Vec::new(), Vec::new());
        for layer in 0..o.num_layers {
            let size = if layer == 0 { input_size } else { hidden_size * directions.len() };
            for direction in directions {
                let mut add = |name: &str, sizes: &[usize]| -> Result<()> {
                    names.push(format!("{name}_l{layer}{direction}"));
                    weights.push(parameter(sizes, o.dtype)?.0);
                    Ok(())
                };
                add("weight_ih", &[rows, size])?;
                add("weight_hh", &[rows, hidden_size])?;
                if o.bias {
                    add("bias_ih", &[rows])?;
                    add("bias_hh", &[rows])?;
                }
            }
        }
        let bound = 1.0 / (hidden_size as f64).sqrt();
        weights.iter().try_for_each(|weight| init::uniform(weight, -bound, bound))?;
        Ok(Self { names, weights, training: Training::default(), input_size, hidden_size, options: o })
    }

    fn visit(&self, visitor: &mut Visitor<'_>) {
        for (name, weight) in self.names.iter().zip(&self.weights) {
            visitor.field(name, &Tensor(weight.clone()));
        }
        visitor.field("training", &self.training);
    }

    fn weights(&self) -> BTreeMap<&str, Tensor> {
        self.names.iter().map(String::as_str).zip(self.weights.iter().cloned().map(Tensor)).collect()
    }

    /// The input with a batch, whether it had one, and a state for each of the given ones, by default zeros.
    fn operands(
        &self,
        op: &'static str,
        x: &Inner,
        states: Option<&[&Inner]>,
        count: usize,
    ) -> Result<(Inner, bool, Vec<Inner>)> {
        let batch_axis = usize::from(!self.options.batch_first);
        if !matches!(x.ndim(), 2 | 3) {
            let detail = format!("Expected input to be 2D or 3D, got {}D instead", x.ndim());
            return Err(Error::value(op, detail));
        }
        let batched = x.ndim() == 3;
        let x = if batched { x.clone() } else { x.unsqueeze(batch_axis as i64)? };
        let dtype = self.weights[0].dtype();
        if x.dtype() != dtype {
            let (input, weight) = (x.dtype().name(), dtype.name());
            return Err(Error::value(
                op,
                format!(
                    "RNN input dtype ({input}) does not match weight dtype ({weight}): convert the input, or the layer \
                     with `to_dtype`"
                ),
            ));
        }
        if x.sizes()[2] != self.input_size {
            let (expected, got) = (self.input_size, x.sizes()[2]);
            return Err(Error::shape(
                op,
                format!("input.size(-1) must be equal to input_size. Expected {expected}, got {got}"),
            ));
        }
        let directions = if self.options.bidirectional { 2 } else { 1 };
        let sizes = [self.options.num_layers * directions, x.sizes()[batch_axis], self.hidden_size];
        let Some(states) = states else {
            let zeros = (0..count).map(|_| Inner::zeros(&sizes, dtype)).collect::<Result<_>>()?;
            return Ok((x, batched, zeros));
        };
        let with_batch = |state: &&Inner| -> Result<Inner> {
            let expected = if batched { 3 } else { 2 };
            if state.ndim() != expected {
                let (kind, n) = if batched { ("batched", 3) } else { ("unbatched", 2) };
                let detail =
                    format!("For {kind} {n}-D input, hx should also be {n}-D but got {}-D tensor", state.ndim());
                return Err(Error::shape(op, detail));
            }
            let state = if batched { (*state).clone() } else { state.unsqueeze(1)? };
            if state.sizes() != sizes {
                let detail = format!("Expected hidden size {sizes:?}, got {:?}", state.sizes());
                return Err(Error::shape(op, detail));
            }
            Ok(state)
        };
        Ok((x, batched, states.iter().map(with_batch).collect::<Result<_>>()?))
    }

    /// What the op made, without the batch if the input had none.
    fn results(&self, batched: bool, output: Inner, states: Vec<Inner>) -> Result<(Tensor, Vec<Tensor>)> {
        if batched {
            return Ok((Tensor(output), states.into_iter().map(Tensor).collect()));
        }
        let output = output.squeeze_dim(i64::from(!self.options.batch_first))?;
        let states = states.iter().map(|state| state.squeeze_dim(1).map(Tensor)).collect::<Result<_>>()?;
        Ok((Tensor(output), states))
    }
}

macro_rules! layers {
    ($($(#[$doc:meta])* $name:ident: $gates:literal, $state:ty;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Layers);

        impl $name {
            constructors!($name, RnnOptions, (input_size: usize, hidden_size: usize));

            fn made(input_size: usize, hidden_size: usize, options: RnnOptions) -> Result<Self> {
                Layers::new(stringify!($name), $gates, input_size, hidden_size, options).map(Self)
            }

            /// The weights by name, as in `weight_ih_l0`.
            pub fn weights(&self) -> BTreeMap<&str, Tensor> {
                self.0.weights()
            }

            /// The states of the last layer along the sequences, and the last state of all layers. The first state is
            /// zero.
            ///
            /// Panics where [`try_forward`](Self::try_forward) has an error.
            #[track_caller]
            pub fn forward(&self, x: &Tensor) -> (Tensor, $state) {
                site::here();
                site::done(self.run(&x.0, None))
            }

            /// As [`forward`](Self::forward), with an error for inputs that do not fit.
            #[track_caller]
            pub fn try_forward(&self, x: &Tensor) -> Result<(Tensor, $state)> {
                site::here();
                self.run(&x.0, None)
            }

            /// As [`forward`](Self::forward), from this first state.
            #[track_caller]
            pub fn forward_from(&self, x: &Tensor, state: &$state) -> (Tensor, $state) {
                site::here();
                site::done(self.run(&x.0, Some(state)))
            }

            /// As [`forward_from`](Self::forward_from), with an error for inputs or states that do not fit.
            #[track_caller]
            pub fn try_forward_from(&self, x: &Tensor, state: &$state) -> Result<(Tensor, $state)> {
                site::here();
                self.run(&x.0, Some(state))
            }
        }

        impl Module for $name {
            fn visit(&self, visitor: &mut Visitor<'_>) {
                self.0.visit(visitor);
            }
        }
    )* };
}

layers! {
    /// Long short-term memory along sequences (L, N, input_size), or without the batch N.
    ///
    /// Parameters: for each layer k, and with `_reverse` for the second direction, `weight_ih_lk`, `weight_hh_lk`,
    /// `bias_ih_lk` and `bias_hh_lk`, drawn uniformly up to `1 / sqrt(hidden_size)`. The state is the pair of hidden
    /// and cell states, both of shape (num_layers * directions, N, hidden_size).
    ///
    /// Needs the feature `rnn`.
    ///
    /// ```
    /// use retrograd::{DType, Tensor, engine, nn::Lstm};
    ///
    /// let x = Tensor::from(engine::Tensor::ones(&[5, 2, 3], DType::Float32)?);
    /// let (out, (h, c)) = Lstm::with(3, 4, |o| o.num_layers(2)).forward(&x);
    /// assert_eq!(out.engine().sizes(), [5, 2, 4]);
    /// assert_eq!((h.engine().sizes(), c.engine().sizes()), (&[2, 2, 4][..], &[2, 2, 4][..]));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[doc(alias = "LSTM")]
    Lstm: 4, (Tensor, Tensor);
    /// Gated recurrent units along sequences (L, N, input_size), or without the batch N.
    ///
    /// Parameters: as of [`Lstm`]. The state has the shape (num_layers * directions, N, hidden_size).
    ///
    /// Needs the feature `rnn`.
    ///
    /// ```
    /// use retrograd::{DType, Tensor, engine, nn::Gru};
    ///
    /// let x = Tensor::from(engine::Tensor::ones(&[5, 2, 3], DType::Float32)?);
    /// let (out, h) = Gru::with(3, 4, |o| o.bidirectional(true)).forward(&x);
    /// assert_eq!((out.engine().sizes(), h.engine().sizes()), (&[5, 2, 8][..], &[2, 2, 4][..]));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[doc(alias = "GRU")]
    Gru: 3, Tensor;
}

impl Lstm {
    fn run(&self, x: &Inner, state: Option<&(Tensor, Tensor)>) -> Result<(Tensor, (Tensor, Tensor))> {
        let (layers, o) = (&self.0, &self.0.options);
        let given = state.map(|(h, c)| [&h.0, &c.0]);
        let (x, batched, states) = layers.operands("Lstm", x, given.as_ref().map(|s| s.as_slice()), 2)?;
        let mut made = rnn::lstm(
            &x,
            &states,
            &layers.weights,
            o.bias,
            o.num_layers as i64,
            o.dropout,
            layers.training.is_on(),
            o.bidirectional,
            o.batch_first,
        )?;
        let (output, mut states) = layers.results(batched, made.remove(0), made)?;
        let (c, h) = (states.pop().expect("two"), states.pop().expect("two"));
        Ok((output, (h, c)))
    }
}

impl Gru {
    fn run(&self, x: &Inner, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let (layers, o) = (&self.0, &self.0.options);
        let given = state.map(|h| [&h.0]);
        let (x, batched, states) = layers.operands("Gru", x, given.as_ref().map(|s| s.as_slice()), 1)?;
        let (output, h) = rnn::gru(
            &x,
            &states[0],
            &layers.weights,
            o.bias,
            o.num_layers as i64,
            o.dropout,
            layers.training.is_on(),
            o.bidirectional,
            o.batch_first,
        )?;
        let (output, mut states) = layers.results(batched, output, vec![h])?;
        Ok((output, states.pop().expect("one")))
    }
}
