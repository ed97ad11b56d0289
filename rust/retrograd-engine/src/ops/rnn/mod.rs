//! Recurrent layers and their cells, composed of other ops: `rnn_tanh`, `rnn_relu`, `lstm`, `gru`. All steps of a
//! padded `lstm` are one op.

pub mod cell;
pub mod cells;
pub mod layers;
pub mod sequence;

use retrograd_macros::op;

use super::Entry;
use crate::error::{Error, Result};
use crate::tensor::copy;
use crate::tensor::{DType, Tensor};
use crate::transforms;
use cell::Cell;
use layers::{Stack, Steps, split_states, split_weights, stacked_states};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &RNN_TANH,
    &RNN_TANH_PACKED,
    &RNN_RELU,
    &RNN_RELU_PACKED,
    &LSTM,
    &LSTM_PACKED,
    &GRU,
    &GRU_PACKED,
    &cells::RNN_TANH_CELL,
    &cells::RNN_RELU_CELL,
    &cells::LSTM_CELL,
    &cells::GRU_CELL,
];

/// The arguments that all layers share.
struct Args<'a> {
    cell: Cell,
    params: &'a [Tensor],
    biases: bool,
    layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
}

impl Args<'_> {
    /// The hidden states of the last layer, and the last states of all layers.
    fn run(&self, input: &Tensor, steps: &Steps, states: &[&Tensor]) -> Result<Vec<Tensor>> {
        for (t, what) in
            states.iter().copied().map(|t| (t, "hidden")).chain(self.params.iter().map(|t| (t, "parameter")))
        {
            if t.dtype() != input.dtype() {
                return Err(Error::dtype(
                    "rnn",
                    format!(
                        "Input and {what} tensors are not the same dtype, found input tensor with {} and {what} tensor with {}",
                        input.dtype().name(),
                        t.dtype().name()
                    ),
                ));
            }
        }
        let projects = match states {
            [h, c] => h.sizes().last() != c.sizes().last(),
            _ => false,
        };
        let stack = Stack {
            cell: self.cell,
            weights: split_weights(self.params, self.biases, projects)?,
            layers: usize::try_from(self.layers).unwrap_or(0),
            dropout: self.dropout,
            train: self.train,
            bidirectional: self.bidirectional,
        };
        if stack.layers == 0 {
            return Err(Error::shape("rnn", format!("num_layers must be positive, got {}", self.layers)));
        }
        let (y, ends) = stack.run(input, steps, &split_states(states)?)?;
        let mut outs = vec![y];
        outs.extend(stacked_states(&ends)?);
        Ok(outs)
    }

    fn padded(&self, input: &Tensor, states: &[&Tensor], batch_first: bool) -> Result<Vec<Tensor>> {
        if input.ndim() != 3 || states.iter().any(|s| s.ndim() == 0) {
            return Err(Error::shape("rnn", format!("input must have 3 dimensions, got {}", input.ndim())));
        }
        let input = if batch_first { input.transpose(0, 1)? } else { input.clone() };
        if input.sizes()[0] == 0 {
            return Err(Error::shape("rnn", "Expected sequence length to be larger than 0 in RNN"));
        }
        let mut outs = self.run(&input, &Steps::Padded, states)?;
        if batch_first {
            outs[0] = outs[0].transpose(0, 1)?;
        }
        Ok(outs)
    }

    fn packed(&self, data: &Tensor, batch_sizes: &Tensor, states: &[&Tensor]) -> Result<Vec<Tensor>> {
        transforms::check_read("rnn", batch_sizes)?;
        if batch_sizes.dtype() != DType::Int64 || batch_sizes.ndim() != 1 {
            return Err(Error::shape(
                "rnn",
                format!(
                    "batch_sizes must be a 1D int64 tensor, got {} with {} dims",
                    batch_sizes.dtype().name(),
                    batch_sizes.ndim()
                ),
            ));
        }
        // S6.
        let list = copy::own_indices(batch_sizes)?;
        let list = list.as_slice::<i64>().unwrap_or(&[]);
        let rows = data.sizes().first().copied().unwrap_or(0);
        let total = list.iter().try_fold(0i64, |sum, &n| sum.checked_add(n));
        let falls = list.windows(2).all(|w| w[1] <= w[0]) && list.last().is_some_and(|&n| n > 0);
        if !falls || total != Some(rows as i64) {
            return Err(Error::shape(
                "rnn",
                format!("batch_sizes must be positive, not ascend, and sum to the {rows} rows of data, got {list:?}"),
            ));
        }
        self.run(data, &Steps::Packed(list.iter().map(|&n| n as usize).collect()), states)
    }
}

fn one(hx: &Tensor) -> Result<[&Tensor; 1]> {
    Ok([hx])
}

fn two(hx: &[Tensor]) -> Result<[&Tensor; 2]> {
    match hx {
        [h, c] => Ok([h, c]),
        _ => Err(Error::shape("lstm", format!("lstm expects two hidden states, got {}", hx.len()))),
    }
}

fn pair(mut outs: Vec<Tensor>) -> (Tensor, Tensor) {
    let h = outs.remove(1);
    (outs.swap_remove(0), h)
}

fn all(outs: Vec<Tensor>) -> Vec<Tensor> {
    outs
}

/// A cell's layers, as an op for padded sequences and one for packed ones.
macro_rules! layers {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident, $packed:ident: $cell:ident, $states:ident($hx:ty) -> $results:ident($result:ty),
        $hx_doc:literal, $params_doc:literal, $last_doc:literal,
        { $(#[doc = $example:literal])* } { $(#[doc = $packed_example:literal])* }
    )*) => { $(
        $(#[doc = $doc])*
        ///
        /// Args: `input` (time, batch, features), or (batch, time, features) with `batch_first`;
        #[doc = concat!(" `hx` ", $hx_doc, ";")]
        #[doc = concat!(" `params` for each of `num_layers` layers and direction ", $params_doc, ",")]
        /// without the biases if not `has_biases`; `dropout` the share of a layer's results dropped at random on their
        /// way to the next, if `train`; `bidirectional` adds a pass against time, its results behind the others.
        #[doc = concat!(" Returns: the hidden states of the last layer at all steps, and the last ", $last_doc)]
        /// of all layers. Derivative: that of the ops it is composed of. Raises: RuntimeError if numbers, sizes or
        /// dtypes of the operands are incompatible.
        ///
        $(#[doc = $example])*
        #[op(function)]
        pub fn $name(
            input: &Tensor,
            hx: $hx,
            params: &[Tensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
            batch_first: bool,
        ) -> Result<$result> {
            let cell = Cell::$cell;
            let args = Args { cell, params, biases: has_biases, layers: num_layers, dropout, train, bidirectional };
            args.padded(input, &$states(hx)?, batch_first).map($results)
        }

        /// As above, for packed sequences: `data` (steps of all, features), the first steps of all sequences first, the
        /// longest sequence in front, and `batch_sizes` how many sequences have each step. Returns the hidden states
        /// packed likewise.
        ///
        $(#[doc = $packed_example])*
        #[op(function, name = stringify!($name))]
        pub fn $packed(
            data: &Tensor,
            batch_sizes: &Tensor,
            hx: $hx,
            params: &[Tensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
        ) -> Result<$result> {
            let cell = Cell::$cell;
            let args = Args { cell, params, biases: has_biases, layers: num_layers, dropout, train, bidirectional };
            args.packed(data, batch_sizes, &$states(hx)?).map($results)
        }
    )* };
}

layers! {
    /// Recurrent layers whose state is `tanh(w_ih x + b_ih + w_hh h + b_hh)`.
    rnn_tanh, rnn_tanh_packed: Tanh, one(&Tensor) -> pair((Tensor, Tensor)),
    "(layers * directions, batch, hidden)",
    "`w_ih` (hidden, features), `w_hh` (hidden, hidden), `b_ih`, `b_hh` (hidden,)",
    "states",
    {
        /// >>> w = rg.zeros(1, 1)
        /// >>> y, h = rg.rnn_tanh(rg.ones(2, 1, 1), rg.zeros(1, 1, 1), [w, w], False, 1, 0.0, False, False, False)
        /// >>> y.flatten().tolist(), h.shape
        /// ([0.0, 0.0], retrograd.Size([1, 1, 1]))
    } {
        /// >>> w, h0 = rg.zeros(1, 1), rg.zeros(1, 2, 1)
        /// >>> y, h = rg.rnn_tanh(rg.ones(3, 1), rg.tensor([2, 1]), h0, [w, w], False, 1, 0.0, False, False)
        /// >>> y.flatten().tolist()
        /// [0.0, 0.0, 0.0]
    }

    /// Recurrent layers whose state is `relu(w_ih x + b_ih + w_hh h + b_hh)`.
    rnn_relu, rnn_relu_packed: Relu, one(&Tensor) -> pair((Tensor, Tensor)),
    "(layers * directions, batch, hidden)",
    "`w_ih` (hidden, features), `w_hh` (hidden, hidden), `b_ih`, `b_hh` (hidden,)",
    "states",
    {
        /// >>> w = rg.ones(1, 1)
        /// >>> y, h = rg.rnn_relu(rg.ones(2, 1, 1), rg.zeros(1, 1, 1), [w, w], False, 1, 0.0, False, False, False)
        /// >>> y.flatten().tolist()
        /// [1.0, 2.0]
    } {
        /// >>> w, h0 = rg.ones(1, 1), rg.zeros(1, 2, 1)
        /// >>> y, h = rg.rnn_relu(rg.ones(3, 1), rg.tensor([2, 1]), h0, [w, w], False, 1, 0.0, False, False)
        /// >>> y.flatten().tolist(), h.flatten().tolist()
        /// ([1.0, 1.0, 2.0], [2.0, 1.0])
    }

    /// Long short-term memory: with gates `i, f, g, o`, the cell state becomes `f c + i g` and the hidden state
    /// `o tanh(c)`.
    lstm, lstm_packed: Lstm, two(&[Tensor]) -> all(Vec<Tensor>),
    "hidden state (layers * directions, batch, hidden) and cell state",
    "`w_ih` (4 * hidden, features), `w_hh` (4 * hidden, hidden), `b_ih`, `b_hh` (4 * hidden,), \
     and `w_hr` (projection, hidden) where the hidden state is smaller than the cell state",
    "hidden and cell states",
    {
        /// >>> w, state = rg.zeros(4, 1), [rg.zeros(1, 1, 1), rg.ones(1, 1, 1)]
        /// >>> y, h, c = rg.lstm(rg.ones(2, 1, 1), state, [w, w], False, 1, 0.0, False, False, False)
        /// >>> c.item()
        /// 0.25
    } {
        /// >>> w, state = rg.zeros(4, 1), [rg.zeros(1, 2, 1), rg.ones(1, 2, 1)]
        /// >>> y, h, c = rg.lstm(rg.ones(3, 1), rg.tensor([2, 1]), state, [w, w], False, 1, 0.0, False, False)
        /// >>> c.flatten().tolist()
        /// [0.25, 0.5]
    }

    /// Gated recurrent units: with gates `r, z` and `n = tanh(.. + r ..)`, the state becomes `n + z (h - n)`.
    gru, gru_packed: Gru, one(&Tensor) -> pair((Tensor, Tensor)),
    "(layers * directions, batch, hidden)",
    "`w_ih` (3 * hidden, features), `w_hh` (3 * hidden, hidden), `b_ih`, `b_hh` (3 * hidden,)",
    "states",
    {
        /// >>> w = rg.zeros(3, 1)
        /// >>> y, h = rg.gru(rg.ones(2, 1, 1), rg.ones(1, 1, 1), [w, w], False, 1, 0.0, False, False, False)
        /// >>> y.flatten().tolist()
        /// [0.5, 0.25]
    } {
        /// >>> w = rg.zeros(3, 1)
        /// >>> y, h = rg.gru(rg.ones(3, 1), rg.tensor([2, 1]), rg.ones(1, 2, 1), [w, w], False, 1, 0.0, False, False)
        /// >>> y.flatten().tolist()
        /// [0.5, 0.5, 0.25]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn weights(gates: usize, features: usize, hidden: usize, layers: usize, directions: usize) -> Vec<Tensor> {
        let mut all = Vec::new();
        for layer in 0..layers {
            for k in 0..directions {
                let seed = (10 * layer + k) as u64 + 50;
                let features = if layer == 0 { features } else { hidden * directions };
                all.extend([noise(seed, &[gates * hidden, features]), noise(seed + 20, &[gates * hidden, hidden])]);
                all.extend([noise(seed + 30, &[gates * hidden]), noise(seed + 40, &[gates * hidden])]);
            }
        }
        all
    }

    #[test]
    fn gradients() {
        for directions in [1, 2] {
            let h = noise(2, &[2 * directions, 2, 3]);
            let two_way = directions == 2;
            let all = |gates| [vec![noise(1, &[3, 2, 2]), h.clone()], weights(gates, 2, 3, 2, directions)].concat();
            gradcheck(&|x| Ok(rnn_tanh(&x[0], &x[1], &x[2..], true, 2, 0.0, false, two_way, false)?.0), &all(1));
            gradcheck(&|x| Ok(gru(&x[0], &x[1], &x[2..], true, 2, 0.0, false, two_way, false)?.1), &all(3));
            gradcheck(
                &|x| {
                    let state = [x[1].clone(), x[1].times(0.5)?];
                    Ok(lstm(&x[0], &state, &x[2..], true, 2, 0.0, false, two_way, false)?.remove(2))
                },
                &all(4),
            );
        }
    }

    fn close(a: &Tensor, b: &Tensor) {
        let (a, b) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
        assert!(a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} against {b:?}");
    }

    #[test]
    fn packed_sequences_are_those_of_a_batch_apart() {
        let counts = Tensor::from_slice(&[2i64, 2, 1], &[3]).unwrap();
        let (data, h) = (noise(1, &[5, 2]), noise(2, &[2, 2, 3]));
        let w = weights(3, 2, 3, 1, 2);
        let (y, end) = gru_packed(&data, &counts, &h, &w, true, 1, 0.0, false, true).unwrap();
        let rows = |at: &[i64]| data.index_select(0, &Tensor::from_slice(at, &[at.len()]).unwrap()).unwrap();
        for (n, at) in [&[0i64, 2, 4][..], &[1, 3]].into_iter().enumerate() {
            let x = rows(at).unsqueeze(1).unwrap();
            let own = h.narrow(1, n as i64, 1).unwrap();
            let (want, last) = gru(&x, &own, &w, true, 1, 0.0, false, true, false).unwrap();
            for (t, &row) in at.iter().enumerate() {
                close(&y.select(0, row).unwrap(), &want.select(0, t as i64).unwrap());
            }
            close(&end.narrow(1, n as i64, 1).unwrap(), &last);
        }
        for bad in [&[2i64, 1][..], &[1, 2, 2], &[3, 2, 0], &[]] {
            let bad = Tensor::from_slice(bad, &[bad.len()]).unwrap();
            assert!(gru_packed(&data, &bad, &h, &w, true, 1, 0.0, false, true).is_err());
        }
    }

    #[test]
    fn refusals() {
        let (x, h, w) = (noise(1, &[3, 2, 2]), noise(2, &[1, 2, 3]), weights(1, 2, 3, 1, 1));
        assert!(rnn_relu(&x, &h, &w[..3], true, 1, 0.0, false, false, false).is_err());
        assert!(rnn_relu(&x, &h, &w, true, 2, 0.0, false, false, false).is_err());
        assert!(rnn_relu(&x, &h, &w, true, 0, 0.0, false, false, false).is_err());
        assert!(rnn_relu(&x.narrow(0, 0, 0).unwrap(), &h, &w, true, 1, 0.0, false, false, false).is_err());
        assert!(lstm(&x, &[h], &w, true, 1, 0.0, false, false, false).is_err());
    }
}
