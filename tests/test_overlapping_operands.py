"""Operands that lie over the target of a write, where no rule refuses them: all is read before it is written."""

import pytest

import retrograd as rg

WRITES = {
    "add_": lambda a, b: a + b,
    "sub_": lambda a, b: a - b,
    "mul_": lambda a, b: a * b,
    "div_": lambda a, b: a / b,
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("n", [5, 100, 70_000])
@pytest.mark.parametrize("shift", [-2, 2])
@pytest.mark.parametrize("dtype", [rg.float32, rg.float64])
def test_an_operand_with_gaps_that_is_shifted_against_the_target(name, n, shift, dtype):
    """Every second element of memory, so that it is not known at once which elements meet."""
    memory = 1 + rg.arange(2 * n + 4, dtype=dtype) % 7
    target, other = memory[2 : 2 * n + 2 : 2], memory[2 + shift : 2 * n + 2 + shift : 2]
    want = WRITES[name](target.clone(), other.clone())
    getattr(target, name)(other)
    assert rg.equal(target, want)


@pytest.mark.parametrize("name", WRITES)
def test_an_operand_that_is_the_target_in_another_order(name):
    memory = 1 + rg.arange(36.0).reshape(6, 6)
    target, other = memory[::2, ::2], memory[::2, ::2].T
    want = WRITES[name](target.clone(), other.clone())
    getattr(target, name)(other)
    assert rg.equal(target, want)
