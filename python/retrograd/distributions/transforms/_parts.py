"""Transforms of the parts of a dim, each by its own."""

from __future__ import annotations

from collections.abc import Sequence

import retrograd as rg
from retrograd import Tensor
from retrograd.distributions import constraints
from retrograd.distributions.transforms._transform import Transform
from retrograd.distributions.utils import _sum_rightmost, lazy_property


class _PartsTransform(Transform):
    """A transform for each part of dim `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    def _require_dim(self, tensor: Tensor, of: str) -> None:
        if not (-tensor.dim() <= self.dim < tensor.dim()):
            raise AssertionError(f"dim {self.dim} out of range for {of} with {tensor.dim()} dimensions")

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)


class CatTransform(_PartsTransform):
    """Transforms of the parts that `cat` joins, which have the given lengths along `dim`.

    >>> parts = [rg.distributions.ExpTransform(), rg.distributions.identity_transform]
    >>> rg.distributions.CatTransform(parts, lengths=[1, 2])(rg.zeros(3))
    tensor([1., 0., 0.])
    """

    _arguments = ("transforms", "dim", "lengths")

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self) -> int:
        """The largest of the parts."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The length of all parts together."""
        return sum(self.lengths)

    def _slices(self, tensor: Tensor, name: str, of: str) -> list[Tensor]:
        self._require_dim(tensor, of)
        size = tensor.size(self.dim)
        if size != self.length:
            raise AssertionError(f"{name}.size({self.dim}) = {size} must equal length {self.length}")
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [tensor.narrow(self.dim, start, n) for start, n in zip(starts, self.lengths, strict=True)]

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(x, "x", "tensor"), strict=True)
        return rg.cat([t(part) for t, part in parts], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(y, "y", "tensor"), strict=True)
        return rg.cat([t.inv(part) for t, part in parts], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        xs, ys = self._slices(x, "x", "x"), self._slices(y, "y", "y")
        terms = [
            _sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)
            for t, a, b in zip(self.transforms, xs, ys, strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        if dim < 0:
            return rg.cat(terms, dim=dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @constraints.dependent_property
    def domain(self) -> constraints.Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> constraints.Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_PartsTransform):
    """Transforms of the parts that `stack` joins along `dim`.

    >>> parts = [rg.distributions.ExpTransform(), rg.distributions.identity_transform]
    >>> rg.distributions.StackTransform(parts, dim=1)(rg.zeros(2, 2))
    tensor([[1., 0.],
            [1., 0.]])
    """

    _arguments = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _slices(self, tensor: Tensor, name: str, of: str) -> list[Tensor]:
        self._require_dim(tensor, of)
        size = tensor.size(self.dim)
        if size != len(self.transforms):
            raise AssertionError(f"{name}.size({self.dim}) = {size} must equal len(transforms) {len(self.transforms)}")
        return [tensor.select(self.dim, i) for i in range(size)]

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(x, "x", "tensor"), strict=True)
        return rg.stack([t(part) for t, part in parts], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(y, "y", "tensor"), strict=True)
        return rg.stack([t.inv(part) for t, part in parts], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slices(x, "x", "x"), self._slices(y, "y", "y"), strict=True)
        return rg.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> constraints.Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> constraints.Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
