"""Decompositions of single matrices and of many, of sizes beyond those at which another way is taken, against NumPy."""

import numpy as np
import pytest

import retrograd as rg
from numbers_drawn import given, numbers
from numbers_drawn import seeded as seeded


def test_imaginary_parts_on_the_diagonal_of_a_hermitian_matrix_count_for_nothing():
    for n in (1, 5, 20, 60):
        for dtype in (rg.complex64, rg.complex128):
            half = rg.complex(given(numbers(n, n)), given(numbers(n, n)))
            a = (half + half.mH).to(dtype)
            b = a + 1j * rg.diag(given(numbers(n)).to(a.real.dtype)).to(dtype)
            for uplo in ("L", "U"):
                w, v = rg.linalg.eigh(b, UPLO=uplo)
                tol = 1e-4 if dtype == rg.complex64 else 1e-11
                np.testing.assert_allclose((v * w @ v.mH).numpy(), a.numpy(), atol=tol * n)
                np.testing.assert_allclose(rg.linalg.eigvalsh(b, UPLO=uplo).numpy(), w.numpy(), atol=tol * n)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 16, 17])
def test_many_small_matrices_are_factored_as_each_alone(n, dtype):
    """Whole vectors of matrices, some that are left, and those that are too large for vectors."""
    count, rtol = 53, 1e-3 if dtype == "float32" else 1e-9
    a = numbers(count, n, n, dtype=dtype) / np.sqrt(n).astype(dtype) + 3 * np.eye(n, dtype=dtype)
    # Rows are not in the order of their pivots.
    a = np.roll(a, 1 + n // 3, axis=1)
    positive, b = a @ a.swapaxes(1, 2), numbers(count, n, 3, dtype=dtype)
    wide = [m.astype("float64") for m in (a, positive, b)]
    routines = {
        "cholesky": (rg.linalg.cholesky, np.linalg.cholesky(wide[1]), positive),
        "upper": (lambda x: rg.linalg.cholesky(x, upper=True), np.linalg.cholesky(wide[1]).swapaxes(1, 2), positive),
        "inv": (rg.linalg.inv, np.linalg.inv(wide[0]), a),
        "solve": (lambda x: rg.linalg.solve(x, given(b)), np.linalg.solve(wide[0], wide[2]), a),
        "right": (
            lambda x: rg.linalg.solve(x, given(b).mT, left=False),
            np.linalg.solve(wide[0].swapaxes(1, 2), wide[2]).swapaxes(1, 2),
            a,
        ),
        "det": (lambda x: rg.linalg.det(x / 4), np.linalg.det(wide[0] / 4), a),
        "lu": (
            lambda x: rg.lu_unpack(*rg.linalg.lu_factor(x))[0] @ rg.linalg.lu(x)[1] @ rg.linalg.lu(x)[2],
            wide[0],
            a,
        ),
        "chain": (lambda x: rg.cholesky_inverse(rg.linalg.cholesky(x)), np.linalg.inv(wide[1]), positive),
    }
    for name, (routine, want, matrices) in routines.items():
        x = given(matrices).requires_grad_()
        y = routine(x)
        np.testing.assert_allclose(y.detach().numpy(), want, rtol=rtol, atol=rtol, err_msg=name)
        cotangent = given(numbers(*y.shape, dtype=dtype))
        gradient = rg.autograd.grad(y, x, cotangent)[0]
        for i in (0, 15, 16, 31, 47, 48, 52):
            alone = x[i].detach().requires_grad_()
            right = given(b[i])
            one = {
                "solve": lambda x, right=right: rg.linalg.solve(x, right),
                "right": lambda x, right=right: rg.linalg.solve(x, right.mT, left=False),
            }.get(name, routine)(alone)
            near = {"rtol": rtol / 50, "atol": rtol / 50 * max(1.0, float(abs(want).max())), "err_msg": f"{name} {i}"}
            np.testing.assert_allclose(y[i].detach().numpy(), one.detach().numpy(), **near)
            gradient_alone = rg.autograd.grad(one, alone, cotangent[i])[0].numpy()
            scale = max(1.0, float(abs(gradient_alone).max()))
            np.testing.assert_allclose(gradient[i].numpy() / scale, gradient_alone / scale, **near)


def test_one_of_many_small_matrices_that_cannot_be_factored():
    a = np.tile(np.eye(5), (40, 1, 1)) * 2
    a[21, 3, 3] = -1.0
    factors, info = rg.linalg.cholesky_ex(given(a))
    assert info.nonzero().tolist() == [[21]]
    assert info[21].item() == 4
    np.testing.assert_allclose(factors[[0, 20, 22, 39]].numpy(), np.sqrt(a[[0, 20, 22, 39]]))
    with pytest.raises(rg.linalg.LinAlgError, match=r"Batch element 21"):
        rg.linalg.cholesky(given(a))
    a[33, :, 2] = 0.0
    assert rg.linalg.inv_ex(given(a)).info.nonzero().tolist() == [[33]]
    assert rg.linalg.solve_ex(given(a), given(a)).info[33].item() == 3


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-3)])
@pytest.mark.parametrize("n", [1, 2, 7, 16, 17])
def test_gradients_of_cholesky_of_many_small_matrices(n, dtype, rtol, upper):
    """By Murray's formula, `L^-T phi(L^T G) L^-1` made symmetric, with half of the diagonal in `phi`."""
    half = numbers(21, n, n, dtype=dtype) / np.sqrt(n).astype(dtype)
    a, g = half @ half.swapaxes(1, 2) + np.eye(n, dtype=dtype), numbers(21, n, n, dtype=dtype)
    x = given(a).requires_grad_()
    got = rg.autograd.grad(rg.linalg.cholesky(x, upper=upper), x, given(g))[0].numpy()
    lower = np.linalg.cholesky(a.astype("float64"))
    wide = g.astype("float64").swapaxes(1, 2) if upper else g.astype("float64")
    phi = np.tril(lower.swapaxes(1, 2) @ wide)
    phi[:, range(n), range(n)] /= 2
    inverse = np.linalg.inv(lower)
    whole = inverse.swapaxes(1, 2) @ phi @ inverse
    want = (whole + whole.swapaxes(1, 2)) / 2
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * abs(want).max())


def near_values(got, want, near):
    """Each value of one list has one of its own in the other that is as near as that."""
    left = list(want)
    for x in got:
        at = int(np.argmin(np.abs(np.asarray(left) - x)))
        assert abs(left[at] - x) <= near, f"{x} for {left[at]}"
        left.pop(at)
    assert not left


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    "sizes", [(1, 1), (3, 3), (5, 4), (4, 9), (13, 13), (17, 16), (16, 40), (33, 33), (64, 65), (130, 60), (100, 100)]
)
def test_singular_values_without_vectors(sizes, kind):
    parts = numbers(2, *sizes)
    a = (parts[0] + 1j * parts[1] if kind.startswith("complex") else parts[0]).astype(kind)
    # The values fall off, and some are equal.
    a *= np.linspace(1.0, 1e-3, sizes[1], dtype=parts.dtype).astype(a.real.dtype)
    want = np.linalg.svd(a.astype("complex128" if np.iscomplexobj(a) else "float64"), compute_uv=False)
    near = 10 * np.finfo(a.real.dtype).eps * np.sqrt(max(sizes)) * want[0]
    for x in (given(a), given(a.T).mT):
        got = rg.linalg.svdvals(x)
        np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=near)
    for value in (0.0, 1.0):
        # Of rank one.
        got = rg.linalg.svdvals(rg.full(sizes, value, dtype=x.dtype)).numpy()
        size = value * np.sqrt(sizes[0] * sizes[1])
        np.testing.assert_allclose(got, [size] + [0.0] * (min(sizes) - 1), atol=near + 1e-5 * size)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 16, 31, 64, 101])
def test_eigenvalues_without_vectors(n, dtype, near):
    a = numbers(n, n, dtype=dtype)
    want = np.linalg.eigvals(a.astype("float64"))
    values = rg.linalg.eigvals(given(a)).numpy()
    near_values(values, want, near * n)
    # Pairs of conjugates, the one above the real axis first.
    complex_ones = values[values.imag != 0]
    assert (complex_ones[::2].imag > 0).all()
    assert (complex_ones[::2] == complex_ones[1::2].conj()).all()
    near_values(rg.linalg.eigvals(given(np.triu(a))).numpy(), np.diag(a), near)
    if n > 1:
        cycle = np.roll(np.eye(n, dtype=dtype), 1, axis=0)
        near_values(rg.linalg.eigvals(given(cycle)).numpy(), np.exp(2j * np.pi * np.arange(n) / n), near)


def check_eigenvectors(a, near):
    """`a` in double precision, and what belongs to it in its own."""
    w, v = (t.numpy().astype("complex128") for t in rg.linalg.eig(given(a)))
    a = a.astype("float64")
    np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=0, atol=near * abs(w).max())
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=near)
    # Of a pair, the second is the conjugate of the first; one of the largest numbers of each vector is real.
    second = np.roll(w.imag > 0, 1, axis=-1)
    np.testing.assert_array_equal(w[second], np.roll(w, 1, axis=-1)[second].conj())
    sizes = abs(v)
    assert ((abs(v.imag) <= 1e-7) & (sizes >= 0.99999 * sizes.max(-2, keepdims=True))).any(-2).all()
    return w


@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-5), ("float64", 1e-13)])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 65, 101, 130, 257])
def test_eigenvectors_of_real_matrices(n, dtype, near):
    a = numbers(*((3, n, n) if n < 20 else (n, n)), dtype=dtype)
    w = check_eigenvectors(a, near * max(n, 8))
    # Each alone is what it is among others.
    for alone, among in zip(np.atleast_3d(a).reshape(-1, n, n)[:2], w.reshape(-1, n)[:2], strict=False):
        near_values(rg.linalg.eig(given(alone))[0].numpy(), among, near * max(n, 8))
        near_values(rg.linalg.eigvals(given(alone)).numpy(), among, 10 * near * max(n, 8))
    check_eigenvectors(np.triu(a), near * n)
    check_eigenvectors(a + a.swapaxes(-1, -2), near * max(n, 8))
    # Sizes that fall from row to row and from column to column.
    check_eigenvectors(a * np.logspace(0, -4, n)[:, None].astype(dtype) * np.logspace(0, -4, n).astype(dtype), near * 8)
    cycle = np.roll(np.eye(n, dtype=dtype), 1, axis=0)
    check_eigenvectors(cycle, near * n)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [6, 40, 90])
def test_eigenvectors_of_repeated_eigenvalues(n, dtype):
    # A basis of eigenvectors is missing: each is near the first, or the first two.
    for value in (1.0, 1e-20):
        check_eigenvectors(np.diag(np.full(n, value)) + np.diag(np.ones(n - 1), 1), 1e-12 / value**0.5)
    turns = np.kron(np.eye(n // 2), [[0.5, -2.0], [2.0, 0.5]]) + np.diag(np.ones(n - 2), 2)
    near = 1e-6 if dtype == "float32" else 1e-13
    check_eigenvectors(turns.astype(dtype), near)
    # A real eigenvalue that is the real part of the others.
    beside = np.pad(np.triu(turns, -1), ((0, 1), (0, 1)), constant_values=1.0)
    beside[-1] = np.eye(n + 1)[-1] * 0.5
    check_eigenvectors(beside.astype(dtype), near)


@pytest.mark.parametrize("n", [799, 805])
def test_eigenvectors_of_large_matrices(n):
    check_eigenvectors(numbers(n, n), 1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 12, 16, 20])
def test_few_and_many_small_matrices_are_decomposed_as_each_alone(n, dtype):
    """Groups of matrices, fewer than make a group, and what is left of a group."""
    near = 50 * np.finfo(dtype).eps * np.sqrt(n)
    for count in (1, 3, 4, 5, 7, 8, 17):
        a = numbers(count, n, n, dtype=dtype)
        symmetric = a + a.swapaxes(1, 2)
        wide = symmetric.astype("float64")
        want = np.linalg.eigvalsh(wide)
        scale = 1 + abs(want).max()
        w, v = rg.linalg.eigh(given(symmetric))
        np.testing.assert_allclose(w.numpy(), want, rtol=0, atol=near * scale)
        np.testing.assert_allclose(rg.linalg.eigvalsh(given(symmetric)).numpy(), want, rtol=0, atol=near * scale)
        back = (v * w.unsqueeze(-2)) @ v.mT
        np.testing.assert_allclose(back.numpy(), wide, rtol=0, atol=near * scale)
        want = np.linalg.svd(a.astype("float64"), compute_uv=False)
        u, s, vh = rg.linalg.svd(given(a))
        np.testing.assert_allclose(s.numpy(), want, rtol=0, atol=near * scale)
        np.testing.assert_allclose(rg.linalg.svdvals(given(a)).numpy(), want, rtol=0, atol=near * scale)
        np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ vh).numpy(), a, rtol=0, atol=near * scale)


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [3, 20, 60, 330])
def test_spectra_of_matrices_whose_squares_overflow_or_vanish(n, kind):
    base = numbers(2, 5, n, n) if n < 20 else numbers(2, 1, n, n)
    base = base[0] + 1j * base[1] if kind.startswith("complex") else base[0]
    hermitian = base + base.conj().swapaxes(1, 2)
    near = 50 * n * np.finfo(kind).eps
    values, symmetric = np.linalg.svd(base, compute_uv=False), np.linalg.eigvalsh(hermitian)
    least = [1e-30, 1e-15, 1e15, 1e33] if np.finfo(kind).bits == 32 else [1e-250, 1e-150, 1e150, 1e250]
    wide = "complex128" if np.iscomplexobj(base) else "float64"

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=0, atol=near * abs(want).max())

    for size in least[:: 3 if n > 100 else 1]:
        x, y = given((base * size).astype(kind)), given((hermitian * size).astype(kind))

        def back(t, size=size):
            return t.numpy().astype(wide if np.iscomplexobj(t.numpy()) else "float64") / size

        close(back(rg.linalg.svdvals(x)), values)
        close(back(rg.linalg.eigvalsh(y)), symmetric)
        w, v = rg.linalg.eigh(y)
        vectors = v.numpy().astype(wide)
        close((vectors * back(w)[:, None]) @ vectors.conj().swapaxes(1, 2), hermitian)
        if n > 100:
            continue
        u, s, vh = rg.linalg.svd(x)
        close((u.numpy().astype(wide) * back(s)[:, None]) @ vh.numpy().astype(wide), base)
        w, v = (t.numpy().astype("complex128") for t in rg.linalg.eig(x))
        np.testing.assert_allclose(base @ v, v * (w / size)[:, None], rtol=0, atol=10 * near * abs(w / size).max())
        for got, whole in zip(rg.linalg.eigvals(x).numpy().astype("complex128"), w, strict=True):
            near_values(got / size, whole / size, 1e3 * near * abs(w / size).max())
