"""Chi-squared: the sum of squares of normal numbers."""

from __future__ import annotations

from retrograd import Tensor
from retrograd.distributions import constraints
from retrograd.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squares of standard normal numbers; `df` may be any positive number.

    >>> rg.distributions.Chi2(rg.tensor([3.0])).mean
    tensor([3.])
    """

    arg_constraints = {"df": constraints.positive}
    _expanded = Gamma._expanded

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2
