"""`ZeroRedundancyOptimizer`: each process keeps the state of some parameters, updates these, and sends them around."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from retrograd import _core, linalg
from retrograd._core import Tensor
from retrograd._queries import typename
from retrograd.autograd.grad_mode import enable_grad, no_grad
from retrograd.distributed._calls import all_reduce, broadcast
from retrograd.distributed._collectives import ReduceOp
from retrograd.distributed._groups import ProcessGroup, get_group_rank, resolved
from retrograd.distributed._objects import gather_object
from retrograd.distributed.algorithms.join import Join, Joinable, JoinHook
from retrograd.nn.parallel._agreement import begin_share
from retrograd.optim.optimizer import Optimizer, StateDict

__all__ = ["ZeroRedundancyOptimizer", "clip_grad_norm_"]

_OWN = ("params", "param_names")


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Another optimizer, whose state is divided among processes by the sizes of parameters.

    Each process makes an `optimizer_class` for its parameters alone, so its state takes one `world size`-th of the
    memory. A step updates them, and then every process gets all parameters. Gradients are those of all parameters, as
    `DistributedDataParallel` leaves them.

    Args: `params` tensors, pairs of a name and a tensor, or dicts with options, in the same order everywhere;
    `process_group` None for the default one; `parameters_as_bucket_view` lays the parameters of one process out in one
    block of memory, so that they are sent as one message without a copy; `defaults` the options.
    Raises: TypeError or ValueError for parameters of other kinds; NotImplementedError for `overlap_with_ddp`.

    >>> rg.distributed.init_process_group("gloo")
    >>> x = rg.nn.Parameter(rg.ones(2))
    >>> optimizer = rg.distributed.optim.ZeroRedundancyOptimizer([x], rg.optim.SGD, lr=0.5)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x.tolist()
    [0.5, 0.5]
    >>> optimizer.consolidate_state_dict(to=0)
    >>> optimizer.state_dict()["param_groups"] == optimizer.local_state_dict()["param_groups"]
    True
    >>> optimizer.clip_grad_norm_(max_norm=1.0)
    tensor(1.4142)
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer: overlap_with_ddp is not there: call step() after backward"
            )
        entries = _checked(params)
        Joinable.__init__(self)
        self.process_group = resolved(process_group)
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.global_rank = self.process_group._ranks[self.rank]
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._loads = [0] * self.world_size  # bytes of the parameters that each process updates
        self._parts: list[list[Tensor]] = [[] for _ in range(self.world_size)]
        self._owner: dict[Tensor, int] = {}
        self._flat: list[list[Tensor]] = []
        self._gathered: list[StateDict] | None = None
        self.optim: Any = None
        super().__init__(entries, defaults)
        self._optim_constructor, self._optim_defaults = optimizer_class, defaults
        self._check_sizes()
        local = [self._local(group) for group in self.param_groups]
        self.optim = optimizer_class(local, **defaults)
        self.state = self.optim.state
        _copy_options(self.optim.param_groups, self.param_groups)
        self._lay_out()

    def _check_sizes(self) -> None:
        """Whether all processes divide the same parameters."""
        if self.world_size == 1:
            return
        sizes = [p.numel() for group in self.param_groups for p in group["params"]]
        own = [len(sizes), sum(size * (i + 1) for i, size in enumerate(sizes)) % (1 << 40)]
        bounds = _core.tensor([own[0], -own[0], own[1], -own[1]])
        all_reduce(bounds, ReduceOp.MAX, self.process_group)
        most, fewest, large, small = bounds.tolist()
        if most != -fewest or large != -small:
            raise RuntimeError(
                f"ZeroRedundancyOptimizer: rank {self.rank} has {len(sizes)} parameters with {sum(sizes)} elements, "
                "and others have other ones: give every process the same parameters in the same order"
            )

    # ---- who updates what

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, as `Optimizer.add_param_group` does, and divide its parameters among the processes."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        # The largest first, each to the process that has the least: no process is far above the mean.
        for parameter in sorted(group["params"], key=lambda p: -p.numel()):
            if parameter not in self._owner:
                rank = self._loads.index(min(self._loads))
                self._loads[rank] += parameter.numel() * parameter.element_size()
                self._owner[parameter] = rank
        for parameter in group["params"]:
            self._parts[self._owner[parameter]].append(parameter)
        if self.optim is not None:
            self.optim.add_param_group(self._local(group))
            _copy_options(self.optim.param_groups, self.param_groups)
            self._lay_out()

    def _local(self, group: dict[str, Any]) -> dict[str, Any]:
        """The part of a group that this process updates."""
        local = {key: value for key, value in group.items() if key not in _OWN}
        chosen = [i for i, parameter in enumerate(group["params"]) if self._owner[parameter] == self.rank]
        local["params"] = [group["params"][i] for i in chosen]
        if "param_names" in group:
            local["params"] = [(group["param_names"][i], group["params"][i]) for i in chosen]
        return local

    @no_grad()
    def _lay_out(self) -> None:
        """Move the parameters of each process into blocks of memory, one for each dtype."""
        if not self.parameters_as_bucket_view:
            return
        self._flat = []
        for part in self._parts:
            blocks = []
            for dtype in dict.fromkeys(parameter.dtype for parameter in part):
                several = [parameter for parameter in part if parameter.dtype == dtype]
                block = _core.cat([parameter.detach().reshape(-1) for parameter in several])
                for parameter, view in zip(several, block.split([p.numel() for p in several]), strict=True):
                    parameter.data = view.view(parameter.shape)
                blocks.append(block)
            self._flat.append(blocks)

    # ---- a step

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update the parameters of this process, and get the others from theirs.

        Args: `closure` computes the loss and the gradients anew, once.
        Returns: what it returned.
        """
        Join.notify_join_context(self)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        _copy_options(self.param_groups, self.optim.param_groups)
        if any(group["params"] for group in self.optim.param_groups):
            self.optim.step(**kwargs)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._spread()
        return loss

    def _spread(self) -> None:
        """Give all processes the parameters that each has updated."""
        if self.world_size == 1:
            return
        if not self.parameters_as_bucket_view:
            for finish in [begin_share(part, self.process_group, rank) for rank, part in enumerate(self._parts)]:
                finish()
            return
        works = [
            broadcast(block, group=self.process_group, async_op=True, group_src=rank)
            for rank, blocks in enumerate(self._flat)
            for block in blocks
        ]
        for work in works:
            assert work is not None
            work.wait()
        for rank, part in enumerate(self._parts):
            for parameter in part if rank != self.rank else []:
                _core._increment_version(parameter)  # written through the block

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
        """Scale the gradients that this process uses, so that the norm of those of all processes is at most `max_norm`.

        Each process takes the norm of its part alone, and scales it; gradients that others use stay as they are.
        Returns: the norm before, a tensor with one number.
        Raises: RuntimeError if `error_if_nonfinite` and the norm is infinite or NaN.
        """
        return clip_grad_norm_(self._parts[self.rank], max_norm, norm_type, error_if_nonfinite, self.process_group)

    # ---- state

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the state of all processes in the process `to`, for `state_dict`. All processes call this.

        Args: `to` a rank in the world.
        """
        root = get_group_rank(self.process_group, to)
        _copy_options(self.param_groups, self.optim.param_groups)
        here = self.rank == root
        states: list[Any] | None = [None] * self.world_size if here else None
        gather_object(self.optim.state_dict(), states, group=self.process_group, group_dst=root)
        self._gathered = states

    def state_dict(self) -> StateDict:
        """The state of all parameters, as the optimizer inside would have it alone; after `consolidate_state_dict`.

        Raises: RuntimeError where the state was not gathered.
        """
        if self._gathered is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.global_rank})` on all ranks beforehand if you meant to save the "
                "global state."
            )
        whole = super().state_dict()
        whole["state"] = {}
        numbers = self._numbers()
        for rank, local in enumerate(self._gathered):
            local_numbers = [n for group in local["param_groups"] for n in group["params"]]
            for number, parameter in zip(local_numbers, self._in_groups(rank), strict=True):
                if number in local["state"]:
                    whole["state"][numbers[parameter]] = local["state"][number]
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def local_state_dict(self) -> StateDict:
        """What `state_dict` returns, with the state of the parameters of this process alone.

        `distributed.checkpoint.save` makes one checkpoint of those of all processes; what `load_all` gives of it is
        for `load_state_dict`.
        """
        whole = super().state_dict()
        numbers = self._numbers()
        whole["state"] = {numbers[parameter]: value for parameter, value in self.optim.state.items()}
        return whole

    def _in_groups(self, rank: int) -> list[Tensor]:
        """The parameters of a process, in the order of its local groups."""
        return [p for group in self.param_groups for p in group["params"] if self._owner[p] == rank]

    def _numbers(self) -> dict[Tensor, int]:
        return {p: i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take options, and the state of the parameters of this process, from what `state_dict` returned anywhere.

        The number of processes may be another one. Other state is left out.
        Raises: ValueError if groups differ in number or in size.
        """
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(self.param_groups, groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        saved: list[Any] = [number for group in groups for number in group["params"]]
        owners = dict(zip(saved, (self._owner[p] for group in self.param_groups for p in group["params"]), strict=True))
        local_groups = []
        for group in groups:
            local = {key: deepcopy(value) for key, value in group.items() if key not in _OWN}
            local["params"] = [number for number in group["params"] if owners[number] == self.rank]
            local_groups.append(local)
        state = {key: value for key, value in state_dict["state"].items() if owners.get(key) == self.rank}
        self.optim.load_state_dict({"state": state, "param_groups": local_groups})
        self.state = self.optim.state
        _copy_options(self.optim.param_groups, self.param_groups)
        self._gathered = None

    # ---- uneven inputs

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What stands in for this optimizer where inputs have run out: it updates its part from the averages."""
        return _StandIn(self)

    @property
    def join_device(self) -> Any:
        """The CPU."""
        return _core.device("cpu")

    @property
    def join_process_group(self) -> ProcessGroup:
        """The group of this optimizer."""
        return self.process_group


class _StandIn(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        self.optimizer.step()


def _copy_options(source: Sequence[dict[str, Any]], target: Sequence[dict[str, Any]]) -> None:
    for taken, given in zip(source, target, strict=True):
        given.update({key: value for key, value in taken.items() if key not in _OWN})


def _checked(params: Any) -> list[Any]:
    """The entries of `params`, in a list."""
    if isinstance(params, Tensor) or not isinstance(params, Iterable):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {typename(params)}")
    entries = list(params)
    if not entries:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    for entry in entries:
        if isinstance(entry, dict):
            if "params" not in entry:
                raise ValueError(
                    "Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in "
                    "the group"
                )
        elif not isinstance(entry, Tensor | tuple):
            raise TypeError(
                f"`params` argument should be an iterable of Tensors or dicts, but got an item {typename(entry)}"
            )
    return [dict(entry) if isinstance(entry, dict) else entry for entry in entries]


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    process_group: ProcessGroup | None = None,
) -> Tensor:
    """`nn.utils.clip_grad_norm_` of gradients that are spread over processes, each of which has others.

    Where every process has all gradients, as after `DistributedDataParallel`, the function of `nn.utils` does the same
    everywhere. Args: `norm_type` may be infinity. All processes call this, those without gradients as well.
    Returns: the norm of all gradients of all processes before, a tensor with one number.
    Raises: RuntimeError if `error_if_nonfinite` and the norm is infinite or NaN.

    >>> rg.distributed.init_process_group("gloo")
    >>> w = rg.nn.Parameter(rg.ones(2))
    >>> w.grad = rg.tensor([3.0, 4.0])
    >>> rg.distributed.optim.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> rg.distributed.destroy_process_group()
    """
    several = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in several if p.grad is not None]
    norm_type = float(norm_type)
    own = _core.tensor(math.inf if norm_type == -math.inf else 0.0, dtype=_core.float64)
    if grads:
        own = linalg.vector_norm(
            _core.stack([linalg.vector_norm(grad, norm_type).double() for grad in grads]), norm_type
        )
    if math.isinf(norm_type):
        all_reduce(own, ReduceOp.MAX if norm_type > 0 else ReduceOp.MIN, process_group)
        total = own
    else:
        powers = own**norm_type
        all_reduce(powers, group=process_group)
        total = powers ** (1.0 / norm_type)
    total = total.to(grads[0].dtype if grads else _core.float32)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    coefficient = _core.clamp(float(max_norm) / (total + 1e-6), max=1.0)
    for grad in grads:
        grad.mul_(coefficient)
    return total
