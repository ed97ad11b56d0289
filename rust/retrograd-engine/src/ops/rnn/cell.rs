//! One step of a recurrent layer, in tensor ops.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::ops::matmul::linear;
use crate::tensor::Tensor;

/// What a step does with its input and the state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// `tanh(W x + U h)`.
    Tanh,
    /// `relu(W x + U h)`.
    Relu,
    /// Gates `i, f, g, o` of `W x + U h`: `c' = f c + i g`, `h' = o tanh(c')`.
    Lstm,
    /// Gates `r, z, n` of `W x` and `U h`: `n = tanh(W_n x + r U_n h)`, `h' = n + z (h - n)`.
    Gru,
}

/// The hidden state, and the cell state of an LSTM.
pub(super) type State = SmallVec<[Tensor; 2]>;

/// The weights of one layer in one direction.
#[derive(Clone)]
pub(super) struct Weights<'a> {
    pub input: &'a Tensor,
    pub hidden: &'a Tensor,
    pub input_bias: Option<&'a Tensor>,
    pub hidden_bias: Option<&'a Tensor>,
    /// Of an LSTM whose hidden state is smaller than its cell state.
    pub projection: Option<&'a Tensor>,
}

impl Weights<'_> {
    /// `W x + b`, for a step or for all steps at once.
    pub(super) fn of_input(&self, x: &Tensor) -> Result<Tensor> {
        linear(x, self.input, self.input_bias)
    }
    /// As [`Weights::of_input`], with the bias of the hidden state too, for cells that add both parts.
    pub(super) fn of_input_with_both_biases(&self, x: &Tensor) -> Result<Tensor> {
        let bias = match (self.input_bias, self.hidden_bias) {
            (Some(a), Some(b)) => Some(a.add(b)?),
            (one, other) => one.or(other).cloned(),
        };
        linear(x, self.input, bias.as_ref())
    }
    fn of_hidden(&self, h: &Tensor) -> Result<Tensor> {
        linear(h, self.hidden, self.hidden_bias)
    }
    /// Refuses weights whose rows are not the gates of `hidden` elements: a single row would be broadcast.
    pub(super) fn check(&self, cell: Cell, hidden: usize) -> Result<()> {
        let (gates, rows) = (cell.gates(), cell.gates() * hidden);
        for (t, name) in [(self.input, "weight_ih"), (self.hidden, "weight_hh")] {
            if t.ndim() != 2 {
                return Err(refused(format!("{name} must have 2 dimensions, got shape {:?}", t.sizes())));
            }
            if t.sizes()[0] != rows {
                let got = t.sizes()[0];
                return Err(refused(format!("{name} first dim must be {gates} * hidden_size = {rows}, but got {got}")));
            }
        }
        Ok(())
    }
}

impl Cell {
    fn gates(self) -> usize {
        match self {
            Cell::Tanh | Cell::Relu => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        }
    }

    /// The state after a step, whose input has been through [`Weights::of_input`].
    pub(super) fn step(self, x: &Tensor, state: &State, weights: &Weights) -> Result<State> {
        let h = &state[0];
        let from_hidden = weights.of_hidden(h)?;
        let mut next = State::new();
        match self {
            Cell::Tanh => next.push(from_hidden.add(x)?.tanh()?),
            Cell::Relu => next.push(from_hidden.add(x)?.relu()?),
            Cell::Lstm => {
                let gates = from_hidden.add(x)?.unsafe_chunk(4, 1)?;
                let [i, f, g, o] = &gates[..] else { return Err(refused("lstm: the weights have not four gates")) };
                let c = f.sigmoid()?.mul(&state[1])?.add(&i.sigmoid()?.mul(&g.tanh()?)?)?;
                let h = o.sigmoid()?.mul(&c.tanh()?)?;
                next.push(match weights.projection {
                    Some(projection) => h.matmul(&projection.t()?)?,
                    None => h,
                });
                next.push(c);
            }
            Cell::Gru => {
                let (x, u) = (x.unsafe_chunk(3, 1)?, from_hidden.unsafe_chunk(3, 1)?);
                let ([xr, xz, xn], [hr, hz, hn]) = (&x[..], &u[..]) else {
                    return Err(refused("gru: the weights have not three gates"));
                };
                let r = hr.add(xr)?.sigmoid()?;
                let z = hz.add(xz)?.sigmoid()?;
                let n = xn.add(&hn.mul(&r)?)?.tanh()?;
                next.push(h.sub(&n)?.mul(&z)?.add(&n)?);
            }
        }
        Ok(next)
    }
}

pub(super) fn refused(detail: impl Into<String>) -> Error {
    Error::shape("rnn", detail)
}
