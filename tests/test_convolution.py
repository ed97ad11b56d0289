"""What the nodes of convolutions show, and facts about their results that no record states."""

from __future__ import annotations

from typing import Any

import pytest


def saved(node: Any) -> dict[str, Any]:
    return {name: getattr(node, name) for name in dir(node) if name.startswith("_saved_")}


def test_the_node_of_a_convolution(rg: Any) -> None:
    x, w, b = (rg.ones(*sizes).requires_grad_() for sizes in ((2, 4, 5, 5), (6, 2, 3, 3), (6,)))
    node = rg.conv2d(x, w, b, stride=(2, 1), padding=1, groups=2).grad_fn
    assert node.name() == "ConvolutionBackward0"
    assert len(node.next_functions) == 3
    kept = saved(node)
    assert kept.pop("_saved_input") is x
    assert kept.pop("_saved_weight") is w
    assert kept == {
        "_saved_bias_sym_sizes_opt": (6,),
        "_saved_dilation": (1, 1),
        "_saved_groups": 2,
        "_saved_output_padding": (0, 0),
        "_saved_padding": (1, 1),
        "_saved_stride": (2, 1),
        "_saved_transposed": False,
    }
    node = rg.nn.functional.conv_transpose1d(x[:, :, 0], w[:4, :, 0], stride=3, output_padding=2).grad_fn
    assert node._saved_transposed is True
    assert node._saved_output_padding == (2,)
    assert node._saved_bias_sym_sizes_opt == (0,)


def test_one_entry_without_a_batch(rg: Any) -> None:
    x, w = rg.ones(3, 7).requires_grad_(), rg.ones(4, 3, 3)
    y = rg.conv1d(x, w)
    assert y.shape == (4, 5)
    assert y.grad_fn.name() == "SqueezeBackward1"


def test_nodes_of_the_second_order(rg: Any) -> None:
    x, w = rg.ones(1, 2, 5).requires_grad_(), rg.ones(3, 2, 3).requires_grad_()
    grads = rg.autograd.grad(rg.conv1d(x, w).square().sum(), [x, w], create_graph=True)
    assert [g.grad_fn.name() for g in grads] == ["ConvolutionBackwardBackward0"] * 2


def test_the_nodes_of_windows(rg: Any) -> None:
    x = rg.ones(1, 2, 4, 5).requires_grad_()
    y = rg.nn.functional.unfold(x, (2, 3), padding=1)
    node = y.grad_fn
    assert node.name() == "Im2ColBackward0"
    kept = saved(node)
    assert kept == {
        "_saved_dilation": (1, 1),
        "_saved_kernel_size": (2, 3),
        "_saved_padding": (1, 1),
        "_saved_self_sym_argsize_minus_1": 5,
        "_saved_self_sym_argsize_minus_2": 4,
        "_saved_stride": (1, 1),
    }
    node = rg.nn.functional.fold(y, (4, 5), (2, 3), padding=1).grad_fn
    assert node.name() == "Col2ImBackward0"
    assert set(saved(node)) == {"_saved_dilation", "_saved_kernel_size", "_saved_padding", "_saved_stride"}


@pytest.mark.parametrize(
    "name", ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]
)
def test_the_same_function_at_the_top(rg: Any, name: str) -> None:
    axes = int(name[-2])
    x, w = rg.rand(1, 2, *[4] * axes), rg.rand(2, 2, *[3] * axes)
    assert rg.equal(getattr(rg, name)(x, w, padding=1), getattr(rg.nn.functional, name)(x, w, padding=1))


def test_an_infinite_element_stays_where_it_is(rg: Any) -> None:
    x = rg.ones(1, 1, 20)
    x[0, 0, 19] = float("inf")
    y = rg.conv1d(x, rg.ones(1, 1, 3))
    assert y[0, 0, :17].tolist() == [3.0] * 17
    assert y[0, 0, 17].item() == float("inf")


def test_halves_are_convolved_in_float32(rg: Any) -> None:
    for dtype in (rg.float16, rg.bfloat16):
        x, w = (rg.arange(1, 1 + n).reshape(1, 1, n).to(dtype) / 7 for n in (300, 200))
        y = rg.conv1d(x, w)
        assert y.dtype is dtype
        assert y.tolist() == rg.conv1d(x.float(), w.float()).to(dtype).tolist()
