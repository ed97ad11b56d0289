"""The model of a data parallel step: its fit, and where it bends."""

import pytest


@pytest.fixture
def model(bench):
    return bench("distributed_model")


def test_a_line_is_found_again(model):
    sizes = [4 << (2 * i) for i in range(10)]
    line = model.Line(3e-6, 2e-10)
    found = model.fit(sizes, [line(size) for size in sizes])
    assert found == pytest.approx(line)
    assert model.fit([1, 1000], [1.0, 0.5]).beta == 0.0  # no message of more bytes takes less time


def test_every_byte_crosses_each_link_about_twice(model):
    size, rate = 1e9, 1e10
    assert model.all_reduce(1, size) == 0
    assert model.all_reduce(2, size, 0.0, rate) == pytest.approx(size / rate)
    assert model.all_reduce(1024, size, 0.0, rate) == pytest.approx(2 * size / rate, rel=1e-2)
    assert model.all_reduce(1024, 0.0, 1e-6, rate) == pytest.approx(20e-6)


def test_sending_hides_behind_the_backward_pass(model):
    assert model.exposed(3.0, [0.5, 0.5, 0.1]) == 0.1
    assert model.exposed(3.0, [2.0, 1.5, 0.5]) == pytest.approx(2.0)


def test_scaling_bends_at_so_many_tokens_on_a_node(model):
    """The page: sending outlasts the pass below 2 F beta tokens on a node, for any model."""
    core = 1e11
    least = 2 * model.CORES * core / model.NETWORK_RATE
    for parameters in (1e8, 1e10):
        for nodes in (64, 512, 1024, 8192):
            found = model.project(parameters, 1000, nodes, core)
            outlasts = found.sent > model.BACKWARD * found.compute
            if not 0.8 < model.TOKENS / nodes / least < 1.25:
                assert outlasts == (model.TOKENS / nodes < least)
    assert model.bend(1e9, 100, core, width=2.0) > model.bend(1e9, 100, core)


def test_the_page_is_made_of_what_was_measured(model):
    sizes = [4, 4096, 1 << 20]
    step = {"name": "transformer", "parameters": 10**6, "buckets": 4, "tokens": 512}
    times = {"alone": 0.5, "together": 0.52, "parallel": 0.53}
    results = [
        {
            "progress": "thread",
            "ranks": n,
            "messages": {"there": [1e-6, 2e-6, 1e-4], "all_reduce": [2e-6, 4e-6, 3e-4]},
            "steps": [step | times],
        }
        for n in (1, 2)
    ]
    results[0]["messages"] = None
    text = model.tables(results, sizes)
    assert "| transformer, 2 ranks | 500 ms | 520 ms |" in text
    assert f"{0.5 / 0.53:.1%}" in text
    assert "| 1 MiB | 100 us | 300 us |" in text
