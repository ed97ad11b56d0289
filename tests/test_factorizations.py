"""Factorizations, solutions, inverses and determinants: what their records do not say."""

import numpy as np
import pytest

import retrograd as rg

linalg = rg.linalg
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: linalg.cholesky(rg.tensor([[[1.0, 0.0], [0.0, 1.0]], INDEFINITE])),
            "linalg.cholesky: (Batch element 1): The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 2 is not positive-definite).",
        ),
        (
            lambda: rg.tensor(INDEFINITE).cholesky(),
            "cholesky: The factorization could not be completed because the input is not positive-definite "
            "(the leading "
            "minor of order 2 is not positive-definite).",
        ),
        (
            lambda: linalg.cholesky_ex(rg.zeros(2, 2), check_errors=True),
            "linalg.cholesky_ex: The factorization could not be completed because the input is not "
            "positive-definite (the "
            "leading minor of order 1 is not positive-definite).",
        ),
        (
            lambda: linalg.inv(rg.diag(rg.tensor([1.0, 1.0, 0.0]))),
            "linalg.inv: The diagonal element 3 is zero, the inversion could not be completed because the "
            "input matrix is "
            "singular.",
        ),
        (
            lambda: rg.tensor(SINGULAR).inverse(),
            "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the "
            "input matrix is "
            "singular.",
        ),
        (
            lambda: linalg.matrix_power(rg.zeros(2, 2), -1),
            "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the "
            "input matrix is "
            "singular.",
        ),
        (
            lambda: linalg.solve(rg.stack([rg.eye(2), rg.zeros(2, 2)]), rg.eye(2)),
            "torch.linalg.solve: (Batch element 1): The solver failed because the input matrix is singular.",
        ),
        (
            lambda: rg.cholesky_inverse(rg.zeros(2, 2)),
            "cholesky_inverse: The diagonal element 1 is zero, the inversion could not be completed because the input "
            "matrix is singular.",
        ),
    ],
)
def test_a_matrix_without_result_is_a_linalg_error_in_torchs_words(call, says):
    with pytest.raises(linalg.LinAlgError) as caught:
        call()
    assert says in str(caught.value)
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_a_zero_in_u_is_a_runtime_error():
    with pytest.raises(
        RuntimeError, match=r"torch.linalg.lu_factor: U\[1,1\] is zero and using it on lu_solve"
    ) as caught:
        linalg.lu_factor(rg.zeros(2, 2))
    assert not isinstance(caught.value, linalg.LinAlgError)


def test_what_ex_returns_says_which_matrix_failed():
    a = rg.tensor([[[4.0, 0.0], [0.0, 9.0]], INDEFINITE])
    assert linalg.cholesky_ex(a).info.tolist() == [0, 2]
    assert linalg.inv_ex(rg.tensor([SINGULAR, INDEFINITE])).info.tolist() == [2, 0]
    assert linalg.lu_factor_ex(rg.zeros(2, 3)).info.item() == 1
    assert linalg.ldl_factor_ex(rg.zeros(2, 2)).info.item() == 1
    assert linalg.cholesky_ex(a).info.dtype == rg.int32


def test_under_vmap_an_error_names_the_entry():
    batch = rg.stack([rg.eye(2), rg.tensor(INDEFINITE)])
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\)"):
        rg.vmap(linalg.cholesky)(batch)


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda a: linalg.cholesky(a), "LinalgCholeskyExBackward0"),
        (lambda a: rg.cholesky(a), "CholeskyBackward0"),
        (lambda a: linalg.solve(a, rg.ones(2)), "LinalgSolveExBackward0"),
        (lambda a: linalg.inv(a), "LinalgInvExBackward0"),
        (lambda a: linalg.det(a), "LinalgDetBackward0"),
        (lambda a: linalg.slogdet(a)[1], "LinalgSlogdetBackward0"),
        (lambda a: linalg.lu(a)[2], "LinalgLuBackward0"),
        (lambda a: linalg.lu_factor(a)[0], "LinalgLuFactorExBackward0"),
        (lambda a: rg.lu_unpack(*linalg.lu_factor(a))[1], "LuUnpackBackward0"),
        (lambda a: linalg.lu_solve(*linalg.lu_factor(a), rg.eye(2)), "LinalgLuSolveBackward0"),
        (lambda a: linalg.solve_triangular(a, rg.eye(2), upper=True), "LinalgSolveTriangularBackward0"),
        (lambda a: rg.triangular_solve(rg.eye(2), a)[0], "TriangularSolveBackward0"),
        (lambda a: rg.cholesky_solve(rg.eye(2), a), "CholeskySolveBackward0"),
        (lambda a: rg.cholesky_inverse(a), "CholeskyInverseBackward0"),
        (lambda a: rg.logdet(a), "WhereBackward0"),
    ],
)
def test_nodes_have_torchs_names(call, node):
    y = call(rg.tensor([[2.0, 0.5], [0.5, 3.0]], requires_grad=True))
    assert y.grad_fn.name() == node
    y.sum().backward()


def test_the_permutation_has_no_gradient():
    assert not linalg.lu(rg.eye(2, requires_grad=True))[0].requires_grad


def test_methods_are_the_functions():
    a = rg.tensor([[2.0, 0.5], [0.5, 3.0]])
    assert rg.equal(a.cholesky(), linalg.cholesky(a)) and rg.equal(a.inverse(), linalg.inv(a))
    assert rg.equal(a.det(), linalg.det(a)) and rg.equal(a.logdet(), a.slogdet().logabsdet)
    factors, pivots = a.lu()
    assert rg.equal(rg.eye(2).lu_solve(factors, pivots), linalg.inv(a))
    assert rg.equal(rg.eye(2).cholesky_solve(a.cholesky()), a.cholesky().cholesky_inverse())
    assert rg.equal(rg.eye(2).triangular_solve(a).solution, linalg.solve_triangular(a, rg.eye(2), upper=True))
    assert a.lu(get_infos=True).info.item() == 0


def test_determinants_of_singular_matrices_have_the_cofactors_as_gradients():
    a = rg.tensor(SINGULAR, dtype=rg.float64, requires_grad=True)
    (g,) = rg.autograd.grad(linalg.det(a), a, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)
    (again,) = rg.autograd.grad(g[0, 0], a)
    np.testing.assert_allclose(again.numpy(), [[0.0, 0.0], [0.0, 1.0]], atol=1e-6)
    (plain,) = rg.autograd.grad(linalg.det(a), a)
    np.testing.assert_allclose(plain.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)
    three = rg.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]], dtype=rg.float64, requires_grad=True)
    (g,) = rg.autograd.grad(linalg.det(three), three)
    np.testing.assert_allclose(g.numpy(), [[-2.0, -2.0, 2.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]], atol=1e-12)


def test_a_negative_determinant_has_no_logarithm():
    assert rg.logdet(-rg.eye(3)).isnan().item() and rg.logdet(rg.zeros(2, 2)).item() == -np.inf
    assert linalg.slogdet(rg.zeros(2, 2))[0].item() == 0.0


def test_ldl_is_lapacks():
    a = rg.tensor([[4.0, 1.0, 2.0], [1.0, 3.0, 5.0], [2.0, 5.0, 6.0]], dtype=rg.float64)
    factors, pivots = linalg.ldl_factor(a)
    assert pivots.tolist() == [1, 3, 3]
    np.testing.assert_allclose(factors.numpy(), [[4.0, 0.0, 0.0], [0.25, 5.0, 0.0], [0.5, 0.9, -1.3]], atol=1e-15)
    assert linalg.ldl_factor(rg.tensor([[0.0, 2.0], [2.0, 0.0]])).pivots.tolist() == [-2, -2]


@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_of_complex_matrices(hermitian):
    rng = np.random.default_rng(3)
    a = rng.standard_normal((2, 9, 9)) + 1j * rng.standard_normal((2, 9, 9))
    a = a + (np.swapaxes(a.conj(), -1, -2) if hermitian else np.swapaxes(a, -1, -2))
    b = rng.standard_normal((2, 9, 3)) + 0j
    factors = linalg.ldl_factor(rg.tensor(a), hermitian=hermitian)
    x = linalg.ldl_solve(*factors, rg.tensor(b), hermitian=hermitian).numpy()
    np.testing.assert_allclose(a @ x, b, atol=1e-10)


def test_ldl_has_no_derivative():
    factors, _ = linalg.ldl_factor(rg.eye(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        factors.sum().backward()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: linalg.lu(rg.eye(2), pivot=False), "LU without pivoting is not implemented on the CPU"),
        (lambda: linalg.inv(rg.eye(2).half()), "linalg.inv: Low precision dtypes not supported. Got Half"),
        (lambda: linalg.det(rg.eye(2).half()), "\"lu_cpu\" not implemented for 'Half'"),
        (lambda: linalg.cholesky(rg.eye(2).half()), "\"cholesky_cpu\" not implemented for 'Half'"),
        (
            lambda: linalg.solve(rg.ones(2, 2).int(), rg.ones(2).int()),
            "Expected a floating point or complex tensor as input",
        ),
        (lambda: rg.lu_unpack(rg.eye(2), rg.tensor([5, 1], dtype=rg.int32)), "must be between 1 and LU.size"),
        (lambda: linalg.ldl_solve(rg.eye(2), rg.tensor([-1, 2]), rg.eye(2)), "the pivots must be rows"),
    ],
)
def test_refusals(call, says):
    with pytest.raises((RuntimeError, ValueError, NotImplementedError)) as caught:
        call()
    assert says in str(caught.value)


@pytest.mark.parametrize("n", [3, 40, 130])
def test_bits_do_not_depend_on_the_number_of_threads(n):
    rng = np.random.default_rng(0)
    a = rg.tensor(rng.standard_normal((5, n, n)) + 3 * np.sqrt(n) * np.eye(n))
    threads = rg.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            rg.set_num_threads(count)
            lower = linalg.cholesky(a @ a.mT)
            results.append([linalg.inv(a), linalg.lu_factor(a)[0], lower, linalg.solve(a, lower), linalg.det(a)])
    finally:
        rg.set_num_threads(threads)
    for others in results[1:]:
        for x, y in zip(results[0], others, strict=True):
            assert x.numpy().tobytes() == y.numpy().tobytes()


def test_expanded_matrices_are_read_as_they_are():
    row = rg.tensor([[1.0, 2.0, 3.0]], dtype=rg.float64)
    b = row.mT.expand(3, 2)
    assert rg.equal(linalg.solve(rg.eye(3, dtype=rg.float64), b), b.clone())
    assert rg.equal(linalg.solve(rg.eye(3, dtype=rg.float64), row.expand(3, 3)), row.expand(3, 3).clone())


@pytest.mark.parametrize(("m", "n"), [(9, 17), (17, 9), (40, 33), (5, 40)])
def test_lu_of_any_shape(m, n):
    a = rg.tensor(np.random.default_rng(1).standard_normal((2, m, n)))
    p, lower, upper = linalg.lu(a)
    np.testing.assert_allclose((p @ lower @ upper).numpy(), a.numpy(), atol=1e-12)
