"""Memory formats: strides of copies, recorded from PyTorch 2.13, and what takes a format."""

import copy
import importlib
import os
import pickle

import pytest

rg = importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))

# Sizes and strides of a tensor, the strides of its clone and of a conversion to another dtype; for tensors of 4 and 5
# dims, whether `to` takes it for channels last, and whether it is contiguous so.
CASES = [
    ((2, 3), (3, 1), (3, 1), (3, 1), None, False),
    ((2, 3), (1, 2), (1, 2), (1, 2), None, False),
    ((2, 3), (6, 2), (3, 1), (3, 1), None, False),
    ((3, 2), (1, 0), (2, 1), (2, 1), None, False),
    ((3, 2), (0, 0), (2, 1), (2, 1), None, False),
    ((3, 2), (0, 1), (2, 1), (2, 1), None, False),
    ((2, 3, 4), (1, 8, 2), (1, 8, 2), (1, 8, 2), None, False),
    ((2, 3, 4), (0, 4, 1), (12, 4, 1), (12, 4, 1), None, False),
    ((2, 3, 4), (4, 0, 1), (12, 4, 1), (12, 4, 1), None, False),
    ((2, 3, 4), (1, 2, 0), (4, 8, 1), (4, 8, 1), None, False),
    ((2, 3, 4), (24, 4, 1), (12, 4, 1), (12, 4, 1), None, False),
    ((2, 2, 2), (1, 1, 1), (4, 2, 1), (4, 2, 1), None, False),
    ((3, 1, 2), (1, 7, 3), (1, 7, 3), (1, 7, 3), None, False),
    ((0, 3), (1, 5), (1, 5), (1, 5), None, False),
    ((2, 3, 4, 5), (60, 20, 5, 1), (60, 20, 5, 1), (60, 20, 5, 1), False, False),
    ((2, 3, 4, 5), (60, 1, 15, 3), (60, 1, 15, 3), (60, 1, 15, 3), True, True),
    ((2, 3, 4, 5), (120, 1, 30, 6), (60, 1, 15, 3), (60, 1, 15, 3), True, False),
    ((2, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), False, True),
    ((2, 3, 1, 1), (3, 1, 3, 3), (3, 1, 3, 3), (3, 1, 3, 3), True, True),
    ((2, 3, 1, 1), (3, 1, 1, 1), (3, 1, 1, 1), (3, 1, 1, 1), False, True),
    ((1, 3, 4, 5), (60, 1, 15, 3), (60, 1, 15, 3), (60, 1, 15, 3), True, True),
    ((2, 1, 4, 5), (20, 1, 5, 1), (20, 1, 5, 1), (20, 1, 5, 1), True, True),
    ((2, 1, 4, 5), (20, 20, 5, 1), (20, 20, 5, 1), (20, 20, 5, 1), False, True),
    ((2, 3, 4, 5), (0, 1, 15, 3), (60, 1, 15, 3), (60, 1, 15, 3), False, False),
    ((2, 3, 4, 5), (60, 0, 15, 3), (60, 20, 5, 1), (60, 20, 5, 1), False, False),
    ((2, 3, 4, 5), (20, 0, 5, 1), (60, 20, 5, 1), (60, 20, 5, 1), False, False),
    ((2, 0, 4, 5), (0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), False, True),
    ((2, 3, 2, 2, 2), (24, 1, 12, 6, 3), (24, 1, 12, 6, 3), (24, 1, 12, 6, 3), True, True),
    ((2, 3, 2, 2, 2), (24, 8, 4, 2, 1), (24, 8, 4, 2, 1), (24, 8, 4, 2, 1), False, False),
    ((2, 3, 2, 2, 2), (48, 1, 24, 12, 6), (24, 1, 12, 6, 3), (24, 1, 12, 6, 3), True, False),
]
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
IMAGE, VOLUME = (2, 3, 4, 5), (2, 3, 2, 2, 2)


def laid_out(sizes, strides):
    return rg.arange(500.0).as_strided(sizes, strides)


def channels_last(x):
    return rg.channels_last if x.dim() == 4 else rg.channels_last_3d


@pytest.mark.parametrize(("sizes", "strides", "cloned", "converted", "taken", "contiguous"), CASES)
def test_strides_of_copies(sizes, strides, cloned, converted, taken, contiguous):
    x = laid_out(sizes, strides)
    for y in (x.clone(), x.clone(memory_format=rg.preserve_format), rg.empty_like(x), rg.zeros_like(x, dtype=rg.int64)):
        assert y.stride() == cloned
    assert rg.rand_like(x, memory_format=rg.preserve_format).stride() == cloned
    for y in (x.to(rg.float64), x.double(), x.to(rg.float32, copy=True), x.long(memory_format=rg.preserve_format)):
        assert y.stride() == converted
        assert y.tolist() == x.tolist()
    plain = x.clone(memory_format=rg.contiguous_format)
    assert plain.is_contiguous()
    assert plain.tolist() == x.tolist() == x.clone().tolist()
    if taken is not None:
        packed = channels_last(x)
        assert (x.to(memory_format=packed) is x) is taken
        assert x.is_contiguous(memory_format=packed) is contiguous
        assert (x.contiguous(memory_format=packed) is x) is contiguous


@pytest.mark.parametrize("sizes", [IMAGE, VOLUME])
def test_what_takes_a_format(sizes):
    x = rg.arange(float(rg.zeros(sizes).numel())).reshape(sizes)
    packed = channels_last(x)
    want = {IMAGE: (60, 1, 15, 3), VOLUME: (24, 1, 12, 6, 3)}[sizes]
    copies = (
        x.clone(memory_format=packed),
        x.contiguous(memory_format=packed),
        x.to(memory_format=packed),
        x.to(rg.float64, memory_format=packed),
        x.to("cpu", memory_format=packed),
        x.to(rg.zeros(1), memory_format=packed),
        x.double(memory_format=packed),
        x.cpu(memory_format=packed),
    )
    fresh = (
        rg.empty(sizes, memory_format=packed),
        *(getattr(rg, f"{name}_like")(x, memory_format=packed) for name in ("empty", "zeros", "ones", "rand", "randn")),
        rg.full_like(x, 7, memory_format=packed),
        rg.randint_like(x, 3, memory_format=packed),
    )
    for y in (*copies, *fresh):
        assert y.stride() == want
        assert y.is_contiguous(memory_format=packed)
        assert not y.is_contiguous()
    assert all(y.tolist() == x.tolist() for y in copies)
    # A format that the tensor has already, or leaves to it, makes no copy.
    assert x.to(memory_format=rg.contiguous_format) is x.to(memory_format=rg.preserve_format) is x.cpu() is x
    assert x.contiguous(memory_format=rg.preserve_format) is x
    assert copies[0].to(memory_format=packed) is copies[0].contiguous(memory_format=packed) is copies[0]
    assert copies[0].contiguous().stride() == x.stride()


def test_copies_in_a_format_are_differentiable():
    x = rg.rand(IMAGE, requires_grad=True)
    y = x.clone(memory_format=rg.channels_last)
    assert y.grad_fn.name() == "CloneBackward0"
    z = y.to(rg.float64, memory_format=rg.contiguous_format)
    assert z.grad_fn.name() == "ToCopyBackward0"
    (z * 2).sum().backward()
    assert x.grad.tolist() == rg.full_like(x, 2.0).tolist()


def test_refusals():
    x = rg.zeros(2, 3)
    for name, f in (
        ("clone", lambda: x.clone(memory_format=rg.channels_last)),
        ("contiguous", lambda: x.contiguous(memory_format=rg.channels_last)),
        ("to", lambda: x.to(memory_format=rg.channels_last)),
        ("empty", lambda: rg.empty(2, 3, memory_format=rg.channels_last)),
        ("zeros_like", lambda: rg.zeros_like(x, memory_format=rg.channels_last)),
    ):
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format") as raised:
            f()
        assert rg.__name__ == "torch" or str(raised.value).startswith(name)
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported"):
        x.t().contiguous(memory_format=rg.preserve_format)
    with pytest.raises(RuntimeError, match="unsupported memory format"):
        rg.empty(2, memory_format=rg.preserve_format)
    assert x.is_contiguous(memory_format=rg.channels_last) is False
    for f in (
        lambda: x.is_contiguous(memory_format=1),
        lambda: x.clone(memory_format="channels_last"),
        lambda: x.contiguous(rg.contiguous_format),
        lambda: rg.zeros(2, layout="strided"),
    ):
        with pytest.raises(TypeError):
            f()


def test_the_objects():
    for name in FORMATS:
        fmt = getattr(rg, name)
        assert isinstance(fmt, rg.memory_format)
        assert repr(fmt) == f"{rg.__name__}.{name}"
        assert pickle.loads(pickle.dumps(fmt)) == copy.deepcopy(fmt) == fmt
    assert len({getattr(rg, name) for name in FORMATS}) == 4
    assert isinstance(rg.strided, rg.layout)
    assert rg.zeros(2).layout is rg.strided
    assert repr(rg.strided) == f"{rg.__name__}.strided"
    assert pickle.loads(pickle.dumps(rg.strided)) is rg.strided
    assert (
        rg.zeros(2, layout=rg.strided).tolist() == rg.zeros_like(rg.ones(2), layout=rg.strided).tolist() == [0.0, 0.0]
    )


# Sizes and strides of two operands, and the strides that PyTorch gives their sum: of axes with equal strides, one of
# them of size 1, the longer one goes outside.
SUMS = [
    ((1, 2, 3), (3, 3, 1), (6, 1, 2), (3, 3, 1)),
    ((1, 2, 3), (3, 3, 1), (1, 1, 2), (3, 3, 1)),
    ((1, 3, 2), (3, 1, 3), (6, 2, 1), (3, 1, 3)),
    ((1, 3, 2), (3, 1, 3), (3, 1, 3), (3, 1, 3)),
    ((3, 1, 2), (1, 3, 3), (2, 2, 1), (1, 3, 3)),
    ((3, 1, 2), (1, 3, 3), (2, 6, 1), (1, 3, 3)),
    ((3, 1, 2), (1, 3, 3), (1, 6, 3), (1, 3, 3)),
    ((1, 3, 1, 2), (2, 2, 2, 1), (6, 1, 6, 3), (2, 2, 2, 1)),
]


@pytest.mark.parametrize(("sizes", "first", "second", "result"), SUMS)
def test_strides_of_results_along_axes_of_size_1(sizes, first, second, result):
    a, b = laid_out(sizes, first), laid_out(sizes, second)
    assert (a + b).stride() == result
    assert (a + b).tolist() == (a.contiguous() + b.contiguous()).tolist()
