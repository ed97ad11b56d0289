"""Linear algebra: decompositions, solutions, determinants, norms, products and parts of matrices."""

from retrograd._core._linalg import *  # noqa: F403
from retrograd._lazy import TYPE_CHECKING
from retrograd._lazy import submodules as _submodules

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    del TYPE_CHECKING
    __getattr__, __dir__ = _submodules(__name__)


class LinAlgError(RuntimeError):
    """A matrix has no factorization, inverse or solution, or an iteration did not converge.

    The message says which matrix of a batch it is.

    >>> try:
    ...     rg.linalg.cholesky(-rg.eye(2))
    ... except rg.linalg.LinAlgError as error:
    ...     print(str(error)[:57])
    linalg.cholesky: The factorization could not be completed
    """
