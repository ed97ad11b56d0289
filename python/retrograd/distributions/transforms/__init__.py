"""Functions with inverses, whose derivatives change densities.

>>> exp = rg.distributions.transforms.ExpTransform()
>>> x = rg.tensor([0.0, 1.0])
>>> exp.inv(exp(x)), exp.log_abs_det_jacobian(x, exp(x))
(tensor([0., 1.]), tensor([0., 1.]))
"""

from retrograd.distributions.transforms._elementwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from retrograd.distributions.transforms._matrices import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
)
from retrograd.distributions.transforms._parts import CatTransform, StackTransform
from retrograd.distributions.transforms._transform import Transform
from retrograd.distributions.transforms._transform import _InverseTransform as _InverseTransform
from retrograd.distributions.transforms._vectors import SoftmaxTransform, StickBreakingTransform
from retrograd.distributions.transforms._wrappers import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    identity_transform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]
