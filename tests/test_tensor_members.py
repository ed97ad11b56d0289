"""Members of a tensor that are no ops: properties, and conversions by the name of a type."""

import importlib
import os

import pytest

rg = importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))
NAME = rg.__name__


def test_the_adjoint_of_a_real_matrix_is_its_transpose():
    x = rg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    for y in (x.H, x.mH, x.adjoint(), rg.adjoint(x)):
        assert y.tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
        assert y._base is x
        assert y.grad_fn.name() == "TransposeBackward0"
    assert rg.zeros(4, 2, 3).mH.shape == (4, 3, 2)
    with pytest.warns(UserWarning, match=r"Tensor\.H is deprecated on 0-D tensors"):
        assert rg.tensor(1.0).H.tolist() == 1.0
    for f, text in (
        (lambda: rg.zeros(2, 2, 2).H, r"tensor\.H is only supported on matrices .* Got 3-D tensor.*tensor\.mH"),
        (lambda: rg.zeros(2).H, r"tensor\.H is only supported on matrices .* Got 1-D tensor"),
        (lambda: rg.zeros(2).mH, r"tensor\.mH is only supported on .* Got 1-D tensor"),
    ):
        with pytest.raises(RuntimeError, match=text):
            f()


def test_the_bytes_of_the_elements_are_counted():
    for dtype, size in ((rg.bool, 1), (rg.int16, 2), (rg.float32, 4), (rg.float64, 8)):
        x = rg.zeros(3, 5, dtype=dtype)
        assert (x.itemsize, x.nbytes) == (size, 15 * size)
        assert (x[:, 1:3].nbytes, x[0, 0].nbytes, x[:0].nbytes) == (6 * size, size, 0)


def test_types_have_names():
    x = rg.tensor([1.5, -2.0], requires_grad=True)
    assert x.type() == f"{NAME}.FloatTensor"
    assert x.type(rg.float32) is x.type(f"{NAME}.FloatTensor") is x
    y = x.type(f"{NAME}.DoubleTensor")
    assert y.dtype == x.type(rg.float64).dtype == rg.float64
    assert y.grad_fn.name() == "ToCopyBackward0"
    assert x.type(dtype=rg.int64).tolist() == [1, -2]
    for dtype in (rg.bool, rg.uint8, rg.int8, rg.int16, rg.float16, rg.bfloat16):
        z = x.detach().to(dtype)
        assert x.type(z.type()).dtype == dtype
    with pytest.raises(ValueError, match="invalid type: 'FloatTensor'"):
        x.type("FloatTensor")
    with pytest.raises((TypeError, RuntimeError)):
        x.type(1.5)


def test_what_stays_the_tensor_itself():
    x = rg.ones(2, requires_grad=True)
    assert x.real is rg.real(x) is x.resolve_conj() is rg.resolve_neg(x) is x.float() is x.cpu() is x.type_as(x) is x
    assert x.double().grad_fn.name() == x.half().grad_fn.name() == "ToCopyBackward0"
    assert x.long().requires_grad is False


def test_a_tensor_is_set_to_the_same_elements_of_the_same_memory():
    x = rg.arange(6.0).reshape(2, 3)
    assert x.is_set_to(x)
    assert x.is_set_to(x.detach())
    assert x.is_set_to(x[:])
    for other in (x.clone(), x.t(), x.view(3, 2), x[1:], rg.zeros(2, 3)):
        assert not x.is_set_to(other)


def test_shifts_as_operators():
    x = rg.tensor([1, -8])
    assert (x << 2).tolist() == [4, -32]
    assert (x >> 1).tolist() == [0, -4]
    assert (1 << rg.tensor([0, 3])).tolist() == [1, 8]
    assert (64 >> rg.tensor([0, 3])).tolist() == [64, 8]
    y = x
    y <<= rg.tensor([1, 0])
    y >>= 1
    assert y is x
    assert (x.tolist(), x._version) == ([1, -4], 2)
    with pytest.raises(NotImplementedError, match="\"lshift_cpu\" not implemented for 'Float'"):
        rg.ones(1) << 1
