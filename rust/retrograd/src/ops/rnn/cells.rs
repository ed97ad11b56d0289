//! Recurrent cells: one step each.

use retrograd_macros::op;

use super::cell::{Cell, State, Weights};
use super::layers::state_of;
use super::two;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// The state after one step.
fn step(op: &'static str, cell: Cell, x: &Tensor, states: &[&Tensor], weights: &Weights) -> Result<State> {
    let refuse = |detail: String| Err(Error::shape(op, detail));
    for t in [x].into_iter().chain(states.iter().copied()) {
        if t.ndim() != 2 {
            return Err(Error::index(
                op,
                format!(
                    "Dimension out of range (expected to be in range of [-1, 0], but got 1): operands are (batch, features), got \
                     {} dims",
                    t.ndim()
                ),
            ));
        }
    }
    let hidden = weights.hidden.sizes().get(1).copied().unwrap_or(0);
    weights.check(cell, hidden)?;
    let expected = weights.input.sizes().get(1).copied().unwrap_or(0);
    if x.sizes()[1] != expected {
        return refuse(format!("input has inconsistent input_size: got {} expected {expected}", x.sizes()[1]));
    }
    for (k, state) in states.iter().enumerate() {
        let (batch, of_state) = (x.sizes()[0], state.sizes()[0]);
        if batch != of_state {
            return refuse(format!("Input batch size {batch} doesn't match hidden{k} batch size {of_state}"));
        }
        if state.sizes()[1] != hidden {
            return refuse(format!(
                "hidden{k} has inconsistent hidden_size: got {}, expected {hidden}",
                state.sizes()[1]
            ));
        }
    }
    cell.step(&weights.of_input(x)?, &state_of(states), weights)
}

/// One step of `rnn_tanh`: `tanh(w_ih x + b_ih + w_hh h + b_hh)`.
///
/// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (hidden, features), `w_hh` (hidden, hidden), and
/// biases `b_ih`, `b_hh` (hidden,) or None.
/// Returns: the state after the step. Derivative: that of the ops it is composed of. Raises: RuntimeError if sizes or
/// dtypes do not go together; IndexError for operands without two dims.
///
/// >>> rg.rnn_tanh_cell(rg.ones(1, 2), rg.ones(1, 1), rg.zeros(1, 2), rg.zeros(1, 1)).item()
/// 0.0
#[op(function, "(b_ih=None, b_hh=None)")]
pub fn rnn_tanh_cell(
    input: &Tensor,
    hx: &Tensor,
    w_ih: &Tensor,
    w_hh: &Tensor,
    b_ih: Option<&Tensor>,
    b_hh: Option<&Tensor>,
) -> Result<Tensor> {
    let weights = Weights { input: w_ih, hidden: w_hh, input_bias: b_ih, hidden_bias: b_hh, projection: None };
    let mut next = step("rnn_tanh_cell", Cell::Tanh, input, &[hx], &weights)?;
    Ok(next.swap_remove(0))
}

/// One step of `rnn_relu`: `relu(w_ih x + b_ih + w_hh h + b_hh)`.
///
/// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (hidden, features), `w_hh` (hidden, hidden), and
/// biases `b_ih`, `b_hh` (hidden,) or None.
/// Returns: the state after the step. Derivative: that of the ops it is composed of. Raises: RuntimeError if sizes or
/// dtypes do not go together; IndexError for operands without two dims.
///
/// >>> rg.rnn_relu_cell(rg.ones(1, 2), rg.ones(1, 1), rg.ones(1, 2), rg.ones(1, 1)).item()
/// 3.0
#[op(function, "(b_ih=None, b_hh=None)")]
pub fn rnn_relu_cell(
    input: &Tensor,
    hx: &Tensor,
    w_ih: &Tensor,
    w_hh: &Tensor,
    b_ih: Option<&Tensor>,
    b_hh: Option<&Tensor>,
) -> Result<Tensor> {
    let weights = Weights { input: w_ih, hidden: w_hh, input_bias: b_ih, hidden_bias: b_hh, projection: None };
    let mut next = step("rnn_relu_cell", Cell::Relu, input, &[hx], &weights)?;
    Ok(next.swap_remove(0))
}

/// One step of `lstm`: with gates `i, f, g, o`, the cell state becomes `f c + i g` and the hidden state `o tanh(c)`.
///
/// Args: `input` (batch, features); `hx` hidden and cell state, each (batch, hidden); `w_ih` (4 * hidden, features),
/// `w_hh` (4 * hidden, hidden), and biases `b_ih`, `b_hh` (4 * hidden,) or None.
/// Returns: the state after the step. Derivative: that of the ops it is composed of. Raises: RuntimeError if sizes or
/// dtypes do not go together; IndexError for operands without two dims.
///
/// >>> state = [rg.zeros(1, 1), rg.ones(1, 1)]
/// >>> h, c = rg.lstm_cell(rg.ones(1, 2), state, rg.zeros(4, 2), rg.zeros(4, 1))
/// >>> c.item()
/// 0.5
#[op(function, "(b_ih=None, b_hh=None)")]
pub fn lstm_cell(
    input: &Tensor,
    hx: &[Tensor],
    w_ih: &Tensor,
    w_hh: &Tensor,
    b_ih: Option<&Tensor>,
    b_hh: Option<&Tensor>,
) -> Result<(Tensor, Tensor)> {
    let weights = Weights { input: w_ih, hidden: w_hh, input_bias: b_ih, hidden_bias: b_hh, projection: None };
    let mut next = step("lstm_cell", Cell::Lstm, input, &two(hx)?, &weights)?;
    let c = next.swap_remove(1);
    Ok((next.swap_remove(0), c))
}

/// One step of `gru`: with gates `r, z` and `n = tanh(.. + r ..)`, the state becomes `n + z (h - n)`.
///
/// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (3 * hidden, features), `w_hh` (3 * hidden, hidden),
/// and biases `b_ih`, `b_hh` (3 * hidden,) or None.
/// Returns: the state after the step. Derivative: that of the ops it is composed of. Raises: RuntimeError if sizes or
/// dtypes do not go together; IndexError for operands without two dims.
///
/// >>> rg.gru_cell(rg.ones(1, 2), rg.ones(1, 1), rg.zeros(3, 2), rg.zeros(3, 1)).item()
/// 0.5
#[op(function, "(b_ih=None, b_hh=None)")]
pub fn gru_cell(
    input: &Tensor,
    hx: &Tensor,
    w_ih: &Tensor,
    w_hh: &Tensor,
    b_ih: Option<&Tensor>,
    b_hh: Option<&Tensor>,
) -> Result<Tensor> {
    let weights = Weights { input: w_ih, hidden: w_hh, input_bias: b_ih, hidden_bias: b_hh, projection: None };
    let mut next = step("gru_cell", Cell::Gru, input, &[hx], &weights)?;
    Ok(next.swap_remove(0))
}
