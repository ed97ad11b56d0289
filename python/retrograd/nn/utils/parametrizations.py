"""Parametrizations of weights: orthogonal matrices, lengths apart from directions, singular values of at most 1."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, TypeVar

from retrograd import _core, linalg
from retrograd._core import Tensor
from retrograd._limits import finfo
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module
from retrograd.nn.utils import parametrize
from retrograd.nn.utils.spectral_norm import output_dim
from retrograd.nn.utils.weight_norm import _weight_norm, norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_M = TypeVar("_M", bound=Module)


def _is_orthogonal(q: Tensor) -> bool:
    rows, columns = q.size(-2), q.size(-1)
    identity = _core.eye(columns, dtype=q.dtype)
    return bool(_core.allclose(q.mH @ q, identity, atol=10.0 * rows * finfo(q.dtype).eps))


def _make_orthogonal(a: Tensor) -> Tensor:
    """The orthogonal factor of a matrix, with the signs that make it the matrix itself where that is orthogonal."""
    reflectors, tau = _core.geqrf(a)
    q = linalg.householder_product(reflectors, tau)
    return q * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    """How a matrix without conditions becomes an orthogonal one."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """An orthogonal matrix, from the lower triangle of one without conditions.

    With `base`, the present matrix is that of a matrix of zeros: what is computed is a step away from it.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = x.size(-2), x.size(-1)
        wide = rows < columns
        tall = x.mT if wide else x
        q = self._reflections(tall) if self.orthogonal_map is _OrthMaps.householder else self._rotation(tall)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _rotation(self, x: Tensor) -> Tensor:
        """The exponential or the Cayley transform of a skew matrix, as many columns of it as `x` has."""
        rows, columns = x.size(-2), x.size(-1)
        x = x.tril()
        if rows != columns:
            x = _core.cat([x, x.new_zeros(rows, rows - columns).expand(*x.shape[:-2], -1, -1)], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            q = _core.matrix_exp(skew)
        else:
            identity = _core.eye(rows, dtype=skew.dtype)
            q = linalg.solve(_core.add(identity, skew, alpha=-0.5), _core.add(identity, skew, alpha=0.5))
        return q[..., :columns] if rows != columns else q

    def _reflections(self, x: Tensor) -> Tensor:
        vectors = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (vectors * vectors).sum(dim=-2))
        q = linalg.householder_product(vectors, tau)
        # The diagonal has the signs of the columns, and gets no gradient.
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        wide = q.size(-2) < q.size(-1)
        tall = q.mT if wide else q
        if hasattr(self, "base"):
            self.base = self._completed(tall)
            start = _core.zeros_like(q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        vectors, tau = _core.geqrf(tall)
        signs = vectors.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        signs[tau == 0.0] *= -1
        return vectors.mT if wide else vectors

    def _completed(self, q: Tensor) -> Tensor:
        """A square orthogonal matrix with these columns, made orthogonal if they are not, in front."""
        rows, columns = q.size(-2), q.size(-1)
        if rows == columns:
            return q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        others = _core.randn((*q.size()[:-2], rows, rows - columns), dtype=q.dtype)
        return _make_orthogonal(_core.cat([q, others], dim=-1))


def orthogonal(
    module: _M, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> _M:
    """Let a matrix, or a batch of them, be orthogonal (unitary if complex): rows if it is wide, or else columns.

    Args: `orthogonal_map` "matrix_exp", "cayley" or "householder"; the default is the first for square or complex
    matrices, and the last for others. `use_trivialization` computes the matrix as a step from the present one, which
    takes more memory and often learns better.
    Raises: ValueError for a name that the module does not have, a vector, or an unknown map.

    >>> module = rg.nn.ParameterDict({"w": rg.randn(3, 2)})
    >>> w = rg.nn.utils.parametrizations.orthogonal(module, "w").w
    >>> rg.allclose(w.T @ w, rg.eye(2), atol=1e-6)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    step = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, step, unsafe=True)


class _WeightNorm(Module):
    """A weight from its length and its direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Let a weight be a length, `original0`, times a direction, `original1`.

    Args: lengths are along `dim`, or there is one for all with None.

    >>> module = rg.nn.utils.parametrizations.weight_norm(rg.nn.ParameterDict({"w": rg.tensor([[3.0, 4.0]])}), "w")
    >>> module.parametrizations.w.original0, module.w
    (Parameter containing:
    tensor([[5.]], requires_grad=True), tensor([[3., 4.]], grad_fn=<MulBackward0>))
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def load_old_names(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(load_old_names)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, whose vectors are found by the power method."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:  # a vector is just normalized
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            height, width = matrix.size()
            u = matrix.new_empty(height).normal_(0, 1)
            v = matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return (weight.movedim(self.dim, 0) if self.dim != 0 else weight).flatten(1)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):  # in the memory of the buffers
            self._u = F.normalize(matrix.mv(self._v), dim=0, eps=self.eps, out=self._u)
            self._v = F.normalize(matrix.H.mv(self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The graph keeps copies, so that the next call may write to the buffers.
        return weight / _core.vdot(self._u.clone(), matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _M:
    """Let a weight be divided by its largest singular value, as a matrix whose rows belong to `dim`.

    Args: in training mode, each use improves the singular vectors by `n_power_iterations` steps; norms are at least
    `eps`; `dim` is the dimension of the outputs, by default 0, or 1 for transposed convolutions.
    Raises: ValueError for a name that the module does not have, or for no step; IndexError for another dimension.

    >>> module = rg.nn.ParameterDict({"w": 3 * rg.eye(2)})
    >>> rg.allclose(rg.nn.utils.parametrizations.spectral_norm(module, "w").w, rg.eye(2))
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    step = _SpectralNorm(weight, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return parametrize.register_parametrization(module, name, step)
