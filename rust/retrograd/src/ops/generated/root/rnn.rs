//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Tensors, as_count};

op! {
    {
        /// Recurrent layers whose state is `tanh(w_ih x + b_ih + w_hh h + b_hh)`.
        ///
        /// Args: `input` (time, batch, features), or (batch, time, features) with `batch_first`; `hx` (layers \*
        /// directions, batch, hidden); `params` for each of `num_layers` layers and direction `w_ih` (hidden,
        /// features), `w_hh` (hidden, hidden), `b_ih`, `b_hh` (hidden,), without the biases if not `has_biases`;
        /// `dropout` the share of a layer's results dropped at random on their way to the next, if `train`;
        /// `bidirectional` adds a pass against time, its results behind the others.
        ///
        /// Returns: the hidden states of the last layer at all steps, and the last states of all layers.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if numbers, sizes or dtypes of the operands are incompatible.
        ///
        /// Needs the feature `rnn`.
    }
    fn [rnn_tanh try_rnn_tanh] (['a] input: &Tensor, hx: &Tensor, params: impl Into<Tensors<'a>>, has_biases: bool,
        num_layers: usize, dropout: f64, train: bool, bidirectional: bool, batch_first: bool)
    -> (Tensor, Tensor) = engine::rnn::rnn_tanh, (input.engine(), hx.engine(), params.into().engine(), has_biases,
        as_count(num_layers), dropout, train, bidirectional, batch_first)
    {}
}

op! {
    {
        /// As above, for packed sequences: `data` (steps of all, features), the first steps of all sequences first, the
        /// longest sequence in front, and `batch_sizes` how many sequences have each step. Returns the hidden states
        /// packed likewise.
        ///
        /// Needs the feature `rnn`.
        #[doc(alias = "rnn_tanh")]
    }
    fn [rnn_tanh_packed try_rnn_tanh_packed] (['a] data: &Tensor, batch_sizes: &Tensor, hx: &Tensor,
        params: impl Into<Tensors<'a>>, has_biases: bool, num_layers: usize, dropout: f64, train: bool,
        bidirectional: bool)
    -> (Tensor, Tensor) = engine::rnn::rnn_tanh_packed, (data.engine(), batch_sizes.engine(), hx.engine(),
        params.into().engine(), has_biases, as_count(num_layers), dropout, train, bidirectional)
    {}
}

op! {
    {
        /// Recurrent layers whose state is `relu(w_ih x + b_ih + w_hh h + b_hh)`.
        ///
        /// Args: `input` (time, batch, features), or (batch, time, features) with `batch_first`; `hx` (layers \*
        /// directions, batch, hidden); `params` for each of `num_layers` layers and direction `w_ih` (hidden,
        /// features), `w_hh` (hidden, hidden), `b_ih`, `b_hh` (hidden,), without the biases if not `has_biases`;
        /// `dropout` the share of a layer's results dropped at random on their way to the next, if `train`;
        /// `bidirectional` adds a pass against time, its results behind the others.
        ///
        /// Returns: the hidden states of the last layer at all steps, and the last states of all layers.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if numbers, sizes or dtypes of the operands are incompatible.
        ///
        /// Needs the feature `rnn`.
    }
    fn [rnn_relu try_rnn_relu] (['a] input: &Tensor, hx: &Tensor, params: impl Into<Tensors<'a>>, has_biases: bool,
        num_layers: usize, dropout: f64, train: bool, bidirectional: bool, batch_first: bool)
    -> (Tensor, Tensor) = engine::rnn::rnn_relu, (input.engine(), hx.engine(), params.into().engine(), has_biases,
        as_count(num_layers), dropout, train, bidirectional, batch_first)
    {}
}

op! {
    {
        /// As above, for packed sequences: `data` (steps of all, features), the first steps of all sequences first, the
        /// longest sequence in front, and `batch_sizes` how many sequences have each step. Returns the hidden states
        /// packed likewise.
        ///
        /// Needs the feature `rnn`.
        #[doc(alias = "rnn_relu")]
    }
    fn [rnn_relu_packed try_rnn_relu_packed] (['a] data: &Tensor, batch_sizes: &Tensor, hx: &Tensor,
        params: impl Into<Tensors<'a>>, has_biases: bool, num_layers: usize, dropout: f64, train: bool,
        bidirectional: bool)
    -> (Tensor, Tensor) = engine::rnn::rnn_relu_packed, (data.engine(), batch_sizes.engine(), hx.engine(),
        params.into().engine(), has_biases, as_count(num_layers), dropout, train, bidirectional)
    {}
}

op! {
    {
        /// Long short-term memory: with gates `i, f, g, o`, the cell state becomes `f c + i g` and the hidden state `o
        /// tanh(c)`.
        ///
        /// Args: `input` (time, batch, features), or (batch, time, features) with `batch_first`; `hx` hidden state
        /// (layers \* directions, batch, hidden) and cell state; `params` for each of `num_layers` layers and direction
        /// `w_ih` (4 \* hidden, features), `w_hh` (4 \* hidden, hidden), `b_ih`, `b_hh` (4 \* hidden,), and `w_hr`
        /// (projection, hidden) where the hidden state is smaller than the cell state, without the biases if not
        /// `has_biases`; `dropout` the share of a layer's results dropped at random on their way to the next, if
        /// `train`; `bidirectional` adds a pass against time, its results behind the others.
        ///
        /// Returns: the hidden states of the last layer at all steps, and the last hidden and cell states of all
        /// layers.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if numbers, sizes or dtypes of the operands are incompatible.
        ///
        /// Needs the feature `rnn`.
    }
    fn [lstm try_lstm] (['a] input: &Tensor, hx: impl Into<Tensors<'a>>, params: impl Into<Tensors<'a>>,
        has_biases: bool, num_layers: usize, dropout: f64, train: bool, bidirectional: bool, batch_first: bool)
    -> Vec<Tensor> = engine::rnn::lstm, (input.engine(), hx.into().engine(), params.into().engine(), has_biases,
        as_count(num_layers), dropout, train, bidirectional, batch_first)
    {}
}

op! {
    {
        /// As above, for packed sequences: `data` (steps of all, features), the first steps of all sequences first, the
        /// longest sequence in front, and `batch_sizes` how many sequences have each step. Returns the hidden states
        /// packed likewise.
        ///
        /// Needs the feature `rnn`.
        #[doc(alias = "lstm")]
    }
    fn [lstm_packed try_lstm_packed] (['a] data: &Tensor, batch_sizes: &Tensor, hx: impl Into<Tensors<'a>>,
        params: impl Into<Tensors<'a>>, has_biases: bool, num_layers: usize, dropout: f64, train: bool,
        bidirectional: bool)
    -> Vec<Tensor> = engine::rnn::lstm_packed, (data.engine(), batch_sizes.engine(), hx.into().engine(),
        params.into().engine(), has_biases, as_count(num_layers), dropout, train, bidirectional)
    {}
}

op! {
    {
        /// Gated recurrent units: with gates `r, z` and `n = tanh(.. + r ..)`, the state becomes `n + z (h - n)`.
        ///
        /// Args: `input` (time, batch, features), or (batch, time, features) with `batch_first`; `hx` (layers \*
        /// directions, batch, hidden); `params` for each of `num_layers` layers and direction `w_ih` (3 \* hidden,
        /// features), `w_hh` (3 \* hidden, hidden), `b_ih`, `b_hh` (3 \* hidden,), without the biases if not
        /// `has_biases`; `dropout` the share of a layer's results dropped at random on their way to the next, if
        /// `train`; `bidirectional` adds a pass against time, its results behind the others.
        ///
        /// Returns: the hidden states of the last layer at all steps, and the last states of all layers.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if numbers, sizes or dtypes of the operands are incompatible.
        ///
        /// Needs the feature `rnn`.
    }
    fn [gru try_gru] (['a] input: &Tensor, hx: &Tensor, params: impl Into<Tensors<'a>>, has_biases: bool,
        num_layers: usize, dropout: f64, train: bool, bidirectional: bool, batch_first: bool)
    -> (Tensor, Tensor) = engine::rnn::gru, (input.engine(), hx.engine(), params.into().engine(), has_biases,
        as_count(num_layers), dropout, train, bidirectional, batch_first)
    {}
}

op! {
    {
        /// As above, for packed sequences: `data` (steps of all, features), the first steps of all sequences first, the
        /// longest sequence in front, and `batch_sizes` how many sequences have each step. Returns the hidden states
        /// packed likewise.
        ///
        /// Needs the feature `rnn`.
        #[doc(alias = "gru")]
    }
    fn [gru_packed try_gru_packed] (['a] data: &Tensor, batch_sizes: &Tensor, hx: &Tensor,
        params: impl Into<Tensors<'a>>, has_biases: bool, num_layers: usize, dropout: f64, train: bool,
        bidirectional: bool)
    -> (Tensor, Tensor) = engine::rnn::gru_packed, (data.engine(), batch_sizes.engine(), hx.engine(),
        params.into().engine(), has_biases, as_count(num_layers), dropout, train, bidirectional)
    {}
}

op! {
    {
        /// One step of `rnn_tanh`: `tanh(w_ih x + b_ih + w_hh h + b_hh)`.
        ///
        /// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (hidden, features), `w_hh` (hidden, hidden),
        /// and biases `b_ih`, `b_hh` (hidden,) or `None`.
        ///
        /// Returns: the state after the step.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if sizes or dtypes are incompatible; for operands without two dims.
        ///
        /// Needs the feature `rnn`.
    }
    fn [rnn_tanh_cell try_rnn_tanh_cell rnn_tanh_cell_with try_rnn_tanh_cell_with] ([] input: &Tensor, hx: &Tensor,
        w_ih: &Tensor, w_hh: &Tensor)
    -> Tensor = engine::rnn::cells::rnn_tanh_cell, (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(), None,
        None)
    {['o] o: BIhBHhOptions<'o> => Tensor = (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(),
        o.b_ih.map(Tensor::engine), o.b_hh.map(Tensor::engine))}
}

op! {
    {
        /// One step of `rnn_relu`: `relu(w_ih x + b_ih + w_hh h + b_hh)`.
        ///
        /// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (hidden, features), `w_hh` (hidden, hidden),
        /// and biases `b_ih`, `b_hh` (hidden,) or `None`.
        ///
        /// Returns: the state after the step.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if sizes or dtypes are incompatible; for operands without two dims.
        ///
        /// Needs the feature `rnn`.
    }
    fn [rnn_relu_cell try_rnn_relu_cell rnn_relu_cell_with try_rnn_relu_cell_with] ([] input: &Tensor, hx: &Tensor,
        w_ih: &Tensor, w_hh: &Tensor)
    -> Tensor = engine::rnn::cells::rnn_relu_cell, (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(), None,
        None)
    {['o] o: BIhBHhOptions<'o> => Tensor = (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(),
        o.b_ih.map(Tensor::engine), o.b_hh.map(Tensor::engine))}
}

op! {
    {
        /// One step of `lstm`: with gates `i, f, g, o`, the cell state becomes `f c + i g` and the hidden state `o
        /// tanh(c)`.
        ///
        /// Args: `input` (batch, features); `hx` hidden and cell state, each (batch, hidden); `w_ih` (4 \* hidden,
        /// features), `w_hh` (4 \* hidden, hidden), and biases `b_ih`, `b_hh` (4 \* hidden,) or `None`.
        ///
        /// Returns: the state after the step.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if sizes or dtypes are incompatible; for operands without two dims.
        ///
        /// Needs the feature `rnn`.
    }
    fn [lstm_cell try_lstm_cell lstm_cell_with try_lstm_cell_with] (['a] input: &Tensor, hx: impl Into<Tensors<'a>>,
        w_ih: &Tensor, w_hh: &Tensor)
    -> (Tensor, Tensor) = engine::rnn::cells::lstm_cell, (input.engine(), hx.into().engine(), w_ih.engine(),
        w_hh.engine(), None, None)
    {['o] o: BIhBHhOptions<'o> => (Tensor, Tensor) = (input.engine(), hx.into().engine(), w_ih.engine(), w_hh.engine(),
        o.b_ih.map(Tensor::engine), o.b_hh.map(Tensor::engine))}
}

op! {
    {
        /// One step of `gru`: with gates `r, z` and `n = tanh(.. + r ..)`, the state becomes `n + z (h - n)`.
        ///
        /// Args: `input` (batch, features); `hx` (batch, hidden); `w_ih` (3 \* hidden, features), `w_hh` (3 \* hidden,
        /// hidden), and biases `b_ih`, `b_hh` (3 \* hidden,) or `None`.
        ///
        /// Returns: the state after the step.
        ///
        /// Derivative: that of the ops it is composed of.
        ///
        /// Errors: if sizes or dtypes are incompatible; for operands without two dims.
        ///
        /// Needs the feature `rnn`.
    }
    fn [gru_cell try_gru_cell gru_cell_with try_gru_cell_with] ([] input: &Tensor, hx: &Tensor, w_ih: &Tensor,
        w_hh: &Tensor)
    -> Tensor = engine::rnn::cells::gru_cell, (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(), None, None)
    {['o] o: BIhBHhOptions<'o> => Tensor = (input.engine(), hx.engine(), w_ih.engine(), w_hh.engine(),
        o.b_ih.map(Tensor::engine), o.b_hh.map(Tensor::engine))}
}
