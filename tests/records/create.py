"""Records of the ops that make tensors, and the random streams, recorded from PyTorch 2.13 on the CPU."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from records.record import ALL, FLOATS, NUMBERS, Array, Dtype, Edge, OpRecord, Refusal, Sample, given, s, t

F32, F64, I32, I64, BOOL = (Dtype(name) for name in ("float32", "float64", "int32", "int64", "bool"))
NEGATIVE = Refusal(s((2, -1)), RuntimeError, r"-1|non-negative")
NOT_A_SHAPE = Refusal(s("two"), TypeError)


def filled(value: Any) -> Callable[..., Array]:
    return lambda *size, dtype=np.float32: np.full(
        size[0] if size and isinstance(size[0], tuple) else size, value, dtype
    )


def like(value: Any) -> Callable[..., Array]:
    return lambda x, dtype=None: np.full(x.shape, value, dtype or x.dtype)


def new(value: Any) -> Callable[..., Array]:
    return lambda x, size, dtype=None: np.full(size, value, dtype or x.dtype)


def made(name: str, reference: Callable[..., Any], *samples: Sample, **facts: Any) -> OpRecord:
    """Not differentiable, no method, and the reference decides the dtype."""
    merged: dict[str, Any] = {"method": False, "differentiable": False, "result": "reference", "layouts": False} | facts
    return OpRecord(name=name, reference=reference, samples=samples, **merged)


def deprecated(name: str) -> Callable[..., Any]:
    """The op, which warns at every call."""

    def call(rg: Any, *args: Any, **kwargs: Any) -> Any:
        with pytest.warns(UserWarning, match=f"torch.{name} is deprecated and will be removed in a future release"):
            return getattr(rg, name)(*args, **kwargs)

    return call


def shaped(
    name: str, reference: Callable[..., Any], values: bool = True, dtypes: tuple[Dtype, ...] = (F64,), **facts: Any
) -> OpRecord:
    """An op of sizes: separate or as a tuple, with and without dtype, of no and of zero entries."""
    merged: dict[str, Any] = {"refuses": (NEGATIVE, NOT_A_SHAPE)} | facts
    samples = (s(3, 4), s((3, 4)), s(()), s(0, 3), s(33), *(s(2, 3, dtype=dtype) for dtype in dtypes))
    return made(name, reference, *(x.but(values=values, dtypes=("float32",)) for x in samples), **merged)


def similar(
    name: str, reference: Callable[..., Any], *rest: Any, values: bool = True, floats: bool = False, **facts: Any
) -> OpRecord:
    kinds = FLOATS if floats else ALL
    samples = (s(t(3, 4), *rest), s(t(), *rest), s(t(0, 3), *rest), s(t(17), *rest, dtype=F64))
    return made(name, reference, *(x.but(values=values) for x in samples), dtypes=kinds, layouts=values, **facts)


def renewed(name: str, reference: Callable[..., Any], *rest: Any, values: bool = True, **facts: Any) -> OpRecord:
    samples = (s(t(2), (3, 4), *rest), s(t(), (), *rest), s(t(2), (0, 3), *rest), s(t(2), (17,), *rest, dtype=F32))
    return made(f"Tensor.{name}", reference, *(x.but(values=values) for x in samples), dtypes=ALL, method=True, **facts)


def drawn(name: str, reference: Callable[..., Any], *samples: Sample, **facts: Any) -> OpRecord:
    """An op that overwrites a tensor with draws. The reference knows the values where all draws are one number."""

    def call(_: Any, x: Any, *args: Any) -> Any:
        return getattr(x.clone(), name)(*args)

    return OpRecord(
        name=f"Tensor.{name}", reference=reference, call=call, samples=samples, seed=5, inplace=True, **facts
    )


def from_numbers(data: Any, dtype: Any = None) -> Array:
    """torch's defaults: Python floats become float32, ints int64."""
    values = np.asarray(data)
    return values.astype(dtype or (np.float32 if values.dtype == np.float64 else values.dtype))


def full(size: Any, value: Any, dtype: Any = None) -> Array:
    return np.broadcast_to(from_numbers(value, dtype), size)


def arange(*limits: Any, dtype: Any = None) -> Array:
    return from_numbers(np.arange(*limits), dtype)


def linspace(start: float, end: float, steps: int, dtype: Any = np.float32) -> Array:
    return np.linspace(start, end, steps).astype(dtype)


def only(shape: Any, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


def once(*samples: Sample, values: bool = True) -> tuple[Sample, ...]:
    return tuple(x.but(dtypes=("float32",), values=values) for x in samples)


RECORDS = [
    made(
        "tensor",
        from_numbers,
        *once(
            s(1.5),
            s(2),
            s(True),
            s([1, 2, 3]),
            s([[1.0, 2.0], [3.0, 4.0]]),
            s([]),
            s([[], []]),
            s((1, 2.5)),
            s([True, False]),
            s([1, 2], dtype=F64),
            s([0.0, 1.5], dtype=BOOL),
            s([1.9, -1.9], dtype=I32),
        ),
        refuses=(
            Refusal(s([[1, 2], [3]]), ValueError, r"length 2.*length 1|dim 1|inconsistent|ragged"),
            Refusal(s(["a"]), (TypeError, ValueError), r"str"),
            Refusal(s(len), (TypeError, RuntimeError), r"function"),
        ),
    ),
    shaped("empty", filled(0), values=False, dtypes=(F64, I64, BOOL)),
    made(
        "empty_strided",
        lambda size, stride, dtype=np.float32: only(size, dtype),
        *once(s((2, 3), (1, 2)), s((), ()), s((0, 3), (7, 1)), s((2, 2), (0, 5), dtype=I64), values=False),
        refuses=(
            Refusal(s((2, -1), (1, 1)), RuntimeError, r"-1"),
            Refusal(s((2, 3), (1,)), RuntimeError, r"\(2\).*\(1\)"),
            Refusal(s((2, 3), (-1, 1)), RuntimeError, r"-1"),
        ),
    ),
    made(
        "empty_permuted",
        lambda size, physical_layout, dtype=np.float32: only(size, dtype),
        *once(s((2, 3, 4), (2, 0, 1)), s((), ()), s((0, 3), (1, 0)), s((2, 2), (0, 1), dtype=I64), values=False),
        refuses=(
            Refusal(s((2, -1), (1, 0)), RuntimeError, r"-1"),
            Refusal(
                s((2, 3), (1,)), RuntimeError, r"Number of dimensions in size does not match the length of the physical"
            ),
            Refusal(
                s((2, 3), (0, 2)),
                RuntimeError,
                r"Dimension out of range \(expected to be between 0 and 1, but got 2 at",
            ),
            Refusal(s((2, 3), (1, 1)), RuntimeError, r"Duplicate dim not allowed"),
        ),
    ),
    shaped("zeros", filled(0), dtypes=(F64, I64, BOOL)),
    shaped("ones", filled(1), dtypes=(F64, I64, BOOL)),
    made(
        "full",
        full,
        *once(
            s((3, 4), 1.5), s((2,), 7), s((), True), s((0, 3), 1.0), s((2, 2), 3, dtype=F64), s((2,), 2.9, dtype=I32)
        ),
        refuses=(Refusal(s((-1,), 0.0), RuntimeError, r"-1"), Refusal(s((2,), "x"), TypeError)),
    ),
    made(
        "arange",
        arange,
        *once(
            s(5),
            s(2, 7),
            s(7, 2, -2),
            s(0),
            s(0, 1, 0.25),
            s(1.5, 4),
            s(5, dtype=F64),
            s(3.0),
            s(0, 7, 3),
            s(33),
            s(2, 2),
        ),
        refuses=(
            Refusal(s(0, 5, 0), RuntimeError, r"step must be nonzero"),
            Refusal(s(0, 5, 0.0), RuntimeError, r"step must be nonzero"),
            Refusal(s(0, 5, np.nan), RuntimeError, r"step must be nonzero"),
            Refusal(s(0, 5, -1), RuntimeError, r"(?i)bound|sign|step"),
            Refusal(s("a"), TypeError),
        ),
    ),
    made(
        "range",
        lambda start, end, step=1, dtype=np.float32: np.arange(start, end + step / 2, step).astype(dtype),
        *once(s(1, 4), s(0, 1, 0.25), s(5, 1, -2), s(2, 2), s(0, 33), s(1.5, 4.7, dtype=I64), s(0, 1, 0.1, dtype=F64)),
        call=deprecated("range"),
        refuses=(
            Refusal(s(1, 4, 0), RuntimeError, r"step must be nonzero"),
            Refusal(s(4, 1), RuntimeError, r"upper bound and lower bound inconsistent with step sign"),
            Refusal(s(1, np.inf), RuntimeError, r"unsupported range: 1 -> inf"),
            Refusal(s(0, 3, dtype=BOOL), NotImplementedError, r"range_cpu.*'Bool'"),
        ),
    ),
    made(
        "linspace",
        linspace,
        *once(
            s(0, 1, 5), s(-1, 1, 17), s(3, 3, 4), s(0, 1, 1), s(0, 1, 0), s(1, 0, 33, dtype=F64), s(0, 10, 5, dtype=I64)
        ),
        refuses=(Refusal(s(0, 1, -1), RuntimeError, r"(?i)steps.*non-negative|-1"),),
    ),
    made(
        "eye",
        lambda n, m=None, dtype=np.float32: np.eye(n, m, dtype=dtype),
        *once(s(3), s(2, 4), s(4, 2), s(0), s(1), s(3, dtype=I64), s(17, dtype=F64)),
        refuses=(Refusal(s(-1), RuntimeError, r"-1"),),
    ),
    shaped(
        "rand",
        filled(0),
        values=False,
        refuses=(NEGATIVE, Refusal(s(3, dtype=I64), (RuntimeError, NotImplementedError))),
    ),
    shaped(
        "randn",
        filled(0),
        values=False,
        refuses=(NEGATIVE, Refusal(s(3, dtype=I64), (RuntimeError, NotImplementedError))),
    ),
    made(
        "randint",
        lambda *a, dtype=np.int64: only(a[-1], dtype),
        *once(s(10, (3, 4)), s(-5, 5, (0, 3)), s(0, 3, ()), s(10, (2,), dtype=F32), values=False),
        refuses=(
            Refusal(s(0, (2,)), RuntimeError, r"from.*(to|less)|range|empty|low"),
            Refusal(s(5, 5, (2,)), RuntimeError, r"from.*(to|less)|range|empty|low"),
        ),
    ),
    made(
        "randperm",
        lambda n, dtype=np.int64: only(n, dtype),
        *once(s(5), s(0), s(33), s(5, dtype=I32), values=False),
        refuses=(Refusal(s(-1), RuntimeError, r"(?i)non-negative|-1"),),
    ),
    similar("empty_like", like(0), values=False),
    similar("zeros_like", like(0), complex=True, halves=0),
    similar("ones_like", like(1), complex=True, halves=0),
    similar(
        "full_like", lambda x, value, dtype=None: np.full(x.shape, value, dtype or x.dtype), 1, complex=True, halves=0
    ),
    similar("rand_like", like(0), values=False, floats=True),
    similar("randn_like", like(0), values=False, floats=True),
    made(
        "randint_like",
        lambda x, high, dtype=None: like(0)(x, dtype),
        *(s(t(*n), 10).but(values=False) for n in ((3, 4), (), (0,))),
        dtypes=NUMBERS,
    ),
    made(
        "Tensor.new_tensor",
        lambda x, data, dtype=None: np.asarray(data, dtype or x.dtype),
        s(t(2), [1, 2, 3]),
        s(t(2), 1),
        s(t(2), [[1.0], [0.0]], dtype=F32),
        s(t(2), []),
        dtypes=ALL,
        method=True,
        complex=True,
        halves=0,
    ),
    made(
        "scalar_tensor",
        lambda value, dtype=np.float32: np.asarray(value, dtype),
        *once(s(1.5), s(2), s(True), s(2.9, dtype=I32), s(3, dtype=F64), s(0, dtype=BOOL)),
        refuses=(Refusal(s("x"), TypeError), Refusal(s([1]), TypeError)),
    ),
    drawn(
        "uniform_",
        lambda x, lo, hi: np.full(x.shape, lo),
        s(t(3, 4), 2.5, 2.5),
        s(t(), -1, -1),
        s(t(0, 3), 0, 1),
        s(t(3, 4), -1.0, 3.0).but(values=False),
        s(t(33), 0.0, 1.0).but(values=False),
        refuses=(
            Refusal(s(t(3), 2.0, 1.0), RuntimeError, r"from=2.*to=1"),
            Refusal(s(t(3), float("nan"), 1.0), RuntimeError, r"from is out of bounds"),
            Refusal(s(t(3), 0.0, 1.0), NotImplementedError, r"check_uniform_bounds.*'Long'", dtype="int64"),
        ),
    ),
    drawn(
        "normal_",
        lambda x, mean, std: np.full(x.shape, mean),
        s(t(3, 4), 2.5, 0.0),
        s(t(17), -1, 0),
        s(t(), 1, 0),
        s(t(0, 3), 0, 1),
        s(t(3, 4), 0.0, 2.0).but(values=False),
        refuses=(
            Refusal(s(t(3), 0.0, -1.0), RuntimeError, r"std >= 0\.0.*-1"),
            Refusal(s(t(3), 0.0, 1.0), NotImplementedError, r"normal_kernel_cpu.*'Long'", dtype="int64"),
        ),
        halves=0,
    ),
    drawn(
        "exponential_",
        lambda x, rate: np.zeros(x.shape),
        s(t(3, 4), np.inf),
        s(t(), np.inf),
        s(t(0, 3), 1.0),
        s(t(3, 4), 2.0).but(values=False),
        s(t(33), 1).but(values=False),
        refuses=(
            Refusal(s(t(3), 0.0), RuntimeError, r"lambda > 0\.0.*0"),
            Refusal(s(t(3), -1.0), RuntimeError, r"lambda > 0\.0.*-1"),
            Refusal(s(t(3), 1.0), RuntimeError, r"floating point.*Long", dtype="int64"),
        ),
        halves=0,
    ),
    drawn(
        "cauchy_",
        lambda x, median, sigma: np.full(x.shape, median),
        s(t(3, 4), 2.5, 1e-30),
        s(t(), -1, 1e-30),
        s(t(0, 3), 0, 1),
        s(t(33), 1.0, 2.0).but(values=False),
        refuses=(
            Refusal(s(t(3), 0.0, 0.0), RuntimeError, r"cauchy_ expects sigma > 0\.0, but found sigma=0"),
            Refusal(s(t(3), 0.0, -1.0), RuntimeError, r"sigma=-1"),
            Refusal(s(t(3)), RuntimeError, r"must be a floating point but you specified", dtype="int64"),
        ),
    ),
    drawn(
        "log_normal_",
        lambda x, mean, std: np.full(x.shape, np.exp(mean)),
        s(t(3, 4), 0.0, 1e-30),
        s(t(), -1, 1e-30),
        s(t(0, 3), 0, 1),
        s(t(33), 1.0, 2.0).but(values=False),
        refuses=(
            Refusal(s(t(3), 0.0, 0.0), RuntimeError, r"log_normal_ expects std > 0\.0, but found std=0"),
            Refusal(s(t(3)), NotImplementedError, r"log_normal_cpu.*'Long'", dtype="int64"),
        ),
        halves=0,
    ),
    drawn(
        "geometric_",
        lambda x, p: np.ones(x.shape),
        s(t(3, 4), 1 - 1e-16),
        s(t(), 1 - 1e-16),
        s(t(0, 3), 0.5),
        s(t(33), 0.25).but(values=False),
        dtypes=NUMBERS,
        refuses=(
            Refusal(s(t(3), 0.0), RuntimeError, r"geometric_ expects p to be in \(0, 1\), but got p=0"),
            Refusal(s(t(3), 1.0), RuntimeError, r"but got p=1"),
            Refusal(s(t(3), 0.5), NotImplementedError, r"geometric_cpu.*'Bool'", dtype="bool"),
        ),
        halves=0,
    ),
    drawn(
        "random_",
        lambda x, lo, hi=None: np.full(x.shape, 0 if hi is None else lo),
        s(t(3, 4), 5, 6),
        s(t(3, 4), 1),
        s(t(), 1),
        s(t(0, 3), 4),
        s(t(17), 2, 100).but(values=False),
        dtypes=NUMBERS,
        refuses=(
            Refusal(s(t(3), 5, 5), RuntimeError, r"from=5 >= to=5"),
            Refusal(s(t(3), 0), RuntimeError, r"from=0 >= to=0"),
            Refusal(s(t(3), 0, 300), RuntimeError, r"out of bounds", r"unsigned char.*299", dtype="uint8"),
        ),
        halves=0,
    ),
    drawn(
        "bernoulli_",
        lambda x, p: np.broadcast_to(p, x.shape),
        s(t(3, 4), 1.0),
        s(t(3, 4), 0.0),
        s(t(), 1.0),
        s(t(0, 3), 0.5),
        s(t(3, 4), given([1.0, 0.0, 0.0, 1.0], "float64", grad=False)),
        s(t(17), 0.5).but(values=False),
        dtypes=ALL,
        refuses=(
            Refusal(s(t(3), 1.5), RuntimeError, r"p to be in \[0, 1\].*1\.5"),
            Refusal(s(t(3), -0.1), RuntimeError, r"p to be in \[0, 1\].*-0\.1"),
        ),
        halves=0,
    ),
    OpRecord(
        name="bernoulli",
        reference=lambda x, p=None: x if p is None else np.full(x.shape, p),
        seed=5,
        samples=(
            s(given([1.0, 0.0, 0.0, 1.0])).but(smooth=False),
            s(given([[1.0, 0.0]])).but(smooth=False),
            # PyTorch has no derivative with a number as probability.
            s(t(3, 4, grad=False), 1.0),
            s(t(3, 4, grad=False), 0.0),
            s(t(0, 3, grad=False), 0.5),
            s(t(33, grad=False), 0.5).but(values=False),
        ),
        edges=(Edge(s(given([1.0, 0.0])), [3.0, 5.0], ([0.0, 0.0],)),),
        refuses=(
            Refusal(s(given([0.5, 1.5])), RuntimeError, r"p_in >= 0 && p_in <= 1"),
            Refusal(s(t(3), 1.5), RuntimeError, r"in \[0, 1\].*1\.5"),
        ),
        halves=0,
    ),
    renewed("new_empty", new(0), values=False),
    made(
        "Tensor.new_empty_strided",
        lambda x, size, stride, dtype=None: only(size, dtype or x.dtype),
        *(x.but(values=False) for x in (s(t(2), (2, 3), (1, 2)), s(t(), (), ()), s(t(2), (2,), (3,), dtype=F32))),
        dtypes=ALL,
        method=True,
        refuses=(Refusal(s(t(2), (2, 3), (1,)), RuntimeError, r"\(2\).*\(1\)"),),
        halves=0,
    ),
    renewed("new_zeros", new(0), complex=True, halves=0),
    renewed("new_ones", new(1), complex=True, halves=0),
    renewed(
        "new_full", lambda x, size, value, dtype=None: np.full(size, value, dtype or x.dtype), 1, complex=True, halves=0
    ),
]


@dataclass(frozen=True)
class Stream:
    """What a random op draws after `manual_seed(seed)`: the first numbers, and a checksum of them all."""

    op: str
    seed: int
    args: tuple[Any, ...]
    first: tuple[float, ...]
    crc: int | None = None  # None: the numbers pass through log, sin and cos, and agree to the last places only
    kwargs: dict[str, Dtype] = field(default_factory=dict)
    into: tuple[int, ...] | None = None  # the shape of a tensor that a method draws into

    @property
    def name(self) -> str:
        return f"{self.op}{self.args}-{self.seed}" + "".join(f"-{d.name}" for d in self.kwargs.values())

    def draw(self, rg: Any, **extra: Any) -> Any:
        kwargs = {k: getattr(rg, d.name) for k, d in self.kwargs.items()}
        if self.into is None:
            return getattr(rg, self.op)(*self.args, **kwargs, **extra)
        return getattr(rg.zeros(self.into, **kwargs), self.op)(*self.args, **extra)

    def check(self, got: Array) -> None:
        head = got.ravel()[: len(self.first)]
        # 4 units in the last place of the uniform draws, which logarithms near 1 magnify.
        np.testing.assert_allclose(
            head, self.first, rtol=1e-5 if self.crc is None and got.dtype == np.float32 else 1e-14
        )
        assert self.crc is None or zlib.crc32(got.tobytes()) == self.crc


DOUBLE = {"dtype": F64}
STREAMS = [
    Stream("rand", 0, (5,), (0.49625658988952637, 0.7682217955589294, 0.08847743272781372), 1328454259),
    Stream("rand", 42, (33,), (0.8822692632675171, 0.9150039553642273, 0.38286375999450684), 3001159668),
    Stream("rand", 3, (7,), (0.03410819565052048, 0.28674022672130695, 0.7729149443285843), 183300445, DOUBLE),
    Stream("rand", 1, (3,), (0.7576315999031067, 0.2793108820915222, 0.40306925773620605), 3003791527),
    Stream("rand", 2**32 + 1, (3,), (0.7576315999031067, 0.2793108820915222, 0.40306925773620605), 3003791527),
    Stream("randint", 0, (10, (8,)), (4, 9, 3, 0, 3, 9), 2053425434),
    Stream("randint", 7, (-5, 1000, (33,)), (55, 107, 416, 486, 353, 682), 1618072188),
    Stream("randint", 1, (0, 2**40, (5,)), (163196666091, 605300724808, 1095766950793), 154910807),
    Stream("randperm", 0, (9,), (8, 0, 2, 3, 7, 1), 3705707212),
    Stream("randperm", 5, (33,), (20, 15, 22, 18, 16, 27), 680320871),
    Stream(
        "uniform_",
        0,
        (-1.0, 3.0),
        (0.9850263595581055, 2.0728871822357178, -0.6460902690887451),
        1282749976,
        into=(9,),
    ),
    Stream("uniform_", 3, (), (0.03410819565052048, 0.28674022672130695), 2217193651, DOUBLE, (33,)),
    Stream("normal_", 1, (2.0, 0.5), (2.3306760787963867, 2.1334619522094727, 2.03083872795105), into=(7,)),
    Stream("normal_", 1, (2.0, 0.5), (1.844355222904984, 1.6434848615799438), None, DOUBLE, (20,)),
    Stream("exponential_", 0, (), (3.508326292037964, 1.2303847074508667, 0.615044116973877), into=(9,)),
    Stream("exponential_", 0, (2.0,), (1.754163093353821, 0.6151923820898384), None, DOUBLE, (9,)),
    Stream("cauchy_", 0, (), (10.597729682922363, 0.7647672891616821, -0.12829934060573578), into=(9,)),
    Stream(
        "cauchy_",
        1,
        (2.0, 0.5),
        (-0.5747746461985068, 1.4129133934853284, 1.447908213832556),
        None,
        DOUBLE,
        (33,),
    ),
    Stream("log_normal_", 0, (), (59.2634162902832, 1.5115599632263184, 0.03481946140527725), into=(9,)),
    Stream(
        "log_normal_",
        3,
        (0.5, 0.25),
        (2.015402685844598, 1.7223822270797282, 1.6858072408219444),
        None,
        DOUBLE,
        (17,),
    ),
    Stream("geometric_", 0, (0.3,), (1.0, 1.0, 3.0), 4107277496, into=(9,)),
    Stream("geometric_", 7, (0.05,), (25, 26, 3), 88870150, {"dtype": I64}, (33,)),
    Stream("random_", 0, (), (900450186894289455, 3969543146641149120), 1748585504, {"dtype": I64}, (9,)),
    Stream("random_", 0, (10,), (4, 9, 3, 0, 3, 9), 1474578778, {"dtype": I32}, (9,)),
    Stream("random_", 7, (-5, 1000), (55, 107, 416, 486, 353, 682), 1618072188, {"dtype": I64}, (33,)),
    Stream("random_", 2, (), (10312761.0, 6392288.0, 10688999.0), 4159248239, {}, (9,)),
    Stream("random_", 2, (), (168, 15, 237, 72, 22, 43), 2807283143, {"dtype": Dtype("uint8")}, (9,)),
    Stream("random_", 2, (), (False, True, True, False), 762530208, {"dtype": BOOL}, (9,)),
    Stream("bernoulli_", 0, (0.3,), (0, 0, 0, 0), 1547649099, {}, (17,)),
    Stream("bernoulli_", 0, (0.3,), (0, 0, 0, 0), 2456992438, {"dtype": I64}, (17,)),
    Stream("bernoulli", 0, (0.3,), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1547649099, {}, (17,)),
    Stream(
        "randn",
        0,
        (5,),
        (1.5409960746765137, -0.293428897857666, -2.1787893772125244, 0.5684312582015991, -1.0845223665237427),
    ),
    # From 16 on, and again for a last block that is not full, another path draws the numbers.
    Stream("randn", 1, (16,), (-1.5255959033966064, -0.7502318024635315, -0.6539809107780457, -1.6094847917556763)),
    Stream(
        "randn",
        42,
        (17,),
        (
            1.9269152879714966,
            -0.1595974713563919,
            -0.4973975419998169,
            0.439589262008667,
            -0.7581311464309692,
            1.078317642211914,
            0.8008005619049072,
            1.680620551109314,
            0.3558599054813385,
            1.2964228391647339,
            0.610466480255127,
            1.334737777709961,
            -0.2316243201494217,
            0.041759490966796875,
            -0.2515752911567688,
            0.859858512878418,
            -0.3097267746925354,
        ),
    ),
    Stream(
        "randn",
        3,
        (7,),
        (0.8032760780963507, 0.17483339327910358, 0.08897809502587893, -0.6137180077293578),
        None,
        DOUBLE,
    ),
    Stream(
        "randn",
        3,
        (18,),
        (
            -0.21774879177876416,
            0.1466771298110492,
            -2.2236365609620106,
            -0.47243610013370785,
            -1.3464356890265727,
            -0.2841692588173489,
            0.16794475101412973,
            0.7580573286215819,
            1.0784352439814244,
            0.34363379791442283,
            1.0037937230788416,
            -0.2213963739970204,
            -0.5840098795893389,
            -1.224985367308154,
            -0.269718737037564,
            0.20366863384122577,
            0.028752867895017985,
            0.24243710319485537,
        ),
        None,
        DOUBLE,
    ),
]
