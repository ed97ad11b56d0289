"""Factorizations and solutions of matrices of 1 to 66 rows, at every size: pivots by the book, and products."""

import numpy as np
import pytest

SIZES = [*range(1, 36), 40, 63, 64, 65, 66]


def eliminated(a):
    """LU and pivots of a matrix, by elimination: the first of the largest is the pivot."""
    a, (m, n) = a.copy(), a.shape
    pivots = []
    for k in range(min(m, n)):
        row = k + int(np.argmax(np.abs(a[k:, k])))
        pivots.append(row + 1)
        a[[k, row]] = a[[row, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots


def with_equal_numbers(random, m, n):
    """A matrix whose elimination is exact, with many equal numbers in each column: of powers of two and zeros."""
    k = min(m, n)
    lower = np.tril(random.choice([-1.0, 1.0, 0.5, 0.0], (m, k)), -1) + np.eye(m, k)
    upper = np.triu(random.choice([-1.0, 1.0, 2.0], (k, n)))
    return lower[random.permutation(m)] @ upper


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_equal_numbers_the_first_is_the_pivot(rg, dtype):
    random = np.random.default_rng(3)
    total = 0
    for n in SIZES:
        for shape in ((n, n), (n, 3), (5, n)):
            a = with_equal_numbers(random, *shape)
            pivots = rg.linalg.lu_factor_ex(rg.tensor(a, dtype=getattr(rg, dtype)))[1]
            want, wanted = eliminated(a)
            # Up to the first quotient that is rounded both take the same rows.
            exact = [k for k in range(len(wanted)) if np.all(want[:, : k + 1] * 8 % 1 == 0)]
            assert pivots.tolist()[: len(exact)] == wanted[: len(exact)], shape
            total += len(exact)
    assert total > 4 * len(SIZES)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 2e-3), ("float64", 1e-10), ("complex128", 1e-10)])
def test_factors_and_solutions_multiply_to_what_was_given(rg, dtype, limit):
    random = np.random.default_rng(4)
    for n in SIZES:
        a = random.standard_normal((2, n, n)) + (1j * random.standard_normal((2, n, n)) if "complex" in dtype else 0)
        x = rg.tensor(a, dtype=getattr(rg, dtype))
        p, lower, upper = rg.linalg.lu(x)
        np.testing.assert_allclose((p @ lower @ upper).numpy(), a, atol=limit)
        for columns in (1, 7, n, 70):
            b = random.standard_normal((2, n, columns))
            given = rg.tensor(b, dtype=x.dtype)
            for upwards in (False, True):
                triangle = (x.triu() if upwards else x.tril()) + n * rg.eye(n, dtype=x.dtype)
                for left in (False, True):
                    right = given if left else given.transpose(-1, -2)
                    for rows in (right, right.contiguous()):
                        got = rg.linalg.solve_triangular(triangle, rows, upper=upwards, left=left)
                        product = triangle @ got if left else got @ triangle
                        np.testing.assert_allclose(product.numpy(), rows.numpy(), atol=limit)
            well = x + 2 * n * rg.eye(n, dtype=x.dtype)
            np.testing.assert_allclose((well @ rg.linalg.solve(well, given)).numpy(), b, atol=limit)


def test_rows_that_were_pivots_stay_finite(rg):
    """An infinity of a row changes nothing in the rows above it, which are done."""
    for n in (3, 8, 17, 33, 64):
        a = np.eye(n) + np.tri(n) * 0.5
        a[1, n - 1] = np.inf
        lu = rg.linalg.lu_factor_ex(rg.tensor(a))[0].numpy()
        assert lu[0, n - 1] == 0 and lu[1, n - 1] == np.inf and np.isfinite(lu[:, : n - 1]).all()
