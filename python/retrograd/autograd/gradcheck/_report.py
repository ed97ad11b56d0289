"""The report of a failed derivative check: the worst entry, both values, the bound, and what the cause may be."""

from __future__ import annotations

import cmath
import math

from retrograd import _core
from retrograd.autograd.gradcheck._differences import Check, Matrix, Pair, Values, entry_moves, neighbours, place, units

Number = complex  # floats too
PRECISE = (_core.float64, _core.complex128)


def excess(expected: Number, got: Number, atol: float, rtol: float) -> float:
    """By how many times the bound the values differ; infinite if one of them is NaN."""
    if expected == got:
        return 0.0
    error = abs(got - expected)
    bound = atol + rtol * abs(expected)
    if math.isnan(error) or math.isinf(error):
        return math.inf
    return error / bound if bound else math.inf


def agree(expected: Values, got: Values, atol: float, rtol: float) -> bool:
    """Whether all values are within their bounds."""
    try:
        if math.dist(got, expected) <= atol:  # then no entry is further off, and none is NaN: the quick way to see it
            return True
    except TypeError:  # of complex numbers
        pass
    return all(excess(e, g, atol, rtol) <= 1 for e, g in zip(expected, got, strict=True))


def passed(pair: Pair, rtol: float) -> bool:
    """Whether the Jacobians of a pair agree."""
    return all(agree(n, a, pair.atol, rtol) for n, a in zip(pair.numerical, pair.analytical, strict=True))


def worst(expected: Matrix, got: Matrix, atol: float, rtol: float) -> tuple[float, int, int]:
    """The largest excess over the bound, with its row and column."""
    entries = (
        (excess(e, g, atol, rtol), i, k)
        for i, (es, gs) in enumerate(zip(expected, got, strict=True))
        for k, (e, g) in enumerate(zip(es, gs, strict=True))
    )
    return max(entries, default=(0.0, 0, 0))


def comparison(names: tuple[str, str], values: tuple[Number, Number], atol: float, rtol: float) -> str:
    """Two values that differ, the expected one first, with the bound that they exceed."""
    expected, got = values
    bound = atol + rtol * abs(expected)
    return (
        f"{names[0]} {expected:.10g}, {names[1]} {got:.10g}, difference {abs(got - expected):.3g}, "
        f"{excess(expected, got, atol, rtol):.3g} times the bound {bound:.3g} = atol {atol:g} + rtol {rtol:g} * "
        f"|{names[0]}|"
    )


def headline(check: Check, pair: Pair) -> str:
    """Which Jacobians differ, with what was measured."""
    looked_at = check.sources[pair.source] if pair.forward else check.outputs[pair.output]
    sort = f"{'imaginary' if pair.imaginary else 'real'} part of complex {'inputs' if pair.forward else 'outputs'}"
    return (
        (f"While considering the {sort} only, " if looked_at.is_complex() else "")
        + f"Jacobian {'computed with forward mode ' if pair.forward else ''}mismatch "
        + f"for output {pair.output} with respect to input {pair.source},\n"
        + f"numerical:{_shown(pair.numerical, pair.projected)}\n"
        + f"analytical:{_shown(pair.analytical, pair.projected)}\n"
    )


def _shown(entries: Matrix, projected: bool) -> object:
    """The matrix for display; of a projection the number."""
    values = [v for row in entries for v in row]
    if len(values) == 1 and projected:
        return values[0]
    dtype = _core.complex128 if any(isinstance(v, complex) for v in values) else _core.float64
    return _core.tensor(values, dtype=dtype).reshape(len(entries), len(entries[0]))


def report(check: Check, pair: Pair) -> str:
    """The message for a pair of Jacobians that differ, entry by entry."""
    _, i, k = worst(pair.numerical, pair.analytical, pair.atol, check.rtol)
    x, output = check.sources[pair.source], check.outputs[pair.output]
    producer = f", made by {output.grad_fn.name()}" if output.grad_fn is not None else ""
    values = pair.numerical[i][k], pair.analytical[i][k]
    return (
        headline(check, pair)
        + check.note
        + f"Worst at {check.name(pair.source)}, entry {place(i, x.shape)}, "
        + f"output {pair.output}, entry {place(k, output.shape)}{producer}:\n"
        + f"  {comparison(('numerical', 'analytical'), values, pair.atol, check.rtol)}\n"
        + f"Likely cause: {_cause(check, pair, i, k)}\n"
    )


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
    if not all(cmath.isfinite(n) for row in pair.numerical for n in row):
        return "func is not finite within eps of the input; move the input into the domain of func"
    if _kinked(check, pair, i, k):
        return "func has a kink or a jump within eps of this entry; move the input away from it"
    low = [t.dtype for t in (x, check.outputs[pair.output]) if t.dtype not in PRECISE]
    if low:
        return f"differences drown in the rounding of {low[0]}; check in double precision, or with larger eps and atol"
    return None


def _kinked(check: Check, pair: Pair, i: int, k: int) -> bool:
    """Whether the slopes to the left and to the right of the entry disagree, as no smooth function's do."""
    here, x = check.evaluate()[pair.output][k], check.sources[pair.source]
    for unit in units(x):
        move = entry_moves(x, unit, check.eps)[i]
        above, below = (values[pair.output][k] for values in neighbours(check, move))
        right, left = (above - here) / check.eps, (here - below) / check.eps
        if abs(right - left) > 10 * check.atol + 0.1 * (abs(right) + abs(left)):
            return True
    return False


def _cause_in_rule(check: Check, pair: Pair) -> str | None:
    """What is wrong with the analytical Jacobian as a whole, if it is a known kind of wrong."""
    numerical, analytical = pair.numerical, pair.analytical

    def same(ns: Matrix, matrix: Matrix) -> bool:
        return len(ns) == len(matrix) and all(
            len(r) == len(s) and agree(r, s, check.atol, check.rtol) for r, s in zip(ns, matrix, strict=True)
        )

    ns, entries = ([v for row in m for v in row] for m in (numerical, analytical))
    if not all(map(cmath.isfinite, entries)):
        return "the rule leaves its domain (a division by zero, a log or root of zero), or uses memory nobody wrote"
    if not any(entries):
        if pair.forward:
            return (
                "there is no tangent: a detach(), .data, item() or conversion on the way cuts it off, the backward is "
                "once_differentiable, or the rule gives None or zeros"
            )
        return (
            "there is no gradient: a detach(), .data, no_grad, item() or conversion on the way cuts the graph, the "
            "backward is once_differentiable, or the rule gives None or zeros"
        )
    if same(numerical, [[v.conjugate() for v in row] for row in analytical]):
        return "the gradient is conjugated"
    factor = _common_factor(ns, entries, check)
    if factor is not None:
        return _cause_of_factor(factor)
    if same(numerical, list(zip(*analytical, strict=True))):
        return "the Jacobian is transposed"
    if same([_ordered(ns)], [_ordered(entries)]):
        return "the right values in the wrong places: the gradient is permuted, or reshaped instead of permuted back"
    empty = [i for i, (r, s) in enumerate(zip(numerical, analytical, strict=True)) if any(r) and not any(s)]
    if empty:
        return (
            f"there is no gradient for {len(empty)} of {len(numerical)} elements of the input: a use of it is forgotten"
        )
    if all(a == 0 or excess(n, a, check.atol, check.rtol) <= 1 for n, a in zip(ns, entries, strict=True)):
        return "some terms are missing: a use of the input is not accumulated, or an output's gradient is ignored"
    return None


def _ordered(values: Values) -> Values:
    return sorted(values, key=lambda v: (v.real, v.imag))


def _common_factor(ns: Values, entries: Values, check: Check) -> Number | None:
    """The number that the analytical entries are times the numerical ones, if there is one."""
    top = max(range(len(ns)), key=lambda at: abs(ns[at]))
    if abs(ns[top]) <= check.atol:
        return None
    factor: Number = entries[top] / ns[top]
    near = all(excess(factor * n, a, 10 * check.atol, check.rtol) <= 1 for n, a in zip(ns, entries, strict=True))
    return factor if near else None


def _cause_of_factor(factor: Number) -> str:
    if abs(factor.imag) > 1e-3 * abs(factor.real):
        return f"a factor is wrong: the gradient is {factor:.4g} times what it should be everywhere"
    factor = factor.real
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
