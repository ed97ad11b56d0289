"""Normalization with the moments of the batch, which are remembered for later."""

from __future__ import annotations

from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import buffer_of, new_parameter, parameter_of
from retrograd.nn.modules.lazy import LazyModuleMixin
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Scales and offsets of channels, and running moments."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    _dims: tuple[int, ...]  # the numbers of dimensions that inputs can have

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.register_parameter("weight", new_parameter(num_features, device, dtype) if affine else None)
        self.register_parameter("bias", new_parameter(num_features, device, dtype) if affine and bias else None)
        mean = var = count = None
        if track_running_stats:
            mean = _core.zeros(num_features, device=device, dtype=dtype)
            var = _core.ones(num_features, device=device, dtype=dtype)
            count = _no_batches(device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the batches: mean 0, variance 1."""
        if self.track_running_stats:
            assert self.running_mean is not None
            assert self.running_var is not None
            assert self.num_batches_tracked is not None
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the batches, and set the scales to 1 and the offsets to 0."""
        self.reset_running_stats()
        if self.affine:
            assert self.weight is not None
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            expected = " or ".join(f"{dims}D" for dims in self._dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """State dicts of version 1 have no number of batches: it stays as it is."""
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            count = self.num_batches_tracked
            state_dict[key] = count if count is not None else _no_batches(None)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


def _no_batches(device: _device_t) -> Tensor:
    return _core.tensor(0, dtype=_core.int64, device=device)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = self.momentum
        training = self.training
        mean, var = buffer_of(self, "running_mean"), buffer_of(self, "running_var")
        if training:
            if not self.track_running_stats:
                mean = var = None
            elif (count := buffer_of(self, "num_batches_tracked")) is not None:
                count.add_(1)
                if momentum is None:  # the moments of all batches weigh the same
                    momentum = 1.0 / float(count)
        return F.batch_norm(
            input,
            mean,
            var,
            parameter_of(self, "weight"),
            parameter_of(self, "bias"),
            training or (mean is None and var is None),
            0.0 if momentum is None else momentum,
            self.eps,
        )


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalization that learns `num_features` from its first input."""

    weight: UninitializedParameter | None
    bias: UninitializedParameter | None

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _no_batches(device)

    def reset_parameters(self) -> None:
        """Forget the batches, and set the scales to 1 and the offsets to 0, once their sizes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers their sizes and values."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for lazy in (self.weight, self.bias, self.running_mean, self.running_var):
                if lazy is not None:
                    lazy.materialize((self.num_features,))  # type: ignore[attr-defined]
            self.reset_parameters()


class BatchNorm1d(_BatchNorm):
    """Normalizes each channel of (N, C) or (N, C, L) by mean and variance over the batch, then scales and adds.

    Args: `num_features` the number C of channels; `eps` is added to variances; `momentum` the weight of a new batch in
    the running moments, or None for the mean of all batches; `affine` whether scales and offsets are trained, `bias`
    whether there are offsets; `track_running_stats` whether running moments are kept, with which `eval` normalizes.
    Parameters and buffers: `weight`, `bias`, `running_mean` and `running_var` of size (C,), `num_batches_tracked`.
    Raises: ValueError for inputs of other than 2 or 3 dimensions.

    >>> norm = rg.nn.BatchNorm1d(1)
    >>> norm(rg.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    >>> norm.running_mean, norm.num_batches_tracked
    (tensor([0.2000]), tensor(1))
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalizes each channel of (N, C, H, W) by mean and variance over batch and pixels, then scales and adds.

    Args: as of `BatchNorm1d`. Raises: ValueError for inputs of other than 4 dimensions.

    >>> rg.nn.BatchNorm2d(3)(rg.ones(2, 3, 4, 4)).abs().sum().item()
    0.0
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalizes each channel of (N, C, D, H, W) by mean and variance over the rest, then scales and adds.

    Args: as of `BatchNorm1d`. Raises: ValueError for inputs of other than 5 dimensions.

    >>> rg.nn.BatchNorm3d(3)(rg.ones(2, 3, 4, 4, 4)).abs().sum().item()
    0.0
    """

    _dims = (5,)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm1d` that learns `num_features` from its first input, and then becomes a `BatchNorm1d`.

    Args: as of `BatchNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyBatchNorm1d()
    >>> norm(rg.ones(2, 3)).shape, norm.num_features
    (retrograd.Size([2, 3]), 3)
    """

    cls_to_become = BatchNorm1d
    _dims = (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm2d` that learns `num_features` from its first input, and then becomes a `BatchNorm2d`.

    Args: as of `BatchNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyBatchNorm2d()
    >>> norm(rg.ones(2, 3, 4, 4)).shape, norm.num_features
    (retrograd.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d
    _dims = (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm3d` that learns `num_features` from its first input, and then becomes a `BatchNorm3d`.

    Args: as of `BatchNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyBatchNorm3d()
    >>> norm(rg.ones(2, 3, 4, 4, 4)).shape, norm.num_features
    (retrograd.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = BatchNorm3d
    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """A batch normalization of (N, C, ...) over all processes that train together: there is one, so as `BatchNorm1d`.

    Args: as of `BatchNorm1d`; `process_group` is kept, and not used.
    Raises: ValueError for inputs of fewer than 2 dimensions or without channels.

    >>> rg.nn.SyncBatchNorm(3)(rg.ones(2, 3, 4)).shape
    retrograd.Size([2, 3, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: _device_t = None,
        dtype: _dtype_t = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace each `BatchNorm` layer of a module, or the module itself if it is one, by a `SyncBatchNorm`.

        The new layers have the parameters and buffers of the old ones.

        >>> rg.nn.SyncBatchNorm.convert_sync_batchnorm(rg.nn.Sequential(rg.nn.BatchNorm1d(2)))[0]
        SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        """
        converted = module
        if isinstance(module, _BatchNorm):
            converted = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                with no_grad():
                    converted.weight = module.weight
                    converted.bias = module.bias
            converted.running_mean = module.running_mean
            converted.running_var = module.running_var
            converted.num_batches_tracked = module.num_batches_tracked
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted
