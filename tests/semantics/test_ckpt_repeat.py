"""CKPT-4: a call must do the same when it is repeated."""

import contextlib

import numpy as np
import pytest

from . import array, beyond, close, fails, leaf, rg, same
from .test_ckpt import CheckpointError, checkpoint, ckpt, wave, wave_slope


def differing(first, second, **options):
    """The result of a call that does something else when it is repeated."""
    ways = iter([first, second])
    return checkpoint(lambda x: next(ways)(x), leaf([1.0, 2.0]), use_reentrant=False, **options).sum()


def test_ckpt_4_the_error_is_a_runtime_error():
    assert issubclass(CheckpointError, RuntimeError)


@pytest.mark.parametrize("check", ["default", "none"])
def test_ckpt_4_fewer_tensors(check):
    y = differing(wave, rg.sin, determinism_check=check)
    text = ("A different number of tensors was saved", "during forward: 2", "during recomputation: 1")
    with fails(*text, kind=CheckpointError):
        y.backward()
    with fails("A different number of tensors was saved", "during recomputation: 0", kind=CheckpointError):
        differing(wave, lambda x: x + 1, determinism_check=check).backward()


def test_ckpt_4_more_tensors():
    more = fails(
        "trying to save more tensors during recomputation than during the original forward", kind=CheckpointError
    )
    with more:
        differing(rg.sin, wave, early_stop=False).backward()
    with more:
        differing(rg.sin, wave, early_stop=False, determinism_check="none").backward()
    differing(rg.sin, wave).backward()  # stops before it shows


@beyond("torch does not say how many")
def test_ckpt_4_more_tensors_are_counted():
    text = ("during forward: 1", "during recomputation: 3", "position 1", "'shape': (2,), 'dtype': 'float64'")
    with fails(*text, kind=CheckpointError):
        differing(rg.sin, lambda x: wave(x.sin().to(rg.float64)), early_stop=False).backward()


@beyond("torch does not say which")
def test_ckpt_4_the_first_tensor_that_differs_is_named():
    text = ("during forward: 2", "during recomputation: 1", "position 0", "'shape': (2,)", "'shape': (1,)")
    with fails(*text, kind=CheckpointError):
        differing(wave, lambda x: x[:1].sin()).backward()
    text = (
        "during forward: 2",
        "during recomputation: 1",
        "position 1",
        "saved metadata",
        "recomputed metadata",
        "none",
    )
    with fails(*text, kind=CheckpointError):
        differing(wave, rg.sin).backward()


@pytest.mark.parametrize(
    ("second", "was", "now"),
    [
        (lambda x: wave(x[:1]), "[2]", "[1]"),
        (lambda x: wave(x.expand(3, 2)), "[2]", "[3, 2]"),
        (lambda x: wave(x.to(rg.float64)), "float32", "float64"),
    ],
)
@pytest.mark.parametrize("early_stop", [True, False])
def test_ckpt_4_other_shapes_and_dtypes(second, was, now, early_stop):
    y = differing(wave, second, early_stop=early_stop)
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    text = str(caught.value).replace("(2,)", "[2]").replace("(1,)", "[1]").replace("(3, 2)", "[3, 2]")
    head, first, other = text.split("tensor at position ")
    assert "have different metadata than during the forward pass" in head
    assert first.startswith("0:") and other.startswith("1:")
    for part in (first, other):
        saved, recomputed = part.split("recomputed metadata:")
        assert was in saved and now in recomputed.splitlines()[0]


def test_ckpt_4_only_what_differs_is_listed():
    with pytest.raises(CheckpointError) as caught:
        differing(lambda x: x.sin().exp().cos(), lambda x: x.sin().to(rg.float64).exp().to(rg.float32).cos()).backward()
    assert [f"position {i}:" in str(caught.value) for i in range(3)] == [False, True, False]


@beyond("torch does not say how many")
def test_ckpt_4_differing_metadata_comes_with_the_numbers():
    with fails("have different metadata", "during forward: 2", "during recomputation: 2", kind=CheckpointError):
        differing(wave, lambda x: wave(x[:1])).backward()


def test_ckpt_4_the_check_can_be_turned_off():
    differing(lambda x: x.sin(), lambda x: x.to(rg.float64).sin(), determinism_check="none").backward()


def test_ckpt_4_values_are_not_compared():
    x, factors = leaf([1.0]), iter([2.0, 5.0])
    checkpoint(lambda x: (x * next(factors)).exp(), x, use_reentrant=False).backward()
    close(x.grad, [2 * np.exp(5.0)])  # the graph of the call, the values of the recomputation


def test_ckpt_4_another_pass_may_do_better():
    x, ways = leaf([1.0]), iter([wave, rg.sin, wave])
    y = checkpoint(lambda x: next(ways)(x), x, use_reentrant=False)
    with fails("A different number of tensors", kind=CheckpointError):
        y.backward(retain_graph=True)
    y.backward()
    close(x.grad, wave_slope(x))


def shorter(x):
    return x.sin() * 1


@pytest.mark.parametrize("by", ["argument", "context"])
def test_ckpt_4_debug_shows_both_calls(by):
    debug = ckpt.set_checkpoint_debug_enabled(True) if by == "context" else contextlib.nullcontext()
    with debug:
        y = differing(wave, shorter, **({"debug": True} if by == "argument" else {}))
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    text = str(caught.value)
    assert "Detected non-determinism while running activation checkpointing" in text
    assert "Operations executed during the original forward" in text
    assert "Operations executed during recomputation" in text
    for call, function in (("original", wave), ("recompute", shorter)):
        assert f"in {call})" in text
        code = function.__code__
        assert any(code.co_filename in line and code.co_name in line for line in text.splitlines())


def test_ckpt_4_debug_can_be_turned_off_from_outside():
    with ckpt.set_checkpoint_debug_enabled(False):
        y = differing(wave, shorter, debug=True)
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    assert "Detected non-determinism" not in str(caught.value)
    assert "debug=True" in str(caught.value)  # as a tip


@beyond("torch lists ops, and leaves it to the reader which of them saved something")
def test_ckpt_4_debug_names_what_was_saved_and_where():
    def first(x):
        return x.sin().exp()

    def second(x):
        y = x.cos()
        return (y * y).exp()

    with pytest.raises(CheckpointError) as caught:
        differing(first, second, debug=True, early_stop=False).backward()
    text = str(caught.value)
    lines = text.split("They differ first in:\n")[1].splitlines()
    line = first.__code__.co_firstlineno
    assert lines[0] == f"0: float32[2] (leaf), saved at {__file__}:{line + 1} in first"
    assert lines[1] == f"0: float32[2] (leaf), saved at {__file__}:{second.__code__.co_firstlineno + 1} in second"
    saved = text.split("by what they saved:\n")
    assert f"1: float32[2] (ExpBackward0), saved at {__file__}:{line + 1} in first" in saved[1]
    assert [part.count("(CosBackward0)") for part in saved] == [0, 0, 2]
    assert "during forward: 2" in text and "during recomputation: 4" in text


def test_ckpt_4_debug_does_not_disturb_a_call_that_repeats():
    for form in (checkpoint, lambda *args, **kw: checkpoint(lambda x: checkpoint(*args, **kw), leaf([1.0]), **kw)):
        x = leaf([1.0, 2.0])
        form(wave, x, use_reentrant=False, debug=True).sum().backward()
        close(x.grad, wave_slope(x))


def test_ckpt_4_random_numbers_are_replayed_in_nested_calls_and_several_passes():
    masks, x = [], leaf([1.0] * 30)

    def drop(x):
        mask = rg.rand(30) < 0.5
        masks.append(array(mask))
        return (x.sin() * mask).exp()

    rg.manual_seed(3)
    y = checkpoint(lambda x: checkpoint(drop, x, use_reentrant=False).cos(), x, use_reentrant=False).sum()
    rg.manual_seed(4)
    following = array(rg.rand(4))
    rg.manual_seed(4)
    y.backward(retain_graph=True)
    y.backward()
    same(rg.rand(4), following)
    assert len(masks) > 3
    assert all(np.array_equal(mask, masks[0]) for mask in masks) and 0 < masks[0].sum() < 30
