"""Normalization with the moments of each image."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import buffer_of, parameter_of
from retrograd.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    momentum: float

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: _device_t = None,
        dtype: _dtype_t = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

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
        """State dicts without a version may have running moments that nobody asked for."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            keys = [key for name in ("running_mean", "running_var") if (key := prefix + name) in state_dict]
            if keys:
                names = " and ".join(f'"{key}"' for key in keys)
                layer = self.__class__.__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {layer} with track_running_stats=False. If "
                    f"state_dict is a checkpoint saved before 0.4.0, this may be expected because {layer} does not "
                    "track running stats by default since 0.4.0. Please remove these keys from state_dict. If the "
                    f"running stats are actually needed, instead set track_running_stats=True in {layer} to enable "
                    f"them. See the documentation of {layer} for details."
                )
            for key in keys:
                del state_dict[key]
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        batched = input.dim() == self._dims[1]
        channels = input.size(1 if batched else 0)
        if channels != self.num_features:
            where = 1 if batched else 0
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={where} to match num_features ({self.num_features}), "
                    f"but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={where} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        normalized = F.instance_norm(
            input if batched else input.unsqueeze(0),
            buffer_of(self, "running_mean"),
            buffer_of(self, "running_var"),
            parameter_of(self, "weight"),
            parameter_of(self, "bias"),
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )
        return normalized if batched else normalized.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of (N, C, L) or (C, L) by its own mean and variance, then scales and adds if `affine`.

    Args: `num_features` the number C of channels; `eps` is added to variances; `momentum` the weight of a new batch in
    the running moments; `affine` whether scales and offsets are trained, `bias` whether there are offsets;
    `track_running_stats` whether running moments are kept, with which `eval` normalizes.
    Raises: ValueError for inputs of other than 2 or 3 dimensions, or of other than C channels if `affine`.

    >>> rg.nn.InstanceNorm1d(1)(rg.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of (N, C, H, W) or (C, H, W) by its own mean and variance.

    Args: as of `InstanceNorm1d`. Raises: ValueError for inputs of other than 3 or 4 dimensions.

    >>> rg.nn.InstanceNorm2d(1)(rg.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of (N, C, D, H, W) or (C, D, H, W) by its own mean and variance.

    Args: as of `InstanceNorm1d`. Raises: ValueError for inputs of other than 4 or 5 dimensions.

    >>> rg.nn.InstanceNorm3d(1)(rg.tensor([[[[1.0, 3.0]]]]))
    tensor([[[[-1.0000,  1.0000]]]])
    """

    _dims = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm1d` that learns `num_features` from its first input, and then becomes an `InstanceNorm1d`.

    Args: as of `InstanceNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyInstanceNorm1d()
    >>> norm(rg.ones(2, 3, 4)).shape, norm.num_features
    (retrograd.Size([2, 3, 4]), 3)
    """

    cls_to_become = InstanceNorm1d
    _dims = (2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm2d` that learns `num_features` from its first input, and then becomes an `InstanceNorm2d`.

    Args: as of `InstanceNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyInstanceNorm2d()
    >>> norm(rg.ones(2, 3, 4, 4)).shape, norm.num_features
    (retrograd.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm2d
    _dims = (3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm3d` that learns `num_features` from its first input, and then becomes an `InstanceNorm3d`.

    Args: as of `InstanceNorm1d`, without `num_features`.

    >>> norm = rg.nn.LazyInstanceNorm3d()
    >>> norm(rg.ones(2, 3, 4, 4, 4)).shape, norm.num_features
    (retrograd.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm3d
    _dims = (4, 5)
