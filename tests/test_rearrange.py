"""`func.rearrange`, against NumPy."""

import importlib
import os

import numpy as np
import pytest

rg = importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))
rearrange = rg.func.rearrange

X = np.arange(2 * 3 * 4 * 5, dtype=np.float64).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("pattern", "sizes", "expected"),
    [
        ("a b c d -> d c b a", {}, X.transpose(3, 2, 1, 0)),
        ("a b c d -> (a b) c d", {}, X.reshape(6, 4, 5)),
        ("a b c d -> b (a c) d", {}, X.transpose(1, 0, 2, 3).reshape(3, 8, 5)),
        ("a b (c e) d -> e a b c d", {"e": 2}, X.reshape(2, 3, 2, 2, 5).transpose(3, 0, 1, 2, 4)),
        ("a b (c e) d -> (e a) b c d", {"c": 1, "e": 4}, X.transpose(2, 0, 1, 3).reshape(8, 3, 1, 5)),
        ("a ... -> ... a", {}, X.transpose(1, 2, 3, 0)),
        ("... d -> d ...", {}, X.transpose(3, 0, 1, 2)),
        ("a ... d -> (...) d a", {}, X.transpose(1, 2, 3, 0).reshape(12, 5, 2)),
        ("a ... d -> d (a ...)", {}, X.transpose(3, 0, 1, 2).reshape(5, 24)),
        ("a b c d ... -> (a b c d) ...", {}, X.reshape(120)),
        ("a b c d -> a 1 b () c d", {}, X.reshape(2, 1, 3, 1, 4, 5)),
        ("a b c d->(d c)(b a)", {}, X.transpose(3, 2, 1, 0).reshape(20, 6)),
    ],
)
def test_axes_are_rearranged(pattern, sizes, expected):
    y = rearrange(rg.from_numpy(X), pattern, **sizes)
    assert y.shape == expected.shape
    np.testing.assert_array_equal(y.numpy(), expected)


def test_tensors_are_stacked_first():
    x = rg.ones(2, 3)
    assert rearrange([x, 2 * x], "n a b -> a (n b)").tolist() == [[1.0] * 3 + [2.0] * 3] * 2


def test_axes_of_one_element_come_and_go():
    assert rearrange(rg.zeros(2, 1), "a 1 -> a").shape == (2,)
    assert rearrange(rg.tensor(1.0), " -> 1 1").shape == (1, 1)
    assert rearrange(rg.zeros(0, 4), "(a b) c -> a b c", a=2).shape == (2, 0, 4)


def test_gradients_are_rearranged_back():
    x = rg.randn(4, 6, dtype=rg.float64, requires_grad=True)
    assert rg.autograd.gradcheck(lambda x: rearrange(x, "(a b) c -> c (b a)", a=2), x)
    assert rearrange(x, "a b -> b a")._base is x


@pytest.mark.parametrize(
    ("pattern", "sizes", "kind", "text"),
    [
        ("a b - a", {}, ValueError, "Pattern must contain a single '->' separator"),
        (
            "a b -> a",
            {},
            ValueError,
            r"Identifiers only on one side of rearrange expression \(should be on both\): {'b'}",
        ),
        ("a b -> a b", {"c": 3}, ValueError, "Identifiers not found in rearrange expression: {'c'}"),
        ("a b -> a b", {"a": 3.0}, TypeError, "rearrange axis lengths must be integers, got: <class 'float'>"),
        ("a a -> a a", {}, ValueError, "Indexing expression contains duplicate dimension 'a'"),
        ("a 2 -> a 2", {}, ValueError, "rearrange only supports unnamed axes of size 1"),
        ("a (b (c d)) -> a b c d", {}, ValueError, "Axis composition is one-level"),
        ("a b) -> a b", {}, ValueError, "Brackets are not balanced"),
        ("(a b -> a b", {}, ValueError, r"Imbalanced parentheses in expression: '\(a b '"),
        ("a . -> a .", {}, ValueError, r"Expression may contain dots only inside ellipsis \(\.\.\.\)$"),
        ("a ... ... -> a", {}, ValueError, "only one ellipsis for tensor"),
        ("a _b -> a _b", {}, ValueError, "Invalid axis identifier: _b\naxis name should should not start or end"),
        ("a 2b -> a 2b", {}, ValueError, "Invalid axis identifier: 2b\nnot a valid python identifier"),
        ("a b% -> a b%", {}, ValueError, "Unknown character '%'"),
        ("(...) b -> b ...", {}, ValueError, "Ellipsis is parenthesis in the left side is not allowed"),
        ("a b -> b ...", {}, ValueError, "Ellipsis found in right side, but not left side of a pattern a b -> b"),
        ("a b c -> a b c", {}, ValueError, r"Number of dimensions in pattern \(3\) must be equal to .* tensor \(2\)"),
        ("... a b c -> a b c ...", {}, ValueError, r"pattern \(3\) must be less than or equal to .* tensor \(2\)"),
        ("(a b) c -> a b c", {"a": 3}, ValueError, r"does not evenly fit into larger dimension: 4 vs \(3, \?\)"),
        ("(a b) c -> a b c", {}, ValueError, "cannot infer the sizes of two dimensions at once a and b"),
        ("(a b) c -> a b c", {"a": 2, "b": 3}, ValueError, r"do not match \(4 != 6\) when matching dimension pack"),
        ("a b -> b a", {"a": 3}, ValueError, r"do not match \(4 != 3\) when matching dimension pack \(a\)"),
        ("a 1 -> a", {}, ValueError, r"do not match \(6 != 1\)"),
    ],
)
def test_patterns_are_checked(pattern, sizes, kind, text):
    with pytest.raises(kind, match=text):
        rearrange(rg.zeros(4, 6), pattern, **sizes)


def test_some_names_are_discouraged():
    with pytest.warns(RuntimeWarning, match="keywords: if"):
        rearrange(rg.zeros(2), "if -> if")
    with pytest.warns(FutureWarning, match="discouraged to use 'axis'"):
        rearrange(rg.zeros(2), "axis -> axis")
