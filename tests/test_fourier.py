"""Fourier transforms beyond what records say: nodes, lazy conjugates, warnings, large sizes, threads, the cache."""

import subprocess
import sys

import numpy as np
import pytest


def noise(rg, *sizes, dtype="float64"):
    rng = np.random.default_rng(7)
    values = rng.standard_normal(sizes)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(sizes)
    return rg.from_numpy(np.asarray(values, dtype))


def test_nodes_have_the_names_and_attributes_of_torch(rg):
    x = noise(rg, 3, 5).requires_grad_()
    node = rg.fft.fft(x, dim=0).grad_fn
    assert node.name() == "FftR2CBackward0"
    assert (node._saved_dim, node._saved_normalization, node._saved_onesided) == ((0,), 0, False)
    assert node._saved_self is x
    node = rg.fft.fftn(x, norm="ortho").grad_fn
    assert node.name() == "FftC2CBackward0"
    assert (node._saved_dim, node._saved_normalization, node._saved_forward) == ((0, 1), 1, True)
    node = rg.fft.irfftn(x, norm="backward").grad_fn
    assert node.name() == "FftC2RBackward0"
    assert (node._saved_dim, node._saved_normalization) == ((0, 1), 2)
    assert rg.fft.ifft(x).grad_fn.name() == rg.fft.ihfft(x).grad_fn.name() == "ConjBackward0"
    y = rg.stft(x[0], 4, window=rg.ones(4, dtype=rg.float64), return_complex=True)
    assert y.grad_fn.name() == "SqueezeBackward4"
    assert rg.istft(y, 4, window=rg.ones(4, dtype=rg.float64)).grad_fn.name() == "SqueezeBackward1"


def test_the_inverse_of_real_numbers_is_a_conjugate_that_waits(rg):
    x = noise(rg, 3, 5)
    assert rg.fft.ifft(x).is_conj() and rg.fft.ihfft(x).is_conj() and not rg.fft.ihfft2(x).is_conj()
    np.testing.assert_allclose(rg.fft.ifft(x).resolve_conj().numpy(), np.fft.ifft(x.numpy()), atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 12, 97, 100, 1009, 1000, 1 << 14, 3 * 5 * 7 * 11, 9973])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_every_length(rg, name, n):
    x = noise(rg, 3, n // 2 + 1 if name in ("irfft", "hfft") else n)
    if name not in ("rfft", "ihfft"):
        x = x + 1j * noise(rg, *x.shape).flip(1)
    got = getattr(rg.fft, name)(x, n).resolve_conj().numpy()
    want = getattr(np.fft, name)(x.numpy(), n)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 * np.abs(want).max() * 10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_axes_longer_than_any_block(rg, dtype):
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    x = noise(rg, 70, 33, 50, dtype=dtype)
    for dims in [(0,), (1,), (0, 1), (2, 0), (0, 1, 2)]:
        want = np.fft.rfftn(x.numpy(), axes=dims)
        got = rg.fft.rfftn(x, dim=dims).numpy()
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())
        sizes = [x.shape[d] for d in dims]
        back = rg.fft.irfftn(rg.fft.rfftn(x, dim=dims), s=sizes, dim=dims)
        np.testing.assert_allclose(back.numpy(), x.numpy(), rtol=0, atol=10 * tolerance)
    z = rg.view_as_complex(noise(rg, 40, 90, 20, 2, dtype=dtype))
    for view in (z.permute(2, 0, 1), z.transpose(0, 1), z[::3, :, 1::2], z[:1].expand(7, 90, 20), z.flip(1)):
        for dims in [(0,), (1,), (0, 1), (0, 1, 2)]:
            want = np.fft.fftn(view.numpy(), axes=dims)
            got = rg.fft.fftn(view, dim=dims).numpy()
            np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


# Products of small numbers with sides of whole blocks and others, and what has a large prime factor.
@pytest.mark.parametrize("n", [1 << 18, 420_000, 3 * 5**7, (1 << 17) + 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lines_longer_than_a_cache(rg, n, dtype):
    tolerance = 5e-7 if dtype == "float32" else 2e-15
    z = rg.view_as_complex(noise(rg, 2, n, 2, dtype=dtype))
    for name in ("fft", "ifft"):
        got, want = getattr(rg.fft, name)(z).numpy(), getattr(np.fft, name)(z.numpy().astype("complex128"))
        assert np.linalg.norm(got - want) < tolerance * np.linalg.norm(want)
    # The second pass works in the result, and one of every second number reads no contiguous line.
    both, want = rg.fft.fft2(z).numpy(), np.fft.fft2(z.numpy().astype("complex128"))
    assert np.linalg.norm(both - want) < tolerance * np.linalg.norm(want)
    wide = rg.stack((z, z), 2)[:, :, 1]
    got, want = rg.fft.fft(wide).numpy(), rg.fft.fft(z).numpy()
    assert np.linalg.norm(got - want) < tolerance * np.linalg.norm(want)


def test_bits_do_not_depend_on_the_number_of_threads(rg):
    x, threads = noise(rg, 96, 1000), rg.get_num_threads()
    long = rg.view_as_complex(noise(rg, 1 << 18, 2))
    results = []
    try:
        for n in (1, 2, 3):
            rg.set_num_threads(n)
            leaf = x.clone().requires_grad_()
            y = rg.fft.rfft2(leaf)
            (g,) = rg.autograd.grad(y, leaf, y.detach())
            all_of = (y.detach(), g, rg.fft.fft(x, dim=0), rg.fft.fftn(x), rg.fft.fft(long))
            results.append([t.numpy().tobytes() for t in all_of])
    finally:
        rg.set_num_threads(threads)
    assert results[0] == results[1] == results[2]


def test_the_half_spectrum_counts_twice_but_at_its_ends(rg):
    for n in (4, 5):
        z = (noise(rg, 3, dtype="complex128")).requires_grad_()
        g = noise(rg, n)
        rg.fft.irfft(z, n).backward(g)
        want = np.fft.rfft(g.numpy()) / n
        want[1 : (n + 1) // 2] *= 2
        np.testing.assert_allclose(z.grad.numpy(), want, atol=1e-15)


def test_more_lengths_than_plans_are_kept(rg):
    for _ in range(2):
        for n in range(1, 80):
            x = noise(rg, n, dtype="complex64")
            np.testing.assert_allclose(rg.fft.ifft(rg.fft.fft(x)).numpy(), x.numpy(), atol=1e-5)


def test_an_empty_batch_has_an_empty_transform(rg):
    assert rg.fft.fft(rg.zeros(0, 4)).shape == (0, 4) and rg.fft.irfft(rg.zeros(2, 0, 3), dim=-1).shape == (2, 0, 4)
    x = rg.zeros(0, 4, requires_grad=True)
    rg.fft.rfft(x).abs().sum().backward()
    assert x.grad.shape == (0, 4)


WARNINGS = """
import warnings
import retrograd as rg
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        y = rg.stft(rg.ones(20), 8, return_complex=True)
        rg.stft(rg.ones(20), 8, return_complex=False)
        rg.istft(y, 8, length=40)
print("\\n".join(str(w.message) for w in said))
"""


def test_warnings_are_given_once():
    run = subprocess.run([sys.executable, "-c", WARNINGS], capture_output=True, text=True, check=True)
    assert run.stdout.count("A window was not provided. A rectangular window will be applied") == 2
    assert run.stdout.count("stft with return_complex=False is deprecated") == 1
    assert run.stdout.count("The length of signal is shorter than the length parameter") == 1


def test_windows_are_those_of_the_top_level(rg):
    for name, old in [("hann", "hann_window"), ("hamming", "hamming_window"), ("bartlett", "bartlett_window")]:
        window = getattr(rg.signal.windows, name)
        assert window(9).tolist() == getattr(rg, old)(9, periodic=False).tolist()
        assert window(9, sym=False).tolist() == getattr(rg, old)(9).tolist()
    assert rg.signal.windows.hann(4, requires_grad=True).requires_grad
