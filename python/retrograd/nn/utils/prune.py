"""Pruning: entries of a parameter that a mask holds at zero.

A pruned parameter `name` is `name_orig` times the buffer `name_mask`, computed before each call of its module.

>>> layer = rg.nn.Module()
>>> layer.weight = rg.nn.Parameter(rg.tensor([3.0, -1.0, 2.0]))
>>> rg.nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight
tensor([3., -0., 2.], grad_fn=<MulBackward0>)
>>> rg.nn.utils.prune.remove(layer, "weight").weight
Parameter containing:
tensor([3., -0., 2.], requires_grad=True)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn.modules.module import Module
from retrograd.nn.utils.convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

_M = TypeVar("_M", bound=Module)


class BasePruningMethod(ABC):
    """A way to choose entries: a subclass defines `compute_mask` and `PRUNING_TYPE`.

    The type is "unstructured" for single entries, "structured" for slices along `dim`, or "global" for a mask of all.

    >>> class EveryOther(rg.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = rg.nn.ParameterDict({"w": rg.ones(4)})
    >>> method = EveryOther.apply(layer, "w")
    >>> method.apply_mask(layer)
    tensor([0., 1., 0., 1.], grad_fn=<MulBackward0>)
    >>> method.remove(layer)
    >>> method.prune(rg.ones(3))
    tensor([0., 1., 0.])
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the pruned tensor before the module is called."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for a tensor: `default_mask`, that of what was pruned before, with more zeros."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        mask = getattr(module, f"{self._tensor_name}_mask")
        original = getattr(module, f"{self._tensor_name}_orig")
        pruned: Tensor = mask.to(dtype=original.dtype) * original
        return pruned

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> Any:
        """Prune a parameter of a module, more than it is pruned already.

        Args: those of the method; `importance_scores` decide in the place of the values.
        Returns: the method, or a `PruningContainer` of all that prune this parameter.
        """
        before = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(before) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        for key, _ in before:
            del module._forward_pre_hooks[key]
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if before:
            _, first = before[0]
            container = first if isinstance(first, PruningContainer) else PruningContainer(first)
            container.add_pruning_method(method)
            method = container
        method._put_on(module, importance_scores)
        return method

    def _put_on(self, module: Module, scores: Tensor | None) -> None:
        name, original = self._tensor_name, getattr(module, self._tensor_name)
        _check_scores(scores, original, f"parameter {name} of {module}")
        is_first = not isinstance(self, PruningContainer)
        if is_first:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            mask = _core.ones_like(original)
        else:
            mask = getattr(module, f"{name}_mask").detach().clone()
        try:
            mask = self.compute_mask(original if scores is None else scores, default_mask=mask)
            module.register_buffer(f"{name}_mask", mask)
            setattr(module, name, self.apply_mask(module))
            module.register_forward_pre_hook(self)
        except Exception:
            if is_first:
                module.register_parameter(name, module._parameters.pop(f"{name}_orig"))
            raise

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned copy of a tensor; `importance_scores` decide in the place of its values."""
        _check_scores(importance_scores, t, "tensor t")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, _core.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Leave the parameter as it is pruned now; `prune.remove` also takes the hook away."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        assert original is not None
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _check_scores(scores: Tensor | None, t: Tensor, what: str) -> None:
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(f"importance_scores should have the same shape as {what}, got {scores.shape} vs {t.shape}")


class PruningContainer(BasePruningMethod):
    """The methods that prune one parameter, one after the other.

    >>> method = rg.nn.utils.prune.Identity()
    >>> method._tensor_name = "weight"
    >>> methods = rg.nn.utils.prune.PruningContainer(method)
    >>> methods.add_pruning_method(method)
    >>> len(methods), methods.compute_mask(rg.ones(1), default_mask=rg.ones(1))
    (2, tensor([1.]))
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a method for the same parameter.

        Raises: TypeError for what is none; ValueError for one of another parameter.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with what the last method prunes of what is still there."""
        method = self._pruning_methods[-1]
        there = _still_there(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        mask = mask.clone() if mask is default_mask else mask
        mask[there] = method.compute_mask(t[there], default_mask=default_mask[there]).to(dtype=mask.dtype)
        return mask


def _still_there(method: Any, t: Tensor, mask: Tensor) -> Any:
    """An index of what a method may choose from."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    every: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "global":
        return tuple(every)
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    every[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    return tuple(every)


class Identity(BasePruningMethod):
    """Prunes nothing.

    >>> layer = rg.nn.ParameterDict({"w": rg.ones(2)})
    >>> method = rg.nn.utils.prune.Identity.apply(layer, "w")
    >>> method.compute_mask(layer.w, layer.w_mask)
    tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask itself."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]
        """Give a parameter a mask of ones."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """Prunes a number of entries or slices, or a share of them."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if (isinstance(amount, Integral) and amount < 0) or (
            not isinstance(amount, Integral) and not 0.0 <= float(amount) <= 1.0
        ):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        """How many of `size`."""
        count = int(self.amount) if isinstance(self.amount, Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


class RandomUnstructured(_Amount):
    """Prunes random entries: `amount` of them if it is an int, or that share.

    >>> layer = rg.nn.ParameterDict({"w": rg.ones(4)})
    >>> method = rg.nn.utils.prune.RandomUnstructured.apply(layer, "w", amount=0.5)
    >>> layer.w_mask.sum().item(), method.compute_mask(layer.w, layer.w_mask).shape
    (2.0, retrograd.Size([4]))
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with zeros at the entries that drew the largest numbers."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[_core.topk(_core.rand_like(t).view(-1), count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prune random entries of a parameter."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prunes the entries of the smallest absolute values: `amount` of them if it is an int, or that share.

    >>> layer = rg.nn.ParameterDict({"w": rg.tensor([3.0, 1.0])})
    >>> method = rg.nn.utils.prune.L1Unstructured.apply(layer, "w", amount=1)
    >>> layer.w_mask, method.compute_mask(rg.ones(2), rg.ones(2)).sum()
    (tensor([1., 0.]), tensor(1.))
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with zeros at the smallest entries."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[_core.topk(t.abs().view(-1), count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Any, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune the smallest entries of a parameter."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _AmountOfSlices(_Amount):
    """Prunes slices along a dimension."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with zeros in the slices that are pruned."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        kept = self._kept(t, size, count)
        if not count:
            return default_mask
        mask = _core.zeros_like(t)
        index: list[Any] = [slice(None)] * t.dim()
        index[self.dim] = kept
        mask[tuple(index)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor | None:
        """An index of the slices that stay, if `count` of `size` are pruned."""
        raise NotImplementedError


class RandomStructured(_AmountOfSlices):
    """Prunes random slices along `dim`: `amount` of them if it is an int, or that share.

    >>> layer = rg.nn.ParameterDict({"w": rg.ones(4, 2)})
    >>> method = rg.nn.utils.prune.RandomStructured.apply(layer, "w", amount=1, dim=0)
    >>> layer.w_mask.sum().item(), method.compute_mask(rg.ones(4, 2), rg.ones(4, 2)).sum().item()
    (6.0, 6.0)
    """

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor | None:
        if not count:
            return None  # and nothing is drawn
        drawn = _core.rand(size)
        return drawn > _core.kthvalue(drawn, count).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune random slices of a parameter."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_AmountOfSlices):
    """Prunes the slices along `dim` of the smallest `n`-norm: `amount` of them if it is an int, or that share.

    >>> layer = rg.nn.ParameterDict({"w": rg.tensor([[3.0, 4.0], [1.0, 0.0]])})
    >>> method = rg.nn.utils.prune.LnStructured.apply(layer, "w", amount=1, n=2, dim=0)
    >>> layer.w_mask, method.compute_mask(rg.ones(2, 2), rg.ones(2, 2)).sum()
    (tensor([[1., 1.],
            [0., 0.]]), tensor(2.))
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor | None:
        dim = self.dim % t.dim()
        norms = _core.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != dim])
        return _core.topk(norms, size - count).indices

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune the smallest slices of a parameter."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask has zeros for.

    >>> layer = rg.nn.ParameterDict({"w": rg.ones(2)})
    >>> method = rg.nn.utils.prune.CustomFromMask.apply(layer, "w", mask=rg.tensor([0, 1]))
    >>> layer.w_mask, method.compute_mask(rg.ones(2), rg.ones(2))
    (tensor([0., 1.]), tensor([0., 1.]))
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        """Prune a parameter by a mask."""
        return super().apply(module, name, mask=mask)


def identity(module: _M, name: str) -> _M:
    """Give a parameter a mask that prunes nothing.

    >>> rg.nn.utils.prune.identity(rg.nn.ParameterDict({"w": rg.ones(2)}), "w").w_mask
    tensor([1., 1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: _M, name: str, amount: Any) -> _M:
    """Prune random entries of a parameter: `amount` of them if it is an int, or that share.

    Raises: TypeError and ValueError for an amount that is no number, or none of the entries.

    >>> rg.nn.utils.prune.random_unstructured(rg.nn.ParameterDict({"w": rg.ones(4)}), "w", 1).w_mask.sum()
    tensor(3.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: _M, name: str, amount: Any, importance_scores: Tensor | None = None) -> _M:
    """Prune the entries of a parameter with the smallest absolute values, or scores.

    Args: `amount` is their number if it is an int, or their share.
    Raises: TypeError and ValueError for an amount that is no number, or none of the entries.

    >>> rg.nn.utils.prune.l1_unstructured(rg.nn.ParameterDict({"w": rg.tensor([3.0, 1.0])}), "w", 1).w_mask
    tensor([1., 0.])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: _M, name: str, amount: Any, dim: int) -> _M:
    """Prune random slices of a parameter along `dim`: `amount` of them if it is an int, or that share.

    Raises: TypeError and ValueError for an amount that is no number, or none of the slices, and for a vector.

    >>> rg.nn.utils.prune.random_structured(rg.nn.ParameterDict({"w": rg.ones(4, 2)}), "w", 1, dim=0).w_mask.sum()
    tensor(6.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: _M, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None) -> _M:
    """Prune the slices of a parameter along `dim` that have the smallest `n`-norm.

    Args: `amount` is their number if it is an int, or their share; `importance_scores` decide in the place of values.
    Raises: TypeError and ValueError for an amount that is no number, or none of the slices, and for a vector.

    >>> weight = rg.tensor([[3.0, 4.0], [1.0, 0.0]])
    >>> rg.nn.utils.prune.ln_structured(rg.nn.ParameterDict({"w": weight}), "w", 1, n=2, dim=0).w_mask
    tensor([[1., 1.],
            [0., 0.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one.

    Args: pairs of a module and a name; a method for single entries, and its arguments; scores by pair that decide in
    the place of values.
    Raises: TypeError for what is no iterable, scores in no dict, or a method for slices.

    >>> a, b = rg.nn.ParameterDict({"w": rg.tensor([1.0, 2.0])}), rg.nn.ParameterDict({"w": rg.tensor([3.0, 4.0])})
    >>> prune = rg.nn.utils.prune
    >>> prune.global_unstructured([(a, "w"), (b, "w")], prune.L1Unstructured, amount=3)
    >>> a.w_mask, b.w_mask
    (tensor([0., 0.]), tensor([0., 1.]))
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    places = [*parameters]
    tensors = [getattr(module, name) for module, name in places]
    all_scores = parameters_to_vector([scores.get(place, t) for place, t in zip(places, tensors, strict=True)])
    masks = [getattr(m, f"{name}_mask", None) for m, name in places]
    mask = parameters_to_vector([_core.ones_like(t) if m is None else m for m, t in zip(masks, tensors, strict=True)])
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    parts = container.compute_mask(all_scores, mask).split([t.numel() for t in tensors])
    for (module, name), t, part in zip(places, tensors, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(t))


def custom_from_mask(module: _M, name: str, mask: Tensor) -> _M:
    """Prune the entries of a parameter for which a mask has zeros.

    >>> rg.nn.utils.prune.custom_from_mask(rg.nn.ParameterDict({"w": rg.ones(2)}), "w", rg.tensor([0, 1])).w
    tensor([0., 1.], grad_fn=<MulBackward0>)
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: _M, name: str) -> _M:
    """Make a pruned parameter an ordinary one, with zeros where it is pruned now.

    Raises: ValueError if it is not pruned.

    >>> layer = rg.nn.utils.prune.identity(rg.nn.ParameterDict({"w": rg.ones(2)}), "w")
    >>> type(rg.nn.utils.prune.remove(layer, "w").w).__name__
    'Parameter'
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module, or of one below, is pruned.

    >>> rg.nn.utils.prune.is_pruned(rg.nn.Module())
    False
    """
    return any(
        isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values()
    )
