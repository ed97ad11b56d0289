"""What a failed derivative check tells: the worst entry, both values, the bound, and what the cause may be."""

from __future__ import annotations

import math

from retrograd import _core
from retrograd.autograd._jacobian import Check, Matrix, Pair, Values, differences, source_probes

PRECISE = (_core.float64, _core.complex128)


def excess(numerical: float, analytical: float, atol: float, rtol: float) -> float:
    """By how many times the bound the values differ; infinite if one of them is NaN."""
    if numerical == analytical:
        return 0.0
    error = abs(analytical - numerical)
    bound = atol + rtol * abs(numerical)
    if math.isnan(error) or math.isinf(error):
        return math.inf
    return error / bound if bound else math.inf


def worst(pair: Pair, atol: float, rtol: float) -> tuple[float, int, int]:
    """The largest excess over the bound, with its row and column."""
    entries = (
        (excess(n, a, atol, rtol), i, k)
        for i, (ns, row) in enumerate(zip(pair.numerical, pair.analytical, strict=True))
        for k, (n, a) in enumerate(zip(ns, row, strict=True))
    )
    return max(entries, default=(0.0, 0, 0))


def headline(pair: Pair, numerical: object, analytical: object) -> str:
    """Which Jacobians differ, with what was measured."""
    what = "Jacobian computed with forward mode mismatch" if pair.forward else "Jacobian mismatch"
    return f"{what} for output {pair.output} with respect to input {pair.source},\n" + (
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def part(check: Check, pair: Pair) -> str:
    """For complex outputs, which part of them was looked at."""
    if not check.outputs[pair.output].is_complex():
        return ""
    return f"While considering the {'imaginary' if pair.imaginary else 'real'} part of complex outputs only, "


def matrix(check: Check, pair: Pair, entries: Matrix) -> object:
    """The matrix for display. Of a complex input, the two real rows of an element are one complex row again."""
    x, output = check.sources[pair.source], check.outputs[pair.output]
    rows: list[Values] = list(entries)
    if x.is_complex():
        rows = [[complex(re, im) for re, im in zip(*rows[i : i + 2], strict=True)] for i in range(0, len(rows), 2)]
    dtype = _core.complex128 if x.is_complex() else _core.float64
    return _core.tensor([v for row in rows for v in row], dtype=dtype).reshape(len(rows), output.numel())


def report(check: Check, pair: Pair) -> str:
    """The message for a pair of Jacobians that differ."""
    times, i, k = worst(pair, check.atol, check.rtol)
    n, a = pair.numerical[i][k], pair.analytical[i][k]
    bound = check.atol + check.rtol * abs(n)
    x, output = check.sources[pair.source], check.outputs[pair.output]
    entry, along = (i // 2, " (imaginary part)" if i % 2 else "") if x.is_complex() else (i, "")
    producer = f", made by {output.grad_fn.name()}" if output.grad_fn is not None else ""
    return (
        part(check, pair)
        + headline(pair, matrix(check, pair, pair.numerical), matrix(check, pair, pair.analytical))
        + f"Worst at {check.names[check.differentiable[pair.source]]}, entry {_index(entry, x.shape)}{along}, "
        + f"output {pair.output}, entry {_index(k, output.shape)}{producer}:\n"
        + f"  numerical {n:.10g}, analytical {a:.10g}, difference {abs(a - n):.3g}, "
        + f"{times:.3g} times the bound {bound:.3g} = atol {check.atol:g} + rtol {check.rtol:g} * |numerical|\n"
        + f"Likely cause: {_cause(check, pair, i, k)}\n"
    )


def _index(entry: int, shape: tuple[int, ...]) -> str:
    index: list[str] = []
    for size in reversed(shape):
        index.insert(0, str(entry % size))
        entry //= size
    return f"({', '.join(index)})"


def _cause(check: Check, pair: Pair, i: int, k: int) -> str:
    return (
        _cause_in_function(check, pair, i, k)
        or _cause_in_rule(check, pair)
        or "the rule of the op behind this output, or of one that it rests on, is wrong in these entries; "
        "check the ops one by one"
    )


def _cause_in_function(check: Check, pair: Pair, i: int, k: int) -> str | None:
    """Whether the function or the way it is checked is to blame, rather than a rule."""
    x = check.sources[pair.source]
    first, second = check.evaluate(), check.evaluate()
    if repr(first) != repr(second):
        return "func gives different results for the same inputs, so differences mean nothing; fix its random numbers"
    if not all(math.isfinite(n) for row in pair.numerical for n in row):
        return "func is not finite within eps of the input; move the input into the domain of func"
    if _kinked(check, pair, i, k):
        return "func has a kink or a jump within eps of this entry; move the input away from it"
    low = [t.dtype for t in (x, check.outputs[pair.output]) if t.dtype not in PRECISE]
    if low:
        return f"differences drown in the rounding of {low[0]}; check in double precision, or with larger eps and atol"
    return None


def _kinked(check: Check, pair: Pair, i: int, k: int) -> bool:
    """Whether the slopes to the left and to the right of the entry disagree, as no smooth function's do."""
    x = check.sources[pair.source]
    here = check.evaluate()[pair.output][k]
    above, below = (values[pair.output][k] for values in differences(check, x, source_probes(x)[i]))
    right, left = (above - here) / check.eps, (here - below) / check.eps
    scale = abs(right) + abs(left)
    return bool(abs(right - left) > 10 * check.atol + 0.1 * scale)


def _cause_in_rule(check: Check, pair: Pair) -> str | None:
    """What is wrong with the analytical Jacobian as a whole, if it is a known kind of wrong."""
    numerical, analytical = pair.numerical, pair.analytical

    def agree(ns: Matrix, matrix: Matrix) -> bool:
        return len(ns) == len(matrix) and all(
            len(r) == len(s) and all(excess(n, a, check.atol, check.rtol) <= 1 for n, a in zip(r, s, strict=True))
            for r, s in zip(ns, matrix, strict=True)
        )

    ns, entries = ([v for row in m for v in row] for m in (numerical, analytical))
    if not all(math.isfinite(a) for a in entries):
        return "the rule leaves its domain (a division by zero, a log or root of zero), or uses memory nobody wrote"
    if not any(entries):
        return (
            "no gradient arrives: a detach(), .data, no_grad, item() or conversion on the way cuts the graph, the "
            "backward is once_differentiable, or the rule gives None or zeros"
        )
    factor = _common_factor(ns, entries, check)
    if factor is not None:
        return _cause_of_factor(factor)
    if agree(numerical, [list(column) for column in zip(*analytical, strict=True)]):
        return "the Jacobian is transposed"
    if check.sources[pair.source].is_complex() and agree(
        numerical, [[-a for a in row] if i % 2 else row for i, row in enumerate(analytical)]
    ):
        return "the gradient is conjugated"
    if agree([sorted(ns)], [sorted(entries)]):
        return "the right values in the wrong places: the gradient is permuted, or reshaped instead of permuted back"
    empty = [i for i, (r, s) in enumerate(zip(numerical, analytical, strict=True)) if any(r) and not any(s)]
    if empty:
        return (
            f"no gradient arrives at {len(empty)} of {len(numerical)} elements of the input: a use of it is forgotten"
        )
    if all(a == 0 or excess(n, a, check.atol, check.rtol) <= 1 for n, a in zip(ns, entries, strict=True)):
        return "some terms are missing: a use of the input is not accumulated, or an output's gradient is ignored"
    return None


def _common_factor(ns: list[float], entries: list[float], check: Check) -> float | None:
    """The number that the analytical entries are times the numerical ones, if there is one."""
    top = max(range(len(ns)), key=lambda at: abs(ns[at]))
    if abs(ns[top]) <= check.atol:
        return None
    factor = entries[top] / ns[top]
    near = all(excess(factor * n, a, 10 * check.atol, check.rtol) <= 1 for n, a in zip(ns, entries, strict=True))
    return factor if near else None


def _cause_of_factor(factor: float) -> str:
    if abs(factor + 1) < 1e-3:
        return "the sign is wrong"
    if factor > 1 and abs(factor - round(factor)) < 1e-3:
        return f"the gradient is {factor:.4g} times too large: it is accumulated twice, or a factor is applied twice"
    if 0 < factor < 1 and abs(1 / factor - round(1 / factor)) < 1e-3:
        return (
            f"the gradient is {factor:.4g} times what it should be: a factor is missing, or a second use of the input "
            "is not accumulated"
        )
    return f"a factor is wrong: the gradient is {factor:.4g} times what it should be everywhere"
