"""Linear algebra: decompositions, solutions, determinants, norms, products and parts of matrices."""

from retrograd._core._linalg import *  # noqa: F403


class LinAlgError(RuntimeError):
    """A matrix has no factorization, inverse or solution, or an iteration did not converge.

    The message says which matrix of a batch it is.

    >>> try:
    ...     rg.linalg.cholesky(-rg.eye(2))
    ... except rg.linalg.LinAlgError as error:
    ...     print(str(error)[:57])
    linalg.cholesky: The factorization could not be completed
    """
