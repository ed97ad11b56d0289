"""`draw` and `to_dot` of `retrograd.utils.graph` show the graph that there is."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import retrograd as rg
from retrograd.utils.graph import Drawing, draw, to_dot

SVG = "{http://www.w3.org/2000/svg}"


def labels(svg):
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]


def arrows(svg):
    return sum("marker-end" in path.attrib for path in ET.fromstring(svg).iter(f"{SVG}path"))


def boxes(svg):
    return [
        tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in ET.fromstring(svg).iter(f"{SVG}rect")
        if rect.get("rx")
    ]


def leaf(*shape):
    return rg.ones(*shape, requires_grad=True)


def test_every_node_and_edge_is_drawn_once():
    a, b = leaf(2, 3), leaf(3)
    shared = a * b
    svg = draw((shared + shared.exp()).sum(), params={"a": a, "b": b})
    nodes = ["MulBackward0", "ExpBackward0", "AddBackward0", "SumBackward0", "float32 ()"]
    leaves = ["a", "float32 (2, 3)", "b", "float32 (3,)"]
    assert sorted(labels(svg)) == sorted(nodes + leaves)
    assert arrows(svg) == 6


def test_an_operand_used_twice_has_two_arrows():
    a = leaf(2)
    assert arrows(draw(a * a)) == 2


def test_inputs_that_need_no_gradient_are_left_out():
    a = leaf(2)
    svg = draw(a * rg.ones(2), params={"a": a})
    assert labels(svg) == ["MulBackward0", "float32 (2,)", "a", "float32 (2,)"]
    assert arrows(svg) == 1


def test_a_leaf_alone_is_a_graph_of_one_box():
    svg = draw(leaf(4))
    assert labels(svg) == ["leaf", "float32 (4,)"]
    assert arrows(svg) == 0


def test_names_are_escaped():
    a = leaf(2)
    assert "<w> & 'b'" in labels(draw(a.sum(), params={"<w> & 'b'": a}))


def test_no_two_boxes_overlap_and_all_are_inside():
    w, b, state = leaf(3, 3), leaf(3), rg.zeros(1, 3)
    for _ in range(6):
        state = (state @ w + b).tanh() + state.exp() * w.sum()
    svg = draw(state.sum())
    placed = boxes(svg)
    _, _, width, height = map(float, ET.fromstring(svg).get("viewBox").split())
    for i, (x, y, w_, h) in enumerate(placed):
        assert x >= 0 and y >= 0 and x + w_ <= width and y + h <= height
        for ox, oy, ow, oh in placed[:i]:
            assert x + w_ <= ox or ox + ow <= x or y + h <= oy or oy + oh <= y


def test_a_deep_graph_does_not_recurse():
    x = leaf(1)
    y = x
    for _ in range(3000):
        y = y + 1
    assert arrows(draw(y, limit=5000)) == 3000


@pytest.mark.parametrize("show", [draw, to_dot])
def test_refuses_a_tensor_without_graph(show):
    with pytest.raises(ValueError, match=f"{show.__name__}: the tensor does not require grad"):
        show(rg.ones(2))


@pytest.mark.parametrize("show", [draw, to_dot])
def test_refuses_a_graph_beyond_the_limit(show):
    a = leaf(2)
    with pytest.raises(ValueError, match=f"{show.__name__}: the graph has more than 2 nodes"):
        show((a * 2).exp().sum(), limit=2)


def test_dot_has_every_node_and_edge_once():
    a, b = leaf(2, 3), leaf(3)
    shared = a * b
    dot = to_dot((shared + shared * shared).sum(), params={"a": a, "b": b})
    names = dict(re.findall(r'^  (\d+) \[label="(\w+)', dot, re.MULTILINE))
    assert sorted(names.values()) == ["AddBackward0", "MulBackward0", "MulBackward0", "SumBackward0", "a", "b"]
    edges = [(names[i], names[j]) for i, j in re.findall(r"^  (\d+) -> (\d+);", dot, re.MULTILINE)]
    twice = [("MulBackward0", "MulBackward0")] * 2  # an operand used twice
    ends = [("AddBackward0", "SumBackward0"), ("a", "MulBackward0"), ("b", "MulBackward0")]
    assert sorted(edges) == sorted([*ends, *twice, *[("MulBackward0", "AddBackward0")] * 2])


def test_dot_names_are_quoted():
    a = leaf(2)
    assert r'label="\"w\" \\ {b}\nfloat32 (2,)"' in to_dot(a.sum(), params={'"w" \\ {b}': a})


def test_a_drawing_is_a_string_that_a_notebook_shows():
    picture = draw(leaf(2).exp())
    assert isinstance(picture, Drawing) and isinstance(picture, str)
    assert picture._repr_svg_() == picture and type(picture._repr_svg_()) is str
    assert "<script" not in picture and "href" not in picture


def test_a_pointer_over_a_node_shows_its_op_sizes_dtype_and_line():
    a = leaf(2, 3)
    svg = draw(a.exp().sum(1), params={"a": a})
    titles = [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]
    line = test_a_pointer_over_a_node_shows_its_op_sizes_dtype_and_line.__code__.co_firstlineno + 2
    where = f"{Path(__file__).name}:{line}, in test_a_pointer_over_a_node_shows_its_op_sizes_dtype_and_line"
    text = 'svg = draw(a.exp().sum(1), params={"a": a})'
    assert f"ExpBackward0\nfloat32 (2, 3)\n{where}\n{text}" in titles
    assert "a\nfloat32 (2, 3)" in titles
    assert all("/" not in title for title in titles)  # no folders
