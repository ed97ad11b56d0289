"""Reverse-mode automatic differentiation: `backward`, `grad`, custom functions, modes, and checks of derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from retrograd import _core
from retrograd._asking import handle_torch_function, has_torch_function
from retrograd._core import Tensor
from retrograd._core import _SavedTensor as SavedTensor
from retrograd._lazy import submodules
from retrograd._size import Size
from retrograd.autograd import anomaly_mode, function, grad_mode, graph
from retrograd.autograd.anomaly_mode import detect_anomaly, detect_nan, set_detect_anomaly
from retrograd.autograd.function import Function, NestedIOFunction
from retrograd.autograd.grad_mode import (
    _force_original_view_tracking as _force_original_view_tracking,
)
from retrograd.autograd.grad_mode import (
    _unsafe_preserve_version_counter as _unsafe_preserve_version_counter,
)
from retrograd.autograd.grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from retrograd.autograd.gradcheck import gradcheck, gradgradcheck
from retrograd.autograd.graph import GradientEdge, Node
from retrograd.autograd.graph._saved import _pop_saved_tensors_default_hooks as _pop_saved_tensors_default_hooks
from retrograd.autograd.graph._saved import _push_saved_tensors_default_hooks as _push_saved_tensors_default_hooks
from retrograd.autograd.variable import Variable

if TYPE_CHECKING:
    from retrograd.autograd import forward_ad, functional, profiler, profiler_legacy, profiler_util
    from retrograd.autograd._profiler.config import ProfilerActivity, ProfilerConfig, ProfilerEvent, ProfilerState
    from retrograd.autograd.profiler import kineto_available
    from retrograd.autograd.profiler_util import DeviceType

__all__ = [
    "DeviceType",
    "Function",
    "GradientEdge",
    "NestedIOFunction",
    "Node",
    "ProfilerActivity",
    "ProfilerConfig",
    "ProfilerEvent",
    "ProfilerState",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "detect_nan",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "profiler_legacy",
    "profiler_util",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

# Loaded at first use.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(
        __name__,
        "forward_ad",
        "functional",
        "profiler",
        "profiler_legacy",
        "profiler_util",
        DeviceType="profiler_util",
        ProfilerActivity="_profiler.config",
        ProfilerConfig="_profiler.config",
        ProfilerEvent="_profiler.config",
        ProfilerState="_profiler.config",
        kineto_available="profiler",
    )

_get_sequence_nr = _core._next_sequence_nr
_is_checkpoint_valid = _core._is_checkpoint_valid
_profiler_enabled = _core._profiler_enabled

_TensorOrEdge: TypeAlias = Tensor | GradientEdge
_Key = TypeVar("_Key", bound=Hashable)
_SPOT = (Tensor, GradientEdge)


def _spots(spots: _TensorOrEdge | Sequence[_TensorOrEdge]) -> tuple[_TensorOrEdge, ...]:
    return (spots,) if isinstance(spots, _SPOT) else tuple(spots)


def _tensor_or_tensors_to_tuple(
    tensors: Tensor | Sequence[Tensor | None] | None, length: int
) -> tuple[Tensor | None, ...]:
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _calculate_shape(output: _TensorOrEdge, grad: Tensor, is_grads_batched: bool) -> tuple[Size, Size]:
    """The shapes of an output and of its gradient, of a batch of gradients without the first axis."""
    if isinstance(output, GradientEdge) and is_grads_batched:
        raise RuntimeError("Batched grads are not supported with GradientEdge")
    return Size(_shape(output)), grad.shape[1:] if is_grads_batched else grad.shape


def _make_grads(
    outputs: Sequence[_TensorOrEdge], grads: Sequence[Tensor | None], is_grads_batched: bool
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs, checked; 1 in place of None for an output with one element.

    Raises: RuntimeError for a shape that is not that of the output, for one complex and one real dtype, and for None
    where the output has several elements or is complex; TypeError for what is no tensor.

    >>> rg.autograd._make_grads([rg.ones((), requires_grad=True), rg.ones(2)], [None, None], False)
    (tensor(1.), None)
    """
    found: list[Tensor | None] = []
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=False)):
        if isinstance(grad, Tensor):
            _demand_shape(i, output, grad, is_grads_batched)
            dtype = _dtype(output)
            if dtype.is_complex != grad.dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                    f"dtype: grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of {dtype}."
                )
            found.append(grad)
        elif grad is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
        elif isinstance(output, Tensor) and not output.requires_grad:
            found.append(None)
        else:
            shape, dtype = Size(_shape(output)), _dtype(output)
            if shape.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
            found.append(_core.ones(shape, dtype=dtype))
    return tuple(found)


def _demand_shape(i: int, output: _TensorOrEdge, grad: Tensor, is_grads_batched: bool) -> None:
    """See that a gradient, or each of a batch, has the shape of its output."""
    shape = Size(_shape(output))
    given = grad.shape
    if shape == (given[1:] if is_grads_batched else given) and len(given) >= is_grads_batched:
        return
    where = f"grad_output[{i}] has a shape of {given} and output[{i}] has a shape of {shape}."
    if not is_grads_batched:
        raise RuntimeError(f"Mismatch in shape: {where}")
    raise RuntimeError(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
        "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
        f"detected: {where}"
    )


def _targets(
    inputs: _TensorOrEdge | Sequence[_TensorOrEdge] | Mapping[_Key, _TensorOrEdge], caller: str
) -> tuple[_TensorOrEdge, ...]:
    if isinstance(inputs, _SPOT):
        return (inputs,)
    if isinstance(inputs, dict):
        targets = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported: give a tensor, a sequence or a dict of tensors."
        )
    else:
        targets = tuple(inputs)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    return targets


def backward(
    tensors: _TensorOrEdge | Sequence[_TensorOrEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: _TensorOrEdge | Sequence[_TensorOrEdge] | dict[_Key, _TensorOrEdge] | None = None,
) -> None:
    """Accumulate the gradients of `tensors` into the `.grad` of the leaves that they were computed from.

    Args: `tensors` the roots, tensors or `GradientEdge`s; `grad_tensors` the gradient of each, of exactly its shape,
    None meaning 1 where the root has one element. `retain_graph` retains what the graph saved for another pass, by
    default as `create_graph` says; `create_graph` makes the gradients differentiable. `inputs` limits accumulation to
    these (a tensor, a sequence, or the values of a dict); those that are no leaves retain their `.grad` from then on.
    `grad_variables` is the old name of `grad_tensors`.
    Raises: RuntimeError if a root does not require grad or has several elements and no gradient, if the numbers or
    shapes of roots and gradients differ, if `inputs` is empty or one of them does not require grad, or if the graph was
    freed by an earlier pass; TypeError for a gradient that is not a tensor.

    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> rg.autograd.backward([(x * x).sum(), x * 3], [None, rg.ones(2)])
    >>> x.grad.tolist()
    [5.0, 7.0]
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    targets = None if inputs is None else _targets(inputs, "backward")
    roots = _spots(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    _core._backward(roots, _tensor_or_tensors_to_tuple(grad_tensors, len(roots)), keep, create_graph, targets)


@overload
def grad(
    outputs: _TensorOrEdge | Sequence[_TensorOrEdge],
    inputs: dict[_Key, _TensorOrEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[_Key, Any]: ...
@overload
def grad(
    outputs: _TensorOrEdge | Sequence[_TensorOrEdge],
    inputs: _TensorOrEdge | Sequence[_TensorOrEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]: ...
def grad(
    outputs: _TensorOrEdge | Sequence[_TensorOrEdge],
    inputs: _TensorOrEdge | Sequence[_TensorOrEdge] | dict[_Key, _TensorOrEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...] | dict[_Key, Tensor | None]:
    """The gradients of the sum of `outputs` with respect to each of `inputs`. No `.grad` is touched.

    Args: `outputs`, `grad_outputs`, `retain_graph` and `create_graph` as in `backward`; `inputs` a tensor or
    `GradientEdge`, a sequence or a dict of them. With `allow_unused` the gradient of an input that the outputs do not
    depend on is None, with `materialize_grads` it is zeros. With `is_grads_batched` the first dimension of every
    gradient in `grad_outputs` counts a batch, and so does that of every result. `only_inputs` is ignored.
    Returns: a tuple with an entry per input, or a dict with the keys of `inputs`.
    Raises: what `backward` raises; RuntimeError for an input that is not used, unless allowed; ValueError if
    `materialize_grads` comes with `allow_unused=False`.

    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> (g,) = rg.autograd.grad((x * x).sum(), x, create_graph=True)
    >>> g.tolist()
    [2.0, 4.0]
    >>> rg.autograd.grad(g.sum(), {"x": x})["x"].tolist()
    [2.0, 2.0]
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use retrograd.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    targets = _targets(inputs, "grad")
    roots = _spots(outputs)
    if _core._torch_function_possible() and has_torch_function(given := (*roots, *targets)):
        asked: tuple[Tensor | None, ...] = handle_torch_function(
            grad,
            given,
            roots,
            targets,
            grad_outputs=grad_outputs,
            retain_graph=retain_graph,
            create_graph=create_graph,
            only_inputs=only_inputs,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )
        return dict(zip(inputs, asked, strict=True)) if isinstance(inputs, dict) else asked
    gradients = _tensor_or_tensors_to_tuple(grad_outputs, len(roots))
    run = _batched if is_grads_batched else _core._grad
    keep = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    results: tuple[Tensor | None, ...] = run(roots, gradients, keep, create_graph, targets, unused)
    if materialize_grads:
        results = tuple(_zeros(t, create_graph) if g is None else g for g, t in zip(results, targets, strict=True))
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else results


def _zeros(target: _TensorOrEdge, requires_grad: bool) -> Tensor:
    if isinstance(target, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    zeros: Tensor = _core.zeros_like(target, requires_grad=requires_grad)
    return zeros


def _shape(spot: _TensorOrEdge) -> tuple[int, ...]:
    if isinstance(spot, Tensor):
        return tuple(spot.shape)
    return tuple(spot.node._input_metadata[spot.output_nr].shape)  # type: ignore[attr-defined]


def _dtype(spot: _TensorOrEdge) -> _core.dtype:
    if isinstance(spot, Tensor):
        return spot.dtype
    dtype: _core.dtype = spot.node._input_metadata[spot.output_nr].dtype  # type: ignore[attr-defined]
    return dtype


def _batched(
    roots: tuple[_TensorOrEdge, ...],
    gradients: tuple[Tensor | None, ...],
    retain_graph: bool,
    create_graph: bool,
    targets: tuple[_TensorOrEdge, ...],
    allow_unused: bool,
) -> tuple[Tensor | None, ...]:
    """`_core._grad` for each gradient of a batch, with the results stacked."""
    for i, (root, g) in enumerate(zip(roots, gradients, strict=False)):
        if isinstance(g, Tensor):
            _demand_shape(i, root, g, True)
    sizes = {len(g): None for g in gradients if isinstance(g, Tensor)}
    if not sizes:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs: is_grads_batched=True needs a grad_output with "
            "the dimension of the batch"
        )
    if len(sizes) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{list(sizes)} for the mapped dimension: those of grad_outputs with is_grads_batched=True"
        )
    from retrograd.autograd._batched_derivatives import vjp_batch

    return vjp_batch(roots, gradients, next(iter(sizes)), retain_graph, create_graph, targets, allow_unused)


def variable(*args: object, **kwargs: object) -> Tensor:
    """Refuses: an old constructor.

    Raises: RuntimeError, always. Use `retrograd.tensor`.

    >>> rg.autograd.variable([1.0])
    Traceback (most recent call last):
    RuntimeError: retrograd.autograd.variable(...) is deprecated, use retrograd.tensor(...) instead
    """
    raise RuntimeError("retrograd.autograd.variable(...) is deprecated, use retrograd.tensor(...) instead")
