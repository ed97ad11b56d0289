"""Decompositions: what has no derivative, what is repeated, and what fails."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg


def noise(*shape: int, dtype: str = "float64", seed: int = 0) -> rg.Tensor:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return rg.tensor(x.astype(dtype)).requires_grad_()


def symmetric(values: list[float]) -> Any:
    """A symmetric matrix with these eigenvalues."""
    q = rg.linalg.qr(noise(len(values), len(values)).detach()).Q
    return (q * rg.tensor(values, dtype=q.dtype)) @ q.mT


@pytest.mark.parametrize("n", [3, 40])
def test_projections_on_the_space_of_a_repeated_eigenvalue_have_a_derivative(n: int) -> None:
    a = symmetric([1.0, 1.0, 2.0, *range(3, n)])
    w = noise(n, n).detach()

    def loss(a: Any) -> Any:
        v = rg.linalg.eigh((a + a.mT) / 2).eigenvectors[:, :2]
        return (w * (v @ v.mT)).sum()

    x = a.clone().requires_grad_()
    (g,) = rg.autograd.grad(loss(x), x)
    d = noise(n, n, seed=1).detach()
    eps = 1e-6
    slope = (loss(a + eps * d) - loss(a - eps * d)).item() / (2 * eps)
    assert abs((g * d).sum().item() - slope) < 1e-6


def test_a_loss_that_separates_repeated_eigenvalues_has_no_derivative() -> None:
    a = rg.eye(3, dtype=rg.float64, requires_grad=True)
    rg.linalg.eigh(a).eigenvectors[0, 1].backward()
    assert not a.grad.isfinite().all()


def test_the_product_of_factors_of_low_rank_has_a_derivative() -> None:
    # The value 0 is repeated, and its vectors are not used.
    b = noise(5, 2).detach() @ noise(2, 4, seed=1).detach()
    for full_matrices in (False, True):
        x = b.clone().requires_grad_()
        u, s, vh = rg.linalg.svd(x, full_matrices=full_matrices)
        best = (u[:, :2] * s[:2]) @ vh[:2]
        (g,) = rg.autograd.grad((best * best).sum(), x)
        assert np.allclose(g.numpy(), 2 * b.numpy())


def test_values_alone_have_a_derivative_where_they_are_repeated() -> None:
    a = rg.eye(3, dtype=rg.float64, requires_grad=True)
    rg.linalg.eigvalsh(a).sum().backward()
    assert np.allclose(a.grad.numpy(), np.eye(3))
    a = rg.eye(3, dtype=rg.float64, requires_grad=True)
    rg.linalg.svdvals(a).sum().backward()
    assert np.allclose(a.grad.numpy(), np.eye(3))


PHASE = r"The eigenvectors in the complex case are specified up to multiplication by e\^\{i phi\}"


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (lambda z: rg.linalg.svd(z).U.real.sum(), r"svd_backward: The singular vectors in the complex case are"),
        (lambda z: rg.linalg.svd(z).Vh.imag.sum(), r"svd_backward: .* makes? ?(it)?|ill-defined"),
        (lambda z: rg.linalg.eigh(z + z.mH).eigenvectors.real.sum(), "linalg_eigh_backward: " + PHASE),
        (lambda z: rg.linalg.eig(z).eigenvectors.real.sum(), "linalg_eig_backward: " + PHASE),
    ],
)
def test_a_loss_that_depends_on_a_phase_is_refused(loss: Callable[..., Any], says: str) -> None:
    z = noise(3, 3, dtype="complex128")
    with pytest.raises(RuntimeError, match=says):
        loss(z).backward()


def test_qr_refuses_derivatives_by_mode_and_shape() -> None:
    x = noise(4, 3)
    with pytest.raises(RuntimeError, match=r"depends on Q, which is not computed when mode='r'"):
        rg.linalg.qr(x, mode="r").R.sum().backward()
    with pytest.raises(RuntimeError, match=r"not differentiable when mode='complete' and nrows > ncols"):
        rg.linalg.qr(x, mode="complete").R.sum().backward()


def test_geqrf_has_no_derivative() -> None:
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        rg.geqrf(noise(3, 3))[0].sum().backward()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [3, 40])
def test_infinities_and_nan_are_refused(value: float, n: int) -> None:
    a = rg.ones(2, n, n)
    a[1, 2, 0] = value
    error = rg.linalg.LinAlgError
    with pytest.raises(error, match=r"linalg.eigh: \(Batch element 1\): The algorithm failed to converge because the"):
        rg.linalg.eigh(a)
    for f in (rg.linalg.svd, rg.linalg.svdvals, rg.linalg.pinv, rg.linalg.cond):
        with pytest.raises(error, match=r"linalg.svd: \(Batch element 1\): The algorithm failed to converge"):
            f(a)
    with pytest.raises(RuntimeError, match="input tensor should not contain infs or NaNs"):
        rg.linalg.eig(a)


def test_least_squares_of_a_matrix_without_full_rank_takes_the_shortest_solution() -> None:
    a = noise(5, 2).detach() @ noise(2, 4, seed=1).detach()
    b = noise(5, 1, seed=2).detach()
    for driver in ("gelsy", "gelsd", "gelss"):
        x, residuals, rank, values = rg.linalg.lstsq(a, b, driver=driver)
        expected = np.zeros(0) if driver == "gelsy" else np.linalg.svd(a.numpy(), compute_uv=False)
        assert np.allclose(values.numpy(), expected)
        assert np.allclose(x.numpy(), np.linalg.pinv(a.numpy(), 1e-9) @ b.numpy())
        assert rank.item() == 2 and residuals.shape == (0,)


def spectrum(m: int, n: int, values: Any, dtype: Any = np.float64) -> Any:
    """A matrix with these singular values."""
    rng = np.random.default_rng(m * 100 + n)
    u, v = (np.linalg.qr(rng.standard_normal((size, len(values))))[0] for size in (m, n))
    return rg.tensor(((u * np.asarray(values)) @ v.T).astype(dtype))


@pytest.mark.parametrize(("m", "n"), [(5, 4), (4, 5), (40, 40), (70, 50)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_and_inverses_change_where_singular_values_say_so(m: int, n: int, dtype: Any) -> None:
    k = min(m, n)
    for smallest in (0.0, 1e-3, 0.0099, 0.0101, 0.02, 0.1):
        a = spectrum(m, n, [1.0] * (k - 1) + [smallest], dtype)
        b = noise(m, 2, seed=3).detach().to(a.dtype)
        expected = np.linalg.pinv(a.numpy().astype(np.float64), 0.01)
        x, _, rank, _ = rg.linalg.lstsq(a, b, rcond=0.01)
        assert rank.item() == (k if smallest > 0.01 else k - 1)
        tolerance = 1e-3 if dtype == np.float32 else 1e-11
        assert np.allclose(x.numpy(), expected @ b.numpy(), atol=tolerance * 100)
        for p in (rg.linalg.pinv(a, rtol=0.01), rg.linalg.pinv(a, atol=0.01), rg.pinverse(a, 0.01)):
            assert np.allclose(p.numpy(), expected, atol=tolerance * 100)


def test_least_squares_under_vmap_look_at_each_matrix() -> None:
    full, poor = spectrum(6, 4, [3.0, 2.0, 1.0, 0.5]), spectrum(6, 4, [3.0, 2.0, 0.0, 0.0])
    a, b = rg.stack([full, poor]), noise(2, 6, 2, seed=4).detach()

    def solve(a: Any, b: Any) -> Any:
        return rg.linalg.lstsq(a, b).solution, rg.linalg.pinv(a)

    for x, y in zip(rg.vmap(solve)(a, b), solve(a, b), strict=True):
        assert np.allclose(x.numpy(), y.numpy(), atol=1e-12)
    # Many small ones go by singular values at once.
    for times in (1, 12):
        many = solve(rg.cat([a] * times), rg.cat([b] * times))
        for i in range(2 * times):
            for x, y in zip(solve(a[i % 2], b[i % 2]), many, strict=True):
                assert np.allclose(x.numpy(), y[i].numpy(), atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_least_squares_of_infinities_and_nan(value: float) -> None:
    a, b = spectrum(5, 3, [3.0, 2.0, 1.0]), rg.ones(5, 2, dtype=rg.float64)
    strange = a.clone()
    strange[2, 1] = value
    for batch, place in ((strange, ""), (rg.stack([a, strange, a]), r": \(Batch element 1\)")):
        with pytest.raises(rg.linalg.LinAlgError, match=f"linalg.svd{place}: The algorithm failed to converge"):
            rg.linalg.lstsq(batch, b.expand(*batch.shape[:-1], 2))
    b[1, 0] = value
    assert not np.isfinite(rg.linalg.lstsq(a, b).solution.numpy()[:, 0]).any()


@pytest.mark.parametrize("shapes", [((0, 3), (0, 2)), ((3, 0), (3, 2)), ((3, 2), (3, 0)), ((0, 4, 3), (0, 4, 2))])
def test_least_squares_of_nothing(shapes: Any) -> None:
    (a, b) = (rg.ones(*shape) for shape in shapes)
    x, _, rank, _ = rg.linalg.lstsq(a, b)
    assert x.shape == (*a.shape[:-2], a.shape[-1], b.shape[-1]) and not x.numpy().any()
    assert rank.shape == a.shape[:-2] and not rank.numpy().any()


@pytest.mark.parametrize(
    ("f", "node"),
    [
        (lambda x: rg.linalg.eigvalsh(x), "LinalgEighBackward0"),
        (lambda x: rg.linalg.eigvals(x), "LinalgEigBackward0"),
        (lambda x: rg.linalg.svdvals(x), "LinalgSvdBackward0"),
        (lambda x: rg.linalg.qr(x).R, "LinalgQrBackward0"),
        (lambda x: rg.linalg.pinv(x), "LinalgPinvBackward0"),
        (lambda x: rg.linalg.lstsq(x, x).solution, "LinalgLstsqBackward0"),
        (lambda x: rg.linalg.householder_product(x, x[0]), "LinalgHouseholderProductBackward0"),
        (lambda x: rg.ormqr(x, x[0], x), "OrmqrBackward0"),
    ],
)
def test_nodes_have_the_names_of_torch(f: Callable[..., Any], node: str) -> None:
    assert f(noise(3, 3)).grad_fn.name() == node


@pytest.mark.parametrize("n", [4, 24, 60])
def test_results_do_not_depend_on_threads_and_batches(n: int) -> None:
    x = noise(9, n, n).detach()
    before = rg.get_num_threads()
    try:
        results = []
        for threads in (1, 4):
            rg.set_num_threads(threads)
            results.append([*rg.linalg.eigh(x + x.mT), *rg.linalg.svd(x), *rg.linalg.qr(x), *rg.linalg.eig(x)])
    finally:
        rg.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 3, 12, 13, 32, 33])
def test_factors_multiply_to_the_matrix_at_every_way_of_computing_them(dtype: str, n: int) -> None:
    for count in (1, 7, 8, 21):
        a = noise(count, n, n, dtype=dtype).detach().numpy()
        a[0] = 0
        a[-1] = np.outer(a[-1][0], a[-1][:, 0])
        x = rg.tensor(a)
        tolerance = n * (1e-5 if dtype == "float32" else 1e-13)
        u, s, vh = (y.numpy() for y in rg.linalg.svd(x))
        assert np.abs((u * s[:, None]) @ vh - a).max() < tolerance
        for q in (u, vh):
            assert np.abs(np.swapaxes(q, 1, 2) @ q - np.eye(n)).max() < tolerance
        assert np.abs(rg.linalg.svdvals(x).numpy() - s).max() < tolerance
        a = a + np.swapaxes(a, 1, 2)
        w, v = (y.numpy() for y in rg.linalg.eigh(rg.tensor(a)))
        assert np.abs((v * w[:, None]) @ np.swapaxes(v, 1, 2) - a).max() < tolerance
        assert np.abs(np.swapaxes(v, 1, 2) @ v - np.eye(n)).max() < tolerance


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("n", [17, 48, 49, 65, 130, 255, 256, 319, 320])
def test_eigenvalues_and_vectors_of_every_size(dtype: str, n: int) -> None:
    z = noise(n, n, dtype=dtype).detach().numpy()
    a = z + z.conj().T
    tolerance = n * (1e-5 if dtype in ("float32", "complex64") else 1e-14)
    w, v = (y.numpy() for y in rg.linalg.eigh(rg.tensor(a)))
    assert np.abs((v * w) @ v.conj().T - a).max() < tolerance
    assert np.abs(v.conj().T @ v - np.eye(n)).max() < tolerance
    want = np.linalg.eigvalsh(a.astype("complex128" if np.iscomplexobj(a) else "float64"))
    assert np.abs(w - want).max() < tolerance
    assert np.abs(rg.linalg.eigvalsh(rg.tensor(a)).numpy() - want).max() < tolerance
    # The other triangle alone.
    upper = rg.linalg.eigvalsh(rg.tensor(np.triu(a)), UPLO="U").numpy()
    assert np.abs(upper - want).max() < tolerance
