"""`retrograd.utils.graph.memory` lists what a graph keeps alive: each byte once, and with who keeps it."""

import gc
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import retrograd as rg
from retrograd import _core
from retrograd.autograd import Function
from retrograd.autograd.graph import get_gradient_edge, saved_tensors_hooks
from retrograd.utils.checkpoint import checkpoint
from retrograd.utils.graph import Drawing, memory

SVG = "{http://www.w3.org/2000/svg}"
FLOAT = 4
PAGE = 1 << 16  # bytes of a tensor of 128 x 128, which the memory pool does not round


def leaf(*shape):
    return rg.ones(*shape, requires_grad=True)


def page(**options):
    return rg.rand(128, 128, **options)


def by_keeper(ledger):
    return ledger.graph, ledger.program, ledger.leaves


def test_a_saved_result_and_a_saved_operand():
    x = leaf(3, 5)
    ledger = memory((x.exp() * rg.ones(3, 5)).sum())  # exp saves its result, mul the ones
    assert by_keeper(ledger) == (2 * 15 * FLOAT, 0, 15 * FLOAT)
    assert ledger.total == 3 * 15 * FLOAT
    assert sorted(block.saved_as for block in ledger.blocks) == [(), ("ExpBackward0.result",), ("MulBackward0.other",)]


def test_a_tensor_that_several_nodes_saved_counts_once():
    y = leaf(7).exp()  # saved as the result of exp
    loss = (y * y + y.sin()).sum()  # and as both operands of mul, and by sin
    assert memory(loss).program == 7 * FLOAT
    del y
    ledger = memory(loss)
    assert ledger.graph == 7 * FLOAT
    (block,) = [block for block in ledger.blocks if block.keeper == "graph"]
    assert block.op == "ExpBackward0"  # the first
    assert set(block.saved_as) == {
        "ExpBackward0.result", "MulBackward0.self", "MulBackward0.other", "SinBackward0.self",
    }  # fmt: skip


def test_a_view_counts_as_its_base():
    base = rg.ones(10, 20)
    loss = (leaf(20) * base[3]).sum()
    ledger = memory(loss)
    assert ledger.program == 10 * 20 * FLOAT
    del base  # the view has it
    ledger = memory(loss)
    (block,) = [block for block in ledger.blocks if block.keeper == "graph"]
    assert (block.bytes, block.sizes) == (10 * 20 * FLOAT, (10, 20))


def test_views_of_one_base_are_one_block():
    base = rg.ones(4, 6)
    ledger = memory((leaf(6) * base[0] + leaf(6) * base[1]).sum() + (leaf(4) * base[:, 2]).sum())
    assert by_keeper(ledger) == (0, 24 * FLOAT, (6 + 6 + 4) * FLOAT)


def test_an_expanded_tensor_counts_the_memory_that_it_has():
    ledger = memory((leaf(100, 50) * rg.ones(50).expand(100, 50)).sum())
    assert ledger.graph == 50 * FLOAT


def test_a_view_of_a_leaf_is_the_leaf():
    w = leaf(3, 4)
    ledger = memory(rg.ones(2, 4).matmul(w.t()).exp().sum(), params={"w": w})
    names = {block.name: block for block in ledger.blocks if block.keeper == "leaf"}
    assert names["w"].bytes == 12 * FLOAT
    assert ledger.leaves == 12 * FLOAT


@pytest.mark.parametrize("dtype", [rg.float64, rg.float16, rg.complex64])
def test_bytes_follow_the_dtype(dtype):
    ledger = memory((rg.ones(9, dtype=dtype, requires_grad=True) * rg.ones(9, dtype=dtype)).sum())
    assert ledger.graph == 9 * dtype.itemsize
    assert {block.dtype for block in ledger.blocks} == {dtype}


def test_python_numbers_are_overhead():
    x = leaf(3)
    ledger = memory((x * 2).sum())
    assert ledger.graph == ledger.program == 0
    assert ledger.overhead > memory(x.sum()).overhead


def test_what_another_graph_holds_too_is_not_freed():
    x = leaf(5)
    y = x.exp()
    first, second = (y * y).sum(), (y * y).sum()
    del y
    assert memory(first).freed_by_backward == 0
    assert memory([first, second]).freed_by_backward == 5 * FLOAT
    del second
    assert memory(first).freed_by_backward == 5 * FLOAT


def test_an_object_that_its_tensor_owns_is_held_by_the_graph_alone():
    x = leaf(5)
    y = x.exp()
    y.note = "carried"
    loss = (y * y).sum()
    del y
    assert by_keeper(memory(loss)) == (5 * FLOAT, 0, 5 * FLOAT)


def test_what_backward_frees_is_what_was_said():
    gc.collect()
    x, w, v = page(), page(requires_grad=True), page(requires_grad=True)

    def loss():
        hidden = (x @ w).tanh()
        return ((hidden * hidden.exp()) @ v).sigmoid().sum()

    for leaf_ in (w, v):
        leaf_.grad = rg.zeros(128, 128)  # so that backward makes no new one
    root = loss()
    ledger = memory(root)
    assert by_keeper(ledger) == (4 * PAGE, PAGE, 2 * PAGE)  # tanh, exp, mul, sigmoid; x; w and v
    before = _core._memory_stats()[0]
    said = ledger.freed_by_backward
    del ledger
    root.backward()
    assert abs(before - _core._memory_stats()[0] - said) < 4096
    after = memory(root)
    assert by_keeper(after) == (0, 0, 2 * PAGE)  # the graph is still there, and leads to the leaves


def test_what_a_custom_function_saves():
    class Square(Function):
        @staticmethod
        def forward(ctx, a):
            scale = rg.full((11,), 2.0)
            ctx.save_for_backward(a, scale)
            return a * a

        @staticmethod
        def backward(ctx, g):
            a, scale = ctx.saved_tensors
            return g * a * scale

    ledger = memory(Square.apply(leaf(11)).sum())
    assert by_keeper(ledger) == (11 * FLOAT, 0, 11 * FLOAT)
    assert ledger.rows("op", "graph")[0].key == "SquareBackward"


def test_packed_tensors_are_counted_and_not_unpacked():
    calls = []
    with saved_tensors_hooks(lambda t: t, lambda t: calls.append(t) or t):
        loss = leaf(1000).exp().sin().sum()
    ledger = memory(loss)
    assert (ledger.packed, ledger.graph, calls) == (2, 0, [])
    assert {row.key: row.packed for row in ledger.rows("op") if row.packed} == {"ExpBackward0": 1, "SinBackward0": 1}
    assert "2 saved tensors are packed by hooks, bytes unknown" in ledger.table()


def test_a_checkpoint_keeps_its_operand_alone():
    def part(a):
        return (a.exp() * a).tanh()

    x = page(requires_grad=True)
    h = x * page()
    plain, saving = part(h).sum(), checkpoint(part, h, use_reentrant=False).sum()
    assert memory(plain).total - memory(saving).total >= 3 * PAGE
    assert memory(saving).packed > 0 == memory(plain).packed


def test_looking_changes_nothing():
    calls = []
    x = page(requires_grad=True)
    x.register_hook(calls.append)
    y = x.exp()
    loss = (y * y).sum()
    loss.grad_fn.register_hook(lambda *grads: calls.append(grads))
    live = _core._memory_stats()[0]
    for _ in range(3):
        ledger = memory(loss, params={"x": x})
        ledger.table(), ledger.to_dict(), ledger.draw()
    assert _core._memory_stats()[0] == live
    assert (x._version, y._version) == (0, 0)
    assert x.grad is None and not calls
    del loss, y
    assert _core._memory_stats()[0] <= live - PAGE  # the ledger holds nothing
    assert ledger.program == PAGE


def test_roots_may_be_nodes_and_edges_and_several():
    x = leaf(6)
    y = x.exp()
    loss = y.sum()
    expected = memory(loss).to_dict()
    for root in (loss.grad_fn, get_gradient_edge(loss), [loss], (loss, loss.grad_fn, y), iter([loss])):
        assert memory(root).to_dict() == expected
    assert memory(x).total == 6 * FLOAT == memory(get_gradient_edge(x).node).total


def test_a_tensor_without_graph_has_an_empty_ledger():
    ledger = memory(rg.ones(3))
    assert (ledger.total, ledger.overhead, ledger.nodes, ledger.blocks) == (0, 0, 0, ())
    assert "backward() frees 0 B" in ledger.table()
    ET.fromstring(ledger.draw())


@pytest.mark.parametrize("wrong", [3, "loss", [3], None])
def test_refuses_what_is_no_root(wrong):
    with pytest.raises(TypeError):
        memory(wrong)


def model():
    x, w, v = rg.rand(8, 16), rg.rand(16, 32, requires_grad=True), rg.rand(32, 4, requires_grad=True)
    hidden = (x @ w).relu()
    return (hidden @ v).tanh().sum()


def test_rows_are_by_line_and_by_op():
    ledger = memory(model())
    lines = {row.key: row for row in ledger.rows("line")}
    first = model.__code__.co_firstlineno
    hidden, last = (lines[f"test_utils_graph_memory.py:{first + at}"] for at in (2, 3))
    assert hidden.graph == (8 * 16 + 8 * 32) * FLOAT  # x, which nobody holds now, and the result of relu
    assert last.graph == 8 * 4 * FLOAT
    assert hidden.place.function == "model" and hidden.place.text == "hidden = (x @ w).relu()"
    assert lines["leaves"].leaf == (16 * 32 + 32 * 4) * FLOAT
    for group in ("line", "op"):
        rows = ledger.rows(group)
        assert sum(row.bytes for row in rows) == ledger.total
        assert [row.bytes for row in rows] == sorted((row.bytes for row in rows), reverse=True)


def test_tables_are_sorted_and_cut():
    ledger = memory(model())
    table = ledger.table("op", sort_by="key").splitlines()
    assert [line.split()[0] for line in table[2:-3]] == sorted(row.key for row in ledger.rows("op"))
    cut = ledger.table("op", row_limit=1).splitlines()
    assert re.match(r"and \d more ", cut[3])
    assert cut[-2] == ledger.table("op", row_limit=-1).splitlines()[-2]  # the sums are of all rows
    assert str(ledger) == ledger.table()


@pytest.mark.parametrize("wrong", [{"group_by": "file"}, {"sort_by": "time"}])
def test_tables_refuse_unknown_columns(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        memory(model()).table(**wrong)


def test_dicts_are_ready_for_json():
    ledger = memory(model())
    read = json.loads(json.dumps(ledger.to_dict()))
    assert read["total"] == ledger.total == sum(block["bytes"] for block in read["blocks"])
    assert read["freed_by_backward"] == sum(row["graph"] for row in read["by_line"].values())
    assert read["leaves"] == sum(row["leaf"] for row in read["by_op"].values())
    assert (read["nodes"], read["packed"]) == (5, 0)


def test_lines_of_files_with_one_name_are_two():
    blocks = []
    for folder in ("a", "b"):
        names = {"x": leaf(4)}
        exec(compile("y = x.exp()", f"/{folder}/model.py", "exec"), names)
        blocks.append(names["y"])
        del names
    ledger = memory(blocks)
    assert sorted(row.key for row in ledger.rows()) == ["leaves", "model.py:1", "model.py:1'"]


def test_a_deep_graph():
    x = leaf(2)
    y = x
    for _ in range(20_000):
        y = y.sin()
    ledger = memory(y)
    assert ledger.nodes == 20_000
    assert by_keeper(ledger) == ((20_000 - 1) * 2 * FLOAT, 0, 2 * FLOAT)


# ---- the picture


def test_the_picture_is_one_file_that_needs_nothing():
    picture = memory(model(), params={}).draw()
    assert isinstance(picture, Drawing)
    root = ET.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert "href" not in picture and "<script" not in picture and "url(" not in picture
    assert str(Path(__file__).parent) not in picture
    assert memory(model())._repr_svg_().startswith("<svg")


def test_bars_are_inside_and_as_long_as_their_bytes():
    losses = [leaf(10 * (i + 1)).exp().sum() for i in range(3)]
    total = losses[0] + losses[1] + losses[2]
    ledger = memory(total)
    root = ET.fromstring(ledger.draw())
    _, _, width, height = map(float, root.get("viewBox").split())
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("height") == "16"]
    longest = max(float(bar.get("width")) for bar in bars)
    assert sum(float(bar.get("width")) for bar in bars) / longest == pytest.approx(2.0, rel=1e-3)  # leaves, and a line
    for rect in bars:
        assert 0 <= float(rect.get("x")) <= float(rect.get("x")) + float(rect.get("width")) <= width
    for text in root.iter(f"{SVG}text"):
        end = float(text.get("x")) + 0.6 * float(text.get("font-size")) * len(text.text)
        assert end <= width, text.text
        assert 0 < float(text.get("y")) <= height


def test_many_lines_are_cut_with_a_note():
    source = "def many(x):\n    total = x.sum()\n" + "".join(
        f"    total = total + x[:{i + 1}].exp().sum()\n" for i in range(30)
    )
    names = {}
    exec(compile(source + "    return total\n", "<many & more>", "exec"), names)
    picture = memory(names["many"](leaf(40))).draw(row_limit=5)
    texts = [text.text for text in ET.fromstring(picture).iter(f"{SVG}text")]
    assert texts[-1].startswith("and 26 more lines: ")
    assert sum("<many & more>:" in text for text in texts) == 4  # and the leaves


def test_memory_that_numpy_shares_counts_once_and_is_not_freed():
    np = pytest.importorskip("numpy")
    array = np.ones(12, np.float32)
    loss = (leaf(12) * rg.from_numpy(array)).sum() + (leaf(12) * rg.from_numpy(array)).sum()
    assert by_keeper(memory(loss)) == (0, 12 * FLOAT, 2 * 12 * FLOAT)
