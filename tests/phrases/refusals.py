"""The refusals of the records, as calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from records.bound import Bound
from records.record import OpRecord, Refusal
from records.test_records import RECORDS, operator_of_method


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each refusal by a name of its own, and what is refused."""
    for record in RECORDS:
        for refusal in record.refuses:
            name = f"{record.name}{refusal.sample}" + "_" * refusal.inplace + f" {refusal.dtype}"
            yield name, made(record, refusal)


def made(record: OpRecord, refusal: Refusal) -> Callable[[], object]:
    def run() -> object:
        bound = Bound(record, refusal.sample, refusal.dtype)
        return bound.run(bound.tensors(), call=operator_of_method(record.inplace_method) if refusal.inplace else None)

    return run
