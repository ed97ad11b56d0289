//! Recurrent cells: one step each.

use retrograd_macros::op;

use super::cell::{Cell, State, Weights};
use super::layers::state_of;
use super::{one, two};
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

fn only(mut next: State) -> Tensor {
    next.swap_remove(0)
}

fn both(mut next: State) -> (Tensor, Tensor) {
    let c = next.swap_remove(1);
    (next.swap_remove(0), c)
}

/// One step of each cell, as an op.
macro_rules! cells {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $cell:ident, $states:ident($hx:ty) -> $results:ident($result:ty), $hx_doc:literal, $gates:literal,
        { $(#[doc = $example:literal])* }
    )*) => { $(
        $(#[doc = $doc])*
        ///
        #[doc = concat!(" Args: `input` (batch, features); `hx` ", $hx_doc, ";")]
        #[doc = concat!(" `w_ih` (", $gates, "hidden, features), `w_hh` (", $gates, "hidden, hidden),")]
        #[doc = concat!(" and biases `b_ih`, `b_hh` (", $gates, "hidden,) or None.")]
        /// Returns: the state after the step. Derivative: that of the ops it is composed of. Raises: RuntimeError if
        /// sizes or dtypes are incompatible; IndexError for operands without two dims.
        ///
        $(#[doc = $example])*
        #[op(function, "(b_ih=None, b_hh=None)")]
        pub fn $name(
            input: &Tensor,
            hx: $hx,
            w_ih: &Tensor,
            w_hh: &Tensor,
            b_ih: Option<&Tensor>,
            b_hh: Option<&Tensor>,
        ) -> Result<$result> {
            let weights = Weights { input: w_ih, hidden: w_hh, input_bias: b_ih, hidden_bias: b_hh, projection: None };
            step(stringify!($name), Cell::$cell, input, &$states(hx)?, &weights).map($results)
        }
    )* };
}

cells! {
    /// One step of `rnn_tanh`: `tanh(w_ih x + b_ih + w_hh h + b_hh)`.
    rnn_tanh_cell: Tanh, one(&Tensor) -> only(Tensor), "(batch, hidden)", "",
    {
        /// >>> rg.rnn_tanh_cell(rg.ones(1, 2), rg.ones(1, 1), rg.zeros(1, 2), rg.zeros(1, 1)).item()
        /// 0.0
    }

    /// One step of `rnn_relu`: `relu(w_ih x + b_ih + w_hh h + b_hh)`.
    rnn_relu_cell: Relu, one(&Tensor) -> only(Tensor), "(batch, hidden)", "",
    {
        /// >>> rg.rnn_relu_cell(rg.ones(1, 2), rg.ones(1, 1), rg.ones(1, 2), rg.ones(1, 1)).item()
        /// 3.0
    }

    /// One step of `lstm`: with gates `i, f, g, o`, the cell state becomes `f c + i g` and the hidden state `o
    /// tanh(c)`.
    lstm_cell: Lstm, two(&[Tensor]) -> both((Tensor, Tensor)), "hidden and cell state, each (batch, hidden)", "4 * ",
    {
        /// >>> state = [rg.zeros(1, 1), rg.ones(1, 1)]
        /// >>> h, c = rg.lstm_cell(rg.ones(1, 2), state, rg.zeros(4, 2), rg.zeros(4, 1))
        /// >>> c.item()
        /// 0.5
    }

    /// One step of `gru`: with gates `r, z` and `n = tanh(.. + r ..)`, the state becomes `n + z (h - n)`.
    gru_cell: Gru, one(&Tensor) -> only(Tensor), "(batch, hidden)", "3 * ",
    {
        /// >>> rg.gru_cell(rg.ones(1, 2), rg.ones(1, 1), rg.zeros(3, 2), rg.zeros(3, 1)).item()
        /// 0.5
    }
}
