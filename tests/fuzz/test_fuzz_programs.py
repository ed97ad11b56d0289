"""Random programs have every property. A failure prints its program, as small as it was found to fail."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

import retrograd as rg
from fuzz.compare import tensors
from fuzz.program import Program
from fuzz.properties import batches, checkpoints, derivatives, files, in_place, layouts, nested, passes, state
from fuzz.smaller import smallest
from fuzz.strategies import programs


def fuzzed(**drawn: st.SearchStrategy) -> Callable[[Callable], Callable]:
    """Runs a test for many programs: for others each time if `FUZZ_SEED` says so. A failure tells the smallest."""

    def decorate(test: Callable) -> Callable:
        failed: dict[str, Any] = {}

        @wraps(test)
        def one(**arguments: Any) -> None:
            try:
                test(**arguments)
            except UnsatisfiedAssumption:
                raise
            except Exception as error:
                failed.update(arguments, error=error)
                raise

        many = seed(int(os.environ.get("FUZZ_SEED", "0")))(given(**drawn)(one))

        @wraps(many)
        def told(**fixed: Any) -> None:
            failed.clear()
            try:
                many(**fixed)
            except Exception as error:
                if failed:
                    error.add_note(report(test, failed.pop("error"), failed))
                raise

        return told

    return decorate


def report(test: Callable, error: Exception, arguments: dict[str, Any]) -> str:
    """The smallest program that fails alike, as Python."""

    def fails(program: Program) -> bool:
        try:
            test(**arguments | {"program": program})
        except UnsatisfiedAssumption:
            return False
        except Exception as other:
            return type(other) is type(error) and str(other)[:20] == str(error)[:20]
        return False

    program = smallest(arguments.pop("program"), fails)
    others = ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in arguments.items())
    return f"\n# {test.__name__}({others}) fails for\n{program}"


@pytest.mark.parametrize(
    "holds",
    [
        derivatives.jvp_is_what_differences_tell,
        derivatives.jvp_is_the_transpose_of_vjp,
        derivatives.gradients_of_the_tape_are_those_of_func,
        nested.hessian_products_agree,
        nested.forward_over_forward_agrees,
        nested.tape_of_a_gradient_agrees,
        passes.parts_add_up,
    ],
    ids=lambda p: p.__name__,
)
@fuzzed(program=programs())
def test_derivatives_agree(holds, program):
    holds(program.function(rg), tensors(program.inputs))


@fuzzed(program=programs(modes=True))
def test_values_are_those_of_numpy(program):
    in_place.values_are_those_of_numpy(program.function(rg), tensors(program.inputs), program.values())


@pytest.mark.parametrize(
    "holds",
    [in_place.tangents_are_those_of_the_twin, in_place.second_derivatives_are_those_of_the_twin],
    ids=lambda p: p.__name__,
)
@fuzzed(program=programs())
def test_writes_in_place_mean_what_they_mean_out_of_place(holds, program):
    holds(program.function(rg), program.twin(rg), tensors(program.inputs))


@pytest.mark.parametrize(
    "holds",
    [in_place.gradients_are_those_of_the_twin, in_place.results_follow_the_same_tensors],
    ids=lambda p: p.__name__,
)
@fuzzed(program=programs(modes=True))
def test_writes_hooks_and_modes_mean_what_they_mean_out_of_place(holds, program):
    holds(program.function(rg), program.twin(rg), tensors(program.inputs))


@pytest.mark.parametrize(
    "name", ["f", "grad", "vjp", "jvp", "jacrev", "jacfwd", "forward over reverse", "reverse over reverse"]
)
@fuzzed(program=programs(most=7), axes=st.tuples(*[st.sampled_from([0, -1, None])] * 2))
def test_vmap_is_a_loop(name, program, axes):
    dims = list(axes[: len(program.inputs)])
    dims = [0, *dims[1:]] if all(d is None for d in dims) else dims
    batches.vmap_is_a_loop(program.function(rg), tensors(program.inputs), name, tuple(dims))


@pytest.mark.parametrize("use_reentrant", [False, True])
@fuzzed(program=programs())
def test_checkpoint_changes_nothing(use_reentrant, program):
    checkpoints.checkpoint_changes_nothing(program.function(rg), tensors(program.inputs), use_reentrant)


@fuzzed(program=programs(modes=True))
def test_nothing_stays_alive(program):
    passes.nothing_stays_alive(program.function(rg), tensors(program.inputs))


@fuzzed(program=programs(modes=True))
def test_versions_count_writes(program):
    state.versions_count_writes(program, tensors(program.inputs))


@fuzzed(program=programs(modes=True, most=4), follow=st.booleans())
def test_refused_ops_change_nothing(program, follow):
    xs = [x.requires_grad_(follow) for x in tensors(program.inputs)]
    *_, (_, _, named) = program.walk(rg, xs)
    state.refused_ops_change_nothing(named, program.results[0])


@pytest.mark.parametrize(("way", "shared"), [("save and load", True), ("pickle", False), ("deepcopy", True)])
@fuzzed(program=programs())
def test_copies_are_as_the_originals(way, shared, program):
    *_, (_, _, named) = program.walk(rg, tensors(program.inputs))
    files.copies_are_as_the_originals(named, way, shared)


LAYOUTS: list[Callable[[rg.Tensor], rg.Tensor]] = [
    lambda x: x,
    lambda x: x.t().contiguous().t() if x.dim() == 2 else x,
    lambda x: x.movedim(0, -1).contiguous().movedim(-1, 0) if x.dim() else x,
    lambda x: rg.stack([x, x], -1)[..., 0],
    lambda x: x.flip(0)[:1].expand_as(x) if x.dim() else x,
]


@fuzzed(program=programs(row_major=False), kinds=st.tuples(*[st.sampled_from(range(len(LAYOUTS)))] * 2))
def test_gradients_lie_as_their_leaves(program, kinds):
    xs = tensors(program.inputs)
    leaves = [LAYOUTS[k](x).detach().requires_grad_() for k, x in zip(kinds, xs, strict=False)]
    layouts.gradients_lie_as_their_leaves(program.function(rg), leaves)
