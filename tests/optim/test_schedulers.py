"""Schedules against PyTorch's numbers, states, warnings and errors, which `tools/schedulers.py` has stored."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__)
MAKER = runpy.run_path(str(HERE.parents[2] / "tools/schedulers.py"))
TABLE: dict[str, Any] = json.loads((HERE.parents[1] / "schedulers.json").read_text())


@pytest.mark.parametrize("row", TABLE["cases"], ids=lambda row: "-".join(map(str, row[:3])))
def test_rates_states_and_refusals_are_those_of_torch(rg, row):
    *case, want = row
    got = json.loads(json.dumps(MAKER["run"](rg, *case)))
    assert got == want
    assert list(got.get("state", ())) == list(want.get("state", ()))


def test_misuse_is_warned_of_in_the_words_of_torch(rg):
    assert MAKER["misuse"](rg) == TABLE["misuse"]


def test_rates_that_are_tensors_stay_the_same_tensor(rg):
    lr = rg.tensor(0.5)
    optimizer = rg.optim.SGD([rg.ones(1, requires_grad=True)], lr=lr)
    scheduler = rg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is lr and lr.item() == 0.25
    assert scheduler.get_last_lr()[0] is not lr


def test_a_schedule_resumes_from_its_state(rg):
    def of(last_epoch: int = -1) -> tuple[Any, Any]:
        optimizer = rg.optim.SGD([rg.ones(1, requires_grad=True)], lr=0.5)
        return optimizer, rg.optim.lr_scheduler.CosineAnnealingLR(optimizer, 7)

    optimizer, scheduler = of()
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    other, resumed = of()
    resumed.load_state_dict(scheduler.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        optimizer.step()
        scheduler.step()
        other.step()
        resumed.step()
    assert resumed.get_last_lr() == scheduler.get_last_lr()


def test_a_new_group_needs_a_minimum_of_its_own(rg):
    optimizer = rg.optim.SGD([rg.ones(1, requires_grad=True)], lr=0.5)
    scheduler = rg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.1])
    optimizer.add_param_group({"params": rg.ones(1, requires_grad=True)})
    scheduler.step(1)
    with pytest.raises(RuntimeError, match=r"The number of param groups in the `optimizer` \(2\) differs from when"):
        scheduler.step(1)


def test_the_old_name_is_a_class_to_derive_from(rg):
    class Half(rg.optim.lr_scheduler._LRScheduler):
        def get_lr(self):
            return [lr / 2 for lr in self.base_lrs]

    optimizer = rg.optim.SGD([rg.ones(1, requires_grad=True)], lr=0.5)
    assert Half(optimizer).get_last_lr() == [0.25]
    with pytest.raises(NotImplementedError):
        rg.optim.lr_scheduler.LRScheduler(optimizer)
