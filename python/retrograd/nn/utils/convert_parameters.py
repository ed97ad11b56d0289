"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from retrograd import _core
from retrograd._core import Tensor
from retrograd._queries import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All numbers of the parameters in one vector, one parameter after the other.

    >>> rg.nn.utils.parameters_to_vector([rg.ones(2), rg.zeros(1, 2)])
    tensor([1., 1., 0., 0.])
    """
    return _core.cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters have the numbers of a vector, whose memory they share from then on.

    Raises: TypeError for what is no tensor; RuntimeError for a vector that is too short.

    >>> w = rg.nn.Parameter(rg.zeros(2))
    >>> rg.nn.utils.vector_to_parameters(rg.tensor([1.0, 2.0]), [w])
    >>> w.tolist()
    [1.0, 2.0]
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
