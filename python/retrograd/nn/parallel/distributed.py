"""`DistributedDataParallel`: a module that several processes train, each with its part of every batch."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._calls import all_reduce
from retrograd.distributed._collectives import ReduceOp
from retrograd.distributed._grad_buckets import GradBucket
from retrograd.distributed._groups import ProcessGroup, resolved
from retrograd.distributed.algorithms.join import _OFF, Join, Joinable, JoinHook, _notify
from retrograd.nn.modules.module import Module
from retrograd.nn.parallel._agreement import check_agreement, share
from retrograd.nn.parallel._buckets import ALONE, CAP, FIRST_CAP, MIB
from retrograd.nn.parallel._mixed_precision import _MixedPrecision as _MixedPrecision
from retrograd.nn.parallel._mixed_precision import call_in, cast_buffers, reduce_in
from retrograd.nn.parallel._reducer import Hook, Reducer
from retrograd.utils._pytree import tree_leaves

__all__ = ["DistributedDataParallel"]

# Options of torch that only make sense for its compiler, for GPUs, or for optimizers that run inside a pass.
_REFUSED = (
    "delay_all_reduce_named_params",
    "param_to_hook_all_reduce",
    "device_mesh",
    "skip_all_reduce_unused_params",
    "bucket_cap_mb_list",
)


class DistributedDataParallel(Module, Joinable):
    """Calls its module, and averages the gradients of its parameters over all processes.

    At the start every process gets the parameters and buffers of rank 0. In each backward pass gradients are put into
    buckets, and a bucket is sent as soon as it is full, while the pass goes on; when `backward` returns, `.grad` is the
    mean over the processes. docs/distributed.md says how to use it, and what it costs.

    Args: the module, which is the child `module`, so that names of parameters begin with it; `process_group` None for
    the default group. `forward_sync_buffers`, by its old name `broadcast_buffers`: give every process the buffers of
    rank 0 before each forward pass. `init_sync` False leaves out the check of the models and the sharing of their
    values at the start. `bucket_cap_mb` the MiB of a bucket, a first one has 1; None lets each gradient of 1 MiB and
    more be sent from where it is, and others in buckets of up to 25. `find_unused_parameters`: look through the graph
    for parameters that the outputs of an iteration do not depend on, and do not wait for them.
    `gradient_as_bucket_view` False lets gradients that share a bucket have memory of their own, and copies them back.
    `static_graph`: the first iteration tells which parameters get gradients, and how many, in each one to come.
    `mixed_precision` what `_MixedPrecision` describes. Others are for devices that this build has none of.
    Raises: ValueError before `init_process_group`; RuntimeError for a module without parameters that require grad, and
    if the models of the processes differ.

    >>> rg.distributed.init_process_group("gloo")
    >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
    >>> [name for name, parameter in model.named_parameters()]
    ['module.weight', 'module.bias']
    >>> with model.no_sync(), model.join():
    ...     model(rg.ones(1)).sum().backward()
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = True,
        static_graph: bool = False,
        *,
        mixed_precision: _MixedPrecision | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
        **refused: Any,
    ) -> None:
        super().__init__()
        self._join_config = _OFF
        for name, value in refused.items():
            if name not in _REFUSED:
                raise TypeError(f"DistributedDataParallel.__init__() got an unexpected keyword argument '{name}'")
            if value:
                raise NotImplementedError(f"DistributedDataParallel: {name} is not there: leave it out")
        if device_ids or output_device is not None:
            places = {parameter.device for parameter in module.parameters()}
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                f"single-device/multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, "
                f"output_device {output_device}, and module parameters {places}. All tensors are on the CPU: leave "
                "both out"
            )
        self.process_group = resolved(process_group)
        self.device_ids = None
        self.output_device = None
        self.device = _core.device("cpu")
        self.dim = dim
        self.module = module
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = self._named_parameters()
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        for name, parameter in module.named_parameters():
            if type(parameter).__name__ in ("UninitializedParameter", "UninitializedBuffer"):
                raise RuntimeError(
                    "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                    f"forward pass to correctly initialize the modules: {name} has no shape yet"
                )
        if check_reduction:
            warnings.warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
                stacklevel=2,
            )
        stated = [value for value in (forward_sync_buffers, broadcast_buffers) if value is not None]
        self.forward_sync_buffers = stated[0] if stated else True
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.mixed_precision = mixed_precision
        self.bucket_cap_mb = bucket_cap_mb
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        if mixed_precision is not None:
            cast_buffers(module, mixed_precision.buffer_dtype)
        if init_sync:
            buffers = self._named_buffers()
            options = {
                "bucket_cap_mb": bucket_cap_mb,
                "find_unused_parameters": find_unused_parameters,
                "static_graph": static_graph,
                "forward_sync_buffers": self.forward_sync_buffers,
                "mixed_precision": mixed_precision,
            }
            check_agreement(named, buffers, options, self.process_group)
            shared = [*self._shared_parameters(), *(b for _, b in buffers if forward_sync_buffers is not None)]
            if forward_sync_buffers is None and self.forward_sync_buffers:
                shared += [buffer for _, buffer in buffers]
            share(shared, self.process_group, 0)
        self._make_reducer()

    def _make_reducer(self) -> None:
        cap = self.bucket_cap_mb
        if cap is not None and not cap > 0:
            raise ValueError(f"DistributedDataParallel: bucket_cap_mb must be more than 0, got {cap}")
        limits = (FIRST_CAP, CAP, ALONE)
        if cap is not None:
            size = max(int(cap * MIB), 1)
            limits = (min(FIRST_CAP, size), size, size)
        self.reducer = Reducer(
            self._named_parameters(),
            self.process_group,
            limits,
            self.find_unused_parameters,
            self.static_graph,
            self.gradient_as_bucket_view,
        )
        dtype = None if self.mixed_precision is None else self.mixed_precision.reduce_dtype
        if dtype is not None and self.process_group.size() > 1:
            self.reducer.state, self.reducer.hook = self.process_group, reduce_in(dtype)

    def _named_parameters(self) -> list[tuple[str, Tensor]]:
        """What gets gradients that are averaged."""
        named = self.module.named_parameters()
        return [(name, p) for name, p in named if p.requires_grad and name not in self.parameters_to_ignore]

    def _shared_parameters(self) -> list[Tensor]:
        return [p for name, p in self.module.named_parameters() if name not in self.parameters_to_ignore]

    def _named_buffers(self) -> list[tuple[str, Tensor]]:
        return [(name, b) for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore]

    @property
    def broadcast_buffers(self) -> bool:
        """Whether every process gets the buffers of rank 0 before each forward pass."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    # ---- an iteration

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of the arguments. The backward pass of it averages gradients, outside of `no_sync`."""
        synchronised = self.require_backward_grad_sync and _core.is_grad_enabled()
        if self._join_config.enable:
            self._announce(synchronised)
        if self._will_sync_buffers():
            self._sync_buffers()
        if self.mixed_precision is not None and self.mixed_precision.param_dtype is not None:
            output = call_in(self.mixed_precision.param_dtype, self.module, inputs, kwargs)
        else:
            output = self.module(*inputs, **kwargs)
        if not _core.is_grad_enabled():
            return output
        self.require_forward_param_sync = self.require_backward_grad_sync
        if synchronised:
            searched = self.reducer.find_unused or self.reducer.static
            self.reducer.prepare(_tensors(output) if searched else ())
        else:
            self.reducer.pause()
        return output

    def _announce(self, synchronised: bool) -> None:
        """Inside `Join`, tell processes without inputs what this iteration will do."""
        counted = _notify(self)
        if counted is not None and not self.reducer.by_world:
            self.reducer.divisor = counted
        self._largest(2 if synchronised else 1 if _core.is_grad_enabled() else 0)

    def _largest(self, number: int) -> int:
        """The largest of the numbers that processes state."""
        largest = _core.tensor([number])
        all_reduce(largest, ReduceOp.MAX, self.process_group)
        return int(largest.item())

    def _will_sync_buffers(self) -> bool:
        return (
            self.reducer.world > 1
            and self.forward_sync_buffers
            and self.require_forward_param_sync
            and next(iter(self.module.buffers()), None) is not None
        )

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass begins with the buffers of rank 0.

        >>> rg.distributed.init_process_group("gloo")
        >>> rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1)).will_sync_module_buffers()
        False
        >>> rg.distributed.destroy_process_group()
        """
        return self._will_sync_buffers()

    def _sync_buffers(self) -> None:
        source = 0
        if self._join_config.enable:  # rank 0 may be out of inputs, and its buffers old
            source = self._largest(self.process_group.rank())
        share([buffer for _, buffer in self._named_buffers()], self.process_group, source)

    @contextmanager
    def no_sync(self, balanced: bool = False) -> Iterator[None]:
        """A block in which gradients are added up without being averaged: forward and backward passes belong inside.

        The first backward pass after it averages what was added up.

        Args: `balanced` adds gradients of passes 1 and 2, of 3 and 4, then these sums, and so on, as the deterministic
        mode adds those of processes: 1, 2 or 4 of them that divide the same 4 pieces of a batch get the same bits.
        Until the pass that averages, `.grad` is None.
        """
        if balanced:
            self.reducer.wake()
        before = self.require_backward_grad_sync, self.reducer.balanced
        self.require_backward_grad_sync, self.reducer.balanced = False, balanced
        try:
            yield
        finally:
            self.require_backward_grad_sync, self.reducer.balanced = before

    # ---- options

    def register_comm_hook(self, state: Any, hook: Hook) -> None:
        """Let `hook(state, bucket)` average a bucket, in place of the sum of gradients that were divided.

        Args: the hook gets a `GradBucket` with gradients as they are, and returns a future of the tensor that takes the
        place of its buffer, of the same number of elements.
        Raises: TypeError for what is not callable, ValueError for annotations of other types, RuntimeError for a second
        hook.

        >>> rg.distributed.init_process_group("gloo")
        >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
        >>> hooks = rg.distributed.algorithms.ddp_comm_hooks.default_hooks
        >>> model.register_comm_hook(None, hooks.fp16_compress_hook)
        >>> rg.distributed.destroy_process_group()
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        try:
            stated = inspect.signature(hook).parameters
        except ValueError:
            stated = {}  # type: ignore[assignment]
        if "bucket" in stated:
            annotation = stated["bucket"].annotation
            if annotation not in (inspect.Parameter.empty, GradBucket, "GradBucket", "dist.GradBucket"):
                raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        if self.reducer.begun or self.reducer.finished:
            raise RuntimeError("register_comm_hook must be called before the first backward pass")
        self.reducer.state, self.reducer.hook = state, hook
        self.reducer.wake()

    def _set_static_graph(self) -> None:
        """Turn `static_graph` on, before the first backward pass."""
        if self.static_graph:
            warnings.warn("You've set static_graph to be True, no need to set it again.", stacklevel=2)
            return
        if self.reducer.finished or self.reducer.begun:
            raise RuntimeError(
                "set_static_graph() should be called before training loop starts and after DistributedDataParallel is "
                "constructed."
            )
        self.static_graph = True
        self.reducer.static, self.reducer.find_unused = True, False

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Module, params_and_buffers_to_ignore: Iterable[str]
    ) -> None:
        """Name parameters and buffers of a module that are neither shared nor averaged; before it is wrapped."""
        module._ddp_params_and_buffers_to_ignore = list(params_and_buffers_to_ignore)

    # ---- uneven inputs

    @contextmanager
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Iterator[None]:
        """A block in which processes may have different numbers of batches: `Join` of this module alone.

        Args: `divide_by_initial_world_size` False divides gradients by the number of processes that have batches left.
        """
        options = {"divide_by_initial_world_size": divide_by_initial_world_size}
        with Join([self], enable, throw_on_early_termination, **options):
            yield

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What stands in for this module where inputs have run out."""
        self.reducer.by_world = kwargs.get("divide_by_initial_world_size", True)
        self.reducer.divisor = self.process_group.size()
        return _StandIn(self)

    @property
    def join_device(self) -> Any:
        """The CPU."""
        return self.device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The group of this module."""
        return self.process_group

    # ---- pickles and copies

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not resolved(None):
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, "
                "when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        return {key: value for key, value in self.__dict__.items() if key not in ("process_group", "reducer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = resolved(None)
        self._make_reducer()


class _StandIn(JoinHook):
    """Answers the collectives of an iteration with zeros."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self.model = model

    @no_grad()
    def main_hook(self) -> None:
        model = self.model
        what = model._largest(
            0
        )  # 2 for a pass that averages gradients, 1 for one that records, 0 for one that does not
        if model._will_sync_buffers():
            share([buffer for _, buffer in model._named_buffers()], model.process_group, model._largest(-1))
        if what == 2:
            model.reducer.shadow()
        if what:
            model.require_forward_param_sync = what == 2

    @no_grad()
    def post_hook(self, is_last_joiner: bool) -> None:
        """Every process gets the parameters of one that had the most inputs."""
        model = self.model
        source = model._largest(model.process_group.rank() if is_last_joiner else -1)
        share([*model._shared_parameters(), *(b for _, b in model._named_buffers())], model.process_group, source)
        model.reducer.divisor, model.reducer.by_world = model.process_group.size(), True


def _tensors(output: Any) -> list[Tensor]:
    """The tensors in what a forward pass gave: in containers, dataclasses and attributes of plain objects."""
    found: list[Tensor] = []
    waiting, seen = [output], set()
    while waiting:
        for leaf in tree_leaves(waiting.pop()):
            if isinstance(leaf, Tensor):
                found.append(leaf)
            elif hasattr(leaf, "__dict__") and not isinstance(leaf, type | Module) and id(leaf) not in seen:
                seen.add(id(leaf))
                waiting.extend(vars(leaf).values())
    return found
