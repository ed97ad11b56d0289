"""A weight divided by its largest singular value, by a hook; `parametrizations.spectral_norm` is the newer form."""

from __future__ import annotations

from typing import Any, TypeVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter, is_lazy
from retrograd.nn.utils._layers import layers

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

_M = TypeVar("_M", bound=Module)


class SpectralNorm:
    """The hook that divides `name_orig` by its largest singular value before each call of its module.

    >>> from retrograd.nn.utils.spectral_norm import SpectralNorm
    >>> SpectralNorm("weight").reshape_weight_to_matrix(rg.ones(2, 3, 4)).shape
    retrograd.Size([2, 12])
    >>> # spectral_norm calls SpectralNorm.apply(module, ...), compute_weight(module, True), remove_... remove(module)
    """

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """A matrix whose rows belong to the dimension `dim`."""
        rows = weight.movedim(self.dim, 0) if self.dim != 0 else weight
        return rows.reshape(rows.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by its singular value, whose vectors may be improved before."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):  # in the memory of the buffers
                    v = F.normalize(matrix.t().mv(u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(matrix.mv(v), dim=0, eps=self.eps, out=u)
                # The graph keeps copies, so that the next call may write to the buffers.
                u, v = u.clone(), v.clone()
        divided: Tensor = weight / _core.dot(u, matrix.mv(v))
        return divided

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        """The vector `v` with `u` as the direction of `matrix @ v`, and `u @ matrix @ v` the singular value."""
        v = matrix.pinverse().mv(u)
        return v.mul_(target_sigma / _core.dot(u, matrix.mv(v)))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace a weight by itself divided by its singular value."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            height, width = fn.reshape_weight_to_matrix(weight).size()
            u = F.normalize(weight.new_empty(height).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(width).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)  # no parameter: computed before each call
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(SpectralNormStateDictHook(fn))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(fn))
        return fn


class SpectralNormLoadStateDictPreHook:
    """Adds the right singular vector to states of the time before it was stored.

    >>> from retrograd.nn.utils.spectral_norm import SpectralNorm, SpectralNormLoadStateDictPreHook
    >>> SpectralNormLoadStateDictPreHook(SpectralNorm()).fn.name
    'weight'
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version")
        if version is not None and version >= 1:
            return
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return  # a new state that lost its metadata
        missing = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if missing:
            if strict:
                missing_keys += missing
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[f"{key}_v"] = fn._solve_v_and_rescale(matrix, state_dict[f"{key}_u"], (original / weight).mean())


class SpectralNormStateDictHook:
    """Notes the version of the format in the metadata of a state.

    >>> from retrograd.nn.utils.spectral_norm import SpectralNorm, SpectralNormStateDictHook
    >>> SpectralNormStateDictHook(SpectralNorm()).fn.name
    'weight'
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def output_dim(module: Module) -> int:
    """The dimension of a weight that belongs to the outputs: 1 for transposed convolutions, or else 0.

    >>> from retrograd.nn.utils.spectral_norm import output_dim
    >>> output_dim(rg.nn.Module())
    0
    """
    return 1 if isinstance(module, layers("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")) else 0


def spectral_norm(
    module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _M:
    """Divide a weight by its largest singular value before each call of its module.

    Args: in training mode, each call improves the singular vectors by `n_power_iterations` steps; norms are at least
    `eps`; `dim` is the dimension of the outputs, by default 0, or 1 for transposed convolutions.
    Raises: RuntimeError for a weight that has such a hook already; ValueError for one without a shape, or for no step.

    >>> norm = rg.nn.utils.spectral_norm  # newer: rg.nn.utils.parametrizations.spectral_norm
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: _M, name: str = "weight") -> _M:
    """Make a weight that `spectral_norm` divides an ordinary parameter again.

    Raises: ValueError if it does not.

    >>> remove = rg.nn.utils.remove_spectral_norm
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    _remove_first(module._state_dict_hooks, name, SpectralNormStateDictHook)
    _remove_first(module._load_state_dict_pre_hooks, name, SpectralNormLoadStateDictPreHook)
    return module


def _remove_first(hooks: dict[int, Any], name: str, kind: type) -> None:
    for key, wrapped in hooks.items():
        hook = getattr(wrapped, "hook", wrapped)
        if isinstance(hook, kind) and hook.fn.name == name:  # type: ignore[attr-defined]
            del hooks[key]
            return
