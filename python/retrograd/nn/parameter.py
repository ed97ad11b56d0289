"""`Parameter`, a tensor that is to be trained, and `Buffer`, one that belongs to a module and is not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from retrograd import _core
from retrograd._core import Tensor, _disabled_torch_function_impl

if TYPE_CHECKING:
    from retrograd._core import device as Device
    from retrograd._core import dtype as DType

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type):
    """A tensor of another class is an instance too, if it was made a parameter."""

    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf over the memory of `data`, which requires grad by default, also inside `no_grad`.

    A module that is assigned one as an attribute registers it. A tensor of a subclass stays of its class, and is an
    instance of `Parameter` from then on.

    Args: `data` a tensor, or None for an empty one; `requires_grad` whether it is trained.
    Raises: RuntimeError if it shall require grad and is neither floating point nor complex; TypeError if `data` is not
    a tensor.

    >>> rg.nn.Parameter(rg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    # What is computed from a parameter is none.
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = _core.empty(0)
        elif not isinstance(data, Tensor):
            raise TypeError(f"Parameter: data must be a tensor, not {type(data).__name__}")
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                f"Only Tensors of floating point and complex dtype can require gradients, got {data.dtype}"
            )
        made: Any
        if type(data) is Tensor or type(data) is Parameter:
            made = _core._make_subclass(cls, data, requires_grad)
        else:
            made = _core._make_subclass(type(data), data, requires_grad)
            made._is_param = True
        parameter: Self = made
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        copy: Self = memo[id(self)]
        return copy


_core._register_parameter_class(Parameter)


class _BufferMeta(type):
    """Any tensor that was made a buffer is an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned as an attribute: state that is not trained.

    It is a plain tensor with a mark, over the memory of `data`.

    Args: `data` a tensor, or None for an empty one; `persistent` whether it is part of `state_dict`.

    >>> module = rg.nn.Module()
    >>> module.mean = rg.nn.Buffer(rg.zeros(2))
    >>> dict(module.named_buffers())
    {'mean': tensor([0., 0.])}
    """

    persistent: bool
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        data = _core.empty(0) if data is None else data
        buffer: Any = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        made: Self = buffer
        return made


class UninitializedTensorMixin:
    """What has a dtype, but no shape yet: `materialize` gives it one.

    >>> issubclass(rg.nn.UninitializedParameter, rg.nn.parameter.UninitializedTensorMixin)
    True
    """

    cls_to_become: type[Tensor]
    data: Tensor

    def materialize(self, shape: Iterable[int], device: str | Device | None = None, dtype: DType | None = None) -> None:
        """Become an ordinary tensor of this shape, with any values.

        Args: the dtype is the present one, unless `dtype` is another.

        >>> weight = rg.nn.UninitializedParameter()
        >>> weight.materialize((2, 3))
        >>> type(weight).__name__, weight.shape
        ('Parameter', retrograd.Size([2, 3]))
        """
        dtype = self.data.dtype if dtype is None else dtype
        self.data = _core.empty(tuple(shape), device=device, dtype=dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # A method-wrapper reads or sets a property.
        if type(func).__name__ != "method-wrapper" and func not in _without_a_shape():
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
                f"`LazyModule` or explicitly manipulating `retrograd.nn.parameter.{cls.__name__}` objects. When using "
                "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling retrograd "
                "functions"
            )
        return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]

    @property
    def shape(self) -> Any:
        """Refused: there is none before `materialize`."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """Refused: there is no memory before `materialize`.

        >>> try:
        ...     rg.nn.UninitializedParameter().share_memory_()
        ... except RuntimeError as error:
        ...     print(str(error)[:27])
        Can't share memory on an un
        """
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)  # type: ignore[attr-defined]


@cache
def _without_a_shape() -> set[Any]:
    """The methods that what has no shape yet has all the same."""
    asked = "__hash__ get_device is_complex is_floating_point size"
    moved = "__deepcopy__ char copy_ cpu cuda double float half int long short to"
    return {getattr(Tensor, name) for name in f"{asked} {moved}".split() if hasattr(Tensor, name)}


def is_lazy(param: Any) -> TypeGuard[UninitializedTensorMixin]:
    """Whether this is a parameter or a buffer that has no shape yet.

    >>> from retrograd.nn.parameter import is_lazy
    >>> is_lazy(rg.nn.UninitializedParameter()), is_lazy(rg.nn.Parameter())
    (True, False)
    """
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet: `materialize` makes it a `Parameter`.

    Args: `requires_grad` whether it is to be trained; `dtype` that of the values to come.

    >>> rg.nn.UninitializedParameter()
    <UninitializedParameter>
    """

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: str | Device | None = None, dtype: DType | None = None
    ) -> Self:
        parameter: Self = _core._make_subclass(cls, _core.empty(0, device=device, dtype=dtype), requires_grad)
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        copy: Self = memo[id(self)]
        return copy


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet: `materialize` makes it an ordinary tensor.

    Args: `dtype` that of the values to come; `persistent` whether it is part of `state_dict`.

    >>> rg.nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    cls_to_become = Tensor
    persistent: bool

    def __new__(
        cls,
        requires_grad: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> Self:
        made: Any = _core._make_subclass(cls, _core.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        buffer: Self = made
        return buffer
