"""All steps of a padded LSTM are one op, which means the same as a loop over `lstm_cell`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


def weights(rg: ModuleType, features: int, hidden: int, biases: bool = True) -> list[Any]:
    shapes = [(4 * hidden, features), (4 * hidden, hidden), *([(4 * hidden,), (4 * hidden,)] if biases else [])]
    return [rg.randn(*shape, dtype=rg.float64).mul_(0.4).requires_grad_() for shape in shapes]


def operands(rg: ModuleType, steps: int, batch: int, features: int, hidden: int) -> list[Any]:
    shapes = [(steps, batch, features), (1, batch, hidden), (1, batch, hidden)]
    return [rg.randn(*shape, dtype=rg.float64).requires_grad_() for shape in shapes]


def at_once(rg: ModuleType, x: Any, h: Any, c: Any, w: list[Any]) -> list[Any]:
    return list(rg.lstm(x, [h, c], w, len(w) == 4, 1, 0.0, False, False, False))


def in_a_loop(rg: ModuleType, x: Any, h: Any, c: Any, w: list[Any]) -> list[Any]:
    h, c, hidden = h[0], c[0], []
    for step in x:
        h, c = rg.lstm_cell(step, [h, c], *w)
        hidden.append(h)
    return [rg.stack(hidden), h[None], c[None]]


def gradients(rg: ModuleType, outs: list[Any], inputs: list[Any], kept: tuple[int, ...], **options: Any) -> Any:
    rg.manual_seed(5)
    loss = sum((outs[k] * rg.randn_like(outs[k])).sum() for k in kept)
    return rg.autograd.grad(loss, inputs, allow_unused=True, **options)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (5, 2, 3, 7), (3, 1, 2, 33), (4, 9, 1, 16)])
@pytest.mark.parametrize("kept", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("biases", [False, True])
def test_it_is_a_loop_over_cells(rg, sizes, kept, biases):
    rg.manual_seed(1)
    inputs, w = operands(rg, *sizes), weights(rg, sizes[2], sizes[3], biases)
    ours, loop = at_once(rg, *inputs, w), in_a_loop(rg, *inputs, w)
    for a, b in zip(ours, loop, strict=True):
        rg.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)
    everything = [*inputs, *w]
    for a, b in zip(gradients(rg, ours, everything, kept), gradients(rg, loop, everything, kept), strict=True):
        rg.testing.assert_close(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("backwards", [False, True])
def test_derivatives_of_second_order(rg, backwards):
    rg.manual_seed(2)
    inputs, w = operands(rg, 3, 2, 2, 3), weights(rg, 2, 3)
    two = backwards

    def run(x: Any, h: Any, c: Any, *w: Any) -> Any:
        params = [*w, *(v * 0.5 for v in w)] if two else list(w)
        if two:
            h, c = (rg.cat([s, 2 * s]) for s in (h, c))
        return tuple(rg.lstm(x, [h, c], params, True, 1, 0.0, False, two, False))

    assert rg.autograd.gradcheck(run, (*inputs, *w), check_forward_ad=True, check_batched_grad=True)
    assert rg.autograd.gradgradcheck(run, (*inputs, *w), atol=1e-4)


def test_gradients_with_and_without_a_graph_agree(rg):
    rg.manual_seed(3)
    inputs, w = operands(rg, 4, 2, 3, 5), weights(rg, 3, 5)
    everything = [*inputs, *w]
    plain, recorded = (
        gradients(rg, at_once(rg, *inputs, w), everything, (0, 2), create_graph=graph) for graph in (False, True)
    )
    for a, b in zip(plain, recorded, strict=True):
        rg.testing.assert_close(a, b.detach(), rtol=1e-12, atol=1e-14)


def test_results_may_be_written_to(rg):
    rg.manual_seed(4)
    inputs, w = operands(rg, 3, 2, 2, 3), weights(rg, 2, 3)
    want = gradients(rg, [at_once(rg, *inputs, w)[0] * 2], w, (0,))
    y, h, c = at_once(rg, *inputs, w)
    h.zero_()
    c.zero_()
    got = gradients(rg, [y.mul_(2)], w, (0,))
    for a, b in zip(got, want, strict=True):
        rg.testing.assert_close(a, b)


def test_only_what_is_asked_for(rg):
    rg.manual_seed(6)
    (x, h, c), w = operands(rg, 3, 2, 2, 3), weights(rg, 2, 3)
    full = gradients(rg, at_once(rg, x, h, c, w), [x, h, c, *w], (0, 1, 2))
    for k, one in enumerate([x, h, c, *w]):
        given = [t if t is one else t.detach() for t in (x, h, c, *w)]
        (got,) = gradients(rg, at_once(rg, *given[:3], given[3:]), [one], (0, 1, 2))
        rg.testing.assert_close(got, full[k])


def test_layouts_and_expanded_gradients(rg):
    rg.manual_seed(7)
    (x, h, c), w = operands(rg, 3, 4, 2, 3), weights(rg, 2, 3)
    first = x.detach().transpose(0, 1).contiguous().requires_grad_()
    y = rg.lstm(first, [h, c], w, True, 1, 0.0, False, False, True)[0]
    rg.testing.assert_close(y, at_once(rg, x, h, c, w)[0].transpose(0, 1))
    (ours,) = rg.autograd.grad(y.sum(), [first])
    (loop,) = rg.autograd.grad(in_a_loop(rg, x, h, c, w)[0].sum(), [x])
    rg.testing.assert_close(ours, loop.transpose(0, 1))


@pytest.mark.parametrize("sizes", [(3, 0, 2, 3), (3, 2, 0, 3)])
def test_no_sequences_and_no_features(rg, sizes):
    inputs, w = operands(rg, *sizes), weights(rg, sizes[2], sizes[3])
    y, h, c = at_once(rg, *inputs, w)
    assert (y.shape, h.shape, c.shape) == ((3, sizes[1], 3), (1, sizes[1], 3), (1, sizes[1], 3))
    y.sum().backward()
    assert w[1].grad.shape == w[1].shape


def test_one_node_for_all_steps(rg):
    inputs, w = operands(rg, 50, 2, 2, 3), weights(rg, 2, 3)
    assert at_once(rg, *inputs, w)[0].grad_fn.name() == "LstmBackward0"
