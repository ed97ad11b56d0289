"""The fuzzer finds what is planted, and prints it small."""

import numpy as np
import pytest
from hypothesis import Phase, find, settings
from hypothesis.errors import UnsatisfiedAssumption

import retrograd as rg
from fuzz import ops, strategies
from fuzz.compare import tensors
from fuzz.ops import Op
from fuzz.program import Program
from fuzz.properties import batches, checkpoints, derivatives, files, in_place, nested, passes, state
from fuzz.smaller import smallest
from fuzz.strategies import Builder, programs


def failing(holds, shrink: bool = False, **options) -> Program:
    """The smallest program for which `holds` fails; with `shrink` hypothesis has a go at it before."""

    def fails(program: Program) -> bool:
        try:
            holds(program)
        except AssertionError:
            return True
        except (UnsatisfiedAssumption, RuntimeError, IndexError):  # a smaller program need not make sense
            return False
        return False

    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    found = find(programs(**options), fails, settings=settings(max_examples=500, derandomize=True, phases=phases))
    return smallest(found, fails)


@pytest.fixture(autouse=True)
def few_kinds_of_lines(monkeypatch):
    """So that what is planted comes often, and is all that can be found."""
    simple = list(ops.writes_alone(()))[:3]
    monkeypatch.setattr(ops, "writes_alone", lambda shape: simple)
    monkeypatch.setattr(ops, "ONE", ops.ONE[:3])
    monkeypatch.setattr(strategies, "KINDS", [Builder.one, Builder.write_alone, Builder.alias, Builder.two])


def plant(monkeypatch, name: str, function, op: Op) -> None:
    """Lets programs call `function` as `rg.name`, where `op` says what they should get."""
    monkeypatch.setattr(rg, name, function, raising=False)
    monkeypatch.setattr(ops, "ONE", [op, *ops.ONE])


def plant_write(monkeypatch, name: str, function) -> None:
    """Lets programs write by `rg.name(t)`, which should double `t`."""
    monkeypatch.setattr(rg, name, function, raising=False)
    monkeypatch.setattr(ops, "writes_alone", lambda shape: [(f"rg.{name}({{t}})", Op("{t} * 2.0", lambda t: t * 2))])


def of_function(holds):
    return lambda program: holds(program.function(rg), tensors(program.inputs))


def of_twins(holds):
    return lambda program: holds(program.function(rg), program.twin(rg), tensors(program.inputs))


def body(program: Program) -> list[str]:
    return [line for step in program.steps for line in step.lines()]


class WrongByAThousandth(rg.autograd.Function):
    """sin, whose derivatives are 0.1 % too large in reverse mode."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos() * 1.001

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.saved_tensors[0].cos()


@pytest.mark.parametrize(
    ("holds", "shrink"),
    [
        (of_function(derivatives.jvp_is_the_transpose_of_vjp), True),
        (of_function(nested.hessian_products_agree), False),
    ],
    ids=["first", "second order"],
)
def test_a_rule_that_is_wrong_by_a_thousandth_is_found(monkeypatch, holds, shrink):
    plant(monkeypatch, "wrong", WrongByAThousandth.apply, Op("rg.wrong({a})", np.sin, "in"))
    program = failing(holds, shrink)
    assert body(program) in (["v0 = x0.clone()", "v1 = rg.wrong(v0)"], ["v1 = rg.wrong(x0)"])
    assert program.results == ("v1",)


def test_a_result_that_shares_memory_with_its_operand_is_found(monkeypatch):
    """As NumPy's model has it, the op makes a new tensor."""
    plant(monkeypatch, "shares", lambda a: a[...], Op("rg.shares({a})", np.copy))
    program = failing(lambda p: in_place.values_are_those_of_numpy(p.function(rg), tensors(p.inputs), p.values()))
    assert len(program.steps) <= 3, program  # a copy, this op, and a write
    assert "rg.shares(" in str(program)


def test_a_write_whose_gradient_is_lost_is_found(monkeypatch):
    plant_write(monkeypatch, "forgetful", lambda t: t.detach().mul_(2.0))
    small = ["v0 = x0.clone()", "rg.forgetful(v0)"]
    assert body(failing(of_twins(in_place.gradients_are_those_of_the_twin))) == small
    assert body(failing(of_function(derivatives.jvp_is_what_differences_tell))) == small


class Mixing(rg.autograd.Function):
    """Twice its argument; a batch comes back in reverse order."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, dims, x):
        return (x * 2).flip(dims[0]), dims[0]


def test_a_map_that_mixes_samples_is_found(monkeypatch):
    plant(monkeypatch, "mixing", Mixing.apply, Op("rg.mixing({a})", lambda a: a * 2))

    def holds(program):
        dims = (0,) * len(program.inputs)
        batches.vmap_is_a_loop(program.function(rg), tensors(program.inputs), "f", dims)

    assert "rg.mixing(" in str(failing(holds))


def test_a_function_that_differs_when_it_runs_again_is_found(monkeypatch):
    runs = []

    def unsteady(a):
        runs.append(a.shape)
        return a * (1.0 + len(runs) % 2)

    plant(monkeypatch, "unsteady", unsteady, Op("rg.unsteady({a})", np.copy, "in"))
    program = failing(of_function(lambda f, xs: checkpoints.checkpoint_changes_nothing(f, xs, True)))
    assert "rg.unsteady(" in str(program)


def test_what_stays_alive_is_found(monkeypatch):
    kept = []
    plant(monkeypatch, "kept", lambda a: kept.append(a * 1.0) or a * 1.0, Op("rg.kept({a})", np.copy))
    assert "rg.kept(" in str(failing(of_function(passes.nothing_stays_alive)))


@pytest.mark.parametrize(
    "write", [lambda t: t.mul_(2.0).add_(0.0), lambda t: t.data.mul_(2.0)], ids=["twice", "not at all"]
)
def test_a_write_that_does_not_count_once_is_found(monkeypatch, write):
    plant_write(monkeypatch, "counted", write)
    assert "rg.counted(" in str(failing(lambda p: state.versions_count_writes(p, tensors(p.inputs))))


def named(program):
    *_, (_, _, found) = program.walk(rg, tensors(program.inputs))
    return found


def test_a_refused_op_that_changes_something_is_found(monkeypatch):
    def half_done(t):
        t.add_(1.0)
        raise RuntimeError("refused")

    monkeypatch.setattr(rg, "half_done", half_done, raising=False)
    monkeypatch.setattr(state, "REFUSED", [*state.REFUSED, "rg.half_done(t)"])
    program = failing(lambda p: state.refused_ops_change_nothing(named(p), "v0"))
    with pytest.raises(
        AssertionError, match=r"half_done\(t\) with t = v0 was refused, and changed of .*: values, version"
    ):
        state.refused_ops_change_nothing(named(program), "v0")


def test_copies_that_no_longer_share_memory_are_found(monkeypatch):
    monkeypatch.setitem(files.WAYS, "apart", lambda found: {n: t.clone() for n, t in found.items()})
    program = failing(lambda p: files.copies_are_as_the_originals(named(p), "apart", True))
    with pytest.raises(AssertionError, match="apart"):
        files.copies_are_as_the_originals(named(program), "apart", True)
