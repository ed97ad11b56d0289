"""Tables of vectors, from which rows are taken."""

from __future__ import annotations

from typing import Self

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import functional as F
from retrograd.nn import init
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import new_parameter, parameter_of
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """What both layers share: the table, and the row that stands for padding."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Parameter

    def _row_of_padding(self, index: int | None, name: str) -> int | None:
        if index is None:
            return None
        if not -self.num_embeddings <= index < max(self.num_embeddings, 1):
            raise AssertionError(f"{name} must be within num_embeddings")
        return index + self.num_embeddings if index < 0 else index

    def _make_weight(self, given: Tensor | None, requires_grad: bool, device: _device_t, dtype: _dtype_t) -> None:
        size = (self.num_embeddings, self.embedding_dim)
        if given is not None and given.shape != size:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        if given is None:
            self.weight = new_parameter(size, device, dtype).requires_grad_(requires_grad)
            self.reset_parameters()
        else:
            self.weight = Parameter(given, requires_grad)

    def reset_parameters(self) -> None:
        """Draw the rows anew, and set that of padding to zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """The rows of a table that an input of integers names.

    Args: `num_embeddings` and `embedding_dim` the size of the table; `padding_idx` a row that is zero at first, and has
    no gradient; `max_norm` the length to which rows that are used are shortened, in place, in the norm `norm_type`;
    `scale_grad_by_freq` whether gradients are divided by how often a row is used; `sparse` whether they are sparse.
    Parameters: `weight` (num_embeddings, embedding_dim), normals at first.
    Raises: AssertionError if `padding_idx` is no row.

    >>> rg.nn.Embedding(10, 3)(rg.tensor([[1, 2], [4, 9]])).shape
    retrograd.Size([2, 2, 3])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    ]

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = self._row_of_padding(padding_idx, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, not _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            parameter_of(self, "weight"),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [
            f"{self.num_embeddings}, {self.embedding_dim}",
            f"padding_idx={self.padding_idx}" if self.padding_idx is not None else "",
            f"max_norm={self.max_norm}" if self.max_norm is not None else "",
            f"norm_type={self.norm_type}" if self.norm_type != 2 else "",
            f"scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq is not False else "",
            "sparse=True" if self.sparse is not False else "",
        ]
        return ", ".join(filter(None, parts))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A layer whose table is the matrix `embeddings`, which is trained if `freeze` is false.

        Args: the others as of `Embedding`. Raises: AssertionError if `embeddings` is no matrix.

        >>> rg.nn.Embedding.from_pretrained(rg.eye(3))(rg.tensor(1))
        tensor([0., 1., 0.])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of a table, over bags of integers.

    Args: as of `Embedding`; `mode` "sum", "mean" or "max"; `include_last_offset` whether offsets end with the end of
    the last bag. A call has bags of one size (N, B), or all bags in one dimension and the `offsets` where they begin;
    `per_sample_weights` multiply the rows of a sum.
    Parameters: `weight` (num_embeddings, embedding_dim), normals at first.
    Raises: AssertionError if `padding_idx` is no row.

    >>> bag = rg.nn.EmbeddingBag.from_pretrained(rg.eye(3), mode="sum")
    >>> bag(rg.tensor([0, 1, 1]), rg.tensor([0, 1]))
    tensor([[1., 0., 0.],
            [0., 2., 0.]])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    ]
    mode: str
    include_last_offset: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = self._row_of_padding(padding_idx, "padding_idx")
        self._make_weight(_weight, True, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            parameter_of(self, "weight"),
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [
            f"{self.num_embeddings!r}, {self.embedding_dim!r}",
            f"max_norm={self.max_norm!r}" if self.max_norm is not None else "",
            f"norm_type={self.norm_type!r}" if self.norm_type != 2 else "",
            f"scale_grad_by_freq={self.scale_grad_by_freq!r}" if self.scale_grad_by_freq is not False else "",
            f"mode={self.mode!r}",
            f"padding_idx={self.padding_idx!r}" if self.padding_idx is not None else "",
        ]
        return ", ".join(filter(None, parts))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """A layer whose table is the matrix `embeddings`, which is trained if `freeze` is false.

        Args: the others as of `EmbeddingBag`. Raises: AssertionError if `embeddings` is no matrix.

        >>> rg.nn.EmbeddingBag.from_pretrained(rg.eye(2))(rg.tensor([[0, 1]]))
        tensor([[0.5000, 0.5000]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        bag = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag
