"""`assert_close`: whether values are what they should be, and if not, which and by how much."""

from __future__ import annotations

import cmath
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["assert_allclose", "assert_close"]

# Relative and absolute tolerance.
_TOLERANCES = {
    _core.float16: (1e-3, 1e-5),
    _core.bfloat16: (1.6e-2, 1e-5),
    _core.float32: (1.3e-6, 1e-5),
    _core.float64: (1e-7, 1e-7),
    _core.complex32: (1e-3, 1e-5),
    _core.complex64: (1.3e-6, 1e-5),
    _core.complex128: (1e-7, 1e-7),
}
_NUMBERS = {int: _core.int64, float: _core.float64, complex: _core.complex128}
# What can be stored but not computed with is compared as something larger.
_COMPARED_AS = {
    _core.uint16: _core.int64,
    _core.uint32: _core.int64,
    _core.uint64: _core.int64,
    _core.complex32: _core.complex64,
}


class _Mismatch(Exception):
    """What is wrong, and at which item."""

    def __init__(self, kind: type[Exception], said: str, path: tuple[Any, ...]) -> None:
        super().__init__(said)
        self.kind = kind
        self.said = said
        self.path = path

    def error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        if isinstance(msg, str):
            return self.kind(msg)
        said = self.said
        if self.path:
            said += f"\n\nThe failure occurred for item {''.join(str([key]) for key in self.path)}"
        return self.kind(said if msg is None else msg(said))


class _Options(NamedTuple):
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, dtypes: Sequence[Any], path: tuple[Any, ...]) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if self.rtol is not None or self.atol is not None:
            missing = "rtol" if self.rtol is None else "atol"
            raise _Mismatch(
                ValueError, f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.", path
            )
        return _default_tolerances(dtypes, _TOLERANCES)


def _default_tolerances(dtypes: Sequence[Any], known: Mapping[Any, tuple[float, float]]) -> tuple[float, float]:
    found = [known.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Args: tensors, what becomes tensors, numbers, bools, None, and sequences and mappings of these. Tolerances depend on
    the dtype, unless both are given: for float32 they are 1.3e-6 and 1e-5. NaN is close to NaN if `equal_nan`. Sizes
    must be equal, and device, dtype, layout and strides as far as they are checked; classes too unless
    `allow_subclasses`. `msg` replaces the message, or is a function that makes one of it.
    Raises: AssertionError that tells how many entries differ, and where by how much; TypeError for what cannot be
    compared; ValueError for one tolerance without the other.

    >>> rg.testing.assert_close(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 2.0 + 1e-6]))
    >>> try:
    ...     rg.testing.assert_close(rg.tensor([1.0, 2.0]), rg.tensor([1.0, 2.5]))
    ... except AssertionError as error:
    ...     print(error)
    Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)
    """
    __tracebackhide__ = True
    options = _Options(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride)
    try:
        comparisons = list(_comparisons(actual, expected, options, ()))  # all, before the first is made
    except _Mismatch as mismatch:
        raise mismatch.error() from None
    for compare in comparisons:
        try:
            compare()
        except _Mismatch as mismatch:
            raise mismatch.error(msg) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """An old form of `assert_close`, with larger tolerances; it warns.

    >>> check = rg.testing.assert_allclose  # prefer rg.testing.assert_close
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, Tensor) else _core.tensor(actual)
    expected = expected if isinstance(expected, Tensor) else _core.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        old = {_core.float16: (1e-3, 1e-3), _core.float32: (1e-4, 1e-5), _core.float64: (1e-5, 1e-8)}
        rtol, atol = _default_tolerances([actual.dtype, expected.dtype], old)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# What is compared with what

_Compare = Callable[[], None]


def _comparisons(actual: Any, expected: Any, options: _Options, path: tuple[Any, ...]) -> Iterator[_Compare]:
    both = actual, expected
    if all(isinstance(x, Sequence) and not isinstance(x, str) for x in both):
        if len(actual) != len(expected):
            said = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Mismatch(AssertionError, said, path)
        for i in range(len(actual)):
            yield from _comparisons(actual[i], expected[i], options, (*path, i))
    elif all(isinstance(x, Mapping) for x in both):
        for key in _common_keys(actual, expected, path):
            yield from _comparisons(actual[key], expected[key], options, (*path, key))
    else:
        yield _comparison(actual, expected, options, path)


def _common_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any], path: tuple[Any, ...]) -> list[Any]:
    if set(actual) != set(expected):
        missing, additional = sorted(set(expected) - set(actual)), sorted(set(actual) - set(expected))
        raise _Mismatch(
            AssertionError,
            f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\nAdditional keys "
            f"in the actual mapping: {additional}",
            path,
        )
    keys = list(actual)
    with suppress(TypeError):  # keys that have no order stay as they are
        keys.sort()
    return keys


def _comparison(actual: Any, expected: Any, options: _Options, path: tuple[Any, ...]) -> _Compare:
    if actual is None or expected is None:
        return lambda: _compare_none(actual, expected, path)
    a, e = _plain(actual), _plain(expected)
    if isinstance(a, bool) and isinstance(e, bool):
        return lambda: _compare_bools(a, e, path)
    if type(a) in _NUMBERS and type(e) in _NUMBERS:
        rtol, atol = options.tolerances([_NUMBERS[type(a)], _NUMBERS[type(e)]], path)
        return lambda: _compare_numbers(a, e, options, rtol, atol, path)
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if related and (options.allow_subclasses or type(actual) is type(expected)):
        x, y = _as_tensor(actual), _as_tensor(expected)
        if x is not None and y is not None:
            rtol, atol = options.tolerances([x.dtype, y.dtype], path)
            return lambda: _compare_tensors(x, y, options, rtol, atol, path)
    raise _Mismatch(
        TypeError,
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
        path,
    )


def _plain(value: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.number | numpy.bool_) else value


def _as_tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value.detach()
    try:
        return _core.as_tensor(value)
    except Exception:
        return None


# Comparisons


def _compare_none(actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
    if actual is not None or expected is not None:
        raise _Mismatch(AssertionError, f"None mismatch: {actual} is not {expected}", path)


def _compare_bools(actual: bool, expected: bool, path: tuple[Any, ...]) -> None:
    if actual is not expected:
        raise _Mismatch(AssertionError, f"Booleans mismatch: {actual} is not {expected}", path)


def _compare_numbers(
    actual: Any, expected: Any, options: _Options, rtol: float, atol: float, path: tuple[Any, ...]
) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        said = f"The (d)types do not match: {type(actual)} != {type(expected)}."
        raise _Mismatch(AssertionError, said, path)
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    distance = abs(actual - expected)
    if not (cmath.isfinite(distance) and distance <= atol + rtol * abs(expected)):
        raise _Mismatch(AssertionError, _of_numbers(actual, expected, rtol, atol), path)


def _compare_tensors(
    actual: Tensor, expected: Tensor, options: _Options, rtol: float, atol: float, path: tuple[Any, ...]
) -> None:
    _compare_attributes(actual, expected, options, path)
    if actual.layout != expected.layout:
        actual, expected = (t if t.layout == _core.strided else t.to_dense() for t in (actual, expected))
    if actual.layout == _core.strided:
        _compare_values(actual, expected, "Tensor-likes", rtol, atol, options.equal_nan, path)
        return
    name = str(actual.layout).rpartition("sparse_")[2].upper()
    if name == "COO" and actual.sparse_dim() != expected.sparse_dim():
        said = (
            f"sparse dimensions in sparse COO tensors does not match: {actual.sparse_dim()} != {expected.sparse_dim()}"
        )
        raise _Mismatch(AssertionError, f"The number of {said}", path)
    if actual._nnz() != expected._nnz():
        said = f"specified values in sparse {name} tensors does not match: {actual._nnz()} != {expected._nnz()}"
        raise _Mismatch(AssertionError, f"The number of {said}", path)
    for part in _INDICES[name]:
        what = f"Sparse {name} {part.removeprefix('_')}"
        _compare_values(getattr(actual, part)(), getattr(expected, part)(), what, 0, 0, False, path)
    part = "_values" if name == "COO" else "values"
    a, e = getattr(actual, part)(), getattr(expected, part)()
    _compare_values(a, e, f"Sparse {name} values", rtol, atol, options.equal_nan, path)


# Where sparse tensors of a layout have their indices.
_INDICES = {"COO": ("_indices",), "CSR": ("crow_indices", "col_indices")}


def _compare_values(
    actual: Tensor, expected: Tensor, what: str, rtol: float, atol: float, equal_nan: bool, path: tuple[Any, ...]
) -> None:
    a, e = (_COMPARED_AS.get(t.dtype, t.dtype) for t in (actual, expected))
    dtype = _core.promote_types(a, e)
    actual, expected = actual.to(dtype), expected.to(dtype)
    matches = _core.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(matches.all()):
        return
    if matches.dim() == 0:
        said = _of_numbers(actual.item(), expected.item(), rtol, atol)
    else:
        said = _of_tensors(what, actual, expected, matches, rtol, atol)
    raise _Mismatch(AssertionError, said, path)


def _compare_attributes(actual: Tensor, expected: Tensor, options: _Options, path: tuple[Any, ...]) -> None:
    def fail(name: str, a: Any, e: Any) -> NoReturn:
        said = f"The values for attribute '{name}' do not match: {a} != {e}."
        raise _Mismatch(AssertionError, said, path)

    if actual.shape != expected.shape:
        fail("shape", actual.shape, expected.shape)
    if actual.layout != expected.layout:
        if options.check_layout:
            fail("layout", actual.layout, expected.layout)
    elif options.check_stride and actual.layout == _core.strided and actual.stride() != expected.stride():
        fail("stride()", actual.stride(), expected.stride())
    if options.check_device and actual.device != expected.device:
        fail("device", actual.device, expected.device)
    if options.check_dtype and actual.dtype != expected.dtype:
        fail("dtype", actual.dtype, expected.dtype)


# Messages


def _of_numbers(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    wrong = f"Expected {expected} but got {actual}."
    return _told("Scalars", wrong, rtol, atol, f"difference: {absolute}", f"difference: {relative}")


def _of_tensors(what: str, actual: Tensor, expected: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    count = matches.numel()
    wrong = count - int(matches.sum())
    if not (actual.is_floating_point() or actual.is_complex()):
        actual, expected = actual.to(_core.int64), expected.to(_core.int64)
    absolute = (actual - expected).abs().masked_fill(matches, 0)
    relative = (absolute / expected.abs()).masked_fill(matches, 0)

    def greatest(differences: Tensor) -> str:
        largest, at = differences.flatten().max(0)
        index = tuple(i.item() for i in _core.unravel_index(at, matches.shape))
        return f"difference: {largest.item()} at index {index}"

    return _told(
        what,
        f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
        rtol,
        atol,
        greatest(absolute),
        greatest(relative),
    )


def _told(what: str, wrong: str, rtol: float, atol: float, absolute: str, relative: str) -> str:
    equality = rtol == 0 and atol == 0
    kinds = ("Greatest absolute", "Greatest relative") if " at index " in absolute else ("Absolute", "Relative")
    lines = [f"{what} are not {'equal' if equality else 'close'}!", "", wrong]
    for kind, told, allowed in zip(kinds, (absolute, relative), (atol, rtol), strict=True):
        lines.append(f"{kind} {told}" + ("" if equality else f" (up to {allowed} allowed)"))
    return "\n".join(lines)
