"""Functions of functions: derivatives and maps over a batch, which compose in any order and to any depth.

>>> from retrograd.func import grad, vmap
>>> def loss(w, x):
...     return (w * x).sum() ** 2
>>> vmap(grad(loss), in_dims=(None, 0))(rg.tensor([1.0, 2.0]), rg.eye(2))
tensor([[2., 0.],
        [0., 4.]])
"""

from retrograd._lazy import TYPE_CHECKING, submodules
from retrograd.func._derivatives import grad, grad_and_value, jvp, linearize, vjp
from retrograd.func._jacobians import ggnvp, hessian, hvp, jacfwd, jacrev, laplacian
from retrograd.func._modules import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from retrograd.func._rearrange import rearrange
from retrograd.func._vmap import debug_unwrap, vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "ggnvp",
    "grad",
    "grad_and_value",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "laplacian",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)
