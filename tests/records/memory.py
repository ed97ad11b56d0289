"""Records of copies, conversions and fills, and of questions whose answer is no tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import ALL, COMPLEX, FLOATS, Array, Dtype, Edge, OpRecord, Refusal, Sample, given, s, t, ugly


def in_copy(name: str) -> Callable[..., Any]:
    """An op that there is in place only, as a function that leaves its argument alone."""
    return lambda _, x, *args, **how: getattr(x.clone(), name)(*args, **how)


def inplace(
    name: str, reference: Callable[..., Any], *samples: Sample, function: bool = False, **facts: Any
) -> OpRecord:
    return OpRecord(
        name=name if function else f"Tensor.{name}",
        reference=reference,
        call=(lambda rg, x, *args: getattr(rg, name)(x.clone(), *args)) if function else in_copy(name),
        samples=samples,
        dtypes=ALL,
        inplace=True,
        **facts,
    )


def filled_diagonal(x: Array, value: float, wrap: bool = False) -> Array:
    y = x.copy()
    np.fill_diagonal(y, value, wrap and x.ndim == 2)
    return y


def converted(x: Array, dtype: Any) -> Any:
    return x.astype(dtype)


def cast(name: str, dtype: str, *values: float) -> OpRecord:
    """A conversion with a name of its own."""
    differentiable = dtype in FLOATS
    return OpRecord(
        name=f"Tensor.{name}",
        reference=lambda x: x.astype(dtype),
        dtypes=FLOATS if differentiable else ALL,
        result="reference",
        differentiable=differentiable,
        samples=(
            *(x.but(smooth=dtype == "float64") for x in (s(t(3, 4)), s(t()), s(t(0, 3)), s(t(33)))),
            s(given(values, "float64", grad=False)),
        ),
        edges=(Edge(s(given([1.5, 2.0])), [3.0, 5.0], ([3.0, 5.0],)),) if differentiable else (),
        refuses=(Refusal(s(t(3), memory_format=1), TypeError),),
    )


def half(name: str, result: str) -> OpRecord:
    """A conversion to a dtype that NumPy may lack, and back."""

    def there_and_back(rg: Any, x: Any) -> Any:
        y = getattr(x, name)()
        assert y.dtype is getattr(rg, result)
        return y.to(x.dtype)

    return OpRecord(
        name=f"Tensor.{name}",
        reference=lambda x: x,
        call=there_and_back,
        method=False,
        samples=(s(given([1.5, -2.0, 0.25])).but(smooth=False), s(given([[1.0], [0.0]])).but(smooth=False)),
        edges=(Edge(s(given([1.5, 2.0])), [3.0, 5.0], ([3.0, 5.0],)),),
    )


def to_complex(name: str, result: str) -> OpRecord:
    """A conversion to complex numbers, and back to their real parts."""

    def there_and_back(rg: Any, x: Any) -> Any:
        y = getattr(x, name)()
        assert y.dtype is getattr(rg, result)
        return rg.real(y.to(rg.complex128)).to(x.dtype)

    return OpRecord(
        name=f"Tensor.{name}",
        reference=lambda x: x,
        call=there_and_back,
        method=False,
        samples=(s(given([1.5, -2.0, 0.25])).but(smooth=False), s(given([[1.0], [0.0]])).but(smooth=False)),
        edges=(Edge(s(given([1.5, 2.0])), [3.0, 5.0], ([3.0, 5.0],)),),
    )


def itself(name: str, **facts: Any) -> OpRecord:
    """An op that returns its argument."""

    def call(rg: Any, x: Any) -> Any:
        y = getattr(x, name.removeprefix("Tensor."))()
        assert y is x or (name == "resolve_conj" and x.is_conj())
        return y * 1

    return OpRecord(
        name=name, reference=np.copy, call=call, samples=(s(t(3, 4)), s(t()), s(t(0, 3))), dtypes=FLOATS, **facts
    )


NOT_COMPLEX = Refusal(s(t(3)), RuntimeError, r"imag is not implemented for tensors with non-complex dtypes")


def parts(name: str, reference: Callable[..., Any], **facts: Any) -> OpRecord:
    """The parts of complex numbers; also as an attribute."""

    def call(rg: Any, x: Any) -> Any:
        y = getattr(rg, name)(x)
        assert (y is x) is not x.is_complex()
        attribute = getattr(x, name)
        assert (attribute.shape, attribute.dtype, attribute is x) == (y.shape, y.dtype, y is x)
        return y * 1

    merged = {"dtypes": FLOATS, "result": "reference", "complex": True} | facts
    return OpRecord(
        name=name, reference=reference, call=call, method=False, samples=(s(t(3, 4)), s(t()), s(t(0, 3))), **merged
    )


def told(name: str, reference: Callable[..., Any], *samples: Sample, **facts: Any) -> OpRecord:
    """A question that Python's own objects answer, as an op with a tensor; function and method agree."""
    short = name.removeprefix("Tensor.")

    def call(rg: Any, x: Any, *args: Any) -> Any:
        answer = getattr(x, short)(*args)
        assert type(answer) in (bool, int)
        assert short != name or getattr(rg, short)(x, *args) is answer
        return rg.tensor(answer)

    return OpRecord(
        name=name,
        reference=reference,
        call=call,
        samples=samples,
        dtypes=ALL,
        result="reference",
        differentiable=False,
        method=False,
        **facts,
    )


def as_real(rg: Any, x: Any) -> Any:
    """`view_as_real`, of a real tensor as complex numbers, and of a copy of what is to be conjugated."""
    z = x if x.is_complex() else x.to(rg.complex64 if x.dtype is rg.float32 else rg.complex128)
    return rg.view_as_real(z.resolve_conj()) * 1


PLAIN = (s(t(3, 4)), s(t()), s(t(0, 3)))
RECORDS = [
    OpRecord(
        name="view_as_real",
        reference=lambda x: np.stack([x.real, x.imag], -1),
        call=as_real,
        complex=True,
        dtypes=FLOATS,
        result="reference",
        method=False,
        samples=(s(t(3, 4)), s(t()), s(t(0, 3)), s(t(33))),
    ),
    OpRecord(
        name="view_as_complex",
        reference=lambda x: x[..., 0] + 1j * x[..., 1],
        dtypes=FLOATS,
        result="reference",
        method=False,
        # Only pairs side by side are numbers; differences of complex results are those of gradcheck in `complex.rs`.
        samples=tuple(s(t(*shape)).but(smooth=False, layouts=()) for shape in ((3, 2), (2,), (0, 2), (4, 33, 2))),
        refuses=(
            Refusal(s(t(3)), RuntimeError, r"last dimension of size 2"),
            Refusal(s(t()), RuntimeError, r"one or more dimensions"),
        ),
    ),
    OpRecord(
        name="clone",
        reference=np.copy,
        complex=True,
        halves=0,
        dtypes=ALL,
        samples=(s(t(3, 4)), s(t()), s(t(0, 3)), s(t(33))),
    ),
    OpRecord(
        name="Tensor.contiguous",
        reference=np.copy,
        dtypes=ALL,
        samples=(s(t(3, 4)), s(t()), s(t(0, 3)), s(t(33))),
        complex=True,
        halves=0,
    ),
    inplace(
        "copy_",
        lambda x, source: np.broadcast_to(source, x.shape),
        s(t(3, 4), t(3, 4)),
        s(t(3, 4), t(4)),
        s(t(3, 4), t()),
        s(t(0, 3), t(3)),
        s(t(2, 3), given([1, 0, 1], "int32")),
        *ugly(2),
        refuses=(
            Refusal(s(t(3, 4), t(3)), RuntimeError, r"4.*3", r"\[3, 4\].*\[3\]|\(3, 4\).*\(3,\)"),
            Refusal(s(t(3), t(2, 3)), RuntimeError, r"2, 3.*3|3.*2, 3"),
            Refusal(s(t(3), "x"), TypeError),
        ),
        halves=0,
    ),
    OpRecord(
        name="fill",
        reference=lambda x, value: np.full(x.shape, value, x.dtype),
        dtypes=ALL,
        method=False,
        inplace=True,
        samples=(
            s(t(3, 4), 2),
            s(t(3, 4), t()),
            s(t(), 0.75).but(dtypes=FLOATS),
            s(t(0, 3), 1),
            *ugly(1, 1),
        ),
        refuses=(
            Refusal(s(t(3), t(3)), RuntimeError, r"(?i)0-dim.*1|0-dimension"),
            Refusal(s(t(3), "x"), TypeError),
            Refusal(s(t(3), 1j), RuntimeError, r"(?i)complex|overflow"),
        ),
        complex=True,
        halves=0,
    ),
    inplace("zero_", np.zeros_like, s(t(3, 4)), s(t()), s(t(0, 3)), *ugly(1), complex=True, halves=0),
    inplace("zero_", np.zeros_like, s(t(3, 4)), s(t()), s(t(0, 3)), function=True, complex=True, halves=0),
    inplace(
        "fill_diagonal_",
        filled_diagonal,
        s(t(3, 4), 2),
        s(t(4, 3), 2),
        s(t(7, 3), 1, wrap=True),
        s(t(4, 3), 1, True),
        s(t(2, 2, 2), 3),
        s(t(0, 3), 1),
        s(t(3, 3), 0.75).but(dtypes=FLOATS),
        refuses=(
            Refusal(s(t(3), 1), RuntimeError, r"dimensions must larger than 1", r"3"),
            Refusal(s(t(2, 3, 2), 1), RuntimeError, r"all dimensions of input must be of equal length"),
            Refusal(s(t(2, 2), "x"), TypeError),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.to_dense",
        reference=lambda x, dtype=None: x.astype(dtype or x.dtype),
        dtypes=ALL,
        result="reference",
        samples=(s(t(3, 4)), s(t()), s(t(0, 3), Dtype("float32")).but(smooth=False)),
        refuses=(Refusal(s(t(3), 3), TypeError),),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="detach",
        reference=np.copy,
        dtypes=ALL,
        differentiable=False,
        view=True,
        samples=(s(t(3, 4)), s(t()), s(t(0, 3))),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="Tensor.to",
        reference=converted,
        dtypes=ALL,
        result="reference",
        samples=(
            *(s(t(3, 4), Dtype(name)).but(smooth=name == "float64") for name in ("float32", "float64")),
            s(given([-1.7, 0.0, 2.9, 300.5], "float64", grad=False), Dtype("int32")),
            s(given([-1.7, 0.0, 2.9], "float32", grad=False), Dtype("int64")),
            s(given([-1.5, 0.0, 0.2], "float64", grad=False), Dtype("bool")),
            s(given([300, -1, 127], "int64"), Dtype("int8")),
            s(t(33), dtype=Dtype("float64")),
        ),
        edges=(
            Edge(s(given([1.5, 2.0], "float32"), Dtype("float64")), [3.0, 5.0], ([3.0, 5.0],)),
            Edge(s(given([1.5, 2.0]), Dtype("float32")), [3.0, 5.0], ([3.0, 5.0],)),
        ),
        refuses=(Refusal(s(t(3), "nowhere"), RuntimeError, r"nowhere|device", r"nowhere"),),
    ),
    cast("bool", "bool", -1.5, 0.0, 0.2),
    cast("byte", "uint8", 1.7, 0.0, 255.0),
    cast("char", "int8", -1.7, 0.0, 127.0),
    cast("short", "int16", -1.7, 0.0, 300.5),
    cast("int", "int32", -1.7, 0.0, 70000.5),
    cast("long", "int64", -1.7, 0.0, 70000.5),
    half("half", "float16"),
    half("bfloat16", "bfloat16"),
    to_complex("chalf", "complex32"),
    to_complex("cfloat", "complex64"),
    to_complex("cdouble", "complex128"),
    cast("float", "float32", -1.7, 0.0, 300.5),
    cast("double", "float64", -1.7, 0.0, 300.5),
    OpRecord(
        name="Tensor.type_as",
        reference=lambda x, other: x.astype(other.dtype),
        dtypes=ALL,
        result="reference",
        samples=(
            s(t(3, 4), given(1.0, "float64", grad=False)),
            s(given([-1.7, 2.9], "float64", grad=False), given(1, "int64")),
        ),
        refuses=(Refusal(s(t(3), Dtype("int64")), TypeError),),
    ),
    itself("Tensor.cpu", complex=True, halves=0),
    itself("resolve_conj", complex=True, halves=0),
    itself("resolve_neg", complex=True, halves=0),
    parts("real", np.real, halves=0),
    parts("imag", np.imag, dtypes=COMPLEX, complex=False, refuses=(NOT_COMPLEX,)),
    told("get_device", lambda x: -1, *PLAIN),
    told("is_conj", lambda x: False, *PLAIN),
    told("is_neg", lambda x: False, *PLAIN),
    told(
        "is_nonzero",
        lambda x: bool(x),
        s(t()),
        s(t(1, 1)),
        s(given(0.0)),
        s(given([-0.0])),
        s(given(np.nan)).but(dtypes=FLOATS),
        reads=True,
        refuses=(
            Refusal(s(t(2)), RuntimeError, r"more than one value is ambiguous"),
            Refusal(s(t(0)), RuntimeError, r"no values is ambiguous"),
        ),
    ),
    told(
        "is_same_size",
        lambda x, y: x.shape == y.shape,
        s(t(2, 3), t(2, 3)),
        s(t(2, 3), t(3, 2)),
        s(t(), t(1)),
        refuses=(Refusal(s(t(2), (2,)), TypeError),),
    ),
    told("Tensor.is_set_to", lambda x, y: False, s(t(2, 3), t(2, 3)), refuses=(Refusal(s(t(2), (2,)), TypeError),)),
    told("is_signed", lambda x: x.dtype.kind in "if", *PLAIN, s(given([1], "uint8")), s(given([True], "bool"))),
]
