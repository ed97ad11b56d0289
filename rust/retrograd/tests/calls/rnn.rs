//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::rnn_tanh(any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any(), any());
    ops::rnn_tanh_packed(any(), any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any());
    ops::rnn_relu(any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any(), any());
    ops::rnn_relu_packed(any(), any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any());
    ops::lstm(any(), any::<&[Tensor]>(), any::<&[Tensor]>(), any(), any(), any(), any(), any(), any());
    ops::lstm_packed(any(), any(), any::<&[Tensor]>(), any::<&[Tensor]>(), any(), any(), any(), any(), any());
    ops::gru(any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any(), any());
    ops::gru_packed(any(), any(), any(), any::<&[Tensor]>(), any(), any(), any(), any(), any());
    ops::rnn_tanh_cell(any(), any(), any(), any());
    ops::rnn_tanh_cell_with(any(), any(), any(), any(), |o| o);
    ops::rnn_relu_cell(any(), any(), any(), any());
    ops::rnn_relu_cell_with(any(), any(), any(), any(), |o| o);
    ops::lstm_cell(any(), any::<&[Tensor]>(), any(), any());
    ops::lstm_cell_with(any(), any::<&[Tensor]>(), any(), any(), |o| o);
    ops::gru_cell(any(), any(), any(), any());
    ops::gru_cell_with(any(), any(), any(), any(), |o| o);
}
