"""Ranges for tools outside: what they are told, and in which order."""

import pytest

import retrograd as rg
from retrograd import autograd
from retrograd.autograd import profiler
from retrograd.autograd._profiler import ranges


@pytest.fixture
def told(monkeypatch):
    told = []
    functions = ranges.Functions(lambda text: told.append(text), lambda: told.append(None))
    monkeypatch.setattr(ranges, "nvtx", functions)
    monkeypatch.setattr(ranges, "itt", functions)
    return told


@pytest.mark.parametrize("emit", [profiler.emit_nvtx, profiler.emit_itt])
def test_ranges_nest(told, emit):
    x, w = rg.ones(3, 4, requires_grad=True), rg.ones(4, 5)
    emitter = emit(record_shapes=True)
    with emitter as entered:
        assert entered is emitter and emitter.entered and emitter.record_shapes
        with profiler.record_function("label"):
            (x @ w).sum().backward()
    assert told.count(None) * 2 == len(told)
    depth = 0
    for text in told:
        depth += 1 if text is not None else -1
        assert depth >= 0
    texts = [text for text in told if text is not None]
    assert texts[0] == "label"
    product = next(text for text in texts if text.startswith("aten::mm"))
    assert product.endswith(", sizes = [[3, 4], [4, 5]]")
    number = int(product.split("seq = ")[1].split(",")[0])
    assert f"autograd::engine::evaluate_function: MmBackward0, stashed seq = {number}" in texts
    ones = next(text for text in texts if text.startswith("aten::ones_like"))
    assert "seq" not in ones
    told.clear()
    rg.ones(2)
    assert told == []
    with pytest.raises(RuntimeError, match=r"(NVTX|ITT) annotation context manager is not reentrant"), emitter:
        pass
    assert not autograd._profiler_enabled()


def test_without_shapes(told):
    with profiler.emit_nvtx():
        rg.ones(2) * 2
    assert told == ["aten::ones", None, "aten::mul", None]


def test_disabled(told):
    for emit in (profiler.emit_nvtx, profiler.emit_itt):
        with emit(False) as entered:
            assert entered is None
            rg.ones(2)
    assert told == []


def test_no_session_inside_of_another(told):
    already = pytest.raises(RuntimeError, match="Profiler is already enabled on this thread")
    with profiler.emit_itt(), already, profiler.profile():
        pass
    with profiler.profile() as prof:
        rg.ones(1)
    assert len(prof.function_events) == 1


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setattr(ranges, "nvtx", None)
    monkeypatch.setattr(ranges, "itt", None)
    monkeypatch.setattr(ranges.ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError()))
    with pytest.raises(RuntimeError, match=r"NVTX.*CUDA installation"), profiler.emit_nvtx():
        pass
    assert not autograd._profiler_enabled()
    with profiler.emit_itt():
        rg.ones(1)


def test_a_tool_that_fails_does_not_stop_the_program(monkeypatch, capsys):
    def fails(text):
        raise ValueError("tool")

    monkeypatch.setattr(ranges, "nvtx", ranges.Functions(fails, lambda: None))
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: seen.append(str(what.exc_value)))
    with profiler.emit_nvtx():
        assert (rg.ones(2) * 2).sum().item() == 4
    assert "tool" in seen
