"""Averages of weights: what `swa_utils` adds to models and optimizers."""

from typing import Any

import pytest


@pytest.fixture
def model(rg) -> Any:
    class Model(rg.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
            self.more = rg.nn.Parameter(rg.tensor([1.0], dtype=rg.float64))
            self.register_buffer("mean", rg.tensor([8.0]))

        def forward(self, x: Any) -> Any:
            return x * self.weight

    return Model()


def set_to(model: Any, value: float) -> None:
    for tensor in [*model.parameters(), *model.buffers()]:
        tensor.detach().fill_(value)


def test_the_average_is_the_mean_of_what_was_seen(rg, model):
    averaged = rg.optim.swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        set_to(model, value)
        averaged.update_parameters(model)
    assert averaged.module.weight.tolist() == [3.0, 3.0] and averaged.module.more.tolist() == [3.0]
    assert averaged.module.mean.tolist() == [6.0]  # buffers are those of the last model
    assert averaged(rg.ones(2)).tolist() == [3.0, 3.0]
    assert list(averaged.state_dict()) == ["n_averaged", "module.weight", "module.more", "module.mean"]
    assert averaged.n_averaged.item() == 3


def test_buffers_are_averaged_on_request(rg, model):
    averaged = rg.optim.swa_utils.AveragedModel(model, use_buffers=True)
    for value in (1.0, 2.0):
        set_to(model, value)
        averaged.update_parameters(model)
    assert averaged.module.mean.tolist() == [1.5]


@pytest.mark.parametrize("form", ["avg_fn", "multi_avg_fn"])
def test_averages_that_decay(rg, model, form):
    of = rg.optim.swa_utils
    function = {"avg_fn": of.get_ema_avg_fn, "multi_avg_fn": of.get_ema_multi_avg_fn}[form](0.75)
    averaged = of.AveragedModel(model, **{form: function})
    for value in (1.0, 2.0, 6.0):
        set_to(model, value)
        averaged.update_parameters(model)
    assert averaged.module.weight.tolist() == [2.4375, 2.4375]


def test_functions_of_lists_get_tensors_of_one_dtype(rg, model):
    seen = []
    averaged = rg.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=lambda averages, new, count: seen.append([t.dtype for t in [*averages, *new]])
    )
    averaged.update_parameters(model)
    averaged.update_parameters(model)
    assert seen == [[rg.float32] * 2, [rg.float64] * 2]


def test_the_mean_of_lists(rg):
    update = rg.optim.swa_utils.get_swa_multi_avg_fn()
    average = rg.tensor([1.0])
    update([average], [rg.tensor([4.0])], 2)
    assert average.tolist() == [2.0]
    update([average], [rg.tensor([5.0])], rg.tensor(2))
    assert average.tolist() == [3.0]
    counts = rg.tensor([4])
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        update([counts], [rg.tensor([9])], 1)


def test_decayed_integers_are_rounded_down(rg):
    counts = rg.tensor([4])
    rg.optim.swa_utils.get_ema_multi_avg_fn(0.5)([counts], [rg.tensor([9])], 1)
    assert counts.tolist() == [6]


def test_what_makes_no_average_is_refused(rg, model):
    of = rg.optim.swa_utils
    for make in (of.get_ema_avg_fn, of.get_ema_multi_avg_fn):
        with pytest.raises(
            ValueError, match=r"Invalid decay value 2 provided\. Please provide a value in \[0,1\] range"
        ):
            make(2)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        of.AveragedModel(model, avg_fn=of.get_swa_avg_fn(), multi_avg_fn=of.get_swa_multi_avg_fn())


def test_statistics_of_batch_norm_become_means_over_all_batches(rg):
    pytest.importorskip("retrograd.nn.modules.batchnorm")
    layer = rg.nn.BatchNorm1d(1)
    model = rg.nn.Sequential(layer).eval()
    batches = [rg.tensor([[1.0], [3.0]]), (rg.tensor([[5.0], [7.0]]), "label")]
    rg.optim.swa_utils.update_bn(batches, model)
    assert layer.running_mean.tolist() == [4.0] and layer.running_var.tolist() == [2.0]
    assert layer.momentum == 0.1 and not model.training
    plain = rg.nn.Sequential()
    rg.optim.swa_utils.update_bn(iter([]), plain)
