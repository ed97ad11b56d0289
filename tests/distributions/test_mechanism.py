"""What all distributions share: checks, copies by `expand`, lazy values, caches, registered divergences."""

import copy
import pickle
from typing import Any

import pytest


@pytest.fixture(scope="module")
def D(rg: Any) -> Any:
    return rg.distributions


def test_parameters_are_checked_where_asked(rg: Any, D: Any) -> None:
    assert D.Normal(0.0, rg.tensor(-1.0), validate_args=False).scale == -1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
        with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)


def test_values_are_checked_by_the_support_of_the_copy(rg: Any, D: Any) -> None:
    expanded = D.Uniform(rg.zeros(2), 1.0).expand((3, 2))
    with pytest.raises(ValueError, match=r"within the support \(Interval"):
        expanded.log_prob(rg.full((3, 2), 2.0))


def test_numbers_take_the_dtype_of_the_first_tensor(rg: Any, D: Any) -> None:
    d = D.StudentT(3, rg.zeros(2, dtype=rg.float64), 1.5)
    assert (d.df.dtype, d.df.shape, d.scale.dtype) == (rg.float64, (2,), rg.float64)
    assert D.Normal(0, True).loc.dtype == rg.get_default_dtype()


def test_an_expanded_distribution_shares_memory_and_gradients(rg: Any, D: Any) -> None:
    loc = rg.zeros(2, requires_grad=True)
    d = D.Normal(loc, 1.0).expand((5, 2))
    assert d.loc.data_ptr() == loc.data_ptr()
    d.log_prob(rg.ones(5, 2)).sum().backward()
    assert loc.grad.tolist() == [5.0, 5.0]


def test_a_subclass_without_an_init_expands_as_itself(rg: Any, D: Any) -> None:
    class Mine(D.Gamma):  # type: ignore[misc, name-defined]
        def twice(self) -> Any:
            return 2 * self.mean

    d = Mine(rg.ones(2), 1.0).expand((3, 2))
    assert type(d) is Mine
    assert d.twice().shape == (3, 2)


def test_a_subclass_with_an_init_fills_the_copy_itself(rg: Any, D: Any) -> None:
    class Shifted(D.Normal):  # type: ignore[misc, name-defined]
        def __init__(self, shift: float) -> None:
            self.shift = shift
            super().__init__(shift, 1.0)

        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Shifted, _instance)
            new.shift = self.shift
            return super().expand(batch_shape, new)

    d = Shifted(2.0).expand((3,))
    assert (type(d), d.shift, d.mean.tolist()) == (Shifted, 2.0, [2.0, 2.0, 2.0])

    class Closed(D.Normal):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(0.0, 1.0)

    with pytest.raises(NotImplementedError, match=r"Subclass Closed of Normal .* must also define a custom .expand"):
        Closed().expand((3,))


def test_values_computed_once_have_gradients_in_any_mode(rg: Any, D: Any) -> None:
    probs = rg.tensor([0.25, 0.75], requires_grad=True)
    d = D.Bernoulli(probs)
    assert "logits" not in vars(d)
    with rg.no_grad():
        logits = d.logits
    assert logits is d.logits
    (gradient,) = rg.autograd.grad(logits.sum(), probs)
    assert gradient.tolist() == pytest.approx([16 / 3, 16 / 3])


def test_copies_and_pickles_draw_the_same(rg: Any, D: Any) -> None:
    for d in (D.Gumbel(rg.zeros(2), 1.0), D.Independent(D.Beta(rg.ones(2), 2.0), 1), D.LKJCholesky(3)):
        for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
            rg.manual_seed(3)
            expected = d.sample((2,))
            rg.manual_seed(3)
            assert rg.equal(other.sample((2,)), expected)


def test_a_cache_keeps_the_argument_and_its_graph(rg: Any, D: Any) -> None:
    tanh = D.TanhTransform(cache_size=1)
    x = rg.tensor([20.0], requires_grad=True)
    y = tanh(x)
    assert tanh.inv(y) is x
    assert rg.isinf(D.TanhTransform().inv(y)).all()
    log_prob = D.TransformedDistribution(D.Normal(0.0, rg.ones(1)), tanh, validate_args=False).log_prob(y)
    assert rg.isfinite(log_prob).all()
    assert D.AffineTransform(1.0, 2.0).with_cache().with_cache(0) == D.AffineTransform(1.0, 2.0)


def test_divergences_go_to_the_most_specific_function(rg: Any, D: Any) -> None:
    class A(D.Normal): ...  # type: ignore[misc, name-defined]

    class B(D.Normal): ...  # type: ignore[misc, name-defined]

    a, b = A(0.0, 1.0), B(0.0, 1.0)
    assert D.kl_divergence(a, b) == 0
    registry = dict(D.kl._KL_REGISTRY)
    try:
        D.register_kl(A, D.Normal)(lambda p, q: rg.tensor(1.0))
        assert D.kl_divergence(a, b) == 1
        D.register_kl(D.Normal, B)(lambda p, q: rg.tensor(2.0))
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(A, B\). Please register_kl\(A, B\)"):
            assert D.kl_divergence(a, b) == 1
        D.register_kl(A, B)(lambda p, q: rg.tensor(3.0))
        assert D.kl_divergence(a, b) == 3
    finally:
        D.kl._KL_REGISTRY.clear()
        D.kl._KL_REGISTRY.update(registry)
        D.kl._KL_MEMOIZE.clear()


def test_the_old_name_of_sample_warns(rg: Any, D: Any) -> None:
    with pytest.warns(FutureWarning, match=r"`sample_n\(n\)` will be deprecated. Use `sample\(\(n,\)\)` instead."):
        assert D.Normal(rg.zeros(2), 1.0).sample_n(3).shape == (3, 2)


def test_densities_integrate_to_one(rg: Any, D: Any) -> None:
    x = rg.linspace(1e-6, 60.0, 600_001, dtype=rg.float64)
    half, one = rg.tensor(2.5, dtype=rg.float64), rg.tensor(1.0, dtype=rg.float64)
    for d in (D.Gamma(half, one), D.Weibull(one, half), D.HalfNormal(half), D.LogNormal(-one, 0.4 * one), D.Chi2(half)):
        assert rg.trapezoid(d.log_prob(x).exp(), x).item() == pytest.approx(1.0, abs=1e-6)
    angle = rg.linspace(-3.141592653589793, 3.141592653589793, 10_001, dtype=rg.float64)
    d = D.VonMises(one, 40 * one)
    assert rg.trapezoid(d.log_prob(angle).exp(), angle).item() == pytest.approx(1.0, abs=1e-12)


def test_gradients_of_densities_and_draws_agree_with_differences(rg: Any, D: Any) -> None:
    a = rg.tensor([0.7, 2.3], dtype=rg.float64, requires_grad=True)
    b = rg.tensor([1.7, 0.6], dtype=rg.float64, requires_grad=True)
    x = rg.tensor([0.3, 0.6], dtype=rg.float64)
    for kind in (D.Beta, D.Gamma, D.Kumaraswamy, D.Weibull, D.FisherSnedecor, D.Gumbel, D.InverseGamma):
        assert rg.autograd.gradcheck(lambda a, b, kind=kind: kind(a, b).log_prob(x), (a, b))
        assert rg.autograd.gradgradcheck(lambda a, b, kind=kind: kind(a, b).log_prob(x), (a, b))


def test_distributions_compose_with_transforms_of_functions(rg: Any, D: Any) -> None:
    def loss(loc: Any, x: Any) -> Any:
        return D.Normal(loc, 1.0, validate_args=False).log_prob(x)

    xs = rg.tensor([0.0, 1.0, 2.0])
    slopes = rg.func.vmap(rg.func.grad(loss), in_dims=(None, 0))(rg.tensor(0.5), xs)
    assert slopes.tolist() == [-0.5, 0.5, 1.5]


def test_one_number_of_degrees_serves_a_batch_of_matrices(rg: Any, D: Any) -> None:
    wishart = D.Wishart(5, rg.stack([rg.eye(2), 2 * rg.eye(2)]))
    assert wishart.df.shape == (2,)
    assert wishart.mean[:, 0, 0].tolist() == [5.0, 10.0]
    assert wishart.expand((3, 2)).sample((4,)).shape == (4, 3, 2, 2, 2)
