"""Distributions, transforms and constraints, and what is asked of each; for PyTorch and for the package under test."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any


def spec(name: str, *args: Any, **kwargs: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    return name, args, kwargs


SPD = [[2.0, 0.5], [0.5, 1.0]]
TRIL = [[1.5, 0.0], [0.3, 0.8]]
P3 = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]
L3 = [[0.1, -0.5, 1.3], [0.6, 0.1, -2.0]]

# Lists become float64 tensors; what has the prefix `f32:` float32 ones; tuples (name, args, kwargs) distributions.
DISTRIBUTIONS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "bernoulli": spec("Bernoulli", [0.2, 0.5, 0.9]),
    "bernoulli logits": spec("Bernoulli", logits=[-1.0, 0.5]),
    "bernoulli number": spec("Bernoulli", 0.3),
    "beta": spec("Beta", [0.5, 2.0, 3.0], [1.5, 2.0, 0.4]),
    "beta numbers": spec("Beta", 2.0, 3.0),
    "binomial": spec("Binomial", 5, [0.2, 0.5, 0.9]),
    "binomial logits": spec("Binomial", [10.0], logits=[-1.0, 0.5]),
    "binomial counts": spec("Binomial", [3.0, 7.0], [0.2, 0.5]),
    "categorical": spec("Categorical", P3),
    "categorical logits": spec("Categorical", logits=L3),
    "categorical vector": spec("Categorical", [1.0, 3.0]),
    "cauchy": spec("Cauchy", [0.0, 1.0], [1.0, 2.5]),
    "chi2": spec("Chi2", [1.0, 3.5]),
    "continuous bernoulli": spec("ContinuousBernoulli", [0.1, 0.4995, 0.8]),
    "continuous bernoulli logits": spec("ContinuousBernoulli", logits=[-1.0, 0.001, 2.0]),
    "dirichlet": spec("Dirichlet", [[0.5, 2.0, 3.0], [0.2, 0.3, 0.4]]),
    "exponential": spec("Exponential", [0.5, 2.0]),
    "exponential number": spec("Exponential", 1.5),
    "fishersnedecor": spec("FisherSnedecor", [1.0, 5.0, 9.0], [3.0, 2.0, 6.0]),
    "gamma": spec("Gamma", [0.5, 2.0, 9.0], [1.0, 3.0, 0.5]),
    "generalized pareto": spec("GeneralizedPareto", [0.0, 1.0, 0.5], [1.0, 2.0, 0.5], [0.0, 0.4, -0.5]),
    "geometric": spec("Geometric", [0.2, 0.7, 1.0]),
    "geometric logits": spec("Geometric", logits=[-0.5, 0.5]),
    "gumbel": spec("Gumbel", [0.0, 1.0], [1.0, 2.5]),
    "gumbel numbers": spec("Gumbel", 0.5, 1.5),
    "half cauchy": spec("HalfCauchy", [1.0, 2.5]),
    "half normal": spec("HalfNormal", [1.0, 2.5]),
    "independent": spec("Independent", spec("Normal", [[0.0, 1.0, 2.0]], [[1.0], [2.0]]), 1),
    "independent of none": spec("Independent", spec("Bernoulli", [0.2, 0.7]), 0),
    "inverse gamma": spec("InverseGamma", [0.5, 1.5, 4.0], [1.0, 3.0, 0.5]),
    "kumaraswamy": spec("Kumaraswamy", [0.5, 2.0, 3.0], [1.5, 2.0, 0.4]),
    "laplace": spec("Laplace", [0.0, 1.0], [1.0, 2.5]),
    "lkj": spec("LKJCholesky", 3, [0.5, 2.0]),
    "lkj number": spec("LKJCholesky", 4),
    "log normal": spec("LogNormal", [0.0, 0.5], [0.3, 1.1]),
    "logistic normal": spec("LogisticNormal", [[0.0, 0.5, 1.0], [0.3, -1.0, 0.1]], [[1.0, 0.5, 2.0]]),
    "low rank": spec("LowRankMultivariateNormal", [0.5, -1.0, 2.0], [[1.0], [0.5], [2.0]], [1.0, 0.5, 0.3]),
    "low rank batch": spec(
        "LowRankMultivariateNormal", [[0.5, -1.0], [1.0, 2.0]], [[1.0, 0.3], [0.5, -0.2]], [1.0, 0.5]
    ),
    "mixture": spec("MixtureSameFamily", spec("Categorical", [0.3, 0.7]), spec("Normal", [-1.0, 3.0], [1.0, 0.5])),
    "mixture of vectors": spec(
        "MixtureSameFamily",
        spec("Categorical", P3),
        spec("Independent", spec("Normal", [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0]]] * 2, 1.0), 1),
    ),
    "multinomial": spec("Multinomial", 6, P3),
    "multinomial logits": spec("Multinomial", 3, logits=L3),
    "multivariate normal": spec("MultivariateNormal", [0.5, -1.0], SPD),
    "multivariate normal precision": spec("MultivariateNormal", [[0.5, -1.0], [1.0, 2.0]], precision_matrix=SPD),
    "multivariate normal factor": spec("MultivariateNormal", [0.5, -1.0], scale_tril=[TRIL, [[2.0, 0.0], [0.4, 0.9]]]),
    "multivariate normal crossed": spec("MultivariateNormal", [[[0.5, -1.0]], [[1.0, 2.0]]], scale_tril=[[TRIL, TRIL]]),
    "negative binomial": spec("NegativeBinomial", [3.0, 0.5, 0.0], [0.2, 0.7, 0.4]),
    "negative binomial logits": spec("NegativeBinomial", 4, logits=[-1.0, 0.5]),
    "normal": spec("Normal", [0.0, 1.0], [[1.0], [2.5]]),
    "normal numbers": spec("Normal", 0.5, 2),
    "normal float32": spec("Normal", "f32:0.1,0.2", "f32:1.0,2.0"),
    "gamma float32": spec("Gamma", "f32:0.3,4.0", 2.0),
    "one hot": spec("OneHotCategorical", P3),
    "one hot logits": spec("OneHotCategorical", logits=L3),
    "straight through": spec("OneHotCategoricalStraightThrough", P3),
    "pareto": spec("Pareto", [1.0, 2.0, 0.5], [0.5, 1.5, 3.0]),
    "poisson": spec("Poisson", [0.5, 3.0, 20.0]),
    "relaxed bernoulli": spec("RelaxedBernoulli", [0.7], [0.2, 0.5, 0.9]),
    "relaxed bernoulli logits": spec("RelaxedBernoulli", [0.7], logits=[-1.0, 0.5]),
    "relaxed one hot": spec("RelaxedOneHotCategorical", [0.7], P3),
    "relaxed one hot logits": spec("RelaxedOneHotCategorical", [0.7], logits=L3),
    "logit relaxed bernoulli": spec("relaxed_bernoulli.LogitRelaxedBernoulli", [0.7], [0.2, 0.5]),
    "student t": spec("StudentT", [0.5, 1.5, 4.0], [0.0, 1.0, 2.0], 2.0),
    "student t numbers": spec("StudentT", 3.0),
    "transformed": spec(
        "TransformedDistribution",
        spec("Uniform", [0.0, 0.0], 1.0),
        [spec("inverse", spec("SigmoidTransform")), spec("AffineTransform", 1.0, 2.0)],
    ),
    "transformed falling": spec(
        "TransformedDistribution", spec("Normal", [0.5, 0.7], 1.0), [spec("AffineTransform", 1.0, [-2.0, 3.0])]
    ),
    "transformed vector": spec(
        "TransformedDistribution", spec("Normal", [[0.5, 0.7]], 1.0), [spec("StickBreakingTransform")]
    ),
    "uniform": spec("Uniform", [0.0, -1.0], [1.0, 2.5]),
    "uniform numbers": spec("Uniform", -1, 3),
    "von mises": spec("VonMises", [0.0, 1.0, 3.0], [0.5, 4.0, 50.0]),
    "weibull": spec("Weibull", [1.0, 2.0], [0.7, 2.5]),
    "wishart": spec("Wishart", [3.0, 4.5], SPD),
    "wishart number": spec("Wishart", 5, scale_tril=TRIL),
    "wishart precision": spec("Wishart", [3.0], precision_matrix=[SPD]),
}

TRANSFORMS: dict[str, tuple[Any, Any]] = {
    "exp": (spec("ExpTransform"), [0.3, -1.2]),
    "power": (spec("PowerTransform", [2.0, -0.5]), [0.3, 1.2]),
    "sigmoid": (spec("SigmoidTransform"), [0.3, -1.2]),
    "softplus": (spec("SoftplusTransform"), [0.3, -1.2]),
    "tanh": (spec("TanhTransform"), [0.3, -1.2]),
    "abs": (spec("AbsTransform"), [0.3, -1.2]),
    "affine": (spec("AffineTransform", 1.0, -2.0), [0.3, -1.2]),
    "affine of vectors": (spec("AffineTransform", [1.0, 2.0], [-2.0, 3.0], event_dim=1), [[0.3, -1.2], [1.0, 2.0]]),
    "cached": (spec("AffineTransform", 1.0, -2.0, cache_size=1), [0.3, -1.2]),
    "inverse": (spec("inverse", spec("ExpTransform")), [0.3, 1.2]),
    "composed": (
        spec("ComposeTransform", [spec("ExpTransform"), spec("AffineTransform", 1.0, 2.0), spec("TanhTransform")]),
        [0.3, -1.2],
    ),
    "composed of vectors": (
        spec("ComposeTransform", [spec("AffineTransform", 1.0, 2.0), spec("StickBreakingTransform")]),
        [[0.3, -1.2]],
    ),
    "independent": (spec("IndependentTransform", spec("ExpTransform"), 1), [[0.3, -1.2]]),
    "reshape": (spec("ReshapeTransform", (4,), (2, 2)), [[0.3, -1.2, 1.0, 2.0]]),
    "corr cholesky": (spec("CorrCholeskyTransform"), [[0.3, -1.2, 0.7], [0.0, 0.1, 2.0]]),
    "softmax": (spec("SoftmaxTransform"), [[0.3, -1.2, 0.7]]),
    "stick breaking": (spec("StickBreakingTransform"), [[0.3, -1.2, 0.7]]),
    "lower cholesky": (spec("LowerCholeskyTransform"), [[0.3, -1.2], [0.7, 0.2]]),
    "positive definite": (spec("PositiveDefiniteTransform"), [[0.3, -1.2], [0.7, 0.2]]),
    "cat": (
        spec("CatTransform", [spec("ExpTransform"), spec("TanhTransform")], dim=-1, lengths=[1, 2]),
        [[0.3, -1.2, 0.7]],
    ),
    "stack": (spec("StackTransform", [spec("ExpTransform"), spec("TanhTransform")], dim=1), [[0.3, -1.2]]),
    "cdf": (spec("CumulativeDistributionTransform", spec("Normal", 0.0, 1.0)), [0.3, -1.2]),
}

# Of one shape each kind, and two of those whose divergence from one another is finite only for some parameters.
PAIRED = [
    ("bernoulli", "Bernoulli", [0.2, 0.9], {}), ("bernoulli of certainty", "Bernoulli", [0.0, 1.0], {}),
    ("beta", "Beta", [0.5, 2.0], {"concentration0": [1.5, 2.0]}),
    ("binomial", "Binomial", 5, {"probs": [0.2, 0.9]}), ("binomial of more", "Binomial", [5.0, 6.0], {"probs": 0.3}),
    ("categorical", "Categorical", P3, {}), ("categorical with 0", "Categorical", [[0.0, 0.5, 0.5]] * 2, {}),
    ("cauchy", "Cauchy", [0.0, 1.0], {"scale": [1.0, 2.5]}), ("chi2", "Chi2", [1.0, 3.5], {}),
    ("continuous bernoulli", "ContinuousBernoulli", [0.1, 0.4995], {}),
    ("dirichlet", "Dirichlet", [[0.5, 2.0, 3.0], [0.2, 0.3, 0.4]], {}), ("exponential", "Exponential", [0.5, 2.0], {}),
    ("dirichlet of ones", "Dirichlet", [1.0, 1.0, 1.0], {}), ("gamma", "Gamma", [0.5, 9.0], {"rate": [1.0, 3.0]}),
    ("geometric", "Geometric", [0.2, 0.7], {}), ("gumbel", "Gumbel", [0.0, 1.0], {"scale": [1.0, 2.5]}),
    ("half normal", "HalfNormal", [1.0, 2.5], {}), ("laplace", "Laplace", [0.0, 1.0], {"scale": [1.0, 2.5]}),
    ("log normal", "LogNormal", [0.0, 1.0], {"scale": [1.0, 2.5]}),
    ("normal", "Normal", [0.5, 1.0], {"scale": [0.7, 2.5]}), ("one hot", "OneHotCategorical", P3, {}),
    ("pareto", "Pareto", [1.0, 2.0], {"alpha": [0.5, 3.0]}), ("poisson", "Poisson", [0.5, 3.0], {}),
    ("uniform", "Uniform", [0.0, 0.2], {"high": [1.0, 0.9]}), ("wide uniform", "Uniform", [-1.0, 1.5], {"high": 3.0}),
    ("independent", "Independent", spec("Normal", [0.5, 1.0], 1.0), {"reinterpreted_batch_ndims": 1}),
    ("wishart", "Wishart", [3.0, 4.5], {"covariance_matrix": SPD}),
    ("low rank", "LowRankMultivariateNormal", [[0.5, -1.0], [1.0, 2.0]],
     {"cov_factor": [[1.0, 0.3], [0.5, -0.2]], "cov_diag": [1.0, 0.5]}),
    ("vectors", "MultivariateNormal", [0.5, -1.0], {"covariance_matrix": SPD}),
    ("batch of vectors", "MultivariateNormal", [[0.5, -1.0]], {"scale_tril": [TRIL, [[2.0, 0.0], [0.4, 0.9]]]}),
]  # fmt: skip
DIVERGENCES = [(label, spec(name, first, **rest)) for label, name, first, rest in PAIRED]

CONSTRAINTS = [
    "boolean", "one_hot", "nonnegative_integer", "positive_integer", "integer_interval(0, 2)", "real", "real_vector",
    "positive", "nonnegative", "greater_than(1.0)", "greater_than_eq(1.0)", "less_than(1.0)", "multinomial(3)",
    "unit_interval", "interval(-1.0, 2.0)", "half_open_interval(0.0, 1.0)", "simplex", "lower_triangular",
    "lower_cholesky", "corr_cholesky", "square", "symmetric", "positive_semidefinite", "positive_definite",
    "cat([c.positive, c.real], -1, [1, 1])", "stack([c.positive, c.real], -1)", "independent(c.positive, 1)",
    "independent(c.boolean, 2)", "dependent", "MixtureSameFamilyConstraint(c.positive)", "_IntegerLessThan(2)",
]  # fmt: skip
VALUES = [
    [0.0, 1.0], [0.5, 0.5], [-1.0, 2.0], [math.nan, 3.0], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.6, 0.8]],
    [[2.0, 1.0], [1.0, 0.5]], [[1.0, 2.0], [0.0, 1.0]], [[-1.0, 0.0], [2.0, 3.0]],
]  # fmt: skip

ERRORS = [
    "D.Normal(T.tensor([0.0, 1.0]), T.tensor([1.0, -1.0]))",
    "D.Normal(T.tensor(float('nan')), 1.0)",
    "D.Normal('a', 1.0)",
    "D.Normal(0.0, 1.0).log_prob(T.tensor(float('nan')))",
    "D.Normal(0.0, 1.0).log_prob(1.0)",
    "D.Normal(T.zeros(3), 1.0).log_prob(T.zeros(2))",
    "D.Normal(0.0, 1.0).enumerate_support()",
    "D.Bernoulli()",
    "D.Bernoulli(0.5, 0.5)",
    "D.Bernoulli(1.5)",
    "D.Bernoulli(0.5).log_prob(T.tensor(0.5))",
    "D.Bernoulli(0.5).rsample()",
    "D.Beta(T.tensor([0.0, 1.0]), 1.0)",
    "D.Binomial(T.tensor([1.0, 2.0]), T.tensor([0.5])).entropy()",
    "D.Binomial(T.tensor([1.0, 2.0]), T.tensor([0.5])).enumerate_support()",
    "D.Binomial(3, T.tensor([0.5])).log_prob(T.tensor([4.0]))",
    "D.Categorical(T.tensor(0.5))",
    "D.Categorical(logits=T.tensor(0.5))",
    "D.Categorical(T.tensor([-0.5, 1.0]))",
    "D.Categorical(T.tensor([0.5, 1.0])).log_prob(T.tensor([2]))",
    "D.ContinuousBernoulli(1.5, validate_args=True)",
    "D.Dirichlet(T.tensor(1.0))",
    "D.Dirichlet(T.tensor([1.0, 2.0])).log_prob(T.tensor([0.5, 0.4]))",
    "D.Dirichlet(T.tensor([1.0, 2.0])).log_prob(T.tensor([0.5, 0.4, 0.1]))",
    "D.Exponential(-1.0)",
    "D.Geometric(T.tensor([0.0, 0.5]))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "D.Independent(D.Bernoulli(T.tensor([0.5])), 1).enumerate_support()",
    "D.LKJCholesky(1)",
    "D.LowRankMultivariateNormal(T.tensor(0.0), T.ones(1, 1), T.ones(1))",
    "D.LowRankMultivariateNormal(T.zeros(2), T.ones(2), T.ones(2))",
    "D.LowRankMultivariateNormal(T.zeros(2), T.ones(3, 1), T.ones(2))",
    "D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(3))",
    "D.LowRankMultivariateNormal(T.zeros(2, 2), T.ones(3, 2, 1), T.ones(2))",
    "D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0))",
    "D.MixtureSameFamily(D.Categorical(T.ones(2)), 1)",
    "D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Normal(T.zeros(3), 1.0))",
    "D.MixtureSameFamily(D.Categorical(T.ones(3, 2)), D.Normal(T.zeros(4, 2), 1.0))",
    "D.Multinomial(T.tensor([2, 3]), T.ones(2))",
    "D.Multinomial(2, T.ones(2)).log_prob(T.tensor([2.0, 1.0]))",
    "D.MultivariateNormal(T.tensor(0.0), T.eye(1))",
    "D.MultivariateNormal(T.zeros(2))",
    "D.MultivariateNormal(T.zeros(2), T.eye(2), T.eye(2))",
    "D.MultivariateNormal(T.zeros(2), T.ones(2))",
    "D.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2))",
    "D.MultivariateNormal(T.zeros(2), precision_matrix=T.ones(2))",
    "D.MultivariateNormal(T.zeros(2), -T.eye(2))",
    "D.NegativeBinomial(-1.0, T.tensor([0.5]))",
    "D.Poisson(T.tensor([-1.0]))",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), [3])",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()).mean",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()).mode",
    "D.Uniform(T.tensor([1.0, 0.0]), T.tensor([0.0, 1.0]))",
    "D.Uniform(0.0, 1.0).log_prob(T.tensor(2.0))",
    "D.Wishart(1.0, T.eye(2))",
    "D.Wishart(T.tensor([3.0]), T.ones(2))",
    "D.Wishart(T.tensor([3.0]))",
    "D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0))",
    "D.kl_divergence(D.Cauchy(0.0, 1.0), D.Normal(0.0, 1.0))",
    "D.kl_divergence(D.Binomial(2, T.tensor(0.5)), D.Binomial(3, T.tensor(0.5)))",
    "D.kl_divergence(D.MultivariateNormal(T.zeros(2), T.eye(2)), D.MultivariateNormal(T.zeros(3), T.eye(3)))",
    "D.biject_to(D.constraints.positive_definite)",
    "D.biject_to(D.constraints.boolean)",
    "D.biject_to.register(3, lambda c: c)",
    "D.constraints.dependent.check(T.zeros(2))",
    "D.constraints.dependent.event_dim",
    "D.constraints.dependent.is_discrete",
    "D.constraints.independent(3, 1)",
    "D.constraints.independent(D.constraints.real, 1.0)",
    "D.constraints.independent(D.constraints.real, -1)",
    "D.constraints.real_vector.check(T.tensor(1.0))",
    "D.constraints.cat([3])",
    "D.constraints.cat([D.constraints.real], 0, [1, 2])",
    "D.constraints.stack([D.constraints.real], 3).check(T.zeros(2))",
    "D.ExpTransform(cache_size=2)",
    "D.Transform()(T.zeros(2))",
    "D.ReshapeTransform((2,), (3,))",
    "D.ReshapeTransform((2,), (2, 1)).forward_shape((3,))",
    "D.CorrCholeskyTransform().forward_shape(T.Size([2]))",
    "D.CorrCholeskyTransform().inverse_shape(T.Size([2, 3]))",
    "D.StickBreakingTransform().forward_shape(T.Size([]))",
    "D.IndependentTransform(D.ExpTransform(), 1)(T.tensor(0.0))",
    "D.CatTransform([3])",
    "D.CatTransform([D.ExpTransform()], 0, [1, 2])",
    "D.CatTransform([D.ExpTransform()])(T.zeros(2))",
    "D.StackTransform([D.ExpTransform()], 1)(T.zeros(2))",
    "D.StackTransform([D.ExpTransform()])(T.zeros(2))",
    "D.StickBreakingTransform().sign",
    "D.LogisticNormal(T.zeros(2), 1.0).cdf(T.tensor([0.2, 0.3, 0.5]))",
    "D.utils.vec_to_tril_matrix(T.zeros(2))",
    "D.utils.tril_matrix_to_vec(T.zeros(2, 2), 3)",
    "type('N', (D.Normal,), {'__init__': lambda self: D.Normal.__init__(self, 0.0, 1.0)})().expand((2,))",
    "type('E', (D.Distribution,), {})()",
    "type('E', (D.Distribution,), {})(validate_args=False).log_prob(1)",
    "type('E', (D.Distribution,), {})(validate_args=False).mode",
    "type('E', (D.Distribution,), {})(validate_args=False).expand((2,))",
    "D.Distribution.set_default_validate_args(2)",
    "D.Normal(0.0, 1.0).sample_n(2) * 0",
]  # fmt: skip

MOMENTS = ["mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "has_rsample", "has_enumerate_support"]


class Calls:
    """The calls with one library `T`."""

    def __init__(self, T: Any) -> None:
        self.T = T
        self.D = T.distributions

    def tensor(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("f32:"):
            return self.T.tensor([float(x) for x in value[4:].split(",")], dtype=self.T.float32)
        return self.T.tensor(value, dtype=self.T.float64)

    def make(self, value: Any, leaves: list[Any] | None = None) -> Any:
        """A spec as an object; tensors that it needs are put into `leaves`."""
        if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], dict):
            name, args, kwargs = value
            args = [self.make(a, leaves) for a in args]
            kwargs = {k: self.make(v, leaves) for k, v in kwargs.items()}
            if name == "inverse":
                return args[0].inv
            found = self.D
            for part in name.split("."):
                found = getattr(found, part)
            return found(*args, **kwargs)
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            return [self.make(v, leaves) for v in value]
        if isinstance(value, str) or (isinstance(value, list) and isinstance(value[0], (float, list))):
            t = self.tensor(value)
            if leaves is not None:
                leaves.append(t.requires_grad_())
            return t
        return value

    def plain(self, value: Any) -> Any:
        """A result as data that JSON takes."""
        T = self.T
        if isinstance(value, T.Tensor):
            shape = list(value.shape)
            flat = value.detach().reshape(-1).tolist()
            return {"shape": shape, "dtype": str(value.dtype).split(".")[-1], "values": [self.number(x) for x in flat]}
        if isinstance(value, T.Size):
            return list(value)
        if isinstance(value, (bool, int, float, str, list, dict, type(None))):
            return value
        return type(value).__name__

    @staticmethod
    def number(x: Any) -> Any:
        if isinstance(x, (bool, int)):
            return x
        return float(f"{x:.13g}") if math.isfinite(x) else repr(x)

    def attempt(self, function: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.plain(function())
        except Exception as error:
            return self.error(error)

    def error(self, error: Exception) -> Any:
        return {"error": type(error).__name__, "text": self.theirs(str(error))}

    @staticmethod
    def theirs(text: str) -> str:
        """A text with PyTorch's name in place of ours."""
        return re.sub(r"transforms\._\w+\.", "transforms.", re.sub(r"\bretrograd\b", "torch", text))

    def gradients(self, build: Any) -> Any:
        """Of the sum of a result with distinct weights, the gradient of each leaf."""
        T = self.T

        def run() -> Any:
            leaves: list[Any] = []
            result = build(leaves)
            weights = T.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
            grads = T.autograd.grad((result * weights).sum(), leaves, allow_unused=True)
            return [None if g is None else self.plain(g) for g in grads]

        return self.attempt(run)

    def distribution(self, name: str) -> dict[str, Any]:
        T, D, value = self.T, self.D, DISTRIBUTIONS[name]
        d = self.make(value)
        out: dict[str, Any] = {"repr": self.theirs(repr(d))}
        for m in MOMENTS:
            out[m] = self.attempt(lambda m=m: getattr(d, m))
        out["support"] = self.attempt(lambda: self.theirs(repr(d.support)))
        for shape in [(), (3,)]:
            T.manual_seed(7)
            out[f"sample {shape}"] = self.attempt(lambda shape=shape: d.sample(shape))
        T.manual_seed(8)
        out["rsample"] = self.attempt(lambda: d.rsample((2,)))
        if d.has_rsample:

            def rsample(leaves: list[Any]) -> Any:
                T.manual_seed(8)
                return self.make(value, leaves).rsample((2,))

            out["rsample gradients"] = self.gradients(rsample)
        T.manual_seed(9)
        x = d.sample((2,))
        out["log_prob"] = self.attempt(lambda: d.log_prob(x))
        out["log_prob gradients"] = self.gradients(lambda leaves: self.make(value, leaves).log_prob(x))
        out["entropy"] = self.attempt(d.entropy)
        out["perplexity"] = self.attempt(d.perplexity)
        out["entropy gradients"] = self.gradients(lambda leaves: self.make(value, leaves).entropy())
        out["mean gradients"] = self.gradients(lambda leaves: self.make(value, leaves).mean)
        out["cdf"] = self.attempt(lambda: d.cdf(x))
        out["cdf gradients"] = self.gradients(lambda leaves: self.make(value, leaves).cdf(x))
        u = T.full(tuple(d.batch_shape), 0.3, dtype=T.float64)
        out["icdf"] = self.attempt(lambda: d.icdf(u))
        for expand in (True, False):
            out[f"enumerate_support {expand}"] = self.attempt(lambda expand=expand: d.enumerate_support(expand))
        e = self.attempt(lambda: self.expanded(d, out))
        if e is not None:
            out["expand"] = e
        for parameter in ("logits", "probs", "param_shape", "temperature", "loc", "scale", "df", "concentration",
                          "rate", "concentration1", "concentration0", "covariance_matrix", "precision_matrix",
                          "scale_tril"):  # fmt: skip
            if hasattr(d, parameter):
                out[parameter] = self.attempt(lambda parameter=parameter: getattr(d, parameter))
        if isinstance(d, D.ExponentialFamily):
            out["family entropy"] = self.attempt(lambda: D.ExponentialFamily.entropy(d))
        return out

    def expanded(self, d: Any, out: dict[str, Any]) -> None:
        T = self.T
        e = d.expand((2, *d.batch_shape))
        out["expand repr"] = self.theirs(repr(e))
        out["expand shapes"] = [list(e.batch_shape), list(e.event_shape)]
        T.manual_seed(10)
        x = e.sample((2,))
        out["expand sample"] = self.plain(x)
        out["expand log_prob"] = self.attempt(lambda: e.log_prob(x))
        out["expand mean"] = self.attempt(lambda: e.mean)
        out["expand variance"] = self.attempt(lambda: e.variance)
        out["expand entropy"] = self.attempt(lambda: e.entropy())

    def transform(self, name: str) -> dict[str, Any]:
        T = self.T
        make, at = TRANSFORMS[name]
        t, x = self.make(make), self.tensor(at)
        y = t(x)
        out = {"repr": repr(t), "value": self.plain(y), "back": self.plain(t.inv(y)), "inv": repr(t.inv)}
        out["jacobian"] = self.attempt(lambda: t.log_abs_det_jacobian(x, y))
        out["inverse jacobian"] = self.attempt(lambda: t.inv.log_abs_det_jacobian(y, x))
        out["domain"] = self.attempt(lambda: repr(t.domain))
        out["codomain"] = self.attempt(lambda: repr(t.codomain))
        out["event_dim"] = self.attempt(lambda: t.event_dim)
        out["bijective"] = t.bijective
        out["sign"] = self.attempt(lambda: t.sign)
        out["shapes"] = [self.attempt(lambda: t.forward_shape(x.shape)), self.attempt(lambda: t.inverse_shape(y.shape))]
        out["equal"] = [t == self.make(make), t == t, t.inv == self.make(make).inv, t == 3, t.inv.inv is t]
        out["cached"] = self.attempt(lambda: (lambda c, z: c.inv(c(z)) is z)(t.with_cache(1), T.zeros_like(x) + 0.5))
        z = self.tensor(at).requires_grad_()
        weights = T.arange(1.0, y.numel() + 1).reshape(y.shape)
        out["gradient"] = self.attempt(lambda: T.autograd.grad((t(z) * weights).sum(), z)[0])
        return out

    def constraint(self, name: str) -> dict[str, Any]:
        c = self.D.constraints
        made = eval(f"c.{name}", {"c": c})
        out: dict[str, Any] = {"repr": repr(made)}
        out["event_dim"] = self.attempt(lambda: made.event_dim)
        out["is_discrete"] = self.attempt(lambda: made.is_discrete)
        out["checks"] = [self.attempt(lambda v=v: made.check(self.tensor(v))) for v in VALUES]
        for registry in ("biject_to", "transform_to"):
            out[registry] = self.attempt(lambda registry=registry: repr(getattr(self.D, registry)(made)))
        return out

    def divergences(self) -> dict[str, Any]:
        """Of every ordered pair that has one."""
        out = {}
        for p in DIVERGENCES:
            for q in DIVERGENCES:

                def divergence(leaves: list[Any] | None, p: Any = p, q: Any = q) -> Any:
                    return self.D.kl_divergence(self.make(p[1], leaves), self.make(q[1], leaves))

                value = self.attempt(lambda divergence=divergence: divergence(None))
                if value.get("error") != "NotImplementedError":
                    out[f"{p[0]} || {q[0]}"] = [value, self.gradients(divergence)]
        return out

    def errors(self) -> dict[str, Any]:
        scope = {"D": self.D, "T": self.T}
        return {text: self.raised(text, scope) for text in ERRORS}

    def raised(self, text: str, scope: dict[str, Any]) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = self.plain(eval(text, dict(scope)))
            except Exception as error:
                result = self.error(error)
        return [result, *({"warning": w.category.__name__, "text": self.theirs(str(w.message))} for w in caught)]

    def all(self) -> dict[str, Any]:
        return {
            "distributions": {name: self.distribution(name) for name in DISTRIBUTIONS},
            "transforms": {name: self.transform(name) for name in TRANSFORMS},
            "constraints": {name: self.constraint(name) for name in CONSTRAINTS},
            "divergences": self.divergences(),
            "errors": self.errors(),
        }
