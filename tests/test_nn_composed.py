"""Functions of `nn.functional` that are written in Python: attention with several heads, losses with functions."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest

import retrograd as rg

pytestmark = pytest.mark.skipif(os.environ.get("RETROGRAD_STANDIN") == "torch", reason="phrases are compared elsewhere")

F = rg.nn.functional
E, H, L, S, N = 6, 2, 3, 5, 2
D = E // H
Array = np.ndarray[Any, Any]


def numbers(*shape: int, seed: int = 0) -> rg.Tensor:
    rng = np.random.default_rng([seed, *shape])
    return rg.from_numpy(rng.standard_normal(shape))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


class Setup:
    """Operands of a call, and NumPy's version of what it computes."""

    def __init__(self, batched: bool) -> None:
        lead = (N,) if batched else ()
        self.batched = batched
        self.q, self.k, self.v = numbers(L, *lead, E), numbers(S, *lead, E, seed=1), numbers(S, *lead, E, seed=2)
        self.wi, self.bi, self.wo, self.bo = numbers(3 * E, E), numbers(3 * E), numbers(E, E), numbers(E)
        self.kwargs: dict[str, Any] = {}
        self.bias: tuple[Any, Any] = (None, None)
        self.zero = False

    def call(self, **more: Any) -> Any:
        return F.multi_head_attention_forward(
            self.q, self.k, self.v, E, H, self.wi, self.bi, *self.bias, self.zero, 0.0, self.wo, self.bo, **more
        )

    def reference(self, added: Any = 0.0, static: Any = None) -> tuple[Array, Array]:
        """`added` is what masks add to scores (N, H, L, keys)."""
        q, k, v = (x.numpy() if self.batched else x.numpy()[:, None] for x in (self.q, self.k, self.v))
        wi, bi = self.wi.numpy().reshape(3, E, E), self.bi.numpy().reshape(3, E)
        q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), wi, bi, strict=True))
        batch = q.shape[1]
        if self.bias[0] is not None:
            k, v = (
                np.concatenate([x, np.tile(b.numpy(), (1, batch, 1))]) for x, b in zip((k, v), self.bias, strict=True)
            )
        q, k, v = (x.reshape(len(x), batch, H, D).transpose(1, 2, 0, 3) for x in (q, k, v))
        if static is not None:
            k, v = (x.numpy().reshape(batch, H, -1, D) for x in static)
        if self.zero:
            k, v = (np.concatenate([x, np.zeros((batch, H, 1, D))], 2) for x in (k, v))
        weights = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(D) + added)
        out = (weights @ v).transpose(2, 0, 1, 3).reshape(L, batch, E) @ self.wo.numpy().T + self.bo.numpy()
        return (out, weights) if self.batched else (out[:, 0], weights[0])


@pytest.fixture(params=[True, False], ids=["batched", "unbatched"])
def setup(request: Any) -> Setup:
    return Setup(request.param)


def check(setup: Setup, added: Any = 0.0, static: Any = None, **more: Any) -> None:
    out, weights = setup.reference(added, static)
    each = setup.call(**more, average_attn_weights=False)
    mean = setup.call(**more)
    alone = setup.call(**more, need_weights=False)
    for got, want in ((each[0], out), (mean[0], out), (alone[0], out), (each[1], weights)):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mean[1].numpy(), weights.mean(1 if setup.batched else 0), rtol=1e-10, atol=1e-12)
    assert alone[1] is None


def test_attention_is_its_formula(setup: Setup) -> None:
    check(setup)


def test_operands_may_be_the_same_tensor(setup: Setup) -> None:
    setup.v = setup.k
    check(setup)
    setup.q = setup.k = setup.v = setup.q
    check(setup)


def test_masks_are_added(setup: Setup) -> None:
    batch = N if setup.batched else 1
    plain, each = numbers(L, S), numbers(batch * H, L, S, seed=4)
    late = rg.ones(L, S, dtype=rg.bool).triu(2)
    padded = rg.tensor([[False] * (S - 1) + [True]] * batch)
    padding = padded if setup.batched else padded[0]
    minus = np.where(late.numpy(), -np.inf, 0.0)
    last = np.where(padded.numpy(), -np.inf, 0.0)[:, None, None, :]
    check(setup, plain.numpy(), attn_mask=plain)
    check(setup, each.numpy().reshape(batch, H, L, S), attn_mask=each)
    check(setup, minus, attn_mask=late)
    check(setup, last, key_padding_mask=padding)
    check(setup, minus + last, attn_mask=late, key_padding_mask=padding)
    with pytest.warns(UserWarning, match="Support for mismatched key_padding_mask and attn_mask is deprecated"):
        setup.call(attn_mask=plain, key_padding_mask=padding)


def test_further_keys(setup: Setup) -> None:
    batch = N if setup.batched else 1
    setup.zero = True
    mask = numbers(L, S)
    check(setup, np.concatenate([mask.numpy(), np.zeros((L, 1))], 1), attn_mask=mask)
    setup.bias = (numbers(1, 1, E, seed=5), numbers(1, 1, E, seed=6))
    check(setup)
    check(setup, np.concatenate([mask.numpy(), np.zeros((L, 2))], 1), attn_mask=mask)
    setup.bias, setup.zero = (None, None), False
    static = (numbers(batch * H, 4, D, seed=7), numbers(batch * H, 4, D, seed=8))
    check(setup, static=static, static_k=static[0], static_v=static[1])


def test_weights_of_their_own_and_other_widths(setup: Setup) -> None:
    parts = dict(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), setup.wi.chunk(3), strict=True))
    check(setup, use_separate_proj_weight=True, **parts)
    lead = setup.k.shape[:-1]
    setup.k, setup.v = numbers(*lead, 4), numbers(*lead, 7)
    parts |= {"k_proj_weight": numbers(E, 4), "v_proj_weight": numbers(E, 7)}
    out, _ = setup.call(use_separate_proj_weight=True, **parts)
    assert out.shape == setup.q.shape


def test_the_hint_means_the_causal_mask(setup: Setup) -> None:
    setup.k = setup.v = setup.q
    late = rg.ones(L, L, dtype=rg.bool).triu(1)
    check(setup, np.where(late.numpy(), -np.inf, 0.0), attn_mask=late, is_causal=True)
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        setup.call(is_causal=True)


def test_attention_has_derivatives_of_second_order_and_in_forward_mode() -> None:
    setup = Setup(True)
    mask = numbers(L, S)

    def f(q: Any, k: Any, v: Any, wi: Any, mask: Any, bias: Any) -> Any:
        return F.multi_head_attention_forward(
            q, k, v, E, H, wi, setup.bi, bias, bias, True, 0.0, setup.wo, None, attn_mask=mask
        )

    leaves = [setup.q, setup.k, setup.v, setup.wi, mask, numbers(1, 1, E)]
    xs = [x.clone().requires_grad_() for x in leaves]
    assert rg.autograd.gradcheck(f, xs, check_forward_ad=True, fast_mode=True)
    assert rg.autograd.gradgradcheck(f, xs, fast_mode=True)


def test_attention_drops_weights_in_training_alone(setup: Setup) -> None:
    def call(training: bool) -> Any:
        operands = (setup.q, setup.k, setup.v, E, H, setup.wi, setup.bi, None, None, False, 0.5, setup.wo, setup.bo)
        return F.multi_head_attention_forward(*operands, training=training)

    out, weights = call(False)
    assert (out == setup.call()[0]).all()
    dropped = call(True)[1]
    kept = dropped != 0
    assert kept.sum() > 0 and (weights > 0).all() and dropped.sum() != weights.sum()


REFUSED = [
    ({"attn_mask": numbers(L, S + 1)}, RuntimeError, r"The shape of the 2D attn_mask is .* but should be \(3, 5\)"),
    ({"attn_mask": numbers(N * H, L, S + 1)}, RuntimeError, r"The shape of the 3D attn_mask is"),
    ({"attn_mask": numbers(L)}, AssertionError, "expected `attn_mask` to be `None`, 2-D or 3-D but found 1-D"),
    ({"attn_mask": rg.zeros(L, S, dtype=rg.int64)}, AssertionError, "only bool and floating types of attn_mask"),
    ({"key_padding_mask": numbers(S)}, AssertionError, "expected `key_padding_mask` to be `None` or 2-D but found 1-D"),
    ({"key_padding_mask": numbers(N, S + 1)}, AssertionError, r"Expected key_padded_mask.shape\[1\] to be 5"),
    ({"static_k": numbers(1, 4, D)}, AssertionError, r"expecting static_k.size\(0\) of 4, but got 1"),
    ({"static_v": numbers(N * H, 4, D + 1)}, AssertionError, r"expecting static_v.size\(2\) of 3, but got 4"),
    ({"use_separate_proj_weight": True}, AssertionError, "use_separate_proj_weight is True but q_proj_weight is None"),
]


@pytest.mark.parametrize(("more", "error", "says"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_no_attention(more: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        Setup(True).call(**more)


def test_operands_that_do_not_belong_together() -> None:
    s = Setup(True)
    rest = (s.wi, s.bi, None, None, False, 0.0, s.wo, s.bo)
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 5, but got 6"):
        F.multi_head_attention_forward(s.q, s.k, s.v, 5, H, *rest)
    with pytest.raises(AssertionError, match="embed_dim 6 not divisible by num_heads 4"):
        F.multi_head_attention_forward(s.q, s.k, s.v, E, 4, *rest)
    with pytest.raises(AssertionError, match=r"key shape .* does not match value shape"):
        F.multi_head_attention_forward(s.q, s.k, s.v[:2], E, H, *rest)
    with pytest.raises(AssertionError, match="query should be unbatched 2D or batched 3D tensor but received 1-D"):
        F.multi_head_attention_forward(s.q[0, 0], s.k, s.v, E, H, *rest)
    s.bias = (numbers(1, 1, E), None)
    with pytest.raises(AssertionError, match="bias_k is set but bias_v is None"):
        s.call()


CLASSES = rg.tensor([0, 1, 3, -100, 2, 2, 1])
OPTIONS = [
    rg.nn.LinearCrossEntropyOptions(),
    rg.nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method=None),
    rg.nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:3"),
]


@pytest.mark.parametrize("weight", [None, rg.tensor([0.5, 1.0, 2.0, 0.25], dtype=rg.float64)], ids=["even", "weighted"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_linear_cross_entropy_in_parts_is_that_of_the_whole(reduction: str, weight: Any) -> None:
    x, w, b = (numbers(*s).requires_grad_() for s in ((7, 3), (4, 3), (4,)))

    def lost(options: Any) -> Any:
        y = F.linear_cross_entropy(x, w, CLASSES, linear_bias=b, weight=weight, reduction=reduction, options=options)
        return y, rg.autograd.grad(y.square().sum(), (x, w, b), create_graph=True)

    want, grads = lost(None)
    plain = F.cross_entropy(F.linear(x, w, b), CLASSES, weight=weight, reduction=reduction)
    np.testing.assert_allclose(want.detach().numpy(), plain.detach().numpy(), rtol=1e-14)
    (second,) = rg.autograd.grad(grads[1].square().sum(), w)
    for options in OPTIONS:
        got, parts = lost(options)
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-12)
        for a, e in zip(parts, grads, strict=True):
            np.testing.assert_allclose(a.detach().numpy(), e.detach().numpy(), rtol=1e-10, atol=1e-13)
        (again,) = rg.autograd.grad(parts[1].square().sum(), w)
        np.testing.assert_allclose(again.numpy(), second.numpy(), rtol=1e-9, atol=1e-12)


def test_linear_cross_entropy_of_one_sample_and_of_planes() -> None:
    x, w = numbers(7, 3), numbers(4, 3)
    for options in (None, *OPTIONS):
        one = F.linear_cross_entropy(x[0], w, CLASSES[0], options=options)
        assert one.shape == () and math.isclose(one.item(), F.cross_entropy(w @ x[0], CLASSES[0]).item(), rel_tol=1e-12)
    planes, target = numbers(4, 2, 3), rg.tensor([[0, 1]] * 7)
    got = F.linear_cross_entropy(x, planes, target, linear_bias=numbers(4, 2))
    want = F.cross_entropy((x @ planes.reshape(8, 3).T).reshape(7, 4, 2) + numbers(4, 2), target)
    assert math.isclose(got.item(), want.item(), rel_tol=1e-12)
    with pytest.warns(UserWarning, match="``options`` ignored"):
        F.linear_cross_entropy(x, planes, target, options=OPTIONS[0])


def test_what_is_no_linear_cross_entropy() -> None:
    x, w = numbers(7, 3), numbers(4, 3)
    for args, kwargs, says in (
        ((x[None], w, CLASSES), {}, "expected input with dimensionality 1 or 2, got 3"),
        ((x, w[0], CLASSES), {}, "expected linear_weight with dimensionality at least 2, got 1"),
        ((x[:, :2], w, CLASSES), {}, r"last dimensions \(in_features\), got 2 and 3, respectively"),
        ((x, w, CLASSES), {"linear_bias": numbers(3)}, r"expected linear_bias shape \(4,\), got \(3,\)"),
        ((x[0], numbers(4, 2, 3), CLASSES), {}, "requires batched input"),
        ((x, w, numbers(7, 4)), {"ignore_index": 3}, "ignore_index cannot be specified when target contains"),
    ):
        with pytest.raises(RuntimeError, match=says):
            F.linear_cross_entropy(*args, **kwargs)
    Options = rg.nn.LinearCrossEntropyOptions
    for wrong in (
        {"acc_policy": "fast"},
        {"chunking_method": "rows"},
        {"batch_chunk_size": 0},
        {"acc_dtype": rg.int64},
    ):
        with pytest.raises(ValueError):
            Options(**wrong)
    with pytest.raises(ValueError, match="disagree"):
        F.linear_cross_entropy(x, w, CLASSES, options=Options(batch_chunk_size=7, chunking_method="aspect_ratio"))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_triplets_by_a_distance_of_ones_own(reduction: str) -> None:
    a, p, n = (numbers(5, 3, seed=i).requires_grad_() for i in range(3))

    def city(x: rg.Tensor, y: rg.Tensor) -> rg.Tensor:
        return (x - y).abs().sum(-1)

    near, far, between = (np.abs(x - y).sum(-1) for x, y in [
        (a.detach().numpy(), p.detach().numpy()),
        (a.detach().numpy(), n.detach().numpy()),
        (p.detach().numpy(), n.detach().numpy()),
    ])  # fmt: skip
    for swap in (False, True):
        losses = np.maximum(0.5 + near - (np.minimum(far, between) if swap else far), 0)
        got = F.triplet_margin_with_distance_loss(
            a, p, n, distance_function=city, margin=0.5, swap=swap, reduction=reduction
        )
        want = losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-13)
    usual = F.triplet_margin_with_distance_loss(a, p, n, reduction=reduction)
    assert (usual - F.triplet_margin_loss(a, p, n, reduction=reduction)).abs().max() < 1e-14
    assert rg.autograd.gradcheck(lambda *x: F.triplet_margin_with_distance_loss(*x, reduction=reduction), (a, p, n))


def test_what_is_no_triplet() -> None:
    x = numbers(4, 3)
    loss = F.triplet_margin_with_distance_loss
    with pytest.raises(ValueError, match="margin must be greater than 0, got -1"):
        loss(x, x, x, margin=-1)
    with pytest.raises(ValueError, match="most is not a valid value for reduction"):
        loss(x, x, x, reduction="most")
    with pytest.raises(RuntimeError, match="but got: anchor 1D, positive 2D, and negative 2D inputs"):
        loss(x[0], x, x)
