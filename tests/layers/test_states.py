"""Layers keep their states: in state dicts, pickles and copies, while training and when they become others."""

import copy
import pickle
import warnings
from typing import Any

import pytest

from layers.cases import make, tensors
from layers.test_answers import STORED, name

WITH_STATE = [it for it in STORED if it["is"]["initial"] and not it.get("eval")]


def values(rg: Any, result: Any) -> list[Any]:
    return [t.detach().tolist() for t in tensors(rg, result)]


@pytest.mark.parametrize("it", [pytest.param(it, id=name(it)) for it in WITH_STATE])
def test_a_state_dict_a_copy_and_a_pickle_make_the_same_layer(rg: Any, it: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer, inputs, call = make(rg, it)
        other, _, _ = make(rg, it)
        with rg.no_grad():
            for value in other.state_dict().values():
                value.zero_()
        assert str(other.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
        twins = [copy.deepcopy(layer), other, pickle.loads(pickle.dumps(layer))]
        rg.manual_seed(3)
        expected = values(rg, layer(*inputs, **call))
        for twin in twins:
            assert repr(twin) == repr(layer)
            rg.manual_seed(3)
            assert values(rg, twin(*inputs, **call)) == expected


def test_running_moments_are_used_in_evaluation_and_not_changed(rg: Any) -> None:
    norm = rg.nn.BatchNorm1d(2, momentum=0.5, eps=1e-12)
    x = rg.tensor([[1.0, 2.0], [3.0, 6.0]])
    norm(x)
    assert norm.running_mean.tolist() == [1.0, 2.0]
    assert norm.running_var.tolist() == [1.5, 4.5]  # half of 1 and of the unbiased variance
    norm.eval()
    assert norm(x)[0, 0].item() == 0.0
    assert (norm.running_mean.tolist(), norm.num_batches_tracked.item()) == ([1.0, 2.0], 1)


def test_without_momentum_all_batches_weigh_the_same(rg: Any) -> None:
    norm = rg.nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 2.0, 6.0):
        norm(rg.full((2, 1), value))
    assert norm.running_mean.item() == pytest.approx(3.0)
    norm.reset_running_stats()
    assert (norm.running_mean.item(), norm.running_var.item(), norm.num_batches_tracked.item()) == (0.0, 1.0, 0)


def test_a_state_dict_of_version_1_has_no_number_of_batches(rg: Any) -> None:
    norm = rg.nn.BatchNorm1d(2)
    norm(rg.randn(3, 2))
    old = norm.state_dict()
    del old["num_batches_tracked"]
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "num_batches_tracked"'):
        norm.load_state_dict(old)
    old._metadata[""]["version"] = 1
    norm.load_state_dict(old)
    assert norm.num_batches_tracked.item() == 1


def test_moments_that_nobody_asked_for_are_refused(rg: Any) -> None:
    old = rg.nn.InstanceNorm1d(2, track_running_stats=True).state_dict()
    old.pop("num_batches_tracked")
    del old._metadata
    with pytest.raises(RuntimeError) as raised:
        rg.nn.InstanceNorm1d(2).load_state_dict(old)
    says = 'Unexpected running stats buffer(s) "running_mean" and "running_var" for InstanceNorm1d with '
    assert says + "track_running_stats=False." in str(raised.value)


def test_batch_norms_become_synchronous_ones_with_their_state(rg: Any) -> None:
    net = rg.nn.Sequential(rg.nn.Linear(2, 3), rg.nn.BatchNorm1d(3), rg.nn.Sequential(rg.nn.BatchNorm1d(3, bias=False)))
    net(rg.randn(4, 2))
    net.eval()
    state, x = net.state_dict(), rg.randn(4, 2)
    expected = net(x).tolist()
    weight = net[1].weight
    converted = rg.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert type(converted[1]) is type(converted[2][0]) is rg.nn.SyncBatchNorm
    assert converted[1].weight is weight
    assert not converted[1].training
    assert list(converted.state_dict()) == list(state)
    assert converted(x).tolist() == expected


def test_a_lazy_layer_loads_a_state_dict_before_its_first_input(rg: Any) -> None:
    full, lazy = rg.nn.Linear(3, 2), rg.nn.LazyLinear(2)
    lazy.load_state_dict(full.state_dict())
    x = rg.randn(4, 3)
    assert lazy(x).tolist() == full(x).tolist()
    assert (type(lazy), lazy.in_features) == (rg.nn.Linear, 3)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        full.load_state_dict(rg.nn.LazyLinear(2).state_dict())
    lazy = rg.nn.LazyLinear(2)
    lazy.load_state_dict(full.state_dict())
    with pytest.raises(AssertionError, match="The in_features inferred from input: 4 is not equal to in_features"):
        lazy(rg.randn(2, 4))


def test_lazy_layers_of_other_dtypes_keep_them(rg: Any) -> None:
    assert rg.nn.LazyLinear(2).double()(rg.randn(4, 3, dtype=rg.float64)).dtype == rg.float64
    assert rg.nn.LazyConv1d(2, 1, dtype=rg.float64)(rg.randn(4, 3, 5, dtype=rg.float64)).dtype == rg.float64
    assert rg.nn.LazyBatchNorm1d(dtype=rg.float64)(rg.randn(4, 3, dtype=rg.float64)).dtype == rg.float64


def test_recurrent_layers_read_their_weights_when_called(rg: Any) -> None:
    lstm, x = rg.nn.LSTM(3, 4, bidirectional=True), rg.randn(5, 2, 3)
    other = rg.nn.LSTM(3, 4, bidirectional=True)
    expected = other(x)[0].tolist()
    for key, value in other.named_parameters():
        setattr(lstm, key, rg.nn.Parameter(value.detach().clone()))
    assert lstm(x)[0].tolist() == expected
    assert [len(weights) for weights in lstm.all_weights] == [4, 4]
    del lstm.weight_hh_l0
    lstm.weight_hh_l0 = other.weight_hh_l0.detach() * 1  # what a hook that computes weights leaves
    assert lstm(x)[0].tolist() == expected
    assert other.double()(x.double())[0].dtype == rg.float64


def test_padding_has_no_gradient_and_zeros_at_first(rg: Any) -> None:
    table = rg.nn.Embedding(4, 2, padding_idx=-1)
    assert (table.padding_idx, table.weight[3].tolist()) == (3, [0.0, 0.0])
    table(rg.tensor([3, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]


def test_a_table_of_given_vectors_is_that_memory(rg: Any) -> None:
    vectors = rg.eye(3)
    frozen = rg.nn.Embedding.from_pretrained(vectors)
    assert not frozen.weight.requires_grad
    assert frozen.weight.data_ptr() == vectors.data_ptr()
    assert rg.nn.EmbeddingBag.from_pretrained(vectors, freeze=False, mode="max").weight.requires_grad


def test_cross_map_normalization_has_the_derivative_of_its_values(rg: Any) -> None:
    layer = rg.nn.CrossMapLRN2d(3, alpha=0.5)
    x = rg.randn(1, 5, 2, 2, dtype=rg.float64, requires_grad=True)
    assert rg.autograd.gradcheck(layer, x)


def test_layers_differentiate_in_forward_mode_and_under_vmap(rg: Any) -> None:
    net = rg.nn.Sequential(rg.nn.Linear(3, 4), rg.nn.LayerNorm(4), rg.nn.GELU(), rg.nn.Linear(4, 2)).double()
    x, v = rg.randn(5, 3, dtype=rg.float64), rg.randn(5, 3, dtype=rg.float64)
    out, tangent = rg.func.jvp(net, (x,), (v,))
    steps = (net(x + 1e-6 * v) - net(x - 1e-6 * v)) / 2e-6
    assert (tangent - steps).abs().max().item() < 1e-8
    assert (rg.vmap(net)(x) - out).abs().max().item() < 1e-12


def test_attention_needs_no_same_tensor_to_give_the_same(rg: Any) -> None:
    """One, two or three products of projections."""
    attention, x = rg.nn.MultiheadAttention(8, 2).double(), rg.randn(5, 3, 8, dtype=rg.float64)
    y = x.clone()
    expected = attention(x, x, x)[0]
    for query, key, value in ((x, y, y), (x, y, x), (x, x, y)):
        assert (attention(query, key, value)[0] - expected).abs().max().item() < 1e-14
    assert (attention(x, x, x, need_weights=False)[0] - expected).abs().max().item() < 1e-14


def test_attention_takes_keys_and_values_that_are_given(rg: Any) -> None:
    attention, x = rg.nn.MultiheadAttention(4, 2), rg.randn(5, 3, 4)
    keys, values = rg.randn(6, 7, 2), rg.randn(6, 7, 2)
    arguments = (4, 2, attention.in_proj_weight, attention.in_proj_bias, None, None, False, 0.0)
    arguments += (attention.out_proj.weight, attention.out_proj.bias)
    forward = rg.nn.functional.multi_head_attention_forward
    out, weights = forward(x, x, x, *arguments, static_k=keys, static_v=values)
    assert (out.shape, weights.shape) == ((5, 3, 4), (3, 5, 7))
    with pytest.raises(AssertionError, match=r"expecting static_k.size\(0\) of 6, but got 5"):
        forward(x, x, x, *arguments, static_k=keys[1:])


def test_a_causal_mask_is_recognized(rg: Any) -> None:
    layer = rg.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder, x = rg.nn.TransformerEncoder(layer, 2).double().eval(), rg.randn(2, 5, 8, dtype=rg.float64)
    mask = rg.nn.Transformer.generate_square_subsequent_mask(5, dtype=rg.float64)
    expected = encoder(x, mask)
    for hint in (None, True, False):
        assert (encoder(x, mask, is_causal=hint) - expected).abs().max().item() < 1e-14
    assert (encoder(x, mask.isinf()) - expected).abs().max().item() < 1e-14
    later = x.clone()
    later[:, 3:] += 1
    assert (encoder(later, mask) - expected)[:, :3].abs().max().item() < 1e-14


def test_a_transformer_layer_may_replace_its_parts(rg: Any) -> None:
    class Twice(rg.nn.TransformerEncoderLayer):
        def _ff_block(self, x: Any) -> Any:
            return 2 * super()._ff_block(x)

    layer = Twice(8, 2, 16, dropout=0.0, norm_first=True)
    plain = rg.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=True)
    plain.load_state_dict(layer.state_dict())
    x = rg.randn(5, 2, 8)
    assert (layer(x) - plain(x)).abs().max().item() > 1e-3


def test_the_adaptive_softmax_adds_up_to_one(rg: Any) -> None:
    layer = rg.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6], div_value=2.0)
    x, classes = rg.randn(30, 8) * 4, rg.arange(30) % 12
    log_probs = layer.log_prob(x)
    assert (log_probs.exp().sum(1) - 1).abs().max().item() < 1e-5
    assert layer.predict(x).tolist() == log_probs.argmax(1).tolist()
    output, loss = layer(x, classes)
    assert (output - log_probs.gather(1, classes[:, None])[:, 0]).abs().max().item() < 1e-5
    assert loss.item() == pytest.approx(-output.mean().item())
