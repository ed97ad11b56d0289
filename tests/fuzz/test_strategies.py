"""Programs are what they are meant to be: various, and the same when printed."""

import re

import numpy as np
from hypothesis import Phase, given, settings

import retrograd as rg
from fuzz.strategies import programs


def test_a_printed_program_is_the_program():
    seen = []

    @settings(max_examples=50, phases=[Phase.generate])
    @given(program=programs(modes=True))
    def run(program):
        space = {"rg": rg}
        exec(str(program), space)
        xs = [space[f"x{i}"] for i in range(len(program.inputs))]
        for got, want in zip(space["f"](*xs), program.values(), strict=True):
            np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-9, atol=1e-9)
        seen.append(str(program))

    run()
    assert len(set(seen)) > 10


def test_programs_have_all_kinds_of_lines():
    """Else a property would hold because nothing happens."""
    seen = set()

    @settings(max_examples=300, phases=[Phase.generate], derandomize=True)
    @given(program=programs(modes=True))
    def run(program):
        seen.update(re.findall(r"(\w+)\(|(\w+) as|([+*-]=)|(\] =)", program.text()))

    run()
    words = {word for found in seen for word in found}
    assert {"t_", "mul_", "copy_", "exp_", "select", "narrow", "no_grad", "register_hook", "+=", "] =", "sum"} <= words
    assert len(words) > 90
