"""Recurrent layers, over sequences and over one step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter
from retrograd.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

# How many gates a mode has, and its op.
_MODES: dict[str, tuple[int, Any]] = {
    "LSTM": (4, _core.lstm),
    "GRU": (3, _core.gru),
    "RNN_TANH": (1, _core.rnn_tanh),
    "RNN_RELU": (1, _core.rnn_relu),
}


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: weights of all layers and directions, and checks.

    Args: `mode` "RNN_TANH", "RNN_RELU", "LSTM" or "GRU"; the others as of `LSTM`.
    Parameters: for each layer k, and with `_reverse` for the second direction, `weight_ih_lk`, `weight_hh_lk`,
    `bias_ih_lk`, `bias_hh_lk` and `weight_hr_lk`, drawn uniformly up to `1 / sqrt(hidden_size)`.

    >>> [name for name, _ in rg.nn.RNNBase("GRU", 3, 4).named_parameters()]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    _all_weights: list[list[str]]
    _flat_weights_names: list[str]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        chance: Any = dropout
        if isinstance(chance, bool) or not (isinstance(chance, float | int) and 0 <= chance <= 1):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        for name, value, kind in (
            ("bias", bias, bool),
            ("batch_first", batch_first, bool),
            ("input_size", input_size, int),
            ("hidden_size", hidden_size, int),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in _MODES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        gates = _MODES[mode][0] * hidden_size
        state_size = proj_size or hidden_size
        directions = ("", "_reverse") if bidirectional else ("",)
        for layer, direction in product(range(num_layers), directions):
            size = input_size if layer == 0 else state_size * len(directions)
            sizes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, size), "weight_hh": (gates, state_size)}
            if bias:
                sizes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            if proj_size:
                sizes["weight_hr"] = (proj_size, hidden_size)
            names = [f"{name}_l{layer}{direction}" for name in sizes]
            for name, shape in zip(names, sizes.values(), strict=True):
                self.register_parameter(name, new_parameter(shape, device, dtype))
            self._all_weights.append(names)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _flat_weights(self) -> list[Any]:
        """The weights as they are now; None for one that was deleted."""
        own = self._parameters
        return [own[name] if name in own else getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: a CPU gains nothing from weights that lie together.

        >>> rg.nn.LSTM(3, 4).flatten_parameters()
        """

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        >>> rg.nn.LSTM(3, 4).reset_parameters()
        """
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse inputs whose dtype, number of dimensions or size of features do not fit.

        >>> rg.nn.LSTM(3, 4).check_input(rg.ones(5, 2, 3), None)
        """
        dtype = parameter_of(self, self._flat_weights_names[0]).dtype
        if input.dtype != dtype and not _autocasts():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 3 if batch_sizes is None else 2
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        return input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The size that the hidden state for this input has.

        >>> rg.nn.LSTM(3, 4, 2).get_expected_hidden_size(rg.ones(5, 2, 3), None)
        (2, 2, 4)
        """
        states = self.num_layers * (2 if self.bidirectional else 1)
        return states, self._batch(input, batch_sizes), self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a state of another size.

        >>> rg.nn.GRU(3, 4).check_hidden_size(rg.ones(1, 2, 4), (1, 2, 4))
        """
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse inputs and states that do not fit.

        >>> rg.nn.GRU(3, 4).check_forward_args(rg.ones(5, 2, 3), rg.ones(1, 2, 4), None)
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its batch in another order.

        >>> rg.nn.GRU(3, 1).permute_hidden(rg.tensor([[[1.0], [2.0]]]), rg.tensor([1, 0])).flatten()
        tensor([2., 1.])
        """
        return hx if permutation is None else hx.index_select(1, permutation)

    def _zeros(self, input: Tensor, batch: int) -> Any:
        """The state at first."""
        states = self.num_layers * (2 if self.bidirectional else 1)
        size = (states, batch, self.proj_size or self.hidden_size)
        return _core.zeros(size, dtype=input.dtype, device=input.device)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        """The state of an input with or without a batch, with one. Refuse one of another number of dimensions."""
        if batched:
            if hx.dim() != 3:
                raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
            return hx
        if hx.dim() != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
        return hx.unsqueeze(1)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        dims = input.dim()
        if dims not in (2, 3):
            name, tensor = ("RNN", " tensor") if self.mode.startswith("RNN") else (self.mode, "")
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {dims}D{tensor} instead")
        batched = dims == 3
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            hx = self._zeros(input, input.size(batch_dim))
            self.check_input(input, None)
        else:
            hx = self._with_batch(hx, batched)
            self.check_forward_args(input, hx, None)
        output, *states = _MODES[self.mode][1](
            input,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
        )
        if not batched:
            output = output.squeeze(batch_dim)
            states = [state.squeeze(1) for state in states]
        return output, states[0] if len(states) == 1 else tuple(states)

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        hx = self._zeros(data, int(batch_sizes[0])) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *states = _MODES[self.mode][1](
            data,
            batch_sizes,
            hx,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        hidden = states[0] if len(states) == 1 else tuple(states)
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(hidden, unsorted_indices)

    def extra_repr(self) -> str:
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"proj_size={self.proj_size}" if self.proj_size != 0 else "",
            f"num_layers={self.num_layers}" if self.num_layers != 1 else "",
            f"bias={self.bias}" if self.bias is not True else "",
            f"batch_first={self.batch_first}" if self.batch_first is not False else "",
            f"dropout={self.dropout}" if self.dropout != 0 else "",
            f"bidirectional={self.bidirectional}" if self.bidirectional is not False else "",
        ]
        return ", ".join(filter(None, parts))


def _autocasts() -> bool:
    from retrograd.amp._state import is_autocast_enabled

    return is_autocast_enabled("cpu")


class RNN(RNNBase):
    """`h = tanh(W_ih x + b_ih + W_hh h + b_hh)` along sequences (L, N, input_size), or (N, L, input_size).

    Args: `nonlinearity` "tanh" or "relu"; the others as of `LSTM`, without `proj_size`.
    Returns: the states of the last layer along the sequences, and the last states of all layers.

    >>> out, h = rg.nn.RNN(3, 4)(rg.ones(5, 2, 3))
    >>> out.shape, h.shape
    (retrograd.Size([5, 2, 4]), retrograd.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A long short-term memory along sequences (L, N, input_size).

    Args: `input_size` and `hidden_size` of inputs and states; `num_layers` one after the other; `bias` whether there
    are biases; `batch_first` whether inputs and outputs are (N, L, ...); `dropout` the probability with which outputs
    of all layers but the last are dropped while training; `bidirectional` whether a second direction runs backwards,
    whose states follow those of the first; `proj_size` the size to which states are projected, if not 0.
    A call has the input, without N or as a `PackedSequence` too, and the states h and c (num_layers * directions, N,
    size), zeros by default. Returns: the states h of the last layer along the sequences, and the last h and c of all
    layers. Raises: ValueError, TypeError or RuntimeError if something does not fit. Parameters: see `RNNBase`.

    >>> out, (h, c) = rg.nn.LSTM(3, 4, num_layers=2)(rg.ones(5, 2, 3))
    >>> out.shape, h.shape, c.shape
    (retrograd.Size([5, 2, 4]), retrograd.Size([2, 2, 4]), retrograd.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The size that the state c for this input has.

        >>> rg.nn.LSTM(3, 4, 2, proj_size=2).get_expected_cell_size(rg.ones(5, 2, 3), None)
        (2, 2, 4)
        """
        states = self.num_layers * (2 if self.bidirectional else 1)
        return states, self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse inputs and states that do not fit."""
        self.check_input(input, batch_sizes)
        size = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], size, "Expected hidden[0] size {}, got {}")
        size = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], size, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with their batch in another order."""
        return hx if permutation is None else tuple(state.index_select(1, permutation) for state in hx)

    def _zeros(self, input: Tensor, batch: int) -> Any:
        h = super()._zeros(input, batch)
        if not self.proj_size:
            return h, h
        return h, _core.zeros((h.size(0), batch, self.hidden_size), dtype=input.dtype, device=input.device)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        dims, kind = (3, "batched") if batched else (2, "unbatched")
        if hx[0].dim() != dims or hx[1].dim() != dims:
            raise RuntimeError(
                f"For {kind} {dims}-D input, hx and cx should also be {dims}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return hx if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))


class GRU(RNNBase):
    """Gated recurrent units along sequences (L, N, input_size), or (N, L, input_size).

    Args: as of `LSTM`, without `proj_size`.
    Returns: the states of the last layer along the sequences, and the last states of all layers.

    >>> out, h = rg.nn.GRU(3, 4, bidirectional=True)(rg.ones(5, 2, 3))
    >>> out.shape, h.shape
    (retrograd.Size([5, 2, 8]), retrograd.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What `RNNCell`, `LSTMCell` and `GRUCell` share: their weights.

    Args: `input_size` and `hidden_size` of inputs and states; `bias` whether there are biases; `num_chunks` how many
    gates. Parameters: `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh`, drawn uniformly up to `1 / sqrt(hidden_size)`.

    >>> rg.nn.RNNCellBase(3, 4, True, num_chunks=2).weight_ih.shape
    retrograd.Size([8, 3])
    """

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = new_parameter((gates, input_size), device, dtype)
        self.weight_hh = new_parameter((gates, hidden_size), device, dtype)
        self.register_parameter("bias_ih", new_parameter(gates, device, dtype) if bias else None)
        self.register_parameter("bias_hh", new_parameter(gates, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        >>> rg.nn.GRUCell(3, 4).reset_parameters()
        """
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_dims(self, input: Tensor, states: dict[str, Tensor]) -> bool:
        """Whether the input has a batch. Refuse other numbers of dimensions."""
        for name, value in {"input": input, **states}.items():
            if value.dim() not in (1, 2):
                raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {value.dim()}D instead")
        return input.dim() == 2

    def _weights(self) -> Iterator[Any]:
        return (parameter_of(self, name) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))

    def _zeros(self, input: Tensor) -> Tensor:
        return _core.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"bias={self.bias}" if self.bias is not True else "",
            f"nonlinearity={self.__dict__['nonlinearity']}" if self._says_nonlinearity() else "",
        ]
        return ", ".join(filter(None, parts))

    def _says_nonlinearity(self) -> bool:
        nonlinearity: str = self.__dict__.get("nonlinearity", "tanh")
        return nonlinearity != "tanh"


class _OneState(RNNCellBase):
    """A cell whose state is one tensor."""

    def _step(self, input: Tensor, hx: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        batched = self._check_dims(input, {} if hx is None else {"hidden": hx})
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        elif not batched:
            hx = hx.unsqueeze(0)
        state = self._step(input, hx)
        return state if batched else state.squeeze(0)


class RNNCell(_OneState):
    """One step of an `RNN`: `tanh(W_ih x + b_ih + W_hh h + b_hh)` of (N, input_size) and (N, hidden_size).

    Args: `nonlinearity` "tanh" or "relu"; the others, and parameters, as of `RNNCellBase`.

    >>> rg.nn.RNNCell(3, 4)(rg.ones(2, 3)).shape
    retrograd.Size([2, 4])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def _step(self, input: Tensor, hx: Tensor) -> Tensor:
        if self.nonlinearity == "tanh":
            return _core.rnn_tanh_cell(input, hx, *self._weights())
        if self.nonlinearity == "relu":
            return _core.rnn_relu_cell(input, hx, *self._weights())
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class GRUCell(_OneState):
    """One step of a `GRU`, of (N, input_size) and (N, hidden_size).

    Args and parameters: as of `RNNCellBase`.

    >>> rg.nn.GRUCell(3, 4)(rg.ones(2, 3)).shape
    retrograd.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def _step(self, input: Tensor, hx: Tensor) -> Tensor:
        return _core.gru_cell(input, hx, *self._weights())


class LSTMCell(RNNCellBase):
    """One step of an `LSTM`, of (N, input_size) and the states h and c (N, hidden_size).

    Args and parameters: as of `RNNCellBase`. Returns: the new h and c.

    >>> h, c = rg.nn.LSTMCell(3, 4)(rg.ones(2, 3))
    >>> h.shape, c.shape
    (retrograd.Size([2, 4]), retrograd.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        states = {} if hx is None else {f"hx[{i}]": state for i, state in enumerate(hx)}
        batched = self._check_dims(input, states)
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._zeros(input)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = _core.lstm_cell(input, hx, *self._weights())
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
