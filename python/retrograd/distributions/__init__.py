"""Probability distributions: draws, densities, moments, divergences, and gradients of all of these.

Draws have no derivative of their own. With `rsample`, where a distribution has it, they are functions of the
parameters, through which gradients pass; with `log_prob`, the score of a draw can be weighted by what it achieved.

>>> policy = rg.distributions.Categorical(logits=rg.zeros(3, requires_grad=True))
>>> action = policy.sample()
>>> reward = 1.0
>>> (-policy.log_prob(action) * reward).backward()
"""

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.distributions import _kl_alike, _kl_crossed, _kl_infinite, _kl_vectors, transforms  # noqa: F401
from retrograd.distributions import constraints as constraints
from retrograd.distributions.bernoulli import Bernoulli
from retrograd.distributions.beta import Beta
from retrograd.distributions.binomial import Binomial
from retrograd.distributions.categorical import Categorical
from retrograd.distributions.cauchy import Cauchy
from retrograd.distributions.chi2 import Chi2
from retrograd.distributions.constraint_registry import biject_to, transform_to
from retrograd.distributions.continuous_bernoulli import ContinuousBernoulli
from retrograd.distributions.dirichlet import Dirichlet
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.exp_family import ExponentialFamily
from retrograd.distributions.exponential import Exponential
from retrograd.distributions.fishersnedecor import FisherSnedecor
from retrograd.distributions.gamma import Gamma
from retrograd.distributions.generalized_pareto import GeneralizedPareto
from retrograd.distributions.geometric import Geometric
from retrograd.distributions.gumbel import Gumbel
from retrograd.distributions.half_cauchy import HalfCauchy
from retrograd.distributions.half_normal import HalfNormal
from retrograd.distributions.independent import Independent
from retrograd.distributions.inverse_gamma import InverseGamma
from retrograd.distributions.kl import kl_divergence, register_kl
from retrograd.distributions.kumaraswamy import Kumaraswamy
from retrograd.distributions.laplace import Laplace
from retrograd.distributions.lkj_cholesky import LKJCholesky
from retrograd.distributions.log_normal import LogNormal
from retrograd.distributions.logistic_normal import LogisticNormal
from retrograd.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from retrograd.distributions.mixture_same_family import MixtureSameFamily
from retrograd.distributions.multinomial import Multinomial
from retrograd.distributions.multivariate_normal import MultivariateNormal
from retrograd.distributions.negative_binomial import NegativeBinomial
from retrograd.distributions.normal import Normal
from retrograd.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from retrograd.distributions.pareto import Pareto
from retrograd.distributions.poisson import Poisson
from retrograd.distributions.relaxed_bernoulli import RelaxedBernoulli
from retrograd.distributions.relaxed_categorical import RelaxedOneHotCategorical
from retrograd.distributions.studentT import StudentT
from retrograd.distributions.transformed_distribution import TransformedDistribution
from retrograd.distributions.transforms import *  # noqa: F403
from retrograd.distributions.uniform import Uniform
from retrograd.distributions.von_mises import VonMises
from retrograd.distributions.weibull import Weibull
from retrograd.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)
