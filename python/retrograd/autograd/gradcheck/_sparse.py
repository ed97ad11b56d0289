"""Functions of sparse tensors as functions of dense ones, which `gradcheck` moves element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.serialization._copy import sparse_of, sparse_parts


def without_sparse(
    func: Callable[..., Any], inputs: tuple[Any, ...], masked: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function and its inputs with a dense tensor in place of each sparse one that requires grad.

    `masked`: that is the values of the entries, and the elements that are not given are constants. Otherwise it has all
    elements, and those that are not zero are given.
    """
    twins = {
        i: (_Entries if masked else _All)(x)
        for i, x in enumerate(inputs)
        if isinstance(x, Tensor) and x.layout != _core.strided and x.requires_grad
    }
    if not twins:
        return func, inputs

    def of_dense(*args: Any) -> Any:
        results = func(*(twins[i].sparse(x) if i in twins else x for i, x in enumerate(args)))
        members = results if isinstance(results, tuple | list) else (results,)
        if any(isinstance(o, Tensor) and o.layout != _core.strided for o in members):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output "
                "of fn for gradcheck."
            )
        return results

    return of_dense, tuple(twins[i].dense if i in twins else x for i, x in enumerate(inputs))


class _Entries:
    def __init__(self, x: Tensor) -> None:
        self.facts, (*self.indices, values) = sparse_parts(x.detach())
        self.dense: Tensor = values.clone().requires_grad_()

    def sparse(self, values: Tensor) -> Tensor:
        return sparse_of(self.facts, (*self.indices, values))


class _All:
    def __init__(self, x: Tensor) -> None:
        self.layout, self.axes = x.layout, x.sparse_dim()
        self.dense: Tensor = x.detach().to_dense().requires_grad_()

    def sparse(self, elements: Tensor) -> Tensor:
        if self.layout == _core.sparse_coo and 0 < self.axes < elements.ndim:
            return elements.to_sparse(self.axes)
        return elements.to_sparse(layout=self.layout)
