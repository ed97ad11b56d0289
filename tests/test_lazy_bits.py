"""Conjugates and negatives that wait until they are read: views with a bit set, as in torch."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

from records import STANDIN, rg


def numbers() -> Any:
    return rg.tensor([1 + 2j, 3 - 1j], dtype=rg.complex128)


def test_conj_is_a_view_of_the_same_memory() -> None:
    x = numbers().requires_grad_()
    y = x.conj()
    assert y.is_conj() and not y.is_neg() and not x.is_conj()
    assert y._is_view() and y._base is x and y.data_ptr() == x.data_ptr()
    assert type(y.grad_fn).__name__ == "ConjBackward0"
    assert y.tolist() == [1 - 2j, 3 + 1j] and y[1].item() == 3 + 1j
    assert str(y.detach()) == str(y.detach().resolve_conj())
    assert not y.conj().is_conj() and y.conj().tolist() == x.tolist()
    real = rg.ones(2)
    assert real.conj().data_ptr() == real.data_ptr() and not real.conj().is_conj()


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y.reshape(2, 1).t(),
        lambda y: y[0:1],
        lambda y: y[0],
        lambda y: y.detach(),
        lambda y: y.data,
        lambda y: y.view(1, 2),
        lambda y: y.expand(3, 2),
        lambda y: y.chunk(2)[1],
        lambda y: y.unbind(0)[1],
        lambda y: y.unsqueeze(0).squeeze(),
        lambda y: y.as_strided((1,), (1,)),
        lambda y: y.unfold(0, 1, 1),
        lambda y: y.contiguous(),
        lambda y: y.to(rg.complex128),
        lambda y: y.resolve_neg(),
    ],
)
def test_views_keep_the_bit(view: Any) -> None:
    y = numbers().conj()
    seen = view(y)
    assert seen.is_conj()
    assert seen.tolist() == view(y.resolve_conj()).tolist()


@pytest.mark.parametrize(
    "op",
    [
        lambda y: y.clone(),
        lambda y: -y,
        lambda y: y * 2,
        lambda y: y.conj_physical(),
        lambda y: y.resolve_conj(),
        lambda y: y.to(rg.complex64),
        lambda y: rg.cat([y, y]),
        lambda y: rg.stack([y, y]),
        lambda y: rg.zeros_like(y),
        lambda y: y.reshape(1, 2).H,
        lambda y: y.reshape(1, 2).mH,
    ],
)
def test_results_have_no_bit(op: Any) -> None:
    y = numbers().conj()
    result = op(y)
    assert not result.is_conj()
    assert result.tolist() == op(rg.tensor(y.tolist(), dtype=rg.complex128)).tolist()


def test_parts_are_views() -> None:
    z = numbers()
    z.real.add_(1)
    assert z.tolist() == [2 + 2j, 4 - 1j]
    z.imag = rg.tensor([9.0, 8.0], dtype=rg.float64)
    assert z.tolist() == [2 + 9j, 4 + 8j]
    w = z.conj()
    assert w.imag.is_neg() and not w.real.is_neg() and w.imag.tolist() == [-9.0, -8.0]
    w.imag = rg.tensor([1.0, 2.0], dtype=rg.float64)
    assert z.tolist() == [2 - 1j, 4 - 2j] and (w.imag + 0).tolist() == [1.0, 2.0]
    z.real = 5.0
    assert z.tolist() == [5 - 1j, 5 - 2j]
    pairs = rg.view_as_real(z)
    pairs[0, 1] = 7.0
    assert z[0].item() == 5 + 7j and pairs.stride() == (2, 1)
    assert rg.view_as_complex(pairs).data_ptr() == z.data_ptr()
    assert w.imag.resolve_neg().tolist() == w.imag.tolist() and not w.imag.resolve_neg().is_neg()
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        _ = rg.ones(2).imag


def test_writes_go_through_the_bits() -> None:
    z = numbers()
    w = z.conj()
    w[0] = 5 + 5j
    w.add_(1j)
    assert z.tolist() == [5 - 6j, 3 - 2j]
    w.mul_(2j)
    assert z.tolist() == [(5 + 6j).conjugate() * 0 + (2j * (5 + 6j)).conjugate(), (2j * (3 + 2j)).conjugate()]
    z.conj().imag.fill_(7.0)
    assert z.imag.tolist() == [-7.0, -7.0]
    out = rg.zeros(2, dtype=rg.complex128).conj()
    rg.add(numbers(), numbers(), out=out)
    assert out.is_conj() and out.tolist() == [2 + 4j, 6 - 2j]


def test_writes_to_views_change_the_graph() -> None:
    def grad(write: Any) -> list[complex]:
        x = numbers().requires_grad_()
        b = x.clone()
        write(b)
        (b * rg.tensor([1 + 1j, 2 - 3j])).sum().abs().backward()
        return x.grad.tolist()  # type: ignore[no-any-return]

    def by_hand(b: Any) -> None:
        b[:] = (b.clone().conj_physical() * 2j).conj_physical()

    np.testing.assert_allclose(grad(lambda b: b.conj().mul_(2j)), grad(by_hand))

    def halves(b: Any) -> None:
        b[:] = rg.complex(b.real * 3, b.imag * 1)

    if hasattr(rg, "complex"):
        np.testing.assert_allclose(grad(lambda b: b.real.mul_(3)), grad(halves))
        np.testing.assert_allclose(grad(lambda b: rg.view_as_real(b)[:, 0].mul_(3)), grad(halves))


def test_histories_of_views_are_derived_anew_after_a_write() -> None:
    x = numbers().requires_grad_()
    b = x.clone()
    conjugated, real, pairs = b.conj(), b.real, rg.view_as_real(b)
    b.mul_(2j)
    for view, same in [
        (conjugated, lambda x: (x * 2j).conj()),
        (real, lambda x: (x * 2j).real),
        (pairs, lambda x: rg.view_as_real(x * 2j)),
    ]:
        g = rg.ones_like(view) * (1 + 2j if view.is_complex() else 1)
        [got] = rg.autograd.grad(view, x, g, retain_graph=True)
        [want] = rg.autograd.grad(same(x), x, g)
        assert got.tolist() == want.tolist()


def test_what_reads_memory_refuses_the_bits() -> None:
    y = numbers().conj()
    with pytest.raises(
        RuntimeError, match=r"Can't call numpy\(\) on Tensor that has conjugate bit set. Use tensor.resolve_conj"
    ):
        y.numpy()
    with pytest.raises(
        RuntimeError, match=r"Can't call numpy\(\) on Tensor that has negative bit set. Use tensor.resolve_neg"
    ):
        y.imag.numpy()
    with pytest.raises(BufferError, match="Can't export tensors with the conjugate bit set"):
        y.__dlpack__()
    assert y.numpy(force=True).tolist() == y.tolist()
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated tensors"):
        rg.view_as_real(y)
    with pytest.raises(
        RuntimeError, match="view is not supported for conjugate view tensors when converting to a different"
    ):
        y.view(rg.float64)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (lambda: rg.ones(3), "Tensor must have a last dimension of size 2"),
        (lambda: rg.ones(()), "Input tensor must have one or more dimensions"),
        (lambda: rg.ones(3, 2, dtype=rg.int64), "only supported for half, float and double tensors.*Long"),
        (lambda: rg.ones(2, 3).t(), "Tensor must have a last dimension with stride 1"),
        (lambda: rg.ones(8)[1:7].as_strided((2, 2), (3, 1)), "stride divisible by 2 for all but last dimension"),
        (lambda: rg.ones(7).as_strided((3, 2), (2, 1), 1), "Tensor must have a storage_offset divisible by 2"),
    ],
)
def test_view_as_complex_says_what_it_needs(tensor: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        rg.view_as_complex(tensor())


def test_copies_and_files_have_the_values() -> None:
    y = numbers().conj()
    assert pickle.loads(pickle.dumps(y)).is_conj() and pickle.loads(pickle.dumps(y)).tolist() == y.tolist()
    assert copy.deepcopy(y).tolist() == y.tolist() and not copy.deepcopy(y).is_conj()
    assert copy.deepcopy(y.imag).tolist() == y.imag.tolist()
    for saved in (y, y.imag):
        file = io.BytesIO()
        rg.save(saved, file)
        file.seek(0)
        back = rg.load(file)
        assert back.tolist() == saved.tolist() and back.is_conj() == saved.is_conj()


@pytest.mark.skipif(STANDIN == "torch", reason="torch saves no tensors of two dtypes over one memory")
def test_parts_are_saved_beside_their_numbers() -> None:
    y = numbers().conj()
    file = io.BytesIO()
    rg.save({"y": y, "real": y.real, "imag": y.imag}, file)
    file.seek(0)
    back = rg.load(file)
    assert {name: t.tolist() for name, t in back.items()} == {
        "y": y.tolist(),
        "real": y.real.tolist(),
        "imag": y.imag.tolist(),
    }


def test_other_memory_and_sizes() -> None:
    p = numbers().conj()
    t = rg.zeros(2, dtype=rg.complex128)
    t.data = p
    assert t.is_conj() and t.tolist() == p.tolist()
    s = rg.zeros(2, dtype=rg.complex128)
    s.set_(p)
    assert not s.is_conj() and s.tolist() == numbers().tolist()
    assert p.data.is_conj() and not p.new_zeros(2).is_conj()


def test_vmap_and_forward_mode_take_the_bits() -> None:
    z = rg.tensor([[1 + 2j, 3 - 1j], [0 + 1j, 2 + 2j]], dtype=rg.complex128)
    for f in (lambda v: v.conj() * v, lambda v: v.conj().imag * 2, rg.view_as_real, lambda v: v.real + v.imag):
        want = rg.stack([f(row) for row in z])
        if STANDIN != "torch":
            assert rg.func.vmap(f)(z).tolist() == want.tolist()
        if f is not rg.view_as_real and STANDIN != "torch":  # torch has no rule for negatives that wait
            assert rg.func.vmap(f)(z.conj_physical().conj()).tolist() == want.tolist()
        _, tangent = rg.func.jvp(f, (z,), (z * 1j,))
        step = 1e-6
        difference = (f(z + z * 1j * step) - f(z - z * 1j * step)) / (2 * step)
        np.testing.assert_allclose(tangent.resolve_conj().resolve_neg().numpy(), difference.numpy(), atol=1e-8)


@pytest.mark.skipif(STANDIN == "torch", reason="counts the bytes of retrograd's own profiler")
@pytest.mark.parametrize(
    "product",
    [
        rg.mm,
        lambda a, b: rg.bmm(a[None], b[None]),
        lambda a, b: rg.mv(a, b[0]),
        lambda a, b: rg.addmm(b, a, b),
        lambda a, b: rg.dot(a[0], b[0]),
    ],
    ids=["mm", "bmm", "mv", "addmm", "dot"],
)
def test_products_take_the_bit_without_a_copy(product: Any) -> None:
    def allocated(*xs: Any) -> int:
        with rg.autograd.profiler.profile(profile_memory=True) as prof:
            kept = product(*xs)
        del kept
        return sum(event.cpu_memory_usage for event in prof.function_events if event.cpu_memory_usage > 0)

    z = rg.randn(40, 40, dtype=rg.complex64)
    plain = allocated(z, z)
    for a, b in ((z.conj(), z), (z, z.mH), (z.conj(), z.mH)):
        assert allocated(a, b) == plain
        np.testing.assert_allclose(
            product(a, b).numpy(), product(a.resolve_conj(), b.resolve_conj()).numpy(), rtol=1e-5, atol=1e-5
        )
