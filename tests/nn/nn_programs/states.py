"""State dicts: prefixes, hooks, versions, extra state, assignment; and what is wrong with one."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn

    class Part(nn.Module):
        _version = 3

        def __init__(self, n: int = 2) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.arange(float(n)))
            self.register_buffer("count", torch.tensor(0))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.register_buffer("nothing", None)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.gone = Part(), Part(3), None
            self.add_module("none", None)

    class Extra(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.value = 1

        def get_extra_state(self) -> Any:
            return {"value": self.value}

        def set_extra_state(self, state: Any) -> None:
            self.value = state["value"]

    net = Net()
    say(lambda: net.state_dict())
    say(lambda: net.state_dict()._metadata)
    say(lambda: net.state_dict(prefix="a."))
    say(lambda: net.state_dict(prefix="a.")._metadata)
    say(lambda: [type(v).__name__ for v in net.state_dict(keep_vars=True).values()])
    say(lambda: [v.requires_grad for v in net.state_dict().values()])
    say(lambda: net.state_dict({}, "b.", True))
    say(lambda: net.state_dict(destination={"z": 1}, prefix="c."))

    def loaded(change: Any, **options: Any) -> Any:
        target, state = Net(), Net().state_dict()
        change(state)
        told = target.load_state_dict(state, **options)
        return told, told.missing_keys, told.unexpected_keys, target.first.weight, target.second.count

    def put(**entries: Any) -> Any:
        return lambda state: state.update({k.replace("_", ".", 1): v for k, v in entries.items()})

    say(lambda: loaded(put()))
    say(lambda: loaded(put(first_weight=torch.ones(2), second_count=torch.tensor(5))))
    say(lambda: loaded(put(first_weight=torch.ones(3))))
    say(lambda: loaded(put(first_weight=torch.ones(3), second_weight=torch.ones(1), more=1)))
    say(lambda: loaded(put(first_weight=[1, 2])))
    say(lambda: loaded(put(first_weight="text"), strict=False))
    say(lambda: loaded(put(second_count=torch.ones(1))))
    say(lambda: loaded(put(second_count=torch.ones(1, 1))))
    say(lambda: loaded(put(first_weight=torch.ones(2, dtype=torch.float64))))
    say(lambda: loaded(put(first_weight=torch.ones(2, dtype=torch.float64)), assign=True))
    say(lambda: loaded(put(first_weight=nn.Parameter(torch.ones(2), requires_grad=False)), assign=True))
    say(lambda: loaded(put(first_more=torch.ones(2), third_weight=1, other=2)))
    say(lambda: loaded(put(first_more=torch.ones(2), third_weight=1, other=2), strict=False))
    say(lambda: loaded(lambda state: state.pop("first.weight")))
    say(lambda: loaded(lambda state: state.pop("first.weight"), strict=False))
    say(lambda: loaded(lambda state: state.clear()))
    say(lambda: Net().load_state_dict([1]))
    say(lambda: Net().load_state_dict(None))
    say(lambda: str(Net().load_state_dict(Net().state_dict())))
    say(lambda: repr(Net().load_state_dict({}, strict=False)))

    # The entries are copied, the dict is not changed, and parameters are the same objects
    target, state = Net(), OrderedDict(Net().state_dict())
    before = target.first.weight
    target.load_state_dict(state)
    say(lambda: (target.first.weight is before, state.keys() == Net().state_dict().keys()))
    target.load_state_dict(state, assign=True)
    say(lambda: (target.first.weight is before, target.first.weight.data_ptr() == state["first.weight"].data_ptr()))

    # Extra state
    holder = nn.Sequential(Extra(), Part())
    say(lambda: list(holder.state_dict()))
    state = holder.state_dict()
    state["0._extra_state"] = {"value": 7}
    say(lambda: (holder.load_state_dict(state), holder[0].value))
    del state["0._extra_state"]
    say(lambda: holder.load_state_dict(state))
    say(lambda: nn.Sequential(Part()).load_state_dict({**nn.Sequential(Part()).state_dict(), "0._extra_state": 1}))

    # Versions
    class New(Part):
        _version = 4

        def _load_from_state_dict(self, state: Any, prefix: Any, metadata: Any, *rest: Any) -> None:
            say(lambda: (prefix, metadata))
            if metadata.get("version", 1) < 4:
                state[prefix + "weight"] = state.pop(prefix + "weight") * 10
            super()._load_from_state_dict(state, prefix, metadata, *rest)

    say(lambda: New().load_state_dict(Part().state_dict()))
    say(lambda: New().load_state_dict(New().state_dict()))
    say(lambda: New().load_state_dict(dict(Part().state_dict())))
    new = nn.Sequential(New())
    new.load_state_dict(nn.Sequential(Part()).state_dict(), assign=True)
    say(lambda: new[0].weight)

    # Hooks
    net, told = nn.Sequential(Part()), []
    net[0].register_state_dict_pre_hook(lambda m, prefix, keep: told.append(("before", prefix, keep)))
    net[0].register_state_dict_post_hook(lambda m, state, prefix, data: told.append((list(state), prefix, data)))
    net._register_state_dict_hook(lambda m, state, prefix, data: {"replaced": 1})
    say(lambda: (net.state_dict(), told))
    say(lambda: (net.state_dict(prefix="p.", keep_vars=True), told[2:]))

    def returns(*_: Any) -> int:
        return 3

    part = Part()
    part.register_state_dict_post_hook(returns)
    say(lambda: part.state_dict())
    say(lambda: part._register_state_dict_hook(returns))
    told.clear()
    part = Part()
    part.register_load_state_dict_pre_hook(lambda m, state, *rest: told.append((type(m).__name__, list(state), rest)))
    part._register_load_state_dict_pre_hook(lambda state, *rest: state.update(weight=state.pop("old")))
    part.register_load_state_dict_post_hook(lambda m, keys: told.append(("after", keys)))
    say(lambda: (part.load_state_dict({"old": torch.ones(2), "count": torch.tensor(1)}), part.weight, told))
    other = copy.deepcopy(part)
    told.clear()
    say(lambda: (other.load_state_dict({"old": torch.zeros(2), "count": torch.tensor(1)}), part.weight, other.weight))
    part = Part()
    part.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    say(lambda: part.load_state_dict({}))
    part.register_load_state_dict_post_hook(returns)
    say(lambda: part.load_state_dict({}))
    handle = part.register_load_state_dict_post_hook(returns)
    handle.remove()

    # Lazy parameters
    lazy = nn.Module()
    lazy.weight = nn.UninitializedParameter()
    say(lambda: lazy.weight)
    say(lambda: lazy.load_state_dict({"weight": torch.ones(0)}))
    say(lambda: (lazy.weight.materialize((2, 2)), lazy.weight.shape, type(lazy.weight).__name__))
