"""Messages from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd._core import Tensor
from retrograd.distributed._calls import Group, _check_tensor, _entered, _root
from retrograd.distributed._collectives import Collectives
from retrograd.distributed._groups import resolved
from retrograd.distributed._work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _check_self(rank: int, role: str, group: Group) -> None:
    if resolved(group).rank() == rank:
        raise ValueError(f"Invalid {role} rank: {role} rank should not be the same as the rank of the current process.")


def _check_peer(rank: int, role: str, backend: Collectives) -> None:
    if backend.size > 1 and not 0 <= rank < backend.size:
        raise ValueError(f"Invalid {role} rank: {rank}; the group has {backend.size} process(es)")


def _check_tag(tag: int) -> None:
    if not 0 <= tag <= 32767:
        raise ValueError(f"Invalid tag {tag}: MPI takes tags from 0 to 32767")


def send(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Send a tensor to the process `dst`, or to number `group_dst` of the group; return when it may change.

    The other calls `recv` or `irecv` with as many elements of the dtype, and the same `tag`, from 0 to 32767.
    Raises: ValueError for this process; NotImplementedError if there is no other.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.send(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: send has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    work = _send("send", tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def isend(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """`send` that returns a handle at once: wait for it before the tensor is changed.

    Raises: NotImplementedError if there is no other process.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.isend(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: isend has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    work = _send("isend", tensor, dst, group, tag, group_dst)
    if work is not None:
        work._unattended()
    return work


def _send(name: str, tensor: Tensor, dst: int | None, group: Group, tag: int, group_dst: int | None) -> Work | None:
    if (backend := _entered(name, group)) is None:
        return None
    _check_tensor(tensor, "tensor")
    _check_tag(tag)
    if backend.size == 1 and name == "isend":
        return backend.send(tensor, 0, tag, name)
    target = _root(group, dst, group_dst)
    _check_self(target, "destination", group)
    _check_peer(target, "destination", backend)
    return backend.send(tensor, target, tag, name)


def recv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Write into a tensor what the process `src`, or number `group_src` of the group, sends; any, if neither is given.

    Returns: the rank of the process that sent it, -1 outside of the group.
    Raises: ValueError for this process; NotImplementedError if there is no other; DistBackendError if the message has
    another size.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.recv(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: recv has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    work = _receive("recv", tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


def irecv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """`recv` that returns a handle at once: wait for it before the tensor is read. Its `source_rank` says who sent.

    Raises: NotImplementedError if there is no other process.

    >>> rg.distributed.init_process_group("gloo")
    >>> try:
    ...     rg.distributed.irecv(rg.ones(2), 1)
    ... except NotImplementedError as error:
    ...     print(error)
    more than one process is not there: irecv has no other process to talk to
    >>> rg.distributed.destroy_process_group()
    """
    work = _receive("irecv", tensor, src, group, tag, group_src)
    if work is not None:
        work._unattended()
    return work


def _receive(name: str, tensor: Tensor, src: int | None, group: Group, tag: int, group_src: int | None) -> Work | None:
    if (backend := _entered(name, group)) is None:
        return None
    _check_tensor(tensor, "tensor")
    _check_tag(tag)
    source = None if src is None and group_src is None else _root(group, src, group_src)
    if source is not None and (name == "recv" or backend.size > 1):
        _check_self(source, "source", group)
        _check_peer(source, "source", backend)
    work = backend.receive(tensor, source, tag, name)
    if work is not None:
        work._tensors = [tensor]
    return work


class P2POp:
    """A message for `batch_isend_irecv`: `isend` or `irecv`, a tensor, and the other process.

    Raises: ValueError for another function.

    >>> try:
    ...     rg.distributed.P2POp(rg.distributed.all_reduce, rg.ones(1), 1)
    ... except ValueError as error:
    ...     print(str(error)[:14])
    Invalid ``op``
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Group = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.group_peer = _root(group, peer, group_peer)
        ranks = resolved(group)._ranks
        self.peer = ranks[self.group_peer] if 0 <= self.group_peer < len(ranks) else peer

    def __repr__(self) -> str:
        kind = "isend" if self.op is isend else "irecv"
        return f"P2POp({kind} peer={self.peer}, {tuple(self.tensor.shape)}, {self.tensor.dtype})"


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages, and return a handle of each: no order of them among processes can make these wait.

    Raises: ValueError for anything but a list of `P2POp` of one group that is not empty.

    >>> try:
    ...     rg.distributed.batch_isend_irecv([])
    ... except ValueError as error:
    ...     print(str(error)[:23])
    Invalid ``p2p_op_list``
    """
    given: Any = p2p_op_list
    if not isinstance(given, list) or not given or not all(isinstance(op, P2POp) for op in given):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to be of type ``torch.distributed.P2POp``.")
    if any(op.group is not p2p_op_list[0].group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    begun = [
        op.op(op.tensor, group=op.group, tag=op.tag, group_dst=op.group_peer)
        if op.op is isend
        else op.op(op.tensor, group=op.group, tag=op.tag, group_src=op.group_peer)
        for op in p2p_op_list
    ]
    return [work for work in begun if work is not None]
