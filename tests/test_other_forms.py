"""Functions of `nn.functional` that torch has with other arguments as well, and in-place methods as functions."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd import _aten, _inplace

F = rg.nn.functional


def numbers(*shape: int, seed: int = 0) -> rg.Tensor:
    return rg.randn(*shape, generator=rg.Generator().manual_seed(seed), dtype=rg.float64)


X, Y, W, B = numbers(4, 6), numbers(4, 6, seed=1), numbers(6, seed=2), numbers(6, seed=3)
SIGNS = rg.tensor([1, -1, 1, 1])
PLACES = rg.tensor([[1, 0], [3, 1]])
NORMALIZED: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (
        lambda: rg.batch_norm(X, W, B, B * 0.5, W * W, False, 0.1, 1e-3, True),
        lambda: F.batch_norm(X, B * 0.5, W * W, W, B, False, 0.1, 1e-3),
    ),
    (
        lambda: rg.instance_norm(X.reshape(2, 6, 2), W, B, None, None, True, 0.1, 1e-3, True),
        lambda: F.instance_norm(X.reshape(2, 6, 2), None, None, W, B, True, 0.1, 1e-3),
    ),
    (lambda: rg.layer_norm(X, (6,), W, B, 1e-3, False), lambda: F.layer_norm(X, (6,), W, B, 1e-3)),
    (lambda: rg.group_norm(X, 3, W, B, 1e-3, False), lambda: F.group_norm(X, 3, W, B, 1e-3)),
    (lambda: rg.embedding(X, PLACES), lambda: F.embedding(PLACES, X)),
    (lambda: rg.rrelu(X, 0.25, 0.25), lambda: F.rrelu(X, 0.25, 0.25)),
    (lambda: rg.rrelu(X), lambda: F.rrelu(X)),
]
LOSSES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "binary_cross_entropy_with_logits": ((X, Y, W, W * W), (X, Y, W)),
    "cosine_embedding_loss": ((X, Y, SIGNS, 0.5), (X, Y, SIGNS, 0.5)),
    "hinge_embedding_loss": ((X, SIGNS[:, None], 0.5), (X, SIGNS[:, None], 0.5)),
    "margin_ranking_loss": ((X, Y, SIGNS[:, None], 0.5), (X, Y, SIGNS[:, None], 0.5)),
    "triplet_margin_loss": ((X, Y, X + Y, 2.0, 1.5, 1e-3, True), (X, Y, X + Y, 2.0, 1.5, 1e-3, True)),
    "kl_div": ((X, Y.exp()), (X, Y.exp())),
    "poisson_nll_loss": ((X, Y.exp(), True, True, 1e-3), (X, Y.exp(), True, True)),
    "ctc_loss": (
        (X.reshape(6, 2, 2).log_softmax(-1), rg.ones(2, 2, dtype=rg.int64), (6, 5), (2, 1), 0),
        (X.reshape(6, 2, 2).log_softmax(-1), rg.ones(2, 2, dtype=rg.int64), (6, 5), (2, 1), 0),
    ),
}
BY_NAME: dict[str, dict[str, Any]] = {
    "binary_cross_entropy_with_logits": {"pos_weight": W * W},
    "poisson_nll_loss": {"eps": 1e-3},
}


@pytest.mark.parametrize("case", range(len(NORMALIZED)))
def test_arguments_in_another_order_mean_the_same(case: int) -> None:
    here, there = NORMALIZED[case]
    assert rg.equal(here(), there())


def test_a_padding_index_below_zero_is_none() -> None:
    table = numbers(3, 2).requires_grad_()
    indices = rg.tensor([0, 2])
    rg.embedding(table, indices, -1).sum().backward()
    assert table.grad is not None and table.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    table.grad = None
    rg.embedding(table, indices, 2).sum().backward()
    assert table.grad is not None and table.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("number", "word"), list(enumerate(_aten.REDUCTIONS)))
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
def test_reductions_are_numbers(name: str, number: int, word: str) -> None:
    ours, theirs = LOSSES[name]
    got = getattr(rg, name)(*ours, reduction=number)
    assert rg.equal(got, getattr(F, name)(*theirs, reduction=word, **BY_NAME.get(name, {})))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("number", [-1, 3])
def test_other_numbers_are_refused(name: str, number: int) -> None:
    with pytest.raises(ValueError, match=f"{name}: {number} is not a valid value for reduction"):
        getattr(rg, name)(*LOSSES[name][0], reduction=number)


def test_the_mean_of_kl_div_does_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    rg.kl_div(X, Y.exp())
    assert not recwarn.list


@pytest.mark.parametrize(
    "name",
    [
        "bilinear",
        "celu",
        "celu_",
        "cosine_similarity",
        "hardshrink",
        "pairwise_distance",
        "prelu",
        "rms_norm",
        "selu",
        "selu_",
        "threshold",
    ],
)
def test_functions_that_are_the_same(name: str) -> None:
    assert getattr(rg, name) is getattr(F, name)


@pytest.mark.parametrize("name", _inplace.__all__)
def test_methods_that_write_are_functions(name: str) -> None:
    others: dict[str, tuple[Any, ...]] = {
        "addmv_": (numbers(6, 4), numbers(4)),
        "as_strided_": ((2,), (1,)),
        "fill_": (2.0,),
        "gcd_": (4,),
        "index_put_": ((rg.tensor([1]),), rg.tensor(5.0)),
        "lcm_": (4,),
        "ldexp_": (rg.tensor(2),),
        "resize_as_": (numbers(3),),
        "xlogy_": (2.0,),
    }
    if name in ("gcd_", "lcm_"):
        x, others[name] = rg.tensor([6, 8]), (rg.tensor(4),)
    else:
        x = rg.linspace(0.1, 0.9, 6)
        others["addmv_"] = (numbers(6, 4).float(), numbers(4).float())
        others["resize_as_"] = (rg.ones(3),)
    other = copy.deepcopy(x)
    assert getattr(rg, name)(x, *others.get(name, ())) is x
    getattr(other, name)(*others.get(name, ()))
    assert rg.allclose(x, other, rtol=0, atol=0, equal_nan=True)  # below 1 there is no acosh


def test_generators_other_than_the_default_one_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="leave generator out"):
        rg.rrelu(X, generator=rg.Generator())


def test_names_of_arguments() -> None:
    assert list(inspect.signature(rg.kl_div).parameters) == ["input", "target", "reduction", "log_target"]
    assert list(inspect.signature(rg.embedding).parameters)[:2] == ["weight", "indices"]


def test_the_mean_of_squares_of_integers_is_rounded_down() -> None:
    x = rg.tensor([[[3], [3], [3]]])
    assert F.local_response_norm(x, 2, alpha=1.0, k=2).tolist() == [
        [[pytest.approx(3 / 6**0.75)], [pytest.approx(3 / 11**0.75)], [pytest.approx(3 / 11**0.75)]]
    ]
    with pytest.raises(NotImplementedError, match="\"avg_pool2d\" not implemented for 'Int'"):
        F.local_response_norm(x.int(), 2)


def test_generators_restart_and_are_cloned() -> None:
    g = rg.Generator()
    first, second = g.seed(), g.seed()
    assert first != second and g.initial_seed() == second
    twin = g.clone_state()
    drawn = rg.rand(3, generator=g)
    assert rg.equal(rg.rand(3, generator=twin), drawn)
    assert not rg.equal(rg.rand(3, generator=twin), drawn)
    assert g.device == rg.device("cpu")


def test_limits_of_what_numbers_of_python_stand_for() -> None:
    assert rg.finfo(float).dtype == rg.finfo(complex).dtype == "float64" and rg.iinfo(int).dtype == "int64"
    for call in (lambda: rg.iinfo(bool), lambda: rg.finfo(int), lambda: rg.iinfo(float), lambda: rg.finfo(str)):
        with pytest.raises(TypeError, match=r"info"):
            call()
