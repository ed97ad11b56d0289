"""Custom ops: functions with a schema, which take derivatives and batching rules apart, and are found in `ops`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from retrograd._lazy import submodules
from retrograd.library._custom_op import CustomOpDef, _ops, refuse_key
from retrograd.library._schema import infer_schema, parse

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "get_ctx",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an op of a function, found as `ops.namespace.name`. Without a function, this is a decorator.

    Args: `name` "namespace::name"; `mutates_args` names of arguments that it writes to, or "unknown" for all tensors;
    `device_types` the devices that the function is the kernel of, None for all; `schema` the schema, None to take it
    from annotations. `tags` is ignored.
    Returns: a `CustomOpDef`.
    Raises: ValueError for a function whose annotations make no schema.

    >>> @rg.library.custom_op("doc::add_one", mutates_args=())
    ... def add_one(x: rg.Tensor) -> rg.Tensor:
    ...     return x + 1
    >>> rg.ops.doc.add_one(rg.zeros(1))
    tensor([1.])
    """

    def make(fn: Callable[..., Any]) -> CustomOpDef:
        stated = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        if schema is not None:
            suggested = {parameter.name for parameter in parse(schema) if parameter.mutated}
            if suggested != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The "
                    f"schema suggests that the op mutates {suggested}which is different from what was provided to us "
                    "in `mutates_args`. Please make these consistent."
                )
        op = CustomOpDef(*_parts(name), stated, opaque=True)
        op.register_kernel(device_types, fn)
        return op

    return make if fn is None else make(fn)


def _parts(name: str) -> tuple[str, str]:
    namespace, colons, rest = name.partition("::")
    if not colons or not namespace or not rest:
        raise ValueError(f"Expected a name like namespace::name, got {name!r}")
    return namespace, rest.removesuffix(".default")


def _found(op: str | CustomOpDef) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    namespace, name = _parts(op)
    if name not in _ops.get(namespace, {}):
        raise RuntimeError(f"operator {op} does not exist")
    return _ops[namespace][name]


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Make an op of a schema alone; `impl` gives it a kernel.

    Raises: RuntimeError if there is an op of this name.

    >>> rg.library.define("doc::negate", "(Tensor x) -> Tensor")
    >>> @rg.library.impl("doc::negate", "cpu")
    ... def _(x):
    ...     return -x
    >>> rg.ops.doc.negate(rg.ones(1))
    tensor([-1.])
    """
    namespace, name = _parts(qualname)
    if name in _ops.get(namespace, {}):
        raise RuntimeError(
            f"Tried to register an operator ({qualname}{schema}) with the same name and overload name multiple times."
        )
    CustomOpDef(namespace, name, schema)


def impl(
    qualname: str, types: str | Sequence[str], func: Callable[..., Any] | None = None, *, lib: Library | None = None
) -> Any:
    """Take a function as the kernel of an op, for the devices `types`, or for "default". Without it, a decorator.

    >>> rg.library.define("doc::half", "(Tensor x) -> Tensor")
    >>> rg.library.impl("doc::half", "default", lambda x: x / 2)
    >>> rg.ops.doc.half(rg.ones(1))
    tensor([0.5000])
    """
    devices = [types] if isinstance(types, str) else list(types)

    def register(func: Callable[..., Any]) -> None:
        for device in devices:
            _implement(_found(qualname), device, func)

    return register if func is None else register(func)


def _implement(op: CustomOpDef, key: str, func: Callable[..., Any]) -> None:
    """Take a function for a device, or for a key of torch's dispatcher."""
    plain = key.lower()
    if plain in ("", "compositeimplicitautograd"):
        op._composite = func
    elif plain in ("default", "compositeexplicitautograd"):
        op.register_kernel(None, func)
    elif plain == "meta":
        op.register_fake(func)
    elif plain in ("cpu", "cuda", "xpu", "mps", "hpu", "mtia"):
        op.register_kernel(plain, func)
    else:
        refuse_key(key)


def register_kernel(
    op: str | CustomOpDef,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """`CustomOpDef.register_kernel`, of an op or of its name.

    >>> rg.library.define("doc::third", "(Tensor x) -> Tensor")
    >>> _ = rg.library.register_kernel("doc::third", "cpu", lambda x: x / 3)
    >>> rg.ops.doc.third(3 * rg.ones(1))
    tensor([1.])
    """
    return _found(op).register_kernel(device_types, func)


def register_fake(
    op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """`CustomOpDef.register_fake`, of an op or of its name. Without a function, this is a decorator.

    >>> rg.library.define("doc::fifth", "(Tensor x) -> Tensor")
    >>> @rg.library.register_fake("doc::fifth")
    ... def _(x):
    ...     return rg.empty_like(x)
    """
    found = _found(op)
    return found.register_fake if func is None else found.register_fake(func)


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """`CustomOpDef.register_autograd`, of an op or of its name.

    >>> rg.library.define("doc::tenfold", "(Tensor x) -> Tensor")
    >>> rg.library.impl("doc::tenfold", "cpu", lambda x: 10 * x)
    >>> rg.library.register_autograd("doc::tenfold", lambda ctx, g: 10 * g)
    >>> rg.func.grad(rg.ops.doc.tenfold)(rg.tensor(1.0))
    tensor(10.)
    """
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap`, of an op or of its name.

    >>> rg.library.define("doc::cosine", "(Tensor x) -> Tensor")
    >>> rg.library.impl("doc::cosine", "cpu", lambda x: x.cos())
    >>> _ = rg.library.register_vmap("doc::cosine", lambda info, in_dims, x: (x.cos(), in_dims[0]))
    >>> rg.vmap(rg.ops.doc.cosine)(rg.zeros(2))
    tensor([1., 1.])
    """
    return _found(op).register_vmap(func)


def get_ctx() -> NoReturn:
    """Refused: it is for functions that compute sizes alone, which nothing calls.

    Raises: RuntimeError.

    >>> try:
    ...     rg.library.get_ctx()
    ... except RuntimeError as error:
    ...     print(str(error)[:11])
    get_ctx() c
    """
    raise RuntimeError("get_ctx() can only be called inside a fake impl, of which nothing is called here")


def opcheck(
    op: CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = ("test_schema", "test_autograd_registration"),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, str]:
    """Call an op, and compare its derivative with differences if an argument requires grad.

    Args: `args` and `kwargs` those of the op; `test_utils` which of "test_schema", the call, which must write to no
    other argument than it states, and "test_autograd_registration" are tried, others are left out; `raise_exception`
    whether a failure raises.
    Returns: for each of them "SUCCESS", or the failure.

    >>> @rg.library.custom_op("doc::add_two", mutates_args=())
    ... def add_two(x: rg.Tensor) -> rg.Tensor:
    ...     return x + 2
    >>> rg.library.opcheck(add_two, (rg.zeros(1),))
    {'test_schema': 'SUCCESS', 'test_autograd_registration': 'SUCCESS'}
    """
    from retrograd.library._check import TESTS, run

    chosen = [test_utils] if isinstance(test_utils, str) else test_utils
    results = {}
    for name in chosen:
        if name in TESTS:
            results[name] = run(name, op.default, args, kwargs or {}, raise_exception, atol, rtol)
    return results


class Library:
    """A namespace of ops, which `define` and `impl` fill.

    Args: `ns` the namespace; `kind` "DEF", "FRAGMENT" or "IMPL".
    Raises: ValueError for another kind.

    >>> lib = rg.library.Library("doc_lib", "DEF")
    >>> lib.define("double(Tensor x) -> Tensor")
    'double'
    >>> lib.impl("double", lambda x: 2 * x, "CPU")
    >>> rg.ops.doc_lib.double(rg.ones(1))
    tensor([2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Make an op of a schema that begins with its name, and return the name."""
        name, parenthesis, rest = schema.partition("(")
        define(f"{self.ns}::{name.strip()}", parenthesis + rest)
        return name.strip()

    def impl(
        self,
        op_name: str | CustomOpDef,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Take a function for an op: its kernel for a device, or what it is made of without a key."""
        op = _found(op_name if isinstance(op_name, CustomOpDef) else f"{self.ns}::{op_name}")
        _implement(op, dispatch_key or self.dispatch_key, fn)
